"""Mistakes that tests put into a stage, and what `./lab check` says of each (tests/stages/test_mistakes.py)."""

import re

from tools.mutate.report import RECORD, Count
from tools.pages.data import Data
from tools.repository import ROOT, read_json
from tools.tables import percent, table

FOLDER = ROOT / "tests/fixtures/mistakes"


def message(name: str) -> list[str]:
    """What is said of it, without what other mistakes have, too."""
    text = (FOLDER / "expected" / f"{name.replace(' ', '_')}.txt").read_text()
    said = text.split("\n\n./lab run")[0].splitlines()
    told = (line for line in said if not re.match("  Not right either|[a-z]+/[0-9a-z_]+: fail", line))
    return [line.removeprefix("  ") for line in told]


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
        where = f" In [{mistake['stage']}.cu](../../{mistake['stage']}.cu)." if "stage" in mistake else ""
        lines += [f"**{heading}.**{where}{found}", "", "```diff"]
        for before, after in mistake["replace"]:
            lines += [f"{sign}{line}" for sign, text in (("-", before), ("+", after)) for line in text.splitlines()]
        lines += ["```", "", "```text", *message(mistake["name"]), "```", ""]
    return lines[:-1]


def block_mutants(_: Data) -> list[str]:
    """What became of each stage's mutants."""
    fields = ("drawn", "rejected", "quick", "same_code", "proven", "missed")
    counts = {each["stage"]: Count(*(each[name] for name in fields)) for each in read_json(RECORD)["stages"]}
    counts["all"] = Count(*(sum(getattr(of, name) for of in counts.values()) for name in fields))
    rows = [
        [f"`{stage}`" if "/" in stage else stage, *(str(getattr(of, name)) for name in fields), percent(of.percent)]
        for stage, of in counts.items()
        if of.drawn
    ]
    return table(["stage", "drawn", "rejected", "by `--quick`", "same code", "proven", "missed", "rejected, %"], rows)
