"""FP32 products on Tensor Cores: residuals, batches, traffic."""

from collections.abc import Callable

from tools.pages.data import Data
from tools.pages.records.tcec import accuracy_path, batched_name, batched_speeds, papers_library, residuals, short_name
from tools.pages.records.tensor import NOT_MEASURED, measured
from tools.repository import read_json


def block_tcec_accuracy(data: Data, stage: str) -> list[str]:
    """Residuals of a stage and its variants, and of FP32, over K."""
    run = read_json(accuracy_path())
    lines = []
    for distribution, by_stage in residuals(run).items():
        first = next(iter(by_stage))
        its = [s for s in by_stage if s == first or s.split(":")[0] == data.stage(stage)]
        depths = sorted({k for s in its for k in by_stage[s]})
        lines += [
            f"| {distribution} | " + " | ".join(f"K = {k:,}" for k in depths) + " |",
            "|---|" + "---:|" * len(depths),
        ]
        for s in its:
            name = f"FP32: `{short_name(s)}`" if s == first else f"`{short_name(s)}`"
            lines.append(
                f"| {name} | " + " | ".join(f"{by_stage[s][k]:.1e}" if k in by_stage[s] else "" for k in depths) + " |"
            )
        lines.append("")
    return lines + [
        f"Relative Frobenius residual against FP64, M = N = {run['size']}: {run['device']}, commit {run['commit']}."
    ]


def block_tensor_batched(data: Data) -> list[str]:
    """Figure 8 of the paper: a batch of 256 products, over k."""
    speeds, run = batched_speeds()
    if not run:
        return NOT_MEASURED
    depths, papers = sorted({k for of in speeds.values() for k in of}), papers_library()
    rows = [
        f"| {batched_name(s)} | " + " | ".join(f"{of[k]:.1f}" if k in of else "" for k in depths) + " |"
        for s, of in speeds.items()
    ]
    rows.append(
        "| the paper's library | " + " | ".join(f"{papers[k]:.1f}" if k in papers else "" for k in depths) + " |"
    )
    best = {
        k: max(of[k] for s, of in speeds.items() if s.startswith(("tensorcore/10", "tensorcore/11")) and k in of)
        for k in depths
    }
    rows.append(
        "| the best of 10 and 11, beside it | "
        + " | ".join(f"{best[k] / papers[k]:.2f} x" if k in papers else "" for k in depths)
        + " |"
    )
    return [
        "| TFLOP/s, 256 x (1,024 x 1,024 x k) | " + " | ".join(f"k = {k:,}" for k in depths) + " |",
        "|---|" + "---:|" * len(depths),
        *rows,
        "",
        f"{run['device']}, commit {run['commit']}, all checked; FP32 cores have {run['ceilings']['ffma_gflops'] / 1e3:.1f} TFLOP/s. The paper's library was "
        "measured on another H200, before.",
    ]


def block_tensor_blockings(data: Data, stage: str) -> list[str]:
    """The variants of a stage on batches of 256."""
    run = measured("blockings")
    if not run:
        return NOT_MEASURED
    depths = sorted({r["problem"]["k"] for r in run["results"]})
    found = {}
    for r in run["results"]:
        if r["stage"].split(":")[0] == data.stage(stage) and "gflops" in r:
            found.setdefault(r["stage"], {})[r["problem"]["k"]] = r
    rows = []
    for name, of in found.items():
        launch = max(next(iter(of.values()))["launches"], key=lambda its: its["registers"])
        rows.append(
            f"| `{short_name(name)}` | "
            + " | ".join(f"{of[k]['gflops'] / 1e3:.1f}" if k in of else "" for k in depths)
            + f" | {launch['registers']} | {launch['local_bytes']} | {launch['dynamic_shared_bytes'] / 1024:.0f} KB |"
        )
    return [
        "| blocking | "
        + " | ".join(f"TFLOP/s at k = {k:,}" for k in depths)
        + " | registers | bytes spilled | shared memory a block |",
        "|---|" + "---:|" * (len(depths) + 3),
        *rows,
        "",
        f"256 x (1,024 x 1,024 x k). {run['device']}, commit {run['commit']}.",
    ]


