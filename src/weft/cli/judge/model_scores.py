"""Scores of a model from raw text, gold words, gold tags and gold trees, in one table; and tables of confusions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.cli.common import print_json, print_table
from weft.errors import ConfigError, WeftError

if TYPE_CHECKING:
    from weft.evaluate.documents import Outcome
    from weft.pipeline.pipeline import Pipeline
    from weft.text import Doc

#: The way that starts from gold trees, for models that read them.
TREES = "gold trees"
#: Labels that a table of confusions shows.
_LABELS = 12
_NOTHING = "(none)"
#: The layers that metrics of trees and tags score; all others score tokens.
_OF_METRIC = {
    "UPOS": "upos", "XPOS": "xpos", "UFeats": "feats", "AllTags": "upos", "Lemmas": "lemma", "UAS": "head",
    "LAS": "head", "CLAS": "head", "MLAS": "head", "BLEX": "lemma",
}  # fmt: skip


def score_model(gold: Sequence[Doc], models: Sequence[Path], layer: str | None, confused: bool, as_json: bool) -> None:
    """Annotate gold documents in every way that the model allows, and print their scores."""
    from weft.scale.job import load_models
    from weft.text import Doc
    from weft.text.conventions.conversations import TURNS
    from weft.text.layers import chars_of_words
    from weft.training.jackknife import COLUMNS
    from weft.training.scores import GOLD, RAW, TAGS, bare, parsed

    nlp = load_models(models)
    docs = [doc for doc in gold if doc.n_words]
    if not docs:
        raise ConfigError("the gold documents have no words; scoring a model needs gold words")
    outcomes: dict[str, Outcome] = {}
    missing: dict[str, str] = {}
    systems: dict[str, Sequence[Doc]] = {}
    for way in (RAW, GOLD, TAGS, TREES):
        if way == TREES and not _reads_trees(nlp, docs):
            continue
        own = _without_taggers(nlp) if way == TAGS else nlp
        if way == TAGS and not _reads_tags(own, docs):
            continue
        try:
            given = [Doc(doc.text) if way == RAW else bare(doc, COLUMNS if way == TAGS else ()) for doc in docs]
            if way == TREES:
                given = [parsed(doc) for doc in docs]
            for doc, new in zip(docs, given, strict=True):
                if TURNS in doc.spans:  # who speaks is given, as the text is
                    new.spans[TURNS] = doc.spans[TURNS] if new.n_words else chars_of_words(doc, doc.spans[TURNS])
            systems[way] = list(own.pipe(given))
            predicted = {layer for component in own.components for layer in component.provides}
            predicted |= set() if way == TAGS else {"tokens"}
            outcomes[way] = _scored(docs, systems[way], layer, predicted)
        except WeftError as error:
            missing[way] = str(error)
    if not outcomes:
        raise ConfigError(next(iter(missing.values())))
    if as_json:
        _print_json(outcomes, missing, docs, systems, confused)
        return
    names = dict.fromkeys(name for outcome in outcomes.values() for name in outcome.counts)
    ways = [way for way in (RAW, GOLD, TAGS, TREES) if way in outcomes or way in missing]
    rows = [[name, *(_f1(outcomes.get(way), name) for way in ways)] for name in names]
    print_table("F1 from", ["", *ways], rows, range(1, len(ways) + 1))
    for way, reason in missing.items():
        print(f"Nothing from {way}: {reason}")
    if confused:
        way = GOLD if GOLD in outcomes else next(iter(outcomes))
        print_confusion(docs, systems[way], outcomes[way].layer, f" from {way}")


def _without_taggers(nlp: Pipeline) -> Pipeline:
    """The components that predict something else than words and tags."""
    from weft.pipeline.pipeline import Pipeline
    from weft.training.jackknife import COLUMNS

    given = {"tokens", *COLUMNS}
    return Pipeline([component for component in nlp.components if given.isdisjoint(component.provides)])


def _reads_tags(nlp: Pipeline, docs: Sequence[Doc]) -> bool:
    """Whether gold tags make a difference: a component reads some that the documents have."""
    read = {layer for component in nlp.components for layer in component.requires}
    return any(doc.has(name) for doc in docs for name in read & {"upos", "xpos", "feats", "lemma"})


def _reads_trees(nlp: Pipeline, docs: Sequence[Doc]) -> bool:
    """Whether a component needs trees that the documents have and no other component gives."""
    provided = {layer for component in nlp.components for layer in component.provides}
    required = {layer for component in nlp.components for layer in component.requires}
    return "head" in required - provided and all(doc.head is not None for doc in docs)


def _scored(gold: Sequence[Doc], system: Sequence[Doc], layer: str | None, predicted: Collection[str]) -> Outcome:
    """Scores of what was predicted; what the system has from the gold documents is not scored."""
    from weft.evaluate.documents import evaluate_documents

    outcome = evaluate_documents(gold, system, layer)
    kept = {name: counts for name, counts in outcome.counts.items() if _OF_METRIC.get(name, "tokens") in predicted}
    return replace(outcome, counts=kept) if outcome.layer == "ud" else outcome


def _f1(outcome: Outcome | None, name: str) -> str:
    return f"{100 * outcome.counts[name].total().f1:.2f}" if outcome is not None and name in outcome.counts else ""


def _print_json(
    outcomes: dict[str, Outcome], missing: dict[str, str], gold: Sequence[Doc], systems: dict[str, Sequence[Doc]],
    confused: bool,
) -> None:  # fmt: skip
    result: dict[str, Any] = {"from": {}, "missing": missing}
    for way, outcome in outcomes.items():
        scores = {name: counts.total().as_dict() for name, counts in outcome.counts.items()}
        result["from"][way] = {"layer": outcome.layer, "scores": scores}
        if confused:
            result["from"][way]["confusion"] = confusion_rows(gold, systems[way], outcome.layer)
    print_json(result)


def confusion_rows(gold: Sequence[Doc], system: Sequence[Doc], layer: str) -> list[dict[str, Any]]:
    """All pairs of labels with their counts, most frequent first; "" stands for what only one side has."""
    from weft.evaluate.labels.confusion import confusion

    pairs = confusion(gold, system, "upos" if layer == "ud" else layer)
    return [{"gold": one, "system": other, "count": count} for (one, other), count in pairs.most_common()]


def print_confusion(gold: Sequence[Doc], system: Sequence[Doc], layer: str, where: str = "") -> None:
    """Print the labels that are confused most as a matrix: gold labels in rows, the system's in columns."""
    from weft.evaluate.labels.confusion import confusion, most_confused

    name = "upos" if layer == "ud" else layer
    pairs = confusion(gold, system, name)
    labels = most_confused(pairs, _LABELS)
    if not labels:
        print(f"No label of {name} was confused with another{where}.")
        return
    shown = [*labels, ""]
    rows = [
        [one or _NOTHING, *(f"{pairs[one, other]:,}" if pairs[one, other] else "" for other in shown)] for one in shown
    ]
    print(f"Confusions of {name}{where}: gold in rows, system in columns")
    print_table("", ["", *(label or _NOTHING for label in shown)], rows, range(1, len(shown) + 1))
