"""What people judge: entailment from four captions (three labels), and the similarity of two sentences."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

import numpy as np

from weft.arrays import Floats, Ids, Ints
from weft.graph.denotations.counts import npmi
from weft.progress import progress
from weft.recipes.grounding.visual_denotations.corpora import Judged
from weft.tasks.denotations.captions import CaptionParser, Parses, Token
from weft.tasks.denotations.entailment import (
    JOINT,
    LEAST,
    Materials,
    Table,
    bag_features,
    denotational_features,
    words_of,
)
from weft.tasks.denotations.frames import PARTS, Frame, frames_of
from weft.tasks.denotations.phrases import Heads, analysed

_PARSED = 2000


def parsed(parser: CaptionParser, texts: Sequence[str]) -> Parses:
    """Parses of texts that may repeat; each is parsed once."""
    different = list(dict.fromkeys(texts))
    own = parser.parse(different, len(different))
    found, place = Parses(), {text: k for k, text in enumerate(different)}
    for text in texts:
        found.add(own[place[text]])
    return found


def judged_features(material: Materials, items: Sequence[Judged], parser: CaptionParser) -> dict[str, Table]:
    """Features of items by group: hypothesis words alone, BoW, BoW-H, and those of the graph."""
    graph = material.graph
    common = material.sets.sizes >= LEAST
    hypotheses = parsed(parser, [item.hypothesis for item in items])
    premises = parsed(parser, [text for item in items for text in item.premises])
    found = {name: Table() for name in ("hypothesis", "BoW", "BoW-H", "nPMI", "P")}
    nodes: dict[str, Ids] = {}
    with progress("items", len(items), "items") as bar:
        for k, item in enumerate(items):
            own = words_of(hypotheses[k])
            texts = [premises[4 * k + n] for n in range(4)]
            words = [words_of(tokens) for tokens in texts]
            found["hypothesis"].add({f"h {word}": 1.0 for word in own})
            for name, heads in (("BoW", None), ("BoW-H", material.heads)):
                bag = bag_features(own, words, heads)
                absent = {f"absent {word}": 1.0 for word in own if f"word {word}" not in bag}
                found[name].add(bag | absent)
            for tokens, text in zip(texts, item.premises, strict=True):
                if text not in nodes:
                    nodes[text] = graph.nodes_of(tokens, common)
            above = np.unique(np.concatenate([nodes[text] for text in item.premises])).astype(np.int64)
            content = analysed(hypotheses[k], graph.heads)
            frame = _most_specific(list(frames_of(content, graph.heads)), material)
            for which in ("nPMI", "P"):
                row: dict[str, float] = {}
                if frame is not None and len(above):
                    row = denotational_features(material, frame, above, which)
                # every phrase of the hypothesis: how well the premises support the worst and the mean one
                row |= _support(material, graph.nodes_of(hypotheses[k], common), above, which)
                found[which].add({name: value for name, value in row.items() if "=" not in name})
            bar.advance(1)
    return found


def _most_specific(frames: Sequence[Frame], material: Materials) -> Frame | None:
    """The first frame whose phrase is a common node, sentences before verb phrases; the nearest one otherwise."""
    sizes, graph = material.sets, material.graph
    for kind in ("S", "VP"):
        for frame in frames:
            node = graph.find(frame.phrase) if frame.kind == kind else -1
            if node >= 0 and sizes.size(node) >= LEAST:
                return frame
    return frames[0] if frames else None


def _support(material: Materials, own: Ids, above: Ints, which: str) -> dict[str, float]:
    """How well premises support the phrases of a hypothesis: the worst, the mean, the share that they state."""
    if not len(own) or not len(above):
        return {}
    sizes = material.sets.sizes
    best = []
    for node in own.tolist():
        joint, counts = material.joint(node, above), sizes[above]
        if which == "P":
            scores = np.where(joint >= JOINT, joint / counts, 0.0)
        else:
            scores = np.where(
                joint >= JOINT, npmi(joint, np.full(len(above), sizes[node]), counts, material.sets.items), -0.5
            )
        best.append(float(scores.max()))
    stated = float(np.isin(own, above).mean())
    return {
        f"{which} worst": min(best), f"{which} mean": float(np.mean(best)), f"{which} stated": stated,
        f"{which} all stated": float(stated == 1.0),
        f"{which} product": float(np.exp(np.mean(np.log(np.maximum(best, 1e-3))))),
    }  # fmt: skip


# Similarity of sentences


def baseline_rows(one: Parses, other: Parses, heads: Heads) -> Floats:
    """n-grams of words and characters, longest common substring and subsequence, lengths, hypernyms."""
    rows = []
    for a, b in zip(one, other, strict=True):
        words, more = [t.form for t in a], [t.form for t in b]
        lemmas, others = words_of(a), words_of(b)
        text, rest = " ".join(words), " ".join(more)
        row = [_overlap(_grams(words, n), _grams(more, n)) for n in (1, 2, 3)]
        row += [_overlap(_grams(text, n), _grams(rest, n)) for n in (2, 3, 4)]
        row += [_overlap(set(lemmas), set(others)), _contained(lemmas, others), _contained(others, lemmas)]
        row += [_kinship(lemmas, others, heads), _kinship(others, lemmas, heads)]
        matcher = SequenceMatcher(None, text, rest, autojunk=False)
        row.append(matcher.find_longest_match().size / max(min(len(text), len(rest)), 1))
        row.append(_common_subsequence(words, more) / max(min(len(words), len(more)), 1))
        row.append(abs(len(words) - len(more)) / max(len(words), len(more), 1))
        rows.append(row)
    return np.array(rows)


def _grams(sequence: Sequence[str], n: int) -> set[tuple[str, ...]]:
    return {tuple(sequence[k : k + n]) for k in range(len(sequence) - n + 1)}


def _overlap(
    a: set[object] | set[str] | set[tuple[str, ...]], b: set[object] | set[str] | set[tuple[str, ...]]
) -> float:
    return len(a & b) / max(len(a | b), 1)


def _contained(a: Sequence[str], b: Sequence[str]) -> float:
    return sum(word in b for word in a) / max(len(a), 1)


def _kinship(a: Sequence[str], b: Sequence[str], heads: Heads) -> float:
    """The mean nearness of words to the other text in the lexicon of hypernyms: 1 the same, 1/2 a step apart."""

    def near(x: str, y: str) -> float:
        ups, others = [x, *heads.above(x)], [y, *heads.above(y)]
        steps = [i + others.index(up) for i, up in enumerate(ups) if up in others]
        return 1 / (1 + min(steps)) if steps else 0.0

    return float(np.mean([max((near(x, y) for y in b), default=0.0) for x in a])) if a else 0.0


def _common_subsequence(a: Sequence[str], b: Sequence[str]) -> int:
    row = [0] * (len(b) + 1)
    for x in a:
        before = 0
        for k, y in enumerate(b, start=1):
            before, row[k] = row[k], before + 1 if x == y else max(row[k], row[k - 1])
    return row[-1]


def compositional_rows(one: Parses, other: Parses, material: Materials) -> Floats:
    """Sigma and Pi of pairs."""
    vectors = material.vectors["img"]
    return np.array(
        [
            [vectors.compositional(words_of(a), [words_of(b)], product) for product in (False, True)]
            for a, b in zip(one, other, strict=True)
        ]
    )


def denotational_rows(one: Parses, other: Parses, material: Materials) -> Floats:
    """30 features: nPMI of constituents of one type, and of one type against all, for them and what they reduce to."""
    return np.array(
        [_pair_row(material, _sets(a, material), _sets(b, material)) for a, b in zip(one, other, strict=True)]
    )


def _sets(tokens: list[Token], material: Materials) -> list[tuple[list[int], list[int]]]:
    """The nodes of every type of constituent, and their parents and grandparents."""
    graph = material.graph
    found: dict[str, set[int]] = {name: set() for name in PARTS}
    for frame in frames_of(analysed(tokens, graph.heads), graph.heads):
        for name, phrase in frame.constituents().items():
            node = graph.find(phrase)
            if node >= 0 and material.sets.size(node) >= LEAST:
                found[name].add(node)
    rows = []
    for name in PARTS:
        above = set(found[name])
        for _ in range(2):
            above |= {up for node in above for up, _ in graph._parents(node) if material.sets.size(up) >= LEAST}
        rows.append((sorted(found[name]), sorted(above)))
    return rows


def _pair_row(
    material: Materials, a: list[tuple[list[int], list[int]]], b: list[tuple[list[int], list[int]]]
) -> list[float]:
    def similar(one: Sequence[int], other: Sequence[int]) -> float:
        if not one or not other:
            return 0.0
        best, sizes = 0.0, material.sets.sizes
        columns = np.asarray(other)
        for node in one:
            joint = material.joint(node, columns)
            scores = np.where(
                joint >= JOINT,
                npmi(joint, np.full(len(columns), sizes[node]), sizes[columns], material.sets.items),
                0.0,
            )
            best = max(best, 1.0 if node in other else float(scores.max()))
        return best

    row = []
    every = [sorted({node for own, _ in side for node in own}) for side in (a, b)]
    above = [sorted({node for _, own in side for node in own}) for side in (a, b)]
    for (own_a, up_a), (own_b, up_b) in zip(a, b, strict=True):
        row += [similar(own_a, own_b), max(similar(own_a, up_b), similar(up_a, own_b)), similar(up_a, up_b)]
        row += [
            max(similar(own_a, every[1]), similar(own_b, every[0])),
            max(similar(own_a, above[1]), similar(own_b, above[0]), similar(up_a, every[1]), similar(up_b, every[0])),
            max(similar(up_a, above[1]), similar(up_b, above[0])),
        ]
    return row


def regressed(train: Floats, scores: Floats, test: Floats) -> Floats:
    """Scores by ridge regression of standardized features and their squares; the penalty is chosen on folds."""
    from weft.learn.linear.gram import fit_ridge

    def wide(rows: Floats) -> Floats:
        found: Floats = np.concatenate([rows, rows**2], axis=1)
        return found

    x, z = wide(train), wide(test)
    mean, spread = x.mean(axis=0), x.std(axis=0)
    spread[spread < 1e-9] = 1.0
    x, z = (x - mean) / spread, (z - mean) / spread
    best = (np.inf, 1.0)
    fold = np.arange(len(x)) % 5
    for penalty in (1.0, 10.0, 100.0, 1000.0):
        error = 0.0
        for k in range(5):
            weights, bias = fit_ridge(x[fold != k], scores[fold != k], penalty)
            error += float((((x[fold == k] @ weights) + bias - scores[fold == k]) ** 2).sum())
        best = min(best, (error, penalty))
    weights, bias = fit_ridge(x, scores, best[1])
    found: Floats = z @ weights + bias
    return found
