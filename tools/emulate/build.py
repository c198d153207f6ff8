"""Makes a program of CUDA files, with the executor in it. What was made before is kept."""

from __future__ import annotations

import contextlib
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence

from tools.repository import ROOT

LAUNCHER = ROOT / "common/cmake/compile_program.py"
REFUSED = 3  # the launcher's exit status after one line that says all
NO_MAIN = re.compile("undefined reference to `main'|undefined symbol: main")
NO_LIBRARY = re.compile(r"cannot find (-l\S+?)(?::|$)", re.M)
UNDEFINED = re.compile("undefined reference to `(.+)'")
MOST_KEPT = 200  # programs, and as many objects: the oldest go


class Unbuildable(Exception):
    """In one line; the compiler has said why. Empty: it has said all."""


def words_of(file: pathlib.Path) -> list[str]:
    try:
        return [word for word in file.read_text().split(";") if word]
    except OSError:
        raise Unbuildable(f"no executor in {file.parent.parent}: './lab setup --cpu' builds it") from None


def object_of(file: pathlib.Path, number: int, folder: pathlib.Path) -> pathlib.Path:
    return folder / f"{number}_{file.stem}.o"


def forget_old(folder: pathlib.Path) -> None:
    """All but those that were used last. Others may do the same at the same time."""
    used: dict[pathlib.Path, float] = {}
    for entry in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):
            used[entry] = entry.stat().st_mtime
    for entry in sorted(used, key=lambda entry: used[entry], reverse=True)[MOST_KEPT:]:
        entry.unlink(missing_ok=True)


def build(
    build_folder: pathlib.Path,
    files: Sequence[pathlib.Path],
    asked: Sequence[str],
    asked_of_linker: Sequence[str],
    capability: str | None = None,
) -> pathlib.Path:
    """The program's path. `asked`: options of the compiler, beside the executor's. `capability`: what __CUDA_ARCH__ is
    for, such as 80."""
    home = build_folder / "emulate"
    compiler, *flags = words_of(home / "compile")
    link = [*words_of(home / "link"), *asked_of_linker]
    objects_kept, programs = home / "objects", home / "programs"
    for folder in (objects_kept, programs):
        folder.mkdir(exist_ok=True)
    environment = dict(os.environ, SIMT_CACHE=str(objects_kept))
    if capability:
        environment["SIMT_SM"] = capability
    with tempfile.TemporaryDirectory(dir=home) as name:
        work = pathlib.Path(name)
        objects = [object_of(file, number, work) for number, file in enumerate(files)]
        running = []
        for file, made in zip(files, objects, strict=True):
            command = [
                sys.executable,
                "-E",
                "-s",
                "-S",
                "-B",
                LAUNCHER,
                compiler,
                *flags,
                *asked,
                "-c",
                file,
                "-o",
                made,
            ]
            running.append(subprocess.Popen([str(word) for word in command], env=environment))
        status = {str(file): process.wait() for file, process in zip(files, running, strict=True)}
        failed = [file for file, ended in status.items() if ended != 0]
        if failed:
            is_said = all(status[file] == REFUSED for file in failed)
            raise Unbuildable("" if is_said else f"{', '.join(failed)}: does not compile")
        key = hashlib.sha256("\0".join(link).encode())
        library = next(pathlib.Path(word) for word in link if word.endswith("libstaged_simt.a"))
        if not library.is_file():
            raise Unbuildable(f"no executor in {build_folder}: './lab setup --cpu' builds it")
        key.update(f"{library.stat().st_mtime_ns} {library.stat().st_size}".encode())
        for each in objects:
            key.update(hashlib.sha256(each.read_bytes()).digest())
        program = programs / f"{files[0].stem}_{key.hexdigest()[:24]}"
        if program.is_file():
            program.touch()
        else:
            part = work / "program"
            command = [compiler, "-o", str(part), *(str(each) for each in objects), *link]
            linked = subprocess.run(command, stderr=subprocess.PIPE, text=True, errors="replace")
            names = ", ".join(str(file) for file in files)
            if linked.returncode != 0 and NO_MAIN.search(linked.stderr):
                raise Unbuildable(f"no main() in {names}")
            if missing := dict.fromkeys(UNDEFINED.findall(linked.stderr)):
                hint = " (-fopenmp brings OpenMP)" if any(name.startswith("omp_") for name in missing) else ""
                raise Unbuildable(f"{names}: nothing there defines {', '.join(missing)}{hint}")
            if missing := NO_LIBRARY.findall(linked.stderr):
                raise Unbuildable(f"{names}: does not link: no library {', '.join(missing)}")
            print(linked.stderr, end="", file=sys.stderr)
            if linked.returncode != 0:
                raise Unbuildable(f"{names}: does not link")
            part.replace(program)
    forget_old(objects_kept)
    forget_old(programs)
    return program
