# All targets set up what they need in .venv, from nothing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := build/demo
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

# Keep the bytecode of modules even where the environment says not to: without it, every process compiles all of them.
unexport PYTHONDONTWRITEBYTECODE

EMPTY := build/no-corpora
LOWEST := build/lowest
WHEELS := build/wheels-$(notdir $(PYTHON))
PYTEST := $(BIN)/python -m pytest -q

.PHONY: demo check test again lowest stories timing budget mutants lint docs site render screenshots fuzz bench clean

$(VENV)/.run: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Weft needs Python 3.11 or newer; say which one: make PYTHON=python3.12"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) -e '.[parquet,learn]'
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

# Annotate a short text with the model of the package: trees, chunks, entities, and the same as CoNLL-U.
demo: $(VENV)/.run
	@mkdir -p $(DEMO)
	$(BIN)/weft annotate examples/note.txt --to show
	$(BIN)/weft annotate examples/note.txt --out $(DEMO)/note.conllu
	head -n 14 $(DEMO)/note.conllu
	@echo "All of it is in $(DEMO)/note.conllu; docs/start/tour.md continues from here."

# Lint, types and every test that needs no corpus: one that asks for a corpus finds an empty folder, and skips. Tests of
# Hypothesis make a tenth of the examples that `make test` makes.
check: lint
	@mkdir -p $(EMPTY)
	WEFT_DATA=$(CURDIR)/$(EMPTY) $(PYTEST) -n 2 --dist loadfile --no-loadscope-reorder --examples 0.1 \
		-m "not timing and not corpus"

# Everything but what measures time. A file goes whole to one of two workers, so that few kernels are compiled by both.
test: lint
	$(PYTEST) -n 2 --dist loadfile --no-loadscope-reorder -m "not timing" --note-failures

# The few tests that failed in `make test`, alone: what a busy machine alone made fail passes now.
again: $(VENV)/.dev
	$(BIN)/python tests/plugins/failures.py

# The stories of users with the lowest version of every dependency that pyproject.toml allows, in an environment and with
# compiled kernels of their own.
lowest: $(VENV)/.dev
	@mkdir -p $(LOWEST) $(EMPTY)
	test -x $(LOWEST)/venv/bin/python || $(PYTHON) -m venv $(LOWEST)/venv
	$(BIN)/python tests/lowest.py constraints > $(LOWEST)/constraints.txt
	$(BIN)/python tests/lowest.py requirements > $(LOWEST)/requirements.txt
	$(LOWEST)/venv/bin/python -m pip install --quiet --disable-pip-version-check \
		-r $(LOWEST)/requirements.txt -c $(LOWEST)/constraints.txt
	NUMBA_CACHE_DIR=$(CURDIR)/$(LOWEST)/kernels $(LOWEST)/venv/bin/python tests/lowest.py stories
	NUMBA_CACHE_DIR=$(CURDIR)/$(LOWEST)/kernels WEFT_DATA=$(CURDIR)/$(EMPTY) $(LOWEST)/venv/bin/python -m pytest -q -n 2 \
		--dist loadfile -m "not timing and not corpus" tests/cli tests/test_door.py

# The stories of users from a wheel, in a fresh environment, without the checkout and without network. The wheels of the
# dependencies are fetched beforehand, once for each PYTHON, which needs the network.
stories: $(WHEELS)/.filled
	rm -f $(WHEELS)/weft-*.whl
	$(PYTHON) -m pip wheel --quiet --no-index --find-links $(WHEELS) --no-deps --wheel-dir $(WHEELS) .
	$(PYTHON) tests/stories/tell.py wheels $(WHEELS)

$(WHEELS)/.filled: pyproject.toml
	@mkdir -p $(WHEELS)
	$(PYTHON) -m pip wheel --quiet --wheel-dir $(WHEELS) . setuptools
	@touch $@

# What measures time, alone on the machine.
timing: $(VENV)/.dev
	$(PYTEST) -m timing tests

# The CPU time that the checks of each published system take, against what a system may take; that of one with
# BY=flors; with BY=files, the time of every file of `make check`.
BY ?= systems
budget: $(VENV)/.dev
	@mkdir -p $(EMPTY)
	$(if $(filter files,$(BY)),WEFT_DATA=$(CURDIR)/$(EMPTY)) $(PYTEST) -n 2 --dist loadfile --budget $(BY) \
		$(if $(filter files,$(BY)),--examples 0.1) \
		-m "not timing$(if $(filter files,$(BY)), and not corpus)" $(if $(filter files,$(BY)),,tests)

# Break copies of the code on purpose and see that tests fail; of one system with SLUG=flors. Outcomes go to results/.
mutants: $(VENV)/.dev
	$(BIN)/python tests/mutants/run.py $(SLUG)

lint: $(VENV)/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

# The documentation with all examples run anew.
docs: $(VENV)/.docs render site

# The documentation as it is, into site/; runs no example. The search is asked for what people look for first.
site: $(VENV)/.docs
	$(BIN)/python docs/generate.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	$(BIN)/python docs/search.py site

# README and documentation show what results/ holds; this writes it anew.
render: $(VENV)/.run
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/pages.py

# The pictures of the page in the documentation; needs Chromium.
screenshots: $(VENV)/.dev
	$(BIN)/python docs/screenshots.py

# Attacks on all of Weft for so many minutes, recorded in results/; the same seed makes the same attacks.
MINUTES ?= 60
SEED ?= 0
fuzz: $(VENV)/.dev
	$(BIN)/python -m bench.fuzz --minutes $(MINUTES) --seed $(SEED) --keep build/fuzz

bench: $(VENV)/.bench
	set -e; for file in $$(grep -l '^def run(' bench/*.py); do $(BIN)/python bench/run.py $$(basename $$file .py); done

clean:
	rm -rf $(VENV) build site .mypy_cache .ruff_cache .hypothesis src/*.egg-info
	find src tests bench -name __pycache__ -type d -exec rm -rf {} +
