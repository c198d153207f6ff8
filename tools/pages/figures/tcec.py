"""FP32 products on Tensor Cores."""

import math
import pathlib

from tools.pages.data import Data
from tools.pages.figures.labels import label_ends, note
from tools.pages.figures.style import COLOURS, Axis, Plan, log_axes, plot_style, save
from tools.pages.records.tcec import accuracy_path, batched_name, batched_speeds, papers_library, residuals, short_name
from tools.pages.records.tensor import FOLDERS, MEASURED, measured
from tools.repository import GPU, newest, read_json

# Which sums of products each panel shows: the two that the page tells of, beside FP32 and no promotion at all.
FORMS = {
    "uniform": ("uniform, -1 to 1", {"": "sums of 16", ":promoted=64": "of 64", ":cut-off": "of all"}),
    "positive": ("positive, 0 to 1", {"": "sums of 16", ":promoted=256": "of 256", ":cut-off": "of all"}),
}
SHOWN = ("positive", "wide", "uniform")  # of the distributions: normal, tiny and huge numbers are like uniform ones


def powers_of_ten(axis: Axis) -> None:
    """With exponents as large as other numbers."""
    axis.set_major_formatter(lambda value, _: f"1e{math.log10(value):.0f}")
    axis.set_minor_formatter(lambda value, _: "")


def draw_tcec_roofline(path: pathlib.Path) -> None:
    """What shared memory lets FP32 products on Tensor Cores reach: the split through shared memory, and in registers
    (Figure 7)."""
    plt = plot_style()
    c = read_json(MEASURED)["ceilings"]
    peak, shared = c["hmma_gflops"] / 3e3, c["shared_gbs"] / 1e3
    fig, ax = plt.subplots(figsize=(7, 4.5))
    least, most, ends = 8, 128, []
    for words, name, colour, at in (
        (12, "07, split in shared\nmemory: n/12 flops a byte", COLOURS[1], 0.62),
        (4, "08, split in\nregisters: n/4", COLOURS[0], 0.87),
    ):
        ridge = peak * words / shared
        ax.plot((least, ridge, most), (shared * least / words, peak, peak), color=colour, linewidth=2)
        x = ridge * at
        ends.append((x, shared * x / words, name, colour))
    # Below the slopes, because both curves end in the roof.
    for x, y, name, colour in ends:
        ax.annotate(name, (x, y), xytext=(11, 0), textcoords="offset points", color=colour, va="top")
    ax.text(most, peak * 1.01, f"a third of mma.sync's {c['hmma_gflops'] / 1e3:.0f}", ha="right", va="bottom")
    fp32 = c["ffma_gflops"] / 1e3
    ax.axhline(fp32, color="black", linewidth=1.2, linestyle=":")
    ax.text(most, fp32, "FP32 cores", ha="right", va="bottom")
    run = measured("s")
    for r in run["results"] if run else []:
        if (
            r["stage"] in ("tensorcore/07_split_in_shared", "tensorcore/08_split_in_registers")
            and r["problem"]["m"] == r["problem"]["k"] == 4096
            and "gflops" in r
        ):
            speed, colour = r["gflops"] / 1e3, COLOURS[0 if "/08" in r["stage"] else 1]
            ax.plot(32, speed, "o", color=colour, markersize=7)
            text = f"{short_name(r['stage'])[:2]}: {speed:.0f}"
            ax.annotate(text, (32, speed), xytext=(8, -4), textcoords="offset points", color=colour, va="center")
    ax.set_xlabel("n: a warp has n x n of C; dots: measured")
    ax.set_xticks([16, 32, 64, 96, 128])
    ax.set_ylabel("TFLOP/s of FP32 products, at most")
    ax.set_ylim(0, peak * 1.15)
    save(plt, fig, path)


