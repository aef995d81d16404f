"""Durrett, Hall and Klein (2013): antecedents chosen one by one, and properties that agree along chains of links.

OntoNotes is not public. The experiment runs on OntoGUM, whose documents have the trees of English-GUM, with gold
mentions and with mentions detected in gold trees; and on LitBank, parsed by the English model. All systems share one
first pass, which prunes candidates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

import weft
from weft.arrays import Floats, Ints
from weft.evaluate.semantics.coreference import CorefReport, score_entities
from weft.evaluate.significance import paired_bootstrap
from weft.learn.generative.pair_clusters import PairClusters
from weft.recipes.claims import compared, mean_of, measured
from weft.recipes.framework import RecipeOptions, RecipeResult, Table
from weft.recipes.semantics.entity_level_coreference.data import (
    cluster_priors,
    first_names,
    litbank,
    noisy_priors,
    ontogum,
    parsed,
    role_pairs,
)
from weft.recipes.semantics.entity_level_coreference.floors import RULES
from weft.recipes.variation import Variation
from weft.tasks.coreference.candidates import GAMMA, LOSS, clusters_of
from weft.tasks.coreference.cascade import (
    Cascade,
    Pruned,
    Pruning,
    largest_gamma,
    prune_training,
    pruning_of,
    training_pruning,
)
from weft.tasks.coreference.documents import Marked, gold_mentions, learn_genders, marked, sample_of
from weft.tasks.coreference.model import Options
from weft.tasks.coreference.systems import SYSTEMS, Sample
from weft.text.doc import Doc

MEASURES = ("MUC", "B3", "CEAFe", "CoNLL")
NAMES = {"basic": "BASIC", "pairproperty": "PAIRPROPERTY", "lefttoright": "LEFTTORIGHT", "transitive": "TRANSITIVE"}
#: Development set of the paper: MUC, B3, CEAFe and their mean.
PAPER = {
    ("oracle", "basic"): (61.96, 70.66, 47.30, 59.97),
    ("oracle", "pairproperty"): (66.31, 72.68, 49.08, 62.69),
    ("oracle", "lefttoright"): (66.49, 73.14, 49.46, 63.03),
    ("oracle", "transitive"): (67.37, 74.05, 49.68, 63.70),
    ("phi", "basic"): (61.96, 70.66, 47.30, 59.97),
    ("phi", "lefttoright"): (61.34, 70.41, 47.64, 59.80),
    ("phi", "transitive"): (62.66, 70.92, 46.88, 60.16),
    ("without phi", "basic"): (59.45, 69.21, 46.02, 58.23),
    ("without phi", "pairproperty"): (61.88, 70.66, 47.14, 59.90),
    ("without phi", "lefttoright"): (61.42, 70.53, 47.49, 59.81),
    ("without phi", "transitive"): (62.23, 70.78, 46.74, 59.92),
    ("clusters", "pairproperty"): (62.88, 70.71, 47.45, 60.35),
    ("clusters", "lefttoright"): (61.39, 70.60, 47.71, 59.90),
    ("clusters", "transitive"): (63.34, 70.89, 46.88, 60.37),
}
#: The head rule on gold mentions, as measured for the plan of this project.
FLOORS = {"dev": 62.3, "test": 62.6}
#: Per cent of the mentions that pruning is to leave solvable, and the values of gamma that may be chosen for it.
SOLVABLE, GAMMAS = 97, tuple(float(-gamma) for gamma in range(1, 9))


@dataclass(frozen=True)
class Size:
    """Numbers of documents, passes over them, and seeds of noise."""

    train: int = 1000
    held_out: int = 1000
    passes: int = 4
    rate: float = 0.1
    seeds: int = 5
    classes: int = 20
    novels: int = 50
    samples: int = 2000


VARIATION = Variation((Size,), ("gold", "oracle", "phi", "clusters", "loss", "predicted", "litbank"))
QUICK = Size(train=12, held_out=6, passes=2, seeds=1, classes=4, novels=6, samples=200)


@dataclass
class Setting:
    """Documents with one kind of mentions: those to train on and those to score, with gold entities by words."""

    train: list[Marked]
    parts: dict[str, list[Marked]]
    gold: dict[str, list[list[list[tuple[int, int]]]]]
    samples: list[Sample]
    held_out: dict[str, list[Sample]]
    singletons: bool = False
    pruned: Pruned | None = None

    @classmethod
    def of(
        cls, train: Sequence[Doc], parts: Mapping[str, Sequence[Doc]], names: dict[str, str], detected: bool,
        singletons: bool = False, possessive: bool = True,
    ) -> Setting:  # fmt: skip
        documents = [marked(doc, detected, possessive) for doc in train]
        genders = learn_genders(documents, names)
        others = {part: [marked(doc, detected, possessive) for doc in docs] for part, docs in parts.items()}
        gold = {part: [_gold(doc, singletons) for doc in docs] for part, docs in parts.items()}
        return cls(
            documents, others, gold, [sample_of(each, genders, True) for each in documents],
            {part: [sample_of(each, genders, False) for each in own] for part, own in others.items()}, singletons,
        )  # fmt: skip

    def with_priors(self, priors: Callable[[Marked], list[Floats]]) -> Setting:
        """The same mentions and candidates with other properties."""
        samples = [replace(own, priors=priors(each)) for own, each in zip(self.samples, self.train, strict=True)]
        held_out = {
            part: [replace(own, priors=priors(each)) for own, each in zip(rows, self.parts[part], strict=True)]
            for part, rows in self.held_out.items()
        }
        pruned = self.pruned
        if pruned is not None:
            kept = [replace(own, priors=new.priors) for own, new in zip(pruned.samples, samples, strict=True)]
            pruned = pruned._replace(samples=kept)
        return replace(self, samples=samples, held_out=held_out, pruned=pruned)

    def prune(self, options: Options) -> Pruned:
        """The first pass, done once."""
        if self.pruned is None:
            self.pruned = prune_training(self.samples, options)
        return self.pruned

    def score(self, part: str, resolve: Callable[[Sample], Ints]) -> CorefReport:
        """The scores of entities, as lists of words of mentions."""
        found = []
        for each, own in zip(self.parts[part], self.held_out[part], strict=True):
            groups: dict[int, list[tuple[int, int]]] = {}
            for mention, entity in zip(each.mentions, resolve(own).tolist() if each.mentions else [], strict=True):
                groups.setdefault(entity, []).append((mention.start, mention.end))
            found.append([group for group in groups.values() if self.singletons or len(group) > 1])
        return score_entities(self.gold[part], found)


def _gold(doc: Doc, singletons: bool) -> list[list[tuple[int, int]]]:
    spans, entity = gold_mentions(doc)
    groups: dict[int, list[tuple[int, int]]] = {}
    for span, number in zip(spans, entity.tolist(), strict=True):
        groups.setdefault(number, []).append(span)
    return [group for group in groups.values() if singletons or len(group) > 1]


def decided(model: Cascade) -> Callable[[Sample], Ints]:
    """Entities by a model."""
    return lambda sample: clusters_of(model.antecedents(sample))


def run(options: RecipeOptions) -> RecipeResult:
    """All tables of the system page."""
    size = options.varied(QUICK if options.quick else Size())
    result = RecipeResult("entity-level-coreference")
    settings = Options(passes=size.passes, rate=size.rate, seed=options.seed)
    names = first_names(options)
    docs = {
        part: ontogum(options, part)[: size.train if part == "train" else size.held_out]
        for part in ("train", "dev", "test")
    }
    parts = {"dev": docs["dev"], "test": docs["test"]}
    nlp = weft.load("en")
    for own in docs.values():
        _name_entities(own, nlp)
    gold = Setting.of(docs["train"], parts, names, detected=False)
    if options.wants("gold"):
        _gold_mentions(result, gold, settings, size)
    if options.wants("oracle"):
        _oracle(result, gold, settings, size)
    if options.wants("phi"):
        _phi(result, gold, settings)
    if options.wants("clusters"):
        _clusters(result, gold, settings, size, docs["train"])
    if options.wants("loss"):
        _loss(result, gold, settings, size)
    if options.wants("predicted"):
        _predicted(result, Setting.of(docs["train"], parts, names, detected=True), settings, size)
    if options.wants("litbank"):
        _litbank(result, options, settings, size, nlp, names)
    return result


def _name_entities(docs: Sequence[Doc], nlp: weft.Pipeline) -> None:
    """Names as the English model finds them in gold words and tags."""
    for component in nlp.components:
        if component.task == "ner":
            component(list(docs))


def _row(table: Table, name: str, report: CorefReport, paper: tuple[str, str] | None = None) -> None:
    scores = report.as_dict()
    ours = {measure: round(100 * scores[measure], 2) for measure in table.columns if measure in scores}
    known = PAPER.get(paper) if paper is not None else None
    table.add(name, ours, dict(zip(MEASURES, known, strict=True)) if known else None)


def _against(better: CorefReport, worse: CorefReport, samples: int, where: str = "", bar: float = 0.0) -> object:
    a, b = better.counts()["CoNLL"], worse.counts()["CoNLL"]
    return compared(paired_bootstrap(a, b, a.measure, samples, 0), where, bar=bar)


def _gold_mentions(result: RecipeResult, setting: Setting, options: Options, size: Size) -> None:
    """Rules and the four systems on gold mentions, with the properties phi."""
    first = setting.prune(options)
    reports: dict[tuple[str, str], CorefReport] = {}
    models = {system: Cascade.fit(setting.samples, replace(options, system=system), pruned=first) for system in SYSTEMS}
    coarse = Cascade(first.coarse, first.coarse, -1e9)
    for part in setting.parts:
        columns = [*MEASURES, "CEAFm", "BLANC", "LEA"] if part == "test" else list(MEASURES)
        table = Table(f"OntoGUM {part}, gold mentions", columns)
        for name, rule in RULES.items():
            reports[part, name] = setting.score(part, lambda own, rule=rule: rule(own.table))  # type: ignore[misc]
            _row(table, name, reports[part, name])
        reports[part, "coarse"] = setting.score(part, decided(coarse))
        _row(table, "BASIC, not pruned", reports[part, "coarse"])
        for system, model in models.items():
            reports[part, system] = setting.score(part, decided(model))
            _row(table, NAMES[system], reports[part, system], ("phi", system) if part == "dev" else None)
        result.tables.append(table)
        result.own(
            "BASIC is at least {bar} points above the head rule on gold mentions",
            _against(reports[part, "basic"], reports[part, "head rule"], size.samples, part, 4.0),  # type: ignore[arg-type]
            measured(100 * reports[part, "basic"].conll - FLOORS[part], ">=", 4, f"{part}, floor of the plan"),
        )
    result.claim(
        "retraining on pruned candidates helps BASIC",
        _against(reports["dev", "basic"], reports["dev", "coarse"], size.samples, "dev"),  # type: ignore[arg-type]
    )
    result.claim(
        "with the properties phi, TRANSITIVE is better than BASIC",
        _against(reports["dev", "transitive"], reports["dev", "basic"], size.samples, "dev"),  # type: ignore[arg-type]
        _against(reports["test", "transitive"], reports["test", "basic"], size.samples, "test"),  # type: ignore[arg-type]
    )


def _oracle(result: RecipeResult, setting: Setting, options: Options, size: Size) -> None:
    """The noisy oracle: three properties of five values, over seeds of the noise."""
    first = setting.prune(options)
    basic = setting.score("dev", decided(Cascade.fit(setting.samples, options, pruned=first)))
    scores: dict[str, list[dict[str, float]]] = {"basic": [basic.as_dict()] * size.seeds}
    wrong = []
    for seed in range(size.seeds):
        noisy = setting.with_priors(lambda each, seed=seed: noisy_priors(each, seed))  # type: ignore[misc]
        wrong.append(_wrong_modes(noisy, seed))
        for system in SYSTEMS[1:]:
            model = Cascade.fit(noisy.samples, replace(options, system=system), pruned=noisy.pruned)
            scores.setdefault(system, []).append(noisy.score("dev", decided(model)).as_dict())
    table = Table(
        "Noisy oracle, OntoGUM dev, gold mentions", list(MEASURES),
        note=f"Means over {size.seeds} seeds of the noise; the most likely value of {100 * np.mean(wrong):.1f}% of the "
        "mentions is wrong.",
    )  # fmt: skip
    for system, rows in scores.items():
        means = {name: round(100 * float(np.mean([row[name] for row in rows])), 2) for name in MEASURES}
        table.add(NAMES[system], means, dict(zip(MEASURES, PAPER["oracle", system], strict=True)))
    result.tables.append(table)

    def by_seed(a: str, b: str) -> dict[str, float]:
        return {
            f"seed {k}": 100 * (one["CoNLL"] - other["CoNLL"])
            for k, (one, other) in enumerate(zip(scores[a], scores[b], strict=True))
        }

    gap = mean_of(by_seed("transitive", "basic"), "TRANSITIVE - BASIC", bar=2.0)
    result.claim("with a noisy oracle, TRANSITIVE is at least {bar} points above BASIC", gap, required=True)
    for better, worse in (("transitive", "lefttoright"), ("lefttoright", "pairproperty"), ("pairproperty", "basic")):
        text = f"with a noisy oracle, {NAMES[better]} is better than {NAMES[worse]}"
        result.claim(text, mean_of(by_seed(better, worse), f"{NAMES[better]} - {NAMES[worse]}"))


def _wrong_modes(setting: Setting, seed: int) -> float:
    """The share of mentions whose most likely value differs from that of most mentions of their entity."""
    wrong, total = 0, 0
    for each, own in zip(setting.parts["dev"], setting.held_out["dev"], strict=True):
        for prior in own.priors:
            modes = prior.argmax(axis=1)
            for entity in set(each.entity.tolist()):
                members = modes[each.entity == entity]
                if entity >= 0 and len(members) > 4:
                    wrong += int((members != np.bincount(members).argmax()).sum())
                    total += len(members)
    return wrong / max(total, 1)


def _phi(result: RecipeResult, setting: Setting, options: Options) -> None:
    """Pair features without agreement: the properties have to bring it back."""
    bare = replace(options, phi=False)
    first = prune_training(setting.samples, bare)
    table = Table("Pair features without phi, OntoGUM dev, gold mentions", list(MEASURES))
    reports = {}
    for system in SYSTEMS:
        model = Cascade.fit(setting.samples, replace(bare, system=system), pruned=first)
        reports[system] = setting.score("dev", decided(model))
        _row(table, f"{NAMES[system]}, without phi", reports[system], ("without phi", system))
    result.tables.append(table)
    for system in SYSTEMS[1:]:
        result.claim(
            "properties bring back what BASIC loses without features of agreement",
            _against(reports[system], reports["basic"], 2000, NAMES[system]),  # type: ignore[arg-type]
        )


def _clusters(result: RecipeResult, setting: Setting, options: Options, size: Size, docs: Sequence[Doc]) -> None:
    """Four clusterings of nouns by their roles."""
    kinds = [(False, "naive bayes", True), (True, "conditional", True), (True, "naive bayes", True),
             (True, "naive bayes", False)]  # fmt: skip
    models = []
    for place, (passive, kind, pronouns) in enumerate(kinds):
        pairs = role_pairs(docs, passive, pronouns)
        models.append((PairClusters.fit(pairs, size.classes, kind, 30, options.seed + place), passive))  # type: ignore[arg-type]
    setting.prune(options)
    clustered = setting.with_priors(lambda each: cluster_priors(each, models))
    table = Table(
        f"Properties from four clusterings of {size.classes} classes, OntoGUM dev, gold mentions", list(MEASURES),
        note="Roles stand in for semantic roles: the relation to the governing verb, subjects of passives as objects.",
    )  # fmt: skip
    basic = setting.score("dev", decided(Cascade.fit(setting.samples, options, pruned=setting.pruned)))
    _row(table, "BASIC", basic, ("phi", "basic"))
    for system in SYSTEMS[1:]:
        model = Cascade.fit(clustered.samples, replace(options, system=system), pruned=clustered.pruned)
        report = clustered.score("dev", decided(model))
        _row(table, NAMES[system], report, ("clusters", system))
        if system == "transitive":
            result.claim(
                "with clusters, TRANSITIVE is better than BASIC",
                _against(report, basic, size.samples, "dev"),  # type: ignore[arg-type]
            )
    result.tables.append(table)


def _loss(result: RecipeResult, setting: Setting, options: Options, size: Size) -> None:
    """Weights of the three errors."""
    table = Table("Weights of errors, OntoGUM dev, gold mentions, BASIC", ["recall", "precision", *MEASURES])
    reports: dict[tuple[float, float, float], CorefReport] = {}
    first = setting.prune(options)
    for loss in ((1.0, 1.0, 1.0), (0.15, 1.0, 1.0), LOSS, (0.15, 5.0, 1.0)):
        model = Cascade.fit(setting.samples, options, loss=loss, pruned=first)
        reports[loss] = report = setting.score("dev", decided(model))
        muc, scores = report.counts()["MUC"].total(), report.as_dict()
        ours = {name: round(100 * scores[name], 2) for name in MEASURES}
        sides = {"recall": round(100 * muc.recall, 2), "precision": round(100 * muc.precision, 2)}
        table.add(f"{loss[0]:g}, {loss[1]:g}, {loss[2]:g}", {**sides, **ours})
    result.tables.append(table)
    recalls = [reports[0.15, c, 1.0].counts()["MUC"].total().recall for c in (1.0, 2.5, 5.0)]
    result.claim(
        "a higher cost of false new entities raises recall",
        measured(100 * (recalls[1] - recalls[0]), ">", 0, "MUC recall, 1 to 2.5"),
        measured(100 * (recalls[2] - recalls[1]), ">", 0, "MUC recall, 2.5 to 5"),
    )
    result.claim(
        "the weights (0.15, 2.5, 1) are better than equal ones",
        _against(reports[LOSS], reports[1.0, 1.0, 1.0], size.samples, "gold mentions"),  # type: ignore[arg-type]
    )


def _predicted(result: RecipeResult, setting: Setting, options: Options, size: Size) -> None:
    """Mentions detected in gold trees: the systems, what pruning does, and the weights of errors."""
    first = setting.prune(options)
    reports: dict[tuple[str, str], CorefReport] = {}
    models = {system: Cascade.fit(setting.samples, replace(options, system=system), pruned=first) for system in SYSTEMS}
    equal = Cascade.fit(setting.samples, options, loss=(1.0, 1.0, 1.0), pruned=first)
    for part in setting.parts:
        table = Table(f"OntoGUM {part}, detected mentions", [*MEASURES, "mentions"])
        reports[part, "head rule"] = setting.score(part, lambda own: RULES["head rule"](own.table))
        _row(table, "head rule", reports[part, "head rule"])
        for system, model in models.items():
            reports[part, system] = setting.score(part, decided(model))
            _row(table, NAMES[system], reports[part, system], ("phi", system) if part == "dev" else None)
        reports[part, "equal"] = setting.score(part, decided(equal))
        _row(table, "BASIC, equal weights of errors", reports[part, "equal"])
        result.tables.append(table)
    result.claim(
        "the weights (0.15, 2.5, 1) are better than equal ones",
        _against(reports["dev", "basic"], reports["dev", "equal"], size.samples, "detected mentions"),  # type: ignore[arg-type]
    )
    _pruning(result, setting, options, first)


def _pruning(result: RecipeResult, setting: Setting, options: Options, first: Pruned) -> None:
    """What pruning keeps and cuts: at several gammas on dev, and at one that training documents choose."""
    columns = ["solvable", "cut", "links per mention"]
    table = Table("Pruning of candidates, OntoGUM dev, detected mentions", columns)
    found = {gamma: _pruned(setting, "dev", first, gamma) for gamma in (-1.0, GAMMA, -4.0, -6.0)}
    for gamma, total in found.items():
        table.add(f"gamma {gamma:g}", _cuts(total))
    result.tables.append(table)
    solvable, cut = 100 * found[GAMMA].share_solvable, 100 * found[GAMMA].share_cut
    result.claim("pruning keeps {bar} % of the mentions solvable", measured(solvable, ">=", SOLVABLE, unit="%"))
    result.claim("pruning cuts {bar} % of the links", measured(cut, ">=", 80, unit="%"))
    folds = training_pruning(setting.samples, options, GAMMAS)
    chosen = largest_gamma(folds, SOLVABLE / 100)
    table = Table("Pruning with a gamma that training documents choose, detected mentions", columns)
    for gamma, total in folds.items():
        table.add(f"train, gamma {gamma:g}", _cuts(total))
    held_out = {part: _pruned(setting, part, first, chosen) for part in setting.parts}
    for part, total in held_out.items():
        table.add(f"{part}, gamma {chosen:g}", _cuts(total))
    table.note = (
        "train: every half is pruned by a model of the other one. The gamma chosen is the largest that keeps "
        f"{SOLVABLE} % of the training mentions solvable; all other tables have the paper's {GAMMA:g}."
    )
    result.tables.append(table)
    result.own(
        "with the gamma that training documents choose, pruning keeps {bar} % of new mentions solvable",
        *(measured(100 * each.share_solvable, ">=", SOLVABLE, part, unit="%") for part, each in held_out.items()),
        required=False,
    )
    result.own(
        "with that gamma, pruning cuts {bar} % of the links",
        *(measured(100 * each.share_cut, ">=", 80, part, unit="%") for part, each in held_out.items()),
        required=False,
    )


def _pruned(setting: Setting, part: str, first: Pruned, gamma: float) -> Pruning:
    """What pruning does to the documents of a part."""
    total = Pruning(0, 0, 0, 0)
    for own in setting.held_out[part]:
        total = total + pruning_of(first.coarse, replace(own, allowed=own.candidates.allowed(_entity(own))), gamma)
    return total


def _cuts(total: Pruning) -> dict[str, float]:
    return {
        "solvable": round(100 * total.share_solvable, 2), "cut": round(100 * total.share_cut, 2),
        "links per mention": round(total.after / max(total.mentions, 1), 2),
    }  # fmt: skip


def _entity(sample: Sample) -> Ints:
    assert sample.entity is not None
    return sample.entity


def _litbank(
    result: RecipeResult,
    options: RecipeOptions,
    settings: Options,
    size: Size,
    nlp: weft.Pipeline,
    names: dict[str, str],
) -> None:
    """The beginnings of novels, split by name, with gold mentions and singletons."""
    docs = parsed(litbank(options)[: size.novels], nlp)
    cut, end = int(0.8 * len(docs)), int(0.9 * len(docs))
    setting = Setting.of(
        docs[:cut], {"dev": docs[cut:end], "test": docs[end:]}, names, detected=False, singletons=True, possessive=False
    )
    first = setting.prune(settings)
    table = Table("LitBank test, gold mentions, singletons kept", list(MEASURES))
    report = setting.score("test", lambda own: RULES["head rule"](own.table))
    _row(table, "head rule", report)
    model = Cascade.fit(setting.samples, settings, pruned=first)
    _row(table, "BASIC", setting.score("test", decided(model)))
    result.tables.append(table)
