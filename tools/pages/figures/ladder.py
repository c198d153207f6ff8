"""Speed against size, of all stages."""

import pathlib

from tools.pages.data import COARSE, LADDER, RANDOM, SWEEP, Data
from tools.pages.figures.labels import label_ends
from tools.pages.figures.style import COLOURS, Axes, Plan, Unable, plot_style, save
from tools.repository import Json
from tools.stats import upper_median

YARDSTICK = "cublas/fp32_pedantic"
# Which stages are drawn where there are more than a chart can show: the lecture's, and the last.
PREFERRED = ("01", "02", "04", "07", "09b", "15", "18")
MOST = 7  # beside cuBLAS


def name_of(stage: str) -> str:
    return stage.split("/")[1]


def number_of(stage: str) -> str:
    return name_of(stage).split("_")[0]


def chosen(stages: list[str]) -> list[str]:
    """At most MOST: the preferred ones, or of other families some at equal distances, the last with them."""
    stages = [stage for stage in stages if not stage.startswith("cublas/")]
    if len(stages) <= MOST:
        return stages
    preferred = [stage for stage in stages if number_of(stage) in PREFERRED and stage.startswith("sgemm/")]
    step = (len(stages) - 1) / (MOST - 1)
    return preferred if len(preferred) > 3 else [stages[round(i * step)] for i in range(MOST)]


def colours_of(stages: list[str]) -> dict[str, str]:
    return {stage: "black" if stage == YARDSTICK else COLOURS[n] for n, stage in enumerate(stages)}


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


def on_the_line(size: int) -> bool:
    return size % 128 == 0  # what no tile is cut by; the others are marked apart


def draw_lines(ax: Axes, speeds: dict[str, dict[int, float]]) -> None:
    colours = colours_of(list(speeds))
    for stage, speed in speeds.items():
        line = [size for size in speed if on_the_line(size)]
        others = [size for size in speed if not on_the_line(size)]
        width = 3.5 if stage == YARDSTICK else 2
        ax.plot(line, [speed[s] for s in line], color=colours[stage], linewidth=width, zorder=2 + (stage != YARDSTICK))
        ax.plot(others, [speed[s] for s in others], "x", color=colours[stage], markersize=6, zorder=4)


def size_axis(ax: Axes, sizes: list[int]) -> None:
    ax.set_xscale("log", base=2)
    powers = [1 << e for e in range(20) if min(sizes) <= 1 << e <= max(sizes)] or sorted(sizes)
    ax.set_xticks(powers, [str(p) for p in powers])
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
    """At most eight curves: stages and cuBLAS."""
    plt = plot_style()
    speeds = cubes(reports)
    ceilings = ceilings_of(reports)
    stages = chosen(list(speeds))
    shown = {stage: speeds[stage] for stage in [*stages, YARDSTICK] if stage in speeds}
    colours = colours_of(list(shown))
    sizes = sorted({size for speed in shown.values() for size in speed})
    fig, ax = plt.subplots(figsize=(8.2, 4.8))
    draw_lines(ax, shown)
    size_axis(ax, sizes)
    ax.set_ylabel("TFLOP/s")
    top = max(v for speed in shown.values() for v in speed.values())
    if ceilings:
        top = max(top, roof := ceilings["ffma_gflops"] / 1e3)
        ax.axhline(roof, color="black", linewidth=1.5, linestyle=":")
        ax.text(sizes[0], roof * 1.01, "FFMA ceiling, measured", va="bottom")
    ax.set_ylim(0, 1.1 * top)
    last = stages[-1] if stages else None
    odd = not_cubes(reports, last) if last else []
    for size, speed, beside in odd:  # joined, so that one sees which is ahead
        ax.plot([size, size], [speed, beside], color="grey", linewidth=1, zorder=4, label="_joined")
        ax.plot(size, beside, marker="D", markersize=5, color="black", zorder=5)
        ax.plot(size, speed, marker="D", markersize=5, color=colours[last], zorder=6)
    names = {stage: "cuBLAS FP32" if stage == YARDSTICK else name_of(stage).replace("_", " ") for stage in shown}
    label_ends(fig, ax, [(max(v), v[max(v)], names[s], colours[s]) for s, v in shown.items()])
    fewer = f", {len(stages)} of {len([s for s in speeds if not s.startswith('cublas/')])} stages"
    marks = "x: sizes that 128 does not divide" + (
        f"; diamonds: {number_of(last)} and cuBLAS where M, N, K differ, at (M N K)^(1/3)" if odd else ""
    )
    ax.set_title(f"SGEMM on {reports[0]['device']}, warm cache{fewer if len(stages) < len(speeds) - 1 else ''}")
    fig.text(0.5, -0.01, marks, ha="center", va="top")
    save(plt, fig, path)


def plan(data: Data) -> Plan:
    runs = [path for path in (LADDER, SWEEP, COARSE, RANDOM) if path.exists()]
    reports = [report for report in (data.ladder, data.sweep, data.coarse, data.random) if report]
    return {"ladder.svg": (runs, lambda data, path: draw_ladder(reports, path))}
