#!/usr/bin/env python3
"""How sm_70 lays out nvcuda::wmma's fragments, which tensorcore/wmma_ext/ refuses: that tensorcore/README.md says so
rightly. Needs ptxas and nvdisasm of CUDA 12, the last that knows sm_70, but no GPU.

usage: volta_layouts.py PTXAS NVDISASM

A kernel for each kind of fragment loads a matrix whose elements are numbered. Its machine code is run here, as in
fragment_layouts.py. Each bit of a lane's number and of an index in x[] must then be a bit of the row, a bit of the
column, or nothing: lanes that differ in such a bit hold the same elements. Of 16 x 16 x 16 the page has a table.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "executor"))
from fragment_layouts import LANES, LDM, MATRIX, MEMORY, OUT, Warp, functions

SHAPES = ("m16n16k16", "m32n8k16", "m8n32k16")
PARAMETERS = 0x160  # of a kernel for sm_70, in constant memory
# The page's table, in its order: the kind in PTX, and as the page names it.
ON_PAGE = {
    "a.row": "A, `row_major`",
    "a.col": "A, `col_major`",
    "b.col": "B, `col_major`",
    "b.row": "B, `row_major`",
    "c.f16": "C, FP16",
    "c.f32": "C, FP32",
}


def ptx() -> str:
    """A kernel KIND_SHAPE(matrix, out) for each kind of fragment: load it, and store its registers lane by lane."""
    text = ".version 7.0\n.target sm_70\n.address_size 64\n"
    for kind in ON_PAGE:
        use, what = kind.split(".")
        bits, order, element = ("f", "row", "f32") if what == "f32" else ("b", "row" if use == "c" else what, "f16")
        registers = [f"%x{i}" for i in range(4 if what == "f16" else 8)]
        for shape in SHAPES:
            stores = "".join(f"st.global.{bits}32 [%to+{4 * i}], {name};\n" for i, name in enumerate(registers))
            text += (
                f".visible .entry {use}_{what}_{shape}(.param .u64 matrix, .param .u64 out) {{\n"
                f".reg .{bits}32 %x<8>; .reg .b32 %lane, %ldm; .reg .b64 %from, %to, %offset;\n"
                "ld.param.u64 %from, [matrix];\nld.param.u64 %to, [out];\n"
                f"mov.u32 %lane, %tid.x;\nmul.wide.u32 %offset, %lane, {4 * len(registers)};\n"
                f"add.u64 %to, %to, %offset;\nmov.u32 %ldm, {LDM};\n"
                f"wmma.load.{use}.sync.aligned.{order}.{shape}.global.{element} "
                f"{{{', '.join(registers)}}}, [%from], %ldm;\n{stores}ret;\n}}\n"
            )
    return text


def places(kind: str, code: list[tuple[str, list[str]]]) -> list[list[tuple[int, int]]]:
    """Of each lane, row and column of each element of x[]."""
    use, what = kind.split(".")
    size, elements = (4, 8) if what == "f32" else (2, 8 if use == "c" else 16)
    memory = bytearray(MEMORY)
    memory[MATRIX:OUT] = b"".join(e.to_bytes(size, "little") for e in range((OUT - MATRIX) // size))
    # "@!PT": never executed.
    code = [step for step in code if step[0] != "guarded" or "@!PT" not in step[1][0]]
    Warp({PARAMETERS: MATRIX, PARAMETERS + 8: OUT}, memory).run(code)
    found = []
    for e in range(LANES * elements):
        outer, inner = divmod(int.from_bytes(memory[OUT + e * size : OUT + (e + 1) * size], "little"), LDM)
        found.append((inner, outer) if what == "col" else (outer, inner))
    return [found[lane * elements : (lane + 1) * elements] for lane in range(LANES)]


def bits_of(of_lanes: list[list[tuple[int, int]]]) -> tuple[list[str], list[str]]:
    """What each bit of the lane and of the index is; an error if that does not explain all places."""
    elements = len(of_lanes[0])
    lanes = [of_lanes[1 << b][0] for b in range(5)]
    indices = [of_lanes[0][1 << b] for b in range(elements.bit_length() - 1)]
    for lane in range(LANES):
        for i in range(elements):
            set_bits = [lanes[b] for b in range(5) if lane >> b & 1] + [
                place for b, place in enumerate(indices) if i >> b & 1
            ]
            if of_lanes[lane][i] != (sum(p[0] for p in set_bits), sum(p[1] for p in set_bits)):
                raise ValueError(f"lane {lane}, x[{i}] is {of_lanes[lane][i]}: no matter of single bits")

    def name(place: tuple[int, int]) -> str:
        row, col = place
        return f"row {row.bit_length() - 1}" if row else f"col {col.bit_length() - 1}" if col else "*copy*"

    return [name(place) for place in lanes], [name(place) for place in indices]


def main() -> int:
    ptxas, nvdisasm = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        source, cubin = pathlib.Path(folder, "load.ptx"), pathlib.Path(folder, "load.cubin")
        source.write_text(ptx())
        subprocess.run([ptxas, "-arch=sm_70", "-o", cubin, source], check=True)
        listing = subprocess.run([nvdisasm, "-c", cubin], check=True, stdout=subprocess.PIPE, text=True).stdout
    code = functions(listing)
    rows = []
    for kind, title in ON_PAGE.items():
        for shape in SHAPES:
            lanes, indices = bits_of(places(kind, code[f"{kind.replace('.', '_')}_{shape}"]))
            row = f"| {title} | {', '.join(lanes)} | {', '.join(indices)} |"
            print(f"{shape}: {row}")
            if shape == SHAPES[0]:
                rows.append(row)
    page = (ROOT / "tensorcore" / "README.md").read_text()
    section = re.search(r"^### sm_70$.*?(?=^#)", page, re.M | re.S)
    missing = [row for row in rows if not section or row not in section[0]]
    for row in missing:
        print(f"not in tensorcore/README.md: {row}")
    return bool(missing)


if __name__ == "__main__":
    sys.exit(main())
