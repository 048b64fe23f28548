# make run      install into .venv, audit the digits, say where the report is
# make test     the tests            make lint     ruff and mypy        make test-slow   the tests that take long
# make bench    speed and quality against peers, as ratios in one run
# make fuzz     forged certificates, damaged stores and files, odd command lines, killed runs: no promise may break
# make docs     what is generated of docs/: the house, the API, the papers' claims       make pictures    screenshots of reports
# make docs-check   whether that is up to date, and the slow blocks of the pages run
# make clean    everything that the targets above made

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PEERS := neural-tangents cleanlab jax tables people

.PHONY: run test test-slow lint bench fuzz docs docs-check pictures clean

run: $(VENV)/.installed
	$(BIN)/widenet audit digits --out widenet-audit-digits --force

# What Python compiled is kept also where the environment says otherwise: tests start many processes.
test: $(VENV)/.installed-dev
	PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses=auto --dist=loadgroup

test-slow: $(VENV)/.installed-dev
	PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses=auto --dist=loadgroup -m slow --ignore=tests/docs

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/.installed-dev
	$(BIN)/python -m tools.house
	$(BIN)/python -m tools.api
	$(BIN)/python -m tools.reproduction

docs-check: $(VENV)/.installed-dev
	$(BIN)/python -m tools.house --check
	$(BIN)/python -m tools.api --check
	$(BIN)/python -m tools.reproduction --check
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses=auto --dist=loadgroup -m slow \
		-o faulthandler_timeout=900 tests/docs

pictures: $(VENV)/.installed
	$(BIN)/python -m tools.pictures

bench: $(VENV)/.installed-dev $(PEERS:%=.bench/%/.installed)
	$(BIN)/python -m benchmarks.run

fuzz: $(VENV)/.installed-dev
	OMP_NUM_THREADS=1 $(BIN)/python -m fuzz.run

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --constraint constraints.txt torch==2.13.0
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable .
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[dev]"
	touch $@

.bench/%/.installed: benchmarks/peers/%.txt
	$(PYTHON) -m venv .bench/$*
	.bench/$*/bin/python -m pip install --quiet --requirement $<
	touch $@

clean:
	rm -rf $(VENV) .bench build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
