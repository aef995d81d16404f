"""The recipe of heterogeneous-networks: `experiment` runs parts `impact`, `names` and `titles` on the `anthology`."""

from weft.recipes.extraction.heterogeneous_networks.experiment import VARIATION, run

__all__ = ["VARIATION", "run"]
