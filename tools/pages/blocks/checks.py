"""How the checks are calibrated, and what compute-sanitizer found."""

from tools.pages.data import Data, NotMeasured, full_shape
from tools.tables import table


def block_calibration(data: Data) -> list[str]:
    rows = []
    for shape, rejected in data.calibration["rejected"].items():
        found = [data.results.get((i, full_shape(shape)), {}) for i in data.ids if "tf32" not in i]
        right = [r["error"] for r in found if "error" in r]
        row = [shape, f"{max(r['max_ratio'] for r in right):.3f}", f"{max(r['frobenius_ratio'] for r in right):.3f}"]
        for name in ("cublas/tf32", "broken/11_half_precision", "broken/05_dropped_k"):
            row += [f"{rejected[name]['max_ratio']:.3g}", f"{rejected[name]['frobenius_ratio']:.3g}"]
        rows.append(row)
    head = [
        "shape",
        "right: element",
        "Frobenius",
        "TF32: element",
        "Frobenius",
        "FP16 inputs: element",
        "Frobenius",
        "one k dropped: element",
        "Frobenius",
    ]
    return table(head, rows) + [
        "",
        f"{data.calibration['device']}, commit {data.calibration['commit']}. Right: the largest of all "
        "stages and cuBLAS FP32.",
    ]


def block_sanitizers(data: Data) -> list[str]:
    rows = []
    for s in data.sanitizers:
        stages = sorted({name.split()[0] for name in s["names"] if "/" in name})
        families = {}
        for stage in stages:
            families.setdefault(stage.split("/")[0], []).append(stage.split("/")[1])
        # Some of a family are named one by one.
        what = "; ".join(
            f"{family}: " + (", ".join(its) if "--only" in s["command"] else f"{its[0]} to {its[-1]}")
            for family, its in families.items()
        )
        rows += [[tool, what, str(len(s["names"])), str(errors), s["commit"]] for tool, errors in s["errors"].items()]
    if not rows:
        raise NotMeasured("")
    return table(["compute-sanitizer", "stages", "runs", "errors", "commit"], rows) + [
        "",
        f"{data.sanitizers[0]['device']}.",
    ]
