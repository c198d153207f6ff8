"""What `./lab measure strides` makes of times (tools/measure/strides.py)."""

import json
import pathlib
import sys
import tempfile
import types
import unittest

sys.dont_write_bytecode = True
from tools.measure import strides

CEILINGS = {"read_gbs": 4000, "scale_gbs": 2000, "tensor_gflops": 50000, "launch_ms": 0.01}
LINE = {"op": "tsmm", "type": "d", "m": 3, "n": 7, "lda": 3, "ldb": 8, "off_a": 0, "off_b": 1, "k": 1000, "right": True}
TIMES = {"ms": 1.0, "cublas_ms": 1.5, "touch_ms": 0.9, "fine_ms": 0.75, "fine_cublas_ms": 1.2, "fine_touch_ms": 0.9}
TIMES |= {"sector_gb": 1.0, "gb": 0.8, "gflop": 10.0}


class Fake(strides.Strides):
    """In place of a library on a GPU; a product takes as many ms as A has columns."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def tell(self, what: str, cases: str, *words: object) -> str:
        if what != "products":
            return ""
        told = []
        for case in cases.splitlines():
            self.asked.append(case)
            values = case.split()
            line = dict(zip(strides.NAMES, values[:2] + [int(value) for value in values[2:]], strict=True))
            told.append(json.dumps(line | TIMES | {"right": True, "ms": line["m"]}) + "\n")
        return "".join(told)


class Strides(unittest.TestCase):
    def test_share_of_the_roof(self) -> None:
        its = strides.judged(LINE | TIMES, CEILINGS)
        self.assertEqual([its[name] for name in strides.JUDGED], [0.51, 0.9, 1.5, 0.68, 1.2, 1.6])
        reads = strides.judged(LINE | TIMES | {"op": "tsmttsm"}, CEILINGS)
        self.assertEqual(reads["share"], 0.26)
        flops = strides.judged(LINE | TIMES | {"gflop": 45.0}, CEILINGS)
        self.assertEqual(flops["share"], 0.91)

    def test_cases_are_the_same_each_time(self) -> None:
        cases = strides.cases_of(8, 1)
        self.assertEqual(cases, strides.cases_of(8, 1))
        self.assertNotEqual(cases, strides.cases_of(8, 2))
        lines = [dict(zip(strides.NAMES, case.split(), strict=True)) for case in cases]
        for line in lines:
            self.assertTrue(0 <= int(line["lda"]) - int(line["m"]) <= 64 and 1 <= int(line["n"]) <= 64)
        self.assertEqual({(line["op"], line["type"]) for line in lines}, set(strides.OPERATIONS))

    def test_goes_on_where_it_was_interrupted(self) -> None:
        cases = strides.cases_of(20, 3)
        with tempfile.TemporaryDirectory() as folder:
            raw = pathlib.Path(folder, "strides.lines")
            first, second = Fake(), Fake()
            there = first.tell("products", "\n".join(cases[:7]))
            raw.write_text(there)
            options = types.SimpleNamespace(seconds=1e9, mib=1)
            lines = strides.measure(second, cases, raw, options, 0)
            self.assertEqual(sorted(second.asked), sorted(cases[7:]))
            self.assertEqual(sorted(map(strides.key, lines)), sorted(cases))
            options.seconds = -1
            self.assertEqual(len(strides.measure(Fake(), cases, raw, options, 0)), len(cases))

    def test_the_slowest_are_visited_again(self) -> None:
        cases = strides.cases_of(20, 3)
        lines = [json.loads(line) for line in Fake().tell("products", "\n".join(cases)).splitlines()]
        slow = strides.slowest_tenth(lines, CEILINGS)
        padded = [line for line in lines if line["op"] == "gram" and line["type"] == "z" and strides.is_padded(line)]
        worst = max(padded, key=lambda line: line["m"] / line["sector_gb"])
        self.assertIn(strides.key(worst), slow)
        self.assertLess(len(slow), len(lines) / 9)
        faster = worst | {"ms": 0.5, "cublas_ms": 2.5}
        self.assertEqual(strides.slowest_tenth([*lines, faster], CEILINGS), slow)
        merged = strides.least_times([*lines, faster])
        self.assertEqual(len(merged), len(lines))
        self.assertIn(worst | {"ms": 0.5}, merged)
        self.assertIn(worst | {"right": False}, strides.least_times([*lines, worst | {"right": False}]))

    def test_record_has_the_worst(self) -> None:
        cases = strides.cases_of(20, 4)
        lines = [json.loads(line) for line in Fake().tell("products", "\n".join(cases)).splitlines()]
        record = strides.record_of(lines, CEILINGS, {})
        self.assertEqual(sum(row["cases"] for row in record["summary"]), len(cases))
        widest = max(line["m"] for line in lines if line["op"] == "tsmttsm")
        self.assertEqual(record["worst"][0]["m"], widest)
        self.assertEqual(len(record["worst"]), strides.WORST)


if __name__ == "__main__":
    unittest.main()
