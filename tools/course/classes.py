"""Grades a class: every file or folder in a folder, some at a time. What has been graded is kept and not graded again,
so that an interrupted run goes on where it stood."""

from __future__ import annotations

import concurrent.futures
import csv
import hashlib
import io
import json
import os
import pathlib
import queue
import re
import sys

from tools.command_line import fail, write_whole
from tools.course import grade, reports, speed, variants
from tools.course.assignment import Assignment
from tools.course.build import Builder, known
from tools.repository import Json


def submissions_in(folder: pathlib.Path) -> list[pathlib.Path]:
    found = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    if not found:
        fail(f"{folder} is empty")
    return found


def fingerprint(assignment: Assignment, submission: pathlib.Path, secret: str, hints: int, builder: Builder) -> str:
    """Of all that a grade depends on."""
    programs = [builder.judge, *([speed.timer_of(builder).program] if builder.gpu else [])]
    built = [program.stat().st_mtime_ns for program in programs]
    text = hashlib.sha256(f"{assignment.digest()} {secret} {hints} {built}".encode())
    text.update(str(assignment.variant).encode())
    for name in assignment.files:
        path = submission / name if submission.is_dir() else submission
        try:
            text.update(path.read_bytes()[: assignment.most_bytes + 1] if path.is_file() else b"none")
        except OSError:
            text.update(b"unreadable")
    return text.hexdigest()


def file_name_of(submission: pathlib.Path) -> str:
    """Of what is written about it: a plain one, whatever students call theirs."""
    plain = re.sub(r"[^\w.+@ -]", "_", submission.name, flags=re.ASCII)[:150]
    if plain == submission.name:
        return plain
    return f"{plain}_{hashlib.sha256(os.fsencode(submission.name)).hexdigest()[:8]}"


def kept(file: pathlib.Path, mark: str) -> Json | None:
    try:
        record = json.loads(file.read_text())
        return record if record.get("fingerprint") == mark else None
    except (OSError, ValueError, AttributeError):
        return None


def failed(assignment: Assignment, error: Exception, builder: Builder) -> Json:
    """Where grading itself went wrong: the teacher must look."""
    return {
        "assignment": assignment.id,
        "title": assignment.title,
        "variant": assignment.variant,
        "points": 0.0,
        "of": assignment.graded(builder.gpu is not None),
        "items": [],
        "later": [],
        "error": f"not graded: {error}",
    }


def table(assignment: Assignment, results: dict[str, Json]) -> str:
    names = [item.name for item in assignment.items]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    of_variants = ["variant", "looks_like"] if any(result.get("variant") for result in results.values()) else []
    writer.writerow(["submission", "points", "of", *names, *of_variants, "error"])
    for who, result in results.items():
        points = {item["name"]: item["points"] for item in result["items"]}
        # A name that a spreadsheet would run is a text.
        safe = f"'{who}" if who[:1] in "=+-@\t\r" else who
        writer.writerow(
            [
                *(safe, result["points"], result["of"]),
                *(points.get(name, "") for name in names),
                *(result.get(name) or "" for name in of_variants),
                result.get("error", ""),
            ]
        )
    return out.getvalue()


def grade_class(
    assignment: Assignment,
    folder: pathlib.Path,
    out: pathlib.Path,
    secret: str,
    hints: int,
    builder: Builder,
    students: list[str] | None = None,
) -> int:
    """Students: their names, if each has a variant of their own. A submission is called as they are."""
    submissions = submissions_in(folder)
    if students is not None:
        variants.require_students(submissions, students)
    others = variants.all_of(assignment) if students is not None else [assignment]
    of = {
        path: variants.of_student(assignment, secret, variants.name_of(path)) if students is not None else assignment
        for path in submissions
    }
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        fail(f"can't write into {out}: {error.strerror}")
    cpus: queue.Queue[int] = queue.Queue()
    for cpu in sorted(os.sched_getaffinity(0)):
        cpus.put(cpu)

    def one(submission: pathlib.Path) -> tuple[Json, bool]:
        who = file_name_of(submission)
        file = out / f"{who}.json"
        mark = fingerprint(of[submission], submission, secret, hints, builder)
        before = kept(file, mark)
        if before:
            return before, False
        cpu = cpus.get()
        try:
            result = grade.grade(of[submission], submission, secret, hints, builder, cpu, others)
        except Exception as error:  # one bad submission never stops the rest
            return failed(of[submission], error, builder), True
        finally:
            cpus.put(cpu)
        result["fingerprint"] = mark
        write_whole(str(out / f"{who}.html"), reports.page(who, result))
        write_whole(str(file), json.dumps(result, indent=1) + "\n")
        return result, True

    results: dict[str, Json] = {}
    new = 0
    with concurrent.futures.ThreadPoolExecutor(cpus.qsize()) as pool:
        list(pool.map(lambda each: known(builder, each), set(of.values())))  # once, and before the others ask
        running = [pool.submit(one, submission) for submission in submissions]
        try:
            for number, (submission, future) in enumerate(zip(submissions, running), 1):
                results[file_name_of(submission)], fresh = future.result()
                new += fresh
                if sys.stderr.isatty():
                    print(f"\r\033[K{number} of {len(submissions)}", end="", file=sys.stderr, flush=True)
        except KeyboardInterrupt:
            pool.shutdown(wait=True, cancel_futures=True)
            print("interrupted: the same command goes on from here", file=sys.stderr)
            return 130
    write_whole(str(out / "class.csv"), table(assignment, results))
    errors = sum("error" in result for result in results.values())
    most = assignment.graded(builder.gpu is not None)
    mean = sum(result["points"] for result in results.values()) / len(results)
    print(
        f"{len(results)} submissions, {new} graded now, mean {mean:.1f} of {most:g}"
        + (f", {errors} NOT graded: see class.csv" if errors else "")
    )
    return 1 if errors else 0
