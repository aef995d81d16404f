"""Entity recognizers for a language without labelled entities, trained on labelled corpora of other languages.

One model is trained on the corpora of all source languages together (Täckström 2012). It then labels text of the target
language and is retrained on the sentences it is confident about (`weft.learn.self_training`), with additional features
that only target sentences have: clusters of the target language itself (`weft.tasks.entities.transfer_data`).
`TransferRecognizer` saves an ordinary entity recognizer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from typing import Any

import numpy as np

from weft.arrays import Floats
from weft.errors import ConfigError
from weft.evaluate.labels.weak_report import weak_report
from weft.features.lexicon import WordClasses
from weft.features.templates import Templates
from weft.lexical.clusters.monolingual import load_clusters
from weft.pipeline.component import State, Stopwatch
from weft.tasks.entities.recognizer import EntityRecognizer, EntitySettings
from weft.tasks.entities.transfer_data import Languages, TransferData, TransferSettings, class_ids
from weft.tasks.labelling.chain_data import ChainReader
from weft.text.doc import Doc


class TransferRecognizer(EntityRecognizer):
    """An entity recognizer trained on other languages; its saved model is an ordinary recognizer.

    >>> from weft.tasks.entities.transfer_data import small_example
    >>> recognizer = TransferRecognizer(TransferSettings(self_train=1, min_count=1, threshold=0.2))
    >>> report = recognizer.fit_languages(small_example())
    >>> new = Doc.from_words([["il", "vit", "Oslo"]])
    >>> recognizer([new])
    >>> new.span_views("entities")
    [Span('Oslo', 'LOC')]
    """

    settings_class = TransferSettings
    settings: TransferSettings

    def __init__(self, settings: TransferSettings | None = None, level: int = 0) -> None:
        super().__init__(settings, level)

    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        """Train on the `sources` and `target` of the settings; `train` are labelled target sentences, if any."""
        settings = self.settings
        if not settings.sources:
            return super().fit(train, dev)
        if dev is not None:
            raise ConfigError("transfer does not use dev data: give labelled target sentences as training files")
        return self.fit_languages(languages_of(settings, [self._in_words(doc) for doc in train]))

    def fit_languages(self, languages: Languages, sources: Sequence[str] | None = None) -> dict[str, Any]:
        """Train on source languages, labelled target sentences if there are any, and the target text."""
        watch = Stopwatch()
        data = TransferData(self.settings, languages)
        outcome = data.train(sources)
        self.take(data, outcome.model)
        report: dict[str, Any] = {
            "training": {
                "sentences": sum(len(data.batch(code)) for code in sources or data.sources),
                "labelled_sentences": sum(doc.n_sentences for doc in data.labelled),
                "target_sentences": sum(doc.n_sentences for doc in data.target),
                "weights": data.data.model.size,
                "learner": self.settings.learner,
                **watch.seconds(),
            },
            "rounds": [asdict(told) for told in outcome.rounds],
            "types": asdict(data.types),
            "clusters": data.coverage(),
        }
        if data.target:
            labels, posteriors = self.posteriors(data.target)
            clusters = data.classes.get(data.code)
            known = np.concatenate(
                [np.zeros(doc.n_words) if clusters is None else class_ids(doc, clusters) > 0 for doc in data.target]
            )
            choices = np.full(len(posteriors), float(len(labels)))
            report["target"] = weak_report(
                choices,
                np.zeros(len(posteriors)),
                confidence=posteriors.max(axis=1),
                groups={"in a shared cluster": known > 0},
            ).as_dict()
        return report

    def take(self, data: TransferData, weights: Floats, native: bool = True) -> None:
        """Become the recognizer with these weights, for documents in the target language."""
        settings = self.settings
        settings.templates, settings.fields = data.templates, dict(data.fields)
        self._clusters = data.classes.get(data.code)
        self._native = data.native if native else None
        # Bind the fields of missing clusters too: the templates name them.
        reader = ChainReader(Templates(settings.templates), self.bindings())
        frozen = replace(data.data, reader=reader).freeze(weights, settings.precision, settings.prune)
        self.scorer = frozen
        self.requires = self._required()

    def bindings(self) -> Mapping[str, Any]:
        nothing = WordClasses({})
        return {"c": nothing, "n": nothing, **super().bindings()}

    def state(self) -> State:
        header, arrays = super().state()
        kept = {each.name for each in fields(EntitySettings)}
        header["settings"] = {name: value for name, value in header["settings"].items() if name in kept}
        # An ordinary recognizer binds only the kinds of clusters that it has.
        header.setdefault("word_clusters", {})
        header.setdefault("native_clusters", {})
        return header, arrays


def languages_of(settings: TransferSettings, labelled: Sequence[Doc] = ()) -> Languages:
    """Read the documents and clusters of the files named in the settings."""
    code, sign, path = settings.target.partition("=")
    if not sign:
        code, path = "target", settings.target
    if not path:
        raise ConfigError("transfer needs text of the target language: set target=CODE=FILE (--target)")
    codes = [*settings.sources, code]
    return Languages(
        {source: _read(file, settings) for source, file in settings.sources.items()},
        _read(path, settings, plain=True),
        code,
        labelled,
        read_clusters(settings.clusters, codes) if settings.clusters else None,
        load_clusters(settings.native_clusters) if settings.native_clusters else None,
    )


def _read(path: str, settings: TransferSettings, plain: bool = False) -> list[Doc]:
    from weft.formats import detect, read
    from weft.text.split import split_by_rule

    columns: dict[str, Any] = {"fields": settings.columns} if settings.columns and detect(path) == "columns" else {}
    docs = list(read(path, **columns))
    finder = EntityRecognizer(EntitySettings(layer=settings.layer))
    for doc in docs:
        if not doc.n_words and doc.text.strip():
            split_by_rule(doc)
    return docs if plain else [finder._in_words(doc) for doc in docs]


def read_clusters(text: str, codes: Sequence[str]) -> dict[str, dict[str, str]]:
    """Clusters by language from `FILE` (one file for all languages) or `en=FILE,es=FILE`."""
    if "=" not in text:
        shared = load_clusters(text)
        return dict.fromkeys(codes, shared)
    clusters = {}
    for item in text.split(","):
        code, _, path = item.partition("=")
        if not code or not path:
            raise ConfigError(f"clusters are written FILE or en=FILE,es=FILE, not {text!r}")
        clusters[code] = load_clusters(path)
    missing = [code for code in codes if code not in clusters]
    if missing:
        raise ConfigError(f"no clusters are given for {', '.join(missing)}; write {missing[0]}=FILE among --clusters")
    return clusters
