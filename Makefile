# Everything here needs Python 3.11 or later, make, and pip's way to packages.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
RUN := $(VENV)/bin/python -m

# What `make bench` measures against wants other versions than the rest.
BENCH := .venv-bench
BENCH_GENERATE := .venv-bench-generate
BENCH_ARRAYS := .venv-bench-arrays

# And so do the oldest TensorFlow and Keras, with TensorFlow Data Validation; and Beam.
OLDEST := .venv-oldest
BEAM := .venv-beam

# PyTorch, JAX and Grain without TensorFlow.
FRAMEWORKS := .venv-frameworks

# Pairs of TensorFlow and Keras, each with a Python; tests/versions/PAIR.txt has the rest.
PAIRS := $(notdir $(basename $(wildcard tests/versions/tensorflow-*.txt)))
VERSIONS := .venv-versions

# Without the notice about MkDocs 2 that Material for MkDocs prints.
MKDOCS = NO_MKDOCS_2_WARNING=true $(RUN) mkdocs

.PHONY: help demo docs docs-serve pictures ci test test-integration test-oldest test-beam test-frameworks test-all test-slow test-versions diff-head check generate bench bench-write bench-read bench-verify bench-generate bench-random-access bench-slow-storage dist clean

help:  ## Show what there is to make.
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12
	@echo 'ROOM of make test:' $(ROOMS)

demo: $(VENV)/demo.installed  ## Declare, generate, write, catch a mistake, train, look (three minutes).
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
PYTEST := $(RUN) pytest -n 2 --dist worksteal --timeout 900 --timeout-method thread $(PYTEST_OPTIONS)

# In a separate environment, tests of one folder run without what the others share.
ALONE = --confcutdir tests/$(1) $(PYTEST_OPTIONS)

# Installations run side by side, and then the suites that have one process.
SIDE_BY_SIDE := $(MAKE) --jobs 2 --output-sync=target

ci:  ## Run what CI runs.
	$(SIDE_BY_SIDE) $(VENV)/dev.installed $(OLDEST)/test-oldest.installed \
	    $(BEAM)/test-beam.installed $(FRAMEWORKS)/test-frameworks.installed
	$(SIDE_BY_SIDE) check test-oldest test-beam test-frameworks
	$(MAKE) test test-integration

# Folders of the code, and the folders of their tests.
ROOMS = $(shell $(PYTHON) -c 'import sys; sys.path.append("tests"); import rooms; print(*rooms.ROOMS)')

test: $(VENV)/dev.installed  ## Run the tests for every change; ROOM=data: those of schemagen/data.
	folders=$$($(VENV)/bin/python tests/rooms.py $(ROOM)) && \
	$(PYTEST) $$folders -m "not slow and not integration" --hypothesis-profile quick

test-integration: $(VENV)/dev.installed  ## Run tests with other programs: Spark, Ray, Dask, S3, Chromium, TFDS.
	$(PYTEST) -m "integration and not slow" --dist loadfile

test-oldest: $(OLDEST)/test-oldest.installed  ## Run generated code with the oldest TensorFlow, and TFDV.
	$(OLDEST)/bin/python -m pytest $(call ALONE,versions) tests/versions
	$(OLDEST)/bin/python -m pytest $(call ALONE,interop) tests/interop/test_tfdv_validates.py

test-beam: $(BEAM)/test-beam.installed  ## Write splits with Apache Beam.
	$(BEAM)/bin/python -m pytest $(call ALONE,engines) tests/engines
	$(BEAM)/bin/python -m pytest $(call ALONE,pages) tests/pages/test_pages.py

test-frameworks: $(FRAMEWORKS)/test-frameworks.installed  ## Read with PyTorch, JAX and Grain, without TensorFlow.
	$(FRAMEWORKS)/bin/python -m pytest $(call ALONE,frameworks) tests/frameworks
	$(FRAMEWORKS)/bin/python -m pytest $(call ALONE,pages) tests/pages/test_pages.py

test-slow: $(VENV)/dev.installed  ## Run what CI leaves out: all kills, all examples, long pages.
	$(PYTEST) -m slow --hypothesis-profile full

SEED ?= $(shell date +%s)
EXAMPLES ?= 300
REV ?= HEAD

diff-head: $(VENV)/dev.installed  ## Compare with a commit on random cases: REV, SEED, EXAMPLES.
	$(VENV)/bin/python tests/net/diff_head.py $(REV) --seed $(SEED) --examples $(EXAMPLES)

test-all: ci test-slow test-versions  ## Run all tests: before a release.

test-versions: $(PAIRS:%=pair/%)  ## Run generated code with all TensorFlows of docs/versions.md; PAIRS=... for some.

# Python of a version: on the PATH, or of pyenv.
python_of = $$(for found in python$(1) $(HOME)/.pyenv/versions/$(1).*/bin/python; do \
    "$$found" -c '' 2>/dev/null && echo "$$found" && break; done)

pair/%:
	@python=$(call python_of,$(lastword $(subst -python-, ,$*))); \
	test -n "$$python" || { echo "$* needs Python $(lastword $(subst -python-, ,$*))."; exit 1; }; \
	$(MAKE) PYTHON="$$python" $(VERSIONS)/$*/pair.installed && \
	$(VERSIONS)/$*/bin/python -m pytest $(call ALONE,versions) tests/versions

