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
    """Speeds of a stage, of FP16 products or of FP32 ones, beside its roofline and cuBLAS."""
    runs = [run for run in (measured("h"), measured("s")) if run and any(r["stage"] == data.stage(stage) for r in run["results"])]
    if not runs:
        return NOT_MEASURED
    run, rows = runs[0], []
    for r in run["results"]:
        if r["stage"] != data.stage(stage):
            continue
        of_fp32 = r["problem"]["type"] == "float"
        p = r["problem"]
        shape = f"{p['m']:,}" if p["m"] == p["n"] == p["k"] else f"{p['m']:,} x {p['n']:,} x {p['k']:,}"
        cells = [f"{r['time_ms']['median']:.4g}", f"{r['gflops'] / 1e3:,.1f}", f"{r['pct_roofline']:.1f} %", f"{r['pct_cublas']:.1f} %"] \
            if "time_ms" in r else [r["reason"], "", "", ""]
        rows.append(f"| {shape} | " + " | ".join(cells) + " |")
    return ["| M x N x K | ms | TFLOP/s | of the roofline | of cuBLAS |", "|---|" + "---:|" * 4, *rows, "",
            f"{run['device']}, commit {run['commit']}. The roofline's peak is that of mma.sync in FP16, "
            f"{run['ceilings']['hmma_gflops'] / 1e3:,.0f} TFLOP/s here" +
            (", shared out among the products of FP16 for one of FP32; cuBLAS is its SGEMM on FP32 cores." if of_fp32 else "; cuBLAS may have wgmma.")]


def measured(name):
    path = FOLDERS["measured"] / f"tensor_{name}.json"
    return json.loads(path.read_text()) if path.exists() else None


def block_tensor_padded(data):
    """The first stage at 1024, its rows 1,032 numbers apart."""
    run = measured("padded")
    if not run:
        return NOT_MEASURED
    result = (run["results"] if "results" in run else [run])[0]
    p = result["problem"]
    return [f"Measured with leading dimensions of {p['lda']:,} at M = N = K = {p['m']:,}: {result['time_ms']['median']:.4g} ms, {result['gflops'] / 1e3:.1f} TFLOP/s."]


def block_tensor_forms(data, stage):
    """A stage and its variants: speed, registers, and what Nsight Compute counted."""
    runs = [(run, measured(counted)) for run, counted in ((measured("variants"), "counters"), (measured("tcec_variants"), "tcec_counters"))
            if run and any(r["stage"] == data.stage(stage) for r in run["results"])]
    if not runs:
        return NOT_MEASURED
    run, counters = runs[0]
    sizes = sorted({r["problem"]["m"] for r in run["results"]})
    forms = list(dict.fromkeys(r["stage"] for r in run["results"] if r["stage"].split(":")[0] == data.stage(stage)))
    rows = []
    for form in forms:
        found = {r["problem"]["m"]: r for r in run["results"] if r["stage"] == form and "gflops" in r}
        launch = max(next(iter(found.values())).get("launches", [{"registers": 0}]), key=lambda launch: launch["registers"])
        cells = [f"{found[size]['gflops'] / 1e3:,.0f}" if size in found else "" for size in sizes]
        cells += [str(launch["registers"] or ""), str(launch.get("local_bytes", ""))]
        count = (counters or {"sizes": {}})["sizes"].get(str(sizes[0]), {}).get(form)
        cells += [f"{(count[a] + count[b]) / count['hmma']:.2f}" if count else "" for a, b in
                  (("shared_load_wavefronts", "shared_store_wavefronts"), ("shared_load_bank_conflicts", "shared_store_bank_conflicts"))]
        rows.append(f"| `{form.split('/')[1]}` | " + " | ".join(cells) + " |")
    return ["| form | " + " | ".join(f"TFLOP/s at {size:,}" for size in sizes) + " | registers | bytes spilled | shared-memory wavefronts a product | of them conflicts |",
            "|---|" + "---:|" * (len(sizes) + 4), *rows, "",
            f"{run['device']}, commit {run['commit']}; wavefronts: Nsight Compute, at {sizes[0]:,}. A product: mma.sync's 16 x 8 x 16."]


