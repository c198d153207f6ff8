"""C++ headers cut into declarations, of which those are kept that somebody names.

This is no C++ parser. It knows the style of this repository: headers in namespaces, one declaration after the other,
comments in lines of their own above. What it gets wrong does not compile, and tests/test_flat.py compiles everything.
"""

from __future__ import annotations

import dataclasses
import re

IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
NO_NAMES = {
    "__launch_bounds__",
    "__attribute__",
    "__align__",
    "alignas",
    "decltype",
    "noexcept",
    "requires",
    "sizeof",
    "asm",
    "if",
    "defined",
    "explicit",
}
LITERAL = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'""", re.S)
DIGITS = re.compile(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])")


@dataclasses.dataclass(eq=False)
class Declaration:
    """Its text with the comment above it; what it defines; all names in it but those of its own template parameters."""

    scope: tuple[str, ...]
    text: str
    names: frozenset[str]
    uses: frozenset[str]
    follows: bool  # it defines nothing that others name: kept if all its `names` are

    def is_prototype(self) -> bool:
        """A function without a body."""
        return re.search(r"\)\s*(?:const\s*)?;", masked(self.text)) is not None and "{" not in masked(self.text)


def masked(text: str) -> str:
    """The text with blanks in the place of comments and literals."""
    text = DIGITS.sub("_", text)
    return LITERAL.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def for_nvcc(text: str) -> str:
    """The text without what is for the CPU executor: nvcc defines __CUDACC__."""
    kept: list[str] = []
    known: list[bool | None] = []  # of each #if that is open: which part is taken; None: both, it is another one's
    for line in text.splitlines(keepends=True):
        directive = re.match(r"\s*#\s*(ifdef|ifndef|if|elif|else|endif)\b\s*(.*?)\s*$", line)
        word, rest = directive.groups() if directive else ("", "")
        if word in ("ifdef", "ifndef", "if"):
            known.append(word == "ifdef" if rest == "__CUDACC__" else None)
            if known[-1] is not None:
                continue
        elif word == "else" and known[-1] is not None:
            known[-1] = not known[-1]
            continue
        elif word == "endif" and known.pop() is not None:
            continue
        if all(part is not False for part in known):
            kept.append(line)
    return "".join(kept)


def end_of_group(mask: str, at: int) -> int:
    """Behind the bracket that closes the one at `at`."""
    depth = 0
    while True:
        depth += (mask[at] in "([{") - (mask[at] in ")]}")
        at += 1
        if depth == 0:
            return at


def behind_templates(mask: str, at: int) -> int:
    """Behind template <...>, if there is one at `at`."""
    while head := re.compile(r"template\s*<").match(mask, at):
        depth, at = 1, head.end()
        while depth > 0:
            depth += (mask[at] == "<") - (mask[at] == ">")
            at += 1
        at += len(mask[at:]) - len(mask[at:].lstrip())
    return at


def end_of_declaration(mask: str, at: int) -> int:
    """Behind its semicolon, or behind the body of a function."""
    at = behind_templates(mask, at)
    type_of_its_own = re.compile(r"(struct|class|union|enum)\b").match(mask, at) is not None
    value = False  # it has one, which may have braces
    while mask[at] != ";":
        if mask[at] in "([{":
            body = mask[at] == "{"
            at = end_of_group(mask, at)
            if body and not value and not type_of_its_own and not mask[at:].lstrip().startswith((";", ",")):
                return at
        else:
            value |= mask[at] == "=" and mask[at - 1] not in "=!<>" and mask[at + 1] != "="
            at += 1
    return at + 1


def without_templates(head: str) -> tuple[str, set[str]]:
    """A declaration's head without template <...> and requires clauses, and the names of its template's parameters."""
    parameters: set[str] = set()
    head = head.lstrip()
    while head.startswith("template"):
        end = behind_templates(head, 0)
        inner = head[head.index("<") + 1 : head[:end].rindex(">")]
        for parameter in re.split(r",(?![^<]*>)", inner):
            if named := re.match(r"[^=]*?(\w+)\s*(?:=.*)?$", parameter.strip(), re.S):
                parameters.add(named[1])
        head = head[end:]
        if head.startswith("requires"):
            rest = head[len("requires") :].lstrip()
            # A clause in brackets, or a concept with its arguments.
            concept = re.match(r"\w+(<[^>]*>)?", rest)
            end = concept.end() if concept else end_of_group(rest, 0)
            head = rest[end:].lstrip()
    return head, parameters


