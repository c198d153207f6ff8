"""Compiles a file with kernels for the CPU executor. Where it, or a header that it includes, has a form that only nvcc
takes, g++ gets a rewritten copy (textbook.py) that says which file and line it is made of.

usage: compile_kernels.py COMPILER ARGUMENT...      a launcher: CMake puts it in front of the command
"""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HARNESS = ROOT / "common"  # has no such forms; its headers are many, and compiled beforehand
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.M)


def may_have_forms(text: str) -> bool:
    """A cheap look: most files have none."""
    return "<<<" in text or ("__shared__" in text and "extern" in text)


class Copies:
    """The rewritten copies of a source file and its headers, in a folder beside the object."""

    def __init__(self, folder: pathlib.Path, search: list[pathlib.Path]) -> None:
        self.folder = folder
        self.search = search  # where the compiler looks for headers
        self.of: dict[pathlib.Path, pathlib.Path] = {}
        self.names: dict[pathlib.Path, frozenset[str]] = {}  # of dynamic shared memory; of all files seen

    def visit(self, file: pathlib.Path) -> None:
        """Makes a copy of the file if it needs one."""
        self.names[file] = frozenset()
        text = file.read_text(errors="surrogateescape")
        includes: dict[str, str] = {}
        found: frozenset[str] = frozenset()
        needed = may_have_forms(text)
        for name in INCLUDE.findall(text):
            near = file.parent / name
            places = (near, *(folder / name for folder in self.search))
            header = next((pathlib.Path(os.path.normpath(each)) for each in places if each.is_file()), None)
            if header is None or HARNESS in header.parents:
                continue
            if header not in self.names:
                self.visit(header)
            found |= self.names[header]
            needed |= header in self.of
            if header in self.of or near.is_file():  # the copy lies in another folder
                includes[name] = str(self.of.get(header, header))
        if not needed and not found:
            return
        from textbook import rewrite

        made = rewrite(text, str(file), includes, found)
        self.names[file] = made.names
        if made.has_forms or any(pathlib.Path(each) in self.of.values() for each in includes.values()):
            self.folder.mkdir(parents=True, exist_ok=True)
            copy = self.folder / f"{len(self.of)}_{file.name}"
            copy.write_text(made.text, errors="surrogateescape")
            self.of[file] = copy


def as_in_depfile(path: pathlib.Path) -> str:
    return str(path).replace(" ", "\\ ").replace("#", "\\#")


def name_originals(depfile: pathlib.Path, copies: Copies) -> None:
    """The object depends on the files that the copies were made of, and on what made them."""
    text = depfile.read_text(errors="surrogateescape")
    for file, copy in copies.of.items():
        text = text.replace(as_in_depfile(copy), as_in_depfile(file))
    for script in ("compile_kernels.py", "textbook.py"):
        text = f"{text.rstrip()} \\\n {as_in_depfile(ROOT / 'common/cmake' / script)}\n"
    depfile.write_text(text, errors="surrogateescape")


def main(command: list[str]) -> int:
    source = pathlib.Path(command[command.index("-c") + 1]) if "-c" in command else pathlib.Path()
    if source.suffix == ".cu":
        output = pathlib.Path(command[command.index("-o") + 1])
        search = [pathlib.Path(word[2:]) for word in command if word.startswith("-I")]
        copies = Copies(pathlib.Path(f"{output}.forms").absolute(), search)
        copies.visit(source)
        if source in copies.of:
            # As for kernels compiled at run time: addr2line of binutils 2.40 confuses the files of DWARF 5.
            command = [str(copies.of[source]) if word == str(source) else word for word in command] + ["-gdwarf-4"]
            status = subprocess.run(command).returncode
            if status == 0 and "-MF" in command:
                name_originals(pathlib.Path(command[command.index("-MF") + 1]), copies)
            return status
    os.execvp(command[0], command)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
