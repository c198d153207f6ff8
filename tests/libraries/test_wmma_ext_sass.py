#!/usr/bin/env python3
"""What nvcc makes of tensorcore/wmma_ext/'s primitives, read in its machine code. Needs nvcc and nvdisasm, but no GPU.

usage: test_wmma_ext_sass.py NVCC [ARCHITECTURE...]

1. No primitive touches shared memory (LDS, STS) or local memory (LDL, STL: arrays that are not in registers): a kernel
for each of them on each kind of fragment, but for kinds whose code is that of another one. The same search must find
both where they are: in the way through shared memory that the primitives replace, and in map() of a place that is known
only at run time. 2. set_element<i, j>() costs a comparison of lanes and the setting itself; with i and j known only at
run time it costs more. 3. tcec: a policy's op alone says what multiplies. With op::mma it is HMMA; with op::simt the
same kernel has FFMA and shuffles, no HMMA, and the same code for every T.
"""

import collections
import concurrent.futures
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "executor"))
from fragment_layouts import Tools, available, kinds_of_library, types_of

ARCHITECTURES = ("90a",)

# Of each primitive: what it does to f. T: type of the elements; p: an array of them in global memory; s: a T; i, j:
# ints.
PRIMITIVES = {
    "nothing": "ext::fill(f, t);",
    "foreach_ij": "ext::foreach_ij([&](auto at, int i, int j) { for (unsigned x : at) f.x[x] = i <= j ? s : t; }, f);",
    "foreach": "ext::foreach([&](auto at, int i) { for (unsigned x : at) f.x[x] = p[i]; }, "
    "nvcuda::wmma::mem_col_major, f);",
    "foreach_v": "ext::fill_zero(f); ext::foreach_v([&](auto at, int i) { for (unsigned x : at) f.x[x] = p[i]; }, "
    "nvcuda::wmma::mem_row_major, f);",
    "map_constant": "ext::fill(f, t); constexpr auto at = ext::map<F, 3, 2>(); if (at.lane == ext::lane_id()) for "
    "(unsigned x : at.indices) f.x[x] = s;",
    "set_constant": "ext::fill(f, t); ext::set_element<3, 2>(f, s);",
    "set_variable": "ext::fill(f, t); ext::set_element(f, i, j, s);",
    "fill": "ext::fill(f, s);",
    "fill_zero": "ext::fill_zero(f);",
    "load_vector": "ext::load_vector(f, p, nvcuda::wmma::mem_col_major);",
    "store_vector": "ext::fill(f, t); ext::store_vector(const_cast<T*>(p), f, nvcuda::wmma::mem_col_major);",
    "make_identity": "ext::make_identity(f);",
    "add_eye": "ext::fill(f, t); ext::add_eye(f, s);",
    "direct_product": "ext::direct_product(f, p, p + 32);",
    "plus": "load(f, p); F g; load(g, p + 1024); f = f + g;",
    "minus": "load(f, p); F g; load(g, p + 1024); f = f - g;",
    "times": "load(f, p); F g; load(g, p + 1024); f = f * g;",
    "divided": "load(f, p); F g; load(g, p + 1024); f = f / g;",
    "with_number": "load(f, p); f = s * ((f + s) * t - t) / s;",
    "fma": "load(f, p); F g; load(g, p + 1024); f = ext::fma(f, g, f);",
    "fma_number": "load(f, p); F g; load(g, p + 1024); f = ext::fma(s, f, g);",
}
ARITHMETIC = ("plus", "minus", "times", "divided", "with_number", "fma", "fma_number")
# What must be found, to show that the search finds it.
THROUGH_SHARED = """__shared__ __align__(32) T memory[32 * 32];
  for (int x = threadIdx.x; x < 32 * 32; x += 32) memory[x] = p[x]; __syncwarp(); load(f, memory);"""
MAP_VARIABLE = (
    "ext::fill(f, t); auto at = ext::map<F>(i, j); if (at.lane == ext::lane_id()) for (unsigned x : "
    "at.indices) f.x[x] = s;"
)

