"""What the tuner has timed of Tensor Cores and of plain FP64 cores, in one run."""

import pathlib

from tools.repository import GPU, Json


def report_path(op: str) -> pathlib.Path:
    """Of one of the two products."""
    return GPU / f"tsm_tuning_tensor_{op}.json"


def shares(report: Json, kind: str) -> dict[int, tuple[float, float]]:
    """{M = N: (the plain cores' best, the Tensor Cores')}, in % of the plain cores' roofline."""
    found = {}
    for entry in report["sizes"]:
        if entry["type"] == kind and entry["m"] == entry["n"]:
            best = entry["best"]["pct_roofline"] * entry["best"]["ms"]
            tensor = [best / s["ms"] for name, s in entry["stages"].items() if "tensor" in name]
            plain = [best / s["ms"] for name, s in entry["stages"].items() if "tensor" not in name]
            if tensor and plain:
                found[entry["m"]] = max(plain), max(tensor)
    return found
