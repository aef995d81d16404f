"""The command line: `weft COMMAND`. Commands are imported on first use, so that help is fast."""

from __future__ import annotations


def main() -> None:
    """Run the command line; the console script `weft`."""
    from weft.cli.app import run

    run()
