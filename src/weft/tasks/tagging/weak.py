"""Part-of-speech tagging from weak supervision: a tag dictionary and projected tags, without tagged text.

Täckström et al. (2013). Every word of the training text has a set of tags in a lattice: those that the dictionary
allows for its type, coupled with the tag projected onto this token, if there is one (`weft.learn.chains.lattices`).
There are two models:

    crf    maximizes  log p(coupled lattice | dictionary lattice):  a partially observed conditional random field
    hmm    maximizes  log p(words, coupled lattice):                a hidden Markov model with features

Without projected tags, the conditional model is normalized over all tags; without a dictionary, both are trained on
projected tags alone. Decoding of new text is restricted to the dictionary's lattice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from weft.arrays import Bools, Floats, Ints
from weft.declared import Array, Stored
from weft.errors import ConfigError, DataError, ModelError
from weft.evaluate.labels.dictionaries import dictionary_report
from weft.evaluate.labels.weak_report import WeakReport, weak_report
from weft.features.extract import Binding, sentence_offsets
from weft.features.lexicon import WordClasses
from weft.features.templates import Templates
from weft.headers import Flag, Named, Record, Text
from weft.infer.chains.candidates import CandidateChain
from weft.infer.chains.label_lists import LabelLists
from weft.learn import LBFGS, Objective, Partial, Result, minimize
from weft.learn.chains.labels import LabelSpace
from weft.learn.chains.lattice_model import LatticeModel, lattice_batches
from weft.learn.chains.lattices import CONFLICTS, Lattices, couple
from weft.learn.generative.feature_hmm import FeatureHMM, HMMObjective, log_sum
from weft.lexical.clusters.monolingual import load_clusters
from weft.lexical.dictionary import TagDictionary
from weft.lexical.universal_tags import OF_UPOS, UNIVERSAL_TAGS
from weft.pipeline.component import Asked, State, Stopwatch
from weft.pipeline.settings import clusters_option, dictionaries_option, option
from weft.storage import Arrays
from weft.tasks.labelling.chain_data import ChainData, ChainReader
from weft.tasks.labelling.column_labeller import ColumnLabeller, ColumnSettings
from weft.tasks.labelling.labeller import LabellerSettings
from weft.text.doc import Doc

#: The features of the paper: those of the word with its tag, and tag bigrams.
TEMPLATES = "y[-1] w[0] w[0].suffix1..3 w[0].capital w[0].hyphen w[0].digit"
CLUSTER_TEMPLATES = "c[0]"
MODELS = ("crf", "hmm")
UNIVERSAL = "universal"


@dataclass
class WeakTaggerSettings(ColumnSettings):
    """Options of a weakly supervised tagger."""

    dictionaries: str = dictionaries_option()
    type_threshold: float = option(
        0.0, "Share of a word's projected tags that a tag needs to join the dictionary; 0 adds none."
    )
    conflict: str = option("type", "What wins where the dictionary lacks a projected tag.", choices=CONFLICTS)
    learner: str = option("crf", "Model to train.", choices=MODELS)
    clusters: str = clusters_option()
    tagset: str = option(UNIVERSAL, "The twelve universal tags, or space-separated tags.", metavar="TAGS")
    column: str = option("upos", "Column of the projected tags, and of those to write.")
    sigma: float = option(0.5**0.5, "Standard deviation of the Gaussian prior.")
    noise: float = option(0.1, "Spread of the weights that an hmm starts from.")
    starts: int = option(1, "Random starts of an hmm; the most probable result is kept.")

    def check(self) -> None:
        for name, known in {"learner": MODELS, "conflict": CONFLICTS}.items():
            if getattr(self, name) not in known:
                raise ConfigError(f"{name} must be one of {', '.join(known)}, got {getattr(self, name)!r}")
        if not 0 <= self.type_threshold <= 1 or self.noise < 0 or self.starts < 1:
            raise ConfigError("type_threshold must be from 0 to 1, noise at least 0 and starts at least 1")
        super(WeakTaggerSettings, replace(self, learner="crf")).check()
        if self.optimizer != "lbfgs":
            raise ConfigError("a weakly supervised tagger is trained with lbfgs: do not set optimizer")

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags that words may have."""
        return UNIVERSAL_TAGS if self.tagset == UNIVERSAL else tuple(self.tagset.replace(",", " ").split())


