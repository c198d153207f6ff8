"""The marked numbers of the tall & skinny pages: as those of tools/pages/values.py."""

import statistics
from collections.abc import Callable

from tools.experiments.tsm_cases import TYPES, register_line
from tools.pages.blocks import strides
from tools.pages.blocks.probes import probe_cell
from tools.pages.data import Data, NotMeasured
from tools.pages.records import probes
from tools.pages.records.bounds import predicted
from tools.pages.records.tsm import (
    BETWEEN,
    SHORT,
    earlier_experiment,
    experiment,
    form,
    lengths,
    memory,
    registers,
    result,
    short_range,
    short_ratios,
    two_warps_shares,
)
from tools.pages.reference import LADDERS
from tools.repository import GPU, SINCE, TUNED, Json, read_json, read_json_if_there
from tools.tables import number, percent, tflops
from tools.tune.tables import kernels_of


def measured(data: Data, stage: str, kind: str, m: str, what: str, k: str = "") -> str:
    """Of a stage at M = N and a long K, or this one."""
    r = result(data, stage, kind, int(m), int(k or 0) or None)
    return {
        "gbs": lambda: number(r["gbytes_s"]),
        "tflops": lambda: tflops(r["gflops"]),
        "roofline": lambda: percent(r["pct_roofline"]),
        "bandwidth": lambda: percent(100 * r["gbytes_s"] / r["read_gbs"]),
        "us": lambda: number(1e3 * r["time_ms"]["median"]),
        "ms": lambda: number(r["time_ms"]["median"]),
        "registers": lambda: str(registers(r)),
    }[what]()


def ratio(data: Data, first: str, second: str, kind: str, m: str, k: str = "") -> str:
    """How many times as fast the second stage is as the first."""
    of = (result(data, stage, kind, int(m), int(k or 0) or None) for stage in (first, second))
    before, after = (r["time_ms"]["median"] for r in of)
    return f"{before / after:.2f}"


def turn(data: Data, stage: str, kind: str, m: str, in_flight: str) -> str:
    """Nanoseconds in which so many bytes of A and B pass through each SM: from one request of the same thread to its
    next, if these are the bytes that are in flight."""
    r = result(data, stage, kind, int(m))
    return f"{float(in_flight) * memory().sms / r['gbytes_s']:,.0f}"


def under_load(data: Data, in_flight: str, what: str) -> str:
    """What the probe of bandwidth has with so many bytes in flight of an SM; `full`: near the ceiling."""
    found = memory()
    if in_flight == "full":
        return {"ns": lambda: f"{found.full_ns():.0f}", "kb": lambda: f"{found.needed() / 1e3:.1f}"}[what]()
    ns = found.ns(float(in_flight))
    return {
        "ns": lambda: f"{ns:.0f}",
        "gbs": lambda: number(found.gbs(float(in_flight))),
        "cycles": lambda: f"{ns * found.ghz:.0f}",
    }[what]()


def with_work(data: Data, in_flight: str, cycles: str, share: str = "1") -> str:
    """GB/s with so many bytes in flight of an SM that computes for so many cycles before it asks for the next, or for
    longer if it has only this share of its rate."""
    found = memory()
    busy = float(cycles) / float(share) / found.ghz
    return number(float(in_flight) * found.sms / (found.ns(float(in_flight)) + busy))


def wait(data: Data, stage: str, kind: str, m: str, k: str, rows: str) -> str:
    """Nanoseconds for so many rows of K, one group of them after the other."""
    r = result(data, stage, kind, int(m), int(k))
    return f"{1e6 * r['time_ms']['median'] / int(k) * int(rows):.0f}"


def of_series(name: str, kind: str, series: str) -> dict[int, Json]:
    """The results of an experiment's series by M = N."""
    found = [r for r in experiment(name) if (r["type"], r["series"]) == (kind, series)]
    return {r["m"]: r for r in found if r["m"] == r["n"]}


