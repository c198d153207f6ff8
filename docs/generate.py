#!/usr/bin/env python3
"""Writes the tables of measurements, the marked numbers, and every figure of the documents from docs/measurements/.

usage: docs/generate.py [--check]     (figures need matplotlib; --check needs nothing, changes nothing, and exits 1 if anything
                                       is out of date)

In a page, what stands between these marks is written by this script:
  <!-- generated: NAME ARGUMENT... -->  whole lines  <!-- end generated -->
  <!-- = NAME ARGUMENT... -->a value<!-- / -->
The second never begins a line: there a comment is a block of its own for forges, and ends the paragraph (tests/check_docs.py).
"""
import hashlib
import json
import math
import pathlib
import re
import sys

sys.dont_write_bytecode = True
import choice_figure  # noqa: E402
import experiment_figures  # noqa: E402
import tensor_tsm  # noqa: E402
# Blocks, as those below.
from tensor_tsm import block_beside_plain  # noqa: E402, F401
from experiment_figures import block_exhaustive, block_experiment, block_experiment_ncu, block_pairs, block_source  # noqa: E402, F401
import plot_ladder  # noqa: E402
import probe_figures  # noqa: E402
import summit_plan  # noqa: E402
import tsm_pages  # noqa: E402
import tsmm_figure  # noqa: E402
import tune  # noqa: E402  measurements/tune.py
from probe_figures import block_probe, block_probe_code  # noqa: E402, F401
import tensor_pages  # noqa: E402
from tensor_pages import block_fragment_measured, block_fragment_registers, block_scan_counted, block_scan_measured  # noqa: E402, F401
from tensor_pages import block_tensor_counted, block_tensor_forms, block_tensor_measured, block_tensor_padded  # noqa: E402, F401
from tensor_pages import block_probe_shared, block_tcec_accuracy, block_tensor_peaks, block_tensor_pipe, block_tensor_rate, block_tensor_rounding, block_tensor_specifications  # noqa: E402, F401
from tensor_pages import block_tcec_choices, block_tcec_traffic, block_tensor_batched, block_tensor_blockings  # noqa: E402, F401
from tensor_pages import block_transform_counted, block_transform_measured  # noqa: E402, F401
from tsm_pages import block_tsm_counted, block_tsm_measured  # noqa: E402, F401
from plot_ladder import plot_style, save  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
GPU = DOCS / "measurements" / "nvidia-h200"
FIGURES = DOCS / "figures"
LADDER, COUNTERS, CALIBRATION = (GPU / f"{name}.json" for name in ("sgemm", "counters", "calibration"))
MAPS = DOCS / "measurements" / "cpu" / "thread_maps.json"
COUNTED = DOCS / "measurements" / "cpu" / "counts.json"  # by the CPU executor, on any machine
BESIDE = GPU / "counts.json"  # the same and Nsight Compute's; may be missing
SWEEP, COARSE, RANDOM, VARIANTS = (GPU / f"{name}.json" for name in ("sweep", "sweep_all", "random", "variants"))  # may be missing
MORE_VARIANTS = [GPU / f"variants_{name}.json" for name in ("sizes", "16384")]  # the same
TUNING = GPU / "tuning.json"  # the search of stage 16; may be missing
NOT_IN_HISTORY = DOCS / "measurements" / "not_in_history.json"  # commits named by records, and how to measure anew
HEADLINE = "4096x4096x4096"
CUBES = ["256", "512", "1000", "1023", "1024", "2047", "2048", "3000", "4095", "4096", "4097", "8192", "16384"]
# What the ladder's summit is judged by, beside the cubes.
SKEWED = ["4096x4096x64", "128x128x65536", "65536x128x128", "1024x8192x512", "8192x1024x4096", "333x777x1555", "64x64x1048576"]
# What stands where there are no numbers yet: lines, and within a sentence.
NOT_MEASURED = (["*Not measured yet: `docs/measurements/measure` does it.*"], "not measured")
NOT_COUNTED = (["*Not counted yet: `docs/measurements/counts.py --count` does it.*"], "not counted")


class NotMeasured(Exception):
    """Of a stage or a shape that exists, and of which there are no numbers yet. The text says why, if there is a reason."""


def full_shape(shape):
    return shape if "x" in shape else f"{shape}x{shape}x{shape}"


def shape_of(problem):
    return f"{problem['m']}x{problem['n']}x{problem['k']}"


def short_shape(shape):
    m, n, k = shape.split("x")
    return m if m == n == k else shape


def by_stage_and_shape(report):
    return {(r["stage"], shape_of(r["problem"])): r for r in report["results"]}


def optional(path):
    return json.loads(path.read_text()) if path.exists() else None


