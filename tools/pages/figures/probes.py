"""The figures of docs/tsm/probes.md."""

import pathlib

from tools.pages.data import Data
from tools.pages.figures.labels import label_ends, note
from tools.pages.figures.style import COLOURS, Axes, Draw, Figure, Plan, log_axes, plot_style, save
from tools.pages.records.probes import (
    HYPOTHESES,
    best,
    incorrect_series,
    line_series,
    loop_name,
    newest_record,
    of_work,
    port_shares,
    record,
    record_path,
    unique,
)
from tools.repository import Json, newest

DRAWN = ("bandwidth", "latency", "coissue", "tiles", "incorrect")
# Words of so many bytes, and loads of a thread at a time: of ten curves some that can be told apart.
WORDS_AT_A_TIME = ((8, 1), (8, 4), (16, 4), (8, 16), (16, 16))
LOOPS = (("add", "same"), ("add", "neighbours"), ("add", "fresh"))
LOADS = (("lds64", "broadcast"), ("lds64", "spread"), ("lds128", "spread"))
PORTS = ("paper", "read_ports", "write_ports")  # what hypotheses say of loops with loads
KERNELS = {"real": "real", "fake": "fake", "fake_l1": "fake, from L1"}


def draw_bandwidth(fig: Figure, ax: Axes, run: Json) -> None:
    for colour, (word, ilp) in zip(COLOURS, WORDS_AT_A_TIME):
        points = [
            (r["bytes_in_flight_per_sm"], r["gbs"])
            for r in of_work(run)
            if (r["word_bytes"], r["ilp"]) == (word, ilp) and r["warps_per_sm"] and "gbs" in r
        ]
        ax.plot(*zip(*points), color=colour, linewidth=2)
        # Where they begin, because all of them end in the same bandwidth.
        where = {"xytext": (7, 2), "textcoords": "offset points", "va": "top"}
        ax.annotate(f"{ilp} of {word} bytes", points[0], color=colour, **where)
    first = {r["bytes_in_flight_per_sm"]: r["predicted_gbs"] for r in of_work(run) if r["warps_per_sm"]}
    law = sorted(first.items())
    ax.plot(*zip(*law), "k--", linewidth=1.5)
    ax.annotate("Little's law", law[-1], xytext=(0, 5), textcoords="offset points", ha="right")
    log_axes(ax, 2, 10)
    ax.set_ylim(50, 9000)
    bytes_ticks(ax, [x for x, _ in law], 3)
    ax.set_xlabel("bytes in flight of an SM; at the curves: loads of a thread at a time")
    ax.set_ylabel("GB/s")


def bytes_ticks(ax: Axes, values: list[float], step: int) -> None:
    powers = [1 << e for e in range(4, 40, step) if min(values) <= 1 << e <= max(values)]
    names = [f"{p} B" if p < 1 << 10 else f"{p >> 10} KiB" if p < 1 << 20 else f"{p >> 20} MiB" for p in powers]
    ax.set_xticks(powers, names)


def draw_latency(fig: Figure, ax: Axes, run: Json) -> None:
    chains = [r for r in run["results"] if r["part"] == "chain" and "cycles" in r]
    ax.plot([r["bytes"] for r in chains], [r["cycles"] for r in chains], color=COLOURS[0], linewidth=2)
    guessed = [r for r in chains if "predicted_cycles" in r]
    ax.plot([r["bytes"] for r in guessed], [r["predicted_cycles"] for r in guessed], "k_", markersize=14)
    log_axes(ax, 2, 10)
    ax.set_yticks([10, 30, 100, 300, 1000])
    bytes_ticks(ax, [r["bytes"] for r in chains], 6)
    ax.set_xlabel("bytes of the chain")
    ax.set_ylabel("cycles")
    ax.set_title("a step of a chain; bars: predicted")


def draw_lines(fig: Figure, ax: Axes, run: Json) -> None:
    ends = []
    for (memory, pattern), results in line_series(run).items():
        shown = [r for r in results if "cycles" in r]
        lines = [r["lines"] for r in shown]
        colour = COLOURS[len(ends)]
        ax.plot(lines, [r["cycles"] for r in shown], color=colour, linewidth=2)
        ax.plot(lines, [r["predicted_cycles"] for r in shown], "_", color=colour, markersize=14)
        ends.append((lines[-1], shown[-1]["cycles"], f"{'L1' if memory == 'l1' else memory}, {pattern}", colour))
    log_axes(ax, 2, 2)
    ax.set_xlabel("lines that a warp's load touches")
    ax.set_title("cycles of an SM for a load")
    label_ends(fig, ax, ends)


def shares_of(run: Json, kind: str, form: str) -> list[tuple[float, float]]:
    """(others for each FMA, % of the peak)"""
    return sorted(
        (r["others"] / r["fmas"], best(r))
        for r in run["results"]
        if r["kind"] == kind and form in (r.get("lanes"), r["order"]) and r.get("percent") and r["others"]
    )


