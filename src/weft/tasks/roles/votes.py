"""Frames by majority vote of several role labellers (Samuelsson et al. 2008), uniform and without constraints.

A predicate stays if more than half of the labellers propose it. Its arguments, words with a label, stay if more than
half of *the labellers that proposed this predicate* have them; its sense is the one most of these chose.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from weft.errors import DataError
from weft.tasks.roles.constraints import CORE, constrained
from weft.text.doc import Doc
from weft.text.frames import LAYER, FrameRow, frame_rows, set_frames


def vote(proposals: Sequence[Sequence[FrameRow]]) -> list[FrameRow]:
    """The frames that a majority of labellers agrees on; the first labeller decides ties between senses.

    >>> from weft.text.frames import Role
    >>> one = [FrameRow(1, "give.01", (Role("A0", 0, 1), Role("A1", 3, 4)))]
    >>> two = [FrameRow(1, "give.01", (Role("A0", 0, 1), Role("A2", 3, 4))), FrameRow(3, "book.01")]
    >>> vote([one, two, []])
    [FrameRow(predicate=1, sense='give.01', roles=(Role(label='A0', start=0, end=1),))]
    """
    own = [{frame.predicate: frame for frame in frames} for frames in proposals]
    kept = []
    for predicate in sorted({place for frames in own for place in frames}):
        proposed = [frames[predicate] for frames in own if predicate in frames]
        if 2 * len(proposed) <= len(own):
            continue
        senses = Counter(frame.sense for frame in proposed)
        roles = Counter(role for frame in proposed for role in dict.fromkeys(frame.roles))
        kept.append(
            FrameRow(
                predicate,
                senses.most_common(1)[0][0],
                tuple(sorted((role for role, n in roles.items() if 2 * n > len(proposed)), key=lambda r: r.start)),
            )
        )
    return kept


def vote_documents(systems: Sequence[Sequence[Doc]], layer: str = LAYER) -> list[Doc]:
    """Copies of the documents of the first labeller, with the frames that a majority agrees on.

    >>> def labelled(sense):
    ...     doc = Doc.from_words([["Dogs", "bark"]])
    ...     set_frames(doc, [FrameRow(1, sense)])
    ...     return [doc]
    >>> vote_documents([labelled("bark.02"), labelled("bark.01"), labelled("bark.01")])[0].frames
    [Frame('bark', 'bark.01')]
    """
    if len(systems) < 2 or len({len(docs) for docs in systems}) > 1:
        raise DataError("a vote needs the same documents from at least two labellers")
    voted = []
    for number, docs in enumerate(zip(*systems, strict=True), start=1):
        if any(doc.column("form") != docs[0].column("form") for doc in docs[1:]):
            raise DataError(f"document {number} does not have the same words everywhere; label the same text")
        copy = docs[0].subset(range(docs[0].n_sentences))
        set_frames(copy, vote([frame_rows(doc, layer) for doc in docs]), layer)
        voted.append(copy)
    return voted


def repeated_labels(frames: Sequence[FrameRow], core: str = CORE) -> tuple[int, int]:
    """How many frames have a core label twice or more, and how many frames there are.

    >>> from weft.text.frames import Role
    >>> repeated_labels([FrameRow(1, "give.01", (Role("A0", 0, 1), Role("A0", 2, 3))), FrameRow(5, "go.01")])
    (1, 2)
    """
    pattern = re.compile(core)
    counts = [Counter(role.label for role in frame.roles if pattern.fullmatch(role.label)) for frame in frames]
    return sum(max(own.values(), default=0) > 1 for own in counts), len(frames)


def without_repetitions(frames: Sequence[FrameRow], core: str = CORE) -> list[FrameRow]:
    """Frames in which every core label stands once: that of the nearest word, the earlier one of two.

    >>> from weft.text.frames import Role
    >>> without_repetitions([FrameRow(4, "give.01", (Role("A0", 0, 1), Role("A0", 3, 4)))])[0].roles
    (Role(label='A0', start=3, end=4),)
    """
    pattern = re.compile(core)
    repaired = []
    for frame in frames:
        labels = [role.label for role in frame.roles]
        stays = constrained(labels, [-float(abs(role.start - frame.predicate)) for role in frame.roles], pattern)
        kept = tuple(role for role, stay in zip(frame.roles, stays, strict=True) if stay)
        repaired.append(frame._replace(roles=kept))
    return repaired