def block_tensor_pipe(data, stage):
    """What Nsight Compute says of the Tensor Cores in a stage."""
    found = [c for c in (measured("counters"), measured("tcec_counters")) if c and any(data.stage(stage) in of for of in c["sizes"].values())]
    if not found:
        return NOT_MEASURED
    counters = found[0]
    sizes = [size for size in counters["sizes"] if data.stage(stage) in counters["sizes"][size]]
    its = [counters["sizes"][size][data.stage(stage)] for size in sizes]

    def row(title, value):
        return f"| {title} | " + " | ".join(value(c) for c in its) + " |"

    return ["| Nsight Compute | " + " | ".join(f"{int(size):,}" for size in sizes) + " |", "|---|" + "---:|" * len(sizes),
            row("Tensor pipe busy, of the cycles in which an SM has a block", lambda c: f"{c['tensor_pipe_pct_of_active']:.1f} %"),
            row("Tensor pipe busy, of all cycles", lambda c: f"{c['tensor_pipe_pct']:.1f} %"),
            row("clock while it runs", lambda c: f"{c['sm_hz'] / 1e9:.2f} GHz"),
            row("issue slots used", lambda c: f"{c['issue_slots_pct']:.0f} %"),
            row("wavefronts of loads from shared memory, for a product", lambda c: f"{c['shared_load_wavefronts'] / c['hmma']:.2f}"),
            row("bank conflicts among them", lambda c: f"{c['shared_load_bank_conflicts'] / c['hmma']:.4f}"),
            row("bytes read from device memory", lambda c: f"{c['dram_read_bytes'] / 1e9:.2f} GB"),
            "", f"{counters['device']}, commit {counters['commit']}."]


# Ootomo and Yokota (2023), Table 1: GB/s of device and of shared memory, TFLOP/s of FP32 cores, and in FP16 and TF32 of Tensor Cores.
SPECIFIED = {"V100 (SXM2), specified": (900, 14131, 15.7, 112, None), "A100 (SXM4, 40 GB), specified": (1555, 19491, 19.5, 312, 156)}


def specifications():
    """The same rows, and those of the device as measured: by mma.sync, and by cuBLAS, which has wgmma."""
    rows = dict(SPECIFIED)
    if MEASURED.exists():
        run = json.loads(MEASURED.read_text())
        c = run["ceilings"]
        device = run["device"].replace("NVIDIA ", "")
        memory = (c["read_gbs"], c["shared_gbs"], c["ffma_gflops"] / 1e3)
        rows[f"{device}, measured, mma.sync"] = (*memory, c["hmma_gflops"] / 1e3, c["tmma_gflops"] / 1e3)
        best = max(r["gflops"] for r in run["results"] if r["stage"] == "cublas/fp16" and "gflops" in r)
        rows[f"{device}, measured, cuBLAS"] = (*memory, best / 1e3, None)
    return rows


def block_tensor_specifications(data):
    lines = ["| | device memory, GB/s | shared memory, GB/s | FP32, TFLOP/s | FP16 Tensor Cores, TFLOP/s | TF32, TFLOP/s | device bytes a flop | shared bytes a flop | flops a shared byte |",
             "|---|" + "---:|" * 8]
    for name, (device, shared, fp32, half, tf32) in specifications().items():
        lines.append(f"| {name} | {device:,.0f} | {shared:,.0f} | {fp32:.1f} | {half:.0f} | {'' if tf32 is None else f'{tf32:.0f}'} | {device / half / 1e3:.4f} | {shared / half / 1e3:.3f} | {half * 1e3 / shared:.1f} |")
    return lines


