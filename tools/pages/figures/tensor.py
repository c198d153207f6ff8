"""FP16 products on Tensor Cores."""

import pathlib

from tools.pages.data import COUNTED, Data
from tools.pages.figures.labels import label_ends
from tools.pages.figures.style import COLOURS, Plan, log_axes, plot_style, save
from tools.pages.records.tensor import FOLDERS, MEASURED, measured, rate_run, rooflines
from tools.repository import GPU, ROOT


def draw_shared_roofline(path: pathlib.Path) -> None:
    """Tensor Cores over shared memory: what a warp's tile of n x n can reach, by the paper's count and with C in
    registers."""
    plt = plot_style()
    fig, ax = plt.subplots(figsize=(7.4, 4.6))
    lowest, highest, ends = 1, 64, []
    for colour, (name, (shared, half)) in zip(COLOURS, rooflines().items()):
        ridge = 1e3 * half / shared
        roof = [(lowest, shared * lowest / 1e3), (ridge, half), (highest, half)]
        ax.plot(*zip(*roof), color=colour, linewidth=2)
        ends.append((highest, half, name, colour))
    for n in (16, 32, 64):
        for x, words, y in ((n / 6, f"n = {n},\nC too", 6), (n / 2, f"n = {n}", 1500)):
            ax.axvline(x, color="0.8", linewidth=0.8, zorder=0)
            ax.text(x, y, words, ha="center", va="center", backgroundcolor="white")
    run = measured("variants")
    for r in run["results"] if run else []:
        n = (
            64
            if r["stage"] == "tensorcore/02_shared_tiles"
            else {"n=16": 16, "n=32": 32}.get(r["stage"].partition("02_shared_tiles:")[2])
        )
        if n and r["problem"]["m"] == 4096 and "gflops" in r:
            speed = r["gflops"] / 1e3
            ax.plot(n / 2, speed, "o", color="black", markersize=7)
            ax.annotate(f"02: {speed:.0f}", (n / 2, speed), xytext=(7, -13), textcoords="offset points")
    log_axes(ax, 2, 10)
    ax.set_xlabel("flops for a byte from or to shared memory")
    ax.set_ylabel("TFLOP/s")
    ax.set_ylim(3, 2200)
    label_ends(fig, ax, ends)
    save(plt, fig, path)


def draw_swizzle(path: pathlib.Path) -> None:
    """Where 16-byte chunks of a tile's rows of 128 bytes lie: in order, padded, and exchanged by the row's number."""
    plt = plot_style()
    fig, axes = plt.subplots(1, 3, figsize=(10, 4), sharey=True)
    for ax, title, place, width in (
        (axes[0], "in order: 8 wavefronts", lambda r, c: c, 8),
        (axes[1], "padded by 16 bytes (01b): 1", lambda r, c: (r + c) % 8, 8),
        (axes[2], "exchanged (03): 1", lambda r, c: c ^ r, 8),
    ):
        grid = [[0] * width for _ in range(8)]
        for row in range(8):
            grid[row][place(row, 2)] = 1
            for c in range(8):
                ax.text(place(row, c), row, c, ha="center", va="center")
        ax.imshow(grid, cmap="Blues", vmin=0, vmax=2, aspect="auto")
        ax.set_title(title)
        ax.set_xlabel("four banks each")
        ax.set_xticks(range(8))
        ax.set_yticks(range(8))
        ax.grid(False)
    axes[0].set_ylabel("row of the tile")
    fig.tight_layout()
    save(plt, fig, path)


def draw_banks(sizes: list[int], path: pathlib.Path) -> None:
    """The banks that a load of a fragment's eight rows wants, four words of each, for rows of so many FP16 numbers."""
    plt = plot_style()
    fig, axes = plt.subplots(len(sizes), 1, figsize=(9.8, 2.1 * len(sizes)), gridspec_kw={"hspace": 0.5})
    for ax, size in zip(axes, sizes):
        # lane / 4 is the row, lane % 4 the word: mma.sync's layout
        banks = [(lane // 4 * size // 2 + lane % 4) % 32 for lane in range(32)]
        busiest = max(banks.count(bank) for bank in banks)
        for lane, bank in enumerate(banks):
            cell = plt.Rectangle((bank - 0.5, lane // 4 - 0.5), 1, 1, facecolor="#8fc1e8", edgecolor="white")
            ax.add_patch(cell)
            ax.text(bank, lane // 4, lane, ha="center", va="center_baseline")
        ax.set_xlim(-0.5, 31.5)
        ax.set_ylim(7.5, -0.5)
        ax.set_title(f"rows of {size} numbers, {2 * size} bytes: {busiest} wavefront{'s' * (busiest > 1)} a load")
        ax.set_ylabel("row of A")
        ax.set_yticks(range(0, 8, 2))
        ax.set_xticks(range(0, 32, 4))
        ax.grid(False)
    axes[-1].set_xlabel("bank of shared memory and L1 cache, four bytes wide; the number is the lane")
    save(plt, fig, path)


def draw_waves(path: pathlib.Path) -> None:
    """03 and 03b over the size, beside what mma.sync does with these numbers, at first and in the end."""
    plt = plot_style()
    run, rate = (
        measured("waves"),
        next(r for r in rate_run()["results"] if (r["operands"], r["numbers"]) == ("FP16", "-1 to 1")),
    )
    speeds = {}
    for r in run["results"]:
        speeds.setdefault(r["stage"].split("/")[1], {})[r["problem"]["m"]] = r["gflops"] / 1e3
    fig, ax = plt.subplots(figsize=(7.6, 4.4))
    ends = []
    for colour, (stage, of) in zip(COLOURS, speeds.items()):
        ax.plot(*zip(*sorted(of.items())), "o-", color=colour, markersize=5, linewidth=2)
        ends.append((max(of), of[max(of)], stage.replace("_", " "), colour))
    for label, value, up in (
        ("mma.sync, at first", rate["tflops_at_first"], 3),
        ("after a second, power-limited", rate["tflops"], -15),
    ):
        ax.axhline(value, color="black", linewidth=1.2)
        at = min(next(iter(speeds.values()))), value
        ax.annotate(label, at, xytext=(0, up), textcoords="offset points")
    tiles, places = (r["launches"][0]["grid"][0] for r in run["results"][-2:])  # 03b has a block for each place
    ax.set_xlabel(f"M = N = K; at the right end 03 has {tiles / places:.1f} waves of blocks")
    ax.set_ylabel("TFLOP/s")
    ax.set_ylim(0, 1.1 * rate["tflops_at_first"])
    ax.set_title(f"{run['device']}: uniform numbers between -1 and 1")
    label_ends(fig, ax, ends)
    save(plt, fig, path)


def plan(data: Data) -> Plan:
    runs = [path for path in (MEASURED, GPU / "tensor_variants.json") if path.exists()]
    found = {
        "tensor_roofline.svg": (runs or [pathlib.Path(__file__)], lambda data, path: draw_shared_roofline(path)),
        "tensor_swizzle.svg": ([ROOT / "tensorcore/03_pipeline.cu"], lambda data, path: draw_swizzle(path)),
        "tensor_banks.svg": ([COUNTED], lambda data, path: draw_banks(data.executor["tensor_sizes"], path)),
    }
    waves, rate = (FOLDERS["measured"] / name for name in ("tensor_waves.json", "probes/tensor_rate.json"))
    if waves.exists() and rate.exists():
        found["tensor_waves.svg"] = ([waves, rate], lambda data, path: draw_waves(path))
    return found
