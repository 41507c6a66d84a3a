"""Tests with PyTorch, JAX and Grain, in an environment without TensorFlow."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore = [] if find_spec("torch") else ["test_frameworks.py"]
