"""The programs in right/ and wrong/, and where the defects of the wrong ones are marked; and those in cases/, of which
the executor's record tells which are right.

A line with `// defect: KIND` must be named by a report of that kind; with `// defect: KIND or KIND` by one of either.
Of a race's two parties the other line has `// also here`. `// warning: KIND`: as a defect, but the exit status is 0.
"""

from __future__ import annotations

import dataclasses
import pathlib
import re

from tools.repository import CPU, read_json

FOLDER = pathlib.Path(__file__).resolve().parent
MARK = re.compile(r"// (defect|warning): (.+)$")
OTHER_MARK = "// also here"


@dataclasses.dataclass(frozen=True)
class Mark:
    file: str
    line: int
    kinds: tuple[str, ...]
    is_warning: bool
    others: tuple[int, ...]  # lines of the same file: one of them is the other party


@dataclasses.dataclass(frozen=True)
class Program:
    name: str
    files: tuple[pathlib.Path, ...]
    mark: Mark | None  # None: a right one, or a case
    is_case: bool = False

    @property
    def expected_output(self) -> pathlib.Path:
        return FOLDER / "right" / f"{self.name}.out"


def mark_of(file: pathlib.Path) -> Mark | None:
    lines = file.read_text().splitlines()
    found = [(number, MARK.search(text)) for number, text in enumerate(lines, 1)]
    marks = [(number, match) for number, match in found if match]
    others = tuple(number for number, text in enumerate(lines, 1) if OTHER_MARK in text)
    if not marks:
        if others:
            raise ValueError(f"{file}:{others[0]}: '{OTHER_MARK}', but no defect")
        return None
    if len(marks) > 1:
        raise ValueError(f"{file}: {len(marks)} marks; a program has one defect")
    number, match = marks[0]
    return Mark(file.name, number, tuple(match[2].split(" or ")), match[1] == "warning", others)


def programs() -> list[Program]:
    result = []
    for kind in ("right", "wrong"):
        for entry in sorted((FOLDER / kind).iterdir()):
            if entry.suffix != ".cu" and not entry.is_dir():
                continue
            files = (*sorted(entry.glob("*.cu")), *sorted(entry.glob("*.c"))) if entry.is_dir() else (entry,)
            mark = next(filter(None, map(mark_of, files)), None)
            if (mark is None) != (kind == "right"):
                raise ValueError(f"{entry}: {'no' if mark is None else 'a'} defect is marked")
            result.append(Program(entry.stem, files, mark))
    names = [program.name for program in result]
    if len(set(names)) < len(names):
        raise ValueError("two programs have one name")
    return result


def cases() -> list[Program]:
    return [Program(file.stem, (file,), None, True) for file in sorted((FOLDER / "cases").glob("*.cu"))]


def outputs_of_cases() -> dict[str, list[str]]:
    """Of those of which nothing is reported."""
    recorded = [entry for entry in read_json(CPU / "programs.json")["programs"] if entry["name"].startswith("cases/")]
    return {entry["name"].removeprefix("cases/"): entry["output"] for entry in recorded if not entry["reports"]}


def chosen(names: str | None, every: list[Program] | None = None) -> list[Program]:
    """Those of a list with commas, or all; of right/ and wrong/, if not said otherwise."""
    every = programs() if every is None else every
    if names is None:
        return every
    wanted = names.split(",")
    for name in wanted:
        if name not in (program.name for program in every):
            raise ValueError(f"no program '{name}' in {FOLDER.name}/")
    return [program for program in every if program.name in wanted]
