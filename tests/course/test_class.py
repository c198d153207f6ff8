#!/usr/bin/env python3
"""A class, graded on two cores without a GPU, interrupted twice and resumed: within the limits of a class of 120.

usage: test_class.py BUILD [--submissions N]

BUILD   the build folder of the preset cpu
"""

import argparse
import pathlib
import sys

sys.dont_write_bytecode = True
from tools.measure.course import measured

SECONDS, MEGABYTES = 25 * 60, 2000  # that a class of 120 may take


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--submissions", type=int, default=120)
    options = parser.parse_args()
    try:
        from tools.course import sandbox
    except SystemExit:
        print("SKIPPED, NOT RUN: no PyYAML")
        return 0
    if sandbox.works():
        print(f"SKIPPED, NOT RUN: {sandbox.works()}")
        return 0
    taken = measured(options.build.resolve(), options.submissions)
    print(taken)
    limit = SECONDS * taken.submissions / 120
    if taken.wall_s > limit or taken.peak_mb > MEGABYTES:
        taken.complaints.append(f"that is more than {limit:.0f} s or {MEGABYTES} MB")
    print("\n".join(taken.complaints))
    return 1 if taken.complaints else 0


if __name__ == "__main__":
    sys.exit(main())
