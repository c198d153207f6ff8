#!/usr/bin/env python3
"""tools/measure/bounds.py on machine code made up here, and what the pages predict from it. Of tools only c++filt."""

import contextlib
import io
import sys
import unittest

sys.dont_write_bytecode = True
from tools.measure.bounds import Counted, flops_of, per_flop, plain_name, renewed
from tools.pages.records.bounds import ISSUE, Prediction, order, predicted, tied
from tools.pages.reference import LADDERS, in_flight
from tools.repository import CPU, read_json
from tools.stats import rank_correlation


def kernel(*lines):
    """Instructions, and where labels (".L_x_1") are."""
    instructions, labels = [], {}
    for line in lines:
        if line.startswith(".L"):
            labels[line] = len(instructions)
        else:
            instructions.append([line, 0])
    return instructions, labels


INNER = [
    "LDS.128 R8, [R0]",
    "FFMA R1, R2, R3, R1",
    "FFMA R4, R2, R5, R4",
    "IADD3 R0, R0, 0x10, RZ",
    "@P0 BRA `(.L_x_1)",
]


class Instructions(unittest.TestCase):
    def test_flops_of_a_warp(self):
        for opcode, flops in (
            ("FFMA", 64),
            ("DFMA.RM", 64),
            ("HMMA.16816.F32", 4096),
            ("HMMA.1684.F32.TF32", 1024),
            ("DMMA.8x8x4", 512),
            ("IADD3", 0),
        ):
            self.assertEqual(flops_of(opcode), flops, opcode)

    def test_of_the_inner_loop_alone(self):
        instructions, loads = per_flop(kernel("MOV R1, RZ", ".L_x_1", *INNER, "EXIT"), None)
        self.assertAlmostEqual(instructions * 64, 5 / 2)
        self.assertAlmostEqual(loads * 64, 1 / 2)

    def test_the_loop_around_counts_as_often_as_its_barriers(self):
        code = kernel(
            ".L_x_0", "STS [R9], R8", "BAR.SYNC.DEFER_BLOCKING 0x0", ".L_x_1", *INNER, "@P1 BRA `(.L_x_0)", "EXIT"
        )
        # Eight turns of the inner loop, two FMAs each, between two barriers: 3 + 8 * 5 instructions for 16 FMAs.
        instructions, loads = per_flop(code, Counted(16 * 64, 0))
        self.assertAlmostEqual(instructions * 64, 43 / 16)
        self.assertAlmostEqual(loads * 64, 8 / 16)

    def test_a_loop_beside_it_runs_as_often_as_its_loads_want(self):
        filling = [".L_x_2", "LDG.E R8, [R6]", "STS [R9], R8", "@P2 BRA `(.L_x_2)"]
        outer = [".L_x_0", *filling, "BAR.SYNC.DEFER_BLOCKING 0x0", ".L_x_1", *INNER, "@P1 BRA `(.L_x_0)", "EXIT"]
        # Four turns of three instructions, and 2 + 8 * 5.
        instructions, _ = per_flop(kernel(*outer), Counted(16 * 64, 4))
        self.assertAlmostEqual(instructions * 64, (4 * 3 + 42) / 16)
        # All loads stand outside of it: it is for ragged edges.
        instructions, _ = per_flop(kernel(outer[0], "LDG.E R8, [R6]", *outer[1:]), Counted(16 * 64, 1))
        self.assertAlmostEqual(instructions * 64, 43 / 16)

    def test_what_is_never_executed_does_not_count(self):
        instructions, _ = per_flop(kernel(".L_x_1", "@!PT LDS RZ, [RZ]", *INNER, "EXIT"), None)
        self.assertAlmostEqual(instructions * 64, 5 / 2)

    def test_no_loop_that_multiplies(self):
        self.assertIsNone(per_flop(kernel(".L_x_1", "IADD3 R0, R0, 0x1, RZ", "@P0 BRA `(.L_x_1)", "EXIT"), None))

    def test_names(self):
        self.assertEqual(plain_name("_ZN12_GLOBAL__N_15sgemmILi4EEEvPKf"), "sgemm<4>")


