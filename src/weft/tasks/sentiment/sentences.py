"""Polarity of the sentences of a review, learned mostly from the ratings of whole reviews (Täckström & McDonald 2011).

    p(d, y | s) ~ exp( sum_i  w . f(y_i, s_i) + w . f(y_i, d) + w . f(y_{i-1}, y_i, d) )

with d the polarity of the document and y_i that of sentence i (`weft.learn.chains.document_model`). Four methods:

| method | documents | |
|---|---|---|
| fine | with labelled sentences | log p(d, y), a supervised chain |
| coarse | with a rating only | log sum_y p(d, y): sentences are latent; `hard` replaces the sum by the best y |
| cascaded | both | the predictions of a coarse model are features of a fine one |
| interpolated | both | one model, steps on labelled sentences with probability `share` |

Polarities are stored as comments of sentences, `# sentiment = neg` (`weft.text.conventions.polarity`). With `given`,
the ratings of documents count as known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from weft.arrays import Floats, Keys
from weft.declared import Array, Stored
from weft.errors import ConfigError, DataError
from weft.evaluate.labels.sentiment import evaluate_polarities
from weft.headers import Many, Record, Table, Text
from weft.infer.chains.document import DocumentChain, DocumentMask
from weft.learn.chains.document_model import UNKNOWN, DocumentBatch, DocumentModel, Labels
from weft.learn.chains.document_sgd import DocumentSGD
from weft.learn.chains.model import FeatureRows
from weft.lexical.polarity_lexicon import NEGATORS, PolarityLexicon
from weft.pipeline.component import Asked, State, Stopwatch, Trainable, training_docs
from weft.pipeline.settings import Settings, option
from weft.ragged import sentence_of
from weft.storage import Arrays
from weft.tasks.sentiment.features import SentenceFeatures, derived_keys, document_offsets
from weft.text.conventions.polarity import POLARITIES, document_polarity, sentence_polarities, set_polarities
from weft.text.doc import Doc

METHODS = ("fine", "coarse", "cascaded", "interpolated")
_NUMBERS = {name: number for number, name in enumerate(POLARITIES)} | {"": UNKNOWN}

HEADER = Record(lexicon=Record(pos=Many(Text()), neg=Many(Text()))).with_optional(coarse=Table())
KEYS = Array("keys", "uint64", ("keys",))


@dataclass
class SentimentSettings(Settings):
    """Options of a sentiment analyser."""

    learning: str = option(
        "interpolated", "Data to learn from: labelled sentences (fine), ratings (coarse), or both.", choices=METHODS
    )
    share: float = option(
        0.1, "Share of the interpolated model's steps on labelled sentences.", flag="--labelled-share"
    )
    epochs: int = option(15, "Passes over the documents.")
    rate: float = option(0.01, "Learning rate.")
    variance: float = option(1.0, "Variance of the Gaussian prior.")
    hard: bool = option(False, "Use the best labels of latent sentences instead of summing over all.")
    transitions: bool = option(
        True, "Let transitions between sentences depend on the document's polarity.", flag="--document-transitions"
    )
    agreement: float = option(
        0.5, "Initial weight of sentences that agree with their document.", flag="--agreement-weight"
    )
    votes: float = option(1.0, "Initial weight of the polarity of most of a sentence's words.")
    pairs: bool = option(True, "Use pairs of words as features.")
    min_count: int = option(2, "Leave out features that occur less often.")
    negators: str = option("", "Comma-separated words that negate; by default those of English.", metavar="WORDS")
    given: bool = option(False, "Take the ratings of documents to annotate as known.", hidden=True)
    decode: str = option(
        "marginals",
        "The most probable label of each sentence, or the most probable labelling.",
        choices=("marginals", "joint"),
    )
    positive: str = option("", "File of positive words; repeat for several.", metavar="FILE", many=True)
    negative: str = option("", "File of negative words; repeat for several.", metavar="FILE", many=True)
    valence: str = option(
        "",
        "File of words with numbers, positive above 0; repeat for several.",
        metavar="FILE",
        many=True,
        flag="--valence",
    )
    seed: int = option(0, "Random seed.")
    workers: int = option(1, "Number of threads; training uses one.", hidden=True)

    def check(self) -> None:
        if self.learning not in METHODS:
            raise ConfigError(f"learning must be one of {', '.join(METHODS)}, got {self.learning!r}")
        if self.decode not in ("marginals", "joint"):
            raise ConfigError(f"decode must be marginals or joint, got {self.decode!r}")
        if self.min_count < 1:
            raise ConfigError(f"min_count must be at least 1, got {self.min_count}")
        self.learner(self.share).check()

    def learner(self, share: float) -> DocumentSGD:
        """The learner with a given share of labelled sentences."""
        return DocumentSGD(share, self.epochs, self.rate, self.variance, self.hard, self.seed)

    def lexicon(self) -> PolarityLexicon:
        """The polarity lexicon read from the files of the settings."""
        positive, negative, valence = (
            [name for name in each.split(",") if name] for each in (self.positive, self.negative, self.valence)
        )
        return PolarityLexicon.read(positive, negative, valence)


class Posterior(NamedTuple):
    """Posteriors of documents: p(d) of each, p(y_i) and p(d, y_i) of each of their sentences."""

    document: Floats  # [B, 3]
    sentence: Floats  # [N, 3]
    joint: Floats  # [N, 3, 3]


class SentimentAnalyser(Trainable):
    """Predicts the polarity of sentences and documents. `coarse` is an optional trained coarse model for a cascade.

    >>> from weft.formats.reviews import Review
    >>> rated = [Review("Superb acting. It runs two hours.", 5), Review("A slow plot. It runs two hours.", 1)] * 10
    >>> sentences = ("It runs two hours.", "Slow.")
    >>> labelled = Review(" ".join(sentences), 1, sentences=sentences, labels=("neu", "neg"))
    >>> analyser = SentimentAnalyser(SentimentSettings(rate=0.1), PolarityLexicon({"superb": 1}))
    >>> report = analyser.fit([review.doc() for review in [*rated, labelled]])
    >>> doc = Doc.from_words([["A", "slow", "plot", "."], ["The", "sound", "is", "superb", "."]])
    >>> analyser([doc])
    >>> sentence_polarities(doc)
    ['neg', 'pos']
    """

    task = "sentiment"
    settings_class = SentimentSettings
    settings: SentimentSettings
    unsaved = ("workers", "positive", "negative", "valence")

    def __init__(self, settings: SentimentSettings | None = None, lexicon: PolarityLexicon | None = None) -> None:
        super().__init__(settings)
        negators = [word.strip().lower() for word in self.settings.negators.split(",") if word.strip()]
        words = lexicon if lexicon is not None else self.settings.lexicon()
        self.features = SentenceFeatures(words, self.settings.pairs, negators or NEGATORS)
        self.weights: Floats | None = None
        self.coarse: SentimentAnalyser | None = None

    @property
    def model(self) -> DocumentModel:
        return DocumentModel(len(self.features), document_transitions=self.settings.transitions)

    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        """Train on documents with labelled sentences (fine) and documents with only a rating (coarse)."""
        watch = Stopwatch()
        docs = training_docs(train)
        labelled = [any(sentence_polarities(doc)) for doc in docs]
        fine = [doc for doc, known in zip(docs, labelled, strict=True) if known]
        coarse = [doc for doc, known in zip(docs, labelled, strict=True) if not known and document_polarity(doc)]
        method = self.settings.learning
        if method != "coarse" and not fine:
            raise DataError(f"the method {method} needs documents with labelled sentences, but there are none")
        if method != "fine" and not coarse and self.coarse is None:
            raise DataError(
                f"the method {method} needs documents with a rating and without labelled sentences, but there are none"
            )
        if method == "cascaded" and self.coarse is None:
            options = asdict(self.settings) | {"learning": "coarse", "given": False}
            self.coarse = SentimentAnalyser(SentimentSettings(**options), self.features.lexicon)
            self.coarse.fit(coarse)
        used = {"fine": fine, "coarse": coarse, "cascaded": fine, "interpolated": [*coarse, *fine]}[method]
        share = {"fine": 1.0, "coarse": 0.0, "cascaded": 1.0, "interpolated": self.settings.share}[method]
        extra = self._derived(used)
        known = self.features.learn(used, self.settings.min_count, extra)
        start = self.model.start(self.settings.agreement, self.features.signs(self.settings.votes))
        batch = self._batch(used, self.features.rows(used, extra, known))
        result = self.settings.learner(share).fit(self.model, batch, start, describe=f"training ({method})")
        self.weights = result.weights
        report: dict[str, Any] = {
            "training": {
                "method": method,
                "documents with labelled sentences": 0 if method == "coarse" else len(fine),
                "documents with a rating": 0 if method == "fine" else len(coarse),
                "documents without either": len(docs) - len(fine) - len(coarse),
                "lexicon words": len(self.features.lexicon),
                "features": len(self.features),
                "steps": result.calls,
                "loss per document": round(result.loss, 4),
                **watch.seconds(),
            }
        }
        if dev is not None:
            held_out = training_docs(dev)
            gold, documents = [sentence_polarities(doc) for doc in held_out], [document_polarity(d) for d in held_out]
            predicted = self.predict(held_out, self.settings.given)[0]
            results = evaluate_polarities(gold, predicted, documents).as_dict()
            report["scores"] = {f"dev {name}": value for name, value in results.items()}
        return report

    def batch(self, docs: Sequence[Doc]) -> DocumentBatch:
        """Encode documents as a batch, with the labels they have."""
        return self._batch(docs, self.features.rows(docs, self._derived(docs)))

    def _batch(self, docs: Sequence[Doc], rows: FeatureRows) -> DocumentBatch:
        sentence = [_NUMBERS[label] for doc in docs for label in sentence_polarities(doc)]
        document = np.array([_NUMBERS[document_polarity(doc)] for doc in docs], dtype=np.int32)
        return DocumentBatch.of(document_offsets(docs), rows, document, np.array(sentence, dtype=np.int32))

    def structure(self, docs: Sequence[Doc], given: bool = False) -> DocumentChain:
        """Scores of all labellings of documents; with `given`, only of those that agree with known ratings."""
        weights = self.trained(self.weights)
        rows = self.features.rows(docs, self._derived(docs))
        unknown = np.full(len(docs), UNKNOWN), np.full(len(rows.offsets) - 1, UNKNOWN)
        chain = self.model.score(DocumentBatch.of(document_offsets(docs), rows, *unknown), weights)
        return chain.restrict(DocumentMask(_known(docs))) if given else chain

    def posterior(self, docs: Sequence[Doc], given: bool = False) -> Posterior:
        """Probabilities of the labels of documents and sentences."""
        parts = self.structure(docs, given).marginals()
        return Posterior(parts.document, parts.sentence, parts.label)

    def predict(self, docs: Sequence[Doc], given: bool = False) -> tuple[list[list[str]], list[str], Posterior]:
        """The polarities of all sentences and documents, and their probabilities."""
        chain = self.structure(docs, given)
        parts = chain.marginals()
        document: Labels = parts.document.argmax(axis=1).astype(np.int32)
        sentence: Labels = parts.sentence.argmax(axis=1).astype(np.int32)
        if self.settings.decode == "joint":
            document, sentence = chain.best()
        names = iter([POLARITIES[label] for label in sentence.tolist()])
        return (
            [[next(names) for _ in range(doc.n_sentences)] for doc in docs],
            [POLARITIES[label] for label in document.tolist()],
            Posterior(parts.document, parts.sentence, parts.label),
        )

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        sentences, documents, posterior = self.predict(docs, self.settings.given)
        at = 0
        for i, doc in enumerate(docs):
            probabilities = posterior.sentence[at : at + doc.n_sentences]
            set_polarities(doc, sentences[i], documents[i], probabilities.tolist(), posterior.document[i].tolist())
            at += doc.n_sentences

    def _derived(self, docs: Sequence[Doc]) -> Keys | None:
        """The predictions of the coarse model of a cascade, as feature keys."""
        if self.coarse is None:
            return None
        seen = self.coarse.posterior(docs)
        return derived_keys(seen.joint, seen.document[sentence_of(document_offsets(docs))])

    def state(self) -> State:
        weights = self.trained(self.weights)
        header: dict[str, Any] = {"settings": self.saved_settings()}
        arrays: Arrays = {"keys": self.features.index.keys().copy(), "weights": weights.astype(np.float32)}
        signs = self.features.lexicon.signs
        header["lexicon"] = {
            sign: sorted(w for w, s in signs.items() if s == n) for sign, n in (("pos", 1), ("neg", -1))
        }
        if self.coarse is not None:
            header["coarse"], coarse_arrays = self.coarse.state()
            del header["coarse"]["lexicon"]
            arrays.update({f"coarse/{name}": array for name, array in coarse_arrays.items()})
        return header, arrays

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> SentimentAnalyser:
        HEADER.check(header)
        words = header["lexicon"]
        lexicon = PolarityLexicon(dict.fromkeys(words["pos"], 1) | dict.fromkeys(words["neg"], -1))
        analyser = cls(SentimentSettings.from_saved(header["settings"]), lexicon)
        stored = Stored.of(arrays)
        analyser.features.index.add(np.array(stored.take(KEYS)["keys"]))
        size = analyser.model.size
        analyser.weights = stored.take(Array("weights", "float32", (size,)))["weights"].astype(np.float64)
        if "coarse" in header:
            analyser.coarse = cls.from_state(header["coarse"] | {"lexicon": words}, stored.under("coarse/"))
        return analyser


def vote_polarities(docs: Sequence[Doc], lexicon: PolarityLexicon) -> list[list[str]]:
    """A baseline without learning: the majority polarity of each sentence's words, reversed for negated words.

    >>> vote_polarities([Doc.from_words([["not", "slow"], ["a", "film"]])], PolarityLexicon({"slow": -1}))
    [['pos', 'neu']]
    """
    votes = SentenceFeatures(lexicon).votes(docs)
    names = iter(["pos" if vote > 0 else "neg" if vote < 0 else "neu" for vote in votes.tolist()])
    return [[next(names) for _ in range(doc.n_sentences)] for doc in docs]


def _known(docs: Sequence[Doc]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """The labels that each document may have: its known label, or all."""
    labels = np.array([_NUMBERS[document_polarity(doc)] for doc in docs], dtype=np.int32)[:, None]
    return np.asarray((labels == np.arange(len(POLARITIES))) | (labels == UNKNOWN))
