"""Compiles one file of a CUDA program for the CPU executor: preprocessed, rewritten (preprocessed.py), compiled.

usage: compile_program.py COMPILER ARGUMENT... -c FILE -o OBJECT      a launcher: CMake puts it in front of the command
"""

from __future__ import annotations

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

from both_passes import WORD, asks, merged
from preprocessed import Refused, rewrite

ROOT = pathlib.Path(__file__).resolve().parents[2]
BEFORE = ("cuda_runtime.h", "common/simt/language/launch.hpp")  # nvcc includes the former in every file
KEYWORDS = "common/simt/language/keywords.hpp"
# What kernels call is the device's, for the program's own code alone, and not for the executor's.
OF_DEVICE = {
    "malloc": "simt_malloc",
    "free": "simt_free",
    "_Znwm": "simt_new",
    "_Znam": "simt_new_array",
    "_ZdlPv": "simt_delete",
    "_ZdlPvm": "simt_delete_sized",
    "_ZdaPv": "simt_delete_array",
    "_ZdaPvm": "simt_delete_array_sized",
}
# A header of the executor's that stands for one which is not there: who includes it, and what it says.
REFUSED_HEADER = re.compile(r"included from (.+?:\d+)[:,](?:\n +from .*)*\n.*: error: #error \"(the CPU executor .*)\"")
# A function that CUDA has no more: g++ calls it an error where a kernel calls it, and says more around it.
GONE = re.compile(r"^(.+?:\d+)(?::\d+)?: error: call to .* declared with attribute error: (.+)$", re.M)
# What is CUDA's by its name, and not here: a function, a type, a constant, a header's member.
UNKNOWN = re.compile(
    r"^(.+?:\d+):\d+: error: (?:"
    r".(cuda[A-Z]\w*|cu[A-Z]\w*|CUDA_\w+|CU_\w+|CU[a-z]\w+|__[a-z]\w+). "
    r"(?:was not declared|does not name a type|has not been declared)"
    r"|.(\w+). is not a member of .((?:cooperative_groups|nvcuda)\b[\w:]*)."
    r"|.struct (cudaDeviceProp). has no member named .(\w+)."
    r"|template constraint failure for .* class nvcuda::(wmma::fragment).)",
    re.M,
)
REFUSED = 3  # exit status, after one line that says all
CAPABILITY = os.environ["SIMT_SM"] if os.environ.get("SIMT_SM", "").isdigit() else "90"
# What nvcc says of itself, as of the version in CUDART_VERSION; .cpp files it leaves to g++.
NVCC = ("-D__NVCC__", "-D__CUDACC__", "-D__CUDACC_VER_MAJOR__=12", "-D__CUDACC_VER_MINOR__=8")
ONLY_CPP = ("-fno-extern-tls-init", "-Wno-register", "-Wno-volatile")  # g++ warns of them where it compiles C
SOURCES = (".cu", ".cpp", ".cc", ".cxx", ".c")


def without(
    words: list[str], alone: tuple[str, ...], with_value: tuple[str, ...], joined: tuple[str, ...]
) -> list[str]:
    """The words but these options: some stand alone, some have a value behind them, some in the same word."""
    kept: list[str] = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word in with_value:
            skip = True
        elif word not in alone and not word.startswith(joined):
            kept.append(word)
    return kept


def read(text: pathlib.Path) -> str:
    return text.read_bytes().decode(errors="surrogateescape")


