"""The blocks and figures of docs/tsm/probes.md: what `./lab probe` found, as JSON. Part of generate.py."""
import json
import pathlib

DOCS = pathlib.Path(__file__).resolve().parent
MEASURED = DOCS / "measurements" / "nvidia-h200" / "probes"  # may be missing, whole or in part
CODE = DOCS / "measurements" / "cpu" / "probes"  # --sass: needs no GPU
WARPS = ("4", "8", "16")
HYPOTHESES = {"units": "units", "paper": "the paper's", "read_ports": "reading", "write_ports": "writing"}


def record(name, folder=None):
    path = (folder or MEASURED) / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else None


def table(head, rows):
    return ["| " + " | ".join(head) + " |", "|---" + "|---:" * (len(head) - 1) + "|"] + ["| " + " | ".join(row) + " |" for row in rows]


def number(x):
    return "-" if x is None else f"{x:,.0f}" if abs(x) >= 1000 else f"{x:.3g}"


def both(result, measured, predicted):
    """Measured, and in brackets predicted."""
    if result["status"] == "skip":
        return "-"
    return f"{number(result.get(measured))} ({number(result.get(predicted))})"


def unique(values):
    return list(dict.fromkeys(values))


# ---- tables: name -> lines


def bandwidth_row(result):
    where = f"{result['warps_per_sm']} warps an SM" if result["warps_per_sm"] else "1 block, 4 warps"
    return f"{result['word_bytes']} bytes, {where}"


def table_bandwidth(run):
    results = run["results"]
    ilps = unique(r["ilp"] for r in results)
    rows = [[name] + [both(r, "gbs", "predicted_gbs") for r in results if bandwidth_row(r) == name] for name in unique(map(bandwidth_row, results))]
    return table(["GB/s (predicted); loads in flight of a thread:"] + [str(ilp) for ilp in ilps], rows)


def size(bytes):
    return f"{bytes >> 10} KiB" if bytes < 1 << 20 else f"{bytes >> 20} MiB"


def line_series(run):
    """(memory, pattern): results, by lines"""
    found = {}
    for r in run["results"]:
        if r["part"] == "lines":
            found.setdefault((r["memory"], r["pattern"]), []).append(r)
    return found


def table_latency(run):
    chains = [r for r in run["results"] if r["part"] == "chain"]
    lines = table(["chain", "ns (predicted)", "cycles (predicted)"],
                  [[size(r["bytes"]), both(r, "ns", "predicted_ns"), both(r, "cycles", "predicted_cycles")] for r in chains])
    series = line_series(run)
    titles = {"l1": "L1", "shared": "shared memory"}
    rows = [[str(results[0]["lines"])] + [both(r, "cycles", "predicted_cycles") for r in results] for results in zip(*series.values())]
    return lines + [""] + table(["lines; cycles of a load (predicted)"] + [f"{titles[memory]}, {pattern}" for memory, pattern in series], rows)


def loop_name(r):
    if "tile_m" in r:
        loads = {"none": "no loads", "lds64": "loads of 8 bytes", "lds128": "loads of 16 bytes"}[r["kind"]]
        return f"{r['type']}, {r['tile_m']} x {r['tile_n']}, {loads}" + (", fresh" if r["order"] == "fresh" else "")
    count = "" if r["kind"] == "none" else f", {r['per_four']} for 4"
    return f"{r['kind']}{count}, {r['order']}" + (f", {r['lanes']}" if "lanes" in r else "")


def port_shares(run):
    """The loops' names and the percentages of the peak that registers' ports allow, of those loops that nvcc's code is known of."""
    code = {loop_name(r): r["sass"] for r in (record(run["probe"], CODE) or {"results": []})["results"]}
    shares = {}
    for r in run["results"]:
        if (c := code.get(loop_name(r))) is not None:
            cycles = max(c["port_cycles"], 8 * c["loads_128"])  # of a scheduler; such a load takes two of the SM, as is found here
            shares[loop_name(r)] = min(r["predicted"]["units"], 100 * 2 * c["dfma"] / cycles)
    return shares


def best(r):
    """In percent of the peak, over the numbers of warps; None if there is no time."""
    return max(r["percent"].values()) if r.get("percent") else None


def port_misses(run):
    """By how many points the ports' share is above what was measured, where the ports and not the units are the limit."""
    shares = port_shares(run)
    return [shares[loop_name(r)] - best(r) for r in run["results"] if best(r) and shares.get(loop_name(r), 100) < r["predicted"]["units"] - 0.05]