class Data:
    """The committed measurements, by stage and shape."""

    def __init__(self):
        writers = {LADDER: "measure", COUNTERS: "measure", CALIBRATION: "measure", COUNTED: "counts.py --count"}
        for path in (*writers, MAPS):
            if not path.exists():
                writer = f"docs/measurements/{writers[path]}" if path in writers else "./lab map"
                sys.exit(f"error: {path.relative_to(ROOT)} is missing: {writer} writes it")
        self.ladder = json.loads(LADDER.read_text())
        self.counters = json.loads(COUNTERS.read_text())
        self.calibration = json.loads(CALIBRATION.read_text())
        self.sanitizers = [json.loads(path.read_text()) for path in sorted(GPU.glob("sanitizers*.json"))]
        self.executor = json.loads(COUNTED.read_text())
        self.beside = json.loads(BESIDE.read_text()) if BESIDE.exists() else None
        self.sweep, self.coarse, self.random, self.variants = map(optional, (SWEEP, COARSE, RANDOM, VARIANTS))
        self.more_variants = [run for run in map(optional, MORE_VARIANTS) if run]
        self.tuning = optional(TUNING)
        self.loop = optional(ROOT / "docs/measurements/cpu/loop.json")
        # One table, one run: what the ladder's run does not have is not measured, whatever other runs have of it.
        self.results = by_stage_and_shape(self.ladder)
        self.ids = list(dict.fromkeys(r["stage"] for r in self.ladder["results"]))
        self.ceilings = self.ladder["ceilings"]
        self.missing = []  # marks that have no numbers yet
        folders = {"stages": "sgemm", "tsm": "tsm", "tensorcore": "tensorcore"}
        self.registry = [f"{family}/{path.stem}" for folder, family in folders.items()
                         for path in sorted((ROOT / folder).glob("[0-9][0-9]*_*.cu"))]
        self.stages = [i for i in self.registry if i in self.ids]  # those that were measured

    def stage(self, number):
        """The id of the stage with this number (family/NN; NN: sgemm), measured or not."""
        wanted = number if "/" in number else f"sgemm/{number}"
        return next(i for i in self.registry if i.split("_")[0] == wanted)

    def result(self, number, shape):
        """A result with a time; NotMeasured if the stage, or this shape of it, has none."""
        found = self.results.get((self.stage(number), full_shape(shape)))
        known = {full_shape(s) for s in CUBES + SKEWED} | {s for _, s in self.results}
        if not found and full_shape(shape) not in known:
            raise KeyError(shape)
        if not found or "time_ms" not in found:
            raise NotMeasured(found["reason"] if found else "")
        return found

    def variant(self, number, name, shape):
        """A result of a stage (name "") or of one of its variants, from a run of the variants; NotMeasured if it has no time."""
        stage = self.stage(number)
        runs = ([self.variants] if self.variants else []) + self.more_variants
        results = [r for run in runs for r in run["results"]]
        if name not in self.source(stage) and not any(r["stage"] == f"{stage}:{name}" for r in results):
            raise KeyError(name)
        for r in results:
            if r["stage"] == (f"{stage}:{name}" if name else stage) and shape_of(r["problem"]) == full_shape(shape) and "time_ms" in r:
                return r
        raise NotMeasured("")

    def speed(self, which, shape):
        number, _, name = which.partition(":")
        return (self.variant(number, name, shape) if name else self.result(number, shape))["gflops"]

    def variant_speed(self, which, shape):
        number, _, name = which.partition(":")
        return self.variant(number, name, shape)["gflops"]

    def counter(self, number, size):
        """Nsight Compute's counters of a stage, or of one of its variants, as 12:k=16."""
        number, colon, name = number.partition(":")
        stage = self.stage(number)
        if name not in self.source(stage):
            raise KeyError(name)
        try:
            return self.counters["sizes"][size][stage + colon + name]
        except KeyError:
            raise NotMeasured("") from None

    def per_fma(self, number, size, counter):
        c = self.counter(number, size)
        return c[counter] / (c["ffma"] / 32)

    def counted(self, number):
        kernel = self.executor["kernels"].get(self.stage(number))
        if not kernel:
            raise NotMeasured("")
        return kernel["counts"]

    def source(self, stage):
        directory, name = stage.split("/")
        return (ROOT / {"sgemm": "stages"}.get(directory, directory) / f"{name}.cu").read_text()

    def idea(self, stage):
        source = self.source(stage)
        source = source[source.rindex("StageInfo"):]  # variants have ideas of their own
        return "".join(re.findall(r'"([^"]*)"', re.search(r'\.idea\s*=\s*((?:"[^"]*"\s*)+)', source).group(1)))


def tflops(gflops):
    return f"{gflops / 1e3:.2f}" if gflops < 1e4 else f"{gflops / 1e3:.1f}"


def number(x):
    return f"{x:,.0f}" if abs(x) >= 1000 else f"{x:.3g}"


def three_digits(x):
    return "none" if x is None else f"{x:.3g}" if x < 1000 else f"{x:,.0f}"


def table(head, rows):
    left = {"stage", "idea", "differences", head[0]}
    lines = ["| " + " | ".join(head) + " |", "|" + "|".join("---" if h in left else "---:" for h in head) + "|"]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


# ---- blocks: name -> function(data, *arguments) -> lines


def block_ladder(data):
    rows, before = [], None
    libraries = [i for i in data.ids if i.startswith("cublas/")]
    for i in [*(i for i in data.registry if i.startswith("sgemm/")), *libraries]:
        r = data.results.get((i, HEADLINE), {})
        is_stage = i not in libraries
        name = i.split("/")[1]
        title = f"[{name}](docs/stages/{name}.md)" if is_stage else (
            f"cuBLAS, {name.replace('_', ' ').upper().replace('PEDANTIC', '(pedantic)')}")
        idea = data.idea(i) if is_stage else ""
        if "time_ms" not in r:
            rows.append([title, idea, r.get("reason") or "not measured", "", "", "", ""])
            continue
        rows.append([title, idea, f"{r['time_ms']['median']:.3f}", tflops(r["gflops"]),
                     f"{r.get('pct_cublas', 100):.1f} %", f"{r['pct_roofline']:.1f} %" if "pct_roofline" in r else "-",
                     f"{r['gflops'] / before:.2f} x" if before and is_stage else ""])
        before = r["gflops"] if is_stage else None
    run = data.ladder
    return table(["stage", "idea", "ms", "TFLOP/s", "of cuBLAS FP32", "of the roofline", "gain"], rows) + [
        "", f"{run['device']}, {HEADLINE.replace('x', ' x ')}, warm cache, medians; driver {run['driver']}, CUDA {run['cuda']}, cuBLAS "
        f"{run['cublas']}; each stage beside cuBLAS in turns, in a run of commit {run['commit']}. TF32 is another arithmetic, "
        "with 13 bits less."]


def block_ceilings(data):
    c = data.ceilings
    return table(["ceiling", "measured"], [
        ["read-only stream from device memory", f"{c['read_gbs']:.0f} GB/s"],
        ["copy in device memory, read + write", f"{c['copy_gbs']:.0f} GB/s"],
        ["FFMA on the FP32 cores", f"{c['ffma_gflops'] / 1e3:.1f} TFLOP/s"],
        ["shared memory, all SMs", f"{c['shared_gbs'] / 1e3:.1f} TB/s"],
        ["launch of an empty kernel", f"{c['launch_us']:.1f} us"]])


def product_launch(result):
    """Of the kernels that a stage launches (padding, product, sum of parts) the one with most registers a thread, or of these with
    most shared memory."""
    return max(result["launches"], key=lambda launch: (launch.get("registers", 0), shared_bytes(launch)))


def shared_bytes(launch):
    return launch.get("static_shared_bytes", 0) + launch["dynamic_shared_bytes"]