SOURCE = r"""
#include "tensorcore/wmma_ext/wmma_ext.hpp"
namespace ext = wmma_ext;
using namespace wmma_ext::operators;

template <class F>
__device__ __forceinline__ void load(F& f, const ext::value_t<F>* p) {
  using traits = ext::fragment_traits<F>;
  if constexpr (traits::is_accumulator) {
    load_matrix_sync(f, p, 32, nvcuda::wmma::mem_row_major);
  } else {
    load_matrix_sync(f, p, 32);
  }
}
template <class F>
__device__ __forceinline__ void store(const F& f, ext::value_t<F>* out) {
  constexpr int elements = ext::fragment_traits<F>::elements;
#pragma unroll
  for (int e = 0; e < elements; ++e) out[threadIdx.x * elements + e] = f.x[e];
}
"""


# A product by tcec's fragments: TCEC names the kernels, by T and op.
TCEC = {
    f"{name}_{op}": (t, op)
    for name, t in {"half": "__half", "tf32": "ext::precision::tf32"}.items()
    for op in ("mma", "simt")
}
TCEC |= {"bfloat16_simt": ("__nv_bfloat16", "simt"), "float_simt": ("float", "simt")}
TCEC_SOURCE = r"""
#include "tensorcore/wmma_ext/tcec/tcec.hpp"
namespace ext = wmma_ext;
namespace tcec = wmma_ext::tcec;

template <class T, class Op>
__device__ __forceinline__ void product(const float* a, const float* b, float* c) {
  using Policy = tcec::default_policy<T, tcec::with_correction, Op>;
  tcec::fragment<ext::matrix_a, 16, 16, 16, T, ext::row_major, Policy> x;
  tcec::fragment<ext::matrix_b, 16, 16, 16, T, ext::col_major, Policy> y;
  tcec::fragment<ext::accumulator, 16, 16, 16, T, void, Policy> sum;
  tcec::load_matrix_sync(x, a, 16);
  tcec::load_matrix_sync(y, b, 16);
  tcec::fill_fragment(sum, 0.0f);
  tcec::mma_sync(sum, x, y, sum);
  tcec::store_matrix_sync(c, sum, 16, tcec::mem_row_major);
}
""" + "".join(
    f'extern "C" __global__ void {name}(const float* a, const float* b, float* c) '
    f"{{ product<{t}, tcec::op::{op}>(a, b, c); }}\n"
    for name, (t, op) in TCEC.items()
)


def primitives_of(kinds):
    """For each kind the names of primitives to look at. Kinds that differ in nothing that the code depends on need it
    only once."""
    seen, chosen = set(), []
    for kind in kinds:
        by_value = kind["name"].split()[3], kind["elements"], len(set(kind["places"]))
        by_place = kind["size"], kind["elements"], tuple(kind["places"])
        chosen.append([name for name in PRIMITIVES if (by_value if name in ARITHMETIC else by_place) not in seen])
        seen |= {by_value, by_place}
    return chosen


def kernel(name, number, body):
    """An unmangled NAME_NUMBER, of the type F{number}."""
    return (
        f'extern "C" __global__ void {name}_{number}(const ext::value_t<F{number}>* p, ext::value_t<F{number}>* out, '
        f"ext::value_t<F{number}> s, "
        f"ext::value_t<F{number}> t, int i, int j) {{ using F = F{number}; using T = ext::value_t<F>; F f; {body} "
        f"store(f, out); }}\n"
    )


def source(kinds):
    kernels = [
        kernel(name, number, PRIMITIVES[name]) for number, names in enumerate(primitives_of(kinds)) for name in names
    ]
    return "".join(
        [
            SOURCE,
            types_of(kinds),
            *kernels,
            kernel("through_shared", 0, THROUGH_SHARED),
            kernel("map_variable", 0, MAP_VARIABLE),
        ]
    )


def memory_used(code):
    """The instructions for shared and local memory."""
    return sorted(
        {
            opcode
            for opcode, operands in ((o, " ".join(x)) for o, x in code)
            for opcode in re.findall(r"\b(?:LDSM|LDS|STS|LDL|STL|ATOMS)\b", f"{opcode} {operands}")
        }
    )


