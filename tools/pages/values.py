"""The marked numbers within sentences: VALUES[NAME](data, *arguments) is the text of the mark `= NAME`."""

from collections.abc import Callable

from tools.experiments import sgemm_tables
from tools.experiments.tsm_cases import TYPES
from tools.measure.counters import METRICS
from tools.pages.data import Data, NotMeasured, full_shape, shape_of
from tools.pages.records.counts import counted_cycles
from tools.pages.records.experiments import record_file
from tools.pages.records.tcec import OUR_N, batched_speed, best_batched, bounds_of
from tools.pages.records.tensor import MEASURED, measured, measured_chip
from tools.pages.records.tensor_probes import part, probe_run, task_series
from tools.pages.records.tuning import timed_points, tuned_shape
from tools.pages.tsm_values import TSM_VALUES
from tools.repository import MEASUREMENTS, Json, read_json, read_json_if_there
from tools.rungs import find
from tools.stats import rank_correlation
from tools.tables import number, tflops
from tools.tune.sgemm import FIELDS


def tuning_spread(data: Data, which: str, size: str | None = None, outputs: str = "", blocks: str = "1") -> str:
    """Of all timed points: how far from the model, from each other, from cuBLAS; and whether in the model's order."""
    points, sizes = timed_points(data)
    own = tuned_shape(data)
    if which == "stage_place":
        return str([p["shape"] for p in points].index(own) + 1)
    if which == "points":
        return str(len(points))
    size = size or sizes[0]
    if which in ("behind", "behind_in_ratio"):  # the stage, behind the best point at this size
        key = "gflops" if which == "behind" else "pct_cublas"
        found = {tuple(p["shape"]): p["timed"][size][key] for p in points}
        return f"{100 * (1 - found[tuple(own)] / max(found.values())):.1f} %"
    if which in ("cublas_least", "cublas_most"):  # its TFLOP/s beside the points
        found = [100 * p["timed"][size]["gflops"] / p["timed"][size]["pct_cublas"] for p in points]
        return tflops(min(found) if which == "cublas_least" else max(found))
    # 16 x 8 outputs a thread, to 8 x 16 of the same block tile and all the rest.
    if which in ("turned_least", "turned_most"):
        found = {}
        for p in points:
            kind = f"{p['shape'][3] // p['shape'][5]}x{p['shape'][4] * p['shape'][5] // 32}"
            of_kind = found.setdefault((*p["shape"][:3], *p["shape"][6:]), {})
            of_kind[kind] = max(of_kind.get(kind, 0), p["timed"][size]["gflops"])
        gains = [both["16x8"] / both["8x16"] for both in found.values() if {"16x8", "8x16"} <= set(both)]
        return f"{min(gains) if which == 'turned_least' else max(gains):.2f}"
    # Of the model's speeds and the measured; of those with such outputs and at least as many blocks.
    if which == "spearman":
        points = [p for p in points if f"thread{outputs}" in p["name"] and p["shape"][9] >= int(blocks)]
        return (
            f"{rank_correlation([p['model_gflops'] for p in points], [p['timed'][size]['gflops'] for p in points]):.2f}"
        )
    ratios = sorted(p["timed"][sizes[0]]["gflops"] / p["model_gflops"] for p in points)
    if which in ("least", "most"):
        return f"{ratios[0 if which == 'least' else -1]:.2f}"
    if which == "pairs":  # which the model orders as measured, of those to which it gives different speeds
        pairs = [(p, q) for i, p in enumerate(points) for q in points[:i] if p["model_gflops"] != q["model_gflops"]]
        right = sum(
            (p["model_gflops"] < q["model_gflops"]) == (p["timed"][sizes[0]]["gflops"] < q["timed"][sizes[0]]["gflops"])
            for p, q in pairs
        )
        return f"{100 * right / len(pairs):.0f} %"
    raise KeyError(which)