def block_measured(data, stage):
    rows, last = [], None
    for size in CUBES:
        if (data.stage(stage), full_shape(size)) not in data.results:
            continue
        try:
            r = data.result(stage, size)
        except NotMeasured as why:
            rows.append([size, str(why), "", "", "", "", ""])
            continue
        last = (size, r) if last is None or int(size) <= 4096 else last
        rows.append([size, f"{r['time_ms']['median']:.4g}", f"{r['predicted']['gflops']:,.0f}", f"{r['gflops']:,.0f}",
                     f"{r['gflops'] / r['predicted']['gflops']:.2f}", f"{r['pct_cublas']:.1f} %", f"{r['pct_roofline']:.1f} %"])
    if not last:
        raise NotMeasured("")
    size, r = last
    launch, state = product_launch(r), r["state"]
    kernels = f" (of {len(r['launches'])} kernels, the one with most registers)" if len(r["launches"]) > 1 else ""
    return table(["M = N = K", "ms", "predicted, as written", "measured GFLOP/s", "ratio", "of cuBLAS", "of the roofline"], rows) + [
        "", f"{data.ladder['device']}, commit {data.ladder['commit']}; {launch['registers']} registers a thread, "
        f"{shared_bytes(launch)} bytes of shared memory a block, {launch['local_bytes']} bytes spilled{kernels}"
        + (f"; SM clock {state['sm_mhz_min']} to {state['sm_mhz_max']} MHz while timing {size}." if state else ".")]


def block_required(data, stage):
    """The shapes that the summit is judged by."""
    rows = []
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
        "", f"{data.ladder['device']}, commit {data.ladder['commit']}, in turns with cuBLAS, checked."]


def block_random(data, stage):
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
        "", f"{run['device']}, commit {run['commit']}, command `{run['command']}`."]


def block_costs(data, stage):
    """What the summit's cost model knows of its tiles, from its source."""
    model = summit_plan.Model(data.source(data.stage(stage)))
    rows = []
    for name, shape in model.shapes.items():
        flops = 2 * shape["m"] * shape["n"] * shape["k"] * summit_plan.SMS
        rows.append([name, f"{shape['m']} x {shape['n']}", " / ".join(f"{t:g}" for t in shape["round"][:shape["blocks"]]),
                     " / ".join(f"{flops * (b + 1) / t / 1e6:.1f}" for b, t in enumerate(shape["round"][:shape["blocks"]])),
                     f"{shape['tile']:g}" + (f", {shape['tile'] + shape['part']:g} if shared" if shape["part"] else ""), f"{shape['ragged']:g}", f"{shape['words']:g}", f"{shape['packed']:g}" if shape["packed"] else "-"])
    return table(["tile", "of C", "a round, 1, 2 ... blocks an SM, us", "TFLOP/s in rounds", "beside its rounds, us", "times as long: ragged", "words",
                  "packed"], rows) + [
        "", f"Each launch {model.launch:g} us; parts {model.part_bytes / 1e6:g} TB/s, written or read by all SMs, {model.add_bytes / 1e6:g} TB/s by one "
        f"block; packing {model.pack_bytes / 1e6:g} TB/s, read and written. From `stages/18_summit.cu`."]


def block_choices(data, stage):
    """What the summit's cost model chooses for the shapes that it is judged by, and how well it foretells the time."""
    model = summit_plan.Model(data.source(data.stage(stage)))
    rows = []
    for shape in CUBES + SKEWED:
        m, n, k = map(int, full_shape(shape).split("x"))
        plan = model.choose(m, n, k)
        tile, sharing, rate = model.shapes[plan["tile"]], ["-"] * 4, 2e-6 * m * n * k
        if plan["workers"]:
            rounds = str(plan["each"]) + (f" to {plan['each'] + 1}" if plan["extra"] else "")
            sharing = [str(plan["shared"]), str(plan["workers"]), rounds, f"{model.reduction(plan):.1f}"]
        large = max(model.shapes, key=lambda name: model.shapes[name]["m"])
        alone = model.shapes[large]["words" if (n | k) % 4 else "ragged"] if (n | k) % 32 else 1.0
        plain = model.estimate(model.share(large, m, n, k, model.tiles(large, m, n), 0), alone)
        try:
            measured = tflops(data.result(stage, shape)["gflops"])
        except NotMeasured:
            measured = "not measured"
        rows.append([shape, f"{tile['m']} x {tile['n']}, " + ("fours" if plan["way"] == "ragged" else plan["way"]),
                     str(plan["tiles"] - plan["shared"] or "-"), *sharing, f"{plan['packing']:.1f}" if plan["packing"] else "-",
                     tflops(1e3 * rate / plain), tflops(1e3 * rate / plan["time"]), measured])
    head = ["M = N = K, or M x N x K", "tile and way", "whole tiles", "shared", "workers", "rounds each", "adding up, us", "packing, us",
            "large tiles, none shared, TFLOP/s", "as chosen", "measured"]
    return table(head, rows)


def block_variants(data, stage):
    """A stage and its variants at the shapes of their run, and how they compare at other sizes."""
    wanted = data.stage(stage)
    found = [r for r in data.variants["results"] if r["stage"].split(":")[0] == wanted] if data.variants else []
    if not found:
        raise NotMeasured("")
    shapes = list(dict.fromkeys(shape_of(r["problem"]) for r in found))
    rows = []
    for shape in shapes:
        at_shape = {r["stage"]: r for r in found if shape_of(r["problem"]) == shape}
        itself = at_shape.get(wanted, {})
        for i, r in at_shape.items():
            name = i.partition(":")[2]
            row = [f"`{name}`" if name else f"*{i.split('/')[1]}*", r.get("idea", "") if name else data.idea(wanted), short_shape(shape)]
            if "time_ms" not in r:
                rows.append(row + [r["reason"] or r["status"], "", "", "", "", ""])
                continue
            launch = product_launch(r)
            rows.append(row + [f"{r['time_ms']['median']:.4g}", f"{r['gflops']:,.0f}",
                               f"{r['gflops'] / itself['gflops']:.2f}" if "gflops" in itself else "-",
                               str(launch["registers"]), str(shared_bytes(launch)), str(launch["local_bytes"])])
    head = ["variant", "idea", "shape", "ms", "GFLOP/s", "to the stage", "registers", "shared memory, bytes", "bytes spilled"]
    if len(shapes) == 1:
        head.remove("shape")
        rows = [row[:2] + row[3:] for row in rows]
    run = data.variants
    return table(head, rows) + ["", (f"M = N = K = {short_shape(shapes[0])}; " if len(shapes) == 1 else "") +
                                f"{run['device']}, commit {run['commit']}, command `{run['command']}`."] + other_sizes(data, stage, wanted)


