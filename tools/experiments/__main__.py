"""The sources' tables and plots, again, on this machine: which stages stand for which of their kernels, at which sizes.

usage: ./lab experiment                 lists the experiments
       ./lab experiment NAME [SIZES] [options]
       ./lab experiment all --out DIR   writes DIR/NAME.json for each; sgemm: those of SGEMM's sources, tsm: E2 to E14

On a GPU everything is checked and timed. On the CPU executor it is checked and counted, at small sizes: speeds need a
GPU. The sources' own figures stand beside ours; docs/sources.md and docs/tsm/experiments.log.md show the same tables,
from the JSON.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import sys
from typing import Any

from tools.command_line import fail, parser_of, run
from tools.experiments import sgemm_run, sgemm_tables, tsm, tsm_run, tsm_tables
from tools.experiments.sgemm import EXPERIMENTS
from tools.experiments.sgemm_run import is_executor
from tools.experiments.tsm_ncu import COUNTED, TABLES_OF_COUNTED, perform_ncu
from tools.repository import Json


def print_table(head: list[str], rows: list[list[str]]) -> None:
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    for row in [head, *rows]:
        print("  ".join(cell.rjust(width) for cell, width in zip(row, widths)).rstrip())


def show(record: Json) -> None:
    its = tsm_tables if record["experiment"] in tsm.EXPERIMENTS else sgemm_tables
    found, notes = its.tables(record)
    print(f"{record['experiment']}: {record['title']} ({record['source']})")
    for head, rows in found:
        print()
        print_table(head, rows)
    print()
    for note in notes:
        print(note)


def every_experiment() -> dict[str, str]:
    """All of them by name, and what is measured by `./lab probe`, as the list shows them."""
    lines = {name: f"{its.title} ({its.source})" for name, its in EXPERIMENTS.items()}
    lines.update({name: f"{its.title} ({its.source})" for name, its in tsm.EXPERIMENTS.items()})
    lines.update({name: f"./lab probe {probe} ({tsm.PAPER})" for name, probe in tsm.PROBES.items()})
    of_paper = sorted((name for name in lines if name[0] == "E"), key=lambda name: int(name[1:]))
    return {name: lines[name] for name in [*EXPERIMENTS, *of_paper]}


def parse_sizes(words: list[str], name: str) -> list[Any]:
    """Such as "8", "8x4" (of tall & skinny products) or "8x4x1000": for gemm as they are, for E2 to E14 as (m, n, k or
    None)."""
    sizes = [size for word in words for size in word.split(",")]
    of_paper = name in tsm.EXPERIMENTS
    for size in sizes:
        well = re.fullmatch(r"[1-9]\d{0,9}(x[1-9]\d{0,9}){0,2}", size)
        if not well or (not of_paper and size.count("x") == 1):
            fail(f"a size is {'M, MxN' if of_paper else 'N'} or MxNxK, not '{size}'")
    if not of_paper:
        return sizes
    numbers = [[int(n) for n in size.split("x")] for size in sizes]
    return [(n[0], n[1] if len(n) > 1 else n[0], n[2] if len(n) > 2 else None) for n in numbers]


def parse_arguments() -> argparse.Namespace:
    """What is asked for; bad usage ends here."""
    parser = parser_of("./lab experiment", __doc__)
    parser.add_argument("name", nargs="?", help=argparse.SUPPRESS)
    parser.add_argument(
        "more_sizes",
        nargs="*",
        metavar="SIZES",
        help="in place of the experiment's own: N or MxNxK; of E2 to E14 M, MxN or MxNxK",
    )
    # The program; without it, arguments are looked at and no more.
    parser.add_argument("--gemm", help=argparse.SUPPRESS)
    parser.add_argument("--sizes", help="the same, separated by commas")
    parser.add_argument("--seconds", type=float, help="about how long to sample each kernel, as for ladder")
    parser.add_argument(
        "--json", metavar="FILE", help="write what was found to this file; - is standard output, without the table"
    )
    parser.add_argument(
        "--out", metavar="DIR", help="write it to DIR/NAME.json; or to a file, if the name ends in .json"
    )
    parser.add_argument(
        "--cases",
        metavar="FILE",
        help="of E2 to E14: run nothing, write what would be run on a GPU, for gemm batch; - is standard output",
    )
    parser.add_argument(
        "--raw",
        metavar="DIR",
        help="of E2 to E14: keep single results in this folder, and go on from those that are there",
    )
    parser.add_argument(
        "--ncu",
        action="store_true",
        help="of E9: the clock, and what is busy; of E13: bytes of device memory; read with Nsight Compute, to "
        "DIR/NAME_ncu.json",
    )
    options = parser.parse_args()
    if len(sys.argv) == 1:
        return options
    if not options.name:
        fail("which experiment? './lab experiment' lists them")
    if options.name in tsm.PROBES:
        fail(f"{options.name} measures the hardware: ./lab probe {tsm.PROBES[options.name]}")
    names = {"all": [*EXPERIMENTS, *tsm.EXPERIMENTS], "sgemm": list(EXPERIMENTS), "tsm": list(tsm.EXPERIMENTS)}
    options.group = options.name in names
    if options.name not in every_experiment() and not options.group:
        fail(f"no experiment '{options.name}'; './lab experiment' lists them")
    options.names = names.get(options.name, [options.name])
    options.sizes = parse_sizes(
        options.more_sizes + ([options.sizes] if options.sizes is not None else []), options.name
    )
    if options.name in ("all", "tsm") and options.sizes:
        fail(f"sizes are for one experiment, not for {options.name}")
    if options.seconds is not None and not 0.001 <= options.seconds <= 3600:
        fail(f"--seconds is 0.001 to 3600, not {options.seconds:g}")
    if options.out and options.out.endswith(".json") and not options.json:
        options.json, options.out = options.out, None
    if options.json and options.group:
        fail(f"a file takes one experiment; --out DIR is for {options.name}")
    if options.ncu and options.name not in COUNTED:
        fail(f"--ncu is for {' and '.join(COUNTED)}")
    if options.cases and any(name in EXPERIMENTS for name in options.names):
        fail("--cases is for E2 to E14, or tsm: the others run no batches")
    if options.cases and (options.ncu or options.json or options.out):
        fail("--cases runs nothing: there is nothing else to write")
    for path in (options.json, options.cases):
        target = pathlib.Path(path) if path and path != "-" else None
        if target and (target.is_dir() or not os.access(target.parent, os.W_OK)):
            fail(f"can't write '{path}'")  # before the work, not after
    if options.raw:
        pathlib.Path(options.raw).mkdir(exist_ok=True)
    if options.out and not os.access(pathlib.Path(options.out).absolute().parent, os.W_OK):
        fail(f"can't write into '{options.out}'")
    return options


def write(text: str, path: pathlib.Path | str) -> None:
    if path == "-":
        sys.stdout.write(text)
    else:
        pathlib.Path(path).write_text(text)


def left_out(name: str, gemm: str, executor: bool) -> str:
    """Why an experiment can't be run here; empty if it can."""
    if name in tsm.EXPERIMENTS:
        why = tsm.EXPERIMENTS[name].needs_gpu
        return f"{name} needs a GPU: {why}" if executor and why else ""
    if EXPERIMENTS[name].kind == "requests" and not executor:
        return f"{name} counts, and the CPU executor does that: ./lab experiment {name} --cpu"
    return ""


