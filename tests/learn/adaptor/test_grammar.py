"""Adaptor grammars against exact posteriors, and what must hold of their restaurants at any time."""

from collections import Counter
from itertools import product

import numpy as np
import pytest

from weft.errors import ConfigError, DataError, ModelError
from weft.formats.grammar import parse_grammar
from weft.learn.adaptor.grammar import AdaptorGrammar, AdaptorSettings
from weft.learn.adaptor.pitman_yor import PitmanYorPrior

TWO_LEVELS = parse_grammar("S -> Group+\n@Group -> Word+\n@Word -> Sound (Sound) | a a\nSound -> a | b")
WORDS = parse_grammar("Words -> Word+\n@Word -> Sound+\nSound -> a | b | c | d")


def trees_of(grammar, words):
    """All trees of a string, as `AdaptorGrammar.tree` gives them."""
    rules = grammar.rules()
    lefts = {rule.left for rule in rules}

    def of_symbol(symbol, i, j):
        return [
            (symbol, *children) for rule in rules if rule.left == symbol for children in of_sequence(rule.right, i, j)
        ]

    def of_sequence(right, i, j):
        if not right:
            return [()] if i == j else []
        found = []
        for k in range(i + 1, j - len(right) + 2):
            if right[0] not in lefts:
                heads = [words[i]] if k == i + 1 and words[i] == right[0] else []
            else:
                heads = of_symbol(right[0], i, k) if len(right) > 1 or k == j else []
            found += [(head, *rest) for head in heads for rest in of_sequence(right[1:], k, j)]
        return found

    return of_symbol(grammar.start, 0, len(words))


class Exact:
    """P of trees by adding up all seatings, from the definition alone."""

    def __init__(self, grammar, discount, strength):
        self.rules = {(rule.left, rule.right): rule.alpha for rule in grammar.rules()}
        self.adapted, self.a, self.b = grammar.adapted, discount, strength

    def probability(self, trees):
        """Sum over all ways to seat the trees one after the other. A state is (tables, rule counts)."""
        states = {((), ()): 1.0}
        for tree in trees:
            states = self.spread(states, tree)
        return sum(states.values())

    def spread(self, states, tree):
        after = Counter()
        for (tables, counts), weight in states.items():
            for outcome, p in self.ways(tables, counts, tree):
                after[outcome] += weight * p
        return after

    def ways(self, tables, counts, tree):
        symbol = tree[0]
        if symbol not in self.adapted:
            return self.expand(tables, counts, tree)
        mine = [table for table in tables if table[0][0] == symbol]
        people = sum(size for _, size in mine) + self.b
        found = []
        for k, (label, size) in enumerate(tables):
            if label == tree:
                joined = tuple(sorted((*tables[:k], (label, size + 1), *tables[k + 1 :]), key=repr))
                found.append(((joined, counts), (size - self.a) / people))
        opening = (len(mine) * self.a + self.b) / people
        for (others, after), p in self.expand(tables, counts, tree):
            found.append(((tuple(sorted((*others, (tree, 1)), key=repr)), after), opening * p))
        return found

    def expand(self, tables, counts, tree):
        symbol, *children = tree
        right = tuple(child if isinstance(child, str) else child[0] for child in children)
        seen = dict(counts)
        total = sum(n + alpha for (rule, alpha), n in ((item, seen.get(item[0], 0)) for item in self.rules.items())
                    if rule[0] == symbol)  # fmt: skip
        rule = (symbol, right)
        p = (seen.get(rule, 0) + self.rules[rule]) / total
        seen[rule] = seen.get(rule, 0) + 1
        states = {(tables, tuple(sorted(seen.items()))): p}
        for child in children:
            if not isinstance(child, str):
                states = self.spread(states, child)
        return list(states.items())


def posterior(grammar, utterances, discount, strength):
    exact = Exact(grammar, discount, strength)
    choices = [trees_of(grammar, words) for words in utterances]
    weights = {trees: exact.probability(trees) for trees in product(*choices)}
    total = sum(weights.values())
    return {trees: weight / total for trees, weight in weights.items()}


@pytest.mark.must_show("stress-adaptor-grammars", 1)
@pytest.mark.parametrize("relabel_every", [0, 1])
def test_long_run_frequencies_of_trees_are_those_of_the_exact_posterior(relabel_every):
    utterances, a, b = [list("aba"), list("aa")], 0.4, 0.7
    grammar = parse_grammar("S -> Group+\n@Group -> Word (Word)\n@Word -> Sound (Sound)\nSound -> a | b")
    exact = posterior(grammar, utterances, a, b)
    settings = AdaptorSettings(relabel_every, a, b, sample_parameters=False)
    model = AdaptorGrammar(grammar, utterances, settings, seed=3)
    n, seen = 25_000, Counter()
    for _ in range(n):
        model.step()
        seen[model.tree(0), model.tree(1)] += 1
    assert set(seen) <= set(exact)
    assert len(exact) > 10
    distance = 0.5 * sum(abs(p - seen[trees] / n) for trees, p in exact.items())
    assert distance < 0.02, distance


@pytest.fixture
def model():
    random = np.random.default_rng(7)
    words = ["ab", "cd", "abc", "d", "bb"]
    utterances = [list("".join(random.choice(words, size=random.integers(1, 5)))) for _ in range(40)]
    grammar = parse_grammar("S -> Group+\n@Group -> Word+\n@Word -> Sound+\nSound -> a | b | c | d")
    return AdaptorGrammar(grammar, utterances, seed=5)


