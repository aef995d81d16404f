"""The tasks of `weft train` with their methods, and the components that model files refer to.

All references are strings, so that tasks can be listed without importing any of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from weft.errors import ConfigError, ModelError, did_you_mean

if TYPE_CHECKING:
    from weft.pipeline.component import Component
    from weft.pipeline.settings import Settings
    from weft.text.corpus import Corpus
    from weft.text.doc import Doc

#: Classes of components by their names in model files.
KINDS = {
    "segmenter": "weft.tasks.segmentation.segmenter:Segmenter",
    "tagger": "weft.tasks.tagging.tagger:Tagger",
    "weak-tagger": "weft.tasks.tagging.weak:WeakTagger",
    "scl-tagger": "weft.tasks.tagging.scl:SCLTagger",
    "graph-tagger": "weft.tasks.tagging.graph_propagation:PropagationTagger",
    "trigram-tagger": "weft.tasks.tagging.trigrams:TrigramTagger",
    "flors": "weft.tasks.tagging.flors:Flors",
    "induced-tagger": "weft.tasks.tagging.induce_tags:TagInducer",
    "lemmatizer": "weft.tasks.tagging.lemmatize:Lemmatizer",
    "parser": "weft.tasks.parsing.transitions.parser:Parser",
    "graph-parser": "weft.tasks.parsing.mst.parser:MSTParser",
    "blended-parser": "weft.tasks.parsing.blended:BlendedParser",
    "transfer-parser": "weft.tasks.parsing_transfer.parser:TransferParser",
    "adapted-parser": "weft.tasks.parsing_transfer.adapt_parser:AdaptedParser",
    "induced-parser": "weft.tasks.parsing.induce_grammar:GrammarInducer",
    "relations": "weft.tasks.parsing.relations:Relations",
    "graphs": "weft.tasks.parsing.dependency_graphs:DependencyGraphParser",
    "constituents": "weft.tasks.constituents.parser:ConstituentParser",
    "disfluency": "weft.tasks.speech.parser:DisfluencyParser",
    "chunker": "weft.tasks.spans.chunker:Chunker",
    "proposer": "weft.annotate.proposer:Proposer",
    "ner": "weft.tasks.entities.recognizer:EntityRecognizer",
    "segments": "weft.tasks.spans.gapped:GappedSpanFinder",
    "metaphor": "weft.tasks.metaphor.detector:MetaphorDetector",
    "mwe": "weft.tasks.spans.mwe:MweTagger",
    "hedge": "weft.tasks.uncertainty.detector:HedgeDetector",
    "roles": "weft.tasks.roles.labeller:RoleLabeller",
    "roles-bins": "weft.tasks.roles.bins:BinnedLabeller",
    "roles-joint": "weft.tasks.roles.joint:JointLabeller",
    "scope": "weft.tasks.scope.resolver:ScopeResolver",
    "tuples": "weft.tasks.relations.extractor:RelationExtractor",
    "events": "weft.tasks.events.extractor:EventExtractor",
    "preferences": "weft.tasks.preferences.checker:PreferenceChecker",
    "linker": "weft.tasks.linking.linker:Linker",
    "timeline": "weft.tasks.timelines.extractor:TimelineExtractor",
    "coref": "weft.tasks.coreference.resolver:CorefResolver",
    "sentiment": "weft.tasks.sentiment.sentences:SentimentAnalyser",
    "phenomena": "weft.tasks.phenomena.detector:PhenomenaDetector",
    "opinions": "weft.tasks.opinions.analyser:OpinionAnalyser",
    "forecast": "weft.tasks.forecasting.forecaster:Forecaster",
    "polarity": "weft.tasks.sentiment.documents:PolarityClassifier",
    "amr": "weft.tasks.amr.parser:AmrParser",
    "times": "weft.tasks.time.parser:TimeParser",
    "keywords": "weft.tasks.keywords.extractor:KeywordExtractor",
    "quality": "weft.tasks.quality.predictor:QualityPredictor",
    "images": "weft.tasks.images.finder:ImageFinder",
    "grounding": "weft.tasks.grounding.grounder:Grounder",
}


class Method(NamedTuple):
    """A method to train a task: the kind of component it creates, and the class of its settings."""

    kind: str
    help: str
    settings: str
    component: str = ""  #: the class to train, if it differs from that of the kind

    def settings_class(self) -> type[Settings]:
        """The class of the method's settings."""
        found: type[Settings] = _imported(self.settings)
        return found

    def component_class(self) -> type[Component]:
        """The class of the component to train."""
        found: type[Component] = _imported(self.component or KINDS[self.kind])
        return found


