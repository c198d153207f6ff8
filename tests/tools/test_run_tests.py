#!/usr/bin/env python3
"""tools/run_tests.py on a project of a few small tests: goes on after a failure and after a kill, starts anew where a
file has changed, takes shares, refuses what is no preset."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PRESETS = {
    "version": 6,
    "configurePresets": [{"name": "cpu", "generator": "Ninja", "binaryDir": "${sourceDir}/build/cpu"}],
    "testPresets": [
        {"name": "cpu-quick", "configurePreset": "cpu", "filter": {"include": {"label": "quick"}}},
        {"name": "cpu-full", "configurePreset": "cpu"},
    ],
}
# Each test leaves a line in a file when it runs; what is in `bad` fails, `slow` takes as long as it is let.
CMAKE = """cmake_minimum_required(VERSION 3.24)
project(few LANGUAGES NONE)
enable_testing()
foreach(name one two three four)
  add_test(NAME ${name} COMMAND sh -c
    "echo ${name} >> ../../build/ran; test ! -e ../../bad || ! grep -q ${name} ../../bad")
endforeach()
set_tests_properties(two four PROPERTIES LABELS quick)
if(EXISTS ${CMAKE_SOURCE_DIR}/slow)
  add_test(NAME slow COMMAND sleep 60)
  set_tests_properties(slow PROPERTIES DEPENDS "one;two;three;four")
endif()
"""


class RunTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = pathlib.Path(folder.name, "tree")
        (self.tree / "tools").mkdir(parents=True)
        shutil.copy(ROOT / "tools/run_tests.py", self.tree / "tools")
        (self.tree / "CMakePresets.json").write_text(json.dumps(PRESETS))
        (self.tree / "CMakeLists.txt").write_text(CMAKE)

    def configure(self):
        subprocess.run(["cmake", "--preset", "cpu"], cwd=self.tree, check=True, stdout=subprocess.DEVNULL)

    def command(self, *arguments):
        return [sys.executable, "-B", str(self.tree / "tools/run_tests.py"), *arguments]

    def run_tests(self, *arguments):
        """Exit status, output, and which tests ran."""
        ran = self.tree / "build/ran"
        ran.unlink(missing_ok=True)
        done = subprocess.run(self.command(*arguments), text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout, sorted(ran.read_text().split()) if ran.exists() else []

    def test_all_of_a_tier_and_then_again(self):
        self.configure()
        for _ in range(2):  # after a complete run all run again
            status, output, ran = self.run_tests("cpu-quick")
            self.assertEqual((status, ran), (0, ["four", "two"]), output)
            self.assertRegex(output, "100% tests passed.* out of 2")

    def test_goes_on_after_a_failure(self):
        bad = self.tree / "build/bad"  # in the build's folder, where a change is none of the tree's
        (self.tree / "CMakeLists.txt").write_text(
            CMAKE.replace("../../bad", "../bad").replace("../../build/ran", "../ran")
        )
        self.configure()
        bad.write_text("three")
        status, output, ran = self.run_tests("cpu-full")
        self.assertEqual((status, ran), (1, ["four", "one", "three", "two"]), output)
        bad.unlink()
        status, output, ran = self.run_tests("cpu-full")
        self.assertEqual((status, ran), (0, ["three"]), output)
        self.assertIn("going on: 3 of 4 have passed", output)

    def test_a_change_starts_anew(self):
        (self.tree / "bad").write_text("three")
        self.configure()
        self.assertEqual(self.run_tests("cpu-full")[0], 1)
        (self.tree / "bad").write_text("four")
        status, output, ran = self.run_tests("cpu-full")
        self.assertEqual((status, len(ran)), (1, 4), output)
        status, output, ran = self.run_tests("cpu-full", "--again")
        self.assertEqual((status, len(ran)), (1, 4), output)

    def test_goes_on_after_a_kill(self):
        (self.tree / "slow").touch()
        self.configure()
        process = subprocess.Popen(
            self.command("cpu-full"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
        )
        record = self.tree / "build/cpu/tests_passed.json"
        ran = self.tree / "build/ran"
        for _ in range(300):
            if ran.exists() and len(ran.read_text().split()) == 4:
                break
            time.sleep(0.1)
        time.sleep(1)
        os.killpg(process.pid, signal.SIGTERM)
        process.communicate()
        passed = json.loads(record.read_text())["passed"]
        self.assertGreaterEqual(len(passed), 1)
        # What was kept is not run again.
        status, _, anew = self.run_tests("cpu-quick")
        self.assertEqual(status, 0)
        self.assertEqual(anew, sorted({"four", "two"} - set(passed)) or ["four", "two"])

    def test_shares_are_all_tests_once(self):
        self.configure()
        parts = [self.run_tests("cpu-full", "--share", f"{part}/3")[2] for part in (1, 2, 3)]
        self.assertEqual(sorted(sum(parts, [])), ["four", "one", "three", "two"])

    def test_a_costly_test_has_a_share_for_itself(self):
        quick_three = CMAKE.replace("two four PROPERTIES", "two four three PROPERTIES")
        (self.tree / "CMakeLists.txt").write_text(quick_three + "set_tests_properties(three PROPERTIES COST 10)\n")
        self.configure()
        parts = [self.run_tests("cpu-quick", "--share", f"{part}/2")[2] for part in (1, 2)]
        self.assertEqual(parts, [["three"], ["four", "two"]])

    def test_refusals(self):
        self.configure()
        for arguments in (
            ["nosuch"],
            ["cpu-full", "--share", "3/2"],
            ["cpu-full", "--share", "x"],
            ["cpu-quick", "--share", "3/3"],
        ):
            status, output, ran = self.run_tests(*arguments)
            self.assertEqual((status, ran), (2, []), output)
            self.assertIn("error: ", output)


if __name__ == "__main__":
    unittest.main()
