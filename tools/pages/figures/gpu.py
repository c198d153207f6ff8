"""How a GPU runs a matrix product: what runs where, its memories, and how warps hide latency."""

import pathlib

from tools.pages.data import Data
from tools.pages.figures.style import Axes, Plan, Pyplot, plot_style, save
from tools.pages.records.probes import MEASURED, record, record_path
from tools.repository import GPU, Json, newest, read_json

# An SM of compute capability 9.0 (H100, H200), by NVIDIA's programming guide.
SCHEDULERS, FP32_LANES = 4, 128
REGISTERS_KIB, L1_KIB, SHARED_KIB = 256, 256, 228
# The example of the figure of latency: each warp issues a load and three FMAs, a cycle each, and waits for the next
# load's data.
ISSUED, PERIOD, CYCLES = 4, 16, 64
WRITTEN, PLACE, ACCENT, BUSY = "#deebf7", "#fee6ce", "#3182bd", "#e6550d"


def box(plt: Pyplot, ax: Axes, at: tuple[float, float, float, float], text: str, colour: str) -> None:
    """A rectangle (x, y, width, height), with its text at the upper edge."""
    x, y, width, height = at
    ax.add_patch(plt.Rectangle((x, y), width, height, facecolor=colour, edgecolor="black", linewidth=0.8))
    ax.text(x + width / 2, y + height - 0.12, text, ha="center", va="top")


def bare(ax: Axes, width: float, height: float) -> None:
    ax.set_xlim(-0.05, width + 0.05)
    ax.set_ylim(-0.05, height + 0.05)
    ax.axis("off")


def draw_parts(data: Data, path: pathlib.Path) -> None:
    """Left what the program says, right where it runs."""
    plt = plot_style()
    fig, axes = plt.subplots(1, 2, figsize=(12.6, 6), gridspec_kw={"wspace": 0.04})
    left, right = axes
    for ax in axes:
        bare(ax, 10, 6)
    box(plt, left, (0, 0, 10, 5.4), "grid: all blocks of one launch", WRITTEN)
    for x in (0.3, 5.1):
        box(plt, left, (x, 0.3, 4.6, 4.5), "block: up to\n1,024 threads", "white")
        for i in range(3):
            box(plt, left, (x + 0.2, 2.75 - 1.12 * i, 4.2, 1.0), "warp: 32 threads", WRITTEN)
            for lane in range(32):
                at = (x + 0.35 + 0.1225 * lane, 2.87 - 1.12 * i)
                left.add_patch(plt.Rectangle(at, 0.1, 0.38, facecolor=ACCENT, edgecolor="none"))
    left.text(5, 5.6, "what the program says", ha="center")
    right.text(5, 5.6, "where it runs", ha="center")
    box(plt, right, (0, 0, 10, 5.4), f"{name_of(data.ladder)}: {data.ladder['sm_count']} SMs", PLACE)
    for shift in (0.3, 0.15):  # the SMs behind the first
        box(plt, right, (0.2 + shift, 1.6 + shift, 9.3, 3.0), "", "white")
    box(plt, right, (0.2, 1.6, 9.3, 3.0), "SM: holds up to 32 blocks, 64 warps", "white")
    for i in range(SCHEDULERS):
        at = (0.35 + 2.27 * i, 2.6, 2.19, 1.45)
        box(plt, right, at, f"scheduler\n{FP32_LANES // SCHEDULERS} lanes\nregisters", PLACE)
    box(plt, right, (0.35, 1.75, 9.0, 0.7), "shared memory and L1 cache", PLACE)
    box(plt, right, (0.2, 0.85, 9.6, 0.6), "L2 cache, for all SMs", "white")
    box(plt, right, (0.2, 0.15, 9.6, 0.6), "device memory", "white")
    save(plt, fig, path)


def latency(run: Json, part: str, **wanted: object) -> float:
    """Cycles of a step of the probe's chain."""
    found = next(r for r in run["results"] if r["part"] == part and all(r.get(k) == v for k, v in wanted.items()))
    return found["cycles"]


def name_of(run: Json) -> str:
    """H100 of "NVIDIA H100 80GB HBM3"."""
    return run["device"].split()[1]


