"""The autotuner of the tall & skinny products: which of the generated kernels is best for which size.

usage: ./lab measure tune-tsm cases --gemm BIN [--exhaustive] --out CASES
           kernels to try, promising ones by the stages' models
       ./lab measure tune-tsm cases --gemm BIN --beside TABLE --new STAGE[,STAGE] --out CASES
           those of new stages, and what was best before
       ./lab measure tune-tsm cases --gemm BIN --lives TABLE --out CASES
           narrow TSMM: with blocks that live longer or shorter
       gemm batch CASES --compile-only --arch sm_90a
           ahead of time: needs no GPU
       gemm batch CASES --no-exact --out RESULTS
           checks and times them; again, if it was interrupted
       ./lab measure tune-tsm finals RESULTS... --out CASES
           those of M = N within 3 % of the best, for rows four times as many
       ./lab measure tune-tsm digest RESULTS... --table FILE --report FILE [--keep]
           the best of each size, and how good the models are; --keep: sizes without results stay as they are in the
           table
       ./lab measure tune-tsm digest RESULTS... --tried CASES --report FILE
           of an exhaustive search: what is lost by not trying all
       ./lab measure tune-tsm lives RESULTS... --out FILE
           of cases --lives: at M = N the fastest kernel with each number of turns

Tuned are all M = N from 1 to 64 and a coarse grid of M and N; other sizes take what their nearest neighbour has
(tsm/choice.hpp). --exhaustive: all kernels of a few sizes instead, also those that the models rule out, which shows
what is lost by not trying them (CASES: those that are tried otherwise). What differs by less than a launch takes is
decided by finals: of a size the results with the most rows count.
"""

import argparse
import json
import pathlib
import subprocess
import sys

from tools.command_line import fail, parser_of
from tools.experiments.tsm_cases import GRID, TRIED, TSMM_OPTIONS
from tools.experiments.tsm_run import provenance
from tools.repository import Json, generating_stages, write_digest
from tools.stats import rank_correlation, upper_median
from tools.tune.tables import kernels_of, lines_of, write_lines

Case = tuple[str, str, int, int]  # product, type, M, N

STAGES = generating_stages()
LARGE = {"d": 12, "z": 8}  # beyond, something is to be gained by Tensor Cores: below, memory is the limit without them
MANY = 1000  # more than a stage has of a size
WIDE = "17-64"  # M = N where kernels differ most: there three times as many of the stages with a pipeline
# Bytes of C, which each block of TSMM loads, up to which its blocks may live shortly; and the turns of a block that are
# tried. With the last one there are only as many blocks as fit at a time, and these have all rows.
NARROW, TURNS = 4608, (1, 2, 4, 1024)
# How many times as long as the fastest a kernel of the simplest stage may take and still be chosen: where K is short it
# begins sooner, because it fills no pipeline.
SIMPLEST_WITHIN = 1.02
# Stages and sizes of which every kernel is tried: narrow and wide, with and without a whole number of sectors in a row.
# Not all of 09's at 20 and 33: there are 12,000 each.
SAMPLES = [
    ("tsm/09_generated", "d", "5"),
    ("tsm/10_pipeline", "d", "5"),
    ("tsm/10_pipeline", "d", "20"),
    ("tsm/10_pipeline", "z", "33"),
    *(
        (stage, kind, size)
        for stage in STAGES["tsmm"]
        for kind, size in (("d", "7"), ("d", "33"), ("z", "16"), ("z", "24"))
    ),
]


def candidates(gemm: str, *arguments: object) -> list[str]:
    done = subprocess.run([gemm, "candidates", *map(str, arguments)], text=True, stdout=subprocess.PIPE)
    if done.returncode:
        sys.exit(done.returncode)  # it has said why
    return done.stdout.splitlines()


def sizes(most: int = 64) -> list[str]:
    off_diagonal = [f"{m}x{n}" for m in GRID for n in GRID if m != n]
    return [f"1-{most}", *off_diagonal]


