#!/usr/bin/env python3
"""Random command lines, right ones and wrong ones: each ends soon, with 0, 1 or 2, a wrong one with one line that says
what is wrong, and no file is half-written.

usage: test_random_lines.py BIN [--count N] [--seed S]

BIN     the programs of a build for the CPU executor. With GEMM_SHARE=P/N in the environment every N-th line is run,
        from the P-th on.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import re
import shlex
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIMIT = 20  # seconds

STAGES = [
    "01",
    "02_coalesced",
    "04",
    "sgemm/07",
    "07_register_tile",
    "tsm/01",
    "tsm/04",
    "tensorcore/01",
    "05:pad=1",
    "naive",
]
NO_STAGES = ["", "77", "tile", "sgemm/", "tsm/99", "../01", "a" * 300, "01 ", "0", "-", "ünï", "07:nope", "01/02", "%s"]
NUMBERS = ["0", "1", "7", "33", "64", "100"]
NO_NUMBERS = ["-1", "2147483647", "2147483648", "1e9", "x", "", "0x10", "1.5", "99999999999999999999", "nan"]
FILES = ["out.json", "-", "new.json"]
NO_FILES = ["no/such/out.json", "/dev/full", "b" * 300, ".", ""]
SHAPES = ["64", "33x65x17", "1x1x1", "0x5x5"]
NO_SHAPES = ["64x64", "axb", "-5", "1x2x3x4", "99999999999", "2147483647"]


class Lines:
    """Draws command lines: half of them wrong on purpose, in one place or more."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)

    def one(self, right: list[str], wrong: list[str]) -> str:
        return self.random.choice(right if self.random.random() < 0.8 else wrong)

    def stage(self) -> str:
        return self.one(STAGES, NO_STAGES)

    def some(self, options: list[list[str]]) -> list[str]:
        """None, one or a few of them."""
        chosen = self.random.sample(options, min(self.random.choice([0, 0, 1, 1, 2, 3]), len(options)))
        return [word for option in chosen for word in option]

    def sizes(self) -> list[str]:
        """Always: a default size takes seconds, of which there would be hundreds."""
        return [word for name in ("--m", "--n", "--k") for word in (name, self.one(NUMBERS, NO_NUMBERS))]

    def file(self) -> list[str]:
        return ["--json", self.one(FILES, NO_FILES)]

    def line(self) -> list[str]:
        number = lambda: self.one(NUMBERS, NO_NUMBERS)  # noqa: E731
        run = [
            self.file(),
            ["--alpha", self.one(["0", "-2", "0.25"], ["x", ""])],
            ["--beta", self.one(["0", "1"], ["y"])],
            ["--lda", number()],
            ["--ldb", number()],
            ["--ldc", number()],
            ["--offset", number()],
            ["--count"],
            ["--lines"],
            ["--check"],
            ["--time"],
            ["--dist", self.one(["integers", "wide", "tiny"], ["odd", ""])],
            ["--seed", number()],
            ["--type", self.one(["s"], ["d", "z", "h", "q"])],
            ["--batch", number()],
            ["--conj"],
            ["--nope"],
            ["extra"],
            ["--timeout", self.one(["30"], ["-1", "x"])],
        ]
        commands = {
            "run": lambda: [self.stage(), *self.sizes(), *self.some(run)],
            "ladder": lambda: [
                self.one(SHAPES, NO_SHAPES),
                "--only",
                self.stage(),
                *self.some([self.file(), ["--nope"]]),
            ],
            "check": lambda: [
                self.one(["01", "04"], NO_STAGES),
                "--quick",
                *self.some([self.file(), ["--junit", self.one(["a.xml"], NO_FILES)], ["--nope"]]),
            ],
            "compare": lambda: [self.stage(), self.stage(), *self.sizes(), *self.some([self.file(), ["--nope"]])],
            "diff": lambda: [
                self.stage(),
                *self.some([[self.stage()], ["--html", self.one(["d.html"], NO_FILES)], ["--nope"]]),
            ],
            "show": lambda: [self.stage(), *self.some([["--flat"], ["--nope"], [self.stage()]])],
            "list": lambda: self.some([["--variants"], self.file(), ["--nope"], ["extra"]]),
            "probe": lambda: self.some([["nope"], ["--nope"]]),
            "map": lambda: [self.stage(), *self.some([self.file(), ["--nope"], [self.stage()]])],
            "compile": lambda: [self.stage(), self.one(["4"], NO_SHAPES), "--nope"],
            "candidates": lambda: [
                self.one(["tsm/09", "tsm/12"], NO_STAGES),
                self.one(["4", "8"], NO_SHAPES),
                *self.some([["--most", number()], ["--nope"]]),
            ],
            "choice": lambda: [self.one(["4", "8x8"], NO_SHAPES), *self.some([["--nope"]])],
            "batch": lambda: self.some([["nope.json"], ["."], ["--out", self.one(["o.json"], NO_FILES)]]),
            "experiment": lambda: self.some([["nope"], ["--nope"]]),
            "accuracy": lambda: ["--nope"],
            "bench": lambda: self.some([["--benchmark_list_tests"], ["--filter", "["], ["--shapes", "x"], ["--nope"]]),
            "measure": lambda: self.some([["nope"], ["--help"], ["counts", "--nope"]]),
            "mutate": lambda: [
                self.one(["01"], NO_STAGES),
                "--list",
                *self.some([["--per-stage", number()], ["--nope"]]),
            ],
            "completion": lambda: [self.one(["bash", "zsh"], ["fish", ""])],
            "help": lambda: self.some([["all"], ["nope"]]),
            "pages": lambda: ["--nope"],
        }
        word = self.random.choice(list(commands))
        words = [word, *commands[word]()]
        if self.random.random() < 0.05:
            words[0] = self.random.choice(["", "rn", "ladde", "x" * 300, "--help", "-h", "--prebuilt", "run\n01"])
        if self.random.random() < 0.1:
            words.insert(self.random.randrange(1, len(words) + 1), "--help")
        return words


