"""The paper's experiments on tall & skinny products: E2 to E4, E8 to E14.

Ernst, Hager, Thies, Wellein (2020) measured them on a V100; docs/tsm/experiments.md says what each of them asks, and
what we expect. The others of E1 to E14 measure the hardware: PROBES.
"""

import dataclasses
import json
from collections.abc import Callable, Iterable

from tools.experiments.tsm_cases import (
    DIAGONAL,
    GRID,
    Sizes,
    Work,
    cases_beside_libraries,
    cases_beside_library_of_tsmm,
    cases_of_library,
    cases_of_map,
    cases_of_option,
    cases_of_order,
    cases_of_reductions,
    cases_of_tiles,
    operation,
    squares,
)
from tools.repository import Json

PAPER = "Ernst et al. 2020"
PROBES = {"E1": "bandwidth", "E5": "latency", "E6": "tiles", "E7": "incorrect"}


@dataclasses.dataclass
class Experiment:
    title: str
    theirs: str  # what the paper saw
    cases: Callable[[Work], list[Json]]
    sizes: Sizes
    small: Sizes  # on the CPU executor
    kind: str = "curves"  # which table and plot
    best: bool = False  # of several kernels of a series the best counts
    needs_gpu: str = ""  # why there is nothing for the executor
    legend: str = ""  # what series are, if their names don't say it
    source: str = PAPER


EXPERIMENTS = {
    "E2": Experiment(
        "TSMTTSM: cuBLAS, of the roofline",
        "a gap of 2 to 50 times to the roofline, but for M = N = 1 (figure 3)",
        cases_of_library,
        DIAGONAL,
        (),
        kind="shares",
        needs_gpu="it times cuBLAS",
    ),
    "E3": Experiment(
        "TSMTTSM: leapfrogging and transposed tiles",
        "leapfrogging clearly faster; transposed a little with it, the slowest without; "
        "at most 4700 GFLOP/s, two thirds of the peak (figure 14)",
        cases_of_order,
        DIAGONAL,
        squares(8),
        best=True,
    ),
    "E4": Experiment(
        "TSMTTSM: tiles at M = N = 32",
        "the best tiles lie on or just below the lines of 128 and 256 registers; powers of two stand out (figure 15)",
        cases_of_tiles,
        squares(32),
        squares(4),
        kind="tiles",
    ),
    "E8": Experiment(
        "TSMTTSM: what a reduction costs, by K",
        "M = N = 4: atomics in shared memory first below 10 %, next to nothing from K = 10^6; wider C: both ways "
        "below 10 % just above K = 10^4 (figure 18)",
        cases_of_reductions,
        squares(1, 4, 16, 32, 64),
        squares(4),
        kind="reductions",
    ),
    "E9": Experiment(
        "TSMTTSM: libraries",
        "cuBLAS and CUTLASS far below, but for M = N = 1 (figure 17)",
        cases_beside_libraries,
        DIAGONAL,
        squares(4),
        kind="shares",
        best=True,
    ),
    "E10": Experiment(
        "TSMM: where C comes from",
        "registers for small M only; shared memory a little better than the L1 cache, most where 4 does not divide M "
        "(figure 19)",
        cases_of_option("c_source"),
        DIAGONAL,
        squares(8),
        best=True,
        legend="C from",
    ),
    "E11": Experiment(
        "TSMM: rows at a time",
        "2 are clearly better than 1, more add little (figure 20)",
        cases_of_option("unroll"),
        DIAGONAL,
        squares(8),
        best=True,
        legend="rows at a time",
    ),
    "E12": Experiment(
        "TSMM: threads for a row",
        "1 and 2 the slowest; 4, 8 and 16 alike, the larger the steadier (figure 21)",
        cases_of_option("threads_per_row"),
        DIAGONAL,
        squares(8),
        best=True,
        legend="threads a row",
    ),
    "E13": Experiment(
        "TSMM: libraries, and widths that 4 does not divide",
        "cuBLAS very good for real numbers but where M is very small, with a drop for "
        "complex ones of medium width (figure 22); multiples of 4 the best",
        cases_beside_library_of_tsmm,
        DIAGONAL,
        squares(4, 5),
        kind="shares",
        best=True,
    ),
    "E14": Experiment(
        "all M and N: our best, of the roofline",
        "M = N only",
        cases_of_map,
        tuple((m, n, None) for m in GRID for n in GRID),
        ((5, 3, None),),
        kind="map",
        best=True,
        source="ours",
    ),
}


def cases_of(name: str, gemm: str, sizes: Sizes, executor: bool = False) -> tuple[list[Json], list[str]]:
    """The cases, those of a problem one after another; and the stages that the build has not. (The executor has no
    library.)"""
    experiment = EXPERIMENTS[name]
    work = Work(gemm, sizes or (experiment.small if executor else experiment.sizes), executor)
    cases = [c for c in experiment.cases(work) if not (executor and c["stage"] == "library")]
    present = [c for c in cases if c["stage"] == "library" or c["stage"].split("_")[0] in work.known]
    present.sort(key=lambda c: (operation(c), c["type"], c["m"], c["n"], c["k"]))
    return present, sorted({c["stage"] for c in cases} - {c["stage"] for c in present})


def text_of(cases: Iterable[Json]) -> str:
    return "".join(json.dumps(c) + "\n" for c in cases)