def compile_file(command: list[str], source: str, output: str) -> int:
    text = pathlib.Path(f"{output}.ii")
    language = ["-x", "c++"]
    # Of what the command asks for, the rest follows: as CMake, or ./lab emulate, has written it.
    asked = without(command[1:], ("-c", source, "-xc++"), ("-o", "-x"), ())
    if source.endswith(".c") and (status := compile_c(command[0], asked, source, output)) is not None:
        return status
    includes = [word for name in BEFORE for word in ("-include", name)]
    if source.endswith(".cu"):
        includes += NVCC
    preprocess = [command[0], "-E", *asked, "-DSIMT_KEYWORDS_STAY", *includes, *language, source, "-o", str(text)]
    done = subprocess.run(preprocess, stderr=subprocess.PIPE, text=True, errors="replace")
    refused = REFUSED_HEADER.search(done.stderr)
    print(f"{refused[1]}: error: {refused[2]}\n" if refused else done.stderr, end="", file=sys.stderr)
    if done.returncode:
        return REFUSED if refused else done.returncode
    before = read(text)
    if asks(before):
        again = [*preprocess, f"-D{WORD}={10 * int(CAPABILITY)}"]
        if status := subprocess.run(again, stderr=subprocess.DEVNULL).returncode:
            return status
        before = merged(before, read(text))
    # Another pass over what is preprocessed: only the keywords that are left.
    asked = without(asked, ("-MD", "-MMD"), ("-MF", "-MT", "-MQ", "-D", "-U", "-include"), ("-D", "-U"))
    as_c = ["-fpermissive", "-w"] if source.endswith(".c") else []  # C converts from void* by itself
    compile_command = [command[0], *asked, *as_c, "-gdwarf-4", "-include", KEYWORDS, *language]
    kept = kept_object(before.encode(errors="surrogateescape"), compile_command)
    if kept and kept.is_file():
        shutil.copyfile(kept, output)
        text.unlink()
        return 0
    for hands_on in (True, False):  # without, if g++ takes what stands there for something else
        try:
            rewritten = rewrite(before, hands_on)
        except Refused as refusal:
            print(refusal, file=sys.stderr)
            return REFUSED
        text.write_text(rewritten.text, errors="surrogateescape")
        done = subprocess.run(
            [*compile_command, "-c", str(text), "-o", output], stderr=subprocess.PIPE, text=True, errors="replace"
        )
        if done.returncode == 0:
            break
    status = done.returncode
    if status and (gone := {what: place for place, what in reversed(GONE.findall(done.stderr))}):
        print(*(f"{place}: error: {what}" for what, place in reversed(gone.items())), sep="\n", file=sys.stderr)
        return REFUSED
    if status and (unknown := list(UNKNOWN.finditer(done.stderr))):
        names = dict.fromkeys(
            "::".join(filter(None, (u[4] or u[5], u[2] or u[3] or u[6] or u[7] + " of this kind"))) for u in unknown
        )
        print(f"{unknown[0][1]}: error: the CPU executor has no {', '.join(names)}", file=sys.stderr)
        return REFUSED
    print(done.stderr, end="", file=sys.stderr)
    if status == 0:
        status = finish(output, moves(output, rewritten.templates) if rewritten.templates else [], kept)
    if status == 0:
        text.unlink()
    return status


def finish(output: str, moved: list[str], kept: pathlib.Path | None) -> int:
    """What was compiled calls the device's functions, and is kept for the next time."""
    renamed = [f"--redefine-sym={name}={instead}" for name, instead in OF_DEVICE.items()]
    status = subprocess.run(["objcopy", *renamed, *moved, output]).returncode
    if status == 0 and kept:
        kept.parent.mkdir(parents=True, exist_ok=True)
        part = kept.with_suffix(f".{os.getpid()}")
        shutil.copyfile(output, part)
        part.replace(kept)
    return status


def compile_c(compiler: str, asked: list[str], source: str, output: str) -> int | None:
    """nvcc leaves C to the host's compiler. Nothing if the file includes CUDA's headers, which are C++ here."""
    command = [compiler, *without(asked, ONLY_CPP, (), ("-std=c++", "-std=gnu++")), "-x", "c", "-gdwarf-4"]
    done = subprocess.run([*command, "-E", source], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if done.returncode or str(ROOT / "common/simt").encode() in done.stdout:
        return None
    kept = kept_object(done.stdout, command)
    if kept and kept.is_file():
        shutil.copyfile(kept, output)
        return 0
    status = subprocess.run([*command, "-c", source, "-o", output]).returncode
    return status or finish(output, [], kept)


def moves(made: str, templates: dict[str, str]) -> list[str]:
    """Options of objcopy that move the variables of these templates into their sections: each has one of its own."""
    sections = subprocess.run(["objdump", "-h", "-w", made], check=True, capture_output=True, text=True).stdout
    return [
        f"--rename-section={own}={section}"
        for own in re.findall(r"\s(\.(?:bss|data)\S*\._Z\S+)", sections)
        for name, section in templates.items()
        if f"{len(name)}{name}I" in own
    ]


def kept_object(text: bytes, command: list[str]) -> pathlib.Path | None:
    """Where the object is kept that this text gives, if the environment names a folder for that."""
    if not (folder := os.environ.get("SIMT_CACHE")):
        return None
    key = hashlib.sha256(text)
    scripts = sorted(pathlib.Path(__file__).parent.glob("*.py"))
    for part in [
        "\0".join(command).encode(),
        *(script.read_bytes() for script in scripts),
        (ROOT / KEYWORDS).read_bytes(),
    ]:
        key.update(part + b"\0")
    return pathlib.Path(folder, key.hexdigest()[:32] + ".o")


def main(command: list[str]) -> int:
    if "-c" not in command or "-o" not in command:  # a link
        return subprocess.run(command).returncode
    sources = [word for word in command[1:] if word.endswith(SOURCES) and not word.startswith("-")]
    output = command[command.index("-o") + 1]
    source = next((word for word in sources if word != output), None)
    if source is None:
        sys.exit(f"error: no source file in the command: {' '.join(command)[:200]}")
    return compile_file(command, source, output)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
