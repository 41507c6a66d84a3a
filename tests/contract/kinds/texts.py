"""Texts and bytes: one, or a sequence of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from hypothesis import strategies as st
from stored_features import blobs

from .case import KindCase, Value, under_one_key

_TEXTS = st.sampled_from(
    ["", "\x00", "a\x00b", "🦊", "\U0010ffff", "e\u0301", "\u202e", " \n", "'\"\\"]
) | st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
_BLOBS = st.sampled_from([b"", b"\x00", b"\xff\xfe", b"\n"]) | st.binary(max_size=8)

TEXT = _TEXTS.map(lambda text: Value(text, blobs(text.encode()), text.encode()))
BLOB = _BLOBS.map(lambda blob: Value(blob, blobs(blob), blob))


def _lists(of: str, longest: int = 5) -> st.SearchStrategy[Value]:
    if of == "bytes":
        found = st.lists(_BLOBS, max_size=longest)
        return found.map(lambda items: Value(items, blobs(*items), items))
    texts = st.lists(_TEXTS, max_size=longest)
    forms = texts | texts.map(tuple) | texts.map(lambda t: np.array(t, object))
    return forms.map(lambda items: _encoded(items, [item.encode() for item in items]))


def _encoded(given: object, items: list[bytes]) -> Value:
    return Value(given, blobs(*items), items)


def cases() -> Iterator[KindCase]:
    for annotation in ("", "()", "(role='info')"):
        text = f"Annotated[str, Text{annotation}]" if annotation else "str"
        yield under_one_key(text, TEXT)
    masked = 'Annotated[str, Text(presence=True, role="info")]'
    yield under_one_key(masked, TEXT).optional(b"-", default="'-'", masked=True)
    yield under_one_key("str", TEXT).optional(b"")
    hard = 'it\'s "so" {{ x }} \n \x00 🦊'
    yield under_one_key("str", TEXT).optional(hard.encode(), default=ascii(hard))
    for annotation in ("bytes", "Annotated[bytes, Scalar('bytes')]"):
        yield under_one_key(annotation, BLOB)
    yield under_one_key("Annotated[bytes, Scalar('bytes')]", BLOB).optional(
        b'\x00\xff"', default=r"b'\x00\xff\"'"
    )
    for of, dtype in (("str", "string"), ("bytes", "bytes")):
        role = ", role='info'" if of == "bytes" else ""
        head = f"Annotated[list[{of}], VarLen({dtype!r}"
        yield under_one_key(f"list[{of}]", _lists(of), padding=b"")
        yield under_one_key(f"{head}{role})]", _lists(of), padding=b"").optional([])
        yield under_one_key(
            f"{head}, max_length=3, padding_value='<pad \"0\">'{role})]",
            _lists(of, 3),
            padding=b'<pad "0">',
        )
        yield under_one_key(
            f"{head}, ragged=True{role})]", _lists(of), padding=b""
        ).optional([], default="[]")
