#!/usr/bin/env python3
"""That tools/measure/sanitizers.py ends runs that take too long, and starts first what took longest: with a lab and a
compute-sanitizer that only pretend."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

LAB = """#!/bin/sh
[ "$1" = list ] && echo "sgemm/01_one" && echo "tsm/02_two" && exit
echo '{"run": {"device": "a GPU", "driver": "1", "cuda": "2", "commit": "0123"}}'
"""
# Notes what it was asked for. Of tsm/02_two, memcheck starts a process that never ends, and waits for it.
SANITIZER = """#!/bin/sh
echo "$2 $(basename "$5") $6" >> "$LOG"
case "$2 $*" in "memcheck "*" run tsm/02_two"*) sleep 600 & echo $! >> "$LOG.pid"; wait;; esac
echo "========= ERROR SUMMARY: ${ERRORS:-0} errors"
"""


class Sanitizers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name, text in (("lab", LAB), ("compute-sanitizer", SANITIZER)):
            (self.folder / name).write_text(text)
            (self.folder / name).chmod(0o755)

    def run_script(self, **variables):
        """The exit status, the JSON, and what compute-sanitizer was asked for, in order."""
        log = self.folder / "log"
        log.write_text("")
        done = subprocess.run(
            [
                sys.executable,
                "-B",
                "-m",
                "tools.measure",
                "sanitizers",
                "--out",
                self.folder / "out",
                "--bin",
                self.folder,
                "--longest",
                "1",
                "--",
                self.folder / "lab",
            ],
            capture_output=True,
            text=True,
            env=os.environ | {"PATH": f"{self.folder}:{os.environ['PATH']}", "LOG": str(log)} | variables,
        )
        self.assertEqual(done.stderr, "")
        return done.returncode, json.loads((self.folder / "out").read_text()), log.read_text().splitlines()

    def test_one_slow_run_ends_alone(self):
        status, found, asked = self.run_script()
        self.assertEqual(status, 1)
        self.assertEqual(len(asked), 4 * (3 + 2 * 2 + 7))
        bad = [(tool, name) for tool, runs in found["errors"].items() for name in runs if runs[name]]
        self.assertEqual(bad, [("memcheck", "tsm/02_two awkward")])
        time.sleep(0.1)
        for process in (self.folder / "log.pid").read_text().split():
            state = pathlib.Path(f"/proc/{process}/stat")
            self.assertTrue(not state.exists() or state.read_text().split()[2] == "Z", "it runs on")
        # Again: what was clean is not repeated.
        self.assertEqual(len(self.run_script()[2]), 1)

    def test_what_took_longest_comes_first(self):
        before = {"seconds": {tool: {} for tool in ("memcheck", "racecheck", "initcheck", "synccheck")}}
        before |= {
            "device": "a GPU",
            "driver": "1",
            "cuda": "2",
            "commit": "4567",
            "command": "./lab measure sanitizers",
            "errors": {},
        }
        before["seconds"]["synccheck"]["prototype 3"] = 1000
        (self.folder / "out").write_text(json.dumps(before))
        status, found, asked = self.run_script(ERRORS="2")
        self.assertEqual(status, 1)
        self.assertEqual(found["errors"]["racecheck"]["test_half"], 2)
        # Several start at a time.
        self.assertTrue(any(line == "synccheck prototype 3" for line in asked[:12]), asked[:12])
        self.assertLess(found["seconds"]["synccheck"]["prototype 3"], 100)


if __name__ == "__main__":
    unittest.main()
