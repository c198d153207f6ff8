"""What docs/sources.md says of the PA2 report's reasons and questions, from the stages' measurements."""

from tools import rungs
from tools.pages.data import Data, NotMeasured
from tools.pages.notes import measured_on
from tools.pages.records.tensor import MEASURED, NOT_MEASURED
from tools.repository import read_json, stage_file
from tools.tables import number, table, tflops

SIZE, PROFILED = "4096", "2048"
# Tile of C and steps of k between barriers, and outputs of a thread.
TILED = {
    "02": ("none", "1"),
    "04": ("32 x 32 x 32", "1"),
    "05": ("32 x 32 x 32", "4, as 2 x 2"),
    "06a": ("32 x 32 x 32", "4, as 4 x 1"),
    "06b": ("64 x 32 x 32", "8, as 8 x 1"),
    "07": ("64 x 64 x 64", "32, as 8 x 4"),
    "08": ("128 x 128 x 8", "64, as 8 x 8"),
    "10": ("128 x 64 x 64", "32, as 16 x 2"),
}
BLOCKS_OF_10 = {
    "10:8x8_64x32x32": (64, 32),
    "10:16x8_64x64x64": (64, 64),
    "10:16x16_128x64x64": (128, 64),
    "10": (128, 64),
}
PROFILED_BLOCKS = "256"


def page_of(number: str) -> str:
    """A link from docs/sources.md to a stage's page."""
    family, _, name = number.rpartition("/")
    stage = rungs.find(number).split("/")[1]
    return f"[{number}]({family or 'stages'}/{stage}.md)"


def block_outputs_and_tiles(data: Data) -> list[str]:
    """Stages that change the tile, the outputs of a thread, or both."""
    rows = []
    for stage, (tile, outputs) in TILED.items():
        c = data.counter(stage, PROFILED)
        rows.append(
            [
                page_of(stage),
                tile,
                outputs,
                f"{c['occupancy_pct']:.0f} %",
                f"{data.per_fma(stage, PROFILED, 'shared_load_wavefronts'):.2f}",
                f"{c['wavefronts_pct_of_peak']:.0f} %",
                f"{c['fma_pipe_pct']:.0f} %",
                tflops(data.result(stage, PROFILED)["gflops"]),
            ]
        )
    head = [
        "stage",
        "tile of C, steps of k",
        "outputs a thread",
        "occupancy",
        "wavefronts of shared loads per FMA",
        "L1 and shared memory busy",
        "FMA pipe busy",
        "TFLOP/s",
    ]
    return [
        *table(head, rows, left=head[:3]),
        "",
        f"M = N = K = {PROFILED}. Counters: {measured_on(data.counters)}; speeds: {measured_on(data.ladder)}.",
    ]


def block_wmma(data: Data) -> list[str]:
    """The report's best kernel beside those with warp tiles and with WMMA, by speed and by length."""
    if not MEASURED.exists():
        return NOT_MEASURED
    run = read_json(MEASURED)
    speeds = {
        r["stage"]: r["gflops"]
        for r in run["results"]
        if "gflops" in r and {str(r["problem"][side]) for side in "mnk"} == {SIZE}
    }
    base = data.result("10", SIZE)["gflops"]
    kernels = [
        ("10", "the report's best", "FP32"),
        ("12", "warp tiles, as in CUTLASS", "FP32"),
        ("tensorcore/01", "WMMA, fragments from global memory", "FP16"),
        ("tensorcore/02", "WMMA, tiles in shared memory", "FP16"),
        ("tensorcore/03", "mma.sync, copied ahead", "FP16"),
    ]
    rows = []
    for stage, what, operands in kernels:
        found = rungs.find(stage)
        speed = speeds.get(found) if "/" in stage else data.result(stage, SIZE)["gflops"]
        if speed is None:
            raise NotMeasured("")
        lines = len(rungs.source_of(stage_file(found)).code)
        rows.append([page_of(stage), what, operands, str(lines), tflops(speed), f"{speed / base:.2f}"])
    head = ["stage", "what it is", "A and B", "lines of code", "TFLOP/s", "to stage 10"]
    return [
        *table(head, rows, left=head[:3]),
        "",
        f"M = N = K = {SIZE}; lines of code without comments, blank lines and the shared headers. FP32: "
        f"{measured_on(data.ladder)}; FP16: {measured_on(run)}.",
    ]


def block_block_sizes(data: Data) -> list[str]:
    """Counters of the report's block sizes at its smallest size."""
    rows, size = [], int(PROFILED_BLOCKS)
    for form, (tile_m, tile_n) in BLOCKS_OF_10.items():
        c = data.counter(form, PROFILED_BLOCKS)
        name = form.removeprefix("10:").split("_")[0] if ":" in form else "32x8"
        rows.append(
            [
                name,
                str(-(-size // tile_m) * -(-size // tile_n)),
                f"{c['issue_slots_pct']:.1f} %",
                *(number(c[f"stall_{why}"]) for why in ("barrier", "short_scoreboard", "mio_throttle")),
                number(c["stall_long_scoreboard"]),
            ]
        )
    head = ["block", "blocks", "issue slots used", "barrier", "shared memory", "its queue", "global memory"]
    return [
        *table(head, rows),
        "",
        f"M = N = K = {size}; the last four: of the warps of a scheduler, how many wait for it whenever an instruction "
        f"is issued. {measured_on(data.counters)}.",
    ]
