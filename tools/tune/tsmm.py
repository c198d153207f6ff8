"""The search behind tsm/12's model: the time of nearly all its kernels at each M = N, and how well the model chooses.

usage: ./lab measure search-tsmm run --gemm BIN --raw FOLDER [--seconds 380]
           compiles and times them; exit status 3 if the time is up: the same command goes on from there
       ./lab measure search-tsmm record --gemm BIN --raw FOLDER --out FILE
           what has been measured, as it is committed
       ./lab measure search-tsmm judge RECORD --gemm BIN [--out FILE]
           at how many sizes the model's first kernel, and the best of its first few, is within 3 % of the best

Tried are, at each M = N from 1 to 64 in double and double complex, the kernels that the model takes for at most 1.35
times as slow as its best, 48 at most. So the record knows the time of what a changed model would choose, too.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import time
from collections.abc import Callable
from typing import Any

from tools.command_line import fail, parser_of
from tools.experiments.tsm_cases import TRIED, TSMM_OPTIONS
from tools.repository import Json
from tools.tune.tsm import candidates, ms, read

STAGE = "tsm/12_tsmm_generated"
SIZES, MIB = "1-64", 256
MOST, FACTOR = 48, 1.35
WITHIN = 0.03
DEPTHS = (1, 4, 8, 12)
# The order in which a record has the kernels of a size.
KERNELS = [
    (source, per_row, threads, unroll)
    for source in ("registers", "shared", "global")
    for per_row in (1, 2, 4, 8, 16)
    for threads in (128, 256)
    for unroll in (1, 2, 3, 4)
]

Kernel = tuple[str, int, int, int]
Size = tuple[str, int]


def kernel_of(options: Json) -> Kernel:
    return options["c_source"], options["threads_per_row"], options["threads"], options["unroll"]


def by_model(gemm: str) -> dict[Size, list[Json]]:
    """Of each size all kernels, the best by the model first."""
    found: dict[Size, list[Json]] = {}
    for kind in "dz":
        for line in candidates(gemm, STAGE, SIZES, "--type", kind, "--mib", MIB):
            case = json.loads(line)
            found.setdefault((kind, case["m"]), []).append(case)
    return found


def cases(gemm: str) -> list[str]:
    return [
        json.dumps(case)
        for its in by_model(gemm).values()
        for case in its[:MOST]
        if case["tag"]["cycles"] <= FACTOR * its[0]["tag"]["cycles"]
    ]


def listed(options: argparse.Namespace) -> tuple[pathlib.Path, pathlib.Path, int]:
    """Files of the cases and of their results, and how many cases there are: those of the first call stay, whatever
    the model is by now."""
    folder = pathlib.Path(options.raw)
    path = folder / "cases"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            (folder / "cases.new").write_text("\n".join(cases(options.gemm)) + "\n")
            (folder / "cases.new").rename(path)
        return path, folder / "results", len(path.read_text().splitlines())
    except OSError as error:
        fail(f"can't write {error.filename}: {error.strerror}")


def search(options: argparse.Namespace) -> int:
    end = time.monotonic() + options.seconds
    path, results, number = listed(options)
    batch = [options.gemm, "batch", str(path)]
    environment = os.environ | {"GEMM_KERNEL_CACHE": str(path.parent / "kernels")}

    def within(*more: str) -> int | None:
        """The exit status; none if the time is up."""
        try:
            left = end - time.monotonic()
            return subprocess.run(
                [*batch, *more], env=environment, stdout=subprocess.DEVNULL, timeout=max(left, 0)
            ).returncode
        except subprocess.TimeoutExpired:
            return None

    cores = os.cpu_count() or 1
    with concurrent.futures.ThreadPoolExecutor(cores) as pool:
        parts = [f"{part}/{cores}" for part in range(1, cores + 1)]
        statuses = list(pool.map(lambda part: within("--compile-only", "--part", part), parts))
    if any(statuses):
        return max(status or 0 for status in statuses)
    if None not in statuses and (status := within("--no-check", "--seconds", "0.01", "--out", str(results))):
        return status
    done = max(len(results.read_text().splitlines()) - 1, 0) if results.exists() else 0
    print(f"{done:,} of {number:,} kernels timed")
    return 0 if done == number else 3


def write_record(options: argparse.Namespace) -> int:
    _, results, number = listed(options)
    run, lines = read([str(results)], False)
    timed = [line for line in lines if "time_ms" in line]
    if not timed:
        fail(f"{results} has no times")
    print(f"{len(timed):,} of {number:,} kernels")
    sizes: dict[Size, list[Json]] = {}
    for line in timed:
        sizes.setdefault((line["case"]["type"], line["case"]["m"]), []).append(line)
    rows = []
    for (kind, m), its in sorted(sizes.items()):
        best = min(map(ms, its))
        loss = {kernel_of(line["case"]["options"]): round(1000 * (ms(line) / best - 1)) for line in its}
        text = ",".join(str(loss.get(kernel, "")) for kernel in KERNELS).rstrip(",")
        rows.append([kind, m, its[0]["case"]["k"], float(f"{best:.4g}"), text])
    head = {key: run[key] for key in ("device", "driver", "cuda", "compiler", "commit") if key in run}
    head["kernels"] = "c_source, threads_per_row, threads, unroll: in the order of tools/tune/tsmm.py"
    head["columns"] = ["type", "m = n", "k", "ms of the best", "per mille that each kernel takes longer"]
    text = json.dumps(head)[:-1] + ', "rows": [\n ' + ",\n ".join(map(json.dumps, rows)) + "\n]}\n"
    try:
        pathlib.Path(options.out).write_text(text)
    except OSError as error:
        fail(f"can't write {options.out}: {error.strerror}")
    return 0


def losses(path: str) -> dict[Size, dict[Kernel, float]]:
    """Of a record: by how much each kernel is slower than the best of its size."""
    try:
        rows: list[list[Any]] = json.loads(pathlib.Path(path).read_text())["rows"]
        return {
            (kind, m): {kernel: int(loss) / 1000 for kernel, loss in zip(KERNELS, text.split(",")) if loss}
            for kind, m, _, _, text in rows
        }
    except (OSError, ValueError, KeyError, TypeError) as error:
        fail(f"{path} is no record of this search: {error}")


def of_each_value(its: list[Json]) -> list[Json]:
    """Of a size those that E10 to E12 and tune-tsm try: the model's first few kernels with each value of an option."""
    return [
        case
        for option, values in TSMM_OPTIONS.items()
        for value in values
        for case in [case for case in its if case["options"][option] == value][:TRIED]
    ]


