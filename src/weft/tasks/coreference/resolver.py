"""Coreference in documents: mentions are detected, antecedents chosen, and links closed into entities.

The method is that of Durrett, Hall and Klein (2013); see `weft.tasks.coreference.systems` and `.cascade`. Mentions come
from dependency trees, or from the document's own layer if `mentions` is *given*.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.arrays import Floats, Ints
from weft.deadline import check
from weft.declared import Array, Stored
from weft.errors import ConfigError, DataError
from weft.evaluate.semantics.coreference import evaluate_coreference
from weft.formats.streams import read_text
from weft.headers import Flag, Named, Record, Table, Text
from weft.pipeline.component import Asked, State, Stopwatch, Trainable, training_docs
from weft.pipeline.settings import Settings, option
from weft.storage import Arrays
from weft.tasks.coreference.candidates import FARTHEST, GAMMA, LOSS, clusters_of
from weft.tasks.coreference.cascade import Cascade, pruning_options
from weft.tasks.coreference.documents import (
    Marked,
    gold_mentions,
    learn_genders,
    marked,
    marks_are_inside,
    sample_of,
)
from weft.tasks.coreference.mentions import detect, given, trees_of
from weft.tasks.coreference.model import AntecedentModel, Options
from weft.tasks.coreference.properties import GENDERS, PROPERTIES, Genders
from weft.tasks.coreference.systems import SYSTEMS
from weft.text.conventions.coreference import LAYER, set_entities
from weft.text.doc import Doc
from weft.text.split import with_words

HEADER = Record(
    settings=Table(), possessive=Flag(), genders=Named(Text(GENDERS)), names=Named(Text((*GENDERS, "both")))
)
_SLOTS = Array("slots", "uint32", ("rows",), below="table", rising=True)
_VALUES = Array("values", "float32", ("rows",))
_SIZES = tuple(map(len, PROPERTIES.values()))
MENTIONS = ("detected", "given")


@dataclass
class CorefSettings(Settings):
    """Options of a resolver of coreference."""

    layer: str = option(LAYER, "Layer of mentions and entities.")
    system: str = option(
        "basic", "How antecedents are chosen: one by one, or with properties of entities.", choices=SYSTEMS
    )
    features: str = option("words", "Features of pairs: with words, or those of the paper.", choices=("words", "paper"))
    mentions: str = option("detected", "Mentions: detected in trees, or given by the layer.", choices=MENTIONS)
    singletons: bool = option(False, "Also write entities that have a single mention.")
    names: dict[str, str] = option(
        {}, "Lists of first names, such as fem=female.txt,masc=male.txt.", metavar="GENDER=FILE,..."
    )
    false_anaphor: float = option(LOSS[0], "Cost of linking what begins an entity.")
    false_new: float = option(LOSS[1], "Cost of beginning an entity with what should be linked.")
    wrong_link: float = option(LOSS[2], "Cost of a link to a wrong mention.")
    gamma: float = option(GAMMA, "Candidates with smaller log odds against the best one are pruned.")
    farthest: int = option(FARTHEST, "Longest distance of an antecedent, in mentions.")
    epochs: int = option(12, "Passes over the training data.")
    rate: float = option(0.1, "Learning rate.")
    penalty: float = option(0.001, "L1 penalty.")
    bits: int = option(18, "Logarithm of the number of weights.", hidden=True)
    seed: int = option(0, "Random seed.")
    workers: int = option(1, "Number of threads; training uses one.", hidden=True)

    def check(self) -> None:
        for name, known in (("system", SYSTEMS), ("features", ("words", "paper")), ("mentions", MENTIONS)):
            if getattr(self, name) not in known:
                raise ConfigError(f"{name} must be one of {', '.join(known)}, got {getattr(self, name)!r}")
        if min(self.false_anaphor, self.false_new, self.wrong_link, self.penalty) < 0 or self.rate <= 0:
            raise ConfigError("costs of errors and the penalty must be at least 0, and the rate above 0")
        if self.gamma > 0 or not 1 <= self.farthest <= 10_000 or self.epochs < 1 or not 8 <= self.bits <= 24:
            raise ConfigError(
                "gamma must be at most 0, farthest from 1 to 10,000, epochs at least 1, bits from 8 to 24; got "
                f"{self.gamma}, {self.farthest}, {self.epochs} and {self.bits}"
            )
        unknown = sorted(set(self.names) - set(GENDERS))
        if unknown:
            raise ConfigError(f"names are lists of {', '.join(GENDERS)}, not of {', '.join(unknown)}")

    @property
    def of_models(self) -> Options:
        """The options of the models."""
        return Options(
            self.system, True, self.features == "words", self.bits, self.epochs, self.rate, self.penalty, seed=self.seed
        )


class CorefResolver(Trainable):
    """Finds the entities of documents and their mentions.

    >>> def story(name, pronoun, gender, entities=True):
    ...     words = [name, "came", ".", pronoun, "sat", "."]
    ...     doc = Doc.from_words([words[:3], words[3:]], upos=[["PROPN", "VERB", "PUNCT"], ["PRON", "VERB", "PUNCT"]],
    ...         feats=[["Number=Sing", "", ""], [f"Gender={gender}|Number=Sing|Person=3", "", ""]],
    ...         head=[[2, 0, 2], [2, 0, 2]], deprel=[["nsubj", "root", "punct"]] * 2)
    ...     if entities:
    ...         set_entities(doc, [(0, 1), (3, 4)], [0, 0])
    ...     return doc
    >>> train = [story("Ada", "she", "Fem"), story("Bo", "he", "Masc"), story("Eve", "she", "Fem")]
    >>> resolver = CorefResolver(CorefSettings(epochs=3))
    >>> report = resolver.fit(train)
    >>> new = story("Zoe", "she", "Fem", entities=False)
    >>> resolver([new])
    >>> new.entities_of("coref")
    [Entity('Zoe', 2 mentions)]
    """

    task = "coref"
    settings_class = CorefSettings
    settings: CorefSettings
    requires = ("tokens", "upos", "head")
    gives_probabilities = True

    def __init__(self, settings: CorefSettings | None = None) -> None:
        super().__init__(settings)
        self.provides = (f"spans/{self.settings.layer}", f"clusters/{self.settings.layer}")
        self.model: Cascade | None = None
        self.genders = Genders()
        self.possessive = False

    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        """Train on documents with trees, mentions and entities; dev data are scored."""
        watch, settings = Stopwatch(), self.settings
        docs = self._checked(training_docs(train))
        held_out = None if dev is None else self._checked(with_words(dev))
        self.possessive = marks_are_inside(docs, settings.layer)
        detected = settings.mentions == "detected"
        documents = [marked(doc, detected, self.possessive, settings.layer) for doc in docs]
        if not any(len(np.unique(each.entity[each.entity >= 0])) < (each.entity >= 0).sum() for each in documents):
            raise DataError("there is nothing to train on: no entity has two mentions")
        self.genders = learn_genders(documents, _read_names(settings.names))
        samples = [sample_of(each, self.genders, True, settings.farthest) for each in documents]
        loss = (settings.false_anaphor, settings.false_new, settings.wrong_link)
        self.model = Cascade.fit(samples, settings.of_models, settings.gamma, loss)
        self.genders = self.genders.decided()
        report: dict[str, Any] = {
            "training": {
                "documents": len(docs),
                "mentions": sum(len(each.mentions) for each in documents),
                "weights": int((self.model.fine.weights != 0).sum()),
                **watch.seconds(),
            }
        }
        if held_out is not None:
            report["scores"] = {f"dev {name}": value for name, value in self._scored(held_out).items()}
        return report

    def _checked(self, docs: Sequence[Doc]) -> list[Doc]:
        for doc in docs:
            missing = [layer for layer in self.requires if not doc.has(layer)]
            if missing:
                raise DataError(f"{doc.id or 'a document'} has no {', '.join(missing)}; annotate it before training")
        return list(docs)

    def _scored(self, docs: Sequence[Doc]) -> dict[str, float]:
        """The scores of the mentions and entities found, with singletons only if they are written."""
        found = []
        for doc in docs:
            other = Doc(doc.text, doc.strings)
            other.word_token, other.columns = doc.word_token, doc.columns
            self._write(other, *self._resolved(doc), asked=Asked())
            found.append(other)
        layer, singletons = self.settings.layer, self.settings.singletons
        return evaluate_coreference(docs, found, layer, singletons).as_dict()

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        for doc in docs:
            check()
            self._write(doc, *self._resolved(doc), asked=asked)

    def _resolved(self, doc: Doc) -> tuple[list[tuple[int, int]], Ints, list[float]]:
        """Mentions, the entity of each, and the probability of each one's antecedent."""
        model, settings = self.trained(self.model), self.settings
        trees = trees_of(doc)
        if settings.mentions == "given":
            mentions = given(doc, gold_mentions(doc, settings.layer)[0], trees)
        else:
            mentions = detect(doc, trees, possessive=self.possessive)
        if not mentions:
            return [], np.zeros(0, dtype=np.int64), []
        each = Marked(doc, trees, mentions, np.full(len(mentions), -1, dtype=np.int64))
        chosen, probabilities = model.decide(sample_of(each, self.genders, False, settings.farthest))
        return [mention[:2] for mention in mentions], clusters_of(chosen), probabilities

    def _write(
        self, doc: Doc, mentions: list[tuple[int, int]], entity: Ints, probabilities: list[float], asked: Asked
    ) -> None:
        sizes = np.bincount(entity, minlength=1)
        kept = [place for place, own in enumerate(entity.tolist()) if self.settings.singletons or sizes[own] > 1]
        layer = self.settings.layer
        set_entities(doc, [mentions[place] for place in kept], [int(entity[place]) for place in kept], layer)
        if asked.probabilities:
            for number, place in enumerate(kept):
                doc.spans[layer].attributes[number] = {"probability": round(probabilities[place], 4)}

    def state(self) -> State:
        model = self.trained(self.model)
        header = {
            "settings": {**self.saved_settings(), "names": {}}, "possessive": self.possessive,
            "genders": dict(self.genders.words), "names": dict(self.genders.names),
        }  # fmt: skip
        arrays: Arrays = {}
        for name, own in (("coarse", model.coarse), ("fine", model.fine)):
            kept = np.flatnonzero(own.weights.astype(np.float32))
            arrays[f"{name}/slots"] = kept.astype(np.uint32)
            arrays[f"{name}/values"] = own.weights[kept].astype(np.float32)
            arrays |= {f"{name}/projection{k}": matrix for k, matrix in enumerate(own.projections)}
        return header, arrays

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> CorefResolver:
        resolver = cls(CorefSettings.from_saved(header["settings"]))
        HEADER.check(header)
        resolver.possessive = header["possessive"]
        resolver.genders = Genders({}, header["names"], header["genders"])
        stored, settings = Stored.of(arrays), resolver.settings
        options = settings.of_models
        coarse = _restored(pruning_options(options), stored.under("coarse/"))
        resolver.model = Cascade(coarse, _restored(options, stored.under("fine/")), settings.gamma)
        return resolver


def _restored(options: Options, stored: Stored) -> AntecedentModel:
    size = 1 << options.bits
    found = stored.take(_SLOTS, _VALUES, table=size)
    weights: Floats = np.zeros(size)
    weights[found["slots"]] = found["values"]
    projections: list[Floats] = []
    if options.system == "transitive":
        declared = [
            Array(f"projection{k}", "float64", (size, size), within=(-50.0, 50.0)) for k, size in enumerate(_SIZES)
        ]
        matrices = stored.take(*declared)
        projections = [matrices[each.name] for each in declared]
    return AntecedentModel(options, weights, projections, _SIZES)


def _read_names(files: dict[str, str]) -> dict[str, str]:
    """First names in lower case with their genders; a name of several lists is of both."""
    found: dict[str, str] = {}
    for gender, path in files.items():
        for line in read_text(path).splitlines():
            name = line.strip().lower()
            if name and not name.startswith("#"):
                found[name] = gender if found.get(name, gender) == gender else "both"
    return found
