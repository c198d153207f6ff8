#!/usr/bin/env python3
"""./lab exercise: without BIN what it reads and what it refuses; with BIN each exercise by its commands.

usage: test_exercises.py [BIN]

BIN     the programs of a build for the CPU executor. Each number is counted, and compared with what the page's fold
        states. The right answer is accepted, wrong ones are rejected, and nothing that is printed has the answer.
        With GEMM_SHARE=P/N in the environment every N-th exercise, from the P-th on
"""

import contextlib
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

from tools.exercise import __main__ as command
from tools.exercise import catalogue, compute
from tools.exercise.expression import NotUnderstood, evaluate, typed_number
from tools.exercise.hints import close
from tools.repository import ROOT, relative

NUMBER = re.compile(r"(?<![\w.])(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?!\w|[.,]\d)")
QUOTIENT = re.compile(r"(?<![\w./])(\d+) / (\d+)(?!\w|\.\d|/)")
bin_folder = None  # set at the bottom, from the command line


def numbers_in(text):
    found = [float(match[0].replace(",", "")) for match in NUMBER.finditer(text)]
    return found + [int(match[1]) / int(match[2]) for match in QUOTIENT.finditer(text) if int(match[2])]


def states(text, answer, within):
    """Whether a text has this answer."""
    if isinstance(answer, str):
        return answer.lower() in text.lower()
    return any(close(number, answer, within) for number in numbers_in(text))


def exercise(*arguments, programs="nosuch"):
    """Exit status, standard output and standard error of the command, in this process."""
    out, error = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["exercise", "--bin", str(programs), *arguments]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(error),
    ):
        try:
            status = command.main()
        except SystemExit as end:
            status = end.code
    return status, out.getvalue(), error.getvalue()


class Reading(unittest.TestCase):
    def test_numbers(self):
        for text, number in {
            "48": 48, " 0.25 ": 0.25, ".5": 0.5, "3/4": 0.75, "2^20": 2**20, "2**20": 2**20, "12.5 %": 0.125,
            "5%": 0.05, "1,048,576": 2**20, "1 048 576": 2**20, "1_000": 1000, "1,024.5": 1024.5, "8 x 32": 256,
            "8x32": 256, "3 · 4": 12, "−3": -3, "-3": -3, "1e6": 1e6, "(1 + 2) * 3": 9,
        }.items():  # fmt: skip
            self.assertEqual(typed_number(text, ""), number, text)
        self.assertEqual(typed_number("12.5 %", "%"), 12.5)
        self.assertEqual(typed_number("12.5", "%"), 12.5)
        self.assertEqual(typed_number("48 bytes", "bytes"), 48)
        self.assertEqual(typed_number("48 KB", "bytes"), 49152)

    def test_no_numbers(self):
        for text in (
            "", " ", "abc", "0,5", "1,2,3", "nan", "inf", "1e999", "9**9**9**9", "1/0", "(-8)^(1/3)", "True", "1j",
            "[1]", "'1'", "1 if 1 else 2", "__import__('os')", "(" * 50, "1" * 1000, "\0", "5 bytes", "%", "1;2", "--",
            "max(1, 2)",
        ):  # fmt: skip
            with self.assertRaises(NotUnderstood, msg=text):
                typed_number(text, "")

    def test_expressions(self):
        names = {
            "counts": {"loads": 6},
            "lines": [{"n": 1, "kind": "a"}, {"n": 5, "kind": "b"}],
            "text": ["4 7", "1 9"],
        }
        for text, value in {
            "counts.loads / 4": 1.5,
            'counts["loads"] % 4': 2,
            "max([each.n for each in lines])": 5,
            '[each.n for each in lines if each.kind == "b"][0]': 5,
            '[each.n for each in lines if "n" in each][1]': 5,
            "holder(text, 9)": 1,
            "place(text[1], 9)": 1,
            "number(text[0], 1)": 7,
            "len(lines)": 2,
        }.items():
            self.assertEqual(evaluate(text, names), value, text)
        for text in ("nosuch", "counts.nosuch", "lines[2]", "counts.loads.n", "1 +", "open('x')", "counts.__class__"):
            with self.assertRaises(NotUnderstood, msg=text):
                evaluate(text, names)


