#!/usr/bin/env python3
"""The experiments of SGEMM's sources: what tables and sentences make of records, and how the CPU's BLAS is measured."""

import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
from experiment_records import HEAD

from tools.experiments import blas, sgemm, sgemm_tables
from tools.pages.blocks import sources
from tools.pages.data import Data
from tools.pages.figures import quad_perm


def result(stage, n, ms, cublas=40000.0):
    gflops = 2e-6 * n**3 / ms
    return {
        "stage": stage,
        "shape": [n, n, n],
        "status": "pass",
        "ms": ms,
        "gflops": gflops,
        "cublas_gflops": cublas,
    }


class CaseStudy(unittest.TestCase):
    def tables(self, results):
        found, notes = sgemm_tables.tables({**HEAD, "experiment": "case-study", "results": results})
        return [[dict(zip(head, row)) for row in rows] for head, rows in found], notes

    def test_kernel_8_as_published_stands_beside_the_source(self):
        """In both tables, and not the form with guards, of which the source has no figure."""
        results = [result(s, 8192, ms) for s, ms in (("09a:padded", 32.5), ("09a:product", 32.0), ("09a", 35.0))]
        (kernels, beside, copies), _ = self.tables(results)
        theirs = {row["stage"]: row["there, at 8192"] for row in kernels}
        self.assertEqual((theirs["09a:padded"], theirs["09a:product"], theirs["09a"]), ("4,807", "5,280", "not given"))
        self.assertEqual((theirs["06a:always_padded"], theirs["06a"]), ("2,375", "not given"))
        padded = next(row for row in beside if row["M = N = K"] == "8192")
        self.assertEqual(padded["kernel 8 (09a:padded)"], "33,831")
        self.assertEqual((padded["kernel 8 there"], padded["ratio there"]), ("4,807", "68.24 %"))
        here, there = copies
        self.assertEqual((here["product, ms"], here["with its copies, ms"], here["copies, ms"]), ("32", "32.5", "0.5"))
        self.assertEqual((here["of the time"], here["copies by their bytes, ms"]), ("1.5 %", "0.403"))
        self.assertEqual((there["copies, ms"], there["of the time"]), ("20.5", "9.0 %"))

    def test_what_is_not_measured_says_so(self):
        (kernels, beside, copies), _ = self.tables([result("09a", 8192, 35.0)])
        said = {row["stage"]: row["GFLOP/s"] for row in kernels}
        self.assertEqual((said["09a:padded"], said["09a"]), ("not measured", "31,415"))
        self.assertEqual(beside[0]["kernel 8 (09a:padded)"], "not measured")
        self.assertEqual([row["copies, ms"] for row in copies], ["not measured", "20.5"])

    def test_all_its_stages_are_run(self):
        self.assertEqual(set(sgemm.EXPERIMENTS["case-study"].stages()), set(sgemm.KERNELS))


