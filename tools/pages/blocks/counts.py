"""Nsight Compute's counters and the CPU executor's counts."""

from tools.pages.data import BESIDE, Data, NotMeasured, full_shape
from tools.pages.notes import measured_on
from tools.pages.records.counts import KINDS, counted_cycles
from tools.repository import Json, relative
from tools.tables import number, table


def block_counters(data: Data, stage: str) -> list[str]:
    sizes = [size for size, found in data.counters["sizes"].items() if data.stage(stage) in found]
    if not sizes:
        raise NotMeasured("")
    shown = [
        ("wavefronts per warp-wide FMA", "wavefronts"),
        ("of these, shared loads", "shared_load_wavefronts"),
        ("shared load instructions per FMA", "shared_load_requests"),
        ("global load instructions per FMA", "global_load_requests"),
        ("sectors per FMA (global loads)", "global_load_sectors"),
        ("tag look-ups per FMA", "tag_lookups"),
    ]
    rows = [[name] + [f"{data.per_fma(stage, size, key):.3f}" for size in sizes] for name, key in shown]
    whole = [
        ("bank conflicts, shared loads", "shared_load_bank_conflicts", ",.0f"),
        ("wavefronts, % of peak rate", "wavefronts_pct_of_peak", ".1f"),
        ("tag look-ups, % of peak rate", "tag_lookups_pct_of_peak", ".1f"),
        ("FMA pipe, % of peak", "fma_pipe_pct", ".1f"),
        ("L2, % of peak", "l2_throughput_pct", ".1f"),
        ("device memory, % of peak", "dram_throughput_pct", ".2f"),
        ("issue slots used, %", "issue_slots_pct", ".1f"),
        ("occupancy, %", "occupancy_pct", ".1f"),
    ]
    rows += [[name] + [format(data.counter(stage, size)[key], form) for size in sizes] for name, key, form in whole]
    return [*table(["Nsight Compute, M = N = K ="] + sizes, rows), "", f"{measured_on(data.counters)}."]


def block_counted(data: Data, stage: str) -> list[str]:
    size = str(data.executor["stage_size"])
    c = data.counted(stage)
    keys = ("requests", "sectors", "wavefronts", "bank_conflicts")
    cycles = counted_cycles(c)
    declared = (
        data.results.get((data.stage(stage), full_shape(size)), {}).get("predicted", {}).get("l1_cycles_per_warp_fma")
    )
    predicted = sum(declared.values()) if declared else None
    shown = [(name, c[kind]) for kind, name in KINDS if c[kind]["requests"]]
    compiler, commit = (data.executor.get(key, "?") for key in ("compiler", "commit"))
    intensity = c["flop_per_byte"]
    return (
        table(
            [f"cycles of L1 and shared memory per warp-wide FMA, M = N = K = {size}", "predicted", "counted"],
            [
                ["the slower of the two below", number(predicted) if declared else "-", number(cycles["sum"])],
                ["data banks, one wavefront a cycle", "", number(cycles["data"])],
                ["tags, four lines a cycle", "", number(cycles["tags"])],
            ],
        )
        + [""]
        + table(
            ["counted", "requests", "sectors", "wavefronts", "bank conflicts"],
            [[name] + [f"{a[key]:,}" if a[key] else "-" for key in keys] for name, a in shown],
        )
        + [
            "",
            f"{c['fma32']:,} FMAs, {c['barriers']:,} barriers; flop per byte: {number(intensity['global'], 'none')} "
            "(global), "
            f"{number(intensity['shared'], 'none')} (shared), {number(intensity['register'], 'none')} (registers). "
            f"CPU executor, {compiler}, commit {commit}.",
        ]
    )


def difference(quantity: str, kernel: Json) -> str | None:
    """Why the executor's count and Nsight Compute's are not the same, or None if they are."""
    ours, theirs = kernel[quantity]["executor"], kernel[quantity]["ncu"]
    if ours == theirs:
        return None
    requests = kernel["shared_load_requests"]
    if quantity in ("shared_load_requests", "shared_load_wavefronts") and requests["ncu"] < requests["executor"]:
        # Merging changes nothing but these loads. Where others differ, too, the GPU did other work: other parts of k.
        others = ("global_load_requests", "global_store_requests", "shared_store_requests", "fma")
        return "merged by nvcc" if all(kernel[key]["executor"] == kernel[key]["ncu"] for key in others) else "differs"
    if quantity == "shared_store_wavefronts" and ours < theirs <= 1.25 * ours:
        return "store counter noise"
    return "within 1 %" if abs(theirs - ours) <= 0.01 * ours else "differs"


def block_counts(data: Data, which: str) -> list[str]:
    if which != "beside":
        raise KeyError(which)
    if not data.beside:
        return [
            f"*Not there yet: `{relative(BESIDE)}`, which `docs/measurements/measure` writes on a machine with a GPU.*"
        ]
    b = data.beside
    shown = [
        ("global_load_requests", "global load requests"),
        ("global_load_sectors", "sectors"),
        ("global_store_requests", "global store requests"),
        ("global_store_sectors", "sectors"),
        ("shared_load_requests", "shared load requests"),
        ("shared_load_wavefronts", "wavefronts"),
        ("shared_store_requests", "shared store requests"),
        ("shared_store_wavefronts", "wavefronts"),
        ("fma", "FMAs"),
    ]
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
        rows.append(
            [title, *cells, "; ".join(f"{reason}: {', '.join(what)}" for reason, what in why.items()) or "equal"]
        )
    summary = ", ".join(f"{count} {reason}" for reason, count in sorted(tally.items(), key=lambda item: -item[1]))
    sizes = f"stages at {b['stage_size']}, prototypes at {b['prototype_size']} (M = N = K)"
    return table(["kernel", *(head for _, head in shown), "differences"], rows) + [
        "",
        f"Where both agree, the one number; else executor / Nsight Compute. Of {sum(tally.values())} numbers: "
        f"{summary}. "
        f"{b['device']}, driver {b['driver']}; {sizes}; executor: {b['executor']['compiler']}, commit "
        f"{b['executor']['commit']}.",
    ]
