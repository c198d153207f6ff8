"""Writes measurements as they are committed: as digests (tools/digest.py).

usage: ./lab measure digest [FROM [TO]] [--newer FILE]

FROM     a folder with the files of runs (default: docs/measurements)
TO       where their digests go (default: FROM itself). What FROM's sanitizers.json found is added to TO's.
--newer  only of files that were written after FILE

A digest of a digest is the same, so nothing happens to what is one already. docs/measurements/measure ends with this
program; its raw runs stay in build/measurements, where a release can take them from.
"""

import pathlib
from collections.abc import Iterator

from tools.command_line import fail, parser_of
from tools.measure.sanitizers import added, is_raw
from tools.repository import MEASUREMENTS, NOT_IN_HISTORY, REFERENCE, Json, read_json, read_json_if_there, write_digest

# Long searches of both tall & skinny products: a file for each product.
OF_PRODUCTS = ("tsm_tuning", "tsm_tuning_tensor")


def parts(name: str, run: Json) -> Iterator[tuple[str, Json]]:
    """What a file becomes: files' names without .json, and what is in them."""
    if name not in OF_PRODUCTS:
        yield name, run
        return
    for op in dict.fromkeys(size["op"] for size in run["sizes"]):
        yield f"{name}_{op}", run | {"sizes": [size for size in run["sizes"] if size["op"] == op]}


def write(path: pathlib.Path, target: pathlib.Path) -> None:
    """target: the folder of the digest."""
    run = read_json(path)
    target.mkdir(parents=True, exist_ok=True)
    if is_raw(run):
        run = added(read_json_if_there(target / path.name) if target != path.parent else None, run)
    names = []
    for name, part in parts(path.stem, run):
        names.append(name)
        write_digest(target / f"{name}.json", part)
    if path.stem not in names and target == path.parent:
        path.unlink()


def main(arguments: list[str] | None = None) -> None:
    parser = parser_of("./lab measure digest", __doc__)
    parser.add_argument("source", nargs="?", type=pathlib.Path, default=MEASUREMENTS)
    parser.add_argument("target", nargs="?", type=pathlib.Path)
    parser.add_argument("--newer", type=pathlib.Path)
    options = parser.parse_args(arguments)
    if not options.source.is_dir():
        fail(f"no folder {options.source}")
    target = options.target or options.source
    paths = [path for path in sorted(options.source.rglob("*.json")) if path not in (NOT_IN_HISTORY, REFERENCE)]
    if options.newer:
        paths = [path for path in paths if path.stat().st_mtime > options.newer.stat().st_mtime]
    for path in paths:
        write(path, target / path.relative_to(options.source).parent)
    print(f"wrote digests of {len(paths)} files to {target}")
