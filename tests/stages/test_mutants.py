#!/usr/bin/env python3
"""Plants one small mistake at a time in a kernel, and asks which tests reject it: the quick tier must reject nearly all
that the full tier rejects. (Some mutants are equivalent to the kernel as it is, so neither rejects them; they count for
nothing.)

A mutant is a file, a line and an operator: stages/07_register_tile.cu:64, alpha dropped. They are drawn from a seed,
the same on every machine. Each is compiled alone, linked with the objects of the build's own test program in the place
of its stage, and run with the quick tier's tests of that stage, and if these pass with the full tier's. One that does
not compile is replaced by the next one drawn.

The full tier is all tests of the stage. Quick are those with CTest's label `quick`, and those that QUICK names, which
are what `./lab check --quick` goes through: the quick tier runs it for every stage.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import functools
import json
import os
import pathlib
import random
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
# In front of a compiler's command, as in the build: compiles <<<...>>>, too.
LAUNCHER = [sys.executable, "-B", str(ROOT / "common/cmake/compile_kernels.py")]
QUICK = re.compile(r"Representative|InfinityAndNan")
TRIES = 25  # mutants drawn for one that compiles
# Seconds until a test program counts as one that loops for ever. A header of generated kernels is compiled by the
# tests.
QUICK_LIMIT, FULL_LIMIT, TIMES_FOR_GENERATED = 60, 900, 5
PROGRAMS = {"stages": "test_stages", "tensorcore": "test_stages", "tsm": "test_tsm"}


# ---- the source: what is code of a kernel


def blanked(text):
    """The text with comments, strings, preprocessor lines and static_asserts as spaces: offsets and lines stay."""

    def blank(match):
        return re.sub(r"[^\n]", " ", match.group())

    text = re.sub(
        r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', blank, text, flags=re.S | re.M
    )
    for match in re.finditer(r"\bstatic_assert\s*\(", text):
        end = closing(text, match.end() - 1)
        text = text[: match.start()] + re.sub(r"[^\n]", " ", text[match.start() : end]) + text[end:]
    return text


PAIRS = {"(": ")", "[": "]", "{": "}"}


def closing(code, at):
    """Behind the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(code)):
        if code[i] in "([{":
            depth += 1
        elif code[i] in ")]}":
            depth -= 1
            if depth == 0:
                return i + 1
    raise ValueError("unbalanced brackets")


def kernel_code(code):
    """The spans of the bodies of functions for the device, of which one may contain others, without repetition; with
    each the begin of its declaration."""
    spans = []
    for match in re.finditer(r"__(?:global|device)__", code):
        if spans and match.start() < spans[-1][2]:
            continue
        at = match.end()
        while at < len(code) and code[at] not in "{;":
            at = closing(code, at) if code[at] in "([" else at + 1
        if at < len(code) and code[at] == "{":
            spans.append((match.start(), at, closing(code, at)))
    return spans


# ---- operators: each yields (begin, end, replacement) for a body of a function

NAME = r"[A-Za-z_]\w*(?:(?:\.|->|::)\w+)*"


def uses(code, word):
    """Of a variable: not where it is declared."""
    for match in re.finditer(rf"(?<![\w.>])(?:\w+(?:\.|->))*{word}\b", code):
        before = code[: match.start()].rstrip()
        if not re.search(r"(?:\b(?:float|double|T|Number|auto|int|unsigned|int64_t)|[*&])$", before) or before.endswith(
            ("&&", " *")
        ):
            yield match


def scale_dropped(word, code):
    for match in uses(code, word):
        if not re.match(r"\s*(?:[=!]=|\))", code[match.end() :]) or code[: match.start()].rstrip().endswith(","):
            yield match.start(), match.end(), f"decltype({match.group()}){{1}}"


def comparison_changed(code):
    for match in re.finditer(r" (<=|>=|<|>) ", code):
        yield match.start(1), match.end(1), {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}[match.group(1)]


