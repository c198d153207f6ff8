"""Builds the site, by MkDocs with the theme Material. What is in it is decided in contents.py and files.py."""

import html
import logging
import pathlib
import posixpath
import re
import shutil
import tempfile
from types import ModuleType
from typing import Any

from mkdocs.commands.build import build as mkdocs_build
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import BasePlugin
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Link, Navigation
from mkdocs.structure.pages import Page
from mkdocs.structure.toc import get_toc

from tools.command_line import fail
from tools.repository import ROOT
from tools.site import contents, files
from tools.site.page import ASSETS
from tools.site.render import rendered

THEME = pathlib.Path(__file__).with_name("theme")
MADE = ["base.js", "base.css", "source.css", "site.css", "theme.js", "iframe-worker.js"]
# Other languages' stemmers, maps for the theme's developers, and pages that only a server can use.
UNUSED = ["404.html", "sitemap.xml", "sitemap.xml.gz", "assets/javascripts/lunr", "search/search_index.json"]


class Document(Page):
    """A page that is rendered as forges do."""

    shown: "Documents"

    def render(self, config: MkDocsConfig, files: Files) -> None:
        path, at = self.file.src_uri, self.file.dest_uri
        done = rendered(self.markdown or "", lambda target: self.shown.site.address(path, at, target))
        self.content = done.html.replace("</h1>", "</h1>\n" + self.shown.place_on_paths(path, at), 1)
        self.toc = get_toc(done.headings)
        self.title = getattr(self, "title", None) or done.title
        self.present_anchor_ids = set()


class Documents(BasePlugin):
    """What MkDocs asks, answered from the repository."""

    def __init__(self, modules: dict[str, ModuleType]) -> None:
        super().__init__()
        self.modules = modules
        self.paths = contents.paths()
        self.made = {path.page: contents.path_page(path) for path in self.paths}
        if modules:
            self.made[contents.INTERACTIVE_PAGE] = contents.interactive_page(modules)
        self.site = files.Site([*files.documents(), *self.made])
        self.site.pages |= {f"interactive/{name}.html": f"interactive/{name}.html" for name in modules}

    def place_on_paths(self, page: str, at: str) -> str:
        """For each path that is not all of the ladder: which step the page is, and the steps beside it."""
        lines = []

        def link(to: str, before: str, after: str) -> str:
            where = posixpath.relpath(self.site.pages[to], posixpath.dirname(at))
            return f'<a href="{where}">{before}{contents.number(to)}{after}</a>'

        for path in self.paths:
            if page not in path.rungs or len(path.rungs) == len(self.paths[-1].rungs):
                continue
            step = path.rungs.index(page)
            whole = posixpath.relpath(self.site.pages[path.page], posixpath.dirname(at))
            line = f'<a href="{whole}">{html.escape(path.title)}</a>: {step + 1} of {len(path.rungs)}'
            beside = [link(path.rungs[step - 1], "← ", "")] if step else []
            beside += [link(path.rungs[step + 1], "", " →")] if step + 1 < len(path.rungs) else []
            lines.append(f"<span>{' · '.join([line, *beside])}</span>")
        return f'<nav class="paths" aria-label="Paths" data-search-exclude>{"".join(lines)}</nav>' if lines else ""

    def on_files(self, found: Files, /, *, config: MkDocsConfig) -> Files:
        for page in files.documents():
            found.append(placed(File.generated(config, page, abs_src_path=str(ROOT / page))))
        for page, text in self.made.items():
            found.append(placed(File.generated(config, page, content=text)))
        return found

    def on_nav(self, nav: Navigation, /, *, config: MkDocsConfig, files: Files) -> Navigation:
        for page in nav.pages:
            page.__class__ = Document
            page.shown = self
            page.previous_page = page.next_page = None
        # From lesson to lesson, without the logs between them.
        read = [page for page in nav.pages if not contents.is_log(page.file.src_uri)]
        for before, after in zip(read, read[1:]):
            before.next_page, after.previous_page = after, before
        # Files that MkDocs does not make, behind the page that lists them.
        if (list_of_parts := files.get_file_from_path(contents.INTERACTIVE_PAGE)) and list_of_parts.page:
            list_of_parts.page.parent.children += [
                Link(contents.INTERACTIVE[name], f"interactive/{name}.html") for name in self.modules
            ]
        return nav

    def marks(self, page: Page) -> dict[str, str]:
        """What the list of pages shows beside a lesson: the first path that it is on."""
        names = (name for name, path in zip(("six", "twelve"), self.paths) if page.file.src_uri in path.rungs)
        return {"status": name} if (name := next(names, "")) else {}

    def on_page_markdown(self, markdown: str, /, *, page: Page, config: MkDocsConfig, files: Files) -> str:
        page.meta.update(self.marks(page))
        if page.file.src_uri in self.made:  # it says what others say
            page.meta["search"] = {"exclude": True}
        return markdown

    def on_post_page(self, output: str, /, *, page: Page, config: MkDocsConfig) -> str:
        """Without the templates' indentation, which is a quarter of a page."""
        parts = re.split(r"(<(pre|script|style)\b.*?</\2>)", output, flags=re.S)
        # What the pattern found, and the name in it, stand behind each text.
        return "".join(re.sub(r"\s*\n\s*", "\n", text) + kept for text, kept in zip(parts[::3], [*parts[1::3], ""]))


