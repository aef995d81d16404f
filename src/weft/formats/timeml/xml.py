"""TimeML: text with time expressions marked inline.

    <TimeML><DOCID>a1</DOCID><DCT><TIMEX3 tid="t0" type="DATE" value="1998-03-01" functionInDocument="CREATION_TIME">
    03/01/98</TIMEX3></DCT><TEXT>They met on <TIMEX3 tid="t1" type="DATE" value="1998-02-27">Friday</TIMEX3>.</TEXT>
    </TimeML>

| element | becomes |
|---|---|
| `DOCID` | the document's name |
| `TIMEX3` with a `functionInDocument` of `CREATION_TIME` or inside `DCT` | `doc.meta["date"]` |
| `TIMEX3` inside `TEXT` | a span of the layer `times`: its type as label, all other attributes kept |
| `EVENT`, `SIGNAL` | a span of the layers `events` and `signals` with all attributes |
| `TLINK`, `SLINK`, `ALINK`, `MAKEINSTANCE` | kept as rows of `doc.meta["links"]` |

Spans are counted in characters of the text, so offsets survive exactly. One file is one document.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from xml.sax.saxutils import escape, quoteattr

from weft.errors import FormatError, WeftError
from weft.formats.gate import admitted
from weft.formats.streams import Faults, document_name, open_output, raw_blocks
from weft.formats.xml.reader import Attributes, XmlReader
from weft.text.conventions.times import DATE, LAYER
from weft.text.doc import Doc
from weft.text.layers import SpanLayer
from weft.text.strings import StringTable

_MARKED = {"TIMEX3": LAYER, "EVENT": "events", "SIGNAL": "signals"}
_LINKS = ("TLINK", "SLINK", "ALINK", "MAKEINSTANCE")
_LABEL = {"TIMEX3": "type", "EVENT": "class"}
_HEAD = '<?xml version="1.0" ?>\n<TimeML xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">\n'


class _Reader(XmlReader):
    """Collects the text and the marked spans of a document."""

    def __init__(self, path: str) -> None:
        super().__init__(path, declared=False)
        self.stack: list[str] = []
        self.text: list[str] = []
        self.length = 0
        self.name: list[str] = []
        self.date = ""
        self.open: list[tuple[str, dict[str, str], int]] = []
        self.spans: list[tuple[str, dict[str, str], int, int]] = []
        self.links: list[dict[str, str]] = []
        self.seen = False

    def start(self, tag: str, attributes: Attributes) -> None:
        self.stack.append(tag)
        if tag == "TimeML":
            self.seen = True
        created = attributes.get("functionInDocument") == "CREATION_TIME" or "DCT" in self.stack
        if tag == "TIMEX3" and created and not self.date:
            self.date = attributes.get("value", "")
        if tag in _MARKED and "TEXT" in self.stack:
            self.open.append((tag, dict(attributes), self.length))
        elif tag in _LINKS:
            self.links.append({"element": tag, **attributes})

    def end(self, tag: str) -> None:
        self.stack.pop()
        if self.open and self.open[-1][0] == tag and "TEXT" in self.stack:
            kind, attributes, start = self.open.pop()
            if self.length > start:
                self.spans.append((kind, attributes, start, self.length))

    def characters(self, text: str) -> None:
        if "TEXT" in self.stack:
            self.text.append(text)
            self.length += len(text)
        elif self.stack and self.stack[-1] in ("DOCID", "DOCNO"):
            self.name.append(text)

    def doc(self) -> Doc:
        if not self.seen:
            raise FormatError(self.path, 1, "a TimeML element", "none")
        text, strings = "".join(self.text), StringTable()
        doc = Doc(text, strings, {"id": "".join(self.name).strip() or document_name(self.path)})
        if self.date:
            doc.meta[DATE] = self.date
        layers = {LAYER: SpanLayer(strings, "chars")}
        for kind, attributes, start, end in sorted(self.spans, key=lambda span: (span[2], -span[3])):
            layer = layers.setdefault(_MARKED[kind], SpanLayer(strings, "chars"))
            own = dict(attributes)
            label = own.pop(_LABEL.get(kind, ""), kind)
            name = own.pop("tid", "") or own.pop("eid", "") or own.pop("sid", "")
            layer.add([(start, end)], label, name, **own)
        doc.spans.update(layers)
        if self.links:
            doc.meta["links"] = self.links
        return doc


def read(path: str, faults: Faults | None = None, *, encoding: str = "utf-8") -> Iterator[Doc]:
    """The document in a file."""
    faults = faults or Faults()
    reader = _Reader(path)
    try:
        for block in raw_blocks(path):
            reader.feed(block)
        reader.feed(b"", last=True)
        doc = reader.doc()
    except FormatError as error:
        faults.meet(error)
        return
    yield from admitted(path, [(1, doc)], faults)


def parse(text: str, name: str = "text") -> Doc:
    """Parse a TimeML text.

    >>> doc = parse('<TimeML><DCT><TIMEX3 tid="t0" type="DATE" value="1998-03-01">x</TIMEX3></DCT><TEXT>See you on '
    ...             '<TIMEX3 tid="t1" type="DATE" value="1998-03-06">Friday</TIMEX3>.</TEXT></TimeML>')
    >>> doc.times, doc.meta["date"]
    ([Timex('Friday', 'DATE', '1998-03-06')], '1998-03-01')
    """
    reader = _Reader(name)
    reader.feed(text.encode(), last=True)
    return reader.doc()


def write(docs: Iterable[Doc], path: str) -> int:
    """Write documents as TimeML; a file holds one, so several are an error."""
    count = 0
    with open_output(path) as file:
        for doc in docs:
            count += 1
            if count > 1:
                raise WeftError("a TimeML file holds one document; write a folder, or another format")
            file.write(to_text(doc).encode())
    return count


def to_text(doc: Doc) -> str:
    """A document as TimeML; time expressions must not cross each other.

    >>> doc = Doc.from_words([["See", "you", "on", "Friday"]])
    >>> doc.spans["times"] = SpanLayer(doc.strings)
    >>> _ = doc.spans["times"].add([(3, 4)], "DATE", value="2013-08-09")
    >>> to_text(doc).splitlines()[3]
    '<TEXT>See you on <TIMEX3 tid="t1" type="DATE" value="2013-08-09">Friday</TIMEX3></TEXT>'
    """
    marks: list[tuple[int, int, str, str]] = []
    for kind, layer_name in _MARKED.items():
        for index, span in enumerate(doc.span_views(layer_name) if layer_name in doc.spans else []):
            attributes = {key: value for key, value in span.attributes.items() if isinstance(value, str)}
            letter = {"TIMEX3": "t", "EVENT": "e", "SIGNAL": "s"}[kind]
            ids = doc.spans[layer_name].ids
            name = (ids[index] if index < len(ids) else "") or f"{letter}{index + 1}"
            told = {f"{letter}id": name} | ({_LABEL[kind]: span.label} if kind in _LABEL else {}) | attributes
            marks.append((span.start, span.end, kind, "".join(f" {k}={quoteattr(v)}" for k, v in told.items())))
    lines = [_HEAD + f"<DOCID>{escape(doc.id)}</DOCID>"]
    if doc.meta.get(DATE):
        value = quoteattr(str(doc.meta[DATE]).partition(" ")[0])
        lines[0] += (
            f'<DCT><TIMEX3 tid="t0" type="DATE" value={value} functionInDocument="CREATION_TIME">'
            f"{escape(str(doc.meta[DATE]))}</TIMEX3></DCT>"
        )
    lines.append(f"<TEXT>{_inline(doc.text, marks)}</TEXT>")
    for link in doc.meta.get("links", []):
        if not isinstance(link, dict) or link.get("element") not in _LINKS:
            continue  # links of another format
        own = {key: value for key, value in link.items() if key != "element" and isinstance(value, str)}
        lines.append(f"<{link['element']}{''.join(f' {k}={quoteattr(v)}' for k, v in own.items())}/>")
    return "\n".join([*lines, "</TimeML>"]) + "\n"


def _inline(text: str, marks: list[tuple[int, int, str, str]]) -> str:
    out: list[str] = []
    at = 0
    stack: list[tuple[int, str]] = []

    def close(until: int) -> None:
        nonlocal at
        while stack and stack[-1][0] <= until:
            end, kind = stack.pop()
            out.extend((escape(text[at:end]), f"</{kind}>"))
            at = end

    for start, end, kind, attributes in sorted(marks, key=lambda mark: (mark[0], -mark[1])):
        close(start)
        if stack and end > stack[-1][0]:
            raise WeftError(f"TimeML cannot express spans that cross: {text[start:end]!r}")
        out.extend((escape(text[at:start]), f"<{kind}{attributes}>"))
        at = start
        stack.append((end, kind))
    close(len(text))
    return "".join(out) + escape(text[at:])
