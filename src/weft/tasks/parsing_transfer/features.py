"""What parsers look at that learn from treebanks of other languages (Täckström, McDonald & Nivre 2013).

    delex     direction and length with the tags of head, modifier, words around and between: as if all languages agreed
    bare      length and tags of head and modifier: nothing of the order of words
    share     bare, and the direction of some arcs with what the sentence's language says of their order
    similar   share, and delex apart for each group of languages that agree in all traits
    family    share, and delex apart for each family

Some arcs are the pairs of tags of `ARCS`. A language without a partner in its group or family has the features of
share. Attributes of the language are fields of words, the same for all words of a sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Keys
from weft.features.morphology import Morphology
from weft.features.tree_templates import TreeProgram, compile_tree_templates
from weft.hashing import hash_string
from weft.learn.trees.features import TreeWords
from weft.lexical.typology import TRAITS, Typology
from weft.lexical.universal_tags import OF_UPOS
from weft.tasks.parsing.mst.features import BETWEEN, WORDS, TreeReader
from weft.text.doc import Doc

SHARES = ("delex", "bare", "share", "similar", "family")
#: Lengths told apart: 1, 2, 3, 4 and more.
BINS = 5
FIELDS = {"w": "form.lower", "t": "upos"}
#: Fields of the sentence's language: the same for all, its group, and for each trait of `ARCS` heads and modifiers.
LANGUAGE_FIELDS = ("o", "g", "A", "a", "B", "b", "C", "c", "D", "d")
#: Traits and the tags of the arcs whose direction they tell. In Universal Dependencies an adposition hangs on its noun,
#: so that 85A speaks of nouns with adpositions; in treebanks with heads like those of the paper it is the reverse.
ARCS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "81A": (("VERB",), ("NOUN", "PRON")),
    "85A": (("NOUN", "PRON"), ("ADP",)),
    "86A": (("NOUN",), ("NOUN",)),
    "87A": (("NOUN",), ("ADJ",)),
}
#: The same where adpositions are heads.
FUNCTION_HEADS = {**ARCS, "85A": (("ADP",), ("NOUN", "PRON"))}

AROUND = "h.t|h+1.t|m-1.t|m.t h-1.t|h.t|m-1.t|m.t h.t|h+1.t|m.t|m+1.t h-1.t|h.t|m.t|m+1.t "
DELEX = f"m.o h.t m.t h.t|m.t {AROUND}{BETWEEN}"
_OF_GROUP = (
    "m.g h.t|m.g m.tg h.t|m.tg h.t|h+1.t|m-1.t|m.tg h-1.t|h.t|m-1.t|m.tg h.t|h+1.t|m.tg|m+1.t h-1.t|h.t|m.tg|m+1.t "
    "h.t|b.t|m.tg "
)
BARE = "length: m.o h.t m.t h.t|m.t "
SHARE = f"{BARE}direction: h.A|m.a h.B|m.b h.C|m.c h.D|m.d "
#: Of the adapted parser, which has words of its language to look at: McDonald, Crammer & Pereira (2005).
LEXICALIZED = f"arc: {WORDS}{BETWEEN}{AROUND}"
TEMPLATES = {
    "delex": f"arc: {DELEX}",
    "bare": BARE,
    "share": SHARE,
    "similar": f"{SHARE}arc: {_OF_GROUP}",
    "family": f"{SHARE}arc: {_OF_GROUP}",
}

#: Tags of documents: as they are, or as the twelve universal ones. Under the heads of Universal Dependencies the twelve
#: lose much: an auxiliary, which hangs on its verb, is then a verb like the others.
TAGS = ("upos", "twelve")
#: Values of tags with others than the twelve universal ones.
_TWELVE = {np.uint64(hash_string(one)): np.uint64(hash_string(tag)) for one, tag in OF_UPOS.items() if one != tag}
_NOUN, _NAME = (np.uint64(hash_string(tag)) for tag in ("NOUN", "PROPN"))
_NOTHING = np.uint64(0)


def transfer_program(templates: str, fields: Mapping[str, str]) -> TreeProgram:
    """Templates over the fields of words and of languages.

    >>> transfer_program(TEMPLATES["share"], FIELDS).arc.ends.tolist()
    [0, 4, 8]
    """
    return compile_tree_templates(templates, [*fields, *LANGUAGE_FIELDS], BINS)


def partners(share: str, table: Typology, languages: Iterable[str]) -> dict[str, str]:
    """The group or family of every language, by a name; empty where it has no partner among the languages.

    >>> from weft.lexical.typology import typology
    >>> partners("family", typology(), ["es", "de", "tr", "eu"])
    {'es': 'de es', 'de': 'de es', 'tr': '', 'eu': ''}
    >>> partners("share", typology(), ["es", "pt"])
    {'es': '', 'pt': ''}
    """
    codes = list(languages)
    groups = {"similar": table.groups, "family": table.families}
    found = groups[share](codes) if share in groups else []
    named = {code: " ".join(sorted(group)) for group in found for code in group}
    return {code: named.get(code, "") for code in codes}


class TransferReader(TreeReader):
    """Reads documents with fields of their language, and if asked with the twelve universal tags.

    `groups` are the names of `partners`; `target` is the language of documents of which nothing else is said. To traits
    a name is a noun.

    >>> from weft.lexical.typology import typology
    >>> reader = TransferReader(FIELDS, typology(), {"tr": ""}, "tr")
    >>> words, _, _ = reader.read([Doc.from_words([["ev", "gördü"]], upos=[["NOUN", "VERB"]])])
    >>> words.values.shape, [bool(value) for value in words.values[2, 2:]]  # a verb is a head that 81A speaks of
    ((3, 12), [True, False, True, False, False, False, False, False, False, False])
    """

    def __init__(
        self,
        fields: Mapping[str, str],
        table: Typology,
        groups: Mapping[str, str],
        target: str,
        arcs: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = ARCS,
        twelve: bool = False,
    ) -> None:
        super().__init__(fields)
        self._tag = list(fields).index("t")
        self._groups, self._target, self._twelve = dict(groups), target, twelve
        self._values = {code: dict(zip(TRAITS, table[code].values, strict=True)) for code in groups}
        self._arcs = [(trait, _keys(heads), _keys(modifiers)) for trait, (heads, modifiers) in arcs.items()]

    def read(
        self, docs: Sequence[Doc], languages: Sequence[str] | None = None
    ) -> tuple[TreeWords, Morphology, NDArray[np.int64]]:
        """The same as other readers, with the languages of documents where they are not of the target."""
        words, feats, sentences = super().read(docs)
        values = words.values
        tags = values[:, self._tag]
        if self._twelve:
            for other, tag in _TWELVE.items():
                tags[tags == other] = tag
        classes = np.where(tags == _NAME, _NOUN, tags)
        # ROOT, of no language, has no such fields; every arc has a modifier that has them.
        more = np.zeros((len(values), len(LANGUAGE_FIELDS)), dtype=np.uint64)
        more[1:, 0] = hash_string("any language")
        codes = np.repeat(languages or [self._target] * len(docs), [doc.n_words for doc in docs])
        for code in np.unique(codes).tolist():
            own = np.flatnonzero(codes == code) + 1
            if self._groups[code]:
                more[own, 1] = hash_string(self._groups[code])
            for k, (trait, heads, modifiers) in enumerate(self._arcs):
                value = hash_string(f"{trait} {self._values[code][trait]}") | 1
                head, modifier = np.isin(classes[own], heads), np.isin(classes[own], modifiers)
                more[own, 2 + 2 * k] = np.where(head, classes[own], _NOTHING)
                more[own, 3 + 2 * k] = np.where(modifier, classes[own] * np.uint64(value), _NOTHING)
        values = np.concatenate([values, more], axis=1)
        return TreeWords(values, words.set_offsets, words.sets), feats, sentences


def _keys(tags: Iterable[str]) -> Keys:
    return np.array([hash_string(tag) for tag in tags], dtype=np.uint64)
