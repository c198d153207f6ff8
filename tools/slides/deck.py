"""What is on which slide.

A slide is laid out for 1280 x 720 in the browser's theme "projector"; heights here are in pixels of that, as
assets/slides.css makes them. tests/site/test_slides.py looks whether every slide fits.
"""

import base64
import dataclasses
import html
import re
import textwrap

from tools import diff
from tools.pages.data import Data
from tools.repository import DOCS, FAMILIES, FIGURES, relative
from tools.rungs import base_of, change
from tools.site.page import html_page
from tools.slides import choice
from tools.slides.chart import chart_of, html_of
from tools.slides.text import Block, blocks, first, inline, plain, sections, sentences

ROOM = 560  # below the heading
LINE, GAP, LETTERS = 34, 10, 82  # of text: height, space behind a paragraph, letters in a line
CODE_LINE, CODE_LETTERS, CODE_LINES = 26, 98, 18
ROOMY_LETTERS, ROOMY_LINES = 76, 14
ROW_LINE, ROW_GAP, TABLE_LETTERS = 27, 8, 124
DIFF_SLIDES = 3  # of a stage
BAR = 44
LARGER = 1.3  # times the letters, where a slide has room for it: class roomy


@dataclasses.dataclass
class Slide:
    kind: str
    body: str
    heading: str = ""  # default: the kind
    roomy: bool = False


@dataclasses.dataclass
class Piece:
    """A part of a slide that is not divided, and how high it is."""

    body: str
    height: int
    letters: int = 0  # of a table: how wide it is


