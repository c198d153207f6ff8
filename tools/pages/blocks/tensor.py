"""FP16 products on Tensor Cores."""

from collections.abc import Callable

from tools.pages.data import Data
from tools.pages.notes import NOT_COUNTED, counted_by, measured_on
from tools.pages.records.tensor import FOLDERS, NOT_MEASURED, measured, rate_run, specifications
from tools.repository import Json, read_json_if_there
from tools.tables import table

PIPE_OF_ACTIVE = "tensor_pipe_pct_of_active"


def block_tensor_counted(data: Data, stage: str) -> list[str]:
    """What the executor counted for a product of FP16 matrices, at a size whose rows meet in a bank and at one whose
    rows don't."""
    sizes = data.executor["tensor_sizes"]
    found = [data.executor["kernels"].get(f"{data.stage(stage)}/{size}") for size in sizes]
    if not all(found):
        return NOT_COUNTED
    counts = [kernel["counts"] for kernel in found]

    def row(title: str, value: Callable[[Json], float]) -> list[str]:
        return [title, *(f"{value(c) / (c['tensor_flops'] / 4096):.3g}" for c in counts)]

    rows = [
        row("global load requests", lambda c: c["global_load"]["requests"]),
        row("cache lines that they look up, four a cycle", lambda c: c["global_load"]["lines"]),
        row("wavefronts of them: cycles of an SM's L1 cache", lambda c: c["global_load"]["wavefronts"]),
        row("wavefronts of shared memory", lambda c: c["shared_load"]["wavefronts"] + c["shared_store"]["wavefronts"]),
    ]
    head = ["counted for a product of 16 x 8 x 16, 4,096 flops", *(f"M = N = K = {size}" for size in sizes)]
    return table(head, rows) + [
        "",
        f"{counted_by(data.executor)}. At the peak of an SM of sm_90 such a product takes one cycle.",
    ]


def with_stage(runs: list[Json | None], stage: str) -> list[Json]:
    """Those of the runs that have the stage."""
    return [run for run in runs if run and any(r["stage"] == stage for r in run["results"])]


def block_tensor_measured(data: Data, stage: str) -> list[str]:
    """Speeds of a stage, of FP16 products or of FP32 ones, beside its roofline and cuBLAS."""
    runs = with_stage([measured("h"), measured("s")], data.stage(stage))
    if not runs:
        return NOT_MEASURED
    run, rows = runs[0], []
    its = [r for r in run["results"] if r["stage"] == data.stage(stage)]
    for r in its:
        p = r["problem"]
        shape = f"{p['m']:,}" if p["m"] == p["n"] == p["k"] else f"{p['m']:,} x {p['n']:,} x {p['k']:,}"
        if "time_ms" not in r:
            rows.append([shape, r["reason"], "", "", ""])
            continue
        shares = [f"{r[key]:.1f} %" for key in ("pct_roofline", "pct_cublas")]
        rows.append([shape, f"{r['time_ms']['median']:.4g}", f"{r['gflops'] / 1e3:,.1f}", *shares])
    beside = "; cuBLAS may have wgmma."
    if its[-1]["problem"]["type"] == "float":
        beside = ", shared out among the products of FP16 for one of FP32; cuBLAS is its SGEMM on FP32 cores."
    return table(["M x N x K", "ms", "TFLOP/s", "of the roofline", "of cuBLAS"], rows) + [
        "",
        f"{measured_on(run)}. The roofline's peak is that of mma.sync in FP16, "
        f"{run['ceilings']['hmma_gflops'] / 1e3:,.0f} TFLOP/s here{beside}",
    ]


def block_tensor_padded(data: Data) -> list[str]:
    """The first stage at 1024, its rows 1,032 numbers apart."""
    run = measured("padded")
    if not run:
        return NOT_MEASURED
    result = run.get("results", [run])[0]
    p = result["problem"]
    return [
        f"Measured with leading dimensions of {p['lda']:,} at M = N = K = {p['m']:,}: "
        f"{result['time_ms']['median']:.4g} ms, {result['gflops'] / 1e3:.1f} TFLOP/s."
    ]


def block_tensor_forms(data: Data, stage: str) -> list[str]:
    """A stage and its variants: speed, registers, and what Nsight Compute counted."""
    wanted = data.stage(stage)
    for name, counted in (("variants", "counters"), ("tcec_variants", "tcec_counters")):
        if runs := with_stage([measured(name)], wanted):
            run, counters = runs[0], measured(counted) or {"sizes": {}}
            break
    else:
        return NOT_MEASURED
    sizes = sorted({r["problem"]["m"] for r in run["results"]})
    rows = []
    for form in dict.fromkeys(r["stage"] for r in run["results"] if r["stage"].split(":")[0] == wanted):
        found = {r["problem"]["m"]: r for r in run["results"] if r["stage"] == form and "gflops" in r}
        launches = next(iter(found.values())).get("launches", [{"registers": 0}])
        launch = max(launches, key=lambda launch: launch["registers"])
        cells = [f"{found[size]['gflops'] / 1e3:,.0f}" if size in found else "" for size in sizes]
        cells += [str(launch["registers"] or ""), str(launch.get("local_bytes", ""))]
        count = counters["sizes"].get(str(sizes[0]), {}).get(form)
        for what in ("wavefronts", "bank_conflicts"):
            both = [f"shared_{operation}_{what}" for operation in ("load", "store")]
            cells.append(f"{sum(count[key] for key in both) / count['hmma']:.2f}" if count else "")
        rows.append([f"`{form.split('/')[1]}`", *cells])
    counted_heads = ["registers", "bytes spilled", "shared-memory wavefronts a product", "of them conflicts"]
    return table(["form", *(f"TFLOP/s at {size:,}" for size in sizes), *counted_heads], rows) + [
        "",
        f"{measured_on(run)}; wavefronts: Nsight Compute, at {sizes[0]:,}. A product: mma.sync's 16 x 8 x 16.",
    ]


