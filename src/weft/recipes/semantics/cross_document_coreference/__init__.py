"""Singh, Subramanya, Pereira and McCallum (2011): cross-document coreference."""
