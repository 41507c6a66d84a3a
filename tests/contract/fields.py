"""Declarations of every kind with every parameter, as source text and as plain facts.

The facts are stated once more here, apart from schemagen's own code, so that tests
can tell what has to come out without asking the code that is tested.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
RAW_ONLY = ("uint64", "float16", "bfloat16", "float64")

CLASSES = ("red fox", "hare", 'the "wolf"', "łoś", "{{ elk }}")

ODD_KEYS = (
    "image/encoded",
    "two words",
    "schlüssel",
    "鍵",
    "🦊",
    'a "quote"',
    "it's",
    "{{ key }}",
    "{% raw %}",
    "back\\slash",
    "end\\",
    "line\nbreak",
    "nul\x00byte",
    "\u202eright to left",
    "</script>",
    '"""',
    "#",
    "k" * 300,
)


@dataclass(frozen=True, repr=False)
class FieldCase:
    """One field of a test's schema.

    Attributes:
        kind: "Image", "Label", "VarLen", "Vector", "Scalar" or "Text".
        annotation: the type and its metadata, as source text.
        dtype: of what is parsed.
        shape: of one parsed row, without a sequence's own dimension.
        raw: stored as little-endian bytes.
        encoding: "jpeg" or "png" for encoded images.
        size: what an encoded image has to measure; None for any.
        exact: floats have to be exact.
        finite: floats have to be finite.
        max_length: of a sequence.
        padding: what fills up a batch of sequences.
        ragged: sequences are not filled up.
        classes: names of classes, if they have any.
        num_classes: how many classes there are.
        members: the values as their Enum calls them: `Name.MEMBER`.
        default: source text of the default; None if the field is required.
        default_value: the default as it is read, or None if nothing stands for it.
        key: the wire key, or None for the field's name.
        name: the field's name, once it has one.
    """

    kind: str
    annotation: str
    dtype: str
    shape: tuple[int | None, ...] = ()
    raw: bool = False
    encoding: str = ""
    size: tuple[int | None, ...] = ()
    exact: bool = True
    finite: bool = True
    max_length: int | None = None
    padding: Any = 0
    ragged: bool = False
    classes: tuple[str, ...] = ()
    num_classes: int = 0
    members: tuple[str, ...] = ()
    default: str | None = None
    default_value: Any = None
    key: str | None = None
    name: str = ""

    def __repr__(self) -> str:
        """Return the field's line: all that a failing test has to show."""
        key = "" if self.key is None else f" under {self.key!r}"
        return f"<{self.line.strip()}{key}>"

    @property
    def wire_key(self) -> str:
        """The key in the Example."""
        return self.name if self.key is None else self.key

    @property
    def optional(self) -> bool:
        """Whether the field may be left out."""
        return self.default is not None

    @property
    def one_image_batches(self) -> bool:
        """Whether its images cannot be stacked."""
        return self.kind == "Image" and None in self.shape

    @property
    def is_float(self) -> bool:
        """Whether its numbers are floats."""
        return self.dtype in FLOATS

    @property
    def listed(self) -> str:
        """Which list of a tf.train.Feature holds it."""
        if self.raw or self.encoding or self.dtype in ("string", "bytes"):
            return "bytes_list"
        return "float_list" if self.dtype == "float32" else "int64_list"

    @property
    def masked(self) -> bool:
        """Whether a mask tells which values are there."""
        if not self.optional or self.default_value is not None:
            return False
        nan = self.kind in ("Scalar", "Vector") and self.is_float
        return not nan and self.kind != "Label"

    @property
    def line(self) -> str:
        """The field's line in its class."""
        default = "" if self.default is None else f" = {self.default}"
        return f"    {self.name}: {self.annotation}{default}\n"


