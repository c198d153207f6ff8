"""The plots of docs/tsm/experiments.md, E2 to E14."""

import pathlib
from typing import Any

from tools.experiments import tsm, tsm_tables
from tools.experiments.tsm_cases import TYPES, register_line
from tools.experiments.tsm_tables import View
from tools.pages.data import Data
from tools.pages.figures.style import Draw, Figure, Plan, Pyplot, beside, plot_style, save
from tools.pages.records.experiments import gpu_file
from tools.repository import Json, read_json


def dash(kind: str) -> str:
    return "-" if kind == "d" else "--"


def square_curve(view: View, series: str, kind: str, key: str) -> list[tuple[Any, ...]]:
    points = [(m, r[key]) for m, n in view.sizes if m == n and (r := view.at(series, kind, m, n)) and key in r]
    return list(zip(*points)) or [(), ()]


def draw_shares(plt: Pyplot, record: Json) -> Figure:
    """% of the roofline against M = N, a line for each series and type."""
    view = tsm_tables.View(record)
    fig, ax = plt.subplots(figsize=(8, 4.4))
    for i, series in enumerate(view.series):
        for kind in view.types:
            ax.plot(
                *square_curve(view, series, kind, "pct_roofline"),
                dash(kind),
                color=f"C{i}",
                marker=".",
                markersize=4,
                label=f"{series}, {TYPES[kind]}",
            )
    ax.axhline(100, color="black", linewidth=1)
    ax.set_ylim(bottom=0)
    ax.set_xlabel("M = N")
    ax.set_ylabel("% of the roofline, plain FP64 cores")
    beside(ax)
    return fig


def draw_curves(plt: Pyplot, record: Json) -> Figure:
    """The share of the roofline against M = N, a line for each value of an option, a panel for each type."""
    view = tsm_tables.View(record)
    fig, axes = plt.subplots(len(view.types), 1, figsize=(8, 3.2 * len(view.types)), sharex=True, squeeze=False)
    for ax, kind in zip(axes[:, 0], view.types):
        for i, series in enumerate(view.series):
            widths, shares = square_curve(view, series, kind, "pct_roofline")
            ax.plot(widths, shares, color=f"C{i}", marker=".", markersize=3, linewidth=1, label=series)
        ax.axhline(100, color="k", linestyle="--", linewidth=1)
        ax.set_xlabel(f"M = N, {TYPES[kind]}")
        ax.set_ylabel("% of the roofline")
        ax.set_ylim(0, 108)
        ax.xaxis.set_major_locator(plt.MultipleLocator(8))
    beside(axes[0, 0], tsm.EXPERIMENTS[record["experiment"]].legend or None)
    return fig


def draw_tiles(plt: Pyplot, record: Json) -> Figure:
    """A heat map over TM and TN for each type, with the lines of 128 and 255 registers."""
    view = tsm_tables.View(record)
    fig, axes = plt.subplots(1, len(view.types), figsize=(5.4 * len(view.types), 4.6), squeeze=False)
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
            cmap="viridis",
            vmin=0,
            extent=(0.5, most + 0.5, 0.5, most + 0.5),
        )
        line = [[register_line(tm, tn, kind) for tn in sides] for tm in sides]
        if most > 1:
            ax.contour(sides, sides, line, levels=[128, 255], colors="white", linewidths=1.2)
        (tm, tn), best = max(speeds.items(), key=lambda item: item[1])
        ax.plot([tn], [tm], "r+", markersize=9)
        ax.set_title(f"{TYPES[kind]}: best {tm} x {tn}, {best:.1f} TFLOP/s", fontsize=10)
        ax.set_xlabel("TN (lines: 128 and 255 registers)")
        ax.set_ylabel("TM")
        ax.grid(False)
        fig.colorbar(image, ax=ax, label="TFLOP/s", shrink=0.85)
    return fig


def draw_reductions(plt: Pyplot, record: Json) -> Figure:
    """Speed as a share of that without a reduction, against K, for each size."""
    view = tsm_tables.View(record)
    fig, axes = plt.subplots(1, len(view.sizes), figsize=(3 * len(view.sizes), 3.4), sharey=True, squeeze=False)
    for ax, (m, n) in zip(axes[0], view.sizes):
        for i, series in enumerate(tsm_tables.reductions_of(view)):
            points = [
                (k, share)
                for k in tsm_tables.lengths_of(view, m, n)
                if (share := tsm_tables.relative(view, m, n, k, series)) is not None
            ]
            ax.plot(*(list(zip(*points)) or [(), ()]), color=f"C{i}", marker=".", label=series)
        ax.axhline(100, color="black", linewidth=1)
        ax.set_xscale("log")
        ax.set_ylim(0, 130)
        ax.set_title(f"M x N = {m} x {n}", fontsize=10)
        ax.set_xlabel("K")
    axes[0][0].set_ylabel("% of the speed without a reduction")
    axes[0][-1].legend(frameon=False, fontsize=8, loc="lower right")
    return fig


def draw_map(plt: Pyplot, record: Json) -> Figure:
    """% of the roofline over M and N, for each product and type."""
    view = tsm_tables.View(record)
    fig, axes = plt.subplots(
        len(view.series), len(view.types), figsize=(6.4 * len(view.types), 5.6 * len(view.series)), squeeze=False
    )
    for row, series in zip(axes, view.series):
        for ax, kind in zip(row, view.types):
            shares = {
                (m, n): r["pct_roofline"]
                for m, n in view.sizes
                if (r := view.at(series, kind, m, n)) and "pct_roofline" in r
            }
            ms, ns = (sorted({size[i] for size in view.sizes}) for i in (0, 1))
            image = ax.imshow(
                [[shares.get((m, n), float("nan")) for n in ns] for m in ms],
                origin="lower",
                cmap="viridis",
                vmin=0,
                vmax=100,
            )
            for y, m in enumerate(ms):
                for x, n in enumerate(ns):
                    if (m, n) in shares:
                        ax.text(
                            x,
                            y,
                            f"{shares[m, n]:.0f}",
                            ha="center",
                            va="center",
                            fontsize=7,
                            color="white" if shares[m, n] < 70 else "black",
                        )
            ax.set_xticks(range(len(ns)), ns, fontsize=8)
            ax.set_yticks(range(len(ms)), ms, fontsize=8)
            ax.set_xlabel("N")
            ax.set_ylabel("M")
            ax.grid(False)
            ax.set_title(f"{series}, {TYPES[kind]}", fontsize=10)
            fig.colorbar(image, ax=ax, label="% of the roofline", shrink=0.85)
    return fig


def draw_experiment(record: Json, path: pathlib.Path) -> None:
    plt = plot_style()
    experiment = tsm.EXPERIMENTS[record["experiment"]]
    fig = {
        "shares": draw_shares,
        "curves": draw_curves,
        "tiles": draw_tiles,
        "reductions": draw_reductions,
        "map": draw_map,
    }[experiment.kind](plt, record)
    fig.suptitle(f"{record['experiment']}: {record['title']} ({record['device']})", fontsize=10)
    fig.tight_layout()
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
