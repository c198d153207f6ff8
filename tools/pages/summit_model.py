"""How stage 18 chooses: its cost model, from the constants in its source, for the tables of its page and its figure.

A second implementation of stages/summit/model.hpp, which is C++ and runs before each launch; here it is told again, for
a GPU with the H200's number of SMs.
"""

import re

from tools.repository import ROOT, Json

SMS = 132  # of an H200
SOURCES = [ROOT / "stages/summit" / name for name in ("shape.cuh", "pack.cuh", "model.hpp")]


def ceil_div(a: int, b: int) -> int:
    return -(-a // b)


class Model:
    """The constants of the source."""

    def __init__(self) -> None:
        source = "".join(file.read_text() for file in SOURCES)

        def value(name: str) -> float:
            return float(re.search(rf"constexpr double {name} = ([0-9.e+]+)", source).group(1))

        self.launch, self.part_bytes, self.pack_bytes = value("LAUNCH"), value("PART_BYTES"), value("PACK_BYTES")
        self.add_bytes, self.tickets = value("ADD_BYTES"), int(re.search(r"int TICKETS = (\d+)", source).group(1))
        self.panel, self.pack_b_rows = (
            int(re.search(rf"\b{name} = (\d+)", source).group(1)) for name in ("PANEL", "PACK_B_ROWS")
        )
        slice_k = int(re.search(r"SLICE_K = (\d+)", source).group(1))
        self.shapes: dict[str, Json] = {}
        for name, arguments in re.findall(r"using (\w+) = Shape<([\d, ]+)>", source):
            m, n, _, _, _, _, slices, blocks = map(int, arguments.split(","))
            found = re.search(rf"COSTS<{name}> = \{{\{{([^}}]*)\}}, ([0-9., ]+)\}}", source)
            tile, part, ragged, words, packed = map(float, found.group(2).split(","))
            self.shapes[name] = {
                "m": m,
                "n": n,
                "k": slices * slice_k,
                "slices": slices,
                "blocks": blocks,
                "round": [float(x) for x in found.group(1).split(",")],
                "tile": tile,
                "part": part,
                "ragged": ragged,
                "words": words,
                "packed": packed,
            }

    def wave(self, shape: Json, blocks: int, rounds: int, slower: float = 1.0, tiles: int = 1) -> float:
        """Of at most as many blocks as there are places, each with a few tiles."""
        return slower * rounds * shape["round"][(blocks - 1) // SMS] + tiles * shape["tile"] if blocks else 0.0

    def tiles(self, name: str, m: int, n: int) -> int:
        return ceil_div(m, self.shapes[name]["m"]) * ceil_div(n, self.shapes[name]["n"])

    def share(self, name: str, m: int, n: int, k: int, whole: int, workers: int) -> Json:
        """The first tiles shared by workers, `whole` ones not."""
        tiles, rounds = self.tiles(name, m, n), ceil_div(k, self.shapes[name]["k"])
        shared = tiles - whole
        workers = min(workers, shared * rounds)
        if workers == 0:
            return {"tile": name, "tiles": tiles, "rounds": rounds, "shared": 0, "workers": 0, "each": 0, "extra": 0}
        return {
            "tile": name,
            "tiles": tiles,
            "rounds": rounds,
            "shared": shared,
            "workers": workers,
            "each": shared * rounds // workers,
            "extra": shared * rounds % workers,
        }

    def estimate(self, plan: Json, slower: float = 1.0) -> float:
        """Microseconds."""
        shape = self.shapes[plan["tile"]]
        whole, places = plan["tiles"] - plan["shared"], SMS * shape["blocks"]
        time = self.launch + whole // places * self.wave(shape, places, plan["rounds"], slower)
        time += self.wave(shape, whole % places, plan["rounds"], slower)
        if plan["workers"]:
            tiles = self.tiles_of_a_worker(plan)
            time += (
                self.wave(shape, plan["workers"], plan["each"] + (plan["extra"] > 0), slower, tiles)
                + tiles * shape["part"]
            )
            time += self.reduction(plan)
        return time

    def tiles_of_a_worker(self, plan: Json) -> int:
        """The most that one can have parts of."""
        return 1 if plan["workers"] % plan["shared"] == 0 else plan["each"] // plan["rounds"] + 2

    def adding(self, plan: Json) -> tuple[float, float]:
        """Microseconds for writing and adding up the parts: by the second kernel, and by the last worker of each
        tile."""
        shape = self.shapes[plan["tile"]]
        of_a_part = shape["m"] * shape["n"] * 4
        parts = min(2 * plan["workers"], plan["workers"] + plan["shared"]) * of_a_part / self.part_bytes
        return 2 * parts + self.launch, parts + ceil_div(plan["workers"], plan["shared"]) * of_a_part / self.add_bytes

    def reduced(self, plan: Json) -> bool:
        """By the second kernel?"""
        kernel, worker = self.adding(plan)
        return plan["shared"] > self.tickets or kernel < worker

    def reduction(self, plan: Json) -> float:
        """Microseconds for that, the way it is chosen."""
        return self.adding(plan)[not self.reduced(plan)] if plan["workers"] else 0.0

    def choose(self, m: int, n: int, k: int) -> Json:
        """The plan for dense operands at aligned addresses. Beside what share() says: the `way` to shared memory,
        `time`, of it `packing`, and `slower`, how many times as long rounds take as with fours."""
        aligned, pack_b = k % 4 == 0 and n % 4 == 0, n % 32 != 0
        unpacked = "words" if not aligned else "ragged" if k % 32 or n % 32 else "fours"
        words = self.panel * k * (ceil_div(m, self.panel) + pack_b * ceil_div(n, self.panel))
        best: Json = {}
        for way in (unpacked, "packed"):
            before = self.launch + 2 * 4 * words / self.pack_bytes if way == "packed" else 0.0
            for name, shape in self.shapes.items():
                slower = 1.0 if way == "fours" else shape[way]
                if slower == 0:
                    continue
                places, tiles = SMS * shape["blocks"], self.tiles(name, m, n)
                offers = [(tiles, 0)] + [
                    ((tiles // places - waves) * places, places) for waves in (0, 1) if tiles // places >= waves
                ]
                if tiles < places:
                    offers += [(0, blocks * SMS) for blocks in range(1, shape["blocks"])]
                    offers += [
                        (0, split * tiles) for split in range(2, min(places // tiles, ceil_div(k, shape["k"])) + 1)
                    ]
                for whole, workers in offers:
                    plan = self.share(name, m, n, k, whole, workers)
                    time = before + self.estimate(plan, slower)
                    if not best or time < best["time"]:
                        best = {**plan, "way": way, "packing": before, "slower": slower, "time": time}
        return best