def without_hopeless(lines: list[str], factor: float) -> list[str]:
    """Those that the models take for at most so many times as slow as the best of their size; of the stages with a
    pipeline two in any case, since a model may be wrong by more than that."""
    cases = [json.loads(line) for line in lines]

    def size(case: Json) -> tuple[str, int, int]:
        return case["type"], case["m"], case["n"]

    best, kept = {}, {}
    for case in cases:
        best[size(case)] = min(best.get(size(case), case["tag"]["cycles"]), case["tag"]["cycles"])
    found = []
    for line, case in zip(lines, cases):  # of a stage the best come first
        of_stage = (size(case), case["stage"])
        in_any_case = any(case["stage"] in stages[1:] for stages in STAGES.values()) and kept.get(of_stage, 0) < 2
        if in_any_case or case["tag"]["cycles"] <= factor * best[size(case)]:
            kept[of_stage] = kept.get(of_stage, 0) + 1
            found.append(line)
    return found


def of_each_option(options: argparse.Namespace, stages: list[str]) -> list[str]:
    """Of tsm/12, the best kernels with each value of each option, as E10 to E12 try them: without this the search loses
    more than 3 % (`./lab measure search-tsmm judge`), since nvcc makes more of a difference than the model knows."""
    stage = "tsm/12_tsmm_generated"
    if stage not in stages:
        return []
    return [
        line
        for option, values in TSMM_OPTIONS.items()
        for value in values
        for line in candidates(
            options.gemm,
            *(stage, *sizes(), "--most", TRIED, "--mib", options.mib, f"--{option.replace('_', '-')}", value),
        )
    ]


def of_each_shape(options: argparse.Namespace, stages: list[str]) -> list[str]:
    """TSMM's kernels with a pipeline differ little, and the model ranks them badly: so for M = N the best of each
    number of threads a block and a row, and of products, as far as they are hopeful."""
    stage = "tsm/13_tsmm_pipeline"
    if stage not in stages:
        return []
    its = candidates(options.gemm, stage, "1-64", "--most", MANY, "--mib", options.mib)
    best, shapes, found = {}, set(), []
    for line in its:  # the best of a size come first
        case = json.loads(line)
        size, cycles = (case["type"], case["m"]), case["tag"]["cycles"]
        shape = (
            *size,
            *(case["options"][key] for key in ("threads_per_row", "threads", "products") if key in case["options"]),
        )
        if shape not in shapes and cycles <= options.factor * best.setdefault(size, cycles):
            shapes.add(shape)
            found.append(line)
    return found


def of_each_life(options: argparse.Namespace, table: dict[Case, Json]) -> list[str]:
    """Of narrow TSMM a few kernels of each stage, and what the table has, with each number of turns of a block."""
    found = []
    for kind, element in (("d", 8), ("z", 16)):
        its = [(m, n) for op, its, m, n in table if (op, its) == ("tsmm", kind) and m * n * element <= NARROW]
        for turns in TURNS:
            for most, wanted in (
                (options.most, [size for size in its if size[0] == size[1]]),
                (1, [size for size in its if size[0] != size[1]]),
            ):
                if not wanted:
                    continue
                lines = candidates(
                    options.gemm,
                    *(",".join(STAGES["tsmm"]), *(f"{m}x{n}" for m, n in wanted), "--type", kind),
                    *("--most", most, "--mib", options.mib, "--turns", turns),
                )
                found += without_hopeless(lines, options.factor)
                rows = {(case["m"], case["n"]): case["k"] for case in map(json.loads, lines)}
                for m, n in wanted:
                    known = table["tsmm", kind, m, n]
                    case = {"stage": known["stage"], "type": kind, "m": m, "n": n, "k": rows[m, n]}
                    found.append(json.dumps(case | {"options": known["options"] | {"turns": turns}, "tag": {}}))
    return found


def table_of(path: str) -> dict[Case, Json]:
    try:
        with open(path) as file:
            return {(k["op"], k["type"], k["m"], k["n"]): k for k in kernels_of(json.load(file))}
    except (OSError, json.JSONDecodeError, KeyError) as error:
        fail(f"{path} is no table of tuned kernels: {error}")


def by_problem(lines: list[str]) -> list[str]:
    """Each once, those of a problem one after another."""
    return sorted(
        dict.fromkeys(lines), key=lambda line: tuple(json.loads(line)[key] for key in ("type", "m", "n", "k"))
    )


