"""The lists in which TFDS stores values, as fields."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from ....kinds.field import FieldSpec
from ....kinds.ragged import Ragged
from ..outcome import MappingRow, Outcome
from ..places import FLOATS, INTEGERS
from . import table
from .here import Here, refused


def bytes_outcome(row: MappingRow, remark: str, here: Here) -> Outcome:
    """Keep what cannot be read any further as the bytes that it is."""
    return Outcome(here.part, row, fields_of("bytes", (), here, "info"), remark)


def list_outcome(
    dtype: str,
    shape: tuple[int | None, ...],
    here: Here,
    row: MappingRow,
    remark: str = "",
    role: str = "",
) -> Outcome:
    """Return what becomes of a value that TFDS stores in a list."""
    stored, said = _stored(dtype)
    if stored is None:
        return refused(table.OTHER, here, f"dtype {dtype}")
    if said:
        row = table.WIDE
    fields = fields_of(stored, shape, here, role)
    remarks = [remark, said, _flat_remark(stored, shape, here)]
    if here.rank == 2 and not shape and row in (table.SCALAR, table.TEXT):
        row = table.RAGGED
    if _is_flat(stored, shape, here) and row is not table.WIDE:
        row = table.FLAT
    return Outcome(here.part, row, fields, "; ".join(filter(None, remarks)))


def _stored(dtype: str) -> tuple[str | None, str]:
    """Return the dtype that TFDS stores in place of one, and what that changes."""
    if dtype == "uint64":
        return "int64", "uint64 with the bits of int64: from 2**63 on it reads negative"
    if dtype in FLOATS and dtype != "float32":
        return "float32", f"{dtype}, which TFDS stores as float32"
    known = ("float32", "bool", "string", "bytes", *INTEGERS)
    return (dtype, "") if dtype in known else (None, "")


def _is_flat(dtype: str, shape: tuple[int | None, ...], here: Here) -> bool:
    """Tell whether a value's form is lost in a list that is flat."""
    if here.rank > 1:
        return here.rank > 2 or bool(shape)
    sizes = (*here.lengths, *shape)
    if dtype in ("string", "bytes"):
        return sizes not in ((), (None,))
    return None in sizes[1:]


def _flat_remark(dtype: str, shape: tuple[int | None, ...], here: Here) -> str:
    if not _is_flat(dtype, shape, here):
        return ""
    if here.rank > 1:
        return "all values; the lengths of the rows stand in the fields below"
    sizes = tuple(-1 if size is None else size for size in (*here.lengths, *shape))
    return f"always {sizes[0]} values" if len(sizes) == 1 else f"flat: reshape{sizes}"


def fields_of(
    dtype: str, shape: tuple[int | None, ...], here: Here, role: str
) -> tuple[FieldSpec, ...]:
    """Return the field, or the fields, that hold a value of a stored dtype."""
    place = here.place
    if here.rank > 1:
        return _ragged(dtype, shape, here, role)
    sizes = (*here.lengths, *shape)
    if not sizes:
        return (place.scalar(dtype, role or None),)
    if dtype in ("string", "bytes"):
        most = None if None in sizes else prod(size or 0 for size in sizes)
        return (place.varlen(dtype, max_length=most or None, role=role),)
    if None not in sizes:
        return (place.vector(tuple(size or 0 for size in sizes), dtype, role=role),)
    if None in sizes[1:]:
        return (place.varlen(dtype, role=role),)
    items = tuple(size or 0 for size in sizes[1:])
    return (place.varlen(dtype, items, role=role),)


def _ragged(
    dtype: str, shape: tuple[int | None, ...], here: Here, role: str
) -> tuple[FieldSpec, ...]:
    place, rank = here.place, here.rank
    values = f"{place.key}/ragged_flat_values"
    lengths = [f"{place.key}/ragged_row_lengths_{level}" for level in range(rank - 1)]
    default_role = "info" if dtype == "bytes" else "input"
    if rank == 2 and not shape:
        return (
            FieldSpec.of(
                Ragged,
                **replace(place, key=values).common(role or default_role),
                dtype=dtype,
                row_lengths_key=lengths[0],
                exact=dtype != "float32",
            ),
        )
    known = tuple(size or 0 for size in shape)
    items = () if dtype in ("string", "bytes") else known
    flat = replace(place, key=values)
    rows = [
        replace(
            place,
            key=key,
            doc="",
            path=(*place.path[:-1], f"{place.path[-1]}_lengths_{level}"),
        ).varlen("int64", role="info")
        for level, key in enumerate(lengths)
    ]
    return (flat.varlen(dtype, items, role=role), *rows)
