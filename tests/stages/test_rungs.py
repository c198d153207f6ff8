#!/usr/bin/env python3
"""The rules of a rung: the head's labels, one base, the kernel in sight, a short file, a small change.

usage: test_rungs.py [--write | --table]

rungs.json, beside this file, has the reviewed bases, the rungs that are the first of a kind, and the budget of each
rung that is above a limit. A budget only shrinks: when you lower a value, lower its budget, too.

--write: writes the budgets as they are now, where none grew; --table: how many rungs keep which limit, without choosers
and, of changes, without those that are the first of a kind
"""

import json
import re
import sys
import unittest

from tools import diff, rungs
from tools.repository import ROOT, stage_file, stages

FILE = ROOT / "tests/stages/rungs.json"
NO_KERNEL = 10_000  # as a line number: the file has no kernel
CHANGED = "code changed"
LIMITS = {"lines": 200, "kernel by line": 40, CHANGED: 60}
CHOOSERS = {"sgemm/16_tuned", "tsm/14_best", "tsm/15_tsmm_best"}  # they pick among kernels of others


def measured(stage: str) -> dict[str, int]:
    lines = stage_file(stage).read_text().splitlines()
    kernel = next((i for i, line in enumerate(lines, 1) if "__global__" in line), NO_KERNEL)
    values = {"lines": len(lines), "kernel by line": kernel}
    base = rungs.base_of(stage)
    if base and not rungs.is_first_of_a_kind(stage):  # whose change is a library's worth, and grows with it
        values[CHANGED] = rungs.change(base, stage).lines
    return values


def is_stage(stage: str) -> bool:
    return "ProbeRegistration" not in stage_file(stage).read_text()


def over_limits() -> dict[str, dict[str, int]]:
    """By stage, the values above their limits."""
    over = {s: {what: v for what, v in measured(s).items() if v > LIMITS[what]} for s in stages() if is_stage(s)}
    return {stage: values for stage, values in over.items() if values}


class Rules(unittest.TestCase):
    def setUp(self) -> None:
        self.reviewed = json.loads(FILE.read_text())

    def test_heads_have_their_labels_in_order(self):
        for stage in stages():
            head = list(rungs.head_of(stage_file(stage).read_text()))
            rooted = [label for label in rungs.LABELS if label != "Base"]
            without = [label for label in rooted if label != "Change"]
            wanted = [list(rungs.LABELS)] if rungs.base_of(stage) else [rooted, without]
            self.assertIn(head, wanted, stage)

    def test_bases_are_the_reviewed_ones_and_those_that_are_registered(self):
        bases = {stage: rungs.base_of(stage) for stage in stages() if is_stage(stage)}
        self.assertEqual(bases, self.reviewed["bases"])
        for stage, base in bases.items():
            registered = re.findall(r'\.base = "(\w+)"', stage_file(stage).read_text())
            self.assertEqual(registered, [base.split("/")[1].split("_")[0]] if base else [], stage)

    def test_the_first_of_a_kind_are_the_reviewed_ones(self):
        self.assertEqual([s for s in stages() if rungs.is_first_of_a_kind(s)], list(self.reviewed["first of a kind"]))

    def test_limits_are_kept_or_budgeted(self):
        over = over_limits()
        for stage, values in over.items():
            for what, value in values.items():
                budget = self.reviewed["budgets"].get(stage, {}).get(what, LIMITS[what])
                self.assertLessEqual(value, budget, f"{stage}: {what}, limit {LIMITS[what]}")
        self.assertEqual(self.reviewed["budgets"], over, "a budget is larger than it needs to be: --write lowers it")


