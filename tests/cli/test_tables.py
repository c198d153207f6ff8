#!/usr/bin/env python3
"""Tables for people: at any width of the terminal no two cells touch, and what the CPU executor predicts for the
reference GPU is what ./lab pages has in its tables.

usage: test_tables.py BIN
BIN: the folder with the programs of a CPU build
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from tools.pages.records.bounds import predicted

bin_dir = None
# Command: how a table's first line begins, and each of its rows. Names, numbers and remarks of all kinds.
STAGE = (r"stage  ", r"(sgemm|tensorcore|tsm)/\S+  ")
ACCESS = (r" +requests  ", r"  (global|shared) (loads|stores|atomics)  ")
LINE = (r"line  ", r" *\d+  ")
TABLES = {
    "ladder 70 --only 01,03,07,09b,18": STAGE,
    "ladder 64 --type h": STAGE,
    "ladder 64 --family tensorcore --type s": STAGE,
    "ladder 16x16x300 --op tsmttsm": STAGE,
    "ladder 4x4x300 --op tsmm --type z": STAGE,
    "ladder 1x1x300 --op tsmttsm": STAGE,
    "run 03 --m 256 --n 256 --k 256 --count": ACCESS,
    "run 03 --m 64 --n 64 --k 64 --lines": LINE,
    "run tensorcore/08 --m 64 --n 64 --k 64 --lines": LINE,
    "compare 03 tensorcore/08": STAGE,
    "probe bandwidth": (r"predicted / measured", r"\d+ bytes, "),
    "accuracy --only 01,tensorcore/09 --k 64": STAGE,
}


def output(command: str, columns: int) -> list[str]:
    environment = {**os.environ, "COLUMNS": str(columns)}
    done = subprocess.run([bin_dir / "gemm", *command.split()], capture_output=True, text=True, env=environment)
    if done.returncode:
        raise AssertionError(f"{command}: {done.stdout}{done.stderr}")
    return done.stdout.splitlines()


def tables(lines: list[str], head: str, row: str) -> list[list[str]]:
    """Each with its rows; names of files may stand between them."""
    found = []
    for line in lines:
        if re.match(head, line):
            found.append([line])
        elif found and re.match(row, line):
            found[-1].append(line)
    return found


def borders(lines: list[str]) -> set[int]:
    """The columns of the screen that are blank in each line."""
    width = max(map(len, lines))
    return {at for at in range(width) if all(at >= len(line) or line[at] == " " for line in lines)}


class Tables(unittest.TestCase):
    def test_cells_never_touch(self):
        for command, kind in TABLES.items():
            for columns in (80, 200):
                with self.subTest(command=command, columns=columns):
                    found = tables(output(command, columns), *kind)
                    self.assertTrue(found)
                    for table in found:
                        head, *rows = table
                        self.assertTrue(rows)
                        self.assertLessEqual(max(map(len, table)), columns, table)
                        # A column's cells are between two blank strips, and each strip runs through head and rows.
                        full = [row for row in rows if len(re.split(r" {2,}", row.strip())) > 3]
                        blank = borders([head, *full])
                        cells = re.split(r" {2,}", head.strip())
                        strips = [at for at in blank if at + 1 in blank and at + 2 not in blank]
                        self.assertGreaterEqual(len(strips), len(cells) - 1, "\n".join(table))

    def test_wide_ones_show_more(self):
        narrow, wide = ("\n".join(output("ladder 64 --only 03", columns)) for columns in (80, 200))
        self.assertNotIn("conflicts", narrow)
        self.assertIn("conflicts", wide)
        for text in (narrow, wide):
            self.assertIn("measured", text)


class Prediction(unittest.TestCase):
    def test_is_that_of_the_pages(self):
        for shape, options in (("96", ["--only", "02,07,09b,15"]), ("16x16x900", ["--op", "tsmttsm"])):
            with tempfile.TemporaryDirectory() as folder:
                file = pathlib.Path(folder, "ladder.json")
                command = [bin_dir / "gemm", "ladder", shape, *options, "--json", file]
                subprocess.run(command, check=True, capture_output=True)
                results = [each for each in json.loads(file.read_text())["results"] if "reference" in each]
            self.assertGreater(len(results), 3)
            for result in results:
                said, reference = result["predicted"], result["reference"]
                stage = {"cycles": said["cycles"], "parts_ms": dict(reference["parts_ms"])}
                if "instructions" in said:
                    stage["instructions"] = said["instructions"]
                    del stage["parts_ms"]["issue slots"]
                found = predicted(stage)
                self.assertAlmostEqual(found.least_ms, reference["predicted_ms"][0], delta=1e-5 * found.least_ms)
                self.assertAlmostEqual(found.most_ms, reference["predicted_ms"][1], delta=1e-5 * found.most_ms)
                self.assertEqual(found.by, reference["bound"])


if __name__ == "__main__":
    bin_dir = pathlib.Path(sys.argv.pop()).resolve()
    unittest.main()
