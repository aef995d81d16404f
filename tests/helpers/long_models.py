"""A tiny model of every kind of component, and texts without a full stop for them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from places import EXAMPLES

from weft.formats import read
from weft.formats.reviews import read_reviews
from weft.lexical.network.network import NetworkBuilder
from weft.pipeline.component import Component
from weft.pipeline.registry import component_class
from weft.tasks.linking.linker import Linker, LinkSettings
from weft.tasks.tagging.scl_projection import ProjectionSettings, TokenProjection
from weft.text.conventions.expressions import Expressions, set_expressions
from weft.text.doc import Doc
from weft.text.frames import FrameRow, Role, set_frames
from weft.text.layers import SpanLayer

#: A sentence, word by word: form, tag, head, relation.
SENTENCE = """
the DET 2 det|dog NOUN 3 nsubj|sees VERB 0 root|a DET 5 det|cat NOUN 3 obj|and CCONJ 10 cc|of ADP 8 case|
course NOUN 10 obl|she PRON 10 nsubj|gave VERB 3 conj|it PRON 10 obj|up ADP 10 compound|to ADP 14 case|
Ann PROPN 10 obl|Lee PROPN 14 flat|who PRON 18 nsubj|may AUX 18 aux|sleep VERB 14 acl|in ADP 20 case|Bergen PROPN 18 obl
"""
_ROWS = [row.split() for row in SENTENCE.strip().replace("\n", "").split("|")]
WORDS, TAGS, _HEADS, RELATIONS = (list(column) for column in zip(*_ROWS, strict=True))
HEADS = [int(head) for head in _HEADS]


@cache
def treebank() -> Doc:
    """Sentences with tags, trees, graphs and spans."""
    short = (WORDS[:5], TAGS[:5], HEADS[:5], RELATIONS[:5])
    rows = [(WORDS, TAGS, HEADS, RELATIONS), short] * 10
    forms, tags, heads, relations = (list(part) for part in zip(*rows, strict=True))
    deps = [[f"{h}:{r}" for h, r in zip(hs, rs, strict=True)] for hs, rs in zip(heads, relations, strict=True)]
    for row in deps[::2]:
        row[8] += "|3:nsubj"
    lemmas = [[form.lower() for form in row] for row in forms]
    doc = Doc.from_words(
        forms, upos=tags, xpos=tags, lemma=lemmas, feats=[["Number=Sing"] * len(row) for row in forms],
        head=heads, deprel=relations, deps=deps,
    )  # fmt: skip
    doc.spans["entities"] = SpanLayer(doc.strings)
    for first in doc.sentence_offsets[:-1:2].tolist():
        doc.spans["entities"].add([(first + 13, first + 15)], "PER")
        doc.spans["entities"].add([(first + 13, first + 14), (first + 19, first + 20)], "PLACE")
    return doc


def long_doc(words: int, seed: int = 0, parsed: bool = True) -> Doc:
    """One sentence of that many words with all columns that components read."""
    draws = np.random.default_rng(seed).integers(0, len(WORDS), words).tolist()
    forms = [WORDS[i] for i in draws]
    columns = {"upos": [[TAGS[i] for i in draws]], "lemma": [[form.lower() for form in forms]]}
    columns |= {"xpos": columns["upos"], "feats": [["Number=Sing"] * words]}
    if parsed:
        heads = {"head": [list(range(words))], "deprel": [["root", *["dep"] * (words - 1)]]}
        return Doc.from_words([forms], **columns, **heads)
    return Doc.from_words([forms], **columns)


def _fitted(kind: str, docs: list[Doc] | None = None, **options: object) -> Component:
    component = component_class(kind).from_options(options)
    component.fit([treebank()] if docs is None else docs)
    return component


def _lexical() -> dict[str, str]:
    """The small lexical resources of the examples."""
    folder = EXAMPLES / "preferences"
    names = {"verbnet": "verbnet", "semlink": "semlink.json", "wordnet": "wordnet", "types": "types.tsv"}
    return {option: str(folder / name) for option, name in names.items()}


def _flat() -> list[Doc]:
    doc = treebank().subset(range(treebank().n_sentences))
    doc.spans["entities"] = SpanLayer(doc.strings)
    for first in doc.sentence_offsets[:-1:2].tolist():
        doc.spans["entities"].add([(first + 13, first + 15)], "PER")
    return [doc]


def _framed() -> list[Doc]:
    doc = treebank().subset(range(treebank().n_sentences))
    verbs = [i for i, tag in enumerate(doc.column("upos")) if tag == "VERB"]
    set_frames(doc, [FrameRow(i, f"{doc.column('lemma')[i]}.01", (Role("A0", i - 1, i),)) for i in verbs])
    return [doc]


def _expressions() -> list[Doc]:
    doc = treebank().subset(range(treebank().n_sentences))
    found = [
        Expressions.of(strong=[(6, 7), (9, 11)]) if s % 2 == 0 else Expressions.of() for s in range(doc.n_sentences)
    ]
    set_expressions(doc, found)
    return [doc]


def _reviews(name: str) -> list[Doc]:
    return [review.doc() for review in read_reviews(EXAMPLES / "reviews" / f"{name}.tsv")]


def _weak(**options: object) -> Component:
    from weft.lexical.dictionary import TagDictionary
    from weft.tasks.tagging.weak import WeakTagger, WeakTaggerSettings

    tagger = WeakTagger(WeakTaggerSettings(**options), TagDictionary({"the": ["DET"], "may": ["AUX", "NOUN"]}))  # type: ignore[arg-type]
    tagger.fit([treebank()])
    return tagger


def _scl() -> Component:
    from weft.tasks.tagging.scl import SCLSettings, SCLTagger

    own = ProjectionSettings(features="w[-1..1]", pivot_count=10, h=4, words=0, passes=2)
    options = SCLSettings(templates="y[-1] w[-1..1]", calibrate=False, keep=1.0)
    tagger = SCLTagger(options, TokenProjection.learn([[treebank()], [treebank()]], own))
    tagger.fit([treebank()])
    return tagger


def _adapted(kind: str, **options: object) -> Component:
    component = component_class(kind).from_options(options)
    component.adapt([treebank()], [treebank()])  # type: ignore[attr-defined]
    return component


def _transfer() -> Component:
    from weft.tasks.parsing_transfer.parser import TransferParser, TransferSettings, read_sources

    files = {code: str(EXAMPLES / "languages" / f"{code}.conllu") for code in ("de", "es")}
    parser = TransferParser(TransferSettings(sources=files, target="nl", adapt="none", iterations=5))
    parser.fit(read_sources(files))
    return parser


def _domain_parser() -> Component:
    from weft.tasks.parsing_transfer.adapt_parser import AdaptedParser, AdaptSettings

    parser = AdaptedParser(AdaptSettings(methods="F1,F2,D1", epochs=1, bits=14), target=[treebank()])
    parser.fit([treebank()])
    return parser


SMALL = {"epochs": 1, "bits": 14}


def _linker() -> Component:
    builder = NetworkBuilder()
    for number, word in enumerate(WORDS):
        builder.vertex(str(number), word, entity=True)
        builder.name(str(number), f"{word} {WORDS[number - 1]}")
        builder.edge(str(number), str(number // 2))
    return Linker(LinkSettings(loose="all"), builder.network())


#: Models by name: the kind of component, then what is special about it.
MODELS: dict[str, Callable[[], Component]] = {
    "segmenter": lambda: _fitted("segmenter"),
    "tagger": lambda: _fitted("tagger"),
    "weak-tagger": _weak,
    "weak-tagger hmm": lambda: _weak(learner="hmm"),
    "scl-tagger": _scl,
    "graph-tagger": lambda: _adapted("graph-tagger"),
    "trigram-tagger": lambda: _fitted("trigram-tagger"),
    "flors": lambda: _adapted("flors", indicators=6),
    "induced-tagger": lambda: _fitted("induced-tagger", dictionaries=str(EXAMPLES / "induction" / "market.dic")),
    "lemmatizer": lambda: _fitted("lemmatizer"),
    "parser": lambda: _fitted("parser", epochs=1),
    "parser beam": lambda: _fitted("parser", epochs=1, beam=8),
    "parser lr-spine": lambda: _fitted("parser", epochs=1, system="lr-spine"),
    "parser easy-first": lambda: _fitted("parser", epochs=1, system="easy-first"),
    "graph-parser mst1": lambda: _fitted("graph-parser", system="mst1", **SMALL),
    "graph-parser mst1 nonprojective": lambda: _fitted("graph-parser", system="mst1", shape="nonprojective", **SMALL),
    "graph-parser mst1 all": lambda: _fitted("graph-parser", system="mst1", threshold=0.0, **SMALL),
    "graph-parser mst1 crossing": lambda: _fitted("graph-parser", system="mst1", shape="crossing", **SMALL),
    "graph-parser mst2": lambda: _fitted("graph-parser", **SMALL),
    "graph-parser mst2 nonprojective": lambda: _fitted("graph-parser", shape="nonprojective", **SMALL),
    "graph-parser mst2 all": lambda: _fitted("graph-parser", threshold=0.0, **SMALL),
    "graph-parser mst3": lambda: _fitted("graph-parser", system="mst3", **SMALL),
    "graph-parser mst3 all": lambda: _fitted("graph-parser", system="mst3", threshold=0.0, **SMALL),
    "graph-parser crossing": lambda: _fitted("graph-parser", system="crossing", **SMALL),
    "graph-parser crossing all": lambda: _fitted("graph-parser", system="crossing", threshold=0.0, **SMALL),
    "blended-parser": lambda: _fitted("blended-parser", parsers={"one": "arc-eager+epochs:1", "two": "mst1+bits:14"}),
    "transfer-parser": _transfer,
    "adapted-parser": _domain_parser,
    "induced-parser": lambda: _fitted("induced-parser", max_words=20, iterations=2),
    "relations": lambda: _fitted("relations"),
    "graphs": lambda: _fitted("graphs", **SMALL),
    "graphs all": lambda: _fitted("graphs", threshold=0.0, **SMALL),
    "constituents": lambda: _fitted("constituents", list(read(EXAMPLES / "tea.mrg")), epochs=1),
    "constituents words": lambda: _fitted("constituents", list(read(EXAMPLES / "tea.mrg")), epochs=1, units="words"),
    "disfluency": lambda: _fitted("disfluency", list(read(EXAMPLES / "speech.conllu")), epochs=1),
    "chunker": lambda: _fitted("chunker", _flat(), layer="entities"),
    "proposer": lambda: _fitted("proposer", _flat(), layer="entities"),
    "ner": lambda: _fitted("ner", _flat()),
    "ner nested": lambda: _fitted("ner", _flat(), nested=True),
    "segments": lambda: _fitted("segments", epochs=1),
    "segments any gap": lambda: _fitted("segments", epochs=1, gap=0),
    "mwe": lambda: _fitted("mwe", _expressions(), epochs=2),
    "roles": lambda: _fitted("roles", _framed(), c_arguments=1.0, c_labels=1.0),
    "roles-bins": lambda: _fitted("roles-bins", _framed()),
    "roles-joint": lambda: _fitted("roles-joint", _framed(), epochs=1),
    "amr": lambda: _fitted("amr", list(read(EXAMPLES / "meaning.amr")), hash_bits=16),
    "scope": lambda: _fitted("scope", list(read(EXAMPLES / "scope" / "commands.jsonl"))),
    "tuples": lambda: _fitted("tuples", list(read(EXAMPLES / "relations" / "jobs.tuples.jsonl"))),
    "metaphor": lambda: _fitted("metaphor", list(read(EXAMPLES / "metaphor" / "parsed.conllu"))),
    "phenomena": lambda: _fitted("phenomena", list(read(EXAMPLES / "chat" / "rooms.chat.tsv")), most_rules=2),
    "opinions": lambda: _fitted("opinions", list(read(EXAMPLES / "opinions" / "lamps.opinions.jsonl")), passes=2),
    "forecast": lambda: _fitted(
        "forecast",
        list(read(EXAMPLES / "markets" / "news.csv")),
        features="words",
        least=5,
        series=str(EXAMPLES / "markets" / "prices.csv"),
    ),
    "keywords": lambda: _fitted("keywords", list(read(EXAMPLES / "keywords" / "harbour.csv")), language="en"),
    "quality": lambda: _fitted(
        "quality",
        list(read(EXAMPLES / "quality" / "ratings.csv")),
        annotator="rater",
        label="minutes",
        source="text",
        target="translation",
        iterations=5,
    ),
    "preferences": lambda: _fitted("preferences", [], **_lexical()),
    "linker": _linker,
    "hedge": lambda: _fitted("hedge", list(read(EXAMPLES / "hedges.xml")), sentence_learner="l2"),
    "timeline": lambda: _fitted("timeline", list(read(EXAMPLES / "timeline" / "notes.jsonl")), iterations=10),
    "sentiment": lambda: _fitted("sentiment", _reviews("films"), learning="coarse", epochs=1),
    "polarity": lambda: _fitted("polarity", _reviews("films"), learning="base"),
}
#: Kinds that read raw text.
RAW = ("segmenter", "constituents")
