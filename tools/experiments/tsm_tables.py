"""The tables of E2 to E14: head and rows of text, and sentences below them."""

import itertools
import statistics

from tools.experiments.tsm import EXPERIMENTS
from tools.experiments.tsm_cases import ELEMENT, LIBRARY, NO_REDUCTION, OURS, TYPES, register_line
from tools.experiments.tsm_run import merit
from tools.repository import Json
from tools.tables import Tables, percent, rounded


class View:
    """The results of a record by series, type and size."""

    def __init__(self, record: Json) -> None:
        self.record, self.executor = record, record["executor"]
        self.results = [r for r in record["results"] if r["status"] != "fail"]
        self.series = list(dict.fromkeys(r["series"] for r in self.results))
        self.types = [kind for kind in "dz" if any(r["type"] == kind for r in self.results)]
        self.found = {(r["series"], r["type"], r["m"], r["n"], r["k"]): r for r in self.results}
        self.sizes = sorted({(r["m"], r["n"]) for r in self.results})

    def at(self, series: str, kind: str, m: int, n: int, k: int | None = None) -> Json | None:
        return next(
            (
                r
                for r in self.results
                if (r["series"], r["type"], r["m"], r["n"]) == (series, kind, m, n) and k in (None, r["k"])
            ),
            None,
        )

    def cell(self, r: Json | None) -> str:
        """% of the roofline; on the executor the share of the FP64 peak that the counts allow; else what the check
        says."""
        if not r:
            return "-"
        if "pct_roofline" in r:
            return percent(r["pct_roofline"])
        if "share_of_fp64_peak" in r:
            return percent(100 * r["share_of_fp64_peak"])
        return f"{r['status']}: {r.get('reason', '')}"[:60].removesuffix(": ")


def size_text(m: int, n: int) -> str:
    return str(m) if m == n else f"{m} x {n}"


def options_text(r: Json) -> str:
    o = r.get("options", {})
    if "tile_m" in o:
        return f"{o['tile_m']} x {o['tile_n']}, U {o['unroll']}"
    if "c_source" in o:
        return f"t {o['threads_per_row']}, U {o['unroll']}, {o['c_source']}"
    return "-"


def below(record: Json, *more: str) -> list[str]:
    experiment = EXPERIMENTS[record["experiment"]]
    if record["executor"]:
        where = (
            f"{record['device']}, commit {record['commit']}: checked and counted; in place of speeds, the share of "
            "the FP64 peak that the "
            "counts allow. Speeds need a GPU."
        )
    else:
        where = (
            f"{record['device']}, driver {record['driver']}, CUDA {record['cuda']}, commit {record['commit']}; "
            "medians, warm cache."
        )
    wrong = [r for r in record["results"] if r["status"] == "fail"]
    failed = (
        [
            f"{len(wrong)} WRONG, the first: {wrong[0]['series']}, {wrong[0]['m']} x {wrong[0]['n']}: "
            f"{wrong[0].get('reason', '')}."
        ]
        if wrong
        else []
    )
    missing = [f"Not in this build: {', '.join(record['missing'])}."] if record["missing"] else []
    theirs = [f"The paper, V100: {experiment.theirs}."]
    return [where, *failed, *missing, *more, *theirs]


def table_shares(view: View) -> Tables:
    """A column for each series and type."""
    columns = [(series, kind) for series in view.series for kind in view.types]
    rows = []
    for m, n in view.sizes:
        rows.append([size_text(m, n), *(view.cell(view.at(series, kind, m, n)) for series, kind in columns)])
    names = [f"{series}, {TYPES[kind]}" for series, kind in columns]
    return [(["M = N", *names], rows)], below(
        view.record,
        "Of the roofline with the plain FP64 cores, which cuBLAS may pass with Tensor Cores."
        if not view.executor
        else "",
    )


SHOWN = (1, 2, 4, 7, 8, 13, 16, 17, 24, 31, 32, 33, 40, 47, 48, 57, 64)  # of all widths, on a page


def table_curves(view: View) -> Tables:
    """For each type a column for each series, and which was the best with which options."""
    legend = EXPERIMENTS[view.record["experiment"]].legend
    names = [f"{legend} {view.series[0]}" if legend else view.series[0], *view.series[1:]]
    sizes = [(m, n) for m, n in view.sizes if m in SHOWN] if len(view.sizes) > 2 * len(SHOWN) else view.sizes
    tables = []
    for kind in view.types:
        rows = []
        for m, n in sizes:
            found = [view.at(series, kind, m, n) for series in view.series]
            best = max((r for r in found if r and merit(r) > 0), key=merit, default=None)
            rows.append(
                [
                    size_text(m, n),
                    *map(view.cell, found),
                    best["series"] if best else "-",
                    options_text(best) if best else "-",
                    rounded(best.get("gflops")) if best else "-",
                ]
            )
        tables.append(([f"{TYPES[kind]}: M = N", *names, "best", "its kernel", "GFLOP/s"], rows))
    tried = sum(r.get("tried", 1) for r in view.results)
    notes = []
    if not view.executor:
        notes.append(f"Of each, the best of the kernels that were tried, {tried:,} in all, as a share of the roofline.")
    if sizes is not view.sizes:
        notes.append(f"{len(sizes)} of {len(view.sizes)} widths; the figure has all of them.")
    return tables, below(view.record, *notes)


