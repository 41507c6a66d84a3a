"""Absent, without a kind, empty, or a sentinel: what each reads as, for every kind.

Four things on the wire that look alike. A key may be absent; a feature may have no kind
set, as other code writes where it has no value; its list may be empty; or a value in it,
such as -1 or "", may be meant to say that there is none.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import schemagen
import tensorflow as tf
from command_line import make_project, refusals
from schemagen.kinds.kind import Kind
from schemagen.spec.names import snake_case
from stored_features import blobs, floats, ints

if TYPE_CHECKING:
    from conftest import PackageOf, Workspace

HEAD = """
from typing import Annotated, Any
import numpy as np
from schemagen import *

"""

Features = dict[str, tf.train.Feature]
NO_KIND = tf.train.Feature()


@dataclass(frozen=True)
class Error:
    """What is refused, with what the error says."""

    text: str


# A single value, or numbers of a fixed shape: an empty list is none of these.
NOT_ONE = Error("Key: x")
NOT_THERE = Error("Feature: x (data type")  # tensorflow's own words
REQUIRED = Error("feature 'x' is required, and an Example does not have it")


@dataclass(frozen=True)
class Case:
    """One kind, and what it reads as.

    Attributes:
        holds: the type of a row's value.
        kind: as a schema has it.
        feature: makes a feature of the list in which it is stored.
        sentinel: the features of a value that might be meant to say: none.
        lacking: the error where it is required.
        missing: what a missing one reads as, of an optional field that has no default.
        empty: what an empty list reads as.
        seen: what the sentinel reads as.
        default: source text of a default; "" if the kind can have none but None.
        default_reads: what a missing one then reads as.
        masked: whether a mask of its own tells whether it is there.
        there: what that mask says of the sentinel.
        further: the further keys, with what makes features of their lists.
        optional_seen: what the sentinel reads as where the field is optional, if that
            is something else.
    """

    holds: str
    kind: str
    feature: Callable[..., tf.train.Feature]
    sentinel: Features
    lacking: Error
    missing: Any
    empty: Any
    seen: Any
    default: str = ""
    default_reads: Any = None
    masked: bool = True
    there: bool = True
    further: tuple[tuple[str, Callable[..., tf.train.Feature]], ...] = ()
    optional_seen: Any = None

    def absent(self) -> Features:
        """Nothing at all."""
        return {}

    def without_kind(self) -> Features:
        """A feature in which no list is set, under each key."""
        return dict.fromkeys(["x", *(key for key, _ in self.further)], NO_KIND)

    def no_items(self) -> Features:
        """A list without anything in it, under each key."""
        return {"x": self.feature()} | {key: make() for key, make in self.further}


NAN = math.nan
NO_IMAGE = Error("field 'x': expected")

CASES = {
    "int": Case(
        "int", 'Scalar("int64")', ints, {"x": ints(-1)}, NOT_THERE, 0, NOT_ONE, -1, "7", 7
    ),
    "bool": Case(
        "bool", 'Scalar("bool")', ints, {"x": ints(0)}, NOT_THERE, False, NOT_ONE, False,
        "True", True,
    ),
    "float": Case(
        "float", 'Scalar("float32")', floats, {"x": floats(0)}, NOT_THERE, NAN, NOT_ONE, 0.0,
        "0.5", 0.5, masked=False,
    ),
    "float64": Case(
        "float", 'Scalar("float64")', blobs, {"x": blobs(bytes(8))}, NOT_THERE, NAN, NOT_ONE, 0.0,
        "0.5", 0.5, masked=False,
    ),
    "bytes": Case(
        "bytes", 'Scalar("bytes")', blobs, {"x": blobs(b"")}, NOT_THERE, b"", NOT_ONE, b"",
        "b'-'", b"-",
    ),
    "text": Case(
        "str", "Text()", blobs, {"x": blobs(b"")}, NOT_THERE, b"", NOT_ONE, b"", "'-'", b"-"
    ),
    "label": Case(
        "int", 'Label(num_classes=3, role="input")', ints, {"x": ints(-1)}, NOT_THERE, -1,
        NOT_ONE, Error("expected class ids from 0 to 2, found"), "1", 1, masked=False,
        optional_seen=-1,
    ),
    "label by name": Case(
        "str", 'Label(classes=("a", "b"), stored="text", role="input")', blobs,
        {"x": blobs(b"")}, NOT_THERE, -1, NOT_ONE, Error("expected one of 2 classes"),
        "'b'", 1, masked=False, optional_seen=-1,
    ),
    "several labels": Case(
        "list[int]", 'MultiLabel(num_classes=2, role="input")', ints, {"x": ints(-1)}, REQUIRED,
        [0, 0], [0, 0], Error("expected class ids from 0 to 1, found"), "[]", [0, 0],
    ),
    "vector": Case(
        "np.ndarray", "Vector((2,))", floats, {"x": floats(0, 0)}, NOT_THERE, [NAN, NAN], NOT_ONE,
        [0, 0], "np.ones(2, np.float32)", [1, 1], masked=False,
    ),
    "integers": Case(
        "np.ndarray", 'Vector((2,), dtype="int8")', ints, {"x": ints(-1, -1)}, NOT_THERE, [0, 0],
        NOT_ONE, [-1, -1], "[5, 5]", [5, 5],
    ),
    "raw vector": Case(
        "np.ndarray", 'Vector((2,), dtype="uint8", encoding="raw")', blobs, {"x": blobs(b"")},
        NOT_THERE, [0, 0], NOT_ONE, Error("expected 2 bytes"), "[5, 5]", [5, 5],
    ),
    "tensor": Case(
        "np.ndarray", 'Tensor((None,), encoding="proto")', blobs, {"x": blobs(b"")}, NOT_THERE, [],
        NOT_ONE, Error("expected a serialized tensor of rank 1"),
    ),
    "sparse": Case(
        "dict[Any, Any]", 'Sparse((2,), index_key="at", dense=True)', floats,
        {"x": floats(0), "at": ints(-1)}, REQUIRED, [0, 0], [0, 0],
        Error("field 'x': expected indices"), further=(("at", ints),),
    ),
    "raw image": Case(
        "np.ndarray", "Image((1, 1, 1))", blobs, {"x": blobs(b"")}, NOT_THERE, [[[0]]], NOT_ONE,
        Error("expected 1 bytes"),
    ),
    "image": Case(
        "np.ndarray", 'Image((1, 1, 1), encoding="png")', blobs, {"x": blobs(b"")}, NOT_THERE,
        [[[0]]], NOT_ONE, NO_IMAGE, there=False, optional_seen=[[[0]]],
    ),
    "images": Case(
        "list[bytes]", 'Images((1, 1, 1), encoding="png")', blobs, {"x": blobs(b"")}, REQUIRED, [], [],
        NO_IMAGE, "[]", [],
    ),
    "mask": Case(
        "np.ndarray", 'Mask((1, 1), num_classes=2, role="info")', blobs, {"x": blobs(b"")}, NOT_THERE,
        [[0]], NOT_ONE, NO_IMAGE, there=False, optional_seen=[[0]],
    ),
    "mask with ignore": Case(
        "np.ndarray", 'Mask((1, 1), num_classes=2, ignore=255, role="info")', blobs,
        {"x": blobs(b"")}, NOT_THERE, [[255]], NOT_ONE, NO_IMAGE, masked=False,
        optional_seen=[[255]],
    ),
    "sequence": Case(
        "np.ndarray", 'VarLen("int64")', ints, {"x": ints(-1)}, REQUIRED, [], [], [-1], "[]", []
    ),
    "raw sequence": Case(
        "np.ndarray", 'VarLen("float64")', blobs, {"x": blobs(b"")}, NOT_THERE, [], NOT_ONE, [],
        "[]", [],
    ),
    "strings": Case(
        "list[str]", 'VarLen("string")', blobs, {"x": blobs(b"")}, REQUIRED, [], [], [b""], "[]", []
    ),
    "padded on disk": Case(
        "np.ndarray", 'VarLen("int64", max_length=2, pad_on_disk=True, padding_value=9)', ints,
        {"x": ints(-1, -1)}, NOT_THERE, [9, 9], NOT_ONE, [-1, -1], "[]", [9, 9],
    ),
    "strings padded on disk": Case(
        "list[str]", 'VarLen("string", max_length=1, pad_on_disk=True, padding_value="-")', blobs,
        {"x": blobs(b"")}, NOT_THERE, [b"-"], NOT_ONE, [b""], "[]", [b"-"],
    ),
    "lists": Case(
        "list[list[int]]", 'Ragged("int64", ragged=False)', ints,
        {"x": ints(-1), "x/row_lengths": ints(1)}, REQUIRED, [], [], [[-1]], "[]", [],
        further=(("x/row_lengths", ints),),
    ),
}  # fmt: skip


def class_of(name: str, form: str) -> str:
    """Return what a case's record is called: IntRequired."""
    return "".join(word.title() for word in name.split()) + form


