#!/usr/bin/env python3
"""The paper's experiments on tall & skinny products: the cases that they make, one of them on the executor, and what
tables, figures and blocks make of records.

usage: test_tsm_experiments.py BIN      BIN: the folder of a CPU build's programs
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
from experiment_records import HEAD

from tools.experiments import tsm, tsm_ncu, tsm_run, tsm_tables
from tools.experiments.tsm_cases import DIAGONAL, ELEMENT, GRID, PRODUCTS, operation, register_line
from tools.measure import counters
from tools.pages.blocks import experiments as blocks
from tools.pages.figures import experiments as figures

bin_dir = None
STAGES = ("tsm/02", "tsm/09", "tsm/10", "tsm/12", "tsm/13")


def run(*command):
    return subprocess.run(
        [str(word) for word in command], text=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=300
    )


def gemm():
    return bin_dir / "gemm"


def result(series, ms, m=4, n=4, k=1000, kind="d", stage="tsm/09", op="tsmttsm", share=50.0, **more):
    return {
        "series": series,
        "stage": stage,
        "op": op,
        "type": kind,
        "m": m,
        "n": n,
        "k": k,
        "status": "pass",
        "gflops": 1000.0 / ms,
        "pct_roofline": share,
        "ms": ms,
        **more,
    }


def tile(tm, tn, ms, kind="d"):
    return result(
        f"{tm} x {tn}",
        ms,
        32,
        32,
        kind=kind,
        options={"tile_m": tm, "tile_n": tn, "unroll": 1},
        registers=100,
        local_bytes=0,
    )


def record(name, results):
    return {"experiment": name, **HEAD, "results": results}


# A record of each kind.
RECORDS = {
    "shares": record(
        "E9",
        [
            result(series, 1.0, m, m, kind=kind, share=10 * m)
            for m in (1, 2, 4)
            for kind in "dz"
            for series in ("cuBLAS", "our best")
        ],
    ),
    "curves": record(
        "E11",
        [
            result(
                str(unroll),
                4.0 / unroll,
                m,
                m,
                stage="tsm/12",
                op="tsmm",
                share=20 * unroll,
                options={"threads_per_row": 4, "unroll": unroll, "c_source": "shared"},
            )
            for m in (1, 2)
            for unroll in (1, 2)
        ],
    ),
    "tiles": record(
        "E4", [tile(tm, tn, 10 / (tm + tn), kind) for tm in (1, 2, 4) for tn in (1, 2, 4) for kind in "dz"]
    ),
    "reductions": record(
        "E8",
        [
            result(series, ms * k / 1000, m, m, k)
            for m in (1, 4)
            for k in (1000, 10000)
            for series, ms in (
                ("none", 0.1),
                ("atomics", 0.4),
                ("local", 0.2),
                ("ordered", 0.125),
                ("our best", 0.11),
                ("cuBLAS", 0.3),
            )
        ],
    ),
    "map": record(
        "E14",
        [
            result(PRODUCTS[op], 1.0, m, n, kind=kind, op=op, share=100 if m == n else 40.0)
            for op in ("tsmttsm", "tsmm")
            for kind in "dz"
            for m in (1, 2)
            for n in (1, 2)
        ],
    ),
}


class Cases(unittest.TestCase):
    def setUp(self):
        listed = run(gemm(), "list").stdout
        if not all(stage in listed for stage in STAGES):
            self.skipTest("built without some of the stages")

    def test_cases(self):
        by_name, series = {}, {}
        for name in tsm.EXPERIMENTS:
            cases, missing = tsm.cases_of(name, gemm(), None)
            self.assertEqual(missing, [])
            by_name[name] = cases
            series[name] = list(dict.fromkeys(case["tag"]["series"] for case in cases))
            problems = [(operation(c), c["type"], c["m"], c["n"], c["k"]) for c in cases]
            # One after another, so that each problem's data is made once.
            self.assertEqual(1 + sum(a != b for a, b in zip(problems, problems[1:])), len(set(problems)), name)
            # But for our best and cuBLAS at K = 1e8, on a GPU with 141 GB.
            for c in cases:
                most = 103e9 if name == "E8" and c["tag"]["series"] in ("our best", "cuBLAS") else 2**34
                self.assertLessEqual((c["m"] + c["n"]) * c["k"] * ELEMENT[c["type"]], most, name)
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "cases")
            file.write_text("".join(map(tsm.text_of, by_name.values())))
            # A part that is empty: all cases are read and looked at, none is compiled.
            looked_at = run(gemm(), "batch", file, "--compile-only", "--part", "99999/99999")
            self.assertEqual(looked_at.returncode, 0, looked_at.stderr)
            self.assertIn("0 compiled, 0 were there, 0 failed", looked_at.stdout)
            done = run(ROOT / "lab", "experiment", "E3", "--cases", "-", "--prebuilt", bin_dir)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, tsm.text_of(by_name["E3"]), ""))
        self.assertEqual({len(by_name["E2"]), sum(c["stage"] == "library" for c in by_name["E2"])}, {2 * len(DIAGONAL)})
        self.assertEqual(len(series["E3"]), 4)
        self.assertEqual(series["E8"], ["none", "atomics", "shared-atomics", "local", "ordered", "our best", "cuBLAS"])
        self.assertEqual(
            {(c["type"], c["m"], c["k"]) for c in by_name["E9"]} & {("d", 64, 2**23), ("z", 64, 2**22)},
            {("d", 64, 2**23), ("z", 64, 2**22)},
        )
        self.assertEqual(
            [set(series[name]) for name in ("E10", "E11", "E12")],
            [{"registers", "global", "shared"}, {"1", "2", "3", "4"}, {"1", "2", "4", "8", "16"}],
        )
        self.assertEqual({(c["m"], c["n"]) for c in by_name["E14"]}, {(m, n) for m in GRID for n in GRID})
        tiles = {(c["type"], c["options"]["tile_m"], c["options"]["tile_n"]) for c in by_name["E4"]}
        self.assertLess({("d", 8, 8), ("d", 16, 4), ("d", 1, 1), ("z", 4, 8)}, tiles)
        self.assertNotIn(("d", 16, 16), tiles)
        # What an option is, is what its series is called.
        for name, option in (("E10", "c_source"), ("E11", "unroll"), ("E12", "threads_per_row")):
            self.assertTrue(all(str(c["options"][option]) == c["tag"]["series"] for c in by_name[name]), name)

    def test_one_on_the_executor(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "E8.json")
            done = run(ROOT / "lab", "experiment", "E8", "2x2x100", "--out", file, "--prebuilt", bin_dir)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("Speeds need a GPU", done.stdout)
            found = json.loads(file.read_text())
        results = {r["series"]: r for r in found["results"]}
        self.assertEqual(
            {name: r["status"] for name, r in results.items()},
            {
                "none": "incorrect on purpose",
                **dict.fromkeys(("atomics", "shared-atomics", "local", "ordered", "our best"), "pass"),
            },
        )
        self.assertIn("no result", results["none"]["reason"])
        self.assertEqual((results["none"]["atomics"], results["ordered"]["atomics"]), (0, 0))
        self.assertGreater(results["atomics"]["atomics"], results["local"]["atomics"])
        # Neighbouring threads add the block's copy of C, all four elements of it in one request.
        self.assertEqual(results["shared-atomics"]["atomics"], 1)
        # C and alpha, which the second pass writes and reads: here it is 2 x 2, a sector.
        self.assertEqual(results["ordered"]["store_sectors"] - results["none"]["store_sectors"], 1)
        self.assertFalse(any("ms" in r or "gflops" in r or "pct_roofline" in r for r in found["results"]))
        needs = run(ROOT / "lab", "experiment", "E2", "--prebuilt", bin_dir)
        self.assertEqual((needs.returncode, needs.stdout), (2, ""))
        self.assertRegex(needs.stderr, r"\Aerror: E2 needs a GPU: [^\n]*\n\Z")
        bytes_needed = run(ROOT / "lab", "experiment", "E13", "--ncu", "--prebuilt", bin_dir)
        self.assertEqual((bytes_needed.returncode, bytes_needed.stdout, bytes_needed.stderr.count("\n")), (2, "", 1))

    def test_bytes_of_device_memory(self):
        """With Nsight Compute's answer made up, the rest is what a GPU would do, but for the device."""
        batches = []

        def read_launches(command, metrics, count, kernels):
            batches.append(command)
            done = run(*command)
            self.assertEqual(done.returncode, 0, done.stderr)
            return [
                ([1], [1], {"dram__bytes_read.sum": 1.5 * 8 * 5 * 20, "dram__bytes_write.sum": 8 * 5 * 20.0})
            ] * count

        with mock.patch.object(counters, "read_launches", read_launches):
            found = tsm_ncu.perform_ncu(gemm(), "E13", [(5, 5, 20)])
        self.assertEqual(len(batches), 1)
        series = ["tsm/12", "tsm/13", "tsm/13c", "tsm/12, a thread for a row"]
        self.assertEqual([r["series"] for r in found["results"]], series)
        self.assertEqual([r["options"]["threads_per_row"] for r in found["results"]][-1], 1)
        head, rows = tsm_ncu.table_dram(found)
        self.assertEqual(head[2::2], [f"{each}: read, of A's bytes" for each in series])
        self.assertEqual(rows, [["5", "1", *["1.50", "1.00"] * 4]])

    def test_what_is_busy(self):
        answer = {
            "smsp__cycles_elapsed.avg.per_second": 1.834e9,
            "sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active": 2.2,
            "sm__pipe_tensor_op_dmma_cycles_active.avg.pct_of_peak_sustained_active": 77.2,
            "dram__throughput.avg.pct_of_peak_sustained_elapsed": 61.6,
        }

        def read_launches(command, metrics, count, kernels):
            self.assertEqual(set(metrics), set(answer))
            done = run(*command)
            self.assertEqual(done.returncode, 0, done.stderr)
            return [([1], [1], answer)] * count

        with mock.patch.object(counters, "read_launches", read_launches):
            found = tsm_ncu.perform_ncu(gemm(), "E9", [(17, 17, 20)])
        head, rows = tsm_ncu.TABLES_OF_COUNTED["E9"](found)
        self.assertEqual(head[1:4], ["tsm/10, double", "tsm/10, double complex", "tsm/13b, double"])
        self.assertEqual((len(head), rows), (9, [["17", *["1.83, 77, 62"] * 8]]))
        answer.popitem()
        with (
            mock.patch.object(counters, "read_launches", read_launches),
            self.assertRaises((SystemExit, AssertionError)),
        ):
            tsm_ncu.perform_ncu(gemm(), "E9", [(17, 17, 20)])


