"""`schemagen export`: what it writes, notes and refuses.

The other tests here have other tools read what is written.
"""

from __future__ import annotations

import json
import os
import sys
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


NEEDED = {"min_fraction": 1.0, "min_count": "1"}
FEATURES: dict[tuple[str, str], dict[str, Any]] = {
    ("pair", "kind"): {
        **{"type": "INT", "presence": NEEDED, "shape": {}},
        "int_domain": {"min": "0", "max": "1", "is_categorical": True},
    },
    ("kept", "image/encoded"): {"type": "BYTES", "shape": {}, "image_domain": {}},
    ("kept", "byte"): {"int_domain": {"min": "-128", "max": "127"}},
    ("kept", "truth"): {"bool_domain": {}},
    ("kept", "note"): {"natural_language_domain": {}},
    ("kept", "vector"): {"shape": {"dim": [{"size": "2"}, {"size": "3"}]}},
    ("kept", "tokens"): {"value_count": {"min": "0", "max": "9"}},
    ("kept", "film"): {"shape": {"dim": [{"size": "2"}]}},
    ("changed", "still_1"): {"shape": {}, "presence": NEEDED, "image_domain": {}},
    ("changed", "late"): {
        "int_domain": {"min": "1", "max": "2", "is_categorical": True}
    },
    ("changed", "maybe"): {
        **{"presence": None, "value_count": {"min": "1", "max": "1"}},
        "int_domain": {"min": "-1", "max": "2", "is_categorical": True},
    },
    ("changed", "told"): {"string_domain": {"name": "told", "value": ["a", "b"]}},
    ("changed", "cut"): {"value_count": {"min": "0"}},
    ("changed", "bag/index"): {"int_domain": {"min": "0", "max": "8"}},
    # A key that two fields share is there if one of them has to be.
    ("changed", "pixels/h"): {"presence": NEEDED},
    # A picture cannot be read from base64 text.
    ("changed", "mailed"): {"image_domain": None},
    ("changed", "odd"): {"annotation": {"comment": ["0 is  a", "1 is b"]}},
}
# The tensor that TFX makes of a field.
TENSORS = {
    **dict.fromkeys(("cells", "bag"), "sparse_tensor"),
    **dict.fromkeys(("vector", "kind", "photo", "still_0", "still_1"), "dense_tensor"),
    **dict.fromkeys(("lines", "tokens", "note"), "varlen_sparse_tensor"),
    "lists": "ragged_tensor",
}


def metadata(project: Path, record: str, out: Path) -> dict[str, Any]:
    """Export a record as a schema that protobuf reads; return it as JSON."""
    export(project, record, "tfmd", out)
    message = text_format.Parse(out.read_text(), schema_pb2.Schema())
    found: dict[str, Any] = json_format.MessageToDict(
        message, preserving_proto_field_name=True
    )
    return found


def test_features_of_tfmd_say_what_is_stored(project: Path, tmp_path: Path) -> None:
    """Type, presence, number and domain of a key's values; and a field's tensor."""
    kinds: dict[str, str] = {}
    for name in ("pair", "kept", "changed"):
        found = metadata(project, name, tmp_path / name)
        features = {each["name"]: each for each in found["feature"]}
        group = found["tensor_representation_group"][""]["tensor_representation"]
        kinds |= {field: next(iter(tensor)) for field, tensor in group.items()}
        for (record, key), expected in FEATURES.items():
            if record == name:
                stated = {word: features[key].get(word) for word in expected}
                assert stated == expected, key
    assert kinds.items() >= TENSORS.items()


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


