"""Sequence labelling, one label per word: the base component of taggers and chunkers.

    templates + chain + learner + codec between labels and layers

`LabellerSettings` holds the options, one per field, for the command line and for Python. A subclass defines the gold
labels of a document and where predicted labels are written.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats
from weft.declared import Stored
from weft.errors import ConfigError, DataError
from weft.features.extract import Binding
from weft.features.templates import Templates
from weft.features.weights import PRECISIONS
from weft.headers import TEMPERATURE, Record, Table
from weft.infer.chains.chain import Chain
from weft.learn.chains.labels import LabelSpace
from weft.learn.cost import Cost
from weft.learn.local import Local, normalize_locally
from weft.learn.training import Checkpoint, EarlyStopping, Result
from weft.pipeline.component import Asked, State, Stopwatch, Trainable
from weft.pipeline.explanation import Explanation
from weft.pipeline.settings import Settings, option, template_fields_option
from weft.storage import Arrays
from weft.tasks.labelling.calibrate import held_out_temperature, temperature_on
from weft.tasks.labelling.candidate_data import CandidateData
from weft.tasks.labelling.chain_data import ChainData, ChainReader, ChainScorer
from weft.text.conventions.alternatives import note_alternatives
from weft.text.doc import Doc

LEARNERS = ("crf", "perceptron", "mira", "margin", "sgd", "adagrad", "memm")
#: Learners that maximize likelihood: their scores are log probabilities without calibration.
LIKELIHOOD = ("crf", "sgd", "memm")
OPTIMIZERS = ("lbfgs", "cg", "pcg", "mixed", "gis")

HEADER = Record(settings=Table(), chain=Table()).with_optional(temperature=TEMPERATURE)


@dataclass
class LabellerSettings(Settings):
    """Options of a sequence labeller."""

    templates: str = option("", "Feature templates; without any, the task's own.")
    fields: dict[str, str] = template_fields_option({})
    scheme: str | None = option(None, "Label scheme whose valid sequences are enforced.", metavar="SCHEME")
    learner: str = option("crf", "Learning algorithm.", choices=LEARNERS)
    optimizer: str = option("lbfgs", "Optimizer of the learners crf and memm.", choices=OPTIMIZERS)
    memory: int = option(5, "Number of steps that the optimizer lbfgs remembers.", flag="--lbfgs-memory")
    sigma: float = option(1.0, "Standard deviation of the Gaussian prior, for crf, memm, sgd and margin.")
    iterations: int = option(100, "Maximum number of iterations of crf and memm.")
    epochs: int = option(10, "Passes over the data of the online learners.")
    patience: int = option(5, "Stop after this many scores on the dev data without an improvement.")
    k: int = option(5, "Best labellings per sentence that mira compares.")
    features: str = option(
        "seen", "Weights for the labels seen with a feature, or for all labels.", choices=("seen", "all")
    )
    min_count: int = option(1, "Leave out features that occur less often.")
    hash_bits: int = option(0, "Hash features into 2^N rows instead of indexing them; 0 indexes them.", metavar="N")
    calibrate: bool = option(
        True, "Fit the temperature of the probabilities, for perceptron, mira, margin and adagrad."
    )
    precision: str = option("float32", "Precision of the saved weights.", choices=PRECISIONS)
    prune: float = option(0.0, "Drop weights of at most this size from the saved model.")
    seed: int = option(0, "Random seed.")
    workers: int = option(1, "Number of threads, for crf and memm.")
    scheduler: str = option("", "Dask scheduler whose workers sum the gradient, for crf and memm.", metavar="ADDRESS")
    checkpoint: str = option("", "File that keeps the state of training, to resume an interrupted run.", metavar="FILE")

    def check(self) -> None:
        """Check the values."""
        choices = {"learner": LEARNERS, "optimizer": OPTIMIZERS, "features": ("seen", "all"), "precision": PRECISIONS}
        for name, known in choices.items():
            if getattr(self, name) not in known:
                raise ConfigError(f"{name} must be one of {', '.join(known)}, got {getattr(self, name)!r}")
        for name in ("sigma", "iterations", "epochs", "patience", "k", "min_count", "workers"):
            if getattr(self, name) <= 0:
                raise ConfigError(f"{name} must be above 0, got {getattr(self, name)}")


class SequenceLabeller(Trainable):
    """A component that assigns a label to every word; see `Tagger` and `Chunker`."""

    gives_probabilities = True
    gives_kbest = True
    explains = True
    settings_class: type[LabellerSettings] = LabellerSettings
    settings: LabellerSettings
    unsaved = ("workers", "scheduler", "checkpoint")
    #: Iterations of an optimizer between evaluations on dev data: steps are small, and an evaluation costs a good part
    #: of one.
    look_every = 2

    def __init__(self, settings: LabellerSettings | None = None) -> None:
        super().__init__(settings)
        self.scorer: ChainScorer | None = None
        self.temperature = 1.0  # temperature that turns scores into probabilities

    @abstractmethod
    def gold(self, doc: Doc) -> list[str]:
        """The gold labels of an annotated document."""

    @abstractmethod
    def write(self, doc: Doc, labels: list[str], confidence: NDArray[np.float32] | None) -> None:
        """Write predicted labels into a document."""

    @abstractmethod
    def score(self, gold: list[list[str]], system: list[list[str]]) -> dict[str, float]:
        """Evaluation scores of predicted label sequences, the one to optimize first."""

    @abstractmethod
    def default_features(self, docs: Sequence[Doc]) -> tuple[str, dict[str, str]]:
        """Default templates and fields for the layers of the training data."""

    def prepare(self, docs: Sequence[Doc]) -> None:
        """Collect the resources that features need, such as dictionaries and word clusters, before training."""

    def bindings(self) -> Mapping[str, Binding]:
        """The columns that the fields of templates read."""
        return self.settings.fields

    def observed(self, docs: Sequence[Doc], training: bool = False) -> Sequence[Doc]:
        """The documents that features are extracted from; a task may add columns of its own."""
        return docs

    def extended(self, data: ChainData, observed: Sequence[Doc]) -> ChainData:
        """The training set; a task may add dense features."""
        return data

    def label_space(self, labels: Iterable[str], order: int) -> LabelSpace:
        """The label space of the training data."""
        return LabelSpace(sorted(set(labels)), order, self.settings.scheme)

    def cost(self, space: LabelSpace) -> float | Cost | None:
        """The cost of wrong labels for perceptron, mira and margin during training; None for their default."""
        return None

    def settings_for(self, docs: Sequence[Doc]) -> LabellerSettings:
        """The settings for training on documents; a task may adjust them to the training set."""
        return self.settings

    def learn(self, data: ChainData, docs: Sequence[Doc], early: EarlyStopping | None) -> Result:
        """Train the weights on the indexed documents."""
        return learn(data, self.settings_for(docs), early, cost=self.cost(data.model.space))

    def restore(self, header: Mapping[str, Any], arrays: Arrays) -> None:
        """Restore what `prepare` collected from a model file."""

    def begin(self, train: Iterable[Doc]) -> list[Doc]:
        """Choose templates and fields, call `prepare`, and return the documents to train on."""
        settings = self.settings
        docs = [doc for doc in train if doc.n_words]
        if not docs:
            raise DataError("there is nothing to train on: the documents have no words")
        templates, bound = self.default_features(docs)
        settings.templates = settings.templates or templates
        used = Templates(settings.templates).fields()
        settings.fields = {field: column for field, column in {**bound, **settings.fields}.items() if field in used}
        self.prepare(docs)
        return docs

    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        """Train on annotated documents; with dev data, stop when its score no longer improves."""
        watch = Stopwatch()
        docs = self.begin(train)
        settings = self.settings_for(docs)
        reader = ChainReader(Templates(settings.templates), self.bindings())
        labels = [self.gold(doc) for doc in docs]
        space = self.label_space((label for each in labels for label in each), reader.order)
        observed = self.observed(docs, training=True)
        data = ChainData.build(
            reader,
            observed,
            space.ids([label for each in labels for label in each]),
            space,
            settings.features == "seen",
            settings.min_count,
            settings.hash_bits,
        )
        data = self.extended(data, observed)
        del observed
        del labels  # free the memory: training may take long
        held_out = None if dev is None else [doc for doc in dev if doc.n_words]
        early = None if held_out is None else self._early_stopping(data, held_out)
        result = self.learn(data, docs, early)
        self.temperature = self._fit_temperature(data, result.weights, held_out, settings)
        self.scorer = data.freeze(result.weights, settings.precision, settings.prune)
        self.requires = self._required()
        report: dict[str, Any] = {
            "training": {
                "sentences": len(data.batch),
                "words": data.batch.n_words,
                "labels": len(space.labels),
                "features": len(data.node_index),
                "weights": data.model.size,
                "learner": settings.learner,
                "iterations": result.iterations,
                "calls": result.calls,
                "loss": result.loss,
                "stopped": result.why,
                **watch.seconds(),
            }
        }
        if early is not None:
            measure = next(iter(self.score([[]], [[]])))
            report["scores"] = {f"dev {measure}": early.best_score, "best_iteration": early.best_iteration}
        return report

    def _required(self) -> tuple[str, ...]:
        columns = (binding.partition(":")[0] for binding in self.settings.fields.values())
        return ("tokens", *dict.fromkeys(column for column in columns if column != "form"))

    def _early_stopping(self, data: ChainData, docs: Sequence[Doc]) -> EarlyStopping:
        if not docs:
            raise DataError("the dev set has no words")
        gold = [labels for doc in docs for labels in _by_sentence(self.gold(doc), doc.sentence_offsets.tolist())]
        batches = [data.encode([doc]) for doc in self.observed(docs)]
        names = np.array(data.model.space.labels)

        def score(weights: Floats) -> float:
            system: list[list[str]] = []
            for batch in batches:
                chain = data.model.score(batch, weights)
                path = decode(chain, self.settings.learner)
                system += _by_sentence(names[data.model.space.tags(path)].tolist(), batch.sentences.tolist())
            return next(iter(self.score(gold, system).values()))

        every = self.look_every if self.settings.learner in ("crf", "memm") else 1
        return EarlyStopping(score, self.settings.patience, every)

    def _fit_temperature(
        self, data: ChainData, weights: Floats, dev: Sequence[Doc] | None, settings: LabellerSettings
    ) -> float:
        space = data.model.space
        if settings.learner in LIKELIHOOD or not settings.calibrate:
            return 1.0
        known = set(space.labels)
        kept = [(doc, labels) for doc in dev or () if known.issuperset(labels := self.gold(doc))]
        if not kept:
            return held_out_temperature(data, settings, self.cost(space))
        tags = space.ids([label for _, labels in kept for label in labels])
        batch = data.encode(self.observed([doc for doc, _ in kept]), tags)
        assert batch.gold is not None
        return temperature_on(data.model.score(batch, weights), batch.gold)

    def conditional(self, chain: Chain) -> Chain:
        """The chain scaled by the temperature, whose probabilities are those of the model."""
        if self.settings.learner == "memm":
            return normalize_locally(chain)
        return chain if self.temperature == 1.0 else chain.temper(self.temperature)

    def posteriors(self, docs: Sequence[Doc]) -> tuple[list[str], Floats]:
        """The labels, and their probabilities at every word, `[word, label]`."""
        space = self._trained().space
        chain = self.conditional(self._trained().chain(self.observed(docs)))
        return space.labels, space.label_marginals(chain.node_marginals())

    def confidence(self, chain: Chain, path: NDArray[np.int32], docs: Sequence[Doc]) -> NDArray[np.float64]:
        """The confidence in every predicted label, for `write`: its probability."""
        space = self._trained().space
        tags = space.tags(path)
        marginals: NDArray[np.float64] = space.label_marginals(chain.marginals().node)
        return marginals[np.arange(len(tags)), tags]

    def _explain(self, doc: Doc, word: int) -> Explanation:
        from weft.tasks.labelling.explain import explain_label

        return explain_label(self, self._trained(), doc, word)

    def _trained(self) -> ChainScorer:
        return self.trained(self.scorer)

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        scorer = self._trained()
        chain = scorer.chain(self.observed(docs))
        path = decode(chain, self.settings.learner)
        tags = scorer.space.tags(path)
        confidence = None
        if asked.probabilities:
            confidence = self.confidence(self.conditional(chain), path, docs).astype(np.float32)
        self.write_all(docs, scorer.space.labels, tags, confidence)
        self.note_kbest(docs, asked.kbest)

    def note_kbest(self, docs: Sequence[Doc], k: int) -> None:
        """Store the k best label sequences of every sentence, if requested."""
        for doc in docs if k else ():
            note_alternatives(doc, self.task, self.kbest(doc, k))

    def write_all(
        self,
        docs: Sequence[Doc],
        names: Sequence[str],
        numbers: NDArray[np.integer],
        confidence: NDArray[np.float32] | None,
    ) -> None:
        """Write the labels of all words, given as indices in a list of names."""
        labels = list(map(names.__getitem__, numbers.tolist()))
        first = 0
        for doc in docs:
            end = first + doc.n_words
            self.write(doc, labels[first:end], None if confidence is None else confidence[first:end])
            first = end

    def kbest(self, doc: Doc, k: int) -> list[list[tuple[list[str], float]]]:
        """The k most probable label sequences of every sentence of a document, with their probabilities."""
        scorer = self._trained()
        chain = self.conditional(scorer.chain(self.observed([doc])))
        log_z = chain.log_partition()
        names = np.array(scorer.space.labels)
        return [
            [(names[scorer.space.tags(path)].tolist(), float(np.exp(score - log_z[s]))) for path, score in paths]
            for s, paths in enumerate(chain.kbest_scored(k))
        ]

    def state(self) -> State:
        header, arrays = self._trained().state()
        return {"settings": self.saved_settings(), "chain": header, "temperature": self.temperature}, arrays

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> Self:
        settings = cls.settings_class.from_saved(header["settings"])
        component = cls(settings)
        HEADER.check(header)
        component.temperature = header.get("temperature", 1.0)
        arrays = Stored.of(arrays)
        component.restore(header, arrays)
        reader = ChainReader(Templates(settings.templates), component.bindings())
        component.scorer = ChainScorer.from_state(reader, header["chain"], arrays)
        component.requires = component._required()
        return component


def decode(chain: Chain, learner: str) -> NDArray[np.int32]:
    """The best states under the model of a learner."""
    return (normalize_locally(chain) if learner == "memm" else chain).best()


def learn(
    data: ChainData | CandidateData,
    settings: LabellerSettings,
    early: EarlyStopping | None = None,
    callback: Callable[..., bool | None] | None = None,
    cost: float | Cost | None = None,
) -> Result:
    """Run the learner that the settings name."""
    from weft import learn as room

    checkpoint = Checkpoint(settings.checkpoint) if settings.checkpoint else None
    common: dict[str, Any] = {"early": early, "checkpoint": checkpoint, "callback": callback}
    if settings.learner in ("crf", "memm"):
        signal = room.Gold() if settings.learner == "crf" else Local()
        batches: list[Any] = list(data.batch.batches())
        methods: dict[str, Callable[[], Any]] = {
            "lbfgs": lambda: room.LBFGS(settings.memory),
            "cg": room.ConjugateGradient,
            "pcg": room.PreconditionedCG,
            "mixed": room.MixedCG,
            "gis": room.IterativeScaling,
        }
        with cluster_client(settings.scheduler) as client:
            objective = room.Objective(
                data.model, batches, signal, sigma=settings.sigma, workers=settings.workers, cluster=client
            )
            result: Result = room.minimize(
                objective,
                np.zeros(data.model.size),
                methods[settings.optimizer](),
                max_iterations=settings.iterations,
                describe=settings.learner,
                **common,
            )
        return result
    # Small batches are as accurate with AdaGrad and several times faster.
    sentences: list[Any] = list(data.batch.batches(8 if settings.learner == "adagrad" else 1))
    charge: dict[str, Any] = {} if cost is None else {"cost": cost}
    learners: dict[str, Callable[[], Any]] = {
        "perceptron": lambda: room.Perceptron(epochs=settings.epochs, seed=settings.seed, **charge),
        "mira": lambda: room.MIRA(epochs=settings.epochs, k=settings.k, seed=settings.seed, **charge),
        "margin": lambda: room.MaxMargin(
            epochs=settings.epochs, l2=1 / settings.sigma**2, seed=settings.seed, **charge
        ),
        "sgd": lambda: room.SGD(epochs=settings.epochs, l2=1 / settings.sigma**2, seed=settings.seed),
        "adagrad": lambda: room.AdaGrad(epochs=settings.epochs, seed=settings.seed),
    }
    trained: Result = learners[settings.learner]().fit(data.model, sentences, **common)
    return trained


def cluster_client(address: str) -> AbstractContextManager[Any]:
    """Connect to a Dask scheduler; None for an empty address."""
    if not address:
        return nullcontext()
    try:
        from distributed import Client
    except ImportError:
        raise ConfigError("training on a cluster needs Dask: pip install 'weft[cluster]'") from None
    try:
        client: AbstractContextManager[Any] = Client(address, timeout="10s")
        return client
    except (OSError, ValueError) as error:
        raise ConfigError(f"no Dask scheduler answers at {address!r}: {error}") from None


def _by_sentence(labels: list[str], offsets: list[int]) -> list[list[str]]:
    return [labels[first:end] for first, end in pairwise(offsets)]
