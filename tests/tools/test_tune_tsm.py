#!/usr/bin/env python3
"""What tools/tune/tsm.py makes of results.

usage: test_tsm.py BIN      BIN: the folder of a build's programs
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from tools.digest import expanded
from tools.stats import rank_correlation
from tools.tune import short_k, tsm

PROGRAM = [sys.executable, "-B", "-m", "tools.measure", "tune-tsm"]

gemm = None


def result(stage, cycles, ms, status="pass", size=4, kind="d"):
    return {
        "case": {
            "stage": stage,
            "type": kind,
            "m": size,
            "n": size,
            "k": 100,
            "options": {},
            "tag": {"cycles": cycles},
        },
        "status": status,
        "kernel_options": {"threads": 32 * int(cycles)},
        "time_ms": {"median": ms},
        "gbytes_s": 1 / ms,
    }


RUN = {"device": "a GPU", "commit": "0123", "driver": "", "cuda": ""}


def run(command):
    return subprocess.run([str(word) for word in command], text=True, capture_output=True)


class Tuner(unittest.TestCase):
    def test_rank_correlation(self):
        self.assertAlmostEqual(rank_correlation([1, 2, 3, 4], [10, 20, 30, 1000]), 1)
        self.assertAlmostEqual(rank_correlation([1, 2, 3, 4], [4, 3, 2, 1]), -1)
        self.assertAlmostEqual(rank_correlation([1, 2, 3, 4, 5], [1, 3, 2, 5, 4]), 0.8)  # 1 - 6 * 4 / (5 * 24)
        self.assertAlmostEqual(rank_correlation([1, 1, 2], [5, 5, 7]), 1)
        self.assertIsNone(rank_correlation([1, 2], [1, 2]))
        self.assertIsNone(rank_correlation([1, 1, 1], [1, 2, 3]))

    def test_digest(self):
        results = [
            result("tsm/09_generated", 1, 3.0),
            result("tsm/09_generated", 2, 2.0),
            result("tsm/09_generated", 3, 1.0),
            result("tsm/09_generated", 4, 0.1, "fail"),
            result("tsm/10_pipeline", 1, 1.5),
            result("tsm/13_tsmm_pipeline", 1, 9.0),
        ]
        best, report = tsm.digest(RUN, results, 2)
        self.assertEqual(
            {size: r["case"]["stage"] for size, r in best.items()},
            {("tsmttsm", "d", 4, 4): "tsm/09_generated", ("tsmm", "d", 4, 4): "tsm/13_tsmm_pipeline"},
        )
        self.assertEqual(best["tsmttsm", "d", 4, 4]["kernel_options"], {"threads": 96})
        self.assertEqual(len(report["wrong"]), 1)
        entry = next(e for e in report["sizes"] if e["op"] == "tsmttsm")
        self.assertEqual([m["stage"] for m in entry["models"]], ["tsm/09_generated", "tsm/10_pipeline"])
        model = entry["models"][0]
        self.assertEqual(
            (model["kernels"], model["ms"], model["first_loses"], model["pruned_loses"]), (3, 1.0, 2.0, 1.0)
        )
        self.assertAlmostEqual(model["rank_correlation"], -1)

    def test_what_pruning_loses(self):
        results = [
            result("tsm/09_generated", 1, 3.0),
            result("tsm/10_pipeline", 2, 2.5),
            result("tsm/10_pipeline", 3, 2.0),
            result("tsm/13_tsmm_pipeline", 1, 9.0),
        ]
        for number, case in enumerate(results):
            case["case"]["options"] = {"threads": number}
        _, report = tsm.digest(RUN, results, 2)
        with tempfile.TemporaryDirectory() as name:
            cases = pathlib.Path(name) / "cases"
            cases.write_text("".join(json.dumps(results[number]["case"]) + "\n" for number in (0, 1, 3)))
            tsm.add_tried(report, results, cases)
            sizes = {entry["op"]: entry["tuning"] for entry in report["sizes"]}
            self.assertEqual(
                (sizes["tsmttsm"]["tries"], sizes["tsmttsm"]["stage"], sizes["tsmttsm"]["loses"]),
                (2, "tsm/10_pipeline", 0.25),
            )
            self.assertEqual((sizes["tsmm"]["tries"], sizes["tsmm"]["loses"]), (1, 0))
            cases.write_text(json.dumps(results[0]["case"]) + "\n")
            with self.assertRaises(SystemExit):
                tsm.add_tried(report, results, cases)  # none of the other product's

    def test_the_simplest_stage_may_be_2_percent_slower(self):
        for ms, taken in ((10.1, "tsm/12_tsmm_generated"), (10.3, "tsm/13_tsmm_pipeline")):
            results = [
                {
                    "case": {"stage": stage, "type": "d", "m": 4, "n": 4, "k": 100, "options": {}, "tag": {}},
                    **{"status": "pass", "kernel_options": {}, "time_ms": {"median": time}, "gbytes_s": 1},
                }
                for stage, time in (("tsm/12_tsmm_generated", ms), ("tsm/13_tsmm_pipeline", 10))
            ]
            best, _ = tsm.digest(RUN, results, 4)
            self.assertEqual([kernel["case"]["stage"] for kernel in best.values()], [taken])

    def test_hopeless(self):
        lines = [
            json.dumps({"type": "d", "m": 4, "n": 4, "stage": stage, "tag": {"cycles": cycles}})
            for stage, cycles in (
                ("a", 2),
                ("a", 2.9),
                ("a", 3),
                ("a", 3.1),
                ("tsm/10_pipeline", 8),
                ("tsm/10_pipeline", 9),
                ("tsm/10_pipeline", 10),
                ("b", 4),
            )
        ]
        self.assertEqual(tsm.without_hopeless(lines, 1.5), [*lines[:3], *lines[4:6]])

    def test_new_stages_beside_the_table(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            known = {"op": "tsmm", "type": "d", "n": 24, "stage": "tsm/13_tsmm_pipeline", "options": {"threads": 256}}
            (folder / "table").write_text(
                json.dumps(
                    {"device": "a GPU", "commit": "0123", "kernels": [known | {"m": 20}, known | {"m": 4, "n": 3}]}
                )
            )
            command = [
                *PROGRAM,
                "cases",
                "--gemm",
                gemm,
                "--beside",
                folder / "table",
                "--new",
                "tsm/13c_tsmm_tensor_cores",
                "--most",
                "2",
                "--mib",
                "1",
                "--out",
                folder / "cases",
            ]
            done = subprocess.run([str(word) for word in command], text=True, capture_output=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            cases = [json.loads(line) for line in (folder / "cases").read_text().splitlines()]
            self.assertEqual({(case["m"], case["n"]) for case in cases}, {(20, 24)})  # narrow C has nothing to gain
            self.assertEqual(cases[0]["stage"], "tsm/13_tsmm_pipeline")
            self.assertEqual(cases[0]["options"], {"threads": 256})
            self.assertEqual({case["stage"] for case in cases[1:]}, {"tsm/13c_tsmm_tensor_cores"})
            self.assertEqual({case["k"] for case in cases}, {cases[0]["k"]})
            done = subprocess.run([str(word) for word in command[:10]], text=True, capture_output=True)
            self.assertEqual((done.returncode, done.stderr), (2, "error: --beside and --new go together\n"))

    def test_table_keeps_what_was_not_measured(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            digest = [
                *PROGRAM,
                "digest",
                folder / "results",
                "--keep",
                "--table",
                folder / "table",
                "--report",
                folder / "report",
            ]
            old = {"op": "tsmttsm", "type": "d", "n": 4, "stage": "tsm/09_generated", "options": {"threads": 64}}
            (folder / "table").write_text(
                json.dumps({"device": "a GPU", "commit": "old", "kernels": [old | {"m": 3}, old | {"m": 4}]})
            )
            untimed = result("tsm/09_generated", 1, 2.5)
            untimed["case"]["tag"] = {}  # what the table had: no model's cycles
            (folder / "results").write_text(
                "".join(
                    json.dumps(line) + "\n" for line in ({"run": RUN}, untimed, result("tsm/13b_tensor_cores", 1, 1.5))
                )
            )
            self.assertEqual((run(digest).returncode, run(digest).stderr), (0, ""))
            table = json.loads((folder / "table").read_text())
            self.assertEqual(
                [(k["m"], k["stage"]) for k in table["kernels"]], [(3, "tsm/09_generated"), (4, "tsm/13b_tensor_cores")]
            )
            self.assertEqual(table["commit"], "0123")
            (folder / "table").write_text(json.dumps({"device": "another GPU", "commit": "old", "kernels": []}))
            self.assertEqual(run(digest).returncode, 2)
            self.assertEqual(json.loads((folder / "table").read_text())["device"], "another GPU")

    def test_files(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            digest = [
                *PROGRAM,
                "digest",
                folder / "results",
                "--table",
                folder / "table",
                "--report",
                folder / "report",
            ]
            (folder / "results").write_text(
                json.dumps({"run": RUN}) + "\n" + json.dumps(result("tsm/10_pipeline", 1, 1.5)) + "\n"
            )
            done = run(digest)
            self.assertEqual(done.returncode, 0, done.stderr)
            table = json.loads((folder / "table").read_text())
            self.assertEqual(
                table["kernels"],
                [
                    {
                        "op": "tsmttsm",
                        "type": "d",
                        "m": 4,
                        "n": 4,
                        "stage": "tsm/10_pipeline",
                        "options": {"threads": 32},
                    }
                ],
            )
            self.assertEqual(len(json.loads((folder / "report").read_text())["sizes"]), 1)
            (folder / "results").write_text("{}")
            done = run(digest)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1))

    def test_cases(self):
        listed = subprocess.run([gemm, "list"], text=True, capture_output=True).stdout
        if any(stage not in listed for stages in tsm.STAGES.values() for stage in stages):
            self.skipTest("built without some of the stages")
        cases = [
            json.loads(line)
            for line in subprocess.run(
                [*PROGRAM, "cases", "--gemm", gemm, "--most", "2", "--mib", "1"],
                text=True,
                capture_output=True,
                check=True,
            ).stdout.splitlines()
        ]
        sizes = {(tsm.operation(c["stage"]), c["type"], c["m"], c["n"]) for c in cases}
        self.assertEqual(len(sizes), 2 * 2 * (64 + len(tsm.GRID) * (len(tsm.GRID) - 1)))
        self.assertEqual(len(cases), len({json.dumps({key: c[key] for key in c if key != "tag"}) for c in cases}))
        # One thread a row is tried, whatever the model says.
        self.assertIn(
            1, {c["options"].get("threads_per_row") for c in cases if (c["type"], c["m"], c["n"]) == ("d", 6, 6)}
        )
        # Sorted by problem, so that each problem's data is made once.
        problems = [(tsm.operation(c["stage"]), c["type"], c["m"], c["n"], c["k"]) for c in cases]
        self.assertEqual(sum(a != b for a, b in zip(problems, problems[1:])), len(sizes) - 1)


class Lives(unittest.TestCase):
    def test_narrow_ones_with_each_number_of_turns(self) -> None:
        """What the table has, and a few of each stage; none where C is wide, and none of the other product."""
        kernel = {"op": "tsmm", "type": "d", "m": 4, "n": 4, "stage": "tsm/13_tsmm_pipeline"}
        options = {"threads_per_row": 2, "c_source": "shared", "unroll": 5, "threads": 384}
        table = {"device": "a GPU", "commit": "0123", "kernels": [kernel | {"options": options}]}
        table["kernels"] += [{"m": 64, "n": 64}, {"m": 4, "n": 4, "op": "tsmttsm"}]
        with tempfile.TemporaryDirectory() as name:
            path, out = pathlib.Path(name) / "table.json", pathlib.Path(name) / "cases"
            path.write_text(json.dumps(table))
            done = run([*PROGRAM, "cases", "--gemm", gemm, "--lives", path, "--mib", "1", "--out", out])
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            cases = [json.loads(line) for line in out.read_text().splitlines()]
        self.assertEqual({(c["type"], c["m"], c["n"]) for c in cases}, {("d", 4, 4)})
        self.assertEqual(len({json.dumps(c) for c in cases}), len(cases))
        for turns in tsm.TURNS:
            its = [c for c in cases if c["options"]["turns"] == turns]
            self.assertIn((kernel["stage"], options | {"turns": turns}), [(c["stage"], c["options"]) for c in its])
            self.assertEqual({c["stage"] for c in its} >= set(tsm.STAGES["tsmm"][1:]), True)

    def test_the_fastest_of_each_number_of_turns(self) -> None:
        def timed(stage: str, turns: int, time: float, status: str = "pass") -> dict:
            it = result(stage, 1, time, status)
            return it | {"kernel_options": it["kernel_options"] | ({"turns": turns} if turns else {})}

        results = [
            timed("tsm/12_tsmm_generated", 1, 3.0),
            timed("tsm/13c_tsmm_tensor_cores", 1, 2.0),
            timed("tsm/13c_tsmm_tensor_cores", 2, 1.0, "fail"),
            timed("tsm/12_tsmm_generated", 2, 4.0),
            timed("tsm/12_tsmm_generated", 0, 0.5),
        ]
        for number, each in enumerate(results):
            each["case"]["options"] = {"threads": number}
        with tempfile.TemporaryDirectory() as name:
            path, out = pathlib.Path(name) / "results", pathlib.Path(name) / "lives.json"
            path.write_text("".join(json.dumps(line) + "\n" for line in [{"run": RUN}, *results]))
            done = run([*PROGRAM, "lives", path, "--out", out])
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            rows = expanded(json.loads(out.read_text()))["results"]
        self.assertEqual(
            [(r["m"], r["turns"], r["stage"], r["gbs"]) for r in rows], [(4, 1, "tsm/13c", 0), (4, 2, "tsm/12", 0)]
        )


class ShortK(unittest.TestCase):
    def test_where_09_is_taken(self) -> None:
        mbs = (4, 9, 16, 25)

        def taken(*tuned: float, mbs: tuple[int, ...] = mbs) -> list[float]:
            return short_k.range_of([10] * 4, list(tuned), mbs)

        self.assertEqual(taken(9, 9, 9, 9), [0, 0])
        self.assertEqual(taken(12, 11, 11, 11), [0, 25])
        self.assertEqual(taken(12, 11, 9, 8), [0, 15.2])
        self.assertEqual(taken(8, 11, 11, 8), [4.2, 23.8])
        self.assertEqual(taken(10.2, 8, 8, 8), [0, 8.5])
        self.assertEqual(taken(9.9, 8, 9.9, 8), [0, 8.5])  # either one is within 3 %
        self.assertEqual(taken(9.8, 9.8, 9.6, 9.6), [0, 15.2])  # the tuned one must be 3 % ahead
        self.assertEqual(taken(9.8, 9.8, 9.6, 9.6, mbs=(70, 80, 90, 100)), [0, 0])  # but not here
        self.assertEqual(taken(10.4, 9.9, 10.4, 9), [0, 23.8])

    def test_both_kernels_of_each_square(self) -> None:
        table = {"kernels": [{"op": "tsmttsm", "type": "z", "m": 8, "n": 8, "stage": "a", "options": {}}, {"n": 9}]}
        cases = short_k.cases_of(table)
        self.assertEqual([case["stage"] for case in cases], ["tsm/09_generated", "a"] * len(short_k.MEGABYTES))
        self.assertEqual(cases[-1]["k"] * (8 + 8) * 16, short_k.MEGABYTES[-1] * 10**6)

    def test_a_search(self) -> None:
        """By a `gemm batch` that takes 09 for twice as fast up to 16 MB, and half as fast beyond."""
        options = {"threads": 64}
        kernel = {"op": "tsmttsm", "type": "d", "m": 8, "n": 8, "stage": "tsm/10_pipeline", "options": options}
        table = {"device": "a GPU", "commit": "0123", "short_mb": {}, "kernels": [kernel, {"type": "z"}]}
        program = f"""#!{sys.executable}