def wrong_with(words: list[str], programs: pathlib.Path) -> str:
    """What is wrong with what happens; empty if nothing is."""
    lab = [ROOT / "lab", *words, "--cpu"]
    if words[0] not in ("diff", "pages", "measure", "mutate"):  # which build nothing, or not only this
        lab += ["--prebuilt", programs]
    else:
        lab.pop()
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            lab,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            out, said = (text.decode(errors="replace") for text in process.communicate(timeout=LIMIT))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return f"takes more than {LIMIT} s"
        lines = [line for line in said.splitlines() if not line.startswith("lab: ")]
        status = process.returncode
        if status not in (0, 1, 2):
            return f"ends with {status}: {said[-300:]}"
        if "Traceback" in said + out or "terminate called" in said or re.search(r"^\S*lab: line \d+", said, re.M):
            return f"shows its inside: {said[-300:]}"
        if status == 2 and (len(lines) != 1 or not lines[0].startswith("error: ")):
            return f"ends with 2 and these lines: {said[-400:]!r}"
        if status == 0 and len(lines) > 1:  # one may sum up
            return f"ends with 0 and says {said[-300:]!r}"
        for file in pathlib.Path(folder).iterdir():
            if status == 2:
                return f"fails, and leaves {file.name}"
            if file.suffix == ".json":
                try:
                    json.loads(file.read_text())
                except ValueError:
                    return f"leaves half of {file.name}"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    part, parts = map(int, os.environ.get("GEMM_SHARE", "1/1").split("/"))
    lines = Lines(arguments.seed)
    drawn = [lines.line() for _ in range(arguments.count)][part - 1 :: parts]
    programs = arguments.bin.resolve()
    problems = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for words, wrong in zip(drawn, pool.map(lambda words: wrong_with(words, programs), drawn), strict=True):
            if wrong:
                problems += 1
                print(f"./lab {shlex.join(words)[:200]}\n    {wrong}")
    print(f"{len(drawn)} command lines, {problems} problems")
    return 1 if problems or not drawn else 0


if __name__ == "__main__":
    sys.exit(main())
