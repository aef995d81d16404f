"""Word senses in the XML of the unified evaluation framework (Raganato et al. 2017), with the key file beside it.

    <corpus lang="en" source="demo"><text id="d000"><sentence id="d000.s000">
    <wf lemma="the" pos="DET">the</wf> <instance id="d000.s000.t000" lemma="bank" pos="NOUN">banks</instance> ...

    d000.s000.t000 bank%1:17:01:: bank%1:14:00::             demo.gold.key.txt, beside demo.data.xml

A `text` becomes a document; an instance becomes a word and a span of the layer `links`, whose label is the first sense
key, with further right ones under `also`; without a key its label is NIL. An instance of several words (`grand jury`)
is one word with a space. Tags are those of the universal tag set; `.`, `PRT` and `CONJ` become PUNCT, PART and CCONJ.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from weft.errors import FormatError, WeftError
from weft.formats.gate import admitted
from weft.formats.streams import Faults, numbered_lines, open_output, raw_blocks, unsplit_error
from weft.formats.xml.reader import Attributes, XmlReader
from weft.text.conventions.links import LAYER, NIL
from weft.text.doc import Doc
from weft.text.layers import SpanLayer, words_of_chars
from weft.text.strings import StringTable

TAGS = {".": "PUNCT", "PRT": "PART", "CONJ": "CCONJ"}
_BACK = {upos: tag for tag, upos in TAGS.items()}
_FRAME = ("corpus", "text", "sentence", "wf", "instance")


def read(path: str, faults: Faults | None = None, *, keys: str | None = None) -> Iterator[Doc]:
    """The documents of a file; `keys` is the key file if it has another name than the framework's."""
    faults = faults or Faults()
    gold = read_keys(keys if keys is not None else _beside(path), required=keys is not None)
    reader = _Reader(path, gold)
    try:
        for block in raw_blocks(path):
            yield from admitted(path, reader.documents(block), faults)
        yield from admitted(path, reader.documents(b"", last=True), faults)
    except FormatError as error:
        faults.meet(error)


def read_keys(path: str, required: bool = True) -> dict[str, list[str]]:
    """The sense keys of instances."""
    found: dict[str, list[str]] = {}
    if not required and not os.path.exists(path):
        return found
    for number, line in numbered_lines(path):
        cells = line.split()
        if len(cells) == 1 or (cells and cells[0] in found):
            raise FormatError(path, number, "the id of an instance, once, and its sense keys", line[:80])
        if cells:
            found[cells[0]] = cells[1:]
    return found


def write(docs: Iterable[Doc], path: str) -> int:
    """Write documents as XML, and the sense keys of their links beside it; returns the number of documents."""
    count, keys = 0, []
    with open_output(path) as file:
        file.write(b'<?xml version="1.0" encoding="UTF-8" ?>\n')
        for doc in docs:
            if not count:
                language, source = doc.meta.get("language", "en"), doc.meta.get("source", "weft")
                file.write(f"<corpus lang={quoteattr(str(language))} source={quoteattr(str(source))}>\n".encode())
            text, own = to_text(doc, count)
            file.write(text.encode())
            keys += own
            count += 1
        file.write(b"</corpus>\n" if count else b"<corpus>\n</corpus>\n")
    if keys:
        with open_output(_beside(path)) as file:
            file.write("".join(f"{' '.join(row)}\n" for row in keys).encode())
    return count


def to_text(doc: Doc, number: int = 0) -> tuple[str, list[list[str]]]:
    """A document as a `text` element, and the rows of the key file.

    >>> doc = Doc.from_words([["the", "banks"]], lemma=[["the", "bank"]], upos=[["DET", "NOUN"]])
    >>> doc.spans["links"] = SpanLayer.of(doc.strings, [(1, 2, "bank%1:17:01::")])
    >>> text, keys = to_text(doc)
    >>> print(text.splitlines()[3], keys)
    <instance id="d000.s000.t000" lemma="bank" pos="NOUN">banks</instance> [['d000.s000.t000', 'bank%1:17:01::']]
    """
    if doc.text.strip() and not doc.n_words:
        raise unsplit_error(doc, "the XML of word senses")
    links = words_of_chars(doc, doc.spans[LAYER]) if LAYER in doc.spans else SpanLayer(doc.strings)
    at: dict[int, list[str]] = {}
    ends: dict[int, int] = {}
    for row, (pieces, label) in enumerate(links):
        first, end = pieces[0][0], pieces[-1][1]
        attributes = links.attributes.get(row, {})
        own = [] if label == NIL else [str(attributes.get("key") or label), *attributes.get("also", ())]
        if end - first > ends.get(first, first) - first:  # of links that begin with a word, the longest
            at[first], ends[first] = [links.id(row), *own], end
    name, lines, keys = doc.id or f"d{number:03d}", [], []
    forms, lemmas, tags = doc.column("form"), doc.column("lemma"), doc.column("upos")
    lines.append(f"<text id={quoteattr(name)}>")
    for index, sentence in enumerate(doc.sentences):
        place, reached, count = f"{name}.s{index:03d}", sentence.first, 0
        lines.append(f"<sentence id={quoteattr(sentence.meta.get('sent_id', place))}>")
        while reached < sentence.end:
            end = ends.get(reached, reached + 1) if ends.get(reached, 0) <= sentence.end else reached + 1
            text, lemma = " ".join(forms[reached:end]), "_".join(filter(None, lemmas[reached:end])).replace(" ", "_")
            tag = _BACK.get(tags[end - 1], tags[end - 1])
            cells = f"lemma={quoteattr(lemma)} pos={quoteattr(tag)}>{escape(text)}"
            if reached in at:
                id = at[reached][0] or f"{place}.t{count:03d}"
                count += 1
                lines.append(f"<instance id={quoteattr(id)} {cells}</instance>")
                keys += [[id, *at[reached][1:]]] if len(at[reached]) > 1 else []
            else:
                lines.append(f"<wf {cells}</wf>")
            reached = end
        lines.append("</sentence>")
    return "\n".join([*lines, "</text>"]) + "\n", keys


