"""What bounds each stage: for how long the units of an SM are busy with a step of its work, by the CPU executor's
counts, and how many instructions a warp is issued for it, by the machine code that nvcc makes. Without a GPU.

usage: ./lab measure bounds --out FILE [--only LADDER,...] [--stage NN] [--arch sm_90a] BIN
       BIN: the folder of a CPU build's programs. LADDER: one of those below. NN: stages that are new or have changed,
       say, as `./lab ladder --only` takes them. What FILE has of other ladders and stages stays

A step is a warp-wide FMA; in FP16, and where Tensor Cores emulate FP32, a product of 16 x 8 x 16. Instructions are
those of the innermost loop that multiplies most, and of the loop around it if blocks wait at a barrier there: the
executor counts barriers and FMAs, so how often the inner loop runs between two barriers is known. Other loops beside
it, which fill the next tile, run as often as it takes for the loads from global memory that the executor counts. What
is done once for a tile of C is left out. A loop's instructions are counted as if all of them were executed, code for
ragged edges, too.
"""

from __future__ import annotations

import dataclasses
import json
import pathlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence

from tools.command_line import fail, parser_of
from tools.repository import Json, read_json_if_there, stage_file, write_digest
from tools.sass import (
    LANES,
    MULTIPLIES,
    Instruction,
    Kernels,
    Loop,
    compile_kernels,
    disassemble,
    find_tools,
    flops_of,
    hot_loop,
    loops_of,
    opcode_of,
    within,
)

FLOPS_OF_A_PRODUCT = 2 * 16 * 8 * 16


@dataclasses.dataclass(frozen=True)
class Ladder:
    shape: str  # that is counted: large enough that edges and beginnings are few, small enough for the executor
    options: tuple[str, ...]


LADDERS = {
    "sgemm": Ladder("1024", ("--family", "sgemm")),
    "hgemm": Ladder("1024", ("--type", "h")),
    "emulated": Ladder("1024", ("--family", "tensorcore", "--type", "s")),
    **{
        f"{op}_{width}": Ladder(f"{width}x{width}x{words // width}", ("--op", op, "--type", "d"))
        for op in ("tsmttsm", "tsmm")
        for width, words in ((4, 1 << 24), (16, 1 << 22), (64, 1 << 20))
    },
}


def fingerprint(source: pathlib.Path) -> str:
    """FNV-1a, as common/measure/reference_gpu.cpp has it."""
    value = 14695981039346656037
    for byte in source.read_bytes():
        value = (value ^ byte) * 1099511628211 % 2**64
    return f"{value:016x}"


@dataclasses.dataclass
class Code:
    """Of a loop, or what is in one outside of others."""

    instructions: float = 0
    flops: float = 0
    barriers: float = 0
    shared_loads: float = 0
    global_loads: float = 0

    def add(self, text: str) -> None:
        if text.startswith("@!PT "):
            return  # never executed: nvcc puts such an LDS before cp.async
        opcode = opcode_of(text)
        self.instructions += 1
        self.flops += flops_of(opcode) if MULTIPLIES.match(text) else 0
        self.barriers += opcode.startswith("BAR.SYNC")
        self.shared_loads += re.match(r"LDSM?\b", opcode) is not None
        self.global_loads += re.match(r"LDG(STS)?\b", opcode) is not None

    def repeat(self, other: Code, turns: float) -> None:
        for field in dataclasses.fields(Code):
            its = getattr(self, field.name) + turns * getattr(other, field.name)
            setattr(self, field.name, its)


@dataclasses.dataclass(frozen=True)
class Counted:
    """Of a warp between two barriers, by the executor."""

    flops: float
    global_loads: float


def code_of(instructions: Sequence[Instruction], ranges: Iterable[int]) -> Code:
    code = Code()
    for at in ranges:
        code.add(instructions[at][0])
    return code


