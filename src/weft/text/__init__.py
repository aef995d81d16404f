"""What text is: documents of columnar layers, views of them, string tables."""

from weft.text.doc import WORD_COLUMNS, Doc, EmptyNode, Multiword
from weft.text.layers import ClusterLayer, GraphLayer, RelationLayer, SpanLayer, SpanRow
from weft.text.strings import StringTable
from weft.text.views import Sentence, Span, Token, Word

__all__ = [
    "WORD_COLUMNS", "ClusterLayer", "Doc", "EmptyNode", "GraphLayer", "Multiword", "RelationLayer", "Sentence", "Span",
    "SpanLayer", "SpanRow", "StringTable", "Token", "Word",
]  # fmt: skip