def schema() -> str:
    """Return a record of each case: required, with None, and with a default."""
    records = []
    for name, case in CASES.items():
        kind, of = case.kind, case.holds
        masked = f"{kind[:-1]}, presence=True)".replace("(, ", "(")
        lines = {"Required": f"Annotated[{of}, {kind}]"}
        lines["OrNone"] = f"Annotated[{of} | None, {kind}] = None"
        lines["Masked"] = f"Annotated[{of} | None, {masked}] = None"
        if case.default:
            lines["Default"] = f"Annotated[{of}, {masked}] = {case.default}"
        records += [
            f"class {class_of(name, form)}(Record):\n    other: int\n    x: {line}\n"
            for form, line in lines.items()
        ]
    return HEAD + "\n\n".join(records)


@pytest.fixture(scope="module")
def records(package_of: PackageOf) -> Workspace:
    """The generated code of all cases."""
    return package_of(schema())


def read(records: Workspace, name: str, form: str, features: Features) -> Any:
    """Parse an Example as one of a case's records."""
    example = tf.train.Example(features=tf.train.Features(feature=features))
    example.features.feature["other"].CopyFrom(ints(1))
    parser = records.module(snake_case(class_of(name, form)), "parser")
    return parser.parse_batch(tf.constant([example.SerializeToString()]))


