"""UD metrics against tables worked out by hand, and against a naive twin on random documents."""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import WeftError
from weft.evaluate import Score, evaluate_ud
from weft.evaluate.trees.tokenizations import Words, align_words, longest_common_subsequence
from weft.evaluate.trees.ud import CONTENT_RELATIONS, FUNCTION_RELATIONS, METRICS, UNIVERSAL_FEATURES
from weft.text import Doc, Multiword


def document(rows: str, text: str = "") -> Doc:
    """A document written as lines `form lemma upos feats head deprel`, `N-M form` for multiword tokens, blank lines
    between sentences; `_` stands for nothing."""
    doc, spans, words, tokens, offsets = Doc(), [], [], [], [0]
    open_words = 0
    for line in rows.strip("\n").split("\n"):
        fields = line.split()
        if not fields:
            offsets.append(len(words))
        elif "-" in fields[0] and fields[0][0].isdigit():
            first, last = map(int, fields[0].split("-"))
            open_words = last - first + 1
            tokens.append(fields[1])
            doc.multiwords.append(Multiword(len(words), len(words) + open_words, (fields[1], *[""] * 8)))
        else:
            if open_words:
                open_words -= 1
            else:
                tokens.append(fields[0])
            words.append(["" if field == "_" else field for field in fields])
            spans.append(len(tokens) - 1)
    doc.set_tokens(tokens, [True] * len(tokens))
    doc.word_token = np.array(spans, dtype=np.int32)
    doc.columns = {}
    for number, name in ((0, "form"), (1, "lemma"), (2, "upos"), (3, "feats"), (5, "deprel")):
        doc.columns[name] = doc.strings.ids([word[number] for word in words])
    doc.head = np.array([int(word[4]) for word in words], dtype=np.int32)
    doc.set_sentences([*offsets, len(words)])
    return doc


GOLD = """
the the DET Definite=Def 2 det
cats cat NOUN Number=Plur 3 nsubj
slept sleep VERB Tense=Past|Style=Coll 0 root
on on ADP _ 6 case
a a DET _ 6 det
mat mat NOUN Number=Sing 3 obl:place
. . PUNCT _ 3 punct
"""


def counts(score: Score) -> tuple[int | None, ...]:
    return (score.gold, score.system, score.correct, score.aligned)


def test_a_perfect_copy_scores_one_everywhere() -> None:
    scores = evaluate_ud(document(GOLD), document(GOLD)).scores
    assert tuple(scores) == METRICS
    assert all(score.f1 == score.precision == score.recall == 1.0 for score in scores.values())


def test_wrong_tags_trees_and_lemmas_give_the_table_worked_by_hand() -> None:
    system = """
    the the DET Definite=Def|Style=Form 2 det
    cats cats NOUN Number=Plur 3 nsubj:pass
    slept sleep VERB Tense=Past 0 root
    on on SCONJ _ 6 case
    a a DET _ 6 det
    mat mat NOUN Number=Sing 2 nmod
    . . PUNCT Foreign=Yes 2 punct
    """
    scores = evaluate_ud(document(GOLD), document(system)).scores
    assert counts(scores["Tokens"]) == (7, 7, 7, None)
    assert counts(scores["Sentences"]) == (1, 1, 1, None)
    assert counts(scores["Words"]) == (7, 7, 7, None)
    assert counts(scores["UPOS"]) == (7, 7, 6, 7)  # on
    assert counts(scores["XPOS"]) == (7, 7, 7, 7)  # nothing on both sides is equal
    assert counts(scores["UFeats"]) == (7, 7, 6, 7)  # Style is not universal, Foreign is
    assert counts(scores["AllTags"]) == (7, 7, 5, 7)
    assert counts(scores["Lemmas"]) == (7, 7, 6, 7)  # cats
    assert counts(scores["UAS"]) == (7, 7, 5, 7)  # mat and . hang on cats
    assert counts(scores["LAS"]) == (7, 7, 5, 7)  # nsubj:pass counts as nsubj
    # Content words: cats, slept, mat in gold (nsubj root obl); nsubj root nmod in the system.
    assert counts(scores["CLAS"]) == (3, 3, 2, 3)
    assert counts(scores["MLAS"]) == (3, 3, 2, 3)
    assert counts(scores["BLEX"]) == (3, 3, 1, 3)  # cats has the wrong lemma


def test_mlas_needs_the_function_words_too() -> None:
    right_tree = GOLD.replace("a a DET", "a a PRON")  # the determiner of mat has another tag
    assert counts(evaluate_ud(document(GOLD), document(right_tree)).scores["MLAS"]) == (3, 3, 2, 3)
    # A function word of one's own: . becomes a marker of slept.
    more = GOLD.replace("3 punct", "3 mark")
    scores = evaluate_ud(document(GOLD), document(more)).scores
    assert counts(scores["CLAS"]) == (3, 3, 3, 3)
    assert counts(scores["MLAS"]) == (3, 3, 2, 3)


