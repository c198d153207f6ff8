#!/usr/bin/env python3
"""Draws what `ladder --json` has measured: speed against size, and the roofline with every stage.

usage: plot_ladder.py RUN.json... [--ladder FILE]... [--roofline FILE]... [--counts FILE] [--counters FILE]
       plot_ladder.py --can-draw FILE...      exit status 2, and what to do, if such files can't be drawn here

FILE ends in .svg or .png. Several runs are drawn together. The roofline needs flop per byte: --counts is what
docs/measurements/counts.py has written on any machine, --counters what docs/measurements/counters.py has on a GPU.
"""
import argparse
import json
import pathlib
import sys

YARDSTICK = "cublas/fp32_pedantic"
HEADLINE = 4096
# Stages in colours by the idea that they are about: the first number of the family, its name, its colour.
FAMILIES = [(1, "device memory", "#7f7f7f"), (3, "shared tiles", "#8c564b"), (5, "work per thread", "#1f77b4"),
            (9, "wide accesses", "#17a2b8"), (10, "geometry", "#6a51a3"), (11, "shared between lanes", "#e377c2"),
            (12, "warp tiles", "#ff7f0e"), (13, "bank layouts", "#bcbd22"), (14, "latency hidden", "#2ca02c"),
            (16, "tuned, shaped", "#d62728")]


class Unable(Exception):
    """Said in one line; exit status 2."""


def name_of(stage):
    return stage.split("/")[1]


def number_of(stage):
    return name_of(stage).split("_")[0]


def family(stage):
    """(name, colour)"""
    number = int("".join(c for c in number_of(stage) if c.isdigit()) or 0)
    return next(((name, colour) for first, name, colour in reversed(FAMILIES) if number >= first), ("other", "black"))


def cubes(reports):
    """Speeds in TFLOP/s by stage and size, of cubes that were timed; the yardstick's are also known from between the others."""
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
        speeds.setdefault(YARDSTICK, {}).setdefault(size, sorted(found)[len(found) // 2])
    return {stage: dict(sorted(found.items())) for stage, found in speeds.items()}


def ceilings_of(reports):
    return next((report["ceilings"] for report in reports if "ceilings" in report), None)


# ---- drawing


def plot_style():
    try:
        import matplotlib
    except ImportError:
        raise Unable("plots need matplotlib: apt-get install python3-matplotlib, or pip install matplotlib") from None
    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "staged-gemm", "font.size": 10, "axes.grid": True, "grid.alpha": 0.3,
                                "axes.spines.top": False, "axes.spines.right": False})
    import matplotlib.pyplot as plt
    return plt


def save(plt, fig, path):
    kind = {"dpi": 150, "metadata": {"Software": None}} if str(path).endswith(".png") else {"metadata": {"Date": None}}
    fig.savefig(path, bbox_inches="tight", facecolor="white", **kind)
    plt.close(fig)


def spread(wanted, gap):
    """Places near the wanted ones, from 0 to 1, in the same order, no two closer than the gap: neighbours share their mean."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])

    def centre(run):
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


def label_ends(fig, ax, ends, size):
    """ends: (x, y, text, colour) in data units. Writes each text right of the plot, as near to its line's end as there is room."""
    if not ends:
        return
    fig.canvas.draw()  # only now are the scales final
    height = ax.get_window_extent().height / fig.dpi
    gap = size * 1.25 / 72 / height
    to_axes = ax.transAxes.inverted()
    points = [to_axes.transform(ax.transData.transform((x, y))) for x, y, _, _ in ends]
    for (x, y, text, colour), (_, at), place in zip(ends, points, spread([p[1] for p in points], gap)):
        ax.annotate(text, xy=(x, y), xycoords="data", xytext=(1.05, place), textcoords="axes fraction", fontsize=size,
                    color=colour, va="center", annotation_clip=False,
                    arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.5, "alpha": 0.5, "relpos": (0, 0.5),
                                "shrinkA": 1, "shrinkB": 2})


def on_the_line(size):
    return size % 128 == 0  # what no tile is cut by; the others are marked apart


