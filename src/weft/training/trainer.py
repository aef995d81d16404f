"""Trains the components of a pipeline one after the other, scores the pipeline, and writes its card.

component i trains on  corpora with gold layers + tags (gold, predicted by components before it, or jackknifed)
                       + copies with tags and trees as on unseen text, if the configuration asks for them
"""

from __future__ import annotations

import hashlib
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import weft
from weft.errors import ConfigError, WeftError
from weft.lexical.clusters.monolingual import cluster_words
from weft.pipeline import models
from weft.pipeline.component import Component
from weft.pipeline.models import SUFFIX
from weft.pipeline.pipeline import Pipeline
from weft.pipeline.registry import TASKS, method_name, new_component
from weft.storage import digest
from weft.text.doc import Doc
from weft.training.config import ComponentSpec, PipelineConfig, split_reference
from weft.training.copies import copies
from weft.training.corpora import CorpusReader, check_words
from weft.training.jackknife import Jackknife, gives_tags, tagged
from weft.training.recase import recased
from weft.training.scores import UD, score_test
from weft.treebanks.base_chunks import set_base_chunks

Say = Callable[[str], None]


def train_pipeline(
    config: PipelineConfig,
    *,
    seed: int = 0,
    workers: int = 1,
    limit: int = 0,
    keep: Path | None = None,
    say: Say | None = None,
) -> tuple[Pipeline, dict[str, Any]]:
    """Train the pipeline of a configuration; also returns a report of training data and scores.

    `limit` is the number of sentences to take of every part of a corpus, for a trial. `keep` is the folder of an
    interrupted run to resume. `say` receives progress messages.
    """
    with tempfile.TemporaryDirectory() as folder:
        place = keep or Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        run = _Run(config, seed, workers, CorpusReader(config, limit, seed), place, say or (lambda text: None))
        return run.train()