def other_sizes(data, stage, wanted):
    """For each further run of the variants a table of their speeds, of their stage's."""
    lines = []
    for run in data.more_variants:
        speeds = {(r["stage"].partition(":")[2], shape_of(r["problem"])): r["gflops"] for r in run["results"]
                  if r["stage"].split(":")[0] == wanted and "time_ms" in r}
        shapes = list(dict.fromkeys(shape for _, shape in speeds))
        names = list(dict.fromkeys(r["stage"].partition(":")[2] for r in run["results"]
                                   if r["stage"].startswith(f"{wanted}:")))

        def gain(name, shape):
            return f"{speeds[name, shape] / speeds['', shape]:.2f}" if {(name, shape), ("", shape)} <= set(speeds) else "-"

        if shapes and names:
            lines += ["", *table(["speed, of the stage's", *map(short_shape, shapes)],
                                 [[f"`{name}`", *(gain(name, shape) for shape in shapes)] for name in names]),
                      "", f"A further run of the variants, commit {run['commit']}."]
    return lines


def timed_points(data):
    """Of the search: the points with times, the fastest first, and the sizes."""
    points = [p for p in data.tuning["points"] if p.get("timed")] if data.tuning else []
    sizes = list(points[0]["timed"]) if points else []
    points = [p for p in points if all("gflops" in p["timed"].get(size, {}) for size in sizes)]
    if not points:
        raise NotMeasured("")
    return sorted(points, key=lambda p: -p["timed"][sizes[0]]["pct_cublas"]), sizes


def tuned_shape(data):
    """The numbers that the stage itself has."""
    return [int(x) for x in re.search(r"using Tuned = Shape<([\d,\s]+)>", data.source(data.stage("16")))[1].split(",")]


def block_funnel(data):
    """How many points of the search were left after each pruning."""
    funnel = data.tuning["funnel"] if data.tuning else []
    if not funnel:
        raise NotMeasured("")
    return table(["points", "left", "of those before"], [
        [why, f"{count:,}", f"{100 * count / before:.3g} %" if before else ""]
        for (why, count), before in zip(funnel, [0, *(count for _, count in funnel)])])


def block_tuning(data, most="12"):
    """The best points of the search, and the stage's own."""
    points, sizes = timed_points(data)
    rows, own = [], tuned_shape(data)
    for place, p in enumerate(points, 1):
        if place > int(most) and p["shape"] != own:
            continue
        tile_m, tile_n, tile_k, warp_m, warp_n, lanes_m, quads, stages, group, blocks = p["shape"]
        cells = [str(place), f"{tile_m} x {tile_n} x {tile_k}", f"{warp_m} x {warp_n}", f"{warp_m // lanes_m} x {warp_n * lanes_m // 32}",
                 str(blocks), str(stages), str(quads), str(group), str(p["registers"]), f"{p['slots_per_fma']:.3f}", tflops(p["model_gflops"])]
        for size in sizes:
            cells += [tflops(p["timed"][size]["gflops"]), f"{p['timed'][size]['pct_cublas'] / 100:.3f}"]
        rows.append([f"**{cell}**" for cell in cells] if p["shape"] == own else cells)
    run = data.tuning["run"]
    head = ["", "block", "warp", "thread", "blocks", "stages", "quads", "group", "registers", "slots/FMA", "model"]
    return table(head + [text for size in sizes for text in (f"{size}", "ratio")], rows) + [
        "", f"TFLOP/s, and ratios to cuBLAS in turns, by which the points are sorted at {sizes[0]}; in bold what the stage has. {len(points)} points "
        f"timed; {run['device']}, driver {run['driver']}, cuBLAS {run['cublas']}, commit {run['commit']}."]


def tuning_spread(data, which, size=None, outputs="", blocks="1"):
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
    if which in ("turned_least", "turned_most"):  # 16 x 8 outputs a thread, to 8 x 16 of the same block tile and all the rest
        found = {}
        for p in points:
            kind = f"{p['shape'][3] // p['shape'][5]}x{p['shape'][4] * p['shape'][5] // 32}"
            of_kind = found.setdefault((*p["shape"][:3], *p["shape"][6:]), {})
            of_kind[kind] = max(of_kind.get(kind, 0), p["timed"][size]["gflops"])
        gains = [both["16x8"] / both["8x16"] for both in found.values() if {"16x8", "8x16"} <= set(both)]
        return f"{min(gains) if which == 'turned_least' else max(gains):.2f}"
    if which == "spearman":  # of the model's speeds and the measured; of those with such outputs and at least as many blocks
        points = [p for p in points if f"thread{outputs}" in p["name"] and p["shape"][9] >= int(blocks)]
        return f"{correlation([p['model_gflops'] for p in points], [p['timed'][size]['gflops'] for p in points]):.2f}"
    ratios = sorted(p["timed"][sizes[0]]["gflops"] / p["model_gflops"] for p in points)
    if which in ("least", "most"):
        return f"{ratios[0 if which == 'least' else -1]:.2f}"
    if which == "pairs":  # which the model orders as measured, of those to which it gives different speeds
        pairs = [(p, q) for i, p in enumerate(points) for q in points[:i] if p["model_gflops"] != q["model_gflops"]]
        right = sum((p["model_gflops"] < q["model_gflops"]) == (p["timed"][sizes[0]]["gflops"] < q["timed"][sizes[0]]["gflops"])
                    for p, q in pairs)
        return f"{100 * right / len(pairs):.0f} %"
    raise KeyError(which)


def correlation(a, b):
    """Spearman's: of the places that two lists give to the same things, equal ones sharing the mean of theirs."""
    def places(values):
        return [sum(v < value for v in values) + (values.count(value) - 1) / 2 for value in values]

    a, b = places(a), places(b)
    mean = (len(a) - 1) / 2
    spread = [math.sqrt(sum((x - mean) ** 2 for x in places_of)) for places_of in (a, b)]
    return sum((x - mean) * (y - mean) for x, y in zip(a, b)) / (spread[0] * spread[1])


def tuned_gain(data, changes, size):
    """Of a point of the search to the stage itself, in the search's run; changes: what differs, as QUADS=4 or TILE_M=64,BLOCKS=4."""
    points, _ = timed_points(data)
    own = tuned_shape(data)
    wanted = list(own)
    for change in changes.split(","):
        name, _, value = change.partition("=")
        wanted[tune.FIELDS.index(name)] = int(value)
    speed = {tuple(p["shape"]): p["timed"][size]["gflops"] for p in points}
    return f"{speed[tuple(wanted)] / speed[tuple(own)]:.2f}"


