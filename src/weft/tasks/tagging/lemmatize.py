"""Lemmatization from forms and tags.

    lemma(form, tag) =  the dictionary's, for words that the rules get wrong
                        else  apply( argmax over scripts of  sum over features f of the word of W[f, script] , form )

Rules are edit scripts (`weft.tasks.tagging.edit_scripts`). Affixes, shape and tags choose among the scripts seen with
the word's ending and part of speech; scripts share weights through their parts (casing, edit of the beginning, edit of
the ending). The dictionary holds the training words that the rules get wrong. A lemma depends only on the word and its
tags, so it is computed once per word type.

Rules are least sure of short, frequent words, whose lemmas are well known. So the probability of a lemma is that of the
rules, updated by the occurrences of the word in the training data:

    p(lemma | word) = (right + PRIOR * p(lemma | rules)) / (seen + PRIOR)
"""

from __future__ import annotations

import weakref
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.declared import Stored
from weft.errors import ConfigError, DataError, ModelError
from weft.features.cache import RowCache, distinct_rows
from weft.features.extract import read_column, write_ids
from weft.features.lexicon import LIMIT
from weft.features.templates import Templates
from weft.headers import TEMPERATURE, Many, Named, Record, Row, Table, Text, Whole
from weft.learn.chains.candidate_model import CandidateBatch, CandidateModel, LabelParts
from weft.pipeline.component import Asked, State, Stopwatch, Trainable
from weft.pipeline.settings import Settings, option
from weft.storage import Arrays
from weft.tasks.labelling.calibrate import FEWEST, JUDGE, LEARN, temperature_on
from weft.tasks.labelling.candidate_data import CandidateData, CandidateReader, CandidateScorer
from weft.tasks.labelling.candidate_lists import CandidateLists
from weft.tasks.tagging.edit_scripts import CASINGS, EditScript, apply_script, edit_script
from weft.text.doc import Doc
from weft.text.strings import StringTable

TEMPLATES = (
    "parts: true t[0] x[0] f[0] w[0].brief w[0].kind w[0].kind|t[0] w[0].length|t[0] w[0].prefix1..4|t[0] "
    "w[0].suffix1..6 w[0].suffix1..6|t[0] w[0].suffix1..4|x[0] w[0].suffix1..4|f[0]\n"
    "whole: true w[0].suffix2..4|t[0] w[0].suffix2..3|f[0] w[0].suffix2..3|x[0]"
)
#: Columns that distinguish words with the same form, and the template fields that read them.
TAGS = {"upos": "t", "xpos": "x", "feats": "f"}
Key = tuple[str, ...]
#: How many occurrences of a word the probability of the rules counts for.
PRIOR = 0.5
#: More occurrences of a word are not counted.
MOST_SEEN = 99


@dataclass
class LemmatizerSettings(Settings):
    """Options of a lemmatizer."""

    templates: str = option(
        TEMPLATES,
        "Feature templates in the blocks parts and whole; w is the form, t upos, x xpos, f feats.",
        show_default=False,
    )
    learner: str = option("perceptron", "Learning algorithm.", choices=("perceptron", "mira", "crf"))
    epochs: int = option(8, "Passes over the word types.")
    sigma: float = option(1.0, "Standard deviation of the Gaussian prior, for crf.")
    iterations: int = option(60, "Maximum number of iterations of crf.")
    min_count: int = option(2, "Leave out features of fewer word types.")
    precision: str = option("float32", "Precision of the saved weights.", choices=("float32", "int16", "int8"))
    prune: float = option(0.0, "Drop weights of at most this size from the saved model.")
    seed: int = option(0, "Random seed.")
    workers: int = option(1, "Number of threads, for crf.")

    def check(self) -> None:
        if self.learner not in ("perceptron", "mira", "crf"):
            raise ConfigError(f"learner must be one of perceptron, mira, crf, got {self.learner!r}")
        for name in ("epochs", "sigma", "iterations", "min_count", "workers"):
            if getattr(self, name) <= 0:
                raise ConfigError(f"{name} must be above 0, got {getattr(self, name)}")


#: Scripts drop at most this many characters.
_LONGEST = 10_000
HEADER = Record(
    columns=Many(Text()),
    scripts=Many(Row((Text(CASINGS), Whole(0, _LONGEST), Text(), Whole(0, _LONGEST), Text()))),
    dictionary=Named(Text()),
    lists=Table(),
).with_optional(temperature=TEMPERATURE, seen=Named(Text()))


