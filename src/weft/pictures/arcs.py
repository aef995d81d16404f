"""Dependency trees as pictures: words in a row, arcs from heads to dependents above them.

    level(arc) = 1 + the highest level between its ends,    shorter arcs first

so that arcs never overlap, even if they cross. Text that is written from right to left is drawn so; a token of several
words is named below them. Semantic roles stand above the tree, one line per predicate: its sense, and arcs from it to
its arguments.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.pictures.style import backing, clean, is_right_to_left, svg, text_width
from weft.text.frames import FrameRow
from weft.text.views import Sentence

_GAP, _LEVEL, _MARGIN, _CORNER, _TOKEN, _LANE = 18, 25, 18, 8, 24, 30


def draw_tree(sentence: Sentence, styled: bool = True, frames: Sequence[FrameRow] = ()) -> str:
    """A sentence with its dependency tree as SVG; words without a head are drawn without an arc.

    `frames` are the sentence's predicates with their arguments, drawn above the tree. Without `styled`, the embedding
    page provides the style sheet.

    >>> from weft.text import Doc
    >>> doc = Doc.from_words([["Dogs", "bark"]], upos=[["NOUN", "VERB"]], head=[[2, 0]], deprel=[["nsubj", "root"]])
    >>> picture = draw_tree(doc.sentences[0])
    >>> picture.startswith("<svg "), picture.count("<path"), "nsubj" in picture
    (True, 4, True)
    """
    doc, first, end = sentence.doc, sentence.first, sentence.end
    words = sentence.words
    forms, labels = [word.form for word in words], [word.deprel for word in words]
    tags = [word.upos or word.xpos for word in words]
    heads = [-1] * len(words) if doc.head is None else doc.head[first:end].tolist()
    halves = [max(text_width(form, 15), text_width(tag, 11)) / 2 for form, tag in zip(forms, tags, strict=True)]
    centres, right = _places(halves, labels, heads)
    width, mirrored = right + _MARGIN, is_right_to_left(sentence.text)
    if mirrored:
        centres = [width - centre for centre in centres]
    levels = _levels(heads)
    begins = _begins(heads, centres)
    lanes = _LANE * len(frames)
    ground = _MARGIN + lanes + _LEVEL * max(levels, default=0)
    arcs = [i for i, head in enumerate(heads) if head >= 0]
    parts = [_line(heads[i], begins[i], centres[i], levels[i], ground) for i in arcs]
    parts += [_label(heads[i], labels[i], begins[i], centres[i], levels[i], ground) for i in arcs]
    for i, (centre, form, tag) in enumerate(zip(centres, forms, tags, strict=True)):
        parts.append(
            f'<g class="word" data-word="{first + i}">{backing(centre, ground + 5, halves[i], 38)}'
            f'<text x="{centre:.1f}" y="{ground + 21}">{clean(form)}</text>'
            f'<text class="tag" x="{centre:.1f}" y="{ground + 38}" fill="#57626d" font-size="11">{clean(tag)}</text>'
            "</g>"
        )
    tokens = _tokens(sentence, centres, halves, ground + 46)
    roles = [
        part for place, frame in enumerate(frames) for part in _frame(frame, first, centres, _MARGIN + _LANE * place)
    ]
    body = "".join([*roles, *parts, *tokens])
    title, height = f"Dependency tree of: {sentence.text}", ground + 38 + _MARGIN + (_TOKEN if tokens else 0)
    told = "; ".join([_in_words(forms, labels, heads), *(_frame_in_words(frame, first, forms) for frame in frames)])
    return svg(body, width, height, title, told, "tree", styled, mirrored)


def _frame(frame: FrameRow, first: int, centres: Sequence[float], top: int) -> list[str]:
    """The line of one predicate: its sense, and an arc to every argument, whose label stands where it ends."""
    place = centres[frame.predicate - first]
    y = top + 6
    parts = []
    for label, start, end in frame.roles:
        x = (centres[start - first] + centres[end - 1 - first]) / 2
        line = f"M{place:.1f},{y} H{x:.1f} v4"
        parts.append(
            f'<path class="line" fill="none" stroke="#8793a0" d="{line}"/>'
            f'<text class="label" x="{x:.1f}" y="{y + 15}" fill="#1f5fae" font-size="11">{clean(label)}</text>'
        )
    parts.append(
        f'<text class="label" x="{place:.1f}" y="{y + 4}" fill="#1f5fae" font-size="11" font-weight="600">'
        f"{clean(frame.sense or '?')}</text>"
    )
    return [f'<g class="frame" data-word="{frame.predicate}">', *parts, "</g>"]


def _frame_in_words(frame: FrameRow, first: int, forms: Sequence[str]) -> str:
    arguments = [f"{label} {forms[start - first]}" for label, start, _ in frame.roles]
    return f"{forms[frame.predicate - first]} is the predicate {frame.sense}: {', '.join(arguments) or 'no arguments'}"


def _tokens(sentence: Sentence, centres: Sequence[float], halves: Sequence[float], top: int) -> list[str]:
    """A bracket below the words of every token of several words, with its text."""
    groups: dict[int, list[int]] = {}
    for i, token in enumerate(sentence.doc.word_token[sentence.first : sentence.end].tolist()):
        groups.setdefault(token, []).append(i)
    parts = []
    for words in groups.values():
        if len(words) > 1:
            left = min(centres[i] - halves[i] for i in words)
            right = max(centres[i] + halves[i] for i in words)
            text = clean(sentence.words[words[0]].token.text)
            parts.append(
                f'<g class="token"><path class="line" fill="none" stroke="#8793a0" '
                f'd="M{left:.1f},{top} v4 H{right:.1f} v-4"/><text class="tag" x="{(left + right) / 2:.1f}" '
                f'y="{top + 17}" fill="#57626d" font-size="11">{text}</text></g>'
            )
    return parts


def _places(halves: Sequence[float], labels: Sequence[str], heads: Sequence[int]) -> tuple[list[float], float]:
    """The centre of every word, and where the last one ends; arc labels fit between neighbours."""
    centres: list[float] = []
    for i, half in enumerate(halves):
        place = _MARGIN + half if i == 0 else centres[-1] + halves[i - 1] + _GAP + half
        if i and (heads[i] == i or heads[i - 1] == i + 1):
            label = labels[i] if heads[i] == i else labels[i - 1]
            place = max(place, centres[-1] + text_width(label, 11) + 2 * _CORNER + 16)
        centres.append(place)
    # The label of a root may be wider than its word.
    ends = [
        centre + max(half, text_width(label, 11) / 2)
        for centre, half, label in zip(centres, halves, labels, strict=True)
    ]
    return centres, max(ends, default=float(_MARGIN))


def _levels(heads: Sequence[int]) -> list[int]:
    """The height of every word's arc: above everything between its ends; roots above all."""
    spans = {i: tuple(sorted((i, head - 1))) for i, head in enumerate(heads) if head > 0}
    levels = [0] * len(heads)
    reached = [0] * len(heads)  # between word i and the next
    for i in sorted(spans, key=lambda i: spans[i][1] - spans[i][0]):
        low, high = spans[i]
        levels[i] = 1 + max(reached[low:high], default=0)
        reached[low:high] = [levels[i]] * (high - low)
    top = max(levels, default=0) + 1
    return [top if head == 0 else level for head, level in zip(heads, levels, strict=True)]


