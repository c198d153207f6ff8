#!/usr/bin/env python3
"""tools/measure/library.py and the page's tables of what it finds, on made-up records."""

import os
import subprocess
import sys
import unittest
from unittest import mock

sys.dont_write_bytecode = True
from tools.measure import library
from tools.pages.blocks import library as blocks
from tools.pages.data import NotMeasured

LINES = [
    {"op": "tsmm", "type": "d", "m": m, "n": 2, "any_gbytes_s": speed, "exact_gbytes_s": 100.0, "difference": m * 1e-16}
    for m, speed in ((1, 50.0), (2, 90.0), (3, 110.0))
]
STATE = {"sm_mhz_min": 1500, "watts_max": 699.6}
RUN = {
    "device": "NVIDIA H200",
    "driver": "1.2",
    "commit": "abc",
    "shares": library.summary(LINES),
    "first": [{"op": "tsmm", "type": "d", "first_ms": t} for t in (1.25, 3.5)],
    "calls": [{"call": "cudaGetDevice", "us": 0.04, "p90_us": 0.05}],
    "sgemm": [{"n": 4096, "numbers": "random", "tflops": [150.0, 120.0]}],
    "stage": [{"n": 4096, "gflops": 147e3, "back_to_back": {"gflops": 121e3, "state": STATE}}],
}


class Library(unittest.TestCase):
    def test_tables(self) -> None:
        wanted = {
            "shares": ("tsmm d", "0.50", "0.90", "1.10", "3e-16"),
            "first": ("tsmm, d", "3.50"),
            "calls": ("cudaGetDevice", "0.04"),
            "sgemm": ("library, random", "150", "120", "147", "back to back", "121", "1500 MHz, 700 W"),
        }
        with mock.patch.object(blocks, "read_json_if_there", return_value=RUN):
            for which, words in wanted.items():
                text = "\n".join(blocks.block_library(mock.Mock(), which))
                for word in (*words, "NVIDIA H200", "commit abc"):
                    self.assertIn(word, text, which)
        self.assertEqual(RUN["shares"]["tsmm d"]["worst"][0], [1, 2, 0.5])

    def test_not_measured(self) -> None:
        with mock.patch.object(blocks, "read_json_if_there", return_value=None), self.assertRaises(NotMeasured):
            blocks.block_library(mock.Mock(), "first")

    def test_without_a_gpu(self) -> None:
        command = [sys.executable, "-B", "-m", "tools.measure", "library", "--out", "/nonexistent/x.json"]
        done = subprocess.run(command, text=True, capture_output=True, env=os.environ | {"PATH": "/nonexistent"})
        self.assertEqual((done.returncode, done.stderr), (2, "error: no GPU: nvidia-smi finds none\n"))


if __name__ == "__main__":
    unittest.main()
