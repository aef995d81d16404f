"""Training a model of time phrases from phrases, values and reference times alone.

Derivations are hidden: see `weft.learn.latent`. After some passes, the mean distance mu of each period (see
`weft.tasks.time.ground`) is chosen anew by a line search over the best derivations of the training phrases.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

import numpy as np

from weft.arrays import Ints
from weft.learn.latent.losses import BeamHinge, ListLoss, SoftmaxMargin
from weft.learn.latent.training import Curve, LatentTraining
from weft.tasks.time.calendar import NoTime
from weft.tasks.time.grammar import DURATION, RANGE, SEQUENCE, preterminals
from weft.tasks.time.ground import MU, Convention, ground
from weft.tasks.time.model import Answers, Phrase, TimeModel
from weft.tasks.time.numbers import plain
from weft.tasks.time.timex import normal, print_range
from weft.tasks.time.tokens import pieces
from weft.tasks.time.values import Named
from weft.tasks.time.values import Sequence as Repeating

#: Values of mu that are tried.
GRID = tuple(round(-0.7 + 0.05 * step, 2) for step in range(23))
#: Weights closer to zero than this are left out.
FAINT = 0.01
#: The size of random initial weights, which break ties.
NOISE = 1e-3
LOSSES = ("softmax-margin", "beam-hinge")


class Example(NamedTuple):
    """A training phrase: its type and value, when it was said, and its text."""

    type: str
    value: str
    now: datetime
    phrase: str


@dataclass(frozen=True)
class Options:
    """How to train; see `weft.tasks.time.parser.TimeSettings`."""

    language: str = "en"
    loss: str = "softmax-margin"
    cost: float = 3.0
    passes: int = 8
    k: int = 150
    rate: float = 0.3
    next: str = "following"
    mu: bool = True
    left_out: tuple[str, ...] = ()
    seed: int = 0


class _Training:
    """The examples as a latent model."""

    def __init__(self, model: TimeModel, examples: Sequence[Example], phrases: Sequence[Phrase]) -> None:
        self.model, self.examples, self.phrases = model, examples, phrases
        self.weights = model.weights
        self.gold = [normal(example.value) for example in examples]
        self.best: dict[int, Repeating] = {}

    def candidates(self, example: int, k: int) -> Answers:
        found = self.model.answers(self.phrases[example], self.examples[example].now, k)
        gold = self.gold[example]
        found.right = np.fromiter((value == gold for value in found.values), np.bool_, len(found.values))
        self._note(example, found)
        return found

    def _note(self, example: int, found: Answers) -> None:
        """Remember a bare sequence that is the best derivation, for the line search."""
        self.best.pop(example, None)
        if len(found.scores):
            place = int(np.argmax(found.scores))
            meaning = self.model.meaning_of(found, place)
            if isinstance(meaning, Repeating) and meaning.bare and meaning.period and not found.modes[place]:
                self.best[example] = meaning

    def search_mu(self) -> None:
        """Choose the mean distance of each period that grounds most of the best derivations rightly."""
        chosen = dict(self.model.convention.mu)
        for period in MU:
            own = [(i, each) for i, each in self.best.items() if each.period == period]
            if len(own) < 10:
                continue
            scores = [sum(self._lands(i, each, period, mu) for i, each in own) for mu in GRID]
            best = max(scores)
            near = [mu for mu, score in zip(GRID, scores, strict=True) if score == best]
            chosen[period] = min(near, key=lambda mu: abs(mu - MU[period]))
        self.model.convention = Convention(self.model.convention.next, chosen)
        self.model.forget()

    def _lands(self, example: int, meaning: Repeating, period: str, mu: float) -> bool:
        try:
            found = ground(meaning, self.examples[example].now, Convention(self.model.convention.next, {period: mu}))
        except NoTime:
            return False
        return not isinstance(found, Named) and print_range(found) == self.gold[example]


def loss_of(options: Options) -> ListLoss:
    """The loss by its name."""
    return SoftmaxMargin(options.cost) if options.loss == "softmax-margin" else BeamHinge()


def train(examples: Sequence[Example], options: Options) -> tuple[TimeModel, Curve, Ints]:
    """Train a model; also returns what each pass reached, and how words are used in phrases (see `word_uses`)."""
    cut = [pieces(example.phrase, options.language) for example in examples]
    start = Convention(options.next, dict(MU)) if options.mu else Convention(options.next, {})
    model = TimeModel.begin(cut, start)
    model.leave_out(options.left_out)
    model.weights += np.random.default_rng(options.seed).normal(0.0, NOISE, len(model.weights))
    training = _Training(model, examples, [model.phrase(each) for each in cut])

    def after_pass(number: int) -> None:
        if options.mu and number in (2, 5):
            training.search_mu()

    learner = LatentTraining(loss_of(options), options.passes, options.k, options.rate, seed=options.seed)
    curve = learner.fit(training, range(len(examples)), after_pass)
    model.weights[np.abs(model.weights) < FAINT] = 0.0
    return model, curve, word_uses(training, options.k)


def word_uses(training: _Training, k: int) -> Ints:
    """Per known word: how often it is a time, is none, begins a phrase, ends one, and has a small letter."""
    model = training.model
    uses = np.zeros((model.layout.grams, 5), dtype=np.int64)
    symbols = preterminals()
    for number, phrase in enumerate(training.phrases):
        found = training.candidates(number, min(k, 50))
        if not found.right.any():
            continue
        place = int(np.argmax(np.where(found.right, found.scores, -np.inf)))
        grams = phrase.grams[:, 0]
        uses[grams[0], 2] += 1
        uses[grams[-1], 3] += 1
        for word in re.findall(r"[^\W\d_]+", training.examples[number].phrase):
            uses[model.vocabulary.get(plain(word), 0), 4] += not word[0].isupper()
        for leaf in model.leaves_under(found, place):
            symbol = int(found.leaves.top[leaf])
            if symbols[symbol].of_number is None:
                covered = grams[int(found.leaves.start[leaf]) : int(found.leaves.end[leaf])]
                if len(covered) > 1:
                    continue  # which of the words carries the meaning is unknown
                if symbols[symbol].type in (RANGE, SEQUENCE, DURATION):
                    uses[covered, 0] += 1
                else:
                    uses[covered, 1] += 1
    return uses