def _begins(heads: Sequence[int], centres: Sequence[float]) -> list[float]:
    """Where every arc leaves its head: left or right of its centre, side by side, the longest nearest to the centre."""
    begins = [0.0] * len(heads)
    leaving: dict[tuple[int, int], list[int]] = {}
    for i, head in enumerate(heads):
        if head > 0:
            leaving.setdefault((head, 1 if centres[head - 1] < centres[i] else -1), []).append(i)
    for (head, side), arcs in leaving.items():
        arcs.sort(key=lambda i: -abs(i - head + 1))
        step = min(5.0, 18.0 / len(arcs))
        for place, i in enumerate(arcs, 1):
            begins[i] = centres[head - 1] + side * step * place
    return begins


def _line(head: int, begin: float, end: float, level: int, ground: int) -> str:
    y = ground - _LEVEL * level + 6
    if head == 0:
        line = f"M{end:.1f},{y} V{ground - 4}"
    else:
        side = 1 if begin < end else -1
        turn = min(_CORNER, abs(end - begin) / 2)
        line = (
            f"M{begin:.1f},{ground} V{y + turn:.1f} Q{begin:.1f},{y} {begin + side * turn:.1f},{y} "
            f"H{end - side * turn:.1f} Q{end:.1f},{y} {end:.1f},{y + turn:.1f} V{ground - 4}"
        )
    return (
        f'<path class="line" fill="none" stroke="#8793a0" d="{line}"/>'
        f'<path class="tip" fill="#8793a0" d="M{end - 3.5:.1f},{ground - 6} h7 l-3.5,7 z"/>'
    )


def _label(head: int, label: str, begin: float, end: float, level: int, ground: int) -> str:
    """The label on its arc; the style sheet draws a paper-coloured outline around it."""
    x = end if head == 0 else (begin + end) / 2
    y = ground - _LEVEL * level + (4 if head == 0 else 10)
    return f'<text class="label" x="{x:.1f}" y="{y}" fill="#1f5fae" font-size="11">{clean(label)}</text>'


def _in_words(forms: Sequence[str], labels: Sequence[str], heads: Sequence[int]) -> str:
    """A text description of the tree, for accessibility."""
    phrases = []
    for form, label, head in zip(forms, labels, heads, strict=True):
        if head == 0:
            phrases.append(f"{form} is the root")
        elif head > 0:
            phrases.append(f"{form} is {label or 'a dependent'} of {forms[head - 1]}")
    return "; ".join(phrases)