def share(data: Data, name: str, kind: str, m: str, *series: str) -> str:
    """Of an experiment, a series' share of the roofline at M = N, or its `least`."""
    found = of_series(name, kind, " ".join(series))
    if not found:
        raise KeyError(" ".join(series))
    if m == "least":
        return percent(min(r["pct_roofline"] for r in found.values()))
    if int(m) not in found:
        raise NotMeasured("")
    return percent(found[int(m)]["pct_roofline"])


def earlier(data: Data, name: str, kind: str, widths: str, *names: str) -> str:
    """Of an experiment's run on the pages' GPU, also if it has run on another one since: shares of the roofline at
    M = N, of one series at several widths or of several at one (lists with commas between): "82, 54 and 36 %"."""
    found = {(r["series"], r["m"]): r["pct_roofline"] for r in earlier_experiment(name) if r["type"] == kind}
    *first, last = [f"{found[series, int(m)]:.0f}" for m in widths.split(",") for series in " ".join(names).split(",")]
    return f"{', '.join(first)} and {last} %" if first else f"{last} %"


def earlier_best(data: Data, name: str, kind: str) -> str:
    """Of the same run of E4 the fastest tile and its speed: "8 x 8, with 11.7 TFLOP/s"."""
    best = max((r for r in earlier_experiment(name) if r["type"] == kind), key=lambda r: r["gflops"])
    return f"{best['options']['tile_m']} x {best['options']['tile_n']}, with {tflops(best['gflops'])} TFLOP/s"


def behind(name: str, kind: str, of: str) -> list[float]:
    """By how many points of the roofline a series of an experiment is behind the next slower one, by widths."""
    widths: dict[int, dict[str, float]] = {}
    for r in experiment(name):
        if r["type"] == kind and r["m"] == r["n"]:
            widths.setdefault(r["m"], {})[r["series"]] = r["pct_roofline"]
    complete = [shares for shares in widths.values() if of in shares and len(shares) > 1]
    if not complete:
        raise KeyError(of)
    return [min(v for s, v in shares.items() if s != of) - shares[of] for shares in complete]


def slowest(data: Data, name: str, kind: str, margin: str, *series: str) -> str:
    """At how many widths of an experiment a series is the slowest, by at least so many points of the roofline."""
    points = behind(name, kind, " ".join(series))
    return f"{sum(p >= float(margin) for p in points)} of {len(points)}"


def slowest_by(data: Data, name: str, kind: str, *series: str) -> str:
    """The most of these points."""
    return f"{max(behind(name, kind, ' '.join(series))):.0f}"


def tile(data: Data, name: str, kind: str, tm: str, tn: str, what: str) -> str:
    """Of an experiment's kernel with this tile (E4)."""
    for r in experiment(name):
        if (r["type"], r["options"]["tile_m"], r["options"]["tile_n"]) == (kind, int(tm), int(tn)):
            return {"tflops": tflops(r["gflops"]), "spilled": str(r["local_bytes"])}[what]
    raise NotMeasured("")


def tiles_tried(data: Data, name: str) -> str:
    """How many of E4's tiles a record has: all up to 32 x 32 whose registers by the line are not twice as many as there
    are."""
    sides = range(1, 33)
    allowed = {(kind, tm, tn) for kind in TYPES for tm in sides for tn in sides if register_line(tm, tn, kind) <= 512}
    found = {(r["type"], r["options"]["tile_m"], r["options"]["tile_n"]) for r in experiment(name)}
    return f"{len(found & allowed)} of {len(allowed)}"


def model_loses(data: Data, stage: str) -> str:
    """Where all kernels were tried: what the best of those that a stage's model keeps loses, over the sizes."""
    report = read_json_if_there(GPU / "tsm_exhaustive.json")
    loses = [
        100 * model["pruned_loses"]
        for size in (report or {"sizes": []})["sizes"]
        for model in size["models"]
        if model["stage"] == data.stage(stage)
    ]
    if not loses:
        raise NotMeasured("")
    least, most = f"{min(loses):.1f}", f"{max(loses):.1f}"
    return f"{most} %" if least == most else f"{least} to {most} %"


