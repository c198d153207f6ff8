"""The verdicts, counted."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from tools.mutate.judge import MISSED, PROVEN, REJECTED, SAME_CODE, Verdict
from tools.repository import CPU, Json, commit_of_tree, read_json_if_there, stages, write_digest

RECORD = CPU / "mutants.json"

MINIMUM = 98.0  # percent of those that are not equivalent
MOST_PROVEN = 3.0  # percent of all: a proof is easier to get wrong than a compiler


@dataclasses.dataclass(frozen=True)
class Count:
    drawn: int
    rejected: int
    quick: int  # of those that are rejected
    same_code: int
    proven: int
    missed: int

    @property
    def percent(self) -> float:
        """Rejected, of those that are not equivalent."""
        judged = self.drawn - self.same_code - self.proven
        return 100 * self.rejected / judged if judged else 100.0

    @property
    def percent_proven(self) -> float:
        return 100 * self.proven / self.drawn if self.drawn else 0.0

    def to_json(self) -> Json:
        return dataclasses.asdict(self) | {"percent": round(self.percent, 2)}


def count(verdicts: Iterable[Verdict]) -> Count:
    verdicts = list(verdicts)
    number = {name: sum(v.outcome == name for v in verdicts) for name in (REJECTED, SAME_CODE, PROVEN, MISSED)}
    return Count(
        drawn=len(verdicts),
        rejected=number[REJECTED],
        quick=sum(v.by == "quick" for v in verdicts),
        same_code=number[SAME_CODE],
        proven=number[PROVEN],
        missed=number[MISSED],
    )


HEADING = (
    f"{'stage':<34} {'drawn':>5} {'rejected':>8} {'(quick)':>7} {'same code':>9} {'proven':>6} {'missed':>6} {'':>8}"
)


def row(name: str, of: Count) -> str:
    numbers = f"{of.drawn:>5} {of.rejected:>8} {of.quick:>7} {of.same_code:>9} {of.proven:>6} {of.missed:>6}"
    return f"{name:<34} {numbers} {of.percent:>6.1f} %"


def survivors(verdicts: Iterable[Verdict]) -> str:
    """Those that a person has to look at: missed ones, and proofs."""
    text = ""
    for verdict in verdicts:
        if verdict.outcome in (MISSED, PROVEN):
            reason = f": {verdict.reason}" if verdict.reason else ""
            text += f"{verdict.outcome}{reason}\n    {verdict.stage}: {verdict.mutant.describe()}\n"
    return text


def record(seed: int, counts: dict[str, Count]) -> None:
    """Replaces what is committed of these stages."""
    known = {each["stage"]: each for each in (read_json_if_there(RECORD) or {"stages": []})["stages"]}
    made = {"seed": seed, "commit": commit_of_tree(RECORD)}
    known |= {stage: {"stage": stage, **made, **dataclasses.asdict(of)} for stage, of in counts.items()}
    order = stages()
    kept = sorted(
        (each for each in known.values() if each["stage"] in order), key=lambda each: order.index(each["stage"])
    )
    write_digest(RECORD, {"stages": kept})
