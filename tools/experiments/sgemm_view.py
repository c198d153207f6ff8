"""What tables and figures of SGEMM's sources read of a record."""

from tools.repository import Json
from tools.tables import rounded

Size = int | str  # 1024, or 128x128x8


class View:
    """The results of a record by stage and size."""

    def __init__(self, record: Json) -> None:
        self.record, self.found = record, {}
        for r in record["results"]:
            self.found[r["stage"], self.size(r)] = r
        self.sizes = list(dict.fromkeys(self.size(r) for r in record["results"]))
        self.stages = list(dict.fromkeys(r["stage"] for r in record["results"]))

    @staticmethod
    def size(r: Json) -> Size:
        m, n, k = r["shape"]
        return m if m == n == k else f"{m}x{n}x{k}"

    def gflops(self, stage: str, size: Size) -> float | None:
        return self.found.get((stage, size), {}).get("gflops")

    def cell(self, stage: str, size: Size) -> str:
        """GFLOP/s; on the executor, the share of the FP32 peak that the counts allow; else what the check says."""
        r = self.found.get((stage, size))
        if not r:
            return "-"
        if r["status"] != "pass":
            return f"{r['status']}: {r.get('reason', '')}"[:60]
        if "gflops" in r:
            return rounded(r["gflops"])
        return f"{100 * r['share_of_fp32_peak']:.1f} %" if "share_of_fp32_peak" in r else r["status"]

    def ratio(self, a: str, b: str, size: Size) -> str:
        both = [self.found.get((s, size), {}) for s in (a, b)]
        key = "gflops" if "gflops" in both[0] else "share_of_fp32_peak"
        return f"{both[0][key] / both[1][key]:.2f}" if all(key in r for r in both) else "-"


def below(record: Json, *more: str) -> list[str]:
    if record["executor"]:
        first = (
            f"{record['device']}, commit {record['commit']}: checked and counted; in place of speeds, the share of "
            "the FP32 peak that "
            "the counts allow. Speeds need a GPU."
        )
    else:
        first = (
            f"{record['device']}, driver {record['driver']}, CUDA {record['cuda']}, commit {record['commit']}; "
            "GFLOP/s, medians, warm cache."
        )
    missing = [f"Not in this build: {', '.join(record['missing'])}."] if record["missing"] else []
    return [first, *missing, *more]
