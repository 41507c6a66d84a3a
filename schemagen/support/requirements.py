"""TensorFlow and Keras, or an ImportError that says how to install them.

The modules that read data or make models import both from here, as in
`from .requirements import keras, tf`. Neither is imported before one asks for it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import keras
    import tensorflow as tf
    from keras import layers, ops

__all__ = ["keras", "layers", "ops", "tf"]


def __getattr__(name: str) -> Any:
    """Import what is asked for."""
    if name == "tf":
        return _require("tensorflow")
    if name == "keras":
        return _require("keras")
    if name in ("layers", "ops"):
        return getattr(_require("keras"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _require(package: str) -> Any:
    """Import a package.

    Raises:
        ModuleNotFoundError: it is not installed; says how to install it.
    """
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise  # it is installed, and lacks something itself
    raise ModuleNotFoundError(
        f"{package} is not installed, and generated code needs it to read data or to "
        "make models (only serializer.py does without): run "
        "pip install 'schemagen[tensorflow]'",
        name=package,
    )
