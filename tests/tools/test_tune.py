#!/usr/bin/env python3
"""What tools/tune/sgemm.py computes of a point must be what the CPU executor counts of it: loads from shared memory,
their wavefronts, blocks, shared bytes. And every point of the stage's file must pass the search's own rules.

usage: test_tune.py BIN      BIN: the folder of a CPU build's programs
"""

import json
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
from tools.tune import sgemm

M, N, K = 256, 256, 192  # whole tiles of every point


def main():
    program = pathlib.Path(sys.argv[1]) / "gemm"
    failed = []
    points = sgemm.points_of_stage()
    for variant, point in points.items():
        assert point.builds() and point.shared_fits(), point
        assert point.registers_needed() <= point.registers_allowed(), point
        stage = f"16:{variant}" if variant else "16"
        command = [program, "run", stage, "--m", M, "--n", N, "--k", K, "--json", "-"]
        answer = json.loads(
            subprocess.run([str(w) for w in command], capture_output=True, text=True, check=True).stdout
        )
        counts, blocks = answer["counts"], M // point.TILE_M * (N // point.TILE_N)
        a, b = point.wavefronts_of_load()
        warps = blocks * point.warps
        expected = {
            "blocks": (counts["blocks"], blocks),
            "shared bytes": (counts["shared_bytes_per_block"], point.shared_bytes),
            "shared loads": (counts["shared_load"]["requests"], warps * point.loads(K)),
            "their wavefronts": (
                counts["shared_load"]["wavefronts"],
                warps * (K // 4 * (point.rows * a + point.cols * b) + point.GROUP * a + point.cols * b),
            ),
            "words copied": (
                counts["shared_store"]["bytes"],
                4 * blocks * K // point.TILE_K * point.TILE_K * (point.TILE_M + point.TILE_N),
            ),
        }
        failed += [
            f"{stage}: {what}: the executor counts {counted}, tools/tune/sgemm.py computes {computed}"
            for what, (counted, computed) in expected.items()
            if counted != computed
        ]
    if failed:
        sys.exit("\n".join(failed))
    print(f"{len(points)} points: as counted")


if __name__ == "__main__":
    main()
