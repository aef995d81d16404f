# `make demo` and `make test` set up everything they need in .venv, from nothing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := build/demo

.PHONY: demo test lint docs render bench clean

$(VENV)/.dev: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Weft needs Python 3.11 or newer; say which one: make PYTHON=python3.12"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

$(VENV)/.docs: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	@touch $@

$(VENV)/.bench: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	@touch $@

demo: $(VENV)/.dev
	@mkdir -p $(DEMO)
	$(BIN)/weft train chunker examples/chunks.txt --out $(DEMO)/chunker.weft --seed 1
	$(BIN)/weft models info $(DEMO)/chunker.weft
	$(BIN)/weft annotate examples/note.txt --model $(DEMO)/chunker.weft --to show

test: lint
	$(BIN)/python -m pytest -q -n 2 --dist loadfile

lint: $(VENV)/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

docs: $(VENV)/.docs render
	$(BIN)/mkdocs build --strict

# README and docs/systems.md show figures from results/; this writes them anew.
render: $(VENV)/.dev
	$(BIN)/python docs/generate.py

bench: $(VENV)/.bench
	set -e; for file in bench/[a-z]*.py; do $(BIN)/weft bench $$(basename $$file .py); done

clean:
	rm -rf $(VENV) build site .mypy_cache .ruff_cache .hypothesis src/*.egg-info
	find src tests bench -name __pycache__ -type d -exec rm -rf {} +
