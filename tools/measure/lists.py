"""Products of lists of blocks by the installed library (tests/libraries/time_lists.cu): [X R P]^H [X R P], the same
with another list on the right, and [X R P] C. Beside them products of pairs of blocks, and of one matrix that has all
columns, also by cuBLAS.

usage: ./lab measure lists --out FILE [--build DIR] [--mib 1024]

Needs a GPU, nvcc and CMake. MIB: of three blocks. `share` is of the time in which each block is read once, and a tall
result is written, at the bandwidths measured beside it.
"""

import json
import pathlib

from tools.command_line import fail, parser_of
from tools.measure.card import card
from tools.measure.library import Library, run, write_cases
from tools.repository import GPU, ROOT, Json, commit_of_tree

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
    parser = parser_of("./lab measure lists", __doc__)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/library")
    parser.add_argument("--mib", type=float, default=1024)
    options = parser.parse_args(arguments)
    if options.mib < 16:
        fail("--mib: at least 16")
    device, driver = card()
    library = Lists(options.build.absolute())
    ceilings, *lines = map(json.loads, run(library.program, int(options.mib * 2**20)).splitlines())
    head = {"device": device, "driver": driver, "commit": commit_of_tree(GPU / "lists.json")}
    head |= {"command": f"measure lists --mib {options.mib:g}", "ceilings": ceilings}
    write_cases(options.out, head, [judged(line, ceilings) for line in lines])
