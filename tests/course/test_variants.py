#!/usr/bin/env python3
"""Variants of assignments: who has which, what their files say, what is refused, and how they are graded.

usage: test_variants.py [BUILD]

BUILD   the build folder of the preset cpu; without it only what needs no program is tested
"""

from __future__ import annotations

import collections
import contextlib
import csv
import io
import itertools
import json
import pathlib
import re
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
try:
    from tools.course import __main__ as grade_command
    from tools.course import commands, grade, rules, sandbox, similarity, variants
    from tools.course.assignment import Assignment, assignment, assignments, load
    from tools.course.build import Builder
    from tools.course.selftest import solution_of

    NO_COURSE = ""
except SystemExit:
    NO_COURSE = "SKIPPED, NOT RUN: no PyYAML"

BUILD = ""
ONE = "sgemm/02_tile"
WITHOUT = "sgemm/01_coalesce"


def command(module, *arguments: object) -> tuple[int, str, str]:
    """Exit status, and what it printed."""
    with (
        mock.patch.object(sys, "argv", ["lab", *map(str, arguments)]),
        contextlib.redirect_stdout(io.StringIO()) as out,
        contextlib.redirect_stderr(io.StringIO()) as error,
    ):
        try:
            status = module.main()
        except SystemExit as end:
            status = end.code
    return status, out.getvalue(), error.getvalue()


def student_with(base: Assignment, number: int, secret: str = "s") -> str:
    return next(f"s{i}" for i in itertools.count() if variants.number_of(base, secret, f"s{i}") == number)


class Variants(unittest.TestCase):
    def setUp(self) -> None:
        if NO_COURSE:
            self.skipTest(NO_COURSE)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def names(self, *names: str) -> pathlib.Path:
        file = self.folder / "names"
        file.write_text("\n".join(names) + "\n")
        return file

    def refused(self, call, *arguments: object) -> str:
        with contextlib.redirect_stderr(io.StringIO()) as error, self.assertRaises(SystemExit) as end:
            call(*arguments)
        self.assertEqual((end.exception.code, error.getvalue().count("\n")), (2, 1), error.getvalue())
        return error.getvalue()


class Drawn(Variants):
    def test_the_same_for_the_same_secret_and_name(self) -> None:
        base = assignment(ONE)
        # From release to release, too: a class is graded for a whole term.
        self.assertEqual([variants.number_of(base, "secret", name) for name in ("alice", "bob", "eve")], [5, 8, 7])
        self.assertEqual(variants.number_of(base, "s", "Zoe\u0308"), variants.number_of(base, "s", "Zo\u00eb "))

    def test_by_secret_name_and_assignment(self) -> None:
        def drawn(name: str, secret: str) -> list[int]:
            return [variants.number_of(assignment(name), secret, f"s{i}") for i in range(100)]

        rows = [drawn(ONE, "a"), drawn(ONE, "b"), drawn("tsm/01_split_k", "a")]
        for one, other in itertools.combinations(rows, 2):
            self.assertLess(sum(x == y for x, y in zip(one, other)), 40)

    def test_about_as_many_of_each(self) -> None:
        base = assignment(ONE)
        found = collections.Counter(variants.number_of(base, "s", f"student {i}") for i in range(1600))
        self.assertEqual(set(found), set(range(1, variants.count(base) + 1)))
        for number, count in found.items():
            self.assertTrue(140 < count < 260, f"variant {number}: {count} of 1600")  # 200 and 4.5 deviations

    def test_a_neighbour_differs_in_one_parameter(self) -> None:
        base = assignment(ONE)
        differing = set()
        for number in range(1, variants.count(base) + 1):
            mine, other = (variants.chosen(base, n) for n in (number, variants.neighbour(base, number)))
            names = [name for name in mine if mine[name] != other[name]]
            self.assertEqual(len(names), 1)
            differing |= set(names)
        self.assertEqual(differing, set(base.variants))


