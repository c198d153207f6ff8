#!/usr/bin/env python3
"""That committed measurements are digests, what a digest keeps, and that the repository stays light."""

import contextlib
import io
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from tools.digest import digest, expanded, rounded, text_of
from tools.measure import digest as program
from tools.measure.sanitizers import TOOLS
from tools.repository import MEASUREMENTS, NOT_IN_HISTORY, REFERENCE, ROOT, read_json

LARGEST_FILE = 200_000  # bytes
WHOLE_TREE = 11 * 2**20  # bytes
COMMITTED = [path for path in sorted(MEASUREMENTS.rglob("*.json")) if path not in (NOT_IN_HISTORY, REFERENCE)]
RECORDS = [
    {
        "stage": "a/01",
        "family": "a",
        "problem": {"m": 8, "n": 1234567},
        "time_ms": {"median": 0.123456789},
        "launches": [{"grid": [4, 1, 1], "registers": 32}],
        "options": {},
        "kinds": {"LDG.32": 2},
        "error": {"max_ratio": 0.5, "frobenius": 1.23456789e-07, "max_relative": 0.0123456789},
    },
    {
        "stage": "a/02",
        "family": "a",
        "problem": {"m": 8, "n": 16},
        "launches": [{"grid": [1, 1, 1], "registers": 1.0}, {"grid": [2, 1, 1], "registers": 64}],
        "reason": "skipped",
        "models": [{"stage": "x"}, {"loses": None}],
    },
]


def digits(number):
    return len(re.sub(r"e.*|\D", "", f"{number!r}").strip("0"))