def block_tcec_traffic(data: Data) -> list[str]:
    """What 08's fragments, split in registers, save of 07's traffic, as Nsight Compute and the runtime have it."""
    run, counters = measured("s"), measured("tcec_counters")
    stages = [data.stage(f"tensorcore/{number}") for number in ("07", "08")]
    if not run or not counters or any("l1_hit_pct" not in counters["sizes"]["4096"].get(stage, {}) for stage in stages):
        return NOT_MEASURED
    launch = {r["stage"]: r["launches"][0] for r in run["results"] if r["stage"] in stages}
    count = counters["sizes"]["4096"]
    block = lambda stage: launch[stage]["static_shared_bytes"] + launch[stage]["dynamic_shared_bytes"]  # noqa: E731

    def row(title: str, value: Callable[[str], str]) -> str:
        return f"| {title} | " + " | ".join(value(stage) for stage in stages) + " |"

    return [
        "| at 4,096 | 07 | 08 |",
        "|---|---:|---:|",
        row("shared memory of a block", lambda s: f"{block(s):,} bytes"),
        row("registers of a thread", lambda s: f"{launch[s]['registers']}"),
        row("warps on an SM, of 64", lambda s: f"{count[s]['occupancy_pct']:.0f} %"),
        row(
            "wavefronts of shared memory, for a product",
            lambda s: (
                f"{(count[s]['shared_load_wavefronts'] + count[s]['shared_store_wavefronts']) / count[s]['hmma']:.2f}"
            ),
        ),
        row("L1 and shared memory busy", lambda s: f"{count[s]['wavefronts_pct_of_peak']:.0f} %"),
        row("loads from global memory that hit L1", lambda s: f"{count[s]['l1_hit_pct']:.0f} %"),
        row("issue slots used", lambda s: f"{count[s]['issue_slots_pct']:.0f} %"),
        row(
            "warps waiting for global memory, for each that issues",
            lambda s: f"{count[s]['stall_long_scoreboard']:.1f}",
        ),
        row("Tensor pipe busy", lambda s: f"{count[s]['tensor_pipe_pct']:.0f} %"),
        "",
        f"Nsight Compute, {counters['device']}, commit {counters['commit']}.",
    ]


def block_tcec_choices(data: Data, stage: str) -> list[str]:
    """What a stage that chooses took, and how precise it was, by the kind of numbers."""
    run = read_json(accuracy_path())
    rows = [r for r in run["results"] if r["stage"] == data.stage(stage) and "residual" in r]
    if not rows:
        return NOT_MEASURED
    first = run["results"][0]["stage"]
    fp32 = {(r["distribution"], r["k"]): r for r in run["results"] if r["stage"] == first}
    lines = [
        "| numbers | K | taken | residual | FP32's | largest error, of \\|A\\|\\|B\\| | FP32's |",
        "|---|---:|---|---:|---:|---:|---:|",
    ]
    for r in rows:
        if r["k"] in (16, 256, 4096, 65536):
            of = fp32[r["distribution"], r["k"]]
            lines.append(
                f"| {r['distribution']} | {r['k']:,} | {r.get('policy', '')} | {r['residual']:.1e} | {of['residual']:.1e} | {r['max_of_magnitudes']:.1e} | {of['max_of_magnitudes']:.1e} |"
            )
    less = [r for r in rows if r["status"] != "fp32"]
    return lines + [
        "",
        f"FP32: {batched_name(first)}. {len(rows) - len(less)} of {len(rows)} residuals are no larger than FP32's or 2⁻²³"
        + (": not " + ", ".join(f"{r['distribution']} at K = {r['k']:,}" for r in less) if less else "")
        + f". M = N = {run['size']}: {run['device']}, commit {run['commit']}.",
    ]
