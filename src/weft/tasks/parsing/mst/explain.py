"""Why a graph-based parser attached a word: the templates of all parts of its tree, against the next best tree.

    score(y) - score(y') = sum over templates t of  score_t(y) - score_t(y')

where y' is the best tree in which the word has another head. The model is linear and every template has features of its
own, so that the scores of single templates add up to those of trees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from weft.arrays import Heads
from weft.errors import InferenceError
from weft.features.tree_templates import single_programs
from weft.infer.trees.arcs import ArcSpace, TreeParts
from weft.learn.trees.model import TreeBatch, TreeModel
from weft.pipeline.explanation import Explanation, Reason
from weft.text.doc import Doc
from weft.text.views import Sentence

if TYPE_CHECKING:
    from weft.tasks.parsing.mst.parser import MSTParser


def explain_head(parser: MSTParser, model: TreeModel, doc: Doc, word: int) -> Explanation:
    """Explain the head of a word; its relation, which is labelled afterwards, is only named.

    >>> from weft.tasks.parsing.mst.parser import MSTParser, MSTSettings
    >>> train = Doc.from_words([["dogs", "bark"], ["cats", "sleep"]], upos=[["NOUN", "VERB"]] * 2, head=[[2, 0]] * 2,
    ...                    deprel=[["nsubj", "root"]] * 2)
    >>> parser = MSTParser(MSTSettings(system="mst1", epochs=2, bits=16, threshold=0.0))
    >>> report = parser.fit([train])
    >>> new = Doc.from_words([["birds", "sing"]], upos=[["NOUN", "VERB"]])
    >>> found = explain_head(parser, parser.model, new, 0)
    >>> found.decision, found.runner_up, found.margin > 0
    ('nsubj of sing', 'head ROOT', True)
    """
    sentence = doc[word].sentence
    alone = doc.subset([sentence.index])
    parser([alone], probabilities=parser.settings.sums)
    node, (parsed,) = word - sentence.first + 1, alone.sentences
    found = parsed[node - 1]
    head = 0 if found.head is None else found.head.number
    relation = found.deprel or "attached"
    decision = relation if head == 0 else f"{relation} of {_form(parsed, head)}"
    p = float(alone.confidence["head"][node - 1]) if "head" in alone.confidence else None
    ((batch, space),) = parser.searches(parser.batch_of([alone]))
    trees = model.trees(space, batch.words, parser.weights, batch.arc_marks)
    best: Heads = trees.best()
    try:
        other: Heads = trees.restrict((space.modifier != node) | (space.head != head)).best()
    except InferenceError:
        return Explanation.of(parser.task, word, doc[word].form, decision, "", [], p)
    one, two = (model.features_of(space, trees.parts(heads)) for heads in (best, other))
    reasons = _reasons(parser, model, batch, space, one, two)
    second = f"head {_form(parsed, int(other[node - 1]))}"
    return Explanation.of(parser.task, word, doc[word].form, decision, second, reasons, p)


def _reasons(
    parser: MSTParser, model: TreeModel, batch: TreeBatch, space: ArcSpace, one: TreeParts, two: TreeParts
) -> list[Reason]:
    """What every template adds to the parts that only one of two trees has."""
    shared = one.with_arrays(map(np.minimum, one.arrays, two.arrays))
    one, two = one - shared, two - shared
    reasons = []
    for block, name, program in single_programs(parser.templates, list(parser.settings.fields)):
        alone = TreeModel(program, model.order, model.shape, model.single_root, model.bits)
        scores = alone.scores(space, batch.words, parser.weights, batch.arc_marks)
        reasons.append(Reason(name, block, scores.inner(one), scores.inner(two)))
    return reasons


def _form(sentence: Sentence, node: int) -> str:
    return "ROOT" if node == 0 else sentence[node - 1].form