def draw_shared_roofline(path, plot_style, save):
    """Tensor Cores over shared memory: what a warp's tile of n x n can reach, by the paper's count and with C in registers."""
    plt = plot_style()
    fig, ax = plt.subplots(figsize=(8.5, 4.8))
    intensity = [2 ** (e / 8) for e in range(0, 49)]
    for (name, (_, shared, _, half, _)), style in zip(specifications().items(), (":", "--", "-", "-.")):
        ax.loglog(intensity, [min(half, shared * x / 1e3) for x in intensity], style, label=name)
    for n in (16, 32, 64):
        for x, words, y in ((n / 6, f"n = {n},\nC too", 12), (n / 2, f"n = {n}", 900)):
            ax.axvline(x, color="0.8", lw=0.8, zorder=0)
            ax.text(x, y, words, fontsize=8, ha="center", va="center", backgroundcolor="w")
    run = measured("variants")
    for r in run["results"] if run else []:
        n = 64 if r["stage"] == "tensorcore/02_shared_tiles" else {"n=16": 16, "n=32": 32}.get(r["stage"].partition("02_shared_tiles:")[2])
        if n and r["problem"]["m"] == 4096 and "gflops" in r:
            ax.plot(n / 2, r["gflops"] / 1e3, "o", color="k", ms=5)
            ax.annotate(f"stage 02, {r['gflops'] / 1e3:.0f}", (n / 2, r["gflops"] / 1e3), xytext=(6, -10), textcoords="offset points", fontsize=8)
    ax.set_xlabel("flops for a byte from or to shared memory")
    ax.set_ylabel("TFLOP/s")
    ax.set_ylim(8, 1300)
    ax.legend(loc="lower right", fontsize=8)
    fig.tight_layout()
    save(plt, fig, path)


def draw_swizzle(path, plot_style, save):
    """Where 16-byte chunks of a tile's rows of 128 bytes lie: in order, padded, and exchanged by the row's number."""
    plt = plot_style()
    fig, axes = plt.subplots(1, 3, figsize=(10, 3.4), sharey=True)
    for ax, title, place, width in ((axes[0], "in order: 8 wavefronts", lambda r, c: c, 8), (axes[1], "padded by 16 bytes (02): 1", lambda r, c: (r + c) % 8, 8),
                                    (axes[2], "exchanged (03): 1", lambda r, c: c ^ r, 8)):
        grid = [[0] * width for _ in range(8)]
        for row in range(8):
            grid[row][place(row, 2)] = 1
            for c in range(8):
                ax.text(place(row, c), row, c, ha="center", va="center", fontsize=8)
        ax.imshow(grid, cmap="Blues", vmin=0, vmax=2, aspect="auto")
        ax.set_title(title, fontsize=10)
        ax.set_xlabel("four banks each")
        ax.set_xticks(range(8))
        ax.set_yticks(range(8))
        ax.grid(False)
    axes[0].set_ylabel("row of the tile")
    fig.tight_layout()
    save(plt, fig, path)


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


# ---- FP32 products: 07, 08, 09


def accuracy_path():
    """The device's if it is there, else the executor's, which cuts sums off as sm_90 does."""
    path = FOLDERS["measured"] / "accuracy.json"
    return path if path.exists() else FOLDERS["counted"] / "accuracy.json"


def residuals(run):
    """{distribution: {stage: {k: residual}}}; what was skipped is not there, what is infinite is."""
    found = {}
    for r in run["results"]:
        if "residual" in r:
            found.setdefault(r["distribution"], {}).setdefault(r["stage"], {})[r["k"]] = float("inf") if r["residual"] == "infinite" else r["residual"]
    return found


def short_name(stage):
    return stage.split("/")[1]


def block_tcec_accuracy(data, stage):
    """Residuals of a stage and its variants, and of FP32, over K."""
    run = json.loads(accuracy_path().read_text())
    lines = []
    for distribution, by_stage in residuals(run).items():
        first = next(iter(by_stage))
        its = [s for s in by_stage if s == first or s.split(":")[0] == data.stage(stage)]
        depths = sorted({k for s in its for k in by_stage[s]})
        lines += [f"| {distribution} | " + " | ".join(f"K = {k:,}" for k in depths) + " |", "|---|" + "---:|" * len(depths)]
        for s in its:
            name = f"FP32: `{short_name(s)}`" if s == first else f"`{short_name(s)}`"
            lines.append(f"| {name} | " + " | ".join(f"{by_stage[s][k]:.1e}" if k in by_stage[s] else "" for k in depths) + " |")
        lines.append("")
    return lines + [f"Relative Frobenius residual against FP64, M = N = {run['size']}: {run['device']}, commit {run['commit']}."]


