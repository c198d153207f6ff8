"""Tensor Cores beside plain FP64 cores in tall & skinny products."""

import pathlib

from tools.experiments.tsm_cases import PRODUCTS, TYPES
from tools.pages.data import Data
from tools.pages.figures.style import Draw, Plan, plot_style, save
from tools.pages.records.tensor_tsm import report_path, shares
from tools.repository import read_json


def draw(op: str, path: pathlib.Path) -> None:
    report = read_json(report_path(op))
    plt = plot_style()
    fig, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True)
    for ax, kind in zip(axes, TYPES):
        found = shares(report, kind)
        ax.plot(
            list(found),
            [both[0] for both in found.values()],
            "C0.-",
            linewidth=1,
            markersize=4,
            label="the best kernels with plain cores",
        )
        ax.plot(
            list(found), [both[1] for both in found.values()], "C1.-", linewidth=1, markersize=4, label="Tensor Cores"
        )
        ax.axhline(100, color="black", linewidth=0.8)
        ax.set_title(TYPES[kind], fontsize=10)
        ax.set_xlabel("M = N")
    most = max(share for kind in TYPES for both in shares(report, kind).values() for share in both)
    axes[0].set_ylim(0, 1.05 * most)
    axes[0].set_ylabel("% of the plain cores' roofline")
    axes[0].legend(fontsize=8, loc="lower left")
    fig.suptitle(f"{PRODUCTS[op]}, 256 MiB of A ({report['device']})", fontsize=10)
    fig.tight_layout()
    save(plt, fig, path)


def plan(data: Data) -> Plan:
    def function(op: str) -> Draw:
        return lambda data, path: draw(op, path)

    return {f"tensor_{op}.svg": ([report_path(op)], function(op)) for op in PRODUCTS if report_path(op).exists()}
