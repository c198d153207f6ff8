"""The experiments of SGEMM's sources: stages, sizes, and the sources' own figures."""

import dataclasses

T4_PEAK, PASCAL_PEAK = 7680, 7680  # GFLOP/s, as either source computes it; that they agree is chance
REPORT, CASE_STUDY, ARTICLE = "PA2 report", "SGEMM on Pascal", "Decreasing LDS Memory Requests"
BEST = "10"  # the report's best geometry is stage 10 itself: 32 x 8 threads, 128 x 64 x 64
LABELS = {"01": "naive, lanes down a column", "02": "naive, lanes along a row", BEST: "32x8, 128x64x64"}


def label(number: str) -> str:
    return LABELS.get(number) or number.removeprefix("10:").replace("_", ", ", 1).replace("_", " ")


@dataclasses.dataclass
class Experiment:
    title: str
    source: str
    runs: list  # (stages, sizes): each is one `gemm ladder --only`
    small: tuple = (128, 129)  # the sizes on the CPU executor
    ratios: list = dataclasses.field(default_factory=list)  # (a stage, slower one, what the source says of it)
    theirs: dict = dataclasses.field(default_factory=dict)  # stage: size: GFLOP/s
    kind: str = "speeds"  # which table and plot
    blas: bool = False  # the CPU's BLAS beside it

    def stages(self) -> list[str]:
        return list(dict.fromkeys(stage for stages, _ in self.runs for stage in stages))