@dataclass(frozen=True)
class RecordCase:
    """One record of a test's schema."""

    class_name: str
    fields: tuple[FieldCase, ...]

    @property
    def module(self) -> str:
        """The name of the record's generated package."""
        return self.class_name.lower()

    @property
    def one_image_batches(self) -> bool:
        """Whether only batches of one can be parsed."""
        return any(field.one_image_batches for field in self.fields)

    @property
    def source(self) -> str:
        """The class as source text."""
        head = f'class {self.class_name}(Record):\n    """A record of a test."""\n\n'
        return head + "".join(field.line for field in self.fields)


IMPORTS = """\
from enum import Enum, IntEnum
from typing import Annotated, Literal

import numpy as np

from schemagen import Image, Label, Record, Scalar, Text, VarLen, Vector


class Animal(Enum):
    FOX = "red fox"
    HARE = "hare"


class Grade(IntEnum):
    GOOD = 1
    BAD = 0


"""


def source_of(records: tuple[RecordCase, ...]) -> str:
    """Return a schema file that declares the records."""
    return IMPORTS + "\n\n".join(record.source for record in records)


def _images() -> Iterator[FieldCase]:
    shapes = ((1, 1, 1), (2, 3, 1), (3, 2, 3), (4, 4, 4), (1, 5, 2))
    for index, dtype in enumerate((*INTEGERS, *FLOATS)):
        shape = shapes[index % len(shapes)]
        yield FieldCase(
            "Image",
            f"Annotated[np.ndarray, Image(shape={shape}, dtype={dtype!r})]",
            dtype,
            shape,
            raw=True,
        )
    encoded: list[tuple[str, tuple[int | None, ...], tuple[int, int] | None]] = [
        ("jpeg", (4, 5, 3), None),
        ("jpeg", (3, 3, 1), None),
        ("jpeg", (None, None, 3), (4, 3)),
        ("jpeg", (None, 4, 1), (2, 2)),
        ("png", (4, 5, 1), None),
        ("png", (2, 3, 3), None),
        ("png", (3, 1, 4), None),
        ("png", (None, None, 3), (3, 4)),
        ("png", (5, None, 4), (2, 3)),
    ]
    for encoding, size, resize in encoded:
        yield _encoded(encoding, size, resize)
    yield replace(
        _encoded("png", (2, 2, 3), None),
        default="None",
        annotation=_maybe(
            "np.ndarray | bytes", "Image(shape=(2, 2, 3), encoding='png')"
        ),
    )
    yield replace(
        _encoded("jpeg", (None, None, 1), (2, 2)),
        default="None",
        annotation=_maybe(
            "bytes", "Image(shape=(None, None, 1), encoding='jpeg', resize=(2, 2))"
        ),
    )
    yield FieldCase(
        "Image",
        _maybe("np.ndarray", "Image(shape=(2, 1, 3))"),
        "uint8",
        (2, 1, 3),
        raw=True,
        default="None",
    )


def _maybe(python_type: str, kind: str) -> str:
    return f"Annotated[{python_type}, {kind}] | None"


def _encoded(
    encoding: str, size: tuple[int | None, ...], resize: tuple[int, int] | None
) -> FieldCase:
    more = f", resize={resize}" if resize else ""
    return FieldCase(
        "Image",
        f"Annotated[np.ndarray | bytes, "
        f"Image(shape={size}, encoding={encoding!r}{more})]",
        "uint8",
        (*(resize or size[:2]), size[2]),
        encoding=encoding,
        size=size,
    )


def any_size_images() -> tuple[FieldCase, ...]:
    """Images that cannot be stacked: any size, and no size to bring them to."""
    return (
        _encoded("jpeg", (None, None, 3), None),
        _encoded("png", (None, None, 4), None),
        _encoded("png", (None, 3, 1), None),
        replace(
            _encoded("png", (None, None, 3), None),
            default="None",
            annotation=_maybe(
                "bytes | np.ndarray", "Image(shape=(None, None, 3), encoding='png')"
            ),
        ),
    )


