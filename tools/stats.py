"""Statistics that several programs need."""

from collections.abc import Sequence


def upper_median(values: Sequence[float]) -> float:
    """The middle value; of an even number of values the upper of the two in the middle."""
    return sorted(values)[len(values) // 2]


def ranks(values: Sequence[float]) -> list[float]:
    """Of each value, from 0; equal ones share the mean of theirs."""
    order = sorted(range(len(values)), key=values.__getitem__)
    found, i = [0.0] * len(values), 0
    while i < len(order):
        j = i
        while j < len(order) and values[order[j]] == values[order[i]]:
            j += 1
        for at in order[i:j]:
            found[at] = (i + j - 1) / 2
        i = j
    return found


def rank_correlation(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Spearman's: the correlation of the ranks. None where it means nothing."""
    if len(x) < 3:
        return None
    a, b = ranks(x), ranks(y)
    mean = (len(a) - 1) / 2
    above = sum((p - mean) * (q - mean) for p, q in zip(a, b))
    below = (sum((p - mean) ** 2 for p in a) * sum((q - mean) ** 2 for q in b)) ** 0.5
    return above / below if below else None
