"""The committed ladders, as curves over a size: what the interactive ladder and `./lab report` show."""

import dataclasses
import functools
import pathlib
from collections.abc import Callable, Iterable

from tools.pages.data import COARSE, COUNTED, COUNTERS, LADDER, NEW_RUNGS, SWEEP
from tools.pages.figures.ladder import name_of, number_of
from tools.pages.figures.roofline import intensities
from tools.pages.records.tsm import MANY
from tools.repository import GPU, NOT_IN_HISTORY, Json, newest, read_json, read_json_if_there

LIBRARY = "cublas/"
SizeOf = Callable[[Json], int | None]
# A tall matrix of these kinds is a type of the run; counts are named after its letter.
LETTERS = {"double": "d", "double complex": "z"}


@dataclasses.dataclass(frozen=True)
class Roof:
    """Of a product's roofline: the size whose speeds it shows, and what its ceilings are called in a run."""

    at: int
    peaks: tuple[tuple[str, str, float], ...]  # name, field of the ceilings, divided by
    memory: tuple[str, str]  # name, field
    kernel: str = ""  # behind a stage's name, in the counts


@dataclasses.dataclass(frozen=True)
class Product:
    """One product on one axis."""

    key: str
    group: str
    title: str
    axis: str
    files: tuple[pathlib.Path, ...]  # where two have a size, the first one's counts
    size_of: SizeOf  # where on the axis a problem stands; None: nowhere
    usual: tuple[str, ...]  # numbers of the rungs that the plot begins with
    headline: int  # the size that the table shows
    roof: Roof | None = None
    same_roof: str = ""  # the product whose roofline stands for this one's
    grid: int = 0  # sizes that this does not divide are no part of a line
    bound: tuple[str, str, float] | None = None  # the ceiling that is flat over the axis


def of_cube(problem: Json) -> int | None:
    return problem["m"] if problem["m"] == problem["n"] == problem["k"] and problem.get("batch", 1) == 1 else None


def of_batch(problem: Json) -> int | None:
    return problem["k"] if problem.get("batch", 1) > 1 else None


def of_long(problem: Json) -> int | None:
    return problem["m"] if problem["m"] == problem["n"] and problem["k"] >= MANY else None


def of_length(k: int) -> SizeOf:
    return lambda problem: problem["m"] if problem["m"] == problem["n"] and problem["k"] == k else None


FFMA = ("FFMA", "ffma_gflops", 1.0)
HMMA = ("FP16 mma", "hmma_gflops", 1.0)
SPLIT = ("a third of FP16 mma", "hmma_gflops", 3.0)  # three FP16 products for one in FP32
DFMA = (("DFMA", "dfma_gflops", 1.0), ("DMMA", "dmma_gflops", 1.0))
READ, SCALE = ("device memory, read", "read_gbs"), ("device memory, scale", "scale_gbs")
CUBE = "M = N = K"


def tall(op: str, kind: str, usual: tuple[str, ...], memory: tuple[str, str]) -> list[Product]:
    """Of one product and type: over the width where K is long, and where it is not."""
    letter = LETTERS[kind]
    file = newest(GPU / f"{'tsm' if op == 'tsmttsm' else op}_{letter}.json")
    numbers = "real" if kind == "double" else "complex"
    group, name = f"{op.upper()}, FP64 {numbers}", f"{op}_{letter}"
    roof = Roof(16, DFMA, memory, f"/{letter}")
    found = [Product(name, group, "K long, A of 4 GiB", "M = N", (file,), of_long, usual, 16, roof)]
    for k in (262144, 10000):
        product = Product(f"{name}_{k}", group, f"K = {k:,}", "M = N", (file,), of_length(k), usual, 16, same_roof=name)
        if file.exists() and any(product.size_of(r["problem"]) for r in run_of(file)["results"]):
            found.append(product)
    return found


@functools.cache
def run_of(path: pathlib.Path) -> Json:
    return read_json(path)


