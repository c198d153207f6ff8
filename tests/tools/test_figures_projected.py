#!/usr/bin/env python3
"""Figures that are shown in a lecture can be read from the last row: how large their text is on a screen of 1280 x 720,
and how many curves they have."""

import re
import sys
import unittest
import xml.etree.ElementTree as ElementTree

sys.dont_write_bytecode = True

from tools.pages.figures.style import COLOURS, LANES, LEAST_PT, SCREEN
from tools.repository import FIGURES

SVG = "{http://www.w3.org/2000/svg}"
PATTERNS = (
    "map_*",
    "banks_*",
    "plan_18*",
    "fragments*",
    "ladder",
    "roofline",
    "prediction",
    "choice_1*",
    "tsm_latency",
)
SHOWN = sorted({path for pattern in PATTERNS for path in FIGURES.glob(f"{pattern}.svg")})
CURVES = 8


def styles(root):
    """What the figure's classes stand for."""
    sheet = "".join(element.text or "" for element in root.iter(f"{SVG}style"))
    return dict(re.findall(r"\.(s\d+)\{([^}]*)\}", sheet))


def style_of(element, classes):
    return f"{element.get('style') or ''};{classes.get(element.get('class'), '')}"


def sizes(root):
    """(pt, text) of each text, with the drawing as large as it fits."""
    width, height = map(float, root.get("viewBox").split()[2:])
    scale = min(SCREEN[0] / width, SCREEN[1] / height)
    classes = styles(root)
    for element in root.iter():
        if element.tag in (f"{SVG}text", f"{SVG}tspan"):
            found = re.search(r"font(?:-size)?:[^;]*?([\d.]+)px", style_of(element, classes))
            if found:
                yield float(found[1]) * scale * 0.75, "".join(element.itertext())


def curves(root):
    """The colours of lines with more than three corners: a roof or a leader has fewer, a curve has more."""
    classes = styles(root)
    for element in root.iter(f"{SVG}path"):
        style = style_of(element, classes)
        if re.search(r"fill:\s*none", style) and (element.get("d") or "").count("L") > 3:
            yield re.search(r"stroke:\s*(#\w+)", style)[1]


class Projected(unittest.TestCase):
    def test_there_is_something_to_look_at(self):
        self.assertGreater(len(SHOWN), 35)
        for pattern in PATTERNS:
            self.assertTrue(list(FIGURES.glob(f"{pattern}.svg")), pattern)

    def test_text_is_text_and_large_enough(self):
        for path in SHOWN:
            with self.subTest(path.name):
                found = list(sizes(ElementTree.parse(path).getroot()))
                self.assertGreater(len(found), 3, "its text is drawn, not written")
                size, text = min(found)
                self.assertGreaterEqual(size, LEAST_PT, text)

    def test_there_are_at_most_eight_curves_in_colours_that_all_can_tell_apart(self):
        for path in SHOWN:
            with self.subTest(path.name):
                found = list(curves(ElementTree.parse(path).getroot()))
                self.assertLessEqual(len(found), CURVES)
                self.assertEqual(set(found) - {*COLOURS, "#000000"}, set())
                panels = 2 if path.name == "tsm_tiles.svg" else 1
                self.assertEqual(len(set(found)) * panels, len(found), "two curves of one colour")
        self.assertEqual(len(list(curves(ElementTree.parse(FIGURES / "ladder.svg").getroot()))), CURVES)

    def test_a_curve_has_a_name_in_its_colour(self):
        """So none has to be looked up in a legend."""
        for name in ("ladder", "tsm_latency", "tsm_maps", "tsm_tiles", "tensor_swizzle", "quad_perm"):
            with self.subTest(name):
                root = ElementTree.parse(FIGURES / f"{name}.svg").getroot()
                classes = styles(root)
                texts = [element for element in root.iter(f"{SVG}text")]
                named = " ".join(style_of(element, classes) for element in texts)
                for colour in curves(root):
                    self.assertIn("#000000" if colour == "#000000" else f"fill: {colour}", f"{named} #000000")

    def test_the_test_sees_what_is_too_small(self):
        line = f'<path d="M0 0{"L1 1" * 9}" style="fill: none; stroke: #f00"/>'
        text = f'<text style="font: 10px sans-serif">x</text>{line}'
        root = ElementTree.fromstring(f'<svg xmlns="{SVG[1:-1]}" viewBox="0 0 1200 10">{text}</svg>')
        self.assertEqual([size for size, _ in sizes(root)], [7.5])
        self.assertEqual(list(curves(root)), ["#f00"])

    def test_cells_in_an_order_have_colours_in_an_order(self):
        """The last bank does not look like the first."""
        try:
            import matplotlib
        except ImportError:
            self.skipTest("needs matplotlib")
        light = [
            0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b, _ in map(matplotlib.colormaps[LANES], range(0, 256, 8))
        ]
        self.assertEqual(light, sorted(light))


if __name__ == "__main__":
    unittest.main()
