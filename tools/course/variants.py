"""Variants of an assignment: the same task with other parameters, so that a copy of another student's file is wrong.

`variants` in a rubric names parameters and their choices. The first choice of each is the assignment as it stands. What
reads otherwise for another choice stands in teacher/variants.yaml: texts that are replaced in the assignment's files.
So a variant is a folder like the assignment's own, and whatever takes an assignment takes a variant.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import hmac
import itertools
import math
import pathlib
import re
import tempfile
import textwrap
import unicodedata
from typing import Any

import yaml

from tools.command_line import fail
from tools.course.assignment import Assignment, load, wrong

COLUMNS = 120  # of a line, at most


@dataclasses.dataclass(frozen=True)
class Rule:
    """What reads otherwise where all these parameters have one of these choices."""

    when: dict[str, list[str]]
    replace: dict[str, str]

    def applies(self, chosen: dict[str, str]) -> bool:
        return all(chosen[name] in choices for name, choices in self.when.items())


def count(assignment: Assignment) -> int:
    return math.prod(len(choices) for choices in assignment.variants.values())


def chosen(assignment: Assignment, number: int) -> dict[str, str]:
    """A choice for each parameter. Number 1 has the first ones."""
    products = itertools.product(*assignment.variants.values())
    return dict(zip(assignment.variants, next(itertools.islice(products, number - 1, None))))


def neighbour(assignment: Assignment, number: int) -> int:
    """Another variant, which differs in one parameter: not in the same one for each number."""
    mine = chosen(assignment, number)
    name = list(mine)[number % len(mine)]
    choices = assignment.variants[name]
    other = mine | {name: choices[(choices.index(mine[name]) + 1) % len(choices)]}
    return next(n for n in range(1, count(assignment) + 1) if chosen(assignment, n) == other)


def plain(name: str) -> str:
    """A student's name: a file system may have taken its letters apart."""
    return unicodedata.normalize("NFC", name.strip())


def name_of(submission: pathlib.Path) -> str:
    return plain(submission.name if submission.is_dir() else submission.stem)


def number_of(assignment: Assignment, secret: str, student: str) -> int:
    """Which variant a student has: the same for the same secret and name, and each as likely as the others."""
    text = f"variant\0{assignment.id}\0{plain(student)}".encode()
    return 1 + int.from_bytes(hmac.digest(secret.encode(), text, hashlib.sha256)) % count(assignment)


