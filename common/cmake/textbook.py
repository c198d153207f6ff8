"""CUDA's own syntax as g++ takes it, for the CPU executor. These forms are no C++, or none that g++ takes:

    kernel<16, float><<<grid, block>>>(a, n);     becomes  SIMT_LAUNCH(kernel<16, float>)(grid, block)(a, n);
    extern __shared__ float tile[];               becomes  extern __shared__ float tile[] __asm__("simt_dynamic");
    the same in a template, of which g++ would forget the last word:  float (&tile)[] = ::simt::dynamic_array;
    __shared__ alignas(16) float tile[8];         becomes  alignas(16) __shared__ float tile[8];
    __device__ __noinline__ void f();             becomes  __device__ __attribute__((noinline)) void f();

SIMT_LAUNCH is in common/simt/language/launch.hpp; simt_dynamic is the executor's array, which every such declaration
names. At file scope `smem` is another name of it.
Lines stay lines, so that g++ reports those of the file that the text was made of. At its end the text tells the
executor what each function calls its dynamic shared memory (common/simt/code/dynamic_names.hpp).
"""

from __future__ import annotations

import bisect
import re
import zlib
from collections.abc import Iterator, Mapping
from typing import NamedTuple

HEADER = "common/simt/language/launch.hpp"
ARRAY, ALIAS = "simt_dynamic", "smem"  # the executor's symbols: common/simt/observe/shared_memory.cpp

# What is skipped comes first: comments, strings, directives. A number takes the ' between its digits.
TOKEN = re.compile(
    r"""
    (?P<blank>\s+ | \\\n | //(?:\\\n|[^\n])* | /\*.*?(?:\*/|\Z))
  | (?P<literal>(?:u8|[uUL])?(?:R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"
                               |"(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])+'))
  | (?P<number>\.?\d(?:[eEpP][+-]|'\w|[\w.])*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<sign>->|::|[<>]=|.)
    """,
    re.S | re.X,
)
# A directive ends with its line, but for a comment that goes on. Macros may hold launches: of #define only the head is
# skipped.
DEFINE = re.compile(r"#[ \t]*define\b")
DIRECTIVE = re.compile(r"#(?:\\\n|/\*.*?\*/|//[^\n]*|[^\n])*", re.S)
LOGICAL_LINE = re.compile(r"(?:\\\n|[^\n])*")
CONDITION = re.compile(r"#[ \t]*(if|ifdef|ifndef|else|endif)\b[ \t]*(\w*)")
INCLUDE = re.compile(r'#[ \t]*include[ \t]*"([^"\n]+)"')
OPENS, CLOSES = {"(": ")", "[": "]", "{": "}"}, {")": "(", "]": "[", "}": "{"}
CONDITIONS = {"if", "while", "for", "switch", "constexpr"}  # with brackets that are no call's
NO_KERNELS = {"operator", "return", "else", "do", "case", "throw", "co_return"}


class Token(NamedTuple):
    kind: str  # literal, number, name, sign, directive
    text: str
    begin: int
    macro: int  # in the text of a macro: where that ends; else 0

    @property
    def end(self) -> int:
        return self.begin + len(self.text)


class Rewritten(NamedTuple):
    text: str
    has_forms: bool  # else g++ can have the file as it is
    names: frozenset[str]  # of dynamic shared memory, declared outside of functions


def tokens(text: str) -> Iterator[Token]:
    at = macro = 0
    starts_line = True
    while at < len(text):
        if at >= macro:
            macro = 0
        if starts_line and text[at] == "#":
            if head := DEFINE.match(text, at):
                macro = LOGICAL_LINE.match(text, at).end()  # type: ignore[union-attr]
                at = head.end()
            else:
                directive = DIRECTIVE.match(text, at)[0]  # type: ignore[index]
                yield Token("directive", directive, at, 0)
                at += len(directive)
            starts_line = False
            continue
        found = TOKEN.match(text, at)
        assert found is not None and found.lastgroup is not None
        if found.lastgroup == "blank":
            starts_line |= "\n" in found[0]
        else:
            kind = "literal" if found["literal"] else found.lastgroup
            yield Token(kind, found[0], at, macro)
            starts_line = False
        at = found.end()


