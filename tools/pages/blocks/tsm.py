"""The tall & skinny stages."""

import sys

from tools.experiments.tsm_cases import TYPES
from tools.pages.data import Data, NotMeasured
from tools.pages.notes import NOT_COUNTED, counted_by, measured_on, not_measured
from tools.pages.records import probes
from tools.pages.records import tsm as records
from tools.repository import GPU, Json, read_json_if_there
from tools.tables import number, percent, table

MEASURED = [GPU / f"{product}_{type}.json" for product in ("tsm", "tsmm") for type in "dz"]


def block_tsm_counted(data: Data, stage: str) -> list[str]:
    """What the executor counted, for both types."""
    found = {type: data.executor["kernels"].get(f"{data.stage(stage)}/{type}") for type in TYPES}
    if not all(found.values()):
        return NOT_COUNTED
    m, n, k = data.executor["tsm_shape"].split("x")
    counts = [kernel["counts"] for kernel in found.values()]
    # An instruction of Tensor Cores is 16 warp-wide FMAs, where some kernels have them and others not.
    tensor = all(c["tensor_flops"] > 2 * c["fma64"] for c in counts)

    def steps(c: Json) -> float:
        return c["tensor_flops"] / 2 / (16 * 8 * 4) if tensor else (c["fma64"] + c["tensor_flops"] / 2) / 32

    def row(title: str, kind: str, what: str) -> list[str]:
        return [title, *(f"{c[kind][what] / steps(c):.3g}" for c in counts)]

    rows = [
        row("global load requests", "global_load", "requests"),
        row("sectors of them", "global_load", "sectors"),
        row("wavefronts of them: cycles of an SM's L1 cache", "global_load", "wavefronts"),
    ]
    # TSMM is long in what it stores, and C may be in shared memory.
    if "TsmmProblem" in data.source(data.stage(stage)):
        rows += [
            row("sectors of stores", "global_store", "sectors"),
            row("wavefronts of loads from shared memory", "shared_load", "wavefronts"),
        ]
    else:
        rows.append(row("requests of atomic additions", "global_atomic", "requests"))
    unit = "instruction of 16 x 8 x 4" if tensor else "warp-wide FMA"
    rate = "An FMA of the FP64 cores takes half a cycle of an SM of sm_90."
    if tensor:
        rate = "An instruction takes the Tensor Cores of an SM of sm_90 four cycles."
    return table([f"counted per {unit}, M = {m}, N = {n}, K = {int(k):,}", *TYPES.values()], rows) + [
        "",
        f"{counted_by(data.executor)}. {rate}",
    ]


def cells_of(result: Json) -> list[str]:
    """What was measured; else why not."""
    if "time_ms" not in result:
        return [result["reason"], "", "", "", ""]
    speeds = [f"{result['gbytes_s']:,.0f}", f"{result['gflops']:,.0f}"]
    shares = [f"{result['pct_roofline']:.1f} %", f"{result['pct_cublas']:.0f} %"]
    return [f"{result['time_ms']['median']:.4g}", *speeds, *shares]


def block_tsm_measured(data: Data, stage: str) -> list[str]:
    """The speeds, for both types; all of one run's commit and device."""
    rows, of = [], None
    for path in MEASURED:
        run = read_json_if_there(path) or {"results": []}
        for r in run["results"]:
            if r["stage"] != data.stage(stage):
                continue
            if of and measured_on(of) != measured_on(run):
                sys.exit(
                    f"error: {path.name} is of another commit or device than the rest of tsm/{stage}'s table: "
                    "measure both types anew"
                )
            p, of = r["problem"], run
            rows.append([p["type"], str(p["m"]), f"{p['k']:,}", *cells_of(r)])
    if not of:
        return not_measured("docs/measurements/measure")
    head = ["type", "M = N", "K", "ms", "GB/s", "GFLOP/s", "of the roofline", "of cuBLAS"]
    return table(head, rows) + ["", f"{measured_on(of)}."]


