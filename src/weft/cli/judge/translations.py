"""`weft evaluate --layer translation` and `weft compare --layer translation`: BLEU, chrF and TER."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from weft.cli.common import counted, print_json, print_table
from weft.errors import ConfigError

if TYPE_CHECKING:
    from weft.evaluate.translation.scores import Counts


def evaluate_translations(gold: str, system: str | None, encoding: str, as_json: bool) -> None:
    """Scores of translations with intervals."""
    from weft.evaluate.translation.scores import METRICS, interval

    if system is None:
        raise ConfigError(
            "--layer translation scores a file of translations, such as `weft translate --out FILE` writes"
        )
    scores = {metric: interval(_counts(gold, system, metric, encoding)) for metric in METRICS}
    if as_json:
        print_json({"layer": "translation", "scores": {name: vars(score) for name, score in scores.items()}})
        return
    rows = [[name, f"{each.value:.2f}", f"{each.low:.2f} to {each.high:.2f}"] for name, each in scores.items()]
    print_table("Translations", ["", "score", "95% interval"], rows, (1, 2))


def compare_translations(
    gold: str, systems: Sequence[str], metric: str | None, encoding: str, samples: int, seed: int, test: str,
    as_json: bool,
) -> None:  # fmt: skip
    """Systems by one metric, and all pairs of them by a test of significance."""
    from weft.evaluate.significance import holm
    from weft.evaluate.translation.scores import compare

    metric = metric or "BLEU"
    if test not in ("bootstrap", "randomization"):
        raise ConfigError("--significance of translations is bootstrap or randomization")
    counts = [_counts(gold, system, metric, encoding) for system in systems]
    pairs = list(combinations(range(len(systems)), 2))
    found = [compare(counts[i], counts[j], samples, seed, test) for i, j in pairs]
    corrected = holm([each.p for each in found])
    if as_json:
        print_json({
            "metric": metric, "test": test, "systems": {s: c.score() for s, c in zip(systems, counts, strict=True)},
            "pairs": [
                {"a": systems[i], "b": systems[j], "difference": each.difference, "low": each.low, "high": each.high,
                 "p": each.p, "p_corrected": float(p)}
                for (i, j), each, p in zip(pairs, found, corrected, strict=True)
            ],
        })  # fmt: skip
        return
    print_table(
        metric, ["system", "score"], [[s, f"{c.score():.2f}"] for s, c in zip(systems, counts, strict=True)], (1,)
    )
    rows = [
        [systems[i], systems[j], f"{each.difference:+.2f}", f"{each.low:+.2f} to {each.high:+.2f}", f"{p:.4f}"]
        for (i, j), each, p in zip(pairs, found, corrected, strict=True)
    ]
    title = f"Differences, {counted(len(counts[0].rows), 'sentence')}"
    print_table(title, ["", "", "difference", "95% interval", "p"], rows, (2, 3, 4))


def _counts(gold: str, system: str, metric: str, encoding: str) -> Counts:
    from weft.evaluate.translation.scores import count
    from weft.formats.bitext import read_bitext

    pairs = list(read_bitext(gold, system, encoding=encoding))
    return count([" ".join(said) for _, said in pairs], [[" ".join(reference)] for reference, _ in pairs], metric)
