"""Sentences as a descriptor, learning curves, who labels what, annotators drawn from the model, and speed."""

from __future__ import annotations

import time

import numpy as np

from weft.arrays import Floats, Ints
from weft.learn.gaussian.regression import Form, MultiTaskProcess
from weft.progress import progress
from weft.recipes.claims import measured
from weft.recipes.framework import Curve, RecipeResult, Table
from weft.recipes.translation.annotator_gaussian_processes.baselines import group_means
from weft.recipes.translation.annotator_gaussian_processes.corpora import FILES, Times
from weft.recipes.translation.annotator_gaussian_processes.material import (
    DIGITS,
    FORMS,
    Fitted,
    Material,
    Split,
    gains,
    paper_figures,
    spread_of,
)

METADATA = {
    "mean T": (0.6300, 0.8270), "pooled": (0.5834, 0.7494), "combined A": (0.4815, 0.6174),
    "combined T": (0.5813, 0.7410), "combined A,S": (0.4988, 0.6490), "combined A,S,T": (0.4588, 0.5852),
    "combined A,S,T {N}": (0.4723, 0.6023),
}  # fmt: skip
#: Forms with the sentence as a third descriptor.
WITH_SENTENCE = {
    "pooled": (("pooled", "pooled", "pooled"), ()), "combined A": (("combined", "pooled", "pooled"), ()),
    "combined T": (("pooled", "pooled", "combined"), ()), "combined A,S": (("combined", "combined", "pooled"), ()),
    "combined A,S,T": (("combined", "combined", "combined"), ()),
    "combined A,S,T {N}": (("combined", "combined", "combined"), (0,)),
}  # fmt: skip
AFTER = {"combined A,S": "combined A", "combined A,S,T": "combined A,S", "combined A,S,T {N}": "combined A,S,T"}


def metadata(result: RecipeResult, material: Material) -> None:
    own, size = material.times, material.size
    errors: dict[str, list[Floats]] = {}
    seeds = min(3, size.seeds)
    with progress("all metadata", seeds * len(WITH_SENTENCE), "models") as bar:
        for seed in range(seeds):
            split = _crossed(own, size.shared, 1000 * material.options.seed + seed)
            train, test = split.train, split.test
            found = {
                name: split.errors(group_means(split.tasks[train, k], split.y[train], split.tasks[test, k]))
                for k, name in ((0, "mean A"), (2, "mean T"))
            }
            fitted: dict[str, Fitted] = {}
            for name, (shares, noise) in WITH_SENTENCE.items():
                start = fitted[AFTER.get(name, "pooled")].process if fitted else None
                form = Form(shares, noise=noise, iterations=size.iterations)
                fitted[name] = split.fit(form, start, columns=(0, 1, 2))
                found[name] = fitted[name].errors
                bar.advance()
            for name, values in found.items():
                errors.setdefault(name, []).append(values)
    table = Table(
        f"Times: {size.shared} sentences with five editors, {len(split.train)} training rows, {seeds} seeds",
        ["MAE", "RMSE", "sd of MAE"], digits=DIGITS,
    )  # fmt: skip
    for name, over_seeds in errors.items():
        table.add(name, spread_of(over_seeds), paper_figures(METADATA, name))
    table.note = "T: sentence. Rows are held out at random, so other editors' times of a test sentence are known."
    result.tables.append(table)
    others = [name for name in WITH_SENTENCE if "A,S,T" not in name]
    best = errors["combined A,S,T"]
    result.claim(
        "all metadata together are best (paper: .4588)",
        *(gains(best, errors[other], f"combined A,S,T under {other}") for other in others),
    )


def _crossed(own: Times, count: int, seed: int) -> Split:
    """All rows of some sentences, of which a fifth are held out."""
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(own.n)[:count]
    x = np.repeat(own.x[chosen], FILES, axis=0)
    tasks = np.stack(
        [own.who[chosen].ravel(), np.repeat(own.system[chosen], FILES), np.repeat(np.arange(count), FILES)], axis=1
    )  # fmt: skip
    order = rng.permutation(len(x))
    cut = len(x) * 4 // 5
    return Split(x, tasks, own.y[chosen].ravel(), order[:cut], order[cut:], (len(own.editors), own.systems, count))


def curve(result: RecipeResult, material: Material) -> None:
    size = material.size
    forms = {name: FORMS[name][0] for name in ("pooled", "independent A", "combined A")}
    points: dict[str, list[tuple[float, float]]] = {name: [] for name in forms}
    figures = []
    for count in size.curve:
        found: dict[str, list[float]] = {name: [] for name in forms}
        for seed in range(size.curve_seeds):
            whole = material.split(seed)
            split = Split(whole.x, whole.tasks, whole.y, whole.train[:count], whole.test, whole.sizes)
            for name, shares in forms.items():
                found[name].append(float(split.fit(Form(shares, iterations=size.iterations)).errors.mean()))
        for name, values in found.items():
            points[name].append((float(count), float(np.mean(values))))
        combined = [np.array([value]) for value in found["combined A"]]
        figures += [
            gains(combined, [np.array([value]) for value in found[other]], f"{count} sentences, under {other}")
            for other in ("pooled", "independent A")
        ]
    result.curves.append(Curve("MAE by training sentences, one editor each", "sentences", "MAE", points))
    result.claim("learning tasks together is best at every size, against pooled and independent", *figures)
    first = {name: values[0][1] for name, values in points.items()}
    last = {name: values[-1][1] for name, values in points.items()}
    result.claim(
        "pooling beats independent tasks only where data are few (paper: below 90 instances)",
        measured(first["independent A"] - first["pooled"], ">", 0, f"{size.curve[0]} sentences", digits=4),
        measured(last["pooled"] - last["independent A"], ">", 0, f"{size.curve[-1]} sentences", digits=4),
    )  # fmt: skip


