#!/usr/bin/env python3
"""./lab check: the verdicts of stages' programs are told, and where a program gives none, that is a failure."""

import json
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(__file__).resolve().parents[2]
RIGHT = {
    "stage": "sgemm/01_right",
    "status": "pass",
    "seconds": 0.5,
    "properties": [{"name": "sizes", "says": "", "problems": 3, "seconds": 0.5, "status": "pass"}],
}
FAILURE = {"problem": "2 x 2 x 2", "reason": "C(0, 0) is 1 < 2", "explanation": ["The factor alpha is missing."]}
WRONG = {
    "stage": "tsm/02_wrong",
    "status": "fail",
    "seconds": 0.25,
    "properties": [
        {"name": "sizes", "says": "", "problems": 3, "seconds": 0.25, "status": "fail", "failure": FAILURE},
    ],
}


class Check(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def program(self, name, text):
        """A stand-in for a stage's program, which gets its JSON file as the last argument."""
        file = self.folder / name
        file.write_text("#!/usr/bin/env python3\nimport os, pathlib, sys\n" + text)
        file.chmod(file.stat().st_mode | stat.S_IXUSR)
        return file

    def verdict(self, name, result, status):
        return self.program(
            name, f"pathlib.Path(sys.argv[-1]).write_text({json.dumps(result)!r})\nprint('said')\nsys.exit({status})\n"
        )

    def check(self, *arguments):
        done = subprocess.run(
            [sys.executable, "-B", "-m", "tools.check", *map(str, arguments)],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        return done.returncode, done.stdout, done.stderr

    def test_one_that_is_right(self):
        status, out, err = self.check(self.verdict("sgemm_01_right", RIGHT, 0))
        self.assertEqual((status, out, err), (0, "said\n", ""))

    def test_cores_that_have_no_stage_help_the_others(self):
        say = "import json\nprint(json.dumps(sys.argv[1:-1]))\n" + (
            f"pathlib.Path(sys.argv[-1]).write_text({json.dumps(RIGHT)!r})\n"
        )
        stages = [self.program(f"sgemm_{number:02}_right", say) for number in range(1, os.cpu_count() + 2)]
        for count in (1, 2, len(stages)):
            each = min(os.cpu_count() // count, 8)
            expected = ["--brief"] * (count > 1) + ["--processes", str(each)] * (each > 1) + ["--json"]
            _, out, _ = self.check(*stages[:count])
            self.assertEqual(json.loads(out.splitlines()[0]), ["check", *expected])

    def test_json_and_junit(self):
        programs = self.verdict("sgemm_01_right", RIGHT, 0), self.verdict("tsm_02_wrong", WRONG, 1)
        status, out, _ = self.check("--json", "all.json", "--junit", "all.xml", *programs)
        self.assertEqual(status, 1)
        self.assertIn("1 of 2 stages are right", out)
        stages = json.loads((self.folder / "all.json").read_text())["stages"]
        self.assertEqual(stages, [RIGHT, WRONG])
        suites = xml.parse(self.folder / "all.xml").getroot().findall("testsuite")
        self.assertEqual(
            [(s.get("name"), s.get("tests"), s.get("failures")) for s in suites],
            [("sgemm/01_right", "1", "0"), ("tsm/02_wrong", "1", "1")],
        )
        failure = suites[1].find("testcase/failure")
        self.assertEqual(failure.get("message"), "C(0, 0) is 1 < 2")
        self.assertIn("The factor alpha is missing.", failure.text)

    def test_a_program_without_a_verdict_has_failed(self):
        ends = {
            "sgemm_03_exit": ("os._exit(0)\n", "it ended by itself, with status 0"),
            "sgemm_04_killed": ("os.kill(os.getpid(), 11)\n", "it was ended by SIGSEGV"),
            "sgemm_05_half": ("pathlib.Path(sys.argv[-1]).write_text('{')\n", "it ended by itself, with status 0"),
        }
        for name, (text, reason) in ends.items():
            status, out, _ = self.check("--json", "one.json", self.program(name, text))
            self.assertEqual(status, 1, name)
            self.assertIn(reason, out)
            (stage,) = json.loads((self.folder / "one.json").read_text())["stages"]
            self.assertEqual(stage["status"], "fail")

    def test_a_stage_that_does_not_compile_is_reported_and_the_others_run(self):
        status, out, _ = self.check(
            "--broken",
            "sgemm/06_typo\tdoes not compile: stages/06_typo.cu:3: error: ';'",
            self.verdict("sgemm_01_right", RIGHT, 0),
        )
        self.assertEqual(status, 1)
        self.assertIn("sgemm/06_typo: fail, does not compile: stages/06_typo.cu:3", out)
        self.assertIn("1 of 2 stages are right", out)

    def test_no_device_says_nothing_of_the_stage(self):
        status, _, err = self.check(
            self.program("sgemm_07_no", "sys.stderr.write('error: no device\\n')\nsys.exit(2)\n")
        )
        self.assertEqual((status, err), (2, "error: no device\n"))

    def test_what_cannot_be_written_is_said_first(self):
        right = self.program("sgemm_01_never", "raise SystemExit(9)\n")
        for option in ("--json", "--junit"):
            status, out, err = self.check(option, "no/such/folder/file", right)
            self.assertEqual((status, out, err), (2, "", "error: can't write no/such/folder/file\n"))
        status, _, err = self.check("--timeout", "soon", right)
        self.assertEqual((status, err), (2, "error: --timeout takes seconds, not 'soon'\n"))

    def test_lab_says_what_is_wrong_before_it_builds(self):
        for arguments, message in (
            ([], "check needs a stage, or all: ./lab check 07"),
            (["77"], "no stage '77'; './lab list' shows them all"),
            (["all", "--family", "cats"], "no family 'cats': sgemm, tsm or tensorcore"),
            (["01", "--timeout", "-1"], "--timeout takes seconds, not '-1'"),
            (["01", "--bad"], "unrecognized arguments: --bad"),
        ):
            done = subprocess.run([ROOT / "lab", "check", *arguments, "--cpu"], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (2, f"error: {message}\n"), arguments)


if __name__ == "__main__":
    unittest.main()