def floats(value):
    if isinstance(value, float):
        yield value
    elif isinstance(value, (dict, list)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from floats(each)


def sanitized(command, commit, errors=0):
    """A run as tools/measure/sanitizers.py writes it."""
    of_tools = {tool: {"a/01 awkward": errors, "a/01 and variants": 0} for tool in TOOLS}
    run = {"device": "a GPU", "driver": "1", "cuda": "2", "commit": commit, "command": command}
    return run | {"errors": of_tools, "seconds": {tool: {} for tool in TOOLS}}


def names_of(stage):
    """Those by which a command may name it: "12" is a stage of sgemm, of another family it is "tsm/12"."""
    family, title = stage.partition(":")[0].split("/")
    variant = stage.removeprefix(f"{family}/{title}")
    number = title.split("_")[0]
    found = {f"{name}{form}" for name in (f"{family}/{title}", f"{family}/{number}") for form in ("", variant)}
    return found | {name.removeprefix("sgemm/") for name in found}


class Digest(unittest.TestCase):
    def test_records_come_back(self):
        found = expanded(json.loads(text_of(digest({"commit": "0123", "results": RECORDS}))))
        expected = rounded(RECORDS)
        for record in expected:
            del record["family"]
        self.assertEqual(found, {"commit": "0123", "results": expected})
        self.assertEqual(found["results"][0]["time_ms"]["median"], 0.123457)

    def test_accuracy_stays(self):
        """The paper's Figure 8 has both: the residual and the largest relative error."""
        error = expanded(digest({"results": RECORDS}))["results"][0]["error"]
        self.assertEqual((error["frobenius"], error["max_relative"]), (1.23457e-07, 0.0123457))

    def test_shared_fields_stand_once(self):
        table = digest({"results": RECORDS})["results"]
        self.assertEqual(table["same"], {"problem.m": 8})
        self.assertEqual(table["columns"][:4], ["stage", "problem.n", "time_ms.median", "launches[].grid"])
        self.assertEqual(table["rows"][1][:4], ["a/02", 16, None, [[1, 1, 1], [2, 1, 1]]])

    def test_a_record_is_a_line(self):
        text = text_of(digest({"results": RECORDS * 9}))
        self.assertEqual(sum(line.lstrip().startswith('["a/0') for line in text.splitlines()), 18)

    def test_repeated_values_stand_once(self):
        run = {"results": [RECORDS[n % 2] | {"seconds": n} for n in range(40)] + [{"seconds": 40}]}
        table = json.loads(text_of(digest(run)))["results"]
        self.assertEqual(table["values"]["stage"], ["a/01", "a/02"])
        self.assertEqual(table["values"]["launches[].grid"], [[[4, 1, 1]], [[1, 1, 1], [2, 1, 1]]])
        self.assertNotIn("seconds", table["values"])
        at = table["columns"].index("stage")
        self.assertEqual([row[at] for row in table["rows"]], [0, 1] * 20 + [None])
        found = expanded({"results": table})["results"]
        self.assertEqual(found[38]["launches"], rounded(RECORDS[0]["launches"]))
        found[38]["launches"][0]["grid"][0] = 5  # changes no other record
        self.assertEqual(found[36]["launches"][0]["grid"], [4, 1, 1])
        self.assertEqual(digest({"results": table})["results"], table)

    def test_few_and_different_values_stay(self):
        for records in (RECORDS, [{"stage": f"a/{n:02}", "n": n % 3} for n in range(99)]):
            self.assertNotIn("values", digest({"results": records})["results"])

    def test_many_records_by_name_are_a_table(self):
        kernels = {f"k{n}": {"counts": {"loads": n, "ratio": None if n % 2 else 0.5}} for n in range(9)}
        run = {"kernels": kernels, "few": {"a": {"x": 1}}}
        table = digest(run)["kernels"]
        self.assertEqual(table["columns"], ["", "counts.loads", "counts.ratio"])
        self.assertEqual(table["rows"][1], ["k1", 1, None])
        self.assertEqual(expanded(json.loads(text_of(digest(run)))), run)
        self.assertEqual(digest(digest(run)), digest(run))
        unlike = kernels | {"k9": {"other": 1}}
        self.assertEqual(digest({"kernels": unlike})["kernels"], unlike)

    def test_equal_parts_stand_once(self):
        part = {"block": [32, 32, 1], "kinds": [[0, 32]]}
        run = {"a/01": part, "a/02": part, "a/03": part | {"rows": [0]}, "a/04": part, "none": {}, "empty": {}}
        once = json.loads(text_of(digest(run)))
        self.assertEqual(
            {key: once[key] for key in ("a/01", "a/02", "a/04")},
            {"a/01": part} | dict.fromkeys(("a/02", "a/04"), {"as": "a/01"}),
        )
        self.assertEqual((expanded(once), digest(once)), (run, once))

    def test_whole_numbers_are_exact(self):
        self.assertEqual(
            rounded([1234567, 1234567.0, 1234567.8, 0.1 + 0.2, True]), [1234567, 1234567, 1234570, 0.3, True]
        )

    def test_digest_of_a_digest_is_the_same(self):
        once = digest({"results": RECORDS})
        self.assertEqual(digest(once), once)
        self.assertEqual(list(digest(once)["results"]["same"]), list(once["results"]["same"]))


class Program(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.raw, self.out = pathlib.Path(folder.name, "raw"), pathlib.Path(folder.name, "out")
        (self.raw / "probes").mkdir(parents=True)

    def write(self, name, run):
        (self.raw / name).write_text(json.dumps(run))
        with contextlib.redirect_stdout(io.StringIO()):
            program.main([str(self.raw), str(self.out)])

    def test_folders_stay(self):
        self.write("probes/rounding.json", {"results": RECORDS})
        self.assertEqual(len(read_json(self.out / "probes" / "rounding.json")["results"]), 2)
        self.assertEqual(json.loads((self.raw / "probes" / "rounding.json").read_text())["results"], RECORDS)

    def test_products_have_a_file_each(self):
        self.write("tsm_tuning.json", {"commit": "0", "sizes": [{"op": "tsmm", "m": 1}, {"op": "tsmttsm", "m": 2}]})
        found = {path.name: read_json(path)["sizes"] for path in self.out.glob("*.json")}
        self.assertEqual(
            found,
            {"tsm_tuning_tsmm.json": [{"op": "tsmm", "m": 1}], "tsm_tuning_tsmttsm.json": [{"op": "tsmttsm", "m": 2}]},
        )

    def test_runs_of_the_sanitizers_add_up(self):
        for command, commit in (("x", "1"), ("x --only a/01", "2"), ("x --only a/02", "3"), ("x --only a/01", "4")):
            self.write("sanitizers.json", sanitized(command, commit, errors=2))
        runs = read_json(self.out / "sanitizers.json")["runs"]
        self.assertEqual([run["commit"] for run in runs], ["1", "3", "4"])
        self.assertEqual(runs[0]["names"], ["a/01 and variants", "a/01 awkward"])
        self.assertEqual(runs[0]["errors"], dict.fromkeys(TOOLS, 2))
        self.write("sanitizers.json", sanitized("x", "5"))
        self.assertEqual([run["commit"] for run in read_json(self.out / "sanitizers.json")["runs"]], ["5"])

    def test_unfinished_run_of_the_sanitizers_is_refused(self):
        run = sanitized("x", "1")
        del run["errors"]["racecheck"]["a/01 awkward"]
        with self.assertRaises(SystemExit):
            self.write("sanitizers.json", run)


class Committed(unittest.TestCase):
    def test_every_file_is_a_digest(self):
        for path in COMMITTED:
            run = json.loads(path.read_text())
            self.assertEqual(digest(run), run, f"{path.name}: ./lab measure digest makes it one")

    def test_numbers_have_six_digits(self):
        for path in COMMITTED:
            for number in floats(json.loads(path.read_text())):
                self.assertLessEqual(digits(number), 6, f"{path.name}: {number}")

    def test_files_are_small(self):
        for path in MEASUREMENTS.rglob("*"):
            self.assertLessEqual(path.stat().st_size, LARGEST_FILE, path)

    def test_each_names_its_commit(self):
        for path in COMMITTED:
            if path.name not in ("choice.json", "loop.json", "peers.json", "thread_maps.json"):
                self.assertRegex(path.read_text(), '"commits?"', path.name)

    def test_each_command_names_what_the_file_holds(self):
        """So that it repeats it."""
        looked_at = 0
        for path in COMMITTED:
            run = read_json(path)
            words = shlex.split(run.get("run", run).get("command", "")) if isinstance(run, dict) else []
            if words[1:2] == ["run"]:
                named, stages = {words[2]}, {run["stage"]}
            elif "--only" in words and "results" in run:
                named = set(words[words.index("--only") + 1].split(","))
                stages = {result["stage"] for result in run["results"]}
                stages = {stage for stage in stages if stage.split("/")[0] in ("sgemm", "tsm", "tensorcore", "tuning")}
            else:
                continue
            looked_at += 1
            with self.subTest(path.relative_to(MEASUREMENTS)):
                self.assertEqual({stage for stage in stages if not names_of(stage) & named}, set(), "not named")
                self.assertLessEqual(named, set().union(*map(names_of, stages)), "named, and not there")
        self.assertGreater(looked_at, 10)

    def test_tracked_tree_is_light(self):
        git = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
        if git.returncode or not git.stdout:
            self.skipTest("not a git clone")
        paths = [ROOT / name for name in git.stdout.split("\0") if name]
        self.assertLessEqual(sum(path.stat().st_size for path in paths if path.is_file()), WHOLE_TREE)


if __name__ == "__main__":
    unittest.main()