class Task(NamedTuple):
    """A task to train and its methods; the first is the default."""

    help: str
    methods: dict[str, Method]


TASKS = {
    "segmenter": Task(
        "Words and sentences of raw text.",
        {
            "boundaries": Method(
                "segmenter",
                "boundaries of tokens and sentences, from annotated text",
                "weft.tasks.segmentation.segmenter:SegmenterSettings",
            ),
            "adaptor": Method(
                "",
                "words of unsegmented utterances, by an adaptor grammar",
                "weft.tasks.segmentation.induce_words:UtteranceSettings",
            ),
        },
    ),
    "tagger": Task(
        "Parts of speech, tags and features, or any other column of words.",
        {
            "chain": Method("tagger", "a chain model, from tagged text", "weft.tasks.tagging.tagger:TaggerSettings"),
            "trigram": Method(
                "trigram-tagger", "a trigram hidden Markov model", "weft.tasks.tagging.trigrams:TrigramSettings"
            ),
            "weak": Method(
                "weak-tagger",
                "from a tag dictionary and projected tags",
                "weft.tasks.tagging.weak:WeakTaggerSettings",
            ),
            "flors": Method(
                "flors", "adapted to raw text of another domain, by contexts", "weft.tasks.tagging.flors:FlorsSettings"
            ),
            "scl": Method(
                "scl-tagger",
                "adapted to another domain, by structural correspondence",
                "weft.tasks.tagging.scl:SCLSettings",
            ),
            "graph": Method(
                "graph-tagger",
                "adapted to another domain, over a graph of trigrams",
                "weft.tasks.tagging.graph_propagation:PropagationTaggerSettings",
            ),
            "induced": Method(
                "induced-tagger",
                "from raw text and a tag dictionary",
                "weft.tasks.tagging.induce_tags:InducedTaggerSettings",
            ),
        },
    ),
    "lemmatizer": Task(
        "Lemmas of tagged words.",
        {
            "chain": Method(
                "lemmatizer", "edit scripts, from lemmatized text", "weft.tasks.tagging.lemmatize:LemmatizerSettings"
            )
        },
    ),
    "parser": Task(
        "Dependency trees of tagged words.",
        {
            "transition": Method(
                "parser", "a transition system", "weft.tasks.parsing.transitions.parser:ParserSettings"
            ),
            "mst": Method(
                "graph-parser",
                "exact search: mst1, mst2, mst3, crossing",
                "weft.tasks.parsing.mst.settings:MSTSettings",
            ),
            "blend": Method("blended-parser", "votes of several parsers", "weft.tasks.parsing.blended:BlendedSettings"),
            "transfer": Method(
                "transfer-parser",
                "for a language without a treebank, from those of others",
                "weft.tasks.parsing_transfer.parser:TransferSettings",
            ),
            "adapted": Method(
                "adapted-parser",
                "adapted to another domain",
                "weft.tasks.parsing_transfer.adapt_parser:AdaptSettings",
            ),
            "induced": Method("induced-parser", "from tags alone", "weft.tasks.parsing.induce_grammar:GrammarSettings"),
        },
    ),
    "deprels": Task(
        "Relations of dependency trees that have heads only.",
        {"chain": Method("relations", "from trees", "weft.tasks.parsing.relations:RelationSettings")},
    ),
    "graphs": Task(
        "Dependency graphs: words with several heads.",
        {"mst": Method("graphs", "from graphs", "weft.tasks.parsing.dependency_graphs:DependencyGraphSettings")},
    ),
    "constituents": Task(
        "Phrase-structure trees; for Chinese, together with words and tags.",
        {
            "shift-reduce": Method(
                "constituents", "a transition system", "weft.tasks.constituents.parser:ConstituentSettings"
            )
        },
    ),
    "disfluency": Task(
        "Repairs in transcribed speech, and trees of the rest.",
        {"transition": Method("disfluency", "a transition system", "weft.tasks.speech.parser:DisfluencySettings")},
    ),
    "chunker": Task(
        "Chunks, entities, or any other layer of flat spans.",
        {
            "chain": Method("chunker", "a chain model", "weft.tasks.spans.chunker:ChunkerSettings"),
            "proposer": Method(
                "proposer", "high recall, for `weft label review`", "weft.annotate.proposer:ProposerSettings"
            ),
        },
    ),
    "ner": Task(
        "Named entities, flat or nested, with gazetteers and clusters.",
        {
            "chain": Method("ner", "from annotated text", "weft.tasks.entities.recognizer:EntitySettings"),
            "bitext": Method(
                "ner",
                "from a bitext and a model of its other language",
                "weft.tasks.entities.projected:ProjectionSettings",
                "weft.tasks.entities.projected:ProjectedRecognizer",
            ),
            "transfer": Method(
                "ner",
                "from annotated text of other languages",
                "weft.tasks.entities.transfer_data:TransferSettings",
                "weft.tasks.entities.transfer:TransferRecognizer",
            ),
        },
    ),
    "spans": Task(
        "Spans that may have gaps, overlap and nest.",
        {"multilabel": Method("segments", "from annotated spans", "weft.tasks.spans.gapped:GappedSpanSettings")},
    ),
    "mwe": Task(
        "Multiword expressions, with gaps, strong and weak.",
        {"chain": Method("mwe", "from annotated expressions", "weft.tasks.spans.mwe:MweSettings")},
    ),
    "hedge": Task(
        "Uncertain sentences, cues and their scopes.",
        {"cascade": Method("hedge", "from annotated cues", "weft.tasks.uncertainty.detector:HedgeSettings")},
    ),
    "roles": Task(
        "Semantic roles: predicates, their senses and arguments, in trees.",
        {
            "pipeline": Method("roles", "from predicates with arguments", "weft.tasks.roles.labeller:RoleSettings"),
            "bins": Method("roles-bins", "one machine per tag, for a vote", "weft.tasks.roles.bins:BinSettings"),
            "joint": Method(
                "roles-joint", "trees and roles at once, for a vote", "weft.tasks.roles.joint:JointSettings"
            ),
        },
    ),
    "relations": Task(
        "Relations of two or more mentions, as tuples with named slots.",
        {"cliques": Method("tuples", "from tuples", "weft.tasks.relations.extractor:ExtractorSettings")},
    ),
    "events": Task(
        "Events: triggers with their types, and the mentions and events that fill their roles.",
        {"joint": Method("events", "from events, one search for all", "weft.tasks.events.extractor:EventSettings")},
    ),
    "scope": Task(
        "Quantifier scope: which noun phrases and negations outscope which.",
        {"pairs": Method("scope", "from sentences with ordered nodes", "weft.tasks.scope.resolver:ScopeSettings")},
    ),
    "metaphor": Task(
        "Metaphors and what they compare, from knowledge harvested from text.",
        {
            "harvest": Method(
                "metaphor", "from any text, labelled or not", "weft.tasks.metaphor.detector:MetaphorSettings"
            )
        },
    ),
    "preferences": Task(
        "Verbs whose arguments break selectional preferences, from VerbNet, SemLink and WordNet.",
        {
            "restrictions": Method(
                "preferences", "restrictions of VerbNet", "weft.tasks.preferences.checker:PreferenceSettings"
            )
        },
    ),
    "timeline": Task(
        "Timelines: events, times, and which contains or precedes which.",
        {"cascade": Method("timeline", "from annotated notes", "weft.tasks.timelines.extractor:TimelineSettings")},
    ),
    "coref": Task(
        "Coreference: mentions, and the entities that they refer to.",
        {
            "antecedents": Method(
                "coref", "from parsed documents with entities", "weft.tasks.coreference.resolver:CorefSettings"
            )
        },
    ),
    "amr": Task(
        "Abstract Meaning Representations: graphs of concepts.",
        {"spanning": Method("amr", "concepts, then a spanning graph", "weft.tasks.amr.parser:AmrSettings")},
    ),
    "times": Task(
        "Time expressions: their types and values, from phrases with values.",
        {"latent": Method("times", "from phrases, values and dates", "weft.tasks.time.parser:TimeSettings")},
    ),
    "images": Task(
        "Search of images by sentences: captions and images, as vectors of any model, in one space.",
        {"ranking": Method("images", "from captions and vectors of images", "weft.tasks.images.finder:ImageSettings")},
    ),
    "phenomena": Task(
        "Rare phenomena in conversations: what a speaker's few telling lines show.",
        {
            "committee": Method(
                "phenomena",
                "a committee with rules, from labelled lines",
                "weft.tasks.phenomena.detector:PhenomenaSettings",
            )
        },
    ),
    "opinions": Task(
        "Opinions about aspects and comparisons, with the words that carry them.",
        {"latent": Method("opinions", "from mentions with opinions", "weft.tasks.opinions.analyser:OpinionSettings")},
    ),
    "forecast": Task(
        "Forecasts of a series of prices from each morning's news, and which events move it.",
        {
            "prequential": Method(
                "forecast",
                "day by day, each from the days before",
                "weft.tasks.forecasting.forecaster:ForecastSettings",
            )
        },
    ),
    "keywords": Task(
        "Keywords of articles, alone or with their translations.",
        {
            "walk": Method(
                "keywords",
                "a walk over the words of both languages, from a collection of articles",
                "weft.tasks.keywords.extractor:KeywordSettings",
            )
        },
    ),
    "quality": Task(
        "What each annotator would say of an item, with intervals, and who differs from the others.",
        {
            "gaussian": Method(
                "quality",
                "a multi-task Gaussian process, from a table of labels",
                "weft.tasks.quality.predictor:QualitySettings",
            )
        },
    ),
    "grounding": Task(
        "What words mean in videos: clips with sentences teach nouns, verbs, adverbs and prepositions.",
        {
            "tracker": Method(
                "grounding",
                "sentence tracker, from detections and sentences",
                "weft.tasks.grounding.grounder:GroundingSettings",
            )
        },
    ),
    "sentiment": Task(
        "Positive, negative and neutral sentences or documents.",
        {
            "sentences": Method(
                "sentiment",
                "polarity of sentences, mostly from ratings of reviews",
                "weft.tasks.sentiment.sentences:SentimentSettings",
            ),
            "documents": Method(
                "polarity",
                "polarity of documents, adapted to another domain",
                "weft.tasks.sentiment.documents:PolaritySettings",
            ),
        },
    ),
}
#: Parsing systems that belong to the method mst.
GRAPH_SYSTEMS = ("mst1", "mst2", "mst3", "crossing")
#: Placeholder in a model's header for information that was not given.
UNSTATED = "not stated"


