#!/usr/bin/env python3
"""What finds which mistake (tools/pages/blocks/programs.py), of reports and a device's record made here."""

import sys
import unittest

sys.dont_write_bytecode = True
from tools.measure.programs import files_of, mark_of, names, reports_in, short
from tools.pages.blocks.programs import TOOLS, broken, programs_table

REPORT = (
    "data race in shared memory in f(int, g<int>*), byte 4 of as (64 bytes): thread (1, 0, 0) of block (0, 0, 0) reads "
    "4 bytes at some/where/race.cu:12, thread (0, 0, 0) of block (0, 0, 0) writes it at race.cuh:3"
)


def program(name, reports, kind="out of bounds"):
    found = [{"says": says, "lines": lines} for says, lines in reports]
    marked = {"kinds": [kind, "deadlock"], "line": "a.cu:7"} if name.startswith("wrong/") else {}
    return {"name": name, "status": 0, "reports": found, **marked}


PROGRAMS = [
    program("right/silent", []),
    program("right/alarm", [("out of bounds in f", ["a.cu:1"])]),
    program("wrong/found", [("other in f", ["a.cu:7"]), ("out of bounds in f", ["b.cu:1", "a.cu:7"])]),
    program("wrong/second_kind", [("deadlock in f", ["a.cu:7"])]),
    program("wrong/other_line", [("out of bounds in f", ["a.cu:8"])]),
    program("wrong/other_kind", [("deadlock in f", ["a.cu:7"])], "wrong mask"),
    program("wrong/missed", [("does not compile", [])], "wrong mask"),
]


def verdict(errors, line=False, other=False):
    return {"status": 0, "errors": errors, "says": [], "line_named": line, "other_named": other}


class Programs(unittest.TestCase):
    def cells(self, line):
        return [cell.strip() for cell in line.strip("|").split("|")]

    def test_without_a_device_no_word_of_one(self):
        head, _, *rows = map(self.cells, programs_table(PROGRAMS, None))
        self.assertEqual(head, ["the planted mistake", "programs", "`./lab emulate`"])
        self.assertEqual(
            rows,
            [
                ["out of bounds", "3", "2 (+1)"],
                ["wrong mask", "2", "1"],
                ["all", "5", "3 (+1)"],
                ["none: reported nevertheless", "2", "1"],
            ],
        )

    def test_beside_a_device(self):
        nothing = {tool: verdict(0) for tool in TOOLS}
        of_device = {
            "found": {"run": {"status": "time limit"}, "tools": {**nothing, "memcheck": verdict(3, line=True)}},
            "second_kind": {"run": {"status": 0}, "tools": {**nothing, "memcheck": verdict(1, other=True)}},
            "other_line": {"run": {"status": 1}, "tools": {**nothing, "memcheck": verdict(1)}},
            "silent": {"run": {"status": 0}, "tools": {**nothing, "initcheck": verdict(2)}},
            "missed": {"run": {"status": 0}, "tools": nothing},
        }
        device = {"device": "A GPU", "driver": "1", "cuda": "release 1", "programs": of_device}
        head, _, *rows = map(self.cells, programs_table(PROGRAMS, device))
        self.assertEqual(head[3:], [*TOOLS, "the GPU alone"])
        self.assertEqual(rows[0][2:], ["2 (+1)", "2 (+1)", "0", "0", "0", "2"])
        self.assertEqual(rows[3][2:], ["1", "0", "0", "1", "0", "0"])
        self.assertIn(["A GPU, driver 1; release 1."], rows)
        self.assertEqual(rows[-1], ["Not yet run there, and so not found: `right/alarm`, `wrong/other_kind`."])

    def test_a_report_in_short(self):
        said = reports_in(f"the program's own\nsimt: {REPORT}\nsimt: warning: never freed, 4 bytes\n")
        self.assertEqual(
            list(map(short, said)),
            [
                {"says": "data race in shared memory in f", "lines": ["race.cu:12", "race.cuh:3"]},
                {"says": "never freed", "lines": []},
            ],
        )
        lines = broken(REPORT)
        self.assertEqual([line.split("thread")[0] for line in lines[1:]], ["    ", "    "])
        self.assertEqual(" ".join(line.strip() for line in lines), f"simt: {REPORT}")

    def test_marks_are_found_where_they_have_to_be(self):
        for name in names():
            with self.subTest(name):
                self.assertEqual(bool(mark_of(files_of(name))), name.startswith("wrong/"))


if __name__ == "__main__":
    unittest.main()
