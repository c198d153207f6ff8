"""A whole CUDA program's text as g++ takes it: what g++ -E has made of a file, macros and headers and all, rewritten as
textbook.py rewrites a stage, and with variables of the device where the executor finds them:

    __device__ int counter;      becomes  __attribute__((section("simt_device"))) int counter;
    __managed__ float sum[32];   the same with simt_managed

g++ ignores the section of a template's variable: whoever has compiled the text moves these (Rewritten.templates).

Copies that must stay calls, because the executor watches those:

    __builtin_memcpy(a, b, 6);   becomes  ::memcpy(a, b, 6);

The executor's vector types are no aggregates, so that designated initialisers become plain ones:

    float4 v = {.x = 1, .z = 2}; becomes  float4 v = {1, {}, 2};

nor can they be copied trivially, so that a union could not be copied that holds one:

    union { float4 v; int i[4]; } becomes  union { float4::simt_plain v; int i[4]; }

What comes from the compiler's, the system's and the executor's own headers stays as it is, and is not even read. The
keywords that are left (__global__, ...) are macros for the pass that compiles: common/simt/language/keywords.hpp.
"""

from __future__ import annotations

import bisect
import re
import zlib
from collections.abc import Iterator
from typing import NamedTuple

import stores
from textbook import CLOSES, OPENS, Rewriter, Token, tokens

# "# 12 "file" 3 4": what follows is line 12 of the file; 1: the file begins here; 3: it is one of the system's.
MARKER = re.compile(r'^# (\d+) "((?:\\.|[^"\\\n])*)"((?: [1-4])*)$\n?', re.M)
# What PTX alone has: an instruction with a type or a scope behind a dot, or one that is alone.
PTX = re.compile(
    r"\b[a-z]+(?:\.\w+)*\.(?:[usbf](?:8|16|32|64)|pred|gl|cta|sys|sync|aligned|async|wait)\b|^.[\s{]*(?:trap|exit|brkpt);"
)
TEXTURES, CLUSTERS = "textures, surfaces and CUDA arrays", "clusters and distributed shared memory"
CONDITIONS = "conditional nodes of graphs"
NOT_THERE = {
    **dict.fromkeys(
        ("this_cluster", "cluster_group", "__cluster_dims__", "cudaLaunchAttributeClusterDimension"), CLUSTERS
    ),
    **dict.fromkeys(
        ("cudaTextureObject_t", "cudaSurfaceObject_t", "cudaArray", "cudaArray_t", "cudaMipmappedArray_t"), TEXTURES
    ),
    **dict.fromkeys(
        ("cudaChannelFormatDesc", "cudaCreateChannelDesc", "textureReference", "cudaResourceDesc"), TEXTURES
    ),
    **dict.fromkeys(
        ("cudaGraphConditionalHandle", "cudaGraphConditionalHandleCreate", "cudaGraphSetConditional"), CONDITIONS
    ),
    **dict.fromkeys(("cudaGraphNodeParams", "cudaGraphAddNode"), "cudaGraphAddNode(), only functions for each kind"),
    **dict.fromkeys(("cudaExternalSemaphore_t", "cudaExternalMemory_t"), "memory and semaphores of other programs"),
}
VECTOR = re.compile(r"(?:u?(?:char|short|int|long|longlong)|float|double)[234]")
BUILTIN_COPY = re.compile(r"__builtin_(memcpy|memmove|memset|memcmp)")
# The variables that a kernel has, and how those of the program are called that hide them. In headers of the executor,
# members have that name at once.
BUILT_IN = {"threadIdx", "blockIdx", "blockDim", "gridDim"}
OWN = "simt_own_"
# What stands with arguments in front of a function's name.
WITH_ARGUMENTS = {"__launch_bounds__", "__attribute__", "__align__", "alignas", "decltype", "__maxnreg__", "__declspec"}
TYPES = {"dim3", "uint3", "int3", "int", "unsigned", "auto", "size_t"}
NO_TYPES = {"return", "throw", "case", "else", "do", "new", "sizeof", "operator", "co_return", "co_yield", "goto"}
KEYWORDS = {"__device__": "simt_device", "__managed__": "simt_managed", "__constant__": "simt_constant"}


class Part(NamedTuple):
    """What lies between two markers."""

    begin: int
    end: int
    file: str
    line: int  # of the file, at `begin`
    of_user: bool


