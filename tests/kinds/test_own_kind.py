"""A kind of one's own: one module, one macro file and a reader give it everything."""

from __future__ import annotations

import importlib.util
import json
import math
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import schemagen
import schemagen.runtime.parsing
import tensorflow as tf
from schemagen.codegen import imports, templates
from schemagen.data.verify import verify
from schemagen.interop.exports.writing import export_spec
from schemagen.kinds.field import FieldSpec
from schemagen.kinds.registry import KINDS
from schemagen.runtime.shared.compatibility import differences
from schemagen.spec.model import RecordSpec
from schemagen.spec.serial import from_json, to_data, to_json
from schemagen.use_cases.generate import describe
from schemagen.use_cases.infer import infer

if TYPE_CHECKING:
    from conftest import Workspace

OWN = Path(__file__).parent / "own_kind"
SCHEMA = """\
from typing import Annotated
from angles import Angle
from schemagen import Record

class Gust(Record):
    wind: Annotated[float, Angle(key="meta/wind")]
    gust: Annotated[float | None, Angle()] = None
"""


@pytest.fixture
def angles(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ModuleType]:
    """The module of the kind: schemagen has its macros, its codec and its reader."""
    macros = tmp_path / "templates"
    shutil.copytree(templates.templates_directory(), macros)
    shutil.copy(OWN / "angle.jinja", macros / "kinds")
    monkeypatch.setattr(templates, "templates_directory", lambda: macros)
    templates._ours.cache_clear()
    monkeypatch.syspath_prepend(str(OWN))
    found = importlib.import_module("angles")
    monkeypatch.setitem(KINDS, "Angle", found.Angle)
    names = {"AngleCodec": "encoding.angle", "angles": "parsing"}
    known = {**imports.runtime_names(), **names}
    monkeypatch.setattr(imports, "runtime_names", lambda: known)
    monkeypatch.setitem(sys.modules, "schemagen.runtime.encoding.angle", found)
    monkeypatch.setattr(schemagen.runtime.parsing, "angles", found, raising=False)
    yield found
    sys.modules.pop("angles", None)
    templates._ours.cache_clear()


@pytest.fixture
def gusts(angles: ModuleType, workspace: Workspace) -> Workspace:
    """A project with a record of angles."""
    workspace.schema(SCHEMA)
    workspace.generate()
    return workspace


@pytest.fixture
def spec(gusts: Workspace) -> RecordSpec:
    (found,) = describe(gusts.root)
    assert isinstance(found, RecordSpec)
    return found


def test_rows_come_back(gusts: Workspace) -> None:
    serializer, parser = (gusts.module("gust", p) for p in ("serializer", "parser"))
    rows: list[dict[str, Any]] = [{"wind": 30.0, "gust": -90.0}, {"wind": -150.0}]
    records = [serializer.serialize(**row) for row in rows]
    assert records == serializer.serialize_batch(
        wind=[30.0, -150.0], gust=[-90.0, None]
    )
    stored = tf.train.Example.FromString(records[0]).features.feature["meta/wind"]
    assert np.allclose(stored.float_list.value, [math.sqrt(3) / 2, 0.5])
    batch = parser.parse_batch(tf.constant(records))
    assert np.allclose(batch["wind"], [30, -150])
    assert np.allclose(batch["gust"], [-90, math.nan], equal_nan=True)
    with pytest.raises(ValueError, match="field 'wind': found 'north'"):
        serializer.serialize(wind="north")


def test_a_spec_is_read_back(spec: RecordSpec) -> None:
    assert from_json(to_json(spec)) == spec


def test_data_is_verified_by_its_storage(
    gusts: Workspace, spec: RecordSpec, tmp_path: Path
) -> None:
    """Type, count and absence follow from the storage alone."""
    write = gusts.module("gust", "serializer").write_dataset
    write([{"wind": 30.0}] * 4, tmp_path / "good", "train")
    assert verify(tmp_path / "good").clean
    with tf.io.TFRecordWriter(str(tmp_path / "bad.tfrecord")) as writer:
        for feature in (
            tf.train.Feature(float_list=tf.train.FloatList(value=[1.0])),
            tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2])),
        ):
            features = tf.train.Features(feature={"meta/wind": feature})
            writer.write(tf.train.Example(features=features).SerializeToString())
        other = tf.train.Features(
            feature={"gust": tf.train.Feature(float_list=tf.train.FloatList())}
        )
        writer.write(tf.train.Example(features=other).SerializeToString())
    found = verify(tmp_path / "bad.tfrecord", spec=spec).findings
    assert {each.rule for each in found if each.field == "wind"} == {
        "SG522",
        "SG523",
        "SG524",
    }


def test_changes_are_noticed(spec: RecordSpec) -> None:
    wind, gust = spec.fields
    old = to_data(spec)
    for changed in (wind.replaced(key="wind"), wind.replaced(optional=True)):
        new = to_data(RecordSpec("gust", "Gust", "g.py", "", (changed, gust)))
        assert differences(old, new) or differences(new, old)
    vector = FieldSpec("wind", schemagen.Vector((2,), key="meta/wind"))
    new = to_data(RecordSpec("gust", "Gust", "g.py", "", (vector, gust)))
    assert [change.rule for change in differences(old, new)] == ["SG225"]


@pytest.mark.parametrize("to", ["tfmd", "croissant"])
def test_it_is_exported_as_it_is_stored(
    gusts: Workspace, spec: RecordSpec, to: str, tmp_path: Path
) -> None:
    gusts.module("gust", "serializer").write_dataset(
        [{"wind": 30.0}] * 4, tmp_path / "data", "train"
    )
    out = tmp_path / "exported"
    export_spec(spec, to, out, data=tmp_path / "data")
    assert b"wind" in out.read_bytes()


def test_tfds_reads_it_in_the_shape_of_its_storage(
    gusts: Workspace, spec: RecordSpec, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    gusts.module("gust", "serializer").write_dataset([{"wind": 1.0}] * 4, data, "train")
    export_spec(spec, "tfds", data, data=data)
    features = json.loads((data / "features.json").read_text())
    wind = features["content"]["features"]["meta/wind"]
    assert wind["tensor"]["shape"]["dimensions"] == ["2"]


def test_it_is_inferred_as_it_is_stored(gusts: Workspace, tmp_path: Path) -> None:
    """Without its schema, two floats are a Vector."""
    write = gusts.module("gust", "serializer").write_dataset
    write([{"wind": 30.0, "gust": 1.0}] * 40, tmp_path / "data", "train")
    (tmp_path / "data" / "manifest.json").unlink()
    found = infer(tmp_path / "data", tmp_path / "wind.py", name="Wind")
    kinds = {field.key: field.kind for field in found.spec.fields}
    assert {key: kind.name for key, kind in kinds.items()} == {
        "meta/wind": "Vector",
        "gust": "Vector",
    }
