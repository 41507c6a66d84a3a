"""Field names that clash with something are refused, or do no harm."""

from __future__ import annotations

import importlib
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from command_line import make_project, refusals

from .generated_records import importable, write_project
from .hard_names import ACCEPTED, INFO_ONLY, KINDS, REFUSED, schema_of_names

PACKAGE = "contract_hard_names"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The record whose fields bear all the names that are accepted."""
    root = tmp_path_factory.mktemp("names") / "project"
    write_project(root, schema_of_names(ACCEPTED, "Names"), PACKAGE)
    with importable(root):
        yield f"{PACKAGE}.names"


def row_of(names: tuple[str, ...]) -> dict[str, Any]:
    """Return a row; Python itself brings names into Unicode's normal form."""
    row = {
        unicodedata.normalize("NFKC", name): KINDS[index % len(KINDS)][1]
        for index, name in enumerate(names)
    }
    return {**row, **{name: 7 for name in names if name in INFO_ONLY}, "the_target": 2}


@pytest.mark.slow
def test_names_are_written_and_read(package: str, tmp_path: Path) -> None:
    """Each field of every name comes back, by all ways of writing it."""
    serializer = importlib.import_module(f"{package}.serializer")
    parser = importlib.import_module(f"{package}.parser")
    pipeline = importlib.import_module(f"{package}.pipeline")
    row = row_of(ACCEPTED)
    assert len(row) == len(ACCEPTED) + 1
    serialized = serializer.serialize(**row)
    columns = {name: [value, value] for name, value in row.items()}
    assert serializer.serialize_batch(**columns) == [serialized, serialized]
    with serializer.Writer(tmp_path, "by_row") as writer:
        writer.write(**row)
        writer.write_batch(**columns)
    assert serializer.write_dataset([row, row], tmp_path, "rows") == 2

    assert set(tf.train.Example.FromString(serialized).features.feature) == set(row)
    batch = parser.parse_batch(tf.constant([serialized]))
    single = parser.parse_example(tf.constant(serialized))
    for name, value in row.items():
        expected = (
            {"text": b"text", "b": 1}.get(value, value)
            if value in ("text", "b")
            else value
        )
        for found in (batch[name][0], single[name]):
            plain = found.numpy()
            assert (plain.tolist() if hasattr(plain, "tolist") else plain) == expected
    ((features, target),) = pipeline.make_dataset(tmp_path, "rows", batch_size=2)
    assert set(row) - {"the_target", *INFO_ONLY} <= set(features)
    assert target.numpy().tolist() == [2, 2]


@pytest.mark.parametrize("name", REFUSED)
def test_reserved_names_are_refused_at_their_line(name: str, tmp_path: Path) -> None:
    """A name that generated code or pydantic needs is a finding, not a failure."""
    source = schema_of_names(("x", "y", "z", "list", name), "Reserved")
    (finding,) = refusals(make_project(tmp_path, {"records.py": source}))
    assert finding["rule"] == REFUSED[name]
    assert name.removeprefix("__").split("_")[0] in finding["message"]
    if finding["rule"] == "SG115":
        line = source.splitlines()[finding["location"]["line"] - 1]
        assert line.strip().startswith(f"{name}:")


def test_private_attributes_are_no_fields(tmp_path: Path) -> None:
    """What pydantic keeps as a private attribute is not stored, and no row has it."""
    root = tmp_path / "project"
    schema = schema_of_names(("x",), "Private") + "    _private: int = 3\n"
    write_project(root, schema, "contract_private")
    with importable(root):
        serializer = importlib.import_module("contract_private.private.serializer")
    assert serializer.serialize(x=1, the_target=0)
    with pytest.raises(TypeError, match="_private"):
        serializer.serialize(x=1, the_target=0, _private=[1])


# Names that Keras gives to layers and operations of generated models.
LAYERS = (
    *("embedding", "dense", "dropout", "concatenate", "reshape", "cast", "rescaling"),
    *("conv2d", "flatten", "functional", "embedding_1", "subtract", "where", "add"),
    *("text_vectorization", "normalization", "multiply", "not_equal", "sum"),
    *("dense_3", "dense_20240101", "x", "X"),
)


@pytest.mark.slow
def test_a_model_is_built_of_fields_named_like_layers(tmp_path: Path) -> None:
    """Keras wants each name once; a field's is not taken by a layer."""
    root = tmp_path / "project"
    package = "contract_layer_names"
    write_project(root, schema_of_names(LAYERS, "Layers"), package)
    with importable(root):
        model = importlib.import_module(f"{package}.layers.model")
        serializer = importlib.import_module(f"{package}.layers.serializer")
        pipeline = importlib.import_module(f"{package}.layers.pipeline")
    serializer.write_dataset([row_of(LAYERS)] * 4, tmp_path / "data", "train")
    dataset = pipeline.make_dataset(tmp_path / "data", "train", batch_size=2)
    model.build_model()
    built = model.build_model()  # Keras counts names on from the first
    model.adapt(built, dataset)
    built.fit(dataset, verbose=0)
    assert set(LAYERS) <= set(built.input)


@pytest.mark.parametrize(
    ("field", "suffix"),
    [
        ("x: float", "normalization"),
        ("x: Annotated[list[float], Vector(shape=(2,))]", "normalization"),
        ("x: list[float]", "normalization"),
        ("x: list[float]", "dense"),
        ("x: list[int]", "vocabulary"),
        ("x: list[str]", "vocabulary"),
        ("x: list[int]", "dense"),
        ("x: str", "vocabulary"),
        ("x: Annotated[list[list[float]], Vector((2, 2), role='target')]", "flat"),
    ],
)
def test_a_field_named_like_the_layer_of_another_is_refused(
    field: str, suffix: str, tmp_path: Path
) -> None:
    """A layer that is named after its field clashes with no other field."""
    source = (
        "from typing import Annotated\n\n"
        "from schemagen import Record, Vector\n\n\n"
        f"class Beside(Record):\n    {field}\n    x_{suffix}: float\n"
    )
    (finding,) = refusals(make_project(tmp_path, {"records.py": source}))
    assert finding["rule"] == "SG115"
    assert finding["location"]["line"] == 8
    assert finding["message"].startswith(f"Beside.x_{suffix}: ")
    assert "'x'" in finding["message"]
