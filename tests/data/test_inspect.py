"""Files are inspected without a schema: what is shown is what they hold."""

from __future__ import annotations

import gzip
import os
import random
import re
import shutil
from pathlib import Path
from typing import Any

import digit_rows
import pytest
import schemagen
from command_line import run
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from manifests import edited_manifest
from rich.cells import cell_len
from tfrecord_files import frame
from tiers import examples

from generated.digit.serializer import write_dataset

from .conftest import Limits
from .documents import SCHEMA, VALIDATOR, document, facts_of, rounded, splits_of
from .messages import NO_FLOATS, PACK, example, sequence_example, write_file
from .test_records import MESSAGES


def rows(count: int, seed: int = 0) -> list[bytes]:
    chance = random.Random(seed)
    return [
        example(
            {
                "label": chance.randrange(3),
                "name": f"name {number}" * chance.randrange(9),
                "size": chance.random(),
            }
        )
        for number in range(count)
    ]


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with two splits, one of them compressed."""
    directory = tmp_path_factory.mktemp("data") / "digits"
    write_dataset(digit_rows.rows(60), directory, "train", shards=3)
    write_dataset(digit_rows.rows(80)[60:], directory, "test", compression="GZIP")
    return directory


@pytest.fixture
def copy(digits: Path, tmp_path: Path) -> Path:
    """A copy of it that a test may change."""
    return shutil.copytree(digits, tmp_path / "copy")


def test_a_data_directory_is_shown_as_text(
    digits: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its splits, what wrote them, its keys with their ranges, some records."""
    monkeypatch.setenv("COLUMNS", "80")
    result = run("inspect", digits, "--records", "1")
    assert result.exit_code == 0
    fingerprint = schemagen.inspect(digits).written_by["train"].fingerprint
    for part in (
        r"digits: 4 files, 80 records, [\d.]+ kB$",
        rf"record digit, fingerprint {fingerprint}",
        r"^test +1 +20 +[\d.]+ \w+ +GZIP +\d+ to",
        r"^train +3 +60 +[\d.]+ kB +none +\d+ to",
        r"^80 records of tf.train.Example, 5 keys$",
        r'^digit     int64  100 %    1       0 "zero" \(10 %\), 1 "one" \(10 %\)',
        r"^image     bytes  100 %    1       64 bytes",
        r"^record 0 of train-00000-of-00003.tfrecord, ",
        r"^  image     bytes  64 bytes: [0-9a-f ]{23} \.\.\.$",
    ):
        assert re.search(part, result.stdout, re.M), part
    one = run("inspect", digits, "--split", "test").stdout
    assert "\n20 records of tf.train.Example" in one
    assert "\ntrain" not in one
    missing = run("inspect", digits, "--split", "tset")
    assert missing.exit_code == 2
    assert "'tset'; there are: test, train" in missing.stderr