def model_keeps(data: Data, what: str, *choice: str) -> str:
    """The verdict on tsm/12's model by its search (tools/tune/tsmm.py): at how many sizes the best of this choice of
    kernels is within 3 % of the best (within), and where it loses most (most, at); or how many sizes, or kernels."""
    found = read_json_if_there(SINCE / "tsmm_model.json")
    if not found:
        raise NotMeasured("")
    if not choice:
        return number(found[what])
    its = found["best of the first"][" ".join(choice)]
    worst = its["worst"]
    return {
        "within": lambda: str(its["within"]),
        "most": lambda: percent(100 * worst["loses"]),
        "at": lambda: f"{worst['m']} in {TYPES[worst['type']]}",
    }[what]()


def tuned_alone(data: Data, kind: str) -> str:
    """The widths M = N at which the tuned table has tsm/12 with a thread for each row."""
    widths = sorted(
        k["m"]
        for k in kernels_of(read_json(TUNED))
        if (k["op"], k["type"], k["stage"]) == ("tsmm", kind, data.stage("tsm/12"))
        and k["m"] == k["n"]
        and k["options"]["threads_per_row"] == 1
    )
    *first, last = map(str, widths)
    return f"{', '.join(first)} and {last}" if first else last


def fma_latency_most(data: Data, what: str = "") -> str:
    """Of the probe `incorrect`, with one warp for each scheduler, all rows from the L1 and two sums: a row's cycles
    (row), or those of each FMA on one of the sums."""
    run = probes.record("incorrect")
    if not run or not run["timed"]:
        raise NotMeasured("")
    r = next(
        r
        for r in run["results"]
        if (r["kernel"], r["type"], r["tile_m"], r["tile_n"], r["blocks"])
        == ("fake_l1", "double", 8, 8, run["sm_count"])
    )
    fmas = r["tile_m"] * r["tile_n"]
    cycles = 2 * fmas * run["ceilings"]["dfma_gflops"] / r["gflops"]  # two of a scheduler for each
    return f"{cycles:.0f}" if what == "row" else f"{cycles / (fmas / 2):.1f}"


def bandwidth_needs(data: Data, percent: str) -> str:
    """kB that an SM has in flight where the probe of bandwidth first has this share of the most that it measured."""
    run = probes.newest_record("bandwidth") or {"results": []}
    of_all = [r for r in probes.of_work(run) if r["warps_per_sm"] and "gbs" in r]
    if not of_all:
        raise NotMeasured("")
    least = max(r["gbs"] for r in of_all) * float(percent) / 100
    return f"{min(r['bytes_in_flight_per_sm'] for r in of_all if r['gbs'] >= least) / 1e3:.1f}"


def port_miss(data: Data, name: str, what: str) -> str:
    """Of the loops of a probe that ports limit: how many (loops), and by how many points of the FP64 peak their
    hypothesis misses the best of each (rms, most)."""
    if not (run := probes.newest_record(name)) or not (misses := probes.port_misses(run)):
        raise NotMeasured("")
    return {
        "loops": lambda: str(len(misses)),
        "rms": lambda: f"{statistics.mean(miss * miss for miss in misses) ** 0.5:.1f}",
        "most": lambda: f"{max(map(abs, misses)):.1f}",
    }[what]()


def bound_of(data: Data, ladder: str, stage: str) -> Json:
    if not data.bounds:
        raise NotMeasured("")
    found = data.bounds["ladders"][ladder]
    each = next((s for s in found["stages"] if s["stage"] == data.stage(stage)), None)
    if not each or "parts_ms" not in each:
        raise NotMeasured("")
    return each


def bound(data: Data, ladder: str, stage: str, which: str) -> str:
    """TFLOP/s that the counts predict for the reference problem: at most (all parts overlap: fastest), and at least."""
    times = predicted(bound_of(data, ladder, stage))
    m, n, k = map(int, LADDERS[ladder].shape.split("x"))
    return tflops(2e-6 * m * n * k / {"fastest": times.least_ms, "slowest": times.most_ms}[which])