def beside_table(options: argparse.Namespace) -> list[str]:
    """The best kernels of new stages by their models, and what the table has for the size."""
    table = table_of(options.beside)
    lines = []
    for stage in options.new.split(","):
        op = next((op for op, stages in STAGES.items() if stage in stages), None)
        if not op:
            fail(f"no stage {stage} that is tuned")
        for kind in LARGE:
            wanted = [
                f"{m}x{n}"
                for known, its, m, n in sorted(table)
                if (known, its) == (op, kind) and max(m, n) > LARGE[kind]
            ]
            if not wanted:
                continue
            beaten = set()
            for line in without_hopeless(
                candidates(options.gemm, stage, *wanted, "--type", kind, "--most", options.most, "--mib", options.mib),
                options.factor,
            ):
                case = json.loads(line)
                size = (op, kind, case["m"], case["n"])
                if size not in beaten:
                    beaten.add(size)
                    before = table[size]
                    lines.append(
                        json.dumps({**case, "stage": before["stage"], "options": before["options"], "tag": {}})
                    )
                lines.append(line)
    return by_problem(lines)


def write_cases(options: argparse.Namespace) -> None:
    lines = []
    if bool(options.beside) != bool(options.new):
        fail("--beside and --new go together")
    if options.beside:
        lines = beside_table(options)
    elif options.lives:
        lines = by_problem(of_each_life(options, table_of(options.lives)))
    elif options.exhaustive:
        for stage, kind, size in SAMPLES:
            lines += candidates(options.gemm, stage, size, "--type", kind, "--exhaustive", "--mib", options.mib)
    else:
        for stages in STAGES.values():
            its = candidates(options.gemm, ",".join(stages), *sizes(), "--most", options.most, "--mib", options.mib)
            wide = candidates(options.gemm, stages[1], WIDE, "--most", 3 * options.most, "--mib", options.mib)
            lines += by_problem(
                without_hopeless(its, options.factor)
                + wide
                + of_each_option(options, stages)
                + of_each_shape(options, stages)
            )
    write(options.out, lines)


def write(out: str, lines: list[str]) -> None:
    try:
        with sys.stdout if out == "-" else open(out, "w") as file:
            file.write("\n".join(lines) + "\n")
    except OSError as error:
        fail(f"can't write {out}: {error.strerror}")


def read(paths: list[str], several: bool) -> tuple[Json, list[Json]]:
    """(what ran where, results). several: of several commits; of a case that was run twice, the later result."""
    run, results = None, {}
    for path in paths:
        try:
            lines = [json.loads(line) for line in pathlib.Path(path).read_text().splitlines()]
        except (OSError, json.JSONDecodeError) as error:
            fail(f"{path}: {error}")
        if not lines or "run" not in lines[0]:
            fail(f"{path} is not what `gemm batch` writes")
        if run and any(run[key] != lines[0]["run"][key] for key in (("device",) if several else ("device", "commit"))):
            fail(f"{path} is of another device or commit than {paths[0]}")
        run = lines[0]["run"]
        results |= {json.dumps(result["case"]): result | {"commit": run["commit"]} for result in lines[1:]}
    return run, list(results.values())


def operation(stage: str) -> str:
    return next(op for op, stages in STAGES.items() if stage in stages)


def timed_by_size(results: list[Json]) -> dict[Case, list[Json]]:
    """{(op, type, m, n): its results that are right and timed}"""
    by_size = {}
    for result in results:
        case = result["case"]
        if result["status"] in ("pass", "unchecked") and "time_ms" in result:
            by_size.setdefault((operation(case["stage"]), case["type"], case["m"], case["n"]), []).append(result)
    return by_size


def ms(result: Json) -> float:
    return result["time_ms"]["median"]


def write_finals(options: argparse.Namespace) -> None:
    _, results = read(options.results, True)
    lines = []
    for (_, _, m, n), found in sorted(timed_by_size(results).items()):
        if m != n:
            continue
        shortest = min(r["case"]["k"] for r in found)
        its = sorted((r for r in found if r["case"]["k"] == shortest), key=ms)
        near = [r for r in its if ms(r) <= (1 + options.within) * ms(its[0])]
        lines += [json.dumps(r["case"] | {"k": shortest * options.times}) for r in near[: options.most]]
    write(options.out, lines)