def per_flop(kernel: tuple, counted: Counted | None) -> tuple[float, float] | None:
    """Instructions and loads from shared memory of a warp; None if no loop multiplies."""
    instructions, labels = kernel
    hot = hot_loop(instructions, labels)
    if not hot:
        return None
    loops = loops_of(instructions, labels)
    inner = code_of(instructions, range(*hot))
    around = [loop for loop in loops if within(hot, loop)]
    if inner.barriers == 0 and around and counted:
        outer: Loop = min(around, key=lambda loop: loop[1] - loop[0])
        beside = [loop for loop in loops if within(loop, outer) and (loop[1] <= hot[0] or hot[1] <= loop[0])]
        beside = [loop for loop in beside if not any(within(loop, other) for other in beside)]
        its = {at for loop in (hot, *beside) for at in range(*loop)}
        own = code_of(instructions, (at for at in range(*outer) if at not in its))
        flops = counted.flops * own.barriers
        filling = code_of(instructions, (at for loop in beside for at in range(*loop)))
        rest = counted.global_loads * own.barriers - own.global_loads
        own.repeat(filling, max(rest / filling.global_loads, 0) if filling.global_loads else 1)
        if own.barriers and flops >= inner.flops:
            own.repeat(inner, (flops - own.flops) / inner.flops)
            return own.instructions / flops, own.shared_loads / flops
    return inner.instructions / inner.flops, inner.shared_loads / inner.flops


def plain_name(mangled: str) -> str:
    """As the executor calls a kernel: "sgemm<4>"."""
    name = subprocess.run(["c++filt", mangled], capture_output=True, text=True, check=True).stdout.strip()
    name = name.replace("(anonymous namespace)::", "")
    depth, begin = 0, 0
    for at, letter in enumerate(name):
        depth += (letter == "<") - (letter == ">")
        if letter == "(" and depth == 0:
            name = name[:at]
            break
        if letter == " " and depth == 0:
            begin = at + 1
    return name[begin:]


class MachineCode:
    """Of stages, each compiled once."""

    def __init__(self, folder: pathlib.Path, architecture: str) -> None:
        self.folder, self.architecture = folder, architecture
        self.compiled: dict[str, Kernels] = {}

    def of_file(self, source: pathlib.Path) -> Kernels:
        key = str(source)
        if key not in self.compiled:
            found = compile_kernels(source, self.architecture)
            self.compiled[key] = {plain_name(name): kernel for name, kernel in found.items()}
        return self.compiled[key]

    def generated(self, stage: str, m: int, n: int) -> Kernels:
        with tempfile.TemporaryDirectory() as cache:
            command = [self.folder / "gemm", "compile", stage, f"{m}x{n}", "--type", "d", "--arch", self.architecture]
            done = subprocess.run(command, capture_output=True, text=True, env={"GEMM_KERNEL_CACHE": cache})
            cubins = sorted(pathlib.Path(cache).rglob("*.cubin"))
            if done.returncode or not cubins:
                print(f"note: {stage}, {m} x {n}: not compiled: {(done.stderr or done.stdout).strip()[-200:]}")
                return {}
            return {name: k for cubin in cubins for name, k in disassemble(find_tools()[1], cubin).items()}


def instructions_of(result: Json, steps: float, flops: float, code: MachineCode, source: pathlib.Path) -> Json:
    """What is recorded of a stage's machine code; empty if nothing is known."""
    counts, problem = result["counts"], result["problem"]
    if "generated::kernels_of<" in source.read_text():
        kernels = code.generated(result["stage"], problem["m"], problem["n"])
    else:
        launched = {launch.get("kernel") for launch in result["launches"]}
        kernels = {name: kernel for name, kernel in code.of_file(source).items() if name in launched}
    counted = None
    if counts["barriers"]:
        of_a_warp = counts["threads"] / LANES * counts["barriers"] / counts["blocks"]
        counted = Counted(flops / of_a_warp, counts["global_load"]["requests"] / of_a_warp)
    best: tuple[int, str, tuple[float, float]] | None = None
    for name, kernel in kernels.items():
        loop = hot_loop(*kernel)
        ratio = per_flop(kernel, counted)
        work = sum(flops_of(opcode_of(t)) for t, _ in kernel[0][slice(*loop)] if MULTIPLIES.match(t)) if loop else 0
        if ratio and (best is None or work > best[0]):
            best = (work, name, ratio)
    if not best:
        return {}
    instructions, shared_loads = (each * flops / steps for each in best[2])
    return {
        "kernel": best[1],
        "instructions": instructions,
        "shared_loads": shared_loads,
        "source": fingerprint(source),
    }


