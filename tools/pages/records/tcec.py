"""Runs of the stages for FP32 products on Tensor Cores."""

import pathlib

from tools.pages.records.tensor import FOLDERS, measured
from tools.repository import Json, read_json


def accuracy_path() -> pathlib.Path:
    """The device's if it is there, else the executor's, which cuts sums off as sm_90 does."""
    path = FOLDERS["measured"] / "accuracy.json"
    return path if path.exists() else FOLDERS["counted"] / "accuracy.json"


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


def papers_library() -> dict[int, float]:
    """{k: TFLOP/s} of the paper's own library on batches of 256 x (1024 x 1024 x k)."""
    peers = read_json(FOLDERS["measured"] / "peers.json")
    return {int(k): speed for k, speed in peers["ootomo_batched_sgemm_tflops"].items()}


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


def batched_name(stage: str) -> str:
    return (
        stage.replace("cublas/fp32_pedantic", "cuBLAS FP32")
        .replace("cublas/tf32", "cuBLAS TF32")
        .replace("tensorcore/", "")
    )
