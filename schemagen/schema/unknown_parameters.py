"""What to write in place of a parameter that a kind does not have."""

from __future__ import annotations

from collections.abc import Sequence

from ..runtime.shared.errors import did_you_mean

# Words of other libraries, in lower case without "_", and the parameters that say the
# same. The first that the kind has is meant.
_MEANT = {
    "alias": ("key",),
    "featurekey": ("key",),
    "name": ("key",),
    "wirekey": ("key",),
    "datatype": ("dtype",),
    "type": ("dtype",),
    "dim": ("shape", "item_shape"),
    "dimension": ("shape", "item_shape"),
    "dims": ("shape", "item_shape"),
    "imageshape": ("shape",),
    "imagesize": ("shape",),
    "size": ("shape", "item_shape"),
    "outputsize": ("resize",),
    "resizeto": ("resize",),
    "targetsize": ("resize",),
    "codec": ("encoding",),
    "compression": ("encoding",),
    "encodingformat": ("encoding",),
    "format": ("encoding",),
    "imageformat": ("encoding",),
    "categories": ("classes",),
    "classnames": ("classes",),
    "labelnames": ("classes",),
    "labels": ("classes",),
    "names": ("classes",),
    "nclasses": ("num_classes",),
    "numlabels": ("num_classes",),
    "namesfile": ("vocabulary",),
    "vocab": ("vocabulary",),
    "vocabfile": ("vocabulary",),
    "length": ("max_length", "max_count", "shape"),
    "maxlen": ("max_length", "max_count", "shape"),
    "maxsize": ("max_length", "max_count"),
    "truncate": ("too_long",),
    "truncation": ("too_long",),
    "padding": ("padding_value",),
    "padvalue": ("padding_value",),
    "ignoreindex": ("ignore",),
    "ignorelabel": ("ignore",),
    "voidlabel": ("ignore",),
    "augmentation": ("augment",),
    "augmentations": ("augment",),
}

_OPTIONAL = (
    "a field is optional if its type allows None and `= None` stands after the "
    "annotation: `Annotated[float | None, Scalar(...)] = None`; without a default it is "
    "required"
)
_DEFAULT = "write the default after the annotation: `Annotated[...] = VALUE`"
_DESCRIPTION = "write the description in triple quotes below the field"

# What no parameter says, but the declaration of the field.
_ELSEWHERE = {
    "nullable": _OPTIONAL,
    "optional": _OPTIONAL,
    "required": _OPTIONAL,
    "default": _DEFAULT,
    "defaultvalue": _DEFAULT,
    "desc": _DESCRIPTION,
    "description": _DESCRIPTION,
    "doc": _DESCRIPTION,
}


def parameter_advice(unknown: str, known: Sequence[str]) -> str:
    """Return what to write in place of a parameter that is not one of those known."""
    plain = unknown.lower().replace("_", "")
    same = {name.replace("_", ""): name for name in known}
    meant = [same[plain]] if plain in same else _MEANT.get(plain, ())
    for name in meant:
        if name in known:
            return f"did you mean {name!r}?"
    return _ELSEWHERE.get(plain) or did_you_mean(unknown, known) or "take it out"
