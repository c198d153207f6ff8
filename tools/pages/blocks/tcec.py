"""FP32 products on Tensor Cores: residuals, batches, traffic."""

from collections.abc import Callable

from tools.pages.data import Data
from tools.pages.notes import measured_on, not_measured
from tools.pages.records.launches import shared_bytes
from tools.pages.records.tcec import (
    OUR_N,
    PAPERS_BATCH,
    PAPERS_CUTLASS,
    PAPERS_N,
    accuracy_path,
    batched_errors,
    batched_name,
    batched_speeds,
    best_batched,
    bounds_of,
    cutlass,
    papers_library,
    peers,
    residuals,
    short_name,
)
from tools.pages.records.tensor import NOT_MEASURED, SPECIFIED, measured, measured_chip
from tools.repository import Json, read_json
from tools.tables import table


def block_tcec_accuracy(data: Data, stage: str) -> list[str]:
    """Residuals of a stage and its variants, and of FP32, over K."""
    run = read_json(accuracy_path())
    lines = []
    for distribution, by_stage in residuals(run).items():
        first = next(iter(by_stage))
        its = [s for s in by_stage if s == first or s.split(":")[0] == data.stage(stage)]
        depths = sorted({k for s in its for k in by_stage[s]})
        rows = []
        for s in its:
            name = f"FP32: `{short_name(s)}`" if s == first else f"`{short_name(s)}`"
            rows.append([name, *(f"{by_stage[s][k]:.1e}" if k in by_stage[s] else "" for k in depths)])
        lines += [*table([distribution, *(f"K = {k:,}" for k in depths)], rows), ""]
    return [*lines, f"Relative Frobenius residual against FP64, M = N = {run['size']}: {measured_on(run)}."]


def block_tensor_batched(data: Data) -> list[str]:
    """Figure 8 of the paper: a batch of 256 products, over k."""
    speeds, run = batched_speeds()
    if not run:
        return NOT_MEASURED
    depths, papers = sorted({k for of in speeds.values() for k in of}), papers_library()
    rows = [[batched_name(s), *(f"{of[k]:.1f}" if k in of else "" for k in depths)] for s, of in speeds.items()]
    rows.append(["the paper's library", *(f"{papers[k]:.1f}" if k in papers else "" for k in depths)])
    ours = [of for s, of in speeds.items() if s.startswith(("tensorcore/10", "tensorcore/11"))]
    gains = [f"{max(of[k] for of in ours if k in of) / papers[k]:.2f} x" if k in papers else "" for k in depths]
    rows.append(["the best of 10 and 11, beside it", *gains])
    return table(["TFLOP/s, 256 x (1,024 x 1,024 x k)", *(f"k = {k:,}" for k in depths)], rows) + [
        "",
        f"{measured_on(run)}, all checked; FP32 cores have {run['ceilings']['ffma_gflops'] / 1e3:.1f} TFLOP/s. "
        + peer_named(peers(), "ootomo"),
    ]


def peer_named(found: Json, name: str) -> str:
    """Where a library's figures come from."""
    peer = found[name]
    where = f" on an {found['device']}" if "device" in found else ""
    return f"The library: {peer['source']}, commit {peer['revision'][:12]}{where}." if "source" in peer else ""