def products() -> list[Product]:
    """All that have a ladder."""
    tensor = {name: newest(GPU / f"tensor_{name}.json") for name in ("h", "s", "batched")}
    tsmttsm, tsmm = ("01", "02", "03", "05", "08", "09", "10", "14"), ("11", "12", "13", "13c", "15")
    found = [
        Product(
            key="sgemm",
            group="SGEMM",
            title="FP32 cores",
            axis=CUBE,
            files=(LADDER, COARSE, SWEEP),
            size_of=of_cube,
            usual=("01", "02", "04", "07", "09b", "15", "18"),
            headline=4096,
            roof=Roof(4096, (FFMA,), READ),
            grid=128,
            bound=FFMA,
        ),
        Product(
            key="sgemm_new",
            group="SGEMM",
            title="newer rungs, H100",
            axis=CUBE,
            files=(NEW_RUNGS,),
            size_of=of_cube,
            usual=("05", "05b", "08", "08b", "14", "14b", "16b"),
            headline=4096,
            roof=Roof(4096, (FFMA,), READ),
            grid=128,
            bound=FFMA,
        ),
        *tall("tsmttsm", "double", tsmttsm, READ),
        *tall("tsmttsm", "double complex", tsmttsm, READ),
        *tall("tsmm", "double", tsmm, SCALE),
        *tall("tsmm", "double complex", tsmm, SCALE),
        Product(
            key="tensor_h",
            group="Tensor Cores",
            title="FP16",
            axis=CUBE,
            files=(tensor["h"],),
            size_of=of_cube,
            usual=("01", "02", "03", "03b"),
            headline=4096,
            roof=Roof(4096, (HMMA,), READ, "/256"),
            grid=128,
            bound=HMMA,
        ),
        Product(
            key="tensor_s",
            group="Tensor Cores",
            title="FP32 by split numbers",
            axis=CUBE,
            files=(tensor["s"],),
            size_of=of_cube,
            usual=("07", "08", "09", "10", "11", "12"),
            headline=4096,
            roof=Roof(4096, (SPLIT,), READ, "/256"),
            grid=128,
            bound=SPLIT,
        ),
        Product(
            key="tensor_batched",
            group="Tensor Cores",
            title="FP32, batches of 1024 x 1024 x K",
            axis="K",
            files=(tensor["batched"],),
            size_of=of_batch,
            usual=("10", "11", "12"),
            headline=1024,
            same_roof="tensor_s",
            bound=SPLIT,
        ),
    ]
    return [product for product in found if product.files[0].exists()]


def label_of(stage: str) -> str:
    """As a curve is labelled: 07 register tile, cuBLAS FP32."""
    if not stage.startswith(LIBRARY):
        return name_of(stage).replace("_", " ")
    return "cuBLAS " + name_of(stage).replace("_pedantic", "").upper()


def short_label_of(stage: str) -> str:
    """Where there is little room."""
    if not stage.startswith(LIBRARY):
        return number_of(stage)
    return "TF32" if stage.endswith("tf32") else "cuBLAS"


def is_yardstick(stage: str) -> bool:
    return stage.startswith(LIBRARY) and not stage.endswith("tf32")


def short_commit(commit: str) -> str:
    """As records name it, and whether one finds it."""
    return commit + (" (not in this history)" if commit in read_json(NOT_IN_HISTORY) else "")


def facts_of(run: Json) -> Json:
    """What says where a run's numbers are from."""
    keys = ("device", "driver", "cuda", "cublas", "command")
    return {key: run.get(key, "") for key in keys} | {"commit": short_commit(run.get("commit", ""))}


def point(result: Json) -> list[float | None]:
    """GFLOP/s, ms, percent of cuBLAS and of the roofline."""
    of_cublas = 100.0 if is_yardstick(result["stage"]) else result.get("pct_cublas")
    return [result["gflops"], result["time_ms"]["median"], of_cublas, result.get("pct_roofline")]


def beside(result: Json) -> list[float | None] | None:
    """The same of cuBLAS, as it was timed alternately with a stage."""
    if "cublas_time_ms" not in result or not result.get("pct_cublas"):
        return None
    ms, share = result["cublas_time_ms"]["median"], result["pct_cublas"] / 100
    roofline = result.get("pct_roofline")
    # Of a stage with another roofline than cuBLAS's, nothing.
    same = result["stage"].startswith(("sgemm/", "tsm/"))
    return [result["gflops"] / share, ms, 100.0, roofline / share if roofline and same else None]


