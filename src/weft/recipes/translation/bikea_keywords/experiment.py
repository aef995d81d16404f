"""Keywords of articles with the help of their translations.

    manual       pages of the Python manual with Spanish translations; titles are the keywords, 75 pages choose settings
    talks        TED talks with French and with Chinese translations, beside YAKE; tags and titles are the keywords
    alpha        how much the article weighs beside its translation
    simulation   articles of which each language knows something of its own
    speed        an article of 10,000 words

The paper's talks and its keywords by hand are not public.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import product

import numpy as np

from weft.arrays import Floats
from weft.evaluate.significance import approximate_randomization, confidence_interval
from weft.progress import progress
from weft.recipes.claims import Figure, compared, measured
from weft.recipes.framework import Curve, RecipeOptions, RecipeResult, Table
from weft.recipes.translation.bikea_keywords.corpora import Prepared, manual, novels, prepare, talks
from weft.recipes.translation.bikea_keywords.measures import MEASURES, at
from weft.recipes.translation.bikea_keywords.simulation import simulated
from weft.recipes.variation import Variation
from weft.tasks.keywords.article import Article
from weft.tasks.keywords.ranking import Walk, alone, rank

SLUG = "bikea-keywords"


@dataclass(frozen=True)
class Size:
    """How much is run."""

    pages: int = 0  #: of the manual; 0 is all
    dev: int = 75
    pieces: int = 3  #: of each novel, for document frequencies beside the talks
    simulated: int = 200
    samples: int = 2000


QUICK = Size(40, 15, 1, 40, 200)
ROWS = ("manual", "talks", "alpha", "simulation", "speed")
VARIATION = Variation((Size,), ROWS)
CUTS = (5, 7, 10)
COLUMNS = [f"{measure}@{n}" for n in CUTS for measure in MEASURES]
#: Of the paper, on 30 talks with keywords by hand.
PAPER = {
    "tf/df": (0.509, 0.213, 0.469, 0.517, 0.180, 0.475, 0.527, 0.133, 0.479),
    "walk, tf/df": (0.676, 0.400, 0.621, 0.688, 0.323, 0.626, 0.686, 0.273, 0.626),
    "both, tf/df": (0.703, 0.406, 0.655, 0.720, 0.338, 0.660, 0.717, 0.304, 0.663),
}
ALPHAS = (0.05, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 1.0)
Scores = Sequence[Floats]


def run(options: RecipeOptions) -> RecipeResult:
    """All tables."""
    size = options.varied(QUICK if options.quick else Size())
    result, material = RecipeResult(SLUG), Material(options, size)
    steps: dict[str, Callable[[RecipeResult, Material], None]] = {
        "manual": _manual, "talks": _talks, "alpha": _alpha, "simulation": _simulation, "speed": _speed,
    }  # fmt: skip
    with progress("parts", len(steps), "parts") as bar:
        for step in options.chosen(steps).values():
            step(result, material)
            bar.advance(1)
    result.notes.append(
        "Keywords are silver: words of titles, and of the tags of talks, that occur in the text; stems are compared. "
        "Document frequencies: all pages of the manual; the talks and pieces of English novels."
    )
    return result


class Material:
    """Articles and settings, made when first asked for."""

    def __init__(self, options: RecipeOptions, size: Size) -> None:
        self.options, self.size = options, size
        self._pages: Prepared | None = None
        self._walk: Walk | None = None

    @property
    def pages(self) -> Prepared:
        if self._pages is None:
            self._pages = prepare(manual(self.options, self.size.pages))
        return self._pages

    def split(self) -> tuple[list[int], list[int]]:
        """Pages to choose settings on, and pages to test."""
        order = np.random.default_rng(self.options.seed).permutation(len(self.pages.articles)).tolist()
        return order[: self.size.dev], order[self.size.dev :]

    @property
    def walk(self) -> Walk:
        """The settings that rank the titles' words of the first pages best: the walk alone, then the links."""
        if self._walk is None:
            dev, _ = self.split()

            def score(walk: Walk, both: bool) -> float:
                return float(np.mean([found[0] for found in judged(self.pages, dev, ranked(self.pages, walk, both))]))

            one = [
                replace(Walk(), window=w, boost=m, damping=d)
                for w, m, d in product((2, 5, 10), (2.0, 4.0), (0.7, 0.85))
            ]
            best = max(one, key=lambda walk: score(walk, False))
            two = [
                replace(best, alpha=a, link=link, other=other)
                for a, (link, other) in product((0.4, 0.6, 0.8, 0.95), ((0.5, 0.1), (2.0, 0.5), (8.0, 2.0)))
            ]
            self._walk = max(two, key=lambda walk: score(walk, True))
        return self._walk


