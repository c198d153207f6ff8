"""./lab exercise: asks what the pages ask, and says whether an answer is right.

usage: ./lab exercise [STAGE]           the exercises that can be checked: all, or those of a stage's page
       ./lab exercise ID                what one of them asks: 03.4, tsm/05.1, tensorcore/01.1
       ./lab exercise ID ANSWER...      is this right?

ANSWER is a number, such as 48, 0.25, 3/4, 2^20, 12.5 % or 1,048,576, or one of the words that the exercise names. If
it asks for several, put a blank between them. The right numbers are counted when you ask, by the CPU executor.

Exit status: 0 if the answer is right, 1 if it is wrong, 2 for bad usage.
"""

import argparse
import difflib
import pathlib
import re
import subprocess
import sys
from typing import Any

from tools.command_line import fail, parser_of, run
from tools.exercise.catalogue import Exercise, Wrong, asked_on, exercises, page_of, program_of, source_of
from tools.exercise.compute import Results
from tools.exercise.expression import NotUnderstood, typed_number
from tools.exercise.hints import NEAR, close, of_factor
from tools.repository import ROOT, relative

MANY = ("", "a number", "two numbers", "three numbers", "four numbers", "five numbers")
SHOWN = 40  # characters of what was typed, in a message


def shown(text: str) -> str:
    """In one line, and not too long."""
    return "".join(c if c.isprintable() else " " for c in text[:SHOWN])


def found(name: str) -> Exercise:
    """The exercise that is meant. Ends the program if there is none."""
    known = exercises()
    plain = name.removeprefix("sgemm/")
    if plain in known:
        return known[plain]
    stage, _, number = plain.rpartition(".")
    page = page_of(stage)
    if page and number in asked_on(page):
        fail(f"{plain} is not answered by a number: compare your answer with the one in {relative(page)}")
    near = difflib.get_close_matches(plain, known, n=1)
    fail(f"no exercise '{shown(name)}'{f', but there is {near[0]}' if near else ''}; './lab exercise' lists them")


def listed(stage: str) -> int:
    plain = stage.removeprefix("sgemm/")
    of_stage = [each for each in exercises().values() if not stage or each.id.rpartition(".")[0] == plain]
    if not of_stage:
        if page_of(plain):
            fail(f"no exercise of {plain} is answered by a number; './lab exercise' lists those that are")
        found(stage)
    for each in of_stage:
        print(f"{each.id:<16} {each.asks}")
    return 0


def form(exercise: Exercise) -> str:
    """What an answer looks like."""
    if exercise.choices:
        return "one of: " + ", ".join(exercise.choices)
    several = ", with a blank between them" if len(exercise.answers) > 1 else ""
    return MANY[len(exercise.answers)] + several + (f", in {exercise.unit}" if exercise.unit else "")


def asked(exercise: Exercise) -> int:
    print(f"{exercise.id}, {relative(exercise.page)}\n\n{exercise.question}\n")
    print(f"To answer here: {exercise.asks}.")
    print(f"An answer is {form(exercise)}: ./lab exercise {exercise.id} ANSWER")
    return 0


def typed(exercise: Exercise, words: list[str]) -> list[Any]:
    """The answers as numbers or as a word. Ends the program where they can't be read."""
    if exercise.choices:
        given = " ".join(" ".join(words).lower().split())
        for choice in exercise.choices:
            if given == choice.lower():
                return [choice]
        fail(f"'{shown(given)}' is none of: {', '.join(exercise.choices)}")
    wanted = len(exercise.answers)
    if wanted == 1:
        parts = [" ".join(words)]
    else:
        words = [word for word in words if word.lower() != exercise.unit.lower()]
        apart = re.split(r"\s*;\s*|,?\s+and\s+|,\s+|\s+", " ".join(words).strip())
        parts = words if len(words) == wanted else apart
    if len(parts) != wanted:
        fail(f"{exercise.id} asks for {form(exercise)}")
    numbers = []
    for part in parts:
        try:
            numbers.append(typed_number(part, exercise.unit))
        except NotUnderstood as error:
            fail(f"can't read '{shown(part)}': {error}; an answer is such as 48, 0.25, 3/4, 2^20 or 12.5 %")
    return numbers


def hint(exercise: Exercise, results: Results, given: list[Any], right: list[Any]) -> str:
    """Why the answer is wrong, as far as it shows; else where to look."""
    for expression, text in exercise.mistakes.items():
        taken = results.take(expression)
        for number, wanted in zip(given, right):
            if number != wanted and (number == taken if exercise.choices else close(number, taken, NEAR)):
                return text
    if not exercise.choices:
        wrong = [(g, r) for g, r in zip(given, right) if not close(g, r, exercise.within)]
        if len(given) > 1 and len(wrong) == len(given) and sorted(given) == sorted(right):
            return "The numbers are right, but in another order than they were asked for."
        for number, wanted in wrong:
            if text := of_factor(number, wanted):
                return text
        if len(given) > 1 and len(wrong) < len(given):
            return "Some of the numbers are right, but not all."
    return "Do the arithmetic step by step, in units: what does one warp do, and how often?"


def checked(exercise: Exercise, given: list[Any], programs: pathlib.Path) -> int:
    results = Results(exercise, programs)
    right = [results.take(expression) for expression in exercise.answers]
    matches = given == right if exercise.choices else all(close(g, r, exercise.within) for g, r in zip(given, right))
    if matches:
        print(f"right; {relative(exercise.page)} says why")
        return 0
    print(f"not right. {hint(exercise, results, given, right)}")
    print("This counts it: " + ", ".join(f"`./lab {command} --cpu`" for command in exercise.commands))
    return 1


def note_changes(exercise: Exercise) -> None:
    """An answer is counted from the stage as it stands, which a student may have changed for another exercise."""
    files = sorted({relative(file) for command in exercise.commands if (file := source_of(command))})
    if files and (ROOT / ".git").exists():
        try:
            changed = subprocess.run(["git", "diff", "--quiet", "HEAD", "--", *files], cwd=ROOT, capture_output=True)
        except OSError:
            return  # without git nobody knows
        if changed.returncode == 1:
            print(f"note: {', '.join(files)} is not as committed, and the answer is counted from it", file=sys.stderr)


def main() -> int:
    parser = parser_of("./lab exercise", __doc__)
    parser.add_argument("id", nargs="?", default="")
    parser.add_argument("answer", nargs="*")
    parser.add_argument("--programs", action="store_true", help=argparse.SUPPRESS)  # only names what must be built
    parser.add_argument("--bin", default="build/cpu/bin", help=argparse.SUPPRESS)
    options = parser.parse_args()
    try:
        if not options.answer:
            if options.programs:
                return 0
            return asked(found(options.id)) if "." in options.id else listed(options.id)
        exercise = found(options.id)
        given = typed(exercise, options.answer)
        if options.programs:
            print("\n".join(sorted({program_of(command) for command in exercise.commands})))
            return 0
        note_changes(exercise)
        return checked(exercise, given, pathlib.Path(options.bin).resolve())
    except Wrong as error:
        fail(str(error))


if __name__ == "__main__":
    run(main)
