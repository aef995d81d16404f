"""What a format cannot represent, so that a conversion can report what it drops."""

from __future__ import annotations

from collections.abc import Sequence

from weft.text.doc import WORD_COLUMNS, Doc


def lost_layers(doc: Doc, format: str, fields: Sequence[str] | str | None = None) -> set[str]:
    """The layers of a document that a format would lose, with the names of `Doc.has`.

    >>> doc = Doc.from_words([["Dogs", "bark"]], lemma=[["dog", "bark"]], upos=[["NOUN", "VERB"]])
    >>> sorted(lost_layers(doc, "columns")), sorted(lost_layers(doc, "plain")), lost_layers(doc, "conllu")
    (['lemma'], ['lemma', 'tokens', 'upos'], set())
    """
    layers = {f"{kind}/{name}" for kind in ("spans", "relations", "clusters", "graphs") for name in getattr(doc, kind)}
    layers |= {name for name in doc.columns if name != "form" and doc.has(name)}
    layers |= {f"confidence/{name}" for name in doc.confidence}
    layers |= {"head"} if doc.head is not None else set()
    layers |= {"constituents"} if doc.constituents is not None else set()
    layers |= {"tokens"} if doc.n_words else set()
    layers |= {"multiwords"} if doc.multiwords else set()
    layers |= {"empty_nodes"} if doc.empty_nodes else set()
    if format in ("jsonl", "parquet"):
        return set()
    if format == "records":
        return layers & {"empty_nodes"}
    if format == "conllu":
        return layers - {*WORD_COLUMNS, "head", "tokens", "multiwords", "empty_nodes", "spans/coref", "clusters/coref"}
    if format == "coref":
        return layers - {"tokens", "lemma", "xpos", "spans/coref", "clusters/coref"}
    if format == "columns":
        from weft.formats.columns import fields_of, parse_fields

        kept = parse_fields(fields) if fields else fields_of(doc, "IOB2")
        return layers - {f"spans/{item.name}" if item.kind == "spans" else item.name for item in kept} - {"tokens"}
    if format == "streusle":
        return layers - {"tokens", "lemma", "upos", "spans/mwe"}
    if format == "bioscope":
        return layers - {"tokens"} - {f"{kind}/{name}" for name in doc.relations for kind in ("spans", "relations")}
    if format == "anafora":
        return layers - {"tokens", "spans/timeline", "relations/timeline"}
    if format == "xmi":
        return {layer for layer in layers if layer.split("/")[0] not in ("tokens", "spans", "relations")}
    if format == "penn":
        return layers - {"tokens", "xpos" if doc.has("xpos") else "upos", "constituents"}
    if format == "roles":
        return layers - {*WORD_COLUMNS, "head", "tokens", "multiwords", "spans/frames", "relations/frames"}
    if format == "mst":
        return layers - {"tokens", "xpos" if doc.has("xpos") else "upos", "head", "deprel"}
    if format == "conversations":
        return layers - {"tokens", "spans/turns", "spans/phenomena"}
    if format == "times":
        return layers - {"tokens", "spans/times"}
    if format == "timeml":
        return layers - {"tokens", "spans/times", "spans/events", "spans/signals"}
    if format == "tuples":
        return layers - {"tokens", "spans/entities", "relations/relations"}
    if format == "events":
        return layers - {"tokens", "spans/entities", "spans/events", "graphs/events"}
    if format == "opinions":
        return layers - {"tokens", "spans/mentions", "spans/opinions"}
    if format == "wsd":
        return layers - {"tokens", "lemma", "upos", "spans/links"}
    if format in ("links", "nif"):
        return layers - {"tokens", "spans/links"}
    if format in ("label-studio", "doccano", "prodigy"):
        return _lost_by_tools(doc, format, layers)
    if format == "penman":
        return layers - {"tokens", "graphs/amr", "spans/amr"}
    if format == "brat":
        from weft.formats.brat.words import has_trees

        if has_trees(doc):
            return layers & {"constituents", "empty_nodes"}
        return {layer for layer in layers if "/" not in layer or layer.startswith("confidence/")}
    return layers


def _lost_by_tools(doc: Doc, format: str, layers: set[str]) -> set[str]:
    """What annotation tools have no place for: spans of other layers than one, boundaries of sentences, attributes."""
    from weft.formats.exchange.regions import IGNORED, REJECTED, SPANS, relations_of

    if format == "label-studio":
        kept = set(doc.spans)
    elif format == "doccano" or SPANS in doc.spans:
        kept = {SPANS}
    else:
        kept = {next((name for name in (REJECTED, IGNORED) if name in doc.spans), SPANS)}
    related = {name for name, own in doc.relations.items() if own.spans in kept and relations_of(own.spans) == name}
    lost = layers - {f"spans/{name}" for name in kept} - {f"relations/{name}" for name in related}
    if format == "doccano":
        lost |= {f"attributes of spans/{name}" for name in kept & doc.spans.keys() if doc.spans[name].attributes}
    if format == "prodigy":
        lost -= {"tokens"}
        lost |= {"sentences"} if doc.n_sentences > 1 else set()
    return lost | {f"attributes of relations/{name}" for name in related if doc.relations[name].attributes}
