#!/usr/bin/env python3
"""./lab report: a ladder beside the committed ones, from a file and, with programs that only copy one, as on a GPU."""

import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import browser

from tools import report
from tools.repository import GPU, ROOT, read_json

COMMITTED = read_json(GPU / "sgemm.json")
OTHER = "NVIDIA Other GPU"
SLOW, FAST = "sgemm/15_async_copies", "sgemm/12_warp_tiles"  # which change places on the other card


def other_ladder():
    """The committed one as of a card that is half as fast; one rung is a third as fast, and one fails."""
    run = copy.deepcopy(COMMITTED)
    run |= {"device": OTHER, "driver": "1.2.3", "commit": "0123456789ab"}
    run["ceilings"] = {key: value / 2 for key, value in run["ceilings"].items()}
    sizes = [{r["problem"][key] for key in "mnk"} for r in run["results"]]
    run["results"] = [r for r, its in zip(run["results"], sizes) if its in ({1024}, {4096})]
    for r in run["results"]:
        if r["stage"] == "sgemm/03_shared_tile":
            r |= {"status": "fail", "reason": "C[0][0] is NaN"}
            del r["time_ms"], r["gflops"], r["pct_roofline"], r["pct_cublas"]
        elif "time_ms" in r:
            by = 3 if r["stage"] == SLOW else 2
            r["gflops"] /= by
            r["time_ms"]["median"] *= by
    return run


def result(run, stage, size):
    return next(r for r in run["results"] if r["stage"] == stage and r["problem"]["m"] == r["problem"]["k"] == size)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.here = self.folder / "here.json"
        self.here.write_text(json.dumps(other_ladder()))

    def lab(self, *arguments, status=0):
        done = subprocess.run([ROOT / "lab", "report", *arguments], cwd=self.folder, text=True, capture_output=True)
        self.assertEqual(done.returncode, status, done)
        return done


class Numbers(Case):
    def test_ratios_shares_and_order(self):
        found = report.report(other_ladder())
        self.assertEqual([p["title"] for p in found["problems"]], ["gemm float 1024", "gemm float 4096"])
        problem = found["problems"][1]
        rungs = {rung["stage"]: rung for rung in problem["rungs"]}
        for stage, rung in rungs.items():
            there = result(COMMITTED, stage, 4096)
            self.assertEqual(rung["there"]["gflops"], there["gflops"])
            if stage == "sgemm/03_shared_tile":
                self.assertEqual((rung["here"], rung["ratio"], rung["reason"]), (None, None, "C[0][0] is NaN"))
            else:
                self.assertAlmostEqual(rung["ratio"], 1 / 3 if stage == SLOW else 1 / 2)
                self.assertEqual(rung["here"]["pct_roofline"], there.get("pct_roofline"))
        pairs = [(swap["faster"], swap["slower"]) for swap in problem["swaps"]]
        self.assertIn((FAST, SLOW), pairs)
        self.assertNotIn(FAST, [slower for _, slower in pairs])
        self.assertTrue(all(slower == SLOW for _, slower in pairs), pairs)
        swap = problem["swaps"][pairs.index((FAST, SLOW))]
        a, b = (result(COMMITTED, stage, 4096)["gflops"] for stage in (FAST, SLOW))
        self.assertAlmostEqual(swap["there_pct"], 100 * (b / a - 1))
        self.assertAlmostEqual(swap["here_pct"], 100 * (a / 2 / (b / 3) - 1))
        self.assertGreater(rungs[SLOW]["here"]["place"], rungs[SLOW]["there"]["place"])

    def test_the_same_card_differs_nowhere(self):
        for problem in report.report(COMMITTED)["problems"]:
            self.assertEqual(problem["swaps"], [])
            self.assertTrue(all(rung["ratio"] in (None, 1) for rung in problem["rungs"]))

    def test_near_rungs_are_equally_fast(self):
        run = other_ladder()
        a, b = (result(run, f"sgemm/{name}", 4096) for name in ("15_async_copies", "16_tuned"))
        b["gflops"] = a["gflops"] * 1.01
        swaps = report.report(run)["problems"][1]["swaps"]
        self.assertFalse([s for s in swaps if {s["faster"], s["slower"]} == {a["stage"], b["stage"]}])

    def test_other_products_and_unknown_sizes(self):
        for name in ("tsm_z", "tsmm_d", "tensor_h", "tensor_s"):
            run = read_json(GPU / f"{name}.json")
            found = report.report(run)["problems"]
            self.assertTrue(all(problem["committed"] for problem in found), name)
        run = other_ladder()
        for r in run["results"]:
            r["problem"] = {"m": 1234, "n": 1234, "k": 1234}  # as a brief ladder names it
        found = report.report(run)["problems"]
        self.assertEqual((found[0]["committed"], found[0]["title"]), (None, "gemm float 1234"))

    def test_machines(self):
        here = report.report(other_ladder())["here"]
        self.assertEqual((here["device"], here["driver"], here["commit"]), (OTHER, "1.2.3", "0123456789ab"))
        self.assertEqual(here["clocks"]["sm_mhz"][1], 1980)
        run = other_ladder()
        for r in run["results"]:
            r["state"] = None
        self.assertEqual(report.report(run)["here"]["clocks"], {})


