"""Small expressions: a number as somebody types it, and how an answer is taken from a command's JSON."""

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

LONGEST = 80  # characters of what is typed: no parser runs out of memory
THOUSANDS = re.compile(r"(?<![\d.])\d{1,3}(?:[,' \u00a0\u202f]\d{3})+(?!\d)")
OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "len": len,
    "max": max,
    "min": min,
    # Of a fragment's map: each lane's elements in a text, such as "0 1 128 129".
    "number": lambda text, place: float(text.split()[int(place)]),
    "place": lambda text, element: text.split().index(f"{element:g}"),
    "holder": lambda lanes, element: [f"{element:g}" in lane.split() for lane in lanes].index(True),
}


class NotUnderstood(Exception):
    """Why a text is no expression."""


def value_of(node: ast.AST, names: Mapping[str, Any]) -> Any:
    """Numbers are floats, so that no power grows without end."""
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return float(number)
        case ast.Constant(value=str() as text) if names:
            return text
        case ast.UnaryOp(op=op, operand=operand) if type(op) in OPERATORS:
            return OPERATORS[type(op)](value_of(operand, names))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            return OPERATORS[type(op)](value_of(left, names), value_of(right, names))
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.Attribute(value=of, attr=key):
            return value_of(of, names)[key]
        case ast.Subscript(value=of, slice=index):
            found = value_of(index, names)
            return value_of(of, names)[found if isinstance(found, str) else int(found)]
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if names and name in FUNCTIONS:
            return FUNCTIONS[name](*(value_of(argument, names) for argument in arguments))
        case ast.ListComp(elt=element, generators=[ast.comprehension(target=ast.Name(id=name)) as loop]) if names:
            inner = [{**names, name: item} for item in value_of(loop.iter, names)]
            return [value_of(element, each) for each in inner if all(holds(test, each) for test in loop.ifs)]
    raise NotUnderstood("it is no number")


def holds(test: ast.AST, names: Mapping[str, Any]) -> bool:
    match test:
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
            return value_of(left, names) == value_of(right, names)
        case ast.Compare(left=left, ops=[ast.In()], comparators=[right]):
            return value_of(left, names) in value_of(right, names)
    raise NotUnderstood("only == and in are known")


def evaluate(text: str, names: Mapping[str, Any]) -> Any:
    """Of an exercise's entry: names are fields of the JSON, so counts.global_load.sectors / counts.blocks."""
    try:
        return value_of(ast.parse(text, mode="eval").body, names)
    except (SyntaxError, ArithmeticError, ValueError, TypeError, LookupError, AttributeError) as error:
        raise NotUnderstood(f"{text}: {error!r}") from error


def typed_number(text: str, unit: str) -> float:
    """3/4, 2^20, 12.5 %, 1,048,576, 8 x 32; the unit may follow. A per cent is a hundredth, unless the unit is %."""
    plain = " ".join(text.split())
    if not plain or len(plain) > LONGEST:
        raise NotUnderstood("it is no number")
    times = 1
    if unit and plain.lower().endswith(unit.lower()):
        plain = plain[: -len(unit)].strip()
    elif unit == "bytes" and (match := re.fullmatch(r"(.*\d) ?Ki?B", plain)):
        plain, times = match[1], 1024
    share = plain.endswith("%")
    plain = THOUSANDS.sub(lambda match: re.sub(r"\D", "", match[0]), plain.rstrip("% "))
    if re.search(r"\d,\d", plain):
        raise NotUnderstood("a comma separates thousands; a fraction is written with a point, such as 0.5")
    for shown, meant in (("^", "**"), ("·", "*"), ("×", "*"), ("−", "-")):
        plain = plain.replace(shown, meant)
    plain = re.sub(r"(?<=[\d)]) ?x ?(?=[\d(])", "*", plain)
    try:
        found = value_of(ast.parse(plain, mode="eval").body, {})
    except (SyntaxError, ArithmeticError, ValueError, TypeError, RecursionError, MemoryError) as error:
        raise NotUnderstood("it is no number") from error
    if not isinstance(found, float) or not math.isfinite(found):
        raise NotUnderstood("it is no number")
    return found * times / 100 if share else found * times
