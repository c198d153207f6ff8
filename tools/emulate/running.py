"""Runs a program that has the executor in it."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence

LAST_WORDS = 15  # seconds: more than program.cpp takes
SECONDS_TO_RUN_AGAIN = 15  # what took longer runs once
REPORT, WARNING = "simt: ", "simt: warning"


def run_program(program: pathlib.Path, arguments: Sequence[str], environment: Mapping[str, str], seconds: float) -> int:
    """Its exit status; 1 if it had to be stopped. Where flags and fences order threads, what they find depends on who
    comes first: a program that has shown no mistake runs once more, unseen, with blocks and warps in another order."""
    with tempfile.TemporaryDirectory() as folder:
        flags = pathlib.Path(folder, "flags")
        begin = time.monotonic()
        status = run_once(program, arguments, dict(environment, SIMT_FLAGS=str(flags)), seconds)
        took = time.monotonic() - begin
        if status == 0 and flags.exists() and took < SECONDS_TO_RUN_AGAIN and "SIMT_ORDER" not in environment:
            return run_again(program, arguments, environment, 10 * took + 10)
    return status


def run_again(program: pathlib.Path, arguments: Sequence[str], environment: Mapping[str, str], seconds: float) -> int:
    """1 if another order shows a mistake, which is told, else 0."""
    left_out = ("SIMT_COUNT", "SIMT_LINES", "SIMT_JSON")
    other = {name: value for name, value in environment.items() if name not in left_out}
    other["SIMT_ORDER"] = "1"
    if report := environment.get("SIMT_JSON"):
        other["SIMT_JSON"] = f"{report}.{os.getpid()}"
    command = [str(program), *arguments]
    try:
        done = subprocess.run(
            command,
            env=other,
            timeout=seconds,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
    except subprocess.TimeoutExpired:
        return 0  # nothing is known
    found = [line for line in done.stderr.splitlines() if line.startswith(REPORT) and not line.startswith(WARNING)]
    for line in found:
        print(f"{line} (blocks and warps in another order)", file=sys.stderr)
    if report:
        add_defects(pathlib.Path(report), pathlib.Path(other["SIMT_JSON"]))
    return 1 if found else 0


def add_defects(report: pathlib.Path, other: pathlib.Path) -> None:
    """To the report what the one of the other order has more."""
    if not other.exists():
        return
    whole, more = (json.loads(file.read_text()) for file in (report, other))
    whole["defects"] += [defect for defect in more["defects"] if not defect["warning"]]
    report.write_text(json.dumps(whole, indent=1) + "\n")
    other.unlink()


def run_once(program: pathlib.Path, arguments: Sequence[str], environment: Mapping[str, str], seconds: float) -> int:
    process = subprocess.Popen([str(program), *arguments], env=environment)
    try:
        status = process.wait(seconds or None)
    except subprocess.TimeoutExpired:
        print(f"simt: stopped after {seconds:g} s (--timeout)", file=sys.stderr)
        process.send_signal(signal.SIGXCPU)  # it tells what is wrong so far, and where it stands
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(LAST_WORDS)
        process.kill()
        process.wait()
        return 1
    except KeyboardInterrupt:
        process.send_signal(signal.SIGINT)
        process.wait()
        return 128 + signal.SIGINT
    if status < 0:
        print(f"simt: the program ended by {signal.Signals(-status).name}", file=sys.stderr)
        return 128 - status
    return status