def draw_lines(ax, speeds):
    for stage, speed in speeds.items():
        line = [size for size in speed if on_the_line(size)]
        others = [size for size in speed if not on_the_line(size)]
        if stage == YARDSTICK:
            style = {"color": "black", "linewidth": 3, "alpha": 0.75, "zorder": 2}
        else:
            style = {"color": family(stage)[1], "linewidth": 1.1, "zorder": 3}
        marker = "o" if len(line) <= 12 and stage != YARDSTICK else ""
        ax.plot(line, [speed[s] for s in line], marker=marker, markersize=3, **style)
        ax.plot(others, [speed[s] for s in others], marker="x", markersize=4, linestyle="none",
                color=style["color"], alpha=0.7, zorder=style["zorder"])


def size_axis(ax, sizes):
    ax.set_xscale("log", base=2)
    powers = [1 << e for e in range(20) if min(sizes) <= 1 << e <= max(sizes)] or sorted(sizes)
    ax.set_xticks(powers, [str(p) for p in powers], fontsize=9)
    ax.minorticks_off()
    ax.set_xlabel("M = N = K")


def not_cubes(reports, stage):
    """Of the products that are no cubes: (the size of a cube with as many FMAs, TFLOP/s, cuBLAS's TFLOP/s)"""
    points = {}
    for report in reports:
        for r in report["results"]:
            m, n, k = (r["problem"][key] for key in "mnk")
            if r["stage"] == stage and not m == n == k and "time_ms" in r and "cublas_time_ms" in r:
                points[m, n, k] = ((m * n * k) ** (1 / 3), r["gflops"] / 1e3, 2 * m * n * k / (r["cublas_time_ms"]["median"] * 1e9))
    return list(points.values())


def draw_ladder(reports, path):
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
            ax.text(sizes[0], ceilings["ffma_gflops"] / 1e3 * 1.01, "FFMA ceiling, measured", color="firebrick", fontsize=8,
                    va="bottom")
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

    def ends(part):
        return [(max(speed), speed[max(speed)], "cuBLAS FP32" if stage == YARDSTICK else name_of(stage).replace("_", " "),
                 "black" if stage == YARDSTICK else family(stage)[1]) for stage, speed in part.items()]

    label_ends(fig, axes[0], ends({s: v for s, v in shown.items() if s not in upper or s == YARDSTICK}), 9)
    label_ends(fig, axes[1], ends(upper), 9)
    used = [entry for entry in FAMILIES if any(family(s) == entry[1:] for s in shown if s != YARDSTICK)]
    handles = [plt.Line2D([], [], color=colour, label=name) for _, name, colour in used]
    handles += [plt.Line2D([], [], color="black", linewidth=3, label="cuBLAS FP32"),
                plt.Line2D([], [], color="grey", marker="x", linestyle="none", label="sizes that 128 does not divide")]
    if odd:
        handles.append(plt.Line2D([], [], color=family(last)[1], marker="D", markersize=4, linestyle="none",
                                  label=f"{number_of(last)} (black: cuBLAS) where M, N, K differ, at (M N K)^(1/3)"))
    fig.legend(handles=handles, loc="lower center", ncols=6, frameon=False, fontsize=9, bbox_to_anchor=(0.5, -0.07))
    fig.suptitle(f"SGEMM on {reports[0]['device']}, warm cache", y=0.95)
    save(plt, fig, path)


def intensities(counts, counters):
    """Flop per byte by stage: asked of global memory and of shared memory (the executor), read from DRAM (Nsight Compute)."""
    found = {}
    for stage, entry in (counts or {}).get("kernels", {}).items():
        per_byte = entry["counts"]["flop_per_byte"]
        found[stage] = {"global": per_byte["global"], "shared": per_byte["shared"]}
    for stage, entry in next(iter((counters or {}).get("sizes", {}).values()), {}).items():
        if entry.get("dram_read_bytes") and entry.get("ffma"):
            found.setdefault(stage, {})["dram"] = 2 * entry["ffma"] / entry["dram_read_bytes"]
    return found


