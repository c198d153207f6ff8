#!/usr/bin/env python3
"""A new stage is one new file and its page: a copy of 02 under a new number shows up everywhere without another edit.

usage: test_copied_stage.py BUILD
       BUILD: a configured build for the CPU executor, whose compiler and generator are used

Works on a copy of the tree in a temporary folder; builds there what it asks, a minute on two cores.
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

ROOT = pathlib.Path(__file__).resolve().parents[2]
ID, FILE = "sgemm/98_copy", "98_copy"


def run(*command):
    done = subprocess.run(
        [str(c) for c in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL
    )
    if done.returncode:
        raise AssertionError(f"exit status {done.returncode}: {' '.join(map(str, command))}\n{done.stdout[-4000:]}")
    return done.stdout


class CopiedStage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.tree = pathlib.Path(folder.name, "tree")
        shutil.copytree(ROOT, cls.tree, ignore=shutil.ignore_patterns(".git", ".lab", "build", "__pycache__"))
        # The ladder's first rungs will do, and build in a fraction of the time.
        for family, last in (("stages", 4), ("tsm", 1), ("tensorcore", 1)):
            for file in (cls.tree / family).glob("[0-9][0-9]*.cu"):
                if int(file.name[:2]) > last:
                    file.unlink()
        # All that adding a stage takes:
        text = (cls.tree / "stages/02_coalesced.cu").read_text()
        # Without its author's prediction: what follows is counted, and needs none.
        cls.copied, predictions = re.subn(r"\n *\.l1_cycles = .*", "", text)
        assert predictions == 1
        (cls.tree / f"stages/{FILE}.cu").write_text(cls.copied)
        page = cls.tree / "docs/stages/02_coalesced.md"
        if page.exists():
            shutil.copy(page, page.with_name(f"{FILE}.md"))

        build = cls.tree / "build"
        cache = dict(re.findall(r"^(\w+):\w+=(.*)$", (BUILD / "CMakeCache.txt").read_text(), re.M))
        # -O0 compiles in half the time, and the problems here are small.
        run(
            cache["CMAKE_COMMAND"],
            "-S",
            cls.tree,
            "-B",
            build,
            "-G",
            cache["CMAKE_GENERATOR"],
            "-DGEMM_ON_GPU=OFF",
            f"-DCMAKE_CXX_COMPILER={cache['CMAKE_CXX_COMPILER']}",
            "-DCMAKE_BUILD_TYPE=Debug",
            "-DCMAKE_CXX_FLAGS_DEBUG=-O0",
        )
        run(
            cache["CMAKE_COMMAND"],
            "--build",
            build,
            "--parallel",
            os.cpu_count(),
            "--target",
            "gemm",
            f"sgemm_{FILE}",
            "test_stages",
        )
        cls.bin = build / "bin"

    def test_listed(self):
        ids = [line.split()[0] for line in run(self.bin / "gemm", "list").splitlines()]
        self.assertEqual(ids.count(ID), 1)
        self.assertIn("sgemm/02_coalesced", ids)
        self.assertEqual(ids, sorted(ids))

    def test_runs_by_its_number(self):
        for command in ([self.bin / "gemm", "run", "98"], [self.bin / f"sgemm_{FILE}"]):
            result = json.loads(run(*command, "--m", 70, "--n", 33, "--k", 50, "--json", "-"))
            self.assertEqual((result["stage"], result["status"]), (ID, "pass"))

    def test_counted_without_a_formula(self):
        def count(stage):
            return json.loads(run(self.bin / "gemm", "run", stage, "--m", 64, "--n", 64, "--k", 64, "--json", "-"))

        copy, original = count("98"), count("02")
        self.assertEqual(copy["counts"], original["counts"])
        # One request a warp for A and for B in each step of k; A's word is one sector, B's row four.
        warps_and_steps = 64 * 64 // 32 * 64
        self.assertEqual(copy["counts"]["global_load"]["requests"], 2 * warps_and_steps)
        self.assertEqual(copy["counts"]["global_load"]["sectors"], 5 * warps_and_steps)

    def test_in_the_ladder(self):
        report = self.tree / "report.json"
        run(self.bin / "gemm", "ladder", "64", "--json", report)
        self.assertIn((ID, "pass"), [(r["stage"], r["status"]) for r in json.loads(report.read_text())["results"]])

    def test_swept(self):
        names = run(self.bin / "test_stages", "--gtest_list_tests")
        self.assertRegex(names, rf"EveryStage\.\n(  .*\n)*  \w+/{ID.replace('/', '_')}\b")
        swept = run(self.bin / "test_stages", f"--gtest_filter=*ThinTallAndWide/*{FILE}")
        self.assertIn("[  PASSED  ] 1 test.", swept)  # a filter that fits nothing passes too


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    BUILD = pathlib.Path(sys.argv.pop())
    unittest.main()