def table_loops(run):
    shares = port_shares(run)
    rows = [[loop_name(r)] + [f"{r['predicted'][key]:.0f}" for key in HYPOTHESES] + [number(shares.get(loop_name(r)))] +
            [number(r.get("percent", {}).get(warps)) for warps in WARPS] for r in run["results"]]
    lines = table(["% of the FP64 peak", *HYPOTHESES.values(), "ports", *(f"{warps} warps" for warps in WARPS)], rows)
    if misses := port_misses(run):
        mean_square = sum(miss * miss for miss in misses) / len(misses)
        lines += ["", f"In {len(misses)} loops ports are the limit. There they and the best of 4, 8 and 16 warps differ by {mean_square ** 0.5:.1f} points "
                  f"(root mean square), by 2 or less in {sum(abs(miss) <= 2 for miss in misses)}, by {max(map(abs, misses)):.1f} at most."]
    return lines


def incorrect_series(run):
    """(type, tile, kernel): results, by blocks"""
    found = {}
    for r in run["results"]:
        found.setdefault((r["type"], f"{r['tile_m']} x {r['tile_n']}", r["kernel"]), []).append(r)
    return found


def table_incorrect(run):
    grids = [run["sm_count"] * waves for waves in (1, 2, 4, 8, 16)]
    rows = []
    for (type, tile, kernel), results in incorrect_series(run).items():
        at = {r["blocks"]: r for r in results}
        rows.append([f"{kernel}, {type}, {tile}", f"{results[0]['resident_blocks'] * results[0]['block_threads'] // 32}"] +
                    [both(at[blocks], "gflops", "predicted_gflops") if blocks in at else "-" for blocks in grids])
    return table(["GFLOP/s (predicted), incorrect on purpose", "warps that fit an SM"] + [f"{blocks} blocks" for blocks in grids], rows)


TABLES = {"bandwidth": table_bandwidth, "latency": table_latency, "coissue": table_loops, "tiles": table_loops, "incorrect": table_incorrect}


def block_probe(data, name):
    """What a probe measured, and its figure."""
    run = record(name)
    if not run and name in TABLES:
        return ["*Not measured yet: `docs/measurements/measure --steps probes` does it.*"]
    return TABLES[name](run) + ["", f"{run['device']}, commit {run['commit']}, `./lab {run['command'].split(' ', 1)[1].split(' --json')[0]}`.", "",
                                f"![{name}](../figures/probe_{name}.svg)"]


def block_probe_code(data, name):
    """What nvcc makes of a probe's loops."""
    run = record(name, CODE)
    if not run and name in ("coissue", "tiles"):
        return [f"*Not compiled yet: `./lab probe {name} --cpu --sass --json docs/measurements/cpu/probes/{name}.json` does it.*"]
    rows = []
    for r in run["results"]:
        c, fmas = r["sass"], r["sass"]["dfma"]
        if r.get("lanes") == "broadcast":
            continue  # the same kernel as spread
        others = c["loads_64"] + c["loads_128"] + c["adds"] + c["moves"]
        rows.append([loop_name(r).replace(", spread", ""), str(fmas), str(c["loads_64"] + c["loads_128"]), str(c["adds"]), str(c["moves"]), str(c["rest"]),
                     f"{others / fmas:.3g}", f"{c['new_operands']:.2f}", f"{c['reused']:.2f}", str(c["registers"])])
    return table(["a round of", "DFMA", "loads", "additions", "moves", "rest", "others/FMA", "new operands of an FMA", ".reuse of an FMA", "registers"],
                 rows) + ["", f"nvcc for sm_90a, commit {run['commit']}."]


# ---- figures


def draw_bandwidth(ax, run):
    for colour, word in enumerate(unique(r["word_bytes"] for r in run["results"])):
        for marker, ilp in zip("osD^v", unique(r["ilp"] for r in run["results"])):
            points = [(r["bytes_in_flight_per_sm"], r["gbs"]) for r in run["results"]
                      if (r["word_bytes"], r["ilp"]) == (word, ilp) and r["warps_per_sm"] and "gbs" in r]
            ax.plot(*zip(*points), marker=marker, markersize=4, color=f"C{colour}", linewidth=0.8, label=f"{word} bytes, {ilp} in flight")
    first = [(r["bytes_in_flight_per_sm"], r["predicted_gbs"]) for r in run["results"] if r["warps_per_sm"]]
    ax.plot(*zip(*sorted(first)), "k--", linewidth=1, label="Little's law")
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    ax.set_xlabel("bytes in flight of an SM")
    ax.set_ylabel("GB/s")


def draw_latency(ax, run):
    chains = [r for r in run["results"] if r["part"] == "chain" and "cycles" in r]
    ax.plot([r["bytes"] for r in chains], [r["cycles"] for r in chains], marker="o", markersize=4, label="measured")
    guessed = [r for r in chains if "predicted_cycles" in r]
    ax.plot([r["bytes"] for r in guessed], [r["predicted_cycles"] for r in guessed], "k_", markersize=14, label="predicted")
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    ax.set_xlabel("bytes of the chain")
    ax.set_ylabel("cycles of a step")


