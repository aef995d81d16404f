"""Joint parsing and disfluency detection: fluent sentences and their trees from speech transcripts.

    answer = the state that  argmax over computations of  mean over moves t of w . f(c, t)  ends in,  by beam search

The transition system is arc-eager with the move Edit (`weft.infer.transitions.arc_eager_edit`, Honnibal & Johnson
2014), trained as a latent structured perceptron: every computation that ends in the gold analysis is as good as any
other. Plain arc-eager is an alternative: there, words with the relation `reparandum` and their subtrees are disfluent.
Tags are those of the documents, or of a tagger that learns beside the parser (`weft.tasks.speech.tagger`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.declared import Stored
from weft.errors import ConfigError, DataError, ModelError
from weft.evaluate.labels.disfluency import analyses_of, score_analyses
from weft.features.lexicon import WordClasses
from weft.headers import Many, Named, Record, Table, Text
from weft.infer.transitions import TransitionParser
from weft.infer.transitions.beam import WIDEST_BEAM
from weft.infer.transitions.model import actions_of
from weft.infer.transitions.systems import EDITING
from weft.infer.trees.projectivity import is_projective, is_tree, lift
from weft.learn.transitions.beam import UPDATES
from weft.learn.transitions.learner import TransitionLearner, Treebank, best_epoch
from weft.lexical.clusters.monolingual import load_clusters
from weft.pipeline.component import Asked, State, Stopwatch, Trainable
from weft.pipeline.settings import Settings, clusters_option, option, template_fields_option
from weft.storage import Arrays
from weft.tasks.parsing.transitions.features import WordReader
from weft.tasks.parsing.transitions.parser import LONGEST
from weft.tasks.speech.data import FILLERS, MARKERS, Transcript, prepare, restore, restore_tags
from weft.tasks.speech.features import FIELDS, WITH_EDIT, WITH_LABELS
from weft.tasks.speech.tagger import TaggerRun, TranscriptTagger
from weft.text.conventions.repairs import LAYER, analysis_of, mark_disfluencies, struck_sentences
from weft.text.doc import Doc

#: Transition systems with their oracles and templates.
SYSTEMS = {EDITING.name: ("nondet", WITH_EDIT), "arc-eager": ("static", WITH_LABELS)}

HEADER = Record(labels=Many(Text()), clusters=Named(Text()), parser=Table()).with_optional(tagger=Table())


@dataclass
class DisfluencySettings(Settings):
    """Options of the transcript parser."""

    system: str = option(
        EDITING.name,
        "Transition system: arc-eager-edit removes disfluent words, arc-eager labels them reparandum.",
        choices=tuple(SYSTEMS),
    )
    beam: int = option(8, "Configurations kept per step, in training and parsing; 1 is greedy.")
    by_mean: bool = option(True, "Rank by the mean score per move, as analyses differ in length.")
    update: str = option("max-violation", "Where to update.", choices=tuple(UPDATES))
    epochs: int = option(10, "Passes over the transcripts.")
    fillers: str = option(" ".join(FILLERS), "Space-separated filled pauses, which the parser skips.", metavar="WORDS")
    markers: str = option(
        " ".join(MARKERS),
        "Space-separated pairs of words that the parser reads as one, such as i_mean.",
        metavar="WORDS",
    )
    clusters: str = clusters_option()
    joint_tagger: bool = option(False, "Train a tagger beside the parser, which reads its tags: transcripts need none.")
    prune: float = option(0.5, "Drop mean weights below this size from the saved model.")
    single_root: bool = option(True, "Give every sentence exactly one root.")
    templates: str = option("", "Feature templates; without any, those of the paper.")
    fields: dict[str, str] = template_fields_option(FIELDS)
    seed: int = option(0, "Random seed.")
    workers: int = option(1, "Number of threads; training uses one.", hidden=True)

    def check(self) -> None:
        for name, known in (("update", UPDATES), ("system", SYSTEMS)):
            if getattr(self, name) not in known:
                raise ConfigError(f"{name} must be one of {', '.join(known)}, got {getattr(self, name)!r}")
        for name in ("epochs", "beam"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.beam > WIDEST_BEAM:
            raise ConfigError(f"beam must be at most {WIDEST_BEAM}, got {self.beam}")
        if self.prune < 0:
            raise ConfigError(f"prune must not be negative, got {self.prune}")
        odd = [marker for marker in self.markers.split() if marker.count("_") != 1]
        if odd:
            raise ConfigError(f"markers are two words joined by _, as in i_mean; got {', '.join(odd)}")


class DisfluencyParser(Trainable):
    """Detects disfluent words (span layer `disfluencies`) and predicts heads and relations of the other words.

    >>> sentences = [["the", "the", "dog", "barks"], ["a", "cat", "a", "dog", "runs"], ["the", "cat", "sleeps"]]
    >>> doc = Doc.from_words(sentences, upos=[["DET", "DET", "NOUN", "VERB"], ["DET", "NOUN", "DET", "NOUN", "VERB"],
    ...     ["DET", "NOUN", "VERB"]], head=[[3, 3, 4, 0], [2, 4, 4, 5, 0], [2, 3, 0]],
    ...     deprel=[["reparandum", "det", "nsubj", "root"], ["det", "reparandum", "det", "nsubj", "root"],
    ...     ["det", "nsubj", "root"]])
    >>> parser = DisfluencyParser()
    >>> report = parser.fit([doc])
    >>> new = Doc.from_words([["a", "cat", "uh", "a", "dog", "barks"]], upos=[["DET", "NOUN", "INTJ", "DET", "NOUN",
    ...     "VERB"]])
    >>> parser([new])
    >>> print(new.sentences[0].tree())
    barks VERB root
    └─ dog NOUN nsubj
       └─ a DET det
          ├─ a DET reparandum
          ├─ cat NOUN reparandum
          └─ uh INTJ discourse:filler
    """

    task = "disfluency"
    settings_class = DisfluencySettings
    settings: DisfluencySettings
    unsaved = ("workers", "clusters")
    provides: tuple[str, ...] = ("head", "deprel", f"spans/{LAYER}")
    rewrites = ("head", "deprel", "upos")  # trees over the words that remain, in the place of those over all words

    def __init__(self, settings: DisfluencySettings | None = None, clusters: Mapping[str, str] | None = None) -> None:
        super().__init__(settings)
        self.requires: tuple[str, ...] = ("tokens",) if self.settings.joint_tagger else ("tokens", "upos")
        self.labels: list[str] = []
        self.parser: TransitionParser | None = None
        self.tagger: TranscriptTagger | None = None
        if self.settings.joint_tagger:
            self.provides = (*type(self).provides, "upos")
        if clusters is None:
            clusters = load_clusters(self.settings.clusters) if self.settings.clusters else {}
        self.clusters = WordClasses(clusters)
        self._reader = WordReader(self.settings.fields)

    def prepare(self, doc: Doc) -> Transcript:
        """A document as the parser reads it."""
        ready = prepare(doc, self.settings.fillers.split(), self.settings.markers.split())
        if self.clusters.classes:
            ready.doc.set_column("cluster", [self.clusters.of(form) for form in ready.doc.column("form")])
        return ready

    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        """Train on documents with trees; with dev data, keep the epoch with the best sum of F1 and UAS."""
        watch = Stopwatch()
        docs = [doc for doc in train if doc.n_words]
        if not any(doc.head is not None for doc in docs):
            raise DataError("the training data has no heads; expected them in the columns HEAD and DEPREL of CoNLL-U")
        ready = [self.prepare(doc).doc for doc in docs]
        treebank, keep, counts = self._analyses(ready)
        if not len(keep):
            raise DataError(f"none of the {counts['sentences']:,} training sentences has a tree to learn from")
        lengths = np.diff(treebank.sentences)
        positions = np.concatenate([np.arange(1, n + 1) for n in lengths]).astype(np.int32)
        kept = np.repeat(np.isin(np.arange(len(lengths)), keep), lengths)
        settings = self.settings
        oracle, templates = SYSTEMS[settings.system]
        actions = actions_of(settings.system, treebank.heads[kept], treebank.labels[kept], positions[kept])
        blank = TransitionParser(settings.system, settings.templates or templates, list(settings.fields), actions)
        learner = TransitionLearner(
            settings.epochs, oracle, seed=settings.seed, single_root=settings.single_root, beam=settings.beam,
            update=settings.update, by_mean=settings.by_mean, prune=settings.prune,
        )  # fmt: skip
        held_out = None if dev is None else [doc for doc in dev if doc.n_words]

        tags = TagsBeside(ready, self._reader, treebank) if settings.joint_tagger else None
        taggers: list[TranscriptTagger | None] = []

        def score(parser: TransitionParser) -> float:
            self.parser, self.tagger = parser, None if tags is None else tags.run.tagger()
            taggers.append(self.tagger)
            scores = self.scores(held_out or [])
            return scores["F"] + scores["UAS"]

        self.parser, history = learner.fit(blank, treebank, keep, score if held_out else None, tags)
        if tags is not None:
            self.tagger = taggers[best_epoch(history).number - 1] if taggers else tags.run.tagger()
        report: dict[str, Any] = {
            "training": {
                **counts,
                "words": int(kept.sum()),
                "struck out": sum(sum(out) for doc in ready for _, out in struck_sentences(doc)),
                "relations": len(self.labels),
                "templates": len(blank.model.program.seeds),
                "epochs": len(history),
                **watch.seconds(),
            }
        }
        if held_out:
            report["training"]["best_epoch"] = best_epoch(history).number
            report["scores"] = {f"dev {name}": value for name, value in self.scores(held_out).items()}
        return report

    def _analyses(self, docs: Sequence[Doc]) -> tuple[Treebank, NDArray[np.int64], dict[str, int]]:
        """Gold analyses, the numbers of the sentences to train on, and counts of the sentences left out."""
        words, sentences = self._reader.read(docs)
        names = [name for doc in docs for name in doc.column("deprel")]
        given = [doc.head if doc.head is not None else np.full(doc.n_words, -1, dtype=np.int32) for doc in docs]
        heads = np.concatenate(given).astype(np.int32)
        counts = {"sentences": len(sentences) - 1, "single words": 0, "broken trees": 0, "non-projective trees": 0}
        keep: list[int] = []
        for s, (first, end) in enumerate(pairwise(sentences.tolist())):
            analysis = heads[first:end]
            if end - first < 2:
                counts["single words"] += 1
            elif not is_tree(analysis):
                counts["broken trees"] += 1
            else:
                if self.settings.system == EDITING.name:
                    analysis = np.array(analysis_of(analysis.tolist(), names[first:end]), dtype=np.int32)
                heads[first:end], crossing = _projective(analysis)
                counts["non-projective trees"] += crossing
                keep.append(s)
        learned = [
            names[word]
            for s in keep
            for position, word in enumerate(range(sentences[s], sentences[s + 1]), 1)
            if heads[word] != position
        ]
        self.labels = [name for name, _ in Counter(learned).most_common() if name]
        number = {name: i for i, name in enumerate(self.labels)}
        labels = np.array([number.get(name, -1) for name in names], dtype=np.int32)
        return Treebank(words, sentences, heads, labels), np.array(keep, dtype=np.int64), counts

    def longest(self, asked: Asked) -> int:
        return LONGEST if self.settings.beam > 1 else 0

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        ready = [self.prepare(doc) for doc in docs]
        if self.tagger is not None:
            ready = [replace(each, doc=self.tagger.tagged(each.doc)) for each in ready]
            for doc, transcript in zip(docs, ready, strict=True):
                restore_tags(doc, transcript)
        heads, labels = self._parse([each.doc for each in ready])
        names = np.array([*self.labels, ""])
        at = 0
        for doc, transcript in zip(docs, ready, strict=True):
            end = at + transcript.doc.n_words
            restore(doc, transcript, heads[at:end].tolist(), names[labels[at:end]].tolist())
            mark_disfluencies(doc)
            at = end

    def analyse(self, docs: Sequence[Doc]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Heads (a disfluent word is its own head) and relation numbers of prepared documents."""
        return self._parse(docs if self.tagger is None else [self.tagger.tagged(doc) for doc in docs])

    def _parse(self, docs: Sequence[Doc]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        parser = self.trained(self.parser)
        words, sentences = self._reader.read(docs)
        settings = self.settings
        heads, labels = parser.parse(words, sentences, settings.single_root, None, settings.beam, settings.by_mean)
        if settings.system != EDITING.name:
            names = np.array([*self.labels, ""])[labels].tolist()
            for first, end in pairwise(sentences.tolist()):
                heads[first:end] = analysis_of(heads[first:end].tolist(), names[first:end])
        return heads, labels

    def scores(self, docs: Sequence[Doc]) -> dict[str, float]:
        """Precision, recall and F1 of disfluent words, UAS and LAS of the others, on documents with gold trees."""
        ready = [self.prepare(doc).doc for doc in docs]
        heads, labels = self.analyse(ready)
        names = np.array([*self.labels, ""])
        ends = np.cumsum([size for doc in ready for size in np.diff(doc.sentence_offsets).tolist()]).tolist()
        system = [(heads[first:end].tolist(), names[labels[first:end]].tolist()) for first, end in pairwise([0, *ends])]
        return score_analyses(analyses_of(ready), system).as_dict()

    def state(self) -> State:
        header, arrays = self.trained(self.parser).state()
        saved = {
            "settings": self.saved_settings(),
            "labels": self.labels,
            "clusters": self.clusters.classes,
            "parser": header,
        }
        if self.tagger is not None:
            saved["tagger"], tables = self.tagger.state()
            arrays = {**arrays, **{f"tagger/{name}": array for name, array in tables.items()}}
        return saved, arrays

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> DisfluencyParser:
        HEADER.check(header)
        component = cls(DisfluencySettings.from_saved(header["settings"]), header["clusters"])
        component.labels = header["labels"]
        settings, stored = component.settings, Stored.of(arrays)
        component.parser = TransitionParser.from_state(header["parser"], stored)
        component.parser.check_fits(settings.system, settings.fields, len(component.labels))
        if settings.joint_tagger != ("tagger" in header):
            raise ModelError("the tagger of the parser does not fit its settings: the model file is damaged")
        if settings.joint_tagger:
            component.tagger = TranscriptTagger.from_state(header["tagger"], stored.under("tagger/"))
        return component


class TagsBeside:
    """Lets a tagger learn beside a parser: the rows of a sentence get the tags that it predicts.

    Called with the numbers of sentences, as by `TransitionLearner.fit`.
    """

    def __init__(self, docs: Sequence[Doc], reader: WordReader, treebank: Treebank) -> None:
        self.run = TaggerRun(docs)
        self._words, self._sentences = treebank.words, treebank.sentences
        self._places = [k for k, bound in enumerate(reader.fields.values()) if bound.partition(".")[0] == "upos"]
        labels = self.run.labels
        rows, _ = reader.read([Doc.from_words([labels], upos=[labels])])
        self._values = rows[1:, self._places]

    def __call__(self, sentence: int) -> None:
        first, end = self._sentences[sentence : sentence + 2]
        self._words[first + 1 : end + 1, self._places] = self._values[self.run.learn(sentence)]


def _projective(analysis: NDArray[np.int32]) -> tuple[NDArray[np.int32], bool]:
    """The analysis with non-projective arcs among fluent words lifted, and whether there were any."""
    positions = np.arange(1, len(analysis) + 1, dtype=np.int32)
    fluent = analysis != positions
    number = np.concatenate([[0], np.cumsum(fluent)]).astype(np.int32)
    tree = number[analysis[fluent]]
    if is_projective(tree):
        return analysis, False
    back = np.concatenate([[0], positions[fluent]]).astype(np.int32)
    lifted = analysis.copy()
    lifted[fluent] = back[lift(tree)]
    return lifted, True