class Command(Case):
    def test_without_a_gpu(self):
        done = self.lab("--cpu", "--out", "x.html", status=2)
        self.assertRegex(done.stderr, r"\Aerror: no GPU to time on[^\n]*--from FILE[^\n]*\n\Z")
        self.assertEqual((done.stdout, list(self.folder.glob("x*"))), ("", []))

    def test_from_a_file(self):
        self.lab("--from", "here.json", "--out", "mine.html")
        found = json.loads((self.folder / "mine.json").read_text())
        self.assertEqual(found["ladder"]["device"], OTHER)
        self.assertIn(OTHER, (self.folder / "mine.html").read_text())
        # Again from its own JSON, under names of their own.
        self.lab("--from=mine.json", "--out=again.html", "--json=other.json")
        self.assertEqual((self.folder / "again.html").read_text(), (self.folder / "mine.html").read_text())
        self.assertEqual(json.loads((self.folder / "other.json").read_text()), found)
        self.assertEqual(list(self.folder.glob("*.part")), [])

    def test_help(self):
        self.assertIn("usage: ./lab report [--out FILE]", self.lab("--help").stdout)

    def test_bad_input(self):
        run = other_ladder()
        for name, content in {
            "text.json": "{",
            "list.json": "[]",
            "odd.json": '{"results": [{"time_ms": 1}]}',
            "untimed.json": json.dumps(run | {"results": [r for r in run["results"] if "time_ms" not in r]}),
            "executor.json": json.dumps({key: value for key, value in run.items() if key != "ceilings"}),
        }.items():
            (self.folder / name).write_text(content)
        kept = sorted(self.folder.iterdir())
        for arguments in (
            ["--from", "nosuch.json"],
            ["--from", "."],
            *(["--from", f"{name}.json"] for name in ("text", "list", "odd", "untimed", "executor")),
            ["--from"],
            ["--from", "here.json", "1024"],
            ["--from", "here.json", "--out", "nosuch/x.html"],
            ["--from", "here.json", "--json", "nosuch/x.json"],
            ["--from", "here.json", "--out", "x.json"],
            ["--out", "nosuch/x.html"],
            ["--out", "."],
            ["--cpu", "--only", "02"],
        ):
            done = self.lab(*arguments, status=2)
            self.assertRegex(done.stderr, r"\Aerror: [^\n]*\n\Z", arguments)
            self.assertEqual((done.stdout, sorted(self.folder.iterdir())), ("", kept), arguments)

    def programs(self, status=0):
        """A build whose gemm says how it was called and copies a ladder."""
        folder = self.folder / "bin"
        folder.mkdir(exist_ok=True)
        text = f"""#!/bin/sh
echo "$*" > {self.folder}/called
for last; do :; done
[ {status} = 2 ] || cp {self.here} "$last"
exit {status}
"""
        (folder / "gemm").write_text(text)
        (folder / "gemm").chmod(0o755)
        return ["--cuda", "--prebuilt", str(folder)]

    def test_as_on_a_gpu(self):
        self.lab("1024", "4096", "--out", "mine.html", *self.programs(), "--seconds", "0.1")
        called = (self.folder / "called").read_text()
        self.assertRegex(called, r"\Aladder --time 1024 4096 --seconds 0.1 --json /\S+\n\Z")
        self.assertFalse(os.path.exists(called.split()[-1]))
        self.assertIn(OTHER, (self.folder / "mine.html").read_text())

    def test_a_wrong_rung_is_reported_and_no_ladder_is_none(self):
        self.lab(*self.programs(status=1), status=1)
        self.assertTrue((self.folder / "report.html").exists() and (self.folder / "report.json").exists())
        self.lab("--out", "none.html", *self.programs(status=2), status=2)
        self.assertEqual(list(self.folder.glob("none*")), [])


