"""Unsupervised segmentation of utterances into words, by an adaptor grammar.

Several chains sample parses of the utterances (`weft.learn.adaptor.grammar`, `weft.learn.adaptor.mcmc`). The answer is
the most frequent segmentation among all samples of an utterance, which minimizes the risk if a segmentation is right or
wrong as a whole. New utterances are parsed with every sample, without further learning, and decided by the same vote. A
model stores grammar, utterances and samples in one file without pickle.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.resources import files
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft import storage
from weft.declared import Array, Stored
from weft.errors import ConfigError, ModelError, WeftError, did_you_mean
from weft.formats.grammar import Grammar, format_grammar, parse_grammar, read_grammar
from weft.formats.phonemes import ARPABET_CONSONANTS, ARPABET_VOWELS, STRESS
from weft.headers import Record, Text, Whole, check_same
from weft.infer.forests.grammar import code_grammar
from weft.learn.adaptor.grammar import AdaptorGrammar, AdaptorSettings, cut_at
from weft.learn.adaptor.mcmc import ChainsResult, Schedule, run_chains
from weft.pipeline.settings import Settings, option
from weft.storage import Arrays
from weft.tasks.segmentation.stress_patterns import learnt_shares

#: Grammars that come with the package.
GRAMMARS = (
    "colloc", "colloc3-nophon", "colloc3-phon", "colloc3-nophon-stress", "colloc3-phon-stress",
    "colloc3-nophon-stress-usc", "colloc3-phon-stress-usc",
)  # fmt: skip
TASK = "induced-words"
HEADER = Record(grammar=Text(), unit=Text(), samples=Whole(1, 100_000))
ARRAYS = (
    Array("terminals", "int32", ("sounds",), below="known"),
    Array("sizes", "int32", ("utterances",), low=1),
)

Sounds = Sequence[str]
Words = list[list[str]]


def package_grammar(name: str, vowels: Collection[str], consonants: Collection[str]) -> Grammar:
    """A grammar that comes with the package, for the sounds of a language.

    >>> grammar = package_grammar("colloc3-nophon-stress-usc", ["a", "o"], ["b", "d", "g"])
    >>> grammar.start, len([rule for rule in grammar.rules() if rule.left == "Word"])
    ('Collocations3', 14)
    """
    if name not in GRAMMARS:
        others = f"a grammar is a file or one of {', '.join(GRAMMARS)}"
        raise ConfigError(f"there is no grammar {name!r}; {did_you_mean(name, GRAMMARS, others)}")
    text = (files("weft.tasks.segmentation") / "grammars" / f"{name}.grammar").read_text(encoding="utf-8")
    return parse_grammar(text, f"{name}.grammar").with_rules({"Vowel": sorted(vowels), "Consonant": sorted(consonants)})


def find_grammar(
    given: str,
    utterances: Sequence[Sounds],
    vowels: Collection[str] = ARPABET_VOWELS,
    consonants: Collection[str] = ARPABET_CONSONANTS,
) -> Grammar:
    """Load a grammar file, or a grammar of the package for these vowels and consonants; other sounds count as
    consonants.

    Consonants of the ARPABET are left out if the vowels are not those of the ARPABET.
    """
    if given not in GRAMMARS and os.path.exists(given):
        return read_grammar(given)
    sounds = {sound for utterance in utterances for sound in utterance} - {STRESS}
    known = set(vowels)
    if not sounds & known:
        raise ConfigError(
            f"none of the vowels ({' '.join(sorted(known))}) occurs in the utterances; name the vowels of "
            "their alphabet"
        )
    known_consonants = set(consonants) if tuple(vowels) == ARPABET_VOWELS or consonants != ARPABET_CONSONANTS else set()
    return package_grammar(given, known, (sounds | known_consonants) - known)


def has_stress(grammar: Grammar) -> bool:
    """Whether a grammar uses stress marks.

    >>> has_stress(package_grammar("colloc3-phon", ["a"], ["b"]))
    False
    """
    return any(STRESS in rule.right for rule in grammar.rules())


@dataclass(frozen=True)
class WordSettings:
    """Settings of learning words."""

    grammar: str = "colloc3-phon-stress"
    unit: str = "Word"
    vowels: tuple[str, ...] = ARPABET_VOWELS
    consonants: tuple[str, ...] = ARPABET_CONSONANTS  # sounds that only other text has
    chains: int = 4
    schedule: Schedule = field(default_factory=Schedule)
    sampler: AdaptorSettings = field(default_factory=AdaptorSettings)
    seed: int = 0
    workers: int = 1
    checkpoints: str | None = None


@dataclass
class UtteranceSettings(Settings):
    """Options of `weft train segmenter --method adaptor`."""

    grammar: str = option(
        "colloc3-phon-stress", "Grammar file, or colloc, colloc3-{nophon,phon}[-stress[-usc]].", metavar="NAME|FILE"
    )
    unit: str = option("Word", "Symbol of the grammar whose strings are words.", metavar="SYMBOL")
    vowels: str = option("", "Space-separated vowels; by default those of the ARPABET.", metavar="SOUNDS")
    iterations: int = option(1000, "Iterations over the utterances.")
    samples: int = option(20, "Samples per chain, taken from the last fifth of the iterations.")
    chains: int = option(4, "Chains with seeds of their own.")
    relabel_every: int = option(1, "Iterations between new analyses of remembered words; 0 makes none.")
    checkpoints: str = option("", "Folder where chains keep their state, to resume them.", metavar="FOLDER")
    seed: int = option(0, "Random seed.")
    workers: int = option(1, "Number of processes that run chains.")

    def check(self) -> None:
        for name in ("iterations", "samples", "chains", "workers"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")

    def word_settings(self) -> WordSettings:
        """These options as settings of `learn_words`."""
        return WordSettings(
            grammar=self.grammar,
            unit=self.unit,
            vowels=tuple(self.vowels.split()) if self.vowels else ARPABET_VOWELS,
            chains=self.chains,
            schedule=Schedule.of(self.iterations, self.samples),
            sampler=AdaptorSettings(relabel_every=self.relabel_every),
            seed=self.seed,
            workers=self.workers,
            checkpoints=self.checkpoints or None,
        )


class _WordChain(AdaptorGrammar):
    """A chain whose samples include the ends of words."""

    unit = "Word"

    def sample(self) -> Arrays:
        return {**super().sample(), "ends": self.ends(self.unit)}


def _start(seed: int, grammar: Grammar, utterances: Sequence[Sounds], settings: WordSettings) -> _WordChain:
    chain = _WordChain(grammar, utterances, settings.sampler, seed)
    chain.unit = settings.unit
    return chain


def learn_words(utterances: Sequence[Sounds], settings: WordSettings | None = None) -> tuple[WordModel, ChainsResult]:
    """Learn words from utterances without boundaries.

    >>> said = ["badago", "dago", "goba", "bago", "dagoba", "goba", "badago", "daba"] * 4
    >>> settings = WordSettings("colloc", vowels=("a", "o"), chains=1, schedule=Schedule.of(60, 5))
    >>> model, run = learn_words([list(utterance) for utterance in said], settings)
    >>> len(model.samples), len(run.chains[0].trace), "".join(sum(model.training_words()[0], []))
    (5, 60, 'badago')
    """
    chosen = settings or WordSettings()
    grammar = find_grammar(chosen.grammar, utterances, chosen.vowels, chosen.consonants)
    if chosen.unit not in grammar.symbols:
        raise ConfigError(f"the grammar has no symbol {chosen.unit!r}; it has {', '.join(grammar.symbols)}")
    start = partial(_start, grammar=grammar, utterances=utterances, settings=chosen)
    run = run_chains(
        start, chosen.schedule, chosen.chains, chosen.seed, chosen.workers, chosen.checkpoints, "learning words"
    )
    return WordModel(grammar, chosen.unit, utterances, run.samples), run


class WordModel:
    """Samples of an adaptor grammar that segment utterances into words."""

    def __init__(
        self,
        grammar: Grammar,
        unit: str,
        utterances: Sequence[Sounds],
        samples: Sequence[Arrays],
        trusted: bool = True,
    ) -> None:
        """Samples that are not `trusted`, for they come from a file, are checked."""
        if not samples:
            raise ConfigError("a model of words needs at least one sample")
        self.grammar, self.unit, self.samples = grammar, unit, list(samples)
        self.utterances = [list(utterance) for utterance in utterances]
        self._chain = AdaptorGrammar(grammar, self.utterances, start=self.samples[0])
        if not trusted:
            self.samples = [self._chain.checked(sample) for sample in samples]

    def training_ends(self) -> list[NDArray[np.bool_]]:
        """The ends of words in the training utterances, for every sample."""
        return [np.asarray(sample["ends"], dtype=np.bool_) for sample in self.samples]

    def training_words(self) -> list[Words]:
        """The words of the training utterances, by a vote of the samples."""
        return _voted(self.utterances, self.training_ends())

    def ends(self, utterances: Sequence[Sounds], best: bool = False, seed: int = 0) -> list[NDArray[np.bool_]]:
        """The ends of words in other utterances for every sample: in a sampled parse, or in the best parse."""
        all_ends = []
        for s, sample in enumerate(self.samples):
            self._chain.restore({"iteration": 0}, sample)
            all_ends.append(self._chain.segment(utterances, self.unit, best, seed + s))
        return all_ends

    def segment(self, utterances: Sequence[Sounds], best: bool = False, seed: int = 0) -> list[Words]:
        """The words of other utterances, by a vote of the samples."""
        return _voted(utterances, self.ends(utterances, best, seed)) if utterances else []

    def lexicon(self) -> dict[tuple[str, ...], float]:
        """The words with their mean counts in the samples, the most frequent first."""
        total: Counter[tuple[str, ...]] = Counter()
        for ends in self.training_ends():
            for words in cut_utterances(self.utterances, ends):
                total.update(map(tuple, words))
        return {word: count / len(self.samples) for word, count in total.most_common()}

    def rule_probabilities(self) -> NDArray[np.float64]:
        """Probabilities of the grammar's rules, one row per sample."""
        rows = []
        for sample in self.samples:
            self._chain.restore({"iteration": 0}, sample)
            rows.append(self._chain.rule_probabilities())
        return np.array(rows)

    def stress_patterns(self) -> dict[str, float]:
        """Mean probabilities of the stress pattern classes over samples; empty for a grammar without stress."""
        return learnt_shares(self._chain.coded.rules, self.rule_probabilities().mean(axis=0).tolist(), self.unit)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file."""
        number = {terminal: t for t, terminal in enumerate(self._chain.coded.terminals)}
        arrays: Arrays = {
            "terminals": np.array([number[s] for utterance in self.utterances for s in utterance], dtype=np.int32),
            "sizes": np.array([len(utterance) for utterance in self.utterances], dtype=np.int32),
        }
        for s, sample in enumerate(self.samples):
            arrays |= {f"{s}.{name}": array for name, array in sample.items()}
        header: dict[str, Any] = {
            "task": TASK, "grammar": format_grammar(self.grammar), "unit": self.unit, "samples": len(self.samples),
        }  # fmt: skip
        storage.save(path, header, arrays, pack=True)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> WordModel:
        """Read a model file."""
        header, arrays = storage.load(path)
        if header.get("task") != TASK:
            raise ModelError(
                f"{os.fspath(path)} is a model for {header.get('task', 'something else')!r}, not for words; train one "
                "with `weft train segmenter --method adaptor`"
            )
        try:
            HEADER.check(header)
            grammar = parse_grammar(header["grammar"], f"{os.fspath(path)}: its grammar")
            names = _terminals(grammar)
            stored = Stored.of(arrays)
            said = stored.take(*ARRAYS, known=len(names))
            bounds = np.cumsum([0, *said["sizes"].tolist()]).tolist()
            check_same("utterances", bounds[-1], len(said["terminals"]))
            sounds = [names[t] for t in said["terminals"].tolist()]
            samples = [stored.under(f"{s}.") for s in range(header["samples"])]
            model = cls(grammar, header["unit"], [sounds[a:b] for a, b in pairwise(bounds)], samples, trusted=False)
            stored.refuse_rest()
            return model
        except WeftError as error:
            raise ModelError(f"{os.fspath(path)}: {error}") from None
        except (KeyError, IndexError, TypeError, ValueError):
            raise ModelError(f"{os.fspath(path)} lacks parts of a model for words: it is damaged") from None


def cut_utterances(utterances: Sequence[Sounds], ends: NDArray[np.bool_]) -> list[Words]:
    """Cut utterances after the sounds at which words end.

    >>> cut_utterances([["a", "b"], ["c"]], np.array([True, True, True]))
    [[['a'], ['b']], [['c']]]
    """
    starts = np.cumsum([0, *map(len, utterances)])
    return cut_at([sound for utterance in utterances for sound in utterance], starts.tolist(), ends)


def vote(starts: Sequence[int], samples: Sequence[NDArray[np.bool_]]) -> NDArray[np.bool_]:
    """The most frequent segmentation of every utterance among the samples; the earliest wins ties.

    >>> vote([0, 2, 3], [np.array(row, dtype=bool) for row in ([0, 1, 1], [1, 1, 1], [1, 1, 1])]).tolist()
    [True, True, True]
    """
    winners = np.zeros(starts[-1], dtype=np.bool_)
    for first, end in pairwise(starts):
        ballots = Counter(ends[first:end].tobytes() for ends in samples)
        winners[first:end] = np.frombuffer(ballots.most_common(1)[0][0], dtype=np.bool_)
    return winners


def _voted(utterances: Sequence[Sounds], samples: Sequence[NDArray[np.bool_]]) -> list[Words]:
    starts = np.cumsum([0, *map(len, utterances)]).tolist()
    return cut_utterances(utterances, vote(starts, samples))


def _terminals(grammar: Grammar) -> tuple[str, ...]:
    return code_grammar(grammar).terminals
