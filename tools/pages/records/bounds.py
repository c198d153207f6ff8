"""What the counts and the machine code predict for the reference GPU, as common/measure/reference_gpu.cpp has it."""

from __future__ import annotations

import dataclasses

from tools.pages.reference import LADDERS, Ladder
from tools.repository import Json
from tools.stats import rank_correlation

DATA = ("shared memory", "L1 cache", "L1 tags")
ISSUE = "issue slots"
TIE = 1.02  # times that differ by less are one


@dataclasses.dataclass(frozen=True)
class Prediction:
    least_ms: float  # if everything overlaps
    most_ms: float  # if operands come first and are then multiplied
    by: str

    def middle_ms(self) -> float:
        return (self.least_ms + self.most_ms) / 2


def predicted(stage: Json) -> Prediction:
    """Of a stage in bounds.json, on its ladder's reference problem."""
    parts = dict(stage["parts_ms"])
    data = max((name for name in parts if name in DATA), key=parts.__getitem__)
    if "instructions" in stage:
        parts[ISSUE] = stage["instructions"] / 4 * parts[data] / stage["cycles"][data]
    issue = parts.get(ISSUE, 0.0)
    alone = {name: ms for name, ms in parts.items() if name not in DATA and name != ISSUE}
    longest = max(alone, key=alone.__getitem__)
    together = parts[data] + issue
    by = longest if alone[longest] >= together else data if parts[data] > issue else ISSUE
    return Prediction(max(parts.values()), max(alone[longest], together), by)


def tied(times: list[float]) -> list[float]:
    """Those within two percent of the shortest of a group have its time."""
    found, shortest = list(times), 0.0
    for at in sorted(range(len(times)), key=times.__getitem__):
        if times[at] > TIE * shortest:
            shortest = times[at]
        found[at] = shortest
    return found


@dataclasses.dataclass(frozen=True)
class Order:
    """How well the predicted order of a ladder's stages is the measured one."""

    stages: list[str]
    predicted_ms: list[float]  # halfway between the two predictions
    measured_ms: list[float]
    within: int  # stages that are as fast as predicted, between the slowest and the fastest that it can be

    def correlation(self) -> float | None:
        return rank_correlation(tied(self.predicted_ms), tied(self.measured_ms))


def order(ladder: Ladder, stages: list[Json], first: str = "") -> Order:
    """From the stage with this name on. Only those that were measured."""
    measured = ladder.measured()
    names = [each["stage"] for each in stages]
    begin = next((at for at, name in enumerate(names) if first and name.startswith(first)), 0)
    found = [each for each in stages[begin:] if each["stage"] in measured]
    predictions = [predicted(each) for each in found]
    times = [measured[each["stage"]]["time_ms"]["median"] for each in found]
    inside = sum(p.least_ms <= ms <= p.most_ms for p, ms in zip(predictions, times))
    return Order([each["stage"] for each in found], [p.middle_ms() for p in predictions], times, inside)


def ladder_of(stage: str, bounds: Json) -> tuple[Ladder, Json] | None:
    """Where an SGEMM or Tensor Core stage is."""
    for name in ("sgemm", "hgemm", "emulated"):
        for each in bounds["ladders"].get(name, {"stages": []})["stages"]:
            if each["stage"] == stage:
                return LADDERS[name], each
    return None
