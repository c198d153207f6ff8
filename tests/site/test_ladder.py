#!/usr/bin/env python3
"""The interactive ladder: its numbers are the committed ones, and it is used as a person uses it."""

import pathlib
import re
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import browser

from tools.repository import DOCS, FAMILIES, GPU, newest, read_json, stages
from tools.site import ladder, speeds

LADDER = speeds.ladders()
BY_KEY = {product["key"]: product for product in LADDER["products"]}


def curve(key, stage):
    return next(c for c in BY_KEY[key]["curves"] if c["stage"] == stage)


class Numbers(unittest.TestCase):
    def test_all_that_was_timed_is_there(self):
        for name, key in (("sgemm", "sgemm"), ("tsm_z", "tsmttsm_z"), ("tsmm_d", "tsmm_d"), ("tensor_s", "tensor_s")):
            product = next(p for p in speeds.products() if p.key == key)
            run = read_json(newest(GPU / f"{name}.json"))
            for r in run["results"]:
                size = product.size_of(r["problem"])
                if size is None or "time_ms" not in r:
                    continue
                point = next(p for p in curve(key, r["stage"])["points"] if p[0] == size)
                self.assertEqual(point[1:3], [r["gflops"], r["time_ms"]["median"]], r["stage"])
                self.assertEqual(LADDER["runs"][point[5]]["commit"].split()[0], run["commit"])
                self.assertEqual(LADDER["runs"][point[5]]["device"], run["device"])

    def test_every_product_has_rungs_cublas_and_a_usual_set(self):
        keys = {"sgemm", "tsmttsm_d", "tsmttsm_z", "tsmm_d", "tsmm_z", "tensor_h", "tensor_s", "tensor_batched"}
        self.assertLessEqual(keys, BY_KEY.keys())
        for product in LADDER["products"]:
            self.assertTrue(3 <= len(product["usual"]) <= 8, product["key"])
            self.assertTrue(product["reference"], product["key"])

    def test_no_rung_is_missing(self):
        """But those of whose pages it is said that they were not measured yet: they have no speed to show."""
        shown = {curve["stage"] for product in LADDER["products"] for curve in product["curves"]}
        for family in ("sgemm", "tsm"):
            missing = {stage for stage in stages() if stage.startswith(family + "/")} - shown
            pages = {stage: (DOCS / FAMILIES[family] / f"{stage.split('/')[1]}.md").read_text() for stage in missing}
            self.assertEqual([stage for stage, page in pages.items() if "*Not measured yet: " not in page], [])

    def test_cublas_is_known_between(self):
        """Where only the summit was timed, cuBLAS was timed alternately with it."""
        sweep = next(r for r in read_json(GPU / "sweep.json")["results"] if r["problem"]["m"] == 1664)
        point = next(p for p in curve("sgemm", "cublas/fp32_pedantic")["points"] if p[0] == 1664)
        self.assertAlmostEqual(point[1], 2 * 1664**3 / sweep["cublas_time_ms"]["median"] / 1e6, delta=point[1] * 1e-4)

    def test_the_roofline_counts_as_the_figure(self):
        counted = read_json(ladder_counts())["kernels"]
        for dot in BY_KEY["sgemm"]["roofline"]["dots"]:
            per_byte = counted[dot["stage"]]["counts"]["flop_per_byte"]
            self.assertEqual((dot["global"], dot["shared"]), (per_byte["global"], per_byte["shared"]))


def ladder_counts():
    return GPU.parent / "cpu" / "counts.json"


