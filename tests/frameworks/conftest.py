"""Tests with PyTorch, JAX and Grain, in an environment without TensorFlow."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

# This environment runs this folder alone, without the conftest above it.
sys.path.append(str(Path(__file__).parents[1]))

FILES = [
    "test_conversions.py",
    "test_frameworks.py",
    "test_torch_datasets.py",
    "test_written_tensors.py",
]
collect_ignore = [] if find_spec("torch") else FILES
