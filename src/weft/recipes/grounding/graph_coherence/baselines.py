"""What the graph is compared with: trained entity grids, and the cosine of neighbouring sentences.

    generative     log P(document) = sum over entities e and sentences i of log P(r_ie | r_i-1,e, r_i-2,e, salience)
    ranking        w x > w x' for a document and its permutation; x holds the shares of transitions of two roles
    tf-idf         the mean cosine of neighbouring sentences

Salience is in how many sentences an entity occurs, up to four (generative), or whether in two or more (ranking).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weft.arrays import Floats, Ids, Ints
from weft.tasks.coherence.grid import EntityGrid

_START, _MOST = 4, 4


class GenerativeGrid:
    """Roles given the two before and the salience of the entity, learned from documents as they are.

    >>> grids = [EntityGrid.of_rows([{"ash": "S"}, {"ash": "S"}, {"oak": "S"}, {"oak": "S"}])] * 5
    >>> scores = GenerativeGrid.train(grids).scores(grids[0], np.array([[0, 1, 2, 3], [0, 2, 1, 3]]))
    >>> bool(scores[0] > scores[1])
    True
    """

    def __init__(self, logs: Floats) -> None:
        self.logs = logs  # [salience, before that, before, role]

    @classmethod
    def train(cls, grids: Sequence[EntityGrid], smoothing: float = 1.0) -> GenerativeGrid:
        """Count transitions; `smoothing` is added to every count."""
        counts = np.full((_MOST, 5, 5, 4), smoothing)
        for grid in grids:
            roles = grid.dense()
            np.add.at(counts, _contexts(roles), 1.0)
        return cls(np.log(counts / counts.sum(axis=-1, keepdims=True)))

    def scores(self, grid: EntityGrid, orders: Ints) -> Floats:
        """The log-probabilities of orders of a document."""
        roles = grid.dense()
        return np.array([float(self.logs[_contexts(roles[order])].sum()) for order in orders])


def _contexts(roles: Ids) -> tuple[Ids, Ids, Ids, Ids]:
    salience = np.minimum((roles > 0).sum(axis=0), _MOST) - 1
    padded = np.concatenate([np.full((2, roles.shape[1]), _START, dtype=np.int32), roles])
    return np.broadcast_to(salience, roles.shape), padded[:-2], padded[1:-1], roles


def transitions(grid: EntityGrid, orders: Ints, salience: bool = True) -> Floats:
    """The shares of transitions of two roles in orders of a document, apart for rare entities with `salience`.

    >>> grid = EntityGrid.of_rows([{"ash": "S"}, {"ash": "S"}])
    >>> float(transitions(grid, np.array([[0, 1]]), salience=False)[0, 15])  # from S to S
    1.0
    """
    roles = grid.dense()
    groups = (((roles > 0).sum(axis=0) >= 2).astype(np.int64) if salience else 0) * 16
    size = 32 if salience else 16
    rows = []
    for order in orders:
        own = roles[order]
        counts = np.bincount((groups + 4 * own[:-1] + own[1:]).ravel(), minlength=size).astype(np.float64)
        rows.append(counts / max(counts.sum(), 1.0))
    return np.array(rows)


def ranking_scores(train: Sequence[tuple[Floats, Floats]], test: Sequence[Floats], seed: int = 0) -> list[Floats]:
    """The scores of rows by a linear machine that learns to rank documents above their permutations.

    `train` holds the features of documents [1, f] and of their permutations [n, f]; the cost of a mistake is
    1 / mean |x|^2, the default of the paper's program.
    """
    from sklearn.svm import LinearSVC

    differences = np.concatenate([own - others for own, others in train])
    signs = np.where(np.arange(len(differences)) % 2 == 0, 1.0, -1.0)
    cost = 1 / max(float((differences**2).sum(axis=1).mean()), 1e-12)
    machine = LinearSVC(C=cost, fit_intercept=False, random_state=seed, dual=False)
    machine.fit(differences * signs[:, None], signs)
    return [rows @ machine.coef_[0] for rows in test]


class Cosines:
    """Tf-idf vectors of sentences, without stop words; an order scores by its neighbours.

    >>> Cosines(["the ash fell", "an ash grew", "oaks"]).scores([0, 1, 2], np.array([[0, 1, 2], [0, 2, 1]])).tolist()[1]
    0.0
    """

    def __init__(self, sentences: Sequence[str]) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer

        self.vectors = TfidfVectorizer(stop_words="english", sublinear_tf=True).fit_transform(sentences)

    def scores(self, numbers: Sequence[int], orders: Ints) -> Floats:
        """The scores of orders of the sentences with these numbers."""
        own = self.vectors[np.asarray(numbers)]
        cosines = (own @ own.T).toarray()
        rows = np.asarray(orders)
        if rows.shape[1] < 2:
            return np.zeros(len(rows))
        means: Floats = cosines[rows[:, :-1], rows[:, 1:]].mean(axis=1)
        return means
