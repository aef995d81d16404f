"""Twenty people answer at once while the server is killed five times: what was acknowledged is there, and once.

`bench/workbench.py` does the same with 10,000 answers and records it.
"""

from __future__ import annotations

import socket
from pathlib import Path

import weft
from weft.workbench.items import add_texts
from weft.workbench.project import Settings, create

from simulated_annotators import simulate  # isort: skip


def test_no_acknowledged_answer_is_lost_when_the_server_is_killed(tmp_path: Path) -> None:
    folder = tmp_path / "crowd"
    docs = [weft.Doc.from_words([["item", str(number)]]) for number in range(500)]
    with create(folder, Settings("labels", ["a", "b"], per_item=2, retrain=0)) as project:
        add_texts(project, docs)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    outcome = simulate(folder, port, people=20, kinds=["a", "b"], kills=5, answers=1000, wait=120)
    assert (outcome.kills, outcome.lost, outcome.twice, outcome.wrong) == (5, 0, 0, 0)
    assert outcome.acknowledged == 1000
