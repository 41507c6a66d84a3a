"""Files are inspected without a schema: what is shown is what they hold."""

from __future__ import annotations

import gzip
import json
import random
import re
import shutil
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import run
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from schemagen.data.inspect.as_json import inspection_data, inspection_json
from schemagen.data.inspect.inspecting import inspect_data
from schemagen.data.inspect.terminal import width
from schemagen.data.inspect.text import inspection_text
from schemagen.data.statistics.model import DataStatistics, FileStatistics
from schemagen.runtime.shared.tfrecord import frame
from schemagen.runtime.storage import manifest
from schemagen.runtime.storage.journal import Journal, JournalFile
from schemagen.runtime.storage.opening import open_directory
from tiers import examples

from generated.digit.serializer import write_dataset

from .example_bytes import Value, example, sequence_example
from .test_statistics import RECORDS, Row, measured, serialized

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "docs" / "inspect.schema.json").read_text("utf-8")
)


def written(path: Path, *messages: bytes) -> Path:
    path.write_bytes(b"".join(map(frame, messages)))
    return path


def rows(count: int, seed: int = 0) -> list[bytes]:
    chance = random.Random(seed)
    return [
        example(
            {
                "label": ("int64", [chance.randrange(3)]),
                "name": ("bytes", [b"name %d" % number]),
                "size": ("float", [chance.random()]),
            }
        )
        for number in range(count)
    ]


