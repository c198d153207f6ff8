"""The tables of SGEMM's sources: head and rows of text, and sentences below them."""

from tools.experiments.blas import IDLE, STEADY
from tools.experiments.sgemm import (
    BEST,
    EXPERIMENTS,
    GUARDED,
    KERNEL_8,
    KERNELS,
    LABELS,
    NAIVE,
    PADDED,
    PASCAL_CUBLAS,
    PASCAL_GBS,
    PASCAL_PEAK,
    PEAKS,
    PRODUCT,
    REQUESTS,
    T4_PEAK,
    Experiment,
    label,
)
from tools.repository import Json
from tools.stats import rank_correlation
from tools.tables import Tables, number, rounded

Size = int | str  # 1024, or 128x128x8
SMALL_DIP = 0.1  # what counts as one of the report's "minuscule" dips


class View:
    """The results of a record by stage and size."""

    def __init__(self, record: Json) -> None:
        self.record, self.found = record, {}
        for r in record["results"]:
            self.found[r["stage"], self.size(r)] = r
        self.sizes = list(dict.fromkeys(self.size(r) for r in record["results"]))
        self.stages = list(dict.fromkeys(r["stage"] for r in record["results"]))

    @staticmethod
    def size(r: Json) -> Size:
        m, n, k = r["shape"]
        return m if m == n == k else f"{m}x{n}x{k}"

    def gflops(self, stage: str, size: Size) -> float | None:
        return self.found.get((stage, size), {}).get("gflops")

    def cell(self, stage: str, size: Size) -> str:
        """GFLOP/s; on the executor, the share of the FP32 peak that the counts allow; else what the check says."""
        r = self.found.get((stage, size))
        if not r:
            return "-"
        if r["status"] != "pass":
            return f"{r['status']}: {r.get('reason', '')}"[:60]
        if "gflops" in r:
            return rounded(r["gflops"])
        return f"{100 * r['share_of_fp32_peak']:.1f} %" if "share_of_fp32_peak" in r else r["status"]

    def ratio(self, a: str, b: str, size: Size) -> str:
        both = [self.found.get((s, size), {}) for s in (a, b)]
        key = "gflops" if "gflops" in both[0] else "share_of_fp32_peak"
        return f"{both[0][key] / both[1][key]:.2f}" if all(key in r for r in both) else "-"


def below(record: Json, *more: str) -> list[str]:
    if record["executor"]:
        first = (
            f"{record['device']}, commit {record['commit']}: checked and counted; in place of speeds, the share of "
            "the FP32 peak that "
            "the counts allow. Speeds need a GPU."
        )
    else:
        first = (
            f"{record['device']}, driver {record['driver']}, CUDA {record['cuda']}, commit {record['commit']}; "
            "GFLOP/s, medians, warm cache."
        )
    missing = [f"Not in this build: {', '.join(record['missing'])}."] if record["missing"] else []
    return [first, *missing, *more]


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
        f"above {100 * STEADY:.0f} % or the share below {100 * IDLE:.0f} %; of {doubt or 'none'} this is still so (?)."
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


def percent_of(part: float | None, whole: float | None, digits: int = 1) -> str:
    return f"{100 * part / whole:.{digits}f} %" if part and whole else "-"


def rows_of_kernels(view: View, sizes: list[Size]) -> list[list[str]]:
    """All kernels at the largest size."""
    peak, largest = view.record.get("ceilings", {}).get("ffma_gflops"), sizes[-1]
    return [
        [
            kernel,
            form,
            s,
            str(largest),
            view.cell(s, largest) if s in view.stages else "not measured",
            percent_of(view.gflops(s, largest), peak),
            rounded(theirs) if theirs else "not given",
            percent_of(theirs, PASCAL_PEAK),
        ]
        for s, (kernel, form, theirs) in KERNELS.items()
    ]


def rows_beside_cublas(view: View, sizes: list[Size]) -> list[list[str]]:
    """Kernel 8 at all sizes, each form beside cuBLAS as it was timed alternately with it."""
    rows = []
    for size in sizes:
        row = [str(size), rounded(view.found.get((GUARDED, size), {}).get("cublas_gflops"))]
        for s in (PADDED, PRODUCT, GUARDED):
            cublas = view.found.get((s, size), {}).get("cublas_gflops")
            measured = s in view.stages
            row += [view.cell(s, size) if measured else "not measured", percent_of(view.gflops(s, size), cublas)]
        theirs, their_cublas = KERNEL_8.get(size), PASCAL_CUBLAS.get(size)
        rows.append([*row, rounded(their_cublas), rounded(theirs), percent_of(theirs, their_cublas, 2)])
    return rows


def copied_gbytes(n: int) -> float:
    """Read and written where A, B and C are copied once, which is what padding takes, and C's way back, at beta = 0."""
    return 6 * 4e-9 * n**2


def rows_of_copies(view: View, sizes: list[Size]) -> list[list[str]]:
    """Of kernel 8: the product, and the copies before and behind it."""

    def row(n: int, product: float, padded: float, gbytes_s: float) -> list[str]:
        copies = padded - product
        by_bytes = 1e3 * copied_gbytes(n) / gbytes_s
        return [*map(three_digits, (product, padded, copies)), f"{100 * copies / padded:.1f} %", three_digits(by_bytes)]

    rows = []
    for size in sizes:
        product, padded = (view.found.get((s, size), {}).get("ms") for s in (PRODUCT, PADDED))
        if product and padded and isinstance(size, int):
            rows.append([f"{size}, here", *row(size, product, padded, view.record["ceilings"]["copy_gbs"])])
    if not rows:
        rows = [["here", *["not measured"] * 5]]
    product, padded = (2e-6 * 8192**3 / theirs for s in (PRODUCT, PADDED) if (theirs := KERNELS[s][2]))
    return [*rows, ["8192, there", *row(8192, product, padded, PASCAL_GBS)]]


def three_digits(ms: float) -> str:
    return number(ms, whole_from=100)


def table_kernels(view: View, experiment: Experiment) -> Tables:
    sizes = [size for size in view.sizes if any((s, size) in view.found for s in (PADDED, PRODUCT, GUARDED))]
    sizes = sizes or view.sizes  # of a build without stage 09a
    tables = [
        (
            ["kernel", "form", "stage", "M = N = K", "GFLOP/s", "of FP32", "there, at 8192", "of FP32 there"],
            rows_of_kernels(view, sizes),
        ),
        (
            [
                "M = N = K",
                "cuBLAS",
                "kernel 8 (09a:padded)",
                "ratio",
                "its product (09a:product)",
                "ratio",
                "09a, guards",
                "ratio",
                "cuBLAS there",
                "kernel 8 there",
                "ratio there",
            ],
            rows_beside_cublas(view, sizes),
        ),
    ]
    if not view.record["executor"]:
        tables.append(
            (
                [
                    "kernel 8, M = N = K",
                    "product, ms",
                    "with its copies, ms",
                    "copies, ms",
                    "of the time",
                    "copies by their bytes, ms",
                ],
                rows_of_copies(view, sizes),
            )
        )
    return tables, below(
        view.record,
        "The copies pad A, B and C with zeros and take C's padding off again. At these sizes there is no padding to "
        "add; the source's kernel and ours copy all the same. The time of the copies is the difference of the two "
        "times before it. By their bytes: 24 n^2, here at the measured speed of a copy, there at the theoretical "
        "256 GB/s. The source gives kernel 8 at 8192 with 4807 GFLOP/s, and 5280 without the time of padding.",
    )


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