def test_a_gold_lemma_that_is_not_set_accepts_any_lemma() -> None:
    gold = document("cat _ NOUN _ 0 root\nsat sit VERB _ 1 acl")
    system = document("cat dog NOUN _ 0 root\nsat _ VERB _ 1 acl")
    scores = evaluate_ud(gold, system).scores
    assert scores["Lemmas"].correct == 1
    assert scores["BLEX"].correct == 1


def test_other_tokens_are_aligned_by_their_characters() -> None:
    gold = document("can can AUX _ 3 aux\nnot not PART _ 3 advmod\ngo go VERB _ 0 root\n! ! PUNCT _ 3 punct")
    system = document("cannot can AUX _ 2 aux\ngo go VERB _ 0 root\n! ! PUNCT _ 2 punct")
    scores = evaluate_ud(gold, system).scores
    assert counts(scores["Tokens"]) == (4, 3, 2, None)
    assert counts(scores["Words"]) == (4, 3, 2, None)
    assert counts(scores["UPOS"]) == (4, 3, 2, 2)
    assert counts(scores["LAS"]) == (4, 3, 2, 2)
    assert scores["LAS"].precision == 2 / 3
    assert scores["LAS"].recall == 0.5
    assert scores["LAS"].aligned_accuracy == 1.0
    assert counts(scores["CLAS"]) == (2, 1, 1, 1)
    # The head of `go` is right, but the gold standard hangs `can` on it and the system something else.
    assert counts(scores["MLAS"]) == (2, 1, 0, 1)


def test_sentence_boundaries_count_first_and_last_character() -> None:
    gold = document("a _ X _ 0 root\nb _ X _ 1 dep\n\nc _ X _ 0 root\nd _ X _ 1 dep")
    joined = document("a _ X _ 0 root\nb _ X _ 1 dep\nc _ X _ 1 dep\nd _ X _ 3 dep")
    three = document("a _ X _ 0 root\nb _ X _ 1 dep\n\nc _ X _ 0 root\n\nd _ X _ 0 root")
    assert counts(evaluate_ud(gold, joined).scores["Sentences"]) == (2, 1, 0, None)
    assert counts(evaluate_ud(gold, joined).scores["UAS"]) == (4, 4, 3, 4)
    report = evaluate_ud(gold, three)
    assert counts(report.scores["Sentences"]) == (2, 3, 1, None)
    assert report.counts["Sentences"].system.tolist() == [1, 2]  # items count where they begin in the gold standard
    assert report.counts["UAS"].correct.tolist() == [2, 1]


def test_multiword_tokens_that_are_split_differently() -> None:
    gold = document("1-2 dámelo\nda dar VERB _ 0 root\nme yo PRON _ 1 iobj\nlo él PRON _ 1 obj".replace("1-2", "1-3"))
    whole = document("dámelo dar VERB _ 0 root")
    other = document("1-2 dámelo\nDA dar VERB _ 0 root\nmelo él PRON _ 1 obj")
    assert counts(evaluate_ud(gold, whole).scores["Words"]) == (3, 1, 0, None)
    assert counts(evaluate_ud(gold, whole).scores["Tokens"]) == (1, 1, 1, None)
    scores = evaluate_ud(gold, other).scores
    assert counts(scores["Words"]) == (3, 2, 1, None)  # da and DA
    assert counts(scores["LAS"]) == (3, 2, 1, 1)
    assert counts(scores["CLAS"]) == (3, 2, 1, 1)


def test_a_multiword_token_against_plain_tokens() -> None:
    gold = document("1-2 vámonos\nvamos ir VERB _ 0 root\nnos yo PRON _ 1 obj\nal al X _ 1 dep\nmar mar NOUN _ 1 obl")
    system = document("vámo ir VERB _ 0 root\nnos yo PRON _ 1 obj\n3-4 al\na a ADP _ 5 case\nel el DET _ 5 det\n"
                      "mar mar NOUN _ 1 obl")  # fmt: skip
    scores = evaluate_ud(gold, system).scores
    assert counts(scores["Tokens"]) == (3, 4, 2, None)
    assert counts(scores["Words"]) == (4, 5, 2, None)  # nos, mar
    # Both hang on a word that is aligned with nothing.
    assert counts(scores["UAS"]) == (4, 5, 0, 2)