def text_of(path: Path | str, **options: Any) -> str:
    return inspection_text(inspect_data(path), **options)


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with two splits, one of them compressed."""
    directory = tmp_path_factory.mktemp("data") / "digits"
    chance = np.random.default_rng(0)

    def some(count: int) -> list[dict[str, Any]]:
        return [
            {
                "image": chance.integers(0, 241, (8, 8, 1), np.uint8),
                "ink_runs": chance.integers(1, 9, chance.integers(0, 32)),
                "moments": chance.normal(size=8).astype(np.float32),
                "digit": number % 10,
                "scan": number,
            }
            for number in range(count)
        ]

    write_dataset(some(60), directory, "train", shards=3)
    write_dataset(some(20), directory, "test", compression="GZIP")
    return directory


def test_a_data_directory(digits: Path) -> None:
    """Its splits, what wrote them, its keys with their ranges, some records."""
    text = text_of(digits, records=1)
    assert re.search(r"digits: 4 files, 80 records, [\d.]+ kB\n", text)
    assert re.search(
        r"\nwritten by the record digit, fingerprint \w+, says manifest.json\n", text
    )
    assert re.search(r"\ntest +1 +20 +[\d.]+ kB +GZIP +\d+ to", text)
    assert re.search(r"\ntrain +3 +60 +[\d.]+ kB +none +\d+ to", text)
    assert "\nsplit test: 20 records of tf.train.Example, 5 keys\n" in text
    assert "\nsplit train: 60 records of tf.train.Example, 5 keys\n" in text
    assert re.search(r"\ndigit     int64  all  1        0 to 9, mean 4.5; 10 d", text)
    assert re.search(r"\nimage     bytes  all  1        raw; always 64 bytes", text)
    assert re.search(r"\nmoments   float  all  8        -[\d.]+ to [\d.]+, mean", text)
    assert "\nrecord 0 of train-00000-of-00003.tfrecord, " in text
    assert re.search(r"\n  image     bytes  64 bytes: [0-9a-f ]{23} \.\.\.\n", text)
    found = inspect_data(digits)
    assert found.sound
    assert [file.records for file in found.files] == [20, 20, 20, 20]
    assert found.written_by["train"].record == "digit"


def test_one_split(digits: Path) -> None:
    """Nothing else is read."""
    result = run("inspect", digits, "--split", "test")
    assert result.exit_code == 0
    assert "split test: 20 records" in result.stdout
    assert "split train" not in result.stdout
    result = run("inspect", digits, "--split", "tset")
    assert result.exit_code == 2
    assert "SG441 no split 'tset'; there are: test, train; did you" in result.stderr


def test_an_interrupted_publication_is_named(digits: Path, tmp_path: Path) -> None:
    """A split that waits for the next writer is not passed over in silence."""
    data = tmp_path / "data"
    shutil.copytree(digits, data)
    directory = open_directory(data)
    found = manifest.load(directory)
    assert found is not None
    first, *others = found.splits
    publication = replace(found, splits={first: found.splits[first]})
    JournalFile(directory, first, Journal("a" * 12, {}, {})).commit(publication, [])
    left = {name: found.splits[name] for name in others}
    manifest.save(directory, replace(found, splits=left))
    result = run("inspect", data)
    assert result.exit_code == 1
    words = f"split {first!r} is being published, or its publication was interrupted"
    assert words in " ".join(result.stdout.split())
    document = json.loads(run("inspect", data, "--format", "json").stdout)
    assert (document["publishing"], document["sound"]) == ([first], False)


def test_a_file_of_another_size_than_listed_is_named(
    digits: Path, tmp_path: Path
) -> None:
    """Its records may be those of another file."""
    data = tmp_path / "data"
    shutil.copytree(digits, data)
    path = sorted(data.glob("*.tfrecord*"))[0]
    listed = path.stat().st_size
    with path.open("ab") as file:
        file.write(frame(b""))
    result = run("inspect", data)
    assert result.exit_code == 1
    words = f"{path.name}: {listed + 16:,} bytes, and manifest.json lists {listed:,}"
    assert words in " ".join(result.stdout.split())


def test_the_first_records_of_each_split(digits: Path) -> None:
    """A limit goes across files; what is not read is not said to be missing."""
    found = inspect_data(digits, limit=25)
    assert {name: split.records for name, split in found.splits.items()} == {
        "test": 20,
        "train": 25,
    }
    assert found.sound
    assert "\nread: the first 25 records of each split\n" in inspection_text(found)
    whole = inspect_data(digits)
    numbers = found.splits["train"].keys["scan"].by_kind["int64"].numbers
    assert numbers is not None
    assert numbers.distinct == dict.fromkeys(range(25), 1)
    assert whole.splits["test"].keys == found.splits["test"].keys


@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB"])
def test_compression_is_told_by_the_bytes(tmp_path: Path, compression: str) -> None:
    """Whatever the name says."""
    data = b"".join(map(frame, rows(30)))
    pack = {"": bytes, "GZIP": gzip.compress, "ZLIB": zlib.compress}[compression]
    path = tmp_path / "records.dat"
    path.write_bytes(pack(data))
    found = inspect_data(path)
    assert found.files[0].compression == compression
    assert found.whole.records == 30
    plain = inspect_data(written(tmp_path / "plain", *rows(30)))
    assert found.whole.keys == plain.whole.keys


@pytest.mark.parametrize("workers", [1, 2])
def test_workers_and_parts_change_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    """One file or several, in one piece or cut, by one process or two."""
    from schemagen.data.inspect import inspecting

    messages = rows(600)
    for at in range(3):
        some = messages[200 * at : 200 * (at + 1)]
        written(tmp_path / f"train-0000{at}-of-00003", *some)
    usual = inspect_data(tmp_path, workers=1)
    monkeypatch.setattr(inspecting, "_TASK_BYTES", 3000)
    parts = inspecting.parts_of
    monkeypatch.setattr(inspecting, "parts_of", lambda path: parts(path, 2000))
    cut = [part for file in usual.files for part in parts(Path(file.path), 2000)]
    assert len(cut) > 6
    assert inspect_data(tmp_path, workers=workers) == usual


@pytest.mark.slow
def test_output_is_the_same_to_the_last_digit_with_any_number_of_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parts of files are the same ones, in whatever order they are done."""
    from schemagen.data.inspect import inspecting

    for at in range(3):
        written(tmp_path / f"train-0000{at}-of-00003", *rows(300, at))
    monkeypatch.setattr(inspecting, "_TASK_BYTES", 3000)
    one, *others = (inspect_data(tmp_path, workers=count) for count in (1, 2, 3))
    for other in others:
        assert inspection_json(other, records=9) == inspection_json(one, records=9)


