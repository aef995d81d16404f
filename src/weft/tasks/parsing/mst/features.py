"""Features of graph-based parsers: templates for each order, and words with their morphological features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from weft.errors import ConfigError
from weft.features.morphology import Morphology, MorphologyReader
from weft.learn.trees.features import TreeWords
from weft.tasks.parsing.relation_features import AFFIX_FIELDS
from weft.tasks.parsing.transitions.features import CLUSTER_FIELDS, WordReader
from weft.text.doc import Doc

#: Fields of templates: columns of documents, with an attribute of `weft.features.attributes` after a dot.
FIELDS = {
    "w": "form.lower", "t": "upos", "x": "xpos", "m": "lemma", "f": "feats", "p": "form.prefix5", **AFFIX_FIELDS,
}  # fmt: skip

#: First-order templates of McDonald, Crammer & Pereira (2005): words alone, pairs, words between, words around.
WORDS = "h.wt,w,t m.wt,w,t h.wt|m.wt h.t|m.wt h.w|m.wt h.wt|m.t h.wt|m.w h.w|m.w h.t|m.t "
BETWEEN = "h.t|b.t|m.t "
AROUND = (
    "h.t|h+1.t|m-1.t|m.t h-1.t|h.t|m-1.t|m.t h.t|h+1.t|m.t|m+1.t h-1.t|h.t|m.t|m+1.t "
    "h.t|h+1.t|m.t h.t|m-1.t|m.t h-1.t|h.t|m.t h.t|m.t|m+1.t "
)
#: The same with fine-grained tags and lemmas, and prefixes of words.
FINE = (
    "h.x m.x h.x|m.x h.w|m.x h.x|m.w h.x|h+1.x|m-1.x|m.x h-1.x|h.x|m-1.x|m.x h.x|h+1.x|m.x|m+1.x h-1.x|h.x|m.x|m+1.x "
    "h.m m.m h.m|m.m h.m|m.t h.t|m.m "
)
#: More context, after Koo & Collins (2010): forms, wider windows, and pairs of fine-grained tags.
WIDER = (
    "h.wx|m.wx h.x|m.wx h.wx|m.x h.x|h+1.x|m.x h.x|m-1.x|m.x h-1.x|h.x|m.x h.x|m.x|m+1.x "
    "h.t|m-1.w|m.t h.w|m-1.w|m.t h.t|m+1.w|m.t h.t|h+1.w|m.t h.w|m-1.w|m.w "
    "h.t|m-2.t|m-1.t|m.t h.t|m.t|m+1.t|m+2.t m-1.t|m.t|m+1.t h-1.t|h.t|h+1.t "
)
PREFIXES = "h.p,pt m.p,pt h.pt|m.pt h.t|m.pt h.pt|m.t h.p|m.p "
#: Two-stage parsers (McDonald, Lerman & Pereira 2006) add single morphological features and their pairs.
MORPHOLOGY = "h.F m.F h.F|m.F h.f|m.f h.tf|m.t h.t|m.tf "
#: McDonald & Pereira (2006).
SIBLING = "h.t|s.t|m.t s.t|m.t s.w|m.w s.w|m.t s.t|m.w h.t|s.t|m.w h.w|s.t|m.t h.t|s.w|m.t h.x|s.x|m.x s.x|m.x "
#: After Koo & Collins (2010).
GRAND = "g.t|h.t|m.t g.t|m.t g.w|m.w g.w|m.t g.t|m.w g.w|h.t|m.t g.t|h.w|m.t g.t|h.t|m.w g.x|h.x|m.x g.x|m.x "
GRANDSIB = (
    "g.t|h.t|s.t|m.t g.t|s.t|m.t g.w|h.t|s.t|m.t g.t|h.w|s.t|m.t g.t|h.t|s.w|m.t g.t|h.t|s.t|m.w g.x|h.x|s.x|m.x "
    "g.t|g+1.t|h.t|s.t|s+1.t|m.t|m+1.t "
)
#: Word clusters, as full paths and path prefixes, after Koo, Carreras & Collins (2008), by kind of part.
CLUSTERS = {
    "arc": "h.c,d,e m.c,d,e h.c|m.c h.d|m.d h.e|m.e h.c|m.t h.t|m.c h.e|m.t h.t|m.e h.w|m.c h.c|m.w h.d|b.t|m.d ",
    "sibling": "h.d|s.d|m.d s.d|m.d s.c|m.c s.c|m.t s.t|m.c h.t|s.t|m.c ",
    "grand": "g.d|h.d|m.d g.d|m.d g.c|m.c g.c|m.t g.t|m.c g.t|h.t|m.c ",
    "grandsib": "g.d|h.d|s.d|m.d ",
}
CROSSED = "h.t|m.t h.wt m.wt h.t m.t h.w|m.t h.t|m.w h.x|m.x "


#: Features of the arc filter: nearly as accurate as all of the above, and twice as fast.
FILTER = f"arc: h.t,x,wt m.t,x,wt h.t|m.t h.x|m.x h.wt|m.t h.t|m.wt h.w|m.w {BETWEEN}{AROUND}"
#: What another parser predicts about an arc: that it exists, or that it crosses a predicted arc.
GUIDED = "a.1 a.1|h.t a.1|m.t a.1|h.t|m.t a.2 a.2|h.t|m.t "


def templates_of(order: int, morphology: bool = True, guided: bool = False, clustered: bool = False) -> str:
    """The templates of an order; `clustered` adds those of `CLUSTER_FIELDS`.

    >>> templates_of(1, morphology=False).split(": ")[0]
    'arc'
    """
    classes = CLUSTERS if clustered else dict.fromkeys(CLUSTERS, "")
    text = f"arc: {WORDS}{BETWEEN}{AROUND}{FINE}{WIDER}{PREFIXES}{MORPHOLOGY if morphology else ''}{classes['arc']}"
    text += GUIDED if guided else ""
    if order > 1:
        text += f"sibling: {SIBLING}{classes['sibling']}"
    if order > 2:
        text += f"grand: {GRAND}{classes['grand']}grandsib: {GRANDSIB}{classes['grandsib']}crossed: {CROSSED}"
    return text


def has_clusters(fields: Mapping[str, str]) -> bool:
    """Whether fields are bound to the word clusters that the templates of an order need.

    >>> has_clusters({"w": "form"}), has_clusters({"w": "form", **CLUSTER_FIELDS})
    (False, True)
    """
    return CLUSTER_FIELDS.items() <= fields.items()


def check_clusters(clusters: str, fields: Mapping[str, str]) -> None:
    """Raise an error if no template would use the word clusters.

    >>> check_clusters("words.paths", {"w": "form", "c": "form.cluster"})
    >>> check_clusters("words.paths", {"w": "form"})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    weft.errors.ConfigError: no field is bound to word clusters: add one, such as c=form.cluster, and name it ...
    """
    if clusters and not any(".cluster" in binding for binding in fields.values()):
        raise ConfigError(
            "no field is bound to word clusters: add one, such as c=form.cluster, and name it in templates"
        )


class TreeReader:
    """Converts documents to the input of tree models and of the relation labeller.

    >>> doc = Doc.from_words([["sie", "geht"]], feats=[["A=b|C=d", ""]])
    >>> words, feats, sentences = TreeReader({"w": "form"}).read([doc])
    >>> words.values.shape, words.set_offsets.tolist(), sentences.tolist()
    ((3, 1), [0, 0, 2, 2], [0, 2])
    """

    def __init__(self, fields: Mapping[str, str], clusters: Mapping[str, str] | None = None) -> None:
        self._words = WordReader(fields, clusters)
        self._feats = MorphologyReader()

    def read(self, docs: Sequence[Doc]) -> tuple[TreeWords, Morphology, NDArray[np.int64]]:
        """Words, with ROOT first, their morphological features, and the sentence offsets."""
        values, sentences = self._words.read(docs)
        feats = self._feats.read(docs)
        return TreeWords(values, np.concatenate([[0], feats.offsets]), feats.values), feats, sentences