class Lemmatizer(Trainable):
    """Predicts lemmas.

    >>> doc = Doc.from_words([["dogs", "cats", "birds", "The", "the"]], upos=[["NOUN"] * 3 + ["DET"] * 2],
    ...                    lemma=[["dog", "cat", "bird", "the", "the"]])
    >>> lemmatizer = Lemmatizer()
    >>> report = lemmatizer.fit([doc])
    >>> new = Doc.from_words([["THE", "Ducks"]], upos=[["DET", "NOUN"]])
    >>> lemmatizer([new])
    >>> new.column("lemma")
    ['the', 'duck']
    """

    task = "lemmatizer"
    settings_class = LemmatizerSettings
    settings: LemmatizerSettings
    gives_probabilities = True
    provides = ("lemma",)

    def __init__(self, settings: LemmatizerSettings | None = None) -> None:
        super().__init__(settings)
        self.columns: tuple[str, ...] = ("upos",)
        self.requires = ("tokens", *self.columns)
        self.scripts: list[EditScript] = []
        self.dictionary: dict[str, str] = {}
        self.scorer: CandidateScorer | None = None
        self.lists: CandidateLists | None = None
        self._known: dict[Key, str] = {}
        self._caches: weakref.WeakKeyDictionary[StringTable, RowCache] = weakref.WeakKeyDictionary()
        self.temperature = 1.0  # temperature that turns scores of rules into probabilities
        self.seen: dict[str, str] = {}  # how often a word's lemma was right in training, of how many: "12 12"

    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        """Train on documents with lemmas and tags; the dev data is only used for scoring."""
        watch = Stopwatch()
        docs = [doc for doc in train if doc.n_words]
        self.columns = tuple(name for name in TAGS if any(doc.has(name) for doc in docs))
        self.requires = ("tokens", *self.columns[:1])
        self._known = {}
        self._caches.clear()
        counts: dict[Key, Counter[str]] = defaultdict(Counter)
        for doc in docs:
            for key, lemma in zip(self._keys(doc), doc.column("lemma"), strict=True):
                if lemma and (lemma != "_" or key[0] == "_"):
                    counts[key][lemma] += 1
        if not counts:
            raise DataError("the training data has no lemmas; expected them in the column lemma")
        lemmas = {key: _commonest(seen) for key, seen in sorted(counts.items())}
        scripts = {key: edit_script(key[0], lemma) for key, lemma in lemmas.items()}
        self.scripts = sorted(set(scripts.values()))
        number = {script: i for i, script in enumerate(self.scripts)}
        self._fit_rules({key: number[script] for key, script in scripts.items()})
        self.dictionary = self._exceptions(counts, lemmas)
        self._known = {}
        self._caches.clear()
        self.seen = self._occurrences(counts)
        report: dict[str, Any] = {
            "training": {
                "words": sum(seen.total() for seen in counts.values()),
                "kinds": len(counts),
                "scripts": len(self.scripts),
                "dictionary": len(self.dictionary),
                "weights": 0 if self.scorer is None else self.scorer.table.n_weights,
                **watch.seconds(),
            }
        }
        if dev is not None:
            report["scores"] = {"dev accuracy": self._accuracy(dev)}
        return report

    def _fit_rules(self, numbers: Mapping[Key, int]) -> None:
        settings = self.settings
        keys = list(numbers)
        self.lists = CandidateLists.from_words(
            ((key[0], self._group(key), script) for key, script in numbers.items()),
            frequent=10**9,
            enough=15,
            longest=3,
        )
        self.scorer = None
        if self.lists.decided:
            return
        # One word per sentence: a lemma does not depend on neighbouring lemmas.
        doc = self._document(keys)
        data = CandidateData.build(
            self._reader(self.lists), [doc], self._groups(keys), np.array(list(numbers.values()), np.int32),
            settings.min_count,
        )  # fmt: skip
        self.temperature = 1.0
        if settings.learner != "crf" and len(data.batch) >= FEWEST:
            n = len(data.batch)
            unseen = data.batch.cut(n - int(JUDGE * n), n)
            weights = self._learned(data.model, data.batch.cut(0, int(LEARN * n)))
            assert unseen.gold is not None
            self.temperature = temperature_on(data.model.score(unseen, weights), unseen.gold)
        weights = self._learned(data.model, data.batch)
        self.scorer = data.freeze(weights, settings.precision, settings.prune)

    def _learned(self, model: CandidateModel, batch: CandidateBatch) -> NDArray[np.float64]:
        """Train the weights with the chosen learner."""
        from weft import learn as room

        settings = self.settings
        if settings.learner == "crf":
            batches = list(batch.batches(2048))
            objective = room.Objective(model, batches, room.Gold(), sigma=settings.sigma, workers=settings.workers)
            start = np.zeros(model.size)
            return room.minimize(objective, start, room.LBFGS(), max_iterations=settings.iterations).weights
        if settings.learner == "mira":
            return room.MIRA(epochs=settings.epochs, k=1, seed=settings.seed).fit(model, list(batch.batches(1))).weights
        # Small batches are as accurate as single words and many times faster.
        return room.Perceptron(epochs=settings.epochs, seed=settings.seed).fit(model, list(batch.batches(4))).weights

    def _reader(self, lists: CandidateLists) -> CandidateReader:
        names = [
            [s.casing, f"{s.casing} first {s.drop_first} {s.beginning}", f"last {s.drop_last} {s.ending}"]
            for s in self.scripts
        ]
        parts, orders = LabelParts.from_names(names)
        fields = {"w": "form", **{field: column for column, field in TAGS.items()}}
        return CandidateReader(Templates(self.settings.templates), fields, lists, parts, orders)

    def _exceptions(self, counts: Mapping[Key, Counter[str]], lemmas: Mapping[Key, str]) -> dict[str, str]:
        """Words that the rules get wrong, by form and part of speech, or by form and all tags where lemmas differ."""
        by_rule = dict(zip(lemmas, self._rules(list(lemmas)), strict=True))
        wrong = {(key[0].lower(), self._group(key)) for key, lemma in lemmas.items() if by_rule[key] != lemma}
        pairs: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        for key, seen in counts.items():
            pair = (key[0].lower(), self._group(key))
            if pair in wrong:
                pairs[pair].update(seen)
        commonest = {pair: _commonest(seen) for pair, seen in pairs.items()}
        exceptions = {"\t".join(pair): lemma for pair, lemma in commonest.items()}
        for key, lemma in lemmas.items():
            pair = (key[0].lower(), self._group(key))
            if pair in commonest and commonest[pair] != lemma:
                exceptions["\t".join(key)] = lemma
        return dict(sorted(exceptions.items()))

    def _occurrences(self, counts: Mapping[Key, Counter[str]]) -> dict[str, str]:
        """How often each training word has the predicted lemma, and how often it occurs, by form and part of speech."""
        right: Counter[str] = Counter()
        seen: Counter[str] = Counter()
        for (key, lemmas), predicted in zip(counts.items(), self.lemmas(list(counts)), strict=True):
            right[self._word(key)] += lemmas[predicted]
            seen[self._word(key)] += lemmas.total()
        scale = {word: min(1.0, MOST_SEEN / n) for word, n in seen.items()}
        return {word: f"{round(right[word] * scale[word])} {min(n, MOST_SEEN)}" for word, n in sorted(seen.items())}

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        self.trained(self.lists)
        for table, group in groupby(docs, key=lambda doc: doc.strings):
            run = list(group)
            columns = np.stack([read_column(run, name) for name in ("form", *self.columns)], axis=1)
            if not len(columns):
                continue
            cache = self._caches.get(table)
            if cache is None:
                cache = self._caches.setdefault(table, RowCache(columns.shape[1]))
            write_ids(run, "lemma", cache.lookup(columns, partial(self._lemma_ids, table)))
            if asked.probabilities:
                self._note_probabilities(run, *distinct_rows(columns))

    def _lemma_ids(self, table: StringTable, rows: NDArray[np.int32]) -> NDArray[np.int32]:
        return table.ids(self.lemmas(self._strings(table, rows)))

    @staticmethod
    def _strings(table: StringTable, rows: NDArray[np.int32]) -> list[Key]:
        columns = [table.strings(np.ascontiguousarray(rows[:, k])) for k in range(rows.shape[1])]
        return list(zip(*columns, strict=True))

    def _note_probabilities(self, run: Sequence[Doc], kinds: NDArray[np.int32], inverse: NDArray[np.int32]) -> None:
        p = self.certainty(self._strings(run[0].strings, kinds))[inverse]
        first = 0
        for doc in run:
            doc.confidence["lemma"] = p[first : first + doc.n_words]
            first += doc.n_words

    def lemmas(self, keys: Sequence[Key]) -> list[str]:
        """Lemmas of words given as their form and tags, in the order of `self.columns`."""
        known = self._known
        new = [key for key in dict.fromkeys(keys) if key not in known]
        if new:
            if len(known) + len(new) > LIMIT:
                known = {key: known[key] for key in keys if key in known}
            known.update(zip(new, map(self._exception, new, self._rules(new)), strict=True))
            self._known = known
        return [known[key] for key in keys]

    def certainty(self, keys: Sequence[Key]) -> NDArray[np.float32]:
        """The probability of every lemma: that of the rules that produce it, and how often it was right in training."""
        by_rule = self._certainty_of_rules(keys)
        counts = [self.seen.get(self._word(key), "0 0").split() for key in keys]
        right, seen = np.array(counts, dtype=np.float32).reshape(-1, 2).T
        probabilities: NDArray[np.float32] = (right + PRIOR * by_rule) / (seen + PRIOR)
        return probabilities

    def _certainty_of_rules(self, keys: Sequence[Key]) -> NDArray[np.float32]:
        """The probability of every lemma, summed over the rules that produce it; 1 if it comes from the dictionary."""
        probabilities = np.ones(len(keys), dtype=np.float32)
        if self.scorer is None or not keys:
            return probabilities
        chain, labels = self.scorer.chain([self._document(keys)], self._groups(keys))
        p = chain.temper(self.temperature).marginals().node
        for i, (key, lemma) in enumerate(zip(keys, self.lemmas(keys), strict=True)):
            slots = range(int(chain.slots[i]), int(chain.slots[i + 1]))
            if self._exception(key, "") == "":
                probabilities[i] = sum(p[k] for k in slots if apply_script(self.scripts[labels[k]], key[0]) == lemma)
        return probabilities

    def _exception(self, key: Key, by_rule: str) -> str:
        lemma = self.dictionary.get("\t".join(key))
        if lemma is None:
            lemma = self.dictionary.get(self._word(key))
        return by_rule if lemma is None else lemma

    def _rules(self, keys: Sequence[Key]) -> list[str]:
        """Lemmas by rule alone."""
        assert self.lists is not None
        if self.scorer is None:
            lists = [
                self.lists.find(key[0], self.lists.groups[g]) for key, g in zip(keys, self._groups(keys), strict=True)
            ]
            numbers = [members[0] for members in lists]
        else:
            chain, labels = self.scorer.chain([self._document(keys)], self._groups(keys))
            numbers = labels[chain.slots[:-1] + chain.best()].tolist()
        return [apply_script(self.scripts[i], key[0]) for i, key in zip(numbers, keys, strict=True)]

    def _document(self, keys: Sequence[Key]) -> Doc:
        doc = Doc.from_words([[key[0]] for key in keys])
        for k, name in enumerate(self.columns, start=1):
            doc.set_column(name, [key[k] for key in keys])
        return doc

    def _group(self, key: Key) -> str:
        return key[1] if len(key) > 1 else ""

    def _word(self, key: Key) -> str:
        """A word's form in small letters and its part of speech."""
        return f"{key[0].lower()}\t{self._group(key)}"

    def _groups(self, keys: Sequence[Key]) -> NDArray[np.int64]:
        """Group number of each word; an unknown part of speech is replaced by the one with the most endings."""
        assert self.lists is not None
        number = {group: i for i, group in enumerate(self.lists.groups)}
        widest = max(self.lists.groups, key=lambda group: len(self.lists.endings[group]) if self.lists else 0)
        return np.array([number.get(self._group(key), number[widest]) for key in keys], dtype=np.int64)

    def _keys(self, doc: Doc) -> list[Key]:
        return list(zip(*(doc.column(name) for name in ("form", *self.columns)), strict=True))

    def _accuracy(self, docs: Iterable[Doc]) -> float:
        pairs = [
            (gold, predicted)
            for doc in docs
            for gold, predicted in zip(doc.column("lemma"), self.lemmas(self._keys(doc)), strict=True)
        ]
        return sum(gold == predicted for gold, predicted in pairs) / max(1, len(pairs))

    def state(self) -> State:
        header = {
            "settings": self.saved_settings(),
            "columns": list(self.columns),
            "temperature": self.temperature,
            "scripts": [list(script) for script in self.scripts],
            "dictionary": self.dictionary,
            "seen": self.seen,
            "lists": self.trained(self.lists).state(),
        }
        return header, {} if self.scorer is None else self.scorer.arrays()

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> Lemmatizer:
        component = cls(LemmatizerSettings.from_saved(header["settings"]))
        HEADER.check(header)
        component.columns = tuple(header["columns"])
        component.requires = ("tokens", *component.columns[:1])
        component.scripts = [EditScript(*script) for script in header["scripts"]]
        component.dictionary = header["dictionary"]
        component.temperature = header.get("temperature", 1.0)
        component.seen = header.get("seen", {})
        if not all(_is_count(value) for value in set(component.seen.values())):
            raise ModelError("the occurrences of words in training are not counts: the model file is damaged")
        component.lists = CandidateLists.from_state(header["lists"], len(component.scripts))
        if arrays:
            component.scorer = CandidateScorer.from_arrays(component._reader(component.lists), Stored.of(arrays))
        return component


def _is_count(text: str) -> bool:
    """Whether a text holds how often a lemma was right and how often the word was seen."""
    parts = text.split(" ")
    if len(parts) != 2 or not all(part.isascii() and part.isdigit() and len(part) < 4 for part in parts):
        return False
    return int(parts[0]) <= int(parts[1])


def _commonest(seen: Counter[str]) -> str:
    return min(seen, key=lambda lemma: (-seen[lemma], lemma))