def lines_of(text: str, letters: int) -> int:
    return max(1, -(-len(plain(text)) // letters))


def bullet(text: str, under: bool = False) -> Piece:
    style = ' class="under"' if under else ""
    return Piece(f"<li{style}>{inline(text)}</li>", lines_of(text, LETTERS - 4) * LINE + GAP)


def listed(pieces: list[Piece]) -> Piece:
    return Piece(f"<ul>{''.join(piece.body for piece in pieces)}</ul>", sum(piece.height for piece in pieces))


def heights(rows: list[list[str]]) -> list[int]:
    """Of a table's rows. Where all cells in one line are too wide, columns get shares of the width by their longest
    cell, and cells break."""
    columns = range(max(map(len, rows)))
    longest = [max((len(plain(row[c])) for row in rows if c < len(row)), default=0) + 3 for c in columns]
    share = min(1, TABLE_LETTERS / sum(longest))

    def lines(row: list[str]) -> int:
        return max(-(-len(plain(cell)) // max(int(longest[c] * share) - 3, 4)) for c, cell in enumerate(row))

    return [max(lines(row), 1) * ROW_LINE + ROW_GAP for row in rows]


def tables(block: Block) -> list[Piece]:
    """A long one in parts, each with its head."""
    head, *rows = block.rows()
    wide = max(len(head), *(len(row) for row in rows)) if rows else len(head)

    def line(row: list[str], tag: str) -> str:
        cells = row + [""] * (wide - len(row))
        sides = ("" if c < len(right) and right[c] else ' class="words"' for c in range(wide))
        return "<tr>" + "".join(f"<{tag}{side}>{inline(cell)}</{tag}>" for cell, side in zip(cells, sides)) + "</tr>"

    of = heights([head, *rows])
    right = block.is_number()
    letters = sum(max(len(plain(row[c])) + 3 for row in [head, *rows] if c < len(row)) for c in range(wide))

    def whole(part: list[int]) -> Piece:
        top = line(head, "th") if any(head) else ""
        height = of[0] * any(head) + sum(of[n] for n in part) + 2 * GAP
        return Piece(f"<table>{top}{''.join(line(rows[n - 1], 'td') for n in part)}</table>", height, letters)

    parts: list[list[int]] = [[]]
    for n in range(1, len(rows) + 1):
        if parts[-1] and whole([*parts[-1], n]).height > ROOM:
            parts.append([])
        parts[-1].append(n)
    return [whole(part) for part in parts]


def packed(pieces: list[Piece]) -> list[Piece]:
    """Slides of pieces in their order, about equally full."""
    total = sum(piece.height for piece in pieces)
    share = total / max(-(-total // ROOM), 1)
    slides: list[Piece] = []
    for piece in pieces:
        # A piece goes where the larger part of it would lie.
        height = slides[-1].height if slides else 0
        if not slides or height + piece.height > ROOM or height + piece.height / 2 > share:
            slides.append(Piece("", 0))
        slides[-1].body += piece.body
        slides[-1].height += piece.height
        slides[-1].letters = max(slides[-1].letters, piece.letters)
    return slides


def joined(pieces: list[Piece]) -> list[Piece]:
    """Bullets as lists of at most a slide each, so that what is packed is short enough."""
    return [Piece(f"<ul>{p.body}</ul>" if p.body.startswith("<li") else p.body, p.height) for p in pieces]


def shown(lines: list[str], is_diff: bool) -> Piece:
    """Code; each line of the source is a block, so that one that is too long goes on below its beginning."""
    rows, height = [], 0
    for line in lines:
        kind = {"+": " added", "-": " removed", "@": " place"}.get(line[:1], "") if is_diff else ""
        code, slashes, comment = line.partition("//")
        body = html.escape(code, quote=False)
        if slashes:
            body += f'<span class="comment">//{html.escape(comment, quote=False)}</span>'
        rows.append(f'<span class="line{kind}">{body or " "}</span>')
        height += lines_of_code(line)
    return Piece(f"<pre><code>{''.join(rows)}</code></pre>", height * CODE_LINE + 2 * GAP)


def lines_of_code(line: str) -> int:
    return max(1, -(-len(line) // CODE_LETTERS))


def chunks(lines: list[str]) -> list[list[str]]:
    """At most CODE_LINES lines each as they are shown, cut at an empty line where there is one in the second half, and
    as equal as that allows."""
    total = sum(map(lines_of_code, lines))
    if total <= CODE_LINES:
        return [lines] if lines else []
    most = min(CODE_LINES, -(-total // -(-total // CODE_LINES)) + 2)
    height, end = 0, 0
    while end < len(lines) and height + lines_of_code(lines[end]) <= most:
        height += lines_of_code(lines[end])
        end += 1
    end = max(end, 1)
    blank = next((at for at in range(end, end // 2, -1) if at < len(lines) and not lines[at].strip(" +-")), end)
    rest = lines[blank:]
    while rest and not rest[0].strip():
        rest = rest[1:]
    return [lines[:blank], *chunks(rest)]


def is_roomy(piece: Piece) -> bool:
    """Larger letters need more lines, too. Code and wide tables keep theirs."""
    return (
        piece.height * LARGER * LARGER <= ROOM and piece.letters <= TABLE_LETTERS / LARGER and "<pre" not in piece.body
    )


def numbered(kind: str, pieces: list[Piece]) -> list[Slide]:
    """Of several slides each says which it is; all of them have letters of one size."""
    roomy = all(map(is_roomy, pieces))
    if len(pieces) < 2:
        return [Slide(kind, piece.body, "", roomy) for piece in pieces]
    return [Slide(kind, piece.body, f"{kind} ({n} of {len(pieces)})", roomy) for n, piece in enumerate(pieces, 1)]


def code_slides_of(kind: str, above: str, parts: list[list[str]], is_diff: bool) -> list[Slide]:
    """In larger letters where lines are few and short."""
    slides = numbered(kind, [Piece(above + shown(part, is_diff).body, ROOM) for part in parts])
    for slide, part in zip(slides, parts):
        slide.roomy = len(part) <= ROOMY_LINES and max(map(len, part)) <= ROOMY_LETTERS
    return slides


def code_slides(block: Block, lead: str) -> list[Slide]:
    lines = block.text.rstrip("\n").split("\n")
    while not lines[0].strip():
        lines = lines[1:]
    # What leads to it ends with a colon; else the slide says only what it is.
    above = f"<p>{inline(lead)}</p>" if lead else ""
    return code_slides_of("Code", above, chunks(lines), False)


def hunks(stage: str) -> tuple[list[list[str]], int] | None:
    """Of the diff to the stage's base what is about the kernel, and how many lines of code the whole changes."""
    base = base_of(stage)
    if base is None:
        return None
    of = change(base, stage)
    found: list[list[str]] = []
    for line in diff.diff_lines(of.old, of.new):
        if line.startswith("@@"):
            found.append([])
        else:
            found[-1].append(line)
    # The description of the stage for the harness is no lesson, nor are headers.
    ends = [next((i for i, line in enumerate(hunk) if "StageInfo info" in line), len(hunk)) for hunk in found]
    kernel = [hunk[:end] for hunk, end in zip(found, ends)]
    return [hunk for hunk in kernel if any(re.match(r"[+-](?!#include|\s*$)", line) for line in hunk)], of.lines


def diff_slides(stage: str, is_short: bool) -> list[Slide]:
    """The change, if the page shows it; if it is long, only its beginning."""
    found = hunks(stage)
    if not found:
        return []
    kernel, count = found
    base = base_of(stage).split("/")[1].replace("_", " ")
    number = choice.number_of(stage) if stage.startswith("sgemm/") else stage.split("_")[0]
    command = f"<code>./lab diff {number}</code>"
    told = f"Since {html.escape(base)}: {count:,} line{'s' * (count != 1)} of code changed"
    if not is_short:
        return []
    parts: list[list[str]] = []
    for hunk in kernel:
        for part in chunks(hunk):
            # Small hunks share a slide.
            if parts and sum(map(lines_of_code, [*parts[-1], "", *part])) <= CODE_LINES:
                parts[-1] += ["@ ...", *part]
            else:
                parts.append(part)
    if not parts:
        return []
    rest = f"; the rest: {command}" if len(parts) > DIFF_SLIDES else f" ({command})"
    return code_slides_of("Change", f"<p>{told}{rest}</p>", parts[:DIFF_SLIDES], True)


def figure_slide(block: Block) -> Slide:
    """The drawing as it is committed, as large as the slide. Its text stays text, within a picture of its own, so that
    no style of one drawing meets another's."""
    data = base64.b64encode((FIGURES / block.name).read_bytes()).decode()
    name = plain(block.text)
    return Slide("Figure", f'<img alt="{html.escape(name)}" src="data:image/svg+xml;base64,{data}">', name)


def lead_of(text: str) -> str:
    """What stands directly before a table or code: the last sentence, if it ends with a colon."""
    last = sentences(text)[-1] if sentences(text) else ""
    return last if last.endswith(":") else ""


def short_of(block: Block, following: Block | None, most: int, letters: int) -> str:
    """What a slide says of a paragraph: not what only leads to something on another slide."""
    text = first(block.text, most, letters)
    if text.endswith(":") and not (following and following.kind == "item"):
        return ""
    return text


def told(found: list[Block], most: int = 2, letters: int = 170) -> list[Piece]:
    """Bullets: of each paragraph and item the first sentences."""
    pieces = []
    for n, block in enumerate(found):
        if block.kind not in ("paragraph", "item") or block.mark:
            continue
        following = found[n + 1] if n + 1 < len(found) else None
        if text := short_of(block, following, most, letters):
            pieces.append(bullet(text, under=block.kind == "item"))
    return pieces


def drawn(found: list[Block]) -> list[Slide]:
    """Figures, and code where the idea is told."""
    return [figure_slide(block) for block in found if block.kind == "figure" and (FIGURES / block.name).exists()]


def idea(stage: str, found: list[Block]) -> list[Slide]:
    slides = numbered("Idea", packed(joined(told(found))))
    for n, block in enumerate(found):
        before = found[n - 1] if n else None
        lead = lead_of(before.text) if before and before.kind in ("paragraph", "item") else ""
        if block.kind == "figure":
            slides += drawn([block])
        elif block.kind == "code" and block.name not in ("diff", "sh"):
            slides += code_slides(block, lead)
        elif block.kind == "table" and not block.mark:
            head = [Piece(f"<p>{inline(lead)}</p>", LINE + GAP)] if lead else []
            slides += numbered("Idea", packed([*head, *tables(block)]))
    is_short = any(block.kind == "code" and block.name == "diff" for block in found)
    return slides + diff_slides(stage, is_short)


def by_hand(kind: str, found: list[Block]) -> list[Slide]:
    """Paragraphs and the tables that are not counted or measured, in their order; then figures."""
    pieces: list[Piece] = []
    for n, block in enumerate(found):
        if block.kind == "table" and not block.mark:
            before = found[n - 1] if n else None
            lead = lead_of(before.text) if before and before.kind == "paragraph" else ""
            if lead:
                pieces.append(Piece(f"<p>{inline(lead)}</p>", lines_of(lead, LETTERS) * LINE + GAP))
            pieces += tables(block)
        else:
            following = [found[n + 1]] if n + 1 < len(found) and found[n + 1].kind == "item" else []
            pieces += joined(told([block, *following])[: block.kind in ("paragraph", "item")])
    return numbered(kind, packed(pieces)) + drawn(found)


def fitting(pieces: list[Piece], room: int) -> list[Piece]:
    """The first ones that have room."""
    while sum(piece.height for piece in pieces) > room:
        pieces = pieces[:-1]
    return pieces


def measurement(data: Data, stage: str, deck: list[str], found: list[Block]) -> list[Slide]:
    chart = chart_of(data, stage, deck)
    said = [block for block in found if block.kind in ("paragraph", "item") and not block.mark]
    verdict = next((n for n, block in enumerate(said) if block.text.startswith("**Verdict")), None)
    if verdict is not None:
        said = said[verdict:]
    else:
        compares = (r"\b(?:predicted|expected)\b", r"\bmeasured\b(?! /)")
        of = [[block for block in said if re.search(words, block.text)] for words in compares]
        said = of[0] or of[1] or said
    pieces = told(said, most=4, letters=330)
    room = ROOM
    body = ""
    if chart:
        body = html_of(chart)
        room -= BAR * len(chart.bars) + LINE + GAP
    else:
        # What it measures instead, as the page has it.
        table = next((block for block in found if block.kind == "table" and block.mark), None)
        small = tables(table)[0] if table and len(table.rows()) <= 9 else None
        if small and small.height < ROOM - 3 * LINE:
            body, room = small.body, room - small.height
    kept = fitting(pieces[:5], room)
    if not body and not kept:
        return drawn(found)
    if pieces and not kept:  # a slide for each
        return numbered("Measurement", [Piece(body, ROOM), listed(fitting(pieces[:5], ROOM))]) + drawn(found)
    return [Slide("Measurement", body + (listed(kept).body if kept else ""))] + drawn(found)


def bound(found: list[Block]) -> list[Slide]:
    pieces = told(found)
    return numbered("What bounds it", packed(joined(pieces))[:2])


ANSWER = re.compile(r"<details>\s*<summary>.*?</summary>(.*?)</details>", re.S)


def exercises(lines: list[str]) -> list[tuple[str, str]]:
    """Question and answer of each, as markdown."""
    items: list[list[str]] = []
    for line in lines:
        if re.match(r"\d+\. ", line):
            items.append([re.sub(r"^\d+\. +", "", line)])
        elif items and (not line or line.startswith(" ")):
            items[-1].append(line)
        elif line:
            items.append([])  # behind the list
    found = []
    for item in items:
        text = textwrap.dedent("\n".join(item[1:]))
        question, answer = ANSWER.split(text, maxsplit=1)[0], ANSWER.search(text)
        if item:
            found.append((f"{item[0]}\n{question}".strip(), answer[1].strip() if answer else ""))
    return found


def prose(text: str) -> Piece:
    """Whole, not shortened: code and tables, too."""
    body, height = "", 0
    for block in blocks(text.splitlines()):
        if block.kind == "code":
            piece = shown(block.text.rstrip("\n").split("\n"), False)
        elif block.kind == "table":
            piece = tables(block)[0]
        else:
            piece = Piece(f"<p>{inline(block.text)}</p>", lines_of(block.text, LETTERS) * LINE + GAP)
        body, height = body + piece.body, height + piece.height
    return Piece(body, height)


def exercise(lines: list[str]) -> list[Slide]:
    """The first that fits a slide with its answer, which the next key press shows."""
    for question, answer in exercises(lines):
        asked, told_later = prose(question), prose(answer)
        if answer and asked.height + told_later.height + LINE < ROOM:
            body = f'{asked.body}<div class="step answer"><h3>Answer</h3>{told_later.body}</div>'
            return [Slide("Exercise", body)]
    return []


def stage_slides(data: Data, stage: str, deck: list[str]) -> list[Slide]:
    page = (DOCS / FAMILIES[stage.split("/")[0]] / f"{stage.split('/')[1]}.md").read_text()
    found = sections(page)
    of = {heading: blocks(lines) for heading, lines in found.items()}
    slides = idea(stage, of.get("Idea", []))
    for heading in ("By hand", "Prediction"):
        slides += by_hand(heading, of.get(heading, []))
    slides += measurement(data, stage, deck, of.get("Measurement", []))
    slides += bound(of.get("What bounds it", []))
    slides += exercise(next((lines for heading, lines in found.items() if heading.startswith("Exercise")), []))
    return slides


def title_slide(data: Data, deck: list[str], title: str) -> str:
    """The stages, with their ideas where there is room for them."""
    with_ideas = len(deck) <= 8

    def line(stage: str) -> str:
        idea_of = f": {html.escape(data.idea(stage))}" if with_ideas else ""
        return f"<li><b>{html.escape(choice.title_of(stage))}</b>{idea_of}</li>"

    style = "stages" if with_ideas else "stages many"
    return (
        f'<section class="slide title" data-stage=""><h2>{html.escape(title)}</h2>'
        f'<ol class="{style}">{"".join(map(line, deck))}</ol>'
        f'<p class="soft">Measured on an {html.escape(data.ladder["device"])}, commit {data.ladder["commit"]}, '
        "where a slide names no other.</p>"
        '<p class="soft">Arrow keys turn the slides, o shows all, f fills the screen.</p></section>'
    )


def deck_title(deck: list[str], asked: str) -> str:
    if asked in choice.PATHS:
        return choice.title_of_path(asked)
    names = {"sgemm": "SGEMM", "tsm": "Tall & skinny products", "tensorcore": "Tensor Cores"}
    families = list(dict.fromkeys(stage.split("/")[0] for stage in deck))
    numbers = [choice.number_of(stage) for stage in deck]
    which = f"stage {numbers[0]}" if len(deck) == 1 else f"stages {numbers[0]} to {numbers[-1]}"
    return " and ".join(names[family] for family in families) + (f": {which}" if len(families) == 1 else "")


def page_of(data: Data, deck: list[str], asked: str) -> str:
    """The whole HTML file."""
    title = deck_title(deck, asked)
    parts = [title_slide(data, deck, title)]
    for stage in deck:
        name, slides = choice.title_of(stage), stage_slides(data, stage, deck)
        source = relative(DOCS / FAMILIES[stage.split("/")[0]] / f"{stage.split('/')[1]}.md")
        for slide in slides:
            parts.append(
                f'<section class="slide" data-stage="{html.escape(name)}" data-source="{source}">'
                f"<h2><b>{html.escape(name)}</b> <span>{html.escape(slide.heading or slide.kind)}</span></h2>"
                f'<div class="body {slide.kind.lower().replace(" ", "-")}{" roomy" * slide.roomy}">'
                f"{slide.body}</div></section>"
            )
    body = (
        '<main id="deck" data-default-theme="projector">' + "\n".join(parts) + "</main>\n"
        '<nav id="overview" aria-label="all slides" hidden></nav>\n'
        '<footer class="bar"><button id="back" aria-label="previous slide">←</button>'
        '<button id="next" aria-label="next slide">→</button><span id="place"></span>'
        '<span id="source" class="soft"></span><button id="all">all</button>'
        '<span id="progress"><span></span></span></footer>'
    )
    return html_page(title, body, scripts=("slides.js",), styles=("slides.css",))
