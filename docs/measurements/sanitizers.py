#!/usr/bin/env python3
"""Runs every stage, the harness's own kernels and those of the tests under compute-sanitizer's four tools; writes the error
counts as JSON.

usage: sanitizers.py --out FILE --bin BIN -- LAB [options]     BIN: the folder of the build's programs
Exit status 1 if any tool found anything.
"""
import argparse
import json
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
    parser.add_argument("lab", nargs="+")
    options = parser.parse_args()
    lab, lab_options = options.lab[0], options.lab[1:]

    listing = subprocess.run([lab, "list", *lab_options], capture_output=True, text=True, check=True).stdout
    stages = [line.split()[0] for line in listing.splitlines() if "/" in line]
    run = json.loads(subprocess.run([lab, "run", stages[0], "--check", "--json", "-", *lab_options],
                                    capture_output=True, text=True, check=True).stdout)["run"]
    runs = {f"{stage} awkward": [lab, "run", stage, "--check", *AWKWARD, *lab_options] for stage in stages}
    runs["all stages, 96^3"] = [lab, "ladder", "--no-time", "--only", ",".join(stages), "96", *lab_options]
    for test in ("test_intrinsics", "test_half", "test_tensor"):
        runs[test] = [options.bin / test]
    for which in range(7):
        runs[f"prototype {which}"] = [options.bin / "prototype", str(which), "128"]

    result = {"device": run["device"], "driver": run["driver"], "cuda": run["cuda"], "commit": run["commit"],
              "command": "sanitizers.py", "errors": {}}
    bad = 0
    for tool in TOOLS:
        result["errors"][tool] = {}
        for name, command in runs.items():
            done = subprocess.run(["compute-sanitizer", "--tool", tool, "--target-processes", "all", *map(str, command)],
                                  capture_output=True, text=True)
            text = done.stdout + done.stderr
            # racecheck sums up differently: "RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)".
            found = re.findall(r"ERROR SUMMARY: (\d+) error|RACECHECK SUMMARY: (\d+) hazard", text)
            errors = sum(int(a or b) for a, b in found) if found else -1
            if errors or done.returncode:
                bad += 1
                print(f"{tool}: {name}: {errors} errors, exit status {done.returncode}\n{text[-3000:]}")
            result["errors"][tool][name] = errors
        print(f"{tool}: {result['errors'][tool]}", flush=True)
    with open(options.out, "w") as file:
        json.dump(result, file, indent=1)
        file.write("\n")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
