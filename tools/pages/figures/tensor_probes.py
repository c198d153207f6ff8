"""The probes of docs/tensorcore/: fragments, scan, Householder, Givens."""

import pathlib

from tools.pages.data import Data
from tools.pages.figures.labels import label_ends, note
from tools.pages.figures.style import COLOURS, LANES, Axes, Draw, Plan, log_axes, plot_style, save
from tools.pages.records.tensor_probes import (
    PAPER,
    figure_of,
    fragment_grid,
    map_path,
    pairs_of,
    part,
    probe_path,
    probe_run,
    ratio_of,
    task_series,
)
from tools.repository import read_json

# Of 16 x 16 x 16: wmma's fragments, and those of mma.sync that they consist of.
DRAWN = (
    ("a_f16_16x16x16_row", "b_f16_16x16x16_row", "c_f32_16x16x16"),
    ("a_f16_16x8x16", "b_f16_16x8x16", "c_f32_16x8x16"),
)
FRAGMENT_SIZE = 14  # of text
REST = 2.6  # how wide the pieces are drawn that are like the first, of 8 columns
SCAN_LEFT_OUT = ("shared, once",)  # five forms of two tasks would be more than eight curves
TITLES = {"a": "A", "b": "B", "c": "accumulator"}


def issue_slots(bytes_moved: float) -> float:
    """Of an SM's four schedulers, in the time in which a copy moves so many bytes: an H200 as
    common/report/probe_report.hpp's Machine has it."""
    copy_gbs, sm_count, ghz = 4201, 132, 33160 / (2 * 64 * 132)
    return bytes_moved / (copy_gbs / sm_count) * ghz * 4


def bar_name(kernel: str, m: int) -> str:
    """registers, one call: of householder_registers<32, 1>"""
    name, _, of = kernel.split("_")[1].rstrip(">").partition("<")
    words = [{"1": "one call" * (m > 16), "4": "four calls"}.get(each, each.lower()) for each in of.split(", ")]
    return ",\n".join([name, *(word for word in words if word and word != str(m))])


def draw_instructions(name: str, path: pathlib.Path) -> None:
    """What a warp executes for a matrix, and the issue slots that a copy of it leaves."""
    plt = plot_style()
    run = probe_run(name, "counted")
    code = [(r["kernel"], r["instructions"], 32 if "<32" in r["kernel"] else 16) for r in part(run, "code")]
    bytes_of = {32 if r["task"] == "m = 32" else 16: r["bytes"] / r["batch"] for r in part(run, "batch")}
    count = len(bytes_of)
    fig, axes = plt.subplots(
        1, count, figsize=(9.2 if count > 1 else 7, 3.6), squeeze=False, gridspec_kw={"wspace": 0.5}
    )
    for ax, (m, size) in zip(axes[0], sorted(bytes_of.items())):
        bars = [(bar_name(kernel, m), n) for kernel, n, of in code if of == m]
        ax.barh([kernel for kernel, _ in bars], [n for _, n in bars], color="#8fc1e8")
        for row, (_, n) in enumerate(bars):
            ax.text(0.95 * n, row, n, ha="right", va="center")
        slots = issue_slots(size)
        for at, words, side in (
            (slots, f"a copy:\n{slots:.0f}", "right"),
            (slots / 2, f"half: {slots / 2:.0f}", "center"),
        ):
            ax.axvline(at, color="black", linestyle="-" if at == slots else "--", linewidth=1.5)
            ax.annotate(words, (at, 1.02), xycoords=("data", "axes fraction"), ha=side, va="bottom")
        ax.set_title(f"{m} x {m}: {size:,.0f} bytes", pad=38)
        ax.set_xlabel("instructions of a warp")
        ax.set_xlim(0, slots * 1.05)
    note(fig, "for a matrix; lines: the issue slots in the time of a copy, and in half of it", y=-0.06)
    save(plt, fig, path)


