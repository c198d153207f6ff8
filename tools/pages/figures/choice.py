"""tsm/14 and 15: which stage they take for which M and N."""

import pathlib
from math import nan

from tools.experiments.tsm_cases import TYPES
from tools.pages.data import Data
from tools.pages.figures.labels import spread
from tools.pages.figures.style import SIZE, Axes, Plan, Pyplot, plot_style, pointed, save
from tools.repository import CPU, ROOT, TUNED, read_json
from tools.tune.tables import kernels_of

CHOICES = CPU / "choice.json"  # by `gemm choice --json`, on any machine
FILLS = ["#e9e3b4", "#8fc1e8", "#f4b183", "#b9b9b9"]  # light, so that dots and names can be read on them


def largest_square(cells: list[list[int]], which: int) -> tuple[int, int, int]:
    """Of the cells with this value: side, row and column of the last corner of the largest square."""
    sides, best = [[0] * len(cells[0]) for _ in cells], (0, 0, 0)
    for r, row in enumerate(cells):
        for c, cell in enumerate(row):
            if cell == which:
                around = (sides[r - 1][c], sides[r][c - 1], sides[r - 1][c - 1]) if r and c else (0,)
                sides[r][c] = 1 + min(around)
                best = max(best, (sides[r][c], r, c))
    return best


def name_areas(plt: Pyplot, ax: Axes, cells: list[list[int]], names: list[str]) -> None:
    """Each stage's name in the widest part of its area, or beside the map if that is too narrow."""
    outside = []  # place by the row, text, what it names
    for which, name in enumerate(names):
        side, row, col = largest_square(cells, which)
        number, _, words = name.split("/")[1].partition("_")
        middle = (col + 1 - (side - 1) / 2, row + 1 - (side - 1) / 2)
        if side >= 28:
            box = {"boxstyle": "round,pad=0.3", "facecolor": "white", "linewidth": 0.8}
            ax.text(*middle, f"{number} {words.replace('_', ' ')}", ha="center", va="center", bbox=box)
        elif side:
            text = f"{number}\n" + words.replace("_", "\n")
            outside.append((middle[1] / len(cells), text, middle))
    places = spread([wanted for wanted, _, _ in outside], 0.24)
    for (_, text, middle), place in zip(outside, places):
        pointed(plt, ax, text, middle, place, SIZE)


def draw(stage: str, op: str, path: pathlib.Path) -> None:
    plt = plot_style()
    from matplotlib.colors import ListedColormap

    maps, tuned = read_json(CHOICES), kernels_of(read_json(TUNED))
    fig, axes = plt.subplots(1, 2, figsize=(10.6, 4.7), sharey=True, gridspec_kw={"wspace": 0.34})
    found = [maps[f"{stage}/{type}"] for type in TYPES]
    names = sorted({name for each in found for name in each["stages"]})
    for ax, (type, title), each in zip(axes, TYPES.items(), found):
        cells = [[names.index(each["stages"][ord(letter) - ord("A")]) for letter in line] for line in each["map"]]
        ax.imshow(
            cells,
            cmap=ListedColormap(FILLS[: len(names)]),
            vmin=-0.5,
            vmax=len(names) - 0.5,
            origin="lower",
            extent=(0.5, len(cells) + 0.5, 0.5, len(cells) + 0.5),
            interpolation="none",
        )
        sizes = [(k["n"], k["m"]) for k in tuned if k["op"] == op and k["type"] == type]
        if sizes:
            # Lines of hardly any length, whose round ends are the dots: less text than as many markers.
            columns, rows = zip(*(place for n, m in sizes for place in ((n - 0.05, m), (n + 0.05, m), (nan, nan))))
            ax.plot(columns, rows, "k-", linewidth=2.2, solid_capstyle="round")
        ax.set_title(title + (": tuned at the dots" if sizes else ": nothing tuned yet, the rule"), fontsize=SIZE)
        name_areas(plt, ax, cells, names)
        ax.set_xlabel("N")
        ax.set_xticks([1, 16, 32, 48, 64])
        ax.set_yticks([1, 16, 32, 48, 64])
        ax.grid(False)
    axes[0].set_ylabel("M")
    save(plt, fig, path)


def plan(data: Data) -> Plan:
    sources = [CHOICES, TUNED, ROOT / "tsm" / "choice.cpp"]
    return {
        "choice_14_best.svg": (sources, lambda data, path: draw("tsm/14_best", "tsmttsm", path)),
        "choice_15_tsmm_best.svg": (sources, lambda data, path: draw("tsm/15_tsmm_best", "tsmm", path)),
    }
