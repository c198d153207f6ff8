"""Tall & skinny products of rows that lie anywhere, through the installed library (tests/libraries/time_strides.cu):
right or not, as a share of a roof, beside cuBLAS, and beside a kernel that only touches the same words.

usage: ./lab measure strides --out FILE [--build DIR] [--cases 100] [--seed 1] [--mib 1024] [--seconds 400]

Needs a GPU, nvcc and CMake. CASES: for each product and type, with strides and offsets; a quarter as many of rows
without padding. A product is TSMTTSM, its case that B is A (gram), or TSMM. What was measured is kept beside FILE; a
command that ends after SECONDS with status 3 goes on there next time.

The roof is the least time for the sectors of 32 bytes that rows touch, at the bandwidth of reading (TSMTTSM) or of
reading and writing (TSMM), and for the flops on Tensor Cores, and a launch. A sector of B that is written in part
counts as read, too. Each product is timed as it is, and "fine", where the L2 cache fetches 32 bytes at a time and not
64 (cudaLimitMaxL2FetchGranularity). The slowest tenth of each product's cases are visited again after all others, and
the least of each time counts, cuBLAS's as well: now and then a GPU is slow for a second, whatever runs then.
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import time

from tools.command_line import fail, parser_of
from tools.digest import text_of
from tools.measure.card import card
from tools.measure.library import CORES, PRODUCTS, Library
from tools.repository import GPU, Json, commit_of_tree

OPERATIONS = [*PRODUCTS, ("gram", "d"), ("gram", "z")]
PADDING = (0, 1, 2, 3, 4, 7, 8, 64)
WORST = 50
UNFINISHED = 3  # exit status
JUDGED = ("share", "touch", "cublas", "fine_share", "fine_touch", "fine_cublas")
NAMES = ("op", "type", "m", "n", "lda", "ldb", "off_a", "off_b")


def cases_of(number: int, seed: int) -> list[str]:
    draw = random.Random(seed)
    drawn = []
    for op, kind in OPERATIONS:
        for padded in [True] * number + [False] * (number // 4):
            m, n = draw.randint(1, 64), draw.randint(1, 64)
            more = [draw.choice(PADDING) if padded else 0 for _ in "ab"]
            offsets = [draw.randint(0, 1) if padded else 0 for _ in "ab"]
            its = (op, kind, m, n, m + more[0], n + more[1], *offsets)
            if op == "gram":
                its = (op, kind, m, m, m + more[0], m + more[0], offsets[0], offsets[0])
            drawn.append(" ".join(map(str, its)))
    return list(dict.fromkeys(drawn))


def key(line: Json) -> str:
    return " ".join(str(line[name]) for name in NAMES)


def is_padded(line: Json) -> bool:
    return (line["lda"], line["ldb"], line["off_a"], line["off_b"]) != (line["m"], line["n"], 0, 0)


def judged(line: Json, ceilings: Json) -> Json:
    """With its share of the roof, and how much longer cuBLAS and the kernel that only touches words take; also where
    the L2 cache fetches 32 bytes (fine)."""
    bandwidth = ceilings["scale_gbs" if line["op"] == "tsmm" else "read_gbs"]
    roof = 1e3 * max(line["sector_gb"] / bandwidth, line["gflop"] / ceilings["tensor_gflops"]) + ceilings["launch_ms"]
    judgements = {}
    for fine in ("", "fine_"):
        times = {"share": roof, "cublas": line[f"{fine}cublas_ms"], "touch": line[f"{fine}touch_ms"]}
        judgements |= {fine + name: float(f"{its / line[f'{fine}ms']:.3g}") for name, its in times.items()}
    return line | judgements


def least_times(lines: list[Json]) -> list[Json]:
    """A line for each case, with the least of each of its times."""
    found: Json = {}
    for line in lines:
        before = found.setdefault(key(line), line)
        times = {name: min(before[name], line[name]) for name in line if name.endswith("ms")}
        found[key(line)] = before | times | {"right": before["right"] and line["right"]}
    return list(found.values())


def slowest_tenth(lines: list[Json], ceilings: Json) -> list[str]:
    """Of each product and kind of rows, by the first visit."""
    groups: dict[tuple, list[Json]] = {}
    for line in {key(line): line for line in reversed(lines)}.values():
        groups.setdefault((line["op"], line["type"], is_padded(line)), []).append(judged(line, ceilings))
    slow = [sorted(its, key=lambda line: line["share"])[: len(its) // 10] for its in groups.values()]
    return [key(line) for its in slow for line in its]


def quantiles(numbers: list[float]) -> Json:
    ordered = sorted(numbers)
    return {
        "least": ordered[0],
        "p05": ordered[len(ordered) // 20],
        "median": statistics.median(ordered),
        "geomean": float(f"{statistics.geometric_mean(ordered):.3g}"),
    }


def summary(lines: list[Json]) -> list[Json]:
    rows = []
    for padded in (False, True):
        for op, kind in OPERATIONS:
            its = [line for line in lines if (line["op"], line["type"], is_padded(line)) == (op, kind, padded)]
            if not its:
                continue
            row: Json = {"rows": "padded" if padded else "contiguous", "op": op, "type": kind, "cases": len(its)}
            row["right"] = sum(line["right"] for line in its)
            for name in JUDGED:
                row[name] = quantiles([line[name] for line in its])
            rows.append(row)
    return rows


def record_of(lines: list[Json], ceilings: Json, head: Json) -> Json:
    """Quantiles, and the cases that are furthest below the roof."""
    known = [judged(line, ceilings) for line in lines]
    worst = sorted(known, key=lambda line: line["share"])[:WORST]
    names = (*NAMES, *JUDGED, "ms")
    worst = [{name: line[name] for name in names} for line in worst]
    return head | {"ceilings": ceilings, "summary": summary(known), "worst": worst}


def measure(
    library: Library, cases: list[str], raw: pathlib.Path, options: object, begin: float, visit: int = 1
) -> list[Json]:
    """Those that are not in `raw` so often yet, some at a time, while there is time."""
    lines = [json.loads(line) for line in raw.read_text().splitlines()] if raw.exists() else []
    there = collections.Counter(key(line) for line in lines)
    missing = [case for case in cases if there[case] < visit]
    some = 8 * CORES
    for first in range(0, len(missing), some):
        if time.monotonic() - begin > options.seconds:
            break
        now = missing[first : first + some]
        with concurrent.futures.ThreadPoolExecutor(CORES) as pool:
            parts = ["\n".join(now[i::CORES]) for i in range(CORES)]
            list(pool.map(lambda part: library.tell("prepare", part), parts))
        told = library.tell("products", "\n".join(now), options.mib * 2**20)
        with raw.open("a") as file:
            file.write(told)
        lines += [json.loads(line) for line in told.splitlines()]
    return lines


class Strides(Library):
    SOURCE = "time_strides"

    def tell(self, what: str, cases: str, *words: object) -> str:
        environment = os.environ | {"GEMM_KERNEL_CACHE": str(self.build / "kernel_cache")}
        command = [str(self.program), what, *map(str, words)]
        done = subprocess.run(command, input=cases, text=True, capture_output=True, env=environment)
        if done.returncode:
            fail(done.stderr.strip() or f"{command[0]} ended with status {done.returncode}")
        return done.stdout


def main(arguments: list[str] | None = None) -> None:
    begin = time.monotonic()
    parser = parser_of("./lab measure strides", __doc__)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/library"))
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mib", type=float, default=1024)
    parser.add_argument("--seconds", type=float, default=400)
    options = parser.parse_args(arguments)
    device, driver = card()
    library = Strides(options.build)
    ceilings = json.loads(library.tell("ceilings", ""))
    cases = cases_of(options.cases, options.seed)
    raw = options.out.with_suffix(".lines")
    lines = measure(library, cases, raw, options, begin)
    again = slowest_tenth(lines, ceilings)
    if len(lines) >= len(cases):
        lines = measure(library, again, raw, options, begin, visit=2)
    complete = len(lines) == len(cases) + len(again)
    lines = least_times(lines)
    wrong = [key(line) for line in lines if not line["right"]]
    said = f"measure strides --cases {options.cases} --seed {options.seed} --mib {options.mib:g}"
    head = {"device": device, "driver": driver, "commit": commit_of_tree(GPU / "strides.json"), "command": said}
    options.out.write_text(text_of(record_of(lines, ceilings, head)))
    print(f"{len(lines)} of {len(cases)} cases, {len(wrong)} wrong{': ' if wrong else ''}{'; '.join(wrong[:5])}")
    sys.exit(1 if wrong else 0 if complete else UNFINISHED)
