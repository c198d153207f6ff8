"""The plots of docs/tsm/experiments.md, E2 to E14."""

import pathlib
import statistics
from typing import Any

from tools.experiments import tsm, tsm_tables
from tools.experiments.tsm_cases import SPLIT_K, TYPES, register_line
from tools.experiments.tsm_tables import View
from tools.pages.data import Data
from tools.pages.figures.labels import label_ends, note
from tools.pages.figures.style import COLOURS, LANES, Draw, Figure, Plan, Pyplot, log_axes, plot_style, save
from tools.pages.records.experiments import gpu_file
from tools.repository import Json, read_json

# Of more than four series two types have more than eight curves; these only the tables have. The paper's figure of E12
# has all five in double.
LEFT_OUT = {("E12", "z"): ("1", "2"), ("E13", "d"): ("tsm/12",), ("E13", "z"): ("tsm/12",)}
REDUCTION_SIZES = ((4, 4), (64, 64))  # of five; the tables have all of them
SIDE_BY_SIDE = {"figsize": (9, 4), "sharey": True, "squeeze": False}
BANDS = (0, 60, 70, 80, 90, 100)  # % of the roofline


def square_curve(view: View, series: str, kind: str, key: str) -> list[tuple[Any, ...]]:
    points = [(m, r[key]) for m, n in view.sizes if m == n and (r := view.at(series, kind, m, n)) and key in r]
    return list(zip(*points)) or [(), ()]


def draw_shares(plt: Pyplot, record: Json) -> Figure:
    """% of the roofline against M = N: a panel for each type, a line for each series or value of an option."""
    view, name = tsm_tables.View(record), record["experiment"]
    fig, axes = plt.subplots(
        1, len(view.types), figsize=(9, 4), sharey=True, squeeze=False, gridspec_kw={"wspace": 0.5}
    )
    left_out = {kind: [s for s in LEFT_OUT.get((name, kind), ()) if s in view.series] for kind in view.types}
    ends = {}
    for ax, kind in zip(axes[0], view.types):
        ends[kind] = []
        for colour, series in zip(COLOURS, view.series):
            widths, shares = square_curve(view, series, kind, "pct_roofline")
            if widths and series not in left_out[kind]:
                ax.plot(widths, shares, color=colour, linewidth=1.8)
                ends[kind].append((widths[-1], shares[-1], SHORT.get(series, series), colour))
        ax.axhline(100, color="black", linewidth=1)
        ax.set_title(TYPES[kind])
        ax.set_xlabel("M = N")
        ax.set_xticks(range(0, 65, 16))
    axes[0, 0].set_ylim(bottom=0)
    axes[0, 0].set_ylabel("% of the roofline, plain FP64 cores")
    for ax, kind in zip(axes[0], view.types):
        label_ends(fig, ax, ends[kind])
    legend = tsm.EXPERIMENTS[name].legend
    said = [f"at the lines' ends: {legend}"] if legend else []
    of_kinds = {", ".join(series): kind for kind, series in left_out.items() if series}
    for series, kind in of_kinds.items():
        where = "" if len(of_kinds) < sum(map(bool, left_out.values())) else f" in {TYPES[kind]}"
        said.append(f"not drawn, in the table: {series}{where}")
    if said:
        note(fig, "; ".join(said))
    return fig


# What stands at the lines of series with long names.
SHORT = {
    "leapfrog on, transposed on": "both",
    "leapfrog on, transposed off": "leapfrog",
    "leapfrog off, transposed on": "transposed",
    "leapfrog off, transposed off": "neither",
    SPLIT_K: "tsm/02",
}


def draw_tiles(plt: Pyplot, record: Json) -> Figure:
    """A heat map over TM and TN for each type, with the lines of 128 and 255 registers."""
    view = tsm_tables.View(record)
    fig, axes = plt.subplots(1, len(view.types), figsize=(9.4, 4), squeeze=False, gridspec_kw={"wspace": 0.35})
    for ax, kind in zip(axes[0], view.types):
        speeds = {
            (r["options"]["tile_m"], r["options"]["tile_n"]): r["gflops"] / 1e3
            for r in view.results
            if r["type"] == kind and "gflops" in r
        }
        most = max(max(tile) for tile in speeds)
        sides = range(1, most + 1)
        image = ax.imshow(
            [[speeds.get((tm, tn), float("nan")) for tn in sides] for tm in sides],
            origin="lower",
            cmap=LANES,
            vmin=0,
            extent=(0.5, most + 0.5, 0.5, most + 0.5),
        )
        line = [[register_line(tm, tn, kind) for tn in sides] for tm in sides]
        if most > 1:
            ax.contour(sides, sides, line, levels=[128, 255], colors="white", linewidths=2)
        (tm, tn), best = max(speeds.items(), key=lambda item: item[1])
        ax.plot([tn], [tm], "k+", markersize=12, markeredgewidth=2.5)
        ax.set_title(f"{TYPES[kind]}: best (+) {tm} x {tn},\n{best:.1f} TFLOP/s")
        ax.set_xlabel("TN")
        ax.set_ylabel("TM")
        ax.grid(False)
        fig.colorbar(image, ax=ax, label="TFLOP/s", shrink=0.9)
    note(fig, "white: tiles of 128 and, farther out, of 255 registers, by the line")
    return fig


