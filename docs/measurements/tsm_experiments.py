"""The paper's experiments on tall & skinny products (E2 to E4, E8 to E14): cases for `gemm batch`, records, tables. Part of experiments.py.

Ernst, Hager, Thies, Wellein (2020) measured them on a V100; docs/tsm/experiments.md says what each of them asks, and what we expect.
The others of E1 to E14 measure the hardware: PROBES.
"""
import dataclasses
import itertools
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

PAPER = "Ernst et al. 2020"
PROBES = {"E1": "bandwidth", "E5": "latency", "E6": "tiles", "E7": "incorrect"}
ELEMENT = {"d": 8, "z": 16}  # bytes
TYPES = {"d": "double", "z": "double complex"}
PRODUCTS = {"tsmttsm": "TSMTTSM", "tsmm": "TSMM"}
# The kernels that a stage generates for every size, and the stage that picks one of them, if there is one in the build.
GENERATED = {"tsmttsm": ("tsm/09", "tsm/10", "tsm/13b"), "tsmm": ("tsm/12", "tsm/13", "tsm/13c")}
PICKED = {"tsmttsm": "tsm/14", "tsmm": "tsm/15"}
LIBRARY, SPLIT_K, OURS, NO_REDUCTION = "cuBLAS", "split K (tsm/02)", "our best", "none"


def squares(*widths):
    return tuple((width, width, None) for width in widths)


DIAGONAL = squares(*range(1, 65))
COARSE = squares(1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 28, 32, 36, 40, 48, 56, 64)
LIBRARIES = squares(1, 2, 3, 4, 6, 8, 10, 12, 16, 17, 20, 24, 28, 32, 33, 36, 40, 48, 56, 57, 64)
REMAINDERS = squares(*range(13, 21))  # all of M % 4
GRID = (1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64)
LENGTHS = (1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000, 30_000_000, 100_000_000)
MOST_BYTES = 1 << 34  # of A and B, for the longest of them
MOST_BYTES_OF_BEST = 103 * 10**9  # the same for our best and cuBLAS: K = 1e8 at M = N = 64
EXECUTOR_LENGTH = 200  # K on the executor


@dataclasses.dataclass
class Experiment:
    title: str
    theirs: str  # what the paper saw
    cases: object  # function(Work): a list of cases
    sizes: tuple  # (m, n, k), k None: the experiment's own
    small: tuple  # on the CPU executor
    kind: str = "curves"  # which table and plot
    best: bool = False  # of several kernels of a series the best counts
    needs_gpu: str = ""  # why there is nothing for the executor
    legend: str = ""  # what series are, if their names don't say it
    source: str = PAPER


