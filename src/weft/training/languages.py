"""Train and score the model of `weft.text.language`: `python -m weft.training.languages --out FILE --results FILE`.

Every language gives the same number of windows of 10 to 150 characters, cut from its texts at random. The loss is the
cross-entropy of softmax(W h + b), minimized by Adam; every window loses some of its n-grams at random, so that no
single one decides. The table E is then stored as 8-bit integers, with one scale per column.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import tarfile
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft import data, storage
from weft.errors import DataError
from weft.progress import progress, track
from weft.text.language import LONGEST, SCRIPTS, LanguageModel, best_of, foreign_language, letters_of, ngrams

#: Lengths of the windows that are scored, in characters.
LENGTHS = (20, 40, 60, 100, 200, 1000)
_LICENCE = "CC BY-SA 4.0"
_TAG = re.compile(r"<[^<>]*>")
_TEXT = "# text = "
_PAIRS = {"lj": "љ", "nj": "њ", "dž": "џ"}
_SERBIAN = str.maketrans("abvgdđežzijklmnoprstćufhcčš", "абвгдђежзијклмнопрстћуфхцчш")
_DENIED = ("NC", "restricted", "research", "not stated")


@dataclass(frozen=True)
class Options:
    """How to train: the sizes of the model, and the settings of Adam."""

    buckets: int = 16384
    dimensions: int = 20
    windows: int = 3000
    epochs: int = 8
    batch: int = 256
    rate: float = 0.01
    dropped: float = 0.5
    seed: int = 0


@dataclass(frozen=True)
class Source:
    """A language: its code and name, the files to learn from and to score on, frequent words to learn from."""

    code: str
    name: str
    train: tuple[str, ...] = ()
    test: tuple[str, ...] = ()
    words: str = ""
    blanks: bool = True  #: whether blanks separate words
    both_scripts: bool = False  #: whether Latin texts are also learned from in Serbian Cyrillic

    def learned(self, folder: Path | None = None) -> list[str]:
        """The sentences to learn from."""
        sentences = self._read(self.train, folder)
        return sentences if self.test else sentences[: len(sentences) * 2 // 3]

    def scored(self, folder: Path | None = None) -> list[str]:
        """The sentences to score on; without files of their own, the last third of those to learn from."""
        sentences = self._read(self.test or self.train, folder)
        return sentences if self.test else sentences[len(sentences) * 2 // 3 :]

    def _read(self, paths: Sequence[str], folder: Path | None) -> list[str]:
        sentences = [sentence for path in paths for sentence in _sentences(path, folder)]
        return sentences if self.blanks else ["".join(sentence.split()) for sentence in sentences]


def sources() -> list[Source]:
    """All languages of the table `languages.toml`.

    >>> [source.code for source in sources()][:3]
    ['af', 'grc', 'ar']
    """
    return [_source(**row) for row in _table()["language"]]


def licence_of(file: str) -> str:
    """The licence of a file of the table.

    >>> licence_of("treebanks/ud/Catalan-AnCora/dev.conllu.gz")
    'CC BY 4.0'
    """
    folder = file.rsplit("/", 1)[0]
    if folder in _table()["licences"]:
        return str(_table()["licences"][folder])
    for entry in data.catalog():
        if entry.folder == folder:
            return entry.licence
    raise DataError(f"the licence of {file} is not known; name it in languages.toml")


def train(options: Options, folder: Path | None = None) -> tuple[dict[str, Any], storage.Arrays]:
    """Train the model; gives the header and the arrays of its file."""
    languages = sources()
    denied = [
        file for source in languages for file in source.train if any(word in licence_of(file) for word in _DENIED)
    ]
    if denied:
        raise DataError(f"a model may not be passed on that has learned from {', '.join(denied)}")
    rows: list[NDArray[np.int64]] = []
    targets: list[int] = []
    for number, source in enumerate(track(languages, "cutting", unit="languages")):
        rng = np.random.default_rng([options.seed, number])
        for window in _windows_of(source, options.windows, rng, folder):
            rows.append(ngrams(letters_of(window), options.buckets))
            targets.append(number)
    table, weights, bias = _fit(rows, np.array(targets), len(languages), options)
    scale = np.abs(table).max(axis=0) / 127
    arrays = {
        "embeddings": np.rint(table / scale).astype(np.int8),
        "scale": scale.astype(np.float32),
        "weights": weights.astype(np.float32),
        "bias": bias.astype(np.float32),
    }
    return _header(languages, options), arrays


def score(model: LanguageModel, count: int = 200, seed: int = 1, folder: Path | None = None) -> dict[str, Any]:
    """Accuracy by language and length, in percent, on windows of texts that the model has not seen.

    `told` is how often a model of English would be said to read another language, and rightly which; `false_alarms` how
    often that would be said of a model of the right language.
    """
    accuracy: dict[str, dict[str, float]] = {}
    told: dict[str, list[float]] = {str(length): [] for length in LENGTHS}
    alarms: dict[str, list[float]] = {str(length): [] for length in LENGTHS}
    for number, source in enumerate(track(sources(), "scoring", unit="languages")):
        text = _joined(source.scored(folder))
        rng = np.random.default_rng([seed, number])
        accuracy[source.code] = {}
        for length in LENGTHS:
            windows = list(_cut(text, [length] * count, rng))
            right = [best_of(model, window).code == source.code for window in windows]
            accuracy[source.code][str(length)] = _percent(right)
            alarms[str(length)].append(_percent([bool(foreign_language(each, source.name, model)) for each in windows]))
            if source.code != "en":
                found = [foreign_language(window, "English", model) for window in windows]
                told[str(length)].append(_percent([each is not None and each.code == source.code for each in found]))
    by_length = {length: [row[length] for row in accuracy.values()] for length in told}
    return {
        "windows": count,
        "mean": _means(by_length),
        "told": _means(told),
        "false_alarms": _means(alarms),
        "languages": accuracy,
    }


def _percent(values: Sequence[bool]) -> float:
    return round(100 * float(np.mean(values)), 1)


def _means(values: dict[str, list[float]]) -> dict[str, float]:
    return {length: round(float(np.mean(row)), 2) for length, row in values.items()}


def _source(train: Sequence[str] = (), test: Sequence[str] = (), **more: Any) -> Source:
    return Source(train=tuple(train), test=tuple(test), **more)


def _table() -> dict[str, Any]:
    return tomllib.loads((files("weft.training") / "languages.toml").read_text(encoding="utf-8"))


def _header(languages: Sequence[Source], options: Options) -> dict[str, Any]:
    corpora = {file: licence_of(file) for source in languages for file in source.train}
    return {
        "task": "language",
        "what": f"Languages of texts, from n-grams of 1 to {LONGEST} letters.",
        "licence": _LICENCE,
        "corpora": corpora,
        "languages": [{"code": source.code, "name": source.name} for source in languages],
        "settings": vars(options),
    }


def _sentences(file: str, folder: Path | None) -> list[str]:
    """The sentences of a file, or its lines."""
    path = data.find(file, folder)
    if file.endswith(".tar.gz"):
        with tarfile.open(path) as archive:
            members = [archive.extractfile(member) for member in archive.getmembers() if member.isfile()]
            texts = [_TAG.sub("", member.read().decode()) for member in members if member is not None]
        return [line for text in texts for line in text.splitlines() if line.strip()]
    if ".conllu" in file:
        import weft

        return [sentence.text for doc in weft.read(path, check_trees=False) for sentence in doc.sentences]
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    try:
        lines = raw.decode().splitlines()
    except UnicodeDecodeError:
        lines = raw.decode("latin-1").splitlines()
    if ".iob2" in file:
        return [line.removeprefix(_TEXT) for line in lines if line.startswith(_TEXT)]
    return [line.rpartition("\t")[2] for line in lines if line.strip()]


def in_cyrillic(text: str) -> str:
    """A Serbian text in Latin letters, in Cyrillic ones.

    >>> in_cyrillic("Njegoš i džep")
    'његош и џеп'
    """
    text = text.lower()
    for pair, letter in _PAIRS.items():
        text = text.replace(pair, letter)
    return text.translate(_SERBIAN)


def _joined(sentences: Sequence[str]) -> str:
    return " ".join(sentence.strip() for sentence in sentences)


def _windows_of(source: Source, count: int, rng: np.random.Generator, folder: Path | None) -> Iterator[str]:
    lengths = np.exp(rng.uniform(np.log(10), np.log(150), count)).astype(int).tolist()
    words = source.words.split()
    cut = count if not words else count // 2 if source.train else 0  # so many from texts, the others from words
    yield from (" ".join(rng.choice(words, max(1, length // 6))) for length in lengths[cut:])
    for number, window in enumerate(_cut(_joined(source.learned(folder)), lengths[:cut], rng)):
        yield in_cyrillic(window) if source.both_scripts and number % 2 else window


def _cut(text: str, lengths: Sequence[int], rng: np.random.Generator) -> Iterator[str]:
    """Windows of a text that begin with a word; where words are not separated by blanks, anywhere."""
    for length in lengths:
        start = int(rng.integers(0, max(1, len(text) - length)))
        blank = text.find(" ", start, start + 20)
        start = start if blank < 0 else blank + 1
        window = text[start : start + length]
        cut = window.rfind(" ", length - 20) if start + length < len(text) else -1
        yield window if cut <= 0 else window[:cut]


def _fit(
    rows: Sequence[NDArray[np.int64]], targets: NDArray[np.int64], n_languages: int, options: Options
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    rng = np.random.default_rng(options.seed)
    parameters = [
        rng.normal(0, 0.1, (options.buckets, options.dimensions)),
        rng.normal(0, 0.1, (options.dimensions, n_languages)),
        np.zeros(n_languages),
    ]
    adam = _Adam(parameters, options.rate)
    steps = options.epochs * -(-len(rows) // options.batch)
    with progress("learning", steps, "batches") as bar:
        for _ in range(options.epochs):
            order = rng.permutation(len(rows))
            for first in range(0, len(order), options.batch):
                chosen = order[first : first + options.batch]
                _step(parameters, adam, [rows[i] for i in chosen], targets[chosen], options.dropped, rng)
                adam.rate -= options.rate / steps
                bar.advance()
    return parameters[0], parameters[1], parameters[2]


def _step(
    parameters: list[NDArray[np.float64]],
    adam: _Adam,
    rows: Sequence[NDArray[np.int64]],
    targets: NDArray[np.int64],
    dropped: float,
    rng: np.random.Generator,
) -> None:
    """One step on a batch: the gradient of the cross-entropy, and an update of all parameters."""
    from scipy.sparse import csr_array

    table, weights, bias = parameters
    kept = [row[rng.random(len(row)) >= dropped] for row in rows]
    kept = [row if len(one) == 0 else one for one, row in zip(kept, rows, strict=True)]
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in kept])])
    values = np.concatenate([np.full(len(row), 1 / np.sqrt(max(1, len(row)))) for row in kept])
    counts = csr_array((values, np.concatenate(kept), offsets), shape=(len(rows), len(table)))
    hidden = counts @ table
    scores = hidden @ weights + bias
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    p[np.arange(len(rows)), targets] -= 1
    p /= len(rows)
    adam.step([counts.T @ (p @ weights.T), hidden.T @ p, p.sum(axis=0)])


class _Adam:
    """Adam (Kingma and Ba 2015) on a list of arrays."""

    def __init__(self, parameters: list[NDArray[np.float64]], rate: float) -> None:
        self.parameters, self.rate, self.steps = parameters, rate, 0
        self.means = [np.zeros_like(each) for each in parameters]
        self.squares = [np.zeros_like(each) for each in parameters]

    def step(self, gradients: Sequence[NDArray[np.float64]]) -> None:
        self.steps += 1
        for each, gradient, mean, square in zip(self.parameters, gradients, self.means, self.squares, strict=True):
            mean += 0.1 * (gradient - mean)
            square += 0.001 * (gradient * gradient - square)
            right = np.sqrt(1 - 0.999**self.steps) / (1 - 0.9**self.steps)
            each -= self.rate * right * mean / (np.sqrt(square) + 1e-8)


def main(words: Sequence[str] | None = None) -> None:
    """Train the model, or only score one that is there."""
    parser = argparse.ArgumentParser(description="Train and score the model that tells languages apart.")
    parser.add_argument("--out", type=Path, required=True, help="model file to write, or to score with --score")
    parser.add_argument("--score", action="store_true", help="only score the model")
    parser.add_argument("--results", type=Path, help="file for the scores, as JSON")
    parser.add_argument("--data", type=Path, help="folder of the corpora (default: $WEFT_DATA)")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(words)
    if not asked.score:
        storage.save(asked.out, *train(Options(seed=asked.seed), asked.data))
    scores = score(LanguageModel(*storage.load(asked.out)), folder=asked.data)
    print(json.dumps({name: scores[name] for name in ("mean", "told", "false_alarms")}))
    if asked.results is not None:
        about = {"bytes": asked.out.stat().st_size, "scripts": [code for *_, code, _ in SCRIPTS]}
        asked.results.write_text(json.dumps({**about, **scores}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
