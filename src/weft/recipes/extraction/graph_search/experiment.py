"""Rasmussen (2013): sentences that mean what runs, malformed input, closeness, completion, OVERNIGHT and latency.

The talk has no evaluation. OVERNIGHT's social network stands for people's own wordings; a generated social network has
known meanings, names that several people share, and any size.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np

from weft.errors import ConfigError
from weft.evaluate.significance import mcnemar
from weft.progress import progress
from weft.recipes.claims import gain, measured
from weft.recipes.extraction.graph_search import overnight
from weft.recipes.extraction.graph_search.baselines import nearest_canonical, svm_meanings
from weft.recipes.extraction.graph_search.overnight import Question
from weft.recipes.extraction.graph_search.social import network, sampled_terms
from weft.recipes.framework import RecipeOptions, RecipeResult, Table
from weft.recipes.variation import Variation
from weft.tasks.questions.asking import Questions, Suggestion, Typing
from weft.tasks.questions.derive import Deriver
from weft.tasks.questions.learning import CostModel, Meanings, Tree, learn_costs, pooled, small_meanings, tree_of
from weft.tasks.questions.terms import Term, is_typed

DOMAIN = "socialnetwork"
#: Costs above the cheapest reading at which a reading counts as none, and shares of them that are tried.
CAP, SHARES = 3.0, (0.0, 0.3, 0.6, 1.0, 1.5, 2.5, 4.0)


@dataclass(frozen=True)
class Size:
    """How many test questions, meanings, cut questions and people, and how the costs are learned."""

    questions: int = 884
    train: int = 3_535
    content: int = 2
    epochs: int = 8
    folds: int = 2
    held: int = 150
    fold_questions: int = 200
    terms: int = 500
    cut: int = 20
    people: int = 5_000
    many: int = 1_000_000
    typed: int = 8


VARIATION = Variation((Size,), ("overnight", "meaning", "generated", "latency"))
QUICK = Size(
    questions=60, train=500, content=2, epochs=3, folds=2, held=30, fold_questions=30, terms=60, cut=8, people=600,
    many=3_000, typed=5,
)  # fmt: skip


def run(options: RecipeOptions) -> RecipeResult:
    """All tables of the system page."""
    size = options.varied(QUICK if options.quick else Size())
    result = RecipeResult("graph-search")
    apart = [part for name, part in (("generated", _generated), ("latency", _latency)) if options.wants(name)]
    with ProcessPoolExecutor(max(min(options.workers - 1, len(apart)), 1)) as pool:
        waiting = [pool.submit(part, size, options.seed) for part in apart] if options.workers > 1 else []
        if options.wants("overnight") or options.wants("meaning"):
            _overnight(result, options, size)
        for number, part in enumerate(apart):
            _joined(result, waiting[number].result() if waiting else part(size, options.seed))
    return result


def _joined(result: RecipeResult, other: RecipeResult) -> None:
    """Add the tables, claims and notes of a part that ran apart."""
    result.tables += other.tables
    result.claims += other.claims
    result.notes += other.notes


class Domain:
    """OVERNIGHT's social network: its questions, grammar and the derivations of its meanings."""

    def __init__(self, options: RecipeOptions, size: Size) -> None:
        store = overnight.domain()
        reader = overnight.Reader(store)
        self.train, self.test = (
            list(overnight.read(options.find(overnight.FILES.format(DOMAIN, part)), reader))[:most]
            for part, most in (("train", size.train), ("test", size.questions))
        )
        self.questions = Questions(store, values=overnight.VALUES)
        self.grammar = self.questions.grammar
        self.deriver = Deriver(self.grammar, store.graph.names)
        self.offers: dict[Term, int] = {}
        for name in self.grammar.symbols:
            if name.startswith("{offer:") and (found := self.questions.offered(name, None)):
                self.offers[found[0]] = int(name.rsplit(":", 1)[1].rstrip("}"))
        self.small = small_meanings(
            self.grammar, lambda leaf: self.questions.offered(self.grammar.names[leaf.symbol], None), size.content
        )

    def trees(self, questions: Sequence[Question]) -> dict[Term, Tree]:
        """The derivations of the meanings of questions."""
        found: dict[Term, Tree] = {}
        for each in questions:
            if each.term is not None and each.term not in found:
                tree = self.deriver.derive(each.term)
                if tree is not None:
                    found[each.term] = tree_of(self.grammar, tree, self.deriver.filler, self.offers)
        return found

    def learned(self, train: Sequence[Question], known: Sequence[Question], size: Size, seed: int) -> Learned:
        """Costs learned from some questions over the small meanings and those of `known`."""
        pool = pooled(self.grammar, self.small | self.trees(known))
        pairs = [(each.text, pool.places[each.term]) for each in train if each.term in pool.places]
        return Learned(learn_costs(pairs, pool, epochs=size.epochs, seed=seed), pool)

    def chosen_share(self, size: Size, seed: int) -> float:
        """The share of the readings' costs that is best for training questions held out."""
        order = np.random.default_rng(seed).permutation(len(self.train)).tolist()
        held, rest = ([self.train[place] for place in part] for part in (order[: size.held], order[size.held :]))
        learned = self.learned(rest, rest, size, seed)
        readings = [self.questions.suggest(each.text, None, 5, empty=0.0) for each in held]
        right = {
            share: sum(
                learned.ranked(each.text, own, share)[0] == each.term for each, own in zip(held, readings, strict=True)
            )
            for share in SHARES
        }
        return max(SHARES, key=lambda share: right[share])


