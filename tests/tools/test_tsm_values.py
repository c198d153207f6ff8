#!/usr/bin/env python3
"""The marked numbers of the tall & skinny pages, from records that are made up: what is looked up where, and what the
probe of bandwidth says of bytes in flight."""

import json
import pathlib
import tempfile
import unittest

from tools.experiments.tsm_cases import PRODUCTS
from tools.pages import tsm_values as values
from tools.pages.blocks import tsm as blocks
from tools.pages.data import Data, NotMeasured
from tools.pages.figures import tsm as figures
from tools.pages.records import probes, tensor_tsm, tsm
from tools.pages.values import VALUES
from tools.repository import read_json

SMS, CEILING = 100, 4000.0


def loaded(warps, gbs, word=8, ilp=1):
    return {
        "word_bytes": word,
        "ilp": ilp,
        "warps_per_sm": warps,
        "bytes_in_flight_per_sm": max(warps, 4) * 32 * word * ilp,
        "gbs": gbs,
        "state": {"sm_mhz_max": 2000},
    }


BANDWIDTH = {
    "device": "a GPU",
    "commit": "c0ffee",
    "timed": True,
    "sm_count": SMS,
    "ceilings": {"read_gbs": CEILING},
    # 102.4 kB in flight of all SMs over 200 ns are 512 GB/s; 1.6 MB over 512 ns are 3200.
    "results": [loaded(0, 3.0), loaded(4, 512.0), loaded(64, 3200.0), loaded(8, 700.0, ilp=2), loaded(4, 900.0, 16)],
}


def timed(stage, m, k, gbs, ms, registers, kind="d", **more):
    return {
        "stage": stage,
        "problem": {"m": m, "n": m, "k": k, "type": {"d": "double", "z": "double complex"}[kind]},
        "time_ms": {"median": ms},
        "gbytes_s": gbs,
        "gflops": 10 * gbs,
        "pct_roofline": gbs / 40,
        "launches": [{"grid": [200, 1, 1], "registers": 12}, {"grid": [200, 1, 1], "registers": registers}],
        **more,
    }


OPTIONS = {"tile_m": 8, "tile_n": 4, "unroll": 2, "threads": 256, "leapfrog": True}
RESULTS = [
    timed("tsm/05_tiles", 64, 10_000, 100.0, 0.02, 188),
    timed("tsm/05_tiles", 64, 8_388_608, 800.0, 10.0, 188),
    timed("tsm/06_transposed", 64, 8_388_608, 1000.0, 8.0, 186),
    {"stage": "tsm/06_transposed", "problem": {"m": 32, "n": 32, "k": 8_388_608}, "reason": "takes too long"},
    timed("tsm/09_generated", 64, 8_388_608, 2560.0, 4.0, 250, kernel_options=OPTIONS),
]


def series(name, m, share, ms=1.0, kind="d", k=1000, **more):
    same = {"series": name, "type": kind, "m": m, "n": m, "k": k, "ms": ms}
    return same | {"pct_roofline": share, "gflops": 10 * share} | more


E3 = [
    series(name, m, share)
    for m, shares in ((8, (90, 91, 80, 84)), (16, (70, 60, 65, 61)), (64, (43, 28, 30, 31)))
    for name, share in zip(("on, on", "on, off", "off, on", "off, off"), shares)
]
E3 = [{**r, "series": "leapfrog " + r["series"].replace(", ", ", transposed ")} for r in E3]


