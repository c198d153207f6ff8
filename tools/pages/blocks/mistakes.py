"""Mistakes that tests put into a stage, and what `./lab check` says of each (tests/stages/test_mistakes.py)."""

from tools.pages.data import Data
from tools.repository import ROOT, read_json

FOLDER = ROOT / "tests/fixtures/mistakes"


def message(name: str) -> list[str]:
    """What is said of it, without what other mistakes have, too."""
    text = (FOLDER / "expected" / f"{name.replace(' ', '_')}.txt").read_text()
    said = text.split("\n\n./lab run")[0].splitlines()
    return [line.removeprefix("  ") for line in said if not line.startswith(("  Not right either", "sgemm/90_mine:"))]


def block_mistakes(_: Data, *words: str) -> list[str]:
    """Those of a kind: the change of the right stage, and the message."""
    kind, lines = " ".join(words), []
    for mistake in read_json(FOLDER / "mistakes.json"):
        if mistake["kind"] != kind:
            continue
        word = mistake["name"].split()[0]
        is_name = len(word) == 1 or word == "float4"  # of something in the code
        heading = mistake["name"] if is_name else mistake["name"][0].upper() + mistake["name"][1:]
        found = "" if mistake["run"] else " Only `check` finds it, not `run` at its default sizes."
        lines += [f"**{heading}.**{found}", "", "```diff"]
        for before, after in mistake["replace"]:
            lines += [f"{sign}{line}" for sign, text in (("-", before), ("+", after)) for line in text.splitlines()]
        lines += ["```", "", "```text", *message(mistake["name"]), "```", ""]
    return lines[:-1]
