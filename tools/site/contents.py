"""The order of the pages: the three ladders, and the paths that docs/README.md marks."""

import importlib
import posixpath
import re
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from tools.repository import ROOT
from tools.site.files import documents

START = "README.md"
PAGE_ZERO = "docs/concepts/gpu.md"
OVERVIEW = "docs/README.md"
LADDERS = {  # folder of docs: title, the page that begins it
    "stages": ("SGEMM", None),
    "tsm": ("Tall & skinny", "tsm/README.md"),
    "tensorcore": ("Tensor Cores", "tensorcore/README.md"),
}
# Each is a module of tools.site with write(path), which writes one HTML file; those that exist are part of the site.
INTERACTIVE = {"stepper": "Stepper", "ladder": "Ladder", "traces": "Traces"}
INTERACTIVE_PAGE = "interactive/index.md"
Navigation = list[dict[str, Any]]


@dataclass
class Path:
    """A way through the ladder."""

    title: str
    text: str  # what docs/README.md says of it, in Markdown
    rungs: list[str]  # pages, in the order of the ladder
    head: list[str]  # of the columns behind the rung
    rows: dict[str, list[str]]  # of a rung: what stands there, in Markdown

    @property
    def page(self) -> str:
        return "paths/" + re.sub(r"\W+", "-", self.title.lower()).strip("-") + ".md"


def title_of(path: str) -> str:
    """A page's heading."""
    match = re.search(r"^# +(.*)", (ROOT / path).read_text(), re.M)
    return match[1] if match else path


def lessons(folder: str) -> list[str]:
    """A ladder's pages without its logs."""
    return [
        path
        for path in documents()
        if posixpath.dirname(path) == f"docs/{folder}"
        and re.match(r"\d\d", posixpath.basename(path))
        and not is_log(path)
    ]


def is_log(path: str) -> bool:
    return path.endswith(".log.md")


def log_of(path: str) -> str:
    return path.removesuffix(".md") + ".log.md"


def number(path: str) -> str:
    """09a of docs/stages/09a_float4_loads.md."""
    return posixpath.basename(path).partition("_")[0]


def table(text: str) -> tuple[list[str], dict[str, list[str]]]:
    """Of a table whose first cells are links to stages: its head, and by page the cells behind the first."""
    head: list[str] = []
    found = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if match := re.match(r"\[[^\]]*\]\((stages/[^)]+)\)", cells[0] if cells else ""):
            found[f"docs/{match[1]}"] = cells[1:]
        elif not head:
            head = cells[1:]
    return head, found


def paths() -> list[Path]:
    """The marked paths: paragraphs that begin in bold under "Three paths". Each has the rungs of its table and those of
    the path before; one without a table has all."""
    text = (ROOT / OVERVIEW).read_text()
    section = re.split(r"^## ", text.split("\n## Three paths\n")[1], flags=re.M)[0]
    every_head, every = table(text.split("<!-- generated: stage_index sgemm")[1].split("<!-- end")[0])
    found: list[Path] = []
    for block in re.split(r"^(?=\*\*)", section, flags=re.M)[1:]:
        match = re.match(r"\*\*(.*?)\.?\*\* *(.*)", block, re.S)
        assert match
        head, rows = table(block)
        rows = (found[-1].rows if found else {}) | rows if rows else every
        prose = "\n\n".join(part for part in re.split(r"\n\s*\n", match[2]) if not part.lstrip().startswith("|"))
        rungs = [page for page in every if page in rows]
        found.append(Path(match[1], prose.strip(), rungs, head or every_head, rows))
    return found


def path_page(path: Path) -> str:
    """In Markdown, links from where `path.page` is."""

    def moved(text: str) -> str:
        """Links that were written in docs/."""
        return re.sub(r"(\]\()(?!\w+:)(?=[^)])", r"\1../docs/", text)

    lines = [f"# {path.title if ',' in path.title else path.title + ' rungs'}", "", moved(path.text), ""]
    lines += ["| | rung | " + " | ".join(path.head) + " |", "|---:|---|" + "---|" * len(path.head)]
    for place, page in enumerate(path.rungs, 1):
        lines.append(f"| {place} | [{title_of(page)}](../{page}) | {moved(' | '.join(path.rows[page]))} |")
    return "\n".join(lines) + "\n"


def parts() -> dict[str, ModuleType]:
    """The interactive parts that can be written here: one that needs a build says whether it is there."""
    modules = {name: importlib.import_module(f"tools.site.{name}") for name in INTERACTIVE}
    return {name: module for name, module in modules.items() if getattr(module, "available", lambda: True)()}


def summary_of(module: ModuleType) -> str:
    """The first sentence of its text."""
    return " ".join((module.__doc__ or "").split("\n\n")[0].split())


def interactive_page(modules: dict[str, ModuleType]) -> str:
    lines = [
        "# Interactive",
        "",
        "Pages of their own, which need no network either. Each has a button for the theme.",
        "",
    ]
    for name, module in modules.items():
        lines.append(f"* [{INTERACTIVE[name]}]({name}.html): {summary_of(module)}")
    lines += ["", "Each access of any stage: `./lab trace 05 --html trace.html`."]
    return "\n".join(lines) + "\n"


def ladder(folder: str, begins: str | None) -> Navigation:
    """Behind a page its log, which site.css shows only beside the two."""
    others = [
        page
        for page in documents()
        if posixpath.dirname(page) == f"docs/{folder}"
        and not re.match(r"\d\d", posixpath.basename(page))
        and not is_log(page)
    ]
    items: Navigation = [{"Overview": begins}] if begins else []
    for page in [*lessons(folder), *others]:
        items.append({title_of(page).removeprefix(f"{folder}/"): page})
        if (ROOT / log_of(page)).exists():
            items.append({"Log": log_of(page)})
    return items


def navigation(modules: dict[str, ModuleType]) -> Navigation:
    """As MkDocs takes it."""
    concepts = [p for p in documents() if posixpath.dirname(p) == "docs/concepts" and p != PAGE_ZERO]
    first = [START, OVERVIEW, "docs/your_first_stage.md", "docs/adding_a_stage.md", "CONTRIBUTING.md", "CHANGELOG.md"]
    overview: Navigation = [{"Start" if page == START else title_of(page): page} for page in first]
    found: Navigation = [
        {"Start": overview},
        {"Page zero": [{title_of(PAGE_ZERO): PAGE_ZERO}]},
        {"Paths": [{path.title: path.page} for path in paths()]},
        *({title: ladder(folder, begins)} for folder, (title, begins) in LADDERS.items()),
        {"Concepts": [{title_of(page): page} for page in [*concepts, "docs/glossary.md"]]},
        {"Course": [{title_of(page): page} for page in documents() if page.startswith("docs/course")]},
        {"Sources": [{title_of("docs/sources.md"): "docs/sources.md"}]},
    ]
    return found + ([{"Interactive": [{"Overview": INTERACTIVE_PAGE}]}] if modules else [])
