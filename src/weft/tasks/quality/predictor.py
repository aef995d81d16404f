"""The component that predicts what each annotator would say of an item, with intervals, and tells who differs.

A document is a row of a table: its metadata hold the annotator, further descriptors (system, document ...), features
and the label. The model is a multi-task Gaussian process (Cohn and Specia 2013): see `weft.learn.gaussian`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from weft.arrays import Floats, Ints
from weft.declared import Array, Stored
from weft.errors import ConfigError, DataError, ModelError
from weft.headers import DAMAGED, Many, Real, Record, Text
from weft.learn.gaussian.kernels import KERNELS
from weft.learn.gaussian.multitask import Covariance, Design
from weft.learn.gaussian.regression import Form, MultiTaskProcess, TaskPrediction
from weft.learn.gaussian.tasks import SHARES
from weft.pipeline.component import Asked, State, Stopwatch, Trainable
from weft.pipeline.settings import Settings, option
from weft.storage import Arrays
from weft.tasks.quality.features import SURFACE, surface
from weft.text.doc import Doc

#: The metadata key of a document's predictions.
QUALITY = "quality"
NOISES = ("shared", "annotator", "all")
#: An annotator is an outlier if what is their own is so many times the median of the others, and at least so much.
_TIMES, _LEAST = 3.0, 0.3
HEADER = Record(
    descriptors=Many(Text(), least=1), values=Many(Many(Text(), least=1), least=1), features=Many(Text(), least=1),
    level=Real(), unit=Real(1e-12), likelihood=Real(),
)  # fmt: skip


@dataclass
class QualitySettings(Settings):
    """Options of a predictor of labels."""

    annotator: str = option("annotator", "Column that names who labelled the row.", metavar="COLUMN")
    label: str = option("score", "Column of the labels, numbers.", metavar="COLUMN")
    features: str = option("", "Columns of features, separated by commas; by default all numeric ones.", metavar="A,B")
    by: str = option("", "Further columns that labels may depend on, such as system,document.", metavar="A,B")
    source: str = option("", "Column of source texts, for features of texts.", metavar="COLUMN")
    target: str = option("", "Column of translations, for features of texts.", metavar="COLUMN")
    shares: str = option("combined+", "How annotators share what is learned.", choices=SHARES)
    noise: str = option(
        "shared", "One noise for all, one per annotator, or by all descriptors.", choices=NOISES, flag="--noise-of"
    )
    kernel: str = option("squared-exponential", "Covariance of features.", choices=tuple(KERNELS))
    isotropic: bool = option(False, "One length-scale for all features.")
    log: bool = option(False, "Learn the logarithms of labels, such as times.", flag="--logarithms")
    inducing: int = option(0, "Inducing points, for many rows; 0 uses all rows.")
    iterations: int = option(60, "Most steps of the last round of learning.")
    seed: int = option(0, "Random seed.")
    workers: int = option(1, "Number of threads; training uses one.", hidden=True)

    def check(self) -> None:
        for name, known in (("shares", SHARES), ("noise", NOISES), ("kernel", tuple(KERNELS))):
            if getattr(self, name) not in known:
                raise ConfigError(f"{name} must be one of {', '.join(known)}, got {getattr(self, name)!r}")
        if self.iterations < 1 or self.inducing < 0:
            raise ConfigError("iterations must be at least 1, and inducing at least 0")
        if bool(self.source) != bool(self.target):
            raise ConfigError("features of texts need both columns: --source and --target")
        if self.annotator in self.further:
            raise ConfigError(f"{self.annotator} is the annotator already: leave it out of --by")

    @property
    def further(self) -> tuple[str, ...]:
        return tuple(name for name in self.by.split(",") if name)

    @property
    def descriptors(self) -> tuple[str, ...]:
        return (self.annotator, *self.further)

    def form(self) -> Form:
        """The model to learn."""
        few = {"combined+": "combined+", "independent": "combined", "dense": "combined"}.get(self.shares, self.shares)
        noise = {"shared": (), "annotator": (0,), "all": tuple(range(len(self.descriptors)))}[self.noise]
        return Form(
            (self.shares, *(few for _ in self.further)), self.kernel, self.isotropic, noise, self.iterations,
            self.inducing,
        )  # fmt: skip


class Annotator(NamedTuple):
    """What is known of an annotator; `own` is the a of the model, `agreement` the correlation with others' opinions."""

    name: str
    labels: int
    mean: float
    own: float
    agreement: float
    noise: float
    outlier: bool


