"""What is stored next to a picture: its height, width, channels and format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...kinds.field import FieldSpec
from ...kinds.image import Image
from ...kinds.mask import Mask
from ..columns import Column
from ..message import BYTES, INT64
from .faults import Fault, Passed, Rows, Units, only, shown_bytes


def beside(
    units: Units,
    column: Column,
    keys: tuple[str | None, ...],
    size_of: Callable[[bytes], Any],
) -> Passed:
    """Compare pictures with the sizes that are stored under further keys.

    Readers do not look at these; who does must not be told anything wrong.
    """
    if not any(keys) or not len(column):
        return column
    view = column.data.data
    sizes = [size_of(bytes(view[a:b])) for a, b in column.values.tolist()]
    for axis, key in enumerate(keys):
        if key is None:
            continue
        written = dict(_single_numbers(units, key))
        for row in np.flatnonzero(~np.isin(column.rows, list(written))).tolist():
            written.setdefault(int(column.rows[row]), int(sizes[row][axis]))
        found = np.array([written[row] for row in column.rows.tolist()])
        true = np.array([size[axis] for size in sizes])
        bad = found != true
        if bad.any():
            yield _other_size(key, axis, column.rows[bad], found[bad], true[bad])
    return column


def _other_size(key: str, axis: int, rows: Rows, found: Rows, true: Rows) -> Fault:
    name = ("height", "width", "number of channels")[axis]
    return Fault(
        "SG530",
        f"stored {name} does not match the image",
        f"the {name} of the picture",
        rows,
        lambda at: f"{found[at]}, and the picture has {true[at]}",
        lambda at: "height and width in each other's place?" if axis < 2 else "",
        key,
    )


def _single_numbers(units: Units, key: str) -> Mapping[int, int]:
    for column in units.by_key.get(key, ()):
        if column.kind == INT64:
            single = only(column, column.lengths == 1)
            return dict(zip(single.rows.tolist(), single.values.tolist(), strict=True))
    return {}


def formats(
    spec: FieldSpec[Image | Mask],
    units: Units,
    column: Column,
    format_of: Callable[[bytes], str],
) -> Passed:
    """Compare pictures with the name of their format, however it is capitalised."""
    key, text = spec.kind.format_key, getattr(spec.kind, "format_text", None)
    if key is None or not len(column):
        return column
    formats = next((c for c in units.by_key.get(key, ()) if c.kind == BYTES), None)
    if formats is None:
        return column
    single = only(formats, formats.lengths == 1)
    names = {row: single.bytes_at(at) for at, row in enumerate(single.rows.tolist())}
    view = column.data.data
    bad, found = np.zeros(len(column), np.bool_), []
    for at, (row, (a, b)) in enumerate(
        zip(column.rows.tolist(), column.values.tolist(), strict=True)
    ):
        true = format_of(bytes(view[a:b]))
        known = {true, "jpg" if true == "jpeg" else true, (text or true).lower()}
        name = names.get(row)
        if name is not None and name.decode(errors="replace").lower() not in known:
            bad[at] = True
            found.append(f"{shown_bytes(name)}, and the picture is {true}")
    if bad.any():
        yield Fault(
            "SG530",
            "stored format does not match the image",
            "the format of the picture",
            column.rows[bad],
            found.__getitem__,
            key=key,
        )
    return column