def same(found: Any, expected: Any) -> bool:
    """Tell whether nested lists are equal, NaN being NaN."""
    if isinstance(found, list) and isinstance(expected, list):
        pairs = zip(found, expected, strict=False)
        return len(found) == len(expected) and all(same(a, b) for a, b in pairs)
    return bool(found == expected or (found != found and expected != expected))


def check(
    records: Workspace,
    name: str,
    form: str,
    features: Features,
    expected: Any,
    there: bool | None = None,
) -> None:
    """Assert what an Example reads as, and what its mask says; None if it has none."""
    if isinstance(expected, Error):
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            read(records, name, form, features)
        assert expected.text in str(caught.value).replace("\\'", "'")
        return
    batch = read(records, name, form, features)
    assert same(batch["x"].numpy().tolist()[0], expected)
    mask = batch["x_present"].numpy().tolist() if "x_present" in batch else [None]
    assert mask == [there]


EVERY = pytest.mark.parametrize("name", CASES)


@pytest.mark.quick_cases(12)
@EVERY
def test_what_is_required_is_never_made_up(records: Workspace, name: str) -> None:
    """An absent key and a feature without a kind are errors; the rest is as it is."""
    case = CASES[name]
    check(records, name, "Required", case.absent(), case.lacking)
    check(records, name, "Required", case.without_kind(), case.lacking)
    check(records, name, "Required", case.no_items(), case.empty)
    check(records, name, "Required", case.sentinel, case.seen)


@EVERY
@pytest.mark.parametrize("form", ["OrNone", "Masked"])
def test_what_is_missing_is_told_apart(
    records: Workspace, name: str, form: str
) -> None:
    """By a value that no other has, or by a mask; with `presence=True` by a mask."""
    case = CASES[name]
    masked = case.masked or form == "Masked"
    absent, present = (False, True) if masked else (None, None)
    seen = case.seen if case.optional_seen is None else case.optional_seen
    # What says itself that it is none is none, wherever it comes from.
    is_none = case.optional_seen is not None
    check(records, name, form, case.absent(), case.missing, absent)
    check(records, name, form, case.without_kind(), case.missing, absent)
    check(records, name, form, case.no_items(), case.empty, present)
    check(records, name, form, case.sentinel, seen, absent if is_none else present)


