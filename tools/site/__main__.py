"""The documents as a site that needs no network.

usage: ./lab site [--out DIR] [--check]

--out     where to; without it build/site. A folder that is there is replaced if it is a site, else left alone
--check   also follows each link and anchor of the site, and looks for Markdown that was not rendered. Exit status 1 if
          something is wrong

Open index.html of the folder in a browser. ?theme=projector behind the address of any page: large letters.
The first run fetches MkDocs and its theme from PyPI into .lab/python.
"""

import argparse
import os
import pathlib
import shutil
import sys
import tempfile

from tools.command_line import fail, parser_of, run
from tools.repository import ROOT

MARK = "assets/site/colours.css"  # only a site of ours has it


def with_mkdocs() -> None:
    """Goes on in .lab/python if this Python has no MkDocs."""
    python = ROOT / ".lab" / "python" / "bin" / "python"
    try:
        import cmarkgfm  # noqa: F401
        import material  # noqa: F401
    except ImportError:
        if python.exists() and pathlib.Path(sys.prefix) != ROOT / ".lab" / "python":
            os.execv(python, [str(python), "-B", "-m", "tools.site", *sys.argv[1:]])
        fail("the site needs mkdocs-material and cmarkgfm: `./lab site` fetches them")


def replace(new: pathlib.Path, out: pathlib.Path) -> None:
    if out.exists():
        shutil.rmtree(out)
    new.replace(out)


def main() -> int:
    parser = parser_of("./lab site", __doc__)
    parser.add_argument("--out", type=pathlib.Path, metavar="DIR", default=ROOT / "build" / "site")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--only-options", action="store_true", help=argparse.SUPPRESS)  # before lab fetches anything
    options = parser.parse_args()
    out = options.out.absolute()
    if out.exists() and not (out / MARK).exists() and (not out.is_dir() or any(out.iterdir())):
        fail(f"{options.out} is no site of ours: name a new folder, or an empty one")
    if options.only_options:
        return 0
    with_mkdocs()
    from tools.site.build import build
    from tools.site.links import faults

    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        # Beside its place, so that it appears whole.
        folder = tempfile.mkdtemp(prefix=".site-", dir=out.parent)
    except OSError as error:
        fail(f"can't write {options.out}: {error.strerror}")
    try:
        new = pathlib.Path(folder, "site")
        new.mkdir()
        dead = build(new)
        found = [f"a link of a document leads nowhere: {link}" for link in dead]
        found += faults(new) if options.check else []
        replace(new, out)
    except OSError as error:
        fail(f"can't write {options.out}: {error.strerror}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for line in found:
        print(line)
    files = [path for path in out.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files) / 1e6
    pages = sum(path.suffix == ".html" for path in files)
    checked = f"; {len(found)} problems" if options.check else ""
    print(f"{out / 'index.html'}: {pages} pages, {size:.1f} MB{checked}")
    return 1 if found else 0


if __name__ == "__main__":
    run(main)
