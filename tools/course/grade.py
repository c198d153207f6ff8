"""Grades one submission by its rubric."""

from __future__ import annotations

import json
import pathlib
import re
import subprocess
import tempfile
from collections.abc import Sequence

from tools.course import metrics, rules, speed
from tools.course.assignment import Assignment, Item, later
from tools.course.build import SEEN, Builder, Unbuilt
from tools.course.problems import problems_of
from tools.repository import Json

HINTS = ("nothing", "what is wrong", "and where it shows")  # what hidden problems tell, by level

LOOKS_LIKE = (
    "This looks like another variant's solution: there, all public problems are right. Read your own assignment."
)


class Broken(Exception):
    """Grading itself failed: no fault of the submission's."""


def judged(
    builder: Builder, assignment: Assignment, program: pathlib.Path, problems: list[Json], cpu: int | None
) -> list[Json]:
    job = {
        "operation": assignment.operation,
        "type": assignment.type,
        "accuracy": assignment.accuracy,
        "timeout": builder.limits.launch_seconds,
        "timeout_of_all": builder.limits.all_seconds,
        "problems": problems,
    }
    command = [builder.judge, "-", *builder.judged_by(program, cpu)]
    try:
        done = subprocess.run(
            command,
            input=json.dumps(job),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=60 + builder.limits.all_seconds + 2 * len(problems),
        )
    except subprocess.TimeoutExpired:
        raise Broken("the judge did not end") from None
    found = [json.loads(line) for line in done.stdout.replace(f"{SEEN}/", "").splitlines()]
    if done.returncode or len(found) != len(problems):
        raise Broken(f"the judge failed: {done.stderr.strip()[-300:]}")
    return found


def why(found: Json, hidden: bool, hints: int) -> list[str]:
    """What a student learns of a problem that went wrong."""
    if hidden and hints == 0:
        return []
    lines = [*found.get("explanation", [])]
    if not hidden or hints > 1:
        return [f"at {found['problem']}: {found['reason']}", *lines]
    if lines or found.get("defects"):
        return lines or found["defects"][:1]
    return [found["reason"]] if found["ended"] else []


def row(item: Item, share: float, feedback: list[str]) -> Json:
    return {
        "name": item.name,
        "kind": item.kind,
        "points": round(item.points * share, 2),
        "of": item.points,
        "hidden": item.hidden is not None,
        "feedback": feedback,
    }


def of_right(item: Item, found: list[Json], hints: int) -> Json:
    wrong = [one for one in found if not one["right"]]
    told: list[str] = []
    if wrong:
        told.append(f"{len(found) - len(wrong)} of {len(found)} problems are right")
        told += why(wrong[0], item.hidden is not None, hints)
    return row(item, 1 - len(wrong) / len(found), told)


def of_clean(item: Item, found: list[Json]) -> Json:
    defects = [text for one in found for text in [*one.get("defects", []), *([one["reason"]] if one["ended"] else [])]]
    right = sum(one["right"] for one in found)
    if defects:
        return row(item, 0, [defects[0]])
    if 2 * right < len(found):
        return row(item, 0, [f"only {right} of {len(found)} problems are right: there is too little to judge"])
    return row(item, 1, [])


def of_count(item: Item, found: Json) -> Json:
    if not found["right"]:
        return row(item, 0, [f"not counted, because the result is wrong at {found['problem']}"])
    if not metrics.is_possible(found):
        return row(item, 0, ["not counted: these can't be the counts of this product"])
    value = metrics.metric(item.metric, found)
    if value is None:
        return row(item, 0, [f"{item.metric}: there are no such accesses"])
    share = metrics.share(value, item.full, item.none, item.least)
    told = f"{item.metric} is {value:.3g}; all points at {item.full:g}, none at {item.none:g}"
    if item.least is not None:
        told += f" and below {item.least:g}"
    return row(item, share, [told])


def of_speed(
    item: Item,
    assignment: Assignment,
    texts: dict[str, str],
    program: pathlib.Path,
    tried: list[Json],
    builder: Builder,
) -> Json:
    if not all(one["right"] for one in tried):
        return row(item, 0, ["not timed, because not all results are right"])
    try:
        times = speed.timer_of(builder).times(assignment, item, texts, program)
    except Unbuilt as error:
        return row(item, 0, [f"for the GPU: {error}"])
    except speed.Untimed as error:
        raise Broken(str(error)) from None
    share, told = speed.share_of(times)
    return row(item, share, [told]) | {"times": times}


def of_reproducible(item: Item, found: Json) -> Json:
    return row(item, float(found.get("reproducible", False)), [found["reason"]] if found["reason"] else [])


def without_what_is_needed(assignment: Assignment, rows: list[Json]) -> list[Json]:
    """A count says little alone: few barriers are no merit where there are no tiles. Of the points as counted, so that
    the order of the items does not matter."""
    items = {item.name: item for item in assignment.items}
    empty = {one["name"] for one in rows if not one["points"]}
    done = []
    for one in rows:
        item = items[one["name"]]
        missing = [name for name in item.needs if name in empty]
        if missing and one["points"]:
            one = row(item, 0, [*one["feedback"], f"no points, because '{missing[0]}' has none"])
        done.append(one)
    return done


