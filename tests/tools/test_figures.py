#!/usr/bin/env python3
"""What is done to a figure's SVG before it is written."""

import sys
import unittest

sys.dont_write_bytecode = True

from tools.pages.figures.svg import short_numbers, short_path, shortened

# As matplotlib writes.
FIGURE = """<?xml version="1.0" encoding="utf-8" standalone="no"?>
<svg xmlns:xlink="http://www.w3.org/1999/xlink" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10.123456 10">
 <metadata>
  who and when
 </metadata>
 <defs>
  <style type="text/css">*{stroke-linecap: butt}</style>
 </defs>
 <g id="figure_1">
  <path id="m1" d="M 0 10.123456
L 3.5 -20.999999
z
" style="fill: #ffffff"/>
  <g clip-path="url(#p2)">
   <use xlink:href="#m1" x="1.23456" style="fill: #ff0000"/>
  </g>
  <g id="text_1">
   <!-- 12.3456 -->
   <text style="font: 'A'" x="1" transform="rotate(-0 1 2)">0.0625 of 12.3456  m</text>
  </g>
  <g id="text_2">
   <text style="font: 'A'" transform="rotate(-90 1.23456 2)"> 2 <tspan>3</tspan></text>
  </g>
 </g>
</svg>
"""
SHORT = """<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 10.12 10">
<defs>
<style type="text/css">*{stroke-linecap: butt}
.s0{font: 'A'}</style>
</defs>
<path id="i0" d="M0 10.12l3.5-31.12z" style="fill: #ffffff"/>
<g clip-path="url(#p2)">
<use xlink:href="#i0" x="1.23" style="fill: #ff0000"/>
</g>
<text x="1" class="s0">0.0625 of 12.3456  m</text>
<text transform="rotate(-90 1.23 2)" class="s0"> 2 <tspan>3</tspan></text>
</svg>
"""


class Shortened(unittest.TestCase):
    def test_a_figure(self):
        self.assertEqual(shortened(FIGURE), SHORT)

    def test_once_is_enough(self):
        self.assertEqual(shortened(SHORT), SHORT)

    def test_coordinates_lose_digits_that_nobody_sees(self):
        self.assertEqual(short_path("M 10.123456 -20.999999\nL 3.5 4\nL 3 4\nz\n"), "M10.12-21l-6.62 25h-.5z")
        self.assertEqual(short_numbers("scale(0.015625)"), "scale(0.0156)")

    def test_names_and_colours_stay(self):
        for same in ("#m1.2345a", "fill: #0.123"):
            self.assertEqual(short_numbers(same), same)


if __name__ == "__main__":
    unittest.main()
