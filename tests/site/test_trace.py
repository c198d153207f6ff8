#!/usr/bin/env python3
"""./lab trace: of every stage, also one that crashes and a student's own; its accesses are those that --count counts,
and its page is used as a person uses it.

usage: test_trace.py [--stages=REGEX] BIN [TEST ...]
BIN: the folder with the programs gemm and unruly_stage (tests/common/), in a configured build for the CPU executor; and
which stages it was built with
"""

import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import browser

from tools.site import trace as viewer
from tools.site import traces

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "stages"))
from workshop import Workshop  # noqa: E402

gemm = pathlib.Path()  # set at the bottom, from the command line
built = re.compile("")

KINDS = ("global_load", "global_store", "shared_load", "shared_store", "global_atomic", "shared_atomic")
# Ragged, so that lanes of a warp go different ways.
CASES = {
    "sgemm/03_shared_tile": "--m 70 --n 50 --k 45",
    "sgemm/04_conflict_free": "--m 70 --n 50 --k 45",
    "sgemm/09a_float4_loads": "--m 100 --n 130 --k 33",
    "sgemm/13b_swizzle": "--m 150 --n 140 --k 40",
    "tsm/06_transposed": "--m 5 --n 7 --k 333",
    "tensorcore/02_shared_tiles": "--m 70 --n 50 --k 45",
}


def is_built(stage):
    return bool(built.match(stage.partition("/")[2]))


def run(command, stage, *options):
    """What it writes as JSON. A stage's own program is smaller than gemm: addr2line and objdump read it in no time."""
    own = gemm.with_name(stage.replace("/", "_"))
    words = [str(own), *(["trace"] if command == "trace" else [])] if own.exists() else [str(gemm), command, stage]
    words += [*options, "--json", "-"]
    return json.loads(subprocess.run(words, capture_output=True, check=True, text=True).stdout)


def rows_of(trace):
    return [dict(zip(trace["fields"], row, strict=True)) for row in trace["requests"]]


def add_up(trace, sums):
    for row in rows_of(trace):
        site, shape = trace["sites"][row["site"]], trace["shapes"][row["shape"]]
        kind, lanes = sums[f"{site['space']}_{site['access']}"], shape["mask"].bit_count()
        kind["requests"] += 1
        kind["lanes"] += lanes
        kind["bytes"] += lanes * site["bytes"]
        kind["bank_conflicts"] += row["conflicts"]
        for name in ("sectors", "lines", "wavefronts"):
            kind[name] += row[name]


def lane_places(trace, row):
    """Of each lane in the mask the bytes from its object's first."""
    return [row["base"] + offset for offset in trace["shapes"][row["shape"]]["offsets"]]


