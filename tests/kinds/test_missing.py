"""Absent, without a list, empty, or a sentinel: what each reads as, for every kind.

Four things on the wire that look alike. A key may be absent; a feature may have no list
set, as other code writes where it has no value; its list may be empty; or a value in it,
such as -1 or "", may be meant to say that there is none.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import schemagen
import tensorflow as tf
from command_line import make_project, refusals
from contract.generated_records import HEAD, RecordCase, all_cases, source_of
from contract.kinds.case import Drawn, KindCase
from contract.test_round_trip import check_one
from stored_features import blobs, example, floats, ints

if TYPE_CHECKING:
    from conftest import PackageOf, Workspace


def kind_of(case: KindCase) -> str:
    """Return the name of a case's kind, or its plain annotation."""
    text = case.declare("x")
    found = re.search(r"\b([A-Z]\w+)\(", text)
    return found[1] if found else text.removesuffix(" | None")


def masked(case: KindCase) -> KindCase:
    """Return an optional case with a mask that is asked for."""

    def missing(name: str) -> Drawn:
        assert case.missing is not None
        drawn = case.missing(name)
        mask = {f"{name}_present": False}
        return replace(drawn, delivered={**drawn.delivered, **mask})

    return replace(case, declare=lambda n: _asked(case.declare(n)), missing=missing)


def _asked(annotation: str) -> str:
    """Ask for a mask, in an annotation with a kind."""
    head, _, tail = annotation.rpartition(")")
    comma = "" if head.endswith("(") else ", "
    return f"{head}{comma}presence=True){tail}"


def chosen() -> dict[str, KindCase]:
    """Return an optional case of each kind and each way of being missing, by name."""
    found: dict[str, KindCase] = {}
    for case in all_cases():
        if case.missing is None or case.members:
            continue
        form = "None" if case.default == "None" else "Default"
        kind = re.sub(r"[^A-Za-z]", "", kind_of(case))[:12].title()
        own = "" if "x_present" in case.missing("x").delivered else "Bare"
        found.setdefault(f"{kind}{form}{own}", case)
        if "(" in case.declare("x") and "presence" not in case.declare("x"):
            found.setdefault(f"{kind}{form}Asked", masked(case))
    return found


CASES = chosen()


