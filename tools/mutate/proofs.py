"""Mutants that are known to compute the same as the stage, each with the reason why, in
tests/stages/equivalent_mutants.json. They are found by what the lines say, not by where they stand."""

from __future__ import annotations

import dataclasses
import functools
import json

from tools.mutate.mutants import Mutant
from tools.repository import ROOT

FILE = ROOT / "tests/stages/equivalent_mutants.json"


@dataclasses.dataclass(frozen=True)
class Proof:
    file: str
    operator: str
    line: str
    mutant: str  # what becomes of the line
    proof: str

    def is_of(self, mutant: Mutant) -> bool:
        return (self.file, self.operator, self.line, self.mutant) == (
            mutant.file,
            mutant.operator,
            mutant.before(),
            mutant.after(),
        )


@functools.cache
def proofs() -> tuple[Proof, ...]:
    return tuple(Proof(**entry) for entry in json.loads(FILE.read_text())) if FILE.exists() else ()


def proof_of(mutant: Mutant) -> str:
    """Empty if there is none."""
    return next((proof.proof for proof in proofs() if proof.is_of(mutant)), "")
