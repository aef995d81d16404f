"""Why a chain gave a word its label: the weights of the templates that fired there, against the next best labelling.

    best(y_i = a) - best(y_i = b)  =  sum over features of word i  +  transitions at i  +  other words

The runner-up is the best labelling of the sentence in which the word has another label.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats
from weft.errors import InferenceError
from weft.features.program import Features
from weft.features.weights import FrozenTable
from weft.infer.chains.chain import Chain
from weft.learn.local import normalize_locally
from weft.pipeline.explanation import ELSEWHERE, Explanation, Reason
from weft.tasks.labelling.chain_data import ChainScorer
from weft.text.doc import Doc

if TYPE_CHECKING:
    from weft.tasks.labelling.labeller import SequenceLabeller

Path = NDArray[np.int32]


def explain_label(labeller: SequenceLabeller, scorer: ChainScorer, doc: Doc, word: int) -> Explanation:
    """Explain the label of a word.

    >>> from weft.tasks.tagging.tagger import Tagger
    >>> train = Doc.from_words([["dogs", "bark"], ["cats", "sleep"]], upos=[["NOUN", "VERB"], ["NOUN", "VERB"]])
    >>> tagger = Tagger()
    >>> report = tagger.fit([train])
    >>> found = explain_label(tagger, tagger.scorer, Doc.from_words([["cats", "bark"]]), 0)
    >>> found.decision, found.runner_up, found.margin > 0
    ('NOUN', 'VERB', True)
    """
    (observed,) = labeller.observed([doc])
    space = scorer.space
    raw = scorer.chain([observed])
    chain = normalize_locally(raw) if labeller.settings.learner == "memm" else raw
    best = chain.best()
    chosen = int(space.tags(best)[word])
    marginals = space.label_marginals(labeller.conditional(raw).node_marginals())
    probability = float(marginals[word, chosen])
    label, form = space.labels[chosen], doc[word].form
    other = _runner_up(chain, best, space.tags(np.arange(space.n_states, dtype=np.int32)) != chosen, word)
    if other is None:
        return Explanation.of(labeller.task, word, form, label, "", [], probability)
    reasons = _position_reasons(scorer, observed, word, int(best[word]), int(other[word]))
    reasons += _transition_reasons(scorer, observed, word, best, other)
    sentence = int(np.searchsorted(chain.offsets, word, side="right")) - 1
    margin = float(chain.score(best)[sentence] - chain.score(other)[sentence])
    rest = margin - sum(reason.difference for reason in reasons)
    if abs(rest) > 1e-6:
        reasons.append(Reason(ELSEWHERE, "other words", rest, 0.0))
    second = space.labels[int(space.tags(other)[word])]
    return Explanation.of(labeller.task, word, form, label, second, reasons, probability)


def _runner_up(chain: Chain, best: Path, others: NDArray[np.bool_], word: int) -> Path | None:
    """The best path with another label at a word; None if there is none."""
    allowed = np.ones(chain.node.shape, dtype=np.bool_)
    allowed[word] = others
    try:
        path = chain.restrict(allowed).best()
    except InferenceError:
        return None
    return path


def _position_reasons(scorer: ChainScorer, doc: Doc, word: int, state: int, other: int) -> list[Reason]:
    """What the features of a word add to two states."""
    features, _ = scorer.reader.node_features([doc])
    weights = _weights(scorer.node, features, word)
    columns = scorer.space.columns
    named = scorer.reader.extractor.describe(doc, word)
    return [
        Reason(str(template), value, float(row[columns[state]].sum()), float(row[columns[other]].sum()))
        for (template, value), row in zip(named, weights, strict=True)
    ]


def _transition_reasons(scorer: ChainScorer, doc: Doc, word: int, best: Path, other: Path) -> list[Reason]:
    """What the transitions into a word and out of it add on two paths."""
    reasons = []
    sentence = doc[word].sentence
    names, n = scorer.space.names, scorer.space.n_states
    edges = scorer.reader.edge_features([doc])
    for at, name in ((word, "y[-1]"), (word + 1, "y[1]")):
        if not sentence.first < at < sentence.end:
            continue
        pairs = [(int(path[at - 1]), int(path[at])) for path in (best, other)]
        sides = [names[before if at == word else after] for before, after in pairs]
        value = sides[0] if sides[0] == sides[1] else " / ".join(sides)
        reasons.append(Reason(name, value, *(float(scorer.transitions[pair]) for pair in pairs)))
        if edges is None or scorer.edge is None or scorer.reader.edge_extractor is None:
            continue
        described = scorer.reader.edge_extractor.describe(doc, at)
        for (template, text), row in zip(described, _weights(scorer.edge, edges, at), strict=True):
            both = [float(row[before * n + after]) for before, after in pairs]
            reasons.append(Reason(f"{name}|{template}", f"{value}|{text}", *both))
    return reasons


def _weights(table: FrozenTable, features: Features, word: int) -> Floats:
    """The weights `[feature, column]` of the features of a word."""
    own = slice(int(features.offsets[word]), int(features.offsets[word + 1]))
    keys, values = features.keys[own], features.values[own] if len(features.values) else features.values
    return table.score(keys, np.arange(len(keys) + 1), values)
