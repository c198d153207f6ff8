"""One at a time on a GPU, in the order of arrival, whoever grades: a queue of files that all users of a machine see."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pathlib
import re
import tempfile
import time
from collections.abc import Iterator

FOLDER = pathlib.Path(tempfile.gettempdir()) / "staged-gemm-gpu-queue"
TICKET = re.compile(r"(\d+)-(\d+)")


def is_held(ticket: pathlib.Path) -> bool:
    """Whoever waits, or has its turn, holds a lock on its ticket. A process that has ended holds none."""
    try:
        with ticket.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return False
    except BlockingIOError:
        return True
    except OSError:
        return False


def next_number(folder: pathlib.Path) -> int:
    numbers = [int(match[1]) for name in os.listdir(folder) if (match := TICKET.fullmatch(name))]
    return max(numbers, default=0) + 1


@contextlib.contextmanager
def turn(folder: pathlib.Path = FOLDER) -> Iterator[int]:
    """Waits until all that came before have ended. Gives the number of the ticket."""
    with contextlib.suppress(FileExistsError):
        folder.mkdir()
        folder.chmod(0o1777)  # for all users, and each deletes its own
    with (folder / "counter").open("ab") as counter:
        with contextlib.suppress(PermissionError):
            (folder / "counter").chmod(0o666)
        fcntl.flock(counter, fcntl.LOCK_EX)  # until the ticket is held: no two of the same number
        number = next_number(folder)
        ticket = folder / f"{number}-{os.getpid()}"
        file = ticket.open("wb")
        fcntl.flock(file, fcntl.LOCK_EX)
    try:
        while any(is_held(folder / name) for name in ahead_of(number, folder)):
            time.sleep(0.05)
        yield number
    finally:
        ticket.unlink(missing_ok=True)
        file.close()


def ahead_of(number: int, folder: pathlib.Path) -> list[str]:
    return [name for name in os.listdir(folder) if (match := TICKET.fullmatch(name)) and int(match[1]) < number]
