"""Sentences that several blocks have: where numbers are from, and what stands where there are none yet."""

from tools.repository import Json


def not_measured(command: str) -> list[str]:
    """The lines of a block whose measurement is missing."""
    return [f"*Not measured yet: `{command}` does it.*"]


NOT_COUNTED = ["*Not counted yet: `./lab measure counts --count` does it.*"]


def measured_on(run: Json) -> str:
    return f"{run['device']}, commit {run['commit']}"


def counted_by(run: Json) -> str:
    return f"CPU executor, {run['compiler']}, commit {run['commit']}"
