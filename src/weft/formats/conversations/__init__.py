"""Conversations in tables and of ConvoKit: see `weft.formats.conversations.files`."""

from weft.formats.conversations.files import read, write

__all__ = ["read", "write"]
