"""Random documents for the tests of formats."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import strategies as st

from weft.text import ClusterLayer, ConstituentLayer, Doc, EmptyNode, GraphLayer, Multiword, RelationLayer, SpanLayer

letters = st.sampled_from("abcXYZ09éß语🙂-.=#'")
forms = st.text(letters, min_size=1, max_size=6)
labels = st.sampled_from(["NP", "VP", "PER", "ORG"])
values = st.one_of(st.just(""), st.text(st.sampled_from("abcÄ="), min_size=1, max_size=4))


@st.composite
def tokenized(draw: st.DrawFn, blanks: st.SearchStrategy[str] | None = None) -> Doc:
    """Words, sentences, columns and heads (a tree or not set); gaps between tokens as `blanks` gives them."""
    lengths = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    words = [draw(forms) for _ in range(sum(lengths))]
    text, starts, ends = draw(st.sampled_from(["", " "])) if blanks is not None else "", [], []
    for i, word in enumerate(words):
        starts.append(len(text))
        text += word
        ends.append(len(text))
        if i + 1 < len(words):
            text += draw(blanks) if blanks is not None else " "
    doc = Doc(text)
    doc.set_offsets(starts, ends)
    offsets = [0]
    for length in lengths:
        offsets.append(offsets[-1] + length)
    doc.set_sentences(offsets)
    for name in ("lemma", "upos", "xpos", "feats", "deprel", "deps"):
        if draw(st.booleans()):
            doc.set_column(name, [draw(values) for _ in words])
    if draw(st.booleans()):
        import numpy as np

        doc.head = np.array([draw(st.integers(0, i)) for n in lengths for i in range(n)], dtype=np.int32)
    return doc


@st.composite
def with_conllu_extras(draw: st.DrawFn) -> Doc:
    """A tokenized document with multiword tokens, empty nodes, comments and any spacing."""
    doc = draw(tokenized(st.sampled_from(["", " ", "\n", "\n\n", " \t", "\u00a0", " | "])))
    import numpy as np

    word_token, token, multiwords = [], 0, []
    for s in range(doc.n_sentences):
        first, end = doc.sentence_offsets[s : s + 2].tolist()
        i = first
        while i < end:
            size = min(draw(st.sampled_from([1, 1, 1, 2])), end - i)
            word_token += [token] * size
            if size > 1:
                multiwords.append((i, i + size, token))
            token += 1
            i += size
    kept = [word_token.index(t) for t in range(token)]
    forms_of_words = doc.column("form")
    columns = {name: ids for name, ids in doc.columns.items() if name != "form"}
    head = doc.head
    comments = [tuple(draw(st.lists(st.sampled_from(["# newpar", "# text = a\tb", "# genre = x"]), max_size=2)))
                for _ in range(doc.n_sentences)]  # fmt: skip
    offsets = doc.sentence_offsets
    text, starts, ends = doc.text[: doc.token_start[0]], [], []
    for t, word in enumerate(kept):
        starts.append(len(text))
        text += forms_of_words[word]
        ends.append(len(text))
        if t + 1 < len(kept):
            text += doc.text[doc.token_end[kept[t + 1] - 1] : doc.token_start[kept[t + 1]]]
    result = Doc(text)
    result.set_offsets(starts, ends)
    result.word_token = np.array(word_token, dtype=np.int32)
    result.set_column("form", result.strings.ids(forms_of_words))
    for name, ids in columns.items():
        result.set_column(name, doc.strings.strings(ids))
    result.head = head
    result.set_sentences(offsets)
    result.comments = comments
    result.multiwords = [
        Multiword(a, b, (result.text[starts[t] : ends[t]], *[draw(values) for _ in range(7)], ""))
        for a, b, t in multiwords
    ]
    for s in range(result.n_sentences):
        length = int(offsets[s + 1] - offsets[s])
        for after in sorted(draw(st.sets(st.integers(0, length), max_size=2))):
            for number in range(1, draw(st.integers(1, 2)) + 1):
                result.empty_nodes.append(EmptyNode(s, after, number, tuple(draw(values) for _ in range(9))))
    return result


@st.composite
def full(draw: st.DrawFn) -> Doc:
    """A document with everything a `Doc` can hold."""
    import numpy as np

    doc = draw(with_conllu_extras())
    doc.meta.update(draw(st.dictionaries(st.sampled_from(["id", "genre"]), st.text(max_size=4), max_size=2)))
    doc.set_column("own", [draw(values) for _ in range(doc.n_words)])
    doc.confidence["upos"] = np.array([draw(st.floats(0, 1, width=32)) for _ in range(doc.n_words)], dtype=np.float32)
    offsets = doc.sentence_offsets.tolist()
    sentences = [(a, b) for a, b in pairwise(offsets) if a < b]
    phrases = [(draw(labels), a, b, -1) for a, b in sentences]
    doc.constituents = ConstituentLayer.of(doc.strings, phrases)
    for unit, limit in (("words", doc.n_words), ("chars", len(doc.text))):
        layer = doc.spans[unit] = SpanLayer(doc.strings, unit)  # type: ignore[arg-type]
        for number in range(draw(st.integers(0, 4))):
            borders = sorted(draw(st.sets(st.integers(0, limit), min_size=2, max_size=4)))
            pieces = list(zip(borders[::2], borders[1::2], strict=False))
            layer.add(pieces, draw(labels), draw(st.sampled_from(["", f"T{number}"])))
            if draw(st.booleans()):
                layer.attributes[number] = {"sure": True, "notes": [["a", "b"]]}
    count = len(doc.spans["words"])
    if count:
        relations = doc.relations["rel"] = RelationLayer(doc.strings, "words")
        graph = doc.graphs["graph"] = GraphLayer(doc.strings, "words")
        for _ in range(draw(st.integers(0, 3))):
            relations.add(draw(st.integers(0, count - 1)), draw(st.integers(0, count - 1)), draw(labels))
            graph.node(draw(labels), draw(st.integers(-1, count - 1)), "n")
        if len(graph):
            graph.edge(0, len(graph) - 1, "arg")
        doc.clusters["coref"] = ClusterLayer("words", [draw(st.integers(-1, 2)) for _ in range(count)])
    return doc
