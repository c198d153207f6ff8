"""When stage 18's blocks work, by its cost model."""

import pathlib

from tools.pages.data import Data
from tools.pages.figures.style import COLOURS, Axes, Plan, plot_style, save
from tools.pages.summit_model import SMS, SOURCES, Model

SIZE = 11.5  # of text
WHOLE, SHARED, ADDING = ("#a9c9e4", "#cfe1f0"), "#f2c891", COLOURS[6]


def block(ax: Axes, begin: float, end: float, high: int, colour: str) -> None:
    """That many resident blocks at work, from when to when."""
    ax.barh(high / 2, end - begin, left=begin, height=high, color=colour, edgecolor="white", linewidth=1.5)


def label(ax: Axes, x: float, y: float, text: str, boxed: bool = False) -> None:
    box = {"boxstyle": "round,pad=0.25", "facecolor": "white", "linewidth": 0} if boxed else None
    ax.text(x, y, text, ha="center", va="center", bbox=box, fontsize=SIZE, zorder=5)


def draw_plan(size: int, path: pathlib.Path) -> None:
    """Who works when, by the model's times: without sharing, and as chosen."""
    plt = plot_style(SIZE)
    model = Model()
    chosen = model.choose(size, size, size)
    alone = model.share(chosen["tile"], size, size, size, chosen["tiles"], 0)
    shape = model.shapes[chosen["tile"]]
    places, slower, packing = SMS * shape["blocks"], chosen["slower"], chosen["packing"]
    fig, axes = plt.subplots(2, 1, figsize=(10, 5), sharex=True, sharey=True)
    for ax, plan, title in ((axes[0], alone, "every tile has a block of its own"), (axes[1], chosen, None)):
        start = packing + model.launch
        cuts = []  # (time, worker): it goes on with the next tile
        for worker in range(plan["workers"]):
            begin, end = ((w * plan["each"] + w * plan["extra"] // plan["workers"]) for w in (worker, worker + 1))
            parts = []
            while begin < end:
                until = min(end, (begin // plan["rounds"] + 1) * plan["rounds"])
                parts.append((begin // plan["rounds"], until - begin))
                begin = until
            at = start
            for _, rounds in parts:
                at += slower * rounds * shape["round"][(plan["workers"] - 1) // SMS]
                cuts.append((at, worker))
            cuts.pop()  # its last tile's end is its own
        if plan["workers"]:
            begun = start
            start += model.wave(
                shape, plan["workers"], plan["each"] + (plan["extra"] > 0), slower, model.tiles_of_a_worker(plan)
            )
            block(ax, begun, start, plan["workers"], SHARED)
            ax.vlines(*zip(*((at, worker, worker + 1) for at, worker in cuts)), color="black", linewidth=1.4)
            each = f"{plan['each']} or {plan['each'] + 1}" if plan["extra"] else f"{plan['each']}"
            said = f"{plan['shared']} tiles\nshared by {plan['workers']} workers,\n{each} rounds each"
            label(ax, (begun + start) / 2, plan["workers"] / 2, said, boxed=True)
        whole, wave = plan["tiles"] - plan["shared"], 0
        while whole > 0:
            blocks = min(whole, places)
            length = model.wave(shape, blocks, plan["rounds"], slower)
            block(ax, start, start + length, blocks, WHOLE[wave % 2])
            label(ax, start + length / 2, blocks / 2, f"{blocks} tiles of {plan['rounds']} rounds")
            start, whole, wave = start + length, whole - blocks, wave + 1
        if plan["workers"]:
            end = packing + model.estimate(plan, slower)
            block(ax, start, end, places, ADDING)
            ax.annotate(
                "adding up\nthe parts",
                ((start + end) / 2, places / 2),
                xytext=(14, 0),
                textcoords="offset points",
                va="center",
            )
            start = end
        title = title or "as chosen (black: a worker goes on to its next tile)"
        ax.set_title(f"{title}: {start:,.0f} us by the model", fontsize=SIZE, loc="left")
        ax.set_ylabel(f"{places} resident\nblocks")
        ax.set_yticks([])
        ax.set_ylim(places, 0)
        ax.grid(False)
    axes[1].set_xlabel("microseconds by the model" + (f", of which {packing:.0f} for packing" if packing else ""))
    fig.suptitle(
        f"M = N = K = {size}: {chosen['tiles']} tiles of {shape['m']} x {shape['n']} on {SMS} SMs, two blocks each",
        fontsize=SIZE,
        y=0.99,
    )
    save(plt, fig, path)


def plan(data: Data) -> Plan:
    return {"plan_18_summit.svg": (SOURCES, lambda data, path: draw_plan(3000, path))}
