#!/usr/bin/env python3
"""The floors of common/: a file includes what lies on its own floor and below, and modules do so in no circle.

A module is a file's name without its ending: block.hpp and block.cpp are one. What a folder of the top level is for is
in CONTRIBUTING.md.
"""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]

# From the lowest to the highest. simt/ is the CPU executor, which knows of no GEMM; backend/ is what a back end is
# asked, its two folders the answers.
FLOORS = (
    "simt/code",
    "simt/language",
    "simt/observe",
    "simt/run",
    "simt/runtime",
    "simt/program",
    "simt/include",
    "kernel",
    "problem",
    "toolchain",
    "backend",
    "check",
    "backend/gpu",
    "backend/cpu",
    "measure",
    "report",
    "commands",
)
# What a stage includes, as a whole.
ABOVE_ALL = "common/stage.cuh"
# What other programs link: made of the families, so above them. Nothing in common/ includes it.
PACKAGE = "common/package/"
TOP_LEVEL = {"stages", "common", "tsm", "tensorcore", "docs", "tests", "tools", "course", "examples", "multigpu"}
SOURCE = (".hpp", ".cuh", ".h", ".cpp", ".cu")


def floor_of(path: str) -> int | None:
    """The number of the floor; None for what lies on none."""
    on = [floor for floor in FLOORS if path.startswith(f"common/{floor}/")]
    return FLOORS.index(max(on, key=len)) if on else None


def module_of(path: str) -> str:
    return path.rsplit(".", 1)[0]


def circles(edges: dict[str, set[str]]) -> list[list[str]]:
    """The strongly connected components of more than one module (Tarjan's algorithm, without recursion)."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    on_stack: set[str] = set()
    found = []
    for root in edges:
        if root in number:
            continue
        work = [(root, iter(sorted(edges[root])))]
        number[root] = low[root] = len(number)
        stack.append(root)
        on_stack.add(root)
        while work:
            module, successors = work[-1]
            for successor in successors:
                if successor not in number:
                    number[successor] = low[successor] = len(number)
                    stack.append(successor)
                    on_stack.add(successor)
                    work.append((successor, iter(sorted(edges.get(successor, ())))))
                    break
                if successor in on_stack:
                    low[module] = min(low[module], number[successor])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[module])
                if low[module] == number[module]:
                    at = stack.index(module)
                    on_stack -= set(stack[at:])
                    if len(stack) - at > 1:
                        found.append(sorted(stack[at:]))
                    del stack[at:]
    return found


def complaints(sources: dict[str, str]) -> list[str]:
    """What is wrong with the includes of these files of common/, by path."""
    wrong = []
    edges: dict[str, set[str]] = {}
    for path, text in sources.items():
        if path.startswith(PACKAGE):
            continue
        here = floor_of(path)
        if here is None and path != ABOVE_ALL:
            wrong.append(f"{path} lies on no floor")
        module = edges.setdefault(module_of(path), set())
        for included in re.findall(r'^\s*#\s*include\s+"([^"]+)"', text, re.M):
            if path.startswith("common/simt/include/") and "/" not in included:
                continue  # CUDA's headers among themselves
            if not included.startswith("common/"):
                wrong.append(f"{path} includes {included}: not in common/")
                continue
            if included not in sources:
                wrong.append(f"{path} includes {included}, which does not exist")
                continue
            there = floor_of(included)
            if there is None or here is not None and there > here:
                wrong.append(f"{path} includes {included}, which lies above it")
            if module_of(included) != module_of(path):
                module.add(module_of(included))
    return wrong + [f"modules include each other: {', '.join(circle)}" for circle in circles(edges)]


def tracked() -> list[str]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    return listed.stdout.splitlines()


class Floors(unittest.TestCase):
    def test_includes_go_down_and_in_no_circle(self):
        sources = {
            path.relative_to(ROOT).as_posix(): path.read_text()
            for path in ROOT.glob("common/**/*")
            if path.suffix in SOURCE
        }
        self.assertGreater(len(sources), 150)
        self.assertEqual(complaints(sources), [])

    def test_root_of_the_build_names_no_stage(self):
        text = (ROOT / "CMakeLists.txt").read_text()
        self.assertLessEqual(len(text.splitlines()), 70)
        self.assertEqual(re.findall(r"\b\d\d[a-z]?_\w+", text), [])

    @unittest.skipUnless((ROOT / ".git").exists(), "SKIPPED, NOT RUN: no checkout, so no list of files")
    def test_top_level_has_the_folders_it_should(self):
        folders = {path.split("/")[0] for path in tracked() if "/" in path and not path.startswith(".")}
        self.assertEqual(folders - TOP_LEVEL, set())


class Complaints(unittest.TestCase):
    """The check itself."""

    def wrong(self, **files: str) -> list[str]:
        return complaints({f"common/{name.replace('__', '/')}.hpp": text for name, text in files.items()})

    def test_down_is_right(self):
        self.assertEqual(self.wrong(report__table='#include "common/measure/evaluate.hpp"\n', measure__evaluate=""), [])
        self.assertEqual(self.wrong(backend__cpu__jit='#include "common/check/matrix.hpp"', check__matrix=""), [])

    def test_arrow_up_is_wrong(self):
        self.assertEqual(
            self.wrong(report__table='#include "common/commands/run.hpp"\n', commands__run=""),
            ["common/report/table.hpp includes common/commands/run.hpp, which lies above it"],
        )
        self.assertEqual(len(self.wrong(simt__run__block='#include "common/kernel/status.hpp"', kernel__status="")), 1)
        self.assertEqual(len(self.wrong(check__data='#include "common/backend/cpu/jit.hpp"', backend__cpu__jit="")), 1)

    def test_circle_is_wrong_through_sources_too(self):
        files = {
            "common/report/a.hpp": "",
            "common/report/a.cpp": '#include "common/report/b.hpp"',
            "common/report/b.hpp": '#include "common/report/c.hpp"',
            "common/report/c.hpp": "",
            "common/report/c.cpp": '#include "common/report/a.hpp"',
        }
        self.assertEqual(
            complaints(files), ["modules include each other: common/report/a, common/report/b, common/report/c"]
        )
        files["common/report/c.cpp"] = ""
        self.assertEqual(complaints(files), [])

    def test_package_is_above_all(self):
        self.assertEqual(self.wrong(package__a='#include "tsm/a.hpp"'), [])
        self.assertEqual(len(self.wrong(package__a="", report__b='#include "common/package/a.hpp"')), 1)

    def test_what_lies_outside_is_wrong(self):
        self.assertEqual(
            self.wrong(report__a='#include "tsm/a.hpp"'), ["common/report/a.hpp includes tsm/a.hpp: not in common/"]
        )
        self.assertEqual(
            self.wrong(misc='#include "common/report/a.hpp"', report__a=""), ["common/misc.hpp lies on no floor"]
        )


if __name__ == "__main__":
    unittest.main()
