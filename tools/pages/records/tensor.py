"""Runs of the Tensor Core stages; FP16 products."""

import dataclasses

from tools.pages.notes import not_measured
from tools.repository import CPU, GPU, Json, newest, read_json, read_json_if_there

MEASURED = newest(GPU / "tensor_h.json")
FOLDERS = {"measured": GPU, "counted": CPU}

NOT_MEASURED = not_measured("docs/measurements/measure --steps tensor")


def measured(name: str) -> Json | None:
    return read_json_if_there(newest(FOLDERS["measured"] / f"tensor_{name}.json"))


@dataclasses.dataclass(frozen=True)
class Chip:
    """GB/s of device and of shared memory (all SMs), TFLOP/s; None: not measured, or it has no such unit."""

    sms: int
    mhz: float
    memory: str | None  # GB
    memory_gbs: float
    shared: str | None  # KB of an SM
    shared_gbs: float
    fp32: float
    fp16: float | None  # without Tensor Cores
    fp16_tensor: float
    tf32_tensor: float | None
    measured: bool = False

    @property
    def ratios(self) -> dict[str, float]:
        """times: of shared memory's bandwidth to device memory's. The others are bytes per flop, or the reverse."""
        return {
            "times": self.shared_gbs / self.memory_gbs,
            "memory_per_fp32": self.memory_gbs / self.fp32 / 1e3,
            "memory_per_tensor": self.memory_gbs / self.fp16_tensor / 1e3,
            "shared_per_tensor": self.shared_gbs / self.fp16_tensor / 1e3,
            "tensor_per_shared": self.fp16_tensor * 1e3 / self.shared_gbs,
        }


# Ootomo and Yokota (2023), Table 1, as printed.
_A100 = Chip(108, 1410, "40", 1555, "about 164", 19491, 19.5, 39.0, 312, 156)
SPECIFIED = {
    "V100 (SXM2)": Chip(80, 1380, "16 or 32", 900, "about 96", 14131, 15.7, 31.4, 112, None),
    "V100S (PCIe)": Chip(80, 1597, "32", 1134, "about 96", 16353, 16.4, 32.8, 125, None),
    "A100, 40 GB": _A100,
    "A100, 80 GB": dataclasses.replace(_A100, memory="80", memory_gbs=2039),
}


def measured_chip() -> tuple[str, Chip] | None:
    """The name of the pages' GPU, and the same of it by measurement; Tensor Cores by mma.sync."""
    if not MEASURED.exists():
        return None
    run = read_json(MEASURED)
    c, state = run["ceilings"], [r["state"] for r in run["results"] if r.get("state")]
    has = {key: run[key] for key in ("memory_bytes", "sm_shared_bytes") if key in run}
    return run["device"].replace("NVIDIA ", ""), Chip(
        sms=run["sm_count"],
        mhz=max(of["sm_mhz_max"] for of in state),
        memory=f"{has['memory_bytes'] / 1e9:.0f}" if "memory_bytes" in has else None,
        memory_gbs=c["read_gbs"],
        shared=f"{has['sm_shared_bytes'] / 1024:.0f}" if "sm_shared_bytes" in has else None,
        shared_gbs=c["shared_gbs"],
        fp32=c["ffma_gflops"] / 1e3,
        fp16=c["hfma_gflops"] / 1e3 if "hfma_gflops" in c else None,
        fp16_tensor=c["hmma_gflops"] / 1e3,
        tf32_tensor=c["tmma_gflops"] / 1e3,
        measured=True,
    )


def best_of_cublas() -> float:
    """TFLOP/s in FP16, in the same run: it has wgmma."""
    run = read_json(MEASURED)
    return max(r["gflops"] for r in run["results"] if r["stage"] == "cublas/fp16" and "gflops" in r) / 1e3


def rooflines() -> dict[str, tuple[float, float]]:
    """GB/s of shared memory and TFLOP/s of Tensor Cores in FP16: specified, by mma.sync, and by cuBLAS."""
    found = {
        f"{name}, specified": (SPECIFIED[key].shared_gbs, SPECIFIED[key].fp16_tensor)
        for name, key in {"V100 (SXM2)": "V100 (SXM2)", "A100 (SXM4, 40 GB)": "A100, 40 GB"}.items()
    }
    if ours := measured_chip():
        name, chip = ours
        found[f"{name}, measured, mma.sync"] = (chip.shared_gbs, chip.fp16_tensor)
        found[f"{name}, measured, cuBLAS"] = (chip.shared_gbs, best_of_cublas())
    return found


def rate_run() -> Json | None:
    """The probe `tensor_rate`: how fast mma.sync is by what it multiplies; None if it was not measured."""
    path = FOLDERS["measured"] / "probes" / "tensor_rate.json"
    return read_json_if_there(path)
