"""The programs of tests/programs: what ./lab emulate and a GPU's own tools find in them, and the case studies."""

import difflib
import re
import textwrap
from collections.abc import Callable

from tools.measure import default_sizes
from tools.measure.programs import BROKEN, COSTS, FILE, FOLDER, files_of
from tools.pages.data import Data, NotMeasured
from tools.repository import ROOT, SINCE, Json, read_json_if_there
from tools.tables import number, table

ON_DEVICE = SINCE / "programs.json"  # tests/programs/on_device.py writes it
TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
FOUND, NOTICED, NOTHING = "found", "noticed", "nothing"


def emulated() -> list[Json]:
    if not (record := read_json_if_there(FILE)):
        raise NotMeasured("")
    return record["programs"]


def case(name: str) -> Json:
    return next(entry for entry in emulated() if entry["name"] == f"cases/{name}")


def verdict(program: Json) -> str:
    """Of the executor: found is a report that says what is marked, and names the marked line."""
    reports = [report for report in program["reports"] or [] if report["says"] != BROKEN]
    for report in reports:
        if report["says"].startswith(tuple(program["kinds"])) and program["line"] in report["lines"]:
            return FOUND
    return NOTICED if reports else NOTHING


def verdict_of_tool(result: Json, tool: str) -> str:
    """Of compute-sanitizer, whose words are not ours: found is any report that names one of the marked lines."""
    of_tool = result.get("tools", {}).get(tool, {})
    if of_tool.get("line_named") or of_tool.get("other_named"):
        return FOUND
    return NOTICED if of_tool.get("errors") else NOTHING


def cell(programs: list[Json], verdict_of: Callable[[Json], str]) -> str:
    verdicts = [verdict_of(program) for program in programs]
    noticed = verdicts.count(NOTICED)
    return f"{verdicts.count(FOUND)}" + (f" (+{noticed})" if noticed else "")


def programs_table(programs: list[Json], device: Json | None) -> list[str]:
    def of_device(program: Json) -> Json:
        return device["programs"].get(program["name"].split("/")[1], {}) if device else {}

    by_kind: dict[str, list[Json]] = {}
    for program in programs:
        if program["name"].startswith("wrong/"):
            by_kind.setdefault(program["kinds"][0], []).append(program)
    right = [program for program in programs if program["name"].startswith("right/")]
    head = ["the planted mistake", "programs", "`./lab emulate`"]
    head += [f"{tool}" for tool in TOOLS] + ["the GPU alone"] if device else []

    def row(name: str, its: list[Json]) -> list[str]:
        cells = [name, str(len(its)), cell(its, verdict)]
        if device:
            cells += [cell(its, lambda each, tool=tool: verdict_of_tool(of_device(each), tool)) for tool in TOOLS]
            cells.append(str(sum(of_device(each).get("run", {}).get("status") not in (0, None) for each in its)))
        return cells

    def alarms(of_program: Callable[[Json], bool]) -> str:
        return str(sum(map(of_program, right)))

    rows = [row(kind, its) for kind, its in sorted(by_kind.items(), key=lambda item: (-len(item[1]), item[0]))]
    rows.append(row("all", [each for its in by_kind.values() for each in its]))
    last = ["none: reported nevertheless", str(len(right)), alarms(lambda each: bool(each["reports"]))]
    if device:
        last += [alarms(lambda each, t=tool: bool(verdict_of_tool(of_device(each), t) != NOTHING)) for tool in TOOLS]
        last.append(alarms(lambda each: of_device(each).get("run", {}).get("status") not in (0, None)))
    lines = table(head, [*rows, last])
    if not device:
        return lines
    lines += ["", f"{device['device']}, driver {device['driver']}; {device['cuda']}."]
    own = [each for each in programs if not each["name"].startswith("cases/")]
    missing = [f"`{each['name']}`" for each in own if not of_device(each)]
    said = f"Not yet run there, and so not found: {', '.join(missing)}." if missing else ""
    return lines + textwrap.wrap(said, 120, break_on_hyphens=False)


def block_programs(_: Data) -> list[str]:
    """By kind of mistake, how many programs each tool finds it in."""
    return programs_table(emulated(), read_json_if_there(ON_DEVICE))


def block_gaps(_: Data) -> list[str]:
    """What the executor can't, as the head comments of the programs say that show it."""
    lines = []
    for file in sorted((FOLDER / "gaps").glob("*.cu")):
        head = re.match(r"(?://.*\n)+", file.read_text())[0]  # type: ignore[index]
        title, text = " ".join(line.removeprefix("//").strip() for line in head.splitlines()).split(". ", 1)
        link = f"[Example](../../{file.relative_to(ROOT)})."
        lines += textwrap.wrap(f"* **{title}.** {text} {link}", 120, subsequent_indent="  ", break_on_hyphens=False)
    return lines


def block_default_sizes(_: Data) -> list[str]:
    """What programs of usual sizes take on the executor."""
    if not (record := read_json_if_there(default_sizes.FILE)):
        raise NotMeasured("")
    rows = [
        [f"`{each['name']}`", *(f"{each[what]:.1f}" for what in ("wall_s", "cpu_s", "memory_gb"))]
        for each in record["programs"]
    ]
    lines = table(["program", "time, s", "CPU time, s", "memory, GB"], rows, left=["program"])
    return [*lines, "", f"{record['cores']} cores, nothing beside it, commit {record['commit']}."]


def broken(report: str) -> list[str]:
    """A report's one line as a page shows it."""
    first, *rest = re.split(r"(?<=[:,]) (?=thread \(|the host )", report)
    return [f"simt: {first}", *(f"    {part}" for part in rest)]


def block_case_report(_: Data, name: str) -> list[str]:
    """All that is said of it."""
    return ["```text", *(line for report in case(name)["text"] for line in broken(report)), "```"]


def block_case_source(_: Data, name: str, part: str = "") -> list[str]:
    """The program; part "kernel": its kernel alone."""
    text = files_of(f"cases/{name}")[0].read_text()
    if part == "kernel":
        text = re.search(r"^__global__.*?^}\n", text, re.S | re.M)[0]  # type: ignore[index]
    return ["```cpp", *text.splitlines(), "```"]


def block_case_diff(_: Data, before: str, after: str) -> list[str]:
    """What was mended: without the comment that says so."""
    texts = [files_of(f"cases/{name}")[0].read_text().splitlines()[1:] for name in (before, after)]
    lines = [line for line in difflib.unified_diff(*texts, n=1, lineterm="") if line[:2] not in ("--", "++", "@@")]
    return ["```diff", *lines, "```"]


def block_case_counts(_: Data, *names: str) -> list[str]:
    """What the programs' accesses cost, side by side."""
    kinds = {
        access["kind"]: None for name in names for kernel in case(name)["kernels"] for access in kernel["accesses"]
    }
    rows = []
    for kind in sorted(kinds):
        for name in names:
            found = [a for kernel in case(name)["kernels"] for a in kernel["accesses"] if a["kind"] == kind]
            if found:
                costs = [number(sum(access[cost] for access in found), whole_from=0) for cost in COSTS]
                rows.append([kind, f"`{name}`", *costs])
    return table(["access", "program", *COSTS], rows, left=["access", "program"])
