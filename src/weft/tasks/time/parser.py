"""Time expressions: found, or given, and turned into TIMEX3 types and values.

The method is that of Angeli and Uszkoreit (2013): a latent parse of each phrase into calendar operations, learned from
phrases, values and reference times alone; see `weft.tasks.time.model`. Nothing but a recognizer of numbers knows a
language.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from weft.arrays import Ints
from weft.deadline import check
from weft.declared import Array, Stored
from weft.errors import ConfigError, DataError, ModelError
from weft.evaluate.semantics.times import score_times
from weft.headers import Many, Real, Record, Table, Text
from weft.pipeline.component import Asked, State, Stopwatch, Trainable, training_docs
from weft.pipeline.settings import Settings, option
from weft.storage import Arrays
from weft.tasks.spans.chunker import Chunker
from weft.tasks.time.chain import fit_chain, found_by
from weft.tasks.time.detect import TimeFinder
from weft.tasks.time.ground import CONVENTIONS, MU, Convention
from weft.tasks.time.learning import LOSSES, Example, Options, train
from weft.tasks.time.model import Answer, Layout, TimeModel
from weft.tasks.time.numbers import LANGUAGES, check_language
from weft.tasks.time.timex import TYPES, read_value
from weft.tasks.time.tokens import pieces
from weft.tasks.time.types import TypeModel
from weft.text.conventions.times import LAYER, read_moment, reference_of, timexes
from weft.text.doc import Doc
from weft.text.layers import SpanLayer
from weft.text.split import with_words

#: Answers that are kept for phrases that come again.
REMEMBERED = 20_000
_SPARSE = (
    Array("places", "int32", ("weights",), below="size", rising=True),
    Array("weights", "float32", ("weights",), within=(-1e4, 1e4)),
    Array("by_shape", "int64", ("shapes", len(TYPES)), below=2**31),
    Array("by_word", "int32", ("grams", len(TYPES))),
    Array("uses", "int32", ("grams", 5)),
)
HEADER = Record(
    settings=Table(), grams=Many(Text()), shapes=Many(Text()), mu=Record(**{unit: Real(-2.0, 2.0) for unit in MU})
).with_optional(chain=Table())
DETECTORS = ("words", "chain")


@dataclass
class TimeSettings(Settings):
    """Options of a parser of time expressions."""

    layer: str = option(LAYER, "Span layer of time expressions.")
    language: str = option("en", f"Language of numbers: {', '.join(LANGUAGES)}, or another code for digits only.")
    next: str = option(
        "following",
        'What "next Tuesday" means: the first one to come (following), that of the next week (calendar), or the one '
        "after the Tuesday that a bare name means (nearest).",
        choices=CONVENTIONS,
    )
    detector: str = option(
        "words",
        "How expressions are found in text: by the words of phrases, or by a chain that learns from running text in "
        "which they are marked, such as TimeML.",
        choices=DETECTORS,
    )
    loss: str = option("softmax-margin", "Loss over the k best derivations.", choices=LOSSES)
    cost: float = option(3.0, "By how much wrong answers are raised in training.")
    passes: int = option(8, "Passes over the phrases.")
    beam: int = option(150, "Derivations per phrase and type of value in training.")
    k: int = option(40, "Derivations per phrase and type of value in use.")
    rate: float = option(0.3, "Rate of AdaGrad.")
    seed: int = option(0, "Random seed: it breaks ties before anything is learned.")
    workers: int = option(1, "Number of threads; training uses one.", hidden=True)

    def check(self) -> None:
        check_language(self.language)
        for name, known in (("next", CONVENTIONS), ("loss", LOSSES), ("detector", DETECTORS)):
            if getattr(self, name) not in known:
                raise ConfigError(f"{name} must be one of {', '.join(known)}, got {getattr(self, name)!r}")
        for name in ("passes", "beam", "k"):
            if not 1 <= getattr(self, name) <= 100_000:
                raise ConfigError(f"{name} must be between 1 and 100000, got {getattr(self, name)}")


class TimeParser(Trainable):
    """Finds time expressions and gives them types and values.

    >>> from weft.formats.times import phrase_doc
    >>> from weft.text.strings import StringTable
    >>> rows = ["DATE 2013-08-05 today", "DATE 2013-08-04 yesterday", "DATE 2013-08-06 tomorrow", "DURATION P3D days"]
    >>> strings = StringTable()
    >>> docs = [phrase_doc("x", 1, [kind, value, "2013-08-05", "three days" if word == "days" else word], strings)
    ...         for kind, value, word in map(str.split, rows)]
    >>> parser = TimeParser(TimeSettings(passes=4, beam=120))
    >>> report = parser.fit(docs)
    >>> doc = Doc.from_words([["We", "left", "yesterday"]])
    >>> doc.meta["date"] = "2026-05-01"
    >>> parser([doc])
    >>> doc.times
    [Timex('yesterday', 'DATE', '2026-04-30')]
    """

    task = "times"
    settings_class = TimeSettings
    settings: TimeSettings
    requires = ("tokens",)
    gives_probabilities = True
    gives_kbest = True

    def __init__(self, settings: TimeSettings | None = None) -> None:
        super().__init__(settings)
        self.provides = (f"spans/{self.settings.layer}",)
        self.model: TimeModel | None = None
        self.types: TypeModel | None = None
        self.uses: Ints = np.zeros((0, 5), dtype=np.int64)
        #: A reference time that takes the place of the documents' dates.
        self.reference: str = ""
        self.chain: Chunker | None = None
        self._finder: TimeFinder | None = None
        self._known: dict[tuple[str, datetime, int], list[tuple[str, Answer]]] = {}

    @property
    def language(self) -> str:
        """The language of numbers."""
        return check_language(self.settings.language)

    def set_next(self, convention: str) -> None:
        """Change what "next Tuesday" means."""
        if convention not in CONVENTIONS:
            raise ConfigError(f"next must be one of {', '.join(CONVENTIONS)}, got {convention!r}")
        model = self.trained(self.model)
        self.settings.next = convention
        model.convention = Convention(convention, model.convention.mu)
        model.forget()
        self._known.clear()

    def forget(self) -> None:
        """Answer phrases that come again as if they were new."""
        self._known.clear()

    def fit(self, train_docs: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        """Train on documents whose layer has types and values; dev data is scored."""
        watch, settings = Stopwatch(), self.settings
        docs = training_docs(train_docs)
        examples = _examples(docs, settings.layer)
        if not examples:
            raise DataError("there is nothing to train on: no time expression has a value")
        options = Options(
            self.language, settings.loss, settings.cost, settings.passes, settings.beam, settings.rate, settings.next,
            seed=settings.seed,
        )  # fmt: skip
        return self._learn(docs, examples, options, watch, dev)

    def _learn(
        self, docs: Sequence[Doc], examples: Sequence[Example], options: Options, watch: Stopwatch,
        dev: Iterable[Doc] | None,
    ) -> dict[str, Any]:  # fmt: skip
        model, curve, uses = train(examples, options)
        self.model, self.uses, self._finder, self.chain = model, uses, None, None
        if self.settings.detector == "chain":
            self.chain = fit_chain(docs, self.settings.layer, self.finder, seed=self.settings.seed)
        self._known.clear()
        rows = []
        for example in examples:
            words = model.words_of(model.phrase(pieces(example.phrase, self.language)))
            rows.append((example.type, example.value, words))
        self.types = TypeModel.fit(rows, model.layout.grams)
        report: dict[str, Any] = {
            "training": {
                "phrases": len(examples),
                **_told_of(examples),
                **model.derivations_told(),
                "reached": [round(share, 4) for share in curve.reached],
                "right": [round(share, 4) for share in curve.right],
                **watch.seconds(),
            }
        }
        if dev is not None:
            held_out = with_words(dev)
            bare = [_bare(doc, self.settings.layer) for doc in held_out]
            self(bare)
            scores = score_times(held_out, bare, self.settings.layer).as_dict()
            report["scores"] = {f"dev {name}": value for name, value in scores.items()}
        return report

    def parse(self, phrase: str, now: datetime, count: int = 1) -> list[tuple[str, Answer]]:
        """The most probable types and values of a phrase said at a time, best first."""
        key = (phrase, now, count)
        found = self._known.get(key)
        if found is None:
            model, types = self.trained(self.model), self.trained(self.types)
            seen = model.phrase(pieces(phrase, self.language))
            words = model.words_of(seen)
            answers = model.best(seen, now, self.settings.k, count)
            found = [(types.type(answer.value, words), answer) for answer in answers]
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            self._known[key] = found
        return found

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        self.trained(self.model)
        given = read_moment(self.reference) if self.reference else None
        for doc in docs:
            check()
            now, origin = (given, "given") if given is not None else reference_of(doc)
            spans = self._spans(doc)
            layer = SpanLayer(doc.strings, doc.spans[self.settings.layer].unit if spans is None else "words")
            self._fill(doc, layer, spans, now, origin, asked)
            doc.spans[self.settings.layer] = layer

    def _spans(self, doc: Doc) -> list[tuple[int, int]] | None:
        """Spans of words that look like times; None if the document has its own."""
        if self.settings.layer in doc.spans:
            return None
        if self.chain is not None:
            return found_by(self.chain, self.finder, doc)
        # Not sentence by sentence: rules take the point of an abbreviated month for the end of one.
        return self.finder.find(doc.column("form"))

    @property
    def finder(self) -> TimeFinder:
        """What the phrases know of words."""
        if self._finder is None:
            self._finder = TimeFinder(self.language, self.trained(self.model).vocabulary, self.uses)
        return self._finder

    def _fill(
        self, doc: Doc, layer: SpanLayer, spans: list[tuple[int, int]] | None, now: datetime, origin: str, asked: Asked
    ) -> None:
        if spans is None:
            own = doc.spans[self.settings.layer]
            rows = [
                (row.pieces, timex.text, own.ids[i] if i < len(own.ids) else "", dict(timex.attributes))
                for i, (row, timex) in enumerate(zip(own, timexes(doc, self.settings.layer), strict=True))
            ]
        else:
            starts, ends = doc.word_start, doc.word_end
            rows = [(((a, b),), doc.text[int(starts[a]) : int(ends[b - 1])], "", {}) for a, b in spans]
        for covered, text, name, attributes in rows:
            answers = self.parse(text, now, max(asked.kbest, 1))
            if not answers and spans is not None:
                continue
            kind, answer = answers[0] if answers else ("DATE", None)
            told: dict[str, Any] = {key: value for key, value in attributes.items() if key not in _OWN}
            told |= {"value": answer.value if answer else "", "anchor": now.isoformat(" "), "anchor_from": origin}
            if asked.probabilities and answer is not None:
                told["probability"] = round(answer.probability, 6)
            if asked.kbest:
                told["alternatives"] = [
                    {"type": kind, "value": each.value, "probability": round(each.probability, 6),
                     "derivation": each.derivation}
                    for kind, each in answers
                ]  # fmt: skip
            layer.add(covered, kind, name, **told)

    def state(self) -> State:
        model, types = self.trained(self.model), self.trained(self.types)
        places = np.flatnonzero(model.weights)
        header = {
            "settings": self.saved_settings(),
            "grams": list(model.vocabulary),
            "shapes": list(types.shapes),
            "mu": {unit: float(model.convention.mu.get(unit, 0.0)) for unit in MU},
        }
        chain: Arrays = {}
        if self.chain is not None:
            header["chain"], own = self.chain.state()
            chain = {f"chain/{name}": array for name, array in own.items()}
        return header, chain | {
            "places": places.astype(np.int32),
            "weights": model.weights[places].astype(np.float32),
            "by_shape": types.by_shape,
            "by_word": types.by_word.astype(np.int32),
            "uses": self.uses.astype(np.int32),
        }

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> TimeParser:
        parser = cls(TimeSettings.from_saved(header["settings"]))
        HEADER.check(header)
        grams = header["grams"]
        vocabulary = {gram: place for place, gram in enumerate(grams, 1)}
        if len(vocabulary) != len(grams) or len(set(header["shapes"])) != len(header["shapes"]):
            raise ModelError("a model of times names an n-gram or a shape twice: the file is damaged")
        size = Layout(len(grams) + 1).begins[-1]
        stored = Stored.of(arrays)
        taken = stored.take(*_SPARSE, size=size, grams=len(grams) + 1, shapes=len(header["shapes"]))
        weights = np.zeros(size)
        weights[taken["places"]] = taken["weights"]
        parser.model = TimeModel(vocabulary, Convention(parser.settings.next, header["mu"]), weights)
        parser.types = TypeModel(header["shapes"], taken["by_shape"], taken["by_word"].astype(np.int64))
        parser.uses = taken["uses"].astype(np.int64)
        if "chain" in header:
            parser.chain = Chunker.from_state(header["chain"], stored.under("chain/"))
        return parser


_OWN = ("value", "probability", "alternatives", "anchor", "anchor_from")


def _told_of(examples: Sequence[Example]) -> dict[str, str]:
    """Values that are none, as corpora have some: nothing is learned from them, and a typing error should be seen."""
    wrong = []
    for example in examples:
        try:
            read_value(example.value)
        except DataError:
            wrong.append(example.value)
    return {"no TIMEX3 values": f"{len(wrong):,}, such as {wrong[0]!r}"} if wrong else {}


def _examples(docs: Iterable[Doc], layer: str) -> list[Example]:
    found = []
    for doc in docs:
        now, _ = reference_of(doc)
        for timex in timexes(doc, layer):
            if timex.value and timex.type in TYPES:
                found.append(Example(timex.type, timex.value, now, timex.text))
    return found


def _bare(doc: Doc, layer: str) -> Doc:
    """A copy of a document that keeps the words of its time expressions and forgets their values."""
    copy = Doc.from_bytes(doc.to_bytes())
    if layer in copy.spans:
        for attributes in copy.spans[layer].attributes.values():
            for key in _OWN:
                attributes.pop(key, None)
    return copy
