"""The text of a kernel's file: which of it is code for the device, and where expressions begin and end."""

from __future__ import annotations

import re
from collections.abc import Iterator

OPENING, CLOSING = "([{", ")]}"


def spaces(text: str) -> str:
    """As long, with the same lines."""
    return re.sub(r"[^\n]", " ", text)


def blanked(text: str) -> str:
    """The text with comments, strings, preprocessor lines, static_asserts and what only nvcc compiles (there g++ would
    make the same code of each mutant) as spaces: offsets and lines stay."""
    text = re.sub(
        r"^#ifdef __CUDACC__\n(?:(?!#if).*\n)*?(?=#(?:else|endif)\b)",
        lambda match: spaces(match.group()),
        text,
        flags=re.M,
    )
    text = re.sub(
        r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*',
        lambda match: spaces(match.group()),
        text,
        flags=re.S | re.M,
    )
    for match in re.finditer(r"\bstatic_assert\s*\(", text):
        end = closing(text, match.end() - 1)
        text = text[: match.start()] + spaces(text[match.start() : end]) + text[end:]
    return text


def closing(code: str, at: int) -> int:
    """Behind the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(code)):
        if code[i] in OPENING:
            depth += 1
        elif code[i] in CLOSING:
            depth -= 1
            if depth == 0:
                return i + 1
    raise ValueError("unbalanced brackets")


def opening(code: str, at: int) -> int:
    """Of the bracket that is closed at `at`, where it opens."""
    depth = 0
    for i in range(at, -1, -1):
        depth += (code[i] in CLOSING) - (code[i] in OPENING)
        if depth == 0:
            return i
    raise ValueError("unbalanced brackets")


def kernel_code(code: str) -> list[tuple[int, int, int]]:
    """The functions for the device, none within another: where each one's declaration begins, where its body begins
    and where it ends."""
    spans: list[tuple[int, int, int]] = []
    for match in re.finditer(r"__(?:global|device)__", code):
        if spans and match.start() < spans[-1][2]:
            continue
        at = match.end()
        while at < len(code) and code[at] not in "{;":
            at = closing(code, at) if code[at] in "([" else at + 1
        if at < len(code) and code[at] == "{":
            spans.append((match.start(), at, closing(code, at)))
    return spans


# A type, and names with the sizes of arrays, of which all but the last may have values.
DECLARATION = re.compile(
    r"(?!return\b)(?:[\w:]+(?:<[^;]*>)?(?:\([\w ]+\))?[ *&]+)+"
    r"(?:\w+(?:\[[^;]*?\])*(?: = [^;]*?)?, \*?)*[\w:]+(?:\[[^;]*\])*"
)


def brackets(code: str) -> Iterator[tuple[int, int, bool]]:
    """What stands between [ and ] behind a name: where it begins and ends, and whether it is the size of an array that
    is declared here."""
    for match in re.finditer(r"[\w\])]\[", code):
        end = closing(code, match.end() - 1) - 1
        statement = re.split(r"[;{}]", code[: match.start() + 1])[-1].strip()
        inside = code[match.end() : end].strip()
        if inside and not inside.startswith(("&", "=")):  # else it is a lambda's
            yield match.end(), end, bool(DECLARATION.fullmatch(statement))


def operand(code: str, at: int, step: int) -> int:
    """Where the operand of && or || or ? that lies before (step -1) or behind (1) `at` ends or begins."""
    i = at
    while 0 <= i < len(code):
        char = code[i]
        if step > 0 and char in OPENING:
            i = closing(code, i)
            continue
        if step < 0 and char in CLOSING:
            i = opening(code, i) - 1
            continue
        if char in "()[]{};,?:" and code[i - 1 : i + 1] != "::" and code[i : i + 2] != "::":
            break
        if char == "=" and code[i - 1] not in "=!<>" and code[i + 1] != "=":
            break
        if code[i : i + 2] in ("&&", "||") or (step < 0 and code[i - 1 : i + 1] in ("&&", "||")):
            break
        i += step
    return i
