"""The figures of docs/tsm/probes.md."""

import pathlib

from tools.pages.data import Data
from tools.pages.figures.style import Axes, Draw, Plan, plot_style, save
from tools.pages.records.probes import (
    HYPOTHESES,
    best,
    incorrect_series,
    line_series,
    loop_name,
    newest_record,
    port_shares,
    record,
    record_path,
    unique,
)
from tools.repository import Json, newest

DRAWN = ("bandwidth", "latency", "coissue", "tiles", "incorrect")


def draw_bandwidth(ax: Axes, run: Json) -> None:
    for colour, word in enumerate(unique(r["word_bytes"] for r in run["results"])):
        for marker, ilp in zip("osD^v", unique(r["ilp"] for r in run["results"])):
            points = [
                (r["bytes_in_flight_per_sm"], r["gbs"])
                for r in run["results"]
                if (r["word_bytes"], r["ilp"]) == (word, ilp) and r["warps_per_sm"] and "gbs" in r
            ]
            ax.plot(
                *zip(*points),
                marker=marker,
                markersize=4,
                color=f"C{colour}",
                linewidth=0.8,
                label=f"{word} bytes, {ilp} in flight",
            )
    first = [(r["bytes_in_flight_per_sm"], r["predicted_gbs"]) for r in run["results"] if r["warps_per_sm"]]
    ax.plot(*zip(*sorted(first)), "k--", linewidth=1, label="Little's law")
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    ax.set_xlabel("bytes in flight of an SM")
    ax.set_ylabel("GB/s")


def draw_latency(ax: Axes, run: Json) -> None:
    chains = [r for r in run["results"] if r["part"] == "chain" and "cycles" in r]
    ax.plot([r["bytes"] for r in chains], [r["cycles"] for r in chains], marker="o", markersize=4, label="measured")
    guessed = [r for r in chains if "predicted_cycles" in r]
    ax.plot(
        [r["bytes"] for r in guessed], [r["predicted_cycles"] for r in guessed], "k_", markersize=14, label="predicted"
    )
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    ax.set_xlabel("bytes of the chain")
    ax.set_ylabel("cycles of a step")


def draw_lines(ax: Axes, run: Json) -> None:
    for colour, ((memory, pattern), results) in enumerate(line_series(run).items()):
        shown = [r for r in results if "cycles" in r]
        lines = [r["lines"] for r in shown]
        ax.plot(
            lines,
            [r["cycles"] for r in shown],
            "o-",
            color=f"C{colour}",
            markersize=4,
            label=f"{'L1' if memory == 'l1' else memory}, {pattern}",
        )
        ax.plot(lines, [r["predicted_cycles"] for r in shown], "--", color=f"C{colour}", linewidth=1)
    ax.set_xscale("log", base=2)
    ax.set_yscale("log", base=2)
    ax.set_xlabel("lines that a warp's load touches (dashed: predicted)")
    ax.set_ylabel("cycles of an SM for a load")


def draw_coissue(ax: Axes, run: Json) -> None:
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


def draw_tiles(ax: Axes, run: Json) -> None:
    shown = [r for r in run["results"] if best(r)]
    shares = port_shares(run)
    for i, r in enumerate(shown):
        ax.barh(i, best(r), 0.6, color="steelblue" if r["kind"] == "none" else "seagreen")
        for key, marker in (("paper", "x"), ("read_ports", "|"), ("write_ports", "o")):
            ax.plot(
                r["predicted"][key],
                i,
                marker,
                color="black",
                fillstyle="none",
                markersize=7,
                label=HYPOTHESES[key] if i == 0 else None,
            )
        if loop_name(r) in shares:
            ax.plot(shares[loop_name(r)], i, "d", color="firebrick", markersize=5, label="ports" if i == 0 else None)
    ax.set_yticks(range(len(shown)), [loop_name(r) for r in shown], fontsize=7)
    ax.invert_yaxis()
    ax.set_xlim(0, 105)
    ax.set_xlabel("% of the FP64 peak, the best of 4, 8, 16 warps, and what hypotheses say")


def draw_incorrect(axes: list[Axes], run: Json) -> None:
    series = incorrect_series(run)
    for ax, type in zip(axes, unique(type for type, _, _ in series)):
        for colour, tile in enumerate(unique(tile for t, tile, _ in series if t == type)):
            for kernel, marker in (("real", "o"), ("fake", "^"), ("fake_l1", "s")):
                points = [
                    (r["blocks"] * r["block_threads"] / 32 / run["sm_count"], r["gflops"])
                    for r in series[type, tile, kernel]
                    if "gflops" in r
                ]
                ax.plot(
                    *zip(*points),
                    marker=marker,
                    markersize=4,
                    color=f"C{colour}",
                    linewidth=0.8,
                    label=f"{kernel}, {tile}",
                )
        if "ceilings" in run:
            ax.axhline(run["ceilings"]["dfma_gflops"], color="black", linewidth=1)
        ax.set_xscale("log", base=2)
        ax.set_yscale("log")
        ax.set_title(f"{type}: incorrect on purpose", fontsize=10)
        ax.set_xlabel("warps launched for each SM")
        ax.legend(fontsize=7)
    axes[0].set_ylabel("GFLOP/s that A^T B would have")


def draw(name: str, run: Json, path: pathlib.Path) -> None:
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


def plan(data: Data) -> Plan:
    def function(name: str) -> Draw:
        return lambda data, path: draw(name, newest_record(name), path)

    return {f"probe_{name}.svg": ([newest(record_path(name))], function(name)) for name in DRAWN if record(name)}
