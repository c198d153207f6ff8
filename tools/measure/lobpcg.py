"""An eigensolver by tall & skinny products (examples/lobpcg.cpp), with ours and with cuBLAS's: time for an iteration,
and whether both are right.

usage: ./lab measure lobpcg --out FILE PROGRAM [--side 3162] [--iterations 30]

PROGRAM: lobpcg of a build for GPUs, such as build/gpu/bin/lobpcg.
"""

import json
import pathlib
import tempfile

from tools.command_line import parser_of
from tools.measure.card import card
from tools.measure.library import run
from tools.repository import GPU, commit_of_tree


def main(arguments: list[str] | None = None) -> None:
    parser = parser_of("./lab measure lobpcg", __doc__)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--side", type=int, default=3162)
    parser.add_argument("--iterations", type=int, default=30)
    options = parser.parse_args(arguments)
    device, driver = card()
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "lobpcg.json")
        said = run(options.program, "--side", options.side, "--iterations", options.iterations, "--json", file)
        found = json.loads(file.read_text())
    head = {"device": device, "driver": driver, "commit": commit_of_tree(GPU / "lobpcg.json")}
    options.out.write_text(json.dumps(head | found, indent=1) + "\n")
    print(said, end="")
