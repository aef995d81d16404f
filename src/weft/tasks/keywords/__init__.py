"""Keywords of articles, alone or with the help of their translations."""

from weft.tasks.keywords.article import Article
from weft.tasks.keywords.collection import Collection
from weft.tasks.keywords.extractor import KeywordExtractor, KeywordSettings
from weft.tasks.keywords.ranking import rank

__all__ = ["Article", "Collection", "KeywordExtractor", "KeywordSettings", "rank"]
