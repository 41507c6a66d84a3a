"""From the parameters of a field, as a spec has them, to its codec."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from .base import Codec
from .classes import Label, MultiLabel
from .images import Image, Images
from .lists import list_codec
from .masks import Mask
from .numbers import Scalar, Vector
from .ragged import Ragged
from .records import RecordCodec
from .sparse import Sparse
from .steps import Steps
from .strings import Bytes, Text
from .tensors import SerializedTensor, Tensor

_CODECS: dict[str, Callable[[Mapping[str, Any]], type[Codec]]] = {
    "Image": lambda facts: Image,
    "Images": lambda facts: Images,
    "Label": lambda facts: Label,
    "Mask": lambda facts: Mask,
    "MultiLabel": lambda facts: MultiLabel,
    "Ragged": lambda facts: Ragged,
    "Scalar": lambda facts: Bytes if facts["dtype"] == "bytes" else Scalar,
    "Sparse": lambda facts: Sparse,
    "Steps": lambda facts: Steps,
    "Tensor": lambda facts: (
        SerializedTensor if facts["encoding"] == "proto" else Tensor
    ),
    "Text": lambda facts: Text,
    "VarLen": lambda facts: list_codec(facts["dtype"]),
    "Vector": lambda facts: Vector,
}


def codec_of(facts: Mapping[str, Any]) -> Codec:
    """Return the codec of a field.

    Args:
        facts: the name, path and kind of the field and its parameters, by name. Those
            that say nothing about storage and values are ignored.
    """
    cls = _CODECS[facts["kind"]](facts)
    label = ".".join(facts.get("path", ())) or facts["name"]
    names = {each.name for each in fields(cls) if each.init and each.name != "label"}
    given = {name: facts[name] for name in facts if name in names}
    if "step" in given:
        given["step"] = codec_of({**given["step"], "name": label, "key": ""})
    return cls(label, **given)


def record_codec(spec: Any) -> RecordCodec:
    """Return the codec of a record, given its spec."""
    return RecordCodec(*(field.codec for field in spec.fields), message=spec.message)
