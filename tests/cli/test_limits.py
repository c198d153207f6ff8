#!/usr/bin/env python3
"""Stages that never end, crash, leave, or let the host do a kernel's work: each fails with one clear line and exit
status 1, and what the program writes is whole.

usage: test_limits.py BIN
BIN: the folder with the built programs unruly_stage, unruly_stage_static and huge_shared (tests/common/)
"""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE = "tests/common/unruly_stage.cu"
PROBLEM = ["--m", "40", "--n", "50", "--k", "20"]
THREAD = r"thread \(\d+, 0, 0\) of block \(\d+, \d+, 0\)"
# What is said of each variant. {kernel} and {host} stand for a kernel's thread and for host code, at the line that ends
# in a comment with the name of the variant.
EXPECTED = {
    "loop": r"stopped after 1 s{kernel}",
    "barriers": r"stopped after 1 s{kernel}",
    "spin": r"stopped after 1 s{kernel}",
    "sleep": r"stopped after 1 s{host}",
    "host_loop": r"stopped after 1 s{host}",
    "overflow": r"stack overflow{kernel}, a thread's local variables and calls need more than 64 KB",
    "host_overflow": r"stack overflow{host}",
    "host_throw": r"exception std::runtime_error \(no way\){host}",
    "library_throw": r"exception std::out_of_range \(vector::_M_range_check: .*\){host}",
    "kernel_throw": r"exception std::runtime_error \(no way\){kernel}",
    "host_abort": r"abort\(\){host}",
    "kernel_abort": r"abort\(\){kernel}",
    "host_divide": r"division by zero, or the like \(SIGFPE\){host}",
    "kernel_divide": r"division by zero, or the like \(SIGFPE\){kernel}",
    "null": r"signal SIGSEGV{host}",
    "trap": r"signal SIGILL{kernel}",
    "host_exit": r"the stage ended the program: it called exit\(\), or the like,{host}",
    "kernel_exit": r"the stage ended the program: it called exit\(\), or the like,{kernel}",
    "quick": r"the stage ended the program: it called exit\(\), or the like,{host}",
    "underscore_exit": r"the stage ended the program: it called _exit\(\), or the like",
    "executes": r"the stage ended the program: it called _exit\(\), or the like",
    "forks_and_exits": r"the stage ended the program: it called _exit\(\), or the like",
    "killed": r"the stage's process was ended by SIGKILL",
    "host_writes": r"device memory is read or written{host}: that takes a kernel, or cudaMemcpy",
    "host_reads": r"device memory is read or written{host}: that takes a kernel, or cudaMemcpy",
    "host_product": r"no kernel wrote C\(0, 0\): what stands there is from the host, or from an earlier launch",
    "host_corrects": r"no kernel wrote C\(1, 2\): what stands there is from the host, or from an earlier launch",
    "old_product": r"no kernel wrote C\(0, 0\): what stands there is from the host, or from an earlier launch",
    "two_streams": r"data race between streams, C\(0, 0\): {sgemm}, "
    r"the kernel zeros, launched at {source}:\d+, writes it at {source}:\d+",
    "not_joined": r"data race between streams, C\(0, 0\): what comes next in the stage's stream reads it, {sgemm}",
    "destroyed": r"data race between streams, C\(0, 0\): what comes next in the stage's stream reads it, "
    r"{sgemm}",
    "default_stream": r"wrong stream, not the one that launch\(\) is given: the kernel sgemm<\(Way\)\d+> works in the "
    r"default stream at {source}:\d+",
    "default_fill": r"wrong stream, not the one that launch\(\) is given: cudaMemset\(\) works in the default stream "
    r"at {source}:\d+",
    "no_blocks": r"2000 elements of C were never written, C\(0, 0\) among them",
}
bin_dir = None


def first_child(process: int) -> int:
    """The first process that it starts."""
    children = pathlib.Path(f"/proc/{process}/task/{process}/children")
    deadline = time.monotonic() + 30
    while not (found := children.read_text().split()) and time.monotonic() < deadline:
        time.sleep(0.01)
    return int(found[0])


def expected(variant: str) -> str:
    """The reason that a variant's check must give, as a regular expression."""
    lines = (ROOT / SOURCE).read_text().splitlines()
    at = [i for i, line in enumerate(lines, 1) if line.endswith(f"// {variant}")]
    place = rf"at {SOURCE}:({'|'.join(map(str, at))})" if at else ""
    kernel = rf" in sgemm<\(Way\)\d+>: {THREAD} {place}"
    what = "whole numbers" if variant != "old_product" else "random data"
    sgemm = rf"the kernel sgemm<\(Way\)\d+>, launched at {SOURCE}:\d+, writes it at {SOURCE}:\d+"
    return (
        EXPECTED[variant].format(source=SOURCE, sgemm=sgemm, kernel=kernel, host=f" in host code, {place}")
        + rf" \[{what}\]"
    )


