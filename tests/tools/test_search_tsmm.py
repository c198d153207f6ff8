#!/usr/bin/env python3
"""The search behind tsm/12's model: that it goes on where it stopped, what its record keeps, and that the committed
verdict on the model is that of the model as it is.

usage: test_search_tsmm.py BIN      BIN: the folder of a CPU build's programs
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from tools.repository import SINCE, read_json
from tools.tune import tsmm

PROGRAM = [sys.executable, "-B", "-m", "tools.measure", "search-tsmm"]
RECORD, VERDICT = SINCE / "tsmm_search.json", SINCE / "tsmm_model.json"
# In place of gemm: five kernels of two sizes; `batch` times one more with each call, kernels with few threads faster.
FAKE = """#!{python}
import json, sys
arguments = sys.argv[1:]
if arguments[0] == "candidates":
    kind = arguments[arguments.index("--type") + 1]
    for m, cycles in ((4, (1, 1.2, 2)), (5, (3, 4))):
        for n, each in enumerate(cycles, 1):
            options = {{"c_source": "shared", "threads_per_row": 4, "unroll": n, "threads": 128}}
            print(json.dumps({{"type": kind, "m": m, "k": 9, "options": options, "tag": {{"cycles": each}}}}))
elif "--compile-only" not in arguments:
    cases = [json.loads(line) for line in open(arguments[1])]
    out = arguments[arguments.index("--out") + 1]
    try:
        done = open(out).read().splitlines()
    except FileNotFoundError:
        done = [json.dumps({{"run": {{"device": "D", "commit": "C"}}}})]
    for case in cases[len(done) - 1 :][:4]:
        done.append(json.dumps({{"case": case, "time_ms": {{"median": 10 - case["options"]["unroll"]}}}}))
    open(out, "w").write("\\n".join(done) + "\\n")
"""


def ran(*arguments):
    return subprocess.run([*PROGRAM, *map(str, arguments)], capture_output=True, text=True)


class Search(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.gemm = self.folder / "gemm"
        self.gemm.write_text(FAKE.format(python=sys.executable))
        self.gemm.chmod(0o755)
        self.to = ("--gemm", self.gemm, "--raw", self.folder / "raw")

    def test_resumes_and_records_and_judges(self):
        # Of each size what the model takes for at most 1.35 times as slow as its best: 4 + 4 kernels, d and z.
        self.assertEqual((ran("run", *self.to).returncode, ran("run", *self.to).stdout), (3, "8 of 8 kernels timed\n"))
        self.assertEqual(ran("run", *self.to).returncode, 0)
        out = self.folder / "record.json"
        self.assertEqual(ran("record", *self.to, "--out", out).returncode, 0)
        record = tsmm.losses(str(out))
        self.assertEqual(sorted(record), [("d", 4), ("d", 5), ("z", 4), ("z", 5)])
        self.assertEqual(record["d", 4], {("shared", 4, 128, 1): 0.125, ("shared", 4, 128, 2): 0.0})
        done = ran("judge", out, "--gemm", self.gemm)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("4 sizes, 8 kernels timed", done.stdout)
        self.assertIn("the best of the first 1: at 0 sizes, at most 12.5% lost", done.stdout)
        self.assertIn("the best of the first 4: at 4 sizes, at most 0.0% lost", done.stdout)

    def test_bad_input_is_one_line(self):
        (self.folder / "text").write_text("no JSON")
        for arguments in (
            ("judge", self.folder / "text", "--gemm", self.gemm),
            ("judge", self.folder / "none", "--gemm", self.gemm),
            ("record", *self.to, "--out", self.folder / "x"),
            ("run", "--gemm", self.gemm, "--raw", self.folder / "text"),
        ):
            done = ran(*arguments)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)


class Verdict(unittest.TestCase):
    def test_not_timed_counts_as_lost(self):
        case = {"options": {"c_source": "shared", "threads_per_row": 4, "unroll": 1, "threads": 128}}
        found = tsmm.verdict({("d", 4): {("shared", 4, 128, 2): 0.0}}, {("d", 4): [case]})
        self.assertEqual(found["best of the first"]["1"], {"within": 0, "worst": None})

    def test_committed_verdict_is_of_this_model(self):
        """Else: ./lab measure search-tsmm judge RECORD --gemm BIN/gemm --out VERDICT, then ./lab pages."""
        found = tsmm.verdict(tsmm.losses(str(RECORD)), tsmm.by_model(f"{BIN}/gemm"))
        self.assertEqual(found, {key: value for key, value in read_json(VERDICT).items() if key in found})


if __name__ == "__main__":
    BIN = sys.argv.pop(1)
    unittest.main()
