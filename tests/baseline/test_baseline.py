"""Data, specs and JSON of schemagen 0.4.0: later versions agree with them."""

from __future__ import annotations

import importlib
import json
import shutil
import sys
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import schemagen

from .damage import records
from .documents import DOCUMENTS, facts
from .rows import BASELINES, CODE, HERE, longest_split, write
from .values import Values, read_by_arrays, stated

_SPLITS = [
    (record, split) for record in BASELINES for split in BASELINES[record].splits
]


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


@pytest.mark.parametrize("record", BASELINES)
def test_frozen_records_are_parsed_to_the_values(record: str, today: Path) -> None:
    """`parse_batch` delivers what 0.4.0 read from frozen records."""
    parser = _module("today_code", record, "parser")
    stored = _frozen_records(record, longest_split(record))[:2]
    found = [stated(parser.parse_batch([data])) for data in stored]
    _check(found, _values(record)[:2])


@pytest.mark.parametrize(("record", "split"), _SPLITS)
def test_frozen_directories_are_read(record: str, split: str, today: Path) -> None:
    """Both readers deliver what 0.4.0 read from each frozen split."""
    how = BASELINES[record].splits[split]
    found = _check_readers(
        record, HERE / "data" / record, split, _values(record)[: how.rows]
    )
    if how.same_order and how.source != "generator":
        numbers = [batch["number"][1] for batch in found if "number" in batch]
        assert numbers == sorted(numbers)


def test_sealed_files_are_read(today: Path) -> None:
    """Both readers read files of another program that 0.4.0 has sealed."""
    directory = HERE / "data" / "sealed"
    held = _manifest(directory)["splits"]["old"]
    assert held["adopted"]
    values = _values("reading")[: held["records"]]
    _check_readers("reading", directory, "old", values)


def _check_readers(
    record: str, directory: Path, split: str, values: list[Values]
) -> list[Values]:
    reader = _module("today_code", record, "reader")
    found = read_by_arrays(reader.open_split, directory, split)
    expected = _in_order(values, found)
    _check(found, expected)
    spec = _manifest(directory)["spec"]
    info = any(field["role"] == "info" for field in spec["fields"])
    pipeline = _module("today_code", record, "pipeline")
    dataset = pipeline.make_dataset(directory, split, batch_size=1, info=info)
    for element, batch in zip(dataset, expected, strict=True):
        named, alone = _merged(element)
        assert len(batch.keys() - named.keys()) == alone
        _check([stated(named)], [{name: batch[name] for name in named}])
    return found


def _values(record: str) -> list[Values]:
    path = HERE / "values" / f"{record}.json"
    found: list[Values] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _in_order(values: list[Values], found: list[Values]) -> list[Values]:
    """Return values in the order of what was read; each is in it once."""
    numbers = [batch["number"][1][0] for batch in found if "number" in batch]
    if not numbers:
        return values
    assert sorted(numbers) == list(range(len(values)))
    return [values[number] for number in numbers]


def _check(found: list[Values], expected: list[Values]) -> None:
    """Assert equal dtypes, where both have one, and values, in which NaN equals NaN."""
    for one, other in zip(found, expected, strict=True):
        assert one.keys() == other.keys()
        for name, (dtype, value) in other.items():
            assert one[name][0] == dtype or "" in (one[name][0], dtype), name
            assert json.dumps(one[name][1]) == json.dumps(value), name


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


@pytest.mark.parametrize(("record", "split"), _SPLITS)
def test_rows_are_written_as_before(
    record: str, split: str, today: Path, tmp_path: Path
) -> None:
    """The rows become the same records, files and entries of the manifest."""
    before = HERE / "data" / record
    write(record, split, _module("today_code", record, "serializer"), tmp_path)
    old, new = _manifest(before), _manifest(tmp_path)
    old_split, new_split = (found.pop("splits")[split] for found in (old, new))
    shards = [found.pop("shards") for found in (old_split, new_split)]
    assert new_split == old_split
    del old["crc32c"], new["crc32c"]  # of all splits
    assert new == {**old, "format": 3}  # which 0.4.0 refuses with what to do
    if BASELINES[record].splits[split].same_order:
        files = [
            [
                {key: shard.get(key) for key in old if _is_stable(old, key)}
                for old, shard in zip(shards[0], listed, strict=True)
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


def _is_stable(shard: Mapping[str, Any], key: str) -> bool:
    """Return whether an entry of a shard must not change.

    Compressed bytes depend on the version of zlib, and on how they are cut.
    """
    return key in ("file", "records") or not shard["file"].endswith((".gz", ".zlib"))


@pytest.mark.parametrize("record", BASELINES)
def test_specs_are_the_same(record: str, today: Path) -> None:
    """The same schema becomes the same spec, with sorted keys."""
    before = zipfile.ZipFile(CODE).read(f"baseline_code/{record}/spec.json")
    text = (today / "today_code" / record / "spec.json").read_text("utf-8")
    specs = [json.loads(each) for each in (before, text)]
    assert text == json.dumps(specs[1], ensure_ascii=False, indent=2) + "\n"
    for spec in specs:
        del spec["//hashes"]
    assert specs[1] == specs[0]


def test_frozen_code_is_refused() -> None:
    """The runtime of today refuses code that 0.4.0 generated, in one sentence."""
    sys.path.insert(0, str(CODE))
    try:
        with pytest.raises(ImportError, match=r"run `schemagen generate`"):
            importlib.import_module("baseline_code")
    finally:
        sys.path.remove(str(CODE))


@pytest.mark.parametrize("command", DOCUMENTS)
def test_documents_are_the_same(command: str, tmp_path: Path) -> None:
    """Commands print the same facts as JSON."""
    path = HERE / "documents" / f"{command}.json"
    before = facts(json.loads(path.read_text(encoding="utf-8")))
    after = DOCUMENTS[command](tmp_path / "work")
    assert after.keys() == before.keys()
    assert list(_different(before, after)) == []


def _different(one: Any, other: Any, at: str = "") -> Iterator[tuple[str, str]]:
    """Yield the places in which two documents differ, and how.

    New entries of a document are no difference. In 0.4.0, findings about a whole file were
    in its first line and column.
    """
    if (one, other) == (1, None) and at.endswith(
        ("/location/line", "/location/column")
    ):
        return
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted(one):
            if key not in other:
                yield f"{at}/{key}", "only before"
            else:
                yield from _different(one[key], other[key], f"{at}/{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for number, pair in enumerate(zip(one, other, strict=True)):
            yield from _different(*pair, f"{at}/{number}")
    elif type(one) is not type(other) or one != other:
        yield at, f"{str(one)[:300]} before, {str(other)[:300]} now"
