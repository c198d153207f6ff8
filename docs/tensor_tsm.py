"""Tensor Cores beside plain FP64 cores in tall & skinny products (docs/tsm/13b, 13c), from what the tuner has timed in one run: part of
generate.py."""
import json

from experiment_figures import FOLDERS, table
from tsm_experiments import PRODUCTS, TYPES

REPORT = FOLDERS[0].parent / "tsm_tuning_tensor.json"
SHOWN = (13, 16, 17, 20, 24, 28, 32, 33, 36, 40, 44, 48, 49, 52, 56, 57, 60, 63, 64)  # M = N in tables
HOW = ("plain", "Tensor Cores")


def shares(report, op, kind):
    """{M = N: (the plain cores' best, the Tensor Cores')}, in % of the plain cores' roofline."""
    found = {}
    for entry in report["sizes"]:
        if (entry["op"], entry["type"]) == (op, kind) and entry["m"] == entry["n"]:
            tensor = [s["pct_roofline"] for name, s in entry["stages"].items() if "tensor" in name]
            plain = [s["pct_roofline"] for name, s in entry["stages"].items() if "tensor" not in name]
            if tensor and plain:
                found[entry["m"]] = max(plain), max(tensor)
    return found


def block_beside_plain(data, op):
    if not REPORT.exists():
        return ["*Not measured yet: `tune_tsm.py cases --beside` begins it.*"]
    report = json.loads(REPORT.read_text())
    columns = {kind: shares(report, op, kind) for kind in TYPES}
    rows = [[str(width), *(f"{share:.1f} %" for kind in TYPES for share in columns[kind].get(width, ())) ] for width in SHOWN
            if all(width in columns[kind] for kind in TYPES)]
    lost = [model["first_loses"] for entry in report["sizes"] if entry["op"] == op for model in entry["models"]]
    worst = {kind: min(columns[kind].items(), key=lambda item: max(item[1])) for kind in TYPES}
    notes = "; ".join(f"{TYPES[kind]}: the better of both at least {max(both):.1f} %, at {width}" for kind, (width, both) in worst.items())
    return [*table(["M = N", *(f"{name}, {how}" for name in TYPES.values() for how in HOW)], rows),
            f"Of the roofline with the plain FP64 cores. All M = N from {min(min(c) for c in columns.values())} to 64 were timed; {notes}. The model's first "
            f"choice loses {100 * sorted(lost)[len(lost) // 2]:.1f} % (median of {len(lost)} sizes of M and N) against the best of those tried.", "",
            f"{report['device']}, commit {report['commit']}, 256 MiB of A.", "",
            f"![{PRODUCTS[op]}: Tensor Cores beside plain cores](../figures/tensor_{op}.svg)"]


def draw(op, path, plot_style, save):
    report = json.loads(REPORT.read_text())
    plt = plot_style()
    fig, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True)
    for ax, kind in zip(axes, TYPES):
        found = shares(report, op, kind)
        ax.plot(list(found), [both[0] for both in found.values()], "C0.-", linewidth=1, markersize=4, label="the best kernels with plain cores")
        ax.plot(list(found), [both[1] for both in found.values()], "C1.-", linewidth=1, markersize=4, label="Tensor Cores")
        ax.axhline(100, color="black", linewidth=0.8)
        ax.set_title(TYPES[kind], fontsize=10)
        ax.set_xlabel("M = N")
    most = max(share for kind in TYPES for both in shares(report, op, kind).values() for share in both)
    axes[0].set_ylim(0, 1.05 * most)
    axes[0].set_ylabel("% of the plain cores' roofline")
    axes[0].legend(fontsize=8, loc="lower left")
    fig.suptitle(f"{PRODUCTS[op]}, 256 MiB of A ({report['device']})", fontsize=10)
    fig.tight_layout()
    save(plt, fig, path)


def plan(plot_style, save):
    """file: ([sources], function(data, path)), as generate.figures() has them"""
    if not REPORT.exists():
        return {}
    return {f"tensor_{op}.svg": ([REPORT], lambda data, path, op=op: draw(op, path, plot_style, save)) for op in PRODUCTS}
