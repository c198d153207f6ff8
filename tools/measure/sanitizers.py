"""Runs every stage, the harness's own kernels and those of the tests under compute-sanitizer's four tools; writes the
error counts as JSON. Several run at a time, one for each core, at most twelve: first what FILE says took longest the
last time. Runs that FILE already has, clean, from the same build on the same kind of device are not repeated, so what
was interrupted can go on.

usage: ./lab measure sanitizers --out FILE --bin BIN [--only STAGE,STAGE] [--longest SECONDS] -- LAB [options]
       BIN: the folder of the build's programs; SECONDS: after which a run is ended, and counts as an error
Exit status 1 if any tool found anything.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import time

from tools.command_line import fail, parser_of
from tools.repository import Json, read_json

TOOLS = ["memcheck", "racecheck", "initcheck", "synccheck"]
# Every edge: nothing a multiple of the tile, padding, misaligned operands, C read.
AWKWARD = "--m 131 --n 257 --k 67 --lda 71 --ldb 260 --ldc 259 --offset 1 --alpha 1.5 --beta -0.5".split()
# Few tiles, each the work of several blocks, in the stages that do so.
DEEP = "--m 130 --n 140 --k 520".split()
IN_PARTS = {"16b", "17b", "17c", "18", "03b", "10", "11"}
AWKWARD_TALL = "--m 13 --n 37 --k 1003 --lda 17 --ldb 40 --ldc 39 --offset 1 --alpha 1.5 --beta -0.5 --type z".split()


def is_raw(run: Json) -> bool:
    """Whether this program has written it, and it is no digest."""
    return {"command", "errors", "seconds"} <= run.keys()


def added(committed: Json | None, run: Json) -> Json:
    """What is committed of all runs: of each what was run, and how many errors a tool has found in all of that. A run
    takes the place of one with the same command, and a run of all stages that of all others."""
    names = sorted(run["errors"][TOOLS[0]])
    if any(sorted(run["errors"][tool]) != names for tool in TOOLS):
        fail("the run of the sanitizers is not complete: start it again, and it goes on")
    found = {key: run[key] for key in ("device", "driver", "cuda", "commit", "command")}
    found |= {"names": names, "errors": {tool: sum(run["errors"][tool].values()) for tool in sorted(TOOLS)}}
    others = committed["runs"] if committed and "--only" in run["command"] else []
    return {"runs": [*(other for other in others if other["command"] != run["command"]), found]}


def main(arguments: list[str] | None = None) -> None:
    parser = parser_of("./lab measure sanitizers", __doc__)
    parser.add_argument("--out", required=True)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--only", help="these stages, by their ids, and nothing else")
    parser.add_argument("--longest", type=float, default=150)
    parser.add_argument("lab", nargs="+")
    options = parser.parse_args(arguments)
    lab, lab_options = options.lab[0], options.lab[1:]

    listing = subprocess.run([lab, "list", *lab_options], capture_output=True, text=True, check=True).stdout
    stages = [line.split()[0] for line in listing.splitlines() if "/" in line and "(probe)" not in line]
    run = json.loads(
        subprocess.run(
            [lab, "run", stages[0], "--check", "--json", "-", *lab_options], capture_output=True, text=True, check=True
        ).stdout
    )["run"]
    tests = () if options.only else ("test_intrinsics", "test_half", "test_tensor")
    runs = {test: [options.bin / test] for test in tests}
    if options.only:
        stages = options.only.split(",")
    # What the tiles divide, and what they don't though vectors of four floats do. A stage at a time: racecheck is slow.
    # The variants first, and of them the last stages', which have most: where no times are known yet, this is the
    # order.
    for stage in reversed(stages):
        shapes = ["96", "100x132x36"] if not stage.startswith("tsm/") else ["16x16x4096", "5x64x999", "41x57x501"]
        runs[f"{stage} and variants"] = [
            lab,
            "ladder",
            "--no-time",
            "--variants",
            "--only",
            stage,
            *shapes,
            *lab_options,
        ]
    for stage in stages:
        awkward = AWKWARD_TALL if stage.startswith("tsm/") else AWKWARD
        runs[f"{stage} awkward"] = [lab, "run", stage, "--check", *awkward, *lab_options]
        if not stage.startswith("tsm/") and re.sub(r".*/|_.*", "", stage) in IN_PARTS:
            runs[f"{stage} in parts"] = [lab, "run", stage, "--check", *DEEP, *lab_options]
    for which in range(0 if options.only else 7):
        runs[f"prototype {which}"] = [options.bin / "prototype", str(which), "128"]

    def inspect(job: tuple[str, str]) -> tuple[int, int, str, float]:
        tool, name = job
        begin = time.monotonic()
        # timeout(1) ends what the tool has started, too, which else would go on and slow down all others.
        command = [
            "timeout",
            "--kill-after=5",
            str(options.longest),
            "compute-sanitizer",
            "--tool",
            tool,
            "--target-processes",
            "all",
            *map(str, runs[name]),
        ]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace")
        text = done.stdout + done.stderr
        if done.returncode in (124, -9, 137):
            return -1, -1, text + f"\nnot finished after {options.longest:g} s", time.monotonic() - begin
        # racecheck sums up differently: "RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)".
        found = re.findall(r"ERROR SUMMARY: (\d+) error|RACECHECK SUMMARY: (\d+) hazard", text)
        errors = sum(int(a or b) for a, b in found) if found else -1
        return errors, done.returncode, text, time.monotonic() - begin

    result = {
        "device": run["device"],
        "driver": run["driver"],
        "cuda": run["cuda"],
        "commit": run["commit"],
        "command": "./lab measure sanitizers" + (f" --only {options.only}" if options.only else ""),
        "errors": {tool: {} for tool in TOOLS},
        "seconds": {tool: {} for tool in TOOLS},
    }
    out = pathlib.Path(options.out)
    if out.is_file():
        before = read_json(out)
        result["seconds"] = before.get("seconds", result["seconds"])
        if all(before[key] == result[key] for key in result if key not in ("errors", "seconds")):
            result["errors"] = before["errors"]
    bad, slowest = 0, []
    jobs = [(tool, name) for name in runs for tool in TOOLS if result["errors"][tool].get(name) != 0]
    jobs.sort(key=lambda job: -result["seconds"][job[0]].get(job[1], options.longest))
    with concurrent.futures.ThreadPoolExecutor(min(12, os.cpu_count() or 1)) as pool:
        started = {pool.submit(inspect, job): job for job in jobs}
        for done in concurrent.futures.as_completed(started):
            (tool, name), (errors, status, text, seconds) = started[done], done.result()
            slowest = sorted([*slowest, (seconds, tool, name)], reverse=True)[:5]
            if errors or status:
                bad += 1
                print(f"{tool}: {name}: {errors} errors, exit status {status}\n{text[-3000:]}", flush=True)
            result["errors"][tool][name] = errors or status
            result["seconds"][tool][name] = round(seconds, 1)
            part = out.with_name(out.name + ".part")
            part.write_text(json.dumps(result, indent=1, sort_keys=True) + "\n")
            part.replace(out)
    for seconds, tool, name in slowest:
        print(f"{seconds:6.1f} s: {tool}, {name}")
    for tool in TOOLS:
        print(f"{tool}: {len(runs)} runs, {sum(result['errors'][tool].values())} errors")
    sys.exit(1 if bad else 0)
