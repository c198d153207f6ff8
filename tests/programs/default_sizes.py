#!/usr/bin/env python3
"""Programs of the sizes that courses use end within a minute on two cores, are right, and nothing is reported.

usage: default_sizes.py BUILD [--only NAME,...]
"""

import argparse
import pathlib
import sys

sys.dont_write_bytecode = True
from tools.measure.default_sizes import measured, names

LONGEST = 60  # seconds


def is_too_slow(wall: float, cpu: float) -> bool:
    """By its CPU time, too, because other processes may have had the cores."""
    return wall > LONGEST and cpu > LONGEST


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    failed = 0
    for name in options.only.split(",") if options.only else names():
        found = measured(name, options.build.absolute())
        problem = found["mistakes"]
        if is_too_slow(found["wall_s"], found["cpu_s"]):
            problem += f" takes more than {LONGEST} s"
        failed += bool(problem)
        state = "FAILED" if problem else "ok"
        print(f"{state:<6} {name:<14} wall {found['wall_s']} s, CPU {found['cpu_s']} s {problem}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