def for_executor(all_tokens: Iterator[Token]) -> Iterator[Token]:
    """Without those that only nvcc reads: it defines __CUDACC__."""
    hidden: list[bool | None] = []  # of each #if that is open: is its present part? None: it asks for something else
    for token in all_tokens:
        if token.kind == "directive" and (found := CONDITION.match(token.text)):
            word, name = found.groups()
            if word.startswith("if"):
                hidden.append(word == "ifdef" if name == "__CUDACC__" and word != "if" else None)
            elif hidden and word == "else" and hidden[-1] is not None:
                hidden[-1] = not hidden[-1]
            elif hidden and word == "endif":
                hidden.pop()
        if True not in hidden:
            yield token


class Rewriter:
    def __init__(self, text: str, includes: Mapping[str, str], names: frozenset[str]) -> None:
        self.text = text
        self.tokens = self.read()
        self.names = set(names)  # declared outside of functions, so far
        self.edits: list[tuple[int, int, str]] = []  # from, to, what stands there instead
        self.lines = [0, *(match.end() for match in re.finditer("\n", text))]
        self.rows: list[tuple[int, int, str]] = []  # first and last line, the name there
        for i, token in enumerate(self.tokens):
            if token.text == "<" and self.is_run(i, "<<<"):
                self.launch(i)
            # No macro: libstdc++ uses the same word in its attributes.
            elif token.text == "__noinline__" and self.sign(i - 1) not in ("(", ","):
                self.edits.append((token.begin, token.end, "__attribute__((noinline))"))
        for first, last in self.definitions():
            self.definition(first, last)
        # And those that any function may use, by way of another one.
        self.rows += [(0, 0, name) for name in sorted(self.names)]
        self.has_forms = bool(self.edits)
        self.include(includes)

    def read(self) -> list[Token]:
        return list(for_executor(tokens(self.text)))

    def line(self, token: Token) -> int:
        return bisect.bisect_right(self.lines, token.begin)

    def sign(self, i: int) -> str:
        """The token's text, if it is neither a literal nor beyond an end."""
        return self.tokens[i].text if 0 <= i < len(self.tokens) and self.tokens[i].kind in ("sign", "name") else ""

    def is_directive(self, i: int) -> bool:
        return self.tokens[i].kind == "directive"

    def is_run(self, i: int, run: str) -> bool:
        """Whether these signs stand here side by side, and no further one beside them."""
        begin = self.tokens[i].begin
        end = begin + len(run)
        return self.text[begin:end] == run and run[0] not in (self.text[begin - 1 : begin], self.text[end : end + 1])

    def is_close(self, i: int) -> bool:
        """Whether a launch's >>> stands here: a ( follows."""
        return self.text.startswith(">>>", self.tokens[i].begin) and self.sign(i + 3) == "("

    def include(self, includes: Mapping[str, str]) -> None:
        for token in self.tokens:
            if token.kind == "directive" and (found := INCLUDE.match(token.text)) and found[1] in includes:
                at = token.begin + found.start(1)
                self.edits.append((at, at + len(found[1]), includes[found[1]]))

    # ---- brackets

    def matching(self, i: int) -> int:
        """The bracket that belongs to the one at i, in either direction; -1 if there is none."""
        step = 1 if self.sign(i) in OPENS else -1
        pairs = OPENS if step == 1 else CLOSES
        expected: list[str] = []
        while 0 <= i < len(self.tokens):
            sign = self.sign(i)
            if sign in pairs:
                expected.append(pairs[sign])
            elif sign in OPENS or sign in CLOSES:
                if expected.pop() != sign:
                    return -1
                if not expected:
                    return i
            i += step
        return -1

    def template_begin(self, i: int) -> int:
        """The < that belongs to the > at i; -1 if there is none."""
        depth = 0
        while i >= 0:
            sign = self.sign(i)
            if sign in CLOSES:
                i = self.matching(i)
            elif sign in (*OPENS, ";"):
                return -1
            depth += (sign == ">") - (sign == "<")
            if depth == 0:
                return i
            i -= 1
        return -1

    # ---- launches

    def name_begin(self, i: int) -> int:
        """Where the name, or the expression in brackets, begins that ends with the token at i; -1 if there is none."""
        group = -1
        while i >= 0 and self.sign(i) in (")", "]"):
            later, group = group, self.matching(i)
            i = group - 1
            if self.sign(i) in CONDITIONS:
                return later
            if self.sign(i) in NO_KERNELS or not (self.sign(i) in (")", "]", ">") or self.tokens[i].kind == "name"):
                return group
        if self.sign(i) == ">":
            i = self.template_begin(i) - 1
        return i if i >= 0 and self.tokens[i].kind == "name" and self.sign(i) not in NO_KERNELS else -1

    def kernel_begin(self, i: int) -> int:
        """Where the expression begins that names a kernel and ends with the token at i; -1 if there is none."""
        begin = self.name_begin(i)
        while begin > 0 and self.sign(begin - 1) in ("::", ".", "->", "template"):
            begin -= 1
            if self.sign(begin) == "template":
                continue
            before = -1 if self.sign(begin) == "::" and self.sign(begin - 1) == ")" else self.name_begin(begin - 1)
            if before < 0:  # ::kernel
                return begin
            begin = before
        return begin

    def launch(self, i: int) -> None:
        begin = self.kernel_begin(i - 1)
        if begin < 0:
            return
        end = i + 3
        while end < len(self.tokens) and self.sign(end) != ";":
            if self.sign(end) in OPENS:
                end = self.matching(end)
                if end < 0:
                    return
            elif self.sign(end) in CLOSES:
                return
            # The last three, where more stand together: the first then ends a list of template arguments.
            elif self.is_close(end):
                self.edits += [
                    (self.tokens[begin].begin, self.tokens[begin].begin, "SIMT_LAUNCH("),
                    (self.tokens[i].begin, self.tokens[i + 2].end, ")("),
                    (self.tokens[end].begin, self.tokens[end + 2].end, ")"),
                ]
                return
            end += 1

    # ---- dynamic shared memory

    def definitions(self) -> Iterator[tuple[int, int]]:
        """First and last token of what stands in namespaces: functions, structures, variables."""
        i = begin = 0
        while i < len(self.tokens):
            token = self.tokens[i]
            if token.kind == "directive" or token.macro or token.text == "}":
                begin = i + 1 if begin == i or token.text == "}" else begin
            elif token.text == ";":
                yield begin, i
                begin = i + 1
            elif token.text == "{":
                words = {each.text for each in self.tokens[begin:i] if not each.macro}
                is_scope = "namespace" in words or (
                    "extern" in words and i - begin == 2 and self.tokens[i - 1].kind == "literal"
                )
                if not is_scope:
                    end = self.body_end(i)
                    # A variable's value is followed by more, a function's body is not.
                    if self.sign(end + 1) in (";", ",", "="):
                        i = end + 1
                        continue
                    yield begin, end
                    i = end
                begin = i + 1
            i += 1

    def body_end(self, i: int) -> int:
        """The } of the { at i; the last token if #if and #else hide it. Macros have brackets of their own."""
        depth = 0
        for at in range(i, len(self.tokens)):
            if self.tokens[at].kind == "sign" and not self.tokens[at].macro:
                depth += (self.tokens[at].text == "{") - (self.tokens[at].text == "}")
                if depth == 0:
                    return at
        return len(self.tokens) - 1

    def definition(self, first: int, last: int) -> None:
        """Rewrites its declarations, and notes which lines have which name."""
        here: set[str] = set()
        for i in range(first, last + 1):
            if self.sign(i) == "__shared__":
                self.alignment(i, first, last)
                here |= self.declaration(i, first, last)
        if here and not any(self.sign(i) == "{" for i in range(first, last + 1)):
            self.names |= here
            return
        known = self.names | here
        start, end = self.line(self.tokens[first]), self.line(self.tokens[last])
        name = ""
        for token in self.tokens[first : last + 1]:
            if token.kind == "name" and token.text in known and token.text != name:
                if name:
                    self.rows.append((start, max(start, self.line(token) - 1), name))
                    start = self.line(token)
                name = token.text
        if name:
            self.rows.append((start, end, name))

    def declaration_begin(self, i: int, first: int) -> int:
        while i > first and not (self.sign(i - 1) in (";", "{", "}", ":") or self.is_directive(i - 1)):
            i -= 1
        return i

    def alignment(self, i: int, first: int, last: int) -> None:
        """alignas may stand behind this __shared__ (or `extern`, `static`) for nvcc, but only before them for g++."""
        begin = at = self.declaration_begin(i, first)
        moved = ""
        while at < last and self.sign(at) != ";":
            if self.sign(at) == "alignas" and at != begin and (end := self.matching(at + 1)) > 0:
                start, stop = self.tokens[at].begin, self.tokens[end].end
                moved += " ".join(self.text[start:stop].split()) + " "
                self.edits.append((start, stop, "\n" * self.text.count("\n", start, stop)))
                at = end
            elif self.sign(at) in ("=", "["):  # of the name, not of the declaration
                break
            at += 1
        if moved:
            self.edits.append((self.tokens[begin].begin, self.tokens[begin].begin, moved))

    def declaration(self, i: int, first: int, last: int) -> set[str]:
        """Rewrites the declaration that this __shared__ is in, and gives the names that it declares."""
        begin = self.declaration_begin(i, first)
        words = [each for each in range(begin, i + 2) if self.sign(each) in ("extern", "__shared__")]
        if len(words) != 2:
            return set()
        in_template = any(self.sign(each) == "template" for each in range(first, begin))
        found: set[str] = set()
        while i < last and self.sign(i) != ";":
            if self.sign(i) in ("(", "{"):
                i = self.matching(i)
                if i < 0:
                    return found
            elif self.tokens[i].kind == "name" and self.sign(i + 1) == "[" and self.sign(i + 2) == "]":
                found.add(self.tokens[i].text)
                end = i + 2
                while self.sign(end + 1) == "[":  # tile[][32]
                    end = self.matching(end + 1)
                name, at = self.tokens[i], self.tokens[end].end
                if in_template:
                    self.edits += [(name.begin, name.end, f"(&{name.text})"), (at, at, " = ::simt::dynamic_array")]
                # Outside of all braces this is the array's own name.
                elif name.text != ALIAS or self.depth(begin) > 0:
                    self.edits.append((at, at, f' __asm__("{ARRAY}")'))
                i = end
            i += 1
        if found and in_template:
            for each in words:
                token = self.tokens[each]
                self.edits.append((token.begin, token.end, " " * len(token.text)))
        return found

    def depth(self, i: int) -> int:
        signs = [token.text for token in self.tokens[:i] if token.kind == "sign" and not token.macro]
        return signs.count("{") - signs.count("}")


def rewrite(
    text: str, path: str, includes: Mapping[str, str] | None = None, names: frozenset[str] = frozenset()
) -> Rewritten:
    """A source file's text for g++, which shall take it for the file at `path`. `includes` has other files for some
    that it includes, `names` those of dynamic shared memory that they declare."""
    made = Rewriter(text, includes or {}, names)
    out: list[str] = []
    at = 0
    for begin, end, instead in sorted(made.edits):
        out += [text[at:begin], instead]
        at = end
    out.append(text[at:])
    quoted = path.replace("\\", "\\\\").replace('"', '\\"')
    line = f'#line 1 "{quoted}"\n'
    table = ""
    if made.rows:
        rows = ", ".join(f'{{{first}, {last}, "{name}"}}' for first, last, name in made.rows)
        known = f"simt_dynamic_names_{zlib.crc32(path.encode()):x}"
        table = f"\nnamespace {{ const ::simt::DynamicNames {known}{{__FILE__, {{{rows}}}}}; }}\n"
    return Rewritten(f'{line}#include "{HEADER}"\n{line}{"".join(out)}{table}', made.has_forms, frozenset(made.names))
