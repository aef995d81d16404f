"""Papers, authors, venues and terms as one typed graph: rankings, people who share a name, and topics."""

from weft.tasks.bibliographies.papers import Paper, read_papers
from weft.tasks.bibliographies.schema import Bibliography, bibliography
from weft.tasks.bibliographies.terms import title_terms

__all__ = ["Bibliography", "Paper", "bibliography", "read_papers", "title_terms"]