def test_a_bar_tells_of_every_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told how many there are, and comes to that."""
    from schemagen.data.inspect import inspecting

    path = written(tmp_path / "records", *rows(50))
    told: list[int] = []

    class Bar:
        def __init__(self, title: str, total: int) -> None:
            told.append(-total)

        def __enter__(self) -> Any:
            return told.append

        def __exit__(self, *error: object) -> None:
            pass

    monkeypatch.setattr(inspecting, "Bar", Bar)
    inspect_data(path)
    assert told[0] == -path.stat().st_size
    assert sum(told) == 0


def test_sequence_examples(tmp_path: Path) -> None:
    """The context and the feature lists have tables of their own."""
    messages = [
        sequence_example(
            {"id": ("bytes", [b"%d" % number])},
            {"rgb": [("bytes", [bytes(8)])] * number, "n": [("int64", [1, 2])] * 2},
        )
        for number in range(1, 4)
    ]
    text = text_of(written(tmp_path / "records", *messages))
    assert "3 records of tf.train.SequenceExample, 3 keys" in text
    assert "feature lists, whose lengths and values are those of a step:" in text
    assert re.search(r"\nn    int64  all  2       2       1 \(50%\), 2 \(50%\)\n", text)
    assert re.search(r"\nrgb  bytes  all  1 to 3  1       raw; always 8 bytes", text)
    assert re.search(r"\n  n    int64  2 steps: \[1, 2\] \| \[1, 2\]\n", text)
    mixed = text_of(written(tmp_path / "mixed", *messages, *rows(2)))
    assert "of tf.train.Example, 3 of them SequenceExample, 6 keys" in mixed


ODD: dict[str, Value] = {
    "two kinds": ("int64", [7]),
    "none": ("", []),
    "empty": ("float", []),
    "nan": ("float", [float("nan"), float("inf"), -float("inf"), 1.5]),
    "low": ("int64", [-(2**63), 2**63 - 1]),
    "long": ("int64", list(range(100_000))),
    "é 東京": ("bytes", ["東京".encode()]),
    "k" * 5000: ("bytes", [b"x"]),
    "\x1b[31mred\n": ("bytes", [b"\x1b]0;title\x07", "\u202eright".encode()]),
    "": ("bytes", [b""]),
}


@pytest.mark.parametrize("columns", [60, 80, 160])
def test_odd_values(tmp_path: Path, columns: int) -> None:
    """They are shown, in lines that fit, without a control character."""
    other: dict[str, Value] = {"two kinds": ("float", [0.5]), "none": ("", [])}
    path = written(tmp_path / "records", example(ODD), example(other))
    text = text_of(path, columns=columns)
    assert all(line.isprintable() for line in text.split("\n"))
    title = text.split("\n")[0]
    assert max(width(line) for line in text.split("\n") if line != title) <= columns
    once = " ".join(text.split())
    assert "two kinds is float in 1 and int64 in 1: a reader can ask" in once
    assert "A feature without a list reads as one that is absent." in text
    for part in (
        r"\nnone +- +all +- +never a list\n",
        r"\nempty +float +50% +0\n",
        r"\nlow +int64 +50% +2 ",
        r"\né 東京 +bytes +50% +1 +text, always \"東京\"\n",
        r"k\.\.\. 5,000 characters \.\.\.k",
        r'\n"\\x1b\[31mred\\n"\n? +bytes ',
        r'\n"" +bytes +50% +1 +empty\n',
        r"-9,223,372,036,854,775,808",
        r"\n  nan +float +\[nan, inf, -inf, 1\.5\]\n",
        r"\n  long +int64 +\[0, 1, 2, 3, .* 100,000\n? +values\]\n",
        r'\[10 bytes: 1b 5d 30 3b 74 69 74 6c \.\.\., "\\u202eright"\]',
    ):
        assert re.search(part, text) or re.search(part, once), part


@examples(40)
@given(st.lists(RECORDS, max_size=6), st.lists(st.binary(max_size=30), max_size=3))
def test_anything_is_shown(some: list[Row], others: list[bytes]) -> None:
    """Any records, and what is none, in printable lines and as valid JSON."""
    messages = [*map(serialized, some), *others]
    found = DataStatistics(
        where="any",
        files=(FileStatistics("file", "", 1, "", len(messages)),),
        splits={"": measured(messages)},
    )
    text = inspection_text(found, columns=80, records=9)
    assert all(line.isprintable() for line in text.split("\n"))
    Draft202012Validator(SCHEMA).validate(inspection_data(found, records=9))
    json.dumps(inspection_data(found, records=9), allow_nan=False)


@pytest.mark.parametrize(("keys", "more"), [(0, 0), (1, 0), (1000, 900)])
def test_any_number_of_keys_is_listed(tmp_path: Path, keys: int, more: int) -> None:
    """All are in the table, and a hundred of each record shown."""
    names = [f"key {number:03}" for number in range(keys)]
    message = example({name: ("int64", [1]) for name in names}) if keys else b""
    text = text_of(written(tmp_path / "records", message), records=1)
    noun = "key" if keys == 1 else "keys"
    assert f"\n1 record of tf.train.Example, {keys:,} {noun}\n" in text
    assert all(f"\n{name}  int64  all  1       always 1\n" in text for name in names)
    shown = text[text.index("\nrecord 0 of records, ") :]
    assert shown.count("int64  1\n") == keys - more
    assert ("  no keys\n" in shown) == (not keys)
    assert (f"  ... {more} keys more\n" in shown) == bool(more)


def test_many_splits_are_described_together(tmp_path: Path) -> None:
    """Files of any names are splits of their own; one table is enough for them."""
    for at in range(30):
        written(tmp_path / f"part{at:02}.tfrecord", *rows(3, at))
    text = text_of(tmp_path)
    assert "\nall splits: 90 records of tf.train.Example, 3 keys\n" in text
    assert "\n... 10 splits more\n" in text
    assert text.count("\nlabel ") == 1


def test_damage_is_told_and_passed_over(tmp_path: Path) -> None:
    """Exit code 1; everything else is shown all the same."""
    data = bytearray(written(tmp_path / "records", *rows(9)).read_bytes())
    data[len(frame(rows(9)[0])) + 20] ^= 1
    (tmp_path / "records").write_bytes(data + b"rest")
    result = run("inspect", tmp_path / "records")
    assert result.exit_code == 1
    assert "8 records of tf.train.Example, 3 keys" in result.stdout
    assert re.search(r"records: record 1 at byte \d+: found ", result.stdout)
    assert re.search(r"records: record 9 at byte \d+: found ", result.stdout)
    last = result.stdout.splitlines()[-1]
    assert last == f"`schemagen verify {tmp_path / 'records'}` says more."


def test_a_hundred_damages_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten of a file are told."""
    frames = [bytearray(frame(row)) for row in rows(100)]
    for each in frames:
        each[20] ^= 1
    path = tmp_path / "records"
    path.write_bytes(b"".join(frames) + frame(rows(1)[0]))
    found = inspect_data(path)
    assert (found.damaged, len(found.files[0].damages)) == (100, 10)
    assert "records: 90 more such places\n" in inspection_text(found)
    from schemagen.data.inspect import inspecting

    parts = inspecting.parts_of
    monkeypatch.setattr(inspecting, "parts_of", lambda path: parts(path, 2000))
    assert len(list(inspecting.parts_of(path))) > 2
    assert inspect_data(path).damaged == 100


