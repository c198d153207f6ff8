"""The probes of docs/tensorcore/: 04, 05, 06a, 06b."""

from tools.pages.data import Data
from tools.pages.notes import counted_by, measured_on
from tools.pages.records.tensor import NOT_MEASURED, measured
from tools.pages.records.tensor_probes import (
    figure_of,
    map_path,
    not_timed,
    pairs_of,
    part,
    probe_run,
    ratio_of,
    task_series,
)
from tools.repository import Json, read_json
from tools.tables import table

# Of 05: whose speeds are compared, and the columns' names.
SCANS = {
    "registers / shared, once": ("registers, once", "shared, once"),
    "each": ("registers, each", "shared, each"),
    "registers, once / cub": ("registers, once", "cub"),
}


def block_fragment_registers(data: Data) -> list[str]:
    """Registers that a lane needs for the same matrix."""
    run = read_json(map_path())
    rows = [[r["matrix"], str(r["wmma"]), str(r["mma"])] for r in part(run, "registers")]
    notes = ["", f"32-bit registers of a lane, by the types' sizes. {measured_on(run)}."]
    return table(["matrix", "wmma", "mma.sync"], rows) + notes


def block_fragment_measured(data: Data) -> list[str]:
    """What a GPU said of its maps."""
    run = probe_run("04_fragment_map", "measured")
    if not run:
        return NOT_MEASURED
    found = [r["status"] for r in part(run, "map")]
    row = [str(n) for n in (len(found), *(found.count(status) for status in ("pass", "skip", "fail")))]
    tiles = "wmma's tiles are mma.sync's"
    head = ["kinds of fragments", "found, and as both tables say", "not on this GPU", "elsewhere", tiles]
    return table(head, [[*row, part(run, "tiles")[0]["status"]]], left=[tiles]) + [
        "",
        f"{run['device']}, sm_{run['compute_capability']}, CUDA {run['cuda']}, commit {run['commit']}.",
    ]


def block_scan_counted(data: Data) -> list[str]:
    """What the executor counted for a tile of 256 numbers, and what nvcc makes of the kernels."""
    run = probe_run("05_scan", "counted")
    counted = []
    for r in part(run, "batch"):
        if "counts" in r:
            tiles, c = r["bytes"] / 1536, r["counts"]
            requests = ("global_load_requests", "global_store_requests", "shared_requests", "shared_wavefronts")
            cells = [f"{c[key] / tiles:.3g}" for key in requests]
            counted.append([f"{r['task']}: {r['form']}", *cells, str(c["shared_bytes"])])
    code = []
    for r in part(run, "code"):
        accesses = ", ".join(f"{n} {name}" for name, n in r["accesses"].items())
        of_kernel = [str(r[key]) for key in ("shared", "registers", "spilled")]
        code.append([f"`{r['kernel']}`", accesses, str(r["loop_instructions"] or "-"), *of_kernel])
    return [
        *table(
            [
                "counted for a tile of 256 numbers",
                "global loads",
                "global stores",
                "requests to shared memory",
                "wavefronts of them",
                "shared memory of a block, bytes",
            ],
            counted,
        ),
        "",
        f"{counted_by(run)}.",
        "",
        *table(
            [
                "nvcc, for sm_90a",
                "memory instructions",
                "instructions of the loop",
                "shared memory, bytes",
                "registers",
                "bytes spilled",
            ],
            code,
            left=["nvcc, for sm_90a", "memory instructions"],
        ),
    ]


def block_transform_counted(data: Data, name: str) -> list[str]:
    """What the executor counted for one matrix of 06a or 06b, and what nvcc makes of the kernels."""
    run = probe_run(name, "counted")
    counted = []
    for r in part(run, "batch"):
        n, c = r["batch"], r["counts"]
        of_global = [
            f"global_{operation}_{what}" for operation in ("load", "store") for what in ("requests", "sectors")
        ]
        cells = [f"{c[key] / n:.3g}" for key in (*of_global, "shared_requests", "shared_wavefronts")]
        cells += [str(c["shared_bytes"]), f"{c['tensor_flops'] / n:,.0f}"]
        counted.append([f"{r['task']}: {r['form']}", *cells])
    code = []
    for r in part(run, "code"):
        accesses = ", ".join(f"{n} {kind}" for kind, n in r["accesses"].items())
        of_kernel = [str(r[key]) for key in ("shared", "registers", "local")]
        code.append([f"`{r['kernel']}`", str(r["instructions"]), accesses, *of_kernel])
    return [
        *table(
            [
                "counted for a matrix",
                "global loads",
                "sectors of them",
                "global stores",
                "sectors of them",
                "requests to shared memory",
                "wavefronts of them",
                "shared memory of a block, bytes",
                "flops of Tensor Cores",
            ],
            counted,
        ),
        "",
        f"{counted_by(run)}.",
        "",
        *table(
            [
                "nvcc, for sm_90a",
                "instructions",
                "memory instructions",
                "shared memory, bytes",
                "registers",
                "local memory of a thread, bytes",
            ],
            code,
            left=["nvcc, for sm_90a", "memory instructions"],
        ),
    ]


