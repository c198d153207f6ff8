"""What a rung changes of the rung below, as text or side by side.

usage: ./lab diff STAGE [OTHER] [--html FILE] [--headers]

STAGE     such as 07 or tsm/05, beside the stage that it names as its base (label Base of its head), or beside OTHER
--html    a page with both files side by side, change by change, with counts and speeds; - for standard output
--headers also the lines of headers that only one of the two includes

Heads, white space and comments make no difference; comments are shown where they stand.
"""

import collections
import dataclasses
import difflib
import re
import signal
import sys
from collections.abc import Iterable, Iterator

from tools.command_line import fail, parser_of, run, write_whole
from tools.repository import relative
from tools.rungs import Change, Source, base_of, change, find, matcher_of

CONTEXT = 3
ALIKE = 0.6  # two lines are one line, changed, if their common words have this share of their letters
Opcode = tuple[str, int, int, int, int]
Group = list[Opcode]
Marks = list[tuple[int, int]]  # columns, from and to


def groups(old: Source, new: Source) -> list[Group]:
    """Changes with the lines around them. Lines that have no code are equal to all others of the kind."""
    matcher = matcher_of(old.keys, new.keys)
    return [
        group for group in matcher.get_grouped_opcodes(CONTEXT) if any(code_differs(old, new, each) for each in group)
    ]


def code_differs(old: Source, new: Source, each: Opcode) -> bool:
    kind, a, b, c, d = each
    return kind != "equal" and (any(old.keys[a:b]) or any(new.keys[c:d]))


def diff_lines(old: Source, new: Source) -> Iterator[str]:
    """In the form of `diff -u`."""
    for group in groups(old, new):
        start, end = group[0], group[-1]
        yield f"@@ -{start[1] + 1},{end[2] - start[1]} +{start[3] + 1},{end[4] - start[3]} @@"
        for kind, a, b, c, d in group:
            if kind == "equal":
                yield from (" " + line for line in new.lines[c:d])
                continue
            yield from ("-" + line for line in old.lines[a:b])
            yield from ("+" + line for line in new.lines[c:d])


def summary(of: Change) -> str:
    lines = "1 line" if of.lines == 1 else f"{of.lines:,} lines"
    return f"{relative(of.old.file)} -> {relative(of.new.file)}: {lines} of code changed"


def header_lines(of: Change, whole: bool) -> Iterator[str]:
    """The headers that only one of the two includes: their names, or all of their lines."""
    for sign, headers in (("-", of.old_headers), ("+", of.new_headers)):
        for header in headers:
            yield f"{sign}{sign}{sign} {relative(header.file)} ({len(header.code)} lines of code)"
            if whole:
                yield from (sign + line for line in header.lines)


def text_of(of: Change, headers: bool = False) -> list[str]:
    return [*diff_lines(of.old, of.new), *header_lines(of, headers)]


def coloured(lines: Iterable[str]) -> Iterator[str]:
    colours = {"-": "31", "+": "32", "@": "36"}
    for line in lines:
        yield f"\033[{colours[line[0]]}m{line}\033[0m" if line[:1] in colours else line


@dataclasses.dataclass(frozen=True)
class Row:
    """Two lines side by side, by their places in `lines`; None: there is none. In a changed row the marks are what one
    has and the other has not, if the two are alike."""

    old: int | None
    new: int | None
    changed: bool = False
    old_marks: Marks = dataclasses.field(default_factory=list)
    new_marks: Marks = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Section:
    """Rows: of a hunk, which changes code, or of what lies between two of these."""

    hunk: bool
    rows: list[Row]


def words(line: str) -> list[str]:
    return re.findall(r"\w+|\s+|[^\w\s]", line)


def marks(old: str, new: str) -> tuple[Marks, Marks]:
    """The words that only one of two lines has."""
    pieces = words(old), words(new)
    opcodes = difflib.SequenceMatcher(None, *pieces, autojunk=False).get_opcodes()
    # difflib takes x][y for ][y with an x before it and [x] behind: y][x has all words in their places.
    if len(pieces[0]) == len(pieces[1]):
        in_place = [("equal" if x == y else "replace", i, i + 1, i, i + 1) for i, (x, y) in enumerate(zip(*pieces))]
        if sum(kind != "equal" for kind, *_ in in_place) <= max(
            sum(each[end] - each[end - 1] for each in opcodes if each[0] != "equal") for end in (2, 4)
        ):
            opcodes = in_place
    found: tuple[Marks, Marks] = ([], [])
    for kind, a, b, c, d in opcodes:
        for side, begin, end in ((0, a, b), (1, c, d)):
            text = "".join(pieces[side][begin:end])
            if kind == "equal" or not text.strip():
                continue
            at = sum(map(len, pieces[side][:begin])) + len(text) - len(text.lstrip())
            stop = at + len(text.strip())
            if found[side] and not (old, new)[side][found[side][-1][1] : at].strip():
                at = found[side].pop()[0]  # nothing or a space lies between the two
            found[side].append((at, stop))
    return found


