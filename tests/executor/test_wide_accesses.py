#!/usr/bin/env python3
"""Checks that g++ copies each of CUDA's vector types with the accesses that a GPU makes: a float4 with one of 16 bytes.

usage: test_wide_accesses.py CXX

Compiles copies with -fsanitize=thread, which puts a call before each access that tells its width, and counts the calls.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLAGS = (
    "-std=c++20 -Wall -Wextra -Werror -fsanitize=thread -fsanitize-coverage=trace-pc -fno-tree-vectorize "
    "-ffp-contract=fast -fno-extern-tls-init -g -c"
).split()
SIZES = {
    "char": 1,
    "uchar": 1,
    "short": 2,
    "ushort": 2,
    "int": 4,
    "uint": 4,
    "float": 4,
    "long": 8,
    "ulong": 8,
    "longlong": 8,
    "ulonglong": 8,
    "double": 8,
}

# What to do with one vector type V, and from which optimisation level on it makes no more accesses than these: below,
# g++ keeps local variables in memory, and accesses them there.
COPY = "void {name}(V* to, const V* from) {{ *to = *from; }}", 0
SHARED = (
    "void {name}(V* to, const V* from) {{ __shared__ V cells[8][8]; cells[0][to - from] = *from; *to = cells[1][2]; }}",
    0,
)
LOCAL = "void {name}(V* to, const V* from) {{ V v = *from; V w; w = v; *to = w; }}", 1
LDG = "void {name}(V* to, const V* from) {{ *to = __ldg(from); }}", 1
ONE_USED = "void {name}(V* to, const V* from) {{ V v = *from; v.x = 1; *to = v; }}", 1
MADE = "void {name}(V* to, const V* from) {{ V v = *from; *to = make_{type}({swapped}); }}", 1
CASES = {"copy": COPY, "shared": SHARED, "local": LOCAL, "ldg": LDG, "one_used": ONE_USED, "made": MADE}


def widths(component, count):
    """The accesses that move one vector."""
    if count == 3:
        return [component] * 3
    return [16] * (component * count // 16) or [component * count]


def source(level):
    lines, expected = ["#include <cuda_runtime.h>"], {}
    for base, size in SIZES.items():
        for count in (1, 2, 3, 4):
            vector = f"{base}{count}"
            for case, (text, from_level) in CASES.items():
                if level < from_level or (count in (1, 3) and case == "one_used"):
                    continue
                name = f"{case}_{vector}"
                swapped = ", ".join("v." + member for member in reversed("xyzw"[:count]))
                lines.append(text.replace("V", vector).format(name=name, type=vector, swapped=swapped))
                expected[name] = sorted(
                    f"{way}{width}"
                    for way in ("read", "write")
                    for width in widths(size, count)
                    for _ in range(2 if case == "shared" else 1)
                )
    return "\n".join(lines) + "\n", expected


def calls_by_function(dump):
    found, name = {}, None
    for line in dump.splitlines():
        if start := re.match(r"[0-9a-f]+ <([^(>]+)", line):
            name = start[1]
            found[name] = []
        elif access := re.search(r"R_\S+\s+__tsan_(?:unaligned_)?((?:read|write)\w*)", line):
            found[name].append(access[1])
    return {name: sorted(calls) for name, calls in found.items()}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    failures = checked = 0
    objdump = subprocess.run(
        [sys.argv[1], "-print-prog-name=objdump"], check=True, text=True, stdout=subprocess.PIPE
    ).stdout.strip()
    with tempfile.TemporaryDirectory() as folder:
        path, binary = pathlib.Path(folder, "copies.cpp"), pathlib.Path(folder, "copies.o")
        for level in range(4):
            text, expected = source(level)
            path.write_text(text)
            subprocess.run(
                [sys.argv[1], *FLAGS, f"-O{level}", f"-I{ROOT}/common/simt/include", f"-I{ROOT}", path, "-o", binary],
                check=True,
            )
            dump = subprocess.run(
                [objdump, "-drC", "--no-show-raw-insn", binary], check=True, text=True, stdout=subprocess.PIPE
            ).stdout
            found = calls_by_function(dump)
            for name, accesses in expected.items():
                checked += 1
                if found.get(name) != accesses:
                    failures += 1
                    print(f"-O{level} {name}: {found.get(name)} instead of {accesses}")
    print(f"{checked} functions, {failures} failures")
    return 1 if failures or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
