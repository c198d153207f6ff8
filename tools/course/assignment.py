"""An assignment: the folder course/TRACK/NN_name, with its rubric."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import pathlib
from typing import Any

import yaml

from tools.command_line import fail
from tools.course.metrics import METRICS, is_metric
from tools.repository import ROOT, Json

COURSE = ROOT / "course"
KINDS = ("builds", "rules", "right", "clean", "count", "reproducible", "speed", "manual")
OPERATIONS, TYPES = ("gemm", "tsmttsm", "tsmm"), ("s", "d", "z", "h")
PROBLEM = {"m", "n", "k", "alpha", "beta", "padded", "dist", "lda", "ldb", "ldc", "offset"}
HIDDEN = PROBLEM | {"count"}


def later(timed: bool) -> tuple[str, ...]:
    """The kinds that are not graded: a GPU's, where there is none, and the teacher's."""
    return ("manual",) if timed else ("speed", "manual")


@dataclasses.dataclass(frozen=True, eq=False)
class Item:
    """A line of the rubric."""

    name: str
    kind: str
    points: float
    problems: tuple[Json, ...] = ()  # that students may see
    hidden: Json | None = None  # what the others are drawn from
    metric: str = ""
    full: float = 0.0
    none: float = 0.0
    least: float | None = None
    needs: tuple[str, ...] = ()  # items without whose points this one has none
    at: Json | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class Assignment:
    folder: pathlib.Path
    title: str
    operation: str
    type: str
    accuracy: str
    files: tuple[str, ...]
    most_lines: int
    most_bytes: int
    forbidden: tuple[str, ...]
    items: tuple[Item, ...]
    variants: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)  # parameters, and their choices
    variant: int = 0  # its number, of one of them

    @property
    def id(self) -> str:
        return f"{self.folder.parent.name}/{self.folder.name}"

    @property
    def contract(self) -> pathlib.Path:
        return self.folder / f"{self.folder.name}.cu"

    def graded(self, timed: bool = False) -> float:
        """The points that are given without a teacher, and unless it is timed, without a GPU."""
        return sum(item.points for item in self.items if item.kind not in later(timed))

    def digest(self) -> str:
        """Changes with whatever a grade depends on."""
        text = (self.folder / "rubric.yaml").read_bytes() + self.contract.read_bytes()
        return hashlib.sha256(text).hexdigest()


def wrong(file: pathlib.Path, text: str) -> None:
    fail(f"{file}: {text}")


def is_size(wanted: Any) -> bool:
    """A number, or the range that it is drawn from."""
    numbers = wanted if isinstance(wanted, list) else [wanted, wanted]
    if len(numbers) not in (2, 3) or not all(type(each) is int and each >= 0 for each in numbers):
        return False
    return numbers[0] <= numbers[1] and numbers[2:] != [0]


def item_of(file: pathlib.Path, entry: Any) -> Item:
    if not isinstance(entry, dict) or not {"name", "kind", "points"} <= entry.keys():
        wrong(file, "each item under points needs a name, a kind and points")
    kind = entry["kind"]
    if kind not in KINDS:
        wrong(file, f"no kind '{kind}': {', '.join(KINDS)}")
    unknown = entry.keys() - {field.name for field in dataclasses.fields(Item)}
    if unknown:
        wrong(file, f"item '{entry['name']}': no '{sorted(unknown)[0]}'")
    if not isinstance(entry["points"], (int, float)) or entry["points"] <= 0:
        wrong(file, f"item '{entry['name']}': points must be above 0")
    for problem in [*entry.get("problems", []), *([entry["at"]] if "at" in entry else [])]:
        if not isinstance(problem, dict) or not {"m", "n", "k"} <= problem.keys() <= PROBLEM:
            wrong(file, f"item '{entry['name']}': a problem is m, n and k, and perhaps {', '.join(sorted(PROBLEM))}")
    if "hidden" in entry and not {"m", "n", "k", "count"} <= entry["hidden"].keys() <= HIDDEN:
        wrong(file, f"item '{entry['name']}': hidden takes {', '.join(sorted(HIDDEN))}")
    wanted = [*entry.get("problems", []), *(entry[name] for name in ("at", "hidden") if name in entry)]
    if not all(is_size(each[name]) for each in wanted for name in "mnk"):
        wrong(file, f"item '{entry['name']}': a size is a number, or under hidden [least, most] or [least, most, step]")
    if kind == "right" and ("problems" in entry) == ("hidden" in entry):
        wrong(file, f"item '{entry['name']}': either problems or hidden")
    if kind in ("count", "reproducible", "speed") and "at" not in entry:
        wrong(file, f"item '{entry['name']}': needs the problem that is looked at, 'at'")
    if kind == "count" and (not is_metric(entry.get("metric", "")) or {"full", "none"} - entry.keys()):
        wrong(file, f"item '{entry['name']}': a count needs full, none and a metric: {', '.join(METRICS)}")
    if kind == "count":
        full, none, least = entry["full"], entry["none"], entry.get("least", entry["full"])
        if not all(isinstance(each, (int, float)) for each in (full, none, least)) or full == none:
            wrong(file, f"item '{entry['name']}': full, none and least are numbers, and full is not none")
        if "least" in entry and not least <= full < none:
            wrong(file, f"item '{entry['name']}': least is for counts that are to be low, and not above full")
    if not isinstance(entry.get("needs", []), list):
        wrong(file, f"item '{entry['name']}': needs is a list of other items")
    return Item(**{**entry, "problems": tuple(entry.get("problems", ())), "needs": tuple(entry.get("needs", ()))})


def variants_of(file: pathlib.Path, said: Any) -> dict[str, tuple[str, ...]]:
    if not isinstance(said, dict) or not all(isinstance(choices, list) for choices in said.values()):
        wrong(file, "variants takes parameters, each with a list of choices")
    found = {str(name): tuple(map(str, choices)) for name, choices in said.items()}
    for name, choices in found.items():
        if len(choices) < 2 or len(set(choices)) < len(choices):
            wrong(file, f"variants: '{name}' needs two choices or more, each once")
    return found


@functools.cache
def assignment(name: str) -> Assignment:
    """By its id."""
    folder = COURSE / name
    if name.count("/") != 1 or ".." in name or not (folder / "rubric.yaml").is_file():
        fail(f"no assignment '{name}': {', '.join(found.id for found in assignments())}")
    return load(folder)


def load(folder: pathlib.Path) -> Assignment:
    """Says in one line what is wrong with it."""
    file = folder / "rubric.yaml"
    try:
        rubric = yaml.safe_load(file.read_text())
    except yaml.YAMLError as error:
        wrong(file, " ".join(str(error).split()))
    needed = {"title", "operation", "type", "files", "limits", "points"}
    if not isinstance(rubric, dict) or needed - rubric.keys():
        wrong(file, f"needs {', '.join(sorted(needed))}")
    if not isinstance(rubric["limits"], dict) or not {"lines", "bytes"} <= rubric["limits"].keys():
        wrong(file, "limits are lines and bytes")
    if not isinstance(rubric["points"], list):
        wrong(file, "points is a list of items")
    if not isinstance(rubric["files"], list):
        wrong(file, "files is a list of names")
    if rubric["operation"] not in OPERATIONS or rubric["type"] not in TYPES:
        wrong(file, f"the operation is one of {', '.join(OPERATIONS)}, and the type one of {', '.join(TYPES)}")
    if not (folder / f"{folder.name}.cu").is_file():
        wrong(folder, f"there is no contract {folder.name}.cu")
    items = tuple(item_of(file, entry) for entry in rubric["points"])
    if len({item.name for item in items}) < len(items):
        wrong(file, "two items have the same name")
    names = {item.name for item in items if item.kind not in later(False)}
    for item in items:
        if unknown := set(item.needs) - (names - {item.name}):
            wrong(file, f"item '{item.name}' needs '{sorted(unknown)[0]}', which is no other graded item")
    return Assignment(
        folder=folder,
        title=rubric["title"],
        operation=rubric["operation"],
        type=rubric["type"],
        accuracy=rubric.get("accuracy", ""),
        files=tuple(rubric["files"]),
        most_lines=rubric["limits"]["lines"],
        most_bytes=rubric["limits"]["bytes"],
        forbidden=tuple(rubric.get("forbid", ())),
        items=items,
        variants=variants_of(file, rubric.get("variants", {})),
    )


def assignments() -> list[Assignment]:
    return [assignment(f"{file.parts[-3]}/{file.parts[-2]}") for file in sorted(COURSE.glob("*/*/rubric.yaml"))]


def points_table(found: Assignment) -> str:
    """The rubric as a student reads it."""
    rows = ["| points | for |", "|---:|---|"]
    for item in found.items:
        text = item.name
        if item.kind == "right":
            text += ", hidden problems" if item.hidden else ""
        elif item.kind == "count":
            text += f": all at {item.full:g}, none at {item.none:g}"
            text += "" if item.least is None else f" and below {item.least:g}"
        elif item.kind in later(False):
            text += ", on a GPU" if item.kind == "speed" else ", read by the teacher"
        if item.needs:
            text += f"; none without points for {' and '.join(item.needs)}"
        rows.append(f"| {item.points:g} | {text} |")
    return "\n".join(rows)
