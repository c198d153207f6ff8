"""The blocks and figures of docs/sources.md and docs/tsm/experiments.md: what `./lab experiment` found (JSON), beside the sources' own
figures. Part of generate.py."""
import json
import pathlib
import sys

DOCS = pathlib.Path(__file__).resolve().parent
MEASUREMENTS = DOCS / "measurements"
sys.path.insert(0, str(MEASUREMENTS))
sys.dont_write_bytecode = True
import experiments  # noqa: E402
import tsm_experiments  # noqa: E402

# A GPU's before the executor's.
FOLDERS = [MEASUREMENTS / "nvidia-h200" / "experiments", MEASUREMENTS / "cpu" / "experiments"]


def record_file(name):
    return next((folder / f"{name}.json" for folder in FOLDERS if (folder / f"{name}.json").exists()), None)


def block_source(data, name):
    """The tables of an experiment, and its figure."""
    experiment = experiments.EXPERIMENTS[name]
    path = record_file(name)
    if not path:
        how = "./lab experiment article --cpu --out docs/measurements/cpu/experiments" if experiment.kind == "requests" else "docs/measurements/measure"
        return [f"*Not measured yet: run `{how}`.*"]
    record = json.loads(path.read_text())
    found, notes = experiments.tables(record)
    lines = [line for head, rows in found for line in table(head, rows)]
    lines.append(" ".join(notes))
    if name in drawn():
        lines += ["", f"![{experiment.title}](figures/source_{name}.svg)"]
    return lines


def table(head, rows):
    return ["| " + " | ".join(head) + " |", "|" + "---:|" * len(head), *("| " + " | ".join(row) + " |" for row in rows), ""]


def block_experiment(data, name, folder=FOLDERS[0]):
    """The tables and the figure of one of E2 to E14, on a GPU."""
    path = folder / f"{name}.json"
    if not path.exists():
        return [f"*Not measured yet: `./lab experiment {name}` does it.*"]
    record = json.loads(path.read_text())
    found, notes = tsm_experiments.tables(record)
    lines = [line for head, rows in found for line in table(head, rows)]
    return [*lines, " ".join(notes), "", f"![{record['title']}](../figures/experiment_{name}.svg)"]


def block_experiment_ncu(data, name, folder=FOLDERS[0]):
    """What an experiment's --ncu has read."""
    path = folder / f"{name}_ncu.json"
    if not path.exists():
        return [f"*Not measured yet: `./lab experiment {name} --ncu` does it.*"]
    record = json.loads(path.read_text())
    return [*table(*tsm_experiments.TABLES_OF_COUNTED[name](record)), f"{record['device']}, commit {record['commit']}, Nsight Compute."]


def block_exhaustive(data, folder=FOLDERS[0].parent):
    """What the tuner loses by not trying every kernel (tune_tsm.py digest --tried)."""
    path = folder / "tsm_exhaustive.json"
    if not path.exists():
        return ["*Not measured yet: `tune_tsm.py cases --exhaustive` begins it.*"]
    report = json.loads(path.read_text())
    rows = [[tsm_experiments.PRODUCTS[e["op"]], tsm_experiments.TYPES[e["type"]], f"{e['m']} x {e['n']}",
             ", ".join(model["stage"].split("/")[1].split("_")[0] for model in e["models"]), f"{e['tried']:,}", f"{1e3 * e['best']['ms']:.1f}",
             str(e["tuning"]["tries"]), f"{1e3 * e['tuning']['ms']:.1f}", f"{100 * e['tuning']['loses']:.1f} %"] for e in report["sizes"]]
    head = ["product", "type", "M x N", "stages", "all their kernels", "the best, us", "kernels tried", "their best, us", "lost"]
    return [*table(head, rows),
            f"{report['device']}, commit {report['commit']}; {len(report['wrong']) or 'none'} of them wrong; 256 MiB of A."]


def block_pairs(data, folder=FOLDERS[0].parent):
    """What pairs.py has found: the best kernels at every M and N."""
    path = folder / "pairs.json"
    if not path.exists():
        return ["*Not measured yet: `docs/measurements/measure --steps pairs` does it.*"]
    record = json.loads(path.read_text())
    rows = [[tsm_experiments.PRODUCTS[row["op"]], tsm_experiments.TYPES[row["type"]], f"{row['pairs']:,}", f"{row['problems']:,}",
             f"{row['problems'] - row['pass']:,}", f"{row['worst']:.2f}"] for row in record["groups"]]
    head = ["product", "type", "pairs of M and N", "problems", "wrong", "largest error, of its bound"]
    again = [f"{row['pairs']:,} pairs of {tsm_experiments.PRODUCTS[row['op']]} in {tsm_experiments.TYPES[row['type']]} (commit {', '.join(run['commits'])}): "
             f"{row['pass']:,} of {row['problems']:,} problems right" for run in record.get("again", []) for row in run["groups"]]
    return [*table(head, rows), f"{record['device']}, commits {', '.join(record['commits'])}." + (f" Run anew: {'; '.join(again)}." if again else "")]


