#!/usr/bin/env python3
"""Checks docs/notebooks/: how the notebooks are written; with BIN, that they run, cell by cell, without a GPU.

usage: test_notebook.py [BIN]

BIN   the programs of a CPU build: the notebook takes them where it can, and builds only the stage that it writes

A notebook's code cells run in their order, in one Python that knows what a notebook adds to Python: `!command` and the
cell `%%bash`. The repository that they clone is made of the working tree. An `nvidia-smi` that fails stands first in
PATH, so the notebook has to find out that there is no GPU.
"""

import contextlib
import io
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from test_lessons import HOUSE_WORDS, MEDIAN, NINTH, ROOT, parts, sentences, words

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
BIN = None
NOT_OF_THE_REPOSITORY = (".git", ".lab", "build", "__pycache__", ".ruff_cache")
SHELL = re.compile(r"^(\s*)!(.+)$", re.M)


def cells(notebook, kind):
    return [
        ("".join(cell["source"])).rstrip()
        for cell in json.loads(notebook.read_text())["cells"]
        if cell["cell_type"] == kind
    ]


def python_of(cell):
    """A cell as plain Python."""
    if cell.startswith("%%bash\n"):
        return f"shell({cell.split(chr(10), 1)[1]!r})"
    return SHELL.sub(lambda match: f"{match[1]}shell({match[2]!r})", cell)


class Session:
    """What runs the cells of a notebook: each sees the names of those before."""

    def __init__(self):
        self.names = {"__name__": "__main__", "shell": self.shell}

    @staticmethod
    def shell(text):
        """As `%%bash`: what fails stops the notebook."""
        done = subprocess.run(["bash", "-c", text], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        print(done.stdout, end="")
        if done.returncode:
            raise AssertionError(f"status {done.returncode}:\n{text}\n{done.stdout[-3000:]}")

    def run(self, cell):
        """What it prints."""
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(python_of(cell), "<cell>", "exec"), self.names)
        return printed.getvalue()


def repository_of_the_tree(folder):
    """A repository whose only commit is the working tree as it is."""
    tree = pathlib.Path(folder, "repository")
    shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(*NOT_OF_THE_REPOSITORY))
    git = ["git", "-C", tree, "-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "commit.gpgsign=false"]
    for arguments in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "The working tree"]):
        subprocess.run([*git, *arguments], check=True)
    return tree


class Written(unittest.TestCase):
    def test_there_is_one_and_the_documents_lead_to_it(self):
        self.assertTrue(NOTEBOOKS)
        for notebook in NOTEBOOKS:
            self.assertIn(f"](notebooks/{notebook.name})", (ROOT / "docs" / "README.md").read_text())

    def test_nothing_that_was_run_is_kept(self):
        for notebook in NOTEBOOKS:
            with self.subTest(notebook.name):
                record = json.loads(notebook.read_text())
                self.assertEqual((record["nbformat"], record["metadata"]["kernelspec"]["name"]), (4, "python3"))
                ids = [cell["id"] for cell in record["cells"]]
                self.assertEqual(len(ids), len(set(ids)))
                for cell in record["cells"]:
                    if cell["cell_type"] == "code":
                        self.assertEqual((cell["outputs"], cell["execution_count"]), ([], None), "clear the outputs")
                text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
                self.assertEqual(notebook.read_text(), text, "not as json.dumps(..., indent=1) writes it")

    def test_no_address_and_no_path_of_a_machine(self):
        for notebook in NOTEBOOKS:
            for cell in cells(notebook, "code") + cells(notebook, "markdown"):
                self.assertIsNone(re.search(r"https?://\w|/(?:work|home|tmp|root)/", cell), cell)

    def test_code_compiles_and_every_step_is_explained(self):
        for notebook in NOTEBOOKS:
            with self.subTest(notebook.name):
                kinds = [cell["cell_type"] for cell in json.loads(notebook.read_text())["cells"]]
                self.assertEqual(kinds[0], "markdown")
                self.assertNotIn("code code code", " ".join(kinds))
                for cell in cells(notebook, "code"):
                    compile(python_of(cell), notebook.name, "exec")
                    self.assertLessEqual(max(map(len, cell.splitlines())), 120)

    def test_texts_can_be_read(self):
        """The rules of a lesson's sentences."""
        for notebook in NOTEBOOKS:
            with self.subTest(notebook.name):
                prose = "\n\n".join(parts("\n\n".join(cells(notebook, "markdown"))).values())
                self.assertEqual(HOUSE_WORDS.findall(prose), [])
                lengths = sorted(len(words(sentence)) for sentence in sentences(prose))
                self.assertLessEqual(statistics.median(lengths), MEDIAN)
                self.assertLessEqual(lengths[int(0.9 * len(lengths))], NINTH)

    def test_cells_of_the_shell(self):
        session = Session()
        self.assertEqual(session.run("%%bash\nset -e\nX=3\necho $((X + 1))"), "4\n")
        self.assertEqual(session.run("if True:\n    !echo a 'b c'\nx = 2"), "a b c\n")
        self.assertEqual(session.run("print(x)"), "2\n")
        with self.assertRaisesRegex(AssertionError, "status 3"):
            session.run("%%bash\nexit 3")

    def test_without_an_address_it_says_what_is_missing(self):
        for notebook in NOTEBOOKS:
            first = cells(notebook, "code")[0]
            environment = {name: value for name, value in os.environ.items() if not name.startswith("STAGED_GEMM_")}
            done = subprocess.run([sys.executable, "-c", first], text=True, capture_output=True, env=environment)
            self.assertEqual(done.returncode, 1)
            self.assertIn("REPOSITORY", done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1)