def draw_roofline(reports, counts, counters, path):
    plt = plot_style()
    speeds = cubes(reports)
    ceilings = ceilings_of(reports)
    if not ceilings:
        raise Unable("no ceilings in this run: a roofline needs a run on a GPU")
    per_byte = intensities(counts, counters)
    stages = [stage for stage in speeds if stage in per_byte]
    peak = ceilings["ffma_gflops"] / 1e3
    at = {stage: HEADLINE if HEADLINE in speeds[stage] else max(speeds[stage]) for stage in stages}
    fig, axes = plt.subplots(1, 2, figsize=(14, 6.2), gridspec_kw={"wspace": 0.16}, sharey=True)
    panels = (("global", "read_gbs", "device memory, read", "flop per byte asked of global memory (caches answer most of it)"),
              ("shared", "shared_gbs", "shared memory", "flop per byte asked of shared memory"))
    named = []
    for ax, (key, ceiling, label, axis) in zip(axes, panels):
        points = [(per_byte[s].get(key), speeds[s][at[s]], s) for s in stages if per_byte[s].get(key)]
        dram = [(per_byte[s]["dram"], speeds[s][at[s]], s) for s in stages if key == "global" and per_byte[s].get("dram")]
        xs = [x for x, _, _ in points + dram] or [1.0]
        low, high = min(xs) / 4, max(max(xs), peak * 1e3 / ceilings[ceiling]) * 2.5
        ridge = peak * 1e3 / ceilings[ceiling]
        ax.plot([low, ridge, high], [low * ceilings[ceiling] / 1e3, peak, peak], color="black", linewidth=2.2, zorder=2)
        ax.text(ridge, peak * 1.08, f"FFMA {peak:.1f} TFLOP/s", ha="left", fontsize=9)
        middle = 0.6 * ridge
        ax.text(middle, middle * ceilings[ceiling] / 1e3 * 1.2, f"{label}: {ceilings[ceiling] / 1e3:.1f} TB/s", ha="right",
                fontsize=9)
        for x, y, stage in dram:
            ax.plot(x, y, marker="o", markersize=4, markerfacecolor="white", color=family(stage)[1], zorder=3)
        for x, y, stage in points:
            ax.plot(x, y, marker="o", markersize=6, color=family(stage)[1], zorder=4)
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xlim(low, high)
        ax.set_xlabel(axis)
        label = number_of if key == "global" else lambda stage: name_of(stage).replace("_", " ")
        named.append((ax, [(x, y, label(stage), family(stage)[1]) for x, y, stage in points]))
    axes[0].set_ylim(min((speeds[s][at[s]] for s in stages), default=0.1) / 2, peak * 1.6)
    for ax, points in named:
        label_ends(fig, ax, points, 9)
    axes[0].set_ylabel("TFLOP/s, measured at " + "/".join(str(n) for n in sorted(set(at.values()))))
    used = [entry for entry in FAMILIES if any(family(s) == entry[1:] for s in stages)]
    handles = [plt.Line2D([], [], color=colour, marker="o", linestyle="none", label=name) for _, name, colour in used]
    if any("dram" in per_byte[s] for s in stages):
        handles.append(plt.Line2D([], [], color="grey", marker="o", markersize=4, markerfacecolor="white", linestyle="none",
                                  label="what DRAM was asked (ncu)"))
    fig.legend(handles=handles, loc="lower center", ncols=6, frameon=False, fontsize=9, bbox_to_anchor=(0.5, -0.07))
    fig.suptitle(f"Roofline of {reports[0]['device']}, ceilings measured; requests counted by the CPU executor", y=0.95)
    save(plt, fig, path)


def check_path(path):
    if not str(path).endswith((".svg", ".png")):
        raise Unable(f"a plot is a .svg or a .png file, not '{path}'")
    folder = pathlib.Path(path).resolve().parent
    if not folder.is_dir():
        raise Unable(f"can't write {path}: no folder {folder}")


def read(path):
    try:
        return json.loads(pathlib.Path(path).read_text())
    except (OSError, ValueError) as error:
        raise Unable(f"can't read {path}: {str(error).splitlines()[0]}") from None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="*", metavar="RUN.json")
    parser.add_argument("--ladder", action="append", default=[], metavar="FILE")
    parser.add_argument("--roofline", action="append", default=[], metavar="FILE")
    parser.add_argument("--counts", metavar="FILE")
    parser.add_argument("--counters", metavar="FILE")
    parser.add_argument("--can-draw", nargs="+", default=[], metavar="FILE")
    options = parser.parse_args()
    for path in options.ladder + options.roofline + options.can_draw:
        check_path(path)
    plot_style()
    if options.can_draw:
        return
    if not options.runs:
        parser.error("no run to draw")
    reports = [read(path) for path in options.runs]
    for path in options.ladder:
        draw_ladder(reports, path)
    for path in options.roofline:
        counts, counters = (path and read(path) for path in (options.counts, options.counters))
        draw_roofline(reports, counts, counters, path)


if __name__ == "__main__":
    try:
        main()
    except Unable as problem:
        print(f"error: {problem}", file=sys.stderr)
        sys.exit(2)