def draw_reductions(plt: Pyplot, record: Json) -> Figure:
    """Speed as a share of that without a reduction, against K, for two sizes."""
    view = tsm_tables.View(record)
    sizes = [size for size in view.sizes if size in REDUCTION_SIZES] or view.sizes[:2]
    fig, axes = plt.subplots(1, len(sizes), **SIDE_BY_SIDE, gridspec_kw={"wspace": 0.6})
    for ax, (m, n) in zip(axes[0], sizes):
        ends = []
        for colour, series in zip(COLOURS, tsm_tables.reductions_of(view)):
            points = [
                (k, share)
                for k in tsm_tables.lengths_of(view, m, n)
                if (share := tsm_tables.relative(view, m, n, k, series)) is not None
            ]
            if points:
                ax.plot(*zip(*points), color=colour, linewidth=1.8)
                ends.append((*points[-1], series, colour))
        ax.axhline(100, color="black", linewidth=1)
        log_axes(ax, 10)
        ax.set_ylim(bottom=0)
        ax.set_title(f"M x N = {m} x {n}")
        ax.set_xlabel("K")
        label_ends(fig, ax, ends)
    axes[0][0].set_ylabel("% of the speed without a reduction")
    if len(sizes) < len(view.sizes):
        note(fig, f"{len(sizes)} of {len(view.sizes)} sizes; the tables have all of them")
    return fig


def draw_map(plt: Pyplot, record: Json) -> Figure:
    """% of the roofline over M and N, for each product and type, in bands."""
    from matplotlib.colors import BoundaryNorm

    view = tsm_tables.View(record)
    ms, ns = (sorted({size[i] for size in view.sizes}) for i in (0, 1))
    panels = [(series, kind) for series in view.series for kind in view.types]
    fig, axes = plt.subplots(1, len(panels), **SIDE_BY_SIDE | {"figsize": (9.6, 3.4)}, gridspec_kw={"wspace": 0.12})
    norm = BoundaryNorm(BANDS, plt.get_cmap(LANES).N, extend="max")
    for ax, (series, kind) in zip(axes[0], panels):
        shares = {
            (m, n): r["pct_roofline"]
            for m, n in view.sizes
            if (r := view.at(series, kind, m, n)) and "pct_roofline" in r
        }
        image = ax.imshow(
            [[shares.get((m, n), float("nan")) for n in ns] for m in ms], origin="lower", cmap=LANES, norm=norm
        )
        shown = range(1, len(ns), 4)
        ax.set_xticks(shown, [ns[i] for i in shown])
        ax.set_yticks(shown, [ms[i] for i in shown])
        ax.set_xlabel("N")
        ax.grid(False)
        ax.set_title(
            f"{series.split()[0]},\n{TYPES[kind]}:\nmedian {statistics.median(shares.values()):.0f} %,\n"
            f"least {min(shares.values()):.0f} %"
        )
    axes[0][0].set_ylabel("M")
    fig.colorbar(image, ax=list(axes[0]), label="% of the roofline", shrink=0.7, ticks=BANDS)
    return fig


def draw_experiment(record: Json, path: pathlib.Path) -> None:
    plt = plot_style()
    experiment = tsm.EXPERIMENTS[record["experiment"]]
    fig = {
        "shares": draw_shares,
        "curves": draw_shares,
        "tiles": draw_tiles,
        "reductions": draw_reductions,
        "map": draw_map,
    }[experiment.kind](plt, record)
    high = 1.1 if experiment.kind == "map" else 1.04
    fig.suptitle(f"{record['experiment']}: {record['title']} ({record['device']})", y=high)
    save(plt, fig, path)


def plan(data: Data) -> Plan:
    def function(source: pathlib.Path) -> Draw:
        return lambda data, path: draw_experiment(read_json(source), path)

    paths = {name: gpu_file(name) for name in tsm.EXPERIMENTS}
    return {
        f"experiment_{name}.svg": ([path, pathlib.Path(tsm.__file__)], function(path))
        for name, path in paths.items()
        if path.exists()
    }