@pytest.mark.parametrize("name", [n for n, case in CASES.items() if case.default])
def test_a_default_stands_for_what_is_missing_and_for_nothing_else(
    records: Workspace, name: str
) -> None:
    """An empty list and a sentinel are not replaced; the mask tells in any case."""
    case = CASES[name]
    check(records, name, "Default", case.absent(), case.default_reads, False)
    check(records, name, "Default", case.without_kind(), case.default_reads, False)
    check(records, name, "Default", case.no_items(), case.empty, True)
    check(records, name, "Default", case.sentinel, case.seen, True)


def test_every_kind_is_in_the_table() -> None:
    """A kind that is added says here what its missing values read as."""
    there = {case.kind.split("(")[0] for case in CASES.values()}
    kinds = [getattr(schemagen, name) for name in schemagen.__all__]
    names = {k.__name__ for k in kinds if isinstance(k, type) and issubclass(k, Kind)}
    assert names - {"Steps"} == there  # steps are never missing: there may be none


@EVERY
def test_another_programs_message_is_no_record_of_defaults(
    package_of: PackageOf, name: str
) -> None:
    """A record whose fields are all optional refuses bytes that are not its own."""
    source = HEAD + "\n\n".join(
        f"class {class_of(name, 'Alone')}(Record):\n"
        f"    x: Annotated[{case.holds} | None, {case.kind}] = None\n"
        for name, case in CASES.items()
    )
    records = package_of(source)
    parser = records.module(snake_case(class_of(name, "Alone")), "parser")
    foreign = tf.train.Features(feature={"y": ints(1), "x/y": floats(1)})
    example = tf.train.Example(features=foreign).SerializeToString()
    for data in (b"", example, b"\x08\x96\x01", b"\x1a\x03abc"):
        with pytest.raises(tf.errors.InvalidArgumentError, match="no field of this"):
            parser.parse_batch(tf.constant([data]))


def findings_of(tmp_path: Path, *lines: str) -> list[dict[str, Any]]:
    """Return the findings of a record with these fields."""
    text = HEAD + "class R(Record):\n" + "".join(f"    {line}\n" for line in lines)
    return refusals(make_project(tmp_path, {"r.py": text}))


@pytest.mark.parametrize("name", CASES)
def test_a_mask_of_what_is_always_there_is_a_finding(tmp_path: Path, name: str) -> None:
    """`presence=True` is for fields with a default, of every kind."""
    case = CASES[name]
    masked = f"{case.kind[:-1]}, presence=True)".replace("(, ", "(")
    (finding,) = findings_of(tmp_path, f"x: Annotated[{case.holds}, {masked}]")
    assert finding["rule"] == "SG113"
    assert finding["message"] == "R.x: presence=True for a field that is always there"
    assert finding["advice"].startswith("take it out")


def test_the_name_of_a_mask_that_is_asked_for_is_taken(tmp_path: Path) -> None:
    """A field next to one with `presence=True` cannot be called as its mask."""
    (finding,) = findings_of(
        tmp_path, "x: Annotated[str, Text(presence=True)] = ''", "x_present: bool"
    )
    assert finding["rule"] == "SG115"
    assert finding["message"].endswith("the name is that of the mask of 'x'")


def test_a_batch_of_no_records_is_parsed(package_of: PackageOf) -> None:
    """Also where masks are looked up, in a graph and outside of one."""
    source = HEAD + (
        "class NoRows(Record):\n"
        "    x: int | None = None\n"
        "    words: list[str] = []\n"
        "    y: Annotated[float, Scalar('float32', presence=True)] = 0.5\n"
    )
    parse = package_of(source).module("no_rows", "parser").parse_batch
    nothing = tf.constant([], tf.string)
    for parsed in (parse(nothing), tf.function(parse)(nothing)):
        shapes = {name: tensor.shape.as_list() for name, tensor in parsed.items()}
        assert shapes == {
            "x": [0],
            "x_present": [0],
            "words": [0, 0],
            "y": [0],
            "y_present": [0],
        }
