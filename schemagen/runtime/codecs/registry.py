"""From the parameters of a field, as a spec has them, to its codec."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from .base import Codec
from .classes import Label, MultiLabel
from .image_lists import Images
from .images import Image
from .lists import Strings, VarLen
from .masks import Mask
from .numbers import Scalar, Vector
from .ragged import Ragged
from .sparse import Sparse
from .steps import Steps
from .strings import Bytes, Text
from .tensors import SerializedTensor, Tensor

CLASSES: Mapping[str, tuple[type[Codec], ...]] = {
    "Image": (Image,),
    "Images": (Images,),
    "Label": (Label,),
    "Mask": (Mask,),
    "MultiLabel": (MultiLabel,),
    "Ragged": (Ragged,),
    "Scalar": (Scalar, Bytes),
    "Sparse": (Sparse,),
    "Steps": (Steps,),
    "Tensor": (Tensor, SerializedTensor),
    "Text": (Text,),
    "VarLen": (VarLen, Strings),
    "Vector": (Vector,),
}
"""The codecs of each kind; the second one is for strings, or for serialized tensors."""


def codec_of(facts: Mapping[str, Any]) -> Codec:
    """Return the codec of a field.

    Args:
        facts: the name, path and kind of the field and its parameters, by name. Those
            that say nothing about storage and values are ignored.
    """
    first, *second = CLASSES[facts["kind"]]
    other = (
        facts.get("dtype") in ("string", "bytes") or facts.get("encoding") == "proto"
    )
    cls = second[0] if second and other else first
    label = ".".join(facts.get("path", ())) or facts["name"]
    names = {each.name for each in fields(cls) if each.init and each.name != "label"}
    given = {name: facts[name] for name in facts if name in names}
    if "step" in given:
        given["step"] = codec_of({**given["step"], "name": label, "key": ""})
    return cls(label, **given)
