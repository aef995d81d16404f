"""Cues and scopes in text, in the XML of BioScope and the CoNLL-2010 shared task.

    <sentence id="S1.7">They <xcope id="X1.7.1"><cue type="speculation" ref="X1.7.1">may</cue> bind</xcope>.</sentence>

| element | becomes |
|---|---|
| `Document`, `DocID` | a document; its name is the DocID |
| `DocumentPart type` | `# newpar` on its first sentence, `# part = TYPE` on all of its sentences |
| `sentence id` | a sentence and its comment `# sent_id`; words are split by rule |
| `cue type ref` | a span `cue` in the layer named by its type (`speculation`, `negation`), one piece per element |
| `xcope id` | a span `scope` in the layer of its cue, and a relation from the cue to it |
| `ccue` (Wikipedia) | a cue in `speculation` without a scope |
| `certainty="uncertain"`, or a speculation cue | a span `uncertain` in `speculation` over the sentence |

Spans are character offsets into the text, so offsets survive exactly. Whitespace at both ends of a sentence is not
kept. XML cannot express crossing scopes; writing them is an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from weft.errors import FormatError, WeftError
from weft.formats.gate import admitted
from weft.formats.streams import Faults, open_output, raw_blocks, unsplit_error
from weft.formats.xml.reader import Attributes, XmlReader
from weft.text.conventions.hedges import CUE, LAYER, SCOPE, UNCERTAIN
from weft.text.doc import Doc
from weft.text.layers import RelationLayer, SpanLayer, chars_of_words
from weft.text.strings import StringTable
from weft.text.words import word_spans

_FRAME = ("Annotation", "DocumentSet", "Document", "DocID", "DocumentPart", "sentence")
_INSIDE = ("xcope", "cue", "ccue")
_HEAD = (
    '<?xml version="1.0" encoding="utf-8"?>\n'
    '<!DOCTYPE Annotation PUBLIC "-//BIOSCOPE//DTD  SCOPE ANNOTATION 1.0//EN" "BioScope.dtd">\n'
)
_LONGEST_ENTITY = 50


@dataclass
class _Element:
    """An element inside a sentence and the character range it covers in the document."""

    tag: str
    attributes: Attributes
    start: int
    end: int = -1
    around: _Element | None = None


@dataclass
class _Sentence:
    attributes: Attributes
    part: str
    new_part: bool
    start: int
    end: int = -1
    elements: list[_Element] = field(default_factory=list)


def read(path: str, faults: Faults | None = None, *, encoding: str = "utf-8") -> Iterator[Doc]:
    """The documents in a file."""
    faults = faults or Faults()
    reader = _Reader(path, encoding)
    try:
        for block in raw_blocks(path):
            yield from admitted(path, reader.documents(block), faults)
        yield from admitted(path, reader.documents(b"", last=True), faults)
    except FormatError as error:
        faults.meet(error)


def write(docs: Iterable[Doc], path: str) -> int:
    """Write documents as XML and return their number."""
    count = 0
    with open_output(path) as file:
        for doc in docs:
            if not count:
                file.write((_HEAD + f"<Annotation{_attributes(doc.meta.get('annotation', {}))}>\n").encode())
                file.write(b"\t<DocumentSet>\n")
            file.write(to_text(doc).encode())
            count += 1
        if not count:
            file.write((_HEAD + "<Annotation>\n\t<DocumentSet>\n").encode())
        file.write(b"\t</DocumentSet>\n</Annotation>\n")
    return count


def parse(text: str, name: str = "text") -> list[Doc]:
    """Parse the documents in an XML text.

    >>> doc, = parse('<Annotation><Document><DocID>1</DocID><DocumentPart type="Title"><sentence id="S1.1">It '
    ...              '<xcope id="X1"><cue type="speculation" ref="X1">may</cue> rain</xcope>.</sentence>'
    ...              '</DocumentPart></Document></Annotation>')
    >>> doc.span_views("speculation")
    [Span('It may rain.', 'uncertain'), Span('may rain', 'scope'), Span('may', 'cue')]
    """
    return list(admitted(name, _Reader(name, "utf-8").documents(text.encode(), last=True), Faults()))


def to_text(doc: Doc) -> str:
    """A document as a `Document` element.

    >>> from weft.text.conventions.hedges import Hedge, set_hedges
    >>> doc = Doc.from_words([["It", "may", "rain"]])
    >>> set_hedges(doc, [[Hedge((1,), (1, 3))]])
    >>> sentence = to_text(doc).splitlines()[3].strip()
    >>> sentence.partition(">")[2]
    'It <xcope id="X1.1.1"><cue type="speculation" ref="X1.1.1">may</cue> rain</xcope></sentence>'
    """
    if doc.text.strip() and not doc.n_words:
        raise unsplit_error(doc, "BioScope XML")
    spans = _spans(doc)
    kind = doc.meta.get("type")
    lines = [f"\t\t<Document{_attributes({'type': kind} if kind else {})}>"]
    id_type = doc.meta.get("id_type")
    lines.append(f"\t\t\t<DocID{_attributes({'type': id_type} if id_type else {})}>{escape(doc.id)}</DocID>")
    part: str | None = None
    for number, sentence in enumerate(doc.sentences):
        if not len(sentence):
            continue
        meta = sentence.meta
        named = meta.get("part", "Text")
        if named != part or any(line.strip("# ") == "newpar" for line in doc.comments[number]):
            lines += ["\t\t\t</DocumentPart>"] if part is not None else []
            lines.append(f"\t\t\t<DocumentPart{_attributes({'type': named})}>")
            part = named
        start, end = sentence[0].start, sentence[-1].end
        attributes = {"id": meta.get("sent_id", f"S1.{number + 1}")}
        if doc.meta.get("certainty"):
            unsure = any(each.tag == UNCERTAIN and start <= each.start < end for each in spans)
            attributes["certainty"] = "uncertain" if unsure else "certain"
        inside = [each for each in spans if each.tag != UNCERTAIN and start <= each.start < end]
        body = _marked(doc, start, end, inside, number)
        lines.append(f"\t\t\t\t<sentence{_attributes(attributes)}>{body}</sentence>")
    lines += ["\t\t\t</DocumentPart>"] if part is not None else []
    return "\n".join([*lines, "\t\t</Document>"]) + "\n"


class _Reader(XmlReader):
    """Builds documents as the parser encounters their elements."""

    def __init__(self, path: str, encoding: str) -> None:
        super().__init__(path, encoding)
        self.parser.SkippedEntityHandler = self._unknown_entity
        self.parser.ExternalEntityRefHandler = self._outside
        self.strings = StringTable()
        self.done: list[tuple[int | None, Doc]] = []
        self.annotation: Attributes = {}
        self._clear({})

    def documents(self, block: bytes, last: bool = False) -> list[tuple[int | None, Doc]]:
        """The documents completed within a block, with the lines where they end."""
        self.done = []
        self.feed(block, last)
        return self.done

    def _clear(self, attributes: Attributes) -> None:
        self.kind = attributes
        self.name: list[str] | None = None
        self.id, self.id_type = "", ""
        self.part, self.new_part = "Text", False
        self.pieces: list[str] = []
        self.length = 0
        self.sentences: list[_Sentence] = []
        self.sentence: _Sentence | None = None
        self.open: list[_Element] = []

    def start(self, tag: str, attributes: Attributes) -> None:
        if self.sentence is not None:
            self._open(tag, attributes)
        elif tag not in _FRAME:
            self.fault(f"one of the elements {', '.join(_FRAME)}", f"<{tag}>")
        elif tag == "Annotation":
            self.annotation = attributes
        elif tag == "Document":
            self._clear(attributes)
        elif tag == "DocID":
            self.name, self.id_type = [], attributes.get("type", "")
        elif tag == "DocumentPart":
            self.part, self.new_part = attributes.get("type", "Text"), True
        elif tag == "sentence":
            if self.length:
                self._add("\n" if self.new_part else " ")
            self.sentence = _Sentence(attributes, self.part, self.new_part, self.length)
            self.new_part = False

    def _open(self, tag: str, attributes: Attributes) -> None:
        needed = {"xcope": "id", "cue": "ref", "ccue": ""}.get(tag)
        if needed is None:
            self.fault(f"one of the elements {', '.join(_INSIDE)} in a sentence", f"<{tag}>")
        elif needed and needed not in attributes:
            self.fault(f'<{tag} {needed}="...">', f"<{tag}> without it")
        elif self.sentence is not None:
            around = self.open[-1] if self.open else None
            self.open.append(_Element(tag, attributes, self.length, around=around))
            self.sentence.elements.append(self.open[-1])

    def end(self, tag: str) -> None:
        if tag in _INSIDE:
            element = self.open.pop()
            element.end = self.length
            if element.start == element.end:
                self.fault(f"text in <{tag}>", "none")
        elif tag == "sentence" and self.sentence is not None:
            self.sentence.end = self.length
            self.sentences.append(self.sentence)
            self.sentence = None
        elif tag == "DocID":
            self.id, self.name = "".join(self.name or []).strip(), None
        elif tag == "Document":
            try:
                self.done.append((self.line, self._document()))
            except FormatError:
                raise
            except WeftError as error:
                self.fault("a valid document", f"a fault: {error}")

    def characters(self, text: str) -> None:
        if self.sentence is not None:
            self._add(text)
        elif self.name is not None:
            self.name.append(text)

    def entity(self, name: str, parameter: bool, value: str | None, *_: object) -> None:
        """Entities may stand for a few characters; others can expand without bound, or name files to read."""
        if value is None:
            self.fault("no entities from other files", f"the entity {name[:40]!r}, which is not read")
        elif "&" in value or "%" in value or len(value) > _LONGEST_ENTITY:
            self.fault("entities of a few plain characters", f"the entity {name[:40]!r}")

    def _unknown_entity(self, name: str, _parameter: bool) -> None:
        self.fault("entities that the file declares", f"&{name[:40]};")

    def _outside(self, context: str | None, *_: object) -> int:
        self.fault("no entities from other files", f"&{(context or '')[:40]};")
        return 0

    def _add(self, text: str) -> None:
        self.pieces.append(text)
        self.length += len(text)

    def _document(self) -> Doc:
        meta: dict[str, Any] = {}
        for name, value in (("id", self.id), ("id_type", self.id_type), ("type", self.kind.get("type", ""))):
            if value:
                meta[name] = value
        if self.annotation:
            meta["annotation"] = dict(self.annotation)
        if any("certainty" in sentence.attributes for sentence in self.sentences):
            meta["certainty"] = True
        doc = Doc("".join(self.pieces), self.strings, meta)
        words, bounds = [], [0]
        for sentence in self.sentences:
            words += word_spans(doc.text, sentence.start, sentence.end)
            bounds.append(len(words))
        doc.set_offsets([start for start, _ in words], [end for _, end in words])
        doc.set_sentences(bounds)
        doc.comments = [_comments(sentence) for sentence in self.sentences]
        for name in dict.fromkeys([LAYER, *_types(self.sentences)]):
            doc.spans[name] = SpanLayer(doc.strings, "chars")
            doc.relations[name] = RelationLayer(doc.strings, name)
        for sentence in self.sentences:
            self._layers(doc, sentence)
        return doc

    def _layers(self, doc: Doc, sentence: _Sentence) -> None:
        """Add the elements of a sentence to the layers, in the order in which they open."""
        # A scope without its own cue (an annotation slip) counts as a speculation scope.
        types = {each.attributes["ref"]: _type(each) for each in sentence.elements if each.tag == "cue"}
        unsure = any(each.tag != "xcope" and _type(each) == LAYER for each in sentence.elements)
        words = word_spans(doc.text, sentence.start, sentence.end)
        if words and (unsure or sentence.attributes.get("certainty") == "uncertain"):
            doc.spans[LAYER].add([(words[0][0], words[-1][1])], UNCERTAIN)
        scopes: dict[str, tuple[str, int]] = {}
        pieces: dict[str, list[tuple[int, int]]] = {}
        for each in sentence.elements:
            if each.tag == "xcope":
                name = each.attributes["id"]
                layer = types.get(name, LAYER)
                depth = _depth(each)
                ties: dict[str, Any] = {"depth": depth} if depth else {}
                scopes[name] = layer, doc.spans[layer].add([(each.start, each.end)], SCOPE, name, **ties)
            elif each.tag == "ccue":
                doc.spans[LAYER].add([(each.start, each.end)], CUE)
            else:
                pieces.setdefault(each.attributes["ref"], []).append((each.start, each.end))
        for name, places in pieces.items():
            layer = types[name]
            cue = doc.spans[layer].add(places, CUE)
            if name in scopes:
                doc.relations[layer].add(cue, scopes[name][1], SCOPE)


def _type(element: _Element) -> str:
    return element.attributes.get("type", LAYER)


def _types(sentences: Iterable[_Sentence]) -> list[str]:
    return [_type(each) for sentence in sentences for each in sentence.elements if each.tag == "cue"]


def _depth(element: _Element) -> int:
    """How many scopes of the same extent enclose a scope, which determines the order in which they are written."""
    around = element.around
    same = around is not None and around.tag == "xcope" and (around.start, around.end) == (element.start, element.end)
    return 1 + _depth(around) if same and around is not None else 0


def _comments(sentence: _Sentence) -> tuple[str, ...]:
    lines = ["# newpar"] if sentence.new_part else []
    lines += [f"# sent_id = {sentence.attributes['id']}"] if "id" in sentence.attributes else []
    return (*lines, f"# part = {sentence.part}")


def _spans(doc: Doc) -> list[_Element]:
    """The cues and scopes of all layers that have any, and the uncertain sentences, as character ranges."""
    elements: list[_Element] = []
    for name in doc.relations:
        if name not in doc.spans or doc.relations[name].spans != name:
            continue
        layer = chars_of_words(doc, doc.spans[name])
        scope_of = {cue: scope for cue, scope, label in doc.relations[name] if label == SCOPE}
        for number, (pieces, label) in enumerate(layer):
            if label in (SCOPE, UNCERTAIN):
                depth = str(layer.attributes.get(number, {}).get("depth", 0))
                attributes = {"id": layer.id(number), "number": f"{name} {number}", "depth": depth}
                elements.append(_Element(label, attributes, pieces[0][0], pieces[-1][1]))
            elif label == CUE:
                ref = f"{name} {scope_of[number]}" if number in scope_of else ""
                elements += [_Element(CUE, {"type": name, "number": ref}, start, end) for start, end in pieces]
    return elements


def _marked(doc: Doc, start: int, end: int, elements: list[_Element], sentence: int) -> str:
    """The text of a sentence with its cues and scopes as nested elements."""
    elements.sort(key=lambda each: (each.start, -each.end, each.tag == CUE, int(each.attributes.get("depth", 0))))
    names: dict[str, str] = {}
    for each in elements:
        if each.tag == SCOPE:
            names[each.attributes["number"]] = each.attributes["id"] or f"X1.{sentence + 1}.{len(names) + 1}"
    out: list[str] = []
    at = start
    open_elements: list[tuple[int, str]] = []

    def close(until: int) -> None:
        nonlocal at
        while open_elements and open_elements[-1][0] <= until:
            stop, tag = open_elements.pop()
            out.append(f"{escape(doc.text[at:stop])}</{tag}>")
            at = stop

    for each in elements:
        close(each.start)
        if each.end > (open_elements[-1][0] if open_elements else end):
            crossing = doc.text[each.start : each.end]
            raise WeftError(
                f"the {each.tag} {crossing!r} of sentence {sentence + 1} of {doc!r} crosses another one or the end of "
                "its sentence, which XML cannot express; repair the spans (weft.text.conventions.hedges.assemble) "
                "or write JSONL instead"
            )
        out.append(escape(doc.text[at : each.start]))
        at = each.start
        ref = names.get(each.attributes["number"])
        if each.tag == SCOPE:
            tag, attributes = "xcope", {"id": ref or ""}
        elif ref is None:
            tag, attributes = "ccue", {}
        else:
            tag, attributes = "cue", {"type": each.attributes["type"], "ref": ref}
        out.append(f"<{tag}{_attributes(attributes)}>")
        open_elements.append((each.end, tag))
    close(end)
    return "".join(out) + escape(doc.text[at:end])


def _attributes(values: Attributes) -> str:
    return "".join(f" {name}={quoteattr(value)}" for name, value in values.items())
