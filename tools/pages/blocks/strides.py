"""Tall & skinny products of padded rows (./lab measure strides)."""

import pathlib

from tools.pages.data import Data, NotMeasured
from tools.repository import GPU, SINCE, Json, read_json_if_there
from tools.tables import table

PRODUCTS = {"tsmttsm": "TSMTTSM", "tsmm": "TSMM", "gram": "Gram matrix"}
TYPES = {"d": "double", "z": "double complex"}


def record(folder: pathlib.Path = GPU) -> Json:
    if not (found := read_json_if_there(folder / "strides.json")):
        raise NotMeasured("")
    return found


def block_strides(_: Data, which: str = "") -> list[str]:
    """How far products of padded rows and of others get, and how many were right; `before`: on the other GPU."""
    its = record(SINCE if which == "before" else GPU)

    def cells(row: Json) -> list[str]:
        of_roof = [f"{100 * row[it][q]:.0f} %" for it in ("share", "fine_share") for q in ("median", "p05", "least")]
        ratios = [row["touch"]["geomean"], row["cublas"]["geomean"], row["cublas"]["least"]]
        return [*of_roof, *(f"{ratio:.2f}" for ratio in ratios)]

    rows = [
        [row["rows"], PRODUCTS[row["op"]], TYPES[row["type"]], f"{row['right']} of {row['cases']}", *cells(row)]
        for row in its["summary"]
    ]
    head = ["rows", "product", "type", "right", "of the roof: median", "5th percentile", "least"]
    head += ["by 32 bytes: median", "5th percentile", "least", "touch: geomean", "cuBLAS: geomean", "least"]
    ceilings = its["ceilings"]
    return [
        *table(head, rows, left=["rows", "product", "type"]),
        "",
        f"{its['device']}, driver {its['driver']}, commit {its['commit']}, command `{its['command']}`. Ceilings in the",
        f"same run: {ceilings['read_gbs']:,.0f} GB/s read, {ceilings['scale_gbs']:,.0f} GB/s read and written, "
        f"{ceilings['tensor_gflops'] / 1e3:.1f} TFLOP/s.",
    ]


def block_strides_worst(_: Data, number: str) -> list[str]:
    """Those furthest below the roof."""
    rows = []
    for its in record()["worst"][: int(number)]:
        padding = f"+{its['lda'] - its['m']}, +{its['ldb'] - its['n']}"
        size = [PRODUCTS[its["op"]], TYPES[its["type"]], str(its["m"]), str(its["n"]), padding]
        offsets = f"{its['off_a']}, {its['off_b']}"
        shares = [f"{100 * its[name]:.0f} %" for name in ("share", "fine_share")]
        rows.append([*size, offsets, *shares, f"{its['touch']:.2f}", f"{its['cublas']:.2f}"])
    head = [
        "product",
        "type",
        "M",
        "N",
        "padding of A, B",
        "displaced by",
        "of the roof",
        "by 32 bytes",
        "touch",
        "cuBLAS",
    ]
    return table(head, rows, left=["product", "type", "padding of A, B", "displaced by"])
