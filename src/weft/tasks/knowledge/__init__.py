"""Knowledge graphs: built from documents, and completed by ranking what paths lead to."""