def off_by_one(code):
    for match in re.finditer(r" [+-] 1\b(?![.\w])", code):
        yield match.start(), match.end(), ""
    for match in re.finditer(rf" (?:<|<=|>|>=) ({NAME}|\d+)(?=\s*(?:;|\)|&&|\|\||\?))", code):
        for change in (" - 1", " + 1"):
            yield match.end(1), match.end(1), change
    for _, end in indices(code):
        yield end, end, " + 1"


def indices(code):
    """The spans of what stands in [], where that is an index."""
    for match in re.finditer(r"[\w\])]\[", code):
        end = closing(code, match.end() - 1) - 1
        inside = code[match.end() : end]
        statement = re.split(r"[;{}]", code[: match.start() + 1])[-1].strip()
        declares = re.fullmatch(r"(?!return\b)(?:[\w:]+(?:<[^;]*>)?(?:\(\d+\))?[ *&]+)+[\w:]+(?:\[[^;]*\])*", statement)
        if inside.strip() and not inside.lstrip().startswith(("&", "=")) and not declares:
            yield match.end(), end


def operand(code, at, step):
    """Where the operand of && or || or ? that lies before (step -1) or behind (1) `at` ends or begins."""
    i = at
    while 0 <= i < len(code):
        char = code[i]
        if step > 0 and char in "([{":
            i = closing(code, i)
            continue
        if step < 0 and char in ")]}":
            depth = 0
            while True:
                depth += (code[i] in ")]}") - (code[i] in "([{")
                if depth == 0:
                    break
                i -= 1
            i -= 1
            continue
        if char in "()[]{};,?:" and code[i - 1 : i + 1] != "::" and code[i : i + 2] != "::":
            break
        if char == "=" and code[i - 1] not in "=!<>" and code[i + 1] != "=":
            break
        if code[i : i + 2] in ("&&", "||") or (step < 0 and code[i - 1 : i + 1] in ("&&", "||")):
            break
        i += step
    return i


def guard_dropped(code):
    for match in re.finditer(r"\bif \(", code):
        end = closing(code, match.end() - 1) - 1
        if not code[: match.start()].endswith("constexpr "):
            yield match.end(), end, "true"
            yield match.end(), end, "false"
    for match in re.finditer(r" && ", code):
        yield operand(code, match.start(), -1) + 1, match.end(), " "
        yield match.start(), operand(code, match.end(), 1), ""
    for match in re.finditer(r" \? ", code):
        begin = operand(code, match.start(), -1) + 1
        before = code[:begin]
        space = " " if re.search(r"\breturn\s", code[begin : match.start()]) else ""
        if not space and before:
            yield begin, match.start(), " true"


def barrier_deleted(code):
    for match in re.finditer(r"__syncthreads\(\)", code):
        yield match.start(), match.end(), "(void)0"


def tail_dropped(code):
    """A loop over k takes whole steps only."""
    for match in re.finditer(r"\bfor \(", code):
        end = closing(code, match.end() - 1) - 1
        parts = re.fullmatch(rf"([^;]*); *({NAME}) < ([^;]*); *({NAME}) \+= ([^,;]*)", code[match.end() : end])
        if parts and parts[2] == parts[4] and re.search(r"\bk\b|_k\b|\bk_|left|last|\bend\b|depth", parts[3]):
            yield match.end() + parts.end(2), match.end() + parts.end(2), f" + ({parts[5]}) - 1"
    for match in re.finditer(r"(?:gemm::)?ceil_div\(([^(),]*), ([^(),]*)\)", code):
        yield match.start(), match.end(), f"(({match[1]}) / ({match[2]}))"
    for match in re.finditer(r"([\w.]+) \+ ([\w.]+) - 1\) / \2(?!\w)", code):
        yield match.start(), match.end(), f"{match[1]}) / {match[2]}"


