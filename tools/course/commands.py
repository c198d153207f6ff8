"""./lab course: what a teacher does with the course.

usage: ./lab course list                       the assignments
       ./lab course export --students DIR      what students get: texts, contracts, skeletons, rubrics
       ./lab course selftest [TRACK/NN_name...]   each solution, skeleton and wrong submission graded
       ./lab course similarity TRACK/NN_name --class FOLDER   which submissions are alike, or like a stage

--variants-of FILE  export for each student in FILE, a name on a line: a folder each, with the student's own variants
--secret-file FILE  what variants are drawn from, as for ./lab grade
--most N     as many pairs of similar ones at most (20)
--html FILE  the pairs as a page, too

Exit status: 0, 1 if a self-test fails, 2 for bad usage.
"""

from __future__ import annotations

import pathlib

from tools.command_line import fail, parser_of, run
from tools.course import sandbox
from tools.course.assignment import assignment, assignments
from tools.course.secret import add_options, secret_of
from tools.course.variants import count, names_in


def main() -> int:
    parser = parser_of("./lab course", __doc__)
    parser.add_argument("command", choices=("list", "export", "selftest", "similarity"))
    parser.add_argument("assignments", nargs="*")
    parser.add_argument("--students", metavar="DIR")
    parser.add_argument("--class", dest="folder", metavar="FOLDER")
    parser.add_argument("--most", type=int, default=20)
    parser.add_argument("--html", metavar="FILE")
    parser.add_argument("--variants-of", metavar="FILE")
    add_options(parser)
    parser.add_argument("--trusted", action="store_true")
    parser.add_argument("--build", default="build/cpu")
    parser.add_argument("--only-options", action="store_true")
    options = parser.parse_args()
    chosen = [assignment(name) for name in options.assignments] or assignments()
    if (options.command == "export") != (options.students is not None):
        fail("export needs --students DIR" if options.command == "export" else "--students is for export")
    students = names_in(options.variants_of) if options.variants_of else None
    secret = secret_of(options)
    if (students or secret) and options.command != "export":
        fail("--variants-of and the secret are for export")
    if students and not secret and not options.only_options:
        fail("variants are drawn from the teacher's secret: --secret-file FILE")
    alike = options.command == "similarity"
    if alike != (options.folder is not None) or (alike and len(options.assignments) != 1):
        fail("similarity takes one assignment, and --class FOLDER" if alike else "--class is for similarity")
    if options.command == "list":
        for found in [] if options.only_options else chosen:
            print(f"{found.id:<32} {found.title}{f', {count(found)} variants' if found.variants else ''}")
        return 0
    if options.command == "export":
        from tools.course.export import export

        if options.only_options:
            return 0
        return export(pathlib.Path(options.students), chosen, students, secret)
    if alike:
        from tools.course.similarity import similarity

        if options.only_options:
            return 0
        return similarity(chosen[0], pathlib.Path(options.folder), options.most, options.html)
    sandbox.require(options.trusted)
    if options.only_options:
        return 0
    from tools.course.build import Builder
    from tools.course.selftest import selftest

    return selftest(chosen, Builder(pathlib.Path(options.build).resolve(), options.trusted))


if __name__ == "__main__":
    run(main)
