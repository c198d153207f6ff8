"""The tables of the case study: its kernels, kernel 8 beside cuBLAS, and the copies of kernel 8."""

from tools.experiments.sgemm import (
    GUARDED,
    KERNEL_8,
    KERNELS,
    PADDED,
    PASCAL_CUBLAS,
    PASCAL_GBS,
    PASCAL_PEAK,
    PRODUCT,
    Experiment,
)
from tools.experiments.sgemm_view import Size, View, below
from tools.tables import Tables, number, rounded


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
    ] + [row_of_cublas(view, largest, peak)]


def row_of_cublas(view: View, size: Size, peak: float | None) -> list[str]:
    ours, theirs = view.found.get((GUARDED, size), {}).get("cublas_gflops"), PASCAL_CUBLAS.get(size)
    shares = percent_of(ours, peak), percent_of(theirs, PASCAL_PEAK)
    return ["cuBLAS", "", "", str(size), rounded(ours), shares[0], rounded(theirs), shares[1]]


def best_of_cublas(view: View, sizes: list[Size]) -> str:
    peak = view.record.get("ceilings", {}).get("ffma_gflops")
    ours = max((view.found.get((GUARDED, size), {}).get("cublas_gflops") or 0 for size in sizes), default=0)
    return f"cuBLAS at its best has {percent_of(ours, peak, 2)} of the FP32 peak; there, by its text, 93.75 %."


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
        *([] if view.record["executor"] else [best_of_cublas(view, sizes)]),
    )
