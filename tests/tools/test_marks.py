#!/usr/bin/env python3
"""The marks in pages: each is filled, or the program says which one can't be."""

import sys
import unittest
from unittest import mock

sys.dont_write_bytecode = True
from tools.pages import marks


def shown(data, *arguments):
    return [" ".join(arguments)]


def value(data, *arguments):
    return " ".join(arguments)


class Marks(unittest.TestCase):
    def setUp(self):
        for functions, function in ((marks.BLOCKS, shown), (marks.VALUES, value)):
            patch = mock.patch.dict(functions, {"shown": function})
            patch.start()
            self.addCleanup(patch.stop)

    def fill(self, text):
        return marks.fill(text, mock.Mock(missing=[]), "page.md")

    def test_a_phrase_may_hold_any_code(self):
        for phrase in ("p->a[", "a >> 2", "i >= 0", "<<<grid, block>>>", "--i", "-> int"):
            with self.subTest(phrase):
                block = f"A\n\n<!-- generated: shown {phrase} -->\n{{}}\n<!-- end generated -->\n\nB\n"
                self.assertEqual(self.fill(block.format("old")), block.format(phrase))
                text = f"It is <!-- = shown {phrase} -->{{}}<!-- / --> words.\n"
                self.assertEqual(self.fill(text.format("old")), text.format(phrase))

    def test_marks_are_filled_one_by_one(self):
        text = "<!-- = shown 1 -->x<!-- / --> and <!-- = shown 2 -->x<!-- / -->\n"
        self.assertEqual(self.fill(text), "<!-- = shown 1 -->1<!-- / --> and <!-- = shown 2 -->2<!-- / -->\n")

    def test_no_mark_is_passed_over(self):
        end = "<!-- end generated -->"
        wrong = {
            "another block inside": f"<!-- generated: shown 1 -->\n<!-- generated: shown 2 -->\nold\n{end}\n",
            "no end": "Text.\n\n<!-- generated: shown 1 -->\nold\n",
            "no begin": f"Text.\n\nold\n{end}\n",
            "an arrow that ends the comment": f"<!-- generated: shown p-->a -->\nold\n{end}\n",
            "text behind it": f"<!-- generated: shown 1 --> text\nold\n{end}\n",
            "no blank": f"<!-- generated:shown 1-->\nold\n{end}\n",
            "a value without an end": "It is <!-- = shown 1 -->old.\n",
            "a value over two lines": "It is <!-- = shown 1 -->old\nwords<!-- / -->.\n",
            "an end alone": "It is old<!-- / -->.\n",
        }
        for what, text in wrong.items():
            with self.subTest(what):
                with self.assertRaises(SystemExit) as told:
                    self.fill(text)
                self.assertRegex(str(told.exception), "^error: page.md: a mark .*<!-- ")


if __name__ == "__main__":
    unittest.main()
