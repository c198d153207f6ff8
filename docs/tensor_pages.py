"""The blocks of the Tensor Core stages' pages. Part of generate.py."""
import json
import pathlib

DOCS = pathlib.Path(__file__).resolve().parent
MEASURED = DOCS / "measurements" / "nvidia-h200" / "tensor_h.json"
COUNTS = DOCS / "measurements" / "cpu" / "counts.json"
FOLDERS = {"measured": MEASURED.parent, "counted": COUNTS.parent}
NOT_MEASURED = ["*Not measured yet: `docs/measurements/measure --steps tensor` does it.*"]
# Of 16 x 16 x 16: wmma's fragments, and those of mma.sync that they consist of.
DRAWN = (("a_f16_16x16x16_row", "b_f16_16x16x16_row", "c_f32_16x16x16"), ("a_f16_16x8x16", "b_f16_16x8x16", "c_f32_16x8x16"))
# Of 06a and 06b: whose speeds are compared; and what the paper says of its own, in words, for it prints no number.
PAIRS = (("registers", "shared"), ("registers, one call", "shared"), ("registers, four calls", "shared"), ("direct", "shared"),
         ("registers, arguments", "shared, arguments"), ("registers, embedded", "shared, embedded"))
PAPER = {"06a_householder": ("Figure 4", ["V100, m = 16: registers faster", "V100, m = 32: registers faster", "A100, m = 16: registers slower",
                                          "A100, m = 32: registers faster", "", "(one call of foreach_ij for m = 32)"]),
         "06b_givens": ("Figure 5", ["(i, j) arguments: registers slower", "(i, j) embedded: registers faster", "", "(the text names no GPU)"])}
TITLES = {"a": "A", "b": "B", "c": "accumulator"}


def block_tensor_counted(data, stage):
    """What the executor counted for a product of FP16 matrices, at a size whose rows meet in a bank and at one whose rows don't."""
    sizes = data.executor["tensor_sizes"]
    found = [data.executor["kernels"].get(f"{data.stage(stage)}/{size}") for size in sizes]
    if not all(found):
        return ["*Not counted yet: `docs/measurements/counts.py --count` does it.*"]
    counts = [kernel["counts"] for kernel in found]
    per = [c["tensor_flops"] / 4096 for c in counts]

    def row(title, value):
        return f"| {title} | " + " | ".join(f"{value(c) / steps:.3g}" for c, steps in zip(counts, per)) + " |"

    return ["| counted for a product of 16 x 8 x 16, 4,096 flops | " + " | ".join(f"M = N = K = {size}" for size in sizes) + " |",
            "|---|" + "---:|" * len(sizes),
            row("global load requests", lambda c: c["global_load"]["requests"]),
            row("cache lines that they look up, four a cycle", lambda c: c["global_load"]["lines"]),
            row("wavefronts of them: cycles of an SM's L1 cache", lambda c: c["global_load"]["wavefronts"]),
            row("wavefronts of shared memory", lambda c: c["shared_load"]["wavefronts"] + c["shared_store"]["wavefronts"]),
            "", f"CPU executor, {data.executor['compiler']}, commit {data.executor['commit']}. At the peak of an SM of sm_90 such a product takes one cycle."]


def block_tensor_measured(data, stage):
    if not MEASURED.exists():
        return NOT_MEASURED
    run = json.loads(MEASURED.read_text())
    rows = []
    for r in run["results"]:
        if r["stage"] != data.stage(stage):
            continue
        p = r["problem"]
        shape = f"{p['m']:,}" if p["m"] == p["n"] == p["k"] else f"{p['m']:,} x {p['n']:,} x {p['k']:,}"
        cells = [f"{r['time_ms']['median']:.4g}", f"{r['gflops'] / 1e3:,.1f}", f"{r['pct_roofline']:.1f} %", f"{r['pct_cublas']:.1f} %"] \
            if "time_ms" in r else [r["reason"], "", "", ""]
        rows.append(f"| {shape} | " + " | ".join(cells) + " |")
    if not rows:
        return NOT_MEASURED
    return ["| M x N x K | ms | TFLOP/s | of the roofline | of cuBLAS |", "|---|" + "---:|" * 4, *rows, "",
            f"{run['device']}, commit {run['commit']}. The roofline's peak is that of mma.sync in FP16, "
            f"{run['ceilings']['hmma_gflops'] / 1e3:,.0f} TFLOP/s here; cuBLAS may have wgmma."]


