"""The blocks of the Tensor Core stages' pages. Part of generate.py."""
import json
import pathlib

DOCS = pathlib.Path(__file__).resolve().parent
MEASURED = DOCS / "measurements" / "nvidia-h200" / "tensor_h.json"
COUNTS = DOCS / "measurements" / "cpu" / "counts.json"


def block_tensor_counted(data, stage):
    """What the executor counted for a product of FP16 matrices, at a size whose rows meet in a bank and at one whose rows don't."""
    sizes = data.executor["tensor_sizes"]
    found = [data.executor["kernels"].get(f"{data.stage(stage)}/{size}") for size in sizes]
    if not all(found):
        return ["*Not counted yet: `docs/measurements/counts.py --count` does it.*"]
    counts = [kernel["counts"] for kernel in found]
    per = [c["tensor_flops"] / 4096 for c in counts]

    def row(title, value):
        return f"| {title} | " + " | ".join(f"{value(c) / steps:.3g}" for c, steps in zip(counts, per)) + " |"

    return ["| counted for a product of 16 x 8 x 16, 4,096 flops | " + " | ".join(f"M = N = K = {size}" for size in sizes) + " |",
            "|---|" + "---:|" * len(sizes),
            row("global load requests", lambda c: c["global_load"]["requests"]),
            row("cache lines that they look up, four a cycle", lambda c: c["global_load"]["lines"]),
            row("wavefronts of them: cycles of an SM's L1 cache", lambda c: c["global_load"]["wavefronts"]),
            row("wavefronts of shared memory", lambda c: c["shared_load"]["wavefronts"] + c["shared_store"]["wavefronts"]),
            "", f"CPU executor, {data.executor['compiler']}, commit {data.executor['commit']}. At the peak of an SM of sm_90 such a product takes one cycle."]


def block_tensor_measured(data, stage):
    if not MEASURED.exists():
        return ["*Not measured yet: `docs/measurements/measure --steps tensor` does it.*"]
    run = json.loads(MEASURED.read_text())
    rows = []
    for r in run["results"]:
        if r["stage"] != data.stage(stage):
            continue
        p = r["problem"]
        shape = f"{p['m']:,}" if p["m"] == p["n"] == p["k"] else f"{p['m']:,} x {p['n']:,} x {p['k']:,}"
        cells = [f"{r['time_ms']['median']:.4g}", f"{r['gflops'] / 1e3:,.1f}", f"{r['pct_roofline']:.1f} %", f"{r['pct_cublas']:.1f} %"] \
            if "time_ms" in r else [r["reason"], "", "", ""]
        rows.append(f"| {shape} | " + " | ".join(cells) + " |")
    if not rows:
        return ["*Not measured yet: `docs/measurements/measure --steps tensor` does it.*"]
    return ["| M x N x K | ms | TFLOP/s | of the roofline | of cuBLAS |", "|---|" + "---:|" * 4, *rows, "",
            f"{run['device']}, commit {run['commit']}. The roofline's peak is that of mma.sync in FP16, "
            f"{run['ceilings']['hmma_gflops'] / 1e3:,.0f} TFLOP/s here; cuBLAS may have wgmma."]


def draw_banks(sizes, path, plot_style, save):
    """The banks that a load of a fragment's eight rows wants, four words of each, for rows of so many FP16 numbers."""
    plt = plot_style()
    fig, axes = plt.subplots(len(sizes), 1, figsize=(9, 1.9 * len(sizes)))
    for ax, size in zip(axes, sizes):
        rows = [[0] * 32 for _ in range(8)]
        for lane in range(32):  # lane / 4 is the row, lane % 4 the word: mma.sync's layout
            rows[lane // 4][(lane // 4 * size // 2 + lane % 4) % 32] = 1
        busiest = max(sum(column) for column in zip(*rows))
        ax.imshow(rows, cmap="Blues", vmin=0, vmax=1.6, aspect="auto")
        for lane in range(32):
            ax.text((lane // 4 * size // 2 + lane % 4) % 32, lane // 4, lane, ha="center", va="center", fontsize=7)
        ax.set_title(f"rows of {size} numbers, {2 * size} bytes: {busiest} wavefront{'s' if busiest > 1 else ''} a load", fontsize=10)
        ax.set_ylabel("row of A")
        ax.set_yticks(range(8))
        ax.set_xticks(range(0, 32, 4))
        ax.grid(False)
    axes[-1].set_xlabel("bank of shared memory and L1 cache, four bytes wide; the number is the lane")
    fig.tight_layout()
    save(plt, fig, path)


def plan(plot_style, save):
    """file: ([sources], function(data, path)), as generate.figures() has them"""
    return {"tensor_banks.svg": ([COUNTS], lambda data, path: draw_banks(data.executor["tensor_sizes"], path, plot_style, save))}
