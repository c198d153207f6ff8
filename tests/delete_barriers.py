#!/usr/bin/env python3
"""Deletes each __syncthreads() of each stage, one at a time: the check must reject what is left. A barrier whose loss nobody
notices is either superfluous or guards something that no test covers.

usage: delete_barriers.py BUILD      BUILD: the folder of a finished build for the CPU executor, which runs the threads of a
                                     block one after the other up to the next barrier: what a thread leaves out, the next one misses
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

ROOT = pathlib.Path(__file__).resolve().parents[1]
# Several tiles along k, ragged edges; and a problem that fits the tiles, for the barriers of paths without edges.
PROBLEMS = [["--m", "70", "--n", "70", "--k", "100"], ["--m", "256", "--n", "256", "--k", "128"]]
BARRIER = re.compile(r"__syncthreads\s*\(\s*\)")


class Builder:
    """Compiles a stage as the build did, and links it with the build's harness."""

    def __init__(self, build):
        self.build = build.resolve()
        entries = json.loads((self.build / "compile_commands.json").read_text())
        self.commands = {os.path.realpath(entry["file"]): entry["command"] for entry in entries}
        self.harness = self.build / "libgemm_harness.a"
        self.main = self.build / "CMakeFiles/stage_main.dir/common/main_stage.cpp.o"

    def program(self, original, source, output):
        words = shlex.split(self.commands[str(original)])
        for option in ("-o", "-c"):  # each with the word behind it
            at = words.index(option)
            del words[at:at + 2]
        self.run(words + ["-w", "-o", f"{output}.o", "-c", str(source)])
        # The same flags again, for there may be sanitizers among them; but objects are no C++.
        link = shlex.split(re.sub(r" -x ?c\+\+", "", shlex.join(words)))
        self.run(link + ["-o", str(output), f"{output}.o", str(self.main), str(self.harness), "-ldl", "-lpthread"])

    def run(self, command):
        done = subprocess.run(command, cwd=self.build, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            raise RuntimeError(shlex.join(command) + "\n" + done.stdout)


def barriers(text):
    # Comments, blanked out so that offsets stay, may mention a barrier.
    code = re.sub(r"//[^\n]*|/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)
    return [match.span() for match in BARRIER.finditer(code)]


def verdict(builder, file, span):
    """Returns whether this is as it should be, and a line to print. span: what to delete, None for nothing."""
    text = file.read_text()
    where = str(file.relative_to(ROOT))
    with tempfile.TemporaryDirectory() as folder:
        # A stage's id comes from its path: DIRECTORY/NN_name.cu.
        source = pathlib.Path(folder, file.parent.name, file.name)
        source.parent.mkdir()
        source.write_text(text if span is None else text[:span[0]] + "(void)0" + text[span[1]:])
        program = pathlib.Path(folder, "program")
        builder.program(file, source, program)
        statuses = []
        for problem in PROBLEMS:
            done = subprocess.run([str(program), "--check", *problem], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
            statuses.append(done.returncode)
            if done.returncode not in (0, 1):
                return False, f"{where}: exit status {done.returncode}: {done.stdout.strip()}"
    if span is None:
        return max(statuses) == 0, f"{where}: {'passes as it is' if max(statuses) == 0 else 'FAILS AS IT IS'}"
    where += f":{text.count(chr(10), 0, span[0]) + 1}"
    return max(statuses) == 1, f"{where}: {'rejected' if max(statuses) == 1 else 'NOT NOTICED'}"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    builder = Builder(pathlib.Path(sys.argv[1]))
    jobs = []
    for file in sorted(file for folder in ("stages", "tsm", "tensorcore") for file in (ROOT / folder).glob("[0-9][0-9]*.cu")):
        spans = barriers(file.read_text())
        jobs += [(file, span) for span in ([None] + spans if spans else [])]
    good = True
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for fine, line in pool.map(lambda job: verdict(builder, *job), jobs):
            print(line, flush=True)
            good &= fine
    count = sum(span is not None for _, span in jobs)
    print(f"{count} barriers deleted, one at a time")
    return 0 if good and count else 1


if __name__ == "__main__":
    sys.exit(main())