class Texts(Variants):
    def test_each_track_has_some(self) -> None:
        found = [one for one in assignments() if one.variants]
        self.assertLessEqual({"sgemm", "tsm", "tensorcore"}, {one.folder.parent.name for one in found})
        self.assertGreaterEqual(len(found), 4)
        for base in found:
            self.assertGreaterEqual(variants.count(base), 6)

    def test_each_is_a_whole_assignment(self) -> None:
        for base in assignments():
            for one in variants.all_of(base) if base.variants else ():
                with self.subTest(one.title):
                    self.assertEqual((one.id, one.graded()), (base.id, 100))
                    for name in one.files:
                        self.assertIn(f'#include "{name}"\n', one.contract.read_text())
                    text = (one.folder / "assignment.md").read_text()
                    self.assertEqual(text.count("<!-- points -->"), 1)
                    self.assertIn(f"--variant {one.variant}\n", text)
                    self.assertLessEqual(max(len(line) for line in text.splitlines() if line[:1] != "|"), 120)
                    self.assertNotIn("LAYOUT", one.contract.read_text())
                    for path in (solution_of(one), *(one.folder / "skeleton").iterdir()):
                        rules.check_text(one, one.files[0], path.read_text())

    def test_the_first_is_the_assignment_as_it_stands(self) -> None:
        for base in assignments():
            first = variants.variant(base, 1)
            self.assertEqual(first.digest(), base.digest())
            self.assertEqual(solution_of(first).read_text(), solution_of(base).read_text())

    def test_hidden_problems_are_the_variants(self) -> None:
        """In the last block of these sizes some warps have no element of C."""
        for number, (m, n) in {1: ([65, 111], [33, 47]), 5: ([33, 47], [65, 111])}.items():
            one = variants.variant(assignment("tensorcore/01_wmma"), number)
            item = next(item for item in one.items if item.name == "any size")
            self.assertEqual((item.hidden["m"], item.hidden["n"]), (m, n))

    def test_no_two_are_the_same(self) -> None:
        for base in assignments():
            for part in ("contract", "solution", "skeleton", "assignment"):
                texts = collections.Counter()
                for one in variants.all_of(base) if base.variants else ():
                    file = {
                        "contract": one.contract,
                        "solution": solution_of(one),
                        "skeleton": one.folder / "skeleton" / one.files[0],
                        "assignment": one.folder / "assignment.md",
                    }[part]
                    texts[re.sub(r"variant( is number)? \d+", "", file.read_text())] += 1
                self.assertLessEqual(set(texts.values()), {1}, f"{base.id}: {part}")

    def test_long_lines_are_filled_anew(self) -> None:
        code = f"int i;  // {'x ' * 70}\n"
        text = f"  // {'word ' * 29}word\n  // more\n\n//   (i, j)\n{code}"
        found = variants.refilled(text, r" *// ")
        self.assertEqual((found.count("word"), max(map(len, found.splitlines()[:2])) <= 120), (30, True))
        self.assertTrue(found.endswith(f"\n  // {'word ' * 7}more\n\n//   (i, j)\n{code}"), found)
        item = variants.refilled(f"- {'word ' * 29}word\n  more\n- next", "- ")
        self.assertTrue(item.endswith("\n  word word word word word word word more\n- next"), item)