class Records(unittest.TestCase):
    def test_the_best_of_a_series(self):
        slow, fast, wrong = result("a", 2.0), result("a", 1.0), {"series": "a", "status": "fail"}
        best = tsm_run.best_of([slow, fast, wrong, result("a", 3.0, 5, 5)])
        self.assertEqual(
            [(r.get("ms"), r.get("m"), r["tried"]) for r in best], [(1.0, 4, 2), (None, None, 1), (3.0, 5, 1)]
        )

    def test_text_is_json(self):
        text = tsm_run.record_text(RECORDS["curves"])
        self.assertEqual(json.loads(text), RECORDS["curves"])
        self.assertEqual(len(text.splitlines()), 2 + len(RECORDS["curves"]["results"]))

    def table(self, kind, which=0):
        found, notes = tsm_tables.tables(RECORDS[kind])
        self.assertTrue(all(len(row) == len(head) for head, rows in found for row in rows))
        self.assertIn("a GPU, driver 1", notes[0])
        return found[which]

    def test_tables(self):
        head, rows = self.table("shares")
        self.assertEqual(
            head, ["M = N", "cuBLAS, double", "cuBLAS, double complex", "our best, double", "our best, double complex"]
        )
        self.assertEqual(rows[2], ["4", *["40.0 %"] * 4])
        head, rows = self.table("curves")
        self.assertEqual(rows[0], ["1", "20.0 %", "40.0 %", "2", "t 4, U 2, shared", "500"])
        head, rows = self.table("tiles")
        self.assertEqual(rows[0][:2], ["4 x 4", str(2 * (16 + 2 * 8 + 8))])
        head, rows = self.table("tiles", 1)
        self.assertEqual(rows[0][:2], ["4 x 4", str(2 * (2 * (16 + 2 * 8) + 8))])
        head, rows = self.table("reductions")
        floor = 2 * 3.0 + 8 * 2 * 1000 / 4000 / 1e3  # two launches, and 16 KB at 4 TB/s
        self.assertEqual(rows[0], ["1,000", "100", "25.0 %", "50.0 %", "80.0 %", "125", "110", "300", f"{floor:.3g}"])
        head, rows = self.table("map")
        self.assertEqual(rows[0], ["TSMTTSM, double", "4", "70.0 %", "40.0 % at 1 x 2", "2", "2", "2"])

    def test_wrong_results_are_said(self):
        wrong = {**result("cuBLAS", 1.0), "status": "fail", "reason": "C(0, 0) is 1"}
        notes = tsm_tables.tables(record("E9", [*RECORDS["shares"]["results"], wrong]))[1]
        self.assertTrue(any("1 WRONG" in note and "C(0, 0) is 1" in note for note in notes))

    def test_registers_line(self):
        """That of tsm/generated/model.hpp, from a kernel's own arithmetic: sums, two rows of A's and B's words, eight
        more."""
        self.assertEqual(register_line(8, 8, "d"), 208)
        self.assertEqual(register_line(4, 8, "z"), 240)

    def test_blocks(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            self.assertIn("Not measured yet", blocks.block_experiment(None, "E9", folder)[0])
            self.assertIn("Not measured yet", blocks.block_experiment_ncu(None, "E13", folder)[0])
            self.assertIn("Not measured yet", blocks.block_pairs(None, folder)[0])
            (folder / "E9.json").write_text(json.dumps(RECORDS["shares"]))
            lines = blocks.block_experiment(None, "E9", folder)
            self.assertEqual(
                lines[:2],
                [
                    "| M = N | cuBLAS, double | cuBLAS, double complex | our best, double | our best, double complex |",
                    "|---:|---:|---:|---:|---:|",
                ],
            )
            self.assertEqual(lines[-1], "![a title](../figures/experiment_E9.svg)")

    def test_figures(self):
        try:
            import matplotlib  # noqa: F401
        except ImportError:
            self.skipTest("no matplotlib")
        with tempfile.TemporaryDirectory() as folder:
            for kind, found in RECORDS.items():
                path = pathlib.Path(folder, f"{kind}.svg")
                figures.draw_experiment(found, path)
                text = path.read_text()
                self.assertIn(f"{found['experiment']}: a title", text, kind)
                for word in {
                    "shares": ["our best", "double complex"],
                    "curves": ["roofline"],
                    "tiles": ["best (+) 4 x 4"],
                    "reductions": ["local"],
                    "map": ["TSMM,", "double:"],
                }[kind]:
                    self.assertIn(word, text, kind)


if __name__ == "__main__":
    bin_dir = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
