# `make demo` and `make test` set up everything they need in .venv, from nothing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := build/demo
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test lint docs render screenshots bench clean

$(VENV)/.run: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Weft needs Python 3.11 or newer; say which one: make PYTHON=python3.12"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.run
	$(PIP) -e '.[dev]'
	@touch $@

$(VENV)/.docs: $(VENV)/.run
	$(PIP) -e '.[docs]'
	@touch $@

$(VENV)/.bench: $(VENV)/.run
	$(PIP) -e '.[bench]'
	@touch $@

# Train a chunker on a few sentences, see what it finds in others, score it.
demo: $(VENV)/.run
	@mkdir -p $(DEMO)
	$(BIN)/weft train chunker examples/chunks.conll --out $(DEMO)/chunker.weft --set order=2 --seed 1
	$(BIN)/weft annotate examples/unseen.conll --model $(DEMO)/chunker.weft --show
	$(BIN)/weft annotate examples/unseen.conll --model $(DEMO)/chunker.weft --out $(DEMO)/found.conll
	$(BIN)/weft evaluate examples/unseen.conll $(DEMO)/found.conll
	@echo "The model is $(DEMO)/chunker.weft; docs/tour.md goes on from here."

# Files go whole to one of two workers, so that each kernel is compiled by few of them.
test: lint
	$(BIN)/python -m pytest -q -n 2 --dist loadfile

lint: $(VENV)/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

docs: $(VENV)/.docs render
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# README and documentation show what results/ holds; this writes it anew.
render: $(VENV)/.run results/demo.txt
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/pages.py

# What `make demo` shows, for the README.
results/demo.txt: examples/chunks.conll examples/unseen.conll | $(VENV)/.run
	@mkdir -p results
	COLUMNS=100 $(MAKE) --no-print-directory demo | sed -n 's#$(BIN)/weft#$$ weft#; /^The model/d; /--show/,$$p' > $@.part
	mv $@.part $@

# The pictures of the page in the documentation; needs Chromium.
screenshots: $(VENV)/.dev
	$(BIN)/python docs/screenshots.py

bench: $(VENV)/.bench
	set -e; for file in bench/[a-z]*.py; do $(BIN)/weft bench $$(basename $$file .py); done

clean:
	rm -rf $(VENV) build site .mypy_cache .ruff_cache .hypothesis src/*.egg-info
	find src tests bench -name __pycache__ -type d -exec rm -rf {} +
