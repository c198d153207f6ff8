#!/usr/bin/env python3
"""Speed on a GPU: that honest kernels get what their times are worth, and that submissions which cheat get no more.

usage: test_speed.py BUILD_CPU BUILD_GPU [--json FILE]
--json: writes what was measured, as docs/measurements/GPU/course_speed.json has it.
"""

from __future__ import annotations

import dataclasses
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from tools.course import grade, speed, turns, variants
from tools.course.assignment import Assignment, Item, assignment, assignments
from tools.course.build import Builder
from tools.digest import digest
from tools.digest import text_of as text_of_digest
from tools.repository import Json

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = HERE / "hostile_gpu"
CASES = {
    # What is said, and the most of the points.
    "replayed": ("", 0.0),
    "cached": ("ms on", 1.0),
    "patched_timer": ("ms on", 1.0),
    "constructor": ("ms on", 1.0),
    "seeks_reference": ("", 0.0),
    "side_stream": ("for the GPU: ", 0.0),
    "deferred": ("", 0.0),
    "does_nothing": ("", 0.0),
    "fewer_terms": ("", 0.0),
    "never_ends": ("did not end in time", 0.0),
    "host_memory": ("", 0.0),
    "changes_operands": ("", 0.0),
}
SIZE = 1024
# An honest kernel, and a place before and behind its work: on the executor's small problems it is honest alone.
KERNEL = """
__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
  const int row = blockIdx.x / tiles_n * TILE + threadIdx.y, col = blockIdx.x % tiles_n * TILE + threadIdx.x;
  if (row >= m || col >= n) return;
  const bool timed = m == SIZE && n == SIZE && lda == SIZE && ldc == SIZE;
  if (timed && before(a, b, c, row * SIZE + col)) return;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) sum += a[row * lda + i] * b[i * ldb + col];
  float* const out = c + row * ldc + col;
  *out = beta == 0.0f ? alpha * sum : alpha * sum + beta * *out;
  if (timed) after(a, b, c, row * SIZE + col);
}
"""
HONEST = "__device__ bool before(const float*, const float*, float*, int) { return false; }\n"
HONEST += "__device__ void after(const float*, const float*, float*, int) {}\n"
SLOW = HONEST.replace("{ return false; }", "{ __nanosleep(100'000); return false; }")
ITEMS = (
    Item("right", "right", 90, problems=({"m": 64, "n": 64, "k": 64},)),
    Item("speed", "speed", 10, at={"m": SIZE, "n": SIZE, "k": SIZE}),
)
build = gpu = pathlib.Path()
measured: dict[str, list[Json]] = {"solutions": [], "cheats": []}


def tries(name: str) -> str:
    """Its first line."""
    return (FOLDER / f"{name}.cuh").read_text().splitlines()[0].removeprefix("// ")


def text_of(cheat: str) -> str:
    return f"constexpr int TILE = 16, SIZE = {SIZE};\n{cheat}{KERNEL}"


def sgemm() -> Assignment:
    return dataclasses.replace(assignment("sgemm/01_coalesce"), items=ITEMS, most_lines=200)


def graded(text: str, checked: bool = False) -> Json:
    builder = Builder(build, gpu=gpu, checked=checked)
    with tempfile.TemporaryDirectory() as name:
        file = pathlib.Path(name, "kernel.cuh")
        file.write_text(text)
        return grade.grade(sgemm(), file, "", 1, builder)


