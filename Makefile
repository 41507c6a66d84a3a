# Everything here needs Python 3.11 or later, make, and pip's way to packages.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
RUN := $(VENV)/bin/python -m

# What `make bench` measures against wants other versions than the rest.
BENCH := .venv-bench
BENCH_GENERATE := .venv-bench-generate

# So do the tools that exports are for; and two of them do not get along.
INTEROP := .venv-interop
INTEROP_TFDV := .venv-interop-tfdv

# And a server of S3 with its client.
REMOTE := .venv-remote

# And each engine that writes splits.
ENGINES := beam spark ray

# Pairs of TensorFlow and Keras, each with a Python; tests/versions/PAIR.txt has the rest.
PAIRS := $(notdir $(basename $(wildcard tests/versions/tensorflow-*.txt)))
OLDEST_PAIR := tensorflow-2.16-keras-3.5-python-3.11
NEWEST_PAIR := tensorflow-2.21-keras-3.15-python-3.13
VERSIONS := .venv-versions

# Without the notice about MkDocs 2 that Material for MkDocs prints.
MKDOCS = NO_MKDOCS_2_WARNING=true $(RUN) mkdocs

# Tests in environments of their own run in one process each: two at a time.
BOTH = $(MAKE) --jobs 2 --output-sync=target

.PHONY: help demo docs docs-serve pictures test test-all test-slow test-vendored test-interop test-tools test-tfdv test-remote test-engines test-beam test-spark test-ray test-versions test-version-ends check generate bench bench-write bench-read bench-verify bench-generate dist clean

help:  ## Show what there is to make.
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

demo: $(VENV)/demo.installed  ## Generate, write, read and train on real data (minutes).
	$(RUN) schemagen generate
	$(RUN) demo

pictures: $(VENV)/dev.installed  ## Make the pictures of docs/images/ again; needs Chromium.
	$(RUN) demo.pictures

docs: $(VENV)/docs.installed  ## Build the documentation into site/; dead links are errors.
	$(MKDOCS) build

docs-serve: $(VENV)/docs.installed  ## Serve the documentation, and build it again on each change.
	$(MKDOCS) serve --no-strict

# Two workers; each worker takes tests from the other when it has none left. A test that
# hangs ends its worker with the stacks of all threads.
PYTEST := $(RUN) pytest -n 2 --dist worksteal --timeout 900 --timeout-method thread

test: $(VENV)/dev.installed  ## Run the tests for every change (six minutes).
	$(PYTEST) -m "not slow" --hypothesis-profile quick

test-all: test test-slow test-vendored test-interop test-remote test-engines test-version-ends  ## Run all tests, in all environments (an hour).

test-slow: $(VENV)/dev.installed  ## Run what `make test` leaves out: kills, browsers, long pages.
	$(PYTEST) -m slow

test-vendored: $(VENV)/dev.installed  ## Run the contract tests with copies of the runtime.
	RUNTIME=vendored $(PYTEST) -m "not slow" --hypothesis-profile quick \
	    tests/contract/test_kinds.py tests/contract/test_round_trip.py \
	    tests/contract/test_sequence_records.py tests/contract/test_hard_names.py

test-interop:  ## Have the tools read what was exported.
	@if $(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))'; then \
	    $(BOTH) test-tools test-tfdv; \
	else \
	    $(MAKE) test-tools && \
	    echo "NOT RUN: test_tfdv_validates.py, since TensorFlow Data Validation wants Python 3.11."; \
	fi

test-tools: $(INTEROP)/interop.installed  ## Have all tools but TensorFlow Data Validation do it.
	INTEROP=1 $(INTEROP)/bin/python -m pytest --confcutdir tests/interop \
	    tests/interop --ignore tests/interop/test_tfdv_validates.py

test-tfdv: $(INTEROP_TFDV)/interop-tfdv.installed  ## Have TensorFlow Data Validation do it.
	INTEROP=1 $(INTEROP_TFDV)/bin/python -m pytest --confcutdir tests/interop \
	    tests/interop/test_tfdv_validates.py

test-remote: $(REMOTE)/remote-tests.installed  ## Write and read splits on an S3 server of this machine.
	REMOTE_TESTS=1 $(REMOTE)/bin/python -m pytest --confcutdir tests/remote tests/remote

test-engines: $(ENGINES:%=test-%)  ## Write splits with each engine.

test-beam: .venv-beam/test-beam.installed  ## Write splits with Apache Beam.
	ENGINE=beam .venv-beam/bin/python -m pytest --confcutdir tests/engines tests/engines/test_beam.py

test-spark:  ## Write splits with Spark.
	@if java -version > /dev/null 2>&1; then \
	    $(MAKE) .venv-spark/test-spark.installed && \
	    ENGINE=spark .venv-spark/bin/python -m pytest --confcutdir tests/engines tests/engines/test_spark.py; \
	else \
	    echo "NOT RUN: test_spark.py, since there is no Java."; \
	fi

test-ray: .venv-ray/test-ray.installed  ## Write and read splits with Ray.
	ENGINE=ray .venv-ray/bin/python -m pytest --confcutdir tests/engines --timeout 300 tests/engines/test_ray.py

test-versions: $(PAIRS:%=pair/%)  ## Run generated code with all TensorFlows of docs/versions.md; PAIRS=... for some.

