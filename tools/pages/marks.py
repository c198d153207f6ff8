"""The marks of a page: what stands between them is computed anew."""

import re
import sys
from collections.abc import Callable
from typing import Any

from tools.pages.blocks import BLOCKS
from tools.pages.data import Data, NotMeasured, Unreadable
from tools.pages.notes import NOT_COUNTED, not_measured
from tools.pages.values import VALUES
from tools.repository import with_history

SPEC = r"((?:(?!-->).)*?)"  # the name and its arguments, in which a > stands for itself
BLOCK = re.compile(rf"(<!-- generated: {SPEC} -->\n).*?(<!-- end generated -->)", re.S)
VALUE = re.compile(rf"(<!-- = {SPEC} -->).*?(<!-- / -->)")
# How a mark of each kind begins, and how it ends.
EDGES = {BLOCK: ("<!-- generated:", "<!-- end generated -->"), VALUE: ("<!-- =", "<!-- / -->")}
# What has no numbers yet says what makes them.
OF_COUNTS = ("counted", "count", "counted_cycles", "counted_per_fma", "intensity")
OF_TUNING = ("tuning", "funnel")


def missing_block(name: str) -> list[str]:
    if name in OF_COUNTS:
        return NOT_COUNTED
    if name == "library":
        return not_measured("./lab measure library")
    return not_measured("./lab measure tune" if name in OF_TUNING else "docs/measurements/measure")


def missing_value(name: str) -> str:
    return "not counted" if name in OF_COUNTS else "not measured"


def unfilled(text: str) -> str | None:
    """The line of the first mark that has no end, or is written in another way: it would stay as it is."""
    for mark, edges in EDGES.items():
        filled = {match.start(edge) for match in mark.finditer(text) for edge in (1, 3)}
        for match in re.finditer("|".join(edges), text):
            if match.start() not in filled:
                return text[text.rfind("\n", 0, match.start()) + 1 :].split("\n", 1)[0]
    return None


def fill(text: str, data: Data, where: str) -> str:
    """The page's text with every generated part written anew; ends the program at a mark that can't be."""
    if line := unfilled(text):
        sys.exit(f"error: {where}: a mark without its other half, or not as ./lab pages --help shows it: {line}")

    def call(functions: dict[str, Callable[..., Any]], spec: str, missing: Callable[[str], Any]) -> Any:
        name, *arguments = spec.split()
        try:
            return functions[name](data, *arguments)
        except NotMeasured:
            data.missing.append(f"{where}: {spec}")
            return missing(name)
        except (KeyError, StopIteration, TypeError) as error:
            sys.exit(f"error: {where}: can't generate '{spec}': {error!r}")

    def block(match: re.Match[str]) -> str:
        try:
            lines = with_history(call(BLOCKS, match[2], missing_block))
        except Unreadable:
            return match[0]
        return match[1] + "\n".join(lines) + "\n" + match[3]

    def value(match: re.Match[str]) -> str:
        return match[1] + call(VALUES, match[2], missing_value) + match[3]

    return VALUE.sub(value, BLOCK.sub(block, text))
