"""Scores of semantic frames as in the shared tasks of CoNLL-2008 and CoNLL-2009.

A sentence is a set of semantic dependencies: one from a virtual root to every predicate, labelled with its sense, and
one from a predicate to each of its arguments, labelled with the role:

    ROOT -give.01-> gave      gave -A0-> She      gave -A1-> books

*Labelled* scores count dependencies with the same ends and label, *unlabelled* ones those with the same ends. A missing
predicate costs its sense and all its arguments in recall, a spurious one the same in precision. A frame is *exact* if
its sense and all its arguments are right. Arguments of several words are scored at their head word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from weft.arrays import Ints
from weft.errors import WeftError
from weft.evaluate.counts import Counts, Score
from weft.evaluate.trees.ud import words_in_common
from weft.text.doc import Doc
from weft.text.frames import LAYER, FrameRow, Role, frame_rows, frames_by_sentence, head_of_span

#: A semantic dependency: head (-1: the root), dependent, label.
Dependency = tuple[int, int, str]
#: The metrics, in the order in which they are reported.
METRICS = ("labelled", "unlabelled", "senses", "arguments", "unlabelled arguments", "exact frames")


@dataclass
class FrameReport:
    """Counts per sentence by metric, and labelled counts by part of speech of the predicate and by label.

    >>> gold = [FrameRow(1, "give.01", ())]
    >>> report = score_frames([[FrameRow(1, "give.01")]], [[FrameRow(1, "give.02")]])
    >>> report.counts["labelled"].total().f1, report.counts["unlabelled"].total().f1
    (0.0, 1.0)
    """

    counts: dict[str, Counts]
    by_tag: dict[str, Counts] = field(default_factory=dict)
    by_label: dict[str, Counts] = field(default_factory=dict)

    def __getitem__(self, metric: str) -> Score:
        """The totals of a metric."""
        return self.counts[metric].total()


def dependencies(frames: Sequence[FrameRow]) -> dict[str, Counter[Dependency]]:
    """The semantic dependencies of a sentence: those of senses and those of arguments.

    >>> from weft.text.frames import Role
    >>> found = dependencies([FrameRow(1, "give.01", (Role("A0", 0, 1),))])
    >>> sorted(found["senses"]), sorted(found["arguments"])
    ([(-1, 1, 'give.01')], [(1, 0, 'A0')])
    """
    senses: Counter[Dependency] = Counter((-1, frame.predicate, frame.sense) for frame in frames)
    arguments: Counter[Dependency] = Counter(
        (frame.predicate, role.start, role.label) for frame in frames for role in frame.roles
    )
    return {"senses": senses, "arguments": arguments}


def score_frames(
    gold: Sequence[Sequence[FrameRow]],
    system: Sequence[Sequence[FrameRow]],
    tags: Sequence[Callable[[int], str]] | None = None,
) -> FrameReport:
    """Score the frames of sentences, whose arguments stand at their head words.

    `tags` gives for every sentence a function from a predicate to its part of speech.

    >>> from weft.text.frames import Role
    >>> gold = [[FrameRow(1, "give.01", (Role("A0", 0, 1), Role("A1", 3, 4)))]]
    >>> system = [[FrameRow(1, "give.01", (Role("A0", 0, 1), Role("A2", 3, 4)))]]
    >>> report = score_frames(gold, system)
    >>> report["labelled"].correct, report["unlabelled"].correct, report["exact frames"].correct
    (2, 3, 0)
    """
    if len(gold) != len(system):
        raise WeftError(f"gold has {len(gold)} sentences, the system {len(system)}: score the same sentences")
    rows: dict[str, list[tuple[int, int, int]]] = {name: [] for name in METRICS}
    tables: dict[str, dict[str, dict[int, list[int]]]] = {"tag": {}, "label": {}}
    for number, (one, other) in enumerate(zip(gold, system, strict=True)):
        ours, theirs = dependencies(one), dependencies(other)
        for name in ("senses", "arguments"):
            rows[name].append(_counted(ours[name], theirs[name]))
        both = [side["senses"] + side["arguments"] for side in (ours, theirs)]
        rows["labelled"].append(_counted(*both))
        plain = [_unlabelled(side) for side in both]
        rows["unlabelled"].append(_counted(*plain))
        rows["unlabelled arguments"].append(_counted(_unlabelled(ours["arguments"]), _unlabelled(theirs["arguments"])))
        frames = [
            Counter((frame.predicate, frame.sense, frozenset(frame.roles)) for frame in side) for side in (one, other)
        ]
        rows["exact frames"].append(_counted(*frames))
        for side, counted in enumerate((*both, both[0] & both[1])):
            for (head, word, label), count in counted.items():
                groups = [("label", label)] if head >= 0 else []
                if tags is not None:
                    groups.append(("tag", tags[number](word if head < 0 else head)))
                for kind, group in groups:
                    tables[kind].setdefault(group, {}).setdefault(number, [0, 0, 0])[side] += count
    counts = {name: Counts.of(*np.array(each, dtype=np.int64).reshape(-1, 3).T) for name, each in rows.items()}
    grouped = {
        kind: {group: _spread(table, len(gold)) for group, table in _ordered(found)} for kind, found in tables.items()
    }
    return FrameReport(counts, grouped["tag"], grouped["label"])


def evaluate_frames(gold: Sequence[Doc], system: Sequence[Doc], layer: str = LAYER) -> FrameReport:
    """Score the frames of documents with the same text. Trees and tags are those of gold.

    Where the system has other words or sentences, as from raw text, words are aligned as by the metrics of trees
    (`weft.evaluate.trees.ud`): what the system says of words that gold does not have is wrong.

    >>> from weft.text.frames import set_frames
    >>> doc = Doc.from_words([["Dogs", "bark"]], upos=[["NOUN", "VERB"]])
    >>> set_frames(doc, [FrameRow(1, "bark.01")])
    >>> report = evaluate_frames([doc], [doc])
    >>> report["labelled"].f1, list(report.by_tag)
    (1.0, ['VERB'])
    >>> other = Doc.from_words([["Dogs"], ["bark"]])
    >>> set_frames(other, [FrameRow(1, "bark.01"), FrameRow(0, "dog.01")])
    >>> evaluate_frames([doc], [other])["labelled"]
    Score(gold=1, system=2, correct=1, aligned=None)
    """
    lengths = [[length for doc in docs for length in np.diff(doc.sentence_offsets).tolist()] for docs in (gold, system)]
    if lengths[0] != lengths[1]:
        return _evaluate_aligned(gold, system, layer, lengths[0])
    pairs = list(zip(_sentences(gold), _sentences(system), strict=True))
    frames: tuple[list[list[FrameRow]], list[list[FrameRow]]] = ([], [])
    tags: list[Callable[[int], str]] = []
    held: dict[int, list[list[FrameRow]]] = {}
    columns: dict[int, list[str]] = {}
    for (one, number), (other, place) in pairs:
        first, start = int(one.sentence_offsets[number]), int(other.sentence_offsets[place])
        for doc in (one, other):
            if id(doc) not in held:
                held[id(doc)] = frames_by_sentence(doc, frame_rows(doc, layer))
        frames[0].append([_placed(frame, first, one, first) for frame in held[id(one)][number]])
        frames[1].append([_placed(frame, start, one, first) for frame in held[id(other)][place]])
        if id(one) not in columns:
            columns[id(one)] = one.column("upos" if one.has("upos") else "xpos")
        column = columns[id(one)]
        tags.append(lambda word, column=column, first=first: column[first + word] or "_")  # type: ignore[misc]
    return score_frames(*frames, tags)


def _evaluate_aligned(gold: Sequence[Doc], system: Sequence[Doc], layer: str, lengths: Sequence[int]) -> FrameReport:
    """Score frames over other words: numbered over all documents, words that only the system has after all others.

    A frame at such a word counts in the sentence of the gold word before it.
    """
    gold_word, system_word = words_in_common(gold, system)
    firsts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    total = int(firsts[-1])
    number = total + np.arange(sum(doc.n_words for doc in system))
    before = np.zeros(len(number), dtype=np.int64)
    number[system_word] = before[system_word] = gold_word
    before = np.maximum.accumulate(before)
    sides: list[list[list[FrameRow]]] = []
    for docs, own, places in ((gold, np.arange(total), np.arange(total)), (system, number, before)):
        found: list[list[FrameRow]] = [[] for _ in lengths]
        first = 0
        for doc in docs:
            for frame in frame_rows(doc, layer):
                sentence = int(np.searchsorted(firsts, places[first + frame.predicate], side="right")) - 1
                found[sentence].append(_renumbered(frame, doc, own[first:], int(firsts[sentence])))
            first += doc.n_words
        sides.append(found)
    column = [tag for doc in gold for tag in doc.column("upos" if doc.has("upos") else "xpos")]
    column += [""] * len(number)

    def tag_from(first: int) -> Callable[[int], str]:
        return lambda word: column[first + word] or "_"

    return score_frames(sides[0], sides[1], [tag_from(first) for first in firsts[:-1].tolist()])


def _renumbered(frame: FrameRow, doc: Doc, number: Ints, first: int) -> FrameRow:
    """A frame with arguments at their heads and other numbers of words, counted from the first of the sentence."""
    heads = [int(number[head_of_span(doc, role.start, role.end)[0]]) - first for role in frame.roles]
    roles = tuple(Role(role.label, head, head + 1) for role, head in zip(frame.roles, heads, strict=True))
    return FrameRow(int(number[frame.predicate]) - first, frame.sense, roles)


def _sentences(docs: Sequence[Doc]) -> list[tuple[Doc, int]]:
    return [(doc, number) for doc in docs for number in range(doc.n_sentences)]


def _placed(frame: FrameRow, first: int, tree: Doc, tree_first: int) -> FrameRow:
    """A frame numbered from the first word of its sentence, with arguments at their heads in a tree."""
    roles = []
    for role in frame.roles:
        start = head_of_span(tree, role.start - first + tree_first, role.end - first + tree_first)[0] - tree_first
        roles.append(role._replace(start=start, end=start + 1))
    return FrameRow(frame.predicate - first, frame.sense, tuple(roles))


def _unlabelled(counted: Counter[Dependency]) -> Counter[tuple[int, int]]:
    """Pairs of words; several roles of one word for one predicate are one pair each."""
    found: Counter[tuple[int, int]] = Counter()
    for (head, word, _), count in counted.items():
        found[head, word] += count
    return found


def _counted(gold: Counter, system: Counter) -> tuple[int, int, int]:
    return gold.total(), system.total(), (gold & system).total()


def _ordered(found: dict[str, dict[int, list[int]]]) -> list[tuple[str, dict[int, list[int]]]]:
    """Groups with the most frequent first."""
    return sorted(found.items(), key=lambda item: (-sum(row[0] for row in item[1].values()), item[0]))


def _spread(table: dict[int, list[int]], units: int) -> Counts:
    counts = np.zeros((units, 3), dtype=np.int64)
    for unit, row in table.items():
        counts[unit] = row
    return Counts.of(*counts.T)