class Blas(unittest.TestCase):
    def test_others_on_the_cores_are_noticed(self):
        """They slow all rounds alike: the spread is small, and the share of the cores' time shows it."""
        calls = []

        def time_of(n):
            calls.append(n)
            busy = n == 200 and calls.count(200) <= blas.ROUNDS  # for as long as the first trial takes
            return (0.4, 0.3) if busy else (0.1, 1.0)

        found = blas.measure([100, 200], time_of)
        self.assertEqual((found["again"], found["in_doubt"]), ([200], []))
        self.assertAlmostEqual(found["gflops"]["200"], 2e-9 * 200**3 / 0.1)
        self.assertEqual(found["share"], {"100": 1.0, "200": 1.0})
        self.assertEqual(len(calls), 3 * blas.ROUNDS)

    def test_a_spread_that_stays_is_in_doubt(self):
        times = iter([0.1, 0.2] * 1000)
        found = blas.measure([100], lambda n: (next(times), 1.0))
        self.assertEqual((found["again"], found["in_doubt"]), ([100], [100]))
        self.assertGreater(found["spread"]["100"], blas.STEADY)

    def test_rounds_go_from_size_to_size(self):
        order = []
        blas.rounds_of([1, 2], lambda n: order.append(n) or (0.1, 1.0))
        self.assertEqual(order, [1, 2] * blas.ROUNDS)

    def test_cores(self):
        """One logical processor of each core, and no more of them than a container may use at a time."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for core, pair in ((0, "0,2"), (2, "0,2"), (1, "1,3"), (3, "1,3")):
                path = folder / f"cpu{core}/topology"
                path.mkdir(parents=True)
                (path / "thread_siblings_list").write_text(f"{pair}\n")
            listed = {core: blas.siblings(core, folder) for core in range(5)}
            self.assertEqual(listed, {0: "0,2", 1: "1,3", 2: "0,2", 3: "1,3", 4: "4"})
            for text, cores in (("max 100000", None), ("150000 100000", 1.5)):
                (folder / "cpu.max").write_text(text)
                self.assertEqual(blas.quota(folder), cores)
        with (
            mock.patch.object(blas.os, "sched_getaffinity", lambda _: {0, 1, 2, 3}),
            mock.patch.object(blas, "siblings", lambda core: listed[core]),
        ):
            for limit, cores in ((None, [0, 1]), (1.5, [0]), (0.5, [0])):
                with mock.patch.object(blas, "quota", lambda limit=limit: limit):
                    self.assertEqual(sorted(blas.usable_cores()), cores)


class Dips(unittest.TestCase):
    SIZES = (1023, 1024, 1025, 1088)

    def record(self, speeds, in_doubt=(), **more):
        names = [str(n) for n in self.SIZES]
        measured = {
            "library": "libopenblas.so",
            "version": "OpenBLAS 0.3",
            "cpu": "a CPU",
            "cores": 8,
            "threads": 8,
            "pinned": True,
            "rounds": 7,
            "gflops": dict(zip(names, speeds)),
            "spread": dict.fromkeys(names, 0.02),
            "share": dict.fromkeys(names, 0.99),
            "again": list(in_doubt),
            "in_doubt": list(in_doubt),
        }
        results = [result("10", n, 2e-6 * n**3 / gflops) for n, gflops in zip(self.SIZES, (22e3, 26e3, 13e3, 16e3))]
        return {**HEAD, "experiment": "pa2-dips", "results": results, "blas": {**measured, **more}}

    def test_table(self):
        [(head, rows)], notes = sgemm_tables.tables(self.record([1000, 1010, 1005, 1050], in_doubt=[1025]))
        self.assertEqual([row[-2:] for row in rows][1:3], [["1,010", "2.0 %"], ["1,005 ?", "2.0 %"]])
        text = " ".join(notes)
        for said in (
            "OpenBLAS 0.3, 8 threads, each on a core of its own,",
            "7 rounds",
            "1 of 4 sizes was measured again",
        ):
            self.assertIn(said, text)

    def test_a_run_without_spreads_is_not_shown(self):
        record = self.record([38, 38, 1088, 127])
        for key in ("spread", "share", "again", "in_doubt", "version", "threads", "pinned", "rounds"):
            del record["blas"][key]
        [(head, rows)], notes = sgemm_tables.tables(record)
        self.assertEqual([row[-2:] for row in rows], [["-", "-"]] * 4)
        self.assertIn("not measured", " ".join(notes))

    def test_the_verdict_follows_the_numbers(self):
        said = sgemm_tables.curve_in_words(self.record([1000, 1010, 1005, 1050]))
        self.assertIn("loses 0.5 % at most, from 1024 to 1025, where our kernel loses 50 % from 1024 to 1025", said)
        self.assertTrue(said.endswith("as the report found"), said)
        said = sgemm_tables.curve_in_words(self.record([1000, 1010, 500, 1050]))
        self.assertTrue(said.endswith("unlike the report's curve"), said)
        said = sgemm_tables.curve_in_words(self.record([1000, 1010, 1005, 1050], in_doubt=[1025]))
        self.assertTrue(said.startswith("not judged"), said)


class Blocks(unittest.TestCase):
    def test_outputs_and_tiles(self):
        lines = sources.block_outputs_and_tiles(Data())
        self.assertEqual(len(lines), len(sources.TILED) + 4)
        self.assertIn("| [06a](stages/06a_thread_1d_4.md) | 32 x 32 x 32 | 4, as 4 x 1 |", "\n".join(lines))

    def test_wmma(self):
        lines = sources.block_wmma(Data())
        self.assertRegex(
            "\n".join(lines), r"\| \[tensorcore/01\]\(tensorcore/01_wmma\.md\) \| WMMA, .* \| FP16 \| \d+ \|"
        )

    def test_tiles_are_those_of_the_sources(self):
        for number, tile in (("07", "TILE = 64"), ("08", "TILE_M = 128, TILE_N = 128"), ("04", "TILE = 32")):
            self.assertIn(tile, Data().source(Data().stage(number)))


class QuadPerm(unittest.TestCase):
    def test_operands(self):
        """The article's table, and the two permutations by which four lanes share B."""
        shown = {title: quad_perm.operands(held, permutation) for title, held, permutation in quad_perm.PANELS}
        self.assertEqual(
            list(shown.values()), [["b0"] * 4, ["b1"] * 4, ["3", "3", "1", "2"]], "of the panels from left to right"
        )


if __name__ == "__main__":
    unittest.main()
