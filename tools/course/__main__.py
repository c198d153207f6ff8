"""./lab grade: points for a submission, by the rubric of its assignment.

usage: ./lab grade TRACK/NN_name FILE|FOLDER [options]      one submission
       ./lab grade TRACK/NN_name --class FOLDER --out FOLDER [options]      each file or folder there is one

--secret TEXT    what hidden problems are drawn from; without it they are the same for everybody
--secret-file FILE  the same from a file, which no list of processes shows; - is standard input
--hints N        what hidden problems tell: 0 nothing, 1 what is wrong (the default), 2 and where it shows
--json FILE      the result as one JSON object; - is standard output
--junit FILE     as JUnit XML, for a server that shows tests
--gradescope FILE  as Gradescope's results.json
--classroom      points for each test on a line, and the exit status 1 unless all are full: for a forge's classroom
--class FOLDER   many submissions: two at a time on two cores; what is graded already is not graded again
--out FOLDER     of a class: NAME.json, NAME.html and class.csv
--gpu BUILD      speed, too, with this build for a GPU: ./lab gives it where there is one, or with --cuda
--trusted        without a sandbox: only for your own code

Exit status: 0 graded, 2 bad usage or no sandbox.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import sys

from tools.command_line import fail, parser_of, run
from tools.course import classes, reports, sandbox
from tools.course.assignment import assignment
from tools.course.build import Builder
from tools.course.grade import HINTS, Broken, grade


def secret_of(options: argparse.Namespace) -> str:
    if options.secret is not None and options.secret_file:
        fail("either --secret or --secret-file")
    if options.secret_file:
        try:
            if options.secret_file == "-":
                return "" if options.only_options else sys.stdin.read().strip()  # read once: by what grades
            return pathlib.Path(options.secret_file).read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            fail(f"can't read {options.secret_file}: {getattr(error, 'strerror', 'no text')}")
    return options.secret or ""


def main() -> int:
    parser = parser_of("./lab grade", __doc__)
    parser.add_argument("assignment")
    parser.add_argument("submission", nargs="?")
    parser.add_argument("--secret")
    parser.add_argument("--secret-file", metavar="FILE")
    parser.add_argument("--hints", type=int, default=1)
    for name in ("json", "junit", "gradescope", "out"):
        parser.add_argument(f"--{name}", metavar="FILE")
    parser.add_argument("--classroom", action="store_true")
    parser.add_argument("--class", dest="folder", metavar="FOLDER")
    parser.add_argument("--trusted", action="store_true")
    parser.add_argument("--build", default="build/cpu")
    parser.add_argument("--gpu", metavar="BUILD")
    parser.add_argument("--only-options", action="store_true")
    options = parser.parse_args()
    found = assignment(options.assignment)
    if options.hints not in range(len(HINTS)):
        fail(f"--hints takes 0 to {len(HINTS) - 1}")
    if (options.submission is None) == (options.folder is None):
        fail("grade takes one submission, or --class FOLDER")
    if (options.folder is None) != (options.out is None):
        fail("--class and --out need each other")
    path = pathlib.Path(options.submission or options.folder)
    if not path.exists():
        fail(f"no such submission: {path}")
    secret = secret_of(options)
    sandbox.require(options.trusted)
    if options.only_options:
        return 0
    gpu = pathlib.Path(options.gpu).resolve() if options.gpu else None
    builder = Builder(pathlib.Path(options.build).resolve(), options.trusted, gpu=gpu)
    if options.folder:
        return classes.grade_class(found, path, pathlib.Path(options.out), secret, options.hints, builder)
    try:
        result = grade(found, path, secret, options.hints, builder)
    except Broken as error:
        fail(str(error))
    for file, text in (
        (options.json, lambda: json.dumps(result, indent=1) + "\n"),
        (options.junit, lambda: reports.junit(result)),
        (options.gradescope, lambda: json.dumps(reports.gradescope(result), indent=1) + "\n"),
    ):
        if file:
            reports.write(file, text())
    if options.classroom:
        sys.stdout.write(reports.classroom(result))
        return 0 if result["points"] == result["of"] else 1
    if "-" not in (options.json, options.junit, options.gradescope):
        sys.stdout.write(reports.text(result))
    return 0


if __name__ == "__main__":
    run(main)