def block_tsm_short(_: Data, *widths: str) -> list[str]:
    """Short K at some M = N: records.short_ratios(), and between which megabytes 14 takes 09."""
    if not (run := read_json_if_there(records.SHORT)):
        return not_measured("./lab measure tune-short")
    rows = []
    for (kind, m), ratios in records.short_ratios().items():
        if str(m) not in widths:
            continue
        first, end = records.short_range(kind, m)
        range_of_09 = f"{first:g} to {end:g} MB" if end else "never"
        rows.append([TYPES[kind], str(m), *(f"{ratio:.2f}" for ratio in ratios), range_of_09])
    head = ["type", "M = N", *(f"{mb} MB" for mb in run["mb"]), "09 from"]
    return [*table(head, rows), "", f"Medians. {measured_on(run)}."]


def block_tsm_forms(data: Data, *stages: str) -> list[str]:
    """Microseconds of some of tsm/05 to 08, each with its variants, at the sizes of their runs."""
    run = read_json_if_there(records.FORMS)
    if not run:
        return not_measured("./lab ladder --op tsmttsm --only tsm/05,tsm/06,tsm/07,tsm/08 --variants")
    lines = []
    for title, path in (("double", records.FORMS), ("complex", records.FORMS_Z)):
        found = records.forms(path)
        names = [name for name in next(iter(found.values()), {}) if name.split(":")[0] in stages]
        rows = [[f"{m}, {k:,}", *(number(times.get(name)) for name in names)] for (m, k), times in found.items()]
        lines += [*table([f"{title}: M = N, K", *(f"`{name}`" for name in names)], rows), ""] if names else []
    return [*lines, f"Microseconds, warm cache. {measured_on(run)}."]


def block_tsm_squares(data: Data) -> list[str]:
    """GB/s of each size of tsm/04b's square, and of 05, which chooses one."""
    run = read_json_if_there(records.SQUARES)
    if not run:
        return not_measured("docs/measurements/measure --steps tsm")
    forms = {"1 x 1": "tsm/04b:1x1", "2 x 2": "tsm/04b:2x2", "4 x 4": "tsm/04b:4x4", "8 x 8": "tsm/04b", "05": "tsm/05"}
    rows = [
        [f"{m}", *(f"{8 * 2 * m * k / times[name] / 1e3:,.0f}" for name in forms.values())]
        for (m, k), times in records.forms(records.SQUARES).items()
    ]
    head = ["double: M = N", *(f"{title}, GB/s" for title in forms)]
    return [*table(head, rows), "", f"4 GiB of A, warm cache. {measured_on(run)}."]


def block_tsmm_lives(_: Data) -> list[str]:
    """GB/s of the fastest kernel of each width of narrow TSMM, by the turns of a block."""
    run = read_json_if_there(records.LIVES)
    if not run:
        return not_measured("./lab measure tune-tsm lives")
    found = {(r["type"], r["m"], r["turns"]): r for r in run["results"]}
    turns, widths = sorted({turns for *_, turns in found}), sorted({its[:2] for its in found})

    def cell(result: Json | None) -> str:
        return f"{result['gbs']:,} ({result['stage'].split('/')[1]})" if result else "-"

    rows = [[TYPES[kind], str(m), *(cell(found.get((kind, m, its))) for its in turns)] for kind, m in widths]
    head = ["type", "M = N", *(f"{its} turn{'s' * (its > 1)}" for its in turns[:-1]), "to the end"]
    scale = f"Scale: {run['ceilings']['scale_gbs']:,.0f} GB/s."
    return [*table(head, rows), "", f"A has 512 MiB. {scale} {measured_on(run)}."]


def block_tsm_lengths(data: Data) -> list[str]:
    """How long 14 takes, as a multiple of 09 with its model's options, by turns; and whose kernel it takes."""
    found = records.lengths()
    if not found:
        return not_measured("./lab ladder --op tsmttsm --only tsm/09,tsm/14")
    widths, depths = sorted({m for m, _ in found}), sorted({k for _, k in found})

    def cell(both: dict[str, Json]) -> str:
        ours, plain = both["tsm/14"], both["tsm/09"]
        taken = ours["kernel_stage"].split("/")[1].split("_")[0]
        return f"{ours['time_ms']['median'] / plain['time_ms']['median']:.2f} ({taken})"

    rows = [[f"{k:,}", *(cell(found[m, k]) for m in widths)] for k in depths]
    run = read_json_if_there(records.LENGTHS)
    return [*table(["K", *(f"M = N = {m}" for m in widths)], rows), "", f"Medians, double, warm. {measured_on(run)}."]