def _imported(place: str) -> Any:
    module, name = place.split(":")
    return getattr(import_module(module), name)


def component_class(kind: str) -> type[Component]:
    """The class of a kind of component, as named in a model file."""
    if kind not in KINDS:
        raise ModelError(f"this version of Weft does not know the task {kind!r}; it knows: {', '.join(KINDS)}")
    found: type[Component] = _imported(KINDS[kind])
    return found


def find_task(task: str) -> Task:
    """A task by its name.

    >>> find_task("taggerr")
    Traceback (most recent call last):
    ...
    weft.errors.ConfigError: unknown task 'taggerr'; did you mean tagger?
    """
    if task not in TASKS:
        known = f"the tasks are: {', '.join(TASKS)}"
        raise ConfigError(f"unknown task {task!r}; {did_you_mean(task, TASKS, known)}")
    return TASKS[task]


def method_name(task: str, method: str | None = None, system: str | None = None) -> str:
    """The method of a task: the given one, the one of a parser's system, or the default.

    >>> method_name("tagger"), method_name("parser", system="mst3"), method_name("tagger", "flors")
    ('chain', 'mst', 'flors')
    """
    methods = find_task(task).methods
    if not method:
        if task == "parser" and system in (*GRAPH_SYSTEMS, "blend"):
            return "blend" if system == "blend" else "mst"
        return next(iter(methods))
    if method not in methods:
        known = f"the methods of {task} are: {', '.join(methods)}"
        raise ConfigError(f"unknown method {method!r}; {did_you_mean(method, methods, known)}")
    return method


