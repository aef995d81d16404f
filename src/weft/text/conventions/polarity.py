"""Opinions of sentences and documents: positive, negative or neutral, and the stars of a review.

A sentence's polarity is its comment `# sentiment = neg`; a document's stands in `doc.meta["sentiment"]` and, for
formats that keep comments only, in the comment `# document_sentiment = neg` of its first sentence; stars are `rating`
in either place. So JSON Lines and CoNLL-U both hold them, and any reader of comments finds them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from weft.errors import WeftError
from weft.text.doc import Doc

#: Names of the three polarities, in the order of their numbers.
POLARITIES = ("pos", "neg", "neu")
#: What sentence labels of the field are taken for; mixed and not relevant sentences are neutral.
MERGED = {"pos": "pos", "neg": "neg", "neu": "neu", "mix": "neu", "nr": "neu"} | {
    "positive": "pos", "negative": "neg", "neutral": "neu", "mixed": "neu", "+": "pos", "-": "neg",
}  # fmt: skip
SENTENCE, DOCUMENT, RATING = "sentiment", "document_sentiment", "rating"
_CHANCE = "_probability"  # how the comments with probabilities end


def merged_polarity(label: str) -> str:
    """One of `pos`, `neg`, `neu` for a label as people write it, "" for none.

    >>> merged_polarity("NEG"), merged_polarity("mix"), merged_polarity("")
    ('neg', 'neu', '')
    """
    name = label.strip().lower()
    if name and name not in MERGED:
        raise WeftError(f"no polarity {label!r}: expected one of {', '.join(MERGED)}")
    return MERGED.get(name, "")


def polarity_of_rating(stars: float) -> str:
    """The polarity of a rating from 1 to 5: three is neutral, less negative, more positive.

    >>> [polarity_of_rating(stars) for stars in (1, 2, 3, 4, 5)]
    ['neg', 'neg', 'neu', 'pos', 'pos']
    """
    if not 1 <= stars <= 5:
        raise WeftError(f"a rating is a number of stars from 1 to 5, not {stars:g}")
    return "neg" if stars < 3 else "pos" if stars > 3 else "neu"


def rating_of(doc: Doc) -> float | None:
    """The stars of a document, None where nothing is said of them.

    >>> rating_of(Doc("Fine.", meta={"rating": 4}))
    4.0
    """
    value = doc.meta.get(RATING, doc.sentences[0].meta.get(RATING) if doc.n_sentences else None)
    if value in (None, ""):
        return None
    try:
        stars = float(value)
    except (TypeError, ValueError):
        stars = math.nan
    if not 1 <= stars <= 5:
        raise WeftError(f"{doc!r} has the rating {value!r}: expected a number of stars from 1 to 5")
    return stars


def document_polarity(doc: Doc) -> str:
    """What is said of a whole document: its own label, else the one of its rating, else "".

    >>> document_polarity(Doc("Dull.", meta={"rating": 2})), document_polarity(Doc("Dull."))
    ('neg', '')
    """
    label = doc.meta.get(SENTENCE, doc.sentences[0].meta.get(DOCUMENT, "") if doc.n_sentences else "")
    if label:
        return merged_polarity(str(label))
    stars = rating_of(doc)
    return polarity_of_rating(stars) if stars is not None else ""


def sentence_polarities(doc: Doc) -> list[str]:
    """The polarity of every sentence, "" where it has none.

    >>> doc = Doc.from_words([["Dull", "plot"], ["Superb", "acting"]])
    >>> set_polarities(doc, ["neg", "pos"], "neg")
    >>> sentence_polarities(doc), doc.comments[1]
    (['neg', 'pos'], ('# sentiment = pos',))
    """
    return [merged_polarity(sentence.meta.get(SENTENCE, "")) for sentence in doc.sentences]


def set_polarities(
    doc: Doc,
    sentences: Sequence[str],
    document: str = "",
    probabilities: Sequence[Sequence[float]] | None = None,
    document_probabilities: Sequence[float] | None = None,
) -> None:
    """Write the polarities of a document's sentences and of itself ("": none), in place of those it has.

    Probabilities, in the order of `POLARITIES`, are comments too: `# sentiment_probability = pos:0.2 neg:0.7 neu:0.1`.
    """
    if len(sentences) != doc.n_sentences:
        raise WeftError(f"{len(sentences)} polarities for the {doc.n_sentences} sentences of {doc!r}")
    ours = (SENTENCE, DOCUMENT, SENTENCE + _CHANCE, DOCUMENT + _CHANCE)
    for number, label in enumerate(sentences):
        lines = [line for line in doc.comments[number] if line[1:].split("=", 1)[0].strip() not in ours]
        if document and not number:
            lines += _comments(DOCUMENT, document, document_probabilities)
        if label:
            lines += _comments(SENTENCE, label, None if probabilities is None else probabilities[number])
        doc.comments[number] = tuple(lines)
    doc.meta.pop(SENTENCE, None)
    if document:
        doc.meta[SENTENCE] = merged_polarity(document)


def sentence_probabilities(doc: Doc) -> list[dict[str, float]]:
    """The probabilities of every sentence's polarities, none where nothing is noted.

    >>> doc = Doc.from_words([["Dull"]])
    >>> set_polarities(doc, ["neg"], probabilities=[[0.2, 0.7, 0.1]])
    >>> sentence_probabilities(doc)
    [{'pos': 0.2, 'neg': 0.7, 'neu': 0.1}]
    """
    found = []
    for sentence in doc.sentences:
        pairs = (item.partition(":") for item in sentence.meta.get(SENTENCE + _CHANCE, "").split())
        found.append({name: float(value) for name, _, value in pairs})
    return found


def _comments(name: str, label: str, probabilities: Sequence[float] | None) -> list[str]:
    lines = [f"# {name} = {merged_polarity(label)}"]
    if probabilities is not None:
        values = " ".join(f"{each}:{float(p):.3g}" for each, p in zip(POLARITIES, probabilities, strict=True))
        lines.append(f"# {name}{_CHANCE} = {values}")
    return lines
