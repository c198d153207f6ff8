#!/usr/bin/env python3
"""docs/sources_audit.json: what each source document has, where it is here, the command that shows it, and the test or
measurement behind it. Fails when one of these has gone.

usage: test_sources_audit.py BIN         BIN: folder with gemm
       test_sources_audit.py BIN --run   also runs every command that needs no GPU (minutes)
"""

import collections
import json
import pathlib
import re
import shlex
import subprocess
import sys
import unittest

from tools.experiments.__main__ import every_experiment
from tools.experiments.tsm import PROBES
from tools.pages.blocks.audit import AUDIT
from tools.repository import ROOT, newest, read_json

RUN = "--run" in sys.argv
BIN = pathlib.Path(next(a for a in sys.argv[1:] if not a.startswith("-")))
ITEMS = {"ernst": 58, "case-study": 23, "article": 12, "pa2": 30, "ootomo": 41}  # as the five documents were read
WITH_STAGES = ("run", "compare", "map", "check", "show", "compile", "candidates")
TIMEOUT = 120  # seconds


def slugs(page: pathlib.Path) -> set[str]:
    """The anchors of a page's headings, as forges make them."""
    found = set()
    for title in re.findall(r"^#+ (.*)$", page.read_text(), re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)|[`*]", r"\1", title).lower()
        found.add(re.sub(r"[^\w\- ]", "", plain).replace(" ", "-"))
    return found


def gemm(*arguments: str) -> str:
    return subprocess.run([BIN / "gemm", *arguments], capture_output=True, text=True, check=True).stdout


class Audit(unittest.TestCase):
    items = read_json(AUDIT)["items"]

    def each(self, look):
        for item in self.items:
            with self.subTest(document=item["document"], item=item["item"]):
                look(item)

    def test_every_item_once(self):
        found = collections.defaultdict(list)
        for item in self.items:
            found[item["document"]].append(item["item"])
        self.assertEqual(dict(found), {name: list(range(1, count + 1)) for name, count in ITEMS.items()})

    def test_what_is_not_here_says_why(self):
        def look(item):
            self.assertIn(item["holds"], ("works", "partial", "missing"))
            self.assertEqual("gap" in item, item["holds"] != "works")
            self.assertTrue(item["command"] or item.get("how"))

        self.each(look)

    def test_places(self):
        def look(item):
            file, _, anchor = item["where"].partition("#")
            self.assertTrue((ROOT / file).is_file(), file)
            if anchor:
                self.assertIn(anchor, slugs(ROOT / file))

        self.each(look)

    def test_measurements_are_those_that_pages_show(self):
        """Of a record measured anew on another GPU the newer one; and its commit stands on a page."""
        pages = "".join(page.read_text() for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])

        def look(item):
            path = ROOT / item["evidence"].partition("::")[0]
            if path.suffix != ".json":
                return
            self.assertEqual(newest(path), path)
            commits = set(re.findall(r'"commit": "([0-9a-f]{12})"', json.dumps(read_json(path))))
            self.assertTrue(not commits or any(commit in pages for commit in commits), commits)

        self.each(look)

    def test_evidence(self):
        def look(item):
            file, _, name = item["evidence"].partition("::")
            self.assertTrue((ROOT / file).is_file(), file)
            for word in name.split("."):
                self.assertIn(word, (ROOT / file).read_text())
            # A measurement is behind what needs a GPU; a test behind it is enough for what is computed.
            self.assertTrue(file.endswith((".json", ".py", ".cpp", ".cu")), file)

        self.each(look)

    def test_commands(self):
        stages, of = set(), ""
        for line in gemm("list", "--variants").splitlines():
            if line.startswith(" ") and ":" in line:
                stages.add(f"{of}:{line.split()[0].split(':', 1)[1]}")
            elif "/" in line:
                of = line.split()[0]
                stages.add(of)
        short = {re.sub(r"^(\w+/)?(\d+[a-z]?)_[^:]*", r"\1\2", stage) for stage in stages}
        short |= {stage.removeprefix("sgemm/") for stage in short}

        def look(item):
            words = shlex.split(item["command"])
            if not words or words[0] != "./lab":
                program = words[1] if words[:1] == ["python3"] else f"{words[0]}" if words else ""
                source = ROOT / program
                sources = [*(ROOT / "tests").rglob("*.cpp"), *(ROOT / "examples").glob("*.cpp")]
                built = program.startswith("build/cpu/bin/") and pathlib.Path(program).name in {s.stem for s in sources}
                self.assertTrue(not words or built or source.is_file(), program)
                return
            command, rest = words[1], words[2:]
            if command == "experiment":
                self.assertIn(rest[0], every_experiment())
            elif command == "probe" and "/" not in rest[0]:
                self.assertIn(rest[0], {*PROBES.values(), "coissue", "rounding", "tensor_rate"})
            elif command in WITH_STAGES:
                for word in rest:
                    if re.match(r"^((tsm|tensorcore)/)?\d\d[a-z]?(:|$)", word):
                        self.assertTrue(word in short or word in stages, word)
                        break
                else:
                    self.fail(f"no stage in '{item['command']}'")

        self.each(look)

    @unittest.skipUnless(RUN, "--run runs the commands that need no GPU")
    def test_commands_run(self):
        commands = dict.fromkeys(i["command"] for i in self.items if i["command"] and not i["gpu"])
        for command in commands:
            if "PTXAS" in command:  # needs CUDA 12's tools
                continue
            with self.subTest(command=command):
                done = subprocess.run(
                    command, shell=True, cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT, check=False
                )
                self.assertEqual(done.returncode, 0, done.stdout[-300:] + done.stderr[-300:])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
