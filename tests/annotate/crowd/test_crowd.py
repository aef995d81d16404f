"""What a crowd is worth: qualities of a log made by hand, cheats of a simulated crowd, synonyms, titles."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft import data
from weft.annotate.crowd.answers import AnswerLog, read_answers
from weft.annotate.crowd.cheats import MACHINE, SPAM, coverage, evidence, flags, without
from weft.annotate.crowd.dictionary import dictionary
from weft.annotate.crowd.quality import Tally, by_country, estimates, interval
from weft.annotate.crowd.regions import regions
from weft.annotate.crowd.synonyms import Judgements, Pair, Vote, decide, synonym_tasks
from weft.annotate.crowd.tasks import NAMED, Title, batches, control_titles, review, still_needed
from weft.errors import DataError, FormatError
from weft.learn.generative.dawid_skene import aggregate
from weft.lexical.wordnet import WordNet, find_wordnet
from weft.recipes.grounding.mturk_language_demographics import simulation
from weft.recipes.grounding.mturk_language_demographics.simulation import HONEST, simulate

COLUMNS = ("worker", "language", "assignment", "item", "answer")
CONTROLS = {("hi", "pani"): "water", ("hi", "vaidya"): "doctor", ("ta", "nay"): "dog", ("ta", "punai"): "cat"}
SYNONYMS = {Pair.of("doctor", "physician"): True}


def by_hand() -> AnswerLog:
    """Two languages; Asha does eight assignments of Hindi, all wrong, the others one each."""
    rows = [("asha", "hi", f"a{n}", item, "no idea") for n in range(8) for item in ("pani", "vaidya")]
    rows += [
        ("bela", "hi", "b", "pani", "Water."),
        ("bela", "hi", "b", "vaidya", "physician"),
        ("bela", "hi", "b", "x", "y"),
    ]
    rows += [("asha", "ta", "t", "nay", "dog"), ("asha", "ta", "t", "punai", "dog")]
    rows += [("chitra", "ta", "u", "nay", "dog"), ("chitra", "ta", "u", "punai", "cat")]
    return AnswerLog.of(rows, COLUMNS)


def judgements() -> Judgements:
    known = Judgements()
    known.decide_all(SYNONYMS)
    return known


@pytest.mark.must_show("mturk-language-demographics", 1)
def test_qualities_of_a_log_made_by_hand_are_exact_and_a_very_active_worker_counts_once():
    tally = Tally(CONTROLS, judgements().same)
    tally.add(by_hand())
    work = {(row.worker, row.language): row for row in tally.work()}
    assert work["asha", "hi"].quality == 0.0
    assert work["bela", "hi"].quality == 1.0
    assert work["bela", "hi"].exact == 0.5
    assert work["asha", "ta"].quality == 0.5
    assert work["asha", "hi"].assignments == 8
    found = {row.language: row for row in estimates(tally.work())}
    assert found["hi"].quality == 0.5
    assert found["hi"].by_assignment == pytest.approx(1 / 9)
    assert found["hi"].exact == 0.25
    assert found["ta"].quality == 0.75
    assert tally.assignment_quality("hi", "bela", "b") == 1.0
    assert math.isnan(tally.assignment_quality("hi", "bela", "none"))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 4))
def test_batches_in_any_cut_give_the_qualities_of_all_rows(seed, pieces):
    crowd = simulate(seed % 7, assignments=30)
    whole, parts = Tally(crowd.controls, simulation.same), Tally(crowd.controls, simulation.same)
    whole.add(crowd.log)
    cells = list(zip(
        *([getattr(crowd.log, plural)[k] for k in getattr(crowd.log, name)]
          for name, plural in zip(COLUMNS, ("workers", "languages", "assignments", "items", "answers"), strict=True)),
        strict=True,
    ))  # fmt: skip
    order = np.random.default_rng(seed).permutation(len(cells))
    for part in np.array_split(order, pieces):
        parts.add(AnswerLog.of([cells[k] for k in part], COLUMNS))
    assert sorted(parts.work()) == sorted(whole.work())


def cheats_of(seed: int):
    """Flagged and true workers by rule, and whether the interval of the honest crowd holds its true quality."""
    crowd = simulate(seed)
    found = flags(evidence(crowd.log, crowd.machine, crowd.controls, simulation.same))
    sets = {
        rule: ({flag.worker for flag in found if flag.rule == rule}, crowd.of_kind(kind))
        for rule, kind in ((SPAM, simulation.SPAMMER), (MACHINE, simulation.MACHINE))
    }
    tally = Tally(crowd.controls, simulation.same)
    tally.add(crowd.log)
    out = {flag.worker for flag in found}
    (estimate,) = estimates([row for row in tally.work() if row.worker not in out], samples=500, seed=seed)
    return sets, estimate.low <= HONEST <= estimate.high


@pytest.mark.must_show("mturk-language-demographics", 2, weaker="100 crowds; the recorded run has the 500 of the sheet")
def test_spammers_and_copyists_are_told_from_honest_workers_and_the_interval_holds():
    """Precision and recall of spammers >= .95, of copyists >= .9, coverage >= .93."""
    runs = [cheats_of(seed) for seed in range(100)]
    for rule, least in ((SPAM, 0.95), (MACHINE, 0.9)):
        hits = sum(len(sets[rule][0] & sets[rule][1]) for sets, _ in runs)
        assert hits / sum(len(sets[rule][0]) for sets, _ in runs) >= least
        assert hits / sum(len(sets[rule][1]) for sets, _ in runs) >= least
    assert np.mean([held for _, held in runs]) >= 0.93


def test_an_interval_of_few_workers_is_wide_and_of_one_says_nothing():
    assert interval(np.array([0.7])) == (0.0, 1.0)
    few, many = interval(np.array([0.5, 0.7, 0.9])), interval(np.array([0.5, 0.7, 0.9] * 20))
    assert few[1] - few[0] > 3 * (many[1] - many[0])


def test_flags_give_reasons_and_dropping_one_brings_the_answers_back():
    crowd = simulate(3)
    known = evidence(crowd.log, crowd.machine, crowd.controls, simulation.same)
    found = flags(known)
    assert found
    assert all("%" in flag.reason and str(flag.answers) in flag.reason for flag in found)
    left, back = without(crowd.log, found), without(crowd.log, found[1:])
    returned = np.flatnonzero(back & ~left)
    assert {crowd.log.workers[crowd.log.worker[row]] for row in returned} == {found[0].worker}
    assert without(crowd.log, []).all()
    kept = coverage(known)
    assert kept.workers > 0.7
    assert kept.histogram.sum() == len(known)
    assert kept.histogram[8:].sum() >= len(crowd.of_kind(simulation.MACHINE)) - 1


@pytest.mark.must_show("mturk-language-demographics", 3)
def test_the_gap_between_regions_appears_once_cheats_are_out():
    before, after = [], []
    for seed in range(5):
        crowd = simulate(seed, simulation.irish(), assignments=2000, language="ga")
        tally = Tally(crowd.controls, simulation.same)
        tally.add(crowd.log)
        seen = by_country(crowd.log)
        found = flags(evidence(crowd.log, crowd.machine, crowd.controls, simulation.same))
        out = {flag.worker for flag in found if flag.rule == MACHINE}
        honest = [row for row in tally.work() if row.worker not in out]
        before += regions(tally.work(), seen, {"ga": {simulation.INSIDE}}, seed)
        after += regions(honest, seen, {"ga": {simulation.INSIDE}}, seed)
    assert abs(np.mean([row.inside - row.outside for row in before])) < 0.05
    assert np.mean([row.suspicious for row in before]) >= 0.5
    assert np.mean([row.inside - row.outside for row in after]) > 0.15
    assert np.mean([row.p < 0.05 for row in after]) >= 0.7
    assert np.mean([row.p < 0.05 for row in after]) > np.mean([row.p < 0.05 for row in before]) + 0.3


def test_workers_seen_in_several_countries_are_in_no_region():
    log = AnswerLog.of(
        [("w", "ga", "1", "nay", "x", "IE"), ("w", "ga", "2", "nay", "x", "IN"), ("v", "ga", "1", "nay", "x", "IE")],
        (*COLUMNS, "country"),
    )
    tally = Tally({("ga", "nay"): "x"})
    tally.add(log)
    (found,) = regions(tally.work(), by_country(log), {"ga": {"IE"}})
    assert (found.n_inside, found.n_outside, found.unclear) == (1, 0, 1)
    assert math.isnan(found.p)


@pytest.mark.must_show("mturk-language-demographics", 4)
def test_rejecting_judges_by_controls_helps_and_a_pair_is_asked_once(tmp_path):
    rng = np.random.default_rng(5)
    pairs = [Pair.of(f"a{n}", f"b{n}") for n in range(400)]
    truth = {pair: bool(rng.random() < 0.5) for pair in pairs}
    yes, no = [Pair.of(f"s{n}", f"t{n}") for n in range(40)], [Pair.of(f"r{n}", f"q{n}") for n in range(40)]
    controls = {**dict.fromkeys(yes, True), **dict.fromkeys(no, False)}
    votes = []
    for number, task in enumerate(synonym_tasks(pairs, yes, no)):
        for judge in rng.choice(20, 3, replace=False):
            for pair in task:
                right = rng.random() < 0.93 if judge >= 4 else rng.random() < 0.5  # a fifth of the judges guess
                says = controls.get(pair, truth.get(pair)) == right
                votes.append(Vote(f"j{judge}", pair, "yes" if says else "no"))
        assert sum(pair in controls for pair in task) == 2, number
    everybody, accepted = decide(votes, controls, accepted=0.0), decide(votes, controls)

    def accuracy(judged):
        return np.mean([judged.same.get(pair, False) == truth[pair] for pair in pairs])

    assert set(accepted.rejected) >= {"j0", "j1", "j2", "j3"}
    assert len(accepted.rejected) <= 5
    assert accuracy(accepted) > accuracy(everybody)
    kept = Judgements(tmp_path / "synonyms.jsonl")
    first = kept.open_pairs((b, a) for a, b in pairs)
    kept.decide_all({pair: accepted.same.get(pair, False) for pair in first})
    assert kept.open_pairs(pairs) == []
    again = Judgements(tmp_path / "synonyms.jsonl")
    assert again.open_pairs([*pairs, ("a1", "b1"), ("B1", "a1")]) == []
    assert len(again) == len(pairs)
    (tmp_path / "synonyms.jsonl").write_text("{broken\n", encoding="utf-8")
    with pytest.raises(FormatError, match="line 1"):
        Judgements(tmp_path / "synonyms.jsonl")


@pytest.mark.corpus
@pytest.mark.must_show("mturk-language-demographics", 5)
def test_no_control_title_breaks_a_rule():
    folder = find_wordnet()
    if folder is None:
        pytest.skip("needs WordNet: install Debian's package wordnet-base")
    words, kept, all_titles, out = WordNet.read(folder), [], 0, {1: 0, 2: 0, 3: 0, 4: 0}
    for language in ("bn", "hi", "ml", "ta", "te", "ur"):
        try:
            path = data.find(f"crowd/indian-mturk/{language}.titles.tsv")
        except DataError as missing:
            pytest.skip(str(missing))
        rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
        titles = [Title(row[1], row[2], row[3]) for row in rows]
        found = control_titles(titles, words.__contains__)
        assert len(found.kept) + sum(found.left_out.values()) == len(titles)
        all_titles += len(titles)
        kept += found.kept
        out = {rule: out[rule] + found.left_out[rule] for rule in out}
    assert all_titles == 605
    assert len(kept) > 80
    assert all(out.values())
    for title in kept:
        own, english = title.title.replace("_", " ").casefold(), title.english.replace("_", " ").casefold()
        assert english in words.entries
        assert " " not in own + english
        assert title.category.upper() not in NAMED
        assert own not in english
        assert english not in own


@pytest.mark.must_show("mturk-language-demographics", 6)
def test_consensus_ranks_workers_as_their_true_ability_and_as_their_controls_do():
    from scipy.stats import spearmanr

    rng = np.random.default_rng(11)
    ability = np.clip(rng.beta(6, 3, 40), 0.3, 0.99)
    items, annotators = (
        np.repeat(np.arange(300), 8),
        np.concatenate([rng.choice(40, 8, replace=False) for _ in range(300)]),
    )
    truth = rng.integers(0, 3, 300)
    wrong = (truth[items] + rng.integers(1, 3, len(items))) % 3
    answers = np.where(rng.random(len(items)) < ability[annotators], truth[items], wrong)
    found = aggregate(items, annotators, answers, 3)
    assert spearmanr(found.accuracies, ability).statistic >= 0.9
    is_control = items < 200
    right = np.array([np.mean((answers == truth[items])[(annotators == w) & is_control]) for w in range(40)])
    assert spearmanr(found.accuracies, right).statistic >= 0.8


@pytest.mark.corpus
@pytest.mark.must_show("mturk-language-demographics", 6)
def test_consensus_on_real_labels_beats_the_majority_and_ranks_their_workers():
    from scipy.stats import spearmanr

    try:
        path = data.find("crowd/snow2008/rte.standardized.tsv")
    except DataError as missing:
        pytest.skip(str(missing))
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()[1:]]
    workers, items = sorted({row[1] for row in rows}), sorted({row[2] for row in rows})
    w, i = [workers.index(row[1]) for row in rows], [items.index(row[2]) for row in rows]
    answers, gold = [int(row[3]) for row in rows], dict(zip(i, (int(row[4]) for row in rows), strict=True))
    found = aggregate(i, w, answers, 2)
    truth = np.array([gold[number] for number in range(len(items))])
    right = np.bincount(w, np.array(answers) == truth[i]) / np.bincount(w)
    assert spearmanr(found.accuracies, right).statistic >= 0.7
    assert (found.labels == truth).mean() >= 0.9275


def test_tasks_hold_controls_and_rejected_work_is_posted_again():
    controls = {f"gold{n}": f"answer{n}" for n in range(5)}
    tasks = batches([f"w{n}" for n in range(20)], controls, {"w0": ["One.", "Two.", "Three.", "Four."]}, seed=3)
    assert [len(task) for task in tasks] == [10, 10, 6]
    assert sorted(q.item for task in tasks for q in task if not q.gold) == sorted(f"w{n}" for n in range(20))
    assert all(len({q.item for q in task if q.gold}) == 2 for task in tasks)
    places = {n for task in batches([f"w{n}" for n in range(400)], controls) for n, q in enumerate(task) if q.gold}
    assert len(places) == 10
    assert max(len(q.contexts) for task in tasks for q in task) == 3
    decided = review({("w", "1"): 1.0, ("v", "1"): 0.0, ("u", "1"): float("nan")})
    assert [(each.worker, each.accept) for each in decided] == [("u", True), ("v", False), ("w", True)]
    assert still_needed({"1": 3, "2": 3}, decided) == {"1": 1, "2": 3}
    with pytest.raises(DataError, match="2 controls"):
        batches(["a"], {"x": "y"})


def test_a_dictionary_is_filtered_by_quality_agreement_and_flags():
    log = AnswerLog.of([("w", "pani", "water"), ("v", "pani", "water"), ("u", "pani", "fire"), ("u", "din", "day"),
                        ("w", "ghar", ""), ("w", "pani", "water")])  # fmt: skip
    good = {("", "w"): 0.9, ("", "v"): 0.6, ("", "u"): 0.1}
    both = dictionary(log, good)
    assert [(each.word, each.translation, each.workers) for each in both] == [
        ("din", "day", 1), ("pani", "water", 2), ("pani", "fire", 1)
    ]  # fmt: skip
    assert both[1].weight == pytest.approx(1.5)
    assert [each.word for each in dictionary(log, good, least_quality=0.5)] == ["pani"]
    assert [each.translation for each in dictionary(log, good, agreement=2)] == ["water"]
    assert [each.word for each in dictionary(log, good, rows=np.arange(6) == 3)] == ["din"]


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet"])
def test_answers_are_read_from_every_table(suffix, tmp_path):
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    table = pa.table(
        {"WorkerId": ["A", "B"], "item": ["pani", "0012"], "answer": ['say "hi", you', ""], "seconds": [1.5, 2.0]}
    )
    place = tmp_path / f"answers.{suffix}"
    if suffix == "parquet":
        pyarrow.parquet.write_table(table, place)
    elif suffix == "jsonl":
        place.write_text("".join(f"{row}\n" for row in map(json.dumps, table.to_pylist())), encoding="utf-8")
    elif suffix == "csv":
        pyarrow.csv.write_csv(table, place)
    else:
        place.write_text(
            'WorkerId\titem\tanswer\tseconds\nA\tpani\tsay "hi", you\t1.5\nB\t0012\t\t2\n', encoding="utf-8"
        )
    log = read_answers(place, {"worker": "WorkerId"})
    assert (log.workers, log.items) == (["A", "B"], ["pani", "0012"])
    assert [log.answers[k] for k in log.answer] == ['say "hi", you', ""]
    assert log.seconds.tolist() == [1.5, 2.0]


def test_a_broken_table_is_told(tmp_path):
    place = tmp_path / "answers.csv"
    place.write_text("worker,itm,answer\na,b,c\n", encoding="utf-8")
    with pytest.raises(FormatError, match="did you mean itm"):
        read_answers(place)
    place.write_text("worker,item,answer\na,b,c\na,b\n", encoding="utf-8")
    with pytest.raises(FormatError, match="table with a header"):
        read_answers(place)
    place.write_text("worker,item,answer,seconds\na,b,c,soon\n", encoding="utf-8")
    with pytest.raises(FormatError, match="numbers"):
        read_answers(place)
    with pytest.raises(DataError, match="cannot tell the format"):
        read_answers(tmp_path / "answers.doc")
    with pytest.raises(DataError, match="there is no file"):
        read_answers(tmp_path / "missing.csv")


def test_a_worker_is_the_mean_of_her_assignments_not_of_her_answers():
    rows = [("asha", "hi", "a", item, "water") for item in ("pani", "vaidya")] + [("asha", "hi", "b", "pani", "water")]
    tally = Tally(CONTROLS)
    tally.add(AnswerLog.of(rows, COLUMNS))
    (work,) = tally.work()
    assert work.quality == 0.75
    assert work.controls == 3


def test_flags_of_a_simulated_crowd_are_of_both_kinds():
    crowd = simulate(3)
    found = flags(evidence(crowd.log, crowd.machine, crowd.controls, simulation.same))
    for rule, kind in ((SPAM, simulation.SPAMMER), (MACHINE, simulation.MACHINE)):
        flagged = {flag.worker for flag in found if flag.rule == rule}
        assert flagged & crowd.of_kind(kind)


def test_every_rule_leaves_a_title_out():
    rows = [("jal", "Water"), ("zzz", "Qwxyz"), ("nai dilli", "Capital"), ("radiox", "Radio"), ("bus", "bus")]
    titles = [*(Title(*row) for row in rows), Title("gandhi", "Leader", "PEOPLE")]
    found = control_titles(titles, lambda word: word != "qwxyz")
    assert [title.title for title in found.kept] == ["jal"]
    assert found.left_out == {1: 1, 2: 1, 3: 1, 4: 2}
