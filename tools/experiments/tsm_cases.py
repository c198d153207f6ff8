"""The cases of E2 to E14, for `gemm batch`: sizes, kernels, options."""

import itertools
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any

from tools.repository import Json, generating_stages

Sizes = Sequence[tuple[int, int, int | None]]  # M, N, K; None: an experiment's own K

ELEMENT = {"d": 8, "z": 16}  # bytes
TYPES = {"d": "double", "z": "double complex"}
PRODUCTS = {"tsmttsm": "TSMTTSM", "tsmm": "TSMM"}
# The kernels that a stage generates for every size, and the stage that picks one of them, if there is one in the build.
GENERATED = {op: [stage.split("_")[0] for stage in found] for op, found in generating_stages().items()}
PICKED = {"tsmttsm": "tsm/14", "tsmm": "tsm/15"}
LIBRARY, SPLIT_K, OURS, NO_REDUCTION = "cuBLAS", "split K (tsm/02)", "our best", "none"


def squares(*widths: int) -> Sizes:
    return tuple((width, width, None) for width in widths)


DIAGONAL = squares(*range(1, 65))
COARSE = squares(1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 28, 32, 36, 40, 48, 56, 64)
LIBRARIES = squares(1, 2, 3, 4, 6, 8, 10, 12, 16, 17, 20, 24, 28, 32, 33, 36, 40, 48, 56, 57, 64)
REMAINDERS = squares(*range(13, 21))  # all of M % 4
GRID = (1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64)
LENGTHS = (1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000, 30_000_000, 100_000_000)
MOST_BYTES = 1 << 34  # of A and B, for the longest of them
MOST_BYTES_OF_BEST = 103 * 10**9  # the same for our best and cuBLAS: K = 1e8 at M = N = 64
EXECUTOR_LENGTH = 200  # K on the executor
TRIED = 4  # kernels for each value of an option: those that the model takes for the best
TRIED_OF_ORDER = 16  # the same of E3: its best are often not among the first four (docs/tsm/experiments.log.md)
TSMM_OPTIONS: dict[str, tuple[str | int, ...]] = {
    "c_source": ("registers", "global", "shared"),
    "unroll": (1, 2, 3, 4),
    "threads_per_row": (1, 2, 4, 8, 16),
}


