"""The tables of docs/tsm/probes.md."""

import re
from fnmatch import fnmatchcase

from tools.pages.data import Data, NotMeasured
from tools.pages.notes import not_measured
from tools.pages.records.probes import (
    CODE,
    HYPOTHESES,
    incorrect_series,
    line_series,
    loop_name,
    newest_record,
    port_misses,
    port_shares,
    record,
    record_path,
    unique,
)
from tools.repository import Json, newest, read_json_if_there
from tools.tables import number, table

WARPS = ("4", "8", "16")
# What it is, and a V100's cycles: by Jia et al., and by Ernst et al., section 1.6.
DEPENDENT = {"shared": ("loads from shared memory", "19"), "dfma": ("FP64 FMAs on one sum", "8")}


def both(result: Json, measured: str, predicted: str) -> str:
    """Measured, and in brackets predicted."""
    if result["status"] == "skip":
        return "-"
    return f"{number(result.get(measured))} ({number(result.get(predicted))})"


def bandwidth_row(result: Json) -> str:
    where = f"{result['warps_per_sm']} warps an SM" if result["warps_per_sm"] else "1 block, 4 warps"
    scales = "scale, " if result.get("work") == "scale" else ""
    return f"{scales}{result['word_bytes']} bytes, {where}"


def table_bandwidth(run: Json) -> list[str]:
    results = run["results"]
    ilps = unique(r["ilp"] for r in results)
    rows = [
        [name] + [both(r, "gbs", "predicted_gbs") for r in results if bandwidth_row(r) == name]
        for name in unique(map(bandwidth_row, results))
    ]
    return table(["GB/s (predicted); loads in flight of a thread:"] + [str(ilp) for ilp in ilps], rows)


def size(bytes: int) -> str:
    return f"{bytes >> 10} KiB" if bytes < 1 << 20 else f"{bytes >> 20} MiB"


def table_dependent(run: Json) -> list[str]:
    """What a thread waits for between two steps of which the second needs the first one's result."""
    found = {r["what"]: both(r, "cycles", "predicted_cycles") for r in run["results"] if r["part"] == "dependent"}
    return table(
        ["each waits for the one before", "a V100", "cycles (predicted)"],
        [[title, v100, found.get(what, "not measured")] for what, (title, v100) in DEPENDENT.items()],
    )


def table_latency(run: Json) -> list[str]:
    chains = [r for r in run["results"] if r["part"] == "chain"]
    lines = table(
        ["chain", "ns (predicted)", "cycles (predicted)"],
        [[size(r["bytes"]), both(r, "ns", "predicted_ns"), both(r, "cycles", "predicted_cycles")] for r in chains],
    )
    lines += ["", *table_dependent(run)]
    series = line_series(run)
    titles = {"l1": "L1", "shared": "shared memory"}
    rows = [
        [str(results[0]["lines"])] + [both(r, "cycles", "predicted_cycles") for r in results]
        for results in zip(*series.values())
    ]
    return (
        lines
        + [""]
        + table(
            ["lines; cycles of a load (predicted)"] + [f"{titles[memory]}, {pattern}" for memory, pattern in series],
            rows,
        )
    )


def table_loops(run: Json) -> list[str]:
    shares = port_shares(run)
    rows = [
        [loop_name(r)]
        + [f"{r['predicted'][key]:.0f}" for key in HYPOTHESES]
        + [number(shares.get(loop_name(r)))]
        + [number(r.get("percent", {}).get(warps)) for warps in WARPS]
        for r in run["results"]
    ]
    lines = table(["% of the FP64 peak", *HYPOTHESES.values(), "ports", *(f"{warps} warps" for warps in WARPS)], rows)
    if misses := port_misses(run):
        mean_square = sum(miss * miss for miss in misses) / len(misses)
        lines += [
            "",
            f"In {len(misses)} loops ports are the limit. There they and the best of 4, 8 and 16 warps differ by "
            f"{mean_square**0.5:.1f} points "
            f"(root mean square), by 2 or less in {sum(abs(miss) <= 2 for miss in misses)}, by "
            f"{max(map(abs, misses)):.1f} at most.",
        ]
    return lines


def table_incorrect(run: Json) -> list[str]:
    grids = [run["sm_count"] * waves for waves in (1, 2, 4, 8, 16)]
    rows = []
    for (type, tile, kernel), results in incorrect_series(run).items():
        at = {r["blocks"]: r for r in results}
        rows.append(
            [f"{kernel}, {type}, {tile}", f"{results[0]['resident_blocks'] * results[0]['block_threads'] // 32}"]
            + [both(at[blocks], "gflops", "predicted_gflops") if blocks in at else "-" for blocks in grids]
        )
    return table(
        ["GFLOP/s (predicted), incorrect on purpose", "warps that fit an SM"]
        + [f"{blocks} blocks" for blocks in grids],
        rows,
    )


