"""How all figures look, and how they are written."""

import pathlib
from collections.abc import Callable
from typing import Any

from tools.pages.data import Data
from tools.pages.figures.svg import shortened

# matplotlib's, which is imported only where something is drawn.
Axes = Any
Axis = Any
Figure = Any
Pyplot = Any
Draw = Callable[[Data, pathlib.Path], None]
Plan = dict[str, tuple[list[pathlib.Path], Draw]]  # file: its sources, and what draws it


# Okabe and Ito's, dark enough for text on white: --c1 to --c8 of tools/site/assets/base.css. At most eight curves.
COLOURS = ("#005a9c", "#a85a00", "#006e4e", "#9c3068", "#6a5b00", "#1f7a99", "#b33a00", "#4a4a4a")
# What is drawn to be read from the last row: 14 pt on a screen of 1280 x 720, which a slide leaves 1200 x 600 of.
SCREEN, LEAST_PT = (1200, 600), 14
SIZE = 12  # of text, where the drawing is at most 771 x 385, matplotlib's points: figsize=(10, 4.8) and some labels
LANES = "cividis"  # of ordered cells: equally good for all eyes, and its end is not its beginning


class Unable(Exception):
    """Said in one line; exit status 2."""


def plot_style(size: float = SIZE) -> Pyplot:
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
            "font.sans-serif": ["DejaVu Sans", "Verdana"],  # as wide; each figure's styles name them all
            "font.size": size,
            "axes.titlesize": "medium",
            "figure.titlesize": "medium",
            "axes.grid": True,
            "grid.alpha": 0.3,
            "axes.spines.top": False,
            "axes.spines.right": False,
        }
    )
    import matplotlib.pyplot as plt

    return plt


def save(plt: Pyplot, fig: Figure, path: pathlib.Path | str) -> None:
    if fig.legends or any(ax.get_legend() for ax in fig.axes):
        raise ValueError(f"{path}: a legend; names stand at the curves (label_ends)")
    path = pathlib.Path(path)
    is_svg = path.suffix == ".svg"
    kind = {"metadata": {"Date": None}} if is_svg else {"dpi": 150, "metadata": {"Software": None}}
    fig.savefig(path, bbox_inches="tight", facecolor="white", **kind)
    plt.close(fig)
    if is_svg:
        path.write_text(shortened(path.read_text()))


def short(value: float) -> str:
    """Of an axis: 10k, 1M; powers of two in full."""
    for unit, letter in ((1e6, "M"), (1e3, "k")):
        if value >= unit and value % unit == 0:
            return f"{value / unit:g}{letter}"
    return f"{value:.10g}"


def log_axes(ax: Axes, x: float | None = None, y: float | None = None) -> None:
    """Logarithmic axes, with numbers that have no small exponents; the bases, or None where an axis is linear."""
    from matplotlib.ticker import LogLocator

    for axis, name, base in ((ax.xaxis, "x", x), (ax.yaxis, "y", y)):
        if base is not None:
            getattr(ax, f"set_{name}scale")("log", base=base)
            low, high = axis.get_view_interval()
            if base == 10 and high < 200 * low:  # powers alone would be one or two
                axis.set_major_locator(LogLocator(10, subs=(1, 2, 5)))
            axis.set_major_formatter(lambda value, _: short(value))
            axis.set_minor_formatter(lambda value, _: "")


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