class Refused(Variants):
    def written(self, rubric: str, rules_of_variants: str) -> Assignment:
        """A copy of an assignment, with these."""
        folder = self.folder / "sgemm" / "02_tile"
        base = assignment(ONE)
        for name in ("rubric.yaml", base.contract.name, "assignment.md"):
            (folder / "teacher").mkdir(parents=True, exist_ok=True)
            (folder / name).write_text((base.folder / name).read_text())
        text = (folder / "rubric.yaml").read_text()
        (folder / "rubric.yaml").write_text(re.sub(r"variants:\n(  .*\n)*", rubric, text))
        (folder / "teacher" / "variants.yaml").write_text(rules_of_variants)
        return load(folder)

    def test_rubrics(self) -> None:
        for said, reason in (
            ("variants: [a]\n", "takes parameters"),
            ("variants: {tile: 8}\n", "takes parameters"),
            ("variants: {tile: [8]}\n", "two choices or more"),
            ("variants: {tile: [8, 8]}\n", "each once"),
        ):
            with self.subTest(said):
                self.assertIn(reason, self.refused(self.written, said, ""))

    def test_what_reads_otherwise(self) -> None:
        for said, reason in (
            ("a: b", "a list of entries"),
            ("- {when: {tile: b}}", "when and replace"),
            ("- {when: {}, replace: {x: y}}", "when takes"),
            ("- {when: {tile: c}, replace: {x: y}}", "no choice 'tile: c'"),
            ("- {when: {tail: b}, replace: {x: y}}", "no choice 'tail: b'"),
            ("- {when: {tile: b}, replace: [x]}", "replace takes"),
            ("- {when: {tile: b}, replace: {x: 1}}", "replace takes"),
            ("- {when: {tile: a}, replace: {x: y}}", "nothing differs for 'tile: b'"),
            ("- {when: {tile: b}, replace: {nowhere at all: y}}", "no file has the text 'nowhere at all'"),
            ("- {", "variants.yaml"),
        ):
            with self.subTest(said):
                base = self.written("variants: {tile: [a, b]}\n", said)
                self.assertIn(reason, self.refused(variants.variant, base, 2))

    def test_names(self) -> None:
        for text, reason in (
            (b"", "has no names"),
            (b"\n \n", "has no names"),
            (b"a\nb\na\n", "'a' twice"),
            (b"Zo\xc3\xab\nZoe\xcc\x88\n", "twice"),
            (b"../a\n", "the name of a folder"),
            (b".\n", "the name of a folder"),
            (b"a\0b\n", "the name of a folder"),
            (b"\xff\n", "no text"),
        ):
            with self.subTest(text):
                (self.folder / "names").write_bytes(text)
                self.assertIn(reason, self.refused(variants.names_in, str(self.folder / "names")))
        self.assertIn("can't read", self.refused(variants.names_in, str(self.folder / "none")))

    def test_usage(self) -> None:
        names, file = self.names("a"), ROOT / "README.md"
        for arguments, said in (
            ([ONE, file, "--variant", 9], "variants 1 to 8"),
            ([ONE, file, "--variant", 0], "variants 1 to 8"),
            ([ONE, file, "--variant", "x"], "--variant"),
            ([WITHOUT, file, "--variant", 1], "no variants"),
            ([ONE, file, "--variant", 1, "--student", "a"], "takes --variant or --student"),
            ([ONE, file, "--variants-of", names], "for a --class"),
            ([ONE, file, "--student", ""], "--student takes a name"),
            ([ONE, "--class", ROOT / "docs", "--out", "x", "--variant", 1], "a class --variants-of"),
            ([ONE, "--class", ROOT / "docs", "--out", "x", "--student", "a"], "a class --variants-of"),
            ([ONE, "--class", ROOT / "docs", "--out", "x", "--variants-of", "none"], "can't read none"),
        ):
            with self.subTest(arguments):
                status, out, error = command(grade_command, *arguments, "--only-options")
                self.assertEqual((status, out, error.count("\n")), (2, "", 1), error)
                self.assertIn(said, error)
        for module, arguments in (
            (grade_command, [ONE, file, "--student", "a"]),
            (commands, ["export", "--students", self.folder / "x", "--variants-of", names]),
        ):
            status, _, error = command(module, *arguments)
            self.assertEqual((status, "drawn from the teacher's secret" in error), (2, True), error)
        status, _, error = command(commands, "list", "--variants-of", names)
        self.assertEqual((status, error), (2, "error: --variants-of and the secret are for export\n"))
        self.assertFalse((self.folder / "x").exists())


