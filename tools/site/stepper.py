"""The ladders in a browser, rung by rung: what each changes of its base, side by side, with counts and speeds.

usage: python3 -m tools.site.stepper FILE

FILE    the HTML file to write, which needs no other: open it and press the right arrow, then space

Keys: left and right to the rung before and behind, space to the next change, l lecture notes, ? all of them.
"""

import html
import os
import pathlib
import re
from collections.abc import Callable
from typing import Any

from tools import diff
from tools.command_line import fail, parser_of, run, write_whole
from tools.pages.data import COUNTED, HEADLINE, LADDER, NEW_RUNGS, Data, shape_of
from tools.pages.notes import counted_by, measured_on
from tools.pages.records.counts import KINDS
from tools.repository import (
    DOCS,
    FAMILIES,
    FIGURES,
    GPU,
    Json,
    newest,
    read_json_if_there,
    relative,
    stage_file,
    stages,
)
from tools.rungs import Source, base_of, change, head_of, number_of, source_of
from tools.site.page import html_page
from tools.tables import number, tflops

TITLES = {"sgemm": "SGEMM", "tsm": "tall & skinny", "tensorcore": "Tensor Cores"}
NOTES = ("Idea", "Change", "Limit", "Number", "Map", "Source")  # labels of a head that a lecturer reads aloud
TALL = "32x32x16777216"
# By family the runs that may have timed a stage, each with the shape to show, and how that is called.
RUNS = {
    "sgemm": [(LADDER, HEADLINE, "FP32")],
    "tsm": [(GPU / "tsm_d.json", TALL, "FP64, AᵀB"), (GPU / "tsmm_d.json", TALL, "FP64, A C")],
    "tensorcore": [(GPU / "tensor_h.json", HEADLINE, "FP16"), (GPU / "tensor_s.json", HEADLINE, "FP32")],
}
Run = tuple[pathlib.Path, str, str]


def runs_of(data: Data, both: list[str]) -> list[Run]:
    """Those to look for a rung's speed and its base's in; the ladder's newer rungs were timed beside their bases."""
    family = both[-1].split("/")[0]
    is_newer = family == "sgemm" and any(each not in data.ids for each in both)
    return [(NEW_RUNGS, HEADLINE, "FP32")] if is_newer else RUNS[family]


def ratio(old: float | None, new: float | None) -> str:
    """The change from one to the other, in few letters."""
    if old is None or new is None:
        return "–"
    if old == new:
        return "same"
    if not old or not new:
        return "new" if new else "none left"
    by = new / old
    if 0.9 < by < 1.1:
        return f"{(by - 1) * 100:+.1f} %".replace("-", "−")
    return f"× {number(by)}" if by > 1 else f"÷ {number(1 / by)}"


def spaced(shape: str) -> str:
    return " × ".join(f"{int(n):,}" for n in shape.split("x"))


class Counts:
    """What the executor counted of a stage, and of how large a product."""

    def __init__(self, data: Data, stage: str) -> None:
        family = stage.split("/")[0]
        run = data.executor
        size = str(run["tensor_sizes"][0] if family == "tensorcore" else run["stage_size"])
        key = {"sgemm": stage, "tsm": f"{stage}/d", "tensorcore": f"{stage}/{size}"}[family]
        self.shape = spaced(run["tsm_shape"] if family == "tsm" else f"{size}x{size}x{size}")
        self.counts = run["kernels"].get(key, {}).get("counts")
        self.tensor = family == "tensorcore"

    def sum(self, what: str) -> int | None:
        return sum(self.counts[kind][what] for kind, _ in KINDS) if self.counts else None

    def per_unit(self) -> float | None:
        """Wavefronts per FMA of a warp; of the Tensor Cores, per product of 16 x 8 x 16."""
        c, all_of = self.counts, self.sum("wavefronts")
        if not c or all_of is None:
            return None
        fmas = (c["fma32"] or 0) + (c["fma64"] or 0) + c["tensor_flops"] / 2
        units = fmas / (16 * 8 * 16 if self.tensor else 32)
        return all_of / units if units else None


