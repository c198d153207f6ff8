#!/usr/bin/env python3
"""That the case studies still are what their page tells: what is reported of them, and what their accesses cost.

usage: test_cases.py BUILD
"""

import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
from tools.measure.programs import FILE, GROUPS, measured, names
from tools.repository import read_json

BUILD = pathlib.Path(sys.argv.pop()).absolute()


def told(program):
    """Without what may differ from run to run: which of many threads a race is reported of, and what then comes out."""
    reports = {(report["says"], *sorted(report["lines"])) for report in program["reports"] or []}
    return program["status"], reports, [] if reports else program["output"], [] if reports else program["kernels"]


class Cases(unittest.TestCase):
    def setUp(self):
        self.record = {program["name"]: program for program in read_json(FILE)["programs"]}

    def test_every_program_is_recorded(self):
        self.assertEqual(sorted(self.record), sorted(names()), "./lab measure programs")
        self.assertEqual({name.split("/")[0] for name in self.record}, set(GROUPS))

    def test_cases_are_as_recorded(self):
        for name in [name for name in names() if name.startswith("cases/")]:
            with self.subTest(name):
                self.assertEqual(told(measured(name, BUILD)), told(self.record[name]), "./lab measure programs")

    def test_the_last_form_of_each_case_is_right(self):
        for case in {name.split("_")[0] for name in self.record if name.startswith("cases/")}:
            last = self.record[max(name for name in self.record if name.startswith(case))]
            first = self.record[min(name for name in self.record if name.startswith(case))]
            self.assertEqual((last["status"], last["reports"]), (0, []), last["name"])
            self.assertEqual((first["status"], bool(first["reports"])), (1, True), first["name"])


if __name__ == "__main__":
    unittest.main()
