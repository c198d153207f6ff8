#!/usr/bin/env python3
"""What the grader writes for other programs keeps to their formats, for each assignment and each kind of grade."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
import unittest
import unittest.mock

sys.dont_write_bytecode = True
import formats

from tools import check
from tools.course import grade, reports
from tools.course.assignment import assignments, later
from tools.repository import ROOT, Json

RECIPE = ROOT / "course" / "gradescope" / "run_autograder"
BUILDER = unittest.mock.Mock(gpu=None)  # nothing is built
UGLY = "kernel.cuh:2: <b>\x01 \ud800 & 'more' ]]>\nit calls \"x\""


def grades() -> dict[str, Json]:
    """By what they show. What makes grades makes them, from rows that no submission is needed for."""
    found: dict[str, Json] = {}
    for assignment in assignments():
        graded = [item for item in assignment.items if item.kind not in later(False)]

        def result(rows: list[Json], assignment=assignment) -> Json:
            with unittest.mock.patch.object(grade, "graded_rows", lambda *_: rows):
                return grade.grade(assignment, assignment.folder / "skeleton", "", 1, BUILDER)

        found |= {
            f"{assignment.id} full": result([grade.row(item, 1, []) for item in graded]),
            f"{assignment.id} zero": result([grade.row(item, 0, [UGLY]) for item in graded]),
            f"{assignment.id} thirds": result([grade.row(item, 1 / 3, [UGLY, ""]) for item in graded]),
            f"{assignment.id} unbuilt": result(grade.nothing(assignment, UGLY, False, False)),
            f"{assignment.id} refused": result(grade.nothing(assignment, UGLY, True, False)),
        }
        wrong = {
            "problem": "1 x 1",
            "right": False,
            "reason": UGLY,
            "explanation": [],
            "defects": [UGLY],
            "ended": True,
        }
        for hints in range(len(grade.HINTS)):
            rows = [
                grade.of_right(item, [wrong] * 3, hints) if item.kind == "right" else grade.row(item, 1, [])
                for item in graded
            ]
            found[f"{assignment.id} hints {hints}"] = result(rows)
    return found


@unittest.skipIf(formats.MISSING, f"SKIPPED, NOT RUN: {formats.MISSING}")
class Formats(unittest.TestCase):
    def test_each_kind_of_grade(self) -> None:
        found = grades()
        self.assertTrue(any(result["later"] for result in found.values()))  # with items that a teacher adds
        self.assertEqual({result["points"] for what, result in found.items() if what.endswith("full")}, {100})
        for what, result in found.items():
            with self.subTest(what):
                self.assertEqual(formats.complaints_of_gradescope(reports.gradescope(result)), [])
                self.assertEqual(formats.complaints_of_junit(reports.junit(result)), [])
                self.assertIsNotNone(formats.CLASSROOM.fullmatch(reports.classroom(result)))

    def test_nothing_graded(self) -> None:
        loader = importlib.machinery.SourceFileLoader("run_autograder", str(RECIPE))
        recipe = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
        loader.exec_module(recipe)
        self.assertEqual(formats.complaints_of_gradescope(recipe.not_graded(UGLY)), [])

    def test_visibilities(self) -> None:
        for visibility in ("hidden", "after_due_date", "after_published", "visible"):
            test = {"score": 1, "visibility": visibility}
            result = {"visibility": visibility, "stdout_visibility": visibility, "tests": [test]}
            self.assertEqual(formats.complaints_of_gradescope(result), [])

    def test_what_gradescope_does_not_know(self) -> None:
        good = reports.gradescope(grades()["sgemm/01_coalesce zero"])
        for change in (
            {"points": 1},
            {"score": "1"},
            {"score": True},
            {"visibility": "shown"},
            {"tests": [{"score": 1, "status": "pass"}]},
            {"tests": [{"score": 1, "feedback": ""}]},
            {"tests": [{"score": 1, "tags": "one"}]},
            {"leaderboard": [{"name": "time"}]},
        ):
            with self.subTest(change):
                self.assertNotEqual(formats.complaints_of_gradescope({**good, **change}), [])
        self.assertNotEqual(formats.complaints_of_gradescope({"tests": [{"score": 1}, {}]}), [])

    def test_check_of_several_stages(self) -> None:
        wrong = {"seconds": 0, "status": "fail", "failure": {"problem": "1 x 1", "reason": UGLY, "explanation": [UGLY]}}
        results = [
            {
                "stage": "sgemm/01",
                "seconds": 0.5,
                "properties": [{"name": "sizes", "status": "pass", "seconds": 0.1}, {"name": UGLY} | wrong],
            },
            check.failed("tsm/02", UGLY) | {"seconds": 1},
        ]
        self.assertEqual(formats.complaints_of_junit(check.junit(results)), [])
        self.assertNotEqual(formats.complaints_of_junit(check.junit([results[0]] * 2)), [])

    def test_what_is_no_junit(self) -> None:
        for text in (
            '<testsuite name="a"/>',
            '<testsuite name="a" tests="x"/>',
            '<testsuite name="a" tests="1"><testcase/></testsuite>',
            '<testsuite name="a" tests="1"><testcase name="b"><fail/></testcase></testsuite>',
            '<testsuite name="a" tests="1" points="1"/>',
            '<tests name="a" tests="1"/>',
            '<testsuites><testcase name="b"/></testsuites>',
        ):
            with self.subTest(text):
                self.assertNotEqual(formats.complaints_of_junit(text), [])


if __name__ == "__main__":
    unittest.main()
