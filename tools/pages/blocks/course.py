"""The course's assignments and plans, and the format of its rubrics, for docs/course.md."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import re
from typing import TYPE_CHECKING

from tools.pages.data import Data, NotMeasured, Unreadable
from tools.repository import CPU, DOCS, GPU, newest, read_json_if_there
from tools.tables import table

if TYPE_CHECKING:
    from tools.course.assignment import Assignment

KINDS = {
    "builds": ("the files can be read, and they compile", ""),
    "rules": ("nothing in them is forbidden", ""),
    "right": ("the result is right; a share of the points per problem", "`problems` or `hidden`"),
    "clean": ("no defect is found on any problem of the kind `right`: no race, no access out of bounds", ""),
    "count": ("a metric of the executor's counts", "`metric`, `at`, `full`, `none`, perhaps `least` and `needs`"),
    "reproducible": ("four runs on one problem give the same bits", "`at`"),
    "speed": ("the time on a GPU, compared with the solution's; without a GPU listed, and not added", "`at`"),
    "manual": ("graded by the teacher: listed, never added to the points", ""),
}
METRICS = {
    "cycles_per_fma": "cycles of the memory pipes per warp-wide FMA",
    "conflicts_per_fma": "bank conflicts of shared loads and stores per warp-wide FMA",
    "requests_per_fma": "requests of global and shared loads per warp-wide FMA",
    "barriers_per_block": "barriers per block",
    "bytes_over_compulsory": "bytes of the sectors moved, divided by what any kernel must move",
    "tensor_share": "share of the operations that Tensor Cores do",
    "tensor_flops_over_needed": "operations on Tensor Cores, divided by those that the product takes",
    "other_flops_over_needed": "operations elsewhere, divided by those that the product takes",
    "shared_bytes_per_block": "bytes of shared memory per block",
    "most_sectors_of_a_block": "different sectors of global memory that one block touches, of the block with the most",
}
PARTS = {
    "requests": "requests of warps",
    "sectors_per_request": "sectors of 32 bytes per request",
    "conflicts_per_request": "bank conflicts per request",
    "requests_per_fma": "requests per warp-wide FMA",
}
# What is taught, which assignments go with it (those that exist are shown), and what to show in the lecture.
WEEKS: list[tuple[str, tuple[str, ...], tuple[str, ...], str]] = [
    ("how a GPU works", ("concepts/gpu", "stages/01_naive", "your_first_stage"), (), "./lab run 01 --cpu --count"),
    ("coalescing", ("stages/02_coalesced", "concepts/counts"), ("sgemm/01_coalesce",), "./lab compare 01 02"),
    ("shared memory", ("stages/03_shared_tile",), ("sgemm/02_tile",), "./lab trace 03 --html trace.html"),
    ("bank conflicts", ("stages/04_conflict_free",), ("sgemm/03_conflicts",), "./lab compare 03 04"),
    (
        "finding mistakes",
        ("concepts/checking", "concepts/mistakes"),
        ("debug/01_bounds", "debug/02_race", "debug/03_rows", "debug/04_divergent_barrier", "debug/05_wrong_reduction"),
        "./lab check 03 --quick",
    ),
    (
        "per-thread tiles",
        ("stages/05_thread_2x2", "stages/07_register_tile"),
        ("sgemm/04_register_tile",),
        "./lab compare 05 07",
    ),
    (
        "vector loads",
        ("stages/08b_neighbouring_outputs", "stages/09a_float4_loads", "stages/09b_vector_shared_loads"),
        ("sgemm/05_vectorise",),
        "./lab trace 09b --html trace.html",
    ),
    (
        "warp tiles and swizzles",
        ("stages/12_warp_tiles", "stages/13b_swizzle"),
        ("sgemm/07_odd_sizes",),
        "./lab compare 12 13b",
    ),
    (
        "overlap",
        ("stages/14_register_double_buffer", "stages/14b_async_words", "stages/15_async_copies"),
        ("sgemm/06_double_buffer",),
        "./lab diff 15 --html diff.html",
    ),
    (
        "tall & skinny products",
        ("tsm/02_split_k", "tsm/04b_square_tiles", "tsm/05_tiles"),
        ("tsm/01_split_k", "tsm/02_tiles"),
        "./lab compare tsm/01 tsm/02",
    ),
    (
        "waves and reductions",
        ("stages/17b_stream_k", "tsm/08_reductions"),
        ("tsm/03_reproducible",),
        "./lab diff tsm/08 --html diff.html",
    ),
    (
        "Tensor Cores",
        ("concepts/tensor_cores", "tensorcore/01_wmma", "tensorcore/07_split_in_shared"),
        ("tensorcore/01_wmma", "tensorcore/02_fragment_map", "tensorcore/03_split"),
        "./lab compare tensorcore/01 tensorcore/02",
    ),
]
LECTURES: list[tuple[str, tuple[str, ...], tuple[str, ...], str]] = [
    (
        "memory of the whole GPU",
        ("concepts/gpu", "stages/01_naive", "stages/02_coalesced"),
        ("sgemm/01_coalesce",),
        "./lab compare 01 02",
    ),
    (
        "memory of a block",
        ("stages/03_shared_tile", "stages/04_conflict_free"),
        ("sgemm/02_tile", "sgemm/03_conflicts"),
        "./lab trace 03 --html trace.html",
    ),
    (
        "registers and overlap",
        ("stages/07_register_tile", "stages/09b_vector_shared_loads", "stages/15_async_copies"),
        ("sgemm/04_register_tile",),
        "./lab compare 04 07",
    ),
]


def course() -> list[Assignment]:
    """Those that have a text for students. Rubrics need what not every machine has: there the page stays as it is."""
    if not importlib.util.find_spec("yaml"):
        raise Unreadable
    from tools.course.assignment import assignments

    return [found for found in assignments() if (found.folder / "assignment.md").exists()]


def link(name: str) -> str:
    """To a page of docs/, by its title."""
    title = (DOCS / f"{name}.md").read_text().partition("\n")[0].removeprefix("# ")
    number = pathlib.PurePath(name).name.partition("_")[0]
    family = name.partition("/")[0]
    if number[:2].isdecimal():
        title = number if family == "stages" else f"{family}/{number}"
    return f"[{title}]({name}.md)"


def assignment_link(found: Assignment) -> str:
    return f"[{found.id}](../course/{found.id}/assignment.md)"


def lesson(found: Assignment) -> tuple[str, str]:
    """What its text says that is learned, and the first page that it leads to."""
    text = (found.folder / "assignment.md").read_text()
    learned = " ".join(text.split("\n\n")[1].split())
    learned = re.sub(r"^You learn (.*?)\.(?= |$).*", r"\1", learned)
    pages = re.findall(r"\]\(([^)#]*/docs/[^)#]*)\.md", text)
    page = os.path.relpath(found.folder / pages[0], DOCS) if pages else ""
    return learned, link(page) if page else ""


def block_course_assignments(_: Data) -> list[str]:
    rows = []
    for found in course():
        learned, page = lesson(found)
        rows.append([assignment_link(found), found.title, learned, f"{found.graded():g}", page])
    return table(
        ["assignment", "title", "students learn", "points", "page"],
        rows,
        {"assignment", "title", "students learn", "page"},
    )


def block_course_plan(_: Data, which: str) -> list[str]:
    """`weeks` or `lectures`."""
    existing = {found.id: found for found in course()}
    if forgotten := existing.keys() - {name for _, _, assigned, _ in WEEKS for name in assigned}:
        raise KeyError(f"in no week: {sorted(forgotten)}")
    rows = []
    for number, (what, pages, assigned, shown) in enumerate(WEEKS if which == "weeks" else LECTURES, 1):
        given = ", ".join(assignment_link(existing[name]) for name in assigned if name in existing)
        rows.append([str(number), what, ", ".join(map(link, pages)), given, f"`{shown}`"])
    head = [which.removesuffix("s"), "topic", "read", "assignment", "show"]
    return table(head, rows, set(head[1:]))


def block_course_rubric(_: Data, name: str) -> list[str]:
    """One as it stands."""
    found = next(one for one in course() if one.id == name)
    return ["```yaml", *(found.folder / "rubric.yaml").read_text().splitlines(), "```"]


def block_course_kinds(_: Data) -> list[str]:
    course()
    from tools.course.assignment import KINDS as KNOWN

    head = ["kind", "gives points if", "keys"]
    return table(head, [[f"`{kind}`", *KINDS[kind]] for kind in KNOWN], head)


def block_course_metrics(_: Data) -> list[str]:
    course()
    from tools.course.metrics import MEMORY, WHOLE
    from tools.course.metrics import PARTS as KNOWN

    rows = [[f"`{name}`", METRICS[name]] for name in WHOLE]
    rows += [[f"`MEMORY.{part}`", PARTS[part]] for part in KNOWN]
    memories = ", ".join(f"`{name}`" for name in MEMORY)
    return [*table(["metric", "what it is"], rows, {"metric", "what it is"}), "", f"MEMORY is one of {memories}."]


def block_course_class(data: Data) -> list[str]:
    """What a class takes (./lab measure class)."""
    taken = read_json_if_there(CPU / "class.json")
    if not taken:
        raise NotMeasured
    count = taken["submissions"]
    rows = [
        ["submissions", str(count)],
        ["cores", str(taken["cores"])],
        ["load average when it began", f"{taken['load_before']:.1f}"],
        ["wall time, min", f"{taken['wall_s'] / 60:.0f}"],
        ["wall time per submission, s", f"{taken['wall_s'] / count:.1f}"],
        ["memory at most, MB", f"{taken['peak_mb']:.0f}"],
    ]
    return table(["a class, interrupted twice and resumed", "value"], rows)


SPEED = newest(GPU / "course_speed.json")  # by tests/course/test_speed.py, on a GPU


def block_course_speed(data: Data) -> list[str]:
    """What the teachers' solutions take, and the yardstick beside them."""
    measured = read_json_if_there(SPEED)
    if not measured:
        raise NotMeasured
    rows = [
        [found["assignment"], f"{found['reference_ms']:.3g}", f"{found['submission_ms']:.3g}"]
        + [f"{found['library_ms']:.3g}", found["library"], f"{found['points']:g} of {found['of']:g}"]
        for found in measured["solutions"]
    ]
    head = ["assignment", "solution, ms", "handed in, ms", "library, ms", "library", "points"]
    return [*table(head, rows, {head[0], head[4]}), "", f"Measured on an {measured['device']}."]


def block_course_cheats(data: Data) -> list[str]:
    """What cheats got on a GPU."""
    measured = read_json_if_there(SPEED)
    if not measured:
        raise NotMeasured
    rows = [
        [found["name"].replace("_", " "), found["tries"], f"{found['points']:g} of {found['of']:g}", found["said"]]
        for found in measured["cheats"]
    ]
    head = ["submission", "what it does", "points for speed", "what is said"]
    return [*table(head, rows, {head[0], head[1], head[3]}), "", f"Run on an {measured['device']}."]