@dataclass(frozen=True)
class Learned:
    """Learned costs and the meanings that they rank."""

    model: CostModel
    pool: Meanings

    def ranked(self, text: str, readings: Sequence[Suggestion] = (), share: float = 0.0, k: int = 5) -> list[Term]:
        """The meanings of lowest cost; readings by the words themselves count with a share of their costs."""
        costs = self.pool.uses @ self.model.costs(text)
        if readings and share:
            least = readings[0].cost
            costs = costs + share * CAP
            for each in readings:
                place = self.pool.places.get(each.term)
                if place is not None:
                    costs[place] -= share * max(CAP - (each.cost - least), 0.0)
        return [self.pool.terms[place] for place in np.argsort(costs, kind="stable")[:k]]


def _overnight(result: RecipeResult, options: RecipeOptions, size: Size) -> None:
    domain = Domain(options, size)
    _coverage(result, domain)
    share = 1.0
    if options.wants("overnight"):
        share = _given_split(result, domain, size, options)
    if options.wants("meaning"):
        _meaning_split(result, domain, size, options, share)


def _coverage(result: RecipeResult, domain: Domain) -> None:
    table = Table("OVERNIGHT's meanings", ["forms", "with a term", "terms", "derived", "test questions %"],
                  digits=dict.fromkeys(["forms", "with a term", "terms", "derived"], 0))  # fmt: skip
    everything = domain.train + domain.test
    forms = {each.form: each.term for each in everything}
    known = domain.trees(everything)
    terms = {term for term in forms.values() if term is not None}
    covered = np.mean([each.term in known for each in domain.test])
    table.add("social network", {
        "forms": len(forms), "with a term": sum(term is not None for term in forms.values()), "terms": len(terms),
        "derived": len(known), "test questions %": 100 * float(covered),
    })  # fmt: skip
    table.note = (
        "Several forms are one term where they mean the same set (gender of alice, gender that is gender of alice)."
    )
    result.tables.append(table)


