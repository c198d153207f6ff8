"""Stage 11a: which lane's register each of four lanes takes an operand from, under AMD's quad_perm."""

import pathlib

from tools.pages.data import Data
from tools.pages.figures.style import Axes, Plan, Pyplot, plot_style, save

LANES = 4
HELD = ["b0", "b1", "b0", "b1"]  # what each lane has read: the even ones B's first float4, the odd ones its second
# The title, what the lanes hold, and the permutation.
PANELS = [
    ("b0 for all: [0, 0, 2, 2]", HELD, [0, 0, 2, 2]),
    ("b1 for all: [1, 1, 3, 3]", HELD, [1, 1, 3, 3]),
    ("the article's table: [2, 2, 0, 1]", ["1", "2", "3", "4"], [2, 2, 0, 1]),
]
COLOURS = ["#9ecae1", "#fdd0a2", "#c6dbef", "#fee6ce"]


def operands(held: list[str], permutation: list[int]) -> list[str]:
    """What the FMA of each lane multiplies by. The registers stay as they are."""
    return [held[source] for source in permutation]


def draw_panel(plt: Pyplot, ax: Axes, title: str, held: list[str], permutation: list[int]) -> None:
    for lane in range(LANES):
        source = permutation[lane]
        for y, text, colour in (
            (1, held[lane], COLOURS[lane]),
            (0, operands(held, permutation)[lane], COLOURS[source]),
        ):
            ax.add_patch(plt.Rectangle((lane + 0.1, y), 0.8, 0.35, facecolor=colour, edgecolor="black"))
            ax.text(lane + 0.5, y + 0.175, text, ha="center", va="center")
        ax.annotate(
            "",
            xy=(lane + 0.5, 0.37),
            xytext=(source + 0.5, 0.98),
            arrowprops={"arrowstyle": "->", "linewidth": 1.4 if source != lane else 0.8},
        )
        ax.text(lane + 0.5, 1.42, f"lane {lane}", ha="center", va="bottom")
    ax.set_title(title, pad=14)
    ax.set_xlim(-0.05, LANES + 0.05)
    ax.set_ylim(-0.1, 1.55)
    ax.axis("off")


def draw(path: pathlib.Path) -> None:
    plt = plot_style()
    fig, axes = plt.subplots(1, len(PANELS), figsize=(11, 3))
    for ax, panel in zip(axes, PANELS):
        draw_panel(plt, ax, *panel)
    axes[0].text(-0.1, 1.175, "register", ha="right", va="center")
    axes[0].text(-0.1, 0.175, "operand", ha="right", va="center")
    save(plt, fig, path)


def plan(data: Data) -> Plan:
    return {"quad_perm.svg": ([pathlib.Path(__file__)], lambda data, path: draw(path))}
