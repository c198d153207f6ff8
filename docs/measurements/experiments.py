#!/usr/bin/env python3
"""The sources' tables and plots, again, on this machine: which stages stand for which of their kernels, at which sizes.

usage: ./lab experiment                    lists the experiments
       ./lab experiment NAME [SIZES] [options]
       ./lab experiment all --out DIR      writes DIR/NAME.json for each; sgemm: those of SGEMM's sources, tsm: E2 to E14

On a GPU everything is checked and timed. On the CPU executor it is checked and counted, at small sizes: speeds need a GPU.
The sources' own figures stand beside ours; docs/sources.md and docs/tsm/experiments.md show the same tables, from the JSON.
"""
import argparse
import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import tsm_experiments  # noqa: E402
T4_PEAK, PASCAL_PEAK = 7680, 7680  # GFLOP/s, as either source computes it; that they agree is chance
REPORT, CASE_STUDY, ARTICLE = "PA2 report", "SGEMM on Pascal", "Decreasing LDS Memory Requests"
BEST = "10"  # the report's best geometry is stage 10 itself: 32 x 8 threads, 128 x 64 x 64
LABELS = {"01": "naive, lanes down a column", "02": "naive, lanes along a row", BEST: "32x8, 128x64x64"}


def label(number):
    return LABELS.get(number) or number.removeprefix("10:").replace("_", ", ", 1).replace("_", " ")


@dataclasses.dataclass
class Experiment:
    title: str
    source: str
    runs: list  # (stages, sizes): each is one `gemm ladder --only`
    small: tuple = (128, 129)  # the sizes on the CPU executor
    ratios: list = dataclasses.field(default_factory=list)  # (a stage, slower one, what the source says of it)
    theirs: dict = dataclasses.field(default_factory=dict)  # stage: size: GFLOP/s
    kind: str = "speeds"  # which table and plot
    blas: bool = False  # the CPU's BLAS beside it

    def stages(self):
        return list(dict.fromkeys(stage for stages, _ in self.runs for stage in stages))


SIZES = (256, 512, 1024, 2048, 4096)
BLOCKS = ["10:8x8_64x32x32", "10:16x8_64x64x64", "10:16x16_128x64x64", BEST, "10:8x16_64x64x64", "10:8x32_128x64x64"]
# The report's plots are not in the text that we have: its tables and the ranges in its sentences are.
PEAKS = {256: (1467.73, "16x8"), 512: (3087.60, "32x8"), 1024: (3105.88, "32x8"), 2048: (3559.34, "32x8"), 4096: (3575.40, "32x8")}
NAIVE = {256: 87.41, 512: 157.09, 1024: 246.77, 2048: 277.39}
KERNELS = {"01": 186, "03": 202, "04": 1001, "05": 1801, "06a": 2375, "06b": 2375, "07": 3102, "08": 3280, "09a": 4807}
KERNEL_8 = {1024: 925, 2048: 2546, 3072: 3246, 4096: 4100, 5120: 4282, 6144: 4509, 7168: 4606, 8192: 4807}
PASCAL_CUBLAS = {1024: 4276, 2048: 5459, 3072: 7016, 4096: 7201, 5120: 7118, 6144: 7010, 7168: 6861, 8192: 7044}
# Work-items that ask, for a tile of 128 x 128 and 8 steps of k. The article leaves out the last step: the number is its introduction's.
REQUESTS = {"11a:unshared": ("nothing shared", "8192"), "11a": ("B shared", "6144"), "11b": ("and two rows a load", "5120"),
            "11c": ("and A shared", 'around 3 thousand')}
AROUND = sorted({size + step for size in range(1024, 1537, 64) for step in (-1, 0, 1)})

