"""`schemagen export`: what it writes, notes and refuses.

The other tests here have other tools read what is written.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import schemagen
from exported_records import SETTINGS, export, notes_in, run, tool, write
from google.protobuf import json_format, text_format

schema_pb2 = tool("tensorflow_metadata.proto.v0.schema_pb2")

PAGE = Path(schemagen.__file__).parents[1] / "docs" / "interop.md"
SHARD = "train-00000-of-00002.tfrecord"


def files_in(directory: Path) -> dict[str, bytes]:
    """Return the contents of all files below a directory, also of its links."""
    paths = [path for path in directory.rglob("*") if path.is_file()]
    return {str(path.relative_to(directory)): path.read_bytes() for path in paths}


def refused(project: Path, directory: Path, *arguments: str | Path) -> str:
    """Return what is printed of an export that writes nothing into a directory."""
    before = files_in(directory)
    result = run("export", *arguments, "--project", project)
    assert result.exit_code == 2, result.output
    assert files_in(directory) == before
    return result.output


@pytest.fixture
def pairs(project: Path, tmp_path: Path) -> Path:
    """Data of Pair, which a test may damage."""
    return write(project, "pair", tmp_path / "data")


def test_the_commands_of_the_page_run(
    project: Path, pairs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of them, for another record of the same data directory."""
    page = PAGE.read_text(encoding="utf-8")
    monkeypatch.chdir(pairs.parent)
    lines = [line for line in page.splitlines() if line.startswith("schemagen export ")]
    assert len(lines) == 3
    for line in lines:
        words = line.replace("PetPhoto", "Pair").split()[1:]
        result = run(*words, "--project", project)
        assert result.exit_code == 0, result.output


FEATURES: list[tuple[str, str, dict[str, Any]]] = [
    (
        "pair",
        "kind",
        {
            "type": "INT",
            "presence": {"min_fraction": 1.0, "min_count": "1"},
            "shape": {},
            "int_domain": {"min": "0", "max": "1", "is_categorical": True},
        },
    ),
    ("kept", "image/encoded", {"type": "BYTES", "shape": {}, "image_domain": {}}),
    ("kept", "byte", {"int_domain": {"min": "-128", "max": "127"}}),
    ("kept", "truth", {"bool_domain": {}}),
    ("kept", "note", {"natural_language_domain": {}}),
    ("kept", "vector", {"shape": {"dim": [{"size": "2"}, {"size": "3"}]}}),
    ("kept", "tokens", {"value_count": {"min": "0", "max": "9"}}),
    ("kept", "film", {"shape": {"dim": [{"size": "2"}]}}),
    ("kept", "frames", {"value_count": {"min": "0", "max": "9"}}),
    (
        "changed",
        "late",
        {"int_domain": {"min": "1", "max": "2", "is_categorical": True}},
    ),
    (
        "changed",
        "maybe",
        {
            "presence": None,
            "value_count": {"min": "1", "max": "1"},
            "int_domain": {"min": "-1", "max": "2", "is_categorical": True},
        },
    ),
    ("changed", "told", {"string_domain": {"name": "told", "value": ["a", "b"]}}),
    ("changed", "cut", {"value_count": {"min": "0"}}),
    ("changed", "bag/index", {"int_domain": {"min": "0", "max": "8"}}),
    # A key that two fields share is there if one of them has to be.
    ("changed", "pixels/h", {"presence": {"min_fraction": 1.0, "min_count": "1"}}),
    # Of base64 text neither pictures nor numbers can be read.
    (
        "changed",
        "mailed",
        {
            "image_domain": None,
            "annotation": {
                "tag": [
                    "schemagen:Image",
                    "role:input",
                    "dtype:uint8",
                    "transfer_encoding:base64",
                    "shape:2,3,3",
                ]
            },
        },
    ),
    (
        "changed",
        "odd",
        {
            "annotation": {
                "tag": ["schemagen:Label", "role:info"],
                "comment": ["0 is  a", "1 is b"],
            }
        },
    ),
]


def metadata(project: Path, record: str, out: Path) -> dict[str, Any]:
    """Export a record as a schema that protobuf reads; return it as JSON."""
    export(project, record, "tfmd", out)
    message = text_format.Parse(out.read_text(), schema_pb2.Schema())
    found: dict[str, Any] = json_format.MessageToDict(
        message, preserving_proto_field_name=True
    )
    return found


