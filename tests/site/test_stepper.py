#!/usr/bin/env python3
"""The stepper in a browser: keys, changes, folds, notes, on a projector and on a phone."""

import contextlib
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

import browser

from tools.pages.data import HEADLINE, Data
from tools.repository import ROOT, stages
from tools.rungs import number_of
from tools.site import stepper
from tools.tables import tflops

MOST = 3e6  # bytes
SAMPLE = ("sgemm/04", "tsm/10", "tensorcore/05")
# Texts lie on these grounds.
GROUNDS = ("back", "panel", "added", "removed", "added-word", "removed-word")


def contrast(one, other):
    """Of two colours, as WCAG has it."""

    def light(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        parts = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)


class Files(unittest.TestCase):
    """What needs no browser."""

    def run_it(self, *arguments):
        command = [sys.executable, "-B", "-m", "tools.site.stepper", *arguments]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)

    def test_bad_input_gets_one_line_and_writes_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            for arguments in ([], [f"{folder}/nosuch/a.html"], [folder], ["--nope", f"{folder}/a.html"], ["a", "b"]):
                done = self.run_it(*arguments)
                self.assertEqual(done.returncode, 2, arguments)
                self.assertRegex(done.stderr, r"\Aerror: .+\n\Z")
            self.assertEqual(list(pathlib.Path(folder).iterdir()), [])

    def test_help_says_how_it_is_used(self):
        done = self.run_it("--help")
        self.assertEqual(done.returncode, 0)
        self.assertIn("usage: python3 -m tools.site.stepper FILE", done.stdout)

    def test_changes_in_few_letters(self):
        for old, new, said in (
            (1.7, 8.41, "× 4.95"),
            (34, 2, "÷ 17"),
            (100, 104, "+4.0 %"),
            (100, 96, "−4.0 %"),
            (7, 7, "same"),
            (0, 5, "new"),
            (5, 0, "none left"),
            (None, 5, "–"),
        ):
            self.assertEqual(stepper.ratio(old, new), said)

    def test_numbers_are_the_measured_and_counted_ones(self):
        data = Data()
        found = stepper.facts(data, "sgemm/03_shared_tile", "sgemm/04_conflict_free")
        cells = {name: rest for name, *rest in found["rows"]}
        self.assertEqual(cells["TFLOP/s"][:2], [tflops(data.speed(n, HEADLINE)) for n in ("03", "04")])
        self.assertEqual(cells["barriers"][1], f"{data.counted('04')['barriers']:,}")
        said = " ".join(found["from"])
        for text in (data.ladder["device"], data.ladder["commit"], data.executor["commit"], "4,096 × 4,096 × 4,096"):
            self.assertIn(text, said)

    def test_a_newer_rung_is_compared_in_the_run_that_has_its_base(self):
        found = stepper.facts(Data(), "sgemm/17b_stream_k", "sgemm/16b_packed_copies")
        self.assertRegex(found["rows"][0][3], r"\d")
        self.assertIn("H100", found["from"][0])

    def test_runs_of_two_cards_are_not_compared(self):
        found = stepper.facts(Data(), "tensorcore/03_pipeline", "tensorcore/10_presplit")
        self.assertEqual([row[3] for row in found["rows"][:2]], ["–", "–"])
        self.assertIn("two runs", " ".join(found["from"]))

    def test_colours_of_code_can_be_read(self):
        css = "".join((ROOT / "tools/site/assets" / name).read_text() for name in ("base.css", "stepper.css"))
        themes = {}
        for theme, body in re.findall(r'(?::root|\[data-theme="(\w+)"\]) \{(.*?)\}', css, re.S):
            colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", body))
            themes[theme] = themes.get(theme, {}) | colours
        for theme in themes:
            colours = themes[""] | themes[theme]
            for text in ("fore", *(name for name in colours if name.startswith("tok-"))):
                for ground in GROUNDS:
                    value = contrast(colours[text], colours[ground])
                    self.assertGreaterEqual(value, 4.5, f"{text} on {ground}, theme {theme or 'light'}")


