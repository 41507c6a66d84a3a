"""`import --from tfds` reads the files of `export --to tfds`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from schemagen.config import find_project
from schemagen.interop.exports import tfds
from schemagen.interop.imports import import_schema
from schemagen.interop.imports.tfds import import_tfds
from schemagen.kinds.field import FieldSpec
from schemagen.spec.model import RecordSpec
from schemagen.use_cases.generate import load_specs

from .sources import refusal

# Of each kind that TFDS has a word for, the parameters whose rows say "kept".
SCHEMA = '''
from typing import Annotated
import numpy as np
from schemagen import *

class Kept(Record):
    """What TFDS says as it is."""

    photo: Annotated[np.ndarray, Image((4, 6, 3), encoding="png")]
    """A picture."""
    free: Annotated[bytes, Image((None, None, 3), encoding="jpeg", height_key="free/height")]
    deep: Annotated[bytes, Image((2, 2, 1), encoding="png", dtype="uint16")]
    film: Annotated[list[bytes], Images((3, 3, 1), encoding="png", count=2)]
    frames: Annotated[list[bytes], Images((3, 3, 1), encoding="png")]
    kind: Annotated[int, Label(classes=("cat", "wild dog", "Uhu é"))]
    number: Annotated[int, Label(num_classes=9)]
    species: Annotated[int, Label(classes=("a", "b"), key="image/class/species")]
    tokens: Annotated[list[int], VarLen("int32")]
    spots: Annotated[np.ndarray, VarLen("float32", item_shape=(2,))]
    halves: Annotated[np.ndarray, VarLen("float64")]
    words: list[str]
    flags: list[bool]
    lists: Annotated[list[list[int]], Ragged("int64", key="lists/ragged_flat_values", row_lengths_key="lists/ragged_row_lengths_0")]
    vector: Annotated[np.ndarray, Vector((2, 3))]
    doubles: Annotated[np.ndarray, Vector((3,), "float64")]
    small: Annotated[np.ndarray, Vector((2,), "uint8")]
    bits: Annotated[np.ndarray, Vector((2,), "bool", "raw")]
    maybe: Annotated[np.ndarray | None, Vector((2,))] = None
    truth: bool
    byte: Annotated[int, Scalar("int8")]
    real: Annotated[float, Scalar("float64")]
    note: str
    count: int | None = None
'''
SAME = {
    "Image": ("shape", "encoding", "dtype"),
    "Images": ("shape", "encoding", "count"),
    "Label": ("num_classes", "classes", "offset"),
    "VarLen": ("dtype", "item_shape"),
    "Ragged": ("dtype", "row_lengths_key"),
    "Vector": ("shape", "dtype", "encoding"),
    "Scalar": ("dtype", "encoding"),
    "Text": (),
}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> RecordSpec:
    """The record above."""
    root = tmp_path_factory.mktemp("kept")
    (root / "schemas").mkdir()
    (root / "pyproject.toml").write_text(
        '[tool.schemagen]\nschemas = "schemas"\noutput = "x"\n'
    )
    (root / "schemas" / "kept.py").write_text(SCHEMA, encoding="utf-8")
    (spec,) = load_specs(find_project(root))
    return spec


@pytest.fixture(scope="module")
def exported(kept: RecordSpec, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files next to the data, as `export` writes them."""
    out = tmp_path_factory.mktemp("exported")
    (out / tfds.FEATURES_FILE).write_text(tfds.dumps(tfds.features(kept)))
    for name, text in tfds.label_files(kept).items():
        (out / name).write_text(text, encoding="utf-8")
    return out


def by_key(fields: tuple[FieldSpec, ...]) -> dict[str, FieldSpec]:
    return {field.key: field for field in fields}


def test_what_was_kept_comes_back(kept: RecordSpec, exported: Path) -> None:
    """Each key is there, of the same kind, with what the table calls kept."""
    found = by_key(import_tfds(str(exported)).fields)
    assert {field.kind.name for field in kept.fields} == set(SAME)
    for field in kept.fields:
        back = found.pop(field.key)
        facts = ("kind", "doc", "optional", *SAME[field.kind.name])
        ours, theirs = field.facts(), back.facts()
        assert [theirs[n] for n in facts] == [ours[n] for n in facts], field.name
        if field.name == field.key:
            assert back.name == field.name
    assert set(found) == {"free/height"}


def test_what_comes_back_is_a_schema_file(exported: Path, tmp_path: Path) -> None:
    """It is drafted, loaded, and equal to what was drafted; nothing is refused."""
    done = import_schema(str(exported), "tfds", tmp_path / "kept.py")
    assert not done.left_out
    assert 'kind: Literal["cat", "wild dog", "Uhu é"]' in done.text


CORE = "tensorflow_datasets.core.features"
TEXT = {"type": f"{CORE}.text_feature.Text", "content": {}}


@pytest.mark.parametrize("quoted", [False, True], ids=["object", "text"])
def test_the_older_form_is_read_at_any_depth(quoted: bool, tmp_path: Path) -> None:
    """With the content of a message, which may be JSON in JSON."""
    inner = {
        "type": f"{CORE}.features_dict.FeaturesDict",
        "content": {"features": {"word": TEXT}},
        "proto_cls": "tensorflow_datasets.FeaturesDict",
    }
    sequence: dict[str, Any] = {
        "type": f"{CORE}.sequence_feature.Sequence",
        "content": {"feature": inner, "length": "-1"},
        "proto_cls": "tensorflow_datasets.Sequence",
    }
    content: Any = {"features": {"said": sequence, "features": TEXT}}
    top = {**inner, "content": json.dumps(content) if quoted else content}
    (tmp_path / "features.json").write_text(json.dumps(top))
    found = by_key(import_tfds(str(tmp_path)).fields)
    assert {key: field.kind.name for key, field in found.items()} == {
        "said/word": "VarLen",
        "features": "Text",
    }


@pytest.mark.parametrize(
    ("feature", "words"),
    [
        ({"name": "x"}, "the feature 'a/b' has name, and neither pythonClassName nor"),
        ({}, "the feature 'a/b' has nothing, and neither pythonClassName nor"),
        ([], "the feature 'a/b' is list, and no object"),
        ({"pythonClassName": 3}, "a list, text or number where there is a feature"),
    ],
)
def test_unknown_forms_are_said_in_words(
    feature: Any, words: str, tmp_path: Path
) -> None:
    """Where it is and what stands there, and never the name of an exception."""
    top = {"pythonClassName": "x.FeaturesDict", "featuresDict": {"features": {}}}
    inner = {**top, "featuresDict": {"features": {"b": feature}}}
    top["featuresDict"] = {"features": {"a": inner}}
    (tmp_path / "features.json").write_text(json.dumps(top))
    text = refusal(tmp_path, "tfds", tmp_path)
    assert words in text
    assert "Error:" not in text
