"""The CPU executor's counts beside Nsight Compute's, for every stage at 256^3 and for tests/prototype_kernels.cu at
128^3; and of the tall & skinny and Tensor Core stages the executor's.

usage: ./lab measure counts --executor FILE --out FILE BIN
           on a machine with a GPU; BIN: the folder of a GPU build's programs
       ./lab measure counts --executor FILE --count BIN [--share 2/5]
           on any machine; BIN: of a CPU build; writes the executor's half; --share 2/5: of every fifth kernel, the
           second first
"""

import json
import pathlib
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from tools.command_line import parser_of
from tools.measure.counters import profile_ladder, read_counters
from tools.repository import Json, read_json, write_digest

SIZE, PROTOTYPE_SIZE, PROTOTYPES = 256, 128, 7
TSM_SHAPE = "16x16x1024"
TENSOR_SIZES = [256, 264]  # rows that meet in a bank, and rows that don't

# Our name: Nsight Compute's metric, and where the executor's JSON has it.
QUANTITIES = {
    "global_load_requests": ("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", ("global_load", "requests")),
    "global_load_sectors": ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", ("global_load", "sectors")),
    "global_store_requests": ("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", ("global_store", "requests")),
    "global_store_sectors": ("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", ("global_store", "sectors")),
    "shared_load_requests": ("smsp__inst_executed_op_shared_ld.sum", ("shared_load", "requests")),
    "shared_load_wavefronts": ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", ("shared_load", "wavefronts")),
    "shared_store_requests": ("smsp__inst_executed_op_shared_st.sum", ("shared_store", "requests")),
    "shared_store_wavefronts": ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", ("shared_store", "wavefronts")),
    "fma": ("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", ("fma32",)),
}


def runs(folder: pathlib.Path) -> Iterator[tuple[str, list[Any]]]:
    """Name and command of everything that is counted; the kernel is the first that is no kernel of the harness."""
    listing = subprocess.run([folder / "gemm", "list"], capture_output=True, text=True, check=True).stdout
    for stage in (line.split()[0] for line in listing.splitlines() if line.startswith("sgemm/")):
        yield stage, [folder / "gemm", "run", stage, "--m", SIZE, "--n", SIZE, "--k", SIZE]
    m, n, k = TSM_SHAPE.split("x")
    for stage in (line.split()[0] for line in listing.splitlines() if line.startswith("tsm/")):
        for kind in ("d", "z"):
            yield f"{stage}/{kind}", [folder / "gemm", "run", stage, "--type", kind, "--m", m, "--n", n, "--k", k]
    for stage in (
        line.split()[0] for line in listing.splitlines() if line.startswith("tensorcore/") and "(probe)" not in line
    ):
        for size in TENSOR_SIZES:
            yield f"{stage}/{size}", [folder / "gemm", "run", stage, "--m", size, "--n", size, "--k", size]
    for which in range(PROTOTYPES):
        yield f"prototype/{which}", [folder / "prototype", which, PROTOTYPE_SIZE]


def text(command: list[Any]) -> list[str]:
    return [str(word) for word in command]


def count(folder: pathlib.Path, out: pathlib.Path, share: str) -> None:
    part, parts = map(int, share.split("/"))
    result: Json = {
        "stage_size": SIZE,
        "prototype_size": PROTOTYPE_SIZE,
        "tsm_shape": TSM_SHAPE,
        "tensor_sizes": TENSOR_SIZES,
        "kernels": {},
    }
    for name, command in list(runs(folder))[part - 1 :: parts]:
        # gemm counts in any case; its --count would add what nvcc makes of the kernel.
        counting = ["--count"] if name.startswith("prototype/") else []
        done = subprocess.run(text(command + counting + ["--json", "-"]), capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"error: {name}: {(done.stdout + done.stderr).strip()}")
        answer = json.loads(done.stdout)
        if "run" in answer:
            result.setdefault("compiler", answer["run"]["compiler"])
            result.setdefault("commit", answer["run"]["commit"])
        result["kernels"][name] = {"title": answer.get("title", ""), "counts": answer["counts"]}
    write_digest(out, result)


def profile(folder: pathlib.Path, executor: pathlib.Path, out: pathlib.Path) -> None:
    counted = read_json(executor)
    metrics = [metric for metric, _ in QUANTITIES.values()]
    all_runs = [run for run in runs(folder) if not run[0].startswith(("tsm/", "tensorcore/"))]
    for name, _ in all_runs:
        if name not in counted["kernels"]:
            sys.exit(f"error: {executor} has no counts of {name}: run ./lab measure counts --count")
    stages = [name for name, _ in all_runs if name.startswith("sgemm/")]
    of_stages = profile_ladder([folder / "gemm"], stages, SIZE, metrics)
    kernels = {}
    for name, command in all_runs:
        if name in stages:
            if name not in of_stages:
                print(f"note: {name}: ncu gave no counters")
                continue
            # The executor's counts are of all kernels of a stage.
            ncu = {metric: sum(launch[metric] for launch in of_stages[name]) for metric in metrics}
        else:
            ncu = read_counters(text(command), metrics)
        kernels[name] = {"title": counted["kernels"][name]["title"]}
        for quantity, (metric, path) in QUANTITIES.items():
            value = counted["kernels"][name]["counts"]
            for key in path:
                value = value[key]
            kernels[name][quantity] = {"executor": value, "ncu": int(ncu[metric])}
            same = "" if value == int(ncu[metric]) else "   DIFFERS"
            print(f"{name:<26} {quantity:<26} {value:>12} {int(ncu[metric]):>12}{same}", flush=True)
    device = subprocess.run(
        ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True, text=True
    )
    name, driver = device.stdout.strip().split(", ")
    result = {
        "device": name,
        "driver": driver,
        "stage_size": SIZE,
        "prototype_size": PROTOTYPE_SIZE,
        "executor": {key: counted[key] for key in ("compiler", "commit")},
        "kernels": kernels,
    }
    write_digest(out, result)


def main(arguments: list[str] | None = None) -> None:
    parser = parser_of("./lab measure counts", __doc__)
    parser.add_argument("--executor", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--count", type=pathlib.Path)
    parser.add_argument("--share", default="1/1")
    parser.add_argument("folder", nargs="?", type=pathlib.Path)
    options = parser.parse_args(arguments)
    if options.count:
        count(options.count, options.executor, options.share)
    elif options.folder and options.out:
        profile(options.folder, options.executor, options.out)
    else:
        parser.error("either --count BIN, or --out FILE and BIN")