test-version-ends:  ## Run it with the oldest and the newest TensorFlow.
	@$(BOTH) pair/$(OLDEST_PAIR) pair/$(NEWEST_PAIR)

# Python of a version: on the PATH, or of pyenv.
python_of = $$(for found in python$(1) $(HOME)/.pyenv/versions/$(1).*/bin/python; do \
    "$$found" -c '' 2>/dev/null && echo "$$found" && break; done)

pair/%:
	@python=$(call python_of,$(lastword $(subst -python-, ,$*))); \
	if test -z "$$python"; then \
	    echo "NOT RUN: $*, since there is no Python $(lastword $(subst -python-, ,$*))."; \
	else \
	    $(MAKE) PYTHON="$$python" $(VERSIONS)/$*/pair.installed && \
	    TEST_VERSIONS=1 $(VERSIONS)/$*/bin/python -m pytest --confcutdir tests/versions tests/versions; \
	fi

check: $(VENV)/dev.installed  ## Check format, style, types, the generated code and the documentation.
	$(RUN) ruff format --check .
	$(RUN) ruff check .
	$(RUN) mypy
	$(RUN) schemagen check
	$(MKDOCS) build --quiet

generate: $(VENV)/demo.installed  ## Bring generated/ up to date with schemas/.
	$(RUN) schemagen generate

bench: bench-write bench-read bench-verify bench-generate  ## Measure against the peers; OPTIONS=--quick (minutes).

bench-write: $(BENCH)/bench.installed  ## Measure writing alone.
	$(BENCH)/bin/python -m benchmarks.write $(OPTIONS)

bench-read: $(BENCH)/bench.installed  ## Measure reading alone.
	$(BENCH)/bin/python -m benchmarks.read $(OPTIONS)

bench-verify: $(BENCH)/bench.installed  ## Measure looking at data alone.
	$(BENCH)/bin/python -m benchmarks.verify $(OPTIONS)

bench-generate: $(BENCH_GENERATE)/bench-generate.installed  ## Measure generating alone.
	$(BENCH_GENERATE)/bin/python -m benchmarks.generate $(OPTIONS)

dist: $(VENV)/dev.installed  ## Build the distributions into dist/, and check them.
	rm -rf dist
	$(RUN) build
	$(RUN) twine check --strict dist/*

clean:  ## Remove what was made: .venv, data, the demo's pictures, the site.
	rm -rf $(VENV) $(BENCH) $(BENCH_GENERATE) $(INTEROP) $(INTEROP_TFDV) $(REMOTE) $(ENGINES:%=.venv-%) $(VERSIONS) data dist demo/out site

# One stamp for each extra of pyproject.toml, so that nothing is installed twice.
$(VENV)/%.installed: pyproject.toml constraints.txt
	$(call install,$(VENV),constraints.txt,$*)

$(BENCH)/bench.installed: pyproject.toml constraints-bench.txt
	$(call install,$(BENCH),constraints-bench.txt,bench)

$(INTEROP)/interop.installed: pyproject.toml constraints-interop.txt
	$(call install,$(INTEROP),constraints-interop.txt,interop,--no-compile)

$(INTEROP_TFDV)/interop-tfdv.installed: pyproject.toml constraints-interop-tfdv.txt
	$(call install,$(INTEROP_TFDV),constraints-interop-tfdv.txt,interop-tfdv,--no-compile)

$(REMOTE)/remote-tests.installed: pyproject.toml constraints-remote.txt
	$(call install,$(REMOTE),constraints-remote.txt,remote-tests,--no-compile)

.venv-beam/%.installed: pyproject.toml constraints-beam.txt
	$(call install,$(@D),constraints-beam.txt,$*,--no-compile)

.venv-spark/%.installed: pyproject.toml constraints-spark.txt
	$(call install,$(@D),constraints-spark.txt,$*,--no-compile)

.venv-ray/%.installed: pyproject.toml constraints-ray.txt
	$(call install,$(@D),constraints-ray.txt,$*,--no-compile)

$(BENCH_GENERATE)/%.installed: pyproject.toml constraints-bench-generate.txt
	$(call install,$(BENCH_GENERATE),constraints-bench-generate.txt,$*)

$(VERSIONS)/%/pair.installed: pyproject.toml tests/versions/%.txt
	test -x $(VERSIONS)/$*/bin/python || $(PYTHON) -m venv $(VERSIONS)/$*
	@echo "Installing into $(VERSIONS)/$*, about two gigabytes."
	$(VERSIONS)/$*/bin/python -m pip install --disable-pip-version-check --progress-bar off --quiet \
	    --no-compile --requirement tests/versions/$*.txt
	touch $@

# Install an extra: $(call install,ENVIRONMENT,CONSTRAINTS,EXTRA,OPTIONS). Of what is
# imported seldom, --no-compile saves most of the time.
define install
	test -x $(1)/bin/python || $(PYTHON) -m venv $(1)
	@echo "Installing into $(1); tensorflow is large, so this takes a minute or two."
	$(1)/bin/python -m pip install --disable-pip-version-check --progress-bar off --quiet $(4) \
	    --constraint $(2) --editable '.[$(3)]'
	touch $(1)/$(3).installed
endef