def tuned_gain(data: Data, changes: str, size: str) -> str:
    """Of a point of the search to the stage itself, in the search's run; changes: what differs, as QUADS=4 or
    TILE_M=64,BLOCKS=4."""
    points, _ = timed_points(data)
    own = tuned_shape(data)
    wanted = list(own)
    for change in changes.split(","):
        name, _, value = change.partition("=")
        wanted[FIELDS.index(name)] = int(value)
    speed = {tuple(p["shape"]): p["timed"][size]["gflops"] for p in points}
    return f"{speed[tuple(wanted)] / speed[tuple(own)]:.2f}"


def behind_cublas(data: Data, *names: str) -> str:
    """Experiments E9 and E13: the sizes at which cuBLAS is ahead of our best by 0.5 % or more, and our speed divided by
    its."""
    found = []
    for name in names:
        path = record_file(name)
        if not path:
            raise NotMeasured("")
        record = read_json(path)
        if record["executor"]:
            raise NotMeasured("")
        gflops = {(r["series"], r["type"], r["m"], r["n"]): r.get("gflops", 0) for r in record["results"]}
        for (series, kind, m, n), ours in gflops.items():
            theirs = gflops.get(("cuBLAS", kind, m, n), 0)
            if series == "our best" and theirs and ours / theirs < 0.995:
                shape = str(m) if m == n else f"{m} x {n}"
                title = record["title"].split(":")[0]
                found.append(f"{title} in {TYPES[kind]} at {shape} ({ours / theirs:.2f})")
    return ", ".join(found) or "none"


def sanitized(data: Data, what: str) -> str:
    """Of all runs under compute-sanitizer: how many runs, each of one tool, or how many errors they found."""
    if not data.sanitizers:
        raise NotMeasured("")
    return {
        "runs": f"{sum(len(run['names']) * len(run['errors']) for run in data.sanitizers):,}",
        "errors": f"{sum(sum(run['errors'].values()) for run in data.sanitizers):,}",
    }[what]


def of_chip(data: Data, what: str) -> str:
    """Of the pages' GPU as measured: a ratio of the block tensor_specifications, or one of its numbers (fp32)."""
    if not (ours := measured_chip()):
        raise NotMeasured("")
    found = ours[1].ratios[what] if what in ours[1].ratios else getattr(ours[1], what)
    if found is None:
        raise NotMeasured("")
    return number(found)


def tensor_speed(data: Data, which: str, size: str) -> float:
    """TFLOP/s of an FP32 stage of tensorcore/, or of its variant (08:cut-off), at M = N = K = size."""
    name, colon, variant = which.partition(":")
    stage = data.stage(f"tensorcore/{name}") + colon + variant
    for run in (measured("tcec_variants" if variant else "s"), measured("tcec_variants")):
        for r in run["results"] if run else []:
            if r["stage"] == stage and shape_of(r["problem"]) == full_shape(size) and "gflops" in r:
                return r["gflops"] / 1e3
    raise NotMeasured("")


def tcec_bound(data: Data, which: str) -> str:
    """With n = 32 on the pages' GPU: wmma, in_registers, registers or tensor, as Bounds has them; reached (by stage
    12); share (reached of registers)."""
    ours, reached = measured_chip(), best_batched("12")
    if not ours or (which in ("reached", "share") and reached is None):
        raise NotMeasured("")
    bounds = bounds_of(ours[1])
    if which == "wider":  # the fragments of stage 12
        return number(bounds_of(ours[1], OUR_N).wmma)
    if which == "share":
        return f"{100 * reached / bounds.registers:.0f} %"
    return number(reached if which == "reached" else getattr(bounds, which))


def batched(data: Data, which: str, k: str, other: str = "") -> str:
    """TFLOP/s in the batches of 256; or how many times that of `other` it is."""
    speeds = [batched_speed(stage, k) for stage in (which, other) if stage]
    if None in speeds:
        raise NotMeasured("")
    return f"{speeds[0] / speeds[1]:.2f}" if other else f"{speeds[0]:.1f}"


