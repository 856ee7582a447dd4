# Two commands: `make lab` opens the first lesson, `make test` checks everything. Both install into
# .venv first, `make test` more than `make lab`: once, and again when the versions change.

ifeq ($(OS),Windows_NT)
PYTHON ?= python
BIN := .venv/Scripts
else
PYTHON ?= python3
BIN := .venv/bin
endif
READY := .venv/.ready
READY_FOR_TESTS := .venv/.ready-for-tests
JOBS ?= 2
FIRST_LESSON := $(notdir $(firstword $(wildcard notebooks/00_*.ipynb)))
# The PyTorch to install first: tools/install.py says what it may be.
export TORCH ?=

# Small models are slower with many threads, and waiting threads slow their neighbours down.
export OMP_NUM_THREADS ?= 1
export OMP_WAIT_POLICY ?= PASSIVE

# Which target runs what. The minutes are those of two quiet cores.
#
#   quick    1 min    the model, its variants, generation and the exercises' checks; nothing slow
#   test    10 min    PARTS: lint (style, imports, rules for lessons, stale tables), unit (every
#                     test but the slow ones, those in a browser and those on a pretend device),
#                     lessons (every lesson, compared with what it shows)
#   ci      40 min    what .ci/run runs: test, and next to it REST: slow (long proofs: processes,
#                     compiling, command lines, Colab), browser, devices (every lesson with every
#                     exercise solved, shortened, on a device that is not the CPU), the lessons
#                     under two more instruction sets, and the site
#   portable 14 min   the lessons under each instruction set: its own, AVX2, the plainest
#
# What a lesson prints must not depend on the processor. AVX2 is an instruction set of x86
# processors: those with AVX-512 can be limited to it, the others have it or have nothing of it.
PROCESSOR ?= /proc/cpuinfo
PARTS := lint unit lessons
LESSONS := lessons $(if $(shell grep -m 1 avx512f $(PROCESSOR) 2>&-),lessons-avx2) lessons-default
REST := slow browser devices $(filter-out lessons,$(LESSONS)) site

# Runs every part, also when an earlier one fails, and ends with one line that names those that did.
define run_parts
	+@failed=; for part in $(1); do \
	  echo "== make $$part"; $(MAKE) --no-print-directory TORCH= $$part || failed="$$failed $$part"; \
	done; \
	if [ -n "$$failed" ]; then echo "make $@: FAILED:$$failed (of: $(strip $(1)))"; exit 1; fi; \
	echo "make $@: passed: $(strip $(1))"
endef

.DEFAULT_GOAL := help
.PHONY: help lab reset test quick portable ci lint unit slow browser devices
.PHONY: lesson lessons lessons-avx2 lessons-default notebooks
.PHONY: site slides student handout benchmark translator everyday colab picture clean

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile

lab: $(READY) ## open your copies of the lessons in JupyterLab (LAB_ARGS="--allow-root", TORCH=...)
	@$(BIN)/python -m tools.working_copies
	$(BIN)/python -m jupyterlab --ServerApp.root_dir=. --LabApp.app_settings_dir=tools/jupyterlab \
	  --LabApp.custom_css=True --ServerApp.tornado_settings="{'static_custom_path': ['tools/jupyterlab']}" \
	  --LabApp.default_url=/lab/tree/work/$(FIRST_LESSON) $(LAB_ARGS)

reset: $(READY) ## set an exercise of your copies back to its dots (EXERCISE=2.1); the copy as it was is kept
	@$(BIN)/python -m tools.reset "$(EXERCISE)"

test: $(READY_FOR_TESTS) ## lint, unit tests, and every lesson run and compared with what it shows
	$(call run_parts,$(PARTS))

quick: $(READY_FOR_TESTS) ## the tests of the model, its variants, generation and of the exercises' checks, in a minute
	$(PYTEST) -q $(QUICK) -m "not slow"

portable: $(READY_FOR_TESTS) ## every lesson under each of the instruction sets that this machine has
	$(call run_parts,$(LESSONS))

ci: $(READY_FOR_TESTS) ## what continuous integration runs: test, and what takes longer
	$(call run_parts,$(PARTS) $(REST))