class Work:
    """What the cases of an experiment are made from."""

    def __init__(self, gemm: str, sizes: Sizes, executor: bool = False) -> None:
        self.gemm, self.sizes, self.executor = gemm, sizes, executor
        listed = subprocess.run([gemm, "list"], text=True, capture_output=True, check=True).stdout
        self.known = {word.split("_")[0] for word in listed.split() if word.startswith("tsm/")}

    def ours(self, op: str) -> list[str]:
        """The stages of which the best counts."""
        return [PICKED[op]] if PICKED[op] in self.known else GENERATED[op]

    def problems(self, kind: str, width: Callable[[int, int], int] = max) -> list[tuple[int, int, int]]:
        """Each size with its K: where none was asked for, so many rows that with this width they have 4 GiB, as the
        paper has it."""
        return [
            (m, n, k or (EXECUTOR_LENGTH if self.executor else 2**32 // ELEMENT[kind] // width(m, n)))
            for m, n, k in self.sizes
        ]

    def candidates(self, stage: str, kind: str, most: int, *options: object) -> list[Json]:
        """The kernels that its model takes for the best, at this work's sizes; a quarter of the paper's K, since there
        are thousands of them."""
        if stage not in self.known:
            return []
        if self.executor:
            most = 1  # to compile one takes seconds there
        found = [(f"{m}x{n}", k) for m, n, k in self.problems(kind, lambda m, n: 4 * max(m, n))]
        cases = []
        for k, group in itertools.groupby(found, key=lambda each: each[1]):
            command = [
                self.gemm,
                "candidates",
                stage,
                *(size for size, _ in group),
                "--type",
                kind,
                "--k",
                k,
                "--most",
                most,
                *options,
            ]
            done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE)
            if done.returncode:
                sys.exit(done.returncode)  # it has said why
            cases += [json.loads(line) for line in done.stdout.splitlines()]
        return cases


def case(stage: str, kind: str, m: int, n: int, k: int, series: str, op: str | None = None, **options: Any) -> Json:
    found = {"stage": stage, **({"op": op} if stage == "library" else {}), "type": kind, "m": m, "n": n, "k": k}
    return {**found, **({"options": options} if options else {}), "tag": {"series": series}}


def library_cases(op: str, kind: str, work: Work) -> list[Json]:
    return [case("library", kind, m, n, k, LIBRARY, op) for m, n, k in work.problems(kind)]


def cases_of_library(work: Work) -> list[Json]:
    return [c for kind in "dz" for c in library_cases("tsmttsm", kind, work)]


def tagged(cases: list[Json], series: str) -> list[Json]:
    return [{**c, "tag": {"series": series, **c["tag"]}} for c in cases]


def cases_of_order(work: Work) -> list[Json]:
    """Leapfrogging and interleaved columns, each on and off."""
    return [
        c
        for kind, ahead, apart in itertools.product("dz", ("on", "off"), ("on", "off"))
        for c in tagged(
            work.candidates("tsm/09", kind, TRIED_OF_ORDER, "--leapfrog", ahead, "--transposed", apart),
            f"leapfrog {ahead}, transposed {apart}",
        )
    ]


def register_line(tm: int, tn: int, kind: str) -> int:
    """The paper's estimate of registers, leapfrogging one row: register_line() of tsm/generated/model.hpp."""
    return 2 * (ELEMENT[kind] // 8 * (tm * tn + 2 * (tm + tn)) + 8)


def cases_of_tiles(work: Work) -> list[Json]:
    """All tiles whose registers by the line are not twice as many as there are, up to all of C."""
    cases = []
    # A quarter of the paper's K: what spills takes long.
    problems = [(kind, *problem) for kind in "dz" for problem in work.problems(kind, lambda m, n: 4 * max(m, n))]
    for kind, m, n, k in problems:
        for tm, tn in itertools.product(range(1, m + 1), range(1, n + 1)):
            threads = next((t for t in (256, 512, 1024) if -(-m // tm) * -(-n // tn) <= t), None)
            if not threads or register_line(tm, tn, kind) > 512 or (work.executor and (tm & (tm - 1) or tn & (tn - 1))):
                continue
            cases.append(
                case(
                    "tsm/09",
                    kind,
                    m,
                    n,
                    k,
                    f"{tm} x {tn}",
                    tile_m=tm,
                    tile_n=tn,
                    unroll=1,
                    threads=threads,
                    transposed=True,
                    leapfrog=True,
                )
            )
    return cases


def cases_of_reductions(work: Work) -> list[Json]:
    cases = []
    for m, n, k in work.sizes:
        for rows in [k] if k else (100, 2000) if work.executor else LENGTHS:
            size = (m + n) * 8 * rows
            if k or size <= MOST_BYTES:
                cases += [
                    case("tsm/09", "d", m, n, rows, name, reduction=name)
                    for name in (NO_REDUCTION, "atomics", "shared-atomics", "local", "ordered")
                ]
            if k or size <= MOST_BYTES_OF_BEST:
                cases += [case(stage, "d", m, n, rows, OURS) for stage in work.ours("tsmttsm")]
                cases += [] if work.executor else [case("library", "d", m, n, rows, LIBRARY, "tsmttsm")]
    return cases


def cases_of_our_best(op: str, kind: str, work: Work) -> list[Json]:
    return [case(stage, kind, m, n, k, OURS) for stage in work.ours(op) for m, n, k in work.problems(kind)]


def cases_beside_libraries(work: Work) -> list[Json]:
    cases = []
    for kind in "dz":
        cases += library_cases("tsmttsm", kind, work) + cases_of_our_best("tsmttsm", kind, work)
        # Which is far behind, and slow to measure.
        cases += [
            case("tsm/02", kind, m, n, k, SPLIT_K) for m, n, k in work.problems(kind) if (m, n, None) in LIBRARIES
        ]
    return cases


def tsmm_pool(work: Work) -> list[Json]:
    """Of tsm/12, for each value of each option the kernels that the model takes for the best with it."""
    pool: dict[str, Json] = {}
    for kind, (option, values) in itertools.product("dz", TSMM_OPTIONS.items()):
        for value in values:
            for c in work.candidates("tsm/12", kind, TRIED, f"--{option.replace('_', '-')}", value):
                pool.setdefault(json.dumps({**c, "tag": None}), c)
    return list(pool.values())


def cases_of_option(option: str) -> Callable[[Work], list[Json]]:
    """All of tsmm_pool(), by the value of an option: E10, E11 and E12 ask three questions of the same kernels."""

    def cases(work: Work) -> list[Json]:
        pool = sorted(tsmm_pool(work), key=lambda c: TSMM_OPTIONS[option].index(c["options"][option]))
        return [each for c in pool for each in tagged([c], str(c["options"][option]))]

    return cases


def cases_beside_library_of_tsmm(work: Work) -> list[Json]:
    cases = []
    for kind in "dz":
        cases += library_cases("tsmm", kind, work)
        cases += cases_of_our_best("tsmm", kind, work)
        cases += [
            case(stage, kind, m, n, k, stage)
            for stage in GENERATED["tsmm"]
            for m, n, k in work.problems(kind)
            if (m, n, None) in (*LIBRARIES, *REMAINDERS)
        ]
    return cases


def cases_of_map(work: Work) -> list[Json]:
    return [
        case(stage, kind, m, n, k, PRODUCTS[op])
        for op, kind in itertools.product(PRODUCTS, "dz")
        for stage in work.ours(op)
        for m, n, k in work.problems(kind, lambda m, n: 2 * (m + n))
    ]


def operation(c: Json) -> str:
    return c.get("op") or ("tsmm" if c["stage"].split("_")[0] in (*GENERATED["tsmm"], PICKED["tsmm"]) else "tsmttsm")
