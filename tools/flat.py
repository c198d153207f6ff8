"""A stage as one .cu file: helpers, the stage's own text, and a program that checks and times it.

usage: python3 -m tools.flat ID
       python3 -m tools.flat --kernels NVCC     writes tools/flat/kernels.json anew; needs no GPU
       python3 -m tools.flat --check NVCC       exit status 1 if that would change it

Helpers are declarations of the headers that the stage includes, as they stand there, as far as something names them
(tools/flat_declarations.py). Those in tools/flat/harness*.cuh replace the harness's own. Kernels that a stage generates
at run time are instances of templates in the file. Their names, which the stage itself says, are in
tools/flat/kernels.json.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable

from tools.command_line import fail, run
from tools.flat_declarations import IDENTIFIER, Declaration, declarations, for_nvcc, masked, reached
from tools.repository import ROOT, TUNED, read_json, relative, stage_file, stages
from tools.rungs import find
from tools.tune.tables import kernels_of

PARTS = ROOT / "tools/flat"
# Files whose declarations are here without comments: they are about the harness, and not about the stage.
BOOKKEEPING = ("common/problem/", "common/kernel/launch", "common/kernel/status", "common/toolchain/")
HARNESS = "of the harness, what is named below"
CHOOSERS = {"tsm/14_best": "tsmttsm", "tsm/15_tsmm_best": "tsmm"}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(<[^>\n]+>|"[^"\n]+").*\n', re.M)
# Headers that nothing in a flat file may need after all, and what shows that something does.
NEEDED_FOR = {
    "<compare>": "<=>",
    "<filesystem>": "std::filesystem",
    "<functional>": "std::function",
    "<map>": "std::map",
    "<numeric>": "std::gcd",
    "<optional>": "std::optional",
    "<span>": "std::span",
    "<utility>": "std::",
}
# The products of tall & skinny stages: type and Case. Generated kernels are for these sizes, paddings and types.
PRODUCTS = (
    ("double", ".m = 16, .n = 16, .k = 1003"),
    ("double", ".m = 13, .n = 7, .k = 1009, .pad = 1, .whole = false"),
    ("double2", ".m = 6, .n = 5, .k = 517, .pad = 3"),
    ("double", ".m = 16, .n = 16, .k = 4099, .adds = false"),
)
# A choice among kernels is for one size.
CHOSEN_PRODUCTS = (
    ("double", ".m = 16, .n = 16, .k = 1003"),
    ("double", ".m = 16, .n = 16, .k = 1009, .pad = 1, .whole = false"),
)


def quoted(text: str, folder: pathlib.Path) -> list[pathlib.Path]:
    """The files of this repository that a text includes."""
    names = [name.strip('"') for name in INCLUDE.findall(for_nvcc(text)) if name.startswith('"')]
    return [next(file for file in (ROOT / name, (folder / name).resolve()) if file.exists()) for name in names]


def system(text: str) -> list[str]:
    return [name for name in INCLUDE.findall(for_nvcc(text)) if name.startswith("<")]


def in_order(files: list[pathlib.Path], found: list[pathlib.Path]) -> list[pathlib.Path]:
    """These and all that they include, each behind those that it includes, added to `found`."""
    for file in files:
        if file not in found and file != ROOT / "tsm/choice.hpp":
            in_order([each for each in quoted(file.read_text(), file.parent) if each != file], found)
            if file not in found:
                found.append(file)
    return found


def own_text(file: pathlib.Path) -> str:
    """A stage's text without its #include lines."""
    return INCLUDE.sub("", file.read_text())


def without_comments(text: str) -> str:
    return re.sub(r"^[ \t]*//.*\n|^[ \t]*\n", "", text + "\n", flags=re.M).rstrip("\n")


