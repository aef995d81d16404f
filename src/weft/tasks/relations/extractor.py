"""Relations between mentions: pairs are judged by logistic regressions, tuples are cliques of related pairs.

The method is that of McDonald, Pereira, Kulick, Winters, Jin and White (2005): a relation of any number of slots, some
of which may be missing, without enumerating tuples. See `weft.tasks.relations.pairs` and `.tuples`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log
from typing import Any

from weft.declared import Stored
from weft.errors import ConfigError, DataError, ModelError
from weft.evaluate.semantics.tuples import score_tuples
from weft.headers import Flag, Many, Record, Table
from weft.pipeline.component import Asked, State, Stopwatch, Trainable, training_docs
from weft.pipeline.explanation import Explanation, Reason
from weft.pipeline.settings import Settings, option
from weft.storage import Arrays
from weft.tasks.relations.pairs import PENALTIES, Edge, PairModel, PairTable
from weft.tasks.relations.samples import Reading, Sample, samples_of
from weft.tasks.relations.schema import ARITIES, Filler, Schema, learn_schemas
from weft.tasks.relations.tuples import SEARCHES, predict_tuples
from weft.text.conventions.tuples import LAYER, MENTIONS, TupleRow, set_tuples
from weft.text.doc import Doc
from weft.text.split import with_words

#: Longer sentences are annotated in windows: the number of pairs grows with the square of the number of mentions.
LONGEST = 150
#: Of the mentions of one sentence or window so many are looked at, the first ones.
MOST_MENTIONS = 40
HEADER = Record(settings=Table(), schemas=Many(Table(), least=1), tagged=Flag())
NOTHING = "no relation"
#: Thresholds that are tried if one is to be chosen on dev data.
GRID = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


@dataclass
class ExtractorSettings(Settings):
    """Options of an extractor of relations."""

    mentions: str = option(MENTIONS, "Span layer of mentions; their labels are types.")
    layer: str = option(LAYER, "Relation layer to learn, and to write.")
    search: str = option(
        "probable", "Tuples: probable cliques, or maximal cliques of probable pairs.", choices=SEARCHES
    )
    threshold: float = option(
        0.5, "The least probability of a tuple (geometric mean of its pairs), or of a pair; 0: chosen on dev data."
    )
    arity: str = option("schema", "Fillers of a slot: as many as in training data, or any number.", choices=ARITIES)
    least: int = option(1, "Leave out relations with fewer tuples.")
    tags: str = option("upos", "Column of tags to use if the training data have it.")
    trees: bool = option(False, "Use paths in dependency trees.")
    context: bool = option(True, "Use other mentions of the sentence: types between, rivals that are nearer.")
    c: float = option(1.0, "Weight of the data against the penalty.")
    rare: int = option(0, "Leave out features that occur in so many pairs or fewer.")
    penalty: str = option("l2", "Penalty of weights: l1 makes small models.", choices=PENALTIES, flag="--norm")
    seed: int = option(0, "Random seed.")
    workers: int = option(1, "Number of threads; training uses one.", hidden=True)

    def check(self) -> None:
        for name, known in (("search", SEARCHES), ("arity", ARITIES), ("penalty", PENALTIES)):
            if getattr(self, name) not in known:
                raise ConfigError(f"{name} must be one of {', '.join(known)}, got {getattr(self, name)!r}")
        if not 0 <= self.threshold <= 1 or not self.c > 0 or self.least < 1 or self.rare < 0:
            raise ConfigError(
                "threshold must be from 0 to 1, c above 0, least at least 1, rare at least 0; got "
                f"{self.threshold}, {self.c}, {self.least} and {self.rare}"
            )


class RelationExtractor(Trainable):
    """Finds the relations between given mentions, as tuples with named slots.

    >>> from weft.text.layers import SpanLayer
    >>> def note(who, verb, where, related=None):
    ...     doc = Doc.from_words([[who, verb, "at", where]])
    ...     doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "person"), (3, 4, "company")])
    ...     if related is not None:
    ...         set_tuples(doc, [TupleRow("work", (("person", 0), ("company", 1)))] if related else [])
    ...     return doc
    >>> train = [note("Ada", "works", "Quill", True), note("Bo", "works", "Inkwell", True),
    ...          note("Eve", "laughs", "Quill", False), note("Cy", "laughs", "Inkwell", False)]
    >>> extractor = RelationExtractor()
    >>> report = extractor.fit(train)
    >>> new = note("Zoe", "works", "Blot")
    >>> extractor([new])
    >>> new.tuples
    [RelationTuple('work', person='Zoe', company='Blot')]
    """

    task = "tuples"
    settings_class = ExtractorSettings
    settings: ExtractorSettings
    gives_probabilities = True
    explains = True

    def __init__(self, settings: ExtractorSettings | None = None) -> None:
        super().__init__(settings)
        self.model: PairModel | None = None
        self.schemas: list[Schema] = []
        self.tagged = False
        self._set_layers()

    def _set_layers(self) -> None:
        settings = self.settings
        tags = (settings.tags,) if self.tagged else ()
        trees = ("head", "deprel") if settings.trees else ()
        self.requires = ("tokens", f"spans/{settings.mentions}", *tags, *trees)
        self.provides = (f"relations/{settings.layer}",)

    @property
    def reading(self) -> Reading:
        """What of documents is read."""
        settings = self.settings
        tags = settings.tags if self.tagged else ""
        return Reading(settings.mentions, settings.layer, tags, settings.trees, settings.context)

    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        """Train on documents with mentions and tuples; dev data are scored."""
        watch, settings = Stopwatch(), self.settings
        docs = training_docs(train)
        self.tagged = bool(settings.tags) and all(doc.has(settings.tags) for doc in docs)
        self._set_layers()
        samples, lost = self._samples(docs)
        typed = [
            (label, [(slot, sample.mentions[mention].type) for slot, mention in sorted(members, key=lambda m: m[1])])
            for sample in samples
            for label, members in sample.tuples
        ]
        self.schemas = learn_schemas(typed, settings.arity, settings.least)
        if not self.schemas:
            raise DataError(
                f"there is nothing to train on: no sentence has a tuple in the layer {settings.layer!r}"
                + (f"; {lost:,} tuples are not within one sentence" if lost else "")
            )
        held_out = None if dev is None else self._samples(with_words(dev))
        if not settings.threshold and held_out is None:
            raise ConfigError(
                "threshold = 0 chooses a threshold on dev data, but there is none; give --dev, or a value"
            )
        table = PairTable.of(samples, self.schemas)
        self.model = PairModel.fit(table, self.schemas, settings.c, settings.penalty, settings.seed, settings.rare)
        if held_out is not None and not settings.threshold:
            scores = {}
            for settings.threshold in GRID:
                scores[settings.threshold] = self._scored(*held_out)["F"]
            settings.threshold = max(GRID, key=lambda each: scores[each])
        report: dict[str, Any] = {
            "training": {
                "sentences": len(samples),
                "mentions": sum(len(sample.mentions) for sample in samples),
                "tuples": len(typed),
                "tuples across sentences": lost,
                "relations": len(self.schemas),
                "weights": len(self.model.keys),
                "threshold": settings.threshold,
                **watch.seconds(),
            }
        }
        if held_out is not None:
            report["scores"] = {f"dev {name}": value for name, value in self._scored(*held_out).items()}
        return report

    def _samples(self, docs: Sequence[Doc]) -> tuple[list[Sample], int]:
        """The sentences with two or more mentions, and the number of tuples that are not within one sentence."""
        samples: list[Sample] = []
        lost = 0
        for doc in docs:
            missing = [layer for layer in self.requires if not doc.has(layer)]
            if missing:
                raise DataError(f"{doc.id or 'a document'} has no {', '.join(missing)}; annotate it before training")
            own, crossing = samples_of(doc, self.reading, gold=True)
            samples += [sample for sample in own if len(sample.mentions) > 1]
            lost += crossing
        return samples, lost

    def _scored(self, samples: Sequence[Sample], missed: int) -> dict[str, float]:
        gold = [set(sample.tuples) for sample in samples]
        found = [{(row.label, frozenset(row.members)) for row in rows} for rows in self._predicted(samples)]
        score = score_tuples(gold, found).total()
        recall = score.correct / max(1, score.gold + missed)
        return {
            "P": score.precision, "R": recall,
            "F": 2 * score.correct / max(1, score.gold + missed + score.system),
        }  # fmt: skip

    def _predicted(self, samples: Sequence[Sample]) -> list[list[TupleRow]]:
        settings = self.settings
        return predict_tuples(samples, self.schemas, self.trained(self.model), settings.threshold, settings.search)

    def longest(self, asked: Asked) -> int:
        return LONGEST

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        self.trained(self.model)
        settings = self.settings
        samples: list[Sample] = []
        owner: list[int] = []
        for number, doc in enumerate(docs):
            if not doc.n_words or settings.mentions not in doc.spans:
                continue
            own = [sample for sample in samples_of(doc, self.reading)[0] if len(sample.mentions) > 1]
            samples += [sample.first(MOST_MENTIONS) for sample in own]
            owner += [number] * len(own)
        rows: list[list[TupleRow]] = [[] for _ in docs]
        for number, sample, found in zip(owner, samples, self._predicted(samples), strict=True):
            for label, members, pairs in found:
                spans = tuple((slot, sample.spans[mention]) for slot, mention in members)
                kept = tuple(round(p, 4) for p in pairs) if asked.probabilities else ()
                rows[number].append(TupleRow(label, spans, kept))
        for doc, own_rows in zip(docs, rows, strict=True):
            if settings.mentions in doc.spans:
                set_tuples(doc, own_rows, settings.layer, settings.mentions)

    def _explain(self, doc: Doc, word: int) -> Explanation:
        """The most probable tuple of a mention that has the word, with its pairs; a pair with its features.

        A tuple of three or more is explained by its clique: by how much the logarithm of each pair's probability is
        above that of the threshold. They sum up to what decided.
        """
        sentence = doc.words[word].sentence
        sample = samples_of(doc, self.reading)[0][sentence.index].first(MOST_MENTIONS)
        place, form = word - sentence.first, doc.words[word].form
        own = {number for number, mention in enumerate(sample.mentions) if mention.start <= place < mention.end}
        if not own or len(sample.mentions) < 2:
            return Explanation.of(self.task, word, form, NOTHING, "", ())
        found = [row for row in self._predicted([sample])[0] if own & {mention for _, mention in row.members}]
        if not found:
            return self._explain_nothing(sample, own, word, form)
        best = max(found, key=lambda row: row.probability or 0.0)
        names = {mention: _text(sample, mention) for _, mention in best.members}
        decision = f"{best.label}({', '.join(f'{slot}={names[mention]}' for slot, mention in best.members)})"
        floor = log(self.settings.threshold)
        if len(best.members) == 2:
            table, schema, edge = self._edge(sample, best)
            reasons = [
                Reason(name.partition(":")[0] or "pair", f"{name.partition(':')[2]} {value}".strip(), weight, 0.0)
                for name, value, weight in self.trained(self.model).reasons(table, schema, edge)
            ]
        else:
            ends = combinations((mention for _, mention in best.members), 2)
            reasons = [
                Reason("edge", f"{names[one]} - {names[other]} {p:.3f}", log(max(p, 1e-12)) - floor, 0.0)
                for (one, other), p in zip(ends, best.pairs, strict=True)
            ]
        return Explanation.of(self.task, word, form, decision, NOTHING, reasons, best.probability)

    def _explain_nothing(self, sample: Sample, own: set[int], word: int, form: str) -> Explanation:
        """Why a mention is in no tuple: its most probable pair."""
        table = PairTable.of([sample], self.schemas)
        best: tuple[float, str] = (0.0, "")
        for schema in self.schemas:
            edges, _ = table.edges(schema)
            found = self.trained(self.model).probabilities(table, schema, edges)
            for edge, p in zip(edges, found.tolist(), strict=True):
                if own & {edge.one.mention, edge.other.mention}:
                    ends = f"{_text(sample, edge.one.mention)} - {_text(sample, edge.other.mention)}"
                    best = max(best, (p, f"{schema.label}: {ends} {p:.3f}"))
        if not best[1]:
            return Explanation.of(self.task, word, form, NOTHING, "", ())
        below = log(max(best[0], 1e-12)) - log(self.settings.threshold)
        return Explanation.of(
            self.task, word, form, NOTHING, best[1].partition(":")[0], [Reason("edge", best[1], 0.0, below)]
        )

    def _edge(self, sample: Sample, row: TupleRow) -> tuple[PairTable, Schema, Edge]:
        """A tuple of two mentions as an edge."""
        schema = next(each for each in self.schemas if each.label == row.label)
        table = PairTable.of([sample], [schema])
        names = [slot.name for slot in schema.slots]
        one, other = sorted(Filler(mention, names.index(slot)) for slot, mention in row.members)
        return table, schema, Edge(0, one, other, table.rows[0][one.mention, other.mention])

    def state(self) -> State:
        model = self.trained(self.model)
        header = {
            "settings": self.saved_settings(), "schemas": [schema.to_dict() for schema in self.schemas],
            "tagged": self.tagged,
        }  # fmt: skip
        return header, model.arrays()

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> RelationExtractor:
        extractor = cls(ExtractorSettings.from_saved(header["settings"]))
        HEADER.check(header)
        if not extractor.settings.threshold:
            raise ModelError("the header's settings.threshold must be above 0 in a trained model: the file is damaged")
        extractor.schemas = [Schema.from_dict(each) for each in header["schemas"]]
        extractor.tagged = header["tagged"]
        extractor._set_layers()
        extractor.model = PairModel.from_arrays(Stored.of(arrays))
        return extractor


def _text(sample: Sample, mention: int) -> str:
    start, end, _ = sample.mentions[mention]
    return " ".join(sample.words[start:end])