def drawn():
    """The experiments with a figure: those that were timed, and the counts of requests."""
    return {name: path for name, experiment in experiments.EXPERIMENTS.items()
            if (path := record_file(name)) and experiment.kind in DRAW and (experiment.kind == "requests" or not json.loads(path.read_text())["executor"])}


def plan(plot_style, save):
    """file: ([sources], function(data, path)), as generate.figures() has them"""
    def draw(name, source):
        def function(data, path):
            record = json.loads(source.read_text())
            plt = plot_style()
            fig, ax = plt.subplots(figsize=(8, 4.4))
            DRAW[experiments.EXPERIMENTS[name].kind](ax, record)
            ax.set_title(f"{record['title']} ({record['device']})", fontsize=10)
            save(plt, fig, path)
        return function

    def draw_of_paper(source):
        return lambda data, path: draw_experiment(json.loads(source.read_text()), path, plot_style, save)

    found = {f"source_{name}.svg": ([path, MEASUREMENTS / "experiments.py"], draw(name, path)) for name, path in drawn().items()}
    for name in tsm_experiments.EXPERIMENTS:
        path = FOLDERS[0] / f"{name}.json"
        if path.exists():
            found[f"experiment_{name}.svg"] = ([path, MEASUREMENTS / "tsm_experiments.py"], draw_of_paper(path))
    return found


def beside(ax, title=None):
    ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=8, title=title, title_fontsize=8)


def curve(ax, view, stage, **style):
    points = [(size, view.gflops(stage, size)) for size in view.sizes if view.gflops(stage, size)]
    ax.plot(*zip(*points), markersize=4, label=experiments.label(stage), **{"marker": "o", **style})


def sizes_axis(ax, sizes):
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    ax.set_xticks(sizes, [str(s) for s in sizes])
    ax.set_xlabel("M = N = K")
    ax.set_ylabel("GFLOP/s")


def draw_speeds(ax, record):
    view, experiment = experiments.View(record), experiments.EXPERIMENTS[record["experiment"]]
    for stage in view.stages:
        curve(ax, view, stage)
    theirs = {f"the source's {experiments.label(stage)}": found for stage, found in experiment.theirs.items()}
    if experiment.kind in ("blocks", "peaks"):
        theirs["the report's peaks"] = {size: speed for size, (speed, _) in experiments.PEAKS.items()}
    for name, found in theirs.items():
        ax.plot(list(found), list(found.values()), marker="s", markersize=4, linestyle="--", color="grey", label=name)
    sizes_axis(ax, view.sizes)
    beside(ax)


def draw_dips(ax, record):
    view = experiments.View(record)
    curve(ax, view, experiments.BEST, marker=".")
    points = [(size, view.found[experiments.BEST, size].get("cublas_gflops")) for size in view.sizes]
    if all(speed for _, speed in points):
        ax.plot(*zip(*points), marker=".", color="black", linestyle="--", label="cuBLAS")
    blas = record["blas"].get("gflops")
    if blas:
        ax.plot([int(n) for n in blas], list(blas.values()), marker=".", color="darkorange", label=f"OpenBLAS, {record['blas']['cores']} CPU cores")
    for size in view.sizes:
        if size % 128 == 0:
            ax.axvline(size, color="lightgrey", linewidth=0.8, zorder=0)
    ax.set_yscale("log")
    ax.set_xlabel("M = N = K (grey: multiples of 128)")
    ax.set_ylabel("GFLOP/s")
    beside(ax)


def draw_roofline(ax, record):
    lowest, highest = 1, 1024
    for n, (name, bandwidth, achieved, peak) in enumerate(experiments.roofs(record)):
        colour = ("tab:blue", "tab:cyan", "dimgrey", "darkgrey")[n % 4]
        ax.plot([lowest, peak / bandwidth, highest], [lowest * bandwidth, peak, peak], color=colour, label=f"{name}: {bandwidth:.0f} GB/s")
        ax.plot([achieved / bandwidth], [achieved], marker="x", color=colour, linestyle="none")
        ax.plot([experiments.tile_intensity()], [achieved], marker="o", color=colour, linestyle="none")
    ax.plot([], [], marker="x", color="black", linestyle="none", label="achieved, at the report's q")
    ax.plot([], [], marker="o", color="black", linestyle="none", label="achieved, at the tiles' intensity")
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    ax.set_xlabel("flop per byte")
    ax.set_ylabel("GFLOP/s")
    beside(ax)