EXPERIMENTS = {
    "pa2-opt1": Experiment("optimisation 1: tiles in shared memory and 32 outputs a thread, against naive", REPORT,
                           [(["01", "02", "10:8x8_64x32x32"], SIZES[:4])], theirs={"01": NAIVE},
                           ratios=[("10:8x8_64x32x32", "01", "9 to 15"), ("10:8x8_64x32x32", "02", "9 to 15")]),
    "pa2-opt2": Experiment("optimisation 2: coalesced against not", REPORT,
                           [(["10:8x8_64x32x32", "10:8x8_64x32x32_uncoalesced", BEST, "10:32x8_128x64x64_uncoalesced"], SIZES)],
                           ratios=[("10:8x8_64x32x32", "10:8x8_64x32x32_uncoalesced", "1.10 to 1.14"),
                                   (BEST, "10:32x8_128x64x64_uncoalesced", "not given")]),
    "pa2-opt3": Experiment("optimisation 3: register reuse and load order, separately", REPORT,
                           [([BEST, "10:32x8_128x64x64_no_reuse", "10:32x8_128x64x64_far_order",
                              "10:32x8_128x64x64_no_reuse_far_order"], SIZES)],
                           ratios=[(BEST, "10:32x8_128x64x64_no_reuse", "not given"), (BEST, "10:32x8_128x64x64_far_order", "not given"),
                                   (BEST, "10:32x8_128x64x64_no_reuse_far_order", "1.02 to 1.05")]),
    "pa2-opt4": Experiment("optimisation 4: 64 outputs a thread, in 128 KB of shared memory and in 32", REPORT,
                           [([BEST, "10:32x8_128x128x128", "10:32x8_128x128x32"], SIZES)],
                           ratios=[("10:32x8_128x128x128", BEST, "CudaError"), ("10:32x8_128x128x32", BEST, "not tried")]),
    "pa2-blocks": Experiment("the block size, at 32 outputs a thread", REPORT, [(BLOCKS, SIZES)], kind="blocks"),
    "pa2-peak": Experiment("peaks, and against naive", REPORT, [(["01", "02", *BLOCKS], SIZES)], kind="peaks"),
    "pa2-dips": Experiment("sizes that are no multiples of the tiles, beside the CPU's BLAS", REPORT, [([BEST], AROUND)],
                           small=(127, 128, 129, 191, 192, 193), kind="dips", blas=True),
    "pa2-roofline": Experiment("the roofline, at the device's bandwidth and at a reduced one", REPORT, [([BEST], (4096,))], kind="roofline"),
    "pa2-rectangular": Experiment("A 2048 x 1024 times B 1024 x 2048", REPORT,
                                  [([BEST, "10:16x8_64x64x64", "10:32x8_128x128x128"], ("2048x2048x1024",))],
                                  small=("256x256x128", "512x512x256"), kind="rectangular"),
    "case-study": Experiment("kernels 1 to 8, and kernel 8 beside cuBLAS", CASE_STUDY,
                             [(["09a"], tuple(KERNEL_8)), ([s for s in KERNELS if s != "09a"], (8192,))], kind="kernels"),
    "article": Experiment("requests to shared memory for a tile of 128 x 128 and 8 steps of k", ARTICLE,
                          [(list(REQUESTS), ("128x128x8",))], small=("128x128x8",), kind="requests"),
}


# ---- running


def fail(text):
    print(f"error: {text}", file=sys.stderr)
    sys.exit(2)


def call(command):
    done = subprocess.run([str(c) for c in command], text=True, stdout=subprocess.PIPE)
    try:
        return done.returncode, json.loads(done.stdout)
    except json.JSONDecodeError:
        sys.exit(done.returncode or 1)  # it has said why


def numbered(stage):
    """As --only takes it: sgemm/NN_name is NN, sgemm/NN_name:variant is NN:variant."""
    name, colon, form = stage.removeprefix("sgemm/").partition(":")
    return name.split("_")[0] + colon + form