import json, sys
if "--compile-only" not in sys.argv:
    with open(sys.argv[sys.argv.index("--out") + 1], "w") as out:
        print(json.dumps({{"run": {json.dumps(RUN)}}}), file=out)
        for case in map(json.loads, open(sys.argv[2])):
            assert "09" in case["stage"] or case["options"] == {options}
            mb = case["k"] * 2 * 8 * (8 if case["type"] == "d" else 16) / 1e6
            ms = mb * (1 if "09" not in case["stage"] else 0.5 if mb < 17 else 2)
            print(json.dumps({{"case": case, "status": "pass", "time_ms": {{"median": ms}}}}), file=out)
"""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            path, record, stand_in = (folder / its for its in ("table.json", "record.json", "gemm"))
            path.write_text(json.dumps(table))
            stand_in.write_text(program)
            stand_in.chmod(0o755)
            words = ["--gemm", stand_in, "--table", path, "--out", record, "--raw", folder / "raw"]
            done = run([*PROGRAM[:-1], "tune-short", *words])
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            found, said = json.loads(path.read_text()), expanded(json.loads(record.read_text()))
            self.assertEqual(found, table | {"short_mb": {"d": [[0, 22.8]], "z": [[0, 22.8]]}})
            self.assertEqual([(its["type"], its["m"]) for its in said["results"]], [("d", 8), ("z", 8)])
            self.assertAlmostEqual(said["results"][0]["own"][0], 1500, -1)
            self.assertAlmostEqual(said["results"][0]["tuned"][-1], 120000, -1)


if __name__ == "__main__":
    gemm = str(pathlib.Path(sys.argv.pop(1)) / "gemm")
    unittest.main()