class Shares(unittest.TestCase):
    FOUND = {
        "submission_ms": 1.0,
        "reference_ms": 1.0,
        "library_ms": 0.5,
        "library": "cublas/x",
        "floor_ms": 0.2,
        "floor_by": "FP32 cores",
        "back_to_back_ms": 0.95,
        "device": "GPU",
    }

    def share(self, **changes: float) -> float:
        return speed.share_of(self.FOUND | changes)[0]

    def test_all_up_to_a_fifth_more_than_the_solution(self) -> None:
        self.assertEqual(self.share(submission_ms=1.19), 1.0)
        self.assertEqual(self.share(submission_ms=0.5, back_to_back_ms=0.5), 1.0)
        self.assertEqual(self.share(submission_ms=2.4, back_to_back_ms=2.4), 0.5)
        self.assertEqual(self.share(submission_ms=40, back_to_back_ms=40), 0.0)

    def test_steps_hide_the_noise(self) -> None:
        shares = {self.share(submission_ms=2.4 * noise, back_to_back_ms=2.4) for noise in (0.97, 1.0, 1.03)}
        self.assertEqual(shares, {0.5})

    def test_impossible_times_get_nothing(self) -> None:
        self.assertEqual(self.share(submission_ms=0.0), 0.0)
        self.assertEqual(self.share(submission_ms=0.15), 0.0)
        self.assertIn("two clocks disagree", speed.share_of(self.FOUND | {"back_to_back_ms": 1.8})[1])
        self.assertEqual(speed.share_of({"wrong": "no"})[0], 0.0)


