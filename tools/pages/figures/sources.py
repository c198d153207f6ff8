"""The plots of docs/sources.md: the experiments of SGEMM's sources."""

import pathlib
from typing import Any

from tools.experiments import sgemm, sgemm_tables
from tools.pages.data import Data
from tools.pages.figures.style import Axes, Draw, Plan, beside, plot_style, save
from tools.pages.records.experiments import drawn
from tools.repository import Json, read_json


def curve(ax: Axes, view: sgemm_tables.View, stage: str, **style: Any) -> None:
    points = [(size, view.gflops(stage, size)) for size in view.sizes if view.gflops(stage, size)]
    ax.plot(*zip(*points), markersize=4, label=sgemm.label(stage), **{"marker": "o", **style})


def sizes_axis(ax: Axes, sizes: list[sgemm_tables.Size]) -> None:
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    ax.set_xticks(sizes, [str(s) for s in sizes])
    ax.set_xlabel("M = N = K")
    ax.set_ylabel("GFLOP/s")


def draw_speeds(ax: Axes, record: Json) -> None:
    view, experiment = sgemm_tables.View(record), sgemm.EXPERIMENTS[record["experiment"]]
    for stage in view.stages:
        curve(ax, view, stage)
    theirs = {f"the source's {sgemm.label(stage)}": found for stage, found in experiment.theirs.items()}
    if experiment.kind in ("blocks", "peaks"):
        theirs["the report's peaks"] = {size: speed for size, (speed, _) in sgemm.PEAKS.items()}
    for name, found in theirs.items():
        ax.plot(list(found), list(found.values()), marker="s", markersize=4, linestyle="--", color="grey", label=name)
    sizes_axis(ax, view.sizes)
    beside(ax)


def draw_dips(ax: Axes, record: Json) -> None:
    view = sgemm_tables.View(record)
    curve(ax, view, sgemm.BEST, marker=".")
    points = [(size, view.found[sgemm.BEST, size].get("cublas_gflops")) for size in view.sizes]
    if all(speed for _, speed in points):
        ax.plot(*zip(*points), marker=".", color="black", linestyle="--", label="cuBLAS")
    blas = sgemm_tables.blas_speeds(record)
    if blas:
        ax.plot(
            list(blas),
            list(blas.values()),
            marker=".",
            color="darkorange",
            label=f"OpenBLAS, {record['blas']['threads']} CPU threads",
        )
    for size in view.sizes:
        if size % 128 == 0:
            ax.axvline(size, color="lightgrey", linewidth=0.8, zorder=0)
    ax.set_yscale("log")
    ax.set_xlabel("M = N = K (grey: multiples of 128)")
    ax.set_ylabel("GFLOP/s")
    beside(ax)


def draw_roofline(ax: Axes, record: Json) -> None:
    lowest, highest = 1, 1024
    for n, (name, bandwidth, achieved, peak) in enumerate(sgemm_tables.roofs(record)):
        colour = ("tab:blue", "tab:cyan", "dimgrey", "darkgrey")[n % 4]
        ax.plot(
            [lowest, peak / bandwidth, highest],
            [lowest * bandwidth, peak, peak],
            color=colour,
            label=f"{name}: {bandwidth:.0f} GB/s",
        )
        ax.plot([achieved / bandwidth], [achieved], marker="x", color=colour, linestyle="none")
        ax.plot([sgemm_tables.tile_intensity()], [achieved], marker="o", color=colour, linestyle="none")
    ax.plot([], [], marker="x", color="black", linestyle="none", label="achieved, at the report's q")
    ax.plot([], [], marker="o", color="black", linestyle="none", label="achieved, at the tiles' intensity")
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    ax.set_xlabel("flop per byte")
    ax.set_ylabel("GFLOP/s")
    beside(ax)


def draw_kernels(ax: Axes, record: Json) -> None:
    view = sgemm_tables.View(record)
    stages = [s for s in sgemm.KERNELS if view.gflops(s, 8192)]
    names = {s: s.replace(":", "\n") for s in stages}
    ax.plot(list(names.values()), [view.gflops(s, 8192) for s in stages], marker="o", label=record["device"])
    theirs = {names[s]: sgemm.KERNELS[s][2] for s in stages if sgemm.KERNELS[s][2]}
    ax.plot(
        list(theirs),
        list(theirs.values()),
        marker="s",
        linestyle="--",
        color="grey",
        label="GTX 1070, the case study's",
    )
    ax.set_yscale("log")
    ax.tick_params(axis="x", labelsize=7, labelrotation=45)
    ax.set_xlabel("stage (kernels 1 to 8)")
    ax.set_ylabel("GFLOP/s at 8192")
    beside(ax)


def draw_requests(ax: Axes, record: Json) -> None:
    names = [sgemm.REQUESTS[r["stage"]][0] for r in record["results"]]
    lanes = [r["shared_load_lanes"] for r in record["results"]]
    ax.bar(range(len(names)), lanes, 0.6, color="steelblue")
    for n, r in enumerate(record["results"]):
        ax.text(
            n,
            lanes[n],
            f"{lanes[n]:,} of work-items,\n{r['shared_load_requests']:,} of warps",
            ha="center",
            va="bottom",
            fontsize=8,
        )
    ax.set_xticks(range(len(names)), names)
    ax.set_ylim(0, 1.2 * max(lanes))
    ax.set_ylabel("requests to shared memory")
    ax.grid(axis="x", visible=False)


DRAW = {
    "speeds": draw_speeds,
    "blocks": draw_speeds,
    "peaks": draw_speeds,
    "dips": draw_dips,
    "roofline": draw_roofline,
    "kernels": draw_kernels,
    "requests": draw_requests,
}


def draw(name: str, source: pathlib.Path, path: pathlib.Path) -> None:
    record = read_json(source)
    plt = plot_style()
    fig, ax = plt.subplots(figsize=(8, 4.4))
    DRAW[sgemm.EXPERIMENTS[name].kind](ax, record)
    ax.set_title(f"{record['title']} ({record['device']})", fontsize=10)
    save(plt, fig, path)


def plan(data: Data) -> Plan:
    def function(name: str, source: pathlib.Path) -> Draw:
        return lambda data, path: draw(name, source, path)

    return {
        f"source_{name}.svg": ([path, pathlib.Path(sgemm.__file__)], function(name, path))
        for name, path in drawn().items()
    }
