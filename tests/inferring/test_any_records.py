"""Whatever the keys and the values are: a file that loads, and is true of the records."""

from __future__ import annotations

import keyword
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import schemagen
from command_line import run
from contract.hostile_texts import HOSTILE
from contract.strategies import contract
from data.messages import example, sequence_example, write_file
from hypothesis import given
from hypothesis import strategies as st
from pictures import picture
from schemagen import SequenceRecord

from .inference import Inferred, infer

WORDS = (
    *("image", "label", "height", "width", "channels", "shape", "format", "encoded"),
    *("values", "indices", "row_lengths", "text", "class", "id", "is_x", "weight"),
    *("steps", "x", "x_present", "x_dense", "json", "list", "self", "model_dump", "a"),
    *("int", "Annotated", "np", "Label", "Found", "_found", "1", "a b", "ä", "🦊", ""),
)
KEYS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map("/".join)
PICTURES = (
    picture(2, 3),
    picture(2, 3, 1),
    picture(3, 3, form="jpeg"),
    picture(2, 3)[:40],
    b"",
)
NUMBERS = st.integers(-1, 3) | st.sampled_from([2**63 - 1, -(2**63), 6, 18])
FLOATS = st.sampled_from([0.0, 1.0, 0.5, float("nan"), float("inf"), -1e38])
BLOBS = (
    st.sampled_from(PICTURES)
    | st.sampled_from([b"jpeg", b"png", b"cat", b"BM", b"\x08\x01\x12\x00", b"\xff"])
    | st.binary(max_size=12)
)


TAKEN = sorted(
    {
        *(name for name in dir(SequenceRecord) if not name.startswith("_")),
        *(name for name in dir(type(SequenceRecord)) if not name.startswith("_")),
    }
)


@st.composite
def columns(draw: st.DrawFn, records: int) -> list[Any]:
    """What one key holds in each record: mostly alike, as data is."""
    values = draw(st.sampled_from([NUMBERS, FLOATS, BLOBS, st.just(b"same"), NUMBERS]))
    dtype = (
        np.float32 if values is FLOATS else np.int64 if values is NUMBERS else object
    )
    low = draw(st.integers(0, 3))
    high = draw(st.sampled_from([low, low, low + 3]))
    missing = draw(st.sampled_from([0, 0, 0, 2]))
    found: list[Any] = []
    for _ in range(records):
        if missing and draw(st.integers(0, missing)) == 0:
            found.append(draw(st.sampled_from([None, ...])))
            continue
        some = draw(st.lists(values, min_size=low, max_size=high))
        found.append(some or np.empty(0, dtype))
    return found


@st.composite
def tables(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Rows with equal keys; some keys are missing in some."""
    records = draw(st.integers(1, 6))
    keys = draw(st.lists(KEYS, min_size=1, max_size=7, unique=True))
    table = {key: draw(columns(records)) for key in keys}
    return [
        {key: found[at] for key, found in table.items() if found[at] is not ...}
        for at in range(records)
    ]


def check(messages: list[bytes], directory: Path) -> None:
    """Assert that a schema comes of records, or why not, and that verify agrees."""
    data = write_file(directory / "data.tfrecord", messages)
    path = directory / "found.py"
    result = run("infer", data, "--out", path, "--force")
    if result.exit_code == 2 and " SG442 " in result.output:
        return
    assert result.exit_code in (0, 1), result.output
    found = Inferred(path, data, result.output)
    # Such records a parser takes for those of something else.
    if "without a value" not in found.text:
        assert not schemagen.verify(data, record=found.spec).findings, found.text


@pytest.mark.slow
@contract(150)
@given(table=tables())
def test_any_examples_have_a_schema(
    table: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """It loads, and verify finds nothing in them."""
    check([example(row) for row in table], tmp_path_factory.mktemp("any"))


@contract(60)
@given(data=st.data())
def test_any_sequence_examples_have_a_schema(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """It loads, and verify finds nothing in them."""
    context = data.draw(tables())
    keys = data.draw(st.lists(KEYS, min_size=1, max_size=4, unique=True))
    lists: list[dict[str, Any]] = [{} for _ in context]
    for key in keys:
        for row in lists:
            steps = data.draw(columns(data.draw(st.integers(0, 3))))
            row[key] = [None if step is ... else step for step in steps]
    messages = [
        sequence_example(row, steps) for row, steps in zip(context, lists, strict=True)
    ]
    check(messages, tmp_path_factory.mktemp("any"))


def test_hostile_keys_and_texts_stay_data(tmp_path: Path) -> None:
    """Keys and texts that look like code are literals and comments."""
    row = {text: text for text in HOSTILE}
    row |= {f"label/{text}": text for text in HOSTILE}
    messages = [example(row)] * 3 + [example({**row, HOSTILE[0]: 1})]
    check(messages, tmp_path)
    assert "without a value" not in (tmp_path / "found.py").read_text()


def test_five_hundred_keys_are_five_hundred_fields(tmp_path: Path) -> None:
    """In the order in which people count."""
    data = write_file(
        tmp_path / "data.tfrecord", [example({f"k{at}": at for at in range(500)})]
    )
    found = infer(data, tmp_path / "found.py")
    assert [field.name for field in found.spec.fields] == [f"k{i}" for i in range(500)]


@pytest.mark.parametrize("word", [*keyword.kwlist, *TAKEN])
def test_words_of_python_and_pydantic_are_no_names(tmp_path: Path, word: str) -> None:
    """A field whose key is such a word has another name, and the file loads."""
    data = write_file(tmp_path / "data.tfrecord", [example({word: 1, "z": 0.5})])
    found = infer(data, tmp_path / "found.py")
    name = found.fields[word].name
    assert name != word
    assert word in name


# Keys, and the names of their fields, with dots where they are nested.
NAMES: dict[tuple[str, ...], list[str]] = {
    ("a b", "a_b", "a-b"): ["a_b_2", "a_b", "a_b_3"],
    ("model/dump", "model/x", "model_dump_x", "self/a", "self/b"): [
        *("model.dump_2", "model.x", "field_model_dump_x", "self_.a", "self_.b"),
    ],
}


@pytest.mark.parametrize("keys", NAMES)
def test_a_name_that_fits_goes_to_its_own_key(
    tmp_path: Path, keys: tuple[str, ...]
) -> None:
    """Others that would be called so are numbered; nested ones by their path."""
    data = write_file(tmp_path / "data.tfrecord", [example(dict.fromkeys(keys, 0.5))])
    found = infer(data, tmp_path / "found.py")
    fields = found.fields.items()
    names = {key: ".".join(each.path) or each.name for key, each in fields}
    assert [names[key] for key in keys] == NAMES[keys]
