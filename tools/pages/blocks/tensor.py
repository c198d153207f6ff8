"""FP16 products on Tensor Cores."""

from collections.abc import Callable

from tools.pages.data import Data
from tools.pages.notes import NOT_COUNTED
from tools.pages.records.tensor import FOLDERS, NOT_MEASURED, measured, rate_run, specifications
from tools.repository import Json, read_json


def block_tensor_counted(data: Data, stage: str) -> list[str]:
    """What the executor counted for a product of FP16 matrices, at a size whose rows meet in a bank and at one whose rows don't."""
    sizes = data.executor["tensor_sizes"]
    found = [data.executor["kernels"].get(f"{data.stage(stage)}/{size}") for size in sizes]
    if not all(found):
        return NOT_COUNTED
    counts = [kernel["counts"] for kernel in found]
    per = [c["tensor_flops"] / 4096 for c in counts]

    def row(title: str, value: Callable[[Json], float]) -> str:
        return f"| {title} | " + " | ".join(f"{value(c) / steps:.3g}" for c, steps in zip(counts, per)) + " |"

    return [
        "| counted for a product of 16 x 8 x 16, 4,096 flops | "
        + " | ".join(f"M = N = K = {size}" for size in sizes)
        + " |",
        "|---|" + "---:|" * len(sizes),
        row("global load requests", lambda c: c["global_load"]["requests"]),
        row("cache lines that they look up, four a cycle", lambda c: c["global_load"]["lines"]),
        row("wavefronts of them: cycles of an SM's L1 cache", lambda c: c["global_load"]["wavefronts"]),
        row("wavefronts of shared memory", lambda c: c["shared_load"]["wavefronts"] + c["shared_store"]["wavefronts"]),
        "",
        f"CPU executor, {data.executor['compiler']}, commit {data.executor['commit']}. At the peak of an SM of sm_90 such a product takes one cycle.",
    ]


def block_tensor_measured(data: Data, stage: str) -> list[str]:
    """Speeds of a stage, of FP16 products or of FP32 ones, beside its roofline and cuBLAS."""
    runs = [
        run
        for run in (measured("h"), measured("s"))
        if run and any(r["stage"] == data.stage(stage) for r in run["results"])
    ]
    if not runs:
        return NOT_MEASURED
    run, rows = runs[0], []
    for r in run["results"]:
        if r["stage"] != data.stage(stage):
            continue
        of_fp32 = r["problem"]["type"] == "float"
        p = r["problem"]
        shape = f"{p['m']:,}" if p["m"] == p["n"] == p["k"] else f"{p['m']:,} x {p['n']:,} x {p['k']:,}"
        cells = (
            [
                f"{r['time_ms']['median']:.4g}",
                f"{r['gflops'] / 1e3:,.1f}",
                f"{r['pct_roofline']:.1f} %",
                f"{r['pct_cublas']:.1f} %",
            ]
            if "time_ms" in r
            else [r["reason"], "", "", ""]
        )
        rows.append(f"| {shape} | " + " | ".join(cells) + " |")
    return [
        "| M x N x K | ms | TFLOP/s | of the roofline | of cuBLAS |",
        "|---|" + "---:|" * 4,
        *rows,
        "",
        f"{run['device']}, commit {run['commit']}. The roofline's peak is that of mma.sync in FP16, "
        f"{run['ceilings']['hmma_gflops'] / 1e3:,.0f} TFLOP/s here"
        + (
            ", shared out among the products of FP16 for one of FP32; cuBLAS is its SGEMM on FP32 cores."
            if of_fp32
            else "; cuBLAS may have wgmma."
        ),
    ]


def block_tensor_padded(data: Data) -> list[str]:
    """The first stage at 1024, its rows 1,032 numbers apart."""
    run = measured("padded")
    if not run:
        return NOT_MEASURED
    result = (run["results"] if "results" in run else [run])[0]
    p = result["problem"]
    return [
        f"Measured with leading dimensions of {p['lda']:,} at M = N = K = {p['m']:,}: {result['time_ms']['median']:.4g} ms, {result['gflops'] / 1e3:.1f} TFLOP/s."
    ]


def block_tensor_forms(data: Data, stage: str) -> list[str]:
    """A stage and its variants: speed, registers, and what Nsight Compute counted."""
    runs = [
        (run, measured(counted))
        for run, counted in ((measured("variants"), "counters"), (measured("tcec_variants"), "tcec_counters"))
        if run and any(r["stage"] == data.stage(stage) for r in run["results"])
    ]
    if not runs:
        return NOT_MEASURED
    run, counters = runs[0]
    sizes = sorted({r["problem"]["m"] for r in run["results"]})
    forms = list(dict.fromkeys(r["stage"] for r in run["results"] if r["stage"].split(":")[0] == data.stage(stage)))
    rows = []
    for form in forms:
        found = {r["problem"]["m"]: r for r in run["results"] if r["stage"] == form and "gflops" in r}
        launch = max(
            next(iter(found.values())).get("launches", [{"registers": 0}]), key=lambda launch: launch["registers"]
        )
        cells = [f"{found[size]['gflops'] / 1e3:,.0f}" if size in found else "" for size in sizes]
        cells += [str(launch["registers"] or ""), str(launch.get("local_bytes", ""))]
        count = (counters or {"sizes": {}})["sizes"].get(str(sizes[0]), {}).get(form)
        cells += [
            f"{(count[a] + count[b]) / count['hmma']:.2f}" if count else ""
            for a, b in (
                ("shared_load_wavefronts", "shared_store_wavefronts"),
                ("shared_load_bank_conflicts", "shared_store_bank_conflicts"),
            )
        ]
        rows.append(f"| `{form.split('/')[1]}` | " + " | ".join(cells) + " |")
    return [
        "| form | "
        + " | ".join(f"TFLOP/s at {size:,}" for size in sizes)
        + " | registers | bytes spilled | shared-memory wavefronts a product | of them conflicts |",
        "|---|" + "---:|" * (len(sizes) + 4),
        *rows,
        "",
        f"{run['device']}, commit {run['commit']}; wavefronts: Nsight Compute, at {sizes[0]:,}. A product: mma.sync's 16 x 8 x 16.",
    ]