def block_counters(data, stage):
    sizes = [size for size, found in data.counters["sizes"].items() if data.stage(stage) in found]
    if not sizes:
        raise NotMeasured("")
    shown = [("wavefronts per warp-wide FMA", "wavefronts"), ("of these, shared loads", "shared_load_wavefronts"),
             ("shared load instructions per FMA", "shared_load_requests"), ("global load instructions per FMA", "global_load_requests"),
             ("sectors per FMA (global loads)", "global_load_sectors"), ("tag look-ups per FMA", "tag_lookups")]
    rows = [[name] + [f"{data.per_fma(stage, size, key):.3f}" for size in sizes] for name, key in shown]
    whole = [("bank conflicts, shared loads", "shared_load_bank_conflicts", ",.0f"), ("wavefronts, % of peak rate", "wavefronts_pct_of_peak", ".1f"),
             ("tag look-ups, % of peak rate", "tag_lookups_pct_of_peak", ".1f"), ("FMA pipe, % of peak", "fma_pipe_pct", ".1f"),
             ("L2, % of peak", "l2_throughput_pct", ".1f"), ("device memory, % of peak", "dram_throughput_pct", ".2f"),
             ("issue slots used, %", "issue_slots_pct", ".1f"), ("occupancy, %", "occupancy_pct", ".1f")]
    rows += [[name] + [format(data.counter(stage, size)[key], form) for size in sizes] for name, key, form in whole]
    return table(["Nsight Compute, M = N = K ="] + sizes, rows)


def block_calibration(data):
    rows = []
    for shape, rejected in data.calibration["rejected"].items():
        found = [data.results.get((i, full_shape(shape)), {}) for i in data.ids if "tf32" not in i]
        right = [r["error"] for r in found if "error" in r]
        row = [shape, f"{max(r['max_ratio'] for r in right):.3f}", f"{max(r['frobenius_ratio'] for r in right):.3f}"]
        for name in ("cublas/tf32", "broken/11_half_precision", "broken/05_dropped_k"):
            row += [f"{rejected[name]['max_ratio']:.3g}", f"{rejected[name]['frobenius_ratio']:.3g}"]
        rows.append(row)
    head = ["shape", "right: element", "Frobenius", "TF32: element", "Frobenius", "FP16 inputs: element", "Frobenius", "one k dropped: element", "Frobenius"]
    return table(head, rows) + ["", f"{data.calibration['device']}, commit {data.calibration['commit']}. Right: the largest of all "
                                    "stages and cuBLAS FP32."]


def block_sanitizers(data):
    rows = []
    for s in data.sanitizers:
        stages = sorted({name.split()[0] for runs in s["errors"].values() for name in runs if "/" in name})
        families = {}
        for stage in stages:
            families.setdefault(stage.split("/")[0], []).append(stage.split("/")[1])
        # Some of a family are named one by one.
        what = "; ".join(f"{family}: " + (", ".join(its) if "--only" in s["command"] else f"{its[0]} to {its[-1]}")
                         for family, its in families.items())
        rows += [[tool, what, str(len(runs)), str(sum(runs.values())), s["commit"]] for tool, runs in s["errors"].items()]
    if not rows:
        raise NotMeasured("")
    return table(["compute-sanitizer", "stages", "runs", "errors", "commit"], rows) + ["", f"{data.sanitizers[0]['device']}."]


def block_loop(data, which):
    """Where the time of builds and tests goes, before and after (tools/measure_loop.py)."""
    before, after = (data.loop[name] for name in ("before", "after"))
    if which == "wall":
        names = dict.fromkeys([*before["wall_s"], *after["wall_s"]])
        rows = [[name, *(f"{state['wall_s'][name]:.0f}" if name in state["wall_s"] else "-" for state in (before, after))] for name in names]
        return table(["wall time, s", "before", "after"], rows)
    if which == "build":
        rows = [[kind, str(before["build"].get(kind, {"steps": 0})["steps"]), f"{before['build'].get(kind, {'seconds': 0})['seconds']:.0f}",
                 str(its["steps"]), f"{its['seconds']:.0f}"] for kind, its in after["build"].items()]
        return table(["steps", "before", "s", "after", "s"], rows)
    rows = [[f"`{a}`", f"{s:.1f}", f"`{b}`", f"{t:.1f}"] for (a, s), (b, t) in zip(before[which].items(), after[which].items())]
    return table(["before", "s", "after", "s"], rows)


KINDS = [(f"{space}_{operation}", f"{space} {operation}s") for space in ("global", "shared") for operation in ("load", "store")]
KINDS += [("global_atomic", "global atomics"), ("shared_atomic", "shared atomics")]


def counted_cycles(counts):
    """Cycles per warp-wide FMA, as common/measure/roofline.cpp has them: of the data banks, and of the tags, four lines a cycle."""
    warp_fmas = counts["fma32"] / 32
    data = sum(counts[kind]["wavefronts"] for kind, _ in KINDS if "atomic" not in kind)
    tags = (counts["global_load"]["lines"] + counts["global_store"]["lines"]) / 4
    return {"data": data / warp_fmas, "tags": tags / warp_fmas, "sum": max(data, tags) / warp_fmas}


def block_counted(data, stage):
    size = str(data.executor["stage_size"])
    c = data.counted(stage)
    keys = ("requests", "sectors", "wavefronts", "bank_conflicts")
    cycles = counted_cycles(c)
    declared = data.results.get((data.stage(stage), full_shape(size)), {}).get("predicted", {}).get("l1_cycles_per_warp_fma")
    predicted = sum(declared.values()) if declared else None
    shown = [(name, c[kind]) for kind, name in KINDS if c[kind]["requests"]]
    compiler, commit = (data.executor.get(key, "?") for key in ("compiler", "commit"))
    intensity = c["flop_per_byte"]
    return table([f"cycles of L1 and shared memory per warp-wide FMA, M = N = K = {size}", "predicted", "counted"],
                 [["the slower of the two below", three_digits(predicted) if declared else "-", three_digits(cycles["sum"])],
                  ["data banks, one wavefront a cycle", "", three_digits(cycles["data"])],
                  ["tags, four lines a cycle", "", three_digits(cycles["tags"])]]) + [""] + table(
        ["counted", "requests", "sectors", "wavefronts", "bank conflicts"],
        [[name] + [f"{a[key]:,}" if a[key] else "-" for key in keys] for name, a in shown]) + [
        "", f"{c['fma32']:,} FMAs, {c['barriers']:,} barriers; flop per byte: {three_digits(intensity['global'])} (global), "
        f"{three_digits(intensity['shared'])} (shared), {three_digits(intensity['register'])} (registers). "
        f"CPU executor, {compiler}, commit {commit}."]


