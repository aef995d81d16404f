"""What reading or converting a corpus left out."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Report:
    """The parts of the input that a reader skipped, and the layers that a conversion lost.

    `count` is the number of bad sentences and documents that `skip_bad` skipped, `messages` holds the first `keep`
    error messages, `lost` names the layers that the target format cannot hold, and `read_as` names the files whose
    encoding was guessed, by that encoding.

    >>> from weft.errors import FormatError
    >>> report = Report()
    >>> report.add(FormatError("a.conllu", 3, "10 columns", "9 columns"))
    >>> report.count, report.messages
    (1, ['a.conllu, line 3: expected 10 columns, found 9 columns'])
    """

    count: int = 0
    messages: list[str] = field(default_factory=list)
    keep: int = 20
    lost: set[str] = field(default_factory=set)
    read_as: dict[str, list[str]] = field(default_factory=dict)

    def add(self, error: Exception) -> None:
        """Count one skipped part."""
        self.count += 1
        if len(self.messages) < self.keep:
            self.messages.append(str(error))

    def clear(self) -> None:
        """Reset the report before a new pass over the corpus."""
        self.count = 0
        self.messages = []
        self.lost = set()
        self.read_as = {}
