"""Assignments of what a function returns, in a program's preprocessed text. If g++ does not inline the function, and
returns a structure, it stores the result without the call that the executor needs to know of the store:

    *to = make(3);               becomes  *to = ::simt::stored %= make(3);

This hands on the value (common/simt/language/stored.hpp), and the store then is one of its own. An operator may be such
a function, too. Declarations stay as they are: what they initialise is the thread's own.
"""

from __future__ import annotations

from textbook import CONDITIONS, OPENS, Rewriter

HANDED_ON = " ::simt::stored %="
BEGINS = {";", "{", "}", ":", "else", "do"}  # stands before a statement, or a label does
NO_VALUES = {"{", "default", "delete", "throw", "co_await", "co_yield"}
NO_CALLS = {"sizeof", "alignof", "decltype", "typeid", "noexcept", "return", *CONDITIONS}
OPERATORS = set("+-*/%^|&<>")


def edits(of: Rewriter) -> list[tuple[int, int, str]]:
    """Where what is inserted, as Rewriter.edits."""
    ends = [token.end for i, token in enumerate(of.tokens) if token.text == "=" and assigns(of, i) and calls(of, i + 1)]
    return [(end, end, HANDED_ON) for end in ends]


def assigns(of: Rewriter, i: int) -> bool:
    """Whether the = at i assigns, as far as the tokens tell; not all are recognised."""
    begin, end = of.tokens[i].begin, of.tokens[i].end
    if of.text[begin - 1 : begin] in OPERATORS | {"=", "!"} or of.text[end : end + 1] == "=":
        return False
    before = of.sign(i - 1)
    if before in (")", "operator"):
        return before == ")"
    if before == "]":
        first = of.matching(i - 1)
        return first > 0 and of.sign(first - 1) not in ("auto", "&", "operator")
    if of.tokens[i - 1].kind != "name":
        return False
    at = i - 2
    if of.sign(at) in ("->", "."):
        return of.sign(at) == "->" or of.sign(at - 1) not in ("{", ",", "(")
    while of.sign(at) == "*":
        at -= 1
    if of.sign(at) == ")":
        first = of.matching(at)
        return first > 0 and of.sign(first - 1) in CONDITIONS
    return of.sign(at) in BEGINS and not (of.sign(at) == "{" and is_enumeration(of, at - 1))


def is_enumeration(of: Rewriter, i: int) -> bool:
    """Whether what ends at i, before a brace, is the head of one."""
    while i >= 0 and of.sign(i) not in (*BEGINS - {":"}, ")"):
        if of.sign(i) == "enum":
            return True
        i -= 1
    return False


def calls(of: Rewriter, i: int) -> bool:
    """Whether a function is called, or may be by an operator, in what begins at i."""
    if of.sign(i) in NO_VALUES:
        return False
    depth, first = 0, i
    while i < len(of.tokens) and (sign := of.sign(i)) != ";":
        before = of.tokens[i - 1]
        if sign in OPENS:
            follows = before.kind == "name" and before.text not in NO_CALLS or before.text in (")", "]", ">")
            if sign in "({" and i > first and follows:
                return True
            depth += 1
        elif sign in OPENS.values():
            depth -= 1
            if depth < 0:
                return False
        elif sign in OPERATORS and i > first and (before.kind in ("name", "number") or before.text in (")", "]")):
            return True
        i += 1
    return False
