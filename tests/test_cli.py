#!/usr/bin/env python3
"""The programs and ./lab, run as a user would: exit statuses, JSON, and what bad input gets.

usage: test_cli.py [--gpu] BIN      BIN: the folder with the built programs; --gpu: they are a CUDA build
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
LAB = str(ROOT / "lab")
bin_dir, gpu, device = None, False, True  # set at the bottom, from the command line

# What `run`, and a stage's own program, must refuse. "{missing}" is a path in a folder that does not exist.
BAD_RUNS = [
    ["--m", "-3"], ["--n", "-1"], ["--k", "-2147483648"], ["--offset", "-1"],
    ["--lda", "3"], ["--ldb", "255"], ["--ldc", "-1"],
    ["--bogus"], ["extra"], ["--dist", "nosuch"], ["--cache", "luke"], ["--seconds", "0"],
    ["--m", "12abc"], ["--m", "99999999999"], ["--alpha", "x"], ["--seed", "y"], ["--m", "3", "--m", "4"], ["--m"],
]
BAD_RUNS_ON_DEVICE = [["--m", "20000000", "--n", "20000000"], ["--json", "{missing}"], ["--json", "."]]
BAD_GEMM = [
    [], ["nosuch"], ["--bogus"], ["list", "extra"],
    ["run"], ["run", "77"], ["run", ""], ["run", "tsm/77"], ["compare", "02"], ["compare", "02", "77"],
    ["ladder", "abc"], ["ladder", "12x"], ["ladder", "12x3"], ["ladder", "1x2x3x"], ["ladder", "1x2x3x4"], ["ladder", "1x-2x3"],
    ["ladder", "-5"], ["ladder", "99999999999"], ["ladder", "64", "--only", "77"], ["ladder", "64", "--bogus"],
]
# An output that can't be written is known before the work starts: no reason to print half a report first.
BAD_GEMM_ON_DEVICE = [["ladder", "64", "--only", "02", "--json", "{missing}"], ["compare", "01", "02", "--m", "9", "--json", "{missing}"]]
SMALL = ["--m", "70", "--n", "33", "--k", "50"]


def run(*command, **options):
    return subprocess.run([str(c) for c in command], text=True, stdout=options.pop("stdout", subprocess.PIPE),
                          stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=300, **options)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.gemm, self.stage = bin_dir / "gemm", bin_dir / "sgemm_02_coalesced"

    def ok(self, *command, **options):
        done = run(*command, cwd=self.folder, **options)
        self.assertEqual((done.returncode, done.stderr), (0, ""), command)
        return done.stdout

    def refused(self, *command, **options):
        """One line on standard error, exit status 2, and nothing else anywhere."""
        command = [str(c).replace("{missing}", "nosuch/out.json") for c in command]
        with self.subTest(command=" ".join(command[:1] + [repr(c) for c in command[1:]])):
            done = run(*command, cwd=self.folder, **options)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertRegex(done.stderr, r"\Aerror: [^\n]{1,192}\n\Z")
            self.assertFalse(done.stdout)
            self.assertEqual(os.listdir(self.folder), [])

    def json_of(self, *command):
        return json.loads(self.ok(*command, "--json", "-"))


class WithoutDevice(Case):
    def test_list_has_every_stage(self):
        files = {("sgemm" if p.parent.name == "stages" else p.parent.name) + "/" + p.stem
                 for folder in ("stages", "tsm", "tensorcore") for p in (ROOT / folder).glob("[0-9][0-9]*.cu")}
        lines = self.ok(self.gemm, "list").splitlines()
        self.assertEqual(sorted(line.split()[0] for line in lines), sorted(files))
        self.assertTrue(all(len(line.split()) > 1 for line in lines), "a stage without its idea")

    def test_help(self):
        for command in ([self.gemm, "--help"], [self.gemm, "run", "--help"], [self.stage, "--help"]):
            self.assertTrue(self.ok(*command))

    def test_bad_input(self):
        for command in BAD_GEMM:
            # With --json, to see that nothing is written.
            self.refused(self.gemm, *command, *(["--json", "out.json"] if command[:1] in (["run"], ["compare"], ["ladder"]) else []))
        for options in BAD_RUNS:
            self.refused(self.gemm, "run", "02", "--json", "out.json", *options)
            self.refused(self.stage, "--json", "out.json", *options)

    def test_lab(self):
        text = self.ok(LAB, "help")
        for command in ("ladder", "test", "list", "run", "compare", "bench", "doctor", "map", "setup"):
            self.assertRegex(text, rf"(?m)^  {command}\b")
        self.assertEqual(self.ok(LAB, "list", "--prebuilt", bin_dir), self.ok(self.gemm, "list"))
        self.refused(LAB, "nosuch")
        self.refused(LAB, "list", "--prebuilt", self.folder)
        self.refused(LAB, "list", "--prebuilt")
        self.refused(LAB, "run", "77", "--prebuilt", bin_dir)

    def test_lab_doctor(self):
        done = run(LAB, "doctor", "--prebuilt", bin_dir)
        self.assertIn(done.returncode, (0, 1) if gpu else (0,), done.stderr)
        folders = {str(bin_dir), os.path.relpath(bin_dir, ROOT)}
        for line in done.stdout.splitlines():
            if line and line not in folders:
                self.assertRegex(line, r"\A(ok|note|CHECK) +\S")


class WithDevice(Case):
    def setUp(self):
        if not device:
            self.skipTest("no device")
        super().setUp()

    def test_default_run(self):
        for command in ([self.gemm, "run", "02"], [self.stage], [LAB, "run", "sgemm/02_coalesced", "--prebuilt", bin_dir]):
            self.assertRegex(self.ok(*command), r"(?m)^sgemm/02_coalesced .*\bpass\b")

    def test_json(self):
        result = self.json_of(self.stage, "--check", *SMALL, "--lda", "53", "--alpha", "0.5", "--seed", "7", "--dist", "normal")
        self.assertLessEqual({"stage", "family", "problem", "device", "status", "reason", "error"}, set(result))
        self.assertEqual([result[key] for key in ("stage", "family", "status", "reason")], ["sgemm/02_coalesced", "sgemm", "pass", ""])
        asked = {"op": "gemm", "m": 70, "n": 33, "k": 50, "batch": 1, "lda": 53, "ldb": 33, "ldc": 33, "alpha": 0.5, "beta": 0,
                 "seed": 7, "distribution": "normal"}
        self.assertEqual(asked, {key: result["problem"].get(key) for key in asked})
        self.assertIn("type", result["problem"])
        self.assertTrue(0 < result["error"]["max_ratio"] < 1 and 0 < result["error"]["frobenius"] < 1e-5, result["error"])

    def test_json_to_a_file(self):
        path = pathlib.Path(self.folder, "out.json")
        path.write_text("what was there before")
        for command in ([self.gemm, "run", "02"], [self.stage]):
            self.assertTrue(self.ok(*command, "--check", *SMALL, "--json", path))
            self.assertEqual(json.loads(path.read_text())["status"], "pass")
            self.assertEqual(os.listdir(self.folder), ["out.json"])

    def test_json_of_ladder_and_compare(self):
        for command in (["ladder", "64", "--no-time", "--only", "01,02"], ["compare", "01", "02", "--check", *SMALL]):
            with self.subTest(command=command):
                report = self.json_of(self.gemm, *command)  # `-`: standard output is JSON, and nothing but
                self.assertEqual([r["stage"] for r in report["results"]], ["sgemm/01_naive", "sgemm/02_coalesced"])
                self.assertEqual({r["status"] for r in report["results"]}, {"pass"})

    def test_check_only(self):
        self.assertIn("pass", self.ok(self.stage, "--check", *SMALL))
        self.assertNotIn("time_ms", self.json_of(self.stage, "--check", *SMALL))

    def test_seed_changes_the_data(self):
        ratio = [self.json_of(self.stage, "--check", *SMALL, "--seed", seed)["error"]["max_ratio"] for seed in (1, 2, 1)]
        self.assertNotEqual(ratio[0], ratio[1])
        self.assertEqual(ratio[0], ratio[2])

    def test_bad_input(self):
        for options in BAD_RUNS_ON_DEVICE:
            extra = [] if "--json" in options else ["--json", "out.json"]
            self.refused(self.gemm, "run", "02", *extra, *options)
            self.refused(self.stage, *extra, *options)
        for command in BAD_GEMM_ON_DEVICE:
            self.refused(self.gemm, *command)
        with open("/dev/full", "w") as full:
            self.refused(self.stage, "--check", *SMALL, "--json", "-", stdout=full)

    def test_json_into_a_pipe(self):
        """A FIFO or /dev/null is written to; renaming a new file over it would destroy it."""
        path = os.path.join(self.folder, "fifo")
        os.mkfifo(path)
        reader = os.open(path, os.O_RDWR | os.O_NONBLOCK)  # for writing too: then nobody's open() waits
        self.addCleanup(os.close, reader)
        self.ok(self.stage, "--check", *SMALL, "--json", path)
        self.assertTrue(pathlib.Path(path).is_fifo(), "the FIFO was replaced by a file")
        self.assertEqual(json.loads(os.read(reader, 1 << 16))["status"], "pass")

    def test_time(self):
        if not gpu:
            self.refused(self.stage, "--time")
            return self.refused(self.gemm, "run", "02", "--json", "out.json", "--time", "--check")
        result = self.json_of(self.stage)  # by default a GPU checks and times
        self.assertLessEqual({"median", "min", "p90", "samples"}, set(result["time_ms"]))
        for key in ("gflops", "gbytes_s", "pct_cublas", "pct_roofline"):
            self.assertGreater(result[key], 0, key)
        self.assertIn("not checked", self.ok(self.stage, "--time"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("bin", type=pathlib.Path)
    parsed = parser.parse_args()
    bin_dir, gpu = parsed.bin.resolve(), parsed.gpu
    probe = run(bin_dir / "gemm", "run", "02", "--check", "--m", "1", "--n", "1", "--k", "1")
    device = not (gpu and probe.returncode == 2 and probe.stderr.startswith(("error: no CUDA device", "error: this build holds")))
    good = unittest.main(argv=sys.argv[:1], exit=False).result.wasSuccessful()
    # Only if the rest passed: ctest takes this line for the verdict whatever the exit status is.
    if good and not device:
        print("*** SKIPPED, NOT RUN: what needs a device: " + probe.stderr.strip() + " ***")
    sys.exit(not good)
