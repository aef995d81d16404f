"""A crowd whose every worker is known: speakers, weak speakers, spammers, and cheats with a machine.

    kind       share   an answer is
    speaker    55 %    right with her ability ~ Beta(16, 4)
    weak       20 %    right with her ability ~ Beta(8, 8)
    spammer    10 %    right with .02, else a random word
    machine    15 %    the machine's with .9, else wrong

The machine is right on 60 % of the words. A right answer equals the machine's with .8 where the machine is right; where
it is not, 30 % of the right answers are a synonym of the gold one. Activity follows Zipf's law: most assignments are
those of a few workers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weft.annotate.crowd.answers import AnswerLog, Coded

KINDS = ("speaker", "weak", "spammer", "machine")
SPEAKER, WEAK, SPAMMER, MACHINE = range(4)
SHARES = (0.55, 0.20, 0.10, 0.15)
#: The mean ability of those who speak the language: what remains to be estimated without the others.
HONEST = (0.55 * 0.8 + 0.20 * 0.5) / 0.75
ZIPF, COPIES, SIZE, CONTROLS = 1.3, 3, 10, 2
_RANDOM_WORDS, _WRONG = 5000, 4
INSIDE, OUTSIDE = "IN", "OUT"


@dataclass(frozen=True)
class Crowd:
    """A log with what is true of its workers and words."""

    log: AnswerLog
    kinds: NDArray[np.int64]  #: of `log.workers`
    ability: NDArray[np.float64]
    controls: dict[tuple[str, str], str]
    machine: dict[tuple[str, str], str]

    def of_kind(self, kind: int) -> set[str]:
        """The workers of a kind."""
        return {name for name, own in zip(self.log.workers, self.kinds.tolist(), strict=True) if own == kind}


def same(a: str, b: str) -> bool:
    """Perfect judgement of synonyms: they are written as the gold answer with a number.

    >>> same("gold7", "gold7~1"), same("gold7", "gold71")
    (True, False)
    """
    return a.partition("~")[0] == b.partition("~")[0]


@dataclass(frozen=True)
class Population:
    """Who is drawn: how many workers of which kinds; some of them, the last ones, live outside the region.

    `speakers` are the two numbers of the Beta distribution of speakers' abilities; `machine_controls` is how often the
    machine is right on control words, which are common words.
    """

    workers: int = 60
    shares: tuple[float, ...] = SHARES
    speakers: tuple[float, float] = (16.0, 4.0)
    outside: int = 0
    outside_shares: tuple[float, ...] = SHARES
    machine_controls: float = 0.6


def irish() -> Population:
    """A language whose machine translation is good: 54 workers in its region, 47 outside, most of whom copy it."""
    return Population(101, (0.75, 0.25, 0.0, 0.0), (16.0, 4.0), 47, (0.0, 0.4, 0.0, 0.6), 0.9)


def simulate(seed: int, population: Population = Population(), assignments: int = 400, language: str = "xx") -> Crowd:
    """Draw a crowd and its answers; workers who did no assignment are not in the log.

    >>> crowd = simulate(0)
    >>> len(crowd.log), len(crowd.controls), crowd.log.countries
    (4000, 100, ['IN'])
    """
    rng = np.random.default_rng(seed)
    workers, inside = population.workers, population.workers - population.outside
    kinds = np.concatenate([
        rng.choice(len(KINDS), n, p=np.array(shares) / sum(shares))
        for n, shares in ((inside, population.shares), (population.outside, population.outside_shares))
    ])  # fmt: skip
    speakers, weak = rng.beta(*population.speakers, workers), rng.beta(8, 8, workers)
    others = np.where(kinds == SPAMMER, 0.02, 0.0)
    ability = np.where(kinds == SPEAKER, speakers, np.where(kinds == WEAK, weak, others))
    tasks = -(-assignments // COPIES)
    activity = 1.0 / np.arange(1, workers + 1) ** ZIPF
    activity = rng.permutation(activity / activity.sum())
    doers = np.concatenate([
        rng.choice(workers, min(COPIES, workers), replace=False, p=activity) for _ in range(tasks)
    ])[:assignments]  # fmt: skip
    open_words, control_words = tasks * (SIZE - CONTROLS), 100
    asked = np.concatenate([
        np.arange(open_words).reshape(tasks, SIZE - CONTROLS),
        open_words + np.array([rng.choice(control_words, CONTROLS, replace=False) for _ in range(tasks)]),
    ], axis=1)  # fmt: skip
    task = np.repeat(np.arange(tasks), min(COPIES, workers))[:assignments]
    item, worker, job = asked[task].ravel(), np.repeat(doers, SIZE), np.repeat(np.arange(len(doers)), SIZE)
    machine_right = rng.random(open_words + control_words) < np.where(
        np.arange(open_words + control_words) < open_words, 0.6, population.machine_controls
    )
    answers = _answers(rng, item, kinds[worker], ability[worker], machine_right)
    present, compact = np.unique(worker, return_inverse=True)
    columns = {
        "worker": Coded([f"w{number}" for number in present.tolist()], compact.astype(np.int32)),
        "item": Coded([f"word{n}" for n in range(open_words + control_words)], item.astype(np.int32)),
        "answer": Coded.of(answers),
        "assignment": Coded([str(n) for n in range(len(doers))], job.astype(np.int32)),
        "language": Coded([language], np.zeros(len(item), dtype=np.int32)),
        "country": Coded.of([OUTSIDE if number >= inside else INSIDE for number in worker.tolist()]),
    }
    controls = {(language, f"word{n}"): f"gold{n}" for n in range(open_words, open_words + control_words)}
    machine = {
        (language, f"word{n}"): f"gold{n}" if right else f"machine{n}" for n, right in enumerate(machine_right.tolist())
    }
    return Crowd(AnswerLog.from_columns(columns), kinds[present], ability[present], controls, machine)


def _answers(
    rng: np.random.Generator, item: NDArray[np.int64], kind: NDArray[np.int64], ability: NDArray[np.float64],
    machine_right: NDArray[np.bool_],
) -> list[str]:  # fmt: skip
    n = len(item)
    copies = (kind == MACHINE) & (rng.random(n) < 0.9)
    right = (kind != MACHINE) & (rng.random(n) < ability)
    plain = rng.random(n) < np.where(machine_right[item], 0.8, 0.7)
    variant, wrong, word = rng.integers(1, 3, n), rng.integers(0, _WRONG, n), rng.integers(0, _RANDOM_WORDS, n)
    texts = []
    for k in range(n):
        own = int(item[k])
        if copies[k]:
            texts.append(f"gold{own}" if machine_right[own] else f"machine{own}")
        elif right[k]:
            texts.append(f"gold{own}" if plain[k] else f"gold{own}~{variant[k]}")
        else:
            texts.append(f"random{word[k]}" if kind[k] == SPAMMER else f"wrong{own}-{wrong[k]}")
    return texts
