"""Tests with PyTorch, JAX and Grain, in an environment without TensorFlow."""

from __future__ import annotations

from importlib.util import find_spec

FILES = ["test_frameworks.py", "test_torch_datasets.py", "test_written_tensors.py"]
collect_ignore = [] if find_spec("torch") else FILES
