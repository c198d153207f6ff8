#!/usr/bin/env python3
"""The stage of docs/your_first_stage.md, from its first form to the one that is right, and word for word what `check`
says of each.

usage: test_first_stage.py BUILD [--write]

BUILD     a configured build for the CPU executor, whose commands compile and link the stage
--write   take what is said now as what must be said: tests/fixtures/first_stage/said_N.txt
"""

from __future__ import annotations

import json
import pathlib
import sys
import tempfile

from workshop import ROOT, Workshop, said

FOLDER = ROOT / "tests/fixtures/first_stage"


def main() -> int:
    arguments = [a for a in sys.argv[1:] if a != "--write"]
    if len(arguments) != 1:
        sys.exit(__doc__)
    workshop = Workshop(pathlib.Path(arguments[0]).resolve())
    source = (FOLDER / "90_mine.cu").read_text()
    steps = json.loads((FOLDER / "steps.json").read_text())
    problems = []
    for number, step in enumerate(steps, 1):
        for before, after in step["replace"]:
            if source.count(before) != 1:
                problems.append(f"step {number}: not once in the stage: {before}")
            source = source.replace(before, after)
        with tempfile.TemporaryDirectory() as folder:
            status, text = said(workshop.program(pathlib.Path(folder), source), "check")
        if status != (number < len(steps)):
            problems.append(f"step {number} ends with {status}")
        expected = FOLDER / f"said_{number}.txt"
        if "--write" in sys.argv:
            expected.write_text(text)
        elif not expected.exists() or expected.read_text() != text:
            problems.append(f"step {number}: not what {expected.relative_to(ROOT)} has, but:\n{text}")
    for problem in problems:
        print(problem)
    print(f"{len(steps)} steps, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