def new_component(task: str, options: Mapping[str, Any], method: str | None = None) -> Component:
    """Create an untrained component of a task from the names and values of its settings.

    >>> new_component("parser", {"system": "mst1"}).task
    'graph-parser'
    """
    name = method_name(task, method, options.get("system"))
    chosen = TASKS[task].methods[name]
    if not chosen.kind:
        raise ConfigError(f"the method {name} of {task} does not create a pipeline component")
    if name == "transition" and task == "parser" and "shape" in options:
        raise ConfigError(
            f"the systems {', '.join(GRAPH_SYSTEMS)} search projective or nonprojective trees; use one of them, or "
            "set nonprojective=encode for a transition system"
        )
    return chosen.component_class().from_options(options)


def train(
    task: str,
    train: Corpus | Sequence[Doc],
    dev: Corpus | None,
    out: Path | None,
    options: dict[str, Any],
    *,
    method: str | None = None,
    raw: Iterable[Doc] | None = None,
    source_raw: Iterable[Doc] = (),
    name: str = "",
    corpora: Sequence[str] = (),
    licence: str = "",
) -> dict[str, Any]:
    """Train a component and save it as a pipeline of one; returns a report of scores, sizes and times.

    `options` are settings of the method; an unknown one is an error that lists the known ones. A method that adapts to
    another domain trains on `raw` text of that domain, and on more source text if given (`source_raw`). The model's
    header also stores its `name` (by default that of the file), the names of the training `corpora`, and the `licence`
    under which the model may be used.
    """
    find_task(task)
    if out is not None:
        check_place(out)
    component: Any = new_component(task, options, method)
    if raw is None:
        report: dict[str, Any] = component.fit(train, dev)
    elif hasattr(component, "adapt"):
        report = component.adapt(list(train), list(raw), list(source_raw), None if dev is None else list(dev))
    else:
        raise ConfigError(f"the method {method_name(task, method)} of {task} does not use raw text")
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
    """Save a trained component as a pipeline of one; adds the path and size of the model to its report."""
    from weft.pipeline.pipeline import Pipeline

    Pipeline([component], model_card(report, name or out.stem, corpora, licence)).save(out)
    report["model"] = str(out)
    report["bytes"] = out.stat().st_size


def model_card(report: dict[str, Any], name: str, corpora: Sequence[str] = (), licence: str = "") -> dict[str, Any]:
    """The description in a model's header.

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
    """Raise an error before a long training, not after it, if the model cannot be written."""
    if out.is_dir():
        raise ConfigError(f"{out} is a folder; give the model file to write")
    parent = next(folder for folder in out.absolute().parents if folder.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise ConfigError(f"cannot write {out}: {parent} is not a folder that can be written to")