@pytest.fixture(scope="module")
def records(package_of: PackageOf, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Records of each case, with a field that is always there and without one."""
    other = KindCase(lambda _: "int", lambda _: None)  # type: ignore[arg-type, return-value]
    found = []
    for name, case in CASES.items():
        case = replace(case, files={})
        found += [RecordCase(f"{name}Alone", [case]), RecordCase(name, [case, other])]
    source = source_of(found).replace('vocabulary="animals.txt"', "classes=('a', 'b')")
    return package_of(source)


def parser(records: Workspace, name: str) -> Any:
    """Return the parser of a record."""
    return records.module(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower(), "parser")


@pytest.mark.parametrize("name", CASES)
def test_what_is_missing_reads_as_stated(records: Workspace, name: str) -> None:
    """An absent key, and features in which no list is set."""
    code = parser(records, name)
    own = set(code.FEATURE_DESCRIPTION) - {"f1"}
    missing = CASES[name].missing
    assert missing is not None
    for features in ({}, dict.fromkeys(own, tf.train.Feature())):
        data = tf.constant(example({"f1": ints(1), **features}))
        parsed = code.parse_example(data)
        assert parsed.pop("f1") == 1
        check_one(parsed, {"f0": missing("f0")})


@pytest.mark.parametrize("name", CASES)
def test_another_programs_message_is_no_record_of_defaults(
    records: Workspace, name: str
) -> None:
    """A record whose fields are all optional refuses bytes that are not its own."""
    foreign = example({"y": ints(1), "f0/y": floats(1)})
    for data in (b"", foreign, b"\x08\x96\x01", b"\x1a\x03abc"):
        with pytest.raises(tf.errors.InvalidArgumentError):
            parser(records, f"{name}Alone").parse_batch(tf.constant([data]))


NAN = float("nan")
REFUSED = None
TABLE_HEAD = "from typing import Annotated, Any\nfrom schemagen import *\n\n"

# type, kind, what an empty list reads as, a value that might say: none, what it reads as
SENTINELS: tuple[tuple[str, str, Any, tf.train.Feature, Any], ...] = (
    ("int", "Scalar('int64')", REFUSED, ints(-1), -1),
    ("bool", "Scalar('bool')", REFUSED, ints(0), False),
    ("float", "Scalar('float32')", REFUSED, floats(NAN), NAN),
    ("float", "Scalar('float64')", REFUSED, blobs(bytes(8)), 0.0),
    ("bytes", "Scalar('bytes')", REFUSED, blobs(b""), b""),
    ("str", "Text()", REFUSED, blobs(b""), b""),
    ("int", "Label(num_classes=3, offset=1)", REFUSED, ints(0), REFUSED),
    ("int", "Label(num_classes=3)", REFUSED, ints(-1), REFUSED),
    ("int", "Label(classes=('a', 'b'), stored='text')", REFUSED, blobs(b""), REFUSED),
    ("list[int]", "MultiLabel(num_classes=2)", [0, 0], ints(-1), REFUSED),
    ("Any", "Vector((2,))", REFUSED, floats(0, 0), [0, 0]),
    ("Any", "Vector((2,), dtype='int8')", REFUSED, ints(-1, -1), [-1, -1]),
    ("Any", "Vector((2,), dtype='uint8', encoding='raw')", REFUSED, blobs(b""), REFUSED),
    ("Any", "Tensor((None,), encoding='proto')", REFUSED, blobs(b""), REFUSED),
    ("Any", "Image((1, 1, 1))", REFUSED, blobs(b""), REFUSED),
    ("Any", "Image((1, 1, 1), encoding='png')", REFUSED, blobs(b""), REFUSED),
    ("Any", "Images((1, 1, 1), encoding='png')", [], blobs(b""), REFUSED),
    ("Any", "Mask((1, 1), num_classes=2, role='info')", REFUSED, blobs(b""), REFUSED),
    ("Any", "VarLen('int64')", [], ints(-1), [-1]),
    ("Any", "VarLen('float64')", REFUSED, blobs(b""), []),
    ("list[str]", "VarLen('string')", [], blobs(b""), [b""]),
    ("Any", "VarLen('int64', max_length=1, pad_on_disk=True)", REFUSED, ints(-1), [-1]),
)  # fmt: skip


def read(code: Any, feature: tf.train.Feature) -> Any:
    """Return what a feature reads as, or REFUSED."""
    try:
        parsed = code.parse_batch(tf.constant([example({"x": feature})]), ["x"])
    except tf.errors.InvalidArgumentError:
        return REFUSED
    return parsed["x"].numpy()[0]


@pytest.mark.parametrize("number", range(len(SENTINELS)))
def test_empty_lists_and_sentinels_are_no_missing_values(
    package_of: PackageOf, number: int
) -> None:
    """What is required is never made up: a value is what it is, or refused."""
    source = TABLE_HEAD + "\n\n".join(
        f"class Row{n}(Record):\n    x: Annotated[{of}, {kind}]\n    y: float\n"
        for n, (of, kind, *_) in enumerate(SENTINELS)
    )
    code = package_of(source).module(f"row{number}", "parser")
    *_, empty_reads, sentinel, sentinel_reads = SENTINELS[number]
    empty = tf.train.Feature()
    getattr(empty, str(sentinel.WhichOneof("kind"))).SetInParent()
    for feature, expected in ((empty, empty_reads), (sentinel, sentinel_reads)):
        found = read(code, feature)
        assert (found is REFUSED) == (expected is REFUSED)
        if expected is not REFUSED:
            np.testing.assert_equal(np.asarray(found).tolist(), expected)


def test_labels_and_images_may_say_themselves_that_they_are_missing(
    package_of: PackageOf,
) -> None:
    """In an optional field, -1, a class without a name and no bytes are none."""
    source = TABLE_HEAD + (
        "class Late(Record):\n"
        "    id: Annotated[int | None, Label(num_classes=3, offset=1)] = None\n"
        "    name: Annotated[str | None, Label(classes=('a', 'b'), stored='text')] = None\n"
        "    photo: Annotated[Any | None, Image((1, 1, 1), encoding='png')] = None\n"
        "    mask: Annotated[Any | None, Mask((1, 1), num_classes=2, ignore=9, role='info')] = None\n"
    )
    code = package_of(source).module("late", "parser")
    features = {"id": ints(-1), "name": blobs(b""), "photo": blobs(b"")}
    data = example({**features, "mask": blobs(b"")})
    found = code.parse_example(tf.constant(data))
    assert (found["id"], found["name"]) == (-1, -1)
    assert found["mask"].numpy().tolist() == [[9]]
    assert not found["photo_present"]
    with pytest.raises(tf.errors.InvalidArgumentError):
        code.parse_example(tf.constant(example({**features, "id": ints(0)})))


def test_every_kind_is_in_the_list() -> None:
    """A kind that is added says in `contract/kinds` what its missing values read as."""
    there = {kind_of(case) for case in all_cases() if case.missing}
    kinds = [getattr(schemagen, name) for name in schemagen.__all__]
    names = {kind.__name__ for kind in kinds if isinstance(kind, type)}
    others = {"Augment", "Nested", "Record", "SequenceRecord"}
    # Steps are never missing: there may be none.
    assert names - others - {"Steps"} <= there


@pytest.mark.parametrize(
    "lines",
    [
        *(
            f"x: {_asked(case.declare('x'))}"
            for case in {kind_of(c): c for c in all_cases() if not c.default}.values()
            if case.declare("x").endswith(")]") and "Nested" not in case.declare("x")
        ),
        "x: Annotated[str, Text(presence=True)] = ''\n    x_present: bool",
    ],
)
def test_wrong_masks_are_findings(tmp_path: Path, lines: str) -> None:
    """`presence=True` is for fields with a default; and the mask has a name."""
    lines = re.sub(r"vocabulary=.animals.txt.", "classes=('a', 'b')", lines)
    root = make_project(tmp_path, {"r.py": f"{HEAD}class R(Record):\n    {lines}\n"})
    (finding,) = refusals(root)
    assert finding["rule"] == ("SG115" if "x_present" in lines else "SG113")


def test_a_batch_of_no_records_is_parsed(package_of: PackageOf) -> None:
    """Also where masks are looked up, in a graph and outside of one."""
    source = TABLE_HEAD + (
        "class NoRows(Record):\n"
        "    x: int | None = None\n"
        "    words: list[str] = []\n"
        "    y: Annotated[float, Scalar('float32', presence=True)] = 0.5\n"
    )
    parse = package_of(source).module("no_rows", "parser").parse_batch
    nothing = tf.constant([], tf.string)
    for parsed in (parse(nothing), tf.function(parse)(nothing)):
        shapes = {name: tensor.shape.as_list() for name, tensor in parsed.items()}
        assert shapes.pop("words") == [0, 0]
        assert all(shape == [0] for shape in shapes.values())
        assert set(shapes) == {"x", "x_present", "y", "y_present"}
