"""What a submission may contain: kernels. Its text is read as C++ tokens before it meets a compiler, its object file
before it is linked."""

from __future__ import annotations

import dataclasses
import pathlib
import re
import stat
import subprocess

from tools.course.assignment import Assignment

TOKEN = re.compile(
    r"""(?P<raw>\b(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)")
      | (?P<string>\b(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*")
      | (?P<char>'(?:[^'\\\n]|\\.)+')
      | (?P<number>\.?\d(?:[eEpP][+-]|'(?=\w)|[\w.])*)
      | (?P<name>[A-Za-z_$][\w$]*)
      | (?P<pair>\[\[|\]\]|\#\#|<:|:>|<%|%>|%:|\?\?)
      | (?P<other>\S)""",
    re.X | re.S | re.A,
)
COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|("(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\')', re.S)
DIRECTIVE = re.compile(r"^[ \t]*(?:#|%:)[ \t]*(\w*)([^\n]*)", re.M)
DIRECTIVES = {"define", "undef", "if", "ifdef", "ifndef", "elif", "else", "endif", "error", ""}
ATTRIBUTES = {"likely", "unlikely", "maybe_unused"}
# Ways out of what the executor sees, or into it. What reaches a function by its name meets the object's rules, too.
FORBIDDEN = re.compile(
    r"asm|throw|try|catch|new|delete|typeid|dynamic_cast|goto|setjmp|longjmp|thread_local|constinit|volatile|operator"
    r"|virtual|module|import|export|co_await|co_yield|co_return|malloc|free|alloca|printf|mem(cpy|move|set)|abi|fmt"
    r"|simt\w*|gemm|cudaMalloc\w*|cudaMemcpy\w*|cudaLaunch\w*|cublas\w*"
)
# Of names that begin with an underscore, those of CUDA; but none that tells a GPU from the executor, because what is
# counted must be what is timed. The others are the compiler's: attributes, and functions that become single
# instructions, whose accesses the executor does not see.
CUDA = re.compile(
    r"__((global|device|shared|constant|restrict|launch_bounds|forceinline|noinline|align|grid_constant)__"
    r"|sync(threads|warp)\w*|(shfl|ballot|any|all|match|reduce)\w*_sync|activemask|threadfence\w*"
    r"|ld(g|c[agsv]|lu)|st(wb|c[gs]|wt)|half\w*|u?(char|short|int|longlong)\w*|float\w*|double\w*|bfloat\w*|nv_\w+"
    r"|(low|high)s?2\w+|h(?!as_)[a-z]+2?\w*|[fd](add|sub|mul|ma|maf|div|sqrt|rcp)\w*_r[nzud]|(popc|clz|ffs|brev)(ll)?"
    r"|byte_perm|u?mul(24|hi)|(exp|exp10|log|log2|log10|pow|sin|cos|tan|fdivide|saturate)f|pipeline_\w+|cvta_\w+)"
)
# Of std: types, and functions that are no more than their expression. std::copy may become code that is not counted.
STD = re.compile(
    r"u?int(_fast|_least)?(8|16|32|64)_t|u?intptr_t|size_t|ptrdiff_t|min|max|clamp|abs|fma|sqrt|swap|move|bit_cast"
    r"|numeric_limits|is_same(_v)?|conditional(_t)?|integral_constant|bool_constant|true_type|false_type"
)
# What headers' macros for numbers expand to, which the student has not written.
OF_HEADERS = re.compile(r"__builtin_(inff?|huge_val[fl]?|nanf?|offsetof)|__null|__extension__")
# CUDA's words, which headers define as macros. They stay as they are where the compiler shows the rest expanded.
WORDS = (
    *("__shared__", "__constant__", "__forceinline__", "__align__", "__host__"),
    *("threadIdx", "blockIdx", "blockDim", "gridDim"),
)
NUMBER = re.compile(r"[ \t]+\(?\.?\d[\w.]*\)?[ \t]*")
MOST_STATIC_BYTES = 64 << 10  # of an object's writable sections
# What the executor gives kernels to call, and what compilers call by themselves. Everything else must be what the
# contract calls already.
CALLABLE = re.compile(
    r"_ZN?K?4simt(?!\d*launch)|__tsan_(?!atomic)|__sanitizer_cov_trace_pc$"
    r"|__ubsan_handle_(out_of_bounds|type_mismatch_v1)$|mem(cpy|set|move)$|__stack_chk_fail$"
    r"|(sqrt|fma|exp|exp2|log|log2|pow|sin|cos|tanh|floor|ceil|rint|nearbyint|fmin|fmax|fabs|ldexp|scalbn|rsqrt)f?$"
    r"|_ZTH|_ZTW|_GLOBAL_OFFSET_TABLE_$|__tls_get_addr$|_ZSt\d+__throw_"
)
OWN = re.compile(r"_ZN12_GLOBAL__N_1(\d+)(\w+)")  # a name in the unnamed namespace: its length, and it
INDIRECT = re.compile(r"\t(?:notrack |bnd )?(?:call|jmp|blr|br)q? +(?:\*|x\d)")


@dataclasses.dataclass(frozen=True)
class Violation(Exception):
    """One line, in words for the student."""

    reason: str

    def __str__(self) -> str:
        return self.reason


def refuse(reason: str) -> None:
    raise Violation(reason)


def read_files(assignment: Assignment, submission: pathlib.Path) -> dict[str, str]:
    """The text of each file that is to be handed in: plain files, no links, no more than allowed."""
    if submission.is_symlink():  # to another student's, perhaps
        refuse(f"{submission.name} is no plain file or folder")
    texts = {}
    for name in assignment.files:
        path = submission / name if submission.is_dir() else submission
        try:
            state = path.lstat()
            if not stat.S_ISREG(state.st_mode):
                refuse(f"{name} is no plain file")
            if state.st_size > assignment.most_bytes:
                refuse(f"{name} has {state.st_size:,} bytes, and at most {assignment.most_bytes:,} are allowed")
            data = path.read_bytes()
        except OSError as error:
            refuse(f"{name} can't be read: {error.strerror}")
        try:
            texts[name] = data.decode().replace("\r\n", "\n")
        except UnicodeDecodeError:
            refuse(f"{name} is no UTF-8 text")
        if "\0" in texts[name]:
            refuse(f"{name} has a zero byte")
    return texts


def spliced(text: str) -> str:
    """As the compiler joins lines: before everything else."""
    return re.sub(r"\\[ \t]*\n", "", text)


def without_comments(text: str) -> str:
    return COMMENT.sub(lambda found: found[1] or " " + "\n" * found[0].count("\n"), text)


def names_of(code: str) -> frozenset[str]:
    return frozenset(token[0] for token in TOKEN.finditer(code) if token.lastgroup == "name")


def check_directives(name: str, code: str, contract: frozenset[str]) -> None:
    for directive in DIRECTIVE.finditer(code):
        word, rest = directive[1], directive[2]
        if word == "pragma" and rest.split()[:1] in (["unroll"], ["once"]):
            continue
        if word not in DIRECTIVES:
            refuse(f"{name}: #{word} is not allowed")
        defined = re.match(r"\s*([\w$]+)", rest)
        # The contract is read after it, and must mean what it says: a macro there may be a number, as TILE is.
        if word == "define" and defined and defined[1] in contract and not NUMBER.fullmatch(rest[defined.end() :]):
            refuse(f"{name}: the contract uses '{defined[1]}': as a macro it must be a number")


def check_tokens(assignment: Assignment, name: str, code: str, expanded: bool = False) -> None:
    depth, before = 0, ""
    tokens = list(TOKEN.finditer(code))
    for index, token in enumerate(tokens):
        kind, word = token.lastgroup, token[0]
        if kind == "mark" or kind == "raw":
            refuse(f"{name}: raw strings are not allowed")
        if kind == "name":
            after = tokens[index + 1][0] if index + 1 < len(tokens) else ""
            known = CUDA.fullmatch(word) or (expanded and OF_HEADERS.fullmatch(word))
            if FORBIDDEN.fullmatch(word) or word in assignment.forbidden or (word.startswith("_") and not known):
                refuse(f"{name}: '{word}' is not allowed here")
            if word == "std" and not STD.fullmatch("".join(one[0] for one in tokens[index + 1 : index + 4])[2:]):
                refuse(f"{name}: of std there are only types, and functions such as std::min")
            if word == "extern" and after != "__shared__":
                refuse(f"{name}: 'extern' is only for shared memory")
            if word in ("namespace", "using") and after in ("std", "nvcuda"):
                refuse(f"{name}: '{word} {after}' is not allowed")
            if before == "[[" and word not in ATTRIBUTES:
                refuse(f"{name}: the attribute '{word}' is not allowed")
        if kind == "pair" and word not in ("[[", "]]"):
            refuse(f"{name}: '{word}' is not allowed")
        depth += {"{": 1, "}": -1}.get(word, 0)
        if depth < 0:
            refuse(f"{name}: a brace closes what was never opened")
        before = word
    if depth:
        refuse(f"{name}: {depth} braces are not closed")


def check_text(assignment: Assignment, name: str, text: str) -> None:
    """As it was handed in. Raises Violation."""
    lines = text.count("\n") + 1
    if lines > assignment.most_lines:
        refuse(f"{name} has {lines} lines, and at most {assignment.most_lines} are allowed")
    code = without_comments(spliced(text))
    check_directives(name, code, names_of(without_comments(assignment.contract.read_text())))
    check_tokens(assignment, name, code)


def check_expanded(assignment: Assignment, name: str, text: str) -> None:
    """As the compiler reads it: headers have macros that join names, or drop a brace. Raises Violation."""
    check_tokens(assignment, name, text, expanded=True)


@dataclasses.dataclass(frozen=True)
class Object:
    """What a contract's object file calls, and holds."""

    undefined: frozenset[str]
    defined: frozenset[str]  # global ones, or such with names as C has them
    own: frozenset[str]  # functions of the unnamed namespace
    constructors: int  # bytes of the arrays that are called before main
    startup: frozenset[tuple[str, ...]]  # what runs before main: its instructions, and what they call
    static_bytes: int
    indirect: int  # calls and jumps to where a register says


def read_object(path: pathlib.Path) -> Object:
    def said(*command: str) -> list[str]:
        done = subprocess.run([*command, path], capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    undefined, defined, own = set(), set(), set()
    for line in said("nm"):
        kind, name = line.split()[-2:]
        if kind in "Uw":
            undefined.add(name)
        elif kind in "TDBRGSi" or (kind in "WVu" and not name.startswith("_Z")):
            defined.add(name)
        elif kind == "t" and "." not in name:  # no part of one that the compiler has made
            own.add(name)
    constructors = static_bytes = 0
    for words in (line.split() for line in said("size", "-A")):
        if len(words) < 2 or not words[1].isdecimal():
            continue
        section, size = words[0], int(words[1])
        if re.match(r"\.(pre)?init_array|\.ctors|\.fini_array|\.dtors", section):
            constructors += size
        if re.match(r"\.(data|bss)(?!\.rel\.ro)", section):
            static_bytes += size
    disassembly = said("objdump", "-dr", "--no-show-raw-insn")
    indirect = sum(map(bool, map(INDIRECT.search, disassembly)))
    return Object(
        frozenset(undefined),
        frozenset(defined),
        frozenset(own),
        constructors,
        frozenset([startup_of(disassembly)]),
        static_bytes,
        indirect,
    )


def startup_of(disassembly: list[str]) -> tuple[str, ...]:
    """Without addresses, which differ with what else there is."""
    found, here = [], False
    for line in disassembly:
        if line.startswith("Disassembly of section "):
            here = line.endswith(" .text.startup:")
        words = line.split() if here else []
        if re.match(r"\s*[0-9a-f]+:\s+R_", line) and words:
            name = re.split(r"[+-]0x", words[2])[0]
            found += [] if name.startswith(".") else [name]
        elif re.match(r"\s*[0-9a-f]+:\t", line) and words:
            found.append(words[1])
    return tuple(found)


def own_name(mangled: str) -> str:
    """Of a function in the unnamed namespace; of others nothing."""
    found = OWN.match(mangled)
    return found[2][: int(found[1])] if found else ""


def check_object(found: Object, known: Object) -> None:
    """`known`: of the same contract with kernels that are trusted. Raises Violation."""
    for name in sorted(found.undefined - known.undefined):
        if not CALLABLE.match(name):
            refuse(f"it calls '{name}', which no kernel may")
    extra = sorted(found.defined - known.defined)
    if extra:
        refuse(f"it defines '{extra[0]}' for the whole program")
    for name in sorted(known.own - found.own):
        refuse(f"its {own_name(name)} has not the parameters of the skeleton's")
    # All such objects of a file share one function, so its length tells, and the array's does not.
    if found.constructors > known.constructors or not found.startup <= known.startup:
        refuse("it has variables that are computed before the program begins")
    if found.static_bytes > known.static_bytes + MOST_STATIC_BYTES:
        refuse(f"it has {found.static_bytes:,} bytes of static variables")
    if found.indirect > known.indirect:
        refuse("it calls functions by pointers")
