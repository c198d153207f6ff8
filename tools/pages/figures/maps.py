"""Which thread writes which element of C."""

import pathlib

from tools.pages.data import MAPS, Data
from tools.pages.figures.style import Draw, Plan, plot_style, save
from tools.repository import read_json


def runs(flags: list[bool]) -> list[tuple[int, int]]:
    """Start and end of each run of true flags."""
    starts = [i for i, flag in enumerate(flags) if flag and not (i and flags[i - 1])]
    return [(start, next((i for i in range(start, len(flags)) if not flags[i]), len(flags))) for start in starts]


def draw_map(stage: str, path: pathlib.Path) -> None:
    """The tile of C that block 0 writes; which lane of which warp wrote what, found by running the stage."""
    plt = plot_style()
    from matplotlib.collections import LineCollection

    found = read_json(MAPS)[stage]
    rows = [found["kinds"][kind] for kind in found["rows"]]
    height, width = len(rows), min(map(len, rows))
    fig, ax = plt.subplots(figsize=(5.2, 4.6))
    lanes = [[t % 32 for t in row[:width]] for row in rows]
    image = ax.imshow(lanes, cmap="viridis", interpolation="nearest", extent=(0, width, height, 0))
    of_thread = [(row, col) for row in range(height) for col in range(width) if rows[row][col] == 0]
    if len(of_thread) == 1:
        for row in range(height):
            for col in range(width):
                if rows[row][col] // 32 == 0:  # the first warp
                    ax.add_patch(plt.Rectangle((col, row), 1, 1, fill=False, edgecolor="red", linewidth=1.2))
    else:
        # Only the outline of the first warp's elements, so that those of its first thread can be seen.
        first = [
            [0 <= row < height and 0 <= col < width and rows[row][col] // 32 == 0 for col in range(-1, width + 1)]
            for row in range(-1, height + 1)
        ]
        edges = [
            ((start, row), (end, row))
            for row in range(height + 1)
            for start, end in runs([first[row][col + 1] != first[row + 1][col + 1] for col in range(width)])
        ]
        edges += [
            ((col, start), (col, end))
            for col in range(width + 1)
            for start, end in runs([first[row + 1][col] != first[row + 1][col + 1] for row in range(height)])
        ]
        ax.add_collection(LineCollection(edges, colors="red", linewidths=1.2))
        ax.plot(
            [col + 0.5 for _, col in of_thread],
            [row + 0.5 for row, _ in of_thread],
            "s",
            color="white",
            markeredgecolor="black",
            markersize=4,
            clip_on=False,
        )
    fig.colorbar(image, label="lane (thread % 32)")
    ax.set_xlabel("column of C")
    ax.set_ylabel("row of C")
    ax.grid(False)
    separator, also = (
        (", ", "") if len(of_thread) == 1 else ("\n", f", the {len(of_thread)} elements of thread 0 white")
    )
    ax.set_title(f"{stage}: block {tuple(found['block'])}{separator}warp 0 in red{also}", fontsize=10)
    save(plt, fig, path)


def plan(data: Data) -> Plan:
    def draw(stage: str) -> Draw:
        return lambda data, path: draw_map(stage, path)

    maps = read_json(MAPS)
    return {f"map_{stage.split('/')[1]}.svg": ([MAPS], draw(stage)) for stage in data.registry if stage in maps}
