#!/usr/bin/env python3
"""tools/measure/pairs.py on the executor: the first pair, what is wrong in results, and where there are none."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from tools.measure import pairs


def run(*command):
    return subprocess.run(
        [sys.executable, "-B", "-m", "tools.measure", "pairs", *map(str, command)], text=True, capture_output=True
    )


class Pairs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / "pairs.json"

    def test_problems(self):
        few, many, padded = pairs.problems("tsmttsm", "z", 3, 4)
        self.assertGreaterEqual(few["k"], 16)  # or three products would not be tried
        self.assertTrue(few["conj"])
        self.assertGreater(many["k"], 10 * padded["k"])
        self.assertTrue(padded["lda"] > 3 and padded["ldb"] > 4 and padded["ldc"] > 4 and padded["offset"] % 2)
        self.assertNotIn("conj", next(pairs.problems("tsmm", "z", 3, 4)))

    def test_first_pair(self):
        done = run(
            "run",
            "--gemm",
            gemm,
            "--out",
            self.folder / "results",
            "--processes",
            2,
            "--op",
            "tsmm",
            "--type",
            "d",
            "--most",
            1,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        done = run("digest", self.folder / "results", "--out", self.out)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        found = json.loads(self.out.read_text())
        self.assertEqual(
            [(g["op"], g["type"], g["pairs"], g["problems"], g["pass"]) for g in found["groups"]],
            [("tsmm", "d", 1, 3, 3)],
        )

    def test_what_is_wrong(self):
        case = next(pairs.problems("tsmttsm", "d", 2, 5))
        lines = [
            {"run": {"device": "a GPU", "commit": "0123", "driver": "1", "cuda": "2"}},
            {"case": case | {"k": 7}, "status": "pass", "error": {"max_ratio": 0.25}},
            {"case": case, "status": "fail", "reason": "C(0, 0) is 1"},
        ]
        (self.folder / "1.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        done = run("digest", self.folder, "--out", self.out)
        self.assertEqual(done.returncode, 1)
        found = json.loads(self.out.read_text())
        self.assertEqual(found["others"], [{"case": case, "status": "fail", "reason": "C(0, 0) is 1"}])
        self.assertEqual(
            (found["groups"][0]["problems"], found["groups"][0]["pass"], found["groups"][0]["worst"]), (2, 1, 0.25)
        )

    def test_later_results_count(self):
        case = next(pairs.problems("tsmm", "d", 2, 5))
        folders = [self.folder / name for name in ("before", "after")]
        for folder, commit, status in zip(folders, ("0123", "4567"), ("fail", "pass")):
            folder.mkdir()
            lines = [
                {"run": {"device": "a GPU", "commit": commit, "driver": "1", "cuda": "2"}},
                {"case": case, "status": status, "reason": "", "error": {"max_ratio": 0.5}},
            ]
            (folder / "1.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"case": {"inter')
        done = run("digest", *folders, "--out", self.out)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(self.out.read_text())
        self.assertEqual(
            (found["commits"], found["groups"][0]["problems"], found["groups"][0]["pass"]), (["0123", "4567"], 1, 1)
        )
        for times in (1, 2):
            self.assertEqual(run("digest", folders[1], "--out", self.out, "--again").returncode, 0)
            now = json.loads(self.out.read_text())
            self.assertEqual(
                (now["groups"], len(now["again"]), now["again"][-1]["commits"]), (found["groups"], times, ["4567"])
            )

    def test_some_pairs_only(self):
        (self.folder / "only").write_text("tsmm d 1x1\n")
        arguments = [
            "run",
            "--gemm",
            gemm,
            "--out",
            self.folder / "results",
            "--processes",
            2,
            "--only",
            self.folder / "only",
        ]
        done = run(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        results = [
            json.loads(line)
            for path in (self.folder / "results").glob("*.jsonl")
            for line in path.read_text().splitlines()
        ]
        self.assertEqual(
            {(r["case"]["m"], r["case"]["n"], r["case"]["type"]) for r in results if "case" in r}, {(1, 1, "d")}
        )
        (self.folder / "only").write_text("tsmm d 1x99\n")
        done = run(*arguments)
        self.assertEqual((done.returncode, done.stderr), (2, "error: no pairs to run\n"))

    def test_no_results(self):
        done = run("digest", self.folder, "--out", self.out)
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n"), self.out.exists()), (2, "", 1, False))


if __name__ == "__main__":
    gemm = pathlib.Path(sys.argv.pop(1)) / "gemm"
    unittest.main()
