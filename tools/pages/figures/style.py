"""How all figures look, and how they are written."""

import pathlib
from collections.abc import Callable
from typing import Any

from tools.pages.data import Data

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
    kind = {"dpi": 150, "metadata": {"Software": None}} if str(path).endswith(".png") else {"metadata": {"Date": None}}
    fig.savefig(path, bbox_inches="tight", facecolor="white", **kind)
    plt.close(fig)


def beside(ax: Axes, title: str | None = None) -> None:
    ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=8, title=title, title_fontsize=8)
