#!/usr/bin/env python3
"""What other programs get, as docs/concepts/libraries.md says: the package staged_gemm, built with nvcc, in projects
that know nothing of this one (each library alone, all together), and in Python. The page's examples are compiled.

Without a GPU the programs end with one line that says so; with one they run, and Python's results are compared.

usage: test_packages.py --nvcc NVCC --folder FOLDER    FOLDER keeps what was built
"""

from __future__ import annotations

import ast
import ctypes
import importlib.util
import inspect
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import unittest
from types import ModuleType

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/concepts/libraries.md"
VERSION = (ROOT / "VERSION").read_text().strip()
# What a program may need beside the library: the C and C++ runtime. No libfmt, no cuBLAS, not even CUDA's runtime.
NEEDED = {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "libdl.so.2", "libpthread.so.0", "librt.so.1"}
PUBLIC = ("staged_gemm_", "tall_skinny::", "tcec_sgemm::")
GPU = shutil.which("nvidia-smi") and not subprocess.run(["nvidia-smi", "-L"], capture_output=True).returncode
# Without one, one architecture will do.
ARCHITECTURE = "native" if GPU else "90a-real"
PROJECT = """cmake_minimum_required(VERSION 3.24)
project(outside LANGUAGES {languages})
{lines}
"""
PROGRAM = """add_executable({name} {source})
target_link_libraries({name} PRIVATE {targets})
"""
WMMA = """#include <wmma_ext/wmma_ext.hpp>
__global__ void ones(float* to) {
  nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> x;
  wmma_ext::fill(x, 1.0f);
  nvcuda::wmma::store_matrix_sync(to, x, 16, nvcuda::wmma::mem_row_major);
}
"""
nvcc = folder = pathlib.Path()