def draw_tcec_roofline(path, plot_style, save):
    """What shared memory lets FP32 products on Tensor Cores reach: the split through shared memory, and in registers (Figure 7)."""
    plt = plot_style()
    c = json.loads(MEASURED.read_text())["ceilings"]
    peak, shared = c["hmma_gflops"] / 3e3, c["shared_gbs"] / 1e3
    fig, ax = plt.subplots(figsize=(8, 4.4))
    sizes = list(range(8, 129, 4))
    for words, name, style in ((12, "07, split in shared memory: n/12 flops a byte", "--"), (4, "08, split in registers: n/4", "-")):
        ax.plot(sizes, [min(peak, shared * n / words) for n in sizes], style, label=name)
    ax.axhline(peak, color="0.6", lw=0.8)
    ax.text(128, peak, f"a third of mma.sync's {c['hmma_gflops'] / 1e3:.0f} ", ha="right", va="bottom", fontsize=8)
    ax.axhline(c["ffma_gflops"] / 1e3, color="tab:red", lw=0.8)
    ax.text(128, c["ffma_gflops"] / 1e3, "FP32 cores ", ha="right", va="bottom", fontsize=8, color="tab:red")
    for n in (16, 32, 64):
        ax.axvline(n, color="0.85", lw=0.8, zorder=0)
    run = measured("s")
    for r in run["results"] if run else []:
        if r["stage"] in ("tensorcore/07_split_in_shared", "tensorcore/08_split_in_registers") and r["problem"]["m"] == r["problem"]["k"] == 4096 and "gflops" in r:
            ax.plot(32, r["gflops"] / 1e3, "o", color="k", ms=5)
            ax.annotate(f"{short_name(r['stage'])[:2]}, {r['gflops'] / 1e3:.0f}", (32, r["gflops"] / 1e3),
                        xytext=(6, 3 if "/08" in r["stage"] else -9), textcoords="offset points", fontsize=8)
    ax.set_xlabel("n: a warp has n x n of C")
    ax.set_ylabel("TFLOP/s of FP32 products, at most")
    ax.set_ylim(0, peak * 1.15)
    ax.legend(loc="lower right", fontsize=8)
    fig.tight_layout()
    save(plt, fig, path)


def draw_tcec_promotion(path, plot_style, save):
    """Residual over K for sums of Tensor Cores that are added up in FP32 after so many products."""
    plt = plot_style()
    run = json.loads(accuracy_path().read_text())
    found = {d: by for d, by in residuals(run).items() if d in ("uniform", "positive")}
    fig, axes = plt.subplots(1, len(found), figsize=(5.2 * len(found), 4.4), sharey=True, squeeze=False)
    for ax, (distribution, by_stage) in zip(axes[0], found.items()):
        first = next(iter(by_stage))
        forms = [s for s in by_stage if s.startswith("tensorcore/08")]
        for s, style in [(first, "k:"), *((s, "-") for s in forms), ("tensorcore/07_split_in_shared:uncorrected", "--")]:
            if s in by_stage:
                ax.loglog(*zip(*sorted(by_stage[s].items())), style, marker="o", ms=3, lw=1,
                          label="FP32" if s == first else short_name(s).replace("08_split_in_registers:", "").replace("08_split_in_registers", "promoted=16").replace("07_split_in_shared:", ""))
        ax.axhline(run["fp32_residual_allowed"], color="0.7", lw=0.8)
        ax.set_xscale("log", base=2)
        ax.set_title({"uniform": "uniform, -1 to 1", "positive": "positive, 0 to 1"}[distribution], fontsize=10)
        ax.set_xlabel("K")
    axes[0][0].set_ylabel("relative Frobenius residual")
    axes[0][-1].legend(fontsize=7)
    fig.tight_layout()
    save(plt, fig, path)