class Speed:
    """How fast a stage was, and where; else why it was not timed."""

    def __init__(self, stage: str, runs: list[Run]) -> None:
        self.result: Json = {}
        self.where = ""
        is_probe = "ProbeRegistration" in stage_file(stage).read_text()
        self.why = "it solves no GEMM" if is_probe else "it was not timed"
        for path, shape, kind in runs:
            run = read_json_if_there(newest(path)) or {"results": []}
            for r in run["results"]:
                if r["stage"] == stage and shape_of(r["problem"]) == shape:
                    self.where = f"{kind}, {spaced(shape)}, {measured_on(run)}"
                    if "time_ms" in r:
                        self.result, self.why = r, ""
                    else:
                        self.why = r["reason"]


def facts(data: Data, base: str | None, stage: str) -> Json:
    """The table's rows (name, of the base, of the stage, change), and sentences that say where they are from."""
    both = [base, stage] if base else [stage]
    counts, runs = [Counts(data, each) for each in both], runs_of(data, both)
    speeds = [Speed(each, runs) for each in both]
    comparable = speeds[0].where == speeds[-1].where  # of one run, so of one product and one card
    rows = []

    def row(name: str, values: list[Any], form: Callable[[Any], str], compared: bool = True) -> None:
        cells = ["–" if value is None else form(value) for value in values]
        rows.append([name, *cells, ratio(*values) if compared else "–"] if base else [name, "", cells[0], ""])

    row("TFLOP/s", [speed.result.get("gflops") for speed in speeds], tflops, comparable)
    row("of cuBLAS, %", [speed.result.get("pct_cublas") for speed in speeds], "{:.1f}".format, comparable)
    row(f"wavefronts / {'MMA' if counts[-1].tensor else 'FMA'}", [each.per_unit() for each in counts], number)
    for name in ("sectors", "requests"):
        row(name, [each.sum(name) for each in counts], "{:,}".format)
    row("barriers", [each.counts and each.counts["barriers"] for each in counts], "{:,}".format)
    sentences = []
    if comparable and speeds[-1].where:
        sentences.append(f"Speed: {speeds[-1].where}, warm cache.")
    else:
        sentences += [f"Speed of {number_of(of)}: {s.where}, warm cache." for of, s in zip(both, speeds) if s.where]
        if base and all(s.where for s in speeds):
            sentences.append("These are two runs, so the speeds are not compared.")
    sentences += [f"{number_of(of)} has no speed: {s.why}." for of, s in zip(both, speeds) if not s.result]
    if any(each.counts for each in counts):
        unit = (
            "MMA: product of 16 × 8 × 16" if counts[-1].tensor else "FMA: of a warp, 32 multiplications and additions"
        )
        sentences.append(f"Counts: {counts[-1].shape}, {counted_by(data.executor)}. {unit}.")
    if all(cell == "–" for _, *cells in rows for cell in cells if cell):
        rows = []  # a probe without a base
    return {"rows": rows, "from": sentences}


def figure_of(page: str) -> tuple[pathlib.Path, str] | None:
    """Of a stage's page the thread map, perhaps another stage's, else the last figure of the idea; with its text."""
    found = re.findall(r"!\[([^\]]*)\]\(\.\./figures/([^)]+\.svg)\)", page)
    section = re.search(r"^## Idea\n(.*?)(?=^## |\Z)", page, re.S | re.M)
    of_idea = re.findall(r"!\[([^\]]*)\]\(\.\./figures/([^)]+\.svg)\)", section[1] if section else "")
    chosen = [each for each in found if each[1].startswith("map_")] or of_idea[-1:]
    return (FIGURES / chosen[0][1], chosen[0][0]) if chosen else None


