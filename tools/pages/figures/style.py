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


class Unable(Exception):
    """Said in one line; exit status 2."""


def plot_style() -> Pyplot:
    try:
        import matplotlib
    except ImportError:
        raise Unable("plots need matplotlib: apt-get install python3-matplotlib, or pip install matplotlib") from None
    matplotlib.use("svg")
    matplotlib.rcParams.update(
        {
            "svg.hashsalt": "staged-gemm",
            "svg.fonttype": "none",  # text stays text: it can be searched and read aloud
            "font.size": 10,
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
