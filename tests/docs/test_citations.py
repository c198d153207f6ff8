#!/usr/bin/env python3
"""Checks that what a stage follows is cited: by its page, with a link to docs/sources.md, and in CITATION.cff.

usage: test_citations.py
"""

import re
import unittest

from tools.pages.citations import OTHERS, documents, linked, named
from tools.repository import DOCS, FAMILIES, read_json, stage_file, stages
from tools.rungs import head_of

SOURCES = DOCS / "sources.md"
# As heads of stages name the documents: where docs/sources.md has them.
ANCHORS = {
    "Ernst et al. (2020)": "ernst-et-al-2020",
    "Ootomo and Yokota (2022)": "ootomo-and-yokota-2022",
    "Ootomo and Yokota (2023)": "ootomo-and-yokota-2023",
    '"SGEMM on Pascal"': "sgemm-on-pascal",
    "PA2 report": "pa2-report",
    'A. Atluri, "Decreasing LDS Memory Requests"': "a-atluri-decreasing-lds-memory-requests",
}
PLACE = re.compile(r"\b(?:section|kernel|optimisation|listing|Code|Figure)s? \d+(?:\.\d+)*")


def anchors(text):
    found = [
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in re.findall(r"(?m)^#+ (.*)$", text)
    ]
    return set(found)


def source_of(stage):
    return head_of(stage_file(stage).read_text()).get("Source", "")


def page_of(stage):
    family, name = stage.split("/")
    return DOCS / FAMILIES[family] / f"{name}.md"


def last_paragraph(page):
    text = re.sub(r"<!-- .*? -->\n?", "", page.read_text())
    return " ".join(text.rstrip().split("\n\n")[-1].split())


def families_and_year(document):
    return f"{', '.join(family or given for family, given in document.authors)} {document.fields['year']}"


class Citations(unittest.TestCase):
    def test_each_stage_names_its_source(self):
        known = [*ANCHORS, *OTHERS, "ours", "common practice"]
        for stage in stages():
            with self.subTest(stage):
                self.assertTrue(any(name in source_of(stage) for name in known), source_of(stage))

    def test_each_page_ends_with_what_its_stage_follows(self):
        for stage in stages():
            with self.subTest(stage):
                source, cited = source_of(stage), last_paragraph(page_of(stage))
                self.assertTrue(cited.startswith("Source: "), f"{page_of(stage)} ends with: {cited[-200:]}")
                for name, anchor in ANCHORS.items():
                    if name in source:
                        self.assertIn(f"[{name}](../sources.md#{anchor})", cited)
                # The year alone: of the authors that were named before.
                for year in re.findall(r"; \((\d{4})\)", source):
                    self.assertIn(f"[({year})](../sources.md#ootomo-and-yokota-{year})", cited)
                for name, anchor in OTHERS.items():
                    if name in source:
                        self.assertIn(f"[{name}](../sources.md#{anchor})", cited)
                for place in PLACE.findall(source):
                    self.assertIn(place, cited)

    def test_each_reference_is_in_sources_and_is_followed(self):
        text = SOURCES.read_text()
        self.assertEqual({document.name: document.anchor for document in documents()}, ANCHORS)
        for document in documents():
            with self.subTest(document.name):
                self.assertIn(document.anchor, anchors(text))
                self.assertIn(document.fields["title"], " ".join(text.split()))
                for key in ("doi", "url"):
                    self.assertIn(document.fields.get(key, ""), text)
                self.assertTrue([stage for stage in stages() if document in named(source_of(stage))])

    def test_what_else_is_named_is_in_its_section(self):
        sections = {
            next(iter(anchors(f"#{part.splitlines()[0]}"))): part
            for part in re.split(r"(?m)^##", SOURCES.read_text())[1:]
        }
        for name, anchor in OTHERS.items():
            with self.subTest(name):
                self.assertIn(name.split(",")[0].split(" ")[0], sections[anchor])

    def test_the_audited_documents_are_in_citation(self):
        for title in read_json(DOCS / "sources_audit.json")["documents"].values():
            with self.subTest(title):
                found = [d for d in documents() if d.fields["title"] in title or families_and_year(d) in title]
                self.assertEqual(len(found), 1)

    def test_years_alone_belong_to_the_authors_before(self):
        text = linked("Ootomo and Yokota (2022), the split; (2023), section 4. Others (2023).", "s.md")
        self.assertEqual(
            text,
            "[Ootomo and Yokota (2022)](s.md#ootomo-and-yokota-2022), the split; "
            "[(2023)](s.md#ootomo-and-yokota-2023), section 4. Others (2023).",
        )
        self.assertEqual(linked("Others (2022); (2023)", "s.md"), "Others (2022); (2023)")


if __name__ == "__main__":
    unittest.main()
