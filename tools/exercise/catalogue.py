"""Which exercises there are: what each page asks, and docs/exercises.toml for those that a command answers."""

import dataclasses
import functools
import pathlib
import re
import shlex
import tomllib

from tools.repository import DOCS, FAMILIES, ROOT, relative, stages

FILE = DOCS / "exercises.toml"
ITEM = re.compile(r"^(\d+)\. (.*?)(?=^\d+\. |^\S|\Z)", re.S | re.M)
FOLD = re.compile(r"<details><summary>Answer</summary>(.*?)</details>", re.S)
KEYS = {"asks", "command", "commands", "answer", "answers", "unit", "choices", "within", "mistakes"}
MOST = 5  # numbers that one exercise asks for
WITHIN = 0.01  # a share of the number: rounded to two or three digits it is right


@dataclasses.dataclass(frozen=True)
class Exercise:
    """One that can be checked."""

    id: str  # as it is typed: 03.2, tsm/05.1
    page: pathlib.Path
    question: str  # Markdown
    fold: str  # the page's answer
    asks: str
    commands: tuple[str, ...]
    answers: tuple[str, ...]  # expressions over the commands' JSON
    unit: str
    choices: tuple[str, ...]
    within: float
    mistakes: dict[str, str]  # expression: what to say to whoever takes that for the answer


class Wrong(Exception):
    """What is wrong with the file or with a page."""


def page_of(number: str) -> pathlib.Path | None:
    """Of 03, tsm/05, ...: the page of the stage with this number, or with this name."""
    family, _, name = number.rpartition("/")
    folder = DOCS / FAMILIES.get(family or "sgemm", "nosuch")
    pages = [page for page in folder.glob("*.md") if not page.name.endswith(".log.md")]
    found = [page for page in pages if name in (page.stem, page.stem.split("_")[0])]
    return found[0] if len(found) == 1 else None


@functools.cache
def asked_on(page: pathlib.Path) -> dict[str, tuple[str, str]]:
    """By number: what a page asks, and what its fold answers."""
    text = re.sub(r"<!--.*?-->", "", page.read_text(), flags=re.S)
    section = re.search(r"^## Exercises?\n(.*?)(?=^## |\Z)", text, re.S | re.M)
    found = {}
    for number, text in ITEM.findall(section[1] + "\n" if section else ""):
        fold = FOLD.search(text)
        found[number] = (re.sub(r"\n {1,3}", "\n", FOLD.sub("", text)).strip(), fold[1] if fold else "")
    return found


def exercise_of(name: str, entry: object) -> Exercise:
    def fault(text: str) -> Wrong:
        return Wrong(f"{relative(FILE)}: {name}: {text}")

    if not isinstance(entry, dict) or not entry.keys() <= KEYS:
        raise fault(f"an entry has {', '.join(sorted(KEYS))}")
    stage, _, number = name.rpartition(".")
    page = page_of(stage)
    question, fold = asked_on(page).get(number, ("", "")) if page else ("", "")
    if not page or not question or not fold:
        raise fault("no page has this exercise with an answer in a fold")
    commands = tuple(entry.get("commands", [entry["command"]] if "command" in entry else []))
    answers = tuple(entry.get("answers", [entry["answer"]] if "answer" in entry else []))
    if not commands or not answers or "asks" not in entry:
        raise fault("it needs asks, a command (or commands) and an answer (or answers)")
    if len(answers) > MOST or not all(map(shlex.split, commands)):
        raise fault(f"at most {MOST} answers, and no empty command")
    return Exercise(
        id=name,
        page=page,
        question=question,
        fold=fold,
        asks=entry["asks"],
        commands=commands,
        answers=answers,
        unit=entry.get("unit", ""),
        choices=tuple(entry.get("choices", ())),
        within=entry.get("within", WITHIN),
        mistakes=entry.get("mistakes", {}),
    )


@functools.cache
def exercises() -> dict[str, Exercise]:
    """Those that can be checked, in the order of the file."""
    try:
        entries = tomllib.loads(FILE.read_text())
    except tomllib.TOMLDecodeError as error:
        raise Wrong(f"{relative(FILE)}: {error}") from error
    return {name: exercise_of(name, entry) for name, entry in entries.items()}


def program_of(command: str) -> str:
    """What has to be built for a command: `run` needs its stage's own program, all else the whole `gemm`."""
    words = shlex.split(command)
    if words[0] != "run":
        return "gemm"
    family, _, number = words[1].split(":")[0].rpartition("/")
    found = [stage for stage in stages() if stage.startswith(f"{family or 'sgemm'}/{number}_")]
    if len(found) != 1:
        raise Wrong(f"{relative(FILE)}: '{command}' names no stage")
    return found[0].replace("/", "_")


def source_of(command: str) -> pathlib.Path | None:
    """The file of a stage that runs."""
    family, _, name = program_of(command).partition("_")
    return ROOT / FAMILIES[family] / f"{name}.cu" if name else None
