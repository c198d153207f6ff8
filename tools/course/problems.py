"""The problems that a submission is tried on: those of the rubric, and others drawn from a secret."""

from __future__ import annotations

import hashlib
import random
from typing import Any

from tools.course.assignment import Assignment, Item
from tools.repository import Json

SCALARS = (1.0, 1.5, -0.5, 2.0, 0.75, -2.0)
RUNS = 4  # of a problem whose result is to have the same bits every time


def drawn(generator: random.Random, wanted: Any) -> int:
    """A number, or one of [least, most] or [least, most, step]."""
    if not isinstance(wanted, list):
        return int(wanted)
    return generator.randrange(wanted[0], wanted[1] + 1, wanted[2] if len(wanted) > 2 else 1)


def scalar(generator: random.Random, wanted: Any) -> float:
    return generator.choice(SCALARS) if wanted == "any" else float(wanted)


def problem_of(generator: random.Random, wanted: Json, assignment: Assignment) -> Json:
    """One that the judge takes."""
    m, n, k = (drawn(generator, wanted[name]) for name in "mnk")
    problem: Json = {"m": m, "n": n, "k": k, "seed": generator.getrandbits(32)}
    problem["alpha"] = scalar(generator, wanted.get("alpha", 1))
    problem["beta"] = scalar(generator, wanted.get("beta", 0))
    problem["dist"] = wanted.get("dist", "uniform")
    if wanted.get("padded"):
        row_of_a = k if assignment.operation == "gemm" else m
        for name, row in (("lda", row_of_a), ("ldb", n), ("ldc", n)):
            problem[name] = max(row, 1) + generator.randrange(1, 40)
        problem["offset"] = generator.randrange(0, 4)
    problem |= {name: wanted[name] for name in ("lda", "ldb", "ldc", "offset") if name in wanted}
    return problem


def problems_of(assignment: Assignment, secret: str) -> list[tuple[Item, Json]]:
    """With the item that each belongs to. The same for the same secret."""
    found: list[tuple[Item, Json]] = []
    for item in assignment.items:
        seed = hashlib.sha256(f"{assignment.id}\0{item.name}\0{secret}".encode()).digest()
        generator = random.Random(seed)
        wanted = list(item.problems)
        if item.hidden:
            wanted = [item.hidden] * item.hidden["count"]
        if item.at and item.kind != "speed":  # that is a GPU's
            wanted = [item.at]
        for each in wanted:
            problem = problem_of(generator, each, assignment)
            if item.kind == "count":
                problem["count"] = True
                problem["sectors_of_blocks"] = item.metric == "most_sectors_of_a_block"
            if item.kind == "reproducible":
                problem["runs"] = RUNS
            found.append((item, problem))
    return found