def draw_lines(ax, run):
    for colour, ((memory, pattern), results) in enumerate(line_series(run).items()):
        shown = [r for r in results if "cycles" in r]
        lines = [r["lines"] for r in shown]
        ax.plot(lines, [r["cycles"] for r in shown], "o-", color=f"C{colour}", markersize=4, label=f"{'L1' if memory == 'l1' else memory}, {pattern}")
        ax.plot(lines, [r["predicted_cycles"] for r in shown], "--", color=f"C{colour}", linewidth=1)
    ax.set_xscale("log", base=2)
    ax.set_yscale("log", base=2)
    ax.set_xlabel("lines that a warp's load touches (dashed: predicted)")
    ax.set_ylabel("cycles of an SM for a load")


def draw_coissue(ax, run):
    series = {}
    for r in run["results"]:
        if r["kind"] != "none" and r.get("percent"):
            name = ", ".join([r["kind"], *([r["lanes"]] if "lanes" in r else [r["order"]])])
            series.setdefault(name, []).append((r["others"] / r["fmas"], best(r)))
    for (name, points), marker in zip(series.items(), "osD^v<>pP*X"):
        ax.plot(*zip(*points), marker=marker, markersize=4, linewidth=0.8, label=name)
    most = max((x for points in series.values() for x, _ in points), default=2)
    steps = [most * i / 40 for i in range(41)]
    ax.plot(steps, [100 / (1 + x / 4) for x in steps], "k--", linewidth=1, label="the paper's hypothesis")
    ax.set_ylim(0, 105)
    ax.set_xlabel("other instructions for each DFMA")
    ax.set_ylabel("% of the FP64 peak, the best of 4, 8, 16 warps")


def draw_tiles(ax, run):
    shown = [r for r in run["results"] if best(r)]
    shares = port_shares(run)
    for i, r in enumerate(shown):
        ax.barh(i, best(r), 0.6, color="steelblue" if r["kind"] == "none" else "seagreen")
        for key, marker in (("paper", "x"), ("read_ports", "|"), ("write_ports", "o")):
            ax.plot(r["predicted"][key], i, marker, color="black", fillstyle="none", markersize=7, label=HYPOTHESES[key] if i == 0 else None)
        if loop_name(r) in shares:
            ax.plot(shares[loop_name(r)], i, "d", color="firebrick", markersize=5, label="ports" if i == 0 else None)
    ax.set_yticks(range(len(shown)), [loop_name(r) for r in shown], fontsize=7)
    ax.invert_yaxis()
    ax.set_xlim(0, 105)
    ax.set_xlabel("% of the FP64 peak, the best of 4, 8, 16 warps, and what hypotheses say")


def draw_incorrect(axes, run):
    series = incorrect_series(run)
    for ax, type in zip(axes, unique(type for type, _, _ in series)):
        for colour, tile in enumerate(unique(tile for t, tile, _ in series if t == type)):
            for kernel, marker in (("real", "o"), ("fake", "^"), ("fake_l1", "s")):
                points = [(r["blocks"] * r["block_threads"] / 32 / run["sm_count"], r["gflops"]) for r in series[type, tile, kernel] if "gflops" in r]
                ax.plot(*zip(*points), marker=marker, markersize=4, color=f"C{colour}", linewidth=0.8, label=f"{kernel}, {tile}")
        if "ceilings" in run:
            ax.axhline(run["ceilings"]["dfma_gflops"], color="black", linewidth=1)
        ax.set_xscale("log", base=2)
        ax.set_yscale("log")
        ax.set_title(f"{type}: incorrect on purpose", fontsize=10)
        ax.set_xlabel("warps launched for each SM")
        ax.legend(fontsize=7)
    axes[0].set_ylabel("GFLOP/s that A^T B would have")


def draw(name, run, path, plot_style, save):
    plt = plot_style()
    if name in ("latency", "incorrect"):
        fig, axes = plt.subplots(1, 2, figsize=(11, 4.4))
        if name == "latency":
            draw_latency(axes[0], run)
            draw_lines(axes[1], run)
            for ax in axes:
                ax.legend(fontsize=8)
        else:
            draw_incorrect(axes, run)
    else:
        fig, ax = plt.subplots(figsize=(9, 6.5 if name == "tiles" else 4.8))
        {"bandwidth": draw_bandwidth, "coissue": draw_coissue, "tiles": draw_tiles}[name](ax, run)
        ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=8)
    fig.suptitle(f"{name} ({run['device']})", fontsize=10)
    fig.tight_layout()
    save(plt, fig, path)


def plan(plot_style, save):
    """file: ([sources], function(data, path)), as generate.figures() has them; of what has been measured"""
    def function(name):
        return lambda data, path: draw(name, record(name), path, plot_style, save)

    return {f"probe_{name}.svg": ([MEASURED / f"{name}.json"], function(name)) for name in TABLES if record(name)}
