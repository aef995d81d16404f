"""Blending parses on English-EWT, gold words and tags: three parsers of different kinds, and their blends.

The parsers are trained on nine tenths of the training documents, the weights of the blend on the rest; all are scored
on dev, ignoring subtypes of relations. `better than the best parser` is the p-value of McNemar's test, which compares
the blend with the best single parser on words with the correct head and relation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

FOLDER = "treebanks/ud/English-EWT"
PARSERS: dict[str, dict[str, Any]] = {
    "arc-eager (greedy)": {"system": "arc-eager"},
    "easy-first": {"system": "easy-first"},
    "mst3": {"system": "mst3", "epochs": 4},
}


def run() -> dict[str, Any]:
    """Train, blend, score."""
    import numpy as np

    from weft import data
    from weft.evaluate.significance import mcnemar
    from weft.formats import read
    from weft.pipeline.registry import new_component
    from weft.tasks.parsing.blend import Blender

    def docs(part: str) -> list[Any]:
        return list(read(data.find(f"{FOLDER}/{part}.conllu.gz")))

    train, dev = docs("train"), docs("dev")
    learned_from, weighed_on = [d for i, d in enumerate(train) if i % 10], train[::10]
    on_weighed, on_dev = [], []
    for options in PARSERS.values():
        parser: Any = new_component("parser", options)
        parser.fit(learned_from)
        on_weighed.append(parsed(parser, weighed_on))
        on_dev.append(parsed(parser, dev))
    blends = {
        "blend, equal votes": Blender.equal(len(PARSERS)),
        "blend, accuracies as weights": Blender.learn(weighed_on, on_weighed, rounds=0),
        "blend, learned weights": Blender.learn(weighed_on, on_weighed),
    }
    systems = dict(zip(PARSERS, on_dev, strict=True))
    systems |= {name: blender.blend(on_dev) for name, blender in blends.items()}
    right = {name: correct(dev, found) for name, found in systems.items()}
    best = max(PARSERS, key=lambda name: right[name][1].mean())
    rows = []
    for name, (heads, both) in right.items():
        row: dict[str, Any] = {"trees of": name, "dev UAS": 100 * heads.mean(), "dev LAS": 100 * both.mean()}
        if name in blends:
            row["better than the best parser, p"] = mcnemar(both, right[best][1]).p
        rows.append(row)
    return {
        "title": "Blends of three parsers, English-EWT dev, gold words and tags",
        "rows": rows,
        "best parser": best,
        "gain": float(100 * np.mean(right["blend, learned weights"][1]) - 100 * np.mean(right[best][1])),
    }


def parsed(parser: Any, docs: Sequence[Any]) -> list[Any]:
    """Copies of documents with the trees of a parser."""
    from weft.text import Doc

    copies = [Doc.from_bytes(doc.to_bytes()) for doc in docs]
    parser(copies)
    return copies


def correct(gold: Sequence[Any], found: Sequence[Any]) -> tuple[Any, Any]:
    """Which words have the correct head, and which also the correct relation."""
    import numpy as np

    heads = np.concatenate([doc.head for doc in gold]) == np.concatenate([doc.head for doc in found])
    names = [[name.split(":")[0] for doc in docs for name in doc.column("deprel")] for docs in (gold, found)]
    return heads, heads & (np.array(names[0]) == np.array(names[1]))