def measure(folder: pathlib.Path, ladder: Ladder, code: MachineCode, stage: str = "") -> Json:
    """Of all stages, or of one."""
    with tempfile.TemporaryDirectory() as place:
        out = pathlib.Path(place, "ladder.json")
        # No time limit: these shapes are large, and the machine may be busy.
        command = [folder / "gemm", "ladder", ladder.shape, *ladder.options, "--timeout", "0", "--json", out]
        command += ["--only", stage] if stage else []
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            fail(f"{' '.join(map(str, command))}: {(done.stdout + done.stderr).strip()[-300:]}")
        report = json.loads(out.read_text())
    found: Json = {"shape": ladder.shape, "compiler": report["compiler"], "commit": report["commit"], "stages": []}
    for result in report["results"]:
        counts = result["counts"]
        tensor = counts["tensor_flops"] > 2 * ((counts["fma32"] or 0) + (counts["fma64"] or 0))
        flops = counts["tensor_flops"] + 2 * ((counts["fma32"] or 0) + (counts["fma64"] or 0))
        is_double = result["problem"]["type"] == "double"
        steps = flops / (FLOPS_OF_A_PRODUCT if tensor and not is_double else 2 * LANES)
        entry = {"stage": result["stage"], **instructions_of(result, steps, flops, code, stage_file(result["stage"]))}
        entry["cycles"] = {name: each for name, each in result["predicted"]["cycles"].items() if name != "issue slots"}
        if "reference" in result:
            # How long each part takes of the reference problem; issue slots follow from the record's own instructions.
            parts = result["reference"]["parts_ms"]
            entry["parts_ms"] = {name: ms for name, ms in parts.items() if name != "issue slots"}
        found["stages"].append(entry)
        issued = f"{entry['instructions']:.3f}" if "instructions" in entry else "-"
        print(f"{result['stage']:<32} {issued:>8} instructions a step, {entry['cycles']}", flush=True)
    return found


def renewed(known: Json, found: Json) -> Json:
    """A ladder's record, with the stages that were measured anew or are new. Each of them tells its own commit."""
    if known["shape"] != found["shape"] or known["compiler"] != found["compiler"]:
        fail("the record has another shape, or was made with another compiler: all its stages have to be measured")
    own = {each["stage"]: each | {"commit": found["commit"]} for each in found["stages"]}
    stages = {each["stage"]: each for each in known["stages"]} | own
    return known | {"stages": [stages[name] for name in sorted(stages)]}


def main(arguments: list[str] | None = None) -> None:
    parser = parser_of("./lab measure bounds", __doc__)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--stage", default="")
    parser.add_argument("--arch", default="sm_90a")
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args(arguments)
    chosen = options.only.split(",") if options.only else list(LADDERS)
    for name in chosen:
        if name not in LADDERS:
            fail(f"no ladder '{name}': {', '.join(LADDERS)}")
    if options.stage and not options.only:
        fail("--stage needs --only: the ladder that it is in")
    code = MachineCode(options.folder, options.arch)
    record = read_json_if_there(options.out) or {"architecture": options.arch, "ladders": {}}
    for name in chosen:
        if options.stage and name not in record["ladders"]:
            fail(f"{options.out} has no ladder {name}: all its stages have to be measured")
        found = measure(options.folder, LADDERS[name], code, options.stage)
        record["ladders"][name] = renewed(record["ladders"][name], found) if options.stage else found
        write_digest(options.out, record)


if __name__ == "__main__":
    main(sys.argv[1:])
