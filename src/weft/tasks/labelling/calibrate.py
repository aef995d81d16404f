"""The temperature of a trained chain (`weft.learn.temperature`), from sentences it did not learn from.

With dev data the trained weights themselves are judged. Without it, weights are learned a second time from the first
part of the training set and judged on the part behind it; their scale is near that of the weights in use, and only the
scale matters.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from weft.infer.chains.candidates import CandidateChain
from weft.infer.chains.chain import Chain
from weft.learn.temperature import fit_temperature, loss_of_marginals

if TYPE_CHECKING:
    from weft.learn.cost import Cost
    from weft.tasks.labelling.candidate_data import CandidateData
    from weft.tasks.labelling.chain_data import ChainData
    from weft.tasks.labelling.labeller import LabellerSettings

#: Shares of the training set to learn from and to judge on, and the fewest sentences that are worth it.
LEARN, JUDGE, FEWEST = 0.5, 0.1, 50


def temperature_on(chain: Chain | CandidateChain, gold: NDArray[np.integer]) -> float:
    """The temperature at which the gold states (or candidates) of a chain are likeliest, position by position.

    >>> chain = Chain([[0.0, 10.0], [0.0, 10.0], [0.0, 10.0]], np.zeros((2, 2)), [0, 1, 2, 3])
    >>> round(10 / temperature_on(chain, np.array([1, 1, 0])), 1)  # two of three right: log odds of log 2
    0.7
    """
    place = (
        chain.slots[:-1] + gold if isinstance(chain, CandidateChain) else np.arange(len(gold)) * chain.n_states + gold
    )

    def loss(temperature: float) -> float:
        return loss_of_marginals(chain.temper(temperature).marginals().node.reshape(-1)[place])

    return fit_temperature(loss)


def held_out_temperature(
    data: ChainData | CandidateData, settings: LabellerSettings, cost: float | Cost | None = None
) -> float:
    """The temperature of the weights that the settings' learner finds in a training set."""
    from weft.tasks.labelling.labeller import learn

    n = len(data.batch)
    if n < FEWEST:
        return 1.0
    end = n - int(JUDGE * n)
    known, unseen = data.batch.cut(0, int(LEARN * n)), data.batch.cut(end, n)
    part = replace(data, batch=known)  # type: ignore[arg-type]
    weights = learn(part, replace(settings, checkpoint=""), cost=cost).weights
    gold = unseen.gold
    assert gold is not None
    return temperature_on(data.model.score(unseen, weights), gold)  # type: ignore[arg-type]