class Builder:
    """What the page's script needs. Files and figures that several rungs show are there once."""

    def __init__(self) -> None:
        self.data = Data()
        self.files: dict[str, Json] = {}
        self.figures: dict[str, Json] = {}

    def file(self, source: Source) -> str:
        name = os.path.normpath(relative(source.file))
        self.files.setdefault(name, {"first": source.first, "lines": source.lines})
        return name

    def figure(self, page: str) -> str | None:
        found = figure_of(page)
        if not found or not found[0].exists():
            return None
        path, alt = found
        if path.name not in self.figures:
            svg = path.read_text()
            width = re.search(r'viewBox="[-\d.]+ [-\d.]+ ([\d.]+)', svg)
            self.figures[path.name] = {"alt": alt, "width": float(width[1]) if width else 400.0, "svg": svg}
        return path.name

    def rung(self, stage: str, base: str | None) -> Json:
        family, name = stage.split("/")
        head = head_of(stage_file(stage).read_text())
        path = DOCS / FAMILIES[family] / f"{name}.md"
        page = path.read_text() if path.exists() else f"# {name}"
        found: Json = {
            "id": f"{family}/{number_of(stage)}",
            "base": f"{base.split('/')[0]}/{number_of(base)}" if base else None,
            "title": page.split("\n", 1)[0].removeprefix("# ").removeprefix(f"{family}/"),
            "idea": self.data.idea(stage) if ".idea" in self.data.source(stage) else head.get("Idea", ""),
            "notes": [[label, head[label]] for label in NOTES if label in head],
            "figure": self.figure(page),
            "facts": facts(self.data, base, stage),
            "file": self.file(source_of(stage_file(stage))),
        }
        if path.exists():
            found["page"] = relative(path)
        if base:
            of = change(base, stage)
            found |= {
                "baseFile": self.file(of.old),
                "changed": of.lines,
                "sections": [
                    [each.hunk, [self.row(row) for row in each.rows]] for each in diff.sections(of.old, of.new)
                ],
                "headers": [
                    [sign, self.file(header), len(header.code)]
                    for sign, headers in (("−", of.old_headers), ("+", of.new_headers))
                    for header in headers
                ],
            }
        return found

    @staticmethod
    def row(row: diff.Row) -> list[Any]:
        places = [-1 if at is None else at for at in (row.old, row.new)]
        return [*places, row.old_marks, row.new_marks] if row.changed else places

    def page(self, title: str, families: dict[str, list[tuple[str, str | None]]]) -> str:
        ladders = [
            {"id": family, "title": TITLES[family], "rungs": [self.rung(*each) for each in rungs]}
            for family, rungs in families.items()
        ]
        body = (
            f'<header class="bar"><h1>{html.escape(title)}</h1>'
            '<nav id="steps" aria-label="rungs and changes"></nav><nav id="choices" aria-label="what is shown"></nav>'
            '</header><main id="rung"></main>'
        )
        data = {"ladders": ladders, "files": self.files, "figures": self.figures}
        return html_page(title, body, data=data, scripts=("highlight.js", "stepper.js"), styles=("stepper.css",))


def page_of_all() -> str:
    """All ladders, each rung beside its base."""
    found = {family: [(s, base_of(s)) for s in stages() if s.startswith(f"{family}/")] for family in FAMILIES}
    return Builder().page("Rung by rung", found)


def page_of_one(old: str, new: str) -> str:
    """One stage beside another."""
    return Builder().page(f"{number_of(old)} and {number_of(new)}", {new.split("/")[0]: [(new, old)]})


def write(path: str | pathlib.Path) -> None:
    """The page of all ladders, as one file."""
    if not COUNTED.exists():
        fail(f"{relative(COUNTED)} is missing: ./lab measure counts --count writes it")
    write_whole(path, page_of_all())


def main() -> None:
    parser = parser_of("python3 -m tools.site.stepper", __doc__)
    parser.add_argument("file")
    write(parser.parse_args().file)


if __name__ == "__main__":
    run(main)
