"""Features: what models see of a text, as 64-bit keys, and the weights of those keys.

templates    `templates` parses feature templates written as data, `program` compiles them to integer programs and runs
             them, `extract` binds their fields to columns of documents, `by_type` scores them once per word type
words        `attributes`, `lexicon`, `characters`, `morphology`, `signatures`, `gazetteer`, `surroundings`
trees        `tree_templates` for the parts of dependency trees, `relation_templates` and `tree_relations` for the
             relations of finished trees
documents    `document_terms`
weights      `index` maps keys to rows, `weights` holds trained tables, `cache` keeps computed values

`representations` are learned from unlabelled text: neighbour counts, word vectors, principal components, trigrams,
structural correspondences.
"""
