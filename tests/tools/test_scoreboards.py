#!/usr/bin/env python3
"""tools/measure/scoreboards.py on machine code made up here: no tools needed."""

import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
from tools import sass
from tools.measure import scoreboards


def encoded(cycles, write=7, read=7, waits=()):
    return (cycles | 1 << 4 | write << 5 | read << 8 | sum(1 << i for i in waits) << 11) << 41


def disassembly(*instructions):
    """As nvdisasm prints it: labels, and instructions with their control bits."""
    lines = ['\t.section\t.text.kernel,"ax",@progbits']
    for at, instruction in enumerate(instructions):
        if isinstance(instruction, str):
            lines.append(f"{instruction}:")
        else:
            text, upper = instruction
            lines += [
                f"        /*{16 * at:04x}*/                   {text} ;   /* 0x{1:016x} */",
                f"                                          /* 0x{upper:016x} */",
            ]
    return "\n".join(lines)


LOOP = disassembly(
    ("HMMA.16816.F32 R4, R8, R2, R4", encoded(2)),  # before the loop: not counted
    ".L_x_1",
    ("LDSM.16.M88.4 R8, [R0]", encoded(4, write=3, read=5)),
    ("IADD3 R20, R20, 0x1, RZ", encoded(1)),
    ("HMMA.16816.F32 R4, R12, R2, R4", encoded(6)),
    ("HMMA.16816.F32 R4, R8, R2, R4", encoded(6, waits=(3,))),
    ("@P0 BRA `(.L_x_1)", encoded(5, waits=(0, 5))),
    (".L_x_2"),
    ("BRA `(.L_x_2)", encoded(0)),
)


class Scoreboards(unittest.TestCase):
    def test_control(self):
        self.assertEqual(scoreboards.control(encoded(4, write=3, read=5)), (4, 3, 5, []))
        self.assertEqual(scoreboards.control(encoded(15, waits=(0, 5))), (15, None, None, [0, 5]))

    def test_loop(self):
        ((name, (instructions, labels)),) = sass.parse(LOOP).items()
        self.assertEqual((name, len(instructions)), ("kernel", 7))
        loop = sass.hot_loop(instructions, labels)
        self.assertEqual(loop, (1, 6))
        shown = [line.split() for line in scoreboards.show(instructions, loop, False)[1:]]
        self.assertEqual(
            shown,
            [
                ["0", "4", "3", "5", "LDSM.16.M88.4", "R8,", "[R0]"],
                ["1", "6", "-", "-", "3", "HMMA.16816.F32", "R4,", "R8,", "R2,", "R4"],
                ["2", "5", "-", "-", "0", "5", "@P0", "BRA", "`(.L_x_1)"],
            ],
        )
        self.assertEqual(len(scoreboards.show(instructions, loop, True)), 6)

    def test_a_loop_for_the_last_rows_inside(self):
        """It multiplies, too, but little beside the loop around it; as much as an eighth of it would be the hot one."""
        rest = ((".L_x_2"), ("DFMA R4, R8, R2, R4", encoded(4)), ("BRA `(.L_x_2)", encoded(5)))
        for product, loop in (("DMMA.1684 R4, R8, R2, R4", (0, 4)), ("DFMA R4, R8, R2, R4", (1, 3))):
            code = disassembly(".L_x_1", (product, encoded(4)), *rest, ("@P0 BRA `(.L_x_1)", encoded(5)))
            ((instructions, labels),) = sass.parse(code).values()
            self.assertEqual(sass.hot_loop(instructions, labels), loop)

    def test_no_multiplying_loop(self):
        ((instructions, labels),) = sass.parse(disassembly(".L_x_1", ("BRA `(.L_x_1)", encoded(0)))).values()
        self.assertIsNone(sass.hot_loop(instructions, labels))

    def test_no_such_file(self):
        done = subprocess.run(
            [sys.executable, "-B", "-m", "tools.measure", "scoreboards", "nowhere.cu"], text=True, capture_output=True
        )
        self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", "error: no file nowhere.cu\n"))


if __name__ == "__main__":
    unittest.main()
