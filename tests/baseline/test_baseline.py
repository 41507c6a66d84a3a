"""Data, specs and JSON of schemagen 0.2.0: later versions agree with them."""

from __future__ import annotations

import importlib
import json
import shutil
import sys
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import schemagen

from .damage import records
from .documents import DOCUMENTS, facts
from .rows import BASELINES, CODE, HERE, Row, write

_SPLITS = [
    (record, split) for record in BASELINES for split in BASELINES[record].splits
]

# Where documents differ from those of 0.2.0: command, document, path in it, reason.
# A pattern that matches no difference fails its test.
INTENDED: tuple[tuple[str, str, str, str], ...] = (
    ("verify", "*", "/splits/*/files", "a missing file is not counted"),
    (
        "verify",
        "other record",
        "/findings/*",
        "fields of another record are not compared",
    ),
    (
        "describe",
        "project",
        "*/exact",
        "floats are rounded unless a schema says not to",
    ),
    ("inspect", "*", "/version", "the names of entries are other ones"),
    ("inspect", "*", "/splits/*/quantiles", "facts have them"),
    ("inspect", "*", "/splits/*/samples", "they are an entry of the document"),
    ("inspect", "*", "/splits/*/bytes/images", "heights, widths and so on are its own"),
    ("inspect", "*", "/files/*/foreign", "an empty text where nothing is foreign"),
    ("verify", "*manifest", "/findings", "empty shards among others are normal"),
)

# Fields whose values TensorFlow calculates; all others are compared bit by bit.
_INEXACT = ("jpeg",)


