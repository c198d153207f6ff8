"""Speed against size, of all stages."""

import pathlib

from tools.pages.data import COARSE, LADDER, RANDOM, SWEEP, Data
from tools.pages.figures.style import Axes, Figure, Plan, Unable, plot_style, save
from tools.repository import Json
from tools.stats import upper_median

YARDSTICK = "cublas/fp32_pedantic"
# Stages in colours by the idea that they are about: the first number of the family, its name, its colour.
FAMILIES = [
    (1, "device memory", "#7f7f7f"),
    (3, "shared tiles", "#8c564b"),
    (5, "work per thread", "#1f77b4"),
    (9, "wide accesses", "#17a2b8"),
    (10, "geometry", "#6a51a3"),
    (11, "shared between lanes", "#e377c2"),
    (12, "warp tiles", "#ff7f0e"),
    (13, "bank layouts", "#bcbd22"),
    (14, "latency hidden", "#2ca02c"),
    (16, "tuned, shaped", "#d62728"),
]


def name_of(stage: str) -> str:
    return stage.split("/")[1]


def number_of(stage: str) -> str:
    return name_of(stage).split("_")[0]


def family(stage: str) -> tuple[str, str]:
    """(name, colour)"""
    number = int("".join(c for c in number_of(stage) if c.isdigit()) or 0)
    return next(((name, colour) for first, name, colour in reversed(FAMILIES) if number >= first), ("other", "black"))


def cubes(reports: list[Json]) -> dict[str, dict[int, float]]:
    """Speeds in TFLOP/s by stage and size, of cubes that were timed; the yardstick's are also known from between the
    others."""
    speeds, beside = {}, {}
    for report in reports:
        for r in report["results"]:
            p = r["problem"]
            if not p["m"] == p["n"] == p["k"] or "time_ms" not in r or ":" in r["stage"]:
                continue
            speeds.setdefault(r["stage"], {})[p["m"]] = r["gflops"] / 1e3
            if "cublas_time_ms" in r:
                tflops = 2 * p["m"] ** 3 / (r["cublas_time_ms"]["median"] * 1e9)
                beside.setdefault(p["m"], []).append(tflops)
    if not speeds:
        raise Unable("nothing was timed on a cube (M = N = K): there is nothing to draw")
    for size, found in beside.items():
        speeds.setdefault(YARDSTICK, {}).setdefault(size, upper_median(found))
    return {stage: dict(sorted(found.items())) for stage, found in speeds.items()}


def ceilings_of(reports: list[Json]) -> Json | None:
    return next((report["ceilings"] for report in reports if "ceilings" in report), None)