@pytest.mark.must_show("stress-adaptor-grammars", 3)
def test_restaurants_are_consistent_after_every_sweep(model):
    model.check()
    for _ in range(15):
        model.step()
        model.check()
    state = model.restaurants
    for symbol in model.coded.adapted:
        sizes = model.table_sizes(symbol)
        assert sizes.sum() == state.customers[symbol]
        assert len(sizes) == state.n_tables[symbol]


@pytest.mark.must_show("stress-adaptor-grammars", 3)
def test_removing_and_inserting_an_utterance_changes_nothing(model):
    for _ in range(5):
        model.step()
    before = {name: array.copy() for name, array in model.restaurants._asdict().items()}
    names = ("customers", "n_tables", "rule_counts", "left_counts", "entries", "tables", "codes", "heads")
    for u in range(10):
        joint = model.log_joint()
        cost = model.remove(u)
        assert model.log_joint() + cost == pytest.approx(joint, abs=1e-9)
        model.insert(u)
        after = model.restaurants._asdict()
        for name in names:
            assert np.array_equal(before[name], after[name]), name
    model.check()


@pytest.mark.must_show("stress-adaptor-grammars", 3)
def test_the_joint_does_not_depend_on_the_order_of_utterances(model):
    for _ in range(5):
        model.step()
    n = len(model.utterances.parses)
    for seed in range(5):
        joint = model.log_joint()
        out = np.random.default_rng(seed).permutation(n).tolist()
        assert sum(model.remove(u) for u in out) == pytest.approx(joint, abs=1e-9)
        assert model.restaurants.customers.sum() == model.restaurants.rule_counts.sum() == 0
        back = np.random.default_rng(seed + 100).permutation(n).tolist()
        assert sum(model.insert(u, same_seats=False) for u in back) == pytest.approx(model.log_joint(), abs=1e-9)


def test_a_chain_goes_on_from_its_state_to_the_same_bits(model):
    for _ in range(3):
        model.step()
    header, arrays = model.state()
    other = AdaptorGrammar(model.grammar, [list("ab")], seed=1)
    with pytest.raises(ModelError, match="another chain"):
        other.restore(header, arrays)
    words = [[sound for word in utterance for sound in word] for utterance in model.words("Word")]
    again = AdaptorGrammar(model.grammar, words, seed=99)
    again.restore(header, arrays)
    for chain in (model, again):
        for _ in range(5):
            chain.step()
    assert model.log_joint() == again.log_joint()
    one, two = model.state()[1], again.state()[1]
    assert all(np.array_equal(one[name], two[name]) for name in one)


def test_the_words_of_a_generated_lexicon_are_found_and_new_text_is_cut_with_them():
    random = np.random.default_rng(1)
    lexicon = ["abc", "da", "cbd", "bbad"]
    drawn = [random.choice(lexicon, size=random.integers(1, 5)).tolist() for _ in range(150)]
    model = AdaptorGrammar(WORDS, [list("".join(words)) for words in drawn], seed=2)
    for _ in range(60):
        model.step()
    found = [["".join(word) for word in utterance] for utterance in model.words("Word")]
    assert np.mean([a == b for a, b in zip(found, drawn, strict=True)]) > 0.95
    assert {"".join(word) for word in list(model.lexicon("Word"))[:4]} == set(lexicon)
    ends = model.segment([list("dacbdabc")], "Word", best=True)
    assert np.flatnonzero(ends).tolist() == [1, 4, 7]


def test_parses_may_also_begin_one_after_the_other():
    settings = AdaptorSettings(batch_start=False)
    model = AdaptorGrammar(WORDS, [list("abcd")] * 10, settings, seed=2)
    model.check()
    model.step()
    model.check()


def test_parameters_follow_their_posterior():
    """With no data but one table of one customer, a and b follow their priors."""
    prior = PitmanYorPrior((2.0, 3.0), 4.0, 0.5)
    settings = AdaptorSettings(prior=prior)
    model = AdaptorGrammar(parse_grammar("@S -> a"), [["a"]], settings, seed=4)
    drawn = []
    for _ in range(4000):
        model.sample_parameters()
        drawn.append((model.restaurants.discount[0], model.restaurants.strength[0]))
    a, b = np.mean(drawn, axis=0)
    assert a == pytest.approx(0.4, abs=0.02)
    assert b == pytest.approx(2.0, abs=0.1)


def test_errors_say_what_is_wrong():
    with pytest.raises(DataError, match="utterance 2 has 'x'"):
        AdaptorGrammar(WORDS, [["a"], ["x"]])
    with pytest.raises(DataError, match="no parse of utterance 1"):
        AdaptorGrammar(parse_grammar("S -> a S | b"), [["a"]])
    with pytest.raises(DataError, match=r"utterance 1 .* is too long with 500 sounds"):
        AdaptorGrammar(WORDS, [["a"] * 500])
    with pytest.raises(DataError, match="no utterances"):
        AdaptorGrammar(WORDS, [])
    with pytest.raises(DataError, match="utterance 1 is empty"):
        AdaptorGrammar(WORDS, [[]])
    with pytest.raises(ConfigError, match="discount"):
        AdaptorSettings(discount=1.0)
    with pytest.raises(ConfigError, match="no symbol 'Wort'"):
        AdaptorGrammar(WORDS, [["a"]]).ends("Wort")