@pytest.mark.parametrize(("count", "head"), [(4, "text "), (5, "text, 5 different: ")])
def test_four_texts_are_listed_and_of_more_the_first(
    tmp_path: Path, count: int, head: str
) -> None:
    """Each is there twice, with its share."""
    some = [
        example({"t": ("bytes", [b"%d" % (at % count)])}) for at in range(2 * count)
    ]
    text = text_of(written(tmp_path / "records", *some))
    assert f'{head}"0" (' in text
    assert (", ..." in text) == (count > 4)


@pytest.mark.parametrize(
    ("data", "said"),
    [(b"", "file: an empty file"), (gzip.compress(b"", mtime=0), "file: no records")],
)
def test_a_file_without_records_is_named(
    tmp_path: Path, data: bytes, said: str
) -> None:
    """It is no damage."""
    (tmp_path / "file").write_bytes(data)
    result = run("inspect", tmp_path / "file")
    assert said in " ".join(result.stdout.split())
    assert result.exit_code == 0


def test_what_the_manifest_says_is_held_against_the_files(
    digits: Path, tmp_path: Path
) -> None:
    """Fewer records, files that are missing, files that are not listed."""
    copy = shutil.copytree(digits, tmp_path / "copy")
    (copy / "train-00001-of-00003.tfrecord").unlink()
    written(copy / "train-00002-of-00003.tfrecord", *rows(2))
    written(copy / "train-00003-of-00004.tfrecord", *rows(2))
    found = inspect_data(copy)
    assert not found.sound
    text = inspection_text(found)
    assert "not in manifest.json, and not read: train-00003-of-00004.tfrecord" in text
    assert "train-00001-of-00003.tfrecord: found No such file or directory" in text
    assert "2 records, and manifest.json lists 20" in " ".join(text.split())


