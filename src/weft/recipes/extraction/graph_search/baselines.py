"""Two baselines for OVERNIGHT that know nothing of meanings: string similarity, and a classifier of known forms."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from weft.recipes.extraction.graph_search.overnight import Question


def nearest_canonical(known: Sequence[Question], test: Sequence[Question], k: int = 5) -> list[list[str]]:
    """The forms whose canonical sentences are most similar, by tf-idf over words, pairs of words and letters."""
    from scipy import sparse
    from sklearn.feature_extraction.text import TfidfVectorizer

    forms = list(dict.fromkeys(each.form for each in known))
    sentences = {each.form: each.canonical for each in known}
    texts = [sentences[form] for form in forms]
    parts = []
    for vectorizer in (TfidfVectorizer(ngram_range=(1, 2)), TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4))):
        own = vectorizer.fit_transform(texts)
        parts.append((own, vectorizer.transform([each.text for each in test])))
    canonical, typed = (sparse.hstack([part[side] for part in parts]).tocsr() for side in (0, 1))
    scores = (typed @ canonical.T).toarray()
    return [[forms[place] for place in np.argsort(-row, kind="stable")[:k]] for row in scores]


def svm_meanings(train: Sequence[Question], test: Sequence[Question], k: int = 5) -> list[list[str]]:
    """The forms that a linear classifier of those in training gives, by words and pairs of words."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.svm import LinearSVC

    vectorizer = TfidfVectorizer(ngram_range=(1, 2))
    # Most forms have few paraphrases, which scikit-learn warns of.
    warnings.filterwarnings("ignore", message="The number of unique classes", category=UserWarning)
    model = LinearSVC().fit(vectorizer.fit_transform([each.text for each in train]), [each.form for each in train])
    scores = np.atleast_2d(model.decision_function(vectorizer.transform([each.text for each in test])))
    return [[str(model.classes_[place]) for place in np.argsort(-row, kind="stable")[:k]] for row in scores]
