"""Names at the curves themselves, so that none has to be looked up in a legend."""

from tools.pages.figures.style import SIZE, Axes, Figure

End = tuple[float, float, str, str]  # x, y in data units, text, colour


def spread(wanted: list[float], gap: float) -> list[float]:
    """Places near the wanted ones, from 0 to 1, in the same order, no two closer than the gap: neighbours share their
    mean."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])

    def centre(run: list[int]) -> float:
        half = (len(run) - 1) / 2 * gap
        return max(half, min(1 - half, sum(wanted[i] for i in run) / len(run)))

    runs = []
    for i in order:
        runs.append([i])
        while len(runs) > 1 and centre(runs[-1]) - centre(runs[-2]) < (len(runs[-1]) + len(runs[-2])) / 2 * gap:
            last = runs.pop()
            runs[-1] += last
    places = [0.0] * len(wanted)
    for run in runs:
        for k, i in enumerate(run):
            places[i] = centre(run) + (k - (len(run) - 1) / 2) * gap
    return places


def label_ends(fig: Figure, ax: Axes, ends: list[End], size: float = SIZE, x: float = 1.05) -> None:
    """Writes each text right of the plot, as near to its line's end as there is room; `x`: where, in parts of the
    plot's width."""
    if not ends:
        return
    fig.canvas.draw()  # only now are the scales final
    height = ax.get_window_extent().height / fig.dpi
    gap = size * 1.25 / 72 / height
    to_axes = ax.transAxes.inverted()
    points = [to_axes.transform(ax.transData.transform((x, y))) for x, y, _, _ in ends]
    for (end, y, text, colour), place in zip(ends, spread([p[1] for p in points], gap)):
        ax.annotate(
            text,
            xy=(end, y),
            xycoords="data",
            xytext=(x, place),
            textcoords="axes fraction",
            fontsize=size,
            color=colour,
            va="center",
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": colour,
                "linewidth": 0.5,
                "alpha": 0.5,
                "relpos": (0, 0.5),
                "shrinkA": 1,
                "shrinkB": 2,
            },
        )


def note(fig: Figure, text: str, y: float = -0.03) -> None:
    """Below everything."""
    fig.text(0.5, y, text, ha="center", va="top")
