"""What `./lab measure lists` makes of times (tools/measure/lists.py), and the page of it."""

import json
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
from tools.measure import library, lists
from tools.pages.blocks import lists as page

CEILINGS = {"read_gbs": 4000, "read_and_write_gbs": 2000}
TIMES = {"ms": 6.0, "pairs_ms": 15.0, "whole_ms": 6.6, "cublas_whole_ms": 9.0}
LINE = {"op": "gram", "type": "z", "n": 8, "gap": 0, "k": 31_250_000, "difference": 1e-15, **TIMES}  # 4 GB a block


class MeasureLists(unittest.TestCase):
    def test_shares(self) -> None:
        its = lists.judged(LINE, CEILINGS)  # three blocks of 1 ms
        self.assertEqual((its["share"], its["right"]), (0.5, True))
        self.assertEqual(lists.judged(LINE | {"type": "d"}, CEILINGS)["share"], 0.25)
        self.assertEqual(lists.judged(LINE | {"op": "tsmttsm"}, CEILINGS)["share"], 1)
        self.assertEqual(lists.judged(LINE | {"op": "tsmm", "ms": 16.0}, CEILINGS)["share"], 0.5)  # four of 2 ms

    def test_wrong(self) -> None:
        for difference in (1e-11, float("nan")):
            its = lists.judged(LINE | {"difference": difference}, CEILINGS)
            self.assertFalse(its["right"], difference)
            with tempfile.TemporaryDirectory() as folder, self.assertRaises(SystemExit), mock.patch("builtins.print"):
                library.write_cases(pathlib.Path(folder) / "lists.json", {"device": "GPU"}, [its])

    def test_record(self) -> None:
        with tempfile.TemporaryDirectory() as folder, mock.patch("builtins.print") as told:
            out = pathlib.Path(folder) / "lists.json"
            library.write_cases(out, {"device": "GPU"}, [lists.judged(LINE, CEILINGS)])
            self.assertEqual(json.loads(out.read_text())["cases"][0]["share"], 0.5)
        told.assert_called_once_with("1 cases, 0 wrong")

    def test_run(self) -> None:
        with tempfile.TemporaryDirectory() as folder, mock.patch("builtins.print"):
            told, out = pathlib.Path(folder) / "told", pathlib.Path(folder) / "lists.json"
            told.write_text(f"#!/bin/sh\necho '{json.dumps(CEILINGS)}'\necho '{json.dumps(LINE)}'\n")
            told.chmod(0o755)
            built = mock.Mock(program=told)
            of_card = mock.patch.object(library, "card", return_value=("GPU", "1"))
            with of_card, mock.patch.object(lists, "Lists", return_value=built):
                lists.main(["--out", str(out), "--mib", "64"])
            found = json.loads(out.read_text())
        self.assertEqual(
            (found["device"], found["command"], found["ceilings"]), ("GPU", "measure lists --mib 64", CEILINGS)
        )
        self.assertEqual(found["cases"], [lists.judged(LINE, CEILINGS)])

    def test_page(self) -> None:
        cases = [LINE | {"op": "tsmm"}, LINE, LINE | {"gap": 1}, LINE | {"n": 7}]
        head = {"device": "GPU", "driver": "1", "commit": "c", "command": "measure lists", "ceilings": CEILINGS}
        with mock.patch.object(
            page,
            "read_json_if_there",
            return_value=head | {"cases": [lists.judged(each, CEILINGS) for each in cases]},
        ):
            rows = page.block_lists(None)
        self.assertEqual(rows[2], "| [X R P]ᴴ [X R P] | double complex | 8 | 50 % | 2.50 | 1.10 | 1.50 |")
        self.assertEqual(sum("double complex" in row for row in rows), 2)


if __name__ == "__main__":
    unittest.main()
