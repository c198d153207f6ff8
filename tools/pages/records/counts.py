"""The executor's counts as cycles."""

from tools.repository import Json

KINDS = [
    (f"{space}_{operation}", f"{space} {operation}s")
    for space in ("global", "shared")
    for operation in ("load", "store")
]
KINDS += [("global_atomic", "global atomics"), ("shared_atomic", "shared atomics")]


def counted_cycles(counts: Json) -> dict[str, float]:
    """Cycles per warp-wide FMA, as common/measure/roofline.cpp has them: of the data banks, and of the tags, four lines
    a cycle."""
    warp_fmas = counts["fma32"] / 32
    data = sum(counts[kind]["wavefronts"] for kind, _ in KINDS if "atomic" not in kind)
    tags = (counts["global_load"]["lines"] + counts["global_store"]["lines"]) / 4
    return {"data": data / warp_fmas, "tags": tags / warp_fmas, "sum": max(data, tags) / warp_fmas}
