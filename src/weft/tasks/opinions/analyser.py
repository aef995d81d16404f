"""The component that finds opinions about aspects and comparisons of entities, and shows the words they rest on.

The method is that of Qu et al. (2014): see `weft.tasks.opinions.structure`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from weft.declared import Array, Stored
from weft.errors import ConfigError, DataError, ModelError
from weft.headers import DAMAGED, Many, Named, Record, Table, Text, Whole
from weft.learn.latent.structural import LatentSVM
from weft.lexical.polarity_lexicon import PolarityLexicon
from weft.pipeline.component import Asked, State, Stopwatch, Trainable, training_docs
from weft.pipeline.explanation import Explanation, Reason
from weft.pipeline.settings import Settings, option
from weft.storage import Arrays
from weft.tasks.opinions.features import GROUPS, FeatureMaker
from weft.tasks.opinions.model import METHODS, SEPARATE, Found, OpinionModel, Part, Training, counts_of
from weft.tasks.opinions.reading import sentences_of
from weft.tasks.opinions.sentences import ASPECT, ENTITY, LABELS, OTHER, OpinionSentence
from weft.tasks.opinions.structure import Compiler, Costs, N, Vocabulary, scores_of
from weft.text.conventions.opinions import LAYER, MENTIONS, OpinionRow, set_opinions
from weft.text.doc import Doc
from weft.text.layers import SpanLayer

#: Longer sentences are annotated in windows.
LONGEST = 150
#: A known mention has at most so many words.
_LONGEST_MENTION = 4

HEADER = Record(
    settings=Table(), words=Record(pos=Many(Text()), neg=Many(Text())),
    known=Named(Text((ENTITY, ASPECT))), sizes=Many(Whole(), least=1), layers=Many(Text()),
)  # fmt: skip


@dataclass
class OpinionSettings(Settings):
    """Options of an analyser of opinions."""

    learning: str = option(
        "latent", "Evidence found by the model, windows of words (plain), or polarity and comparison apart.",
        choices=METHODS,
    )  # fmt: skip
    positive: str = option("", "File of positive words; repeat for several.", metavar="FILE", many=True)
    negative: str = option("", "File of negative words; repeat for several.", metavar="FILE", many=True)
    valence: str = option(
        "", "File of words with numbers, positive above 0; repeat for several.", metavar="FILE", many=True,
        flag="--valence",
    )  # fmt: skip
    passes: int = option(10, "Passes over the sentences.")
    rate: float = option(0.1, "Rate of the first step.")
    penalty: float = option(1e-4, "L1 penalty of weights.")
    inner: int = option(0, "Passes between two completions of the evidence; 0: at every sentence.")
    average: bool = option(True, "Use the mean of the weights after every pass.")
    wrong: float = option(0.2, "Cost of a wrong label in training.", flag="--wrong-cost")
    reuse: float = option(0.1, "Cost of evidence that several opinions rest on.", flag="--reuse-cost")
    once: bool = option(False, "In training, every opinion has evidence of its own.")
    free: bool = option(True, "Evidence may be a constituent without mentions, or the whole sentence.")
    needed: bool = option(
        True,
        "Constituents without mentions are evidence only where an aspect has no clause of its own.",
        flag="--own-clauses",
    )
    turned: bool = option(
        True, "What is known of a word counts the other way round where it is negated.", flag="--negation"
    )
    extended: bool = option(True, "Features of negated words, of aspects with words, and of whole sentences.")
    without: str = option(
        "", f"Comma-separated groups of features to leave out: {', '.join(GROUPS)}.", metavar="GROUPS"
    )
    seed: int = option(0, "Random seed.")
    workers: int = option(1, "Number of threads; training uses one.", hidden=True)

    def check(self) -> None:
        if self.learning not in METHODS:
            raise ConfigError(f"learning must be one of {', '.join(METHODS)}, got {self.learning!r}")
        unknown = set(self.left_out) - set(GROUPS)
        if unknown:
            raise ConfigError(f"there are no features {', '.join(sorted(unknown))}; choose from {', '.join(GROUPS)}")
        if self.wrong < 0 or self.reuse < 0:
            raise ConfigError(f"costs must be at least 0, got {self.wrong} and {self.reuse}")
        self.training().svm.check()

    @property
    def left_out(self) -> list[str]:
        return [name.strip() for name in self.without.split(",") if name.strip()]

    def costs(self) -> Costs:
        return Costs(self.wrong, self.reuse, self.once)

    def training(self) -> Training:
        """How models are trained."""
        svm = LatentSVM(self.penalty, self.rate, self.passes, self.inner, average=self.average, seed=self.seed)
        return Training(self.learning, self.costs(), svm, self.free, self.needed)

    def lexicon(self) -> PolarityLexicon:
        """The polarity lexicon read from the files of the settings."""
        positive, negative, valence = (
            [name for name in each.split(",") if name] for each in (self.positive, self.negative, self.valence)
        )
        return PolarityLexicon.read(positive, negative, valence)


class OpinionAnalyser(Trainable):
    """Finds opinions about entities and their aspects, and comparisons, with the words that carry them.

    >>> from weft.text.layers import SpanLayer
    >>> def note(text, label=""):
    ...     doc = Doc.from_words([text.split()])
    ...     doc.spans["mentions"] = SpanLayer.of(doc.strings, [(1, 2, "aspect")])
    ...     set_opinions(doc, [OpinionRow(label, aspect=0)] if label else [])
    ...     return doc
    >>> words = {"superb": "positive", "awful": "negative", "red": ""}
    >>> train = [note(f"the {aspect} is {word}", words[word]) for aspect in ("lens", "zoom", "strap") for word in words]
    >>> analyser = OpinionAnalyser()
    >>> report = analyser.fit(train)
    >>> doc = Doc.from_words(["the lens is awful".split(), "the zoom is superb".split()])
    >>> analyser([doc])
    >>> doc.opinions
    [Opinion('negative: lens (the lens is awful)'), Opinion('positive: zoom (the zoom is superb)')]
    """

    task = "opinions"
    settings_class = OpinionSettings
    settings: OpinionSettings
    explains = True
    unsaved = ("workers", "positive", "negative", "valence")
    provides = (f"spans/{MENTIONS}", f"spans/{LAYER}")

    def __init__(self, settings: OpinionSettings | None = None, lexicon: PolarityLexicon | None = None) -> None:
        super().__init__(settings)
        words = lexicon if lexicon is not None else self.settings.lexicon()
        left_out = frozenset(self.settings.left_out)
        self.maker = FeatureMaker(words, None, left_out, self.settings.turned, self.settings.extended)
        self.model: OpinionModel | None = None
        self.known: dict[str, str] = {}
        self.layers: list[str] = []
        self._set_layers()

    def _set_layers(self) -> None:
        self.requires = ("tokens", *self.layers)

    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        """Train on documents with mentions and opinions; dev data choose the pass."""
        watch = Stopwatch()
        docs = training_docs(train)
        self.layers = [
            layer for layer in ("lemma", "upos", "head", "constituents") if all(doc.has(layer) for doc in docs)
        ]
        self._set_layers()
        sentences, lost = self._sentences(docs)
        labels = Counter(LABELS[label] for sentence in sentences for label in sentence.gold.values())
        if not labels:
            raise DataError(
                "there is nothing to train on: no sentence has an opinion"
                + (f"; {lost:,} opinions are not within one sentence" if lost else "")
            )
        self.known = known_mentions(sentences)
        held = [] if dev is None else self._sentences(training_docs(dev))[0]
        self.model = self.settings.training().fit(sentences, self.maker, held)
        course = self.model.parts[0].course
        report: dict[str, Any] = {
            "training": {
                "sentences": len(sentences), "opinions": dict(labels), "opinions across sentences": lost,
                "known mentions": len(self.known), "features": sum(len(part.vocabulary) for part in self.model.parts),
                "objective": round(course.objective[-1], 4), **watch.seconds(),
            }
        }  # fmt: skip
        if held:
            pairs = [(each.relations_of(each.gold), self.model.relations(each)) for each in held]
            score = counts_of(pairs).total()
            report["scores"] = {
                "dev P": score.precision, "dev R": score.recall, "dev F": score.f1,
            }  # fmt: skip
        return report

    def _sentences(self, docs: Sequence[Doc]) -> tuple[list[OpinionSentence], int]:
        found: list[OpinionSentence] = []
        lost = 0
        for doc in docs:
            own, missed = sentences_of(doc, gold=True)
            found += own
            lost += missed
        return found, lost

    def longest(self, asked: Asked) -> int:
        return LONGEST

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        self.trained(self.model)
        for doc in docs:
            if MENTIONS not in doc.spans:
                mark_mentions(doc, self.known)
            rows = [row for sentence, first in self._with_places(doc) for row in self._rows(sentence, first)]
            if doc.spans[MENTIONS].unit == "chars":
                starts, ends = doc.word_start, doc.word_end
                rows = [
                    row._replace(evidence=(int(starts[row.evidence[0]]), int(ends[row.evidence[1] - 1])))
                    if row.evidence else row
                    for row in rows
                ]  # fmt: skip
            set_opinions(doc, rows)

    def _with_places(self, doc: Doc) -> list[tuple[OpinionSentence, int]]:
        """The sentences that mention something, with the number of their first word."""
        from weft.text.layers import words_of_chars

        if not doc.n_words:
            return []
        layer = words_of_chars(doc, doc.spans[MENTIONS])
        found = []
        for sentence in sentences_of(doc)[0]:
            k = next(k for k, number in enumerate(sentence.spans) if number >= 0)
            found.append((sentence, layer[sentence.spans[k]].pieces[0][0] - sentence.mentions[k].start))
        return found

    def _rows(self, sentence: OpinionSentence, first: int) -> list[OpinionRow]:
        rows = []
        for each in self.trained(self.model).predict(sentence):
            if each.label != OTHER:
                entity, other, aspect = (sentence.spans[n] if n >= 0 else -1 for n in each.edge)
                evidence = None if each.evidence is None else (each.evidence[0] + first, each.evidence[1] + first)
                rows.append(OpinionRow(LABELS[each.label], entity, aspect, other, evidence, round(each.score, 4)))
        return sorted(rows, key=lambda row: sorted(row.mentions))

    def _explain(self, doc: Doc, word: int) -> Explanation:
        """The features of the opinion about the mention at a word, or with the word in its evidence."""
        sentence = doc.words[word].sentence
        place, form = word - sentence.first, doc.words[word].form
        if MENTIONS not in doc.spans:
            mark_mentions(doc, self.known)
        own = next((each for each, first in self._with_places(doc) if first == sentence.first), None)
        found = [] if own is None else self.trained(self.model).predict(own)
        near = [each for each in found if own is not None and _holds(own, each, place)]
        if own is None or not near:
            return Explanation.of(self.task, word, form, "no opinion", "", ())
        best = max(near, key=lambda each: (each.label != OTHER, each.edge.compares, each.score))
        return self._reasons(own, best, word, form)

    def _reasons(self, sentence: OpinionSentence, found: Found, word: int, form: str) -> Explanation:
        """The features of an edge on its evidence, by label; the runner-up is the next label on the same evidence."""
        for part in self.trained(self.model).parts:
            sheet = part.compiler.compile(sentence, part.vocabulary)
            if found.edge not in sheet.edges:
                continue
            edge = sheet.edges.index(found.edge)
            rows = range(int(sheet.graph.first[edge]), int(sheet.graph.first[edge + 1]))
            row = next(
                (r for r in rows if not sheet.spans or sheet.spans[sheet.graph.evidence[r]] == found.evidence), rows[0]
            )
            scores = scores_of(sheet, part.weights, len(part.vocabulary)).rows[row]
            rivals = [label for label in found.edge.allowed if label != found.label]
            rival = max(rivals, key=lambda label: scores[label])
            names = list(part.vocabulary.numbers)
            reasons = []
            for k in range(int(sheet.starts[row]), int(sheet.starts[row + 1])):
                number, value = int(sheet.features[k]), float(sheet.values[k])
                weights = part.weights[number * N : number * N + N] * value
                kind, _, rest = names[number].partition(" ")
                reasons.append(Reason(kind, rest, float(weights[found.label]), float(weights[rival])))
            words = " ".join(sentence.words[slice(*found.evidence)]) if found.evidence else ""
            decision = f"{LABELS[found.label]}({sentence.told(found.edge)})" + (f' by "{words}"' if words else "")
            return Explanation.of(self.task, word, form, decision, LABELS[rival], reasons)
        return Explanation.of(self.task, word, form, LABELS[found.label], "", ())

    def state(self) -> State:
        model = self.trained(self.model)
        signs = self.maker.lexicon.signs
        header = {
            "settings": self.saved_settings(),
            "words": {
                "pos": sorted(word for word, sign in signs.items() if sign > 0),
                "neg": sorted(word for word, sign in signs.items() if sign < 0),
            },
            "known": self.known, "sizes": [len(part.vocabulary) for part in model.parts], "layers": self.layers,
        }  # fmt: skip
        arrays: Arrays = {}
        for number, part in enumerate(model.parts):
            names = "\n".join(part.vocabulary.numbers).encode()
            arrays[f"names/{number}"] = np.frombuffer(names, dtype=np.uint8)
            arrays[f"weights/{number}"] = part.weights
        return header, arrays

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> OpinionAnalyser:
        settings = OpinionSettings.from_saved(header["settings"])
        HEADER.check(header)
        words = header["words"]
        analyser = cls(settings, PolarityLexicon(dict.fromkeys(words["pos"], 1) | dict.fromkeys(words["neg"], -1)))
        analyser.known, analyser.layers = dict(header["known"]), list(header["layers"])
        analyser._set_layers()
        kinds: list[tuple[bool, ...]] = [(False,), (True,)] if settings.learning == SEPARATE else [(False, True)]
        if len(header["sizes"]) != len(kinds):
            raise ModelError(f"the parts of an analyser of opinions do not fit together: {DAMAGED}")
        stored, parts = Stored.of(arrays), []
        for number, (size, own) in enumerate(zip(header["sizes"], kinds, strict=True)):
            text = bytes(stored.take(Array(f"names/{number}", "uint8", ("*",)))[f"names/{number}"])
            vocabulary = Vocabulary(_names(text), frozen=True)
            if len(vocabulary) != size:
                raise ModelError(f"an analyser of opinions has {len(vocabulary)} features, not {size}: {DAMAGED}")
            weights = stored.take(Array(f"weights/{number}", "float64", (size * N + N * N,)))[f"weights/{number}"]
            compiler = Compiler(analyser.maker, settings.learning == "plain", settings.free, settings.needed, own)
            parts.append(Part(compiler, vocabulary, np.array(weights)))
        analyser.model = OpinionModel(parts, settings.costs())
        return analyser


def _names(text: bytes) -> list[str]:
    try:
        return text.decode().split("\n") if text else []
    except UnicodeDecodeError as error:
        raise ModelError(f"the names of features are no text: {DAMAGED}") from error


def _holds(sentence: OpinionSentence, found: Found, place: int) -> bool:
    """Whether a word is part of a mention or of the evidence of an edge."""
    spans = [sentence.mentions[n][:2] for n in found.edge.mentions]
    if any(start <= place < end for start, end in spans):
        return True
    return found.label != OTHER and found.evidence is not None and found.evidence[0] <= place < found.evidence[1]


def known_mentions(sentences: Iterable[OpinionSentence]) -> dict[str, str]:
    """The texts of mentions and their kinds, for texts in which nobody marked any.

    >>> from weft.tasks.opinions.sentences import Mention
    >>> known_mentions([OpinionSentence(["The", "lens"], [Mention(1, 2, ASPECT)])])
    {'lens': 'aspect'}
    """
    counts: dict[str, Counter[str]] = {}
    for sentence in sentences:
        for mention in sentence.mentions:
            if not mention.in_context and mention.end - mention.start <= _LONGEST_MENTION:
                text = " ".join(sentence.words[mention.start : mention.end]).lower()
                counts.setdefault(text, Counter())[mention.kind] += 1
    return {text: max(own, key=lambda kind: (own[kind], kind)) for text, own in sorted(counts.items())}


def mark_mentions(doc: Doc, known: dict[str, str]) -> None:
    """Write the layer of mentions: the longest known texts, from left to right.

    >>> doc = Doc.from_words([["Picture", "quality", "and", "lens"]])
    >>> mark_mentions(doc, {"picture": "aspect", "picture quality": "aspect", "lens": "aspect"})
    >>> [span.text for span in doc.span_views("mentions")]
    ['Picture quality', 'lens']
    """
    layer = SpanLayer(doc.strings)
    words = [form.lower() for form in doc.column("form")] if doc.n_words else []
    bounds = doc.sentence_offsets.tolist() if doc.n_words else [0, 0]
    for first, end in pairwise(bounds):
        place = first
        while place < end:
            for size in range(min(_LONGEST_MENTION, end - place), 0, -1):
                kind = known.get(" ".join(words[place : place + size]))
                if kind:
                    layer.add([(place, place + size)], kind)
                    place += size - 1
                    break
            place += 1
    doc.spans[MENTIONS] = layer


__all__ = ["OpinionAnalyser", "OpinionSettings", "known_mentions", "mark_mentions"]
