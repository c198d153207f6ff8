#!/usr/bin/env python3
"""What __CUDA_ARCH__ selects on each side, and what is said of a program that ends by a signal.

usage: test_passes.py BUILD
"""

import pathlib
import subprocess
import sys
import unittest

from tools.emulate.build import build

BUILD = pathlib.Path(sys.argv.pop()).absolute()
HERE = pathlib.Path(__file__).resolve().parent
CRASHES = {
    "divides": r"division by zero, or the like \(SIGFPE\) in divides: thread \(0, 0, 0\) of block \(0, 0, 0\) at",
    "overflows": "stack overflow in overflows: thread",
    "host": "signal SIGSEGV in host code, at",
}


def run(program: pathlib.Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(program), *arguments], text=True, capture_output=True, timeout=60)


class Passes(unittest.TestCase):
    def test_arch(self) -> None:
        """Each side takes its own text, and of device functions with PTX the host's."""
        done = {name: run(build(BUILD, [HERE / "arch.cu"], [], [], name)) for name in (None, "80")}
        self.assertEqual(
            {name: (each.stdout, each.stderr) for name, each in done.items()},
            {None: ("900 5 -1\n", ""), "80": ("800 5 -1\n", "")},
        )

    def test_crashes(self) -> None:
        source = HERE / "crashes.cu"
        program = build(BUILD, [source], [], [])
        lines = source.read_text().splitlines()
        for name, words in CRASHES.items():
            with self.subTest(name):
                done = run(program, name)
                (line,) = [number for number, text in enumerate(lines, 1) if text.endswith(f"// {name}")]
                self.assertRegex(done.stderr, rf"^simt: {words}.*{source.name}:{line}\b.*\n$")
                self.assertNotEqual(done.returncode, 0)


if __name__ == "__main__":
    unittest.main()
