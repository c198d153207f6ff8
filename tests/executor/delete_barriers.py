#!/usr/bin/env python3
"""Deletes each __syncthreads() of each stage, and of its parts in headers, one at a time: the check must reject what is
left, and for the right reason: a data race, or a read of shared memory that nobody has written, at lines of that stage.
A wrong result alone would be luck. A barrier whose loss nobody notices is either superfluous or guards something that
no test covers.

A stage is compiled once: each barrier becomes a question whether it is the one that the environment names.

usage: delete_barriers.py BUILD
       BUILD: the folder of a finished build for the CPU executor, which checks every access
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
# The cheap ones first. Several tiles along k, with ragged edges; one tile in many parts; a problem that fits the tiles,
# for the barriers of paths without edges; one whose tiles are shared so that a block has parts of two. And what stage
# 18 chooses for four SMs: a second kernel for the sums, slices, a misaligned C of large tiles, words with parts of two
# tiles, packing.
PROBLEMS = [
    ["--m", m, "--n", n, "--k", k]
    for m, n, k in map(
        str.split,
        (
            "43 20 309",
            "20 354 33",
            "22 411 36",
            "70 70 100",
            "30 30 600",
            "557 67 25",
            "20 235 323",
            "134 391 139",
            "529 68 226",
            "256 256 128",
            "130 387 233",
        ),
    )
]
BARRIER = re.compile(r"__syncthreads\s*\(\s*\)")
DECLARATION = "bool is_deleted(int barrier);\n"
# On its own and not instrumented: a kernel must not read the host's memory.
DEFINITION = """#include <cstdlib>
static const int deleted = std::atoi(std::getenv("DELETED_BARRIER"));
bool is_deleted(int barrier) { return barrier == deleted; }
"""
# In front of a compiler's command, as in the build: compiles <<<...>>>, too.
LAUNCHER = [sys.executable, "-B", str(ROOT / "common/cmake/compile_kernels.py")]
# Copies that g++ leaves to the library are accesses, too, and kernels compiled at run time call the executor
# (CMakeLists.txt says the same).
LINK_FLAGS = [
    "-Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset,--wrap=memcmp,--wrap=__cxa_throw,--wrap=__cxa_allocate_exception",
    f"-Wl,--dynamic-list={ROOT}/common/simt/exports.txt",
]
# What the program says of a barrier that is missing (common/simt/observe/findings.cpp), and the places it names.
REASON = re.compile(r"(data race in shared memory|uninitialised shared memory|data race in global memory) in [^\n]*")
PLACE = re.compile(r" at (\S+):(\d+)")
# Headers that are parts of stages: their barriers are the stage's. And of what stages are made with, whose accesses may
# meet the stage's.
PART = re.compile(r'^#include "((?:tensorcore/presplit|tensorcore/pipeline|stages/summit)/[^"]+)"', re.M)
LIBRARIES = ("tensorcore/wmma_ext/", "tensorcore/copy_tile.cuh", "tensorcore/store_tile.cuh", "common/kernel/")


class Builder:
    """Compiles a stage as the build did, and links it with the build's harness."""

    def __init__(self, build):
        self.build = build.resolve()
        entries = json.loads((self.build / "compile_commands.json").read_text())
        self.commands = {os.path.realpath(entry["file"]): entry["command"] for entry in entries}
        self.libraries = [self.build / f"common/lib{name}.a" for name in ("gemm_jit", "gemm_harness")]
        self.main = self.build / "common/commands/CMakeFiles/main_stage.dir/main_stage.cpp.o"

    def program(self, original, source, output):
        words = shlex.split(self.commands[str(original)])
        for option in ("-o", "-c"):  # each with the word behind it
            at = words.index(option)
            del words[at : at + 2]
        words.insert(1, f"-I{source.parent.parent}")  # its parts, as they are there
        header, which = source.parent / "is_deleted.hpp", source.parent / "is_deleted.cpp"
        header.write_text(DECLARATION)
        which.write_text(DEFINITION)
        # -O1 compiles in half the time, and finds the same.
        self.run([*LAUNCHER, *words] + ["-O1", "-w", "-include", str(header), "-o", f"{output}.o", "-c", str(source)])
        # None of the flags again: to link with -fsanitize would bring in the sanitizers' own libraries, and objects are
        # no C++.
        self.run(
            [
                words[0],
                *LINK_FLAGS,
                "-o",
                str(output),
                f"{output}.o",
                str(which),
                str(self.main),
                *map(str, self.libraries),
                "-lfmt",
                "-ldl",
                "-lpthread",
            ]
        )

    def run(self, command):
        done = subprocess.run(command, cwd=self.build, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            raise RuntimeError(shlex.join(command) + "\n" + done.stdout)


def barriers(text):
    # Comments, blanked out so that offsets stay, may mention a barrier.
    code = re.sub(r"//[^\n]*|/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)
    return [match.span() for match in BARRIER.finditer(code)]


def parts_of(file):
    """Its headers that count as its own, each once, those that include others last."""
    found = []
    for name in PART.findall(file.read_text()):
        for part in (*parts_of(ROOT / name), ROOT / name):
            if part not in found:
                found.append(part)
    return found


def explanation(output, files):
    """What the program says of a missing barrier, shortened to the lines that it names. None if it says nothing of the
    kind, names no line of this stage's, or one of a file that is neither the stage's nor of what it is made with."""
    reason = REASON.search(output)
    if not reason:
        return None
    places = [(pathlib.Path(file), line) for file, line in PLACE.findall(reason.group())]
    names = {file.name for file in files}
    own = [file.name in names for file, _ in places]
    foreign = [str(file) for mine, (file, _) in zip(own, places) if not mine]
    if not any(own) or any(all(library not in file for library in LIBRARIES) for file in foreign):
        return None
    return (
        f"{reason.group(1)}, lines "
        f"{' and '.join(line if file.name == files[-1].name else f'{file.name}:{line}' for file, line in places)}"
    )


def verdicts(builder, file):
    """For the stage as it is, and without each of its barriers: whether this is as it should be, and a line to
    print."""
    files = [*parts_of(file), file]
    found = [(each, span) for each in files for span in barriers(each.read_text())]
    if not found:
        return []
    with tempfile.TemporaryDirectory() as folder:
        # A stage's id comes from its path: DIRECTORY/NN_name.cu.
        source = pathlib.Path(folder, file.parent.name, file.name)
        for each in files:
            copy = pathlib.Path(folder, each.relative_to(ROOT)) if each != file else source
            copy.parent.mkdir(parents=True, exist_ok=True)
            questions = each.read_text()
            for i, (of, (begin, end)) in reversed(list(enumerate(found))):  # from the end, so that offsets stay
                if of == each:
                    questions = (
                        f"{questions[:begin]}(is_deleted({i}) ? (void)0 : {questions[begin:end]}){questions[end:]}"
                    )
            copy.write_text(questions)
        program = pathlib.Path(folder, "program")
        builder.program(file, source, program)
        return [verdict(program, files, deleted, found) for deleted in range(-1, len(found))]


def verdict(program, files, deleted, found):
    """Of one of them. deleted: which barrier, -1 for none."""
    where = str(files[-1].relative_to(ROOT))
    complaint = None
    runs = list(PROBLEMS)
    if deleted >= 0:  # a barrier that the stage doesn't pass may be a variant's
        listed = subprocess.run(
            [str(program), "--variants"], text=True, stdout=subprocess.PIPE, env={**os.environ, "DELETED_BARRIER": "-1"}
        )
        runs += [
            ["--variant", line.split()[0], *problem] for line in listed.stdout.splitlines() for problem in PROBLEMS
        ]
    for arguments in runs:
        done = subprocess.run(
            [str(program), "--check", *arguments],
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=300,
            env={**os.environ, "DELETED_BARRIER": str(deleted)},
        )
        if done.returncode not in (0, 1):
            return False, f"{where}: exit status {done.returncode}: {done.stdout.strip()}"
        if done.returncode == 1:
            complaint = done.stdout.strip()
            break
    if deleted < 0:
        return not complaint, f"{where}: {'FAILS AS IT IS: ' + complaint if complaint else 'passes as it is'}"
    file, (begin, _) = found[deleted]
    where += f"{'' if file == files[-1] else f', {file.name}'}:{file.read_text().count(chr(10), 0, begin) + 1}"
    if not complaint:
        return False, f"{where}: NOT NOTICED"
    reason = explanation(complaint, files)
    if not reason:
        return False, f"{where}: REJECTED FOR ANOTHER REASON: {complaint}"
    return True, f"{where}: rejected: {reason}"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    builder = Builder(pathlib.Path(sys.argv[1]))
    # Probes are programs of their own. Kernels that are compiled at run time are tested in tests/common/test_jit.cpp.
    left_out = re.compile(r"gemm::ProbeRegistration|^#ifndef __CUDACC_RTC__", re.M)
    files = sorted(
        file
        for folder in ("stages", "tsm", "tensorcore")
        for file in (ROOT / folder).glob("[0-9][0-9]*.cu")
        if not left_out.search(file.read_text())
    )
    part, parts = map(int, os.environ.get("GEMM_SHARE", "1/1").split("/"))  # of the stages (.ci/run)
    files = files[part - 1 :: parts]
    good, count = True, 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(lambda file: verdicts(builder, file), files):
            for fine, line in found:
                print(line, flush=True)
                good &= fine
            count += max(len(found) - 1, 0)
    print(f"{count} barriers deleted, one at a time")
    return 0 if good and count else 1


if __name__ == "__main__":
    sys.exit(main())
