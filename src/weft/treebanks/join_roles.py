"""Semantic roles joined to trees of the same sentences, for corpora that distribute the two apart.

PropBank's files have the sentences of UD English-EWT in another order. They are joined by their words; of sentences
with the same words the next unused one is taken. Arguments are spans there; their head is the word that attaches
outside the span, the first of several.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

from weft.text.doc import Doc
from weft.text.frames import FrameRow, frame_rows, frames_by_sentence, roles_at_heads, set_frames


class Joined(NamedTuple):
    """Documents with trees and frames, and what joining them met."""

    docs: list[Doc]
    sentences: int  # that were joined
    unmatched: int  # sentences with roles that no tree has
    several_heads: int  # spans with more than one word that attaches outside


def join_roles(trees: Iterable[Doc], roles: Iterable[Doc]) -> Joined:
    """Give trees the frames of documents with the same sentences in any order; other sentences are left out.

    >>> trees = Doc.from_words([["Dogs", "bark"], ["Cats", "purr"]], head=[[2, 0], [2, 0]])
    >>> roles = Doc.from_words([["Cats", "purr"]])
    >>> set_frames(roles, [FrameRow(1, "purr.01")])
    >>> joined = join_roles([trees], [roles])
    >>> joined.docs[0].text, joined.docs[0].frames
    ('Cats purr', [Frame('purr', 'purr.01')])
    """
    waiting: dict[tuple[str, ...], deque[list[FrameRow]]] = {}
    for doc in roles:
        forms = doc.column("form")
        for sentence, frames in zip(doc.sentences, frames_by_sentence(doc, frame_rows(doc)), strict=True):
            key = tuple(forms[sentence.first : sentence.end])
            waiting.setdefault(key, deque()).append([_moved(frame, -sentence.first) for frame in frames])
    docs: list[Doc] = []
    count = several = 0
    for doc in trees:
        forms = doc.column("form")
        found: list[tuple[int, list[FrameRow]]] = []
        for sentence in doc.sentences:
            key = tuple(forms[sentence.first : sentence.end])
            if waiting.get(key):
                found.append((sentence.index, waiting[key].popleft()))
        if not found:
            continue
        kept = doc.subset([number for number, _ in found])
        firsts = kept.sentence_offsets.tolist()
        set_frames(kept, [_moved(frame, first) for first, (_, frames) in zip(firsts, found, strict=False)
                          for frame in frames])  # fmt: skip
        several += roles_at_heads(kept)
        count += len(found)
        docs.append(kept)
    return Joined(docs, count, sum(map(len, waiting.values())), several)


def _moved(frame: FrameRow, shift: int) -> FrameRow:
    roles = tuple(role._replace(start=role.start + shift, end=role.end + shift) for role in frame.roles)
    return FrameRow(frame.predicate + shift, frame.sense, roles)