OPPOSITES = {
    "lda": ("ldb", "ldc"),
    "ldb": ("lda", "ldc"),
    "ldc": ("lda", "ldb"),
    "m": ("n", "k"),
    "n": ("m", "k"),
    "k": ("m", "n"),
    "row": ("col",),
    "col": ("row",),
    "tile_row": ("tile_col",),
    "tile_col": ("tile_row",),
    "tiles_m": ("tiles_n",),
    "tiles_n": ("tiles_m",),
    "TILE_M": ("TILE_N", "TILE_K"),
    "TILE_N": ("TILE_M", "TILE_K"),
    "TM": ("TN",),
    "TN": ("TM",),
    "threadIdx.x": ("threadIdx.y",),
    "threadIdx.y": ("threadIdx.x",),
    "M": ("N",),
    "N": ("M",),
    "row0": ("col0",),
    "col0": ("row0",),
    "first_row": ("first_col",),
    "first_col": ("first_row",),
    "tile_m": ("tile_n",),
    "tile_n": ("tile_m",),
}


def sides_exchanged(code, declared=""):
    names = "|".join(sorted(map(re.escape, OPPOSITES), key=len, reverse=True))
    for match in re.finditer(rf"(?<![\w.])({names})\b(?!\s*[({{]|\s*=[^=]|\.|,\s*\w+ =)", code):
        if re.search(r"\b(?:int|float|auto|unsigned|T|int64_t)[ *&]+$", code[: match.start()]):
            continue  # declared here
        for other in OPPOSITES[match[1]]:
            if re.search(rf"(?<![\w.]){re.escape(other)}\b", declared + code):
                yield match.start(), match.end(), other


def stride_changed(code):
    for match in re.finditer(r" ([*/%]) (2|4|8|16|32|64|128)\b(?!\.)", code):
        yield match.start(2), match.end(2), str(int(match[2]) * 2)
        if match[1] == "*":
            yield match.start(2), match.end(2), str(int(match[2]) + 1)
    for match in re.finditer(r" \* ((?:\w+::)*[A-Z][A-Z0-9_]+)\b(?!\(|::)", code):
        yield match.start(1), match.end(1), f"({match[1]} + 1)"
        yield match.start(1), match.end(1), f"({match[1]} - 1)"


def accumulator_overwritten(code):
    for match in re.finditer(r"\b(?:sum|sums|acc|total|value|result|product)(?:\.\w+|\[[^\n;]*?\])* (\+)= ", code):
        yield match.start(1), match.end(1), ""
    for match in re.finditer(r"\bmultiply_add\(", code):
        end = closing(code, match.end() - 1) - 1
        last = operand(code, end - 1, -1) + 1
        if re.match(r"\s*\w*sum|\s*\w*total|\s*acc", code[last:end]):
            yield last, end, " {}"
    for match in re.finditer(r"\b(sum|total)((?:\[[^\n;=]*?\])?) = \1\2 \+ ", code):
        yield match.end(2) + 3, match.end(), ""


def beta_test_inverted(code):
    for match in re.finditer(r"\bbeta (==|!=) 0", code):
        yield match.start(1), match.end(1), {"==": "!=", "!=": "=="}[match[1]]
    for match in re.finditer(r"(?:gemm::)?is_zero\((?:\w+\.)?beta\)", code):
        yield match.start(), match.start(), "!"


def term_dropped(code):
    for match in re.finditer(rf" \+ ({NAME}|\d+)(?: [*/%] (?:{NAME}|\d+))*(?=\s*(?:\]|\)|;|,| \+))", code):
        if not re.fullmatch(r" \+ 1", match.group()):
            yield match.start(), match.end(), ""


OPERATORS = {
    "alpha dropped": functools.partial(scale_dropped, "alpha"),
    "beta dropped": functools.partial(scale_dropped, "beta"),
    "comparison changed": comparison_changed,
    "off by one": off_by_one,
    "guard dropped": guard_dropped,
    "barrier deleted": barrier_deleted,
    "tail dropped": tail_dropped,
    "sides exchanged": sides_exchanged,
    "stride changed": stride_changed,
    "accumulator overwritten": accumulator_overwritten,
    "beta test inverted": beta_test_inverted,
    "term dropped": term_dropped,
}


