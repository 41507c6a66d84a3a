"""What the command line prints of each kind: descriptions and exports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from command_line import run
from google.protobuf import text_format
from jsonschema import Draft202012Validator
from tensorflow_metadata.proto.v0 import schema_pb2

from .generated_records import Generated
from .verified import spec_beside

SHAPE = json.loads(
    (Path(__file__).parents[2] / "docs/describe.schema.json").read_text("utf-8")
)


@pytest.fixture(scope="module")
def described(project: Path, records: dict[str, Generated]) -> dict[str, Any]:
    """The fields that `describe --format json` prints of each record, by name."""
    result = run("describe", "--project", project, "--format", "json")
    document = json.loads(result.stdout)
    Draft202012Validator(SHAPE).validate(document)
    return {
        record["class_name"]: {field["name"]: field for field in record["fields"]}
        for record in document["records"]
    }


def test_descriptions_name_each_declared_field(
    described: dict[str, Any], records: dict[str, Generated]
) -> None:
    """Those of nested models by their whole names, and none twice."""
    for name, generated in records.items():
        cases = generated.case.fields.items()
        declared = [each for field, case in cases for each in case.fields(field)]
        assert sorted(described[name]) == sorted(declared)


def test_exports_have_each_key_that_is_written(
    generated: Generated,
    project: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With its type; a record with steps is refused by its name."""
    # Loading the schemas of all records takes two seconds.
    specs = (spec_beside(generated.parser),)
    monkeypatch.setattr("schemagen.use_cases.generate.load_specs", lambda _: specs)
    record = generated.serializer.__name__.split(".")[-2]
    out = tmp_path / "schema.pbtxt"
    result = run(
        *("export", record, "--to", "tfmd", "--out", out, "--project", project)
    )
    if generated.case.has_steps:
        assert result.exit_code == 2
        assert generated.case.class_name in result.stderr
        return
    assert result.exit_code == 0, result.output
    types = schema_pb2.FeatureType
    exported = {
        feature.name: types.Name(feature.type)
        for feature in text_format.Parse(out.read_text(), schema_pb2.Schema()).feature
    }
    lists = {"bytes_list": "BYTES", "float_list": "FLOAT", "int64_list": "INT"}
    for row in generated.samples(3):
        written = tf.train.Example.FromString(generated.serializer.serialize(**row))
        for key, feature in written.features.feature.items():
            if used := feature.WhichOneof("kind"):
                assert exported[key] == lists[used], key