class Catalogue(unittest.TestCase):
    def test_there_are_many_of_each_family(self):
        names = list(catalogue.exercises())
        self.assertGreaterEqual(len(names), 60)
        for family in ("tsm/", "tensorcore/"):
            self.assertGreaterEqual(sum(name.startswith(family) for name in names), 10)

    def test_no_answer_is_typed(self):
        for each in catalogue.exercises().values():
            for program in map(catalogue.program_of, each.commands):
                self.assertTrue(program)
            for answer in each.answers:
                with self.assertRaises(NotUnderstood, msg=f"{each.id}: {answer} needs no command"):
                    evaluate(answer, {"none": 0})

    def test_entries_that_are_refused(self):
        good = {"asks": "x", "command": "run 02", "answer": "counts.fma32"}
        catalogue.exercise_of("02.1", good)
        for name, entry in (
            ("02.1", 3),
            ("02.1", {**good, "nosuch": 1}),
            ("02.99", good),
            ("77.1", good),
            ("nosuch/02.1", good),
            ("02.1", {"asks": "x", "command": "run 02"}),
            ("02.1", {"asks": "x", "answer": "1"}),
            ("02.1", {**good, "command": ""}),
        ):
            with self.assertRaises(catalogue.Wrong, msg=f"{name}: {entry}"):
                catalogue.exercise_of(name, entry)

    def test_every_exercise_has_its_answer_in_a_fold(self):
        for family in catalogue.FAMILIES.values():
            for page in (ROOT / "docs" / family).glob("[0-9]*.md"):
                for number, (_, fold) in catalogue.asked_on(page).items():
                    self.assertTrue(fold.strip(), f"{relative(page)}: exercise {number}")


class Command(unittest.TestCase):
    def test_lists(self):
        status, out, _ = exercise()
        self.assertEqual((status, len(out.splitlines())), (0, len(catalogue.exercises())))
        status, out, _ = exercise("tsm/12")
        self.assertEqual((status, [line.split()[0] for line in out.splitlines()]), (0, ["tsm/12.2", "tsm/12.3"]))

    def test_refusals(self):
        for arguments, said in (
            (["nosuch"], "no exercise"),
            (["no\nsuch"], "no exercise"),
            (["17a"], "no exercise of 17a"),
            (["02.99", "1"], "no exercise"),
            (["2.1", "1"], "there is"),
            (["03.1", "1"], "not answered by a number"),
            (["02.1", "abc"], "can't read 'abc'"),
            (["02.1", "0,5"], "with a point"),
            (["02.1", "a\nb\x1b"], "can't read"),
            (["06a.3", "1"], "asks for two numbers"),
            (["06a.3", "1", "2", "3"], "asks for two numbers"),
            (["tensorcore/08.1", "39.5", "KiB"], "asks for two numbers"),
            (["02.5", "the moon"], "is none of"),
            (["02.1", "3"], "no program"),
            (["--nosuch"], "nosuch"),
        ):
            status, out, error = exercise(*arguments)
            self.assertEqual((status, out, len(error.splitlines())), (2, "", 1), f"{arguments}: {error}")
            self.assertIn(said, error)

    def test_lab(self):
        """Nothing is built for what needs no program."""
        for arguments, status in (
            (["tsm/13b"], 0),
            (["02.1"], 0),
            (["--help"], 0),
            (["02.1", "abc"], 2),
            (["99.1"], 2),
        ):
            done = subprocess.run([ROOT / "lab", "exercise", *arguments], text=True, capture_output=True)
            self.assertEqual(done.returncode, status, f"{arguments}: {done.stderr}")
            self.assertEqual(len(done.stderr.splitlines()), 1 if status else 0, done.stderr)

    def test_a_program_runs_once(self):
        with tempfile.TemporaryDirectory() as folder:
            programs = pathlib.Path(folder, "bin")
            programs.mkdir()
            gemm, log = programs / "gemm", pathlib.Path(folder, "log")

            def write(text):
                gemm.write_text(f"#!/bin/sh\necho x >> {log}\nwhile [ $1 != --json ]; do shift; done\n{text}\n")
                gemm.chmod(0o755)

            write("""echo '{"counts": {"global_load": {"sectors": 7000, "requests": 1000}}}' > $2""")
            for answer, status, said in (
                ("7", 0, "right"),
                ("6.99", 0, "right"),
                ("6", 1, "not right"),
                ("14", 1, "factor of two"),
                ("0.21875", 1, "lanes of a warp"),
                ("-7", 1, "sign"),
                ("5", 1, "B's load alone"),
            ):
                got, out, error = exercise("02.1", answer, programs=programs)
                self.assertEqual((got, error), (status, ""), out)
                self.assertIn(said, out)
            self.assertEqual(log.read_text(), "x\n", "ran more than once")
            for text in ("echo no > $2", "exit 2", "exit 0", "echo '{}' > $2", "echo [] > $2"):
                write(f"{text} # so that its size differs: {len(text)}")
                status, out, error = exercise("02.1", "7", programs=programs)
                self.assertEqual((status, out, len(error.splitlines())), (2, "", 1), f"{text}: {out}{error}")


