"""Products of lists of blocks by the installed library (tests/libraries/time_lists.cu): [X R P]^H [X R P], the same
with another list on the right, and [X R P] C. Beside them products of pairs of blocks, and of one matrix that has all
columns, also by cuBLAS.

usage: ./lab measure lists --out FILE [--build DIR] [--mib 1024]

Needs a GPU, nvcc and CMake. MIB: of three blocks. `share` is of the time in which each block is read once, and a tall
result is written, at the bandwidths measured beside it.
"""

from tools.measure.library import Library, measure_cases
from tools.repository import Json

BLOCKS = 3
LARGEST_DIFFERENCE = 1e-12  # of sums in another order, relative


class Lists(Library):
    SOURCE = "time_lists"
    TARGETS = ("staged_gemm",)


def judged(line: Json, ceilings: Json) -> Json:
    """With the share, and whether the product was right."""
    gb = 8e-9 * line["k"] * line["n"] * (2 if line["type"] == "z" else 1)  # of a block
    read = {"gram": BLOCKS, "tsmttsm": 2 * BLOCKS, "tsmm": 0}[line["op"]]
    moved = BLOCKS + 1 if line["op"] == "tsmm" else 0
    least_ms = 1e3 * gb * (read / ceilings["read_gbs"] + moved / ceilings["read_and_write_gbs"])
    return line | {"share": round(least_ms / line["ms"], 3), "right": line["difference"] <= LARGEST_DIFFERENCE}


def main(arguments: list[str] | None = None) -> None:
    measure_cases("lists", __doc__, Lists, judged, arguments)
