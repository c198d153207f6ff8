"""The tables of SGEMM's sources: head and rows of text, and sentences below them."""

from tools.experiments.sgemm import (
    BEST,
    EXPERIMENTS,
    KERNEL_8,
    KERNELS,
    LABELS,
    NAIVE,
    PASCAL_CUBLAS,
    PASCAL_PEAK,
    PEAKS,
    REQUESTS,
    T4_PEAK,
    Experiment,
    label,
)
from tools.repository import Json
from tools.tables import Tables, rounded

Size = int | str  # 1024, or 128x128x8


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


def table_dips(view: View, experiment: Experiment) -> Tables:
    rows, blas = [], view.record["blas"].get("gflops", {})
    for size in view.sizes:
        r = view.found[BEST, size]
        rows.append(
            [
                str(size),
                view.cell(BEST, size),
                f"{100 * useful_share(int(size)):.0f} %",
                rounded(r.get("cublas_gflops")),
                rounded(blas.get(str(size))),
            ]
        )
    b = view.record["blas"]
    cpu = (
        f"SKIPPED, the CPU's BLAS: {b['missing']}."
        if "missing" in b
        else f"CPU: {b['library']}, {b['cores']} cores of {b['cpu']}."
    )
    return [(["M = N = K", label(BEST), "of its work, useful", "cuBLAS", "OpenBLAS, CPU"], rows)], below(
        view.record,
        cpu,
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
                    "wrong: 915375 differences",
                    "3464.4",
                ]
            )
    return [
        (["M x N x K", "geometry", "check", "error, of its bound", "speed", "there", "GFLOP/s printed there"], rows)
    ], below(view.record)


def table_kernels(view: View, experiment: Experiment) -> Tables:
    eighth = [size for size in view.sizes if ("09a", size) in view.found]
    found = [s for s in KERNELS if s in view.stages]
    first = []
    for size in eighth:
        r = view.found["09a", size]
        cublas, theirs, their_cublas = r.get("cublas_gflops"), KERNEL_8.get(size), PASCAL_CUBLAS.get(size)
        first.append(
            [
                str(size),
                rounded(cublas),
                view.cell("09a", size),
                f"{100 * r['gflops'] / cublas:.1f} %" if cublas else "-",
                rounded(their_cublas),
                rounded(theirs),
                f"{100 * theirs / their_cublas:.2f} %" if theirs else "-",
            ]
        )
    peak = view.record.get("ceilings", {}).get("ffma_gflops")
    second = []
    for s in found:
        size = max(
            (size for size in view.sizes if (s, size) in view.found), key=lambda x: x if isinstance(x, int) else 0
        )
        ours = view.gflops(s, size)
        kernel = str(list(dict.fromkeys(k.rstrip("ab") for k in KERNELS)).index(s.rstrip("ab")) + 1)
        second.append(
            [
                kernel,
                s,
                str(size),
                view.cell(s, size),
                f"{100 * ours / peak:.1f} %" if ours and peak else "-",
                rounded(KERNELS[s]),
                f"{100 * KERNELS[s] / PASCAL_PEAK:.1f} %",
            ]
        )
    tables = [(["kernel", "stage", "M = N = K", "GFLOP/s", "of FP32", "there, at 8192", "of FP32 there"], second)]
    if first:
        tables.append(
            (["M = N = K", "cuBLAS", "kernel 8 (09a)", "ratio", "cuBLAS there", "kernel 8 there", "ratio there"], first)
        )
    return tables, below(
        view.record,
        "The source's kernel 8 is timed with its padding pass; without it, 5280 GFLOP/s. Its cuBLAS at 8192: 7044.",
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
