"""Runs of the stages for FP32 products on Tensor Cores."""

import dataclasses
import pathlib

from tools.pages.records.tensor import FOLDERS, Chip, measured
from tools.repository import Json, newest, read_json, read_json_if_there


def accuracy_path() -> pathlib.Path:
    return FOLDERS["measured"] / "accuracy.json"


def residuals(run: Json) -> dict[str, dict[str, dict[int, float]]]:
    """{distribution: {stage: {k: residual}}}; what was skipped is not there, what is infinite is."""
    found = {}
    for r in run["results"]:
        if "residual" in r:
            found.setdefault(r["distribution"], {}).setdefault(r["stage"], {})[r["k"]] = (
                float("inf") if r["residual"] == "infinite" else r["residual"]
            )
    return found


def short_name(stage: str) -> str:
    return stage.split("/")[1]


def peers() -> Json:
    """Other libraries, measured beside ours and not part of the repository."""
    return read_json(newest(FOLDERS["measured"] / "peers.json"))


def papers_library() -> dict[int, float]:
    """{k: TFLOP/s} of the paper's own library on batches of 256 x (1024 x 1024 x k)."""
    return {int(k): speed for k, speed in peers()["ootomo"]["tflops"].items()}


def cutlass() -> dict[int, Json]:
    """{k: result} of CUTLASS's emulation on the same batches; empty if it was not timed."""
    found = read_json_if_there(newest(FOLDERS["measured"] / "peers.json")) or {}
    return {r["k"]: r for r in found.get("cutlass_tcec", {"results": []})["results"]}


def batched_speeds() -> tuple[dict[str, dict[int, float]], Json] | tuple[None, None]:
    """{stage: {k: TFLOP/s}} and the run; None if it is not there."""
    run = measured("batched")
    if not run:
        return None, None
    speeds = {}
    for r in run["results"]:
        if "gflops" in r:
            speeds.setdefault(r["stage"], {})[r["problem"]["k"]] = r["gflops"] / 1e3
    return speeds, run


def batched_errors(which: str) -> dict[str, dict[int, float]]:
    """{stage: {k: error}} of the same run; which: frobenius (the residual) or max_relative. Empty where the run has
    none."""
    run, found = measured("batched"), {}
    for r in run["results"] if run else []:
        if which in r.get("error", {}):
            found.setdefault(r["stage"], {})[r["problem"]["k"]] = r["error"][which]
    return found


# Ootomo and Yokota (2023), section 4.4.2: TFLOP/s of their batch of 256 on an A100, with fragments of (32, 32, 32); and
# of the SGEMM emulation in CUTLASS, from their paper of 2022.
PAPERS_BATCH, PAPERS_CUTLASS, PAPERS_N = 54.2, 51, 32
# Stage 12's warps have 32 x 64 of C: words for each FMA as with n x n of the harmonic mean.
OUR_N = 2 * 32 * 64 / (32 + 64)


@dataclasses.dataclass(frozen=True)
class Bounds:
    """TFLOP/s of FP32 products by three FP16 ones, at most, of warps with n x n of C (the paper's section 4.4.1)."""

    through_shared: float  # by shared memory, through which the split numbers pass: n/12 flops per byte
    in_registers: float  # by shared memory, where numbers are split in registers: n/4
    tensor: float  # by Tensor Cores: a third of their peak in FP16

    @property
    def wmma(self) -> float:
        return min(self.through_shared, self.tensor)

    @property
    def registers(self) -> float:
        return min(self.in_registers, self.tensor)


def bounds_of(chip: Chip, n: float = PAPERS_N) -> Bounds:
    return Bounds(chip.shared_gbs * n / 12e3, chip.shared_gbs * n / 4e3, chip.fp16_tensor / 3)


def batched_speed(which: str, k: str) -> float | None:
    """TFLOP/s at a k of 12, 12:papers and the like, of `library` (the paper's own), of cutlass, of cublas."""
    if which == "library":
        return papers_library().get(int(k))
    if which == "cutlass":
        return cutlass().get(int(k), {}).get("tflops")
    number, colon, variant = which.partition(":")
    for stage, of in (batched_speeds()[0] or {}).items():
        name, _, its = stage.partition(":")
        if its == variant and (
            name == "cublas/fp32_pedantic" if number == "cublas" else name.startswith(f"tensorcore/{number}_")
        ):
            return of.get(int(k))
    return None


def best_batched(which: str) -> float | None:
    """The most TFLOP/s of 12, 12:papers and the like in the batches of Figure 8."""
    speeds, _ = batched_speeds()
    depths = {str(k) for of in (speeds or {}).values() for k in of}
    return max((speed for k in depths if (speed := batched_speed(which, k))), default=None)


def batched_name(stage: str) -> str:
    return (
        stage.replace("cublas/fp32_pedantic", "cuBLAS FP32")
        .replace("cublas/tf32", "cuBLAS TF32")
        .replace("tensorcore/", "")
    )