Ranker = Callable[[int], Floats]


def ranked(own: Prepared, walk: Walk, both: bool, kind: str = "tfidf", shuffle: int = -1) -> Ranker:
    """Scores of the types of an article by number, with or without its translation; `shuffle` deals links anew."""

    def scores(k: int) -> Floats:
        article, theirs, links = own.own[k], own.theirs[k], own.links[k]
        wanted = own.collection.preferences(article, kind)
        if not both:
            return rank(article, wanted, alone(walk))
        if shuffle >= 0:
            places = np.random.default_rng(shuffle + k).permutation([e for _, e in links]).tolist()
            links = [(c, e) for (c, _), e in zip(links, places, strict=True)]
        return rank(article, wanted, walk, theirs, own.other.preferences(theirs, kind), links)

    return scores


def listed(article: Article, scores: Floats) -> list[str]:
    """Content words, the best first."""
    content = set(article.tokens[article.content].tolist())
    return [article.names[k] for k in np.argsort(-scores, kind="stable").tolist() if k in content]


def judged(own: Prepared, chosen: Sequence[int], scores: Ranker) -> list[list[float]]:
    """The columns of every chosen article."""
    return [_row(listed(own.own[k], scores(k)), own.articles[k].keywords) for k in chosen]


def _row(words: Sequence[str], keywords: frozenset[str]) -> list[float]:
    return [value for n in CUTS for value in at(words, keywords, n)]


def systems(own: Prepared, walk: Walk, seed: int) -> dict[str, Ranker]:
    """All rankings of words."""

    def frequencies(k: int) -> Floats:
        return own.own[k].counts.astype(np.float64)

    return {
        "tf": frequencies,
        "tf/df": lambda k: own.collection.preferences(own.own[k], "tfidf"),
        "tf log idf": lambda k: own.collection.preferences(own.own[k], "log"),
        "walk": ranked(own, walk, False, "none"),
        "walk, tf": lambda k: rank(own.own[k], frequencies(k) * of_content(own.own[k]), alone(walk)),
        "walk, tf/df": ranked(own, walk, False),
        "walk, tf log idf": ranked(own, walk, False, "log"),
        "both, tf/df": ranked(own, walk, True),
        "both, entropy": ranked(own, walk, True, "entropy"),
        "both, tf log idf": ranked(own, walk, True, "log"),
        "both, links shuffled": ranked(own, walk, True, "tfidf", 1000 * seed),
    }  # fmt: skip


def of_content(article: Article) -> Floats:
    """1 for types that occur as content words."""
    found = np.zeros(len(article.names))
    found[article.tokens[article.content]] = 1.0
    return found


def _table(result: RecipeResult, title: str, found: Mapping[str, list[list[float]]], paper: bool, note: str) -> None:
    table = Table(title, COLUMNS, digits=dict.fromkeys(COLUMNS, 3))
    for name, rows in found.items():
        values = np.array(rows)
        interval = confidence_interval(_counted(values[:, 0]), _mean, samples=1000)
        table.add(
            name, dict(zip(COLUMNS, values.mean(axis=0).tolist(), strict=True)),
            dict(zip(COLUMNS, PAPER[name], strict=True)) if paper and name in PAPER else {},
            {COLUMNS[0]: (interval.low, interval.high)},
        )  # fmt: skip
    table.note = note
    result.tables.append(table)


def _counted(values: Floats) -> Floats:
    return np.stack([values, np.ones(len(values))], axis=1)


def _mean(sums: Floats) -> Floats:
    means: Floats = sums[..., 0] / sums[..., 1]
    return means


