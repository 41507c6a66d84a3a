"""What is wrong with wire keys: two fields that would write one key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..findings import Finding
from ..runtime.shared.values import shape_text
from ..schema.declaration import Declaration
from ..schema.loading import LoadedRecord

_Sizes = tuple[int | None, ...]


def key_findings(
    fields: Mapping[str, Declaration], record: LoadedRecord
) -> Iterator[Finding]:
    """Yield the keys that two fields would write. What both say there may be shared."""
    taken: dict[str, tuple[str, str]] = {}
    shared: dict[str, list[tuple[str, _Sizes]]] = {}
    for name, field in fields.items():
        for key, holds, sizes in _written(field):
            other, held = taken.setdefault(key, (name, holds))
            if held != holds:
                yield record.wrong(
                    "SG114",
                    f"the wire key {key!r} is that of {other!r} too",
                    field,
                    found=repr(key),
                    expected="a key of its own for each field",
                    advice="give one of them another key",
                )
            elif not field.optional:  # a missing value has no sizes
                before = shared.setdefault(key, [])
                yield from _size_findings(key, field, sizes, before, record)
                before.append((name, sizes))


def _written(field: Declaration) -> Iterator[tuple[str, str, _Sizes]]:
    """Yield the keys of a field, what each holds, and the sizes if it holds sizes."""
    kind = field.kind
    if kind is None:
        return
    own: Any = field.name if kind.key is None else kind.key
    further = {part.key: part for part in kind.parts(field.name)[1:]}
    if isinstance(own, str):
        yield own, f"field {field.name}", ()
    for key, entry in further.items():
        if isinstance(key, str):
            yield key, entry.content, entry.sizes


def _size_findings(
    key: str,
    field: Declaration,
    sizes: _Sizes,
    before: list[tuple[str, _Sizes]],
    record: LoadedRecord,
) -> Iterator[Finding]:
    """Yield the first field whose sizes under a shared key cannot be those of another."""
    for other, others in before:
        pairs = zip(sizes, others, strict=True)
        if all(None in pair or pair[0] == pair[1] for pair in pairs):
            continue
        yield record.wrong(
            "SG114",
            f"the sizes under the wire key {key!r} cannot be those of {other!r} too",
            field,
            found=f"{shape_text(sizes)}, and {shape_text(others)} of {other!r}",
            expected="sizes that both can have, or a key of its own for each field",
            advice="give one of them another key",
        )
        return
