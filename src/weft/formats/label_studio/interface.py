"""The labelling interface of a project that can show what documents hold, as Label Studio's XML."""

from __future__ import annotations

from collections.abc import Iterable
from xml.sax.saxutils import quoteattr

from weft.formats.exchange.regions import GAP, labels_of, regions_of
from weft.formats.label_studio.files import TEXT, control_of
from weft.text.doc import Doc


def interface(docs: Iterable[Doc]) -> str:
    """The interface for the labels of spans, documents and relations that occur in documents.

    >>> from weft.text import SpanLayer
    >>> doc = Doc("Ada left.")
    >>> doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 3, "PER")], "chars")
    >>> print(interface([doc]))
    <View>
      <Labels name="label" toName="text">
        <Label value="PER"/>
      </Labels>
      <Text name="text" value="$text"/>
    </View>
    """
    spans: dict[str, dict[str, None]] = {}
    choices: dict[str, dict[str, None]] = {}
    relations: dict[str, None] = {}
    for doc in docs:
        regions, links = regions_of(doc, doc.spans)
        for region in regions:
            spans.setdefault(control_of(region.layer), {})[region.label] = None
        relations |= dict.fromkeys(link.label for link in links)
        for name, labels in labels_of(doc).items():
            choices.setdefault(name, {}).update(dict.fromkeys(labels))
    lines = ["<View>"]
    lines += _block("Relations", "", "Relation", sorted(relations, key=GAP.__eq__)) if relations else []
    for name, found in spans.items():
        lines += _block("Labels", name, "Label", found)
    lines.append(f"  <Text name={quoteattr(TEXT)} value={quoteattr('$' + TEXT)}/>")
    for name, found in choices.items():
        lines += _block("Choices", name, "Choice", found)
    return "\n".join([*lines, "</View>"])


def _block(tag: str, name: str, item: str, values: Iterable[str]) -> list[str]:
    about = f" name={quoteattr(name)} toName={quoteattr(TEXT)}" if name else ""
    rows = [f"    <{item} value={quoteattr(value)}/>" for value in values if value]
    return [f"  <{tag}{about}>", *rows, f"  </{tag}>"]
