"""Training a translator from a bitext: alignment, phrases, language model, and weights tuned on other sentence pairs.

For held-out line search the bitext is divided into folds: the sentences of a fold are translated with phrases, lexical
weights and a language model of all other folds, never with what they themselves taught. Words are aligned once, on the
whole bitext.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from weft.arrays import Bools, Ints
from weft.errors import ConfigError, DataError
from weft.learn.ngrams.model import NgramModel
from weft.pipeline.component import Stopwatch
from weft.tasks.bitext.align import Aligner
from weft.tasks.language_models import lm
from weft.tasks.translation.kbest import Pair, pairs_of
from weft.tasks.translation.phrases import Extraction, extract
from weft.tasks.translation.table import PhraseTable, TableSettings
from weft.tasks.translation.translator import Translator, TranslatorSettings
from weft.tasks.translation.trees import TreeExtension, Trees, TreeSettings
from weft.tasks.translation.tuning import Tuned, TuneSettings, held_out_step, tune
from weft.text.bitext import Links

Words = Sequence[str]


@dataclass(frozen=True)
class TrainSettings:
    """What a translator is made of."""

    longest: int = 5  #: words of phrases
    order: int = 4  #: of the language model
    smoothing: str = "modified-kneser-ney"
    folds: int = 5  #: of held-out line search; the last is for its line search
    line_pairs: int = 1000  #: sentence pairs of the last fold that its lines are searched on
    steps: int = 1  #: of held-out line search
    longest_pair: int = 80  #: sentence pairs with more words on a side are left out
    table: TableSettings = field(default_factory=TableSettings)
    translator: TranslatorSettings = field(default_factory=TranslatorSettings)
    tune: TuneSettings = field(default_factory=TuneSettings)
    trees: TreeSettings = field(default_factory=TreeSettings)

    def __post_init__(self) -> None:
        if self.folds < 2 or self.steps < 1 or self.line_pairs < 1:
            raise ConfigError("held-out line search needs at least 2 folds, 1 step and 1 pair to search lines on")


@dataclass(eq=False)
class Material:
    """An aligned bitext with its phrases, from which translators of any part of it are made.

    >>> material = Material.of([["das", "Haus"], ["das", "Boot"]], [["the", "house"], ["the", "boat"]], TrainSettings())
    >>> material.translator().translate("das Boot").text
    'the boat'
    >>> material.translator(np.array([True, False])).translate("das Boot").text
    'the Boot'
    """

    source: Sequence[Words]
    target: Sequence[Words]
    extraction: Extraction
    settings: TrainSettings

    @classmethod
    def of(
        cls, source: Sequence[Words], target: Sequence[Words], settings: TrainSettings, links: Links | None = None
    ) -> Material:
        """Align a bitext, if there are no links yet, and extract its phrases."""
        if links is None:
            aligner = Aligner()
            aligner.fit(source, target)
            links = aligner.align(source, target)
        return cls(source, target, extract(source, target, links, settings.longest), settings)

    def language_model(self, keep: Bools | None = None) -> NgramModel:
        """The language model of the target sentences to keep."""
        kept = self.target if keep is None else [self.target[s] for s in np.flatnonzero(keep).tolist()]
        method = self.settings.smoothing
        if sum(map(len, kept)) < 2000 and "kneser" in method:
            method = "witten-bell"  # too few counts for discounts
        return lm.train(kept, self.settings.order, method)

    def translator(self, keep: Bools | None = None, origins: int | None = None) -> Translator:
        """A translator made of the sentence pairs to keep, of all by default."""
        settings = self.settings.table if origins is None else replace(self.settings.table, origins=origins)
        table = PhraseTable.of(self.extraction, keep, settings)
        return Translator.of(self.extraction, table, self.language_model(keep), settings=self.settings.translator)

    def folds(self, groups: Sequence[Any] | None = None) -> Ints:
        """The fold of every sentence pair: pairs of one group, such as a page, are in one fold."""
        n = len(self.source)
        if groups is None:
            return np.arange(n) % self.settings.folds
        number = {group: k for k, group in enumerate(dict.fromkeys(groups))}
        return np.array([number[group] % self.settings.folds for group in groups])

    def fold_translators(self, fold: Ints) -> list[Translator]:
        """For every fold a translator made of all others."""
        made = [self.translator(fold != k) for k in range(self.settings.folds)]
        for each in made:
            each.sparse = np.zeros(self.extraction.n_pairs)
        return made

    def pairs(self, sentences: Ints, fold: Ints | None = None) -> list[Pair]:
        """Sentence pairs of the bitext to tune on, each for the translator of its fold."""
        return [
            Pair(self.source[s], (self.target[s],), 0 if fold is None else int(fold[s]))
            for s in sentences.tolist()
            if len(self.source[s]) and len(self.target[s])
        ]


def train(
    source: Sequence[Words],
    target: Sequence[Words],
    dev: tuple[Sequence[Words], Sequence[Words]] | None = None,
    settings: TrainSettings | None = None,
    *,
    links: Links | None = None,
    groups: Sequence[Any] | None = None,
    trees: tuple[Sequence[Sequence[int]], Sequence[Sequence[str]]] | None = None,
    client: Any = None,
    watch: Callable[[str], None] = lambda message: None,
) -> tuple[Translator, dict[str, Any]]:
    """A translator of a bitext and a report; without `dev` its weights are the untuned ones.

    With `trees`, heads and tags of the target sentences, the translator builds trees while it translates.
    `groups` names what each sentence pair belongs to, such as a page; folds do not divide groups.

    >>> bitext = [["das", "Haus"], ["das", "Boot"]] * 3, [["the", "house"], ["the", "boat"]] * 3
    >>> translator, report = train(*bitext)
    >>> translator.translate("das Boot").text, report["phrase pairs"]
    ('the boat', 5)
    """
    settings = settings or TrainSettings()
    if trees is not None and settings.tune.tuner == "hols":
        raise ConfigError("held-out line search has no trees for its folds; tune with mert, pro or mira")
    watch_time = Stopwatch()
    sides, kept = _usable(source, target, settings)
    if groups is not None:
        groups = [groups[s] for s in kept]
    if links is not None:
        links = Links.joined([links.take(s, s + 1) for s in kept]) if len(kept) < len(source) else links
    else:
        watch("aligning words")
    material = Material.of(*sides, settings, links)
    watch("extracting phrases")
    translator = material.translator()
    report: dict[str, Any] = {
        "pairs": len(kept),
        "left out": len(source) - len(kept),
        "phrase pairs": len(translator.table),
        "n-grams": sum(translator.lm.counts()),
    }
    if trees is not None:
        watch("collecting pieces of trees")
        chosen = Trees.of(*([side[s] for s in kept] for side in trees))  # type: ignore[arg-type]
        extension = TreeExtension.fit(material.extraction, translator.table, chosen, settings.trees)
        translator = translator.with_extension(extension)
        report |= {"pieces": extension.report["rules"], "decisions": extension.report["events"]}
    if dev is not None:
        pairs = pairs_of(*dev)
        watch(f"tuning on {len(pairs):,} sentence pairs")
        if settings.tune.tuner == "hols":
            tuned = held_out(material, translator, pairs, groups, client, watch)
        else:
            tuned = tune([translator], pairs, settings.tune, client=client, watch=_told(watch))
        report |= {"dev pairs": len(pairs), "BLEU before": 100 * tuned.before, "BLEU": 100 * tuned.bleu}
    return translator, report | watch_time.seconds()


def held_out(
    material: Material,
    translator: Translator,
    dev: Sequence[Pair],
    groups: Sequence[Any] | None = None,
    client: Any = None,
    watch: Callable[[str], None] = lambda message: None,
) -> Tuned:
    """Tune a translator of the whole bitext by held-out line search; the last line is searched on `dev`."""
    settings = material.settings
    fold = material.folds(groups)
    models = material.fold_translators(fold)
    last = settings.folds - 1
    rng = np.random.default_rng(settings.tune.seed)
    held = np.flatnonzero(fold == last)
    held = np.sort(rng.permutation(held)[: settings.line_pairs])
    # Pairs of the held-out fold are all translated by the model that lacks it.
    held_pairs = [replace(pair, model=0) for pair in material.pairs(held)]
    judge = models[last]
    plain = replace(settings.tune, tuner="mert")
    watch("searching dense weights")
    judge.sparse, zeros = None, np.zeros(material.extraction.n_pairs)
    tune([judge], held_pairs, plain, client=client, watch=_told(watch))
    for model in (*models, translator):
        model.weights.update(judge.weights)
        model.sparse = zeros
    others = rng.permutation(np.flatnonzero(fold != last))
    for step, chunk in enumerate(np.array_split(others, settings.steps)):
        watch(f"step {step + 1} of {settings.steps}: gradients of {len(chunk):,} sentence pairs")
        pairs = material.pairs(np.sort(chunk), fold)
        is_last = step == settings.steps - 1
        judges, judged = ([translator], dev) if is_last else ([judge], held_pairs)
        found = held_out_step(models, pairs, judges, judged, plain, client, watch=_told(watch))
        for model in (*models, translator):
            model.weights.update(judges[0].weights)
            model.sparse = judges[0].sparse
    return found.tuned


def _usable(
    source: Sequence[Words], target: Sequence[Words], settings: TrainSettings
) -> tuple[tuple[list[Words], list[Words]], list[int]]:
    """Both sides without pairs that are too long or have an empty side, and the numbers of those that stay."""
    if len(source) != len(target):
        raise DataError(f"{len(source):,} source and {len(target):,} target sentences; a bitext needs equal numbers")
    longest = settings.longest_pair
    kept = [s for s in range(len(source)) if 0 < len(source[s]) <= longest and 0 < len(target[s]) <= longest]
    if not kept:
        raise DataError(f"the bitext has no sentence pair with 1 to {longest} words on each side")
    sides: tuple[list[Words], list[Words]] = ([], [])
    for side, given in zip(sides, (source, target), strict=True):
        for s in kept:
            words = given[s]
            side.append([word.lower() for word in words] if settings.translator.lower else words)
    return sides, kept


def _told(watch: Callable[[str], None]) -> Callable[[int, float], None]:
    return lambda number, bleu: watch(f"round {number + 1}: BLEU {100 * bleu:.2f}")
