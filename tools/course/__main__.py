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
--variant N      of an assignment with variants: this one
--student NAME   the one that this student has; needs the secret
--variants-of FILE  of a class: each submission by its student's variant; the file has their names, one a line
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

from tools.command_line import fail, parser_of, run, write_whole
from tools.course import classes, reports, sandbox, variants
from tools.course.assignment import Assignment, assignment
from tools.course.build import Builder
from tools.course.grade import HINTS, Broken, grade
from tools.course.secret import add_options, secret_of


def chosen_variant(base: Assignment, options: argparse.Namespace, secret: str) -> tuple[Assignment, list[Assignment]]:
    """What one submission is graded by, and the variants that it may be meant for instead."""
    if sum(option is not None for option in (options.variant, options.student)) + (options.folder is not None) > 1:
        fail("a submission takes --variant or --student, a class --variants-of")
    if options.student is not None and not options.student.strip():
        fail("--student takes a name")
    if options.variants_of and not options.folder:
        fail("--variants-of is for a --class")
    if (options.student or options.variants_of) and not secret and not options.only_options:
        fail("variants are drawn from the teacher's secret: --secret-file FILE")
    if options.variant is not None:
        count = variants.count(base) if base.variants else 0
        if not 1 <= options.variant <= count:
            fail(f"{base.id} has {f'the variants 1 to {count}' if count else 'no variants'}")
        return variants.variant(base, options.variant), variants.all_of(base)
    if options.student:
        return variants.of_student(base, secret, options.student), variants.all_of(base)
    return base, []


def main() -> int:
    parser = parser_of("./lab grade", __doc__)
    parser.add_argument("assignment")
    parser.add_argument("submission", nargs="?")
    add_options(parser)
    parser.add_argument("--hints", type=int, default=1)
    for name in ("json", "junit", "gradescope", "out"):
        parser.add_argument(f"--{name}", metavar="FILE")
    parser.add_argument("--classroom", action="store_true")
    parser.add_argument("--class", dest="folder", metavar="FOLDER")
    parser.add_argument("--variant", type=int, metavar="N")
    parser.add_argument("--student", metavar="NAME")
    parser.add_argument("--variants-of", metavar="FILE")
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
    students = variants.names_in(options.variants_of) if options.variants_of else None
    secret = secret_of(options)
    found, others = chosen_variant(found, options, secret)
    sandbox.require(options.trusted)
    if options.only_options:
        return 0
    gpu = pathlib.Path(options.gpu).resolve() if options.gpu else None
    builder = Builder(pathlib.Path(options.build).resolve(), options.trusted, gpu=gpu)
    if options.folder:
        return classes.grade_class(found, path, pathlib.Path(options.out), secret, options.hints, builder, students)
    try:
        result = grade(found, path, secret, options.hints, builder, others=others)
    except Broken as error:
        fail(str(error))
    for file, text in (
        (options.json, lambda: json.dumps(result, indent=1) + "\n"),
        (options.junit, lambda: reports.junit(result)),
        (options.gradescope, lambda: json.dumps(reports.gradescope(result), indent=1) + "\n"),
    ):
        if file:
            write_whole(file, text())
    if options.classroom:
        sys.stdout.write(reports.classroom(result))
        return 0 if result["points"] == result["of"] else 1
    if "-" not in (options.json, options.junit, options.gradescope):
        sys.stdout.write(reports.text(result))
        if found.variants and not found.variant and result["points"] < result["of"]:
            print(f"Graded as variant 1 of {variants.count(found)}: if yours is another one, --variant N")
    return 0


if __name__ == "__main__":
    run(main)
