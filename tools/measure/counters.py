"""Reads each stage's hardware counters with Nsight Compute and writes them as JSON.

usage: ./lab measure counters --out FILE [--sizes N,N] [--more N,N:NN,NN+N:NN:NAME] [--variants NN:NAME,NN:NAME]
                              -- LAB [options]
       ./lab measure counters --out FILE --probes NAME,NAME -- LAB [options]
       LAB: the lab script and options such as --prebuilt DIR

Each stage runs in a process of its own: launches of different stages may look alike. Where a stage launches several
kernels (padding or packing, product, sum of parts), the counters are the product's, the one with most
FMAs; `other_ns`, `other_dram_read_bytes` and `other_dram_write_bytes` are the rest. --family tensorcore: its stages
with FP16 operands, or with --type s those with FP32 operands.
--probes: what the kernels of numbered probes do to shared memory, each kernel's most in a launch.
"""

import csv
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Collection
from typing import Any

from tools.command_line import parser_of
from tools.repository import Json

Launch = tuple[list[int], list[int], dict[str, float]]  # grid, block, metrics' values

# Nsight Compute's name: our name, what it counts.
METRICS = {
    "gpu__time_duration.sum": "ns",
    "launch__registers_per_thread": "registers",
    "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum": "ffma",
    "smsp__inst_executed.sum": "warp_instructions",
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": "global_load_requests",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": "global_load_sectors",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum": "global_store_requests",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": "global_store_sectors",
    "smsp__inst_executed_op_shared_ld.sum": "shared_load_requests",
    "smsp__inst_executed_op_shared_st.sum": "shared_store_requests",
    "sm__cycles_elapsed.avg": "sm_cycles",
    "sm__cycles_elapsed.avg.per_second": "sm_hz",
    "sm__inst_executed_pipe_tensor_op_hmma.sum": "hmma",
    "sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_active": "tensor_pipe_pct_of_active",
    "sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_elapsed": "tensor_pipe_pct",
    "dram__bytes_write.sum": "dram_write_bytes",
    "l1tex__data_pipe_lsu_wavefronts.sum": "wavefronts",
    "l1tex__t_set_accesses.sum": "tag_lookups",
    "l1tex__t_set_accesses.avg.pct_of_peak_sustained_elapsed": "tag_lookups_pct_of_peak",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum": "shared_load_wavefronts",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum": "shared_store_wavefronts",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum": "shared_load_bank_conflicts",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum": "shared_store_bank_conflicts",
    "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed": "wavefronts_pct_of_peak",
    "l1tex__t_sector_hit_rate.pct": "l1_hit_pct",
    "l1tex__throughput.avg.pct_of_peak_sustained_elapsed": "l1_throughput_pct",
    "lts__throughput.avg.pct_of_peak_sustained_elapsed": "l2_throughput_pct",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed": "dram_throughput_pct",
    "dram__bytes_read.sum": "dram_read_bytes",
    "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_elapsed": "fma_pipe_pct",
    "smsp__issue_active.avg.pct_of_peak_sustained_elapsed": "issue_slots_pct",
    "sm__warps_active.avg.pct_of_peak_sustained_active": "occupancy_pct",
    "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio": "stall_long_scoreboard",
    "smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio": "stall_short_scoreboard",
    "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio": "stall_lg_throttle",
    "smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio": "stall_mio_throttle",
    "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio": "stall_barrier",
    "smsp__average_warps_issue_stalled_no_instruction_per_issue_active.ratio": "stall_no_instruction",
}
# At 2047 and 1000 rows meet in other banks of the L1; at 256 the PA2 report compares the blocks of its kernel.
MORE = "2047,1000:01,02,03,04+256:10,10:8x8_64x32x32,10:16x8_64x64x64,10:16x16_128x64x64"
# The kernels of the stages and of tests/prototype_kernels.cu, and not those of the harness.
KERNELS = "regex:^(sgemm|hgemm|split_operands|multiply_tiles|finish_products|pack|pad|reduce|naive|shared_tile|block_)"
SCALE = {
    "nsecond": 1,
    "ns": 1,
    "usecond": 1e3,
    "us": 1e3,
    "msecond": 1e6,
    "ms": 1e6,
    "second": 1e9,
    "s": 1e9,
    "byte": 1,
    "Kbyte": 1e3,
    "Mbyte": 1e6,
    "Gbyte": 1e9,
}


FMAS_OF_HMMA = 1024  # at least

# Those of the probes 05, 06a and 06b, and what they may do to shared memory.
PROBE_KERNELS = "regex:^(scan|householder|givens)_"
SHARED = {name: METRICS[name] for name in METRICS if "shared" in METRICS[name] and "conflicts" not in METRICS[name]}


