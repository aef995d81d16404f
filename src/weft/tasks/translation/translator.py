"""A translator: a phrase table, a language model and weights, searched by `weft.infer.decoding`.

score(derivation) = sum over names of weights[name] * features[name]  +  sum of sparse weights of its phrase pairs
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from weft import storage
from weft.arrays import Floats
from weft.declared import Array, Arrays, Stored
from weft.errors import ConfigError, DataError, ModelError, WeftError
from weft.headers import Many, Named, Real, Record, Table, Text
from weft.infer.decoding.decoder import DISTORTION, Decoder, SearchSettings
from weft.infer.decoding.features import Feature
from weft.infer.decoding.forced import ForcedTarget
from weft.infer.decoding.hypergraph import Derivation, Hypergraph
from weft.infer.decoding.ngrams import Automaton, NgramFeature
from weft.infer.decoding.options import Options
from weft.infer.decoding.reordering import Reordering
from weft.learn.ngrams.model import NgramModel
from weft.learn.ngrams.store import from_arrays, to_arrays
from weft.learn.ngrams.vocabulary import END_ID, UNKNOWN_ID
from weft.pipeline.settings import checked_settings
from weft.pipeline.tables import put_back, take_out
from weft.tasks.translation.result import Step, Translation
from weft.tasks.translation.sentences import COPIED, Extension, SecondPass, Sentence, table_options
from weft.tasks.translation.table import PhraseTable
from weft.tasks.translation.tree_files import arrays_of, header_of, restored
from weft.tasks.translation.trees import TreeExtension

LANGUAGE_MODEL = "language model"
ORIENTATIONS = Reordering(np.zeros((0, 6))).names
#: Weights before tuning.
DEFAULTS = {
    "p(t|s)": 0.2, "p(s|t)": 0.2, "lex(t|s)": 0.2, "lex(s|t)": 0.2, "phrases": 0.0, "words": 1.0, COPIED: -20.0,
    DISTORTION: 0.2, LANGUAGE_MODEL: 0.6, **dict.fromkeys(ORIENTATIONS, 0.2),
}  # fmt: skip
#: Hypotheses and expansions per stack where a search with trees has found nothing.
_WIDE = 2000
#: Weights that tuning leaves alone: a word is copied only where nothing else can be said.
FIXED = (COPIED,)
_WORDS = Many(Text(), distinct=True)
_HEADER = Record(
    task=Text(("translator",)), settings=Table(), weights=Named(Real()), source_words=_WORDS, target_words=_WORDS,
    lm=Table(),
).with_optional(trees=Table())  # fmt: skip
_SPARSE = Array("sparse", "float64", ("pairs",), optional=True)


@dataclass(frozen=True)
class TranslatorSettings:
    """How a translator searches and reads."""

    beam: int = 100
    pops: int = 200
    distortion_limit: int = 6
    lower: bool = False  #: whether letter case is ignored

    def search(self) -> SearchSettings:
        """The settings of the search."""
        return SearchSettings(self.beam, self.pops, distortion_limit=self.distortion_limit)


class Translator:
    """Translates sentences.

    >>> from weft.tasks.translation.phrases import extract
    >>> from weft.tasks.language_models import lm
    >>> from weft.text.bitext import Links
    >>> bitext = [["das", "Haus"], ["das", "Boot"]], [["the", "house"], ["the", "boat"]]
    >>> extraction = extract(*bitext, Links.of([[(0, 0), (1, 1)]] * 2))
    >>> language_model = lm.train(bitext[1], order=2, method="witten-bell")
    >>> translator = Translator.of(extraction, PhraseTable.of(extraction), language_model)
    >>> translator.translate("das Boot in Oslo").text
    'the boat in Oslo'
    """

    def __init__(
        self,
        table: PhraseTable,
        language_model: NgramModel,
        source_words: Sequence[str],
        target_words: Sequence[str],
        weights: Mapping[str, float] | None = None,
        sparse: Floats | None = None,
        settings: TranslatorSettings | None = None,
        extensions: Sequence[Extension] = (),
    ) -> None:
        self.table, self.lm = table, language_model
        self.source_words, self.target_words = list(source_words), list(target_words)
        self.sparse = sparse  #: weights of phrase pairs, by the number of their rule
        self.settings = settings or TranslatorSettings()
        self.extensions = tuple(extensions)
        self.weights = {**DEFAULTS, **(weights or {})}
        for each in self.extensions:
            self.weights = {**each.weights, **self.weights}

    @classmethod
    def of(cls, extraction: Any, table: PhraseTable, language_model: NgramModel, **options: Any) -> Translator:
        """A translator with the words of an extraction (`weft.tasks.translation.phrases`)."""
        return cls(table, language_model, extraction.source.words, extraction.target.words, **options)

    def with_extension(self, extension: Extension) -> Translator:
        """The translator with one more extension."""
        return Translator(
            self.table, self.lm, self.source_words, self.target_words, self.weights, self.sparse, self.settings,
            [*self.extensions, extension],
        )  # fmt: skip

    @cached_property
    def _source_ids(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.source_words)}

    @cached_property
    def _target_ids(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.target_words)}

    @cached_property
    def features(self) -> tuple[Feature, ...]:
        """The features of every search: the language model and orientations."""
        numbers = self.lm.vocabulary.encode(self.target_words)
        ngrams = NgramFeature(Automaton(*self.lm.tables), self.lm.start, END_ID, numbers, UNKNOWN_ID, LANGUAGE_MODEL)
        return ngrams, Reordering(self.table.reordering)

    def sentence(self, text: str | Sequence[str]) -> Sentence:
        """A sentence, given as words or as text with spaces between words."""
        words = text.split() if isinstance(text, str) else list(text)
        if self.settings.lower:
            words = [word.lower() for word in words]
        ids = np.array([self._source_ids.get(word, -1) for word in words], np.int32)
        return Sentence(words, ids, self._target_ids, self.target_words)

    def options(self, sentence: Sentence) -> Options:
        """All options of a sentence, those of extensions included."""
        options = table_options(self.table, sentence, self.sparse is not None)
        for each in self.extensions:
            options = each.options(sentence, options)
        return options

    def decoder(self, sentence: Sentence, options: Options, more: Sequence[Feature] = ()) -> Decoder:
        """The decoder for a sentence, with all features."""
        extra = [feature for each in self.extensions for feature in each.features(sentence, options)]
        settings = self.settings.search()
        for each in self.extensions:
            settings = each.search(settings) if isinstance(each, SecondPass) else settings
        return Decoder([*self.features, *extra, *more], settings)

    def vector(self, names: Iterable[str]) -> Floats:
        """The weights of named scores."""
        missing = [name for name in names if name not in self.weights]
        if missing:
            raise ConfigError(f"there is no weight for the score {missing[0]!r}; an extension must give one")
        return np.array([self.weights[name] for name in names])

    def search(self, sentence: Sentence, options: Options | None = None) -> Hypergraph:
        """The hypergraph of translations that the search keeps."""
        options = self.options(sentence) if options is None else options
        decoder = self.decoder(sentence, options)
        weights = self.vector(decoder.names(options))
        graph = decoder.search(options, weights, self.sparse)
        if graph.is_empty and any(isinstance(each, SecondPass) for each in self.extensions):
            # What a parser must not do can leave a narrow search without an end.
            wide = replace(decoder.settings, pops=_WIDE, beam=_WIDE, threshold=float("inf"))
            graph = Decoder(decoder.features, wide).search(options, weights, self.sparse)
        for each in self.extensions:
            if isinstance(each, SecondPass):
                graph = each.second_pass(graph, self.vector((*graph.names, *each.later_names)), self.sparse)
        return graph

    def score_names(self, sentence: Sentence, options: Options) -> tuple[str, ...]:
        """The names of all scores of translations, those of second passes last."""
        later = [name for each in self.extensions if isinstance(each, SecondPass) for name in each.later_names]
        return (*self.decoder(sentence, options).names(options), *later)

    def force(self, sentence: Sentence, target: str | Sequence[str]) -> Hypergraph:
        """The hypergraph of derivations of one translation; it is empty if no phrases make it."""
        said = target.split() if isinstance(target, str) else list(target)
        forced = ForcedTarget([sentence.number(word.lower() if self.settings.lower else word) for word in said])
        options = forced.usable(self.options(sentence))
        decoder = self.decoder(sentence, options, [forced])
        return decoder.search(options, self.vector(decoder.names(options)), self.sparse)

    def translate(self, text: str | Sequence[str]) -> Translation:
        """The best translation of a sentence."""
        return self.kbest(text, 1)[0]

    def kbest(self, text: str | Sequence[str], k: int) -> list[Translation]:
        """The k best different translations of a sentence, best first; perhaps fewer."""
        sentence = self.sentence(text)
        if not len(sentence.words):
            return [Translation((), (), 0.0, {})]
        graph = self.search(sentence)
        if graph.is_empty:
            raise DataError(
                f"no translation of {' '.join(sentence.words)!r} was found; allow a larger beam or distortion limit"
            )
        derivations = [graph.best()] if k == 1 else graph.kbest(k, distinct=True)
        return [self.told(sentence, graph, each) for each in derivations]

    def set_beam(self, beam: int) -> None:
        """Search with another beam."""
        self.settings = replace(self.settings, beam=beam, pops=2 * beam)

    def stream(self, texts: Iterable[str | Sequence[str]], k: int = 1) -> Iterator[list[Translation]]:
        """The k best translations of every sentence."""
        for text in texts:
            yield self.kbest(text, k)

    def told(self, sentence: Sentence, graph: Hypergraph, derivation: Derivation) -> Translation:
        """A derivation as a translation with its phrases, their scores and origins."""
        values = graph.features(derivation)
        n = len(graph.options) - graph.n_moves
        steps = tuple(self._step(sentence, graph.options, option) for option in derivation.options if option < n)
        return Translation(
            tuple(sentence.words),
            tuple(sentence.word(word) for word in graph.words(derivation)),
            derivation.score,
            dict(zip(graph.names, values.tolist(), strict=True)),
            steps,
            next((each.heads(graph, derivation) for each in self.extensions if isinstance(each, SecondPass)), ()),
        )

    def _step(self, sentence: Sentence, options: Options, option: int) -> Step:
        start, end, pair = int(options.start[option]), int(options.end[option]), int(options.pair[option])
        target = tuple(sentence.word(word) for word in options.target(option))
        scores = dict(zip(options.names, options.scores[option].tolist(), strict=True))
        source = tuple(sentence.words[start:end])
        if pair < 0:
            links = ((0, 0),) if source == target and len(source) == 1 else ()
            return Step(start, end, source, target, links, scores, 0, (), "copied" if scores.get(COPIED) else "added")
        if self.sparse is not None:
            scores["rule"] = float(self.sparse[self.table.rule[pair]])
        origins = tuple(self.table.seen_in(pair))
        count = int(self.table.count[pair])
        return Step(start, end, source, target, tuple(self.table.links(pair)), scores, count, origins)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a model file; of extensions, the one that builds trees is part of it."""
        header = {
            "task": "translator", "settings": asdict(self.settings),
            "weights": {name: value for name, value in self.weights.items() if self._saves(name)},
            "source_words": self.source_words, "target_words": self.target_words,
            "lm": {"order": self.lm.order, "method": self.lm.method},
        }  # fmt: skip
        for each in self.extensions:
            if isinstance(each, TreeExtension):
                header["trees"] = header_of(each)
        short, arrays = take_out(header)
        for each in self.extensions:
            if isinstance(each, TreeExtension):
                arrays |= {f"trees/{name}": array for name, array in arrays_of(each).items()}
        arrays |= {f"table/{name}": array for name, array in self.table.arrays().items()}
        arrays |= {f"lm/{name}": array for name, array in to_arrays(self.lm).items()}
        if self.sparse is not None:
            arrays["table/sparse"] = self.sparse[self.table.rule]
            arrays["table/rule"] = np.arange(len(self.table), dtype=np.int32)
        storage.save(path, short, arrays)

    def _saves(self, name: str) -> bool:
        return not any(name in each.weights for each in self.extensions if not isinstance(each, TreeExtension))

    @classmethod
    def load(cls, path: str | os.PathLike[str], extensions: Sequence[Extension] = ()) -> Translator:
        """Load a translator that `save` wrote; its arrays are mapped into memory."""
        header, arrays = storage.load_mapped(path)
        if header.get("task") != "translator":
            raise ModelError(
                f"{os.fspath(path)} is a model for {header.get('task', 'something else')}, not a translator; "
                "train one with `weft train translation`"
            )
        try:
            return cls._restored(header, {name: np.asarray(array) for name, array in arrays.items()}, extensions)
        except WeftError as error:
            raise ModelError(f"{os.fspath(path)}: {error}") from None

    @classmethod
    def _restored(cls, header: dict[str, Any], arrays: Arrays, extensions: Sequence[Extension]) -> Translator:
        stored = Stored.of(arrays)
        header = put_back(header, stored)
        _HEADER.check(header)
        settings = TranslatorSettings(**checked_settings(TranslatorSettings, header["settings"]))
        source, target = header["source_words"], header["target_words"]
        inner = stored.under("table/")
        table = PhraseTable.from_arrays(inner, len(source), len(target))
        sparse = inner.take(_SPARSE, pairs=len(table)).get("sparse")
        if sparse is not None and len(table) and int(table.rule.max()) >= len(sparse):
            raise ModelError("a rule of the phrase table has no weight: the file is damaged")
        model = from_arrays(header["lm"], stored.under("lm/"))
        if "trees" in header:
            extensions = [restored(header["trees"], stored.under("trees/"), len(table)), *extensions]
        stored.refuse_rest()
        own = None if sparse is None else np.asarray(sparse, np.float64)
        return cls(table, model, source, target, header["weights"], own, settings, extensions)
