#!/usr/bin/env python3
"""One value written by all threads to one word: a race, unless SIMT_SAME_VALUE=allow; different values always are one.

usage: test_same_value.py BUILD
"""

import os
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(__file__).with_name("same_value.cu")
ROOT = pathlib.Path(__file__).resolve().parents[2]


def defects(build: str, verdict: str, *arguments: str) -> list[str]:
    environment = dict(os.environ, PYTHONPATH=str(ROOT), SIMT_SAME_VALUE=verdict)
    command = [sys.executable, "-B", "-m", "tools.emulate", "--build", build, str(SOURCE), "--", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    lines = [line for line in done.stderr.splitlines() if line.startswith("simt: ")]
    assert done.returncode == (1 if lines else 0), done.stderr
    return lines


def main() -> None:
    (build,) = sys.argv[1:]
    for verdict, arguments in (("", ()), ("", ("different",)), ("allow", ("different",))):
        found = defects(build, verdict, *arguments)
        races = [line for line in found if "data race in" in line and line.count("write") == 2]
        assert len(found) == len(races) == 2, (verdict, arguments, found)
        assert "of everywhere (4 bytes)" in found[0] and "data race in shared memory" in found[1], found
    assert not defects(build, "allow")
    print("3 of 4 runs race")


if __name__ == "__main__":
    main()
