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
# Ways out of what the executor sees, or into it. What calls a function by its name meets the object file's rules, too.
FORBIDDEN = re.compile(
    r"asm|__asm__|__asm|_Pragma|__attribute__|__attribute|__declspec|__builtin_\w+|__tsan_\w+|__sanitizer_\w+|simt\w*"
    r"|__has_\w+|throw|try|catch|new|delete|typeid|dynamic_cast|goto|setjmp|longjmp|thread_local|_Thread_local|volatile"
    r"|module|import|export|co_await|co_yield|co_return|operator|virtual|malloc|free|alloca|printf|__host__"
    r"|constinit|static_storage|__managed__|__device_builtin__|cudaMalloc\w*|cudaMemcpy\w*|cudaLaunch\w*|cublas\w*"
    r"|__FILE__|__BASE_FILE__|__COUNTER__|__INCLUDE_LEVEL__|__TIME__|__DATE__|__TIMESTAMP__"
)
MOST_STATIC_BYTES = 64 << 10  # of an object's writable sections
# What the executor gives kernels to call, and what compilers call by themselves. Everything else must be what the
# contract calls already.
CALLABLE = re.compile(
    r"_ZN?K?4simt|__tsan_|__sanitizer_cov_trace_pc$|__ubsan_handle_out_of_bounds|mem(cpy|set|move)$|__stack_chk_fail$"
    r"|(sqrt|fma|exp|exp2|log|log2|pow|sin|cos|tanh|floor|ceil|rint|nearbyint|fmin|fmax|fabs|ldexp|scalbn|rsqrt)f?$"
    r"|_ZTH|_ZTW|_GLOBAL_OFFSET_TABLE_$|__tls_get_addr$|_ZSt"
)
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


def check_text(assignment: Assignment, name: str, text: str) -> None:
    """Raises Violation."""
    lines = text.count("\n") + 1
    if lines > assignment.most_lines:
        refuse(f"{name} has {lines} lines, and at most {assignment.most_lines} are allowed")
    code = without_comments(spliced(text))
    for directive in DIRECTIVE.finditer(code):
        word, rest = directive[1], directive[2]
        if word == "pragma" and rest.split()[:1] in (["unroll"], ["once"]):
            continue
        if word not in DIRECTIVES:
            refuse(f"{name}: #{word} is not allowed")
    depth, before = 0, ""
    tokens = list(TOKEN.finditer(code))
    for index, token in enumerate(tokens):
        kind, word = token.lastgroup, token[0]
        if kind == "mark" or kind == "raw":
            refuse(f"{name}: raw strings are not allowed")
        if kind == "name":
            after = tokens[index + 1][0] if index + 1 < len(tokens) else ""
            if FORBIDDEN.fullmatch(word) or word in assignment.forbidden:
                refuse(f"{name}: '{word}' is not allowed here")
            if word == "extern" and after != "__shared__":
                refuse(f"{name}: 'extern' is only for shared memory")
            if word in ("namespace", "using") and after in ("gemm", "std", "nvcuda"):
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


@dataclasses.dataclass(frozen=True)
class Object:
    """What a contract's object file calls, and holds."""

    undefined: frozenset[str]
    defined: frozenset[str]  # global ones
    constructors: int  # bytes of the arrays that are called before main
    static_bytes: int
    indirect: int  # calls and jumps to where a register says


def read_object(path: pathlib.Path) -> Object:
    def said(*command: str) -> list[str]:
        done = subprocess.run([*command, path], capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    undefined, defined = set(), set()
    for line in said("nm"):
        kind, name = line.split()[-2:]
        if kind in "Uw":
            undefined.add(name)
        elif kind in "TDBRGSi":
            defined.add(name)
    constructors = static_bytes = 0
    for words in (line.split() for line in said("size", "-A")):
        if len(words) < 2 or not words[1].isdecimal():
            continue
        section, size = words[0], int(words[1])
        if re.match(r"\.(pre)?init_array|\.ctors|\.fini_array|\.dtors", section):
            constructors += size
        if re.match(r"\.(data|bss)(?!\.rel\.ro)", section):
            static_bytes += size
    indirect = sum(map(bool, map(INDIRECT.search, said("objdump", "-d", "--no-show-raw-insn"))))
    return Object(frozenset(undefined), frozenset(defined), constructors, static_bytes, indirect)


def check_object(found: Object, known: Object) -> None:
    """`known`: of the same contract with kernels that are trusted. Raises Violation."""
    for name in sorted(found.undefined - known.undefined):
        if not CALLABLE.match(name):
            refuse(f"it calls '{name}', which no kernel may")
    extra = sorted(found.defined - known.defined)
    if extra:
        refuse(f"it defines '{extra[0]}' for the whole program")
    if found.constructors > known.constructors:
        refuse("it has objects that are constructed before the program begins")
    if found.static_bytes > known.static_bytes + MOST_STATIC_BYTES:
        refuse(f"it has {found.static_bytes:,} bytes of static variables")
    if found.indirect > known.indirect:
        refuse("it calls functions by pointers")