@unittest.skipIf(browser.SKIP, browser.SKIP)
class Page(Case):
    def setUp(self):
        super().setUp()
        self.file = self.folder / "report.html"
        self.file.write_text(report.page(report.report(other_ladder())))

    def good(self, page, what, least_pt=0.0):
        self.assertEqual(browser.faults_of_texts(page, least_pt), [], what)
        self.assertFalse(browser.is_too_wide(page), what)

    def themes(self, page):
        for theme, least_pt in (("light", 0), ("dark", 0), ("projector", 14)):
            page.evaluate(f"document.documentElement.dataset.theme = '{theme}'; drawPairs()")
            self.good(page, theme, least_pt)

    def test_as_a_lecturer_does(self):
        with browser.opened(self.file, browser.PROJECTOR, "projector") as page:
            self.assertEqual(page.input_value("#problem"), "1")  # the larger one
            page.focus("#pairs")
            page.keyboard.press("ArrowDown")
            text = page.inner_text("#reading")
            self.assertRegex(text, rf"01 naive {OTHER}: 249 GFLOP/s.*NVIDIA H200: 498 .*Ratio 0.5")
            page.keyboard.press("ArrowDown")
            page.keyboard.press("ArrowDown")
            self.assertIn("fail: C[0][0] is NaN", page.inner_text("#reading"))
            row = page.evaluate("rows.find((each) => each.rung.stage === 'sgemm/07_register_tile')")
            page.hover("#pairs", position={"x": 500, "y": row["y"]})
            self.assertIn("07 register tile", page.inner_text("#reading"))
            swaps = page.inner_text("#swaps")
            self.assertIn("12 warp tiles is faster than 15 async copies here, by ", swaps)
            self.assertIn("Wrong here: 03 shared tile.", page.inner_text("#summary"))
            for unit in ("cublas", "roofline", "gflops"):
                page.select_option("#unit", unit)
                self.good(page, unit, 14)
            ratio = page.locator("#rungs th:nth-child(4)")
            ratio.locator("button").focus()
            page.keyboard.press("Enter")
            page.keyboard.press("Enter")
            self.assertEqual(ratio.get_attribute("aria-sort"), "ascending")
            first = page.locator("#rungs tbody tr").first.inner_text()
            self.assertIn("15 async copies", first)
            self.assertIn("behind", first)
            facts = page.inner_text("#facts")
            for fact in (OTHER, "1.2.3", "0123456789ab", "13.0", "1980", "NVIDIA H200", "cd25295713cf"):
                self.assertIn(fact, facts)
            self.themes(page)

    def test_on_a_phone(self):
        with browser.opened(self.file, browser.PHONE) as page:
            self.themes(page)


if __name__ == "__main__":
    program = unittest.main(exit=False)
    if browser.SKIP and program.result.wasSuccessful():
        print(browser.SKIP)
    sys.exit(not program.result.wasSuccessful())
