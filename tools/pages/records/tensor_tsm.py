"""What the tuner has timed of Tensor Cores and of plain FP64 cores, in one run."""

import pathlib

from tools.experiments.tsm_cases import ELEMENT
from tools.repository import GPU, Json

BYTES_OF_A = 1 << 28  # in the times of single stages; the best kernel was timed again on more


def report_path(op: str) -> pathlib.Path:
    """Of one of the two products."""
    return GPU / f"tsm_tuning_tensor_{op}.json"


def shares(report: Json, kind: str) -> dict[int, tuple[float, float]]:
    """{M = N: (the plain cores' best, the Tensor Cores')}, in % of the plain cores' roofline."""
    found = {}
    for entry in report["sizes"]:
        if entry["type"] == kind and entry["m"] == entry["n"]:
            # 100 times what the roofline allows for BYTES_OF_A, in ms. The best kernel's length is the entry's.
            length = BYTES_OF_A / (entry["k"] * entry["m"] * ELEMENT[kind])
            allowed = length * entry["best"]["pct_roofline"] * entry["best"]["ms"]
            tensor = [allowed / s["ms"] for name, s in entry["stages"].items() if "tensor" in name]
            plain = [allowed / s["ms"] for name, s in entry["stages"].items() if "tensor" not in name]
            if tensor and plain:
                found[entry["m"]] = max(plain), max(tensor)
    return found