@pytest.mark.parametrize(
    ("record", "key", "expected"), FEATURES, ids=[f"{r}.{k}" for r, k, _ in FEATURES]
)
def test_a_feature_of_tfmd_says_what_is_stored(
    project: Path, tmp_path: Path, record: str, key: str, expected: dict[str, Any]
) -> None:
    """Type, presence, number and domain of the values under a key."""
    found = metadata(project, record, tmp_path / "schema.pbtxt")
    (feature,) = [each for each in found["feature"] if each["name"] == key]
    assert {name: feature.get(name) for name in expected} == expected


def test_tensors_of_tfmd_are_made_of_the_columns_of_a_field(
    project: Path, tmp_path: Path
) -> None:
    kinds = {}
    for record in ("kept", "changed"):
        found = metadata(project, record, tmp_path / f"{record}.pbtxt")
        group = found["tensor_representation_group"][""]["tensor_representation"]
        kinds |= {name: list(tensor) for name, tensor in group.items()}
    assert kinds["cells"] == kinds["bag"] == ["sparse_tensor"]
    assert kinds["vector"] == kinds["kind"] == kinds["photo"] == ["dense_tensor"]
    assert kinds["lists"] == ["ragged_tensor"]
    assert (
        kinds["lines"] == kinds["tokens"] == kinds["note"] == ["varlen_sparse_tensor"]
    )


HOSTILE = r"x\"\n}\x1b[31m\\é"
HOSTILE_SCHEMA = f'''
from typing import Annotated
from schemagen import *

class Hostile(Record):
    "{HOSTILE}"

    a: Annotated[int, Label(classes=("{HOSTILE}",), stored="text", key="{HOSTILE}")]
    "{HOSTILE}"
'''


def test_text_of_a_schema_stays_text(tmp_path: Path) -> None:
    """Quotes, ends of lines and what a terminal would obey are escaped."""
    (tmp_path / "schemas").mkdir()
    (tmp_path / "schemas" / "hostile.py").write_text(HOSTILE_SCHEMA, encoding="utf-8")
    settings = '[tool.schemagen]\nschemas = "schemas"\noutput = "x"\n'
    (tmp_path / "pyproject.toml").write_text(settings)
    out = tmp_path / "schema.pbtxt"
    output = export(tmp_path, "hostile", "tfmd", out)
    assert output.replace("\n", "").isprintable()
    assert out.read_text().isascii()
    assert out.read_text().replace("\n", "").isprintable()
    (feature,) = text_format.Parse(out.read_text(), schema_pb2.Schema()).feature
    text = 'x"\n}\x1b[31m\\é'
    assert [feature.name, *feature.string_domain.value] == [text, text]


NOTED = {
    ("pair", "tfmd"): {"pixels", "kind"},
    ("kept", "croissant"): {"frames", "raw_mask", "tokens", "blobs", "blob"}
    | {"place.x", "place.words"},
    ("clip", "croissant"): set(),
}


@pytest.mark.parametrize(("record", "to"), NOTED)
def test_what_is_approximated_is_noted(
    project: Path, tmp_path: Path, record: str, to: str
) -> None:
    """In one line for each field. Those of TFDS are compared with what TFDS reads."""
    output = export(project, record, to, tmp_path / "out")
    assert set(notes_in(output)) == NOTED[record, to]
    assert output.count("note: ") == len(NOTED[record, to])


NOTES = {
    ("changed", "tfmd", "listed"): "shape",
    ("kept", "tfmd", "spots"): "item_shape",
    ("changed", "tfmd", "things"): "num_classes, ignore",
    ("changed", "tfmd", "five"): "default",
    ("changed", "tfmd", "left"): "group",
    ("changed", "tfmd", "state"): "dtype, transfer_encoding, shape",
    ("kept", "tfmd", "number"): "'number/id'",
    ("changed", "croissant", "five"): "optional, default",
    ("changed", "croissant", "half"): "bfloat16",
    ("kept", "croissant", "tokens"): "max_length",
}


@pytest.mark.parametrize(("record", "to", "field"), NOTES)
def test_a_note_names_what_is_approximated(
    project: Path, tmp_path: Path, record: str, to: str, field: str
) -> None:
    notes = notes_in(export(project, record, to, tmp_path / "out"))
    assert NOTES[record, to, field] in notes[field]


