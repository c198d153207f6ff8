"""./lab emulate: compiles and runs a CUDA program on the CPU executor, which looks on.

usage: ./lab emulate [options] FILE... [-- ARGUMENTS]

FILEs are the program's .cu and .cpp files, one of which has a main(). What it prints is the program's; what its
kernels do wrong goes to standard error, a line each. ARGUMENTS are the program's.
"""

import argparse
import os
import pathlib
import sys

from tools.command_line import Parser, fail, parser_of, run
from tools.emulate.build import Unbuildable, build
from tools.emulate.running import run_program

SOURCES = (".cu", ".cpp", ".cc", ".cxx", ".c")  # as common/cmake/compile_program.py has them
EPILOG = """
Exit status: the program's; 1 if a kernel or the use of CUDA is wrong; 2 if it doesn't compile, or for bad usage.
docs/concepts/any_program.md tells what works.
"""


def the_parser() -> Parser:
    parser = parser_of("./lab emulate", __doc__)
    parser.epilog = EPILOG
    add = parser.add_argument
    add("files", nargs="+", metavar="FILE", type=pathlib.Path)
    add("-I", dest="folders", action="append", default=[], metavar="DIR", help="look for headers here, too")
    add("-D", dest="macros", action="append", default=[], metavar="NAME[=VALUE]", help="define a macro")
    add("-fopenmp", dest="openmp", action="store_true", help="the host's code is parallel by OpenMP, as g++ takes it")
    add("-L", dest="library_folders", action="append", default=[], metavar="DIR", help="look for libraries here, too")
    add("-l", dest="libraries", action="append", default=[], metavar="NAME", help="link this library of the host")
    add("--count", action="store_true", help="tell each kernel's accesses to memory, and what they cost")
    add("--lines", action="store_true", help="and each line's")
    add("--json", metavar="FILE", type=pathlib.Path, help="write mistakes and counts there")
    add(
        "--timeout", type=float, default=600, metavar="S", help="stop it after so many seconds; 0: never (default: 600)"
    )
    add("--sample", type=int, metavar="BLOCKS", help="run only so many blocks of a launch; counts are extrapolated")
    add("--sm", metavar="NN", help="the compute capability that the device says it has, such as 80 (default: 90)")
    add("--build", type=pathlib.Path, help=argparse.SUPPRESS)
    add("--only-options", action="store_true", help=argparse.SUPPRESS)  # before anything is built
    return parser


def main() -> int:
    words = sys.argv[1:]
    arguments: list[str] = []
    if "--" in words:
        at = words.index("--")
        words, arguments = words[:at], words[at + 1 :]
    options = the_parser().parse_intermixed_args(words)
    for number, file in enumerate(options.files):
        if file.is_dir():
            fail(f"'{file}' is a folder: name the program's files")
        if not file.is_file():
            fail(f"no file '{file}'")
        if file.suffix not in SOURCES:
            fail(f"'{file}' is none of {', '.join(SOURCES)}")
        if file.resolve() in (other.resolve() for other in options.files[:number]):
            fail(f"'{file}' is named twice")
    for option, folders in (("-I", options.folders), ("-L", options.library_folders)):
        for folder in folders:
            if not pathlib.Path(folder).is_dir():
                fail(f"no folder '{folder}' ({option})")
    if options.sample is not None and options.sample < 1:
        fail("--sample takes a number of blocks, 1 or more")
    if not options.timeout >= 0:
        fail("--timeout takes seconds; 0: no limit")
    if options.json and not options.json.absolute().parent.is_dir():
        fail(f"can't write {options.json}: no such folder")
    if options.only_options:
        return 0
    environment = dict(os.environ)
    for name, value in (
        ("SIMT_COUNT", options.count and "1"),
        ("SIMT_LINES", options.lines and "1"),
        ("SIMT_JSON", options.json and str(options.json.absolute())),
        ("SIMT_SAMPLE", options.sample and str(options.sample)),
        ("SIMT_SM", options.sm),
    ):
        if value:
            environment[name] = value
    try:
        openmp = ["-fopenmp"] if options.openmp else []
        asked = [f"-I{folder}" for folder in options.folders] + [f"-D{macro}" for macro in options.macros] + openmp
        linked = [f"-L{folder}" for folder in options.library_folders] + [f"-l{name}" for name in options.libraries]
        program = build(options.build, options.files, asked, linked + openmp, options.sm)
    except Unbuildable as error:
        if not str(error):
            return 2
        fail(str(error))
    return run_program(program, arguments, environment, options.timeout)


if __name__ == "__main__":
    run(main)
