"""A page's markdown taken apart: blocks, sentences, and the few marks inside a line."""

import dataclasses
import html
import re
from collections.abc import Callable, Iterable

SECTION = re.compile(r"^## +(.*)")
GENERATED = re.compile(r"^<!-- generated: (.*?) -->$")
VALUE = re.compile(r"<!-- (?:= .*?|/) -->", re.S)
ITEM = re.compile(r"^(?:[-*+]|\d+\.) +")
FIGURE = re.compile(r"^!\[([^\]]*)\]\(([^)]*)\)\s*$")
FENCE = re.compile(r"^(`{3,}|~{3,})(\w*)")
# Where a sentence begins again: a capital, a digit, or something marked (code, a link, emphasis).
NEXT_SENTENCE = re.compile(r"(?<=[.!?:])([\")*_]*)\s+(?=[\"(*_A-Z0-9\x00])")
ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|cf|vs|al|Sec|Fig|No)\.$")


@dataclasses.dataclass
class Block:
    """`kind`: paragraph, item, table, code, figure or heading. `name`: of a block that is generated, its mark; of code
    its language; of a figure its file."""

    kind: str
    text: str
    name: str = ""
    mark: str = ""

    def rows(self) -> list[list[str]]:
        """A table's cells, without the rule below its head."""
        cells = [
            [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
            for line in self.text.splitlines()
        ]
        return [row for n, row in enumerate(cells) if n != 1]

    def is_number(self) -> list[bool]:
        """Of a table's columns: those that its rule sets to the right."""
        return [cell.strip().endswith(":") for cell in self.text.splitlines()[1].strip().strip("|").split("|")]


def sections(page: str) -> dict[str, list[str]]:
    """Its lines by heading of the second level; what stands before the first is ""'s. Not by those in code."""
    found: dict[str, list[str]] = {"": []}
    heading, fence = "", ""
    for line in page.splitlines():
        if match := FENCE.match(line.strip()):
            fence = "" if fence and line.strip().startswith(fence) else fence or match[1]
        if not fence and (match := SECTION.match(line)):
            heading = match[1].strip()
            found.setdefault(heading, [])
        else:
            found[heading].append(line)
    return found


def blocks(lines: Iterable[str]) -> list[Block]:
    found: list[Block] = []
    mark, open_kind = "", ""
    fence: str = ""
    for line in lines:
        text = line.strip()
        if fence:
            if text.startswith(fence):
                fence = ""
            else:
                found[-1].text += line + "\n"
            continue
        if match := FENCE.match(text):
            fence, open_kind = match[1], ""
            found.append(Block("code", "", match[2], mark))
        elif match := GENERATED.match(text):
            mark, open_kind = match[1], ""
        elif text == "<!-- end generated -->":
            mark = open_kind = ""
        elif not text or re.match(r"</?(?:details|summary)", text):
            open_kind = ""
        elif match := FIGURE.match(text):
            open_kind = ""
            found.append(Block("figure", match[1], match[2].rsplit("/", 1)[-1], mark))
        elif match := re.match(r"#{3,} +(.*)", text):
            open_kind = ""
            found.append(Block("heading", match[1], "", mark))
        elif text.startswith("|"):
            if open_kind != "table":
                found.append(Block("table", "", "", mark))
            found[-1].text += text + "\n"
            open_kind = "table"
        elif ITEM.match(line):
            found.append(Block("item", ITEM.sub("", text), "", mark))
            open_kind = "item"
        elif open_kind in ("paragraph", "item"):
            found[-1].text += " " + text
        else:
            found.append(Block("paragraph", text, "", mark))
            open_kind = "paragraph"
    for block in found:
        block.text = VALUE.sub("", block.text)
    return found


def hidden(text: str) -> tuple[str, list[str]]:
    """Code and links stand aside as one character each and a number, so that nothing looks into them."""
    parts: list[str] = []

    def keep(match: re.Match[str]) -> str:
        parts.append(match[0])
        return f"\0{len(parts) - 1}\0"

    return re.sub(r"(`+).+?\1|\[(?:[^\]`]|`[^`]*`)*\]\([^)]*\)", keep, text), parts


def restored(text: str, parts: list[str]) -> str:
    return re.sub(r"\0(\d+)\0", lambda match: parts[int(match[1])], text)


def sentences(text: str) -> list[str]:
    """As they stand. A head such as **Verdict.** belongs to the sentence behind it, and emphasis is not cut through; a
    colon ends a sentence only at the end of its paragraph."""
    masked, parts = hidden(" ".join(text.split()))
    found: list[str] = []
    begin = 0
    for match in NEXT_SENTENCE.finditer(masked):
        so_far = masked[begin : match.start() + len(match[1])].strip()
        is_head = re.fullmatch(r"\*+[^*.]*\.?\*+|\d+\.", so_far) and len(so_far) < 40
        if (
            masked[match.start() - 1] == ":"
            or is_head
            or ABBREVIATION.search(so_far)
            or so_far.count("**") % 2
            or so_far.replace("**", "").count("*") % 2
            or so_far.count("(") > so_far.count(")")
        ):
            continue
        found.append(so_far)
        begin = match.end()
    found.append(masked[begin:].strip())
    return [restored(sentence, parts) for sentence in found if sentence]


def first(text: str, most: int = 2, room: int = 170) -> str:
    """A paragraph's first sentence, and further ones as long as all together have `room`."""
    found = sentences(text)
    taken = found[:1]
    for sentence in found[1:most]:
        if len(" ".join([*taken, sentence])) > room:
            break
        taken.append(sentence)
    # What a colon leads to may stand on another slide.
    while len(taken) > 1 and taken[-1].endswith(":"):
        taken.pop()
    return " ".join(taken)


def plain(text: str) -> str:
    """Without marks."""
    text = re.sub(r"\[((?:[^\]`]|`[^`]*`)*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"\*+|`", "", text)


def inline(text: str) -> str:
    """HTML. Links are their text: a slide has nothing to be clicked away to."""
    text = re.sub(r"\[((?:[^\]`]|`[^`]*`)*)\]\([^)]*\)", r"\1", text)
    masked, parts = hidden(text)

    def code(part: str) -> str:
        return f"<code>{html.escape(part.strip('`').strip(), quote=False)}</code>"

    shown = html.escape(masked, quote=False)
    rules: list[tuple[str, str | Callable[[re.Match[str]], str]]] = [
        (r"\*\*(?=\S)(.+?)(?<=\S)\*\*", r"<b>\1</b>"),
        (r"\*(?=\S)([^*]+?)(?<=\S)\*", r"<i>\1</i>"),
        (r"\\([*_|<>])", r"\1"),
        (r"&lt;(/?su[bp])&gt;", r"<\1>"),
        (r"&lt;br&gt;", "<br>"),
        (r"\0(\d+)\0", lambda match: code(parts[int(match[1])])),
    ]
    for pattern, by in rules:
        shown = re.sub(pattern, by, shown)
    return shown
