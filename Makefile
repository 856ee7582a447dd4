# Two commands: `make lab` opens the first lesson, `make test` checks everything.
# Both install into .venv first; that happens once, and again when the versions change.

ifeq ($(OS),Windows_NT)
PYTHON ?= python
BIN := .venv/Scripts
else
PYTHON ?= python3
BIN := .venv/bin
endif
READY := .venv/.ready
LOG := .venv/install.log
NBVAL ?= --nbval
JOBS ?= 2
FIRST_LESSON := $(firstword $(wildcard notebooks/00_*.ipynb))

# Small models are slower with many threads, and waiting threads slow their neighbours down.
export OMP_NUM_THREADS ?= 1
export OMP_WAIT_POLICY ?= PASSIVE

.DEFAULT_GOAL := help
.PHONY: help lab test lint unit lessons notebooks benchmark colab clean

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile

lab: $(READY) ## open JupyterLab on the first lesson (LAB_ARGS="--allow-root" passes arguments on)
	$(BIN)/python -m jupyterlab --ServerApp.root_dir=. \
	  --LabApp.default_url=/lab/tree/$(FIRST_LESSON) $(LAB_ARGS)

test: lint unit lessons ## lint, unit tests, and every lesson run and compared (NBVAL=--nbval-lax: run only)

lint: $(READY) ## check the style of the code, in notebooks too
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .

unit: $(READY) ## the unit tests and the rules for notebooks
	$(BIN)/python -m pytest tests -n $(JOBS) --dist worksteal

lessons: $(READY) ## run every lesson and compare what it prints with what it shows
	$(BIN)/python -m pytest $(NBVAL) --nbval-current-env --nbval-cell-timeout=120 \
	  -n $(JOBS) --dist loadfile notebooks

notebooks: $(READY) ## run all notebooks in place, and keep only what belongs in them
	$(BIN)/python -m tools.notebooks

benchmark: $(READY) ## time a training step against torch.nn
	$(BIN)/python -m transformer_edu.benchmark train

colab: $(READY) ## write the repository's address everywhere (REPO=owner/name)
	$(BIN)/python -m tools.colab $(REPO)

clean: ## remove the environments and everything that tests leave behind
	rm -rf .venv .venv-colab build dist *.egg-info .pytest_cache .ruff_cache
	find . -name __pycache__ -prune -exec rm -rf {} +
	find . -name .ipynb_checkpoints -prune -exec rm -rf {} +

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c '' 2>/dev/null || \
	  { echo "There is no '$(PYTHON)' here: install Python 3.11 or newer, or say PYTHON=/path/to/python."; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed, $(PYTHON) is $$($(PYTHON) --version 2>&1): say PYTHON=python3.12, for example."; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "$(PYTHON) cannot make environments: install its venv package (Debian: apt-get install python3-venv)."; exit 1; }
	@echo "Installing into .venv: once, for one to five minutes ..."
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --disable-pip-version-check -e '.[dev]' -c constraints.txt >$(LOG) 2>&1 || \
	  { tail -n 15 $(LOG); echo "The install failed: the reason stands above, all of it in $(LOG)."; exit 1; }
	@touch $@
