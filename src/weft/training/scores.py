"""Scores of a finished pipeline on the test sets of its configuration.

    ud          the metrics of the CoNLL 2018 shared task (`weft.evaluate.trees.ud`), from raw text and from gold words;
                tree metrics also from gold tags
    chunks      F1 of base chunks against those derived from gold trees by rule, from raw text and from gold words
    frames      F1 of semantic frames (`weft.evaluate.semantics.frames`), labelled and by metric, and of predicates by
                part of speech, from raw text, from gold words and from gold trees; predicates are found, not given
    amr         Smatch of the graphs, exact (`weft.evaluate.semantics.smatch`), from gold words
    mwe         link F1 of multiword expressions, from gold words (`weft.evaluate.labels.mwe`)
    disfluencies  precision, recall and F1 of deleted words, from gold words; with gold trees also UAS and LAS of the
                other words (`weft.evaluate.labels.disfluency`)
    any other   F1 of that span layer, of all labels and of each label, from gold words

All scores are percentages, and F1 unless stated otherwise. The pipeline sees only the text, or the words and sentences
(and tags), of a gold document. From gold words, the probabilities of all layers are compared with how often they are
right (`weft.evaluate.calibration`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.evaluate.calibration import Calibration, calibration_of_column, calibration_of_spans
from weft.evaluate.counts import Counts, Score
from weft.evaluate.documents import groups_of_units
from weft.evaluate.labels.disfluency import evaluate_disfluency
from weft.evaluate.labels.mwe import score_expressions
from weft.evaluate.labels.spans import evaluate_spans
from weft.evaluate.semantics.frames import evaluate_frames
from weft.evaluate.semantics.smatch import evaluate_amr_documents
from weft.evaluate.trees.ud import evaluate_ud
from weft.pipeline.pipeline import Pipeline
from weft.text.conventions.amr import LAYER as AMR
from weft.text.conventions.expressions import expressions_of
from weft.text.conventions.repairs import LAYER
from weft.text.doc import Doc
from weft.text.frames import LAYER as FRAMES
from weft.training.config import TestSpec
from weft.training.corpora import CorpusReader
from weft.training.jackknife import COLUMNS
from weft.treebanks.base_chunks import set_base_chunks

RAW, GOLD, TAGS, GOLD_TREES = "raw text", "gold words", "gold tags", "gold trees"
TREES = ("UAS", "LAS", "CLAS")
#: Predicates of a part of speech are scored apart if gold has at least this many dependencies of them.
_FEWEST = 100
CHUNKS, EXPRESSIONS, DISFLUENCIES, UD = "chunks", "mwe", LAYER, "ud"


def score_test(nlp: Pipeline, test: TestSpec, corpora: CorpusReader, workers: int = 1) -> list[dict[str, Any]]:
    """One row per kind of input: `set`, `from`, `scores`, and `by` if groups are requested."""
    docs = [doc for doc in corpora.docs([test.corpus]) if doc.n_words]
    if CHUNKS in test.score:
        for doc in docs:
            set_base_chunks(doc)
    rows = []
    trees = UD in test.score and any("head" in component.provides for component in nlp.components)
    raw = (RAW,) if {UD, CHUNKS, FRAMES} & set(test.score) else ()
    given = (*((TAGS,) if trees else ()), *((GOLD_TREES,) if FRAMES in test.score else ()))
    for way in (*raw, GOLD, *given):
        found = annotated(nlp, docs, way, workers, probabilities=way == GOLD)
        scores: dict[str, float] = {}
        groups: dict[str, dict[str, float]] = {}
        for kind in test.score:
            if kind == UD and way != GOLD_TREES:
                counts = evaluate_ud(docs, found).counts
                if way == TAGS:
                    counts = {name: each for name, each in counts.items() if name in TREES}
                scores |= {name: _percent(each) for name, each in counts.items() if _told(name, docs)}
                if test.by and way != TAGS:
                    groups = _by_group(counts, groups_of_units(docs, test.by), docs)
            elif kind == FRAMES and way != TAGS:
                scores |= _frames(docs, found)
            elif kind == AMR and way == GOLD:
                total = evaluate_amr_documents(docs, found).total()
                named = {"Smatch": total.f1, "Smatch precision": total.precision, "Smatch recall": total.recall}
                scores |= {name: 100 * value for name, value in named.items()}
            elif kind == DISFLUENCIES:
                scores |= {name: 100 * value for name, value in _repairs(docs, found).items()}
            elif way == GOLD or (kind == CHUNKS and way == RAW):
                scores |= _spans(docs, found, kind)
        more = {"by": groups, "calibration": _calibration(docs, found, test.score) if way == GOLD else {}}
        if scores:
            rows.append(
                {"set": test.name, "from": way, "scores": scores, **{key: own for key, own in more.items() if own}}
            )
    return rows


def annotated(nlp: Pipeline, docs: Sequence[Doc], way: str, workers: int = 1, probabilities: bool = False) -> list[Doc]:
    """Annotate the texts of documents, or their words, or their words and tags."""
    if way == RAW:
        return list(nlp.pipe([Doc(doc.text) for doc in docs], workers=workers))
    if way == TAGS:  # only trees are scored; other components may need tags that the gold documents do not have
        nlp = Pipeline([component for component in nlp.components if "head" in component.provides])
    if way == GOLD_TREES:
        nlp = Pipeline([component for component in nlp.components if "head" in component.requires])
        return list(nlp.pipe([parsed(doc) for doc in docs], workers=workers))
    known = [bare(doc, COLUMNS if way == TAGS else ()) for doc in docs]
    return list(nlp.pipe(known, workers=workers, probabilities=probabilities))


def bare(doc: Doc, columns: Sequence[str] = ()) -> Doc:
    """A copy of a document with only its words, sentences and the given columns.

    >>> bare(Doc.from_words([["Dogs", "bark"]], upos=[["NOUN", "VERB"]])).has("upos")
    False
    """
    new = Doc(doc.text, doc.strings)
    new.token_start, new.token_end, new.word_token = doc.token_start, doc.token_end, doc.word_token
    new.columns = {name: ids for name, ids in doc.columns.items() if name == "form" or name in columns}
    new.multiwords = doc.multiwords
    new.set_sentences(doc.sentence_offsets)
    return new


def parsed(doc: Doc) -> Doc:
    """A copy of a document with only its words, sentences, tags and trees."""
    new = bare(doc, (*COLUMNS, "deprel"))
    new.head = doc.head
    return new


def _calibration(gold: Sequence[Doc], system: Sequence[Doc], kinds: Sequence[str]) -> dict[str, dict[str, float]]:
    """For every scored layer with probabilities: decisions, the share that is right, mean probability and error."""
    found: dict[str, Calibration] = {}
    for column in COLUMNS if UD in kinds else ():
        if all(column in doc.confidence for doc in system) and any(doc.has(column) for doc in gold):
            found[column] = calibration_of_column(gold, system, column)
    for layer in kinds:
        spans = [doc.spans.get(layer, ()) for doc in system]
        if any(spans) and all(layer in doc.spans for doc in gold) and _has_probabilities(system, layer):
            found[layer] = calibration_of_spans(gold, system, layer)
    return {
        layer: {
            "decisions": each.decisions,
            "right": each.right,
            "probability": each.probability,
            "error": each.error,
        }
        for layer, each in found.items()
    }


def _has_probabilities(docs: Sequence[Doc], layer: str) -> bool:
    layers = [doc.spans[layer] for doc in docs]
    return all("probability" in own.attributes.get(number, {}) for own in layers for number in range(len(own)))


def _told(metric: str, docs: Sequence[Doc]) -> bool:
    """Whether the gold documents have the annotation that a metric needs."""
    needs = {"UPOS": "upos", "XPOS": "xpos", "UFeats": "feats", "Lemmas": "lemma"}
    return metric not in needs or any(doc.has(needs[metric]) for doc in docs)


def _by_group(counts: dict[str, Counts], groups: Sequence[str], docs: Sequence[Doc]) -> dict[str, dict[str, float]]:
    return {
        group: {
            name: _percent(each.select([own == group for own in groups]))
            for name, each in counts.items()
            if _told(name, docs)
        }
        for group in sorted(set(groups))
    }


def _repairs(gold: Sequence[Doc], system: Sequence[Doc]) -> dict[str, float]:
    """Scores of deleted words and, if the gold documents have trees, of the heads of the others."""
    if all(doc.head is not None for doc in gold):
        found = evaluate_disfluency(gold, system).as_dict()
    else:
        wanted, guess = _struck(gold), _struck(system)
        score = Score(len(wanted), len(guess), len(wanted & guess))
        found = {"P": score.precision, "R": score.recall, "F": score.f1}
    return {name if name in TREES else f"struck out, {name}": value for name, value in found.items()}


def _struck(docs: Sequence[Doc]) -> set[tuple[int, int]]:
    """The deleted words, as pairs of document and word index."""
    return {
        (number, word)
        for number, doc in enumerate(docs)
        for pieces, _ in doc.spans[LAYER]
        for piece in pieces
        for word in range(*piece)
    }


def _spans(gold: Sequence[Doc], system: Sequence[Doc], layer: str) -> dict[str, float]:
    if layer == EXPRESSIONS:
        wanted, found = ([each for doc in docs for each in expressions_of(doc)] for docs in (gold, system))
        link = score_expressions(wanted, found).link
        return {layer: 100 * link.f1, f"{layer} precision": 100 * link.precision, f"{layer} recall": 100 * link.recall}
    report = evaluate_spans(gold, system, layer)
    classes = {} if layer == CHUNKS else report.by_label
    return {layer: _percent(report.counts), **{label: _percent(counts) for label, counts in classes.items()}}


def _frames(gold: Sequence[Doc], system: Sequence[Doc]) -> dict[str, float]:
    report = evaluate_frames(gold, system)
    groups = {tag: counts for tag, counts in report.by_tag.items() if counts.total().gold >= _FEWEST}
    return {name: _percent(counts) for name, counts in (*report.counts.items(), *groups.items())}


def _percent(counts: Counts) -> float:
    return 100 * counts.total().f1
