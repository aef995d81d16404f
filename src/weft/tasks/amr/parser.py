"""The AMR parser of Flanigan et al. (2014): concepts of spans, then the best graph over them.

    1  concepts   the best segmentation into spans that stand for pieces of a graph     (`concepts`)
    2  relations  the best connected, simple, deterministic graph over their nodes      (`relations`)

Both stages are learned by the perceptron with AdaGrad's rates, from graphs whose nodes an aligner ties to words. Tags,
trees and entities come from another model, which training documents without them are annotated with.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.arrays import Floats
from weft.declared import Array, Stored
from weft.errors import ConfigError, DataError, ModelError
from weft.evaluate.semantics.smatch import evaluate_amrs
from weft.headers import Flag, Many, Named, Real, Record, Row, Table, Text, Whole
from weft.pipeline.component import Asked, State, Stopwatch, Trainable, training_docs
from weft.pipeline.settings import Settings, option
from weft.storage import Arrays
from weft.tasks.amr.aligner import Aligner
from weft.tasks.amr.concepts import ConceptModel, ConceptOptions, Sentence
from weft.tasks.amr.data import example_of, finished, sentences_of
from weft.tasks.amr.fragments import Piece
from weft.tasks.amr.relations import Found, Problem, RelationModel, RelationOptions
from weft.text.conventions.amr import LAYER, Amr, amrs_of, set_amrs
from weft.text.doc import Doc

#: Layers that the parser reads.
LAYERS = ("upos", "lemma", "head", "deprel")
#: Longer sentences are parsed in windows: the search is quadratic in the number of concepts.
LONGEST = 150
FEATURES = ("rich", "paper")
SEARCHES = ("relaxation", "greedy", "none")
STEPS = ("decaying", "root", "constant")

_WEIGHTS = (
    Array("rows", "uint32", ("weights",), below="size", rising=True),
    Array("weights", "float32", ("weights",)),
)


@dataclass
class AmrSettings(Settings):
    """Options of an AMR parser."""

    base: str = option("en", "Model whose tags, trees and entities training documents get if they have none.")
    features: str = option("rich", "Features of both stages: those of the paper, or more.", choices=FEATURES)
    backoff: bool = option(
        True, "For words not seen in training, use the concepts of their lemma, or the lemma itself."
    )
    learn_links: bool = option(True, "Learn which words concepts come from that the rules do not align.")
    rules: bool = option(True, "Propose concepts for named entities and dates by rule.")
    search: str = option(
        "relaxation", "How a node gets each of ARG0 ... ARG5 once: relaxation, greedy, or none.", choices=SEARCHES
    )
    simple: bool = option(True, "At most one edge between two nodes.")
    price_step: str = option("decaying", "How prices move in the relaxation.", choices=STEPS)
    price_steps: int = option(500, "Steps of the relaxation.")
    concept_passes: int = option(10, "Passes over the data for concepts.")
    relation_passes: int = option(5, "Passes over the data for relations.")
    hash_bits: int = option(21, "Hash features of relations into 2^N weights.", metavar="N")
    seed: int = option(0, "Random seed; training draws nothing at random.", hidden=True)
    workers: int = option(1, "Number of threads; training uses one.", hidden=True)

    def check(self) -> None:
        for name, known in (("features", FEATURES), ("search", SEARCHES), ("price_step", STEPS)):
            if getattr(self, name) not in known:
                raise ConfigError(f"{name} must be one of {', '.join(known)}, got {getattr(self, name)!r}")
        for name in ("price_steps", "concept_passes", "relation_passes"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        if not 10 <= self.hash_bits <= 26:
            raise ConfigError(f"hash_bits must be from 10 to 26, got {self.hash_bits}")

    def concepts(self) -> ConceptOptions:
        """The options of the concept stage."""
        return ConceptOptions(self.features == "rich", self.backoff, self.rules, self.concept_passes)

    def relations(self) -> RelationOptions:
        """The options of the relation stage."""
        search: Any = self.search
        step: Any = self.price_step
        return RelationOptions(
            self.features == "rich", self.relation_passes, search, self.simple, step, self.price_steps, self.hash_bits
        )


class AmrParser(Trainable):
    """Parses sentences to AMRs, with the words that every node comes from.

    >>> from weft.formats.penman import parse_amr
    >>> words = [["Boys", "sleep"], ["Girls", "run"]]
    >>> doc = Doc.from_words(words, upos=[["NOUN", "VERB"]] * 2, lemma=[["boy", "sleep"], ["girl", "run"]],
    ...                    head=[[2, 0], [2, 0]], deprel=[["nsubj", "root"]] * 2)
    >>> set_amrs(doc, [parse_amr("(s / sleep-01 :ARG0 (b / boy))"), parse_amr("(r / run-02 :ARG0 (g / girl))")])
    >>> parser = AmrParser(AmrSettings(hash_bits=16))
    >>> report = parser.fit([doc])
    >>> new = Doc.from_words([["Girls", "sleep"]], upos=[["NOUN", "VERB"]], lemma=[["girl", "sleep"]],
    ...                    head=[[2, 0]], deprel=[["nsubj", "root"]])
    >>> parser([new])
    >>> amr = amrs_of(new)[0]
    >>> amr.labels, amr.edges, amr.words
    (['sleep-01', 'girl'], [Edge(source=0, target=1, role='ARG0')], [(1,), (0,)])
    """

    task = "amr"
    settings_class = AmrSettings
    settings: AmrSettings
    requires = ("tokens", "sentences", *LAYERS)
    provides = (f"graphs/{LAYER}", f"spans/{LAYER}")

    def __init__(self, settings: AmrSettings | None = None) -> None:
        super().__init__(settings)
        self.concepts: ConceptModel | None = None
        self.relations: RelationModel | None = None

    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        """Train on documents with AMRs; dev data is only used for scoring."""
        watch = Stopwatch()
        docs = self.prepared(training_docs(train))
        aligner = Aligner()
        pairs = [pair for doc in docs for pair in zip(sentences_of(doc), amrs_of(doc), strict=True)]
        if self.settings.learn_links:
            aligner.learn([(amr, one.words, one.lemmas) for one, amr in pairs if amr is not None])
        examples = [example_of(sentence, amr, aligner) for sentence, amr in pairs if amr is not None]
        if not examples:
            raise DataError("there is nothing to train on: the documents have no AMRs (the layer 'amr')")
        sentences = [example.sentence for example in examples]
        self.concepts = ConceptModel.fit(sentences, [one.choices for one in examples], self.settings.concepts())
        problems = [Problem(one.sentence, one.choices) for one in examples]
        self.relations = RelationModel.fit(problems, [one.edges for one in examples], self.settings.relations())
        nodes = sum(len(amr) for _, amr in pairs if amr is not None)
        report: dict[str, Any] = {
            "training": {
                "sentences": len(examples),
                "nodes": nodes,
                "aligned": round(sum(map(len, problems)) / nodes, 4),
                "pieces": len({piece for rows in self.concepts.table.values() for piece, _ in rows}),
                "labels": len(self.relations.labels),
                **watch.seconds(),
            }
        }
        if dev is not None:
            held_out = self.prepared(training_docs(dev))
            gold = [amr for doc in held_out for amr in amrs_of(doc)]
            system = [self.parse(sentence)[0] for doc in held_out for sentence in sentences_of(doc)]
            total = evaluate_amrs(gold, list(system)).total()
            report["scores"] = {
                "dev Smatch": total.f1, "dev precision": total.precision, "dev recall": total.recall
            }  # fmt: skip
        return report

    def prepared(self, docs: Sequence[Doc]) -> list[Doc]:
        """Copies of documents with tags, lemmas, trees and entities: their own, or those of the base model."""
        from weft.pipeline import models
        from weft.pipeline.pipeline import Pipeline

        bare = [not all(doc.has(layer) for layer in LAYERS) for doc in docs]
        if not any(bare):
            return list(docs)
        base = Pipeline.load(models.find(self.settings.base))
        result = []
        for doc, needs in zip(docs, bare, strict=True):
            if needs:
                doc = doc.subset(range(doc.n_sentences))
                base(doc)
            result.append(doc)
        return result

    def parse(self, sentence: Sentence) -> tuple[Amr, Found]:
        """The graph of a sentence, and how the search for its relations went."""
        concepts, relations = self.trained(self.concepts), self.trained(self.relations)
        problem = Problem(sentence, concepts.decode(sentence))
        found = relations.decode(problem)
        return finished(problem, found.edges), found

    def longest(self, asked: Asked) -> int:
        return LONGEST

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        for doc in docs:
            set_amrs(doc, [self.parse(one)[0] if one.words else None for one in sentences_of(doc)])

    def state(self) -> State:
        header: dict[str, Any] = {"settings": self.saved_settings()}
        arrays: Arrays = {}
        for name, model in (("concepts", self.trained(self.concepts)), ("relations", self.trained(self.relations))):
            header[name], own = model.state()
            arrays |= {f"{name}/{key}": array for key, array in own.items()}
        return header, arrays

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> AmrParser:
        parser = cls(AmrSettings.from_saved(header["settings"]))
        HEADER.check(header)
        stored, settings = Stored.of(arrays), parser.settings
        concepts = header["concepts"]
        CONCEPTS.check(concepts)
        pieces = [_piece(row) for row in concepts["pieces"]]
        options = settings.concepts()
        tables = [
            {key: [(_known(pieces, number), float(p)) for number, p in rows] for key, rows in concepts[name].items()}
            for name in ("table", "by_lemma")
        ]
        parser.concepts = ConceptModel(
            options, tables[0], tables[1], dict(concepts["entity_types"]), set(concepts["known"]), concepts["wiki"],
            min(max(int(concepts["longest"]), 1), LONGEST), _dense(stored.under("concepts/"), options.hash_bits),
        )  # fmt: skip
        labels = list(header["relations"]["labels"])
        parser.relations = RelationModel(
            settings.relations(), labels, _dense(stored.under("relations/"), settings.hash_bits)
        )
        return parser


HEADER = Record(concepts=Table(), relations=Record(labels=Many(Text(), distinct=True)))
_LISTED = Named(Many(Row((Whole(), Real()))))
CONCEPTS = Record(
    pieces=Many(Row((Many(Text()), Many(Whole()), Many(Row((Whole(), Whole(), Text())))))),
    table=_LISTED, by_lemma=_LISTED, entity_types=Named(Text()), known=Many(Text()), wiki=Flag(), longest=Whole(),
)  # fmt: skip


def _piece(row: list[Any]) -> Piece:
    piece = Piece.from_row(row)
    n = len(piece.labels)
    if not n or len(piece.constants) != n or any(not (0 <= s < n and 0 <= t < n and s != t) for s, t, _ in piece.edges):
        raise ModelError("a piece of a graph has edges to nodes that it does not have: the file is damaged")
    return piece


def _known(pieces: Sequence[Piece], number: Any) -> Piece:
    if not isinstance(number, int) or not 0 <= number < len(pieces):
        raise ModelError(f"a table names the piece {number!r}, which there is not: the file is damaged")
    return pieces[number]


def _dense(stored: Stored, bits: int) -> Floats:
    taken = stored.take(*_WEIGHTS, size=1 << bits)
    weights = np.zeros(1 << bits)
    weights[taken["rows"]] = taken["weights"]
    return weights