def block_tensor_pipe(data: Data, stage: str) -> list[str]:
    """What Nsight Compute says of the Tensor Cores in a stage."""
    found = [
        c
        for c in (measured("counters"), measured("tcec_counters"))
        if c and any(data.stage(stage) in of for of in c["sizes"].values())
    ]
    if not found:
        return NOT_MEASURED
    counters = found[0]
    sizes = [size for size in counters["sizes"] if data.stage(stage) in counters["sizes"][size]]
    its = [counters["sizes"][size][data.stage(stage)] for size in sizes]

    def row(title: str, value: Callable[[Json], str]) -> str:
        return f"| {title} | " + " | ".join(value(c) for c in its) + " |"

    return [
        "| Nsight Compute | " + " | ".join(f"{int(size):,}" for size in sizes) + " |",
        "|---|" + "---:|" * len(sizes),
        row(
            "Tensor pipe busy, of the cycles in which an SM has a block",
            lambda c: f"{c['tensor_pipe_pct_of_active']:.1f} %",
        ),
        row("Tensor pipe busy, of all cycles", lambda c: f"{c['tensor_pipe_pct']:.1f} %"),
        row("clock while it runs", lambda c: f"{c['sm_hz'] / 1e9:.2f} GHz"),
        row("issue slots used", lambda c: f"{c['issue_slots_pct']:.0f} %"),
        row(
            "wavefronts of loads from shared memory, for a product",
            lambda c: f"{c['shared_load_wavefronts'] / c['hmma']:.2f}",
        ),
        row("bank conflicts among them", lambda c: f"{c['shared_load_bank_conflicts'] / c['hmma']:.4f}"),
        row("bytes read from device memory", lambda c: f"{c['dram_read_bytes'] / 1e9:.2f} GB"),
        "",
        f"{counters['device']}, commit {counters['commit']}.",
    ]


def block_tensor_specifications(data: Data) -> list[str]:
    lines = [
        "| | device memory, GB/s | shared memory, GB/s | FP32, TFLOP/s | FP16 Tensor Cores, TFLOP/s | TF32, TFLOP/s | device bytes a flop | shared bytes a flop | flops a shared byte |",
        "|---|" + "---:|" * 8,
    ]
    for name, (device, shared, fp32, half, tf32) in specifications().items():
        lines.append(
            f"| {name} | {device:,.0f} | {shared:,.0f} | {fp32:.1f} | {half:.0f} | {'' if tf32 is None else f'{tf32:.0f}'} | {device / half / 1e3:.4f} | {shared / half / 1e3:.3f} | {half * 1e3 / shared:.1f} |"
        )
    return lines


def block_tensor_rounding(data: Data) -> list[str]:
    """What the probe `rounding` found out about Tensor Cores' sums."""
    path = FOLDERS["measured"] / "probes" / "rounding.json"
    if not path.exists():
        return NOT_MEASURED
    run = read_json(path)
    return [
        "| operands | instruction | a sum is cut | bits kept below a float's last | products added at once | subnormal numbers |",
        "|---|---|---|---:|---:|---|",
        *(
            f"| {r['operands']} | {r['instruction']} | {r['rounding']} | {r['extra_bits']} | {r['products_at_once']} | {'kept' if r['subnormals'] else 'lost'} |"
            for r in run["results"]
        ),
        "",
        f"{run['device']}, commit {run['commit']}.",
    ]


def block_tensor_rate(data: Data) -> list[str]:
    """What the probe `tensor_rate` measured."""
    run = rate_run()
    if not run:
        return NOT_MEASURED
    return [
        "| operands | numbers | TFLOP/s at first | after a second | clock then |",
        "|---|---|---:|---:|---:|",
        *(
            f"| {r['operands']} | {r['numbers']} | {r['tflops_at_first']:.0f} | {r['tflops']:.0f} | {r['ghz']:.2f} GHz |"
            for r in run["results"]
        ),
        "",
        f"{run['device']}, commit {run['commit']}.",
    ]


def block_tensor_peaks(data: Data, stage: str) -> list[str]:
    """What a stage has at 8192, in all runs, of mma.sync's peaks."""
    rate, runs = rate_run(), [run for run in map(measured, ("h", "variants", "waves")) if run]
    speeds = [
        r["gflops"] / 1e3
        for run in runs
        for r in run["results"]
        if r["stage"] == data.stage(stage) and r["problem"]["m"] == 8192
    ]
    if not rate or not speeds:
        return NOT_MEASURED
    by_numbers = {r["numbers"]: r for r in rate["results"] if r["operands"] == "FP16"}
    peaks = {
        "this loop, with ones": by_numbers["ones"]["tflops"],
        "the roofline's probe, with more warps": runs[0]["ceilings"]["hmma_gflops"] / 1e3,
        "this loop, with random numbers, after a second": by_numbers["-1 to 1"]["tflops"],
    }
    return [
        "| mma.sync | TFLOP/s | the stage has of it |",
        "|---|---:|---:|",
        *(
            f"| {name} | {peak:.0f} | {100 * min(speeds) / peak:.0f} to {100 * max(speeds) / peak:.0f} % |"
            for name, peak in peaks.items()
        ),
        "",
        f"{min(speeds):.0f} to {max(speeds):.0f} TFLOP/s in {len(speeds)} runs on {rate['device']}s.",
    ]
