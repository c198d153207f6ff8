"""What Nsight Compute reads of the kernels of E9 and E13: `./lab experiment E9 --ncu`."""

import dataclasses
import json
import pathlib
import sys
import tempfile
from collections.abc import Callable

from tools.experiments.tsm import PAPER, text_of
from tools.experiments.tsm_cases import GENERATED, REMAINDERS, TYPES, Sizes, Work, case, squares
from tools.experiments.tsm_run import provenance, short
from tools.experiments.tsm_tables import size_text
from tools.measure import counters
from tools.repository import Json
from tools.tables import Table

# Nsight Compute's names: ours.
DRAM = {"dram__bytes_read.sum": "dram_read_bytes", "dram__bytes_write.sum": "dram_written_bytes"}
BUSY = {
    "smsp__cycles_elapsed.avg.per_second": "clock_hz",
    "sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active": "fp64_pct",
    "sm__pipe_tensor_op_dmma_cycles_active.avg.pct_of_peak_sustained_active": "tensor_pct",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed": "dram_pct",
}


@dataclasses.dataclass
class Counted:
    """What Nsight Compute reads of an experiment's kernels."""

    title: str
    metrics: dict[str, str]
    kernels: str  # in its words: each case launches one of them once
    sizes: Sizes
    cases: Callable[[Work], list[Json]]


def counted_of_dram(work: Work) -> list[Json]:
    """The stages that generate TSMM's kernels, a gigabyte of A; and with a thread for each row, as in the paper."""
    problems = work.problems("d", lambda m, n: 4 * max(m, n))
    stages = [stage for stage in GENERATED["tsmm"] if stage in work.known]
    alone = {"threads_per_row": 1}
    return [
        c
        for m, n, k in problems
        for c in (
            *(case(stage, "d", m, n, k, stage) for stage in stages),
            *(
                case(stage, "d", m, n, k, f"{stage}, a thread for a row", **alone)
                for stage in stages
                if stage == "tsm/12"
            ),
        )
    ]


def counted_of_pipelines(work: Work) -> list[Json]:
    """Stages with a pipeline: plain cores, Tensor Cores."""
    return [
        case(stage, kind, m, n, k, stage)
        for stages in GENERATED.values()
        for stage in stages[1:]
        if stage in work.known
        for kind in TYPES
        for m, n, k in work.problems(kind)
    ]


COUNTED = {
    "E9": Counted(
        "The clock, and what is busy, while kernels with a pipeline run",
        BUSY,
        "regex:^tsm(m|ttsm)_(pipeline|tensor)",
        squares(16, 24, 32, 40, 48, 50, 57, 60, 64),
        counted_of_pipelines,
    ),
    "E13": Counted("TSMM: bytes of device memory by width", DRAM, "regex:^tsmm", REMAINDERS, counted_of_dram),
}


def perform_ncu(gemm: str, name: str, sizes: Sizes) -> Json:
    """What Nsight Compute reads of an experiment's kernels (COUNTED)."""
    counted = COUNTED[name]
    cases = counted.cases(Work(gemm, sizes or counted.sizes))
    if not cases:
        return {"results": []}
    with tempfile.TemporaryDirectory() as folder:
        listed, out = pathlib.Path(folder, "cases.jsonl"), pathlib.Path(folder, "results.jsonl")
        listed.write_text(text_of(cases))
        launches = counters.read_launches(
            [gemm, "batch", listed, "--out", out, "--no-exact", "--no-time"],
            counted.metrics,
            len(cases),
            counted.kernels,
        )
        first, *lines = map(json.loads, out.read_text().splitlines())
    missing = [metric for metric in counted.metrics if any(metric not in found for _, _, found in launches)]
    if missing:
        sys.exit(f"error: ncu gave no {' and no '.join(missing)}")
    wrong = [line["case"] for line in lines if line["status"] != "pass"]
    if wrong or len(launches) != len(lines):
        sys.exit(f"error: {len(launches)} launches were counted of {len(lines)} cases; not right: {json.dumps(wrong)}")
    results = []
    for line, (_, _, found) in zip(lines, launches):
        results.append({**short(line), **{ours: found[metric] for metric, ours in counted.metrics.items()}})
    return {
        "experiment": name,
        "title": counted.title,
        "source": PAPER,
        "executor": False,
        "missing": [],
        **provenance(first["run"]),
        "results": results,
    }


def table_busy(record: Json) -> Table:
    """The clock, and how busy the multiplying cores and device memory are, by width."""
    columns, rows = list(dict.fromkeys((r["stage"], r["type"]) for r in record["results"])), []
    for m, n in sorted({(r["m"], r["n"]) for r in record["results"]}):
        row = [size_text(m, n)]
        for stage, kind in columns:
            r = next(
                (r for r in record["results"] if (r["stage"], r["type"], r["m"], r["n"]) == (stage, kind, m, n)), None
            )
            row.append(
                f"{r['clock_hz'] / 1e9:.2f}, {max(r['fp64_pct'], r.get('tensor_pct', 0)):.0f}, {r['dram_pct']:.0f}"
                if r
                else "-"
            )
        rows.append(row)
    return ["M = N", *(f"{stage}, {TYPES[kind]}" for stage, kind in columns)], rows


def table_dram(record: Json) -> Table:
    """Bytes read of A's and written of B's, by width."""
    series, rows = list(dict.fromkeys(r["series"] for r in record["results"])), []
    for m, n in sorted({(r["m"], r["n"]) for r in record["results"]}):
        row = [size_text(m, n), str(m % 4)]
        for each in series:
            r = next((r for r in record["results"] if (r["series"], r["m"], r["n"]) == (each, m, n)), None)
            row += (
                [f"{r['dram_read_bytes'] / (8 * m * r['k']):.2f}", f"{r['dram_written_bytes'] / (8 * n * r['k']):.2f}"]
                if r
                else ["-", "-"]
            )
        rows.append(row)
    head = [
        "M = N",
        "M mod 4",
        *(f"{each}: {what}" for each in series for what in ("read, of A's bytes", "written, of B's bytes")),
    ]
    return head, rows


TABLES_OF_COUNTED = {"E9": table_busy, "E13": table_dram}