def with_members(text: str, named: set[str], by_place: bool) -> str:
    """A structure without the members that nobody names; by_place: without those behind the last that is named."""
    first, *members, last = text.splitlines()
    name = re.compile(r"\(\*(\w+)\)|(\w+)(?: = [^;]*)?;")
    names = [set(found.groups()) if (found := name.search(each)) else set() for each in members]
    kept = [number for number, its in enumerate(names) if its & named]
    if by_place:
        kept = list(range(max(kept, default=-1) + 1))
    return "\n".join([first, *(members[number] for number in kept), last])


def names_in(text: str) -> set[str]:
    return set(IDENTIFIER.findall(masked(for_nvcc(text))))


def opening(scope: tuple[str, ...]) -> list[str]:
    """The lines that open these namespaces. One without a name, "", has a line of its own."""
    groups: list[list[str]] = []
    for name in scope:
        if not name or not groups or not groups[-1][0]:
            groups.append([])
        groups[-1].append(name)
    return [f"namespace {'::'.join(group)} {{".replace("  ", " ") for group in groups]


def closing(scope: tuple[str, ...]) -> list[str]:
    return [f"}}  // {line[:-2]}" for line in reversed(opening(scope))]


def in_namespaces(parts: list[tuple[str, Declaration]]) -> str:
    """Declarations, those of a namespace together, below a line that says where they come from."""
    lines: list[str] = []
    scope: tuple[str, ...] = ()
    mark = previous = ""
    for where, part in parts:
        if (where, part.scope) != (mark, scope):
            lines += closing(scope) + ([] if where == mark else ["", f"// ---- {where}"])
            mark, scope, previous = where, part.scope, ""
            lines += ["", *opening(scope)]
        if previous and ("\n" in previous or "\n" in part.text):
            lines.append("")
        lines.append(part.text)
        previous = part.text
    return "\n".join([*lines, *closing(scope)]).lstrip() + "\n\n"


def helpers(own: list[pathlib.Path], program: str) -> tuple[str, list[str]]:
    """What these stages and the program name of other files; and the system's headers that this takes."""
    files = in_order([each for stage in own for each in quoted(stage.read_text(), stage.parent)], [])
    kind = family("".join(own_text(stage) for stage in own))
    of_family = PARTS / ("harness_tsm.cuh" if kind.startswith("Ts") else "harness_gemm.cuh")
    harness = declarations((PARTS / "harness.cuh").read_text())
    harness += declarations(of_family.read_text().replace("@Problem@", kind))
    named = set().union(*(names_in(own_text(stage)) for stage in own), names_in(program))
    replaced = {(each.scope, name): each for each in harness for name in each.names}
    of_file: dict[pathlib.Path, list[Declaration]] = {}
    placed: set[Declaration] = set()
    for file in files:
        here = of_file[file] = []
        for each in declarations(file.read_text()):
            instead = next((replaced[each.scope, name] for name in each.names if (each.scope, name) in replaced), None)
            if instead is None:
                if relative(file).startswith(BOOKKEEPING):
                    if each.is_prototype():
                        continue  # what it does lies in a .cpp
                    each.text = without_comments(each.text)
                    if each.names & {"StageInfo", "Variant"}:
                        each.text = with_members(each.text, named, "Variant" in each.names)
                        each.uses = frozenset(names_in(each.text))
                here.append(each)
            elif instead not in placed:
                here.append(instead)
                placed.add(instead)
    everything = [each for here in of_file.values() for each in here]
    extra = [each for each in harness if each not in placed]
    kept = reached(everything + extra, named)
    parts: list[tuple[str, Declaration]] = []
    headers = system((PARTS / "harness.cuh").read_text()) if any(each in kept for each in extra) else []
    waiting = [each for each in extra if each in kept]
    for file, here in of_file.items():
        name = relative(file)
        where = HARNESS if name.startswith(BOOKKEEPING) else name
        for each in here:
            if each in kept:
                first = [one for one in waiting if one.names & each.uses]
                waiting = [one for one in waiting if one not in first]
                parts += [(where, one) for one in (*first, each)]
        if kept & set(here):
            headers += system(file.read_text())
    return in_namespaces(parts), headers


