"""What every part of the fuzzer returns: how many attacks were tried, how many held, and each one that failed.

A part is a module of this folder with

    COUNT = 2_000           # attacks in the full run
    SHARE = 1.0             # share of the time of a timed run, against the other parts; 1 if not given
    BATCH = 1               # attacks that share one seed; 1 if not given
    BESIDE = False          # True for a part that lasts the whole run and leaves a core to the others; optional

    def run(count: int, seed: int, minutes: float | None = None) -> Outcome: ...

`run` makes `count` attacks, or fewer if `minutes` are up before. The same seed makes the same attacks in the same
order, so that a failure can be repeated: attack number i draws from `random.Random(attack_seed(seed, i))`, and the
failure carries that number. A part never ends in an exception because Weft failed: it records a failure and goes on.
Work that may kill the process (hostile model files, memory) runs in a process of its own; the frame also runs every
part in one, and reports a part that dies.
"""

from __future__ import annotations

import hashlib
import time
import traceback
from dataclasses import dataclass, field
from typing import Any

#: Further failures are only counted.
MOST_KEPT = 50
#: Characters of a failure's description that are recorded.
DETAIL = 2_000


@dataclass
class Failure:
    """One attack that did not hold: what was attacked, the seed that makes it again, and what happened.

    `case` is the attacking input itself, which the frame writes into the folder of `--keep`, never into the results.
    """

    what: str
    seed: int
    detail: str
    case: bytes | str | None = None


@dataclass
class Outcome:
    """The result of a part.

    >>> outcome = Outcome("readers")
    >>> outcome.hold("jsonl")
    >>> outcome.fail("jsonl", 7, ValueError("no such head"), case=b"{}")
    >>> outcome.attempts, outcome.held, outcome.failures[0].detail, outcome.kinds
    (2, 1, "ValueError('no such head')", {'jsonl': [2, 1]})
    """

    part: str
    attempts: int = 0
    held: int = 0
    failures: list[Failure] = field(default_factory=list)
    #: Further facts for the record, such as the highest memory.
    figures: dict[str, Any] = field(default_factory=dict)
    #: Attempts and failures by kind of attack.
    kinds: dict[str, list[int]] = field(default_factory=dict)

    def hold(self, kind: str, times: int = 1) -> None:
        """Count attacks that held."""
        self.attempts += times
        self.held += times
        self.kinds.setdefault(kind, [0, 0])[0] += times

    def fail(self, kind: str, seed: int, detail: BaseException | str, case: bytes | str | None = None) -> None:
        """Count an attack that failed, and keep its seed, its error and its input."""
        self.attempts += 1
        row = self.kinds.setdefault(kind, [0, 0])
        row[0] += 1
        row[1] += 1
        if len(self.failures) < MOST_KEPT:
            self.failures.append(Failure(kind, seed, _described(detail)[:DETAIL], case))

    @property
    def failed(self) -> int:
        """How many attacks did not hold."""
        return self.attempts - self.held


class Deadline:
    """Whether the minutes of a part are up; never, if none are given.

    >>> Deadline(None).passed(), Deadline(0).passed()
    (False, True)
    """

    def __init__(self, minutes: float | None) -> None:
        self.end = None if minutes is None else time.monotonic() + 60 * minutes

    def passed(self) -> bool:
        return self.end is not None and time.monotonic() >= self.end


def attack_seed(seed: int, number: int) -> int:
    """The seed of one attack, from the seed of the run and the number of the attack.

    A run of the seed -s (`--repeat s`) begins with the attack of the seed s, that of a failure.

    >>> attack_seed(0, 1) == attack_seed(0, 1) != attack_seed(1, 0)
    True
    >>> attack_seed(-17, 0)
    17
    """
    if seed < 0 and number == 0:
        return -seed
    return int.from_bytes(hashlib.sha256(f"{seed}:{number}".encode()).digest()[:6], "big")


def _described(detail: BaseException | str) -> str:
    if isinstance(detail, str):
        return detail
    frames = traceback.extract_tb(detail.__traceback__)[-3:]
    places = "".join(f" < {frame.name}:{frame.lineno}" for frame in reversed(frames))
    return f"{detail!r}{places}"
