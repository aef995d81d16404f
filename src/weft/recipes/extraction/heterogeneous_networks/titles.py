"""Part C: topics of titles by walks, beside LDA, judged by coherence and by related papers.

There are no judgements of relatedness: two papers count as related if they cite two papers in common, or if one volume
holds both. Walks over all types (`walks`) pass through citations and venues, so only topics of titles alone (`cooc`)
are compared with LDA by this measure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix

from weft.arrays import Floats
from weft.evaluate.orders import coherence, discounted_gain
from weft.graph.network import network
from weft.learn.topics.walk_topics import WalkTopics, closeness, cooccurrence, similarities
from weft.packages import needed
from weft.tasks.bibliographies.papers import Paper
from weft.tasks.bibliographies.schema import bibliography
from weft.tasks.bibliographies.terms import single_terms

TOP_WORDS, TOP_PAPERS = 10, 10
#: LDA's prior: the best of 0.01, 0.1 and 0.5 on other queries, by discounted gain.
ALPHA = 0.5


@dataclass
class Topics:
    """Of one model: the words of its topics, most important first, and a vector of topics per paper (columns)."""

    words: list[list[int]]
    vectors: Floats


@dataclass
class Titles:
    """Papers of some years with their words: `table` has a row per paper and a column per word."""

    papers: list[Paper]
    words: list[list[str]]
    vocabulary: list[str]
    table: csr_matrix

    @classmethod
    def of(cls, papers: Sequence[Paper], first: int, last: int, least: int = 5) -> Titles:
        own = [paper for paper in papers if paper.year is not None and first <= paper.year <= last]
        words = single_terms([paper.title for paper in own], least, len(own))
        kept = [(paper, row) for paper, row in zip(own, words, strict=True) if row]
        vocabulary = sorted({word for _, row in kept for word in row})
        numbers = {word: number for number, word in enumerate(vocabulary)}
        rows = [place for place, (_, row) in enumerate(kept) for _ in row]
        columns = [numbers[word] for _, row in kept for word in row]
        table = csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(len(kept), len(vocabulary)))
        return cls([paper for paper, _ in kept], [row for _, row in kept], vocabulary, table)

    def by_walks(self, kind: str, topics: int, seed: int, workers: int = 1) -> tuple[Topics, list[float]]:
        """Topics of the graph of words (`cooc` or `walks`), and the divergences of its factorization."""
        found = bibliography(self.papers, self.words)
        whole = network(found.graph)
        # Walks from topics to papers pass through words alone, so the other types do not matter to them.
        nodes = found.of_type("term")
        names = [found.graph.names[node].removesuffix(" (term)") for node in nodes.tolist()]
        graph = cooccurrence(whole, nodes) if kind == "cooc" else closeness(whole, nodes, workers=workers)
        model = WalkTopics.of(whole, nodes, graph, topics, seed=seed, workers=workers)
        type_of_paper = found.graph.types.index("paper")
        scores = model.scores(whole, found.graph.type, type_of_paper)
        order = np.searchsorted(np.flatnonzero(found.graph.type == type_of_paper), found.nodes)
        place = {word: number for number, word in enumerate(self.vocabulary)}
        column = {int(node): place[name] for node, name in zip(nodes.tolist(), names, strict=True)}
        words = [[column[node] for node, _ in model.top_words(topic, TOP_WORDS)] for topic in range(topics)]
        return Topics(words, scores[:, order]), model.found.divergences

    def by_lda(self, topics: int, rounds: int, seed: int, alpha: float = ALPHA, samples: int = 20) -> Topics:
        """Topics by collapsed Gibbs sampling of tomotopy; a paper's vector is the mean of samples of the last rounds.

        A title has five words, so one sample leaves many papers with equal vectors.
        """
        tomotopy = needed("tomotopy", "LDA")
        model = tomotopy.LDAModel(k=topics, seed=seed, alpha=alpha)
        for row in self.words:
            model.add_doc(row)
        model.train(rounds, workers=1, parallel=tomotopy.ParallelScheme.NONE)
        vectors = np.zeros((topics, len(self.words)))
        for _ in range(samples):
            model.train(5, workers=1, parallel=tomotopy.ParallelScheme.NONE)
            vectors += np.array([doc.get_topic_dist() for doc in model.docs], dtype=np.float64).T
        place = {word: number for number, word in enumerate(self.vocabulary)}
        words = [[place[word] for word, _ in model.get_topic_words(k, top_n=TOP_WORDS)] for k in range(topics)]
        return Topics(words, vectors / samples)

    def by_words(self) -> Topics:
        """Words themselves, weighted by how rare they are: no topics."""
        rare = np.log(len(self.papers) / np.maximum(1, np.asarray(self.table.sum(axis=0)).ravel()))
        return Topics([], np.asarray((self.table.multiply(rare)).todense(), dtype=np.float64).T)

    def coherences(self, topics: Topics) -> Floats:
        """The coherence of every topic."""
        return np.array([coherence(self.table, words) for words in topics.words])

    def related(self, shared: int = 2) -> csr_matrix:
        """1 for papers that cite so many papers in common, or are of one volume."""
        numbers: dict[str, int] = {}
        rows, columns = [], []
        volumes: dict[str, int] = {}
        for place, paper in enumerate(self.papers):
            own = [numbers.setdefault(cited, len(numbers)) for cited in paper.cites]
            rows += [place] * len(own)
            columns += own
        cites = csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(len(self.papers), max(1, len(numbers))))
        both = (cites @ cites.T).tocsr()
        both.data = (both.data >= shared).astype(np.float64)
        home = [volumes.setdefault(_volume(paper.id), len(volumes)) for paper in self.papers]
        inside = csr_matrix((np.ones(len(home)), (np.arange(len(home)), home)), shape=(len(home), len(volumes)))
        return ((both + inside @ inside.T) > 0).astype(np.float64).tocsr()

    def gains(self, topics: Topics, related: csr_matrix, queries: Sequence[int]) -> Floats:
        """For every query, the discounted gain of the papers most like it."""
        found = []
        for first in range(0, len(queries), 50):
            part = list(queries[first : first + 50])
            like = similarities(topics.vectors, part)
            like[np.arange(len(part)), part] = -np.inf
            best = np.argsort(-like, axis=1, kind="stable")[:, :TOP_PAPERS]
            for query, row in zip(part, best.tolist(), strict=True):
                own = np.asarray(related[query].todense()).ravel()
                found.append(discounted_gain(own[row].tolist()))
        return np.array(found)


def _volume(name: str) -> str:
    """The volume of a paper of AAN.

    >>> _volume("P06-1023"), _volume("W04-0311"), _volume("2004.tmi-1.3")
    ('P06-1', 'W04-03', '2004.tmi-1')
    """
    series, _, number = name.partition("-")
    if "." in number:
        return f"{series}-{number.split('.')[0]}"
    return f"{series}-{number[:2] if series.startswith('W') else number[:1]}"
