"""What a stage follows, from its head; and the documents that all stages follow, from CITATION.cff."""

import os
import textwrap

from tools.pages.citations import documents, linked, named
from tools.pages.data import Data
from tools.repository import DOCS, FAMILIES, stage_file, stages
from tools.rungs import head_of, number_of

WIDTH = 120


def source_of(stage: str) -> str:
    return head_of(stage_file(stage).read_text()).get("Source", "not named")


def block_citation(data: Data, stage: str) -> list[str]:
    """The last line of a stage's page. A link is not broken within its address."""
    sources = os.path.relpath(DOCS / "sources.md", DOCS / FAMILIES[stage.split("/")[0]])
    text = f"Source: {linked(source_of(stage), sources)}"
    return textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def block_cited(data: Data) -> list[str]:
    """A heading for each document, its reference, and the pages of the stages that follow it."""
    lines: list[str] = []
    for document in documents():
        links = []
        for stage in stages():
            if document.name in [found.name for found in named(source_of(stage))]:
                family, name = stage.split("/")
                number = number_of(stage) if family == "sgemm" else f"{family}/{number_of(stage)}"
                links.append(f"[{number}]({FAMILIES[family]}/{name}.md)")
        text = f"{document.reference} Stages that name it: {', '.join(links)}."
        lines += [
            f"### {document.name}",
            "",
            *textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False),
        ]
        lines.append("")
    return lines[:-1]
