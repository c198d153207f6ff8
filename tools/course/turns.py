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
from typing import IO

from tools.command_line import fail

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


def take_ticket(folder: pathlib.Path) -> tuple[int, pathlib.Path, IO[bytes]]:
    """The next number; its file, which is held for as long as it is open."""
    with contextlib.suppress(FileExistsError):
        folder.mkdir()
        folder.chmod(0o1777)  # for all users, and each deletes its own
    queue = os.open(folder, os.O_RDONLY)  # locked until the ticket is held: no two of the same number
    try:
        fcntl.flock(queue, fcntl.LOCK_EX)
        number = next_number(folder)
        ticket = folder / f"{number}-{os.getpid()}"
        file = ticket.open("xb")
        ticket.chmod(0o644)  # others must see that it is held
        fcntl.flock(file, fcntl.LOCK_EX)
    finally:
        os.close(queue)
    return number, ticket, file


@contextlib.contextmanager
def turn(folder: pathlib.Path = FOLDER) -> Iterator[int]:
    """Waits until all that came before have ended. Gives the number of the ticket."""
    try:
        number, ticket, file = take_ticket(folder)
    except OSError as error:
        fail(f"can't use the queue {folder}: {error.strerror}")
    try:
        while any(is_held(folder / name) for name in ahead_of(number, folder)):
            time.sleep(0.05)
        yield number
    finally:
        ticket.unlink(missing_ok=True)
        file.close()


def ahead_of(number: int, folder: pathlib.Path) -> list[str]:
    return [name for name in os.listdir(folder) if (match := TICKET.fullmatch(name)) and int(match[1]) < number]
