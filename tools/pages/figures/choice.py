"""tsm/14 and 15: which stage they take for which M and N."""

import pathlib

from tools.experiments.tsm_cases import TYPES
from tools.pages.data import Data
from tools.pages.figures.style import Plan, plot_style, save
from tools.repository import CPU, ROOT, TUNED, read_json

CHOICES = CPU / "choice.json"  # by `gemm choice --json`, on any machine
COLOURS = ["#b0c4de", "#2e8b57", "#cd853f", "#9370db"]


def draw(stage: str, op: str, path: pathlib.Path) -> None:
    plt = plot_style()
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    maps, tuned = read_json(CHOICES), read_json(TUNED)["kernels"]
    fig, axes = plt.subplots(1, 2, figsize=(9.4, 4.6), sharey=True)
    found = [maps[f"{stage}/{type}"] for type in TYPES]
    names = sorted({name for each in found for name in each["stages"]})
    for ax, (type, title), each in zip(axes, TYPES.items(), found):
        cells = [[names.index(each["stages"][ord(letter) - ord("A")]) for letter in line] for line in each["map"]]
        ax.imshow(
            cells,
            cmap=ListedColormap(COLOURS[: len(names)]),
            vmin=-0.5,
            vmax=len(names) - 0.5,
            origin="lower",
            extent=(0.5, len(cells) + 0.5, 0.5, len(cells) + 0.5),
            interpolation="none",
        )
        sizes = [(k["n"], k["m"]) for k in tuned if k["op"] == op and k["type"] == type]
        if sizes:
            ax.plot(*zip(*sizes), "k.", markersize=4)
        ax.set_title(title + (": tuned at the dots" if sizes else ": nothing tuned yet, the rule"), fontsize=10)
        ax.set_xlabel("N")
        ax.set_xticks([1, 8, 16, 24, 32, 40, 48, 56, 64])
        ax.set_yticks([1, 8, 16, 24, 32, 40, 48, 56, 64])
        ax.grid(False)
    axes[0].set_ylabel("M")
    fig.legend(
        handles=[Patch(color=colour, label=name) for name, colour in zip(names, COLOURS)],
        loc="upper center",
        ncols=len(names),
        frameon=False,
        fontsize=9,
    )
    save(plt, fig, path)


def plan(data: Data) -> Plan:
    sources = [CHOICES, TUNED, ROOT / "tsm" / "choice.cpp"]
    return {
        "choice_14_best.svg": (sources, lambda data, path: draw("tsm/14_best", "tsmttsm", path)),
        "choice_15_tsmm_best.svg": (sources, lambda data, path: draw("tsm/15_tsmm_best", "tsmm", path)),
    }