def draw_transform(name: str, path: pathlib.Path) -> None:
    """Speed-ups over the batch, for each size of matrices; below them what the paper saw."""
    plt = plot_style()
    run = probe_run(name, "measured")
    series = task_series(run)
    count = len(series)
    size = (8.8, 3.7) if count > 1 else (7, 4)
    fig, axes = plt.subplots(1, count, figsize=size, squeeze=False, gridspec_kw={"wspace": 0.8})
    for ax, (task, batches) in zip(axes[0], series.items()):
        ends = []
        for colour, pair in zip(COLOURS, pairs_of(next(iter(batches.values())))):
            points = [(batch, ratio_of(by_form, pair)) for batch, by_form in batches.items() if ratio_of(by_form, pair)]
            if points:
                ax.plot(*zip(*points), color=colour, linewidth=2)
                ends.append((*points[-1], pair[0], colour))
        ax.axhline(1, color="black", linewidth=1)
        log_axes(ax, 2)
        ax.set_xticks(*powers_of_two(points[0][0], points[-1][0]))
        ax.set_title(task)
        ax.set_xlabel("matrices of a batch")
        label_ends(fig, ax, ends)
    axes[0][0].set_ylabel("speed-up over shared memory")
    fig.suptitle(run["device"], y=1.02)
    figure, words = PAPER[name]
    said = [word for word in words if word]
    lines = [", ".join(said[i : i + 2]) for i in range(0, len(said), 2)]
    note(fig, "\n".join([f"The paper's {figure}, in the words of its text:", *lines]), y=-0.05)
    save(plt, fig, path)


def powers_of_two(first: float, last: float) -> tuple[list[int], list[str]]:
    """Every fourth, as 256, 4Ki and so on."""
    powers = [1 << e for e in range(0, 31, 4) if first <= 1 << e <= last]
    return powers, [str(p) if p < 1 << 10 else f"{p >> 10}Ki" if p < 1 << 20 else f"{p >> 20}Mi" for p in powers]


def draw_pieces(ax: Axes, lanes: list[list[int]], title: str) -> None:
    """A fragment that repeats one piece of 8 x 8: that piece with each lane's number, written once for its neighbours;
    of the others only that they are the same."""
    from matplotlib.patches import Rectangle

    rows, cols = len(lanes), len(lanes[0])
    piece = [row[:8] for row in lanes[:8]]
    same = all(lanes[i][j] == piece[i % 8][j % 8] for i in range(rows) for j in range(cols))
    if not same:
        raise ValueError(f"{title}: its pieces of 8 x 8 differ")
    ax.imshow(piece, cmap=LANES, vmin=0, vmax=31, extent=(0, 8, 8, 0), aspect="auto")
    wide = next(n for n in (2, 1) if all(row[c] == row[c + n - 1] for row in piece for c in range(0, 8, n)))
    high = next(n for n in (2, 1) if all(piece[r] == piece[r + n - 1] for r in range(0, 8, n)))
    for r in range(0, 8, high):
        for c in range(0, 8, wide):
            colour = "black" if piece[r][c] > 13 else "white"
            ax.text(
                c + wide / 2, r + high / 2, piece[r][c], ha="center", va="center", fontsize=FRAGMENT_SIZE, color=colour
            )
    for edge in range(0, 9, high):
        ax.plot((0, 8), (edge, edge), color="white", linewidth=0.8)
    for edge in range(0, 9, wide):
        ax.plot((edge, edge), (0, 8), color="white", linewidth=0.8)
    # The other pieces are narrow: there is nothing to be read in them.
    right, below = 8 + REST * (cols > 8), 8 + REST / 2 * (rows > 8)
    for (x, wide), (y, high) in (((8, right - 8), (0, 8)), ((0, 8), (8, below - 8)), ((8, right - 8), (8, below - 8))):
        ax.add_patch(Rectangle((x, y), wide, high, facecolor="#e8e8e8", edgecolor="white", linewidth=2))
        if wide and high:
            ax.text(x + wide / 2, y + high / 2, "same", ha="center", va="center", fontsize=FRAGMENT_SIZE)
    ax.set_title(title, fontsize=FRAGMENT_SIZE, pad=12)
    ax.set_xlim(0, 8 + REST)
    ax.set_ylim(8 + REST / 2, 0)
    ax.set_xticks([0, 8, right][: 2 + (cols > 8)], ["0", "8", "16"][: 2 + (cols > 8)])
    ax.set_yticks([0, 8, below], ["0", "8", "16"])
    ax.spines[["left", "bottom"]].set_visible(False)
    ax.grid(False)


