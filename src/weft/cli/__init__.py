"""The command line: `weft COMMAND`. Commands are imported when they are asked for, so that help is quick."""

from __future__ import annotations


def main() -> None:
    """Run the command line; the console script `weft`."""
    from weft.cli.app import run

    run()