def difference(quantity, kernel):
    """Why the executor's count and Nsight Compute's are not the same, or None if they are."""
    ours, theirs = kernel[quantity]["executor"], kernel[quantity]["ncu"]
    if ours == theirs:
        return None
    requests = kernel["shared_load_requests"]
    if quantity in ("shared_load_requests", "shared_load_wavefronts") and requests["ncu"] < requests["executor"]:
        return "merged by nvcc"
    if quantity == "shared_store_wavefronts" and ours < theirs <= 1.25 * ours:
        return "store counter noise"
    return "within 1 %" if abs(theirs - ours) <= 0.01 * ours else "differs"


def block_counts(data, which):
    if which != "beside":
        raise KeyError(which)
    if not data.beside:
        return [f"*Not there yet: `{BESIDE.relative_to(ROOT)}`, which `docs/measurements/measure` writes on a machine with a GPU.*"]
    b = data.beside
    shown = [("global_load_requests", "global load requests"), ("global_load_sectors", "sectors"),
             ("global_store_requests", "global store requests"), ("global_store_sectors", "sectors"),
             ("shared_load_requests", "shared load requests"), ("shared_load_wavefronts", "wavefronts"),
             ("shared_store_requests", "shared store requests"), ("shared_store_wavefronts", "wavefronts"), ("fma", "FMAs")]
    rows, tally = [], {}
    for name, kernel in b["kernels"].items():
        cells, why = [], {}
        for quantity, _ in shown:
            ours, theirs = kernel[quantity]["executor"], kernel[quantity]["ncu"]
            reason = difference(quantity, kernel)
            tally[reason or "equal"] = tally.get(reason or "equal", 0) + 1
            cells.append((f"{ours:,}" if ours else "-") if reason is None else f"{ours:,} / {theirs:,}")
            if reason:
                why.setdefault(reason, []).append("FMAs" if quantity == "fma" else quantity.replace("_", " "))
        title = f"{name}: {kernel['title']}" if kernel.get("title") else name
        rows.append([title, *cells, "; ".join(f"{reason}: {', '.join(what)}" for reason, what in why.items()) or "equal"])
    summary = ", ".join(f"{count} {reason}" for reason, count in sorted(tally.items(), key=lambda item: -item[1]))
    sizes = f"stages at {b['stage_size']}, prototypes at {b['prototype_size']} (M = N = K)"
    return table(["kernel", *(head for _, head in shown), "differences"], rows) + [
        "", f"Where both agree, the one number; else executor / Nsight Compute. Of {sum(tally.values())} numbers: {summary}. "
        f"{b['device']}, driver {b['driver']}; {sizes}; executor: {b['executor']['compiler']}, commit {b['executor']['commit']}."]


# ---- values within a sentence


def behind_cublas(data, *names):
    """Experiments E9 and E13: the sizes at which cuBLAS is ahead of our best by 0.5 % or more, and our speed divided by its."""
    found = []
    for name in names:
        path = experiment_figures.record_file(name)
        if not path:
            raise NotMeasured("")
        record = json.loads(path.read_text())
        if record["executor"]:
            raise NotMeasured("")
        gflops = {(r["series"], r["type"], r["m"], r["n"]): r.get("gflops", 0) for r in record["results"]}
        for (series, kind, m, n), ours in gflops.items():
            theirs = gflops.get(("cuBLAS", kind, m, n), 0)
            if series == "our best" and theirs and ours / theirs < 0.995:
                shape = str(m) if m == n else f"{m} x {n}"
                title = record["title"].split(":")[0]
                found.append(f"{title} in {tsm_pages.TYPES[kind]} at {shape} ({ours / theirs:.2f})")
    return ", ".join(found) or "none"


VALUES = {
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
    "variant_gain": lambda d, stage, name, shape: f"{d.variant(stage, name, shape)['gflops'] / d.variant(stage, '', shape)['gflops']:.2f}",
    # Cycles from one instruction of a warp to its next, 16 warps a scheduler being all. The stall reasons, stall_..., are parts of it.
    "issue_interval": lambda d, stage, size: f"{16 * d.counter(stage, size)['occupancy_pct'] / d.counter(stage, size)['issue_slots_pct']:.1f}",
    "cycles": lambda d, stage, size: f"{d.per_fma(stage, size, 'sm_cycles') * d.ladder['sm_count']:.2f}",
    # The share of the FMA ceiling, in GFLOP/s, that a number of cycles per warp-wide FMA allows.
    "allowed": lambda d, stage, size, counter: number(d.ceilings["ffma_gflops"] * 0.25 / d.per_fma(stage, size, counter)),
    "cublas_ratio": lambda d, stage, shape: f"{d.result(stage, shape)['pct_cublas'] / 100:.2f}",
    "random_least": lambda d, stage: f"{min(r['pct_cublas'] for r in d.random['results'] if r['stage'] == d.stage(stage)) / 100:.2f}",
    "cublas_ratio3": lambda d, stage, shape: f"{d.result(stage, shape)['pct_cublas'] / 100:.3f}",
    "behind_cublas": behind_cublas,
    "tuning": tuning_spread,
    "tuned": tuned_gain,
    "ffma": lambda d: f"{d.ceilings['ffma_gflops'] / 1e3:.1f}",
    # Of the CPU executor: a count (global_load requests), cycles per warp-wide FMA (sum, data, tags), requests and the like per FMA.
    "count": lambda d, stage, kind, what: f"{d.counted(stage)[kind][what]:,}",
    "counted_cycles": lambda d, stage, which: three_digits(counted_cycles(d.counted(stage))[which]),
    "counted_per_fma": lambda d, stage, kind, what: three_digits(d.counted(stage)[kind][what] / (d.counted(stage)["fma32"] / 32)),
    "intensity": lambda d, stage, which: three_digits(d.counted(stage)["flop_per_byte"][which]),
}
BLOCKS = {name[len("block_"):]: function for name, function in list(globals().items()) if name.startswith("block_")}


NOT_TUNED = ["*Not measured yet: `docs/measurements/tune.py` does it.*"]


def with_history(lines):
    """Lines of a block; where they name a commit that the repository doesn't have, they say so."""
    for commit, entry in json.loads(NOT_IN_HISTORY.read_text()).items():
        note = f"commit {commit} (which is not in this repository's history, so this run can't be repeated exactly; `{entry['again']}` measures anew)"
        lines = [line.replace(f"commit {commit}", note) for line in lines]
    return lines


