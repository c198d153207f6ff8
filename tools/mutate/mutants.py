"""The mutants of a stage, and which of them a seed draws."""

from __future__ import annotations

import dataclasses
import functools
import pathlib
import random
import re
from collections.abc import Iterator

from tools.mutate.operators import edits
from tools.mutate.source import blanked, kernel_code
from tools.repository import FAMILIES, ROOT, relative, stage_file, stages


@dataclasses.dataclass(frozen=True)
class Mutant:
    file: str  # relative to the repository
    line: int
    operator: str
    begin: int
    end: int
    replacement: str

    def apply(self, text: str) -> str:
        return text[: self.begin] + self.replacement + text[self.end :]

    def before(self) -> str:
        """The lines that it changes, as one."""
        return self.lines_of(text_of(self.file), self.end)

    def after(self) -> str:
        """What becomes of them."""
        return self.lines_of(self.apply(text_of(self.file)), self.begin + len(self.replacement))

    def lines_of(self, text: str, end: int) -> str:
        return " ".join(text[text.rfind("\n", 0, self.begin) + 1 : text.find("\n", end)].split())

    def describe(self) -> str:
        return f"{self.file}:{self.line}: {self.operator}: {self.before()}  -->  {self.after()}"


@functools.cache
def text_of(file: str) -> str:
    return (ROOT / file).read_text()


def mutants_of(file: str, text: str) -> dict[str, list[Mutant]]:
    """All of a file, by operator."""
    code = blanked(text)
    found: dict[str, list[Mutant]] = {}
    seen = set()
    for declared, body, end in kernel_code(code):
        for name, (first, last, replacement) in edits(code[body:end], code[declared:body]):
            first, last = first + body, last + body
            replacement += "\n" * text.count("\n", first, last)  # lines keep their numbers
            # Two operators may make the same text.
            key = first, last, replacement
            if text[first:last] != replacement and key not in seen and code[first:last].count("\n") < 4:
                seen.add(key)
                found.setdefault(name, []).append(
                    Mutant(file, text.count("\n", 0, first) + 1, name, first, last, replacement)
                )
    return found


# Headers with kernels that are parts of stages. A stage includes them, or hands their names on to be compiled at run
# time.
PART = re.compile(
    r'"((?:tensorcore/presplit|tensorcore/pipeline|tsm/generated|stages/summit)/[\w.]+\.cuh|'
    r'tensorcore/(?:copy|store)_tile\.cuh|common/kernel/schedule\.cuh)"'
)


@functools.cache
def parts_of(file: pathlib.Path) -> frozenset[pathlib.Path]:
    found: set[pathlib.Path] = set()
    for name in PART.findall(file.read_text()):
        if (ROOT / name).exists():
            found |= {ROOT / name} | parts_of(ROOT / name)
    return frozenset(found)


def is_probe(stage: str) -> bool:
    return "gemm::ProbeRegistration" in stage_file(stage).read_text()


def gemm_stages() -> list[str]:
    """family/NN_name of those that compute a product."""
    return [stage for stage in stages() if not is_probe(stage)]


def program_of(stage: str) -> str:
    return stage.replace("/", "_")


def stage_of(program: str) -> str:
    """family/NN_name of family_NN_name."""
    family = next((family for family in FAMILIES if program.startswith(f"{family}_")), None)
    return f"{family}/{program.removeprefix(f'{family}_')}" if family else program


@functools.cache
def mutants_in(stage: str) -> dict[str, list[Mutant]]:
    """All of a stage's file and its parts, by operator."""
    file = stage_file(stage)
    found: dict[str, list[Mutant]] = {}
    for source in (file, *sorted(parts_of(file))):
        for operator, mutants in mutants_of(relative(source), source.read_text()).items():
            found.setdefault(operator, []).extend(mutants)
    return found


def drawn(stage: str, seed: int) -> Iterator[Mutant]:
    """All of a stage's in an order that the seed gives, the same on every machine: operators in turns that are
    shuffled, so that one with two places has its share, and of each a place by chance."""
    chance = random.Random(f"mutants of {stage} {seed}")
    left = {operator: chance.sample(mutants, len(mutants)) for operator, mutants in sorted(mutants_in(stage).items())}
    while left:
        for operator in chance.sample(sorted(left), len(left)):
            yield left[operator].pop()
            if not left[operator]:
                del left[operator]
