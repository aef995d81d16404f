"""Score one layer of two sets of documents and return the counts by name; the command line uses this module.

A *layer* is `ud` (all metrics of dependency trees, tags and tokens), `constituents` (phrase-structure trees),
`disfluency` (words in reparanda, and the trees over the other words), `crossings` (trees with crossing arcs), `conllx`
(trees by relation and by tag, without punctuation), `graphs` (words with several heads), `trees` (heads, roots and
complete sentences; `trees-nopunct`: without punctuation), `frames` (predicates, senses and arguments), `amr` (Smatch),
`scope` (which quantifier outscopes which), `events` (triggers and arguments), `relations` (tuples of mentions),
`links` (senses and entities of phrases), `times` (extents, types and values of time expressions), `timeline` (events,
times and links), `coref` (entities), `phenomena` (what speakers do in conversations), the name of a span layer, or the
name of a word column.
By default: constituents if both sides have them, then frames, then AMRs, then the span layer that both sides share,
else `ud`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weft.errors import ConfigError, WeftError
from weft.evaluate.counts import Counts
from weft.evaluate.labels.disfluency import evaluate_disfluency
from weft.evaluate.labels.phenomena import evaluate_phenomena
from weft.evaluate.labels.spans import common_layer, evaluate_spans
from weft.evaluate.labels.tagging import evaluate_tags
from weft.evaluate.semantics.coreference import evaluate_coreference
from weft.evaluate.semantics.events import evaluate_events
from weft.evaluate.semantics.frames import evaluate_frames
from weft.evaluate.semantics.links import evaluate_links, score_links
from weft.evaluate.semantics.scope import evaluate_scope
from weft.evaluate.semantics.smatch import evaluate_amr_documents
from weft.evaluate.semantics.timelines import evaluate_timelines
from weft.evaluate.semantics.times import evaluate_times
from weft.evaluate.semantics.tuples import evaluate_tuples
from weft.evaluate.trees.attachment import evaluate_trees, not_punctuation
from weft.evaluate.trees.conllx import evaluate_conllx
from weft.evaluate.trees.dependency_graphs import evaluate_graphs
from weft.evaluate.trees.parseval import evaluate_constituents
from weft.evaluate.trees.ud import evaluate_ud
from weft.text import Doc
from weft.text.conventions.conversations import LAYER as PHENOMENA
from weft.text.conventions.coreference import LAYER as COREFERENCE
from weft.text.conventions.events import LAYER as EVENTS
from weft.text.conventions.links import LAYER as LINKS
from weft.text.conventions.scope import LAYER as SCOPE
from weft.text.conventions.timeline import LAYER as TIMELINE
from weft.text.conventions.times import LAYER as TIMES
from weft.text.conventions.tuples import LAYER as TUPLES
from weft.text.frames import LAYER as FRAMES
from weft.text.schemes import encode

#: The gold column that a UD metric requires.
_NEEDS = {"UPOS": "upos", "XPOS": "xpos", "UFeats": "feats", "AllTags": "upos", "Lemmas": "lemma"}


@dataclass(frozen=True)
class Outcome:
    """Counts of one layer by name, its main metric, and which words are correct (for McNemar's test)."""

    layer: str
    main: str
    counts: dict[str, Counts]
    right: Callable[[str], NDArray[np.bool_]]

    def find(self, name: str | None) -> str:
        """The full name of a metric, case-insensitive; the main one for `None`."""
        if name is None:
            return self.main
        for known in self.counts:
            if known.lower() == name.lower():
                return known
        raise ConfigError(f"there is no metric {name!r} for {self.layer}; choose from {', '.join(self.counts)}")


def evaluate_documents(
    gold: Sequence[Doc], system: Sequence[Doc], layer: str | None = None, vocabulary: Collection[str] | None = None
) -> Outcome:
    """Score a layer of system documents; by default, the layer that both sides share.

    >>> gold = [Doc.from_words([["dogs", "bark"]], upos=[["NOUN", "VERB"]])]
    >>> outcome = evaluate_documents(gold, gold, "upos")
    >>> outcome.main, outcome.counts["upos"].total().accuracy
    ('upos', 1.0)
    """
    chosen = layer or choose_layer(gold, system)
    if chosen == "ud":
        if vocabulary is not None:
            raise ConfigError(
                "known and unknown words are only distinguished for a column; name one, as in --layer upos"
            )
        return _ud(gold, system)
    if chosen == "constituents":
        return _constituents(gold, system)
    if chosen == "disfluency":
        return _disfluency(gold, system)
    if chosen == "crossings":
        return _crossings(gold, system)
    if chosen in ("trees", "trees-nopunct"):
        return _trees(gold, system, chosen)
    if chosen == "conllx":
        return _conllx(gold, system)
    if chosen == "graphs":
        return _graphs(gold, system)
    if chosen == FRAMES:
        return _frames(gold, system)
    if chosen == "amr":
        return _amr(gold, system)
    if chosen == SCOPE:
        return _scope(gold, system)
    if chosen == TIMELINE:
        return _timeline(gold, system)
    if chosen == COREFERENCE:
        return _coreference(gold, system)
    if chosen == LINKS:
        return _links(gold, system)
    if chosen == TIMES:
        return _times(gold, system)
    if chosen == PHENOMENA:
        return _phenomena(gold, system)
    if chosen == TUPLES and any(TUPLES in doc.relations for doc in gold):
        return _tuples(gold, system)
    if chosen == EVENTS and any(EVENTS in doc.graphs for doc in gold):
        return _events(gold, system)
    if any(chosen in doc.spans for doc in gold):
        return _spans(gold, system, chosen)
    if any(chosen in doc.columns for doc in gold):
        return _column(gold, system, chosen, vocabulary)
    layers = {name: None for doc in gold for name in (*doc.spans, *doc.columns) if name != "form"}
    raise ConfigError(f"the gold documents have no layer {chosen!r} to score; choose from {', '.join(['ud', *layers])}")


def choose_layer(gold: Sequence[Doc], system: Sequence[Doc]) -> str:
    """The layer to score: constituents, frames, AMRs or the span layer of both sides, else `ud`.

    >>> choose_layer([Doc.from_words([["a"]])], [Doc.from_words([["a"]])])
    'ud'
    """
    if any(doc.has("constituents") for doc in gold) and any(doc.has("constituents") for doc in system):
        return "constituents"
    if any(FRAMES in doc.spans for doc in gold) and any(FRAMES in doc.spans for doc in system):
        return FRAMES
    if any("amr" in doc.graphs for doc in gold) and any("amr" in doc.graphs for doc in system):
        return "amr"
    if any(doc.spans for doc in gold) and any(doc.spans for doc in system):
        return common_layer(gold, system)
    if any(doc.n_words for doc in gold):
        return "ud"
    raise WeftError("there is nothing to score: the gold documents have neither words nor spans")


def groups_of_units(docs: Sequence[Doc], key: str) -> list[str]:
    """The value of `key` for every unit (a sentence with words, or a document without any).

    It is looked up in the sentence's comments (`# key = value`, `# meta::key = value`), then in the document's
    metadata; a comment on a document's first sentence also applies to the following ones.

    >>> doc = Doc.from_words([["a"], ["b"]])
    >>> doc.comments = [("# genre = news",), ()]
    >>> groups_of_units([doc], "genre")
    ['news', 'news']
    """
    groups: list[str] = []
    for doc in docs:
        current = str(doc.meta.get(key, ""))
        units = [sentence for sentence in doc.sentences if len(sentence)]
        for number, sentence in enumerate(units):
            value = sentence.meta.get(key) or sentence.meta.get(f"meta::{key}") or ""
            if number == 0 and value:
                current = value
            groups.append(value or current)
        if not units:
            groups.append(current)
    if not any(groups):
        raise ConfigError(
            f"no gold document or sentence has the key {key!r}, in metadata or as a comment # {key} = ..."
        )
    return [group or "(none)" for group in groups]


def _ud(gold: Sequence[Doc], system: Sequence[Doc]) -> Outcome:
    report = evaluate_ud(gold, system)
    counts = {
        name: counts for name, counts in report.counts.items()
        if name not in _NEEDS or any(doc.has(_NEEDS[name]) for doc in gold)
    }  # fmt: skip
    main = next((name for name in ("LAS", "UPOS", "XPOS", "Lemmas") if name in counts), "Words")

    def right(name: str) -> NDArray[np.bool_]:
        if name not in report.right:
            raise ConfigError(f"McNemar's test compares words, but {name} does not; use bootstrap or randomization")
        return report.right[name]

    return Outcome("ud", main, counts, right)


def _constituents(gold: Sequence[Doc], system: Sequence[Doc]) -> Outcome:
    report = evaluate_constituents(gold, system)

    def right(name: str) -> NDArray[np.bool_]:
        raise ConfigError(f"McNemar's test compares words, but {name} does not; use bootstrap or randomization")

    return Outcome("constituents", "brackets", report.counts(), right)


def _disfluency(gold: Sequence[Doc], system: Sequence[Doc]) -> Outcome:
    report = evaluate_disfluency(gold, system)

    def right(name: str) -> NDArray[np.bool_]:
        raise ConfigError(f"McNemar's test is not available for {name}; use bootstrap or randomization")

    return Outcome(
        "disfluency", "struck out", {"struck out": report.struck, "UAS": report.uas, "LAS": report.las}, right
    )


def _crossings(gold: Sequence[Doc], system: Sequence[Doc]) -> Outcome:
    from weft.evaluate.trees.crossings import evaluate_crossings

    report = evaluate_crossings(gold, system)

    def right(name: str) -> NDArray[np.bool_]:
        if name != "UAS":
            raise ConfigError(f"McNemar's test compares all words, but {name} does not; use bootstrap")
        return report.right

    return Outcome("crossings", "UAS", report.counts, right)


def _trees(gold: Sequence[Doc], system: Sequence[Doc], layer: str) -> Outcome:
    report = evaluate_trees(gold, system, not_punctuation if layer == "trees-nopunct" else None)

    def right(name: str) -> NDArray[np.bool_]:
        if name != "UAS":
            raise ConfigError(f"McNemar's test compares heads of words, but {name} does not; use bootstrap")
        return report.right

    return Outcome(layer, "UAS", report.counts, right)


def _conllx(gold: Sequence[Doc], system: Sequence[Doc]) -> Outcome:
    report = evaluate_conllx(gold, system)

    def right(name: str) -> NDArray[np.bool_]:
        known = {"LAS": report.head_right & report.label_right, "UAS": report.head_right}
        if name not in known:
            raise ConfigError(f"McNemar's test compares all words, but {name} does not; use bootstrap")
        return known[name]

    return Outcome("conllx", "LAS", report.counts, right)


def _graphs(gold: Sequence[Doc], system: Sequence[Doc]) -> Outcome:
    def right(name: str) -> NDArray[np.bool_]:
        raise ConfigError(f"McNemar's test is not available for {name} of graphs; use bootstrap or randomization")

    return Outcome("graphs", "edges", evaluate_graphs(gold, system), right)


def _frames(gold: Sequence[Doc], system: Sequence[Doc]) -> Outcome:
    report = evaluate_frames(gold, system)

    def right(name: str) -> NDArray[np.bool_]:
        raise ConfigError(f"McNemar's test is not available for {name} of frames; use bootstrap or randomization")

    groups = {f"labelled ({tag})": counts for tag, counts in report.by_tag.items() if len(report.by_tag) > 1}
    return Outcome(FRAMES, "labelled", {**report.counts, **groups, **report.by_label}, right)


def _amr(gold: Sequence[Doc], system: Sequence[Doc]) -> Outcome:
    def right(name: str) -> NDArray[np.bool_]:
        raise ConfigError(f"McNemar's test is not available for {name}; use bootstrap or randomization")

    return Outcome("amr", "Smatch", {"Smatch": evaluate_amr_documents(gold, system)}, right)


def _scope(gold: Sequence[Doc], system: Sequence[Doc]) -> Outcome:
    def right(name: str) -> NDArray[np.bool_]:
        raise ConfigError(f"McNemar's test is not available for {name} of scopes; use bootstrap or randomization")

    return Outcome(SCOPE, "ordered", evaluate_scope(gold, system), right)


def _timeline(gold: Sequence[Doc], system: Sequence[Doc]) -> Outcome:
    def right(name: str) -> NDArray[np.bool_]:
        raise ConfigError(f"McNemar's test is not available for {name} of timelines; use bootstrap or randomization")

    return Outcome(TIMELINE, "EVENT", evaluate_timelines(gold, system), right)


def _coreference(gold: Sequence[Doc], system: Sequence[Doc]) -> Outcome:
    def right(name: str) -> NDArray[np.bool_]:
        raise ConfigError(f"McNemar's test is not available for {name} of entities; use bootstrap or randomization")

    return Outcome(COREFERENCE, "CoNLL", {**evaluate_coreference(gold, system).counts()}, right)


def _links(gold: Sequence[Doc], system: Sequence[Doc]) -> Outcome:
    def right(name: str) -> NDArray[np.bool_]:
        if name != "links":
            raise ConfigError("McNemar's test on links compares the mentions of gold; omit --metric")
        return score_links(gold, system).right

    return Outcome(LINKS, "links", evaluate_links(gold, system), right)


def _times(gold: Sequence[Doc], system: Sequence[Doc]) -> Outcome:
    def right(name: str) -> NDArray[np.bool_]:
        counts = evaluate_times(gold, system)[name]
        return np.asarray(counts.correct == counts.gold, dtype=np.bool_)

    return Outcome(TIMES, "value", evaluate_times(gold, system), right)


def _phenomena(gold: Sequence[Doc], system: Sequence[Doc]) -> Outcome:
    def right(name: str) -> NDArray[np.bool_]:
        counts = evaluate_phenomena(gold, system)[name]
        return np.asarray(counts.correct == counts.gold, dtype=np.bool_)

    return Outcome(PHENOMENA, "rare labels", evaluate_phenomena(gold, system), right)


def _tuples(gold: Sequence[Doc], system: Sequence[Doc]) -> Outcome:
    def right(name: str) -> NDArray[np.bool_]:
        raise ConfigError(f"McNemar's test is not available for {name} of relations; use bootstrap or randomization")

    return Outcome(TUPLES, "tuples", evaluate_tuples(gold, system), right)


def _events(gold: Sequence[Doc], system: Sequence[Doc]) -> Outcome:
    def right(name: str) -> NDArray[np.bool_]:
        raise ConfigError(f"McNemar's test is not available for {name} of events; use bootstrap or randomization")

    return Outcome(EVENTS, "arguments", evaluate_events(gold, system), right)


def _spans(gold: Sequence[Doc], system: Sequence[Doc], layer: str) -> Outcome:
    report = evaluate_spans(gold, system, layer)

    def right(name: str) -> NDArray[np.bool_]:
        if name != "spans":
            raise ConfigError("McNemar's test on spans compares the labels of words; omit --metric")
        ours, theirs = _labels(gold, layer), _labels(system, layer)
        if [form for form, _ in ours] != [form for form, _ in theirs]:
            raise ConfigError("McNemar's test compares the labels of words, but gold and system have different words")
        return np.array([one == other for one, other in zip(ours, theirs, strict=True)], dtype=np.bool_)

    return Outcome(layer, "spans", {"spans": report.counts, "unlabelled": report.unlabelled, **report.by_label}, right)


def _column(gold: Sequence[Doc], system: Sequence[Doc], column: str, vocabulary: Collection[str] | None) -> Outcome:
    report = evaluate_tags(gold, system, column, vocabulary)
    counts = {column: report.counts, **{f"{column} ({name})": group for name, group in report.groups.items()}}

    def right(name: str) -> NDArray[np.bool_]:
        if name != column:
            raise ConfigError("McNemar's test compares all words; omit --metric")
        return report.right

    return Outcome(column, column, counts, right)


def _labels(docs: Sequence[Doc], layer: str) -> list[tuple[str, str]]:
    """Form and IOB2 label of every word."""
    labelled: list[tuple[str, str]] = []
    for doc in docs:
        spans = doc.spans.get(layer)
        if spans is not None and (spans.unit != "words" or not spans.is_flat()):
            raise ConfigError(
                f"McNemar's test compares the labels of words, but the spans {layer!r} overlap or are in "
                "characters; use bootstrap or randomization"
            )
        chunks = [(row.pieces[0][0], row.pieces[0][1], row.label) for row in spans] if spans is not None else []
        labelled.extend(zip(doc.column("form"), encode(chunks, doc.n_words), strict=True))
    return labelled
