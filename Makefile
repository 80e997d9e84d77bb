# Two commands: `make lab` and `make test`. `make help` lists the rest.
# Settings, all optional:  PYTHON=/path/to/python3   PIP_ARGS="..."   LAB_ARGS="..."   TEST_ARGS="..."   BENCH_ARGS="..."   SITE_ARGS="..."   SINCE=commit

BIN := .venv/bin
PYTHON ?=
PIP_ARGS ?=
LAB_ARGS ?=
TEST_ARGS ?=
BENCH_ARGS ?=
SITE_ARGS ?=
RELEASE_ARGS ?=
SINCE ?= HEAD
WITHIN ?= 3480
PROOF := cd tests && ../$(BIN)/python -m proof

help:
	@echo "make lab      set up, then open your copy of the course     (LAB_ARGS=\"--port 9000\")"
	@echo "make test     set up, then check that all works here        (TEST_ARGS=\"-k ring\")"
	@echo
	@echo "make setup    the virtual environment .venv with what you need; seconds when nothing is missing"
	@echo "make doctor   examine this machine: each fault with its remedy"
	@echo "make test-affected  every test of what has changed, slow ones too  (SINCE=commit, by default HEAD)"
	@echo "make test-all       every test that tests/proven.json does not prove; what passes is noted there; resumable"
	@echo "make test-unproven  what .ci/run does after make test: the same, for an hour at most, and nothing is noted"
	@echo "make lint     style and types: ruff, mypy"
	@echo "make build    make the notebooks from their text sources"
	@echo "make horovod  build Horovod, which unit 07 needs, for the torch that is here; once, about 3 minutes"
	@echo "make check    run every exercise's check on its reference solution"
	@echo "make gpu      on a node with GPUs: doctor, all references with NCCL, the kernels of unit 03; else it says why not"
	@echo "make site     the course as a static site in build/site, looked at in Chromium    (SITE_ARGS=\"--only 04\")"
	@echo "make release  a wheel and a sdist in build/dist, each tried in an environment of its own; publishes nothing"
	@echo "make bench    measure Lockstep beside its peers             (BENCH_ARGS=\"launch --full\")"
	@echo "make clean    remove .venv and caches; my-course and your progress stay"

setup:
	@PYTHON="$(PYTHON)" PIP_ARGS="$(PIP_ARGS)" sh scripts/setup

setup-site:
	@PYTHON="$(PYTHON)" PIP_ARGS="$(PIP_ARGS)" sh scripts/setup site

setup-dev:
	@PYTHON="$(PYTHON)" PIP_ARGS="$(PIP_ARGS)" sh scripts/setup dev

lab: setup
	@$(BIN)/lockstep lab $(LAB_ARGS)

test: setup-dev
	@sh scripts/system-packages
	@PIP_ARGS="$(PIP_ARGS)" $(BIN)/lockstep horovod --cached
	@$(MAKE) --no-print-directory lint
	@echo "==> notebooks: are they what their sources say?"
	@$(BIN)/lockstep build --check
	@echo "==> tests: some minutes on two cores"
	@$(BIN)/python -m pytest -q -n 2 --dist loadgroup --no-loadscope-reorder -m "not slow" $(TEST_ARGS)
	@echo "==> not tried: slow tests (every known answer, every lesson in a browser, long repeats, a hub, Slurm, an image)."
	@echo "    make test-affected SINCE=commit tries those of what has changed; make test-all tries all."

# After make test: what it does not try. lockstep horovod, lockstep with tensorflow and with lightning, and
# scripts/system-packages with slurm, image and hub, bring what some of these tests need; without it those are skipped.
test-affected: setup-dev
	@$(PROOF) affected --since $(SINCE) $(TEST_ARGS)

test-all: setup-dev
	@$(PROOF) all $(TEST_ARGS)

test-unproven: setup-dev
	@$(PROOF) ci --within $(WITHIN) $(TEST_ARGS)

lint: setup-dev
	@echo "==> ruff: style"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@echo "==> mypy: types"
	@$(BIN)/mypy

build: setup
	@$(BIN)/lockstep build

horovod: setup
	@PIP_ARGS="$(PIP_ARGS)" $(BIN)/lockstep horovod

check: setup
	@$(BIN)/lockstep check --all

bench: setup
	@$(BIN)/lockstep bench $(BENCH_ARGS)

site: setup-site
	@sh scripts/system-packages
	@$(BIN)/python scripts/site --check $(SITE_ARGS)

release: setup-site
	@$(BIN)/python scripts/release $(RELEASE_ARGS)

doctor: setup
	@$(BIN)/lockstep doctor

gpu: setup-dev
	@$(BIN)/python tests/gpu/node.py

clean:
	rm -rf .venv build .pytest_cache .mypy_cache .ruff_cache .hypothesis tests/screenshots
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: help setup setup-dev setup-site site release lab test test-affected test-all test-unproven lint build horovod check bench doctor gpu clean