@dataclasses.dataclass(frozen=True)
class Mutant:
    file: str  # relative to the repository
    line: int
    operator: str
    begin: int
    end: int
    replacement: str

    def apply(self, text):
        return text[: self.begin] + self.replacement + text[self.end :]

    def describe(self, text):
        """The line as it was and as it is: what is longer than a line is cut."""

        def line_of(some):
            first = some.rfind("\n", 0, self.begin) + 1
            return " ".join(some[first : some.find("\n", self.begin)].split())

        return f"{self.file}:{self.line}: {self.operator}: {line_of(text)}  -->  {line_of(self.apply(text))}"


def mutants_of(file, text):
    """All of a file, by operator."""
    code = blanked(text)
    found = collections.defaultdict(list)
    seen = set()
    for declared, body, end in kernel_code(code):
        for name, operator in OPERATORS.items():
            extra = {"declared": code[declared:body]} if name == "sides exchanged" else {}
            for first, last, replacement in operator(code[body:end], **extra):
                first, last = first + body, last + body
                replacement += "\n" * text.count("\n", first, last)  # lines keep their numbers
                # Two operators may make the same text.
                if (
                    text[first:last] != replacement
                    and (first, last, replacement) not in seen
                    and code[first:last].count("\n") < 4
                ):
                    seen.add((first, last, replacement))
                    found[name].append(Mutant(file, text.count("\n", 0, first) + 1, name, first, last, replacement))
    return found


# ---- what is drawn from: stages' files, and headers that are parts of stages


def is_probe(text):
    return "gemm::ProbeRegistration" in text


def stage_files(root=ROOT):
    return sorted(
        file for folder in PROGRAMS for file in (root / folder).glob("[0-9][0-9]*.cu") if not is_probe(file.read_text())
    )


PART = re.compile(r'"((?:tensorcore/presplit|tsm/generated|stages/summit)/[\w.]+\.cuh)"')


@functools.lru_cache(None)
def parts_of(file):
    """The headers with device code that a stage includes, or hands on to be compiled at run time; and theirs."""
    found = set()
    for name in PART.findall(file.read_text()):
        if (ROOT / name).exists():
            found |= {ROOT / name} | parts_of(ROOT / name)
    return frozenset(found)


def sources():
    """Each file to draw from, with the stages that it belongs to."""
    of = {file: [file] for file in stage_files()}
    for stage in stage_files():
        for part in parts_of(stage):
            of.setdefault(part, []).append(stage)
    return of


@functools.lru_cache(None)
def mutants_in(file):
    return mutants_of(str(file.relative_to(ROOT)), file.read_text())


def drawn(seed, count, only=None):
    """`count` queues of (mutant, stage), each of TRIES, none of them twice. Families come in turns, then files,
    operators and places are equally likely: a long file has no more mutants than a short one."""
    of = sources()
    chance = random.Random(f"mutants {seed}")
    by_family = collections.defaultdict(dict)
    for file, stages in sorted(of.items()):
        name = str(file.relative_to(ROOT))
        if only and not re.search(only, name):
            continue
        found = mutants_in(file)
        if found:
            by_family[file.relative_to(ROOT).parts[0]][file] = (stages, found)
    families = sorted(by_family)
    taken, all_drawn = set(), []
    for i in range(count * TRIES):
        for _ in range(1000):
            # Of three families one after the other, in every round of tries.
            family = by_family[families[i % count % len(families)]]
            file = chance.choice(sorted(family))
            stages, found = family[file]
            operator = chance.choice(sorted(found))
            mutant, stage = chance.choice(found[operator]), chance.choice(sorted(stages))
            if mutant not in taken:
                break
        else:
            break  # there are no more
        taken.add(mutant)
        all_drawn.append((mutant, stage))
    return [all_drawn[i::count] for i in range(count)]


