"""What a written schema looks like, and the texts that it is given."""

from __future__ import annotations

import io
import tokenize
from dataclasses import replace
from pathlib import Path

import pytest
from contract.hard_texts import INJECTIONS
from schemagen import Image, Label, Scalar
from schemagen.schema_source import comment_lines, schema_source
from schemagen.spec.model import FieldSpec, RecordSpec
from schemagen.spec.serial import to_data

from .corpora import specs_of

PHOTO = FieldSpec.of(
    Image,
    name="photo",
    key="image/encoded",
    role="input",
    shape=(None, None, 3),
    encoding="jpeg",
    dtype="uint8",
    resize=(224, 224),
)
BREED = FieldSpec.of(
    Label,
    name="breed",
    key="breed",
    role="target",
    num_classes=2,
    classes=("pug", "tabby"),
)
AGE = FieldSpec.of(
    Scalar,
    name="age",
    key="age",
    role="input",
    dtype="float32",
    exact=False,
    optional=True,
)


def number(*path: str, key: str, doc: str = "") -> FieldSpec[Scalar]:
    """Return an int of a nested model."""
    name = "_".join(path)
    return FieldSpec.of(
        Scalar, name=name, key=key, role="input", dtype="int64", path=path, doc=doc
    )


def record(*fields: object, doc: str = "One pet.") -> RecordSpec:
    """Return a record with these fields."""
    return RecordSpec(
        record="pet",
        class_name="Pet",
        source="schemas/pet.py",
        doc=doc,
        fields=fields,  # type: ignore[arg-type]
    )


def says(directory: Path, text: str, spec: RecordSpec) -> bool:
    """Tell whether a schema file's text says a spec."""
    (directory / "schemas").mkdir(exist_ok=True)
    (directory / "schemas" / "pet.py").write_text(text, encoding="utf-8")
    (found,) = specs_of(directory)
    return to_data(found) == to_data(spec)


def test_it_reads_like_a_file_that_a_person_wrote() -> None:
    """Plain types, short calls, comments and docstrings where people put them."""
    text = schema_source(
        record(PHOTO, BREED, AGE),
        header="Pets, as found.",
        comments={"": ["seen in 3 files"], "age": ["doubt: missing in 2 of 9 records"]},
    )
    assert (
        text
        == '''\
"""Pets, as found."""

from typing import Annotated, Literal

from schemagen import Image, Record


# seen in 3 files
class Pet(Record):
    """One pet."""

    photo: Annotated[
        bytes,
        Image((None, None, 3), encoding="jpeg", resize=(224, 224), key="image/encoded"),
    ]
    breed: Literal["pug", "tabby"]

    # doubt: missing in 2 of 9 records
    age: float | None = None
'''
    )


def test_nested_models_that_are_equal_are_one_class(tmp_path: Path) -> None:
    """A model is named after the first field that holds it; prefixes are told apart.

    A prefix is the one that leaves most keys unsaid; fields keep their docstrings.
    """
    spec = record(
        number("first", "x", key="first/x"),
        number("second", "x", key="another/second/x"),
        number("third", "deep", "y", key="third/deep/y", doc="How many.\n\nOf what?"),
        number("n", "x", key="a/b/c/x"),
        number("n", "y", key="a/b/c/y"),
    )
    text = schema_source(spec, comments={"third": ["below"]})
    assert says(tmp_path, text, spec)
    assert (
        text.partition("import Nested, Record\n\n\n")[2]
        == '''\
class First(BaseModel):
    x: int


class Deep(BaseModel, use_attribute_docstrings=True):
    y: int
    """How many.

    Of what?
    """


class Third(BaseModel):
    deep: Deep


class N(BaseModel):
    x: int
    y: int


class Pet(Record):
    """One pet."""

    first: First
    second: Annotated[First, Nested(key="another/second")]

    # below
    third: Third
    n: Annotated[N, Nested(key="a/b/c")]
'''
    )


@pytest.mark.parametrize("text", [*INJECTIONS, "ends\\", '"quoted"', "a\n    b\n  c"])
def test_texts_are_data(text: str, tmp_path: Path) -> None:
    """A docstring, a header and comments say what they say, and run nothing."""
    doc = "\n".join(line.rstrip() for line in text.splitlines()).strip()
    doc = doc.expandtabs(4).encode("utf-8", "backslashreplace").decode()
    nested = number("deep", "x", key="deep/x", doc=doc)
    spec = record(replace(AGE, doc=doc), nested, doc=doc)
    source = schema_source(
        spec, header=doc, comments={"": [text], "age": [text, f"{text} " * 20]}
    )
    assert says(tmp_path, source, spec)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            assert token.string.isprintable()


@pytest.mark.parametrize(
    "order",
    [
        "fmt: off",
        "ruff: noqa",
        "noqa",
        "type: ignore",
        "mypy: ignore-errors",
        "x# nosec",
    ],
)
def test_comments_give_no_orders(order: str) -> None:
    """What data says in a comment does not turn a tool off."""
    source = schema_source(record(BREED), comments={"": [order], "breed": [order]})
    assert order not in source
    assert order[:1] in source


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ('Image(..., encoding="png")', 'Image(..., encoding="png")'),
        ("coding: latin-1", "coding\\x3a latin-1"),
        ("coding=latin-1", "coding\\x3dlatin-1"),
    ],
)
def test_a_comment_never_says_the_encoding_of_the_file(text: str, written: str) -> None:
    """Text that Python does not take for that stays as it is."""
    (line,) = comment_lines([text], 0)
    assert line == f"# {written}"
    encoding, _ = tokenize.detect_encoding(io.BytesIO(line.encode()).readline)
    assert encoding == "utf-8"
