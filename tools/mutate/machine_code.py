"""Whether two compilations have the same machine code."""

from __future__ import annotations

import hashlib
import pathlib
import re
import subprocess
import tempfile

from tools.command_line import fail

# Code, and the constants that it reads. Lines of the source, for reports, are in .data and in what a debugger reads.
SECTION = re.compile(r"\.(text|rodata)\b")
# Where a kernel was compiled at run time: g++'s checks of array bounds name its file.
TEMPORARY = re.compile(rb"gemm_[A-Za-z0-9]{6}(?=/)")


def sections_of(file: pathlib.Path) -> list[str]:
    names = re.findall(r"^ *\d+ (\S+)", said("objdump", "-h", "-w", str(file)), re.M)
    return sorted({name for name in names if SECTION.match(name)})


def fingerprint(file: pathlib.Path) -> str:
    """Of an object or a library: its code, its constants, and what both refer to."""
    only = [word for name in sections_of(file) for word in ("-j", name)]
    if not only:
        return ""
    with tempfile.NamedTemporaryFile() as copy:
        copy.write(TEMPORARY.sub(lambda found: b"." * len(found[0]), file.read_bytes()))
        copy.flush()
        text = said("objdump", "-s", "-r", *only, copy.name)
    return hashlib.sha256(text.partition("file format")[2].encode()).hexdigest()


def fingerprints(folder: pathlib.Path) -> list[str]:
    """Of all kernels that a program has compiled into a folder, whatever the files are called."""
    return sorted(fingerprint(file) for file in folder.rglob("*") if is_elf(file))


def is_elf(file: pathlib.Path) -> bool:
    if not file.is_file():
        return False
    with file.open("rb") as stream:
        return stream.read(4) == b"\x7fELF"


def said(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, errors="replace", check=True).stdout
    except FileNotFoundError:
        fail("objdump is missing: it comes with binutils, as the linker does")
    except subprocess.CalledProcessError as error:
        fail(f"{command[0]}: {error.stderr.strip().splitlines()[-1]}")
