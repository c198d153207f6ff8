"""FP16 products on Tensor Cores."""

from collections.abc import Callable

from tools.pages.data import Data
from tools.pages.notes import NOT_COUNTED, counted_by, measured_on
from tools.pages.records.tensor import (
    FOLDERS,
    NOT_MEASURED,
    SPECIFIED,
    Chip,
    best_of_cublas,
    measured,
    measured_chip,
    rate_run,
)
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
    # A rung may be younger than the newest record.
    older = (read_json_if_there(FOLDERS["measured"] / f"tensor_{kind}.json") for kind in "hs")
    runs = with_stage([measured("h"), measured("s"), *older], data.stage(stage))
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
    """The paper's Table 1 with the GPU of the pages, as measured, beside it; and the ratios that the paper argues
    with."""
    chips = dict(SPECIFIED)
    if ours := measured_chip():
        chips[f"{ours[0]}, measured"] = ours[1]

    def row(title: str, value: Callable[[Chip], str | float | None], form: str = ",.0f") -> list[str]:
        cells = [title]
        for chip in chips.values():
            found = value(chip)
            missing = "not measured" if chip.measured else ""
            cells.append(missing if found is None else found if isinstance(found, str) else format(found, form))
        return cells

    def ratio(title: str, name: str, form: str) -> list[str]:
        return row(title, lambda chip: chip.ratios[name], form)

    rows = [
        row("SMs", lambda chip: chip.sms),
        row("clock, MHz", lambda chip: chip.mhz),
        row("device memory, GB", lambda chip: chip.memory),
        row("its bandwidth, GB/s", lambda chip: chip.memory_gbs),
        row("shared memory, KB per SM", lambda chip: chip.shared),
        row("its bandwidth, all SMs, GB/s", lambda chip: chip.shared_gbs),
        row("FP32, TFLOP/s", lambda chip: chip.fp32, ".1f"),
        row("FP16 without Tensor Cores, TFLOP/s", lambda chip: chip.fp16, ".1f"),
        row("FP16 on Tensor Cores, TFLOP/s", lambda chip: chip.fp16_tensor),
        row("TF32 on Tensor Cores, TFLOP/s", lambda chip: chip.tf32_tensor),
        ratio("shared memory's bandwidth over device memory's", "times", ".1f"),
        ratio("bytes of device memory per flop, FP32 cores", "memory_per_fp32", ".3f"),
        ratio("bytes of device memory per flop, Tensor Cores", "memory_per_tensor", ".4f"),
        ratio("bytes of shared memory per flop, Tensor Cores", "shared_per_tensor", ".3f"),
        ratio("flops of Tensor Cores per byte of shared memory", "tensor_per_shared", ".1f"),
    ]
    first, *lines = table(["", *chips], rows)
    lines = [first.replace("|  |", "| |", 1), *lines, ""]
    if not ours:
        return [*lines[:-1], "", *NOT_MEASURED]
    name, chip = ours
    cublas = best_of_cublas()
    return [
        *lines,
        f"{measured_on(measured('h'))}: the clock is the highest that was seen, Tensor Cores are `mma.sync`. cuBLAS, "
        f"which has `wgmma`, reaches {cublas:.0f} TFLOP/s in FP16: {chip.shared_gbs / cublas / 1e3:.3f} bytes of "
        f"shared memory per flop, {cublas * 1e3 / chip.shared_gbs:.1f} flops per byte.",
    ]


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
    its = [
        (run["device"], r["gflops"] / 1e3)
        for run in runs
        for r in run["results"]
        if r["stage"] == data.stage(stage) and r["problem"]["m"] == 8192
    ]
    if not rate or not its:
        return NOT_MEASURED
    devices, speeds = zip(*its)
    least, most = min(speeds), max(speeds)
    cards = ", ".join(f"{devices.count(device)} on an {device}" for device in sorted(set(devices)))
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
        f"{least:.0f} to {most:.0f} TFLOP/s in {len(its)} runs: {cards}.",
    ]
