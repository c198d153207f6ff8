#!/usr/bin/env python3
"""That the programs of gaps/ still show what the executor can't: their head comments are the list of known gaps in
docs/concepts/any_program.md. Each has a mark, // gap: WHAT, in the line that is concerned. WHAT is one of

    silent              a mistake that is not reported
    exit status N       it should be 0
    does not compile    but does by nvcc
    anything else       the kind of a report of this line, where nothing is wrong

A gap that is closed fails here: then the program goes to right/ or wrong/, and the page is made anew.

usage: gaps.py BUILD
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

from catalogue import FOLDER

from tools.command_line import parser_of, run
from tools.repository import ROOT

MARK = re.compile(r"// gap: (.+)$", re.M)
LONGEST = 120  # seconds


def shown_by(file: pathlib.Path, build: pathlib.Path) -> str:
    """What happens, in the words of the mark."""
    command = [sys.executable, "-B", "-m", "tools.emulate", "--build", str(build), "--timeout", "60", str(file)]
    environment = dict(os.environ, PYTHONPATH=str(ROOT))
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=LONGEST)
    if done.returncode == 2:
        return "does not compile"
    reports = [line.removeprefix("simt: ") for line in done.stderr.splitlines() if line.startswith("simt: ")]
    if reports:
        return f"{reports[0].split(' in ')[0]} at " + " ".join(re.findall(rf"{file.name}:(\d+)", reports[0]))
    return f"exit status {done.returncode}" if done.returncode else "silent"


def expected_of(file: pathlib.Path) -> str:
    (mark,) = MARK.finditer(text := file.read_text())
    is_report = not re.fullmatch(r"silent|exit status \d+|does not compile", mark[1])
    return f"{mark[1]} at {text.count(chr(10), 0, mark.start()) + 1}" if is_report else mark[1]


def main() -> int:
    parser = parser_of("gaps.py", __doc__)
    parser.add_argument("build", type=pathlib.Path)
    build = parser.parse_args().build.absolute()
    files = sorted((FOLDER / "gaps").glob("*.cu"))
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for file, shown in zip(files, pool.map(lambda each: shown_by(each, build), files), strict=True):
            expected = expected_of(file)
            failed += shown != expected
            print(f"{'ok' if shown == expected else 'FAILED':<6} {file.stem:<20} {expected}", flush=True)
            if shown != expected:
                print(f"       now: {shown}")
    return 1 if failed or not files else 0


if __name__ == "__main__":
    run(main)
