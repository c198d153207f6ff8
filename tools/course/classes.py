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

from tools.command_line import fail
from tools.course import grade, reports, speed
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
    writer.writerow(["submission", "points", "of", *names, "error"])
    for who, result in results.items():
        points = {item["name"]: item["points"] for item in result["items"]}
        # A name that a spreadsheet would run is a text.
        safe = f"'{who}" if who[:1] in "=+-@\t\r" else who
        writer.writerow(
            [safe, result["points"], result["of"], *(points.get(name, "") for name in names), result.get("error", "")]
        )
    return out.getvalue()


def grade_class(
    assignment: Assignment, folder: pathlib.Path, out: pathlib.Path, secret: str, hints: int, builder: Builder
) -> int:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        fail(f"can't write into {out}: {error.strerror}")
    submissions = submissions_in(folder)
    known(builder, assignment)  # once, and before the others ask
    cpus: queue.Queue[int] = queue.Queue()
    for cpu in sorted(os.sched_getaffinity(0)):
        cpus.put(cpu)

    def one(submission: pathlib.Path) -> tuple[Json, bool]:
        who = file_name_of(submission)
        file = out / f"{who}.json"
        mark = fingerprint(assignment, submission, secret, hints, builder)
        before = kept(file, mark)
        if before:
            return before, False
        cpu = cpus.get()
        try:
            result = grade.grade(assignment, submission, secret, hints, builder, cpu)
        except Exception as error:  # one bad submission never stops the rest
            return failed(assignment, error, builder), True
        finally:
            cpus.put(cpu)
        result["fingerprint"] = mark
        reports.write(str(out / f"{who}.html"), reports.page(who, result))
        reports.write(str(file), json.dumps(result, indent=1) + "\n")
        return result, True

    results: dict[str, Json] = {}
    new = 0
    with concurrent.futures.ThreadPoolExecutor(cpus.qsize()) as pool:
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
    reports.write(str(out / "class.csv"), table(assignment, results))
    errors = sum("error" in result for result in results.values())
    most = assignment.graded(builder.gpu is not None)
    mean = sum(result["points"] for result in results.values()) / len(results)
    print(
        f"{len(results)} submissions, {new} graded now, mean {mean:.1f} of {most:g}"
        + (f", {errors} NOT graded: see class.csv" if errors else "")
    )
    return 1 if errors else 0
