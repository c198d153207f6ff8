"""For how many bytes of A and B tsm/09, with its model's options, is faster than the kernel that was tuned with 4 GB:
where A and B are about as large as the L2 cache. Both are timed at each M = N of the table, checks on; between how
many 09 is faster goes into it as short_mb, by which tsm/14 chooses (tsm/choice.hpp).

usage: ./lab measure tune-short --gemm BIN --table TABLE --out REPORT [--raw FOLDER] [--seconds 0.02]

Needs a GPU. Results are kept in FOLDER: what it has is not measured again.
"""

import concurrent.futures
import json
import math
import os
import pathlib
import subprocess
import tempfile

from tools.command_line import parser_of
from tools.digest import digest, text_of
from tools.experiments.tsm_run import provenance, run_batch
from tools.repository import Json, read_json
from tools.tune.tables import kernels_of, write_lines

MEGABYTES = (3, 6, 10, 16, 24, 36, 54, 80, 120)
OWN, TUNED = "own", "tuned"
WITHIN = 1.03  # of 09's time, the tuned kernel's outside: what tsm/14 may lose
# By so much a tuned kernel must be ahead of 09 to be taken, up to so many megabytes, about those of the L2 cache:
# between the sizes that are timed the ratio of both goes up and down by a few per cent.
AHEAD, UP_TO = 1.03, 60


def cases_of(table: Json) -> list[Json]:
    """For `gemm batch`: both kernels at each M = N, 09 first."""
    cases = []
    for kernel in kernels_of(table):
        if kernel["op"] != "tsmttsm" or kernel["m"] != kernel["n"]:
            continue
        kind, m = kernel["type"], kernel["m"]
        for mb in MEGABYTES:
            size = {"type": kind, "m": m, "n": m, "k": mb * 10**6 // (2 * m * (16 if kind == "z" else 8))}
            cases.append({"stage": "tsm/09_generated", **size, "tag": {"which": OWN, "mb": mb}})
            tuned = {"stage": kernel["stage"], **size, "options": kernel["options"]}
            cases.append(tuned | {"tag": {"which": TUNED, "mb": mb}})
    return cases


def times_of(lines: list[Json]) -> list[Json]:
    """For each type and width, microseconds by MEGABYTES of 09 and of the tuned kernel."""
    found: dict[tuple[str, int], Json] = {}
    for line in lines:
        case = line["case"]
        key = case["type"], case["m"]
        its = found.setdefault(key, {"type": key[0], "m": key[1], OWN: [], TUNED: []})
        its[case["tag"]["which"]].append(round(1e3 * line["time_ms"]["median"], 3))
    return [found[key] for key in sorted(found)]


def range_of(own: list[float], tuned: list[float], mbs: tuple[int, ...] = MEGABYTES) -> list[float]:
    """Megabytes between which 09 is chosen: so that elsewhere the tuned kernel is nowhere slower by more than WITHIN
    says, and that what is lost in all, by either, is least. Both with a tuned kernel's times AHEAD as long."""
    ratios = [its / of_09 * (AHEAD if mb <= UP_TO else 1) for its, of_09, mb in zip(tuned, own, mbs, strict=True)]
    ranges = [(i, j) for j in range(len(mbs) + 1) for i in range(j + 1)]

    def others(first: int, end: int) -> list[float]:
        return [*ratios[:first], *ratios[end:]]

    def lost(its: tuple[int, int]) -> float:
        chosen = [*others(*its), *(1 / r for r in ratios[slice(*its)])]
        return sum(math.log(max(r, 1)) for r in chosen)

    first, end = min((its for its in ranges if max(others(*its), default=0) <= WITHIN), key=lost)

    if first == end:
        return [0, 0]
    # Of what was not timed nearly all that lies between is 09's: that one can't be slower than itself.
    begins = 0 if first == 0 else round(1.05 * mbs[first - 1], 1)
    return [begins, mbs[-1] if end == len(mbs) else round(0.95 * mbs[end], 1)]


def ranges_of(times: list[Json]) -> Json:
    return {kind: [range_of(its[OWN], its[TUNED]) for its in times if its["type"] == kind] for kind in "dz"}


def compile_all(gemm: str, cases: list[Json]) -> None:
    """By all cores: else a second for each kernel passes before it is timed."""
    cores = os.cpu_count() or 1
    pool = concurrent.futures.ThreadPoolExecutor(cores)
    with pool, tempfile.NamedTemporaryFile("w", suffix=".cases") as file:
        file.writelines(json.dumps({k: v for k, v in case.items() if k != "tag"}) + "\n" for case in cases)
        file.flush()
        command = [gemm, "batch", file.name, "--compile-only", "--part"]
        list(pool.map(lambda i: subprocess.run([*command, f"{i}/{cores}"], capture_output=True), range(1, cores + 1)))


def main(arguments: list[str] | None = None) -> int:
    parser = parser_of("./lab measure tune-short", __doc__)
    parser.add_argument("--gemm", required=True)
    parser.add_argument("--table", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--raw")
    parser.add_argument("--seconds", type=float, default=0.02)
    options = parser.parse_args(arguments)
    table = read_json(options.table)
    cases = cases_of(table)
    if options.raw:
        pathlib.Path(options.raw).mkdir(parents=True, exist_ok=True)
    compile_all(options.gemm, [case for case in cases if case["tag"]["mb"] == MEGABYTES[0]])
    status, run, lines = run_batch(options.gemm, cases, ["--seconds", str(options.seconds)], options.raw)
    if status:
        return status
    times = times_of(lines)
    said = {"command": f"measure tune-short --seconds {options.seconds:g}", "mb": MEGABYTES, "results": times}
    options.out.write_text(text_of(digest(provenance(run) | said)))
    head = {name: its for name, its in table.items() if name != "kernels"} | {"short_mb": ranges_of(times)}
    write_lines(options.table, head, "kernels", table["kernels"])
    return 0
