"""Components for all tasks, importable by name.

>>> from weft.tasks import Tagger
>>> Tagger().task
'tagger'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weft.tasks.amr.parser import AmrParser as AmrParser
    from weft.tasks.bitext.align import Aligner as Aligner
    from weft.tasks.constituents.parser import ConstituentParser as ConstituentParser
    from weft.tasks.coreference.across.entities import EntityClusterer as EntityClusterer
    from weft.tasks.coreference.resolver import CorefResolver as CorefResolver
    from weft.tasks.entities.projected import ProjectedRecognizer as ProjectedRecognizer
    from weft.tasks.entities.recognizer import EntityRecognizer as EntityRecognizer
    from weft.tasks.entities.transfer import TransferRecognizer as TransferRecognizer
    from weft.tasks.events.extractor import EventExtractor as EventExtractor
    from weft.tasks.forecasting.forecaster import Forecaster as Forecaster
    from weft.tasks.grounding.grounder import Grounder as Grounder
    from weft.tasks.images.finder import ImageFinder as ImageFinder
    from weft.tasks.keywords.extractor import KeywordExtractor as KeywordExtractor
    from weft.tasks.linking.linker import Linker as Linker
    from weft.tasks.metaphor.detector import MetaphorDetector as MetaphorDetector
    from weft.tasks.opinions.analyser import OpinionAnalyser as OpinionAnalyser
    from weft.tasks.parsing.blended import BlendedParser as BlendedParser
    from weft.tasks.parsing.dependency_graphs import DependencyGraphParser as DependencyGraphParser
    from weft.tasks.parsing.induce_grammar import GrammarInducer as GrammarInducer
    from weft.tasks.parsing.mst.parser import MSTParser as MSTParser
    from weft.tasks.parsing.relations import Relations as Relations
    from weft.tasks.parsing.transitions.parser import Parser as Parser
    from weft.tasks.parsing_transfer.adapt_parser import AdaptedParser as AdaptedParser
    from weft.tasks.parsing_transfer.parser import TransferParser as TransferParser
    from weft.tasks.phenomena.detector import PhenomenaDetector as PhenomenaDetector
    from weft.tasks.preferences.checker import PreferenceChecker as PreferenceChecker
    from weft.tasks.quality.predictor import QualityPredictor as QualityPredictor
    from weft.tasks.relations.extractor import RelationExtractor as RelationExtractor
    from weft.tasks.roles.bins import BinnedLabeller as BinnedLabeller
    from weft.tasks.roles.joint import JointLabeller as JointLabeller
    from weft.tasks.roles.labeller import RoleLabeller as RoleLabeller
    from weft.tasks.scope.resolver import ScopeResolver as ScopeResolver
    from weft.tasks.segmentation.segmenter import Segmenter as Segmenter
    from weft.tasks.sentiment.documents import PolarityClassifier as PolarityClassifier
    from weft.tasks.sentiment.sentences import SentimentAnalyser as SentimentAnalyser
    from weft.tasks.spans.chunker import Chunker as Chunker
    from weft.tasks.spans.gapped import GappedSpanFinder as GappedSpanFinder
    from weft.tasks.spans.mwe import MweTagger as MweTagger
    from weft.tasks.speech.parser import DisfluencyParser as DisfluencyParser
    from weft.tasks.tagging.flors import Flors as Flors
    from weft.tasks.tagging.graph_propagation import PropagationTagger as PropagationTagger
    from weft.tasks.tagging.induce_tags import TagInducer as TagInducer
    from weft.tasks.tagging.lemmatize import Lemmatizer as Lemmatizer
    from weft.tasks.tagging.scl import SCLTagger as SCLTagger
    from weft.tasks.tagging.tagger import Tagger as Tagger
    from weft.tasks.tagging.trigrams import TrigramTagger as TrigramTagger
    from weft.tasks.tagging.weak import WeakTagger as WeakTagger
    from weft.tasks.time.parser import TimeParser as TimeParser
    from weft.tasks.timelines.extractor import TimelineExtractor as TimelineExtractor
    from weft.tasks.uncertainty.detector import HedgeDetector as HedgeDetector

# Names are looked up on first use: a program that tags does not load parsers.
_HOMES = {
    "AdaptedParser": "parsing_transfer.adapt_parser",
    "Aligner": "bitext.align",
    "AmrParser": "amr.parser",
    "BinnedLabeller": "roles.bins",
    "BlendedParser": "parsing.blended",
    "Chunker": "spans.chunker",
    "ConstituentParser": "constituents.parser",
    "CorefResolver": "coreference.resolver",
    "DependencyGraphParser": "parsing.dependency_graphs",
    "DisfluencyParser": "speech.parser",
    "EntityClusterer": "coreference.across.entities",
    "EntityRecognizer": "entities.recognizer",
    "Flors": "tagging.flors",
    "Forecaster": "forecasting.forecaster",
    "Grounder": "grounding.grounder",
    "GappedSpanFinder": "spans.gapped",
    "GrammarInducer": "parsing.induce_grammar",
    "HedgeDetector": "uncertainty.detector",
    "ImageFinder": "images.finder",
    "JointLabeller": "roles.joint",
    "Lemmatizer": "tagging.lemmatize",
    "KeywordExtractor": "keywords.extractor",
    "Linker": "linking.linker",
    "MSTParser": "parsing.mst.parser",
    "MetaphorDetector": "metaphor.detector",
    "MweTagger": "spans.mwe",
    "Parser": "parsing.transitions.parser",
    "OpinionAnalyser": "opinions.analyser",
    "PhenomenaDetector": "phenomena.detector",
    "PolarityClassifier": "sentiment.documents",
    "PreferenceChecker": "preferences.checker",
    "QualityPredictor": "quality.predictor",
    "ProjectedRecognizer": "entities.projected",
    "PropagationTagger": "tagging.graph_propagation",
    "Relations": "parsing.relations",
    "RoleLabeller": "roles.labeller",
    "SCLTagger": "tagging.scl",
    "RelationExtractor": "relations.extractor",
    "EventExtractor": "events.extractor",
    "ScopeResolver": "scope.resolver",
    "TimeParser": "time.parser",
    "Segmenter": "segmentation.segmenter",
    "SentimentAnalyser": "sentiment.sentences",
    "TagInducer": "tagging.induce_tags",
    "Tagger": "tagging.tagger",
    "TimelineExtractor": "timelines.extractor",
    "TransferParser": "parsing_transfer.parser",
    "TransferRecognizer": "entities.transfer",
    "TrigramTagger": "tagging.trigrams",
    "WeakTagger": "tagging.weak",
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'weft.tasks' has no attribute {name!r}")
    return getattr(import_module(f"weft.tasks.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
