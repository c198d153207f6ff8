"""Looks through a built site: dead links, Markdown that was not rendered, what another machine would be asked for."""

import html
import pathlib
import re
import urllib.parse

TAG = re.compile(r"<[a-zA-Z][^>]*>")
ATTRIBUTE = re.compile(r'\s(id|name|href|src)="([^"]*)"')
NOT_TEXT = re.compile(r"<(script|style|pre|code|svg|template)\b.*?</\1>", re.S)
MARKDOWN = re.compile(r"\]\(|\*\*|```|~~~|<!-- [=/]|^\s*\|.*\|\s*$|\|\s*:?-{3,}", re.M)
ASKED = re.compile(r'<(?:script|img|iframe|link(?![^>]*rel="canonical"))\b[^>]*\b(?:src|href)="(?:https?:)?//')


class PageOfSite:
    def __init__(self, text: str) -> None:
        self.anchors: set[str] = set()
        self.targets: list[str] = []
        without_scripts = re.sub(r"<(script|style)(\b[^>]*)>.*?</\1>", r"<\1\2>", text, flags=re.S)
        for tag in TAG.findall(without_scripts):
            for name, value in ATTRIBUTE.findall(tag):
                value = html.unescape(value)
                if name in ("id", "name"):
                    self.anchors.add(value)
                else:
                    self.targets.append(value)
        shown = html.unescape(re.sub(r"<[^>]*>", "", NOT_TEXT.sub("CODE", text)))
        self.raw = [" ".join(shown[max(0, m.start() - 30) : m.end() + 30].split()) for m in MARKDOWN.finditer(shown)]
        self.asks = [match[0] for match in ASKED.finditer(without_scripts)]


def faults(site: pathlib.Path) -> list[str]:
    """A line for each thing that is wrong."""
    pages = {path.relative_to(site).as_posix(): PageOfSite(path.read_text()) for path in site.rglob("*.html")}
    found = []
    for name, page in sorted(pages.items()):
        found += [f"{name}: Markdown is shown as text: ...{text}..." for text in page.raw]
        found += [f"{name}: asks another machine: {tag}" for tag in page.asks]
        found += [f"{name}: {fault}" for fault in dict.fromkeys(dead(site, pages, name, page))]
    if "index.html" not in pages:
        found.append("there is no index.html")
    for style in site.rglob("*.css"):
        if re.search(r"url\(\s*['\"]?(?:https?:)?//|@import", style.read_text()):
            found.append(f"{style.relative_to(site)}: asks another machine")
    return found


def dead(site: pathlib.Path, pages: dict[str, PageOfSite], name: str, page: PageOfSite) -> list[str]:
    """Targets of a page that are not there."""
    found = []
    for target in page.targets:
        if re.match(r"[a-z][a-z+.-]*:|//", target):
            continue  # somebody else's
        address, _, anchor = target.partition("#")
        address = urllib.parse.unquote(address.partition("?")[0])
        to = name
        if address:
            path = (site / name).parent / address
            if not path.is_file():  # a browser shows no folder's index.html from a file system
                found.append(f"no such file: {target}")
                continue
            to = (
                path.resolve().relative_to(site.resolve()).as_posix()
                if path.resolve().is_relative_to(site.resolve())
                else ""
            )
            if not to:
                found.append(f"leads out of the site: {target}")
                continue
        if anchor and to in pages and urllib.parse.unquote(anchor) not in pages[to].anchors:
            found.append(f"no such anchor: {target}")
    return found
