"""The `select` option of readers: which items of which fields are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from ..cells.selection import Selection
from ..kinds.kind import Kind
from ..shared.errors import DatasetError, with_suggestion
from ..shared.options import integer
from .groups import group_of

Select = Mapping[str, Mapping[str, int] | Callable[[int], Iterable[int]]]
"""By the name of a field: {"first": 8}, {"every": 4}, {"random": 16}, or a function."""

_WORDS = ("every", "first", "random")


def selections_of(fields: Mapping[str, Kind], select: Select) -> dict[str, Selection]:
    """Return what is selected of each field: also of those in a group with a named one.

    Args:
        fields: the codecs of a record, by name.
        select: the option.

    Raises:
        ValueError: a name that is not a field.
        DatasetError: a field that is not a list, or another value than there may be.
    """
    if not isinstance(select, Mapping):
        raise DatasetError(
            f"select={select!r}: expected a dict by field, such as "
            '{"frames": {"first": 8}}'
        )
    found: dict[str, Selection] = {}
    for name, wanted in select.items():
        if name not in fields:
            words = (
                f"select: no field {name!r}: expected names out of {', '.join(fields)}"
            )
            raise ValueError(with_suggestion(words, name, fields))
        selection, group = _selection(name, wanted), group_of(fields[name])
        for other, codec in fields.items():
            if other != name and (group is None or group_of(codec) != group):
                continue
            if not codec.selectable:
                raise DatasetError(
                    f"select={{{name!r}: ...}}: field {other!r} is a {codec.kind}: items "
                    "are selected of Images, Steps and VarLen, and of all fields of a "
                    "group alike"
                )
            if other in found:
                raise DatasetError(
                    f"select: {found[other].named!r} and {name!r} are in the group "
                    f"{group!r}, whose fields are selected alike: name one of them"
                )
            found[other] = selection
    return found


def _selection(name: str, wanted: object) -> Selection:
    if callable(wanted):
        return Selection(name, function=wanted)
    option = f"select={{{name!r}: {wanted!r}}}"
    if not isinstance(wanted, Mapping) or not wanted:
        raise DatasetError(
            f'{option}: expected {{"first": 8}}, {{"every": 4}}, {{"random": 16}} or a '
            "function of the length that returns positions"
        )
    for word in wanted:
        if word not in _WORDS:
            words = f"{option}: no {word!r}: expected one of {', '.join(_WORDS)}"
            raise DatasetError(with_suggestion(words, word, _WORDS))
    if {"first", "random"} <= {*wanted}:
        raise DatasetError(f"{option}: expected `first` or `random`, found both")
    numbers = {
        word: integer(f"select={{{name!r}: ...}}: {word}", n, 1)
        for word, n in wanted.items()
    }
    return Selection(
        name, numbers.get("every", 1), numbers.get("first"), numbers.get("random")
    )


def deliver_selected(codec: Kind, selection: Selection) -> None:
    """Let a bound kind deliver what is selected of its lists."""
    delivered = codec.delivered
    dtype, (length, *sizes) = delivered.decoded
    number = None if length is None else selection.most(length)
    # The most that a function returns is not known before it is called for all lengths.
    limit = None if selection.function else selection.most(delivered.limit)
    vars(codec)["delivered"] = replace(
        delivered,
        shape=(number, *delivered.shape[1:]),
        decoded=(dtype, (number, *sizes)),
        limit=limit,
    )
