"""Treebank annotation schemes: converters that record every changed arc, a validator, a report of label use."""

from weft.treebanks.convert import CONVERSIONS, convert_docs
from weft.treebanks.scheme import SCHEMES, Scheme, scheme_named
from weft.treebanks.tables import LabelTable
from weft.treebanks.usage import LabelUsage, label_usage
from weft.treebanks.validate import Finding, Suspect, Validator

__all__ = [
    "CONVERSIONS", "SCHEMES", "Finding", "LabelTable", "LabelUsage", "Scheme", "Suspect", "Validator", "convert_docs",
    "label_usage", "scheme_named",
]  # fmt: skip
