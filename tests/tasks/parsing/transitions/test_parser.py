"""The parser: what it learns, refuses, keeps to, and what becomes of trees it cannot build."""

from __future__ import annotations

import numpy as np
import pytest
from small_treebank import bare, treebank

from weft.errors import ConfigError, DataError, WeftError
from weft.infer.transitions import SYSTEMS, constrain
from weft.infer.trees.projectivity import decode, encode, is_projective, is_tree, lift
from weft.pipeline.pipeline import Pipeline
from weft.tasks.parsing.transitions.parser import Parser, ParserSettings
from weft.text import Doc


def fitted(**options) -> Parser:
    parser = Parser(ParserSettings(**{"epochs": 20, **options}))
    parser.fit([treebank()])
    return parser


@pytest.mark.parametrize("system", list(SYSTEMS))
@pytest.mark.parametrize("oracle", ["static", "nondet", "dynamic"])
def test_every_system_learns_a_small_treebank_with_every_oracle(system, oracle):
    doc, gold = bare(treebank()), treebank()
    fitted(system=system, oracle=oracle)([doc])
    assert doc.head.tolist() == gold.head.tolist()
    assert doc.column("deprel") == gold.column("deprel")


@pytest.mark.parametrize("update", ["early", "max-violation"])
@pytest.mark.parametrize("oracle", ["static", "nondet"])
def test_beam_search_learns_too(update, oracle):
    doc, gold = bare(treebank()), treebank()
    fitted(system="arc-eager", oracle=oracle, beam=4, update=update)([doc])
    assert doc.head.tolist() == gold.head.tolist()
    assert doc.column("deprel") == gold.column("deprel")


def test_a_saved_parser_says_the_same(tmp_path):
    parser = fitted()
    Pipeline([parser]).save(tmp_path / "parser.weft")
    again = Pipeline.load(tmp_path / "parser.weft")
    one, other = bare(treebank()), bare(treebank())
    parser([one])
    again.annotate([other])
    assert one.head.tolist() == other.head.tolist()
    assert one.column("deprel") == other.column("deprel")


@pytest.mark.parametrize(
    ("system", "setting"), [*((system, "clusters") for system in SYSTEMS), ("arc-eager", "native_clusters")]
)
def test_classes_of_words_tell_of_unseen_words_and_are_kept_in_the_model(tmp_path, system, setting):
    path = tmp_path / "words.paths"
    relation = {f"{name}-{i}": name for i in range(31) for name in ("advmod", "obj")}
    lines = [f"{'0000' if name == 'obj' else '1111'}\t{word}\t9\n" for word, name in relation.items()]
    path.write_text("".join(lines), encoding="utf-8")

    def phrases(*words: str) -> Doc:
        rows = [["drink", word] for word in words]
        relations = [["root", relation[word]] for word in words]
        return Doc.from_words(rows, upos=[["VERB", "X"]] * len(rows), head=[[0, 1]] * len(rows), deprel=relations)

    parser = Parser(ParserSettings(system=system, **{setting: str(path)}))
    parser.fit([phrases(*list(relation)[:-2])])
    gold = phrases(*list(relation)[-2:])
    found = bare(gold)
    Pipeline([parser]).save(tmp_path / "parser.weft")
    path.unlink()
    Pipeline.load(tmp_path / "parser.weft").annotate([found])
    assert found.head.tolist() == gold.head.tolist()
    assert found.column("deprel") == gold.column("deprel")


def test_the_same_seed_gives_the_same_weights():
    one, other = fitted(seed=3), fitted(seed=3)
    for name, array in one.parser.arrays.items():
        assert (array == other.parser.arrays[name]).all()


@pytest.mark.parametrize("system", list(SYSTEMS))
def test_every_sentence_gets_one_root_and_a_tree_projective_if_the_system_is(system):
    parser = fitted(system=system, oracle="nondet", epochs=1)
    rng = np.random.default_rng(0)
    tags = [[str(tag) for tag in rng.choice(["DET", "NOUN", "VERB", "X"], n)] for n in range(1, 20)]
    doc = Doc.from_words(tags, upos=tags)
    parser([doc])
    for sentence in doc.sentences:
        heads = doc.head[sentence.first : sentence.end]
        assert (heads == 0).sum() == 1
        assert is_tree(heads)
        assert is_projective(heads) or not SYSTEMS[system].projective


