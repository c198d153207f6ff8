#!/usr/bin/env python3
"""The example of tensorcore/README.md compiles, with nvcc in a project of its own that knows nothing of this one: with
the library installed (find_package), and as a folder of its own (add_subdirectory). Without CUDA: the example on the
executor's headers.

And find_package() finds the installed version, and none that does not fit it. And a GPU before sm_75 is refused.

usage: test_wmma_ext_package.py --build BUILD (--nvcc NVCC | --cxx COMPILER)
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Two folders, because CUDA takes CMake some seconds to set up; what find_package() brings is known in the first one
# only.
PROJECT = """cmake_minimum_required(VERSION 3.24)
project(outside LANGUAGES CXX CUDA)
add_subdirectory(installed)
add_subdirectory(beside)
"""
VERSIONED = """cmake_minimum_required(VERSION 3.24)
project(outside LANGUAGES CXX)
find_package(wmma_ext {asked} QUIET)
if(wmma_ext_FOUND)
  message("found=1 version=${{wmma_ext_VERSION}}.")
else()
  message("found=0 version=.")
endif()
"""
EXAMPLE = """{use}
add_library(example_{way} OBJECT ../example.cu ../before.cu ../after.cu)
target_link_libraries(example_{way} PRIVATE wmma_ext::wmma_ext)
"""


def run(*command):
    done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}")


def check_refusal(cxx, folder):
    """A GPU before sm_75 is refused when compiled, with the reason. CUDA 13's nvcc has none; __CUDA_ARCH__ will do."""
    source = folder / "refused.cu"
    source.write_text('#include "tensorcore/wmma_ext/wmma_ext.hpp"\n')
    for architecture, refused in ((700, True), (720, True), (750, False)):
        includes = [f"-I{ROOT}/common/simt/include", f"-I{ROOT}"]
        done = subprocess.run(
            [cxx, "-std=c++20", "-xc++", "-E", f"-D__CUDA_ARCH__={architecture}", *includes, source],
            text=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        said = "on sm_70 several lanes hold one element" in done.stderr
        if (done.returncode != 0) != refused or said != refused:
            sys.exit(f"sm_{architecture // 10}, refused or not: {done.stderr}")


def check_versions(folder):
    """What find_package() makes of versions: VERSION's own is there, another minor one is not."""
    own = (ROOT / "VERSION").read_text().strip()
    major, minor, _ = map(int, own.split("."))
    for asked, found in {own: "1", f"{major}.{minor}": "1", f"{major}.{minor + 1}": "0", f"{major + 1}.0": "0"}.items():
        (folder / "version").mkdir(exist_ok=True)
        (folder / "version/CMakeLists.txt").write_text(VERSIONED.format(asked=asked))
        done = subprocess.run(
            [
                "cmake",
                "-S",
                folder / "version",
                "-B",
                folder / asked,
                f"-DCMAKE_PREFIX_PATH={folder}/prefix",
            ],
            text=True,
            capture_output=True,
        )
        if f"found={found} version={own if found == '1' else ''}." not in done.stderr + done.stdout:
            sys.exit(f"find_package(wmma_ext {asked}) beside {own}:\n{done.stdout}{done.stderr}")


def check_nothing_to_install(build, folder):
    """Of libraries that a CPU build doesn't install it says so, instead of success."""
    for name in ("staged_gemm", "tall_skinny", "tcec_sgemm"):
        command = ["cmake", "--install", build, "--component", name, "--prefix", folder / "none"]
        done = subprocess.run([str(word) for word in command], text=True, capture_output=True)
        if done.returncode == 0 or f"{name}: nothing to install from a CPU build" not in done.stderr:
            sys.exit(f"--component {name}: status {done.returncode}\n{done.stderr}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build")
    parser.add_argument("--nvcc")
    parser.add_argument("--cxx")
    options = parser.parse_args()
    page = (ROOT / "tensorcore" / "README.md").read_text()
    example = re.search(r"^## wmma_ext$.*?^```cpp\n(.*?)^```", page, re.M | re.S)
    move = re.search(r"^### tcec$.*?^```diff\n(.*?)^```", page, re.M | re.S)
    if not example or not move:
        sys.exit("tensorcore/README.md has no example in its section wmma_ext, or no diff in tcec's")
    # Both sides of the diff, before and after.
    before, after = ("".join(line[1:] for line in move[1].splitlines(True) if line[0] in " " + sign) for sign in "-+")
    examples = {"example": example[1], "before": before, "after": after}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for file, text in examples.items():
            (folder / f"{file}.cu").write_text(text)
            if options.cxx:
                run(
                    options.cxx,
                    "-std=c++20",
                    "-xc++",
                    "-Wall",
                    "-Wextra",
                    "-Werror",
                    "-Wno-unknown-pragmas",
                    f"-I{ROOT}/common/simt/include",
                    f"-I{ROOT}",
                    f"-I{ROOT}/tensorcore",
                    "-fsyntax-only",
                    folder / f"{file}.cu",
                )
        run("cmake", "--install", options.build, "--component", "wmma_ext", "--prefix", folder / "prefix")
        check_versions(folder)
        if options.cxx:
            check_refusal(options.cxx, folder)
            check_nothing_to_install(options.build, folder)
            return
        (folder / "CMakeLists.txt").write_text(PROJECT)
        for way, use in {
            "installed": "find_package(wmma_ext REQUIRED)",
            "beside": f"add_subdirectory({ROOT}/tensorcore/wmma_ext wmma_ext)",
        }.items():
            (folder / way).mkdir(exist_ok=True)
            (folder / way / "CMakeLists.txt").write_text(EXAMPLE.format(way=way, use=use))
        run(
            "cmake",
            "-S",
            folder,
            "-B",
            folder / "build",
            f"-DCMAKE_CUDA_COMPILER={options.nvcc}",
            "-DCMAKE_CUDA_ARCHITECTURES=80-real",
            f"-DCMAKE_PREFIX_PATH={folder}/prefix",
        )
        run("cmake", "--build", folder / "build")


if __name__ == "__main__":
    main()
