#!/usr/bin/env python3
"""A stage as a textbook has it compiles unchanged and passes; its mistakes are named by its own names and lines.

usage: test_textbook_stage.py BUILD
       BUILD: a build for the CPU executor with what a stage's program is linked with

Compiles the stage, and copies with a mistake, as the build compiles stages: seconds each.
"""

import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
STAGE = ROOT / "tests/fixtures/stages/90_textbook.cu"
LAUNCHER = [sys.executable, "-B", str(ROOT / "common/cmake/compile_kernels.py")]
LINK = [
    "-Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset,--wrap=memcmp,--wrap=__cxa_throw,--wrap=__cxa_allocate_exception",
    f"-Wl,--dynamic-list={ROOT}/common/simt/exports.txt",
]
RAGGED = "--m 43 --n 70 --k 67 --alpha 1.5 --beta 0.5".split()


class TextbookStage(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        # A stage's id comes from its path.
        self.source = pathlib.Path(folder.name, "stages", STAGE.name)
        self.source.parent.mkdir()
        self.text = STAGE.read_text()

    def change(self, before, after):
        self.assertEqual(self.text.count(before), 1, before)
        self.text = self.text.replace(before, after)

    def line_of(self, words):
        return 1 + self.text[: self.text.index(words)].count("\n")

    def compile(self):
        """What the compiler says; its status."""
        self.source.write_text(self.text)
        entries = json.loads((BUILD / "compile_commands.json").read_text())
        words = shlex.split(next(e["command"] for e in entries if e["file"].endswith("stages/01_naive.cu")))
        for option in ("-o", "-c"):  # each with the word behind it
            at = words.index(option)
            del words[at : at + 2]
        self.compiler = words[0]
        command = [*LAUNCHER, *words, "-O1", "-o", f"{self.source}.o", "-c", str(self.source)]
        done = subprocess.run(command, cwd=BUILD, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
        # g++ 13 finds the build's precompiled header made at another level.
        said = [line for line in done.stderr.splitlines(keepends=True) if "[-Winvalid-pch]" not in line]
        return done.returncode, "".join(said)

    def run_stage(self, *arguments):
        """The result of the program."""
        status, output = self.compile()
        self.assertEqual((status, output), (0, ""))
        libraries = [BUILD / f"common/lib{name}.a" for name in ("gemm_jit", "gemm_harness")]
        main = BUILD / "common/commands/CMakeFiles/main_stage.dir/main_stage.cpp.o"
        program = self.source.with_suffix("")
        objects = [f"{self.source}.o", main, *libraries, "-lfmt", "-ldl", "-lpthread"]
        subprocess.run([self.compiler, *LINK, "-o", program, *objects], check=True)
        done = subprocess.run([program, *arguments, "--json", "-"], capture_output=True, text=True)
        return json.loads(done.stdout)

    def reason(self, *arguments):
        result = self.run_stage(*arguments)
        self.assertEqual(result["status"], "fail")
        return result["reason"]

    def test_passes(self):
        for arguments in (RAGGED, ["--m", "64", "--n", "64", "--k", "64"], ["--m", "0"]):
            result = self.run_stage(*arguments)
            self.assertEqual((result["stage"], result["status"]), ("sgemm/90_textbook", "pass"), result)

    def test_no_dynamic_memory_asked_for(self):
        self.change("bytes, stream>>>", "0 * bytes, stream>>>")
        line = self.line_of("as[ty * TILE + tx] =")
        self.assertRegex(
            self.reason(*RAGGED),
            r"out of bounds in product<16, float>, the launch asks for 0 bytes of dynamic shared memory: "
            rf"the kernel writes byte 0 of tiles: .* at \S*stages/90_textbook\.cu:{line}\b",
        )

    def test_too_little_dynamic_memory(self):
        self.change("256 * sizeof(float), stream", "128 * sizeof(float), stream")
        line = self.line_of("*mine = alpha")
        self.assertRegex(
            self.reason(*RAGGED),
            rf"out of bounds in add, 0 bytes past the end of words \(512 bytes\): .*:{line}\b",
        )

    def test_refused_launch(self):
        self.change("block(TILE, TILE)", "block(TILE * TILE, TILE)")
        self.assertRegex(self.reason(*RAGGED), "InvalidConfiguration.* in product<16, float>, a block of 256 x 16")

    def test_errors_have_the_stages_lines(self):
        mistakes = {
            "T sum = 0;": ("T sum = 0", "error: expected"),
            "*mine = alpha": ("*mine = alhpa", "error: 'alhpa' was not declared"),
            "add<<<": ("ad<<<", "error: 'ad' was not declared"),
            "bytes, stream>>>(p.m,": ('bytes, stream>>>("m",', "error: invalid conversion from 'const char*' to 'int'"),
            "const gemm::Registration": ("gemm::Registratio", "error: 'Registratio' in namespace 'gemm'"),
        }
        for before, (after, error) in mistakes.items():
            with self.subTest(after):
                self.text = STAGE.read_text()
                self.change(before, after)
                status, output = self.compile()
                self.assertNotEqual(status, 0)
                first = next(line for line in output.splitlines() if "error: " in line)
                found = re.match(r"(\S+):(\d+):\d+: (.*)", first)
                self.assertEqual(found[1], str(self.source))
                self.assertIn(int(found[2]) - self.line_of(after), (0, 1), output)  # 1: behind a line's end
                self.assertIn(error, found[3])
                self.assertNotIn(".forms/", output)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
