"""Tests with PyTorch, JAX and Grain, in an environment without TensorFlow."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

# This environment runs this folder alone, without the conftest above it.
sys.path.append(str(Path(__file__).parents[1]))

collect_ignore_glob = [] if find_spec("torch") else ["test_*.py"]
