#!/usr/bin/env python3
"""The recipe for Gradescope, in its layout of folders: what setup.sh refuses, and which results.json there is then.

usage: test_gradescope.py [BUILD]

BUILD   the build folder of the preset cpu; without it only what needs no program is tested
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import formats

sys.dont_write_bytecode = True
from tools.course import variants
from tools.course.assignment import assignment
from tools.course.selftest import solution_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECIPE = ROOT / "course" / "gradescope"
FIRST = "sgemm/01_coalesce"
VARIANTS = "sgemm/02_tile"  # an assignment that has some
SECRET = "a secret of the test's own"
BUILD = None


def python_of_nobody():
    """One that the user nobody can run, with what reads rubrics; empty if there is none."""
    for python in (sys.executable, "/usr/bin/python3"):
        try:
            tried = subprocess.run([python, "-c", "import yaml"], user="nobody", cwd=ROOT, capture_output=True)
        except OSError:
            continue
        if tried.returncode == 0:
            return python
    return ""


@unittest.skipIf(formats.MISSING, f"SKIPPED, NOT RUN: {formats.MISSING}")
class Layout(unittest.TestCase):
    """A folder as /autograder is."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.root.chmod(0o755)  # as /autograder is
        for name in ("source", "submission", "results"):
            (self.root / name).mkdir()
        for name in ("setup.sh", "run_autograder"):
            shutil.copy(RECIPE / name, self.root / "source")
        shutil.copy(RECIPE / "run_autograder", self.root)
        (self.root / "source" / "repository").symlink_to(ROOT)
        (self.root / "source" / "assignment").write_text(FIRST + "\n")
        (self.root / "source" / "secret").write_text(SECRET + "\n")

    def submit(self, file):
        shutil.copy(file, self.root / "submission" / "kernel.cuh")

    def submitted_by(self, *students):
        users = [{"email": student, "id": at, "name": "A Student"} for at, student in enumerate(students)]
        (self.root / "submission_metadata.json").write_text(json.dumps({"id": 1, "users": users}))

    def check_format(self, result):
        self.assertEqual(formats.complaints_of_gradescope(result), [])
        self.assertAlmostEqual(result["score"], sum(test["score"] for test in result["tests"]))
        for test in result["tests"]:
            self.assertTrue(0 <= test["score"] <= test["max_score"], test)
            self.assertEqual(test["status"] == "passed", test["score"] == test["max_score"] > 0, test)

    def run_autograder(self, build=None, python=sys.executable):
        """What Gradescope reads afterwards, and the log that teachers see."""
        done = subprocess.run(
            [python, self.root / "run_autograder"],
            cwd=self.root,
            env={
                **os.environ,
                "AUTOGRADER_ROOT": str(self.root),
                "AUTOGRADER_BUILD": str(build or BUILD or self.root / "no build"),
            },
            capture_output=True,
            text=True,
            timeout=600,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(os.listdir(self.root / "results"), ["results.json"])  # nothing in parts
        text = (self.root / "results" / "results.json").read_text()
        self.assertNotIn(SECRET, text + done.stdout + done.stderr)
        result = json.loads(text)
        self.check_format(result)
        return result, done.stdout

    def check_not_graded(self, why, build=None):
        result, log = self.run_autograder(build)
        self.assertEqual(result["score"], 0)
        self.assertIn("Not graded", result["output"])
        self.assertNotRegex(result["output"], why)  # students need not know
        [test] = result["tests"]
        self.assertEqual((test["visibility"], test["max_score"]), ("hidden", 0))
        self.assertRegex(test["output"], why)
        self.assertRegex(log, why)


class Recipe(Layout):
    def setup_says(self):
        done = subprocess.run(
            [self.root / "source" / "setup.sh", "--check"],
            env={**os.environ, "AUTOGRADER_ROOT": str(self.root)},
            capture_output=True,
            text=True,
            timeout=60,
        )
        self.assertEqual(done.stdout, "")
        self.assertIn(done.returncode, (0, 2))
        self.assertEqual(done.returncode == 0, done.stderr == "")
        return done.stderr

    def test_setup_sees_what_a_teacher_forgot(self):
        source = self.root / "source"
        self.assertEqual(self.setup_says(), "")
        self.assertEqual((source / "secret").stat().st_mode & 0o777, 0o600)
        (source / "assignment").write_text(f"{FIRST} --hints 2")  # without an end of the line
        self.assertEqual(self.setup_says(), "")
        (source / "assignment").write_text("sgemm/00_none\n")
        self.assertIn("no assignment 'sgemm/00_none'", self.setup_says())
        (source / "assignment").unlink()
        self.assertIn("no file 'assignment'", self.setup_says())
        (source / "secret").write_text("")
        self.assertIn("no file 'secret'", self.setup_says())
        (source / "secret").write_text(SECRET)
        (source / "assignment").write_text(FIRST)
        (source / "repository").unlink()
        self.assertIn("no folder 'repository'", self.setup_says())

    def test_whatever_is_missing_there_is_a_result(self):
        source = self.root / "source"
        self.submit(ROOT / "course" / FIRST / "skeleton" / "kernel.cuh")
        (source / "assignment").write_text(f"{FIRST} --hints 3\n")
        self.check_not_graded("source/assignment takes")
        (source / "assignment").write_text("sgemm/00_none\n")
        self.check_not_graded("no assignment 'sgemm/00_none'")
        (source / "assignment").write_text(f"{VARIANTS} --variants\n")
        self.check_not_graded("submission_metadata.json does not name one student")
        self.submitted_by("a@b.org", "c@d.org")
        self.check_not_graded("submission_metadata.json does not name one student")
        self.submitted_by("a@b.org")
        self.check_not_graded("can't read source/variants.csv")
        (source / "variants.csv").write_text(f"student,assignment,variant\nc@d.org,{VARIANTS},2\na@b.org,{FIRST},1\n")
        self.check_not_graded(f"variants.csv has 0 variants of {VARIANTS} for a@b.org")
        (source / "assignment").write_text(FIRST)
        (source / "secret").write_text("\n")
        self.check_not_graded("source/secret is empty")
        (source / "secret").unlink()
        self.check_not_graded("can't read source/secret: No such file")
        (source / "secret").write_text(SECRET)
        (source / "repository").unlink()
        self.check_not_graded("No such file or directory")

    def test_a_grader_that_is_stopped_has_said_so_before(self):
        """Stopped at once, by a signal that no program can do anything about."""
        self.submit(ROOT / "course" / FIRST / "skeleton" / "kernel.cuh")
        (self.root / "source" / "repository").unlink()
        course = self.root / "source" / "repository" / "tools" / "course"
        course.mkdir(parents=True)
        (course.parent / "__init__.py").touch()
        (course / "__init__.py").touch()
        (course / "__main__.py").write_text("import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\n")
        subprocess.run(
            [sys.executable, self.root / "run_autograder"],
            env={**os.environ, "AUTOGRADER_ROOT": str(self.root)},
            capture_output=True,
        )
        result = json.loads((self.root / "results" / "results.json").read_text())
        self.check_format(result)
        self.assertIn("was stopped", result["tests"][0]["output"])


class Graded(Layout):
    @classmethod
    def setUpClass(cls):
        if not BUILD:
            raise unittest.SkipTest("SKIPPED, NOT RUN: needs a build of the preset cpu")

    def needs_namespaces(self):
        done = subprocess.run(["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"], capture_output=True)
        if done.returncode:
            self.skipTest("SKIPPED, NOT RUN: bubblewrap can't make namespaces here")

    def test_submissions(self):
        self.needs_namespaces()
        with self.subTest("nothing handed in"):
            result, _ = self.run_autograder()
            self.assertEqual(result["score"], 0)
            self.assertIn("kernel.cuh can't be read", result["tests"][0]["output"])
        with self.subTest("solution"):
            self.submit(ROOT / "course" / FIRST / "teacher" / "solution.cuh")
            result, log = self.run_autograder()
            self.assertEqual(result["score"], 100)
            self.assertEqual(sum(test["max_score"] for test in result["tests"]), 100)
            self.assertEqual({test["status"] for test in result["tests"]}, {"passed"})
            self.assertEqual(log, "")
        with self.subTest("skeleton"):
            self.submit(ROOT / "course" / FIRST / "skeleton" / "kernel.cuh")
            result, _ = self.run_autograder()
            self.assertTrue(0 < result["score"] <= 20)
            self.assertIn("failed", {test["status"] for test in result["tests"]})

    def test_each_student_has_a_variant(self):
        """The teacher's solution of one variant is right for the student who has it, and not for another one."""
        self.needs_namespaces()
        base = assignment(VARIANTS)
        self.submit(solution_of(variants.variant(base, 2)))
        (self.root / "source" / "assignment").write_text(f"{VARIANTS} --variants\n")
        rows = ["student,assignment,variant", f"two@x.org,{VARIANTS},2", f"three@x.org,{VARIANTS},3"]
        (self.root / "source" / "variants.csv").write_text("\n".join(rows) + "\n")
        for student, full in (("two@x.org", True), ("three@x.org", False)):
            with self.subTest(student):
                self.submitted_by(student)
                result, _ = self.run_autograder()
                self.assertEqual(result["score"] == 100, full)

    def test_no_build_is_no_fault_of_the_student(self):
        self.needs_namespaces()
        self.submit(ROOT / "course" / FIRST / "teacher" / "solution.cuh")
        empty = self.root / "empty"
        empty.mkdir()
        self.check_not_graded("is no build of the preset cpu", empty)

    def test_without_namespaces_it_refuses(self):
        """Until the teacher writes --trusted: then as a user who can't read the secret."""
        self.submit(ROOT / "course" / FIRST / "teacher" / "solution.cuh")
        no_bwrap = self.root / "bin"
        no_bwrap.mkdir()
        (no_bwrap / "bwrap").write_text("#!/bin/sh\necho 'bwrap: not permitted' >&2\nexit 1\n")
        (no_bwrap / "bwrap").chmod(0o755)
        path = os.environ["PATH"]
        self.addCleanup(os.environ.__setitem__, "PATH", path)
        os.environ["PATH"] = f"{no_bwrap}:{path}"
        self.check_not_graded("can't make namespaces here: bwrap: not permitted")
        if os.geteuid() == 0 and not (python := python_of_nobody()):
            self.skipTest("SKIPPED, NOT RUN: nobody can't run a Python with PyYAML on this checkout")
        (self.root / "source" / "assignment").write_text(f"{FIRST} --hints 2 --trusted\n")
        result, _ = self.run_autograder(python=python if os.geteuid() == 0 else sys.executable)
        self.assertEqual(result["score"], 100)
        if os.geteuid() == 0:
            self.assertEqual((self.root / "source" / "secret").stat().st_mode & 0o777, 0o600)
            tried = subprocess.run(["cat", self.root / "source" / "secret"], user="nobody", capture_output=True)
            self.assertNotEqual(tried.returncode, 0)
            tried = subprocess.run(["touch", self.root / "results" / "x"], user="nobody", capture_output=True)
            self.assertNotEqual(tried.returncode, 0)


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if arguments and re.search(r"/|^build", arguments[0]):
        BUILD = pathlib.Path(arguments.pop(0)).resolve()
    unittest.main(argv=[sys.argv[0], *arguments])