def draw_tcec_policies(path, plot_style, save):
    """Residual of each policy at one depth."""
    plt = plot_style()
    run = json.loads(accuracy_path().read_text())
    found = residuals(run)
    depth = max(k for by in found.values() for of in by.values() for k in of if k <= 4096)
    first = next(iter(next(iter(found.values()))))
    forms = [first, *(s for s in found["uniform"] if s.startswith("tensorcore/09"))]
    fig, ax = plt.subplots(figsize=(8, 4.2))
    for (distribution, by_stage), marker in zip(found.items(), "os^vD*"):
        points = [(by_stage[s][depth], i) for i, s in enumerate(forms) if depth in by_stage.get(s, {})]
        ax.plot(*zip(*points), marker, label=distribution, ms=6)
    ax.set_yticks(range(len(forms)), ["FP32", *("half" if ":" not in s else s.split(":")[1] for s in forms[1:])])
    ax.invert_yaxis()
    ax.set_xscale("log")
    ax.axvline(run["fp32_residual_allowed"], color="0.7", lw=0.8)
    ax.set_xlabel(f"relative Frobenius residual at K = {depth:,}")
    ax.legend(fontsize=8)
    fig.tight_layout()
    save(plt, fig, path)


def papers_library():
    """{k: TFLOP/s} of the paper's own library on batches of 256 x (1024 x 1024 x k)."""
    peers = json.loads((FOLDERS["measured"] / "peers.json").read_text())
    return {int(k): speed for k, speed in peers["ootomo_batched_sgemm_tflops"].items()}


def batched_speeds():
    """{stage: {k: TFLOP/s}} and the run; None if it is not there."""
    run = measured("batched")
    if not run:
        return None, None
    speeds = {}
    for r in run["results"]:
        if "gflops" in r:
            speeds.setdefault(r["stage"], {})[r["problem"]["k"]] = r["gflops"] / 1e3
    return speeds, run


def batched_name(stage):
    return stage.replace("cublas/fp32_pedantic", "cuBLAS FP32").replace("cublas/tf32", "cuBLAS TF32").replace("tensorcore/", "")


def block_tensor_batched(data):
    """Figure 8 of the paper: a batch of 256 products, over k."""
    speeds, run = batched_speeds()
    if not run:
        return NOT_MEASURED
    depths, papers = sorted({k for of in speeds.values() for k in of}), papers_library()
    rows = [f"| {batched_name(s)} | " + " | ".join(f"{of[k]:.1f}" if k in of else "" for k in depths) + " |" for s, of in speeds.items()]
    rows.append("| the paper's library | " + " | ".join(f"{papers[k]:.1f}" if k in papers else "" for k in depths) + " |")
    best = {k: max(of[k] for s, of in speeds.items() if s.startswith(("tensorcore/10", "tensorcore/11")) and k in of) for k in depths}
    rows.append("| the best of 10 and 11, beside it | " + " | ".join(f"{best[k] / papers[k]:.2f} x" if k in papers else "" for k in depths) + " |")
    return ["| TFLOP/s, 256 x (1,024 x 1,024 x k) | " + " | ".join(f"k = {k:,}" for k in depths) + " |", "|---|" + "---:|" * len(depths), *rows, "",
            f"{run['device']}, commit {run['commit']}, all checked; FP32 cores have {run['ceilings']['ffma_gflops'] / 1e3:.1f} TFLOP/s. The paper's library was "
            "measured on another H200, before."]


def block_tensor_blockings(data, stage):
    """The variants of a stage on batches of 256."""
    run = measured("blockings")
    if not run:
        return NOT_MEASURED
    depths = sorted({r["problem"]["k"] for r in run["results"]})
    found = {}
    for r in run["results"]:
        if r["stage"].split(":")[0] == data.stage(stage) and "gflops" in r:
            found.setdefault(r["stage"], {})[r["problem"]["k"]] = r
    rows = []
    for name, of in found.items():
        launch = max(next(iter(of.values()))["launches"], key=lambda its: its["registers"])
        rows.append(f"| `{short_name(name)}` | " + " | ".join(f"{of[k]['gflops'] / 1e3:.1f}" if k in of else "" for k in depths) +
                    f" | {launch['registers']} | {launch['local_bytes']} | {launch['dynamic_shared_bytes'] / 1024:.0f} KB |")
    return ["| blocking | " + " | ".join(f"TFLOP/s at k = {k:,}" for k in depths) + " | registers | bytes spilled | shared memory a block |",
            "|---|" + "---:|" * (len(depths) + 3), *rows, "", f"256 x (1,024 x 1,024 x k). {run['device']}, commit {run['commit']}."]


