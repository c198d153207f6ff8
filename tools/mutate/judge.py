"""What becomes of a mutant."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import signal
import tempfile
import threading
import time

from tools.command_line import fail
from tools.mutate.build import Build, DoesNotCompile
from tools.mutate.machine_code import fingerprint, fingerprints
from tools.mutate.mutants import Mutant, is_probe
from tools.mutate.proofs import proof_of
from tools.mutate.running import run
from tools.repository import Json

# Seconds until a program counts as one that has no end, and how many times as long as without a mutant, where that is
# more.
LIMITS = {"quick": 60, "full": 120, "probe": 60}
TIMES = 6
# A stage that solves no GEMM has no check: its program compares what it computes with a reference, or with what is
# written down, whenever it runs.
PRODUCT, PROBE = ("quick", "full"), ("probe",)

REJECTED, SAME_CODE, PROVEN, MISSED = "rejected", "same code", "proven", "missed"


@dataclasses.dataclass(frozen=True)
class Verdict:
    stage: str
    mutant: Mutant
    outcome: str  # one of the four above
    by: str  # quick, full or probe, if rejected
    reason: str
    seconds: float

    def to_json(self) -> Json:
        return {
            "file": self.mutant.file,
            "line": self.mutant.line,
            "operator": self.mutant.operator,
            "before": self.mutant.before(),
            "after": self.mutant.after(),
            "outcome": self.outcome,
            "by": self.by,
            "reason": self.reason,
            "seconds": round(self.seconds, 1),
        }


class Subject:
    """A stage as it is: what mutants are compared with."""

    def __init__(self, build: Build, stage: str, folder: pathlib.Path) -> None:
        self.build, self.stage, self.folder = build, stage, folder
        self.tiers = PROBE if is_probe(stage) else PRODUCT
        self.lock = threading.Lock()
        self.took: dict[str, float] = {}
        try:
            stage_object = build.stage_object(stage, None, folder)
            self.code = fingerprint(stage_object)
            self.program = build.program(stage, None, stage_object, folder)
        except DoesNotCompile as error:
            fail(f"{stage} as it is does not compile: {str(error).strip().splitlines()[-1]}")

    def limit(self, tier: str) -> float:
        """How long a mutant may take. The stage as it is must pass, else a rejection says nothing."""
        with self.lock:
            if tier not in self.took:
                begin = time.monotonic()
                passes, why = check(self.program, tier, self.folder, 10 * LIMITS[tier])
                if not passes or why:
                    fail(f"{self.stage} as it is does not pass: {why}")
                self.took[tier] = time.monotonic() - begin
            return max(LIMITS[tier], TIMES * self.took[tier])

    def kernels(self) -> list[str]:
        """Those that it compiles at run time, while it is checked in full."""
        self.limit(self.tiers[-1])
        return fingerprints(self.folder / "kernels")


def check(program: pathlib.Path, tier: str, folder: pathlib.Path, limit: float) -> tuple[bool, str]:
    """Whether a program passes, and if not why. A reason in spite of passing: it was not judged."""
    result = folder / f"{tier}.json"
    options = {"quick": ["check", "--quick", "--brief"], "full": ["check", "--brief"], "probe": ["--check"]}[tier]
    environment = {**os.environ, "GEMM_KERNEL_CACHE": str(folder / "kernels")}
    command = [str(program), *options, "--json", str(result)]
    status, said = run(command, folder, limit, environment)
    if status is None:
        return False, f"no end after {limit:.0f} s"
    if status == 0:
        return True, ""
    last = (said.strip().splitlines() or [""])[-1]
    if status == 2:  # no memory, say: nothing that is told of the stage
        return True, f"not judged: {last}"
    if status < 0:
        return False, f"ended by {signal.Signals(-status).name}"
    if tier == "probe":
        return False, last
    try:
        failed = [each for each in json.loads(result.read_text())["properties"] if each["status"] == "fail"]
        return False, f"{failed[0]['name']}: {failed[0]['failure']['reason']}"
    except (OSError, ValueError):
        return False, f"exit status {status}: {last}"


def verdict(subject: Subject, mutant: Mutant) -> Verdict | None:
    """None if it does not compile."""
    begin = time.monotonic()

    def says(outcome: str, by: str = "", reason: str = "") -> Verdict:
        return Verdict(subject.stage, mutant, outcome, by, reason, time.monotonic() - begin)

    build, stage = subject.build, subject.stage
    with tempfile.TemporaryDirectory(prefix="mutant.") as name:
        folder = pathlib.Path(name)
        # A kernel that is compiled at run time is not in the stage's object.
        at_run_time = build.embedded(stage, mutant.file) is not None
        try:
            stage_object = build.stage_object(stage, mutant, folder)
            same_code = fingerprint(stage_object) == subject.code
            if same_code and not at_run_time:
                return says(SAME_CODE)
            program = build.program(stage, mutant, stage_object, folder)
        except DoesNotCompile:
            return None
        why = ""
        for tier in subject.tiers:
            passes, why = check(program, tier, folder, subject.limit(tier))
            if not passes:
                return says(REJECTED, tier, why)
        if same_code and at_run_time and fingerprints(folder / "kernels") == subject.kernels():
            return says(SAME_CODE)
        proof = proof_of(mutant)
        return says(PROVEN, reason=proof) if proof else says(MISSED, reason=why)
