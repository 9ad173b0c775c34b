# One command each, on a fresh Debian or Ubuntu too: every target first installs what it needs into $(VENV).
# Another interpreter gets an environment of its own: make test PYTHON=python3.12
PYTHON ?= python3
VENV ?= .venv$(if $(filter-out python3,$(PYTHON)),-$(notdir $(PYTHON)))
BIN := $(VENV)/bin
COMPILE := $(BIN)/uv pip compile --quiet --no-config --universal --python-version 3.11 --generate-hashes \
	--custom-compile-command "make lock" $(UPGRADE)
SHELL := /bin/bash
MAKEFLAGS += --no-print-directory
# one more process of tests than cores: at any time some wait for the disk or for a process of their own
export PYTEST_XDIST_AUTO_NUM_WORKERS ?= $(shell echo $$(($$(nproc) + 1)))
section = @printf '\n=== %s\n' '$(1)'

.DELETE_ON_ERROR:
.PHONY: help install demo test torture audit mutants bench docs lock test-lowest clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1\t/p' Makefile | expand -t 14

install: $(VENV)/installed ## install from the lock; skipped while lock and pyproject.toml are unchanged

$(VENV)/installed: pyproject.toml requirements.lock .ci/install
	@.ci/install $(PYTHON) $(VENV) requirements.lock
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

demo: install ## measure a population on loopback without one true value leaving a device
	@$(BIN)/python -m examples.demo

test: install ## lint, format, types, layers, and every test but the long ones
	$(call section,ruff check)
	@$(BIN)/ruff check
	$(call section,ruff format)
	@$(BIN)/ruff format --check
	$(call section,mypy --strict)
	@$(BIN)/mypy
	$(call section,layers)
	@$(BIN)/lint-imports
	$(call section,image and compose file)
	@$(BIN)/hadolint Dockerfile
	@$(BIN)/check-jsonschema --builtin-schema vendor.compose-spec docker-compose.yml
	$(call section,pytest)
	@.ci/packages $(PYTHON)
	@$(BIN)/python -m pytest -n auto -m 'not torture'

torture: install ## the long crash, load and hostile runs
	@.ci/packages $(PYTHON)
	@$(BIN)/python -m pytest -n 2 -m torture

audit: install ## the enclosed privacy loss of every mechanism against its claim, and an attack on the bytes
	@$(BIN)/hubbub audit --black-box

mutants: install ## plant known faults and see each of them caught
	@$(BIN)/python -m tests.mutants

bench: install .venv-bench/installed ## every goal against its peers, measured in pairs
	@$(BIN)/python -m benchmarks

.venv-bench/installed: benchmarks/peers.lock .ci/install
	@.ci/install $(PYTHON) .venv-bench benchmarks/peers.lock \
		&& touch $@ || echo "some peers could not be installed; the benchmarks say which are missing"

docs: install ## the examples and links of every page
	@$(BIN)/python -m pytest README.md docs tests/test_links.py

lock: install ## compile the locks anew, keeping versions that still fit; newest of all: make lock UPGRADE=--upgrade
	@$(COMPILE) pyproject.toml --extra dev --output-file requirements.lock
	@$(COMPILE) pyproject.toml --extra server --extra postgres --constraint requirements.lock --output-file requirements-server.lock
	@$(COMPILE) benchmarks/peers.in --output-file benchmarks/peers.lock

test-lowest: install ## the tests on the oldest releases that pyproject.toml claims
	@mkdir -p build
	@$(BIN)/uv pip compile --quiet --no-config --resolution lowest-direct --generate-hashes --extra dev \
		--python $(BIN)/python pyproject.toml --output-file build/lowest.lock
	@.ci/install $(PYTHON) .venv-lowest build/lowest.lock
	@.venv-lowest/bin/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@.venv-lowest/bin/python -m pytest -n auto -m 'not torture'

clean: ## remove what the other targets made
	@rm -rf .venv .venv-* build dist .*_cache .hypothesis *.egg-info
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