def short(r):
    """What the tables and plots need of a result of the ladder."""
    p, launch = r["problem"], (r.get("launches") or [{}])[0]
    result = {"stage": numbered(r["stage"]), "shape": [p["m"], p["n"], p["k"]], "status": r["status"]}
    if r["reason"]:
        result["reason"] = r["reason"]
    if "error" in r:
        result["max_ratio"] = r["error"]["max_ratio"]
    for key in ("registers", "local_bytes", "dynamic_shared_bytes"):
        if key in launch:
            result[key] = launch[key]
    if "gflops" in r:
        flop = 2 * p["m"] * p["n"] * p["k"]
        result.update(ms=r["time_ms"]["median"], gflops=r["gflops"], cublas_gflops=flop / r["cublas_time_ms"]["median"] / 1e6)
    if "counts" in r:
        counts = r["counts"]
        result.update(share_of_fp32_peak=r["predicted"]["share_of_fp32_peak"], flop_per_byte=counts["flop_per_byte"],
                      shared_load_requests=counts["shared_load"]["requests"], shared_load_lanes=counts["shared_load"]["lanes"])
    return result


def known_stages(gemm):
    names = subprocess.run([gemm, "list", "--variants"], text=True, capture_output=True, check=True).stdout
    return {numbered(line.split()[0]) for line in names.splitlines() if line.strip()}


def is_executor(gemm):
    return call([gemm, "run", "02", "--check", "--m", 1, "--n", 1, "--k", 1, "--json", "-"])[1]["run"]["compute_capability"] == 0


def perform(gemm, name, sizes, seconds, executor):
    """(worst exit status, record)"""
    experiment = EXPERIMENTS[name]
    known = known_stages(gemm)
    record = {"experiment": name, "title": experiment.title, "source": experiment.source, "executor": executor, "results": []}
    record["missing"] = [stage for stage in experiment.stages() if stage not in known]
    if record["missing"]:
        if len(record["missing"]) < len(experiment.stages()):
            print(f"note: {name}: not in this build, left out: {', '.join(record['missing'])}", file=sys.stderr)
    status = 0
    for stages, its_sizes in experiment.runs:
        present = [stage for stage in stages if stage in known]
        if not present:
            continue
        shapes = sizes or (experiment.small if executor else its_sizes)
        code, report = call([gemm, "ladder", *shapes, "--only", ",".join(present), *(["--seconds", seconds] if seconds else []), "--json", "-"])
        status = max(status, code)
        for key in ("device", "driver", "cuda", "cublas", "compiler", "commit", "ceilings", "sm_count"):
            if key in report:
                record[key] = report[key]
        record["results"] += [short(r) for r in report["results"]]
    if experiment.blas:
        record["blas"] = measure_blas(sorted({r["shape"][0] for r in record["results"]}))
    return status, record


# ---- the CPU's BLAS


def find_openblas():
    """(what it is, sgemm(a, b) on numpy arrays), or (why there is none, None)."""
    try:
        import numpy
    except ImportError:
        return "no numpy: apt-get install python3-numpy libopenblas0, or pip install numpy", None
    blas = None
    try:
        # A loaded library tells more than numpy's build: Debian's numpy takes whatever libblas.so.3 is.
        numpy.ones((64, 64), numpy.float32) @ numpy.ones((64, 64), numpy.float32)
        maps = pathlib.Path("/proc/self/maps").read_text()
        blas = next((line.split()[-1] for line in maps.splitlines() if "openblas" in line), None)
    except OSError:
        pass
    if not blas:
        return "numpy's BLAS is not OpenBLAS: apt-get install libopenblas0, or pip install numpy in a venv", None
    blas = pathlib.Path(blas)
    return blas.name if "openblas" in blas.name else f"{blas.parent.name}/{blas.name}", lambda a, b, out: numpy.matmul(a, b, out=out)


