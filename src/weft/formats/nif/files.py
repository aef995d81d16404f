"""Links of mentions in NIF, the exchange format of entity linking, as Turtle: reads what its tools write.

    <urn:weft:doc#char=0,16> a nif:Context ; nif:isString "Steve left Apple" .
    <urn:weft:doc#char=11,16> a nif:Phrase ; nif:referenceContext <urn:weft:doc#char=0,16> ;
        nif:beginIndex "11" ; nif:endIndex "16" ; itsrdf:taIdentRef <http://www.wikidata.org/entity/Q312> .

A context becomes a document, a phrase with `taIdentRef` a span of the layer `links`; its label is the end of the IRI
for Wikidata and DBpedia, else the IRI. A phrase without one becomes NIL. Of Turtle, prefixes, IRIs, names, literals and
lists by `;` and `,` are read; blank nodes and collections are not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from weft.errors import FormatError, WeftError
from weft.formats.gate import admitted
from weft.formats.streams import Faults, open_output, read_text
from weft.text.conventions.links import LAYER, NIL
from weft.text.doc import Doc
from weft.text.layers import SpanLayer, chars_of_words
from weft.text.strings import StringTable

NIF = "http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#"
ITS = "http://www.w3.org/2005/11/its/rdf#"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_BASES = ("http://www.wikidata.org/entity/", "https://www.wikidata.org/entity/", "http://dbpedia.org/resource/")
_OWN = "urn:weft:"
_HEAD = f"@prefix nif: <{NIF}> .\n@prefix itsrdf: <{ITS}> .\n@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n"
_TOKEN = re.compile(
    r'[ \t\r\n]+|#[^\n]*|(?P<iri><[^<>"\s]*>)|(?P<long>"""(?:[^"\\]|\\.|"(?!""))*""")|(?P<text>"(?:[^"\\\n]|\\.)*")'
    r"|(?P<prefix>@prefix|@base)|(?P<lang>@[A-Za-z-]+)|(?P<kind>\^\^)|(?P<mark>[;,.](?![\w%]))"
    r"|(?P<number>[+-]?\d+(?:\.\d+)?)|(?P<name>[\w-]{0,100}:(?:[\w%=/#-]|[.,](?=[\w%=]))*)|(?P<word>[A-Za-z]+)",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_PLAIN = {"t": "\t", "n": "\n", "r": "\r", "b": "\b", "f": "\f"}


class Triple(NamedTuple):
    """A statement of a file, with its line."""

    subject: str
    predicate: str
    object: str
    line: int


def read(path: str, faults: Faults | None = None, *, encoding: str = "utf-8") -> Iterator[Doc]:
    """The documents of a file, which is read as a whole, as phrases may stand anywhere in it."""
    faults = faults or Faults()
    try:
        items = [(line, doc) for line, doc in _documents(path, read_text(path, encoding))]
    except FormatError as error:
        faults.meet(error)
        return
    yield from admitted(path, items, faults)


def write(docs: Iterable[Doc], path: str) -> int:
    """Write documents as Turtle and return their number."""
    count = 0
    with open_output(path) as file:
        file.write(_HEAD.encode())
        for doc in docs:
            file.write(to_text(doc, count).encode())
            count += 1
    return count


def to_text(doc: Doc, number: int = 0) -> str:
    """A document as statements.

    >>> doc = Doc("Steve left Apple")
    >>> doc.spans["links"] = SpanLayer.of(doc.strings, [(11, 16, "Q312")], "chars")
    >>> print(to_text(doc).splitlines()[-1].strip())
    itsrdf:taIdentRef <http://www.wikidata.org/entity/Q312> .
    """
    links = chars_of_words(doc, doc.spans[LAYER]) if LAYER in doc.spans else SpanLayer(doc.strings, "chars")
    name = f"{_OWN}{quote(doc.id or f'doc{number}', safe='/')}"
    context = f"<{name}#char=0,{len(doc.text)}>"
    lines = ["", f"{context} a nif:Context ;", *_places(0, len(doc.text)), f"    nif:isString {_literal(doc.text)} ."]
    # Several links of one phrase are one subject, as in RDF they must be.
    by_place: dict[tuple[int, int], list[int]] = {}
    for row, (pieces, _) in enumerate(links):
        by_place.setdefault((pieces[0][0], pieces[-1][1]), []).append(row)
    for (start, end), rows in sorted(by_place.items()):
        lines += [f"<{name}#char={start},{end}> a nif:Phrase ;", f"    nif:referenceContext {context} ;"]
        lines += [*_places(start, end), f"    nif:anchorOf {_literal(doc.text[start:end])} ;"]
        scores = [links.attributes.get(row, {}).get("score") for row in rows]
        if len(rows) == 1 and isinstance(scores[0], float):
            lines.append(f'    itsrdf:taConfidence "{scores[0]}"^^xsd:double ;')
        known = [links[row].label for row in rows if links[row].label != NIL]
        if known:
            lines.append(f"    itsrdf:taIdentRef {', '.join(map(_iri, known))} .")
        else:
            lines[-1] = f"{lines[-1].removesuffix(' ;')} ."
    return "\n".join(lines) + "\n"


def _places(start: int, end: int) -> list[str]:
    kind = "xsd:nonNegativeInteger"
    return [f'    nif:beginIndex "{start}"^^{kind} ;', f'    nif:endIndex "{end}"^^{kind} ;']


def _iri(label: str) -> str:
    if re.fullmatch(r"https?://[^<>\"\s]+", label):
        return f"<{label}>"
    base = _BASES[0] if re.fullmatch(r"Q\d+", label) else _OWN
    return f"<{base}{quote(label, safe='')}>"


def _literal(text: str) -> str:
    for letter, name in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t")):
        text = text.replace(letter, name)
    return f'"{text}"'


def triples(path: str, text: str) -> Iterator[Triple]:
    """The statements of a Turtle text.

    >>> list(triples("x", '@prefix a: <urn:> . a:b a:c "d"@en , a:e .'))[1]
    Triple(subject='urn:b', predicate='urn:c', object='urn:e', line=1)
    """
    prefixes: dict[str, str] = {}
    terms: list[str] = []
    declaring, skip_next = "", False
    for kind, value, line in _tokens(path, text):
        if kind == "prefix":
            declaring, terms = value, []
        elif kind == "lang" or skip_next:
            skip_next = False
        elif kind == "kind":
            skip_next = True  # the type of a literal follows
        elif kind == "mark":
            if declaring:
                prefixes |= {terms[0].removesuffix(":"): terms[1]} if len(terms) == 2 else {}
                declaring, terms = "", []
                continue
            if len(terms) != 3 and not (len(terms) < 3 and value in ";." and len(terms) != 2 and terms[:1]):
                raise FormatError(path, line, "subject, predicate and object", f"{len(terms)} terms before {value}")
            if len(terms) == 3:
                yield Triple(terms[0], terms[1], terms[2], line)
            terms = {";": terms[:1], ",": terms[:2], ".": []}[value]
        elif declaring:
            terms.append(value)
        else:
            terms.append(_resolved(path, line, kind, value, prefixes))
    if terms:
        raise FormatError(path, None, "a full stop after the last statement", "none")


def _resolved(path: str, line: int, kind: str, value: str, prefixes: dict[str, str]) -> str:
    if kind == "name":
        prefix, _, rest = value.partition(":")
        if prefix not in prefixes:
            raise FormatError(path, line, "prefixes that the file declares", value[:60])
        return prefixes[prefix] + rest
    return TYPE if kind == "word" and value == "a" else value


def _tokens(path: str, text: str) -> Iterator[tuple[str, str, int]]:
    at, line = 0, 1
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise FormatError(path, line, "Turtle without blank nodes and collections", repr(text[at : at + 30]))
        kind, value = match.lastgroup, match[0]
        if kind == "iri":
            yield kind, value[1:-1], line
        elif kind in ("long", "text"):
            inner = value[3:-3] if kind == "long" else value[1:-1]
            yield "text", _ESCAPE.sub(_unescaped, inner), line
        elif kind is not None:
            yield kind, value, line
        line += value.count("\n")
        at = match.end()


def _unescaped(match: re.Match[str]) -> str:
    short, long, plain = match.groups()
    if plain:
        return _PLAIN.get(plain, plain)
    point = int(short or long, 16)
    return chr(point) if point < 0x110000 and not 0xD800 <= point < 0xE000 else "\ufffd"


def _documents(path: str, text: str) -> Iterator[tuple[int, Doc]]:
    about: dict[str, dict[str, list[str]]] = {}
    lines: dict[str, int] = {}
    for subject, predicate, value, line in triples(path, text):
        about.setdefault(subject, {}).setdefault(predicate, []).append(value)
        lines.setdefault(subject, line)
    strings = StringTable()
    docs: dict[str, Doc] = {}
    for subject, has in about.items():
        if f"{NIF}isString" in has:
            doc = docs[subject] = Doc(has[f"{NIF}isString"][0], strings)
            doc.id = unquote(subject.partition("#char=")[0].removeprefix(_OWN))
            doc.spans[LAYER] = SpanLayer(strings, "chars")
    for subject, has in about.items():
        context = has.get(f"{NIF}referenceContext", [""])[0]
        if context in docs and subject != context and f"{NIF}beginIndex" in has:
            try:
                start, end = (int(has[f"{NIF}{name}Index"][0]) for name in ("begin", "end"))
                if not 0 <= start < end <= len(docs[context].text):
                    raise WeftError(f"a phrase from {start} to {end}")
                said = has.get(f"{ITS}taConfidence", [])
                score: dict[str, Any] = {"score": float(said[0])} if said else {}
            except (LookupError, ValueError, WeftError) as error:
                raise FormatError(path, lines[subject], "a phrase within its context", str(error)) from None
            for iri in has.get(f"{ITS}taIdentRef", [NIL]):
                docs[context].spans[LAYER].add([(start, end)], _label(iri), **score)
    for subject, doc in docs.items():
        yield lines[subject], doc


def _label(iri: str) -> str:
    for base in (*_BASES, _OWN):
        if iri.startswith(base):
            return unquote(iri.removeprefix(base))
    return iri
