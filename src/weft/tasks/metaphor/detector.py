"""Metaphors in parsed text, recognized and explained from knowledge that was harvested from other text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from weft.deadline import check
from weft.declared import Stored
from weft.errors import ConfigError
from weft.headers import Record, Table
from weft.lexical.harvest.clauses import clauses, trees_of
from weft.lexical.harvest.counts import MOST, read_counts
from weft.lexical.harvest.harvest import Harvest
from weft.lexical.harvest.knowledge import VERBS, Cleaning, Knowledge
from weft.lexical.harvest.patterns import Patterns
from weft.lexical.harvest.phrases import Phrase, Tagged, names_of, tagged_sentences
from weft.lexical.harvest.wordnet_isa import wordnet_isa
from weft.pipeline.component import Asked, State, Stopwatch, Trainable, training_docs
from weft.pipeline.settings import Settings, option
from weft.storage import Arrays
from weft.tasks.metaphor.readings import BOTH, CONTEXTS, LITERALS, ODDS, SOURCE, Reader, Reading, Thresholds, Verdict
from weft.text.conventions.metaphor import LAYER
from weft.text.doc import Doc
from weft.text.layers import SpanLayer

#: Explanations that are kept beside the best.
ALTERNATIVES = 5
HEADER = Record(settings=Table(), knowledge=Table())


@dataclass
class MetaphorSettings(Settings):
    """Options of the recognition of metaphors."""

    layer: str = option(LAYER, "Span layer of metaphors.")
    isa: str = option("", "Table of isA pairs to add: instance, concept and count, by tabs.", metavar="FILE")
    wordnet: str = option(
        "", "Folder of a WordNet database whose hypernyms are added to the isA pairs.", metavar="FOLDER"
    )
    cutoff: int = option(5, "How often 'x is a y' must occur to count as a metaphor.")
    isa_cutoff: int = option(1, "How often an isA pair must occur.")
    verbs: int = option(VERBS, "Number of verbs of context, the most frequent ones.")
    odds: str = option(
        "ratio", "How 'x is a y' is decided: against literal sums, or by the printed odds.", choices=ODDS
    )
    contexts: str = option(
        "classes",
        "Whose verbs count for a concept: also its instances' (classes), or its own (words).",
        choices=CONTEXTS,
    )
    literal: str = option(
        "uses",
        "What a metaphor competes with: the noun's concepts and its own uses, its concepts alone, or nothing.",
        choices=LITERALS,
        flag="--literal-readings",
    )
    copula_delta: float = option(1.0, "How much more probable a metaphor 'x is a y' must be than a literal one.")
    clause_delta: float = option(1.0, "The same for nouns with verbs.")
    most: int = option(MOST, "Pairs of each kind held in memory; more go to disk.", flag="--pairs-in-memory")
    workers: int = option(1, "Number of processes that annotate and count text.")

    def check(self) -> None:
        for name in ("cutoff", "isa_cutoff", "verbs", "most", "workers"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        self.thresholds()

    def cleaning(self) -> Cleaning:
        """How harvested pairs become knowledge."""
        return Cleaning(self.cutoff, self.isa_cutoff, self.verbs)

    def thresholds(self) -> Thresholds:
        """How decisions are made."""
        return Thresholds(self.copula_delta, self.clause_delta, self.odds, self.contexts, literal=self.literal)


class MetaphorDetector(Trainable):
    """Recognizes metaphors of three types and says what is spoken of as what.

    >>> def said(words, lemmas, tags):
    ...     return Doc.from_words([words.split()], lemma=[lemmas.split()], upos=[tags.split()],
    ...         head=[[0] * len(words.split())], deprel=[["dep"] * len(words.split())])
    >>> texts = [said("Sports-cars such as Ferraris and Lotuses win", "sports-car such as ferrari and lotus win",
    ...              "NOUN ADJ ADP NOUN CCONJ NOUN VERB"),
    ...          said("A Lotus is like a beast", "a lotus be like a beast", "DET NOUN AUX ADP DET NOUN")]
    >>> detector = MetaphorDetector()
    >>> report = detector.fit(texts)
    >>> doc = said("My Ferrari is a beast", "my ferrari be a beast", "PRON NOUN AUX DET NOUN")
    >>> detector([doc])
    >>> [(found.target, found.source, found.concept) for found in doc.metaphors]
    [('ferrari', 'beast', 'sports-car')]
    """

    task = "metaphor"
    settings_class = MetaphorSettings
    settings: MetaphorSettings
    requires = ("tokens", "lemma", "upos", "head")
    unsaved = ("workers", "isa", "wordnet", "most")

    def __init__(self, settings: MetaphorSettings | None = None) -> None:
        super().__init__(settings)
        self.provides = (f"spans/{self.settings.layer}",)
        self.reader: Reader | None = None

    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        """Harvest annotated documents; there is nothing to tune on dev data."""
        watch, harvest = Stopwatch(), Harvest(self.settings.most)
        try:
            for doc in training_docs(train):
                harvest.add(doc)
            return self.learn(harvest, watch)
        finally:
            harvest.close()

    def learn(self, harvest: Harvest, watch: Stopwatch | None = None) -> dict[str, Any]:
        """Make a knowledge base of counts; isA pairs of files and of WordNet are added to them."""
        settings, watch = self.settings, watch or Stopwatch()
        if settings.isa:
            harvest.add_isa(read_counts(settings.isa))
        if settings.wordnet:
            from weft.lexical.resources.synsets import open_wordnet

            harvest.add_isa(wordnet_isa(open_wordnet(settings.wordnet), sorted(_compared(harvest))))
        known = Knowledge.of(harvest, settings.cleaning())
        self.reader = Reader(known, settings.thresholds())
        return {
            "training": {
                "sentences": harvest.sentences,
                **{f"{kind} counted": counts.total for kind, counts in harvest.counts.items()},
                "names": len(known.names),
                "isA pairs": int(known.isa.nnz),
                "metaphors": int(known.pairs.nnz),
                "verbs": len(known.verbs),
                **watch.seconds(),
            }
        }

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        reader = self.trained(self.reader)
        for doc in docs:
            layer, trees = SpanLayer(doc.strings), trees_of(doc)
            bounds = doc.sentence_offsets.tolist()
            for number, sentence in enumerate(tagged_sentences(doc)):
                check()
                first, length = bounds[number], len(sentence.forms)
                tree = trees[number] if trees is not None else ([0] * length, [""] * length)  # heads without relations
                for place, label, attributes in find(reader, sentence, *tree):
                    start, end = place
                    if "target_words" in attributes:
                        attributes["target_words"] = [first + k for k in attributes["target_words"]]
                    layer.add([(first + start, first + end)], label, **attributes)
            doc.spans[self.settings.layer] = layer

    def state(self) -> State:
        header, arrays = self.trained(self.reader).knowledge.state()
        return {"settings": self.saved_settings(), "knowledge": header}, arrays

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> MetaphorDetector:
        detector = cls(MetaphorSettings.from_saved(header["settings"]))
        HEADER.check(header)
        known = Knowledge.from_state(header["knowledge"], Stored.of(arrays))
        detector.reader = Reader(known, detector.settings.thresholds())
        return detector


Found = tuple[tuple[int, int], str, dict[str, Any]]


def find(reader: Reader, sentence: Tagged, heads: list[int], labels: list[str]) -> list[Found]:
    """The metaphors of a sentence: words, label and attributes, in the order of the words."""
    patterns = Patterns(sentence)
    found: dict[tuple[int, int], tuple[float, Found]] = {}

    def keep(phrase: Phrase, verdict: Verdict, label: str, attributes: dict[str, Any]) -> None:
        place = phrase.nouns, phrase.end
        attributes["probability"] = round(verdict.probability, 4)
        if place not in found or found[place][0] < verdict.probability:
            found[place] = verdict.probability, (place, label, attributes)

    for target, source in patterns.copulas():
        x, y = (_known(reader, sentence, phrase) for phrase in (target, source))
        verdict = reader.copula(x, y)
        if verdict.metaphor:
            told: dict[str, Any] = {"target": x, "source": y, "concept": reader.knowledge.shared_concept(x, y)}
            keep(source, verdict, BOTH, told | {"target_words": [target.nouns, target.end]})
    for phrase, verb, relation in clauses(sentence, patterns.phrases, heads, labels):
        x = _known(reader, sentence, phrase)
        verdict = reader.clause(x, relation, sentence.lemmas[verb])
        if verdict.metaphor and verdict.best is not None:
            told = _explained(reader, x, verdict.best)
            told |= {"verb": sentence.lemmas[verb], "relation": relation}
            others = verdict.readings[1 : 1 + ALTERNATIVES]
            if others:
                told["alternatives"] = [
                    {**_explained(reader, x, each), "log10": round(each.logs[2], 2)} for each in others
                ]
            keep(phrase, verdict, verdict.best.kind, told)
    return [each for _, each in sorted(found.values(), key=lambda item: item[1][0])]


def _explained(reader: Reader, x: str, reading: Reading) -> dict[str, Any]:
    target, source = (reading.other, x) if reading.kind == SOURCE else (x, reading.other)
    return {"target": target, "source": source, "concept": reader.knowledge.shared_concept(target, source)}


def _known(reader: Reader, sentence: Tagged, phrase: Phrase) -> str:
    """The longest name of a phrase that the knowledge base has, the longest of all if it has none."""
    names = names_of(sentence, phrase)
    return next((name for name in names if name in reader.knowledge.number), names[0])


def _compared(harvest: Harvest) -> set[str]:
    """The nouns of similes, copulas and clauses, and the concepts of the isA pairs."""
    return {name for kind in ("simile", "copula") for row in harvest.counts[kind] for name in row[:2]} | {
        row[0] for kind in ("subject", "object") for row in harvest.counts[kind]
    }
