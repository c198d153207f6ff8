"""What bounds the stages on the reference GPU, by counts and machine code, beside what was measured."""

from tools.pages.data import Data, NotMeasured
from tools.pages.records.bounds import order, predicted
from tools.pages.reference import LADDERS
from tools.repository import Json
from tools.tables import table, tflops


def ladder_bounds(data: Data, name: str) -> Json:
    if not data.bounds or name not in data.bounds["ladders"]:
        raise NotMeasured("")
    return data.bounds["ladders"][name]


def block_bounds_order(data: Data) -> list[str]:
    """How well the order of the stages is predicted."""
    rows = []
    for name, ladder in LADDERS.items():
        for first in ("", "sgemm/09b") if name == "sgemm" else ("",):
            found = order(ladder, ladder_bounds(data, name)["stages"], first)
            correlation = found.correlation()
            rows.append(
                [
                    ladder.title + (f", from {first.split('/')[1]} on" if first else ""),
                    ladder.shape.replace("x", " x "),
                    str(len(found.stages)),
                    "all predicted equal" if correlation is None else f"{correlation:.2f}",
                    f"{found.within} of {len(found.stages)}",
                ]
            )
    return table(["ladder", "M x N x K", "stages", "rank correlation", "between the two predictions"], rows)


def block_bounds(data: Data, name: str) -> list[str]:
    """A ladder's stages, the fastest last."""
    ladder, bounds = LADDERS[name], ladder_bounds(data, name)
    measured, rows = ladder.measured(), []
    known = [each for each in bounds["stages"] if each["stage"] in measured]
    for each in sorted(known, key=lambda e: predicted(e).most_ms, reverse=True):
        prediction, result = predicted(each), measured[each["stage"]]
        work = result["gflops"] * result["time_ms"]["median"]  # flops / 1e6
        cycles = {unit: value for unit, value in each["cycles"].items() if not unit.endswith("cores")}
        rows.append(
            [
                each["stage"].split("/")[1],
                f"{max(v for u, v in cycles.items() if u not in ('L1 tags', 'Tensor Cores')):.3g}",
                f"{each['instructions']:.3g}" if "instructions" in each else "-",
                prediction.by,
                f"{tflops(work / prediction.most_ms)} to {tflops(work / prediction.least_ms)}",
                tflops(result["gflops"]),
                f"{result['pct_cublas']:.1f} %" if "pct_cublas" in result else "-",
            ]
        )
    return table(
        [
            "stage",
            "wavefronts",
            "instructions",
            "predicted bound",
            "predicted TFLOP/s",
            "measured TFLOP/s",
            "of cuBLAS",
        ],
        rows,
    )
