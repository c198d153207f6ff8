"""The ladder's tables: all stages, the ceilings, a stage at all sizes."""

from tools.pages.data import (
    CUBES,
    HEADLINE,
    SKEWED,
    Data,
    NotMeasured,
    by_stage_and_shape,
    full_shape,
    shape_of,
)
from tools.pages.records.bounds import ladder_of, predicted
from tools.pages.records.launches import product_launch, shared_bytes
from tools.repository import Json
from tools.rungs import base_of, number_of
from tools.tables import table, tflops


def block_ladder(data: Data) -> list[str]:
    rows = []
    libraries = [i for i in data.ids if i.startswith("cublas/")]
    for i in [*(i for i in data.registry if i.startswith("sgemm/")), *libraries]:
        r = data.results.get((i, HEADLINE), {})
        is_stage = i not in libraries
        name = i.split("/")[1]
        title = (
            f"[{name}](docs/stages/{name}.md)"
            if is_stage
            else (f"cuBLAS, {name.replace('_', ' ').upper().replace('PEDANTIC', '(pedantic)')}")
        )
        idea = data.idea(i) if is_stage else ""
        if "time_ms" not in r:
            rows.append([title, idea, r.get("reason") or "not measured", "", "", "", ""])
            continue
        base = base_of(i) if is_stage else None
        before = data.results.get((base, HEADLINE), {}).get("gflops")
        rows.append(
            [
                title,
                idea,
                f"{r['time_ms']['median']:.3f}",
                tflops(r["gflops"]),
                f"{r.get('pct_cublas', 100):.1f} %",
                f"{r['pct_roofline']:.1f} %" if "pct_roofline" in r else "-",
                f"{r['gflops'] / before:.2f} x since {number_of(base)}" if base and before else "",
            ]
        )
    run = data.ladder
    return table(["stage", "idea", "ms", "TFLOP/s", "of cuBLAS FP32", "of the roofline", "gain"], rows) + [
        "",
        f"{run['device']}, {HEADLINE.replace('x', ' x ')}, warm cache, medians; driver {run['driver']}, CUDA "
        f"{run['cuda']}, cuBLAS "
        f"{run['cublas']}; each stage timed alternately with cuBLAS, in a run of commit {run['commit']}. TF32 is "
        "another "
        "arithmetic, "
        "with 13 bits less.",
    ]


def block_ceilings(data: Data) -> list[str]:
    c = data.ceilings
    return table(
        ["ceiling", "measured"],
        [
            ["read-only stream from device memory", f"{c['read_gbs']:.0f} GB/s"],
            ["copy in device memory, read + write", f"{c['copy_gbs']:.0f} GB/s"],
            ["FFMA on the FP32 cores", f"{c['ffma_gflops'] / 1e3:.1f} TFLOP/s"],
            ["shared memory, all SMs", f"{c['shared_gbs'] / 1e3:.1f} TB/s"],
            ["launch of an empty kernel", f"{c['launch_us']:.1f} us"],
        ],
    )


def counted_range(data: Data, result: Json) -> str:
    """GFLOP/s of the reference problem by bounds.json, on as many SMs as have a block of this one."""
    found = ladder_of(result["stage"], data.bounds) if data.bounds else None
    if not found:
        return "-"
    ladder, bounds = found
    reference = ladder.measured().get(result["stage"])
    if not reference:  # a new stage, of another run
        return "-"
    flops = reference["gflops"] * reference["time_ms"]["median"]  # / 1e6
    busy = result["predicted"]["gflops"] / reference["predicted"]["gflops"]
    prediction = predicted(bounds)
    return f"{flops / prediction.most_ms * busy:,.0f} to {flops / prediction.least_ms * busy:,.0f}"


def block_measured(data: Data, stage: str) -> list[str]:
    rows, last, run = [], None, data.run_of(stage)
    there = by_stage_and_shape(run)
    for size in CUBES:
        if (data.stage(stage), full_shape(size)) not in there:
            continue
        try:
            r = data.result(stage, size)
        except NotMeasured as why:
            rows.append([size, str(why), *[""] * 6])
            continue
        last = (size, r) if last is None or int(size) <= 4096 else last
        rows.append(
            [
                size,
                f"{r['time_ms']['median']:.4g}",
                f"{r['predicted']['gflops']:,.0f}",
                counted_range(data, r),
                f"{r['gflops']:,.0f}",
                f"{r['gflops'] / r['predicted']['gflops']:.2f}",
                f"{r['pct_cublas']:.1f} %",
                f"{r['pct_roofline']:.1f} %",
            ]
        )
    if not last:
        raise NotMeasured("")
    size, r = last
    launch, state = product_launch(r), r["state"]
    kernels = f" (of {len(r['launches'])} kernels, the one with most registers)" if len(r["launches"]) > 1 else ""
    return table(
        [
            "M = N = K",
            "ms",
            "predicted, as written",
            "predicted, as counted",
            "measured GFLOP/s",
            "measured / as written",
            "of cuBLAS",
            "of the roofline",
        ],
        rows,
    ) + [
        "",
        f"{run['device']}, commit {run['commit']}; {launch['registers']} registers a thread, "
        f"{shared_bytes(launch)} bytes of shared memory a block, {launch['local_bytes']} bytes spilled{kernels}"
        + (f"; SM clock {state['sm_mhz_min']} to {state['sm_mhz_max']} MHz while timing {size}." if state else "."),
    ]


def block_required(data: Data, stage: str) -> list[str]:
    """The shapes that the summit is judged by."""
    rows, run = [], data.run_of(stage)
    for shape in CUBES + SKEWED:
        try:
            r = data.result(stage, shape)
        except NotMeasured as why:
            rows.append([shape, "", str(why) or "not measured", ""])
            continue
        cublas = r["gflops"] * 100 / r["pct_cublas"]
        rows.append([shape, tflops(cublas), tflops(r["gflops"]), f"{r['pct_cublas'] / 100:.3f}"])
    if all(row[2] == "not measured" for row in rows):
        raise NotMeasured("")
    return table(["M = N = K, or M x N x K", "cuBLAS, TFLOP/s", f"stage {stage}, TFLOP/s", "ratio"], rows) + [
        "",
        f"{run['device']}, commit {run['commit']}, alternately with cuBLAS, checked.",
    ]


def block_random(data: Data, stage: str) -> list[str]:
    """Shapes that nobody has chosen."""
    wanted = data.stage(stage)
    found = [r for r in data.random["results"] if r["stage"] == wanted] if data.random else []
    if not found:
        raise NotMeasured("")
    rows = []
    for r in found:
        shape = shape_of(r["problem"]).replace("x", " x ")
        if "time_ms" not in r:
            rows.append([shape, "", r.get("reason", r["status"]), ""])
            continue
        cublas = r["gflops"] * 100 / r["pct_cublas"]
        rows.append([shape, tflops(cublas), tflops(r["gflops"]), f"{r['pct_cublas'] / 100:.3f}"])
    run = data.random
    return table(["M x N x K, drawn", "cuBLAS, TFLOP/s", f"stage {stage}, TFLOP/s", "ratio"], rows) + [
        "",
        f"{run['device']}, commit {run['commit']}, command `{run['command']}`.",
    ]