class Records(unittest.TestCase):
    KNOWN = {"shape": "64", "compiler": "g++", "commit": "0123", "stages": [{"stage": "s/01"}, {"stage": "s/02"}]}

    def test_one_stage_anew(self):
        found = self.KNOWN | {"commit": "4567", "stages": [{"stage": "s/02", "instructions": 2}]}
        stages = [{"stage": "s/01"}, {"stage": "s/02", "instructions": 2, "commit": "4567"}]
        self.assertEqual(renewed(self.KNOWN, found), self.KNOWN | {"stages": stages})

    def test_a_new_stage(self):
        found = self.KNOWN | {"stages": [{"stage": "s/01b"}]}
        stages = [{"stage": "s/01"}, {"stage": "s/01b", "commit": "0123"}, {"stage": "s/02"}]
        self.assertEqual(renewed(self.KNOWN, found), self.KNOWN | {"stages": stages})

    def test_what_does_not_fit_the_record(self):
        for other in ({"shape": "128"}, {"compiler": "clang"}):
            with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()):
                renewed(self.KNOWN, self.KNOWN | other)


class Predictions(unittest.TestCase):
    STAGE = {
        "instructions": 1.2,
        "cycles": {"FP32 cores": 0.25, "shared memory": 0.2, "L1 tags": 0.01},
        "parts_ms": {"device memory": 0.1, "FP32 cores": 2.0, "shared memory": 1.6, "L1 tags": 0.08},
    }

    def test_banks_and_issue_slots_take_turns_at_worst(self):
        found = predicted(self.STAGE)
        self.assertAlmostEqual(found.least_ms, 2.4)  # 1.2 / 4 of a cycle, where 0.2 take 1.6 ms
        self.assertAlmostEqual(found.most_ms, 4.0)
        self.assertEqual(found.by, ISSUE)

    def test_memory_hides_the_rest(self):
        parts = self.STAGE["parts_ms"] | {"device memory": 9.0}
        found = predicted(self.STAGE | {"parts_ms": parts})
        self.assertEqual((found.least_ms, found.most_ms, found.by), (9.0, 9.0, "device memory"))

    def test_stages_are_ordered_by_the_time_halfway(self):
        self.assertEqual(Prediction(1.0, 4.0, "latency").middle_ms(), 2.5)

    def test_more_bytes_in_flight_load_faster_up_to_the_last_row(self):
        for work in ("read", "scale"):
            points = in_flight(work)
            self.assertGreaterEqual(len(points), 5)
            for before, after in zip(points, points[1:]):
                self.assertTrue(before[0] < after[0] and before[1] < after[1], (before, after))

    def test_the_order_of_each_ladder_is_nearly_the_measured_one(self):
        for name, ladder in read_json(CPU / "bounds.json")["ladders"].items():
            self.assertGreaterEqual(order(LADDERS[name], ladder["stages"]).correlation(), 0.9, name)
        sgemm = read_json(CPU / "bounds.json")["ladders"]["sgemm"]["stages"]
        self.assertGreaterEqual(order(LADDERS["sgemm"], sgemm, "sgemm/09b").correlation(), 0.7)

    def test_times_within_two_percent_are_one(self):
        self.assertEqual(tied([1.0, 2.0, 1.015, 2.05, 1.03]), [1.0, 2.0, 1.0, 2.05, 1.03])
        self.assertEqual(rank_correlation(tied([1.0, 1.01, 2.0, 3.0]), tied([5.0, 5.01, 6.0, 7.0])), 1.0)
        self.assertIsNone(rank_correlation(tied([1.0, 1.01, 1.0]), [1.0, 2.0, 3.0]))


if __name__ == "__main__":
    unittest.main()
