"""The plots of docs/sources.md: the experiments of SGEMM's sources."""

import pathlib

from tools.experiments import sgemm, sgemm_tables
from tools.experiments.sgemm_view import View
from tools.pages.data import Data
from tools.pages.figures.labels import label_ends, note
from tools.pages.figures.style import COLOURS, Axes, Draw, Figure, Plan, log_axes, plot_style, save, short
from tools.pages.records.experiments import drawn
from tools.repository import Json, read_json

# Nine curves are one too many; the table has it.
LEFT_OUT = {"pa2-peak": "10:8x16_64x64x64"}


def points_of(view: View, stage: str) -> list[tuple[int, float]]:
    return [(size, view.gflops(stage, size)) for size in view.sizes if view.gflops(stage, size)]


def draw_speeds(fig: Figure, ax: Axes, record: Json) -> None:
    view, experiment = View(record), sgemm.EXPERIMENTS[record["experiment"]]
    left_out = LEFT_OUT.get(record["experiment"])
    curves = {sgemm.label(stage): points_of(view, stage) for stage in view.stages if stage != left_out}
    # What a stage adds to the name of the source's kernel is ours: which way lanes walk, for one.
    theirs = {
        f"the report's {sgemm.label(stage).split(',')[0]}": list(found.items())
        for stage, found in experiment.theirs.items()
    }
    if experiment.kind in ("blocks", "peaks"):
        theirs["the report's peaks"] = [(size, speed) for size, (speed, _) in sgemm.PEAKS.items()]
    ends = []
    for colour, (name, points) in zip(COLOURS, curves.items()):
        ax.plot(*zip(*points), "o-", color=colour, markersize=5, linewidth=1.8)
        ends.append((*points[-1], name, colour))
    for name, points in theirs.items():
        ax.plot(*zip(*points), "s--", color="black", markersize=5, linewidth=1.5)
        ends.append((*points[-1], name, "black"))
    log_axes(ax, 2, 10)
    ax.set_xticks(view.sizes, [str(size) for size in view.sizes])
    ax.set_xlabel("M = N = K")
    ax.set_ylabel("GFLOP/s")
    if left_out in view.stages:
        note(fig, f"not drawn, in the table: {sgemm.label(left_out)}")
    label_ends(fig, ax, ends)


def draw_dips(fig: Figure, axes: list[Axes], record: Json) -> None:
    """The GPU above, the CPU below, both from zero, so that dips have the height of their share."""
    view = View(record)
    curves = {sgemm.label(sgemm.BEST): points_of(view, sgemm.BEST)}
    library = [(size, view.found[sgemm.BEST, size].get("cublas_gflops")) for size in view.sizes]
    if all(speed for _, speed in library):
        curves["cuBLAS"] = library
    blas = sgemm_tables.blas_speeds(record)
    on_cpu = {f"OpenBLAS, {sgemm_tables.threads_of(record['blas'])}": list(blas.items())} if blas else {}
    colours = iter(COLOURS)
    for ax, panel in zip(axes, (curves, on_cpu)):
        ends = []
        for name, points in panel.items():
            colour = next(colours)
            ax.plot(*zip(*points), ".-", color=colour, linewidth=1.5)
            ends.append((*points[-1], name, colour))
        for size in view.sizes:
            if size % 128 == 0:
                ax.axvline(size, color="lightgrey", linewidth=0.8, zorder=0)
        ax.set_ylim(0, 1.1 * ax.get_ylim()[1])
        ax.yaxis.set_major_formatter(lambda value, _: short(value))
        ax.set_ylabel("GFLOP/s")
        label_ends(fig, ax, ends)
    axes[-1].set_xlabel("M = N = K (grey: multiples of 128)")


def draw_roofline(fig: Figure, ax: Axes, record: Json) -> None:
    lowest, highest, ends = 1, 1024, []
    roofs = sgemm_tables.roofs(record)
    for n, (name, bandwidth, achieved, peak) in enumerate(roofs):
        colour, ridge = COLOURS[n % len(COLOURS)], peak / bandwidth
        ax.plot([lowest, ridge, highest], [lowest * bandwidth, peak, peak], color=colour, linewidth=2)
        ax.plot([achieved / bandwidth], [achieved], marker="x", color=colour, markersize=8, markeredgewidth=2)
        ax.plot([sgemm_tables.tile_intensity()], [achieved], marker="o", color=colour, markersize=8)
        ends.append((highest, peak, f"{name}: {bandwidth:.0f} GB/s", colour))
    log_axes(ax, 2, 10)
    ax.set_xlabel("flop per byte")
    ax.set_ylabel("GFLOP/s")
    note(fig, "achieved: x at the report's q, dots at the tiles' intensity")
    label_ends(fig, ax, ends)


