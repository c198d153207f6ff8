"""What `./lab probe` found, as JSON."""

import pathlib
from collections.abc import Iterable
from typing import Any

from tools.repository import CPU, GPU, Json, newest, read_json_if_there

MEASURED = GPU / "probes"  # may be missing, whole or in part
CODE = CPU / "probes"  # --sass: needs no GPU
HYPOTHESES = {"units": "units", "paper": "the paper's", "read_ports": "reading", "write_ports": "writing"}


def record_path(name: str, folder: pathlib.Path | None = None) -> pathlib.Path:
    return (folder or MEASURED) / f"{name}.json"


def record(name: str, folder: pathlib.Path | None = None) -> Json | None:
    """None where it was not measured yet."""
    return read_json_if_there(record_path(name, folder))


def newest_record(name: str) -> Json | None:
    """Of the probe as it is now: a part of them was measured anew, on another GPU."""
    return read_json_if_there(newest(record_path(name)))


def of_work(run: Json, work: str = "read") -> list[Json]:
    """Of `bandwidth`: the kernels that only read, or those that scale."""
    return [each for each in run["results"] if each.get("work", "read") == work]


def unique(values: Iterable[Any]) -> list[Any]:
    return list(dict.fromkeys(values))


def line_series(run: Json) -> dict[tuple[str, str], list[Json]]:
    """(memory, pattern): results, by lines"""
    found = {}
    for r in run["results"]:
        if r["part"] == "lines":
            found.setdefault((r["memory"], r["pattern"]), []).append(r)
    return found


def loop_name(r: Json) -> str:
    if "tile_m" in r:
        loads = {"none": "no loads", "lds64": "loads of 8 bytes", "lds128": "loads of 16 bytes"}[r["kind"]]
        return f"{r['type']}, {r['tile_m']} x {r['tile_n']}, {loads}" + (", fresh" if r["order"] == "fresh" else "")
    count = "" if r["kind"] == "none" else f", {r['per_four']} for 4"
    return f"{r['kind']}{count}, {r['order']}" + (f", {r['lanes']}" if "lanes" in r else "")


def port_shares(run: Json) -> dict[str, float]:
    """The loops' names and the percentages of the peak that registers' ports allow, of those loops that nvcc's code is
    known of."""
    code = {loop_name(r): r["sass"] for r in (record(run["probe"], CODE) or {"results": []})["results"]}
    shares = {}
    for r in run["results"]:
        if (c := code.get(loop_name(r))) is not None:
            # Of a scheduler; a load of 16 bytes takes two of the SM, as is found here.
            cycles = max(c["port_cycles"], 8 * c["loads_128"])
            shares[loop_name(r)] = min(r["predicted"]["units"], 100 * 2 * c["dfma"] / cycles)
    return shares


def best(r: Json) -> float | None:
    """In percent of the peak, over the numbers of warps; None if there is no time."""
    return max(r["percent"].values()) if r.get("percent") else None


def port_misses(run: Json) -> list[float]:
    """By how many points the ports' share is above what was measured, where the ports and not the units are the
    limit."""
    shares = port_shares(run)
    return [
        shares[loop_name(r)] - best(r)
        for r in run["results"]
        if best(r) and shares.get(loop_name(r), 100) < r["predicted"]["units"] - 0.05
    ]


def incorrect_series(run: Json) -> dict[tuple[str, str, str], list[Json]]:
    """(type, tile, kernel): results, by blocks"""
    found = {}
    for r in run["results"]:
        found.setdefault((r["type"], f"{r['tile_m']} x {r['tile_n']}", r["kernel"]), []).append(r)
    return found
