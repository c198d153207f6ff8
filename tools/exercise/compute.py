"""An exercise's answer: its commands run on the CPU executor, and what they write is kept for the next try."""

import json
import os
import pathlib
import shlex
import subprocess
import tempfile
from typing import Any

from tools.exercise.catalogue import Exercise, Wrong, program_of
from tools.exercise.expression import NotUnderstood, evaluate
from tools.repository import ROOT

SECONDS = 120  # a command needs a few; then something is wrong


def kept_in(programs: pathlib.Path) -> pathlib.Path:
    return programs.parent / "exercises"


def words_of(command: str, programs: pathlib.Path) -> list[str]:
    """A stage's own program where it is built, as ./lab builds only that; else the one that has all stages."""
    words = shlex.split(command)
    own = programs / program_of(command)
    if words[0] != "run" or not own.exists():
        return [str(programs / "gemm"), *words]
    variant = words[1].partition(":")[2]
    return [str(own), *(["--variant", variant] if variant else []), *words[2:]]


def result_anew(command: str, programs: pathlib.Path) -> Any:
    """The JSON that a command writes."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "result.json")
        words = [*words_of(command, programs), "--json", str(file)]
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, cwd=ROOT)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Wrong(f"./lab {command} did not run: {type(error).__name__}") from error
        if done.returncode != 0:
            raise Wrong(f"./lab {command} fails, so nothing is counted: run it to see why")
        try:
            return json.loads(file.read_text())
        except (OSError, ValueError) as error:
            raise Wrong(f"./lab {command} writes no JSON") from error


def result_of(command: str, programs: pathlib.Path) -> Any:
    """As JSON; run only once for a program as it is."""
    program = pathlib.Path(words_of(command, programs)[0])
    if not program.exists():
        raise Wrong(f"there is no program {program.name}: ./lab builds it")
    key = [command, program.name, program.stat().st_size, program.stat().st_mtime_ns]
    kept = kept_in(programs) / "".join(c if c.isalnum() else "_" for c in command)
    try:
        stored = json.loads(kept.read_text())
        if stored["key"] == key:
            return stored["result"]
    except (OSError, ValueError, KeyError, TypeError):
        pass  # the first time, or half a file
    result = result_anew(command, programs)
    try:
        kept.parent.mkdir(exist_ok=True)
        handle, part = tempfile.mkstemp(dir=kept.parent)
        with os.fdopen(handle, "w") as file:
            json.dump({"key": key, "result": result}, file)
        os.replace(part, kept)
    except OSError:
        pass  # a folder of somebody else's: the next try takes as long
    return result


class Results:
    """What an exercise's commands found. Fields of the first are names, those of all are in `runs`."""

    def __init__(self, exercise: Exercise, programs: pathlib.Path) -> None:
        runs = [result_of(command, programs) for command in exercise.commands]
        first = runs[0] if isinstance(runs[0], dict) else {}
        self.names = {**first, "runs": runs}
        self.id = exercise.id

    def take(self, expression: str) -> Any:
        try:
            found = evaluate(expression, self.names)
        except NotUnderstood as error:
            raise Wrong(f"docs/exercises.toml: {self.id}: {error}") from error
        if not isinstance(found, (int, float, str)) or isinstance(found, bool):
            raise Wrong(f"docs/exercises.toml: {self.id}: {expression} is neither a number nor a word")
        return found
