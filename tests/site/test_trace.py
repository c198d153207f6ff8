#!/usr/bin/env python3
"""./lab trace: its accesses are those that --count counts, and its page is used as a person uses it.

usage: test_trace.py [--stages=REGEX] BIN      the folder with the program gemm, and which stages it was built with
"""

import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import browser

from tools.site import trace as viewer

ROOT = pathlib.Path(__file__).resolve().parents[2]
gemm = pathlib.Path()  # set at the bottom, from the command line
built = re.compile("")

KINDS = ("global_load", "global_store", "shared_load", "shared_store", "global_atomic", "shared_atomic")
# Ragged, so that lanes of a warp go different ways.
CASES = {
    "sgemm/03_shared_tile": "--m 70 --n 50 --k 45",
    "sgemm/04_conflict_free": "--m 70 --n 50 --k 45",
    "sgemm/09a_float4_loads": "--m 100 --n 130 --k 33",
    "sgemm/13b_swizzle": "--m 150 --n 140 --k 40",
    "tsm/06_transposed": "--m 5 --n 7 --k 333",
    "tensorcore/02_shared_tiles": "--m 70 --n 50 --k 45",
}


def is_built(stage):
    return bool(built.match(stage.partition("/")[2]))


def run(command, stage, *options):
    """What it writes as JSON. A stage's own program is smaller than gemm: addr2line and objdump read it in no time."""
    own = gemm.with_name(stage.replace("/", "_"))
    words = [str(own), *(["trace"] if command == "trace" else [])] if own.exists() else [str(gemm), command, stage]
    words += [*options, "--json", "-"]
    return json.loads(subprocess.run(words, capture_output=True, check=True, text=True).stdout)


def rows_of(trace):
    return [dict(zip(trace["fields"], row, strict=True)) for row in trace["requests"]]


def add_up(trace, sums):
    for row in rows_of(trace):
        site, shape = trace["sites"][row["site"]], trace["shapes"][row["shape"]]
        kind, lanes = sums[f"{site['space']}_{site['access']}"], shape["mask"].bit_count()
        kind["requests"] += 1
        kind["lanes"] += lanes
        kind["bytes"] += lanes * site["bytes"]
        kind["bank_conflicts"] += row["conflicts"]
        for name in ("sectors", "lines", "wavefronts"):
            kind[name] += row[name]


def lane_places(trace, row):
    """Of each lane in the mask the bytes from its object's first."""
    return [row["base"] + offset for offset in trace["shapes"][row["shape"]]["offsets"]]


