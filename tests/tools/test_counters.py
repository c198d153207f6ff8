#!/usr/bin/env python3
"""tools/measure/counters.py, with a program in Nsight Compute's place."""

import os
import pathlib
import stat
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from tools.measure import counters

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

    def test_the_products_kernel_counts(self):
        split = {"gpu__time_duration.sum": 100.0, "sm__inst_executed_pipe_tensor_op_hmma.sum": 0}
        product = {"gpu__time_duration.sum": 900.0, "sm__inst_executed_pipe_tensor_op_hmma.sum": 192}
        self.assertEqual(counters.merge([split, product]), {"ns": 900.0, "hmma": 192, "kernels": 2, "other_ns": 100.0})

    def test_stages_and_variants_by_name(self):
        stages = ["sgemm/10_free_geometry", "sgemm/11a_share_b"]
        self.assertEqual(
            counters.forms_of(stages, "10,12,11a:unshared"), ["sgemm/10_free_geometry", "sgemm/11a_share_b:unshared"]
        )
        self.assertEqual(counters.forms_of(stages, ""), [])


if __name__ == "__main__":
    unittest.main()