PYTEST = $(BIN)/python -m pytest -n $(JOBS) --dist worksteal
QUICK = tests/model tests/variants tests/generation tests/course/test_every_check.py \
  $(wildcard tests/course/*/test_*checks.py)
ELSEWHERE = --ignore tests/browser --ignore tests/devices

# Stored outputs name the device that computed them.
quick unit slow browser devices: export TRANSFORMER_EDU_DEVICE := cpu
lesson lessons lessons-avx2 lessons-default notebooks: export TRANSFORMER_EDU_DEVICE := cpu

lint: $(READY_FOR_TESTS) ## the style of the code, who imports whom, the rules for lessons, and stale tables
	@failed=0; for check in "ruff check ." "ruff format --check ." \
	  tools.rules "tools.tables --check" tools.unused_names; do \
	  $(BIN)/python -m $$check || failed=1; \
	done; \
	$(BIN)/lint-imports --no-logo || failed=1; exit $$failed

unit: $(READY_FOR_TESTS) ## the unit tests that are not slow
	$(PYTEST) tests -m "not slow" $(ELSEWHERE)

slow: $(READY_FOR_TESTS) ## the slow tests
	$(PYTEST) tests -m slow $(ELSEWHERE)

browser: $(READY_FOR_TESTS) ## the tests in a real browser (Chromium or Chrome)
	$(PYTEST) tests/browser

# `make devices WHOLE_LESSONS=1` shortens no training, and also requires what the lessons claim of
# trained models: about 20 minutes.
devices: $(READY_FOR_TESTS) ## every lesson, its exercises solved, on a device that is not the CPU
	$(PYTEST) tests/devices

lessons-avx2: export ATEN_CPU_CAPABILITY := avx2
lessons-avx2: export MKL_ENABLE_INSTRUCTIONS := AVX2
lessons-avx2: export ONEDNN_MAX_CPU_ISA := AVX2
lessons-default: export ATEN_CPU_CAPABILITY := default

# A cell's limit only ends what hangs: it is ten times what the slowest cell takes.
lessons lessons-avx2 lessons-default: $(READY_FOR_TESTS)
	$(BIN)/python -m pytest --nbval --nbval-current-env --nbval-cell-timeout=1200 \
	  -n $(JOBS) --dist loadfile notebooks

lessons: ## run every lesson and compare what it prints with what it shows

lesson: $(READY_FOR_TESTS) ## after a change of a lesson (LESSON=02): check it, run it, store it, write the tables
	@$(BIN)/python -m tools.lesson_command $(LESSON)

notebooks: $(READY_FOR_TESTS) ## run all notebooks in place, and keep only what belongs in them
	$(BIN)/python -m tools.notebooks

site: $(READY_FOR_TESTS) ## build the website from the stored notebooks, in build/site
	$(BIN)/python -m tools.site

handout: $(READY_FOR_TESTS) ## print the lessons as PDF files, in build/handout (LESSON=02)
	$(BIN)/python -m tools.handout $(LESSON)

slides: $(READY_FOR_TESTS) ## the lessons as slides, in slides/: no cell is run, and they need no network
	$(BIN)/python -m tools.slides

student: $(READY) ## the lessons without outputs and solutions, in student/
	$(BIN)/python -m tools.student

benchmark: $(READY_FOR_TESTS) ## time a training step against torch.nn
	$(BIN)/python -m experiments.benchmark train

translator: $(READY) ## train the translator of the package again, with two processes (an hour and a half)
	$(BIN)/torchrun --nproc-per-node 2 -m transformer_edu.training --preset translator --threads 1 \
	  --out runs/translator
	$(BIN)/python -m experiments.publishing.export runs/translator --to transformer_edu/pretrained

everyday: $(READY) ## the same without captions, on this course's own sentences alone (an hour)
	$(BIN)/python -m transformer_edu.training --preset translator --task everyday --steps 4000 \
	  --d-ff 288 --vocabulary 6000 --threads 1 --out runs/everyday
	$(BIN)/python -m experiments.publishing.export runs/everyday --to transformer_edu/pretrained/everyday

colab: $(READY) ## write the repository's address everywhere (REPO=owner/name)
	$(BIN)/python -m tools.colab $(REPO)

picture: $(READY) ## draw the picture at the top of README
	$(BIN)/python -m tools.picture

clean: ## remove the environments and everything that tests leave behind
	rm -rf .venv .venv-colab build dist *.egg-info .pytest_cache .ruff_cache .import_linter_cache
	find . -name __pycache__ -prune -exec rm -rf {} +
	find . -name .ipynb_checkpoints -prune -exec rm -rf {} +

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c '' 2>/dev/null || \
	  { echo "There is no '$(PYTHON)' here: install Python 3.11 or newer, or say PYTHON=/path/to/python."; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed, $(PYTHON) is $$($(PYTHON) --version 2>&1): say PYTHON=python3.12, for example."; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "$(PYTHON) cannot make environments: install its venv package (Debian: apt-get install python3-venv)."; exit 1; }
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m tools.install lab,data
	@touch $@

$(READY_FOR_TESTS): $(READY)
	@TORCH= $(BIN)/python -m tools.install dev
	@touch $@

# A PyTorch that is asked for is installed again.
ifneq ($(strip $(TORCH)),)
$(READY): asked-for
endif
.PHONY: asked-for
asked-for:
