#!/usr/bin/env python3
"""A folder that is copied or moved after a build builds anew: it must not run the old folder's code, which may be right where the
copy's is wrong.

The folder is a copy of the first stage and what it needs, which is built twice: a minute and a half on two cores.
"""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
STAGE = "stages/01_naive.cu"


class CopiedFolder(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.old, cls.new = pathlib.Path(folder.name, "old"), pathlib.Path(folder.name, "new")
        shutil.copytree(ROOT, cls.old, ignore=shutil.ignore_patterns(".git", ".lab", "build", "__pycache__", ".carry"))

    def lab(self, tree, *arguments):
        done = subprocess.run([tree / "lab", *arguments, "--cpu"], text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, env={**os.environ, "CI": "true"})
        return done.returncode, done.stdout

    def break_kernel(self, tree):
        """Every product four times."""
        text = (tree / STAGE).read_text()
        changed = text.replace("sum += ", "sum += 4 * ", 1)
        self.assertNotEqual(changed, text)
        (tree / STAGE).write_text(changed)

    def test_copied_then_moved(self):
        status, output = self.lab(self.old, "run", "01", "--m", "40", "--n", "40", "--k", "40")
        self.assertEqual(status, 0, output)
        self.assertIn("pass", output)

        shutil.copytree(self.old, self.new, symlinks=True)
        self.break_kernel(self.new)
        status, output = self.lab(self.new, "run", "01", "--m", "40", "--n", "40", "--k", "40")
        self.assertIn("build/cpu was made for another folder: building anew", output)
        self.assertEqual(status, 1, output)
        self.assertIn("fail", output)

        # The build of the copy is its own now: nothing is built anew.
        status, output = self.lab(self.new, "run", "01", "--m", "40", "--n", "40", "--k", "40")
        self.assertEqual(status, 1, output)
        self.assertNotIn("another folder", output)

        # And a symbolic link to a folder is the same folder.
        link = self.old.parent / "link"
        link.symlink_to(self.old)
        status, output = self.lab(link, "run", "01", "--m", "40", "--n", "40", "--k", "40")
        self.assertEqual(status, 0, output)
        self.assertNotIn("another folder", output)


if __name__ == "__main__":
    unittest.main()
