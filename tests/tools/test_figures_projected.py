#!/usr/bin/env python3
"""All figures can be shown in a lecture, and read from the last row: how large their text is on a screen of 1280 x 720,
how many curves they have, and that curves are named where they end."""

import pathlib
import re
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

sys.dont_write_bytecode = True

from tools.pages import figures
from tools.pages.figures.style import COLOURS, LANES, LEAST_PT, SCREEN, Unable, plot_style, save
from tools.pages.figures.svg import parts
from tools.repository import FIGURES

SVG = "{http://www.w3.org/2000/svg}"


def ungrouped(root):
    """With what groups have for their elements at the elements."""
    for group in root.iter(f"{SVG}g"):
        for child in group:
            for name in ("class", "clip-path"):
                if name in group.attrib:
                    child.attrib.setdefault(name, group.attrib[name])
    return root


# All that pages show.
SHOWN = {path.name: ungrouped(ElementTree.parse(path).getroot()) for path in sorted(FIGURES.glob("*.svg"))}
CURVES = 8
BLACK = "#000000"


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
    """(panel, colour) of lines with more than three corners: a roof or a leader has fewer, a curve has more, an
    outline ends where it began. White is the edge of another line, or a line on cells."""
    classes = styles(root)
    for element in root.iter(f"{SVG}path"):
        style = style_of(element, classes)
        corners = [kind for kind, _ in parts(element.get("d") or "")]
        if re.search(r"fill:\s*none", style) and corners.count("L") > 3 and corners[-1] != "Z":
            colour = re.search(r"stroke:\s*(#\w+)", style)[1]
            if colour != "#ffffff":
                yield element.get("clip-path"), colour


class Projected(unittest.TestCase):
    def test_there_is_something_to_look_at(self):
        self.assertGreater(len(SHOWN), 70)

    def test_text_is_text_and_large_enough(self):
        for name, root in SHOWN.items():
            with self.subTest(name):
                found = list(sizes(root))
                self.assertGreater(len(found), 3, "its text is drawn, not written")
                size, text = min(found)
                self.assertGreaterEqual(size, LEAST_PT, text)

    def test_there_are_at_most_eight_curves_in_colours_that_all_can_tell_apart(self):
        most = 0
        for name, root in SHOWN.items():
            with self.subTest(name):
                found = list(curves(root))
                self.assertLessEqual(len(found), CURVES)
                self.assertEqual({colour for _, colour in found} - {*COLOURS, BLACK}, set())
                self.assertEqual(len(set(found)), len(found), "two curves of one colour in one panel")
                most = max(most, len(found))
        self.assertEqual(most, CURVES)

    def test_a_curve_has_a_name_in_its_colour(self):
        """So none has to be looked up in a legend."""
        tested = 0
        for name, root in SHOWN.items():
            with self.subTest(name):
                classes, found = styles(root), {colour for _, colour in curves(root)}
                texts = "".join(style_of(element, classes) for element in root.iter(f"{SVG}text"))
                if len(found) > 1:
                    tested += 1
                    for colour in found - {BLACK}:  # as text is
                        self.assertIn(f"fill: {colour}", texts)
        self.assertGreater(tested, 20)

    def test_nothing_has_a_legend(self):
        for path in sorted(pathlib.Path(figures.__file__).parent.glob("*.py")):
            self.assertNotRegex(path.read_text(), r"\.legend\(", path.name)
        try:
            plt = plot_style()
        except Unable as reason:
            self.skipTest(str(reason))
        fig, ax = plt.subplots()
        ax.plot([1, 2], label="x")
        ax.legend()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "x.svg")
            self.assertRaisesRegex(ValueError, "a legend", save, plt, fig, path)
            self.assertFalse(path.exists())

    def test_the_test_sees_what_is_too_small(self):
        line = f'<path d="M0 0{"L1 1" * 9}" style="fill: none; stroke: #f00"/>'
        text = f'<text style="font: 10px sans-serif">x</text>{line}'
        root = ElementTree.fromstring(f'<svg xmlns="{SVG[1:-1]}" viewBox="0 0 1200 10">{text}</svg>')
        self.assertEqual([size for size, _ in sizes(root)], [7.5])
        self.assertEqual(list(curves(root)), [(None, "#f00")])

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
