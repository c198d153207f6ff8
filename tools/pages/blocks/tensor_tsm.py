"""Tensor Cores beside plain FP64 cores in tall & skinny products (docs/tsm/13b, 13c), from what the tuner has timed in
one run."""

from tools.experiments.tsm_cases import PRODUCTS, TYPES
from tools.pages.data import Data
from tools.pages.records.tensor_tsm import report_path, shares
from tools.repository import read_json_if_there
from tools.stats import upper_median
from tools.tables import table

SHOWN = (13, 16, 17, 20, 24, 28, 32, 33, 36, 40, 44, 48, 49, 52, 56, 57, 60, 63, 64)  # M = N in tables
HOW = ("plain", "Tensor Cores")


def block_beside_plain(data: Data, op: str) -> list[str]:
    report = read_json_if_there(report_path(op))
    if not report:
        return ["*Not measured yet: `./lab measure tune-tsm cases --beside` begins it.*"]
    columns = {kind: shares(report, kind) for kind in TYPES}
    rows = [
        [str(width), *(f"{share:.1f} %" for kind in TYPES for share in columns[kind].get(width, ()))]
        for width in SHOWN
        if all(width in columns[kind] for kind in TYPES)
    ]
    lost = [model["first_loses"] for entry in report["sizes"] for model in entry["models"]]
    worst = {kind: min(columns[kind].items(), key=lambda item: max(item[1])) for kind in TYPES}
    notes = "; ".join(
        f"{TYPES[kind]}: the better of both at least {max(both):.1f} %, at {width}"
        for kind, (width, both) in worst.items()
    )
    return [
        *table(["M = N", *(f"{name}, {how}" for name in TYPES.values() for how in HOW)], rows, left=()),
        "",
        f"Of the roofline with the plain FP64 cores. All M = N from {min(min(c) for c in columns.values())} to 64 "
        f"were timed; {notes}. The model's first "
        f"choice loses {100 * upper_median(lost):.1f} % (median of {len(lost)} sizes of M and N) against the best of "
        "those tried.",
        "",
        f"{report['device']}, commit {report['commit']}, 256 MiB of A.",
        "",
        f"![{PRODUCTS[op]}: Tensor Cores beside plain cores](../figures/tensor_{op}.svg)",
    ]
