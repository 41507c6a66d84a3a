"""Fields may be called like layers of Keras, and a model is built all the same."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
from schemagen.findings import SchemagenError

from .generated_records import importable, write_project
from .hard_names import schema_of_names
from .test_hard_names import row_of

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
    with pytest.raises(SchemagenError) as refused:
        write_project(tmp_path / "project", source, "never")
    (finding,) = refused.value.findings
    assert finding.rule == "SG115"
    assert finding.location.line == 8
    assert finding.message == (
        f"Beside.x_{suffix}: the name is that of a layer of 'x' in the model"
    )


def test_a_field_beside_one_without_such_a_layer_is_fine(tmp_path: Path) -> None:
    """Only names that a model would really use twice are refused."""
    source = (
        "from typing import Annotated\n\n"
        "from schemagen import Record, Scalar\n\n\n"
        "class Beside(Record):\n"
        "    x: int\n"
        "    x_vocabulary: float\n"
        "    y: float\n"
        '    y_normalization: Annotated[float, Scalar("float32", role="info")]\n'
    )
    write_project(tmp_path / "project", source, "contract_beside")
    assert (tmp_path / "project" / "contract_beside" / "beside").is_dir()
