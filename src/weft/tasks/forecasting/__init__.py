"""Forecasts of a series of prices from each morning's news, and which events move it."""

from weft.tasks.forecasting.forecaster import Forecaster, ForecastSettings

__all__ = ["ForecastSettings", "Forecaster"]
