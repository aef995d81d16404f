"""Documents for taggers and lemmatizers: sentences made by rule, and slices of a treebank.

Tests of this folder also share `small_treebank`.
"""

from itertools import pairwise

import numpy as np
import pytest

from weft import data
from weft.formats import read
from weft.text import Doc

NOUNS = ["dog", "cat", "bird", "horse", "farmer", "girl", "king", "teacher"]
VERBS = ["see", "hear", "follow", "help", "want", "need"]


def sentence(rng):
    """The DET NOUN(s) VERB(s) DET NOUN(s): the verb agrees with its subject."""
    rows = []
    plural = rng.random() < 0.5
    for place in range(2):
        many = plural if place == 0 else rng.random() < 0.5
        rows.append(("the", "the", "DET", "DT", "Definite=Def|PronType=Art"))
        noun = rng.choice(NOUNS)
        form = noun + "s" if many else noun
        number = "Plur" if many else "Sing"
        rows.append((str(form), str(noun), "NOUN", "NNS" if many else "NN", f"Number={number}"))
        if place == 0:
            verb = str(rng.choice(VERBS))
            if plural:
                rows.append((verb, verb, "VERB", "VBP", "Number=Plur|Tense=Pres"))
            else:
                rows.append((verb + "s", verb, "VERB", "VBZ", "Number=Sing|Tense=Pres"))
    rows[0] = ("The", *rows[0][1:])
    return rows


def make_document(n, seed=0, columns=("upos", "xpos", "feats")):
    rng = np.random.default_rng(seed)
    sentences = [sentence(rng) for _ in range(n)]
    values = {"lemma": 1, "upos": 2, "xpos": 3, "feats": 4}
    chosen = {name: [[row[values[name]] for row in rows] for rows in sentences] for name in columns}
    return Doc.from_words([[row[0] for row in rows] for rows in sentences], **chosen)


def without_annotation(doc):
    forms, bounds = doc.column("form"), doc.sentence_offsets.tolist()
    return Doc.from_words([forms[a:b] for a, b in pairwise(bounds)])


def slice_of_treebank(name, words):
    """Documents of a file of English-EWT up to about so many words."""
    path = f"treebanks/ud/English-EWT/{name}.conllu.gz"
    if not data.have(path):
        pytest.skip(f"no {path} in the data folder")
    docs, size = [], 0
    for doc in read(data.find(path)):
        docs.append(doc)
        size += doc.n_words
        if size >= words:
            break
    return docs


@pytest.fixture(scope="session")
def document():
    return make_document


@pytest.fixture(scope="session")
def bare():
    return without_annotation


@pytest.fixture(scope="session")
def treebank():
    return slice_of_treebank
