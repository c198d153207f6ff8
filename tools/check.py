"""./lab check: all that must hold of stages, property by property.

usage: ./lab check ID...|all [options]

ID              a stage, as ./lab list shows it: 07, tsm/03
all             every stage, or with --family sgemm, tsm or tensorcore those of one family
--quick         only the few problems that together take every path: seconds for all stages
--json FILE     the results as one JSON object
--junit FILE    the results as JUnit XML, for a server that shows tests
--timeout S     how long a launch may take until it counts as endless (60)

Each stage is a program of its own, and what it says is judged here: one that ends without a verdict has failed. Exit
status: 0 if all is right, 1 if not, 2 for bad usage.
"""

from __future__ import annotations

import concurrent.futures
import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

from tools.command_line import fail, parser_of, run, write_whole
from tools.junit import Case, suite, text
from tools.repository import Json

MOST_PROCESSES = 8  # a stage has a few hundred trials, and each process as many threads as there are cores


def cores() -> int:
    return os.cpu_count() or 1


def failed(stage: str, reason: str) -> Json:
    """A stage that has no verdict of its own."""
    failure = {"problem": "", "reason": reason, "explanation": []}
    return {
        "stage": stage,
        "status": "fail",
        "seconds": 0.0,
        "properties": [{"name": "runs", "problems": 1, "seconds": 0.0, "status": "fail", "failure": failure}],
    }


def ended_how(status: int) -> str:
    """Of a program that left no verdict."""
    if status < 0:
        return f"it was ended by {signal.Signals(-status).name}"
    return f"it ended by itself, with status {status}, before there was a verdict"


class Stage:
    """One stage's program."""

    def __init__(self, program: str) -> None:
        self.program = pathlib.Path(program)
        self.name = self.program.name.replace("_", "/", 1)

    def check(self, options: list[str], alone: bool) -> tuple[Json, str]:
        """Its results, and what is to be shown. Alone it has the terminal to itself."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "check.json")
            command = [self.program, "check", *options, "--json", file]
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=None if alone else subprocess.PIPE,
                text=True,
            )
            if done.returncode == 2:  # no device, no memory: says nothing of the stage
                sys.stderr.write(done.stderr or "")
                sys.exit(2)
            try:
                return json.loads(file.read_text()), done.stdout
            except (OSError, ValueError):
                reason = ended_how(done.returncode)
        said = (done.stderr or "").strip().splitlines()
        text = f"{self.name}: fail, {reason}\n" + "".join(f"      {line}\n" for line in said[-1:])
        return failed(self.name, said[-1] if said else reason), text


def junit(results: list[Json]) -> str:
    """A suite a stage, a case a property."""
    root = xml.Element("testsuites")
    for result in results:
        cases = []
        for case in result["properties"]:
            failure = None
            if case["status"] == "fail":
                its = case["failure"]
                failure = (its["reason"], "\n".join(filter(None, [its["problem"], its["reason"], *its["explanation"]])))
            cases.append(Case(case["name"], failure, case["seconds"]))
        root.append(suite(result["stage"], cases, result["seconds"]))
    return text(root)


def main() -> int:
    parser = parser_of("./lab check", __doc__)
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json")
    parser.add_argument("--junit")
    parser.add_argument("--timeout")
    parser.add_argument("--broken", action="append", default=[])
    parser.add_argument("--only-options", action="store_true")
    arguments = parser.parse_args()
    if arguments.timeout is not None and not arguments.timeout.isdecimal():
        fail(f"--timeout takes seconds, not '{arguments.timeout}'")
    for path in filter(None, (arguments.json, arguments.junit)):
        folder = pathlib.Path(path).parent
        if path != "-" and (pathlib.Path(path).is_dir() or not os.access(folder, os.W_OK)):
            fail(f"can't write {path}")
    if arguments.only_options:  # before anything is built
        return 0
    options = ["--quick"] if arguments.quick else []
    if arguments.timeout:
        options += ["--timeout", arguments.timeout]
    stages = [Stage(program) for program in arguments.programs]
    alone = len(stages) == 1 and not arguments.broken
    results = [failed(*reason.split("\t", 1)) for reason in arguments.broken]
    # Text for people, unless that is where the JSON or XML goes.
    out = io.StringIO() if "-" in (arguments.json, arguments.junit) else sys.stdout
    for result in results:
        print(f"{result['stage']}: fail, {result['properties'][0]['failure']['reason']}", file=out)
    if not alone:
        options.append("--brief")
    # Cores that would have no stage: a stage's program shares its trials out among processes.
    each = min(cores() // max(len(stages), 1), MOST_PROCESSES)
    if each > 1:
        options += ["--processes", str(each)]
    with concurrent.futures.ThreadPoolExecutor(1 if alone else cores()) as pool:
        running = [pool.submit(stage.check, options, alone) for stage in stages]
        for number, future in enumerate(running, 1):
            if not alone and sys.stderr.isatty():
                print(f"\r\033[Kchecking {stages[number - 1].name}, {number} of {len(stages)}", end="", file=sys.stderr)
            result, text = future.result()
            if not alone and sys.stderr.isatty():
                print("\r\033[K", end="", file=sys.stderr, flush=True)
            results.append(result)
            print(text, end="", file=out, flush=True)
    wrong = [result["stage"] for result in results if result["status"] != "pass"]
    if not alone:
        print(f"{len(results) - len(wrong)} of {len(results)} stages are right", file=out)
    if arguments.json:
        write_whole(arguments.json, json.dumps({"stages": results}, indent=1) + "\n")
    if arguments.junit:
        write_whole(arguments.junit, junit(results))
    return 1 if wrong else 0


if __name__ == "__main__":
    run(main)
