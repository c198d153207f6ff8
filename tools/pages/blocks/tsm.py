"""The tall & skinny stages."""

import sys

from tools.experiments.tsm_cases import TYPES
from tools.pages.data import Data
from tools.pages.notes import NOT_COUNTED, counted_by, measured_on, not_measured
from tools.repository import GPU, Json, read_json_if_there
from tools.tables import table

MEASURED = [GPU / f"{product}_{type}.json" for product in ("tsm", "tsmm") for type in "dz"]


def block_tsm_counted(data: Data, stage: str) -> list[str]:
    """What the executor counted, for both types."""
    found = {type: data.executor["kernels"].get(f"{data.stage(stage)}/{type}") for type in TYPES}
    if not all(found.values()):
        return NOT_COUNTED
    m, n, k = data.executor["tsm_shape"].split("x")
    counts = [kernel["counts"] for kernel in found.values()]
    # An instruction of Tensor Cores is 16 warp-wide FMAs, where some kernels have them and others not.
    tensor = all(c["tensor_flops"] > 2 * c["fma64"] for c in counts)

    def steps(c: Json) -> float:
        return c["tensor_flops"] / 2 / (16 * 8 * 4) if tensor else (c["fma64"] + c["tensor_flops"] / 2) / 32

    def row(title: str, kind: str, what: str) -> list[str]:
        return [title, *(f"{c[kind][what] / steps(c):.3g}" for c in counts)]

    rows = [
        row("global load requests", "global_load", "requests"),
        row("sectors of them", "global_load", "sectors"),
        row("wavefronts of them: cycles of an SM's L1 cache", "global_load", "wavefronts"),
    ]
    # TSMM is long in what it stores, and C may be in shared memory.
    if "TsmmProblem" in data.source(data.stage(stage)):
        rows += [
            row("sectors of stores", "global_store", "sectors"),
            row("wavefronts of loads from shared memory", "shared_load", "wavefronts"),
        ]
    else:
        rows.append(row("requests of atomic additions", "global_atomic", "requests"))
    unit = "instruction of 16 x 8 x 4" if tensor else "warp-wide FMA"
    rate = "An FMA of the FP64 cores takes half a cycle of an SM of sm_90."
    if tensor:
        rate = "An instruction takes the Tensor Cores of an SM of sm_90 four cycles."
    return table([f"counted per {unit}, M = {m}, N = {n}, K = {int(k):,}", *TYPES.values()], rows) + [
        "",
        f"{counted_by(data.executor)}. {rate}",
    ]


def cells_of(result: Json) -> list[str]:
    """What was measured; else why not."""
    if "time_ms" not in result:
        return [result["reason"], "", "", "", ""]
    speeds = [f"{result['gbytes_s']:,.0f}", f"{result['gflops']:,.0f}"]
    shares = [f"{result['pct_roofline']:.1f} %", f"{result['pct_cublas']:.0f} %"]
    return [f"{result['time_ms']['median']:.4g}", *speeds, *shares]


def block_tsm_measured(data: Data, stage: str) -> list[str]:
    """The speeds, for both types; all of one run's commit and device."""
    rows, of = [], None
    for path in MEASURED:
        run = read_json_if_there(path) or {"results": []}
        for r in run["results"]:
            if r["stage"] != data.stage(stage):
                continue
            if of and measured_on(of) != measured_on(run):
                sys.exit(
                    f"error: {path.name} is of another commit or device than the rest of tsm/{stage}'s table: "
                    "measure both types anew"
                )
            p, of = r["problem"], run
            rows.append([p["type"], str(p["m"]), f"{p['k']:,}", *cells_of(r)])
    if not of:
        return not_measured("docs/measurements/measure")
    head = ["type", "M = N", "K", "ms", "GB/s", "GFLOP/s", "of the roofline", "of cuBLAS"]
    return table(head, rows) + ["", f"{measured_on(of)}."]
