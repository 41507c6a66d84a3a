"""No text of a schema becomes code: it comes through as data, or it is refused."""

from __future__ import annotations

import builtins
import importlib
import os
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from command_line import make_project, refusals

from .generated_records import importable, write_project
from .hard_texts import FLAG, TEXTS, schema_of_texts

PACKAGE = "contract_hard_texts"
PARTS = ("serializer", "parser", "pipeline", "model")

KEY_ENDINGS = {
    "label": "",
    "words": "w",
    "note": "n",
    "blob": "b",
    "mask": "m",
    "small": "s",
    "exact": "e",
    "items": "i",
    "bits": "t",
    "photo": "p",
    "scan": "x",
}


def words_of(text: str) -> list[str]:
    """Return the lines of a docstring that hold words, layout apart."""
    lines = [" ".join(line.split()) for line in text.splitlines()]
    return [line for line in lines if line]


@pytest.fixture(scope="module")
def hard_project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A project in which every text stands in every place that takes text."""
    root = tmp_path_factory.mktemp("hard") / "project"
    write_project(root, schema_of_texts(), PACKAGE)
    with importable(root):
        yield root


def load(number: int) -> dict[str, ModuleType]:
    """Import all parts of one record."""
    record = f"{PACKAGE}.hard{number:03}"
    return {part: importlib.import_module(f"{record}.{part}") for part in PARTS}


@pytest.fixture(params=range(len(TEXTS)))
def hard(
    request: pytest.FixtureRequest, hard_project: Path
) -> tuple[str, dict[str, Any]]:
    """One hard text after the other, and the modules generated with it."""
    number: int = request.param
    return TEXTS[number], load(number)


@pytest.mark.quick_cases(43)
def test_text_comes_through_as_data(hard: tuple[str, dict[str, Any]]) -> None:
    """Keys, classes, defaults, padding and prose are what the schema says."""
    text, modules = hard
    parser, serializer = modules["parser"], modules["serializer"]
    keys = {name: text + ending for name, ending in KEY_ENDINGS.items()}
    assert keys == parser.KEYS
    assert {"label": (text, "other")} == serializer.CLASSES
    wanted = words_of(text)
    assert words_of(serializer.__doc__ or "")[1:] == wanted
    assert words_of(parser.__doc__ or "")[1:] == wanted
    prose = words_of(serializer.serialize.__doc__ or "")
    assert all(line in prose for line in wanted)
    assert not hasattr(builtins, FLAG)
    assert FLAG not in os.environ


@pytest.mark.quick_cases(26)
def test_records_with_hard_keys_are_written_and_read(
    hard: tuple[str, dict[str, Any]],
) -> None:
    """A row goes through the writer, protobuf and the parser unchanged."""
    text, modules = hard
    row = {
        "label": text,
        "words": ["a"],
        "small": -5,
        "exact": 0.1,
        "items": [[1, 2]],
        "bits": [True],
    }
    serialized = modules["serializer"].serialize(**row)
    scan = np.full((3, 2, 1), 7, np.uint8)
    more = {"words": [text, text], "note": text + ".", "mask": [1, 2], "scan": scan}
    other = modules["serializer"].serialize(**{**row, **more})
    features = tf.train.Example.FromString(serialized).features.feature
    missing = {"note", "blob", "mask", "photo", "scan"}
    assert set(features) == {
        text + ending for name, ending in KEY_ENDINGS.items() if name not in missing
    }
    batch = modules["parser"].parse_batch(tf.constant([serialized, other]))
    assert batch["label"].numpy().tolist() == [0, 0]
    data = text.encode()
    assert batch["words"].numpy().tolist() == [[b"a", data], [data, data]]
    assert batch["note"].numpy().tolist() == [data, data + b"."]
    assert batch["blob"].numpy().tolist() == [data, data]
    assert batch["mask_present"].numpy().tolist() == [False, True]
    assert batch["small"].numpy().tolist() == [-5, -5]
    assert batch["exact"].numpy().tolist() == [0.1, 0.1]
    assert batch["items"].numpy().tolist() == [[[1, 2]], [[1, 2]]]
    assert batch["bits"].numpy().tolist() == [[True], [True]]
    assert batch["photo_present"].numpy().tolist() == [False, False]
    assert batch["scan"].numpy()[:, 0, 0, 0].tolist() == [0, 7]
    found = tf.train.Example.FromString(other).features.feature
    assert found[text + "h"].int64_list.value == [3]
    assert found[text + "f"].bytes_list.value == [data]


SURROGATE = {
    "key": 'a: Annotated[int, Scalar("int64", key="\\ud800")]',
    "class": 'a: Annotated[int, Label(classes=("\\ud800", "b"))]',
    "literal": 'a: Literal["\\ud800", "b"]',
    "default": 'a: str = "\\ud800"',
    "default in a list": 'a: Annotated[list[str], VarLen("string")] = ["\\ud800"]',
    "padding": 'a: Annotated[list[str], VarLen("string", padding_value="\\ud800")]',
}


@pytest.mark.parametrize("place", SURROGATE)
def test_text_that_utf8_cannot_hold_is_refused(place: str, tmp_path: Path) -> None:
    """A lone surrogate in data is a finding at its field, not a crash."""
    source = f"""\
from typing import Annotated, Literal

from schemagen import Label, Record, Scalar, VarLen


class Broken(Record):
    {SURROGATE[place]}
"""
    (finding,) = refusals(make_project(tmp_path, {"records.py": source}))
    assert finding["location"]["path"] == "schemas/records.py"
    # Pydantic itself refuses the Literal.
    assert finding["location"]["line"] in (6, 7)
    assert "\\ud800" in f"{finding['message']} {finding.get('found')}"


def test_prose_that_utf8_cannot_hold_is_escaped(tmp_path: Path) -> None:
    """A lone surrogate in a description is shown by its number."""
    source = """\
from typing import Annotated

from pydantic import Field

from schemagen import Record, Scalar


class Escaped(Record):
    a: Annotated[int, Scalar("int64"), Field(description="Half: \\ud83e.")]
"""
    write_project(tmp_path / "project", source, "contract_escaped")
    with importable(tmp_path / "project"):
        serializer = importlib.import_module("contract_escaped.escaped.serializer")
    assert "Half: \\ud83e." in serializer.serialize.__doc__


CLASS_NAMES = (
    "two words",
    "New\nline",
    'Quote"d',
    "Class",
    "Ärger",
    "鍵",
    "Back\\slash",
    "{{ x }}",
    "../up",
    "nul\x00",
    "\u202eabc",
    f"X:\n    pass\nimport builtins\nbuiltins.{FLAG} = True\nclass Y",
)


@pytest.mark.parametrize("name", CLASS_NAMES)
def test_a_class_name_that_is_no_package_name_is_refused(
    name: str, tmp_path: Path
) -> None:
    """Names that are made at run time cannot leave the output directory."""
    source = f"""\
from schemagen import Record

Made = type(
    {name!a},
    (Record,),
    {{"__module__": __name__, "__annotations__": {{"a": int}}}},
)
"""
    findings = refusals(make_project(tmp_path, {"records.py": source}))
    # Python itself makes no class of a name with NUL in it.
    expected = "SG101" if "\x00" in name else "SG105"
    assert expected in {finding["rule"] for finding in findings}
    assert not hasattr(builtins, FLAG)
