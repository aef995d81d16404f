"""Articles with translations and keywords: TED talks with tags, and pages of the Python manual with titles."""

from __future__ import annotations

import gzip
import html
import re
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass

from weft.lexical.stems import stem
from weft.recipes.framework import RecipeOptions
from weft.tasks.forecasting.features import STOP_WORDS
from weft.tasks.keywords.article import Article, is_word, most_frequent
from weft.tasks.keywords.collection import Collection
from weft.tasks.keywords.lexicon import Lexicon

TALKS = "keywords/ted-iwslt2017/{}-{}.tgz"
MANUAL = "parallel/python-docs-en-es/memory-3.10.tsv.gz"
NOVELS = "raw/litbank-novels.txt.tar.gz"
_YEARS = ("tst2016", "tst2017")
_NO_TAGS = frozenset({"talks", "ted fellows", "tedx"})
_TOKEN = re.compile(r"[^\W_]+|[^\w\s]")
_ROLE = re.compile(r":[\w:+-]{1,60}:`~?!?([^`<]{0,300})(?:<[^>`]{0,300}>)?`")
_FUNCTIONS = 150
_SHORTEST = 300  #: words of a page


@dataclass(frozen=True)
class Bilingual:
    """An article with its translation, its topic, and its keywords as stems."""

    name: str
    segments: list[list[str]]
    other: list[list[str]]
    topic: str
    keywords: frozenset[str]
    text: str = ""


@dataclass(frozen=True)
class Prepared:
    """Articles as the walk reads them, what the collections say, and the links of every article."""

    articles: list[Bilingual]
    own: list[Article]
    theirs: list[Article]
    links: list[list[tuple[int, int]]]
    collection: Collection
    other: Collection


def words_of(text: str) -> list[str]:
    """Words and marks, without the markup of the manual.

    >>> words_of("Use :class:`~dict` objects.")
    ['Use', 'dict', 'objects', '.']
    """
    return _TOKEN.findall(_ROLE.sub(r"\1", text).replace("``", " ").replace("`", " "))


def content_stems(text: str) -> set[str]:
    """Stems of the content words of a text.

    >>> sorted(content_stems("The planets of stars"))
    ['planet', 'star']
    """
    lower = (word.lower() for word in words_of(text))
    return {stem(word) for word in lower if is_word(word) and word not in STOP_WORDS}


def manual(options: RecipeOptions, most: int) -> list[Bilingual]:
    """Pages of at least 300 words; keywords are the words of the title that occur in the page, topic is the folder."""
    pages: dict[str, list[tuple[str, str]]] = {}
    with gzip.open(options.find(MANUAL), "rt", encoding="utf-8") as file:
        for line in file:
            page, source, target = line.rstrip("\n").split("\t")[:3]
            pages.setdefault(page, []).append((source, target))
    found = []
    for page, rows in pages.items():
        if page.startswith("whatsnew"):
            continue
        title, *body = rows
        segments = [words_of(source) for source, _ in body]
        if sum(map(len, segments)) < _SHORTEST:
            continue
        stems = {stem(word.lower()) for words in segments for word in words}
        keywords = frozenset(content_stems(title[0]) & stems)
        if keywords:
            other = [words_of(target) if source != target else [] for source, target in body]
            found.append(Bilingual(page, segments, other, page.partition("/")[0], keywords))
    return found[:most] if most else found


def talks(options: RecipeOptions, language: str) -> list[Bilingual]:
    """Talks; keywords are words of tags and titles that occur in the transcript."""
    ours = _talks(options, "en", language)
    theirs = _talks(options, language, "en")
    found = []
    for number, (tags, title, lines) in ours.items():
        segments = [words_of(line) for line in lines]
        stems = {stem(word.lower()) for words in segments for word in words}
        named = [tag for tag in tags.split(",") if tag.strip().lower() not in _NO_TAGS]
        keywords = content_stems(" ".join(named)) | content_stems(title.partition(":")[2] or title)
        other = [_cut(line, language) for line in theirs[number][2]]
        found.append(Bilingual(number, segments, other, "", frozenset(keywords & stems), "\n".join(lines)))
    return [each for each in found if each.keywords]


