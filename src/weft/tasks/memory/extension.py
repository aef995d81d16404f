"""A translation memory as an extension of a translator: models I, II and III for the best match of every sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from weft.errors import ConfigError
from weft.formats.memories.words import is_markup
from weft.infer.decoding.features import Feature
from weft.infer.decoding.options import Options
from weft.tasks.memory.counterparts import MatchedSentence
from weft.tasks.memory.features import MemoryOptions, memory_scores
from weft.tasks.memory.memory import Match, TranslationMemory
from weft.tasks.memory.status import SAME
from weft.tasks.memory.tables import FEATURES, MODELS, MemoryTables
from weft.tasks.translation.phrases import LONGEST
from weft.tasks.translation.sentences import PHRASES, WORDS, Sentence
from weft.tasks.translation.table import SCORES

#: Weights before tuning.
WEIGHT = 0.3


def matched(sentence: Sentence, match: Match, memory: TranslationMemory, lower: bool = True) -> MatchedSentence:
    """A sentence beside its match, with target words numbered as the sentence numbers them."""
    known = dict[str, int]()
    words, source = (
        [known.setdefault(word.lower(), len(known)) for word in side] for side in (sentence.words, match.source)
    )
    target = [sentence.number(word.lower() if lower else word) for word in match.target]
    last = sentence.words[-1] if len(sentence.words) else ""
    final = bool(last) and not any(letter.isalnum() for letter in last) and not is_markup(last)
    return MatchedSentence(words, source, target, memory.links_of(match.row), match.score, final)


def with_phrases(options: Options, match: MatchedSentence) -> Options:
    """The options with phrases of the match that they lack: source phrases of the sentence, translated as there.

    Their probabilities are set to one half.
    """
    known = {
        (start, end, tuple(options.target(o)))
        for o, (start, end) in enumerate(zip(options.start.tolist(), options.end.tolist(), strict=True))
    }
    rows: list[tuple[int, int, list[int]]] = []
    for start in range(options.length):
        for end in range(start + 1, min(start + LONGEST, options.length) + 1):
            part = match.counterpart(start, end)
            if part.content != SAME:
                continue
            for span in dict.fromkeys((part.candidates[0].span, part.candidates[-1].span)):
                if span is not None and (start, end, tuple(match.target[slice(*span)])) not in known:
                    rows.append((start, end, list(match.target[slice(*span)])))
    scores = np.zeros((len(rows), len(options.names)))
    scores[:, [options.names.index(name) for name in SCORES]] = np.log(0.5)
    scores[:, options.names.index(PHRASES)] = 1.0
    scores[:, options.names.index(WORDS)] = [len(words) for _, _, words in rows]
    return Options.joined([options, Options.of(options.length, rows, scores, options.names)])


class MemoryExtension:
    """Has a translator consult the best match of a memory for every phrase.

    `least` is the lowest score of a match that is consulted; `most` limits the candidates per phrase pair. With
    `unlike`, entries equal to the sentence are passed over. With `add`, phrases that the match has, too, may also be
    translated as there if the phrase table does not say so.
    """

    def __init__(
        self,
        memory: TranslationMemory,
        tables: MemoryTables,
        model: str = "III",
        *,
        least: float = 0.0,
        most: int = 0,
        unlike: bool = False,
        add: bool = False,
        lower: bool = True,
        weights: Mapping[str, float] | None = None,
    ) -> None:
        if model not in MODELS:
            raise ConfigError(f"there is no model {model!r} of a memory; there are {', '.join(MODELS)}")
        self.memory, self.tables, self.model = memory, tables, model
        self.least, self.most, self.unlike, self.lower, self.add = least, most, unlike, lower, add
        self._weights = {name: (weights or {}).get(name, WEIGHT) for name in FEATURES[model]}
        self._last: tuple[Sentence, Match | None, MemoryOptions] | None = None
        self._matches: dict[tuple[str, ...], Match | None] = {}

    @property
    def weights(self) -> Mapping[str, float]:
        """A weight for every factor of the model."""
        return self._weights

    def match(self, words: Sequence[str]) -> Match | None:
        """The best match of a sentence, None if there is none that is good enough."""
        key = tuple(words)
        if key not in self._matches:
            if len(self._matches) > 10_000:
                self._matches.clear()
            found = self.memory.matches(list(words), 1, self.least, self.unlike)
            self._matches[key] = found[0] if found else None
        return self._matches[key]

    def options(self, sentence: Sentence, options: Options) -> Options:
        """The options of a sentence, one for every candidate of its match."""
        if options.label is not None:
            raise ConfigError("a memory cannot be consulted by a translator that labels its phrases otherwise")
        match = self.match(sentence.words)
        beside = None if match is None else matched(sentence, match, self.memory, self.lower)
        if beside is not None and self.add:
            options = with_phrases(options, beside)
        found = memory_scores(options, beside, self.tables, self.model, self.most)
        self._last = sentence, match, found
        return found.options

    def features(self, sentence: Sentence, options: Options) -> Sequence[Feature]:
        """The order of candidates, in model III."""
        return self.evidence(sentence).features(self.model)

    def evidence(self, sentence: Sentence) -> MemoryOptions:
        """What the match says of the options of the sentence that came last."""
        if self._last is None or self._last[0] is not sentence:
            raise ConfigError("the options of a sentence come before its features")
        return self._last[2]
