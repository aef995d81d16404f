"""Fit the temperature of a trained chain (`weft.learn.temperature`) on sentences it was not trained on.

With dev data, the temperature is fitted to the trained weights. Without it, a second set of weights is trained on the
first part of the training set and the temperature is fitted on the rest. Only the scale of the weights matters, and it
is close to that of the weights in use.
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

#: Shares of the training set to train on and to fit on, and the smallest number of sentences for which this is done.
LEARN, JUDGE, FEWEST = 0.5, 0.1, 50


def temperature_on(chain: Chain | CandidateChain, gold: NDArray[np.integer]) -> float:
    """The temperature that maximizes the likelihood of the gold states (or candidates) at each position.

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
    """The temperature for the weights that the chosen learner trains on a training set."""
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