def _given_split(result: RecipeResult, domain: Domain, size: Size, options: RecipeOptions) -> float:
    test = domain.test
    ranked: dict[str, list[list[Term]]] = {}
    seconds: dict[str, list[float]] = {}
    read: dict[str, int] = {}
    readings: list[list[Suggestion]] = []
    for name, strict in (("strict grammar", True), ("robust, costs by hand", False)):
        ranked[name], seconds[name], read[name] = [], [], 0
        with progress(name, len(test), "questions") as bar:
            for each in test:
                start = time.process_time()
                found = domain.questions.suggest(each.text, None, 5, strict=strict, empty=0.0)
                seconds[name].append(time.process_time() - start)
                ranked[name].append([one.term for one in found])
                readings = [*readings, found] if not strict else []
                read[name] += bool(found)
                bar.advance()
    share = domain.chosen_share(size, options.seed)
    learned = domain.learned(domain.train, domain.train, size, options.seed)
    for name, of_words in (("learned costs alone", 0.0), ("robust, learned costs", share)):
        ranked[name], seconds[name], read[name] = [], [], len(test)
        for each, own, before in zip(test, readings, seconds["robust, costs by hand"], strict=True):
            start = time.process_time()
            ranked[name].append(learned.ranked(each.text, own, of_words))
            seconds[name].append(time.process_time() - start + (before if of_words else 0.0))
    by_form = {
        "nearest canonical sentence": nearest_canonical(domain.train, test),
        "linear SVM over known meanings": svm_meanings(domain.train, test),
    }
    columns = ["rank 1", "top 5", "rank 1, forms", "read %", "median ms", "p95 ms"]
    table = Table("OVERNIGHT social network, given split", columns, digits=dict.fromkeys(columns, 1))
    first: dict[str, list[bool]] = {}
    usual = _usual_forms(domain.train)
    for name, lists in ranked.items():
        first[name] = [bool(own) and own[0] == each.term for own, each in zip(lists, test, strict=True)]
        forms = [bool(own) and usual.get(own[0]) == each.form for own, each in zip(lists, test, strict=True)]
        top = [each.term is not None and each.term in own for own, each in zip(lists, test, strict=True)]
        table.add(name, {
            "rank 1": 100 * float(np.mean(first[name])), "top 5": 100 * float(np.mean(top)),
            "rank 1, forms": 100 * float(np.mean(forms)), "read %": 100 * read[name] / len(test),
            "median ms": 1_000 * float(np.median(seconds[name])),
            "p95 ms": 1_000 * float(np.quantile(seconds[name], 0.95)),
        })  # fmt: skip
    for name, forms_found in by_form.items():
        right = [bool(own) and own[0] == each.form for own, each in zip(forms_found, test, strict=True)]
        first[name] = right
        top = [each.form in own for own, each in zip(forms_found, test, strict=True)]
        table.add(name, {"rank 1": 100 * float(np.mean(right)), "top 5": 100 * float(np.mean(top)),
                         "rank 1, forms": 100 * float(np.mean(right))})  # fmt: skip
    table.note = "Rank 1 compares terms; the last column asks for the very logical form, by the usual one of a term."
    result.tables.append(table)
    rows = {row.name: row.ours for row in table.rows}
    result.own(
        "The rank-1 meaning is right for {bar} % of OVERNIGHT's questions about a social network",
        measured(float(rows["robust, learned costs"]["rank 1, forms"] or 0), ">=", 40, "very form", digits=1),
    )  # fmt: skip
    result.claim(
        "Ungrammatical questions are understood too: robust parsing at least doubles the coverage of strict parsing",
        measured(read["robust, costs by hand"] - 2 * read["strict grammar"], ">=", 0, "questions", digits=0),
        note="The talk's abstract says so, without figures.",
    )
    for other in ("robust, costs by hand", "nearest canonical sentence", "linear SVM over known meanings"):
        test_of = mcnemar(np.array(first["robust, learned costs"]), np.array(first[other]))
        difference = 100 * float(np.mean(first["robust, learned costs"]) - np.mean(first[other]))
        result.own(
            f"Learned costs beat the row {other!r}", gain(difference, p=test_of.p, where="rank 1"), required=False
        )
    result.notes.append(
        f"Readings count with {share:g} of their costs, chosen on {size.held} training questions held out."
    )
    return share