def draw_fragments(path: pathlib.Path) -> None:
    plt = plot_style(FRAGMENT_SIZE)
    run = read_json(map_path())
    fig, axes = plt.subplots(2, 3, figsize=(12, 6.2), gridspec_kw={"wspace": 0.2, "hspace": 0.36})
    for row, kinds in zip(axes, DRAWN):
        for ax, kind in zip(row, kinds):
            lanes, found = fragment_grid(run, kind)
            family, _, shape, _ = found["fragment"].split()[:4]
            draw_pieces(ax, lanes, f"{family} {shape}, {TITLES[kind[0]]}: {found['registers']}")
    fig.suptitle(
        f"The lane of each element ({run['device']}), and registers per lane. A fragment repeats its piece of 8 x 8.",
        fontsize=FRAGMENT_SIZE,
        y=0.99,
    )
    save(plt, fig, path)


def draw_triangle(path: pathlib.Path) -> None:
    """U, as the lanes have it that calculate it."""
    plt = plot_style()
    run = read_json(map_path())
    fig, ax = plt.subplots(figsize=(5.6, 4.9))
    lanes, _ = fragment_grid(run, DRAWN[0][1])
    for row, of in enumerate(lanes):
        for col, lane in enumerate(of):
            if row <= col:
                of_lane = plt.get_cmap(LANES)(lane / 31)
                ax.add_patch(plt.Rectangle((col - 0.5, row - 0.5), 1, 1, facecolor=of_lane))
            colour = "white" if row <= col and lane <= 13 else "black"
            ax.text(col, row, lane, ha="center", va="center_baseline", color=colour)
    ax.set_xlim(-0.5, len(lanes[0]) - 0.5)
    ax.set_ylim(len(lanes) - 0.5, -0.5)
    ax.set_title("U: ones coloured, zeros white; the lane that sets each")
    ax.set_xticks(range(0, len(lanes[0]), 4))
    ax.set_yticks(range(0, len(lanes), 4))
    ax.set_xlabel("column j")
    ax.set_ylabel("row i")
    ax.grid(False)
    save(plt, fig, path)


def draw_scan(path: pathlib.Path) -> None:
    """As shares of the copy."""
    plt = plot_style()
    run = probe_run("05_scan", "measured")
    series = task_series(run)
    copy = run["ceilings"]["copy_gbs"]
    fig, axes = plt.subplots(1, len(series), figsize=(9, 4), sharey=True, gridspec_kw={"wspace": 0.65})
    for ax, (task, batches) in zip(axes, series.items()):
        ends = []
        for form in (form for form in next(iter(batches.values())) if form not in SCAN_LEFT_OUT):
            points = [
                (by_form[form]["bytes"] / 1e6, 100 * by_form[form]["gbs"] / copy)
                for by_form in batches.values()
                if "gbs" in by_form[form]
            ]
            if points:
                colour = COLOURS[len(ends)]
                ax.plot(*zip(*points), color=colour, linewidth=2)
                ends.append((*points[-1], form, colour))
        ax.axhline(100, color="black", linewidth=1)
        log_axes(ax, 10)
        ax.set_ylim(0, 108)
        ax.set_title(task)
        ax.set_xlabel("MB read and written")
        label_ends(fig, ax, ends)
    axes[0].set_ylabel(f"% of a copy's {copy:,.0f} GB/s")
    fig.suptitle(run["device"], y=1.0)
    note(fig, f"not drawn, in the table: {', '.join(SCAN_LEFT_OUT)}")
    save(plt, fig, path)


def plan(data: Data) -> Plan:
    def instructions(name: str) -> Draw:
        return lambda data, path: draw_instructions(name, path)

    def speedup(name: str) -> Draw:
        return lambda data, path: draw_transform(name, path)

    found = {
        "fragments_f16.svg": ([map_path()], lambda data, path: draw_fragments(path)),
        "scan_triangle.svg": ([map_path()], lambda data, path: draw_triangle(path)),
    }
    scan = probe_path("05_scan", "measured")
    if scan.exists():
        found["scan_speed.svg"] = ([scan], lambda data, path: draw_scan(path))
    for name in PAPER:
        found[f"{name.split('_')[1]}_instructions.svg"] = ([probe_path(name, "counted")], instructions(name))
        measured = probe_path(name, "measured")
        if measured.exists():
            found[figure_of(name)] = ([measured], speedup(name))
    return found
