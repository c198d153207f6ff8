"""The grid of blockings around tensorcore/12_batched.cu: tiles of a block, of a warp, steps of k of a fragment.

usage: ./lab measure blockings --plan [--match RE]
           the points
       ./lab measure blockings [--build build/gpu] [--match RE] [--out FILE]
           compile them all into one program, check and time each on this machine's GPU
"""

import itertools
import json
import pathlib
import re
import shlex
import subprocess
import sys
from typing import NamedTuple

from tools.command_line import fail, parser_of
from tools.repository import ROOT, read_json
from tools.tune.copies import compile_copies, link_ladder

STAGE = ROOT / "tensorcore" / "12_batched.cu"
DEPTHS = (128, 512, 2048, 8192)
MOST_WARPS, MOST_SHARED = 16, 227 * 1024


class Blocking(NamedTuple):
    """The arguments of Blocking in the stage."""

    TILE_M: int
    TILE_N: int
    TILE_K: int
    WARP_M: int
    WARP_N: int
    STEP: int
    STAGES: int

    @property
    def name(self) -> str:
        tile, fragment = (self.TILE_M, self.TILE_N, self.TILE_K), (self.WARP_M, self.WARP_N, self.STEP)
        return f"{'x'.join(map(str, tile))}-{'x'.join(map(str, fragment))}-{self.STAGES}"

    @property
    def warps(self) -> int:
        return self.TILE_M // self.WARP_M * (self.TILE_N // self.WARP_N)

    @property
    def shared_bytes(self) -> int:
        return self.STAGES * 4 * (self.TILE_M * (self.TILE_K + 8) + self.TILE_K * (self.TILE_N + 4))

    def builds(self) -> bool:
        """The stage's static_asserts, and what a block can have."""
        chunks = self.TILE_M * self.TILE_K // 4, self.TILE_K * self.TILE_N // 4  # float4s of a tile of A, of B
        return (
            self.TILE_M % self.WARP_M == self.TILE_N % self.WARP_N == self.TILE_K % self.STEP == 0
            and self.warps <= MOST_WARPS
            and self.shared_bytes <= MOST_SHARED
            and all(count % (32 * self.warps) == 0 for count in chunks)
        )


def grid() -> list[Blocking]:
    """Square and oblong tiles of up to 128; warps of up to 64 x 64, whose sums no longer fit the registers."""
    tiles, warps = ((64, 64), (64, 128), (128, 64), (128, 128)), ((32, 32), (32, 64), (64, 32), (64, 64))
    return [
        point
        for (m, n), k, (warp_m, warp_n), (warp_k, stages) in itertools.product(
            tiles, (16, 32, 64), warps, ((16, 2), (32, 2), (32, 3))
        )
        if (point := Blocking(m, n, k, warp_m, warp_n, warp_k, stages)).builds()
    ]


def copy_of(text: str, point: Blocking) -> str:
    """The stage with another blocking, and without variants, which would be compiled for each point again."""
    parts = {
        r"constexpr gemm::Variant variants\[\] = \{.*?\n\};\n": "",
        r"\n    \.variants = variants,": "",
        r"(?<=\.launch = launch<Blocking<)[^>]*": ", ".join(map(str, point)),
    }
    for pattern, replacement in parts.items():
        text, found = re.subn(pattern, replacement, text, flags=re.S)
        if found != 1:
            fail(f"{STAGE.name}: {found} places for {pattern}")
    return text


def main(arguments: list[str] | None = None) -> None:
    parser = parser_of("./lab measure blockings", __doc__)
    parser.add_argument("--plan", action="store_true")
    parser.add_argument("--match", default="", help="a regular expression: only points whose name has it")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "gpu", help="a GPU build, of Ninja")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build" / "tune" / "tensor_blockings.json")
    parser.add_argument("--arch", default="90a")
    parser.add_argument("--seconds", default="0.03", help="of sampling, a point and a depth")
    options = parser.parse_args(arguments)
    points = {f"12_{point.name}": point for point in grid() if re.search(options.match, point.name)}
    if options.plan:
        print("\n".join(points))
        return
    text = STAGE.read_text()
    texts = {stem: copy_of(text, point) for stem, point in points.items()}
    copies = compile_copies(STAGE, texts, options.build, options.arch)
    program = options.build.resolve().parent / "tune" / "blockings"
    link_ladder([copy.target for copy in copies.values()], options.build, program)
    shapes = [f"1024x1024x{k}" for k in DEPTHS]
    only = ",".join(f"tuning/{stem}" for stem in points)
    how = ["--only", only, "--type", "s", "--batch", "256", "--seconds", options.seconds, "--json", options.out]
    done = subprocess.run([str(word) for word in (program, "ladder", *shapes, *how)], stdout=subprocess.DEVNULL)
    if not options.out.exists():
        sys.exit(done.returncode or 1)  # it has said why
    record = read_json(options.out)
    # Of the program it is no use: it is linked of these copies, and gone.
    of_points = f" --match {shlex.quote(options.match)}" if options.match else ""
    record["command"] = f"./lab measure blockings{of_points} --seconds {options.seconds}"
    record["copies"] = {
        stem: {**copy.resources, "shared_bytes": points[stem].shared_bytes} for stem, copy in copies.items()
    }
    options.out.write_text(json.dumps(record) + "\n")
    sys.exit(done.returncode)
