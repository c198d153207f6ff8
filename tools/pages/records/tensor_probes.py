"""Runs of the probes of docs/tensorcore/."""

import pathlib
from collections.abc import Iterable

from tools.pages.records.tensor import FOLDERS
from tools.repository import Json, newest, read_json_if_there

# Of 06a and 06b: whose speeds are compared; and what the paper says of its own, in words, for it prints no number.
PAIRS = (
    ("registers", "shared"),
    ("registers, one call", "shared"),
    ("registers, four calls", "shared"),
    ("direct", "shared"),
    ("registers, arguments", "shared, arguments"),
    ("registers, embedded", "shared, embedded"),
    ("map, arguments", "shared, arguments"),
)
PAPER = {
    "06a_householder": (
        "Figure 4",
        [
            "V100, m = 16: registers faster",
            "V100, m = 32: registers faster",
            "A100, m = 16: registers slower",
            "A100, m = 32: registers faster",
            "",
            "(one call of foreach_ij for m = 32)",
        ],
    ),
    "06b_givens": (
        "Figure 5",
        ["(i, j) arguments: registers slower", "(i, j) embedded: registers faster", "", "(the text names no GPU)"],
    ),
}


def probe_path(name: str, folder: str) -> pathlib.Path:
    return newest(FOLDERS[folder] / f"tensor_{name}.json")


def probe_run(name: str, folder: str) -> Json | None:
    path = probe_path(name, folder)
    return read_json_if_there(path)


def part(run: Json, name: str) -> list[Json]:
    return [r for r in run["results"] if r["part"] == name]


def map_path() -> pathlib.Path:
    """The device's map, which is the executor's, too (tests/tools/test_tensor_pages.py)."""
    return probe_path("04_fragment_map", "measured")


def fragment_grid(run: Json, kind: str) -> tuple[list[list[int]], Json]:
    """The lane of each element of the matrix, by rows; and how many elements of the matrix a lane has."""
    found = next(r for r in part(run, "map") if r["kind"] == kind)
    lanes = [[-1] * found["cols"] for _ in range(found["rows"])]
    for lane, elements in enumerate(found["lanes"]):
        for e in map(int, elements.split()):
            lanes[e // found["cols"]][e % found["cols"]] = lane
    return lanes, found


def pairs_of(by_form: Iterable[str]) -> list[tuple[str, str]]:
    return [pair for pair in PAIRS if all(form in by_form for form in pair)]


def ratio_of(by_form: dict[str, Json], pair: tuple[str, str]) -> float | None:
    """How many times as fast the first form is as the second; None where one has no time."""
    both = [by_form[form].get("gbs") for form in pair]
    return both[0] / both[1] if all(both) else None


def not_timed(name: str) -> list[str]:
    """The forms of a probe that the CPU executor ran and that have no times yet."""
    counted, run = probe_run(name, "counted"), probe_run(name, "measured")
    timed = {r["form"] for r in part(run, "batch")} if run else set()
    return [form for form in dict.fromkeys(r["form"] for r in part(counted, "batch")) if form not in timed]


def figure_of(name: str) -> str:
    return f"{name.split('_')[1]}_speedup.svg"


def task_series(run: Json) -> dict[str, dict[int, dict[str, Json]]]:
    """task: {batch: {form: result}}"""
    found = {}
    for r in part(run, "batch"):
        found.setdefault(r["task"], {}).setdefault(r["batch"], {})[r["form"]] = r
    return found
