"""Compiles and links a stage's program with a mutant in it, by the build's own commands."""

from __future__ import annotations

import os
import pathlib
import re
import shlex

from tools.command_line import fail
from tools.mutate.mutants import Mutant, parts_of, program_of
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
            if source.suffix == ".cpp" and source.is_relative_to(self.folder) and begin in source.read_text():
                return source, begin
        if f'kernel_headers("{file}")' in stage_file(stage).read_text():
            fail(f"cannot tell where {file} is embedded")  # a change of the file alone would change nothing
        return None

    def compile(self, stage: str, source: pathlib.Path, copy: str, folder: pathlib.Path) -> pathlib.Path:
        """An object from a copy of `source`, which lies in the folder; headers are first looked for there. Optimised as
        in the build: less, and products would not become FMAs, which are counted."""
        words = self.compile_command(stage, source)
        for option, others in (("-o", 1), ("-c", 1), ("-MT", 1), ("-MF", 1), ("-MD", 0)):
            if option in words:
                place = words.index(option)
                del words[place : place + 1 + others]
        # Relative: the names of files are part of the code, which is compared.
        output = f"{copy}.o"
        first = next(i for i, word in enumerate(words) if re.match("-[DI]", word))
        command = [*words[:first], "-I.", *words[first:], "-w", "-o", output, "-c", copy]
        # With a base folder, ccache would name headers from here, so otherwise in each folder.
        status, said = run(command, folder, COMPILING_LIMIT, {**os.environ, "CCACHE_BASEDIR": ""})
        if status != 0:
            raise DoesNotCompile(said)
        return folder / output

    def stage_object(self, stage: str, mutant: Mutant | None, folder: pathlib.Path) -> pathlib.Path:
        """Of the stage with a mutant, or as it is. Its headers with kernels are copied in any case: they must have the
        same names."""
        for file in (stage_file(stage), *parts_of(stage_file(stage))):
            copy = folder / relative(file)
            copy.parent.mkdir(parents=True, exist_ok=True)
            text = file.read_text()
            copy.write_text(mutant.apply(text) if mutant and mutant.file == relative(file) else text)
        return self.compile(stage, stage_file(stage), relative(stage_file(stage)), folder)

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
            (folder / source.name).write_text(all_texts.replace(begin + text, begin + mutant.apply(text), 1))
            objects.append(str(self.compile(stage, source, source.name, folder)))
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