def chosen(operation: str) -> tuple[str, str]:
    """The stage that tsm/tuned/ names for 16 x 16 real numbers; and declarations in place of tsm/choice.hpp."""
    table = kernels_of(read_json(TUNED))
    entry = next(each for each in table if (each["op"], each["type"], each["m"], each["n"]) == (operation, "d", 16, 16))
    file = stage_file(entry["stage"])
    enums = {"reduction": "Reduction", "c_source": "CSource"}
    options = ", ".join(
        f"o.{name} = " + (f"{enums[name]}::{value}" if name in enums else json.dumps(value))
        for name, value in entry["options"].items()
    )
    space = entry["stage"].replace("/", "_")
    has_workspace = "workspace_bytes" in names_in(own_text(file))
    workspace = f"{space}::info.workspace_bytes(problem)" if has_workspace else "0 * problem.result_bytes()"
    instead = f"""// ---- {HARNESS}

namespace gemm {{

/// In place of the table of tuned kernels, tsm/tuned/: what it has for 16 x 16 real numbers.
template <class P>
Status launch_chosen(P p, cudaStream_t stream) {{
  if (p.m != 16 || p.n != 16 || sizeof p.alpha != sizeof(double))
    return Status::unsupported("this file is for 16 x 16 real numbers");
  KernelOptions& o = p.kernel;
  {options};
  if constexpr (sizeof p.alpha == sizeof(double))
    return {space}::info.launch.d(p, stream);
  else
    return {space}::info.launch.z(p, stream);
}}
inline std::size_t most_workspace(const Problem& problem) {{
  return {workspace};
}}
inline GeneratedKernels chosen_{operation}() {{
  return {{}};
}}

}}  // namespace gemm

"""
    return entry["stage"], instead


def family(text: str) -> str:
    """The type of the problems that a stage solves, by its text."""
    others = ("TsmttsmProblem", "TsmmProblem", "HgemmProblem")
    return next((kind for kind in others if f"gemm::{kind}" in text), "SgemmProblem")


def generates(name: str) -> bool:
    """Whether the stage's kernels are made at run time."""
    return name in CHOOSERS or "tsm/jit_launch.hpp" in stage_file(name).read_text()


def program_of(name: str) -> str:
    """main() and what it calls."""
    stage = own_text(stage_file(name))
    kind = family(stage)
    named = names_in(stage)
    tall = kind.startswith("Ts")
    workspace = ""
    if "workspace_bytes" in named:
        problem = "{c.m, c.n, c.k, is_complex ? gemm::Type::c64 : gemm::Type::f64}" if tall else "p"
        workspace = f"  Array<float> workspace(info.workspace_bytes({problem}) / sizeof(float) + 1);\n"
        if "workspace_zeros" in named:
            workspace += "  require(cudaMemset(workspace.data, 0, info.workspace_zeros));\n"
        workspace += "  p.workspace = workspace.data;\n"
    if tall:
        calls = [f"    run<{element}>({{{case}}});\n" for element, case in products_of(name)]
        main = (PARTS / f"main_{kind.removesuffix('Problem').lower()}.cu").read_text() + "\n"
        if generates(name):
            main += (PARTS / "kernel.cu").read_text() + "\n"
            kernels = read_json(PARTS / "kernels.json").get(name, [])
            calls = [f"    KERNEL({kernel});\n" for kernel in kernels] + calls
        main += (PARTS / "main_tsm.cu").read_text().replace("@products@\n", "".join(calls))
    else:
        main = (PARTS / "main_gemm.cu").read_text()
    text = (PARTS / "check.cuh").read_text() + main.replace("@workspace@\n", workspace)
    text = re.sub(r"#pragma once\n+", "", INCLUDE.sub("", text)).replace("@id@", name)
    return re.sub(r"\}  // namespace program\n+namespace program \{\n\n", "", text).strip("\n") + "\n"


def products_of(name: str) -> tuple[tuple[str, str], ...]:
    return CHOSEN_PRODUCTS if name in CHOOSERS else PRODUCTS


