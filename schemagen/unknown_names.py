"""Errors for names that schemagen does not have, which say what to use."""

from __future__ import annotations

TYPE_CHECKING = False  # that of typing takes time to import: see interrupts.py
if TYPE_CHECKING:
    from collections.abc import Collection

# Names of tf.io, TensorFlow Datasets and others, in lower case without "_".
_INSTEAD = {
    "feature": "annotate the field with its type and a kind, such as Image or Label",
    "fixedlenfeature": "use Scalar for one value, and Vector or Tensor for more",
    "fixedlensequencefeature": "use VarLen, or a SequenceRecord with Steps",
    "varlenfeature": "use VarLen",
    "raggedfeature": "use Ragged",
    "sparsefeature": "use Sparse",
    "sequence": "use VarLen for values, or a SequenceRecord with Steps",
    "sequenceexample": "use SequenceRecord",
    "example": "use Record",
    "schema": "use Record",
    "model": "use Record",
    "basemodel": "use Record, or pydantic's BaseModel for nested fields",
    "featuresdict": "use Nested, or a nested pydantic.BaseModel",
    "classlabel": "use Label",
    "classes": "use Label",
    "bbox": "use Vector(shape=(4,)), or Ragged for several boxes",
    "bboxfeature": "use Vector(shape=(4,)), or Ragged for several boxes",
    "bool": "annotate the field with bool",
    "boolean": "annotate the field with bool",
    "bytes": "annotate the field with bytes",
    "float": "annotate the field with float, or use Scalar",
    "int": "annotate the field with int, or use Scalar",
    "integer": "annotate the field with int, or use Scalar",
    "str": "annotate the field with str, or use Text",
    "string": "annotate the field with str, or use Text",
    "array": "use Vector, or Tensor",
    "ndarray": "use Vector, or Tensor",
    "video": "use Images",
    "audio": "use VarLen, or Tensor",
}


class UnknownName:
    """What both errors say.

    Attributes:
        unknown: the name.
        known: the names that there are.
        advice: what to use; may be empty.
    """

    unknown: str
    known: tuple[str, ...]
    advice: str

    def _explain(self, unknown: str, known: Collection[str]) -> str:
        """Take note of the names, and return the text of the error."""
        self.unknown = unknown
        self.known = tuple(known)
        self.advice = advice(unknown, known)
        return "; ".join(filter(None, (f"schemagen has no {unknown!r}", self.advice)))


class UnknownNameError(UnknownName, ImportError):
    """A program imports a name that schemagen does not have."""

    def __init__(self, unknown: str, known: Collection[str]) -> None:
        super().__init__(self._explain(unknown, known), name="schemagen")


class UnknownAttributeError(UnknownName, AttributeError):
    """A program uses an attribute that schemagen does not have."""

    def __init__(self, unknown: str, known: Collection[str]) -> None:
        text = self._explain(unknown, known)
        # An object of its own keeps Python from adding a suggestion.
        super().__init__(text, name=unknown, obj=object())


def advice(unknown: str, known: Collection[str]) -> str:
    """Return what to use for a name; "" if nothing is near."""
    plain = unknown.lower().replace("_", "")
    same = {name.lower(): name for name in known}.get(plain)
    if same is not None:
        return f"did you mean {same!r}?"
    if plain in _INSTEAD:
        return _INSTEAD[plain]
    from .runtime.shared.errors import did_you_mean

    return did_you_mean(unknown, known)
