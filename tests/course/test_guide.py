#!/usr/bin/env python3
"""docs/course.md says all that a rubric may have, and stays as it is where nothing reads rubrics."""

import dataclasses
import importlib.util
import pathlib
import sys
import unittest
from unittest import mock

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]

from tools.pages.blocks import course
from tools.pages.data import Data
from tools.pages.marks import fill

TEXT = (ROOT / "docs" / "course.md").read_text()
YAML = importlib.util.find_spec("yaml")


class Guide(unittest.TestCase):
    def test_without_a_reader_of_rubrics_the_page_stays(self):
        page = TEXT.replace("| `builds` |", "| `of old` |")
        with mock.patch.object(course.importlib.util, "find_spec", return_value=None):
            self.assertEqual(fill(page, Data(), "docs/course.md"), page)

    @unittest.skipUnless(YAML, "SKIPPED, NOT RUN: no PyYAML")
    def test_every_key_is_explained(self):
        from tools.course.assignment import HIDDEN, Assignment, Item, assignments

        renamed = {
            "folder": "",
            "variant": "",
            "most_lines": "lines",
            "most_bytes": "bytes",
            "forbidden": "forbid",
            "items": "points",
        }
        keys = {renamed.get(field.name, field.name) for field in dataclasses.fields(Assignment)} - {""}
        keys |= {field.name for field in dataclasses.fields(Item)} | HIDDEN
        self.assertEqual({key for key in keys if f"`{key}`" not in TEXT and f"`{key}:" not in TEXT}, set())
        self.assertEqual({found.id for found in assignments() if f"[{found.id}](" not in TEXT}, set())

    @unittest.skipUnless(YAML, "SKIPPED, NOT RUN: no PyYAML")
    def test_an_assignment_in_no_week_is_noticed(self):
        with mock.patch.object(course, "WEEKS", course.WEEKS[:-1]), self.assertRaisesRegex(KeyError, "tensorcore"):
            course.block_course_plan(Data(), "weeks")


if __name__ == "__main__":
    unittest.main()
