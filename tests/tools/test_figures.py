#!/usr/bin/env python3
"""What is done to a figure's SVG before it is written."""

import sys
import unittest

sys.dont_write_bytecode = True

from tools.pages.figures.style import shortened


class Shortened(unittest.TestCase):
    def test_coordinates_lose_digits_that_nobody_sees(self):
        self.assertEqual(shortened('<path d="M 10.123456 -20.999999 L 3.5 4"/>'), '<path d="M 10.12 -21 L 3.5 4"/>')
        self.assertEqual(shortened('<g transform="scale(0.015625)"/>'), '<g transform="scale(0.0156)"/>')

    def test_text_names_and_colours_stay(self):
        for same in ("<text>0.0625 of 12.3456</text>", '<use href="#m1.2345a"/>', '<path style="fill: #0.123"/>'):
            self.assertEqual(shortened(same), same)


if __name__ == "__main__":
    unittest.main()
