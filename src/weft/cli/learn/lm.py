"""`weft lm train|prune|constrain|score|sample`: n-gram language models."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli.common import READING, RUNNING, SETTINGS, JsonFlag, Seed, Workers, option, print_report, short_path
from weft.cli.generated import with_reading
from weft.cli.groups import SuggestingGroup
from weft.cli.inputs import Reading, Texts, report_bad
from weft.errors import ConfigError

if TYPE_CHECKING:
    from weft.learn.ngrams.model import NgramModel

app = typer.Typer(
    cls=SuggestingGroup, no_args_is_help=True, add_completion=False, rich_markup_mode="rich",
    help="Train, prune, constrain and apply n-gram language models.",
)  # fmt: skip

Out = Annotated[
    Path,
    option(
        "--out", "-o", metavar="FILE", help="File to write; .arpa and .arpa.gz for other tools, else a mapped file."
    ),
]
Given = Annotated[Path, typer.Argument(metavar="MODEL", help="Language model: an ARPA file, or one of `weft lm`.")]
Order = Annotated[int, option("--order", min=1, max=10, panel=SETTINGS, help="Words of the longest n-grams.")]
Method = Annotated[
    str,
    option(
        "--method",
        metavar="NAME",
        panel=SETTINGS,
        help="Smoothing: modified-kneser-ney, kneser-ney, witten-bell, absolute, katz or ristad.",
    ),
]
BackOff = Annotated[
    bool, option("--back-off", panel=SETTINGS, help="Back off to shorter n-grams instead of interpolating with them.")
]
MinCount = Annotated[
    int, option("--min-count", min=1, panel=SETTINGS, help="Words that occur less often are unknown words.")
]
Cutoffs = Annotated[
    str,
    option(
        "--cutoffs", metavar="N,N,...", panel=SETTINGS, shown="none",
        help="Leave out n-grams that occur so often or less, by length; the last is for all longer ones.",
    ),
]  # fmt: skip
Lower = Annotated[bool, option("--lower", panel=SETTINGS, help="Ignore letter case.")]
Memory = Annotated[
    int, option("--megabytes", min=10, panel=RUNNING, help="Megabytes for counting; the rest is on disk.")
]
Tokenized = Annotated[
    bool, option("--tokenized", panel=READING, help="Each line is a sentence, its words separated by spaces.")
]


@app.callback()
def group() -> None:
    """Train, prune, constrain and apply n-gram language models."""


@app.command("train", epilog="Example: weft lm train examples/port.txt --order 3 --out port.arpa")
@with_reading
def train(
    files: Texts,
    out: Out,
    order: Order = 3,
    method: Method = "modified-kneser-ney",
    back_off: BackOff = False,
    min_count: MinCount = 1,
    cutoffs: Cutoffs = "",
    lower: Lower = False,
    tokenized: Tokenized = False,
    memory: Memory = 400,
    workers: Workers = 1,
    reading: Reading = Reading(),
    as_json: JsonFlag = False,
) -> None:
    """Train a language model on text of any size."""
    from weft.tasks.language_models import lm

    text = _Text(files, reading, tokenized, lower)
    model = lm.train(
        text.sentences(), order, method, not back_off, min_count, _numbers(cutoffs), memory=memory, workers=workers
    )
    text.report()
    lm.save(model, out)
    _report(model, out, as_json)


@app.command("prune", epilog="Example: weft lm prune port.arpa --ngrams 400 --out small.arpa")
def prune(
    model: Given,
    out: Out,
    threshold: Annotated[
        float | None,
        option("--threshold", panel=SETTINGS, help="Leave out n-grams that lower perplexity by a smaller share."),
    ] = None,
    ngrams: Annotated[
        int | None, option("--ngrams", min=1, panel=SETTINGS, help="Leave out the least useful; keep so many n-grams.")
    ] = None,
    criterion: Annotated[
        str, option("--criterion", metavar="entropy|weighted-difference", panel=SETTINGS, help="What makes one useful.")
    ] = "entropy",
    histories: Annotated[
        Path | None,
        option(
            "--histories", metavar="FILE", panel=SETTINGS, shown="the model itself",
            help="Language model that says how often histories occur; for Kneser-Ney models.",
        ),
    ] = None,
    as_json: JsonFlag = False,
) -> None:  # fmt: skip
    """Leave out the n-grams that a language model hardly needs."""
    from weft.tasks.language_models import lm

    if (threshold is None) == (ngrams is None):
        raise ConfigError("give either --threshold, such as 1e-7, or --ngrams")
    given = lm.load(model)
    other = None if histories is None else lm.load(histories)
    smaller = lm.prune(given, threshold, ngrams, criterion, other)
    lm.save(smaller, out)
    _report(smaller, out, as_json)


@app.command("constrain", epilog="Example: weft lm constrain small.arpa --out better.arpa")
def constrain(
    model: Given,
    out: Out,
    iterations: Annotated[
        int, option("--iterations", min=1, panel=SETTINGS, help="How often the steady state is computed anew.")
    ] = 5,
    updates: Annotated[
        int, option("--updates", min=0, panel=SETTINGS, help="Updates of the weights of backing off, at most.")
    ] = 10,
    floor: Annotated[
        float, option("--floor", min=0.0, max=0.999, panel=SETTINGS, help="Least share of its mass that a word keeps.")
    ] = 0.1,
    denominator: Annotated[
        str,
        option("--denominator", metavar="exact|constant", panel=SETTINGS, help="Exact, or as Kneser-Ney has it."),
    ] = "exact",
    as_json: JsonFlag = False,
) -> None:  # fmt: skip
    """Estimate shorter n-grams anew, so that text of the model has them as often as they should be.

    The n-grams stay the same; pruned models get better. Not for Kneser-Ney models.
    """
    from weft.tasks.language_models import lm

    new = lm.constrain(lm.load(model), iterations, updates, floor, denominator)
    lm.save(new, out)
    _report(new, out, as_json)


@app.command("score", epilog="Example: weft lm score port.arpa examples/port.txt")
@with_reading
def score(
    model: Given,
    files: Texts,
    each: Annotated[
        str, option("--each", metavar="words|sentences", help="Print a score per word or sentence.", shown="totals")
    ] = "",
    lower: Lower = False,
    tokenized: Tokenized = False,
    reading: Reading = Reading(),
    as_json: JsonFlag = False,
) -> None:
    """Print how probable a language model finds text: its perplexity, or logarithms to base 10 of probabilities."""
    from weft.tasks.language_models import lm

    if each not in ("", "words", "sentences"):
        raise ConfigError(f"--each must be words or sentences, got {each!r}")
    given = lm.load(model)
    text = _Text(files, reading, tokenized, lower)
    if each:
        _print_each(given, text.sentences(), each)
        text.report()
        return
    found = given.perplexity(text.sentences())
    text.report()
    report = {
        "words and ends": found.words, "unknown": found.unknown, "log10 probability": found.logp,
        "perplexity": found.all, "perplexity of known words": found.known, "bits per word": found.bits,
    }  # fmt: skip
    print_report("Score", report, as_json)


@app.command("sample", epilog="Example: weft lm sample port.arpa --count 3 --seed 1")
def sample(
    model: Given,
    count: Annotated[int, option("--count", min=0, help="Number of sentences.")] = 10,
    longest: Annotated[int, option("--longest", min=1, help="Most words of a sentence.")] = 100,
    seed: Seed = 0,
) -> None:
    """Draw sentences from a language model, one per line."""
    from weft.tasks.language_models import lm

    for words in lm.sample(lm.load(model), count, seed, longest):
        sys.stdout.write(" ".join(words) + "\n")


class _Text:
    """Sentences of files, and what was left out of them."""

    def __init__(self, files: Sequence[Path], reading: Reading, tokenized: bool, lower: bool) -> None:
        self._files, self._reading, self._tokenized, self._lower = files, reading, tokenized, lower
        self._inputs: list[Any] = []

    def sentences(self) -> Iterator[Sequence[str]]:
        from weft.tasks.language_models import lm

        words: Iterable[Sequence[str]]
        if self._tokenized:
            words = lm.of_lines(self._files, self._reading.encoding)
        else:
            self._inputs.append(self._reading.open(self._files))
            words = lm.of_documents(self._inputs[-1].docs)
        for sentence in words:
            yield [word.lower() for word in sentence] if self._lower else sentence

    def report(self) -> None:
        for inputs in self._inputs:
            report_bad(inputs)


def _print_each(model: NgramModel, sentences: Iterable[Sequence[str]], each: str) -> None:
    names = model.vocabulary.words
    for ids, scores in model.score_all(sentences):
        if each == "sentences":
            sys.stdout.write(f"{scores.sum():.6f}\t{' '.join(names[word] for word in ids[:-1].tolist())}\n")
            continue
        pairs = zip(ids.tolist(), scores.tolist(), strict=True)
        sys.stdout.write("".join(f"{value:.6f}\t{names[word]}\n" for word, value in pairs) + "\n")


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",") if part.strip()]
    except ValueError:
        raise ConfigError(f"--cutoffs must be whole numbers, such as 0,0,1, got {text!r}") from None


def _report(model: NgramModel, out: Path, as_json: bool) -> None:
    by_length = {str(length): n for length, n in enumerate(model.counts(), start=1)}
    figures = {"n-grams": sum(model.counts()), "by length": by_length, "file": short_path(out).as_posix()}
    print_report("Language model", figures, as_json)
