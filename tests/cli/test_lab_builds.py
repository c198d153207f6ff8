#!/usr/bin/env python3
"""What ./lab builds before it runs: in a copied or moved folder all anew, because the old folder's code may be right
where the copy's is wrong; and of stages each by itself, so that one that does not compile, or crashes, stops no other.

The folder is a copy of the first stages and what they need, which is built twice: three minutes on two cores.
"""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SMALL = ["--m", "40", "--n", "40", "--k", "40"]
TEXTBOOK = ROOT / "tests/fixtures/stages/90_textbook.cu"
BAD = {
    "91_typo": ("float sum = 0.0f;", "float sum = 0.0f"),
    "92_crash": ("return gemm::launch(", "__builtin_trap();\n  return gemm::launch("),
}


class LabBuilds(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.old, cls.new = pathlib.Path(folder.name, "old"), pathlib.Path(folder.name, "new")
        shutil.copytree(ROOT, cls.old, ignore=shutil.ignore_patterns(".git", ".lab", "build", "__pycache__"))
        for family in ("stages", "tsm", "tensorcore"):
            for file in (cls.old / family).glob("[0-9][0-9]*.cu"):
                if family != "stages" or int(file.name[:2]) > 2:
                    file.unlink()
            # Not the headers, which kernels compiled at run time have.
            for file in (cls.old / family).glob("probes/*.c*"):
                if file.suffix != ".cuh":
                    file.unlink()

    def lab(self, tree, *arguments):
        done = subprocess.run(
            [tree / "lab", *arguments, "--cpu"],
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "CI": "true"},
        )
        return done.returncode, done.stdout

    def change(self, tree, name, before, after, copy_to=None):
        text = (tree / f"stages/{name}.cu").read_text()
        changed = text.replace(before, after, 1)
        self.assertNotEqual(changed, text)
        (tree / f"stages/{copy_to or name}.cu").write_text(changed)

    def test_a_copied_folder_builds_anew(self):
        status, output = self.lab(self.old, "run", "01", *SMALL)
        self.assertEqual(status, 0, output)

        shutil.copytree(self.old, self.new, symlinks=True)
        self.change(self.new, "01_naive", "sum += ", "sum += 4 * ")
        for first in (True, False):  # then the build is the copy's own, and nothing is built anew
            status, output = self.lab(self.new, "run", "01", *SMALL)
            self.assertEqual("build/cpu was made for another folder: building anew" in output, first, output)
            self.assertEqual(status, 1, output)
            self.assertIn("fail", output)

        # A symbolic link to a folder is the same folder.
        link = self.old.parent / "link"
        link.symlink_to(self.old)
        status, output = self.lab(link, "run", "01", *SMALL)
        self.assertEqual(status, 0, output)
        self.assertNotIn("another folder", output)

    def test_broken_stages_stop_no_other(self):
        for name, (before, after) in BAD.items():
            self.change(self.old, "01_naive", before, after, copy_to=name)
        try:
            status, output = self.lab(self.old, "ladder", "32")
            self.assertEqual(status, 1, output)
            for line in (
                "sgemm/01_naive .*pass",
                "sgemm/02_coalesced .*pass",
                "error: .*91_typo does not compile: .*error: expected",
                r"sgemm/92_crash +fail +signal SIGILL in host code, at stages/92_crash\.cu:\d+",
                "2 right, 1 wrong, 0 skipped",
            ):
                self.assertRegex(output, line)
            status, output = self.lab(self.old, "run", "02", *SMALL)
            self.assertEqual(status, 0, output)
            status, output = self.lab(self.old, "run", "91", *SMALL)
            self.assertEqual(status, 1, output)
            # The program of all stages is linked without it.
            status, output = self.lab(self.old, "list")
            self.assertEqual(status, 0, output)
            self.assertIn("sgemm/92_crash", output)
            self.assertRegex(output, "91_typo does not compile, and is left out")
        finally:
            for name in BAD:
                (self.old / f"stages/{name}.cu").unlink()

    def test_textbook_stages(self):
        """<<<...>>> and dynamic shared memory of any name; and what the compiler warns of, while it is so."""
        file = self.old / "stages/90_textbook.cu"
        self.addCleanup(file.unlink)
        warning = "lab: stages/90_textbook.cu:{}: warning: .sum. may be used uninitialized"
        for before, after, expected in (
            ("", "", "sgemm/90_textbook +pass"),
            (
                "bytes, stream>>>",
                "0 * bytes, stream>>>",
                "0 bytes of dynamic shared memory: the kernel writes byte 0 of tiles",
            ),
            ("T sum = 0;", "T sum;", warning),
            (
                "alpha * ab[i];",
                "alpha * ab[i]",
                "90_textbook does not compile.*stages/90_textbook.cu:{}: error: expected .;.",
            ),
        ):
            text = TEXTBOOK.read_text()
            file.write_text(text.replace(before, after, 1))
            for _ in (1, 2):  # the second time nothing is compiled
                status, output = self.lab(self.old, "run", "90", *SMALL)
                self.assertEqual(status, 0 if not before else 1, output)
                line = r"\d+:\d+"
                self.assertRegex(output, expected.format(line))
                self.assertEqual("warning" in output, "warning" in expected, output)
        shown = subprocess.run([self.old / "lab", "show", "90", "--flat"], text=True, capture_output=True)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertIn("\n         bytes, stream>>>(p.m", shown.stdout)


if __name__ == "__main__":
    unittest.main()
