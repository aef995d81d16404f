"""GHOST (Fan et al. 2011): instances of a name are alike if many short paths of co-authors join them.

    similarity(a, b) = sum over paths of 2 to 4 edges between a and b of 1 / (number of edges)

Like currents through resistors side by side, every path adds its share. A path meets no node twice and no other
instance. Clusters come from affinity propagation over these similarities, so that their number is not given.
The paper's outline is followed where its details are not at hand; in particular paths within one paper count.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from weft.arrays import Floats, Ids, Ints
from weft.graph.clusters.affinity import affinity_clusters
from weft.graph.network import Network

#: Edges of the longest path.
LONGEST = 4


def path_similarities(network: Network, instances: Ids, longest: int = LONGEST) -> Floats:
    """The similarity of every pair of instances.

    >>> from weft.graph.network import network_of
    >>> network = network_of(5, [0, 1, 0, 3, 2], [2, 2, 3, 4, 4])    # instances 0 and 1; 0-2-1, 0-3-4-2-1
    >>> path_similarities(network, np.array([0, 1], np.int32)).tolist()
    [[0.0, 0.75], [0.75, 0.0]]
    """
    n = network.n_nodes
    others = np.ones(n, dtype=np.bool_)
    others[instances] = False
    other = (network.targets != network.sources()).astype(np.float64)
    ones = csr_matrix((other, network.targets, network.offsets), shape=(n, n))
    near = ones[instances][:, others]
    reached = np.asarray(near.sum(axis=0)).ravel() > 0
    between = ones[others][:, others]
    ends: csr_matrix = near.tocsc()[:, reached].tocsr()
    middle = between[reached].tocsc()
    found = np.asarray((ends @ ends.T).todense()) / 2
    if longest >= 3:
        found = found + np.asarray((ends @ middle[:, reached] @ ends.T).todense()) / 3
    if longest >= 4:
        squares = (middle @ middle.T).tolil()
        squares.setdiag(0)  # the second co-author is not the first one again
        found = found + np.asarray((ends @ squares.tocsr() @ ends.T).todense()) / 4
    np.fill_diagonal(found, 0)
    return found


def ghost(network: Network, instances: Ids, longest: int = LONGEST) -> Ints:
    """The clusters of the instances.

    >>> from weft.graph.network import network_of
    >>> network = network_of(6, [0, 1, 2, 3], [4, 4, 5, 5])
    >>> ghost(network, np.array([0, 1, 2, 3], np.int32)).tolist()
    [0, 0, 1, 1]
    """
    return affinity_clusters(path_similarities(network, instances, longest))
