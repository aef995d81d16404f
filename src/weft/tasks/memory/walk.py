"""From a translator's file to suggestions: exact matches as they are, all else translated with the memory or matched.

exact        the memory has the segment: its translation is taken over, and nobody needs to look at it again
translated   a translator consults the best match for every phrase; the result is marked as fuzzy
match        without a translator, the translation of the best match, marked as fuzzy
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.formats.memories.units import NEW, Suggestion, TranslationUnit
from weft.formats.memories.words import Spelling, marked_words
from weft.infer.decoding.hypergraph import Derivation, Hypergraph
from weft.tasks.memory.differences import Piece, pieces, shown
from weft.tasks.memory.extension import MemoryExtension, matched
from weft.tasks.memory.features import MemoryOptions
from weft.tasks.memory.memory import Match, TranslationMemory
from weft.tasks.memory.samples import samples_of
from weft.tasks.memory.status import CONTENTS
from weft.tasks.memory.tables import MemoryTables
from weft.tasks.translation.result import Step, Translation
from weft.tasks.translation.sentences import Sentence
from weft.tasks.translation.translator import Translator

EXACT, TRANSLATED, MATCH, NOTHING = "exact", "translated", "match", "nothing"
#: The lowest score of a match that is shown or consulted.
LEAST = 0.5
#: How many segments of a memory factors are learned from.
LEARNED_FROM = 400
#: With fewer phrases than this, what is expected of memories in general says more.
FEW = 500


@dataclass(frozen=True)
class Evidence:
    """What the memory has for a phrase of a translation."""

    words: tuple[str, ...]  #: of the match's translation; none if it has nothing
    content: str  #: how well they agree with the phrase: same, high, low, none


@dataclass(frozen=True)
class Proposal:
    """What is suggested for a unit."""

    unit: TranslationUnit
    kind: str  #: exact, translated, match or nothing
    target: str
    match: Match | None = None
    translation: Translation | None = None
    evidence: tuple[Evidence, ...] = ()  #: for every phrase of the translation

    @property
    def score(self) -> float:
        """The fuzzy match score, 0 without a match."""
        return 0.0 if self.match is None else self.match.score

    @property
    def differences(self) -> list[Piece]:
        """What differs between the segment and its match."""
        return [] if self.match is None else pieces(marked_words(self.unit.source), self.match.source)

    @property
    def origin(self) -> str:
        """Where the suggestion comes from, in words.

        >>> Proposal(TranslationUnit("a"), NOTHING, "").origin
        'nothing found'
        """
        memory = "" if self.match is None else f"{self.match.origin or 'memory'}, {100 * self.score:.0f} %"
        if self.kind == TRANSLATED:
            return f"machine translation with {memory}" if memory else "machine translation"
        return memory if self.kind in (EXACT, MATCH) else "nothing found"

    def suggestion(self) -> Suggestion | None:
        """What to write into a catalogue, None if there is nothing."""
        if self.kind == NOTHING:
            return None
        previous = "" if self.match is None else self.match.unit.source
        return Suggestion(self.target, self.kind != EXACT, self.origin, "" if self.kind == EXACT else previous)

    def trace(self) -> str:
        """The match with its differences, and every phrase with what it comes from."""
        lines = [f"{self.target}", f"    {self.origin}"]
        if self.match is not None:
            lines.append(f"    {shown(self.differences)}")
            lines.append(f"    {self.match.unit.target}")
        if self.translation is not None:
            for step, evidence in zip(self.translation.steps, self.evidence, strict=True):
                lines.append(f"    {_told(step, evidence)}")
        return "\n".join(lines)

    def record(self) -> dict[str, Any]:
        """The proposal as JSON has it."""
        match: dict[str, Any] | None = None
        if self.match is not None:
            match = {
                "score": self.match.score, "source": self.match.unit.source, "target": self.match.unit.target,
                "origin": self.match.origin, "differences": [list(piece) for piece in self.differences],
            }  # fmt: skip
        found: dict[str, Any] = {
            "id": self.unit.id, "source": self.unit.source, "target": self.target, "kind": self.kind,
            "origin": self.origin, "match": match,
        }  # fmt: skip
        if self.translation is not None:
            steps = zip(self.translation.record()["steps"], self.evidence, strict=True)
            memory = [{**step, "memory": {"words": each.words, "content": each.content}} for step, each in steps]
            found |= {"score": self.translation.score, "steps": memory}
        return found


def _told(step: Step, evidence: Evidence) -> str:
    seen = step.kind if step.kind != "phrase" else "seen once" if step.count == 1 else f"seen {step.count} times"
    memory = f"memory: {' '.join(evidence.words)}, {evidence.content}" if evidence.words else "not in the memory"
    return f"{' '.join(step.source)} -> {' '.join(step.target)}   ({seen}; {memory})"


class MemoryTranslator:
    """Suggests translations from a memory, and with a translator that consults it.

    >>> memory = TranslationMemory.of([("Save the file.", "Guarde el archivo.")])
    >>> found = MemoryTranslator(memory).propose(TranslationUnit("Save the page."))
    >>> found.kind, found.target, round(found.score, 2), shown(found.differences)
    ('match', 'Guarde el archivo.', 0.75, 'Save the [-file-] {+page+} .')
    """

    def __init__(
        self,
        memory: TranslationMemory,
        translator: Translator | None = None,
        *,
        least: float = LEAST,
        model: str = "III",
        tables: MemoryTables | None = None,
        seed: int = 0,
    ) -> None:
        self.memory, self.least = memory, least
        self.spelling = Spelling()
        self.spelling.learn(unit.target for unit in memory.units)
        self.translator: Translator | None = None
        if translator is not None:
            if memory.links is None:
                memory.align()
            tables = tables or learn_tables(translator, memory, seed=seed)
            self.extension = MemoryExtension(
                memory, tables, model, least=least, add=True, lower=translator.settings.lower
            )
            self.translator = Translator(
                translator.table, translator.lm, translator.source_words, translator.target_words,
                dict(translator.weights), translator.sparse, translator.settings, [self.extension],
            )  # fmt: skip

    def propose(self, unit: TranslationUnit) -> Proposal:
        """A suggestion for one unit."""
        words = marked_words(unit.source)
        match = next(iter(self.memory.matches(words, 1, self.least)), None) if words else None
        if match is not None and match.score >= 1 - 1e-9 and match.unit.source == unit.source:
            return Proposal(unit, EXACT, match.unit.target, match)
        if self.translator is not None and words:
            return self._translated(unit, words, match)
        if match is None:
            return Proposal(unit, NOTHING, "")
        return Proposal(unit, MATCH, match.unit.target, match)

    def stream(self, units: Iterable[TranslationUnit]) -> Iterator[Proposal]:
        """Suggestions for units that have no translation yet."""
        for unit in units:
            if unit.state == NEW:
                yield self.propose(unit)

    def _translated(self, unit: TranslationUnit, words: Sequence[str], match: Match | None) -> Proposal:
        assert self.translator is not None
        sentence = self.translator.sentence(words)
        graph = self.translator.search(sentence)
        if graph.is_empty:
            return Proposal(unit, MATCH if match else NOTHING, match.unit.target if match else "", match)
        best = graph.best()
        translation = self.translator.told(sentence, graph, best)
        evidence = _evidence(self.extension.evidence(sentence), graph, best, match)
        text = self.spelling.text(translation.words, unit.source)
        return Proposal(unit, TRANSLATED, text, match, translation, evidence)


def _evidence(
    options: MemoryOptions, graph: Hypergraph, best: Derivation, match: Match | None
) -> tuple[Evidence, ...]:  # fmt: skip
    labels = graph.options.label
    found = []
    for option in best.options:
        row = -1 if labels is None else int(labels[option])
        if match is None or row < 0 or options.left[row] < 0:
            found.append(Evidence((), CONTENTS[-1]))
        else:
            span = slice(int(options.left[row]), int(options.right[row]))
            found.append(Evidence(match.target[span], CONTENTS[int(options.content[row])]))
    return tuple(found)


def learn_tables(
    translator: Translator, memory: TranslationMemory, most: int = LEARNED_FROM, seed: int = 0
) -> MemoryTables:
    """Factors from the memory itself: its segments are forced through a translator, each beside its best other match.

    Small memories teach nothing: then factors are those that are expected of any. A translator that has seen the memory
    makes longer phrases of its segments than of new ones; the experiment of translation-memory-smt uses folds instead.
    """
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.permutation(len(memory))[:most])
    samples: list[list[int]] = []
    for row in rows.tolist():
        sentence = translator.sentence(memory.source[row])
        found = memory.matches(memory.source[row], unlike=True)
        if not found or not len(sentence.words) or len(sentence.words) > 60:
            continue
        graph = translator.force(sentence, memory.target[row])
        if not graph.is_empty:
            samples += samples_of(_phrases(sentence, graph), matched(sentence, found[0], memory,
                                                                     translator.settings.lower))  # fmt: skip
    return MemoryTables.learn(samples if len(samples) >= FEW else [], priors=True)


def _phrases(sentence: Sentence, graph: Hypergraph) -> list[tuple[int, int, list[int]]]:
    options = graph.options
    return [(int(options.start[o]), int(options.end[o]), options.target(o)) for o in graph.best().options]
