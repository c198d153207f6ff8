"""Goes through the mutants of several stages, some at a time."""

from __future__ import annotations

import concurrent.futures
import pathlib
import tempfile
import time
from collections.abc import Iterator

from tools.mutate.build import Build
from tools.mutate.judge import Subject, Verdict, verdict
from tools.mutate.mutants import drawn

TRIES = 20  # mutants drawn for one that compiles
AHEAD = 2  # stages that are begun before the first is done


class Stage:
    """One of those that are under way."""

    def __init__(self, name: str, seed: int, wanted: int) -> None:
        self.name, self.wanted = name, wanted
        self.queue = enumerate(drawn(name, seed))
        self.tries = wanted * TRIES
        self.judged: dict[int, Verdict] = {}  # by place in the queue
        self.running = 0


class Campaign:
    def __init__(self, build: pathlib.Path, seed: int, per_stage: int, jobs: int) -> None:
        self.build, self.seed, self.per_stage, self.jobs = Build(build), seed, per_stage, jobs
        self.verdicts: dict[str, list[Verdict]] = {}
        self.seconds = 0.0

    def run(self, stages: list[str]) -> Iterator[tuple[str, list[Verdict]]]:
        """Of each stage the verdicts of its first mutants that compile, as soon as it is done."""
        begin = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="mutate.") as name:
            pool = concurrent.futures.ThreadPoolExecutor(self.jobs)
            try:
                for stage in self.go_through(stages, pool, pathlib.Path(name)):
                    self.verdicts[stage.name] = [stage.judged[place] for place in sorted(stage.judged)]
                    self.seconds = time.monotonic() - begin
                    yield stage.name, self.verdicts[stage.name]
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
            pool.shutdown()

    def go_through(
        self, names: list[str], pool: concurrent.futures.ThreadPoolExecutor, folder: pathlib.Path
    ) -> Iterator[Stage]:
        waiting = list(names)
        open_stages = 0
        pending: dict[concurrent.futures.Future, tuple[Stage, Subject | None, int]] = {}

        def begin_next() -> None:
            nonlocal open_stages
            if waiting:
                stage = Stage(waiting.pop(0), self.seed, self.per_stage)
                own = folder / stage.name.replace("/", "_")
                own.mkdir()
                open_stages += 1
                pending[pool.submit(Subject, self.build, stage.name, own)] = stage, None, -1

        def try_one(stage: Stage, subject: Subject) -> None:
            if stage.tries > 0 and (entry := next(stage.queue, None)):
                stage.tries -= 1
                stage.running += 1
                pending[pool.submit(verdict, subject, entry[1])] = stage, subject, entry[0]

        for _ in range(AHEAD):
            begin_next()
        while pending:
            done, _ = concurrent.futures.wait(pending, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                stage, subject, place = pending.pop(future)
                result = future.result()
                if isinstance(result, Subject):
                    for _ in range(stage.wanted):
                        try_one(stage, result)
                else:
                    stage.running -= 1
                    if result:
                        stage.judged[place] = result
                    elif subject:
                        try_one(stage, subject)  # in its place the next one
                if stage.running == 0:
                    open_stages -= 1
                    begin_next()
                    yield stage
