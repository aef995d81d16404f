"""Corrections of what models predicted, as patches: their places are sentences and words.

| place of a patch | what the cell holds |
|---|---|
| `3/4/A1` | the words of an argument of the verb that is word 4 of sentence 3: `6`, or `6-8` |
| `3/4/frame` | the sense of a frame, such as `give.01`; `missing` where there is no frame |
| `3/4/upos`, `3/4/lemma` | tag and lemma of a word |

A sentence is named by its `sent_id` or by its number in the document, from 1, a word by its number in the sentence.
Documents are never changed: a corrected copy is made.
"""

from __future__ import annotations

from collections.abc import Iterable

from weft.errors import DataError
from weft.lexical.resources.source import MISSING, Patch, mismatch
from weft.text.doc import Doc
from weft.text.frames import FrameRow, Role, frame_rows, set_frames
from weft.text.views import Sentence

COLUMNS = ("upos", "lemma")


def sentence_names(sentence: Sentence) -> tuple[str, ...]:
    """The names of a sentence in places of corrections."""
    name = str(sentence.meta.get("sent_id", ""))
    return (name,) if name else (str(sentence.index + 1),)


def corrected(doc: Doc, patches: Iterable[Patch]) -> Doc:
    """A copy of a document with the corrections of its sentences; the document itself if there are none.

    >>> doc = Doc.from_words([["They", "cut", "taxes"]], upos=[["PRON", "VERB", "VERB"]])
    >>> set_frames(doc, [FrameRow(1, "cut.01", (Role("A0", 0, 1),)), FrameRow(2, "tax.01")])
    >>> notes = [("A1", "missing", "3"), ("A0", "1", "1")]
    >>> patches = [Patch(f"1/2/{field}", old, new, "a test") for field, old, new in notes]
    >>> patches += [Patch("1/3/frame", "tax.01", "missing", "a noun"), Patch("1/3/upos", "VERB", "NOUN", "a noun")]
    >>> new = corrected(doc, patches)
    >>> new.frames, new.frames[0].arguments, new[2].upos, len(doc.frames)
    ([Frame('cut', 'cut.01')], [Argument('They', 'A0'), Argument('taxes', 'A1')], 'NOUN', 2)
    """
    sentences = {name: sentence for sentence in doc.sentences for name in sentence_names(sentence)}
    own = [patch for patch in patches if patch.place.partition("/")[0] in sentences]
    if not own:
        return doc
    new = doc.subset(range(doc.n_sentences))
    frames = {frame.predicate: frame for frame in frame_rows(new)}
    for patch in own:
        name, _, rest = patch.place.partition("/")
        number, _, field = rest.partition("/")
        sentence = sentences[name]
        if not number.isdigit() or not 1 <= int(number) <= len(sentence) or not field:
            raise DataError(
                f"{patch.origin or patch.place}: expected SENTENCE/WORD/FIELD, with a word from 1 to {len(sentence)}, "
                f"got {patch.place!r}"
            )
        word = sentence.first + int(number) - 1
        if field in COLUMNS:
            values = new.column(field)
            _expect(patch, values[word] or MISSING)
            values[word] = patch.after
            new.set_column(field, values)
        elif field == "frame":
            _expect(patch, frames[word].sense if word in frames else MISSING)
            frame = frames.pop(word, FrameRow(word, ""))
            if patch.after != MISSING:
                frames[word] = frame._replace(sense=patch.after)
        else:
            frames[word] = _with_argument(frames.get(word), field, sentence, patch)
    set_frames(new, sorted(frames.values()))
    return new


def _with_argument(frame: FrameRow | None, label: str, sentence: Sentence, patch: Patch) -> FrameRow:
    if frame is None:
        raise mismatch("the document", patch, None)
    first = sentence.first
    old = next((role for role in frame.roles if role.label == label), None)
    _expect(patch, MISSING if old is None else _words(old, first))
    roles = [role for role in frame.roles if role is not old]
    if patch.after != MISSING:
        start, _, end = patch.after.partition("-")
        ends = (start, end or start)
        if not all(each.isdigit() and 1 <= int(each) <= len(sentence) for each in ends) or int(ends[0]) > int(ends[1]):
            raise DataError(f"{patch.origin or patch.place}: expected words as in 6 or 6-8, got {patch.after!r}")
        roles.append(Role(label, first + int(ends[0]) - 1, first + int(ends[1])))
    return frame._replace(roles=tuple(sorted(roles, key=lambda role: role.start)))


def _words(role: Role, first: int) -> str:
    start, end = role.start - first + 1, role.end - first
    return f"{start}" if start == end else f"{start}-{end}"


def _expect(patch: Patch, found: str) -> None:
    if found != patch.before:
        raise mismatch("the document", patch, found)
