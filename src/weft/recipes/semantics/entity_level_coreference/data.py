"""Documents of the experiment: OntoGUM with the trees of English-GUM, and LitBank parsed by the English model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from weft.arrays import Floats
from weft.formats import read
from weft.formats.coref import read as read_columns
from weft.learn.generative.pair_clusters import PairClusters
from weft.recipes.framework import RecipeOptions
from weft.tasks.coreference.documents import Marked
from weft.tasks.coreference.mentions import PRONOUN, Trees, kind_of, trees_of
from weft.text.conventions.coreference import coreference_of, set_entities
from weft.text.doc import Doc

ONTOGUM = "coref/ontogum/{}.conll.gz"
GUM = "treebanks/ud/English-GUM/{}.conllu.gz"
LITBANK = "coref/litbank/all.conll.gz"
NOVELS = "raw/litbank-novels.txt.tar.gz"
NAMES = {"fem": "lexicons/names/female.txt", "masc": "lexicons/names/male.txt"}
#: Where texts of GUM come from that are CC BY: Wikinews, OpenStax, PLOS and MDPI.
OPEN_SOURCES = ("en.wikinews.org", "openstax.org", "journals.plos.org", "www.mdpi.com")


def ontogum(options: RecipeOptions, part: str) -> list[Doc]:
    """The documents of a part that have trees, with mentions and entities; the second of two equal spans is dropped."""
    trees = {doc.id: doc for doc in read(options.find(GUM.format(part)))}
    found = []
    for columns in read_columns(str(options.find(ONTOGUM.format(part)))):
        doc = trees.get(columns.id)
        marks = coreference_of(columns)
        if doc is None or marks is None or doc.n_words != columns.n_words:
            continue
        spans: dict[tuple[int, int], int] = {}
        for number, row in enumerate(marks[0]):
            spans.setdefault(row.pieces[0], int(marks[1].cluster[number]))
        set_entities(doc, list(spans), list(spans.values()))
        found.append(doc)
    return found


def is_open(doc: Doc) -> bool:
    """Whether a document of GUM may be passed on inside a model under CC BY, by where its text comes from."""
    source = next((line for lines in doc.comments for line in lines if line.startswith("# meta::sourceURL")), "")
    return source.partition("//")[2].partition("/")[0] in OPEN_SOURCES


def litbank(options: RecipeOptions) -> list[Doc]:
    """The beginnings of 100 novels with mentions and entities, single ones included, in the order of their names."""
    return sorted(read_columns(str(options.find(LITBANK))), key=lambda doc: doc.id)


def parsed(docs: Sequence[Doc], nlp: Any) -> list[Doc]:
    """The same words, annotated by a model; mentions, entities and comments are kept."""
    result = []
    for doc in docs:
        forms = doc.column("form")
        rows = [forms[first:end] for first, end in pairwise(doc.sentence_offsets.tolist())]
        new = Doc.from_words(rows)
        new.meta, new.comments = dict(doc.meta), list(doc.comments)
        result.append(new)
    for component in nlp.components:
        if component.task != "segmenter":
            component(result)
    for doc, new in zip(docs, result, strict=True):
        new.spans["coref"], new.clusters["coref"] = doc.spans["coref"], doc.clusters["coref"]
    return result


def first_names(options: RecipeOptions) -> dict[str, str]:
    """First names in lower case with their gender; names of both lists say nothing."""
    found: dict[str, str] = {}
    for gender, path in NAMES.items():
        for line in options.find(path).read_text(encoding="utf-8").splitlines():
            name = line.strip().lower()
            if name and not name.startswith("#"):
                found[name] = gender if found.get(name, gender) == gender else "both"
    return found


def role_pairs(docs: Sequence[Doc], passive: bool = False, pronouns: bool = True) -> Counter[tuple[str, str]]:
    """Nouns with their relation to what governs them; with `passive`, subjects of passives count as objects."""
    pairs: Counter[tuple[str, str]] = Counter()
    for doc in docs:
        forms, roles = doc.column("form"), roles_of(doc, trees_of(doc), passive)
        for word, tag in enumerate(doc.column("upos")):
            if roles[word] and (tag in ("NOUN", "PROPN") or (pronouns and tag == "PRON")):
                pairs[forms[word].lower(), roles[word]] += 1
    return pairs


def roles_of(doc: Doc, trees: Trees, passive: bool) -> list[str]:
    """Every word's relation with the lemma of its governor, "" for roots; only verbs govern if `passive`."""
    tags, relations = doc.column("upos"), doc.column("deprel")
    lemmas = [lemma or form.lower() for lemma, form in zip(doc.column("lemma"), doc.column("form"), strict=True)]
    roles = []
    for relation, governor in zip(relations, trees.governor.tolist(), strict=True):
        if governor < 0 or (passive and tags[governor] != "VERB"):
            roles.append("")
            continue
        plain = "obj" if passive and relation.startswith("nsubj:pass") else relation.partition(":")[0]
        roles.append(f"{plain} {lemmas[governor]}")
    return roles


def cluster_priors(each: Marked, models: Sequence[tuple[PairClusters, bool]]) -> list[Floats]:
    """The posteriors of the classes of a document's mentions, one matrix per clustering; pronouns have their role."""
    forms, tags = each.doc.column("form"), each.doc.column("upos")
    result = []
    for model, passive in models:
        roles, rows = roles_of(each.doc, each.trees, passive), []
        for mention in each.mentions:
            noun = "" if kind_of(tags[mention.head]) == PRONOUN else forms[mention.head].lower()
            rows.append(model.posterior(noun, roles[mention.head]))
        result.append(np.maximum(np.array(rows).reshape(len(rows), -1), 1e-6))
    return [own / own.sum(axis=1, keepdims=True) for own in result]


def noisy_priors(each: Marked, seed: int, properties: int = 3, values: int = 5) -> list[Floats]:
    """The noisy oracle: every entity has a true value per property, every mention a draw around it.

    The draw is from a Dirichlet distribution with 3.5 at the true value and 1 elsewhere, whose mode is wrong for a
    quarter of the mentions. Mentions without an entity have a value of their own.
    """
    draw = np.random.default_rng([seed, sum(map(ord, each.doc.id)), len(each.mentions)])
    result = []
    for _ in range(properties):
        true = {entity: int(draw.integers(values)) for entity in sorted(set(each.entity.tolist()))}
        rows = []
        for entity in each.entity.tolist():
            value = true[entity] if entity >= 0 else int(draw.integers(values))
            alpha = np.ones(values)
            alpha[value] = 3.5
            rows.append(draw.dirichlet(alpha))
        result.append(np.array(rows).reshape(len(rows), values))
    return result