def batches_of(probe: str, task: str, least: str, most: str) -> list[dict[str, Json]]:
    """Of 06a and 06b, the results by form of each batch from `least` to `most` (all if empty) matrices; names without
    their blanks."""
    run = probe_run(probe, "measured")
    if not run:
        raise NotMeasured("")
    series = {name.replace(" ", ""): by for name, by in task_series(run).items()}
    batches = series[task] if task else next(iter(series.values()))
    return [
        {name.replace(" ", ""): r for name, r in by_form.items()}
        for batch, by_form in batches.items()
        if int(least) <= batch <= int(most or batch)
    ]


def spread(least: float, most: float) -> str:
    low, high = f"{least:.0f}", f"{most:.0f}"
    return f"{low} %" if low == high else f"{low} to {high} %"


def batch_gain(data: Data, probe: str, form: str, base: str, least: str, most: str = "") -> str:
    """How much faster or slower a form is than another, over batches: "9 to 14 % faster". Forms without their blanks:
    registers,embedded; a task in front: m=16:registers."""
    task, _, form = form.rpartition(":")
    its = batches_of(probe, task, least, most)
    if not all(form in of and base in of for of in its):
        raise NotMeasured("")
    gains = [100 * (of[form]["gbs"] / of[base]["gbs"] - 1) for of in its]
    if min(gains) < 0 < max(gains):
        return f"{-min(gains):.0f} % slower to {max(gains):.0f} % faster"
    return f"{spread(*sorted(map(abs, (min(gains), max(gains)))))} {'faster' if max(gains) > 0 else 'slower'}"


def batch_share(data: Data, probe: str, forms: str, least: str, most: str = "") -> str:
    """What forms (with + between them) reach of a copy's speed, over batches: "75 to 89 %"."""
    task, _, forms = forms.rpartition(":")
    its = batches_of(probe, task, least, most)
    names = forms.split("+")
    if not all(name in of for of in its for name in names):
        raise NotMeasured("")
    shares = [of[name]["pct_copy"] for of in its for name in names]
    return spread(min(shares), max(shares))


def probe_code(data: Data, probe: str, kernel: str, what: str) -> str:
    """Of what nvcc makes of a probe's kernel: instructions, local (bytes), ... Its name without blanks."""
    run = probe_run(probe, "counted")
    return f"{next(r[what] for r in part(run, 'code') if r['kernel'].replace(' ', '') == kernel):,}"


def ratio(data: Data, a: str, b: str, shape: str) -> str:
    """Of b's speed to a's. Both come from one run, so that the card is one: where one is a variant, from that of the
    variants; where one is new, from that of the new stages."""
    if ":" in a + b:
        return f"{data.variant_speed(b, shape) / data.variant_speed(a, shape):.2f}"
    run = data.run_of(a, b)
    return f"{data.speed(b, shape, run) / data.speed(a, shape, run):.2f}"


def counter(data: Data, stage: str, size: str, name: str) -> str:
    found = data.counter(stage, size)
    if name not in found and name in METRICS.values():  # read since that run
        raise NotMeasured("")
    return number(found[name])


def blas_curve(data: Data) -> str:
    """The experiment pa2-dips: what the CPU's curve does, as the end of a sentence."""
    path = record_file("pa2-dips")
    if not path:
        raise NotMeasured("")
    record = read_json(path)
    if not sgemm_tables.blas_speeds(record):
        raise NotMeasured("")
    return sgemm_tables.curve_in_words(record)


def fp16_of_sgemm(data: Data, stage: str, base: str, size: str) -> str:
    """The speed of a stage with FP16 operands, of an SGEMM stage's."""
    run = read_json_if_there(MEASURED)
    wanted = find(stage)
    for r in run["results"] if run else []:
        if r["stage"] == wanted and shape_of(r["problem"]) == full_shape(size) and "gflops" in r:
            return f"{r['gflops'] / data.result(base, size)['gflops']:.2f}"
    raise NotMeasured("")


def of_run(data: Data, name: str, what: str, shape: str = "") -> str:
    """Of a run in docs/measurements/ (nvidia-h200/tensor_h): TFLOP/s of a stage or a library on a shape; or without a
    shape a ceiling of the device, as a probe measured it before the run: TFLOP/s or TB/s."""
    if not (run := read_json_if_there(MEASUREMENTS / f"{name}.json")):
        raise NotMeasured("")
    if not shape:
        return number(run["ceilings"][what] / 1e3)
    dimensions = dict(zip("mnk", map(int, full_shape(shape).split("x"))))
    its = run.get("results", [run])  # of ./lab run: one
    found = next(r for r in its if r["stage"] == what and dimensions.items() <= r["problem"].items())
    return number(found["gflops"] / 1e3)


