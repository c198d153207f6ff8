"""Cholesky QR 2 (./lab measure qr), and an eigensolver (./lab measure lobpcg)."""

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


def block_lobpcg(_: Data) -> list[str]:
    """An iteration's time with our products and with cuBLAS's."""
    if not (found := read_json_if_there(SINCE / "lobpcg.json") or read_json_if_there(GPU / "lobpcg.json")):
        raise NotMeasured("")
    gb = found["gb_an_iteration"]
    rows = [
        [
            its["products"],
            f"{its['ms']:.1f}",
            f"{its['host_ms']:.1f}",
            f"{gb / its['ms']:.2f}",
            f"{its['not_orthonormal']:.0e}",
        ]
        for its in found["runs"]
    ]
    ours, theirs = (its["ms"] for its in found["runs"])
    return [
        *table(["products by", "ms an iteration", "of it on the host", "TB/s", "XᵀX - I"], rows, left=["products by"]),
        "",
        f"{found['rows']:,} rows, {gb:.1f} GB an iteration at least. Eigenvalues differ by "
        f"{found['values_differ']:.0e}. "
        f"cuBLAS takes {theirs / ours:.2f} times as long.",
        f"{found['device']}, driver {found['driver']}, commit {found['commit']}.",
    ]
