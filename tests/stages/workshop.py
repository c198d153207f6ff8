"""Compiles stages that are not in the tree, with a build's own commands, and runs them."""

from __future__ import annotations

import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
STAGE = "stages/90_mine"
MODEL = "stages/07_register_tile"  # whose commands are taken for it


class Workshop:
    """Compiles and runs wrong stages with the commands of a build."""

    def __init__(self, build: pathlib.Path):
        self.build = build
        self.known: dict[str, tuple[str, str]] = {}

    def commands(self, model: str) -> tuple[str, str]:
        """Those that compile and link a stage of the build: stages/07_register_tile."""
        if model not in self.known:
            program = program_of(model)
            lines = subprocess.run(
                ["ninja", "-C", self.build, "-t", "commands", program], stdout=subprocess.PIPE, text=True, check=True
            ).stdout.splitlines()
            compiling = next(line for line in lines if line.endswith(f"{ROOT}/{model}.cu"))
            linking = next(line for line in reversed(lines) if f"-o bin/{program}" in line)
            self.known[model] = compiling, linking
        return self.known[model]

    def run(self, command: str) -> None:
        done = subprocess.run(
            command, shell=True, cwd=self.build, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        if done.returncode:
            raise AssertionError(f"{command[:200]}\n{done.stdout[-3000:]}")

    def program(self, folder: pathlib.Path, source: str, stage: str = STAGE) -> pathlib.Path:
        """Of a stage with this text: of one that is not in the tree, or of one that is, but with another text."""
        model = stage if (ROOT / f"{stage}.cu").exists() else MODEL
        compiling, linking = self.commands(model)
        file, program = folder / f"{stage}.cu", folder / program_of(stage)
        file.parent.mkdir()
        file.write_text(source)
        model_object = re.search(r"-o (\S+\.o)\b", compiling)[1]
        command = compiling.replace(f"{ROOT}/{model}.cu", str(file))
        self.run(command.replace(model_object, f"{folder}/stage.o"))
        command = linking.replace(model_object, f"{folder}/stage.o")
        self.run(command.replace(f"-o bin/{program_of(model)}", f"-o {program}"))
        return program


def program_of(stage: str) -> str:
    family, name = stage.split("/")
    return f"{'sgemm' if family == 'stages' else family}_{name}"


def said(program: pathlib.Path, *arguments: str) -> tuple[int, str]:
    """Status and text: files named as if they stood in the tree, and without what differs from run to run."""
    done = subprocess.run(
        [program, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    text = done.stdout.replace(f"{program.parent}/", "")
    text = re.sub(r"\bin [\d.]+ s\b", "in ... s", text)
    return done.returncode, text
