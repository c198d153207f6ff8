"""Slides from the pages of stages, in one HTML file that needs no network.

usage: ./lab slides STAGES [--out FILE]

STAGES   01-05, or 01,04,09b, or tsm/01-03, a whole family (sgemm, tsm, tensorcore), or one of the paths of
         docs/README.md: lecture (six rungs) or course (twelve)
--out    the file, slides.html if none is named; - for standard output

In the browser: arrow keys or space turn the slides, Home and End go to the first and the last, a number and Enter to
that one, o shows all, f fills the screen. On a phone: swipe. To print, or to make a PDF, print the page: one slide a
sheet, answers shown.
"""

import contextlib
import os
import pathlib
import stat
import sys

from tools.command_line import fail, parser_of, run
from tools.pages.data import Data
from tools.slides.choice import stages_of
from tools.slides.deck import page_of


def write(path: pathlib.Path, text: str) -> None:
    """The whole file or none of it."""
    if path.is_dir():
        fail(f"can't write {path}: it is a folder")
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        if path.exists() and not stat.S_ISREG(path.stat().st_mode):  # a device or a pipe
            path.write_text(text)
            return
        beside.write_text(text)
        os.replace(beside, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            beside.unlink()
        fail(f"can't write {path}: {error.strerror}")


def main() -> None:
    parser = parser_of("./lab slides", __doc__)
    parser.add_argument("stages", metavar="STAGES")
    parser.add_argument("--out", default="slides.html", metavar="FILE")
    options = parser.parse_args()
    text = page_of(Data(), stages_of(options.stages), options.stages)
    if options.out == "-":
        sys.stdout.write(text)
        return
    write(pathlib.Path(options.out), text)
    print(f"wrote {options.out}: {text.count('<section ')} slides", file=sys.stderr)


if __name__ == "__main__":
    run(main)