@pytest.mark.parametrize("links", [True, False], ids=["links", "no links"])
def test_a_directory_for_tfds_holds_the_shards(
    project: Path,
    data: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    links: bool,
) -> None:
    """As further names of the same files, or as copies where the disk has none."""

    def refuse(*_: object) -> None:
        raise OSError("no links here")

    if not links:
        monkeypatch.setattr(os, "link", refuse)
    out, source = tmp_path / "out", data["pair"]
    output = export(project, "pair", "tfds", out, "--data", source)
    shards = [SHARD, "train-00001-of-00002.tfrecord"]
    described = ["dataset_info.json", "features.json", "kind.labels.txt"]
    assert sorted(path.name for path in out.iterdir()) == [*described, *shards]
    for shard in shards:
        assert (out / shard).read_bytes() == (source / shard).read_bytes()
        assert (out / shard).samefile(source / shard) == links
    assert (out / "kind.labels.txt").read_text() == "a\nb\n"
    (split,) = json.loads((out / "dataset_info.json").read_text())["splits"]
    assert split["shardLengths"] == ["4", "3"]
    size = sum((source / shard).stat().st_size for shard in shards)
    assert split["numBytes"] == str(size)
    assert all(f"wrote {path}\n" in output for path in out.iterdir())


def test_nothing_is_overwritten_without_being_told_to(
    project: Path, tmp_path: Path
) -> None:
    out = tmp_path / "schema.pbtxt"
    out.write_text("mine")
    arguments = ("Pair", "--to", "tfmd", "--out", out)
    assert "SG454" in refused(project, tmp_path, *arguments)
    export(project, "Pair", "tfmd", out, "--force")
    assert out.read_text() != "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["schema.pbtxt"]


def test_all_refusals_come_at_once(project: Path, tmp_path: Path) -> None:
    """Steps, a missing --data and a property of another target, in one run."""
    arguments = ("Clip", "--to", "tfds", "--out", tmp_path / "out")
    output = refused(project, tmp_path, *arguments, "--set", "license=x")
    assert all(rule in output for rule in ("SG451", "SG452", "SG453"))
    output = refused(project, tmp_path, "Clip", "--to", "tfmd", "--out", tmp_path / "x")
    assert "SG451" in output


@pytest.mark.parametrize("given", ["licence=x", "license", "=x", "license="])
def test_properties_are_a_closed_set(project: Path, tmp_path: Path, given: str) -> None:
    """Each has a name that Croissant knows, and a value."""
    arguments = ("Pair", "--to", "croissant", "--out", tmp_path / "c.json")
    output = refused(project, tmp_path, *arguments, "--set", given)
    assert ("SG452" in output) == (given == "licence=x")


def test_a_description_says_what_is_left_out(
    project: Path, data: dict[str, Path], tmp_path: Path
) -> None:
    out = tmp_path / "c.json"
    more = ("--data", data["pair"], "--set", "license=CC0", "--set", "version=1.0.0")
    output = export(project, "Pair", "croissant", out, *more)
    assert "left out: url; " in output
    assert "left out: license" not in output
    found = json.loads(out.read_text())
    assert found["license"] == "CC0"
    assert found["distribution"][0]["name"] == SHARD


TYPES = {
    ("kept", "photo"): ("sc:ImageObject", None),
    ("kept", "pixels"): ("cr:UInt8", "2,3,1"),
    ("kept", "rows"): ("cr:UInt8", "-1,3,1"),
    ("kept", "film"): ("sc:ImageObject", "2"),
    ("kept", "kind"): ("sc:Integer", None),
    ("kept", "spots"): ("cr:Float32", "-1,2"),
    ("kept", "words"): ("sc:Text", "-1"),
    ("kept", "truth"): ("sc:Boolean", None),
    ("kept", "lists"): ("cr:Int64", "-1,-1"),
    ("changed", "told"): ("sc:Text", None),
    ("changed", "labels"): ("sc:Integer", "-1"),
    ("changed", "brains"): ("sc:Text", "-1"),
    ("changed", "cells"): ("cr:Int8", "3,4"),
    ("clip", "speeds"): ("cr:Float32", "-1"),
}


