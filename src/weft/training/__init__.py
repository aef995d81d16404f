"""Training of whole pipelines from one configuration file: `weft train pipeline CONFIG.toml`."""

from weft.training.config import PipelineConfig, read_config
from weft.training.trainer import train_pipeline

__all__ = ["PipelineConfig", "read_config", "train_pipeline"]
