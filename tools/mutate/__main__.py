"""./lab mutate: one small mistake at a time in a stage's kernels, and whether `check` rejects it.

usage: ./lab mutate ID...|all [options]

ID               a stage, as ./lab list shows it: 07, tsm/03
all              every stage, or with --family sgemm, tsm or tensorcore those of one family
--seed S         which mutants are drawn (1)
--per-stage N    how many of each stage (25)
--jobs J         how many at a time (one for each processor)
--json FILE      the verdicts as one JSON object
--record         put the numbers into docs/measurements/cpu/mutants.json, too, of which ./lab pages makes a table
--list           only print what is drawn; some of it may not compile, and is replaced then

Each is compiled into the stage's own program for the executor. `check --quick` judges it, and `check` if that passes.
A stage that solves no GEMM, such as tensorcore/04, is not among `all`, and has no check: how its program ends, as
./lab probe runs it, is the verdict.
Equivalent is only what has the same machine code, or a proof in tests/stages/equivalent_mutants.json. Exit status: 0 if
at least 98 % of the others are rejected and at most 3 % of all are proven, 1 if not, 2 for bad usage.
"""

from __future__ import annotations

import json
import os
import pathlib
import signal
import sys

from tools.command_line import fail, parser_of, run
from tools.mutate.campaign import Campaign
from tools.mutate.mutants import drawn, stage_of
from tools.mutate.report import HEADING, MINIMUM, MOST_PROVEN, Count, count, record, row, survivors
from tools.mutate.running import end_running
from tools.repository import stages


def number(text: str | None, option: str, default: int, least: int = 1) -> int:
    if text is None:
        return default
    if not text.isdecimal() or int(text) < least:
        fail(f"{option} takes a whole number from {least} on, not '{text}'")
    return int(text)


def count_all(campaign: Campaign) -> Count:
    return count(verdict for verdicts in campaign.verdicts.values() for verdict in verdicts)


def write(file: pathlib.Path, campaign: Campaign) -> None:
    result = {
        "seed": campaign.seed,
        "per_stage": campaign.per_stage,
        "total": count_all(campaign).to_json(),
        "stages": [
            {"stage": stage, **count(verdicts).to_json(), "mutants": [each.to_json() for each in verdicts]}
            for stage, verdicts in campaign.verdicts.items()
        ],
    }
    file.write_text(json.dumps(result, indent=1) + "\n")


def main() -> int:
    parser = parser_of("./lab mutate", __doc__)
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--build")
    for option in ("--seed", "--per-stage", "--jobs", "--json"):
        parser.add_argument(option)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--only-options", action="store_true")
    arguments = parser.parse_args()
    seed = number(arguments.seed, "--seed", 1, least=0)
    per_stage = number(arguments.per_stage, "--per-stage", 25)
    jobs = number(arguments.jobs, "--jobs", os.cpu_count() or 1)
    if arguments.json and not os.access(pathlib.Path(arguments.json).parent, os.W_OK):
        fail(f"can't write {arguments.json}")
    if arguments.only_options:  # before anything is built
        return 0
    chosen = [stage_of(program) for program in dict.fromkeys(arguments.programs)]
    for stage in chosen:
        if stage not in stages():
            fail(f"no stage '{stage}'")
    if arguments.list:
        for stage in chosen:
            for _, mutant in zip(range(per_stage), drawn(stage, seed)):
                print(f"{stage}: {mutant.describe()}")
        return 0
    if not arguments.build:
        fail("which build?")
    campaign = Campaign(pathlib.Path(arguments.build), seed, per_stage, jobs)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))
    print(HEADING, flush=True)
    try:
        for stage, verdicts in campaign.run(chosen):
            print(row(stage, count(verdicts)) if verdicts else f"{stage:<34} no kernel of its own", flush=True)
            print(survivors(verdicts), end="", flush=True)
            # After each stage: all of them take an hour, and may be broken off.
            if arguments.json:
                write(pathlib.Path(arguments.json), campaign)
            if arguments.record:
                record(seed, {stage: count(verdicts)})
    except KeyboardInterrupt:
        end_running()
        return 130
    except BaseException:  # a stage is not sound: the others' processes would go on for minutes
        end_running()
        raise
    total = count_all(campaign)
    print(row(f"all, seed {seed}", total))
    print(f"proven: {total.percent_proven:.1f} % of all; {campaign.seconds:.0f} s, {jobs} at a time")
    return 0 if total.percent >= MINIMUM and total.percent_proven <= MOST_PROVEN else 1


if __name__ == "__main__":
    run(main)
