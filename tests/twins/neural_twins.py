"""Node by node and pair by pair, what `weft.learn.neural` does in batches."""

from __future__ import annotations

import math

import numpy as np

from weft.learn.neural.forests import Structures

FUNCTIONS = {
    "tanh": np.tanh,
    "identity": lambda a: a,
    "sigmoid": lambda a: 1 / (1 + np.exp(-a)),
    "relu": lambda a: np.maximum(a, 0),
}


def compose(structures: Structures, vectors, parameters, activation):
    """The root vectors, by recursion over the nodes of each structure."""
    f = FUNCTIONS[activation]
    found = []
    for k in range(len(structures)):
        first, end = int(structures.offsets[k]), int(structures.offsets[k + 1])
        children = [[] for _ in range(first, end)]
        for i in range(first, end):
            if structures.parents[i] >= 0:
                children[structures.parents[i]].append(i - first)

        def state(node, first=first, children=children):
            i = first + node
            word = structures.words[i]
            if structures.passes and not children[node]:
                return vectors[word]
            total = 0.0
            if word >= 0 and not structures.passes:
                total = structures.shares[i] * (parameters["input"] @ vectors[word])
            for child in children[node]:
                matrix, below = structures.matrices[first + child], state(child)
                total = total + structures.factors[first + child] * (
                    below if matrix < 0 else parameters["edges"][matrix] @ below
                )
            return f(total)

        found.append(state(int(structures.roots[k])))
    return np.array(found)


def margin_loss(images, sentences, owners, margin):
    """The margin loss and its gradients, by three loops."""
    value, by_image, by_sentence = 0.0, np.zeros_like(images), np.zeros_like(sentences)
    for j, i in enumerate(owners):
        for c in range(len(sentences)):
            if owners[c] != i:
                excess = margin - images[i] @ sentences[j] + images[i] @ sentences[c]
                if excess > 0:
                    value += excess
                    by_image[i] += sentences[c] - sentences[j]
                    by_sentence[c] += images[i]
                    by_sentence[j] -= images[i]
        for c in range(len(images)):
            if c != i:
                excess = margin - images[i] @ sentences[j] + images[c] @ sentences[j]
                if excess > 0:
                    value += excess
                    by_sentence[j] += images[c] - images[i]
                    by_image[c] += sentences[j]
                    by_image[i] -= sentences[j]
    return value, by_image, by_sentence


def random_heads(random, length):
    """A random tree, projective or not: heads count from 1."""
    order = random.permutation(length)
    heads = np.zeros(length, dtype=np.int32)
    for k in range(1, length):
        heads[order[k]] = order[random.integers(k)] + 1
    return heads


def random_binary(random, length):
    """Pairs of a random binary tree."""
    nodes, pairs = list(range(length)), []
    while len(nodes) > 1:
        k = int(random.integers(len(nodes) - 1))
        pairs.append((nodes[k], nodes[k + 1]))
        nodes[k : k + 2] = [length + len(pairs) - 1]
    return pairs


def slope(function, table, index, step=1e-6):
    """A central difference."""
    kept = table[index]
    table[index] = kept + step
    above = function()
    table[index] = kept - step
    below = function()
    table[index] = kept
    return (above - below) / (2 * step)


def relative(a, b):
    """The relative error of two numbers, of which one may be tiny."""
    return abs(a - b) / max(abs(a), abs(b), math.sqrt(1e-6))
