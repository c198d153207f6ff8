"""A page's Markdown as HTML, by the renderer that forges use: the site shows what they show.

Needs cmarkgfm and Pygments, which ./lab puts into .lab/python."""

import html
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import cmarkgfm
import cmarkgfm.cmark
import pygments
import pygments.formatters
import pygments.lexers
import pygments.util
from pygments.token import Token

CODE = re.compile(r'<pre><code(?: class="language-([^"]*)")?>(.*?)</code></pre>', re.S)
HEADING = re.compile(r"<h([1-6])>(.*?)</h\1>", re.S)
ADDRESS = re.compile(r'(<(?:a|img)\b[^>]*?\b(?:href|src)=")([^"]*)(")')
COMMENT = re.compile(r"<!--.*?-->", re.S)  # of marks; in code "<" is written as an entity
BLOCK = pygments.formatters.HtmlFormatter(cssclass="highlight", wrapcode=True)


@dataclass
class Rendered:
    html: str
    title: str
    headings: list[dict[str, Any]] = field(default_factory=list)  # nested, as MkDocs' table of contents takes them


def lexer_of(language: str) -> Any:
    try:
        return pygments.lexers.get_lexer_by_name(language or "text")
    except pygments.util.ClassNotFound:
        return pygments.lexers.get_lexer_by_name("text")


def colour_of(kind: Any) -> str:
    """What a word of code is: only what source.css colours, since a file has many words."""
    if kind in Token.Literal.String or kind in Token.Comment.PreprocFile:
        return "s"
    if kind in Token.Comment.Preproc:
        return "k"
    for name, kinds in (("c", Token.Comment), ("m", Token.Literal.Number), ("k", Token.Keyword)):
        if kind in kinds:
            return name
    return ""


def highlighted_lines(text: str, file: str) -> list[str]:
    """A file's lines as HTML, coloured by its name. No element goes on over a line's end. Neighbours of one colour
    share an element and attributes have no quotes, since a site has to be small. A string's quotes are tokens of their
    own."""
    try:
        lexer = pygments.lexers.get_lexer_for_filename(file.replace(".cuh", ".cu"))
    except pygments.util.ClassNotFound:
        lexer = lexer_of("bash" if text.startswith("#!/usr/bin/env bash") else "text")
    lines, before = [""], ""
    # The lexer itself: others of its methods drop blank lines, and lines would lose their numbers.
    for _, kind, value in lexer.get_tokens_unprocessed(text.rstrip("\n")):
        name = colour_of(kind)
        for at, part in enumerate(value.split("\n")):
            if at:
                lines.append("")
            shown = html.escape(part, quote=False)
            if not (name and part.strip()):
                lines[-1] += shown
            elif name == before and lines[-1].endswith("</b>"):
                lines[-1] = f"{lines[-1].removesuffix('</b>')}{shown}</b>"
            else:
                lines[-1] += f"<b class={name}>{shown}</b>"
        before = name
    return lines


def plain(fragment: str) -> str:
    """The text of HTML."""
    return html.unescape(re.sub(r"<[^>]*>", "", fragment)).strip()


def slug(text: str, taken: set[str]) -> str:
    """A heading's anchor by GitHub's rule; the second of a name gets -1."""
    name = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
    number = 0
    while (found := f"{name}-{number}" if number else name) in taken:
        number += 1
    taken.add(found)
    return found


def rendered(text: str, address: Callable[[str], str]) -> Rendered:
    """`address` makes of a link's target in the repository the one in the site."""
    page = cmarkgfm.markdown_to_html_with_extensions(
        text, cmarkgfm.cmark.Options.CMARK_OPT_UNSAFE, ["table", "autolink", "strikethrough", "tagfilter"]
    )
    page = COMMENT.sub("", page)
    result, taken = Rendered("", ""), set(re.findall(r'\bid="([^"]+)"', page))
    above: list[dict[str, Any]] = []

    def heading(match: re.Match[str]) -> str:
        level, name = int(match[1]), plain(match[2])
        anchor = slug(name, taken)
        result.title = result.title or (name if level == 1 else "")
        token = {"level": level, "id": anchor, "name": html.escape(name), "children": []}
        while above and above[-1]["level"] >= level:
            above.pop()
        (above[-1]["children"] if above else result.headings).append(token)
        above.append(token)
        link = f'<a class="headerlink" href="#{anchor}" title="Link to this section">&para;</a>'
        return f'<h{level} id="{anchor}">{match[2]}{link}</h{level}>'

    def code(match: re.Match[str]) -> str:
        return pygments.highlight(html.unescape(match[2]), lexer_of(match[1] or "text"), BLOCK)

    def link(match: re.Match[str]) -> str:
        return match[1] + html.escape(address(html.unescape(match[2]))) + match[3]

    # Links before code, whose spans are none.
    page = HEADING.sub(heading, ADDRESS.sub(link, page))
    result.html = CODE.sub(code, page)
    return result
