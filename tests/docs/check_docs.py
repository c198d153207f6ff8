#!/usr/bin/env python3
"""Checks the documents: pages and their sections, links, figures, generated parts, and the commands they show.

usage: check_docs.py [--bin BIN] [--root DIR]

Without BIN what the texts alone show. With a CPU build's programs in BIN what these show: committed thread maps,
choices and counts are what the programs make now, and the ./lab commands run, except those marked "# needs a GPU" (at
the line's end, or on the line before). $GEMM_SHARE = P/N takes every N-th command and count, from the P-th on.
"""

import argparse
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.parse

from tools.repository import read_json

SECTIONS = ("Idea", "Prediction", "Measurement", "What bounds it", "Exercise")
RUNNABLE = ("list", "run", "compare", "ladder")
# [text](target "title"), [![alt](image)](target), [name]: target, <img src="target">
TARGET = re.compile(r'\]\(\s*<?([^)\s>]+)|^ {0,3}\[[^\]^]+\]:\s*<?([^\s>]+)|\b(?:href|src|srcset)\s*=\s*"([^"\s]+)')
NOT_HERE = re.compile(r"# needs a GPU|--cuda|--prebuilt")
# At a line's start, also within lists and quotes. There a comment is a block of its own for forges, which ends the
# paragraph above it.
COMMENT = re.compile(r"[\s>]*(?:(?:[-*+]|\d+[.)])\s+)*<!--(?! end generated -->)")
NOT_PARAGRAPH = re.compile(r"[\s>]*$|\s*(?:#{1,6} |\||<!--)")


def commits_in(record):
    """All commits that a measurement names."""
    found = set()
    for key, value in record.items() if isinstance(record, dict) else enumerate(record):
        if key in ("commit", "commits"):
            found.update([value] if isinstance(value, str) else value)
        elif isinstance(value, (dict, list)):
            found |= commits_in(value)
    return found


class Page:
    def __init__(self, path):
        self.path = path
        self.prose, self.shell = [], []  # (line number, text); in .shell a command's continuation lines are joined
        self.anchors, self.headings, self.targets = set(), set(), []
        self.lines = path.read_text().splitlines()
        fence = language = ""
        for number, line in enumerate(self.lines, 1):
            mark = re.match(r"\s*(?:[-*] |\d+\. )?\s*(`{3,}|~{3,})\s*(\w*)[^`]*$", line)
            if fence:
                if mark and mark[1].startswith(fence) and not mark[2]:
                    fence = ""
                elif language in ("sh", "bash", "console"):
                    self.add_command(number, line.strip(), language)
            elif mark:
                fence, language = mark[1], mark[2]
                self.shell.append((number, ""))  # a remark in one block says nothing about the next
            else:
                self.add_prose(number, line)

    def add_command(self, number, line, language):
        if self.shell and self.shell[-1][1].endswith("\\"):
            self.shell[-1] = (self.shell[-1][0], self.shell[-1][1][:-1] + line)
        elif line.startswith("$ "):
            self.shell.append((number, line[2:]))
        elif language != "console" or line.startswith("#"):  # the rest of a console is output
            self.shell.append((number, line))

    def add_prose(self, number, line):
        self.prose.append((number, line))
        if heading := re.match(r"(#{1,6}) +(.*?)[ #]*$", line):
            self.headings.add(line.rstrip())
            # GitHub's rule: the text in small letters, without punctuation, spaces as hyphens; the second of a name
            # gets -1.
            text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)|<[^>]*>", r"\1", heading[2])
            slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
            copies = (f"{slug}-{n}" if n else slug for n in range(len(self.lines) + 1))
            self.anchors.add(next(s for s in copies if s not in self.anchors))
        line = re.sub(r"(`+).*?\1", "", line)  # what is code links nowhere
        self.anchors.update(re.findall(r'<\w+[^>]*\b(?:id|name)="([^"]+)"', line))
        self.targets += [(number, next(filter(None, found))) for found in TARGET.findall(line)]

    def images(self):
        return [
            (n, t) for n, t in self.targets if t.split("#")[0].endswith((".png", ".svg")) and not re.match(r"\w+:", t)
        ]