class WeakTagger(ColumnLabeller):
    """Tags words; trained on a tag dictionary and projected tags.

    Training documents have the projected tags in the tagger's column; words without one are empty.

    >>> words = [["the", "dog", "runs"], ["the", "cat", "sleeps"], ["dogs", "run"]]
    >>> text = Doc.from_words(words, upos=[["DET", "NOUN", ""], ["", "NOUN", "VERB"], ["NOUN", ""]])
    >>> tagger = WeakTagger(dictionary=TagDictionary({"the": ["DET"], "walk": ["NOUN", "VERB"]}))
    >>> report = tagger.fit([text])
    >>> new = Doc.from_words([["the", "walk"]])
    >>> tagger([new])
    >>> new.column("upos")
    ['DET', 'NOUN']
    """

    task = "weak-tagger"
    explains = False  # its dictionary decides, too
    settings_class = WeakTaggerSettings
    settings: WeakTaggerSettings

    def __init__(self, settings: LabellerSettings | None = None, dictionary: TagDictionary | None = None) -> None:
        super().__init__(settings)
        self.provides = (self.settings.column,)
        self.given = dictionary
        self.dictionary = TagDictionary({}, self.settings.tags, rules=False)
        self.bias = np.zeros(len(self.settings.tags))  # of an hmm: minus the normalizer of emissions
        self.first = np.zeros(len(self.settings.tags))  # of an hmm: log p(y_1)
        self._classes: dict[str, WordClasses] = {}

    def tag(self, given: str) -> str:
        """Map a tag of the data, universal or of the tag set, to the tag set; empty if there is none."""
        tags = self.settings.tags
        if given in tags:
            return given
        mapped = OF_UPOS.get(given, "") if self.settings.tagset == UNIVERSAL else ""
        return mapped if mapped in tags else ""

    def gold(self, doc: Doc) -> list[str]:
        known: dict[str, str] = {}
        return [known.setdefault(each, self.tag(each)) for each in doc.column(self.settings.column)]

    def default_features(self, docs: Sequence[Doc]) -> tuple[str, dict[str, str]]:
        return TEMPLATES + (f" {CLUSTER_TEMPLATES}" if self.settings.clusters else ""), {"w": "form"}

    def prepare(self, docs: Sequence[Doc]) -> None:
        if self.settings.clusters:
            self._classes["c"] = WordClasses(load_clusters(self.settings.clusters))

    def bindings(self) -> Mapping[str, Binding]:
        return {**self.settings.fields, **self._classes}

    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        """Train on text with projected tags; dev data with gold tags is only used for scoring."""
        watch = Stopwatch()
        settings = self.settings
        docs = self.begin(train)
        words = [form for doc in docs for form in doc.column("form")]
        tokens = [tag for doc in docs for tag in (self.gold(doc) if doc.has(settings.column) else [""] * doc.n_words)]
        self.dictionary = self._learned_dictionary(words, tokens)
        data, rows = self._index(docs, words)
        sentences = sentence_offsets(docs)
        number = {tag: k for k, tag in enumerate(settings.tags)} | {"": -1}
        projected = np.fromiter((number[tag] for tag in tokens), dtype=np.int64, count=len(tokens))
        lattices = couple(self.dictionary.mask(words), projected, settings.conflict)
        if settings.learner == "hmm":
            result = self._learn_hmm(data, rows, sentences, lattices.allowed)
        else:
            result = self._learn_crf(data, rows, sentences, lattices, tokens=bool((projected >= 0).any()))
        self.requires = self._required()
        report: dict[str, Any] = {
            "training": {
                "sentences": len(sentences) - 1,
                "words": len(words),
                "learner": settings.learner,
                "features": len(data.node_index),
                "weights": len(result.weights),
                "iterations": result.iterations,
                "loss": result.loss,
                "stopped": result.why,
                **watch.seconds(),
            },
            "constraints": self._constraints(words, projected),
        }
        held_out = [doc for doc in dev or () if doc.n_words]
        weak = self.report(held_out or docs, gold=bool(held_out))
        if weak.accuracy is not None:
            report["scores"] = {"dev accuracy": weak.accuracy}
        return report | {"weak": weak.as_dict()}

    def _learned_dictionary(self, words: Sequence[str], tokens: Sequence[str]) -> TagDictionary:
        """The union of the given dictionary, the files and the projected types; empty and without rules if there are
        none."""
        settings = self.settings
        parts = [TagDictionary.read(path, settings.tags) for path in settings.dictionaries.split(",") if path]
        parts = [self.given, *parts] if self.given is not None else parts
        if settings.type_threshold:
            parts.append(TagDictionary.from_occurrences(words, tokens, settings.tags, settings.type_threshold))
        if not parts and not any(tokens):
            raise DataError(
                "there is nothing to train on: give a dictionary (--dict), or text with projected tags "
                f"in the column {settings.column} (--projected)"
            )
        for part in parts:
            if part.tags != settings.tags:
                raise ConfigError(f"the dictionary has the tags {' '.join(part.tags)}, but the tagger "
                                  f"{' '.join(settings.tags)}; both must be the same")  # fmt: skip
        joined = TagDictionary({}, settings.tags, rules=bool(parts))
        for part in parts:
            joined = joined | part
        return joined

    def _index(self, docs: Sequence[Doc], words: Sequence[str]) -> tuple[ChainData, Ints]:
        """Index the features of the vocabulary, and the row of every word in it; with templates that read context,
        every token has its own row."""
        templates = Templates(self.settings.templates)
        reader = ChainReader(templates, self.bindings())
        if reader.order != 1 or reader.edge_templates or not reader.transitions:
            raise ConfigError("a weakly supervised tagger is a first-order chain: its templates need y[-1] by itself")
        around = any(atom.bag or atom.lo or atom.hi for template in templates for atom in template.atoms)
        if around and self.settings.learner == "hmm":
            raise ConfigError(
                "an hmm generates words one by one: its templates may only read the word itself, such as w[0]"
            )
        number: dict[str, int] = {}
        rows = np.fromiter((number.setdefault(word, len(number)) for word in words), dtype=np.int64, count=len(words))
        source = list(docs) if around else [Doc.from_words([[form] for form in number])]
        rows = np.arange(len(words)) if around else rows
        space, nothing = LabelSpace(self.settings.tags), np.zeros(int(rows.max()) + 1, dtype=np.int32)
        data = ChainData.build(reader, source, nothing, space, seen_only=False, min_count=self.settings.min_count)
        return data, rows

    def _learn_crf(self, data: ChainData, rows: Ints, sentences: Ints, lattices: Lattices, tokens: bool) -> Result:
        allowed, space = lattices
        if not tokens:  # the numerator is the dictionary's lattice: normalize over all tags
            space = np.ones_like(space)
        # Sentences whose numerator equals the denominator have value and gradient 0.
        said = np.add.reduceat((allowed != space).any(axis=1), sentences[:-1]) > 0
        if not said.any():
            raise DataError("the constraints are vacuous: they exclude no tag of any word")
        keep = np.repeat(said, np.diff(sentences))
        bounds = np.concatenate([[0], np.cumsum(np.diff(sentences)[said])])
        model = LatticeModel(data.batch.node, data.model.node)
        batches = list(lattice_batches(rows[keep], bounds, space[keep], allowed[keep]))
        objective = Objective(model, batches, Partial(), sigma=self.settings.sigma, workers=self.settings.workers)
        result = self._minimize(objective, np.zeros(model.size))
        self.scorer = data.freeze(result.weights, self.settings.precision, self.settings.prune)
        return result

    def _learn_hmm(self, data: ChainData, rows: Ints, sentences: Ints, allowed: Bools) -> Result:
        hmm = FeatureHMM(data.batch.node, data.model.node)
        batches = list(lattice_batches(rows, sentences, allowed, allowed))
        objective = HMMObjective(hmm, batches, 1.0 / self.settings.sigma**2, self.settings.workers)
        # Type constraints leave symmetries, such as articles and pronouns: the initial weights pick the optimum.
        rng = np.random.default_rng(self.settings.seed)
        ends = (
            self._minimize(objective, self.settings.noise * rng.standard_normal(hmm.size))
            for _ in range(self.settings.starts)
        )
        result = min(ends, key=lambda end: end.loss)
        _, transitions, self.first = hmm.tables(result.weights)
        self.bias = -log_sum(hmm.scores(result.weights), axis=0)[0]
        node = result.weights[: data.model.node.size]
        self.scorer = data.freeze(
            np.concatenate([node, transitions.ravel()]), self.settings.precision, self.settings.prune
        )
        return result

    def _minimize(self, objective: Any, start: Floats) -> Result:
        settings = self.settings
        return minimize(objective, start, LBFGS(settings.memory), max_iterations=settings.iterations,
                        describe=settings.learner)  # fmt: skip

    def _constraints(self, words: Sequence[str], projected: Ints) -> dict[str, Any]:
        """The constraints on the training text."""
        mask = self.dictionary.mask(words)
        there = projected >= 0
        agree = mask[np.flatnonzero(there), projected[there]]
        constraints: dict[str, Any] = {"entries": len(self.dictionary)}
        if len(self.dictionary):
            report = dictionary_report(self.dictionary, words)
            constraints |= {"covered": report.coverage, "tags_per_covered_word": report.ambiguity}
        constraints |= {"projected": float(there.mean()), "conflicts": float(1 - agree.mean()) if there.any() else 0.0}
        if self.dictionary.dropped:
            constraints["dropped_tags"] = dict(self.dictionary.dropped)
        return constraints

    def lattice(self, docs: Sequence[Doc]) -> tuple[Bools, Ints]:
        """The tags that each word type of the documents may have, `[type, tag]`, and the type of every word."""
        forms: list[str] = []
        types: list[Ints] = []
        for doc in docs:
            form_ids, place = np.unique(doc.columns["form"], return_inverse=True)
            types.append(place + len(forms))
            forms += doc.strings.strings(form_ids)
        return self.dictionary.mask(forms), np.concatenate([np.zeros(0, dtype=np.int64), *types])

    def search(self, docs: Sequence[Doc]) -> tuple[LabelLists, CandidateChain]:
        """The dictionary's lattice of documents, and the chain over it."""
        chain = self._trained().chain(docs)
        node = chain.node + self.bias
        node[chain.offsets[:-1][np.diff(chain.offsets) > 0]] += self.first
        lists = LabelLists.from_types(*self.lattice(docs), chain.offsets)
        return lists, lists.chain(lists.at_slots(node), self._trained().transitions)

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        lists, chain = self.search(docs)
        path = chain.best()
        confidence = None
        if asked.probabilities:
            confidence = chain.marginals().node[lists.slots[:-1] + path].astype(np.float32)
        self.write_all(docs, self.settings.tags, lists.labels_of(path), confidence)
        self.note_kbest(docs, asked.kbest)

    def posteriors(self, docs: Sequence[Doc]) -> tuple[list[str], Floats]:
        lists, chain = self.search(docs)
        return list(self.settings.tags), lists.spread(chain.marginals().node)

    def kbest(self, doc: Doc, k: int) -> list[list[tuple[list[str], float]]]:
        lists, chain = self.search([doc])
        log_z = chain.log_partition()
        tags = self.settings.tags
        sequences = []
        for s, (paths, (first, end)) in enumerate(
            zip(chain.kbest_scored(k), pairwise(chain.offsets.tolist()), strict=True)
        ):
            labels = [lists.labels[lists.slots[first:end] + path].tolist() for path, _ in paths]
            sequences.append([
                ([tags[label] for label in sequence], float(np.exp(score - log_z[s])))
                for sequence, (_, score) in zip(labels, paths, strict=True)
            ])  # fmt: skip
        return sequences

    def report(self, docs: Sequence[Doc], gold: bool = True) -> WeakReport:
        """Coverage by the dictionary, the tagger's confidence and, given gold tags, its accuracy.

        >>> tagger = WeakTagger(dictionary=TagDictionary({"the": ["DET"], "dog": ["NOUN"]}))
        >>> _ = tagger.fit([Doc.from_words([["the", "dog", "runs"]], upos=[["", "", "VERB"]])])
        >>> tagger.report([Doc.from_words([["the", "dog"]], upos=[["DET", "NOUN"]])]).accuracy
        1.0
        """
        lists, chain = self.search(docs)
        path = chain.best()
        labels = lists.labels_of(path)
        choices = np.diff(lists.slots)
        p = chain.marginals().node[lists.slots[:-1] + path]
        words = [form for doc in docs for form in doc.column("form")]
        covered = self.dictionary.covers(words)
        right = has_gold = None
        if gold:
            number = {tag: k for k, tag in enumerate(self.settings.tags)} | {"": -1}
            truth = np.array([number[tag] for doc in docs for tag in self.gold(doc)])
            right, has_gold = labels == truth, truth >= 0
        return weak_report(choices, covered, right=right, has_gold=has_gold, confidence=p)

    def state(self) -> State:
        header, arrays = super().state()
        header["settings"]["clusters"] = header["settings"]["dictionaries"] = ""  # paths of the training machine
        header["classes"] = {field: classes.classes for field, classes in self._classes.items()}
        header["rules"] = self.dictionary.rules
        arrays.update({f"dictionary/{name}": array for name, array in self.dictionary.arrays().items()})
        arrays.update({"bias": self.bias, "first": self.first})
        return header, arrays

    def restore(self, header: Mapping[str, Any], arrays: Arrays) -> None:
        Record(classes=Named(Named(Text())), rules=Flag()).check(header)
        self._classes = {field: WordClasses(classes) for field, classes in header["classes"].items()}
        stored, tags = Stored.of(arrays), self.settings.tags
        self.dictionary = TagDictionary.from_arrays(stored.under("dictionary/"), tags, header["rules"])
        n = len(tags)
        self.bias, self.first = map(
            np.array, stored.take(Array("bias", "float64", (n,)), Array("first", "float64", (n,))).values()
        )
        if sorted(header["chain"].get("labels", ())) != sorted(tags):
            raise ModelError("the labels of the chain are not the tags of the dictionary: the model file is damaged")
