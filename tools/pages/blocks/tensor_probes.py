"""The probes of docs/tensorcore/: 04, 05, 06a, 06b."""

from tools.pages.data import Data
from tools.pages.records.tensor import NOT_MEASURED, measured
from tools.pages.records.tensor_probes import figure_of, map_path, pairs_of, part, probe_run, ratio_of, task_series
from tools.repository import read_json


def block_fragment_registers(data: Data) -> list[str]:
    """Registers that a lane needs for the same matrix."""
    run = read_json(map_path())
    return [
        "| matrix | wmma | mma.sync |",
        "|---|---:|---:|",
        *(f"| {r['matrix']} | {r['wmma']} | {r['mma']} |" for r in part(run, "registers")),
        "",
        f"32-bit registers of a lane, by the types' sizes. {run['device']}, commit {run['commit']}.",
    ]


def block_fragment_measured(data: Data) -> list[str]:
    """What a GPU said of its maps."""
    run = probe_run("04_fragment_map", "measured")
    if not run:
        return NOT_MEASURED
    maps = part(run, "map")
    same = sum(r["status"] == "pass" for r in maps)
    lines = [
        "| kinds of fragments | found, and as both tables say | not on this GPU | elsewhere | wmma's tiles are mma.sync's |",
        "|---:|---:|---:|---:|---|",
        f"| {len(maps)} | {same} | {sum(r['status'] == 'skip' for r in maps)} | {sum(r['status'] == 'fail' for r in maps)} | {part(run, 'tiles')[0]['status']} |",
    ]
    return lines + ["", f"{run['device']}, sm_{run['compute_capability']}, CUDA {run['cuda']}, commit {run['commit']}."]


def block_scan_counted(data: Data) -> list[str]:
    """What the executor counted for a tile of 256 numbers, and what nvcc makes of the kernels."""
    run = probe_run("05_scan", "counted")
    rows = []
    for r in part(run, "batch"):
        if "counts" in r:
            tiles, c = r["bytes"] / 1536, r["counts"]
            rows.append(
                f"| {r['task']}: {r['form']} | {c['global_load_requests'] / tiles:.3g} | {c['global_store_requests'] / tiles:.3g} | "
                f"{c['shared_requests'] / tiles:.3g} | {c['shared_wavefronts'] / tiles:.3g} | {c['shared_bytes']} |"
            )
    code = [
        f"| `{r['kernel']}` | {', '.join(f'{n} {name}' for name, n in r['accesses'].items())} | {r['loop_instructions'] or '-'} | {r['shared']} | {r['registers']} | {r['spilled']} |"
        for r in part(run, "code")
    ]
    return [
        "| counted for a tile of 256 numbers | global loads | global stores | requests to shared memory | wavefronts of them | shared memory of a block, bytes |",
        "|---|" + "---:|" * 5,
        *rows,
        "",
        f"CPU executor, {run['compiler']}, commit {run['commit']}.",
        "",
        "| nvcc, for sm_90a | memory instructions | instructions of the loop | shared memory, bytes | registers | bytes spilled |",
        "|---|---|---:|---:|---:|---:|",
        *code,
    ]


def block_transform_counted(data: Data, name: str) -> list[str]:
    """What the executor counted for one matrix of 06a or 06b, and what nvcc makes of the kernels."""
    run = probe_run(name, "counted")
    rows = []
    for r in part(run, "batch"):
        n, c = r["batch"], r["counts"]
        rows.append(
            f"| {r['task']}: {r['form']} | {c['global_load_requests'] / n:.3g} | {c['global_load_sectors'] / n:.3g} | "
            f"{c['global_store_requests'] / n:.3g} | {c['global_store_sectors'] / n:.3g} | {c['shared_requests'] / n:.3g} | "
            f"{c['shared_wavefronts'] / n:.3g} | {c['shared_bytes']} | {c['tensor_flops'] / n:,.0f} |"
        )
    code = [
        f"| `{r['kernel']}` | {r['instructions']} | {', '.join(f'{n} {kind}' for kind, n in r['accesses'].items())} | {r['shared']} | {r['registers']} | {r['spilled']} |"
        for r in part(run, "code")
    ]
    return [
        "| counted for a matrix | global loads | sectors of them | global stores | sectors of them | requests to shared memory | wavefronts of them | shared memory of a block, bytes | flops of Tensor Cores |",
        "|---|" + "---:|" * 8,
        *rows,
        "",
        f"CPU executor, {run['compiler']}, commit {run['commit']}.",
        "",
        "| nvcc, for sm_90a | instructions | memory instructions | shared memory, bytes | registers | bytes spilled |",
        "|---|---:|---|---:|---:|---:|",
        *code,
    ]


