"""The search of stage 16."""

from tools.pages.data import Data, NotMeasured
from tools.pages.records.tuning import timed_points, tuned_shape
from tools.tables import table, tflops


def block_funnel(data: Data) -> list[str]:
    """How many points of the search were left after each pruning."""
    funnel = data.tuning["funnel"] if data.tuning else []
    if not funnel:
        raise NotMeasured("")
    return table(
        ["points", "left", "of those before"],
        [
            [why, f"{count:,}", f"{100 * count / before:.3g} %" if before else ""]
            for (why, count), before in zip(funnel, [0, *(count for _, count in funnel)])
        ],
    )


def block_tuning(data: Data, most: str = "12") -> list[str]:
    """The best points of the search, and the stage's own."""
    points, sizes = timed_points(data)
    rows, own = [], tuned_shape(data)
    for place, p in enumerate(points, 1):
        if place > int(most) and p["shape"] != own:
            continue
        tile_m, tile_n, tile_k, warp_m, warp_n, lanes_m, quads, stages, group, blocks = p["shape"]
        cells = [
            str(place),
            f"{tile_m} x {tile_n} x {tile_k}",
            f"{warp_m} x {warp_n}",
            f"{warp_m // lanes_m} x {warp_n * lanes_m // 32}",
            str(blocks),
            str(stages),
            str(quads),
            str(group),
            str(p["registers"]),
            f"{p['slots_per_fma']:.3f}",
            tflops(p["model_gflops"]),
        ]
        for size in sizes:
            cells += [tflops(p["timed"][size]["gflops"]), f"{p['timed'][size]['pct_cublas'] / 100:.3f}"]
        rows.append([f"**{cell}**" for cell in cells] if p["shape"] == own else cells)
    run = data.tuning["run"]
    head = ["", "block", "warp", "thread", "blocks", "stages", "quads", "group", "registers", "slots/FMA", "model"]
    return table(head + [text for size in sizes for text in (f"{size}", "ratio")], rows) + [
        "",
        f"TFLOP/s, and ratios to cuBLAS timed alternately, by which the points are sorted at {sizes[0]}; in bold what "
        f"the stage has. {len(points)} points "
        f"timed; {run['device']}, driver {run['driver']}, cuBLAS {run['cublas']}, commit {run['commit']}.",
    ]