SIZES = (256, 512, 1024, 2048, 4096)
BLOCKS = ["10:8x8_64x32x32", "10:16x8_64x64x64", "10:16x16_128x64x64", BEST, "10:8x16_64x64x64", "10:8x32_128x64x64"]
# The report's plots are not in the text that we have: its tables and the ranges in its sentences are.
PEAKS: dict[int | str, tuple[float, str]] = {
    256: (1467.73, "16x8"),
    512: (3087.60, "32x8"),
    1024: (3105.88, "32x8"),
    2048: (3559.34, "32x8"),
    4096: (3575.40, "32x8"),
}
NAIVE: dict[int | str, float] = {256: 87.41, 512: 157.09, 1024: 246.77, 2048: 277.39}
# Stage: kernel, form, and the source's GFLOP/s at 8192, if it gives them. From kernel 5 on it pads all three matrices
# and copies C back. Of kernel 8 it gives the speed with these copies and without them.
KERNELS: dict[str, tuple[str, str, float | None]] = {
    "01": ("1", "", 186),
    "03": ("2", "", 202),
    "04": ("3", "", 1001),
    "05": ("4", "", 1801),
    "06a:always_padded": ("5, its text", "with its copies", 2375),
    "06a": ("5, its text", "no copies", None),
    "06b:always_padded": ("5, its title", "with its copies", 2375),
    "06b": ("5, its title", "no copies", None),
    "07": ("6", "", 3102),
    "08": ("7", "", 3280),
    "09a:padded": ("8", "with its copies", 4807),
    "09a:product": ("8", "the product alone", 5280),
    "09a": ("8", "guards, no copies", None),
}
PADDED, PRODUCT, GUARDED = "09a:padded", "09a:product", "09a"  # kernel 8
PASCAL_GBS = 256  # theoretical
KERNEL_8: dict[int | str, float] = {
    1024: 925,
    2048: 2546,
    3072: 3246,
    4096: 4100,
    5120: 4282,
    6144: 4509,
    7168: 4606,
    8192: 4807,
}
PASCAL_CUBLAS: dict[int | str, float] = {
    1024: 4276,
    2048: 5459,
    3072: 7016,
    4096: 7201,
    5120: 7118,
    6144: 7010,
    7168: 6861,
    8192: 7044,
}
# Work-items that ask, for a tile of 128 x 128 and 8 steps of k. The article leaves out the last step: the number is its
# introduction's.
REQUESTS = {
    "11a:unshared": ("nothing shared", "8192"),
    "11a": ("B shared", "6144"),
    "11b": ("and two rows a load", "5120"),
    "11c": ("and A shared", "around 3 thousand"),
}
AROUND = sorted({size + step for size in range(1024, 1537, 64) for step in (-1, 0, 1)})
EXPERIMENTS: dict[str, Experiment] = {
    "pa2-opt1": Experiment(
        "optimisation 1: tiles in shared memory and 32 outputs a thread, against naive",
        REPORT,
        [(["01", "02", "10:8x8_64x32x32"], SIZES[:4])],
        theirs={"01": NAIVE},
        ratios=[("10:8x8_64x32x32", "01", "9 to 15"), ("10:8x8_64x32x32", "02", "9 to 15")],
    ),
    "pa2-opt2": Experiment(
        "optimisation 2: coalesced against not",
        REPORT,
        [(["10:8x8_64x32x32", "10:8x8_64x32x32_uncoalesced", BEST, "10:32x8_128x64x64_uncoalesced"], SIZES)],
        ratios=[
            ("10:8x8_64x32x32", "10:8x8_64x32x32_uncoalesced", "1.10 to 1.14"),
            (BEST, "10:32x8_128x64x64_uncoalesced", "not given"),
        ],
    ),
    "pa2-opt3": Experiment(
        "optimisation 3: register reuse and load order, separately",
        REPORT,
        [
            (
                [
                    BEST,
                    "10:32x8_128x64x64_no_reuse",
                    "10:32x8_128x64x64_far_order",
                    "10:32x8_128x64x64_no_reuse_far_order",
                ],
                SIZES,
            )
        ],
        ratios=[
            (BEST, "10:32x8_128x64x64_no_reuse", "not given"),
            (BEST, "10:32x8_128x64x64_far_order", "not given"),
            (BEST, "10:32x8_128x64x64_no_reuse_far_order", "1.02 to 1.05"),
        ],
    ),
    "pa2-opt4": Experiment(
        "optimisation 4: 64 outputs a thread, in 128 KB of shared memory and in 32",
        REPORT,
        [([BEST, "10:32x8_128x128x128", "10:32x8_128x128x32"], SIZES)],
        ratios=[("10:32x8_128x128x128", BEST, "CudaError"), ("10:32x8_128x128x32", BEST, "not tried")],
    ),
    "pa2-blocks": Experiment("the block size, at 32 outputs a thread", REPORT, [(BLOCKS, SIZES)], kind="blocks"),
    "pa2-peak": Experiment("peaks, and against naive", REPORT, [(["01", "02", *BLOCKS], SIZES)], kind="peaks"),
    "pa2-dips": Experiment(
        "sizes that are no multiples of the tiles, beside the CPU's BLAS",
        REPORT,
        [([BEST], AROUND)],
        small=(127, 128, 129, 191, 192, 193),
        kind="dips",
        blas=True,
    ),
    "pa2-roofline": Experiment(
        "the roofline, at the device's bandwidth and at a reduced one", REPORT, [([BEST], (4096,))], kind="roofline"
    ),
    "pa2-rectangular": Experiment(
        "A 2048 x 1024 times B 1024 x 2048, and other rectangles",
        REPORT,
        [
            (
                [BEST, "10:16x8_64x64x64", "10:16x16_128x64x64", "10:8x32_128x64x64", "10:32x8_128x128x128"],
                ("2048x2048x1024", "8192x512x1024", "512x8192x1024", "2112x2048x1024"),
            )
        ],
        small=("256x256x128", "320x256x128"),
        kind="rectangular",
    ),
    "case-study": Experiment(
        "kernels 1 to 8, and kernel 8 beside cuBLAS",
        CASE_STUDY,
        [
            ([PADDED, PRODUCT, GUARDED], tuple(KERNEL_8)),
            ([s for s in KERNELS if s not in (PADDED, PRODUCT, GUARDED)], (8192,)),
        ],
        small=(127, 128),
        kind="kernels",
    ),
    "article": Experiment(
        "requests to shared memory for a tile of 128 x 128 and 8 steps of k",
        ARTICLE,
        [(list(REQUESTS), ("128x128x8",))],
        small=("128x128x8",),
        kind="requests",
    ),
}
