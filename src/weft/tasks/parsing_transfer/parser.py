"""Parsing a language without a treebank, using treebanks of other languages (Täckström, McDonald & Nivre 2013).

    base      p(y | x) ~ exp of the sum over arcs of y of  w . f(h, m, language of x),  trained on all treebanks
    adapted   maximizes  sum over target sentences of  log of the sum over y in y~(x) of p(y | x)  -  lambda ||w||^2

over projective trees y. Features of the base are tags, shared between languages as far as their typology agrees
(`weft.tasks.parsing_transfer.features`). y~(x) are the trees built from sets of heads that are plausible under the
base (`weft.learn.trees.head_sets`); the adapted parser uses words and trains on target sentences only:

    viterbi   the base's best tree                     aast   its most probable heads, and its best tree
    aaet      these, and the tree of a second parser: arc-eager, trained on treebanks of the most similar languages
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Mask
from weft.errors import ConfigError, DataError, ModelError
from weft.evaluate.labels.weak_report import WeakReport, weak_report
from weft.features.tree_templates import TreeProgram
from weft.formats import read
from weft.headers import Flag, Named, Record, Row, Text
from weft.infer.trees.arcs import all_arcs
from weft.learn.batch.objective import Objective
from weft.learn.batch.optimize import minimize
from weft.learn.self_training import SelfLabels, self_train
from weft.learn.signals import Gold, Partial
from weft.learn.training import Result
from weft.learn.trees.head_sets import ambiguous_sets, report_sets, tree_sets
from weft.learn.trees.listed_trees import kept_features
from weft.learn.trees.model import TreeBatch, TreeModel
from weft.lexical.typology import TRAITS, Language, Typology, read_typology, typology
from weft.lexical.universal_tags import tagsets_of
from weft.pipeline.component import Asked, State, Stopwatch
from weft.pipeline.settings import option
from weft.tasks.parsing.mst.parser import MSTParser
from weft.tasks.parsing.mst.settings import MSTSettings
from weft.tasks.parsing.transitions.parser import Parser, ParserSettings
from weft.tasks.parsing.weighted_arcs import BATCH
from weft.tasks.parsing_transfer.features import (
    ARCS,
    FIELDS,
    FUNCTION_HEADS,
    LEXICALIZED,
    SHARES,
    TAGS,
    TEMPLATES,
    TransferReader,
    partners,
    transfer_program,
)
from weft.text.doc import Doc

ADAPT = ("none", "viterbi", "aast", "aaet")
#: Which arcs traits describe: adpositions attach to nouns, or are heads.
HEADS = {"content": ARCS, "function": FUNCTION_HEADS}
#: The key in a document's `meta` for the code of its language.
LANGUAGE = "language"
HEADER = Record(
    languages=Named(Record(code=Text(), name=Text(), family=Text(), values=Row((Text(),) * len(TRAITS)))),
    groups=Named(Text()),
    adapted=Flag(),
)


@dataclass
class TransferSettings(MSTSettings):
    """Options of a parser for a language without a treebank; of `MSTSettings` it uses `bits` and `fields`."""

    system: str = "mst1"
    learner: str = "crf"
    threshold: float = 0.0
    relations: str = "none"
    morphology: bool = False
    crossings: str = "skip"
    bits: int = option(20, "Hash weights into 2^N places.", metavar="N")
    fields: dict[str, str] = option(
        FIELDS,
        "Columns that words and tags are read from, as w=form,t=upos.",
        flag="--template-fields",
        metavar="NAME=COLUMN,...",
    )
    sources: dict[str, str] = option(
        {}, "Treebanks of other languages to train on, by language code.", metavar="CODE=FILE,..."
    )
    target: str = option(
        "", "Code of the language to parse, and a file of its tagged sentences.", metavar="CODE[=FILE]"
    )
    share: str = option(
        "family",
        "What languages share: from nothing but tags (delex) to features by family.",
        choices=SHARES,
    )
    adapt: str = option("none", "How the parser adapts to sentences of the target.", choices=ADAPT)
    sigma: float = option(0.95, "Probability mass that ambiguous sets of heads hold.")
    penalty: float = option(0.02, "L2 penalty of the base parser; larger values give larger sets of heads.")
    adapted_penalty: float = option(1.0, "L2 penalty of the adapted parser.")
    iterations: int = option(100, "Maximum number of iterations of the optimizer.")
    adapt_iterations: int = option(1, "Iterations of adaptation; each starts from the heads of the parser before.")
    lexicalized: bool = option(True, "Let the adapted parser use words.")
    known: bool = option(False, "Add the heads that the target file gives to the sets.")
    tags: str = option("upos", "Tags as they are, or mapped to the twelve universal ones.", choices=TAGS)
    heads: str = option(
        "content",
        "Heads of the treebanks: content words, or function words such as adpositions.",
        choices=tuple(HEADS),
    )
    longest: int = option(50, "Leave out longer sentences.")
    typology: str = option("", "File of languages to add to the table of the package.", metavar="FILE")

    def check(self) -> None:
        super().check()
        for name, known in (("share", SHARES), ("adapt", ADAPT), ("heads", tuple(HEADS)), ("tags", TAGS)):
            if getattr(self, name) not in known:
                raise ConfigError(f"{name} must be one of {', '.join(known)}, got {getattr(self, name)!r}")
        fixed = {"system": "mst1", "shape": "projective", "learner": "crf", "relations": "none", "guide": ""}
        for name, value in fixed.items():
            if getattr(self, name) != value:
                raise ConfigError(
                    f"a cross-lingual parser supports only {name}={value!r}: it predicts the heads of projective "
                    "trees with a likelihood model of arcs"
                )
        for name in ("iterations", "adapt_iterations", "longest"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        for name in ("penalty", "adapted_penalty"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} must be at least 0, got {getattr(self, name)}")
        if not 0.0 <= self.sigma <= 1.0:
            raise ConfigError(f"sigma, the probability mass of a set of heads, must be from 0 to 1, got {self.sigma}")
        if not {"w", "t"} <= set(self.fields):
            raise ConfigError(f"the fields w (words) and t (tags) are required, got {', '.join(self.fields)}")

    @property
    def language(self) -> str:
        """The code of the target's language."""
        return self.target.partition("=")[0]


