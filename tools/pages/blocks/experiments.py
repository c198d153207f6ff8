"""The tables of docs/sources.md and docs/tsm/experiments.log.md: what `./lab experiment` found."""

import pathlib

from tools.experiments import sgemm, sgemm_tables, tsm_tables
from tools.experiments.tsm_cases import ELEMENT, PRODUCTS, TYPES
from tools.experiments.tsm_ncu import TABLES_OF_COUNTED
from tools.pages.data import Data
from tools.pages.notes import not_measured
from tools.pages.records.experiments import drawn, gpu_file, record_file
from tools.pages.records.tcec import peers
from tools.repository import GPU, Json, read_json, read_json_if_there
from tools.tables import table


def block_source(data: Data, name: str) -> list[str]:
    """The tables of an experiment, and its figure."""
    experiment = sgemm.EXPERIMENTS[name]
    path = record_file(name)
    if not path:
        how = (
            "./lab experiment article --cpu --out docs/measurements/cpu/experiments"
            if experiment.kind == "requests"
            else "docs/measurements/measure"
        )
        return [f"*Not measured yet: run `{how}`.*"]
    record = read_json(path)
    found, notes = sgemm_tables.tables(record)
    lines = [line for head, rows in found for line in [*table(head, rows, left=()), ""]]
    lines.append(" ".join(notes))
    if name in drawn():
        lines += ["", f"![{experiment.title}](figures/source_{name}.svg)"]
    return lines


def block_experiment(data: Data, name: str, folder: pathlib.Path | None = None) -> list[str]:
    """The tables and the figure of one of E2 to E14, on a GPU."""
    path = folder / f"{name}.json" if folder else gpu_file(name)
    if not path.exists():
        return not_measured(f"./lab experiment {name}")
    record = read_json(path)
    found, notes = tsm_tables.tables(record)
    lines = [line for head, rows in found for line in [*table(head, rows, left=()), ""]]
    return [*lines, " ".join(notes), "", f"![{record['title']}](../figures/experiment_{name}.svg)"]


def block_experiment_ncu(data: Data, name: str, folder: pathlib.Path | None = None) -> list[str]:
    """What an experiment's --ncu has read."""
    path = folder / f"{name}_ncu.json" if folder else gpu_file(f"{name}_ncu")
    if not path.exists():
        return not_measured(f"./lab experiment {name} --ncu")
    record = read_json(path)
    return [
        *table(*TABLES_OF_COUNTED[name](record), left=()),
        "",
        f"{record['device']}, commit {record['commit']}, Nsight Compute.",
    ]


def block_cutlass(data: Data) -> list[str]:
    """CUTLASS's split-K product by M = N, beside stage 09 on the same kind of GPU."""
    found, rows = peers(), []
    peer = found["cutlass_splitk"]
    for r in peer["results"]:
        gbs = 2 * r["m"] * r["k"] * ELEMENT[r["type"]] / r["ms"] / 1e6
        flop_per_byte = r["m"] / (8 if r["type"] == "d" else 4)
        roof = min(peer["ceilings"]["read_gbs"], peer["ceilings"]["dfma_gflops"] / flop_per_byte)
        ratio = r["ours_gbs"] / gbs
        rows.append(
            [TYPES[r["type"]], str(r["m"]), f"{gbs:,.0f}", f"{100 * gbs / roof:.1f} %", r["config"], f"{ratio:.1f}"]
        )
    head = ["type", "M = N", "CUTLASS, GB/s", "of the roofline", "its tile", "09 is faster, times"]
    return [
        *table(head, rows, left=("type", "its tile")),
        "",
        f"{found['device']}, CUTLASS {peer['revision'][:12]} ({peer['source']}). Tried: {peer['tried']}. "
        f"09: commit {peer['ours']['commit']}; tried: {peer['ours']['tried']}.",
    ]


PEERS = {"tsmgen": "The paper's generator", "kokkos": "Kokkos Kernels", "tsm2x": "TSM2X", "cublas": "cuBLAS"}


