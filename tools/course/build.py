"""Makes a program of a contract and a submission, as CMake makes course_submission of the example."""

from __future__ import annotations

import dataclasses
import functools
import os
import pathlib
import secrets
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
FILE_MEGABYTES = 256  # that a compiler may write, into one file
MOST_OBJECT_BYTES = 16 << 20
MOST_EXPANDED = 1 << 20  # characters that macros may make of the kernels
SEEN = "/submission"  # where a submission lies, as its lines are named
MOST_SAID = 3000  # characters of what it says


class Unbuilt(Exception):
    """The compiler's words."""


@dataclasses.dataclass(frozen=True)
class Builder:
    build: pathlib.Path  # of the preset cpu
    trusted: bool = False
    limits: sandbox.Limits = sandbox.Limits()
    checked: bool = True  # False in tests, of what holds without the rules
    gpu: pathlib.Path | None = None  # a build of the preset gpu, for speed; without it that is not graded

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

    def run(
        self, words: list[str], folder: pathlib.Path, more: tuple[pathlib.Path, ...] = ()
    ) -> subprocess.CompletedProcess[str]:
        """More: what else the command must see."""
        seen = {path: str(path) for path in (ROOT, self.build, *self.toolchain, *more)}
        inside = sandbox.command(seen, str(folder), (COURSE,))
        # The compiler stands where its relative names lead.
        inside += ["--chdir", str(self.build)]
        seconds, megabytes = self.limits.compile_seconds, self.limits.compile_megabytes
        words = [*([] if self.trusted else inside), *sandbox.limited(seconds, megabytes, FILE_MEGABYTES), *words]
        # Into a file, because that has a limit.
        with tempfile.TemporaryFile() as said:
            done = subprocess.run(
                words,
                cwd=self.build,
                env={**os.environ, "CCACHE_DISABLE": "1"},  # it needs a home, which not every user has
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                timeout=60 + 4 * seconds,
            )
            said.seek(0)
            text = said.read(2 * MOST_SAID).decode(errors="replace").replace(f"{folder}/", "").replace(f"{ROOT}/", "")
        return subprocess.CompletedProcess(words, done.returncode, text.strip()[:MOST_SAID])

    def compiled(
        self, words: list[str], folder: pathlib.Path, result: pathlib.Path, more: tuple[pathlib.Path, ...] = ()
    ) -> str:
        """Makes the result. What the compiler says. Raises Unbuilt."""
        try:
            done = self.run(words, folder, more)
        except subprocess.TimeoutExpired:
            raise Unbuilt("the compiler did not end") from None
        if done.returncode or not result.is_file():
            raise Unbuilt(done.stdout or "the compiler used up its time or memory")
        if result.stat().st_size > MOST_OBJECT_BYTES:
            raise Unbuilt("what the compiler makes of it is too large")
        return done.stdout

    def compiling(
        self, contract: pathlib.Path, result: pathlib.Path, folder: pathlib.Path, more: list[str]
    ) -> list[str]:
        """The command. `folder` has the kernels."""
        example = self.commands[0][self.commands[0].index("-o") + 1]
        words = []
        for word in self.commands[0]:
            word = {str(EXAMPLE): str(contract), example: str(result)}.get(word, word)
            words.append(word.replace(f"{example}.d", f"{result}.d").replace(str(EXAMPLE_KERNEL), str(folder)))
        # addr2line 2.40 takes the second file of DWARF 5's tables for the first, the kernels' lines for the contract's.
        more = [
            *more,
            "-w",
            "-fno-jump-tables",
            "-fsanitize=object-size",  # of what has no other hook
            "-fno-diagnostics-show-caret",
            "-fmax-errors=5",
            "-fdiagnostics-color=never",
            "-gdwarf-4",
        ]
        words[-2:-2] = [*more, f"-ffile-prefix-map={folder}={SEEN}"]
        return words

    def contract_with(self, assignment: Assignment, texts: dict[str, str], folder: pathlib.Path) -> pathlib.Path:
        """The file that includes the kernels, and beside it these."""
        source = folder / assignment.folder.name
        source.mkdir()
        text = assignment.contract.read_text()
        for name, kernels in texts.items():
            (folder / name).write_text(kernels)
            # All that it defines is this file's own: no name that the rest of the program could meet.
            text = text.replace(f'#include "{name}"\n', f'namespace {{\n#include "{name}"\n}}\n')
        contract = source / assignment.contract.name
        contract.write_text(text)
        return contract

    def object_of(self, assignment: Assignment, texts: dict[str, str], folder: pathlib.Path) -> pathlib.Path:
        """The object file. Raises Unbuilt."""
        contract, result = self.contract_with(assignment, texts, folder), folder / "contract.o"
        self.compiled(self.compiling(contract, result, folder, []), folder, result)
        return result

    def expanded(self, assignment: Assignment, texts: dict[str, str], folder: pathlib.Path) -> dict[str, str]:
        """The kernels as the compiler reads them, CUDA's words as they are. Raises Unbuilt."""
        source = folder / "expanded"
        source.mkdir()
        mark = f"mark_{secrets.token_hex(16)}"
        text = assignment.contract.read_text()
        for name, kernels in texts.items():
            (folder / name).write_text(kernels)
            words = "".join(f"#undef {word}\n#define {word} {word}\n" for word in rules.WORDS)
            text = text.replace(f'#include "{name}"\n', f'{words}{mark}\n#include "{name}"\n{mark}\n')
        contract, result = source / assignment.contract.name, folder / "expanded.ii"
        contract.write_text(text)
        words = self.compiling(contract, result, folder, ["-E", "-P", "-fpch-preprocess"])
        self.compiled(words, folder, result)
        parts = result.read_text(errors="replace").split(mark)
        if len(parts) != 2 * len(texts) + 1:
            raise Unbuilt("the kernels end in the middle of something")
        if max(map(len, parts[1::2])) > MOST_EXPANDED:
            raise Unbuilt("its macros make too long a text")
        return dict(zip(texts, parts[1::2]))

    def program_of(self, assignment: Assignment, texts: dict[str, str], folder: pathlib.Path) -> pathlib.Path:
        """The program. Raises Unbuilt, and rules.Violation."""
        if self.checked:
            for name, text in self.expanded(assignment, texts, folder).items():
                rules.check_expanded(assignment, name, text)
        compiled = self.object_of(assignment, texts, folder)
        if self.checked:
            rules.check_object(rules.read_object(compiled), known(self, assignment))
        example = self.commands[0][self.commands[0].index("-o") + 1]
        program = folder / "program"
        words = [{example: str(compiled), "bin/course_submission": str(program)}.get(w, w) for w in self.commands[1]]
        done = self.run(words, folder)
        if done.returncode or not program.is_file():
            raise Unbuilt(done.stdout or "the linker failed")
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
    """Of the teacher's kernels, what the contract's object file calls and holds."""
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
    asked = rules.names_of(assignment.contract.read_text())
    own = frozenset.intersection(*(one.own for one in found))
    return rules.Object(
        frozenset().union(*(one.undefined for one in found)),
        frozenset().union(*(one.defined for one in found)),
        frozenset(name for name in own if rules.own_name(name) in asked),
        max(one.constructors for one in found),
        frozenset().union(*(one.startup for one in found)),
        max(one.static_bytes for one in found),
        max(one.indirect for one in found),
    )