def _talks(options: RecipeOptions, language: str, other: str) -> dict[str, tuple[str, str, list[str]]]:
    found: dict[str, tuple[str, str, list[str]]] = {}
    path = options.find(TALKS.format(language, other))
    with tarfile.open(path) as archive:
        for year in _YEARS:
            member = f"{language}-{other}/IWSLT17.TED.{year}.{language}-{other}.{language}.xml"
            stream = archive.extractfile(member)
            text = "" if stream is None else stream.read().decode("utf-8")
            for number, body in re.findall(r'<doc docid="(\d+)"[^>]*>(.*?)</doc>', text, re.DOTALL):
                lines = [html.unescape(line) for line in re.findall(r"<seg[^>]*>(.*?)</seg>", body, re.DOTALL)]
                spoken = [re.sub(r"\([^)]{0,500}\)|（[^）]{0,500}）", " ", line).strip() for line in lines]
                found[number] = (_field(body, "keywords"), _field(body, "title"), spoken)
    return found


def _field(body: str, name: str) -> str:
    found = re.search(rf"<{name}>(.*?)</{name}>", body, re.DOTALL)
    return html.unescape(found.group(1)) if found else ""


def _cut(line: str, language: str) -> list[str]:
    """Words of a line; Chinese ones by jieba, or by single characters without it."""
    if language != "zh":
        return words_of(line)
    try:
        import jieba  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        return [letter for letter in line if not letter.isspace()]
    jieba.setLogLevel(60)
    return [word for word in jieba.cut(line) if not word.isspace()]


def novels(options: RecipeOptions, pieces: int, words: int = 3000) -> Iterator[Article]:
    """Pieces of novels, for the number of texts in which a word occurs."""
    with tarfile.open(options.find(NOVELS)) as archive:
        for member in archive:
            stream = archive.extractfile(member) if member.isfile() and member.name.endswith(".txt") else None
            if stream is None:
                continue
            tokens = words_of(stream.read(20 * words * pieces).decode("utf-8", "ignore"))
            for k in range(pieces):
                piece = tokens[(k + 1) * words : (k + 2) * words]
                if piece:
                    yield Article.of([piece], STOP_WORDS, english=True)


def prepare(articles: list[Bilingual], more: Iterator[Article] | None = None) -> Prepared:
    """Count words and learn to align on all articles, then link the words of each."""
    functions = most_frequent([words for each in articles for words in each.other], _FUNCTIONS)
    own = [Article.of(each.segments, STOP_WORDS, english=True) for each in articles]
    theirs = [Article.of(each.other, functions) for each in articles]
    collection = Collection.of((article, each.topic) for article, each in zip(own, articles, strict=True))
    for article in more or ():
        collection.add(article)
    other = Collection.of((article, each.topic) for article, each in zip(theirs, articles, strict=True))
    lines = [list(zip(_lines(c), _lines(e), strict=True)) for c, e in zip(theirs, own, strict=True)]
    lexicon = Lexicon.learn((c[0], e[0]) for rows in lines for c, e in rows)
    links = [
        [(c[1][i], e[1][j]) for c, e in rows for i, j in lexicon.links(c[0], e[0])] for rows in lines
    ]  # fmt: skip
    return Prepared(articles, own, theirs, links, collection, other)


def _lines(article: Article) -> Iterator[tuple[list[str], list[int]]]:
    """The words of every segment, and their places."""
    for begin, end in zip(article.offsets[:-1].tolist(), article.offsets[1:].tolist(), strict=True):
        places = [k for k in range(begin, end) if article.names[article.tokens[k]][:1].isalpha()]
        yield [article.names[article.tokens[k]] for k in places], places
