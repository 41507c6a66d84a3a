"""Bytes are told apart by what they are, not by what is said of them."""

from __future__ import annotations

from io import BytesIO

import numpy as np
import pytest
from PIL import Image
from schemagen.data.decoding import decode
from schemagen.data.records import records_of
from schemagen.data.statistics.bytes_values import (
    LONGEST_COUNTED,
    BytesValues,
    Content,
    Picture,
    content_of,
)
from schemagen.data.statistics.measuring import Measuring
from schemagen.data.statistics.numbers import DISTINCT
from schemagen.data.tensor_proto import TensorHead, tensor_head

from .example_bytes import example

PIXELS = np.random.default_rng(1).integers(0, 256, (20, 30, 3), np.uint8)


def image(form: str, mode: str = "RGB") -> bytes:
    out = BytesIO()
    Image.fromarray(PIXELS).convert(mode).save(out, form)
    return out.getvalue()


@pytest.mark.parametrize(
    ("form", "mode", "channels"),
    [
        ("jpeg", "RGB", 3),
        ("jpeg", "L", 1),
        ("png", "RGBA", 4),
        ("png", "L", 1),
        ("bmp", "RGB", 3),
        ("gif", "RGB", 3),
        ("webp", "RGB", 3),
    ],
)
def test_images(form: str, mode: str, channels: int) -> None:
    """Format, height, width and channels, from the header alone."""
    found = content_of(image(form, mode))
    assert found == Content(form, picture=Picture(form, 20, 30, channels, 8))


@pytest.mark.parametrize("form", ["jpeg", "png"])
def test_an_image_that_is_cut_is_still_one(form: str) -> None:
    """It says what is wrong with it."""
    found = content_of(image(form)[:-20])
    assert found == Content(form, trouble=f"a truncated {form} image")


@pytest.mark.parametrize(
    ("value", "form", "utf8"),
    [
        (b"", "empty", True),
        (b"a word", "text", True),
        ("Straße, 東京\n\ttabs".encode(), "text", True),
        (b"BMW is a car", "text", True),
        (b"GIF89a is a format", "text", True),
        (b"RIFF1234WEBP", "text", True),
        (b"\x00\x01\x02", "raw", True),
        (b"\x1b[31mred", "raw", True),
        (b"\xff\xfe\x00", "raw", False),
        (b"BM\xff\xff", "bmp", False),
        (b"\x08\x01", "tensor", False),
        (b"\x08\x63\x12\x00", "raw", True),
        (b"\x08backspace", "raw", True),
    ],
)
def test_what_is_no_image(value: bytes, form: str, utf8: bool) -> None:
    """Words may begin as images do; text has no control characters."""
    found = content_of(value)
    assert (found.format, found.utf8) == (form, utf8)


TENSORS = {
    # As tf.io.serialize_tensor writes them.
    "float32 [2, 3]": (
        bytes.fromhex("08011208120208021202080322") + b"\x18" + bytes(24),
        TensorHead("float32", (2, 3)),
    ),
    "int64 of no dimension": (
        bytes.fromhex("0809120022080700000000000000"),
        TensorHead("int64", ()),
    ),
    "uint8 [0]": (bytes.fromhex("080412021200"), TensorHead("uint8", (0,))),
    "an unknown rank": (bytes.fromhex("080112021801"), TensorHead("float32", None)),
}


@pytest.mark.parametrize("name", TENSORS)
def test_serialized_tensors(name: str) -> None:
    """Their dtype and shape; what ends too early is none."""
    data, head = TENSORS[name]
    assert content_of(data) == Content("tensor", tensor=head)
    assert tensor_head(data[:-1]) is None or len(data) < 7


def found_of(values: list[bytes]) -> BytesValues:
    held = Measuring()
    for at in range(0, len(values), 50):
        rows = [example({"k": ("bytes", [value])}) for value in values[at : at + 50]]
        held.add(decode(records_of(rows)))
    found = held.found().keys["k"].by_kind["bytes"].bytes
    assert found is not None
    return found


def test_a_column_of_everything() -> None:
    """All counts add up, whether values are short or long."""
    values = [
        image("jpeg"),
        image("jpeg", "L"),
        image("png")[:-9],
        b"",
        b"cat",
        b"cat",
        b"\xff" * (LONGEST_COUNTED + 1),
        TENSORS["float32 [2, 3]"][0],
        ("é" * 4000).encode(),
    ]
    found = found_of(values)
    assert found.count == len(values)
    assert found.formats == {
        "jpeg": 2,
        "png": 1,
        "empty": 1,
        "text": 3,
        "raw": 1,
        "tensor": 1,
    }
    assert found.images == 3
    assert found.utf8 == 4
    assert found.sizes.distinct is not None
    assert found.sizes.total == sum(map(len, values))
    assert found.pictures == {
        Picture("jpeg", 20, 30, 3, 8): 1,
        Picture("jpeg", 20, 30, 1, 8): 1,
    }
    assert found.heights.distinct == {20: 2}
    assert found.widths.distinct == {30: 2}
    assert found.channels == {3: 1, 1: 1}
    assert found.depths == {8: 2}
    assert found.troubles == {"a truncated png image": 1}
    assert found.tensors == {TensorHead("float32", (2, 3)): 1}
    assert found.distinct is None


def test_few_different_texts_are_counted() -> None:
    """Of more than DISTINCT, or of long ones, no one counts each."""
    names = [b"%d" % number for number in range(DISTINCT)]
    assert found_of(names * 2).distinct == dict.fromkeys(names, 2)
    assert found_of([*names, b"one more"]).distinct is None
    longest = b"a" * LONGEST_COUNTED
    assert found_of([longest, b"b"]).distinct == {longest: 1, b"b": 1}
    assert found_of([longest + b"a", b"b"]).distinct is None
