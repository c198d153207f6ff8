#!/usr/bin/env python3
"""What check must say of planted mistakes names lines of the tree: whether they are still there. test_mistakes.py says
so too, but takes minutes, and runs in the full tier."""

import json
import re
import unittest

from tools.repository import ROOT

FOLDER = ROOT / "tests/fixtures/mistakes"


class ExpectedLines(unittest.TestCase):
    def test_each_is_where_the_text_says(self):
        seen = 0
        for mistake in json.loads((FOLDER / "mistakes.json").read_text()):
            stage = mistake.get("stage")
            sources = {}
            text = (FOLDER / "expected" / f"{mistake['name'].replace(' ', '_')}.txt").read_text()
            for name, number, code in re.findall(r"^ *([\w/]+\.cuh?):(\d+)  (\S.*)$", text, re.M):
                if name not in sources:
                    file = ROOT / name if name != "stages/90_mine.cu" else FOLDER / "90_mine.cu"
                    sources[name] = file.read_text()
                    if name == (f"{stage}.cu" if stage else "stages/90_mine.cu"):
                        for before, after in mistake["replace"]:
                            sources[name] = sources[name].replace(before, after)
                lines = sources[name].splitlines()
                with self.subTest(mistake=mistake["name"], line=f"{name}:{number}"):
                    self.assertLessEqual(int(number), len(lines))
                    self.assertEqual(lines[int(number) - 1].strip(), code.strip())
                seen += 1
        self.assertGreater(seen, 20)


if __name__ == "__main__":
    unittest.main()