class TransferParser(MSTParser):
    """Predicts heads in a language that has tags but no training trees.

    >>> table = [["die", "Frau", "sieht", "das", "Boot"]], [["DET", "NOUN", "VERB", "DET", "NOUN"]], [[2, 3, 0, 5, 3]]
    >>> german = Doc.from_words(table[0] * 4, upos=table[1] * 4, head=table[2] * 4)
    >>> german.meta["language"] = "de"
    >>> dutch = Doc.from_words([["de", "vrouw", "ziet", "de", "boot"]] * 4, upos=table[1] * 4)
    >>> parser = TransferParser(TransferSettings(target="nl", adapt="aast", bits=14, iterations=20), target=[dutch])
    >>> report = parser.fit([german])
    >>> new = Doc.from_words([["de", "boot", "vaart"]], upos=[["DET", "NOUN", "VERB"]])
    >>> parser([new])
    >>> new.head.tolist()
    [2, 3, 0]
    """

    task = "transfer-parser"
    settings_class = TransferSettings
    settings: TransferSettings
    provides = ("head",)
    _reader: TransferReader

    def __init__(
        self,
        settings: TransferSettings | None = None,
        target: Sequence[Doc] = (),
        groups: Mapping[str, str] | None = None,
        table: Typology | None = None,
    ) -> None:
        """`target` are target sentences; `groups` is the result of `partners`, once it is known."""
        settings = settings if settings is not None else TransferSettings()
        super().__init__(settings)
        self.target = list(target)
        self.adapted = False
        self.head_sets: Mask | None = None  # training signal of the adapted parser, over all arcs of the target
        self._learned: list[Doc] = []  # the target sentences that belong to them
        self._sources: tuple[list[Doc], list[str]] = ([], [])  # training data of the base, and its languages
        if table is None:
            table = read_typology(settings.typology) if settings.typology else typology()
        self.table = table
        self._use(dict(groups or {}))

    def _use(self, groups: dict[str, str]) -> None:
        """Create the reader for these language groups."""
        self.groups = groups
        settings = self.settings
        self._reader = TransferReader(
            settings.fields, self.table, groups, settings.language, HEADS[settings.heads], settings.tags == "twelve"
        )

    def fit(self, train: Iterable[Doc] = (), dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        """Train on treebanks, with each document's language code in `meta`, and adapt to the target.

        Without documents, `settings.sources` are read. `dev` are target sentences, used for scoring only.
        """
        watch = Stopwatch()
        settings = self.settings
        docs = [doc for doc in train if doc.n_words] or read_sources(settings.sources)
        languages = [self._language_of(doc) for doc in docs]
        self._read_target()
        codes = sorted(set(languages))
        if settings.language in codes:
            raise ConfigError(
                f"the target {settings.language} is among the source languages: train on its trees "
                "directly, with `weft train parser`"
            )
        self._check_tags(docs)
        self._use(partners(settings.share, self.table, [*codes, settings.language]))
        docs, languages = _shorter(docs, languages, settings.longest)
        words, _, sentences = self._reader.read(docs, languages)
        heads, _, keep, counts = self._trees(docs, sentences)
        if not len(keep):
            raise DataError(
                f"none of the {counts['sentences']:,} training sentences is usable: their heads are missing "
                "or form cycles, or their arcs cross"
            )
        batch = self._batch(docs, words, sentences, heads).select(keep)
        self.adapted, self._sources = False, (docs, languages)
        self.model = self._new_model()
        found = self._minimize(self.model, batch, Gold(), settings.penalty, f"parser of {len(codes)} languages")
        self.weights = found.weights.astype(np.float32)
        report: dict[str, Any] = {
            "languages": " ".join(codes), "target": settings.language, "share": settings.share, "adapt": settings.adapt,
            "partners": self.groups[settings.language] or "none", **counts, "words": int(batch.offsets[-1]),
            "iterations": found.iterations,
        }  # fmt: skip
        if settings.adapt != "none":
            report |= self._adapt()
        report |= watch.seconds()
        result: dict[str, Any] = {"training": report}
        held_out = None if dev is None else [doc for doc in dev if doc.n_words]
        if held_out:
            result["scores"] = {f"dev {name}": value for name, value in self.scores(held_out).items()}
        return result

    def adapt(self, adapt: str, **changes: Any) -> TransferParser:
        """Adapt this base, just trained, to the target; adaptation settings may be changed.

        The result is the same as if `fit` had trained everything, but the base is not trained again.
        """
        if self.adapted or not self._sources[0]:
            raise ConfigError("only a base that was just trained with adapt=none can be adapted")
        parser = TransferParser(replace(self.settings, adapt=adapt, **changes), self.target, self.groups, self.table)
        parser._sources, parser.model, parser.weights = self._sources, self.model, self.weights
        parser._read_target()
        if adapt != "none":
            parser._adapt()
        return parser

    def _language_of(self, doc: Doc) -> str:
        code = doc.meta.get(LANGUAGE)
        if code is None:
            raise DataError(
                "a training document has no language: give treebanks as CODE=FILE, or set "
                f"doc.meta[{LANGUAGE!r}] to a code such as 'de'"
            )
        return self.table[str(code)].code

    def _read_target(self) -> None:
        settings = self.settings
        code, sign, file = settings.target.partition("=")
        if not code:
            raise ConfigError("the parser needs a target language: set target=CODE, or CODE=FILE with sentences of it")
        self.table[code]
        if sign and not self.target:
            self.target = [doc for doc in read(file) if doc.n_words]
        if settings.adapt != "none" and not any(doc.n_words for doc in self.target):
            raise DataError(f"adapt={settings.adapt} trains on target sentences: set target=CODE=FILE, or adapt=none")

    def _check_tags(self, docs: Sequence[Doc]) -> None:
        """Refuse mixed tagsets: a tag that is unknown on one side carries no information there."""
        if self.settings.fields["t"] == "upos" and self.settings.tags == "upos":
            known = tagsets_of({tag for doc in docs for tag in set(doc.column("upos"))})
            tagsets_of({tag for doc in self.target for tag in set(doc.column("upos"))}, known)

    def _minimize(self, model: TreeModel, batch: TreeBatch, signal: Any, penalty: float, what: str) -> Result:
        batches = list(batch.batches(BATCH))
        objective = Objective(kept_features(model, batches), batches, signal, l2=2.0 * penalty)
        return minimize(objective, np.zeros(model.size), max_iterations=self.settings.iterations, describe=what)

    def _adapt(self) -> dict[str, Any]:
        settings, base = self.settings, self.model
        assert base is not None
        target, _ = _shorter(self.target, [settings.language] * len(self.target), settings.longest)
        if not target:
            raise DataError(f"the target has no training sentence of at most {settings.longest} words")
        words, _, sentences = self._reader.read(target)
        batch, more = self._batch(target, words, sentences), self._more_sets(target)
        self.adapted = True
        adapted = self._new_model()
        iterations: list[int] = []

        def learn(before: Any, chosen: SelfLabels | None) -> tuple[TreeModel, NDArray[Any]]:
            if chosen is None:
                return base, self.weights
            own = replace(batch, head_sets=chosen.labels)
            found = self._minimize(adapted, own, Partial(), settings.adapted_penalty, f"parser of {settings.language}")
            iterations.append(found.iterations)
            return adapted, found.weights.astype(np.float32)

        def predict(found: tuple[TreeModel, NDArray[Any]]) -> tuple[Mask, NDArray[np.float64]]:
            sigma = 0.0 if settings.adapt == "viterbi" else settings.sigma
            sets = [ambiguous_sets(found[0].score(part, found[1]), sigma) for part in batch.batches(BATCH)]
            return np.concatenate(sets) | more, np.ones(len(batch))

        outcome = self_train(
            learn, predict, rounds=settings.adapt_iterations, threshold=0.0, by="all", seed=settings.seed
        )
        self.model, self.weights = outcome.model
        assert outcome.labels is not None
        self.head_sets, self._learned = outcome.labels.labels, target
        return {"target sentences": len(batch), **self.set_report(), "adaptation iterations": iterations[-1]}

    def _more_sets(self, target: Sequence[Doc]) -> Mask:
        """Arcs to add to the base's sets: predictions of the second parser, and known heads."""
        settings, space = self.settings, all_arcs(np.concatenate([[0], np.cumsum(_lengths(target))]))
        more = np.zeros(space.n_arcs, dtype=np.bool_)
        if settings.adapt == "aaet":
            parsed = [doc.subset(range(doc.n_sentences)) for doc in target]
            self.second_parser()(parsed)
            more |= tree_sets(space, _heads_of(parsed))
        if settings.known:
            more |= tree_sets(space, _heads_of(target))
        return more

    def second_parser(self) -> Parser:
        """A delexicalized arc-eager parser, trained on the treebanks of the languages most similar to the target.

        The paper uses a generative model with parameters shared by typology; any parser with a different bias may
        take its place.
        """
        docs, languages = self._sources
        near = self.table.nearest(self.settings.language, sorted(set(languages)))
        second = Parser(ParserSettings(delexicalized=True, nonprojective="skip", seed=self.settings.seed))
        second.fit([doc for doc, code in zip(docs, languages, strict=True) if code in near])
        return second

    def set_report(self) -> dict[str, float]:
        """Ambiguity of the head sets that the adapted parser was trained on; with gold heads also their coverage."""
        if self.head_sets is None:
            raise ConfigError("only an adapted parser that was just trained has sets of heads to report")
        gold = _heads_of(self._learned)
        space = all_arcs(np.concatenate([[0], np.cumsum(_lengths(self._learned))]))
        sets = report_sets(space, self.head_sets, gold if gold.min() >= 0 else None)
        report = {"heads per word": sets.heads, "words with one head": sets.single}
        if sets.covered is not None and sets.oracle is not None:
            report |= {"gold heads in the sets": sets.covered, "oracle UAS of the sets": sets.oracle}
        return {name: round(value, 4) for name, value in report.items()}

    def weak_report(self) -> WeakReport:
        """Coverage, ambiguity and confidence on the target sentences; accuracy if these have gold heads."""
        if self.head_sets is None:
            raise ConfigError("only an adapted parser that was just trained has sets of heads to report")
        space = all_arcs(np.concatenate([[0], np.cumsum(_lengths(self._learned))]))
        sizes = np.bincount(space.word[self.head_sets], minlength=space.n_words)
        choices = np.bincount(space.word, minlength=space.n_words)
        heads = np.concatenate([trees.best() for trees in self.trees(self._learned)])
        gold = _heads_of(self._learned)
        return weak_report(
            sizes,
            sizes < choices,
            right=heads == gold,
            has_gold=gold >= 0,
            confidence=np.clip(self.head_probabilities(self._learned, heads), 0.0, 1.0),
        )

    def _program(self) -> TreeProgram:
        settings = self.settings
        if not self.adapted:
            templates = settings.templates or TEMPLATES[settings.share]
        else:
            templates = LEXICALIZED if settings.lexicalized else TEMPLATES["delex"]
        return transfer_program(templates, settings.fields)

    def scores(self, docs: Sequence[Doc]) -> dict[str, float]:
        """UAS on documents with gold words and trees."""
        return {"UAS": super().scores(docs)["UAS"]}

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        """Parse documents in place; existing relations do not change."""
        relations = [doc.columns.get("deprel") for doc in docs]
        super().annotate(docs, asked)
        for doc, before in zip(docs, relations, strict=True):
            if before is None:
                del doc.columns["deprel"]
            else:
                doc.columns["deprel"] = before

    def state(self) -> State:
        header, arrays = super().state()
        # Paths concern whoever trained the model; the typology of its languages belongs to the model.
        header["settings"] |= {"sources": {}, "target": self.settings.language, "typology": ""}
        header |= {"adapted": self.adapted, "groups": self.groups}
        header["languages"] = {code: vars(self.table[code]) for code in self.groups}
        return header, arrays

    @classmethod
    def _of_settings(cls, header: dict[str, Any]) -> TransferParser:
        HEADER.check(header)
        languages = {
            code: Language(own["code"], own["name"], own["family"], tuple(own["values"]))
            for code, own in header["languages"].items()
        }
        settings = TransferSettings.from_saved(header["settings"])
        if settings.language not in header["groups"]:
            raise ModelError(f"the model has no language {settings.language!r}: the model file is damaged")
        parser = cls(settings, groups=header["groups"], table=Typology(languages))
        parser.adapted = header["adapted"]
        return parser


def read_sources(files: Mapping[str, str]) -> list[Doc]:
    """Read treebanks by language code; every document records its language.

    >>> read_sources({})
    Traceback (most recent call last):
    ...
    weft.errors.ConfigError: give training treebanks with the codes of their languages: en=FILE,de=FILE
    """
    if not files:
        raise ConfigError("give training treebanks with the codes of their languages: en=FILE,de=FILE")
    docs = []
    for code, file in files.items():
        treebank = [doc for doc in read(Path(file)) if doc.n_words]
        if not any(doc.head is not None for doc in treebank):
            raise DataError(f"{file} has no heads; expected them in the column HEAD of CoNLL-U")
        for doc in treebank:
            doc.meta[LANGUAGE] = code
        docs += treebank
    return docs


def _shorter(docs: Sequence[Doc], languages: Sequence[str], longest: int) -> tuple[list[Doc], list[str]]:
    """The sentences of at most `longest` words."""
    kept: list[Doc] = []
    codes: list[str] = []
    for doc, code in zip(docs, languages, strict=True):
        sizes = np.diff(doc.sentence_offsets)
        own = np.flatnonzero((sizes <= longest) & (sizes > 0))
        if len(own):
            kept.append(doc if len(own) == doc.n_sentences else doc.subset(own.tolist()))
            codes.append(code)
    return kept, codes


def _lengths(docs: Sequence[Doc]) -> NDArray[np.int64]:
    return np.concatenate([np.diff(doc.sentence_offsets) for doc in docs]).astype(np.int64)


def _heads_of(docs: Sequence[Doc]) -> NDArray[np.int32]:
    """Heads of all words, -1 if missing."""
    heads = [doc.head if doc.head is not None else np.full(doc.n_words, -1) for doc in docs]
    return np.concatenate(heads).astype(np.int32)
