"""Fields of every kind, right values of each, and a wrong one for each of its checks.

A wrong value is stated twice: as a row gives it, and as another program stores it. What some
way takes all the same is stated with the reason, which the documentation has.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import soundfile
import tensorflow as tf
from stored_features import blobs, floats, ints

from .decoders import saved
from .kinds.sound import flac, wav
from .strict import DEEP_PNG, JPEG, PNG, encoded

nan, inf = float("nan"), float("inf")
U8, U16, F32, F64 = np.uint8, np.uint16, np.float32, np.float64

NOTHING: Any = object()
"""In place of a value that no row can give, or no file can hold."""

WRITERS, READERS = "writers", ("open_split", "make_dataset", "verify")

FINITE = {"make_dataset": "docs/verify.md: the parser delivers NaN and infinities"}
UTF_8 = {"make_dataset": "docs/verify.md: the parser delivers text that is not UTF-8"}
REPEATED = dict.fromkeys(
    READERS, "docs/kinds/labels.md: files may list classes in any order and repeat them"
)
PIXELS = {
    WRITERS: "docs/kinds/images.md: writers check header and end of JPEG and PNG bytes",
    "verify": "docs/verify.md: checks headers, the size and the end of JPEG and PNG",
}
IDS = {
    WRITERS: "docs/kinds/masks.md: writers check only the header of PNG bytes",
    "verify": "docs/verify.md: does not decode ids of PNG masks",
}
DECODED = {
    WRITERS: "docs/decoders.md: writers and verify do not decode",
    "verify": "docs/decoders.md: writers and verify do not decode",
}
CHANNELS = {"make_dataset": "docs/verify.md: the parser decodes some other channels"}
SIDE_KEYS = {
    "make_dataset": "docs/verify.md: the parser ignores sizes and formats next to an image"
}
BOX_IMAGE = dict.fromkeys(
    ("open_split", "make_dataset"),
    "docs/kinds/sequences.md: writers and verify refuse a box outside of the image",
)
MASK_SIZE = dict.fromkeys(
    ("open_split", "make_dataset"),
    "docs/kinds/masks.md: readers take a mask of another size than its image",
)


@dataclass(frozen=True)
class Wrong:
    """A wrong value of a field.

    Attributes:
        what: is wrong.
        value: as a row gives it; NOTHING if no row can.
        stored: the features that a record with it has, by key, or the one of the field;
            NOTHING if no file can hold it. Of Steps, lists of features.
        taken: the reason for which it is not refused, by way: WRITERS or a reader.
    """

    what: str
    value: Any = NOTHING
    stored: Any = NOTHING
    taken: Mapping[str, str] = field(default_factory=dict)

    def features(self, name: str) -> Mapping[str, Any]:
        """Return what a record stores by key, of the field of this name."""
        return self.stored if isinstance(self.stored, dict) else {name: self.stored}


@dataclass(frozen=True)
class Field:
    """A field.

    Attributes:
        declared: its kind, as source text.
        right: values that rows may give, in one form.
        wrong: what they may not give.
        dtype: of arrays of them, without which arrays are as numpy makes them.
        read: what records have in place of `right`; None for the same.
        type: the Python type that it is declared with.
    """

    declared: str
    right: Sequence[Any]
    wrong: Sequence[Wrong]
    dtype: str = ""
    read: Sequence[Any] | None = None
    type: str = "Any"


def raw(dtype: str, *numbers: float) -> tf.train.Feature:
    """Return numbers as little-endian bytes."""
    return blobs(np.array(numbers, dtype).tobytes())


def proto(array: Any) -> tf.train.Feature:
    """Return a serialized tensor."""
    return blobs(tf.io.serialize_tensor(array).numpy())


def png(pixels: Any) -> bytes:
    """Return pixels [height, width, channels] as a PNG."""
    data: bytes = tf.io.encode_png(pixels).numpy()
    return data


def wave_of(subtype: str, format: str = "WAV") -> bytes:
    """Return two samples of two channels in a file of another type of samples."""
    out = io.BytesIO()
    soundfile.write(out, np.zeros((2, 2)), 8000, format=format, subtype=subtype)
    return out.getvalue()


def _file(array: Any) -> tuple[bytes, tf.train.Feature]:
    """Return an array as a .npy file, as a row gives it and as it is stored."""
    return saved(array), blobs(saved(array))


def _flat(*shape: int, dtype: Any = U8) -> Any:
    return np.arange(np.prod(shape)).reshape(shape).astype(dtype)


def _filled(number: int, *shape: int, dtype: Any = U8) -> Any:
    return np.full(shape, number, dtype)


_DAMAGED_PNG = PNG[:41] + bytes([PNG[41] ^ 255]) + PNG[42:]
_IDS = _flat(2, 3)
_PNG_OF_7 = png(_filled(7, 2, 3, 1))

NUMBERS = {
    "int8": Field(
        'Scalar("int8")',
        [-128, 127],
        [
            Wrong("out of the dtype's range", 128, ints(128)),
            Wrong("below the dtype's range", -129, ints(-129)),
            Wrong("not an integer", 1.5, floats(1.5)),
            Wrong("two numbers", [1, 2], ints(1, 2)),
            Wrong("no number", NOTHING, ints()),
        ],
        "int8",
    ),
    "uint32": Field(
        'Scalar("uint32")', [0, 2**32 - 1], [Wrong("negative", -1, ints(-1))], "uint32"
    ),
    "digit": Field(
        'Scalar("int64", min=0, max=9)',
        [0, 9],
        [
            Wrong("above the range", 10, ints(10)),
            Wrong("below the range", -1, ints(-1)),
            Wrong("out of int64", 2**63),
        ],
        "int64",
    ),
    "share": Field(
        'Scalar("float32", min=0, max=1)',
        [0.0, 1.0, 0.25],
        [
            Wrong("above the range", 1.5, floats(1.5)),
            Wrong("just above the range", 1 + 2**-23, floats(1 + 2**-23)),
            Wrong("below the range", -0.5, floats(-0.5)),
            Wrong("NaN", nan, floats(nan), FINITE),
            Wrong("infinite", inf, floats(inf)),
        ],
        "float32",
    ),
    "finite": Field(
        'Scalar("float32")',
        [1.5, -2.0],
        [
            Wrong("NaN", nan, floats(nan), FINITE),
            Wrong("infinite", inf, floats(inf), FINITE),
            Wrong("out of the dtype's range", 1e39),
            Wrong("an integer that it cannot hold", 2**24 + 1),
        ],
        "float32",
    ),
    "loose": Field(
        'Scalar("float32", finite=False, min=-1)',
        [nan, inf, -1.0],
        [Wrong("below the range", -inf, floats(-inf))],
        "float32",
    ),
    "exact": Field(
        'Scalar("float32", exact=True)', [0.5], [Wrong("rounded", 0.1)], "float64"
    ),
    "double": Field(
        'Scalar("float64", max=1)',
        [0.1, 1.0],
        [
            Wrong("above the range", 1.5, raw("<f8", 1.5)),
            Wrong("NaN", nan, raw("<f8", nan), FINITE),
            Wrong("too few bytes", NOTHING, raw("<f4", 1.0)),
            Wrong("too many bytes", [1.0, 1.0], raw("<f8", 1.0, 1.0)),
        ],
        "float64",
    ),
    "half": Field(
        'Scalar("float16", min=0)',
        [1.5],
        [
            Wrong("below the range", -1.0, raw("<f2", -1.0)),
            Wrong("infinite", inf, raw("<f2", inf), FINITE),
            Wrong("out of the dtype's range", 1e6),
        ],
        "float16",
    ),
    "huge": Field(
        'Scalar("uint64", max=2**63)',
        [0, 2**63],
        [
            Wrong("negative", -1),
            Wrong("above the range", 2**63 + 1, raw("<u8", 2**63 + 1)),
            Wrong("out of the dtype's range", 2**64),
        ],
        "uint64",
    ),
    "flag": Field(
        'Scalar("bool")',
        [True, False],
        [
            Wrong("an integer", 1),
            Wrong("neither 0 nor 1", 2, ints(2)),
            Wrong("negative", -1, ints(-1)),
        ],
        "bool",
    ),
    "at_second": Field(
        'Scalar("int64", unit="s")',
        [datetime(2026, 1, 2, 3, 4, 5), np.datetime64(7, "s"), 7],
        [
            Wrong("a fraction of its unit", datetime(2026, 1, 1, 0, 0, 0, 500_000)),
            Wrong("a fraction of a numpy unit", np.datetime64(1500, "ms")),
            Wrong("a duration", timedelta(seconds=1)),
            Wrong("not a time", np.datetime64("NaT")),
            Wrong("out of int64", 2**63),
        ],
        read=[1767323045, 7, 7],
    ),
    "lasting": Field(
        'Scalar("int64", unit="ms", duration=True, min=0)',
        [timedelta(seconds=2), 5],
        [
            Wrong("below the range", timedelta(seconds=-1), ints(-1000)),
            Wrong("a numpy duration below the range", np.timedelta64(-1, "s")),
            Wrong("a fraction of its unit", timedelta(microseconds=1)),
            Wrong("a time", datetime(2026, 1, 1)),
        ],
        read=[2000, 5],
    ),
    "opaque": Field(
        'Scalar("bytes")', [b"\xff", b""], [Wrong("text", "a"), Wrong("a number", 3)]
    ),
    "decoded": Field(
        'Scalar("bytes", decoder="contract.decoders:load", shape=(None, 2), '
        'decoded_dtype="int16")',
        [saved(np.ones((3, 2), np.int16)), saved(np.zeros((0, 2), np.int16))],
        [
            Wrong("text", "a"),
            Wrong("not decoded", b"damaged", blobs(b"damaged"), DECODED),
            Wrong("another shape", *_file(np.ones((2, 3), np.int16)), DECODED),
            Wrong("another dtype", *_file(np.ones((3, 2), np.int32)), DECODED),
        ],
        read=[np.ones((3, 2), np.int16), np.zeros((0, 2), np.int16)],
    ),
    "secret": Field(
        'Scalar("bytes", transfer_encoding="base64")',
        [b"\xff\xfe", b"abc"],
        [
            Wrong("text", "a"),
            Wrong("not base64", NOTHING, blobs(b"!!!!")),
            Wrong("base64 that is cut off", NOTHING, blobs(b"//7+a")),
        ],
    ),
    "double_text": Field(
        'Scalar("float64", max=1, transfer_encoding="base64")',
        [0.5],
        [
            Wrong(
                "above the range", 1.5, blobs(base64.b64encode(np.array(1.5).tobytes()))
            ),
            Wrong("too few bytes", NOTHING, blobs(base64.b64encode(bytes(4)))),
        ],
        "float64",
    ),
}

VECTORS = {
    "pair": Field(
        "Vector((2,), min=-1, max=1)",
        [[-1.0, 1.0], [0.0, 0.5]],
        [
            Wrong("above the range", [0.0, 1.5], floats(0.0, 1.5)),
            Wrong("below the range", [-1.5, 0.0], floats(-1.5, 0.0)),
            Wrong("NaN", [nan, 0.0], floats(nan, 0.0), FINITE),
            Wrong("too few", [0.5], floats(0.5)),
            Wrong("too many", [0.5] * 3, floats(0.5, 0.5, 0.5)),
            Wrong("another shape", [[0.5, 0.5]]),
        ],
        "float32",
    ),
    "table": Field(
        'Vector((2, 2), "uint8", max=9)',
        [[[0, 9], [1, 2]]],
        [
            Wrong("out of the dtype's range", [[0, 256], [1, 2]], ints(0, 256, 1, 2)),
            Wrong("above the range", [[0, 10], [1, 2]], ints(0, 10, 1, 2)),
            Wrong("ragged", [[0, 1], [2]], ints(0, 1, 2)),
        ],
        "uint8",
    ),
    "flags": Field(
        'Vector((2,), "bool")',
        [[True, False]],
        [Wrong("neither 0 nor 1", [2, 0], ints(2, 0)), Wrong("integers", [1, 0])],
        "bool",
    ),
    "raw_pair": Field(
        'Vector((2,), "int16", "raw", min=0)',
        [[0, 5]],
        [
            Wrong("below the range", [0, -5], raw("<i2", 0, -5)),
            Wrong("an odd number of bytes", NOTHING, blobs(bytes(5))),
            Wrong("too many bytes", [1, 2, 3], raw("<i2", 1, 2, 3)),
            Wrong("out of the dtype's range", [0, 40_000]),
        ],
        "int16",
    ),
    "doubles": Field(
        'Vector((2,), "float64")',
        [[0.1, 0.2]],
        [
            Wrong("NaN", [0.1, nan], raw("<f8", 0.1, nan), FINITE),
            Wrong("float32", NOTHING, raw("<f4", 0.1, 0.2)),
        ],
        "float64",
    ),
    "brain": Field(
        'Vector((2,), "bfloat16", max=2)',
        [[1.0, 2.0]],
        [Wrong("above the range", [1.0, 4.0], blobs(b"\x80\x3f\x80\x40"))],
    ),
    "quantized": Field(
        'Vector((2,), "int8", dequantize=(0.5, 1.0), min=-4)',
        [[-4, 4]],
        [
            Wrong("below the range", [-5, 0], ints(-5, 0)),
            Wrong("out of the dtype's range", [128, 0], ints(128, 0)),
        ],
        "int8",
        [[-1.0, 3.0]],
    ),
    "exact": Field(
        "Vector((2,), exact=True)",
        [[0.5, 1.0]],
        [Wrong("rounded", [0.5, 0.1])],
        "float64",
    ),
    "coded": Field(
        'Vector((2,), "uint8", "raw", transfer_encoding="base64", max=9)',
        [[1, 9]],
        [
            Wrong("above the range", [1, 10], blobs(b"AQo=")),
            Wrong("too many bytes", [1, 2, 3], blobs(b"AQID")),
            Wrong("not base64", NOTHING, blobs(b"A?==")),
        ],
        "uint8",
    ),
}

BOXES = {
    "box": Field(
        'Vector((4,), box=("ymin", "xmin", "ymax", "xmax"))',
        [[0.0, 0.0, 0.5, 0.5]],
        [
            Wrong(
                "ends before it begins",
                [0.5, 0.0, 0.25, 0.5],
                floats(0.5, 0.0, 0.25, 0.5),
            )
        ],
        "float32",
    ),
    "listed": Field(
        'VarLen("float32", item_shape=(4,), box=("xmin", "ymin", "width", "height"),'
        ' box_image="photo")',
        [[[0.0, 0.0, 5.0, 4.0]], [[1.0, 1.0, 0.0, 0.0]]],
        [
            Wrong("negative width", [[1.0, 0.0, -1.0, 1.0]], floats(1, 0, -1, 1)),
            Wrong(
                "outside of the image",
                [[0.0, 0.0, 6.0, 4.0]],
                floats(0, 0, 6, 4),
                BOX_IMAGE,
            ),
        ],
        "float32",
        read=[np.float32([[0, 0, 2, 2]]), np.float32([[0.4, 0.5, 0, 0]])],
    ),
    "photo": Field(
        'Image((None, None, 3), encoding="png", resize=(2, 2))',
        [PNG],
        [],
        read=[_filled(0, 2, 2, 3)],
    ),
    **{
        side: Field(
            f'VarLen("int64", group="sides", box="{side}")', [[3]], wrong, "int64"
        )
        for side, wrong in {
            "xmin": [
                Wrong("above xmax", [4], ints(4)),
                Wrong("longer than its group", [1, 2], ints(1, 2)),
            ],
            "ymin": [Wrong("shorter than its group", [], ints())],
            "xmax": [Wrong("below xmin", [2], ints(2))],
            "ymax": [Wrong("below ymin", [-3], ints(-3))],
        }.items()
    },
}

LISTS = {
    "few": Field(
        'VarLen("int64", max_length=3)',
        [[1, -2, 3], []],
        [
            Wrong("too long", [1, 2, 3, 4], ints(1, 2, 3, 4)),
            Wrong("nested", [[1], [2]]),
            Wrong("out of int64", [2**63]),
            Wrong("fractions", [1.5], floats(1.5)),
        ],
        "int64",
    ),
    "positive": Field(
        'VarLen("int64", min=1)',
        [[1, 2], []],
        [Wrong("below the range", [1, 0], ints(1, 0))],
        "int64",
    ),
    "small": Field(
        'VarLen("uint8", ragged=True)',
        [[0, 255]],
        [Wrong("out of the dtype's range", [0, 256], ints(0, 256))],
        "uint8",
    ),
    "shares": Field(
        'VarLen("float32", max=1)',
        [[0.5, 1.0], []],
        [
            Wrong("above the range", [0.5, 1.5], floats(0.5, 1.5)),
            Wrong("NaN", [nan], floats(nan), FINITE),
        ],
        "float32",
    ),
    "bools": Field(
        'VarLen("bool")',
        [[True], []],
        [Wrong("neither 0 nor 1", [2], ints(2)), Wrong("an integer", [1])],
        "bool",
    ),
    "doubles": Field(
        'VarLen("float64", min=0, max_length=2)',
        [[0.1, 0.2], []],
        [
            Wrong("below the range", [0.1, -0.1], raw("<f8", 0.1, -0.1)),
            Wrong("NaN", [nan], raw("<f8", nan), FINITE),
            Wrong("not a whole number of values", NOTHING, blobs(bytes(9))),
            Wrong("too long", [0.1] * 3, raw("<f8", 0.1, 0.1, 0.1)),
        ],
        "float64",
    ),
    "samples": Field(
        'VarLen("int16", encoding="raw", item_shape=(2,), max=9)',
        [[[1, 2], [3, 9]]],
        [
            Wrong("above the range", [[1, 10]], raw("<i2", 1, 10)),
            Wrong("not a whole number of items", [[1, 2, 3]], raw("<i2", 1, 2, 3)),
            Wrong("an odd number of bytes", NOTHING, blobs(bytes(3))),
        ],
        "int16",
    ),
    "points": Field(
        'VarLen("float32", item_shape=(2,), max_length=2)',
        [[[1.0, 2.0]], []],
        [
            Wrong("not a whole number of items", [[1.0]], floats(1.0)),
            Wrong("too long", [[1.0, 2.0]] * 3, floats(*[1.0, 2.0] * 3)),
            Wrong("ragged", [[1.0, 2.0], [1.0]], floats(1, 2, 1)),
        ],
        "float32",
    ),
    "padded": Field(
        'VarLen("int32", max_length=2, pad_on_disk=True, max=9)',
        [[1, 9], [1]],
        [
            Wrong("too long", [1, 2, 3], ints(1, 2, 3)),
            Wrong("not padded", NOTHING, ints(1)),
            Wrong("above the range", [1, 10], ints(1, 10)),
            Wrong("out of the dtype's range", [1, 2**31], ints(1, 2**31)),
        ],
        "int32",
        [[1, 9], [1, 0]],
    ),
    "words": Field(
        'VarLen("string", max_length=2)',
        [["a", ""], []],
        [
            Wrong("a lone surrogate", ["a", "\udfff"], blobs(b"a", b"\xff"), UTF_8),
            Wrong("too long", ["a"] * 3, blobs(b"a", b"a", b"a")),
            Wrong("bytes", [b"a"]),
        ],
        type="list[str]",
    ),
    "padded_words": Field(
        'VarLen("string", max_length=2, pad_on_disk=True)',
        [["a", "b"]],
        [
            Wrong("a lone surrogate", ["\ud800", "a"], blobs(b"\xff", b"a"), UTF_8),
            Wrong("not padded", NOTHING, blobs(b"a")),
        ],
        type="list[str]",
    ),
    "blobs": Field(
        'VarLen("bytes", max_length=1)',
        [[b"\xff"], []],
        [Wrong("too long", [b"a", b"b"], blobs(b"a", b"b")), Wrong("text", ["a"])],
        type="list[bytes]",
    ),
    "left": Field(
        'VarLen("int64", group="equal")',
        [[1, 2]],
        [Wrong("longer than its group", [1, 2, 3], ints(1, 2, 3))],
        "int64",
    ),
    "right": Field(
        'VarLen("string", group="equal")',
        [["a", "b"]],
        [Wrong("shorter than its group", ["a"], blobs(b"a"))],
        type="list[str]",
    ),
}

RAGGED = {
    "nested": Field(
        'Ragged("int64", max_length=2, min=0)',
        [[[1], [2, 3]], [[], []]],
        [
            Wrong("below the range", [[1], [2, -3]], ints(1, 2, -3)),
            Wrong(
                "too long",
                [[1], [2], [3]],
                {"nested": ints(1, 2, 3), "nested/row_lengths": ints(1, 1, 1)},
            ),
            Wrong("lengths of fewer values", NOTHING, ints(1, 2, 3, 4)),
            Wrong("a negative length", NOTHING, {"nested/row_lengths": ints(4, -1)}),
            Wrong("not nested", [1, 2]),
        ],
        type="list[list[int]]",
    ),
    "numbers": Field(
        'Ragged("float32", ragged=False)',
        [[[1.0], [2.0]]],
        [
            Wrong("NaN", [[1.0], [nan]], floats(1.0, nan), FINITE),
            Wrong("out of the dtype's range", [[1.0], [1e39]]),
        ],
        "float32",
        type="list[list[float]]",
    ),
    "bytes8": Field(
        'Ragged("uint8")',
        [[[1, 2], [3, 255]]],
        [Wrong("out of the dtype's range", [[1, 2], [3, 256]], ints(1, 2, 3, 256))],
        "uint8",
        type="list[list[int]]",
    ),
    "texts": Field(
        'Ragged("string")',
        [[["a"], ["b", ""]]],
        [
            Wrong(
                "a lone surrogate",
                [["a"], ["b", "\ud800"]],
                blobs(b"a", b"b", b"\xff"),
                UTF_8,
            )
        ],
        type="list[list[str]]",
    ),
}

CLASSES_AND_TEXTS = {
    "number": Field(
        "Label(num_classes=3)",
        [0, 2],
        [
            Wrong("above the classes", 3, ints(3)),
            Wrong("negative", -1, ints(-1)),
            Wrong("out of int64", 2**64),
            Wrong("a fraction", 1.5),
        ],
        "int64",
    ),
    "counted": Field(
        "Label(num_classes=3, offset=1)",
        [0, 2],
        [
            Wrong("above the classes", 3, ints(4)),
            Wrong("negative", -1, ints(0)),
        ],
        "int64",
    ),
    "sign": Field(
        "Label(values=(-1, 1))",
        [0, 1],
        [
            Wrong("above the classes", 2, ints(2)),
            Wrong("between the values", -1, ints(0)),
        ],
        "int64",
    ),
    "breed": Field(
        'Label(classes=("pug", "tabby"))',
        ["tabby", "pug"],
        [
            Wrong("an unknown name", "tabbi"),
            Wrong("above the classes", 2, ints(2)),
            Wrong("negative", -1, ints(-1)),
        ],
        read=[1, 0],
    ),
    "named": Field(
        'Label(classes=("pug", "tabby"), stored="text")',
        ["tabby", "pug"],
        [
            Wrong("an unknown name", "Pug", blobs(b"Pug")),
            Wrong("above the classes", 2),
            Wrong("no name", "", blobs(b"")),
        ],
        read=[1, 0],
    ),
    "tags": Field(
        "MultiLabel(num_classes=3)",
        [[2, 0], []],
        [
            Wrong("above the classes", [0, 3], ints(0, 3)),
            Wrong("negative", [-1, 0], ints(-1, 0)),
            Wrong("a class twice", [1, 1], ints(1, 1), REPEATED),
        ],
        "int64",
        [[1.0, 0.0, 1.0], [0.0] * 3],
    ),
    "shifted_tags": Field(
        "MultiLabel(num_classes=3, offset=1)",
        [[2, 0]],
        [
            Wrong("above the classes", [0, 3], ints(1, 4)),
            Wrong("negative", [-1], ints(0)),
        ],
        "int64",
        [[1.0, 0.0, 1.0]],
    ),
    "odd_tags": Field(
        "MultiLabel(values=(5, 3, 9))",
        [[2, 0]],
        [
            Wrong("above the classes", [0, 3], ints(5, 10)),
            Wrong("negative", [-1], ints(4)),
        ],
        "int64",
        [[1.0, 0.0, 1.0]],
    ),
    "terms": Field(
        'MultiLabel(classes=("a", "b"), stored="text")',
        [["b"], []],
        [
            Wrong("an unknown name", ["b", "c"], blobs(b"b", b"c")),
            Wrong("a class twice", ["a", "a"], blobs(b"a", b"a"), REPEATED),
        ],
        read=[[0.0, 1.0], [0.0, 0.0]],
    ),
    "objects": Field(
        'VarLen("int64", classes=("car", "bus"), offset=1, max_length=2)',
        [["bus", 0], [], [1, 1]],
        [
            Wrong("above the classes", [0, 2], ints(1, 3)),
            Wrong("below the first one", [-1], ints(0)),
            Wrong("an unknown name", ["bus", "ca"]),
            Wrong("too long", [0, 0, 0], ints(1, 1, 1)),
        ],
        read=[[1, 0], [], [1, 1]],
    ),
    "odd_objects": Field(
        'VarLen("int64", classes=("car", "bus"), values=(3, -1))',
        [[1, 0], []],
        [Wrong("not a value", [2], ints(3, 0))],
    ),
    "object_names": Field(
        'VarLen("int64", classes=("car", "bus"), stored="text", ragged=True)',
        [["bus", "car"], []],
        [
            Wrong("an unknown name", ["bus", "Car"], blobs(b"bus", b"Car")),
            Wrong("no name", ["bus", ""], blobs(b"bus", b"")),
        ],
        read=[[1, 0], []],
    ),
    "text": Field(
        "Text()",
        ["ä", ""],
        [
            Wrong("a lone surrogate", "a\ud800", blobs(b"a\xff"), UTF_8),
            Wrong("bytes", b"a"),
            Wrong("two texts", ["a", "b"], blobs(b"a", b"b")),
            Wrong("a number", 3),
        ],
    ),
}

TENSORS = {
    "depth": Field(
        'Tensor((None, 2), "uint16", shape_key=("depth/rows", None), max=9)',
        [[[1, 2]], [[1, 2], [3, 9]]],
        [
            Wrong("above the range", [[1, 10]], raw("<u2", 1, 10)),
            Wrong("out of the dtype's range", [[1, 65536]]),
            Wrong("another size", [[1, 2, 3]], raw("<u2", 1, 2, 3)),
            Wrong("another number of rows", NOTHING, {"depth/rows": ints(2)}),
            Wrong("a negative number of rows", NOTHING, {"depth/rows": ints(-1)}),
            Wrong("rank 1", [1, 2]),
        ],
        "uint16",
    ),
    "points": Field(
        'Tensor((None, 3), encoding="list", shape_key="points/shape", min=0)',
        [[[0.0, 1.0, 2.0]]],
        [
            Wrong("below the range", [[0.0, 1.0, -2.0]], floats(0, 1, -2)),
            Wrong("NaN", [[0.0, 1.0, nan]], floats(0, 1, nan), FINITE),
            Wrong("another fixed size", [[0.0, 1.0]], {"points/shape": ints(3, 1)}),
            Wrong("sizes of more values", NOTHING, {"points/shape": ints(2, 3)}),
            Wrong("sizes that wrap around", NOTHING, {"points/shape": ints(2**62, 3)}),
            Wrong("too few sizes", NOTHING, {"points/shape": ints(3)}),
        ],
        "float32",
    ),
    "embedding": Field(
        'Tensor((None, 2), "float64", encoding="proto", max=1)',
        [[[0.5, 1.0]]],
        [
            Wrong("above the range", [[0.5, 1.5]], proto(np.array([[0.5, 1.5]]))),
            Wrong("NaN", [[0.5, nan]], proto(np.array([[0.5, nan]])), FINITE),
            Wrong("another fixed size", [[0.5, 1, 1]], proto(np.ones((1, 3)))),
            Wrong("another rank", [0.5, 1], proto(np.ones(2))),
            Wrong("another dtype", NOTHING, proto(np.ones((1, 2), F32))),
            Wrong("cut off", NOTHING, blobs(tf.io.serialize_tensor(np.ones((1, 2))).numpy()[:-1])),
        ],
        "float64",
    ),
    "length": Field(
        'Tensor((None, 2), "float32")',
        [[[0.5, 1.0]]],
        [
            Wrong("not a whole number of rows", NOTHING, raw("<f4", 1, 2, 3)),
            Wrong("NaN", [[nan, 1.0]], raw("<f4", nan, 1.0), FINITE),
        ],
        "float32",
    ),
    "coded": Field(
        'Tensor((None,), "uint8", transfer_encoding="base64", max=9)',
        [[1, 9]],
        [
            Wrong("above the range", [1, 10], blobs(b"AQo=")),
            Wrong("not base64", NOTHING, blobs(b"A?==")),
        ],
        "uint8",
    ),
}  # fmt: skip

SPARSE = {
    "bag": Field(
        'Sparse((9,), "bag/index", max=9)',
        [{7: 0.5, 2: -1.5}, {}],
        [
            Wrong("an index out of range", {9: 1.0}, {"bag": floats(1), "bag/index": ints(9)}),
            Wrong("a negative index", {-1: 1.0}, {"bag": floats(1), "bag/index": ints(-1)}),
            Wrong("an index twice", ([1, 1], [1.0, 2.0]), {"bag/index": ints(1, 1)}),
            Wrong("fewer indices", ([1], [1.0, 2.0]), {"bag/index": ints(1)}),
            Wrong("above the range", {7: 0.5, 2: 9.5}, floats(0.5, 9.5)),
            Wrong("NaN", {7: nan, 2: 1.0}, floats(nan, 1.0), FINITE),
        ],
        read=[([[7], [2]], [0.5, -1.5]), ([], [])],
    ),
    "grid": Field(
        'Sparse((3, 4), ("grid/y", "grid/x"), "int8", dense=True)',
        [([[2, 3], [0, 1]], [1, -2])],
        [
            Wrong("an index out of range", ([[2, 4], [0, 1]], [1, 2]), {"grid/x": ints(4, 1)}),
            Wrong("an index twice", ([[2, 3], [2, 3]], [1, 2]), {"grid/y": ints(2, 2), "grid/x": ints(3, 3)}),
            Wrong("out of the dtype's range", ([[2, 3], [0, 1]], [1, 128]), ints(1, 128)),
        ],
        read=[[[0, -2, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1]]],
    ),
}  # fmt: skip

IMAGES = {
    "pixels": Field(
        "Image((2, 3, 1))",
        [_flat(2, 3, 1)],
        [
            Wrong("another size", _flat(3, 2, 1)),
            Wrong("too few bytes", NOTHING, blobs(bytes(5))),
            Wrong("out of the dtype's range", _filled(256, 2, 3, 1, dtype=int)),
            Wrong("negative", _filled(-1, 2, 3, 1, dtype=int)),
            Wrong("floats", _filled(1, 2, 3, 1, dtype=F32)),
        ],
    ),
    "scan": Field(
        'Image((None, 3, 1), dtype="uint16", resize=(2, 2), interpolation="nearest",'
        ' height_key="scan/height")',
        [_filled(7, 2, 3, 1, dtype=U16)],
        [
            Wrong("another width", _flat(2, 2, 1, dtype=U16), raw("<u2", *range(4))),
            Wrong("another height", NOTHING, {"scan/height": ints(3)}),
            Wrong("a negative height", NOTHING, {"scan/height": ints(-2)}),
            Wrong("no pixels", _flat(0, 3, 1, dtype=U16)),
        ],
        read=[_filled(7, 2, 2, 1)],
    ),
    "photo": Field(
        'Image((4, 5, 3), encoding="jpeg")',
        [JPEG],
        [
            Wrong("no JPEG", PNG, blobs(PNG)),
            Wrong("another size", encoded("JPEG", (6, 4)), blobs(encoded("JPEG", (6, 4)))),
            Wrong("cut off", JPEG[:-2], blobs(JPEG[: len(JPEG) // 2])),
            Wrong("no bytes", b"", blobs(b"")),
            Wrong("pixels of another size", _flat(5, 4, 3)),
        ],
        read=[_filled(0, 4, 5, 3)],
    ),
    "drawing": Field(
        'Image((4, 5, 3), encoding="png", height_key="drawing/h", format_key="drawing/f")',
        [_flat(4, 5, 3)],
        [
            Wrong("no PNG", JPEG, blobs(JPEG)),
            Wrong("another size", encoded("PNG", (4, 5)), blobs(encoded("PNG", (4, 5)))),
            Wrong("alpha", encoded("PNG", mode="RGBA"), blobs(encoded("PNG", mode="RGBA")), CHANNELS),
            Wrong("16 bits", DEEP_PNG, blobs(DEEP_PNG)),
            Wrong("cut off", PNG[:-12], blobs(PNG[: len(PNG) // 2])),
            Wrong("damaged pixels", _DAMAGED_PNG, blobs(_DAMAGED_PNG), PIXELS),
            Wrong("another height next to it", NOTHING, {"drawing/h": ints(5)}, SIDE_KEYS),
            Wrong("another format next to it", NOTHING, {"drawing/f": blobs(b"jpeg")}, SIDE_KEYS),
        ],
    ),
    "any_photo": Field(
        'Image((None, None, 3), encoding="any", resize=(2, 2))',
        [PNG],
        [
            Wrong("no image", b"text", blobs(b"text")),
            Wrong("cut off", JPEG[:20], blobs(JPEG[:20])),
            Wrong("another number of channels", _flat(4, 5, 4)),
        ],
        read=[_filled(0, 2, 2, 3)],
    ),
    "shot": Field(
        'Image((1, 2, 3), transfer_encoding="base64")',
        [_flat(1, 2, 3)],
        [
            Wrong("not base64", NOTHING, blobs(b"AAECAwQ?")),
            Wrong("too few bytes", _flat(1, 1, 3), blobs(b"AAEC")),
        ],
    ),
    "frames": Field(
        'Images((4, 5, 3), encoding="png", max_count=2)',
        [[_flat(4, 5, 3)], []],
        [
            Wrong("too many", [PNG] * 3, blobs(PNG, PNG, PNG)),
            Wrong("another size", [encoded("PNG", (4, 5))], blobs(PNG, encoded("PNG", (4, 5)))),
            Wrong("no image", [PNG, b""], blobs(PNG, b"")),
            Wrong("no PNG", [JPEG], blobs(JPEG)),
        ],
        read=[[_flat(4, 5, 3).tolist()], []],
    ),
    "views": Field(
        'Images((4, 5, 3), encoding="jpeg", count=2)',
        [[JPEG, JPEG]],
        [
            Wrong("too few", [JPEG], blobs(JPEG)),
            Wrong("cut off", [JPEG, JPEG[:-2]], blobs(JPEG, JPEG[:20])),
        ],
        read=[_filled(0, 2, 4, 5, 3)],
    ),
    "shots": Field(
        'Images((4, 5, 3), encoding="png", keys="shot_{}", count=3)',
        [[PNG] * 3],
        [
            Wrong("too few", [PNG] * 2, {"shot_2": tf.train.Feature()}),
            Wrong("the first is missing", NOTHING, {"shot_0": tf.train.Feature()}),
            Wrong("too many", [PNG] * 4),
            Wrong("two under one key", NOTHING, {"shot_1": blobs(PNG, PNG)}),
            Wrong("another size", [PNG, PNG, encoded("PNG", (4, 5))], {"shot_2": blobs(encoded("PNG", (4, 5)))}),
            Wrong("no image", [PNG, b"", PNG], {"shot_1": blobs(b"")}),
            Wrong("no PNG", [JPEG, PNG, PNG], {"shot_0": blobs(JPEG)}),
        ],
        read=[_filled(0, 3, 4, 5, 3)],
    ),
}  # fmt: skip

MASKS = {
    "mask": Field(
        "Mask((2, 3), num_classes=6, ignore=255)",
        [_IDS, png(_IDS[:, :, None])],
        [
            Wrong("not a class", _filled(7, 2, 3)),
            Wrong("not a class, as a PNG", _PNG_OF_7, blobs(_PNG_OF_7), IDS),
            Wrong("another size", _flat(3, 2), blobs(png(_flat(3, 2, 1)))),
            Wrong("colors", encoded("PNG", (3, 2)), blobs(encoded("PNG", (3, 2)))),
            Wrong("one bit", encoded("PNG", (3, 2), "1"), blobs(encoded("PNG", (3, 2), "1"))),
            Wrong("no PNG", b"GIF89a", blobs(b"GIF89a")),
            Wrong("out of the dtype's range", _filled(300, 2, 3, dtype=int)),
        ],
        read=[_IDS, _IDS],
    ),
    "raw_mask": Field(
        'Mask((2, 3), encoding="raw", dtype="int32", num_classes=6)',
        [_flat(2, 3, dtype=np.int32)],
        [
            Wrong("not a class", _filled(6, 2, 3, dtype=np.int32), raw("<i4", *[6] * 6)),
            Wrong("negative", _filled(-1, 2, 3, dtype=np.int32), raw("<i4", *[-1] * 6)),
            Wrong("too few bytes", NOTHING, raw("<i4", 1)),
        ],
    ),
    "sized_mask": Field(
        'Mask((None, 3), encoding="raw", height_key="sized_mask/h", resize=(2, 3))',
        [_IDS],
        [
            Wrong("another height", NOTHING, {"sized_mask/h": ints(3)}),
            Wrong("another width", _flat(2, 2), raw("u1", *range(4))),
        ],
    ),
}  # fmt: skip

STREET = {
    "photo": Field(
        'Image((None, None, 3), encoding="png", resize=(2, 2))',
        [PNG],
        [],
        read=[_filled(0, 2, 2, 3)],
    ),
    "road": Field(
        "Mask((None, None), num_classes=6, resize=(2, 2))",
        [_filled(5, 4, 5)],
        [
            Wrong("another size than the image", _IDS, blobs(png(_IDS[:, :, None])), MASK_SIZE),
            Wrong("not a class", _filled(6, 4, 5)),
        ],
        read=[_filled(5, 2, 2)],
    ),
}  # fmt: skip

_SAMPLES = np.array([[1, -2], [3, -4]], np.int16)
_WAV, _FLAC = wav(_SAMPLES), flac(_SAMPLES)
_MONO, _FAST = _SAMPLES[:, :1], wav(_SAMPLES, rate=16000)
_FLOATS = (_SAMPLES / 2**15).astype(F32)
_LONG_FLAC = flac(np.arange(20000, dtype=np.int16).reshape(-1, 2))

SOUND = {
    "voice": Field(
        "Audio(8000, channels=2, dtype='int16', max_length=3)",
        [_WAV],
        [
            Wrong("another rate", _FAST, blobs(_FAST)),
            Wrong("one channel", wav(_MONO), blobs(wav(_MONO))),
            Wrong("too long", wav(np.tile(_SAMPLES, (2, 1))), blobs(wav(np.tile(_SAMPLES, (2, 1))))),
            Wrong("cut off", _WAV[:-1], blobs(_WAV[:-1])),
            Wrong("without samples", _WAV[:36], blobs(_WAV[:36])),
            Wrong("8 bits", wave_of("PCM_U8"), blobs(wave_of("PCM_U8"))),
            Wrong("24 bits", wave_of("PCM_24"), blobs(wave_of("PCM_24"))),
            Wrong("floats in a file", wave_of("FLOAT"), blobs(wave_of("FLOAT"))),
            Wrong("a FLAC", _FLAC, blobs(_FLAC)),
            Wrong("no bytes", b"", blobs(b"")),
            Wrong("samples of one channel", _MONO),
            Wrong("samples of another order", np.zeros((2, 3), np.int16)),
            Wrong("floats above 1", np.full((1, 2), 1.5, F32)),
            Wrong("NaN", np.full((1, 2), nan, F32)),
            Wrong("out of the range of 16 bits", np.full((1, 2), 2**15)),
            Wrong("text", "voice.wav"),
        ],
        read=[_SAMPLES],
    ),
    "song": Field(
        "Audio(8000, channels=2, encoding='flac')",
        [_FLAC],
        [
            Wrong("another rate", flac(_SAMPLES, 16000), blobs(flac(_SAMPLES, 16000))),
            Wrong("one channel", flac(_MONO), blobs(flac(_MONO))),
            Wrong("a WAV", _WAV, blobs(_WAV)),
            Wrong("a cut header", _FLAC[:30], blobs(_FLAC[:30])),
            Wrong("cut off", _LONG_FLAC[:-900], blobs(_LONG_FLAC[:-900])),
            Wrong("24 bits", wave_of("PCM_24", "FLAC"), blobs(wave_of("PCM_24", "FLAC"))),
            Wrong("no bytes", b"", blobs(b"")),
        ],
        read=[_FLOATS],
    ),
    "tone": Field(
        "Audio(8000, channels=2, encoding='raw', max_length=3)",
        [_FLOATS],
        [
            Wrong("one channel", _FLOATS[:, :1], raw("<f4", 1, 2, 3)),
            Wrong("too long", np.zeros((4, 2), F32), raw("<f4", *range(8))),
            Wrong("NaN", np.full((1, 2), nan, F32), raw("<f4", nan, 0), FINITE),
            Wrong("a WAV", _WAV),
        ],
    ),
}  # fmt: skip

STEPS = {
    "pairs": Field(
        'Steps(Vector((2,), "uint8", "raw", max=9), group="g")',
        [[[1, 2], [3, 9]]],
        [
            Wrong("above the range", [[1, 2], [3, 10]], [raw("u1", 1, 2), raw("u1", 3, 10)]),
            Wrong("out of the dtype's range", [[1, 2], [3, 256]]),
            Wrong("another size", [[1], [2]], [raw("u1", 1), raw("u1", 2)]),
            Wrong("shorter than its group", [[1, 2]], [raw("u1", 1, 2)]),
        ],
        "uint8",
    ),
    "times": Field(
        'Steps(Scalar("int64", min=0), group="g")',
        [[1, 2]],
        [
            Wrong("below the range", [1, -2], [ints(1), ints(-2)]),
            Wrong("longer than its group", [1, 2, 3], [ints(1), ints(2), ints(3)]),
            Wrong("two in a step", [[1, 2], [3, 4]], [ints(1, 2), ints(3, 4)]),
            Wrong("none in a step", NOTHING, [ints(1), ints()]),
        ],
        "int64",
    ),
    "speeds": Field(
        'Steps(Scalar("float32"), max_length=2)',
        [[0.5], []],
        [
            Wrong("too long", [0.5] * 3, [floats(0.5)] * 3),
            Wrong("NaN", [nan], [floats(nan)], FINITE),
            Wrong("another type", ["a"], [ints(1)]),
        ],
        "float32",
    ),
    "doubles": Field(
        'Steps(Vector((2,), "float64", min=0))',
        [[[0.5, 0.25]]],
        [Wrong("below the range", [[0.5, -1.0]], [raw("<f8", 0.5, -1.0)])],
        "float64",
    ),
    "words": Field(
        "Steps(Text())",
        [["x", ""]],
        [Wrong("a lone surrogate", ["x", "\ud800"], [blobs(b"x"), blobs(b"\xff")], UTF_8)],
    ),
    "actions": Field(
        "Steps(Label(num_classes=3))",
        [[0, 2]],
        [
            Wrong("not a class", [0, 3], [ints(0), ints(3)]),
            Wrong("negative", [0, -1], [ints(0), ints(-1)]),
        ],
        "int64",
    ),
    "frames": Field(
        'Steps(Image((4, 5, 3), encoding="png"))',
        [[_flat(4, 5, 3)]],
        [
            Wrong("another size", [PNG, encoded("PNG", (4, 5))], [blobs(encoded("PNG", (4, 5)))]),
            Wrong("no PNG", [JPEG], [blobs(JPEG)]),
        ],
    ),
    "spans": Field(
        'Steps(VarLen("int16", max_length=2, min=0), max_length=2)',
        [[[1, 2], []], [[3]], []],
        [
            Wrong("below the range", [[1], [2, -1]], [ints(1), ints(2, -1)]),
            Wrong("out of the dtype's range", [[1], [2**15]], [ints(1), ints(2**15)]),
            Wrong("too many in a step", [[], [1, 2, 3]], [ints(), ints(1, 2, 3)]),
            Wrong("too many steps", [[1]] * 3, [ints(1)] * 3),
            Wrong("numbers in place of lists", [1, 2]),
            Wrong("another type", [["a"]], [floats(1)]),
        ],
    ),
    "tracks": Field(
        'Steps(VarLen("float32", item_shape=(2,)))',
        [[[[0.5, 1.0]], []]],
        [
            Wrong("NaN", [[[0.5, nan]]], [floats(0.5, nan)], FINITE),
            Wrong("half an item", NOTHING, [floats(1, 2), floats(1)]),
            Wrong("items of another shape", [[[1.0, 2.0, 3.0]]]),
        ],
    ),
    "samples": Field(
        'Steps(VarLen("int16", encoding="raw", max=9))',
        [[[1, 9], []]],
        [
            Wrong("above the range", [[1], [2, 10]], [raw("<i2", 1), raw("<i2", 2, 10)]),
            Wrong("half a number", NOTHING, [raw("u1", 1, 2, 3)]),
        ],
    ),
    "tags": Field(
        'Steps(VarLen("string"))',
        [[["x", ""], []]],
        [
            Wrong("a lone surrogate", [["x"], ["\ud800"]], [blobs(b"x"), blobs(b"\xff")], UTF_8),
            Wrong("text in place of a list", ["x"]),
        ],
    ),
    "marks": Field(
        'Steps(VarLen("int64", classes=("a", "b")))',
        [[[0, 1], [1]], [[]]],
        [
            Wrong("not a class", [[0], [1, 2]], [ints(0), ints(1, 2)]),
            Wrong("no name of a class", [["a", "c"]]),
        ],
    ),
}  # fmt: skip

INTERVALS = {
    "span": Field(
        "Interval((2,))",
        [[1.0, 2.0], [2.0, 2.0]],
        [
            Wrong("ends before it begins", [2.0, 1.0], floats(2, 1)),
            Wrong("NaN", [nan, 1.0], floats(nan, 1.0)),
            Wrong("one number", [1.0], floats(1.0)),
        ],
        "float32",
    ),
    "count": Field(
        'Interval((2,), "int64", min=0)',
        [[1, 2]],
        [
            Wrong("ends before it begins", [2, 1], ints(2, 1)),
            Wrong("below the range", [-1, 1], ints(-1, 1)),
        ],
        "int64",
    ),
    "doubles": Field(
        'Interval((2,), "float64")',
        [[0.1, 0.2]],
        [Wrong("ends before it begins", [0.2, 0.1], raw("<f8", 0.2, 0.1))],
        "float64",
    ),
}

RECORDS: dict[str, dict[str, Field]] = {
    "Numbers": NUMBERS,
    "Vectors": VECTORS,
    "Boxes": BOXES,
    "Lists": LISTS,
    "ListsOfLists": RAGGED,
    "ClassesAndTexts": CLASSES_AND_TEXTS,
    "Tensors": TENSORS,
    "Sparses": SPARSE,
    "Pictures": IMAGES,
    "Masks": MASKS,
    "Street": STREET,
    "Clip": STEPS,
    "Sounds": SOUND,
    "Intervals": INTERVALS,
}
"""The fields of each record, all of them required, by the name of its class."""
