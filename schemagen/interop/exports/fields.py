"""What exports say of a field: its type and shape, and what they approximate."""

from __future__ import annotations

from ... import schema
from ...findings import printable
from ...kinds.field import FieldSpec, defaults_of

Shape = tuple[int | None, ...]

# Types that are not dtypes: an encoded image, and a class of the field.
PICTURE, CLASS = "picture", "class"


def value_of(field: FieldSpec) -> tuple[str, Shape]:
    """Return the type of a field's single values, and the shape of all of them.

    The type is a dtype, "string", "bytes", PICTURE or CLASS; sizes that vary are None.
    """
    dtype = getattr(field.kind, "dtype", "string")
    match field.kind:
        case schema.Image() | schema.Mask() if field.kind.encoding != "raw":
            return PICTURE, ()
        case schema.Images():
            return PICTURE, (field.kind.count,)
        case schema.Label():
            return CLASS, ()
        case schema.MultiLabel():
            return CLASS, (None,)
        case schema.VarLen():
            return dtype, (None, *field.kind.item_shape)
        case schema.Ragged():
            return dtype, (None, None)
        case schema.Steps():
            dtype, shape = value_of(field.step)
            return dtype, (None, *shape)
    return dtype, getattr(field.kind, "shape", ())


class Notes:
    """What the other tool does not get exactly as the schema states it, by field."""

    def __init__(self) -> None:
        self._words: dict[str, dict[str, None]] = {}

    def add(self, field: FieldSpec, words: str) -> None:
        """Add a note about a field, once."""
        self._words.setdefault(field.label, {})[words] = None

    def leave_out(self, field: FieldSpec, *parameters: str) -> None:
        """Note which of these parameters have other values than their defaults."""
        facts, defaults = field.facts(), defaults_of(type(field.kind))
        given = [p for p in parameters if p in facts and facts[p] != defaults.get(p)]
        if given:
            self.add(field, f"without {', '.join(given)}")

    def lines(self) -> tuple[str, ...]:
        """Return one line for each field with notes."""
        return tuple(
            printable(f"{label}: {'; '.join(words)}")
            for label, words in self._words.items()
        )
