"""Corpora of generated clips with sentences, and the systems that are compared on them.

Learned          the sentence tracker with EM from several starts
no exclusion     two participants may pick one detection
fixed tracks     tracks are found before, without words; only which participant is which track is open
no coindexing    every word on its own, with participants of its own
Hand             models written by hand
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from weft.arrays import Bools, Floats, Ints
from weft.infer.product_hmm import ProductHMM
from weft.learn.generative.word_hmms import Occurrence, Sample, Scene, WordClass, WordLexicon
from weft.learn.generative.word_learning import Learned, WordSchedule, learn_words
from weft.recipes.grounding.video_grounded_words.hand import hand_lexicon
from weft.recipes.grounding.video_grounded_words.world import KINDS, Noise, World, generate, true_sentences
from weft.tasks.grounding.features import Bins
from weft.tasks.grounding.sentences import Grammar, every_sentence

GRAMMAR = Grammar()
WORDS = GRAMMAR.words
NV = tuple(every_sentence(GRAMMAR, ("N", "V")))
ALL = tuple(sentence for sentence in every_sentence(GRAMMAR) if sentence not in frozenset(NV))
SYSTEMS = ("no exclusion", "fixed tracks", "no coindexing", "Learned", "Hand")
#: Tracks of a clip for the system that fixes them.
TRACKS = 4


@dataclass(frozen=True)
class Corpus:
    """Clips, the sentences they are paired with, test sentences, and which of these are true."""

    worlds: list[World]
    pairs: list[tuple[int, str]]
    tests: dict[str, list[str]]  #: NV and ALL
    truth: dict[str, Bools]  #: [clip, sentence]

    @classmethod
    def make(cls, clips: int, seed: int, noise: Noise, tests: int = 12, wrong: float = 0.0) -> Corpus:
        """Clips with two or three true sentences each; `wrong` is the share of sentences swapped between clips."""
        rng, worlds, pairs, true = np.random.default_rng(seed), list[World](), [], list[frozenset[str]]()
        number = 0
        while len(worlds) < clips:
            world = generate(10_000 * seed + number, noise)
            number += 1
            own = true_sentences(world, [*NV, *ALL])
            plain = [sentence for sentence in own if sentence in _PLAIN]
            if not plain or len(own) < 2:
                continue
            chosen = [plain[int(rng.integers(len(plain)))]]
            rest = [each for each in own if each not in _PLAIN] or [each for each in plain if each not in chosen]
            chosen += [rest[k] for k in rng.permutation(len(rest))[: int(rng.integers(1, 3))].tolist()]
            pairs += [(len(worlds), sentence) for sentence in chosen]
            worlds.append(world)
            true.append(frozenset(own))
        if wrong:
            at = rng.permutation(len(pairs))[: round(wrong * len(pairs))].tolist()
            for k, other in zip(at, [*at[1:], *at[:1]], strict=True):
                pairs[k] = pairs[k][0], pairs[other][1]
        chosen_tests = {name: _tests(group, true, tests) for name, group in (("NV", NV), ("ALL", ALL))}
        truth = {
            name: np.array([[sentence in own for sentence in group] for own in true])
            for name, group in chosen_tests.items()
        }
        return cls(worlds, pairs, chosen_tests, truth)


_PLAIN = frozenset(NV)


def _tests(group: Sequence[str], true: Sequence[frozenset[str]], count: int) -> list[str]:
    """Sentences that are true of 4 to 15 percent of the clips, drawn with seed 0."""
    shares = {sentence: sum(sentence in own for own in true) / len(true) for sentence in group}
    fit = [sentence for sentence, share in shares.items() if 0.04 <= share <= 0.15]
    chosen = np.random.default_rng(0).permutation(len(fit))[:count]
    return [fit[k] for k in sorted(chosen.tolist())]


def sample_of(scene: Scene, sentence: str) -> Sample:
    """A scene with a sentence."""
    parsed = GRAMMAR.parse(sentence)
    words = tuple(Occurrence(WORDS.index(each.word), each.participants) for each in parsed.words)
    return Sample(scene, words, parsed.participants)


def apart(sample: Sample) -> list[Sample]:
    """Every word of a sample as a sample of its own, with its own participants."""
    return [
        Sample(sample.scene, (Occurrence(word.entry, tuple(range(len(word.participants)))),), len(word.participants))
        for word in sample.words
    ]


def tracked(scene: Scene, arity: Mapping[str, int], tracks: int = TRACKS) -> Scene:
    """A scene of tracks instead of detections: the best one, the best of what it leaves, and so on."""
    unary, width = scene.unary.copy(), scene.unary.shape[1]
    frames = np.arange(len(unary))
    chosen = []
    for _ in range(min(tracks, width)):
        picks = ProductHMM(unary, scene.pair, 1).best().picks[:, 0]
        chosen.append(picks)
        unary[frames, picks] -= 1e6
    rows: Ints = np.stack(chosen, axis=1)
    n = rows.shape[1]
    codes = {}
    for name, each in scene.codes.items():
        if arity[name] == 1:
            codes[name] = each[frames[:, None], rows]
        else:
            codes[name] = each[frames[:, None], (rows[:, :, None] * width + rows[:, None, :]).reshape(len(frames), -1)]
    stay = np.where(np.eye(n, dtype=np.bool_), 0.0, -np.inf)
    return Scene(scene.unary[frames[:, None], rows], np.repeat(stay[None], len(frames) - 1, axis=0), codes)


@dataclass
class Fold:
    """Scenes of a corpus with the bins of its training clips."""

    corpus: Corpus
    train: Ints
    test: Ints
    classes: list[WordClass] = field(init=False)
    scenes: dict[bool, list[Scene]] = field(init=False)  #: of detections, and of tracks

    def __post_init__(self) -> None:
        bins = Bins.learn(self.corpus.worlds[k].clip for k in self.train.tolist())
        kinds = bins.classes()
        self.classes = [kinds[GRAMMAR.lexicon[word]] for word in WORDS]
        plain = [bins.scene(world.clip) for world in self.corpus.worlds]
        self.scenes = {False: plain, True: []}
        self._arity = {name: kind.arity for name, kind in kinds.items()}

    def scene(self, clip: int, fixed: bool = False) -> Scene:
        """A clip as a system sees it."""
        if fixed and not self.scenes[True]:
            self.scenes[True] = [tracked(scene, self._arity) for scene in self.scenes[False]]
        return self.scenes[fixed][clip]

    def learn(self, system: str, schedule: WordSchedule, workers: int = 1) -> Learned | None:
        """Train a system on the training clips; None for the one that is written by hand."""
        if system == "Hand":
            return None
        inside = set(self.train.tolist())
        samples = [
            sample_of(self.scene(clip, system == "fixed tracks"), sentence)
            for clip, sentence in self.corpus.pairs
            if clip in inside
        ]
        if system == "no coindexing":
            samples = [each for sample in samples for each in apart(sample)]
        return learn_words(samples, self.classes, schedule, exclusive=system != "no exclusion", workers=workers)

    def lexicon(self, learned: Learned | None) -> WordLexicon:
        """What a system goes by."""
        return hand_lexicon(WORDS, self.classes, KINDS) if learned is None else learned.lexicon

    def scores(self, system: str, lexicon: WordLexicon, sentences: Sequence[str]) -> Floats:
        """The scores [clip, sentence] of all clips."""
        found = np.zeros((len(self.corpus.worlds), len(sentences)))
        for clip in range(len(self.corpus.worlds)):
            scene = self.scene(clip, system == "fixed tracks")
            for k, sentence in enumerate(sentences):
                sample = sample_of(scene, sentence)
                parts = apart(sample) if system == "no coindexing" else [sample]
                found[clip, k] = sum(lexicon.score(part) for part in parts)
        return found


def nouns_right(lexicon: WordLexicon) -> int:
    """Nouns whose model puts most of its mass on the detections of their kind."""
    return sum(
        int(np.argmax(lexicon.models[WORDS.index(kind)].outputs[0][0]) == number) for number, kind in enumerate(KINDS)
    )


def folds_of(corpus: Corpus, folds: int, seed: int = 0) -> list[Fold]:
    """Folds of clips."""
    order = np.random.default_rng(seed).permutation(len(corpus.worlds))
    parts = [np.sort(order[k::folds]) for k in range(folds)]
    every = np.arange(len(corpus.worlds))
    return [Fold(corpus, np.setdiff1d(every, part), part) for part in parts]