class _Run:
    def __init__(
        self, config: PipelineConfig, seed: int, workers: int, corpora: CorpusReader, folder: Path, say: Say
    ) -> None:
        self.config, self.seed, self.workers, self.corpora, self.folder = config, seed, workers, corpora, folder
        self.say = say
        self.before = weft.load(config.after).components if config.after else []
        self.done: list[tuple[ComponentSpec, Component]] = []
        self.report: dict[str, Any] = {"name": config.name, "components": [], "tests": []}
        self._jackknife: Jackknife | None = None
        self._clusters: dict[str, Path] = {}

    def train(self) -> tuple[Pipeline, dict[str, Any]]:
        started, wall = time.process_time(), time.perf_counter()
        # Report wrong names and values of settings before, not after, hours of training.
        layers = {UD}
        for spec in self.config.components:
            layers |= {name.removeprefix("spans/") for name in self._new(spec, check=True).provides}
            check_words(self.corpora.docs(spec.train), spec.train)
        for test in self.config.tests:
            wrong = [name for name in test.score if name not in layers]
            if wrong:
                raise ConfigError(f"{self.config.path}: {test.name}: no component predicts {', '.join(wrong)}")
        for number, spec in enumerate(self.config.components, 1):
            self.say(f"{spec.task} ({number} of {len(self.config.components)})")
            self.report["components"].append(self._fit(spec))
        nlp = Pipeline(self._trained())
        whole = Pipeline([*_needed(self.before, nlp.components), *nlp.components])
        for test in self.config.tests:
            self.say(f"scoring on {test.name}")
            self.report["tests"] += score_test(whole, test, self.corpora, self.workers)
        self.report["cpu_seconds"] = round(time.process_time() - started, 1)
        self.report["seconds"] = round(time.perf_counter() - wall, 1)
        nlp.card = self._card()
        return nlp, self.report

    def _trained(self) -> list[Component]:
        return [component for _, component in self.done]

    def _fit(self, spec: ComponentSpec) -> dict[str, Any]:
        train, dev = self.corpora.docs(spec.train), self.corpora.docs(spec.dev)
        if spec.base_chunks:
            for doc in (*train, *dev):
                set_base_chunks(doc)
        component, report = self._kept(
            spec,
            lambda: (
                self._with_copies(spec, self._with_tags(spec, recased(train, spec.recase, self.seed), training=True)),
                self._with_tags(spec, dev, training=False),
            ),
        )
        self.done.append((spec, component))
        return {
            "task": spec.task,
            "corpora": spec.train,
            "tags": spec.tags,
            "sentences": sum(doc.n_sentences for doc in train),
            "words": sum(doc.n_words for doc in train),
            "scores": report["scores"],
            "cpu_seconds": report["cpu_seconds"],
            "bytes": sum(array.nbytes for array in component.state()[1].values()),
        }

    def _kept(
        self, spec: ComponentSpec, docs: Callable[[], tuple[Sequence[Doc], Sequence[Doc]]], part: str = ""
    ) -> tuple[Component, dict[str, Any]]:
        """A component and its training report, from the folder of finished components or newly trained."""
        path = self.folder / f"{spec.task}-{self._name_of(spec, part)}{SUFFIX}"
        if not path.exists():
            component = self._new(spec)
            train, dev = docs()
            told = component.fit(train, dev or None)
            report = {"scores": told.get("scores", {}), "cpu_seconds": told.get("training", {}).get("cpu_seconds")}
            Pipeline([component], report).save(path)
        found = Pipeline.load(path)
        return found.components[0], {"scores": {}, "cpu_seconds": None, **found.card}

    def _name_of(self, spec: ComponentSpec, part: str) -> str:
        """A hash of everything that a component's training depends on."""
        taggers = [asdict(own) for own, component in self.done if gives_tags(component)]
        clusters = [asdict(self.config.clusters[spec.clusters])] if spec.clusters else []
        return _hash([asdict(spec), part, taggers if spec.tags != "gold" else [], clusters, self._about()])

    def _about(self) -> list[Any]:
        """What the training of every component depends on."""
        config = self.config
        corpora = {name: asdict(corpus) for name, corpus in config.corpora.items()}
        after = [digest(models.find(config.after))] if config.after else []
        return [corpora, self.seed, self.corpora.limit, config.folds, weft.__version__, *after]

    def _new(self, spec: ComponentSpec, check: bool = False) -> Component:
        """An untrained component."""
        method = method_name(spec.task, spec.method, spec.settings.get("system"))
        known = {each.name for each in fields(TASKS[spec.task].methods[method].settings_class())}
        options: dict[str, Any] = {"seed": self.seed, "workers": self.workers}
        options = {name: value for name, value in options.items() if name in known} | spec.settings
        if spec.clusters and not check:
            options["clusters"] = str(self._clustered(spec.clusters))
        for name in ("clusters", "native_clusters"):
            if name in spec.settings:
                options[name] = str(self.corpora.find(options[name]))
        if "gazetteers" in options:
            options["gazetteers"] = {name: str(self.corpora.find(file)) for name, file in options["gazetteers"].items()}
        try:
            return new_component(spec.task, options, spec.method or None)
        except WeftError as error:
            raise type(error)(f"{self.config.path}: {spec.task}: {error}") from None

    def _with_tags(self, spec: ComponentSpec, docs: Sequence[Doc], training: bool) -> list[Doc]:
        """Documents with the tags to train the component on."""
        taggers = [component for component in (*self.before, *self._trained()) if gives_tags(component)]
        if spec.tags == "gold" or not taggers or not docs:
            return list(docs)
        if spec.tags == "predicted" or not training:
            return tagged(docs, taggers)
        if self._jackknife is None:
            self.say(f"jackknifing in {self.config.folds} folds")
            specs = [own for own, component in self.done if gives_tags(component)]
            learned = self.corpora.docs(list(dict.fromkeys(name for own in specs for name in own.train)))
            self._jackknife = Jackknife(
                learned, taggers, lambda fold, part: self._retrained(specs, fold, part), self.config.folds, self.workers
            )
        return self._jackknife(docs)

    def _with_copies(self, spec: ComponentSpec, docs: list[Doc]) -> list[Doc]:
        """Documents, and their copies with tags and trees as on unseen text."""
        if not spec.copies:
            return docs
        self.say(f"tags and trees of {self.config.folds} folds")

        def train(fold: int, others: Sequence[Doc]) -> list[Component]:
            parts = [ComponentSpec(train=spec.train, **part) for part in spec.copies]
            return [self._kept(part, lambda: (others, []), f"copies without fold {fold}")[0] for part in parts]

        return [*docs, *copies(docs, train, self.config.folds)]

    def _retrained(self, specs: Sequence[ComponentSpec], fold: int, docs: Sequence[Doc]) -> list[Component]:
        """The tagging components, retrained without the documents of a fold."""

        def of(spec: ComponentSpec) -> Component:
            train = recased(docs, spec.recase, self.seed)
            return self._kept(spec, lambda: (train, self.corpora.docs(spec.dev)), f"without fold {fold}")[0]

        return [of(spec) for spec in specs]

    def _clustered(self, name: str) -> Path:
        """The file of clusters, trained on first use."""
        if name not in self._clusters:
            spec = self.config.clusters[name]
            segmenters = [own for own in self.done if "tokens" in own[1].provides]
            path = (
                self.folder / f"{name}-{_hash([asdict(spec), self._about(), [asdict(own) for own, _ in segmenters]])}"
            )
            if not path.exists():
                self.say(f"clusters {name}")
                words = self.corpora.sentences(spec, Pipeline([component for _, component in segmenters]))
                found = cluster_words(words, n_classes=spec.classes, min_count=spec.min_count, rounds=spec.rounds)
                found.save(path)
            self._clusters[name] = path
        return self._clusters[name]

    def _card(self) -> dict[str, Any]:
        """The description of the model in its file."""
        config = self.config
        used = {split_reference(name)[0] for spec in config.components for name in (*spec.train, *spec.dev)}
        texts = dict.fromkeys(name for spec in config.clusters.values() for name in spec.text)
        used |= texts.keys() & config.corpora.keys()
        plain = [Path(name).name for name in texts if name not in config.corpora]
        settings = {
            f"{i} {spec.task}": {"tags": spec.tags, **_copied_by(spec), **spec.settings}
            for i, spec in enumerate(config.components, 1)
        }
        return {
            "name": config.name,
            "language": config.language,
            "what": config.what,
            "licence": config.licence,
            "corpora": [
                *(f"{corpus.title} ({corpus.licence})" for name, corpus in config.corpora.items() if name in used),
                *(f"{each.title} ({each.licence})" for each in config.word_lists.values()),
                *(f"{name}, for word clusters" for name in plain),
            ],
            "trained": [
                f"{row['task']}: {', '.join(row['corpora'])}; {row['sentences']:,} sentences, {row['words']:,} words"
                for row in self.report["components"]
            ],
            "scores": {
                f"{row['set']}, {row['from']}": {name: round(value, 2) for name, value in row["scores"].items()}
                for row in self.report["tests"]
            },
            "calibration": {row["set"]: row["calibration"] for row in self.report["tests"] if "calibration" in row},
            "weaknesses": config.weaknesses,
            "settings": settings,
            "seed": self.seed,
            "weft": weft.__version__,
        }


def _needed(before: Sequence[Component], own: Sequence[Component]) -> list[Component]:
    """The components of the model before this one that give tags, or what its components need."""
    given = {layer for component in own for layer in component.provides}
    needed = {layer for component in own for layer in component.requires} - given
    found: list[Component] = []
    for component in reversed(before):
        if gives_tags(component) or needed & set(component.provides):
            found.insert(0, component)
            needed |= set(component.requires)
    return found


def _copied_by(spec: ComponentSpec) -> dict[str, str]:
    return {"copies": ", ".join(part["task"] for part in spec.copies)} if spec.copies else {}


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:12]
