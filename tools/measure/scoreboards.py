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

import pathlib
import re

from tools.command_line import fail, parser_of
from tools.sass import GUARD, MULTIPLIES, Instruction, Loop, compile_kernels, hot_loop

TAKES_TIME = re.compile(GUARD + r"(LD|ST|BAR|DEPBAR|BRA|RED|ATOM)\w*")


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


def main(arguments: list[str] | None = None) -> None:
    parser = parser_of("./lab measure scoreboards", __doc__)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("--kernel", default="")
    parser.add_argument("--arch", default="sm_90a")
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args(arguments)
    if not options.source.is_file():
        fail(f"no file {options.source}")
    kernels = compile_kernels(options.source, options.arch)
    shown = 0
    for name, (instructions, labels) in kernels.items():
        loop = hot_loop(instructions, labels) if options.kernel in name else None
        if loop:
            print(name, *show(instructions, loop, options.all), "", sep="\n")
            shown += 1
    if not shown:
        fail(f"no kernel{f' with {options.kernel!r} in its name' if options.kernel else ''} has a loop that multiplies")
