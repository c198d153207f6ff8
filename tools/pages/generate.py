"""Writes the tables of measurements, the marked numbers, and every figure of the documents from docs/measurements/.

usage: ./lab pages [--check]
       Figures need matplotlib. --check needs nothing, changes nothing, and exits 1 if anything is out of date.

In a page, what stands between these marks is written by this program:
  <!-- generated: NAME ARGUMENT... -->  whole lines  <!-- end generated -->
  <!-- = NAME ARGUMENT... -->a value<!-- / -->

The second never begins a line: there a comment is a block of its own for forges, and ends the paragraph
(tests/docs/check_docs.py).
"""

import hashlib
import json
import pathlib
import sys

from tools.command_line import parser_of
from tools.pages.data import Data
from tools.pages.figures import figures
from tools.pages.marks import fill
from tools.pages.reference import reference_text
from tools.repository import DOCS, FIGURES, REFERENCE, ROOT, Json, read_json_if_there, relative

MANIFEST = FIGURES / "manifest.json"  # of each figure its sources, with their digests


def sha256(path: pathlib.Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def pages() -> list[pathlib.Path]:
    """All files that may have marks."""
    folders = [ROOT / "tsm/README.md", ROOT / "tensorcore/README.md"]
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md")), *folders]


def stale_pages(data: Data, write: bool) -> list[str]:
    """The pages that are out of date; with `write` they are written anew."""
    stale = []
    for page in pages():
        text = page.read_text()
        filled = fill(text, data, relative(page))
        if filled != text:
            stale.append(relative(page))
            if write:
                page.write_text(filled)
    return stale


def stale_figures(wanted: Json) -> list[str]:
    """The figures that are out of date; `wanted`: the manifest as it should be."""
    manifest = read_json_if_there(MANIFEST) or {}
    stale = [
        f"docs/figures/{name}"
        for name, entry in wanted.items()
        if manifest.get(name) != entry or not (FIGURES / name).exists()
    ]
    return stale + ([relative(MANIFEST)] if set(manifest) - set(wanted) else [])


def main() -> None:
    parser = parser_of("./lab pages", __doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit status 1 if anything is out of date")
    check = parser.parse_args().check
    data = Data()
    text = reference_text()
    stale = []
    if not REFERENCE.exists() or REFERENCE.read_text() != text:
        stale.append(relative(REFERENCE))
        if not check:
            REFERENCE.write_text(text)
    stale += stale_pages(data, write=not check)
    plan = figures(data)
    wanted = {
        name: {"sources": {relative(source): sha256(source) for source in sources}}
        for name, (sources, _) in plan.items()
    }
    if check:
        stale += stale_figures(wanted)
        if stale:
            sys.exit("error: out of date, run ./lab pages: " + ", ".join(stale))
        return
    FIGURES.mkdir(exist_ok=True)
    for name, (_, draw) in plan.items():
        draw(data, FIGURES / name)
    MANIFEST.write_text(json.dumps(wanted, indent=1) + "\n")
    print(f"wrote {len(plan)} figures and {len(stale)} pages")
    if data.missing:
        print(f"{len(data.missing)} marks have no numbers yet, the first: {data.missing[0]}")