class Diff(unittest.TestCase):
    def change(self, old: str, new: str) -> rungs.Change:
        sources = [rungs.source_of(ROOT / name, text) for name, text in (("old.cu", old), ("new.cu", new))]
        return rungs.Change(*sources, (), ())

    def test_heads_comments_and_white_space_are_no_change(self):
        of = self.change("// 01 a\n\nint  a;\nint b;  // two\n", "// 02 b\n// c\n\nint a;\n  int b;\n// three\n")
        self.assertEqual(of.lines, 0)
        self.assertEqual(diff.text_of(of), [])

    def test_a_line_in_anothers_place_counts_once(self):
        of = self.change("int a;\nint b;\nint c;\n", "int a;\nint B;\nint c;\nint d;\nint e;\n")
        self.assertEqual(of.lines, 3)
        shown = diff.text_of(of)
        self.assertEqual(shown[1:], [" int a;", "-int b;", "+int B;", " int c;", "+int d;", "+int e;"])

    def test_what_moved_to_a_helper_is_no_change(self):
        self.assertEqual(rungs.changed(["f(){", "g;", "}", "x;"], ["x;"]), 3)
        self.assertEqual(rungs.changed(["f(){", "g;", "}", "x;"], ["x;"], ["f(){", "g;", "}"]), 0)
        self.assertEqual(rungs.changed(["f(){", "h;", "}", "x;"], ["x;"], ["f(){", "g;", "}"]), 1)

    def test_what_moved_between_a_file_and_a_header_is_no_change(self):
        code, rest = ["f(){", "g;", "}"], ["x;"]
        self.assertEqual(rungs.changed(rest + code, rest, headers=([], code)), 0)
        self.assertEqual(rungs.changed(rest, code + rest, headers=(code, [])), 0)
        self.assertEqual(rungs.changed(rest + code, rest, headers=([], ["f(){", "h;", "}"])), 2)
        self.assertEqual(rungs.changed(rest + code, code + rest), 2)  # not a header's: the order changed

    def test_headers_of_one_side_count(self):
        of = rungs.change("tsm/12_tsmm_generated", "tsm/13_tsmm_pipeline")
        self.assertGreater(of.lines, rungs.changed(of.old.code, of.new.code))
        names = " ".join(diff.header_lines(of, whole=False))
        self.assertIn("+++ tsm/generated/warp_tile.cuh", names)
        self.assertNotIn("launch.cuh", names)
        self.assertGreater(len(list(diff.header_lines(of, whole=True))), of.lines / 2)

    def hunks(self, old: str, new: str) -> list[list[diff.Row]]:
        of = self.change(old, new)
        return [section.rows for section in diff.sections(of.old, of.new) if section.hunk]

    def test_side_by_side_has_all_lines_and_marks_what_differs(self):
        rows = self.hunks("f(a < 1);\n", "f(b < 1);\nint d;\n")[0]
        self.assertEqual(rows, [diff.Row(0, 0, True, [(2, 3)], [(2, 3)]), diff.Row(None, 1, True)])
        for stage in ("sgemm/07_register_tile", "tsm/10_pipeline"):
            of = rungs.change(rungs.base_of(stage), stage)
            rows = [row for section in diff.sections(of.old, of.new) for row in section.rows]
            for side, source in (("old", of.old), ("new", of.new)):
                places = [getattr(row, side) for row in rows if getattr(row, side) is not None]
                self.assertEqual(places, list(range(len(source.lines))), stage)

    def test_lines_that_are_alike_stand_side_by_side(self):
        rows = self.hunks("int width = a;\nint height = b;\n", "float* fresh;\nint width = c;\n")[0]
        self.assertEqual([(row.old, row.new) for row in rows], [(None, 0), (0, 1), (1, None)])

    def test_swapped_words_are_marked_in_their_places(self):
        self.assertEqual(diff.marks("b[tx][i];", "b[i][tx];"), ([(2, 4), (6, 7)], [(2, 3), (5, 7)]))

    def test_hunks_are_apart_by_equal_lines_and_change_code(self):
        old = "".join(f"int a{i};\n" for i in range(20))
        self.assertEqual(len(self.hunks(old, old.replace("a2;", "b;").replace("a4;", "c;"))), 1)
        self.assertEqual(len(self.hunks(old, old.replace("a2;", "b;").replace("a16;", "c;"))), 2)
        self.assertEqual(self.hunks(old, old.replace("int a5;", "// why\nint a5;")), [])


def write() -> None:
    reviewed = json.loads(FILE.read_text())
    over = over_limits()
    for stage, values in over.items():
        for what, value in values.items():
            if value > reviewed["budgets"].get(stage, {}).get(what, LIMITS[what]):
                sys.exit(f"error: {stage}: {what} {value} is more than its budget")
    reviewed["budgets"] = over
    FILE.write_text(json.dumps(reviewed, indent=1) + "\n")


def table() -> None:
    steps = [s for s in stages() if is_stage(s) and s not in CHOOSERS]
    values = [(stage, measured(stage)) for stage in steps]
    for what, limit in LIMITS.items():
        found = [v[what] for s, v in values if what in v and not (what == CHANGED and rungs.is_first_of_a_kind(s))]
        within, high = (sum(test(v) for v in found) for test in (lambda v, limit=limit: v <= limit, lambda v: v > 150))
        print(f"{what} {limit}: {within} of {len(found)}; above 150: {high}")


if __name__ == "__main__":
    if "--write" in sys.argv:
        write()
    elif "--table" in sys.argv:
        table()
    else:
        unittest.main()