@unittest.skipIf(browser.SKIP, browser.SKIP)
class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.file = pathlib.Path(folder.name) / "ladder.html"
        ladder.write(cls.file)

    def good(self, page, what, least_pt=0.0):
        self.assertEqual(browser.faults_of_texts(page, least_pt), [], what)
        self.assertFalse(browser.is_too_wide(page), what)

    def themes(self, page):
        for theme, least_pt in (("light", 0), ("dark", 0), ("projector", 14)):
            page.evaluate(f"document.documentElement.dataset.theme = '{theme}'; drawAll()")
            self.good(page, theme, least_pt)

    def test_as_a_lecturer_does(self):
        with browser.opened(self.file, browser.PROJECTOR, "projector") as page:
            self.speeds(page)
            self.chips(page)
            self.roofline(page)
            self.table(page)
            page.fill("#filter", "no such rung")  # its texts were looked at
            self.themes(page)
            for product in range(len(LADDER["products"])):
                page.select_option("#product", str(product))
                for unit in ("cublas", "roofline", "gflops"):
                    page.select_option("#unit", unit)
                    page.select_option("#scale", "linear" if unit == "cublas" else "log")
                    self.good(page, (product, unit), 14)

    def speeds(self, page):
        reading = page.locator("#reading")
        page.focus("#speed")
        page.keyboard.press("End")
        stage = BY_KEY["sgemm"]["usual"][0]
        of = curve("sgemm", stage)
        for key, at in (("End", -1), ("ArrowLeft", -2), ("Home", 0)):
            page.keyboard.press(key)
            size, gflops = of["points"][at][:2]
            text = reading.inner_text()
            number = f"{gflops:,.0f}" if gflops >= 1000 else f"{gflops:.3g}"
            self.assertRegex(text, rf"01 naive at M = N = K = {size:,}: {number} GFLOP/s.* of cuBLAS")
            self.assertIn("NVIDIA H200, commit cd25295713cf", text)
        page.keyboard.press("ArrowUp")  # a faster one
        self.assertNotIn("01 naive", reading.inner_text())
        self.assertRegex(reading.inner_text(), r"commit \w+")
        page.keyboard.press("Escape")
        self.assertIn("Point at a curve", reading.inner_text())
        spot = page.evaluate("spots.find((s) => s.curve.stage === 'sgemm/07_register_tile' && s.point[0] === 512)")
        page.hover("#speed", position={"x": spot["x"] + 2, "y": spot["y"] - 2})
        self.assertIn(f"07 register tile at M = N = K = {spot['point'][0]:,}", reading.inner_text())
        page.select_option("#unit", "cublas")
        self.assertEqual(page.locator("#speed .title").first.text_content(), "% of cuBLAS")
        page.select_option("#scale", "linear")
        self.assertIn("0", page.locator("#speed text").all_text_contents())
        page.select_option("#unit", "gflops")
        page.select_option("#scale", "log")

    def chips(self, page):
        names = page.locator("#speed .end")
        pressed = page.locator("#chips [aria-pressed=true]")
        self.assertEqual(pressed.count(), 7)
        page.click("#chips [data-stage='sgemm/13a_padding']")
        self.assertIn("7 curves beside cuBLAS at most", page.inner_text("#chip-note"))
        self.assertEqual(pressed.count(), 7)
        page.click("#chips [data-stage='sgemm/01_naive']")
        page.click("#chips [data-stage='sgemm/13a_padding']")
        labels = names.all_text_contents()
        self.assertIn("13a padding", labels)
        self.assertNotIn("01 naive", labels)
        self.assertIn("cuBLAS FP32", labels)
        page.click("#none")
        self.assertEqual((pressed.count(), names.all_text_contents()), (0, ["FFMA ceiling", "cuBLAS FP32"]))
        page.focus("#chips [data-stage='cublas/tf32']")
        page.keyboard.press("Enter")
        self.assertIn("cuBLAS TF32", names.all_text_contents())
        page.click("#usual")
        self.assertEqual(pressed.count(), 7)

    def roofline(self, page):
        dots = BY_KEY["sgemm"]["roofline"]["dots"]
        self.assertEqual(page.locator("#roof circle").count(), len(dots) + 1)  # and the ring
        page.focus("#roof")
        page.keyboard.press("ArrowRight")
        first = min(dots, key=lambda dot: dot["global"])
        text = page.inner_text("#roof-reading")
        self.assertIn(f"{first['global']:.3g} flop per byte asked of global memory", text)
        self.assertIn("commit cd25295713cf", text)
        page.click("#roof-lines button:nth-child(2)")
        spot = page.evaluate("dots.find((each) => each.dot.stage === 'sgemm/18_summit')")
        page.hover("#roof", position={"x": spot["x"], "y": spot["y"]})
        self.assertRegex(page.inner_text("#roof-reading"), r"18 summit: \S+ flop per byte asked of shared memory")

    def table(self, page):
        rows = page.locator("#rungs tbody tr")
        self.assertEqual(rows.count(), sum(len(product["curves"]) for product in LADDER["products"]))

        def speeds_shown():
            cells = page.locator("#rungs tbody td:nth-child(2)").all_text_contents()
            return [float(cell.replace(",", "")) for cell in cells]

        head = page.locator("#rungs th:nth-child(2)")
        self.assertEqual(head.get_attribute("aria-sort"), "none")
        head.locator("button").click()
        self.assertEqual(head.get_attribute("aria-sort"), "descending")
        self.assertEqual(speeds_shown(), sorted(speeds_shown(), reverse=True))
        page.keyboard.press("Enter")
        self.assertEqual(head.get_attribute("aria-sort"), "ascending")
        self.assertEqual(speeds_shown(), sorted(speeds_shown()))
        page.fill("#filter", "tsmm complex 13c")
        self.assertGreater(rows.count(), 0)
        for text in page.locator("#rungs tbody td:first-child").all_text_contents():
            self.assertEqual(text, "13c tsmm tensor cores")
        self.assertTrue(re.match(rf"{rows.count()} of \d+ rows", page.inner_text("#shown")))
        page.fill("#filter", "")

    def test_on_a_phone(self):
        with browser.opened(self.file, browser.PHONE) as page:
            self.good(page, "with its table")
            page.fill("#filter", "no such rung")
            self.themes(page)
            spot = page.evaluate("spots.filter((s) => s.curve.stage === 'sgemm/09b_vector_shared_loads')[5]")
            page.click("#speed", position={"x": spot["x"], "y": spot["y"]})
            self.assertIn("GFLOP/s", page.inner_text("#reading"))
            self.assertIn("18", page.locator("#speed .end").all_text_contents())
            for product in range(len(LADDER["products"])):
                page.select_option("#product", str(product))
                self.good(page, product, 14)


if __name__ == "__main__":
    program = unittest.main(exit=False)
    if browser.SKIP and program.result.wasSuccessful():
        print(browser.SKIP)
    sys.exit(not program.result.wasSuccessful())
