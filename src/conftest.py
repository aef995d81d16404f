"""Examples that need a package which is not part of the `dev` extra are run where it is installed."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("spacy") else ["weft/interop/spacy_docs.py"]
