"""The recipe of mad-class-instances: prepositional attachment, attributes, generated tables."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from weft.errors import DataError, FormatError
from weft.graph.propagation.rules import build
from weft.recipes.extraction.mad_class_instances import attachment, attributes, experiment
from weft.recipes.extraction.mad_class_instances.attachment import Attachment, Quadruple
from weft.recipes.extraction.mad_class_instances.attributes import People
from weft.recipes.extraction.mad_class_instances.experiment import PLAIN, RULES, SHEET, Size, block_score, degree_sweep
from weft.recipes.extraction.mad_class_instances.generated import generated_blocks, with_attributes, with_noise
from weft.recipes.framework import RecipeOptions, RecipeResult


@pytest.mark.must_show("mad-class-instances", 5)
def test_prepositional_attachment_is_within_three_thousandths() -> None:
    options = RecipeOptions()
    try:
        parts = [attachment.read_quadruples(options.find(f"{attachment.FOLDER}/{name}")) for name in attachment.FILES]
    except DataError as error:
        pytest.skip(str(error))
    merged, single = Attachment.of(parts, merged=True), Attachment.of(parts, merged=False)
    for own, sizes in ((merged, (37_908, 16_422, 3_212)), (single, (43_650, 20_801, 4_039))):
        assert (own.graph.n_vertices, int(own.seeds.seeded.sum()), len(own.test)) == sizes
    assert merged.mixed > 2_000
    for name, (lenient, strict, quadruples) in SHEET.items():
        rule, more = RULES[name]
        scores = build(rule, merged.graph, merged.seeds, **more).run(10)
        assert abs(merged.right(scores).mean() - lenient) <= 0.003
        assert abs(merged.right(scores, strict=True).mean() - strict) <= 0.003
        scores = build(rule, single.graph, single.seeds, **more).run(10)
        assert abs(single.right(scores).mean() - quadruples) <= 0.003
    best = build("mad", merged.graph, merged.seeds, entropy="bits").run(10)
    assert abs(merged.reciprocal_ranks(best).mean() - 0.914) <= 0.003  # the toolkit's figure


def test_quadruples_are_read_and_merged(tmp_path: Path) -> None:
    path = tmp_path / "training.gz"
    with gzip.open(path, "wt") as file:
        file.write("7 set stage for rise N\n7 set stage in May V\n8 sold shares of steel N\n")
    train = attachment.read_quadruples(path)
    assert train[1] == Quadruple("7", ("set", "stage", "in", "May"), 1)
    test = [Quadruple("9", ("set", "aims", "in", "June"), 1), Quadruple("9", ("sold", "x", "of", "y"), 0)]
    merged, single = Attachment.of([train, test, []], True), Attachment.of([train, test, []], False)
    assert (merged.mixed, len(merged.test), len(single.test)) == (1, 1, 2)
    assert merged.gold.tolist() == [[1, 1]]
    assert merged.majority.tolist() == [1]  # of ties the first
    answers = np.zeros((merged.graph.n_vertices, 3))
    answers[:, 0] = 1.0
    assert merged.right(answers).tolist() == [True]
    assert merged.right(answers, strict=True).tolist() == [False]
    assert merged.seeds.weights.tolist() == [1.0, 1.0, 1.0]
    with gzip.open(path, "wt") as file:
        file.write("7 set stage for rise X\n")
    with pytest.raises(FormatError, match="1"):
        attachment.read_quadruples(path)


@pytest.mark.must_show(
    "mad-class-instances",
    6,
    fails="the lead of MAD over LP-ZGL is larger at degrees 15 and 30 than at 3, but MAD with 2 seeds stays below the "
    "others with 10",
)
def test_noise_hurts_label_propagation_more_than_mad() -> None:
    found = degree_sweep((3, 15, 30), 10, 100, 3, 0, noise=True)
    lead = {degree: np.mean(found[degree, "MAD", 10]) - np.mean(found[degree, "LP-ZGL", 10]) for degree in (3, 15, 30)}
    assert lead[15] > lead[3] + 0.02
    assert lead[30] > lead[3]
    for rule in ("LP-ZGL", "Adsorption"):
        assert np.mean(found[30, "MAD", 2]) < np.mean(found[30, rule, 10])


@pytest.mark.must_show("mad-class-instances", 7)
@pytest.mark.parametrize("rule", PLAIN)
def test_true_attributes_raise_mrr_and_random_ones_do_not(rule: str) -> None:
    plain, true, shuffled = [], [], []
    for seed in range(3):
        blocks = generated_blocks(8, 80, 3, seed)
        plain.append(block_score(blocks, rule, 2, seed))
        true.append(block_score(with_attributes(blocks, 3, 0.3, seed), rule, 2, seed))
        shuffled.append(block_score(with_attributes(blocks, 3, 0.3, seed, shuffled=True), rule, 2, seed))
    assert np.mean(true) > np.mean(plain) + 0.03
    assert np.mean(shuffled) < np.mean(plain) + 0.01
    assert np.mean(true) > np.mean(shuffled) + 0.05


@pytest.mark.must_show(
    "mad-class-instances", 7, weaker="against shuffled attributes; above none only with 10 seeds or MAD"
)
def test_attributes_of_people_are_above_shuffled_ones_for_all_rules() -> None:
    options = RecipeOptions()
    try:
        people = People.of(attributes.read_triples(options.find(attributes.FILE)))
    except DataError as error:
        pytest.skip(str(error))
    assert (len(people.names), len(people.classes)) == (3830, 20)
    both = [f"values + {kind}relations" for kind in ("", "shuffled ")]
    found = experiment.attribute_runs(people, 2, 0, which=both)
    for count in (2, 10):
        for rule in PLAIN:
            true, shuffled = (np.mean(found[f"{name}, {count} seeds"][f"{rule}, by class"]) for name in both)
            assert true > shuffled + 0.01


def test_shuffled_attributes_are_as_many_and_point_elsewhere() -> None:
    triples = [(f"p{i}", "r", f"v{i % 3}") for i in range(30)] + [
        (f"p{i}", attributes.PROFESSION, "x" if i % 2 else "y") for i in range(30)
    ]
    people = People.of(triples, classes=2)
    assert people.classes == ["x", "y"]
    assert len(people.values) == 30
    assert len(people.relations) == 30
    drawn = people.shuffled(people.values, 1)
    assert np.array_equal(np.bincount(drawn[:, 1]), np.bincount(people.values[:, 1]))
    assert not np.array_equal(drawn, people.values)
    at, of = people.draw(3, 0)
    assert len(set(at.tolist())) == 6
    assert people.gold[at, of].all()
    assert people.graph(people.values, people.relations).n_edges == 60


def test_noise_raises_the_degree_of_instances() -> None:
    blocks = generated_blocks(5, 40, 3, 0)
    noisy = with_noise(blocks, 12, 0, size=50)
    assert abs(noisy.graph.degrees[:200].mean() - 12) < 0.5
    assert with_noise(blocks, 1, 0).graph.n_edges == blocks.graph.n_edges


def test_the_smallest_run_of_generated_data_and_time() -> None:
    result = RecipeResult("mad-class-instances")
    size = Size(draws=2, edges=(2_000, 4_000), instances=20, blocks=4, degrees=(3, 6))
    experiment._degrees(result, size, 0)
    experiment._time(result, size, 0)
    assert len(result.tables) == 3
    assert result.curves
