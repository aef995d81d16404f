"""Translating into a dependency tree: phrase pairs with pieces of trees, and what scores these (Liu 2013).

Trained on the target side's trees, an extension of the translator gives every phrase pair the pieces that its words
were seen as, and searches in two passes:

    first     a shift-reduce parser of types of pieces (`weft.infer.decoding.shift_reduce`) goes along with the search
    second    the hypergraph is rescored by a dependency language model and a classifier of the parser's actions

    structure    log p(piece | phrase pair)
    ill-formed   -1 for every piece that lacks children or a common head
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from weft.arrays import Bools, Floats, Ids, Ints, Keys, Singles
from weft.errors import ConfigError, DataError, InferenceError
from weft.infer.decoding.decoder import SearchSettings
from weft.infer.decoding.derivations import Derivations, event_rows
from weft.infer.decoding.features import Feature
from weft.infer.decoding.hypergraph import Derivation, Hypergraph
from weft.infer.decoding.ngrams import Automaton
from weft.infer.decoding.options import Options
from weft.infer.decoding.pieces import Pieces
from weft.infer.decoding.rescoring import rescored
from weft.infer.decoding.shift_reduce import H, L, R, StackTypes
from weft.infer.decoding.syntax import Reductions, Syntax
from weft.infer.decoding.trimming import trimmed
from weft.infer.trees.well_formed import CATEGORIES, FIXED, ILL_FORMED, LEFT, RIGHT, categories_of
from weft.kernel import kernel
from weft.learn.ngrams.dependencies import DependencyModel
from weft.learn.transitions.reductions import ReductionSettings, fit_reductions
from weft.tasks.translation.phrases import Extraction, Side
from weft.tasks.translation.sentences import Sentence
from weft.tasks.translation.table import PhraseTable

STRUCTURE, ILL = "structure", "ill-formed"
ACTIONS, DEPENDENCIES, REDUCTIONS = "actions", "dependency model", "reductions"
#: Weights before tuning.
WEIGHTS = {STRUCTURE: 0.1, ILL: 0.1, ACTIONS: 0.0, DEPENDENCIES: 0.1, REDUCTIONS: 0.4}
#: Pieces for what is not in the table, such as copied words: chains of up to so many words.
_LONGEST_UNKNOWN = 20
_KINDS = {FIXED: H, LEFT: L, RIGHT: R}


@dataclass(frozen=True)
class TreeSettings:
    """How trees take part in translation."""

    structures: int = 2  #: pieces per phrase pair, the most frequent ones
    ill_formed: bool = True  #: whether pieces that lack something are used
    waits: bool = False  #: whether a sibling may stand between a floating piece and its head
    dependencies: bool = True  #: whether the dependency language model scores
    reductions: bool = True  #: whether the classifier of actions scores
    rare: int = 10  #: words with fewer occurrences stand for their tags in the dependency model and the classifier
    stops: bool = False  #: whether the dependency language model predicts where children end, which is not in the paper
    pops: int = 40  #: expansions per stack of the first pass, 0 for all; it has twice as many stacks as plain decoding
    threshold: float = (
        3.0  #: hypotheses worse than the best of their stack, or the best complete one, by more are left out
    )
    edges: int = 300  #: of the hypergraph that the second pass sees, 0 for all
    beam: int = 4  #: stacks per node in the second pass, 0 for all
    events: int = 4000  #: sentences whose derivations the classifier learns from
    variance: float = 1.0  #: of its prior

    def __post_init__(self) -> None:
        if min(self.structures, self.events, self.rare) < 1:
            raise ConfigError("structures, events and rare must be at least 1")
        if min(self.pops, self.edges, self.beam) < 0 or not self.threshold >= 0:
            raise ConfigError("pops, edges and beam must be at least 0 (0: all), and so must the threshold")


@dataclass(frozen=True)
class Trees:
    """The trees of the target side of a bitext: heads of all words, counted from 1, and tags."""

    heads: Ids  #: of all sentences, one after the other
    tags: Ids
    names: list[str]  #: of tags

    @classmethod
    def of(cls, heads: Sequence[Sequence[int]], tags: Sequence[Sequence[str]]) -> Trees:
        """Trees from lists.

        >>> Trees.of([[2, 0]], [["DET", "NOUN"]]).names
        ['DET', 'NOUN']
        """
        numbers: dict[str, int] = {}
        flat = [numbers.setdefault(tag, len(numbers)) for row in tags for tag in row]
        joined = np.array([head for row in heads for head in row], np.int32)
        if len(joined) != len(flat):
            raise DataError("every word of the trees needs a head and a tag")
        return cls(joined, np.array(flat, np.int32), list(numbers))


@dataclass(eq=False)
class TreeExtension:
    """What lets a translator build trees.

    >>> from weft.tasks.language_models import lm
    >>> from weft.tasks.translation.phrases import extract
    >>> from weft.tasks.translation.translator import Translator
    >>> from weft.text.bitext import Links
    >>> bitext = [["das", "Haus", "steht"], ["das", "Boot", "steht"]], [["the", "house", "stands"]] * 2
    >>> extraction = extract(*bitext, Links.of([[(0, 0), (1, 1), (2, 2)]] * 2))
    >>> table = PhraseTable.of(extraction)
    >>> trees = Trees.of([[2, 3, 0]] * 2, [["DET", "NOUN", "VERB"]] * 2)
    >>> extension = TreeExtension.fit(extraction, table, trees)
    >>> model = lm.train(bitext[1], order=2, method="witten-bell")
    >>> translator = Translator.of(extraction, table, model, extensions=[extension])
    >>> found = translator.translate("das Boot steht")
    >>> found.words, found.heads
    (('the', 'house', 'stands'), (2, 3, 0))
    """

    first: Ints  #: rules of pair p are first[p] ... first[p + 1] - 1; then those of unknown phrases
    logp: Floats  #: of every rule: log p(piece | pair)
    pieces: Pieces  #: one per rule
    model: DependencyModel
    weight_table: Singles
    word: Ids  #: the dependency model's word of every token
    tag: Ids
    tags: list[str]
    settings: TreeSettings
    report: dict[str, Any]

    @classmethod
    def fit(
        cls, extraction: Extraction, table: PhraseTable, trees: Trees, settings: TreeSettings | None = None
    ) -> TreeExtension:
        """Pieces of the pairs of a table, a dependency model, and a classifier."""
        settings = settings or TreeSettings()
        side = extraction.target
        if len(trees.heads) != len(side.text):
            raise DataError(f"the bitext has {len(side.text):,} target words, but the trees have {len(trees.heads):,}")
        bounds = list(zip(side.offsets[:-1].tolist(), side.offsets[1:].tolist(), strict=True))
        shown = _with_classes(side, trees, settings.rare)
        model = DependencyModel.fit(((shown[a:b], trees.heads[a:b].tolist()) for a, b in bounds), stops=settings.stops)
        classes = Classes.of(model, side, trees.names, settings.rare)
        rules = _rules(extraction, table, trees, settings)
        events, labels, skipped = tree_events(extraction, trees, classes, settings)
        weights = fit_reductions(events, labels, ReductionSettings(settings.variance))
        report = {**rules.report, "events": len(labels), "sentences without derivation": skipped}
        tokens, word, tag = rules.tokens(classes)
        pieces = Pieces.of_arrays(rules.offsets, tokens, rules.heads, rules.kind, rules.ill_formed)
        return cls(rules.first, rules.logp, pieces, model, weights, word, tag, trees.names, settings, report)

    @property
    def weights(self) -> Mapping[str, float]:
        """A weight for every score that this adds."""
        names = [STRUCTURE, ILL, ACTIONS, *self._second.names]
        return {name: WEIGHTS[name] for name in names}

    @cached_property
    def _automata(self) -> tuple[Automaton, Automaton]:
        return self.model.automata

    @cached_property
    def _first(self) -> StackTypes:
        return StackTypes(self.pieces.kind, self.settings.waits, ACTIONS)

    @cached_property
    def _second(self) -> Syntax:
        inner = self.pieces.inner_scores(self.word, *self._automata, self.model.stops)
        wanted = {DEPENDENCIES: self.settings.dependencies, REDUCTIONS: self.settings.reductions}
        names = tuple(name for name, used in wanted.items() if used)
        return Syntax(
            self.pieces, inner, *self._automata, Reductions(self.weight_table, self.word, self.tag), names,
            self.model.stops,
        )  # fmt: skip

    def options(self, sentence: Sentence, options: Options) -> Options:
        """Every option once per piece of its pair."""
        n_pairs = len(self.first) - 2
        sizes = options.sizes()
        pair = options.pair
        unknown = pair < 0
        if (sizes[unknown] > _LONGEST_UNKNOWN).any() or (sizes[unknown] < 1).any():
            raise InferenceError(f"phrases that are not in the table can have 1 to {_LONGEST_UNKNOWN} words here")
        begin = np.where(unknown, self.first[n_pairs] + sizes - 1, self.first[pair])
        number = np.where(unknown, 1, self.first[pair + 1] - self.first[pair])
        rows = np.repeat(np.arange(len(options)), number)
        label = np.arange(len(rows)) + np.repeat(begin - (np.cumsum(number) - number), number)
        if not self.settings.ill_formed:
            good = ~self.pieces.ill_formed[label]
            gaps = options.take(rows[good]).uncovered()
            needed = np.array([gaps[a:b].any() for a, b in zip(options.start, options.end, strict=True)], np.bool_)
            rows, label = rows[good | needed[rows]], label[good | needed[rows]]
        scores = np.column_stack([self.logp[label], -self.pieces.ill_formed[label].astype(np.float64)])
        return options.take(rows).with_scores([STRUCTURE, ILL], scores).labelled(label)

    def features(self, sentence: Sentence, options: Options) -> Sequence[Feature]:
        """The first pass: types of pieces."""
        return [self._first]

    def search(self, settings: SearchSettings) -> SearchSettings:
        """How the first pass searches."""
        return replace(settings, pops=self.settings.pops, threshold=self.settings.threshold)

    @property
    def later_names(self) -> tuple[str, ...]:
        """The names of scores of the second pass."""
        return self._second.names

    def second_pass(self, graph: Hypergraph, weights: Floats, sparse: Floats | None) -> Hypergraph:
        """The hypergraph with the scores of the second pass; weights are for its names and those."""
        settings = self.settings
        if graph.is_empty or not self._second.names:
            return graph
        return rescored(trimmed(graph, settings.edges), [self._second], weights, sparse, settings.beam)

    def heads(self, graph: Hypergraph, derivation: Derivation) -> tuple[int, ...]:
        """The tree of a derivation: heads of its words, counted from 1."""
        assert graph.options.label is not None
        n = len(graph.options) - graph.n_moves
        return tuple(self.pieces.tree(derivation.options, n, graph.options.label))


@dataclass(frozen=True)
class Classes:
    """The numbers by which the dependency model and the classifier know words: their own, or those of their tags."""

    word: Ids  #: 0 for rare words
    tag: Ids

    @classmethod
    def of(cls, model: DependencyModel, side: Side, tags: Sequence[str], rare: int) -> Classes:
        """The numbers of the words of one side of a bitext."""
        known = model.vocabulary.encode(side.words)
        known[np.bincount(side.text, minlength=len(side.words)) < rare] = 0
        return cls(known, model.vocabulary.encode([_class(tag) for tag in tags]))

    def numbers(self, words: Ids, tags: Ids) -> Ids:
        """The numbers of words with tags; -1 is an unknown word."""
        known = np.where(words >= 0, self.word[words], 0)
        return np.where(known > 0, known, self.tag[tags]).astype(np.int32)


def _class(tag: str) -> str:
    return f"<{tag}>"


def _with_classes(side: Side, trees: Trees, rare: int) -> list[str]:
    """The words of a text, rare ones as their tags."""
    few = np.bincount(side.text, minlength=len(side.words)) < rare
    return [
        _class(trees.names[tag]) if few[word] else side.words[word]
        for word, tag in zip(side.text.tolist(), trees.tags.tolist(), strict=True)
    ]


@dataclass(eq=False)
class _Rules:
    first: Ints
    logp: Floats
    offsets: Ints
    heads: Ids
    words: Ids  #: target words by number, -1 for unknown ones
    tags: Ids
    kind: Ids
    ill_formed: Bools
    report: dict[str, Any]

    def tokens(self, classes: Classes) -> tuple[Ids, Ids, Ids]:
        """Tokens of pieces, and the known word and the tag of every token."""
        n_tags = int(self.tags.max(initial=0)) + 2
        keys, tokens = np.unique((self.words + 1).astype(np.int64) * n_tags + self.tags + 1, return_inverse=True)
        words, tags = (keys // n_tags).astype(np.int64) - 1, (keys % n_tags).astype(np.int32) - 1
        return tokens.reshape(-1).astype(np.int32), classes.numbers(words, tags), tags


def _rules(extraction: Extraction, table: PhraseTable, trees: Trees, settings: TreeSettings) -> _Rules:
    """The pieces of all pairs of a table, and those of unknown phrases."""
    number = np.full(extraction.n_pairs, -1, np.int64)
    number[table.rule] = np.arange(len(table))
    places = np.flatnonzero(number[extraction.pair] >= 0)
    pair, spans = number[extraction.pair[places]], extraction.spans[places]
    offsets = extraction.target.offsets
    form = categories_of(trees.heads, offsets, spans[:, 0], np.ascontiguousarray(spans[:, 3:5]))
    keys = np.empty(len(places), np.uint64)
    _keys(spans, offsets, trees.heads, trees.tags, form, pair, keys)
    _, at, times = np.unique(keys, return_index=True, return_counts=True)
    order = np.lexsort((at, -times, pair[at]))
    at, times = at[order], times[order]
    owner = pair[at]
    rank = np.arange(len(at)) - np.searchsorted(owner, owner)
    total = np.bincount(owner, times, len(table))
    logp = np.log(times / total[owner])
    kept = rank < settings.structures
    at, owner, logp, form_of = at[kept], owner[kept], logp[kept], form[at[kept]]
    shares = np.bincount(form, minlength=4) / max(1, len(form))
    # A piece with several roots that do not belong together floats either way.
    begin = offsets[spans[at, 0]] + spans[at, 3]
    sizes = (spans[at, 4] - spans[at, 3]).astype(np.int64)
    text, inner = _gathered(begin, sizes)
    head = trees.heads[text] - 1 - np.repeat(spans[at, 3], sizes)
    head = np.where((head >= 0) & (head < np.repeat(sizes, sizes)), head, -1)
    roots = np.bincount(inner[head < 0], minlength=len(at))
    ill = form_of == ILL_FORMED
    twice = ill & (roots > 1)
    copies = np.repeat(np.arange(len(at)), 1 + twice)
    second = np.zeros(len(copies), np.bool_)
    second[1:] = copies[1:] == copies[:-1]
    kinds = np.array([_KINDS.get(each, H) for each in range(4)])[form_of]
    kind = np.where(twice[copies], np.where(second, R, L), kinds[copies])
    text, _ = _gathered(begin[copies], sizes[copies])
    starts = np.cumsum(sizes) - sizes
    places_in, _ = _gathered(starts[copies], sizes[copies])
    extra = np.arange(1, _LONGEST_UNKNOWN + 1)
    chains = [k + 1 if k + 1 < size else -1 for size in extra.tolist() for k in range(size)]
    n = len(copies)
    first = np.searchsorted(owner[copies], np.arange(len(table) + 1))
    common = int(np.bincount(trees.tags).argmax()) if len(trees.tags) else 0
    report = {"rules": n} | dict(zip(CATEGORIES, shares.tolist(), strict=True))
    return _Rules(
        np.append(first, n + _LONGEST_UNKNOWN).astype(np.int64),
        np.concatenate([logp[copies], np.zeros(_LONGEST_UNKNOWN)]),
        np.concatenate([[0], np.cumsum(np.concatenate([sizes[copies], extra]))]).astype(np.int64),
        np.concatenate([head[places_in], chains]).astype(np.int32),
        np.concatenate([extraction.target.text[text], np.full(len(chains), -1)]).astype(np.int32),
        np.concatenate([trees.tags[text], np.full(len(chains), common)]).astype(np.int32),
        np.concatenate([kind, np.full(_LONGEST_UNKNOWN, H)]).astype(np.int32),
        np.concatenate([ill[copies], np.zeros(_LONGEST_UNKNOWN, np.bool_)]),
        report,
    )


def _gathered(begin: Ints, sizes: Ints) -> tuple[Ints, Ints]:
    """The places of ranges, one after the other, and which range each is of."""
    ends = np.cumsum(sizes)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    return np.arange(int(sizes.sum())) + np.repeat(begin - (ends - sizes), sizes), owner


@kernel
def _keys(spans: Ids, offsets: Ints, heads: Ids, tags: Ids, form: Ids, pair: Ints, keys: Keys) -> None:
    """A number of 64 bits for every pair with a piece: its category, tags, and heads within."""
    for row in range(len(spans)):
        low, high = spans[row, 3], spans[row, 4]
        base = offsets[spans[row, 0]]
        value = np.uint64(pair[row] + 1) * np.uint64(0x9E3779B97F4A7C15)
        value = (value ^ np.uint64(form[row] + 1)) * np.uint64(0xBF58476D1CE4E5B9)
        for k in range(low, high):
            head = heads[base + k] - 1
            inner = head - low + 1 if low <= head < high else 0
            value ^= value >> np.uint64(31)
            value = (value ^ np.uint64(16 * (tags[base + k] + 1) + inner)) * np.uint64(0x94D049BB133111EB)
        keys[row] = value ^ (value >> np.uint64(29))


def tree_events(
    extraction: Extraction, trees: Trees, classes: Classes, settings: TreeSettings,
    sentences: Sequence[int] | None = None,
) -> tuple[Ids, Ids, int]:  # fmt: skip
    """Events for the classifier from sentences, and how many of these have no derivation."""
    offsets, text = extraction.target.offsets, extraction.target.text
    chosen = range(min(settings.events, len(offsets) - 1)) if sentences is None else sentences
    order = np.argsort(extraction.sentence, kind="stable")
    cuts = np.searchsorted(extraction.sentence[order], np.arange(len(offsets)))
    rows, labels, skipped = [np.zeros((0, 9), np.int32)], [np.zeros(0, np.int32)], 0
    for s in chosen:
        a, b = offsets[s], offsets[s + 1]
        spans = extraction.spans[order[cuts[s] : cuts[s + 1]], 3:5]
        try:
            derivations = Derivations(trees.heads[a:b].tolist(), map(tuple, spans.tolist()), settings.waits)
        except InferenceError:  # too many states
            skipped += 1
            continue
        skipped += not derivations.exists
        found, actions = event_rows(derivations, classes.numbers(text[a:b], trees.tags[a:b]), trees.tags[a:b])
        rows.append(found)
        labels.append(actions)
    return np.concatenate(rows), np.concatenate(labels), skipped
