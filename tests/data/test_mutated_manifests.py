"""A manifest or spec that somebody has changed is refused by name, or used as it is."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import MISSING, fields
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from schemagen import (
    Augment,
    Image,
    Images,
    Label,
    Mask,
    MultiLabel,
    Ragged,
    Scalar,
    Sparse,
    Steps,
    Tensor,
    Text,
    VarLen,
    Vector,
)
from schemagen.data.decoding import decode
from schemagen.data.records import records_of
from schemagen.data.verify import verify
from schemagen.data.verify.record import RecordCheck
from schemagen.evolution.baseline import of_path
from schemagen.kinds.field import FieldSpec, facts_of, seldom_facts
from schemagen.kinds.registry import KINDS
from schemagen.runtime.shared import json_entries
from schemagen.runtime.shared.compatibility import differences
from schemagen.runtime.shared.errors import DatasetError, Problem
from schemagen.runtime.shared.tfrecord import frame
from schemagen.runtime.storage import manifest
from schemagen.spec.model import RecordSpec
from schemagen.spec.serial import from_data, to_data

from .messages import common, example, feature, sized

PICTURE = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x04\0\0\0\x04\x08\0\0\0\0" + bytes(30)

FIELDS = (
    FieldSpec.of(
        Image,
        **common("image"),
        shape=(4, None, 3),
        encoding="raw",
        dtype="uint8",
        resize=(2, 2),
        interpolation="nearest",
        height_key="h",
        width_key="w",
        channels_key="c",
        format_key="f",
        format_text="JPEG",
        augment=Augment(flip_up_down=True, crop=2),
    ),
    FieldSpec.of(
        Images, **common("images"), shape=(None, None, 3), encoding="jpeg", count=2
    ),
    FieldSpec.of(
        Label, **common("label"), num_classes=3, classes=("a", "b", "c"), offset=1
    ),
    FieldSpec.of(
        MultiLabel, **common("labels"), num_classes=2, classes=("x", "y"), stored="text"
    ),
    FieldSpec.of(
        Mask,
        **common("mask"),
        shape=(4, 4),
        num_classes=3,
        encoding="png",
        dtype="uint8",
        ignore=255,
        height_key="mh",
    ),
    FieldSpec.of(
        VarLen,
        **common("tokens"),
        dtype="int32",
        max_length=9,
        too_long="keep_head",
        pad_on_disk=True,
    ),
    FieldSpec.of(
        VarLen,
        **common("boxes", optional=True),
        dtype="float32",
        item_shape=(2,),
        group="g",
    ),
    FieldSpec.of(Ragged, **common("ragged"), dtype="int64", row_lengths_key="lengths"),
    FieldSpec.of(Sparse, **common("sparse"), shape=(3, 3), index_key=("i", "j")),
    FieldSpec.of(
        Vector,
        **common("vector"),
        shape=(2,),
        dtype="int8",
        encoding="raw",
        dequantize=(0.5, 1.0),
    ),
    FieldSpec.of(Scalar, **common("scalar", optional=True, default=3), dtype="int64"),
    FieldSpec.of(
        Tensor,
        **common("tensor"),
        shape=(None, 2),
        dtype="float32",
        shape_key=("t", None),
    ),
    FieldSpec.of(
        Tensor, **common("sized"), shape=(None, 2), dtype="float32", shape_key="s"
    ),
    FieldSpec.of(
        Text,
        **common("text", optional=True, default=b"x"),
        path=("a", "text"),
        presence=True,
    ),
)
STEPS = (
    FieldSpec.of(Text, **common("title")),
    FieldSpec.of(
        Steps,
        **common("steps"),
        step=Vector(shape=(2,)),
        padding_value=0.0,
        max_length=4,
    ),
    FieldSpec.of(
        Steps,
        **common("frames"),
        step=Image(shape=(None, None, 3), encoding="jpeg"),
        padding_value=0,
    ),
)
EXAMPLE = to_data(RecordSpec("all", "All", "all.py", "", FIELDS, reserved=("old",)))
SEQUENCE = to_data(
    RecordSpec("all", "All", "all.py", "", STEPS, message="SequenceExample")
)

NUMBERS = bytes(24)
MESSAGES = [
    example(
        {
            "image": [bytes(36)],
            "h": [4],
            "w": [3],
            "c": [3],
            "f": [b"raw"],
            "images": [PICTURE, PICTURE],
            "label": [1],
            "labels": [b"x"],
            "mask": [PICTURE],
            "mh": [4],
            "tokens": [1] * 9,
            "boxes": [0.5] * 4,
            "ragged": [1, 2, 3],
            "lengths": [1, 2],
            "sparse": [0.5, 0.5],
            "i": [0, 1],
            "j": [1, 1],
            "vector": [b"ab"],
            "tensor": [NUMBERS],
            "t": [3],
            "sized": [NUMBERS],
            "s": [3, 2],
        }
    ),
    example({"image": [b"short"], "h": [1, 2], "label": [-5], "tokens": [0.5]}),
    sized(
        2,
        sized(
            1,
            sized(1, b"steps") + sized(2, sized(1, feature([0.5, 0.5])) * 2),
        ),
    ),
]
COLUMNS = [decode(records_of([message])) for message in MESSAGES]

Path_ = tuple[Any, ...]
DELETED = object()
DEEP: list[Any] = []
for _ in range(300):
    DEEP = [DEEP]
VALUES: tuple[Any, ...] = (
    DELETED,
    None,
    3,
    -3,
    0.5,
    "text",
    "",
    [],
    ["x"],
    {},
    True,
    [1],
    {"bytes": "eA=="},
    {"bytes": "?"},
    {"a": 1},
    2**62 - 1,
    2**63,
    10**30,
    float("nan"),
    "\ud800",
    [[[1]]] * 3,
    DEEP,
)


def manifest_of(spec: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON of an unsealed manifest, with a split of its own spec."""
    shard = {"file": "a.tfrecord", "records": 3, "bytes": 90, "crc32c": "00000000"}
    split = {"compression": "", "records": 3, "shards": [shard]}
    other = {**shard, "file": "b.tfrecord"}
    own = {**split, "spec": {"record": "all", "fields": []}, "fingerprint": "b"}
    own["shards"] = [other]
    return {
        "format": manifest.FORMAT,
        "record": "all",
        "fingerprint": "a",
        "spec": spec,
        "splits": {"train": split, "val": own},
    }


