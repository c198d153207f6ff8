#!/usr/bin/env python3
"""The layouts of tensorcore/wmma_ext/ on GPUs that nobody here has. Needs nvcc and nvdisasm, but no GPU.

usage: fragment_layouts.py NVCC [ARCHITECTURE...]

For each architecture, load_matrix_sync of each kind of fragment is compiled, and a warp's integer instructions, loads
and stores are run here, on a matrix whose elements are numbered. Where each element ends up in x[] must be what the
library says.
"""

import collections
import concurrent.futures
import functools
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
ARCHITECTURES = ("75", "80", "90a", "120")  # 86 and 89 have the code of 80, and 100 nearly that of 120
LANES, MATRIX, OUT, MEMORY, LDM = 32, 0x0, 0x8000, 0x10000, 64  # addresses in the warp's memory; LDM in elements

# Loads and stores x[]; the host prints what the library says of each kind.
LOADS = r"""
#include <cstdio>
#include "tensorcore/wmma_ext/wmma_ext.hpp"
namespace ext = wmma_ext;

template <class F>
__device__ void load_one(const ext::value_t<F>* p, ext::value_t<F>* out) {
  using traits = ext::fragment_traits<F>;
  F f;
  if constexpr (traits::is_accumulator) {
    nvcuda::wmma::load_matrix_sync(f, p, 64, nvcuda::wmma::mem_row_major);
  } else {
    nvcuda::wmma::load_matrix_sync(f, p, 64);
  }
  for (int i = 0; i < traits::elements; ++i) out[threadIdx.x * traits::elements + i] = f.x[i];
}
template <class F>
void show() {
  using traits = ext::fragment_traits<F>;
  std::printf("%d %d %d %d %s:", ext::kinds::runs_on_sm_75<F> ? 75 : 80,
              static_cast<int>(sizeof(ext::value_t<F>)), traits::is_accumulator || traits::by_rows, traits::elements,
              ext::kinds::description<F>().c_str());
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < traits::elements; ++i) {
      const auto p = traits::place(lane, i);
      std::printf(" %d,%d", p.row, p.col);
    }
  }
  std::printf("\n");
}
template <class... F>
void show_all(ext::kinds::list<F...>) { (show<F>(), ...); }
"""


def half_bits(text):
    return struct.unpack("<H", struct.pack("<e", float(text)))[0]


@functools.lru_cache(None)
def operand(text):
    """Its sign, what it is, and its name, address or value."""
    text = text.replace(".reuse", "")
    sign, text = (-1, text[1:]) if text.startswith("-") else (1, text)
    if text in ("RZ", "URZ"):
        return sign, "number", 0
    if re.fullmatch(r"U?R\d+", text):
        return sign, "register", text
    if constant := re.fullmatch(r"c\[0x0\]\[(0x[0-9a-f]+)\]", text):
        return sign, "constant", int(constant[1], 16)
    return sign, "number", int(text, 0)


@functools.lru_cache(None)
def second(text):
    """The upper half of a wide operand."""
    text = text.replace(".reuse", "")
    if text in ("RZ", "URZ"):
        return text
    return re.sub(
        r"(0x[0-9a-f]+|\d+)(\]?)$", lambda m: (hex(int(m[1], 0) + 4) if m[2] else str(int(m[1]) + 1)) + m[2], text
    )


