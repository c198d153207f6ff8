"""What L1 and shared memory allow, beside what was measured."""

import pathlib

from tools.pages.data import COUNTERS, LADDER, Data
from tools.pages.figures.labels import label_ends
from tools.pages.figures.style import COLOURS, Plan, log_axes, plot_style, save


def draw_prediction(data: Data, path: pathlib.Path) -> None:
    plt = plot_style()
    measured = data.counters["sizes"]["2048"]
    stages = [i for i in data.stages if i in measured and "gflops" in data.results.get((i, "2048x2048x2048"), {})]
    fig, ax = plt.subplots(figsize=(8.2, 4.6))
    peak = data.ceilings["ffma_gflops"]
    speeds = []  # predicted from the source, from the counters, and measured
    for i in stages:
        r = data.results[i, "2048x2048x2048"]
        cycles = (
            sum(r["predicted"]["l1_cycles_per_warp_fma"].values()),
            measured[i]["wavefronts"] / (measured[i]["ffma"] / 32),
        )
        speeds.append([peak * min(1, 0.25 / max(c, 1e-9)) / 1e3 for c in cycles] + [r["gflops"] / 1e3])
    names = ("by the source", "by Nsight Compute", "measured")
    ends = []
    for of, name, marker, colour in zip(zip(*speeds), names, ("s", "x", "o"), (COLOURS[0], "black", COLOURS[1])):
        ax.plot(range(len(stages)), of, linestyle="none", marker=marker, color=colour, markersize=7)
        ends.append((len(stages) - 1, of[-1], name, colour))
    # What L1 allows and what came of it.
    ax.vlines(range(len(stages)), *zip(*((min(of), max(of)) for of in speeds)), color="#b9b9b9", zorder=1)
    log_axes(ax, y=10)
    ax.set_xticks(range(len(stages)), [i.split("/")[1].split("_")[0] for i in stages], rotation=90)
    ax.set_xlabel("stage")
    ax.set_ylabel("TFLOP/s at 2048")
    ax.grid(axis="x", visible=False)
    ax.set_title(f"What L1 and shared memory allow, and what came ({data.ladder['device']})")
    label_ends(fig, ax, ends)
    save(plt, fig, path)


def plan(data: Data) -> Plan:
    return {"prediction.svg": ([LADDER, COUNTERS], draw_prediction)}