class Handout(Variants):
    def test_each_student_gets_the_own_variant(self) -> None:
        target = self.folder / "handout"
        arguments = ["export", ONE, WITHOUT, "--students", target, "--variants-of", self.names("alice", "bob b")]
        status, said, error = command(commands, *arguments, "--secret", "secret")
        self.assertEqual((status, said), (0, f"wrote 2 assignments for 2 students to {target}\n"), error)
        self.assertEqual({path.name for path in target.iterdir()}, {"alice", "bob b", "variants.csv"})
        with (target / "variants.csv").open(newline="") as table:
            of_students = {row["student"]: (row["assignment"], int(row["variant"])) for row in csv.DictReader(table)}
        self.assertEqual(of_students.keys(), {"alice", "bob b"})
        self.assertFalse([path for path in target.rglob("*") if path.stem in ("teacher", "solution", "wrong")])
        for who in ("alice", "bob b"):
            own = variants.of_student(assignment(ONE), "secret", who)
            self.assertEqual(of_students[who], (ONE, own.variant))
            folder = target / who / ONE
            self.assertEqual((folder / own.contract.name).read_text(), own.contract.read_text())
            self.assertEqual((folder / "rubric.yaml").read_text(), (own.folder / "rubric.yaml").read_text())
            self.assertIn(f"kernel.cuh --variant {own.variant}\n", (folder / "assignment.md").read_text())
            skeleton = (folder / "skeleton" / "kernel.cuh").read_text()
            self.assertEqual(skeleton, (own.folder / "skeleton" / "kernel.cuh").read_text())
            self.assertNotIn("--variant", (target / who / WITHOUT / "assignment.md").read_text())


class Similar(Variants):
    def shares(self, base: Assignment, submissions: dict[str, str]) -> dict[tuple[str, str], float]:
        with mock.patch.object(similarity, "public_texts", dict):
            return {(pair.one, pair.other): pair.share for pair in similarity.pairs(base, submissions)}

    def test_a_copy_adapted_to_another_variant(self) -> None:
        for base in assignments():
            own = {one.variant: solution_of(one).read_text() for one in variants.all_of(base) if base.variants}
            copies = {}
            for number, text in own.items():
                copy = re.sub(r"\b(sum|row|col|first|warp|x|y)\b", r"my_\1", text)
                copies[f"copy {number}"] = re.sub(r"\b(16|32|64|8)\b", "48", copy)
            found = self.shares(base, {str(number): text for number, text in own.items()} | copies)
            for number in own:
                with self.subTest(base.id, number=number):
                    self.assertGreater(found[str(number), f"copy {variants.neighbour(base, number)}"], 0.5)

    def test_what_everybody_got_counts_for_nobody(self) -> None:
        for base in assignments():
            given = {one.title: (one.folder / "skeleton" / "kernel.cuh").read_text() for one in variants.all_of(base)}
            self.assertEqual(self.shares(base, given), {})


