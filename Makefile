# The commands of this project; `make help` lists them. Nothing but the package index is asked over the network, with pip's
# own settings. Settings: PYTHON=<command> for another Python, VENV=<folder>, ARGS=<more arguments for pytest>,
# CONSTRAINTS=<file> for pip (CI passes the floors of requirements.txt).
PYTHON ?= python3.12 python3.13 python3.11 python3
VENV ?= .venv
CONSTRAINTS ?=
ARGS ?=

BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
BENCH_INSTALLED := $(VENV)/.installed-bench
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check $(if $(CONSTRAINTS),-c $(CONSTRAINTS))
PACKAGE := usr/plugins/software_orchestrator
# helpers/ is checked under the name it is imported by; the link stands in a folder where the host's `helpers` cannot be found.
LINK_HELPERS := mkdir -p build/types/$(PACKAGE) && ln -sfn ../../../../../helpers build/types/$(PACKAGE)/helpers

.PHONY: help setup demo test lint types check schema bench clean FORCE
.DEFAULT_GOAL := help

help:  ## list the commands
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' Makefile | expand -t 16

setup: $(INSTALLED)  ## make .venv and install what is needed; does nothing when that is up to date

# Made anew when it is missing, cut short, or its Python is gone.
$(INSTALLED): requirements.txt requirements-dev.txt $(CONSTRAINTS) $(if $(shell test -x $(BIN)/python && echo good),,FORCE)
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || { \
	    python=$$(sh .ci/find-python $(PYTHON)) && \
	    echo "Setting up $(VENV) with $$($$python -V) (once, about a minute)" && \
	    $$python -m venv --clear $(VENV); }
	@$(PIP_INSTALL) -r requirements.txt -r requirements-dev.txt && touch $@

$(BENCH_INSTALLED): requirements-bench.txt $(INSTALLED)
	@$(PIP_INSTALL) -r requirements-bench.txt && touch $@

demo: setup  ## hand the landing page chat over to the frontend designer in a fresh project folder, and show what comes out
	@$(BIN)/python execute.py demo

# The pytest command, not `python -m pytest`: the latter puts this folder on sys.path, where our helpers/ would pass for the host's.
test: setup  ## run every test
	@$(BIN)/pytest -n 2 -q $(ARGS)

lint: setup  ## ruff, and import-linter on the rooms of helpers/
	@$(BIN)/ruff check .
	@$(LINK_HELPERS)
	@PYTHONPATH=build/types $(BIN)/lint-imports --no-cache >build/lint-imports.txt || { cat build/lint-imports.txt; exit 1; }

types: setup  ## mypy, strict, on helpers/
	@$(LINK_HELPERS)
	@cd build/types && $(abspath $(BIN))/mypy --config-file ../../pyproject.toml -p usr.plugins.software_orchestrator.helpers

check: lint types test  ## lint, types and tests

schema: setup  ## write docs/packet.schema.json anew, from helpers/values/packet.py
	@$(BIN)/python -c 'import json, execute; execute.make_importable(); \
	from usr.plugins.software_orchestrator.helpers.values.packet import schema; print(json.dumps(schema(), indent=2))' > docs/packet.schema.json

bench: setup $(BENCH_INSTALLED)  ## run the benchmarks; minutes, alone on the machine
	@set -e; for bench in benchmarks/bench_*.py; do echo "== $$bench"; $(BIN)/python $$bench; done

clean:  ## remove what the commands above have made; the installation's key lies elsewhere
	rm -rf .venv .venv-* build .pytest_cache .mypy_cache .hypothesis
	find . \( -name __pycache__ -o -name .ruff_cache \) -type d -prune -exec rm -rf {} +