VALUES: dict[str, Callable[..., str]] = {
    "tflops": lambda d, stage, shape: tflops(d.result(stage, shape)["gflops"]),
    "gflops": lambda d, stage, shape: number(d.result(stage, shape)["gflops"]),
    "per_fma": lambda d, stage, size, counter: f"{d.per_fma(stage, size, counter):.2f}",
    "counter": counter,
    "gain": lambda d, a, b, shape: f"{d.result(b, shape)['gflops'] / d.result(a, shape)['gflops']:.1f}",
    # Of the second to the first; each may be a variant, as 06a:unroll=1. Both are of one run.
    "ratio": ratio,
    "variant": lambda d, stage, name, shape: tflops(d.variant(stage, name, shape)["gflops"]),
    # Of a variant to its stage, in the same run, as in the block "variants".
    "variant_gain": lambda d, stage, name, shape: (
        f"{d.variant(stage, name, shape)['gflops'] / d.variant(stage, '', shape)['gflops']:.2f}"
    ),
    # Cycles from one instruction of a warp to its next, 16 warps a scheduler being all. The stall reasons, stall_...,
    # are parts of it.
    "issue_interval": lambda d, stage, size: (
        f"{16 * d.counter(stage, size)['occupancy_pct'] / d.counter(stage, size)['issue_slots_pct']:.1f}"
    ),
    "cycles": lambda d, stage, size: f"{d.per_fma(stage, size, 'sm_cycles') * d.ladder['sm_count']:.2f}",
    # The share of the FMA ceiling, in GFLOP/s, that a number of cycles per warp-wide FMA allows.
    "allowed": lambda d, stage, size, counter: number(
        d.ceilings["ffma_gflops"] * 0.25 / d.per_fma(stage, size, counter)
    ),
    "cublas_ratio": lambda d, stage, shape: f"{d.result(stage, shape)['pct_cublas'] / 100:.2f}",
    "random_least": lambda d, stage: (
        f"{min(r['pct_cublas'] for r in d.random['results'] if r['stage'] == d.stage(stage)) / 100:.2f}"
    ),
    "cublas_ratio3": lambda d, stage, shape: f"{d.result(stage, shape)['pct_cublas'] / 100:.3f}",
    "behind_cublas": behind_cublas,
    "blas_curve": blas_curve,
    "sanitized": sanitized,
    "fp16_of_sgemm": fp16_of_sgemm,
    "tuning": tuning_spread,
    "tuned": tuned_gain,
    "chip": of_chip,
    "tensor_speed": lambda d, which, size: f"{tensor_speed(d, which, size):.1f}",
    # Of the second to the first, as ratio.
    "tensor_ratio": lambda d, a, b, size: f"{tensor_speed(d, b, size) / tensor_speed(d, a, size):.2f}",
    "tcec_bound": tcec_bound,
    "batched": batched,
    "batch_gain": batch_gain,
    "batch_share": batch_share,
    "probe_code": probe_code,
    "of_run": of_run,
    "ffma": lambda d: f"{d.ceilings['ffma_gflops'] / 1e3:.1f}",
    # Of the CPU executor: a count (global_load requests), cycles per warp-wide FMA (sum, data, tags), requests and the
    # like per FMA.
    "count": lambda d, stage, kind, what: f"{d.counted(stage)[kind][what]:,}",
    "counted_cycles": lambda d, stage, which: number(counted_cycles(d.counted(stage))[which]),
    "counted_per_fma": lambda d, stage, kind, what: number(
        d.counted(stage)[kind][what] / (d.counted(stage)["fma32"] / 32)
    ),
    "intensity": lambda d, stage, which: number(d.counted(stage)["flop_per_byte"][which], "none"),
    **TSM_VALUES,
}
