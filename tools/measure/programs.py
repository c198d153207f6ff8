"""What ./lab emulate says of the programs in tests/programs: right ones, wrong ones, and the case studies of a page.

usage: ./lab measure programs --out FILE [--build BUILD] [--only NAME,...]
       FILE: docs/measurements/cpu/programs.json, of which ./lab pages makes tables and reports of pages. BUILD: of
       ./lab setup --cpu. --only replaces what FILE has of these programs, such as wrong/off_by_one, or of a folder,
       such as cases; the rest stays. Exit status 1 if a program does not compile
"""

from __future__ import annotations

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from tools.command_line import fail, parser_of
from tools.repository import CPU, ROOT, Json, commit_of_tree, read_json_if_there, write_digest

FOLDER = ROOT / "tests/programs"
FILE = CPU / "programs.json"
GROUPS = ("right", "wrong", "cases")
MARK = re.compile(r"// (?:defect|warning): (.+)$")  # tests/programs/catalogue.py has the rules
PLACE = re.compile(r"([\w.-]+\.(?:cuh?|cpp|hpp|h)):(\d+)")
LONGEST = 120  # seconds
BROKEN = "does not compile"
COSTS = ("requests", "accesses", "sectors", "wavefronts", "conflicts")


def names() -> list[str]:
    """Of all programs, as wrong/off_by_one: a file, or a folder with several."""
    return [
        f"{group}/{entry.stem}"
        for group in GROUPS
        for entry in sorted((FOLDER / group).glob("*"))
        if entry.suffix == ".cu" or entry.is_dir()
    ]


def files_of(name: str) -> list[pathlib.Path]:
    folder = FOLDER / name
    if not folder.is_dir():
        return [folder.with_suffix(".cu")]
    return [*sorted(folder.glob("*.cu")), *sorted(folder.glob("*.c"))]


def mark_of(files: list[pathlib.Path]) -> Json:
    """The kinds of defect that a report may name, and the line that it has to."""
    for file in files:
        for number, text in enumerate(file.read_text().splitlines(), 1):
            if match := MARK.search(text):
                return {"kinds": match[1].split(" or "), "line": f"{file.name}:{number}"}
    return {}


def reports_in(error_text: str) -> list[str]:
    return [line.removeprefix("simt: ") for line in error_text.splitlines() if line.startswith("simt: ")]


def short(report: str) -> Json:
    """What is wrong, and where: the same in each run, which of many threads is named isn't."""
    places = [f"{file}:{line}" for file, line in PLACE.findall(report)]
    return {"says": re.split(r"[,:(] ?", report.removeprefix("warning: "))[0].strip(), "lines": places}


def kernels_in(report: Json) -> list[Json]:
    """Each kernel's accesses, of all its launches."""
    return [
        {
            "kernel": kernel["kernel"],
            "accesses": [
                {"kind": kind, **{cost: costs[cost] for cost in COSTS}}
                for kind, costs in kernel.get("accesses", {}).items()
            ],
        }
        for kernel in report["kernels"]
    ]


def measured(name: str, build: pathlib.Path) -> Json:
    """Of one program; what the page tells of a case study, in full."""
    files = files_of(name)
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "report.json")
        words = [sys.executable, "-B", "-m", "tools.emulate", "--build", build, "--json", out, "--timeout", LONGEST]
        done = subprocess.run(
            [str(word) for word in [*words, *(file.relative_to(ROOT) for file in files)]],
            cwd=ROOT,
            env=dict(os.environ, PYTHONPATH=str(ROOT)),
            capture_output=True,
            text=True,
            errors="replace",
        )
        if done.returncode == 2 and (said := re.search(r"^error: (.*)\Z", done.stderr.rstrip(), re.M)):
            if not said[1].endswith((BROKEN, "does not link")) and "nothing there defines" not in said[1]:
                fail(said[1])
            return {"name": name, "status": 2, **mark_of(files), "reports": [{"says": BROKEN, "lines": []}]}
        report = json.loads(out.read_text()) if out.exists() else {"kernels": []}
    reports = reports_in(done.stderr)
    distinct = {json.dumps(short(each)): short(each) for each in reports}
    entry: Json = {"name": name, "status": done.returncode, **mark_of(files), "reports": list(distinct.values())}
    if name.startswith("cases/"):
        folder_name = f"{FOLDER.relative_to(ROOT)}/cases/"  # as if the reader stood there
        entry["text"] = [each.replace(folder_name, "") for each in reports]
        entry["output"] = done.stdout.splitlines()
        entry["kernels"] = kernels_in(report)
    return entry


def main(arguments: list[str] | None = None) -> int:
    parser = parser_of("./lab measure programs", __doc__)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "cpu")
    parser.add_argument("--only", default="")
    options = parser.parse_args(arguments)
    if not options.out.absolute().parent.is_dir():
        fail(f"can't write {options.out}: no such folder")
    every = names()
    chosen = every
    if options.only:
        words = options.only.split(",")
        for word in words:
            if word not in {*every, *GROUPS}:
                fail(f"no program '{word}' in {FOLDER.relative_to(ROOT)}")
        chosen = [name for name in every if name in words or name.split("/")[0] in words]
    before = (read_json_if_there(options.out) or {"programs": []})["programs"] if options.only else []
    entries = {entry["name"]: entry for entry in before if entry["name"] in every}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda name: measured(name, options.build.absolute()), chosen)
        for name, entry in zip(chosen, results):
            entries[name] = entry
            said = "; ".join(f"{each['says']}: {', '.join(each['lines'])}" for each in entry["reports"])
            print(f"{name:<32} {entry['status']:>3}  {said or 'silent'}", flush=True)
    programs = [entries[name] for name in every if name in entries]
    write_digest(options.out, {"programs": programs, "commit": commit_of_tree(FILE)})
    return 1 if any(report["says"] == BROKEN for entry in programs for report in entry["reports"] or []) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