def digest(run: Json, results: list[Json], most: int) -> tuple[dict[Case, Json], Json]:
    """({size: its best}, the report)"""
    wrong = []
    for result in results:
        case = result["case"]
        if result["status"] == "fail":
            wrong.append({"case": case, "reason": result.get("reason", "")})
    best = {}
    report = {
        "device": run["device"],
        "commit": run["commit"],
        "driver": run["driver"],
        "cuda": run["cuda"],
        "most": most,
        "ceilings": run.get("ceilings"),
        "wrong": wrong,
        "sizes": [],
    }
    for size, everything in sorted(timed_by_size(results).items()):
        rows = [r["case"]["k"] for r in everything]
        longest = [r for r in everything if r["case"]["k"] == max(rows)]
        first = min(longest, key=ms)
        simple = min((r for r in longest if r["case"]["stage"] == STAGES[size[0]][0]), key=ms, default=first)
        if ms(simple) <= SIMPLEST_WITHIN * ms(first):
            first = simple
        found = [r for r in everything if r["case"]["k"] == min(rows)]
        best[size] = first
        entry = {
            "op": size[0],
            "type": size[1],
            "m": size[2],
            "n": size[3],
            "k": first["case"]["k"],
            "tried": len(found),
            "best": {
                "stage": first["case"]["stage"],
                "commit": first.get("commit"),
                "options": first["kernel_options"],
                "ms": ms(first),
                "gbytes_s": first["gbytes_s"],
                "pct_roofline": first.get("pct_roofline"),
            },
            "stages": {
                stage: {"ms": ms(fastest), "pct_roofline": fastest.get("pct_roofline")}
                for stage in STAGES[size[0]]
                if (fastest := min((r for r in found if r["case"]["stage"] == stage), key=ms, default=None))
            },
            "models": [],
        }
        for stage in STAGES[size[0]]:
            its = [r for r in found if r["case"]["stage"] == stage and "cycles" in r["case"]["tag"]]
            if not its:
                continue
            by_model = sorted(its, key=lambda r: r["case"]["tag"]["cycles"])
            least = min(map(ms, its))
            entry["models"].append(
                {
                    "stage": stage,
                    "kernels": len(its),
                    "ms": least,
                    # What the first that the model names, and the best of the first so many, lose against the best of
                    # all.
                    "first_loses": ms(by_model[0]) / least - 1,
                    "pruned_loses": min(map(ms, by_model[:most])) / least - 1,
                    "rank_correlation": rank_correlation(
                        [r["case"]["tag"]["cycles"] for r in its], [ms(r) for r in its]
                    ),
                }
            )
        report["sizes"].append(entry)
    return best, report


def add_tried(report: Json, results: list[Json], path: pathlib.Path) -> None:
    """To each size of an exhaustive search: the best of the kernels that tuning tries there, and how much longer that
    takes than the best of all. Both as measured in this search, since GPUs differ by more than kernels do."""

    def which(case: Json) -> str:
        return json.dumps([case[key] for key in ("stage", "type", "m", "n", "k", "options")], sort_keys=True)

    try:
        with open(path) as file:
            tried = {which(json.loads(line)) for line in file}
    except (OSError, json.JSONDecodeError, KeyError) as error:
        fail(f"{path} has no cases: {error}")
    for entry in report["sizes"]:
        its = [
            r
            for r in results
            if which(r["case"]) in tried
            and "time_ms" in r
            and operation(r["case"]["stage"]) == entry["op"]
            and all(r["case"][key] == entry[key] for key in ("type", "m", "n", "k"))
        ]
        if not its:
            fail(f"{path} has none of the kernels for {entry['m']} x {entry['n']}")
        best = min(its, key=ms)
        entry["tuning"] = {
            "tries": len(its),
            "stage": best["case"]["stage"],
            "options": best["kernel_options"],
            "ms": ms(best),
            "loses": ms(best) / entry["best"]["ms"] - 1,
        }


def write_lives(paths: list[str], out: pathlib.Path) -> None:
    run, results = read(paths, True)
    found: dict[tuple[str, int, int], Json] = {}
    for (op, kind, m, n), its in sorted(timed_by_size(results).items()):
        for result in its:
            if op == "tsmm" and m == n and (turns := result["kernel_options"].get("turns")):
                known = found.setdefault((kind, m, turns), result)
                found[kind, m, turns] = min(known, result, key=ms)
    rows = [
        {
            **{"type": kind, "m": m, "k": r["case"]["k"], "turns": turns, "stage": r["case"]["stage"].split("_")[0]},
            "gbs": round(r["gbytes_s"]),
        }
        for (kind, m, turns), r in sorted(found.items())
    ]
    command = "measure tune-tsm lives RESULTS --out " + out.name
    write_digest(out, provenance(run) | {"command": command, "results": rows})


