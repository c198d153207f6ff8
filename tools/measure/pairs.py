"""Whether the best kernels are right for every M and N from 1 to 64, both products, double and double complex.

usage: ./lab measure pairs run --gemm BIN --out DIR [--processes 16] [--op OP] [--type d|z] [--most 64] [--only FILE]
       ./lab measure pairs digest --out FILE [--again] DIR...

For each pair three problems, each on whole numbers and on random data: a few rows; many, so that all blocks go round
their stages more than once, and the last stage is not whole; and rows that are padded and begin amid 16 bytes, with
alpha and beta. Kernels of 64 x 64 pairs are compiled on the way, so it takes minutes: `run` starts several processes,
on all GPUs in turns, and goes on where it was interrupted. FILE: lines such as `tsmm z 33x49`, no other pairs. Of
several folders of results the later ones count, for kernels that have changed since. With --again FILE exists, and is
told what came of some pairs run anew.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Iterator

from tools.command_line import parser_of
from tools.repository import Json, read_json

STAGES = {"tsmttsm": "tsm/14_best", "tsmm": "tsm/15_tsmm_best"}


def problems(op: str, kind: str, m: int, n: int) -> Iterator[Json]:
    """Cases for `gemm batch`. Three products for a complex one need 16 terms: the few rows are as many."""
    spread = (5 * m + 3 * n) % 17
    case = {"stage": STAGES[op], "type": kind, "m": m, "n": n}
    if op == "tsmttsm" and kind == "z" and (m + n) % 2:
        case["conj"] = True
    yield case | {"k": (16 if kind == "z" else 1) + spread}
    yield case | {"k": 60_000 + 101 * spread}
    yield case | {
        "k": 2_000 + 7 * spread,
        "lda": m + 1 + spread % 4,
        "ldb": n + 3,
        "ldc": n + 1 + m % 3,
        "offset": 1,
        "alpha": -1.5,
        "beta": 0.5,
    }


def gpus() -> int:
    try:
        return subprocess.run(["nvidia-smi", "-L"], text=True, capture_output=True, check=True).stdout.count("\n")
    except (OSError, subprocess.CalledProcessError):
        return 0


def run(options: argparse.Namespace) -> int:
    folder = pathlib.Path(options.out)
    folder.mkdir(parents=True, exist_ok=True)
    ops = [options.op] if options.op else list(STAGES)
    kinds = [options.type] if options.type else ["d", "z"]
    pairs = [
        (op, kind, m, n)
        for op in ops
        for kind in kinds
        for m in range(1, options.most + 1)
        for n in range(1, options.most + 1)
    ]
    if options.only:
        wanted = set(pathlib.Path(options.only).read_text().split("\n"))
        pairs = [pair for pair in pairs if f"{pair[0]} {pair[1]} {pair[2]}x{pair[3]}" in wanted]
    if not pairs:
        print("error: no pairs to run", file=sys.stderr)
        return 2
    devices, processes = max(gpus(), 1), min(options.processes, len(pairs))

    def part(number: int) -> tuple[int, str]:
        stem = folder / f"{'-'.join(ops)}_{''.join(kinds)}_{number}"
        cases = [case for pair in pairs[number::processes] for case in problems(*pair)]
        stem.with_suffix(".cases").write_text("".join(json.dumps(case) + "\n" for case in cases))
        environment = os.environ | ({"CUDA_VISIBLE_DEVICES": str(number % devices)} if devices > 1 else {})
        command = [options.gemm, "batch", f"{stem}.cases", "--no-time", "--out", f"{stem}.jsonl"]
        done = subprocess.run(command, env=environment, text=True, capture_output=True)
        return done.returncode, (done.stderr.strip().splitlines() or [""])[-1]

    with concurrent.futures.ThreadPoolExecutor(processes) as pool:
        ended = list(pool.map(part, range(processes)))
    for status, text in ended:
        if status:
            print(text, file=sys.stderr)
    return max(status for status, _ in ended)


def digest(options: argparse.Namespace) -> int:
    """How many problems were right, and how near to their bound the worst came; every one that was not."""
    head, latest = None, {}
    for folder in options.results:
        paths = sorted(pathlib.Path(folder).glob("*.jsonl"))
        if not paths:
            print(f"error: there are no results in {folder}", file=sys.stderr)
            return 2
        for path in paths:
            for line in path.read_text().splitlines():
                try:
                    result = json.loads(line)
                except json.JSONDecodeError:
                    continue  # interrupted while it was written
                if "run" in result:
                    commits = head["commits"] if head else []
                    run = {key: result["run"][key] for key in ("device", "driver", "cuda")}
                    head = run | {"commits": [*commits, *({result["run"]["commit"]} - set(commits))]}
                else:
                    latest[json.dumps(result["case"], sort_keys=True)] = result
    groups, others = {}, []
    for result in latest.values():
        case = result["case"]
        op = next(op for op, stage in STAGES.items() if stage == case["stage"])
        group = groups.setdefault((op, case["type"]), {"pairs": set(), "problems": 0, "pass": 0, "worst": 0})
        group["pairs"].add((case["m"], case["n"]))
        group["problems"] += 1
        if result["status"] == "pass":
            group["pass"] += 1
            group["worst"] = max(group["worst"], result["error"]["max_ratio"])
        else:
            others.append({"case": case, "status": result["status"], "reason": result.get("reason", "")})
    rows = [
        {"op": op, "type": kind, **group, "pairs": len(group["pairs"])} for (op, kind), group in sorted(groups.items())
    ]
    digested = head | {"groups": rows, "others": others}
    if options.again:
        record = read_json(pathlib.Path(options.out))
        digested = record | {"again": [*record.get("again", []), digested]}
    pathlib.Path(options.out).write_text(json.dumps(digested, indent=1) + "\n")
    for row in rows:
        print(
            f"{row['op']} {row['type']}: {row['pairs']} pairs of M and N, {row['pass']} of {row['problems']} "
            "problems right, "
            f"errors at most {row['worst']:.2f} of their bound"
        )
    return 1 if others else 0


def main(arguments: list[str] | None = None) -> int:
    parser = parser_of("./lab measure pairs", __doc__)
    commands = parser.add_subparsers(dest="command", required=True, prog="./lab measure pairs")
    runs = commands.add_parser("run")
    runs.add_argument("--gemm", required=True)
    runs.add_argument("--out", required=True, help="folder of the results")
    runs.add_argument("--processes", type=int, default=os.cpu_count())
    runs.add_argument("--op", choices=list(STAGES))
    runs.add_argument("--type", choices=["d", "z"])
    runs.add_argument("--only", metavar="FILE", help="these pairs and no others")
    runs.add_argument("--most", type=int, default=64, help="columns (default: %(default)s)")
    digests = commands.add_parser("digest")
    digests.add_argument("results", nargs="+")
    digests.add_argument("--out", required=True)
    digests.add_argument("--again", action="store_true", help="add to what FILE has")
    options = parser.parse_args(arguments)
    return run(options) if options.command == "run" else digest(options)
