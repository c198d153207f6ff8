#!/usr/bin/env python3
"""Submissions that attack what grades them: none gets a point that it has not earned, and none harms the machine or the
next submission. Each is graded twice, with the rules for texts and object files and without them, so that what stands
behind the rules is seen to hold by itself.

usage: test_hostile.py BUILD [--quick]      test_hostile.py --write: the table in docs/course_hostile.md
BUILD: the build folder of the preset cpu. What they try is bounded: see hostile/*.cuh, and hostile/expected.yaml.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import csv
import dataclasses
import io
import json
import os
import pathlib
import re
import shutil
import socket
import sys
import tempfile
import threading
import time
import unittest
from collections.abc import Callable

import yaml

from tools.course import classes, grade, rules, sandbox
from tools.course.assignment import COURSE, Assignment, Item, assignment
from tools.course.build import Builder, known
from tools.repository import ROOT, Json

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = HERE / "hostile"
CASES: dict[str, Json] = yaml.safe_load((FOLDER / "expected.yaml").read_text())
PAGE = ROOT / "docs" / "course_hostile.md"
SOLUTION = COURSE / "sgemm" / "01_coalesce" / "teacher" / "solution.cuh"
LIMITS = sandbox.Limits(compile_seconds=12, compile_megabytes=700, launch_seconds=5, all_seconds=10)
AT = {"m": 64, "n": 64, "k": 64}
ITEMS = (
    Item("builds", "builds", 5),
    Item("right", "right", 45, problems=(AT, {"m": 33, "n": 65, "k": 17, "alpha": 1.5, "beta": -0.5, "padded": True})),
    Item("clean", "clean", 10),
    Item("sectors", "count", 40, metric="global_load.sectors_per_request", full=2.6, none=8.0, at=AT),
)
build = pathlib.Path()
quick = False


def sgemm() -> Assignment:
    """With fewer problems than a student's."""
    return dataclasses.replace(assignment("sgemm/01_coalesce"), items=ITEMS)


def tries(name: str) -> str:
    """Its first line."""
    return (FOLDER / f"{name}.cuh").read_text().splitlines()[0].removeprefix("// ")


def written(data: bytes) -> Callable[[pathlib.Path], None]:
    return lambda path: path.write_bytes(data) and None


# What is handed in, but no text: what it is, how it is made, and what is said of it.
MADE: dict[str, tuple[str, Callable[[pathlib.Path], object], str]] = {
    "symbolic_link": ("is a link to the teacher's solution", lambda path: path.symlink_to(SOLUTION), "no plain file"),
    "pipe": ("is a named pipe, which nobody writes to", os.mkfifo, "no plain file"),
    "device": ("is a link to /dev/zero", lambda path: path.symlink_to("/dev/zero"), "no plain file"),
    "empty_folder": ("is a folder without the file", lambda path: path.mkdir(), "can't be read"),
    "folder_of_folders": (
        "is a folder, and the file in it, too",
        lambda path: (path / "kernel.cuh").mkdir(parents=True),
        "no plain file",
    ),
    "binary": ("is a program, and no text", written(b"\x7fELF\xff\xfe" * 100), "no UTF-8 text"),
    "zero_bytes": ("is a text with a zero byte", written(b"int i;\0int j;\n"), "zero byte"),
    "ten_megabytes": ("has 10 MB of text", written(b"// x\n" * (2 << 20)), "at most 8,000 are allowed"),
}
NAMES = (b"--trusted", b"-", b"new\nline", b"=1+1", b"class", b"class.csv", b"\xff\xfe", b"<b>bold", b"a" * 250, b"x..")


class Listener:
    """Counts who connects to a port of the machine."""

    def __init__(self) -> None:
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.connections = 0
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self) -> None:
        while True:
            self.socket.accept()[0].close()
            self.connections += 1


def still_running(mark: str) -> list[str]:
    """Processes that have this in their command."""
    found = []
    for file in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = file.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if mark in command and file.parent.name != str(os.getpid()):
            found.append(command)
    return found


def told(result: Json) -> str:
    return "\n".join(line for item in result["items"] for line in item["feedback"])


