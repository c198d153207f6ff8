"""Runs of the Tensor Core stages; FP16 products."""

from tools.pages.notes import not_measured
from tools.repository import CPU, GPU, Json, read_json, read_json_if_there

MEASURED = GPU / "tensor_h.json"
FOLDERS = {"measured": GPU, "counted": CPU}

NOT_MEASURED = not_measured("docs/measurements/measure --steps tensor")


def measured(name: str) -> Json | None:
    path = FOLDERS["measured"] / f"tensor_{name}.json"
    return read_json_if_there(path)


# Ootomo and Yokota (2023), Table 1: GB/s of device and of shared memory, TFLOP/s of FP32 cores, and in FP16 and TF32 of
# Tensor Cores.
SPECIFIED: dict[str, tuple[float | None, ...]] = {
    "V100 (SXM2), specified": (900, 14131, 15.7, 112, None),
    "A100 (SXM4, 40 GB), specified": (1555, 19491, 19.5, 312, 156),
}


def specifications() -> dict[str, tuple[float | None, ...]]:
    """The same rows, and those of the device as measured: by mma.sync, and by cuBLAS, which has wgmma."""
    rows = dict(SPECIFIED)
    if MEASURED.exists():
        run = read_json(MEASURED)
        c = run["ceilings"]
        device = run["device"].replace("NVIDIA ", "")
        memory = (c["read_gbs"], c["shared_gbs"], c["ffma_gflops"] / 1e3)
        rows[f"{device}, measured, mma.sync"] = (*memory, c["hmma_gflops"] / 1e3, c["tmma_gflops"] / 1e3)
        best = max(r["gflops"] for r in run["results"] if r["stage"] == "cublas/fp16" and "gflops" in r)
        rows[f"{device}, measured, cuBLAS"] = (*memory, best / 1e3, None)
    return rows


def rate_run() -> Json | None:
    """The probe `tensor_rate`: how fast mma.sync is by what it multiplies; None if it was not measured."""
    path = FOLDERS["measured"] / "probes" / "tensor_rate.json"
    return read_json_if_there(path)
