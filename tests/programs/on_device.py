#!/usr/bin/env python3
"""Runs the programs of right/, wrong/ and cases/ on a GPU, and each under compute-sanitizer's four tools. Writes JSON.

usage: PYTHONPATH=. on_device.py OUT.json [--seconds 240] [--jobs N] [--only NAME,...] [--arch sm_90]
       on_device.py --outputs-of OUT.json [--digest FILE --commit HASH]
           on any machine: write right/NAME.out from it, and to FILE what pages need of the rest: the committed
           form, with the commit of the programs that ran

A program may crash or hang: each run has a time limit and a process group of its own. What has not begun when the time
is up is recorded as not run. Exit status 1 if a program does not compile without warnings, a right one fails, or a case
of which the executor reports nothing prints something else here.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from catalogue import FOLDER, Program, cases, chosen, outputs_of_cases, programs

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
COMPILE_LIMIT, RUN_LIMIT, TOOL_LIMIT = 60, 15, 40  # seconds
MOST_TEXT = 20_000  # characters of what a program prints
SUMMARY = re.compile(r"ERROR SUMMARY: (\d+) error|RACECHECK SUMMARY: (\d+) hazards?")
# The first line of a report stands right behind the bars; what belongs to it is indented further.
NO_REPORT = (
    "COMPUTE-SANITIZER|ERROR SUMMARY|RACECHECK SUMMARY|Target application|Error: [Pp]rocess|Error: No attachable"
)
HEADLINE = re.compile(rf"^========= (?!{NO_REPORT})(\S.*)$")


def run_limited(command: list[object], seconds: float, folder: pathlib.Path) -> tuple[int | None, str, str]:
    """Exit status, which is None after the time limit, standard output and error; nothing that it started goes on."""
    with tempfile.TemporaryFile(dir=folder) as out, tempfile.TemporaryFile(dir=folder) as err:
        process = subprocess.Popen(
            [str(word) for word in command],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        status: int | None
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            status = None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):  # the driver may not have let go of it
            process.wait(10)
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read(MOST_TEXT * 20).decode(errors="replace"))
        return status, texts[0], texts[1]


def without_digits(headline: str) -> str:
    """A report without addresses and numbers of a run, so that equal reports are one."""
    headline = re.sub(r"0x[0-9a-f]+", "ADDRESS", headline)
    return re.sub(r" \(\d+,\d+,\d+\)", "", headline).strip()


def verdict_of(text: str, program: Program) -> dict[str, object]:
    """What a tool's output says."""
    summary = SUMMARY.findall(text)
    headlines: list[str] = []
    for line in text.splitlines():
        match = HEADLINE.match(line)
        if match and (headline := without_digits(match[1])) not in headlines:
            headlines.append(headline)
    result: dict[str, object] = {
        "errors": int(summary[-1][0] or summary[-1][1]) if summary else None,
        "says": [headline[:160] for headline in headlines[:3]],
    }
    if program.mark:
        lines = {int(n) for n in re.findall(rf"\b{re.escape(program.mark.file)}:(\d+)", text)}
        result["line_named"] = program.mark.line in lines
        if program.mark.others:
            result["other_named"] = bool(lines & set(program.mark.others))
    return result


class Device:
    """All runs, each of which begins before the time is up or not at all."""

    def __init__(self, folder: pathlib.Path, arch: str, seconds: float) -> None:
        self.folder, self.arch, self.end = folder, arch, time.monotonic() + seconds

    def left(self, limit: float) -> float:
        return min(limit, self.end - time.monotonic())

    def compile(self, program: Program) -> dict[str, object]:
        if (seconds := self.left(COMPILE_LIMIT)) < 1:
            return {"status": "not run"}
        command = ["nvcc", "-std=c++17", f"-arch={self.arch}", "-lineinfo", "-g", "-O2"]
        command += ["-o", self.folder / program.name, *program.files]
        status, out, err = run_limited(command, seconds, self.folder)
        return {"status": status, **({"messages": (out + err)[:2000]} if out + err else {})}

    def run(self, program: Program) -> dict[str, object]:
        if (seconds := self.left(RUN_LIMIT)) < 1:
            return {"status": "not run"}
        status, out, err = run_limited([self.folder / program.name], seconds, self.folder)
        result: dict[str, object] = {"status": "time limit" if status is None else status, "output": out[:MOST_TEXT]}
        if err:
            result["messages"] = err[:500]
        return result

    def inspect(self, program: Program, tool: str) -> dict[str, object]:
        if (seconds := self.left(TOOL_LIMIT)) < 1:
            return {"status": "not run"}
        command = ["compute-sanitizer", "--tool", tool, "--print-limit", "20", self.folder / program.name]
        status, out, err = run_limited(command, seconds, self.folder)
        return {"status": "time limit" if status is None else status, **verdict_of(out + err, program)}


