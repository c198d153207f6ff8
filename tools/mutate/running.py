"""Programs with a limit of time. All that one has started ends with it."""

from __future__ import annotations

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import threading

running: set[subprocess.Popen[str]] = set()  # each the leader of a group
stopping = threading.Event()  # nothing more is started


def run(
    command: list[str], cwd: pathlib.Path, limit: float | None = None, environment: dict[str, str] | None = None
) -> tuple[int | None, str]:
    """Exit status (None: it ran too long) and output."""
    if stopping.is_set():
        sys.exit("ended")
    process = subprocess.Popen(
        command,
        cwd=cwd,
        text=True,
        errors="replace",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        env=environment,
    )
    running.add(process)
    try:
        output, _ = process.communicate(timeout=limit)
        return process.returncode, output
    except subprocess.TimeoutExpired:
        end(process)
        output, _ = process.communicate()
        return None, output
    finally:
        running.discard(process)


def end(process: subprocess.Popen[str]) -> None:
    with contextlib.suppress(ProcessLookupError):  # it has just ended by itself
        os.killpg(process.pid, signal.SIGKILL)


def end_running() -> None:
    stopping.set()
    for process in list(running):
        if process.poll() is None:
            end(process)
