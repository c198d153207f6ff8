#!/usr/bin/env python3
"""Runs the tests of a CTest preset, and goes on where an earlier run of the same tree was cut short.

usage: run_tests.py PRESET [--share P/N] [--again]

--share P/N   the P-th of N shares that take about as long by the tests' COST: what .ci/run takes of a tier
--again       all of them, also those that have passed since the last change

What has passed is kept in the build's folder, together with the state of the tree. Any change of a file starts anew,
and so does a run after one that was complete. On a terminal one line shows the progress; elsewhere CTest's own lines
do. Exit status: 0 if all passed or were skipped, 1 if not, 2 for bad usage or if there is no such test.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time
from typing import NoReturn

ROOT = pathlib.Path(__file__).resolve().parents[1]
LISTED = re.compile(r"^\s*Test\s+#(\d+): (\S+)")  # behind the name of a test with a parameter stands a remark
FINISHED = re.compile(
    r"^\s*(\d+)/(\d+) Test\s+#(\d+): .*?(Passed|\*\*\*Skipped|\*\*\*Not Run \(Disabled\))?(?:\s+([\d.]+) sec)?\s*$"
)


def state_of_tree() -> str:
    """A digest of which files there are, how long, and when they were changed; of what is built or installed
    nothing."""
    digest = hashlib.sha256()
    for folder, folders, files in os.walk(ROOT):
        folders[:] = sorted(f for f in folders if f not in ("build", ".lab", ".git", "__pycache__"))
        for name in sorted(files):
            path = os.path.join(folder, name)
            if not os.path.islink(path):
                facts = os.stat(path)
                digest.update(f"{path}\0{facts.st_size}\0{facts.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def refuse(why: str) -> NoReturn:
    print(f"error: {why}", file=sys.stderr)
    sys.exit(2)


def folder_of(preset: str) -> pathlib.Path:
    """Where the preset's build is. Exits with 2 if there is no such preset."""
    presets = {p["name"]: p for p in json.loads((ROOT / "CMakePresets.json").read_text())["testPresets"]}
    if preset not in presets:
        refuse(f"no test preset '{preset}': there are {', '.join(presets)}")
    return ROOT / "build" / presets[preset]["configurePreset"]


def listed(preset: str, *how: str) -> str:
    """What CTest says of the preset's tests without running them."""
    command = ["ctest", "--preset", preset, "-N", *how]
    done = subprocess.run(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        refuse(f"ctest can't list the tests of {preset}:\n{done.stdout.strip()[-2000:]}")
    return done.stdout


def numbered_tests(preset: str) -> dict[str, int]:
    """The preset's tests in CTest's order, with its numbers."""
    found = (LISTED.match(line) for line in listed(preset).splitlines())
    return {match[2]: int(match[1]) for match in found if match}


def share_of(preset: str, part: int, parts: int) -> set[str]:
    """The names of the tests in a share: the longest first, each goes to the share that has least. Quick ones, which
    .ci/run has run before, are dealt apart from the others."""
    loads: dict[bool, list[float]] = {quick: [0.0] * parts for quick in (False, True)}
    tests = []
    for test in json.loads(listed(preset, "--show-only=json-v1"))["tests"]:
        properties = {p["name"]: p["value"] for p in test["properties"]}
        tests.append((properties.get("COST", 1), "quick" in properties.get("LABELS", ()), test["name"].split()[0]))
    mine = set()
    for cost, quick, name in sorted(tests, key=lambda test: -test[0]):
        load = loads[quick]
        least = load.index(min(load))
        load[least] += cost
        if least == part - 1:
            mine.add(name)
    return mine


class Record:
    """Which tests have passed in this state of the tree; on disk, so that a run that is killed leaves it."""

    def __init__(self, file: pathlib.Path, again: bool) -> None:
        self.file, self.state = file, state_of_tree()
        kept = json.loads(file.read_text()) if file.exists() and not again else {}
        same = kept.get("state") == self.state
        self.passed: set[str] = set(kept.get("passed", [])) if same else set()
        # What each took, for tools/measure/loop.py.
        self.seconds: dict[str, float] = kept.get("seconds", {}) if same else {}

    def add(self, name: str, seconds: float) -> None:
        self.passed.add(name)
        self.seconds[name] = seconds
        self.write()

    def write(self) -> None:
        new = self.file.with_suffix(".new")
        new.write_text(json.dumps({"state": self.state, "passed": sorted(self.passed), "seconds": self.seconds}))
        new.replace(self.file)


def follow(process: subprocess.Popen[str], names: dict[int, str], record: Record) -> None:
    """Shows what CTest says, and records what passes."""
    terminal, start = sys.stdout.isatty(), time.monotonic()
    for line in process.stdout or ():
        match = FINISHED.match(line)
        if match and match[4]:
            record.add(names[int(match[3])], float(match[5] or 0))
        if terminal and (match and match[4] or re.match(r"\s*Start\s+\d+:", line)):
            if match:
                seconds = int(time.monotonic() - start)
                text = f"[{match[1]}/{match[2]}] {seconds // 60}:{seconds % 60:02} {names[int(match[3])]}"
                print(f"\r\033[K{text[: os.get_terminal_size().columns - 1]}", end="", flush=True)
        elif not re.match(r"\s*Start\s+\d+:", line):
            print("\r\033[K" * terminal + line, end="", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(usage=(__doc__ or "").split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("preset")
    parser.add_argument("--share", default="1/1")
    parser.add_argument("--again", action="store_true")
    options = parser.parse_args()
    share = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", options.share)
    if not share or int(share[1]) > int(share[2]):
        parser.error(f"a share is 1/4, 2/4 and so on, not '{options.share}'")
    folder = folder_of(options.preset)
    # CTest shows numbers among all tests of a build, but takes places among those that a preset's filter leaves.
    places = [(name, place, number) for place, (name, number) in enumerate(numbered_tests(options.preset).items(), 1)]
    chosen = share_of(options.preset, int(share[1]), int(share[2]))
    tests = [test for test in places if test[0] in chosen]
    if not tests:
        refuse(f"no tests in {options.preset}")
    record = Record(folder / "tests_passed.json", options.again)
    left = [test for test in tests if test[0] not in record.passed]
    if not left:  # the last run was complete
        record.passed.clear()
        left = tests
    elif len(left) < len(tests):
        print(
            f"going on: {len(tests) - len(left)} of {len(tests)} have passed since the last change (--again: all anew)",
            flush=True,
        )
    record.write()
    wanted = ",".join(str(place) for _, place, _ in left)
    command = [
        "ctest",
        "--preset",
        options.preset,
        "--no-tests=error",
        "--parallel",
        str(os.cpu_count()),
        "--tests-information",
        f"0,0,0,{wanted}",
    ]
    with subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        follow(process, {number: name for name, _, number in left}, record)
    return 1 if process.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
