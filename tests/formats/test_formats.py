"""Every format: its own files are read as its own code reads them, and the reverse."""

from __future__ import annotations

import importlib
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import schemagen
import tensorflow as tf
from contract.generated_records import importable
from contract.verified import faults_of, spec_beside

from .original import Format, as_numpy

HERE = Path(__file__).parent
PACKAGE = "format_records"
NAMES = sorted(path.stem for path in (HERE / "schemas").glob("[!_]*.py"))


def format_of(name: str) -> Format:
    """Import the module of a format."""
    module = importlib.import_module(f"{__package__}.{name}")
    found: Format = module.FORMAT
    return found


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A project with the schemas of all formats, generated."""
    root = tmp_path_factory.mktemp("formats")
    shutil.copytree(HERE / "schemas", root / "schemas")
    (root / "pyproject.toml").write_text(
        f'[tool.schemagen]\nschemas = "schemas"\noutput = "{PACKAGE}"\n'
    )
    schemagen.generate(root)
    with importable(root):
        yield root


@pytest.fixture
def generated(project: Path, name: str) -> SimpleNamespace:
    """The generated modules of a format's record."""
    record = format_of(name).record
    parts = ("serializer", "parser", "pipeline")
    return SimpleNamespace(
        **{
            part: importlib.import_module(f"{PACKAGE}.{record}.{part}")
            for part in parts
        }
    )


def column(values: list[Any]) -> Any:
    """Return the values of all rows as a column; dicts become dicts of columns."""
    if isinstance(values[0], Mapping):
        return {name: column([value[name] for value in values]) for name in values[0]}
    return values


def same(found: Any, expected: Any, where: str) -> None:
    """Assert that two tensors, or dicts of them, are equal in shape and every value."""
    if isinstance(expected, Mapping):
        assert set(found) == set(expected), where
        for name, value in expected.items():
            same(found[name], value, f"{where}.{name}")
        return
    found, expected = as_numpy(found), as_numpy(expected)
    if isinstance(expected, list):
        assert found == expected, where
        return
    assert found.dtype == expected.dtype, where
    np.testing.assert_array_equal(found, expected, err_msg=where)


@pytest.mark.parametrize("name", NAMES)
def test_a_row_has_the_bytes_of_the_original(
    generated: SimpleNamespace, name: str
) -> None:
    """Row by row and as a batch, to the last bit."""
    original = format_of(name)
    rows = [dict(row) for row in original.rows]
    serialize = generated.serializer.serialize
    written = [serialize(**row) for row in rows]
    if original.same_bytes:
        assert written == [original.write(row) for row in rows]
    names = dict.fromkeys(key for row in rows for key in row)
    columns = {key: column([row.get(key) for row in rows]) for key in names}
    assert generated.serializer.serialize_batch(**columns) == written


@pytest.mark.quick_cases(10)
@pytest.mark.parametrize("name", NAMES)
def test_the_originals_records_read_as_its_own_parser_reads_them(
    generated: SimpleNamespace, name: str
) -> None:
    """The generated parser delivers the tensors of the hand-written one."""
    original = format_of(name)
    for number, row in enumerate(original.rows):
        data = tf.constant(original.write(row))
        expected = original.read(data)
        found = original.ours(generated.parser.parse_example(data))
        same(found, expected, f"{name}, row {number}")


@pytest.mark.parametrize("name", NAMES)
def test_the_originals_parser_reads_what_we_write(
    generated: SimpleNamespace, name: str
) -> None:
    """The hand-written parser takes our records for its own."""
    original = format_of(name)
    for number, row in enumerate(original.rows):
        data = tf.constant(generated.serializer.serialize(**row))
        found = original.ours(generated.parser.parse_example(data))
        same(original.read(data), found, f"{name}, row {number}")


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_files_of_the_original_are_read(
    generated: SimpleNamespace, name: str, tmp_path: Path
) -> None:
    """A file of `tf.io.TFRecordWriter` goes through `make_dataset`, none missing."""
    original = format_of(name)
    path = tmp_path / "records"  # no suffix tells the compression
    options = tf.io.TFRecordOptions(compression_type=original.compression)
    with tf.io.TFRecordWriter(str(path), options) as writer:
        for row in original.rows:
            writer.write(original.write(row))
    batches = list(generated.pipeline.make_dataset(str(path), batch_size=1))
    assert len(batches) == len(original.rows)


@pytest.mark.parametrize("name", NAMES)
def test_verify_has_nothing_to_say_of_the_originals_records(
    generated: SimpleNamespace, name: str
) -> None:
    """What the generated parser reads is right; without a field it is not."""
    original = format_of(name)
    spec = spec_beside(generated.parser)
    messages = [original.write(row) for row in original.rows]
    assert faults_of(spec, messages) == [[] for _ in messages]
    assert all(faults_of(spec, [message[:-1] for message in messages]))
    assert faults_of(spec, [b""]) != [[]]
