#!/usr/bin/env python3
"""A class of 120 submissions, graded on two cores without a GPU, interrupted twice and resumed.

usage: test_class.py BUILD [--submissions N]

BUILD   the build folder of the preset cpu
"""

import argparse
import csv
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
ASSIGNMENTS = ("sgemm/02_tile", "tsm/01_split_k", "debug/02_race")
SECONDS, MEGABYTES = 25 * 60, 2000  # that a class of 120 may take


def submissions(assignment, folder, count):
    """Solutions and wrong ones in turn, each with a line of its own. By name, whether it is a solution."""
    teacher = assignment.folder / "teacher"
    texts = [next(iter(sorted(teacher.glob("solution*")))), *sorted((teacher / "wrong").iterdir())]
    right = {}
    for number in range(count):
        source = texts[number % len(texts)]
        name = f"student{number:03}.cuh"
        (folder / name).write_text(f"// student {number}\n{source.read_text()}")
        right[name] = number % len(texts) == 0
    return right


class Memory(threading.Thread):
    """The most that this process and all that it has started have had at a time."""

    def __init__(self):
        super().__init__(daemon=True)
        self.most = 0
        self.done = threading.Event()

    def run(self):
        while not self.done.wait(0.2):
            parents, sizes = {}, {}
            for folder in pathlib.Path("/proc").glob("[0-9]*"):
                try:
                    fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
                    parents[int(folder.name)] = int(fields[1])
                    sizes[int(folder.name)] = self.own_bytes(folder)
                except (OSError, IndexError, ValueError):
                    continue
            mine, grown = {os.getpid()}, True
            while grown:
                grown = {pid for pid, parent in parents.items() if parent in mine} - mine
                mine |= grown
            self.most = max(self.most, sum(sizes.get(pid, 0) for pid in mine) >> 20)

    @staticmethod
    def own_bytes(folder):
        """Without what several share: each process' part of it."""
        for line in (folder / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) << 10
        return 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--submissions", type=int, default=120)
    options = parser.parse_args()
    try:
        from tools.course import sandbox
        from tools.course.assignment import assignment
    except SystemExit:
        print("SKIPPED, NOT RUN: no PyYAML")
        return 0
    if sandbox.works():
        print(f"SKIPPED, NOT RUN: {sandbox.works()}")
        return 0
    cores = sorted(os.sched_getaffinity(0))[:2]
    os.sched_setaffinity(0, cores)
    memory = Memory()
    memory.start()
    spent, problems = 0.0, 0
    each = options.submissions // len(ASSIGNMENTS)
    for name in ASSIGNMENTS:
        with tempfile.TemporaryDirectory() as folder:
            given, out = pathlib.Path(folder, "in"), pathlib.Path(folder, "out")
            given.mkdir()
            right = submissions(assignment(name), given, each)
            command = [sys.executable, "-B", "-m", "tools.course", name, "--class", given, "--out", out]
            command += ["--build", options.build, "--secret", "a class"]
            begin = time.monotonic()
            for enough in (each // 4, each // 2, None):  # interrupted there
                before = {path.name: path.stat().st_mtime_ns for path in out.glob("*.json")}
                running = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})
                while enough and running.poll() is None and len(list(out.glob("*.json"))) < enough:
                    time.sleep(0.1)
                if enough:
                    running.send_signal(signal.SIGINT)
                status = running.wait(SECONDS)
                again = [n for n, when in before.items() if (out / n).stat().st_mtime_ns != when]
                if again or status != (130 if enough else 0):
                    problems += 1
                    print(f"{name}: status {status}, graded again: {again}")
            spent += time.monotonic() - begin
            with open(out / "class.csv") as file:
                points = {row["submission"]: float(row["points"]) for row in csv.DictReader(file)}
            for who, is_right in right.items():
                if (points.get(who, -1) == 100) < is_right:
                    problems += 1
                    print(f"{name}: {who} is a solution, and has {points.get(who)} points")
            if sum(points[who] == 100 for who in right) > sum(right.values()) + each // 4:
                problems += 1
                print(f"{name}: too many have all points")
    memory.done.set()
    count = each * len(ASSIGNMENTS)
    took = f"{spent:.0f} s, {spent / count:.1f} s each"
    print(f"{count} submissions on {len(cores)} cores: {took}, {memory.most} MB at most")
    if spent > SECONDS * count / 120 or memory.most > MEGABYTES:
        problems += 1
        print(f"that is more than {SECONDS * count / 120:.0f} s or {MEGABYTES} MB")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