def first_line(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return next((line.strip() for line in done.stdout.splitlines() if line.strip()), "")


def measure(selected: list[Program], options: argparse.Namespace) -> dict[str, object]:
    results: dict[str, dict[str, object]] = {
        program.name: {"kind": "case" if program.is_case else "wrong" if program.mark else "right"}
        for program in selected
    }
    with (
        tempfile.TemporaryDirectory() as name,
        concurrent.futures.ThreadPoolExecutor(options.jobs) as pool,
    ):
        device = Device(pathlib.Path(name), options.arch, options.seconds)
        compiled = pool.map(device.compile, selected)
        for program, result in zip(selected, compiled):
            results[program.name]["compile"] = result
        there = [program for program in selected if results[program.name]["compile"]["status"] == 0]
        for program, result in zip(there, pool.map(device.run, there)):
            results[program.name]["run"] = result
        # Those that hang occupy the GPU: they come last.
        there.sort(key=lambda program: results[program.name]["run"]["status"] == "time limit")
        jobs = {pool.submit(device.inspect, program, tool): (program, tool) for program in there for tool in TOOLS}
        for done in concurrent.futures.as_completed(jobs):
            program, tool = jobs[done]
            results[program.name].setdefault("tools", {})[tool] = done.result()  # type: ignore[attr-defined]
    for program in selected:
        if program.mark:
            results[program.name]["mark"] = {
                "line": program.mark.line,
                "others": program.mark.others,
                "kinds": program.mark.kinds,
            }
    return {
        "device": first_line(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]),
        "driver": first_line(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]),
        # With HMM, kernels may read the host's memory.
        "addressing": first_line(["sh", "-c", "nvidia-smi -q | grep Addressing"]),
        "cuda": first_line(["sh", "-c", "nvcc --version | grep release"]),
        "programs": dict(sorted(results.items())),
    }


def problems(report: dict[str, object]) -> list[str]:
    """What must not be: a right program that fails, a right case that prints something else than on the executor, or
    any program that does not compile silently."""
    found = []
    expected = outputs_of_cases()
    for name, result in report["programs"].items():  # type: ignore[attr-defined]
        if result["compile"] != {"status": 0}:
            found.append(f"{name}: compile: {result['compile']}")
        elif result["kind"] == "right" and result["run"]["status"] != 0:
            found.append(f"{name}: run: {result['run']}")
        elif result["kind"] == "case" and result["run"]["output"].splitlines() != expected.get(
            name, result["run"]["output"].splitlines()
        ):
            found.append(f"{name}: prints {result['run']['output']!r}, on the executor {expected[name]}")
        found += [
            f"{name}: {tool}: not run" for tool, of in result.get("tools", {}).items() if of["status"] == "not run"
        ]
    return found


def write_outputs(report: dict[str, object]) -> int:
    number = 0
    for name, result in report["programs"].items():  # type: ignore[attr-defined]
        if result["kind"] == "right" and result.get("run", {}).get("status") == 0:
            (FOLDER / "right" / f"{name}.out").write_text(result["run"]["output"])
            number += 1
    return number


def digest_of(report: dict[str, object], commit: str) -> str:
    """Without what the programs printed, and of what a tool says the first words; a program a line."""
    programs: dict[str, dict[str, object]] = report["programs"]  # type: ignore[assignment]
    lines = []
    for name, result in programs.items():
        kept = {key: value for key, value in result.items() if key in ("kind", "run", "mark")}
        kept["run"] = {"status": result.get("run", {}).get("status")}  # type: ignore[attr-defined]
        kept["tools"] = {
            tool: {**of_tool, "says": of_tool.get("says", [])[:1]}
            for tool, of_tool in result.get("tools", {}).items()  # type: ignore[attr-defined]
            if of_tool.get("errors") or of_tool.get("status") != 0
        }
        lines.append(f"  {json.dumps(name)}: {json.dumps(kept)}")
    head = {"commit": commit} | {key: value for key, value in report.items() if key != "programs"}
    return json.dumps(head)[:-1] + ', "programs": {\n' + ",\n".join(lines) + "\n}}\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", nargs="?", type=pathlib.Path)
    parser.add_argument("--outputs-of", type=pathlib.Path)
    parser.add_argument("--digest", type=pathlib.Path)
    parser.add_argument("--commit", default="")
    parser.add_argument("--seconds", type=float, default=240)
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 1) - 1))
    parser.add_argument("--only")
    parser.add_argument("--arch", default="sm_90")
    options = parser.parse_args()
    if options.outputs_of:
        report = json.loads(options.outputs_of.read_text())
        print(f"{write_outputs(report)} files written")
        if options.digest:
            if not options.commit:
                parser.error("--digest needs --commit: of which programs?")
            options.digest.write_text(digest_of(report, options.commit))
        return 0
    if options.out is None:
        parser.error("where shall the JSON go?")
    for tool in ("nvcc", "compute-sanitizer"):
        if not shutil.which(tool):
            print(f"error: no {tool} in PATH", file=sys.stderr)
            return 2
    try:
        selected = chosen(options.only, [*programs(), *cases()])
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    begin = time.monotonic()
    report = measure(selected, options)
    part = options.out.with_name(options.out.name + ".part")
    part.write_text(json.dumps(report, indent=1) + "\n")
    part.replace(options.out)
    found = problems(report)
    for each in found:
        print(each)
    print(f"{len(selected)} programs, {time.monotonic() - begin:.0f} s, {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
