#!/usr/bin/env python3
"""Right stages pass `check`, whatever compiles them: each g++ that there is, at each level of optimisation.

usage: tests/stages/no_false_alarms.py [STAGE...] [options]

STAGE           only these: 07, tsm/03, as ./lab list shows them (all that compute a product)
--full          all of `check`, not only what --quick tries
--compilers C   of these (g++-12,g++-13,g++); what is not installed is left out, and one version is tried once
--levels L      at these (0,1,2,3)
--build DIR     where the builds go, one for each compiler; they are kept (build/no_false_alarms)
--jobs J        how many compile at a time (one for each processor)
--timeout S     how long a launch may take until it counts as endless (300: -O0 is slow)
--json FILE     the results as one JSON object, anew after each build

Run by hand: it takes long. It needs what the build needs, and no ./lab. Stages have the level, and so have the kernels
that are compiled at run time (GEMM_KERNEL_LEVEL); the rest is as ever. Exit status: 1 if a stage does not pass or does
not compile, 2 for bad usage, or if nothing could be built.
"""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT))

from tools.command_line import fail, parser_of
from tools.command_line import run as run_main
from tools.mutate.mutants import gemm_stages, program_of
from tools.repository import Json


def version_of(compiler: str) -> str:
    return subprocess.run([compiler, "-dumpfullversion"], capture_output=True, text=True, check=True).stdout.strip()


def compilers(names: list[str]) -> dict[str, str]:
    """Path by version."""
    found: dict[str, str] = {}
    for name in names:
        if path := shutil.which(name):
            found.setdefault(version_of(path), path)
    return found


def stages_named(names: list[str]) -> list[str]:
    every = gemm_stages()
    if not names:
        return every
    chosen = []
    for name in names:
        family, _, rest = name.rpartition("/")
        begin = f"{family or 'sgemm'}/{rest}"
        matching = [stage for stage in every if stage == begin or stage.startswith(f"{begin}_")]
        if len(matching) != 1:
            fail(f"no stage '{name}'")
        chosen += matching
    return chosen


def log_of(folder: pathlib.Path, level: str) -> pathlib.Path:
    return folder / f"build-O{level}.log"


def build(folder: pathlib.Path, compiler: str, level: str, programs: list[str], jobs: int) -> None:
    """As far as it goes: what is missing afterwards did not compile. Its log is build-OLEVEL.log."""
    folder.mkdir(parents=True, exist_ok=True)
    for program in programs:  # of an earlier build
        (folder / "bin" / program).unlink(missing_ok=True)
    configure = ["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={compiler}"]
    configure += ["-DGEMM_ON_GPU=OFF", "-DCMAKE_BUILD_TYPE=Release", f"-DGEMM_KERNEL_LEVEL=-O{level}"]
    make = ["cmake", "--build", folder, "--target", *programs, "--", "-k", "0", f"-j{jobs}"]
    with log_of(folder, level).open("w") as log:
        if subprocess.run(configure, stdout=log, stderr=subprocess.STDOUT).returncode:
            fail(f"configuring failed: {log_of(folder, level)}")
        subprocess.run(make, stdout=log, stderr=subprocess.STDOUT)


def check(folder: pathlib.Path, programs: list[str], options: list[str]) -> list[Json]:
    """What is wrong with the stages of these programs, which are built."""
    result = folder / "check.json"
    result.unlink(missing_ok=True)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "GEMM_KERNEL_CACHE": str(folder / "kernel_cache")}
    command = [sys.executable, "-B", "-m", "tools.check", *options, "--json", result]
    done = subprocess.run(
        [*command, *(folder / "bin" / program for program in programs)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )
    if not result.exists():
        fail(f"nothing was checked: {done.stderr.strip()[-200:]}")
    return [
        {"stage": stage["stage"], "property": each["name"], **each["failure"]}
        for stage in json.loads(result.read_text())["stages"]
        for each in stage["properties"]
        if each["status"] == "fail"
    ]


def try_one(folder: pathlib.Path, version: str, compiler: str, level: str, stages: list[str], arguments) -> Json:
    begin = time.monotonic()
    programs = [program_of(stage) for stage in stages]
    build(folder, compiler, level, programs, arguments.jobs)
    built = [program for program in programs if (folder / "bin" / program).exists()]
    middle = time.monotonic()
    alarms = [
        {"stage": stage, "property": "compiles", "reason": f"see {log_of(folder, level).name}"}
        for stage in stages
        if program_of(stage) not in built
    ]
    options = [*([] if arguments.full else ["--quick"]), "--timeout", str(arguments.timeout)]
    if built:
        alarms += check(folder, built, options)
    return {
        "compiler": f"g++ {version}",
        "level": f"-O{level}",
        "stages": len(stages),
        "right": len(stages) - len({alarm["stage"] for alarm in alarms}),
        "alarms": alarms,
        "build_seconds": round(middle - begin),
        "check_seconds": round(time.monotonic() - middle),
    }


def main() -> int:
    parser = parser_of("tests/stages/no_false_alarms.py", __doc__)
    parser.add_argument("stages", nargs="*")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--compilers", default="g++-12,g++-13,g++")
    parser.add_argument("--levels", default="0,1,2,3")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/no_false_alarms")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--timeout", type=int, default=300)
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    stages = stages_named(arguments.stages)
    levels = arguments.levels.split(",")
    if not set(levels) <= set("0123"):
        fail(f"--levels takes some of 0,1,2,3, not '{arguments.levels}'")
    found = compilers(arguments.compilers.split(","))
    if not found:
        fail(f"none of {arguments.compilers} is installed")
    runs = []
    for version, compiler in found.items():
        for level in levels:
            folder = arguments.build.resolve() / f"g++-{version}"
            one = try_one(folder, version, compiler, level, stages, arguments)
            runs.append(one)
            print(
                f"{one['compiler']} {one['level']}: {one['right']} of {one['stages']} stages pass; "
                f"{one['build_seconds']} s to build, {one['check_seconds']} s to check",
                flush=True,
            )
            for alarm in one["alarms"]:
                print(f"    {alarm['stage']}: {alarm['property']}: {alarm['reason']}", flush=True)
            if arguments.json:
                report = {"check": "full" if arguments.full else "quick", "runs": runs}
                arguments.json.write_text(json.dumps(report, indent=1) + "\n")
    return 1 if any(run["alarms"] for run in runs) else 0


if __name__ == "__main__":
    run_main(main)
