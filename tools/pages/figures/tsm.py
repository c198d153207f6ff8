"""What the tall & skinny stages have in flight, and how their tiles lie."""

import dataclasses
import pathlib
import re
from collections.abc import Callable

from tools.experiments.tsm_cases import TYPES
from tools.pages.data import Data, NotMeasured
from tools.pages.figures.labels import label_ends
from tools.pages.figures.style import COLOURS as CURVES
from tools.pages.figures.style import Axes, Plan, Pyplot, plot_style, save
from tools.pages.records.probes import record_path
from tools.pages.records.tsm import memory
from tools.repository import ROOT

# Rows of A and B of which a thread has asked for words before it waits for the first, as compiled (nvdisasm, sm_90a:
# LDGs before a DFMA). nvcc unrolls by four, and then mixes loads and FMAs as it likes. Of real numbers as AHEAD in the
# sources.
ROWS_AHEAD = {("01", "d"): 2, ("01", "z"): 2, ("02", "d"): 2, ("02", "z"): 1}


def size(type: str) -> int:
    return 8 if type == "d" else 16


def rows_in_flight(stage: str, source: str, width: int, type: str, sms: int) -> int:
    """Different rows of A and B in flight at a time, for M = N = width."""
    threads = int(re.search(r"constexpr int THREADS = (\d+)", source).group(1))
    ahead = ROWS_AHEAD[stage, type]
    if stage == "01":  # all threads walk down the same rows
        return ahead
    blocks = int(re.search(r"constexpr int BLOCKS = (\d+)", source).group(1))
    elements = min(width * width, threads)
    tiles = -(-width * width // elements)
    return ahead * max(sms * blocks // tiles, 1) * (threads // elements)


def predicted_gbs(stage: str, source: str, width: int, type: str) -> float:
    """By Little's law, with the latency that so many bytes in flight have."""
    found = memory()
    rows = rows_in_flight(stage, source, width, type, found.sms)
    return found.gbs(rows * 2 * width * size(type) / found.sms)


def draw_prediction(sources: dict[str, str], data: Data, path: pathlib.Path) -> None:
    """Bandwidth by Little's law against the width, for each stage. Types that have the same curve share it."""
    plt = plot_style()
    fig, ax = plt.subplots(figsize=(8.2, 4.8))
    found = memory()
    most, widths = found.ceiling, range(1, 65)
    curves: dict[tuple[str, tuple[float, ...]], list[str]] = {}
    for stage, source in sources.items():
        for type in TYPES:
            speeds = tuple(predicted_gbs(stage, source, w, type) for w in widths)
            curves.setdefault((stage, speeds), []).append(TYPES[type])
    ends = []
    for n, ((stage, speeds), types) in enumerate(curves.items()):
        ax.plot(widths, speeds, "-" if types[0] == TYPES["d"] else "--", color=CURVES[n], linewidth=2.2)
        ends.append(
            (64, speeds[-1], f"{stage}, {', '.join(types)}".replace("double, double complex", "both types"), CURVES[n])
        )
    ax.axhline(most, color="black", linewidth=1.5)
    ax.annotate(f"read bandwidth, {data.ladder['device']}", (64, most * 1.1), ha="right", va="bottom")
    ax.set_yscale("log")
    ax.set_ylim(0.05, 3 * most)
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    ax.set_xlabel("M = N")
    ax.set_ylabel("GB/s of A and B")
    ax.set_title(
        f"Bytes in flight / latency: {found.ns(256):.0f} ns where they are few, {found.full_ns():.0f} ns where many",
    )
    label_ends(fig, ax, ends)
    save(plt, fig, path)


def element_owners(map_name: str, m: int, n: int, tm: int, tn: int) -> list[list[int]]:
    """Thread of a slice that has each element of C: the formulas of tsm/03 to 06."""
    tiles_m, tiles_n = -(-m // tm), -(-n // tn)
    if map_name == "transposed":
        return [[row % tiles_m * tiles_n + col % tiles_n for col in range(n)] for row in range(m)]
    return [[row // tm * tiles_n + col // tn for col in range(n)] for row in range(m)]


def draw_maps(path: pathlib.Path) -> None:
    """Who has which element of C, in the slices of 03 to 06, for a C of 8 x 8."""
    plt = plot_style()
    fig, axes = plt.subplots(1, 4, figsize=(10, 3.3))
    for ax, (title, name, tm, tn) in zip(
        axes,
        (
            ("03: 8 x 8, K only", "tiles", 8, 8),
            ("04: 8 x 1, K and N", "tiles", 8, 1),
            ("04b, 05: tiles of 4 x 4", "tiles", 4, 4),
            ("06: 4 x 4, transposed", "transposed", 4, 4),
        ),
    ):
        owners = element_owners(name, 8, 8, tm, tn)
        ax.imshow([[1 if owner == 0 else 0 for owner in row] for row in owners], cmap="Blues", vmin=0, vmax=2)
        for r, row in enumerate(owners):
            for c, owner in enumerate(row):
                ax.text(c, r, owner, ha="center", va="center")
        ax.set_title(title)
        ax.set_xticks([])
        ax.set_yticks([])
        ax.grid(False)
    axes[0].set_ylabel("row of C, column of A")
    fig.supxlabel("column of C and of B; the number is the thread of a slice")
    fig.tight_layout()
    save(plt, fig, path)


Point = tuple[float, float]
Corner = tuple[float, float, float]
# How far a step along each axis of a cuboid goes on paper: along the front to the right, down, and to the back.
DEPTH = (0.72, 0.55)
# Light, because a number stands on each cell; neighbours differ for all eyes.
COLOURS = ("#7fb8e6", "#f2b134", "#7ccba2", "#e8a6c8", "#efe36b", "#b7dff5", "#d9d2c3", "#b8b8b8")


@dataclasses.dataclass(frozen=True)
class Cuboid:
    """The M x N x K cells of a product, an FMA each. The front is what the product leaves: sums run to the back."""

    title: str
    across: tuple[str, int]  # the front's axes, and how many cells there are
    down: tuple[str, int]
    back: tuple[str, int]
    faces: tuple[str, str, str]  # the matrices on the front, on the top and on the right side
    owner: Callable[[int, int, int], int]  # thread of a cell: across, down, back


def cuboid_cell(corner: Corner, first: Corner, second: Corner) -> list[Point]:
    """The outline on paper of a cell's face, from one corner along two axes."""

    def place(across: float, down: float, back: float) -> Point:
        return across + DEPTH[0] * back, -down + DEPTH[1] * back

    ends = [corner]
    for steps in ((first,), (first, second), (second,)):
        ends.append(tuple(sum(values) for values in zip(corner, *steps)))
    return [place(*end) for end in ends]


def draw_cuboid(ax: Axes, plt: Pyplot, cuboid: Cuboid) -> None:
    across, down, back = (axis[1] for axis in (cuboid.across, cuboid.down, cuboid.back))
    right, below, behind = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    faces = [
        *(((x, y, 0), right, below, (x, y, 0)) for x in range(across) for y in range(down)),
        *(((x, 0, z), right, behind, (x, 0, z)) for x in range(across) for z in range(back)),
        *(((across, y, z), below, behind, (across - 1, y, z)) for y in range(down) for z in range(back)),
    ]
    for corner, first, second, cell in faces:
        owner = cuboid.owner(*cell)
        outline = cuboid_cell(corner, first, second)
        colour = COLOURS[owner % len(COLOURS)]
        ax.add_patch(plt.Polygon(outline, facecolor=colour, edgecolor="white", linewidth=0.6))
        x, y = (sum(values) / 4 for values in zip(*outline))
        ax.text(x, y, str(owner), ha="center", va="center_baseline")
    front, top, side = cuboid.faces
    ax.text(across / 2, -down - 0.2, f"{front}: {cuboid.across[0]} right", ha="center", va="top")
    ax.text(-0.2, -down / 2, f"{cuboid.down[0]} down", ha="right", va="center", rotation=90)
    far = DEPTH[0] * back, DEPTH[1] * back
    ax.text(across / 2 + far[0], far[1] + 0.2, f"{top}, {cuboid.back[0]} to the back", ha="center", va="bottom")
    ax.text(across + far[0] + 0.2, far[1] - down / 2, side, ha="left", va="center")
    ax.set_title(cuboid.title)
    ax.set_xlim(-0.8, across + far[0] + 0.7)
    ax.set_ylim(-down - 0.9, far[1] + 0.9)
    ax.set_aspect("equal")
    ax.axis("off")


def tsmttsm_cuboids() -> list[Cuboid]:
    """C is M x N, in front; K runs to the back, and A^T and B lie on the sides."""

    def cuboid(title: str, tm: int, tn: int) -> Cuboid:
        owners = element_owners("tiles", 4, 4, tm, tn)
        slice_threads = 16 // (tm * tn)
        return Cuboid(
            title,
            ("N", 4),
            ("M", 4),
            ("K", 4),
            ("C", "B", "A"),
            lambda x, y, z: z * slice_threads + owners[y][x],
        )

    return [
        cuboid("03: K only,\nall of C a thread", 4, 4),
        cuboid("04: K and N,\na column a thread", 4, 1),
        cuboid("04b, 05: tiles of 2 x 2,\na tile a thread", 2, 2),
    ]


def tsmm_cuboids() -> list[Cuboid]:
    """B is K x N, in front, of which K is long; M runs to the back, and A and C lie on the sides."""

    def cuboid(title: str, owner: Callable[[int, int], int]) -> Cuboid:
        return Cuboid(title, ("N", 4), ("K", 6), ("M", 2), ("B", "C", "A"), lambda x, y, z: owner(x, y))

    return [
        cuboid("a thread for\na row of B", lambda x, y: y),
        cuboid("11: a thread for\neach element", lambda x, y: 4 * y + x),
        cuboid("12: 2 threads a\nrow, interleaved", lambda x, y: 2 * y + x % 2),
        cuboid("12: the same with\n2 rows at a time", lambda x, y: 2 * (y % 3) + x % 2),
    ]


def draw_cuboids(cuboids: list[Cuboid], path: pathlib.Path) -> None:
    """Which thread has which FMAs; the number and the colour are the thread's."""
    plt = plot_style()
    fig, axes = plt.subplots(1, len(cuboids), figsize=(10.5, 4.4))
    for ax, cuboid in zip(axes, cuboids):
        draw_cuboid(ax, plt, cuboid)
    fig.tight_layout()
    save(plt, fig, path)


def tile_rows(source: str, tm: int, tn: int, width: int, rows_of_words: int, size: int) -> int:
    """Rows of K that an SM works on at a time with tiles of TM x TN: blocks() of tsm/05 to 08, and their Cut."""
    threads = int(re.search(r"constexpr int THREADS = (\d+)", source).group(1))
    other = int(re.search(r"\) \+ (\d+);\n  return std::min\(65536", source).group(1))
    registers = size // 4 * (tm * tn + rows_of_words * (tm + tn)) + other
    blocks = min(65536 // (min(registers, 255) * threads), 16)
    tiles = (-(-width // tm)) * (-(-width // tn))
    side_by_side = min(tiles, threads)
    return max(blocks // -(-tiles // side_by_side), 1) * (threads // side_by_side)


def draw_tiles(sources: dict[str, str], data: Data, path: pathlib.Path) -> None:
    """Bytes in flight of an SM against the width, for each tile, without and with a second set of registers."""
    plt = plot_style()
    fig, axes = plt.subplots(1, 2, figsize=(10, 4.4), sharey=True, gridspec_kw={"wspace": 0.3})
    widths = range(1, 65)
    needed = memory().needed() / 1000
    for ax, (stage, sets) in zip(axes, (("05", 1), ("07", 2))):
        ends = []
        for n, (tm, tn) in enumerate(((1, 1), (2, 2), (4, 4), (8, 8))):
            of = [tile_rows(sources[stage], tm, tn, w, sets, 8) * 2 * w * 8 / 1000 for w in widths]
            ax.plot(widths, of, color=CURVES[n], linewidth=1.8)
            ends.append((64, of[-1], f"{tm} x {tn}", CURVES[n]))
        ax.axhline(needed, color="black", linewidth=1.2)
        ax.set_yscale("log")
        ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        ax.set_xlabel("M = N, double")
        ax.set_title({"05": "05, 06: one set of registers", "07": "07, 08: two sets"}[stage])
        label_ends(fig, ax, [*ends, (64, needed, "needed", "black")])
    axes[0].set_ylabel("kB in flight of an SM")
    fig.text(0.5, -0.03, "needed: latency x bandwidth", ha="center", va="top")
    save(plt, fig, path)


def plan(data: Data) -> Plan:
    files = {path.name[:2]: path for path in sorted((ROOT / "tsm").glob("0[1-8]_*.cu"))}
    shared = ROOT / "tsm/tiles.hpp"  # by 05 to 08
    texts = {stage: path.read_text() + shared.read_text() for stage, path in files.items()}
    first, maps, tiles = (
        [files[stage] for stage in stages] for stages in (("01", "02"), ("03", "04", "05", "06"), ("05", "07"))
    )
    of_k, of_rows = [files[s] for s in ("03", "04", "05")], [ROOT / "tsm/generated/row_threads.cuh"]
    always = {
        "tsm_maps.svg": (maps, lambda data, path: draw_maps(path)),
        "tsm_cuboid.svg": (of_k, lambda data, path: draw_cuboids(tsmttsm_cuboids(), path)),
        "tsmm_cuboid.svg": (of_rows, lambda data, path: draw_cuboids(tsmm_cuboids(), path)),
    }
    try:
        memory()
    except NotMeasured:
        return always
    probe = record_path("bandwidth")
    return always | {
        "tsm_latency.svg": (
            [*first, probe],
            lambda data, path: draw_prediction({s: texts[s] for s in ("01", "02")}, data, path),
        ),
        "tsm_tiles.svg": ([*tiles, shared, probe], lambda data, path: draw_tiles(texts, data, path)),
    }
