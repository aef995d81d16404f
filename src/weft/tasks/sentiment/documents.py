"""Polarity of documents in a domain without labels (Blitzer, Dredze and Pereira, ACL 2007).

| method | training data |
|---|---|
| base | labelled source documents |
| scl | also raw documents of both domains; pivots are the most frequent terms in both |
| scl-mi | the same; pivots are the shared terms with the highest mutual information with the source labels |

A few labelled target documents, such as fifty, can correct any of them. Documents are unit-length vectors of words and
word bigrams (`weft.features.document_terms`); the classifiers are in `weft.tasks.sentiment.polarity_model`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats
from weft.declared import Array, Stored
from weft.errors import ConfigError, DataError
from weft.features.document_terms import Terms, document_counts
from weft.features.representations.correspondence import Correspondence
from weft.headers import Many, Real, Record, Text, check_same
from weft.pipeline.component import Asked, State, Stopwatch, Trainable
from weft.pipeline.settings import Settings, option
from weft.storage import Arrays
from weft.tasks.sentiment.polarity_model import (
    METHODS,
    PolarityModel,
    choose_pivots,
    correct_polarity,
    fit_polarity,
    project_documents,
)
from weft.tasks.sentiment.polarity_report import Shared, shared_terms
from weft.text.conventions.polarity import document_polarity, sentence_polarities, set_polarities
from weft.text.doc import Doc

#: The metadata key of a document's score.
SCORE = "sentiment_score"
#: Lengths of the projection, relative to documents, to try on held-out source documents.
SCALES = (0.3, 1.0, 3.0, 10.0)

HEADER = Record(pivots=Many(Text()), models=Many(Record(intercept=Real(), trust=Real()), least=1))


@dataclass
class PolaritySettings(Settings):
    """Options of a document classifier."""

    learning: str = option(
        "scl-mi", "How raw text is used: not at all, with frequent pivots, or with informative pivots.", choices=METHODS
    )
    pivots: int = option(500, "Number of terms that stand for both domains.")
    pivot_documents: int = option(5, "Pivots occur in more documents of every domain than this.")
    dimensions: int = option(50, "Dimensions of the projection.")
    scale: float = option(1.0, "Mean length of the projection relative to documents; 0 tunes it on held-out documents.")
    mask: str = option("all", "Pivots that the predictor of a pivot does not see.", choices=("all", "own"))
    standardize: bool = option(False, "Give the dimensions of the projection the same variance on raw documents.")
    positive: bool = option(True, "Drop negative weights of the pivot predictors.", flag="--positive-weights")
    documents: int = option(3, "Terms occur in at least this many documents.")
    l2: float = option(1e-4, "L2 penalty of terms.")
    mu: float = option(1e-3, "L2 penalty of the projection's dimensions.")
    target_l2: float = option(0.1, "L2 penalty of terms when correcting with --target.")
    target_mu: float = option(0.1, "Penalty that ties the projection to the source when correcting with --target.")
    seed: int = option(0, "Random seed.")
    workers: int = option(1, "Number of threads; training uses one.", hidden=True)

    def check(self) -> None:
        if self.learning not in METHODS:
            raise ConfigError(f"learning must be one of {', '.join(METHODS)}, got {self.learning!r}")
        if self.mask not in ("all", "own"):
            raise ConfigError(f"mask must be all or own, got {self.mask!r}")
        for name in ("pivots", "dimensions", "documents"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        for name in ("scale", "mu", "target_mu", "pivot_documents"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} must be at least 0, got {getattr(self, name)}")
        for name in ("l2", "target_l2"):
            if getattr(self, name) <= 0:
                raise ConfigError(f"{name} must be above 0, got {getattr(self, name)}")


class PolarityClassifier(Trainable):
    """Classifies documents: `doc.meta["sentiment"]` is `pos` or `neg`, `doc.meta["sentiment_score"]` the score.

    >>> films = [Doc(text, meta={"sentiment": label}) for text, label in [
    ...     ("awful and predictable", "neg"), ("superb and gripping", "pos"), ("awful, so predictable", "neg"),
    ...     ("superb, so gripping", "pos")]]
    >>> pans = ["awful, it leaks", "superb, it shines", "awful pan, leaks", "superb pan, shines"]
    >>> settings = PolaritySettings(pivots=2, pivot_documents=1, dimensions=2, documents=2)
    >>> classifier = PolarityClassifier(settings)
    >>> report = classifier.adapt(films, map(Doc, pans))
    >>> new = [Doc("this one leaks"), Doc("how it shines")]
    >>> classifier(new)
    >>> [doc.meta["sentiment"] for doc in new]
    ['neg', 'pos']
    """

    task = "polarity"
    settings_class = PolaritySettings
    settings: PolaritySettings

    def __init__(self, settings: PolaritySettings | None = None) -> None:
        super().__init__(settings)
        self.terms: Terms | None = None
        self.model: PolarityModel | None = None
        self.pivots: list[str] = []
        self.counts: NDArray[np.int64] = np.zeros(
            (2, 0), dtype=np.int64
        )  # number of source and target documents per term

    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        """Train on labelled documents of one domain alone (`base`)."""
        if self.settings.learning != "base":
            raise ConfigError(
                f"learning={self.settings.learning} needs raw documents of the target: call adapt, give --raw FILE, or "
                "set learning=base"
            )
        return self.adapt(train, (), dev=dev)

    def adapt(
        self,
        source: Iterable[Doc],
        target_raw: Iterable[Doc],
        source_raw: Iterable[Doc] = (),
        dev: Iterable[Doc] | None = None,
        target: Iterable[Doc] = (),
    ) -> dict[str, Any]:
        """Train on labelled source documents and raw documents of both domains; return a report.

        Labelled source documents also serve as raw text. `target` holds labelled target documents, if there are any.
        Documents without a polarity, or with a neutral one, are ignored; `dev` is only used for scoring.
        """
        settings, watch = self.settings, Stopwatch()
        labelled, y = labelled_texts(source)
        if len(set(y.tolist())) < 2:
            raise DataError(
                "the source domain needs positive and negative documents; give ratings or labels of both kinds"
            )
        raw = [labelled + [text_of(doc) for doc in source_raw], [text_of(doc) for doc in target_raw]]
        if settings.learning != "base" and not raw[1]:
            raise DataError(
                f"learning={settings.learning} needs raw documents of the target domain, but there are none"
            )
        few, few_y = labelled_texts(target)
        self.terms = Terms.of(raw[0] + raw[1], settings.documents)
        if not len(self.terms):
            raise DataError(f"no term occurs in {settings.documents} documents; give more text or set documents=1")
        rows = self.terms.rows(labelled)
        of_raw = [self.terms.rows(texts) for texts in raw]
        self.counts = np.stack([document_counts(each) for each in of_raw])
        projection, scale = None, settings.scale
        if settings.learning != "base":
            pivots = choose_pivots(settings.learning, rows, y, of_raw, settings.pivots, settings.pivot_documents)
            self.pivots = [self.terms.names[i] for i in pivots]
            projection = project_documents(
                of_raw, pivots, settings.dimensions, scale or 1.0, settings.l2, settings.positive,
                seed=settings.seed, mask=settings.mask, standardize=settings.standardize,
            )  # fmt: skip
            if not scale:
                projection, scale = self._scaled(projection, rows, y)
        self.model = fit_polarity(rows, y, projection, settings.l2, settings.mu)
        if few:
            self.model = correct_polarity(
                self.model, self.terms.rows(few), few_y, settings.target_l2, settings.target_mu
            )
        report: dict[str, Any] = {
            "training": {
                "method": settings.learning,
                "source documents": len(labelled),
                "raw documents": len(raw[0]) + len(raw[1]),
                "target documents": len(few),
                "terms": len(self.terms),
                "pivots": len(self.pivots),
                "dimensions": 0 if projection is None else projection.size,
                "scale": scale,
                **watch.seconds(),
            }
        }
        if dev is not None:
            report["scores"] = {f"dev {name}": value for name, value in self.evaluate(dev).items()}
        return report

    def _scaled(self, projection: Correspondence, rows: Any, y: Floats) -> tuple[Correspondence, float]:
        """The projection scaled to the length that works best on a held-out fifth of the source documents, and that
        length."""
        settings = self.settings
        held = np.random.default_rng(settings.seed).permutation(len(y)) % 5 == 0
        train, test = np.flatnonzero(~held), np.flatnonzero(held)
        best, right = (projection, 1.0), -1.0
        for scale in SCALES:
            tried = replace(projection, scale=projection.scale * scale)
            model = fit_polarity(rows[train], y[train], tried, settings.l2, settings.mu)
            now = float(np.mean(model.labels(rows[test]) == y[test]))
            if now > right:
                best, right = (tried, scale), now
        return best

    def scores(self, docs: Iterable[Doc]) -> Floats:
        """The scores of documents, positive above 0 and negative below."""
        return self.trained(self.model).scores(self.trained(self.terms).rows(map(text_of, docs)))

    def evaluate(self, docs: Iterable[Doc]) -> dict[str, Any]:
        """Accuracy on labelled documents."""
        known = [(doc, label) for doc in docs if (label := document_polarity(doc)) in ("pos", "neg")]
        if not known:
            raise DataError("there is nothing to evaluate: no document is labelled positive or negative")
        predicted = self.scores(doc for doc, _ in known) > 0
        right = [said == (label == "pos") for said, (_, label) in zip(predicted.tolist(), known, strict=True)]
        return {"accuracy": sum(right) / len(right), "documents": len(right)}

    def correspondences(self, dimensions: int = 3, most: int = 8) -> list[Shared]:
        """Terms of the two domains that the projection puts side by side, see `shared_terms`."""
        return shared_terms(self.trained(self.model), self.trained(self.terms).names, self.counts, dimensions, most)

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        for doc, score in zip(docs, self.scores(docs).tolist(), strict=True):
            set_polarities(doc, sentence_polarities(doc), "pos" if score > 0 else "neg")
            doc.meta[SCORE] = round(score, 4)

    def state(self) -> State:
        model: PolarityModel | None = self.trained(self.model)
        names = "\n".join(self.trained(self.terms).names).encode()
        header: dict[str, Any] = {"settings": self.saved_settings(), "pivots": self.pivots, "models": []}
        arrays: Arrays = {"names": np.frombuffer(names, dtype=np.uint8), "counts": self.counts}
        if model is not None and model.projection is not None:
            arrays |= {f"projection/{name}": array for name, array in model.projection.arrays().items()}
        while model is not None:
            number = len(header["models"])
            header["models"].append({"intercept": model.intercept, "trust": model.trust})
            arrays |= {f"w{number}": model.w.astype(np.float32), f"v{number}": model.v}
            model = model.source
        return header, arrays

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> PolarityClassifier:
        classifier = cls(PolaritySettings.from_saved(header["settings"]))
        HEADER.check(header)
        stored = Stored.of(arrays)
        classifier.terms = Terms(bytes(stored.take(Array("names", "uint8", ("*",)))["names"]).decode().split("\n"))
        size = len(classifier.terms.names)
        classifier.pivots = list(header["pivots"])
        classifier.counts = np.array(stored.take(Array("counts", "int64", (2, size)))["counts"])
        projected = stored.under("projection/")
        projection = Correspondence.from_arrays(projected) if projected else None
        if projection is not None:
            check_same("projection", len(projection.rows), size)
            check_same("projection's blocks", len(projection.starts) - 1, 1)
        dimensions = 0 if projection is None else projection.size
        for number, each in reversed(list(enumerate(header["models"]))):
            w, v = stored.take(
                Array(f"w{number}", "float32", (size,)), Array(f"v{number}", "float64", (dimensions,))
            ).values()
            classifier.model = PolarityModel(
                np.array(w, dtype=np.float64), np.array(v),
                each["intercept"], projection, classifier.model, each["trust"],
            )  # fmt: skip
        return classifier


def text_of(doc: Doc) -> str:
    """The text to classify: the title of the document, if it has one, and its text."""
    title = doc.meta.get("title", "")
    return f"{title}\n{doc.text}" if title else doc.text


def labelled_texts(docs: Iterable[Doc]) -> tuple[list[str], Floats]:
    """Texts of positive (+1) and negative (-1) documents; others are left out.

    >>> labelled_texts([Doc("Fine.", meta={"rating": 5}), Doc("So so.", meta={"rating": 3}), Doc("?")])
    (['Fine.'], array([1.]))
    """
    known = [(text_of(doc), label) for doc in docs if (label := document_polarity(doc)) in ("pos", "neg")]
    return [text for text, _ in known], np.array([1.0 if label == "pos" else -1.0 for _, label in known])
