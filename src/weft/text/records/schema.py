"""The JSON Schema of records, which `--to records`, `Doc.to_dict` and the service give (`weft.text.records.of_doc`)."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]
#: The version of JSON Schema.
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def record_schema() -> Schema:
    """A JSON Schema (2020-12) that describes every field of a record.

    >>> sorted(record_schema()["required"])
    ['id', 'sentences', 'spans', 'text', 'words']
    """
    from weft.text.doc import WORD_COLUMNS

    columns = {name: _text(_COLUMNS[name]) for name in WORD_COLUMNS if name != "form"}
    word = _object(
        "A word; what is not annotated is left out. Columns with other names are strings too.",
        {
            **_characters(),
            "form": _text("The word; of a contraction, one of the words that it stands for."),
            **columns,
            "head": _number("Index in `words` of the word it attaches to; -1 for a root.", least=-1),
            "token": _number("Index of the token, for the words of a contraction, which share it."),
            "confidence": _by_name("Probability of the value in each column.", _probability()),
        },
        required=("start", "end", "form"),
        others={"type": "string"},
    )
    sentence = _object(
        "A sentence: words `first_word` to `end_word`, exclusive.",
        {
            **_characters(),
            "text": _text("Its text."),
            **_words(),
            "id": _text("Its `sent_id`, if it has one."),
            "alternatives": _by_name("The best answers of a task, best first, if they were asked for.", _ALTERNATIVES),
        },
        required=("start", "end", "text", "first_word", "end_word"),
    )
    return {
        "$schema": DIALECT,
        "title": "A document annotated by Weft",
        **_object(
            "Counts begin at 0, ends are exclusive, `start` and `end` count characters (code points) of `text`.",
            {
                "id": _text("The document's name: its path without the suffix, or what its file says; may be empty."),
                "text": _text("The text."),
                "sentences": _list("The sentences in order.", sentence),
                "words": _list("All words in order.", word),
                "spans": _by_name("Entities, chunks, expressions ...: spans by layer.", _list("Spans.", _span())),
                "meta": {"type": "object", "description": "Other facts about the document, such as other columns."},
                "relations": _by_name("Relations between spans, by layer.", _list("Relations.", _relation())),
                "clusters": _by_name("Groups of spans, by layer.", _list("Clusters.", _cluster())),
                "graphs": _by_name("Graphs whose nodes are anchored in spans, by layer.", _graph()),
                "constituents": _list("Phrases, each after its parent.", _phrase()),
            },
            required=("id", "text", "sentences", "words", "spans"),
        ),
    }


_COLUMNS = {
    "lemma": "Dictionary form.", "upos": "Universal part of speech.", "xpos": "Language-specific tag.",
    "feats": "Morphological features, such as `Number=Sing|Person=3`.", "deprel": "Relation to the head.",
    "deps": "Enhanced dependencies, as CoNLL-U writes them.", "misc": "MISC, as CoNLL-U writes it.",
}  # fmt: skip
_ALTERNATIVES: Schema = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "probability": {"type": "number"},
            "labels": {"type": "array", "items": {"type": "string"}, "description": "One label per word."},
        },
        "required": ["probability", "labels"],
    },
}


def _span() -> Schema:
    piece = _object("A piece.", {**_characters(), **_words()}, required=("start", "end"))
    return _object(
        "A span of the text; `first_word` and `end_word` are missing if it was annotated in characters.",
        {
            **_characters(),
            "label": _text("Its label."),
            "text": _text("Its text; pieces are joined by ` ... `."),
            "probability": {"type": ["number", "null"], "description": "Probability of the span, null if unknown."},
            **_words(),
            "pieces": _list("Its pieces, if it has gaps.", piece),
            **_name_and_attributes(),
        },
        required=("start", "end", "label", "text", "probability"),
    )


def _relation() -> Schema:
    return _object(
        "A relation from one span to another.",
        {
            "spans": _text("The layer of both spans."),
            "head": _number("Index of the first span in its layer."),
            "tail": _number("Index of the second span."),
            "label": _text("Its label."),
            **_name_and_attributes(),
        },
        required=("spans", "head", "tail", "label"),
    )


def _cluster() -> Schema:
    members = _list("Indices of spans in their layer.", _number("A span."))
    fields = {"spans": _text("The layer of the spans."), "members": members}
    return _object("Spans that belong together.", fields, required=tuple(fields))


def _graph() -> Schema:
    span = _number("Index of the span it is anchored in, -1 for none.", least=-1)
    node = _object("A node.", {"label": _text("Its label."), "span": span, **_name_and_attributes()}, ("label", "span"))
    ends = {"source": _number("Index of a node."), "target": _number("Index of a node."), "label": _text("Its label.")}
    fields = {
        "spans": _text("The layer of the spans."),
        "nodes": _list("Its nodes.", node),
        "edges": _list("Its edges.", _object("An edge.", ends, required=tuple(ends))),
    }
    return _object("A labelled directed graph.", fields, required=tuple(fields))


def _phrase() -> Schema:
    parent = _number("Index of the phrase above it, -1 for none.", least=-1)
    fields = {**_characters(), "label": _text("Its label."), **_words(), "parent": parent}
    return _object("A phrase of a phrase-structure tree.", fields, required=tuple(fields))


def _characters() -> Schema:
    return {"start": _number("First character."), "end": _number("One past the last character.")}


def _words() -> Schema:
    return {"first_word": _number("Index of its first word."), "end_word": _number("One past its last word.")}


def _name_and_attributes() -> Schema:
    attributes = {"type": "object", "description": "Attributes by name."}
    return {"name": _text("Its name in the file it comes from, such as brat's T1."), "attributes": attributes}


def _object(
    what: str, fields: dict[str, Schema], required: tuple[str, ...] = (), others: Schema | bool = False
) -> Schema:
    return {
        "type": "object",
        "description": what,
        "properties": fields,
        "required": list(required),
        "additionalProperties": others,
    }


def _by_name(what: str, values: Schema) -> Schema:
    return {"type": "object", "description": what, "additionalProperties": values}


def _list(what: str, items: Schema) -> Schema:
    return {"type": "array", "description": what, "items": items}


def _text(what: str) -> Schema:
    return {"type": "string", "description": what}


def _number(what: str, least: int = 0) -> Schema:
    return {"type": "integer", "minimum": least, "description": what}


def _probability() -> Schema:
    return {"type": "number", "minimum": 0, "maximum": 1.001}
