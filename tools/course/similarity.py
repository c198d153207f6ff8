"""Which submissions are alike, and like what is public: stages/ and the others' folders hold solutions to much of it.

Winnowing (Schleimer, Wilkerson and Aiken, "Winnowing: local algorithms for document fingerprinting", SIGMOD 2003): of
every WINDOW hashes of GRAM tokens that follow one another the least is kept. Two texts that share GRAM + WINDOW - 1
tokens share a fingerprint. Names and numbers count as such, whatever they are: renaming hides nothing. What everybody
got, the skeleton and the contract, counts for nobody.
"""

from __future__ import annotations

import dataclasses
import hashlib
import html
import itertools
import pathlib

from tools.command_line import fail, write_whole
from tools.course import rules, variants
from tools.course.assignment import Assignment
from tools.repository import FAMILIES, ROOT

GRAM = 12  # tokens
WINDOW = 6
KEYWORDS = frozenset(
    "if else for while do return const constexpr int float double bool void auto unsigned template typename struct"
    " __global__ __device__ __shared__ __syncthreads threadIdx blockIdx blockDim gridDim float4 extern static".split()
)


def words(text: str) -> list[str]:
    """Tokens, as far as their text counts. Names are all one word, numbers another."""
    found = []
    for token in rules.TOKEN.finditer(rules.without_comments(rules.spliced(text))):
        kind, word = token.lastgroup, token[0]
        if kind == "name" and word not in KEYWORDS:
            word = "name"
        elif kind == "number":
            word = "number"
        found.append(word)
    return found


def hash_of(gram: tuple[str, ...]) -> int:
    return int.from_bytes(hashlib.blake2b(" ".join(gram).encode(), digest_size=8).digest())


def fingerprints(text: str) -> frozenset[int]:
    tokens = words(text)
    hashes = [hash_of(tuple(tokens[i : i + GRAM])) for i in range(len(tokens) - GRAM + 1)]
    if len(hashes) < WINDOW:
        return frozenset(hashes)
    return frozenset(min(hashes[i : i + WINDOW]) for i in range(len(hashes) - WINDOW + 1))


@dataclasses.dataclass(frozen=True)
class Pair:
    one: str
    other: str
    share: float  # of the smaller one's fingerprints
    common: int


def text_of(path: pathlib.Path) -> str:
    """All that was handed in; nothing where it can't be read."""
    files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
    return "\n".join(file.read_text(errors="replace") for file in files if not file.is_symlink())


def public_texts() -> dict[str, str]:
    """The stages, which anybody can read."""
    found = {}
    for family, folder in FAMILIES.items():
        for file in sorted((ROOT / folder).glob("[0-9][0-9]*_*.cu")):
            found[f"{family}/{file.stem} (public)"] = file.read_text()
    return found


def pairs(assignment: Assignment, submissions: dict[str, str]) -> list[Pair]:
    """The most alike first: of submissions with each other, and with what is public."""
    given = [
        path.read_text()
        for one in variants.all_of(assignment)  # each student got one of them
        for path in (*(one.folder / "skeleton").iterdir(), one.contract)
    ]
    common = frozenset().union(*map(fingerprints, given))
    prints = {who: fingerprints(text) - common for who, text in submissions.items()}
    public = {who: fingerprints(text) - common for who, text in public_texts().items()}
    found = []
    candidates = itertools.chain(
        itertools.combinations(prints.items(), 2), itertools.product(prints.items(), public.items())
    )
    for (one, of_one), (other, of_other) in candidates:
        shared = len(of_one & of_other)
        # Of the submission's, where the other is a whole stage with its launch.
        whole = len(of_one) if other in public else min(len(of_one), len(of_other))
        if shared:
            found.append(Pair(one, other, shared / whole, shared))
    return sorted(found, key=lambda pair: (-pair.share, -pair.common, pair.one, pair.other))


def table(found: list[Pair], most: int) -> str:
    if not found:
        return "no two share anything that was not given\n"
    width = max(len(pair.one) for pair in found[:most])
    lines = [f"{pair.share:4.0%} {pair.common:5}  {pair.one:<{width}}  {pair.other}" for pair in found[:most]]
    return "\n".join(["same  prints", *lines]) + "\n"


def page(assignment: Assignment, found: list[Pair], most: int) -> str:
    rows = "\n".join(
        f"<tr><td>{pair.share:.0%}</td><td>{pair.common}</td><td>{html.escape(pair.one)}</td>"
        f"<td>{html.escape(pair.other)}</td></tr>"
        for pair in found[:most]
    )
    head = "<tr><th>same</th><th>fingerprints</th><th>submission</th><th>other</th></tr>"
    title = html.escape(f"{assignment.id}: what is alike")
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>'
        f"<body><h1>{title}</h1><table><thead>{head}</thead><tbody>\n{rows}\n</tbody></table></body></html>\n"
    )


def similarity(assignment: Assignment, folder: pathlib.Path, most: int, out: str | None) -> int:
    if not folder.is_dir():
        fail(f"no folder of submissions: {folder}")
    submissions = {path.name: text_of(path) for path in sorted(folder.iterdir()) if not path.name.startswith(".")}
    found = pairs(assignment, submissions)
    if out:
        write_whole(out, page(assignment, found, most))
    print(table(found, most), end="")
    return 0
