# make demo and make test are all a newcomer needs; each sets everything up by itself.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

# Install what a target needs besides the set-up: what is downloaded must have the checksums of the extra's lock file; the
# second step finds nothing more to install, but on a system for which a package needs others.
PIP := $(BIN)/pip install --quiet --disable-pip-version-check
with = $(PIP) --no-deps --require-hashes -r locks/$(1).lock && $(PIP) --no-build-isolation -c constraints.txt -e '$(or $(2),.)[$(1)]'

.PHONY: demo test test-browser test-cluster test-notebook test-wheel coverage docs check bench attack attack-short setup clean

demo: $(READY)  ## generate stories, train, answer a question, show the gates
	@$(BIN)/qrn demo

test: $(READY)  ## the default tests
	$(BIN)/python -m pytest -n 2 --dist loadfile

test-browser: $(READY)  ## the page, in a real browser (Debian: apt-get install chromium)
	$(call with,browser)
	$(BIN)/python -m pytest -m browser

test-cluster: $(READY)  ## a sweep on a Ray cluster of two nodes, one of which dies
	$(call with,cluster,./lab)
	$(BIN)/python -m pytest -m cluster

test-wheel: $(READY)  ## the wheel, in an empty environment outside the repository, answers a question
	$(call with,wheels)
	$(BIN)/python -m pytest -m wheel

coverage: $(READY)  ## the default tests again, and which lines of the library they run
	$(call with,coverage)
	$(BIN)/python -m coverage run --source src/query_reduction -m pytest -q
	$(BIN)/python -m coverage report --skip-covered --skip-empty

docs: $(READY)  ## the documentation site, in build/site; a warning is an error
	$(call with,docs)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

test-notebook: $(READY)  ## the notebook of the documentation runs from top to bottom
	$(call with,notebook)
	$(BIN)/python -m pytest -p no:cacheprovider --nbmake docs/first-steps.ipynb

check: $(READY)  ## style, types, and that packages import downward only
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(READY)  ## speed, side by side with other ways to compute the same
	$(call with,bench,./lab)
	$(BIN)/qrn bench

attack: $(READY)  ## kills, broken disks, fuzzing, sanitizers, load under attack (hours); results/attack.md
	$(call with,cluster,./lab)
	$(BIN)/python -m query_reduction_lab.attack

attack-short: $(READY)  ## a small part of each, in minutes
	$(BIN)/python -m query_reduction_lab.attack --short

setup: $(READY)

# The kernels are compiled by the install, so it is done again when they change.
# What is downloaded must have the checksums of requirements.lock, the tools that compile the kernels included; the second
# step adds torch alone, whose builds differ between systems (see lab/query_reduction_lab/studies/lock.py).
$(READY): pyproject.toml lab/pyproject.toml constraints.txt requirements.lock $(wildcard kernels/*)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; say which with  make PYTHON=/path/to/python3.11"; exit 1; }
	@echo "setting up $(VENV) (once; a minute or two)"
	$(PYTHON) -m venv $(VENV)
	$(PIP) --no-deps --require-hashes -r requirements.lock
	$(PIP) --no-build-isolation -c constraints.txt -e '.[dev]' -e ./lab
	@touch $@

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
