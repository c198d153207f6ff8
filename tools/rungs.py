"""The rungs as a tree: which stage each one changes, and how many lines of code the change is."""

import collections
import dataclasses
import difflib
import functools
import pathlib
import re
import subprocess
import tempfile
from collections.abc import Iterable, Sequence

from tools.command_line import fail
from tools.repository import FAMILIES, ROOT, relative, stage_file, stages

# What every stage includes and no stage is about: not part of a change.
FROZEN = re.compile(r"common/(stage\.cuh|kernel/|problem/|toolchain/)")
# But in the change of the stage that teaches it.
TAUGHT = {"sgemm/17b_stream_k": [ROOT / "common/kernel/schedule.cuh"]}
FORMALITIES = re.compile(r"#(pragmaonce|include)|}?namespace|usingnamespace")  # of a header, no part of a change
LABELS = ("Idea", "Base", "Change", "Limit", "Number", "Map", "Page", "Source")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)


@dataclasses.dataclass(frozen=True)
class Source:
    """A file's lines behind its head, and of each what counts in a comparison: no comment, no white space."""

    file: pathlib.Path
    lines: tuple[str, ...]
    first: int = 1  # the number of lines[0] in the file

    @functools.cached_property
    def keys(self) -> list[str]:
        return [key_of(line) for line in self.lines]

    @functools.cached_property
    def code(self) -> list[str]:
        return [key for key in self.keys if key]


def key_of(line: str) -> str:
    return re.sub(r"\s", "", COMMENT.sub("", line))


def head_of(text: str) -> dict[str, str]:
    """The labels of a stage's first comment, in their order, each with its text."""
    head: dict[str, str] = {}
    label = ""
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        if found := re.match(r"// ([A-Z][a-z]+) {2,}(.*)", line):
            label = found[1]
            head[label] = found[2]
        elif label:
            head[label] += " " + line.removeprefix("//").strip()
    return head


def source_of(file: pathlib.Path, text: str | None = None) -> Source:
    """What is behind a file's head; `text`: what it has in it."""
    lines = (file.read_text() if text is None else text).splitlines()
    first = next((i for i, line in enumerate(lines) if not line.startswith("//")), 0)
    return Source(file, tuple(lines[first:]), first + 1)


def included(file: pathlib.Path, found: dict[pathlib.Path, None] | None = None) -> list[pathlib.Path]:
    """The headers of ours that a file includes, directly or not, without FROZEN ones."""
    found = {} if found is None else found
    for name in re.findall(r'^\s*#\s*include "([^"]+)"', file.read_text(), re.M):
        header = next((path for path in (ROOT / name, file.parent / name) if path.exists()), None)
        if header is None or header in found or FROZEN.match(relative(header)):
            continue
        found[header] = None
        included(header, found)
        found[header] = found.pop(header)  # behind those that it includes, as the compiler reads them
    return list(found)


def base_of(stage: str) -> str | None:
    """family/NN_name of the stage that this one changes; None for a root and for a probe."""
    base = head_of(stage_file(stage).read_text()).get("Base")
    return f"{stage.split('/')[0]}/{base}" if base else None


def is_first_of_a_kind(stage: str) -> bool:
    """Nearly all of it is new, with headers of its own: it is read as a whole, not as a change. Its head says so."""
    return "First of a kind" in head_of(stage_file(stage).read_text()).get("Change", "")


def number_of(stage: str) -> str:
    """NN of family/NN_name."""
    return stage.split("/")[1].split("_")[0]


def find(name: str) -> str:
    """family/NN_name of NN, NN_name, family/NN or family/NN_name; of NN alone sgemm's."""
    wanted = name if "/" in name else f"sgemm/{name}"
    found = [stage for stage in stages() if wanted in (stage, stage.split("_")[0])]
    if not found:
        fail(f"no stage '{name}'; `list` shows them all (families: {', '.join(FAMILIES)})")
    return found[0]