def read_rows(
    command: list[Any], metrics: Collection[str], count: int | None, kernels: str
) -> tuple[list[str], list[str], list[list[str]]]:
    """The first `count` launches (None: all) of these kernels (in Nsight Compute's words): its names of columns, units,
    and rows."""
    done = subprocess.run(
        [
            "ncu",
            "--clock-control",
            "none",
            "--csv",
            "--page",
            "raw",
            "--print-units",
            "base",
            "-k",
            kernels,
            *(["-c", str(count)] if count else []),
            "--target-processes",
            "all",
            "--metrics",
            ",".join(metrics),
            *map(str, command),
        ],
        capture_output=True,
        text=True,
    )
    rows = list(csv.reader(line for line in done.stdout.splitlines() if line.startswith('"')))
    if done.returncode or len(rows) < 3:
        sys.exit(f"error: ncu failed on {' '.join(map(str, command))}: {(done.stdout + done.stderr).strip()[-800:]}")
    return rows[0], rows[1], rows[2:]


def values_of(names: list[str], units: list[str], row: list[str], metrics: Collection[str]) -> dict[str, float]:
    """A dictionary from metric to value, in ns, bytes, ..."""
    return {
        name: float(value.replace(",", "")) * SCALE.get(unit, 1)
        for name, unit, value in zip(names, units, row)
        if name in metrics and value not in ("", "n/a")
    }


def numbers_in(text: str) -> list[int]:
    return [int(n) for n in re.findall(r"\d+", text)]


def read_launches(
    command: list[Any], metrics: Collection[str], count: int | None, kernels: str = KERNELS
) -> list[Launch]:
    """What Nsight Compute counts of the first kernels of stages that the command launches: for each the grid and the
    block, and the metrics' values."""
    names, units, launches = read_rows(command, metrics, count, kernels)
    grid, block = names.index("Grid Size"), names.index("Block Size")
    return [(numbers_in(row[grid]), numbers_in(row[block]), values_of(names, units, row, metrics)) for row in launches]


def profile_probe(lab: list[str], probe: str) -> Json:
    """Of each of a probe's kernels, by its name with its template's arguments, the most that a launch did to shared
    memory."""
    names, units, launches = read_rows([lab[0], "probe", probe, "--check", *lab[1:]], list(SHARED), None, PROBE_KERNELS)
    counted = {}
    for row in launches:
        kernel = re.sub(
            r"\((?:const|__half|float|double|long|int|unsigned|void)\b.*", "", row[names.index("Kernel Name")]
        )
        its = counted.setdefault(kernel, {"launches": 0, **dict.fromkeys(SHARED.values(), 0)})
        its["launches"] += 1
        for metric, value in values_of(names, units, row, SHARED).items():
            its[SHARED[metric]] = max(its[SHARED[metric]], value)
    return counted


def read_counters(command: list[Any], metrics: Collection[str]) -> dict[str, float]:
    """Of the first kernel alone."""
    return read_launches(command, metrics, 1)[0][2]


def profile_ladder(
    lab: list[Any], stages: list[str], size: object, metrics: list[str]
) -> dict[str, list[dict[str, float]]]:
    """For each stage, what was counted of each of its kernels on a size^3 problem."""
    command = [lab[0], "ladder", "--no-time", "--only", ",".join(stages), size, *lab[1:]]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "plain.json")
        # First without Nsight Compute, to learn what each stage launches.
        done = subprocess.run(list(map(str, [*command, "--json", path])), capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"error: {' '.join(map(str, command))}: {(done.stdout + done.stderr).strip()[-800:]}")
        with open(path) as file:
            results = json.load(file)["results"]
    counted = {}
    for result in results:
        if result["status"] != "pass":
            continue
        command = [lab[0], "ladder", "--no-time", "--only", result["stage"], size, *lab[1:]]
        rows = read_launches(command, metrics, len(result["launches"]))
        counted[result["stage"]] = found = []
        for launch in result["launches"]:
            if len(found) < len(rows) and rows[len(found)][:2] == (launch["grid"], launch["block"]):
                found.append(rows[len(found)][2])
            # else a kernel by another name, which ncu was not asked for
    return {stage: launches for stage, launches in counted.items() if launches}