# ---- the build

running = set()  # processes, each the leader of a group
stopping = threading.Event()  # nothing more is started


def run(command, cwd, limit=None, environment=None):
    """Exit status (None: it ran too long) and output. All that it started ends with it."""
    if stopping.is_set():
        sys.exit("ended")
    process = subprocess.Popen(
        command,
        cwd=cwd,
        text=True,
        errors="replace",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        env=environment,
    )
    running.add(process)
    try:
        output, _ = process.communicate(timeout=limit)
        return process.returncode, output
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        return None, output
    finally:
        running.discard(process)


def end_running():
    stopping.set()
    for process in list(running):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


class DoesNotCompile(Exception):
    pass


class Build:
    def __init__(self, folder):
        self.folder = folder.resolve()
        self.compile = {}  # source: command words, object
        for entry in json.loads((self.folder / "compile_commands.json").read_text()):
            words = shlex.split(entry["command"]) if "command" in entry else list(entry["arguments"])
            directory = pathlib.Path(entry["directory"])
            source = os.path.realpath(directory / entry["file"])
            at = words.index("-o")
            # A source that several targets have is there more than once; stages are compiled once.
            self.compile.setdefault(source, (words[:at] + words[at + 2 :], os.path.normpath(directory / words[at + 1])))
        self.link, self.tests = {}, {}
        for program in sorted(set(PROGRAMS.values())):
            self.link[program] = self.link_line(program)
        self.objects_of_stages = {self.object_of(file) for file in stage_files() + self.probes()} - {None}
        self.read_tiers()

    def probes(self):
        return [
            file for folder in PROGRAMS for file in (ROOT / folder).glob("[0-9][0-9]*.cu") if is_probe(file.read_text())
        ]

    def object_of(self, file):
        found = self.compile.get(os.path.realpath(file))
        return found and found[1]

    def link_line(self, program):
        """The words that link it, from CMake's own: Ninja says them, Makefiles keep them in a file."""
        if (self.folder / "build.ninja").exists():
            status, output = run(["ninja", "-t", "commands", f"bin/{program}"], self.folder)
            if status:
                sys.exit(output)
            command = output.strip().splitlines()[-1]
            directory = self.folder
        else:
            directory = self.folder / "tests"
            command = (directory / f"CMakeFiles/{program}.dir/link.txt").read_text().strip()
        for part in re.split(r" && ", command):
            words = shlex.split(part)
            if "-o" in words and words[words.index("-o") + 1].endswith(program):
                # Absolute, because the program is linked elsewhere.
                return [
                    os.path.normpath(directory / word)
                    if re.search(r"\.(?:o|a|so[.\d]*)$", word) and not word.startswith(("-", "/"))
                    else word
                    for word in words
                ]
        sys.exit(f"cannot tell how {program} is linked")

    def read_tiers(self):
        status, output = run(["ctest", "--show-only=json-v1"], self.folder)
        if status:
            sys.exit(output)
        tests = []  # program, gtest name, labels
        for test in json.loads(output)["tests"]:
            command = test.get("command", [])
            name = next((word.partition("=")[2] for word in command[1:] if word.startswith("--gtest_filter=")), None)
            program = pathlib.Path(command[0]).name if command else ""
            if name and program in self.link:
                labels = next((p["value"] for p in test.get("properties", []) if p["name"] == "LABELS"), [])
                tests.append((program, name, labels))
        for program, name, labels in tests:
            quick = "quick" in labels or bool(QUICK.search(name))
            self.tests.setdefault((program, name.rpartition("/")[2]), []).append((name, quick))

    def tier(self, stage, quick):
        """The names of a stage's tests, those of the quick tier or the others."""
        family = {"stages": "sgemm"}.get(stage.parent.name, stage.parent.name)
        return [
            name
            for name, is_quick in self.tests.get((PROGRAMS[stage.parent.name], f"{family}_{stage.stem}"), [])
            if is_quick == quick
        ]

    def embedded(self, name):
        """The source that has a header's text, and that text as it stands there."""
        begin = f'{{"{name}", R"~~~~('
        for source in self.compile:
            if pathlib.Path(source).parent == self.folder and source.endswith(".cpp"):
                text = pathlib.Path(source).read_text()
                if begin in text:
                    return source, text, begin
        return None

    def build(self, mutant, stage, folder):
        """The test program with a mutant of this stage. Throws DoesNotCompile."""
        program = PROGRAMS[stage.parent.name]
        original = ROOT / mutant.file
        # A stage's id comes from its path: DIRECTORY/NN_name.cu.
        source, changed = folder / stage.relative_to(ROOT), folder / mutant.file
        for path in (source, changed):
            path.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(stage.read_text())
        text = original.read_text()
        changed.write_text(mutant.apply(text))
        words, object_file = self.compile[os.path.realpath(stage)]
        objects = [self.compile_one(words, source, folder / "stage.o", folder)]
        embedded = self.embedded(mutant.file) if original != stage else None
        if embedded:
            unit, all_texts, begin = embedded
            if begin + text not in all_texts:
                sys.exit(f"{mutant.file} is newer than the build")
            copy = folder / pathlib.Path(unit).name
            copy.write_text(all_texts.replace(begin + text, begin + changed.read_text(), 1))
            objects.append(self.compile_one(self.compile[unit][0], copy, folder / "embedded.o", folder))
        # Stages that choose among others need those of their family that generate kernels.
        others = {other for other in self.objects_of_stages if other != object_file}
        if "tsm/choice.hpp" in stage.read_text():
            others -= {
                self.object_of(file)
                for file in stage_files()
                if file.parent == stage.parent and "generated/" in file.read_text()
            }
        output = folder / program
        link = [
            str(output) if word.endswith(f"bin/{program}") else word
            for word in self.link[program]
            if word not in others
        ]
        if object_file not in link:
            sys.exit(f"{program} is not linked with {object_file}")
        at = link.index(object_file)
        link[at : at + 1] = map(str, objects)  # before the archives, which have the embedded texts as they were
        status, said = run(link, self.folder)
        if status:
            raise DoesNotCompile(said)  # a specialisation that another file misses, say
        return output

    def compile_one(self, words, source, output, includes):
        # A mutant may compile for ever, too: an unrolled loop that does not end.
        command = list(words)
        at = command.index("-c")
        del command[at : at + 2]
        command[1:1] = [f"-I{includes}"]
        status, said = run([*LAUNCHER, *command, "-O1", "-w", "-o", str(output), "-c", str(source)], self.folder, 600)
        if status != 0:
            raise DoesNotCompile(said)
        return output

    def passes(self, program, names, folder, limit):
        """Whether it does, and if not why."""
        environment = {**os.environ, "GEMM_KERNEL_CACHE": str(folder / "kernel_cache")}
        status, said = run(
            [
                str(program),
                "--gtest_filter=" + ":".join(names),
                "--gtest_fail_fast",
                "--gtest_also_run_disabled_tests",
                "--gtest_brief=0",
            ],
            folder,
            limit,
            environment,
        )
        if status is None:
            return False, f"no end after {limit} s"
        if status == 0:
            if not re.search(r"Running [1-9]\d* test", said):
                sys.exit(f"no test ran: {shlex.join(names)}\n{said[-2000:]}")
            return True, ""
        failed = re.search(r"\[  FAILED  \] (\S+)", said)
        running = re.findall(r"\[ RUN      \] (\S+)", said)
        return False, failed[1].rstrip(
            ","
        ) if failed else f"exit status {status} in {running[-1] if running else 'none'}"