class Check:
    def __init__(self, root, bin_dir):
        self.root, self.bin, self.problems = root, bin_dir, []
        self.ran = {}  # a command: what was wrong with it, or None; pages repeat commands
        self.count = dict.fromkeys(
            ("pages", "links", "images", "commits", "commands", "commands run", "maps", "choices", "counts"), 0
        )
        paths = {root / f / "README.md" for f in (".", "tsm", "tensorcore")}
        paths |= {root / "CONTRIBUTING.md", root / "CHANGELOG.md"}
        paths |= {path for f in ("docs", "tsm", "tensorcore") for path in (root / f).rglob("*.md")}
        for path in sorted(path for path in paths if not path.exists()):
            self.problem(path, 1, "is missing")
        self.pages = [Page(path) for path in sorted(paths) if path.exists()]
        self.by_path = {page.path: page for page in self.pages}
        self.count["pages"] = len(self.pages)
        self.stages = [s for f in ("stages", "tsm", "tensorcore") for s in sorted((root / f).glob("[0-9][0-9]*.cu"))]

    def problem(self, path, line, message):
        self.problems.append(f"{os.path.relpath(path, self.root)}:{line}: {message}")

    def run_module(self, module, *arguments):
        """One of tools/, of the tree that is checked."""
        return subprocess.run(
            [sys.executable, "-B", "-m", module, *arguments],
            text=True,
            cwd=self.root,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=os.environ | {"PYTHONPATH": str(self.root)},
        )

    def with_programs(self):
        part, _ = map(int, os.environ.get("GEMM_SHARE", "1/1").split("/"))
        if part == 1:  # they are quick, and once is enough
            self.check_thread_maps()
            self.check_choices()
        self.check_counts()
        self.check_commands()

    def of_texts(self):
        self.check_stage_pages()
        for page in self.pages:
            self.check_words(page)
            self.check_comments(page)
            self.check_links(page)
        self.check_figures()
        self.check_generated()
        self.check_commits()
        self.check_commands()

    def check_stage_pages(self):
        for stage in self.stages:
            path = self.root / "docs" / stage.parent.name / f"{stage.stem}.md"
            page = self.by_path.get(path)
            if not page:
                self.problem(stage, 1, f"has no page {path.relative_to(self.root)}")
                continue
            for section in SECTIONS:
                if f"## {section}" not in page.headings:
                    self.problem(path, 1, f"has no section '## {section}'")
            if not page.images():
                self.problem(path, 1, "has no figure")

    def check_words(self, page):
        for number, line in enumerate(page.lines, 1):
            for word in re.findall(r"\b(?:TODO|FIXME|TBD)\b", line):
                self.problem(page.path, number, f"unfinished: {word}")
            for path in re.findall(r"(?<![\w.~-])/(?:work|home|tmp)/", line):
                self.problem(page.path, number, f"a path of somebody's machine: {path}")

    def check_comments(self, page):
        """test_forge_rendering.py renders the pages; this needs nothing, and finds the usual fault."""
        before = {number + 1: line for number, line in page.prose}
        for number, line in page.prose:
            if not (mark := COMMENT.match(line)):
                continue
            if line[mark.end() :].startswith(" ="):
                self.problem(
                    page.path,
                    number,
                    "a line begins with a number's mark, which ends the paragraph: move a word before it",
                )
            elif not NOT_PARAGRAPH.match(before.get(number, "")):
                self.problem(
                    page.path, number, "a comment right below a paragraph, which it ends: put a blank line between them"
                )

    def check_links(self, page):
        for number, target in page.targets:
            if re.match(r"\w+:|//", target):
                continue  # another site: to ask it would make the test depend on the network
            self.count["links"] += 1
            name, _, anchor = urllib.parse.unquote(target).partition("#")
            path = pathlib.Path(os.path.normpath(page.path.parent / name)) if name else page.path
            if name.startswith("/") or self.root not in (path, *path.parents):
                self.problem(page.path, number, f"leads out of the repository: {target}")
            elif not path.exists():
                self.problem(page.path, number, f"no such file: {target}")
            elif anchor and path.suffix == ".md":
                if anchor not in (self.by_path.get(path) or Page(path)).anchors:
                    self.problem(page.path, number, f"no such heading: {target}")
            elif anchor:
                lines = re.fullmatch(r"L(\d+)(?:-L(\d+))?", anchor)
                if not lines or int(lines[lines.lastindex]) > len(path.read_text().splitlines()):
                    self.problem(page.path, number, f"no such line: {target}")

    def check_figures(self):
        folder = self.root / "docs" / "figures"
        path = folder / "manifest.json"
        manifest = json.loads(path.read_text()) if path.exists() else {}
        if not manifest:
            self.problem(path, 1, "lists no figures")
        shown = set()
        for page in self.pages:
            for number, target in page.images():
                self.count["images"] += 1
                name = os.path.relpath(page.path.parent / urllib.parse.unquote(target.split("#")[0]), folder)
                shown.add(name)
                if name not in manifest:
                    self.problem(page.path, number, f"not in docs/figures/manifest.json: {target}")
        for name, entry in manifest.items():
            if not (folder / name).exists():
                self.problem(path, 1, f"{name} does not exist")
            if name not in shown:
                self.problem(path, 1, f"{name} is on no page")
            if not entry.get("sources"):
                self.problem(path, 1, f"{name} has no sources")
            for source, digest in entry.get("sources", {}).items():
                file = self.root / source
                if not file.exists() or hashlib.sha256(file.read_bytes()).hexdigest() != digest:
                    self.problem(path, 1, f"{name} is older than its source {source}")
        for file in folder.glob("*.[ps][nv]g"):
            if file.name not in manifest:
                self.problem(file, 1, "not in docs/figures/manifest.json")

    def check_generated(self):
        done = self.run_module("tools.pages", "--check")
        if done.returncode:
            self.problem(
                self.root / "tools/pages/generate.py",
                1,
                "--check fails: " + " | ".join(done.stdout.strip().splitlines()[-3:]),
            )

    def check_commits(self):
        """Measurements name commits that the history has, but for those in not_in_history.json, of which the pages say
        so."""
        known = self.root / "docs" / "measurements" / "not_in_history.json"
        exceptions = json.loads(known.read_text())
        named = {}
        for path in sorted((self.root / "docs" / "measurements").rglob("*.json")):
            for commit in commits_in(read_json(path)):
                named.setdefault(commit, path)
        for commit, entry in exceptions.items():
            record = self.root / entry["record"]
            if not record.exists() or commit not in commits_in(read_json(record)):
                self.problem(known, 1, f"{entry['record']} doesn't name {commit} any more: delete the entry")
        git = ["git", "-C", self.root]
        try:
            asked = subprocess.run(
                [*git, "rev-parse", "--show-toplevel", "--is-shallow-repository"],
                text=True,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            ).stdout.split("\n")
        except OSError:
            asked = [""]
        if asked[1:2] != ["false"] or pathlib.Path(asked[0]).resolve() != self.root:
            del self.count["commits"]
            print("SKIPPED, NOT RUN: whether measurements' commits exist: needs a git clone with the whole history")
            return
        # Of the history, not of the objects: a commit that a rebase left behind is still here, but in no clone.
        history = subprocess.run(
            [*git, "rev-list", "HEAD"], text=True, stdout=subprocess.PIPE, check=True
        ).stdout.split()
        lengths = {len(commit.removesuffix("-dirty")) for commit in named}
        known_commits = {commit[:length] for commit in history for length in lengths}
        for commit, path in named.items():
            self.count["commits"] += 1
            found = commit.removesuffix("-dirty") in known_commits
            if found == (commit in exceptions):
                self.problem(
                    path,
                    1,
                    f"commit {commit} is " + ("in" if found else "not in") + " this repository's history: "
                    f"measure anew at a commit that it has, or see {known.relative_to(self.root)}",
                )

    def check_thread_maps(self):
        """The figures of the threads' maps are drawn from a file, which must be what the stages do now."""
        path = self.root / "docs" / "measurements" / "cpu" / "thread_maps.json"
        done = subprocess.run([self.bin / "gemm", "map", "--json", "-"], text=True, capture_output=True)
        now = json.loads(done.stdout) if done.returncode == 0 else {}
        committed = read_json(path) if path.exists() else {"no file": None}
        for stage in sorted(now.keys() | committed.keys()):
            self.count["maps"] += 1
            if now.get(stage) != committed.get(stage):
                self.problem(
                    path, 1, f"{stage}: not what the stage does now; ./lab map --cpu --json FILE writes it anew"
                )

    def check_choices(self):
        """The same for the stages that tsm/14 and 15 choose: of the squares, which take a second and not twenty."""
        path = self.root / "docs" / "measurements" / "cpu" / "choice.json"
        maps = read_json(path) if path.exists() else {}
        done = subprocess.run([self.bin / "gemm", "choice", "1-64"], text=True, capture_output=True)
        stage = ""
        for line in done.stdout.splitlines():
            if heading := re.match(r"(\S+): ", line):
                stage = heading[1]
                continue
            kind, m, _, n, now = line.split()[:5]
            self.count["choices"] += 1
            of_type = maps.get(f"{stage}/{'z' if kind == 'complex' else 'd'}", {"stages": [], "map": []})
            letter = "".join(of_type["map"][int(m) - 1 : int(m)])[int(n) - 1 : int(n)]
            if not letter or of_type["stages"][ord(letter) - ord("A")] != now:
                self.problem(
                    path,
                    1,
                    f"{stage}, {kind}, {m} x {n}: not what is chosen now; ./lab choice --cpu --json writes it anew",
                )
                return

    def check_counts(self):
        """The same for the counts; in CI of a share of the kernels (.ci/run)."""
        path = self.root / "docs" / "measurements" / "cpu" / "counts.json"
        share = os.environ.get("GEMM_SHARE", "1/1")
        with tempfile.TemporaryDirectory() as folder:
            anew = pathlib.Path(folder, "counts.json")
            done = self.run_module("tools.measure", "counts", "--executor", anew, "--count", self.bin, "--share", share)
            if done.returncode:
                self.problem(self.root / "tools/measure/counts.py", 1, "--count fails: " + done.stdout.strip()[-200:])
                return
            now = read_json(anew)["kernels"]
        for kernel, committed in (read_json(path)["kernels"] if path.exists() else {"no file": None}).items():
            if share != "1/1" and kernel not in now:
                continue
            self.count["counts"] += 1
            if now.get(kernel) != committed:
                self.problem(
                    path, 1, f"{kernel}: not what the executor counts now; ./lab measure counts --count writes it anew"
                )

    def check_commands(self):
        lab = subprocess.run(
            [self.root / "lab", "help", "all"], text=True, stdout=subprocess.PIPE, cwd=self.root
        ).stdout
        known = {"help", "--help"} | set(re.findall(r"^  ([a-z]+)\b", lab, re.M))
        programs = {"gemm", "bench"} | {test.stem for test in (self.root / "tests").rglob("test_*.cpp")}
        programs |= {("sgemm" if s.parent.name == "stages" else s.parent.name) + "_" + s.stem for s in self.stages}
        with tempfile.TemporaryDirectory() as folder:
            # Run where all names of the repository's root are found, but where nothing that a command writes falls into
            # it.
            for entry in self.root.iterdir():
                pathlib.Path(folder, entry.name).symlink_to(entry)
            for page in self.pages:
                for (_, before), (number, line) in zip([(0, ""), *page.shell], page.shell):
                    on_cpu = not NOT_HERE.search(line + (before if before.startswith("#") else ""))
                    for command in re.split(r"&&|\|\||;", re.sub(r"(^| )#.*", "", line)):
                        message = self.check_command(command.strip(), known, programs, on_cpu and folder)
                        if message:
                            self.problem(page.path, number, f"{message}: {command.strip()}")

    def check_command(self, command, known, programs, folder):
        """Returns what is wrong, or None. folder: where to run it, if it is to be run."""
        words = re.sub(r"^(\w+=\S* +)*(sudo +|python3 +)?(\./)?", "", command).split() or [""]
        top = words[0].split("/")[0]
        if top not in ("lab", "build", "docs", "tests") or (top != "lab" and "/" not in words[0]):
            return None
        self.count["commands"] += 1
        if top == "build":
            return None if os.path.basename(words[0]) in programs else "no such program"
        if top != "lab":
            return None if (self.root / words[0]).is_file() else "no such file"
        if len(words) < 2 or words[1] not in known:
            return "no such command of lab"
        if not (self.bin and folder and words[1] in RUNNABLE):
            return None
        if command not in self.ran:
            part, parts = map(int, os.environ.get("GEMM_SHARE", "1/1").split("/"))  # of the commands (.ci/run)
            self.ran[command] = self.run_command(command, folder) if len(self.ran) % parts == part - 1 else None
        return self.ran[command]

    def run_command(self, command, folder):
        self.count["commands run"] += 1
        shell = re.sub(r"\./lab +(\w+)", rf"./lab \1 --prebuilt '{self.bin}'", command)
        # timeout(1), unlike Python's, also ends what the shell has started.
        done = subprocess.run(
            ["timeout", "120", "bash", "-o", "pipefail", "-c", shell],
            cwd=folder,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        if done.returncode == 124:
            return "takes more than 120 s"
        if done.returncode in (0, 128 + 13):  # SIGPIPE: `... | head` has seen enough
            return None
        return f"exit status {done.returncode} ({done.stdout.strip()[-200:]})"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    options = parser.parse_args()
    check = Check(options.root.resolve(), options.bin and options.bin.resolve())
    if options.bin:
        check.with_programs()
        must = ["commands", "commands run", "counts"]
        must += ["maps", "choices"] if os.environ.get("GEMM_SHARE", "1/1").startswith("1/") else []
    else:
        check.of_texts()
        must = [what for what in check.count if what not in ("commands run", "maps", "choices", "counts")]
    print(
        "\n".join(
            check.problems
            + [", ".join(f"{check.count[what]} {what}" for what in must) + f"; {len(check.problems)} problems"]
        )
    )
    empty = [what for what in must if not check.count[what]]
    if empty:
        print("error: a check that checks nothing is a failure: no " + ", no ".join(empty))
    return 1 if check.problems or empty else 0


if __name__ == "__main__":
    sys.exit(main())
