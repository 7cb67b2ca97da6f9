# Every target works as the first command in a clean clone: each fills `.venv` as far as it needs.
#
#   make demo    record a real run of several agents and walk through it
#   make test    the test suite, in minutes
#   make bench   the performance figures
#   make lint    format, lint, types and import floors
#   make docs    run every example of the manual
#   make soak    the laws with 100,000 examples each, and the long tests
#
# `make test ARGS='-k diff -x'` hands arguments on. `make PYTHON=/path/to/python3.12 …` picks a Python.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --disable-pip-version-check --quiet
ARGS ?=
# Tests run side by side, one process per core; benchmarks have the machine to themselves.
SIDE_BY_SIDE := -n auto --dist worksteal --benchmark-disable
SOAK_EXAMPLES ?= 100000

# The first Python that starts and is new enough; a version manager's shim may be there and not start.
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
ifeq ($(origin PYTHON), undefined)
PYTHON := $(shell for name in python3.11 python3 python3.12 python3.13 python3.14; do \
	$$name -c '$(NEW_ENOUGH)' 2>/dev/null && { echo $$name; break; }; done)
endif

.PHONY: help demo test bench lint floors docs soak coverage format build clean

help:
	@sed -n '3,8p' Makefile | cut -c3-

demo: $(VENV)/.base
	@$(BIN)/python examples/demo.py $(ARGS)

test: $(VENV)/.dev
	@$(BIN)/python -m pytest $(SIDE_BY_SIDE) $(ARGS)

coverage: $(VENV)/.dev
	@$(BIN)/python -m pytest $(SIDE_BY_SIDE) --cov --cov-report=term $(ARGS)

bench: $(VENV)/.dev
	@$(BIN)/python -m pytest tests/test_performance*.py --benchmark-only --capture=no $(ARGS)

lint: $(VENV)/.dev floors
	@$(BIN)/ruff format --check
	@$(BIN)/ruff check
	@$(BIN)/mypy

floors: $(VENV)/.dev
	@$(BIN)/lint-imports

docs: $(VENV)/.dev
	@$(BIN)/python -m pytest tests/test_docs.py tests/test_spec.py $(ARGS)

soak: $(VENV)/.dev
	@HYPOTHESIS_PROFILE=soak SOAK_EXAMPLES=$(SOAK_EXAMPLES) \
		$(BIN)/python -m pytest $(SIDE_BY_SIDE) -m 'law or soak' $(ARGS)

format: $(VENV)/.dev
	@$(BIN)/ruff check --fix-only --quiet
	@$(BIN)/ruff format

build: $(VENV)/.dev
	@rm -rf dist
	@$(BIN)/python -m build --outdir dist

clean:
	rm -rf $(VENV) dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .coverage*

# What `demo` needs: the package as a user installs it, with what reads conditions.
$(VENV)/.base: pyproject.toml | $(BIN)/python
	@echo 'Installing argentum into $(VENV) …'
	@$(PIP) --editable '.[conditions]'
	@touch $@

# What everything else needs; it contains the base.
$(VENV)/.dev: pyproject.toml | $(BIN)/python
	@echo 'Installing argentum and its development tools into $(VENV) …'
	@$(PIP) --editable '.[dev]'
	@touch $@ $(VENV)/.base

$(BIN)/python:
	@$(or $(PYTHON),false) -c '$(NEW_ENOUGH)' 2>/dev/null || { \
		echo 'Argentum needs Python 3.11 or newer; $(if $(PYTHON),$(PYTHON) is older or does not start,found none).' >&2; \
		echo 'Install one, or name it: make PYTHON=/path/to/python3.12 $(MAKECMDGOALS)' >&2; exit 2; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
		echo '$(PYTHON) cannot make a virtual environment. On Debian and Ubuntu: apt-get install python3-venv' >&2; \
		exit 2; }