def unruly(variant: str, *arguments: str, program: str = "unruly_stage") -> subprocess.CompletedProcess:
    return subprocess.run(
        [bin_dir / program, "--variant", variant, *PROBLEM, "--timeout", "1", *arguments],
        text=True,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=60,
    )


class Limits(unittest.TestCase):
    def test_every_way_is_told(self):
        for variant in EXPECTED:
            with self.subTest(variant):
                with tempfile.TemporaryDirectory() as folder:
                    file = pathlib.Path(folder, "result.json")
                    done = unruly(variant, "--json", str(file))
                    result = json.loads(file.read_text())
                    self.assertEqual([path.name for path in pathlib.Path(folder).iterdir()], ["result.json"])
                self.assertEqual((done.returncode, done.stderr), (1, ""))
                self.assertEqual(result["status"], "fail")
                self.assertRegex(result["reason"], rf"\A{expected(variant)}\Z")
                self.assertEqual(done.stdout.count(result["reason"]), 1)
                # Problem, heading, verdict; what is behind them explains the reason.
                self.assertRegex(done.stdout, r"\A(\S.*\n){3}(  .*\n)*\Z")

    def test_exceptions_are_told_where_the_cxx_library_is_static(self):
        if not (bin_dir / "unruly_stage_static").exists():
            self.skipTest("there is no static C++ library")
        for variant in ("kernel_throw", "host_throw", "library_throw"):
            with self.subTest(variant):
                done = unruly(variant, "--json", "-", program="unruly_stage_static")
                self.assertEqual((done.returncode, done.stderr), (1, ""))
                self.assertRegex(json.loads(done.stdout)["reason"], rf"\A{expected(variant)}\Z")

    def test_the_stage_itself_is_right(self):
        done = subprocess.run([bin_dir / "unruly_stage", *PROBLEM, "--json", "-"], text=True, capture_output=True)
        result = json.loads(done.stdout)
        self.assertEqual((done.returncode, result["status"], done.stderr), (0, "pass", ""))
        self.assertEqual(result["counts"]["fma32"], 40 * 50 * 20)

    def test_unusual_and_right(self):
        """What is left behind is ended: else this test would wait for whoever has its pipes."""
        for variant in ("managed", "zeroed", "copied", "joined", "forks", "answers_twice"):
            with self.subTest(variant):
                done = unruly(variant, "--json", "-")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(json.loads(done.stdout)["status"], "pass")
        # Nothing is to be added up, and beta is 0.
        self.assertEqual(unruly("zeroed", "--alpha", "0", "--beta", "0").returncode, 0)

    def test_a_judge_that_is_stopped(self):
        for how in ("stop", "trace"):
            with self.subTest(how):
                begin = time.monotonic()
                done = self.asked_for(how, "--timeout", "1")
                self.assertLess(time.monotonic() - begin, 30)
                if how == "trace" and "stopped after 1 s in host code" in done.stdout:
                    continue  # the system forbids it
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertEqual(done.stderr, "error: the stage stopped the process that judges it\n")

    def test_zero_blocks_are_named(self):
        self.assertIn("\n  A launch has 0 x 40 blocks: no thread runs.\n", unruly("no_blocks").stdout)

    def test_what_a_kernel_prints_is_seen(self):
        done = unruly("prints")
        self.assertEqual(done.returncode, 1)
        self.assertTrue(done.stdout.startswith("step 1\n"), done.stdout)
        self.assertIn("stopped after 1 s in sgemm", done.stdout)

    def test_a_ladder_goes_on(self):
        """One process ends, and the next variant has another."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "ladder.json")
            done = subprocess.run(
                [bin_dir / "unruly_stage", "ladder", "40x50x20", "--variants", "--part", "--timeout", "1"]
                + ["--only", "broken/01,broken/01:null,broken/01:host_exit", "--json", file],
                text=True,
                capture_output=True,
                timeout=60,
            )
            results = json.loads(file.read_text())["results"]
        self.assertEqual(done.returncode, 1, done.stderr)
        status = {result["stage"]: result["status"] for result in results}
        self.assertEqual(status["broken/01_unruly"], "pass")
        self.assertEqual(status["broken/01_unruly:null"], "fail")
        self.assertEqual(status["broken/01_unruly:host_exit"], "fail")

    def test_a_check_does_not_wait_again_and_again(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "check.json")
            done = subprocess.run(
                [bin_dir / "unruly_stage", "check", "--timeout", "1", "--json", file],
                text=True,
                capture_output=True,
                timeout=60,
                env={**os.environ, "UNRULY": "sleep"},
            )
            report = json.loads(file.read_text())
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertIn("stopped after 1 s in host code", done.stdout)
        self.assertIn("Nothing else was tried.", done.stdout)
        self.assertEqual([property["status"] for property in report["properties"]], ["fail"])

    def check_by(self, processes: int, how: str, wrecked: bool = False) -> tuple[int, str, list]:
        """Status, text and properties, without times and without the thread and line that happened to be seen."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "check.json")
            program = subprocess.Popen(
                [bin_dir / "unruly_stage", "check", "--timeout", "1", "--processes", str(processes), "--json", file],
                text=True,
                stdout=subprocess.PIPE,
                env={**os.environ, "UNRULY": how},
            )
            if wrecked:
                # Of the process that the program keeps.
                os.kill(first_child(first_child(program.pid)), signal.SIGKILL)
            out, _ = program.communicate(timeout=120)
            properties = json.loads(file.read_text())["properties"]
        some = r"thread \(\d+, 0, 0\) of block \(\d+, \d+, 0\) at \S+"
        for each in properties:
            del each["seconds"]
            each["failure"]["reason"] = re.sub(some, "a thread", each["failure"]["reason"])
        out = re.sub(r"in \S+ s\n|(?<= \[whole numbers\]\n).*\n", "\n", re.sub(some, "a thread", out))
        return program.returncode, out, properties

    def test_processes_that_share_trials_find_what_one_finds(self):
        for how in ("", "sleep"):
            alone = self.check_by(1, how)
            self.assertEqual(alone[0], 1)
            for processes in (2, 5):
                self.assertEqual(self.check_by(processes, how), alone)

    def test_one_of_the_processes_is_lost(self):
        self.assertEqual(self.check_by(2, "", wrecked=True), self.check_by(1, ""))

    def test_the_end_before_and_behind_main(self):
        left = r"the stage ended the program: .*, outside of a launch"
        for how in ("exit", "quick_exit", "_exit", "exec", "abort"):
            with self.subTest(how):
                done = self.asked_for(how)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                why = left if how != "abort" else "the program was ended by SIGABRT, outside of a launch"
                self.assertRegex(done.stderr, rf"\Aerror: {why}\n\Z")
        for variant, status in (("managed", 0), ("no_blocks", 1)):
            done = self.asked_for("late", "--variant", variant)
            self.assertEqual((done.returncode, done.stderr), (status, ""))

    def asked_for(self, how, *arguments):
        return subprocess.run(
            [bin_dir / "unruly_stage", *PROBLEM, *arguments],
            text=True,
            capture_output=True,
            timeout=60,
            env={**os.environ, "UNRULY": how},
        )

    def test_far_too_much_shared_memory(self):
        done = subprocess.run([bin_dir / "huge_shared", *PROBLEM], text=True, capture_output=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(
            done.stderr,
            r"\Aerror: the __shared__ variable tile has 104857600 bytes: a block has at most 49152, [^\n]*\n\Z",
        )

    def test_signals_end_both_processes(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            program = subprocess.Popen(
                [bin_dir / "unruly_stage", "--variant", "host_loop", "--timeout", "0"], stdout=subprocess.PIPE
            )
            children = pathlib.Path(f"/proc/{program.pid}/task/{program.pid}/children")
            deadline = time.monotonic() + 30
            while not children.read_text() and time.monotonic() < deadline:
                time.sleep(0.05)
            program.send_signal(number)
            # The other end of the pipe is closed when no process has it any more.
            self.assertEqual(program.communicate(timeout=30), (b"", None))
            self.assertEqual(program.returncode, -number)

    def test_bad_limits(self):
        for bad in ("-1", "x", "1e9"):
            done = subprocess.run(
                [bin_dir / "unruly_stage", *PROBLEM, "--timeout", bad], text=True, capture_output=True, timeout=60
            )
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertTrue(re.fullmatch(r"error: [^\n]*\n", done.stderr), done.stderr)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    bin_dir = pathlib.Path(sys.argv.pop(1))
    unittest.main()
