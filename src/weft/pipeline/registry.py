"""The tasks this version of Weft knows: their names on the command line and in model files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.errors import ConfigError, ModelError

if TYPE_CHECKING:
    from weft.pipeline.component import Component
    from weft.text.corpus import Corpus

#: Name of a task: the module and class of its component, and what it does in a few words.
TASKS: dict[str, tuple[str, str]] = {
    "segmenter": ("weft.tasks.segmentation.segmenter:Segmenter", "words and sentences of raw text"),
    "tagger": ("weft.tasks.tagging.tagger:Tagger", "parts of speech, tags and features, or any other column of words"),
    "weak-tagger": ("weft.tasks.tagging.weak:WeakTagger", "parts of speech from a tag dictionary and projected tags"),
    "scl-tagger": ("weft.tasks.tagging.scl:SCLTagger", "tags in another domain, by structural correspondence learning"),
    "graph-tagger": (
        "weft.tasks.tagging.graph_propagation:GraphTagger",
        "tags in another domain, over a graph of trigrams",
    ),
    "trigram-tagger": ("weft.tasks.tagging.trigrams:TrigramTagger", "tags by a hidden Markov model of trigrams"),
    "flors": ("weft.tasks.tagging.flors:Flors", "tags of words in another domain, from counts of their neighbours"),
    "parser": ("weft.tasks.parsing.transitions.parser:Parser", "dependency trees of words with tags"),
    "relations": ("weft.tasks.parsing.relations:Relations", "relations of dependency trees that have only heads"),
    "graph-parser": (
        "weft.tasks.parsing.mst.parser:GraphParser",
        "dependency trees by exact search: mst1 to mst3, crossing",
    ),
    "graphs": (
        "weft.tasks.parsing.dependency_graphs:DependencyGraphParser",
        "dependency graphs: words with several heads",
    ),
    "disfluency": (
        "weft.tasks.speech.parser:DisfluencyParser",
        "repairs in transcripts of speech, and trees of the rest",
    ),
    "constituents": (
        "weft.tasks.constituents.parser:ConstituentParser",
        "phrase-structure trees, of Chinese together with words and tags",
    ),
    "lemmatizer": ("weft.tasks.tagging.lemmatize:Lemmatizer", "lemmas of words with tags"),
    "transfer-parser": (
        "weft.tasks.parsing_transfer.parser:TransferParser",
        "dependency trees of a language without a treebank, from those of others",
    ),
    "induced-tagger": (
        "weft.tasks.tagging.induce_tags:TagInducer",
        "tags of words, from raw text and a tag dictionary",
    ),
    "induced-parser": ("weft.tasks.parsing.induce_grammar:GrammarInducer", "dependency trees, learned from tags alone"),
    "adapted-parser": ("weft.tasks.parsing_transfer.adapt_parser:AdaptedParser", "dependency trees in another domain"),
    "chunker": ("weft.tasks.spans.chunker:Chunker", "chunks, entities, or any other layer of flat spans"),
    "ner": (
        "weft.tasks.entities.recognizer:EntityRecognizer",
        "named entities, flat or nested, with gazetteers and clusters",
    ),
    "segments": ("weft.tasks.spans.gapped:SegmentFinder", "spans that may have gaps, overlap and nest"),
    "proposer": ("weft.annotate.proposer:Proposer", "flat spans, more of them than right, for `weft review`"),
    "hedge": ("weft.tasks.uncertainty.detector:HedgeDetector", "uncertain sentences, cues and their scopes"),
    "sentiment": (
        "weft.tasks.sentiment.sentences:SentimentAnalyser",
        "polarity of sentences, mostly from ratings of documents",
    ),
    "polarity": ("weft.tasks.sentiment.documents:PolarityClassifier", "positive or negative documents, across domains"),
    "mwe": ("weft.tasks.spans.mwe:MweTagger", "multiword expressions, with gaps, strong and weak"),
}
#: Systems of parsers that are graph-based.
GRAPH_SYSTEMS = ("mst1", "mst2", "mst3", "crossing")
#: Stands in a model's header for what its maker did not say.
UNSTATED = "not stated"


def component_class(task: str) -> type[Component]:
    """The class of a task's component."""
    if task not in TASKS:
        raise ModelError(f"this version of Weft does not know the task {task!r}; it knows: {', '.join(TASKS)}")
    module, name = TASKS[task][0].split(":")
    found: type[Component] = getattr(import_module(module), name)
    return found


