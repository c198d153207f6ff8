"""Shows when a kernel's hot loop waits: each instruction with the cycles until the next one may be issued, the
scoreboards that it sets and those that it waits for. Needs nvcc and nvdisasm, but no GPU.

A load, or a copy, takes an unknown time. It raises one of six scoreboards (0 to 5): W, lowered when its result has
arrived, or R, lowered when its operands have been read. Who needs the result, or writes such an operand, waits until
that scoreboard is down. A scoreboard counts: who waits for one of several loads that share it waits for all of them,
and a branch back to a loop's begin waits for what has one there.

usage: ./lab measure scoreboards SOURCE [--kernel TEXT] [--arch sm_90a] [--all]
       TEXT: what the mangled names of the kernels shown have in them; --all: every instruction, not only loads, copies,
       barriers, branches and those that wait. "products": how many multiply-adds come before, in the loop

Where the bits lie: Jia, Maggioni, Staiger, Scarpazza, "Dissecting the NVIDIA Volta GPU Architecture via
Microbenchmarking" (2018); it is the same up to sm_90.
"""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
from typing import Any

from tools.command_line import fail, parser_of
from tools.repository import CUDA_WHEELS, ROOT

Instruction = list[Any]  # its text and its upper 64 bits
Loop = tuple[int, int]  # the first instruction, and the one behind the last

GUARD = r"(@!?U?P\w+ )?"
MULTIPLIES = re.compile(GUARD + r"(HMMA|DMMA|IMMA|FFMA|DFMA)\b")
TAKES_TIME = re.compile(GUARD + r"(LD|ST|BAR|DEPBAR|BRA|RED|ATOM)\w*")
INSTRUCTION = re.compile(r"\s+/\*[0-9a-f]{4,}\*/\s+(.*?)\s*;.*/\* 0x[0-9a-f]{16} \*/")
UPPER_HALF = re.compile(r"\s+/\* 0x([0-9a-f]{16}) \*/")
LABEL = re.compile(r"(\.L_x_\d+):")
BRANCH = re.compile(r"\bBRA\b.*`\((\.L_x_\d+)\)")


def parse(disassembly: str) -> dict[str, tuple[list[Instruction], dict[str, int]]]:
    """name: (instructions, labels) of each kernel in what `nvdisasm -c -hex` prints; an instruction is its text and its
    upper 64 bits."""
    kernels = {}
    for section in disassembly.split("\t.section\t.text.")[1:]:
        instructions, labels = [], {}
        for line in section.splitlines():
            if match := LABEL.match(line):
                labels[match[1]] = len(instructions)
            elif match := INSTRUCTION.match(line):
                instructions.append([match[1], None])
            elif (match := UPPER_HALF.match(line)) and instructions and instructions[-1][1] is None:
                instructions[-1][1] = int(match[1], 16)
        kernels[section.split(",")[0]] = instructions, labels
    return kernels


def hot_loop(instructions: list[Instruction], labels: dict[str, int]) -> Loop | None:
    """The innermost loop with the most multiply-adds, from its first instruction to behind its branch; None if none
    multiplies."""
    loops = {
        (labels[match[1]], at + 1)
        for at, (text, _) in enumerate(instructions)
        if (match := BRANCH.search(text)) and labels.get(match[1], at + 1) <= at
    }
    counts = {loop: sum(bool(MULTIPLIES.match(text)) for text, _ in instructions[slice(*loop)]) for loop in loops}

    def within(a: Loop, b: Loop) -> bool:
        return a != b and b[0] <= a[0] and a[1] <= b[1]

    inner = [
        loop for loop in loops if counts[loop] and not any(counts[other] and within(other, loop) for other in loops)
    ]
    return max(inner, key=counts.get, default=None)


def control(upper: int) -> tuple[int, int | None, int | None, list[int]]:
    """Cycles until the next instruction may be issued, the scoreboards set when the result is there and when operands
    have been read (None: none), and those that are waited for."""
    bits = upper >> 41
    write, read, waits = bits >> 5 & 7, bits >> 8 & 7, bits >> 11 & 63
    return (
        bits & 15,
        None if write == 7 else write,
        None if read == 7 else read,
        [i for i in range(6) if waits >> i & 1],
    )


def show(instructions: list[Instruction], loop: Loop, everything: bool) -> list[str]:
    """Lines: how many multiply-adds came before, cycles, W, R, waits, instruction."""
    lines, count = [f"{'products':>8} {'cycles':>6}  {'W':1} {'R':1} {'waits for':9}  instruction"], 0
    for text, upper in instructions[slice(*loop)]:
        cycles, write, read, waits = control(upper)
        if everything or waits or write is not None or read is not None or TAKES_TIME.match(text):
            raised = " ".join("-" if board is None else str(board) for board in (write, read))
            lines.append(f"{count:8} {cycles:6}  {raised} {' '.join(map(str, waits)):9}  {text}")
        count += bool(MULTIPLIES.match(text))
    return lines


def find_tools() -> tuple[str, str]:
    wheels = str(CUDA_WHEELS)
    nvcc = os.environ.get("CUDACXX") or shutil.which("nvcc") or shutil.which("nvcc", path=wheels)
    if not nvcc:
        fail("no nvcc: set $CUDACXX, or PATH")
    nvdisasm = (
        shutil.which("nvdisasm", path=pathlib.Path(nvcc).resolve().parent)
        or shutil.which("nvdisasm")
        or shutil.which("nvdisasm", path=wheels)
    )
    if not nvdisasm:
        fail(
            "no nvdisasm beside nvcc or in PATH: it comes with the CUDA toolkit, or with `pip install "
            "nvidia-cuda-nvdisasm`"
        )
    return nvcc, nvdisasm


def main(arguments: list[str] | None = None) -> None:
    parser = parser_of("./lab measure scoreboards", __doc__)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("--kernel", default="")
    parser.add_argument("--arch", default="sm_90a")
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args(arguments)
    if not options.source.is_file():
        fail(f"no file {options.source}")
    nvcc, nvdisasm = find_tools()
    with tempfile.TemporaryDirectory() as folder:
        cubin = pathlib.Path(folder, "kernels.cubin")
        made = subprocess.run(
            [
                nvcc,
                "-std=c++20",
                "-O3",
                "--expt-relaxed-constexpr",
                f"-arch={options.arch}",
                f"-I{ROOT}",
                "-cubin",
                "-o",
                cubin,
                options.source,
            ],
            text=True,
            capture_output=True,
        )
        if made.returncode:
            fail("nvcc: " + next((line for line in made.stderr.splitlines() if "error" in line), made.stderr.strip()))
        kernels = parse(
            subprocess.run([nvdisasm, "-c", "-hex", cubin], check=True, stdout=subprocess.PIPE, text=True).stdout
        )
    shown = 0
    for name, (instructions, labels) in kernels.items():
        loop = hot_loop(instructions, labels) if options.kernel in name else None
        if loop:
            print(name, *show(instructions, loop, options.all), "", sep="\n")
            shown += 1
    if not shown:
        fail(f"no kernel{f' with {options.kernel!r} in its name' if options.kernel else ''} has a loop that multiplies")