def run(*command: object, status: int = 0, **options: object) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(words, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    if done.returncode != status:
        raise AssertionError(f"{' '.join(words)}: status {done.returncode}\n{done.stdout[-3000:]}")
    return done.stdout


def example(language: str) -> str:
    """The page's, in this language."""
    return re.search(rf"^```{language}\n(.*?)^```", PAGE.read_text(), re.M | re.S)[1]


def missing_for_python() -> str:
    """What the Python package can't be built without."""
    for module in ("nanobind", "scikit_build_core", "pip"):
        if not importlib.util.find_spec(module):
            return module
    header = pathlib.Path(sysconfig.get_path("include"), "Python.h")
    return "" if header.exists() else str(header)


def setUpModule() -> None:
    """Builds the library once: pip does, if it can, and keeps the build folder, from which CMake installs the rest."""
    environment = {**os.environ, "CUDACXX": str(nvcc)}
    build, prefix = folder / "build", folder / "prefix"
    shutil.rmtree(prefix, ignore_errors=True)
    shutil.rmtree(folder / "python", ignore_errors=True)
    defines = {} if GPU else {"CMAKE_CUDA_ARCHITECTURES": ARCHITECTURE, "GEMM_FEW_KERNELS": "ON"}
    if missing_for_python():
        defines |= {"GEMM_ON_GPU": "ON", "GEMM_ONLY_LIBRARIES": "ON", "CMAKE_BUILD_TYPE": "Release"}
        run("cmake", "-S", ROOT, "-B", build, *(f"-D{k}={v}" for k, v in defines.items()), env=environment)
        run("cmake", "--build", build, "-j2")
    else:
        settings = [f"--config-settings=cmake.define.{name}={value}" for name, value in defines.items()]
        pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--target"]
        run(*pip, folder / "python", f"--config-settings=build-dir={build}", *settings, ROOT, env=environment)
    run("cmake", "--install", build, "--component", "staged_gemm", "--prefix", prefix)


class Installed(unittest.TestCase):
    def library(self) -> pathlib.Path:
        major, minor, _ = VERSION.split(".")
        return folder / f"prefix/lib/libstaged_gemm.so.{major}.{minor}"

    def test_symbols(self) -> None:
        shown = run("nm", "-D", "--defined-only", "-C", self.library())
        names = [line.split(maxsplit=2)[2] for line in shown.splitlines()]
        self.assertEqual([name for name in names if not name.startswith(PUBLIC)], [])
        declared = re.findall(
            r"^\w.* \*?(staged_gemm_\w+)\(", (folder / "prefix/include/staged_gemm.h").read_text(), re.M
        )
        self.assertGreater(len(declared), 10)
        self.assertEqual(set(declared) - set(names), set())
        for function in ("tsmttsm", "tsmm", "prepare_tsmm"):
            self.assertTrue(any(name.startswith(f"tall_skinny::{function}(") for name in names), function)
        self.assertTrue(any(name.startswith("tcec_sgemm::sgemm_batched(") for name in names))

    def test_needs(self) -> None:
        told = run("readelf", "-d", self.library())
        self.assertEqual(re.findall(r"SONAME.*\[(.*)\]", told), [self.library().name])
        needed = {name for name in re.findall(r"NEEDED.*\[(.*)\]", told) if not name.startswith("ld-linux")}
        self.assertLessEqual(needed, NEEDED)
        for file in (folder / "prefix/lib/cmake").rglob("*.cmake"):
            self.assertNotRegex(file.read_text(), r"(?i)cli11|fmt|nlohmann|cublas|gemm_harness", file.name)
            self.assertNotIn(str(ROOT), file.read_text(), file.name)

    def test_no_public_name_outside_a_namespace(self) -> None:
        for name in ("tsm/tall_skinny.hpp", "tensorcore/tcec_sgemm.hpp"):
            text = (folder / "prefix/include" / name).read_text()
            outside = text[: text.index("\nnamespace ")] + text[text.rindex("\n}  // namespace") :]
            self.assertNotRegex(outside, r"(?m)^(?:enum|struct|class|inline|constexpr|using|#define)\b", name)


class Outside(unittest.TestCase):
    def build(self, name: str, languages: str, lines: str, **sources: str) -> pathlib.Path:
        project = folder / "outside" / name
        shutil.rmtree(project, ignore_errors=True)
        project.mkdir(parents=True)
        for file, text in sources.items():
            (project / file.replace("_", ".")).write_text(text)
        (project / "CMakeLists.txt").write_text(PROJECT.format(languages=languages, lines=lines))
        found = [f"-DCMAKE_PREFIX_PATH={folder}/prefix", f"-DCUDAToolkit_ROOT={nvcc.parent.parent}"]
        cuda = [f"-DCMAKE_CUDA_COMPILER={nvcc}", f"-DCMAKE_CUDA_ARCHITECTURES={ARCHITECTURE}"]
        run("cmake", "-S", project, "-B", project / "build", *found, *(cuda if "CUDA" in languages else ()))
        run("cmake", "--build", project / "build")
        return project / "build"

    def end(self, program: pathlib.Path) -> None:
        done = subprocess.run([program], text=True, capture_output=True, timeout=120)
        self.assertEqual(done.returncode, 0 if GPU else 2, done.stderr)
        self.assertRegex(done.stderr, r"\A\Z" if GPU else r"\Ano CUDA device.*\n\Z")

    def test_c(self) -> None:
        lines = "find_package(staged_gemm REQUIRED)\nfind_package(CUDAToolkit REQUIRED)\nset(CMAKE_C_FLAGS -std=c99)\n"
        targets = "staged_gemm::staged_gemm CUDA::cudart_static"
        lines += PROGRAM.format(name="example", source="example.c", targets=targets)
        self.end(self.build("c", "C", lines, example_c=example("c")) / "example")

    def test_tall_skinny_alone(self) -> None:
        source = "#include <tsm/tall_skinny.hpp>\nint main() { return !tall_skinny::prepare_tsmm("
        source += "tall_skinny::Type::d, -1, 1, nullptr, 1, nullptr, 1); }\n"
        lines = f"find_package(tall_skinny {VERSION} REQUIRED)\n" + PROGRAM.format(
            name="alone", source="alone.cpp", targets="tall_skinny"
        )
        run(self.build("tall_skinny", "CXX", lines, alone_cpp=source) / "alone", status=1)

    def test_tcec_sgemm_alone(self) -> None:
        source = (
            "#include <tensorcore/tcec_sgemm.hpp>\nint main() { return tcec_sgemm::sgemm_workspace({.m = -1}) != 0; }\n"
        )
        lines = f"find_package(tcec_sgemm {VERSION} REQUIRED)\n" + PROGRAM.format(
            name="alone", source="alone.cpp", targets="tcec_sgemm"
        )
        lines += "set_target_properties(alone PROPERTIES CXX_STANDARD 20)\n"
        run(self.build("tcec_sgemm", "CXX", lines, alone_cpp=source) / "alone")

    def test_all_together(self) -> None:
        names = ("tall_skinny", "tcec_sgemm", "wmma_ext", "staged_gemm")
        lines = "".join(f"find_package({name} REQUIRED)\n" for name in names)
        lines += PROGRAM.format(
            name="together",
            source="together.cpp kernel.cu",
            targets="tall_skinny tcec_sgemm wmma_ext::wmma_ext CUDA::cudart_static",
        )
        build = self.build("together", "CXX CUDA", lines, together_cpp=example("cpp"), kernel_cu=WMMA)
        self.end(build / "together")

    def test_timing_program(self) -> None:
        """./lab measure library's: it knows what is installed, and nothing else."""
        source, program = folder / "time_library.cu", folder / "time_library"
        shutil.copy(ROOT / "tests/libraries/time_library.cu", source)
        arch = ["-arch=native"] if GPU else ["-arch=sm_90a"]
        place = f"{folder}/prefix/lib"
        link = [f"-I{folder}/prefix/include", f"-L{place}", "-lstaged_gemm", "-Xlinker", f"-rpath={place}", *arch]
        run(nvcc, "-std=c++20", "-Werror", "all-warnings", source, *link, "-o", program)
        done = subprocess.run([program, "first", "tsmm", "d", "3", "4"], text=True, capture_output=True, timeout=120)
        self.assertEqual(done.returncode, 0 if GPU else 2, done.stderr)
        self.assertRegex(done.stdout if GPU else done.stderr, r"\A{.*first_ms.*}\n\Z" if GPU else r"\A[^\n]+\n\Z")

    def test_versions(self) -> None:
        major, minor, _ = map(int, VERSION.split("."))
        for asked, found in ((VERSION, True), (f"{major}.{minor + 1}", False), (f"{major + 1}.0", False)):
            lines = f"find_package(staged_gemm {asked} QUIET)\nmessage(STATUS found=${{staged_gemm_FOUND}})\n"
            project = folder / "outside/version"
            shutil.rmtree(project, ignore_errors=True)
            project.mkdir(parents=True)
            (project / "CMakeLists.txt").write_text(PROJECT.format(languages="NONE", lines=lines))
            told = run("cmake", "-S", project, "-B", project / "build", f"-DCMAKE_PREFIX_PATH={folder}/prefix")
            self.assertIn(f"found={int(found)}", told, asked)

    def test_wmma_ext_without_nvcc_fails_with_one_line(self) -> None:
        for header in ("wmma_ext/wmma_ext.hpp", "wmma_ext/tcec/tcec.hpp"):
            for extra in ((), (f"-I{nvcc.parent.parent}/include",)):
                done = subprocess.run(
                    ["g++", "-std=c++20", "-fsyntax-only", "-xc++", "-", f"-I{folder}/prefix/include", *extra],
                    input=f"#include <{header}>\n",
                    text=True,
                    capture_output=True,
                )
                self.assertEqual(len(re.findall("error:", done.stderr)), 1, done.stderr)
                self.assertIn("with nvcc", done.stderr)


class Tensor(ctypes.Structure):
    """DLPack's DLManagedTensor, as far as a matrix has it."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


class Array:
    """Says that it is on a device. The address is never read: what is looked at here comes before a launch."""

    def __init__(
        self, rows: int, cols: int, bits: int = 64, strides: tuple[int, int] = (0, 1), device: int = 0
    ) -> None:
        self.shape, self.device, self.streams = (rows, cols), device, []
        self.numbers = (ctypes.c_int64 * 2)(rows, cols), (ctypes.c_int64 * 2)(strides[0] or cols, strides[1])
        self.tensor = Tensor(0x100000, (2, device), 2, 2, bits, 1, *self.numbers, 0, None, None)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, self.device

    def __dlpack__(self, *, stream: int) -> object:
        self.streams.append(stream)
        capsule = ctypes.pythonapi.PyCapsule_New
        capsule.restype, capsule.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        return capsule(ctypes.addressof(self.tensor), b"dltensor", None)


class InMemory(Array):
    """Of doubles, with memory of its own, for as long as the test runs."""

    def __init__(self, numbers: list[list[float]]) -> None:
        super().__init__(len(numbers), len(numbers[0]))
        self.runtime = ctypes.CDLL(str(next(nvcc.parent.parent.glob("lib64/libcudart.so.*"))))
        self.values = (ctypes.c_double * (self.shape[0] * self.shape[1]))(*(x for row in numbers for x in row))
        address = ctypes.c_void_p()
        assert self.runtime.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(ctypes.sizeof(self.values))) == 0
        self.tensor.data = address.value
        self.copy(address, self.values)

    def copy(self, to: object, source: object) -> None:
        size = ctypes.c_size_t(ctypes.sizeof(self.values))
        assert self.runtime.cudaMemcpy(to, source, size, ctypes.c_int(4)) == 0  # cudaMemcpyDefault

    def numbers_now(self) -> list[list[float]]:
        self.copy(self.values, ctypes.c_void_p(self.tensor.data))
        rows, cols = self.shape
        return [list(self.values[row * cols : (row + 1) * cols]) for row in range(rows)]


class Python(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        if why := missing_for_python():
            print(f"*** SKIPPED, NOT RUN: the Python package: no {why} ***")
            raise unittest.SkipTest(f"no {why}")
        file = folder / "python/staged_gemm/__init__.py"
        spec = importlib.util.spec_from_file_location(
            "staged_gemm", file, submodule_search_locations=[str(file.parent)]
        )
        cls.module = sys.modules["staged_gemm"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(cls.module)

    def test_devices(self) -> None:
        command = [sys.executable, "-m", "staged_gemm"]
        done = subprocess.run(
            command, text=True, capture_output=True, env={**os.environ, "PYTHONPATH": f"{folder}/python"}
        )
        self.assertEqual(done.returncode, 0 if GPU else 2, done.stderr)
        self.assertIn(f"staged_gemm {VERSION}: ", done.stdout + done.stderr)
        if not GPU:
            self.assertRegex(done.stderr, r"\A.*no CUDA device.*\n\Z")

    def test_example(self) -> None:
        """It compiles, and calls functions that there are with arguments that they take."""
        calls = [node for node in ast.walk(ast.parse(example("python"))) if isinstance(node, ast.Call)]
        own = [call for call in calls if ast.unparse(call.func).startswith("staged_gemm.")]
        self.assertGreater(len(own), 2)
        for call in own:
            names = {keyword.arg: None for keyword in call.keywords}
            inspect.signature(getattr(self.module, call.func.attr)).bind(*call.args, **names)

    def test_wrong_arguments(self) -> None:
        m = self.module
        a, b, c = Array(100, 6), Array(100, 5), Array(6, 5)
        wrong = [
            (TypeError, "a is no array with DLPack, but int", lambda: m.tsmm(1, c)),
            (ValueError, "the arrays are real", lambda: m.tsmm(a, c, alpha=1j, out=b)),
            (ValueError, "b has 99 rows, and must have 100", lambda: m.tsmttsm(a, Array(99, 5), out=c)),
            (ValueError, "out is 5 x 6, and must be 6 x 5", lambda: m.tsmttsm(a, b, out=Array(5, 6))),
            (ValueError, "c is 5 x 5, and must be 6 x 5", lambda: m.tsmm(a, Array(5, 5), out=b)),
            (ValueError, "a is not row-major", lambda: m.tsmttsm(Array(100, 6, strides=(1, 100)), b, out=c)),
            (TypeError, "float64 or complex128", lambda: m.tsmm(Array(9, 6, 32), Array(6, 5, 32), out=Array(9, 5, 32))),
            (TypeError, "different types", lambda: m.tsmm(a, c, out=Array(100, 5, 32))),
            (ValueError, "different devices", lambda: m.tsmm(a, c, out=Array(100, 5, device=1))),
            (ValueError, r"a\[1\] is 99 x 5, and must be 100 x 5", lambda: m.tsmttsm([a, Array(99, 5)], b, out=c)),
            (ValueError, "out is 6 x 5, and must be 12 x 5", lambda: m.tsmttsm([a, a], b, out=c)),
            (ValueError, "c is 6 x 5, and must be 12 x 5", lambda: m.tsmm((a, a), c, out=b)),
            (TypeError, r"a\[1\] is no array with DLPack, but str", lambda: m.tsmm([a, "b"], c, out=b)),
            (ValueError, "b is a list without blocks", lambda: m.tsmttsm(a, [], out=c)),
            (TypeError, "c must be one array", lambda: m.tsmm(a, [c, c], out=b)),
            (TypeError, "x must be one array", lambda: m.cholesky_qr2([a, a])),
            (TypeError, "float32", lambda: m.sgemm(a, c, out=b)),
            (ValueError, "none of automatic", lambda: m.sgemm(a, c, out=b, policy="fp8")),
            (ValueError, "no `out`", lambda: m.tsmm(a, c, beta=1)),
            (TypeError, "no CUDA stream", lambda: m.tsmm(a, c, out=b, stream="one")),
        ]
        for kind, reason, call in wrong:
            with self.assertRaisesRegex(kind, reason):
                call()

    def test_streams(self) -> None:
        """Arrays are asked to be ready on the stream of the product."""
        a, c, b = Array(100, 6), Array(6, 5), Array(99, 5)
        for stream, pointer in ((None, 1), (0, 1), (1234, 1234), (type("S", (), {"ptr": 77})(), 77)):
            with self.assertRaises(ValueError):
                self.module.tsmm(a, c, out=b, stream=stream)
            self.assertEqual((a.streams[-1], c.streams[-1], b.streams[-1]), (pointer,) * 3)

    @unittest.skipIf(GPU, "there is one")
    def test_without_a_gpu(self) -> None:
        with self.assertRaisesRegex(self.module.Error, r"\A.*no CUDA device[^\n]*\Z"):
            self.module.tsmm(Array(100, 6), Array(6, 5), out=Array(100, 5))

    @unittest.skipUnless(GPU, "needs a GPU")
    def test_results_in_any_array(self) -> None:
        """Small whole numbers, so all is exact."""
        rows, m, n = 1000, 7, 5
        a = [[(3 * i + 5 * j) % 7 - 3 for j in range(m)] for i in range(rows)]
        b = [[(2 * i + j) % 5 - 2 for j in range(n)] for i in range(rows)]
        c = [[sum(a[i][p] * b[i][q] for i in range(rows)) for q in range(n)] for p in range(m)]
        after = [[b[i][q] - sum(a[i][p] * c[p][q] for p in range(m)) for q in range(n)] for i in range(rows)]
        on_a, on_b, on_c = InMemory(a), InMemory(b), InMemory([[0.5] * n for _ in range(m)])
        self.module.tsmttsm(on_a, on_b, out=on_c)
        self.assertEqual(on_c.numbers_now(), c)
        self.module.tsmm(on_a, on_c, alpha=-1, beta=1, out=on_b)
        self.assertEqual(on_b.numbers_now(), after)

        first, second = ([row[:3] for row in a], [row[3:] for row in a])
        blocks = [InMemory(first), InMemory(second)]
        on_c = InMemory([[0.5] * n for _ in range(m)])
        self.module.tsmttsm(blocks, InMemory(b), out=on_c)
        self.assertEqual(on_c.numbers_now(), c)
        on_b = InMemory(b)
        self.module.tsmm(blocks, on_c, alpha=-1, beta=1, out=on_b)
        self.assertEqual(on_b.numbers_now(), after)

    @unittest.skipUnless(GPU, "needs a GPU")
    def test_qr(self) -> None:
        x = [[(3 * i + 5 * j) % 7 - 3 + (i == j) for j in range(3)] for i in range(100)]
        on_x = InMemory(x)
        self.module.cholesky_qr2(on_x)
        on_r = InMemory([[0.5] * 3 for _ in range(3)])
        self.module.tsmttsm(on_x, InMemory(x), out=on_r)  # Q^T X
        q, r = on_x.numbers_now(), on_r.numbers_now()
        for i in range(3):
            for j in range(3):
                self.assertAlmostEqual(sum(row[i] * row[j] for row in q), float(i == j), places=13)
                if i > j:
                    self.assertAlmostEqual(r[i][j], 0, places=11)

    def framework(self, name: str) -> ModuleType:
        """Skips, loudly, where there is none, or no GPU for it."""
        if GPU and importlib.util.find_spec(name):
            return importlib.import_module(name)
        print(f"*** SKIPPED, NOT RUN: arrays of {name}: needs a GPU and {name} ***")
        raise unittest.SkipTest(f"no GPU, or no {name}")

    def test_pytorch(self) -> None:
        torch = self.framework("torch")
        for kind in (torch.float64, torch.complex128):
            a, b = (torch.randn(5000, width, dtype=kind, device="cuda") for width in (16, 9))
            with torch.cuda.stream(torch.cuda.Stream()):
                c = self.module.tsmttsm(a[:, :7], b, conjugate=True)
                self.module.tsmm(a[:, :7], c, alpha=-1, beta=1, out=(after := b.clone()))
                blocks = [a[:, :7], b, a[:, 7:]]
                gram = self.module.tsmttsm(blocks, blocks, conjugate=True)
                into = self.module.tsmm(blocks, gram)
                r = self.module.cholesky_qr2(q := a.clone())
                torch.cuda.synchronize()
            whole = torch.cat(blocks, 1)
            torch.testing.assert_close(gram, whole.mH @ whole)
            torch.testing.assert_close(into, whole @ gram)
            torch.testing.assert_close(q @ r, a)
            torch.testing.assert_close(q.mH @ q, torch.eye(16, dtype=kind, device="cuda"))
            torch.testing.assert_close(c, a[:, :7].mH @ b)
            torch.testing.assert_close(after, b - a[:, :7] @ c)
        x, y = torch.randn(100, 70, device="cuda"), torch.randn(70, 50, device="cuda")
        result = self.module.sgemm(x, y)
        torch.testing.assert_close(result.double(), x.double() @ y.double(), rtol=1e-5, atol=1e-5)

    def test_cupy(self) -> None:
        cupy = self.framework("cupy")
        a, b = cupy.random.rand(5000, 16), cupy.random.rand(5000, 9)
        with cupy.cuda.Stream(non_blocking=True) as stream:
            c = self.module.tsmttsm(a[:, :7], b)
            self.module.tsmm(a[:, :7], c, alpha=-1, beta=1, out=(after := b.copy()))
            blocks = [a[:, :7], b, a[:, 7:]]
            gram = self.module.tsmttsm(blocks, blocks)
            into = self.module.tsmm(blocks, gram)
            r = self.module.cholesky_qr2(q := a.copy())
            stream.synchronize()
        whole = cupy.concatenate(blocks, axis=1)
        cupy.testing.assert_allclose(gram, whole.T @ whole, rtol=1e-12)
        cupy.testing.assert_allclose(into, whole @ gram, rtol=1e-12)
        cupy.testing.assert_allclose(q @ r, a, rtol=1e-12, atol=1e-12)
        cupy.testing.assert_allclose(q.T @ q, cupy.eye(16), atol=1e-12)
        self.assertIsInstance(c, cupy.ndarray)
        cupy.testing.assert_allclose(c, a[:, :7].T @ b, rtol=1e-12)
        cupy.testing.assert_allclose(after, b - a[:, :7] @ c, rtol=1e-9, atol=1e-9)
        x = cupy.random.rand(64, 48).astype(cupy.float32)
        cupy.testing.assert_allclose(self.module.sgemm(x, x.T.copy()), x.astype(float) @ x.T.astype(float), rtol=1e-5)

    def test_jax(self) -> None:
        jax = self.framework("jax")
        jax.config.update("jax_enable_x64", True)
        keys = jax.random.split(jax.random.key(1), 2)
        a, b = jax.random.normal(keys[0], (5000, 7), "float64"), jax.random.normal(keys[1], (5000, 9), "float64")
        c = self.module.tsmttsm(a, b)
        self.assertIsInstance(c, jax.Array)
        self.assertLess(float(abs(c - a.T @ b).max()), 1e-9)
        self.assertLess(float(abs(self.module.tsmm(a, c) - a @ c).max()), 1e-7)
        with self.assertRaisesRegex(TypeError, "can't be written"):
            self.module.tsmm(a, c, out=b)


if __name__ == "__main__":
    arguments = dict(zip(sys.argv[1::2], sys.argv[2::2]))
    nvcc, folder = pathlib.Path(arguments["--nvcc"]), pathlib.Path(arguments["--folder"]).absolute()
    python = ROOT / ".lab/python/bin/python"  # where ./lab test --full puts nanobind
    if missing_for_python() and python.exists() and sys.prefix != str(ROOT / ".lab/python"):
        os.execv(python, [str(python), *sys.orig_argv[1:]])
    if not shutil.which(nvcc):
        print(f"*** SKIPPED, NOT RUN: there is no nvcc: {nvcc} ***")
        sys.exit(0)
    unittest.main(argv=sys.argv[:1], verbosity=1)