def block_tsm_in_flight(data: Data, stage: str) -> list[str]:
    """Of generated kernels: what the bytes in flight would give by the probe of bandwidth, and what came."""
    memory, rows = records.memory(), []
    for kind, title in TYPES.items():
        for r in records.results(data.stage(stage), kind):
            p, o = r["problem"], r["kernel_options"]
            if p["k"] < records.MANY:
                continue
            in_flight = records.in_flight(r, memory.sms)
            allowed = memory.gbs(in_flight)
            rows.append(
                [
                    title,
                    str(p["m"]),
                    f"{o['tile_m']} x {o['tile_n']}, {o['unroll']}",
                    f"{in_flight / 1024:.0f} KB",
                    number(allowed),
                    number(r["gbytes_s"]),
                    f"{r['gbytes_s'] / allowed:.2f}",
                ]
            )
    if not rows:
        raise NotMeasured("")
    head = ["type", "M = N", "tile, U", "in flight of an SM", "GB/s, the probe with as many", "GB/s", "of it"]
    return table(head, rows)


def block_tsm_two_warps(data: Data) -> list[str]:
    """The paper's example of two warps, and the same arithmetic for this GPU."""
    tm, tn = records.EXAMPLE_TILE
    gpus, warps = records.two_warps_gpus(), records.EXAMPLE_WARPS

    def shares(leapfrogging: bool) -> list[str]:
        return [f"{100 * share:.0f} %" for share in records.two_warps_shares(leapfrogging)]

    run = records.experiment_record("E3")
    best = {
        ahead: max(
            (
                100 * r["gflops"] / run["ceilings"]["dfma_gflops"]
                for r in records.experiment("E3")
                if (r["type"], r["m"], r["n"]) == ("d", records.EXAMPLE_WIDTH, records.EXAMPLE_WIDTH)
                and r["series"].startswith(f"leapfrog {ahead}")
            ),
            default=None,
        )
        for ahead in ("on", "off")
    }
    lines = table(
        [
            f"a tile of {tm} x {tn} at M = N = {records.EXAMPLE_WIDTH}, double",
            "V100, the paper",
            data.ladder["device"].removeprefix("NVIDIA "),
        ],
        [
            ["FMAs of a thread for a row", *[str(tm * tn)] * 2],
            ["cycles of a scheduler for an FMA of a warp", *(str(cycles) for cycles, _ in gpus)],
            ["so a warp multiplies for, cycles", *(str(tm * tn * cycles) for cycles, _ in gpus)],
            ["and waits for, cycles", *(f"{wait:.0f}" for _, wait in gpus)],
            ["registers of a thread, by the paper's line", *[str(records.example_registers(1))] * 2],
            ["warps of a scheduler", *[str(warps)] * 2],
            ["share of the FP64 peak, by turns", *shares(False)],
            ["measured, the best without leapfrogging", "-", percent(best["off"])],
            ["share if waiting and multiplying overlap", *shares(True)],
            ["measured, the best with leapfrogging", percent(100 * 4766 / 7066), percent(best["on"])],
        ],
    )
    waits = f"The wait: {measured_on(probes.record('bandwidth'))}"
    return [*lines, "", f"{waits}. Measured: {measured_on(run)}."]


def block_tsm_loaded(data: Data) -> list[str]:
    """The latency of a load from device memory, by how many bytes are in flight."""
    memory = records.memory()
    rows = [
        [f"{in_flight:,.0f}", number(gbs), f"{memory.ns(in_flight):.0f}", f"{memory.ns(in_flight) * memory.ghz:.0f}"]
        for in_flight, gbs in memory.points
    ]
    head = ["bytes in flight of an SM", "GB/s", "latency, ns", f"cycles at {memory.ghz:.2f} GHz"]
    return [*table(head, rows), "", f"{measured_on(probes.record('bandwidth'))}."]