def _labels() -> Iterator[FieldCase]:
    named = FieldCase("Label", "", "int64", classes=CLASSES, num_classes=5)
    yield replace(named, annotation=f"Annotated[int, Label(classes={CLASSES})]")
    yield replace(named, annotation=f"Annotated[str, Label(classes={CLASSES})]")
    yield replace(
        named,
        annotation=f"Annotated[int | str, Label(classes={CLASSES}, role='input')]",
    )
    yield replace(named, annotation=f"Literal[{', '.join(map(repr, CLASSES))}]")
    yield replace(
        named,
        annotation=f"Annotated[int, Label(classes={CLASSES})]",
        default="2",
        default_value=2,
    )
    yield replace(
        named,
        annotation=f"Literal[{', '.join(map(repr, CLASSES))}] | None",
        default="'hare'",
        default_value=1,
    )
    counted = FieldCase("Label", "Annotated[int, Label(num_classes=300)]", "int64")
    yield replace(counted, num_classes=300)
    yield replace(
        counted,
        annotation=_maybe("int", "Label(num_classes=300, role='input')"),
        num_classes=300,
        default="None",
    )
    animal = FieldCase(
        "Label",
        "Animal",
        "int64",
        num_classes=2,
        classes=("red fox", "hare"),
        members=("Animal.FOX", "Animal.HARE"),
    )
    yield animal
    yield replace(animal, annotation="Animal | None", default="None")
    yield FieldCase(
        "Label",
        "Annotated[Grade, Label(role='info')]",
        "int64",
        num_classes=2,
        classes=("BAD", "GOOD"),
        members=("Grade.BAD", "Grade.GOOD"),
    )


def _sequences() -> Iterator[FieldCase]:
    shapes = ((), (2,), (), (2, 3), ())
    for index, dtype in enumerate(("bool", *INTEGERS, *FLOATS)):
        shape = shapes[index % len(shapes)]
        for variant in range(3):
            yield _sequence(dtype, shape if variant else (), variant)
    for dtype in FLOATS:
        yield FieldCase(
            "VarLen",
            f"Annotated[np.ndarray, VarLen(dtype={dtype!r}, finite=False)]",
            dtype,
            raw=dtype in RAW_ONLY,
            finite=False,
        )
    yield FieldCase(
        "VarLen",
        "Annotated[list[float], VarLen(dtype='float32', exact=False)]",
        "float32",
        exact=False,
    )
    for dtype, item in (("string", "str"), ("bytes", "bytes")):
        text = FieldCase("VarLen", "", dtype, padding=b"")
        role = ", role='info'" if dtype == "bytes" else ""
        yield replace(
            text, annotation=f"Annotated[list[{item}], VarLen({dtype!r}{role})]"
        )
        yield replace(
            text,
            annotation=f"Annotated[list[{item}], VarLen({dtype!r}, max_length=3, "
            f"padding_value='<pad \"0\">'{role})]",
            max_length=3,
            padding=b'<pad "0">',
        )
        yield replace(
            text,
            annotation=f"Annotated[list[{item}], VarLen({dtype!r}, ragged=True{role})]",
            ragged=True,
            default="[]",
            default_value=[],
        )
        yield replace(
            text,
            annotation=_maybe(f"list[{item}]", f"VarLen({dtype!r}{role})"),
            default="None",
        )