def letters(bag: collections.Counter[str]) -> int:
    return sum(len(word) * count for word, count in bag.items())


def pairs(old: list[str], new: list[str]) -> list[tuple[int, int]]:
    """Of lines that were replaced by others, those that are most alike, in their order."""
    bags = [[collections.Counter(word for word in words(line) if word.strip()) for line in side] for side in (old, new)]
    sizes = [[letters(bag) for bag in side] for side in bags]

    def likeness(i: int, j: int) -> float:
        whole = sizes[0][i] + sizes[1][j]
        if 2 * min(sizes[0][i], sizes[1][j]) < ALIKE * whole or not whole:
            return 0.0
        found = 2 * letters(bags[0][i] & bags[1][j]) / whole
        return found if found >= ALIKE else 0.0

    # best[i][j]: of old[i:] and new[j:]
    best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    alike = [[likeness(i, j) for j in range(len(new))] for i in range(len(old))]
    for i in reversed(range(len(old))):
        for j in reversed(range(len(new))):
            paired = alike[i][j] and alike[i][j] + best[i + 1][j + 1]
            best[i][j] = max(paired, best[i + 1][j], best[i][j + 1])
    found, i, j = [], 0, 0
    while i < len(old) and j < len(new):
        if alike[i][j] and best[i][j] == alike[i][j] + best[i + 1][j + 1]:
            found.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return found


def rows_of(old: Source, new: Source, each: Opcode) -> Iterator[Row]:
    """Lines that are alike stand side by side; the others between them fill the rows from above."""
    kind, a, b, c, d = each
    if kind == "equal":
        yield from (Row(a + i, c + i) for i in range(b - a))
        return
    for i, j in [*pairs(list(old.lines[a:b]), list(new.lines[c:d])), (b - a, d - c)]:
        left, right = range(a, each[1] + i), range(c, each[3] + j)
        for k in range(max(len(left), len(right))):
            yield Row(left[k] if k < len(left) else None, right[k] if k < len(right) else None, True)
        a, c = each[1] + i, each[3] + j
        if a < b and c < d:
            yield Row(a, c, True, *marks(old.lines[a], new.lines[c]))
        a, c = a + 1, c + 1


def sections(old: Source, new: Source) -> list[Section]:
    """Both files whole. A hunk is lines of changed code, with what changed fewer than CONTEXT lines away. A comment is
    beside the same comment."""
    found: list[Section] = []
    between: list[Row] = []
    keys = [[key or line.strip() for key, line in zip(of.keys, of.lines)] for of in (old, new)]
    for each in matcher_of(*keys).get_opcodes():
        rows = list(rows_of(old, new, each))
        if not code_differs(old, new, each):
            between += rows
        elif found and found[-1].hunk and len(between) < CONTEXT:
            found[-1].rows += [*between, *rows]
            between = []
        else:
            found += [Section(False, between)] * bool(between) + [Section(True, rows)]
            between = []
    return found + [Section(False, between)] * bool(between)


def main() -> None:
    parser = parser_of("./lab diff", __doc__)
    parser.add_argument("stage")
    parser.add_argument("other", nargs="?")
    parser.add_argument("--html", metavar="FILE")
    parser.add_argument("--headers", action="store_true")
    options = parser.parse_args()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` is no error
    new = find(options.stage)
    old = find(options.other) if options.other else base_of(new)
    if old is None:
        fail(f"{new} changes no other stage: name one to compare with, as in `./lab diff {options.stage} OTHER`")
    of = change(old, new)
    if options.html:
        from tools.site import stepper  # which needs this module

        text = stepper.page_of_one(old, new)
        write_whole(options.html, text)
    else:
        lines: Iterable[str] = text_of(of, options.headers)
        print("\n".join(coloured(lines) if sys.stdout.isatty() else lines))
    print(summary(of), file=sys.stderr)


if __name__ == "__main__":
    run(main)