@pytest.mark.parametrize(
    ("gold", "system", "pairs"),
    [
        # places and forms; "*" marks words of a multiword token
        ("0-2*a 0-2*b 2-3c", "0-1a 1-2b 2-3c", [(0, 0), (1, 1), (2, 2)]),
        ("0-2*a 0-2*b 2-3c", "0-2ab 2-3c", [(2, 1)]),
        ("0-2*a 0-2*b 2-4*a 2-4*b", "0-2*b 0-2*a 2-4*a 2-4*b", [(1, 0), (2, 2), (3, 3)]),  # neighbours stay apart
        ("0-2*a 0-2*b 2-3c", "0-1a 1-3*b 1-3*c", [(0, 0), (1, 1), (2, 2)]),  # overlapping ones make one region
        ("0-1a 1-3*b 1-3*c", "0-2ab 2-3c", [(2, 1)]),  # `ab` sticks out and is left out
        ("0-2*a 0-2*b 0-2*a", "0-2*a 0-2*a", [(0, 0), (2, 1)]),
        ("0-1a 1-2b", "0-2ab", []),
        ("", "", []),
    ],
)
def test_alignment_of_multiword_tokens(gold: str, system: str, pairs: list[tuple[int, int]]) -> None:
    def words(spec: str) -> Words:
        parts = [part.replace("*", "") for part in spec.split()]
        places = [part.rstrip("abc").split("-") for part in parts]
        forms = [part.lstrip("0123456789-") for part in parts]
        return Words.of(
            [int(start) for start, _ in places],
            [int(end) for _, end in places],
            ["*" in p for p in spec.split()],
            forms,
        )

    found = align_words(words(gold), words(system))
    assert list(zip(found[0].tolist(), found[1].tolist(), strict=True)) == pairs


@given(st.text("abc", max_size=7), st.text("abc", max_size=7))
@settings(max_examples=150, deadline=None)
def test_the_common_subsequence_is_a_longest_one(one: str, other: str) -> None:
    pairs = longest_common_subsequence(list(one), list(other))
    assert all(one[i] == other[j] for i, j in pairs)
    assert all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(pairs))
    subsequences = [{""}, {""}]
    for found, string in zip(subsequences, (one, other), strict=True):
        for letter in string:
            found |= {known + letter for known in found}
    assert len(pairs) == max(map(len, subsequences[0] & subsequences[1]))


@st.composite
def annotated(draw: st.DrawFn, text: str) -> Doc:
    cuts = sorted(draw(st.sets(st.integers(1, len(text) - 1))))
    bounds = [0, *cuts, len(text)]
    forms = [text[a:b] for a, b in pairwise(bounds)]
    breaks = sorted(draw(st.sets(st.integers(1, len(forms))))) if len(forms) > 1 else []
    offsets = sorted({0, *breaks, len(forms)})
    sentences = [forms[a:b] for a, b in pairwise(offsets)]

    def column(values: list[str]) -> list[list[str]]:
        return [[draw(st.sampled_from(values)) for _ in sentence] for sentence in sentences]

    heads = [[draw(st.integers(0, len(sentence))) for _ in sentence] for sentence in sentences]
    return Doc.from_words(
        sentences, [[False] * len(s) for s in sentences], upos=column(["N", "V"]), xpos=column(["", "x"]), head=heads,
        feats=column(["", "Case=Nom", "Case=Nom|X=1"]), lemma=column(["", "a", "b"]),
        deprel=column(["obj", "obj:x", "det", "case", "punct"]),
    )  # fmt: skip


