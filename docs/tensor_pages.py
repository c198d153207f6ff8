"""The blocks of the Tensor Core stages' pages. Part of generate.py."""
import json
import pathlib

MEASURED = pathlib.Path(__file__).resolve().parent / "measurements" / "nvidia-h200" / "tensor_h.json"


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
