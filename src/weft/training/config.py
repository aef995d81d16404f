"""The configuration file of a pipeline: corpora with licences, components in order, and test sets.

```toml
name = "en"                       # of the model: weft.load("en")
language = "English"
licence = "CC BY-SA 4.0"          # of the model
what = "words, tags and trees"    # a line for the model card
weaknesses = ["..."]              # more lines

[corpora.ewt]                     # one table per corpus
title = "UD English-EWT"
licence = "CC BY-SA 4.0"
train = "treebanks/ud/English-EWT/train.conllu.gz"
dev = "treebanks/ud/English-EWT/dev.conllu.gz"

[[components]]                    # in the order in which they are applied
task = "tagger"                   # a task of `weft train`
method = "chain"                  # a method of the task; optional
train = ["ewt"]                   # the part `train` of a corpus; another part is written ewt.dev
dev = "ewt.dev"
settings = { epochs = 6 }         # settings of the task

[[tests]]
name = "EWT dev"
corpus = "ewt.dev"
score = ["ud"]                    # ud, frames, amr, or layers of spans: chunks, entities, mwe, disfluencies
```

Paths are relative to the file itself or to the data folder (`weft.data`). A file that begins with `like = "en.toml"`
inherits everything from the other file, except for the keys it sets itself and the settings of tasks in tables
`[settings.TASK]`; a table `[instead.TASK]` replaces all settings that the other file has for the task. An unknown key
is an error that names the key, its line, and the known keys.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from weft.errors import ConfigError, did_you_mean
from weft.pipeline.registry import TASKS, method_name

PARTS = ("train", "dev", "test")
#: Where the tags of a component's training data come from.
TAGS = ("gold", "predicted", "jackknifed")
#: Columns that a corpus may be read without.
LEFT_OUT = ("lemma", "upos", "xpos", "feats")
Spec = TypeVar("Spec")


@dataclass
class CorpusSpec:
    """A corpus: its parts are files, or lists of files."""

    title: str
    licence: str
    train: list[str] = field(default_factory=list)
    dev: list[str] = field(default_factory=list)
    test: list[str] = field(default_factory=list)
    source: str = ""
    read: dict[str, Any] = field(default_factory=dict)  # arguments of `weft.read`: format, fields, encoding ...
    labels: dict[str, str] = field(default_factory=dict)  # new names of span labels; others are dropped
    drop: dict[str, str] = field(default_factory=dict)  # features to remove, by part of speech: ADV = "Degree=Pos"
    without: list[str] = field(default_factory=list)  # columns to leave out, such as xpos that dev and test lack
    strip: str = ""  # a prefix to remove from every word
    apart: bool = False  # leave out training sentences that also occur in dev or test
    sentences: int = 0  # limit per part; 0: all
    repairs: bool = False  # turn the trees into transcripts with inserted speech repairs
    frames: dict[str, str] = field(default_factory=dict)  # files with semantic roles of the same sentences, by part

    def files(self, part: str) -> list[str]:
        found: list[str] = getattr(self, part)
        return found


@dataclass
class WordListSpec:
    """Word lists that settings of components name by their paths: what the card says about them."""

    title: str
    licence: str
    source: str = ""


@dataclass
class ClusterSpec:
    """Word clusters, trained before the components on corpora (their part `train`) and plain text."""

    text: list[str]  # names of corpora; files of plain text, or archives of such (.tar.gz)
    classes: int = 400
    min_count: int = 3
    rounds: int = 12
    characters: int = 0  # limit per plain text; 0: all


@dataclass
class ComponentSpec:
    """A component: its task, training data and settings."""

    task: str
    train: list[str]
    dev: list[str] = field(default_factory=list)
    tags: str = "gold"
    method: str = ""  # of the task; empty: its default
    clusters: str = ""  # name of a table [clusters.NAME]
    recase: float = 0.0  # share of the training sentences to repeat in capitals, and in small letters
    base_chunks: bool = False  # the layer `chunks` is read from trees by rule (`weft.treebanks.base_chunks`)
    settings: dict[str, Any] = field(default_factory=dict)
    copies: list[dict[str, Any]] = field(default_factory=list)  # components (task, settings): `weft.training.copies`


@dataclass
class TestSpec:
    """A test set for the finished pipeline."""

    name: str
    corpus: str
    score: list[str] = field(default_factory=lambda: ["ud"])
    by: str = ""  # a key of comments such as genre: also score each of its values


@dataclass
class PipelineConfig:
    """The contents of a configuration file."""

    name: str
    language: str
    licence: str
    components: list[ComponentSpec]
    corpora: dict[str, CorpusSpec]
    after: str = ""  # a model applied before this one, which provides the tags for `predicted`
    what: str = ""
    weaknesses: list[str] = field(default_factory=list)
    folds: int = 5  # of jackknifing
    clusters: dict[str, ClusterSpec] = field(default_factory=dict)
    word_lists: dict[str, WordListSpec] = field(default_factory=dict)
    tests: list[TestSpec] = field(default_factory=list)
    path: Path = Path()


def read_config(path: str | Path) -> PipelineConfig:
    """Read and check a configuration file.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "en.toml")
    ...     _ = file.write_text('name = "en"\\nlanguage = "English"\\nlicense = "MIT"\\n')
    ...     read_config(file)
    Traceback (most recent call last):
    ...
    weft.errors.ConfigError: ...en.toml, line 3: unknown key 'license'; did you mean licence?
    """
    path = Path(path)
    text, table = _load(path)
    if "like" not in table:
        return _Reader(path, text).config(table)
    reader = _Reader(path, text)
    other = path.parent / reader.typed("like", table.pop("like"), str, "like")
    _, base = _load(other)
    if "like" in base:
        raise ConfigError(f"{path}: {other} itself has the key `like`; refer to its base file instead")
    return reader.config({**base, **table}, other)


def _load(path: Path) -> tuple[str, dict[str, Any]]:
    """The text of a file and its parsed tables."""
    try:
        text = path.read_text(encoding="utf-8")
        return text, tomllib.loads(text)
    except OSError as error:
        raise ConfigError(
            f"cannot read the configuration file {path}: {(error.strerror or str(error)).lower()}"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not a TOML file: {error}") from None


class _Reader:
    """Converts tables to specifications and reports the location of errors."""

    def __init__(self, path: Path, text: str) -> None:
        self.path, self.lines = path, text.splitlines()

    def config(self, table: dict[str, Any], like: Path | None = None) -> PipelineConfig:
        built: dict[str, Any] = dict(table)
        changes = self.typed("settings", built.pop("settings", {}), dict, "settings") if like else {}
        instead = self.typed("instead", built.pop("instead", {}), dict, "instead") if like else {}
        named: dict[str, type[Any]] = {"corpora": CorpusSpec, "clusters": ClusterSpec, "word_lists": WordListSpec}
        for name, kind in named.items():
            rows = self.typed(name, table.get(name, {}), dict)
            built[name] = {key: self._spec(kind, f"[{name}.{key}]", row) for key, row in rows.items()}
        numbered: dict[str, type[Any]] = {"components": ComponentSpec, "tests": TestSpec}
        for name, kind in numbered.items():
            rows = self.typed(name, table.get(name, []), list)
            built[name] = [self._spec(kind, f"[[{name}]] {i}", row) for i, row in enumerate(rows, 1)]
        if "path" in table:
            self._unknown("path", PipelineConfig, "the file")
        for name, tables in (("instead", instead), ("settings", changes)):
            for task, own in tables.items():
                chosen = [spec for spec in built["components"] if spec.task == task]
                if not chosen:
                    raise ConfigError(f"{self._at(task)}: {like} has no component {task!r} to configure")
                for spec in chosen:
                    kept = spec.settings if name == "settings" else {}
                    spec.settings = kept | self.typed(f"[{name}.{task}]", own, dict, task)
        config = self._spec(PipelineConfig, "the file", {**built, "path": self.path})
        self._check(config)
        return config

    def _spec(self, kind: type[Spec], place: str, row: Any) -> Spec:
        """Convert a table to its dataclass."""
        self.typed(place, row, dict)
        known = {each.name: each for each in fields(kind)}  # type: ignore[arg-type]
        chosen: dict[str, Any] = {}
        for key, value in row.items():
            if key not in known:
                self._unknown(key, kind, place)
            wanted = str(known[key].type)
            if wanted.startswith("list[str]") and isinstance(value, str):
                value = [value]
            for name, type_ in (
                ("str", str),
                ("list", list),
                ("dict", dict),
                ("int", int),
                ("float", float),
                ("bool", bool),
            ):
                if wanted.startswith(name):
                    self.typed(f"{key} in {place}", value, type_, key)
            chosen[key] = value
        try:
            return kind(**chosen)
        except TypeError:
            missing = [name for name, each in known.items() if name not in chosen and _required(each)]
            raise ConfigError(f"{self.path}: {place} lacks {', '.join(missing)}") from None

    def typed(self, what: str, value: Any, wanted: type, key: str = "") -> Any:
        words = {
            str: "text in quotes",
            list: "a list",
            dict: "a table",
            int: "a whole number",
            float: "a number",
            bool: "true or false",
        }
        if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
            raise ConfigError(f"{self._at(key)}: {what} must be {words[wanted]}, got {value!r}")
        return value

    def _unknown(self, key: str, kind: type[Any], place: str) -> None:
        known = [each.name for each in fields(kind) if each.name != "path"]
        hint = did_you_mean(key, known, f"{place} may have: {', '.join(known)}")
        raise ConfigError(f"{self._at(key)}: unknown key {key!r}; {hint}")

    def _at(self, key: str) -> str:
        """The file and the first line that sets a key."""
        pattern = re.compile(rf"(^|[\s{{,.\[\"]){re.escape(key)}[\"\]]*\s*(=|\]|$)") if key else None
        for number, line in enumerate(self.lines, 1):
            if pattern is not None and pattern.search(line.split("#")[0]):
                return f"{self.path}, line {number}"
        return str(self.path)

    def _check(self, config: PipelineConfig) -> None:
        """Raise an error for references to things that do not exist."""
        if not config.components:
            raise ConfigError(f"{self.path}: there are no [[components]] to train")
        if config.folds < 2:
            raise ConfigError(f"{self._at('folds')}: folds must be at least 2, got {config.folds}")
        for spec in config.components:
            try:
                method_name(spec.task, spec.method)
            except ConfigError as error:
                value = spec.method if spec.task in TASKS else spec.task
                raise ConfigError(f"{self._at_value(value)}: {error}") from None
            if spec.tags not in TAGS:
                raise ConfigError(
                    f"{self._at_value(spec.tags)}: tags must be one of {', '.join(TAGS)}, got {spec.tags!r}"
                )
            if config.after and spec.tags == "jackknifed":
                raise ConfigError(
                    f"{self._at_value(spec.tags)}: tags of the model {config.after!r} cannot be jackknifed; "
                    "use predicted or gold"
                )
            if spec.clusters and spec.clusters not in config.clusters:
                self._missing(spec.clusters, config.clusters, "clusters")
            for reference in (*spec.train, *spec.dev):
                self._reference(reference, config.corpora)
            for part in spec.copies:
                self._copier(part)
        for name, corpus in config.corpora.items():
            for column in corpus.without:
                if column not in LEFT_OUT:
                    raise ConfigError(
                        f"{self._at('without')}: a column to leave out is one of {', '.join(LEFT_OUT)}, got {column!r}"
                    )
            for part_name in corpus.frames:
                if part_name not in PARTS or not corpus.files(part_name):
                    raise ConfigError(
                        f"{self._at('frames')}: the corpus {name!r} has no {part_name!r} to join frames to"
                    )
        for test in config.tests:
            self._reference(test.corpus, config.corpora)

    def _reference(self, reference: str, corpora: Mapping[str, CorpusSpec]) -> None:
        name, part = split_reference(reference)
        if name not in corpora:
            self._missing(name, corpora, "corpora")
        if part not in PARTS or not corpora[name].files(part):
            have = [each for each in PARTS if corpora[name].files(each)]
            raise ConfigError(
                f"{self._at_value(reference)}: the corpus {name!r} has no {part!r}; it has {', '.join(have)}"
            )

    def _copier(self, part: Any) -> None:
        """Raise an error for a component of `copies` that does not exist."""
        self.typed("a component of `copies`", part, dict, "copies")
        wrong = [key for key in part if key not in ("task", "settings")]
        if wrong or "task" not in part:
            raise ConfigError(f"{self._at('copies')}: a component of `copies` has a task and settings, got {part}")
        try:
            method_name(self.typed("task", part["task"], str, "copies"), "")
        except ConfigError as error:
            raise ConfigError(f"{self._at_value(part['task'])}: {error}") from None
        self.typed(f"settings of {part['task']}", part.get("settings", {}), dict, "copies")

    def _missing(self, name: str, known: Mapping[str, Any], kind: str) -> None:
        hint = did_you_mean(name, known, f"there are: {', '.join(known) or 'none'}")
        raise ConfigError(f"{self._at_value(name)}: there is no [{kind}.{name}]; {hint}")

    def _at_value(self, value: str) -> str:
        """The file and the first line that contains a value in quotes."""
        for number, line in enumerate(self.lines, 1):
            if f'"{value}"' in line or f'"{value}.' in line:
                return f"{self.path}, line {number}"
        return str(self.path)


def _required(each: Any) -> bool:
    from dataclasses import MISSING

    return each.default is MISSING and each.default_factory is MISSING


def split_reference(reference: str) -> tuple[str, str]:
    """Split a reference into corpus and part.

    >>> split_reference("ewt"), split_reference("ewt.dev")
    (('ewt', 'train'), ('ewt', 'dev'))
    """
    name, point, part = reference.partition(".")
    return name, part if point else "train"
