"""The recipe of graph-search: reading OVERNIGHT's forms, learned costs, and the generated network."""

import gzip

import pytest

from weft.recipes.extraction.graph_search import overnight
from weft.recipes.extraction.graph_search.social import network, sampled_terms
from weft.tasks.questions.asking import Questions
from weft.tasks.questions.derive import Deriver
from weft.tasks.questions.learning import learn_costs, meaning_of, pooled, small_meanings, tree_of
from weft.tasks.questions.terms import simple

ALL = "( call SW.getProperty ( call SW.singleton en.person ) ( string !type ) )"
FORMS = [
    f"( call SW.filter {ALL} ( string friend ) ( string = ) en.person.alice )",
    "( call SW.getProperty ( call SW.getProperty en.person.alice ( call SW.reverse ( string employee ) ) )"
    " ( string employer ) )",
    f"( call .size {ALL} )",
]


@pytest.fixture(scope="module")
def questions():
    return Questions(overnight.domain(), values=overnight.VALUES)


def test_forms_are_read_as_terms(questions):
    reader = overnight.Reader(questions.store)
    found = [reader.term(f"( call SW.listValue {form} )") for form in FORMS]
    assert found[0] == ("sources", "friend", ("entity", 0))
    assert found[1] == ("targets", "employer", ("sources", "employee", ("entity", 0)))
    assert found[2] == ("size", ("all", "person"))
    assert reader.term("( call SW.listValue ( call SW.unheard en.person ) )") is None


def test_a_file_is_read(questions, tmp_path):
    form = "( call SW.listValue ( call SW.getProperty en.person.alice ( string gender ) ) )"
    with gzip.open(tmp_path / "a.tsv.gz", "wt") as file:
        file.write(f"is she a woman\tgender of her\t{form}\n")
    [found] = overnight.read(tmp_path / "a.tsv.gz", overnight.Reader(questions.store))
    assert (found.text, found.term) == ("is she a woman", ("targets", "gender", ("entity", 0)))


def test_meanings_have_derivations_that_have_them(questions):
    def fillers(leaf):
        return questions.offered(questions.grammar.names[leaf.symbol], None)

    small = small_meanings(questions.grammar, fillers, 2)
    assert len(small) > 50
    for term, tree in list(small.items())[:60]:
        assert simple(meaning_of(questions.grammar, tree, fillers), questions.store.schema) == term


def test_costs_learn_what_words_mean(questions):
    deriver, grammar = Deriver(questions.grammar, questions.store.graph.names), questions.grammar
    alice = ("entity", 0)
    meant = {
        "whom does she hang out with": ("targets", "friend", alice),
        "her origin": ("targets", "birthplace", alice),
        "how tall is she": ("attribute", "height", alice),
        "her age": ("attribute", "birthdate", alice),
    }
    trees = {term: tree_of(grammar, deriver.derive(term), deriver.filler, {alice: 0}) for term in meant.values()}
    pool = pooled(grammar, trees)
    pairs = [(text, pool.places[term]) for text, term in meant.items()] * 4
    model = learn_costs(pairs, pool, epochs=30, rate=0.1)
    for text, term in meant.items():
        assert pool.terms[model.ranked(text, pool, 1)[0][1]] == term
        assert (model.costs(text) >= 0).all()
    assert pool.terms[model.ranked("what is her origin please", pool, 1)[0][1]] == ("targets", "birthplace", alice)


def test_a_network_has_the_size_asked_for_and_the_same_seed_gives_the_same():
    one, other = network(300, seed=4), network(300, seed=4)
    assert one.people == 300
    assert list(one.graph.names) == list(other.graph.names)
    assert one.hidden == other.hidden
    assert (one.graph.sources == other.graph.sources).all()
    names = list(one.graph.names)[:300]
    assert len(set(names)) < 300
    questions = Questions(one.store())
    assert len(sampled_terms(questions, 20)) == 20
