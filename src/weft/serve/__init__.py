"""The HTTP API and web page for trained pipelines: `weft serve`. Needs the extra `serve` (FastAPI and Uvicorn)."""

from weft.serve.app import create_app
from weft.serve.server import running, serve
from weft.serve.service import Limits, Service

__all__ = ["Limits", "Service", "create_app", "running", "serve"]
