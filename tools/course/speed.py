"""Times a submission's kernels on a GPU, beside the teacher's solution and a library.

The kernels are compiled to machine code for the GPU and nothing else: what a submission might do on the host is never
compiled for the process that times. How the contract launches them is asked of the same program that is graded without
a GPU, which runs apart from everything.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import pathlib
import re
import subprocess
import tempfile

from tools.command_line import fail
from tools.course import turns
from tools.course.assignment import Assignment, Item
from tools.course.build import Builder, Unbuilt
from tools.repository import ROOT, Json

ENTRY = re.compile(r"Compiling entry function '(\w+)' for 'sm_\w+'")
ENOUGH = 1.2  # times the solution's: all points
STEPS = 10  # of the points, so that a second run gives the same
BELOW_FLOOR = 0.95  # of the roofline's time, whose ceilings are measured, too
APART = 1.5  # times what events say: as far as the parent's clock may be from it, for launches back to back
PAUSE_MS = 0.02  # and what a launch itself takes
LAUNCH_SECONDS = 10.0
ALL_SECONDS = 300.0


class Untimed(Exception):
    """Timing itself failed: no fault of the submission's."""


@dataclasses.dataclass(frozen=True)
class Timer:
    builder: Builder

    @property
    def build(self) -> pathlib.Path:
        assert self.builder.gpu
        return self.builder.gpu

    @property
    def program(self) -> pathlib.Path:
        return self.build / "bin" / "course_timer"

    @functools.cached_property
    def device(self) -> Json:
        done = subprocess.run([self.program, "--device"], capture_output=True, text=True)
        if done.returncode:
            fail(done.stderr.removeprefix("error: ").strip())
        return json.loads(done.stdout)

    @functools.cached_property
    def nvcc(self) -> str:
        for line in (self.build / "CMakeCache.txt").read_text().splitlines():
            name, _, value = line.partition("=")
            if name.startswith("CMAKE_CUDA_COMPILER:"):
                return value
        fail(f"{self.build} is no build of the preset gpu: ./lab setup --cuda")

    @property
    def toolkit(self) -> tuple[pathlib.Path, ...]:
        """Where nvcc lies, unless that is among the system's folders."""
        found = {pathlib.Path(self.nvcc).parent.parent, pathlib.Path(self.nvcc).resolve().parent.parent}
        return tuple(path for path in found if not path.is_relative_to("/usr"))

    @property
    def architecture(self) -> str:
        capability = self.device["compute_capability"]
        return f"sm_{capability}{'a' if capability == 90 else ''}"

    def machine_code(
        self, assignment: Assignment, texts: dict[str, str], folder: pathlib.Path
    ) -> tuple[pathlib.Path, dict[str, str]]:
        """A file, and its kernels' symbols by their names. Raises Unbuilt."""
        folder = folder / "gpu"
        folder.mkdir()
        contract = self.builder.contract_with(assignment, texts, folder)
        result = folder / "kernels.cubin"
        words = [self.nvcc, "-cubin", f"-arch={self.architecture}", "-std=c++20", "-O3", "-w", "-Xptxas=-v"]
        words += ["-I", str(ROOT), "-I", str(folder), "-o", str(result), str(contract)]
        said = self.builder.compiled(words, folder, result, self.toolkit)
        symbols = list(dict.fromkeys(ENTRY.findall(said)))
        named = subprocess.run(["c++filt", "-p"], input="\n".join(symbols), capture_output=True, text=True, check=True)
        names = named.stdout.replace("(anonymous namespace)::", "").splitlines()
        return result, dict(zip(names, symbols))

    def planned(self, assignment: Assignment, program: pathlib.Path, problem: Json, kernels: dict[str, str]) -> Json:
        job = {
            "operation": assignment.operation,
            "type": assignment.type,
            "accuracy": assignment.accuracy,
            "multiprocessors": self.device["multiprocessors"],
            "problems": [problem],
        }
        try:
            done = subprocess.run(
                [self.builder.judge, "-", *self.builder.judged_by(program, None)],
                input=json.dumps(job),
                capture_output=True,
                text=True,
                timeout=60,
            )
        except subprocess.TimeoutExpired:
            raise Untimed("the judge did not end") from None
        if done.returncode:
            raise Unbuilt(done.stderr.strip())
        plan = json.loads(done.stdout)
        for launch in plan["launches"]:
            if launch["kernel"] not in kernels:
                raise Unbuilt(f"the compiler made no kernel {launch['kernel']}")
            launch["kernel"] = kernels[launch["kernel"]]
        return plan

    def prepared(
        self, assignment: Assignment, texts: dict[str, str], program: pathlib.Path, problem: Json, folder: pathlib.Path
    ) -> Json:
        """What course_timer takes. Raises Unbuilt."""
        file, kernels = self.machine_code(assignment, texts, folder)
        return {"cubin": str(file), "plan": self.planned(assignment, program, problem, kernels)}

    @functools.cache  # noqa: B019, a process has one timer
    def solution(self, assignment: Assignment, item: Item) -> tuple[Json, tempfile.TemporaryDirectory[str]]:
        """What it takes of the teacher's, and where that lies for as long as somebody holds it."""
        assert item.at
        texts = {name: (assignment.folder / "teacher" / "solution.cuh").read_text() for name in assignment.files}
        home = tempfile.TemporaryDirectory(prefix="solution-")
        program = self.builder.program_of(assignment, texts, pathlib.Path(home.name))
        return self.prepared(assignment, texts, program, item.at, pathlib.Path(home.name)), home

    def times(self, assignment: Assignment, item: Item, texts: dict[str, str], program: pathlib.Path) -> Json:
        """What course_timer found. Raises Unbuilt and Untimed."""
        assert item.at
        problem = item.at
        submission = self.prepared(assignment, texts, program, problem, program.parent)
        job = {
            "operation": assignment.operation,
            "type": assignment.type,
            "accuracy": assignment.accuracy,
            "problem": problem,
            "timeout": LAUNCH_SECONDS,
            "submission": submission,
            "reference": self.solution(assignment, item)[0],
        }
        with turns.turn():
            try:
                done = subprocess.run(
                    [self.program, "-"],
                    input=json.dumps(job),
                    capture_output=True,
                    text=True,
                    errors="replace",
                    timeout=ALL_SECONDS,
                )
            except subprocess.TimeoutExpired:
                raise Untimed("the timer did not end") from None
        if done.returncode:
            raise Untimed(done.stderr.removeprefix("error: ").strip()[-300:])
        return json.loads(done.stdout)


def share_of(found: Json) -> tuple[float, str]:
    """Of the points, and why."""
    if "wrong" in found:
        return 0.0, f"on the GPU: {found['wrong']}"
    ms, reference = found["submission_ms"], found["reference_ms"]
    if ms < BELOW_FLOOR * found["floor_ms"]:
        return 0.0, f"{ms:.3g} ms is less than {found['floor_by']} allow: {found['floor_ms']:.3g} ms"
    if found["back_to_back_ms"] > APART * ms + PAUSE_MS:
        return 0.0, f"two clocks disagree: {ms:.3g} ms, and {found['back_to_back_ms']:.3g} ms seen from outside"
    share = min(1.0, ENOUGH * reference / ms)
    told = f"{ms:.3g} ms on {found['device']}; the solution {reference:.3g} ms"
    told += f", {found['library']} {found['library_ms']:.3g} ms; all points up to {ENOUGH:g} times the solution's"
    return int(STEPS * share + 0.5) / STEPS, told


@functools.cache
def timer_of(builder: Builder) -> Timer:
    """One for all submissions: it asks the GPU once."""
    return Timer(builder)