class Warp:
    """32 lanes and the instructions that a load of a fragment takes. Registers are 32 bits; a wide operand is two of
    them."""

    def __init__(self, constants, memory):
        self.constants, self.memory = constants, memory
        self.registers = [collections.defaultdict(int) for _ in range(LANES)]
        self.predicates = [collections.defaultdict(int) for _ in range(LANES)]

    def value(self, lane, text):
        sign, kind, what = operand(text)
        number = (
            self.registers[lane][what]
            if kind == "register"
            else self.constants.get(what, 0)
            if kind == "constant"
            else what
        )
        return sign * number & 0xFFFFFFFF

    def wide(self, lane, text):
        return self.value(lane, text) | self.value(lane, second(text)) << 32

    def put(self, lane, name, number, wide=False):
        self.registers[lane][name] = number & 0xFFFFFFFF
        if wide:
            self.registers[lane][second(name)] = number >> 32 & 0xFFFFFFFF

    def address(self, lane, text):
        found = re.fullmatch(r"(?:desc\[UR\d+\])?\[(R\d+)(?:\.64)?(?:\+(-?0x[0-9a-f]+))?\]", text)
        return self.wide(lane, found[1]) + int(found[2] or "0", 16)

    def run(self, code):
        for opcode, operands in code:
            if opcode == "EXIT":
                return
            # Transposes an 8 x 8 matrix of 16-bit elements, two neighbours in a row a lane.
            if opcode == "MOVM.16.MT88":
                rows = [self.value(lane, operands[1]) for lane in range(LANES)]
                elements = [
                    [rows[4 * row + col // 2] >> 16 * (col % 2) & 0xFFFF for col in range(8)] for row in range(8)
                ]
                for lane in range(LANES):
                    row, col = lane % 4 * 2, lane // 4
                    self.put(lane, operands[0], elements[row][col] | elements[row + 1][col] << 16)
                continue
            for lane in range(LANES):
                self.step(lane, opcode, operands)

    def step(self, lane, opcode, operands):
        name = opcode.split(".")[0]
        of = [x for x in operands if x != "PT"]
        value = lambda i: self.value(lane, of[i])  # noqa: E731
        if name == "S2R" and of[1] in ("SR_LANEID", "SR_TID.X"):
            self.put(lane, of[0], lane)
        elif name == "MOV":
            self.put(lane, of[0], value(1))
        elif opcode.startswith("IMAD.WIDE"):
            signed = (lambda x: x) if ".U32" in opcode else (lambda x: x - (x >> 31 << 32))
            self.put(lane, of[0], signed(value(1)) * signed(value(2)) + self.wide(lane, of[3]), wide=True)
        elif name == "IMAD" and opcode in ("IMAD", "IMAD.MOV.U32", "IMAD.SHL.U32", "IMAD.IADD"):
            self.put(lane, of[0], value(1) * value(2) + value(3))
        elif name == "IADD3" and len(of) == 4:
            self.put(lane, of[0], value(1) + value(2) + value(3))
        elif opcode == "LEA" and len(of) == 4:
            self.put(lane, of[0], (value(1) << value(3)) + value(2))
        elif opcode == "LEA":
            total = (value(2) << value(4)) % 2**32 + value(3)
            self.predicates[lane][of[1]] = total >> 32
            self.put(lane, of[0], total)
        elif opcode == "LEA.HI.X":
            high = (value(3) << 32 | value(1)) << value(4) >> 32
            self.put(lane, of[0], high + value(2) + self.predicates[lane][of[5]])
        elif opcode == "LOP3.LUT" and of[5] == "!PT":
            x, y, z, table, number = value(1), value(2), value(3), value(4), 0
            for bits in range(8):
                if table >> bits & 1:
                    number |= (x if bits & 4 else ~x) & (y if bits & 2 else ~y) & (z if bits & 1 else ~z)
            self.put(lane, of[0], number)
        elif opcode == "SHF.L.U32" and of[3] == "RZ":
            self.put(lane, of[0], value(1) << value(2))
        elif opcode == "SHF.R.U32.HI" and of[1] == "RZ":
            self.put(lane, of[0], value(3) >> value(2))
        elif name == "PRMT":
            source = (value(1) | value(3) << 32).to_bytes(8, "little")
            self.put(lane, of[0], sum(source[value(2) >> 4 * i & 7] << 8 * i for i in range(4)))
        elif name == "HFMA2" and of[1:3] == ["-RZ", "RZ"]:  # a constant
            self.put(lane, of[0], half_bits(of[3]) << 16 | half_bits(of[4]))
        elif name in ("LDC", "LDCU", "ULDC"):
            wide = opcode.endswith(".64")
            self.put(lane, of[0], self.wide(lane, of[1]) if wide else value(1), wide)
        elif name in ("LD", "LDG") and not re.search(r"\.(U8|S8|U16|S16)\b", opcode):
            at, registers = self.address(lane, of[1]), of[0]
            for _ in range(4 if ".128" in opcode else 2 if ".64" in opcode else 1):
                self.put(lane, registers, int.from_bytes(self.memory[at : at + 4], "little"))
                at, registers = at + 4, second(registers)
        elif name in ("ST", "STG") and not re.search(r"\.(U8|S8)\b", opcode):
            at, size, registers = self.address(lane, of[0]), 2 if ".U16" in opcode else 4, of[1]
            for _ in range(4 if ".128" in opcode else 2 if ".64" in opcode else 1):
                self.memory[at : at + size] = (self.value(lane, registers) & (1 << 8 * size) - 1).to_bytes(
                    size, "little"
                )
                at, registers = at + 4, second(registers)
        else:
            raise NotImplementedError(f"{opcode} {', '.join(operands)}")


def functions(disassembly):
    """Instructions without guards, by mangled name: [(opcode, operands)]."""
    code, found = None, {}
    for line in disassembly.splitlines():
        if label := re.match(r"\.text\.(\S+):", line):
            code = found.setdefault(label[1], [])
        elif instruction := re.match(r"\s+/\*[0-9a-f]{4,}\*/\s+([A-Z]\S*?)(?:\s+([^;]*?))?\s*;", line):
            operands = [x.strip() for x in (instruction[2] or "").split(",")]
            code.append((instruction[1], operands))
        elif code is not None and re.match(r"\s+/\*[0-9a-f]{4,}\*/\s+@", line):
            code.append(("guarded", [line.strip()]))
    return found


class Tools:
    def __init__(self, nvcc, folder):
        self.nvcc, self.folder = nvcc, pathlib.Path(folder)
        beside = [
            pathlib.Path(nvcc).resolve().parent / "nvdisasm",
            ROOT / ".lab" / "cuda-wheels" / "cuda" / "bin" / "nvdisasm",
        ]
        self.nvdisasm = next((str(path) for path in beside if path.exists()), shutil.which("nvdisasm"))

    def compile(self, name, source, *options):
        (self.folder / f"{name}.cu").write_text(source)
        output = self.folder / f"{name}.out"
        subprocess.run(
            [self.nvcc, "-std=c++20", f"-I{ROOT}", *options, "-o", output, self.folder / f"{name}.cu"], check=True
        )
        return output

    def disassemble(self, cubin):
        return functions(
            subprocess.run([self.nvdisasm, "-c", cubin], check=True, stdout=subprocess.PIPE, text=True).stdout
        )


def types_of(kinds):
    """F0, F1, ...: the kinds' types."""
    lines = []
    for number, kind in enumerate(kinds):
        family, use, shape, element, *order = kind["name"].split()
        types = {
            "f16": "__half",
            "bf16": "__nv_bfloat16",
            "tf32": "ext::precision::tf32",
            "f32": "float",
            "f64": "double",
        }
        layout = f", nvcuda::wmma::{order[0]}" if order else ""
        namespace = "nvcuda::wmma" if family == "wmma" else "ext::mma"
        lines.append(
            f"using F{number} = {namespace}::fragment<nvcuda::wmma::{use}, {shape.replace('x', ', ')}, "
            f"{types[element]}{layout}>;\n"
        )
    return "".join(lines)


def instantiations(kinds):
    """A kernel load_NUMBER for each, whose name is not mangled."""
    return types_of(kinds) + "".join(
        f'extern "C" __global__ void load_{number}(const ext::value_t<F{number}>* p, ext::value_t<F{number}>* out) '
        f"{{ load_one<F{number}>(p, out); }}\n"
        for number in range(len(kinds))
    )


def available(kind, architecture):
    return kind["needs"] <= int(architecture.rstrip("af"))


def kinds_of_library(tools, *lists):
    """Those of lists in the library's namespace kinds."""
    shown = " ".join(f"show_all(ext::kinds::{name}{{}});" for name in lists)
    printed = subprocess.run(
        [tools.compile("show", LOADS + f"int main() {{ {shown} }}\n", "-arch=sm_80", "-cudart=static")],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    kinds = []
    for line in printed.splitlines():
        head, places = line.split(":")
        needs, size, by_rows, elements, name = head.split(" ", 4)
        kinds.append(
            {
                "name": name,
                "needs": int(needs),
                "size": int(size),
                "by_rows": by_rows == "1",
                "elements": int(elements),
                "places": [tuple(map(int, place.split(","))) for place in places.split()],
            }
        )
    return kinds


def check_layouts(kinds, compiled):
    """compiled: code by architecture. Answers how many kinds are wrong."""
    wrong, stored = 0, {}
    for architecture, code in compiled.items():
        have = [kind for kind in kinds if available(kind, architecture)]
        number = int(architecture.rstrip("af"))
        parameters = 0x160 if number < 90 else 0x210 if number < 100 else 0x380
        for i, kind in enumerate(have):
            size, memory, key = kind["size"], bytearray(MEMORY), (parameters, kind["name"], repr(code[f"load_{i}"]))
            memory[MATRIX:OUT] = b"".join(element.to_bytes(size, "little") for element in range((OUT - MATRIX) // size))
            if key not in stored:  # many architectures have the same code
                Warp({parameters: MATRIX, parameters + 8: OUT}, memory).run(code[f"load_{i}"])
                stored[key] = memory
            memory, found = stored[key], []
            for element in range(LANES * kind["elements"]):
                at = OUT + element * size
                outer, inner = divmod(int.from_bytes(memory[at : at + size], "little"), LDM)
                found.append((outer, inner) if kind["by_rows"] else (inner, outer))
            if found != kind["places"]:
                wrong += 1
                e = next(e for e, (a, b) in enumerate(zip(found, kind["places"])) if a != b)
                lane, x = divmod(e, kind["elements"])
                print(
                    f"sm_{architecture}: {kind['name']}: lane {lane}, x[{x}]: nvcc has {found[e]}, the library "
                    f"{kind['places'][e]}"
                )
        print(f"sm_{architecture}: {len(have)} kinds of fragments")
    return wrong


def main():
    nvcc, architectures = sys.argv[1], sys.argv[2:] or ARCHITECTURES
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        tools = Tools(nvcc, folder)
        if not tools.nvdisasm:
            print("*** SKIPPED, NOT RUN: no nvdisasm ***")
            return 0
        kinds = kinds_of_library(tools, "wmma_sm_75", "wmma_sm_80")

        def compiled(architecture):
            source = LOADS + instantiations([kind for kind in kinds if available(kind, architecture)])
            return tools.disassemble(tools.compile(f"sm_{architecture}", source, f"-arch=sm_{architecture}", "-cubin"))

        code = dict(zip(architectures, pool.map(compiled, architectures)))
    return bool(check_layouts(kinds, code))


if __name__ == "__main__":
    sys.exit(main())