def names_of(mask: str) -> tuple[set[str], bool, set[str]]:
    """What a declaration defines, whether it only follows others, and the names of its template's parameters."""
    head, parameters = without_templates(mask)
    if head.startswith("static_assert"):
        return set(IDENTIFIER.findall(head)), True, parameters
    if kind := re.match(r"(struct|class|union|enum class|enum)\s+(?:__align__\(\w+\)\s+)?(\w+)", head):
        names = {kind[2]}
        if kind[1] == "enum":
            names |= set(re.findall(r"(\w+)\s*[,=}]", head[head.index("{") :]))
        return names, False, parameters
    if alias := re.match(r"(?:using|concept|namespace)\s+(?:[\w:]*::)?(\w+)", head):
        return {alias[1]}, False, parameters
    if operator := re.search(r"\boperator\s*[^\w\s(]+\s*\(|\boperator\(\)", head):
        return set(IDENTIFIER.findall(head[operator.end() : head.index(")", operator.end())])), True, parameters
    for call in re.finditer(r"(?:(\w+)(?:<[^<>()]*>)?::)?([A-Za-z_]\w*)(?:<[^<>()]*>)?\s*\(", head):
        if call[2] not in NO_NAMES:
            if "=" not in head[: call.start()]:
                return {call[1] or call[2]}, False, parameters
            break
    # A variable, or several.
    whole = re.split(r"[;{]", head, maxsplit=1)[0] if "{" in head.split("=")[0] else head
    first = re.split(r"[=;{\[]", whole, maxsplit=1)[0]
    names = {IDENTIFIER.findall(re.sub(r"<[^<>]*>\s*$", "", first))[-1]}
    return names | set(re.findall(r",\s*(\w+)\s*(?:=|\[|;)", whole)), False, parameters


def declarations(text: str) -> list[Declaration]:
    """Those of a header, in their order."""
    text = for_nvcc(text)
    mask = masked(text)
    found: list[Declaration] = []
    scope: list[str] = []
    at = 0
    while at < len(mask):
        if mask[at].isspace():
            at += 1
        elif mask[at] == "#":
            begin = at
            at = re.compile(r"(?:\\\n|[^\n])*\n?").match(mask, at).end()  # type: ignore[union-attr]
            if define := re.match(r"#\s*define\s+(\w+)", mask[begin:at]):
                words = IDENTIFIER.findall(mask[begin:at])
                found.append(
                    Declaration(tuple(scope), text[begin:at].rstrip(), frozenset([define[1]]), frozenset(words), False)
                )
        elif opened := re.compile(r"namespace\s*([\w:]*)\s*\{").match(mask, at):
            scope.append(opened[1])
            at = opened.end()
        elif mask[at] == "}":
            scope.pop()
            at += 1
        else:
            begin, end = at, end_of_declaration(mask, at)
            line_end = mask.find("\n", end)
            at = end if mask[end:line_end].strip() else line_end  # with the comment in its line
            lines = text[:begin].splitlines()
            first = len(lines)
            while first > 0 and lines[first - 1].startswith("//"):
                first -= 1
            above = "".join(line + "\n" for line in lines[first:])
            names, follows, parameters = names_of(mask[begin:end])
            uses = set(IDENTIFIER.findall(mask[begin:end])) - parameters
            found.append(
                Declaration(tuple(scope), above + text[begin:at].rstrip(), frozenset(names), frozenset(uses), follows)
            )
    return found


def reached(available: list[Declaration], named: set[str]) -> set[Declaration]:
    """What is named, what that names, and so on."""
    kept: set[Declaration] = set()
    defined = {name for each in available if not each.follows for name in each.names}
    names = set(named)

    def is_wanted(each: Declaration) -> bool:
        if each.follows:
            ours = each.names & defined  # of CUDA's types alone: wanted if one of them is
            return ours <= names if ours else bool(each.names & names)
        return bool(each.names & names)

    while True:
        more = {each for each in available if each not in kept and is_wanted(each)}
        if not more:
            return kept
        kept |= more
        for each in more:
            names |= each.uses
