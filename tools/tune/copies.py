"""A stage compiled many times over, each copy with other constants, and all copies in one program."""

import concurrent.futures
import os
import pathlib
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tools.repository import Json, read_json


class Copy(NamedTuple):
    """One copy: its object file, its registers per thread, bytes that it spills."""

    target: pathlib.Path
    resources: Json


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def run(command: Sequence[Any], cwd: pathlib.Path) -> str:
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"error: {shlex.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def compile_copies(stage: pathlib.Path, texts: Mapping[str, str], build: pathlib.Path, arch: str) -> dict[str, Copy]:
    """Each text compiled as the stage is in `build`, a GPU build of Ninja, from a file called as its key: a stage is
    called as its file is. What is unchanged since the last time is not compiled again."""
    build = build.resolve()
    work = build.parent / "tune" / "tuning"
    work.mkdir(parents=True, exist_ok=True)
    run(["ninja", "bin/gemm"], build)
    commands = read_json(build / "compile_commands.json")
    flags = shlex.split(next(c["command"] for c in commands if c["file"].endswith("/" + stage.name)))
    flags = [f for f in flags[: flags.index("-c")] if not f.startswith("--generate-code")]

    def compile_one(stem: str) -> Copy:
        source, target, log = (work / f"{stem}{end}" for end in (".cu", ".o", ".log"))
        if not (log.exists() and source.exists() and source.read_text() == texts[stem]):
            source.write_text(texts[stem])
            log.unlink(missing_ok=True)
            log.write_text(run([*flags, f"-arch=sm_{arch}", "-Xptxas", "-v", "-c", source, "-o", target], build))
        said = log.read_text()
        registers = int(re.search(r"Used (\d+) registers", said)[1])
        spilled = sum(map(int, re.findall(r"(\d+) bytes spill", said)))
        say(f"{stem}: {registers} registers, {spilled} bytes spilled")
        return Copy(target, {"registers": registers, "spill_bytes": spilled})

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(texts, pool.map(compile_one, texts)))


def link_ladder(copies: Sequence[pathlib.Path], build: pathlib.Path, program: pathlib.Path) -> None:
    """`gemm` with these copies in the place of the stages."""
    build = build.resolve()
    # ": && the link && what copies libraries beside the program"
    command = run(["ninja", "-t", "commands", "bin/gemm"], build).strip().splitlines()[-1].split("&&")[1]
    link = [word for word in shlex.split(command) if not re.search(r"stage_.*\.o$", word)]
    at = link.index("-o")
    link[at : at + 2] = [*map(str, copies), "-s", "-o", str(program.resolve())]
    run(link, build)
    say(f"wrote {program}, {program.stat().st_size / 1e6:.1f} MB, with {len(copies)} copies")
