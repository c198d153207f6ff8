"""Machine code as nvdisasm prints it: instructions, loops, and what is in them. Needs nvcc and nvdisasm, but no GPU."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
from typing import Any

from tools.command_line import fail
from tools.repository import CUDA_WHEELS, ROOT

Instruction = list[Any]  # its text and its upper 64 bits
Loop = tuple[int, int]  # the first instruction, and the one behind the last
Kernels = dict[str, tuple[list[Instruction], dict[str, int]]]  # by mangled name: instructions, and where labels are

LANES = 32  # of a warp
GUARD = r"(@!?U?P\w+ )?"
MULTIPLIES = re.compile(GUARD + r"(HMMA|DMMA|IMMA|FFMA|DFMA)\b")
INSTRUCTION = re.compile(r"\s+/\*[0-9a-f]{4,}\*/\s+(.*?)\s*;.*/\* 0x[0-9a-f]{16} \*/")
UPPER_HALF = re.compile(r"\s+/\* 0x([0-9a-f]{16}) \*/")
LABEL = re.compile(r"(\.L_x_\d+):")
BRANCH = re.compile(r"\bBRA\b.*`\((\.L_x_\d+)\)")


def parse(disassembly: str) -> Kernels:
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


def loops_of(instructions: list[Instruction], labels: dict[str, int]) -> set[Loop]:
    """From a label to behind the branch back to it."""
    return {
        (labels[match[1]], at + 1)
        for at, (text, _) in enumerate(instructions)
        if (match := BRANCH.search(text)) and labels.get(match[1], at + 1) <= at
    }


def within(a: Loop, b: Loop) -> bool:
    return a != b and b[0] <= a[0] and a[1] <= b[1]


def opcode_of(text: str) -> str:
    return re.sub(r"^@!?U?P\w+ ", "", text).split(" ")[0]


def flops_of(opcode: str) -> int:
    """Of a warp's instruction."""
    base, *words = opcode.split(".")
    if base in ("FFMA", "DFMA"):
        return 2 * LANES
    for word in words:
        # 16816, 1684 and 16x8x4 are shapes, each of three extents.
        if match := re.fullmatch(r"(16|8)x?(8)x?(32|16|8|4)", word):
            return 2 * int(match[1]) * int(match[2]) * int(match[3])
    return 0


def hot_loop(instructions: list[Instruction], labels: dict[str, int]) -> Loop | None:
    """The innermost loop with the most FLOPs, from its first instruction to behind its branch; None if none multiplies.
    Loops in it may have a few of its own: 13c's loop over rows has one for its last rows, which multiplies by beta."""
    work = {
        (begin, end): sum(
            max(flops_of(opcode_of(text)), 1) for text, _ in instructions[begin:end] if MULTIPLIES.match(text)
        )
        for begin, end in loops_of(instructions, labels)
    }
    inner = [
        loop
        for loop in work
        if work[loop] and not any(within(its, loop) and 8 * work[its] >= work[loop] for its in work)
    ]
    return max(inner, key=work.get, default=None)


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


def disassemble(nvdisasm: str, cubin: pathlib.Path) -> Kernels:
    return parse(subprocess.run([nvdisasm, "-c", "-hex", cubin], check=True, stdout=subprocess.PIPE, text=True).stdout)


def compile_kernels(source: pathlib.Path, architecture: str) -> Kernels:
    """Of a source file, as a Release build compiles it."""
    nvcc, nvdisasm = find_tools()
    with tempfile.TemporaryDirectory() as folder:
        cubin = pathlib.Path(folder, "kernels.cubin")
        command = [
            nvcc,
            "-std=c++20",
            "-O3",
            "--expt-relaxed-constexpr",
            f"-arch={architecture}",
            f"-I{ROOT}",
            "-cubin",
        ]
        made = subprocess.run([*command, "-o", cubin, source], text=True, capture_output=True)
        if made.returncode:
            fail("nvcc: " + next((line for line in made.stderr.splitlines() if "error" in line), made.stderr.strip()))
        return disassemble(nvdisasm, cubin)
