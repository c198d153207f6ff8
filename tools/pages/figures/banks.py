"""The banks that a warp's accesses to shared memory meet."""

import pathlib
import re

from tools.pages.data import Data
from tools.pages.figures.style import LANES, Draw, Plan, plot_style, pointed, save
from tools.repository import stage_file

SIZE = 11.5  # of text
CONFLICT = "#ffc266"


def draw_banks(source: pathlib.Path, path: pathlib.Path) -> None:
    """Tile bs in shared memory: the bank of each word, and the words that warp 0 reads in one step of the inner
    loop."""
    plt = plot_style(SIZE)
    text = source.read_text()
    tile = int(re.search(r"constexpr int TILE = (\d+)", text).group(1))
    first, second = re.search(r"sum \+= as\[ty\]\[i\] \* bs\[(\w+)\]\[(\w+)\]", text).groups()
    step = 5
    place = {"tx": lambda lane: lane, "i": lambda lane: step}
    words = [(place[first](lane), place[second](lane)) for lane in range(32)]
    fig, ax = plt.subplots(figsize=(8, 4.6))
    image = ax.imshow(
        [[(r * tile + c) % 32 for c in range(tile)] for r in range(tile)], cmap=LANES, extent=(0, tile, tile, 0)
    )
    for r, c in words:
        ax.add_patch(plt.Rectangle((c, r), 1, 1, facecolor="white", edgecolor="black", linewidth=1))
    banks = {}
    for r, c in set(words):
        banks.setdefault((r * tile + c) % 32, set()).add((r, c))
    passes = max(len(b) for b in banks.values())
    r, c = words[tile // 4] if words[0][0] != words[1][0] else words[-1]
    pointed(plt, ax, "white:\nthe words\nof 32 lanes", (c + 0.5, r + 0.5), 1 - (r + 0.5) / tile, SIZE)
    fig.colorbar(image, label="bank", pad=0.3, ticks=[0, 8, 16, 24, 31])
    ax.set_xlabel("second index of bs")
    ax.set_ylabel("first index of bs")
    ax.grid(False)
    ax.set_title(
        f"bs[{first}][{second}], i = {step}: 32 lanes, {len(banks)} bank{'s' if len(banks) > 1 else ''}, "
        f"{passes} cycle{'s' if passes > 1 else ''}",
        fontsize=SIZE,
    )
    save(plt, fig, path)


def draw_scatter(source: pathlib.Path, path: pathlib.Path, threads: int) -> None:
    """The transposed tile of A in shared memory, as far as warp 0 fills it: the bank of each word, and the words of one
    store. threads: how many fetch one row of A's tile, a float4 each."""
    plt = plot_style(SIZE)
    text = source.read_text()
    length = re.search(r"float as\[TILE_K\]\[([A-Z_ +]+)\]", text).group(1)  # of a row: TILE_M, or TILE_M + PAD
    length = sum(
        int(re.search(rf"constexpr int [^;]*?\b{name} = (\d+)", text).group(1)) for name in length.split(" + ")
    )
    rows, columns = 4 * threads, 32
    turned = (lambda k: 32 // threads * (k // 4)) if "swizzle" in text else (lambda k: 0)
    words = [(k, lane // threads ^ turned(k)) for lane in range(32) for k in [lane % threads * 4]]  # as[a_k][a_row]
    banks = {}
    for r, c in words:
        banks.setdefault((r * length + c) % 32, set()).add((r, c))
    passes = max(len(b) for b in banks.values())
    fig, ax = plt.subplots(figsize=(10, 4.2))
    ax.imshow(
        [[(r * length + c) % 32 for c in range(columns)] for r in range(rows)],
        cmap=LANES,
        vmin=0,
        vmax=31,
        extent=(0, columns, rows, 0),
        aspect="auto",
    )
    for r, c in words:
        bank = (r * length + c) % 32
        shared = len(banks[bank]) > 1
        ax.add_patch(plt.Rectangle((c, r), 1, 1, facecolor=CONFLICT if shared else "white", edgecolor="black"))
        ax.text(c + 0.5, r + 0.5, str(bank), ha="center", va="center", fontsize=SIZE)
    ax.set_xlabel(f"row of A (as has {length} words in a row)")
    ax.set_ylabel("step of k")
    ax.set_yticks(range(0, rows + 1, 4))
    ax.grid(False)
    met = " (orange: met more than once)" if passes > 1 else ""
    ax.set_title(
        f"as[a_k][a_row] = a4.x: 32 lanes, {len(banks)} banks{met}, {passes} cycle{'s' if passes > 1 else ''}\n"
        "number and colour: the bank",
        fontsize=SIZE,
    )
    save(plt, fig, path)


def plan(data: Data) -> Plan:
    def of_loads(source: pathlib.Path) -> Draw:
        return lambda data, path: draw_banks(source, path)

    def of_stores(source: pathlib.Path, threads: int) -> Draw:
        return lambda data, path: draw_scatter(source, path, threads)

    found = {}
    for number in ("03", "04"):
        source = stage_file(data.stage(number))
        found[f"banks_{source.stem}.svg"] = ([source], of_loads(source))
    for number, threads, form in (
        ("09a", 2, ""),
        ("09b", 2, ""),
        ("12", 2, ""),
        ("12", 4, "_k16"),
        ("13a", 4, ""),
        ("13b", 4, ""),
    ):
        source = stage_file(data.stage(number))
        found[f"banks_{source.stem}{form}.svg"] = ([source], of_stores(source, threads))
    return found
