"""Tensor Cores beside plain FP64 cores in tall & skinny products."""

import pathlib

from tools.experiments.tsm_cases import PRODUCTS, TYPES
from tools.pages.data import Data
from tools.pages.figures.labels import label_ends
from tools.pages.figures.style import COLOURS, Draw, Plan, plot_style, save
from tools.pages.records.tensor_tsm import report_path, shares
from tools.repository import read_json


def draw(op: str, path: pathlib.Path) -> None:
    report = read_json(report_path(op))
    plt = plot_style()
    fig, axes = plt.subplots(1, 2, figsize=(9, 4), sharey=True, gridspec_kw={"wspace": 0.5})
    found = {kind: shares(report, kind) for kind in TYPES}
    axes[0].set_ylim(0, 1.05 * max(share for of in found.values() for both in of.values() for share in both))
    for ax, (kind, of) in zip(axes, found.items()):
        ends = []
        for which, name in enumerate(("plain cores", "Tensor Cores")):
            widths, speeds = list(of), [both[which] for both in of.values()]
            ax.plot(widths, speeds, color=COLOURS[which], linewidth=1.8)
            ends.append((widths[-1], speeds[-1], name, COLOURS[which]))
        ax.axhline(100, color="black", linewidth=1)
        ax.set_title(TYPES[kind])
        ax.set_xlabel("M = N")
        ax.set_xticks(range(0, 65, 16))
        label_ends(fig, ax, ends)
    axes[0].set_ylabel("% of the plain cores' roofline")
    fig.suptitle(f"{PRODUCTS[op]}, the best kernels, 256 MiB of A ({report['device']})", y=1.02)
    save(plt, fig, path)


def plan(data: Data) -> Plan:
    def function(op: str) -> Draw:
        return lambda data, path: draw(op, path)

    return {f"tensor_{op}.svg": ([report_path(op)], function(op)) for op in PRODUCTS if report_path(op).exists()}