def names_program_of(name: str) -> str:
    """A main() that shows which kernels the program's products ask for."""
    calls = [f"  run<{kind}>({{{case}}});\n" for kind, case in products_of(name)]
    text = (PARTS / "kernel_names.cu").read_text().replace("@products@\n", "".join(calls))
    return INCLUDE.sub("", text).replace("#pragma once\n", "").replace("@Problem@", family(own_text(stage_file(name))))


def kernel_names(name: str, nvcc: str) -> list[str]:
    """Those kernels, in their order: asked for by running the stage's own code."""
    with tempfile.TemporaryDirectory() as folder:
        source, program = pathlib.Path(folder, "names.cu"), pathlib.Path(folder, "names")
        source.write_text(flat(name, names_program_of))
        subprocess.run([nvcc, "-std=c++20", "-arch=sm_90a", source, "-o", program], check=True)
        lines = subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()
    found = [line.partition("this file has no kernel ")[2] for line in lines]
    if not all(found):
        fail(f"{name} asks for no kernel: {lines}")
    return list(dict.fromkeys(found))


def all_kernel_names(nvcc: str) -> str:
    """What tools/flat/kernels.json must hold."""
    names = {name: kernel_names(name, nvcc) for name in stages() if generates(name)}
    return json.dumps(names, indent=1) + "\n"


def flat(name: str, program_for: Callable[[str], str] = program_of) -> str:
    """The text of a stage's file."""
    file = stage_file(name)
    path, own = relative(file), own_text(file).strip("\n")
    if re.search(r"^const gemm::ProbeRegistration", own, re.M):
        fail(f"{name} is a probe, which multiplies no matrices given to it: './lab probe {name}' runs it")
    program = program_for(name)
    files, instead, above = [file], "", ""
    if name in CHOOSERS:
        other, instead = chosen(CHOOSERS[name])
        files = [stage_file(other), file]
        space = other.replace("/", "_")
        # Kernels that are compiled at run time have a namespace of their own.
        kernels, line, rest = own_text(files[0]).rpartition("#ifndef __CUDACC_RTC__")
        above = f"// ---- {relative(files[0])}\n\n{kernels}namespace {space} {{\n\n{line}{rest}\n"
        above += f"}}  // namespace {space}\n\n{instead}"
    text, headers = helpers(files, program + instead)
    headers += system("".join(each.read_text() for each in files) + (PARTS / "check.cuh").read_text())
    short = file.stem if name.startswith("sgemm/") else name.replace("/", "_")
    notice = next(line for line in (ROOT / "LICENSE").read_text().splitlines() if line.startswith("Copyright"))
    body = f"{text}{above}// ---- {path}\n\n{own}\n\n// ---- the program\n\n{program}"
    headers = [header for header in sorted(set(headers)) if NEEDED_FOR.get(header, "") in body]
    return (
        f"// {path} of Staged GEMM in one file: helpers, the stage's own text, and a program\n"
        f"// that checks and times it. Made by `./lab show {name} --flat`.\n"
        f"// MIT License. {notice}.\n//\n"
        f"//   nvcc -std=c++20 -O3 -arch=sm_90a {short}.cu -o {short} && ./{short}\n"
        + "".join(f"#include {header}\n" for header in headers)
        + f"\n{body}"
    )


def main(arguments: list[str]) -> int:
    match arguments:
        case ["-h" | "--help"]:
            print(__doc__)
        case ["--kernels" | "--check" as command, nvcc]:
            file, text = PARTS / "kernels.json", all_kernel_names(nvcc)
            if command == "--kernels":
                file.write_text(text)
            elif file.read_text() != text:
                print(f"error: stages ask for others: python3 -m tools.flat --kernels {nvcc}", file=sys.stderr)
                return 1
        case [name] if not name.startswith("-"):
            sys.stdout.write(flat(find(name)))
        case _:
            fail("usage: python3 -m tools.flat ID")
    return 0


if __name__ == "__main__":
    run(lambda: main(sys.argv[1:]))
