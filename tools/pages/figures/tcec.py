"""FP32 products on Tensor Cores."""

import pathlib

from tools.pages.data import Data
from tools.pages.figures.style import Plan, plot_style, save
from tools.pages.records.tcec import accuracy_path, batched_name, batched_speeds, papers_library, residuals, short_name
from tools.pages.records.tensor import FOLDERS, MEASURED, measured
from tools.repository import GPU, newest, read_json


def draw_tcec_roofline(path: pathlib.Path) -> None:
    """What shared memory lets FP32 products on Tensor Cores reach: the split through shared memory, and in registers
    (Figure 7)."""
    plt = plot_style()
    c = read_json(MEASURED)["ceilings"]
    peak, shared = c["hmma_gflops"] / 3e3, c["shared_gbs"] / 1e3
    fig, ax = plt.subplots(figsize=(8, 4.4))
    sizes = list(range(8, 129, 4))
    for words, name, style in (
        (12, "07, split in shared memory: n/12 flops a byte", "--"),
        (4, "08, split in registers: n/4", "-"),
    ):
        ax.plot(sizes, [min(peak, shared * n / words) for n in sizes], style, label=name)
    ax.axhline(peak, color="0.6", lw=0.8)
    ax.text(128, peak, f"a third of mma.sync's {c['hmma_gflops'] / 1e3:.0f} ", ha="right", va="bottom", fontsize=8)
    ax.axhline(c["ffma_gflops"] / 1e3, color="tab:red", lw=0.8)
    ax.text(128, c["ffma_gflops"] / 1e3, "FP32 cores ", ha="right", va="bottom", fontsize=8, color="tab:red")
    for n in (16, 32, 64):
        ax.axvline(n, color="0.85", lw=0.8, zorder=0)
    run = measured("s")
    for r in run["results"] if run else []:
        if (
            r["stage"] in ("tensorcore/07_split_in_shared", "tensorcore/08_split_in_registers")
            and r["problem"]["m"] == r["problem"]["k"] == 4096
            and "gflops" in r
        ):
            ax.plot(32, r["gflops"] / 1e3, "o", color="k", ms=5)
            ax.annotate(
                f"{short_name(r['stage'])[:2]}, {r['gflops'] / 1e3:.0f}",
                (32, r["gflops"] / 1e3),
                xytext=(6, 3 if "/08" in r["stage"] else -9),
                textcoords="offset points",
                fontsize=8,
            )
    ax.set_xlabel("n: a warp has n x n of C")
    ax.set_ylabel("TFLOP/s of FP32 products, at most")
    ax.set_ylim(0, peak * 1.15)
    ax.legend(loc="lower right", fontsize=8)
    fig.tight_layout()
    save(plt, fig, path)


def draw_tcec_promotion(path: pathlib.Path) -> None:
    """Residual over K for sums of Tensor Cores that are added up in FP32 after so many products."""
    plt = plot_style()
    run = read_json(accuracy_path())
    found = {d: by for d, by in residuals(run).items() if d in ("uniform", "positive")}
    fig, axes = plt.subplots(1, len(found), figsize=(5.2 * len(found), 4.4), sharey=True, squeeze=False)
    for ax, (distribution, by_stage) in zip(axes[0], found.items()):
        first = next(iter(by_stage))
        forms = [s for s in by_stage if s.startswith("tensorcore/08")]
        for s, style in [
            (first, "k:"),
            *((s, "-") for s in forms),
            ("tensorcore/07_split_in_shared:uncorrected", "--"),
        ]:
            if s in by_stage:
                ax.loglog(
                    *zip(*sorted(by_stage[s].items())),
                    style,
                    marker="o",
                    ms=3,
                    lw=1,
                    label="FP32"
                    if s == first
                    else short_name(s)
                    .replace("08_split_in_registers:", "")
                    .replace("08_split_in_registers", "promoted=16")
                    .replace("07_split_in_shared:", ""),
                )
        ax.axhline(run["fp32_residual_allowed"], color="0.7", lw=0.8)
        ax.set_xscale("log", base=2)
        ax.set_title({"uniform": "uniform, -1 to 1", "positive": "positive, 0 to 1"}[distribution], fontsize=10)
        ax.set_xlabel("K")
    axes[0][0].set_ylabel("relative Frobenius residual")
    axes[0][-1].legend(fontsize=7)
    fig.tight_layout()
    save(plt, fig, path)


def draw_tcec_policies(path: pathlib.Path) -> None:
    """Residual of each policy at one depth."""
    plt = plot_style()
    run = read_json(accuracy_path())
    found = residuals(run)
    depth = max(k for by in found.values() for of in by.values() for k in of if k <= 4096)
    first = next(iter(next(iter(found.values()))))
    forms = [first, *(s for s in found["uniform"] if s.startswith("tensorcore/09"))]
    fig, ax = plt.subplots(figsize=(8, 4.2))
    for (distribution, by_stage), marker in zip(found.items(), "os^vD*"):
        points = [(by_stage[s][depth], i) for i, s in enumerate(forms) if depth in by_stage.get(s, {})]
        ax.plot(*zip(*points), marker, label=distribution, ms=6)
    ax.set_yticks(range(len(forms)), ["FP32", *("half" if ":" not in s else s.split(":")[1] for s in forms[1:])])
    ax.invert_yaxis()
    ax.set_xscale("log")
    ax.axvline(run["fp32_residual_allowed"], color="0.7", lw=0.8)
    ax.set_xlabel(f"relative Frobenius residual at K = {depth:,}")
    ax.legend(fontsize=8)
    fig.tight_layout()
    save(plt, fig, path)


def draw_batched(path: pathlib.Path) -> None:
    """Figure 8: throughput of a batch over k."""
    plt = plot_style()
    speeds, run = batched_speeds()
    fig, ax = plt.subplots(figsize=(8, 4.6))
    for (stage, of), marker in zip(speeds.items(), "osD^v"):
        if stage != "cublas/tf32":
            ax.plot(*zip(*sorted(of.items())), marker=marker, ms=4, lw=1, label=batched_name(stage))
    ax.plot(*zip(*papers_library().items()), "k:", marker="x", ms=5, lw=1, label="the paper's library")
    ax.axhline(run["ceilings"]["ffma_gflops"] / 1e3, color="tab:red", lw=0.8)
    ax.text(
        2**14,
        run["ceilings"]["ffma_gflops"] / 1e3,
        "FP32 cores at their peak",
        va="top",
        ha="right",
        fontsize=8,
        color="tab:red",
    )
    ax.set_xscale("log", base=2)
    ax.set_ylim(0, None)
    ax.set_xlabel("k of 256 products of 1,024 x 1,024 x k")
    ax.set_ylabel("TFLOP/s")
    ax.legend(fontsize=8)
    fig.tight_layout()
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
