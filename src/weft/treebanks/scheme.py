"""Annotation schemes: the tags and relations that trees may have, and the constraints between them.

The *universal* scheme is that of the Universal Dependency Treebank (McDonald et al., ACL 2013): twelve tags and forty
relations after Stanford dependencies, with adpositions and copulas as heads. *ud* is Universal Dependencies, version 2,
with content words as heads; its relations may have subtypes (`nsubj:pass`).
"""

from __future__ import annotations

from dataclasses import dataclass

from weft.errors import ConfigError
from weft.lexical.universal_tags import OF_UPOS, UNIVERSAL_TAGS

#: The forty relations and their meanings.
UNIVERSAL_RELATIONS = {
    "acomp": "adjectival complement", "adp": "adposition", "adpcomp": "complement of adposition",
    "adpmod": "adpositional modifier", "adpobj": "object of adposition", "advcl": "adverbial clause modifier",
    "advmod": "adverbial modifier", "amod": "adjectival modifier", "appos": "apposition", "attr": "attribute",
    "aux": "auxiliary", "auxpass": "passive auxiliary", "cc": "conjunction", "ccomp": "clausal complement",
    "compmod": "compound modifier", "conj": "conjunct", "cop": "copula", "csubj": "clausal subject",
    "csubjpass": "passive clausal subject", "dep": "generic", "det": "determiner", "dobj": "direct object",
    "expl": "expletive", "infmod": "infinitival modifier", "iobj": "indirect object", "mark": "marker",
    "mwe": "multi-word expression", "neg": "negation", "nmod": "noun modifier", "nsubj": "nominal subject",
    "nsubjpass": "passive nominal subject", "num": "numeric modifier", "p": "punctuation", "parataxis": "parataxis",
    "partmod": "participial modifier", "poss": "possessive", "prt": "particle", "rcmod": "relative clause modifier",
    "rel": "relative", "xcomp": "open clausal complement",
}  # fmt: skip
ROOT = "ROOT"

UD_RELATIONS = (
    "acl", "advcl", "advmod", "amod", "appos", "aux", "case", "cc", "ccomp", "clf", "compound", "conj", "cop", "csubj",
    "dep", "det", "discourse", "dislocated", "expl", "fixed", "flat", "goeswith", "iobj", "list", "mark", "nmod",
    "nsubj", "nummod", "obj", "obl", "orphan", "parataxis", "punct", "reparandum", "root", "vocative", "xcomp",
)  # fmt: skip


@dataclass(frozen=True)
class Scheme:
    """Tags, relations, the root relation, and relations restricted to some tags or to heads with some tags."""

    name: str
    tags: frozenset[str]
    relations: frozenset[str]
    root: str
    subtypes: bool  # whether any subtype may follow a colon
    dependent_tags: dict[str, frozenset[str]]
    head_tags: dict[str, frozenset[str]]
    head_first: frozenset[str]  # relations of words that follow their heads

    def knows(self, relation: str) -> bool:
        """Whether a relation belongs to the scheme.

        >>> SCHEMES["ud"].knows("nsubj:pass"), SCHEMES["universal"].knows("nsubj:pass")
        (True, False)
        """
        return (relation.partition(":")[0] if self.subtypes else relation) in self.relations


def _tags(*names: str) -> frozenset[str]:
    return frozenset(names)


SCHEMES = {
    "universal": Scheme(
        "universal", frozenset(UNIVERSAL_TAGS), frozenset((*UNIVERSAL_RELATIONS, ROOT)), ROOT, False,
        {"det": _tags("DET"), "p": _tags(".")}, {"adpobj": _tags("ADP"), "adpcomp": _tags("ADP")},
        frozenset(("conj", "cc")),
    ),
    "ud": Scheme(
        "ud", frozenset(OF_UPOS) - {"CONJ"}, frozenset(UD_RELATIONS), "root", True,
        {"punct": _tags("PUNCT"), "aux": _tags("AUX"), "cop": _tags("AUX", "PRON", "DET")}, {},
        frozenset(("conj", "fixed", "flat", "goeswith", "appos")),
    ),
}  # fmt: skip


def scheme_named(name: str) -> Scheme:
    """A scheme by name.

    >>> len(scheme_named("universal").relations)
    41
    """
    if name not in SCHEMES:
        raise ConfigError(f"unknown annotation scheme {name!r}; choose from {', '.join(SCHEMES)}")
    return SCHEMES[name]