class Answers(unittest.TestCase):
    """By their commands."""

    def said_nothing(self, each, said, right):
        for text in (each.question, relative(each.page), each.id, *each.commands):
            said = said.replace(text, "")
        for answer in right:
            self.assertFalse(states(said, answer, min(each.within, 0.002)), f"{each.id} says its answer: {said}")

    def test_each(self):
        if not bin_folder:
            self.skipTest("no programs were named")
        part, parts = map(int, os.environ.get("GEMM_SHARE", "1/1").split("/"))
        for each in list(catalogue.exercises().values())[part - 1 :: parts]:
            with self.subTest(each.id):
                self.check(each)

    def check(self, each):
        results = compute.Results(each, bin_folder)
        right = [results.take(answer) for answer in each.answers]
        for answer in right:
            self.assertTrue(states(each.fold, answer, max(each.within, 0.001)), f"the page's fold: {answer}")
        if each.choices:
            self.assertIn(right[0], each.choices)
            typed, wrong = right, [[choice] for choice in each.choices if choice != right[0]]
        else:
            self.said_nothing(each, exercise(each.id)[1], right)
            self.said_nothing(each, each.asks, right)
            typed = [f"{answer:,.12g}" for answer in right]
            wrong = [[f"{3 * answer + 1:.12g}" for answer in right], [f"{2 * answer:.12g}" for answer in right]]
            if len(right) > 1 and not close(right[0], right[1], 0.02):
                wrong += [[typed[1], typed[0], *typed[2:]], [typed[0], *["77777"] * (len(right) - 1)]]
        self.assertEqual(exercise(each.id, *typed, programs=bin_folder)[0], 0, "the right answer")
        for answers in wrong:
            status, out, error = exercise(each.id, *answers, programs=bin_folder)
            self.assertEqual((status, error), (1, ""), f"{answers} is accepted")
            if not each.choices:
                self.said_nothing(each, out, right)
        for expression, hint in each.mistakes.items():
            taken = results.take(expression)
            answers = [taken if each.choices else f"{taken:.12g}"] * len(right)
            status, out, _ = exercise(each.id, *answers, programs=bin_folder)
            self.assertEqual((status, hint in out), (1, True), f"'{expression}' = {taken}: {out}")
            if not each.choices:
                self.said_nothing(each, out, right)


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-") and pathlib.Path(sys.argv[1]).is_dir():
        bin_folder = pathlib.Path(sys.argv.pop(1)).resolve()
        unittest.main(argv=[sys.argv[0], *(sys.argv[1:] or ["Answers"])])
    unittest.main()
