"""Translation tasks for a crowd: words with sentences, and control words whose translation is known.

Controls come from titles of encyclopedias that are linked across languages; a title is left out if

    1  the English title is not in WordNet                     3  the page is about a person or a place
    2  either title has more than one word                     4  the titles are equal, or one is a part of the other
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from weft.errors import ConfigError, DataError

#: Categories of pages that rule 3 leaves out.
NAMED = ("PEOPLE", "PLACES", "PERSON", "PLACE")


class Title(NamedTuple):
    """A title, the English one it is linked to, and the category of the page."""

    title: str
    english: str
    category: str = ""


class Controls(NamedTuple):
    """The titles that can be controls, and how many every rule leaves out; the first that applies counts."""

    kept: list[Title]
    left_out: dict[int, int]


def control_titles(
    titles: Sequence[Title], in_wordnet: Callable[[str], bool], named: Container[str] = NAMED
) -> Controls:
    """Apply the four rules.

    >>> found = control_titles([Title("pani", "Water"), Title("new delhi", "New Delhi"), Title("radio", "Radio")],
    ...                        lambda word: True)
    >>> [title.english for title in found.kept], found.left_out
    (['Water'], {1: 0, 2: 1, 3: 0, 4: 1})
    """
    kept, out = [], Counter[int]()
    for title in titles:
        rule = _broken_rule(title, in_wordnet, named)
        if rule:
            out[rule] += 1
        else:
            kept.append(title)
    return Controls(kept, {rule: out[rule] for rule in (1, 2, 3, 4)})


def _broken_rule(title: Title, in_wordnet: Callable[[str], bool], named: Container[str]) -> int:
    own, english = (" ".join(each.replace("_", " ").split()).casefold() for each in title[:2])
    if not own or not english or not in_wordnet(english):
        return 1
    if " " in own or " " in english:
        return 2
    if title.category.upper() in named:
        return 3
    return 4 if own in english or english in own else 0


class Question(NamedTuple):
    """A word of a task; for a control the gold answer is known, and not shown."""

    item: str
    contexts: tuple[str, ...]
    gold: str = ""


def batches(
    words: Sequence[str], controls: Mapping[str, str], contexts: Mapping[str, Sequence[str]] | None = None, *,
    size: int = 10, per_task: int = 2, sentences: int = 3, seed: int = 0,
) -> list[list[Question]]:  # fmt: skip
    """Tasks of `size` words, `per_task` of which are controls at random places; the last may have fewer open words.

    >>> tasks = batches([f"word{n}" for n in range(16)], {"pani": "water", "ghar": "house", "din": "day"})
    >>> len(tasks), {sum(bool(question.gold) for question in task) for task in tasks}
    (2, {2})
    """
    if not 0 < per_task < size:
        raise ConfigError(f"a task of {size} words needs between 1 and {size - 1} controls, got {per_task}")
    if len(controls) < per_task:
        raise DataError(f"{per_task} controls per task need at least as many control words, got {len(controls)}")
    rng = np.random.default_rng(seed)
    golds, shown = sorted(controls), contexts or {}
    tasks = []
    open_words = [word for word in dict.fromkeys(words) if word not in controls]
    room = size - per_task
    for begin in range(0, len(open_words), room):
        drawn = [golds[k] for k in rng.choice(len(golds), per_task, replace=False)]
        asked = [*open_words[begin : begin + room], *drawn]
        tasks.append([
            Question(asked[k], tuple(shown.get(asked[k], ()))[:sentences], controls.get(asked[k], ""))
            for k in rng.permutation(len(asked))
        ])  # fmt: skip
    return tasks


class Review(NamedTuple):
    """What to do with an assignment: pay and keep it, or post its words again."""

    assignment: str
    worker: str
    accept: bool
    quality: float


def review(qualities: Mapping[tuple[str, str], float], least: float = 0.5) -> list[Review]:
    """Accept assignments whose controls are good enough; those without controls are accepted.

    >>> [(each.worker, each.accept) for each in review({("w", "1"): 1.0, ("v", "1"): 0.0})]
    [('v', False), ('w', True)]
    """
    return [
        Review(assignment, worker, not quality < least, quality)
        for (worker, assignment), quality in sorted(qualities.items())
    ]


def still_needed(tasks: Mapping[str, int], reviews: Sequence[Review], copies: int = 3) -> dict[str, int]:
    """How many more workers every task needs, after rejections.

    >>> still_needed({"1": 0, "2": 0}, [Review("1", "w", True, 1.0), Review("1", "v", False, 0.0)])
    {'1': 2, '2': 3}
    """
    accepted = Counter(each.assignment for each in reviews if each.accept)
    return {name: copies - accepted[name] for name in tasks if accepted[name] < copies}