def table_tiles(view: View) -> Tables:
    tables = []
    for kind in view.types:
        of_type = sorted((r for r in view.results if r["type"] == kind and merit(r) > 0), key=merit, reverse=True)
        rows = []
        for r in of_type[:12]:
            tm, tn = r["options"]["tile_m"], r["options"]["tile_n"]
            rows.append(
                [
                    f"{tm} x {tn}",
                    str(register_line(tm, tn, kind)),
                    str(r.get("registers", "-")),
                    str(r.get("local_bytes", "-")),
                    rounded(r.get("gflops")),
                    view.cell(r),
                ]
            )
        tables.append(
            (
                [f"{TYPES[kind]}: tile", "registers by the line", "as compiled", "spilled bytes", "GFLOP/s", "share"],
                rows,
            )
        )
    tiles = len(view.results)
    return tables, below(view.record, f"The best 12 of each type, of {tiles} tiles.")


def floor_us(record: Json, m: int, n: int, k: int) -> float:
    """Two empty launches, and A and B, of doubles, at the read bandwidth."""
    ceilings = record["ceilings"]
    return 2 * ceilings["launch_us"] + ELEMENT["d"] * (m + n) * k / ceilings["read_gbs"] / 1e3


def lengths_of(view: View, m: int, n: int) -> list[int]:
    return sorted({r["k"] for r in view.results if (r["m"], r["n"]) == (m, n)})


def relative(view: View, m: int, n: int, k: int, series: str) -> float | None:
    """Speed, as a share of that without a reduction; None if either was not timed."""
    times = [(view.at(s, "d", m, n, k) or {}).get("ms") for s in (NO_REDUCTION, series)]
    return 100 * times[0] / times[1] if all(times) else None


def reductions_of(view: View) -> list[str]:
    """The series that are reductions, and no other kernels."""
    return [s for s in view.series if s not in (NO_REDUCTION, OURS, LIBRARY)]


def table_reductions(view: View) -> Tables:
    tables, series = [], reductions_of(view)
    others = [s for s in ("ordered", OURS, LIBRARY) if s in view.series]  # of which times are told
    for m, n in view.sizes:
        rows = []
        for k in lengths_of(view, m, n):
            bare = view.at(NO_REDUCTION, "d", m, n, k) or {}
            if view.executor:
                rows.append(
                    [
                        f"{k:,}",
                        bare.get("status", "-"),
                        *(
                            f"{r['status']}, {r['atomics']:,}" if (r := view.at(s, "d", m, n, k)) else "-"
                            for s in series
                        ),
                    ]
                )
                continue
            timed = [(view.at(s, "d", m, n, k) or {}).get("ms") for s in others]
            rows.append(
                [
                    f"{k:,}",
                    rounded(bare["ms"] * 1e3) if "ms" in bare else "-",
                    *(percent(relative(view, m, n, k, s)) for s in series),
                    *(rounded(ms * 1e3) if ms else "-" for ms in timed),
                    rounded(floor_us(view.record, m, n, k)),
                ]
            )
        head = (
            ["no reduction", *(f"{s}: check, requests of atomic additions" for s in series)]
            if view.executor
            else ["no reduction, us", *series, *(f"{s}, us" for s in others), "2 launches + bytes, us"]
        )
        tables.append(([f"M x N = {m} x {n}: K", *head], rows))
    return tables, below(
        view.record,
        "The kernel without a reduction is incorrect on purpose: blocks add up their slices' sums and leave them; C "
        "is not written.",
    )


def table_map(view: View) -> Tables:
    if view.executor:
        rows = [
            [r["series"], TYPES[r["type"]], f"{r['m']} x {r['n']}", r["status"], view.cell(r)] for r in view.results
        ]
        return [(["product", "type", "M x N", "check", "share"], rows)], below(view.record)
    rows = []
    for series, kind in itertools.product(view.series, view.types):
        its = [r for r in view.results if (r["series"], r["type"]) == (series, kind) and "pct_roofline" in r]
        if not its:
            continue
        least = min(its, key=lambda r: r["pct_roofline"])
        rows.append(
            [
                f"{series}, {TYPES[kind]}",
                str(len(its)),
                percent(statistics.median(r["pct_roofline"] for r in its)),
                f"{percent(least['pct_roofline'])} at {least['m']} x {least['n']}",
                *(str(sum(r["pct_roofline"] >= limit for r in its)) for limit in (90, 80, 60)),
            ]
        )
    return [(["product", "sizes", "median", "least", "90 % and more", "80 % and more", "60 % and more"], rows)], below(
        view.record, "Of the roofline with the plain FP64 cores."
    )


TABLES = {
    "shares": table_shares,
    "curves": table_curves,
    "tiles": table_tiles,
    "reductions": table_reductions,
    "map": table_map,
}


def tables(record: Json) -> Tables:
    """([(head, rows)...], sentences)"""
    found, notes = TABLES[EXPERIMENTS[record["experiment"]].kind](View(record))
    return found, [note for note in notes if note]
