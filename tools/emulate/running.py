"""Runs a program that has the executor in it."""

from __future__ import annotations

import pathlib
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence


def run_program(program: pathlib.Path, arguments: Sequence[str], environment: Mapping[str, str], seconds: float) -> int:
    """Its exit status; 1 if it had to be stopped."""
    process = subprocess.Popen([str(program), *arguments], env=environment)
    try:
        status = process.wait(seconds or None)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        print(f"simt: stopped after {seconds:g} s (--timeout)", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        process.send_signal(signal.SIGINT)
        process.wait()
        return 128 + signal.SIGINT
    if status < 0:
        print(f"simt: the program ended by {signal.Signals(-status).name}", file=sys.stderr)
        return 128 - status
    return status
