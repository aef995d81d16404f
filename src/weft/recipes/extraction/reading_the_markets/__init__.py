"""The recipe of reading-the-markets: tweets and prices of `stocknet`, and a `planted` market with known events."""

from weft.recipes.extraction.reading_the_markets.experiment import VARIATION, run

__all__ = ["VARIATION", "run"]
