#!/usr/bin/env python3
"""tools/measure/counters.py, with a program in Nsight Compute's place, and what is told of its numbers beside the
executor's."""

import os
import pathlib
import re
import stat
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from tools.measure import counters
from tools.pages.blocks import counts
from tools.repository import ROOT

# A kernel's name stands before the bracket of its parameters.
KERNEL = re.compile(r"^[^/\n]*__global__ void (?:__launch_bounds__\([^{;]*?\)\s+(?://.*\s+)?)?(\w+)\(", re.M)
NCU = """#!/usr/bin/env python3
import sys
if "--fail" in sys.argv:
    sys.exit("==ERROR== no kernels were profiled")
metrics = sys.argv[sys.argv.index("--metrics") + 1].split(",")
print("==PROF== Connected to process 1")
print("right: this is what the program itself prints")
rows = [["Kernel Name", "Grid Size", "Block Size", *metrics], ["", "", "", *["inst"] * len(metrics)]]
for kernel, value in (("scan_registers", 0), ("scan_shared", 64), ("scan_shared", 1048)):
    name = f"{kernel}<(bool)1>(const __half *, float *, long)"
    rows.append([name, "(8, 1, 1)", "(128, 1, 1)", *[f"{value:,}"] * len(metrics)])
for row in rows:
    print(",".join(f'"{cell}"' for cell in row))
"""


class Counters(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        ncu = pathlib.Path(folder.name, "ncu")
        ncu.write_text(NCU)
        ncu.chmod(ncu.stat().st_mode | stat.S_IXUSR)
        path = os.environ["PATH"]
        os.environ["PATH"] = f"{folder.name}{os.pathsep}{path}"
        self.addCleanup(os.environ.__setitem__, "PATH", path)

    def test_probes(self):
        counted = counters.profile_probe(["lab"], "tensorcore/05")
        self.assertEqual(set(counted), {"scan_registers<(bool)1>", "scan_shared<(bool)1>"})
        names = {"shared_load_requests", "shared_store_requests", "shared_load_wavefronts", "shared_store_wavefronts"}
        self.assertEqual(counted["scan_registers<(bool)1>"], {"launches": 1, **dict.fromkeys(names, 0)})
        self.assertEqual(counted["scan_shared<(bool)1>"], {"launches": 2, **dict.fromkeys(names, 1048)})

    def test_launches(self):
        launches = counters.read_launches(["lab", "ladder"], ["sm__cycles_elapsed.avg"], 3)
        self.assertEqual([launch[:2] for launch in launches], [([8, 1, 1], [128, 1, 1])] * 3)
        self.assertEqual(launches[2][2], {"sm__cycles_elapsed.avg": 1048})

    def test_failures_are_said(self):
        with self.assertRaises(SystemExit) as told:
            counters.read_launches(["lab", "--fail"], ["sm__cycles_elapsed.avg"], 1)
        self.assertIn("no kernels were profiled", str(told.exception))

    def kernels(self, *patterns):
        found = {}
        for pattern in patterns:
            for path in ROOT.glob(pattern):
                found |= {name: path.name for name in KERNEL.findall(path.read_text())}
        return found

    def test_every_kernel_of_a_stage_is_asked_for(self):
        """By name: one that is left out has no bytes."""
        probes = ("04_", "05_", "06a_", "06b_")
        own = self.kernels("stages/[0-9]*.cu", "stages/*/*.cuh", "common/kernel/pad.cuh", "tensorcore/presplit/*.cuh")
        own |= self.kernels("tests/executor/prototype_kernels.cu", "tensorcore/pipeline/*.cuh")
        own |= {n: file for n, file in self.kernels("tensorcore/[0-9]*.cu").items() if not file.startswith(probes)}
        harness = self.kernels("common/backend/gpu/*.cu", "common/check/*.cu")
        self.assertLessEqual({"sgemm", "pack", "pack_chunks", "pad", "split_operands"}, set(own))
        self.assertIn("fill_kernel", harness)
        asked = re.compile(counters.KERNELS.removeprefix("regex:"))
        self.assertEqual({name: file for name, file in own.items() if not asked.search(name)}, {})
        self.assertEqual({name: file for name, file in harness.items() if asked.search(name)}, {})

    def test_the_products_kernel_counts(self):
        split = {"gpu__time_duration.sum": 100.0, "sm__inst_executed_pipe_tensor_op_hmma.sum": 0}
        product = {"gpu__time_duration.sum": 900.0, "sm__inst_executed_pipe_tensor_op_hmma.sum": 192}
        self.assertEqual(counters.merge([split, product]), {"ns": 900.0, "hmma": 192, "kernels": 2, "other_ns": 100.0})
        split["dram__bytes_read.sum"], product["dram__bytes_read.sum"] = 4096.0, 65536.0
        merged = counters.merge([split, product, split])
        self.assertEqual((merged["dram_read_bytes"], merged["other_dram_read_bytes"]), (65536.0, 8192.0))
        self.assertEqual(counters.merge([product])["dram_read_bytes"], 65536.0)

    def test_merged_means_that_nothing_else_differs(self):
        """17c loads less because the GPU divides k by its own number of SMs, and stores other parts."""
        same = {"executor": 64, "ncu": 64}
        kernel = dict.fromkeys(("global_load_requests", "global_store_requests", "shared_store_requests", "fma"), same)
        kernel["shared_load_requests"] = kernel["shared_load_wavefronts"] = {"executor": 128, "ncu": 40}
        self.assertEqual(counts.difference("shared_load_wavefronts", kernel), "merged by nvcc")
        kernel["global_store_requests"] = {"executor": 64, "ncu": 512}
        self.assertEqual(counts.difference("shared_load_requests", kernel), "differs")

    def test_stages_and_variants_by_name(self):
        stages = ["sgemm/10_free_geometry", "sgemm/11a_share_b"]
        self.assertEqual(
            counters.forms_of(stages, "10,12,11a:unshared"), ["sgemm/10_free_geometry", "sgemm/11a_share_b:unshared"]
        )
        self.assertEqual(counters.forms_of(stages, ""), [])

    def test_the_page_explains_each_difference(self):
        """docs/concepts/counts.md has a paragraph for each stage that differs from the executor's counts."""
        page = (ROOT / "docs" / "concepts" / "counts.md").read_text()
        rows = re.findall(r"^\| sgemm/(\w+?)_\w+ \|.*\| ([^|]*) \|$", page, re.M)
        differ = {stage for stage, why in rows if "differs" in why}
        explained = {
            name for names in re.findall(r"^\* \*\*([\w, ]+)\.\*\* ", page, re.M) for name in names.split(", ")
        }
        self.assertEqual(differ - explained, set())
        self.assertEqual(differ, explained & {stage for stage, _ in rows})


if __name__ == "__main__":
    unittest.main()
