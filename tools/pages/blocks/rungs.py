"""What a stage changes of the one that it grows from."""

import os

from tools import diff
from tools.pages.data import Data
from tools.repository import DOCS, FAMILIES, ROOT, stages
from tools.rungs import base_of, change, is_first_of_a_kind, number_of
from tools.tables import table

MOST = 150  # lines of a diff on a page


def block_diff(data: Data, stage: str) -> list[str]:
    """The change of code since the stage's base, folded; if it is long, how to see it."""
    base = base_of(stage)
    if base is None:
        raise KeyError(f"{stage} has no base")
    of = change(base, stage)
    family = stage.split("/")[0]
    command = f"./lab diff {number_of(stage) if family == 'sgemm' else stage.split('_')[0]}"
    lines = "1 line" if of.lines == 1 else f"{of.lines:,} lines"
    since = f"Code changed since {base.split('/')[1]}: {lines}"
    if is_first_of_a_kind(stage):
        return [f"First of a kind: read the file as a whole. {since}; `{command}` shows how much of that stage is left."]
    text = diff.text_of(of)
    if len(text) > MOST:
        return [f"{since}, too many to read here. `{command}` shows them, `{command} --html FILE` side by side."]
    return [
        f"<details><summary>{since} (<code>{command}</code>)</summary>",
        "",
        "```diff",
        *text,
        "```",
        "",
        "</details>",
    ]


def block_excerpt(data: Data, stage: str, *phrase: str) -> list[str]:
    """Of a stage (or another file: tsm/probes/NAME.cuh, common/kernel/NAME.cuh), the first line of code with the phrase
    in it, and what is indented below it."""
    family, _, name = stage.partition("/")
    folder = ROOT / FAMILIES.get(family, family)
    lines = (folder / (name if "." in name else f"{name}.cu")).read_text().splitlines()
    text = " ".join(phrase)
    begin = next((i for i, line in enumerate(lines) if text in line and not line.startswith("//")), None)
    if begin is None:
        raise KeyError(f"{stage} has no line with '{text}'")

    def indent(line: str) -> int:
        return len(line) - len(line.lstrip())

    end, margin = begin + 1, indent(lines[begin])
    while end < len(lines) and (not lines[end] or indent(lines[end]) > margin or lines[end].startswith("#pragma")):
        end += 1
    end += end < len(lines) and lines[end].strip() == "}"
    while not lines[end - 1]:
        end -= 1
    return ["```cuda", *(line[margin:] if not line.startswith("#") else line for line in lines[begin:end]), "```"]


def block_stage_index(data: Data, family: str, folder: str) -> list[str]:
    """A family's stages, from whose pages the titles are; `folder`: where the page lies that the links start from."""
    rows = []
    for stage in (stage for stage in stages() if stage.startswith(f"{family}/")):
        page = DOCS / FAMILIES[family] / f"{stage.split('/')[1]}.md"
        title = page.read_text().split("\n", 1)[0].removeprefix("# ")
        base = base_of(stage)
        link = os.path.relpath(page, ROOT / folder)
        rows.append([f"[{title}]({link})", number_of(base) if base else "", data.idea(stage)])
    return table(["page", "since", "idea"], rows)