def rows_of_memories(data: Data) -> list[tuple[str, str, str, str]]:
    """Name, size, latency and bandwidth of each memory; measured, but for the sizes and the registers' rate."""
    chains = record("latency", MEASURED)
    since = read_json(newest(record_path("latency")))
    gpu, ceilings = data.ladder, data.ceilings
    sms, l2 = gpu["sm_count"], gpu["l2_bytes"] >> 20
    operands = 3 * 4 * ceilings["ffma_gflops"] / 2 / 1e3  # three words read for each FMA
    step = latency(chains, "chain", bytes=1 << 30)
    return [
        ("registers", f"{REGISTERS_KIB} KiB per SM", "part of the instruction", f"{operands:.0f} TB/s read by FFMAs"),
        (
            "shared memory",
            f"up to {SHARED_KIB} KiB per SM",
            f"{latency(since, 'dependent', what='shared'):.0f} cycles ({name_of(since)})",
            f"{ceilings['shared_gbs'] / 1e3:.0f} TB/s, all {sms} SMs",
        ),
        (
            "L1 cache",
            f"what is left of {L1_KIB} KiB per SM",
            f"{latency(chains, 'chain', bytes=16 << 10):.0f} cycles",
            "the same banks",
        ),
        ("L2 cache", f"{l2} MiB", f"{latency(chains, 'chain', bytes=1 << 20):.0f} cycles", "not measured here"),
        (
            "device memory",
            "141 GB (H200), 80 GB (H100)",
            f"{step:.0f} cycles, {data.ceilings['latency_ns']:.0f} ns",
            f"{ceilings['read_gbs'] / 1e3:.2f} TB/s",
        ),
    ]


def draw_memories(data: Data, path: pathlib.Path) -> None:
    plt = plot_style()
    fig, ax = plt.subplots(figsize=(12.4, 4.6))
    rows = rows_of_memories(data)
    bare(ax, 10, len(rows) + 0.7)
    for x, head in ((1.5, "memory and size"), (5.1, "latency"), (8.2, "bandwidth")):
        ax.text(x, len(rows) + 0.25, head, ha="center", color="#555555")
    for i, (name, size, delay, rate) in enumerate(rows):
        y = len(rows) - 1 - i
        colour = PLACE if i < 3 else WRITTEN
        ax.add_patch(plt.Rectangle((0, y + 0.06), 10, 0.88, facecolor=colour, edgecolor="black", linewidth=0.8))
        ax.text(0.15, y + 0.7, name, va="center", fontweight="bold")
        ax.text(0.15, y + 0.3, size, va="center")
        ax.text(5.1, y + 0.5, delay, va="center", ha="center")
        ax.text(8.2, y + 0.5, rate, va="center", ha="center")
    save(plt, fig, path)


def schedule(warps: int) -> list[int | None]:
    """Of each cycle the warp that the scheduler takes: the one that is ready for the longest time, or None."""
    ready, left = [0] * warps, [ISSUED] * warps
    begun = [0] * warps
    taken: list[int | None] = []
    current: int | None = None
    for cycle in range(CYCLES):
        if current is None:
            waiting = [w for w in range(warps) if ready[w] <= cycle]
            current = min(waiting, key=lambda w: (ready[w], w)) if waiting else None
            if current is not None:
                begun[current] = cycle
        taken.append(current)
        if current is not None:
            left[current] -= 1
            if left[current] == 0:
                left[current], ready[current] = ISSUED, begun[current] + PERIOD
                current = None
    return taken


def draw_latency(path: pathlib.Path) -> None:
    plt = plot_style()
    counts = (1, 2, 4)
    fig, axes = plt.subplots(len(counts), 1, figsize=(10.2, 4.6), height_ratios=[c + 1.4 for c in counts])
    for ax, warps in zip(axes, counts):
        taken = schedule(warps)
        bare(ax, CYCLES, warps + 1.2)
        for row in range(warps):
            ax.add_patch(plt.Rectangle((0, warps - row + 0.05), CYCLES, 0.8, facecolor=WRITTEN, edgecolor="none"))
        ax.add_patch(plt.Rectangle((0, 0), CYCLES, 0.75, facecolor="#eeeeee", edgecolor="none"))
        for cycle, warp in enumerate(taken):
            if warp is not None:
                at = (cycle, warps - warp + 0.05)
                ax.add_patch(plt.Rectangle(at, 0.92, 0.8, facecolor=ACCENT, edgecolor="none"))
                ax.add_patch(plt.Rectangle((cycle, 0), 0.92, 0.75, facecolor=BUSY, edgecolor="none"))
        for row in range(warps):
            ax.text(-0.8, warps - row + 0.45, f"warp {row}", ha="right", va="center")
        busy = 100 * sum(w is not None for w in taken) / CYCLES
        ax.text(-0.8, 0.4, "scheduler", ha="right", va="center")
        ax.text(CYCLES + 0.8, 0.4, f"{busy:.0f} % busy", ha="left", va="center")
    axes[-1].text(0, -0.2, f"time: {CYCLES} cycles", va="top")
    save(plt, fig, path)


def plan(data: Data) -> Plan:
    ladder, own = GPU / "sgemm.json", pathlib.Path(__file__)
    latencies = list(dict.fromkeys((record_path("latency"), newest(record_path("latency")))))
    return {
        "gpu_parts.svg": ([ladder, own], draw_parts),
        "gpu_memories.svg": ([ladder, own, *latencies], draw_memories),
        "gpu_latency.svg": ([own], lambda data, path: draw_latency(path)),
    }
