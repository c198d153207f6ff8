#!/usr/bin/env python3
"""tools/pages/summit_model.py, from which the tables and the figure of stage 18's page come, must tell the same as the
stage does: the launches of small products on the CPU executor, which answers for a GPU with four SMs.

usage: test_summit_model.py BIN      BIN: a CPU build's programs
"""

import json
import subprocess
import sys

sys.dont_write_bytecode = True
from tools.pages import summit_model
from tools.pages.summit_model import ceil_div

SHAPES = [
    (64, 64, 64),
    (256, 256, 256),
    (255, 255, 255),
    (300, 200, 900),
    (16, 16, 4000),
    (640, 128, 32),
    (400, 400, 40),
    (129, 67, 515),
    (500, 260, 100),
    (384, 520, 64),
    (20, 40, 600),
    (1, 700, 33),
    (130, 1030, 12),
]


def expected(model, m, n, k):
    """The grids that are launched."""
    plan = model.choose(m, n, k)
    tile = model.shapes[plan["tile"]]
    grids = []
    if plan["packing"]:
        panel = model.panel
        grids.append(
            ceil_div(m, panel) * (panel // 32) * ceil_div(k, 32)
            + (n % 32 != 0) * ceil_div(n, panel) * ceil_div(k, model.pack_b_rows)
        )
    grids.append(plan["workers"] + plan["tiles"] - plan["shared"])
    if plan["workers"] and model.reduced(plan):
        grids.append(plan["shared"] * (tile["m"] * tile["n"] // 4 // 64))
    return grids


def main():
    summit_model.SMS = 4
    model = summit_model.Model()
    wrong = 0
    for shape in SHAPES:
        options = [word for name, size in zip("mnk", shape) for word in (f"--{name}", str(size))]
        run = subprocess.run(
            [f"{sys.argv[1]}/gemm", "run", "18", *options, "--check", "--json", "-"], capture_output=True, text=True
        )
        if run.returncode:
            sys.exit(f"error: {shape}: {run.stdout}{run.stderr}")
        found = [launch["grid"][0] for launch in json.loads(run.stdout)["launches"]]
        if found != expected(model, *shape):
            wrong += 1
            print(f"{shape}: launched {found}, summit_model.py says {expected(model, *shape)}")
    if wrong:
        sys.exit(f"error: {wrong} of {len(SHAPES)} shapes")


if __name__ == "__main__":
    main()