def block_tsm_peers(_: Data, op: str) -> list[str]:
    """GB/s of A and the other long matrix, by M = N: ours, cuBLAS's, and those of implementations of others."""
    record = read_json_if_there(GPU / "peers_tsm.json")
    if not record:
        return ["*Not measured: the programs of the others are not part of the repository.*"]
    found: dict[tuple[str, int], dict[str, Json]] = {}
    for r in record["results"]:
        if r["op"] == op:
            its = found.setdefault((r["type"], r["m"]), {})
            its[r["peer"]] = min(its.get(r["peer"], r), r, key=lambda one: one["ms"])
    peers_there = [peer for peer in PEERS if any(peer in its for its in found.values())]

    def cell(r: Json | None) -> str:
        if not r:
            return "-"
        gbs = 2 * r["m"] * r["k"] * ELEMENT[r["type"]] / r["ms"] / 1e6
        return f"{gbs:,.0f}" + (f" ({r['options']})" if r["options"] else "")

    rows = [
        [TYPES[kind], str(m), cell(its["ours"]), *(cell(its.get(peer)) for peer in peers_there)]
        for (kind, m), its in sorted(found.items())
    ]
    sources = [
        f"{PEERS[peer]}: {its['what']}, {its['source']}, commit {its['revision']}. Tried: {its['tried']}."
        for peer, its in record["sources"].items()
        if peer in peers_there
    ]
    return [
        *table(["type", "M = N", "ours, GB/s", *(PEERS[peer] for peer in peers_there)], rows),
        "",
        f"{record['device']}; A has 1 GiB. Ours: commit {record['ours'][op]['commit']}. " + " ".join(sources),
    ]


def block_exhaustive(data: Data, folder: pathlib.Path = GPU) -> list[str]:
    """What the tuner loses by not trying every kernel (./lab measure tune-tsm digest --tried)."""
    path = folder / "tsm_exhaustive.json"
    if not path.exists():
        return ["*Not measured yet: `./lab measure tune-tsm cases --exhaustive` begins it.*"]
    report = read_json(path)
    rows = [
        [
            PRODUCTS[e["op"]],
            TYPES[e["type"]],
            f"{e['m']} x {e['n']}",
            ", ".join(model["stage"].split("/")[1].split("_")[0] for model in e["models"]),
            f"{e['tried']:,}",
            f"{1e3 * e['best']['ms']:.1f}",
            str(e["tuning"]["tries"]),
            f"{1e3 * e['tuning']['ms']:.1f}",
            f"{100 * e['tuning']['loses']:.1f} %",
        ]
        for e in report["sizes"]
    ]
    head = [
        "product",
        "type",
        "M x N",
        "stages",
        "all their kernels",
        "the best, us",
        "kernels tried",
        "their best, us",
        "lost",
    ]
    return [
        *table(head, rows, left=()),
        "",
        f"{report['device']}, commit {report['commit']}; {len(report['wrong']) or 'none'} of them wrong; 256 MiB of A.",
    ]


def block_pairs(data: Data, folder: pathlib.Path = GPU) -> list[str]:
    """What `./lab measure pairs` has found: the best kernels at every M and N."""
    path = folder / "pairs.json"
    if not path.exists():
        return not_measured("docs/measurements/measure --steps pairs")
    record = read_json(path)
    rows = [
        [
            PRODUCTS[row["op"]],
            TYPES[row["type"]],
            f"{row['pairs']:,}",
            f"{row['problems']:,}",
            f"{row['problems'] - row['pass']:,}",
            f"{row['worst']:.2f}",
        ]
        for row in record["groups"]
    ]
    head = ["product", "type", "pairs of M and N", "problems", "wrong", "largest error, of its bound"]
    again = [
        f"{row['pairs']:,} pairs of {PRODUCTS[row['op']]} in {TYPES[row['type']]} (commit "
        f"{', '.join(run['commits'])}): "
        f"{row['pass']:,} of {row['problems']:,} problems right"
        for run in record.get("again", [])
        for row in run["groups"]
    ]
    return [
        *table(head, rows, left=()),
        "",
        f"{record['device']}, commits {', '.join(record['commits'])}."
        + (f" Run anew: {'; '.join(again)}." if again else ""),
    ]
