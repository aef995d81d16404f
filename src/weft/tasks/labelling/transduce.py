"""Transductive labelling: label a fixed set of sentences jointly with a few labelled ones, by similarity of parts.

    minimize  sum over parts u of -beta log p(l(u) | sentence)  +  sum over neighbours uv of w_uv [l(u) != l(v)]

A part is a pair of adjacent words, labelled with their pair of labels. p is the pair marginal of a labeller trained on
the labelled sentences. The neighbours of a part are the k nearest other parts, labelled or not, by the features that
the labeller observes at the two words. Overlapping parts must agree on the word they share, and labelled parts keep
their labels (Ganchev and Pereira 2007; `weft.infer.chains.tied` solves the program). beta = 0 is a pure constrained
cut; a large beta gives the labeller's own answer. No model is saved: other sentences need another run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats, Ints
from weft.errors import ConfigError, DataError
from weft.infer.chains.chain import Chain
from weft.infer.chains.tied import Relaxation, TiedChains
from weft.learn.chains.labels import LabelSpace
from weft.pipeline.settings import Settings, option
from weft.progress import progress
from weft.ragged import first_positions
from weft.tasks.labelling.labeller import SequenceLabeller
from weft.text.doc import Doc
from weft.text.schemes import numbered

#: Lower bound on probabilities.
_LEAST = 1e-12


@dataclass
class TogetherSettings(Settings):
    """Options of transductive labelling."""

    beta: float = option(0.3, "Weight of the labeller against the neighbours.")
    bias: str = option("log", "Cost of a part: -beta log p, or beta (1 - p).", choices=("log", "linear"))
    neighbours: int = option(5, "Nearest neighbours that each part is tied to.")
    components: int = option(100, "Principal components in which distances are measured; 0 takes all.")
    ties: str = option(
        "unit", "Weight of a tie: 1, or exp(-d^2 / 2 s^2) with the median distance s.", choices=("unit", "gaussian")
    )
    tolerance: float = option(1e-3, "Stop at this gap between the labelling and its bound.")

    def check(self) -> None:
        """Check the values."""
        for name, known in {"bias": ("log", "linear"), "ties": ("unit", "gaussian")}.items():
            if getattr(self, name) not in known:
                raise ConfigError(f"{name} must be one of {', '.join(known)}, got {getattr(self, name)!r}")
        if self.beta < 0 or self.neighbours < 0 or self.components < 0:
            raise ConfigError("beta, neighbours and components must be at least 0")


@dataclass(frozen=True)
class Together:
    """Labels of the unlabelled sentences, with a bound on their distance from the optimum.

    `collapsed` names a label that has taken over: its share of words is more than halfway between its share among the
    labelled words and 1. Such a cut is useless; raise beta.
    """

    labels: list[str]
    relaxation: Relaxation
    parts: int
    labelled_parts: int
    ties: int
    collapsed: str | None

    def report(self) -> dict[str, Any]:
        """A summary in numbers."""
        relaxation = self.relaxation
        return {
            "parts": self.parts, "labelled parts": self.labelled_parts, "ties": self.ties, "bound": relaxation.bound,
            "relaxed": relaxation.value, "cost": relaxation.rounded, "gap": relaxation.gap, "steps": relaxation.steps,
            "collapsed": self.collapsed,
        }  # fmt: skip


def label_together(
    labeller: SequenceLabeller,
    labelled: Sequence[Doc],
    unlabelled: Sequence[Doc],
    settings: TogetherSettings | None = None,
) -> Together:
    """Label documents jointly with labelled ones, and write the labels into them; the labeller is already trained.

    Sentences of one word have no parts: the labeller alone labels them.

    >>> from weft.tasks.tagging.tagger import Tagger, TaggerSettings
    >>> few = [Doc.from_words([["the", "cat", "sleeps"], ["a", "dog", "barks"]], upos=[["DET", "NOUN", "VERB"]] * 2)]
    >>> more = [Doc.from_words([["the", "dog", "sleeps"], ["a", "cat", "barks"]])]
    >>> settings = TaggerSettings(templates="w[0] w[0].suffix1..2 y[-1]", learner="crf", column="upos", dictionary=0)
    >>> tagger = Tagger(settings)
    >>> report = tagger.fit(few)
    >>> found = label_together(tagger, few, more, TogetherSettings(neighbours=2))
    >>> more[0].column("upos")
    ['DET', 'NOUN', 'VERB', 'DET', 'NOUN', 'VERB']
    """
    result = cut_together(labeller, labelled, unlabelled, settings if settings is not None else TogetherSettings())
    labeller.write_all([doc for doc in unlabelled if doc.n_words], *numbered(result.labels), None)
    return result


def cut_together(
    labeller: SequenceLabeller, labelled: Sequence[Doc], unlabelled: Sequence[Doc], settings: TogetherSettings
) -> Together:
    """The same without writing the labels."""
    return TiedParts.of(labeller, labelled, unlabelled, settings).cut(settings.beta)


@dataclass(frozen=True)
class TiedParts:
    """The parts of labelled and unlabelled sentences and their ties, ready to be cut with any beta.

    Words of labelled sentences come first; a part is numbered by its second word.
    """

    space: LabelSpace
    known: NDArray[np.int32]  # labels of the words of labelled sentences
    chain: Chain  # of the unlabelled sentences
    is_part: NDArray[np.bool_]
    ties: tuple[Ints, Ints, Floats]
    settings: TogetherSettings

    @classmethod
    def of(
        cls, labeller: SequenceLabeller, labelled: Sequence[Doc], unlabelled: Sequence[Doc], settings: TogetherSettings
    ) -> TiedParts:
        """Represent parts by the features of a trained labeller and tie them to their nearest neighbours."""
        settings.check()
        labelled, unlabelled = ([doc for doc in docs if doc.n_words] for docs in (labelled, unlabelled))
        if not labelled or not unlabelled:
            raise DataError(
                "transductive labelling needs labelled and unlabelled sentences; one of the two has no words"
            )
        scorer = labeller._trained()
        if scorer.space.order != 1:
            raise ConfigError("transductive labelling needs a first-order labeller: use templates with y[-1] only")
        known = scorer.space.ids([label for doc in labelled for label in labeller.gold(doc)])
        chain = labeller.conditional(scorer.chain(labeller.observed(unlabelled)))
        vectors, is_part = part_vectors(labeller, [*labelled, *unlabelled])
        ties = tie_parts(vectors, np.flatnonzero(is_part), settings)
        return cls(scorer.space, known, chain, is_part, ties, settings)

    def cut(self, beta: float) -> Together:
        """The labelling with the lowest cost."""
        space, known, chain = self.space, self.known, self.chain
        (u, v, weights), n_known = self.ties, len(self.known)
        cost = _costs(chain, beta, self.settings.bias)
        pair = np.concatenate([known[:1], known[:-1]]).astype(np.int64) * space.n_states + known
        one, other = np.minimum(u, v), np.maximum(u, v)
        fixed = (one < n_known) & (other >= n_known)
        _charge_for_known(cost, other[fixed] - n_known, pair[one[fixed]], weights[fixed])
        free = one >= n_known
        tied = TiedChains(cost, chain.offsets, one[free] - n_known, other[free] - n_known, weights[free])
        relaxation = tied.relax(self.settings.tolerance)
        path = np.where(np.repeat(np.diff(chain.offsets) == 1, np.diff(chain.offsets)), chain.best(), relaxation.path)
        tags = space.tags(path.astype(np.int32))
        return Together(
            [space.labels[tag] for tag in tags.tolist()], relaxation, int(self.is_part[n_known:].sum()),
            int(self.is_part[:n_known].sum()), len(u), _collapsed(known, tags, space.labels),
        )  # fmt: skip


def part_vectors(labeller: SequenceLabeller, docs: Sequence[Doc]) -> tuple[Any, NDArray[np.bool_]]:
    """The features of the two words of every part, as sparse rows `[word, feature]`, and which rows are parts.

    Row i is the part of words i - 1 and i; the rows of sentence-initial words are not parts.
    """
    from scipy.sparse import csr_matrix, hstack

    features, offsets = labeller._trained().reader.node_features(labeller.observed(docs))
    keys, columns = np.unique(features.keys, return_inverse=True)
    values = features.values if len(features.values) else np.ones(len(columns))
    words = csr_matrix((values, columns.ravel(), features.offsets), shape=(int(offsets[-1]), len(keys)))
    before = np.maximum(np.arange(words.shape[0]) - 1, 0)
    is_part = np.ones(words.shape[0], dtype=np.bool_)
    is_part[first_positions(offsets)] = False
    return hstack([words[before], words], format="csr"), is_part


def tie_parts(vectors: Any, parts: Ints, settings: TogetherSettings) -> tuple[Ints, Ints, Floats]:
    """Ties u - v from each part (a row number) to its k nearest; a tie chosen from both ends counts once."""
    from weft.features.representations.principal import principal_components
    from weft.graph.csr import Graph
    from weft.graph.neighbours import nearest_neighbours

    if settings.neighbours == 0 or len(parts) < 2:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
    rows = vectors[parts]
    points = principal_components(rows, settings.components) if settings.components else rows
    k = min(settings.neighbours, len(parts) - 1)
    ids, distances = nearest_neighbours(points, k, metric="euclidean")
    if settings.ties == "gaussian":
        width = max(float(np.median(distances)), 1e-9)
        weights = np.exp(-((distances / width) ** 2) / 2)
    else:
        weights = np.ones(distances.shape)
    first, second, weight = Graph.from_lists(ids, weights).symmetric("or").edges()
    return parts[first], parts[second], weight.astype(np.float64)


def choose_beta(
    train: Callable[[Sequence[Doc]], SequenceLabeller],
    labelled: Sequence[Doc],
    betas: Sequence[float] = (0.1, 0.3, 1.0, 3.0, 10.0),
    settings: TogetherSettings | None = None,
    folds: int = 4,
) -> tuple[float, dict[float, float]]:
    """Choose beta by the accuracy on held-out folds of the labelled sentences; return it with the accuracy of every
    beta.

    The largest beta, which trusts the labeller most, wins ties.
    """
    settings = settings if settings is not None else TogetherSettings()
    docs = [doc.subset([s]) for doc in labelled for s in range(len(doc.sentence_offsets) - 1)]
    docs = [doc for doc in docs if doc.n_words]
    if len(docs) < 2:
        raise DataError("choosing beta on held-out sentences needs at least two labelled sentences; set beta instead")
    folds = min(folds, len(docs))
    right = dict.fromkeys(sorted(betas), 0)
    total = 0
    with progress("choosing beta", folds * len(right), unit="cuts") as bar:
        for fold in range(folds):
            kept = [doc for at, doc in enumerate(docs) if at % folds != fold]
            held = [doc for at, doc in enumerate(docs) if at % folds == fold]
            labeller = train(kept)
            gold = [label for doc in held for label in labeller.gold(doc)]
            total += len(gold)
            tied = TiedParts.of(labeller, kept, held, settings)
            for beta in right:
                result = tied.cut(beta)
                right[beta] += sum(a == b for a, b in zip(gold, result.labels, strict=True))
                bar.advance()
    best = max(right, key=lambda beta: (right[beta], beta))
    return best, {beta: count / total for beta, count in right.items()}


def _costs(chain: Chain, beta: float, bias: str) -> Floats:
    """The cost of each pair of labels for every part, infinite where the labeller forbids it."""
    p = chain.marginals(per_position=True).edge
    allowed = np.isfinite(chain.edge) & np.isfinite(chain.node)[:, None, :]
    before = np.concatenate([np.ones((1, chain.n_states), dtype=np.bool_), np.isfinite(chain.node)[:-1]])
    allowed = allowed & before[:, :, None]
    cost = -np.log(np.maximum(p, _LEAST)) if bias == "log" else 1.0 - p
    priced: Floats = np.where(allowed, beta * cost, np.inf)
    return priced


def _charge_for_known(cost: Floats, parts: Ints, labels: Ints, weights: Floats) -> None:
    """Charge ties to labelled parts to every label that differs from theirs."""
    flat = cost.reshape(len(cost), -1)
    flat += np.bincount(parts, weights, len(cost))[:, None]
    np.subtract.at(flat, (parts, labels), weights)


def _collapsed(known: NDArray[np.int32], found: NDArray[np.int32], labels: Sequence[str]) -> str | None:
    before, after = (np.bincount(each, minlength=len(labels)) / len(each) for each in (known, found))
    most = int(after.argmax())
    return labels[most] if before[most] < 1.0 and after[most] > (1.0 + before[most]) / 2 else None
