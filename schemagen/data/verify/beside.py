"""What is stored next to a picture: its height, width, channels and format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...kinds.field import FieldSpec
from ...kinds.image import Image
from ...kinds.mask import Mask
from ..columns import Column, Rows
from ..message import BYTES, INT64
from .faults import Passed, Units, refused, shown_bytes

_AXES = ("height", "width", "number of channels")


def beside(
    units: Units, column: Column, keys: Sequence[str | None], sizes: Rows
) -> Passed:
    """Compare pictures with the sizes that are stored under further keys.

    Readers do not look at these; who does must not be told anything wrong.

    Args:
        units: what to check.
        column: the pictures.
        keys: of each axis; None if its size is not stored.
        sizes: int64 [rows, axes], those of the pictures.
    """
    for axis, key in enumerate(keys):
        if key is not None and len(column):
            written = units.single(key, INT64)
            found = units.spread(column.rows, sizes[:, axis])
            found[written.rows] = written.values
            yield from _compared(key, axis, column, found[column.rows], sizes[:, axis])
    return column


def _compared(key: str, axis: int, column: Column, found: Rows, true: Rows) -> Passed:
    bad, name = found != true, _AXES[axis]
    pairs = found[bad], true[bad]
    return (
        yield from refused(
            replace(column, key=key),
            bad,
            "SG530",
            f"stored {name} does not match the image",
            f"the {name} of the picture",
            lambda _, at: f"{pairs[0][at]}, and the picture has {pairs[1][at]}",
            lambda _, at: "height and width in each other's place?" if axis < 2 else "",
        )
    )


def formats(
    spec: FieldSpec[Image | Mask], units: Units, column: Column, forms: Sequence[str]
) -> Passed:
    """Compare pictures with the name of their format, however it is capitalised.

    Args:
        spec: of the field.
        units: what to check.
        column: the pictures.
        forms: their formats.
    """
    key, text = spec.kind.format_key, getattr(spec.kind, "format_text", None)
    if key is None or not len(column):
        return column
    single = units.single(key, BYTES)
    names = {row: single.bytes_at(at) for at, row in enumerate(single.rows.tolist())}
    bad, found = np.zeros(len(column), np.bool_), []
    for at, (row, true) in enumerate(zip(column.rows.tolist(), forms, strict=True)):
        known = {true, "jpg" if true == "jpeg" else true, (text or true).lower()}
        name = names.get(row)
        if name is not None and name.decode(errors="replace").lower() not in known:
            bad[at] = True
            found.append(f"{shown_bytes(name)}, and the picture is {true}")
    yield from refused(
        replace(column, key=key),
        bad,
        "SG530",
        "stored format does not match the image",
        "the format of the picture",
        lambda _, at: found[at],
    )
    return column
