"""./lab course export --students DIR: the course as students get it, without what a teacher keeps."""

from __future__ import annotations

import pathlib
import re
import shutil
import tempfile

from tools.command_line import fail
from tools.course.assignment import Assignment, assignments, points_table

MARK = "<!-- points -->"
LINK = re.compile(r"\]\((?!https?:|#)([^)]+)\)")


def text_for_students(assignment: Assignment) -> str:
    text = (assignment.folder / "assignment.md").read_text()
    if text.count(MARK) != 1:
        fail(f"{assignment.folder / 'assignment.md'} needs one line {MARK}")
    return text.replace(MARK, points_table(assignment))


def export(target: pathlib.Path) -> int:
    """Whole or not at all: into a folder that does not exist yet."""
    if target.exists():
        fail(f"{target} exists already")
    found = assignments()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as name:
            made = pathlib.Path(name, "course")
            for assignment in found:
                folder = made / assignment.id
                folder.mkdir(parents=True)
                # Links into the repository's pages lead nowhere from here: their text stays.
                text = LINK.sub(
                    lambda link: f"] (`{pathlib.PurePath(link[1]).name}` in docs/)", text_for_students(assignment)
                )
                (folder / "assignment.md").write_text(text)
                shutil.copytree(assignment.folder / "skeleton", folder / "skeleton")
                shutil.copy(assignment.contract, folder)
                # The rubric says what is looked at, and no hidden problem: those are drawn from the teacher's secret.
                shutil.copy(assignment.folder / "rubric.yaml", folder)
            made.rename(target)
    except OSError as error:
        fail(f"can't write {target}: {error.strerror}")
    print(f"wrote {len(found)} assignments to {target}")
    return 0