def instructions(code):
    return next(i for i, (opcode, _) in enumerate(code) if opcode == "EXIT")


def check(architecture, kinds, code):
    """What is wrong, in lines."""
    wrong, costs, chosen = [], [], primitives_of(kinds)
    for number, (kind, names) in enumerate(zip(kinds, chosen)):
        wrong += [
            f"{name} of {kind['name']}: {', '.join(used)}"
            for name in names
            if (used := memory_used(code[f"{name}_{number}"]))
        ]
        if "set_constant" in names:
            nothing, constant, variable = (
                instructions(code[f"{name}_{number}"]) for name in ("nothing", "set_constant", "set_variable")
            )
            costs.append((constant - nothing, variable - nothing))
            # Which lane is it, is it that one, and two for each register of the element (a half is put into its
            # register first).
            if not 0 < costs[-1][0] <= (4 if kind["size"] <= 4 else 8) or costs[-1][1] < 2 * costs[-1][0]:
                wrong.append(
                    f"set_element of {kind['name']} takes {costs[-1][0]} instructions for a constant place, "
                    f"{costs[-1][1]} for a variable one"
                )
    for name, least in {"through_shared": "STS", "map_variable": "STL"}.items():
        if least not in memory_used(code[f"{name}_0"]):
            wrong.append(f"{name}: no {least} found, so the search is no good")
    (least, most), (least_variable, most_variable) = ((min(column), max(column)) for column in zip(*costs))
    print(
        f"sm_{architecture}: {sum(map(len, chosen))} kernels of {len(kinds)} kinds of fragments; instructions to set "
        "one element: "
        f"{least} to {most} at a constant place, {least_variable} to {most_variable} at a variable one"
    )
    return [f"sm_{architecture}: {line}" for line in wrong]


def check_tcec(architecture, code):
    """What is wrong, in lines."""
    wrong = []
    for name, (_, op) in TCEC.items():
        counts = collections.Counter(opcode.split(".")[0] for opcode, _ in code[name])
        # 16 x 16 x 16 are four products of 16 x 8 x 8. Each takes 32 FFMA of a lane, and as many shuffles; but what two
        # of them need is brought once.
        least = {"HMMA": 1} if op == "mma" else {"FFMA": 4 * 32, "SHFL": 2 * 32}
        none = {"SHFL"} if op == "mma" else {"HMMA"}
        wrong += [f"{name}: {counts[opcode]} {opcode}" for opcode, n in least.items() if counts[opcode] < n]
        wrong += [f"{name}: {counts[opcode]} {opcode}" for opcode in none if counts[opcode]]
        wrong += [f"{name}: {', '.join(used)}" for used in [memory_used(code[name])] if used]
        same, its = (code[kernel][: instructions(code[kernel])] for kernel in ("float_simt", name))
        if op == "simt" and its != same:
            wrong.append(f"{name}: its code is not that of float_simt")
    print(f"sm_{architecture}: {len(TCEC)} products by tcec")
    return [f"sm_{architecture}: {line}" for line in wrong]


def main():
    nvcc, architectures = sys.argv[1], sys.argv[2:] or ARCHITECTURES
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        tools = Tools(nvcc, folder)
        if not tools.nvdisasm:
            print("*** SKIPPED, NOT RUN: no nvdisasm ***")
            return 0
        kinds = kinds_of_library(tools, "wmma_sm_75", "mma_sm_75", "wmma_sm_80", "mma_sm_80")

        def checked(architecture):
            have = [kind for kind in kinds if available(kind, architecture)]

            def code_of(name, text):
                return tools.disassemble(tools.compile(name, text, f"-arch=sm_{architecture}", "-cubin"))

            return check(architecture, have, code_of(f"sm_{architecture}", source(have))) + check_tcec(
                architecture, code_of(f"tcec_sm_{architecture}", TCEC_SOURCE)
            )

        wrong = sum(pool.map(checked, architectures), [])
    print("".join(f"{line}\n" for line in wrong), end="")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