def count(options: argparse.Namespace, executor: bool) -> Json:
    """--ncu"""
    if executor:
        fail("--ncu needs a GPU, and Nsight Compute")
    if not shutil.which("ncu"):
        fail("no ncu here: Nsight Compute comes with the CUDA toolkit")
    record = perform_ncu(options.gemm, options.name, options.sizes)
    if not record["results"]:
        fail(f"{options.name}: none of its stages is in this build")
    if options.json != "-":
        print_table(*TABLES_OF_COUNTED[options.name](record))
    return record


def main() -> int:
    options = parse_arguments()
    if len(sys.argv) == 1:
        for name, line in every_experiment().items():
            print(f"{name:<16}  {line}")
        return 0
    if not options.gemm:
        return 0
    if options.cases:
        cases = [case for name in options.names for case in tsm.cases_of(name, options.gemm, options.sizes)[0]]
        write(tsm.text_of(cases), options.cases)
        return 0
    executor, status = is_executor(options.gemm), 0

    def save(record: Json, stem: str) -> None:
        text = tsm_run.record_text(record) if stem.startswith("E") else json.dumps(record, indent=1) + "\n"
        if options.json:
            write(text, options.json)
        if options.out:
            folder = pathlib.Path(options.out)
            folder.mkdir(exist_ok=True)
            write(text, folder / f"{stem}.json")

    if options.ncu:
        save(count(options, executor), f"{options.name}_ncu")
        return 0
    for name in options.names:
        why = left_out(name, options.gemm, executor)
        if not why:
            how = options.gemm, name, options.sizes, options.seconds, executor
            code, record = tsm_run.perform(*how, options.raw) if name in tsm.EXPERIMENTS else sgemm_run.perform(*how)
            status = max(status, code)
            if not record["results"]:
                why = f"{name}: none of its stages is in this build"
        if why:
            if not options.group:
                fail(why)
            print(f"note: left out: {why}", file=sys.stderr)
            continue
        if options.json != "-":
            show(record)
        save(record, name)
        if options.group:
            print(flush=True)
    return status


if __name__ == "__main__":
    run(main)
