"""Modules that attack in their own way, as parts: hostile model files, damaged inputs and killed runs.

`models.py`, `inputs.py` and `kills.py` are of use without the frame, too; here they get a number of attacks, a seed and
minutes.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType
from typing import Any

from weft.progress import progress

from .outcome import Deadline, Outcome, attack_seed

#: Hostile files of one model between two looks at the clock.
FILES = 10
#: Damaged files of every format between two looks at the clock.
TIMES = 10
#: Seconds for these.
PATIENCE = 600.0
#: Rounds of kills between two looks at the clock: every kind of round once.
ROUNDS = 4
#: Answers of `models.py` for changes that made no hostile file.
VOID = ("does", "not")
#: Counts of `kills.py` that are no attacks.
BESIDES = re.compile("folders|messages|undisturbed|kills by|failures")


@dataclass(frozen=True)
class Adapter:
    """A function that runs a module as a part, the attacks of a full run, and its share of a timed one."""

    run: Callable[[ModuleType, int, int, float | None], Outcome]
    count: int
    share: float = 1.0


def _run_models(module: ModuleType, count: int, seed: int, minutes: float | None) -> Outcome:
    """As many hostile files of every kind of model, and of those in the package; some changes make none."""
    outcome, deadline = Outcome("models"), Deadline(minutes)
    with tempfile.TemporaryDirectory() as folder, progress("hostile models", count, "files") as bar:
        models = module.small_models(Path(folder))
        models |= {path.stem: path for path in sorted(module.SHIPPED.glob("*.weft"))}
        number = 0
        while outcome.attempts < count and not deadline.passed():
            name, path = list(models.items())[number % len(models)]
            own, before = attack_seed(seed, number), outcome.attempts
            facts = module.hostile_models({name: path}, FILES, own)
            for failure in facts["failures"]:
                outcome.fail(name, own, f"{failure['place']}, {failure['change']}: {failure['answer']}")
            void = sum(facts["outcomes"].get(answer, 0) for answer in VOID)
            outcome.hold(name, facts["mutants"] - void - len(facts["failures"]))
            for answer, times in facts["outcomes"].items():
                if answer not in VOID:
                    outcome.figures[answer] = outcome.figures.get(answer, 0) + times
            number += 1
            bar.advance(outcome.attempts - before)
    return outcome


def _run_inputs(module: ModuleType, count: int, seed: int, minutes: float | None) -> Outcome:
    """Damaged files of all formats in turn, some hundred in each process, so that a crash costs only those."""
    outcome, deadline = Outcome("inputs"), Deadline(minutes)
    size = TIMES * len(module.KINDS)
    with tempfile.TemporaryDirectory() as folder, progress("damaged inputs", count, "files") as bar:
        tagger = module.a_tagger(Path(folder))
        for number in range(-(-count // size)):
            if deadline.passed():
                break
            own, files = attack_seed(seed, number), min(size, count - number * size)
            facts = forked(partial(module.hostile_inputs, files, own, tagger))
            if isinstance(facts, str):
                outcome.fail("process", own, f"a process that reads {files} files {facts}")
            else:
                _count_inputs(outcome, facts)
            bar.advance(files)
    return outcome


def forked(work: Callable[[], Any], patience: float = PATIENCE) -> Any:
    """What some work returns in a process of its own, or in words how the process ended.

    >>> import os
    >>> forked(lambda: [1, 2]), forked(lambda: os.kill(os.getpid(), 9))
    ([1, 2], 'died of signal 9')
    """
    context = get_context("fork")
    mine, theirs = context.Pipe(duplex=False)
    process = context.Process(target=lambda: theirs.send(work()))
    process.start()
    theirs.close()
    try:
        if mine.poll(patience):
            return mine.recv()
        process.kill()
        return f"still ran after {patience:g} seconds"
    except EOFError:
        process.join()
        code = process.exitcode or 0
        return f"died of signal {-code}" if code < 0 else f"ended with exit code {code}"
    finally:
        process.join()
        mine.close()


def _count_inputs(outcome: Outcome, facts: dict[str, Any]) -> None:
    for failure in facts["failures"]:
        outcome.fail(failure["kind"], failure["seed"], f"{failure['error']}\n{failure.get('trace', '')}")
    for row in facts["rows"]:
        for answer in ("accepted", "skipped", "refused"):
            if row[answer]:
                outcome.hold(row["format"], row[answer])
                outcome.figures[answer] = outcome.figures.get(answer, 0) + row[answer]


def _run_kills(module: ModuleType, count: int, seed: int, minutes: float | None) -> Outcome:
    """Rounds of kills; every round stops an annotating run, and makes one of the other attacks."""
    outcome, deadline = Outcome("kills"), Deadline(minutes)
    with progress("kills", count, "rounds") as bar:
        for number in range(-(-count // ROUNDS)):
            if deadline.passed():
                break
            own, rounds = attack_seed(seed, number), min(ROUNDS, count - number * ROUNDS)
            _count_kills(outcome, own, rounds, module.run(rounds, own))
            bar.advance(rounds)
    return outcome


def _count_kills(outcome: Outcome, seed: int, rounds: int, facts: dict[str, Any]) -> None:
    failed = [str(failure) for failure in facts["failed"]]
    for failure in failed:
        outcome.fail(re.split(r" \d+: ", failure)[0], seed, failure)
    for kind, times in facts.items():
        if isinstance(times, int) and not BESIDES.match(kind):
            own = sum(failure.startswith(f"{kind} ") for failure in failed)
            outcome.hold(kind, max(times - own, 0))
        elif kind.startswith("kills by"):
            outcome.figures[kind] = outcome.figures.get(kind, 0) + times
    outcome.figures["rounds"] = outcome.figures.get("rounds", 0) + rounds


ADAPTERS = {
    "models": Adapter(_run_models, 2_000, 3.0),
    "inputs": Adapter(_run_inputs, 20_000, 2.0),
    "kills": Adapter(_run_kills, 40, 2.0),
}
