"""Cholesky QR 2 (./lab measure qr)."""

from tools.pages.blocks.strides import TYPES
from tools.pages.data import Data, NotMeasured
from tools.repository import GPU, SINCE, Json, read_json_if_there
from tools.tables import table


def block_qr(_: Data) -> list[str]:
    """How far it gets, and what else there is takes, by the same data."""
    if not (found := read_json_if_there(SINCE / "qr.json") or read_json_if_there(GPU / "qr.json")):
        raise NotMeasured("")

    def cells(its: Json) -> list[str]:
        best, *others = (each["ms"] for each in its["of"])
        times = [*others, its["cusolver_ms"]] if others else [None] * 2 + [its["cusolver_ms"]]
        factors = [f"{ms / best:.1f}" if ms else "" for ms in times]
        shares = [f"{100 * its[name]:.0f} %" for name in ("share", "share_unfused")]
        errors = [f"{max(each[name] for each in its['of']):.0e}" for name in ("deviation", "residual")]
        return [TYPES[its["type"]], str(its["n"]), *shares, *factors, *errors, f"{its['few_rows_us']:.0f}"]

    head = ["type", "n", "of four passes", "of five", "shifted", "Householder", "cuSOLVER", "QᴴQ - I", "X - QR"]
    head += ["20,000 rows, µs"]
    read, both = (found["ceilings"][name] for name in ("read_gbs", "read_and_write_gbs"))
    return [
        *table(head, [cells(its) for its in found["cases"] if its["ld"] == its["n"]], left=["type"]),
        "",
        f"{found['device']}, driver {found['driver']}, commit {found['commit']}, command `{found['command']}`.",
        f"In the same run: {read:,.0f} GB/s read, {both:,.0f} GB/s read and written.",
    ]
