"""docs/measurements/reference.json: what the CPU executor tells of the GPU that the documents measure on. Of each
ladder a problem large enough to fill that GPU, how fast each stage was on it, and what its machine code is."""

from __future__ import annotations

import dataclasses
import functools

from tools.digest import rounded, text_of
from tools.pages.data import BOUNDS, by_stage_and_shape
from tools.repository import GPU, Json, read_json, read_json_if_there


@functools.cache
def results_of(file: str) -> Json:
    return by_stage_and_shape(read_json(GPU / f"{file}.json"))


@dataclasses.dataclass(frozen=True)
class Ladder:
    """Where a ladder of bounds.json was measured."""

    title: str
    file: str  # of docs/measurements/nvidia-h200/
    shape: str

    def measured(self) -> Json:
        """The stages' results on the reference problem, without the libraries'."""
        return {
            stage: result
            for (stage, shape), result in results_of(self.file).items()
            if shape == self.shape and "gflops" in result and not stage.startswith("cublas/") and ":" not in stage
        }


LADDERS = {
    "sgemm": Ladder("SGEMM", "sgemm", "4096x4096x4096"),
    "hgemm": Ladder("FP16", "tensor_h", "4096x4096x4096"),
    "emulated": Ladder("FP32 on Tensor Cores", "tensor_s", "4096x4096x4096"),
    **{
        f"{op}_{width}": Ladder(f"{op.upper()}, {width} wide", file, f"{width}x{width}x{(1 << 29) // width}")
        for op, file in (("tsmttsm", "tsm_d"), ("tsmm", "tsmm_d"))
        for width in (4, 16, 64)
    },
}
CEILINGS = (
    *(f"{kind}_gbs" for kind in ("read", "copy", "scale", "shared")),
    *(f"{kind}_gflops" for kind in ("ffma", "dfma", "dmma", "hmma", "tmma")),
    "launch_us",
    "latency_ns",
)


def in_flight(work: str) -> list[tuple[float, float]]:
    """How fast the probe `bandwidth` was with so many bytes of loads in flight: of an SM, and GB/s of its best kernel
    for this work, read or scale. Up to the most bytes that still help."""
    fastest: dict[float, float] = {}
    for each in read_json(GPU / "probes" / "bandwidth.json")["results"]:
        if each["work"] == work and each["warps_per_sm"] and "gbs" in each:
            loads = each["bytes_in_flight_per_sm"]
            fastest[loads] = max(each["gbs"], fastest.get(loads, 0.0))
    points: list[tuple[float, float]] = []
    for loads, gbs in sorted(fastest.items()):
        if points and gbs <= points[-1][1]:
            break
        points.append((loads, gbs))
    return points


def reference() -> Json:
    bounds = (read_json_if_there(BOUNDS) or {"ladders": {}})["ladders"]
    run = read_json(GPU / "tensor_s.json")  # the ceilings of all kinds of cores
    ladders = []
    for name, ladder in LADDERS.items():
        of_code = {each["stage"]: each for each in bounds.get(name, {"stages": []})["stages"]}
        entries = {}
        for stage, result in ladder.measured().items():
            entry = {"gflops": result["gflops"]}
            if "pct_cublas" in result:
                entry["pct_cublas"] = result["pct_cublas"]
            entry |= {
                key: of_code[stage][key]
                for key in ("instructions", "shared_loads", "source")
                if key in of_code.get(stage, {})
            }
            entries[stage] = entry
        problem = next(iter(ladder.measured().values()))["problem"]
        ladders.append({key: problem[key] for key in ("op", "type", "m", "n", "k")} | {"stages": entries})
    return rounded(
        {
            "device": run["device"],
            "library": f"cuBLAS {run['cublas']}",
            "sm_count": run["sm_count"],
            "ceilings": {key: run["ceilings"][key] for key in CEILINGS},
            "loads_in_flight": {work: in_flight(work) for work in ("read", "scale")},
            "ladders": ladders,
        }
    )


def reference_text() -> str:
    return text_of(reference()) + "\n"
