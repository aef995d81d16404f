"""The component that maps sentences and images into one space, learned from captions and precomputed image vectors.

    sentence   y = network(tree),     image   v = W (z - mean) / (sd sqrt(D)),     score = v . y

The method is that of Socher, Karpathy, Le, Manning and Ng (2014); see `weft.learn.neural`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats, Ints
from weft.declared import Array, Stored
from weft.errors import ConfigError, DataError, ModelError
from weft.evaluate.retrieval import best_ranks, recall_at
from weft.features.representations.counts import strings_of_bytes, strings_to_bytes
from weft.features.representations.ppmi import WordTable, ppmi_vectors
from weft.formats.vectors import read_vectors
from weft.headers import DAMAGED, Many, Record, Text
from weft.learn.neural.networks import ACTIVATIONS, RecursiveNetwork
from weft.learn.neural.ranker import Ranker, RankingOptions, train_ranker
from weft.pipeline.component import Asked, State, Stopwatch, Trainable, training_docs
from weft.pipeline.settings import Settings, option
from weft.progress import progress
from weft.storage import Arrays
from weft.tasks.images.encoder import NETWORKS, SentenceEncoder
from weft.tasks.images.trees import CaptionTree, caption_trees
from weft.tasks.images.vectors import ImageVectors, read_image_vectors
from weft.text.doc import Doc

#: Metadata of documents: the image that a caption describes, and the vector of a sentence.
IMAGE, VECTOR = "image", "vector"
HEADER = Record(matrices=Many(Text()))
#: Epochs between scores on development captions.
_EVERY = 2


@dataclass
class ImageSettings(Settings):
    """Options of a finder of images."""

    vectors: str = option("", "Vectors of the images, of any model: .parquet, .npy or text.", metavar="FILE")
    words: str = option("", "Word vectors, a word and its numbers per line; by default made from the captions.",
                        metavar="FILE", flag="--word-vectors")  # fmt: skip
    network: str = option("sdt", "How a sentence is composed: by labels (sdt) or positions (dt) of a dependency tree, "
                          "constituents, a chain, or as a bag of words.", choices=NETWORKS)  # fmt: skip
    dimensions: int = option(50, "Dimensions of word vectors that are made from the captions.")
    activation: str = option("tanh", "What is applied to every node.", choices=tuple(ACTIVATIONS))
    length: float = option(6.0, "Length of the word vectors.")
    least: int = option(5, "Labels that occur less often get no matrix of their own.")
    margin: float = option(1.0, "By how much a pair must score above all others.")
    l2: float = option(0.0003, "Penalty of weights, per term of the loss.")
    rate: float = option(0.02, "Step of AdaGrad.")
    epochs: int = option(20, "Passes over the captions; development data choose among them.")
    batch: int = option(200, "Images per update; all others of the update are negatives.")
    seed: int = option(0, "Random seed.")
    workers: int = option(1, "Number of threads; training uses one.", hidden=True)

    def check(self) -> None:
        for name, known in (("network", NETWORKS), ("activation", tuple(ACTIVATIONS))):
            if getattr(self, name) not in known:
                raise ConfigError(f"{name} must be one of {', '.join(known)}, got {getattr(self, name)!r}")
        for name in ("dimensions", "least", "epochs", "batch"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        for name in ("margin", "rate", "length"):
            if not 0 < getattr(self, name) < 1e6:
                raise ConfigError(f"{name} must be above 0, got {getattr(self, name)}")
        if self.l2 < 0:
            raise ConfigError(f"l2 must be at least 0, got {self.l2}")


@dataclass
class _Model:
    """What training leaves behind."""

    encoder: SentenceEncoder
    ranker: Ranker
    mean: Floats
    scale: Floats


class ImageFinder(Trainable):
    """Gives sentences and images vectors of one space: `doc.meta["vector"]` holds that of a parsed document."""

    task = "images"
    settings_class = ImageSettings
    settings: ImageSettings
    requires = ("tokens", "head", "deprel")
    unsaved = ("workers", "vectors", "words")

    def __init__(self, settings: ImageSettings | None = None) -> None:
        super().__init__(settings)
        self.model: _Model | None = None

    def fit(
        self, train: Iterable[Doc], dev: Iterable[Doc] | None = None, images: ImageVectors | None = None
    ) -> dict[str, Any]:
        """Train on parsed captions whose `meta["image"]` names the image; `images` come from a file if not given."""
        settings, watch = self.settings, Stopwatch()
        if images is None and not settings.vectors:
            raise ConfigError("give the vectors of the images: --vectors images.parquet, or in Python vectors=")
        found = images if images is not None else read_image_vectors(settings.vectors)
        docs = training_docs(train)
        trees, (names, owners) = caption_trees(docs), _named(docs, found)
        table = self._table(trees)
        encoder = SentenceEncoder.fit(settings.network, table, trees, settings.least)
        rows = found.rows(names)
        mean, spread = rows.mean(axis=0), rows.std(axis=0)
        scale = 1.0 / (np.where(spread > 0, spread, 1.0) * np.sqrt(rows.shape[1]))
        mean, scale = _single(mean), _single(scale)
        network = encoder.new_network(settings.activation, seed=settings.seed)
        start = Ranker.new(network, rows.shape[1], settings.seed)
        held_out = None if dev is None else self._held_out(dev, found, encoder, mean, scale)
        structures, options = encoder.structures(trees), self._options(len(names), len(docs))
        with progress("training", settings.epochs, "epochs") as bar:
            score = None if held_out is None else lambda now: float(_ranks(now, *held_out)[0].mean())
            best, losses = train_ranker(
                start, structures, table.vectors, (rows - mean) * scale, owners, options, score, lambda: bar.advance(1)
            )
        for name, weights in best.parameters().items():
            if not np.isfinite(weights).all():
                raise DataError(f"training diverged: the weights {name} are not finite; choose a smaller --rate")
            weights[...] = _single(weights)  # as a model file holds them
        self.model = _Model(encoder, best, mean, scale)
        unknown = table.unknown(word for tree in trees for word in tree.words)
        report: dict[str, Any] = {
            "training": {
                "images": len(names), "captions": len(docs), "words": len(table.words) - 1,
                "unknown words": round(unknown, 4), "matrices": len(encoder.matrices),
                "loss, first epoch": round(losses[0], 1), "loss, last epoch": round(losses[-1], 1), **watch.seconds(),
            }
        }  # fmt: skip
        if held_out is not None:
            report["scores"] = _scores(*_ranks(best, *held_out))
        return report

    def _table(self, trees: Sequence[CaptionTree]) -> WordTable:
        settings = self.settings
        if settings.words:
            words, vectors = read_vectors(settings.words)
            table = WordTable.of(words, vectors.astype(np.float64))
        else:
            table = ppmi_vectors([tree.words for tree in trees], settings.dimensions, seed=settings.seed)
        lengths = np.linalg.norm(table.vectors, axis=1, keepdims=True)
        return WordTable(table.words, _single(settings.length * table.vectors / np.where(lengths > 0, lengths, 1.0)))

    def _options(self, images: int, captions: int) -> RankingOptions:
        """Options of training; the penalty grows with the number of terms in the loss of an update."""
        settings = self.settings
        own = min(settings.batch, images)
        sentences = captions * own / images
        l2 = settings.l2 * sentences * (sentences + own)
        return RankingOptions(
            margin=settings.margin, l2=l2, rate=settings.rate, epochs=settings.epochs, batch=settings.batch,
            every=_EVERY, seed=settings.seed,
        )  # fmt: skip

    def _held_out(
        self, dev: Iterable[Doc], images: ImageVectors, encoder: SentenceEncoder, mean: Floats, scale: Floats
    ) -> tuple[Any, Floats, Floats, Ints]:
        docs = training_docs(dev)
        names, owners = _named(docs, images)
        rows = (images.rows(names) - mean) * scale
        return encoder.structures(caption_trees(docs)), encoder.table.vectors, rows, owners

    @property
    def size(self) -> int:
        """Dimensions of the common space."""
        return self.trained(self.model).ranker.network.size

    @property
    def width(self) -> int:
        """Dimensions that vectors of images must have."""
        return len(self.trained(self.model).mean)

    def sentence_vectors(self, docs: Sequence[Doc]) -> Floats:
        """The vectors of parsed documents, each one sentence or more."""
        model = self.trained(self.model)
        return model.ranker.encode(model.encoder.structures(caption_trees(docs)), model.encoder.table.vectors)

    def image_vectors(self, vectors: NDArray[Any]) -> Floats:
        """Vectors of images in the common space."""
        model = self.trained(self.model)
        if vectors.shape[-1] != self.width:
            raise DataError(
                f"the vectors of the images have {vectors.shape[-1]} dimensions, the model was trained on {self.width}"
            )
        return model.ranker.project((np.asarray(vectors, dtype=np.float64) - model.mean) * model.scale)

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        filled = [doc for doc in docs if doc.n_words]
        for doc, vector in zip(filled, self.sentence_vectors(filled) if filled else (), strict=True):
            doc.meta[VECTOR] = [round(float(value), 6) for value in vector]

    def state(self) -> State:
        model = self.trained(self.model)
        single = {name: value.astype(np.float32) for name, value in model.ranker.network.parameters.items()}
        arrays: Arrays = {
            **single,
            "words": strings_to_bytes(model.encoder.table.words),
            "vectors": model.encoder.table.vectors.astype(np.float32),
            "images": model.ranker.image_map.astype(np.float32),
            "mean": model.mean.astype(np.float32),
            "scale": model.scale.astype(np.float32),
        }
        saved = {**self.saved_settings(), "vectors": "", "words": ""}
        return {"settings": saved, "matrices": list(model.encoder.matrices)}, arrays

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> ImageFinder:
        finder = cls(ImageSettings.from_saved(header["settings"]))
        HEADER.check(header)
        settings, stored = finder.settings, Stored.of(arrays)
        matrices: list[str] = header["matrices"]
        try:
            words = strings_of_bytes(stored.take(Array("words", "uint8", ("*",)))["words"])
        except UnicodeDecodeError:
            raise ModelError(f"the words of the model are not UTF-8: {DAMAGED}") from None
        passes = settings.network in ("ct", "bow")
        taken = stored.take(
            Array("vectors", "float32", ("words", "d")), Array("images", "float32", ("n", "D")),
            Array("mean", "float32", ("D",)), Array("scale", "float32", ("D",)),
            Array("edges", "float32", ("matrices", "n", "n")),
            *([] if passes else [Array("input", "float32", ("n", "d"))]),
            words=len(words), matrices=len(matrices),
        )  # fmt: skip
        wide = {name: value.astype(np.float64) for name, value in taken.items()}
        try:
            table = WordTable(words, wide["vectors"])
        except DataError as error:
            raise ModelError(f"{error}: {DAMAGED}") from None
        encoder = SentenceEncoder(settings.network, table, matrices)
        size = len(wide["images"])
        fixed = len({"ct": "lr", "rnn": "b", "bow": ""}.get(settings.network, matrices))
        if (
            len(matrices) != fixed
            or len(set(matrices)) < len(matrices)
            or (passes and size != wide["vectors"].shape[1])
        ):
            raise ModelError(f"the parts of a finder of images do not fit together: {DAMAGED}")
        activation = "identity" if settings.network == "bow" else settings.activation
        parameters: dict[str, Floats] = {name: wide[name] for name in ("edges", "input") if name in wide}
        network = RecursiveNetwork(size, activation, parameters)
        finder.model = _Model(encoder, Ranker(network, wide["images"]), wide["mean"], wide["scale"])
        return finder


def _single(values: Floats) -> Floats:
    """Numbers as a model file holds them, in double precision."""
    found: Floats = values.astype(np.float32).astype(np.float64)
    return found


def _named(docs: Sequence[Doc], images: ImageVectors) -> tuple[list[str], Ints]:
    """The names of the images of captions, each once, and the place of every caption's image among them."""
    places: dict[str, int] = {}
    owners = []
    for doc in docs:
        name = str(doc.meta.get(IMAGE, ""))
        if not name:
            raise DataError(f"the caption {doc.text[:40]!r} names no image: meta['image'] must hold it")
        if name not in images:
            raise DataError(f"the image {name!r} of the caption {doc.text[:40]!r} has no vector")
        owners.append(places.setdefault(name, len(places)))
    if len(places) < 2:
        raise DataError("ranking needs captions of at least two images")
    return list(places), np.array(owners, dtype=np.int64)


def _ranks(ranker: Ranker, structures: Any, vectors: Floats, images: Floats, owners: Ints) -> tuple[Floats, Floats]:
    scores = ranker.encode(structures, vectors) @ ranker.project(images).T
    correct = owners[:, None] == np.arange(len(images))
    return best_ranks(scores, correct), best_ranks(scores.T, correct.T)


def _scores(search: Floats, describe: Floats) -> dict[str, float]:
    """Scores of held-out captions."""
    return {
        "dev image search, mean rank": round(float(search.mean()), 2),
        **{f"dev image search, R@{k}": round(100 * recall_at(search, k), 1) for k in (1, 10)},
        "dev describing, mean rank": round(float(describe.mean()), 2),
    }