def schema_keys(found: Any, schema: dict[str, Any]) -> None:
    """Assert that objects have every key that the schema knows of them."""
    if "$ref" in schema:
        schema = SCHEMA["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    for choice in schema.get("anyOf", []):
        if found is not None and {"$ref", "items"} & choice.keys():
            schema_keys(found, choice)
    if isinstance(found, dict) and "required" in schema:
        assert set(found) == set(schema["properties"])
        for key, value in found.items():
            schema_keys(value, schema["properties"][key])
    elif isinstance(found, list) and "items" in schema:
        for each in found:
            schema_keys(each, schema["items"])


def test_a_data_directory_as_json_has_its_numbers(digits: Path) -> None:
    """No key is missing and none is undocumented; more may come, but no other shape."""
    data = document(digits, "--records", "2")
    schema_keys(data, SCHEMA)
    assert [each["split"] for each in data["splits"]] == ["train", "test"]
    assert [each["records"] for each in splits_of(data)] == [60, 20]
    assert [each["records"] for each in data["files"]] == [20, 20, 20, 20]
    [scan] = [key for key in splits_of(data)[0]["keys"] if key["key"] == "scan"]
    [kind] = scan["by_kind"]
    assert (kind["kind"], kind["numbers"]["mean"]) == ("int64", 29.5)
    assert data["splits"][0]["written_by"]["record"] == "digit"
    assert [each["split"] for each in data["samples"]] == ["train"] * 2 + ["test"] * 2
    assert data["samples"][0]["features"][0] == {
        "key": "digit",
        "step": None,
        "kind": "int64",
        "length": 1,
        "values": [0],
    }
    Draft202012Validator.check_schema(SCHEMA)
    assert not VALIDATOR.is_valid({**data, "version": 1})
    assert VALIDATOR.is_valid({**data, "more": 1})
    assert not VALIDATOR.is_valid({**data, "splits": [{}]})


def test_facts_have_all_that_is_known_of_fields_and_classes(digits: Path) -> None:
    """Numbers are entries of their own, and not in texts."""
    data = document(digits)
    about = {
        each["measure"]: each["value"]
        for each in facts_of(data, subject="digit", split=None)
    }
    assert about["declared as"].startswith("Label")
    assert (about["role"], about["optional"], about["length"]) == (
        "target",
        "no",
        [1, 1],
    )
    for split, count in (("train", 60), ("test", 20)):
        [missing] = facts_of(data, key="scan", split=split, measure="missing")
        assert (missing["value"], missing["unit"]) == (0, "records")
        two = {
            each["measure"]: each["value"]
            for each in facts_of(data, subject="digit", split=split, category="two")
        }
        assert two == {"records": count / 10, "share": 0.1}


def test_texts_that_are_not_utf8_and_numbers_that_are_not_finite(
    tmp_path: Path,
) -> None:
    """JSON has none of them: bytes are base64, names of files escaped, numbers texts."""
    messages = [
        example({"b": b"\xff\x00", "t": "é", "x": [float("nan"), float("-inf")]})
    ]
    name = os.fsdecode(b"train-\xff.tfrecord")
    data = document(write_file(tmp_path / name, messages), "--records", "1")
    assert data["files"][0]["path"] == str(tmp_path / name)
    [keys] = [each["keys"] for each in splits_of(data)]
    counts = [each["by_kind"][0]["bytes"]["distinct"] for each in keys[:2]]
    assert counts == [
        [{"value": {"base64": "/wA="}, "count": 1}],
        [{"value": {"text": "é"}, "count": 1}],
    ]
    assert keys[2]["by_kind"][0]["numbers"]["infinite"] == [1, 0]
    assert data["samples"][0]["features"][2]["values"] == ["NaN", "-Infinity"]


def test_a_limit_goes_across_the_files_of_a_split(digits: Path) -> None:
    """What is not read is not said to be missing."""
    data = document(digits, "--limit", "25")
    assert [each["records"] for each in splits_of(data)] == [25, 20]
    [scan] = [key for key in splits_of(data)[0]["keys"] if key["key"] == "scan"]
    values = [each["value"] for each in scan["by_kind"][0]["numbers"]["distinct"]]
    assert values == list(range(25))
    assert data["splits"][1] == document(digits)["splits"][1]


def publishing(copy: Path, *settled: int) -> str:
    """Take the names of the first split's files away, but for some, as its publisher does.

    Returns:
        The manifest of the split when it is published.
    """
    before = (copy / "manifest.json").read_text()
    with edited_manifest(copy) as manifest:
        for at, shard in enumerate(manifest["splits"]["train"]["shards"]):
            shard["hidden"] = f".{at}.tmp"
            if at not in settled:
                (copy / shard["file"]).rename(copy / shard["hidden"])
    return before


def test_a_split_that_is_being_published_is_read(copy: Path) -> None:
    """By the hidden names of those files that do not have their names yet."""
    before = document(copy)
    publishing(copy, 1)
    data = document(copy)
    counts = [[each["records"] for each in splits_of(some)] for some in (before, data)]
    assert counts[0] == counts[1]
    assert (data["publishing"], data["sound"]) == (["train"], True)
    assert run("verify", copy).exit_code == 0


def test_a_split_that_is_settled_while_it_is_read_is_sound(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files that are found under hidden names may have their own when they are opened."""
    names = sorted(path.name for path in copy.glob("train-*"))
    settled = publishing(copy)
    opened = Path.open

    def settle(self: Path, *arguments: Any, **options: Any) -> Any:
        if self.suffix == ".tmp" and self.exists():
            for at, name in enumerate(names):
                (copy / f".{at}.tmp").rename(copy / name)
            (copy / "manifest.json").write_text(settled)
        return opened(self, *arguments, **options)

    monkeypatch.setattr(Path, "open", settle)
    found = schemagen.verify(copy)
    assert (copy / names[0]).exists()
    assert found.clean
    assert found.records == 80


def test_a_manifest_without_splits_is_an_error(copy: Path) -> None:
    """Of one sentence, as where nothing was written."""
    with edited_manifest(copy) as manifest:
        manifest["splits"].clear()
    done = run("inspect", copy)
    assert done.exit_code == 2
    assert "it lists no split" in done.output


def test_files_are_compared_with_the_manifest(copy: Path) -> None:
    """Their sizes, their records, files that are missing or not listed."""
    first, second, third = sorted(copy.glob("train-*"))
    with first.open("ab") as file:
        file.write(frame(b""))
    second.unlink()
    write_file(third, rows(2))
    write_file(copy / "train-00003-of-00004.tfrecord", rows(2))
    data = document(copy)
    assert data["unlisted"] == ["train-00003-of-00004.tfrecord"]
    assert [(each["records"], each["listed"]) for each in data["files"][:3]] == [
        (21, 20),
        (0, 20),
        (2, 20),
    ]
    text = " ".join(run("inspect", copy).stdout.split())
    size = first.stat().st_size
    for part in (
        f"{first.name}: {size:,} bytes, and manifest.json lists {size - 16:,}",
        f"{third.name}: 2 records, and manifest.json lists 20",
        f"{second.name}: ",
        "train-00003-of-00004.tfrecord",
    ):
        assert part in text


def test_a_damaged_manifest_stops_nothing(copy: Path) -> None:
    """Names tell the splits; the exit code is 1."""
    path = copy / "manifest.json"
    path.write_text(path.read_text().replace("digit", "digut", 1))
    data = document(copy, "--split", "train")
    assert [each["records"] for each in splits_of(data)] == [60]
    assert data["manifest_problem"]


@pytest.mark.parametrize("compression", PACK)
def test_compression_is_told_by_the_bytes(tmp_path: Path, compression: str) -> None:
    """Whatever the name says."""
    plain = document(write_file(tmp_path / "plain" / "data", rows(30)))
    data = document(write_file(tmp_path / "packed" / "data", rows(30), compression))
    assert data["files"][0]["compression"] == compression
    assert splits_of(data)[0]["keys"] == splits_of(plain)[0]["keys"]


@pytest.mark.parametrize("most", [1 << 25, 1000], ids=["all fit", "few samples fit"])
def test_workers_and_parts_change_nothing(
    tmp_path: Path, limits: Limits, most: int
) -> None:
    """One file or several, in one piece or cut, by one process or more."""
    limits.samples(most)
    for at in range(3):
        write_file(tmp_path / f"train-0000{at}-of-00003", rows(300, at))
    usual = document(tmp_path, "--records", "9", "--workers", "1")
    limits.part(2000)
    assert usual["files"][0]["bytes"] > 3 * 2000
    one = document(tmp_path, "--records", "9", "--workers", "1")
    two = document(tmp_path, "--records", "9", "--workers", "2")
    assert one == two
    assert rounded(one) == rounded(usual)


def test_feature_lists_of_sequence_examples_are_shown_by_step(tmp_path: Path) -> None:
    """Feature lists have numbers of steps; lengths and values are those of a step."""
    messages = [
        sequence_example(
            {"id": f"{number}"}, {"rgb": [bytes(8)] * number, "n": [[1, 2]] * 2}
        )
        for number in range(1, 4)
    ]
    path = write_file(tmp_path / "records", messages)
    [split] = splits_of(document(path))
    assert (split["sequences"], [each["key"] for each in split["keys"]]) == (3, ["id"])
    lists = {each["key"]: each for each in split["steps"]}
    assert list(lists) == ["n", "rgb"]
    assert (lists["rgb"]["steps"]["minimum"], lists["rgb"]["steps"]["maximum"]) == (
        1,
        3,
    )
    text = run("inspect", path).stdout
    assert "3 records of tf.train.SequenceExample, 3 keys" in text
    assert re.search(
        r"\nn    int64  100 %    2       2       1 \(50 %\), 2 \(50 %\)\n", text
    )
    assert re.search(r"\nrgb  bytes  100 %    1 to 3  1       raw", text)
    assert re.search(r"\n  n    int64  2 steps: \[1, 2\] \| \[1, 2\]\n", text)
    write_file(path, [*messages, *rows(2)])
    [split] = splits_of(document(path))
    assert (split["records"], split["sequences"]) == (5, 3)


ODD: dict[str, Any] = {
    "two kinds": 7,
    "none": None,
    "empty": NO_FLOATS,
    "nan": [float("nan"), float("inf"), -float("inf"), 1.5],
    "low": [-(2**63), 2**63 - 1],
    "long": range(100_000),
    "é 東京": "東京",
    "k" * 5000: "x",
    "\x1b[31mred\n": [b"\x1b]0;title\x07", "\u202eright"],
    "": "",
}


@pytest.mark.parametrize("columns", ["60", "80", "160"])
def test_odd_values_are_shown_in_lines_that_fit(
    tmp_path: Path, columns: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a control character."""
    monkeypatch.setenv("COLUMNS", columns)
    messages = [example(ODD), example({"two kinds": 0.5, "none": None})]
    path = write_file(tmp_path / "records", messages)
    text = run("inspect", path).stdout
    lines = text.split("\n")[1:]  # the first one has the path
    assert all(line.isprintable() for line in lines)
    assert max(map(cell_len, lines)) <= int(columns)
    once = " ".join(text.split())
    for part in (
        r"\nnone +- +0 % +never a list",
        r"\nempty +float +50 % +0\n",
        r"\nlow +int64 +50 % +2 ",
        r"é 東京 +bytes +50 % +1 +text, always \"東京\"",
        r"k…",
        r'"\\x1b\[31mred\\n"?\n? +bytes ',
        r'\n"" +bytes +50 % +1 +empty\n',
        r"-9,223,372,036,",
        r"\n  nan +float +\[NaN, inf, (-inf, 1\.5|\.\.\. 4 values)\]\n",
        r"\n  long +int64 +\[0, 1, .* 100,000\n? +values\]\n",
        r'\[10 bytes: 1b 5d 30 3b 74 69 74 6c \.\.\., "\\u202eright"\]',
    ):
        assert re.search(part, text) or re.search(part, once), part
    keys = {each["key"]: each for each in splits_of(document(path))[0]["keys"]}
    kinds = [each["kind"] for each in keys["two kinds"]["by_kind"]]
    assert kinds == ["float", "int64"]


@examples(40)
@given(st.lists(MESSAGES, max_size=6), st.lists(st.binary(max_size=30), max_size=3))
def test_any_records_are_shown_in_printable_lines_and_as_json(
    tmp_path_factory: pytest.TempPathFactory, some: list[bytes], others: list[bytes]
) -> None:
    """Any records, and what is none, in printable lines and as valid JSON."""
    path = write_file(tmp_path_factory.mktemp("any") / "data", [*some, *others])
    text = run("inspect", path, "--records", "9").stdout
    assert all(line.isprintable() for line in text.split("\n"))
    document(path, "--records", "9")


@pytest.mark.parametrize(("keys", "more"), [(0, 0), (1, 0), (1000, 900)])
def test_any_number_of_keys_is_listed(tmp_path: Path, keys: int, more: int) -> None:
    """All are in the table, and a hundred of each record shown."""
    names = [f"key {number:03}" for number in range(keys)]
    message = example(dict.fromkeys(names, 1)) if keys else b""
    path = write_file(tmp_path / "records", [message])
    text = run("inspect", path, "--records", "1").stdout
    assert all(
        f"\n{name}  int64  100 %    1       always 1\n" in text for name in names
    )
    shown = text[text.index("\nrecord 0 of records, ") :]
    assert shown.count("int64  1\n") == keys - more
    assert (f"  ... {more} keys more\n" in shown) == bool(more)


def test_many_splits_are_described_together(tmp_path: Path) -> None:
    """Files of any names are splits of their own; one table is enough for them."""
    for at in range(30):
        write_file(tmp_path / f"part{at:02}.tfrecord", rows(3, at))
    text = run("inspect", tmp_path).stdout
    assert "90 records of tf.train.Example, 3 keys\n" in text
    assert "\n... 10 splits more\n" in text
    assert text.count("\nlabel ") == 1


def test_splits_with_other_kinds_of_a_key_are_shown(tmp_path: Path) -> None:
    """Numbers of several kinds are not put together."""
    write_file(tmp_path / "train.tfrecord", [example({"x": 0.5})])
    write_file(tmp_path / "test.tfrecord", [example({"x": 3})] * 2)
    result = run("inspect", tmp_path)
    assert result.exit_code == 0, result.output


def test_a_hundred_damages_are_counted(tmp_path: Path, limits: Limits) -> None:
    """Ten of a file are described; everything else is shown all the same."""
    frames = [bytearray(frame(row)) for row in rows(100)]
    for each in frames:
        each[20] ^= 1
    path = tmp_path / "records"
    path.write_bytes(b"".join(frames) + frame(rows(1)[0]))
    for size in (1 << 26, 2000):
        limits.part(size)
        [file] = document(path)["files"]
        assert (file["damaged"], len(file["damages"])) == (100, 10)
    text = run("inspect", path).stdout
    assert "1 record of tf.train.Example, 3 keys" in text
    assert "records: 90 more" in text
    assert f"`schemagen verify {path}`" in text.splitlines()[-1]


@pytest.mark.parametrize("count", [4, 5])
def test_up_to_four_texts_are_listed(tmp_path: Path, count: int) -> None:
    """Each with its share; of more the most frequent."""
    some = [example({"t": f"{at % count}"}) for at in range(2 * count)]
    text = run("inspect", write_file(tmp_path / "records", some)).stdout
    assert f'text{"" if count == 4 else ", 5 different:"} "0" (' in text
    assert (", ..." in text) == (count > 4)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.125, "0.125"),
        (9999.0, "9,999"),
        (999_999.5, "1,000,000"),
        (1_234_567.5, "1,234,568"),
        (1e30, "1e+30"),
    ],
)
def test_numbers_are_short(tmp_path: Path, value: float, shown: str) -> None:
    """With exponents from 1e15 on only."""
    path = write_file(tmp_path / "part", [example({"it": value})] * 2)
    assert f"always {shown}\n" in run("inspect", path, "--records", "0").stdout


@pytest.mark.parametrize("data", [b"", gzip.compress(b"", mtime=0)])
def test_a_file_without_records_is_no_damage(tmp_path: Path, data: bytes) -> None:
    """Its number of records is 0."""
    (tmp_path / "file").write_bytes(data)
    [file] = document(tmp_path / "file")["files"]
    assert (file["records"], file["damaged"]) == (0, 0)