@pytest.mark.parametrize(("record", "name"), TYPES)
def test_a_description_says_the_type_and_shape_of_a_field(
    project: Path, tmp_path: Path, record: str, name: str
) -> None:
    """Ids and names of classes, pictures, and lists of any length."""
    export(project, record, "croissant", tmp_path / "c.json")
    described = json.loads((tmp_path / "c.json").read_text())
    (field,) = [f for f in described["recordSet"][-1]["field"] if f["name"] == name]
    shape = field.get("arrayShape")
    assert (field["dataType"], shape) == TYPES[record, name]
    assert field.get("isArray", False) == (shape is not None)


@pytest.mark.parametrize(
    "fault", ["compressed", "name", "shard", "no shard", "manifest", "schema"]
)
def test_data_that_would_be_misread_is_refused(
    project: Path, tmp_path: Path, fault: str
) -> None:
    """By what the manifest says of it."""
    data = tmp_path / "data"
    options = {"compression": "GZIP"} if fault == "compressed" else {}
    write(project, "pair", data, "my-train" if fault == "name" else "train", **options)
    if fault == "shard":
        (data / SHARD).write_bytes(b"")
    if fault == "no shard":
        (data / SHARD).unlink()
    if fault == "manifest":
        (data / "manifest.json").unlink()
    name, to = ("kept", "croissant") if fault == "schema" else ("pair", "tfds")
    arguments = (name, "--to", to, "--data", data, "--out", tmp_path / "out")
    assert "SG453" in refused(project, tmp_path, *arguments)
    if fault in ("compressed", "name"):  # a matter of TFDS only
        export(project, "pair", "croissant", tmp_path / "c.json", "--data", data)


def test_places_of_another_sort_are_never_replaced(
    project: Path, pairs: Path, tmp_path: Path
) -> None:
    """Nor is anything else written next to them, even with `--force`."""
    out, file = tmp_path / "out", tmp_path / "file"
    (out / "features.json").mkdir(parents=True)
    file.write_text("mine")
    to_tfds = ("pair", "--to", "tfds", "--data", pairs, "--force", "--out")
    to_tfmd = ("pair", "--to", "tfmd", "--force", "--out")
    for arguments, place in (
        ((*to_tfds, out), out / "features.json"),
        ((*to_tfds, file), file),
        ((*to_tfmd, pairs), pairs),
    ):
        output = refused(project, tmp_path, *arguments)
        assert "SG454" in output
        assert str(place) in output


def test_a_full_disk_leaves_nothing(
    project: Path, pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither files nor directories that a run has begun."""
    write_bytes = Path.write_bytes

    def full(path: Path, content: bytes) -> int:
        if b"shardLengths" in content:
            raise OSError(28, "No space left on device", str(path))
        return write_bytes(path, content)

    monkeypatch.setattr(Path, "write_bytes", full)
    out = tmp_path / "new" / "out"
    arguments = ("pair", "--to", "tfds", "--data", pairs, "--out", out)
    assert "No space left on device" in refused(project, tmp_path, *arguments)
    assert not out.parent.exists()


# What TFDS delivers as it is stored, or has no word for.
CHANGED = {"pixels", "rows", "raw_mask", "blob", "blobs", "grid", "scan"}
SAME = (
    *("kind", "shape", "item_shape", "dtype", "encoding", "count", "optional"),
    *("classes", "num_classes", "row_lengths_key", "doc"),
)


def test_what_was_exported_to_tfds_is_imported(
    project: Path, data: dict[str, Path], tmp_path: Path
) -> None:
    """Each key is there, of the same kind and parameters."""
    export(project, "kept", "tfds", tmp_path / "out", "--data", data["kept"])
    (tmp_path / "pyproject.toml").write_text(SETTINGS)
    schema = tmp_path / "schemas" / "kept.py"
    done = run("import", tmp_path / "out", "--from", "tfds", "--out", schema)
    assert done.exit_code == 0, done.output
    ours, theirs = (
        {field["key"]: field for field in record["fields"]}
        for root in (project, tmp_path)
        for record in described(root, "kept")
    )
    assert set(theirs) - set(ours) == {
        *("free/height", "free/width", "grid/shape", "rows/height", "scan/rows")
    }
    for key in set(ours) - CHANGED:
        facts = {name: ours[key].get(name) for name in SAME}
        assert {name: theirs[key].get(name) for name in SAME} == facts, key


def described(project: Path, record: str) -> list[dict[str, Any]]:
    """Return the records of a project as JSON."""
    result = run("describe", record, "--format", "json", "--project", project)
    found: list[dict[str, Any]] = json.loads(result.stdout)["records"]
    return found