class Graded(Variants):
    def setUp(self) -> None:
        super().setUp()
        why = sandbox.works() if BUILD else "SKIPPED, NOT RUN: needs a build of the preset cpu"
        if why:
            self.skipTest(why)
        self.base = assignment(ONE)

    def told(self, result: dict) -> str:
        return "\n".join(line for item in result["items"] for line in item["feedback"])

    def test_a_student(self) -> None:
        number = 7
        who = student_with(self.base, number)
        file, out = self.folder / "kernel.cuh", self.folder / "grade.json"
        file.write_text(solution_of(variants.variant(self.base, number)).read_text())
        for chosen in (["--student", who, "--secret", "s"], ["--variant", number]):
            status, said, error = command(grade_command, ONE, file, "--build", BUILD, "--json", out, *chosen)
            self.assertEqual(status, 0, error)
            result = json.loads(out.read_text())
            self.assertEqual((result["points"], result["variant"], result["looks_like"]), (100, number, 0))
            self.assertIn("variant 7 of 8 (numbers: FP16, layout: A in columns, blocks: row by row)", said)
        status, said, _ = command(grade_command, ONE, file, "--build", BUILD)
        self.assertEqual(said.splitlines()[0], f"{ONE}: {self.base.title}")
        self.assertEqual(said.splitlines()[-1], "Graded as variant 1 of 8: if yours is another one, --variant N")
        self.assertNotIn(str(ROOT), said)
        self.assertIn("    0 of 100  in all", said)  # FP16 numbers, where the assignment has FP32

    def test_a_class(self) -> None:
        given, out = self.folder / "in", self.folder / "out"
        given.mkdir()
        names = {number: student_with(self.base, number) for number in (1, 2, 3, 8)}
        solutions = {one.variant: solution_of(one).read_text() for one in variants.all_of(self.base)}
        (given / f"{names[1]}.cuh").write_text(solutions[1])
        (given / names[8]).mkdir()
        (given / names[8] / "kernel.cuh").write_text(solutions[8])
        (given / f"{names[2]}.cuh").write_text(solutions[3])  # runs, and is wrong
        (given / f"{names[3]}.cuh").write_text("nonsense\n" + solutions[1])
        arguments = [ONE, "--class", given, "--out", out, "--secret", "s", "--build", BUILD]
        arguments += ["--variants-of", self.names("somebody else", *names.values())]
        status, said, error = command(grade_command, *arguments)
        self.assertEqual(status, 0, error)
        rows = {row["submission"]: row for row in csv.DictReader(io.StringIO((out / "class.csv").read_text()))}
        points = {number: float(rows[f"{names[number]}.cuh"]["points"]) for number in (1, 2, 3)}
        self.assertEqual((points[1], points[3], float(rows[names[8]]["points"])), (100, 0, 100))
        self.assertLess(points[2], 30)
        self.assertEqual({rows[f"{names[n]}.cuh"]["variant"] for n in (1, 2, 3)}, {"1", "2", "3"})
        self.assertEqual([row["looks_like"] for row in rows.values() if row["looks_like"]], ["3"])
        page = (out / f"{names[2]}.cuh.html").read_text()
        self.assertIn("variant 2 of 8", page)
        self.assertIn("another variant&#x27;s solution", page)
        self.assertFalse([name for number, name in names.items() if number != 2 and f"{name}." in page])
        self.assertIn("4 submissions, 0 graded now", command(grade_command, *arguments)[1])
        (given / "alice_2.cuh").write_text(solutions[1])
        status, said, error = command(grade_command, *arguments)
        self.assertEqual((status, error.count("\n"), "alice_2.cuh" in error), (2, 1, True), error)

    def test_the_same_in_each_run(self) -> None:
        """Threads that gave memory back were ended, now and then: FP16 matrices make the most of that."""
        own = variants.variant(self.base, 5)
        builder = Builder(pathlib.Path(BUILD).resolve())
        results = [grade.grade(own, solution_of(own), "s", 1, builder) for _ in range(4)]
        self.assertEqual([result["points"] for result in results], [100] * 4, self.told(results[-1]))

    def test_what_does_not_fit_the_contract(self) -> None:
        """Another tile. And a submission that does not compile by itself is not tried on all variants."""
        base = assignment("tensorcore/01_wmma")
        own, other = (variants.variant(base, number) for number in (1, 5))
        builder = Builder(pathlib.Path(BUILD).resolve())
        result = grade.grade(own, solution_of(other), "s", 0, builder, others=[own, other])
        self.assertEqual((result["points"], result["looks_like"]), (0, 5), self.told(result))
        self.assertTrue(self.told(result).startswith(grade.LOOKS_LIKE), self.told(result))
        file = self.folder / "kernel.cuh"
        file.write_text("nonsense;\n" + solution_of(other).read_text())
        with mock.patch.object(grade, "is_right_for", side_effect=AssertionError):
            result = grade.grade(own, file, "s", 0, builder, others=[own, other])
        self.assertEqual((result["points"], result["looks_like"]), (0, 0))


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if arguments and not arguments[0].startswith("-"):
        BUILD = arguments.pop(0)
    unittest.main(argv=[sys.argv[0], *arguments])
