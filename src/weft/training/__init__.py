"""Whole pipelines from one file that says what is learned from which corpora: `weft train pipeline CONFIG.toml`."""

from weft.training.config import PipelineConfig, read_config
from weft.training.trainer import train_pipeline

__all__ = ["PipelineConfig", "read_config", "train_pipeline"]
