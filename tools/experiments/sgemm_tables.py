"""The tables of SGEMM's sources: head and rows of text, and sentences below them."""

from tools.experiments.blas import IDLE, STEADY
from tools.experiments.sgemm import (
    BEST,
    EXPERIMENTS,
    LABELS,
    NAIVE,
    PEAKS,
    REQUESTS,
    T4_PEAK,
    Experiment,
    label,
)
from tools.experiments.sgemm_kernels import table_kernels
from tools.experiments.sgemm_view import Size, View, below
from tools.repository import Json
from tools.stats import rank_correlation
from tools.tables import Tables, rounded

SMALL_DIP = 0.1  # what counts as one of the report's "minuscule" dips


def table_speeds(view: View, experiment: Experiment) -> Tables:
    stages = [s for s in experiment.stages() if s in view.stages]
    ratios = [r for r in experiment.ratios if r[0] in stages and r[1] in stages]
    head = ["M = N = K"]
    for s in stages:
        head += [label(s)] + (["there"] if s in experiment.theirs else [])
    for a, b, _ in ratios:
        head += [f"({label(a)}) / ({label(b)})", "there"]
    rows = []
    for size in view.sizes:
        row = [str(size)]
        for s in stages:
            row += [view.cell(s, size)] + ([rounded(experiment.theirs[s].get(size))] if s in experiment.theirs else [])
        for a, b, said in ratios:
            row += [view.ratio(a, b, size), said]
        rows.append(row)
    return [(head, rows)], below(view.record)


def best_of(view: View, stages: list[str], size: Size) -> str | None:
    value = {s: view.gflops(s, size) or view.found.get((s, size), {}).get("share_of_fp32_peak") for s in stages}
    value = {s: v for s, v in value.items() if v}
    return max(value, key=value.get) if value else None


def table_blocks(view: View, experiment: Experiment) -> Tables:
    rows = []
    for size in view.sizes:
        best = best_of(view, view.stages, size)
        rows.append(
            [
                str(size),
                *(view.cell(s, size) for s in view.stages),
                label(best) if best else "-",
                PEAKS.get(size, (0, "-"))[1],
            ]
        )
    return [(["M = N = K", *(label(s) for s in view.stages), "fastest", "fastest there"], rows)], below(view.record)


def table_peaks(view: View, experiment: Experiment) -> Tables:
    rows, peak = [], view.record.get("ceilings", {}).get("ffma_gflops")
    blocks = [s for s in view.stages if s not in ("01", "02")]
    for size in view.sizes:
        best = best_of(view, blocks, size)
        if not best:
            continue
        theirs, which = PEAKS.get(size, (None, "-"))
        ours = view.gflops(best, size)
        rows.append(
            [
                str(size),
                view.cell(best, size),
                label(best),
                f"{100 * ours / peak:.1f} %" if ours and peak else "-",
                rounded(theirs),
                which,
                f"{100 * theirs / T4_PEAK:.1f} %" if theirs else "-",
                view.cell("01", size),
                view.cell("02", size),
                rounded(NAIVE.get(size)),
                view.ratio(best, "01", size),
                view.ratio(best, "02", size),
                f"{theirs / NAIVE[size]:.1f}" if size in NAIVE else "-",
            ]
        )
    return [
        (
            [
                "M = N = K",
                "peak",
                "block",
                "of FP32",
                "peak there",
                "block there",
                "of FP32 there",
                LABELS["01"],
                LABELS["02"],
                "naive there",
                "peak / 01",
                "peak / 02",
                "there",
            ],
            rows,
        )
    ], below(view.record)