# By record and target: the fields with notes, if all are stated, and words of a note.
NOTES: dict[tuple[str, str], tuple[set[str] | None, dict[str, str]]] = {
    ("pair", "tfmd"): ({"pixels", "kind"}, {}),
    ("kept", "croissant"): (
        {*("frames", "raw_mask", "tokens", "blobs", "blob", "place.x", "place.words")},
        {"tokens": "max_length"},
    ),
    ("clip", "croissant"): (set(), {}),
    ("changed", "croissant"): (
        None,
        {
            **{"five": "optional, default", "half": "bfloat16"},
            **{"stills": "only the first of 2 keys"},
        },
    ),
    ("kept", "tfmd"): (None, {"spots": "item_shape", "number": "'number/id'"}),
    ("changed", "tfmd"): (
        None,
        {
            **{"listed": "shape", "things": "num_classes, ignore", "five": "default"},
            **{"left": "group", "state": "transfer_encoding, shape"},
            **{"stills": "2 tensors of an image each"},
        },
    ),
}


@pytest.mark.parametrize(("record", "to"), NOTES)
def test_what_is_approximated_is_noted(
    project: Path, tmp_path: Path, record: str, to: str
) -> None:
    """In one line for each field. Those of TFDS are compared with what TFDS reads."""
    output = export(project, record, to, tmp_path / "out")
    found, (fields, words) = notes_in(output), NOTES[record, to]
    assert output.count("\nnote: ") == len(found)
    assert fields in (None, set(found))
    assert all(word in found[field] for field, word in words.items())


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


def test_all_refusals_come_at_once(project: Path, tmp_path: Path) -> None:
    """Steps, a missing --data and a property of another target, in one run."""
    arguments = ("Clip", "--to", "tfds", "--out", tmp_path / "out")
    output = refused(project, tmp_path, *arguments, "--set", "license=x")
    assert all(rule in output for rule in ("SG451", "SG452", "SG453"))


@pytest.mark.parametrize("given", ["licence=x", "license", "=x", "license="])
def test_properties_are_a_closed_set(project: Path, tmp_path: Path, given: str) -> None:
    """Each has a name that Croissant knows, and a value."""
    arguments = ("Pair", "--to", "croissant", "--out", tmp_path / "c.json")
    output = refused(project, tmp_path, *arguments, "--set", given)
    assert ("SG452" in output) == (given == "licence=x")


TYPES = {
    "kept.photo": ("sc:ImageObject", None),
    "kept.pixels": ("cr:UInt8", "2,3,1"),
    "kept.rows": ("cr:UInt8", "-1,3,1"),
    "kept.film": ("sc:ImageObject", "2"),
    "kept.kind": ("sc:Integer", None),
    "kept.spots": ("cr:Float32", "-1,2"),
    "kept.words": ("sc:Text", "-1"),
    "kept.truth": ("sc:Boolean", None),
    "kept.lists": ("cr:Int64", "-1,-1"),
    "changed.told": ("sc:Text", None),
    "changed.labels": ("sc:Integer", "-1"),
    "changed.brains": ("sc:Text", "-1"),
    "changed.cells": ("cr:Int8", "3,4"),
    "clip.speeds": ("cr:Float32", "-1"),
}


def test_a_description_says_the_type_and_shape_of_a_field(
    project: Path, tmp_path: Path
) -> None:
    """Ids and names of classes, pictures, and lists of any length."""
    found = {}
    for record in ("kept", "changed", "clip"):
        export(project, record, "croissant", tmp_path / record)
        described = json.loads((tmp_path / record).read_text())
        for field in described["recordSet"][-1]["field"]:
            shape = field.get("arrayShape")
            found[f"{record}.{field['name']}"] = (field["dataType"], shape)
            assert field.get("isArray", False) == (shape is not None)
    assert found.items() >= TYPES.items()


