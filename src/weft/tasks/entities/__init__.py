"""Named entities: from labelled text, over a bitext, or by transfer from other languages."""
