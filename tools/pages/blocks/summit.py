"""What stage 18's cost model knows and chooses."""

from tools.pages import summit_model
from tools.pages.data import CUBES, SKEWED, Data, NotMeasured, full_shape
from tools.tables import table, tflops


def block_costs(data: Data) -> list[str]:
    """What the summit's cost model knows of its tiles, from its source."""
    model = summit_model.Model()
    rows = []
    for name, shape in model.shapes.items():
        flops = 2 * shape["m"] * shape["n"] * shape["k"] * summit_model.SMS
        rows.append(
            [
                name,
                f"{shape['m']} x {shape['n']}",
                " / ".join(f"{t:g}" for t in shape["round"][: shape["blocks"]]),
                " / ".join(f"{flops * (b + 1) / t / 1e6:.1f}" for b, t in enumerate(shape["round"][: shape["blocks"]])),
                f"{shape['tile']:g}" + (f", {shape['tile'] + shape['part']:g} if shared" if shape["part"] else ""),
                f"{shape['ragged']:g}",
                f"{shape['words']:g}",
                f"{shape['packed']:g}" if shape["packed"] else "-",
            ]
        )
    return table(
        [
            "tile",
            "of C",
            "a round, 1, 2 ... blocks an SM, us",
            "TFLOP/s in rounds",
            "beside its rounds, us",
            "times as long: ragged",
            "words",
            "packed",
        ],
        rows,
    ) + [
        "",
        f"Each launch {model.launch:g} us; parts {model.part_bytes / 1e6:g} TB/s, written or read by all SMs, "
        f"{model.add_bytes / 1e6:g} TB/s by one "
        f"block; packing {model.pack_bytes / 1e6:g} TB/s, read and written. From `stages/summit/model.hpp`.",
    ]


def block_choices(data: Data, stage: str) -> list[str]:
    """What the summit's cost model chooses for the shapes that it is judged by, and how well it foretells the time."""
    model = summit_model.Model()
    rows = []
    for shape in CUBES + SKEWED:
        m, n, k = map(int, full_shape(shape).split("x"))
        plan = model.choose(m, n, k)
        tile, sharing, rate = model.shapes[plan["tile"]], ["-"] * 4, 2e-6 * m * n * k
        if plan["workers"]:
            rounds = str(plan["each"]) + (f" to {plan['each'] + 1}" if plan["extra"] else "")
            sharing = [str(plan["shared"]), str(plan["workers"]), rounds, f"{model.reduction(plan):.1f}"]
        large = max(model.shapes, key=lambda name: model.shapes[name]["m"])
        alone = model.shapes[large]["words" if (n | k) % 4 else "ragged"] if (n | k) % 32 else 1.0
        plain = model.estimate(model.share(large, m, n, k, model.tiles(large, m, n), 0), alone)
        try:
            measured = tflops(data.result(stage, shape)["gflops"])
        except NotMeasured:
            measured = "not measured"
        rows.append(
            [
                shape,
                f"{tile['m']} x {tile['n']}, " + ("fours" if plan["way"] == "ragged" else plan["way"]),
                str(plan["tiles"] - plan["shared"] or "-"),
                *sharing,
                f"{plan['packing']:.1f}" if plan["packing"] else "-",
                tflops(1e3 * rate / plain),
                tflops(1e3 * rate / plan["time"]),
                measured,
            ]
        )
    head = [
        "M = N = K, or M x N x K",
        "tile and way",
        "whole tiles",
        "shared",
        "workers",
        "rounds each",
        "adding up, us",
        "packing, us",
        "large tiles, none shared, TFLOP/s",
        "as chosen",
        "measured",
    ]
    return table(head, rows)