def test_empty_one_word_and_very_long_sentences():
    parser = fitted()
    empty = Doc()
    parser([empty])
    assert empty.n_words == 0
    one = Doc.from_words([["yes"]], upos=[["VERB"]])
    parser([one])
    assert one.head.tolist() == [0]
    assert one.column("deprel") == ["root"]
    long = Doc.from_words([["a", "dog"] * 5000], upos=[["DET", "NOUN"] * 5000])
    parser([long])
    assert is_tree(long.head)


def test_broken_trees_are_left_out_and_counted():
    doc = Doc.from_words([["a", "b"], ["c", "d"], ["e", "f"]], upos=[["X", "Y"]] * 3,
                       head=[[2, 1], [-1, 0], [2, 0]], deprel=[["x", "y"]] * 3)  # fmt: skip
    report = Parser().fit([doc])
    assert report["training"]["broken trees"] == 2
    only_broken = Doc.from_words([["a", "b"]], upos=[["X", "Y"]], head=[[2, 1]], deprel=[["x", "y"]])
    with pytest.raises(DataError, match="cycles"):
        Parser().fit([only_broken])
    with pytest.raises(DataError, match="no heads"):
        Parser().fit([Doc.from_words([["a"]], upos=[["X"]])])


def test_crossing_trees_are_counted_and_treated_as_asked():
    heads = [3, 4, 0, 3]
    doc = Doc.from_words([["a", "b", "c", "d"]], upos=[["A", "B", "C", "D"]], head=[heads],
                       deprel=[["ay", "be", "root", "de"]])  # fmt: skip
    with pytest.raises(DataError, match="1 cross"):
        Parser(ParserSettings(nonprojective="skip")).fit([doc])
    for treatment, expected in (("lift", [3, 3, 0, 3]), ("encode", heads)):
        parser = Parser(ParserSettings(nonprojective=treatment))
        assert parser.fit([doc])["training"]["non-projective trees"] == 1
        found = Doc.from_words([["a", "b", "c", "d"]], upos=[["A", "B", "C", "D"]])
        parser([found])
        assert found.head.tolist() == expected
        assert found.column("deprel") == ["ay", "be", "root", "de"]


def test_lifting_and_encoding_random_trees():
    rng = np.random.default_rng(1)
    back = 0
    for _ in range(200):
        n = int(rng.integers(2, 12))
        heads = np.zeros(n, dtype=np.int32)
        order = rng.permutation(n)
        for i, word in enumerate(order[1:], start=1):
            heads[word] = order[int(rng.integers(i))] + 1
        lifted = lift(heads)
        assert is_tree(lifted)
        assert is_projective(lifted)
        assert (lifted == heads).all() == is_projective(heads)
        encoded, labels = encode(heads, [f"r{i}" for i in range(n)])
        assert (encoded == lifted).all()
        decoded, plain = decode(encoded, labels)
        assert is_tree(decoded)
        assert plain == [f"r{i}" for i in range(n)]
        back += (decoded == heads).all()
    assert back > 150


@pytest.mark.parametrize("system", ["arc-eager", "arc-hybrid", "easy-first"])
def test_fixed_heads_are_kept_and_forbidden_arcs_avoided(system):
    parser = fitted(system=system)
    doc = bare(treebank())
    fixed = np.full(doc.n_words, -1, dtype=np.int32)
    fixed[4] = 2  # cat on dog, though the model knows better
    parser.parse([doc], constrain(doc.sentence_offsets.astype(np.int64), fixed))
    assert doc.head[4] == 2
    assert is_tree(doc.head[:5])
    again = bare(treebank())
    parser.parse([again], constrain(again.sentence_offsets.astype(np.int64), None, [(0, 2, 1)]))
    assert again.head[0] != 2
    assert is_tree(again.head[:5])


def test_a_forbidden_arc_is_built_where_nothing_else_is_legal():
    doc = Doc.from_words([["yes"]], upos=[["VERB"]])
    fitted().parse([doc], constrain(np.array([0, 1]), None, [(0, 0, 1)]))
    assert doc.head.tolist() == [0]


def test_wrong_constraints_are_refused():
    with pytest.raises(ConfigError, match="fixed heads"):
        constrain(np.array([0, 2]), np.array([3, 0], np.int32))
    with pytest.raises(ConfigError, match="forbidden arc"):
        constrain(np.array([0, 2]), None, [(0, 1, 3)])