def fill(text, data, where):
    """The page's text with every generated part written anew."""

    def call(functions, spec):
        name, *arguments = spec.split()
        try:
            return functions[name](data, *arguments)
        except NotMeasured:
            data.missing.append(f"{where}: {spec}")
            if name in ("tuning", "funnel") and functions is BLOCKS:
                return NOT_TUNED
            counted = name in ("counted", "count", "counted_cycles", "counted_per_fma", "intensity")
            return (NOT_COUNTED if counted else NOT_MEASURED)[functions is VALUES]
        except (KeyError, StopIteration, TypeError) as error:
            sys.exit(f"error: {where}: can't generate '{spec}': {error!r}")

    text = re.sub(r"(<!-- generated: ([^>]*?) -->\n).*?(<!-- end generated -->)",
                  lambda m: m[1] + "\n".join(with_history(call(BLOCKS, m[2]))) + "\n" + m[3], text, flags=re.S)
    return re.sub(r"(<!-- = ([^>]*?) -->).*?(<!-- / -->)", lambda m: m[1] + call(VALUES, m[2]) + m[3], text)


# ---- figures: file -> (sources, function(data, path))


def figures(data):
    maps = json.loads(MAPS.read_text())
    runs = [path for path in (LADDER, SWEEP, COARSE, RANDOM) if path.exists()]
    reports = [report for report in (data.ladder, data.sweep, data.coarse, data.random) if report]
    plan = {}
    for kind in ("svg", "png"):
        plan[f"ladder.{kind}"] = (runs, lambda data, path: plot_ladder.draw_ladder(reports, path))
        plan[f"roofline.{kind}"] = ([LADDER, COUNTED, COUNTERS], lambda data, path: plot_ladder.draw_roofline(
            [data.ladder], data.executor, data.counters, path))
    plan["prediction.svg"] = ([LADDER, COUNTERS], draw_prediction)
    for i in (i for i in data.registry if i in maps):
        plan[f"map_{i.split('/')[1]}.svg"] = ([MAPS], lambda data, path, i=i: draw_map(i, path))
    for n in ("03", "04"):
        i = data.stage(n)
        source = ROOT / "stages" / (i.split("/")[1] + ".cu")
        plan[f"banks_{i.split('/')[1]}.svg"] = ([source], lambda data, path, i=i, source=source: draw_banks(i, source, path))
    for n, threads, form in (("09a", 2, ""), ("09b", 2, ""), ("12", 2, ""), ("12", 4, "_k16"), ("13a", 4, ""), ("13b", 4, "")):
        i = data.stage(n)
        source = ROOT / "stages" / (i.split("/")[1] + ".cu")
        plan[f"banks_{i.split('/')[1]}{form}.svg"] = (
            [source], lambda data, path, source=source, threads=threads: draw_scatter(source, path, threads))
    summit = ROOT / "stages" / "18_summit.cu"
    plan["plan_18_summit.svg"] = ([summit], lambda data, path: summit_plan.draw_plan(summit.read_text(), 3000, path, plot_style, save))
    plan.update(experiment_figures.plan(plot_style, save))
    plan.update(tensor_tsm.plan(plot_style, save))
    plan.update(tsm_pages.plan(LADDER, plot_style, save))
    plan.update(tensor_pages.plan(plot_style, save))
    plan.update(tsmm_figure.plan(plot_style, save))
    plan.update(choice_figure.plan(plot_style, save))
    plan.update(probe_figures.plan(plot_style, save))
    return plan


def draw_prediction(data, path):
    plt = plot_style()
    measured = data.counters["sizes"]["2048"]
    stages = [i for i in data.stages if i in measured and "gflops" in data.results.get((i, "2048x2048x2048"), {})]
    many = len(stages) > 8
    fig, ax = plt.subplots(figsize=(max(8, 0.55 * len(stages)), 3.8))
    peak = data.ceilings["ffma_gflops"]
    for n, i in enumerate(stages):
        r = data.results[i, "2048x2048x2048"]
        allowed = [peak * min(1, 0.25 / max(cycles, 1e-9)) for cycles in (
            sum(r["predicted"]["l1_cycles_per_warp_fma"].values()), measured[i]["wavefronts"] / (measured[i]["ffma"] / 32))]
        for offset, value, colour, label in ((-0.27, allowed[0], "#b0c4de", "predicted from the source"),
                                             (0, allowed[1], "#4682b4", "predicted from ncu's wavefronts"),
                                             (0.27, r["gflops"], "#2e8b57", "measured")):
            ax.bar(n + offset, value / 1e3, 0.25, color=colour, label=label if n == 0 else None)
            if not many:
                ax.text(n + offset, value / 1e3 * 1.05, f"{value / 1e3:.2f}", ha="center", fontsize=8)
    ax.set_yscale("log")
    ax.set_xticks(range(len(stages)), [i.split("/")[1].split("_")[0] if many else i.split("/")[1] for i in stages])
    ax.set_ylabel("TFLOP/s at 2048")
    ax.set_ylim(0.2, 100 if many else 30)
    ax.grid(axis="x", visible=False)
    ax.legend(frameon=False, loc="upper left")
    ax.set_title(f"What L1 and shared memory allow, and what came ({data.ladder['device']})")
    save(plt, fig, path)


def runs(flags):
    """Start and end of each run of true flags."""
    starts = [i for i, flag in enumerate(flags) if flag and not (i and flags[i - 1])]
    return [(start, next((i for i in range(start, len(flags)) if not flags[i]), len(flags))) for start in starts]