def verdict(record: dict[Size, dict[Kernel, float]], chosen: dict[Size, list[Json]]) -> Json:
    """At how many sizes the best of each choice of kernels is within 3 %, and where it loses most. A kernel that was
    not timed counts as lost."""

    def loses(size: Size, its: list[Json]) -> float:
        return min((record[size].get(kernel_of(case["options"]), float("inf")) for case in its), default=float("inf"))

    choices: dict[str, Callable[[list[Json]], list[Json]]] = {
        **{str(depth): lambda its, depth=depth: its[:depth] for depth in DEPTHS},
        "each value": of_each_value,
    }
    found = {}
    for name, choose in choices.items():
        lost = {size: loses(size, choose(chosen[size])) for size in sorted(record)}
        size = max(lost, key=lambda each: lost[each])
        worst = {"type": size[0], "m": size[1], "loses": round(lost[size], 3)} if lost[size] < float("inf") else None
        found[name] = {"within": sum(loss <= WITHIN for loss in lost.values()), "worst": worst}
    return {"sizes": len(record), "kernels": sum(map(len, record.values())), "best of the first": found}


def judge(options: argparse.Namespace) -> int:
    record, chosen = losses(options.record), by_model(options.gemm)
    if missing := sorted(record.keys() - chosen.keys()):
        fail(f"{options.record} has a size that is not searched: {missing[0]}")
    found = verdict(record, chosen)
    print(f"{found['sizes']} sizes, {found['kernels']:,} kernels timed. Within {WITHIN:.0%} of the best of its size:")
    for name, its in found["best of the first"].items():
        what = f"the first {TRIED} with each value of an option" if name == "each value" else f"the first {name}"
        at = its["worst"]
        most = f"at most {at['loses']:.1%} lost ({at['type']}, M = N = {at['m']})" if at else "some not timed at all"
        print(f"  the best of {what}: at {its['within']} sizes, {most}")
    if options.out:
        try:
            run = json.loads(pathlib.Path(options.record).read_text())
            found = {"device": run["device"], "commit": run["commit"], **found}
            pathlib.Path(options.out).write_text(json.dumps(found) + "\n")
        except OSError as error:
            fail(f"can't write {options.out}: {error.strerror}")
    return 0


def main(arguments: list[str] | None = None) -> int:
    parser = parser_of("./lab measure search-tsmm", __doc__)
    commands = parser.add_subparsers(dest="command", required=True, prog="./lab measure search-tsmm")
    run, recorded, judged = (commands.add_parser(name) for name in ("run", "record", "judge"))
    for command in (run, recorded, judged):
        command.add_argument("--gemm", required=True)
    for command in (run, recorded):
        command.add_argument("--raw", required=True, help="a folder")
    run.add_argument("--seconds", type=float, default=380, help="then it stops (default: %(default)s)")
    recorded.add_argument("--out", required=True, help="a file")
    judged.add_argument("record", help="what `record` has written")
    judged.add_argument("--out", help="a file for the verdict, as pages read it")
    options = parser.parse_args(arguments)
    return {"run": search, "record": write_record, "judge": judge}[options.command](options)
