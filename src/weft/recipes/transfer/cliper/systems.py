"""The cliper systems on one language pair: trained, scored, with fewer links, with fewer labelled sentences."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from weft.evaluate.curves import CurveRow, learning_curve
from weft.evaluate.labels.spans import SpanReport, conlleval
from weft.learn.bitext.source_noise import Confusion
from weft.recipes.transfer.cliper.data import Named, World
from weft.tasks.entities.projected import Bitext, ProjectedRecognizer, ProjectionSettings, count_confusions
from weft.tasks.entities.recognizer import EntityRecognizer, EntitySettings

CRF, PTT, HARD, SOFT, NOISE = "CRF", "project then train", "CLiPER hard", "CLiPER soft", "CLiPER soft, source noise"
#: What is projected over the links; nothing for a plain CRF.
PROJECTION = {CRF: "", PTT: "ptt", HARD: "hard", SOFT: "soft", NOISE: "soft"}


@dataclass
class Setting:
    """A language pair and a source tagger."""

    world: World
    source: EntityRecognizer
    iterations: int

    @classmethod
    def of(cls, world: World, iterations: int) -> Setting:
        """The language pair with the tagger trained on its source sentences."""
        return cls(world, train_source(world.source), iterations)

    @cached_property
    def confusion(self) -> Confusion:
        return count_confusions(self.source, [self.world.held_out.doc()])


@dataclass(frozen=True)
class Outcome:
    """A trained recognizer, its test predictions, the best dev score and the training cost."""

    recognizer: ProjectedRecognizer
    answers: list[list[str]]
    dev: float
    iterations: int
    seconds: float


def train_source(sentences: Named, iterations: int = 60) -> EntityRecognizer:
    """A CRF name recognizer for the source language."""
    found = EntityRecognizer(EntitySettings(learner="crf", scheme="IO", window=0, iterations=iterations))
    found.fit([sentences.doc()])
    return found


def train(
    setting: Setting,
    system: str,
    labelled: int = 0,
    sigma: float = 1.0,
    distance: str = "squared",
    bitext: Bitext | None = None,
) -> Outcome:
    """Train one of the systems on labelled sentences and, except for the plain CRF, the bitext."""
    world = setting.world
    options = ProjectionSettings(
        project=PROJECTION[system] or "soft", sigma=sigma, distance=distance, iterations=setting.iterations
    )
    recognizer = ProjectedRecognizer(options)
    gold = [world.labelled[:labelled].doc()] if labelled else []
    dev = [world.dev.doc()]
    confusion = setting.confusion if system == NOISE else None
    started = time.process_time()
    if system == CRF:
        report = recognizer.fit(gold, dev)
    else:
        report = recognizer.fit_bitext(bitext or world.bitext, setting.source, gold, dev, confusion)
    seconds = time.process_time() - started
    return Outcome(
        recognizer,
        answers(recognizer, world.test),
        report["scores"]["dev f1"],
        report["training"]["iterations"],
        seconds,
    )


def answers(recognizer: EntityRecognizer, sentences: Named) -> list[list[str]]:
    """Labels in the IO scheme for sentences."""
    doc = sentences.bare()
    recognizer([doc])
    labels = recognizer.gold(doc)
    bounds = np.cumsum([0, *map(len, sentences.words)]).tolist()
    return [labels[first:end] for first, end in pairwise(bounds)]


def pooled(settings: Sequence[Setting], outcomes: Sequence[Outcome]) -> SpanReport:
    """The predictions for several language pairs as those for one test file."""
    gold = [labels for setting in settings[: len(outcomes)] for labels in setting.world.test.labels]
    return conlleval(gold, [labels for outcome in outcomes for labels in outcome.answers])


def thinned(bitext: Bitext, share: float, seed: int) -> Bitext:
    """The bitext with a fraction of its links removed."""
    keep = np.random.default_rng(seed).random(len(bitext.links)) >= share
    return replace(bitext, links=bitext.links.where(keep))


def supervised_curve(
    setting: Setting, sizes: Sequence[int], sigma: float, seeds: Sequence[int] = (0,)
) -> list[CurveRow]:
    """Test F of plain CRFs on increasing parts of the labelled sentences."""
    labelled = setting.world.labelled

    def fit(part: list[int], seed: int) -> Outcome:
        smaller = replace(setting, world=replace(setting.world, labelled=labelled.take(part)))
        return train(smaller, CRF, len(part), sigma)

    def score(outcome: Outcome) -> float:
        return pooled([setting], [outcome]).score.f1

    return learning_curve(fit, score, range(len(labelled)), sizes, seeds)


def sweep(setting: Setting, system: str, removed: Sequence[float], sigma: float, seed: int = 0) -> list[float]:
    """Test F with increasing fractions of the links removed."""
    found = []
    for share in removed:
        outcome = train(setting, system, sigma=sigma, bitext=thinned(setting.world.bitext, share, seed))
        found.append(pooled([setting], [outcome]).score.f1)
    return found