# ---- verdicts


@dataclasses.dataclass
class Verdict:
    mutant: str
    stage: str
    by: str  # quick, full or none
    reason: str
    seconds: dict

    def line(self):
        how = {"quick": "rejected by quick", "full": "REJECTED BY FULL ONLY", "none": "rejected by none"}[self.by]
        parts = ", ".join(f"{what} {seconds:.0f} s" for what, seconds in self.seconds.items())
        return f"{self.mutant}\n    {how}{' (' + self.reason + ')' if self.reason else ''}; {self.stage}; {parts}"


class Judge:
    def __init__(self, build):
        self.build = build
        self.sound, self.lock = {}, threading.Lock()

    def check_stage(self, stage):
        """The program as it was built must pass: else a rejection says nothing."""
        with self.lock:
            lock = self.sound.setdefault(stage, threading.Lock())
        with lock:
            if self.sound.get((stage, "passes")):
                return
            program = self.build.folder / "bin" / PROGRAMS[stage.parent.name]
            names = self.build.tier(stage, quick=True)
            if not names:
                sys.exit(f"{stage.relative_to(ROOT)} has no test in the quick tier")
            with tempfile.TemporaryDirectory() as folder:
                passes, why = self.build.passes(program, names, pathlib.Path(folder), FULL_LIMIT)
            if not passes:
                sys.exit(f"{stage.relative_to(ROOT)} as it is does not pass: {why}")
            self.sound[stage, "passes"] = True

    def verdict(self, queue):
        """Of the first of them that compiles; None if none does."""
        for mutant, stage in queue:
            with tempfile.TemporaryDirectory(prefix="mutant.") as name:
                folder, seconds = pathlib.Path(name), {}
                begin = time.monotonic()
                try:
                    program = self.build.build(mutant, stage, folder)
                except DoesNotCompile:
                    continue
                seconds["build"] = time.monotonic() - begin
                self.check_stage(stage)
                times = TIMES_FOR_GENERATED if self.build.embedded(mutant.file) else 1
                by, reason = "none", ""
                for tier, limit in (("quick", QUICK_LIMIT), ("full", FULL_LIMIT)):
                    begin = time.monotonic()
                    names = self.build.tier(stage, tier == "quick")
                    passes, why = self.build.passes(program, names, folder, limit * times) if names else (True, "")
                    seconds[tier] = time.monotonic() - begin
                    if not passes:
                        by, reason = tier, why
                        break
                return Verdict(
                    mutant.describe((ROOT / mutant.file).read_text()), str(stage.relative_to(ROOT)), by, reason, seconds
                )
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "build", type=pathlib.Path, nargs="?", help="the folder of a finished build for the CPU executor"
    )
    parser.add_argument("--count", type=int, default=100, help="mutants in all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--share",
        default=os.environ.get("GEMM_SHARE", "1/1"),
        metavar="P/N",
        help="every N-th of them from the P-th on",
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    parser.add_argument(
        "--minimum", type=float, default=95, help="percent that the quick tier must reject of what the full tier does"
    )
    parser.add_argument("--only", metavar="REGEX", help="files to draw from")
    parser.add_argument("--list", action="store_true", help="print what would be drawn first")
    parser.add_argument("--self-test", action="store_true", help="test this tool; needs no build")
    options = parser.parse_args()
    if options.self_test:
        unittest.main(argv=[sys.argv[0]], defaultTest="SelfTest")
    part, parts = map(int, options.share.split("/"))
    queues = drawn(options.seed, options.count, options.only)[part - 1 :: parts]
    if options.list:
        for queue in queues:
            if queue:
                print(queue[0][0].describe((ROOT / queue[0][0].file).read_text()))
        return 0
    if not options.build:
        parser.error("which build?")
    judge = Judge(Build(options.build))
    verdicts, missing, begin = [], 0, time.monotonic()
    pool = concurrent.futures.ThreadPoolExecutor(options.jobs)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))
    try:
        for done in concurrent.futures.as_completed([pool.submit(judge.verdict, queue) for queue in queues]):
            verdict = done.result()
            if verdict:
                verdicts.append(verdict)
                print(verdict.line(), flush=True)
            else:
                missing += 1
    except BaseException:  # interrupted, or a stage is not sound: the others' processes would go on for minutes
        pool.shutdown(wait=False, cancel_futures=True)
        end_running()
        raise
    pool.shutdown()
    quick = sum(verdict.by == "quick" for verdict in verdicts)
    full = quick + sum(verdict.by == "full" for verdict in verdicts)
    percent = 100 * quick / full if full else 0
    if missing:
        print(f"{missing} queues of {TRIES} mutants had none that compiles")
    print(
        f"quick rejects {quick} of {full} mutants that full rejects ({percent:.1f} %); none rejects "
        f"{len(verdicts) - full}; "
        f"seed {options.seed}, {time.monotonic() - begin:.0f} s"
    )
    if options.json:
        options.json.write_text(
            json.dumps(
                {
                    "seed": options.seed,
                    "count": options.count,
                    "share": options.share,
                    "quick": quick,
                    "full": full,
                    "percent": percent,
                    "mutants": [dataclasses.asdict(v) for v in verdicts],
                },
                indent=1,
            )
            + "\n"
        )
    return 0 if full and percent >= options.minimum else 1


