"""N-gram language models over tokens: counting, smoothing, pruning, mixing, constraining, querying and sampling."""