def block_probe_shared(data: Data, probe: str) -> list[str]:
    """What Nsight Compute counted of shared memory in a probe's kernels."""
    run = measured("probe_counters")
    if not run or probe not in run["probes"]:
        return NOT_MEASURED
    return [
        "| kernel | loads from shared memory, without ldmatrix | stores | wavefronts, those of ldmatrix too |",
        "|---|---:|---:|---:|",
        *(
            f"| `{kernel}` | {its['shared_load_requests']:,.0f} | {its['shared_store_requests']:,.0f} | {its['shared_load_wavefronts'] + its['shared_store_wavefronts']:,.0f} |"
            for kernel, its in run["probes"][probe].items()
        ),
        "",
        f"Nsight Compute, of the launch with most; {run['device']}, commit {run['commit']}.",
    ]


def block_transform_measured(data: Data, name: str) -> list[str]:
    """The speeds of all forms of 06a or 06b, over the size of the batch."""
    run = probe_run(name, "measured")
    if not run:
        return NOT_MEASURED
    lines = []
    for task, batches in task_series(run).items():
        forms = list(next(iter(batches.values())))
        pairs = pairs_of(forms)
        lines += [
            "| "
            + " | ".join([f"{task}, GB/s", "MB", "floor, us", *forms, *(" / ".join(pair) for pair in pairs)])
            + " |",
            "|---:" * (len(forms) + len(pairs) + 3) + "|",
        ]
        for batch, by_form in batches.items():
            first = by_form[forms[0]]
            cells = [
                f"{r['gbs']:,.0f} ({r['pct_copy']:.0f} %)" if "gbs" in r else r["status"] for r in by_form.values()
            ]
            ratios = [ratio_of(by_form, pair) for pair in pairs]
            lines.append(
                "| "
                + " | ".join(
                    [
                        f"{batch:,}",
                        f"{first['bytes'] / 1e6:,.3g}",
                        f"{first['predicted_ms'] * 1e3:,.3g}",
                        *cells,
                        *("-" if ratio is None else f"{ratio:.2f}" for ratio in ratios),
                    ]
                )
                + " |"
            )
        registers = "; ".join(
            f"{form}: {r['registers']}" for form, r in next(iter(batches.values())).items() if "registers" in r
        )
        lines += ["", f"Registers of a thread: {registers}.", ""]
    return lines + [
        f"{run['device']}, commit {run['commit']}, medians, warm cache (L2: {run['l2_bytes'] / 1e6:.0f} MB); percent of the copy's "
        f"{run['ceilings']['copy_gbs']:,.0f} GB/s in the same run.",
        "",
        f"![speed-up over the batch](../figures/{figure_of(name)})",
    ]


def block_scan_measured(data: Data) -> list[str]:
    """The speeds of all forms, over the size of the batch."""
    run = probe_run("05_scan", "measured")
    if not run:
        return NOT_MEASURED
    lines = []
    for task, batches in task_series(run).items():
        forms = list(next(iter(batches.values())))
        lines += [
            "| "
            + " | ".join(
                [
                    f"{task}, GB/s",
                    "MB",
                    "floor, us",
                    *forms,
                    "registers / shared, once",
                    "each",
                    "registers, once / cub",
                ]
            )
            + " |",
            "|---:" * (len(forms) + 6) + "|",
        ]
        for batch, by_form in batches.items():

            def ratio(faster: str, slower: str) -> str:
                both = [by_form[form].get("gbs") for form in (faster, slower)]
                return f"{both[0] / both[1]:.2f}" if all(both) else "-"

            first = by_form[forms[0]]
            cells = [
                f"{r['gbs']:,.0f} ({r['pct_copy']:.0f} %)" if "gbs" in r else r["status"] for r in by_form.values()
            ]
            lines.append(
                "| "
                + " | ".join(
                    [
                        f"{batch:,}",
                        f"{first['bytes'] / 1e6:,.3g}",
                        f"{first['predicted_ms'] * 1e3:,.3g}",
                        *cells,
                        ratio("registers, once", "shared, once"),
                        ratio("registers, each", "shared, each"),
                        ratio("registers, once", "cub"),
                    ]
                )
                + " |"
            )
        registers = ", ".join(
            f"{form} {r['registers']}" for form, r in next(iter(batches.values())).items() if "registers" in r
        )
        lines += ["", f"Registers of a thread: {registers}.", ""]
    return lines + [
        f"{run['device']}, commit {run['commit']}, medians, warm cache (L2: {run['l2_bytes'] / 1e6:.0f} MB); percent of the copy's "
        f"{run['ceilings']['copy_gbs']:,.0f} GB/s in the same run.",
        "",
        "![speed over the batch](../figures/scan_speed.svg)",
    ]