def measure_blas(sizes):
    name, multiply = find_openblas()
    if not multiply:
        print(f"note: SKIPPED, the CPU's BLAS: {name}", file=sys.stderr)
        return {"missing": name}
    import numpy
    generator = numpy.random.default_rng(1)
    gflops = {}
    for n in sizes:
        a, b = (generator.uniform(-1, 1, (n, n)).astype(numpy.float32) for _ in range(2))
        out = numpy.empty_like(a)
        multiply(a, b, out)
        times, end = [], time.perf_counter() + 0.1
        while len(times) < 5 or time.perf_counter() < end:
            begin = time.perf_counter()
            multiply(a, b, out)
            times.append(time.perf_counter() - begin)
        gflops[str(n)] = 2e-9 * n**3 / sorted(times)[len(times) // 2]
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "unknown CPU")
    return {"library": name, "cpu": model, "cores": len(os.sched_getaffinity(0)), "gflops": gflops}


# ---- tables: head and rows of text, and sentences below them


def number(x):
    return "-" if x is None else f"{x:,.0f}" if x >= 100 else f"{x:.3g}"


class View:
    """The results of a record by stage and size."""

    def __init__(self, record):
        self.record, self.found = record, {}
        for r in record["results"]:
            self.found[r["stage"], self.size(r)] = r
        self.sizes = list(dict.fromkeys(self.size(r) for r in record["results"]))
        self.stages = list(dict.fromkeys(r["stage"] for r in record["results"]))

    @staticmethod
    def size(r):
        m, n, k = r["shape"]
        return m if m == n == k else f"{m}x{n}x{k}"

    def gflops(self, stage, size):
        return self.found.get((stage, size), {}).get("gflops")

    def cell(self, stage, size):
        """GFLOP/s; on the executor, the share of the FP32 peak that the counts allow; else what the check says."""
        r = self.found.get((stage, size))
        if not r:
            return "-"
        if r["status"] != "pass":
            return f"{r['status']}: {r.get('reason', '')}"[:60]
        if "gflops" in r:
            return number(r["gflops"])
        return f"{100 * r['share_of_fp32_peak']:.1f} %" if "share_of_fp32_peak" in r else r["status"]

    def ratio(self, a, b, size):
        both = [self.found.get((s, size), {}) for s in (a, b)]
        key = "gflops" if "gflops" in both[0] else "share_of_fp32_peak"
        return f"{both[0][key] / both[1][key]:.2f}" if all(key in r for r in both) else "-"


def below(record, *more):
    if record["executor"]:
        first = (f"{record['device']}, commit {record['commit']}: checked and counted; in place of speeds, the share of the FP32 peak that "
                 "the counts allow. Speeds need a GPU.")
    else:
        first = f"{record['device']}, driver {record['driver']}, CUDA {record['cuda']}, commit {record['commit']}; GFLOP/s, medians, warm cache."
    missing = [f"Not in this build: {', '.join(record['missing'])}."] if record["missing"] else []
    return [first, *missing, *more]


def table_speeds(view, experiment):
    stages = [s for s in experiment.stages() if s in view.stages]
    ratios = [r for r in experiment.ratios if r[0] in stages and r[1] in stages]
    head = ["M = N = K"]
    for s in stages:
        head += [label(s)] + (["there"] if s in experiment.theirs else [])
    for a, b, _ in ratios:
        head += [f"({label(a)}) / ({label(b)})", "there"]
    rows = []
    for size in view.sizes:
        row = [str(size)]
        for s in stages:
            row += [view.cell(s, size)] + ([number(experiment.theirs[s].get(size))] if s in experiment.theirs else [])
        for a, b, said in ratios:
            row += [view.ratio(a, b, size), said]
        rows.append(row)
    return [(head, rows)], below(view.record)


def best_of(view, stages, size):
    value = {s: view.gflops(s, size) or view.found.get((s, size), {}).get("share_of_fp32_peak") for s in stages}
    value = {s: v for s, v in value.items() if v}
    return max(value, key=value.get) if value else None


