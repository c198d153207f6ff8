"""Cholesky QR 2 of the installed library (tests/libraries/time_qr.cu): as a share of the least time for its bytes,
beside cuSOLVER's geqrf and orgqr, and what the other methods take where it gives up.

usage: ./lab measure qr --out FILE [--build DIR] [--mib 1024]

Needs a GPU, nvcc and CMake. MIB: of X. `share` is of the time for X's bytes read three times and written once, at the
bandwidths measured beside it; `share_unfused` of that for five passes: one to read X, and two to read and write it.
"""

from tools.measure.library import Library, measure_cases
from tools.repository import Json

LARGEST_ERROR = 1e-13


class Qr(Library):
    SOURCE = "time_qr"
    TARGETS = ("staged_gemm",)
    LIBRARIES = ("-lcusolver",)


def judged(line: Json, ceilings: Json) -> Json:
    """With the shares, for X's bytes without padding, and whether all three methods were right and as expected."""
    gb = 8e-9 * line["k"] * line["n"] * (2 if line["type"] == "z" else 1)
    read, both = (1e3 * gb / ceilings["read_gbs"], 2e3 * gb / ceilings["read_and_write_gbs"])
    best = line["of"][0]
    right = best["method"] == 2 and all(
        its["deviation"] <= LARGEST_ERROR and its["residual"] <= LARGEST_ERROR for its in line["of"]
    )
    shares = {"share": (2 * read + both) / best["ms"], "share_unfused": (read + 2 * both) / best["ms"]}
    return line | {name: round(share, 3) for name, share in shares.items()} | {"right": right}


def main(arguments: list[str] | None = None) -> None:
    measure_cases("qr", __doc__, Qr, judged, arguments)
