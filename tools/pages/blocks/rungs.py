"""What a stage changes of the one that it grows from."""

from tools import diff
from tools.pages.data import Data
from tools.rungs import base_of, change

MOST = 200  # lines of a diff on a page


def block_diff(data: Data, stage: str) -> list[str]:
    """The change of code since the stage's base, folded; if it is long, how to see it."""
    base = base_of(stage)
    if base is None:
        raise KeyError(f"{stage} has no base")
    of = change(base, stage)
    family, name = stage.split("/")
    number = name.split("_")[0]
    command = f"./lab diff {number if family == 'sgemm' else f'{family}/{number}'}"
    lines = "1 line" if of.lines == 1 else f"{of.lines:,} lines"
    since = f"Code changed since {base.split('/')[1]}: {lines}"
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
