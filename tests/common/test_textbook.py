#!/usr/bin/env python3
"""What g++ gets in the place of CUDA's own syntax (common/cmake/textbook.py): one text after another, no compiler."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from common.cmake.textbook import rewrite

LAUNCHER = pathlib.Path(__file__).resolve().parents[2] / "common/cmake/compile_kernels.py"
# What is rewritten, and what becomes of it.
LAUNCHES = {
    "k<<<g, b>>>(x);": "SIMT_LAUNCH(k)(g, b)(x);",
    "k<<<g, b>>>();": "SIMT_LAUNCH(k)(g, b)();",
    "k <<< g, b, n, s >>> (x);": "SIMT_LAUNCH(k )( g, b, n, s ) (x);",
    "k<16, float><<<g, b>>>(x);": "SIMT_LAUNCH(k<16, float>)(g, b)(x);",
    "a::k<v<v<int>>><<<g, b>>>(x);": "SIMT_LAUNCH(a::k<v<v<int>>>)(g, b)(x);",
    "a<int>::k<<<g, b>>>(x);": "SIMT_LAUNCH(a<int>::k)(g, b)(x);",
    "k<(n > 2), sizeof(int) >= 4><<<g, b>>>(x);": "SIMT_LAUNCH(k<(n > 2), sizeof(int) >= 4>)(g, b)(x);",
    "if (n) ::k<<<g, b>>>(x);": "if (n) SIMT_LAUNCH(::k)(g, b)(x);",
    "return k<<<g, b>>>(x);": "return SIMT_LAUNCH(k)(g, b)(x);",
    "(*k)<<<g, b>>>(x);": "SIMT_LAUNCH((*k))(g, b)(x);",
    "t[i].k<<<g, b>>>(x);": "SIMT_LAUNCH(t[i].k)(g, b)(x);",
    "p->k<<<g, b>>>(x);": "SIMT_LAUNCH(p->k)(g, b)(x);",
    "k<<<dim3(n >> 4, m<<2), f<3>(b), 8>>>(x);": "SIMT_LAUNCH(k)(dim3(n >> 4, m<<2), f<3>(b), 8)(x);",
    "k<<<n >> 4, b>>>(x >> 3);": "SIMT_LAUNCH(k)(n >> 4, b)(x >> 3);",
    "k<<<g, v<int>>>>(x);": "SIMT_LAUNCH(k)(g, v<int>)(x);",
    "k<<<[&] { return g; }(), b>>>(x);": "SIMT_LAUNCH(k)([&] { return g; }(), b)(x);",
    "k /* < */ <<<g, /* >>>( */ b>>> // (\n  (x);": "SIMT_LAUNCH(k /* < */ )(g, /* >>>( */ b) // (\n  (x);",
    "k<16,\n  int>\n  <<<g,\n     b>>>\n  (x,\n   y);": "SIMT_LAUNCH(k<16,\n  int>\n  )(g,\n     b)\n  (x,\n   y);",
    "k<<<g, b>>>(x), l<<<g, b>>>(x);": "SIMT_LAUNCH(k)(g, b)(x), SIMT_LAUNCH(l)(g, b)(x);",
    "#define RUN(k, n) \\\n  k<<<n, 1>>>(n)\n": "#define RUN(k, n) \\\n  SIMT_LAUNCH(k)(n, 1)(n)\n",
    "#define K k<16>\nvoid f() { K<<<g, b>>>(x); }": "#define K k<16>\nvoid f() { SIMT_LAUNCH(K)(g, b)(x); }",
    "#ifdef __CUDACC__\n#else\nk<<<g, b>>>(x);\n#endif": "#ifdef __CUDACC__\n#else\nSIMT_LAUNCH(k)(g, b)(x);\n#endif",
    "int n = 1'000; k<<<n, 'a'>>>(x);": "int n = 1'000; SIMT_LAUNCH(k)(n, 'a')(x);",
}
UNTOUCHED = [
    "// k<<<g, b>>>(x)",
    "// on \\\n k<<<g, b>>>(x)",
    "/* k<<<g, b>>>(x) \n k<<<g, b>>>(x) */",
    '"k<<<g, b>>>(x)"',
    '"\\"k<<<g, b>>>(x)"',
    'R"(" k<<<g, b>>>(x) ")"',
    'u8R"x()" k<<<g, b>>>(x) )x"',
    "'\"'; s = '\\''; t = '<'",
    "v<v<v<int>>> x(y); v<v<v<v<int>>>>(y);",
    "a << b << c; a <<= b >> c; a <b> (c);",
    "std::operator<<<char>(s, c); &operator<<<v<v<int>>>;",
    "<<<<<<< ours\n=======\n>>>>>>> theirs",
    "#include <k<<<g>>>(x)>\n#error k<<<g, b>>>(x)\n#pragma k<<<g, b>>>(x)\n",
    "#if 0 /* \n k<<<g, b>>>(x) */\n#endif",
    "#ifdef __CUDACC__\n#if X\n#else\nk<<<g, b>>>(x);\n#endif\n#else\n#endif\n",
    "#ifndef __CUDACC__\n#else\nextern __shared__ float t[];\n#endif\n",
    "k<<<g, b; k>>>(x); <<<g, b>>>(x); 3<<<g, b>>>(x);",
    "extern float tile[]; __shared__ float t[16]; extern __shared__ float n;",
    "extern __shared__ float smem[];",
    "extern __shared__ __align__(16) unsigned char smem[];\nvoid f() { smem[0] = 1; }",
    "// extern __shared__ float tile[];",
    "alignas(16) __shared__ float a[4]; alignas(8) float b; __shared__ float c[sizeof(int) * alignof(int)];",
    "__attribute__((__noinline__)) void f(); __attribute__((cold, __noinline__)) void g();",
]
ARRAY = ' __asm__("simt_dynamic")'
DECLARATIONS = {
    "extern __shared__ float tile[];": f"extern __shared__ float tile[]{ARRAY};",
    "extern\n  __shared__ float\n  tile[\n];": f"extern\n  __shared__ float\n  tile[\n]{ARRAY};",
    "extern __shared__ __align__(16) unsigned char t[];": f"extern __shared__ __align__(16) unsigned char t[]{ARRAY};",
    "extern __align__(sizeof(int)) __shared__ S t[];": f"extern __align__(sizeof(int)) __shared__ S t[]{ARRAY};",
    "alignas(16) extern __shared__ volatile T t[];": f"alignas(16) extern __shared__ volatile T t[]{ARRAY};",
    "extern __shared__ v<int, T> t[][4], u[];": f"extern __shared__ v<int, T> t[][4]{ARRAY}, u[]{ARRAY};",
    "namespace a { extern __shared__ float smem[]; }": f"namespace a {{ extern __shared__ float smem[]{ARRAY}; }}",
    "template <class T> void f() {\n  extern __shared__ T t[], u[][8];\n}": "template <class T> void f() {\n"
    f"  {'':6} {'':10} T (&t)[] = ::simt::dynamic_array, (&u)[][8] = ::simt::dynamic_array;\n}}",
    "void f() {\n  extern __shared__ T smem[];\n}": f"void f() {{\n  extern __shared__ T smem[]{ARRAY};\n}}",
}
WORDS = {
    "__shared__ alignas(16) int a[8];": "alignas(16) __shared__  int a[8];",
    "void f() {\n  static __shared__ alignas(alignof(T)) alignas(\n    8) T a, b[2];\n}": "void f() {\n"
    "  alignas(alignof(T)) alignas( 8) static __shared__  \n T a, b[2];\n}",
    "case 0: __shared__ alignas(16) int a[8];": "case 0: alignas(16) __shared__  int a[8];",
    "__device__ __noinline__ int f();": "__device__ __attribute__((noinline)) int f();",
}
# The lines of functions, and what dynamic shared memory is called there.
NAMES = {
    "extern __shared__ T t[];\nvoid f() { t[0]; }\n": [(2, 2, "t"), (0, 0, "t")],
    "void f() {\n  extern __shared__ T t[];\n}\nvoid g() {\n t[0];\n}\n": [(1, 3, "t")],
    "namespace {\nextern __shared__ T t[];\ntemplate <int N>\nvoid f() {\n  t[0];\n}\nvoid g() {}\n}\n": [
        (3, 6, "t"),
        (0, 0, "t"),
    ],
    "void f() {\n  extern __shared__ T t[];\n  t[0];\n  extern __shared__ U u[];\n  u[0];\n  t[1];\n}\n": [
        (1, 3, "t"),
        (4, 5, "u"),
        (6, 7, "t"),
    ],
    'extern "C" {\nextern __shared__ T t[];\n#ifdef X\nvoid f() { t[0]; }\n#endif\n}\n': [(4, 4, "t"), (0, 0, "t")],
    "#define BEGIN {\nextern __shared__ T t[];\nint a[] = {1, 2};\nvoid f()\n{ t[0]; }\n": [(4, 5, "t"), (0, 0, "t")],
}
HEAD = '#line 1 "/a/b.cu"\n#include "common/simt/language/launch.hpp"\n#line 1 "/a/b.cu"\n'


class Textbook(unittest.TestCase):
    def body(self, text):
        """A rewritten text, without what is added above and below."""
        made = rewrite(text, "/a/b.cu").text
        self.assertTrue(made.startswith(HEAD))
        return made.removeprefix(HEAD).split("\nnamespace { const ::simt")[0]

    def test_rewritten(self):
        for text, expected in (LAUNCHES | DECLARATIONS | WORDS).items():
            # Also in between, where text above and below must not matter.
            for above, below in (("", ""), ("namespace x { v<int> a(b); }\nvoid f() {\n", "\n}\n")):
                with self.subTest(text, above=above):
                    if above and "#" not in text and "namespace" not in text:
                        self.assertEqual(self.body(above + text + below), above + expected + below)
                    self.assertEqual(self.body(text), expected)
                    self.assertEqual(text.count("\n"), expected.count("\n"))
                    self.assertTrue(rewrite(text, "b.cu").has_forms)

    def test_untouched(self):
        for text in UNTOUCHED:
            with self.subTest(text):
                self.assertEqual(self.body(text), text)
                self.assertFalse(rewrite(text, "b.cu").has_forms)
                self.assertEqual(self.body(f"{text}\nk<<<g, b>>>(x);"), f"{text}\nSIMT_LAUNCH(k)(g, b)(x);")

    def test_names_of_dynamic_memory(self):
        for text, rows in NAMES.items():
            with self.subTest(text):
                table = rewrite(text, "/a/b.cu").text.rpartition("{__FILE__, {")[2]
                self.assertEqual(table, ", ".join(f'{{{a}, {b}, "{name}"}}' for a, b, name in rows) + "}}; }\n")

    def compiled(self, source):
        """What the launcher gives to a compiler in the place of the file: by name, the files that it then reads."""
        folder = source.parent
        (folder / "compiler").write_text('#!/bin/sh\necho "$@" > arguments\necho "a.o: $6" > a.d\n')
        (folder / "compiler").chmod(0o755)
        command = [sys.executable, "-B", LAUNCHER, "./compiler", "-MF", "a.d", "-o", "a.o", "-c", source]
        subprocess.run(command, cwd=folder, check=True)
        files = {}
        waiting = [pathlib.Path((folder / "arguments").read_text().split()[5])]
        self.assertEqual((folder / "a.d").read_text().split()[:2], ["a.o:", str(source)])
        while waiting:
            file = waiting.pop()
            text = files[file.name] = file.read_text()
            waiting += [pathlib.Path(name) for name in re.findall('(?m)^#include "(/[^"]*)"', text)]
        return files

    def test_headers(self):
        """Those with such forms are copied, and what includes them; others stay as they are."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "parts").mkdir()
            (folder / "parts/plain.cuh").write_text('#include "tile.cuh"\n')
            (folder / "parts/tile.cuh").write_text("#pragma once\nextern __shared__ float tile[];\n")
            (folder / "parts/other.cuh").write_text("int other;\n")
            source = folder / "90_a.cu"
            source.write_text('#include "parts/plain.cuh"\n#include "parts/other.cuh"\nvoid f() {\n  tile[0] = 1;\n}\n')
            files = self.compiled(source)
            self.assertEqual(sorted(files), ["0_tile.cuh", "1_plain.cuh", "2_90_a.cu", "other.cuh"])
            self.assertIn('{__FILE__, {{3, 5, "tile"}, {0, 0, "tile"}}}', files["2_90_a.cu"])
            self.assertIn(f'#line 1 "{source}"\n', files["2_90_a.cu"])
            self.assertEqual(files["other.cuh"], "int other;\n")

            source.write_text('#include "parts/other.cuh"\n// k<<<g, b>>>(x)\n')
            self.assertEqual(list(self.compiled(source)), ["90_a.cu"])


if __name__ == "__main__":
    unittest.main()