def print_summary(report: Json) -> None:
    for stage in [stage for stages in STAGES.values() for stage in stages]:
        its = [model for entry in report["sizes"] for model in entry["models"] if model["stage"] == stage]
        if not its:
            continue
        correlations = [model["rank_correlation"] for model in its if model["rank_correlation"] is not None]
        print(
            f"{stage}: {len(its)} sizes; the model's first loses "
            f"{100 * upper_median([m['first_loses'] for m in its]):.1f} % (median), "
            f"{100 * max(m['first_loses'] for m in its):.0f} % at most; the best of {report['most']} loses "
            f"{100 * max(m['pruned_loses'] for m in its):.1f} % at most; rank correlation "
            + (f"{upper_median(correlations):.2f} (median)" if correlations else "-")
        )
    for entry in report["sizes"]:
        if "tuning" in entry:
            print(
                f"{entry['op']} {entry['type']} {entry['m']} x {entry['n']}: the best of {entry['tried']} kernels "
                f"takes {entry['best']['ms']:.4f} ms, "
                f"that of {entry['tuning']['tries']} which tuning tries {entry['tuning']['ms']:.4f} ms: "
                f"{100 * entry['tuning']['loses']:.1f} % lost"
            )
    print(f"{len(report['sizes'])} sizes, {len(report['wrong'])} kernels wrong")


def main(arguments: list[str] | None = None) -> int:
    parser = parser_of("./lab measure tune-tsm", __doc__)
    commands = parser.add_subparsers(dest="command", required=True, prog="./lab measure tune-tsm")
    cases = commands.add_parser("cases")
    cases.add_argument("--gemm", required=True)
    cases.add_argument("--out", default="-", help="a file (default: standard output)")
    cases.add_argument("--exhaustive", action="store_true")
    cases.add_argument("--beside", metavar="TABLE")
    cases.add_argument("--lives", metavar="TABLE")
    cases.add_argument("--new", metavar="STAGES", help="by their whole ids")
    cases.add_argument("--most", type=int, default=4, help="kernels of a stage for each size")
    cases.add_argument(
        "--factor",
        type=float,
        default=1.1,
        help="not what is so many times as slow as the best, by the models (default: %(default)s)",
    )
    cases.add_argument("--mib", type=float, default=256, help="MiB of A")
    finals = commands.add_parser("finals")
    finals.add_argument("results", nargs="+")
    finals.add_argument("--out", default="-")
    finals.add_argument("--most", type=int, default=6, help="kernels of a size")
    finals.add_argument("--within", type=float, default=0.03, help="of the best time (default: %(default)s)")
    finals.add_argument("--times", type=int, default=4, help="as many rows (default: %(default)s)")
    lives = commands.add_parser("lives")
    lives.add_argument("results", nargs="+")
    lives.add_argument("--out", type=pathlib.Path, required=True)
    digests = commands.add_parser("digest")
    digests.add_argument("results", nargs="+")
    digests.add_argument("--most", type=int, default=4)
    digests.add_argument("--table", help="where the best of each size go; not for an exhaustive search")
    digests.add_argument("--keep", action="store_true", help="of the table, what there are no results for")
    digests.add_argument(
        "--several",
        action="store_true",
        help="results are of several commits; of a case that was run twice, the later one counts",
    )
    digests.add_argument("--tried", metavar="CASES", help="for an exhaustive search: the cases of tuning")
    digests.add_argument("--report", required=True)
    options = parser.parse_args(arguments)
    if options.command == "cases":
        write_cases(options)
        return 0
    if options.command == "finals":
        write_finals(options)
        return 0
    if options.command == "lives":
        write_lives(options.results, options.out)
        return 0
    run, results = read(options.results, options.several)
    best, report = digest(run, results, options.most)
    if options.tried:
        add_tried(report, results, options.tried)
    entries = report.pop("sizes")
    write_lines(options.report, report, "sizes", entries)
    report["sizes"] = entries
    print_summary(report)
    if options.table:
        kernels = {
            size: dict(zip(("op", "type", "m", "n"), size), stage=r["case"]["stage"], options=r["kernel_options"])
            for size, r in best.items()
        }
        head = {"device": run["device"], "commit": run["commit"]}
        if options.keep:
            with open(options.table) as file:
                before = json.load(file)
            if before["device"] != run["device"]:
                fail(f"{options.table} is of another device")
            head = before | head
            kernels = {(k["op"], k["type"], k["m"], k["n"]): k for k in kernels_of(before)} | kernels
            del head["kernels"]
        write_lines(options.table, head, "kernels", lines_of([kernels[size] for size in sorted(kernels)]))
    return 1 if report["wrong"] else 0