@given(st.text("ab", min_size=2, max_size=10).flatmap(lambda text: st.tuples(annotated(text), annotated(text))))
@settings(max_examples=150, deadline=None)
def test_scores_equal_a_naive_twin_that_follows_the_definition_word_by_word(docs: tuple[Doc, Doc]) -> None:
    gold, system = docs
    places = [{(word.start, word.end): word for word in doc.words} for doc in docs]
    aligned = [(places[0][place], places[1][place]) for place in sorted(places[0].keys() & places[1].keys())]
    ours = {theirs.index: mine for mine, theirs in aligned}

    def key(word, metric, mapped, lemma_unset):  # type: ignore[no-untyped-def]
        head = "root" if word.head is None else mapped(word.head)
        feats = sorted(item for item in word.feats.items() if item[0] in UNIVERSAL_FEATURES)
        lemma = "_" if lemma_unset else word.lemma
        relation = word.deprel.split(":")[0]
        children = [
            (mapped(child), child.deprel.split(":")[0], child.upos, sorted(child.feats.items() & {("Case", "Nom")}))
            for child in word.children if child.deprel.split(":")[0] in FUNCTION_RELATIONS
        ]  # fmt: skip
        return {
            "UPOS": word.upos, "XPOS": word.xpos, "UFeats": feats, "AllTags": (word.upos, word.xpos, feats),
            "Lemmas": lemma, "UAS": head, "LAS": (head, relation), "CLAS": (head, relation),
            "MLAS": (head, relation, word.upos, feats, children), "BLEX": (head, relation, lemma),
        }[metric]  # fmt: skip

    report = evaluate_ud(gold, system)
    for metric, score in report.scores.items():
        if metric in ("Tokens", "Words", "Sentences"):
            continue
        kept = [[w for w in doc.words if metric not in ("CLAS", "MLAS", "BLEX")
                 or w.deprel.split(":")[0] in CONTENT_RELATIONS] for doc in docs]  # fmt: skip
        chosen = [(mine, theirs) for mine, theirs in aligned if mine in kept[0]]
        correct = sum(
            key(mine, metric, lambda w: w.index, not mine.lemma)
            == key(theirs, metric, lambda w: ours[w.index].index if w.index in ours else None, not mine.lemma)
            for mine, theirs in chosen
        )
        assert counts(score) == (len(kept[0]), len(kept[1]), correct, len(chosen)), metric
        assert report.right[metric].sum() == correct
        assert len(report.counts[metric]) == gold.n_sentences


def test_document_boundaries_do_not_matter() -> None:
    parts = [document("a _ X _ 0 root\nb _ X _ 1 dep"), document("c _ X _ 0 root\nd _ X _ 1 obj")]
    joined = document("a _ X _ 0 root\nb _ X _ 1 dep\n\nc _ X _ 0 root\nd _ X _ 1 obj")
    assert all(score.f1 == 1.0 for score in evaluate_ud(parts, joined).scores.values())
    assert all(score.f1 == 1.0 for score in evaluate_ud(joined, parts).scores.values())


def test_blanks_inside_words_do_not_matter() -> None:
    gold = Doc.from_words([["10 000", "cats"]])
    system = Doc.from_words([["10", "000", "cats"]])
    assert counts(evaluate_ud(gold, system).scores["Words"]) == (2, 3, 1, None)


def test_trees_are_scored_only_where_the_gold_standard_has_heads() -> None:
    doc = Doc.from_words([["a", "b"]], upos=[["X", "Y"]])
    assert "LAS" not in evaluate_ud(doc, doc).scores
    system = Doc.from_words([["a", "b"]])
    gold = Doc.from_words([["a", "b"]], head=[[0, 1]], deprel=[["root", "obj"]])
    assert evaluate_ud(gold, system).scores["UAS"].correct == 0


def test_other_texts_are_refused_with_the_place_where_they_differ() -> None:
    with pytest.raises(WeftError, match=r"differ at character 7.*gold has 'Dogsba>rk', system has 'Dogsba>ke'"):
        evaluate_ud(Doc.from_words([["Dogs", "bark"]]), Doc.from_words([["Dogs", "bake"]]))
    with pytest.raises(WeftError, match="differ at character 5"):
        evaluate_ud(Doc.from_words([["Dogs"]]), Doc.from_words([["Dogs", "bark"]]))


def test_a_head_outside_the_sentence_is_refused() -> None:
    with pytest.raises(WeftError, match=r"word 2 \('b'\) of sentence 1 .* has head 3, but the sentence has 2 words"):
        evaluate_ud(*[Doc.from_words([["a", "b"]], head=[[0, 3]])] * 2)


def test_the_table_looks_like_that_of_the_shared_task() -> None:
    lines = str(evaluate_ud(document(GOLD), document(GOLD))).splitlines()
    assert lines[0] == "Metric     | Precision |    Recall |  F1 Score | AligndAcc"
    assert lines[4] == "UPOS       |    100.00 |    100.00 |    100.00 |    100.00"
    assert len(lines) == 1 + len(METRICS)


def many_sentences(times: int) -> tuple[Doc, Doc]:
    """A sentence so many times over, and the same with one wrong head in each."""
    return tuple(
        document("\n".join([text] * times).replace("\n\n\n", "\n\n")) for text in (GOLD, GOLD.replace("6 det", "3 det"))
    )


def test_one_wrong_head_a_sentence_is_counted_in_each() -> None:
    gold, system = many_sentences(360)
    assert evaluate_ud(gold, system).scores["UAS"].correct == gold.n_words - 360


@pytest.mark.timing
def test_25_000_words_are_scored_within_a_second() -> None:
    gold, system = many_sentences(3600)
    assert gold.n_words > 25_000
    start = time.process_time()
    score = evaluate_ud(gold, system).scores["UAS"]
    assert time.process_time() - start < 1.0
    assert score.correct == gold.n_words - 3600
