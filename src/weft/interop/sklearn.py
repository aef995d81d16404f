"""Sequence labelling as a scikit-learn estimator, for `cross_val_score`, `GridSearchCV` and pipelines of theirs.

`X` is a list of sentences. A sentence is a list of words; a word is a string, or a mapping with the key `form` and
further columns that templates may read. `y` has a list of labels per sentence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, pairwise
from typing import Any

from weft.errors import ConfigError, DataError, WeftError
from weft.packages import needed
from weft.text.doc import Doc

_Estimator: Any = needed("sklearn.base", "SequenceLabeller").BaseEstimator

Word = str | Mapping[str, str]
#: The column that holds labels.
COLUMN = "label"


class SequenceLabeller(_Estimator):
    """A tagger of words: any labels, or spans written with a scheme such as IOB2.

    `templates` are feature templates (`docs/learn/templates.md`) over the `fields`, which name columns: by default `w`
    is the word. `settings` are further settings of `weft train tagger`. `score` is accuracy, or the F1 of spans if a
    `scheme` is given.

    >>> X = [["two", "eggs"], ["flour"], ["three", "apples"], ["salt"]] * 3
    >>> y = [["QTY", "FOOD"], ["FOOD"], ["QTY", "FOOD"], ["FOOD"]] * 3
    >>> labeller = SequenceLabeller(iterations=20).fit(X, y)
    >>> labeller.predict([["two", "apples"]])
    [['QTY', 'FOOD']]
    >>> labeller.score(X, y)
    1.0
    >>> from sklearn.model_selection import cross_val_score
    >>> cross_val_score(SequenceLabeller(iterations=5), X, y, cv=3).shape
    (3,)
    """

    def __init__(
        self,
        learner: str = "crf",
        templates: str = "",
        fields: Mapping[str, str] | None = None,
        scheme: str | None = None,
        sigma: float = 1.0,
        iterations: int = 100,
        epochs: int = 10,
        min_count: int = 1,
        seed: int = 0,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self.learner = learner
        self.templates = templates
        self.fields = fields
        self.scheme = scheme
        self.sigma = sigma
        self.iterations = iterations
        self.epochs = epochs
        self.min_count = min_count
        self.seed = seed
        self.settings = settings

    def fit(self, X: Sequence[Sequence[Word]], y: Sequence[Sequence[str]]) -> SequenceLabeller:
        """Train on sentences with their labels."""
        from weft.pipeline.registry import new_component

        doc = _document(X)
        _check_labels(X, y)
        doc.set_column(COLUMN, [str(label) for label in chain.from_iterable(y)])
        own = ("learner", "templates", "scheme", "sigma", "iterations", "epochs", "min_count", "seed")
        options = {name: getattr(self, name) for name in own}
        options |= {"fields": {"w": "form", **(self.fields or {})}, "column": COLUMN, **(self.settings or {})}
        component: Any = new_component("tagger", options)
        component.fit([doc])
        self.component_ = component
        self.classes_ = list(component.scorer.space.labels)
        return self

    def predict(self, X: Sequence[Sequence[Word]]) -> list[list[str]]:
        """The labels of every sentence."""
        doc = _document(X)
        if doc.n_words:
            self._trained()([doc])
        return _by_sentence(doc.column(COLUMN), doc)

    def predict_marginals(self, X: Sequence[Sequence[Word]]) -> list[list[dict[str, float]]]:
        """The probability of every label for every word."""
        doc = _document(X)
        names, probabilities = self._trained().posteriors([doc])
        rows = [dict(zip(names, row, strict=True)) for row in probabilities.tolist()]
        return _by_sentence(rows, doc)

    def score(self, X: Sequence[Sequence[Word]], y: Sequence[Sequence[str]]) -> float:
        """The share of words with the right label; with a scheme, the F1 of spans."""
        system = self.predict(X)
        _check_labels(X, y)
        gold = [[str(label) for label in labels] for labels in y]
        if self.scheme:
            from weft.evaluate.labels.spans import conlleval_f1

            return float(conlleval_f1(gold, system))
        pairs = list(zip(chain.from_iterable(gold), chain.from_iterable(system), strict=True))
        return sum(one == other for one, other in pairs) / max(1, len(pairs))

    def _trained(self) -> Any:
        if not hasattr(self, "component_"):
            raise WeftError("this SequenceLabeller is not trained yet; call fit first")
        return self.component_


def _document(sentences: Sequence[Sequence[Word]]) -> Doc:
    """Sentences as a document; words that are mappings fill further columns."""
    if isinstance(sentences, str) or any(isinstance(sentence, str) for sentence in sentences):
        raise ConfigError("X must be a list of sentences, each a list of words; got a string in their place")
    words = [{"form": word} if isinstance(word, str) else word for sentence in sentences for word in sentence]
    faulty = next((word for word in words if "form" not in word), None)
    if faulty is not None:
        raise DataError(f"every word needs its form, a string or the key 'form'; got {dict(faulty)!r}")
    forms = iter(str(word["form"]) for word in words)
    doc = Doc.from_words([[next(forms) for _ in sentence] for sentence in sentences])
    for name in dict.fromkeys(chain.from_iterable(words)):
        if name != "form":
            doc.set_column(name, [str(word.get(name, "")) for word in words])
    return doc


def _by_sentence(values: Sequence[Any], doc: Doc) -> list[list[Any]]:
    return [list(values[first:end]) for first, end in pairwise(doc.sentence_offsets.tolist())]


def _check_labels(sentences: Sequence[Sequence[Word]], labels: Sequence[Sequence[str]]) -> None:
    """Raise an error unless there is one label per word."""
    if len(sentences) != len(labels):
        raise DataError(f"X has {len(sentences)} sentences, y has {len(labels)}")
    for number, (words, own) in enumerate(zip(sentences, labels, strict=True)):
        if isinstance(own, str) or len(words) != len(own):
            raise DataError(f"sentence {number} has {len(words)} words; y must have as many labels, got {own!r}")