def _usual_forms(train: Sequence[Question]) -> dict[Term, str]:
    """The most frequent logical form of every term in training."""
    counts: dict[Term, dict[str, int]] = {}
    for each in train:
        if each.term is not None:
            own = counts.setdefault(each.term, {})
            own[each.form] = own.get(each.form, 0) + 1
    return {term: max(own, key=lambda form: (own[form], form)) for term, own in counts.items()}


def _meaning_split(result: RecipeResult, domain: Domain, size: Size, options: RecipeOptions, share: float) -> None:
    everything = domain.train + domain.test
    terms = list(dict.fromkeys(each.term for each in everything if each.term is not None))
    order = np.random.default_rng(options.seed).permutation(len(terms))
    fold_of = {terms[place]: rank % size.folds for rank, place in enumerate(order.tolist())}
    names = ("robust, costs by hand", "learned costs alone", "robust, learned costs", "nearest canonical sentence")
    right, top, total = dict.fromkeys(names, 0), dict.fromkeys(names, 0), 0
    for fold in range(size.folds):
        train = [each for each in everything if fold_of.get(each.term, fold) != fold]
        test = [each for each in everything if fold_of.get(each.term) == fold]
        test = [
            test[place] for place in np.random.default_rng(fold).permutation(len(test))[: size.fold_questions].tolist()
        ]
        learned = domain.learned(train, everything, size, options.seed)
        for each, forms in zip(test, nearest_canonical(everything, test), strict=True):
            readings = domain.questions.suggest(each.text, None, 5, empty=0.0)
            lists = {
                names[0]: [one.term for one in readings], names[1]: learned.ranked(each.text),
                names[2]: learned.ranked(each.text, readings, share),
            }  # fmt: skip
            for name, found in lists.items():
                right[name] += bool(found) and found[0] == each.term
                top[name] += each.term in found
            right[names[3]] += forms[0] == each.form
            top[names[3]] += each.form in forms
        total += len(test)
    table = Table("OVERNIGHT social network, split by meaning", ["rank 1", "top 5", "questions"],
                  digits={"rank 1": 1, "top 5": 1, "questions": 0})  # fmt: skip
    for name in names:
        table.add(name, {"rank 1": 100 * right[name] / total, "top 5": 100 * top[name] / total, "questions": total})
    table.note = (
        "No question with a test meaning is seen in training; the domain's list of meanings is known to both rows, as "
        "are all meanings of few words to the first. Questions whose form has no term are left out."
    )
    result.tables.append(table)


def _generated(size: Size, seed: int) -> RecipeResult:
    result = RecipeResult("graph-search")
    questions = Questions(network(size.people, seed=seed).store())
    deriver = Deriver(questions.grammar, questions.store.graph.names)
    same, text_same, edits, other, tried = 0, 0, 0, 0, 0
    seconds = []
    for me, term in sampled_terms(questions, size.terms, seed=seed):
        text = deriver.text(term)
        if text is None:
            continue
        tried += 1
        start = time.process_time()
        found = questions.suggest(text, me, 1, empty=0.0)
        seconds.append(time.process_time() - start)
        if found and found[0].term == term:
            same += 1
            edits += found[0].edits > 0
        elif found and found[0].text == text:
            text_same += 1
        else:
            other += 1
    columns = ["meanings", "same %", "same text %", "other %", "with edits", "p95 ms"]
    table = Table("Sentences of generated meanings, read again", columns,
                  digits={"meanings": 0, "with edits": 0, "p95 ms": 1})  # fmt: skip
    table.add("generated network", {
        "meanings": tried, "same %": 100 * same / tried, "same text %": 100 * text_same / tried,
        "other %": 100 * other / tried, "with edits": edits, "p95 ms": 1_000 * float(np.quantile(seconds, 0.95)),
    })  # fmt: skip
    table.note = "Same text: the sentence is that of another meaning too, mostly through people of one name."
    result.tables.append(table)
    result.own(
        "Of the sentences that are not ambiguous, {bar} % are read as what they mean",
        measured(100 * same / max(same + other, 1), ">=", 99, "same meaning", digits=2), required=False,
    )  # fmt: skip
    found_in, kept, agreed, cuts = _completed(questions, deriver, size, seed)
    table = Table(
        "Completion",
        ["prefixes", "in the top 10 %", "kept %"],
        digits={"prefixes": 0, "in the top 10 %": 1, "kept %": 1},
    )
    table.add("from half of the question on", {
        "prefixes": cuts, "in the top 10 %": 100 * found_in / cuts, "kept %": 100 * kept / max(agreed, 1),
    })  # fmt: skip
    table.note = "Kept: the first suggestion, where the next letters agree with it, stays among the ten or is refined."
    result.tables.append(table)
    result.own("The beginning of a question suggests it among ten for {bar} % of the prefixes",
                 measured(100 * found_in / cuts, ">=", 80, "prefixes", digits=1), required=False)  # fmt: skip
    return result


