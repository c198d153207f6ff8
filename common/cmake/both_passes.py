"""Programs ask by __CUDA_ARCH__ whether nvcc compiles for the device, and for which. nvcc reads a file twice, with and
without it; here one text serves both. So a file that has the word is preprocessed twice, and where the texts differ,

    in __global__ and __device__ functions         the device's stays;
    in functions that are __host__, too            both do: if (::simt::on_device()) {...} else {...};
    elsewhere                                      the host's, but for what defines something for the device alone.

Where only the device's text has what the executor has not, such as inline PTX, the host's stays in any case.
"""

from __future__ import annotations

import bisect
import difflib
import pathlib
from collections.abc import Iterator
from typing import NamedTuple

from preprocessed import NOT_THERE, parts
from textbook import Token, tokens

WORD = "__CUDA_ARCH__"
KEYWORDS = {"__global__", "__device__", "__host__"}
ABSENT = {*NOT_THERE, "asm", "__asm__", "__asm"}


class Function(NamedTuple):
    begin: int  # of its body
    end: int
    keywords: frozenset[str]

    @property
    def is_hosts_too(self) -> bool:
        return "__host__" in self.keywords and "__global__" not in self.keywords


class Piece(NamedTuple):
    """A line outside of functions, a function's body, or what the program's own files have between them."""

    says: str  # by which two are the same
    begin: int
    end: int
    function: Function | None = None


class Pass:
    """A preprocessed text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.parts = parts(text)
        self.begins = [part.begin for part in self.parts]
        self.functions = list(self.find_functions())
        self.by_place = {self.marker(each.begin): each for each in self.functions}
        self.pieces = list(self.cut())

    def find_functions(self) -> Iterator[Function]:
        """Those of the device, or of both; not what is within another one."""
        found = [
            token._replace(begin=token.begin + part.begin)
            for part in self.parts
            if part.of_user
            for token in tokens(self.text[part.begin : part.end])
        ]
        opened: list[tuple[int, frozenset[str]]] = []
        for i, token in enumerate(found):
            if token.text == "{" and token.kind == "sign":
                opened.append((token.begin, frozenset(words_before(found, i) & KEYWORDS)))
            elif token.text == "}" and token.kind == "sign" and opened:
                begin, keywords = opened.pop()
                if keywords and not any(outer for _, outer in opened):
                    yield Function(begin, token.end, keywords)

    def cut(self) -> Iterator[Piece]:
        at = 0
        for part in self.parts:
            if at < part.begin:
                yield Piece(self.text[at : part.begin], at, part.begin)
                at = part.begin
            for each in self.functions if part.of_user else ():
                if at <= each.begin < part.end:
                    yield from self.lines(at, each.begin)
                    yield Piece(self.marker(each.begin), each.begin, each.end, each)
                    at = each.end  # maybe beyond the part
            if at < part.end and part.of_user:
                yield from self.lines(at, part.end)
            elif at < part.end:
                yield Piece(self.text[at : part.end], at, part.end)
            at = max(at, part.end)

    def lines(self, begin: int, end: int) -> Iterator[Piece]:
        for line in self.text[begin:end].splitlines(keepends=True):
            yield Piece(line, begin, begin + len(line))
            begin += len(line)

    def words(self, begin: int, end: int) -> set[str]:
        return {token.text for token in tokens(self.text[begin:end])}

    def marker(self, at: int) -> str:
        """A line that says where the text that follows comes from: on a line of its own."""
        part = self.parts[max(0, bisect.bisect_right(self.begins, at) - 1)]
        return f'\n# {part.line + self.text.count(chr(10), part.begin, at)} "{part.file}"\n'


def words_before(found: list[Token], i: int) -> set[str]:
    """Those of the head of what the { at i begins."""
    words = set()
    while i > 0 and found[i - 1].text not in (";", "{", "}"):
        i -= 1
        words.add(found[i].text)
    return words


def asks(text: str) -> bool:
    """Whether a file of the program's own has the word."""
    files = {part.file for part in parts(text) if part.of_user}
    return any(WORD in pathlib.Path(file).read_text(errors="replace") for file in files if pathlib.Path(file).is_file())


def merged(host_text: str, device_text: str) -> str:
    host, device = Pass(host_text), Pass(device_text)
    edits = [*bodies(host, device), *definitions(host, device)]
    out: list[str] = []
    at = 0
    for begin, end, instead in sorted(edits):
        out += [host_text[at:begin], instead, host.marker(end)]
        at = end
    return "".join([*out, host_text[at:]])


def bodies(host: Pass, device: Pass) -> Iterator[tuple[int, int, str]]:
    """From, to, what stands there instead."""
    for each in host.functions:
        place = host.marker(each.begin)
        other = device.by_place.get(place)
        if other is None or host.by_place[place] != each:
            continue
        mine, theirs = host.text[each.begin : each.end], device.text[other.begin : other.end]
        if mine == theirs or (device.words(other.begin, other.end) - host.words(each.begin, each.end)) & ABSENT:
            continue
        if each.is_hosts_too:
            where = "if (!__builtin_is_constant_evaluated() && ::simt::on_device())"
            yield each.begin, each.end, f"{{ {where} {place}{theirs} else {place}{mine} }}"
        else:
            yield each.begin, each.end, place + theirs


def definitions(host: Pass, device: Pass) -> Iterator[tuple[int, int, str]]:
    said = [[piece.says for piece in each.pieces] for each in (host, device)]
    for what, a, b, c, d in difflib.SequenceMatcher(None, *said, autojunk=False).get_opcodes():
        if what == "equal":
            continue
        differing = [*host.pieces[a:b], *device.pieces[c:d]]
        (begin, end), (from_, to) = span(host.pieces, a, b), span(device.pieces, c, d)
        mine, theirs = host.words(begin, end), device.words(from_, to)
        of_both = any(piece.function and piece.function.is_hosts_too for piece in differing)
        of_device = any(piece.function for piece in differing) or (mine | theirs) & {"__device__", "__global__"}
        if of_device and not of_both and not (theirs - mine) & ABSENT:
            yield begin, end, device.marker(from_) + device.text[from_:to]


def span(pieces: list[Piece], first: int, last: int) -> tuple[int, int]:
    begin = pieces[first].begin if first < len(pieces) else pieces[-1].end
    return begin, pieces[last - 1].end if last > first else begin
