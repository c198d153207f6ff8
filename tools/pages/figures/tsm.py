"""What the tall & skinny stages have in flight, and how their tiles lie."""

import pathlib
import re

from tools.experiments.tsm_cases import TYPES
from tools.pages.data import LADDER, Data
from tools.pages.figures.style import Plan, plot_style, save
from tools.repository import ROOT

# Of a load from device memory, in seconds, until a run has measured it on the GPU.
ASSUMED_LATENCY = 600e-9
# Rows of A and B of which a thread has asked for words before it waits for the first, as compiled (nvdisasm, sm_90a:
# LDGs before a DFMA). nvcc unrolls by four, and then mixes loads and FMAs as it likes. Of real numbers as AHEAD in the
# sources.
ROWS_AHEAD = {("01", "d"): 2, ("01", "z"): 2, ("02", "d"): 2, ("02", "z"): 1}


def size(type: str) -> int:
    return 8 if type == "d" else 16


def rows_in_flight(stage: str, source: str, width: int, type: str, sms: int) -> int:
    """Different rows of A and B on their way to the GPU at a time, for M = N = width."""
    threads = int(re.search(r"constexpr int THREADS = (\d+)", source).group(1))
    ahead = ROWS_AHEAD[stage, type]
    if stage == "01":  # all threads walk down the same rows
        return ahead
    blocks = int(re.search(r"constexpr int BLOCKS = (\d+)", source).group(1))
    elements = min(width * width, threads)
    tiles = -(-width * width // elements)
    return ahead * max(sms * blocks // tiles, 1) * (threads // elements)


def latency(data: Data) -> float:
    """In seconds."""
    return data.ceilings["latency_ns"] * 1e-9 if "latency_ns" in data.ceilings else ASSUMED_LATENCY


def predicted_gbs(stage: str, source: str, width: int, type: str, data: Data) -> float:
    """By Little's law, up to the bandwidth."""
    in_flight = rows_in_flight(stage, source, width, type, data.ladder["sm_count"]) * 2 * width * size(type)
    return min(in_flight / latency(data) / 1e9, data.ceilings["read_gbs"])


def draw_prediction(sources: dict[str, str], data: Data, path: pathlib.Path) -> None:
    """Bandwidth by Little's law against the width, for each stage."""
    plt = plot_style()
    fig, ax = plt.subplots(figsize=(8, 4.2))
    most, widths = data.ceilings["read_gbs"], range(1, 65)
    for stage, source in sources.items():
        for type, dashes in (("d", "-"), ("z", "--")):
            ax.plot(
                widths,
                [predicted_gbs(stage, source, w, type, data) for w in widths],
                dashes,
                color={"01": "C0", "02": "C1"}[stage],
                label=f"{stage}, {TYPES[type]}",
            )
    ax.axhline(most, color="black", linewidth=1)
    ax.annotate(f"read bandwidth, {data.ladder['device']}", (64, most), ha="right", va="bottom", fontsize=8)
    ax.set_yscale("log")
    ax.set_ylim(0.05, 3 * most)
    ax.set_xlabel("M = N")
    ax.set_ylabel("GB/s of A and B")
    ax.set_title(f"Bytes on their way over a latency of {latency(data) * 1e9:.0f} ns", fontsize=10)
    ax.legend(loc="lower right", fontsize=8)
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
    fig, axes = plt.subplots(1, 4, figsize=(11, 3.5))
    for ax, (title, name, tm, tn) in zip(
        axes,
        (
            ("03: 8 x 8, K only", "tiles", 8, 8),
            ("04: 8 x 1, K and N", "tiles", 8, 1),
            ("05: tiles of 4 x 4", "tiles", 4, 4),
            ("06: 4 x 4, transposed", "transposed", 4, 4),
        ),
    ):
        owners = element_owners(name, 8, 8, tm, tn)
        ax.imshow([[1 if owner == 0 else 0 for owner in row] for row in owners], cmap="Blues", vmin=0, vmax=2)
        for r, row in enumerate(owners):
            for c, owner in enumerate(row):
                ax.text(c, r, owner, ha="center", va="center", fontsize=8)
        ax.set_title(title, fontsize=10)
        ax.set_xticks([])
        ax.set_yticks([])
        ax.grid(False)
    axes[0].set_ylabel("row of C, column of A")
    fig.supxlabel("column of C and of B; the number is the thread of a slice", fontsize=9)
    fig.tight_layout()
    save(plt, fig, path)


def tile_rows(source: str, tm: int, tn: int, width: int, rows_of_words: int, size: int) -> int:
    """Rows of K that an SM works on at a time with tiles of TM x TN: blocks() and Cut of tsm/05 to 08."""
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
    fig, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True)
    widths = range(1, 65)
    for ax, (stage, sets) in zip(axes, (("05", 1), ("07", 2))):
        for i, (tm, tn) in enumerate(((1, 1), (2, 2), (4, 4), (8, 8))):
            ax.plot(
                widths,
                [tile_rows(sources[stage], tm, tn, w, sets, 8) * 2 * w * 8 / 1000 for w in widths],
                f"C{i}-",
                linewidth=1.2,
                label=f"{tm} x {tn}",
            )
        needed = latency(data) * data.ceilings["read_gbs"] * 1e9 / data.ladder["sm_count"] / 1000
        ax.axhline(needed, color="black", linewidth=1)
        ax.annotate("latency x bandwidth", (64, needed), ha="right", va="bottom", fontsize=8)
        ax.set_yscale("log")
        ax.set_xlabel("M = N, double")
        ax.set_title({"05": "05, 06: one set of registers", "07": "07, 08: two sets"}[stage], fontsize=10)
    axes[0].set_ylabel("kB in flight of an SM")
    axes[0].legend(fontsize=8)
    fig.tight_layout()
    save(plt, fig, path)


def plan(data: Data) -> Plan:
    files = {path.name[:2]: path for path in sorted((ROOT / "tsm").glob("0[1-8]_*.cu"))}
    texts = {stage: path.read_text() for stage, path in files.items()}
    first, maps, tiles = (
        [files[stage] for stage in stages] for stages in (("01", "02"), ("03", "04", "05", "06"), ("05", "07"))
    )
    return {
        "tsm_latency.svg": (
            [*first, LADDER],
            lambda data, path: draw_prediction({s: texts[s] for s in ("01", "02")}, data, path),
        ),
        "tsm_maps.svg": (maps, lambda data, path: draw_maps(path)),
        "tsm_tiles.svg": ([*tiles, LADDER], lambda data, path: draw_tiles(texts, data, path)),
    }
