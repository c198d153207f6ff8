#!/usr/bin/env python3
"""Runs every stage, the harness's own kernels and those of the tests under compute-sanitizer's four tools; writes the error
counts as JSON. Several run at a time, one for each core, at most twelve.

usage: sanitizers.py --out FILE --bin BIN [--only STAGE,STAGE] -- LAB [options]     BIN: the folder of the build's programs
Exit status 1 if any tool found anything.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

TOOLS = ["memcheck", "racecheck", "initcheck", "synccheck"]
# Every edge: nothing a multiple of the tile, padding, misaligned operands, C read.
AWKWARD = "--m 131 --n 257 --k 67 --lda 71 --ldb 260 --ldc 259 --offset 1 --alpha 1.5 --beta -0.5".split()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--only", help="these stages, by their ids, and nothing else")
    parser.add_argument("lab", nargs="+")
    options = parser.parse_args()
    lab, lab_options = options.lab[0], options.lab[1:]

    listing = subprocess.run([lab, "list", *lab_options], capture_output=True, text=True, check=True).stdout
    stages = [line.split()[0] for line in listing.splitlines() if "/" in line]
    run = json.loads(subprocess.run([lab, "run", stages[0], "--check", "--json", "-", *lab_options],
                                    capture_output=True, text=True, check=True).stdout)["run"]
    tests = () if options.only else ("test_intrinsics", "test_half", "test_tensor")  # the longest first
    runs = {test: [options.bin / test] for test in tests}
    if options.only:
        stages = options.only.split(",")
    # What the tiles divide, and what they don't though vectors of four floats do. A stage at a time: racecheck is slow.
    for stage in stages:
        runs[f"{stage} and variants"] = [lab, "ladder", "--no-time", "--variants", "--only", stage, "96", "100x132x36", *lab_options]
    runs |= {f"{stage} awkward": [lab, "run", stage, "--check", *AWKWARD, *lab_options] for stage in stages}
    for which in range(0 if options.only else 7):
        runs[f"prototype {which}"] = [options.bin / "prototype", str(which), "128"]

    def inspect(job):
        tool, name = job
        command = ["compute-sanitizer", "--tool", tool, "--target-processes", "all", *map(str, runs[name])]
        done = subprocess.run(command, capture_output=True, text=True)
        text = done.stdout + done.stderr
        # racecheck sums up differently: "RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)".
        found = re.findall(r"ERROR SUMMARY: (\d+) error|RACECHECK SUMMARY: (\d+) hazard", text)
        errors = sum(int(a or b) for a, b in found) if found else -1
        return errors, done.returncode, text

    result = {"device": run["device"], "driver": run["driver"], "cuda": run["cuda"], "commit": run["commit"],
              "command": "sanitizers.py", "errors": {tool: {} for tool in TOOLS}}
    bad = 0
    jobs = [(tool, name) for name in runs for tool in TOOLS]
    with concurrent.futures.ThreadPoolExecutor(min(12, os.cpu_count() or 1)) as pool:
        for (tool, name), (errors, status, text) in zip(jobs, pool.map(inspect, jobs)):
            if errors or status:
                bad += 1
                print(f"{tool}: {name}: {errors} errors, exit status {status}\n{text[-3000:]}", flush=True)
            result["errors"][tool][name] = errors
    for tool in TOOLS:
        print(f"{tool}: {len(runs)} runs, {sum(result['errors'][tool].values())} errors")
    with open(options.out, "w") as file:
        json.dump(result, file, indent=1)
        file.write("\n")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
