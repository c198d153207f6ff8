#!/usr/bin/env python3
"""Reads each stage's hardware counters with Nsight Compute and writes them as JSON.

usage: counters.py --out FILE [--sizes N,N] -- LAB [options]      (LAB: the lab script and options such as --prebuilt DIR)
"""
import argparse
import csv
import json
import re
import subprocess
import sys

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
    "l1tex__data_pipe_lsu_wavefronts.sum": "wavefronts",
    "l1tex__t_set_accesses.sum": "tag_lookups",
    "l1tex__t_set_accesses.avg.pct_of_peak_sustained_elapsed": "tag_lookups_pct_of_peak",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum": "shared_load_wavefronts",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum": "shared_store_wavefronts",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum": "shared_load_bank_conflicts",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum": "shared_store_bank_conflicts",
    "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed": "wavefronts_pct_of_peak",
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
}
# The kernels of the stages and of tests/prototype_kernels.cu, and not those of the harness.
KERNELS = "regex:^(sgemm|naive|shared_tile|block_)"
SCALE = {"nsecond": 1, "ns": 1, "usecond": 1e3, "us": 1e3, "msecond": 1e6, "ms": 1e6, "second": 1e9, "s": 1e9,
         "byte": 1, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9}


def read_counters(command, metrics):
    """What Nsight Compute counts of the first kernel that the command launches for a stage: metric to value, in ns, bytes, ..."""
    done = subprocess.run(["ncu", "--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base",
                           "-k", KERNELS, "-c", "1", "--target-processes", "all", "--metrics", ",".join(metrics), *command],
                          capture_output=True, text=True)
    rows = list(csv.reader(line for line in done.stdout.splitlines() if line.startswith('"')))
    if done.returncode or len(rows) < 3:
        sys.exit(f"error: ncu failed on {' '.join(command)}: {(done.stdout + done.stderr).strip()[-800:]}")
    return {name: float(value.replace(",", "")) * SCALE.get(unit, 1)
            for name, unit, value in zip(*rows[:3]) if name in metrics and value not in ("", "n/a")}


def profile(lab, stage, size):
    """Counters of the stage's first kernel on a size^3 problem."""
    found = read_counters([*lab[:1], "run", stage, "--check", "--m", size, "--n", size, "--k", size, *lab[1:]], list(METRICS))
    counters = {METRICS[name]: value for name, value in found.items()}
    missing = set(METRICS.values()) - set(counters)
    if missing:
        print(f"note: {stage}: ncu gave no {', '.join(sorted(missing))}")
    return counters


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True)
    # The distance of rows modulo 32 words decides what meets in a bank of the L1 cache: a multiple, an odd one, one between.
    parser.add_argument("--sizes", default="2048,2047,1000")
    parser.add_argument("lab", nargs="+")
    options = parser.parse_args()

    listing = subprocess.run([*options.lab[:1], "list", *options.lab[1:]], capture_output=True, text=True, check=True).stdout
    stages = [line.split()[0] for line in listing.splitlines() if line.startswith("sgemm/")]
    version = subprocess.run(["ncu", "--version"], capture_output=True, text=True).stdout
    device = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                            capture_output=True, text=True).stdout.strip().split(", ")
    run = json.loads(subprocess.run([*options.lab[:1], "run", stages[0], "--check", "--json", "-", *options.lab[1:]],
                                    capture_output=True, text=True, check=True).stdout)["run"]
    result = {"device": device[0], "driver": device[1], "cuda": run["cuda"], "commit": run["commit"], "compiler": run["compiler"],
              "ncu": re.search(r"Version (\S+)", version).group(1), 
              "command": f"counters.py --sizes {options.sizes}", "sizes": {}}
    for size in options.sizes.split(","):
        result["sizes"][size] = {}
        for stage in stages:
            counters = profile(options.lab, stage, size)
            result["sizes"][size][stage] = counters
            warp_fmas = counters["ffma"] / 32
            print(f"{stage:<26} at {size}, per warp FMA: {counters['wavefronts'] / warp_fmas:7.3f} wavefronts, "
                  f"{counters['shared_load_wavefronts'] / warp_fmas:7.3f} of shared loads, "
                  f"{counters['tag_lookups'] / warp_fmas:7.3f} tag look-ups; "
                  f"bank conflicts {counters['shared_load_bank_conflicts']:.4g}", flush=True)
    with open(options.out, "w") as file:
        json.dump(result, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