class Turns(unittest.TestCase):
    def test_one_at_a_time_in_the_order_of_arrival(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder, ended, inside = pathlib.Path(name, "queue"), [], []

            def wait(number: int) -> None:
                with turns.turn(folder):
                    inside.append(number)
                    self.assertEqual(len(inside) - len(ended), 1)
                    time.sleep(0.02)
                    ended.append(number)

            with turns.turn(folder):
                waiting = []
                for number in range(5):
                    waiting.append(threading.Thread(target=wait, args=(number,)))
                    waiting[-1].start()
                    while len(list(folder.glob("*-*"))) < number + 2:
                        time.sleep(0.005)
                self.assertEqual(inside, [])
            for thread in waiting:
                thread.join(timeout=20)
            self.assertEqual(ended, list(range(5)))
            self.assertEqual(list(folder.glob("*-*")), [])

    def test_who_has_died_keeps_nobody_waiting(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name, "queue")
            dies = (
                "import os, pathlib, sys; from tools.course import turns; held = turns.turn(pathlib.Path(sys.argv[1]))"
            )
            dies += "; held.__enter__(); os._exit(1)"
            subprocess.run([sys.executable, "-B", "-c", dies, folder], check=False)
            self.assertEqual(len(list(folder.glob("*-*"))), 1)
            with turns.turn(folder) as number:
                self.assertEqual(number, 2)


class AllKernels(dict[str, str]):
    """Kernels by their names, where no compiler for GPUs has made any."""

    def __contains__(self, name: object) -> bool:
        return bool(name)

    def __missing__(self, name: str) -> str:
        return name


class Plans(unittest.TestCase):
    def plan_of(self, found: Assignment) -> Json:
        timer = speed.Timer(Builder(build))
        vars(timer)["device"] = {"multiprocessors": 132}
        item = next(item for item in found.items if item.kind == "speed")
        assert item.at
        texts = {found.files[0]: (found.folder / "teacher" / "solution.cuh").read_text()}
        with tempfile.TemporaryDirectory() as name:
            program = timer.builder.program_of(found, texts, pathlib.Path(name))
            return timer.planned(found, program, item.at, AllKernels())

    def test_each_solution_says_what_it_launches(self) -> None:
        timed = [found for found in assignments() if any(item.kind == "speed" for item in found.items)]
        self.assertGreaterEqual(len(timed), 13)
        for found in timed:
            with self.subTest(found.id):
                plan = self.plan_of(found)
                operands = {argument.get("operand") for launch in plan["launches"] for argument in launch["arguments"]}
                self.assertLessEqual({"x", "y", "out"}, operands, plan)
                self.assertEqual("workspace" in operands, plan["workspace_bytes"] > 0)
                for launch in plan["launches"]:
                    self.assertGreater(min(launch["grid"]), 0)
                    self.assertRegex(launch["kernel"], r"^\w+(<.*>)?$")

    def test_operands_in_columns(self) -> None:
        own = in_columns()
        plan = self.plan_of(own)
        self.assertGreater(len(plan["columns"]), 0, plan)
        for operand, start, _, rows, cols, ld, column, element in plan["columns"]:
            self.assertIn(operand, (0, 1))
            self.assertEqual((start, rows, cols, ld, column, element), (0, 2048, 2048, 2048, 2048, 4))
        self.assertIn("workspace", {argument.get("operand") for argument in plan["launches"][0]["arguments"]})


def in_columns() -> Assignment:
    """A variant whose contract lays operands out in columns."""
    return next(own for own in variants.all_of(assignment("sgemm/02_tile")) if "lay_out" in own.contract.read_text())


class OnGpu(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        program = gpu / "bin" / "course_timer"
        if not program.exists() or subprocess.run([program, "--device"], capture_output=True).returncode:
            print("SKIPPED: no GPU, or no build for one: nothing is timed", file=sys.stderr)
            raise unittest.SkipTest("no GPU")

    def speed(self, result: Json) -> Json:
        return next(item for item in result["items"] if item["kind"] == "speed")

    def test_honest_kernels_get_what_they_are_worth(self) -> None:
        honest, slow = graded(text_of(HONEST), True), graded(text_of(SLOW), False)
        self.assertEqual((honest["points"], honest["of"]), (100, 100), honest)
        self.assertIn("ms on", self.speed(slow)["feedback"][0])
        self.assertLess(self.speed(slow)["points"], 10)
        self.assertGreater(self.speed(slow)["points"], 0, slow)

    def test_a_second_run_gives_the_same(self) -> None:
        points = [self.speed(graded(text_of(SLOW)))["points"] for _ in range(3)]
        self.assertLessEqual(max(points) - min(points), 1.0, points)

    def test_solutions_get_full_points(self) -> None:
        for found in [*assignments(), in_columns()]:
            if not any(item.kind == "speed" for item in found.items):
                continue
            with self.subTest(found.id):
                result = grade.grade(found, found.folder / "teacher" / "solution.cuh", "", 1, Builder(build, gpu=gpu))
                item = self.speed(result)
                print(f"{found.id}: {item['feedback'][0]}", flush=True)
                name = found.id + (f", variant {found.variant}" if found.variant else "")
                row = {"assignment": name, "points": item["points"], "of": item["of"]}
                measured["solutions"].append(row | item["times"])
                self.assertEqual(result["points"], result["of"], result)

    def test_cheats_get_no_more(self) -> None:
        self.assertEqual(set(CASES), {path.stem for path in FOLDER.glob("*.cuh")})
        for name, (said, most) in CASES.items():
            with self.subTest(name):
                result = graded(text_of((FOLDER / f"{name}.cuh").read_text()))
                item = self.speed(result)
                print(f"{name}: {item['points']:g} of {item['of']:g}: {item['feedback'][0]}", flush=True)
                row = {"name": name, "tries": tries(name), "points": item["points"], "of": item["of"]}
                measured["cheats"].append(row | {"said": item["feedback"][0].splitlines()[0]})
                self.assertEqual(result["items"][0]["points"], 90, result)
                self.assertIn(said, item["feedback"][0])
                self.assertLessEqual(item["points"], most * item["of"])
        # And the next one is graded as if nothing had been.
        self.assertEqual(graded(text_of(HONEST))["points"], 100)


if __name__ == "__main__":
    arguments = sys.argv[1:]
    out = pathlib.Path(arguments.pop(arguments.index("--json") + 1)) if "--json" in arguments else None
    build, gpu = (pathlib.Path(argument).resolve() for argument in arguments[:2])
    done = unittest.main(argv=[sys.argv[0], *(word for word in arguments[2:] if word != "--json")], exit=False).result
    if out and done.wasSuccessful() and all(measured.values()):
        known = speed.timer_of(Builder(build, gpu=gpu)).device
        command = "tests/course/test_speed.py build/cpu build/gpu --json course_speed.json"
        out.write_text(
            text_of_digest(
                digest({"device": known["device"], "commit": known["commit"], "command": command, **measured})
            )
            + "\n"
        )
    sys.exit(not done.wasSuccessful())
