"""Tag induction from raw text and a tag dictionary: a minimal set of tag pairs, then an HMM (Ravi et al. 2014).

    dictionary  ->  [extended over the text]  ->  labels  ->  HMM  ->  [a tagger trained on the HMM's tags]

    labels      dmlc        greedy minimum label cover (`weft.learn.label_cover.cover`)
                ilp         the smallest one, by integer programming: for little text
                min-greedy  set cover, then what is missing on the way through sentences
                em          none: all pairs of tags

    HMM         alternating  transitions limited to the labels, emissions pruned, in turn
    (`weft.learn.generative.alternating_em`)
                tagging      EM from the smoothed counts of the tagging that the label cover found

New text is tagged by the smoothed HMM or by a discriminative tagger trained on the text with the HMM's tags, which uses
affixes and shapes and so generalizes to unseen words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Bools, Floats
from weft.declared import PROBABILITIES, Array, Stored
from weft.errors import ConfigError, DataError, WeftError
from weft.features.extract import sentence_offsets
from weft.headers import Flag, Many, Record, Table, Text
from weft.infer.chains.label_lists import LabelLists
from weft.learn.generative.alternating_em import CHANGE, Phase, alternate
from weft.learn.generative.hmm import HMM, Counts, best_tags, fit_hmm, maximize, observed_transitions, uniform_hmm
from weft.learn.label_cover.cover import LabelCover, cover_labels
from weft.learn.label_cover.references import exact_cover, min_greedy
from weft.lexical.dictionary import TagDictionary
from weft.lexical.universal_tags import UNIVERSAL_TAGS
from weft.pipeline.component import Asked, Component, State, Stopwatch, Trainable
from weft.pipeline.settings import Settings, dictionaries_option, option
from weft.ragged import States
from weft.storage import Arrays
from weft.text.doc import Doc

METHODS = ("dmlc", "em", "min-greedy", "ilp")
FITTING = ("alternating", "tagging")
TAGGERS = ("hmm", "adagrad", "crf", "memm")
UNIVERSAL = "universal"
#: For new text: least mass of every transition, divided by tag frequency, and of every emission of a known word.
SMOOTHING = 1e-3
HEADER = Record(tags=Many(Text(), least=1, distinct=True), rules=Flag()).with_optional(tagger=Table())
ARRAYS = (
    Array("places", "int64", ("emissions",), below="table", rising=True),
    Array("emissions", "float64", ("emissions",), within=PROBABILITIES),
    Array("unseen", "float64", ("tags",), within=(1e-30, 1e3)),
    Array("transitions", "float64", ("tags+2", "tags+2"), within=PROBABILITIES),
)


@dataclass
class InducedTaggerSettings(Settings):
    """Options of a tagger trained with a dictionary."""

    dictionaries: str = dictionaries_option()
    tagset: str = option(
        "", "Space-separated tags, or `universal`; by default all tags of the dictionary.", metavar="TAGS"
    )
    column: str = option("upos", "Column to write.")
    rules: bool = option(True, "Tag punctuation and numbers by rule.")
    grow: bool = option(False, "Give unknown words of the text the tags of similar words, by label propagation.")
    objective: str = option("dmlc", "How the set of tag pairs is minimized; em does not minimize it.", choices=METHODS)
    weighted: bool = option(False, "With dmlc, search again with labels weighted by their use in the first tagging.")
    fitting: str = option("alternating", "How EM uses the tag pairs.", choices=FITTING)
    tagger: str = option("hmm", "What tags new text: the hmm, or a learner trained on its tags.", choices=TAGGERS)
    iterations: int = option(100, "Maximum number of EM iterations.")
    tolerance: float = option(1e-6, "Stop EM when the log-likelihood improves by a smaller share.")
    change: float = option(CHANGE, "Stop alternating when the number of labels changes by at most this share.")
    prune_below: float = option(0.0, "Prune tags below this share of a word's occurrences; 0 prunes unused tags.")
    smoothing: float = option(0.1, "Smallest count when EM starts from a tagging.")
    shards: int = option(1, "Processes that share the text while labels are minimized.")
    scheduler: str = option("", "Dask scheduler whose workers hold the shards.", metavar="ADDRESS")
    seed: int = option(0, "Random seed.")

    def check(self) -> None:
        for name, known in {"objective": METHODS, "fitting": FITTING, "tagger": TAGGERS}.items():
            if getattr(self, name) not in known:
                raise ConfigError(f"{name} must be one of {', '.join(known)}, got {getattr(self, name)!r}")
        if self.objective == "em" and self.fitting == "tagging":
            raise ConfigError(
                "fitting=tagging starts from the tagging of a label cover, which objective=em lacks; use objective=dmlc"
            )
        if self.objective in ("min-greedy", "ilp") and self.fitting == "tagging":
            raise ConfigError(
                f"fitting=tagging needs a tagging, which objective={self.objective} does not give: use dmlc"
            )
        if self.iterations < 1 or self.shards < 1:
            raise ConfigError("iterations and shards must be at least 1")
        if self.scheduler and self.objective != "dmlc":
            raise ConfigError(f"only objective=dmlc runs on a scheduler; leave it out with objective={self.objective}")
        if not 0 <= self.change < 1 or not 0 <= self.prune_below < 1 or self.smoothing < 0 or self.tolerance < 0:
            raise ConfigError("change and prune_below must be from 0 to below 1, smoothing and tolerance at least 0")


@dataclass(frozen=True)
class Induction:
    """The tags of a text, the model that gave them, the labels it started from, the tagging of the label cover (if
    there is one), and the phases of EM."""

    tags: States
    hmm: HMM
    labels: Bools
    cover: States | None
    phases: list[Phase]
    why: str


def induce(lists: LabelLists, settings: InducedTaggerSettings | None = None) -> Induction:
    """Tag a text given only the tags that each word type may have.

    >>> lists = LabelLists.from_types([[True, False], [True, True], [False, True]], [0, 1, 0, 2, 0, 1], [0, 2, 4, 6])
    >>> found = induce(lists)
    >>> found.tags.tolist(), int(found.labels.sum())
    ([0, 1, 0, 1, 0, 1], 3)
    """
    options = settings if settings is not None else InducedTaggerSettings()
    em: dict[str, Any] = {"iterations": options.iterations, "tolerance": options.tolerance}
    cover: States | None = None
    if options.objective == "em":
        result = fit_hmm(lists, **em)
        tags = best_tags(lists, result.parameters)
        seen = observed_transitions(lists, tags)
        size = lists.n_labels
        phase = Phase("nothing", size * (size + 2), len(lists.listed), int(seen.sum()), result.log_likelihoods)
        return Induction(tags, result.parameters, seen, None, [phase], result.why)
    if options.objective == "dmlc":
        cover_result = _cover(lists, options)
        if options.weighted:
            cover_result = _cover(lists, options, label_weights(lists, cover_result.tags))
        labels, cover = cover_result.labels, cover_result.tags
    else:
        labels = exact_cover(lists).labels if options.objective == "ilp" else min_greedy(lists)
    if options.fitting == "tagging":
        assert cover is not None
        everything = uniform_hmm(lists)
        start = maximize(lists, counts_of(lists, cover), options.smoothing, everything)
        result = fit_hmm(lists, start, **em)
        tags = best_tags(lists, result.parameters)
        phase = Phase("nothing", int((start.transitions > 0).sum()), len(lists.listed),
                      int(observed_transitions(lists, tags).sum()), result.log_likelihoods)  # fmt: skip
        return Induction(tags, result.parameters, labels, cover, [phase], result.why)
    done = alternate(lists, labels, change=options.change, prune_below=options.prune_below, **em)
    return Induction(done.tags, done.hmm, labels, cover, done.phases, done.why)


def _cover(lists: LabelLists, settings: InducedTaggerSettings, weights: Floats | None = None) -> LabelCover:
    if settings.shards == 1 and not settings.scheduler:
        return cover_labels(lists, weights=weights, seed=settings.seed)
    from weft.learn.label_cover.cluster import cover_labels_in_shards
    from weft.tasks.labelling.labeller import cluster_client

    with cluster_client(settings.scheduler) as client:
        workers = 0 if client is None else len(client.scheduler_info(n_workers=-1)["workers"])
        shards = max(settings.shards, workers)
        return cover_labels_in_shards(lists, shards, client=client, weights=weights, seed=settings.seed)


def label_weights(lists: LabelLists, tags: States) -> Floats:
    """Weights 1 + log(1 + n) of labels, where n is the count of a label in a tagging.

    >>> lists = LabelLists.from_types([[True, True]], [0, 0], [0, 2])
    >>> label_weights(lists, np.array([1, 1]))[1].round(2).tolist()
    [1.0, 1.69, 1.0, 1.69]
    """
    weights: Floats = 1.0 + np.log1p(counts_of(lists, tags).transitions)
    return weights


def counts_of(lists: LabelLists, tags: States) -> Counts:
    """Counts of transitions and emissions in a tagging.

    >>> lists = LabelLists.from_types([[True, True]], [0, 0], [0, 2])
    >>> counts_of(lists, np.array([1, 1])).emissions.tolist()
    [0.0, 2.0]
    """
    n = lists.n_labels
    pairs = np.zeros((n + 2, n + 2))
    starts = lists.offsets[:-1][np.diff(lists.offsets) > 0]
    before = np.concatenate([[n], tags[:-1]]) if len(tags) else tags
    before[starts] = n
    np.add.at(pairs, (before, tags), 1.0)
    last = lists.offsets[1:][np.diff(lists.offsets) > 0] - 1
    np.add.at(pairs[:, n + 1], tags[last], 1.0)
    keys = np.repeat(np.arange(len(lists.begin) - 1), np.diff(lists.begin)) * n + lists.listed
    places = np.searchsorted(keys, lists.types * n + tags)
    return Counts(pairs, np.bincount(places, minlength=len(keys)).astype(np.float64))


def lattice(words: Sequence[str], offsets: NDArray[Any], dictionary: TagDictionary) -> tuple[list[str], LabelLists]:
    """The types of the words of a text, and the tags that they may have.

    >>> types, lists = lattice(["a", "b", "a"], np.array([0, 3]), TagDictionary({"a": ["NOUN"]}))
    >>> types, np.diff(lists.begin).tolist()
    (['a', 'b'], [1, 12])
    """
    number: dict[str, int] = {}
    types = np.fromiter((number.setdefault(word, len(number)) for word in words), dtype=np.int64, count=len(words))
    return list(number), LabelLists.from_types(dictionary.mask(number), types, offsets)


class TagInducer(Trainable):
    """Tags words; trained on raw text and a tag dictionary.

    >>> text = Doc.from_words([["the", "can", "rusts"], ["the", "rust", "spreads"], ["the", "can", "leaks"]])
    >>> known = {"the": ["DET"], "can": ["VERB", "NOUN"], "rusts": ["VERB", "NOUN"], "rust": ["NOUN"],
    ...          "spreads": ["VERB"], "leaks": ["VERB"]}
    >>> tagger = TagInducer(dictionary=TagDictionary(known))
    >>> _ = tagger.fit([text])
    >>> tagger([text])
    >>> text.column("upos")[:3]
    ['DET', 'NOUN', 'VERB']
    """

    task = "induced-tagger"
    settings_class = InducedTaggerSettings
    settings: InducedTaggerSettings
    requires = ("tokens",)

    def __init__(self, settings: InducedTaggerSettings | None = None, dictionary: TagDictionary | None = None) -> None:
        super().__init__(settings)
        self.provides = (self.settings.column,)
        self.given = dictionary
        self.dictionary = TagDictionary({}, UNIVERSAL_TAGS, rules=False)
        self.found: Induction | None = None  # of the last training
        self.types: dict[str, int] = {}
        self.places = np.zeros(0, dtype=np.int64)  # of emissions: type times number of tags, plus tag, ascending
        self.emissions = np.zeros(0)
        self.unseen = np.zeros(0)  # of words that were not in the text, a tag
        self.transitions = np.zeros((0, 0))
        self.tagger: Component | None = None

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags that words may have."""
        return self.dictionary.tags

    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        """Train on the words of documents. Tags of the dev data are only used for scoring; those of the training data
        never."""
        watch = Stopwatch()
        settings = self.settings
        docs = [doc for doc in train if doc.n_words]
        if not docs:
            raise DataError("there is nothing to train on: the documents have no words")
        words = [form for doc in docs for form in doc.column("form")]
        offsets = sentence_offsets(docs)
        given = self._read_dictionary()
        if not given.covers(words).any():
            raise DataError(
                f"the dictionary has none of the {len(set(words)):,} word types of the text: are both in the same "
                "language, with the same tokenization?"
            )
        self.dictionary = given
        if settings.grow:
            from weft.lexical.dictionary_growth import grow_dictionary

            sentences = [words[a:b] for a, b in pairwise(offsets.tolist())]
            self.dictionary = grow_dictionary(sentences, given)
        types, lists = lattice(words, offsets, self.dictionary)
        self.found = found = induce(lists, settings)
        self._set(types, lists, found)
        self.tagger = None
        if settings.tagger != "hmm":
            self.tagger = self._learn_tagger(docs, found)
        report: dict[str, Any] = {
            "training": {
                "sentences": len(offsets) - 1,
                "words": len(words),
                "tags": len(self.tags),
                "dictionary": len(given),
                "words grown": len(self.dictionary) - len(given),
                "covered": float(given.covers(words).mean()),
                "tags per word": float(np.diff(lists.begin)[lists.types].mean()),
                "method": settings.objective,
                "labels": int(found.labels.sum()),
                "labels in use": found.phases[-1].labels,
                "phases": len(found.phases),
                "iterations": sum(len(phase.log_likelihoods) for phase in found.phases),
                "log_likelihood": found.phases[-1].log_likelihoods[-1],
                "stopped": found.why,
                **watch.seconds(),
            }
        }
        held_out = [doc for doc in dev or () if doc.n_words]
        if held_out:
            report["scores"] = {"dev accuracy": self.accuracy(held_out)}
        return report

    def tag_text(self, docs: Sequence[Doc]) -> None:
        """Write the tags that the last training assigned to its own text."""
        if self.found is None or sum(doc.n_words for doc in docs) != len(self.found.tags):
            raise WeftError("these are not the documents of the last training; call the tagger itself to tag others")
        self._write(docs, self.found.tags)

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        self.trained(self.types or None)
        if self.tagger is not None:
            self.tagger(docs)
            return
        words = [form for doc in docs for form in doc.column("form")]
        if words:
            types, lists = lattice(words, sentence_offsets(docs), self.dictionary)
            self._write(docs, best_tags(lists, HMM(self.transitions, self._emissions_of(types, lists))))

    def accuracy(self, docs: Sequence[Doc]) -> float:
        """The share of words whose predicted tag equals the gold tag."""
        right = total = 0
        for doc in docs:
            if not doc.has(self.settings.column):
                raise DataError(f"the text to score on has no tags in the column {self.settings.column}")
            system = doc.subset(range(doc.n_sentences))
            self([system])
            pairs = list(zip(doc.column(self.settings.column), system.column(self.settings.column), strict=True))
            right += sum(a == b for a, b in pairs)
            total += len(pairs)
        return right / max(1, total)

    def _emissions_of(self, types: Sequence[str], lists: LabelLists) -> NDArray[np.float64]:
        """Emissions of word types: as learned, near 0 for pruned tags, and those of unseen words for types that the
        text lacks."""
        row = np.array([self.types.get(word, -1) for word in types], dtype=np.int64)
        row = np.repeat(row, np.diff(lists.begin))
        place = row * lists.n_labels + lists.listed
        at = np.minimum(np.searchsorted(self.places, place), len(self.places) - 1)
        learned = np.where(self.places[at] == place, self.emissions[at], 0.0)
        unseen = self.unseen[lists.listed]
        return np.where(row < 0, unseen, learned + SMOOTHING * unseen)

    def _read_dictionary(self) -> TagDictionary:
        settings = self.settings
        paths = [path for path in settings.dictionaries.split(",") if path]
        if self.given is None and not paths:
            raise ConfigError("tag induction needs a tag dictionary: give files of words with tags (--dict)")
        tags = tuple(settings.tagset.replace(",", " ").split())
        if settings.tagset == UNIVERSAL:
            tags = UNIVERSAL_TAGS
        elif not tags:
            tags = self.given.tags if self.given is not None else TagDictionary.tags_in(paths)
        parts = [TagDictionary.read(path, tags) for path in paths]
        joined = TagDictionary({}, tags, settings.rules)
        for part in [self.given, *parts] if self.given is not None else parts:
            joined = joined | part
        joined.rules = settings.rules
        return joined

    def _set(self, types: Sequence[str], lists: LabelLists, found: Induction) -> None:
        """Set the parameters for new text: smoothed transitions and emissions, and emissions of unseen words, which are
        higher for tags with many types per token."""
        n = lists.n_labels
        self.types = {word: k for k, word in enumerate(types)}
        used = counts_of(lists, found.tags)
        tokens = np.bincount(found.tags, minlength=n).astype(np.float64)
        open_ = np.bincount(lists.listed[used.emissions > 0], minlength=n)
        self.unseen = (open_ + 0.1) / (tokens + 1.0) / max(len(types), 1)
        there = np.flatnonzero(found.hmm.emissions > 0)
        kinds = np.repeat(np.arange(len(types)), np.diff(lists.begin))
        self.places, self.emissions = kinds[there] * n + lists.listed[there], found.hmm.emissions[there]
        after = used.transitions.sum(axis=0)
        share = np.zeros(n + 2)
        share[:n] = (tokens + 0.1) / (tokens + 0.1).sum()
        share[n + 1] = after[n + 1] / after.sum()
        self.transitions = (1 - SMOOTHING) * found.hmm.transitions + SMOOTHING * share
        self.transitions[:, n] = self.transitions[n + 1] = 0.0
        self.transitions[n, n + 1] = 0.0

    def _learn_tagger(self, docs: Sequence[Doc], found: Induction) -> Component:
        from weft.tasks.tagging.tagger import Tagger, TaggerSettings

        settings = self.settings
        taught = [Doc.from_words([doc.column("form")[a:b] for a, b in pairwise(doc.sentence_offsets.tolist())])
                  for doc in docs]  # fmt: skip
        self._write(taught, found.tags)
        options = {"column": settings.column, "learner": settings.tagger, "seed": settings.seed}
        tagger = Tagger(TaggerSettings.from_options(options))
        tagger.fit(taught)
        return tagger

    def _write(self, docs: Sequence[Doc], tags: States) -> None:
        names = [self.tags[t] for t in tags.tolist()]
        first = 0
        for doc in docs:
            doc.set_column(self.settings.column, names[first : first + doc.n_words])
            first += doc.n_words

    def state(self) -> State:
        self.trained(self.types or None)
        settings = self.saved_settings() | {"dictionaries": "", "scheduler": ""}  # paths of the training machine
        header: dict[str, Any] = {"settings": settings, "tags": list(self.tags), "rules": self.dictionary.rules}
        words = "\n".join(self.types).encode()
        arrays: Arrays = {
            "words": np.frombuffer(words, dtype=np.uint8).copy(),
            "places": self.places,
            "emissions": self.emissions,
            "unseen": self.unseen,
            "transitions": self.transitions,
            **{f"dictionary/{name}": array for name, array in self.dictionary.arrays().items()},
        }
        if self.tagger is not None:
            header["tagger"], tagger_arrays = self.tagger.state()
            arrays.update({f"tagger/{name}": array for name, array in tagger_arrays.items()})
        return header, arrays

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> TagInducer:
        component = cls(InducedTaggerSettings.from_saved(header["settings"]))
        HEADER.check(header)
        stored, tags = Stored.of(arrays), header["tags"]
        component.dictionary = TagDictionary.from_arrays(stored.under("dictionary/"), tags, header["rules"])
        words = bytes(stored.take(Array("words", "uint8", ("*",)))["words"]).decode()
        component.types = {word: k for k, word in enumerate(words.split("\n") if words else [])}
        tables = stored.take(*ARRAYS, tags=len(tags), table=len(component.types) * len(tags))
        component.places, component.emissions = np.array(tables["places"]), np.array(tables["emissions"])
        component.unseen, component.transitions = np.array(tables["unseen"]), np.array(tables["transitions"])
        if "tagger" in header:
            from weft.tasks.tagging.tagger import Tagger

            component.tagger = Tagger.from_state(header["tagger"], stored.under("tagger/"))
        return component
