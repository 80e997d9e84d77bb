# Two commands: `make lab` and `make test`. `make help` lists the rest.
# Settings, all optional:  PYTHON=/path/to/python3   PIP_ARGS="..."   LAB_ARGS="..."   TEST_ARGS="..."   BENCH_ARGS="..."

BIN := .venv/bin
PYTHON ?=
PIP_ARGS ?=
LAB_ARGS ?=
TEST_ARGS ?=
BENCH_ARGS ?=

help:
	@echo "make lab      set up, then open your copy of the course     (LAB_ARGS=\"--port 9000\")"
	@echo "make test     set up, then check everything                 (TEST_ARGS=\"-k ring\")"
	@echo
	@echo "make setup    the virtual environment .venv with what you need; seconds when nothing is missing"
	@echo "make doctor   examine this machine: each fault with its remedy"
	@echo "make lint     style and types: ruff, mypy"
	@echo "make build    make the notebooks from their text sources"
	@echo "make horovod  build Horovod, which unit 07 needs, for the torch that is here; once, about 3 minutes"
	@echo "make check    run every exercise's check on its reference solution"
	@echo "make bench    measure Lockstep beside its peers             (BENCH_ARGS=\"launch --full\")"
	@echo "make clean    remove .venv and caches; my-course and your progress stay"

setup:
	@PYTHON="$(PYTHON)" PIP_ARGS="$(PIP_ARGS)" sh scripts/setup

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
	@$(BIN)/python -m pytest -n 2 --dist loadgroup -m "not slow" $(TEST_ARGS)

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

doctor: setup
	@$(BIN)/lockstep doctor

clean:
	rm -rf .venv build .pytest_cache .mypy_cache .ruff_cache .hypothesis tests/screenshots
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: help setup setup-dev lab test lint build horovod check bench doctor clean
