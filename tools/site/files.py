"""What the documents link to besides each other: figures and data as they are, code as pages with line numbers, folders
as lists of their files."""

import html
import os
import pathlib
import posixpath
import re
import urllib.parse
from collections.abc import Iterator

from tools.repository import FAMILIES, ROOT
from tools.site.page import bar, document
from tools.site.render import highlighted_lines

AS_THEY_ARE = {".svg", ".png", ".json"}  # a browser shows them
NO_PART = {"build", "shared", "__pycache__"}


def documents() -> list[str]:
    """The pages: paths from the root, in the order of their names."""
    found = [path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")]
    fixed = ["README.md", "tsm/README.md", "tensorcore/README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
    return fixed + sorted(found)


def place(path: str) -> str:
    """Where a document is in the site."""
    folder, name = posixpath.split(path)
    return posixpath.join(folder, "index.html" if name == "README.md" else name.removesuffix(".md") + ".html")


def files_below(folder: str) -> Iterator[str]:
    """Of the repository, hidden ones and what was built left out."""
    for where, folders, names in os.walk(ROOT / folder):
        folders[:] = sorted(name for name in folders if name not in NO_PART and not name.startswith("."))
        for name in sorted(names):
            if not name.startswith(".") and not name.endswith(".pyc"):
                yield pathlib.Path(where, name).relative_to(ROOT).as_posix()


class Site:
    """Finds out which files must come along. dead: links that lead nowhere."""

    def __init__(self, pages: list[str]) -> None:
        self.pages = {page: place(page) for page in pages}
        self.copied: set[str] = set()
        self.code: set[str] = set()
        self.folders: set[str] = set()
        self.dead: list[str] = []

    def place_of(self, path: str) -> str | None:
        """Where in the site a file or folder of the repository is; it comes along from now on."""
        if path in self.pages:
            return self.pages[path]
        target = ROOT / path
        if target.is_dir():
            readme = posixpath.normpath(posixpath.join(path, "README.md"))
            if readme in self.pages:
                return self.pages[readme]
            if path not in self.folders:
                self.folders.add(path)
                for file in files_below(path):
                    self.place_of(file)
            return posixpath.join(path, "index.html")
        if not target.is_file():
            return None
        if target.suffix in AS_THEY_ARE:
            self.copied.add(path)
            return path
        self.code.add(path)
        return path + ".html"

    def address(self, page: str, at: str, target: str) -> str:
        """Of a link to `target` in the document `page`, which is at `at` in the site."""
        if re.match(r"\w+:|//|#", target):
            return target
        name, _, anchor = target.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), urllib.parse.unquote(name)))
        found = None if path.startswith("..") else self.place_of(path)
        if not found:
            self.dead.append(f"{page}: {target}")
            return target
        if path in self.code:
            anchor = anchor.partition("-")[0]  # of #L3-L7 the beginning
        return urllib.parse.quote(posixpath.relpath(found, posixpath.dirname(at) or ".")) + (anchor and "#" + anchor)


def standing_page(at: str, title: str, links: list[tuple[str, str]], body: str) -> str:
    """A page beside the documents, with the house's style. `links`: text, place in the site."""
    up = posixpath.relpath(".", posixpath.dirname(at) or ".")
    assets = f"{up}/assets/site"

    def place(to: str) -> str:
        return urllib.parse.quote(posixpath.relpath(to, posixpath.dirname(at) or "."))

    return document(
        title,
        "\n".join(f'<link rel="stylesheet" href="{assets}/{name}">' for name in ("base.css", "source.css")),
        f'{bar(title, *((text, place(to)) for text, to in links))}\n{body}\n<script src="{assets}/base.js"></script>',
    )


def around(site: Site, path: str) -> list[tuple[str, str]]:
    """Links of a file's page: the start, the lesson of a stage, the folder if it has a list."""
    links = [("start", "index.html")]
    folder, name = posixpath.split(path)
    lesson = f"docs/{folder}/{posixpath.splitext(name)[0]}.md"
    if folder in FAMILIES.values() and lesson in site.pages:
        links.append(("its page", site.pages[lesson]))
    while folder and folder not in site.folders:
        folder = posixpath.dirname(folder)
    if folder:
        links.append((f"{folder}/", posixpath.join(folder, "index.html")))
    return links


def code_page(site: Site, path: str) -> str:
    text = (ROOT / path).read_text(errors="replace")
    code = "\n".join(f"<i id=L{at}>{line}</i>" for at, line in enumerate(highlighted_lines(text, path), 1))
    return standing_page(path + ".html", path, around(site, path), f'<pre class="source">{code}</pre>')


def folder_page(site: Site, folder: str) -> str:
    at = posixpath.join(folder, "index.html")
    rows = []
    for file in files_below(folder):
        where = posixpath.relpath(site.place_of(file) or file, folder)
        name = posixpath.relpath(file, folder)
        rows.append(f'<li><a href="{urllib.parse.quote(where)}">{html.escape(name)}</a></li>')
    return standing_page(at, folder + "/", around(site, folder), f'<ul class="files">{"".join(rows)}</ul>')