def labels(result: RecipeResult, material: Material) -> None:
    """As many labels, of different sentences or five of each."""
    own, size = material.times, material.size
    budget = size.train // FILES * FILES
    table = Table(f"{budget} labels", ["sentences", "MAE"], digits={"sentences": 0, "MAE": 4})
    found: dict[str, list[float]] = {"one editor per sentence": [], "five editors per sentence": []}
    for seed in range(size.curve_seeds):
        split = material.split(seed)
        form = Form(("combined", "pooled"), iterations=size.iterations)
        found["one editor per sentence"].append(float(split.fit(form).errors.mean()))
        chosen = split.train[: budget // FILES]
        rows = np.repeat(chosen, FILES)
        tasks = np.stack([own.who[chosen].ravel(), own.system[rows]], axis=1)
        process = MultiTaskProcess.fit(own.x[rows], tasks, own.y[chosen].ravel(), form, sizes=split.sizes)
        said = process.predict(split.x[split.test], split.tasks[split.test])
        found["five editors per sentence"].append(float(split.errors(said.mean).mean()))
    for name, count in (("one editor per sentence", budget), ("five editors per sentence", budget // FILES)):
        table.add(name, {"sentences": count, "MAE": float(np.mean(found[name]))})
    result.tables.append(table)
    once, often = ([np.array([value]) for value in values] for values in found.values())
    result.claim(
        "labels of many sentences by one editor each are worth more than of few by all", gains(once, often, "")
    )


def simulated(
    own: Floats, noise: Floats, seed: int, per_task: int = 60, features: int = 2
) -> tuple[Floats, Ints, Floats]:
    """Rows of annotators drawn from the model: `own` are their a_d, `noise` their standard deviations."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(len(own) * per_task, features))
    who = np.repeat(np.arange(len(own)), per_task)
    distances = ((x[:, None] - x[None]) ** 2).sum(axis=2) / 4.0
    covariance = np.exp(-0.5 * distances) * (1.0 + np.diag(own))[who][:, who] + 1e-8 * np.eye(len(x))
    f = np.linalg.cholesky(covariance) @ rng.normal(size=len(x))
    return x, who[:, None], f + noise[who] * rng.normal(size=len(x))


def simulation(result: RecipeResult, material: Material) -> None:
    seeds = material.size.seeds
    table = Table(
        f"Six annotators drawn from the model, 60 rows each, {seeds} draws",
        ["median a", "lowest a", "highest a", "noise, worst mean ratio"],
        digits=dict.fromkeys(("median a", "lowest a", "highest a", "noise, worst mean ratio"), 3),
    )  # fmt: skip
    for a in (0.01, 1.0, 100.0):
        learned, ratios = [], []
        for seed in range(seeds):
            noise = np.random.default_rng(100 + seed).uniform(0.1, 0.3, 6) * max(1.0, a**0.5)
            x, who, y = simulated(np.full(6, a), noise, seed)
            process = MultiTaskProcess.fit(x, who, y, Form(("combined",), noise=(0,)))
            learned.append(float(process.covariance.shares[0].own[0]))
            ratios.append(np.exp(process.covariance.noise.values) * process.unit / noise)
        mean = np.mean(ratios, axis=0)
        table.add(f"a = {a:g}", {
            "median a": float(np.median(learned)), "lowest a": min(learned), "highest a": max(learned),
            "noise, worst mean ratio": float(mean[np.abs(mean - 1).argmax()]),
        })  # fmt: skip
    table.note = "Standard deviations of noise .1 to .3 of what is common (or of what is own, if that is more)."
    result.tables.append(table)


def speed(result: RecipeResult, material: Material) -> None:
    own, items = material.times, material.size.items
    x, who = np.repeat(own.x[:items], FILES, axis=0), np.tile(np.arange(FILES), min(items, own.n))
    y = own.y[:items].ravel()
    table = Table(f"Training on {len(y):,} rows", ["hyper-parameters", "seconds", "CPU s", "log p"],
                  digits={"hyper-parameters": 0, "seconds": 1, "CPU s": 1, "log p": 1})  # fmt: skip
    spent, few = {}, min(200, len(y) // 4)
    for name, form in {
        "all rows": Form(("combined",), noise=(0,), blocks=False), "complete blocks": Form(("combined",), noise=(0,)),
        f"{few} inducing points": Form(("combined",), noise=(0,), inducing=few),
    }.items():  # fmt: skip
        begin, cpu = time.perf_counter(), time.process_time()
        process = MultiTaskProcess.fit(x, who[:, None], y, form, sizes=(FILES,))
        spent[name] = time.perf_counter() - begin
        table.add(name, {
            "hyper-parameters": len(process.covariance.parameters), "seconds": spent[name],
            "CPU s": time.process_time() - cpu, "log p": process.likelihood,
        })  # fmt: skip
    table.note = (
        "Files stand for editors here, so that every editor has every sentence. From the first step of the chain."
    )
    result.tables.append(table)
    result.own(
        "training takes at most {bar} seconds",
        *(measured(value, "<=", 600, name) for name, value in spent.items()),
    )