def parts(text: str) -> list[Part]:
    of_system: dict[str, bool] = {}  # as the file's first marker says: later ones also mark what a system's macro gave
    markers = list(MARKER.finditer(text))
    found = []
    for here, after in zip(markers, [*markers[1:], None], strict=True):
        file = here[2]
        system = of_system.setdefault(file, "3" in here[3].split() or file.startswith("<"))
        found.append(Part(here.end(), after.start() if after else len(text), file, int(here[1]), not system))
    return found


class Refused(Exception):
    """What the executor does not have: in one line, where it is used."""


# Of <math.h> since C++20. Programs for C++17, nvcc's default, may have a function of that name themselves.
LERP = re.compile(r"^using std::lerp;$", re.M)


class Rewritten(NamedTuple):
    text: str
    templates: dict[str, str]  # sections of variable templates, by name


class Preprocessed(Rewriter):
    def __init__(self, text: str) -> None:
        self.templates: dict[str, str] = {}
        self.parts = parts(text)
        self.begins = [part.begin for part in self.parts]
        super().__init__(text, {}, frozenset())
        self.rename_own()
        self.mangle_kernels()
        places = [match.span() for match in LERP.finditer(text)]
        self.edits += [(*place, "") for place in places if not self.part_at(place[0]).of_user]
        self.refuse()

    def refuse(self) -> None:
        for i, token in enumerate(self.tokens):
            if token.text in NOT_THERE:
                self.refuse_at(token, NOT_THERE[token.text])
            if token.text in ("texture", "surface") and self.sign(i + 1) == "<":
                self.refuse_at(token, TEXTURES)
            if token.text in ("asm", "__asm__", "__asm") and self.is_ptx(i + 1):
                self.refuse_at(token, "inline PTX")

    def mangle_kernels(self) -> None:
        """A kernel with C's linkage gets C++'s: its symbol then has its parameters' types, which a launch by its
        address alone needs to know."""
        for i, token in enumerate(self.tokens):
            if token.text != '"C"' or self.sign(i - 1) != "extern":
                continue
            if self.sign(i + 1) != "{":
                after = next((k for k in range(i + 1, len(self.tokens)) if self.sign(k) in ("__global__", "(", ";")), i)
                if self.sign(after) == "__global__":
                    self.edits.append((token.begin, token.end, '"C++"'))
                continue
            for k in range(i + 2, self.matching(i + 1)):
                if self.sign(k) == "__global__":
                    begin = k
                    while self.sign(begin - 1) not in (";", "{", "}"):
                        begin -= 1
                    if not {self.sign(word) for word in range(begin, k)} & {"static", "extern"}:
                        self.edits.append((self.tokens[begin].begin, self.tokens[begin].begin, 'extern "C++" '))

    def rename_own(self) -> None:
        """Variables, parameters and members of the program's own that are called like those that a kernel has."""
        renamed: set[int] = set()
        for i, token in enumerate(self.tokens):
            if token.text in BUILT_IN and token.kind == "name":
                if self.sign(i - 1) in (".", "->"):
                    renamed.add(i)
                elif self.declares(i):
                    begin, end = self.scope(i)
                    same = (k for k in range(begin, end + 1) if self.sign(k) == token.text)
                    renamed |= {k for k in same if self.sign(k - 1) != "::"}
        for i in renamed:
            begin = self.tokens[i].begin
            self.edits.append((begin, begin, OWN))

    def declares(self, i: int) -> bool:
        before = self.sign(i - 1)
        if before in ("*", "&", ">"):
            return self.sign(i - 2) in TYPES
        if before != ",":
            return self.tokens[i - 1].kind == "name" and before not in NO_TYPES
        while (sign := self.sign(i - 1)) not in (";", "{", "}", "("):
            i = self.matching(i - 1) if sign in CLOSES else i - 1
            if i < 1:
                return False
        return sign != "(" and bool({self.sign(i), self.sign(i + 1)} & TYPES)

    def scope(self, i: int) -> tuple[int, int]:
        """Of what is declared at i: the braces around it, or, of a parameter, up to the end of its function. Outside of
        all, the name alone."""
        begin = end = i
        while begin >= 0 and self.sign(begin) not in OPENS:
            begin = (self.matching(begin) if self.sign(begin) in CLOSES else begin) - 1
            if begin < -1:
                return i, i
        if begin >= 0:
            end = self.matching(begin)
        if begin >= 0 and self.sign(begin) == "(":
            while end + 1 < len(self.tokens) and self.sign(end) not in ("{", ";"):
                end += 1
            end = self.matching(end) if self.sign(end) == "{" else end
        return (begin, end) if begin >= 0 and end >= 0 else (i, i)

    def refuse_at(self, token: Token, what: str) -> None:
        file, line = self.origin_of_line(self.line(token))
        raise Refused(f"{file}:{line}: error: the CPU executor has no {what}")

    def is_ptx(self, i: int) -> bool:
        while self.sign(i) in ("volatile", "__volatile__"):
            i += 1
        end = self.matching(i) if self.sign(i) == "(" else -1
        return any(token.kind == "literal" and PTX.search(token.text) for token in self.tokens[i : end + 1])

    def read(self) -> list[Token]:
        return [token for part in self.parts if part.of_user for token in self.read_part(part)]

    def read_part(self, part: Part) -> Iterator[Token]:
        for token in tokens(self.text[part.begin : part.end]):
            if token.kind != "directive":  # #pragma
                yield token._replace(begin=token.begin + part.begin)

    def is_run(self, i: int, run: str) -> bool:
        """Programs have "<< <", too, as some editors format it."""
        return all(self.sign(i + k) == run[k] for k in range(len(run))) and self.sign(i - 1) != run[0]

    def is_close(self, i: int) -> bool:
        return all(self.sign(i + k) == ">" for k in range(3)) and self.sign(i + 3) == "("

    def definition(self, first: int, last: int) -> None:
        super().definition(first, last)
        for i in range(first, last + 1):
            if self.sign(i) in KEYWORDS:
                self.variable(i, first, last)
            elif self.sign(i) == "{" and self.sign(i + 1) == ".":
                self.designated(i)
            elif copy := BUILTIN_COPY.fullmatch(self.sign(i)):
                self.edits.append((self.tokens[i].begin, self.tokens[i].end, f"::{copy[1]}"))
            elif self.sign(i) == "union":
                self.union(i, last)

    def variable(self, i: int, first: int, last: int) -> None:
        """The keyword at i becomes a section if what is declared is a variable: not of a function, whose it stays."""
        begin = i
        while begin > first and self.sign(begin - 1) not in (";", "{", "}", ")"):
            begin -= 1
        end = self.declarator_end(i + 1, last)
        words = {self.sign(k) for k in range(begin, end)}
        if end > last or words & {"extern", "operator", "typedef", "using"}:
            return
        if self.sign(i) == "__device__" and words & {"__managed__", "__constant__", "__shared__"}:
            return  # the other keyword speaks
        token = self.tokens[i]
        if self.is_constant(begin, end):  # kernels may read constants wherever they lie
            if token.text == "__constant__":  # g++ puts nothing that is const into a section with what is not
                self.edits.append((token.begin, token.end, ""))
            return
        if "template" in words:
            bracket = next((k for k in range(i, end) if self.sign(k) == "["), end)
            self.templates[self.sign(bracket - 1)] = KEYWORDS[self.sign(i)]
        else:
            self.edits.append((token.begin, token.end, f'__attribute__((section("{KEYWORDS[self.sign(i)]}")))'))
            for each in self.tokens[begin:end]:
                if each.text == "inline" and "static" not in words:  # g++ has no section for both kinds
                    self.edits.append((each.begin, each.end, "__attribute__((weak))"))

    def designated(self, i: int) -> None:
        """The { at i begins a designated initialiser: of a vector, if a vector type's name stands before."""
        begin = i - 1 - (self.sign(i - 1) == "=")
        end = self.matching(i)
        if end < 0 or not any(VECTOR.fullmatch(self.sign(k)) for k in (begin, begin - 1)):
            return
        left = "xyzw"
        k = i + 1
        while k < end:
            if self.sign(k) == "." and self.sign(k - 1) in ("{", ",") and (at := left.find(self.sign(k + 1))) >= 0:
                stop = self.tokens[k + 1 + (self.sign(k + 2) == "=")].end
                self.edits.append((self.tokens[k].begin, stop, "{}, " * at))
                left = left[at + 1 :]
            k = (self.matching(k) if self.sign(k) in OPENS else k) + 1

    def union(self, i: int, last: int) -> None:
        """Its members of vector types become such that it can be copied; not those of a union within, which follows."""
        while i < last and self.sign(i) not in ("{", ";", ")", "=", ","):
            i += 1
        end = self.matching(i) if self.sign(i) == "{" else -1
        while i < end:
            if self.sign(i) == "union":
                return
            begins = self.sign(i - 1) in ("{", ";", "}", "const", "volatile")
            declares = self.tokens[i + 1].kind == "name" and self.sign(i + 2) != "("
            if VECTOR.fullmatch(self.sign(i)) and begins and declares:
                self.edits.append((self.tokens[i].end, self.tokens[i].end, "::simt_plain"))
            i += 1

    def declarator_end(self, i: int, last: int) -> int:
        """Where a variable's value begins, or its declaration ends: beyond `last` if this is no variable."""
        while i <= last and self.sign(i) not in (";", "=", "{", ","):
            if self.sign(i) in OPENS:
                before, after = self.sign(i - 1), self.sign(i + 1)
                # name(...) is a function's head. Brackets of an attribute aren't, nor (*name)(...).
                if self.sign(i) == "(" and not (
                    before.startswith("__a") or before in ("alignas", "decltype", ")") or after in ("*", "&")
                ):
                    return last + 1
                i = self.matching(i)
                if i < 0:
                    return last + 1
            elif self.sign(i) == ")":  # a parameter, or a lambda's
                return last + 1
            i += 1
        return i

    def is_constant(self, begin: int, end: int) -> bool:
        """Whether what is declared is constant itself, and not only what it points to."""
        signs = [self.sign(k) for k in range(begin, end)]
        if "constexpr" in signs:
            return True
        stars = [k for k, sign in enumerate(signs) if sign == "*"]
        return "const" in signs[stars[-1] if stars else 0 :]

    def table(self) -> str:
        """What each function calls its dynamic shared memory, by file."""
        files: dict[str, list[str]] = {part.file: [] for part in self.parts if part.of_user}
        for first, last, name in self.rows:
            if first == 0:  # any function may use it
                for rows in files.values():
                    rows.append(f'{{0, 0, "{name}"}}')
            else:
                (file, begin), (_, end) = self.origin_of_line(first), self.origin_of_line(last)
                files[file].append(f'{{{begin}, {max(begin, end)}, "{name}"}}')
        return "".join(
            f"\nnamespace {{ const ::simt::DynamicNames simt_dynamic_names_{zlib.crc32(file.encode()):x}"
            f'{{"{file}", {{{", ".join(rows)}}}}}; }}'
            for file, rows in files.items()
            if rows
        )

    def kernel_names(self) -> str:
        """Tells the executor what is a kernel, and what another function (common/simt/code/kernel_names.hpp)."""
        names: dict[str, set[str]] = {"__global__": set(), "__device__": set()}
        for i, token in enumerate(self.tokens):
            if token.text in names:
                names[token.text].add(self.function_name(i + 1))
        rows = [", ".join(f'"{name}"' for name in sorted(each - {""})) for each in names.values()]
        return f"\nnamespace {{ const ::simt::KernelNames simt_kernel_names{{{{{rows[0]}}}, {{{rows[1]}}}}}; }}"

    def function_name(self, i: int) -> str:
        """Of the function whose declaration goes on at i; empty if it is none's."""
        name, depth = "", 0
        while i < len(self.tokens) and (sign := self.sign(i)) not in (";", "{", "}", "="):
            depth += (sign == "<") - (sign == ">")
            if sign == "(":
                if depth == 0 and name and name not in WITH_ARGUMENTS:
                    return name
                i = max(i, self.matching(i))
            elif depth == 0 and self.tokens[i].kind == "name":
                name = sign
            i += 1
        return ""

    def part_at(self, place: int) -> Part:
        return self.parts[max(0, bisect.bisect_right(self.begins, place) - 1)]

    def origin_of_line(self, line: int) -> tuple[str, int]:
        begin = self.lines[line - 1]
        part = self.part_at(begin)
        return part.file, part.line + self.text.count("\n", part.begin, begin)


def rewrite(text: str, hands_on: bool = True) -> Rewritten:
    """`hands_on`: results that are stored (stores.py)."""
    made = Preprocessed(text)
    out: list[str] = []
    at = 0
    for begin, end, instead in sorted([*made.edits, *(stores.edits(made) if hands_on else [])]):
        out += [text[at:begin], instead]
        at = end
    return Rewritten("".join([*out, text[at:], made.table(), made.kernel_names(), "\n"]), made.templates)
