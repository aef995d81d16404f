"""Label Studio's JSON: see `weft.formats.label_studio.files`."""

from weft.formats.label_studio.files import read, write
from weft.formats.label_studio.interface import interface

__all__ = ["interface", "read", "write"]
