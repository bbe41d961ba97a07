# Every target works in a virtual environment that it makes itself, and installs only what it needs.
#
#   make test                       everything CI runs
#   make test ARGS="-k breakthrough"  some of it
#   PYTHON=python3.12 make test     with another Python
#   VENV=.venv-3.12 make test       beside the environment that is there

PYTHON ?= python3
VENV ?= .venv
JOBS ?= 2
ARGS ?=

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --quiet --constraint constraints.txt
SAY := printf '==> %s\n'

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test slow lint format bench docs hooks clean distclean same-python

help: ## Say what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: $(VENV)/.ready-demo ## Let bots play real games with no key, print a table, leave a page to open
	@$(BIN)/ludens demo $(ARGS)

test: lint ## Lint, types and tests: what CI runs (ARGS goes to pytest)
	@$(SAY) "tests"
	@$(BIN)/python -m pytest -n $(JOBS) $(ARGS)

slow: $(VENV)/.ready-slow ## All tests, the slow ones too
	@$(SAY) "tests, the slow ones too"
	@$(BIN)/python -m pytest -n $(JOBS) --slow $(ARGS)

lint: $(VENV)/.ready-dev ## Style (ruff) and types (mypy), changing nothing
	@$(SAY) "style"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(SAY) "types"
	@$(BIN)/mypy
	@$(SAY) "layers"
	@$(BIN)/lint-imports --no-logo --no-cache

format: $(VENV)/.ready-dev ## Put style right where it can be done safely
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

bench: $(VENV)/.ready-demo ## Measure drawing and playing on this machine
	@$(BIN)/ludens bench $(ARGS)

docs: $(VENV)/.ready-docs ## Build the documentation into site/
	@$(BIN)/mkdocs build --strict $(ARGS)

hooks: $(VENV)/.ready-dev ## Check every commit before it is made
	@$(BIN)/pre-commit install

clean: ## Remove what was made, keep the environment
	@rm -rf build dist site demo-output .hypothesis .mypy_cache .pytest_cache .ruff_cache
	@find src tests docs -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean ## Remove the environment too
	@rm -rf .venv

# A stamp a purpose: made again only when what is to be installed changes.

$(VENV)/.ready-demo: pyproject.toml constraints.txt $(BIN)/python | same-python
	@$(SAY) "installing Ludens into $(VENV)"
	@$(PIP) --editable '.[fast]'
	@touch $@

$(VENV)/.ready-dev: pyproject.toml constraints.txt $(BIN)/python | same-python
	@$(SAY) "installing Ludens and its workshop into $(VENV)"
	@$(PIP) --editable '.[fast,data,dev]'
	@touch $@ $(VENV)/.ready-demo

# Ray is large, and only slow tests use it.
$(VENV)/.ready-slow: pyproject.toml constraints.txt $(BIN)/python | same-python
	@$(SAY) "installing Ludens, its workshop and Ray into $(VENV)"
	@$(PIP) --editable '.[fast,data,dev,ray]'
	@touch $@ $(VENV)/.ready-dev $(VENV)/.ready-demo

$(VENV)/.ready-docs: pyproject.toml constraints.txt $(BIN)/python | same-python
	@$(SAY) "installing Ludens and what its documentation needs into $(VENV)"
	@$(PIP) --editable '.[fast,docs,atari]'
	@touch $@ $(VENV)/.ready-demo

$(BIN)/python:
	@command -v "$(PYTHON)" >/dev/null || \
		{ echo "Ludens needs Python 3.11 or newer, and there is no command '$(PYTHON)': name one, as in PYTHON=python3.12 make ..." >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Ludens needs Python 3.11 or newer, and '$(PYTHON)' is $$("$(PYTHON)" --version 2>&1): name another, as in PYTHON=python3.12 make ..." >&2; exit 1; }
	@$(SAY) "making $(VENV) with $$("$(PYTHON)" --version)"
	@"$(PYTHON)" -m venv "$(VENV)" || { rm -f $@; exit 1; }

# An environment made by one Python must not quietly serve a run that asked for another.
same-python: $(BIN)/python
ifneq ($(origin PYTHON),file)
	@asked=$$("$(PYTHON)" --version) && there=$$($(BIN)/python --version) && \
		{ [ "$$asked" = "$$there" ] || \
		{ echo "$(VENV) holds $$there, and you asked for $$asked: add VENV=another-folder, or run make distclean first." >&2; exit 1; }; }
endif
