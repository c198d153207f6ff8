#!/usr/bin/env python3
"""The CUDA runtime of a program on the CPU executor: its functions, and what the host does wrong with them.

usage: test_runtime.py BUILD
"""

import os
import pathlib
import subprocess
import sys
import unittest

from tools.emulate.build import build

BUILD = pathlib.Path(sys.argv.pop()).absolute()
HERE = pathlib.Path(__file__).resolve().parent
DEFECTS = HERE / "host_defects.cu"
WORDS = {
    "reads_device": ["the host can't access device memory", "byte 12 of an allocation of 4096", "reads 4 bytes"],
    "writes_device": ["the host can't access device memory", "writes 4 bytes"],
    "reads_variable": ["the host can't access device memory", "the variable variable"],
    "reads_constant": ["the host can't access device memory", "the variable constant"],
    "direction": ["wrong copy direction", "cudaMemcpyHostToDevice", "source is memory of the device"],
    "fills_host": ["wrong copy direction", "memory of the host"],
    "too_long": ["copy out of bounds", "reads 4100 bytes"],
    "freed_copy": ["copy out of bounds", "which is freed", "cudaFree()"],
    "freed_read": ["the host can't access device memory", "which is freed"],
    "double_free": ["wrong free", "freed before"],
    "frees_host": ["wrong free", "not allocated"],
    "frees_middle": ["wrong free", "byte 4 of 4096"],
    "frees_as_host": ["wrong free", "device memory"],
    "frees_by_host": ["wrong free", "4096 bytes", "only the runtime can free"],
    "copy_not_waited": ["used before it was waited for", "the host reads", "cudaMemcpyAsync() writes"],
    "copy_overwritten": ["used before it was waited for", "the host writes", "cudaMemcpyAsync() reads"],
    "managed_not_waited": ["used before it was waited for", "the host reads", "the kernel twice"],
    "variable_not_waited": ["used before it was waited for", "the host reads", "the kernel count_all"],
    "other_event": ["used before it was waited for", "the host reads", "the kernel twice"],
    "streams": ["data race between streams", "the kernel add", "the kernel twice"],
    "event_of_before": ["data race between streams", "the kernel add", "the kernel twice"],
    "non_blocking": ["data race between streams", "cudaMemcpy()", "the kernel twice"],
    "graph_written": ["used before it was waited for", "the host writes", "cudaMemcpyAsync() reads"],
    "graph_read": [
        "used before it was waited for",
        "byte 4 of pageable memory",
        "the host reads",
        "cudaMemcpyAsync() writes",
    ],
    "graph_copied": ["data race between streams", "byte 0 of pageable", "cudaMemcpyAsync() reads"],
    "graph_side_by_side": ["data race between streams", "byte 0 of pageable", "cudaMemcpyAsync() writes"],
    "launch_unasked": ["error that nobody asked for", "cudaErrorInvalidConfiguration", "2048"],
    "call_unasked": ["error that nobody asked for", "cudaErrorMemoryAllocation", "cudaMalloc()"],
    "broken": ["out of bounds in beyond"],
    "nested": ["no dynamic parallelism"],
}
PRINTED = {
    "broken": "cudaErrorIllegalAddress cudaErrorIllegalAddress\n",
    "copy_not_waited": "7\n",  # the copy has not been made yet
    "managed_not_waited": "7\n",
    "right_waits": "1\n2\n1024\n",
    "right_streams": "6\n",
    "right_halves": "2\n",
    "right_pageable": "1\n",
    "right_graph": "5 10\n6 12\n",
    "right_graph_callback": "3 9\n",
    "right_graph_copied": "2\n",
    "right_graph_left": "",
    "right_other_half": "1\n",
    "right_callback": "6\n",
    "right_asked": "invalid configuration argument\n",
    "right_end": "",
}


def run(program: pathlib.Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [str(program), *arguments]
    return subprocess.run(command, env=dict(os.environ, **environment), text=True, capture_output=True, timeout=60)


class HostDefects(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.program = build(BUILD, [DEFECTS], [], [])

    def test_each_is_found_at_its_lines(self) -> None:
        lines = DEFECTS.read_text().splitlines()
        for name, words in WORDS.items():
            with self.subTest(name):
                done = run(self.program, name)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertEqual(done.stderr.count("simt: "), 1, done.stderr)
                marked = [number for number, line in enumerate(lines, 1) if line.endswith(f"// {name}")]
                for word in [*words, *(f"{DEFECTS.name}:{number}" for number in marked)]:
                    self.assertIn(word, done.stderr)
                if name in PRINTED:
                    self.assertEqual(done.stdout, PRINTED[name])

    def test_what_is_right_is_silent(self) -> None:
        for name, printed in PRINTED.items():
            if name.startswith("right"):
                with self.subTest(name):
                    done = run(self.program, name)
                    self.assertEqual((done.stdout, done.stderr, done.returncode), (printed, "", 0))

    def test_a_status_tells_of_errors_too(self) -> None:
        done = run(self.program, "right_status")
        self.assertEqual((done.stderr, done.returncode), ("", 7))

    def test_leaks_on_request(self) -> None:
        done = run(self.program, "right_end", SIMT_LEAKS="1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("never freed, 4096 bytes of "), 4, done.stderr)


class Functions(unittest.TestCase):
    def test_they_answer_as_cudas(self) -> None:
        program = build(BUILD, [HERE / "runtime_functions.cu"], [], [])
        done = run(program)
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("", "", 0))
        for name in ("75", "80"):
            self.assertEqual(run(program, SIMT_SM=name).stdout, "")
        done = run(program, SIMT_SM="34")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"^SIMT_SM=34: .*\n$")


if __name__ == "__main__":
    unittest.main()