def _sequence(dtype: str, shape: tuple[int, ...], variant: int) -> FieldCase:
    """Variants: as it is; limited, with a padding of its own; ragged and optional."""
    raw = dtype in RAW_ONLY
    item = f", item_shape={shape}" if shape else ""
    padding: Any = False if dtype == "bool" else 0
    if variant == 0:
        kind = f"VarLen(dtype={dtype!r})"
        return FieldCase(
            "VarLen",
            f"Annotated[np.ndarray, {kind}]",
            dtype,
            shape,
            raw=raw,
            padding=padding,
        )
    if variant == 1:
        own: Any = True if dtype == "bool" else 7 if "int" in dtype else -0.5
        kind = f"VarLen(dtype={dtype!r}, max_length=4{item}, padding_value={own})"
        return FieldCase(
            "VarLen",
            f"Annotated[np.ndarray, {kind}]",
            dtype,
            shape,
            raw=raw,
            max_length=4,
            padding=own,
        )
    empty = len(dtype) % 2 == 0
    kind = f"VarLen(dtype={dtype!r}{item}, ragged=True)"
    return FieldCase(
        "VarLen",
        _maybe("np.ndarray", kind),
        dtype,
        shape,
        raw=raw,
        padding=padding,
        ragged=True,
        default="[]" if empty else "None",
        default_value=[] if empty else None,
    )


def _vectors() -> Iterator[FieldCase]:
    shapes = ((1,), (3,), (2, 2), (2, 1, 3))
    for index, dtype in enumerate(("bool", *INTEGERS, *FLOATS)):
        for offset, encoding in enumerate(("list", "raw")):
            shape = shapes[(index + offset) % len(shapes)]
            yield FieldCase(
                "Vector",
                f"Annotated[np.ndarray, Vector(shape={shape}, dtype={dtype!r}, "
                f"encoding={encoding!r})]",
                dtype,
                shape,
                raw=encoding == "raw" or dtype in RAW_ONLY,
            )
        yield FieldCase(
            "Vector",
            _maybe("np.ndarray", f"Vector(shape=(2, 2), dtype={dtype!r})"),
            dtype,
            (2, 2),
            raw=dtype in RAW_ONLY,
            default="None",
        )
        one = True if dtype == "bool" else 1 if "int" in dtype else 0.5
        python_type = {"bool": "bool"}.get(
            dtype, "float" if "float" in dtype else "int"
        )
        yield FieldCase(
            "Vector",
            f"Annotated[list[{python_type}], Vector(shape=(3,), dtype={dtype!r}, "
            f"encoding={'raw' if index % 2 else 'list'!r})]",
            dtype,
            (3,),
            raw=dtype in RAW_ONLY or bool(index % 2),
            default=f"[{one}, {one}, {one}]",
            default_value=[one, one, one],
        )
    yield FieldCase(
        "Vector",
        _maybe("np.ndarray", "Vector(shape=(2,), dtype='bool', encoding='raw')"),
        "bool",
        (2,),
        raw=True,
        default="None",
    )
    for dtype in FLOATS:
        yield FieldCase(
            "Vector",
            f"Annotated[np.ndarray, Vector(shape=(3,), dtype={dtype!r}, finite=False)]",
            dtype,
            (3,),
            raw=dtype in RAW_ONLY,
            finite=False,
        )
    yield FieldCase(
        "Vector",
        "Annotated[np.ndarray, Vector(shape=(2,), exact=False, role='target')]",
        "float32",
        (2,),
        exact=False,
    )


def _scalars() -> Iterator[FieldCase]:
    for dtype in ("bool", *INTEGERS, *FLOATS):
        python_type = {"bool": "bool"}.get(
            dtype, "float" if "float" in dtype else "int"
        )
        case = FieldCase("Scalar", "", dtype, raw=dtype in RAW_ONLY)
        yield replace(case, annotation=f"Annotated[{python_type}, Scalar({dtype!r})]")
        yield replace(
            case,
            annotation=_maybe(python_type, f"Scalar({dtype!r})"),
            default="None",
        )
        one = {"bool": True}.get(dtype, -0.5 if "float" in dtype else 7)
        yield replace(
            case,
            annotation=f"Annotated[{python_type}, Scalar({dtype!r}, role='target')]",
            default=repr(one),
            default_value=one,
        )
    for dtype in FLOATS:
        yield FieldCase(
            "Scalar",
            f"Annotated[float, Scalar({dtype!r}, finite=False)]",
            dtype,
            raw=dtype in RAW_ONLY,
            finite=False,
        )
    yield FieldCase("Scalar", "Annotated[bytes, Scalar('bytes')]", "bytes")
    yield FieldCase(
        "Scalar",
        "Annotated[bytes, Scalar('bytes')]",
        "bytes",
        default=r"b'\x00\xff\"'",
        default_value=b'\x00\xff"',
    )
    yield FieldCase(
        "Scalar",
        "Annotated[float, Scalar('float32', role='weight')]",
        "float32",
        name="only one a record",
    )