def useful_share(n: int, tile: tuple[int, ...] = (128, 64, 64)) -> float:
    """Of the multiplications that a geometry makes for a cube, those that are not with the zeros of padding."""
    made = 1
    for t in tile:
        made *= -(-n // t) * t
    return n**3 / made


def blas_speeds(record: Json) -> dict[int, float]:
    """GFLOP/s of the CPU's BLAS by size. None of a run that did not measure their spread, too."""
    blas = record.get("blas", {})
    return {int(n): speed for n, speed in blas["gflops"].items()} if "spread" in blas else {}


def threads_of(blas: Json) -> str:
    return f"{blas['threads']} thread{'s' if blas['threads'] > 1 else ''}"


def blas_in_words(blas: Json, sizes: int) -> str:
    if "missing" in blas:
        return f"SKIPPED, the CPU's BLAS: {blas['missing']}."
    if "spread" not in blas:
        return (
            "The CPU's BLAS: not measured. This run recorded no spread, and sizes side by side differ by a factor of "
            "10 and more, so it is not shown; `./lab experiment pa2-dips` measures medians and spreads."
        )
    again, doubt = len(blas["again"]), len(blas["in_doubt"])
    threads = threads_of(blas)
    if blas["pinned"]:
        threads += f", {'each ' if blas['threads'] > 1 else ''}on a core of its own,"
    low, high = (100 * share for share in (min(blas["share"].values()), max(blas["share"].values())))
    return (
        f"CPU: {blas['version']}, {threads} "
        f"on {blas['cores']} cores of {blas['cpu']}; medians of {blas['rounds']} rounds. Spread: from the "
        f"first quartile of the rounds to the third, of the median. The threads had {low:.0f} to {high:.0f} % of these "
        "cores' time. "
        f"{again or 'None'} of {sizes} sizes {'was' if again == 1 else 'were'} measured again, because the spread was "
        f"above {100 * STEADY:.0f} % or the share below {100 * IDLE:.0f} %; of {doubt or 'none'} this is still so"
        f"{' (?)' if doubt else ''}."
    )


def largest_fall(speeds: dict[int, float]) -> tuple[float, int, int]:
    """From one size to the next: the share that is lost where that is most, and the two sizes."""
    sizes = sorted(speeds)
    return max((1 - speeds[b] / speeds[a], a, b) for a, b in zip(sizes, sizes[1:]))


def curve_in_words(record: Json) -> str:
    """What the CPU's curve does, beside the GPU's, as the end of a sentence."""
    speeds, blas = blas_speeds(record), record["blas"]
    if blas["in_doubt"]:
        n = len(blas["in_doubt"])
        return (
            f"not judged by this run, because {n} of its {len(speeds)} sizes are in doubt: their rounds differ, or "
            "other programs used the cores"
        )
    first, last = min(speeds), max(speeds)
    lost, a, b = largest_fall(speeds)
    ours = {n: speed for n in speeds if (speed := View(record).gflops(BEST, n))}
    rises = rank_correlation(list(speeds), list(speeds.values())) or 0
    verdict = "as the report found" if lost < SMALL_DIP and rises > 0.5 else "unlike the report's curve"
    words = (
        f"from {rounded(speeds[first])} GFLOP/s at {first} to {rounded(speeds[last])} at {last} (rank correlation "
        f"with the size {rises:.2f}), and from one size to the next it loses {100 * lost:.1f} % at most, from {a} to "
        f"{b}"
    )
    if len(ours) == len(speeds):
        lost, a, b = largest_fall(ours)
        words += f", where our kernel loses {100 * lost:.0f} % from {a} to {b}"
    return f"{words}: {verdict}"


def table_dips(view: View, experiment: Experiment) -> Tables:
    rows, blas, speeds = [], view.record["blas"], blas_speeds(view.record)
    for size in view.sizes:
        r = view.found[BEST, size]
        doubt = " ?" if size in blas.get("in_doubt", []) else ""
        rows.append(
            [
                str(size),
                view.cell(BEST, size),
                f"{100 * useful_share(int(size)):.0f} %",
                rounded(r.get("cublas_gflops")),
                rounded(speeds.get(int(size))) + doubt,
                f"{100 * blas['spread'][str(size)]:.1f} %" if speeds else "-",
            ]
        )
    head = ["M = N = K", label(BEST), "of its work, useful", "cuBLAS", "OpenBLAS, CPU", "its spread"]
    return [(head, rows)], below(
        view.record,
        blas_in_words(blas, len(view.sizes)),
        "Useful: N^3 over the product of N rounded up to 128, 64 and 64; the report draws its two curves and gives "
        "no numbers.",
    )


def tile_intensity(tm: int = 128, tn: int = 64) -> float:
    """Flop per byte that the blocks ask from beyond the SM: 2 tm tn over 4 (tm + tn), for each step of k."""
    return 2 * tm * tn / (4 * (tm + tn))


# Achieved, bandwidth in GiB/s, and q as the report has them.
THEIR_ROOFLINE = [(4065.7, 320, "11.474", "22.948"), (4065.7, 220, "not given", "34.42")]


def roofs(record: Json) -> list[tuple[str, float, float, float]]:
    """(name, GB/s, achieved GFLOP/s, peak GFLOP/s): ours at both bandwidths, then the report's."""
    ours = next((r["gflops"] for r in record["results"] if "gflops" in r), None)
    gib = 2**30 / 1e9
    found = []
    if ours and "ceilings" in record:
        c = record["ceilings"]
        found += [
            ("here, measured bandwidth", c["read_gbs"], ours, c["ffma_gflops"]),
            ("here, 220/320 of it", c["read_gbs"] * 220 / 320, ours, c["ffma_gflops"]),
        ]
    return found + [(f"there, {b} GiB/s", b * gib, speed, T4_PEAK) for speed, b, _, _ in THEIR_ROOFLINE]


def table_roofline(view: View, experiment: Experiment) -> Tables:
    said = {f"there, {b} GiB/s": (per_byte, per_word) for _, b, per_byte, per_word in THEIR_ROOFLINE}
    rows = []
    for name, bandwidth, achieved, peak in roofs(view.record):
        q = achieved / bandwidth
        rows.append(
            [
                name,
                rounded(bandwidth),
                rounded(achieved),
                rounded(peak),
                f"{peak / bandwidth:.1f}",
                f"{q:.2f}",
                f"{4 * q:.1f}",
                *said.get(name, ("-", "-")),
                rounded(min(peak, tile_intensity() * bandwidth)),
            ]
        )
    return [
        (
            [
                "roofline",
                "GB/s",
                "achieved, GFLOP/s",
                "peak, GFLOP/s",
                "ridge, flop/byte",
                "achieved / bandwidth, flop/byte",
                "flop/word of 4 bytes",
                "the report's q, flop/byte",
                'its q, flop/"word"',
                "roof at the tiles' intensity",
            ],
            rows,
        )
    ], below(
        view.record,
        f"The tiles' intensity is {tile_intensity():.1f} flop/byte (128 x 64 outputs, no reuse in a cache); that of "
        "the whole "
        "product, N / 6, is 683 at 4096. Neither depends on the bandwidth. Achieved over bandwidth is the least "
        "intensity that explains the speed.",
    )


THEIR_RECTANGLE = "2048x2048x1024"


def table_rectangular(view: View, experiment: Experiment) -> Tables:
    rows = []
    for size in view.sizes:
        for s in view.stages:
            r = view.found[s, size]
            rows.append(
                [
                    str(size),
                    label(s),
                    r["status"] + (f": {r['reason']}" if "reason" in r else ""),
                    f"{r['max_ratio']:.3f}" if "max_ratio" in r else "-",
                    view.cell(s, size),
                    *(("wrong: 915375 differences", "3464.4") if size == THEIR_RECTANGLE else ("-", "-")),
                ]
            )
    return [
        (["M x N x K", "geometry", "check", "error, of its bound", "speed", "there", "GFLOP/s printed there"], rows)
    ], below(view.record)


def table_requests(view: View, experiment: Experiment) -> Tables:
    rows = []
    for s in view.stages:
        r = view.found[s, view.sizes[0]]
        name, theirs = REQUESTS[s]
        rows.append(
            [name, s, r["status"], rounded(r.get("shared_load_lanes")), theirs, rounded(r.get("shared_load_requests"))]
        )
    return [
        (
            ["loads of A's and B's tiles", "stage", "check", "work-items that ask", "the article's", "warps that ask"],
            rows,
        )
    ], below(view.record)


TABLES = {
    "speeds": table_speeds,
    "blocks": table_blocks,
    "peaks": table_peaks,
    "dips": table_dips,
    "roofline": table_roofline,
    "rectangular": table_rectangular,
    "kernels": table_kernels,
    "requests": table_requests,
}


def tables(record: Json) -> Tables:
    """([(head, rows)...], sentences)"""
    experiment = EXPERIMENTS[record["experiment"]]
    return TABLES[experiment.kind](View(record), experiment)