def over(found: Mapping[str, list[list[float]]], one: str, other: str, samples: int, column: int = 0, bar: float = 0.0
         ) -> Figure:  # fmt: skip
    """By how many points one ranking is better, with a paired randomization test over articles."""
    a, b = (_counted(np.array(found[name])[:, column]) for name in (one, other))
    test = approximate_randomization(a, b, _mean, samples)
    return compared(test, f"{one} over {other}, {COLUMNS[column]}", bar=bar)


def _manual(result: RecipeResult, material: Material) -> None:
    own, walk, (_, test) = material.pages, material.walk, material.split()
    found = {}
    for name, scores in systems(own, walk, material.options.seed).items():
        found[name] = judged(own, test, scores)
    _table(
        result, f"Python manual, en-es: {len(test)} pages", found, True,
        f"Chosen on {material.size.dev} other pages: window {walk.window}, content weight {walk.boost:g}, damping "
        f"{walk.damping:g}, alpha {walk.alpha:g}, links {walk.link:g} and {walk.other:g}. The paper: 30 talks, "
        "keywords by hand. tf/df is its tfidf.",
    )  # fmt: skip
    samples = material.size.samples
    columns = [COLUMNS.index(f"{measure}@5") for measure in MEASURES]
    result.claim(
        "the walk with preferences ranks better than the preferences alone (paper: .676 against .509)",
        *(over(found, "walk, tf/df", "tf/df", samples, column) for column in columns),
    )
    result.claim(
        "the translation makes the walk better (paper: .703 against .676)",
        *(over(found, "both, tf/df", "walk, tf/df", samples, column) for column in columns),
    )
    result.own(
        "right links make the translation worth it: it is better than with shuffled links",
        over(found, "both, tf/df", "both, links shuffled", samples), required=False,
    )  # fmt: skip
    result.own(
        "frequency alone is no better preference than tf/df with shuffled links, which spread ranks by frequency",
        over(found, "both, links shuffled", "walk, tf", samples), required=False,
    )  # fmt: skip
    result.own(
        "the walk is no better than tf log idf, which the paper does not compare with",
        over(found, "tf log idf", "walk, tf/df", samples), required=False,
    )  # fmt: skip
    result.own(
        "the walk with tf log idf is better than tf log idf", over(found, "walk, tf log idf", "tf log idf", samples),
        required=False,
    )  # fmt: skip


def _talks(result: RecipeResult, material: Material) -> None:
    walk, samples = material.walk, material.size.samples
    for language in ("fr", "zh"):
        own = prepare(talks(material.options, language), novels(material.options, material.size.pieces))
        chosen = range(len(own.articles))
        found = {
            name: judged(own, chosen, scores)
            for name, scores in systems(own, walk, material.options.seed).items()
            if "entropy" not in name
        }
        if language == "fr" and find_spec("yake") is not None:
            found["YAKE"] = [_row(yake_words(each.text), each.keywords) for each in own.articles]
        elif "YAKE" in (kept := getattr(material, "yake", {})):
            found["YAKE"] = kept["YAKE"]
        material.yake = {"YAKE": found["YAKE"]} if "YAKE" in found else {}  # type: ignore[attr-defined]
        _table(
            result, f"TED, en-{language}: {len(own.articles)} talks", found, True,
            "With 25 talks a difference below .05 says nothing. Settings are those chosen on the manual.",
        )  # fmt: skip
        result.claim(
            "on talks, the walk with preferences ranks better than the preferences alone",
            over(found, "walk, tf/df", "tf/df", samples),
        )
        result.claim(
            "on talks, the translation makes the walk better", over(found, "both, tf/df", "walk, tf/df", samples)
        )
        if "YAKE" in found:
            result.own(
                "on talks, the walk with tf log idf and the translation is better than YAKE",
                over(found, "both, tf log idf", "YAKE", samples), required=False,
            )  # fmt: skip


def yake_words(text: str, most: int = 30) -> list[str]:
    """The stems of YAKE's single words."""
    import yake  # type: ignore[import-not-found, import-untyped, unused-ignore]

    from weft.lexical.stems import stem

    words = yake.KeywordExtractor(lan="en", n=1, top=most).extract_keywords(text.replace("\n", " "))
    return list(dict.fromkeys(stem(str(word).lower()) for word, _ in words))