class _Reader(XmlReader):
    """Builds documents as the parser meets their elements."""

    def __init__(self, path: str, keys: dict[str, list[str]]) -> None:
        super().__init__(path)
        self.keys = keys
        self.strings = StringTable()
        self.done: list[tuple[int | None, Doc]] = []
        self.open: list[str] = []
        self.corpus: Attributes = {}
        self._clear("")

    def documents(self, block: bytes, last: bool = False) -> list[tuple[int | None, Doc]]:
        """The documents completed within a block, with the lines where they end."""
        self.done = []
        self.feed(block, last)
        return self.done

    def _clear(self, name: str) -> None:
        self.name = name
        self.sentences: list[list[tuple[str, str, str]]] = []
        self.ids: list[str] = []
        self.instances: list[tuple[int, str]] = []
        self.words = 0
        self.text: list[str] | None = None
        self.has: Attributes = {}

    def start(self, tag: str, attributes: Attributes) -> None:
        parent = self.open[-1] if self.open else ""
        expected = {"corpus": "", "text": "corpus", "sentence": "text", "wf": "sentence", "instance": "sentence"}
        if tag not in expected or parent != expected[tag]:
            self.fault(f"elements {', '.join(_FRAME)}, one inside the other", f"<{tag[:40]}> in <{parent}>")
        self.open.append(tag)
        if tag == "corpus":
            self.corpus = attributes
        elif tag == "text":
            self._clear(attributes.get("id", ""))
        elif tag == "sentence":
            self.sentences.append([])
            self.ids.append(attributes.get("id", ""))
        else:
            if tag == "instance" and "id" not in attributes:
                self.fault('<instance id="...">', "<instance> without it")
            self.text, self.has = [], attributes

    def end(self, tag: str) -> None:
        self.open.pop()
        if tag in ("wf", "instance") and self.text is not None:
            form = " ".join("".join(self.text).split())
            if not form:
                self.fault(f"text in <{tag}>", "none")
            if tag == "instance":
                self.instances.append((self.words, self.has["id"]))
            pos = self.has.get("pos", "")
            self.sentences[-1].append((form, self.has.get("lemma", "").replace("_", " "), TAGS.get(pos, pos)))
            self.words += 1
            self.text = None
        elif tag == "text":
            try:
                self.done.append((self.line, self._document()))
            except FormatError:
                raise
            except WeftError as error:
                self.fault("a valid document", f"a fault: {error}")

    def characters(self, text: str) -> None:
        if self.text is not None:
            self.text.append(text)
        elif text.strip():
            self.fault("words in <wf> or <instance>", repr(text.strip()[:40]))

    def _document(self) -> Doc:
        columns = [[[word[k] for word in sentence] for sentence in self.sentences] for k in range(3)]
        doc = Doc.from_words(columns[0], strings=self.strings, lemma=columns[1], upos=columns[2])
        doc.meta.update({"id": self.name} if self.name else {})
        doc.meta.update({"language": self.corpus["lang"]} if self.corpus.get("lang") else {})
        doc.meta.update({"source": self.corpus["source"]} if self.corpus.get("source") else {})
        doc.comments = [(f"# sent_id = {id}",) if id else () for id in self.ids]
        layer = doc.spans[LAYER] = SpanLayer(doc.strings)
        for word, id in self.instances:
            first, *others = self.keys.get(id, [NIL])
            attributes = {"also": others} if others else {}
            layer.add([(word, word + 1)], first, id, **attributes)
        return doc


def _beside(path: str) -> str:
    """The key file of a file of data.

    >>> _beside("se13/semeval2013.data.xml.gz")
    'se13/semeval2013.gold.key.txt'
    """
    name = Path(path).name.removesuffix(".gz").removesuffix(".xml").removesuffix(".data")
    return str(Path(path).with_name(f"{name}.gold.key.txt"))