def spread(wanted: list[float], gap: float) -> list[float]:
    """Places near the wanted ones, from 0 to 1, in the same order, no two closer than the gap: neighbours share their
    mean."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])

    def centre(run: list[int]) -> float:
        half = (len(run) - 1) / 2 * gap
        return max(half, min(1 - half, sum(wanted[i] for i in run) / len(run)))

    runs = []
    for i in order:
        runs.append([i])
        while len(runs) > 1 and centre(runs[-1]) - centre(runs[-2]) < (len(runs[-1]) + len(runs[-2])) / 2 * gap:
            last = runs.pop()
            runs[-1] += last
    places = [0.0] * len(wanted)
    for run in runs:
        for k, i in enumerate(run):
            places[i] = centre(run) + (k - (len(run) - 1) / 2) * gap
    return places


def label_ends(fig: Figure, ax: Axes, ends: list[tuple[float, float, str, str]], size: int) -> None:
    """ends: (x, y, text, colour) in data units. Writes each text right of the plot, as near to its line's end as there
    is room."""
    if not ends:
        return
    fig.canvas.draw()  # only now are the scales final
    height = ax.get_window_extent().height / fig.dpi
    gap = size * 1.25 / 72 / height
    to_axes = ax.transAxes.inverted()
    points = [to_axes.transform(ax.transData.transform((x, y))) for x, y, _, _ in ends]
    for (x, y, text, colour), place in zip(ends, spread([p[1] for p in points], gap)):
        ax.annotate(
            text,
            xy=(x, y),
            xycoords="data",
            xytext=(1.05, place),
            textcoords="axes fraction",
            fontsize=size,
            color=colour,
            va="center",
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": colour,
                "linewidth": 0.5,
                "alpha": 0.5,
                "relpos": (0, 0.5),
                "shrinkA": 1,
                "shrinkB": 2,
            },
        )


def on_the_line(size: int) -> bool:
    return size % 128 == 0  # what no tile is cut by; the others are marked apart


def draw_lines(ax: Axes, speeds: dict[str, dict[int, float]]) -> None:
    for stage, speed in speeds.items():
        line = [size for size in speed if on_the_line(size)]
        others = [size for size in speed if not on_the_line(size)]
        if stage == YARDSTICK:
            style = {"color": "black", "linewidth": 3, "alpha": 0.75, "zorder": 2}
        else:
            style = {"color": family(stage)[1], "linewidth": 1.1, "zorder": 3}
        marker = "o" if len(line) <= 12 and stage != YARDSTICK else ""
        ax.plot(line, [speed[s] for s in line], marker=marker, markersize=3, **style)
        ax.plot(
            others,
            [speed[s] for s in others],
            marker="x",
            markersize=4,
            linestyle="none",
            color=style["color"],
            alpha=0.7,
            zorder=style["zorder"],
        )


def size_axis(ax: Axes, sizes: list[int]) -> None:
    ax.set_xscale("log", base=2)
    powers = [1 << e for e in range(20) if min(sizes) <= 1 << e <= max(sizes)] or sorted(sizes)
    ax.set_xticks(powers, [str(p) for p in powers], fontsize=9)
    ax.minorticks_off()
    ax.set_xlabel("M = N = K")


def not_cubes(reports: list[Json], stage: str) -> list[tuple[float, float, float]]:
    """Of the products that are no cubes: (the size of a cube with as many FMAs, TFLOP/s, cuBLAS's TFLOP/s)"""
    points = {}
    for report in reports:
        for r in report["results"]:
            m, n, k = (r["problem"][key] for key in "mnk")
            if r["stage"] == stage and not m == n == k and "time_ms" in r and "cublas_time_ms" in r:
                points[m, n, k] = (
                    (m * n * k) ** (1 / 3),
                    r["gflops"] / 1e3,
                    2 * m * n * k / (r["cublas_time_ms"]["median"] * 1e9),
                )
    return list(points.values())


def draw_ladder(reports: list[Json], path: pathlib.Path | str) -> None:
    """All stages and cuBLAS on a logarithmic scale, and the upper ones once more on a linear one."""
    plt = plot_style()
    speeds = cubes(reports)
    ceilings = ceilings_of(reports)
    sizes = sorted({size for speed in speeds.values() for size in speed})
    best = {stage: max(speed.values()) for stage, speed in speeds.items()}
    shown = {stage: speed for stage, speed in speeds.items() if stage == YARDSTICK or not stage.startswith("cublas/")}
    reference = best.get(YARDSTICK, max(best[s] for s in shown))
    upper = {stage: speed for stage, speed in shown.items() if best[stage] >= 0.45 * reference}
    fig, axes = plt.subplots(1, 2, figsize=(14, 6.6), gridspec_kw={"wspace": 0.42})
    for ax, part in zip(axes, (shown, upper)):
        draw_lines(ax, part)
        size_axis(ax, sizes)
        ax.set_ylabel("TFLOP/s")
        if ceilings:
            ax.axhline(ceilings["ffma_gflops"] / 1e3, color="firebrick", linewidth=1, linestyle=":")
            ax.text(
                sizes[0],
                ceilings["ffma_gflops"] / 1e3 * 1.01,
                "FFMA ceiling, measured",
                color="firebrick",
                fontsize=8,
                va="bottom",
            )
    last = max((s for s in shown if s != YARDSTICK), key=number_of, default=None)
    odd = not_cubes(reports, last)
    for size, speed, beside in odd:  # joined, so that one sees which is ahead
        axes[1].plot([size, size], [speed, beside], color="grey", linewidth=0.6, zorder=4)
        axes[1].plot(size, beside, marker="D", markersize=3.5, color="black", zorder=5)
        axes[1].plot(size, speed, marker="D", markersize=3.5, color=family(last)[1], zorder=6)
    axes[0].set_yscale("log")
    axes[0].set_title("all stages", fontsize=10)
    axes[1].set_ylim(bottom=0)
    axes[1].set_title("those above 45 % of cuBLAS, linear", fontsize=10)

    def ends(part: dict[str, dict[int, float]]) -> list[tuple[float, float, str, str]]:
        return [
            (
                max(speed),
                speed[max(speed)],
                "cuBLAS FP32" if stage == YARDSTICK else name_of(stage).replace("_", " "),
                "black" if stage == YARDSTICK else family(stage)[1],
            )
            for stage, speed in part.items()
        ]

    label_ends(fig, axes[0], ends({s: v for s, v in shown.items() if s not in upper or s == YARDSTICK}), 9)
    label_ends(fig, axes[1], ends(upper), 9)
    used = [entry for entry in FAMILIES if any(family(s) == entry[1:] for s in shown if s != YARDSTICK)]
    handles = [plt.Line2D([], [], color=colour, label=name) for _, name, colour in used]
    handles += [
        plt.Line2D([], [], color="black", linewidth=3, label="cuBLAS FP32"),
        plt.Line2D([], [], color="grey", marker="x", linestyle="none", label="sizes that 128 does not divide"),
    ]
    if odd:
        handles.append(
            plt.Line2D(
                [],
                [],
                color=family(last)[1],
                marker="D",
                markersize=4,
                linestyle="none",
                label=f"{number_of(last)} (black: cuBLAS) where M, N, K differ, at (M N K)^(1/3)",
            )
        )
    fig.legend(handles=handles, loc="lower center", ncols=6, frameon=False, fontsize=9, bbox_to_anchor=(0.5, -0.07))
    fig.suptitle(f"SGEMM on {reports[0]['device']}, warm cache", y=0.95)
    save(plt, fig, path)


def plan(data: Data) -> Plan:
    runs = [path for path in (LADDER, SWEEP, COARSE, RANDOM) if path.exists()]
    reports = [report for report in (data.ladder, data.sweep, data.coarse, data.random) if report]
    return {"ladder.svg": (runs, lambda data, path: draw_ladder(reports, path))}