def lives_row(result: Json) -> str:
    turns, order = result["turns"], result["order"]
    return str(turns) if turns and order == "strided" else f"{turns or 'all'}, {order}"


def table_lives(run: Json) -> list[str]:
    results = run["results"]
    works = {"read": "read", "scale": "read and write"}
    rows = []
    for name in unique(map(lives_row, results)):
        by_work = {r["work"]: r for r in results if lives_row(r) == name}
        rows.append(
            [name, number(by_work["read"]["blocks"])] + [both(by_work[w], "gbs", "predicted_gbs") for w in works]
        )
    return table(["GB/s (predicted); turns of a block:", "blocks", *works.values()], rows)


TABLES = {
    "bandwidth": table_bandwidth,
    "latency": table_latency,
    "coissue": table_loops,
    "tiles": table_loops,
    "incorrect": table_incorrect,
    "lives": table_lives,
}
FIGURES = TABLES.keys() - {"lives"}


def command_of(run: Json) -> str:
    """What was measured on which device, and how."""
    command = run["command"].split(" ", 1)[1].split(" --json")[0]
    return f"{run['device']}, commit {run['commit']}, `./lab {command}`."


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def newest_tables(name: str) -> list[list[str]]:
    """The lines of each table of a probe's newest measurement: a header, a rule, rows."""
    run = newest_record(name)
    if not run:
        raise NotMeasured("")
    found = [[]]
    for line in TABLES[name](run):
        if line.startswith("|"):
            found[-1].append(line)
        elif found[-1]:
            found.append([])
    return [lines for lines in found if lines]


def block_probe_rows(data: Data, name: str, *patterns: str) -> list[str]:
    """Of a probe's newest tables the rows with these names, as in `8_bytes,_*` (_ is a blank)."""
    wanted = [pattern.replace("_", " ") for pattern in patterns]
    found, met = [], set()
    for header, rule, *rows in newest_tables(name):
        matched = {row: [p for p in wanted if fnmatchcase(cells(row)[0], p)] for row in rows}
        met.update(p for each in matched.values() for p in each)
        if any(matched.values()):
            found += [header, rule, *(row for row, each in matched.items() if each), ""]
    if missing := set(wanted) - met:
        raise KeyError(f"{name} has no row {sorted(missing)}")
    return [*found, command_of(newest_record(name))]


def probe_cell(data: Data, name: str, row: str, column: str, which: str = "measured") -> str:
    """Of a probe's newest tables the cell of the first such row: measured, or (in brackets) predicted. _ is a blank."""
    row, column = row.replace("_", " "), column.replace("_", " ")
    for header, _, *rows in newest_tables(name):
        for found in (dict(zip(cells(header), cells(r))) for r in rows if fnmatchcase(cells(r)[0], row)):
            if match := re.fullmatch(r"(\S+)(?: \((\S+)\))?", found.get(column, "")):
                return match[1 if which == "measured" else 2]
    raise KeyError(f"{name} has no cell {row}, {column}")


def block_probe(data: Data, name: str) -> list[str]:
    """What a probe measured, and its figure, if it has one."""
    run, table_of = record(name), TABLES[name]
    if not run:
        return not_measured("docs/measurements/measure --steps probes")
    lines = []
    for path in dict.fromkeys((record_path(name), newest(record_path(name)))):
        if each := read_json_if_there(path):
            lines += [*table_of(each), "", command_of(each), ""]
    return [*lines, f"![{name}](../figures/probe_{name}.svg)"] if name in FIGURES else lines[:-1]


def block_probe_code(data: Data, name: str) -> list[str]:
    """What nvcc makes of a probe's loops."""
    run = record(name, CODE)
    if not run and name in ("coissue", "tiles"):
        return [
            f"*Not compiled yet: `./lab probe {name} --cpu --sass --json docs/measurements/cpu/probes/{name}.json` "
            "does it.*"
        ]
    rows = []
    for r in run["results"]:
        c, fmas = r["sass"], r["sass"]["dfma"]
        if r.get("lanes") == "broadcast":
            continue  # the same kernel as spread
        others = c["loads_64"] + c["loads_128"] + c["adds"] + c["moves"]
        rows.append(
            [
                loop_name(r).replace(", spread", ""),
                str(fmas),
                str(c["loads_64"] + c["loads_128"]),
                str(c["adds"]),
                str(c["moves"]),
                str(c["rest"]),
                f"{others / fmas:.3g}",
                f"{c['new_operands']:.2f}",
                f"{c['reused']:.2f}",
                str(c["registers"]),
            ]
        )
    return table(
        [
            "a round of",
            "DFMA",
            "loads",
            "additions",
            "moves",
            "rest",
            "others/FMA",
            "new operands of an FMA",
            ".reuse of an FMA",
            "registers",
        ],
        rows,
    ) + ["", f"nvcc for sm_90a, commit {run['commit']}."]
