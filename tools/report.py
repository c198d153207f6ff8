"""A ladder on this machine beside the committed ones: one HTML file, and the same as JSON.

usage: ./lab report [--out FILE] [--json FILE] [SHAPES] [options of ./lab ladder]     (needs a GPU)
       ./lab report --from FILE [--out FILE] [--json FILE]                            (needs none)

SHAPES   N or MxNxK, as of ./lab ladder; those with committed numbers are shown beside them
--out    the page (default report.html)
--json   what it shows, and the ladder itself (default: as the page, with .json)
--from   times nothing: a ladder's JSON that was measured elsewhere (./lab ladder --json FILE), or the JSON of a report

Shown are each rung's speed, its share of cuBLAS and of the card's own ceilings, here and on the committed card, the
ratio of the two, and where the order of rungs differs. Cards differ, so compare the shares, not the speeds.
"""

import argparse
import json
import os
import pathlib
from typing import Any

from tools.command_line import Parser, fail, parser_of, run
from tools.repository import Json, read_json
from tools.site.page import bar, html_page
from tools.site.speeds import (
    LIBRARY,
    facts_of,
    is_yardstick,
    label_of,
    order,
    point,
    products,
    run_of,
    short_label_of,
)

TIE = 2.0  # percent: rungs that are nearer to each other than this are equally fast
BODY = """<main>
<p id="summary"></p>
<div class="controls"><label>problem <select id="problem"></select></label>
<label>shown <select id="unit"><option value="gflops">GFLOP/s</option><option value="cublas">% of cuBLAS</option>
<option value="roofline">% of the card's roofline</option></select></label></div>
<div class="plot tall"><svg id="pairs" tabindex="0" role="img" aria-describedby="reading"
aria-label="Each rung here and on the committed card; arrow keys go from rung to rung"></svg></div>
<output id="reading" class="reading"></output>
<h2 id="order">Where the order differs</h2>
<ul id="swaps"></ul>
<h2 id="all">All rungs</h2>
<div class="scroll"><table id="rungs"></table></div>
<h2 id="machines">The two machines</h2>
<div class="scroll"><table id="facts"></table></div>
</main>"""


class Unable(Exception):
    """Said in one line; exit status 2."""


Key = tuple[str, str, int, int, int, int]


def key_of(problem: Json, stage: str) -> Key:
    """What makes two problems the same; a brief record names its sizes alone."""
    of_tensor = stage == "cublas/fp16" or stage.startswith(tuple(f"tensorcore/{n}_" for n in ("01", "02", "03", "03b")))
    op, kind = problem.get("op", "gemm"), problem.get("type", "half" if of_tensor else "float")
    return op, kind, problem["m"], problem["n"], problem["k"], problem.get("batch", 1)


def committed() -> dict[Key, dict[str, tuple[Json, Json]]]:
    """By problem and stage, a result with a time and its run. Where two runs have it, the first one counts. All
    results of a problem are one card's."""
    found: dict[Key, dict[str, tuple[Json, Json]]] = {}
    for path in dict.fromkeys(path for product in products() for path in product.files if path.exists()):
        of_run = run_of(path)
        for result in of_run["results"]:
            if "time_ms" in result:
                by_stage = found.setdefault(key_of(result["problem"], result["stage"]), {})
                if all(run["device"] == of_run["device"] for _, run in by_stage.values()):
                    by_stage.setdefault(result["stage"], (result, of_run | {"file": path.name}))
    return found


def clocks_of(run_: Json) -> Json:
    """What NVML said while it ran; empty where nothing was asked."""
    states = [r["state"] for r in run_["results"] if r.get("state")]

    def all_of(key: str) -> list[Any]:
        return [state[key] for state in states if state.get(key)]

    slowest, fastest = all_of("sm_mhz_min"), all_of("sm_mhz_max")
    if not slowest or not fastest:
        return {}
    return {
        "sm_mhz": [min(slowest), max(fastest)],
        "memory_mhz": max(all_of("memory_mhz"), default=None),
        "watts": max(all_of("watts_max"), default=None),
        "throttle": ", ".join(dict.fromkeys(all_of("throttle"))),
    }


def machine(run_: Json) -> Json:
    keys = ("compute_capability", "sm_count", "compiler")
    facts = facts_of(run_) | {key: run_[key] for key in keys if key in run_}
    return facts | {"clocks": clocks_of(run_), "ceilings": run_["ceilings"]}


def values(result: Json) -> Json:
    return dict(zip(("gflops", "ms", "pct_cublas", "pct_roofline"), point(result)))


def swaps_of(rungs: list[Json]) -> list[Json]:
    """Pairs that are the other way round here, farther apart than TIE on both cards; the largest difference first."""
    both = [rung for rung in rungs if rung["here"] and rung["there"] and not rung["stage"].startswith(LIBRARY)]
    found = []
    for i, a in enumerate(both):
        for b in both[i + 1 :]:
            here, there = (100 * (a[at]["gflops"] / b[at]["gflops"] - 1) for at in ("here", "there"))
            faster, slower = (a, b) if here > 0 else (b, a)
            ahead, behind = (
                100 * (x[at]["gflops"] / y[at]["gflops"] - 1)
                for x, y, at in ((faster, slower, "here"), (slower, faster, "there"))
            )
            if here * there < 0 and min(ahead, behind) >= TIE:
                pair = {"faster": faster["stage"], "slower": slower["stage"]}
                found.append(pair | {"here_pct": ahead, "there_pct": behind})
    return sorted(found, key=lambda swap: -min(swap["here_pct"], swap["there_pct"]))