class QualityPredictor(Trainable):
    """Predicts labels: `doc.meta["quality"]` holds what each annotator would say, with an interval of 95 %.

    >>> rng = np.random.default_rng(0)
    >>> rows = [(str(w), x, np.sin(2 * x) + 0.5 * w) for w in (0, 1) for x in rng.normal(size=40)]
    >>> docs = [Doc(meta={"who": w, "x": f"{x}", "score": f"{y}"}) for w, x, y in rows]
    >>> predictor = QualityPredictor(QualitySettings(annotator="who", iterations=20))
    >>> report = predictor.fit(docs)
    >>> new = Doc(meta={"who": "1", "x": "0.0"})
    >>> predictor([new])
    >>> bool(0.3 < new.meta["quality"]["expected"] < 0.7)
    True
    """

    task = "quality"
    settings_class = QualitySettings
    settings: QualitySettings

    def __init__(self, settings: QualitySettings | None = None) -> None:
        super().__init__(settings)
        self.values: list[list[str]] = []  #: of every descriptor
        self.features: list[str] = []
        self.process: MultiTaskProcess | None = None

    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        """Learn from rows with labels; the report says who differs, and with `dev` how well labels are predicted."""
        settings, watch = self.settings, Stopwatch()
        docs = list(train)
        if not docs:
            raise DataError("there is nothing to train on: the table has no rows")
        self.values = [sorted({_cell(doc, name) for doc in docs}) for name in settings.descriptors]
        self.features = _feature_names(docs, settings)
        x, tasks, y = self._x(docs), self._tasks(docs), self._labels(docs)
        sizes = [len(values) for values in self.values]
        self.process = MultiTaskProcess.fit(x, tasks, y, settings.form(), sizes=sizes, seed=settings.seed)
        report: dict[str, Any] = {
            "training": {
                "rows": len(docs), "features": len(self.features),
                **dict(zip(settings.descriptors, sizes, strict=True)),
                "parameters": len(self.process.covariance.parameters), **watch.seconds(),
            },
            "scores": {"log likelihood": round(self.process.likelihood, 2)},
        }  # fmt: skip
        if dev is not None:
            report["scores"] |= self.scores(list(dev))
        report["annotators"] = [each._asdict() for each in self.annotators()]
        report["length-scales"] = self.length_scales()
        return report

    def _tasks(self, docs: Sequence[Doc]) -> Ints:
        """The numbers of values, -1 for one that was never seen."""
        columns = []
        for name, values in zip(self.settings.descriptors, self.values, strict=True):
            numbers = {value: k for k, value in enumerate(values)}
            columns.append([numbers.get(str(doc.meta.get(name, "")), -1) for doc in docs])
        return np.array(columns, dtype=np.int64).reshape(len(self.values), -1).T

    def _x(self, docs: Sequence[Doc]) -> Floats:
        settings = self.settings
        rows = []
        for doc in docs:
            row = [_number(doc, name) for name in self.features if name not in _SURFACED]
            if settings.source:
                row += surface(_text(doc, settings.source), _text(doc, settings.target))
            rows.append(row)
        return np.array(rows, dtype=np.float64).reshape(len(docs), len(self.features))

    def _labels(self, docs: Sequence[Doc]) -> Floats:
        labels = np.array([_number(doc, self.settings.label) for doc in docs])
        if self.settings.log:
            if not (labels > 0).all():
                raise DataError(f"--logarithms needs labels above 0, but {self.settings.label} has {labels.min():g}")
            labels = np.log(labels)
        return labels

    def predict(self, docs: Sequence[Doc], annotator: str | None = None) -> TaskPrediction:
        """What the annotator of each row says, or what one annotator would say of all; an unknown one is a new one."""
        process = self.trained(self.process)
        tasks = self._tasks(docs)
        if annotator is not None:
            tasks[:, 0] = self.values[0].index(annotator) if annotator in self.values[0] else -1
        return process.predict(self._x(docs), tasks)

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        own = self.predict(docs)
        everyone = {name: self.predict(docs, name) for name in self.values[0]}
        for k, doc in enumerate(docs):
            said = {name: self._shown(found, k) for name, found in everyone.items()}
            mean = float(np.mean([found.mean[k] for found in everyone.values()]))
            expected, low, high = self._shown(own, k)
            doc.meta[QUALITY] = {
                "expected": expected, "low": low, "high": high, "mean": self._unit(mean), "annotators": said
            }  # fmt: skip

    def _shown(self, found: TaskPrediction, k: int) -> list[float]:
        low, high = found.interval()
        return [self._unit(float(values[k])) for values in (found.mean, low, high)]

    def _unit(self, value: float) -> float:
        return round(float(np.exp(value)) if self.settings.log else value, 4)

    def scores(self, docs: Sequence[Doc]) -> dict[str, float]:
        """Errors on labelled rows, beside those of the annotators' means, and how often intervals hold."""
        y, found = self._labels(docs), self.predict(docs)
        low, high = found.interval()
        process = self.trained(self.process)
        known = process.y * process.unit + process.level
        who = self._tasks(docs)[:, 0]
        means = np.array([known[process.rows.tasks[:, 0] == k].mean() for k in range(len(self.values[0]))])
        simple = np.append(means, known.mean())[who]
        return {
            "MAE": round(float(np.abs(y - found.mean).mean()), 4),
            "RMSE": round(float(np.sqrt(((y - found.mean) ** 2).mean())), 4),
            "MAE of annotators' means": round(float(np.abs(y - simple).mean()), 4),
            "inside 95 % intervals": round(float(((low <= y) & (y <= high)).mean()), 4),
        }

    def annotators(self) -> list[Annotator]:
        """What was learned of every annotator."""
        process = self.trained(self.process)
        share = process.covariance.shares[0]
        count = len(self.values[0])
        known, who = process.y * process.unit + process.level, process.rows.tasks[:, 0]
        values = np.tile(process.rows.tasks[:1], (count, 1))
        values[:, 0] = np.arange(count)
        if process.covariance.noise.descriptors not in ((), (0,)):
            values[:, 1:] = -1
        noise = process.unit * np.sqrt(process.covariance.noise.variances(values))
        own, correlations = share.own, share.correlations()
        found = []
        for k, name in enumerate(self.values[0]):
            others = np.delete(own, k)
            agreement = float(np.delete(correlations[k], k).mean()) if count > 1 else 1.0
            differs = share.kind in ("combined+", "dense") and count > 2
            outlier = differs and own[k] > max(_LEAST, _TIMES * float(np.median(others)))
            found.append(
                Annotator(
                    name, int((who == k).sum()), round(float(known[who == k].mean()), 4),
                    round(float(min(own[k], 1e9)), 4), round(agreement, 4), round(float(noise[k]), 4), bool(outlier),
                )
            )  # fmt: skip
        return found

    def length_scales(self) -> dict[str, float]:
        """The length-scale of every feature in standard deviations, the most telling first."""
        scales = np.broadcast_to(self.trained(self.process).covariance.kernel.length_scales, len(self.features))
        order = np.argsort(scales, kind="stable")
        return {self.features[k]: round(float(scales[k]), 3) for k in order.tolist()}

    def state(self) -> State:
        process = self.trained(self.process)
        header = {
            "settings": self.saved_settings(), "descriptors": list(self.settings.descriptors), "values": self.values,
            "features": self.features, "level": process.level, "unit": process.unit, "likelihood": process.likelihood,
        }  # fmt: skip
        arrays: Arrays = {
            "x": process.rows.x, "tasks": process.rows.tasks, "y": process.y, "centre": process.centre,
            "spread": process.spread, "parameters": process.covariance.parameters,
        }  # fmt: skip
        return header, arrays

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> QualityPredictor:
        predictor = cls(QualitySettings.from_saved(header["settings"]))
        HEADER.check(header)
        predictor.values, predictor.features = [list(own) for own in header["values"]], list(header["features"])
        form, stored = predictor.settings.form(), Stored.of(arrays)
        count, size = len(form.shares), len(predictor.features)
        sizes = [len(own) for own in predictor.values]
        if header["descriptors"] != list(predictor.settings.descriptors) or len(sizes) != count:
            raise ModelError(f"the descriptors of a predictor of labels do not fit together: {DAMAGED}")
        empty = Covariance.of(form.kernel, 1 if form.isotropic else size, form.shares, sizes, form.noise)
        held = stored.take(
            Array("x", "float64", ("rows", size)), Array("tasks", "int64", ("rows", count)),
            Array("y", "float64", ("rows",)), Array("centre", "float64", (size,)),
            Array("spread", "float64", (size,), within=(1e-300, 1e12)),
            Array("parameters", "float64", (len(empty.parameters),), within=(-50.0, 50.0)),
        )  # fmt: skip
        if not len(held["y"]) or (held["tasks"] >= np.array(sizes)).any() or (held["tasks"] < 0).any():
            raise ModelError(f"the rows of a predictor of labels do not fit together: {DAMAGED}")
        predictor.process = MultiTaskProcess.restored(
            form, empty.with_parameters(held["parameters"]), Design(np.array(held["x"]), np.array(held["tasks"])),
            np.array(held["y"]), held["centre"], held["spread"], header["level"], header["unit"], header["likelihood"],
        )  # fmt: skip
        return predictor


