#!/usr/bin/env python3
"""Puts students' mistakes into a stage, one at a time, and demands what `check` and `run` say of each, word for word.

usage: test_mistakes.py BUILD [--write] [NAME...]

BUILD     a configured build for the CPU executor, whose commands compile and link each wrong stage
--write   take what is said now as what must be said: tests/fixtures/mistakes/expected/

The mistakes are tests/fixtures/mistakes/mistakes.json: a name; what to replace by what in 90_mine.cu, which is right as
it stands, or in the stage of the tree that is named; whether `run` at its default sizes must find it, too; and
"status", which is 0 where a GPU gives the right result, and a warning is all that it deserves. With
GEMM_SHARE=P/N in the environment every N-th is tried.
"""

from __future__ import annotations

import concurrent.futures
import json
import os
import pathlib
import re
import sys
import tempfile

from workshop import ROOT, STAGE, Workshop, said

FOLDER = ROOT / "tests/fixtures/mistakes"


def verdicts(workshop: Workshop, mistake: dict, processes: int) -> tuple[str, list[str]]:
    """What is said of it, and what is wrong with that."""
    stage = mistake.get("stage", STAGE)
    file = ROOT / f"{stage}.cu" if "stage" in mistake else FOLDER / "90_mine.cu"
    source = file.read_text()
    for before, after in mistake["replace"]:
        if before not in source:
            return "", [f"{mistake['name']}: {file.name} has no '{before}'"]
        source = source.replace(before, after)
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        program = workshop.program(pathlib.Path(folder), source, stage)
        status, text = said(program, "check", "--brief", "--processes", str(processes))
        first = "\n".join(line for line in text.splitlines() if line.strip())
        expected = mistake.get("status", 1)
        if status != expected:
            wrong.append(f"{mistake['name']}: check ends with {status}")
        run_status, run_text = said(program)
        if mistake.get("run") and run_status != expected:
            wrong.append(f"{mistake['name']}: run ends with {run_status}")
    failures = failures_of(run_text) if run_status else ""
    number = stage.partition("/")[2].split("_")[0]
    short = number if stage.startswith("stages/") else f"{stage.partition('/')[0]}/{number}"
    return f"{first}\n\n./lab run {short}, exit status {run_status}:\n{failures}", wrong


def failures_of(text: str) -> str:
    """Of a run what is not a count."""
    lines = [line.rstrip() for line in text.splitlines() if re.search(r"fail|^error|^ {2,}\S", line)]
    return "\n".join(lines) + "\n"


def main() -> int:
    arguments = [a for a in sys.argv[1:] if a != "--write"]
    if not arguments:
        sys.exit(__doc__)
    workshop = Workshop(pathlib.Path(arguments[0]).resolve())
    part, parts = map(int, os.environ.get("GEMM_SHARE", "1/1").split("/"))
    mistakes = json.loads((FOLDER / "mistakes.json").read_text())
    if arguments[1:]:
        mistakes = [m for m in mistakes if m["name"] in arguments[1:]]
    mistakes = mistakes[part - 1 :: parts]
    problems = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        # Every other one is checked by two processes that share the trials: they must say the same.
        said_of = pool.map(lambda each: verdicts(workshop, each[1], each[0] % 2 + 1), enumerate(mistakes))
        for mistake, (text, wrong) in zip(mistakes, said_of, strict=True):
            problems += wrong
            expected = FOLDER / "expected" / f"{mistake['name'].replace(' ', '_')}.txt"
            if "--write" in sys.argv:
                expected.parent.mkdir(exist_ok=True)
                expected.write_text(text)
            elif not expected.exists() or expected.read_text() != text:
                problems.append(f"{mistake['name']}: not what {expected.relative_to(ROOT)} has, but:\n{text}")
    for problem in problems:
        print(problem)
    print(f"{len(mistakes)} mistakes, {len(problems)} problems")
    return 1 if problems or not mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