def _alpha(result: RecipeResult, material: Material) -> None:
    own, (dev, test) = material.pages, material.split()
    points: dict[str, list[tuple[float, float]]] = {"test pages": [], "pages for settings": []}
    for alpha in ALPHAS:
        walk = replace(material.walk, alpha=alpha)
        for name, chosen in (("test pages", test), ("pages for settings", dev)):
            rows = judged(own, chosen, ranked(own, walk, alpha < 1))
            points[name].append((alpha, float(np.mean([row[0] for row in rows]))))
    result.curves.append(Curve("nDCG@5 by alpha, the share of the article", "alpha", "nDCG@5", points))
    best = max(points["test pages"], key=lambda point: point[1])[0]
    result.own(
        "the best alpha lies inside, not at the translation or the article alone",
        measured(float(ALPHAS[0] < best < ALPHAS[-1]), ">", 0, f"best at {best:g}"),
        required=False,
    )


def _simulation(result: RecipeResult, material: Material) -> None:
    size, seed = material.size, material.options.seed
    found: dict[str, list[list[float]]] = {}
    for k in range(size.simulated):
        for name, row in of_simulated(1000 * seed + k).items():
            found.setdefault(name, []).append(row)
    _table(
        result, f"Simulation: {size.simulated} articles with preferences known in part to each language", found, False,
        "Preferences are keyness with independent noise in both languages; damping .5, since the order of words says "
        "nothing, and links of 8.",
    )  # fmt: skip
    result.own("where both languages know something, the translation makes the walk better",
               over(found, "both", "walk", size.samples))  # fmt: skip
    result.own("there, right links are better than shuffled ones",
               over(found, "both", "both, links shuffled", size.samples))  # fmt: skip
    result.own("there, a translation with shuffled links is not better than none",
               over(found, "walk", "both, links shuffled", size.samples), required=False)  # fmt: skip


def of_simulated(seed: int) -> dict[str, list[float]]:
    """The columns of a simulated article."""
    own = simulated(seed)
    places = np.random.default_rng(seed).permutation([e for _, e in own.links]).tolist()
    dealt = [(c, e) for (c, _), e in zip(own.links, places, strict=True)]
    walk = Walk(damping=0.5, link=8.0)
    found = {
        "walk": rank(own.article, own.preferences, walk),
        "both": rank(own.article, own.preferences, walk, own.translation, own.theirs, own.links),
        "both, links shuffled": rank(own.article, own.preferences, walk, own.translation, own.theirs, dealt),
    }
    return {name: _row(listed(own.article, scores), own.keywords) for name, scores in found.items()}


def _speed(result: RecipeResult, material: Material) -> None:
    article, theirs, links = long_article(material.pages)
    walk, collection, other = material.walk, material.pages.collection, material.pages.other

    def once() -> None:
        rank(article, collection.preferences(article, "tfidf"), walk, theirs, other.preferences(theirs, "tfidf"), links)

    once()
    start = time.process_time()
    once()
    spent = time.process_time() - start
    table = Table("Ranking an article of 10,000 words with its translation", ["words", "links", "CPU s"],
                  digits={"words": 0, "links": 0, "CPU s": 3})  # fmt: skip
    table.add("graph and walk", {"words": len(article.tokens), "links": len(links), "CPU s": spent})
    result.tables.append(table)
    result.own("an article of 10,000 words takes at most {bar} CPU s", measured(spent, "<=", 0.5, digits=3))


def long_article(own: Prepared, words: int = 10_000) -> tuple[Article, Article, list[tuple[int, int]]]:
    """Pages one after the other until there are 10,000 words."""
    ours: list[list[str]] = []
    theirs: list[list[str]] = []
    links: list[tuple[int, int]] = []
    for k, each in enumerate(own.articles):
        before = sum(map(len, theirs)), sum(map(len, ours))
        links += [(c + before[0], e + before[1]) for c, e in own.links[k]]
        ours += each.segments
        theirs += each.other
        if sum(map(len, ours)) >= words:
            break
    return Article.of(ours, english=True), Article.of(theirs), links
