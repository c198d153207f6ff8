"""The roofline with every stage."""

import pathlib

from tools.pages.data import COUNTED, COUNTERS, LADDER, Data
from tools.pages.figures.ladder import FAMILIES, ceilings_of, cubes, family, label_ends, name_of, number_of
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
    peak = ceilings["ffma_gflops"] / 1e3
    at = {stage: HEADLINE if HEADLINE in speeds[stage] else max(speeds[stage]) for stage in stages}
    fig, axes = plt.subplots(1, 2, figsize=(14, 6.2), gridspec_kw={"wspace": 0.16}, sharey=True)
    panels = (
        (
            "global",
            "read_gbs",
            "device memory, read",
            "flop per byte asked of global memory (caches answer most of it)",
        ),
        ("shared", "shared_gbs", "shared memory", "flop per byte asked of shared memory"),
    )
    named = []
    for ax, (key, ceiling, label, axis) in zip(axes, panels):
        points = [(per_byte[s].get(key), speeds[s][at[s]], s) for s in stages if per_byte[s].get(key)]
        dram = [
            (per_byte[s]["dram"], speeds[s][at[s]], s) for s in stages if key == "global" and per_byte[s].get("dram")
        ]
        xs = [x for x, _, _ in points + dram] or [1.0]
        low, high = min(xs) / 4, max(max(xs), peak * 1e3 / ceilings[ceiling]) * 2.5
        ridge = peak * 1e3 / ceilings[ceiling]
        ax.plot([low, ridge, high], [low * ceilings[ceiling] / 1e3, peak, peak], color="black", linewidth=2.2, zorder=2)
        ax.text(ridge, peak * 1.08, f"FFMA {peak:.1f} TFLOP/s", ha="left", fontsize=9)
        middle = 0.6 * ridge
        ax.text(
            middle,
            middle * ceilings[ceiling] / 1e3 * 1.2,
            f"{label}: {ceilings[ceiling] / 1e3:.1f} TB/s",
            ha="right",
            fontsize=9,
        )
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
        handles.append(
            plt.Line2D(
                [],
                [],
                color="grey",
                marker="o",
                markersize=4,
                markerfacecolor="white",
                linestyle="none",
                label="what DRAM was asked (ncu)",
            )
        )
    fig.legend(handles=handles, loc="lower center", ncols=6, frameon=False, fontsize=9, bbox_to_anchor=(0.5, -0.07))
    fig.suptitle(f"Roofline of {reports[0]['device']}, ceilings measured; requests counted by the CPU executor", y=0.95)
    save(plt, fig, path)


def plan(data: Data) -> Plan:
    def draw(data: Data, path: pathlib.Path) -> None:
        draw_roofline([data.ladder], data.executor, data.counters, path)

    return {"roofline.svg": ([LADDER, COUNTED, COUNTERS], draw)}
