#!/usr/bin/env python3
"""Renders every page as forges do (GitHub's Markdown, by cmarkgfm) and looks for what a reader would see there as
broken.

usage: test_forge_rendering.py
       needs cmarkgfm, of this Python or of .lab/python, where ./lab test --full puts it; without it nothing is checked,
       and that is said. GEMM_REQUIRE_CMARKGFM=1: its absence is a failure

In CommonMark a comment at the start of a line begins a block, which ends the paragraph above it. So a page can look
right in its source and in some viewers, and be torn apart on a forge.
"""

import html.parser
import os
import pathlib
import re
import subprocess
import sys
import unittest

try:
    import cmarkgfm
    import cmarkgfm.cmark
except ImportError:
    cmarkgfm = None

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Where there is no git: besides those with a name that begins with a dot.
SKIPPED_FOLDERS = {"build", "shared", "node_modules"}
CODE = {"code", "pre", "script", "style"}
# What may have a number of tools/pages in it.
INLINE = {"p", "li", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6", "summary"}
VOID = {"area", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"}
BLOCKS = INLINE | {"ul", "ol", "blockquote", "table", "thead", "tbody", "tr", "div", "details", "hr"}
LEFT = [
    ("](", re.compile(r"\]\(")),
    ("**", re.compile(r"\*\*")),
    ("```", re.compile(r"```|~~~")),
    ("`", re.compile(r"`")),
    ("a table's line", re.compile(r"\|\s*:?-{3,}|^\s*\|.*\|\s*$", re.M)),
    ("# at a line's start", re.compile(r"^\s*#{1,6}\s", re.M)),
    ("a comment", re.compile(r"<!--|-->")),
]


def render(text: str) -> str:
    """Markdown to HTML with a forge's extensions, comments kept."""
    return cmarkgfm.markdown_to_html_with_extensions(
        text, cmarkgfm.cmark.Options.CMARK_OPT_UNSAFE, ["table", "autolink", "strikethrough", "tagfilter"]
    )


class Reader(html.parser.HTMLParser):
    """Reads rendered HTML; problems: what is wrong with it."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.problems: list[str] = []
        self.tables = 0
        self.text = ""  # since the last tag of a block

    def end_text(self) -> None:
        for name, pattern in LEFT:
            if found := pattern.search(self.text):
                around = " ".join(self.text[max(0, found.start() - 40) : found.end() + 40].split())
                self.problems.append(f"{name} is shown as text: ...{around}...")
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in BLOCKS:
            self.end_text()
        self.tables += tag == "table"
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in BLOCKS:
            self.end_text()
        if tag in self.open:
            while self.open.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        self.text += "CODE" if CODE & set(self.open) else data

    def handle_comment(self, data: str) -> None:
        if not re.match(r"\s*[=/]\s", data + " "):
            return
        # A comment that is a block is written on a line of its own, in a list's item as well. One within a paragraph
        # never begins a line.
        if not INLINE & set(self.open) or self.getpos()[1] == 0:
            self.problems.append(f"a comment that ends a paragraph: <!--{data}-->")

    def close(self) -> None:
        super().close()
        self.end_text()


def without_code(text: str) -> list[str]:
    """The lines of a page that are not in a fenced block."""
    lines, fence = [], ""
    for line in text.splitlines():
        mark = re.match(r"\s*(?:[-*+] |\d+[.)] |> )*\s*(`{3,}|~{3,})([^`]*)$", line)
        if fence:
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
        elif mark:
            fence = mark[1]
        else:
            lines.append(line)
    return lines


def faults(text: str) -> list[str]:
    """What is wrong with a page, once it is rendered."""
    reader = Reader()
    reader.feed(render(text))
    reader.close()
    written = sum(bool(re.match(r"[\s>]*\|(\s*:?-{3,}:?\s*\|)+\s*$", line)) for line in without_code(text))
    if reader.tables < written:
        reader.problems.append(f"{written} tables are written, and {reader.tables} are rendered")
    return reader.problems


def pages() -> list[pathlib.Path]:
    """All *.md of the repository: those that git tracks, or where there is no git those that are found."""
    try:
        done = subprocess.run(
            ["git", "ls-files", "-z", "*.md"], cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
    except OSError:
        done = None
    if done and done.returncode == 0 and done.stdout:
        return [path for path in (ROOT / name for name in done.stdout.split("\0") if name) if path.exists()]
    found = []
    for folder, folders, files in os.walk(ROOT):
        folders[:] = sorted(
            f for f in folders if not f.startswith(".") and f not in SKIPPED_FOLDERS and not f.startswith("build-")
        )
        found += [pathlib.Path(folder, file) for file in sorted(files) if file.endswith(".md")]
    return found


MARK = "<!-- = gain 05 06a 4096 -->1.1<!-- / -->"
REJECTED = {
    "a mark at a line's start": f"The stage is, at 4096,\n{MARK} times as fast.\n",
    "a paragraph that begins with a mark": f"{MARK} times as fast, at **4096**.\n",
    "a mark below an item's line": f"* The stage is\n  {MARK} times as fast.\n* Another.\n",
    "an item that begins with a mark": f"* {MARK} times\n",
    "a mark in a quote": f"> The stage is\n> {MARK} times as fast.\n",
    "an item of a loose list": f"* The stage is\n\n  {MARK} times as fast.\n\n* Another.\n",
    "a link in a line of HTML": "text\n<!-- a remark --> and [a link](x.md).\n",
    "bold text in a line of HTML": "<!-- a remark --> and **bold** text\n",
    "bold text that isn't": "2 x** 3 is not **bold .\n",
    "a link with a blank": "See [this page](a page.md).\n",
    "a heading without a blank line, in HTML": "<div>\n# Heading\n</div>\n",
    "a fence in HTML": "<div>\n```\ncode\n```\n</div>\n",
    "a table in HTML": "<div>\n| a | b |\n|---|---|\n| 1 | 2 |\n</div>\n",
    "a table with too few columns in its second line": "| a | b |\n|---|\n| 1 | 2 |\n",
    "a table right below a comment in a paragraph's line": "Text <!-- a\n| a | b |\n|---|---|\n| 1 | 2 |\n",
    "a backquote without its other": "The function `f is called.\n",
    "a comment that has no end": "Text <!-- = gain 1.1 times\n\nmore\n",
}
ACCEPTED = {
    "a mark in a sentence": f"The stage is, at\n4096, {MARK} times as fast,\nand {MARK}\ntimes.\n",
    "a mark in an item": f"* The stage\n  is {MARK} times as fast.\n* {'Another'}: {MARK}\n",
    "a mark in a quote": f"> The stage\n> is {MARK} times as fast.\n",
    "marks in a table": f"| a | b |\n|---|---:|\n| {MARK} | x {MARK} |\n",
    "a mark in a heading": f"## Gain {MARK}\n\ntext\n",
    "a generated table": "Text.\n\n<!-- generated: ladder -->\n| a | b |\n|---|---|\n| 1 | `2 ** 3` |\n\nNVIDIA "
    "H200.\n<!-- end generated -->\n\nText.\n",
    "markdown in code": "Write `**x**`, `](`, `# a` and:\n\n```md\n# heading\n| a |\n|---|\n<!-- = x -->1<!-- / "
    "-->\n[a](b)\n```\n",
    "a link, a picture, bold": "[a](b.md), ![c](d.svg), [![e](f.svg)](g.md) and **bold** with `code`.\n",
    "a summary": "<details><summary>more</summary>\n\n**Bold**, and [a link](b.md).\n\n</details>\n",
    "numbers and signs": "2 * 3 = 6, a | b, #1 and C#, 1 < 2 > 0.\n",
}


class Rendering(unittest.TestCase):
    def test_rejected(self) -> None:
        for name, text in REJECTED.items():
            with self.subTest(name):
                self.assertTrue(faults(text), render(text))

    def test_accepted(self) -> None:
        for name, text in ACCEPTED.items():
            with self.subTest(name):
                self.assertEqual(faults(text), [], render(text))

    def test_pages(self) -> None:
        found = pages()
        self.assertIn(ROOT / "README.md", found)
        self.assertGreater(len(found), 50)
        for page in found:
            with self.subTest(str(page.relative_to(ROOT))):
                problems = faults(page.read_text())
                self.assertFalse(problems, "\n" + "\n".join(problems))


if __name__ == "__main__":
    installed = ROOT / ".lab/python/bin/python"
    if not cmarkgfm and installed.exists() and pathlib.Path(sys.prefix) != ROOT / ".lab/python":
        os.execv(installed, [str(installed), "-B", *sys.argv])
    if not cmarkgfm and os.environ.get("GEMM_REQUIRE_CMARKGFM") != "1":
        print("SKIPPED, NOT RUN: no cmarkgfm (pip install cmarkgfm)")
        sys.exit(0)
    if not cmarkgfm:
        sys.exit("error: no cmarkgfm (pip install cmarkgfm), and GEMM_REQUIRE_CMARKGFM=1 asks for it")
    unittest.main()
