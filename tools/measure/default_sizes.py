"""How long ./lab emulate takes for programs of usual sizes: those in tests/programs/default_sizes.

usage: ./lab measure default-sizes [--build BUILD] [--only PROGRAM,...]
       Replaces what docs/measurements/cpu/default_sizes.json has, or has of these programs.
       BUILD: of ./lab setup --cpu. Exit status 1 if a program is not right

Compiling is not part of it. CPU time is that of all threads; wall time means something only while nothing else runs.
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import time

from tools.command_line import fail, parser_of
from tools.emulate.build import Unbuildable, build
from tools.repository import CPU, ROOT, Json, read_json_if_there, write_digest

FILE = CPU / "default_sizes.json"
FOLDER = ROOT / "tests/programs/default_sizes"


def commit_of(build_folder: pathlib.Path) -> str:
    """Of the sources that were built there."""
    cache = (build_folder / "CMakeCache.txt").read_text()
    source = cache.split("CMAKE_HOME_DIRECTORY:INTERNAL=")[1].splitlines()[0]
    command = ["git", "-C", source, "rev-parse", "--short=12", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()


def names() -> list[str]:
    return sorted(file.stem for file in FOLDER.glob("*.cu"))


def measured(name: str, build_folder: pathlib.Path) -> Json:
    """One run. `mistakes`: what the program says of its result, if that is wrong, and what is reported."""
    program = build(build_folder, [FOLDER / f"{name}.cu"], [], [])
    begin = time.monotonic()
    process = subprocess.Popen([program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    return {
        "name": name,
        "wall_s": round(time.monotonic() - begin, 1),
        "cpu_s": round(usage.ru_utime + usage.ru_stime, 1),
        "memory_gb": round(usage.ru_maxrss * 1024 / 1e9, 2),
        "mistakes": "" if status == 0 and "simt: " not in said else said.strip() or f"wait status {status}",
    }


def main(arguments: list[str] | None = None) -> int:
    parser = parser_of("./lab measure default-sizes", __doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "cpu")
    parser.add_argument("--only", default="")
    options = parser.parse_args(arguments)
    every = names()
    chosen = options.only.split(",") if options.only else every
    for name in chosen:
        if name not in every:
            fail(f"no program '{name}' in {FOLDER.relative_to(ROOT)}")
    record = read_json_if_there(FILE) or {}
    entries = {entry["name"]: entry for entry in record.get("programs", [])}
    for name in chosen:
        try:
            entries[name] = measured(name, options.build.absolute())
        except Unbuildable as error:
            fail(str(error))
        print(
            "{name:<14} wall {wall_s:6.1f} s  CPU {cpu_s:6.1f} s  {memory_gb:5.2f} GB  {mistakes}".format(
                **entries[name]
            )
        )
    mistakes = any(entry.pop("mistakes", "") for entry in entries.values())
    if mistakes:
        return 1
    programs = [entries[name] for name in every if name in entries]
    write_digest(FILE, {"cores": os.cpu_count(), "commit": commit_of(options.build), "programs": programs})
    return 0