def block_tensor_cutlass(data: Data) -> list[str]:
    """CUTLASS's emulation on the batches of Figure 8, beside stage 12, the paper's library and cuBLAS."""
    speeds, run = batched_speeds()
    if not run:
        return NOT_MEASURED
    found, peer, library = cutlass(), peers()["cutlass_tcec"], papers_library()
    ours = next(of for s, of in speeds.items() if s == data.stage("tensorcore/12"))
    fp32 = next(of for s, of in speeds.items() if s.startswith("cublas/fp32"))
    residuals = batched_errors("frobenius")[data.stage("tensorcore/12")]
    depths = sorted(found)

    def row(title: str, of: dict[int, float], form: str = ".1f") -> list[str]:
        return [title, *(format(of[k], form) if k in of else "" for k in depths)]

    tflops = {k: r["tflops"] for k, r in found.items()}
    bounds = [run["ceilings"][peak] / 3e3 for peak in ("tmma_gflops", "hmma_gflops")]
    rows = [
        row("CUTLASS, three products of TF32", tflops),
        row("12_batched, three products of FP16", ours),
        row("the paper's library, three products of FP16", library),
        row("cuBLAS FP32", fp32),
        row("12_batched / CUTLASS", {k: ours[k] / tflops[k] for k in depths if k in ours}, ".2f"),
        row("the paper's library / CUTLASS", {k: library[k] / tflops[k] for k in depths if k in library}, ".2f"),
        row("CUTLASS, % of its bound", {k: 100 * speed / bounds[0] for k, speed in tflops.items()}, ".0f"),
        row("12_batched, % of its bound", {k: 100 * ours[k] / bounds[1] for k in depths if k in ours}, ".0f"),
        row("residual: CUTLASS", {k: r["relative_residual"] for k, r in found.items()}, ".1e"),
        row("residual: 12_batched", residuals, ".1e"),
        ["CUTLASS's tile of a block", *(found[k]["config"].split(",")[0] for k in depths)],
    ]
    same = peer["same_run"]["tflops"][data.stage("tensorcore/12").split("_")[0]]
    again = ", ".join(f"{speed:.1f} at k = {int(k):,}" for k, speed in same.items())
    return [
        *table(["TFLOP/s, 256 x (1,024 x 1,024 x k)", *(f"k = {k:,}" for k in depths)], rows),
        "",
        f"Bounds by mma.sync: a third of the TF32 peak, {bounds[0]:.1f}, and of FP16, {bounds[1]:.1f} TFLOP/s. "
        f"{peers()['device']}. CUTLASS: {peer['source']}, commit {peer['revision'][:12]}; the fastest of "
        f"{max(r['tried'] for r in found.values())} configurations. 12_batched: commit {run['commit']}; in one session "
        f"with CUTLASS {again}.",
    ]


SHOWN, PAPERS = 12, "128x128x32-32x32x32-2"  # of the grid: the best, and the paper's


def block_tensor_blocking_grid(data: Data) -> list[str]:
    """The best of the grid of ./lab measure blockings, and the paper's blocking among them."""
    run = measured("blocking_grid")
    if not run:
        return not_measured("./lab measure blockings")
    speeds: dict[str, dict[int, float]] = {}
    for r in run["results"]:
        if r["stage"].startswith("tuning/12_") and "gflops" in r:
            speeds.setdefault(r["stage"].removeprefix("tuning/"), {})[r["problem"]["k"]] = r["gflops"] / 1e3
    depths = sorted({k for of in speeds.values() for k in of})
    ranked = sorted(speeds, key=lambda s: -speeds[s].get(depths[-1], 0))
    rows = []
    for place, stem in enumerate(ranked, 1):
        if place > SHOWN and not stem.endswith(PAPERS):
            continue
        copy = run["copies"][stem]
        rows.append(
            [
                f"{place}: `{stem.removeprefix('12_')}`" + (", the paper's" if stem.endswith(PAPERS) else ""),
                *(f"{speeds[stem][k]:.1f}" if k in speeds[stem] else "-" for k in depths),
                str(copy["registers"]),
                str(copy["spill_bytes"]),
                f"{copy['shared_bytes'] / 1024:.0f} KB",
            ]
        )
    head = [
        "place: block tile - fragment - tiles in shared memory",
        *(f"TFLOP/s at k = {k:,}" for k in depths),
        "registers",
        "bytes spilled",
        "shared memory",
    ]
    wrong = sum(r.get("status") == "fail" for r in run["results"])
    note = f"256 x (1,024 x 1,024 x k), {len(ranked)} blockings, {wrong or 'none'} wrong. {measured_on(run)}."
    return [*table(head, rows), "", note]


def block_tensor_instructions(data: Data) -> list[str]:
    """What the paper's library and stage 12 execute for a Tensor Core instruction."""
    found = peers()["instructions_of_1024"]
    names = {
        "tensorcore/12": "12_batched",
        "tensorcore/12:papers": "12_batched:papers",
        "ootomo": "the paper's library",
    }
    rows = [
        [name, str(of["threads"]), str(of["registers"]), f"{of['all'] / found['hmma']:.1f}"]
        for key, name in names.items()
        if (of := found.get(key))
    ]
    head = ["256 x (1,024 x 1,024 x 1,024)", "threads per block", "registers per thread", "instructions per HMMA"]
    commits = ", ".join(dict.fromkeys(of["commit"] for key in names if (of := found.get(key, {})).get("commit")))
    return [*table(head, rows), "", f"{peers()['device']}, Nsight Compute, commit {commits}."]


