"""What the search of stage 16 has timed."""

import re

from tools.pages.data import Data, NotMeasured
from tools.repository import Json


def timed_points(data: Data) -> tuple[list[Json], list[str]]:
    """Of the search: the points with times, the fastest first, and the sizes."""
    points = [p for p in data.tuning["points"] if p.get("timed")] if data.tuning else []
    sizes = list(points[0]["timed"]) if points else []
    points = [p for p in points if all("gflops" in p["timed"].get(size, {}) for size in sizes)]
    if not points:
        raise NotMeasured("")
    return sorted(points, key=lambda p: -p["timed"][sizes[0]]["pct_cublas"]), sizes


def tuned_shape(data: Data) -> list[int]:
    """The numbers that the stage itself has."""
    return [int(x) for x in re.search(r"using Tuned = Shape<([\d,\s]+)>", data.source(data.stage("16")))[1].split(",")]
