"""The times of builds and tests."""

from tools.pages.data import Data
from tools.tables import table


def block_loop(data: Data, which: str) -> list[str]:
    """Where the time of builds and tests goes, before and after (./lab measure loop)."""
    before, after = (data.loop[name] for name in ("before", "after"))
    if which in ("wall", "processor"):
        seconds = [state[f"{which}_s"] for state in (before, after)]
        rows = [
            [name, *(f"{its[name]:.0f}" if name in its else "-" for its in seconds)]
            for name in dict.fromkeys([*seconds[0], *seconds[1]])
        ]
        return table([f"{which} time, s", "before", "after"], rows)
    if which == "build":
        rows = [
            [
                kind,
                str(before["build"].get(kind, {"steps": 0})["steps"]),
                f"{before['build'].get(kind, {'seconds': 0})['seconds']:.0f}",
                str(its["steps"]),
                f"{its['seconds']:.0f}",
            ]
            for kind, its in after["build"].items()
        ]
        return table(["steps", "before", "s", "after", "s"], rows)
    rows = [
        [f"`{a}`", f"{s:.1f}", f"`{b}`", f"{t:.1f}"]
        for (a, s), (b, t) in zip(before[which].items(), after[which].items())
    ]
    return table(["before", "s", "after", "s"], rows)
