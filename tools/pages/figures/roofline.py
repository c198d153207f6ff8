"""The roofline with every stage."""

import pathlib

from tools.pages.data import COUNTED, COUNTERS, LADDER, Data
from tools.pages.figures.labels import label_ends
from tools.pages.figures.ladder import ceilings_of, chosen, colours_of, cubes, number_of
from tools.pages.figures.style import Plan, Unable, plot_style, save
from tools.repository import Json

HEADLINE = 4096


def intensities(counts: Json | None, counters: Json | None) -> dict[str, dict[str, float]]:
    """Flop per byte by stage: asked of global memory and of shared memory (the executor), read from DRAM (Nsight
    Compute)."""
    found = {}
    for stage, entry in (counts or {}).get("kernels", {}).items():
        per_byte = entry["counts"]["flop_per_byte"]
        found[stage] = {"global": per_byte["global"], "shared": per_byte["shared"]}
    for stage, entry in next(iter((counters or {}).get("sizes", {}).values()), {}).items():
        if entry.get("dram_read_bytes") and entry.get("ffma"):
            found.setdefault(stage, {})["dram"] = 2 * entry["ffma"] / entry["dram_read_bytes"]
    return found


def draw_roofline(reports: list[Json], counts: Json | None, counters: Json | None, path: pathlib.Path | str) -> None:
    plt = plot_style()
    speeds = cubes(reports)
    ceilings = ceilings_of(reports)
    if not ceilings:
        raise Unable("no ceilings in this run: a roofline needs a run on a GPU")
    per_byte = intensities(counts, counters)
    stages = [stage for stage in speeds if stage in per_byte]
    named = chosen(stages)
    colours = {stage: "#8c8c8c" for stage in stages} | colours_of(named)  # the others without a name
    peak = ceilings["ffma_gflops"] / 1e3
    at = {stage: HEADLINE if HEADLINE in speeds[stage] else max(speeds[stage]) for stage in stages}
    fig, axes = plt.subplots(1, 2, figsize=(9.4, 4.6), gridspec_kw={"wspace": 0.42}, sharey=True)
    panels = (
        (
            "global",
            "read_gbs",
            "device memory",
            "flop per byte asked of global memory\n(caches answer most of it)",
        ),
        ("shared", "shared_gbs", "shared memory", "flop per byte\nasked of shared memory"),
    )
    labels = []
    for ax, (key, ceiling, label, axis) in zip(axes, panels):
        points = [(per_byte[s].get(key), speeds[s][at[s]], s) for s in stages if per_byte[s].get(key)]
        dram = [
            (per_byte[s]["dram"], speeds[s][at[s]], s) for s in stages if key == "global" and per_byte[s].get("dram")
        ]
        xs = [x for x, _, _ in points + dram] or [1.0]
        low, high = min(xs) / 4, max(max(xs), peak * 1e3 / ceilings[ceiling]) * 2.5
        ridge = peak * 1e3 / ceilings[ceiling]
        ax.plot([low, ridge, high], [low * ceilings[ceiling] / 1e3, peak, peak], color="black", linewidth=2.2, zorder=2)
        ax.text(high, peak * 1.12, f"FFMA {peak:.1f} TFLOP/s", ha="right", va="bottom")
        ax.text(low * 1.15, peak / 4, f"{label},\n{ceilings[ceiling] / 1e3:.1f} TB/s", va="center")
        for x, y, stage in dram:
            ax.plot(x, y, "o", markersize=6, markerfacecolor="white", color=colours[stage], zorder=3)
        for x, y, stage in sorted(points, key=lambda point: point[2] in named):
            ax.plot(x, y, "o", markersize=9 if stage in named else 5, color=colours[stage], zorder=4)
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xlim(low, high)
        ax.set_xlabel(axis)
        ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        labels.append((ax, [(x, y, number_of(stage), colours[stage]) for x, y, stage in points if stage in named]))
    axes[0].set_ylim(min((speeds[s][at[s]] for s in stages), default=0.1) / 2, peak * 1.9)
    for ax, points in labels:
        label_ends(fig, ax, points)
    axes[0].set_ylabel("TFLOP/s, measured at " + "/".join(str(n) for n in sorted(set(at.values()))))
    fig.suptitle(f"Roofline of {reports[0]['device']}, ceilings measured; requests counted", y=0.98)
    circles = "; circles: what DRAM was asked (Nsight Compute)" if any("dram" in per_byte[s] for s in stages) else ""
    fig.text(0.5, -0.1, f"small grey dots: the other stages{circles}", ha="center", va="top")
    save(plt, fig, path)


def plan(data: Data) -> Plan:
    def draw(data: Data, path: pathlib.Path) -> None:
        draw_roofline([data.ladder], data.executor, data.counters, path)

    return {"roofline.svg": ([LADDER, COUNTED, COUNTERS], draw)}
