"""./lab course selftest: whether the course grades as its teachers say.

Of each assignment: the solution gets all points, the skeleton at most a fifth, and each of teacher/wrong/ what
teacher/wrong.yaml says. Of each variant: its solution and its skeleton do so, too, and the solution of another variant
does not get all points. One line each, and exit status 1 if one does not hold.
"""

from __future__ import annotations

import concurrent.futures
import os
import pathlib
import queue
import re
from typing import Any

import yaml

from tools.command_line import fail
from tools.course import variants
from tools.course.assignment import Assignment
from tools.course.build import Builder
from tools.course.grade import grade
from tools.repository import Json

SKELETON = 0.2  # of the points, at most
LEAST_WRONG = 6  # submissions that an assignment's rubric is tried with


def lost(result: Json) -> set[str]:
    return {item["name"] for item in result["items"] if item["points"] < item["of"]}


def complaints_of_solution(result: Json) -> list[str]:
    if result["points"] == result["of"]:
        return []
    told = [item["feedback"][0] for item in result["items"] if item["points"] < item["of"] and item["feedback"]]
    return [f"gets {result['points']:g} of {result['of']:g}: {'; '.join(told)}"]


def complaints_of_skeleton(result: Json) -> list[str]:
    points = result["points"]
    found = [] if points <= SKELETON * result["of"] else [f"gets {points:g} of {result['of']:g}, more than a fifth"]
    builds = next((item for item in result["items"] if item["kind"] == "builds"), None)
    if builds and builds["points"] < builds["of"]:
        found.append(f"does not build: {' '.join(builds['feedback'])}")
    return found


def complaints_of_other(result: Json) -> list[str]:
    return ["gets all points"] if result["points"] == result["of"] else []


def complaints_of_wrong(result: Json, said: Any) -> list[str]:
    least, most = said["points"]
    found = []
    if not least <= result["points"] <= most:
        found.append(f"gets {result['points']:g}, not {least:g} to {most:g}")
    missing = lost(result)
    found += [f"keeps all points of '{name}'" for name in said.get("loses", ()) if name not in missing]
    found += [f"loses points of '{name}'" for name in said.get("keeps", ()) if name in missing]
    names = {item["name"] for item in result["items"]}
    named = {*said.get("loses", ()), *said.get("keeps", ())}
    return found + [f"the rubric has no item '{name}'" for name in sorted(named - names)]


def solution_of(assignment: Assignment) -> pathlib.Path:
    return next(iter(sorted((assignment.folder / "teacher").glob("solution*"))))


def trials_of_variants(assignment: Assignment) -> list[tuple[Assignment, str, pathlib.Path]]:
    """By what is graded, what, and its file or folder. A neighbour differs in one parameter."""
    found = []
    for own in variants.all_of(assignment) if assignment.variants else ():
        other = variants.variant(assignment, variants.neighbour(assignment, own.variant))
        found += [
            (own, f"solution, variant {own.variant}", solution_of(own)),
            (own, f"skeleton, variant {own.variant}", own.folder / "skeleton"),
            (own, f"other solution, {other.variant} for {own.variant}", solution_of(other)),
        ]
    return found


def trials(assignment: Assignment) -> list[tuple[str, pathlib.Path, Any]]:
    """What is graded, its file or folder, and what wrong.yaml says of it."""
    teacher = assignment.folder / "teacher"
    wrong, yaml_file = teacher / "wrong", teacher / "wrong.yaml"
    if not list(teacher.glob("solution*")) or not wrong.is_dir() or not yaml_file.is_file():
        fail(f"{teacher} needs a solution, wrong/ and wrong.yaml")
    said = yaml.safe_load(yaml_file.read_text())
    files = {path.stem: path for path in sorted(wrong.iterdir())}
    if not isinstance(said, dict) or said.keys() != files.keys():
        names = sorted(files.keys() ^ said.keys()) if isinstance(said, dict) else sorted(files)
        fail(f"{teacher}: in wrong/ or in wrong.yaml alone: {', '.join(names)}")
    return [
        ("solution", solution_of(assignment), None),
        ("skeleton", assignment.folder / "skeleton", None),
        *((f"wrong {name}", path, said[name]) for name, path in files.items()),
    ]


def selftest(chosen: list[Assignment], builder: Builder) -> int:
    """The exit status."""
    cpus: queue.Queue[int] = queue.Queue()
    for cpu in sorted(os.sched_getaffinity(0)):
        cpus.put(cpu)

    def one(assignment: Assignment, what: str, path: pathlib.Path, said: Any) -> list[str]:
        cpu = cpus.get()
        try:
            result = grade(assignment, path, "selftest", 2, builder, cpu)
        finally:
            cpus.put(cpu)
        if what.startswith("wrong"):
            return complaints_of_wrong(result, said)
        of = {"solution": complaints_of_solution, "skeleton": complaints_of_skeleton, "other": complaints_of_other}
        return of[re.split("[ ,]", what)[0]](result)

    wrong = count = 0
    with concurrent.futures.ThreadPoolExecutor(cpus.qsize()) as pool:
        for assignment in chosen:
            tried = trials(assignment)
            more = trials_of_variants(assignment)
            running = [(what, pool.submit(one, assignment, what, path, said)) for what, path, said in tried]
            running += [(what, pool.submit(one, own, what, path, None)) for own, what, path in more]
            found = [(what, future.result()) for what, future in running]
            lines = [f"  {what}: {complaint}" for what, complaints in found for complaint in complaints]
            total = sum(item.points for item in assignment.items if item.kind not in ("speed", "manual"))
            if total != 100:
                lines.append(f"  its points sum to {total:g}, not to 100")
            if len(tried) < 2 + LEAST_WRONG:
                lines.append(f"  only {len(tried) - 2} wrong submissions, of {LEAST_WRONG}")
            print(
                "\n".join(
                    [
                        f"{assignment.id}: {'NOT as it says' if lines else 'as it says'}, {len(tried)} submissions"
                        + (f", and {len(more)} of its {variants.count(assignment)} variants" if more else ""),
                        *lines,
                    ]
                ),
                flush=True,
            )
            wrong += bool(lines)
            count += len(tried) + len(more)
    print(f"{len(chosen) - wrong} of {len(chosen)} assignments grade as they say, {count} submissions")
    return 1 if wrong else 0
