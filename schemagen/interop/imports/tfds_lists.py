"""The place of a TFDS feature, and the lists in which TFDS stores its values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from pathlib import Path

from ...kinds.field import FieldSpec
from ...runtime.shared.values import FLOATS, INTEGERS
from .outcome import Outcome, joined
from .place import Place

Shape = tuple[int | None, ...]

FOREIGN = "only its package can read it"


@dataclass(frozen=True)
class Here:
    """A feature and the sequences it stands in.

    Attributes:
        part: its place as TFDS calls it, "steps/observation/image".
        place: where its field stands.
        lengths: of the sequences, from the outermost; None for any.
        directory: in which the files of class names are.
        inputs: (height, width) of the pictures outside of sequences.
        stem: how TFDS calls the files of the feature.
    """

    part: str
    place: Place
    lengths: Shape
    directory: Path
    inputs: frozenset[Shape]
    stem: str

    @property
    def rank(self) -> int:
        """The number of sequences it stands in."""
        return len(self.lengths)

    def below(self, length: int | None) -> Here:
        """Return the place of the steps of a sequence that stands here."""
        return replace(self, lengths=(*self.lengths, length))

    def refused(self, reason: str, remark: str = "") -> Outcome:
        return Outcome(self.part, (), remark, reason)

    def as_bytes(self, remark: str) -> Outcome:
        """Keep what cannot be read any further as the bytes that it is."""
        return Outcome(self.part, fields_of("bytes", (), self, "info"), remark)


def list_outcome(
    dtype: str, shape: Shape, here: Here, remark: str = "", role: str = ""
) -> Outcome:
    """Return what becomes of a value that TFDS stores in a list."""
    said = ""
    if dtype == "uint64":
        dtype = "int64"
        said = "uint64 with the bits of int64: from 2**63 on it reads negative"
    elif dtype in FLOATS and dtype != "float32":
        said = f"{dtype}, which TFDS stores as float32"
        dtype = "float32"
    elif dtype not in ("float32", "bool", "string", "bytes", *INTEGERS):
        return here.refused(FOREIGN, f"dtype {dtype}")
    flat = _flat_remark(dtype, shape, here)
    fields = fields_of(dtype, shape, here, role)
    return Outcome(here.part, fields, joined(remark, said, flat))


def _flat_remark(dtype: str, shape: Shape, here: Here) -> str:
    """Tell the form of a value if it is lost in a list that is flat."""
    if here.rank > 1:
        flat = here.rank > 2 or bool(shape)
        words = "all values; the lengths of the rows stand in the fields below"
        return words if flat else ""
    given = (*here.lengths, *shape)
    sizes = tuple(-1 if size is None else size for size in given)
    strings = dtype in ("string", "bytes")
    if given in ((), (None,)) or not (strings or None in given[1:]):
        return ""
    return f"always {sizes[0]} values" if len(sizes) == 1 else f"flat: reshape{sizes}"


def fields_of(dtype: str, shape: Shape, here: Here, role: str) -> tuple[FieldSpec, ...]:
    """Return the field, or the fields, that hold a value of a stored dtype."""
    place = here.place
    if here.rank < 2:
        sizes = (*here.lengths, *shape)
        most = None
        if dtype in ("string", "bytes") and None not in sizes:
            most = prod(size or 0 for size in sizes) or None
        return (place.array(dtype, sizes, role=role, max_length=most),)
    flat = replace(place, key=f"{place.key}/ragged_flat_values")
    rows = [
        place.next_to(f"_lengths_{level}", f"{place.key}/ragged_row_lengths_{level}")
        for level in range(here.rank - 1)
    ]
    if here.rank == 2 and not shape:
        return (flat.ragged(dtype, rows[0].key, role),)
    lengths = (replace(each, doc="").varlen("int64", role="info") for each in rows)
    return (flat.array(dtype, (None, *shape), role=role), *lengths)
