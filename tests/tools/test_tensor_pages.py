#!/usr/bin/env python3
"""The blocks and figures of the probes in docs/tensorcore/, from what these write: here without times, in whose place
invented ones are put.

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
from tools.pages import values
from tools.pages.blocks import tcec, tensor, tensor_probes
from tools.pages.data import NotMeasured
from tools.pages.figures import tcec as tcec_figures
from tools.pages.figures import tensor_probes as probe_figures
from tools.pages.figures.style import Unable, plot_style
from tools.pages.records import tensor as runs
from tools.pages.records import tensor_probes as probes
from tools.pages.records.tcec import accuracy_path
from tools.repository import read_json

program = None
GPU = {"device": "a GPU", "compute_capability": 90, "cuda": "13.0", "l2_bytes": 50e6, "ceilings": {"copy_gbs": 4000.0}}


MAP, ACCURACY = probes.probe_run("04_fragment_map", "measured"), read_json(accuracy_path())


def run_probe(name):
    done = subprocess.run(
        [program, "probe", f"tensorcore/{name}", "--json", "-"],
        text=True,
        capture_output=True,
    )
    if done.returncode:
        raise unittest.SkipTest(f"built without tensorcore/{name}: {done.stderr.strip()}")
    return json.loads(done.stdout)


class Data:
    """What of tools/pages/data.py the blocks ask for."""

    def stage(self, name):
        return {"tensorcore/07": "tensorcore/07_split_in_shared", "tensorcore/12": "tensorcore/12_batched"}[name]


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        patch = unittest.mock.patch.dict(runs.FOLDERS, measured=self.folder)
        patch.start()
        self.addCleanup(patch.stop)

    def put(self, name, run):
        probes.probe_path(name, "measured").write_text(json.dumps(run))

    def draw(self, file):
        try:
            plot_style()
        except Unable:
            return  # no matplotlib: the tables were checked
        sources, draw = (tcec_figures.plan(None) | probe_figures.plan(None))[file]
        draw(None, self.folder / file)
        self.assertIn("<svg", (self.folder / file).read_text())
        self.assertTrue(all(source.exists() for source in sources))

    def test_nothing_is_shown_before_it_is_measured(self):
        self.assertEqual(tensor_probes.block_fragment_measured(None), runs.NOT_MEASURED)
        self.assertEqual(tensor_probes.block_scan_measured(None), runs.NOT_MEASURED)
        self.assertNotIn("scan_speed.svg", probe_figures.plan(None))
        for name in probes.PAPER:
            self.assertEqual(tensor_probes.block_transform_measured(None, name), runs.NOT_MEASURED)
            self.assertNotIn(probes.figure_of(name), probe_figures.plan(None))

    def test_the_committed_map_is_what_the_probe_finds_now(self):
        """A GPU's: on the executor each lane has the same elements."""
        self.assertEqual(run_probe("04_fragment_map")["results"], MAP["results"])

    def test_the_committed_counts_are_what_the_probe_counts_now(self):
        committed = probes.part(probes.probe_run("05_scan", "counted"), "batch")
        now = run_probe("05_scan")
        self.assertEqual(now["results"], committed)
        self.check_scan(now)

    def check_scan(self, run):
        lines = tensor_probes.block_scan_counted(None)
        self.assertTrue(any(line.startswith("| rows of 16: registers, once | 4 | 4 | 0 | 0 | 0 |") for line in lines))
        self.assertTrue(any(line.startswith("| `scan_registers<256>` | 4 LDG.32, 4 STG.64 |") for line in lines))
        for r in run["results"]:
            if r["form"] == "cub":
                continue  # as on the executor
            r["time_ms"] = {"median": 1.0}
            r["gbs"] = 3000.0 if r["form"].startswith("registers") else 2000.0
            r.update(pct_copy=r["gbs"] / 40, registers=30)
        self.put("05_scan", run | GPU)
        lines = tensor_probes.block_scan_measured(None)
        self.assertIn(
            "| 592 | 0.0568 | 4.04 | 3,000 (75 %) | 3,000 (75 %) | 2,000 (50 %) | 2,000 (50 %) | skip | 1.50 | 1.50 "
            "| - |",
            lines,
        )
        self.assertEqual(len({line.count("|") for line in lines if line.startswith("|")}), 1)
        self.draw("scan_speed.svg")

    def check_transforms(self, name, line, counted):
        """`line`: of the table, where forms in registers are 1.5 times as fast as the others."""
        committed = probes.part(probes.probe_run(name, "counted"), "batch")
        run = run_probe(name)
        self.assertEqual(run["results"], committed)
        self.assertTrue(any(found.startswith(counted) for found in tensor_probes.block_transform_counted(None, name)))
        for r in run["results"]:
            r["gbs"] = 3000.0 if r["form"].startswith("registers") else 2000.0
            r.update(time_ms={"median": 1.0}, pct_copy=r["gbs"] / 40, registers=30)
        self.put(name, run | GPU)
        lines = tensor_probes.block_transform_measured(None, name)
        self.assertIn(line, lines)
        tables = "\n".join(lines).split("\n\n")
        for table in (t for t in tables if t.startswith("|")):
            self.assertEqual(len({row.count("|") for row in table.splitlines()}), 1)
        self.draw(probes.figure_of(name))
        self.draw(probes.figure_of(name).replace("speedup", "instructions"))

    def check_table(self, lines):
        for table in (t for t in "\n".join(lines).split("\n\n") if t.startswith("|")):
            self.assertEqual(len({row.count("|") for row in table.splitlines()}), 1)

    def test_accuracy(self):
        (self.folder / "accuracy.json").write_text(json.dumps(ACCURACY))
        lines = tcec.block_tcec_accuracy(Data(), "tensorcore/07")
        self.check_table(lines)
        self.assertIn(ACCURACY["device"], lines[-1])
        self.assertEqual(sum("markidis" in line for line in lines), 4)  # of four distributions
        results = [
            {"stage": "cublas/fp32", "k": 16, "distribution": "uniform", "status": "fp32", "residual": 1e-7},
            {
                "stage": "tensorcore/07_split_in_shared",
                "k": 16,
                "distribution": "uniform",
                "status": "less",
                "residual": "infinite",
            },
            {
                "stage": "tensorcore/07_split_in_shared:x",
                "k": 16,
                "distribution": "uniform",
                "status": "skip",
                "reason": "why",
            },
        ]
        (self.folder / "accuracy.json").write_text(
            json.dumps({"device": "a GPU", "commit": "c", "size": 9, "fp32_residual_allowed": 1e-7, "results": results})
        )
        lines = tcec.block_tcec_accuracy(Data(), "tensorcore/07")
        self.assertEqual(lines[2:4], ["| FP32: `fp32` | 1.0e-07 |", "| `07_split_in_shared` | inf |"])
        self.assertNotIn("why", "\n".join(lines))
        for file in ("tcec_promotion.svg", "tcec_policies.svg"):
            self.draw(file)

    def test_shared_memory_of_probes(self):
        self.assertEqual(tensor_probes.block_probe_shared(None, "tensorcore/05"), runs.NOT_MEASURED)
        counted = {
            "scan_registers": {
                "shared_load_requests": 0,
                "shared_store_requests": 0,
                "shared_load_wavefronts": 0,
                "shared_store_wavefronts": 0,
            },
            "scan_shared": {
                "shared_load_requests": 4096,
                "shared_store_requests": 12,
                "shared_load_wavefronts": 5000,
                "shared_store_wavefronts": 1,
            },
        }
        self.put("probe_counters", {"device": "a GPU", "commit": "c", "probes": {"tensorcore/05": counted}})
        lines = tensor_probes.block_probe_shared(None, "tensorcore/05")
        self.assertEqual(lines[2:4], ["| `scan_registers` | 0 | 0 | 0 |", "| `scan_shared` | 4,096 | 12 | 5,001 |"])
        self.assertEqual(tensor_probes.block_probe_shared(None, "tensorcore/06a"), runs.NOT_MEASURED)

    def test_grid_of_blockings(self):
        self.assertIn("blockings", tcec.block_tensor_blocking_grid(None)[0])
        names = [f"12_{i}x64x16-32x32x16-2" for i in range(1, 16)] + ["12_128x128x32-32x32x32-2"]
        results = [
            {"stage": f"tuning/{name}", "problem": {"k": 128}, "gflops": 1e3 * (20 - i), "status": "pass"}
            for i, name in enumerate(names)
        ]
        copies = {name: {"registers": 128, "spill_bytes": 4, "shared_bytes": 2048} for name in names}
        self.put("blocking_grid", {"device": "a GPU", "commit": "c", "results": results, "copies": copies})
        lines = tcec.block_tensor_blocking_grid(None)
        self.assertEqual(len(lines), 2 + 12 + 1 + 2)  # the paper's is the last, and shown all the same
        self.assertEqual(lines[2], "| 1: `1x64x16-32x32x16-2` | 20.0 | 128 | 4 | 2 KB |")
        self.assertEqual(lines[14], "| 16: `128x128x32-32x32x32-2`, the paper's | 5.0 | 128 | 4 | 2 KB |")
        self.assertIn("16 blockings, none wrong", lines[-1])

    def test_batches(self):
        self.assertEqual(tcec.block_tensor_batched(None), runs.NOT_MEASURED)
        (self.folder / "peers.json").write_text(json.dumps({"ootomo": {"tflops": {"128": 50.0}}}))
        speeds = {
            "tensorcore/10_presplit": (60e3, 90e3),
            "tensorcore/11_any": (55e3, None),
            "cublas/fp32_pedantic": (40e3, 50e3),
        }
        results = [
            {"stage": stage, "problem": {"k": k}, **({"gflops": speed} if speed else {})}
            for stage, both in speeds.items()
            for k, speed in zip((128, 256), both)
        ]
        self.put("batched", {"device": "a GPU", "commit": "c", "ceilings": {"ffma_gflops": 65e3}, "results": results})
        lines = tcec.block_tensor_batched(None)
        self.assertEqual(
            lines[2:7],
            [
                "| 10_presplit | 60.0 | 90.0 |",
                "| 11_any | 55.0 |  |",
                "| cuBLAS FP32 | 40.0 | 50.0 |",
                "| the paper's library | 50.0 |  |",
                "| the best of 10 and 11, beside it | 1.20 x |  |",
            ],
        )

    def test_cutlass_beside_ours(self):
        self.assertEqual(tcec.block_tensor_cutlass(Data()), runs.NOT_MEASURED)
        peer = {
            "source": "there",
            "revision": "0123456789abcdef",
            "same_run": {"tflops": {"tensorcore/12": {"128": 44.0}}},
        }
        peer["results"] = [
            {"k": k, "tflops": speed, "config": f"{k}x64x16, warps", "tried": 6, "relative_residual": 2e-7}
            for k, speed in ((128, 50.0), (256, 60.0))
        ]
        peers = {"device": "a GPU", "ootomo": {"tflops": {"128": 55.0}}, "cutlass_tcec": peer}
        (self.folder / "peers.json").write_text(json.dumps(peers))
        results = [
            {"stage": stage, "problem": {"k": k}, "gflops": speed, "error": {"frobenius": 1e-7}}
            for stage, speed in (("tensorcore/12_batched", 75e3), ("cublas/fp32_pedantic", 40e3))
            for k in (128, 256)
        ]
        ceilings = {"tmma_gflops": 300e3, "hmma_gflops": 600e3}
        self.put("batched", {"device": "a GPU", "commit": "c", "ceilings": ceilings, "results": results})
        lines = tcec.block_tensor_cutlass(Data())
        for line in (
            "| CUTLASS, three products of TF32 | 50.0 | 60.0 |",
            "| the paper's library, three products of FP16 | 55.0 |  |",
            "| 12_batched / CUTLASS | 1.50 | 1.25 |",
            "| CUTLASS, % of its bound | 50 | 60 |",
            "| 12_batched, % of its bound | 38 | 38 |",
            "| CUTLASS's tile of a block | 128x64x16 | 256x64x16 |",
        ):
            self.assertIn(line, lines)
        self.assertIn("commit 0123456789ab; the fastest of 6", lines[-1])
        self.assertTrue(lines[-1].endswith("with CUTLASS 44.0 at k = 128."), lines[-1])
        self.assertEqual(values.VALUES["batched"](Data(), "12", "128", "cutlass"), "1.50")

    def test_choices(self):
        results = [
            {
                "stage": "cublas/fp32_pedantic",
                "k": 16,
                "distribution": "wide",
                "status": "fp32",
                "residual": 1e-7,
                "max_of_magnitudes": 2e-7,
            },
            {
                "stage": "tensorcore/07_split_in_shared",
                "k": 16,
                "distribution": "wide",
                "status": "less",
                "residual": 3e-7,
                "max_of_magnitudes": 4e-7,
                "policy": "tf32",
            },
        ]
        (self.folder / "accuracy.json").write_text(
            json.dumps({"device": "a GPU", "commit": "c", "size": 9, "results": results})
        )
        lines = tcec.block_tcec_choices(Data(), "tensorcore/07")
        self.assertEqual(lines[2], "| wide | 16 | tf32 | 3.0e-07 | 1.0e-07 | 4.0e-07 | 2.0e-07 |")
        self.assertIn("0 of 1 residuals are no larger than FP32's or 2⁻²³: not wide at K = 16", lines[-1])

    def test_rounding(self):
        self.assertIn("Not measured", tensor.block_tensor_rounding(None)[0])
        (self.folder / "probes").mkdir()
        run = json.loads(
            subprocess.run([program, "probe", "rounding", "--json", "-"], text=True, stdout=subprocess.PIPE).stdout
        )
        (self.folder / "probes" / "rounding.json").write_text(json.dumps(run))
        self.assertIn("| FP16 | m16n8k16 | toward zero | 2 | 16 | kept |", tensor.block_tensor_rounding(None))

    def test_rate(self):
        self.assertIn("Not measured", tensor.block_tensor_rate(None)[0])
        (self.folder / "probes").mkdir()
        run = {
            "device": "a GPU",
            "commit": "0123",
            "results": [
                {"operands": "FP16", "numbers": "ones", "tflops_at_first": 640.2, "tflops": 601.4, "ghz": 1.676}
            ],
        }
        (self.folder / "probes" / "tensor_rate.json").write_text(json.dumps(run))
        self.assertIn("| FP16 | ones | 640 | 601 | 1.68 GHz |", tensor.block_tensor_rate(None))
        self.assertIn("Not measured", tensor.block_tensor_peaks(None, "tensorcore/03b")[0])  # no stage was

    def test_slots(self):
        self.assertEqual([round(probe_figures.issue_slots(size)) for size in (1056, 4160, 1028)], [260, 1026, 254])

    def test_reflections(self):
        self.check_transforms(
            "06a_householder",
            "| 37 | 0.0391 | 4.04 | 3,000 (75 %) | 2,000 (50 %) | 2,000 (50 %) | 1.50 | 1.00 |",
            "| `householder_registers<16, 1>` |",
        )

    def test_rotations(self):
        self.check_transforms(
            "06b_givens",
            "| 37 | 0.038 | 4.04 | 3,000 (75 %) | 3,000 (75 %) | 2,000 (50 %) | 2,000 (50 %) | 2,000 (50 %) | 1.50 | "
            "1.50 | 1.00 |",
            "| `givens_registers<Embedded>` |",
        )
        self.assertEqual(probes.not_timed("06b_givens"), [])
        share = values.VALUES["batch_share"](None, "06b_givens", "map,arguments+registers,embedded", "1")
        self.assertEqual(share, "50 to 75 %")
        gain = values.VALUES["batch_gain"]
        self.assertEqual(gain(None, "06b_givens", "registers,embedded", "map,arguments", "1"), "50 % faster")
        self.assertEqual(gain(None, "06b_givens", "shared,embedded", "registers,arguments", "1"), "33 % slower")

    def test_a_form_without_times_says_so(self):
        run = run_probe("06b_givens")
        run["results"] = [r for r in run["results"] if not r["form"].startswith("map")]
        for r in run["results"]:
            r.update(gbs=3000.0, pct_copy=75.0)
        self.put("06b_givens", run | GPU)
        lines = tensor_probes.block_transform_measured(None, "06b_givens")
        self.assertIn(
            "Not measured yet: *map, arguments*. `./lab probe tensorcore/06b --time --json FILE` does it.", lines
        )
        with self.assertRaises(NotMeasured):
            values.VALUES["batch_gain"](None, "06b_givens", "map,arguments", "shared,arguments", "1")

    def test_machine_code_of_probes(self):
        """map() at run time puts x[] into local memory, 16 FP16 numbers."""
        self.assertEqual(values.VALUES["probe_code"](None, "06b_givens", "givens_map", "local"), "32")
        self.assertEqual(values.VALUES["probe_code"](None, "06b_givens", "givens_registers<Arguments>", "local"), "0")

    def measure_chip(self, **more):
        """A run of FP16 products on a GPU with 100 SMs."""
        ceilings = {"read_gbs": 4000, "shared_gbs": 30000, "ffma_gflops": 60e3, "hmma_gflops": 600e3}
        results = [
            {"stage": "tensorcore/01_wmma", "state": {"sm_mhz_max": 1500}},
            {"stage": "cublas/fp16", "gflops": 750e3, "state": {"sm_mhz_max": 1400}},
        ]
        run = {"device": "NVIDIA X", "commit": "c", "sm_count": 100, "results": results}
        self.put("h", run | {"ceilings": ceilings | {"tmma_gflops": 300e3} | more.pop("ceilings", {})} | more)
        patch = unittest.mock.patch.object(runs, "MEASURED", self.folder / "tensor_h.json")
        patch.start()
        self.addCleanup(patch.stop)

    def test_specifications(self):
        self.measure_chip()
        lines = tensor.block_tensor_specifications(None)
        self.check_table(lines)
        self.assertEqual(lines[0], "| | V100 (SXM2) | V100S (PCIe) | A100, 40 GB | A100, 80 GB | X, measured |")
        for line in (
            "| SMs | 80 | 80 | 108 | 108 | 100 |",
            "| clock, MHz | 1,380 | 1,597 | 1,410 | 1,410 | 1,500 |",
            "| device memory, GB | 16 or 32 | 32 | 40 | 80 | not measured |",
            "| FP16 without Tensor Cores, TFLOP/s | 31.4 | 32.8 | 39.0 | 39.0 | not measured |",
            "| TF32 on Tensor Cores, TFLOP/s |  |  | 156 | 156 | 300 |",
            "| shared memory's bandwidth over device memory's | 15.7 | 14.4 | 12.5 | 9.6 | 7.5 |",
            "| bytes of device memory per flop, FP32 cores | 0.057 | 0.069 | 0.080 | 0.105 | 0.067 |",
            "| bytes of shared memory per flop, Tensor Cores | 0.126 | 0.131 | 0.062 | 0.062 | 0.050 |",
        ):
            self.assertIn(line, lines)
        self.assertEqual(values.VALUES["chip"](None, "times"), "7.5")
        self.measure_chip(memory_bytes=141e9, sm_shared_bytes=228 * 1024, ceilings={"hfma_gflops": 120e3})
        lines = tensor.block_tensor_specifications(None)
        self.assertIn("| device memory, GB | 16 or 32 | 32 | 40 | 80 | 141 |", lines)
        self.assertIn("| shared memory, KB per SM | about 96 | about 96 | about 164 | about 164 | 228 |", lines)
        self.assertIn("| FP16 without Tensor Cores, TFLOP/s | 31.4 | 32.8 | 39.0 | 39.0 | 120.0 |", lines)

    def test_bounds(self):
        """The paper's 52.0 and 104.0 TFLOP/s, and its 52 %, come out of its Table 1."""
        self.measure_chip()
        lines = tcec.block_tcec_bounds(None)
        self.check_table(lines)
        for line in (
            "| shared memory, n/12 flops per byte (split through it) | 52.0 | 80.0 |",
            "| shared memory, n/4 flops per byte (split in registers) | 155.9 | 240.0 |",
            "| **so at most, through shared memory** | **52.0** | **80.0** |",
            "| **so at most, in registers** | **104.0** | **200.0** |",
            "| of the bound in registers | 52 % | not measured |",
        ):
            self.assertIn(line, lines)
        with self.assertRaises(NotMeasured):
            values.VALUES["tcec_bound"](None, "share")
        speeds = {"12_batched": 50e3, "12_batched:papers": 40e3}
        results = [{"stage": f"tensorcore/{s}", "problem": {"k": 128}, "gflops": speed} for s, speed in speeds.items()]
        self.put("batched", {"device": "a GPU", "commit": "c", "results": results})
        lines = tcec.block_tcec_bounds(None)
        self.assertIn("| of the bound in registers | 52 % | 20 % |", lines)
        self.assertIn("| stage 12, which has 32 x 64 |  | 50.0 |", lines)
        self.assertIn("| through shared memory, at most, with 32 x 64 | 69.3 | 106.7 |", lines)
        self.assertEqual(values.VALUES["tcec_bound"](None, "share"), "25 %")

    def test_accuracy_of_batches(self):
        self.assertEqual(tcec.block_tensor_batched_accuracy(None), runs.NOT_MEASURED)
        results = [
            {"stage": stage, "problem": {"k": k}, "error": {"frobenius": k * 1e-9}}
            for stage in ("tensorcore/12_batched", "cublas/fp32_pedantic")
            for k in (128, 256)
        ]
        run = {"device": "a GPU", "commit": "c", "results": results}
        self.put("batched", run)
        lines = tcec.block_tensor_batched_accuracy(None)
        self.check_table(lines)
        self.assertIn("| 12_batched | 1.3e-07 | 2.6e-07 |", lines)
        self.assertTrue(any("largest relative error of an element: not measured" in line for line in lines))
        for r in results:
            r["error"]["max_relative"] = 0.5
        self.put("batched", run)
        lines = tcec.block_tensor_batched_accuracy(None)
        self.assertIn("| cuBLAS FP32 | 5.0e-01 | 5.0e-01 |", lines)
        self.assertFalse(any("not measured" in line for line in lines))

    def test_maps(self):
        run = json.loads(json.dumps(MAP))
        lanes, found = probes.fragment_grid(run, "b_f16_16x16x16_row")
        self.assertEqual((lanes[0][:3], lanes[2][0], lanes[15][15]), ([0, 4, 8], 1, 31))
        self.assertEqual(found["registers"], 8)
        self.put("04_fragment_map", run | GPU)
        self.assertEqual(tensor_probes.block_fragment_measured(None)[2], "| 51 | 51 | 0 | 0 | pass |")
        self.assertEqual(probes.map_path(), self.folder / "tensor_04_fragment_map.json")
        probes.part(run, "map")[3]["status"] = "fail"
        self.put("04_fragment_map", run | GPU)
        self.assertEqual(tensor_probes.block_fragment_measured(None)[2], "| 51 | 50 | 0 | 1 | pass |")
        self.assertEqual(probe_figures.plan(None)["fragments_f16.svg"][0], [probes.map_path()])


if __name__ == "__main__":
    program = pathlib.Path(sys.argv.pop()) / "gemm"
    unittest.main()