def places(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    """Yield the paths of all entries."""
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    for name, inner in list(entries):
        yield (*path, name)
        if isinstance(inner, (dict, list)):
            yield from places(inner, (*path, name))


def mutants(data: Any) -> Iterator[tuple[Path_, Any, str]]:
    """Yield JSON with one entry deleted or replaced: where, by what, the text."""
    for path in places(data):
        for value in VALUES:
            changed = copy.deepcopy(data)
            holder = changed
            for name in path[:-1]:
                holder = holder[name]
            if value is DELETED:
                del holder[path[-1]]
            else:
                holder[path[-1]] = value
            yield path, value, json.dumps(changed)


def use(text: str, spec: dict[str, Any]) -> bool:
    """Use a manifest as readers, `breaking` and `verify` do; tell whether it passes."""
    try:
        found = manifest.loads(text, "data/manifest.json")
    except DatasetError as error:
        if not str(error).startswith("data/manifest.json: "):
            raise AssertionError("the error does not name the file") from error
        return False
    for written in (found.spec, *map(found.spec_of, found.splits)):
        for change in (*differences(written, spec), *differences(spec, written)):
            assert str(change)
        try:
            check = RecordCheck(from_data(written))
        except ValueError:
            continue
        for columns in COLUMNS:
            for _, fault in check.faults(columns):
                if len(fault.rows):
                    assert fault.found(0)
                    assert fault.cause(0) is not None
    return True


def passed(spec: dict[str, Any], step: int) -> int:
    """Use every so many of the mutants, and return how many pass."""
    count = 0
    assert use(json.dumps(manifest_of(spec)), spec)
    for path, value, text in islice(mutants(manifest_of(spec)), 0, None, step):
        try:
            count += use(text, spec)
        except Exception as error:
            raise AssertionError(f"{path} = {value!r:.60}") from error
    return count


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("spec", [EXAMPLE, SEQUENCE], ids=["example", "sequence"])
def test_a_mutated_manifest_is_refused_or_read(spec: dict[str, Any]) -> None:
    """Some entries of all kinds of fields: one error type, or success."""
    assert 0 < passed(spec, 47) < 400


@pytest.mark.slow
@pytest.mark.parametrize("spec", [EXAMPLE, SEQUENCE], ids=["example", "sequence"])
def test_every_mutated_manifest_is_refused_or_read(spec: dict[str, Any]) -> None:
    """Every entry, with every value."""
    assert passed(spec, 1) > 100


def test_the_table_of_entries_is_what_specs_have() -> None:
    """Each attribute of each kind is in it; those that JSON always has are needed."""
    shared = {"name", "key", "role", "optional", "default", "doc", "presence", "path"}
    late = {"dense", "ragged", "group", "padding_value", "shape_key", "count"}
    late |= {"max_count", "resize", "classes", "default", "doc"}
    for kind, model in KINDS.items():
        named = set(facts_of(model)) - shared
        needed = set(json_entries.KINDS[kind])
        assert needed <= named, kind
        assert json_entries.attributes_of(kind) - named == shared | {"kind"}, kind
        assert named < json_entries.attributes_of(kind), kind
        always = set(facts_of(model)) - set(seldom_facts(model))
        assert needed <= always, kind
        assert always - shared - needed <= late, kind
    assert all(
        each.default is not MISSING for each in fields(Augment)
    )  # so that `from_data` knows their types


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("spec",), [], "the manifest: spec is a list of 0, expected an object"),
        (("record",), None, "the manifest: record is None, expected a string"),
        (
            ("spec", "fields", 2, "classes"),
            ["a", 7],
            "spec.fields[2] ('label'): classes is a list of 2, expected a list of str",
        ),
        (("spec", "fields", 2, "key"), 5, "spec.fields[2]: key is 5, expected a str"),
        (
            ("spec", "fields", 0, "shape"),
            DELETED,
            "spec.fields[0] ('image'): no entry 'shape', expected a list of sizes",
        ),
        (
            ("splits", "train", "shards", 0, "bytes"),
            "90",
            "splits['train'].shards[0]: bytes is '90', expected an integer from 0 on",
        ),
        (("splits", "val", "spec", "fields"), 1, "splits['val'].spec: fields is 1"),
        (
            ("splits", "val", "shards", 0, "file"),
            "a.tfrecord",
            "splits['val']: 'a.tfrecord' is a file of splits['train'] too",
        ),
        (("splits", "../val"), {}, "splits: '../val' is not the name of a split"),
        (
            ("spec", "fields", 2, "dtype"),
            "int64",
            "spec.fields[2] ('label'): dtype is no attribute of a Label",
        ),
        (
            ("spec", "fields", 2, "default"),
            DELETED,
            "spec.fields[2]: no entry 'default'",
        ),
        (
            ("spec", "fields", 2, "key"),
            "image",
            "spec: several fields with the key 'image'",
        ),
        (("spec", "doc"), DEEP, "spec: entries within entries, 40 deep"),
    ],
)
def test_an_error_names_file_and_entry(path: Path_, value: Any, message: str) -> None:
    """With what was found there and what is expected."""
    data = copy.deepcopy(manifest_of(EXAMPLE))
    holder: Any = data
    for name in path[:-1]:
        holder = holder[name]
    holder[path[-1]] = value
    if value is DELETED:
        del holder[path[-1]]
    if value is DEEP:
        data["spec"]["doc"], data["spec"]["later"] = "", DEEP
    with pytest.raises(DatasetError) as raised:
        manifest.loads(json.dumps(data), "data/manifest.json")
    assert f"data/manifest.json: not a whole manifest ({message}" in str(raised.value)