def rank(rungs: list[Json], at: str) -> None:
    """Places from 1, the fastest rung's, of those that both cards have."""
    both = [rung for rung in rungs if rung["here"] and rung["there"] and not rung["stage"].startswith(LIBRARY)]
    for place, rung in enumerate(sorted(both, key=lambda rung: -rung[at]["gflops"]), 1):
        rung[at]["place"] = place


def compared(ladder: Json) -> list[Json]:
    """By problem, the rungs here and there."""
    known = committed()
    problems: dict[Key, dict[str, Json]] = {}
    for result in ladder["results"]:
        problems.setdefault(key_of(result["problem"], result["stage"]), {})[result["stage"]] = result
    found = []
    for key, by_stage in problems.items():
        beside = known.get(key, {})
        rungs, there = [], None
        for stage in order(by_stage):
            result = by_stage[stage]
            other = beside.get(stage)
            there = there or (other and other[1])
            rungs.append(
                {
                    "stage": stage,
                    "label": label_of(stage),
                    "short": short_label_of(stage),
                    "status": result["status"],
                    "reason": result.get("reason", ""),
                    "here": values(result) if "time_ms" in result else None,
                    "there": values(other[0]) if other else None,
                }
            )
            pair = rungs[-1]
            pair["ratio"] = pair["here"]["gflops"] / pair["there"]["gflops"] if pair["here"] and pair["there"] else None
        for at in ("here", "there"):
            rank(rungs, at)
        op, kind, m, n, k, batch = key
        shape = str(m) if m == n == k else f"{m}x{n}x{k}"
        found.append(
            {
                "problem": {"op": op, "type": kind, "m": m, "n": n, "k": k, "batch": batch},
                "title": f"{op} {kind} {shape}" + (f", batch {batch}" if batch > 1 else ""),
                "committed": machine(there) | {"file": there["file"]} if there else None,
                "reference": next((stage for stage in by_stage if is_yardstick(stage)), None),
                "rungs": rungs,
                "swaps": swaps_of(rungs),
            }
        )
    return found


def report(ladder: Json) -> Json:
    problems = compared(ladder)
    return {"here": machine(ladder), "tie_pct": TIE, "problems": problems, "ladder": ladder}


def page(found: Json) -> str:
    title = f"{found['here']['device']} beside the committed ladder"
    data = {key: value for key, value in found.items() if key != "ladder"}
    links = (("order", "#order"), ("all rungs", "#all"), ("machines", "#machines"))
    return html_page(
        title, bar(title, *links) + BODY, data=data, scripts=("plot.js", "report.js"), styles=("plot.css", "report.css")
    )


def read_ladder(path: str) -> Json:
    """A ladder with times. Unable if the file has none."""
    try:
        found: Any = read_json(pathlib.Path(path))
    except (OSError, ValueError) as error:
        raise Unable(f"can't read {path}: {getattr(error, 'strerror', None) or str(error).splitlines()[0]}") from None
    found = found.get("ladder", found) if isinstance(found, dict) else {}
    try:
        timed = [r for r in found["results"] if "time_ms" in r and r["time_ms"]["median"] > 0 and r["gflops"] > 0]
        for result in found["results"]:
            key_of(result["problem"], result["stage"])
            order([result["stage"]])
            str(result["status"])
        for result in timed:
            values(result)
        has_times = bool(timed) and found["device"] and found["ceilings"]["read_gbs"] > 0
    except (KeyError, TypeError, AttributeError):
        raise Unable(f"{path} is no ladder's JSON: './lab ladder --json FILE' on a GPU writes one") from None
    if not has_times:
        raise Unable(f"{path} has no times: it must come from a ladder on a GPU")
    return found


def check_writable(path: pathlib.Path) -> None:
    folder = path.resolve().parent
    if path.is_dir() or not folder.is_dir() or not os.access(path if path.exists() else folder, os.W_OK):
        raise Unable(f"can't write {path}")


def write(path: pathlib.Path, text: str) -> None:
    """Whole or not at all."""
    part = path.with_name(path.name + ".part")
    try:
        part.write_text(text)
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise Unable(f"can't write {path}: {error.strerror}") from None


def parser() -> Parser:
    found = parser_of("./lab report", __doc__)
    found.add_argument("--out", default="report.html", metavar="FILE")
    found.add_argument("--json", metavar="FILE")
    found.add_argument("--from", dest="ladder", metavar="FILE")
    found.add_argument("--only-options", action="store_true", help=argparse.SUPPRESS)  # ./lab: are they right?
    return found


def main() -> None:
    options = parser().parse_args()
    out = pathlib.Path(options.out)
    try:
        check_writable(out)
        beside = pathlib.Path(options.json) if options.json else out.with_suffix(".json")
        check_writable(beside)
        if out.resolve() == beside.resolve():
            raise Unable(f"the page and its JSON can't be one file, {out}")
        ladder = read_ladder(options.ladder) if options.ladder else None
        if options.only_options:
            return
        if not ladder:
            raise Unable("no ladder: --from names its JSON")
        found = report(ladder)
        write(beside, json.dumps(found, indent=1) + "\n")
        write(out, page(found))
    except Unable as problem:
        fail(str(problem))
    print(f"wrote {out} and {beside}")


if __name__ == "__main__":
    run(main)