def block_tcec_traffic(data):
    """What 08's fragments, split in registers, save of 07's traffic, as Nsight Compute and the runtime have it."""
    run, counters = measured("s"), measured("tcec_counters")
    stages = [data.stage(f"tensorcore/{number}") for number in ("07", "08")]
    if not run or not counters or any("l1_hit_pct" not in counters["sizes"]["4096"].get(stage, {}) for stage in stages):
        return NOT_MEASURED
    launch = {r["stage"]: r["launches"][0] for r in run["results"] if r["stage"] in stages}
    count = counters["sizes"]["4096"]
    block = lambda stage: launch[stage]["static_shared_bytes"] + launch[stage]["dynamic_shared_bytes"]  # noqa: E731

    def row(title, value):
        return f"| {title} | " + " | ".join(value(stage) for stage in stages) + " |"

    return ["| at 4,096 | 07 | 08 |", "|---|---:|---:|",
            row("shared memory of a block", lambda s: f"{block(s):,} bytes"),
            row("registers of a thread", lambda s: f"{launch[s]['registers']}"),
            row("warps on an SM, of 64", lambda s: f"{count[s]['occupancy_pct']:.0f} %"),
            row("wavefronts of shared memory, for a product", lambda s: f"{(count[s]['shared_load_wavefronts'] + count[s]['shared_store_wavefronts']) / count[s]['hmma']:.2f}"),
            row("L1 and shared memory busy", lambda s: f"{count[s]['wavefronts_pct_of_peak']:.0f} %"),
            row("loads from global memory that hit L1", lambda s: f"{count[s]['l1_hit_pct']:.0f} %"),
            row("issue slots used", lambda s: f"{count[s]['issue_slots_pct']:.0f} %"),
            row("warps waiting for global memory, for each that issues", lambda s: f"{count[s]['stall_long_scoreboard']:.1f}"),
            row("Tensor pipe busy", lambda s: f"{count[s]['tensor_pipe_pct']:.0f} %"),
            "", f"Nsight Compute, {counters['device']}, commit {counters['commit']}."]


def draw_batched(path, plot_style, save):
    """Figure 8: throughput of a batch over k."""
    plt = plot_style()
    speeds, run = batched_speeds()
    fig, ax = plt.subplots(figsize=(8, 4.6))
    for (stage, of), marker in zip(speeds.items(), "osD^v"):
        if stage != "cublas/tf32":
            ax.plot(*zip(*sorted(of.items())), marker=marker, ms=4, lw=1, label=batched_name(stage))
    ax.plot(*zip(*papers_library().items()), "k:", marker="x", ms=5, lw=1, label="the paper's library, on another H200")
    ax.axhline(run["ceilings"]["ffma_gflops"] / 1e3, color="tab:red", lw=0.8)
    ax.text(2**14, run["ceilings"]["ffma_gflops"] / 1e3, "FP32 cores at their peak", va="bottom", ha="right", fontsize=8, color="tab:red")
    ax.set_xscale("log", base=2)
    ax.set_ylim(0, None)
    ax.set_xlabel("k of 256 products of 1,024 x 1,024 x k")
    ax.set_ylabel("TFLOP/s")
    ax.legend(fontsize=8)
    fig.tight_layout()
    save(plt, fig, path)