def draw_tcec_promotion(path: pathlib.Path) -> None:
    """Residual over K for sums of Tensor Cores that are added up in FP32 after so many products."""
    plt = plot_style()
    run = read_json(accuracy_path())
    found = {d: by for d, by in residuals(run).items() if d in FORMS}
    fig, axes = plt.subplots(1, len(found), figsize=(9, 4), sharey=True, squeeze=False, gridspec_kw={"wspace": 0.45})
    for ax, (distribution, by_stage) in zip(axes[0], found.items()):
        title, forms = FORMS[distribution]
        names = {next(iter(by_stage)): "FP32"} | {
            f"tensorcore/08_split_in_registers{form}": name for form, name in forms.items()
        }
        ends = []
        for colour, (stage, name) in zip(("black", *COLOURS), names.items()):
            points = sorted(by_stage.get(stage, {}).items())
            if points:
                ax.plot(*zip(*points), color=colour, linewidth=2)
                ends.append((*points[-1], name, colour))
        ax.axhline(run["fp32_residual_allowed"], color="0.7", linewidth=1)
        log_axes(ax, 2, 10)
        powers_of_ten(ax.yaxis)
        ax.set_title(title)
        ax.set_xlabel("K")
        label_ends(fig, ax, ends)
    axes[0][0].set_ylabel("relative Frobenius residual")
    note(fig, "at the curves: products in a sum of Tensor Cores; sums are added up in FP32; grey: allowed to FP32")
    save(plt, fig, path)


def draw_tcec_policies(path: pathlib.Path) -> None:
    """Residual of each policy at one depth."""
    plt = plot_style()
    run = read_json(accuracy_path())
    found = residuals(run)
    depth = max(k for by in found.values() for of in by.values() for k in of if k <= 4096)
    first = next(iter(next(iter(found.values()))))
    forms = [first, *(s for s in found["uniform"] if s.startswith("tensorcore/09"))]
    fig, ax = plt.subplots(figsize=(8, 4.4))
    for distribution, marker, colour, side in zip(SHOWN, "sDo", COLOURS, ("right", "center", "left")):
        by_stage = found.get(distribution, {})
        points = [(by_stage[s][depth], i) for i, s in enumerate(forms) if depth in by_stage.get(s, {})]
        if not points:
            continue
        ax.plot(*zip(*points), marker, color=colour, markersize=8)
        ax.text(points[0][0], -0.75, distribution, color=colour, ha=side, va="bottom")
    ax.set_yticks(range(len(forms)), ["FP32", *("half" if ":" not in s else s.split(":")[1] for s in forms[1:])])
    ax.set_ylim(len(forms) - 0.5, -0.6)
    ax.set_xscale("log")
    powers_of_ten(ax.xaxis)
    ax.axvline(run["fp32_residual_allowed"], color="0.7", linewidth=1)
    ax.set_xlabel(f"relative Frobenius residual at K = {depth:,}; no mark: infinite")
    save(plt, fig, path)


def draw_batched(path: pathlib.Path) -> None:
    """Figure 8: throughput of a batch over k."""
    plt = plot_style()
    speeds, run = batched_speeds()
    curves = {batched_name(stage).replace("_", " "): of for stage, of in speeds.items() if stage != "cublas/tf32"}
    fig, ax = plt.subplots(figsize=(7.6, 4.6))
    ends = []
    for colour, (name, of) in zip(("black", *COLOURS), {"the paper's library": papers_library(), **curves}.items()):
        ax.plot(*zip(*sorted(of.items())), color=colour, linewidth=2)
        ends.append((max(of), of[max(of)], name, colour))
    peak = run["ceilings"]["ffma_gflops"] / 1e3
    ax.axhline(peak, color="black", linewidth=1.2, linestyle=":")
    log_axes(ax, 2)
    ax.set_ylim(0, None)
    ax.set_xlabel("k of 256 products of 1,024 x 1,024 x k")
    ax.set_ylabel("TFLOP/s")
    label_ends(fig, ax, [*ends, (max(papers_library()), peak, "FP32 cores, peak", "black")])
    save(plt, fig, path)


def plan(data: Data) -> Plan:
    runs = [MEASURED, *(path for path in [FOLDERS["measured"] / "tensor_s.json"] if path.exists())]
    found = {
        "tcec_roofline.svg": (runs, lambda data, path: draw_tcec_roofline(path)),
        "tcec_promotion.svg": ([accuracy_path()], lambda data, path: draw_tcec_promotion(path)),
        "tcec_policies.svg": ([accuracy_path()], lambda data, path: draw_tcec_policies(path)),
    }
    batched = newest(GPU / "tensor_batched.json")
    if batched.exists():
        found["tcec_batched.svg"] = ([batched, newest(GPU / "peers.json")], lambda data, path: draw_batched(path))
    return found
