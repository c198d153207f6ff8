#!/usr/bin/env python3
"""The tables and figures of docs/tsm/probes.md, from what the probes write: here without times, in whose place
predictions are put.

usage: test_probes.py BIN      BIN: the folder with the CPU build's programs
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

sys.dont_write_bytecode = True
from tools.pages.blocks.probes import (
    FIGURES,
    TABLES,
    block_probe,
    block_probe_rows,
    probe_cell,
    table_dependent,
    table_loops,
)
from tools.pages.blocks.rungs import block_excerpt
from tools.pages.data import NotMeasured
from tools.pages.figures import probes as figures
from tools.pages.figures.style import Unable, plot_style
from tools.pages.records import probes
from tools.pages.tsm_values import bandwidth_needs, port_miss

MEASURED = {"predicted_gbs": "gbs", "predicted_ns": "ns", "predicted_cycles": "cycles", "predicted_gflops": "gflops"}
program = None


def as_if_measured(name):
    done = subprocess.run([program, "probe", name, "--json", "-"], text=True, stdout=subprocess.PIPE, check=True)
    run = json.loads(done.stdout)
    for r in run["results"]:
        r.update({measured: r[predicted] for predicted, measured in MEASURED.items() if predicted in r})
        if isinstance(r.get("predicted"), dict):
            r["percent"] = {"4": r["predicted"]["paper"], "8": r["predicted"]["units"]}
    return run


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        before = probes.MEASURED
        self.addCleanup(lambda: setattr(probes, "MEASURED", before))
        probes.MEASURED = self.folder

    def test_nothing_is_shown_before_it_is_measured(self):
        self.assertEqual(figures.plan(None), {})
        for name in TABLES:
            self.assertEqual(len(block_probe(None, name)), 1)
            self.assertIn("Not measured yet", block_probe(None, name)[0])
            self.assertRaises(NotMeasured, block_probe_rows, None, name, "*")
        self.assertRaises(NotMeasured, port_miss, None, "tiles", "rms")
        self.assertRaises(NotMeasured, bandwidth_needs, None, "90")
        self.assertRaises(KeyError, block_probe, None, "nosuch")

    def test_tables_and_figures(self):
        for name in TABLES:
            (self.folder / f"{name}.json").write_text(json.dumps(as_if_measured(name)))
            lines = block_probe(None, name)
            columns = {line.count("|") for line in lines if line.startswith("|")}
            self.assertGreater(len(lines), 8, name)
            self.assertTrue(min(columns) > 3, name)
            self.assertEqual(f"![{name}](../figures/probe_{name}.svg)" == lines[-1], name in FIGURES)
            self.assertIn(f"`./lab probe {name}`", lines[-3] if name in FIGURES else lines[-1])
        # 4 warps of 4 loads of 8 bytes: predicted and, here, measured.
        self.assertTrue(any("| 1,607 (1,607) |" in line for line in block_probe(None, "bandwidth")))
        self.assertTrue(
            any(
                line.startswith("| double, 8 x 8, loads of 16 bytes | 100 | 97 | 100 | 80 |")
                for line in block_probe(None, "tiles")
            )
        )
        self.check_rows()
        self.check_lives()
        self.check_ports(json.loads((self.folder / "tiles.json").read_text()))
        self.check_dependent(json.loads((self.folder / "latency.json").read_text()))
        plan = figures.plan(None)
        self.assertEqual(len(plan), len(FIGURES))
        try:
            plot_style()
        except Unable:
            return  # no matplotlib: the tables were checked
        for file, (sources, draw) in plan.items():
            draw(None, self.folder / file)
            self.assertIn("<svg", (self.folder / file).read_text(), file)
            self.assertTrue(all(source.exists() for source in sources))

    def check_rows(self):
        """What a lesson shows of the tables, and cells of them within its sentences."""
        rows = block_probe_rows(None, "bandwidth", "8_bytes,_[48]_warps_an_SM", "16_bytes,_1_block*")
        self.assertEqual(
            [row.split(" |")[0] for row in rows[2:5]],
            ["| 8 bytes, 4 warps an SM", "| 8 bytes, 8 warps an SM", "| 16 bytes, 1 block, 4 warps"],
        )
        self.assertIn("`./lab probe bandwidth`", rows[-1])
        self.assertEqual(len([row for row in block_probe_rows(None, "latency", "16_KiB", "32") if "---" in row]), 2)
        self.assertRaisesRegex(KeyError, "9 bytes", block_probe_rows, None, "bandwidth", "8_bytes,*", "9_bytes,*")
        for which in ("measured", "predicted"):
            self.assertEqual(probe_cell(None, "bandwidth", "8_bytes,_4_warps_an_SM", "4", which), "1,607")
        self.assertEqual(probe_cell(None, "latency", "32", "L1,_column"), "32")
        self.assertEqual(probe_cell(None, "tiles", "double,_8_x_8,_loads_of_16_bytes", "writing"), "80")
        self.assertRaisesRegex(KeyError, "no cell", probe_cell, None, "tiles", "double,_8_x_8,_no_loads", "64_warps")
        # By Little's law 11.6 kB give all; here bytes in flight are powers of two.
        self.assertEqual([bandwidth_needs(None, share) for share in ("50", "90")], ["8.2", "16.4"])
        self.assertEqual(port_miss(None, "tiles", "loops"), str(len(probes.port_misses(probes.newest_record("tiles")))))

    def check_lives(self):
        """A row for each number of turns, whose last ones have an order, and both kinds of work in it."""
        header, _, *rows, blank, _ = block_probe_rows(None, "lives", "*")
        self.assertEqual((header.split("|")[2:-1], blank), ([" blocks ", " read ", " read and write "], ""))
        self.assertEqual(
            [row.split("|")[1].strip() for row in rows],
            [
                *("1", "2", "4", "8", "16", "32", "64", "1, pieces of 16", "all, strided", "all, pieces of 16"),
                *("all, ranges", "all, tickets", "all, tickets of 4", "all, tickets of 16"),
            ],
        )
        self.assertEqual(rows[1], "| 2 | 32 | 4,557 (4,557) | 4,225 (4,225) |")
        self.assertEqual(probe_cell(None, "lives", "all,_tickets", "read_and_write", "predicted"), "4,225")

    def test_an_excerpt_of_a_probe(self):
        lines = block_excerpt(None, "tsm/probes/incorrect.cuh", "for (int i = 0; i < TM; ++i) {")
        self.assertEqual((lines[0], lines[1], lines[-2]), ("```cuda", "for (int i = 0; i < TM; ++i) {", "}"))
        self.assertIn("    T& s = sum[(i * TN + j) % kept];", lines)
        self.assertIn("__global__ void chase(", block_excerpt(None, "tsm/probes/latency", "__global__ void chase(")[1])

    def check_dependent(self, run):
        """Chains of FMAs and in shared memory, which runs before them did not have."""
        rows = table_dependent(run)[2:]
        self.assertEqual(rows, ["| loads from shared memory | 19 | 24 (24) |", "| FP64 FMAs on one sum | 8 | 8 (8) |"])
        before = {**run, "results": [r for r in run["results"] if r["part"] != "dependent"]}
        self.assertEqual({row.split("|")[3].strip() for row in table_dependent(before)[2:]}, {"not measured"})

    def check_ports(self, run):
        """What the machine code says of the loops stands beside what was measured, if there is any."""
        shares = probes.port_shares(run)
        self.assertEqual(len(shares), len(run["results"]))
        self.assertAlmostEqual(shares["double, 8 x 8, no loads, fresh"], 200 / 3, delta=0.5)
        self.assertAlmostEqual(shares["double, 8 x 8, no loads"], 1200 / 13, delta=0.5)
        for r in run["results"]:
            r["percent"] = {"4": shares[probes.loop_name(r)] - 1, "8": 1.0}
        self.assertTrue(all(abs(miss - 1) < 1e-9 for miss in probes.port_misses(run)))
        self.assertIn("differ by 1.0 points", table_loops(run)[-1])
        with unittest.mock.patch.object(probes, "CODE", self.folder / "nothing"):
            self.assertEqual(probes.port_shares(run), {})
            self.assertIn(
                "| 100 | 97 | 100 | 80 | - | 85.",
                next(line for line in table_loops(run) if "8 x 8, loads of 16" in line),
            )


if __name__ == "__main__":
    program = pathlib.Path(sys.argv.pop()) / "gemm"
    unittest.main()
