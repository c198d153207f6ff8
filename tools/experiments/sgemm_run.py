"""Runs an experiment of SGEMM's sources with `gemm ladder`."""

import json
import subprocess
import sys
from typing import Any

from tools.experiments.blas import measure_blas
from tools.experiments.sgemm import EXPERIMENTS
from tools.repository import Json


def call(command: list[Any]) -> tuple[int, Json]:
    done = subprocess.run([str(c) for c in command], text=True, stdout=subprocess.PIPE)
    try:
        return done.returncode, json.loads(done.stdout)
    except json.JSONDecodeError:
        sys.exit(done.returncode or 1)  # it has said why


def numbered(stage: str) -> str:
    """As --only takes it: sgemm/NN_name is NN, sgemm/NN_name:variant is NN:variant."""
    name, colon, form = stage.removeprefix("sgemm/").partition(":")
    return name.split("_")[0] + colon + form


def short(r: Json) -> Json:
    """What the tables and plots need of a result of the ladder."""
    p, launch = r["problem"], (r.get("launches") or [{}])[0]
    result = {"stage": numbered(r["stage"]), "shape": [p["m"], p["n"], p["k"]], "status": r["status"]}
    if r["reason"]:
        result["reason"] = r["reason"]
    if "error" in r:
        result["max_ratio"] = r["error"]["max_ratio"]
    for key in ("registers", "local_bytes", "dynamic_shared_bytes"):
        if key in launch:
            result[key] = launch[key]
    if "gflops" in r:
        flop = 2 * p["m"] * p["n"] * p["k"]
        result.update(
            ms=r["time_ms"]["median"], gflops=r["gflops"], cublas_gflops=flop / r["cublas_time_ms"]["median"] / 1e6
        )
    if "counts" in r:
        counts = r["counts"]
        result.update(
            share_of_fp32_peak=r["predicted"]["share_of_fp32_peak"],
            flop_per_byte=counts["flop_per_byte"],
            shared_load_requests=counts["shared_load"]["requests"],
            shared_load_lanes=counts["shared_load"]["lanes"],
        )
    return result


def known_stages(gemm: str) -> set[str]:
    names = subprocess.run([gemm, "list", "--variants"], text=True, capture_output=True, check=True).stdout
    return {numbered(line.split()[0]) for line in names.splitlines() if line.strip()}


def is_executor(gemm: str) -> bool:
    return (
        call([gemm, "run", "02", "--check", "--m", 1, "--n", 1, "--k", 1, "--json", "-"])[1]["run"][
            "compute_capability"
        ]
        == 0
    )


def perform(gemm: str, name: str, sizes: list[str], seconds: float | None, executor: bool) -> tuple[int, Json]:
    """(worst exit status, record)"""
    experiment = EXPERIMENTS[name]
    known = known_stages(gemm)
    record: Json = {
        "experiment": name,
        "title": experiment.title,
        "source": experiment.source,
        "executor": executor,
        "results": [],
    }
    record["missing"] = [stage for stage in experiment.stages() if stage not in known]
    if 0 < len(record["missing"]) < len(experiment.stages()):
        print(f"note: {name}: not in this build, left out: {', '.join(record['missing'])}", file=sys.stderr)
    status = 0
    for stages, its_sizes in experiment.runs:
        present = [stage for stage in stages if stage in known]
        if not present:
            continue
        shapes = sizes or (experiment.small if executor else its_sizes)
        code, report = call(
            [
                gemm,
                "ladder",
                *shapes,
                "--only",
                ",".join(present),
                *(["--seconds", seconds] if seconds else []),
                "--json",
                "-",
            ]
        )
        status = max(status, code)
        for key in ("device", "driver", "cuda", "cublas", "compiler", "commit", "ceilings", "sm_count"):
            if key in report:
                record[key] = report[key]
        record["results"] += [short(r) for r in report["results"]]
    if experiment.blas:
        record["blas"] = measure_blas(sorted({r["shape"][0] for r in record["results"]}))
    return status, record
