"""The mistakes. Each operator finds its places in the body of a function: where they begin and end, and what comes
there instead."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator

from tools.mutate.source import brackets, closing, operand

Edit = tuple[int, int, str]
NAME = r"[A-Za-z_]\w*(?:(?:\.|->|::)\w+)*"


def loop_heads(code: str) -> list[tuple[int, int]]:
    """What stands in the brackets of `for`."""
    return [(match.end(), closing(code, match.end() - 1) - 1) for match in re.finditer(r"\bfor \(", code)]


# ---- comparisons, arithmetic


def comparison_changed(code: str) -> Iterator[Edit]:
    opposites = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
    for match in re.finditer(r" (<=|>=|<|>|==|!=) ", code):
        if not re.search(r"\bbeta $", code[: match.start() + 1]):  # beta_test_inverted
            yield match.start(1), match.end(1), opposites[match.group(1)]


def arithmetic_changed(code: str) -> Iterator[Edit]:
    opposites = {"+": "-", "-": "+", "*": "+", "/": "*", "%": "/"}
    for match in re.finditer(r"(?<=[\w\])]) ([-+*/%]) (?=[\w(])", code):
        yield match.start(1), match.end(1), opposites[match.group(1)]
    heads = loop_heads(code)
    for match in re.finditer(r" ([-+])= ", code):
        if not any(begin <= match.start() < end for begin, end in heads):  # a loop the wrong way has no end
            yield match.start(1), match.end(1), opposites[match.group(1)]


def accumulator_overwritten(code: str) -> Iterator[Edit]:
    for match in re.finditer(r"\b(?:sum|sums|acc|total|value|result|product)(?:\.\w+|\[[^\n;]*?\])* (\+)= ", code):
        yield match.start(1), match.end(1), ""
    for match in re.finditer(r"\bmultiply_add\(", code):
        end = closing(code, match.end() - 1) - 1
        last = operand(code, end - 1, -1) + 1
        if re.match(r"\s*\w*sum|\s*\w*total|\s*acc", code[last:end]):
            yield last, end, " {}"
    for match in re.finditer(r"\b(sum|total)((?:\[[^\n;=]*?\])?) = \1\2 \+ ", code):
        yield match.end(2) + 3, match.end(), ""


def term_dropped(code: str) -> Iterator[Edit]:
    for match in re.finditer(rf" \+ ({NAME}|\d+)(?: [*/%] (?:{NAME}|\d+))*(?=\s*(?:\]|\)|;|,| \+))", code):
        if match.group() != " + 1":
            yield match.start(), match.end(), ""


# ---- guards


def guard_dropped(code: str) -> Iterator[Edit]:
    """All is let pass: `if (row >= m) return;` does so where the condition is false. The other way round it would often
    be the choice of a faster path, without which all is right."""
    leaving = []
    for match in re.finditer(r"\bif \(", code):
        end = closing(code, match.end() - 1)
        leaves = re.match(r"\s*(?:return|continue|break);", code[end:])
        if leaves:
            leaving.append((match.end(), end))
        if not code[: match.start()].endswith("constexpr "):
            yield match.end(), end - 1, "false" if leaves else "true"
    for match in re.finditer(r" (?:&&|\|\|) ", code):
        if "&&" in match[0] or any(begin <= match.start() < end for begin, end in leaving):
            yield operand(code, match.start(), -1) + 1, match.end(), " "
            yield match.start(), operand(code, match.end(), 1), ""
    for match in re.finditer(r" \? ", code):
        begin = operand(code, match.start(), -1) + 1
        if begin and not re.search(r"\breturn\s", code[begin : match.start()]):
            yield begin, match.start(), " true"


def tail_dropped(code: str) -> Iterator[Edit]:
    """A loop over k takes whole steps only."""
    for begin, end in loop_heads(code):
        parts = re.fullmatch(rf"([^;]*); *({NAME}) < ([^;]*); *({NAME}) \+= ([^,;]*)", code[begin:end])
        if parts and parts[2] == parts[4] and re.search(r"\bk\b|_k\b|\bk_|left|last|\bend\b|depth", parts[3]):
            yield begin + parts.end(2), begin + parts.end(2), f" + ({parts[5]}) - 1"
    for match in re.finditer(r"(?:gemm::)?ceil_div\(([^(),]*), ([^(),]*)\)", code):
        yield match.start(), match.end(), f"(({match[1]}) / ({match[2]}))"
    for match in re.finditer(r"([\w.]+) \+ ([\w.]+) - 1\) / \2(?!\w)", code):
        yield match.start(), match.end(), f"{match[1]}) / {match[2]}"


# ---- barriers, waits


def barrier_deleted(code: str) -> Iterator[Edit]:
    for match in re.finditer(r"(?<!\w)(?:\w+(?:::|\.|->))*(?:__syncthreads|__syncwarp|bar_sync|sync)(?=\()", code):
        yield match.start(), closing(code, match.end()), "(void)0"


def wait_weakened(code: str) -> Iterator[Edit]:
    """Waits for copies in flight, and what they wait for: deleted, or one more group may be in flight."""
    name = r"(?:\w+(?:::|\.|->))*\w*(?:wait|commit|arrive|expect|fence_)\w*"
    for match in re.finditer(rf"(?<![\w.>:])({name})(?:<([^;<>]*)>)?\(", code):
        end = closing(code, match.end() - 1)
        if re.match(r"\s*;", code[end:]) and re.search(r"[;{})]\s*$|\belse\s*$", code[: match.start()]):
            yield match.start(), end, "(void)0"
        if match[2] is not None:
            yield match.start(2), match.end(2), f"({match[2]}) + 1"


# ---- strides, sides, constants

OPPOSITES = {
    "lda": ("ldb", "ldc"),
    "ldb": ("lda", "ldc"),
    "ldc": ("lda", "ldb"),
    "m": ("n", "k"),
    "n": ("m", "k"),
    "k": ("m", "n"),
    "row": ("col",),
    "col": ("row",),
    "tile_row": ("tile_col",),
    "tile_col": ("tile_row",),
    "tiles_m": ("tiles_n",),
    "tiles_n": ("tiles_m",),
    "TILE_M": ("TILE_N", "TILE_K"),
    "TILE_N": ("TILE_M", "TILE_K"),
    "TM": ("TN",),
    "TN": ("TM",),
    "threadIdx.x": ("threadIdx.y",),
    "threadIdx.y": ("threadIdx.x",),
    "M": ("N",),
    "N": ("M",),
    "row0": ("col0",),
    "col0": ("row0",),
    "first_row": ("first_col",),
    "first_col": ("first_row",),
    "tile_m": ("tile_n",),
    "tile_n": ("tile_m",),
    "ty": ("tx",),
    "tx": ("ty",),
}
STRIDES = ("lda", "ldb", "ldc")
DIMENSIONS = {"lda": "k", "ldb": "n", "ldc": "n"}  # what a row is long, without padding


def names_exchanged(code: str, declared: str, strides: bool) -> Iterator[Edit]:
    """One name in place of another one that is there, too; `strides`: only those of matrices, else the others."""
    names = [name for name in OPPOSITES if (name in STRIDES) == strides]
    any_name = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    for match in re.finditer(rf"(?<![\w.])({any_name})\b(?!\s*[({{]|\s*=[^=]|\.|,\s*\w+ =)", code):
        if re.search(r"\b(?:int|float|auto|unsigned|T|int64_t)[ *&]+$", code[: match.start()]):
            continue  # declared here
        others = OPPOSITES[match[1]] + ((DIMENSIONS[match[1]],) if strides else ())
        for other in others:
            if re.search(rf"(?<![\w.]){re.escape(other)}\b", declared + code):
                yield match.start(), match.end(), other


def stride_changed(code: str, declared: str = "") -> Iterator[Edit]:
    yield from names_exchanged(code, declared, strides=True)
    for match in re.finditer(r" ([*/%]) (2|4|8|16|32|64|128)\b(?!\.)", code):
        yield match.start(2), match.end(2), str(int(match[2]) * 2)
        if match[1] == "*":
            yield match.start(2), match.end(2), str(int(match[2]) + 1)
    for match in re.finditer(r" \* ((?:\w+::)*[A-Z][A-Z0-9_]+)\b(?!\(|::)", code):
        yield match.start(1), match.end(1), f"({match[1]} + 1)"
        yield match.start(1), match.end(1), f"({match[1]} - 1)"


def sides_exchanged(code: str, declared: str = "") -> Iterator[Edit]:
    yield from names_exchanged(code, declared, strides=False)


def off_by_one(code: str) -> Iterator[Edit]:
    for match in re.finditer(r" [+-] 1\b(?![.\w])", code):
        yield match.start(), match.end(), ""
    for match in re.finditer(rf" (?:<|<=|>|>=) ({NAME}|\d+)(?=\s*(?:;|\)|&&|\|\||\?))", code):
        for change in (" - 1", " + 1"):
            yield match.end(1), match.end(1), change
    for _, end, declares in brackets(code):
        if not declares:
            yield end, end, " + 1"


def constant_changed(code: str) -> Iterator[Edit]:
    """A whole number by one, but for the size of an array: a larger one would do."""
    sizes = [(begin, end) for begin, end, declares in brackets(code) if declares]
    for match in re.finditer(r"(?<![\w.])(?:0|[1-9]\d{0,3})(?![\w.])", code):
        if any(begin <= match.start() < end for begin, end in sizes):
            continue
        yield match.start(), match.end(), str(int(match[0]) + 1)
        if int(match[0]) > 0:
            yield match.start(), match.end(), str(int(match[0]) - 1)


# ---- alpha, beta


def uses(code: str, word: str) -> Iterator[re.Match[str]]:
    """Of a variable: not where it is declared."""
    for match in re.finditer(rf"(?<![\w.>])(?:\w+(?:\.|->))*{word}\b", code):
        before = code[: match.start()].rstrip()
        if not re.search(r"(?:\b(?:float|double|T|Number|auto|int|unsigned|int64_t)|[*&])$", before) or before.endswith(
            ("&&", " *")
        ):
            yield match


def scale_dropped(word: str, code: str) -> Iterator[Edit]:
    for match in uses(code, word):
        if not re.match(r"\s*(?:[=!]=|\))", code[match.end() :]) or code[: match.start()].rstrip().endswith(","):
            yield match.start(), match.end(), f"decltype({match.group()}){{1}}"


def beta_test_inverted(code: str) -> Iterator[Edit]:
    for match in re.finditer(r"\bbeta (==|!=) 0", code):
        yield match.start(1), match.end(1), {"==": "!=", "!=": "=="}[match[1]]
    for match in re.finditer(r"(?:gemm::)?is_zero\((?:\w+\.)?beta\)", code):
        yield match.start(), match.start(), "!"


# Those that ask what a function's declaration has get that, too.
WITH_DECLARATION = {"stride changed": stride_changed, "sides exchanged": sides_exchanged}
OPERATORS: dict[str, Callable[[str], Iterator[Edit]]] = {
    "comparison changed": comparison_changed,
    "arithmetic changed": arithmetic_changed,
    "accumulator overwritten": accumulator_overwritten,
    "term dropped": term_dropped,
    "guard dropped": guard_dropped,
    "tail dropped": tail_dropped,
    "barrier deleted": barrier_deleted,
    "wait weakened": wait_weakened,
    "off by one": off_by_one,
    "constant changed": constant_changed,
    "alpha dropped": functools.partial(scale_dropped, "alpha"),
    "beta dropped": functools.partial(scale_dropped, "beta"),
    "beta test inverted": beta_test_inverted,
}
NAMES = (*OPERATORS, *WITH_DECLARATION)


def edits(code: str, declared: str) -> Iterator[tuple[str, Edit]]:
    """All that the operators make of a body, each with its operator's name."""
    for name, operator in OPERATORS.items():
        for edit in operator(code):
            yield name, edit
    for name, operator in WITH_DECLARATION.items():
        for edit in operator(code, declared):
            yield name, edit
