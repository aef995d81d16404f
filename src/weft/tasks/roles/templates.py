"""The feature templates of Täckström (2009), in the notation of `weft.features.predicates.templates`.

First-order only: no template joins two properties, which keeps training and labelling fast.
"""

from __future__ import annotations

#: PREDICATEWORD to DEPENDENTSUBCAT, for senses.
SENSE_TEMPLATES = (
    "constant", "pred.form", "pred.pos", "pred.feats",
    "bag.lemma",
    "pred-2.pos", "pred-1.pos", "pred+1.pos", "pred+2.pos",
    "pred-2.feats", "pred-1.feats", "pred+1.feats", "pred+2.feats",
    "pred.deprel", "pgov.form", "pgov.lemma", "pgov.pos", "pgov.feats",
    "deps.deprel", "deps.form", "deps.lemma", "deps.pos", "deps.feats",
    "subcat",
)  # fmt: skip
#: PREDICATELEMMASENSE to GOVERNOR[POS/FEATS], for identifying and labelling arguments.
ARGUMENT_TEMPLATES = (
    "constant", "sense", "pred.pos", "pred.feats", "position",
    "arg.pos", "arg.feats", "arg.form", "arg.lemma",
    "arg-2.lemma", "arg-1.lemma", "arg+1.lemma", "arg+2.lemma",
    "arg-2.pos", "arg-1.pos", "arg+1.pos", "arg+2.pos",
    "arg-2.feats", "arg-1.feats", "arg+1.feats", "arg+2.feats",
    "left.form", "left.pos", "left.feats", "right.form", "right.pos", "right.feats",
    "first.form", "last.pos", "last.feats",
    "path", "trigrams",
    "arg.deprel", "gov.lemma", "gov.pos", "gov.feats",
)  # fmt: skip
#: For finding predicates where none are marked; not part of the paper, whose predicates are given.
PREDICATE_TEMPLATES = (
    "constant", "pred.form", "pred.lemma", "pred.pos", "pred.feats", "pred.lemma+pred.pos", "pred.lemma+pred.deprel",
    "pred-2.pos", "pred-1.pos", "pred+1.pos", "pred+2.pos", "pred-1.lemma", "pred+1.lemma",
    "pred.deprel", "pgov.lemma", "pgov.pos", "deps.deprel", "deps.lemma", "deps.pos", "subcat",
)  # fmt: skip


def without(templates: tuple[str, ...], left_out: str) -> list[str]:
    """Templates without those that have one of some atoms or fields.

    >>> without(("arg.pos", "arg.feats", "trigrams"), "feats trigrams")
    ['arg.pos']
    """
    gone = left_out.replace(",", " ").split()
    return [each for each in templates if each not in gone and each.rpartition(".")[2] not in gone]