def block_tensor_pipe(data: Data, stage: str) -> list[str]:
    """What Nsight Compute says of the Tensor Cores in a stage."""
    wanted = data.stage(stage)
    for counters in (measured("counters"), measured("tcec_counters")):
        its = {size: of[wanted] for size, of in counters["sizes"].items() if wanted in of} if counters else {}
        if its:
            break
    else:
        return NOT_MEASURED

    def row(title: str, value: Callable[[Json], str]) -> list[str]:
        return [title, *(value(c) for c in its.values())]

    of_shared = "wavefronts of loads from shared memory, for a product"
    rows = [
        row("Tensor pipe busy, of the cycles in which an SM has a block", lambda c: f"{c[PIPE_OF_ACTIVE]:.1f} %"),
        row("Tensor pipe busy, of all cycles", lambda c: f"{c['tensor_pipe_pct']:.1f} %"),
        row("clock while it runs", lambda c: f"{c['sm_hz'] / 1e9:.2f} GHz"),
        row("issue slots used", lambda c: f"{c['issue_slots_pct']:.0f} %"),
        row(of_shared, lambda c: f"{c['shared_load_wavefronts'] / c['hmma']:.2f}"),
        row("bank conflicts among them", lambda c: f"{c['shared_load_bank_conflicts'] / c['hmma']:.4f}"),
        row("bytes read from device memory", lambda c: f"{c['dram_read_bytes'] / 1e9:.2f} GB"),
    ]
    return table(["Nsight Compute", *(f"{int(size):,}" for size in its)], rows) + ["", f"{measured_on(counters)}."]


def block_tensor_specifications(data: Data) -> list[str]:
    """GPUs as specified and as measured, and the ratios that decide what bounds a kernel."""
    rows = []
    for name, (device, shared, fp32, half, tf32) in specifications().items():
        rates = [
            f"{device:,.0f}",
            f"{shared:,.0f}",
            f"{fp32:.1f}",
            f"{half:.0f}",
            "" if tf32 is None else f"{tf32:.0f}",
        ]
        ratios = [f"{device / half / 1e3:.4f}", f"{shared / half / 1e3:.3f}", f"{half * 1e3 / shared:.1f}"]
        rows.append([name, *rates, *ratios])
    head = [
        "device memory, GB/s",
        "shared memory, GB/s",
        "FP32, TFLOP/s",
        "FP16 Tensor Cores, TFLOP/s",
        "TF32, TFLOP/s",
    ]
    head += ["device bytes a flop", "shared bytes a flop", "flops a shared byte"]
    first, *lines = table(["", *head], rows)
    return [first.replace("|  |", "| |", 1), *lines]


def block_tensor_rounding(data: Data) -> list[str]:
    """What the probe `rounding` found out about Tensor Cores' sums."""
    run = read_json_if_there(FOLDERS["measured"] / "probes" / "rounding.json")
    if not run:
        return NOT_MEASURED
    keys = ("operands", "instruction", "rounding", "extra_bits", "products_at_once")
    rows = [[*(str(r[key]) for key in keys), "kept" if r["subnormals"] else "lost"] for r in run["results"]]
    text, numbers = (
        ["operands", "instruction", "a sum is cut"],
        ["bits kept below a float's last", "products added at once"],
    )
    lines = table([*text, *numbers, "subnormal numbers"], rows, left=[*text, "subnormal numbers"])
    return lines + ["", f"{measured_on(run)}."]


def block_tensor_rate(data: Data) -> list[str]:
    """What the probe `tensor_rate` measured."""
    run = rate_run()
    if not run:
        return NOT_MEASURED
    rows = []
    for r in run["results"]:
        speeds = [f"{r['tflops_at_first']:.0f}", f"{r['tflops']:.0f}", f"{r['ghz']:.2f} GHz"]
        rows.append([r["operands"], r["numbers"], *speeds])
    head = ["operands", "numbers", "TFLOP/s at first", "after a second", "clock then"]
    return table(head, rows, left=head[:2]) + ["", f"{measured_on(run)}."]


def block_tensor_peaks(data: Data, stage: str) -> list[str]:
    """What a stage has at 8192, in all runs, of mma.sync's peaks."""
    rate, runs = rate_run(), [run for run in map(measured, ("h", "variants", "waves")) if run]
    its = [r for run in runs for r in run["results"] if r["stage"] == data.stage(stage) and r["problem"]["m"] == 8192]
    if not rate or not its:
        return NOT_MEASURED
    least, most = (f(r["gflops"] / 1e3 for r in its) for f in (min, max))
    by_numbers = {r["numbers"]: r for r in rate["results"] if r["operands"] == "FP16"}
    peaks = {
        "this loop, with ones": by_numbers["ones"]["tflops"],
        "the roofline's probe, with more warps": runs[0]["ceilings"]["hmma_gflops"] / 1e3,
        "this loop, with random numbers, after a second": by_numbers["-1 to 1"]["tflops"],
    }
    rows = [
        [name, f"{peak:.0f}", f"{100 * least / peak:.0f} to {100 * most / peak:.0f} %"] for name, peak in peaks.items()
    ]
    return table(["mma.sync", "TFLOP/s", "the stage has of it"], rows) + [
        "",
        f"{least:.0f} to {most:.0f} TFLOP/s in {len(its)} runs on {rate['device']}s.",
    ]
