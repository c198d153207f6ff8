"""When stage 18's blocks work, by its cost model."""

import pathlib

from tools.pages.data import Data
from tools.pages.figures.style import Plan, plot_style, save
from tools.pages.summit_model import SMS, SOURCES, Model


def draw_plan(size: int, path: pathlib.Path) -> None:
    """Who works when, by the model's times: without sharing, and as chosen."""
    plt = plot_style()
    model = Model()
    chosen = model.choose(size, size, size)
    alone = model.share(chosen["tile"], size, size, size, chosen["tiles"], 0)
    shape = model.shapes[chosen["tile"]]
    places, slower, packing = SMS * shape["blocks"], chosen["slower"], chosen["packing"]
    fig, axes = plt.subplots(2, 1, figsize=(9, 5.2), sharex=True, sharey=True)
    for ax, plan, title in ((axes[0], alone, "every tile has a block of its own"), (axes[1], chosen, None)):
        start = packing + model.launch
        colours = plt.get_cmap("tab20").colors
        for worker in range(plan["workers"]):
            begin, end = ((w * plan["each"] + w * plan["extra"] // plan["workers"]) for w in (worker, worker + 1))
            parts = []
            while begin < end:
                until = min(end, (begin // plan["rounds"] + 1) * plan["rounds"])
                parts.append((begin // plan["rounds"], until - begin))
                begin = until
            at = start
            for tile, rounds in parts:
                length = slower * rounds * shape["round"][(plan["workers"] - 1) // SMS]
                ax.barh(worker, length, left=at, height=1, color=colours[tile % 20], linewidth=0)
                at += length
        if plan["workers"]:
            start += model.wave(
                shape, plan["workers"], plan["each"] + (plan["extra"] > 0), slower, model.tiles_of_a_worker(plan)
            )
        whole, wave = plan["tiles"] - plan["shared"], 0
        while whole > 0:
            blocks = min(whole, places)
            length = model.wave(shape, blocks, plan["rounds"], slower)
            ax.barh(
                (blocks - 1) / 2,
                length - 4,
                left=start + 2,
                height=blocks,
                color=("#c9d6e6", "#dde5ee")[wave % 2],
                linewidth=0,
            )
            ax.text(
                start + length / 2,
                blocks / 2,
                f"{blocks} tiles of {plan['rounds']} rounds",
                ha="center",
                va="center",
                fontsize=9,
            )
            start, whole, wave = start + length, whole - blocks, wave + 1
        if plan["workers"]:
            end = packing + model.estimate(plan, slower)
            ax.barh((places - 1) / 2, end - start, left=start, height=places, color="#b04030", linewidth=0)
            start = end
        title = title or (
            f"as chosen, {plan['shared']} tiles (a colour each) shared by {plan['workers']} workers, {plan['each']} or "
            f"{plan['each'] + 1} rounds each"
        )
        ax.set_title(f"{title}: {start:,.0f} us by the model", fontsize=10, loc="left")
        ax.set_ylabel(f"places, 0 to {places - 1}")
        ax.set_ylim(places, 0)
        ax.grid(False)
    axes[1].set_xlabel(
        "microseconds by the model"
        + (f", of which {packing:.0f} for packing" if packing else "")
        + "; red: adding up the shared tiles' parts"
    )
    fig.suptitle(
        f"M = N = K = {size}: {chosen['tiles']} tiles of {shape['m']} x {shape['n']} on {SMS} SMs, two blocks each",
        fontsize=10,
    )
    save(plt, fig, path)


def plan(data: Data) -> Plan:
    return {"plan_18_summit.svg": (SOURCES, lambda data, path: draw_plan(3000, path))}