class Accesses(unittest.TestCase):
    def test_sums_are_what_is_counted(self):
        for stage, size in CASES.items():
            if not is_built(stage):
                continue
            with self.subTest(stage):
                words, sums = [stage, *size.split()], collections.defaultdict(collections.Counter)
                everything = [*words, "--block", "all", "--steps", "10000000"]
                first = run("trace", *everything, "--launch", "1")
                add_up(first, sums)
                for launch in range(2, first["launches"] + 1):
                    add_up(run("trace", *everything, "--launch", str(launch)), sums)
                counts = run("run", *words)["counts"]  # --count would ask nvcc, too
                for kind in KINDS:
                    self.assertEqual({name: sums[kind][name] for name in counts[kind]}, counts[kind], kind)

    def test_first_requests_of_02(self):
        """Block 0, warp 0, k = 0: all lanes read A(0, 0), and lane l reads B(0, l)."""
        trace = run("trace", "sgemm/02_coalesced", "--m", "64", "--n", "96", "--k", "5")
        a, b = rows_of(trace)[:2]
        self.assertEqual([trace["objects"][row["object"]]["name"] for row in (a, b)], ["A", "B"])
        self.assertEqual(lane_places(trace, a), [0] * 32)
        self.assertEqual((a["sectors"], a["lines"], a["wavefronts"], a["conflicts"]), (1, 1, 1, 0))
        self.assertEqual(lane_places(trace, b), [4 * lane for lane in range(32)])
        self.assertEqual((b["sectors"], b["lines"], b["wavefronts"], b["conflicts"]), (4, 1, 1, 0))
        line = trace["sites"][a["site"]]["lines"][0]
        self.assertEqual(line["file"], "stages/02_coalesced.cu")
        code = (ROOT / line["file"]).read_text().split("\n")[line["line"] - 1]
        self.assertIn("sum += a[row * lda + i] * b[i * ldb + col]", code)

    def test_another_block_and_its_limit(self):
        """Block 4 of 2 x 3: its tile of A begins at row 32, of B at column 32; and no more steps than asked for."""
        trace = run("trace", "sgemm/02_coalesced", "--m", "64", "--n", "96", "--k", "5", "--block", "4", "--steps", "7")
        self.assertEqual([block["index"] for block in trace["blocks"]], [4])
        self.assertEqual(len(trace["requests"]), 7)
        self.assertGreater(trace["blocks"][0]["requests"], 7)
        a, b = rows_of(trace)[:2]
        self.assertEqual(lane_places(trace, a), [32 * 5 * 4] * 32)
        self.assertEqual(lane_places(trace, b)[0], 32 * 4)

    def test_conflicts_of_03(self):
        """B's tile is stored down a column of banks: lane l in wavefront l."""
        trace = run("trace", "sgemm/03_shared_tile", "--m", "32", "--n", "32", "--k", "32")
        stores = [row for row in rows_of(trace) if trace["objects"][row["object"]]["name"] == "bs"]
        self.assertEqual((stores[0]["wavefronts"], stores[0]["conflicts"]), (32, 31))
        shape = trace["shapes"][stores[0]["shape"]]
        self.assertEqual(shape["wavefront"], list(range(32)))
        self.assertEqual(shape["turn"], list(range(32)))

    def test_bad_input_is_one_line(self):
        bad = (["--block", "99"], ["--block", "x"], ["--launch", "2"], ["--m", "-1"], ["--steps", "0"], ["--m", "0"])
        for options in bad:
            with self.subTest(options), tempfile.TemporaryDirectory() as folder:
                file = pathlib.Path(folder) / "trace.json"
                words = [str(gemm), "trace", "02", *options, "--json", str(file)]
                ended = subprocess.run(words, capture_output=True, text=True)
                self.assertEqual(ended.returncode, 2)
                self.assertRegex(ended.stderr, r"\Aerror: [^\n]+\n\Z")
                self.assertEqual(list(file.parent.iterdir()), [])


class Declarations(unittest.TestCase):
    def shape(self, text, name, size, kernel="sgemm"):
        return viewer.declared_shape(name, size, [text], kernel)

    def test_constants_of_the_file(self):
        text = "constexpr int TILE = 32, PAD = 1;  // words\n__shared__ float as[TILE][TILE + PAD];"
        self.assertEqual(self.shape(text, "as", 32 * 33 * 4), {"element_bytes": 4, "dimensions": [32, 33]})

    def test_a_template_parameter_follows_from_the_size(self):
        text = "constexpr int TILE_M = 128;\n__shared__ __align__(16) float as[TILE_K][TILE_M];"
        self.assertEqual(self.shape(text, "as", 16 * 128 * 4)["dimensions"], [16, 128])

    def test_parameters_of_the_kernel(self):
        text = """template <class T, int M, int PAD>
          __global__ void __launch_bounds__(32) gemm(const T* a) {
            constexpr int ROW = M + PAD;
            __shared__ T as[4 * ROW], bs[M][M]; }"""
        self.assertEqual(
            self.shape(text, "as", 4 * 72 * 2, "x::gemm<__half, 64, 8>"),
            {"element_bytes": 2, "dimensions": [288], "row": 72},
        )
        self.assertEqual(self.shape(text, "bs", 64 * 64 * 8, "gemm<double, 64, 8>")["dimensions"], [64, 64])

    def test_what_contradicts_the_size_is_not_believed(self):
        self.assertEqual(self.shape("__shared__ float as[8][8];", "as", 1024), {})
        self.assertEqual(self.shape("__shared__ float as[X][Y];", "as", 1024), {})


