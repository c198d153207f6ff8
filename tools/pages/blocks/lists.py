"""Products of lists of blocks (./lab measure lists)."""

from tools.pages.blocks.strides import TYPES
from tools.pages.data import Data, NotMeasured
from tools.repository import GPU, SINCE, Json, read_json_if_there
from tools.tables import table

SHOWN = (1, 4, 8, 16, 20)  # columns of a block
PRODUCTS = {"gram": "[X R P]ᴴ [X R P]", "tsmttsm": "[X R P]ᴴ [U V W]", "tsmm": "[X R P] C"}


def block_lists(_: Data) -> list[str]:
    """How near to the least time a list comes, and how long others take for the same, of blocks without padding."""
    if not (found := read_json_if_there(SINCE / "lists.json") or read_json_if_there(GPU / "lists.json")):
        raise NotMeasured("")

    def cells(its: Json) -> list[str]:
        others = [f"{its[name] / its['ms']:.2f}" for name in ("pairs_ms", "whole_ms", "cublas_whole_ms")]
        return [PRODUCTS[its["op"]], TYPES[its["type"]], str(its["n"]), f"{100 * its['share']:.0f} %", *others]

    head = ["product", "type", "columns of a block", "of the roof", "pair by pair", "one matrix", "one matrix, cuBLAS"]
    read, both = (found["ceilings"][name] for name in ("read_gbs", "read_and_write_gbs"))
    order = {product: number for number, product in enumerate(PRODUCTS)}
    shown = [its for its in found["cases"] if its["gap"] == 0 and its["n"] in SHOWN]
    cases = sorted(shown, key=lambda its: order[its["op"]])
    return [
        *table(head, [cells(its) for its in cases], left=["product", "type"]),
        "",
        f"{found['device']}, driver {found['driver']}, commit {found['commit']}, command `{found['command']}`.",
        f"In the same run: {read:,.0f} GB/s read, {both:,.0f} GB/s read and written.",
    ]
