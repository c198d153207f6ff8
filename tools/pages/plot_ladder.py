"""Draws what `ladder --json` has measured: speed against size, and the roofline with every stage.

usage: python3 -m tools.pages.plot_ladder RUN.json... [--ladder FILE]... [--roofline FILE]...
                                          [--counts FILE] [--counters FILE]
       python3 -m tools.pages.plot_ladder --can-draw FILE...
           exit status 2, and what to do, if such files can't be drawn here

FILE ends in .svg or .png. Several runs are drawn together. The roofline needs flop per byte: --counts is what
`./lab measure counts` has written on any machine, --counters what `./lab measure counters` has on a GPU.
"""

import pathlib

from tools.command_line import fail, parser_of
from tools.pages.figures.ladder import draw_ladder
from tools.pages.figures.roofline import draw_roofline
from tools.pages.figures.style import Unable, plot_style
from tools.repository import Json, read_json


def check_path(path: str) -> None:
    if not str(path).endswith((".svg", ".png")):
        raise Unable(f"a plot is a .svg or a .png file, not '{path}'")
    folder = pathlib.Path(path).resolve().parent
    if not folder.is_dir():
        raise Unable(f"can't write {path}: no folder {folder}")


def read(path: str) -> Json:
    try:
        return read_json(pathlib.Path(path))
    except (OSError, ValueError) as error:
        raise Unable(f"can't read {path}: {str(error).splitlines()[0]}") from None


def main() -> None:
    parser = parser_of("python3 -m tools.pages.plot_ladder", __doc__)
    parser.add_argument("runs", nargs="*", metavar="RUN.json")
    parser.add_argument("--ladder", action="append", default=[], metavar="FILE")
    parser.add_argument("--roofline", action="append", default=[], metavar="FILE")
    parser.add_argument("--counts", metavar="FILE")
    parser.add_argument("--counters", metavar="FILE")
    parser.add_argument("--can-draw", nargs="+", default=[], metavar="FILE")
    options = parser.parse_args()
    for path in options.ladder + options.roofline + options.can_draw:
        check_path(path)
    plot_style()
    if options.can_draw:
        return
    if not options.runs:
        parser.error("no run to draw")
    reports = [read(path) for path in options.runs]
    for path in options.ladder:
        draw_ladder(reports, path)
    for path in options.roofline:
        counts, counters = (path and read(path) for path in (options.counts, options.counters))
        draw_roofline(reports, counts, counters, path)


if __name__ == "__main__":
    try:
        main()
    except Unable as problem:
        fail(str(problem))