def merge(launches: list[Json]) -> dict[str, float]:
    """The product's counters by our names."""
    product = max(
        launches,
        # FMAs. Nsight Compute counts some hmma of kernels that have none, too, so that alone they tell nothing.
        key=lambda launch: (
            launch.get("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 0)
            + FMAS_OF_HMMA * launch.get("sm__inst_executed_pipe_tensor_op_hmma.sum", 0)
        ),
    )
    counters = {METRICS[name]: value for name, value in product.items()}
    if len(launches) > 1:
        counters["kernels"] = len(launches)
        for metric in ("gpu__time_duration.sum", "dram__bytes_read.sum", "dram__bytes_write.sum"):
            if metric in product:
                of_others = sum(launch.get(metric, 0) for launch in launches if launch is not product)
                counters[f"other_{METRICS[metric]}"] = of_others
    return counters


def forms_of(stages: list[str], names: str) -> list[str]:
    """Ids of those among the stages that "NN,NN:NAME" names, and of their variants."""
    by_number = {stage.split("/")[1].split("_")[0]: stage for stage in stages}
    named = [name.partition(":") for name in names.split(",") if name]
    return [by_number[number] + colon + form for number, colon, form in named if number in by_number]


def main(arguments: list[str] | None = None) -> None:
    parser = parser_of("./lab measure counters", __doc__)
    parser.add_argument("--out", required=True)
    # The distance of rows modulo 32 words decides what meets in a bank of the L1 cache: a multiple, an odd one, one
    # between.
    parser.add_argument("--sizes", default="2048", help="of every stage")
    parser.add_argument("--more", default=MORE, help="further sizes of some stages and variants")
    # What 13a and 13b, which differ from it in nothing else, are compared with; and 11a.
    parser.add_argument("--variants", default="12:k=16,11a:unshared", help="these, too, at the sizes of every stage")
    parser.add_argument("--family", choices=["sgemm", "tensorcore"], default="sgemm")
    parser.add_argument("--type", choices=["h", "s"], default="h", help="of tensorcore's operands")
    parser.add_argument("--probes", help="these instead of stages")
    parser.add_argument("lab", nargs="+")
    options = parser.parse_args(arguments)

    listing = subprocess.run(
        [*options.lab[:1], "list", *options.lab[1:]], capture_output=True, text=True, check=True
    ).stdout
    stages = [
        line.split()[0]
        for line in listing.splitlines()
        if line.startswith(f"{options.family}/") and "(probe)" not in line
    ]
    if options.family == "tensorcore":
        ladder = [
            *options.lab[:1],
            "ladder",
            "--no-time",
            "--family",
            "tensorcore",
            "--type",
            options.type,
            "16",
            "--json",
            "-",
            *options.lab[1:],
        ]
        tried = json.loads(subprocess.run(ladder, capture_output=True, text=True, check=True).stdout)["results"]
        stages = [stage for stage in stages if stage in {result["stage"] for result in tried}]
    version = subprocess.run(["ncu", "--version"], capture_output=True, text=True).stdout
    device = (
        subprocess.run(
            ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True, text=True
        )
        .stdout.strip()
        .split(", ")
    )
    run = json.loads(
        subprocess.run(
            [*options.lab[:1], "run", stages[0], "--check", "--json", "-", *options.lab[1:]],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    )["run"]
    if options.family == "tensorcore":
        options.lab += ["--type", options.type]
    result = {
        "device": device[0],
        "driver": device[1],
        "cuda": run["cuda"],
        "commit": run["commit"],
        "compiler": run["compiler"],
        "ncu": re.search(r"Version (\S+)", version).group(1),
        "command": f"./lab measure counters --probes {options.probes}"
        if options.probes
        else f"./lab measure counters --family {options.family} --type {options.type} --sizes {options.sizes} --more "
        f"{shlex.quote(options.more)} --variants {shlex.quote(options.variants)}",
        "sizes": {},
    }
    if options.probes:
        result["probes"] = {}
        for probe in options.probes.split(","):
            result["probes"][probe] = profile_probe(options.lab, probe)
            for kernel, its in result["probes"][probe].items():
                print(
                    f"{probe:<16} {kernel}: " + ", ".join(f"{its[name]:.0f} {name}" for name in SHARED.values()),
                    flush=True,
                )
        del result["sizes"]
        options.sizes = options.more = ""
    of_all = stages + forms_of(stages, options.variants)
    work = [(size, of_all) for size in options.sizes.split(",") if size]
    for group in filter(None, options.more.split("+")):
        sizes, _, some = group.partition(":")
        work += [(size, wanted) for size in sizes.split(",") if (wanted := forms_of(stages, some))]
    for size, wanted in work:
        found = {
            stage: merge(launches)
            for stage, launches in profile_ladder(options.lab, wanted, size, list(METRICS)).items()
        }
        result["sizes"].setdefault(size, {}).update(found)
        for stage in wanted:
            counters = found.get(stage)
            missing = set(METRICS.values()) - set(counters or {})
            if missing:
                print(f"note: {stage} at {size}: ncu gave no {', '.join(sorted(missing)) if counters else 'counters'}")
            if not counters or missing & {
                "ffma",
                "wavefronts",
                "shared_load_wavefronts",
                "tag_lookups",
                "shared_load_bank_conflicts",
            }:
                continue
            warp_fmas = max(counters["ffma"] / 32, 1)
            print(
                f"{stage:<32} at {size}, per warp FMA: {counters['wavefronts'] / warp_fmas:7.3f} wavefronts, "
                f"{counters['shared_load_wavefronts'] / warp_fmas:7.3f} of shared loads, "
                f"{counters['tag_lookups'] / warp_fmas:7.3f} tag look-ups; "
                f"bank conflicts {counters['shared_load_bank_conflicts']:.4g}",
                flush=True,
            )
    with open(options.out, "w") as file:
        json.dump(result, file, indent=1)
        file.write("\n")
