"""What this version of schemagen knows of a spec's JSON: values with a meaning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..kinds.registry import KINDS
from ..runtime.shared.json_entries import check_spec

_STRINGS = ("string", "bytes")
_PICTURES = ("raw", "jpeg", "png", "bmp", "gif", "webp", "any")

_CHOICES: Mapping[str, tuple[str, ...]] = {
    "interpolation": ("bilinear", "nearest"),
    "role": ("input", "target", "weight", "info"),
    "stored": ("id", "text"),
    "too_long": ("error", "keep_head", "keep_tail"),
}

_ENCODINGS: Mapping[str, tuple[str, ...]] = {
    "Image": _PICTURES,
    "Images": _PICTURES,
    "Mask": ("png", "raw"),
    "Scalar": ("list", "raw"),
    "Tensor": ("raw", "proto", "list"),
    "Vector": ("list", "raw"),
}

# How many sizes a shape has.
_RANKS = {"Image": 3, "Images": 3, "Mask": 2}

# Kinds whose values may be strings; those of pictures are integers or floats.
_OF_STRINGS = ("Ragged", "Scalar", "VarLen")


def check_known(data: dict[str, Any]) -> None:
    """See that a spec's JSON says nothing that this version does not know.

    Raises:
        ValueError: naming the field and what is unknown of it.
    """
    check_spec(data)
    for name in ("class_name", "source", "doc"):
        if name not in data:
            raise ValueError(f"the spec: no entry {name!r}")
    message = data.get("message", "Example")
    if message not in ("Example", "SequenceExample"):
        raise ValueError(f"message {message!r}, expected Example or SequenceExample")
    for field in data["fields"]:
        problem = _unknown(field)
        if not problem and field["kind"] == "Steps":
            problem = _unknown(field["step"])
        if problem:
            raise ValueError(f"field {field['name']!r}: {problem}")


def _unknown(field: dict[str, Any]) -> str:
    """Say what of a field is not known, or return ""."""
    kind = field["kind"]
    if kind not in KINDS:
        return f"the kind {kind!r} is not known"
    choices = {**_CHOICES, "encoding": _ENCODINGS.get(kind, ())}
    for name, known in choices.items():
        if name in field and field[name] not in known:
            return f"{name} is {field[name]!r}, expected one of {', '.join(known)}"
    if kind in _RANKS and len(field["shape"]) != _RANKS[kind]:
        return f"shape has {len(field['shape'])} sizes, expected {_RANKS[kind]}"
    problem = _unsized(field) if "shape" in field else ""
    if problem:
        return problem
    if kind == "Sparse" and len(field["index_key"]) != len(field["shape"]):
        return "index_key and shape have different lengths"
    classes = field.get("classes")
    if classes and len(classes) != field["num_classes"]:
        return f"{len(classes)} classes, and num_classes is {field['num_classes']}"
    if field.get("dtype") in _STRINGS and kind not in _OF_STRINGS:
        return f"dtype is {field['dtype']}, expected one of numbers"
    if len(field.get("dequantize") or (0, 0)) != 2:
        return "dequantize is not a pair of numbers"
    if len(field.get("resize") or (0, 0)) != 2:
        return "resize is not a pair of sizes"
    return ""


def _unsized(field: dict[str, Any]) -> str:
    """Say which size of a shape is stored nowhere, or return ""."""
    kind, shape, encoding = field["kind"], field["shape"], field.get("encoding")
    if kind == "Tensor" and encoding != "proto":
        keys = field.get("shape_key")
        if not isinstance(keys, list):
            return "" if keys and shape else "shape_key and shape do not go together"
        if len(keys) != len(shape):
            return "shape_key and shape have different lengths"
    elif kind in ("Image", "Images") and encoding != "raw":
        return "the number of channels is not known" if shape[2] is None else ""
    elif kind in ("Image", "Mask") and encoding == "raw":
        keys = [field.get(f"{name}_key") for name in ("height", "width", "channels")]
    else:
        return ""
    if any(size is None and not key for size, key in zip(shape, keys, strict=False)):
        return "a size that may vary is stored under no key"
    return ""