check: $(VENV)/dev.installed  ## Check format, style, types, the generated code and the documentation.
	$(RUN) ruff format --check .
	$(RUN) ruff check .
	$(RUN) mypy
	$(RUN) schemagen check
	$(MKDOCS) build

generate: $(VENV)/demo.installed  ## Bring generated/ up to date with schemas/.
	$(RUN) schemagen generate

bench: bench-write bench-read bench-verify bench-generate bench-random-access bench-slow-storage  ## Measure against the peers; OPTIONS=--quick (minutes).

bench-write: $(BENCH)/bench.installed  ## Measure writing alone.
	$(BENCH)/bin/python -m benchmarks.write $(OPTIONS)

bench-read: $(BENCH)/bench.installed  ## Measure reading alone.
	$(BENCH)/bin/python -m benchmarks.read $(OPTIONS)

bench-verify: $(BENCH)/bench.installed  ## Measure looking at data alone.
	$(BENCH)/bin/python -c 'from benchmarks.verify import PROGRAM; PROGRAM.run()' $(OPTIONS)

bench-generate: $(BENCH_GENERATE)/bench-generate.installed  ## Measure generating alone.
	$(BENCH_GENERATE)/bin/python -m benchmarks.generate $(OPTIONS)

bench-random-access: $(BENCH_ARRAYS)/bench-arrays.installed  ## Measure random access alone.
	$(BENCH_ARRAYS)/bin/python -m benchmarks.random_access $(OPTIONS)

bench-slow-storage: $(VENV)/dev.installed  ## Measure reading from a cold disk and an object store.
	$(VENV)/bin/python -m benchmarks.slow_storage $(OPTIONS)

# What zig compiles the wheels for: the oldest C library, or the oldest macOS.
TARGETS := x86_64-linux-gnu.2.17 aarch64-linux-gnu.2.17 x86_64-macos.11.0 aarch64-macos.11.0

dist: $(VENV)/dev.installed  ## Build the distributions for Linux and macOS into dist/, and check them.
	rm -rf dist
	$(RUN) build --sdist
	for target in $(TARGETS); do SCHEMAGEN_TARGET=$$target $(RUN) build --wheel || exit; done
	$(RUN) twine check --strict dist/*
	$(RUN) pytest tests/project/test_wheels.py

clean:  ## Remove what was made: .venv, data, the demo's pictures, the site.
	rm -rf $(VENV) $(BENCH) $(BENCH_GENERATE) $(BENCH_ARRAYS) $(OLDEST) $(BEAM) $(FRAMEWORKS) $(VERSIONS) data dist demo/out site

# An installation compiles these.
CORE := hatch_build.py $(wildcard schemagen/runtime/native/*.[ch])

# One stamp for each extra of pyproject.toml, so that nothing is installed twice.
$(VENV)/%.installed: pyproject.toml constraints.txt $(CORE)
	$(call install,$(VENV),constraints.txt,$*)

$(BENCH)/bench.installed: pyproject.toml constraints-bench.txt $(CORE)
	$(call install,$(BENCH),constraints-bench.txt,bench)

$(OLDEST)/%.installed: pyproject.toml constraints-oldest.txt $(CORE)
	$(call install,$(OLDEST),constraints-oldest.txt,$*)

$(BEAM)/%.installed: pyproject.toml constraints-beam.txt $(CORE)
	$(call install,$(BEAM),constraints-beam.txt,$*)

$(FRAMEWORKS)/%.installed: pyproject.toml constraints-frameworks.txt $(CORE)
	$(call install,$(FRAMEWORKS),constraints-frameworks.txt,$*)

$(BENCH_GENERATE)/%.installed: pyproject.toml constraints-bench-generate.txt $(CORE)
	$(call install,$(BENCH_GENERATE),constraints-bench-generate.txt,$*)

$(BENCH_ARRAYS)/%.installed: pyproject.toml constraints-bench-arrays.txt $(CORE)
	$(call install,$(BENCH_ARRAYS),constraints-bench-arrays.txt,$*)

$(VERSIONS)/%/pair.installed: pyproject.toml tests/versions/%.txt
	test -x $(VERSIONS)/$*/bin/python || $(PYTHON) -m venv $(VERSIONS)/$*
	@echo "Installing into $(VERSIONS)/$*, about two gigabytes."
	$(VERSIONS)/$*/bin/python -m pip install --disable-pip-version-check --progress-bar off --quiet \
	    --no-compile --requirement tests/versions/$*.txt
	touch $@

# A fifth of pip's time. Where only pip reaches the packages, by its own settings, pip installs.
UV := uv==0.13.9

# Install an extra: $(call install,ENVIRONMENT,CONSTRAINTS,EXTRA). Of what is imported seldom,
# compiling nothing saves most of the time. uv takes no change of the core for one of schemagen.
define install
	test -x $(1)/bin/python || $(PYTHON) -m venv $(1)
	@echo "Installing into $(1); tensorflow is large, so this takes a minute or two."
	{ $(1)/bin/python -m pip install --disable-pip-version-check --quiet $(UV) && \
	  $(1)/bin/python -m uv pip install --quiet --python $(1)/bin/python \
	    --reinstall-package schemagen-tfrecord --constraint $(2) --editable '.[$(3)]'; } || \
	$(1)/bin/python -m pip install --disable-pip-version-check --progress-bar off --quiet \
	    --no-compile --constraint $(2) --editable '.[$(3)]'
	touch $(1)/$(3).installed
endef
