"""Declarations of kinds that cannot be: one finding each, at its field, that says why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import pytest
from command_line import make_project, place, refusals

HEAD = """\
from datetime import datetime
from typing import Annotated, Any
import numpy as np
from schemagen import *

"""


class Wrong(NamedTuple):
    """A record that is refused.

    Attributes:
        fields: its lines.
        rule: of the finding.
        at: the name of the field, or of the class `R`, where the finding is.
        words: what the finding says, among other things.
        base: the class of the record.
    """

    fields: tuple[str, ...]
    rule: str
    at: str
    words: str
    base: str = "Record"


def fields(rule: str, at: str, words: str, *kinds: str, of: str = "Any") -> Wrong:
    """A record whose fields `a`, `b` and so on have these kinds."""
    lines = (
        f"{name}: Annotated[{of}, {kind}]"
        for name, kind in zip("abcde", kinds, strict=False)
    )
    return Wrong((*lines,), rule, at, words)


def number(words: str, dtype: str, options: str, of: str = "int") -> Wrong:
    """A number with parameters that do not go with its dtype."""
    return fields("SG113", "a", words, f"Scalar({dtype!r}, {options})", of=of)


def stepped(annotation: str, rule: str, at: str, words: str) -> Wrong:
    """A sequence record of one field."""
    line = f"a: Annotated[{annotation}]"
    return Wrong((line,), rule, at, words, base="SequenceRecord")


_MASK = "Mask((4, 4), num_classes=2)"
_OTHER = "b: float"

# A target needs a picture of its size, or no model could learn it.
MASKS = [
    Wrong((f"a: Annotated[Any, {_MASK}]", _OTHER), "SG118", "a", "[4, 4]"),
    fields(
        *("SG118", "a", "[6, 6]", _MASK, "Image((8, 4, 3))"),
        "Image((None, None, 3), encoding='png', resize=(6, 6))",
    ),
    fields(
        *("SG118", "a", "[8, 8]"),
        "Mask((None, None), num_classes=2, resize=(8, 8))",
        "Image((8, 8, 3), role='info')",
    ),
    Wrong(
        ("a: Annotated[Any, Mask((4, 4), role='target')]", _OTHER),
        *("SG118", "a", "role='info'"),
    ),
    Wrong(
        ("a: Annotated[Any, Mask((4, 4), role='input')]", _OTHER),
        *("SG118", "a", "role='info'"),
    ),
    Wrong(
        (
            "a: Annotated[np.ndarray | None, Mask((8, 8), num_classes=2)] = None",
            "b: Annotated[Any, Image((8, 8, 3))]",
        ),
        *("SG118", "a", "ignore="),
    ),
]

# Keys that two fields would fill with different things, and lists of images.
IMAGES = [
    fields("SG114", "b", "'b'", "Image((2, 2, 3), height_key='b')", "Scalar('int64')"),
    fields(
        *("SG114", "b", "'s'"),
        "Image((2, 2, 3), height_key='s')",
        "Image((2, 2, 3), width_key='s')",
    ),
    fields(
        *("SG114", "b", "'f'"),
        "Image((2, 2, 3), format_key='f')",
        "Image((2, 2, 3), encoding='png', format_key='f')",
    ),
    fields(
        *("SG114", "b", "'s'"),
        "Tensor((None, 3), shape_key='s')",
        "Tensor((None, 3, 1), shape_key='s')",
    ),
    fields(
        *("SG114", "b", "'s'"),
        "Tensor((None, 3), shape_key='s')",
        "Tensor((None, 4), shape_key='s')",
    ),
    fields(
        *("SG114", "c", "'w'"),
        "Image((4, 2, 3), height_key='h', width_key='w')",
        "Mask((None, 2), height_key='h', width_key='w')",
        "Mask((None, 9), height_key='h', width_key='w')",
    ),
    fields(
        *("SG113", "a", "group"),
        "Images((2, 2, 3), count=2, group='g')",
        "VarLen('int64', group='g')",
    ),
    fields("SG116", "a", "", "Images((2, 2, 3), count=2)] = [] #"),
    fields("SG116", "a", "", "Images((2, 2, 3))] = [b''] #"),
    fields("SG112", "a", "bytes", "Images((2, 2, 3))", of="bytes"),
    fields("SG112", "a", "list[str]", "Images((2, 2, 3))", of="list[str]"),
    # A convolution has a fixed number of channels.
    fields(
        *("SG118", "a", "role='info'"),
        "Image((2, 2, None), channels_key='c', role='input')",
    ),
    # No other format has an orientation.
    fields(
        *("SG113", "a", "the orientation is that of JPEGs"),
        "Image((4, 4, 3), 'png', orientation='apply')",
    ),
]

_LIST = "VarLen('float32', item_shape=(4,), {})"
_CORNERS = "box=('xmin', 'ymin', 'xmax', 'ymax')"
_SIDES = ("xmin", "ymin", "xmax", "ymax")


def sides(*boxes: str) -> tuple[str, ...]:
    """Fields of one group that each have a side of a box."""
    return tuple(
        f"{name}: Annotated[list[float], VarLen('float32', group='g', box={box})]"
        for name, box in zip("abcde", boxes, strict=False)
    )


# Sides that are no box, of kinds or together, and images that are none.
BOXES = [
    fields(
        *("SG113", "a", "box"),
        _LIST.format("box=('xmin', 'ymin', 'xmax', 'height', 'width')"),
    ),
    fields(
        *("SG113", "a", "items of 4"),
        _LIST.format("box=('xmin', 'ymin', 'xmax', 'width')"),
    ),
    fields("SG113", "a", "single numbers", _LIST.format("box='xmin'")),
    fields("SG113", "a", "box=", _LIST.format("box_image='photo'")),
    fields("SG123", "a", "Image", _LIST.format(f"{_CORNERS}, box_image='a'")),
    fields("SG113", "a", "numbers in a list", f"Vector((4,), 'float64', {_CORNERS})"),
    fields(
        *("SG113", "a", "padding_value=0"),
        _LIST.format(f"max_length=2, pad_on_disk=True, padding_value=-1, {_CORNERS}"),
    ),
    Wrong(sides(*map(repr, _SIDES[:3])), "SG123", "a", "xmin, ymin, xmax"),
    Wrong(sides(*map(repr, _SIDES), "'ymax'"), "SG123", "a", "each once"),
    Wrong(
        (
            "photo: Annotated[np.ndarray, Image((4, 4, 3))]",
            *sides(*map(repr, _SIDES[:3]), "'ymax', box_image='photo'"),
        ),
        *("SG123", "a", "several images"),
    ),
]


def group(at: str, words: str, *options: str) -> Wrong:
    """Fields of one group."""
    kinds = (f"VarLen('int64', group='g'{each})" for each in options)
    return fields("SG113", at, words, *kinds, of="list[int]")


# A group of one, and fields of a group that would not keep equally many items.
GROUPS = [
    group("a", "", ""),
    group("b", "max_length=None", "", ", max_length=3"),
    group(
        *("b", "too_long='keep_head'"),
        ", max_length=3, too_long='keep_head'",
        ", max_length=3, too_long='keep_tail'",
    ),
    group(
        "b", "pad_on_disk=True", ", max_length=3, pad_on_disk=True", ", max_length=3"
    ),
    group("b", "None", "", ")] = [] #"),
]

# The ends of a range are numbers of the dtype, in order; padding and defaults are in it.
RANGES = [
    number("min <= max", "int64", "min=2, max=1"),
    number("from -128 to 127", "int8", "max=128"),
    number("min=0.5", "int64", "min=0.5"),
    number("a finite number", "float32", "min=float('nan')", of="float"),
    number("max='1'", "float32", "max='1'", of="float"),
    number("min with dtype 'bool'", "bool", "min=0", of="bool"),
    fields(
        *("SG113", "a", "max with dtype 'string'", "VarLen('string', max=3)"),
        of="list[str]",
    ),
    fields(
        *(
            "SG113",
            "a",
            "padding_value=0",
            "VarLen('int64', 3, pad_on_disk=True, min=1)",
        ),
        of="list[int]",
    ),
    Wrong(
        ("a: Annotated[int, Scalar('int64', min=1)] = 0",),
        *("SG116", "a", "numbers of 1 or more"),
    ),
    stepped(
        "list[float], Steps(Scalar('float32', min=2, max=1))",
        *("SG113", "a", "min <= max"),
    ),
    # What readers refuse is no padding.
    fields(
        *("SG113", "a", "padding_value=nan with pad_on_disk=True"),
        "VarLen('float32', max_length=3, pad_on_disk=True, padding_value=float('nan'))",
        of="list[float]",
    ),
]

# Two unknown sizes, which bytes alone cannot tell; lists of strings.
RAW_BYTES = [
    fields(
        *("SG113", "a", "where one size of raw bytes varies"),
        "Tensor((None, None), 'float32')",
    ),
    fields(
        *("SG113", "a", "one key of all sizes", "Tensor((None, 3), encoding='list')")
    ),
    fields(
        *("SG113", "a", "encoding='raw' with dtype 'string'"),
        "VarLen('string', encoding='raw')",
        of="list[str]",
    ),
]

# Indices need a key of their own, and no model predicts a sparse tensor.
SPARSE = [
    Wrong(("a: Annotated[Any, Sparse((2,), 'x')]", "x: int"), "SG114", "x", "'x'"),
    fields("SG114", "a", "'a'", "Sparse((2,), 'a')"),
    fields("SG118", "a", "target", "Sparse((2,), 'i', role='target')"),
]

# Only sequence records have steps, and have some; the type is that of all steps.
STEPS = [
    fields("SG120", "a", "", "Steps(Scalar('int64'))", of="list[int]"),
    stepped("int, Scalar('int64')", "SG120", "R", ""),
    stepped("list[str], Steps(Scalar('int64'))", "SG112", "a", "list[str]"),
    stepped("int, Steps(Scalar('int64'))", "SG112", "a", "int"),
    stepped("np.ndarray, Steps(Text())", "SG112", "a", "ndarray"),
    stepped("list[bytes], Steps(Image((2, 2, 3)))", "SG112", "a", "list[bytes]"),
    # Lists in steps: an array has no place for them, and Steps has what is of all.
    stepped("np.ndarray, Steps(VarLen('int64'))", "SG112", "a", "ndarray"),
    stepped("list[int], Steps(VarLen('int64'))", "SG112", "a", "list[int]"),
    *(
        stepped(
            f"list[list[int]], Steps(VarLen('int64', 2, {option}))",
            *("SG113", "a", option.partition("=")[0]),
        )
        for option in (
            "ragged=True",
            "padding_value=3",
            "group='g'",
            "pad_on_disk=True",
        )
    ),
    stepped("list[list[list[int]]], Steps(Ragged('int64'))", "SG113", "a", "VarLen"),
]

# Units are of int64, and of types of times.
UNITS = [
    number("unit='s' with dtype 'int32'", "int32", "unit='s'"),
    number("unit='h'", "int64", "unit='h'"),
    fields(
        *("SG112", "a", "datetime, date or int", "Scalar('int64', unit='s')"), of="str"
    ),
    fields("SG112", "a", "int, because", "Scalar('int64')", of="datetime"),
    Wrong(
        ("a: Annotated[datetime, Scalar('int64', unit='s')] = 'now'",),
        *("SG116", "a", "int64"),
    ),
]


def _list(words: str, options: str, dtype: str = "int64") -> Wrong:
    return fields("SG113", "a", words, f"VarLen({dtype!r}, {options})")


_NAMES = "classes=('x', 'y')"
CLASSES = [
    *(
        fields("SG113", "a", words, f"{kind}({options})")
        for kind in ("Label", "MultiLabel")
        for options, words in (
            ("values=(1, 1)", "another value for each class"),
            (f"values=(-1, 0, 1), {_NAMES}", "2 classes and 3 values"),
            ("values=(-1, 1), num_classes=3", "3 classes and 2 values"),
            ("values=(-1, 1), offset=1", "one or the other"),
            ("values=('a', 'b')", "a tuple of ints, such as (-1, 1)"),
            ("values=(2**63, 1)", "a tuple of ints, such as (-1, 1)"),
            (f"values=(-1, 1), stored='text', {_NAMES}", "the file holds the names"),
        )
    ),
    _list("each name once", "classes=('x', 'x')"),
    _list("offset without classes", "offset=1"),
    _list("values without classes", "values=(-1, 1)"),
    _list("stored without classes", "stored='text'"),
    _list("dtype 'int32'", _NAMES, "int32"),
    _list("item_shape", f"{_NAMES}, item_shape=(2,)"),
    _list("pad_on_disk", f"{_NAMES}, pad_on_disk=True, max_length=3"),
    _list("the id of a class", f"{_NAMES}, padding_value=1"),
    _list("the file holds the names", f"{_NAMES}, stored='text', offset=1"),
]

WRONG = [
    *CLASSES,
    *(*MASKS, *IMAGES, *BOXES, *GROUPS, *RANGES),
    *(*RAW_BYTES, *SPARSE, *STEPS, *UNITS),
]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: " ".join(wrong.fields))
def test_a_wrong_declaration_is_a_finding_at_its_field(
    tmp_path: Path, wrong: Wrong
) -> None:
    """With the rule, and with what to write instead or what to do."""
    lines = "".join(f"    {line}\n" for line in wrong.fields)
    text = f"{HEAD}class R({wrong.base}):\n{lines}"
    (finding,) = refusals(make_project(tmp_path, {"r.py": text}))
    assert finding["rule"] == wrong.rule
    names = [line.partition(":")[0] for line in wrong.fields]
    line = HEAD.count("\n") + 1
    if wrong.at == "R":
        assert place(finding) == f"schemas/r.py:{line}:1"
    else:
        line += 1 + names.index(wrong.at)
        assert place(finding) == f"schemas/r.py:{line}:5"
    shown = json.dumps(finding, ensure_ascii=False)
    assert wrong.words in shown
    assert finding["expected"] or finding["advice"]
