"""Lets programs that tests start import tensorflow in half the time.

Keras imports these where they are installed, and goes without them otherwise. They take
longer than tensorflow itself, and no program that a test starts has a use for them.
"""

import os
import sys

if os.environ.get("KERAS_BACKEND", "tensorflow") == "tensorflow":
    for name in ("jax", "matplotlib", "pandas", "scipy", "sklearn"):
        sys.modules[name] = None  # type: ignore[assignment]
