"""Cross-validation: each part of the labelled data is scored by a model that was trained on all the others.

fold(unit) = index of the unit modulo the number of folds;   units are documents or, if they are few, sentences
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, stdev
from typing import Any

from weft.errors import ConfigError, DataError
from weft.evaluate.documents import evaluate_documents
from weft.pipeline.component import Component
from weft.pipeline.registry import new_component
from weft.text.doc import Doc

#: With fewer documents per fold, sentences are split instead.
FEWEST = 10
#: The measures of layers that are not scored by their own names: the layer to evaluate, and what to take from it.
_TREES = ("ud", ("UAS", "LAS"))
_SPLIT = ("ud", ("Tokens", "Words", "Sentences"))
_PHRASES = ("constituents", ("brackets",))


@dataclass(frozen=True)
class Fold:
    """One fold: the sentences it was trained and scored on, and its scores, F1 from 0 to 1."""

    trained: int
    scored: int
    scores: dict[str, float]


def cross_validate(
    task: str,
    docs: Iterable[Doc],
    options: Mapping[str, Any],
    folds: int = 5,
    method: str | None = None,
    say: Callable[[int, Fold], None] = lambda number, fold: None,
) -> list[Fold]:
    """Train and score a component once per fold; `say` is told of each fold when it is finished.

    Layers that the component reads are the gold ones of the data.

    >>> sentences = [["dogs", "bark"], ["cats", "sleep"], ["birds", "sing"]] * 4
    >>> doc = Doc.from_words(sentences, upos=[["NOUN", "VERB"]] * 12)
    >>> [fold.scores["upos"] for fold in cross_validate("tagger", [doc], {"epochs": 2}, folds=3)]
    [1.0, 1.0, 1.0]
    """
    units = _units([doc for doc in docs if doc.n_words], folds)
    found = []
    for number in range(folds):
        held_out = units[number::folds]
        train = [unit for i, unit in enumerate(units) if i % folds != number]
        component = new_component(task, options, method)
        component.fit(train)
        fold = Fold(_sentences(train), _sentences(held_out), _scores(component, held_out))
        say(number + 1, fold)
        found.append(fold)
    return found


def summary(folds: Sequence[Fold]) -> dict[str, Any]:
    """All folds, and mean and standard deviation of every measure, for JSON.

    >>> summary([Fold(4, 2, {"upos": 0.5}), Fold(4, 2, {"upos": 1.0})])["mean"]
    {'upos': 0.75}
    """
    measures = {name: [fold.scores[name] for fold in folds] for name in folds[0].scores}
    return {
        "folds": [{"trained": fold.trained, "scored": fold.scored, "scores": fold.scores} for fold in folds],
        "mean": {name: mean(values) for name, values in measures.items()},
        "sd": {name: stdev(values) for name, values in measures.items()},
    }


def _units(docs: Sequence[Doc], folds: int) -> list[Doc]:
    if folds < 2:
        raise ConfigError(f"cross-validation needs at least 2 folds, got {folds}")
    units = list(docs)
    if len(units) < FEWEST * folds:
        units = [doc.subset([i]) for doc in docs for i in range(doc.n_sentences)]
    if len(units) < folds:
        raise DataError(f"{folds} folds need at least as many sentences, got {len(units)}")
    return units


def _sentences(docs: Sequence[Doc]) -> int:
    return sum(doc.n_sentences for doc in docs)


def _scores(component: Component, gold: Sequence[Doc]) -> dict[str, float]:
    """The scores of a component's predictions for documents whose own annotation it does not see."""
    system = [_blank(doc, component.provides) for doc in gold]
    component(system)
    scores: dict[str, float] = {}
    for layer, names in dict.fromkeys(_measures(component)):
        counts = evaluate_documents(gold, system, layer).counts
        scores |= {layer if name == "spans" else name: counts[name].total().f1 for name in names if name in counts}
    return scores


def _measures(component: Component) -> list[tuple[str, tuple[str, ...]]]:
    """The layers to score and their measures."""
    found: list[tuple[str, tuple[str, ...]]] = []
    for layer in component.provides:
        kind, _, name = layer.partition("/")
        if kind == "spans":
            found.append((name, ("spans",)))
        elif layer in ("tokens", "sentences"):
            found.append(_SPLIT)
        elif layer in ("head", "deprel"):
            found.append(_TREES)
        elif layer == "constituents":
            found.append(_PHRASES)
        elif not name:
            found.append((layer, (layer,)))
    if not found:
        raise ConfigError(f"{component.task} gives nothing that cross-validation can score")
    return found


def _blank(doc: Doc, provided: Sequence[str]) -> Doc:
    """A copy of a document without some layers; only its text if a component splits that into words."""
    if "tokens" in provided:
        return Doc(doc.text)
    new = copy.copy(doc)
    new.columns = {name: ids for name, ids in doc.columns.items() if name not in provided}
    new.spans = {name: layer for name, layer in doc.spans.items() if f"spans/{name}" not in provided}
    new.confidence = {}
    new.head = None if "head" in provided else doc.head
    new.constituents = None if "constituents" in provided else doc.constituents
    return new
