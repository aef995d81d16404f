"""Pictures of documents as SVG and HTML, light and dark, with text alternatives."""

from weft.pictures.arcs import draw_tree
from weft.pictures.display import DocPictures, Picture, pictures_of, sentence_id, show, show_timelines, stacked
from weft.pictures.entities import DrawnEntity, Joined, draw_entity, show_entities
from weft.pictures.heat import draw_heat
from weft.pictures.lines import draw_lines
from weft.pictures.pairs import DrawnPair, draw_pair, show_pairs
from weft.pictures.phrases import draw_phrases
from weft.pictures.scopes import draw_scope
from weft.pictures.sentences import DrawnLink, DrawnText, draw_sentences, drawn_text, show_sentences
from weft.pictures.spans import draw_spans, highlight_spans, span_layers
from weft.pictures.timelines import draw_timeline

__all__ = [
    "DocPictures", "DrawnEntity", "DrawnLink", "DrawnPair", "DrawnText", "Joined", "Picture", "draw_entity",
    "draw_heat", "draw_lines", "draw_pair", "draw_phrases", "draw_scope", "draw_sentences", "draw_spans",
    "draw_timeline", "draw_tree", "drawn_text", "highlight_spans", "pictures_of", "sentence_id", "show",
    "show_entities", "show_pairs", "show_sentences", "show_timelines", "span_layers", "stacked",
]  # fmt: skip
