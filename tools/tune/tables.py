"""Tables of tuned kernels, tsm/tuned/GPU.json (tsm/choice.hpp): what a kernel leaves out it has from the one before; an
option, too, where no stage is named."""

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
        before = kernels[-1] if kernels else {}
        options = {} if "stage" in line else before["options"]
        kernels.append(before | line | {"options": options | line.get("options", {})})
    return kernels


def lines_of(kernels: Sequence[Json]) -> list[Json]:
    """Of whole kernels only what differs from the one before."""

    def line_of(before: Json, kernel: Json) -> Json:
        line = differing(before, kernel)
        if "options" not in line and "stage" not in line:
            return line
        if "stage" in line or not before["options"].keys() <= kernel["options"].keys():
            return line | {"stage": kernel["stage"], "options": kernel["options"]}
        return line | {"options": differing(before["options"], kernel["options"])}

    return [line_of(before, kernel) for before, kernel in zip([{}, *kernels], kernels)]


def differing(before: Json, now: Json) -> Json:
    return {name: its for name, its in now.items() if before.get(name) != its}


def write_lines(path: pathlib.Path, head: Json, name: str, lines: list[Any]) -> None:
    """JSON with a line for each of the long list."""
    text = f'{short(head)[:-1]},"{name}":[\n ' + ",\n ".join(map(short, lines)) + "\n]}\n"
    json.loads(text)
    pathlib.Path(path).write_text(text)