def draw_kernels(fig: Figure, axes: list[Axes], record: Json) -> None:
    """The kernels at 8192, and kernel 8 beside cuBLAS at all sizes."""
    ax, view = axes[0], View(record)
    stages = [s for s in sgemm.KERNELS if view.gflops(s, 8192)]
    ours = [(n, view.gflops(stage, 8192)) for n, stage in enumerate(stages)]
    theirs = [(n, sgemm.KERNELS[stage][2]) for n, stage in enumerate(stages) if sgemm.KERNELS[stage][2]]
    curves = ((ours, record["device"].removeprefix("NVIDIA "), COLOURS[0]), (theirs, "GTX 1070, theirs", "black"))
    for points, _, colour in curves:
        ax.plot(*zip(*points), "o-", color=colour, markersize=6, linewidth=2)
    log_axes(ax, y=10)
    names = [stage.replace(":", " ").replace("_", " ") for stage in stages]
    ax.set_xticks(range(len(stages)), names, rotation=90)
    ax.set_xlabel("stage (kernels 1 to 8)")
    ax.set_ylabel("GFLOP/s at 8192")
    label_ends(fig, ax, [(*points[-1], name, colour) for points, name, colour in curves])
    ends = []
    for stage, colour in zip((sgemm.PADDED, sgemm.PRODUCT, sgemm.GUARDED), COLOURS):
        timed = {size: view.found[stage, size] for size in view.sizes if (stage, size) in view.found}
        points = [(n, 100 * r["gflops"] / r["cublas_gflops"]) for n, r in timed.items() if r.get("cublas_gflops")]
        if points:
            axes[1].plot(*zip(*points), "o-", color=colour, markersize=4, linewidth=1.8)
            ends.append((*points[-1], stage, colour))
    points = [(n, 100 * speed / sgemm.PASCAL_CUBLAS[n]) for n, speed in sgemm.KERNEL_8.items()]
    axes[1].plot(*zip(*points), "s--", color="black", markersize=4, linewidth=1.5)
    axes[1].set_xticks([2048, 4096, 6144, 8192])
    axes[1].set_xlabel("M = N = K")
    axes[1].set_ylabel("% of cuBLAS")
    axes[1].set_ylim(0, 100)
    label_ends(fig, axes[1], [*ends, (*points[-1], "kernel 8, theirs", "black")])


def draw_requests(fig: Figure, ax: Axes, record: Json) -> None:
    names = [sgemm.REQUESTS[r["stage"]][0] for r in record["results"]]
    lanes = [r["shared_load_lanes"] for r in record["results"]]
    ax.bar(range(len(names)), lanes, 0.6, color="#8fc1e8")
    for n, r in enumerate(record["results"]):
        said = f"{lanes[n]:,} of work-items,\n{r['shared_load_requests']:,} of warps"
        ax.text(n, lanes[n], said, ha="center", va="bottom")
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


SHAPES = {"requests": (9.6, 4.3), "kernels": (9.4, 3.4), "dips": (7, 4.6)}  # inches; else (7, 4.3)
PANELS = {  # of those that have two
    "kernels": {"ncols": 2, "gridspec_kw": {"wspace": 1.1, "width_ratios": (3, 2)}},
    "dips": {"nrows": 2, "sharex": True, "gridspec_kw": {"hspace": 0.12, "height_ratios": (3, 2)}},
}


def draw(name: str, source: pathlib.Path, path: pathlib.Path) -> None:
    record, kind = read_json(source), sgemm.EXPERIMENTS[name].kind
    plt = plot_style()
    fig, axes = plt.subplots(figsize=SHAPES.get(kind, (7, 4.3)), **PANELS.get(kind, {}))
    DRAW[kind](fig, axes, record)
    space = " " if len(record["title"] + record["device"]) < 75 else "\n"
    fig.suptitle(f"{record['title']}{space}({record['device']})", y=1.0)
    save(plt, fig, path)


def plan(data: Data) -> Plan:
    def function(name: str, source: pathlib.Path) -> Draw:
        return lambda data, path: draw(name, source, path)

    return {
        f"source_{name}.svg": ([path, pathlib.Path(sgemm.__file__)], function(name, path))
        for name, path in drawn().items()
    }
