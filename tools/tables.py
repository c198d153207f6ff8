"""Numbers and tables as pages and terminals show them."""

from collections.abc import Collection

Table = tuple[list[str], list[list[str]]]  # head and rows
Tables = tuple[list[Table], list[str]]  # and sentences below them


def tflops(gflops: float) -> str:
    return f"{gflops / 1e3:.2f}" if gflops < 1e4 else f"{gflops / 1e3:.1f}"


def number(x: float | None, missing: str = "-", whole_from: float = 1000) -> str:
    """Three digits, and no decimals from `whole_from` on."""
    return missing if x is None else f"{x:,.0f}" if abs(x) >= whole_from else f"{x:.3g}"


def rounded(x: float | None) -> str:
    """As the tables of experiments have numbers: without decimals from 100 on."""
    return number(x, whole_from=100)


def percent(x: float | None) -> str:
    return "-" if x is None else f"{x:.1f} %"


def table(head: list[str], rows: list[list[str]], left: Collection[str] | None = None) -> list[str]:
    """Markdown's lines. Columns are right-aligned, but for the first and those with these names (default: those of
    text)."""
    of_text = {head[0], "stage", "idea", "differences"} if left is None else set(left)
    rule = "|" + "|".join("---" if name in of_text else "---:" for name in head) + "|"
    return ["| " + " | ".join(head) + " |", rule, *("| " + " | ".join(row) + " |" for row in rows)]
