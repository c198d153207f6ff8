"""Where a submission is compiled and run: in namespaces of its own, by bubblewrap. It sees the system's libraries and
what it is given, no network, no process of others, and it can write nothing that lasts."""

from __future__ import annotations

import dataclasses
import functools
import os
import pathlib
import shutil
import subprocess

from tools.command_line import fail

SYSTEM = ("/bin", "/lib", "/lib32", "/lib64", "/etc/alternatives", "/etc/ld.so.cache")


@dataclasses.dataclass(frozen=True)
class Limits:
    """Of one submission: of each process that compiles, of a launch, and of all launches."""

    compile_seconds: int = 60
    compile_megabytes: int = 3000
    launch_seconds: float = 10.0
    all_seconds: float = 90.0


@functools.cache
def works() -> str:
    """Why it does not; empty if it does."""
    if not shutil.which("bwrap"):
        return "bubblewrap is missing: apt-get install bubblewrap"
    tried = subprocess.run([*command({}), "true"], capture_output=True, text=True)
    return "" if tried.returncode == 0 else f"bubblewrap can't make namespaces here: {tried.stderr.strip()}"


def require(trusted: bool) -> None:
    """Nothing is graded outside of a sandbox, unless the teacher says so."""
    why = works()
    if why and not trusted:
        fail(f"{why}; --trusted runs submissions as you, with all your rights: only for your own")


def command(read_only: dict[pathlib.Path, str], writable: str = "", hidden: tuple[pathlib.Path, ...] = ()) -> list[str]:
    """What a command is put behind. read_only: host's file or folder: where it is seen."""
    words = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"]
    words += ["--setenv", "PATH", os.environ.get("PATH", "/usr/bin:/bin"), "--setenv", "HOME", "/tmp"]
    words += ["--setenv", "CCACHE_DISABLE", "1"]  # which looks for a home all the same
    words += ["--ro-bind", "/usr", "/usr", "--dev", "/dev", "--tmpfs", "/tmp"]
    for path in map(pathlib.Path, SYSTEM):
        if path.is_symlink():
            words += ["--symlink", os.readlink(path), str(path)]
        elif path.exists():
            words += ["--ro-bind", str(path), str(path)]
    for host, seen in read_only.items():
        words += ["--ro-bind", str(host), seen]
    for path in hidden:
        words += ["--tmpfs", str(path)]
    if writable:
        words += ["--bind", writable, writable]
    return words


def limited(seconds: int, megabytes: int, file_megabytes: int) -> list[str]:
    """Of processor time, of memory, of a file: util-linux's prlimit."""
    return [
        "prlimit",
        f"--cpu={seconds}",
        f"--data={megabytes << 20}",
        f"--fsize={file_megabytes << 20}",
        "--core=0",
        "--nofile=256",
        "--",
    ]