def block_tensor_batched_accuracy(data: Data) -> list[str]:
    """The other half of Figure 8: the residual and the largest relative error of the same batches, beside cuBLAS."""
    run, lines = measured("batched"), []
    if not run:
        return NOT_MEASURED
    for title, which in (("relative Frobenius residual", "frobenius"), ("largest relative error", "max_relative")):
        if not (found := batched_errors(which)):
            lines += [
                f"The {title} of an element: not measured. `docs/measurements/measure --steps tensor` does it.",
                "",
            ]
            continue
        depths = sorted({k for of in found.values() for k in of})
        rows = [[batched_name(s), *(f"{of[k]:.1e}" if k in of else "" for k in depths)] for s, of in found.items()]
        lines += [*table([title, *(f"k = {k:,}" for k in depths)], rows), ""]
    return [*lines, f"256 x (1,024 x 1,024 x k), uniform numbers, against FP64. {measured_on(run)}."]


def block_tcec_bounds(data: Data) -> list[str]:
    """What shared memory and Tensor Cores allow FP32 products with n = 32: the paper's 52.0 and 104.0 TFLOP/s, and
    ours; beside what was reached."""
    if not (ours := measured_chip()):
        return NOT_MEASURED
    name, chip = ours
    a100 = SPECIFIED["A100, 40 GB"]
    chips = {"A100, specified": a100, f"{name}, measured": chip}
    bounds, reached = [bounds_of(each) for each in chips.values()], [PAPERS_BATCH, best_batched("12:papers")]
    speeds = [r["tflops"] for r in cutlass().values()]

    def cell(x: float | None) -> str:
        return "not measured" if x is None else f"{x:.1f}"

    rows = [
        ["shared memory, n/12 flops per byte (split through it)", *(cell(b.through_shared) for b in bounds)],
        ["shared memory, n/4 flops per byte (split in registers)", *(cell(b.in_registers) for b in bounds)],
        ["Tensor Cores, a third of their FP16 peak", *(cell(b.tensor) for b in bounds)],
        ["**so at most, through shared memory**", *(f"**{cell(b.wmma)}**" for b in bounds)],
        ["**so at most, in registers**", *(f"**{cell(b.registers)}**" for b in bounds)],
        ["FP32 cores", cell(a100.fp32), cell(chip.fp32)],
        ["reached in batches of 256: the paper's kernel, `12:papers`", *map(cell, reached)],
        [
            "of the bound in registers",
            *(f"{100 * x / b.registers:.0f} %" if x else "not measured" for x, b in zip(reached, bounds)),
        ],
        ["stage 12, which has 32 x 64", "", cell(best_batched("12"))],
        ["through shared memory, at most, with 32 x 64", *(cell(bounds_of(c, OUR_N).wmma) for c in chips.values())],
        ["CUTLASS: in FP16, by the paper; in TF32, measured", f"{PAPERS_CUTLASS}", cell(max(speeds, default=None))],
    ]
    return table([f"TFLOP/s of FP32 products, n = {PAPERS_N}", *chips], rows) + [
        "",
        f"A100: the paper's Table 1 and section 4.4.2. {measured_on(measured('h'))}; Tensor Cores by `mma.sync`.",
    ]


