"""A hook of MkDocs: pages that are not listed by hand appear in the navigation, and the search ranks guides first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

#: How much a word on a page counts in the search, by the page or its folder; 1 if neither is here. The pages that serve
#: every task come before those of single tasks, which use the same words.
RANKS = {
    "api": 1e-6,
    "systems": 1e-3,
    "develop": 1e-2,
    "start": 4.0,
    "judge/explaining.md": 4.0,
    "judge/evaluation.md": 4.0,
    "apply/scale.md": 4.0,
    "apply/interop.md": 4.0,
    "tasks/entities.md": 4.0,
}
#: What people call the subject of a page, beside the words on it. A page is found by these first of all.
KEYWORDS = {
    "learn/workbench.md": [
        "labelling by hand",
        "Prodigy",
        "doccano",
        "Label Studio",
        "inter-annotator agreement",
    ],
    "learn/plans.md": ["active learning", "annotation budget", "what to label next", "cost-utility"],
    "learn/crowds.md": ["crowdsourcing", "Mechanical Turk", "Dawid-Skene", "annotator quality", "spam workers"],
    "start/install.md": ["install", "pip", "Docker", "Windows", "macOS", "setup", "cache folder"],
    "start/tour.md": ["annotate", "annotate a file", "first steps", "quick start"],
    "start/python.md": ["Python", "entities in Python", "save and load", "save a model", "load a model"],
    "start/files.md": ["schema", "JSON schema", "fields", "columns"],
    "start/pipelines.md": ["pipeline", "pipeline from a treebank", "my treebank", "train a pipeline"],
    "start/models.md": ["another language", "German", "languages", "download a model"],
    "apply/interop.md": ["data frame", "dataframe", "table", "pandas", "Polars"],
    "apply/scale.md": ["much text", "large corpus", "resume", "parallel", "cluster", "millions of words"],
    "tasks/amr.md": ["AMR", "meaning graphs", "Smatch", "PENMAN"],
    "tasks/roles.md": ["semantic roles", "SRL", "PropBank", "predicates", "frames"],
    "tasks/timelines.md": ["timeline", "temporal relations", "clinical notes", "Anafora", "THYME", "containers"],
    "tasks/times.md": ["dates", "time expressions", "TIMEX3", "TimeML", "next Tuesday", "durations", "reference date"],
    "tasks/opinions.md": ["aspect-based sentiment", "aspects", "comparisons", "evidence", "negation"],
    "tasks/forecasting.md": ["forecast", "market", "time series", "prices", "stock", "backtest", "news"],
    "tasks/phenomena.md": ["chat", "conversations", "rare labels", "ConvoKit", "high precision"],
    "tasks/text-to-answers.md": ["from text to answers", "knowledge graph from text", "graph walk"],
    "tasks/questions.md": ["ask a graph", "natural language interface", "SQL", "SPARQL", "Cypher", "suggestions"],
    "tasks/events.md": ["event extraction", "events", "triggers", "arguments", "BioNLP", "ACE", "brat events"],
    "tasks/relations.md": ["relations between entities", "relation extraction", "tuples", "n-ary", "knowledge graph"],
    "tasks/class-instances.md": ["label propagation", "Adsorption", "MAD", "seeds", "isolated nodes"],
    "tasks/rankings-and-topics.md": ["PageRank", "bibliography", "author disambiguation", "topic model", "h-index"],
    "tasks/knowledge-graphs.md": [
        "knowledge base",
        "link prediction",
        "new facts",
        "DuckDB",
        "SPARQL",
        "Cypher",
        "triples",
    ],
    "tasks/scope.md": ["quantifier", "scope", "negation scope", "plural"],
    "tasks/metaphor.md": ["metaphor", "simile", "figurative language", "Hearst patterns"],
    "tasks/preferences.md": ["selectional preferences", "metaphor cues", "violation", "patch a resource"],
    "tasks/linking.md": ["entity linking", "word senses", "word sense disambiguation", "knowledge base", "Wikidata"],
    "tasks/denotations.md": ["captions", "images", "entailment", "denotation graph", "hypernyms", "paraphrases"],
    "tasks/coherence.md": ["text coherence", "sentence order", "essay", "discourse", "entity grid"],
    "tasks/videos.md": ["video", "clip", "tracking", "MOT", "grounding", "video search", "object detection"],
    "tasks/coreference.md": ["coreference", "pronoun", "mention", "entity", "chain"],
    "tasks/keywords.md": ["keyphrases", "keyword extraction", "tags", "TextRank", "YAKE", "bilingual keywords"],
    "tasks/quality.md": ["quality estimation", "annotator bias", "rater", "Gaussian process", "post-editing"],
    "transfer/alignment.md": ["word alignment", "IBM model 4", "GIZA", "fertility", "bitext", "Pharaoh"],
    "tasks/pictures.md": ["image search", "captions", "CLIP", "bag of words probe", "role swap", "photographs"],
    "tasks/translation-memory.md": ["translation memory", "fuzzy match", "TMX", "XLIFF", "PO", "gettext", "CAT"],
    "tasks/similarity.md": ["paraphrase", "similarity", "STS", "monolingual alignment"],
    "tasks/language-models.md": ["language model", "n-gram", "perplexity", "Kneser-Ney", "ARPA", "KenLM"],
    "tasks/translation.md": ["translate", "machine translation", "phrase table", "BLEU", "MERT", "sacrebleu"],
    "learn/lexical-resources.md": ["WordNet", "PropBank", "VerbNet", "SemLink"],
    "tasks/entities.md": ["train on own labels", "train NER", "train entities", "custom entities"],
    "tasks/entities-across-documents.md": ["cross-document coreference", "deduplicate names", "mentions"],
    "judge/explaining.md": ["why this label", "explain a label", "explanation of labels", "feature weights"],
    "judge/evaluation.md": ["compare", "compare two parsers", "significance", "evaluate", "Krippendorff"],
    "judge/change-one-thing.md": ["vary an experiment", "own recipe", "own transition system", "ablation"],
}


def on_config(config: Any) -> Any:
    """Add the pages of systems, and those of folders of the API, below the pages that list them."""
    _expand(config["nav"], Path(config["docs_dir"]))
    return config


def on_page_markdown(markdown: str, page: Any, **others: Any) -> str:
    """Give a page its rank and its keywords."""
    set_search(page.meta, page.file.src_uri)
    return markdown


def set_search(meta: dict[str, Any], place: str) -> None:
    """What the search knows of a page besides its text.

    >>> meta = {}
    >>> set_search(meta, "api/text.md")
    >>> meta
    {'search': {'boost': 1e-06}}
    """
    rank = RANKS.get(place) or RANKS.get(place.split("/")[0])
    if rank:
        meta["search"] = {"boost": rank}
    if place in KEYWORDS:
        meta["tags"] = KEYWORDS[place]


def _expand(nav: list[Any], docs: Path) -> None:
    for i, entry in enumerate(nav):
        if not isinstance(entry, dict):
            continue
        for title, below in entry.items():
            if title == "Systems":
                pages = sorted(path.stem for path in (docs / "systems").glob("*.md") if path.stem != "index")
                below.extend({slug: f"systems/{slug}.md"} for slug in pages)
            elif isinstance(below, list):
                _expand(below, docs)
            elif below.startswith("api/") and (folder := docs / below.removesuffix(".md")).is_dir():
                parts = sorted(path.stem for path in folder.glob("*.md"))
                listed = [{part.replace("_", " "): f"{below.removesuffix('.md')}/{part}.md"} for part in parts]
                nav[i] = {title: [below, *listed]}