def draw_kernels(ax, record):
    view = experiments.View(record)
    stages = [s for s in experiments.KERNELS if view.gflops(s, 8192)]
    ax.plot(stages, [view.gflops(s, 8192) for s in stages], marker="o", label=record["device"])
    ax.plot(stages, [experiments.KERNELS[s] for s in stages], marker="s", linestyle="--", color="grey", label="GTX 1070, the case study's")
    ax.set_yscale("log")
    ax.set_xlabel("stage (kernels 1 to 8)")
    ax.set_ylabel("GFLOP/s at 8192")
    beside(ax)


def draw_requests(ax, record):
    names = [experiments.REQUESTS[r["stage"]][0] for r in record["results"]]
    lanes = [r["shared_load_lanes"] for r in record["results"]]
    ax.bar(range(len(names)), lanes, 0.6, color="steelblue")
    for n, r in enumerate(record["results"]):
        ax.text(n, lanes[n], f"{lanes[n]:,} of work-items,\n{r['shared_load_requests']:,} of warps", ha="center", va="bottom", fontsize=8)
    ax.set_xticks(range(len(names)), names)
    ax.set_ylim(0, 1.2 * max(lanes))
    ax.set_ylabel("requests to shared memory")
    ax.grid(axis="x", visible=False)


DRAW = {"speeds": draw_speeds, "blocks": draw_speeds, "peaks": draw_speeds, "dips": draw_dips, "roofline": draw_roofline,
        "kernels": draw_kernels, "requests": draw_requests}


# ---- E2 to E14: function(plt, record), which returns the figure


def roofline_gflops(record, width, kind, op):
    """Of M = N, in 1e9 flop/s: as common/measure/roofline.cpp has it, with the plain FP64 cores."""
    c = record["ceilings"]
    flop_per_byte = width / (8 if kind == "d" else 4)  # 2 M N over (M + N) 8, four times the flops and twice the bytes
    return min(c["dfma_gflops"], flop_per_byte * c["scale_gbs" if op == "tsmm" else "read_gbs"])


def dash(kind):
    return "-" if kind == "d" else "--"


def square_curve(view, series, kind, key):
    points = [(m, r[key]) for m, n in view.sizes if m == n and (r := view.at(series, kind, m, n)) and key in r]
    return list(zip(*points)) or [(), ()]


def draw_shares(plt, record):
    """% of the roofline against M = N, a line for each series and type."""
    view = tsm_experiments.View(record)
    fig, ax = plt.subplots(figsize=(8, 4.4))
    for i, series in enumerate(view.series):
        for kind in view.types:
            ax.plot(*square_curve(view, series, kind, "pct_roofline"), dash(kind), color=f"C{i}", marker=".", markersize=4,
                    label=f"{series}, {tsm_experiments.TYPES[kind]}")
    ax.axhline(100, color="black", linewidth=1)
    ax.set_ylim(bottom=0)
    ax.set_xlabel("M = N")
    ax.set_ylabel("% of the roofline, plain FP64 cores")
    beside(ax)
    return fig


def draw_curves(plt, record):
    """TFLOP/s against M = N, a line for each value of an option, below the roofline."""
    view = tsm_experiments.View(record)
    fig, ax = plt.subplots(figsize=(8, 4.4))
    for i, series in enumerate(view.series):
        widths, speeds = square_curve(view, series, "d", "gflops")
        ax.plot(widths, [speed / 1e3 for speed in speeds], color=f"C{i}", marker=".", markersize=4, label=series)
    widths, op = range(1, 65), record["results"][0]["op"]
    ax.plot(widths, [roofline_gflops(record, m, "d", op) / 1e3 for m in widths], "k--", linewidth=1, label="roofline")
    ax.set_xlabel("M = N, double")
    ax.set_ylabel("TFLOP/s")
    ax.set_ylim(bottom=0)
    beside(ax, tsm_experiments.EXPERIMENTS[record["experiment"]].legend or None)
    return fig