def block_tcec_choices(data, stage):
    """What a stage that chooses took, and how precise it was, by the kind of numbers."""
    run = json.loads(accuracy_path().read_text())
    rows = [r for r in run["results"] if r["stage"] == data.stage(stage) and "residual" in r]
    if not rows:
        return NOT_MEASURED
    first = run["results"][0]["stage"]
    fp32 = {(r["distribution"], r["k"]): r for r in run["results"] if r["stage"] == first}
    lines = ["| numbers | K | taken | residual | FP32's | largest error, of \\|A\\|\\|B\\| | FP32's |", "|---|---:|---|---:|---:|---:|---:|"]
    for r in rows:
        if r["k"] in (16, 256, 4096, 65536):
            of = fp32[r["distribution"], r["k"]]
            lines.append(f"| {r['distribution']} | {r['k']:,} | {r.get('policy', '')} | {r['residual']:.1e} | {of['residual']:.1e} | {r['max_of_magnitudes']:.1e} | {of['max_of_magnitudes']:.1e} |")
    less = [r for r in rows if r["status"] != "fp32"]
    return lines + ["", f"FP32: {batched_name(first)}. {len(rows) - len(less)} of {len(rows)} residuals are no larger than FP32's or 2⁻²³"
                    + (": not " + ", ".join(f"{r['distribution']} at K = {r['k']:,}" for r in less) if less else "") +
                    f". M = N = {run['size']}: {run['device']}, commit {run['commit']}."]


def block_tensor_rounding(data):
    """What the probe `rounding` found out about Tensor Cores' sums."""
    path = FOLDERS["measured"] / "probes" / "rounding.json"
    if not path.exists():
        return ["*Not measured yet: `docs/measurements/measure --steps tensor` does it.*"]
    run = json.loads(path.read_text())
    return ["| operands | instruction | a sum is cut | bits kept below a float's last | products added at once | subnormal numbers |", "|---|---|---|---:|---:|---|",
            *(f"| {r['operands']} | {r['instruction']} | {r['rounding']} | {r['extra_bits']} | {r['products_at_once']} | {'kept' if r['subnormals'] else 'lost'} |" for r in run["results"]),
            "", f"{run['device']}, commit {run['commit']}."]


def rate_run():
    """The probe `tensor_rate`: how fast mma.sync is by what it multiplies; None if it was not measured."""
    path = FOLDERS["measured"] / "probes" / "tensor_rate.json"
    return json.loads(path.read_text()) if path.exists() else None


def block_tensor_rate(data):
    """What the probe `tensor_rate` measured."""
    run = rate_run()
    if not run:
        return NOT_MEASURED
    return ["| operands | numbers | TFLOP/s at first | after a second | clock then |", "|---|---|---:|---:|---:|",
            *(f"| {r['operands']} | {r['numbers']} | {r['tflops_at_first']:.0f} | {r['tflops']:.0f} | {r['ghz']:.2f} GHz |" for r in run["results"]),
            "", f"{run['device']}, commit {run['commit']}."]


def block_tensor_peaks(data, stage):
    """What a stage has at 8192, in all runs, of mma.sync's peaks."""
    rate, runs = rate_run(), [run for run in map(measured, ("h", "variants", "waves")) if run]
    speeds = [r["gflops"] / 1e3 for run in runs for r in run["results"] if r["stage"] == data.stage(stage) and r["problem"]["m"] == 8192]
    if not rate or not speeds:
        return NOT_MEASURED
    by_numbers = {r["numbers"]: r for r in rate["results"] if r["operands"] == "FP16"}
    peaks = {"this loop, with ones": by_numbers["ones"]["tflops"], "the roofline's probe, with more warps": runs[0]["ceilings"]["hmma_gflops"] / 1e3,
             "this loop, with random numbers, after a second": by_numbers["-1 to 1"]["tflops"]}
    return ["| mma.sync | TFLOP/s | the stage has of it |", "|---|---:|---:|",
            *(f"| {name} | {peak:.0f} | {100 * min(speeds) / peak:.0f} to {100 * max(speeds) / peak:.0f} % |" for name, peak in peaks.items()),
            "", f"{min(speeds):.0f} to {max(speeds):.0f} TFLOP/s in {len(speeds)} runs on {rate['device']}s."]