def block_tensor_blockings(data: Data, stage: str) -> list[str]:
    """The variants of a stage on batches of 256."""
    run = measured("blockings")
    if not run:
        return NOT_MEASURED
    depths = sorted({r["problem"]["k"] for r in run["results"]})
    found: dict[str, dict[int, Json]] = {}
    for r in run["results"]:
        if r["stage"].split(":")[0] == data.stage(stage) and "gflops" in r:
            found.setdefault(r["stage"], {})[r["problem"]["k"]] = r
    rows = []
    for name, of in found.items():
        launch = max(next(iter(of.values()))["launches"], key=lambda its: its["registers"])
        speeds = [f"{of[k]['gflops'] / 1e3:.1f}" if k in of else "" for k in depths]
        needs = [
            str(launch["registers"]),
            str(launch["local_bytes"]),
            f"{launch['dynamic_shared_bytes'] / 1024:.0f} KB",
        ]
        rows.append([f"`{short_name(name)}`", *speeds, *needs])
    heads = [f"TFLOP/s at k = {k:,}" for k in depths]
    return table(["blocking", *heads, "registers", "bytes spilled", "shared memory a block"], rows) + [
        "",
        f"256 x (1,024 x 1,024 x k). {measured_on(run)}.",
    ]


def block_tcec_traffic(data: Data) -> list[str]:
    """What 08's fragments, split in registers, save of 07's traffic, as Nsight Compute and the runtime have it."""
    run, counters = measured("s"), measured("tcec_counters")
    stages = [data.stage(f"tensorcore/{number}") for number in ("07", "08")]
    if not run or not counters or any("l1_hit_pct" not in counters["sizes"]["4096"].get(stage, {}) for stage in stages):
        return NOT_MEASURED
    launches = {r["stage"]: r["launches"][0] for r in run["results"] if r["stage"] in stages}
    both = [(launches[stage], counters["sizes"]["4096"][stage]) for stage in stages]

    def wavefronts(count: Json) -> float:
        return (count["shared_load_wavefronts"] + count["shared_store_wavefronts"]) / count["hmma"]

    def row(title: str, value: Callable[[Json, Json], str]) -> list[str]:
        return [title, *(value(launch, count) for launch, count in both)]

    def share(title: str, key: str) -> list[str]:
        return row(title, lambda launch, count: f"{count[key]:.0f} %")

    rows = [
        row("shared memory of a block", lambda launch, count: f"{shared_bytes(launch):,} bytes"),
        row("registers of a thread", lambda launch, count: f"{launch['registers']}"),
        share("warps on an SM, of 64", "occupancy_pct"),
        row("wavefronts of shared memory, for a product", lambda launch, count: f"{wavefronts(count):.2f}"),
        share("L1 and shared memory busy", "wavefronts_pct_of_peak"),
        share("loads from global memory that hit L1", "l1_hit_pct"),
        share("issue slots used", "issue_slots_pct"),
        row(
            "warps waiting for global memory, for each that issues",
            lambda launch, count: f"{count['stall_long_scoreboard']:.1f}",
        ),
        share("Tensor pipe busy", "tensor_pipe_pct"),
    ]
    return table(["at 4,096", "07", "08"], rows) + ["", f"Nsight Compute, {measured_on(counters)}."]


def block_tcec_choices(data: Data, stage: str) -> list[str]:
    """What a stage that chooses took, and how precise it was, by the kind of numbers."""
    run = read_json(accuracy_path())
    its = [r for r in run["results"] if r["stage"] == data.stage(stage) and "residual" in r]
    if not its:
        return NOT_MEASURED
    first = run["results"][0]["stage"]
    fp32 = {(r["distribution"], r["k"]): r for r in run["results"] if r["stage"] == first}
    rows = []
    for r in its:
        if r["k"] in (16, 256, 4096, 65536):
            errors = [
                of[key] for key in ("residual", "max_of_magnitudes") for of in (r, fp32[r["distribution"], r["k"]])
            ]
            rows.append([r["distribution"], f"{r['k']:,}", r.get("policy", ""), *(f"{x:.1e}" for x in errors)])
    less = [r for r in its if r["status"] != "fp32"]
    but = ": not " + ", ".join(f"{r['distribution']} at K = {r['k']:,}" for r in less) if less else ""
    head = ["numbers", "K", "taken", "residual", "FP32's", "largest error, of \\|A\\|\\|B\\|", "FP32's"]
    return table(head, rows, left=["numbers", "taken"]) + [
        "",
        f"FP32: {batched_name(first)}. {len(its) - len(less)} of {len(its)} residuals are no larger than FP32's or "
        f"2⁻²³{but}. M = N = {run['size']}: {measured_on(run)}.",
    ]
