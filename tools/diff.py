"""What a rung changes of the rung below, as text or side by side.

usage: ./lab diff STAGE [OTHER] [--html FILE] [--headers]

STAGE     such as 07 or tsm/05, beside the stage that it names as its base (label Base of its head), or beside OTHER
--html    a page with both files side by side, in large letters; - for standard output
--headers also the lines of headers that only one of the two includes

Heads, white space and comments make no difference; comments are shown where they stand.
"""

import difflib
import html
import pathlib
import signal
import sys
from collections.abc import Iterable, Iterator

from tools.command_line import fail, parser_of, run
from tools.repository import relative
from tools.rungs import Change, Source, base_of, change, find, matcher_of

CONTEXT = 3
Group = list[tuple[str, int, int, int, int]]

STYLE = """
:root { color-scheme: light dark; --old: #ffd7d5; --new: #ccffd8; --in: #0002; --dim: #8888 }
@media (prefers-color-scheme: dark) { :root { --old: #5c1f1f; --new: #14441f; --in: #fff3 } }
body { font: 1rem sans-serif; margin: 1rem }
table { border-collapse: collapse; width: 100%; table-layout: fixed }
td { font: 1rem/1.35 monospace; white-space: pre-wrap; overflow-wrap: anywhere; vertical-align: top; padding: 0 .5em }
td.n { width: 3em; color: gray; text-align: right } th { text-align: left; padding: .5em }
.old { background: var(--old) } .new { background: var(--new) } mark { background: var(--in); color: inherit }
tr.skip td { background: var(--dim); text-align: center }
"""


def groups(old: Source, new: Source) -> list[Group]:
    """Changes with the lines around them. Lines that have no code are equal to all others of the kind."""
    matcher = matcher_of(old.keys, new.keys)
    return [
        group for group in matcher.get_grouped_opcodes(CONTEXT) if any(code_differs(old, new, each) for each in group)
    ]


def code_differs(old: Source, new: Source, each: tuple[str, int, int, int, int]) -> bool:
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


def marked(line: str, other: str) -> str:
    """The line as HTML; what `other` has not is marked, if the two have half of it in common."""
    matcher = difflib.SequenceMatcher(None, line, other, autojunk=False)
    if not other or matcher.ratio() < 0.5:
        return html.escape(line)
    parts = []
    for kind, a, b, _, _ in matcher.get_opcodes():
        part = html.escape(line[a:b])
        parts.append(part if kind == "equal" or not part else f"<mark>{part}</mark>")
    return "".join(parts)


def side_by_side(old: Source, new: Source) -> Iterator[str]:
    matcher = matcher_of(old.keys, new.keys)

    def cells(source: Source, at: int, end: int, other: str, style: str) -> str:
        if at >= end:
            return "<td class=n></td><td></td>"
        return f'<td class=n>{at + 1}</td><td class="{style}">{marked(source.lines[at], other)}</td>'

    for kind, a, b, c, d in matcher.get_opcodes():
        same = kind == "equal"
        for row in range(max(b - a, d - c)):
            left = old.lines[a + row] if a + row < b else ""
            right = new.lines[c + row] if c + row < d else ""
            yield (
                "<tr>"
                + cells(old, a + row, b, left if same else right, "" if same else "old")
                + cells(new, c + row, d, right if same else left, "" if same else "new")
                + "</tr>"
            )


def page_of(of: Change) -> str:
    """Both files whole, side by side, as one HTML file that needs no other."""
    names = "".join(f"<th colspan=2>{relative(source.file)}</th>" for source in (of.old, of.new))
    only = "".join(f"<p>{html.escape(line)}</p>" for line in header_lines(of, whole=False))
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{html.escape(summary(of))}</title>"
        f"<style>{STYLE}</style><h1>{html.escape(summary(of))}</h1>{only}"
        f"<table><colgroup><col style='width:3em'><col><col style='width:3em'><col></colgroup><tr>{names}</tr>\n"
        + "\n".join(side_by_side(of.old, of.new))
        + "\n</table></html>\n"
    )


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
    if options.html == "-":
        sys.stdout.write(page_of(of))
    elif options.html:
        try:
            pathlib.Path(options.html).write_text(page_of(of))
        except OSError as error:
            fail(f"can't write {options.html}: {error.strerror}")
    else:
        lines: Iterable[str] = text_of(of, options.headers)
        print("\n".join(coloured(lines) if sys.stdout.isatty() else lines))
    print(summary(of), file=sys.stderr)


if __name__ == "__main__":
    run(main)
