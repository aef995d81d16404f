"""The component that finds the keywords of articles, with the help of a translation where there is one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.arrays import Floats
from weft.declared import Array, Stored
from weft.errors import ConfigError, DataError, ModelError
from weft.headers import DAMAGED, Many, Record, Text, Whole
from weft.pipeline.component import Asked, State, Stopwatch, Trainable, training_docs
from weft.pipeline.settings import Settings, option
from weft.storage import Arrays
from weft.tasks.forecasting.features import STOP_WORDS
from weft.tasks.keywords.article import Article, is_word, most_frequent
from weft.tasks.keywords.collection import PREFERENCES, Collection
from weft.tasks.keywords.lexicon import Lexicon
from weft.tasks.keywords.ranking import Walk, rank
from weft.text.conventions.keywords import LAYER, Keyword, set_keywords
from weft.text.doc import Doc
from weft.text.split import with_words

HEADER = Record(articles=Many(Whole(), least=2), functions=Many(Many(Text()), least=2))
#: The parts of a model, by language: of the articles, of the translations.
_SIDES = ("own", "theirs")
#: Words of a phrase at most.
_LONGEST = 4


@dataclass
class KeywordSettings(Settings):
    """Options of an extractor of keywords."""

    count: int = option(10, "Keywords per article.")
    preference: str = option("log", "What is preferred: words that are rare elsewhere (log, or tfidf without a "
                             "logarithm), words of few topics, or none.", choices=PREFERENCES)  # fmt: skip
    topic: str = option("topic", "Column, or metadata, with the topic of an article.", metavar="COLUMN")
    translation: str = option("translation", "Column with the translation, a line per line.", metavar="COLUMN")
    language: str = option("", "Language: en finds stems of English words; others are told apart by form, or by lemma.")
    functions: int = option(150, "So many of the most frequent words are no content words; tags replace them.")
    phrases: bool = option(False, "Join neighbouring keywords into phrases.")
    window: int = option(5, "Words that follow a word and get an edge from it.")
    boost: float = option(2.0, "Weight of edges to content words.", flag="--content-weight")
    alpha: float = option(0.6, "Share of the article beside its translation.")
    damping: float = option(0.85, "Share of the walk that follows edges.")
    link: float = option(2.0, "Weight of links between content words of both languages.", flag="--link-weight")
    other: float = option(0.5, "Weight of other links.", flag="--other-weight")
    workers: int = option(1, "Number of threads; one is used.", hidden=True)
    seed: int = option(0, "Random seed; nothing is random.", hidden=True)

    def check(self) -> None:
        if self.preference not in PREFERENCES:
            raise ConfigError(f"preference must be one of {', '.join(PREFERENCES)}, got {self.preference!r}")
        if self.count < 1 or self.functions < 0 or self.window < 1 or self.boost < 1:
            raise ConfigError("count, window and content-weight are at least 1, functions at least 0")
        self.walk()

    def walk(self) -> Walk:
        """The settings of the walk."""
        return Walk(self.window, self.boost, self.alpha, self.damping, self.link, self.other)


class KeywordExtractor(Trainable):
    """Ranks the words of articles: `doc.keywords`.

    >>> docs = [Doc("The ferry sails. The ferry is late."), Doc("The bakery is open."), Doc("The late bakery.")]
    >>> extractor = KeywordExtractor(KeywordSettings(count=1, functions=1))
    >>> report = extractor.fit(docs)
    >>> doc = Doc("The ferry waits. Late ferry, slow ferry.")
    >>> extractor([doc])
    >>> doc.keywords[0].word, doc.keywords[0].sentences
    ('ferry', (0, 1))
    """

    task = "keywords"
    provides = (f"spans/{LAYER}",)
    settings_class = KeywordSettings
    settings: KeywordSettings

    def __init__(self, settings: KeywordSettings | None = None) -> None:
        super().__init__(settings)
        self.collections: dict[str, Collection] | None = None
        self.functions: dict[str, frozenset[str]] = {}
        self.lexicon = Lexicon({})

    @property
    def _english(self) -> bool:
        return self.settings.language == "en"

    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        """Count the words of a collection, by topic if there are topics, and learn to align its translations."""
        settings, watch = self.settings, Stopwatch()
        docs = training_docs(train)
        both = [(doc, theirs) for doc in docs if (theirs := self._translation(doc)) is not None]
        self.functions = {
            "own": self._functions(docs, settings.language),
            "theirs": self._functions([theirs for _, theirs in both]),
        }
        topics = [str(doc.meta.get(settings.topic, "") or "") for doc in docs]
        own = [self._article(doc, "own") for doc in docs]
        by_doc = {id(doc): article for doc, article in zip(docs, own, strict=True)}
        other = [self._article(theirs, "theirs") for _, theirs in both]
        self.collections = {
            "own": Collection.of(zip(own, topics, strict=True)),
            "theirs": Collection.of((article, str(doc.meta.get(settings.topic, "") or "")) for article, (doc, _) in
                                    zip(other, both, strict=True)),
        }  # fmt: skip
        segments: list[tuple[list[str], list[str]]] = []
        for (doc, theirs), article in zip(both, other, strict=True):
            ours = _by_line(doc, by_doc[id(doc)])
            segments += zip(_by_line(theirs, article)[0], ours[0], strict=True)
        self.lexicon = Lexicon.learn(segments)
        named = len(set(filter(None, topics)))
        if settings.preference == "entropy" and named < 2:
            raise DataError(
                f"preference=entropy needs articles of at least two topics, but the column {settings.topic!r} names "
                f"{named}"
            )
        return {
            "training": {
                "articles": len(docs), "words": sum(doc.n_words for doc in docs),
                "types": len(self.collections["own"].documents), "topics": named, "translations": len(both),
                "lexicon": len(self.lexicon.table), **watch.seconds(),
            },
            "scores": {},
        }  # fmt: skip

    def _functions(self, docs: Sequence[Doc], language: str = "") -> frozenset[str]:
        """Function words: the most frequent ones, but no more than a twentieth of all types."""
        words = [[w.form for w in doc.words] for doc in docs]
        types = len({word.lower() for each in words for word in each})
        found = most_frequent(words, min(self.settings.functions, types // 20))
        return found | STOP_WORDS if language == "en" else found

    def _translation(self, doc: Doc) -> Doc | None:
        """The translation in the metadata as a document, line by line."""
        text = doc.meta.get(self.settings.translation)
        if not isinstance(text, str) or not text.strip():
            return None
        lines = doc.text.count("\n") + 1
        if text.count("\n") + 1 != lines:
            raise DataError(
                f"{doc.id or 'an article'} has {lines} lines, its translation {text.count(chr(10)) + 1}: give both "
                "line by line, or each as one line"
            )
        found = with_words([Doc(text)])
        return found[0] if found else None

    def _article(self, doc: Doc, side: str) -> Article:
        return Article.of_doc(doc, self.functions[side], self._english and side == "own")

    def scores(self, doc: Doc) -> tuple[Article, Floats]:
        """The words of an article and their scores, which sum to 1."""
        collections, settings = self.trained(self.collections), self.settings
        article = self._article(doc, "own")
        wanted = collections["own"].preferences(article, settings.preference)
        theirs = self._translation(doc)
        if theirs is None:
            return article, rank(article, wanted, settings.walk())
        other = self._article(theirs, "theirs")
        kind = settings.preference
        return article, rank(
            article, wanted, settings.walk(), other, collections["theirs"].preferences(other, kind),
            _links(self.lexicon, _by_line(theirs, other), _by_line(doc, article)),
        )  # fmt: skip

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        for doc in with_words(docs):
            article, scores = self.scores(doc)
            order = [k for k in np.argsort(-scores, kind="stable").tolist() if article.candidates[k]]
            order = [k for k in order if article.content[article.tokens == k].any()][: self.settings.count]
            _store(doc, article, scores, order, self.settings.phrases)

    def state(self) -> State:
        collections = self.trained(self.collections)
        header: dict[str, Any] = {
            "settings": self.saved_settings(),
            "articles": [collections[side].articles for side in _SIDES],
            "functions": [sorted(self.functions[side]) for side in _SIDES],
        }
        arrays: Arrays = {}
        for side in _SIDES:
            names = sorted(collections[side].documents)
            arrays[f"{side}/names"] = _packed(names)
            arrays[f"{side}/documents"] = np.array([collections[side].documents[n] for n in names], dtype=np.int32)
            arrays[f"{side}/focus"] = np.array([collections[side].focus(n) for n in names], dtype=np.float32)
        rows = [(c, e, share) for c, table in sorted(self.lexicon.table.items()) for e, share in table.items()]
        arrays["lexicon/theirs"] = _packed([c for c, _, _ in rows])
        arrays["lexicon/own"] = _packed([e for _, e, _ in rows])
        arrays["lexicon/shares"] = np.array([share for _, _, share in rows], dtype=np.float32)
        return header, arrays

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> KeywordExtractor:
        extractor = cls(KeywordSettings.from_saved(header["settings"]))
        HEADER.check(header)
        stored = Stored.of(arrays)
        extractor.collections = {}
        if len(header["articles"]) != len(_SIDES) or len(header["functions"]) != len(_SIDES):
            raise ModelError(f"an extractor of keywords has {len(_SIDES)} languages: {DAMAGED}")
        for k, side in enumerate(_SIDES):
            names = _unpacked(stored, f"{side}/names")
            documents = stored.take(Array(f"{side}/documents", "int32", (len(names),)))[f"{side}/documents"]
            focus = stored.take(Array(f"{side}/focus", "float32", (len(names),), within=(-0.01, 1.01)))[f"{side}/focus"]
            extractor.collections[side] = Collection.known(header["articles"][k], names, documents, focus)
            extractor.functions[side] = frozenset(header["functions"][k])
        theirs, own = _unpacked(stored, "lexicon/theirs"), _unpacked(stored, "lexicon/own")
        shares = stored.take(Array("lexicon/shares", "float32", (len(theirs),), within=(0.0, 1.01)))["lexicon/shares"]
        if len(own) != len(theirs):
            raise ModelError(f"the lexicon of an extractor of keywords does not fit together: {DAMAGED}")
        for c, e, share in zip(theirs, own, shares.tolist(), strict=True):
            extractor.lexicon.table.setdefault(c, {})[e] = share
        return extractor


def _store(doc: Doc, article: Article, scores: Floats, order: list[int], phrases: bool) -> None:
    """The keywords of a document, and where they are."""
    chosen = {k: article.shown[k] for k in order}
    sentence = np.repeat(np.arange(len(article.offsets) - 1), np.diff(article.offsets))
    spans = [(i, i + 1, chosen[k]) for i, k in enumerate(article.tokens.tolist()) if k in chosen]
    found = {chosen[k]: float(scores[k]) for k in order}
    if phrases:
        spans, found = _phrases(doc, article, scores, set(chosen))
    where: dict[str, set[int]] = {}
    for start, _, word in spans:
        where.setdefault(word, set()).add(int(sentence[start]))
    listed = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    set_keywords(doc, [Keyword(word, score, tuple(sorted(where[word]))) for word, score in listed], spans)


def _phrases(
    doc: Doc, article: Article, scores: Floats, chosen: set[int]
) -> tuple[list[tuple[int, int, str]], dict[str, float]]:
    """Neighbouring keywords that recur side by side as one keyword, which scores the mean of its words."""
    forms = [word.form for word in doc.words]
    good = np.array([key in chosen for key in article.tokens.tolist()], dtype=np.bool_) & article.content
    sentence = np.repeat(np.arange(len(article.offsets) - 1), np.diff(article.offsets))

    def key(i: int, n: int) -> tuple[int, ...]:
        """The types of n neighbours, none if they are not all keywords of one sentence."""
        whole = i + n <= len(good) and good[i : i + n].all() and sentence[i] == sentence[i + n - 1]
        return tuple(article.tokens[i : i + n].tolist()) if whole else ()

    counts = Counter(key(i, n) for n in range(2, _LONGEST + 1) for i in range(len(good)))
    shown: dict[tuple[int, ...], str] = {}
    spans, found, i = [], {}, 0
    while i < len(good):
        n = next((n for n in range(_LONGEST, 1, -1) if key(i, n) and counts[key(i, n)] > 1), 1)
        if own := key(i, n):
            word = shown.setdefault(own, article.shown[own[0]] if n == 1 else " ".join(forms[i : i + n]))
            spans.append((i, i + n, word))
            found[word] = float(np.mean([scores[k] for k in own]))
        i += n
    return spans, found


Lines = tuple[list[list[str]], list[list[int]]]


def _by_line(doc: Doc, article: Article) -> Lines:
    """The words of every line of a document as the article names them, and their places."""
    breaks = np.array([k for k, letter in enumerate(doc.text) if letter == "\n"], dtype=np.int64)
    line = np.searchsorted(breaks, np.array([word.start for word in doc.words], dtype=np.int64))
    words: list[list[str]] = [[] for _ in range(len(breaks) + 1)]
    places: list[list[int]] = [[] for _ in range(len(breaks) + 1)]
    for place, (number, key) in enumerate(zip(line.tolist(), article.tokens.tolist(), strict=True)):
        name = article.names[key]
        if is_word(name) or article.content[place]:
            words[number].append(name)
            places[number].append(place)
    return words, places


def _links(lexicon: Lexicon, theirs: Lines, own: Lines) -> list[tuple[int, int]]:
    """Places of tokens that translate each other, line by line."""
    return [
        (theirs[1][k][i], own[1][k][j])
        for k in range(min(len(theirs[0]), len(own[0])))
        for i, j in lexicon.links(theirs[0][k], own[0][k])
    ]


def _packed(names: Sequence[str]) -> Any:
    return np.frombuffer("\n".join(names).encode(), dtype=np.uint8)


def _unpacked(stored: Stored, name: str) -> list[str]:
    try:
        text = bytes(stored.take(Array(name, "uint8", ("*",)))[name]).decode()
    except UnicodeDecodeError:
        raise ModelError(f"the array {name} is not UTF-8: {DAMAGED}") from None
    return text.split("\n") if text else []