def bound_ms(data: Data, ladder: str, stage: str, *part: str) -> str:
    """Milliseconds that a part of the GPU has work for, by the counts."""
    return f"{bound_of(data, ladder, stage)['parts_ms'][' '.join(part)]:.1f}"


def latencies(data: Data, in_flight: str, count: str) -> str:
    """Nanoseconds of so many latencies, one after the other."""
    return f"{memory().ns(float(in_flight)) * int(count):,.0f}"


def waits(data: Data, count: str, in_flight: str) -> str:
    """The same in microseconds."""
    return number(memory().ns(float(in_flight)) * int(count) / 1e3, whole_from=100)


def twice(data: Data, in_flight: str) -> str:
    """GB/s of TSMM with so many bytes of A in flight of an SM, if as much of B is written meanwhile."""
    return number(2 * memory().gbs(float(in_flight)))


def written(data: Data, in_flight: str) -> str:
    """GB/s that the probe reads and writes with so many bytes of loads in flight."""
    return number(memory("scale").gbs(float(in_flight)))


def written_share(data: Data, in_flight: str) -> str:
    """The same as a share of its ceiling."""
    found = memory("scale")
    return f"{100 * found.gbs(float(in_flight)) / found.ceiling:.0f} %"


def two_warps(data: Data, which: str) -> str:
    """Of the paper's example on this GPU, the share of the FP64 peak: with waiting and multiplying by turns or not."""
    return f"{100 * two_warps_shares({'turns': False, 'overlap': True}[which])[-1]:.0f} %"


def chain(data: Data, mib: str) -> str:
    """Nanoseconds of a step of the probe of latency's chain with this length."""
    run = probes.record("latency")
    if not run or not run["timed"]:
        raise NotMeasured("")
    r = next(r for r in run["results"] if r["part"] == "chain" and r["bytes"] == int(mib) << 20)
    return number(r["ns"])


def shares_of(name: str, kind: str, series: str) -> dict[int, float]:
    """A series' shares of the roofline by M = N."""
    found = {m: r["pct_roofline"] for m, r in of_series(name, kind, series).items()}
    if not found:
        raise NotMeasured("")
    return found


def lead(data: Data, name: str, kind: str, first: str, last: str, rest: str, one: str, other: str) -> str:
    """By how many points of the roofline one series leads another, on average over widths with M mod 4 in `rest`
    (13: 1 and 3)."""
    ours, theirs = shares_of(name, kind, one), shares_of(name, kind, other)
    widths = [m for m in range(int(first), int(last) + 1) if m in ours and m in theirs and str(m % 4) in rest]
    return f"{statistics.mean(ours[m] - theirs[m] for m in widths):.1f}"


def wins(data: Data, name: str, kind: str, first: str, last: str) -> str:
    """How often each series is the fastest, by widths: "1: 4, 2: 20"."""
    series = list(dict.fromkeys(r["series"] for r in experiment(name)))
    shares = {s: shares_of(name, kind, s) for s in series}
    best = [
        max((s for s in series if m in shares[s]), key=lambda s: shares[s][m]) for m in range(int(first), int(last) + 1)
    ]
    return ", ".join(f"{s}: {best.count(s)}" for s in series if s in best)


def steps(data: Data, name: str, kind: str, first: str, series: str) -> str:
    """By how many per cent a series' share changes from a width to the next, on average."""
    shares = shares_of(name, kind, series)
    pairs = [(shares[m], shares[m + 1]) for m in range(int(first), 64) if m in shares and m + 1 in shares]
    return f"{statistics.mean(100 * abs(b - a) / a for a, b in pairs):.0f} %"


def reduction(data: Data, m: str, k: str, series: str) -> str:
    """Of E8, the speed as a share of that without a reduction."""
    times = {r["series"]: r["ms"] for r in experiment("E8") if (r["m"], r["n"], r["k"]) == (int(m), int(m), int(k))}
    return f"{100 * times['none'] / times[series]:.0f} %"