def curves_of(product: Product, runs: list[tuple[int, Json]]) -> dict[str, dict[int, list[float | None]]]:
    """By stage and size, points as of point(), with the number of their run behind them."""
    found: dict[str, dict[int, list[float | None]]] = {}
    between: dict[int, list[float | None]] = {}
    yardstick = ""
    for which, run in runs:
        for result in run["results"]:
            size = product.size_of(result["problem"])
            if size is None or "time_ms" not in result:
                continue
            stage = result["stage"]
            yardstick = stage if is_yardstick(stage) else yardstick
            found.setdefault(stage, {}).setdefault(size, [*point(result), which])
            if (of_library := beside(result)) and size not in between:
                between[size] = [*of_library, which]
    if yardstick:  # also where only stages were timed
        for size, of_library in between.items():
            found[yardstick].setdefault(size, of_library)
    return {stage: dict(sorted(by_size.items())) for stage, by_size in found.items()}


def roofline_of(product: Product, curves: dict[str, dict[int, list[float | None]]], ceilings: Json) -> Json | None:
    """Dots, each with its flop per byte, and the lines above them; None where nothing was counted."""
    roof = product.roof
    counted = read_json_if_there(COUNTED)
    counters = read_json_if_there(COUNTERS)
    if not roof or not counted:
        return None
    per_byte = intensities(counted, counters)
    dots = [
        {"stage": stage, "gflops": points[roof.at][0], "run": points[roof.at][4]} | per_byte[stage + roof.kernel]
        for stage, points in curves.items()
        if roof.at in points and stage + roof.kernel in per_byte
    ]
    if not dots:
        return None
    memory, field = roof.memory
    size = {"": counted["stage_size"], "/256": "256"}.get(roof.kernel, counted["tsm_shape"])
    how = f"counted by the CPU executor at {size}, commit {short_commit(counted['commit'])}"
    lines = [
        ["global", "asked of global memory", memory, ceilings[field], how],
        ["shared", "asked of shared memory", "shared memory", ceilings["shared_gbs"], how],
    ]
    if counters and any(dot.get("dram") for dot in dots):
        size = next(iter(counters["sizes"]))
        how = f"by Nsight Compute at {size} on {counters['device']}, commit {short_commit(counters['commit'])}"
        lines.append(["dram", "read from device memory", memory, ceilings[field], how])
    return {
        "at": roof.at,
        "peaks": [[name, ceilings[field] / by] for name, field, by in roof.peaks],
        "lines": [dict(zip(("key", "what", "name", "gbs", "how"), line)) for line in lines],
        "dots": dots,
    }


def order(stages: Iterable[str]) -> list[str]:
    """Rungs first, in their order, cuBLAS behind them."""
    return sorted(stages, key=lambda stage: (stage.startswith(LIBRARY), stage))


def ladders() -> Json:
    """All that is committed, for a script: runs, and products with their curves."""
    runs: list[Json] = []
    found = []
    numbers: dict[pathlib.Path, int] = {}
    for product in products():
        files = [path for path in product.files if path.exists()]
        for path in files:
            if path not in numbers:
                numbers[path] = len(runs)
                runs.append(facts_of(run_of(path)) | {"file": path.name})
        curves = curves_of(product, [(numbers[path], run_of(path)) for path in files])
        ceilings = run_of(files[0])["ceilings"]
        bound = product.bound
        found.append(
            {
                "key": product.key,
                "group": product.group,
                "title": product.title,
                "axis": product.axis,
                "grid": product.grid,
                "headline": product.headline,
                "usual": [s for s in order(curves) if number_of(s) in product.usual and not s.startswith(LIBRARY)],
                "reference": next((s for s in curves if is_yardstick(s)), None),
                "bound": [bound[0], ceilings[bound[1]] / bound[2]] if bound else None,
                "roofline": roofline_of(product, curves, ceilings),
                "sameRoofline": product.same_roof,
                "curves": [
                    {
                        "stage": stage,
                        "label": label_of(stage),
                        "short": short_label_of(stage),
                        "points": [[size, *values] for size, values in curves[stage].items()],
                    }
                    for stage in order(curves)
                ],
            }
        )
    return {"runs": runs, "products": found}