class Accesses(unittest.TestCase):
    def test_sums_are_what_is_counted(self):
        for stage, size in CASES.items():
            if not is_built(stage):
                continue
            with self.subTest(stage):
                words, sums = [stage, *size.split()], collections.defaultdict(collections.Counter)
                everything = [*words, "--block", "all", "--steps", "10000000"]
                first = run("trace", *everything, "--launch", "1")
                add_up(first, sums)
                for launch in range(2, first["launches"] + 1):
                    add_up(run("trace", *everything, "--launch", str(launch)), sums)
                counts = run("run", *words)["counts"]  # --count would ask nvcc, too
                for kind in KINDS:
                    self.assertEqual({name: sums[kind][name] for name in counts[kind]}, counts[kind], kind)

    def test_first_requests_of_02(self):
        """Block 0, warp 0, k = 0: all lanes read A(0, 0), and lane l reads B(0, l)."""
        trace = run("trace", "sgemm/02_coalesced", "--m", "64", "--n", "96", "--k", "5")
        a, b = rows_of(trace)[:2]
        self.assertEqual([trace["objects"][row["object"]]["name"] for row in (a, b)], ["A", "B"])
        self.assertEqual(lane_places(trace, a), [0] * 32)
        self.assertEqual((a["sectors"], a["lines"], a["wavefronts"], a["conflicts"]), (1, 1, 1, 0))
        self.assertEqual(lane_places(trace, b), [4 * lane for lane in range(32)])
        self.assertEqual((b["sectors"], b["lines"], b["wavefronts"], b["conflicts"]), (4, 1, 1, 0))
        line = trace["sites"][a["site"]]["lines"][0]
        self.assertEqual(line["file"], "stages/02_coalesced.cu")
        code = (ROOT / line["file"]).read_text().split("\n")[line["line"] - 1]
        self.assertIn("sum += a[row * lda + i] * b[i * ldb + col]", code)

    def test_another_block_and_its_limit(self):
        """Block 4 of 2 x 3: its tile of A begins at row 32, of B at column 32; and no more steps than asked for."""
        trace = run("trace", "sgemm/02_coalesced", "--m", "64", "--n", "96", "--k", "5", "--block", "4", "--steps", "7")
        self.assertEqual([block["index"] for block in trace["blocks"]], [4])
        self.assertEqual(len(trace["requests"]), 7)
        self.assertGreater(trace["blocks"][0]["requests"], 7)
        a, b = rows_of(trace)[:2]
        self.assertEqual(lane_places(trace, a), [32 * 5 * 4] * 32)
        self.assertEqual(lane_places(trace, b)[0], 32 * 4)

    def test_conflicts_of_03(self):
        """B's tile is stored down a column of banks: lane l in wavefront l."""
        trace = run("trace", "sgemm/03_shared_tile", "--m", "32", "--n", "32", "--k", "32")
        stores = [row for row in rows_of(trace) if trace["objects"][row["object"]]["name"] == "bs"]
        self.assertEqual((stores[0]["wavefronts"], stores[0]["conflicts"]), (32, 31))
        shape = trace["shapes"][stores[0]["shape"]]
        self.assertEqual(shape["wavefront"], list(range(32)))
        self.assertEqual(shape["turn"], list(range(32)))

    def test_bad_input_is_one_line(self):
        bad = (["--block", "99"], ["--block", "x"], ["--launch", "2"], ["--m", "-1"], ["--steps", "0"], ["--m", "0"])
        for options in bad:
            with self.subTest(options), tempfile.TemporaryDirectory() as folder:
                file = pathlib.Path(folder) / "trace.json"
                words = [str(gemm), "trace", "02", *options, "--json", str(file)]
                ended = subprocess.run(words, capture_output=True, text=True)
                self.assertEqual(ended.returncode, 2)
                self.assertRegex(ended.stderr, r"\Aerror: [^\n]+\n\Z")
                self.assertEqual(list(file.parent.iterdir()), [])


# ---- every stage

# Each form in which a kernel keeps its tiles, a kernel compiled at run time, and one on Tensor Cores.
KINDS_OF_STAGES = (
    "sgemm/03_shared_tile",
    "sgemm/15_async_copies",
    "sgemm/18_summit",
    "tensorcore/07_split_in_shared",
    "tensorcore/11_any_numbers",
    "tensorcore/12_batched",
    "tsm/10_pipeline",
    "tsm/13_tsmm_pipeline",
)
# The arrays of a kernel; of one that holds several tiles what fills each part, in their order.
SHARED_ARRAYS = {
    "sgemm/03_shared_tile": {"as": [], "bs": []},
    "sgemm/10_free_geometry": {"smem": ["from A", "from B"]},
    "sgemm/15_async_copies": {"smem": ["from A", "", "from B", ""]},
    "sgemm/17c_packed_panels": {"smem": ["from workspace", "", "by line"]},
    "sgemm/18_summit": {"smem": ["by line, from B, by line, by line"]},
    "tensorcore/02_shared_tiles": {"as": [], "bs": []},
    "tensorcore/03_pipeline": {"smem": ["from A", "from B", ""]},
    "tensorcore/07_split_in_shared": {"as": [], "bs": [], "parts": []},
    "tensorcore/09_policies": {"as": ["from A"], "bs": ["from B"]},
    "tensorcore/12_batched": {"tiles": ["from A", "from B", "from A", "from B"]},
    "tsm/05_tiles": {"parts": []},
    "tsm/10_pipeline": {"smem": ["from A", "from B", ""]},
    "tsm/13_tsmm_pipeline": {"smem": ["by line", "from A", ""]},
}
MOST_SECONDS, MOST_BYTES = 10, 5_000_000


def shared_arrays(data):
    """As SHARED_ARRAYS has them: lines without their numbers, which change."""
    return {
        each["name"]: [re.sub(r" \d+", "", part["filled"]) for part in each.get("parts", [])]
        for each in data["objects"]
        if each["kind"] == "shared"
    }


def bytes_of(obj):
    if obj["kind"] != "matrix":
        return obj["bytes"]
    return ((obj["rows"] - 1) * obj["ld"] + obj["cols"]) * obj["element_bytes"]