def draw_tiles(plt, record):
    """A heat map over TM and TN for each type, with the lines of 128 and 255 registers."""
    view = tsm_experiments.View(record)
    fig, axes = plt.subplots(1, len(view.types), figsize=(5.4 * len(view.types), 4.6), squeeze=False)
    for ax, kind in zip(axes[0], view.types):
        speeds = {(r["options"]["tile_m"], r["options"]["tile_n"]): r["gflops"] / 1e3 for r in view.results if r["type"] == kind and "gflops" in r}
        most = max(max(tile) for tile in speeds)
        sides = range(1, most + 1)
        image = ax.imshow([[speeds.get((tm, tn), float("nan")) for tn in sides] for tm in sides], origin="lower", cmap="viridis", vmin=0,
                          extent=(0.5, most + 0.5, 0.5, most + 0.5))
        line = [[tsm_experiments.register_line(tm, tn, kind) for tn in sides] for tm in sides]
        if most > 1:
            ax.contour(sides, sides, line, levels=[128, 255], colors="white", linewidths=1.2)
        (tm, tn), best = max(speeds.items(), key=lambda item: item[1])
        ax.plot([tn], [tm], "r+", markersize=9)
        ax.set_title(f"{tsm_experiments.TYPES[kind]}: best {tm} x {tn}, {best:.1f} TFLOP/s", fontsize=10)
        ax.set_xlabel("TN (lines: 128 and 255 registers)")
        ax.set_ylabel("TM")
        ax.grid(False)
        fig.colorbar(image, ax=ax, label="TFLOP/s", shrink=0.85)
    return fig


def draw_reductions(plt, record):
    """Speed as a share of that without a reduction, against K, for each size."""
    view = tsm_experiments.View(record)
    fig, axes = plt.subplots(1, len(view.sizes), figsize=(3 * len(view.sizes), 3.4), sharey=True, squeeze=False)
    for ax, (m, n) in zip(axes[0], view.sizes):
        for i, series in enumerate(tsm_experiments.reductions_of(view)):
            points = [(k, share) for k in tsm_experiments.lengths_of(view, m, n)
                      if (share := tsm_experiments.relative(view, m, n, k, series)) is not None]
            ax.plot(*(list(zip(*points)) or [(), ()]), color=f"C{i}", marker=".", label=series)
        ax.axhline(100, color="black", linewidth=1)
        ax.set_xscale("log")
        ax.set_ylim(0, 130)
        ax.set_title(f"M x N = {m} x {n}", fontsize=10)
        ax.set_xlabel("K")
    axes[0][0].set_ylabel("% of the speed without a reduction")
    axes[0][0].legend(frameon=False, fontsize=8, loc="lower right")
    return fig


def draw_map(plt, record):
    """% of the roofline over M and N, for each product and type."""
    view = tsm_experiments.View(record)
    fig, axes = plt.subplots(len(view.series), len(view.types), figsize=(6.4 * len(view.types), 5.6 * len(view.series)), squeeze=False)
    for row, series in zip(axes, view.series):
        for ax, kind in zip(row, view.types):
            shares = {(m, n): r["pct_roofline"] for m, n in view.sizes if (r := view.at(series, kind, m, n)) and "pct_roofline" in r}
            ms, ns = (sorted({size[i] for size in view.sizes}) for i in (0, 1))
            image = ax.imshow([[shares.get((m, n), float("nan")) for n in ns] for m in ms], origin="lower", cmap="viridis", vmin=0, vmax=100)
            for y, m in enumerate(ms):
                for x, n in enumerate(ns):
                    if (m, n) in shares:
                        ax.text(x, y, f"{shares[m, n]:.0f}", ha="center", va="center", fontsize=7, color="white" if shares[m, n] < 70 else "black")
            ax.set_xticks(range(len(ns)), ns, fontsize=8)
            ax.set_yticks(range(len(ms)), ms, fontsize=8)
            ax.set_xlabel("N")
            ax.set_ylabel("M")
            ax.grid(False)
            ax.set_title(f"{series}, {tsm_experiments.TYPES[kind]}", fontsize=10)
            fig.colorbar(image, ax=ax, label="% of the roofline", shrink=0.85)
    return fig


def draw_experiment(record, path, plot_style, save):
    plt = plot_style()
    experiment = tsm_experiments.EXPERIMENTS[record["experiment"]]
    fig = {"shares": draw_shares, "curves": draw_curves, "tiles": draw_tiles, "reductions": draw_reductions, "map": draw_map}[experiment.kind](
        plt, record)
    fig.suptitle(f"{record['experiment']}: {record['title']} ({record['device']})", fontsize=10)
    fig.tight_layout()
    save(plt, fig, path)