def test_a_removed_dtype_says_which_version_reads_it() -> None:
    """Data that 0.2 wrote is refused as a whole, with one sentence."""
    data = copy.deepcopy(EXAMPLE)
    field = next(each for each in data["fields"] if each["kind"] == "Vector")
    field["dtype"] = "complex64"
    with pytest.raises(DatasetError, match=r"'complex64', .* with schemagen 0\.2"):
        manifest.loads(json.dumps(manifest_of(data)), "data/manifest.json")


def test_what_a_later_version_adds_is_left_to_the_rules() -> None:
    """An unknown attribute is SG211, an unknown kind not one of ours."""
    data = copy.deepcopy(EXAMPLE)
    data["fields"][0]["hue"] = {"shift": [1, 2]}
    text = json.dumps(manifest_of(data))
    found = manifest.loads(text, "data/manifest.json")
    assert [each.rule for each in differences(found.spec, EXAMPLE)] == ["SG211"]
    data["fields"][0] = {**data["fields"][0], "kind": "Video", "shape": "any"}
    found = manifest.loads(json.dumps(manifest_of(data)), "data/manifest.json")
    assert [each.rule for each in differences(found.spec, EXAMPLE)] == ["SG225"]
    with pytest.raises(
        ValueError, match="field 'image': the kind 'Video' is not supported"
    ):
        from_data(data)


def test_a_spec_that_is_not_one_is_refused_by_breaking(tmp_path: Path) -> None:
    """`breaking --against` names the file and the entry."""
    data = copy.deepcopy(EXAMPLE)
    data["fields"][2]["classes"] = None
    (tmp_path / "spec.json").write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(Problem, match=r"spec\.json.*'label'\): classes is None"):
        of_path(tmp_path, "old")


def test_verify_reports_a_manifest_of_wrong_types(tmp_path: Path) -> None:
    """As SG501, and the files are checked without it."""
    data = manifest_of(copy.deepcopy(EXAMPLE))
    data["spec"]["fields"][0]["shape"] = "square"
    (tmp_path / "manifest.json").write_text(json.dumps(data), encoding="utf-8")
    (tmp_path / "a.tfrecord").write_bytes(frame(MESSAGES[0]))
    found = verify(tmp_path, workers=1)
    assert [each.rule for each in found.findings] == ["SG501"]
    assert "shape is 'square'" in found.findings[0].examples[0].found
    assert found.records == 1