@dataclasses.dataclass(frozen=True)
class Change:
    """Between two rungs: their own files, and the headers that only one of them includes."""

    old: Source
    new: Source
    old_headers: tuple[Source, ...]
    new_headers: tuple[Source, ...]

    @functools.cached_property
    def lines(self) -> int:
        """Lines of code that differ, white space and comments ignored; one in another's place counts once. What has
        moved to a helper of common/kernel/ that only the new rung includes is no change, nor what has moved between a
        rung's own file and a header."""
        helpers = [helpers_of(source) for source in (self.old, self.new)]
        moved = [line for helper in helpers[1] - helpers[0] for line in source_of(helper).code]
        headers = [
            [line for source in sources for line in source.code if not FORMALITIES.match(line)]
            for sources in (self.old_headers, self.new_headers)
        ]
        return changed(self.old.code, self.new.code, moved, headers)


def matcher_of(old: list[str], new: list[str]) -> difflib.SequenceMatcher[str]:
    """With the smallest number of changed lines, which git finds and difflib alone does not."""
    with tempfile.TemporaryDirectory() as folder:
        files = [pathlib.Path(folder, name) for name in ("old", "new")]
        for file, lines in zip(files, (old, new)):
            file.write_text("".join(f"{line}\n" for line in lines))
        command = ["git", "diff", "--no-index", "--no-color", "--no-ext-diff", "--minimal", "-U0", *files]
        hunks = subprocess.run(command, capture_output=True, text=True).stdout
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    matcher.opcodes = []
    at = to = 0
    for found in re.finditer(r"(?m)^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", hunks):
        a, removed, c, added = (int(number or 1) for number in found.groups())
        a, c = a - (removed > 0), c - (added > 0)  # of nothing, git names the line before
        if at < a:
            matcher.opcodes.append(("equal", at, a, to, c))
        kind = "replace" if removed and added else "delete" if removed else "insert"
        at, to = a + removed, c + added
        matcher.opcodes.append((kind, a, at, c, to))
    if at < len(old):
        matcher.opcodes.append(("equal", at, len(old), to, len(new)))
    return matcher


def helpers_of(source: Source) -> set[pathlib.Path]:
    """Headers of common/kernel/ that a file includes itself."""
    return {ROOT / name for line in source.lines for name in re.findall(r'^#include "(common/kernel/[^"]+)"', line)}


def changed(
    old: list[str], new: list[str], moved: Iterable[str] = (), headers: Sequence[Sequence[str]] = ((), ())
) -> int:
    """Lines, one in another's place once; without the old ones that have `moved` elsewhere, and those that have moved
    from or to the headers, which are of both sides."""
    own, of_headers = places(old, new), places(*headers)
    both = (gone(own) & added(of_headers)) + (gone(of_headers) & added(own))
    left = both + collections.Counter(moved), both
    return sum(max(number_without(a, left[0]), number_without(b, left[1])) for a, b in own + of_headers)


Place = tuple[Sequence[str], Sequence[str]]  # where texts differ: the old lines, the new ones


def places(old: Sequence[str], new: Sequence[str]) -> list[Place]:
    codes = matcher_of(list(old), list(new)).get_opcodes()
    return [(old[a:b], new[c:d]) for kind, a, b, c, d in codes if kind != "equal"]


def gone(where: Iterable[Place]) -> collections.Counter[str]:
    return collections.Counter(line for old, _ in where for line in old)


def added(where: Iterable[Place]) -> collections.Counter[str]:
    return collections.Counter(line for _, new in where for line in new)


def number_without(lines: Iterable[str], left: collections.Counter[str]) -> int:
    """How many lines there are, but for those that are left out; each of these once."""
    number = 0
    for line in lines:
        if left[line] > 0:
            left[line] -= 1
        else:
            number += 1
    return number


def change(old: str, new: str) -> Change:
    files = [stage_file(stage) for stage in (old, new)]
    headers = [included(file) for file in files]
    headers[1] += TAUGHT.get(new, [])
    only = [tuple(source_of(h) for h in headers[i] if h not in headers[1 - i]) for i in (0, 1)]
    return Change(source_of(files[0]), source_of(files[1]), *only)
