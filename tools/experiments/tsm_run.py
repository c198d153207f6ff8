"""Runs one of E2 to E14 with `gemm batch`."""

import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile
from typing import Any

from tools.experiments.tsm import EXPERIMENTS, cases_of, text_of
from tools.experiments.tsm_cases import Sizes, operation
from tools.repository import Json


def short(line: Json) -> Json:
    """What tables and plots need of a result of `gemm batch`."""
    c = line["case"]
    r = {
        "series": c["tag"]["series"],
        "stage": c["stage"],
        "op": operation(c),
        **{key: c[key] for key in ("type", "m", "n", "k")},
        "status": line["status"],
    }
    for key in ("reason", "gflops", "pct_roofline", "pct_tensor_roofline", "registers", "local_bytes"):
        if key in line:
            r[key] = round(line[key], 3) if isinstance(line[key], float) else line[key]
    if "kernel_options" in line:
        r["options"] = line["kernel_options"]
    if "kernel_stage" in line:
        r["kernel_stage"] = line["kernel_stage"]
    if "cycles" in c["tag"]:
        r["cycles"] = c["tag"]["cycles"]
    if "time_ms" in line:
        r["ms"] = line["time_ms"]["median"]
    if "counts" in line:
        counts = line["counts"]
        r.update(
            share_of_fp64_peak=round(line["predicted"].get("share_of_fp64_peak", 0), 4),
            store_sectors=counts["global_store"]["sectors"],
            atomics=counts["global_atomic"]["requests"],
        )
    return r


def merit(r: Json) -> float:
    """The larger the better: speed; on the executor, what the counts allow."""
    return 1 / r["ms"] if "ms" in r else r.get("share_of_fp64_peak", 0)


def best_of(results: list[Json]) -> list[Json]:
    """Of the results of a series on a problem the best, with the number of those that were tried; and all that
    failed."""
    groups: dict[tuple[Any, ...], list[Json]] = {}
    for r in results:
        if r["status"] == "fail":
            groups[len(groups),] = [r]
        else:
            groups.setdefault((r["series"], r["op"], r["type"], r["m"], r["n"], r["k"]), []).append(r)
    return [max(group, key=merit) | {"tried": len(group)} for group in groups.values()]


def provenance(run: Json) -> Json:
    return {
        key: run[key]
        for key in ("device", "driver", "cuda", "cublas", "compiler", "commit", "ceilings", "sm_count")
        if key in run
    }


def canonical(c: Json) -> str:
    return json.dumps(c, sort_keys=True)


def run_batch(gemm: str, cases: list[Json], how: list[str], raw: str | None) -> tuple[int, Json, list[Json]]:
    """(exit status, the run, results with the cases' tags). With a folder `raw` they are kept there and not run again:
    the same kernels may be asked for by several experiments, or a run may have been cut off."""
    bare = text_of({key: value for key, value in c.items() if key != "tag"} for c in cases)
    tags = dict(zip(map(canonical, map(json.loads, bare.splitlines())), (c["tag"] for c in cases), strict=True))
    if len(tags) < len(cases):
        sys.exit("error: two cases of an experiment are the same")
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(raw or temporary)
        stem = hashlib.sha256((bare + str(how)).encode()).hexdigest()[:16]
        listed, out = folder / f"{stem}.cases", folder / f"{stem}.results"
        listed.write_text(bare)
        had, status = -1, 0
        lines: list[Json] = []
        while had < len(lines) < len(cases):  # again, behind a kernel that has crashed the device
            had = len(lines)
            done = subprocess.run([gemm, "batch", listed, "--out", out, "--no-exact", *how], stdout=subprocess.DEVNULL)
            if not out.exists():
                sys.exit(done.returncode or 1)  # it has said why
            status = max(status, done.returncode)
            first, *lines = map(json.loads, out.read_text().splitlines())
    for line in lines:
        line["case"]["tag"] = tags[canonical(line["case"])]
    return status, first["run"], lines


def perform(
    gemm: str, name: str, sizes: Sizes, seconds: float | None, executor: bool, raw: str | None = None
) -> tuple[int, Json]:
    """(exit status, record)"""
    experiment = EXPERIMENTS[name]
    cases, missing = cases_of(name, gemm, sizes, executor)
    if missing:
        print(f"note: {name}: not in this build, left out: {', '.join(missing)}", file=sys.stderr)
    record = {
        "experiment": name,
        "title": experiment.title,
        "source": experiment.source,
        "executor": executor,
        "missing": missing,
        "results": [],
    }
    if not cases:
        return 0, record
    how = ["--no-time"] if executor else ["--seconds", str(seconds or 0.01)]
    status, run, lines = run_batch(gemm, cases, how, raw)
    results = [short(line) for line in lines]
    record = {**record, **provenance(run), "results": best_of(results) if experiment.best else results}
    return status, record


def record_text(record: Json) -> str:
    """JSON with a line for each result."""
    head = {key: value for key, value in record.items() if key != "results"}
    return json.dumps(head)[:-1] + ', "results": [\n ' + ",\n ".join(map(json.dumps, record["results"])) + "\n]}\n"
