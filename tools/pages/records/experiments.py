"""What `./lab experiment` found, as JSON."""

import pathlib

from tools.experiments.sgemm import EXPERIMENTS
from tools.repository import CPU, GPU, SINCE, newest, read_json

# A GPU's before the executor's.
FOLDERS = [folder / "experiments" for folder in (SINCE, GPU, CPU)]


def record_file(name: str) -> pathlib.Path | None:
    return next((folder / f"{name}.json" for folder in FOLDERS if (folder / f"{name}.json").exists()), None)


def gpu_file(name: str) -> pathlib.Path:
    """Of an experiment that needs a GPU; may be missing."""
    return newest(GPU / "experiments" / f"{name}.json")


def drawn() -> dict[str, pathlib.Path]:
    """The sources' experiments with a figure: those that were timed, and the counts of requests."""
    found = {name: record_file(name) for name, experiment in EXPERIMENTS.items() if experiment.kind != "rectangular"}
    return {
        name: path
        for name, path in found.items()
        if path and (EXPERIMENTS[name].kind == "requests" or not read_json(path)["executor"])
    }
