"""Compiles and links a stage's program with a mutant in it, by the build's own commands."""

from __future__ import annotations

import pathlib
import re
import shlex
import shutil

from tools.command_line import fail
from tools.mutate.mutants import Mutant, program_of
from tools.mutate.running import run
from tools.repository import ROOT, relative, stage_file

COMPILING_LIMIT = 600  # seconds: an unrolled loop may have no end


class DoesNotCompile(Exception):
    pass


class Build:
    """A folder that CMake has configured for the executor and Ninja has built."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder.resolve()
        self.known: dict[str, list[str]] = {}
        if not (self.folder / "build.ninja").exists():
            fail(f"{folder} is no build by Ninja")

    def commands(self, stage: str) -> list[str]:
        """All that make a stage's program, the last one links it."""
        if stage not in self.known:
            status, output = run(["ninja", "-t", "commands", f"bin/{program_of(stage)}"], self.folder)
            if status:
                fail(f"{stage} is not in this build: {output.strip().splitlines()[-1]}")
            self.known[stage] = output.strip().splitlines()
        return self.known[stage]

    def compile_command(self, stage: str, source: pathlib.Path) -> list[str]:
        """The words that compile a source."""
        for line in self.commands(stage):
            if line.endswith(f" -c {source}"):
                return shlex.split(line)
        fail(f"cannot tell how {source} is compiled")

    def link_command(self, stage: str) -> list[str]:
        """The words that link its program. Files are absolute, because the program is linked elsewhere."""
        for part in self.commands(stage)[-1].split(" && "):
            words = shlex.split(part)
            if "-o" in words and words[words.index("-o") + 1] == f"bin/{program_of(stage)}":
                return [
                    str(self.folder / word) if re.search(r"^[^-/].*\.(?:o|a|so[.\d]*)$", word) else word
                    for word in words
                ]
        fail(f"cannot tell how {program_of(stage)} is linked")

    def embedded(self, stage: str, file: str) -> tuple[pathlib.Path, str] | None:
        """The source that holds a header's text, for kernels that are compiled at run time; and where it does."""
        begin = f'{{"{file}", R"~~~~('
        for line in self.commands(stage):
            source = pathlib.Path(line.rpartition(" -c ")[2])
            if source.suffix == ".cpp" and source.parent == self.folder and begin in source.read_text():
                return source, begin
        return None

    def compile(self, stage: str, source: pathlib.Path, text_file: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
        """An object from `text_file` in place of `source`; headers are first looked for in `folder`. Optimised as in
        the build: less, and products would not become FMAs, which are counted."""
        words = self.compile_command(stage, source)
        at = words.index("-o")
        output = folder / f"{text_file.stem}.o"
        # As if it stood in the repository: the stage's id, and what code says of itself, come from that.
        command = [*words[:at], f"-ffile-prefix-map={folder}={ROOT}", "-w", "-o", str(output), "-c", str(text_file)]
        first = next(i for i, word in enumerate(command) if word.startswith("-") and word not in ("-B", "-m"))
        command[first:first] = [f"-I{folder}"]
        for option in ("-MT", "-MF"):  # the build's own file of dependencies stays
            if option in command:
                place = command.index(option)
                del command[place : place + 2]
        if "-MD" in command:
            command.remove("-MD")
        status, said = run(command, self.folder, COMPILING_LIMIT)
        if status != 0:
            raise DoesNotCompile(said)
        return output

    def sources(self, stage: str, mutant: Mutant | None, folder: pathlib.Path) -> pathlib.Path:
        """Writes the stage's file, and the header that the mutant changes. Without a mutant as it is."""
        stage_copy = folder / relative(stage_file(stage))
        stage_copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(stage_file(stage), stage_copy)
        if mutant:
            changed = folder / mutant.file
            changed.parent.mkdir(parents=True, exist_ok=True)
            changed.write_text(mutant.apply((ROOT / mutant.file).read_text()))
        return stage_copy

    def stage_object(self, stage: str, mutant: Mutant | None, folder: pathlib.Path) -> pathlib.Path:
        return self.compile(stage, stage_file(stage), self.sources(stage, mutant, folder), folder)

    def program(
        self, stage: str, mutant: Mutant | None, stage_object: pathlib.Path, folder: pathlib.Path
    ) -> pathlib.Path:
        """Links it. Raises DoesNotCompile, if it does not link."""
        objects = [str(stage_object)]
        embedded = self.embedded(stage, mutant.file) if mutant else None
        if mutant and embedded:
            source, begin = embedded
            text, all_texts = (ROOT / mutant.file).read_text(), source.read_text()
            if begin + text not in all_texts:
                fail(f"{mutant.file} is newer than the build")
            copy = folder / source.name
            copy.write_text(all_texts.replace(begin + text, begin + mutant.apply(text), 1))
            objects.append(str(self.compile(stage, source, copy, folder)))
        words = self.link_command(stage)
        program = folder / program_of(stage)
        words[words.index("-o") + 1] = str(program)
        ours = self.compile_command(stage, stage_file(stage))
        at = words.index(str(self.folder / ours[ours.index("-o") + 1]))
        words[at : at + 1] = objects  # before the archives, which have the embedded texts as they were
        status, said = run(words, self.folder)
        if status:
            raise DoesNotCompile(said)  # a specialisation that another file misses, say
        return program
