"""Compiles stages that are not in the tree, with a build's own commands, and runs them."""

from __future__ import annotations

import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
STAGE = "90_mine"
MODEL = "07_register_tile"  # whose commands are taken


class Workshop:
    """Compiles and runs wrong stages with the commands of a build."""

    def __init__(self, build: pathlib.Path):
        self.build = build
        commands = subprocess.run(
            ["ninja", "-C", build, "-t", "commands", f"sgemm_{MODEL}"], stdout=subprocess.PIPE, text=True, check=True
        ).stdout.splitlines()
        source = f"{ROOT}/stages/{MODEL}.cu"
        self.compile = next(line for line in commands if line.endswith(source) or f"-c {source}" in line)
        self.link = next(line for line in reversed(commands) if f"-o bin/sgemm_{MODEL}" in line)

    def run(self, command: str) -> None:
        done = subprocess.run(
            command, shell=True, cwd=self.build, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        if done.returncode:
            raise AssertionError(f"{command[:200]}\n{done.stdout[-3000:]}")

    def program(self, folder: pathlib.Path, source: str) -> pathlib.Path:
        """Of a stage with this text."""
        file, program = folder / "stages" / f"{STAGE}.cu", folder / f"sgemm_{STAGE}"
        file.parent.mkdir()
        file.write_text(source)
        model_object = re.search(r"-o (\S+\.o)\b", self.compile)[1]
        command = self.compile.replace(f"{ROOT}/stages/{MODEL}.cu", str(file))
        self.run(command.replace(model_object, f"{folder}/stage.o"))
        self.run(self.link.replace(model_object, f"{folder}/stage.o").replace(f"-o bin/sgemm_{MODEL}", f"-o {program}"))
        return program


def said(program: pathlib.Path, *arguments: str) -> tuple[int, str]:
    """Status and text: files named as if they stood in the tree, and without what differs from run to run."""
    done = subprocess.run(
        [program, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    text = done.stdout.replace(f"{program.parent}/", "")
    text = re.sub(r"\bin [\d.]+ s\b", "in ... s", text)
    return done.returncode, text