def draw_map(stage, path):
    """The tile of C that block 0 writes; which lane of which warp wrote what, found by running the stage."""
    plt = plot_style()
    from matplotlib.collections import LineCollection
    found = json.loads(MAPS.read_text())[stage]
    rows = [found["kinds"][kind] for kind in found["rows"]]
    height, width = len(rows), min(map(len, rows))
    fig, ax = plt.subplots(figsize=(5.2, 4.6))
    lanes = [[t % 32 for t in row[:width]] for row in rows]
    image = ax.imshow(lanes, cmap="viridis", interpolation="nearest", extent=(0, width, height, 0))
    of_thread = [(row, col) for row in range(height) for col in range(width) if rows[row][col] == 0]
    if len(of_thread) == 1:
        for row in range(height):
            for col in range(width):
                if rows[row][col] // 32 == 0:  # the first warp
                    ax.add_patch(plt.Rectangle((col, row), 1, 1, fill=False, edgecolor="red", linewidth=1.2))
    else:
        # Only the outline of the first warp's elements, so that those of its first thread can be seen.
        first = [[0 <= row < height and 0 <= col < width and rows[row][col] // 32 == 0 for col in range(-1, width + 1)]
                 for row in range(-1, height + 1)]
        edges = [((start, row), (end, row)) for row in range(height + 1)
                 for start, end in runs([first[row][col + 1] != first[row + 1][col + 1] for col in range(width)])]
        edges += [((col, start), (col, end)) for col in range(width + 1)
                  for start, end in runs([first[row + 1][col] != first[row + 1][col + 1] for row in range(height)])]
        ax.add_collection(LineCollection(edges, colors="red", linewidths=1.2))
        ax.plot([col + 0.5 for _, col in of_thread], [row + 0.5 for row, _ in of_thread], "s", color="white",
                markeredgecolor="black", markersize=4, clip_on=False)
    fig.colorbar(image, label="lane (thread % 32)")
    ax.set_xlabel("column of C")
    ax.set_ylabel("row of C")
    ax.grid(False)
    separator, also = (", ", "") if len(of_thread) == 1 else ("\n", f", the {len(of_thread)} elements of thread 0 white")
    ax.set_title(f"{stage}: block {tuple(found['block'])}{separator}warp 0 in red{also}", fontsize=10)
    save(plt, fig, path)


def draw_banks(stage, source, path):
    """Tile bs in shared memory: the bank of each word, and the words that warp 0 reads in one step of the inner loop."""
    plt = plot_style()
    text = source.read_text()
    tile = int(re.search(r"constexpr int TILE = (\d+)", text).group(1))
    first, second = re.search(r"sum \+= as\[ty\]\[i\] \* bs\[(\w+)\]\[(\w+)\]", text).groups()
    step = 5
    place = {"tx": lambda lane: lane, "i": lambda lane: step}
    words = [(place[first](lane), place[second](lane)) for lane in range(32)]
    fig, ax = plt.subplots(figsize=(5.2, 4.6))
    image = ax.imshow([[(r * tile + c) % 32 for c in range(tile)] for r in range(tile)], cmap="twilight", extent=(0, tile, tile, 0))
    for r, c in words:
        ax.add_patch(plt.Rectangle((c, r), 1, 1, fill=False, edgecolor="red", linewidth=1.4))
    banks = {}
    for r, c in set(words):
        banks.setdefault((r * tile + c) % 32, set()).add((r, c))
    passes = max(len(b) for b in banks.values())
    fig.colorbar(image, label="bank")
    ax.set_xlabel("second index of bs")
    ax.set_ylabel("first index of bs")
    ax.grid(False)
    ax.set_title(f"bs[{first}][{second}], i = {step}: 32 lanes, {len(banks)} bank{'s' if len(banks) > 1 else ''}, "
                 f"{passes} cycle{'s' if passes > 1 else ''}", fontsize=10)
    save(plt, fig, path)


def draw_scatter(source, path, threads):
    """The transposed tile of A in shared memory, as far as warp 0 fills it: the bank of each word, and the words of one store.
    threads: how many fetch one row of A's tile, a float4 each."""
    plt = plot_style()
    text = source.read_text()
    length = re.search(r"float as\[TILE_K\]\[([A-Z_ +]+)\]", text).group(1)  # of a row: TILE_M, or TILE_M + PAD
    length = sum(int(re.search(rf"constexpr int [^;]*?\b{name} = (\d+)", text).group(1)) for name in length.split(" + "))
    rows, columns = 4 * threads, 32
    turned = (lambda k: 32 // threads * (k // 4)) if "swizzle" in text else (lambda k: 0)
    words = [(k, lane // threads ^ turned(k)) for lane in range(32) for k in [lane % threads * 4]]  # as[a_k][a_row]
    banks = {}
    for r, c in words:
        banks.setdefault((r * length + c) % 32, set()).add((r, c))
    passes = max(len(b) for b in banks.values())
    fig, ax = plt.subplots(figsize=(9, 3.2))
    image = ax.imshow([[(r * length + c) % 32 for c in range(columns)] for r in range(rows)], cmap="twilight", vmin=0, vmax=31,
                      extent=(0, columns, rows, 0))
    for lane, (r, c) in enumerate(words):
        ax.add_patch(plt.Rectangle((c, r), 1, 1, fill=False, edgecolor="red", linewidth=1.4))
        ax.text(c + 0.5, r + 0.5, str((r * length + c) % 32), ha="center", va="center", fontsize=7, color="white",
                bbox={"boxstyle": "round,pad=0.15", "facecolor": "black", "alpha": 0.5, "linewidth": 0})
    fig.colorbar(image, label="bank", shrink=0.8)
    ax.set_xlabel(f"row of A (as has {length} words in a row)")
    ax.set_ylabel("step of k")
    ax.grid(False)
    ax.set_title(f"as[a_k][a_row] = a4.x: 32 lanes, {len(banks)} banks, {passes} cycle{'s' if passes > 1 else ''}", fontsize=10)
    save(plt, fig, path)


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def pages():
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md")), ROOT / "tsm/README.md", ROOT / "tensorcore/README.md"]


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        sys.exit(__doc__)
    data = Data()
    stale = []
    for page in pages():
        text = page.read_text()
        filled = fill(text, data, page.relative_to(ROOT))
        if filled != text:
            stale.append(str(page.relative_to(ROOT)))
            if not check:
                page.write_text(filled)

    manifest_path = FIGURES / "manifest.json"
    manifest = json.loads(manifest_path.read_text()) if manifest_path.exists() else {}
    plan = figures(data)
    wanted = {name: {"sources": {str(s.relative_to(ROOT)): sha256(s) for s in sources}} for name, (sources, _) in plan.items()}
    for name, (_, draw) in plan.items():
        if check:
            if manifest.get(name) != wanted[name] or not (FIGURES / name).exists():
                stale.append(f"docs/figures/{name}")
        else:
            FIGURES.mkdir(exist_ok=True)
            draw(data, FIGURES / name)
    if check and set(manifest) - set(wanted):
        stale.append("docs/figures/manifest.json")
    if not check:
        manifest_path.write_text(json.dumps(wanted, indent=1) + "\n")
        print(f"wrote {len(plan)} figures and {len(stale)} pages")
        if data.missing:
            print(f"{len(data.missing)} marks have no numbers yet, the first: {data.missing[0]}")
    elif stale:
        sys.exit("error: out of date, run docs/generate.py: " + ", ".join(stale))


if __name__ == "__main__":
    main()
