"""TensorFlow, Keras and optional packages, or an ImportError that says how to install them.

Modules that read data or make models import them from here, as in
`from .requirements import keras, tf`. None is imported before one asks for it. Modules
that also work without TensorFlow import `lazy_tf as tf`, which imports it at its first use.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..interface import install

if TYPE_CHECKING:
    import keras  # type: ignore[import-not-found, import-untyped, unused-ignore]
    import ml_dtypes  # type: ignore[import-not-found, import-untyped, unused-ignore]
    import soundfile  # type: ignore[import-not-found, import-untyped, unused-ignore]
    import tensorflow as lazy_tf  # type: ignore[import-not-found, import-untyped, unused-ignore]
    import tensorflow as tf
    import tifffile  # type: ignore[import-not-found, import-untyped, unused-ignore]
    from keras import layers, ops  # type: ignore[import-not-found, import-untyped, unused-ignore]

__all__ = [
    "has_keras",
    "keras",
    "layers",
    "lazy_tf",
    "ml_dtypes",
    "ops",
    "soundfile",
    "tf",
    "tifffile",
]

# The oldest Keras that generated models work with.
_KERAS = (3, 5)


def __getattr__(name: str) -> Any:
    """Import what is asked for."""
    if name == "tf":
        return _require("tensorflow")
    if name == "ml_dtypes":
        advice = f"numpy has no bfloat16 without it: run {install('ml-dtypes')}"
        return _require("ml_dtypes", advice)
    if name == "soundfile":
        return _require("soundfile", f"FLAC needs it: run {install('audio')}")
    if name == "tifffile":
        return _require("tifffile", f"it reads and writes TIFF: run {install('tiff')}")
    if name == "keras":
        return _require_keras()
    if name in ("layers", "ops"):
        return getattr(_require_keras(), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class _LazyTensorFlow:
    """The module `tensorflow`, imported when one of its names is used."""

    def __getattr__(self, name: str) -> Any:
        return getattr(_require("tensorflow"), name)


if not TYPE_CHECKING:
    lazy_tf = _LazyTensorFlow()


def has_keras(major: int, minor: int) -> bool:
    """Tell whether the installed Keras is of this version or a later one."""
    return _version(_require("keras")) >= (major, minor)


def _require_keras() -> Any:
    """Import Keras.

    Raises:
        ImportError: it is too old for generated models.
    """
    _require("tensorflow")  # which Keras would ask for in words of its own
    found = _require("keras")
    if _version(found) < _KERAS:
        raise ImportError(
            f"found Keras {found.__version__}, and generated models need Keras "
            f"{_KERAS[0]}.{_KERAS[1]} or later, with TensorFlow 2.16 or later (reading "
            f"and writing data does not need Keras): run {install('tensorflow')}",
            name="keras",
        )
    return found


def _version(package: Any) -> tuple[int, int]:
    """Return a package's major and minor version."""
    major, minor = re.findall(r"\d+", package.__version__)[:2]
    return int(major), int(minor)


def _require(package: str, advice: str = "") -> Any:
    """Import a package.

    Args:
        package: its name.
        advice: what it is needed for, and how to install it; "" for those of TensorFlow.

    Raises:
        ModuleNotFoundError: it is not installed; says how to install it.
    """
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise  # it is installed, and lacks something itself
    advice = advice or (
        "generated code needs it to read data or to make models (serializer.py and "
        f"reader.py do not need it): run {install('tensorflow')}"
    )
    raise ModuleNotFoundError(f"{package} is not installed, and {advice}", name=package)
