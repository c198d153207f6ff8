"""How all figures look, and how they are written."""

import pathlib
from collections.abc import Callable
from typing import Any

from tools.pages.data import Data
from tools.pages.figures.svg import shortened

# matplotlib's, which is imported only where something is drawn.
Axes = Any
Figure = Any
Pyplot = Any
Draw = Callable[[Data, pathlib.Path], None]
Plan = dict[str, tuple[list[pathlib.Path], Draw]]  # file: its sources, and what draws it


# Okabe and Ito's, dark enough for text on white: --c1 to --c8 of tools/site/assets/base.css. At most eight curves.
COLOURS = ("#005a9c", "#a85a00", "#006e4e", "#9c3068", "#6a5b00", "#1f7a99", "#b33a00", "#4a4a4a")
# What is drawn to be read from the last row: 14 pt on a screen of 1280 x 720, which a slide leaves 1200 x 600 of.
SCREEN, LEAST_PT = (1200, 600), 14
LANES = "cividis"  # of ordered cells: equally good for all eyes, and its end is not its beginning


class Unable(Exception):
    """Said in one line; exit status 2."""


def plot_style(size: float = 10) -> Pyplot:
    """`size`: of all text."""
    try:
        import matplotlib
    except ImportError:
        raise Unable("plots need matplotlib: apt-get install python3-matplotlib, or pip install matplotlib") from None
    matplotlib.use("svg")
    matplotlib.rcParams.update(
        {
            "svg.hashsalt": "staged-gemm",
            "svg.fonttype": "none",  # text stays text: it can be searched and read aloud
            "font.size": size,
            "axes.grid": True,
            "grid.alpha": 0.3,
            "axes.spines.top": False,
            "axes.spines.right": False,
        }
    )
    import matplotlib.pyplot as plt

    return plt


def save(plt: Pyplot, fig: Figure, path: pathlib.Path | str) -> None:
    path = pathlib.Path(path)
    is_svg = path.suffix == ".svg"
    kind = {"metadata": {"Date": None}} if is_svg else {"dpi": 150, "metadata": {"Software": None}}
    fig.savefig(path, bbox_inches="tight", facecolor="white", **kind)
    plt.close(fig)
    if is_svg:
        path.write_text(shortened(path.read_text()))


def beside(ax: Axes, title: str | None = None) -> None:
    ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=8, title=title, title_fontsize=8)


def on_any(plt: Pyplot, colour: str = "white", width: float = 3) -> list[Any]:
    """An edge for lines and text that lie on cells of several colours."""
    from matplotlib import patheffects

    return [patheffects.withStroke(linewidth=width, foreground=colour)]


def pointed(plt: Pyplot, ax: Axes, text: str, at: tuple[float, float], place: float, size: float) -> None:
    """A label right of the axes, at this part of their height, with a line to what it names (in data units)."""
    ax.annotate(
        text,
        xy=at,
        xycoords="data",
        xytext=(1.05, place),
        textcoords="axes fraction",
        fontsize=size,
        va="center",
        annotation_clip=False,
        arrowprops={
            "arrowstyle": "-",
            "color": "black",
            "linewidth": 1.2,
            "relpos": (0, 0.5),
            "shrinkB": 0,
            "path_effects": on_any(plt),
        },
    )
