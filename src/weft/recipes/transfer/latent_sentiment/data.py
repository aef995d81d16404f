"""Reviews for the sentiment experiments: labelled sentences, reviews with stars.

The rated reviews include none with three stars. Neutral documents are built from them: the first half of a positive and
the second half of a negative review in one domain (or the other way round), half of the sentences each.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from weft.formats.reviews import Review, read_reviews, without_duplicates
from weft.learn.chains.document_model import DocumentBatch, DocumentModel
from weft.learn.chains.document_sgd import DocumentSGD
from weft.learn.chains.model import FeatureRows
from weft.lexical.polarity_lexicon import PolarityLexicon
from weft.recipes.framework import RecipeOptions
from weft.tasks.sentiment.features import SentenceFeatures
from weft.text.conventions.polarity import POLARITIES, document_polarity, set_polarities
from weft.text.doc import Doc
from weft.text.split import split_by_rule

FINE = "sentiment/tackstrom-finegrained/finegrained.txt"
#: Rates and epochs, chosen by cross-validation within the training documents of the first fold.
FINE_RATE, FINE_EPOCHS = 0.003, 30
COARSE_RATE, COARSE_EPOCHS = 0.01, 10
INTERPOLATED_RATE = 0.001
DOMAINS = ("books", "dvd", "electronics", "kitchen")
POSITIVE, NEGATIVE = (f"sentiment/opinion_lexicon/{sign}-words.txt" for sign in ("positive", "negative"))
VALENCE = "lexicons/vader/vader_lexicon.txt"


def lexicon(options: RecipeOptions) -> PolarityLexicon:
    """The opinion lexicon, and VADER for words without a sign in it."""
    lists = PolarityLexicon.read([options.find(POSITIVE)], [options.find(NEGATIVE)], encoding="latin-1")
    return PolarityLexicon(PolarityLexicon.read(scored=[options.find(VALENCE)]).signs | lists.signs)


def labelled(options: RecipeOptions) -> list[Doc]:
    """The reviews with labelled sentences."""
    return [review.doc() for review in read_reviews(options.find(FINE))]


def rated(options: RecipeOptions, count: int | None = None, seed: int = 0) -> list[Doc]:
    """Rated reviews in four domains without duplicate texts, shuffled; equally many per domain and polarity."""
    groups: dict[tuple[str, str], list[Review]] = {}
    for domain in DOMAINS:
        for review in without_duplicates(read_reviews(options.find(f"sentiment/blitzer-raw/{domain}.tsv"))):
            groups.setdefault((domain, review.polarity), []).append(review)
    rng = np.random.default_rng(seed)
    each = None if count is None else -(-count // len(groups))
    chosen = [group[i] for group in groups.values() for i in rng.permutation(len(group))[:each].tolist()]
    docs = [chosen[i].doc() for i in rng.permutation(len(chosen)).tolist()]
    for doc in docs:
        split_by_rule(doc)
    return [doc for doc in docs if doc.n_sentences][:count]


def neutral(docs: Sequence[Doc], count: int | None = None, seed: int = 0) -> list[Doc]:
    """Neutral documents built from halves of one positive and one negative review in the same domain."""
    rng = np.random.default_rng(seed)
    pairs: list[tuple[Doc, Doc]] = []
    for domain in DOMAINS:
        sides = [[d for d in docs if d.meta["domain"] == domain and d.meta["sentiment"] == p] for p in ("pos", "neg")]
        size = min(map(len, sides))
        orders = [rng.permutation(len(side))[:size].tolist() for side in sides]
        pairs += [(sides[0][i], sides[1][j]) for i, j in zip(*orders, strict=True)]
    made = []
    for number in rng.permutation(len(pairs)).tolist()[:count]:
        one, two = pairs[number] if rng.random() < 0.5 else pairs[number][::-1]
        made.append(_halves(one, two))
    return made


def _halves(one: Doc, two: Doc) -> Doc:
    """The first half of one document and the second half of another."""
    forms = [[word.form for word in sentence] for sentence in one.sentences[: -(-one.n_sentences // 2)]]
    forms += [[word.form for word in sentence] for sentence in two.sentences[two.n_sentences // 2 :]]
    doc = Doc.from_words(forms)
    doc.meta.update({"domain": one.meta["domain"], "constructed": True})
    set_polarities(doc, [""] * len(forms), "neu")
    return doc


def folds(docs: Sequence[Doc], count: int = 5, seed: int = 0) -> list[NDArray[np.int64]]:
    """Test documents of a cross-validation; each fold has the same fraction of every polarity."""
    rng = np.random.default_rng(seed)
    fold = np.empty(len(docs), dtype=np.int64)
    at = 0
    for name in POLARITIES:
        own = rng.permutation([i for i, doc in enumerate(docs) if doc.meta["sentiment"] == name])
        fold[own] = (np.arange(len(own)) + at) % count
        at += len(own)
    return [np.flatnonzero(fold == k) for k in range(count)]


def stratified(docs: Sequence[Doc], count: int, seed: int = 0) -> list[Doc]:
    """A sample with equally many documents per polarity, nested: smaller samples are subsets of larger ones."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(docs)).tolist()
    queues = [[docs[i] for i in order if docs[i].meta["sentiment"] == name] for name in POLARITIES]
    turns = [queue[i] for i in range(max(map(len, queues))) for queue in queues if i < len(queue)]
    return turns[:count]


def document_classifier(
    rated: Sequence[Doc], lexicon: PolarityLexicon, seed: int, test: Sequence[Doc]
) -> list[list[str]]:
    """Sentence polarities by a document classifier: each document is treated as one long sentence in training."""
    features = SentenceFeatures(lexicon)
    features.learn(rated)
    rows = features.rows(rated)
    ends = np.concatenate([[0], np.cumsum([doc.n_sentences for doc in rated])])
    whole = FeatureRows(rows.rows, rows.offsets[ends], rows.values)
    labels = np.array([POLARITIES.index(document_polarity(doc)) for doc in rated], dtype=np.int32)
    model = DocumentModel(len(features), agreement=False, document_transitions=False)
    batch = DocumentBatch.of(np.arange(len(rated) + 1), whole, labels, labels)
    weights = DocumentSGD(1.0, epochs=5, rate=COARSE_RATE, seed=seed).fit(model, batch).weights
    seen = features.rows(test)
    n = len(seen.offsets) - 1
    unknown = np.full(n, -1, dtype=np.int32)
    single = DocumentBatch.of(np.arange(n + 1), seen, unknown, unknown)
    best = model.score(single, weights).marginals().sentence.argmax(axis=1)
    names = iter([POLARITIES[label] for label in best.tolist()])
    return [[next(names) for _ in range(doc.n_sentences)] for doc in test]