class Values(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for module, name in ((probes, "MEASURED"), (tsm, "RESULTS"), (tsm, "EXPERIMENTS")):
            self.addCleanup(setattr, module, name, getattr(module, name))
            setattr(module, name, self.folder)
        self.data = Data()
        self.write("bandwidth", BANDWIDTH)
        self.write("tsm_d", {"ceilings": {"read_gbs": CEILING}, "results": RESULTS})
        on = {"executor": False, "device": "NVIDIA H100", "commit": "beef"}
        self.write("E3", {**on, "ceilings": {"dfma_gflops": 1000}, "results": E3})

    def write(self, name, record):
        (self.folder / f"{name}.json").write_text(json.dumps(record))

    def value(self, spec):
        name, *arguments = spec.split()
        return VALUES[name](self.data, *arguments)

    def test_stages(self):
        self.assertEqual(self.value("tsm tsm/05 d 64 gbs"), "800")
        self.assertEqual(self.value("tsm tsm/05 d 64 gbs 10000"), "100")
        self.assertEqual(self.value("tsm tsm/05 d 64 us 10000"), "20")
        self.assertEqual(self.value("tsm tsm/05 d 64 tflops"), "8.00")
        self.assertEqual(self.value("tsm tsm/05 d 64 roofline"), "20.0 %")
        self.assertEqual(self.value("tsm tsm/05 d 64 bandwidth"), "20.0 %")
        self.assertEqual(self.value("tsm tsm/05 d 64 registers"), "188")
        self.assertEqual(self.value("tsm_ratio tsm/05 tsm/06 d 64"), "1.25")
        # 1 KB of each of 100 SMs at 1000 GB/s; two of 10,000 rows in 20 us.
        self.assertEqual(self.value("turn tsm/06 d 64 1000"), "100")
        self.assertEqual(self.value("wait tsm/05 d 64 10000 2"), "4")

    def test_what_is_not_there(self):
        for spec in ("tsm tsm/06 d 32 gbs", "tsm tsm/05 z 64 gbs", "tsm tsm/05 d 4 gbs", "share E4 d 8 a"):
            self.assertRaises(NotMeasured, self.value, spec)
        for spec in ("tsm tsm/05 q 64 gbs", "tsm tsm/05 d 64 nothing", "under_load 4096 gbps", "share E3 d 8 leapfrog"):
            self.assertRaises(KeyError, self.value, spec)
        (self.folder / "bandwidth.json").unlink()
        self.assertRaises(NotMeasured, self.value, "under_load full ns")
        self.assertEqual(
            sorted(figures.plan(self.data)), ["tsm_cuboid.svg", "tsm_maps.svg", "tsmm_cuboid.svg"], "none of latency"
        )

    def test_latency_under_load(self):
        """Only loads of 8 bytes, one of a thread, on all SMs."""
        memory = tsm.memory()
        self.assertEqual(memory.points, [(1024.0, 512.0), (16384.0, 3200.0)])
        self.assertEqual(memory.ghz, 2.0)
        self.assertEqual(self.value("under_load 1024 ns"), "200")
        self.assertEqual(self.value("under_load 512 ns"), "200")
        self.assertEqual(self.value("under_load 1024 cycles"), "400")
        self.assertEqual(self.value("under_load full ns"), "512")
        self.assertEqual(self.value("under_load full kb"), f"{512 * CEILING / SMS / 1e3:.1f}")
        # Half way between the two points, and beyond them: the latency of the last, up to the ceiling.
        self.assertEqual(self.value("under_load 8704 gbs"), "1,856")
        self.assertEqual(self.value("under_load 18432 gbs"), "3,600")
        self.assertEqual(self.value("under_load 100000 gbs"), "4,000")
        # 200 ns of waiting and 100 of work: two thirds of 512 GB/s; at half the rate, half.
        self.assertEqual(self.value("with_work 1024 200"), "341")
        self.assertEqual(self.value("with_work 1024 200 0.5"), "256")
        self.assertEqual(self.value("latencies 1024 8"), "1,600")
        self.assertEqual(self.value("waits 4 1024"), "0.8")
        self.assertEqual(self.value("twice 1024"), "1,024")

    def test_experiments(self):
        self.assertEqual(self.value("share E3 d 64 leapfrog on, transposed on"), "43.0 %")
        self.assertEqual(self.value("slowest E3 d 0 leapfrog off, transposed on"), "1 of 3")
        self.assertEqual(self.value("slowest E3 d 5 leapfrog off, transposed on"), "0 of 3")
        self.assertEqual(self.value("slowest E3 d 0 leapfrog on, transposed off"), "2 of 3")
        self.assertEqual(self.value("slowest_by E3 d leapfrog off, transposed on"), "4")
        self.write("E12", {"executor": False, "results": [series(name, 32, 10 * int(name)) for name in "1248"]})
        self.assertEqual(self.value("earlier E12 d 32 1,2,8"), "10, 20 and 80 %")
        self.assertEqual(self.value("earlier E12 d 32 4"), "40 %")
        self.assertRaises(KeyError, self.value, "earlier E12 d 64 4")
        self.assertRaises(NotMeasured, self.value, "earlier E11 d 32 4")
        tiles = [{**series(f"{side} x 4", 32, 20 * side), "options": {"tile_m": side, "tile_n": 4}} for side in (2, 8)]
        self.write("E4", {"executor": False, "results": tiles})
        self.assertEqual(self.value("earlier_best E4 d"), "8 x 4, with 1.60 TFLOP/s")
        self.assertEqual(self.value("earlier E4 d 32 2 x 4"), "40 %")

    def test_lengths(self):
        self.addCleanup(setattr, tsm, "LENGTHS", tsm.LENGTHS)
        tsm.LENGTHS = self.folder / "lengths.json"
        self.assertRaises(NotMeasured, self.value, "length_ratio 64 1000")
        times = (("tsm/09_generated", 2.0), ("tsm/14_best", 3.0))
        results = [timed(s, 64, 1000, 1.0, ms, 1, kernel_stage="tsm/13b_tensor_cores") for s, ms in times]
        self.write("lengths", {"device": "a GPU", "commit": "c", "results": results})
        self.assertEqual(self.value("length_ratio 64 1000"), "1.50")
        self.assertEqual(blocks.block_tsm_lengths(self.data)[2], "| 1,000 | 1.50 (13b) |")

    def test_variants_in_complex(self):
        for name, kind in (("FORMS", "d"), ("FORMS_Z", "z")):
            self.addCleanup(setattr, tsm, name, getattr(tsm, name))
            setattr(tsm, name, self.folder / f"{name}.json")
            results = [
                timed(f"tsm/{n}", 64, 1000, 1.0, ms, 1, kind) for n, ms in (("06_transposed", 4.0), ("07_leap", 2.0))
            ]
            self.write(name, {"device": "a GPU", "commit": kind, "results": results[: 2 if kind == "d" else 1]})
        self.assertEqual(self.value("form 64 1000 tsm/06 tsm/07"), "2.00")
        self.assertRaises(KeyError, self.value, "form 64 1000 tsm/06 tsm/07 z")
        lines = blocks.block_tsm_forms(self.data, "tsm/06")
        self.assertEqual(
            [line for line in lines if "`" in line],
            ["| double: M = N, K | `tsm/06` |", "| complex: M = N, K | `tsm/06` |"],
        )
        self.assertEqual(blocks.block_tsm_forms(self.data, "tsm/07").count("| 64, 1,000 | 2,000 |"), 1)

    def test_searches(self):
        tiles = [
            series(f"{tm} x {tn}", 32, 0, kind=kind, options={"tile_m": tm, "tile_n": tn})
            for kind, tm, tn in (("d", 32, 1), ("d", 8, 8), ("z", 4, 8), ("d", 16, 16))
        ]
        self.write("E4", {"executor": False, "results": tiles})
        # 16 x 16 has more than twice the registers that there are; the paper's M x 1 of figure 8 is one of the others.
        self.assertEqual(self.value("tiles_tried E4"), "3 of 728")
        models = [{"stage": "tsm/12_tsmm_generated", "pruned_loses": loses} for loses in (0.2, 0.014)]
        sizes = [{"models": [model]} for model in models]
        before = values.GPU
        self.addCleanup(setattr, values, "GPU", before)
        values.GPU = self.folder
        self.assertRaises(NotMeasured, self.value, "model_loses tsm/12")
        self.write("tsm_exhaustive", {"sizes": sizes})
        self.assertEqual(self.value("model_loses tsm/12"), "1.4 to 20.0 %")
        self.write("tsm_exhaustive", {"sizes": sizes[:1]})
        self.assertEqual(self.value("model_loses tsm/12"), "20.0 %")
        rows = [(1, 1, 1), (6, 6, 1), (4, 4, 1), (8, 8, 4), (3, 4, 1)]
        kernels = [
            {
                "op": "tsmm",
                "type": "d",
                "m": m,
                "n": n,
                "stage": "tsm/12_tsmm_generated",
                "options": {"threads_per_row": t},
            }
            for m, n, t in rows
        ]
        self.write("tuned", {"kernels": kernels})
        self.addCleanup(setattr, values, "TUNED", values.TUNED)
        values.TUNED = self.folder / "tuned.json"
        self.assertEqual(self.value("tuned_alone d"), "1, 4 and 6")

    def test_one_set_of_rows_is_in_flight(self):
        """Tiles of 8 x 4 are 128 threads for C, so two slices a block, and 200 blocks are two for each SM: four slices
        with two rows of 1 KB each, half of what leapfrogging holds."""
        line = blocks.block_tsm_in_flight(self.data, "tsm/09")[-1]
        gbs = 512 + (8192 - 1024) / (16384 - 1024) * (3200 - 512)
        self.assertEqual(line, f"| double | 64 | 8 x 4, 2 | 8 KB | {gbs:,.0f} | 2,560 | {2560 / gbs:.2f} |")

    def test_two_warps(self):
        """Ernst et al., section 5.3: two warps of 352 cycles and 664 of waiting; tests/stages/test_tsm.cpp has the same
        by the model."""
        self.assertEqual(tsm.example_registers(1), 230)
        self.assertAlmostEqual(tsm.two_warps_gpus()[0][1], 664, delta=0.5)
        by_turns, overlapped = tsm.two_warps_shares(False), tsm.two_warps_shares(True)
        self.assertAlmostEqual(by_turns[0], 2 * 352 / (352 + 664), delta=0.001)
        self.assertEqual(overlapped[0], 1)
        # Five slices of 1 KB, of which the probe here says 200 to 512 ns at 2 GHz.
        wait = tsm.memory().ns(5 * 1024) * 2
        self.assertAlmostEqual(by_turns[1], 352 / (176 + wait))
        self.assertAlmostEqual(overlapped[1], 352 / wait)
        table = blocks.block_tsm_two_warps(self.data)
        self.assertIn("| so a warp multiplies for, cycles | 352 | 176 |", table)
        self.assertIn("| measured, the best with leapfrogging | 67.4 % | 43.0 % |", table)
        self.assertIn("| measured, the best without leapfrogging | - | 31.0 % |", table)

    def test_tensor_cores_beside_plain_ones(self):
        """The best kernel was timed on 16 times as many rows as single stages."""
        stages = {"tsm/10_pipeline": {"ms": 0.2}, "tsm/13b_tensor_cores": {"ms": 0.1}}
        entry = {"type": "d", "m": 32, "n": 32, "k": 1 << 24, "best": {"ms": 1.6, "pct_roofline": 90}, "stages": stages}
        self.assertEqual(tensor_tsm.shares({"sizes": [entry]}, "d"), {32: (45.0, 90.0)})
        for op in PRODUCTS:
            of = tensor_tsm.shares(read_json(tensor_tsm.report_path(op)), "d")
            self.assertTrue(all(30 < share < 130 for both in of.values() for share in both), of)

    def test_loaded_table(self):
        lines = blocks.block_tsm_loaded(self.data)
        self.assertEqual([lines[2], lines[-1]], ["| 1,024 | 512 | 200 | 400 |", "a GPU, commit c0ffee."])


class Cuboids(unittest.TestCase):
    """Which thread has which cells: as the kernels deal them out."""

    def test_each_cell_has_a_thread(self):
        for cuboid in figures.tsmttsm_cuboids() + figures.tsmm_cuboids():
            (_, across), (_, down), (_, back) = cuboid.across, cuboid.down, cuboid.back
            owners = [cuboid.owner(x, y, z) for x in range(across) for y in range(down) for z in range(back)]
            self.assertEqual(set(owners), set(range(max(owners) + 1)), cuboid.title)
            counts = {owners.count(owner) for owner in set(owners)}
            self.assertEqual(len(counts), 1, f"{cuboid.title}: as much for each thread")

    def test_sums(self):
        """TSMTTSM's sums are cut across K. TSMM's, along M, are in one thread."""
        for cuboid in figures.tsmttsm_cuboids():
            self.assertNotEqual(cuboid.owner(0, 0, 0), cuboid.owner(0, 0, 1))
        for cuboid in figures.tsmm_cuboids():
            self.assertEqual(len({cuboid.owner(1, 1, z) for z in range(cuboid.back[1])}), 1)


if __name__ == "__main__":
    unittest.main()
