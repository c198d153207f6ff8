"""Makes a program of a contract and a submission, as CMake makes course_submission of the example."""

from __future__ import annotations

import dataclasses
import functools
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

from tools.command_line import fail
from tools.course import rules, sandbox
from tools.course.assignment import COURSE, Assignment
from tools.repository import ROOT

EXAMPLE = COURSE / "sgemm" / "01_coalesce" / "01_coalesce.cu"
EXAMPLE_KERNEL = EXAMPLE.parent / "skeleton"
SECONDS, MEGABYTES = 60, 3000  # that a compiler may take
SEEN = "/submission"  # where a submission lies, as its lines are named
MOST_SAID = 3000  # characters of what it says


class Unbuilt(Exception):
    """The compiler's words."""


@dataclasses.dataclass(frozen=True)
class Builder:
    build: pathlib.Path  # of the preset cpu
    trusted: bool = False

    @property
    def judge(self) -> pathlib.Path:
        return self.build / "bin" / "course_judge"

    @functools.cached_property
    def commands(self) -> tuple[list[str], list[str]]:
        """How the example is compiled, and linked."""
        done = subprocess.run(
            ["ninja", "-C", self.build, "-t", "commands", "course_submission"], capture_output=True, text=True
        )
        lines = done.stdout.splitlines()
        compiles = [line for line in lines if line.endswith(f" -c {EXAMPLE}")]
        links = [line for line in lines if " -o bin/course_submission " in line]
        if done.returncode or not compiles or not links:
            fail(f"{self.build} is no build of the preset cpu: ./lab setup --cpu")
        link = links[0].removeprefix(": && ").removesuffix(" && :")
        words = shlex.split(compiles[0])
        # CMake's own book-keeping would be written into the build.
        links_to = [word for word in shlex.split(link) if not word.startswith("-Wl,--dependency-file")]
        return [os.path.realpath(sys.executable), *words[1:]] if "python" in words[0] else words, links_to

    @functools.cached_property
    def toolchain(self) -> set[pathlib.Path]:
        """Where the compiler lies, and the Python that stands in front of it."""
        found = {pathlib.Path(sys.base_prefix)}
        for word in self.commands[0]:
            path = pathlib.Path(word)
            if path.is_absolute() and path.parent.name == "bin" and path.exists():
                found |= {path.parent.parent, path.resolve().parent.parent}
        return {path for path in found if not path.is_relative_to("/usr") and path != pathlib.Path("/")}

    def run(self, words: list[str], folder: pathlib.Path) -> subprocess.CompletedProcess[str]:
        seen = {path: str(path) for path in (ROOT, self.build, *self.toolchain)}
        inside = sandbox.command(seen, str(folder), (COURSE,))
        # The compiler stands where its relative names lead.
        inside += ["--chdir", str(self.build)]
        words = [*([] if self.trusted else inside), *sandbox.limited(SECONDS, MEGABYTES, 256), *words]
        return subprocess.run(
            words,
            cwd=self.build,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=4 * SECONDS,
        )

    def object_of(self, assignment: Assignment, texts: dict[str, str], folder: pathlib.Path) -> pathlib.Path:
        """The object file. Raises Unbuilt."""
        source = folder / assignment.folder.name
        source.mkdir()
        text = assignment.contract.read_text()
        for name, kernels in texts.items():
            (folder / name).write_text(kernels)
            # All that it defines is this file's own: no name that the rest of the program could meet.
            text = text.replace(f'#include "{name}"\n', f'namespace {{\n#include "{name}"\n}}\n')
        (source / assignment.contract.name).write_text(text)
        example, result = self.commands[0][self.commands[0].index("-o") + 1], folder / "contract.o"
        renamed = {str(EXAMPLE): str(source / assignment.contract.name), example: str(result)}
        words = []
        for word in self.commands[0]:
            word = renamed.get(word, word)
            words.append(word.replace(f"{example}.d", f"{result}.d").replace(str(EXAMPLE_KERNEL), str(folder)))
        # addr2line 2.40 takes the second file in DWARF 5's tables for the first: the kernels' lines for the contract's.
        more = [
            "-w",
            "-fno-jump-tables",
            "-fno-diagnostics-show-caret",
            "-fmax-errors=5",
            "-fdiagnostics-color=never",
            "-gdwarf-4",
        ]
        words[-2:-2] = [*more, f"-ffile-prefix-map={folder}={SEEN}"]
        try:
            done = self.run(words, folder)
        except subprocess.TimeoutExpired:
            raise Unbuilt("the compiler did not end") from None
        if done.returncode or not result.is_file():
            said = done.stderr.replace(f"{folder}/", "").strip()[:MOST_SAID]
            raise Unbuilt(said or "the compiler used up its time or memory")
        return result

    def known(self, assignment: Assignment) -> rules.Object:
        """Of the teacher's kernels, what the contract's object file calls."""
        return known(self, assignment)

    def program_of(self, assignment: Assignment, texts: dict[str, str], folder: pathlib.Path) -> pathlib.Path:
        """The program. Raises Unbuilt, and rules.Violation."""
        compiled = self.object_of(assignment, texts, folder)
        rules.check_object(rules.read_object(compiled), self.known(assignment))
        example = self.commands[0][self.commands[0].index("-o") + 1]
        program = folder / "program"
        words = [{example: str(compiled), "bin/course_submission": str(program)}.get(w, w) for w in self.commands[1]]
        done = self.run(words, folder)
        if done.returncode or not program.is_file():
            raise Unbuilt(done.stderr.replace(f"{folder}/", "").strip()[:MOST_SAID] or "the linker failed")
        return program

    def judged_by(self, program: pathlib.Path, cpu: int | None) -> list[str]:
        """The judge's arguments behind the job: the program, and how it is started."""
        start = ["taskset", "-c", str(cpu)] if cpu is not None else []
        if self.trusted:
            return [str(program), *start, str(program)]
        seen = {program: f"{SEEN}/program"}
        for library in (self.build / "bin").glob("*.so*"):
            seen[library] = f"{SEEN}/{library.name}"
        return [str(program), *start, *sandbox.command(seen), f"{SEEN}/program"]


@functools.cache
def known(builder: Builder, assignment: Assignment) -> rules.Object:
    kernels = [*assignment.folder.glob("teacher/solution*"), *assignment.folder.glob("skeleton")]
    found = []
    for kernel in kernels:
        text = (kernel / assignment.files[0] if kernel.is_dir() else kernel).read_text()
        with tempfile.TemporaryDirectory() as name:
            found.append(
                rules.read_object(builder.object_of(assignment, {assignment.files[0]: text}, pathlib.Path(name)))
            )
    if not found:
        fail(f"{assignment.id} has neither a skeleton nor a solution")
    return rules.Object(
        frozenset().union(*(one.undefined for one in found)),
        frozenset().union(*(one.defined for one in found)),
        max(one.constructors for one in found),
        max(one.static_bytes for one in found),
        max(one.indirect for one in found),
    )
