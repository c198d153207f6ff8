"""What `./lab measure qr` makes of times (tools/measure/qr.py), and the page of it."""

import sys
import unittest
from unittest import mock

sys.dont_write_bytecode = True
from tools.measure import qr
from tools.pages.blocks import qr as page

CEILINGS = {"read_gbs": 4000, "read_and_write_gbs": 2000}
GOOD = {"method": 2, "deviation": 1e-15, "residual": 1e-15, "ms": 4.0}
LINE = {"type": "z", "n": 10, "ld": 10, "k": 25_000_000, "of": [GOOD], "few_rows_us": 50.2, "cusolver_ms": None}


class MeasureQr(unittest.TestCase):
    def test_shares(self) -> None:
        its = qr.judged(LINE, CEILINGS)  # 4 GB: 1 ms to read, 4 ms to read and write
        self.assertEqual((its["share"], its["share_unfused"], its["right"]), (1.5, 2.25, True))
        self.assertEqual(qr.judged(LINE | {"type": "d"}, CEILINGS)["share"], 0.75)

    def test_wrong(self) -> None:
        for change in ({"method": 3}, {"deviation": 1e-12}, {"residual": float("nan")}):
            self.assertFalse(qr.judged(LINE | {"of": [GOOD | change]}, CEILINGS)["right"], change)
        later = {"of": [GOOD, GOOD | {"method": 3}, GOOD | {"method": 4, "residual": 1.0}]}
        self.assertFalse(qr.judged(LINE | later, CEILINGS)["right"])

    def test_page(self) -> None:
        slow = LINE | {"of": [GOOD, GOOD | {"ms": 6.0}, GOOD | {"ms": 400.0, "residual": 3e-14}], "cusolver_ms": 80.0}
        cases = [qr.judged(line, CEILINGS) for line in (LINE, slow, LINE | {"ld": 11})]
        head = {"device": "GPU", "driver": "1", "commit": "c", "command": "measure qr", "ceilings": CEILINGS}
        with mock.patch.object(page, "read_json_if_there", return_value=head | {"cases": cases}):
            rows = page.block_qr(None)
        self.assertIn("| double complex | 10 | 150 % | 225 % | 1.5 | 100.0 | 20.0 | 1e-15 | 3e-14 | 50 |", rows)
        self.assertEqual(sum("double complex" in row for row in rows), 2)  # not that of padded rows


if __name__ == "__main__":
    unittest.main()
