"""Which documents the stages follow: CITATION.cff has the references, the head of each stage its source."""

import dataclasses
import re

from tools.repository import ROOT

CITATION = ROOT / "CITATION.cff"
# As the heads of stages name what has no author's name.
NAMES = {"CUDA Case Study - SGEMM on Pascal": '"SGEMM on Pascal"', "PA2 Report": "PA2 report"}
# What heads name beside: the section of docs/sources.md that has it.
OTHERS = {
    "CUTLASS": "other-sources-of-kernels",
    "Osama et al.": "other-sources-of-kernels",
    "Goto and van de Geijn": "other-sources-of-kernels",
    "Kurzak, Tomov, Dongarra": "other-sources-of-kernels",
    "Dakkak et al. (2019)": "other-sources-of-kernels",
    "Markidis et al. (2018)": "other-sources-of-kernels",
    "Chen et al. (2019)": "other-sources-of-kernels",
    "PTX ISA": "other-sources-of-kernels",
    "CUDA C++ Programming Guide": "the-harness",
}


@dataclasses.dataclass
class Document:
    """A reference of CITATION.cff."""

    fields: dict[str, str]
    authors: list[tuple[str, str]]  # family and given names; ("", text) where nobody is named

    @property
    def name(self) -> str:
        """As the heads of stages have it."""
        title, year = self.fields["title"], self.fields["year"]
        families = [family for family, _ in self.authors if family]
        if not families:
            return NAMES[title]
        if len(families) == 1:
            return f'{self.authors[0][1][0]}. {families[0]}, "{title}"'
        return f"{' and '.join(families) if len(families) == 2 else families[0] + ' et al.'} ({year})"

    @property
    def anchor(self) -> str:
        """Of its heading in docs/sources.md, by the forges' rule."""
        return re.sub(r"[^\w\- ]", "", self.name.lower()).replace(" ", "-")

    @property
    def reference(self) -> str:
        """In full, as Markdown."""
        fields = self.fields
        where = f"https://doi.org/{fields['doi']}" if "doi" in fields else fields.get("url")
        title = f"[{fields['title']}]({where})" if where else f'"{fields["title"]}"'
        authors = ", ".join(f"{given[0]}. {family}" for family, given in self.authors if family)
        notes = fields.get("notes", "").rstrip(".")
        more = [fields.get("collection-title", fields["year"]), notes[:1].lower() + notes[1:]]
        return ", ".join(part for part in (authors, title, *more) if part) + "."


def documents() -> list[Document]:
    """The references of CITATION.cff, of whose format this reads what the file uses."""
    found: list[Document] = []
    for line in CITATION.read_text().split("\nreferences:\n")[1].splitlines():
        if author := re.fullmatch(r"      - \{family-names: (.+), given-names: (.+)\}", line):
            found[-1].authors.append((author[1], author[2]))
        elif author := re.fullmatch(r"      - name: (.+)", line):
            found[-1].authors.append(("", author[1]))
        elif field := re.fullmatch(r"  (- |  )([a-z-]+):(?: (.+))?", line):
            if field[1] == "- ":
                found.append(Document({}, []))
            found[-1].fields[field[2]] = field[3] or ""
        else:
            raise ValueError(f"{CITATION.name}: what is this line? {line}")
    return found


def named(source: str) -> list[Document]:
    """The documents that a head's source names; also by the year alone: "Ootomo and Yokota (2022), A; (2023), B"."""
    return [document for document in documents() if places(source, document)]


def places(source: str, document: Document) -> list[tuple[int, int]]:
    """Where a source names a document: from, to."""
    found = [match.span() for match in re.finditer(re.escape(document.name), source)]
    authors, _, year = document.name.rpartition(" (")
    if authors and f"{authors} (" in source:
        found += [match.span() for match in re.finditer(rf"(?<=; )\({re.escape(year)}", source)]
    return found


def linked(source: str, sources: str) -> str:
    """A head's source as Markdown: what it names leads to its section in docs/sources.md, whose path is `sources`."""
    links = [(span, document.anchor) for document in documents() for span in places(source, document)]
    for name, anchor in OTHERS.items():
        if match := re.search(re.escape(name), source):
            links.append((match.span(), anchor))
    for (begin, end), anchor in sorted(links, reverse=True):
        source = f"{source[:begin]}[{source[begin:end]}]({sources}#{anchor}){source[end:]}"
    return source