@pytest.fixture(scope="module")
def today(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The project of the baseline, generated again, as the package `today_code`."""
    root = tmp_path_factory.mktemp("today")
    shutil.copytree(HERE / "project" / "schemas", root / "schemas")
    text = (HERE / "project" / "pyproject.toml").read_text(encoding="utf-8")
    settings = text.replace("baseline_code", "today_code")
    (root / "pyproject.toml").write_text(settings, encoding="utf-8")
    schemagen.generate(root)
    sys.path.insert(0, str(root))
    yield root
    sys.path.remove(str(root))


def _module(package: str, record: str, part: str) -> ModuleType:
    return importlib.import_module(f"{package}.{record}.{part}")


def _contents(directory: Path, shard: Mapping[str, Any]) -> list[bytes]:
    """Return the records of a shard, decompressed."""
    data = (directory / shard["file"]).read_bytes()
    if shard["file"].endswith((".gz", ".zlib")):
        data = zlib.decompress(data, zlib.MAX_WBITS | 32)
    return list(records(data))


def _manifest(directory: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((directory / "manifest.json").read_text("utf-8"))
    return found


def _frozen_records(record: str, split: str) -> list[bytes]:
    directory = HERE / "data" / record
    shards = _manifest(directory)["splits"][split]["shards"]
    return [data for shard in shards for data in _contents(directory, shard)]


def _plain(value: Any) -> Any:
    """Return a tensor, or tensors by name, as arrays, lists and bytes of numpy."""
    import tensorflow as tf

    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, tf.SparseTensor):
        return tf.sparse.to_dense(tf.sparse.reorder(value)).numpy()
    if isinstance(value, tf.RaggedTensor):
        return [_plain(row) for row in value]
    return value.numpy()


def _differences(
    found: Any, expected: Any, padding: Mapping[str, Any], name: str = ""
) -> Iterator[str]:
    """Yield where a row of a batch is not what it has to be, with its padding."""
    if isinstance(expected, Mapping):
        if sorted(found) != sorted(expected):
            yield f"{name}: {sorted(found)}, not {sorted(expected)}"
            return
        for each in expected:
            yield from _differences(found[each], expected[each], padding, each)
        return
    if isinstance(found, list):  # ragged in two dimensions
        found = [row.tolist() for row in found]
        if found != expected:
            yield f"{name}: {found}, not {expected}"
        return
    stored = np.asarray(found, object if isinstance(found, bytes) else None)
    if isinstance(expected, (bytes, list)):
        wanted = np.array(expected, object)
    else:
        wanted = np.asarray(expected)
        dtype = "float32" if stored.dtype.name == "bfloat16" else stored.dtype.name
        if dtype != wanted.dtype.name:
            yield f"{name}: {dtype}, not {wanted.dtype}"
    if stored.ndim != wanted.ndim and not wanted.size:
        wanted = wanted.reshape((0,) * stored.ndim)
    if stored.ndim != wanted.ndim:
        yield f"{name}: shape {stored.shape}, not {wanted.shape}"
        return
    inside = (*(slice(size) for size in wanted.shape), ...)
    outside = np.ones(stored.shape, bool)
    outside[inside] = False
    if name in _INEXACT:
        np.testing.assert_allclose(stored[inside], wanted, rtol=1e-5)
    elif not _equal(stored[inside], wanted):
        yield f"{name}: {stored[inside]!r}, not {wanted!r}"
    filled = padding.get(name.split("_")[-1], b"" if stored.dtype == object else 0)
    if not all(value == filled for value in stored[outside].tolist()):
        yield f"{name}: {stored!r}, not padded with {filled!r}"


def _equal(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> bool:
    if one.shape != other.shape:
        return False
    if one.dtype == object or one.dtype.kind in "biu":
        return bool((one == other).all())
    return np.array_equal(one.astype("f8"), other.astype("f8"), equal_nan=True)


def _row_of(batch: Any, at: int) -> Any:
    if isinstance(batch, Mapping):
        return {name: _row_of(each, at) for name, each in batch.items()}
    return batch[at]


def _check_batch(record: str, batch: Any, rows: list[Row]) -> None:
    padding = BASELINES[record].padding
    plain = _plain(batch)
    found = [
        f"row {at}: {difference}"
        for at, row in enumerate(rows)
        for difference in _differences(_row_of(plain, at), row, padding)
    ]
    assert found == []


@pytest.mark.parametrize("record", BASELINES)
def test_frozen_records_are_parsed_to_the_rows(record: str, today: Path) -> None:
    """`parse_batch` of today delivers the stated rows from each frozen record."""
    baseline = BASELINES[record]
    parser = _module("today_code", record, "parser")
    split = next(iter(baseline.splits))
    stored = _frozen_records(record, split)
    expected = [baseline.read(number) for number in range(len(stored))]
    _check_batch(record, parser.parse_batch(stored), expected)
    for data, row in zip(stored[:4], expected[:4], strict=True):
        _check_batch(record, parser.parse_batch([data]), [row])


@pytest.mark.parametrize(("record", "split"), _SPLITS)
def test_frozen_directories_are_read(record: str, split: str, today: Path) -> None:
    """`make_dataset` of today delivers the stated rows of each frozen split."""
    how = BASELINES[record].splits[split]
    pipeline = _module("today_code", record, "pipeline")
    spec = _manifest(HERE / "data" / record)["spec"]
    info = any(field["role"] == "info" for field in spec["fields"])
    batches = list(
        pipeline.make_dataset(
            HERE / "data" / record, split, batch_size=max(how.rows, 1), info=info
        )
    )
    assert len(batches) == (1 if how.rows else 0)
    if not batches:
        return
    named, alone = _merged(batches[0])
    rows = [_flat(BASELINES[record].read(number)) for number in range(how.rows)]
    if "number" in named:
        order = named["number"].numpy().tolist()
        assert sorted(order) == list(range(how.rows))
        if how.same_order and how.source != "generator":
            assert order == sorted(order)
        rows = [rows[number] for number in order]
    missing = rows[0].keys() - named.keys()
    assert len(missing) == alone
    _check_batch(
        record, named, [{n: v for n, v in r.items() if n in named} for r in rows]
    )


def _merged(element: Any) -> tuple[dict[str, Any], int]:
    """Return the tensors of an element by name, and how many have no name."""
    parts = element if isinstance(element, tuple) else (element,)
    named = {
        name: tensor
        for part in parts
        if isinstance(part, Mapping)
        for name, tensor in part.items()
    }
    return named, sum(not isinstance(part, Mapping) for part in parts)


def _flat(row: Row, prefix: str = "") -> Row:
    """Return a row whose nested fields have one name, as in datasets."""
    found: Row = {}
    for name, value in row.items():
        if isinstance(value, dict):
            found |= _flat(value, f"{prefix}{name}_")
        else:
            found[f"{prefix}{name}"] = value
    return found


@pytest.mark.parametrize(("record", "split"), _SPLITS)
def test_rows_are_written_as_before(
    record: str, split: str, today: Path, tmp_path: Path
) -> None:
    """The rows become the same records, files and entries of the manifest."""
    before = HERE / "data" / record
    write(record, split, _module("today_code", record, "serializer"), tmp_path)
    old, new = _manifest(before), _manifest(tmp_path)
    shards = [found["splits"][split].pop("shards") for found in (old, new)]
    assert _of_all_splits(new) == _of_all_splits(old)
    assert new["splits"][split] == old["splits"][split]
    if BASELINES[record].splits[split].same_order:
        files = [
            [
                {key: each for key, each in shard.items() if _is_stable(shard, key)}
                for shard in listed
            ]
            for listed in shards
        ]
        assert files[1] == files[0]
        assert [_contents(tmp_path, shard) for shard in shards[1]] == [
            _contents(before, shard) for shard in shards[0]
        ]
    else:
        assert len(shards[1]) == len(shards[0])
        assert sorted(
            data for shard in shards[1] for data in _contents(tmp_path, shard)
        ) == sorted(_frozen_records(record, split))


def _of_all_splits(manifest: Mapping[str, Any]) -> tuple[str, Any]:
    """Return what a manifest says about each split, a test writing one of them."""
    assert manifest.keys() == {
        "crc32c",
        "fingerprint",
        "format",
        "record",
        "spec",
        "splits",
    }
    return manifest["record"], _without_exact(manifest["spec"])


def _without_exact(value: Any) -> Any:
    """Return a spec without `exact`, which is False now where a schema does not state it."""
    if isinstance(value, dict):
        return {k: _without_exact(each) for k, each in value.items() if k != "exact"}
    return (
        [_without_exact(each) for each in value] if isinstance(value, list) else value
    )


def _is_stable(shard: Mapping[str, Any], key: str) -> bool:
    """Return whether an entry of a shard must not change.

    Compressed bytes depend on the version of zlib, and on how they are cut.
    """
    return key in ("file", "records") or not shard["file"].endswith((".gz", ".zlib"))


@pytest.mark.parametrize("record", BASELINES)
def test_specs_are_the_same(record: str, today: Path) -> None:
    """The same schema becomes the same spec, but for `exact`, with sorted keys."""
    before = zipfile.ZipFile(CODE).read(f"baseline_code/{record}/spec.json")
    text = (today / "today_code" / record / "spec.json").read_text("utf-8")
    specs = [json.loads(each) for each in (before, text)]
    assert text == json.dumps(specs[1], ensure_ascii=False, indent=2) + "\n"
    for spec in specs:
        del spec["//hashes"]
    assert _without_exact(specs[1]) == _without_exact(specs[0])


def test_frozen_code_is_refused() -> None:
    """The runtime of today refuses code that 0.2.0 generated, in one sentence."""
    sys.path.insert(0, str(CODE))
    try:
        with pytest.raises(ImportError, match=r"run `schemagen generate`"):
            importlib.import_module("baseline_code")
    finally:
        sys.path.remove(str(CODE))


@pytest.mark.parametrize("command", DOCUMENTS)
def test_documents_are_the_same(command: str, tmp_path: Path) -> None:
    """Commands print the same facts as JSON, but for `INTENDED` differences."""
    path = HERE / "documents" / f"{command}.json"
    before = facts(json.loads(path.read_text(encoding="utf-8")))
    after = DOCUMENTS[command](tmp_path / "work")
    differences = [
        (document, place, difference)
        for document in sorted(before.keys() | after.keys())
        for place, difference in _different(before.get(document), after.get(document))
    ]
    patterns = [each for each in INTENDED if each[0] == command]
    used = {
        (document, pattern)
        for _, document, pattern, _ in patterns
        for name, place, _ in differences
        if fnmatch(name, document) and fnmatch(place, pattern)
    }
    left = [
        f"{name}: {place}: {difference}"
        for name, place, difference in differences
        if not any(fnmatch(name, d) and fnmatch(place, p) for d, p in used)
    ]
    assert not left, "\n".join(left)
    assert {(document, pattern) for _, document, pattern, _ in patterns} == used


def _different(one: Any, other: Any, at: str = "") -> Iterator[tuple[str, str]]:
    """Yield the places in which two documents differ, and how.

    New entries of a document are no difference, nor are numbers where none were known.
    """
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted(one):
            if key not in other:
                yield f"{at}/{key}", "only before"
            else:
                yield from _different(one[key], other[key], f"{at}/{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for number, pair in enumerate(zip(one, other, strict=True)):
            yield from _different(*pair, f"{at}/{number}")
    elif one is None and at.endswith("/numbers"):
        return
    elif type(one) is not type(other) or one != other:
        yield at, f"{str(one)[:300]} before, {str(other)[:300]} now"
