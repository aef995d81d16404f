"""Templates of boundaries: the compiled program joins what the templates say."""

from __future__ import annotations

import numpy as np

from weft.hashing import join
from weft.tasks.segmentation.boundary_templates import ATOMS, GROUPS, compile_templates


def test_every_node_of_the_program_is_the_join_of_its_template():
    program = compile_templates(GROUPS)
    random = np.random.default_rng(0)
    drawn = random.integers(0, 1 << 62, len(ATOMS)).astype(np.uint64)
    values = np.where(program.values > 0, program.values, drawn)
    templates = [template.split() for group in GROUPS.values() for template in group]
    for gap in range(3):
        nodes = program.nodes.copy()
        for n in range(int(program.joins[0]), len(nodes)):
            nodes[n] = join(nodes[program.sources[gap, n]], values[program.atoms[n]])
        for template, end in zip(templates, program.ends, strict=True):
            key = join(np.uint64(gap + 1), np.uint64(template[0]))
            for name in template[1:]:
                key = join(np.uint64(key), np.uint64(name[1:]) if name.startswith("=") else values[ATOMS.index(name)])
            assert nodes[end] == key


def test_no_template_stands_twice():
    templates = [template for group in GROUPS.values() for template in group]
    assert len(set(templates)) == len(templates)
