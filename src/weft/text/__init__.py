"""What text is: documents of columnar layers, views of them, corpora, string tables, label schemes."""

from weft.text.constituents import Constituent, ConstituentLayer
from weft.text.corpus import Corpus
from weft.text.doc import WORD_COLUMNS, Doc, EmptyNode, Multiword
from weft.text.frames import Argument, Frame, FrameRow, Role
from weft.text.layers import ClusterLayer, GraphLayer, RelationLayer, SpanLayer, SpanRow
from weft.text.strings import StringTable
from weft.text.trees import Tree
from weft.text.views import Sentence, Span, Token, Word

__all__ = [
    "WORD_COLUMNS", "Argument", "ClusterLayer", "Constituent", "ConstituentLayer", "Corpus", "Doc", "EmptyNode",
    "Frame", "FrameRow", "GraphLayer", "Multiword", "RelationLayer", "Role", "Sentence", "Span", "SpanLayer",
    "SpanRow", "StringTable", "Token", "Tree", "Word",
]  # fmt: skip