def test_a_damaged_manifest_stops_nothing(digits: Path, tmp_path: Path) -> None:
    """Names tell the splits; the exit code is 1."""
    copy = shutil.copytree(digits, tmp_path / "copy")
    path = copy / "manifest.json"
    path.write_text(path.read_text().replace("digit", "digut", 1))
    result = run("inspect", copy, "--split", "train")
    assert result.exit_code == 1
    assert "60 records of tf.train.Example" in result.stdout
    said = "".join(result.stdout.split())  # long paths are broken to fit into lines
    assert "manifest.json:notawholemanifest" in said


def test_nothing_to_inspect(tmp_path: Path) -> None:
    """Exit code 2, and the reason as a finding."""
    result = run("inspect", tmp_path / "missing")
    assert result.exit_code == 2
    where = tmp_path / "missing"
    assert result.stderr == f"{where}:1:1: SG441 no such directory or file\n"
    result = run("inspect", tmp_path / "missing", "--format", "json")
    assert result.exit_code == 2
    assert json.loads(result.stdout)["findings"][0]["rule"] == "SG441"


def schema_keys(found: Any, schema: dict[str, Any]) -> None:
    """Assert that objects have every key that the schema knows of them."""
    if "$ref" in schema:
        schema = SCHEMA["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    for choice in schema.get("anyOf", []):
        if found is not None and "$ref" in choice:
            schema_keys(found, choice)
    if isinstance(found, dict) and "required" in schema and "oneOf" not in schema:
        assert set(found) == set(schema["properties"])
        for key, value in found.items():
            schema_keys(value, schema["properties"][key])
    elif isinstance(found, list):
        for each in found:
            schema_keys(each, schema["items"])


@pytest.mark.parametrize("what", ["digits", "odd", "steps", "damaged"])
def test_json_has_the_documented_shape(digits: Path, tmp_path: Path, what: str) -> None:
    """No key is missing and none is undocumented; what is no number is text."""
    steps = sequence_example({"a": ("int64", [1])}, {"s": [("float", [0.5])] * 3})
    path = {
        "digits": lambda: digits,
        "odd": lambda: written(tmp_path / "odd", example(ODD)),
        "steps": lambda: written(tmp_path / "steps", steps),
        "damaged": lambda: written(tmp_path / "damaged", b"\x08\x01", *rows(2)),
    }[what]()
    if what == "damaged":
        path.write_bytes(path.read_bytes()[:-3])
    result = run("inspect", path, "--format", "json")
    assert result.exit_code == (1 if what == "damaged" else 0)
    data = json.loads(result.stdout, parse_constant=pytest.fail)
    Draft202012Validator(SCHEMA).validate(data)
    schema_keys(data, SCHEMA)
    assert result.stdout.isascii()


def test_the_schema_is_one_and_refuses() -> None:
    """By the rules of its draft; another shape is not valid."""
    Draft202012Validator.check_schema(SCHEMA)
    data = inspection_data(DataStatistics(where="x", files=(), splits={}), records=0)
    validator = Draft202012Validator(SCHEMA)
    assert validator.is_valid(data)
    assert not validator.is_valid({**data, "version": 2})
    assert not validator.is_valid({**data, "more": 1})


def test_json_counts_what_is_there(digits: Path) -> None:
    """The numbers of the values, not merely their shape."""
    data = json.loads(inspection_json(inspect_data(digits), records=2))
    train = data["splits"][1]
    assert (train["split"], train["records"], train["record"]) == ("train", 60, "digit")
    (scan,) = [key for key in train["keys"] if key["key"] == "scan"]
    (kind,) = scan["kinds"]
    assert kind["numbers"]["mean"] == 29.5
    assert sum(each["count"] for each in kind["numbers"]["histogram"]) == 60
    assert len(train["samples"]) == 2
    assert train["samples"][0]["features"][0] == {
        "key": "digit",
        "kind": "int64",
        "length": 1,
        "values": [0],
    }


def test_the_output_is_the_same_in_a_pipe(
    digits: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """80 columns, if the environment names no other width."""
    usual = run("inspect", digits).stdout
    assert usual == text_of(digits, columns=80)
    monkeypatch.setenv("COLUMNS", "120")
    assert run("inspect", digits).stdout == text_of(digits, columns=120)
