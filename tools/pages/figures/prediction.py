"""What L1 and shared memory allow, beside what was measured."""

import pathlib

from tools.pages.data import COUNTERS, LADDER, Data
from tools.pages.figures.style import COLOURS, Plan, plot_style, save

SIZE = 11.5  # of text


def draw_prediction(data: Data, path: pathlib.Path) -> None:
    plt = plot_style(SIZE)
    measured = data.counters["sizes"]["2048"]
    stages = [i for i in data.stages if i in measured and "gflops" in data.results.get((i, "2048x2048x2048"), {})]
    many = len(stages) > 8
    fig, ax = plt.subplots(figsize=(10, 4.8))
    peak = data.ceilings["ffma_gflops"]
    for n, i in enumerate(stages):
        r = data.results[i, "2048x2048x2048"]
        allowed = [
            peak * min(1, 0.25 / max(cycles, 1e-9))
            for cycles in (
                sum(r["predicted"]["l1_cycles_per_warp_fma"].values()),
                measured[i]["wavefronts"] / (measured[i]["ffma"] / 32),
            )
        ]
        for offset, value, colour, label in (
            (-0.27, allowed[0], "#b9b9b9", "predicted from the source"),
            (0, allowed[1], COLOURS[0], "predicted from Nsight Compute's wavefronts"),
            (0.27, r["gflops"], "#e69f00", "measured"),
        ):
            ax.bar(n + offset, value / 1e3, 0.25, color=colour, label=label if n == 0 else None)
            if not many:
                ax.text(n + offset, value / 1e3 * 1.05, f"{value / 1e3:.2f}", ha="center")
    ax.set_yscale("log")
    names = [i.split("/")[1].split("_")[0] if many else i.split("/")[1] for i in stages]
    ax.set_xticks(range(len(stages)), names, rotation=90 if many else 0)
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.set_ylabel("TFLOP/s at 2048")
    ax.set_ylim(0.2, 400 if many else 100)  # room for what the colours mean
    ax.grid(axis="x", visible=False)
    ax.legend(frameon=False, loc="upper left")
    ax.set_title(f"What L1 and shared memory allow, and what came ({data.ladder['device']})", fontsize=SIZE)
    save(plt, fig, path)


def plan(data: Data) -> Plan:
    return {"prediction.svg": ([LADDER, COUNTERS], draw_prediction)}
