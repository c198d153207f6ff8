"""The marked numbers within sentences: VALUES[NAME](data, *arguments) is the text of the mark `= NAME`."""

from collections.abc import Callable

from tools.experiments.tsm_cases import TYPES
from tools.pages.data import Data, NotMeasured
from tools.pages.records.counts import counted_cycles
from tools.pages.records.experiments import record_file
from tools.pages.records.tuning import timed_points, tuned_shape
from tools.pages.tsm_values import TSM_VALUES
from tools.repository import read_json
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


VALUES: dict[str, Callable[..., str]] = {
    "tflops": lambda d, stage, shape: tflops(d.result(stage, shape)["gflops"]),
    "gflops": lambda d, stage, shape: number(d.result(stage, shape)["gflops"]),
    "per_fma": lambda d, stage, size, counter: f"{d.per_fma(stage, size, counter):.2f}",
    "counter": lambda d, stage, size, counter: number(d.counter(stage, size)[counter]),
    "gain": lambda d, a, b, shape: f"{d.result(b, shape)['gflops'] / d.result(a, shape)['gflops']:.1f}",
    # Of the second to the first; each may be a variant, as 06a:unroll=1.
    "ratio": lambda d, a, b, shape: f"{d.speed(b, shape) / d.speed(a, shape):.2f}",
    # The same where one is a variant, and both from the run of the variants.
    "variant_ratio": lambda d, a, b, shape: f"{d.variant_speed(b, shape) / d.variant_speed(a, shape):.2f}",
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
    "sanitized": sanitized,
    "tuning": tuning_spread,
    "tuned": tuned_gain,
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