def table_blocks(view, experiment):
    rows = []
    for size in view.sizes:
        best = best_of(view, view.stages, size)
        rows.append([str(size), *(view.cell(s, size) for s in view.stages), label(best) if best else "-", PEAKS.get(size, ("", "-"))[1]])
    return [(["M = N = K", *(label(s) for s in view.stages), "fastest", "fastest there"], rows)], below(view.record)


def table_peaks(view, experiment):
    rows, peak = [], view.record.get("ceilings", {}).get("ffma_gflops")
    blocks = [s for s in view.stages if s not in ("01", "02")]
    for size in view.sizes:
        best = best_of(view, blocks, size)
        if not best:
            continue
        theirs, which = PEAKS.get(size, (None, "-"))
        ours = view.gflops(best, size)
        rows.append([str(size), view.cell(best, size), label(best), f"{100 * ours / peak:.1f} %" if ours and peak else "-",
                     number(theirs), which, f"{100 * theirs / T4_PEAK:.1f} %" if theirs else "-",
                     view.cell("01", size), view.cell("02", size), number(NAIVE.get(size)),
                     view.ratio(best, "01", size), view.ratio(best, "02", size), f"{theirs / NAIVE[size]:.1f}" if size in NAIVE else "-"])
    return [(["M = N = K", "peak", "block", "of FP32", "peak there", "block there", "of FP32 there", LABELS["01"], LABELS["02"],
              "naive there", "peak / 01", "peak / 02", "there"], rows)], below(view.record)


