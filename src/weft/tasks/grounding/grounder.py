"""The component that knows what words mean in videos: learned from clips with sentences, it scores sentences on clips.

    score(clip, sentence) = log L(clip, sentence) / frames + sum over words of log(states * combinations of features)

It also finds the tracks of the participants of a sentence in a clip, and the sentences of its grammar that fit best.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from weft.arrays import Floats, Ints
from weft.declared import Array, Stored
from weft.errors import ConfigError, DataError, ModelError
from weft.evaluate.labels.decisions import best_threshold
from weft.headers import DAMAGED, Many, Maybe, Named, Real, Record, Text
from weft.learn.generative.word_hmms import Occurrence, Sample, Scene, WordLexicon
from weft.learn.generative.word_learning import WordSchedule, from_arrays, learn_words, to_arrays
from weft.pipeline.component import Asked, State, Stopwatch, Trainable
from weft.pipeline.settings import Settings, option
from weft.storage import Arrays
from weft.tasks.grounding.clips import Clip
from weft.tasks.grounding.features import LEARNED, Bins
from weft.tasks.grounding.sentences import KINDS, Grammar, ParsedSentence, every_sentence
from weft.text.doc import Doc

#: The metadata key of a document's words and participants.
WORDS = "grounded"
HEADER = Record(lexicon=Named(Text(KINDS)), kinds=Many(Text(), 1, distinct=True), threshold=Maybe(Real()))


@dataclass
class GroundingSettings(Settings):
    """Options of a grounder."""

    lexicon: str = option(
        "", "Words and parts of speech (N, V, VI, P, ADV, PM), a tab between them.", metavar="FILE",
        flag="--parts-of-speech",
    )  # fmt: skip
    starts: int = option(12, "Random starts; the likeliest is kept.")
    finalists: int = option(2, "Starts that go on after a few short iterations.")
    iterations: int = option(12, "Iterations of EM over all sentences.")
    detections: int = option(8, "Detections per frame.")
    per_kind: int = option(2, "Detections per kind and frame that are kept in any case.")
    checkpoint: str = option("", "File that an interrupted training goes on from.", metavar="FILE")
    seed: int = option(0, "Random seed.")
    workers: int = option(1, "Number of processes.")

    def check(self) -> None:
        for name in ("starts", "finalists", "iterations", "detections", "per_kind", "workers"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")

    def schedule(self) -> WordSchedule:
        """How words are learned."""
        return WordSchedule(self.starts, finalists=self.finalists, rounds=self.iterations, seed=self.seed)


class Tracks(NamedTuple):
    """The participants of a sentence in a clip: which detection each is in every frame, and the states of the words."""

    sentence: ParsedSentence
    names: list[str]
    picks: Ints
    boxes: Floats  #: [frame, participant, corner]
    states: Ints


class Grounder(Trainable):
    """Words learned from clips with sentences.

    >>> Grounder().grammar.parse("The person carried the chair").participants
    2
    """

    task = "grounding"
    settings_class = GroundingSettings
    settings: GroundingSettings
    unsaved = ("workers", "lexicon", "checkpoint")

    def __init__(self, settings: GroundingSettings | None = None) -> None:
        super().__init__(settings)
        self.grammar = Grammar.read(self.settings.lexicon) if self.settings.lexicon else Grammar()
        self.bins: Bins | None = None
        self.kinds: tuple[str, ...] = ()
        self.lexicon: WordLexicon | None = None
        self.threshold: float | None = None
        self._scenes: dict[int, tuple[Clip, Scene]] = {}

    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        """There is nothing to learn from text alone: use `learn`."""
        raise ConfigError("words are grounded in clips: give a folder of detections and --sentences, or call learn")

    def learn(
        self, clips: Mapping[str, Clip], pairs: Sequence[tuple[str, str]], *, client: Any = None
    ) -> dict[str, Any]:
        """Learn from clips by name, and pairs of such a name and a sentence; return a report.

        `client` is a Dask client whose workers share the clips out.
        """
        if not pairs:
            raise DataError("there are no sentences to learn from")
        watch = Stopwatch()
        for name, _ in pairs:
            if name not in clips:
                raise DataError(f"a sentence is about the clip {name!r}, but there is none of that name")
        used = {name: clips[name] for name, _ in pairs}
        parsed = [(name, self.grammar.parse(sentence)) for name, sentence in pairs]
        self.kinds = next(iter(used.values())).names
        self.bins = Bins.learn(used.values())
        classes = self.bins.classes()
        words = self.grammar.words
        samples = [self._sample(clips[name], each) for name, each in parsed]
        learned = learn_words(
            samples, [classes[self.grammar.lexicon[word]] for word in words], self.settings.schedule(),
            workers=self.settings.workers, client=client, checkpoint=self.settings.checkpoint or None,
        )  # fmt: skip
        self.lexicon = learned.lexicon
        own = [self.lexicon.score(sample) for sample in samples]
        others = [self.lexicon.score(sample) for sample in self._mismatched(used, parsed)]
        self.threshold = best_threshold([*own, *others], [1] * len(own) + [0] * len(others))
        best = learned.starts[0]
        return {
            "training": {
                "clips": len(used), "sentences": len(pairs), "words": len({u.word for _, s in parsed for u in s.words}),
                "starts": len(learned.starts), "iterations of the best": len(best.log_likelihoods), **watch.seconds(),
            },
            "scores": {
                "log-likelihood": round(best.log_likelihoods[-1], 1), "threshold": round(self.threshold, 3),
                "true sentences above it": round(float(np.mean(np.array(own) >= self.threshold)), 3),
                "sentences of other clips above it": round(float(np.mean(np.array(others) >= self.threshold)), 3),
            },
            "words": self.meanings(),
        }  # fmt: skip

    def _mismatched(self, clips: Mapping[str, Clip], parsed: Sequence[tuple[str, ParsedSentence]]) -> list[Sample]:
        """Every sentence with the clip after its own that is not paired with it."""
        names = list(clips)
        about: dict[str, set[str]] = {}
        for name, sentence in parsed:
            about.setdefault(sentence.text, set()).add(name)
        found = []
        for name, sentence in parsed:
            place = names.index(name)
            for step in range(1, len(names)):
                other = names[(place + step) % len(names)]
                if other not in about[sentence.text]:
                    found.append(self._sample(clips[other], sentence))
                    break
        return found

    def meanings(self) -> dict[str, str]:
        """What nouns mean, in a word: the kind of detection that each goes with most, and how much."""
        lexicon, found = self.trained(self.lexicon), {}
        for number, word in enumerate(self.grammar.words):
            if self.grammar.lexicon[word] == "N":
                masses = lexicon.models[number].outputs[0][0]
                kind = int(np.argmax(masses))
                found[word] = f"{self.kinds[kind]} {masses[kind]:.2f}"
        return found

    def scene(self, clip: Clip) -> Scene:
        """A clip as the learner sees it."""
        bins = self.trained(self.bins)
        kept = self._scenes.get(id(clip))
        if kept is None or kept[0] is not clip:
            if clip.names != self.kinds:
                raise DataError(f"the clip {clip.name} has the kinds {clip.names}, the model knows {self.kinds}")
            kept = self._scenes[id(clip)] = clip, bins.scene(clip)
        return kept[1]

    def _sample(self, clip: Clip, parsed: ParsedSentence) -> Sample:
        if parsed.participants > clip.scores.shape[1]:
            raise DataError(
                f"{parsed.text!r} has {parsed.participants} participants, but the clip {clip.name} has at most "
                f"{clip.scores.shape[1]} detections per frame"
            )
        words = self.grammar.words
        used = tuple(Occurrence(words.index(each.word), each.participants) for each in parsed.words)
        return Sample(self.scene(clip), used, parsed.participants)

    def score(self, clip: Clip, sentence: str) -> float:
        """How well a sentence fits a clip: above 0, better than chance explains what its words see."""
        return self.trained(self.lexicon).score(self._sample(clip, self.grammar.parse(sentence)))

    def search(self, clips: Iterable[Clip], sentence: str) -> list[tuple[float, Clip]]:
        """Clips with their scores, the best first."""
        scored = [(self.score(clip, sentence), clip) for clip in clips]
        return sorted(scored, key=lambda each: -each[0])

    def describe(self, clip: Clip, count: int = 3, participants: int = 2) -> list[tuple[float, str]]:
        """The sentences of the grammar that fit a clip best.

        Sentences of nouns and verbs come first; adverbs, prepositions and phrases are tried on the best of them.
        """

        def ranked(sentences: Iterable[str]) -> list[tuple[float, str]]:
            return sorted(((self.score(clip, sentence), sentence) for sentence in sentences), reverse=True)

        plain = ranked(every_sentence(self.grammar, ("N", "V", "VI"), participants))[: 2 * count]
        longer = list(every_sentence(self.grammar, KINDS, max(participants, 2)))
        beam = [sentence for _, sentence in plain]
        grown = [each for each in longer if any(_extends(self.grammar, each, short) for short in beam)]
        return ranked({*beam, *grown})[:count]

    def tracks(self, clip: Clip, sentence: str) -> Tracks:
        """The best tracks of the participants of a sentence, found together with the states of its words."""
        parsed = self.grammar.parse(sentence)
        best = self.trained(self.lexicon).best(self._sample(clip, parsed))
        nouns = set(self.grammar.of_kind("N"))
        names = [parsed.name(p, nouns) for p in range(parsed.participants)]
        boxes: Floats = clip.boxes[np.arange(clip.frames)[:, None], best.picks]
        return Tracks(parsed, names, best.picks, boxes, best.states)

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        """Put the words and participants of documents that are sentences of the grammar in their metadata."""
        for doc in docs:
            try:
                parsed = self.grammar.parse(doc.text)
            except DataError:
                continue
            doc.meta[WORDS] = str(parsed)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Grounder:
        """The grounder of a model file."""
        from weft.pipeline.pipeline import Pipeline

        for component in Pipeline.load(path).components:
            if isinstance(component, cls):
                return component
        raise ModelError(f"{Path(path)} has no words grounded in clips; train some with `weft train grounding`")

    def state(self) -> State:
        """Lexicon, kinds, threshold and settings; arrays of the bins and of all models."""
        bins = self.trained(self.bins)
        arrays: Arrays = {f"words.{name}": each for name, each in to_arrays(self.trained(self.lexicon)).items()}
        arrays |= {f"edges.{name}": each for name, each in bins.edges.items()}
        header = {
            "settings": self.saved_settings(), "lexicon": dict(self.grammar.lexicon), "kinds": list(self.kinds),
            "threshold": self.threshold,
        }  # fmt: skip
        return header, arrays

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> Grounder:
        """Restore a grounder."""
        grounder = cls(GroundingSettings.from_saved(header["settings"]))
        HEADER.check(header)
        stored = Stored.of(arrays)
        grounder.grammar = Grammar(header["lexicon"])
        if len(grounder.grammar.lexicon) < len(header["lexicon"]):
            raise ModelError(f"two words of the lexicon are the same: {DAMAGED}")
        grounder.kinds, grounder.threshold = tuple(header["kinds"]), header["threshold"]
        edges = {}
        for name, size in LEARNED.items():
            edges[name] = stored.take(Array(f"edges.{name}", "float64", (size - 1,)))[f"edges.{name}"]
            if (np.diff(edges[name]) < 0).any():
                raise ModelError(f"the edges of {name} must rise: {DAMAGED}")
        grounder.bins = Bins(edges, len(grounder.kinds))
        classes = grounder.bins.classes()
        own = [classes[grounder.grammar.lexicon[word]] for word in grounder.grammar.words]
        grounder.lexicon = from_arrays(stored.under("words."), own)
        return grounder


def _extends(grammar: Grammar, longer: str, short: str) -> bool:
    """Whether a sentence says what a shorter one says, and more."""
    one, other = grammar.parse(longer), grammar.parse(short)
    nouns = set(grammar.of_kind("N"))

    def said(parsed: ParsedSentence) -> set[tuple[str, ...]]:
        return {
            (each.word, *(parsed.name(p, nouns) for p in each.participants))
            for each in parsed.words
            if each.word not in nouns
        }

    return said(other) < said(one)
