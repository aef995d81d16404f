"""Sparsity in dependency grammar induction (Gillenwater, Ganchev, Graça, Pereira and Taskar, ACL 2010).

    max over theta of   L(theta) - min over q of  KL(q || p_theta) + sigma * sum over pairs of tags of  max E_q[pair]

A dependency model with valence (DMV), and its extensions with more valences and back-off (2-2, 3-3), are trained on the
tags of short sentences: by EM, under a Dirichlet prior (DD), and with few tag pairs in use, counted by arcs (PR-S) or
by words (PR-AS). Trees are used only for scoring, in two conventions: the treebank's, and with adpositions and copulas
as heads (`weft.recipes.transfer.posterior_sparsity_grammar_induction.data`). The strength is the paper's, in proportion
to the number of sentences; others are tried on English.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from weft.evaluate.counts import Counts
from weft.evaluate.significance import confidence_interval, paired_bootstrap, signed_rank
from weft.progress import track
from weft.recipes.claims import gain, mean_of, measured
from weft.recipes.framework import Curve, RecipeOptions, RecipeResult, Table
from weft.recipes.transfer.posterior_sparsity_grammar_induction.data import (
    FUNCTION,
    LANGUAGES,
    OWN,
    Sentences,
    sentences,
)
from weft.recipes.variation import Variation
from weft.tasks.parsing.induce_grammar import SCALE, GrammarInducer, GrammarSettings

SLUG = "posterior-sparsity-grammar-induction"
METHODS = {"EM": "em", "DD": "dd", "PR-S": "pr-s", "PR-AS": "pr-as"}
#: The prior's parameter, by model: the paper's best values.
ALPHA = {"dmv": 0.25, "2-1": 0.1, "2-2": 0.1, "3-3": 0.1, "4-4": 0.1}
TRIED_ON = "en"
#: Strengths that the paper tries.
RANGE = (80, 180)
#: The paper's DMV results, on its own languages and treebanks; sentences of up to ten words.
PAPER = {
    "EM": {"en": 45.8, "wsj": 45.8, "bg": 37.8, "cs": 29.6, "es": 40.3, "nl": 37.1, "pt": 35.7, "tr": 46.8},
    "PR-AS": {"en": 61.9, "wsj": 61.9, "bg": 54.0, "cs": 32.0, "es": 62.4, "nl": 37.9, "pt": 47.8, "tr": 53.4},
}
#: The paper's English results by the model's valences: EM, and the better kind of sparse posteriors.
PAPER_VALENCES = {
    "EM": {"dmv": 45.8, "2-1": 45.1, "2-2": 54.4, "3-3": 55.3, "4-4": 55.1},
    "PR": {"dmv": 62.1, "2-1": 62.7, "2-2": 62.9, "3-3": 64.3, "4-4": 64.4},
}
#: Average gains over EM in the paper's twelve languages.
PAPER_GAINS = {"dmv": {"DD": 1.6, "PR-S": 6.0, "PR-AS": 7.5}, "4-4": {"DD": 1.4, "PR-S": 6.5, "PR-AS": 6.3}}


@dataclass(frozen=True)
class Size:
    """The size of the experiment; the paper uses all short sentences of its treebanks and 100 iterations."""

    languages: tuple[str, ...] = tuple(LANGUAGES)
    models: tuple[str, ...] = ("dmv", "2-2", "3-3")
    methods: tuple[str, ...] = tuple(METHODS)
    valences: tuple[str, ...] = ("dmv", "2-1", "2-2", "3-3", "4-4")  # on English
    train: int = 2000  # sentences
    test: int = 1000
    iterations: int = 60
    steps: int = 5  # of a projection
    strength: float = 140.0  # for 7,000 sentences
    sweep: tuple[float, ...] = (70.0, 100.0, 140.0, 180.0, 280.0, 560.0)  # other strengths, on English
    by_length: bool = True


QUICK = Size(
    languages=("en", "es"),
    models=("dmv",),
    valences=("dmv", "4-4"),
    train=150,
    test=100,
    iterations=15,
    sweep=(100.0, 140.0, 280.0),
    by_length=False,
)


@dataclass
class Material:
    """Training and test sentences by language."""

    train: dict[str, Sentences] = field(default_factory=dict)
    test: dict[str, Sentences] = field(default_factory=dict)


def material(options: RecipeOptions, size: Size) -> Material:
    """Short sentences of every language, a random sample if there are more."""
    found = Material()
    for code in size.languages:
        found.train[code] = sentences(options, code).take(size.train, options.seed)
        same = not LANGUAGES[code].test
        found.test[code] = found.train[code] if same else sentences(options, code, "test").take(size.test, options.seed)
    return found


def learn(
    train: Sentences, size: Size, method: str, model: str = "dmv", strength: float | None = None
) -> GrammarInducer:
    """A parser trained on the tags of sentences."""
    settings = GrammarSettings(
        objective=METHODS[method], valence=model, alpha=ALPHA[model],
        strength=size.strength if strength is None else strength, iterations=size.iterations, steps=size.steps,
    )  # fmt: skip
    parser = GrammarInducer(settings)
    found = parser.learn(train.tags)
    # EM and its variants never decrease their objective; the driver rejects a decrease beyond rounding.
    assert all(after >= before - 1e-6 * abs(before) for before, after in pairwise(found.objective))
    return parser


def attachments(parser: GrammarInducer, gold: Sentences, convention: str) -> Counts:
    """Correct heads and words per sentence; a treebank with one convention has the same in both."""
    heads = parser.parse(gold.tags)
    ends = np.cumsum([len(tags) for tags in gold.tags])[:-1]
    trees = gold.heads.get(convention, gold.heads[OWN])
    right = [int(np.sum(own == tree)) for own, tree in zip(np.split(heads, ends), trees, strict=True)]
    words = [len(tags) for tags in gold.tags]
    return Counts.of(words, words, right)


def accuracy(counts: Counts) -> float:
    """Percentage of words with the correct head."""
    return 100 * counts.total().recall


@dataclass
class Found:
    """Correct heads by model, method, convention and language."""

    counts: dict[tuple[str, str, str, str], Counts] = field(default_factory=dict)

    def accuracy(self, model: str, method: str, convention: str, code: str) -> float:
        return accuracy(self.counts[model, method, convention, code])

    def gains(
        self, model: str, method: str, other: str, languages: Sequence[str], conventions: Sequence[str]
    ) -> NDArray[np.float64]:
        """The gain of one method over another in points, by language, as the mean over conventions."""
        return np.array([
            np.mean([
                self.accuracy(model, method, convention, code) - self.accuracy(model, other, convention, code)
                for convention in conventions
            ])
            for code in languages
        ])  # fmt: skip


def compare(data: Material, size: Size) -> Found:
    """Train with every model and method in every language, and score in both conventions."""
    found = Found()
    rows = [(code, model, method) for code in size.languages for model in size.models for method in size.methods]
    for code, model, method in track(rows, "learning grammars", unit="grammars"):
        parser = learn(data.train[code], size, method, model)
        for convention in (OWN, FUNCTION):
            found.counts[model, method, convention, code] = attachments(parser, data.test[code], convention)
    return found


VARIATION = Variation((Size,))


def run(options: RecipeOptions) -> RecipeResult:
    """Run the experiment."""
    size = options.varied(QUICK if options.quick else Size())
    data = material(options, size)
    found = compare(data, size)
    result = RecipeResult(SLUG)
    for convention in (OWN, FUNCTION):
        result.tables.append(_table(found, size, convention))
    result.tables.append(_gains_table(found, size))
    result.tables.append(_valence_table(found, data, size))
    _sweep(result, data, size)
    if size.by_length:
        result.tables.append(_length_table(options, data, size))
    _claims(result, found, size)
    _notes(result, data, size)
    return result


def _name(model: str, method: str) -> str:
    return f"{'DMV' if model == 'dmv' else f'E-DMV {model}'} {method}"


def _table(found: Found, size: Size, convention: str) -> Table:
    shown = "heads of the treebank" if convention == OWN else "adpositions and copulas as heads"
    columns = [*size.languages, "mean"]
    table = Table(f"Directed accuracy, up to 10 words: {shown}", columns, digits=dict.fromkeys(columns, 1))
    for model in size.models:
        for method in size.methods:
            ours, interval = {}, {}
            for code in size.languages:
                counts = found.counts[model, method, convention, code]
                ours[code] = accuracy(counts)
                bounds = confidence_interval(counts, "recall", samples=1000)
                interval[code] = (100 * bounds.low, 100 * bounds.high)
            ours["mean"] = float(np.mean(list(ours.values())))
            paper = PAPER.get(method, {}) if model == "dmv" and convention == FUNCTION else {}
            table.add(_name(model, method), ours, {c: v for c, v in paper.items() if c in size.languages}, interval)
    if convention == FUNCTION:
        table.note = "The paper's figures are those of its own treebanks of these languages; function words are heads."
    return table


def _gains_table(found: Found, size: Size) -> Table:
    columns = ["points", "own heads", "function heads", "languages ahead", "significantly ahead", "Wilcoxon p"]
    digits = {"languages ahead": 0, "significantly ahead": 0, "Wilcoxon p": 4}
    table = Table(f"Gains over {len(size.languages)} treebanks, mean of both conventions", columns, digits=digits)
    table.note = "Significantly: paired bootstrap over test sentences, p < 0.05 in either convention."
    for model in size.models:
        for method, other in (("DD", "EM"), ("PR-S", "EM"), ("PR-AS", "EM"), ("PR-AS", "DD")):
            gains = found.gains(model, method, other, size.languages, (OWN, FUNCTION))
            ahead = sum(
                any(
                    test.p < 0.05 and test.difference > 0
                    for test in (
                        paired_bootstrap(
                            found.counts[model, method, convention, code],
                            found.counts[model, other, convention, code],
                            "recall",
                            samples=500,
                        )
                        for convention in (OWN, FUNCTION)
                    )
                )
                for code in size.languages
            )
            ours = {
                "points": float(gains.mean()),
                "own heads": float(found.gains(model, method, other, size.languages, (OWN,)).mean()),
                "function heads": float(found.gains(model, method, other, size.languages, (FUNCTION,)).mean()),
                "languages ahead": int((gains > 0).sum()),
                "significantly ahead": ahead,
                "Wilcoxon p": signed_rank(gains),
            }
            paper = PAPER_GAINS.get(model, {}).get(method) if other == "EM" else None
            table.add(f"{_name(model, method)}, less {other}", ours, {"points": paper} if paper else {})
    return table


def _valence_table(found: Found, data: Material, size: Size) -> Table:
    names = [_name(model, "").strip() for model in size.valences]
    title = f"Valences of children and stops, {TRIED_ON}: adpositions and copulas as heads"
    table = Table(title, names, digits=dict.fromkeys(names, 1))
    rows: dict[str, dict[str, float]] = {}
    for model, column in zip(size.valences, names, strict=True):
        for method in ("EM", "PR-S", "PR-AS"):
            counts = found.counts.get((model, method, FUNCTION, TRIED_ON))
            if counts is None:
                counts = attachments(learn(data.train[TRIED_ON], size, method, model), data.test[TRIED_ON], FUNCTION)
            rows.setdefault(method, {})[column] = accuracy(counts)
    rows["PR, the better of both"] = {column: max(rows["PR-S"][column], rows["PR-AS"][column]) for column in names}
    for name, row in rows.items():
        paper = PAPER_VALENCES.get(name.partition(",")[0], {})
        table.add(name, row, {column: paper[m] for m, column in zip(size.valences, names, strict=True) if paper})
    table.note = "The paper chooses the kind and its strength for every model; here the strength is the same for all."
    return table


def _sweep(result: RecipeResult, data: Material, size: Size) -> None:
    """The strength on the English training sentences: training used no trees, and no test sentences are used."""
    if TRIED_ON not in size.languages:
        return
    train = data.train[TRIED_ON]
    columns = ["strength", "PR-S own", "PR-S function", "PR-AS own", "PR-AS function"]
    table = Table(f"Strength of sparse posteriors, {TRIED_ON}, training sentences", columns)
    em = learn(train, size, "EM")
    base = {convention: accuracy(attachments(em, train, convention)) for convention in (OWN, FUNCTION)}
    table.add("EM", {"strength": 0.0, **{f"{m} {c}": base[c] for m in ("PR-S", "PR-AS") for c in base}})
    series: dict[str, list[tuple[float, float]]] = {name: [] for name in columns[1:]}
    for strength in size.sweep:
        row: dict[str, float | int | str | None] = {"strength": strength * len(train) / SCALE}
        for method in ("PR-S", "PR-AS"):
            parser = learn(train, size, method, strength=strength)
            for convention in (OWN, FUNCTION):
                value = accuracy(attachments(parser, train, convention))
                row[f"{method} {convention}"] = value
                series[f"{method} {convention}"].append((strength, value))
        table.add(f"sigma {strength:g} for {SCALE:,} sentences", row)
    result.tables.append(table)
    result.curves.append(Curve("Accuracy by strength, English", "sigma for 7,000 sentences", "accuracy", series))
    within = [
        value
        for name in ("PR-S function", "PR-AS function")
        for strength, value in series[name]
        if RANGE[0] <= strength <= RANGE[1]
    ]
    result.claim(
        f"English, function heads: PR is above EM at every strength from {RANGE[0]} to {RANGE[1]}",
        gain(min(within) - base[FUNCTION], where="lowest"),
    )


def _length_table(options: RecipeOptions, data: Material, size: Size) -> Table:
    lengths = {"up to 10": 10, "up to 20": 20, "all": 100}
    columns = [f"{name}, {convention}" for name in lengths for convention in (OWN, FUNCTION)]
    table = Table(f"DMV by the length of test sentences, {TRIED_ON}", columns, digits=dict.fromkeys(columns, 1))
    tests = {
        name: sentences(options, TRIED_ON, "test", longest).take(size.test, options.seed)
        for name, longest in lengths.items()
    }
    for method in ("EM", "PR-S", "PR-AS"):
        parser = learn(data.train[TRIED_ON], size, method)
        ours = {
            f"{name}, {convention}": accuracy(attachments(parser, test, convention))
            for name, test in tests.items()
            for convention in (OWN, FUNCTION)
        }
        paper = dict(zip([f"{name}, {FUNCTION}" for name in lengths], (62.1, 53.8, 49.1), strict=True))
        table.add(_name("dmv", method), ours, paper if method == "PR-S" else {})
    return table


def _claims(result: RecipeResult, found: Found, size: Size) -> None:
    both = (OWN, FUNCTION)
    for model in size.models:
        by_method = {m: found.gains(model, m, "EM", size.languages, both) for m in ("DD", "PR-S", "PR-AS")}
        model_claims(result, _name(model, "").strip(), {
            method: dict(zip(size.languages, own.tolist(), strict=True)) for method, own in by_method.items()
        })  # fmt: skip


def model_claims(result: RecipeResult, model: str, gains: Mapping[str, Mapping[str, float]]) -> None:
    """Claims about one model, from the gains over EM by method and language, means of both conventions."""
    for method in ("PR-S", "PR-AS"):
        over_em = mean_of(gains[method], f"{model}, {method}")
        result.claim("posterior regularization is above EM in the mean of languages", over_em)
        result.claim("posterior regularization is at least {bar} points above EM in the mean of languages",
                     replace(over_em, sense=">=", bar=3.0))  # fmt: skip
        over_dd = {code: value - gains["DD"][code] for code, value in gains[method].items()}
        result.claim("posterior regularization is above discounting in the mean of languages",
                     mean_of(over_dd, f"{model}, {method}"))  # fmt: skip
    result.claim("discounting is at least as good as EM in the mean of languages", mean_of(gains["DD"], model, ">="))
    losers = [code for code, value in gains["PR-AS"].items() if value < 0]
    where = f"{model}, languages behind: {', '.join(losers) or 'none'},"
    result.claim("PR-AS is behind EM in no language", measured(len(losers), "<=", 0, where, 0))


def _notes(result: RecipeResult, data: Material, size: Size) -> None:
    sizes = ", ".join(f"{code} {len(own)}" for code, own in data.train.items())
    result.notes.append(
        f"{len(size.languages)} treebanks; sentences to learn from, of up to 10 words without punctuation, at most "
        f"{size.train} of each: {sizes}; tests: at most {size.test} sentences of another file (es, wsj: the sentences "
        f"learned from, of which no tree was seen); {size.iterations} iterations with {size.steps} steps of projection "
        f"each, the paper 100 iterations on all sentences; strength {size.strength:g} for {SCALE:,} sentences, less "
        "for fewer in proportion."
    )
