"""What the programs' command lines have in common."""

from __future__ import annotations

import argparse
import contextlib
import errno
import os
import pathlib
import signal
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from _typeshed import SupportsWrite


def fail(text: str) -> NoReturn:
    """Bad usage, or what can't be done here: one line, exit status 2."""
    print(f"error: {text}", file=sys.stderr)
    sys.exit(2)


def write_whole(path: str | pathlib.Path, text: str) -> None:
    """The whole text or nothing, to a file; into a device or a pipe, which stays one; "-" is standard output."""
    if str(path) == "-":
        sys.stdout.write(text)
        return
    target = pathlib.Path(path)
    beside = None
    try:
        if target.exists() and not target.is_file() and not target.is_dir():
            target.write_text(text)
            return
        target = target.resolve()  # a link stays one, too
        beside = target.with_name(f".part.{os.getpid()}.{threading.get_ident()}")
        beside.write_text(text)
        os.replace(beside, target)
    except OSError as error:
        if beside:
            with contextlib.suppress(OSError):
                beside.unlink()
        fail(f"can't write {path}: {error.strerror}")


class Parser(argparse.ArgumentParser):
    """Says in one line what is wrong."""

    def error(self, message: str) -> NoReturn:
        fail(message)

    def print_help(self, file: SupportsWrite[str] | None = None) -> None:
        """As argparse's, which ignores that it can't be written."""
        print(self.format_help(), end="", file=file)


def parser_of(command: str, description: str | None) -> Parser:
    """Of a program whose module's text says how it is used."""
    return Parser(
        prog=command,
        description=description,
        usage=argparse.SUPPRESS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def run(main: Callable[[], int | None]) -> NoReturn:
    """Ends the program with main's exit status. Where what it prints can't be written, that is said in one line."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # whoever reads has read enough
    try:
        try:
            status = main()
        except SystemExit as end:  # --help, too, has printed something
            status = end.code
        if not sys.stdout.closed:
            sys.stdout.flush()
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:  # some call or other was the first to meet it
            fail(f"{str(error.filename)[:60]}...: {error.strerror}")
        if error.filename is not None:  # another file: a mistake of ours
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains once more at its end
        fail(f"can't write standard output: {error.strerror}")
    sys.exit(status)
