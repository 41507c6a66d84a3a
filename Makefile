# Everything here needs Python 3.11 or later, make, and pip's way to packages.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
RUN := $(VENV)/bin/python -m

.PHONY: help demo test check generate clean

help:  ## Show what there is to make.
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

demo: $(VENV)/demo.installed  ## Generate, write, read and train on real data (minutes).
	$(RUN) schemagen generate
	$(RUN) demo

test: $(VENV)/dev.installed  ## Run all tests.
	$(RUN) pytest -n 2

check: $(VENV)/dev.installed  ## Check format, style, types and the generated code.
	$(RUN) ruff format --check .
	$(RUN) ruff check .
	$(RUN) mypy
	$(RUN) schemagen check

generate: $(VENV)/demo.installed  ## Bring generated/ up to date with schemas/.
	$(RUN) schemagen generate

clean:  ## Remove what was made: .venv, data, the demo's pictures.
	rm -rf $(VENV) data demo/out

# One stamp for each extra of pyproject.toml, so that nothing is installed twice.
$(VENV)/%.installed: pyproject.toml constraints.txt
	test -x $(VENV)/bin/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing into $(VENV); tensorflow is large, so this takes a minute or two."
	$(RUN) pip install --disable-pip-version-check --progress-bar off --quiet \
	    --constraint constraints.txt --editable '.[$*]'
	touch $@