@unittest.skipIf(browser.SKIP, browser.SKIP)
class Page(unittest.TestCase):
    """As a person uses it: keys, buttons, choices."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.pages = {}
        options = {"03": ["--m", "64", "--n", "64", "--k", "64", "--block", "0", "--block", "3"], "02": []}
        for stage, words in options.items():
            cls.pages[stage] = pathlib.Path(cls.folder.name) / f"{stage}.html"
            cls.pages[stage].write_text(viewer.html_of(viewer.traced(gemm, stage, words, 60)))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def step(self, page):
        return page.evaluate("+document.documentElement.dataset.step")

    def text(self, page, where):
        return page.inner_text(where)

    def lit_line(self, page):
        return int(page.get_attribute("#source .lit", "data-n"))

    def test_keys(self):
        source = (ROOT / "stages" / "03_shared_tile.cu").read_text().split("\n")
        with browser.opened(self.pages["03"]) as page:
            self.assertIn(
                "Step 1 of 137: warp 0 loads from A, 32 x 4 bytes: 4 sectors in 1 line", self.text(page, "#now")
            )
            self.assertIn("as[ty][tx] =", source[self.lit_line(page) - 1])
            self.assertIn("A(0, 31)", self.text(page, "#lanes"))
            page.keyboard.press("ArrowRight")
            self.assertIn("as[0][31]", self.text(page, "#lanes"))
            page.keyboard.press("c")
            self.assertEqual(self.step(page), 3)
            self.assertIn("32 wavefronts, 31 by bank conflicts", self.text(page, "#now"))
            self.assertEqual(page.locator(".lane.conflict").count(), 31)
            self.assertEqual(page.get_attribute("#cost", "data-rows"), "32")
            page.keyboard.press("l")
            self.assertIn("sum += as[ty][i] * bs[tx][i]", source[self.lit_line(page) - 1])
            # The whole block has filled the tile before the barrier, this warp or not.
            filled = page.evaluate("[...document.querySelectorAll('#figures figure')].map((f) => f.dataset.filled)")
            self.assertEqual(sorted(each or "" for each in filled), ["", "0", "1024", "1024", "1024", "1024"])
            page.keyboard.press("ArrowLeft")
            self.assertEqual(self.step(page), 3)
            page.keyboard.press("End")
            self.assertIn("stores to C", self.text(page, "#now"))
            page.keyboard.press("c")
            self.assertIn("No conflict follows", self.text(page, "#now"))
            page.keyboard.press("Home")
            self.assertEqual(self.step(page), 0)
            page.keyboard.press("ArrowDown")
            self.assertIn("warp 1 loads from A", self.text(page, "#now"))

    def test_play_and_pause(self):
        with browser.opened(self.pages["03"]) as page:
            page.select_option("#speed", "60")
            page.click("#play")
            page.wait_for_function("+document.documentElement.dataset.step >= 5")
            page.click("#play")
            here = self.step(page)
            page.wait_for_timeout(150)
            self.assertEqual(self.step(page), here)
            page.click("#forward")
            page.click("#back")
            page.click("#back")
            self.assertEqual(self.step(page), here - 1)
            page.click("#next-line")
            self.assertGreater(self.step(page), here - 1)
            page.locator("#position").fill("100")
            self.assertIn("Step 101 of", self.text(page, "#now"))

    def test_choices_and_hover(self):
        with browser.opened(self.pages["03"]) as page:
            page.select_option("#block", "1")
            self.assertIn("A(32, 0)", self.text(page, "#lanes"))
            page.select_option("#warp", "all")
            self.assertIn("of 4384", self.text(page, "#now"))
            page.locator("#position").fill("130")
            caption = page.locator("#figures figure", has_text="as[32][32]")
            caption.locator("canvas").hover(position={"x": 2, "y": 2})
            self.assertRegex(self.text(page, "#figures"), r"as\[0\]\[0\]: warp 0, line \d+")

    def test_sectors_are_as_many_as_were_counted(self):
        with browser.opened(self.pages["02"]) as page:
            page.keyboard.press("ArrowRight")
            self.assertIn("4 sectors in 1 line", self.text(page, "#now"))
            last = page.locator(".lane .w").all_inner_texts()
            self.assertEqual(set(last), {"s0", "s1", "s2", "s3"})

    def test_all_can_be_read(self):
        with browser.opened(self.pages["03"]) as page:
            page.keyboard.press("c")
            for theme, least in (("light", 0), ("dark", 0), ("projector", 14)):
                self.assertEqual(page.get_attribute("html", "data-theme"), theme)
                for width, height in (browser.PHONE, browser.PROJECTOR):
                    page.set_viewport_size({"width": width, "height": height})
                    with self.subTest(width=width, theme=theme):
                        self.assertEqual(browser.faults_of_texts(page, least), [])
                        self.assertFalse(browser.is_too_wide(page))
                self.assertLessEqual(page.evaluate("document.documentElement.scrollHeight"), 720, theme)
                page.click("#theme")


if __name__ == "__main__":
    words = sys.argv[1:]
    if words[0].startswith("--stages="):
        built = re.compile(words.pop(0).removeprefix("--stages="))
    gemm = pathlib.Path(words[0]).resolve() / "gemm"
    unittest.main(argv=[sys.argv[0], *words[1:]])