@unittest.skipIf(sandbox.works(), f"SKIPPED, NOT RUN: {sandbox.works()}")
class Hostile(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.assignment = sgemm()
        cls.good = Builder(build)
        cls.builders = {True: Builder(build, limits=LIMITS), False: Builder(build, limits=LIMITS, checked=False)}
        known(cls.builders[True], cls.assignment)  # once, for all threads
        cls.listener = Listener()
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="hostile-"))
        cls.mark = cls.folder / "written"
        tempfile.tempdir = str(cls.folder)  # for the grader, so that what it starts is known by it

    @classmethod
    def tearDownClass(cls) -> None:
        tempfile.tempdir = None
        shutil.rmtree(cls.folder)

    def grade(self, path: pathlib.Path, checked: bool) -> Json:
        return grade.grade(self.assignment, path, "secret", 2, self.builders[checked])

    def made(self, name: str) -> pathlib.Path:
        text = (FOLDER / f"{name}.cuh").read_text()
        for mark, value in {"@ROOT@": ROOT, "@MARK@": self.mark, "@PORT@": self.listener.port}.items():
            text = text.replace(mark, str(value))
        path = self.folder / f"{name}.cuh"
        path.write_text(text)
        return path

    def expect_good(self) -> None:
        """The next one has not suffered."""
        result = grade.grade(self.assignment, SOLUTION, "secret", 2, self.good)
        self.assertEqual(result["points"], 100, told(result))

    def test_texts(self) -> None:
        names = [name for name in CASES if not quick or CASES[name].get("quick")]
        half = len(names) // 2
        for part in (names[:half], names[half:]):
            files = {name: self.made(name) for name in part}  # once: it is read by two at a time
            runs = [(name, wall, files[name]) for name in part for wall in ("rules", "walls") if wall in CASES[name]]
            with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
                results = list(pool.map(lambda run: self.grade(run[2], run[1] == "rules"), runs))
            for (name, wall, _), result in zip(runs, results):
                with self.subTest(name, wall=wall):
                    _, most, reason = CASES[name][wall]
                    self.assertLessEqual(result["points"], most, told(result))
                    self.assertRegex(told(result), re.compile(reason, re.S))
                    self.assertNotIn("with status 42", told(result))  # they end with it if they have succeeded
            self.expect_good()
        self.assertFalse(self.mark.exists(), "a submission has written outside")
        self.assertEqual(self.listener.connections, 0, "a submission has connected")
        time.sleep(0.5)  # for a process that has been killed
        self.assertEqual(still_running(str(self.folder)), [])

    def test_files(self) -> None:
        for name, (_, make, reason) in MADE.items():
            with self.subTest(name):
                path = self.folder / name
                make(path)
                result = self.grade(path, True)
                self.assertLessEqual(result["points"], 5)
                self.assertIn(reason, told(result))

    def test_names(self) -> None:
        """Of submissions in a class: each is graded, and nothing is written but into the folder for results."""
        folder, out = self.folder / "class", self.folder / "results"
        folder.mkdir()
        for name in NAMES:
            pathlib.Path(os.fsdecode(os.fsencode(folder) + b"/" + name)).write_text("#include <fork>\n")
        before = {path for path in self.folder.iterdir()}
        with contextlib.redirect_stdout(io.StringIO()) as said:
            ended = classes.grade_class(self.assignment, folder, out, "secret", 1, self.good)
        self.assertEqual(ended, 0, said.getvalue())
        self.assertEqual({path for path in self.folder.iterdir()} - before, {out})
        pages = [json.loads(path.read_text()) for path in out.glob("*.json")]
        self.assertEqual([page["points"] for page in pages], [5] * len(NAMES))
        rows = list(csv.DictReader(io.StringIO((out / "class.csv").read_text())))
        self.assertEqual(len(rows), len(NAMES))
        self.assertFalse([row for row in rows if row["submission"][:1] in "=+-@"])


class Data(unittest.TestCase):
    def test_words(self) -> None:
        """What CUDA's names have in common is no hole for others."""
        for word in ("__syncthreads", "__shared__", "__hfma2", "__half2float", "__fmaf_rn", "__ldg", "__shfl_xor_sync"):
            self.assertRegex(word, rules.CUDA)
        for word in (
            "__has_include",
            "__attribute__",
            "__asm__",
            "__builtin_memcpy",
            "__sync_fetch_and_add",
            "_mm_stream_ps",
        ):
            self.assertIsNone(rules.CUDA.fullmatch(word), word)

    def test_each_is_expected(self) -> None:
        self.assertEqual({path.stem for path in FOLDER.glob("*.cuh")}, set(CASES))
        self.assertGreaterEqual(len(CASES), 40)
        for name in CASES:
            self.assertTrue((FOLDER / f"{name}.cuh").read_text().startswith("// "), name)

    def test_the_page_has_the_table(self) -> None:
        self.assertEqual(with_table(PAGE.read_text()), PAGE.read_text(), "python3 tests/course/test_hostile.py --write")


def table() -> str:
    """For the page: what each tries, and what stops it."""
    lines = ["| submission | what it does | stopped by | points | without the rules, stopped by | points |"]
    lines.append("|---|---|---|---:|---|---:|")
    for name, case in CASES.items():
        by, most, _ = case["rules"]
        wall, most_so, _ = case.get("walls", ("", "", ""))
        lines.append(f"| `{name}` | {tries(name)} | {by} | {most} | {wall} | {most_so} |")
    for name, (what, _, _) in MADE.items():
        lines.append(f"| {name.replace('_', ' ')} | {what} | plain files only | 0 | | |")
    return "\n".join(lines) + "\n"


def with_table(page: str) -> str:
    before, _, after = re.split(
        r"(?<=<!-- table of hostile submissions -->\n\n)(.*)(?=\n<!-- end of the table -->)", page, flags=re.S
    )
    return before + table() + after


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    if "--write" in sys.argv:
        PAGE.write_text(with_table(PAGE.read_text()))
    elif words:
        build, quick = pathlib.Path(words[0]).resolve(), "--quick" in sys.argv
        unittest.main(argv=sys.argv[:1], verbosity=2)
    else:
        sys.exit(__doc__)
