"""The probes of docs/tensorcore/: fragments, scan, Householder, Givens."""

import pathlib
from collections.abc import Callable

from tools.pages.data import Data
from tools.pages.figures.style import LANES, Axes, Draw, Plan, plot_style, save
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
TITLES = {"a": "A", "b": "B", "c": "accumulator"}


def issue_slots(bytes_moved: float) -> float:
    """Of an SM's four schedulers, in the time in which a copy moves so many bytes: an H200 as
    common/report/probe_report.hpp's Machine has it."""
    copy_gbs, sm_count, ghz = 4201, 132, 33160 / (2 * 64 * 132)
    return bytes_moved / (copy_gbs / sm_count) * ghz * 4


def draw_instructions(name: str, path: pathlib.Path) -> None:
    """What a warp executes for a matrix, and the issue slots that a copy of it leaves."""
    plt = plot_style()
    run = probe_run(name, "counted")
    code = [
        (r["kernel"].split("_")[1], r["instructions"], 32 if "<32" in r["kernel"] else 16) for r in part(run, "code")
    ]
    bytes_of = {32 if r["task"] == "m = 32" else 16: r["bytes"] / r["batch"] for r in part(run, "batch")}
    fig, axes = plt.subplots(1, len(bytes_of), figsize=(5.2 * len(bytes_of), 3.2), squeeze=False)
    for ax, (m, size) in zip(axes[0], sorted(bytes_of.items())):
        bars = [(kernel, n) for kernel, n, of in code if of == m]
        drawn = ax.barh([kernel for kernel, _ in bars], [n for _, n in bars], color="tab:blue")
        ax.bar_label(drawn, padding=3, fontsize=8)
        for part_of, style in ((1, "-"), (2, "--")):
            slots = issue_slots(size) / part_of
            ax.axvline(
                slots,
                color="black",
                linestyle=style,
                linewidth=1,
                label=f"issue slots, {'a copy' if part_of == 1 else 'twice as fast as a copy'}: {slots:.0f}",
            )
        ax.set_title(f"{m} x {m}: {size:,.0f} bytes", fontsize=10)
        ax.set_xlabel("instructions of a warp for a matrix")
        ax.set_xlim(0, issue_slots(size) * 1.05)
        ax.legend(fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.3))
    fig.tight_layout()
    save(plt, fig, path)


def draw_transform(name: str, path: pathlib.Path) -> None:
    """Speed-ups over the batch, for each size of matrices; beside them what the paper saw."""
    plt = plot_style()
    run = probe_run(name, "measured")
    series = task_series(run)
    fig, axes = plt.subplots(1, len(series) + 1, figsize=(3.8 * (len(series) + 1), 4.2))
    for ax, (task, batches) in zip(axes, series.items()):
        for pair, marker in zip(pairs_of(next(iter(batches.values()))), "osD"):
            points = [(batch, ratio_of(by_form, pair)) for batch, by_form in batches.items() if ratio_of(by_form, pair)]
            if points:
                ax.plot(*zip(*points), marker=marker, markersize=4, linewidth=0.8, label=" / ".join(pair))
        ax.axhline(1, color="black", linewidth=1)
        ax.set_xscale("log", base=2)
        ax.set_title(f"{task} ({run['device']})", fontsize=10)
        ax.set_xlabel("matrices of a batch")
        ax.legend(fontsize=7)
    axes[0].set_ylabel("speed-up over shared memory")
    figure, words = PAPER[name]
    axes[-1].set_title(f"the paper's {figure}, in the words of its text", fontsize=9)
    axes[-1].set_axis_off()
    for line, text in enumerate(words):
        axes[-1].text(0.02, 0.9 - 0.1 * line, text, fontsize=9, transform=axes[-1].transAxes)
    fig.tight_layout()
    save(plt, fig, path)


def draw_grid(ax: Axes, lanes: list[list[int]], title: str, ones: Callable[[int, int], bool] | None = None) -> None:
    """Coloured by lane, with its number; `ones`: which elements are 1, the others grey."""
    rows, cols = len(lanes), len(lanes[0])
    ax.imshow(lanes, cmap="viridis", vmin=0, vmax=31)
    for i in range(rows):
        for j in range(cols):
            blank = ones is not None and not ones(i, j)
            if blank:
                ax.fill_between((j - 0.5, j + 0.5), i - 0.5, i + 0.5, color="white")
            ax.text(
                j,
                i,
                lanes[i][j],
                ha="center",
                va="center",
                fontsize=6,
                color="black" if blank or lanes[i][j] > 18 else "white",
            )
    ax.set_title(title, fontsize=9)
    ax.set_xlim(-0.5, cols - 0.5)
    ax.set_ylim(rows - 0.5, -0.5)
    ax.set_xticks(range(0, cols, 4))
    ax.set_yticks(range(0, rows, 4))
    ax.grid(False)


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
    ax.set_title(title, fontsize=FRAGMENT_SIZE)
    ax.set_xlim(0, 8 + REST)
    ax.set_ylim(8 + REST / 2, 0)
    ax.set_xticks([0, 8, right][: 2 + (cols > 8)], ["0", "8", "16"][: 2 + (cols > 8)])
    ax.set_yticks([0, 8, below], ["0", "8", "16"])
    ax.spines[["left", "bottom"]].set_visible(False)
    ax.grid(False)


def draw_fragments(path: pathlib.Path) -> None:
    plt = plot_style(FRAGMENT_SIZE)
    run = read_json(map_path())
    fig, axes = plt.subplots(2, 3, figsize=(12, 6.2), gridspec_kw={"wspace": 0.2, "hspace": 0.3})
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
    fig, ax = plt.subplots(figsize=(4.6, 4.6))
    lanes, _ = fragment_grid(run, DRAWN[0][1])
    draw_grid(ax, lanes, "U: ones coloured, zeros white; the lane that sets each", lambda i, j: i <= j)
    ax.set_xlabel("column j")
    ax.set_ylabel("row i")
    fig.tight_layout()
    save(plt, fig, path)


def draw_scan(path: pathlib.Path) -> None:
    plt = plot_style()
    run = probe_run("05_scan", "measured")
    series = task_series(run)
    fig, axes = plt.subplots(1, len(series), figsize=(11, 4.2))
    for ax, (task, batches) in zip(axes, series.items()):
        for form, marker in zip(next(iter(batches.values())), "osD^v"):
            points = [
                (by_form[form]["bytes"] / 1e6, by_form[form]["gbs"])
                for by_form in batches.values()
                if "gbs" in by_form[form]
            ]
            if points:
                ax.plot(*zip(*points), marker=marker, markersize=4, linewidth=0.8, label=form)
        ax.axhline(run["ceilings"]["copy_gbs"], color="black", linewidth=1, label="copy")
        ax.set_xscale("log", base=2)
        ax.set_yscale("log")
        ax.set_title(task, fontsize=10)
        ax.set_xlabel("MB read and written")
        ax.legend(fontsize=7)
    axes[0].set_ylabel("GB/s")
    fig.suptitle(run["device"], fontsize=10)
    fig.tight_layout()
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
