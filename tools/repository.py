"""Where things are in the repository, and how its measurements are read."""

import json
import pathlib
import subprocess
from typing import Any

from tools.digest import digest, expanded, text_of

Json = dict[str, Any]  # a record of a measurement, or a part of one

ROOT = pathlib.Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
FIGURES = DOCS / "figures"
MEASUREMENTS = DOCS / "measurements"
CPU = MEASUREMENTS / "cpu"  # what any machine can find out: the executor's counts, compiled code
GPU_NAME = "nvidia-h200"  # of the GPU that the pages show
GPU = MEASUREMENTS / GPU_NAME
# What was measured anew on another GPU since. Such a file is shown in place of the first GPU's and says whose it is; it
# goes when the first GPU has been asked again.
SINCE = MEASUREMENTS / "nvidia-h100-80gb-hbm3"
TUNED = ROOT / "tsm" / "tuned" / f"{GPU_NAME}.json"
NOT_IN_HISTORY = MEASUREMENTS / "not_in_history.json"  # commits named by records, and how to measure anew
REFERENCE = MEASUREMENTS / "reference.json"  # ./lab pages makes it of the others (tools/pages/reference.py)
FAMILIES = {"sgemm": "stages", "tsm": "tsm", "tensorcore": "tensorcore"}  # family: its folder
CUDA_WHEELS = ROOT / ".lab" / "cuda-wheels" / "cuda" / "bin"  # where ./lab puts the CUDA toolkit's programs


def relative(path: pathlib.Path) -> str:
    """As pages and messages name a file."""
    return path.relative_to(ROOT).as_posix()


def newest(path: pathlib.Path) -> pathlib.Path:
    """Of a measurement on the pages' GPU the one that was made since, if there is one."""
    since = SINCE / path.relative_to(GPU) if path.is_relative_to(GPU) else path
    return since if since.exists() else path


def read_json(path: pathlib.Path) -> Any:
    """A digest of measurements as the run that it is of."""
    return expanded(json.loads(path.read_text()))


def write_digest(path: pathlib.Path, run: Json) -> None:
    """As measurements are committed (tools/digest.py)."""
    path.write_text(text_of(digest(run)) + "\n")


def read_json_if_there(path: pathlib.Path) -> Any:
    """None where it was not measured yet."""
    return read_json(path) if path.exists() else None


def stage_file(stage: str) -> pathlib.Path:
    """Of family/NN_name."""
    family, name = stage.split("/")
    return ROOT / FAMILIES[family] / f"{name}.cu"


def stages() -> list[str]:
    """family/NN_name of every numbered file, probes too."""
    return [
        f"{family}/{path.stem}"
        for family, folder in FAMILIES.items()
        for path in sorted((ROOT / folder).glob("[0-9][0-9]*_*.cu"))
    ]


def generating_stages() -> dict[str, list[str]]:
    """By tall & skinny product, the stages that generate a kernel for each size, pipelines last."""
    found: dict[str, list[str]] = {"tsmttsm": [], "tsmm": []}
    for stage in stages():
        source = stage_file(stage).read_text()
        if "generated::kernels_of<" in source:
            found["tsmm" if "TsmmProblem" in source else "tsmttsm"].append(stage)
    return found


def with_history(lines: list[str]) -> list[str]:
    """Lines of a page; where they name a commit that the repository doesn't have, they say so."""
    for commit, entry in read_json(NOT_IN_HISTORY).items():
        note = (
            f"commit {commit} (which is not in this repository's history, so this run can't be repeated exactly; "
            f"`{entry['again']}` measures anew)"
        )
        lines = [line.replace(f"commit {commit}", note) for line in lines]
    return lines


def commit_of_tree(record: pathlib.Path) -> str:
    """As measurements name it. `record`: the file that is about to be replaced, which is no change."""

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True).stdout.strip()

    changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", f":!{record.relative_to(ROOT)}")
    return git("rev-parse", "--short=12", "HEAD") + ("-dirty" if changed else "")
