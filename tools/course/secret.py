"""The teacher's secret: what hidden problems and variants are drawn from."""

from __future__ import annotations

import argparse
import pathlib
import sys

from tools.command_line import fail


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--secret")
    parser.add_argument("--secret-file", metavar="FILE")


def secret_of(options: argparse.Namespace) -> str:
    if options.secret is not None and options.secret_file:
        fail("either --secret or --secret-file")
    if options.secret_file:
        try:
            if options.secret_file == "-":
                return "" if options.only_options else sys.stdin.read().strip()  # read once: by what grades
            return pathlib.Path(options.secret_file).read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            fail(f"can't read {options.secret_file}: {getattr(error, 'strerror', 'no text')}")
    return options.secret or ""
