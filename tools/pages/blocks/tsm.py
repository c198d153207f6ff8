"""The tall & skinny stages."""

import sys
from collections.abc import Callable

from tools.experiments.tsm_cases import TYPES
from tools.pages.data import Data
from tools.pages.notes import NOT_COUNTED, not_measured
from tools.repository import GPU, ROOT, Json, read_json

MEASURED = [GPU / f"{product}_{type}.json" for product in ("tsm", "tsmm") for type in "dz"]


def block_tsm_counted(data: Data, stage: str) -> list[str]:
    """What the executor counted, for both types."""
    found = {type: data.executor["kernels"].get(f"{data.stage(stage)}/{type}") for type in TYPES}
    if not all(found.values()):
        return NOT_COUNTED
    m, n, k = data.executor["tsm_shape"].split("x")
    counts = {type: kernel["counts"] for type, kernel in found.items()}

    def row(title: str, value: Callable[[Json], float]) -> str:
        return f"| {title} | " + " | ".join(f"{value(counts[type]):.3g}" for type in TYPES) + " |"

    tensor = all(c["tensor_flops"] > 2 * c["fma64"] for c in counts.values())

    def per_fma(kind: str, what: str) -> Callable[[Json], float]:
        # An instruction of Tensor Cores is 16 warp-wide FMAs, where some kernels have them and others not.
        return lambda c: (
            c[kind][what]
            / ((c["tensor_flops"] / 2 / (16 * 8 * 4)) if tensor else (c["fma64"] + c["tensor_flops"] / 2) / 32)
        )

    last = [row("requests of atomic additions", per_fma("global_atomic", "requests"))]
    if (
        "TsmmInfo" in (ROOT / f"{data.stage(stage)}.cu").read_text()
    ):  # long in what it stores, and C may be in shared memory
        last = [
            row("sectors of stores", per_fma("global_store", "sectors")),
            row("wavefronts of loads from shared memory", per_fma("shared_load", "wavefronts")),
        ]
    return [
        f"| counted per {'instruction of 16 x 8 x 4' if tensor else 'warp-wide FMA'}, M = {m}, N = {n}, K = {int(k):,} | "
        + " | ".join(TYPES.values())
        + " |",
        "|---|---:|---:|",
        row("global load requests", per_fma("global_load", "requests")),
        row("sectors of them", per_fma("global_load", "sectors")),
        row("wavefronts of them: cycles of an SM's L1 cache", per_fma("global_load", "wavefronts")),
        *last,
        "",
        f"CPU executor, {data.executor['compiler']}, commit {data.executor['commit']}. "
        + (
            "An instruction takes the Tensor Cores of an SM of sm_90 four cycles."
            if tensor
            else "An FMA of the FP64 cores takes half a cycle of an SM of sm_90."
        ),
    ]


def block_tsm_measured(data: Data, stage: str) -> list[str]:
    wanted, rows, of = data.stage(stage), [], None
    for path in MEASURED:
        if not path.exists():
            continue
        run = read_json(path)
        for r in run["results"]:
            if r["stage"] != wanted:
                continue
            if of and (of["device"], of["commit"]) != (run["device"], run["commit"]):
                sys.exit(
                    f"error: {path.name} is of another commit or device than the rest of tsm/{stage}'s table: measure both types anew"
                )
            p, of = r["problem"], run
            cells = (
                [
                    f"{r['time_ms']['median']:.4g}",
                    f"{r['gbytes_s']:,.0f}",
                    f"{r['gflops']:,.0f}",
                    f"{r['pct_roofline']:.1f} %",
                    f"{r['pct_cublas']:.0f} %",
                ]
                if "time_ms" in r
                else [r["reason"], "", "", "", ""]
            )
            rows.append(f"| {p['type']} | {p['m']} | {p['k']:,} | " + " | ".join(cells) + " |")
    if not rows:
        return not_measured("docs/measurements/measure")
    return [
        "| type | M = N | K | ms | GB/s | GFLOP/s | of the roofline | of cuBLAS |",
        "|---|" + "---:|" * 7,
        *rows,
        "",
        f"{of['device']}, commit {of['commit']}.",
    ]
