"""What an item of kind `count` can ask for, from what the judge counted on one problem."""

from __future__ import annotations

from tools.repository import Json

MEMORY = ("global_load", "global_store", "shared_load", "shared_store", "global_atomic", "shared_atomic")
PARTS = ("requests", "sectors_per_request", "conflicts_per_request", "requests_per_fma")
WHOLE = (
    "cycles_per_fma",
    "conflicts_per_fma",
    "requests_per_fma",
    "barriers_per_block",
    "bytes_over_compulsory",
    "tensor_share",
    "tensor_flops_over_needed",
    "other_flops_over_needed",
    "shared_bytes_per_block",
    "most_sectors_of_a_block",
)
METRICS = (*WHOLE, *(f"global_load.{part}" for part in PARTS))  # and of the other kinds of memory


def is_metric(name: str) -> bool:
    kind, _, part = name.partition(".")
    return name in WHOLE or (kind in MEMORY and part in PARTS)


def over(number: float, count: float) -> float:
    """Per something. Of nothing there is nothing."""
    return number / count if count else 0.0


def metric(name: str, found: Json) -> float | None:
    """Nothing where it is per request and there is none: who does without shared memory has no conflicts, and no merit.

    Per FMA means: per warp-wide FMA, or what Tensor Cores do instead (Counts::steps).
    """
    counts = found["counts"]
    steps = counts["steps"]
    kind, _, part = name.partition(".")
    if part:
        of = counts[kind]
        if part.endswith("per_request") and not of["requests"]:
            return None
        return {
            "requests": lambda: float(of["requests"]),
            "sectors_per_request": lambda: over(of["sectors"], of["requests"]),
            "conflicts_per_request": lambda: over(of["bank_conflicts"], of["requests"]),
            "requests_per_fma": lambda: over(of["requests"], steps),
        }[part]()
    moved = 32 * (counts["global_load"]["sectors"] + counts["global_store"]["sectors"])
    shared = (counts["shared_load"], counts["shared_store"])
    return {
        "cycles_per_fma": lambda: over(max(counts["data_cycles"], counts["tag_cycles"]), steps),
        "conflicts_per_fma": lambda: over(sum(of["bank_conflicts"] for of in shared), steps),
        "requests_per_fma": lambda: over(sum(counts[f"{at}_load"]["requests"] for at in ("global", "shared")), steps),
        "barriers_per_block": lambda: over(counts["barriers"], counts["blocks"]),
        "bytes_over_compulsory": lambda: over(moved, found["compulsory_bytes"]),
        "tensor_share": lambda: over(counts["tensor_flops"], counts["flops"]),
        "tensor_flops_over_needed": lambda: over(counts["tensor_flops"], found["compulsory_flops"]),
        "other_flops_over_needed": lambda: over(counts["flops"] - counts["tensor_flops"], found["compulsory_flops"]),
        "shared_bytes_per_block": lambda: float(counts["shared_bytes_per_block"]),
        "most_sectors_of_a_block": lambda: float(counts["most_sectors_of_a_block"]),
    }[name]()


def is_possible(found: Json) -> bool:
    """No kernel asks for fewer bytes than the operands and the result have, nor computes a product with fewer
    operations than it takes: counts below that are no counts. Half of them may be multiplications, which nobody counts:
    a sum of two products is one multiplication, one FMA and one addition."""
    counts = found["counts"]
    asked = sum(counts[kind]["bytes"] for kind in ("global_load", "global_store", "global_atomic"))
    return asked >= 0.99 * found["compulsory_bytes"] and counts["flops"] >= 0.49 * found["compulsory_flops"]


def share(value: float, full: float, none: float, least: float | None = None) -> float:
    """1 at full, 0 at none, straight between. A thousandth of `full` is air, because rubrics round.

    0 below `least`: who has next to none of what is to be few has not done the work.
    """
    if least is not None and value < least:
        return 0.0
    air = 0.001 * abs(full)
    if full < none:
        value -= air
    else:
        value += air
    return min(1.0, max(0.0, (value - none) / (full - none)))