def cost_of(trace, row, places):
    """(sectors, lines) of a request to global memory, from the places of its lanes."""
    size = trace["sites"][row["site"]]["bytes"]
    begins = [(number, trace["objects"][number]["in_line"] + place) for number, place in places]
    sectors = {(number, byte // 32) for number, begin in begins for byte in (begin, begin + size - 1)}
    return len(sectors), len({(number, sector // 4) for number, sector in sectors})


def bank_faults(trace, row, places):
    """Of a request to shared memory: each bank gives one word in a wavefront."""
    shape, size = trace["shapes"][row["shape"]], trace["sites"][row["site"]]["bytes"]
    words = collections.defaultdict(set)
    for wavefront, (number, place) in zip(shape["wavefront"], places, strict=True):
        begin = trace["objects"][number]["in_line"] + place
        for word in range(begin // 4, (begin + size - 1) // 4 + 1):
            words[wavefront, word % 32].add((number, word))
    if max(shape["wavefront"]) + 1 != row["wavefronts"]:
        yield f"{row['wavefronts']} wavefronts, lanes in {sorted(set(shape['wavefront']))}"
    if (max(shape["turn"]) > 0) != (row["conflicts"] > 0):
        yield f"{row['conflicts']} conflicts, turns {shape['turn']}"
    if any(len(each) > 1 for each in words.values()):
        yield "a bank gives two words in one wavefront"


def faults_of(trace):
    """What can't be, in a trace of any stage."""
    seen = set()  # requests that differ in their time only
    for number, row in enumerate(rows_of(trace)):
        site, shape = trace["sites"][row["site"]], trace["shapes"][row["shape"]]
        key = tuple(value for name, value in row.items() if name not in ("block", "warp", "barriers"))
        if key in seen:
            continue
        seen.add(key)
        objects = shape.get("objects", [row["object"]] * len(shape["offsets"]))
        places = list(zip(objects, lane_places(trace, row), strict=True))
        for each, place in places:
            if not 0 <= place <= bytes_of(trace["objects"][each]) - site["bytes"]:
                yield f"request {number}: byte {place} of {trace['objects'][each]['name']}"
        if len(places) != shape["mask"].bit_count() or not places:
            yield f"request {number}: {len(places)} lanes"
        if site["space"] == "shared":
            yield from (f"request {number}: {fault}" for fault in bank_faults(trace, row, places))
            if row["source"] >= 0 and trace["objects"][row["source"]]["kind"] == "shared":
                yield f"request {number}: filled from shared memory"
        elif (row["sectors"], row["lines"]) != cost_of(trace, row, places):
            yield f"request {number}: {row['sectors']} sectors, {row['lines']} lines, not {cost_of(trace, row, places)}"
    for site in trace["sites"]:
        if not site["lines"]:
            yield "a site without a line"
        for line in site["lines"]:
            file = ROOT / line["file"]
            if not file.is_file() or not 1 <= line["line"] <= len(file.read_text().split("\n")):
                yield f"no line {line['file']}:{line['line']}"
    for block in trace["blocks"]:
        if block["requests"] == 0:
            yield f"no access of block {block['index']}"
    if not trace["requests"] or trace.get("defects"):
        yield f"no request, or defects: {trace.get('defects')}"


def page_faults_of(data):
    """What can't be, in what the page is given beyond the trace."""
    for site in data["sites"]:
        if site["lines"][site["shown"]]["file"] not in data["sources"]:
            yield f"no source of {site['lines'][site['shown']]}"
    for obj in data["objects"]:
        for dimension, size in ((obj.get("dimensions"), obj.get("bytes")),) if "dimensions" in obj else ():
            elements = 1
            for each in dimension:
                elements *= each
            if elements * obj["element_bytes"] != size:
                yield f"{obj['name']}: {dimension} is not {size} bytes"
        first = 0
        for part in obj.get("parts", []):
            if part["offset"] != first or part["bytes"] <= 0:
                yield f"{obj['name']}: a part from {part['offset']}, not {first}"
            first += part["bytes"]
        if "parts" in obj and not obj["bytes"] <= first < obj["bytes"] + 4:
            yield f"{obj['name']}: parts of {first} bytes, not {obj['bytes']}"


def cpu_seconds():
    """Of this process and its children that have ended: other work on the machine does not count."""
    return sum(os.times()[:4])


class EveryStage(unittest.TestCase):
    def judge(self, stage):
        with self.subTest(stage):
            begin = cpu_seconds()
            trace = viewer.traced(gemm, stage, [], 60)
            page = viewer.html_of(trace)
            self.assertLess(cpu_seconds() - begin, MOST_SECONDS)
            self.assertLess(len(page.encode()), MOST_BYTES)
            self.assertEqual(trace["stage"], stage)
            data = viewer.data_of(trace)
            self.assertEqual([*faults_of(trace), *page_faults_of(data)][:5], [])
            if stage in SHARED_ARRAYS:
                self.assertEqual(shared_arrays(data), SHARED_ARRAYS[stage])

    def test_one_of_a_kind(self):
        for stage in filter(is_built, KINDS_OF_STAGES):
            self.judge(stage)

    def test_all(self):
        listed = subprocess.run([gemm, "list"], capture_output=True, text=True, check=True).stdout.splitlines()
        stages = [line.split()[0] for line in listed if "(probe)" not in line]
        self.assertLessEqual(set(filter(is_built, {*KINDS_OF_STAGES, *SHARED_ARRAYS, *CASES})), set(stages))
        for stage in stages:
            self.judge(stage)

    def test_a_wrong_trace_is_noticed(self):
        trace = viewer.traced(gemm, "sgemm/03_shared_tile", ["--m", "32", "--n", "32", "--k", "32"], 60)
        self.assertEqual(list(faults_of(trace)), [])
        columns = {name: number for number, name in enumerate(trace["fields"])}
        stored = next(i for i, row in enumerate(rows_of(trace)) if row["conflicts"])
        for name, value, said in (
            ("base", 4096, "byte 4096 of bs"),
            ("wavefronts", 31, "31 wavefronts"),
            ("conflicts", 0, "0 conflicts"),
        ):
            wrong = json.loads(json.dumps(trace))
            wrong["requests"][stored][columns[name]] = value
            self.assertIn(said, " ".join(faults_of(wrong)))
        wrong = json.loads(json.dumps(trace))
        wrong["requests"][0][columns["sectors"]] += 1
        wrong["sites"][0]["lines"][0]["line"] = 9999
        self.assertRegex(" ".join(faults_of(wrong)), r"request 0: \d+ sectors.*no line stages/03_shared_tile.cu:9999")
        wrong["shapes"][wrong["requests"][stored][columns["shape"]]]["wavefront"] = [0] * 32
        self.assertIn("a bank gives two words", " ".join(faults_of(wrong)))

    def test_the_launch_that_multiplies(self):
        """Of 10 it is the second one, though the first, which splits the numbers, has more accesses."""
        if is_built("tensorcore/10_presplit"):
            trace = run("trace", "tensorcore/10_presplit")
            self.assertEqual((trace["launch"], trace["launches"]), (2, 2))
            self.assertIn("multiply", trace["kernel"])


class Endings(unittest.TestCase):
    """A stage that crashes, never ends or can't be traced: one line, and no file."""

    # Of tests/common/unruly_stage.cu, where a line ends with the name of what it does.
    UNRULY = {
        "loop": r"stopped after 1 s in sgemm<\(Way\)\d+>: {thread}",
        "host_loop": r"stopped after 1 s in host code, {line}",
        "overflow": r"stack overflow in sgemm<\(Way\)\d+>: {thread}, a thread's local variables .*",
        "host_throw": r"exception std::runtime_error \(no way\) in host code, {line}",
        "kernel_throw": r"exception std::runtime_error \(no way\) in sgemm<\(Way\)\d+>: {thread}",
        "kernel_divide": r"division by zero, or the like \(SIGFPE\) in sgemm<\(Way\)\d+>: {thread}",
        "null": r"signal SIGSEGV in host code, {line}",
        "host_exit": r"the stage ended the program: it called exit\(\), or the like, in host code, {line}",
        "underscore_exit": r"the stage ended the program: it called _exit\(\), or the like",
        "killed": r"the stage's process was ended by SIGKILL",
        "host_writes": r"device memory is read or written in host code, {line}: that takes a kernel, or cudaMemcpy",
    }

    def ended(self, program, *words):
        """Exit status and standard error of `./lab trace`, which must leave nothing behind."""
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "trace.html"
            command = [sys.executable, "-B", "-m", "tools.site.trace", *words, "--html", page, "--program", program]
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
            self.assertEqual((done.stdout, list(page.parent.iterdir())), ("", []))
        return done.returncode, done.stderr

    def test_every_way_is_told(self):
        source = "tests/common/unruly_stage.cu"
        lines = (ROOT / source).read_text().splitlines()
        for variant, text in self.UNRULY.items():
            with self.subTest(variant):
                at = [i for i, line in enumerate(lines, 1) if line.endswith(f"// {variant}")]
                line = rf"at {source}:{at[0]}" if at else ""
                thread = rf"thread \(\d+, 0, 0\) of block \(\d+, \d+, 0\) {line}"
                said = rf"error: broken/01_unruly:{variant}: " + text.format(line=line, thread=thread)
                words = f"broken/01_unruly:{variant} --m 40 --n 50 --k 20 --timeout 1".split()
                status, error = self.ended(gemm.with_name("unruly_stage"), *words)
                self.assertRegex(error, rf"\A{said}\n\Z")
                self.assertEqual(status, 1)

    def test_what_cannot_be_traced(self):
        for words, said in {
            ("05_scan",): "no stage '05_scan'",
            ("tensorcore/05_scan",): "solves no GEMM",
            ("99",): "no stage '99'",
            ("03", "--m", "0"): "launches no kernel",
            ("03", "--timeout", "-1"): "--timeout takes seconds",
        }.items():
            with self.subTest(words):
                status, error = self.ended(gemm, *words)
                self.assertEqual(status, 2)
                self.assertRegex(error, rf"\Aerror: [^\n]*{re.escape(said)}[^\n]*\n\Z")


class OwnStage(unittest.TestCase):
    """A student's file: C as a textbook has it, with a dynamic array of two tiles under a name of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.text = (ROOT / "tests/fixtures/stages/90_textbook.cu").read_text()

    def program(self):
        return Workshop(gemm.parents[1]).program(self.folder, self.text)

    def test_its_arrays(self):
        trace = viewer.traced(self.program(), "90_mine", [], 60)
        trace = json.loads(json.dumps(trace).replace(f"{self.folder}/", ""))  # as if it lay in the tree
        file = self.folder / "stages" / "90_mine.cu"
        with mock.patch.multiple(viewer, ROOT=self.folder, stage_file=lambda stage: file):
            data = viewer.data_of(trace)
        self.assertTrue(trace["kernel"].startswith("product"))
        self.assertEqual(shared_arrays(data), {"tiles": ["from A", "from B"]})
        parts = next(each["parts"] for each in data["objects"] if each["name"] == "tiles")
        self.assertEqual([part["offset"] for part in parts], [0, 16 * 16 * 4])
        self.assertEqual({site["lines"][site["shown"]]["file"] for site in data["sites"]}, {"stages/90_mine.cu"})
        names = {each["name"]: each["kind"] for each in data["objects"]}
        self.assertEqual(names, {"A": "matrix", "B": "matrix", "tiles": "shared", "workspace": "memory"})
        self.assertIn("90_mine.cu", viewer.title_of(trace) + data["file"])

    def test_a_planted_crash(self):
        before, planted = "  T sum = 0;\n", "  if (tx == 3) sum += 7 / none;\n"
        self.assertEqual(self.text.count(before), 1)
        self.text = self.text.replace(before, f"{before}  volatile int none = 0;\n{planted}")
        line = 1 + self.text[: self.text.index(planted)].count("\n")
        program = self.program()
        with self.assertRaises(SystemExit) as end, mock.patch("sys.stderr") as error:
            viewer.traced(program, "90_mine", [], 60)
        said = "".join(call.args[0] for call in error.write.call_args_list).replace(f"{self.folder}/", "")
        self.assertEqual(end.exception.code, 1)
        self.assertRegex(
            said,
            r"\Aerror: sgemm/90_mine: division by zero, or the like \(SIGFPE\) in product<16, float>: "
            rf"thread \(3, \d+, 0\) of block \(0, 0, 0\) at stages/90_mine.cu:{line}\n\Z",
        )

    def test_a_defect_is_on_the_page(self):
        before = "ab[row * n + col] = sum;"
        self.assertEqual(self.text.count(before), 1)
        self.text = self.text.replace(before, "ab[row * n + col + m * n] = sum;")
        trace = viewer.traced(self.program(), "90_mine", [], 60)
        self.assertRegex(trace["defects"][0], "out of bounds")
        self.assertGreater(len(trace["requests"]), 0)


class Site(unittest.TestCase):
    def test_a_rung_is_named_by_a_whole_sentence(self):
        for number in traces.STAGES:
            self.assertRegex(traces.first_sentence(number), rf"^{number} (?!.*\. ).*\.$")


class Parts(unittest.TestCase):
    """One array, and what filled its words."""

    def parts(self, *pieces):
        words = [text for count, text in pieces for _ in range(count)]
        return [(part["offset"], part["bytes"], part["filled"]) for part in viewer.parts_of(words)]

    def test_two_tiles(self):
        self.assertEqual(self.parts((1024, "from A"), (512, "from B")), [(0, 4096, "from A"), (4096, 2048, "from B")])

    def test_padding_belongs_to_its_tile(self):
        rows = [(32, "from A"), (4, "")] * 16 + [(600, "from B")]
        self.assertEqual(self.parts(*rows), [(0, 16 * 144, "from A"), (16 * 144, 2400, "from B")])

    def test_stages_that_nothing_fills(self):
        self.assertEqual(self.parts((512, "from A"), (1024, "")), [(0, 2048, "from A"), (2048, 4096, "")])
        self.assertEqual(self.parts((512, "from A"), (1024, ""), (512, "from A")), [(0, 8192, "from A")])

    def test_rows_side_by_side(self):
        rows = [(128, "by line 9"), (64, "from B")] * 8
        self.assertEqual(self.parts(*rows), [(0, 8 * 768, "by line 9, from B")])

    def test_too_many_are_one(self):
        rows = [(512, "from A"), (512, "from B")] * 20
        self.assertEqual(self.parts(*rows), [(0, 40 * 2048, "")])


class Declarations(unittest.TestCase):
    def shape(self, text, name, size, kernel="sgemm"):
        return viewer.declared_shape(name, size, [text], kernel)

    def test_constants_of_the_file(self):
        text = "constexpr int TILE = 32, PAD = 1;  // words\n__shared__ float as[TILE][TILE + PAD];"
        self.assertEqual(self.shape(text, "as", 32 * 33 * 4), {"element_bytes": 4, "dimensions": [32, 33]})

    def test_a_template_parameter_follows_from_the_size(self):
        text = "constexpr int TILE_M = 128;\n__shared__ __align__(16) float as[TILE_K][TILE_M];"
        self.assertEqual(self.shape(text, "as", 16 * 128 * 4)["dimensions"], [16, 128])

    def test_parameters_of_the_kernel(self):
        text = """template <class T, int M, int PAD>
          __global__ void __launch_bounds__(32) gemm(const T* a) {
            constexpr int ROW = M + PAD;
            __shared__ T as[4 * ROW], bs[M][M]; }"""
        self.assertEqual(
            self.shape(text, "as", 4 * 72 * 2, "x::gemm<__half, 64, 8>"),
            {"element_bytes": 2, "dimensions": [288], "row": 72},
        )
        self.assertEqual(self.shape(text, "bs", 64 * 64 * 8, "gemm<double, 64, 8>")["dimensions"], [64, 64])

    def test_what_contradicts_the_size_is_not_believed(self):
        self.assertEqual(self.shape("__shared__ float as[8][8];", "as", 1024), {})
        self.assertEqual(self.shape("__shared__ float as[X][Y];", "as", 1024), {})


# A projector's window in CSS pixels: 1920 x 1080 as it is, below a browser's bars, and with letters enlarged by half.
SCREENS = ((1920, 1080), (1920, 940), (1280, 720))
# In the page: what does not fit at nine of its steps.
UNFIT = """() => {
  const found = new Set(), root = document.documentElement, lanes = document.getElementById("lanes");
  const position = document.getElementById("position"), source = document.getElementById("source");
  for (let part = 0; part <= 8; ++part) {
    position.value = Math.round(position.max * part / 8);
    position.oninput();
    const drawn = [...document.querySelectorAll("#figures figure")].filter((figure) => figure.offsetParent);
    if (root.scrollHeight > innerHeight || root.scrollWidth > innerWidth) found.add("the page scrolls");
    if (lanes.scrollHeight > lanes.clientHeight + 1) found.add("lanes out of sight");
    if (source.clientHeight < 100) found.add("no room for the source");
    if (drawn.length < 3) found.add("no drawings");
    if (new Set(drawn.map((figure) => figure.offsetTop)).size > 1) found.add("two rows of drawings");
    for (const figure of drawn) {
      if (figure.firstChild.scrollWidth > figure.offsetWidth + 1) found.add("too long: " + figure.innerText);
    }
  }
  return [...found];
}"""


@unittest.skipIf(browser.SKIP, browser.SKIP)
class Page(unittest.TestCase):
    """As a person uses it: keys, buttons, choices."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.pages = {}
        options = {"03": ["--m", "64", "--n", "64", "--k", "64", "--block", "0", "--block", "3"], "02": []}
        options |= {stage: [] for stage in KINDS_OF_STAGES[1:] if is_built(stage)}
        for stage, words in options.items():
            cls.pages[stage] = pathlib.Path(cls.folder.name) / f"{stage.replace('/', '_')}.html"
            cls.pages[stage].write_text(viewer.html_of(viewer.traced(gemm, stage, words, 60)))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def step(self, page):
        return page.evaluate("+document.documentElement.dataset.step")

    def text(self, page, where):
        return page.inner_text(where)

    def lit_line(self, page):
        return int(page.get_attribute("#source .lit", "data-n"))

    def test_keys(self):
        source = (ROOT / "stages" / "03_shared_tile.cu").read_text().split("\n")
        with browser.opened(self.pages["03"]) as page:
            self.assertIn(
                "Step 1 of 137: warp 0 loads from A, 32 x 4 bytes: 4 sectors in 1 line", self.text(page, "#now")
            )
            self.assertIn("as[ty][tx] =", source[self.lit_line(page) - 1])
            self.assertIn("A(0, 31)", self.text(page, "#lanes"))
            page.keyboard.press("ArrowRight")
            self.assertIn("as[0][31]", self.text(page, "#lanes"))
            page.keyboard.press("c")
            self.assertEqual(self.step(page), 3)
            self.assertIn("32 wavefronts, 31 by bank conflicts", self.text(page, "#now"))
            self.assertEqual(page.locator(".lane.conflict").count(), 31)
            self.assertEqual(page.get_attribute("#cost", "data-rows"), "32")
            page.keyboard.press("l")
            self.assertIn("sum += as[ty][i] * bs[tx][i]", source[self.lit_line(page) - 1])
            # The whole block has filled the tile before the barrier, this warp or not.
            filled = page.evaluate("[...document.querySelectorAll('#figures figure')].map((f) => f.dataset.filled)")
            self.assertEqual(sorted(each or "" for each in filled), ["", "0", "1024", "1024", "1024", "1024"])
            page.keyboard.press("ArrowLeft")
            self.assertEqual(self.step(page), 3)
            page.keyboard.press("End")
            self.assertIn("stores to C", self.text(page, "#now"))
            page.keyboard.press("c")
            self.assertIn("No conflict follows", self.text(page, "#now"))
            page.keyboard.press("Home")
            self.assertEqual(self.step(page), 0)
            page.keyboard.press("ArrowDown")
            self.assertIn("warp 1 loads from A", self.text(page, "#now"))

    def test_play_and_pause(self):
        with browser.opened(self.pages["03"]) as page:
            page.select_option("#speed", "60")
            page.click("#play")
            page.wait_for_function("+document.documentElement.dataset.step >= 5")
            page.click("#play")
            here = self.step(page)
            page.wait_for_timeout(150)
            self.assertEqual(self.step(page), here)
            page.click("#forward")
            page.click("#back")
            page.click("#back")
            self.assertEqual(self.step(page), here - 1)
            page.click("#next-line")
            self.assertGreater(self.step(page), here - 1)
            page.locator("#position").fill("100")
            self.assertIn("Step 101 of", self.text(page, "#now"))

    def test_choices_and_hover(self):
        with browser.opened(self.pages["03"]) as page:
            page.select_option("#block", "1")
            self.assertIn("A(32, 0)", self.text(page, "#lanes"))
            page.select_option("#warp", "all")
            self.assertIn("of 4384", self.text(page, "#now"))
            page.locator("#position").fill("130")
            caption = page.locator("#figures figure", has_text="as[32][32]")
            caption.locator("canvas").hover(position={"x": 2, "y": 2})
            self.assertRegex(self.text(page, "#figures"), r"as\[0\]\[0\]: warp 0, line \d+")

    def test_sectors_are_as_many_as_were_counted(self):
        with browser.opened(self.pages["02"]) as page:
            page.keyboard.press("ArrowRight")
            self.assertIn("4 sectors in 1 line", self.text(page, "#now"))
            last = page.locator(".lane .w").all_inner_texts()
            self.assertEqual(set(last), {"s0", "s1", "s2", "s3"})

    def test_tiles_of_one_array(self):
        """Two stages of A and B: each a drawing, and a load says what filled its words."""
        if not is_built("tensorcore/12_batched"):
            self.skipTest("not built")
        with browser.opened(self.pages["tensorcore/12_batched"]) as page:
            captions = page.locator("#figures figcaption").all_inner_texts()
            self.assertEqual(
                [text.split("\n") for text in captions if "tiles" in text],
                [[f"tiles[{i}..]", f"from {x}"] for i, x in ((0, "A"), (5120, "B"), (7296, "A"), (12416, "B"))],
            )
            while "loads from tiles" not in self.text(page, "#now"):
                page.keyboard.press("l")
            self.assertRegex(self.text(page, "#now"), r"Filled from [AB] by line \d+")
            lit = page.locator("#figures figure.current").all_inner_texts()
            self.assertRegex(lit[0], r"\Atiles\[0\.\.\]\nfrom A")

    def test_every_kind_fits_a_projector(self):
        for stage in KINDS_OF_STAGES[1:]:
            if stage not in self.pages:
                continue
            with self.subTest(stage), browser.opened(self.pages[stage]) as page:
                page.locator("#position").fill("40")
                self.assertGreater(page.locator("figure:visible").count(), 2)
                self.assertEqual(page.locator("#source .lit").count(), 1)
                self.assertEqual(browser.faults_of_texts(page, 0), [])
                self.assertFalse(browser.is_too_wide(page))
                self.assertLessEqual(page.evaluate("document.documentElement.scrollHeight"), 720)

    def test_every_step_fits_a_projector_of_any_size(self):
        """Nothing scrolls but the source, all drawings are one row, and no letters are below 14 pt."""
        for stage, path in self.pages.items():
            for size in SCREENS:
                with self.subTest(stage, size=size), browser.opened(path, size, "projector") as page:
                    self.assertEqual(page.evaluate(UNFIT), [])
                    self.assertEqual(browser.faults_of_texts(page, 14), [])

    def test_drawings_that_are_too_many_are_paged(self):
        with browser.opened(self.many_drawings(), theme="projector") as page:
            self.assertEqual(page.evaluate(UNFIT), [])
            page.keyboard.press("Home")
            self.assertEqual(self.text(page, "#next-page"), "drawings 1/2")
            seen = set()
            for at in (2, 1):
                page.keyboard.press("d")
                self.assertEqual(self.text(page, "#next-page"), f"drawings {at}/2")
                seen |= set(page.locator("figure:visible").evaluate_all("all => all.map((figure) => figure.id)"))
            self.assertEqual(len(seen), page.locator("figure:not([hidden])").count())
            page.keyboard.press("d")
            page.keyboard.press("ArrowRight")  # to the drawing of this access
            self.assertEqual(page.locator("figure.current:visible").count(), 1)
            page.set_viewport_size({"width": browser.PHONE[0], "height": browser.PHONE[1]})
            self.assertFalse(page.is_visible("#next-page"))

    def many_drawings(self):
        """A page of 03 whose tile of A counts as twelve, each with a long name of its own."""
        trace = viewer.traced(gemm, "sgemm/03_shared_tile", ["--m", "32", "--n", "32", "--k", "32"], 60)
        part = {"bytes": 32 * 32 * 4 // 12, "filled": "from A"}
        tile = next(each for each in trace["objects"] if each["name"] == "as")
        tile["bytes"] = 12 * part["bytes"] + 4
        tile["parts"] = [part | {"offset": i * part["bytes"]} for i in range(12)]
        data = viewer.data_of(trace)
        path = pathlib.Path(self.folder.name) / "many.html"
        with mock.patch.object(viewer, "data_of", return_value=data):
            path.write_text(viewer.html_of(trace))
        return path

    def test_all_can_be_read(self):
        with browser.opened(self.pages["03"]) as page:
            page.keyboard.press("c")
            for theme, least in (("light", 0), ("dark", 0), ("projector", 14)):
                self.assertEqual(page.get_attribute("html", "data-theme"), theme)
                for width, height in (browser.PHONE, browser.PROJECTOR):
                    page.set_viewport_size({"width": width, "height": height})
                    with self.subTest(width=width, theme=theme):
                        self.assertEqual(browser.faults_of_texts(page, least), [])
                        self.assertFalse(browser.is_too_wide(page))
                self.assertLessEqual(page.evaluate("document.documentElement.scrollHeight"), 720, theme)
                page.click("#theme")


if __name__ == "__main__":
    words = sys.argv[1:]
    if words[0].startswith("--stages="):
        built = re.compile(words.pop(0).removeprefix("--stages="))
    gemm = pathlib.Path(words[0]).resolve() / "gemm"
    unittest.main(argv=[sys.argv[0], *words[1:]])