class SelfTest(unittest.TestCase):
    EXAMPLE = """// alpha * 1 in a comment
__global__ void f(int m, int n, int k, float alpha, const float* a, float beta, float* c, int ldc) {
  const int row = blockIdx.x * 16 + threadIdx.x, col = threadIdx.y;  // row + 1 < m
  static_assert(1 < 2);
  __shared__ float tile[16][17];
  float sum = 0;
  for (int i = 0; i < k; i += 16) {
    sum += a[i + row];
    __syncthreads();
  }
  if (row < m && col < n) c[row * ldc + col] = beta == 0.0f ? alpha * sum : alpha * sum + beta * c[row * ldc + col];
}
int host(int alpha) { return alpha * 2; }
"""

    def test_every_operator_has_places(self):
        found = mutants_of("example.cu", self.EXAMPLE)
        self.assertEqual(set(found), set(OPERATORS))

    def test_texts_differ_and_keep_their_lines(self):
        for file in sources():
            text = file.read_text()
            for all_of_it in mutants_of(str(file), text).values():
                for mutant in all_of_it[::10]:
                    changed = mutant.apply(text)
                    self.assertNotEqual(changed, text)
                    self.assertEqual(changed.count("\n"), text.count("\n"), mutant)

    def test_only_kernels_change(self):
        lines = {mutant.line for all_of_it in mutants_of("example.cu", self.EXAMPLE).values() for mutant in all_of_it}
        self.assertLessEqual(lines, {3, 7, 8, 9, 11})
        for mutant in mutants_of("example.cu", self.EXAMPLE)["comparison changed"]:
            self.assertIn(mutant.line, (7, 11))

    def test_seeds_reproduce(self):
        self.assertEqual(drawn(7, 10), drawn(7, 10))
        self.assertNotEqual(drawn(7, 10), drawn(8, 10))
        all_of_them = [mutant for queue in drawn(7, 10) for mutant, _ in queue]
        self.assertEqual(len(all_of_them), len(set(all_of_them)))

    def test_all_families_and_parts_are_drawn_from(self):
        names = {str(file.relative_to(ROOT)) for file in sources()}
        for some in (
            "stages/18_summit.cu",
            "tsm/01_element_per_thread.cu",
            "tensorcore/01_wmma.cu",
            "stages/summit/reduce.cuh",
            "tensorcore/presplit/product.cuh",
            "tsm/generated/kernel.cuh",
        ):
            self.assertIn(some, names)
        self.assertNotIn("tensorcore/05_scan.cu", names)
        first = [queue[0][0].file.split("/")[0] for queue in drawn(1, 30)]
        self.assertEqual({family: first.count(family) for family in PROGRAMS}, dict.fromkeys(PROGRAMS, 10))


if __name__ == "__main__":
    sys.exit(main())
