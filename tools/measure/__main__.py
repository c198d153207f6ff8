"""`./lab measure WHAT ...`: one of the programs that measure, or search for the best kernel."""

import importlib
import sys

from tools.command_line import fail, run

PROGRAMS = {
    "bounds": ("tools.measure.bounds", "what bounds each stage, from counts and machine code"),
    "class": ("tools.measure.course", "how long a class of submissions takes to grade"),
    "counters": ("tools.measure.counters", "hardware counters of the stages, or of probes, by Nsight Compute"),
    "counts": ("tools.measure.counts", "the CPU executor's counts, alone or beside Nsight Compute's"),
    "default-sizes": ("tools.measure.default_sizes", "how long ./lab emulate takes for programs of usual sizes"),
    "digest": ("tools.measure.digest", "what was measured, as it is committed"),
    "library": ("tools.measure.library", "the installed library, as other programs see it"),
    "lists": ("tools.measure.lists", "products of lists of blocks, beside those of pairs and of one matrix"),
    "lobpcg": ("tools.measure.lobpcg", "an eigensolver's iteration, with our products and with cuBLAS's"),
    "loop": ("tools.measure.loop", "where the time of builds and tests goes"),
    "pairs": ("tools.measure.pairs", "whether tall & skinny kernels are right for every M and N"),
    "programs": ("tools.measure.programs", "what ./lab emulate says of the programs in tests/programs"),
    "sanitizers": ("tools.measure.sanitizers", "everything under compute-sanitizer"),
    "scoreboards": ("tools.measure.scoreboards", "when a kernel's hot loop waits, from its machine code"),
    "qr": ("tools.measure.qr", "Cholesky QR 2 by the installed library, beside its least time and cuSOLVER"),
    "strides": ("tools.measure.strides", "tall & skinny products of padded rows, by the installed library"),
    "tune": ("tools.tune.sgemm", "the search behind stage 16"),
    "blockings": ("tools.tune.blockings", "the grid of blockings around tensorcore/12"),
    "search-tsmm": ("tools.tune.tsmm", "the search behind the model of tsm/12, and how well it chooses"),
    "tune-short": ("tools.tune.short_k", "up to how short a K tsm/09 is faster than the kernel that was tuned"),
    "tune-tsm": ("tools.tune.tsm", "the autotuner of the tall & skinny products"),
}


def main() -> int:
    what, arguments = sys.argv[1:2], sys.argv[2:]
    if what in (["--help"], ["-h"]):
        print("usage: ./lab measure WHAT ...; './lab measure WHAT --help' shows its options\n")
        for name, (_, title) in PROGRAMS.items():
            print(f"  {name:<14} {title}")
        return 0
    if not what:
        fail(f"measure what? {', '.join(PROGRAMS)}")
    if what[0] not in PROGRAMS:
        fail(f"there is no measurement '{what[0]}': {', '.join(PROGRAMS)}")
    return importlib.import_module(PROGRAMS[what[0]][0]).main(arguments)


if __name__ == "__main__":
    run(main)
