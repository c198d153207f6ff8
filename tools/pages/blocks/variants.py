"""A stage and its variants."""

from tools.pages.data import Data, NotMeasured, shape_of, short_shape
from tools.pages.records.launches import product_launch, shared_bytes
from tools.tables import table


def block_variants(data: Data, stage: str) -> list[str]:
    """A stage and its variants at the shapes of their run, and how they compare at other sizes."""
    wanted = data.stage(stage)
    found = [r for r in data.variants["results"] if r["stage"].split(":")[0] == wanted] if data.variants else []
    if not found:
        raise NotMeasured("")
    shapes = list(dict.fromkeys(shape_of(r["problem"]) for r in found))
    rows = []
    for shape in shapes:
        at_shape = {r["stage"]: r for r in found if shape_of(r["problem"]) == shape}
        itself = at_shape.get(wanted, {})
        for i, r in at_shape.items():
            name = i.partition(":")[2]
            row = [
                f"`{name}`" if name else f"*{i.split('/')[1]}*",
                r.get("idea", "") if name else data.idea(wanted),
                short_shape(shape),
            ]
            if "time_ms" not in r:
                rows.append(row + [r["reason"] or r["status"], "", "", "", "", ""])
                continue
            launch = product_launch(r)
            rows.append(
                row
                + [
                    f"{r['time_ms']['median']:.4g}",
                    f"{r['gflops']:,.0f}",
                    f"{r['gflops'] / itself['gflops']:.2f}" if "gflops" in itself else "-",
                    str(launch["registers"]),
                    str(shared_bytes(launch)),
                    str(launch["local_bytes"]),
                ]
            )
    head = [
        "variant",
        "idea",
        "shape",
        "ms",
        "GFLOP/s",
        "to the stage",
        "registers",
        "shared memory, bytes",
        "bytes spilled",
    ]
    if len(shapes) == 1:
        head.remove("shape")
        rows = [row[:2] + row[3:] for row in rows]
    run = data.variants
    return (
        table(head, rows)
        + [
            "",
            (f"M = N = K = {short_shape(shapes[0])}; " if len(shapes) == 1 else "")
            + f"{run['device']}, commit {run['commit']}, command `{run['command']}`.",
        ]
        + other_sizes(data, stage, wanted)
    )


def gain(speeds: dict[tuple[str, str], float], name: str, shape: str) -> str:
    """Of a variant to its stage."""
    return f"{speeds[name, shape] / speeds['', shape]:.2f}" if {(name, shape), ("", shape)} <= set(speeds) else "-"


def other_sizes(data: Data, stage: str, wanted: str) -> list[str]:
    """For each further run of the variants a table of their speeds, of their stage's."""
    lines = []
    for run in data.more_variants:
        speeds = {
            (r["stage"].partition(":")[2], shape_of(r["problem"])): r["gflops"]
            for r in run["results"]
            if r["stage"].split(":")[0] == wanted and "time_ms" in r
        }
        shapes = list(dict.fromkeys(shape for _, shape in speeds))
        names = list(
            dict.fromkeys(r["stage"].partition(":")[2] for r in run["results"] if r["stage"].startswith(f"{wanted}:"))
        )

        if shapes and names:
            lines += [
                "",
                *table(
                    ["speed, of the stage's", *map(short_shape, shapes)],
                    [[f"`{name}`", *(gain(speeds, name, shape) for shape in shapes)] for name in names],
                ),
                "",
                f"A further run of the variants, commit {run['commit']}.",
            ]
    return lines
