"""Slides from the pages of stages, in one HTML file that needs no network.

usage: ./lab slides STAGES [--out FILE]

STAGES   01-05, or 01,04,09b, or tsm/01-03, a whole family (sgemm, tsm, tensorcore), or one of the paths of
         docs/README.md: lecture (six rungs) or course (twelve)
--out    the file, slides.html if none is named; - for standard output

In the browser: arrow keys or space turn the slides, Home and End go to the first and the last, a number and Enter to
that one, o shows all, f fills the screen. On a phone: swipe. To print, or to make a PDF, print the page: one slide a
sheet, answers shown.
"""

import sys

from tools.command_line import parser_of, run, write_whole
from tools.pages.data import Data
from tools.slides.choice import stages_of
from tools.slides.deck import page_of


def main() -> None:
    parser = parser_of("./lab slides", __doc__)
    parser.add_argument("stages", metavar="STAGES")
    parser.add_argument("--out", default="slides.html", metavar="FILE")
    options = parser.parse_args()
    text = page_of(Data(), stages_of(options.stages), options.stages)
    write_whole(options.out, text)
    if options.out != "-":
        print(f"wrote {options.out}: {text.count('<section ')} slides", file=sys.stderr)


if __name__ == "__main__":
    run(main)