def draw_banks(sizes, path, plot_style, save):
    """The banks that a load of a fragment's eight rows wants, four words of each, for rows of so many FP16 numbers."""
    plt = plot_style()
    fig, axes = plt.subplots(len(sizes), 1, figsize=(9, 1.9 * len(sizes)))
    for ax, size in zip(axes, sizes):
        rows = [[0] * 32 for _ in range(8)]
        for lane in range(32):  # lane / 4 is the row, lane % 4 the word: mma.sync's layout
            rows[lane // 4][(lane // 4 * size // 2 + lane % 4) % 32] = 1
        busiest = max(sum(column) for column in zip(*rows))
        ax.imshow(rows, cmap="Blues", vmin=0, vmax=1.6, aspect="auto")
        for lane in range(32):
            ax.text((lane // 4 * size // 2 + lane % 4) % 32, lane // 4, lane, ha="center", va="center", fontsize=7)
        ax.set_title(f"rows of {size} numbers, {2 * size} bytes: {busiest} wavefront{'s' if busiest > 1 else ''} a load", fontsize=10)
        ax.set_ylabel("row of A")
        ax.set_yticks(range(8))
        ax.set_xticks(range(0, 32, 4))
        ax.grid(False)
    axes[-1].set_xlabel("bank of shared memory and L1 cache, four bytes wide; the number is the lane")
    fig.tight_layout()
    save(plt, fig, path)


# ---- the probes: 04, 05, 06a, 06b


def probe_path(name, folder):
    return FOLDERS[folder] / f"tensor_{name}.json"


def probe_run(name, folder):
    path = probe_path(name, folder)
    return json.loads(path.read_text()) if path.exists() else None


def part(run, name):
    return [r for r in run["results"] if r["part"] == name]


def map_path():
    """The device's map if there is one, else the executor's."""
    measured = probe_path("04_fragment_map", "measured")
    return measured if measured.exists() else probe_path("04_fragment_map", "counted")


def fragment_grid(run, kind):
    """The lane of each element of the matrix, by rows; and how many elements of the matrix a lane has."""
    found = next(r for r in part(run, "map") if r["kind"] == kind)
    lanes = [[-1] * found["cols"] for _ in range(found["rows"])]
    for lane, elements in enumerate(found["lanes"]):
        for e in map(int, elements.split()):
            lanes[e // found["cols"]][e % found["cols"]] = lane
    return lanes, found


def block_fragment_registers(data):
    """Registers that a lane needs for the same matrix."""
    run = json.loads(map_path().read_text())
    return ["| matrix | wmma | mma.sync |", "|---|---:|---:|", *(f"| {r['matrix']} | {r['wmma']} | {r['mma']} |" for r in part(run, "registers")),
            "", f"32-bit registers of a lane, by the types' sizes. {run['device']}, commit {run['commit']}."]


def block_fragment_measured(data):
    """What a GPU said of its maps."""
    run = probe_run("04_fragment_map", "measured")
    if not run:
        return NOT_MEASURED
    maps = part(run, "map")
    same = sum(r["status"] == "pass" for r in maps)
    lines = ["| kinds of fragments | found, and as both tables say | not on this GPU | elsewhere | wmma's tiles are mma.sync's |", "|---:|---:|---:|---:|---|",
             f"| {len(maps)} | {same} | {sum(r['status'] == 'skip' for r in maps)} | {sum(r['status'] == 'fail' for r in maps)} | {part(run, 'tiles')[0]['status']} |"]
    return lines + ["", f"{run['device']}, sm_{run['compute_capability']}, CUDA {run['cuda']}, commit {run['commit']}."]


def block_scan_counted(data):
    """What the executor counted for a tile of 256 numbers, and what nvcc makes of the kernels."""
    run = probe_run("05_scan", "counted")
    rows = []
    for r in part(run, "batch"):
        if "counts" in r:
            tiles, c = r["bytes"] / 1536, r["counts"]
            rows.append(f"| {r['task']}: {r['form']} | {c['global_load_requests'] / tiles:.3g} | {c['global_store_requests'] / tiles:.3g} | "
                        f"{c['shared_requests'] / tiles:.3g} | {c['shared_wavefronts'] / tiles:.3g} | {c['shared_bytes']} |")
    code = [f"| `{r['kernel']}` | {', '.join(f'{n} {name}' for name, n in r['accesses'].items())} | {r['loop_instructions'] or '-'} | {r['shared']} | {r['registers']} | {r['spilled']} |"
            for r in part(run, "code")]
    return ["| counted for a tile of 256 numbers | global loads | global stores | requests to shared memory | wavefronts of them | shared memory of a block, bytes |",
            "|---|" + "---:|" * 5, *rows, "", f"CPU executor, {run['compiler']}, commit {run['commit']}.", "",
            "| nvcc, for sm_90a | memory instructions | instructions of the loop | shared memory, bytes | registers | bytes spilled |",
            "|---|---|---:|---:|---:|---:|", *code]


def block_transform_counted(data, name):
    """What the executor counted for one matrix of 06a or 06b, and what nvcc makes of the kernels."""
    run = probe_run(name, "counted")
    rows = []
    for r in part(run, "batch"):
        n, c = r["batch"], r["counts"]
        rows.append(f"| {r['task']}: {r['form']} | {c['global_load_requests'] / n:.3g} | {c['global_load_sectors'] / n:.3g} | "
                    f"{c['global_store_requests'] / n:.3g} | {c['global_store_sectors'] / n:.3g} | {c['shared_requests'] / n:.3g} | "
                    f"{c['shared_wavefronts'] / n:.3g} | {c['shared_bytes']} | {c['tensor_flops'] / n:,.0f} |")
    code = [f"| `{r['kernel']}` | {r['instructions']} | {', '.join(f'{n} {kind}' for kind, n in r['accesses'].items())} | {r['shared']} | {r['registers']} | {r['spilled']} |"
            for r in part(run, "code")]
    return ["| counted for a matrix | global loads | sectors of them | global stores | sectors of them | requests to shared memory | wavefronts of them | shared memory of a block, bytes | flops of Tensor Cores |",
            "|---|" + "---:|" * 8, *rows, "", f"CPU executor, {run['compiler']}, commit {run['commit']}.", "",
            "| nvcc, for sm_90a | instructions | memory instructions | shared memory, bytes | registers | bytes spilled |",
            "|---|---:|---|---:|---:|---:|", *code]


def pairs_of(by_form):
    return [pair for pair in PAIRS if all(form in by_form for form in pair)]


def ratio_of(by_form, pair):
    """How many times as fast the first form is as the second; None where one has no time."""
    both = [by_form[form].get("gbs") for form in pair]
    return both[0] / both[1] if all(both) else None


def block_transform_measured(data, name):
    """The speeds of all forms of 06a or 06b, over the size of the batch."""
    run = probe_run(name, "measured")
    if not run:
        return NOT_MEASURED
    lines = []
    for task, batches in task_series(run).items():
        forms = list(next(iter(batches.values())))
        pairs = pairs_of(forms)
        lines += ["| " + " | ".join([f"{task}, GB/s", "MB", "floor, us", *forms, *(" / ".join(pair) for pair in pairs)]) + " |",
                  "|---:" * (len(forms) + len(pairs) + 3) + "|"]
        for batch, by_form in batches.items():
            first = by_form[forms[0]]
            cells = [f"{r['gbs']:,.0f} ({r['pct_copy']:.0f} %)" if "gbs" in r else r["status"] for r in by_form.values()]
            ratios = [ratio_of(by_form, pair) for pair in pairs]
            lines.append("| " + " | ".join([f"{batch:,}", f"{first['bytes'] / 1e6:,.3g}", f"{first['predicted_ms'] * 1e3:,.3g}", *cells,
                                            *("-" if ratio is None else f"{ratio:.2f}" for ratio in ratios)]) + " |")
        registers = "; ".join(f"{form}: {r['registers']}" for form, r in next(iter(batches.values())).items() if "registers" in r)
        lines += ["", f"Registers of a thread: {registers}.", ""]
    return lines + [f"{run['device']}, commit {run['commit']}, medians, warm cache (L2: {run['l2_bytes'] / 1e6:.0f} MB); percent of the copy's "
                    f"{run['ceilings']['copy_gbs']:,.0f} GB/s in the same run.", "", f"![speed-up over the batch](../figures/{figure_of(name)})"]


def figure_of(name):
    return f"{name.split('_')[1]}_speedup.svg"


def issue_slots(bytes_moved):
    """Of an SM's four schedulers, in the time in which a copy moves so many bytes: an H200 as common/probe.hpp's Machine has it."""
    copy_gbs, sm_count, ghz = 4201, 132, 33160 / (2 * 64 * 132)
    return bytes_moved / (copy_gbs / sm_count) * ghz * 4


def draw_instructions(name, path, plot_style, save):
    """What a warp executes for a matrix, and the issue slots that a copy of it leaves."""
    plt = plot_style()
    run = probe_run(name, "counted")
    code = [(r["kernel"].split("_")[1], r["instructions"], 32 if "<32" in r["kernel"] else 16) for r in part(run, "code")]
    bytes_of = {32 if r["task"] == "m = 32" else 16: r["bytes"] / r["batch"] for r in part(run, "batch")}
    fig, axes = plt.subplots(1, len(bytes_of), figsize=(5.2 * len(bytes_of), 3.2), squeeze=False)
    for ax, (m, size) in zip(axes[0], sorted(bytes_of.items())):
        bars = [(kernel, n) for kernel, n, of in code if of == m]
        drawn = ax.barh([kernel for kernel, _ in bars], [n for _, n in bars], color="tab:blue")
        ax.bar_label(drawn, padding=3, fontsize=8)
        for part_of, style in ((1, "-"), (2, "--")):
            slots = issue_slots(size) / part_of
            ax.axvline(slots, color="black", linestyle=style, linewidth=1,
                       label=f"issue slots, {'a copy' if part_of == 1 else 'twice as fast as a copy'}: {slots:.0f}")
        ax.set_title(f"{m} x {m}: {size:,.0f} bytes", fontsize=10)
        ax.set_xlabel("instructions of a warp for a matrix")
        ax.set_xlim(0, issue_slots(size) * 1.05)
        ax.legend(fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.3))
    fig.tight_layout()
    save(plt, fig, path)


def draw_transform(name, path, plot_style, save):
    """Speed-ups over the batch, for each size of matrices; beside them what the paper saw."""
    plt = plot_style()
    run = probe_run(name, "measured")
    series = task_series(run)
    fig, axes = plt.subplots(1, len(series) + 1, figsize=(3.8 * (len(series) + 1), 4.2))
    for ax, (task, batches) in zip(axes, series.items()):
        for pair, marker in zip(pairs_of(next(iter(batches.values()))), "osD"):
            points = [(batch, ratio_of(by_form, pair)) for batch, by_form in batches.items() if ratio_of(by_form, pair)]
            if points:
                ax.plot(*zip(*points), marker=marker, markersize=4, linewidth=0.8, label=" / ".join(pair))
        ax.axhline(1, color="black", linewidth=1)
        ax.set_xscale("log", base=2)
        ax.set_title(f"{task} ({run['device']})", fontsize=10)
        ax.set_xlabel("matrices of a batch")
        ax.legend(fontsize=7)
    axes[0].set_ylabel("speed-up over shared memory")
    figure, words = PAPER[name]
    axes[-1].set_title(f"the paper's {figure}, in the words of its text", fontsize=9)
    axes[-1].set_axis_off()
    for line, text in enumerate(words):
        axes[-1].text(0.02, 0.9 - 0.1 * line, text, fontsize=9, transform=axes[-1].transAxes)
    fig.tight_layout()
    save(plt, fig, path)


def task_series(run):
    """task: {batch: {form: result}}"""
    found = {}
    for r in part(run, "batch"):
        found.setdefault(r["task"], {}).setdefault(r["batch"], {})[r["form"]] = r
    return found


def block_scan_measured(data):
    """The speeds of all forms, over the size of the batch."""
    run = probe_run("05_scan", "measured")
    if not run:
        return NOT_MEASURED
    lines = []
    for task, batches in task_series(run).items():
        forms = list(next(iter(batches.values())))
        lines += ["| " + " | ".join([f"{task}, GB/s", "MB", "floor, us", *forms, "registers / shared, once", "each", "registers, once / cub"]) + " |",
                  "|---:" * (len(forms) + 6) + "|"]
        for batch, by_form in batches.items():
            def ratio(faster, slower):
                both = [by_form[form].get("gbs") for form in (faster, slower)]
                return f"{both[0] / both[1]:.2f}" if all(both) else "-"

            first = by_form[forms[0]]
            cells = [f"{r['gbs']:,.0f} ({r['pct_copy']:.0f} %)" if "gbs" in r else r["status"] for r in by_form.values()]
            lines.append("| " + " | ".join([f"{batch:,}", f"{first['bytes'] / 1e6:,.3g}", f"{first['predicted_ms'] * 1e3:,.3g}", *cells,
                                            ratio("registers, once", "shared, once"), ratio("registers, each", "shared, each"),
                                            ratio("registers, once", "cub")]) + " |")
        registers = ", ".join(f"{form} {r['registers']}" for form, r in next(iter(batches.values())).items() if "registers" in r)
        lines += ["", f"Registers of a thread: {registers}.", ""]
    return lines + [f"{run['device']}, commit {run['commit']}, medians, warm cache (L2: {run['l2_bytes'] / 1e6:.0f} MB); percent of the copy's "
                    f"{run['ceilings']['copy_gbs']:,.0f} GB/s in the same run.", "", "![speed over the batch](../figures/scan_speed.svg)"]


def draw_grid(ax, lanes, title, ones=None):
    """Coloured by lane, with its number; `ones`: which elements are 1, the others grey."""
    rows, cols = len(lanes), len(lanes[0])
    ax.imshow(lanes, cmap="viridis", vmin=0, vmax=31)
    for i in range(rows):
        for j in range(cols):
            blank = ones is not None and not ones(i, j)
            if blank:
                ax.fill_between((j - 0.5, j + 0.5), i - 0.5, i + 0.5, color="white")
            ax.text(j, i, lanes[i][j], ha="center", va="center", fontsize=6, color="black" if blank or lanes[i][j] > 18 else "white")
    ax.set_title(title, fontsize=9)
    ax.set_xlim(-0.5, cols - 0.5)
    ax.set_ylim(rows - 0.5, -0.5)
    ax.set_xticks(range(0, cols, 4))
    ax.set_yticks(range(0, rows, 4))
    ax.grid(False)


def draw_fragments(path, plot_style, save):
    plt = plot_style()
    run = json.loads(map_path().read_text())
    fig, axes = plt.subplots(2, 3, figsize=(11, 7.6))
    for row, kinds in zip(axes, DRAWN):
        for ax, kind in zip(row, kinds):
            lanes, found = fragment_grid(run, kind)
            family, _, shape, _ = found["fragment"].split()[:4]
            draw_grid(ax, lanes, f"{family} {shape}, {TITLES[kind[0]]}: {found['registers']} registers a lane")
    fig.suptitle(f"the lane of each element ({run['device']})", fontsize=10)
    fig.tight_layout()
    save(plt, fig, path)


def draw_triangle(path, plot_style, save):
    """U, as the lanes have it that calculate it."""
    plt = plot_style()
    run = json.loads(map_path().read_text())
    fig, ax = plt.subplots(figsize=(4.6, 4.6))
    lanes, _ = fragment_grid(run, DRAWN[0][1])
    draw_grid(ax, lanes, "U: ones coloured, zeros white; the lane that sets each", lambda i, j: i <= j)
    ax.set_xlabel("column j")
    ax.set_ylabel("row i")
    fig.tight_layout()
    save(plt, fig, path)


def draw_scan(path, plot_style, save):
    plt = plot_style()
    run = probe_run("05_scan", "measured")
    series = task_series(run)
    fig, axes = plt.subplots(1, len(series), figsize=(11, 4.2))
    for ax, (task, batches) in zip(axes, series.items()):
        for form, marker in zip(next(iter(batches.values())), "osD^v"):
            points = [(by_form[form]["bytes"] / 1e6, by_form[form]["gbs"]) for by_form in batches.values() if "gbs" in by_form[form]]
            if points:
                ax.plot(*zip(*points), marker=marker, markersize=4, linewidth=0.8, label=form)
        ax.axhline(run["ceilings"]["copy_gbs"], color="black", linewidth=1, label="copy")
        ax.set_xscale("log", base=2)
        ax.set_yscale("log")
        ax.set_title(task, fontsize=10)
        ax.set_xlabel("MB read and written")
        ax.legend(fontsize=7)
    axes[0].set_ylabel("GB/s")
    fig.suptitle(run["device"], fontsize=10)
    fig.tight_layout()
    save(plt, fig, path)


def plan(plot_style, save):
    """file: ([sources], function(data, path)), as generate.figures() has them"""
    figures = {"fragments_f16.svg": ([map_path()], lambda data, path: draw_fragments(path, plot_style, save)),
               "scan_triangle.svg": ([map_path()], lambda data, path: draw_triangle(path, plot_style, save))}
    scan = probe_path("05_scan", "measured")
    if scan.exists():
        figures["scan_speed.svg"] = ([scan], lambda data, path: draw_scan(path, plot_style, save))
    for name in PAPER:
        figures[f"{name.split('_')[1]}_instructions.svg"] = (
            [probe_path(name, "counted")], lambda data, path, name=name: draw_instructions(name, path, plot_style, save))
        measured = probe_path(name, "measured")
        if measured.exists():
            figures[figure_of(name)] = ([measured], lambda data, path, name=name: draw_transform(name, path, plot_style, save))
    return figures | {"tensor_banks.svg": ([COUNTS], lambda data, path: draw_banks(data.executor["tensor_sizes"], path, plot_style, save))}