def nothing(assignment: Assignment, reason: str, built: bool, timed: bool) -> list[Json]:
    """Of a submission that can't be run."""
    rows = []
    for item in assignment.items:
        if item.kind in later(timed):
            continue
        blamed = item.kind == ("rules" if built else "builds")
        rows.append(row(item, 1 if built and item.kind == "builds" else 0, [reason] if blamed else []))
    if not any(one["feedback"] for one in rows):
        rows[0]["feedback"] = [reason]
    return rows


def graded_rows(
    assignment: Assignment, texts: dict[str, str], secret: str, hints: int, builder: Builder, cpu: int | None
) -> list[Json]:
    with tempfile.TemporaryDirectory(prefix="submission-") as name:
        return rows_of(assignment, texts, secret, hints, builder, cpu, pathlib.Path(name))


def rows_of(
    assignment: Assignment,
    texts: dict[str, str],
    secret: str,
    hints: int,
    builder: Builder,
    cpu: int | None,
    folder: pathlib.Path,
) -> list[Json]:
    problems = problems_of(assignment, secret)
    timed = builder.gpu is not None
    try:
        for name, text in texts.items() if builder.checked else ():
            rules.check_text(assignment, name, text)
        program = builder.program_of(assignment, texts, folder)
        found = judged(builder, assignment, program, [problem for _, problem in problems], cpu)
    except Unbuilt as error:
        return nothing(assignment, str(error), False, timed)
    except rules.Violation as error:
        return nothing(assignment, str(error), True, timed)
    by_item = {id(item): [one for (of, _), one in zip(problems, found) if of is item] for item in assignment.items}
    tried = [one for item in assignment.items if item.kind == "right" for one in by_item[id(item)]]
    rows = []
    for item in assignment.items:
        of = by_item[id(item)]
        if item.kind in ("builds", "rules"):
            rows.append(row(item, 1, []))
        elif item.kind == "right":
            rows.append(of_right(item, of, hints))
        elif item.kind == "clean":
            rows.append(of_clean(item, tried))
        elif item.kind == "count":
            rows.append(of_count(item, of[0]))
        elif item.kind == "reproducible":
            rows.append(of_reproducible(item, of[0]))
        elif item.kind == "speed" and timed:
            rows.append(of_speed(item, assignment, texts, program, tried, builder))
    return without_what_is_needed(assignment, rows)


def is_right_for(builder: Builder, assignment: Assignment, texts: dict[str, str], cpu: int | None) -> bool:
    """Whether all problems are right that students can see."""
    problems = [problem for item, problem in problems_of(assignment, "") if item.kind == "right" and not item.hidden]
    try:
        for name, text in texts.items() if builder.checked else ():
            rules.check_text(assignment, name, text)
        with tempfile.TemporaryDirectory(prefix="submission-") as name:
            program = builder.program_of(assignment, texts, pathlib.Path(name))
            return all(one["right"] for one in judged(builder, assignment, program, problems, cpu))
    except (Unbuilt, rules.Violation, Broken):
        return False


def blamed(assignment: Assignment, rows: list[Json]) -> Json | None:
    """Where a submission for another variant fails: it does not fit the contract, or no public problem is right."""
    builds = next((one for one in rows if one["kind"] == "builds"), None)
    if builds and builds["points"] == 0:
        own = "|".join(map(re.escape, assignment.files))
        return None if re.search(rf"^({own}):\d+.* error: ", "\n".join(builds["feedback"]), re.M) else builds
    public = [one for one in rows if one["kind"] == "right" and not one["hidden"]]
    return public[0] if public and not any(one["points"] for one in public) else None


def grade(
    assignment: Assignment,
    submission: pathlib.Path,
    secret: str,
    hints: int,
    builder: Builder,
    cpu: int | None = None,
    others: Sequence[Assignment] = (),
) -> Json:
    """The same for the same submission, rubric and secret. Others: variants that it is tried on where it is wrong."""
    meant = 0
    try:
        texts = rules.read_files(assignment, submission)
        rows = graded_rows(assignment, texts, secret, hints, builder, cpu)
        row = blamed(assignment, rows)
        if row:
            found = (one for one in others if one is not assignment and is_right_for(builder, one, texts, cpu))
            meant = next((one.variant for one in found), 0)
        if meant:
            row["feedback"].insert(0, LOOKS_LIKE)
    except rules.Violation as error:
        rows = nothing(assignment, str(error), False, builder.gpu is not None)
    left = later(builder.gpu is not None)
    return {
        "assignment": assignment.id,
        "title": assignment.title,
        "variant": assignment.variant,
        "looks_like": meant,
        "points": round(sum(one["points"] for one in rows), 2),
        "of": assignment.graded(builder.gpu is not None),
        "items": rows,
        "later": [
            {"name": item.name, "kind": item.kind, "of": item.points} for item in assignment.items if item.kind in left
        ],
    }