def _plain() -> Iterator[FieldCase]:
    """Plain annotations, which stand for a kind."""
    yield FieldCase("Scalar", "int", "int64")
    yield FieldCase("Scalar", "float", "float32", exact=False)
    yield FieldCase("Scalar", "bool", "bool")
    yield FieldCase("Scalar", "bytes", "bytes")
    yield FieldCase("Text", "str", "string")
    yield FieldCase("Text", "Annotated[str, Text()]", "string")
    yield FieldCase("Text", "Annotated[str, Text(role='info')]", "string")
    yield FieldCase("VarLen", "list[int]", "int64")
    yield FieldCase("VarLen", "list[float]", "float32", exact=False)
    yield FieldCase("VarLen", "list[bool]", "bool", padding=False)
    yield FieldCase("VarLen", "list[str]", "string", padding=b"")
    yield FieldCase("VarLen", "list[bytes]", "bytes", padding=b"")
    yield FieldCase("Scalar", "int | None", "int64", default="None")
    yield FieldCase("Scalar", "float | None", "float32", exact=False, default="None")
    yield FieldCase("Scalar", "bool | None", "bool", default="None")
    yield FieldCase("Text", "str | None", "string", default="None")
    yield FieldCase(
        "Text",
        "str",
        "string",
        default="'it\\'s \"so\" {{ x }} \\n \\x00 🦊'",
        default_value='it\'s "so" {{ x }} \n \x00 🦊',
    )
    yield FieldCase("VarLen", "list[int] | None", "int64", default="None")
    yield FieldCase("Scalar", "int", "int64", default="-3", default_value=-3)
    yield FieldCase(
        "Scalar", "float", "float32", exact=False, default="0.5", default_value=0.5
    )
    yield FieldCase("Scalar", "bool", "bool", default="True", default_value=True)


def all_fields() -> tuple[FieldCase, ...]:
    """Every kind with every parameter, without names."""
    return (
        *_images(),
        *_labels(),
        *_sequences(),
        *_vectors(),
        *_scalars(),
        *_plain(),
    )


def random_records(seed: int = 20, width: int = 9) -> tuple[RecordCase, ...]:
    """Spread all fields over records at random, the same way in every run."""
    chance = random.Random(seed)
    fields = list(all_fields())
    chance.shuffle(fields)
    groups = [fields[at : at + width] for at in range(0, len(fields), width)]
    chance.shuffle(groups)
    groups.append([*any_size_images(), *chance.sample(fields, 3)])
    groups.append([field for field in fields if field.optional][:6])
    records = []
    for number, group in enumerate(groups):
        keys = list(ODD_KEYS)
        chance.shuffle(keys)
        named = []
        for index, field in enumerate(group):
            name = f"f{index}"
            case = replace(field, name=name)
            if "(" in case.annotation and chance.random() < 0.4:
                case = _with_key(case, keys.pop())
            named.append(case)
        records.append(RecordCase(f"Mixed{number:02}", tuple(named)))
    return tuple(records)


def _with_key(case: FieldCase, key: str) -> FieldCase:
    """Give a field a key: the last parameter of its kind."""
    head, separator, tail = case.annotation.rpartition(")")
    assert separator
    comma = "" if head.endswith("(") else ", "
    return replace(case, annotation=f"{head}{comma}key={key!r}){tail}", key=key)