def draw_coissue(fig: Figure, axes: list[Axes], run: Json) -> None:
    for ax, names, title in zip(axes, (LOOPS, LOADS), ("additions", "loads from shared memory")):
        ends = []
        for kind, form in names:
            points = shares_of(run, kind, form)
            if points:
                colour = COLOURS[len(ends)]
                ax.plot(*zip(*points), "o-", color=colour, markersize=5, linewidth=2)
                ends.append((*points[-1], form if kind == "add" else f"{kind[3:]} bits, {form}", colour))
        most = max((x for x, *_ in ends), default=2)
        steps = [most * i / 8 for i in range(9)]
        ax.plot(steps, [100 / (1 + x / 4) for x in steps], "k--", linewidth=1.5)
        ax.set_ylim(0, 105)
        ax.set_title(title)
        ax.set_xlabel("of them for each DFMA")
        label_ends(fig, ax, [*ends, (most, 100 / (1 + most / 4), "the paper's", "black")])
    axes[0].set_ylabel("% of the FP64 peak")
    note(fig, "the best of 4, 8 and 16 warps; dashed: the paper's hypothesis; moves and other loads: in the table")


def draw_tiles(fig: Figure, ax: Axes, run: Json) -> None:
    """Loops without loads and with loads of 16 bytes; the few others only the table has."""
    shares = port_shares(run)
    loops = {
        (r["type"], r["tile_m"], r["tile_n"], r["kind"]): r
        for r in run["results"]
        if best(r) and r["order"] != "fresh" and r["kind"] in ("none", "lds128")
    }
    tiles = unique(key[:3] for key in loops)
    curves = [
        ("no loads", "none", best, "o-"),
        ("no loads: ports", "none", lambda r: shares.get(loop_name(r)), "d:"),
        ("loads", "lds128", best, "o-"),
        ("loads: ports", "lds128", lambda r: shares.get(loop_name(r)), "d:"),
        *((f"loads: {HYPOTHESES[key]}", "lds128", lambda r, key=key: r["predicted"][key], "x:") for key in PORTS),
    ]
    ends = []
    for colour, (name, kind, value, style) in zip(COLOURS, curves):
        of = {n: value(loops[(*tile, kind)]) for n, tile in enumerate(tiles) if (*tile, kind) in loops}
        points = [(n, y) for n, y in of.items() if y]
        if points:
            ax.plot(*zip(*points), style, color=colour, linewidth=1.5, markersize=6)
            ends.append((*points[-1], name, colour))
    ax.set_ylim(60, 102)
    ax.set_xticks(range(len(tiles)), [f"{m}x{n}" + "\nz" * (type != "double") for type, m, n in tiles])
    ax.set_xlabel("tile; z: double complex")
    ax.set_ylabel("% of the FP64 peak")
    label_ends(fig, ax, ends)
    note(fig, "dots: measured, best of 4, 8, 16 warps; loads of 16 bytes; the others: what hypotheses say", y=-0.1)


def draw_incorrect(fig: Figure, axes: list[Axes], run: Json) -> None:
    """The paper's two tiles of real numbers."""
    series = incorrect_series(run)
    for ax, (type, tile) in zip(axes, unique((type, tile) for type, tile, _ in series if type == "double")):
        ends = []
        for kernel, name in KERNELS.items():
            points = [
                (r["blocks"] * r["block_threads"] / 32 / run["sm_count"], r["gflops"])
                for r in series[type, tile, kernel]
                if "gflops" in r
            ]
            ax.plot(*zip(*points), color=COLOURS[len(ends)], linewidth=2)
            ends.append((*points[-1], name, COLOURS[len(ends)]))
        log_axes(ax, 2, 10)
        if "ceilings" in run:
            peak = run["ceilings"]["dfma_gflops"]
            ax.axhline(peak, color="black", linewidth=1.5)
            ends.append((points[-1][0], peak, "FP64 cores", "black"))
        ax.set_title(f"{type}, {tile}")
        ax.set_xlabel("warps launched for each SM")
        label_ends(fig, ax, ends)
    axes[0].set_ylabel("GFLOP/s that A^T B would have")


PANELS = {"bandwidth": 1, "tiles": 1}  # else 2
TITLES = {
    "bandwidth": "Reading device memory",
    "latency": "Latency, and loads of several lines",
    "coissue": "DFMAs and other instructions",
    "tiles": "A tile's FMAs",
    "incorrect": "Incorrect on purpose",
}


def draw(name: str, run: Json, path: pathlib.Path) -> None:
    plt = plot_style()
    count = PANELS.get(name, 2)
    size, gap = ((7.8, 4.5), 0) if count == 1 else ((9, 4.1), {"latency": 0.3, "coissue": 0.55}.get(name, 0.65))
    fig, axes = plt.subplots(1, count, figsize=size, squeeze=False, gridspec_kw={"wspace": gap})
    first, last = axes[0][0], axes[0][-1]
    if name == "latency":
        draw_latency(fig, first, run)
        draw_lines(fig, last, run)
    else:
        function = {"bandwidth": draw_bandwidth, "tiles": draw_tiles, "coissue": draw_coissue}.get(name, draw_incorrect)
        function(fig, first if count == 1 else list(axes[0]), run)
    fig.suptitle(TITLES[name] + f" ({run['device']})", y=1.0)
    save(plt, fig, path)


def plan(data: Data) -> Plan:
    def function(name: str) -> Draw:
        return lambda data, path: draw(name, newest_record(name), path)

    return {f"probe_{name}.svg": ([newest(record_path(name))], function(name)) for name in DRAWN if record(name)}