def useful_share(n, tile=(128, 64, 64)):
    """Of the multiplications that a geometry makes for a cube, those that are not with the zeros of padding."""
    made = 1
    for t in tile:
        made *= -(-n // t) * t
    return n**3 / made


def table_dips(view, experiment):
    rows, blas = [], view.record["blas"].get("gflops", {})
    for size in view.sizes:
        r = view.found[BEST, size]
        rows.append([str(size), view.cell(BEST, size), f"{100 * useful_share(size):.0f} %", number(r.get("cublas_gflops")), number(blas.get(str(size)))])
    b = view.record["blas"]
    cpu = f"SKIPPED, the CPU's BLAS: {b['missing']}." if "missing" in b else f"CPU: {b['library']}, {b['cores']} cores of {b['cpu']}."
    return [(["M = N = K", label(BEST), "of its work, useful", "cuBLAS", "OpenBLAS, CPU"], rows)], below(
        view.record, cpu, "Useful: N^3 over the product of N rounded up to 128, 64 and 64; the report draws its two curves and gives no numbers.")


def tile_intensity(tm=128, tn=64):
    """Flop per byte that the blocks ask from beyond the SM: 2 tm tn over 4 (tm + tn), for each step of k."""
    return 2 * tm * tn / (4 * (tm + tn))


# Achieved, bandwidth in GiB/s, and q as the report has them.
THEIR_ROOFLINE = [(4065.7, 320, "11.474", "22.948"), (4065.7, 220, "not given", "34.42")]


def roofs(record):
    """(name, GB/s, achieved GFLOP/s, peak GFLOP/s): ours at both bandwidths, then the report's."""
    ours = next((r["gflops"] for r in record["results"] if "gflops" in r), None)
    gib = 2**30 / 1e9
    found = []
    if ours and "ceilings" in record:
        c = record["ceilings"]
        found += [("here, measured bandwidth", c["read_gbs"], ours, c["ffma_gflops"]),
                  ("here, 220/320 of it", c["read_gbs"] * 220 / 320, ours, c["ffma_gflops"])]
    return found + [(f"there, {b} GiB/s", b * gib, speed, T4_PEAK) for speed, b, _, _ in THEIR_ROOFLINE]


def table_roofline(view, experiment):
    said = {f"there, {b} GiB/s": (per_byte, per_word) for _, b, per_byte, per_word in THEIR_ROOFLINE}
    rows = []
    for name, bandwidth, achieved, peak in roofs(view.record):
        q = achieved / bandwidth
        rows.append([name, number(bandwidth), number(achieved), number(peak), f"{peak / bandwidth:.1f}", f"{q:.2f}", f"{4 * q:.1f}",
                     *said.get(name, ("-", "-")), number(min(peak, tile_intensity() * bandwidth))])
    return [(["roofline", "GB/s", "achieved, GFLOP/s", "peak, GFLOP/s", "ridge, flop/byte", "achieved / bandwidth, flop/byte", "flop/word of 4 bytes",
              "the report's q, flop/byte", "its q, flop/\"word\"", "roof at the tiles' intensity"], rows)], below(
        view.record, f"The tiles' intensity is {tile_intensity():.1f} flop/byte (128 x 64 outputs, no reuse in a cache); that of the whole "
        "product, N / 6, is 683 at 4096. Neither depends on the bandwidth. Achieved over bandwidth is the least intensity that explains the speed.")


def table_rectangular(view, experiment):
    rows = []
    for size in view.sizes:
        for s in view.stages:
            r = view.found[s, size]
            rows.append([str(size), label(s), r["status"] + (f": {r['reason']}" if "reason" in r else ""),
                         f"{r['max_ratio']:.3f}" if "max_ratio" in r else "-", view.cell(s, size), "wrong: 915375 differences", "3464.4"])
    return [(["M x N x K", "geometry", "check", "error, of its bound", "speed", "there", "GFLOP/s printed there"], rows)], below(view.record)


def table_kernels(view, experiment):
    eighth = [size for size in view.sizes if ("09a", size) in view.found]
    found = [s for s in KERNELS if s in view.stages]
    first = []
    for size in eighth:
        r = view.found["09a", size]
        cublas, theirs, their_cublas = r.get("cublas_gflops"), KERNEL_8.get(size), PASCAL_CUBLAS.get(size)
        first.append([str(size), number(cublas), view.cell("09a", size), f"{100 * r['gflops'] / cublas:.1f} %" if cublas else "-",
                      number(their_cublas), number(theirs), f"{100 * theirs / their_cublas:.2f} %" if theirs else "-"])
    peak = view.record.get("ceilings", {}).get("ffma_gflops")
    second = []
    for s in found:
        size = max((size for size in view.sizes if (s, size) in view.found), key=lambda x: x if isinstance(x, int) else 0)
        ours = view.gflops(s, size)
        kernel = str(list(dict.fromkeys(k.rstrip("ab") for k in KERNELS)).index(s.rstrip("ab")) + 1)
        second.append([kernel, s, str(size), view.cell(s, size), f"{100 * ours / peak:.1f} %" if ours and peak else "-",
                       number(KERNELS[s]), f"{100 * KERNELS[s] / PASCAL_PEAK:.1f} %"])
    tables = [(["kernel", "stage", "M = N = K", "GFLOP/s", "of FP32", "there, at 8192", "of FP32 there"], second)]
    if first:
        tables.append((["M = N = K", "cuBLAS", "kernel 8 (09a)", "ratio", "cuBLAS there", "kernel 8 there", "ratio there"], first))
    return tables, below(view.record, "The source's kernel 8 is timed with its padding pass; without it, 5280 GFLOP/s. Its cuBLAS at 8192: 7044.")


def table_requests(view, experiment):
    rows = []
    for s in view.stages:
        r = view.found[s, view.sizes[0]]
        name, theirs = REQUESTS[s]
        rows.append([name, s, r["status"], number(r.get("shared_load_lanes")), theirs, number(r.get("shared_load_requests"))])
    return [(["loads of A's and B's tiles", "stage", "check", "work-items that ask", "the article's", "warps that ask"], rows)], below(view.record)


def tables(record):
    """([(head, rows)...], sentences)"""
    if record["experiment"] in tsm_experiments.EXPERIMENTS:
        return tsm_experiments.tables(record)
    return globals()["table_" + EXPERIMENTS[record["experiment"]].kind](View(record), EXPERIMENTS[record["experiment"]])


def print_table(head, rows):
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    for row in [head, *rows]:
        print("  ".join(cell.rjust(width) for cell, width in zip(row, widths)).rstrip())


def show(record):
    found, notes = tables(record)
    print(f"{record['experiment']}: {record['title']} ({record['source']})")
    for head, rows in found:
        print()
        print_table(head, rows)
    print()
    for note in notes:
        print(note)


# ---- the command line


class Parser(argparse.ArgumentParser):
    def error(self, message):
        fail(message)


def every_experiment():
    """All of them by name, and what is measured by `./lab probe`, as the list shows them."""
    lines = {name: f"{experiment.title} ({experiment.source})" for name, experiment in {**EXPERIMENTS, **tsm_experiments.EXPERIMENTS}.items()}
    lines.update({name: f"./lab probe {probe} ({tsm_experiments.PAPER})" for name, probe in tsm_experiments.PROBES.items()})
    of_paper = sorted((name for name in lines if name[0] == "E"), key=lambda name: int(name[1:]))
    return {name: lines[name] for name in [*EXPERIMENTS, *of_paper]}


def parse_sizes(words, name):
    """"8", "8x4" (of tall & skinny products) or "8x4x1000": for gemm as they are, for E2 to E14 as (m, n, k or None)."""
    sizes = [size for word in words for size in word.split(",")]
    of_paper = name in tsm_experiments.EXPERIMENTS
    for size in sizes:
        well = re.fullmatch(r"[1-9]\d{0,9}(x[1-9]\d{0,9}){0,2}", size)
        if not well or (not of_paper and size.count("x") == 1):
            fail(f"a size is {'M, MxN' if of_paper else 'N'} or MxNxK, not '{size}'")
    if not of_paper:
        return sizes
    numbers = [[int(n) for n in size.split("x")] for size in sizes]
    return [(n[0], n[1] if len(n) > 1 else n[0], n[2] if len(n) > 2 else None) for n in numbers]


def parse_arguments():
    """What is asked for; bad usage ends here."""
    parser = Parser(prog="./lab experiment", usage=argparse.SUPPRESS, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", help=argparse.SUPPRESS)
    parser.add_argument("more_sizes", nargs="*", metavar="SIZES", help="in place of the experiment's own: N or MxNxK; of E2 to E14 M, MxN or MxNxK")
    parser.add_argument("--gemm", help=argparse.SUPPRESS)  # the program; without it, arguments are looked at and no more
    parser.add_argument("--sizes", help="the same, separated by commas")
    parser.add_argument("--seconds", type=float, help="about how long to sample each kernel, as for ladder")
    parser.add_argument("--json", metavar="FILE", help="write what was found to this file; - is standard output, without the table")
    parser.add_argument("--out", metavar="DIR", help="write it to DIR/NAME.json; or to a file, if the name ends in .json")
    parser.add_argument("--cases", metavar="FILE", help="of E2 to E14: run nothing, write what would be run on a GPU, for gemm batch; - is standard output")
    parser.add_argument("--ncu", action="store_true", help="of E9: the clock, and what is busy; of E13: bytes of device memory; read with Nsight Compute, to DIR/NAME_ncu.json")
    options = parser.parse_args()
    if len(sys.argv) == 1:
        return options
    if not options.name:
        fail("which experiment? './lab experiment' lists them")
    if options.name in tsm_experiments.PROBES:
        fail(f"{options.name} measures the hardware: ./lab probe {tsm_experiments.PROBES[options.name]}")
    names = {"all": [*EXPERIMENTS, *tsm_experiments.EXPERIMENTS], "sgemm": list(EXPERIMENTS), "tsm": list(tsm_experiments.EXPERIMENTS)}
    options.group = options.name in names
    if options.name not in every_experiment() and not options.group:
        fail(f"no experiment '{options.name}'; './lab experiment' lists them")
    options.names = names.get(options.name, [options.name])
    options.sizes = parse_sizes(options.more_sizes + ([options.sizes] if options.sizes is not None else []), options.name)
    if options.name in ("all", "tsm") and options.sizes:
        fail(f"sizes are for one experiment, not for {options.name}")
    if options.seconds is not None and not 0.001 <= options.seconds <= 3600:
        fail(f"--seconds is 0.001 to 3600, not {options.seconds:g}")
    if options.out and options.out.endswith(".json") and not options.json:
        options.json, options.out = options.out, None
    if options.json and options.group:
        fail(f"a file takes one experiment; --out DIR is for {options.name}")
    if options.ncu and options.name not in tsm_experiments.COUNTED:
        fail(f"--ncu is for {' and '.join(tsm_experiments.COUNTED)}")
    if options.cases and any(name in EXPERIMENTS for name in options.names):
        fail("--cases is for E2 to E14, or tsm: the others run no batches")
    if options.cases and (options.ncu or options.json or options.out):
        fail("--cases runs nothing: there is nothing else to write")
    for path in (options.json, options.cases):
        target = pathlib.Path(path) if path and path != "-" else None
        if target and (target.is_dir() or not os.access(target.parent, os.W_OK)):
            fail(f"can't write '{path}'")  # before the work, not after
    if options.out and not os.access(pathlib.Path(options.out).absolute().parent, os.W_OK):
        fail(f"can't write into '{options.out}'")
    return options


def write(text, path):
    if path == "-":
        sys.stdout.write(text)
    else:
        pathlib.Path(path).write_text(text)


def left_out(name, gemm, executor):
    """Why an experiment can't be run here; empty if it can."""
    if name in tsm_experiments.EXPERIMENTS:
        why = tsm_experiments.EXPERIMENTS[name].needs_gpu
        return f"{name} needs a GPU: {why}" if executor and why else ""
    if EXPERIMENTS[name].kind == "requests" and not executor:
        return f"{name} counts, and the CPU executor does that: ./lab experiment {name} --cpu"
    return ""


def count(options, executor):
    """--ncu"""
    if executor:
        fail("--ncu needs a GPU, and Nsight Compute")
    if not shutil.which("ncu"):
        fail("no ncu here: Nsight Compute comes with the CUDA toolkit")
    record = tsm_experiments.perform_ncu(options.gemm, options.name, options.sizes)
    if not record["results"]:
        fail(f"{options.name}: none of its stages is in this build")
    if options.json != "-":
        print_table(*tsm_experiments.TABLES_OF_COUNTED[options.name](record))
    return record


def main():
    options = parse_arguments()
    if len(sys.argv) == 1:
        for name, line in every_experiment().items():
            print(f"{name:<16}  {line}")
        return 0
    if not options.gemm:
        return 0
    if options.cases:
        cases = [case for name in options.names for case in tsm_experiments.cases_of(name, options.gemm, options.sizes)[0]]
        write(tsm_experiments.text_of(cases), options.cases)
        return 0
    executor, status = is_executor(options.gemm), 0

    def save(record, stem):
        text = tsm_experiments.record_text(record) if stem.startswith("E") else json.dumps(record, indent=1) + "\n"
        if options.json:
            write(text, options.json)
        if options.out:
            folder = pathlib.Path(options.out)
            folder.mkdir(exist_ok=True)
            write(text, folder / f"{stem}.json")

    if options.ncu:
        save(count(options, executor), f"{options.name}_ncu")
        return 0
    for name in options.names:
        why = left_out(name, options.gemm, executor)
        if not why:
            run = tsm_experiments.perform if name in tsm_experiments.EXPERIMENTS else perform
            code, record = run(options.gemm, name, options.sizes, options.seconds, executor)
            status = max(status, code)
            if not record["results"]:
                why = f"{name}: none of its stages is in this build"
        if why:
            if not options.group:
                fail(why)
            print(f"note: left out: {why}", file=sys.stderr)
            continue
        if options.json != "-":
            show(record)
        save(record, name)
        if options.group:
            print(flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
