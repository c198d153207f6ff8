"""README's first table: how far each family gets."""

from tools.pages.data import Data, NotMeasured, shape_of
from tools.pages.records.tensor import FOLDERS
from tools.repository import read_json_if_there
from tools.tables import table, tflops

# The product, the stage, the record of its run, and a large shape of it.
SHOWN = (
    ("C = A B, FP32", "sgemm/18", "sgemm", "4096x4096x4096"),
    ("C = A B, FP32, on Tensor Cores", "tensorcore/11", "tensor_s", "8192x8192x8192"),
    ("C = AᵀB, tall & skinny, FP64 (TSMTTSM)", "tsm/14", "tsm_d", "32x32x16777216"),
    ("B = A C, tall & skinny, FP64 (TSMM)", "tsm/15", "tsmm_d", "32x32x16777216"),
)


def block_families(data: Data) -> list[str]:
    rows, runs = [], []
    for product, number, name, shape in SHOWN:
        stage, run = data.stage(number), read_json_if_there(FOLDERS["measured"] / f"{name}.json") or {"results": []}
        its = [r for r in run["results"] if r["stage"] == stage and shape_of(r["problem"]) == shape and "time_ms" in r]
        if not its:
            raise NotMeasured("")
        runs.append(run)
        title = stage.split("/")[1]
        page = f"docs/{'stages' if number.startswith('sgemm') else number.split('/')[0]}/{title}.md"
        speed = (
            f"{its[0]['gbytes_s']:,.0f} GB/s" if number.startswith("tsm/") else f"{tflops(its[0]['gflops'])} TFLOP/s"
        )
        of = [f"{its[0][key]:.0f} %" for key in ("pct_roofline", "pct_cublas")]
        rows.append([product, f"[{title}]({page})", " x ".join(f"{int(n):,}" for n in shape.split("x")), speed, *of])
    commits = ", ".join(dict.fromkeys(run["commit"] for run in runs))
    return table(
        ["product", "stage", "M x N x K", "measured", "of the roofline", "of cuBLAS"],
        rows,
        left=["product", "stage"],
    ) + ["", f"{runs[0]['device']}, medians, warm cache; commits {commits}. cuBLAS of the first two: FP32, pedantic."]
