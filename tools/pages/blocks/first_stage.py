"""The steps of docs/your_first_stage.md, as tests/stages/test_first_stage.py goes through them."""

from tools.pages.data import Data
from tools.repository import ROOT, read_json

FOLDER = ROOT / "tests/fixtures/first_stage"


def fenced(language: str, lines: list[str]) -> list[str]:
    return [f"```{language}", *lines, "```"]


def block_first_stage_source(_: Data) -> list[str]:
    return fenced("cpp", (FOLDER / "90_mine.cu").read_text().splitlines())


def block_first_stage_said(_: Data, step: str) -> list[str]:
    return fenced("text", (FOLDER / f"said_{step}.txt").read_text().splitlines())


def block_first_stage_change(_: Data, step: str) -> list[str]:
    """What leads to a step."""
    change = read_json(FOLDER / "steps.json")[int(step) - 1]["replace"]
    lines = []
    for before, after in change:
        old, new = before.splitlines(), after.splitlines()
        lines += [f"-{line}" for line in old if line not in new]
        lines += [f" {line}" if line in old else f"+{line}" for line in new]
    return fenced("diff", lines)
