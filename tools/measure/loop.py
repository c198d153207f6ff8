"""Where the time of builds and tests goes: the slowest units and tests of a build, and wall times of whole commands.

usage: ./lab measure loop NAME [BUILD] [--wall WHAT=SECONDS]... [--processor WHAT=SECONDS]...
                          [--note TEXT]

NAME     of the state that is measured, such as "before" or "after": replaces what docs/measurements/cpu/loop.json has
         of it
BUILD    the folder of a build whose tests tools/run_tests.py has run; its .ninja_log has what compiling and linking
         took
--wall   what a whole command took, such as --wall "./lab test, fresh clone=512"; what is not named again stays
--processor
         the same for processor time, user and system, which depends less on what else the machine does

Times are wall times while all cores were busy, so they compare within one state only. ./lab pages makes
CONTRIBUTING.md's tables of the file.
"""

import os
import pathlib
import re

from tools.command_line import parser_of
from tools.repository import CPU, read_json, read_json_if_there, relative, write_digest

FILE = CPU / "loop.json"
MOST = 20


def steps(log: pathlib.Path) -> list[tuple[str, float]]:
    """What ninja ran, the last time of each, with its seconds."""
    last: dict[str, tuple[str, float]] = {}
    for line in log.read_text().splitlines():
        if line.startswith("#"):
            continue
        start, end, _, output, command = line.split("\t")
        # A command with several outputs has a line for each.
        last[command] = (output, (int(end) - int(start)) / 1000)
    return sorted(last.values(), key=lambda step: -step[1])


def kind_of(output: str) -> str:
    if output.endswith(".gch"):
        return "precompiled headers"
    if not output.endswith(".o"):
        return "archives and links"
    if "tests/" in output:
        return "tests"
    if "/stage_" in f"/{output}":
        return "stages"
    if any(f"gemm_{library}.dir" in output for library in ("backend", "harness", "jit", "tools")):
        return "harness"
    return "probes, libraries, programs"


def source_of(output: str) -> str:
    """stages/CMakeFiles/stage_sgemm_18.dir/18_summit.cu.o is stages/18_summit.cu."""
    return re.sub(r"CMakeFiles/[^/]+\.dir/", "", output).removesuffix(".o")


def main(arguments: list[str] | None = None) -> None:
    parser = parser_of("./lab measure loop", __doc__)
    parser.add_argument("name")
    parser.add_argument("build", nargs="?", type=pathlib.Path)
    parser.add_argument("--wall", action="append", default=[])
    parser.add_argument("--processor", action="append", default=[])
    parser.add_argument("--note", default="")
    options = parser.parse_args(arguments)
    report = read_json_if_there(FILE) or {}
    state = report.setdefault(options.name, {})
    if options.note:
        state["note"] = options.note
    for kind in ("wall", "processor"):
        for text in getattr(options, kind):
            what, _, seconds = text.rpartition("=")
            if not what or not seconds.replace(".", "", 1).isdigit():
                parser.error(f"--{kind} takes WHAT=SECONDS, not '{text}'")
            state.setdefault(f"{kind}_s", {})[what] = float(seconds)
    if options.build:
        state["cores"] = os.cpu_count()
        ran = steps(options.build / ".ninja_log")
        kinds: dict[str, list[float]] = {}
        for output, seconds in ran:
            kinds.setdefault(kind_of(output), []).append(seconds)
        state["build"] = {
            kind: {"steps": len(each), "seconds": round(sum(each), 1)}
            for kind, each in sorted(kinds.items(), key=lambda kind: -sum(kind[1]))
        }
        state["units"] = {source_of(output): round(seconds, 1) for output, seconds in ran[:MOST]}
        record = options.build / "tests_passed.json"
        if record.exists():
            tests = sorted(read_json(record)["seconds"].items(), key=lambda test: -test[1])
            state["tests"] = {name: seconds for name, seconds in tests[:MOST]}
            state["all_tests"] = {"tests": len(tests), "seconds": round(sum(seconds for _, seconds in tests), 1)}
    write_digest(FILE, report)
    print(f"wrote {relative(FILE)}")