def test_options_that_do_not_fit_are_refused():
    for options in ({"system": "arc-lazy"}, {"oracle": "wise"}, {"beam": 0}, {"nonprojective": "keep"}, {"epochs": 0}):
        with pytest.raises(ConfigError):
            Parser.from_options(options)
    with pytest.raises(WeftError, match="not trained"):
        Parser()([bare(treebank())])


def test_dev_data_choose_the_epoch_and_are_scored():
    parser = Parser(ParserSettings(epochs=4))
    report = parser.fit([treebank()], [treebank()])
    assert report["scores"]["dev LAS"] == 1.0
    assert 1 <= report["training"]["best_epoch"] <= 4
    with pytest.raises(DataError, match="no heads"):
        parser.scores([bare(treebank())])


@pytest.mark.parametrize("system", list(SYSTEMS))
def test_a_delexicalized_parser_of_every_system_never_looks_at_forms_lemmas_or_own_tags(tmp_path, system):
    parser = fitted(system=system, delexicalized=True)
    doc, other = bare(treebank()), bare(treebank())
    for name in ("form", "lemma", "xpos", "feats"):
        other.set_column(name, [f"{name}{i * 7919 % 31}" for i in range(other.n_words)])
    parser([doc])
    parser([other])
    assert doc.head.tolist() == other.head.tolist() == treebank().head.tolist()
    assert doc.column("deprel") == other.column("deprel")
    Pipeline([parser]).save(tmp_path / "delexicalized.weft")
    again = bare(treebank())
    Pipeline.load(tmp_path / "delexicalized.weft").annotate([again])
    assert again.head.tolist() == doc.head.tolist()


def test_a_delexicalized_parser_refuses_other_sets_of_tags_and_templates_of_words():
    doc = Doc.from_words([["dogs", "bark", "."]], upos=[["NOUN", "VERB", "PUNCT"]], head=[[2, 0, 2]])
    parser = Parser(ParserSettings(delexicalized=True))
    parser.fit([doc])
    with pytest.raises(DataError, match="the tag '\\.' is not one of Universal Dependencies"):
        parser([Doc.from_words([["hunde", "."]], upos=[["NOUN", "."]])])
    with pytest.raises(DataError, match="the tag 'NN'"):
        Parser(ParserSettings(delexicalized=True)).fit([Doc.from_words([["dogs"]], upos=[["NN"]], head=[[0]])])
    with pytest.raises(WeftError, match="unknown field 'w'"):
        Parser(ParserSettings(delexicalized=True, templates="S0.w")).fit([doc])
    with pytest.raises(ConfigError, match="remove `fields`"):
        Parser(ParserSettings(delexicalized=True, fields={"w": "form"}))


def test_a_delexicalized_parser_with_shared_classes_parses_another_language_by_its_own_list(tmp_path):
    relation = {f"{name}-{i}": name for i in range(31) for name in ("advmod", "obj")}
    for language in ("en", "de"):
        lines = [f"{'00' if name == 'obj' else '11'}\t{language}-{word}\t9\n" for word, name in relation.items()]
        (tmp_path / language).write_text("".join(lines), encoding="utf-8")

    def phrases(language: str) -> Doc:
        rows = [[f"{language}-drink", f"{language}-{word}"] for word in relation]
        relations = [["root", name] for name in relation.values()]
        return Doc.from_words(rows, upos=[["VERB", "X"]] * len(rows), head=[[0, 1]] * len(rows), deprel=relations)

    settings = {"delexicalized": True, "clusters": str(tmp_path / "en")}
    parser = Parser(ParserSettings(**settings, target_clusters=str(tmp_path / "de")))
    parser.fit([phrases("en")])
    found = bare(phrases("de"))
    Pipeline([parser]).save(tmp_path / "parser.weft")
    Pipeline.load(tmp_path / "parser.weft").annotate([found])
    assert found.column("deprel") == phrases("de").column("deprel")
    with pytest.raises(ConfigError, match="give both"):
        Parser(ParserSettings(target_clusters=str(tmp_path / "de")))
    with pytest.raises(ConfigError, match="give both"):
        fitted().read_clusters({"word": "00"})