def block_probe_shared(data: Data, probe: str) -> list[str]:
    """What Nsight Compute counted of shared memory in a probe's kernels."""
    run = measured("probe_counters")
    if not run or probe not in run["probes"]:
        return NOT_MEASURED
    rows = []
    for kernel, its in run["probes"][probe].items():
        wavefronts = its["shared_load_wavefronts"] + its["shared_store_wavefronts"]
        numbers = (its["shared_load_requests"], its["shared_store_requests"], wavefronts)
        rows.append([f"`{kernel}`", *(f"{x:,.0f}" for x in numbers)])
    head = ["kernel", "loads from shared memory, without ldmatrix", "stores", "wavefronts, those of ldmatrix too"]
    return table(head, rows) + ["", f"Nsight Compute, of the launch with most; {measured_on(run)}."]


def batch_tables(run: Json, pairs: dict[str, tuple[str, str]] | None, between: tuple[str, str]) -> list[str]:
    """For each task the speeds of all forms over the size of the batch. pairs: by the columns' names, the forms that
    are compared (None: those of 06a and 06b that there are); between: forms and their registers."""
    lines = []
    for task, batches in task_series(run).items():
        first = next(iter(batches.values()))
        compared = {" / ".join(pair): pair for pair in pairs_of(first)} if pairs is None else pairs
        rows = []
        for batch, by_form in batches.items():
            its = next(iter(by_form.values()))
            cells = [
                f"{r['gbs']:,.0f} ({r['pct_copy']:.0f} %)" if "gbs" in r else r["status"] for r in by_form.values()
            ]
            ratios = [ratio_of(by_form, pair) for pair in compared.values()]
            cells += ["-" if ratio is None else f"{ratio:.2f}" for ratio in ratios]
            rows.append([f"{batch:,}", f"{its['bytes'] / 1e6:,.3g}", f"{its['predicted_ms'] * 1e3:,.3g}", *cells])
        separator, of = between
        registers = separator.join(f"{form}{of}{r['registers']}" for form, r in first.items() if "registers" in r)
        lines += table([f"{task}, GB/s", "MB", "floor, us", *first, *compared], rows, left=())
        lines += ["", f"Registers of a thread: {registers}.", ""]
    return [
        *lines,
        f"{measured_on(run)}, medians, warm cache (L2: {run['l2_bytes'] / 1e6:.0f} MB); percent of the copy's "
        f"{run['ceilings']['copy_gbs']:,.0f} GB/s in the same run.",
        "",
    ]


def block_transform_measured(data: Data, name: str) -> list[str]:
    """The speeds of all forms of 06a or 06b, over the size of the batch."""
    run = probe_run(name, "measured")
    if not run:
        return NOT_MEASURED
    lines = batch_tables(run, None, ("; ", ": "))
    if missing := not_timed(name):
        probe = f"tensorcore/{name.split('_')[0]}"
        forms = ", ".join(f"*{form}*" for form in missing)
        lines += [f"Not measured yet: {forms}. `./lab probe {probe} --time --json FILE` does it.", ""]
    return [*lines, f"![speed-up over the batch](../figures/{figure_of(name)})"]


def block_scan_measured(data: Data) -> list[str]:
    """The speeds of all forms of 05, over the size of the batch."""
    run = probe_run("05_scan", "measured")
    if not run:
        return NOT_MEASURED
    return [*batch_tables(run, SCANS, (", ", " ")), "![speed over the batch](../figures/scan_speed.svg)"]