def new_component(task: str, options: Mapping[str, Any]) -> Component:
    """An untrained component of a task; `parser` is of the kind that its system asks for, `ner` of the one
    that learns from a bitext where its links are named, from other languages where their files are.

    >>> new_component("parser", {"system": "mst1"}).task
    'graph-parser'
    """
    if task == "ner" and options.get("links"):
        from weft.tasks.entities.projected import ProjectedRecognizer

        return ProjectedRecognizer.from_options(options)
    if task == "ner" and options.get("sources"):
        from weft.tasks.entities.transfer import TransferRecognizer

        return TransferRecognizer.from_options(options)
    if task == "parser" and options.get("sources"):
        task = "transfer-parser"
    elif task == "parser" and options.get("system") in GRAPH_SYSTEMS:
        task = "graph-parser"
    elif task == "parser" and "shape" in options:
        raise ConfigError(
            f"the systems {', '.join(GRAPH_SYSTEMS)} search projective or nonprojective trees; name one of them, or "
            "set nonprojective=encode for a transition system"
        )
    return component_class(task).from_options(options)


def train(
    task: str,
    train: Corpus,
    dev: Corpus | None,
    out: Path | None,
    options: dict[str, Any],
    *,
    name: str = "",
    corpora: Sequence[str] = (),
    licence: str = "",
) -> dict[str, Any]:
    """Train a component and save it as a pipeline of one; the result tells scores, sizes and times.

    `options` are the fields of the component's settings; an unknown one is an error that names the known ones. The
    model's header also keeps its `name` (that of the file if none is given), the names of the training `corpora` and
    the `licence` under which the model may be used.
    """
    if task not in TASKS:
        raise ConfigError(f"unknown task {task!r}; the tasks are: {', '.join(TASKS)}")
    if out is not None:
        check_place(out)
    component = new_component(task, options)
    report = component.fit(train, dev)
    if out is not None:
        keep(component, report, out, name=name, corpora=corpora, licence=licence)
    return report


def keep(
    component: Component,
    report: dict[str, Any],
    out: Path,
    *,
    name: str = "",
    corpora: Sequence[str] = (),
    licence: str = "",
) -> None:
    """Save a trained component as a pipeline of one; its report learns where the model is and how large."""
    from weft.pipeline.pipeline import Pipeline

    Pipeline([component], model_card(report, name or out.stem, corpora, licence)).save(out)
    report["model"] = str(out)
    report["bytes"] = out.stat().st_size


def model_card(report: dict[str, Any], name: str, corpora: Sequence[str] = (), licence: str = "") -> dict[str, Any]:
    """What a model's header says of it.

    >>> model_card({"scores": {"dev accuracy": 0.9}}, "tags")["scores"]
    {'dev accuracy': 0.9}
    """
    import weft

    return {
        "name": name,
        "corpora": list(corpora) or [UNSTATED],
        "licence": licence or UNSTATED,
        "scores": report.get("scores", {}),
        "training": report.get("training", {}),
        "weft": weft.__version__,
    }


def check_place(out: Path) -> None:
    """Complain before a long training, not after it."""
    if out.is_dir():
        raise ConfigError(f"{out} is a folder; name the model file to write")
    parent = next(folder for folder in out.absolute().parents if folder.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise ConfigError(f"cannot write {out}: {parent} is not a folder that can be written to")