_SURFACED = frozenset(f"text: {name}" for name in SURFACE)


def _feature_names(docs: Sequence[Doc], settings: QualitySettings) -> list[str]:
    """The columns that are features: those named, or all numeric ones, and those of the texts."""
    texts = [f"text: {name}" for name in SURFACE] if settings.source else []
    named = [name for name in settings.features.split(",") if name]
    if not named:
        used = {*settings.descriptors, settings.label, settings.source, settings.target, "id", QUALITY}
        columns = dict.fromkeys(name for doc in docs for name in doc.meta if name not in used)
        named = [name for name in columns if all(_is_number(doc.meta.get(name)) for doc in docs)]
    if not named and not texts:
        raise DataError(
            "the table has no numeric columns to learn from: name columns with --features, or texts with --source and "
            "--target"
        )
    return [*named, *texts]


def _cell(doc: Doc, name: str) -> str:
    if name not in doc.meta:
        known = ", ".join(str(key) for key in doc.meta if key != "id")
        raise DataError(f"{doc.id or 'a row'}: there is no column {name!r}; the columns are: {known or 'none'}")
    return str(doc.meta[name])


def _number(doc: Doc, name: str) -> float:
    text = _cell(doc, name)
    if not _is_number(text):
        raise DataError(f"{doc.id or 'a row'}: {name} must be a number, found {text!r}")
    return float(text)


def _is_number(value: object) -> bool:
    try:
        return bool(np.isfinite(float(str(value))))
    except ValueError:
        return False


def _text(doc: Doc, name: str) -> str:
    """The text of a column; where the table's text column was taken out of the metadata, that of the document."""
    return str(doc.meta[name]) if name in doc.meta else doc.text if doc.text else _cell(doc, name)
