#!/usr/bin/env python3
"""Compiles the kernels of every stage and of prototype_kernels.cu at -O0, -O2 and -O3: what the CPU executor counts of
their accesses, line by line, must be the same each time; on a ragged problem, what the lanes ask for, not how many
requests they make of it. FMAs must be the same from -O2 on; below, g++ makes none of a * b + c (nor of anything else,
at -O0), and none are counted.

usage: count_at_levels.py BUILD      BUILD: the folder of a finished build for the CPU executor
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# In front of a compiler's command, as in the build: compiles <<<...>>>, too.
LAUNCHER = [sys.executable, "-B", str(ROOT / "common/cmake/compile_kernels.py")]
LEVELS = ["-O0", "-O2", "-O3"]
# Sizes that fit every tile, and some that fit none.
PROBLEMS = [["128", "128", "64"], ["70", "45", "67"]]
RAGGED = f"[{' '.join(PROBLEMS[1])}]"
# What g++ makes of guarded accesses in an unrolled loop decides which accesses of a warp's lanes the executor takes for
# one request (docs/concepts/cpu_executor.md#what-it-cannot-know). On ragged problems only what the lanes ask for is
# demanded to be the same.
OF_A_WARP = re.compile(r" \w+\.(requests|sectors|lines|wavefronts|conflicts|bank_conflicts)=\d+")
FMA = re.compile(r" fma(32|64)=\d+")


def compile_and_link(build, commands, source, main, level, folder):
    """The program's path. Compiles as the build did, but for the level; what the build has at this level is taken from
    it."""
    words = shlex.split(commands[str(source)])
    objects = build / words[words.index("-o") + 1] if level in words else None
    for option in ("-o", "-c"):  # each with the word behind it
        at = words.index(option)
        del words[at : at + 2]
    words = [word for word in words if not re.fullmatch(r"-O.*", word)]
    program = pathlib.Path(folder, source.stem + level)
    if not objects:
        objects = f"{program}.o"
        run(build, [*LAUNCHER, *words] + [level, "-w", "-o", objects, "-c", str(source)])
    link = shlex.split(re.sub(r" -x ?c\+\+| -fsanitize\S*", "", shlex.join(words)))
    as_in_the_build = [
        "-Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset,--wrap=memcmp,--wrap=__cxa_throw,--wrap=__cxa_allocate_exception",
        f"-Wl,--dynamic-list={ROOT}/common/simt/exports.txt",
    ]
    run(
        build,
        link
        + as_in_the_build
        + [
            "-o",
            str(program),
            str(objects),
            str(main),
            *(str(build / f"common/lib{name}.a") for name in ("gemm_jit", "gemm_machine_code", "gemm_harness")),
            "-lfmt",
            "-ldl",
            "-lpthread",
        ],
    )
    return program


def run(folder, command):
    done = subprocess.run(command, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
    if done.returncode:
        raise RuntimeError(shlex.join(map(str, command)) + "\n" + done.stdout)
    return done.stdout


def without_fmas(lines):
    """Nor the lines of which nothing is left."""
    stripped = [FMA.sub("", line) for line in lines]
    return [line for line in stripped if "=" in line]


def lanes_only(lines):
    return [OF_A_WARP.sub("", line) if line.startswith(RAGGED) else line for line in lines]


def differences(counts):
    """counts: by level, lines of text. What differs from -O3, as lines to print."""
    found = []
    for level in LEVELS[:-1]:
        fmas_too = level == "-O2"
        here, there = (lanes_only(counts[each] if fmas_too else without_fmas(counts[each])) for each in (level, "-O3"))
        found += [f"  {level}: {line}" for line in here if line not in there]
        found += [f"  -O3, not {level}: {line}" for line in there if line not in here]
    return found


def compare(build, commands, source, main, runs):
    counts = {level: [] for level in LEVELS}
    with tempfile.TemporaryDirectory() as folder:
        for level in LEVELS:
            program = compile_and_link(build, commands, source, main, level, folder)
            for arguments in runs:
                output = run(build, [str(program), *arguments])
                # A stage that skips has nothing to count.
                counts[level] += [
                    f"[{' '.join(arguments)}] {line}" for line in output.splitlines() if line.startswith("counts ")
                ]
    name = source.relative_to(ROOT)
    found = differences(counts)
    fmas = {
        level: sum(int(n) for line in counts[level] if " total " in line for n in re.findall(r" fma\d+=(\d+)", line))
        for level in LEVELS
    }
    verdict = "DIFFERS" if found else "same counts" if counts["-O3"] else "nothing to count"
    return not found, "\n".join(
        [f"{name}: {verdict}; FMAs " + ", ".join(f"{n} at {level}" for level, n in fmas.items())] + found
    )


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build = pathlib.Path(sys.argv[1]).resolve()
    entries = json.loads((build / "compile_commands.json").read_text())
    commands = {os.path.realpath(entry["file"]): entry["command"] for entry in entries}
    prototypes = ROOT / "tests/executor/prototype_kernels.cu"
    main_of_prototypes = build / "tests/CMakeFiles/prototype.dir/executor/prototype_main.cpp.o"
    main_of_stages = build / "tests/CMakeFiles/print_counts.dir/executor/print_counts.cpp.o"
    jobs = [(prototypes, main_of_prototypes, [[str(which), "128"] for which in range(7)])]
    for folder in ("stages", "tsm", "tensorcore"):
        # Left out: stages that launch kernels of others, with which they would have to be linked; and probes.
        jobs += [
            (file, main_of_stages, PROBLEMS)
            for file in sorted((ROOT / folder).glob("[0-9][0-9]*.cu"))
            if not any(word in file.read_text() for word in ("tsm/choice.hpp", "gemm::ProbeRegistration"))
        ]
    part, parts = map(int, os.environ.get("GEMM_SHARE", "1/1").split("/"))  # of the stages (.ci/run)
    jobs = jobs[part - 1 :: parts]
    good = True
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for fine, text in pool.map(lambda job: compare(build, commands, *job), jobs):
            print(text, flush=True)
            good &= fine
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
