"""How far a project is: items, people, times, hours left, agreement and the learning curve."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.annotate.plans.costs import LearnedCost, segment_features
from weft.workbench.agreement import agreement, by_item, decide
from weft.workbench.project import Project
from weft.workbench.store import FINAL, Answer, Item

#: Recorded times from which the model of times is learned, at least.
LEAST_TIMES = 10


def progress(project: Project) -> dict[str, Any]:
    """The progress of a project as plain values.

    `hours left` adds up the predicted time of every answer that is still wanted: the mean exp(m + s^2 / 2) of a line
    through the logarithms of recorded times, by the number of words and the doubt of the proposal.
    """
    settings, store = project.settings, project.store
    items, standing = store.items(), store.standing()
    schema = settings.schema()
    words = {item.id: item.words for item in items}
    said = by_item(standing)
    decided = {item: decide(schema, answers) for item, answers in said.items()}
    given = {item: sum(each.kind != FINAL for each in answers) for item, answers in said.items()}
    left = [item for item in items for _ in range(max(0, settings.per_item - given.get(item.id, 0)))]
    people: dict[str, list[Answer]] = defaultdict(list)
    for answer in standing:
        if answer.kind != FINAL:
            people[answer.person].append(answer)
    roles = {person.name: person for person in store.people()}
    agreed = agreement(schema, words, standing)
    return {
        "items": len(items),
        "finished": sum(given.get(item.id, 0) >= settings.per_item for item in items),
        "answers": sum(given.values()),
        "wanted": len(items) * settings.per_item,
        "disputed": sum(each is not None and each.disputed for each in decided.values()),
        "people": [
            {"name": name, "role": roles[name].role, "active": roles[name].active, **_work(people.get(name, []))}
            for name in roles
        ],
        "hours left": hours_left(left, [each for each in standing if each.kind != FINAL], words),
        "agreement": {
            **agreed._asdict(),
            "pairs": [
                {**pair._asdict(), "kappa": round(pair.kappa, 4), "f1": round(pair.f1, 4)} for pair in agreed.pairs
            ],
            **{name: _rounded(getattr(agreed, name)) for name in ("kappa", "alpha", "f1")},
        },
        "rounds": store.rounds(),
    }  # fmt: skip


def hours_left(left: Sequence[Item], answers: Sequence[Answer], words: dict[int, int]) -> float | None:
    """The predicted hours for items; None as long as too few times are known."""
    timed = [answer for answer in answers if answer.seconds > 0]
    if len(timed) < LEAST_TIMES:
        return None
    if not left:
        return 0.0
    lengths = [words[answer.item] for answer in timed]
    sure = [float((answer.proposed or {}).get("confidence", 0.5)) for answer in timed]
    model = LearnedCost.fit(segment_features(lengths, sure), [answer.seconds for answer in timed])
    rows = segment_features([item.words for item in left], np.full(len(left), np.mean(sure)))
    # No item takes longer than the longest so far: a line through few logarithms may promise days for a long text.
    times = np.minimum(model.seconds(rows), max(answer.seconds for answer in timed))
    return round(float(times.sum()) / 3600, 2)


def _work(answers: Sequence[Answer]) -> dict[str, Any]:
    seconds = sorted(answer.seconds for answer in answers if answer.seconds > 0)
    return {"answers": len(answers), "seconds per item": round(seconds[len(seconds) // 2], 1) if seconds else None}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
