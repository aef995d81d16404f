"""What is known of words beyond a corpus: classes of words, dictionaries, lists of expressions."""
