"""The installed library, timed as other programs see it (./lab measure library)."""

from tools.pages.data import Data, NotMeasured
from tools.repository import GPU, Json, newest, read_json_if_there
from tools.tables import Table, table


def of_sgemm(run: Json) -> Table:
    rows = [
        [f"library, {its['numbers']}", str(its["n"]), f"{its['tflops'][0]:.0f}", f"{its['tflops'][-1]:.0f}", ""]
        for its in run["sgemm"]
    ]
    for its in run["stage"]:
        behind, n = its["back_to_back"], str(its["n"])
        state = behind["state"]
        clock = f"{state['sm_mhz_min']} MHz, {state['watts_max']:.0f} W" if state else ""
        rows.append(["stage 11, alternately with cuBLAS", n, "", f"{its['gflops'] / 1e3:.0f}", ""])
        rows.append(["stage 11, back to back", n, "", f"{behind['gflops'] / 1e3:.0f}", clock])
    return ["launches", "n", "first 0.1 s, TFLOP/s", "last, TFLOP/s", "clock and power"], rows


def block_library(data: Data, which: str) -> list[str]:
    """`first`: first calls. `calls`: host time of a call. `shares`: any width against exact. `sgemm`: both ways."""
    run = read_json_if_there(newest(GPU / "library.json"))
    if not run or which not in run:
        raise NotMeasured
    if which == "first":
        worst: dict[str, float] = {}
        for its in run["first"]:
            name = f"{its['op']}, {its['type']}"
            worst[name] = max(worst.get(name, 0), its["first_ms"])
        head, rows = ["product", "longest first call, ms"], [[name, f"{ms:.2f}"] for name, ms in worst.items()]
    elif which == "calls":
        head = ["call", "median, us", "90th percentile, us"]
        rows = [[its["call"], f"{its['us']:.2f}", f"{its['p90_us']:.2f}"] for its in run["calls"]]
    elif which == "shares":
        head = ["product", "least", "median", "most", "largest difference of the results"]
        rows = [
            [name, *(f"{its[q]:.2f}" for q in ("least", "median", "most")), f"{its['difference']:.0e}"]
            for name, its in run["shares"].items()
        ]
    else:
        head, rows = of_sgemm(run)
    return [*table(head, rows), "", f"{run['device']}, driver {run['driver']}, commit {run['commit']}."]