def placed(file: File) -> File:
    file.dest_uri = files.place(file.src_uri)
    return file


def colours() -> str:
    """The house's colours, by the names that Material gives the themes."""
    css = (ASSETS / "base.css").read_text()
    blocks = re.findall(r'^(?::root|\[data-theme="\w+"\]) \{[^}]*\}', css, re.M)
    names = {":root": ":root", '[data-theme="dark"]': '[data-md-color-scheme="slate"]'}
    text = "\n".join(blocks).replace('[data-theme="projector"]', '[data-md-color-scheme="projector"]')
    for old, new in names.items():
        text = text.replace(old, new)
    return text + "\n"


def configuration(site: Documents, modules: dict[str, ModuleType], source: pathlib.Path, out: pathlib.Path) -> Any:
    config = MkDocsConfig(config_file_path=str(source / "mkdocs.yml"))
    themes = [
        ("default", "(prefers-color-scheme: light)", "theme: light", "material/weather-sunny"),
        ("slate", "(prefers-color-scheme: dark)", "theme: dark", "material/weather-night"),
        ("projector", "", "theme: projector", "material/projector-screen-outline"),
    ]
    config.load_dict(
        {
            "site_name": "Staged GEMM",
            "docs_dir": str(source / "docs"),
            "site_dir": str(out),
            "use_directory_urls": False,
            "nav": contents.navigation(modules),
            "theme": {
                "name": "material",
                "custom_dir": str(THEME),
                "font": False,
                "features": "navigation.tabs navigation.prune navigation.footer "
                "search.highlight toc.follow content.code.copy".split(),
                "palette": [
                    {
                        "scheme": scheme,
                        "media": media,
                        "primary": "custom",
                        "accent": "custom",
                        "toggle": {"name": name, "icon": icon},
                    }
                    for scheme, media, name, icon in themes
                ],
            },
            "extra_css": ["assets/site/colours.css", "assets/site/site.css"],
            # The plugin for offline use would ask another machine for this script.
            "extra": {
                "status": {"six": site.paths[0].title, "twelve": site.paths[1].title},
                "polyfills": ["assets/site/iframe-worker.js"],
                "generator": False,
                "homepage": "index.html",
            },
            # By default a word in a title outweighs all words in the text.
            "plugins": [{"material/search": {"fields": {"title": {"boost": 4}}}}, "material/offline"],
        }
    )
    errors, warnings = config.validate()
    if errors or warnings:
        fail(f"MkDocs refuses its configuration: {[*errors, *warnings][0]}")
    config.plugins["documents"] = site
    return config


def write_beside(site: Documents, modules: dict[str, ModuleType], out: pathlib.Path) -> None:
    """What is no page of MkDocs: code, figures, data, styles, the interactive parts."""

    def write(at: str, text: str) -> None:
        path = out / at
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    for name in MADE:
        write(f"assets/site/{name}", (ASSETS / name).read_text())
    write("assets/site/colours.css", colours())
    for path in sorted(site.site.code):
        write(path + ".html", files.code_page(site.site, path))
    for folder in sorted(site.site.folders):
        write(posixpath.join(folder, "index.html"), files.folder_page(site.site, folder))
    for path in sorted(site.site.copied):
        (out / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, out / path)
    for name, module in modules.items():
        (out / "interactive").mkdir(exist_ok=True)
        module.write(out / "interactive" / f"{name}.html")


def build(out: pathlib.Path) -> list[str]:
    """Writes the site into the folder `out`, which is empty. Returns links of the documents that lead nowhere."""
    logging.getLogger("mkdocs").setLevel(logging.WARNING)
    modules = contents.parts()
    site = Documents(modules)
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder)
        (source / "docs").mkdir()
        mkdocs_build(configuration(site, modules, source, out))
    write_beside(site, modules, out)
    for name in [*UNUSED, *(str(path.relative_to(out)) for path in (out / "assets").rglob("*.map"))]:
        path = out / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    return site.site.dead
