"""What the programs' command lines have in common."""

import argparse
import sys
from typing import NoReturn


def fail(text: str) -> NoReturn:
    """Bad usage, or what can't be done here: one line, exit status 2."""
    print(f"error: {text}", file=sys.stderr)
    sys.exit(2)


class Parser(argparse.ArgumentParser):
    """Says in one line what is wrong."""

    def error(self, message: str) -> NoReturn:
        fail(message)


def parser_of(command: str, description: str | None) -> Parser:
    """Of a program whose module's text says how it is used."""
    return Parser(
        prog=command,
        description=description,
        usage=argparse.SUPPRESS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
