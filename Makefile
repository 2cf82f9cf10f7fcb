# Every command a person or CI needs. They want Python 3.11+ and make, and say so if it is missing.

VENV := .venv
BIN := $(VENV)/bin
# The first of these that runs and is new enough; another one: make chat PYTHON=/path/to/python3
CANDIDATES := python3 python3.14 python3.13 python3.12 python3.11
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for python in $(CANDIDATES); do \
	"$$python" -c '$(NEW_ENOUGH)' 2> /dev/null && echo "$$python" && break; done)
ARGS ?=
# More processes than most machines have processors: a test of a screen waits a third of its time.
SPREAD := --numprocesses 4 --dist worksteal

.PHONY: help setup chat pipeline test test-full check types fast lock check-lock fix proto demo bench screenshots pipeline-pictures clean

help: ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

# Exactly the files that requirements/*.txt names by their hashes. First what builds, for what comes
# as sources is built with that, and not with what is newest that day.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
LOCKED := DIST_EXTRA_CONFIG="$(CURDIR)/requirements/wheels.cfg" $(INSTALL) --no-build-isolation --require-hashes

$(VENV)/.chat: pyproject.toml requirements/build.txt requirements/chat.txt
	@test -n "$(PYTHON)" || { echo "This needs Python 3.11 or newer: install it (Debian: apt install python3 python3-venv), or point to one with PYTHON=/path/to/python3."; exit 1; }
	@"$(PYTHON)" -c 'import venv, ensurepip' 2>/dev/null || { echo "Python's venv module is missing: install it (Debian: apt install python3-venv)."; exit 1; }
	@test -x $(BIN)/python || { echo "Making the environment in $(VENV) ..."; "$(PYTHON)" -m venv $(VENV); }
	@echo "Installing what the chat needs (a minute, the first time) ..."
	@$(INSTALL) --require-hashes -r requirements/build.txt && $(LOCKED) -r requirements/chat.txt && PYTHONWARNINGS=ignore $(INSTALL) --no-build-isolation --no-deps -e . || { echo "Installing failed: is this computer online? Run the command again when it is."; exit 1; }
	@touch $@

$(VENV)/.pipeline: $(VENV)/.chat requirements/pipeline.txt
	@echo "Installing what the pipeline needs (700 MB) ..."
	@$(LOCKED) -r requirements/pipeline.txt
	@touch $@

# pip compiles with one processor. Some packages have files that are no Python, which it passes over.
$(VENV)/.dev: $(VENV)/.chat requirements/dev.txt
	@echo "Installing what tests and checks need ..."
	@$(LOCKED) --no-compile -r requirements/dev.txt
	@$(BIN)/python -m compileall -qq -j 0 $(VENV)/lib || true
	@touch $@

# Without Java there is nothing to prepare, and one sentence says so.
$(VENV)/.classes: $(VENV)/.dev
	@$(BIN)/chat-tui pipeline prepare && touch $@ || echo "Everything but the pipeline works without."

setup: $(VENV)/.dev $(VENV)/.classes ## make the environment for everything, with tests and checks

chat: $(VENV)/.chat ## start the chat; options in ARGS="--profile bob --name bob"
	@$(BIN)/chat-tui $(ARGS)

pipeline: $(VENV)/.pipeline ## add what the audit pipeline needs to the environment; it wants Java too

# mypy is one process of a minute and more, so the tests run beside it; both say all they find.
check: $(VENV)/.dev ## format, lint, types, walls, fast tests: what every commit passes
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-cache
	@$(MAKE) --no-print-directory --jobs 2 --keep-going types fast

types: $(VENV)/.dev
	$(BIN)/mypy

# pytest compiles each file of tests with its asserts written anew, and keeps the outcome. In a fresh
# clone all processes would do so at the same time; here one does it first, beside mypy.
fast: $(VENV)/.dev
	@test -n "$$PYTHONDONTWRITEBYTECODE" -o -d tests/__pycache__ || $(BIN)/pytest -qq --collect-only > /dev/null || true
	MAKEFLAGS= $(BIN)/pytest -q $(SPREAD)

# CI has run the fast tests in `make check` a moment before: `make test CHECKED=yes` runs the others.
MACHINES := not grid and not spark
ifdef CHECKED
MACHINES := (slow or net or lan) and $(MACHINES)
endif

# What opens sockets, starts programs or fills a terminal waits for real time most of its own, so
# many run at a time, and what waits for nothing runs beside it; of Spark's, each of two processes
# has a session and half of what needs one.
ifeq ($(origin FILE),command line)
test: $(VENV)/.dev $(VENV)/.classes
	@for path in $(FILE); do test -e "$${path%%::*}" || { \
		echo "There is no $${path%%::*}: FILE is a file or a folder of tests, such as tests/sync/sds."; exit 1; }; done
	$(BIN)/pytest --numprocesses 2 --dist worksteal -m "not grid" $(FILE)
else
test: $(VENV)/.dev $(VENV)/.classes ## every kind of test, on a fixed sample of seeds; of one room: FILE=tests/sync/sds
	$(BIN)/pytest $(SPREAD) -m "$(MACHINES)"
	$(BIN)/pytest --numprocesses 2 --dist loadgroup -m "spark and not grid"
endif

test-full: $(VENV)/.dev ## the whole grids of seeds, one line a cell
	$(BIN)/pytest -m grid -s

# Of what is locked only what must change changes; all of it: make lock ARGS=--upgrade, or one
# package: make lock ARGS="--upgrade-package textual".
LOCK := $(BIN)/uv pip compile --quiet --no-config --universal --python-version 3.11 --generate-hashes \
	--custom-compile-command "make lock" $(ARGS)

lock: $(VENV)/.dev ## write requirements/*.txt anew from pyproject.toml; needs the network
	$(LOCK) requirements/build.in --output-file requirements/build.txt
	$(LOCK) pyproject.toml --extra dev --constraint requirements/build.txt --output-file requirements/dev.txt
	$(LOCK) pyproject.toml --extra pipeline --constraint requirements/dev.txt --output-file requirements/pipeline.txt
	$(LOCK) pyproject.toml --constraint requirements/dev.txt --output-file requirements/chat.txt

check-lock: $(VENV)/.dev ## requirements/*.txt and pyproject.toml agree, and the environment with both
	$(BIN)/python -m tests.support.locked

fix: $(VENV)/.dev ## format, and mend what lint can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

proto: $(VENV)/.dev ## generate code from proto/*.proto anew
	$(BIN)/python -m grpc_tools.protoc -I. --python_out=. --pyi_out=. proto/*.proto

demo: $(VENV)/.chat ## see how it works, without a network; options in ARGS="--scenario 3"
	@$(BIN)/chat-tui demo $(ARGS)

bench: $(VENV)/.dev $(VENV)/.classes ## benchmarks, one JSON object a line
	@$(BIN)/python -m tests.bench $(ARGS)

screenshots: $(VENV)/.dev ## pictures of the real program into screenshots/
	$(BIN)/python -m tests.support.chat_tui.screenshots

pipeline-pictures: $(VENV)/.dev ## the plots of PIPELINE.md, from a run of five simulated nodes; needs Java
	$(BIN)/python -m tests.support.storage.pipeline_pictures

clean: ## remove the environment and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache *.egg-info
