#!/usr/bin/env python3
"""./lab before it builds: what it refuses, and that it installs nothing with sudo unless somebody says yes. Nothing is
installed here: programs of apt and sudo are replaced by some that only tell how they were called. Needs root, to become
a user without it, or to be such a user."""

import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOBODY = 65534


class Lab(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = pathlib.Path(folder.name)
        self.tree.chmod(0o755)
        shutil.copy(ROOT / "lab", self.tree)
        shutil.copytree(ROOT / "tools/lab", self.tree / "tools/lab")
        (self.tree / "stages").mkdir()
        (self.tree / "stages/01_naive.cu").touch()
        self.log = self.tree / "log"
        self.log.touch()
        self.log.chmod(0o666)
        self.programs = self.tree / "programs"
        self.programs.mkdir()
        self.fake("dpkg-query", "exit 1")  # no package is installed
        self.fake("sudo", f'echo "sudo $*" >> {self.log}; exit 1')  # and none can be
        self.fake("cmake", f"echo cmake >> {self.log}; exit 1")

    def fake(self, name, text):
        file = self.programs / name
        file.write_text(f"#!/bin/sh\n{text}\n")
        file.chmod(0o755)

    def lab(self, *arguments, answer=None, ci=False):
        """As a user without root; with an answer on a terminal. Exit status, output, calls of the programs above."""
        environment = {key: value for key, value in os.environ.items() if key != "CI"}
        environment |= {"PATH": f"{self.programs}:{os.environ['PATH']}", **({"CI": "true"} if ci else {})}
        become = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"] if os.geteuid() == 0 else []
        command = [*become, str(self.tree / "lab"), *arguments]
        if answer is None:
            done = subprocess.run(
                command,
                env=environment,
                text=True,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
            return done.returncode, done.stdout, self.log.read_text()
        try:
            controller, terminal = pty.openpty()
        except OSError as error:  # a chroot without /dev/pts
            self.skipTest(f"no terminals here: {error}")
        process = subprocess.Popen(
            command, env=environment, stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True
        )
        os.close(terminal)
        os.write(controller, answer.encode() + b"\n")
        output = b""
        try:
            while part := os.read(controller, 4096):
                output += part
        except OSError:  # the other end is closed
            pass
        return process.wait(), output.decode(), self.log.read_text()

    def test_without_a_terminal_nobody_said_yes(self):
        status, output, calls = self.lab("run", "01", "--cpu")
        self.assertEqual((status, calls), (2, ""), output)
        self.assertIn(
            "run this first, or lab with --yes: sudo apt-get install --no-install-recommends g++ cmake", output
        )

    def test_no_is_no(self):
        status, output, calls = self.lab("run", "01", "--cpu", answer="n")
        self.assertEqual((status, calls), (2, ""), output)
        self.assertIn("sudo apt-get install", output)
        self.assertIn("run this? [y/N]", output)

    def test_yes_is_yes(self):
        for how in ({"answer": "y"}, {"ci": True}):
            status, output, calls = self.lab("run", "01", "--cpu", **how)
            self.assertEqual((status, calls), (2, "sudo apt-get update -qq\n"), output)
            self.log.write_text("")
        status, output, calls = self.lab("run", "01", "--cpu", "--yes")
        self.assertEqual((status, calls), (2, "sudo apt-get update -qq\n"), output)

    def test_refusals(self):
        for arguments in (
            [],
            ["nosuch"],
            ["run", "77"],
            ["run", "nosuch/01"],
            ["ladder", "--only", "77"],
            ["map", "01", "a" * 300],
            ["map", "--json", "file", "77"],
            ["compare", "01", "77"],
            ["compile", "77", "1-4"],
            ["ladder", "--family", "nosuch"],
            ["ladder", "--full"],
            ["run", "01", "--again"],
            ["test", "extra"],
            ["test", "--share", "x"],
            ["--plot"],
        ):
            status, output, calls = self.lab(*arguments, *(["--cpu"] if arguments else []))
            self.assertEqual((status, calls), (2, ""), f"{arguments}: {output}")
            self.assertNotIn("apt-get", output, arguments)  # nor does it prepare to build

    def test_help(self):
        for command in ("test", "doctor", "setup", "completion", "help"):
            for word in ("--help", "-h"):
                status, output, calls = self.lab(command, word)
                self.assertEqual((status, calls), (0, ""), (command, output))
                self.assertRegex(output, rf"(?m)^  {command} " if command != "help" else "COMMAND --help")

    def test_warnings_are_told_with_the_stages_lines(self):
        """Also those that g++ has of a header's function, where a stage calls it; not those of other files."""
        log = """[1/2] Building
In function ‘void simt::copy16(void*, const void*)’,
    inlined from ‘constexpr float4& float4::operator=(const float4&)’ at /x/common/simt/language/types.hpp:198:1,
    inlined from ‘{anonymous}::sgemm(int)::<lambda(int)>’ at /x/stages/13a_padding.cu:54:23,
    inlined from ‘void {anonymous}::sgemm(int)’ at /x/stages/13a_padding.cu:64:10:
/x/common/simt/language/types.hpp:47:1: warning: array subscript 4 is outside array bounds of ‘float4 [4]’
   47 | SIMT_COPY(copy16, float)
In function ‘int f()’,
    inlined from ‘int g()’ at /x/common/check/x.cpp:3:1:
/x/common/check/x.hpp:5:1: warning: not of a stage
/x/tsm/03_k_only.cu:7:5: warning: unused variable ‘x’
"""
        (self.tree / "build/cpu").mkdir(parents=True)
        (self.tree / "ninja.log").write_text(log)
        command = f'root={self.tree}; . tools/lab/build.sh; note_warnings cpu "$root/ninja.log"; echo "${{warned[@]}}"'
        done = subprocess.run(["bash", "-c", command], cwd=ROOT, text=True, capture_output=True, check=True)
        self.assertEqual(done.stdout.split(), ["sgemm_13a_padding", "tsm_03_k_only"], done.stderr)
        folder = self.tree / "build/cpu/warnings"
        self.assertEqual(
            {file.name: file.read_text() for file in folder.iterdir()},
            {
                "sgemm_13a_padding": "stages/13a_padding.cu:54: warning: array subscript 4 is outside array bounds of "
                "‘float4 [4]’\n",
                "tsm_03_k_only": "tsm/03_k_only.cu:7:5: warning: unused variable ‘x’\n",
            },
        )

    def test_programs_of_python(self):
        """Those of tools/, from anywhere, also where another package has its name."""
        (self.tree / "tools/__init__.py").write_text("raise SystemExit('not this one')")

        def lab(*arguments):
            return subprocess.run([ROOT / "lab", *arguments], cwd=self.tree, text=True, capture_output=True)

        for arguments in (
            ["measure"],
            ["measure", "nosuch"],
            ["measure", "--share", "1/2"],
            ["measure", "scoreboards", "nosuch.cu"],
            ["pages", "nosuch"],
            ["measure", "counts", "--nosuch"],
            ["diff"],
            ["diff", "99"],
            ["diff", "01"],  # it changes no other
            ["diff", "04", "--html", "nosuch/diff.html"],
            ["mutate"],
            ["mutate", "99"],
            ["mutate", "01", "--per-stage", "0"],
            ["mutate", "01", "--seed"],
            ["mutate", "01", "--json", "nosuch/mutants.json"],
            ["mutate", "01", "--nosuch"],
            ["check", "01", "--json", "x" * 300],
            ["emulate", "x" * 300],
        ):
            done = lab(*arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
            self.assertRegex(done.stderr, r"\Aerror: [^\n]*\n\Z")
        for what in re.findall(r"(?m)^  (\S+)", lab("measure", "--help").stdout):
            done = lab("measure", what, "--help")
            self.assertEqual((done.returncode, done.stderr), (0, ""), what)
            self.assertIn(f"usage: ./lab measure {what}", done.stdout)
        done = lab("pages", "--help")
        self.assertIn("usage: ./lab pages", done.stdout)


if __name__ == "__main__":
    if os.geteuid() == 0 and not shutil.which("setpriv"):
        sys.exit("error: no setpriv, to become a user without root")
    unittest.main()