def names_in(file: str) -> list[str]:
    """Students, a name on a line. Each is the name of a folder, too."""
    try:
        names = [plain(line) for line in pathlib.Path(file).read_text().splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        fail(f"can't read {file}: {getattr(error, 'strerror', 'no text')}")
    if not names:
        fail(f"{file} has no names")
    for name in names:
        if name.startswith(".") or re.search(r"[/\\\0-\x1f]", name) or len(name.encode()) > 200:
            fail(f"{file}: {name!r} can't be the name of a folder")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        fail(f"{file} has {twice!r} twice: two students need two names")
    return names


def require_students(submissions: list[pathlib.Path], students: list[str]) -> None:
    """A file with another name would be graded by another variant than its writer has."""
    strange = [path.name for path in submissions if name_of(path) not in students]
    if strange:
        more = f" and {len(strange) - 3} more" if len(strange) > 3 else ""
        fail(f"no student is called as these submissions are: {', '.join(map(repr, strange[:3]))}{more}")


def rule_of(file: pathlib.Path, parameters: dict[str, tuple[str, ...]], entry: Any) -> Rule:
    if not isinstance(entry, dict) or entry.keys() != {"when", "replace"}:
        wrong(file, "each entry has when and replace")
    when, replace = entry["when"], entry["replace"]
    if not isinstance(when, dict) or not when:
        wrong(file, "when takes parameters and their choices")
    choices = {name: [str(one) for one in (said if isinstance(said, list) else [said])] for name, said in when.items()}
    for name, said in choices.items():
        if name not in parameters or set(said) - set(parameters[name]):
            wrong(file, f"the rubric has no choice '{name}: {', '.join(said)}'")
    if not isinstance(replace, dict) or not all(
        isinstance(text, str) and text for text in (*replace, *replace.values())
    ):
        wrong(file, "replace takes texts, and for each what stands there instead")
    return Rule(choices, replace)


@functools.cache
def rules_of(assignment: Assignment) -> tuple[Rule, ...]:
    file = assignment.folder / "teacher" / "variants.yaml"
    try:
        entries = yaml.safe_load(file.read_text())
    except OSError as error:
        fail(f"can't read {file}: {error.strerror}")
    except yaml.YAMLError as error:
        wrong(file, " ".join(str(error).split()))
    if not isinstance(entries, list):
        wrong(file, "takes a list of entries with when and replace")
    found = tuple(rule_of(file, assignment.variants, entry) for entry in entries)
    for name, choices in assignment.variants.items():
        for choice in choices[1:]:
            if not any(choice in rule.when.get(name, ()) for rule in found):
                wrong(file, f"nothing differs for '{name}: {choice}'")
    return found


def replaced(file: pathlib.Path, rule: Rule, texts: dict[str, str]) -> dict[str, str]:
    """All at once, the longest first: what was put there is not replaced again by the same rule."""
    pattern = re.compile("|".join(re.escape(old) for old in sorted(rule.replace, key=len, reverse=True)))
    met = {found[0] for text in texts.values() for found in pattern.finditer(text)}
    for old in rule.replace.keys() - met:
        wrong(file, f"when {rule.when}: no file has the text {old!r}")
    return {name: pattern.sub(lambda found: rule.replace[found[0]], text) for name, text in texts.items()}


def refilled(text: str, begin: str) -> str:
    """With paragraphs filled anew that have a long line: what was put there may be longer than what stood there. A
    paragraph begins like this."""
    found, lines = [], text.split("\n")
    while lines:
        line = lines.pop(0)
        start = re.match(begin, line)
        if len(line) > COLUMNS and start:
            later = start[0].replace("-", " ")
            while lines and re.match(rf"{later}[\w`(]", lines[0]):
                line += " " + lines.pop(0).removeprefix(later)
            line = textwrap.fill(line, COLUMNS, subsequent_indent=later, break_on_hyphens=False, break_long_words=False)
        found.append(line)
    return "\n".join(found)


def texts_of(assignment: Assignment, number: int) -> dict[str, str]:
    """The variant's files: all but the wrong submissions, which are the base's."""
    mine = chosen(assignment, number)
    files = [
        *assignment.folder.glob("*.*"),
        *assignment.folder.glob("skeleton/*"),
        *assignment.folder.glob("teacher/solution*"),
    ]
    texts = {str(path.relative_to(assignment.folder)): path.read_text() for path in sorted(files)}
    for rule in rules_of(assignment):
        if rule.applies(mine):
            texts = replaced(assignment.folder / "teacher" / "variants.yaml", rule, texts)
    said = f"Your variant is number {number} of {count(assignment)} ({described(mine)}). Other students have others."
    heading, _, rest = texts["assignment.md"].partition("\n\n")
    command = f"./lab grade {assignment.id} {assignment.files[0]}"
    rest = rest.replace(command, f"{command} --variant {number}")
    texts["assignment.md"] = f"{heading}\n\n{said}\n\n{rest}"
    begins = {".md": r"- |(?=\w)", ".cuh": r" *// "}
    kinds = {name: pathlib.PurePath(name).suffix for name in texts}
    return {
        name: refilled(text, begins[kinds[name]]) if kinds[name] in begins else text for name, text in texts.items()
    }


def described(mine: dict[str, str]) -> str:
    return ", ".join(f"{name}: {choice}" for name, choice in mine.items())


@functools.cache
def folder_of_all() -> tempfile.TemporaryDirectory[str]:
    """Where variants lie while this program runs."""
    return tempfile.TemporaryDirectory(prefix="variants-")


@functools.cache
def variant(assignment: Assignment, number: int) -> Assignment:
    """As an assignment of its own. One without variants is its only one."""
    if not assignment.variants:
        return assignment
    folder = pathlib.Path(folder_of_all().name, str(number), assignment.id)
    for name, text in texts_of(assignment, number).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    mine = chosen(assignment, number)
    title = f"{assignment.title}, variant {number} of {count(assignment)} ({described(mine)})"
    return dataclasses.replace(load(folder), title=title, variant=number)


def all_of(assignment: Assignment) -> list[Assignment]:
    return [variant(assignment, number) for number in range(1, count(assignment) + 1)]


def of_student(assignment: Assignment, secret: str, student: str) -> Assignment:
    return variant(assignment, number_of(assignment, secret, student))
