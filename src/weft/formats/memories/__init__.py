"""Files of translators: memories and catalogues of segments with their translations (TMX, XLIFF, PO, two columns)."""
