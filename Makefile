# Everything runs in .venv, made on first use. Nothing else on the machine is touched.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
unexport PYTHONDONTWRITEBYTECODE  # the tests start many processes: each module is compiled once, not in each of them

.PHONY: setup sweep test check e2e e2e-all nightly bench examples docs clean

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

sweep: setup            ## sweep the embedded simulated endpoint
	$(BIN)/sweep --endpoint sim --profile demo --yes

test: setup             ## unit, property, golden and contract tests
	$(BIN)/pytest --numprocesses auto

check: setup            ## formatting, lint, types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

$(VENV)/.browser: $(VENV)/.ready
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[browser]'
	@touch $@

e2e: $(VENV)/.browser   ## whole sweeps against live servers, pages in a browser
	$(BIN)/pytest tests/e2e tests/browser -rs

e2e-all: $(VENV)/.browser ## the same on every server that can be installed here; several gigabytes
	SWEEP_E2E_ALL=1 $(BIN)/pytest tests/e2e tests/browser -rs

nightly: setup          ## one night of the simulated endpoint, added to reports/nightly and judged
	$(BIN)/sweep run --endpoint sim --profile demo --grid 1,2,4,8,16 --duration 3s --gate reports/nightly --yes

bench: setup            ## benchmarks; they print tables and never fail the suite
	$(BIN)/python -m bench

examples: setup         ## regenerate reports/examples and the README's picture
	$(BIN)/python reports/examples/make.py

docs: setup             ## regenerate the command reference and the schemas of what sweep writes
	$(BIN)/python -m sweep.cli.reference > docs/cli.md
	$(BIN)/python -m sweep.curve.artifact > sweep/curve/curve.schema.json
	$(BIN)/python -m sweep.curve.compare.schema > sweep/curve/compare/comparison.schema.json

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