FAKE_LAB = """#!/bin/bash
echo "$*" >> calls
[[ " $* " != *" --time "* ]] || { echo '{"gflops": 1234.5, "pct_cublas": 67.8}'; exit; }
[[ $1 != run ]] || echo '{"status": "pass", "predicted": {"cycles_per_warp_fma": 2, "bound": "L1 cache"}, "counts": {
  "global_load": {"requests": 1, "sectors": 2, "wavefronts": 3},
  "shared_load": {"requests": 4, "wavefronts": 5, "bank_conflicts": 6}, "barriers": 7}}'
"""


class Runs(unittest.TestCase):
    def setUp(self):
        if not shutil.which("git"):
            self.skipTest("SKIPPED, NOT RUN: the notebook clones, and there is no git")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        before = dict(os.environ)
        self.addCleanup(lambda: (os.environ.clear(), os.environ.update(before)))
        self.folder = pathlib.Path(folder.name)
        for name in ("OPTIONS", "REPOSITORY", "FOLDER", "STAGED_GEMM_PREBUILT"):
            os.environ.pop(name, None)
        os.environ |= {
            "PATH": f"{self.folder / 'path'}:{os.environ['PATH']}",
            "STAGED_GEMM_REPOSITORY": f"file://{repository_of_the_tree(folder.name)}",
            "STAGED_GEMM_FOLDER": str(self.folder / "clone"),
        }

    def driver(self, status):
        """An nvidia-smi that ends with this status."""
        program = self.folder / "path" / "nvidia-smi"
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\nexit {status}\n")
        program.chmod(0o755)

    def test_with_a_gpu_it_times(self):
        """With a `lab` that only says what it was asked."""
        self.driver(0)
        session = Session()
        printed = []
        for cell in cells(ROOT / "docs" / "notebooks" / "ladder.ipynb", "code"):
            if "ladder $OPTIONS" not in cell and "doctor $OPTIONS" not in cell:
                printed.append(session.run(cell))
            if "git clone" in cell:
                pathlib.Path(os.environ["FOLDER"], "lab").write_text(FAKE_LAB)
        self.assertEqual(os.environ["OPTIONS"], "--yes --cuda")
        self.assertIn("on a GPU", printed[2])
        for table in printed[-2:]:
            self.assertRegex(table, r"GFLOP/s at 2048 +1,23[45]")
            self.assertRegex(table, r"% of cuBLAS +67.8")
        calls = pathlib.Path("calls").read_text().splitlines()
        for stage in ("02", "90", "08", "08:k=16", "08:k=32"):
            self.assertIn(f"run {stage} --json - --yes --cpu --count", calls)
            self.assertIn(f"run {stage} --json - --yes --cuda --time --m 2048 --n 2048 --k 2048", calls)

    def test_without_a_gpu(self):
        if not BIN:
            self.skipTest("needs the programs of a CPU build")
        self.driver(9)
        os.environ["STAGED_GEMM_PREBUILT"] = str(BIN)
        session = Session()
        notebook = ROOT / "docs" / "notebooks" / "ladder.ipynb"
        printed = []
        for cell in cells(notebook, "code"):
            printed.append(session.run(cell))
        everything = "\n".join(printed)
        self.assertIn("The working tree", printed[1])
        self.assertIn("on the CPU executor", printed[2])
        self.assertIn("--cpu --prebuilt", printed[2])
        for stage in sorted((ROOT / "stages").glob("[0-9][0-9]*_*.cu")):
            self.assertRegex(everything, rf"sgemm/{stage.stem} +pass")
        tables = [text for text in printed if "cycles for a warp-wide FMA" in text]
        self.assertEqual(len(tables), 2)
        coalescing, depth = ({line[:28].strip(): line[28:].split() for line in t.splitlines()} for t in tables)
        self.assertEqual(coalescing[""], ["02", "90"])
        self.assertEqual(coalescing["right?"], ["pass", "pass"])
        # What the answers say. A warp-wide FMA: 32 of those that are counted.
        near, far = (float(cycles) for cycles in coalescing["cycles for a warp-wide FMA"])
        self.assertEqual((round(near), round(far)), (2, 33))
        self.assertEqual(len(set(coalescing["global load requests"])), 1)
        self.assertEqual(depth["barriers"], ["256", "128", "64"])
        self.assertEqual(depth["shared load bank conflicts"], ["0", "0", "65,536"])
        self.assertEqual(len(set(depth["global load requests"]) | set(depth["global load sectors"])), 2)
        fewer = [int(number.replace(",", "")) for number in depth["global load wavefronts"]]
        self.assertEqual(fewer, sorted(set(fewer), reverse=True))
        answers = "\n".join(cells(notebook, "markdown"))
        for said in ("33 where stage 02 has 2", "256, 128 and 64", "65,536 conflicts"):
            self.assertIn(said, answers)
        cycles = [float(number) for number in depth["cycles for a warp-wide FMA"]]
        self.assertEqual(min(cycles), cycles[1], "by the counts 08:k=16")

    def test_on_this_gpu(self):
        """As a reader runs it: both builds, the ladder against cuBLAS, and the exercises timed."""
        if not (os.environ.get("NOTEBOOK_ON_GPU") and subprocess.run(["nvidia-smi", "-L"], capture_output=True).stdout):
            self.skipTest("SKIPPED, NOT RUN: needs a GPU and minutes to build; NOTEBOOK_ON_GPU=1 asks for it")
        session = Session()
        printed = [session.run(cell) for cell in cells(ROOT / "docs" / "notebooks" / "ladder.ipynb", "code")]
        everything = "\n".join(printed)
        print(everything[-6000:])
        self.assertIn("on a GPU", printed[2])
        for stage in sorted((ROOT / "stages").glob("[0-9][0-9]*_*.cu")):
            self.assertRegex(everything, rf"sgemm/{stage.stem} .* pass")
        tables = [text for text in printed if "% of cuBLAS" in text and "right?" in text]
        self.assertEqual(len(tables), 2)
        coalescing, depth = ({line[:28].strip(): line[28:].split() for line in t.splitlines()} for t in tables)
        near, far = (float(speed.replace(",", "")) for speed in coalescing["GFLOP/s at 2048"])
        self.assertGreater(near, 3 * far, "coalescing is worth more than that")
        self.assertEqual(depth["right?"], ["pass", "pass", "pass"])


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if arguments and not arguments[0].startswith("-"):
        BIN = pathlib.Path(arguments.pop(0)).resolve()
    unittest.main(argv=[sys.argv[0], *arguments])
