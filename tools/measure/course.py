"""A class of submissions, graded without a GPU, interrupted twice and resumed: how long it takes, and how much memory.

usage: ./lab measure class [--submissions N] [--build FOLDER]

--submissions N  in the class: 120 if not said
--build FOLDER   a build of the preset cpu: build/cpu if not said

Three assignments share the class. Its submissions are their solutions and wrong ones in turn, two at a time.
Writes docs/measurements/cpu/class.json; ./lab pages makes docs/course.md's table of it. Exit status 1 if a grade is not
what it must be, or if a submission was graded twice.
"""

from __future__ import annotations

import csv
import dataclasses
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time

from tools.command_line import fail, parser_of
from tools.repository import CPU, ROOT, commit_of_tree, write_digest

FILE = CPU / "class.json"
ASSIGNMENTS = ("sgemm/02_tile", "tsm/01_split_k", "debug/02_race")
CORES = 2
LEAST = 30  # submissions: there must be some left when it is interrupted again
MOST_SECONDS = 3600  # of one run of the grader


@dataclasses.dataclass
class Taken:
    submissions: int
    cores: int
    load_before: float  # of other work: above 0.5 or so the time says little
    wall_s: float = 0.0
    peak_mb: int = 0
    complaints: list[str] = dataclasses.field(default_factory=list)


class Memory(threading.Thread):
    """The most that this process and all that it has started have had at a time."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most = 0
        self.done = threading.Event()

    def run(self) -> None:
        while not self.done.wait(0.2):
            parents, sizes = {}, {}
            for folder in pathlib.Path("/proc").glob("[0-9]*"):
                try:
                    fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
                    parents[int(folder.name)] = int(fields[1])
                    sizes[int(folder.name)] = self.own_bytes(folder)
                except (OSError, IndexError, ValueError):
                    continue
            mine, grown = {os.getpid()}, {os.getpid()}
            while grown:
                grown = {pid for pid, parent in parents.items() if parent in mine} - mine
                mine |= grown
            self.most = max(self.most, sum(sizes.get(pid, 0) for pid in mine) >> 20)

    @staticmethod
    def own_bytes(folder: pathlib.Path) -> int:
        """Without what several share: each process' part of it."""
        for line in (folder / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) << 10
        return 0


def hand_in(name: str, folder: pathlib.Path, count: int) -> dict[str, bool]:
    """Solutions and wrong ones in turn, each with a line of its own. By name, whether it is a solution."""
    teacher = ROOT / "course" / name / "teacher"
    texts = [next(iter(sorted(teacher.glob("solution*")))), *sorted((teacher / "wrong").iterdir())]
    right = {}
    for number in range(count):
        source = texts[number % len(texts)]
        student = f"student{number:03}.cuh"
        (folder / student).write_text(f"// student {number}\n{source.read_text()}")
        right[student] = number % len(texts) == 0
    return right


def grade_one(name: str, build: pathlib.Path, count: int, folder: pathlib.Path) -> list[str]:
    """What is wrong with how the class was graded."""
    given, out = folder / "in", folder / "out"
    given.mkdir()
    right = hand_in(name, given, count)
    command = [sys.executable, "-B", "-m", "tools.course", name, "--class", given, "--out", out]
    command += ["--build", build, "--secret", "a class"]
    found = []
    for enough in (count // 4, count // 2, None):  # interrupted there
        before = {path.name: path.stat().st_mtime_ns for path in out.glob("*.json")}
        running = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, text=True)
        while enough and running.poll() is None and len(list(out.glob("*.json"))) < enough:
            time.sleep(0.1)
        if enough:
            running.send_signal(signal.SIGINT)
        status = running.wait(MOST_SECONDS)
        again = [n for n, when in before.items() if (out / n).stat().st_mtime_ns != when]
        if again or status != (130 if enough else 0):
            found.append(f"{name}: status {status}, graded again: {again}")
    with open(out / "class.csv") as file:
        points = {row["submission"]: float(row["points"]) for row in csv.DictReader(file)}
    found += [
        f"{name}: {who} is a solution, and has {points.get(who)}"
        for who in right
        if right[who] and points.get(who) != 100
    ]
    if sum(points.get(who) == 100 for who in right) > sum(right.values()) + count // 4:
        found.append(f"{name}: too many have all points")
    return found


def measured(build: pathlib.Path, submissions: int) -> Taken:
    each = submissions // len(ASSIGNMENTS)
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # a shell's background job would ignore it, and its children
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    taken = Taken(each * len(ASSIGNMENTS), len(os.sched_getaffinity(0)), round(os.getloadavg()[0], 1))
    memory = Memory()
    memory.start()
    begin = time.monotonic()
    for name in ASSIGNMENTS:
        with tempfile.TemporaryDirectory() as folder:
            taken.complaints += grade_one(name, build, each, pathlib.Path(folder))
    taken.wall_s = time.monotonic() - begin
    memory.done.set()
    memory.join()
    taken.peak_mb = memory.most
    return taken


def main(arguments: list[str] | None = None) -> int:
    parser = parser_of("./lab measure class", __doc__)
    parser.add_argument("--submissions", type=int, default=120)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "cpu")
    options = parser.parse_args(arguments)
    if options.submissions < LEAST:
        fail(f"--submissions takes {LEAST} or more")
    if not (options.build / "bin" / "course_judge").exists():
        fail(f"{options.build} has no grader: ./lab grade builds it")
    taken = dataclasses.asdict(measured(options.build.resolve(), options.submissions))
    complaints = taken.pop("complaints")
    print("\n".join([*complaints, f"{taken}"]))
    if complaints:
        return 1
    write_digest(FILE, {**taken, "assignments": list(ASSIGNMENTS), "commit": commit_of_tree(FILE)})
    return 0
