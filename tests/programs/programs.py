#!/usr/bin/env python3
"""Runs the programs of right/ and wrong/ by ./lab emulate. The right ones must be silent and print NAME.out, which a
GPU made. Of the wrong ones a report must name the marked line, and say what is wrong in the words of the mark.

usage: programs.py BUILD [--quick] [--only NAME,...]
"""

from __future__ import annotations

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import time

from catalogue import Mark, Program, chosen

from tools.command_line import fail, parser_of, run
from tools.repository import ROOT

QUICK = "vector_add,last_block,streams,missing_sync_reduce,no_fence_before_flag,off_by_one"
LONGEST = 120  # seconds, to compile and to run


def difference(expected: str, found: str) -> str:
    pairs = zip(expected.splitlines() + ["(nothing)"], found.splitlines() + ["(nothing)"], strict=False)
    first = next(((a, b) for a, b in pairs if a != b), ("", "another end"))
    return f"prints '{first[1]}', but a GPU '{first[0]}'"


def what_is_wrong_with_right(program: Program, done: subprocess.CompletedProcess[str]) -> str | None:
    if "simt: " in done.stderr:
        return "false alarm: " + next(line for line in done.stderr.splitlines() if line.startswith("simt: "))
    if done.returncode != 0:
        return f"exit status {done.returncode}: {(done.stderr or done.stdout).strip()[-300:]}"
    if not program.expected_output.is_file():
        return f"no {program.expected_output.name}: on_device.py makes it"
    expected = program.expected_output.read_text()
    return None if done.stdout == expected else difference(expected, done.stdout)


def lines_named(report: str, file: str) -> set[int]:
    return {int(number) for number in re.findall(rf"\b{re.escape(file)}:(\d+)", report)}


def what_is_wrong_with_wrong(mark: Mark, done: subprocess.CompletedProcess[str]) -> str | None:
    reports = [line.removeprefix("simt: ") for line in done.stderr.splitlines() if line.startswith("simt: ")]
    if not reports:
        return f"nothing found; exit status {done.returncode}: {done.stderr.strip()[-300:]}"
    prefix = "warning: " if mark.is_warning else ""
    of_kind = [report for report in reports if report.startswith(tuple(prefix + kind for kind in mark.kinds))]
    if not of_kind:
        return f"says: {reports[0]}"
    at_mark = [report for report in of_kind if mark.line in lines_named(report, mark.file)]
    if not at_mark:
        return f"other lines: {of_kind[0]}"
    if mark.others and not any(lines_named(report, mark.file) & set(mark.others) for report in at_mark):
        return f"the other party is missing: {at_mark[0]}"
    if (done.returncode == 0) != mark.is_warning:
        return f"exit status {done.returncode}"
    return None


def tried(program: Program, build: pathlib.Path) -> tuple[str | None, float]:
    """What is wrong with the executor's verdict, and seconds."""
    command = [sys.executable, "-B", "-m", "tools.emulate", "--build", build, "--timeout", LONGEST / 2, *program.files]
    begin = time.monotonic()
    try:
        done = subprocess.run(
            [str(word) for word in command],
            cwd=ROOT,
            env=dict(os.environ, PYTHONPATH=str(ROOT)),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LONGEST,
        )
    except subprocess.TimeoutExpired:
        return f"not ready after {LONGEST} s", time.monotonic() - begin
    seconds = time.monotonic() - begin
    if done.returncode == 2 and "error: " in done.stderr:
        errors = [line for line in done.stderr.splitlines() if "error: " in line]
        return f"does not compile: {errors[0]}", seconds
    if program.mark is None:
        return what_is_wrong_with_right(program, done), seconds
    return what_is_wrong_with_wrong(program.mark, done), seconds


def main() -> int:
    parser = parser_of("programs.py", __doc__)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only")
    options = parser.parse_args()
    try:
        selected = chosen(QUICK if options.quick else options.only)
    except ValueError as error:
        fail(str(error))
    failures = {"right": 0, "wrong": 0}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda program: tried(program, options.build.absolute()), selected)
        for program, (problem, seconds) in zip(selected, results, strict=True):
            kind = "wrong" if program.mark else "right"
            failures[kind] += problem is not None
            expected = " or ".join(program.mark.kinds) if program.mark else "silent"
            print(
                f"{'FAILED' if problem else 'ok':<6} {seconds:5.1f} s  {kind}/{program.name:<26} {expected}", flush=True
            )
            if problem:
                print(f"       {problem}")
    for kind, failed in failures.items():
        number = sum((program.mark is not None) == (kind == "wrong") for program in selected)
        print(f"{kind}: {number - failed} of {number} as they should be")
    return 1 if any(failures.values()) else 0


if __name__ == "__main__":
    run(main)
