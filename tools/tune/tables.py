"""Tables of tuned kernels, tsm/tuned/GPU.json (tsm/choice.hpp): what a kernel leaves out it has from the one before."""

import json
import pathlib
from collections.abc import Sequence
from typing import Any

from tools.digest import short
from tools.repository import Json


def kernels_of(table: Json) -> list[Json]:
    """Its kernels, whole."""
    kernels: list[Json] = []
    for line in table["kernels"]:
        kernels.append((kernels[-1] if kernels else {}) | line)
    return kernels


def lines_of(kernels: Sequence[Json]) -> list[Json]:
    """Of whole kernels only what differs from the one before."""
    pairs = zip([{}, *kernels], kernels)
    return [{name: its for name, its in kernel.items() if before.get(name) != its} for before, kernel in pairs]


def write_lines(path: pathlib.Path, head: Json, name: str, lines: list[Any]) -> None:
    """JSON with a line for each of the long list."""
    text = f'{short(head)[:-1]},"{name}":[\n ' + ",\n ".join(map(short, lines)) + "\n]}\n"
    json.loads(text)
    pathlib.Path(path).write_text(text)
