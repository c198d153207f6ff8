"""TSMM's pages: what would bound an SM's time for a row."""

import pathlib

from tools.pages.data import Data
from tools.pages.figures.labels import label_ends
from tools.pages.figures.style import COLOURS, Plan, plot_style, save
from tools.repository import ROOT

MOST = 150  # cycles that are shown


def place(thread: int, per_row: int) -> tuple[int, int]:
    """Row and place of a thread: row_thread() of tsm/generated/row_threads.cuh."""
    both, inside = divmod(thread, 2 * per_row)
    return 2 * both + inside // 2 % 2, inside // 4 * 2 + inside % 2


def wavefronts(elements: list[int], words: int) -> int:
    """Of a warp's load of these elements, each of so many doubles: phases of 128 bytes, of which there are half as many
    where all lanes agree with lane ^ 1 or all with lane ^ 2 (docs/concepts/counts.md)."""
    lanes = 16 // words
    if any(all(elements[i] == elements[i ^ distance] for i in range(32)) for distance in (1, 2)):
        lanes *= 2
    total = 0
    for first in range(0, 32, lanes):
        load = [0] * (16 // words)
        for element in set(elements[first : first + lanes]):
            load[element % len(load)] += 1
        total += max(load)
    return total


def row_of_a(m: int, per_row: int, by_two: bool) -> float:
    """Wavefronts for a row of A, of doubles, which all its threads read."""
    words = 2 if by_two else 1
    elements = [place(lane, per_row)[0] * m // words for lane in range(32)]
    return m / words * wavefronts(elements, words) / (32 / per_row)


def row_of_11(m: int, n: int) -> float:
    """Wavefronts for a row of A and C of tsm/11: n warps have 32 rows."""
    total = 0
    for warp in range(n):
        threads = range(32 * warp, 32 * warp + 32)
        total += wavefronts([t // n * m for t in threads], 1) + wavefronts([t % n for t in threads], 1)
    return m * total / 32


def draw(data: Data, path: pathlib.Path) -> None:
    plt = plot_style()
    sms, clock = data.ladder["sm_count"], 1.75e9
    # The ceiling of `scale` in a run that measured it, else what it was when the pages were written.
    both_ways = data.ceilings.get("scale_gbs", 3930) * 1e9 / sms / clock
    fig, axes = plt.subplots(1, 2, figsize=(9, 4.2), sharey=True, gridspec_kw={"wspace": 0.75})
    widths = range(1, 65)
    even = range(2, 65, 2)
    by_rows = {
        rows: [row_of_a(m, 4, m % 2 == 0) + m * -(-m // 4) / (8 * rows) + m / 4 for m in widths] for rows in (1, 2, 4)
    }
    panels = (
        (
            "loads",
            (
                ("11: A and C", widths, [row_of_11(m, m) for m in widths]),
                ("12: A, by words", widths, [row_of_a(m, 4, False) for m in widths]),
                ("12: A, two words", even, [row_of_a(m, 4, True) for m in even]),
            ),
        ),
        (
            "12: A, C from shared\nmemory, B's sectors",
            [(f"{rows} row{'s' * (rows > 1)} at a time", widths, cycles) for rows, cycles in by_rows.items()],
        ),
    )
    axes[0].set_ylim(0, MOST)
    for ax, (title, curves) in zip(axes, panels):
        ends = []
        for colour, (name, xs, cycles) in zip(COLOURS, curves):
            ax.plot(xs, cycles, color=colour, linewidth=1.5)
            shown = [(x, y) for x, y in zip(xs, cycles) if y <= MOST]
            ends.append((*shown[-1], name, colour))
        cores, memory = [m * m / 64 for m in widths], 16 * 64 / both_ways
        ax.plot(widths, cores, "--", color=COLOURS[3], linewidth=1.8)
        ax.plot((0, 64), (0, memory), color="black", linewidth=1.8)
        ax.set_title(title)
        ax.set_xlabel("M = N, double")
        label_ends(fig, ax, [*ends, (64, cores[-1], "FP64 cores", COLOURS[3]), (64, memory, "memory", "black")])
    axes[0].set_ylabel("cycles of an SM for a row")
    save(plt, fig, path)


def plan(data: Data) -> Plan:
    sources = [ROOT / "tsm/11_tsmm_rows.cu", ROOT / "tsm/generated/row_threads.cuh"]
    return {"tsmm_row.svg": (sources, lambda data, path: draw(data, path))}
