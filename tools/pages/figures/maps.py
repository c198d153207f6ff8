"""Which thread writes which element of C."""

import pathlib
import re

from tools.pages.data import MAPS, Data
from tools.pages.figures.style import LANES, Draw, Plan, plot_style, pointed, save
from tools.repository import DOCS, read_json

SIZE = 11.5  # of text
MAP_PT = 250  # how high a map is


def runs(flags: list[bool]) -> list[tuple[int, int]]:
    """Start and end of each run of true flags."""
    starts = [i for i, flag in enumerate(flags) if flag and not (i and flags[i - 1])]
    return [(start, next((i for i in range(start, len(flags)) if not flags[i]), len(flags))) for start in starts]


def rectangles(cells: set[tuple[int, int]]) -> list[tuple[int, int, int, int]]:
    """Cells (row, column) as few rectangles: row, column, height, width. Runs of a row, and equal ones below."""
    found: list[tuple[int, int, int, int]] = []
    for row in sorted({row for row, _ in cells}):
        columns = {col for r, col in cells if r == row}
        for start, end in runs([col in columns for col in range(max(columns) + 1)]):
            above = next(
                (i for i, (r, c, h, w) in enumerate(found) if (r + h, c, w) == (row, start, end - start)), None
            )
            if above is None:
                found.append((row, start, 1, end - start))
            else:
                r, c, h, w = found[above]
                found[above] = (r, c, h + 1, w)
    return found


def outline(inside: list[list[bool]]) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """The lines between cells that are inside and those that are not, in (column, row)."""
    height, width = len(inside), len(inside[0])
    framed = [
        [0 <= r < height and 0 <= c < width and inside[r][c] for c in range(-1, width + 1)]
        for r in range(-1, height + 1)
    ]
    level = [
        ((start, row), (end, row))
        for row in range(height + 1)
        for start, end in runs([framed[row][col + 1] != framed[row + 1][col + 1] for col in range(width)])
    ]
    upright = [
        ((col, start), (col, end))
        for col in range(width + 1)
        for start, end in runs([framed[row + 1][col] != framed[row + 1][col + 1] for row in range(height)])
    ]
    return level + upright


def draw_map(stage: str, path: pathlib.Path) -> None:
    """The tile of C that block 0 writes; which lane of which warp wrote what, found by running the stage."""
    plt = plot_style(SIZE)
    from matplotlib.collections import LineCollection

    found = read_json(MAPS)[stage]
    rows = [found["kinds"][kind] for kind in found["rows"]]
    height, width = len(rows), min(map(len, rows))
    fig, ax = plt.subplots(figsize=(8, 4.6))
    lanes = [[t % 32 for t in row[:width]] for row in rows]
    image = ax.imshow(lanes, cmap=LANES, interpolation="nearest", extent=(0, width, height, 0))
    warp = [[t // 32 == 0 for t in row[:width]] for row in rows]
    edges = outline(warp)
    own = rectangles({(row, col) for row in range(height) for col in range(width) if rows[row][col] == 0})
    parts = rectangles({(row, col) for row in range(height) for col in range(width) if warp[row][col]})
    # Lines thin enough that something is left between them.
    cell = MAP_PT / height
    thick = min(1.8, 0.3 * cell * min(high for _, _, high, _ in parts))
    thin = min(0.9, 0.2 * cell * min(high for _, _, high, _ in own))
    ax.add_collection(LineCollection(edges, colors="white", linewidths=2.2 * thick, clip_on=False))
    ax.add_collection(LineCollection(edges, colors="black", linewidths=thick, clip_on=False))
    for row, col, high, wide in own:
        ax.add_patch(plt.Rectangle((col, row), wide, high, facecolor="white", edgecolor="black", linewidth=thin))
    count = sum(high * wide for _, _, high, wide in own)
    elements = "1 element" if count == 1 else f"{count} elements"
    # To its rightmost place in the first row, and to the last corner of its warp; the higher one's label on top.
    row, col, high, wide = max((r for r in own if r[0] == own[0][0]), key=lambda r: r[1])
    last_row, last_col = max((row, col) for row in range(height) for col in range(width) if warp[row][col])
    corner = 1 - (last_row + 1) / height
    places = (0.66, 0.93) if corner > 0.8 else (0.9, min(0.62, corner + 0.1))
    pointed(plt, ax, f"thread 0,\n{elements}:\nwhite", (col + wide / 2, row + high / 2), places[0], SIZE)
    pointed(plt, ax, "warp 0:\noutlined", (last_col + 1, last_row + 1), places[1], SIZE)
    bar = fig.colorbar(image, label="lane (thread % 32)", pad=0.3, ticks=[0, 8, 16, 24, 31])
    bar.ax.invert_yaxis()  # as in the map, the first one on top
    ax.set_xlabel("column of C")
    ax.set_ylabel("row of C")
    ax.grid(False)
    ax.set_title(f"{stage}: block {tuple(found['block'])}", fontsize=SIZE)
    save(plt, fig, path)


def plan(data: Data) -> Plan:
    def draw(stage: str) -> Draw:
        return lambda data, path: draw_map(stage, path)

    maps = read_json(MAPS)
    named = {f"map_{stage.split('/')[1]}.svg": stage for stage in data.registry if stage in maps}
    # A stage with the map of another one shows that one's figure, so its own is not needed.
    shown = set().union(*(re.findall(r"/(map_\w+\.svg)\)", page.read_text()) for page in DOCS.rglob("*.md")))
    return {name: ([MAPS], draw(stage)) for name, stage in named.items() if name in shown}
