"""`weft evaluate GOLD SYSTEM` and `weft compare GOLD A B ...`: scores, and significance tests of their differences."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli.common import DATA, JsonFlag, Seed, counted, option, print_json, print_table
from weft.cli.inputs import Encoding, Fields, FromFormat
from weft.cli.judge.translations import compare_translations, evaluate_translations
from weft.errors import ConfigError

if TYPE_CHECKING:
    from weft.evaluate.agreement import Agreement
    from weft.evaluate.counts import Counts, Score
    from weft.evaluate.documents import Outcome
    from weft.text import Doc


#: With fewer units (sentences, or documents without any), significance tests are unreliable.
FEW = 30


class Trial(StrEnum):
    """Significance tests by the names of the option `--significance`."""

    bootstrap = "bootstrap"
    randomization = "randomization"
    mcnemar = "mcnemar"


Gold = Annotated[str, typer.Argument(metavar="GOLD", help="File or folder with gold annotation.")]
Layer = Annotated[
    str | None,
    option(
        "--layer",
        metavar="NAME",
        help="What to score: ud, a span layer, a column of words such as upos, similarity, or translation.",
    ),
]

System = Annotated[
    str | None,
    typer.Argument(metavar="SYSTEM", help="The same text as annotated by a system, unless --model is."),
]
ModelToScore = Annotated[
    list[Path] | None,
    option("--model", "-m", metavar="MODEL", help="Model to score, from raw text, gold words and gold tags; repeat."),
]
Confusion = Annotated[bool, option("--confusion", help="Show which labels are confused with which.")]
By = Annotated[str | None, option("--by", metavar="KEY", help="Split the scores by a metadata value, such as genre.")]
Train = Annotated[
    str | None, option("--train", metavar="FILE", panel=DATA, help="Training data; its words count as known.")
]
Universal = Annotated[bool, option("--universal", help="Map UD parts of speech to the twelve universal tags.")]
Annotators = Annotated[
    bool, option("--agreement", help="Both files are annotators, or one file has several: F1 and Krippendorff's alpha.")
]


def evaluate(
    gold: Gold,
    system: System = None,
    model: ModelToScore = None,
    confusion: Confusion = False,
    source: FromFormat = None,
    fields: Fields = None,
    encoding: Encoding = "utf-8",
    layer: Layer = None,
    by: By = None,
    train: Train = None,
    universal: Universal = False,
    agreement: Annotators = False,
    as_json: JsonFlag = False,
) -> None:
    """Score a system's output against gold annotation.

    Trees, tags and tokens are scored as in the CoNLL 2018 shared task, whatever the system's tokens; spans by
    precision, recall and F1; a column of words by accuracy. With --model, the gold text is annotated here, from its raw
    text, from its words, and from its words and tags, and the table compares the three. With --agreement, the files
    are those of two annotators; links of timelines agree if they follow from those of the other annotator.
    """
    from weft.cli.judge.model_scores import confusion_rows, print_confusion, score_model
    from weft.evaluate.documents import evaluate_documents
    from weft.evaluate.labels.tagging import vocabulary_of

    if agreement and (model is not None or by is not None or train is not None or confusion):
        raise ConfigError("--agreement compares two files; leave out --model, --by, --train and --confusion")
    if agreement and system is None:
        return _agreement_of_people(_read(gold, source, fields, encoding), layer, as_json)
    if (system is None) == (model is None):
        raise ConfigError("give the output of a system, or a model with --model, to score against the gold file")
    if layer == "similarity":
        return _similarity(gold, system, encoding, as_json)
    if layer == "translation":
        return evaluate_translations(gold, system, encoding, as_json)
    _check_fields([gold] if system is None else [gold, system], source, fields)
    docs = _read(gold, source, fields, encoding)
    if model is not None:
        return score_model(docs, model, layer, confusion, as_json)
    found = _read(str(system), source, fields, encoding)
    if universal:
        _map_tags([*docs, *found])
    if agreement:
        return _agreement(docs, found, layer, as_json)
    vocabulary = vocabulary_of(_read(train, source, fields, encoding)) if train else None
    outcome = evaluate_documents(docs, found, layer, vocabulary)
    parts = _by_group(outcome, docs, by) if by is not None else {}
    totals = {name: counts.total() for name, counts in outcome.counts.items()}
    if as_json:
        result = _as_json(outcome, totals, parts)
        if confusion:
            result["confusion"] = confusion_rows(docs, found, outcome.layer)
        print_json(result)
        return
    _print_scores(outcome, totals)
    if parts:
        _print_parts(outcome, parts, str(by))
    if confusion:
        print_confusion(docs, found, outcome.layer)


def _as_json(outcome: Any, totals: dict[str, Any], parts: dict[str, dict[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {"layer": outcome.layer, "units": len(outcome.counts[outcome.main])}
    result["scores"] = {name: score.as_dict() for name, score in totals.items()}
    if parts:
        result["by"] = {group: {n: score.as_dict() for n, score in rows.items()} for group, rows in parts.items()}
    return result


def _similarity(gold: str, system: str | None, encoding: str, as_json: bool) -> None:
    """Correlations of the similarities of pairs of texts with those that people gave."""
    from weft.evaluate.similarity import correlation, read_scores

    if system is None:
        raise ConfigError("--layer similarity scores a file of similarities: weft align --same-language --out FILE.tsv")
    found = correlation(read_scores(gold, encoding=encoding), read_scores(system, encoding=encoding))
    if as_json:
        print_json(vars(found))
        return
    rows = [["Pearson", f"{found.pearson:.3f}", f"{found.low:.3f} to {found.high:.3f}"],
            ["Spearman", f"{found.spearman:.3f}", ""]]  # fmt: skip
    print_table(f"Similarity, {counted(found.pairs, 'pair')}", ["", "correlation", "95% interval"], rows, (1, 2))


def _agreement(first: Sequence[Doc], second: Sequence[Doc], layer: str | None, as_json: bool) -> None:
    """F1 and alpha of two annotators."""
    from weft.evaluate.annotators import agreement_of_documents

    chosen, found = agreement_of_documents(first, second, layer)
    if as_json:
        print_json({"layer": chosen, "agreement": {name: each._asdict() for name, each in found.items()}})
        return
    print_table(
        "Agreement of two annotators", ["", "F1", "alpha", "alpha over all", "units"],
        [_agreement_row(name, each) for name, each in found.items()], range(1, 5),
    )  # fmt: skip


def _agreement_of_people(docs: Sequence[Doc], layer: str | None, as_json: bool) -> None:
    """F1 and alpha of every two annotators of an export."""
    from weft.evaluate.annotators import agreement_of_people

    chosen, found = agreement_of_people(docs, layer)
    if as_json:
        rows = [
            {"annotators": list(pair), "agreement": {name: each._asdict() for name, each in own.items()}}
            for pair, own in found.items()
        ]
        print_json({"layer": chosen, "pairs": rows})
        return
    print_table(
        f"Agreement of annotators: {chosen}", ["annotators", "", "F1", "alpha", "alpha over all", "units"],
        [[" and ".join(pair), *_agreement_row(*row)] for pair, own in found.items() for row in own.items()],
        range(2, 6),
    )  # fmt: skip


def _agreement_row(name: str, found: Agreement) -> list[str]:
    over_all = "" if found.alpha_all is None else f"{found.alpha_all:.3f}"
    return [name, f"{100 * found.f1:.2f}", f"{found.alpha:.3f}", over_all, f"{found.units:,}"]


def _by_group(outcome: Outcome, docs: Sequence[Doc], key: str) -> dict[str, dict[str, Score]]:
    """The scores of the units of each group."""
    from weft.evaluate.documents import groups_of_units

    groups = groups_of_units(docs if outcome.main == "spans" else [doc for doc in docs if doc.n_words], key)
    parts: dict[str, dict[str, Score]] = {}
    for group in sorted(set(groups)):
        chosen = [name == group for name in groups]
        parts[group] = {name: counts.select(chosen).total() for name, counts in outcome.counts.items()}
    return parts


def _print_parts(outcome: Outcome, parts: dict[str, dict[str, Score]], key: str) -> None:
    shown = _columns_by_group(outcome)
    rows = [[group, *(f"{100 * scores[name].f1:.2f}" for name in shown), f"{scores[outcome.main].gold:,}"]
            for group, scores in parts.items()]  # fmt: skip
    print_table(f"F1 by {key}", [key, *shown, "gold"], rows, range(1, len(shown) + 2))


Systems = Annotated[list[str], typer.Argument(metavar="SYSTEM", help="Outputs of two systems or more.")]
Metric = Annotated[
    str | None,
    option(
        "--metric",
        metavar="NAME",
        help="Metric to compare: LAS, UPOS ..., spans, or a label.",
        shown="by the layer",
    ),
]
Test = Annotated[Trial, option("--significance", help="Significance test.")]
Samples = Annotated[int, option("--samples", min=1, help="Number of samples to draw.")]
Confidence = Annotated[float, option("--confidence", help="Confidence level of the intervals.")]


def compare(
    gold: Gold,
    systems: Systems,
    source: FromFormat = None,
    fields: Fields = None,
    encoding: Encoding = "utf-8",
    layer: Layer = None,
    metric: Metric = None,
    test: Test = Trial.bootstrap,
    samples: Samples = 10_000,
    seed: Seed = 0,
    confidence: Confidence = 0.95,
    as_json: JsonFlag = False,
) -> None:
    """Compare systems: scores with intervals, differences, and whether these are significant.

    With more than two systems all pairs are compared and the p-values corrected by the method of Holm.
    """
    from weft.evaluate.documents import evaluate_documents
    from weft.evaluate.significance import confidence_interval, holm

    if len(systems) < 2:
        raise ConfigError("give at least two system files to compare; `weft evaluate` scores a single one")
    if layer == "translation":
        return compare_translations(gold, systems, metric, encoding, samples, seed, test.value, as_json)
    _check_fields([gold, *systems], source, fields)
    docs = _read(gold, source, fields, encoding)
    outcomes = [evaluate_documents(docs, _read(path, source, fields, encoding), layer) for path in systems]
    if len({outcome.layer for outcome in outcomes}) > 1:
        raise ConfigError("the systems have different layers; choose the one to score with --layer")
    name = outcomes[0].find(metric)
    counts = [_counts(outcome, name, len(outcomes[0].counts[name])) for outcome in outcomes]
    names = _names(systems)
    scores = [confidence_interval(part, part.measure, samples, seed, confidence) for part in counts]
    pairs = [
        {"a": names[i], "b": names[j], **_test(test, (outcomes[i], outcomes[j]), (counts[i], counts[j]), name, samples,
                                               seed, confidence)}
        for i, j in combinations(range(len(systems)), 2)
    ]  # fmt: skip
    for pair, corrected in zip(pairs, holm([pair["p"] for pair in pairs]), strict=True):
        pair["p_corrected"] = float(corrected)
    if as_json:
        print_json({
            "metric": name, "layer": outcomes[0].layer, "test": test.value, "samples": samples, "seed": seed,
            "confidence": confidence, "units": len(counts[0]),
            "systems": {own: vars(score) for own, score in zip(names, scores, strict=True)}, "pairs": pairs,
        })  # fmt: skip
        return
    level = f"{100 * confidence:g}%"
    rows = [[own, f"{100 * score.value:.2f}", f"{100 * score.low:.2f} to {100 * score.high:.2f}"]
            for own, score in zip(names, scores, strict=True)]  # fmt: skip
    print_table(f"{name}, F1", ["system", "score", f"{level} interval"], rows, (1, 2))
    for pair in pairs:
        typer.echo(_in_words(pair, level, test, several=len(pairs) > 1))
    if len(counts[0]) < FEW:
        unit = "sentence" if any(doc.n_words for doc in docs) else "document"
        typer.echo(f"Only {counted(len(counts[0]), unit)}: too few to trust intervals and tests.")


def _check_fields(paths: Sequence[str], source: str | None, fields: str | None) -> None:
    from weft.formats import detect

    if fields is not None and all((source or detect(path)) != "columns" for path in paths):
        raise ConfigError("--fields names the columns of column files; add --from columns")


def _read(path: str, source: str | None, fields: str | None, encoding: str) -> list[Doc]:
    from weft.formats import detect, read

    if (source or detect(path)) != "columns":
        return list(read(path, source, encoding=encoding))
    # conlleval counts labels that break their scheme, so they are not an error.
    return list(read(path, source, strict=False, fields=fields, encoding=encoding))


def _map_tags(docs: Sequence[Doc]) -> None:
    """Map parts of speech of Universal Dependencies to universal tags; universal tags do not change."""
    from weft.lexical.universal_tags import OF_UPOS

    for doc in docs:
        if doc.has("upos"):
            doc.set_column("upos", [OF_UPOS.get(tag, tag) for tag in doc.column("upos")])


def _print_scores(outcome: Outcome, totals: dict[str, Score]) -> None:
    aligned = any(score.aligned is not None for score in totals.values())
    plain = (
        all(score.gold == score.system for score in totals.values()) and not aligned and outcome.layer == outcome.main
    )
    rows = []
    for name, score in totals.items():
        row = [name, *(f"{100 * value:.2f}" for value in (score.precision, score.recall, score.f1))]
        if plain:
            row = [name, f"{100 * score.accuracy:.2f}"]
        if aligned:
            row.append("" if score.aligned_accuracy is None else f"{100 * score.aligned_accuracy:.2f}")
        rows.append([*row, f"{score.gold:,}", f"{score.system:,}", f"{score.correct:,}"])
    header = ["", "accuracy"] if plain else ["", "precision", "recall", "F1"]
    header += ["aligned"] if aligned else []
    print_table("", [*header, "gold", "system", "right"], rows, range(1, len(header) + 3))


def _columns_by_group(outcome: Outcome) -> list[str]:
    """The metrics that fit into a table by groups."""
    if outcome.layer == "ud":
        return [name for name in ("Words", "Sentences", "UPOS", "Lemmas", "UAS", "LAS") if name in outcome.counts]
    return [outcome.main]


def _counts(outcome: Outcome, name: str, units: int) -> Counts:
    from weft.evaluate.counts import Counts

    nothing = [0] * units
    return outcome.counts[name] if name in outcome.counts else Counts.of(nothing, nothing, nothing)


def _test(
    test: Trial, outcomes: tuple[Outcome, Outcome], counts: tuple[Counts, Counts], name: str, samples: int, seed: int,
    confidence: float,
) -> dict[str, Any]:  # fmt: skip
    from weft.evaluate.significance import approximate_randomization, mcnemar, paired_bootstrap

    chosen = approximate_randomization if test is Trial.randomization else paired_bootstrap
    result = chosen(*counts, counts[0].measure, samples, seed, confidence)
    found = {"difference": result.difference, "low": result.low, "high": result.high, "p": result.p}
    if test is Trial.mcnemar:
        paired = mcnemar(outcomes[0].right(name), outcomes[1].right(name))
        found |= {"p": paired.p, "only_a": paired.only_a, "only_b": paired.only_b}
    return found


def _in_words(pair: dict[str, Any], level: str, test: Trial, several: bool) -> str:
    points = 100 * pair["difference"]
    better, worse = (pair["a"], pair["b"]) if points >= 0 else (pair["b"], pair["a"])
    low, high = (pair["low"], pair["high"]) if points >= 0 else (-pair["high"], -pair["low"])
    bounds = " to ".join(f"{100 * bound:z.2f}" for bound in (low, high))
    p = pair["p_corrected"] if several else pair["p"]
    chance = f"p {'<' if p < 0.0001 else '='} {max(p, 0.0001):.4f}{', corrected after Holm' if several else ''}"
    if points == 0:
        return f"{better} and {worse} score the same ({chance}){_disagreements(pair, test)}."
    verdict = "more than chance can explain" if p < 0.05 else "chance can explain it"
    lead = f"{better} scores {abs(points):.2f} points higher than {worse}"
    return f"{lead} ({level} interval {bounds}; {chance}): {verdict}{_disagreements(pair, test)}."


def _disagreements(pair: dict[str, Any], test: Trial) -> str:
    if test is not Trial.mcnemar:
        return ""
    return f"; {pair['only_a']:,} words are right only in {pair['a']}, {pair['only_b']:,} only in {pair['b']}"


def _names(paths: Sequence[str]) -> list[str]:
    """Short names of files, or full paths if the short names are not distinct."""
    short = [path.rstrip("/").rsplit("/", 1)[-1] for path in paths]
    return short if len(set(short)) == len(short) else list(paths)