def length_gbs(data: Data, m: str, k: str, *series: str) -> str:
    """Of E8, GB/s of A and B by one of its series."""
    name = " ".join(series)
    found = next(r for r in experiment("E8") if (r["m"], r["n"], r["k"], r["series"]) == (int(m), int(m), int(k), name))
    return f"{8 * 2 * int(m) * int(k) / found['ms'] / 1e6:,.0f}"


def short_most(data: Data, kind: str, m: str) -> str:
    """The most of the block tsm_short at M = N."""
    return f"{max(short_ratios()[kind, int(m)]):.2f}"


def short_least(data: Data, kind: str, m: str) -> str:
    """The least of it."""
    return f"{min(short_ratios()[kind, int(m)]):.2f}"


def short_lost(data: Data, beside: str) -> str:
    """In percent, how much longer what 14 takes is under way than 09, or than the faster one of both, at most."""
    if not (run := read_json_if_there(SHORT)):
        raise NotMeasured("")
    lost = []
    for (kind, m), ratios in short_ratios().items():
        first, end = short_range(kind, int(m))
        for mb, ratio in zip(run["mb"], ratios, strict=True):
            taken = 1 if first <= mb <= end else ratio
            lost.append(taken / (1 if beside == "09" else min(1, ratio)) - 1)
    return f"{100 * max(lost):.1f} %"


def short_between(data: Data, what: str) -> str:
    """Of the lengths between those of tune-short: how many there were; at how many 14 took another kernel than 09;
    and in percent how much longer than 09 that took, at most, or what differed where both were 09."""
    if not (run := read_json_if_there(BETWEEN)):
        raise NotMeasured("")
    of_09, of_14 = ([r for r in run["results"] if r["stage"] == stage] for stage in ("tsm/09", "tsm/14"))
    others = [r["taken"] != "tsm/09" for r in of_14]
    if what in ("points", "others"):
        return str(len(others) if what == "points" else sum(others))
    ratios = [its["us"] / own["us"] for its, own in zip(of_14, of_09, strict=True)]
    return f"{100 * (max(r for r, other in zip(ratios, others, strict=True) if other == (what == 'lost')) - 1):.1f} %"


def strides_share(data: Data, rows: str, op: str, kind: str, quantile: str, which: str = "") -> str:
    """Of the block strides: the share of the roof."""
    found = strides.record(SINCE if which == "before" else GPU)["summary"]
    row = next(r for r in found if (r["rows"], r["op"], r["type"]) == (rows, op, kind))
    return f"{100 * row['share'][quantile]:.0f} %"


def length_ratio(data: Data, m: str, k: str) -> str:
    """How long 14 takes, as a multiple of 09, timed by turns at one of E8's lengths."""
    if not (found := lengths()):
        raise NotMeasured("")
    both = found[int(m), int(k)]
    return f"{both['tsm/14']['time_ms']['median'] / both['tsm/09']['time_ms']['median']:.2f}"


TSM_VALUES: dict[str, Callable[..., str]] = {
    "tsm": measured,
    "tsm_ratio": ratio,
    "turn": turn,
    "under_load": under_load,
    "with_work": with_work,
    "wait": wait,
    "latencies": latencies,
    "waits": waits,
    "twice": twice,
    "written": written,
    "written_share": written_share,
    "two_warps": two_warps,
    "chain": chain,
    "share": share,
    "earlier": earlier,
    "earlier_best": earlier_best,
    "slowest": slowest,
    "lead": lead,
    "wins": wins,
    "steps": steps,
    "reduction": reduction,
    "length_gbs": length_gbs,
    "strides": strides_share,
    "short_least": short_least,
    "short_between": short_between,
    "short_lost": short_lost,
    "short_most": short_most,
    "length_ratio": length_ratio,
    "form": form,
    "tile": tile,
    "fma_latency_most": fma_latency_most,
    "probe": probe_cell,
    "bandwidth_needs": bandwidth_needs,
    "port_miss": port_miss,
    "bound": bound,
    "bound_ms": bound_ms,
    "slowest_by": slowest_by,
    "tiles_tried": tiles_tried,
    "model_loses": model_loses,
    "model_keeps": model_keeps,
    "tuned_alone": tuned_alone,
}