class Work:
    """What the cases of an experiment are made from."""

    def __init__(self, gemm, sizes, executor=False):
        self.gemm, self.sizes, self.executor = gemm, sizes, executor
        listed = subprocess.run([gemm, "list"], text=True, capture_output=True, check=True).stdout
        self.known = {word.split("_")[0] for word in listed.split() if word.startswith("tsm/")}

    def ours(self, op):
        """The stages of which the best counts."""
        return [PICKED[op]] if PICKED[op] in self.known else list(GENERATED[op])

    def problems(self, kind, width=max):
        """Each size with its K: where none was asked for, so many rows that with this width they have 4 GiB, as the paper has it."""
        return [(m, n, k or (EXECUTOR_LENGTH if self.executor else 2**32 // ELEMENT[kind] // width(m, n))) for m, n, k in self.sizes]

    def candidates(self, stage, kind, most, *options):
        """The kernels that its model takes for the best, at this work's sizes."""
        if stage not in self.known:
            return []
        if self.executor:
            most = 1  # to compile one takes seconds there
        found = [(f"{m}x{n}", k) for m, n, k in self.problems(kind)]
        cases = []
        for k, group in itertools.groupby(found, key=lambda each: each[1]):
            command = [self.gemm, "candidates", stage, *(size for size, _ in group), "--type", kind, "--k", k, "--most", most, *options]
            done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE)
            if done.returncode:
                sys.exit(done.returncode)  # it has said why
            cases += [json.loads(line) for line in done.stdout.splitlines()]
        return cases


# ---- cases


def case(stage, kind, m, n, k, series, op=None, **options):
    found = {"stage": stage, **({"op": op} if stage == "library" else {}), "type": kind, "m": m, "n": n, "k": k}
    return {**found, **({"options": options} if options else {}), "tag": {"series": series}}


def library_cases(op, kind, work):
    return [case("library", kind, m, n, k, LIBRARY, op) for m, n, k in work.problems(kind)]


def cases_of_library(work):
    return [c for kind in "dz" for c in library_cases("tsmttsm", kind, work)]


def tagged(cases, series):
    return [{**c, "tag": {"series": series, **c["tag"]}} for c in cases]


def cases_of_order(work):
    """Leapfrogging and interleaved columns, each on and off."""
    return [c for ahead, apart in itertools.product(("on", "off"), repeat=2) for c in tagged(
        work.candidates("tsm/09", "d", 2, "--leapfrog", ahead, "--transposed", apart), f"leapfrog {ahead}, transposed {apart}")]


def register_line(tm, tn, kind):
    """The paper's estimate of registers, leapfrogging one row: register_line() of tsm/generated/model.hpp."""
    return 2 * (ELEMENT[kind] // 8 * (tm * tn + 2 * (tm + tn)) + 8)


def cases_of_tiles(work):
    """All tiles whose registers by the line are not twice as many as there are."""
    cases = []
    # A quarter of the paper's K: what spills takes long.
    problems = [(kind, *problem) for kind in "dz" for problem in work.problems(kind, lambda m, n: 4 * max(m, n))]
    for kind, m, n, k in problems:
        for tm, tn in itertools.product(range(1, min(m, 16) + 1), range(1, min(n, 16) + 1)):
            threads = next((t for t in (256, 512, 1024) if -(-m // tm) * -(-n // tn) <= t), None)
            if not threads or register_line(tm, tn, kind) > 512 or (work.executor and (tm & (tm - 1) or tn & (tn - 1))):
                continue
            cases.append(case("tsm/09", kind, m, n, k, f"{tm} x {tn}", tile_m=tm, tile_n=tn, unroll=1, threads=threads, transposed=True,
                              leapfrog=True))
    return cases


def cases_of_reductions(work):
    cases = []
    for m, n, k in work.sizes:
        for rows in [k] if k else (100, 2000) if work.executor else LENGTHS:
            size = (m + n) * 8 * rows
            if k or size <= MOST_BYTES:
                cases += [case("tsm/09", "d", m, n, rows, name, reduction=name) for name in (NO_REDUCTION, "atomics", "local", "ordered")]
            if k or size <= MOST_BYTES_OF_BEST:
                cases += [case(stage, "d", m, n, rows, OURS) for stage in work.ours("tsmttsm")]
                cases += [] if work.executor else [case("library", "d", m, n, rows, LIBRARY, "tsmttsm")]
    return cases


def cases_of_our_best(op, kind, work):
    return [case(stage, kind, m, n, k, OURS) for stage in work.ours(op) for m, n, k in work.problems(kind)]


def cases_beside_libraries(work):
    cases = []
    for kind in "dz":
        cases += library_cases("tsmttsm", kind, work) + cases_of_our_best("tsmttsm", kind, work)
        # Which is far behind, and slow to measure.
        cases += [case("tsm/02", kind, m, n, k, SPLIT_K) for m, n, k in work.problems(kind) if (m, n, None) in LIBRARIES]
    return cases


def cases_of_option(option, values):
    def cases(work):
        return [c for value in values for c in tagged(work.candidates("tsm/12", "d", 2, f"--{option}", value), str(value))]
    return cases


def cases_beside_library_of_tsmm(work):
    cases = []
    for kind in "dz":
        cases += library_cases("tsmm", kind, work)
        cases += cases_of_our_best("tsmm", kind, work)
        cases += [case(stage, kind, m, n, k, stage) for stage in GENERATED["tsmm"] for m, n, k in work.problems(kind)
                  if (m, n, None) in (*LIBRARIES, *REMAINDERS)]
    return cases


def cases_of_map(work):
    return [case(stage, kind, m, n, k, PRODUCTS[op]) for op, kind in itertools.product(PRODUCTS, "dz") for stage in work.ours(op)
            for m, n, k in work.problems(kind, lambda m, n: 2 * (m + n))]


# ---- the list

SOURCES, UNROLLS, ROW_THREADS = ("registers", "global", "shared"), (1, 2, 3, 4), (1, 2, 4, 8, 16)

EXPERIMENTS = {
    "E2": Experiment("TSMTTSM: cuBLAS, of the roofline", "a gap of 2 to 50 times to the roofline, but for M = N = 1 (figure 3)",
                     cases_of_library, LIBRARIES, (), kind="shares", needs_gpu="it times cuBLAS"),
    "E3": Experiment("TSMTTSM: leapfrogging and transposed tiles", "leapfrogging clearly faster; transposed a little with it, the slowest without; "
                     "at most 4700 GFLOP/s, two thirds of the peak (figure 14)",
                     cases_of_order, COARSE, squares(8), best=True),
    "E4": Experiment("TSMTTSM: tiles at M = N = 32", "the best tiles lie on or just below the lines of 128 and 256 registers; powers of two stand out (figure 15)",
                     cases_of_tiles, squares(32), squares(4), kind="tiles"),
    "E8": Experiment("TSMTTSM: what a reduction costs, by K", "M = N = 4: local below 10 %, next to nothing from K = 10^6; M = N = 64: both below 10 % "
                     "just above K = 10^4 (figure 18)", cases_of_reductions, squares(1, 4, 16, 32, 64), squares(4), kind="reductions"),
    "E9": Experiment("TSMTTSM: libraries", "cuBLAS and CUTLASS far below, but for M = N = 1 (figure 17)", cases_beside_libraries, DIAGONAL, squares(4),
                     kind="shares", best=True),
    "E10": Experiment("TSMM: where C comes from", "registers for small M only; shared memory a little better than the L1 cache, most where 4 does not divide M "
                      "(figure 19)", cases_of_option("c-source", SOURCES), COARSE, squares(8), best=True, legend="C from"),
    "E11": Experiment("TSMM: rows at a time", "2 are clearly better than 1, more add little (figure 20)", cases_of_option("unroll", UNROLLS), COARSE,
                      squares(8), best=True, legend="rows at a time"),
    "E12": Experiment("TSMM: threads for a row", "1 and 2 the slowest; 4, 8 and 16 alike, the larger the steadier (figure 21)",
                      cases_of_option("threads-per-row", ROW_THREADS), COARSE, squares(8), best=True,
                      legend="threads a row"),
    "E13": Experiment("TSMM: libraries, and widths that 4 does not divide", "cuBLAS very good for real numbers but where M is very small, with a drop for "
                      "complex ones of medium width (figure 22); multiples of 4 the best", cases_beside_library_of_tsmm,
                      DIAGONAL, squares(4, 5), kind="shares", best=True),
    "E14": Experiment("all M and N: our best, of the roofline", "M = N only", cases_of_map, tuple((m, n, None) for m in GRID for n in GRID),
                      ((5, 3, None),), kind="map", best=True, source="ours"),
}


def cases_of(name, gemm, sizes, executor=False):
    """The cases, those of a problem one after another; and the stages that the build has not. (The executor has no library.)"""
    experiment = EXPERIMENTS[name]
    work = Work(gemm, sizes or (experiment.small if executor else experiment.sizes), executor)
    cases = [c for c in experiment.cases(work) if not (executor and c["stage"] == "library")]
    present = [c for c in cases if c["stage"] == "library" or c["stage"].split("_")[0] in work.known]
    problem = lambda c: (operation(c), c["type"], c["m"], c["n"], c["k"])
    return sorted(present, key=problem), sorted({c["stage"] for c in cases} - {c["stage"] for c in present})


def operation(c):
    return c.get("op") or ("tsmm" if c["stage"].split("_")[0] in (*GENERATED["tsmm"], PICKED["tsmm"]) else "tsmttsm")


def text_of(cases):
    return "".join(json.dumps(c) + "\n" for c in cases)


# ---- running


def short(line):
    """What tables and plots need of a result of `gemm batch`."""
    c = line["case"]
    r = {"series": c["tag"]["series"], "stage": c["stage"], "op": operation(c), **{key: c[key] for key in ("type", "m", "n", "k")},
         "status": line["status"]}
    for key in ("reason", "gbytes_s", "gflops", "pct_roofline", "pct_tensor_roofline", "registers", "local_bytes"):
        if key in line:
            r[key] = round(line[key], 3) if isinstance(line[key], float) else line[key]
    if "kernel_options" in line:
        r["options"] = line["kernel_options"]
    if "kernel_stage" in line:
        r["kernel_stage"] = line["kernel_stage"]
    if "cycles" in c["tag"]:
        r["cycles"] = c["tag"]["cycles"]
    if "time_ms" in line:
        r["ms"] = line["time_ms"]["median"]
    if "counts" in line:
        counts = line["counts"]
        r.update(share_of_fp64_peak=round(line["predicted"].get("share_of_fp64_peak", 0), 4), store_sectors=counts["global_store"]["sectors"],
                 atomics=counts["global_atomic"]["requests"])
    return r


def merit(r):
    """The larger the better: speed; on the executor, what the counts allow."""
    return 1 / r["ms"] if "ms" in r else r.get("share_of_fp64_peak", 0)


def best_of(results):
    """Of the results of a series on a problem the best, with the number of those that were tried; and all that failed."""
    groups = {}
    for r in results:
        if r["status"] == "fail":
            groups[len(groups), ] = [r]
        else:
            groups.setdefault((r["series"], r["op"], r["type"], r["m"], r["n"], r["k"]), []).append(r)
    return [{**max(group, key=merit), "tried": len(group)} for group in groups.values()]


def provenance(run):
    return {key: run[key] for key in ("device", "driver", "cuda", "cublas", "compiler", "commit", "ceilings", "sm_count") if key in run}


def perform(gemm, name, sizes, seconds, executor):
    """(exit status, record)"""
    experiment = EXPERIMENTS[name]
    cases, missing = cases_of(name, gemm, sizes, executor)
    if missing:
        print(f"note: {name}: not in this build, left out: {', '.join(missing)}", file=sys.stderr)
    record = {"experiment": name, "title": experiment.title, "source": experiment.source, "executor": executor, "missing": missing, "results": []}
    if not cases:
        return 0, record
    with tempfile.TemporaryDirectory() as folder:
        listed, out = pathlib.Path(folder, "cases.jsonl"), pathlib.Path(folder, "results.jsonl")
        listed.write_text(text_of(cases))
        how = ["--no-time"] if executor else ["--seconds", str(seconds or 0.01)]
        lines, had, status = [], -1, 0
        while had < len(lines) < len(cases):  # again, behind a kernel that has crashed the device
            had = len(lines)
            done = subprocess.run([gemm, "batch", listed, "--out", out, "--no-exact", *how], stdout=subprocess.DEVNULL)
            if not out.exists():
                sys.exit(done.returncode or 1)  # it has said why
            status = max(status, done.returncode)
            first, *lines = map(json.loads, out.read_text().splitlines())
    results = [short(line) for line in lines]
    record = {**record, **provenance(first["run"]), "results": best_of(results) if experiment.best else results}
    return status, record


def record_text(record):
    """JSON with a line for each result."""
    head = {key: value for key, value in record.items() if key != "results"}
    return json.dumps(head)[:-1] + ', "results": [\n ' + ",\n ".join(map(json.dumps, record["results"])) + "\n]}\n"


# Nsight Compute's names: ours.
DRAM = {"dram__bytes_read.sum": "dram_read_bytes", "dram__bytes_write.sum": "dram_written_bytes"}
BUSY = {"smsp__cycles_elapsed.avg.per_second": "clock_hz", "sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active": "fp64_pct",
        "sm__pipe_tensor_op_dmma_cycles_active.avg.pct_of_peak_sustained_active": "tensor_pct",
        "dram__throughput.avg.pct_of_peak_sustained_elapsed": "dram_pct"}


@dataclasses.dataclass
class Counted:
    """What Nsight Compute reads of an experiment's kernels."""
    title: str
    metrics: dict
    kernels: str  # in its words: each case launches one of them once
    sizes: tuple
    cases: object  # function(Work)


def counted_of_dram(work):
    """The stages that generate TSMM's kernels, a gigabyte of A."""
    return [case(stage, "d", m, n, k, stage) for m, n, k in work.problems("d", lambda m, n: 4 * max(m, n))
            for stage in GENERATED["tsmm"] if stage in work.known]


def counted_of_pipelines(work):
    """Stages with a pipeline: plain cores, Tensor Cores."""
    return [case(stage, kind, m, n, k, stage) for stages in GENERATED.values() for stage in stages[1:] if stage in work.known for kind in TYPES
            for m, n, k in work.problems(kind)]


COUNTED = {
    "E9": Counted("The clock, and what is busy, while kernels with a pipeline run", BUSY, "regex:^tsm(m|ttsm)_(pipeline|tensor)",
                  squares(16, 24, 32, 40, 48, 50, 57, 60, 64), counted_of_pipelines),
    "E13": Counted("TSMM: bytes of device memory by width", DRAM, "regex:^tsmm", REMAINDERS, counted_of_dram),
}


def perform_ncu(gemm, name, sizes):
    """What Nsight Compute reads of an experiment's kernels (COUNTED)."""
    import counters
    counted = COUNTED[name]
    cases = counted.cases(Work(gemm, sizes or counted.sizes))
    if not cases:
        return {"results": []}
    with tempfile.TemporaryDirectory() as folder:
        listed, out = pathlib.Path(folder, "cases.jsonl"), pathlib.Path(folder, "results.jsonl")
        listed.write_text(text_of(cases))
        launches = counters.read_launches([gemm, "batch", listed, "--out", out, "--no-exact", "--no-time"], counted.metrics, len(cases),
                                          counted.kernels)
        first, *lines = map(json.loads, out.read_text().splitlines())
    missing = [metric for metric in counted.metrics if any(metric not in found for _, _, found in launches)]
    if missing:
        sys.exit(f"error: ncu gave no {' and no '.join(missing)}")
    wrong = [line["case"] for line in lines if line["status"] != "pass"]
    if wrong or len(launches) != len(lines):
        sys.exit(f"error: {len(launches)} launches were counted of {len(lines)} cases; not right: {json.dumps(wrong)}")
    results = []
    for line, (_, _, found) in zip(lines, launches):
        results.append({**short(line), **{ours: found[metric] for metric, ours in counted.metrics.items()}})
    return {"experiment": name, "title": counted.title, "source": PAPER, "executor": False, "missing": [],
            **provenance(first["run"]), "results": results}


# ---- tables: head and rows of text, and sentences below them


def number(x, digits=3):
    return "-" if x is None else f"{x:,.0f}" if abs(x) >= 100 else f"{x:.{digits}g}"


def percent(x):
    return "-" if x is None else f"{x:.1f} %"


class View:
    """The results of a record by series, type and size."""

    def __init__(self, record):
        self.record, self.executor = record, record["executor"]
        self.results = [r for r in record["results"] if r["status"] != "fail"]
        self.series = list(dict.fromkeys(r["series"] for r in self.results))
        self.types = [kind for kind in "dz" if any(r["type"] == kind for r in self.results)]
        self.found = {(r["series"], r["type"], r["m"], r["n"], r["k"]): r for r in self.results}
        self.sizes = sorted({(r["m"], r["n"]) for r in self.results})

    def at(self, series, kind, m, n, k=None):
        return next((r for r in self.results if (r["series"], r["type"], r["m"], r["n"]) == (series, kind, m, n) and k in (None, r["k"])), None)

    def cell(self, r):
        """% of the roofline; on the executor the share of the FP64 peak that the counts allow; else what the check says."""
        if not r:
            return "-"
        if "pct_roofline" in r:
            return percent(r["pct_roofline"])
        if "share_of_fp64_peak" in r:
            return percent(100 * r["share_of_fp64_peak"])
        return f"{r['status']}: {r.get('reason', '')}"[:60].removesuffix(": ")


def size_text(m, n):
    return str(m) if m == n else f"{m} x {n}"


def options_text(r):
    o = r.get("options", {})
    if "tile_m" in o:
        return f"{o['tile_m']} x {o['tile_n']}, U {o['unroll']}"
    if "c_source" in o:
        return f"t {o['threads_per_row']}, U {o['unroll']}, {o['c_source']}"
    return "-"


def below(record, *more):
    experiment = EXPERIMENTS[record["experiment"]]
    if record["executor"]:
        where = (f"{record['device']}, commit {record['commit']}: checked and counted; in place of speeds, the share of the FP64 peak that the "
                 "counts allow. Speeds need a GPU.")
    else:
        where = f"{record['device']}, driver {record['driver']}, CUDA {record['cuda']}, commit {record['commit']}; medians, warm cache."
    wrong = [r for r in record["results"] if r["status"] == "fail"]
    failed = [f"{len(wrong)} WRONG, the first: {wrong[0]['series']}, {wrong[0]['m']} x {wrong[0]['n']}: {wrong[0].get('reason', '')}."] if wrong else []
    missing = [f"Not in this build: {', '.join(record['missing'])}."] if record["missing"] else []
    theirs = [f"The paper, V100: {experiment.theirs}."]
    return [where, *failed, *missing, *more, *theirs]


def table_shares(view):
    """A column for each series and type."""
    columns = [(series, kind) for series in view.series for kind in view.types]
    rows = []
    for m, n in view.sizes:
        rows.append([size_text(m, n), *(view.cell(view.at(series, kind, m, n)) for series, kind in columns)])
    names = [f"{series}, {TYPES[kind]}" for series, kind in columns]
    return [(["M = N", *names], rows)], below(
        view.record, "Of the roofline with the plain FP64 cores, which cuBLAS may pass with Tensor Cores." if not view.executor else "")


def table_curves(view):
    """A column for each series, and which was the best with which options."""
    rows = []
    for m, n in view.sizes:
        found = [view.at(series, "d", m, n) for series in view.series]
        best = max((r for r in found if r and merit(r) > 0), key=merit, default=None)
        rows.append([size_text(m, n), *map(view.cell, found), best["series"] if best else "-", options_text(best) if best else "-",
                     number(best.get("gflops")) if best else "-"])
    legend = EXPERIMENTS[view.record["experiment"]].legend
    names = [f"{legend} {view.series[0]}" if legend else view.series[0], *view.series[1:]]
    return [(["M = N", *names, "best", "its kernel", "GFLOP/s"], rows)], below(
        view.record, "" if view.executor else "Of each, the best of the kernels that the model takes for the best, as a share of the roofline.")


def table_tiles(view):
    tables = []
    for kind in view.types:
        of_type = sorted((r for r in view.results if r["type"] == kind and merit(r) > 0), key=merit, reverse=True)
        rows = []
        for r in of_type[:12]:
            tm, tn = r["options"]["tile_m"], r["options"]["tile_n"]
            rows.append([f"{tm} x {tn}", str(register_line(tm, tn, kind)), str(r.get("registers", "-")), str(r.get("local_bytes", "-")),
                         number(r.get("gflops")), view.cell(r)])
        tables.append(([f"{TYPES[kind]}: tile", "registers by the line", "as compiled", "spilled bytes", "GFLOP/s", "share"], rows))
    tiles = len(view.results)
    return tables, below(view.record, f"The best 12 of each type, of {tiles} tiles.")


def floor_us(record, m, n, k):
    """Two empty launches, and A and B, of doubles, at the read bandwidth."""
    ceilings = record["ceilings"]
    return 2 * ceilings["launch_us"] + ELEMENT["d"] * (m + n) * k / ceilings["read_gbs"] / 1e3


def lengths_of(view, m, n):
    return sorted({r["k"] for r in view.results if (r["m"], r["n"]) == (m, n)})


def relative(view, m, n, k, series):
    """Speed, as a share of that without a reduction; None if either was not timed."""
    times = [(view.at(s, "d", m, n, k) or {}).get("ms") for s in (NO_REDUCTION, series)]
    return 100 * times[0] / times[1] if all(times) else None


def reductions_of(view):
    """The series that are reductions, and no other kernels."""
    return [s for s in view.series if s not in (NO_REDUCTION, OURS, LIBRARY)]


def table_reductions(view):
    tables, series = [], reductions_of(view)
    others = [s for s in ("ordered", OURS, LIBRARY) if s in view.series]  # of which times are told
    for m, n in view.sizes:
        rows = []
        for k in lengths_of(view, m, n):
            bare = view.at(NO_REDUCTION, "d", m, n, k) or {}
            if view.executor:
                rows.append([f"{k:,}", bare.get("status", "-"), *(f"{r['status']}, {r['atomics']:,}" if (r := view.at(s, "d", m, n, k)) else "-" for s in series)])
                continue
            timed = [(view.at(s, "d", m, n, k) or {}).get("ms") for s in others]
            rows.append([f"{k:,}", number(bare["ms"] * 1e3) if "ms" in bare else "-", *(percent(relative(view, m, n, k, s)) for s in series),
                         *(number(ms * 1e3) if ms else "-" for ms in timed), number(floor_us(view.record, m, n, k))])
        head = (["no reduction", *(f"{s}: check, requests of atomic additions" for s in series)] if view.executor else
                ["no reduction, us", *series, *(f"{s}, us" for s in others), "2 launches + bytes, us"])
        tables.append(([f"M x N = {m} x {n}: K", *head], rows))
    return tables, below(view.record, "The kernel without a reduction is incorrect on purpose: blocks add up their slices' sums and leave them; C is not written.")


def table_map(view):
    if view.executor:
        rows = [[r["series"], TYPES[r["type"]], f"{r['m']} x {r['n']}", r["status"], view.cell(r)] for r in view.results]
        return [(["product", "type", "M x N", "check", "share"], rows)], below(view.record)
    rows = []
    for series, kind in itertools.product(view.series, view.types):
        its = [r for r in view.results if (r["series"], r["type"]) == (series, kind) and "pct_roofline" in r]
        if not its:
            continue
        least = min(its, key=lambda r: r["pct_roofline"])
        rows.append([f"{series}, {TYPES[kind]}", str(len(its)), percent(statistics.median(r["pct_roofline"] for r in its)),
                     f"{percent(least['pct_roofline'])} at {least['m']} x {least['n']}",
                     *(str(sum(r["pct_roofline"] >= limit for r in its)) for limit in (90, 80, 60))])
    return [(["product", "sizes", "median", "least", "90 % and more", "80 % and more", "60 % and more"], rows)], below(
        view.record, "Of the roofline with the plain FP64 cores.")


def tables(record):
    """([(head, rows)...], sentences)"""
    found, notes = globals()["table_" + EXPERIMENTS[record["experiment"]].kind](View(record))
    return found, [note for note in notes if note]


def table_busy(record):
    """The clock, and how busy the multiplying cores and device memory are, by width."""
    columns, rows = list(dict.fromkeys((r["stage"], r["type"]) for r in record["results"])), []
    for m, n in sorted({(r["m"], r["n"]) for r in record["results"]}):
        row = [size_text(m, n)]
        for stage, kind in columns:
            r = next((r for r in record["results"] if (r["stage"], r["type"], r["m"], r["n"]) == (stage, kind, m, n)), None)
            row.append(f"{r['clock_hz'] / 1e9:.2f}, {max(r['fp64_pct'], r.get('tensor_pct', 0)):.0f}, {r['dram_pct']:.0f}" if r else "-")
        rows.append(row)
    return ["M = N", *(f"{stage}, {TYPES[kind]}" for stage, kind in columns)], rows


TABLES_OF_COUNTED = {"E9": table_busy, "E13": lambda record: table_dram(record)}


def table_dram(record):
    """Bytes read of A's and written of B's, by width."""
    stages, rows = list(dict.fromkeys(r["stage"] for r in record["results"])), []
    for m, n in sorted({(r["m"], r["n"]) for r in record["results"]}):
        row = [size_text(m, n), str(m % 4)]
        for stage in stages:
            r = next((r for r in record["results"] if (r["stage"], r["m"], r["n"]) == (stage, m, n)), None)
            row += [f"{r['dram_read_bytes'] / (8 * m * r['k']):.2f}", f"{r['dram_written_bytes'] / (8 * n * r['k']):.2f}"] if r else ["-", "-"]
        rows.append(row)
    head = ["M = N", "M mod 4", *(f"{stage}: {what}" for stage in stages for what in ("read, of A's bytes", "written, of B's bytes"))]
    return head, rows