@unittest.skipIf(browser.SKIP, browser.SKIP)
class Stepper(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.page = pathlib.Path(cls.folder.name, "stepper.html")
        stepper.write(cls.page)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @contextlib.contextmanager
    def opened(self, size=browser.PROJECTOR, theme="light", file=None):
        """Without gliding, which takes time."""
        with browser.opened(file or self.page, size, theme) as page:
            page.emulate_media(reduced_motion="reduce")
            yield page

    def go(self, page, rung):
        page.evaluate("rung => { location.hash = rung; }", rung)
        page.wait_for_function("rung => document.getElementById('rungs').value === rung", arg=rung)

    def lit(self, page):
        """Text of the lit change; whether its first line is on the screen."""
        return page.evaluate(
            """() => {
              const [node, more] = document.querySelectorAll(".hunk.lit");
              if (!node || more) return null;
              const box = node.getBoundingClientRect(), bar = document.querySelector(".files").getBoundingClientRect();
              return [node.innerText, box.top >= bar.bottom - 5 && box.top < innerHeight - 60];
            }"""
        )

    def test_one_file_of_all_ladders(self):
        self.assertLess(self.page.stat().st_size, MOST)
        text = self.page.read_text()
        for stage in stages():
            self.assertIn(f'"{stage.split("/")[0]}/{number_of(stage)}"', text)

    def arrived(self, page, rung):
        """The address changes first, and what is shown a moment later."""
        number = rung.split("/")[1]
        page.wait_for_function(
            f"location.hash === '#{rung}' && document.querySelector('h2').textContent.trim().startsWith('{number}')"
        )

    def test_a_lecture_by_keys(self):
        with self.opened(theme="projector") as page:
            self.go(page, "sgemm/03")
            page.keyboard.press("ArrowRight")
            self.arrived(page, "sgemm/04")
            self.assertIn("04 conflict-free", page.inner_text("h2"))
            self.assertIn("no bank conflicts", page.inner_text(".idea"))
            self.assertTrue(page.is_visible(".facts"))
            self.assertTrue(page.is_hidden("#notes"))
            page.keyboard.press(" ")
            text, on_screen = self.lit(page)
            self.assertIn("bs[ty][tx]", text)
            self.assertTrue(on_screen)
            self.assertEqual(page.inner_text("#next"), "change 1/2")
            self.assertEqual(
                page.eval_on_selector_all(".hunk.lit mark", "all => all.map((node) => node.textContent)"),
                "tx ty ty tx tx i i tx".split(),
            )
            page.keyboard.press("n")
            self.assertIn(".l1_cycles", self.lit(page)[0])
            page.keyboard.press("p")
            self.assertEqual(page.inner_text("#next"), "change 1/2")
            for _ in range(2):  # the last change, and behind it the next rung
                page.keyboard.press("PageDown")
            self.arrived(page, "sgemm/05")
            page.keyboard.press("PageUp")
            page.keyboard.press("End")
            self.arrived(page, "sgemm/18")
            page.keyboard.press("ArrowRight")
            self.arrived(page, "sgemm/18")
            page.keyboard.press("Home")
            self.arrived(page, "sgemm/01")
            self.assertEqual(page.inner_text("#next"), "no change")
            page.select_option("#rungs", "sgemm/12")
            self.arrived(page, "sgemm/12")
            page.keyboard.press("ArrowRight")  # the list has let go of the keys
            self.arrived(page, "sgemm/13a")
            page.select_option("#ladder", "tsm")
            self.arrived(page, "tsm/01")
            page.go_back()
            self.arrived(page, "sgemm/13a")

    def test_a_long_change_is_read_to_its_end(self):
        with self.opened(theme="projector") as page:
            self.go(page, "sgemm/12")
            pressed, names = 0, set()
            while page.url.endswith("#sgemm/12") and pressed < 80:
                page.keyboard.press(" ")
                names.add(page.inner_text("#next"))
                pressed += 1
            changes = page.evaluate(
                "DATA.ladders[0].rungs.find((r) => r.id === 'sgemm/12').sections.filter(([h]) => h)"
            )
            self.assertGreater(pressed, len(changes) + 2)
            self.assertLess(pressed, 80)
            self.assertLessEqual({f"change {i + 1}/{len(changes)}" for i in range(len(changes))}, names)

    def test_folds_notes_columns_and_headers(self):
        with self.opened() as page:
            self.go(page, "sgemm/04")
            self.assertTrue(page.is_visible("#notes"))
            for label in ("Change", "Limit"):
                self.assertIn(label, page.inner_text("#notes"))
            self.assertTrue(page.evaluate("document.querySelector('#notes img').decode().then(() => true)"))
            page.click("#lecture")
            self.assertTrue(page.is_hidden("#notes"))
            page.keyboard.press(" ")  # not the button once more
            self.assertIn("bs", self.lit(page)[0])
            self.assertTrue(page.is_hidden("#notes"))
            page.keyboard.press("l")
            self.assertTrue(page.is_visible("#notes"))
            self.assertIn("… 17 lines …", page.inner_text(".fold >> nth=0"))
            before = page.locator(".row").count()
            page.click(".fold >> nth=0")
            self.assertEqual(page.locator(".row").count(), before + 17)
            page.keyboard.press("f")
            self.assertEqual(page.locator(".fold").count(), 0)
            self.assertEqual(page.locator(".code.pair").count(), 1)
            page.keyboard.press("u")
            self.assertEqual(page.locator(".code.pair").count(), 0)
            self.assertEqual(page.get_attribute("#columns", "aria-pressed"), "true")
            page.reload()
            self.assertEqual(page.locator(".code.pair").count(), 0)  # kept
            self.go(page, "tsm/10")
            names = page.locator("details.header summary").all_inner_texts()
            self.assertTrue(any(name.startswith("+ tsm/generated/pipeline_sums.cuh") for name in names), names)
            page.click("details.header summary >> nth=-1")
            page.wait_for_function("document.querySelectorAll('details.header[open] .row').length > 20")

    def test_code_is_whole_and_coloured(self):
        with self.opened() as page:
            wrong = page.evaluate(
                """() => Object.entries(DATA.files).filter(([, { lines }]) => highlight(lines).some((parts, i) =>
                  parts.map(([text]) => text).join("") !== lines[i])).map(([name]) => name)"""
            )
            self.assertEqual(wrong, [])
            parts = page.evaluate(
                """() => highlight(["for (int i = 0x1f; i < 1'000; ++i) x[threadIdx.x] = 'a'; // \\"b\\"",
                  "#include <cstdint>", "a /* b", "c \\"d\\"", "e */ __syncthreads(); \\"f // g\\" 1.5e-3f"])
                  .map((line) => line.filter(([text, kind]) => kind && text.trim()))"""
            )
            self.assertEqual(
                parts,
                [
                    [
                        ["for", "keyword"],
                        ["int", "keyword"],
                        ["0x1f", "number"],
                        ["1'000", "number"],
                        ["threadIdx", "cuda"],
                        ["'a'", "string"],
                        ['// "b"', "comment"],
                    ],
                    [["#include", "keyword"], ["<cstdint>", "string"]],
                    [["/* b", "comment"]],
                    [['c "d"', "comment"]],
                    [
                        ["e */", "comment"],
                        ["__syncthreads", "cuda"],
                        ['"f // g"', "string"],
                        ["1.5e-3f", "number"],
                    ],
                ],
            )

    def test_a_projector_can_be_read(self):
        with self.opened(theme="projector") as page:
            for rung in SAMPLE:
                self.go(page, rung)
                self.assertEqual(browser.faults_of_texts(page, 14), [], rung)
                self.assertFalse(browser.is_too_wide(page), rung)
            page.keyboard.press("l")
            self.assertEqual(browser.faults_of_texts(page, 14), [])
            self.go(page, "sgemm/04")
            letters = "document.querySelector('#notes img').getBoundingClientRect().width / DATA.figures['{}'].width"
            letters = page.evaluate(letters.format("map_02_coalesced.svg")) * 10 * 0.75  # 10 units high
            self.assertGreaterEqual(letters, 14)

    def test_a_phone_has_one_column(self):
        with self.opened(browser.PHONE, "dark") as page:
            for rung in SAMPLE:
                self.go(page, rung)
                self.assertEqual(page.locator(".code.pair").count(), 0)
                self.assertEqual(browser.faults_of_texts(page), [], rung)
            self.go(page, "sgemm/04")
            page.click("#next")
            self.assertIn("bs[ty][tx]", self.lit(page)[0])
            page.click("#behind")
            self.arrived(page, "sgemm/05")
            page.click("#theme")  # the projector's large letters, of all rungs
            for stage in stages():
                rung = f"{stage.split('/')[0]}/{number_of(stage)}"
                self.go(page, rung)
                self.assertFalse(browser.is_too_wide(page), rung)

    def test_diff_has_the_same_page_of_one_rung(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "diff.html")
            command = [sys.executable, "-B", "-m", "tools.diff", "12", "04", "--html", file]
            subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
            with self.opened(theme="dark", file=file) as page:
                self.assertIn("since 04", page.inner_text("h2"))
                self.assertTrue(page.is_hidden("#ladder"))
                page.keyboard.press("ArrowRight")
                self.assertIn("12 warp tiles", page.inner_text("h2"))
                page.keyboard.press(" ")
                self.assertIsNotNone(self.lit(page))
                self.assertEqual(browser.faults_of_texts(page), [])


if __name__ == "__main__":
    unittest.main()
