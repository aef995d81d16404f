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


def simulate(
    seed: int, workers: int = 60, assignments: int = 400, shares: tuple[float, ...] = SHARES, language: str = "xx",
    countries: tuple[str, ...] = (),
) -> Crowd:  # fmt: skip
    """Draw a crowd and its answers; workers who did no assignment are not in the log.

    >>> crowd = simulate(0)
    >>> len(crowd.log), len(crowd.controls), 0.5 < len(crowd.machine) / 1167
    (4000, 100, True)
    """
    rng = np.random.default_rng(seed)
    kinds = rng.choice(len(KINDS), workers, p=np.array(shares) / sum(shares))
    ability = np.select(
        [kinds == SPEAKER, kinds == WEAK, kinds == SPAMMER], [rng.beta(16, 4, workers), rng.beta(8, 8, workers), 0.02]
    )
    tasks = -(-assignments // COPIES)
    activity = 1.0 / np.arange(1, workers + 1) ** ZIPF
    activity = rng.permutation(activity / activity.sum())
    doers = np.concatenate([rng.choice(workers, COPIES, replace=False, p=activity) for _ in range(tasks)])[:assignments]
    open_words, control_words = tasks * (SIZE - CONTROLS), 100
    asked = np.concatenate([
        np.arange(open_words).reshape(tasks, SIZE - CONTROLS),
        open_words + np.array([rng.choice(control_words, CONTROLS, replace=False) for _ in range(tasks)]),
    ], axis=1)  # fmt: skip
    task = np.repeat(np.arange(tasks), COPIES)[:assignments]
    item, worker, job = asked[task].ravel(), np.repeat(doers, SIZE), np.repeat(np.arange(assignments), SIZE)
    machine_right = rng.random(open_words + control_words) < 0.6
    answers = _answers(rng, item, kinds[worker], ability[worker], machine_right)
    present, compact = np.unique(worker, return_inverse=True)
    names = [f"w{number}" for number in present.tolist()]
    columns = {
        "worker": Coded(names, compact.astype(np.int32)),
        "item": Coded([f"word{n}" for n in range(open_words + control_words)], item.astype(np.int32)),
        "answer": Coded.of(answers),
        "assignment": Coded([str(n) for n in range(assignments)], job.astype(np.int32)),
        "language": Coded([language], np.zeros(len(item), dtype=np.int32)),
    }
    if countries:
        place = np.array([countries.index(name) for name in countries])[np.arange(workers) % len(countries)]
        columns["country"] = Coded(list(countries), place[worker].astype(np.int32))
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