@pytest.mark.parametrize("fault", ["compressed", "name", "manifest", "schema"])
def test_data_that_would_be_misread_is_refused(
    project: Path, tmp_path: Path, fault: str
) -> None:
    """By what the manifest says of it."""
    data = tmp_path / "data"
    options = {"compression": "GZIP"} if fault == "compressed" else {}
    write(project, "pair", data, "my-train" if fault == "name" else "train", **options)
    if fault == "manifest":
        (data / "manifest.json").unlink()
    name, to = ("kept", "croissant") if fault == "schema" else ("pair", "tfds")
    arguments = (name, "--to", to, "--data", data, "--out", tmp_path / "out")
    output = refused(project, tmp_path, *arguments)
    assert "SG453" in output
    assert ("--seal`" in output) == (fault == "manifest")
    if fault in ("compressed", "name"):  # a matter of TFDS only
        export(project, "pair", "croissant", tmp_path / "c.json", "--data", data)


def test_what_exists_is_kept(project: Path, pairs: Path, tmp_path: Path) -> None:
    """A file is overwritten only with `--force`."""
    out, file = tmp_path / "out", tmp_path / "file"
    out.mkdir()
    (out / "features.json").write_text("mine")
    file.write_text("mine")
    for arguments, place in (
        (("pair", "--to", "tfds", "--data", pairs, "--out", out), "features.json"),
        (("pair", "--to", "tfmd", "--out", file), "file"),
    ):
        output = refused(project, tmp_path, *arguments)
        assert "SG454" in output
        assert f"{place} exists" in output
    export(project, "Pair", "tfmd", file, "--force")
    assert file.read_text() != "mine"


def test_what_cannot_be_written_or_read_is_a_finding(
    project: Path, pairs: Path, tmp_path: Path
) -> None:
    """A file in the place of a directory, a directory in that of a file, and no shard."""
    file = tmp_path / "file"
    file.write_text("mine")
    to_tfds = ("pair", "--to", "tfds", "--data", pairs, "--out", file)
    assert "SG454" in refused(project, tmp_path, *to_tfds)
    to_tfmd = ("pair", "--to", "tfmd", "--out", pairs, "--force")
    assert "SG403" in refused(project, tmp_path, *to_tfmd)
    (pairs / SHARD).unlink()
    to_croissant = ("pair", "--to", "croissant", "--data", pairs)
    assert SHARD in refused(project, tmp_path, *to_croissant, "--out", tmp_path / "c")


def test_without_tensorflow_metadata_it_says_what_to_install(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is an extra."""
    monkeypatch.setitem(sys.modules, "tensorflow_metadata.proto.v0", None)
    out = tmp_path / "schema.pbtxt"
    output = refused(project, tmp_path, "pair", "--to", "tfmd", "--out", out)
    assert "SG407" in output
    assert 'pip install "schemagen-tfrecord[tfmd]"' in output


# What TFDS delivers as it is stored, or has no word for.
CHANGED = {
    *("pixels", "rows", "raw_mask", "blob", "blobs", "grid", "scan"),
    "lists/ragged_flat_values",
}
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
        *("free/height", "free/width", "grid/shape", "rows/height", "scan/rows"),
        "lists/ragged_row_lengths_0",
    }
    for key in set(ours) - CHANGED:
        facts = {name: ours[key].get(name) for name in SAME}
        assert {name: theirs[key].get(name) for name in SAME} == facts, key


def test_sparse_tensors_that_were_exported_to_tfmd_are_imported(
    project: Path, tmp_path: Path
) -> None:
    """By the representation of their columns, which are no fields of their own."""
    out, schema = tmp_path / "schema.pbtxt", tmp_path / "changed.py"
    export(project, "changed", "tfmd", out)
    done = run("import", out, "--from", "tfmd", "--out", schema)
    assert done.exit_code == 0, done.output
    text = schema.read_text()
    assert 'Sparse((9,), index_key="bag/index")' in text
    assert 'Sparse((3, 4), index_key=("row", "column")' in text


def described(project: Path, record: str) -> list[dict[str, Any]]:
    """Return the records of a project as JSON."""
    result = run("describe", record, "--format", "json", "--project", project)
    found: list[dict[str, Any]] = json.loads(result.stdout)["records"]
    return found
