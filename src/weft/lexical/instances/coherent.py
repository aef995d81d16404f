"""Labels of clusters of instances: class names that most of a cluster shares and few other clusters know.

Given clusters C of instances and the class names L that is-a patterns gave each instance, repeat until nothing changes:

    coherent    at least a share J of the instances of C carry L
    specific    fewer than K other clusters hold an instance with L

A cluster with a coherent and specific label is labelled by it and taken away, which makes labels of the rest more
specific. Where several labels qualify, the one that most of the cluster carries is chosen, then the alphabetically
first.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from weft.errors import ConfigError


def coherent_labels(
    clusters: Sequence[Iterable[str]], labels: Mapping[str, Iterable[str]], coherent: float = 0.3, specific: int = 3
) -> list[tuple[int, str]]:
    """Numbers of clusters with their labels, in the order in which they were found.

    >>> labels = {"bergen": ["city"], "oslo": ["city", "team"], "rosenborg": ["team"], "brann": ["team"]}
    >>> coherent_labels([["bergen", "oslo"], ["rosenborg", "brann"]], labels, coherent=0.6, specific=1)
    [(0, 'city'), (1, 'team')]
    """
    if not 0 < coherent <= 1 or specific < 1:
        raise ConfigError(f"coherent is a share above 0, specific a count of at least 1; got {coherent}, {specific}")
    members = [sorted(set(cluster)) for cluster in clusters]
    counts = [Counter(label for name in own for label in set(labels.get(name, ()))) for own in members]
    known: dict[str, set[int]] = defaultdict(set)  # the clusters left that know a label
    for number, own in enumerate(counts):
        for label in own:
            known[label].add(number)
    found: list[tuple[int, str]] = []
    left = [number for number, own in enumerate(counts) if own]
    while True:
        rest = []
        for number in left:
            own = counts[number]
            enough = coherent * len(members[number])
            fits = [label for label, count in own.items() if count >= enough and len(known[label]) - 1 < specific]
            if not fits:
                rest.append(number)
                continue
            found.append((number, min(fits, key=lambda label: (-own[label], label))))
            for label in own:
                known[label].discard(number)
        if len(rest) == len(left):
            return found
        left = rest


def labelled_instances(
    clusters: Sequence[Iterable[str]], labels: Mapping[str, Iterable[str]], coherent: float = 0.3, specific: int = 3
) -> list[tuple[str, str, float]]:
    """Pairs of instance and class of weight 1: every member of a labelled cluster that carries its label.

    >>> labelled_instances([["bergen", "oslo", "fjord"]], {"bergen": ["city"], "oslo": ["city"]}, 0.5, 1)
    [('bergen', 'city', 1.0), ('oslo', 'city', 1.0)]
    """
    found = coherent_labels(clusters, labels, coherent, specific)
    pairs = {(name, label) for number, label in found for name in clusters[number] if label in labels.get(name, ())}
    return [(name, label, 1.0) for name, label in sorted(pairs)]
