"""Generated sources for Adsorption: classes with instances of Zipfian popularity, a precise and a noisy extractor.

The precise source names the class of a fifth of the instances, without errors. Tables show four fifths of them in
columns that mix one to three classes; strings such as "n/a" and "total" are cells of every fourth column.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weft.lexical.instances.columns import Column

HUBS = ("n/a", "total", "unknown", "other", "none")


@dataclass(frozen=True)
class World:
    """What is true, and what the two sources say of it."""

    gold: dict[str, str]
    precise: list[tuple[str, str, float]]
    columns: list[Column]


def generated_world(classes: int, instances: int, seed: int, columns: int = 40, hubs: float = 0.25) -> World:
    """So many classes with so many instances each, and so many columns per class.

    >>> world = generated_world(3, 20, seed=1, columns=4)
    >>> len(world.gold), len(world.precise), len(world.columns)
    (60, 12, 12)
    """
    rng = np.random.default_rng(seed)
    names = [[f"{c}.{i}" for i in range(instances)] for c in range(classes)]
    gold = {name: f"class {c}" for c, own in enumerate(names) for name in own}
    every = list(gold)
    precise = [(every[at], gold[every[at]], 1.0) for at in sorted(rng.permutation(len(every))[: len(every) // 5])]
    covered = [[name for name in own if rng.random() < 0.8] for own in names]
    popular = [1.0 / (1 + np.arange(len(own))) ** 0.8 for own in covered]
    found = []
    for number in range(classes * columns):
        mixed = [number % classes, *rng.permutation(classes)[: rng.integers(0, 3)].tolist()]
        cells: list[str] = []
        for c in mixed:
            share = popular[c] / popular[c].sum()
            cells += rng.choice(covered[c], size=min(6, len(covered[c])), replace=False, p=share).tolist()
        if rng.random() < hubs:
            cells += rng.permutation(HUBS)[:2].tolist()
        found.append(Column.of(f"column {number}", f"page {number % (2 * columns)}", cells))
    return World(gold, precise, found)


def with_hubs(columns: list[Column], share: float, seed: int) -> list[Column]:
    """Columns with strings that say nothing among the cells of a share of them.

    >>> column = Column.of("towns", "page", ["Bergen"])
    >>> len(with_hubs([column], 1.0, 0)[0].cells), len(with_hubs([column], 0.0, 0)[0].cells)
    (6, 1)
    """
    rng = np.random.default_rng(seed)
    return [Column(each.name, each.source, (*each.cells, *HUBS)) if rng.random() < share else each for each in columns]
