#!/usr/bin/env python3
"""One table, one run: tools/pages leaves a gap where the run of a table has no number, and mixes no runs."""

import json
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from tools.pages import data as runs
from tools.pages.blocks import tsm
from tools.pages.blocks.ladder import block_ladder, block_measured
from tools.repository import read_json


def without(report, stage):
    return {**report, "results": [r for r in report["results"] if r["stage"] != stage]}


class OneRun(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def changed(self, path, change):
        """A copy of a committed file with a change."""
        copy = self.folder / path.name
        copy.write_text(json.dumps(change(read_json(path))))
        return copy

    def test_gap_of_the_ladder_stays_one(self):
        stage = "sgemm/18_summit"
        self.assertTrue(any(r["stage"] == stage for r in read_json(runs.VARIANTS)["results"]))
        row = next(line for line in block_ladder(runs.Data()) if "18_summit" in line)
        self.assertNotIn("not measured", row)
        ladder = runs.LADDER
        self.addCleanup(setattr, runs, "LADDER", ladder)
        runs.LADDER = self.changed(ladder, lambda report: without(report, stage))
        data = runs.Data()
        row = next(line for line in block_ladder(data) if "18_summit" in line)
        self.assertIn("not measured", row)
        with self.assertRaises(runs.NotMeasured):
            block_measured(data, "18")

    def test_types_of_two_commits_are_refused(self):
        data, measured = runs.Data(), tsm.MEASURED
        self.assertIn("| double complex |", "\n".join(tsm.block_tsm_measured(data, "tsm/01")))
        self.addCleanup(setattr, tsm, "MEASURED", measured)
        other = self.changed(measured[1], lambda report: {**report, "commit": "0123456789ab"})
        tsm.MEASURED = [measured[0], other]
        with self.assertRaisesRegex(SystemExit, "another commit or device"):
            tsm.block_tsm_measured(data, "tsm/01")


if __name__ == "__main__":
    unittest.main()
