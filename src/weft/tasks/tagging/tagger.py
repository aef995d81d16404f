"""The tagger: part of speech, language-specific tag and features jointly, or any other single column.

Tagging takes two steps. A chain over parts of speech uses words, affixes, shapes, clusters and a tag dictionary. Given
its prediction, a second chain chooses among the joint tags (UPOS, XPOS, FEATS) that each word may have with that part
of speech (`weft.tasks.tagging.inventory`). With the learners `adagrad` and `crf` both are conditional models, so that

    p(tags) = p(parts of speech) * p(tags | parts of speech)

gives the probability of every decision and the k best taggings exactly.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.declared import Stored
from weft.errors import ConfigError, DataError, ModelError
from weft.features.extract import Binding, write_column
from weft.features.lexicon import WordClasses
from weft.features.templates import Templates
from weft.headers import TEMPERATURE, Many, Named, Record, Text
from weft.learn.training import EarlyStopping
from weft.lexical.clusters.monolingual import load_clusters
from weft.pipeline.component import Asked, State, Stopwatch
from weft.pipeline.settings import clusters_option, native_clusters_option, option
from weft.storage import Arrays
from weft.tasks.labelling.calibrate import held_out_temperature
from weft.tasks.labelling.candidate_data import CandidateData, CandidateReader, CandidateScorer
from weft.tasks.labelling.labeller import LIKELIHOOD, LabellerSettings, SequenceLabeller, decode, learn
from weft.tasks.tagging.inventory import Tag, TagInventory
from weft.text.doc import Doc

TEMPLATES = (
    "true y[-1] w[0] w[-2..2].lower w[0].shape w[0].brief w[-1].kind|w[0].kind w[0].kind|w[1].kind "
    "w[0].prefix1..5 w[0].suffix1..8 w[0].suffix2|w[0].prefix1 w[0].suffix3|w[0].prefix2 w[0].suffix1..3|w[0].kind "
    "w[-1].suffix2..3 w[1].suffix2..3 "
    "a[-1..1] a[-2]|a[-1] a[-1]|a[0] a[0]|a[1] a[-1]|a[1] a[1]|a[2] "
    "(a[-1] a[1])|w[0].lower (a[-1] a[1])|w[0].suffix3"
)
CLUSTER_TEMPLATES = (
    "c[-1..1] c[0].prefix4 c[0].prefix6 c[0].prefix10 c[-1].prefix6|c[0].prefix6 c[0].prefix6|c[1].prefix6"
)
#: Templates of the second clustering, which is made of far more text: it also tells which pairs of words are usual.
NATIVE = CLUSTER_TEMPLATES.replace("c[", "n[") + (
    " n[-1]|n[0] n[0]|n[1] n[-2].prefix6 n[2].prefix6 n[0]|w[0].kind n[0].prefix6|w[0].suffix3 "
    "w[-1].lower|w[0].lower w[0].lower|w[1].lower"
)
JOINT_TEMPLATES = (
    "parts: w[-2..2].lower w[-1].suffix3 w[1].suffix3 w[0].suffix1..4 w[0].prefix1..2 w[0].brief "
    "u[-2]|u[-1] u[-1]|u[1] u[1]|u[2] u[-3]|u[-2]|u[-1] w[-2].lower|u[-1] "
    "w[-2].lower|w[-1].lower w[1].lower|w[2].lower (u[-1] u[1])|w[0].suffix3 "
    "(u[-1] u[1] w[-1].lower w[1].lower)|w[0].lower\n"
    "whole: true u[-1] u[1] w[0] w[0].suffix3"
)
#: The columns that are tagged jointly; the first step tags the first one.
JOINT = ("upos", "xpos", "feats")
#: A training set with fewer words counts as small: twice as many passes, and all features are kept.
SMALL = 120_000
#: The dictionary keeps the tags that account for at least this share of a word's occurrences.
SHARE = 0.02


@dataclass
class TaggerSettings(LabellerSettings):
    """Options of a tagger."""

    column: str = option(
        "", "Column to learn and to write; by default upos with xpos and feats, where the data has them."
    )
    joint_templates: str = option("", "Feature templates of xpos and feats; without any, the task's own.")
    clusters: str = clusters_option()
    native_clusters: str = native_clusters_option()
    dictionary: int = option(
        3, "Words that occur this often enter the tag dictionary; 0 switches it off.", flag="--tag-dictionary"
    )
    learner: str = "adagrad"
    epochs: int = option(4, "Passes over the data; twice as many over a small training set.")
    min_count: int = option(2, "Leave out features that occur less often; a small training set keeps all.")
    precision: str = "int16"
    prune: float = 0.05

    def check(self) -> None:
        super().check()
        if self.dictionary < 0:
            raise ConfigError(f"dictionary must be at least 0, got {self.dictionary}")


HEADER = Record(columns=Many(Text(), least=1), classes=Named(Named(Text()))).with_optional(
    joint_temperature=TEMPERATURE
)


class Tagger(SequenceLabeller):
    """Tags words.

    >>> doc = Doc.from_words([["dogs", "bark"], ["cats", "sleep"]], upos=[["NOUN", "VERB"], ["NOUN", "VERB"]],
    ...                    feats=[["Number=Plur", ""], ["Number=Plur", ""]])
    >>> tagger = Tagger()
    >>> report = tagger.fit([doc])
    >>> new = Doc.from_words([["cats", "bark"]])
    >>> tagger([new])
    >>> new.column("upos"), new.column("feats")
    (['NOUN', 'VERB'], ['Number=Plur', ''])
    """

    task = "tagger"
    settings_class = TaggerSettings
    settings: TaggerSettings

    def __init__(self, settings: LabellerSettings | None = None) -> None:
        super().__init__(settings)
        self.columns: tuple[str, ...] = (self.settings.column or JOINT[0],)
        self.provides = self.columns
        self.inventory: TagInventory | None = None
        self.refiner: CandidateScorer | None = None
        self.joint_temperature = 1.0
        self._classes: dict[str, WordClasses] = {}

    @property
    def column(self) -> str:
        """The column that the first step tags."""
        return self.columns[0]

    def gold(self, doc: Doc) -> list[str]:
        tags = doc.column(self.column)
        if not any(tags):
            known = ", ".join(column for column in doc.columns if doc.has(column))
            raise DataError(f"the training data has no {self.column} (it has: {known}); set column=NAME")
        return [tag or "_" for tag in tags]

    def write(self, doc: Doc, labels: list[str], confidence: NDArray[np.float32] | None) -> None:
        doc.set_column(self.column, ["" if label == "_" else label for label in labels])
        if confidence is not None:
            doc.confidence[self.column] = confidence

    def score(self, gold: list[list[str]], system: list[list[str]]) -> dict[str, float]:
        pairs = [(a, b) for one, other in zip(gold, system, strict=True) for a, b in zip(one, other, strict=True)]
        return {"accuracy": sum(a == b for a, b in pairs) / max(1, len(pairs))}

    def default_features(self, docs: Sequence[Doc]) -> tuple[str, dict[str, str]]:
        read = {TEMPLATES: True, CLUSTER_TEMPLATES: self.settings.clusters, NATIVE: self.settings.native_clusters}
        return " ".join(templates for templates, used in read.items() if used), {"w": "form"}

    def prepare(self, docs: Sequence[Doc]) -> None:
        classes = {"a": tag_dictionary(docs, self.gold, self.settings.dictionary)}
        if self.settings.clusters:
            classes["c"] = load_clusters(self.settings.clusters)
        if self.settings.native_clusters:
            classes["n"] = load_clusters(self.settings.native_clusters)
        self._classes = {field: WordClasses(each) for field, each in classes.items()}

    def bindings(self) -> Mapping[str, Binding]:
        return {**self.settings.fields, **self._classes, "u": self.column}

    def settings_for(self, docs: Sequence[Doc]) -> TaggerSettings:
        """Twice as many passes over a small training set, and all its features."""
        settings = self.settings
        small = sum(doc.n_words for doc in docs) < SMALL
        return replace(settings, epochs=2 * settings.epochs, min_count=1) if small else settings

    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        watch = Stopwatch()
        docs = [doc for doc in train if doc.n_words]
        held_out = None if dev is None else [doc for doc in dev if doc.n_words]
        if not self.settings.column:
            present = [name for name in JOINT if any(doc.has(name) for doc in docs)]
            self.columns = tuple(present) if present[:1] == ["upos"] or len(present) == 1 else self.columns
        self.inventory = self.refiner = None
        report = super().fit(docs, held_out)
        self.provides = self.columns
        if len(self.columns) > 1:
            joint = self._fit_joint(docs, held_out)
            report["training"] |= joint["training"] | watch.seconds()
            report.setdefault("scores", {}).update(joint.get("scores", {}))
        return report

    def _fit_joint(self, docs: Sequence[Doc], dev: Sequence[Doc] | None) -> dict[str, Any]:
        """Train the model of joint tags given parts of speech."""
        settings = self.settings_for(docs)
        tags = [tag for doc in docs for tag in self._joint_gold(doc)]
        forms = [form for doc in docs for form in doc.column("form")]
        self.inventory = inventory = TagInventory.from_words(zip(forms, tags, strict=True))
        report: dict[str, Any] = {"training": {"joint_tags": len(inventory.tags)}}
        if not inventory.lists.decided:
            if settings.learner == "memm" or (settings.learner == "crf" and settings.optimizer not in ("lbfgs", "cg")):
                raise ConfigError(
                    f"the learner {settings.learner} with optimizer={settings.optimizer} cannot learn joint tags; use "
                    "adagrad, perceptron, mira, margin, sgd or crf with lbfgs or cg, or tag one column (column=upos)"
                )
            self.settings.joint_templates = self.settings.joint_templates or JOINT_TEMPLATES
            reader = self._joint_reader(inventory)
            numbers = {tag: i for i, tag in enumerate(inventory.tags)}
            gold = np.array([numbers[tag] for tag in tags], dtype=np.int32)
            data = CandidateData.build(reader, docs, self._upos_numbers(tags), gold, settings.min_count)
            early = self._early_joint(data, inventory, dev) if dev is not None else None
            apart = f"{settings.checkpoint}.joint" if settings.checkpoint else ""
            result = learn(data, replace(settings, checkpoint=apart), early)
            if settings.learner not in LIKELIHOOD and settings.calibrate:
                self.joint_temperature = held_out_temperature(data, settings)
            self.refiner = data.freeze(result.weights, settings.precision, settings.prune)
            report["training"]["joint_features"] = len(data.index)
            report["training"]["joint_weights"] = data.model.size
            if early is not None:
                report["scores"] = {"dev joint accuracy": early.best_score}
        return report

    def _joint_reader(self, inventory: TagInventory) -> CandidateReader:
        templates = Templates(self.settings.joint_templates)
        return CandidateReader(templates, self.bindings(), inventory.lists, inventory.parts, inventory.column_orders)

    def _joint_gold(self, doc: Doc) -> list[Tag]:
        first = [tag or "_" for tag in doc.column(self.columns[0])]
        others = [doc.column(name) if name in self.columns else [""] * doc.n_words for name in JOINT[1:]]
        return [Tag(*values) for values in zip(first, *others, strict=True)]

    def _upos_numbers(self, tags: Sequence[Tag]) -> NDArray[np.int64]:
        assert self.inventory is not None
        number = {upos: i for i, upos in enumerate(self.inventory.upos)}
        return np.array([number[tag.upos] for tag in tags], dtype=np.int64)

    def _early_joint(self, data: CandidateData, inventory: TagInventory, dev: Sequence[Doc]) -> EarlyStopping:
        """Early stopping by the accuracy of joint tags on held-out data, given gold parts of speech."""
        known = set(inventory.upos)
        kept = [doc for doc in dev if all(tag.upos in known for tag in self._joint_gold(doc))]
        gold = [tag for doc in kept for tag in self._joint_gold(doc)]
        if not gold:
            raise DataError("every document of the dev set has parts of speech that the training set lacks")
        batch = data.encode(kept, self._upos_numbers(gold))

        def score(weights: NDArray[np.float64]) -> float:
            path = data.model.score(batch, weights).best()
            predicted = batch.labels[batch.slots[:-1] + path].tolist()
            return sum(inventory.tags[i] == tag for i, tag in zip(predicted, gold, strict=True)) / len(gold)

        return EarlyStopping(score, self.settings.patience, 2 if self.settings.learner == "crf" else 1)

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        scorer = self._trained()
        chain = scorer.chain(docs)
        upos = scorer.space.tags(decode(chain, self.settings.learner))
        p_upos = None
        if asked.probabilities:
            marginals = scorer.space.label_marginals(self.conditional(chain).marginals().node)
            p_upos = marginals[np.arange(len(upos)), upos]
        self._set(docs, self.column, scorer.space.labels, upos, p_upos)
        self.note_kbest(docs, asked.kbest)
        if self.inventory is None:
            return
        tags = np.zeros(len(upos), dtype=np.int64)
        p_others: dict[str, NDArray[np.float64]] = {}
        if self.refiner is None:
            of_upos = {tag.upos: i for i, tag in enumerate(self.inventory.tags)}
            tags = np.array([of_upos[label] for label in scorer.space.labels], dtype=np.int64)[upos]
        elif len(upos):
            refined, labels = self.refiner.chain(docs, upos)
            place = refined.slots[:-1] + refined.best()
            tags = labels[place].astype(np.int64)
            if p_upos is not None:
                node = refined.temper(self.joint_temperature).marginals().node
                p_others = self._marginals_of_columns(node, refined.slots, labels, tags)
        for name in self.columns[1:]:
            values = [getattr(tag, name) for tag in self.inventory.tags]
            p = None if p_upos is None else p_upos * p_others.get(name, np.ones(len(tags)))
            self._set(docs, name, values, tags, p)

    def _marginals_of_columns(
        self, node: NDArray[np.float64], slots: NDArray[np.int64], labels: NDArray[np.int32], tags: NDArray[np.int64]
    ) -> dict[str, NDArray[np.float64]]:
        """The probability of the predicted value in every column, summed over the candidates that share it."""
        assert self.inventory is not None
        marginals = {}
        chosen = np.repeat(tags, np.diff(slots))
        for name in self.columns[1:]:
            values = [getattr(tag, name) for tag in self.inventory.tags]
            number = np.unique(values, return_inverse=True)[1]
            marginals[name] = np.add.reduceat(np.where(number[labels] == number[chosen], node, 0.0), slots[:-1])
        return marginals

    def _set(
        self,
        docs: Sequence[Doc],
        name: str,
        values: Sequence[str],
        numbers: NDArray[Any],
        p: NDArray[np.float64] | None,
    ) -> None:
        """Write a column, given the numbers of its values, and their probabilities."""
        write_column(docs, name, ["" if value == "_" else value for value in values], numbers)
        if p is None:
            return
        first = 0
        for doc in docs:
            doc.confidence[name] = p[first : first + doc.n_words].astype(np.float32)
            first += doc.n_words

    def kbest(self, doc: Doc, k: int) -> list[list[tuple[list[str], float]]]:
        """The k most probable taggings of every sentence; a joint tag is written `UPOS XPOS FEATS`, `_` for an empty
        one."""
        first = super().kbest(doc, k)
        if self.inventory is None:
            return first
        return [
            self._refined_kbest(doc, a, b, paths, k)
            for (a, b), paths in zip(pairwise(doc.sentence_offsets.tolist()), first, strict=True)
        ]

    def _refined_kbest(
        self, doc: Doc, first: int, end: int, paths: list[tuple[list[str], float]], k: int
    ) -> list[tuple[list[str], float]]:
        """The k best combinations of a sequence of parts of speech and a sequence of tags given it."""
        assert self.inventory is not None
        tags = self.inventory.tags
        forms = doc.column("form")[first:end]
        combined: list[tuple[list[str], float]] = []
        for upos, p in paths:
            sentence = Doc.from_words([forms])
            self.write(sentence, upos, None)
            if self.refiner is None:
                of_upos = {tag.upos: tag for tag in tags}
                combined.append(([self._shown(of_upos[u]) for u in upos], p))
                continue
            numbers = self._upos_numbers([Tag(u, "", "") for u in upos])
            chain, labels = self.refiner.chain([sentence], numbers)
            chain = chain.temper(self.joint_temperature)
            log_z = float(chain.log_partition()[0])
            for path, score in chain.kbest_scored(k)[0]:
                chosen = labels[chain.slots[:-1] + path].tolist()
                combined.append(([self._shown(tags[i]) for i in chosen], p * float(np.exp(score - log_z))))
        return sorted(combined, key=lambda item: -item[1])[:k]

    def _shown(self, tag: Tag) -> str:
        return " ".join([tag.upos, *(getattr(tag, name) or "_" for name in self.columns[1:])])

    def state(self) -> State:
        header, arrays = super().state()
        header["settings"].update(clusters="", native_clusters="")  # paths; the model contains the clusters
        header["columns"] = list(self.columns)
        header["joint_temperature"] = self.joint_temperature
        header["classes"] = {field: classes.classes for field, classes in self._classes.items()}
        if self.inventory is not None:
            header["inventory"] = self.inventory.state()
        if self.refiner is not None:
            arrays.update({f"joint/{name}": array for name, array in self.refiner.arrays().items()})
        return header, arrays

    def restore(self, header: Mapping[str, Any], arrays: Arrays) -> None:
        HEADER.check(header)
        self.columns = self.provides = tuple(header["columns"])
        self.joint_temperature = header.get("joint_temperature", 1.0)
        self._classes = {field: WordClasses(classes) for field, classes in header["classes"].items()}
        if "inventory" in header:
            self.inventory = TagInventory.from_state(header["inventory"])
            labels = sorted(header["chain"]["labels"])
            tagged = {tag.upos for tag in self.inventory.tags}
            if self.inventory.upos != labels or tagged != set(labels) or not set(self.columns[1:]) <= set(JOINT[1:]):
                raise ModelError("the joint tags do not fit the labels of the chain: the model file is damaged")
        joint_arrays = Stored.of(arrays).under("joint/")
        if joint_arrays:
            if self.inventory is None:
                raise ModelError("the tagger has weights of joint tags but no joint tags: the model file is damaged")
            self.refiner = CandidateScorer.from_arrays(self._joint_reader(self.inventory), joint_arrays)


def tag_dictionary(docs: Sequence[Doc], gold: Any, least: int) -> dict[str, str]:
    """The tags of every lower-cased word that occurs at least `least` times, as one class: `NOUN+VERB`."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    if least:
        for doc in docs:
            for form, tag in zip(doc.column("form"), gold(doc), strict=True):
                counts[form.lower()][tag] += 1
    dictionary = {}
    for word, tags in sorted(counts.items()):
        total = tags.total()
        if total >= least:
            dictionary[word] = "+".join(sorted(tag for tag, count in tags.items() if count >= SHARE * total))
    return dictionary