def _completed(questions: Questions, deriver: Deriver, size: Size, seed: int) -> tuple[int, int, int, int]:
    found, kept, agreed, cuts = 0, 0, 0, 0
    for me, term in sampled_terms(questions, size.cut, seed=seed + 1, depth=3):
        text = deriver.text(term)
        if text is None or not is_typed(term, questions.store.schema):
            continue
        typing, before = Typing(), ""
        for cut in range((len(text) + 1) // 2, len(text) + 1):
            texts = [each.text for each in questions.suggest(text[:cut], me, 10, complete=True, typing=typing)]
            cuts += 1
            found += text in texts
            if before and before.lower().startswith(text[:cut].lower()):
                agreed += 1
                kept += any(each.startswith(before) for each in texts)
            before = texts[0] if texts else ""
    if not cuts:
        raise ConfigError("no question was cut; take more of them")
    return found, kept, agreed, cuts


def _latency(size: Size, seed: int) -> RecipeResult:
    result = RecipeResult("graph-search")
    start = time.process_time()
    questions = Questions(network(size.many, friends=8.0, seed=seed).store())
    deriver = Deriver(questions.grammar, questions.store.graph.names)
    terms = sampled_terms(questions, size.typed, seed=seed + 2, depth=4)
    for me in {me for me, _ in terms}:
        questions.close(me)
        questions.suggest("my friends", me, 5, complete=True)
    ready = time.process_time() - start
    seconds, kept, whole = [], 0, 0
    for me, term in terms:
        text = deriver.text(term)
        if text is None:
            continue
        typing = Typing()
        for cut in range(1, len(text) + 1):
            start = time.process_time()
            questions.suggest(text[:cut], me, 5, complete=True, typing=typing)
            seconds.append(time.process_time() - start)
            kept += typing.steps
        fresh = Typing()
        questions.suggest(text, me, 5, complete=True, typing=fresh)
        whole += fresh.steps * len(text)
    columns = ["entities", "edges", "keystrokes", "median ms", "p95 ms", "items kept %", "ready s"]
    table = Table("Suggestions while typing", columns,
                  digits=dict.fromkeys(columns[:3], 0) | dict.fromkeys(columns[3:], 1))  # fmt: skip
    graph = questions.store.graph
    p95 = 1_000 * float(np.quantile(seconds, 0.95))
    table.add("one core", {
        "entities": graph.n_nodes, "edges": graph.n_edges, "keystrokes": len(seconds),
        "median ms": 1_000 * float(np.median(seconds)), "p95 ms": p95, "items kept %": 100 * (1 - kept / max(whole, 1)),
        "ready s": ready,
    })  # fmt: skip
    result.tables.append(table)
    result.own("Suggestions take at most {bar} ms for 95 % of the keystrokes, with a million entities on one core",
                 measured(p95, "<=", 100, "p95", digits=1, unit="ms"), required=False)  # fmt: skip
    return result
