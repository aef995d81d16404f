"""What Gaussian processes over annotators tell of effort and time.

    single task      WMT 2012, one score per translation: kernels, beside a support vector machine
    annotators       one editor per sentence: pooled, independent and combined, with systems and noise, by seed
    all metadata     several editors per sentence, so that the sentence is a descriptor too
    learning curve   from 50 sentences to all
    who labels what  many sentences once, or few by everybody
    simulation       annotators drawn from the model, with a known a and an outlier
    speed            3,000 rows

The three annotators' own scores of WMT 2012 and the times of WPTP 2012 are not public: six editors' times stand in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from weft.arrays import Floats
from weft.evaluate.significance import approximate_randomization
from weft.learn.gaussian.regression import Form, MultiTaskProcess
from weft.progress import progress
from weft.recipes.claims import Figure, gain, measured
from weft.recipes.framework import RecipeOptions, RecipeResult, Table
from weft.recipes.translation.annotator_gaussian_processes import further
from weft.recipes.translation.annotator_gaussian_processes.baselines import (
    SupportVectors,
    easy_adapt,
    group_means,
    independent,
)
from weft.recipes.translation.annotator_gaussian_processes.corpora import effort
from weft.recipes.translation.annotator_gaussian_processes.material import (
    BEFORE,
    DIGITS,
    FORMS,
    Fitted,
    Material,
    Size,
    Split,
    gains,
    paper_figures,
    scores,
    spread_of,
)
from weft.recipes.variation import Variation

SLUG = "annotator-gaussian-processes"


QUICK = Size(300, 300, 150, 2, 1000, 10, 40, (50, 150), 2, 60)
ROWS = ("single task", "annotators", "all metadata", "learning curve", "who labels what", "simulation", "speed")
VARIATION = Variation((Size,), ROWS)

#: MAE and RMSE of the paper.
EFFORT = {
    "mean": (0.8279, 0.9899), "SVM": (0.6889, 0.8201), "linear ARD": (0.7063, 0.8480),
    "squared exponential": (0.6813, 0.8146), "squared exponential ARD": (0.6680, 0.8098),
    "rational quadratic ARD": (0.6773, 0.8238), "Matern 5/2 ARD": (0.6772, 0.8124),
    "neural network": (0.6727, 0.8103),
}  # fmt: skip
TIMES = {
    "mean": (0.5596, 0.7053), "mean A": (0.5184, 0.6367), "mean S": (0.5888, 0.7588), "SVM": (0.5823, 0.7472),
    "SVM per A": (0.5058, 0.6351), "EasyAdapt SVM": (0.7027, 0.8816), "independent A": (0.5091, 0.6362),
    "independent S": (0.5980, 0.7729), "pooled": (0.5834, 0.7494), "pooled {N}": (0.4932, 0.6275),
    "combined A": (0.4815, 0.6174), "combined A {N}": (0.4909, 0.6268), "combined+ A": (0.4855, 0.6203),
    "combined+ A {N}": (0.4833, 0.6102), "combined S": (0.5825, 0.7482), "combined A,S": (0.4988, 0.6490),
    "combined A,S {N}": (0.4707, 0.6003), "combined+ A,S": (0.4772, 0.6094),
}  # fmt: skip


def run(options: RecipeOptions) -> RecipeResult:
    """All tables."""
    size = options.varied(QUICK if options.quick else Size())
    result, material = RecipeResult(SLUG), Material(options, size)
    steps: dict[str, Callable[[RecipeResult, Material], None]] = {
        "single task": _single, "annotators": _annotators, "all metadata": further.metadata,
        "learning curve": further.curve, "who labels what": further.labels, "simulation": further.simulation,
        "speed": further.speed,
    }  # fmt: skip
    with progress("parts", len(steps), "parts") as bar:
        for step in options.chosen(steps).values():
            step(result, material)
            bar.advance(1)
    result.notes.append(
        "y of the times: log seconds per source word of post-editing, features from the source and the translation, "
        "with language models and a lexicon of the Python manual. The first file has two editors; each sentence was "
        "translated by one system."
    )
    return result


def _single(result: RecipeResult, material: Material) -> None:
    size = material.size
    train, test = effort(material.options, "training"), effort(material.options, "test")
    x, y = train.x[: size.rows or None], train.y[: size.rows or None]
    kernels = {
        "linear ARD": ("linear", False), "squared exponential": ("squared-exponential", True),
        "squared exponential ARD": ("squared-exponential", False),
        "rational quadratic ARD": ("rational-quadratic", False), "Matern 5/2 ARD": ("matern", False),
        "neural network": ("neural-network", False),
    }  # fmt: skip
    errors = {"mean": np.abs(test.y - y.mean()), "SVM": np.abs(test.y - SupportVectors(x, y).predict(test.x))}
    table = Table(f"WMT 2012: {len(y):,} training rows, {len(test.y)} test rows",
                  ["MAE", "RMSE", "log p", "inside 95 %"], digits=DIGITS)  # fmt: skip
    for name in errors:
        table.add(name, scores(errors[name]), paper_figures(EFFORT, name))
    none = np.zeros((len(x), 0), dtype=np.int64), np.zeros((len(test.x), 0), dtype=np.int64)
    for name, (kernel, isotropic) in kernels.items():
        process = MultiTaskProcess.fit(
            x, none[0], y, Form((), kernel, isotropic, iterations=size.iterations), sizes=()
        )  # fmt: skip
        said = process.predict(test.x, none[1])
        low, high = said.interval()
        errors[name] = np.abs(test.y - said.mean)
        row = {**scores(errors[name]), "log p": process.likelihood}
        table.add(name, {**row, "inside 95 %": float(((low <= test.y) & (test.y <= high)).mean())},
                  paper_figures(EFFORT, name))  # fmt: skip
    table.note = "The paper's data. log p: of the training scores, standardized."
    result.tables.append(table)

    def under(one: str, other: str) -> Figure:
        a, b = (np.stack([errors[name], np.ones(len(test.y))], axis=1) for name in (one, other))
        found = approximate_randomization(a, b, lambda sums: -sums[..., 0] / sums[..., 1])
        return gain(
            found.difference, p=found.p, interval=(found.low, found.high), where=f"{one} under {other}", digits=4
        )

    best = "squared exponential ARD"
    result.claim(
        "the process has a lower MAE than the support vector machine (paper: .6680 against .6889)", under(best, "SVM")
    )
    result.claim(
        "a length-scale per feature is better than one (paper: .6680 against .6813)", under(best, "squared exponential")
    )
    result.claim(
        "the squared exponential kernel is better than the linear one (paper: .6680 against .7063)",
        under(best, "linear ARD"),
    )


def _annotators(result: RecipeResult, material: Material) -> None:
    size = material.size
    errors: dict[str, list[Floats]] = {}
    facts: dict[str, list[tuple[float, float]]] = {}
    averaged: dict[str, list[float]] = {}
    with progress("annotators", size.seeds * (len(FORMS) + 6), "models") as bar:
        for seed in range(size.seeds):
            split = material.split(seed)
            found = _baselines(split)
            bar.advance(6)
            fitted: dict[str, Fitted] = {}
            for name, (shares, noise) in FORMS.items():
                start = fitted[BEFORE[name]].process if name in BEFORE else None
                if start is None and name != "pooled" and "independent" not in shares:
                    start = fitted["pooled"].process
                fitted[name] = split.fit(Form(shares, noise=noise, iterations=size.iterations), start)
                found[name] = fitted[name].errors
                a = fitted[name].process.covariance.shares[0].own
                facts.setdefault(name, []).append((fitted[name].inside, float(np.median(a))))
                bar.advance()
            for name, own in found.items():
                errors.setdefault(name, []).append(own)
            _average(material, split, fitted, averaged)
    table = Table(
        f"Times: one editor per sentence, {len(split.train)} training rows, {size.seeds} seeds",
        ["MAE", "RMSE", "sd of MAE", "inside 95 %", "a"], digits=DIGITS,
    )  # fmt: skip
    for name, over_seeds in errors.items():
        row = spread_of(over_seeds)
        if name in facts:
            row["inside 95 %"] = float(np.mean([inside for inside, _ in facts[name]]))
            if "combined" in name and "A" in name:
                row["a"] = float(np.median([a for _, a in facts[name]]))
        table.add(name, row, paper_figures(TIMES, name))
    table.note = (
        "A: editor, S: system, {N}: noise per editor, and per system where S counts. ICM: a dense covariance of rank "
        "2. a: median over editors and seeds. The paper's figures are for other data."
    )
    result.tables.append(table)
    mean = Table("Times: the mean over editors' predictions against the mean of the five times", ["MAE"], digits=DIGITS)
    for name, values in averaged.items():
        mean.add(name, {"MAE": float(np.mean(values))})
    result.tables.append(mean)

    def under(one: str, other: str) -> Figure:
        return gains(errors[one], errors[other], f"{one} under {other}")

    result.claim(
        "combined has a lower MAE than pooled and than independent (paper: .4815 against .5834 and .5091)",
        under("combined A", "pooled"), under("combined A", "independent A"),
    )  # fmt: skip
    result.claim("combined has a lower MAE than a support vector machine per editor and than EasyAdapt",
                 under("combined A", "SVM per A"), under("combined A", "EasyAdapt SVM"))  # fmt: skip
    result.claim(
        "the pooled process is worse than the mean of each editor (paper: .5834 against .5184)",
        under("mean A", "pooled"),
    )
    result.claim(
        "noise per editor helps the pooled process (paper: .4932 against .5834)", under("pooled {N}", "pooled")
    )
    result.claim("editor and system together are better than the editor (paper: .4707 with noise against .4815)",
                 under("combined A,S {N}", "combined A"))  # fmt: skip
    result.claim(
        "an own a per editor is better than one for all (paper: no, .4855 against .4815)",
        under("combined+ A", "combined A"),
    )
    result.own("a dense covariance of editors is no better than one a", under("combined A", "ICM A"), required=False)
    combined = [inside for name in ("combined A", "combined A,S") for inside, _ in facts[name]]
    inside = float(np.mean(combined))
    if not material.options.quick:
        result.own("95 % intervals of combined hold at least {bar} of the time", measured(inside, ">=", 0.92, digits=3))
        result.own("95 % intervals of combined hold at most {bar} of the time", measured(inside, "<=", 0.975, digits=3))


def _baselines(split: Split) -> dict[str, Floats]:
    """Errors of means and support vector machines."""
    train, test = split.train, split.test
    x, y, who, system = split.x[train], split.y[train], split.tasks[train, 0], split.tasks[train, 1]
    new, of_new = split.x[test], split.tasks[test, 0]
    return {
        name: split.errors(predicted)
        for name, predicted in {
            "mean": np.full(len(test), y.mean()),
            "mean A": group_means(who, y, of_new),
            "mean S": group_means(system, y, split.tasks[test, 1]),
            "SVM": SupportVectors(x, y).predict(new),
            "SVM per A": independent(x, who, y, new, of_new),
            "EasyAdapt SVM": easy_adapt(x, who, y, new, of_new),
        }.items()
    }


def _average(material: Material, split: Split, fitted: Mapping[str, Fitted], averaged: dict[str, list[float]]) -> None:
    """The mean over editors of what each would need, against the mean of what five needed."""
    gold = material.times.y[split.test].mean(axis=1)
    for name in ("pooled", "independent A", "combined A", "combined A,S"):
        tasks = split.tasks[split.test].copy()
        means = []
        for editor in range(split.sizes[0]):
            tasks[:, 0] = editor
            means.append(fitted[name].process.predict(split.x[split.test], tasks).mean)
        averaged.setdefault(name, []).append(float(np.abs(gold - np.mean(means, axis=0)).mean()))