def draw_waves(path, plot_style, save):
    """03 and 03b over the size, beside what mma.sync does with these numbers, at first and in the end."""
    plt = plot_style()
    run, rate = measured("waves"), next(r for r in rate_run()["results"] if (r["operands"], r["numbers"]) == ("FP16", "-1 to 1"))
    speeds = {}
    for r in run["results"]:
        speeds.setdefault(r["stage"].split("/")[1], {})[r["problem"]["m"]] = r["gflops"] / 1e3
    fig, ax = plt.subplots(figsize=(8, 4.4))
    for (stage, of), marker in zip(speeds.items(), "os"):
        ax.plot(*zip(*sorted(of.items())), marker=marker, ms=4, lw=1, label=stage)
    for label, value in (("mma.sync, at first", rate["tflops_at_first"]), ("after a second, power-limited", rate["tflops"])):
        ax.axhline(value, color="tab:red", lw=0.8)
        ax.text(1536, value, label, va="bottom", fontsize=8, color="tab:red")
    tiles, places = (r["launches"][0]["grid"][0] for r in run["results"][-2:])  # 03b has a block for each place
    ax.set_xlabel(f"M = N = K; at the right end 03 has {tiles / places:.1f} waves of blocks")
    ax.set_ylabel("TFLOP/s")
    ax.set_ylim(0, None)
    ax.legend(fontsize=8, loc="lower right")
    ax.set_title(f"{run['device']}: uniform numbers between -1 and 1", fontsize=10)
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


def block_probe_shared(data, probe):
    """What Nsight Compute counted of shared memory in a probe's kernels."""
    run = measured("probe_counters")
    if not run or probe not in run["probes"]:
        return NOT_MEASURED
    return ["| kernel | loads from shared memory, without ldmatrix | stores | wavefronts, those of ldmatrix too |", "|---|---:|---:|---:|",
            *(f"| `{kernel}` | {its['shared_load_requests']:,.0f} | {its['shared_store_requests']:,.0f} | {its['shared_load_wavefronts'] + its['shared_store_wavefronts']:,.0f} |"
              for kernel, its in run["probes"][probe].items()),
            "", f"Nsight Compute, of the launch with most; {run['device']}, commit {run['commit']}."]


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
    """Of an SM's four schedulers, in the time in which a copy moves so many bytes: an H200 as common/report/probe_report.hpp's Machine has it."""
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
    sources = [path for path in (MEASURED, MEASURED.parent / "tensor_variants.json") if path.exists()] or [pathlib.Path(__file__)]
    figures["tensor_roofline.svg"] = (sources, lambda data, path: draw_shared_roofline(path, plot_style, save))
    figures["tensor_swizzle.svg"] = ([DOCS.parent / "tensorcore/03_pipeline.cu"], lambda data, path: draw_swizzle(path, plot_style, save))
    figures["tcec_roofline.svg"] = ([MEASURED, *(p for p in [FOLDERS["measured"] / "tensor_s.json"] if p.exists())],
                                    lambda data, path: draw_tcec_roofline(path, plot_style, save))
    figures["tcec_promotion.svg"] = ([accuracy_path()], lambda data, path: draw_tcec_promotion(path, plot_style, save))
    figures["tcec_policies.svg"] = ([accuracy_path()], lambda data, path: draw_tcec_policies(path, plot_style, save))
    batched = MEASURED.parent / "tensor_batched.json"
    if batched.exists():
        figures["tcec_batched.svg"] = ([batched, MEASURED.parent / "peers.json"], lambda data, path: draw_batched(path, plot_style, save))
    waves, rate = (FOLDERS["measured"] / name for name in ("tensor_waves.json", "probes/tensor_rate.json"))
    if waves.exists() and rate.exists():
        figures["tensor_waves.svg"] = ([waves, rate], lambda data, path: draw_waves(path, plot_style, save))
    for name in PAPER:
        figures[f"{name.split('_')[1]}_instructions.svg"] = (
            [probe_path(name, "counted")], lambda data, path, name=name: draw_instructions(name, path, plot_style, save))
        measured = probe_path(name, "measured")
        if measured.exists():
            figures[figure_of(name)] = ([measured], lambda data, path, name=name: draw_transform(name, path, plot_style, save))
    return figures | {"tensor_banks.svg": ([COUNTS], lambda data, path: draw_banks(data.executor["tensor_sizes"], path, plot_style, save))}
