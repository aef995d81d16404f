"""Features of parsers trained on treebanks of other languages (Täckström, McDonald & Nivre 2013).

    delex     direction and length with the tags of head, modifier, and words around and between, for all languages
    bare      length and tags of head and modifier: no word order
    share     bare, plus the direction of some arcs with the typological word order of the language
    similar   share, plus separate delex features for each group of languages with the same traits
    family    share, plus separate delex features for each family

"Some arcs" are the tag pairs in `ARCS`. A language that is alone in its group or family has the features of share
only. Attributes of the language are word fields with the same value for all words of a sentence.
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
#: Length bins: 1, 2, 3, 4 and more.
BINS = 5
FIELDS = {"w": "form.lower", "t": "upos"}
#: Language fields: one shared by all languages, the group, and for each trait in `ARCS` its heads and modifiers.
LANGUAGE_FIELDS = ("o", "g", "A", "a", "B", "b", "C", "c", "D", "d")
#: Traits and the tags of the arcs whose direction they describe. In Universal Dependencies an adposition attaches to
#: its noun, so 85A is about arcs from nouns to adpositions; in treebanks annotated as in the paper, the reverse.
ARCS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "81A": (("VERB",), ("NOUN", "PRON")),
    "85A": (("NOUN", "PRON"), ("ADP",)),
    "86A": (("NOUN",), ("NOUN",)),
    "87A": (("NOUN",), ("ADJ",)),
}
#: The same for treebanks in which adpositions are heads.
FUNCTION_HEADS = {**ARCS, "85A": (("ADP",), ("NOUN", "PRON"))}

AROUND = "h.t|h+1.t|m-1.t|m.t h-1.t|h.t|m-1.t|m.t h.t|h+1.t|m.t|m+1.t h-1.t|h.t|m.t|m+1.t "
DELEX = f"m.o h.t m.t h.t|m.t {AROUND}{BETWEEN}"
_OF_GROUP = (
    "m.g h.t|m.g m.tg h.t|m.tg h.t|h+1.t|m-1.t|m.tg h-1.t|h.t|m-1.t|m.tg h.t|h+1.t|m.tg|m+1.t h-1.t|h.t|m.tg|m+1.t "
    "h.t|b.t|m.tg "
)
BARE = "length: m.o h.t m.t h.t|m.t "
SHARE = f"{BARE}direction: h.A|m.a h.B|m.b h.C|m.c h.D|m.d "
#: Templates of the adapted parser, which can use words of its language: McDonald, Crammer & Pereira (2005).
LEXICALIZED = f"arc: {WORDS}{BETWEEN}{AROUND}"
TEMPLATES = {
    "delex": f"arc: {DELEX}",
    "bare": BARE,
    "share": SHARE,
    "similar": f"{SHARE}arc: {_OF_GROUP}",
    "family": f"{SHARE}arc: {_OF_GROUP}",
}

#: Tags of documents: unchanged, or mapped to the twelve universal ones. With the heads of Universal Dependencies the
#: mapping loses information: an auxiliary, which attaches to its verb, becomes a verb like any other.
TAGS = ("upos", "twelve")
#: Tag inventories beyond the twelve universal tags.
_TWELVE = {np.uint64(hash_string(one)): np.uint64(hash_string(tag)) for one, tag in OF_UPOS.items() if one != tag}
_NOUN, _NAME = (np.uint64(hash_string(tag)) for tag in ("NOUN", "PROPN"))
_NOTHING = np.uint64(0)


def transfer_program(templates: str, fields: Mapping[str, str]) -> TreeProgram:
    """Compile templates over the fields of words and languages.

    >>> transfer_program(TEMPLATES["share"], FIELDS).arc.ends.tolist()
    [0, 4, 8]
    """
    return compile_tree_templates(templates, [*fields, *LANGUAGE_FIELDS], BINS)


def partners(share: str, table: Typology, languages: Iterable[str]) -> dict[str, str]:
    """The name of every language's group or family; empty if no other given language belongs to it.

    >>> from weft.lexical.typology import typology
    >>> partners("family", typology(), ["es", "de", "tr", "eu"])
    {'es': 'de es', 'de': 'de es', 'tr': '', 'eu': ''}
    >>> partners("share", typology(), ["es", "pt"])
    {'es': '', 'pt': ''}
    """
    codes = list(languages)
    groups = {"similar": table.groups, "family": table.families}
    shared = groups[share](codes) if share in groups else []
    named = {code: " ".join(sorted(group)) for group in shared for code in group}
    return {code: named.get(code, "") for code in codes}


class TransferReader(TreeReader):
    """Reads documents with language fields and, optionally, the twelve universal tags.

    `groups` are the names that `partners` returns; `target` is the language of documents without another one. Traits
    treat proper nouns as nouns.

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
        """As other readers, with the languages of documents unless they are in the target language."""
        words, feats, sentences = super().read(docs)
        values = words.values
        tags = values[:, self._tag]
        if self._twelve:
            for other, tag in _TWELVE.items():
                tags[tags == other] = tag
        classes = np.where(tags == _NAME, _NOUN, tags)
        # ROOT belongs to no language and lacks these fields; every arc has a modifier that has them.
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
