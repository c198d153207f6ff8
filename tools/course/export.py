"""./lab course export --students DIR: the course as students get it, without what a teacher keeps."""

from __future__ import annotations

import csv
import pathlib
import re
import shutil
import tempfile

from tools.command_line import fail
from tools.course import variants
from tools.course.assignment import Assignment, points_table

MARK = "<!-- points -->"
TABLE = "variants.csv"
LINK = re.compile(r"\]\((?!https?:|#)([^)]+)\)")


def text_for_students(assignment: Assignment) -> str:
    text = (assignment.folder / "assignment.md").read_text()
    if text.count(MARK) != 1:
        fail(f"{assignment.folder / 'assignment.md'} needs one line {MARK}")
    return text.replace(MARK, points_table(assignment))


def write_for_students(assignment: Assignment, folder: pathlib.Path) -> None:
    folder.mkdir(parents=True)
    # Links into the repository's pages lead nowhere from here: their text stays.
    text = LINK.sub(lambda link: f"] (`{pathlib.PurePath(link[1]).name}` in docs/)", text_for_students(assignment))
    (folder / "assignment.md").write_text(text)
    shutil.copytree(assignment.folder / "skeleton", folder / "skeleton")
    shutil.copy(assignment.contract, folder)
    # The rubric says what is looked at, and no hidden problem: those are drawn from the teacher's secret.
    shutil.copy(assignment.folder / "rubric.yaml", folder)


def export(target: pathlib.Path, found: list[Assignment], students: list[str] | None, secret: str) -> int:
    """Whole or not at all: into a folder that does not exist yet. With students, a folder for each, and for the teacher
    a table of who has which variant."""
    if target.exists():
        fail(f"{target} exists already")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as name:
            made = pathlib.Path(name, "course")
            rows = [("student", "assignment", "variant")]
            for assignment in found:
                if students is None:
                    write_for_students(assignment, made / assignment.id)
                for student in students or ():
                    own = variants.of_student(assignment, secret, student)
                    write_for_students(own, made / student / assignment.id)
                    if own.variant:
                        rows.append((student, assignment.id, str(own.variant)))
            if students:
                with (made / TABLE).open("w", newline="") as table:
                    csv.writer(table, lineterminator="\n").writerows(rows)
            made.rename(target)
    except OSError as error:
        fail(f"can't write {target}: {error.strerror}")
    print(f"wrote {len(found)} assignments{f' for {len(students)} students' if students else ''} to {target}")
    return 0
