"""The installed library, timed as other programs see it (./lab measure library)."""

from tools.pages.data import Data, NotMeasured
from tools.repository import GPU, Json, newest, read_json_if_there
from tools.tables import table


def measured(part: str) -> tuple[Json, list[Json] | Json]:
    run = read_json_if_there(newest(GPU / "library.json"))
    if not run or part not in run:
        raise NotMeasured
    return run, run[part]


def of_run(run: Json) -> list[str]:
    return ["", f"{run['device']}, driver {run['driver']}, commit {run['commit']}."]


def block_library(data: Data, which: str) -> list[str]:
    """`first`: first calls. `calls`: host time of a call. `shares`: any width against exact. `sgemm`: both ways."""
    run, found = measured(which)
    if which == "first":
        worst: dict[str, list[float]] = {}
        for line in found:
            worst.setdefault(f"{line['op']}, {line['type']}", []).append(line["first_ms"])
        rows = [[name, f"{max(times):.2f}"] for name, times in worst.items()]
        lines = table(["product", "longest first call, ms"], rows)
    elif which == "calls":
        rows = [[line["call"], f"{line['us']:.2f}", f"{line['p90_us']:.2f}"] for line in found]
        lines = table(["call", "median, us", "90th percentile, us"], rows)
    elif which == "shares":
        rows = [[name, *(f"{its[q]:.2f}" for q in ("least", "p05", "median", "most"))] for name, its in found.items()]
        lines = table(["product", "least", "5th percentile", "median", "most"], rows)
    else:
        rows = [
            [
                f"library, {line['numbers']}{', with pauses' if line['pauses'] else ', back to back'}",
                str(line["n"]),
                f"{line['tflops'][0]:.0f}",
                f"{line['tflops'][-1]:.0f}",
                "",
            ]
            for line in found
        ]
        for line in run.get("stage", []):
            state = line["back_to_back"]["state"] or {"sm_mhz_min": 0, "watts_max": 0}
            alone = line["back_to_back"]["gflops"] / 1e3
            clock = f"{state['sm_mhz_min']} MHz, {state['watts_max']:.0f} W"
            rows.append(["stage 11, alternately with cuBLAS", str(line["n"]), "", f"{line['gflops'] / 1e3:.0f}", ""])
            rows.append(["stage 11, back to back", str(line["n"]), "", f"{alone:.0f}", clock])
        head = ["launches", "n", "first 0.1 s, TFLOP/s", "last, TFLOP/s", "clock and power"]
        lines = table(head, rows, left=("launches", "clock and power"))
    return lines + of_run(run)
