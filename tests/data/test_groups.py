"""Groups of records, such as those of a speaker, that are in two splits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pytest
import schemagen
from click.testing import Result
from command_line import run
from schemagen import Label, Text
from schemagen.runtime.shared.errors import DatasetError

from .conftest import Limits
from .documents import rounded
from .messages import example, record, sequence_example, write_data, write_file

if TYPE_CHECKING:
    from conftest import PackageOf

NAMES = ("anna", "ben", "carl", "dora", "emil", "fay")
SPLITS = {"train": (0, 1, 2, 3, 4), "test": (2, 3, 4, 5)}
COUNTS = {"train": 100, "test": 60}


def rows(split: str) -> list[dict[str, Any]]:
    """Return records of a few speakers in turn; each seventh has none."""
    found: list[dict[str, Any]] = []
    for at in range(COUNTS[split]):
        speaker = SPLITS[split][at % len(SPLITS[split])]
        row: dict[str, Any] = {"number": speaker - 1, "x": at + len(split) / 8}
        if at % 7:
            row["speaker"] = NAMES[speaker]
        found.append(row)
    return found


def concerned(split: str = "test") -> list[int]:
    """Return the records whose speaker is in both splits."""
    return [
        at
        for at, row in enumerate(rows(split))
        if row.get("speaker") in ("carl", "dora", "emil")
    ]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two splits of two files each, without a schema."""
    for split in SPLITS:
        messages = [example(row) for row in rows(split)]
        half = len(messages) // 2
        for shard, some in enumerate((messages[:half], messages[half:])):
            write_file(tmp_path / "data" / f"{split}-{shard:05d}-of-00002", some)
    return tmp_path / "data"


def inspect(data: Path, *groups: str, more: tuple[str, ...] = ()) -> Result:
    """Inspect data by groups, and fail on leakage."""
    options = [each for name in groups for each in ("--group", name)]
    return run("inspect", data, *options, "--fail-on", "leakage", *more)


def shared(done: Result) -> list[tuple[Any, ...]]:
    """Return the facts about values in two splits, without their notes."""
    return [
        (each["subject"], each["category"], each["value"], each["unit"], each["mark"])
        for each in json.loads(done.stdout)["facts"]
        if each["measure"] == "shared"
    ]


def test_values_that_are_in_two_splits_are_leakage(data: Path) -> None:
    """How many, which, and in how many records of the later split."""
    done = inspect(data, "speaker", more=("--format", "json"))
    assert done.exit_code == 1
    records = len(concerned())
    speakers = [rows("test")[at]["speaker"] for at in concerned()]
    counts = {name: speakers.count(name) for name in ("carl", "dora", "emil")}
    found = shared(done)
    assert found[:2] == [
        ("speaker", None, 3, "values", "leakage"),
        ("speaker", None, records, "records", ""),
    ]
    assert {each[1]: each[2] for each in found[2:]} == counts
    assert [each[2] for each in found[2:]] == sorted(counts.values(), reverse=True)
    [finding] = json.loads(done.stdout)["findings"]
    assert finding["rule"] == "SG541"
    assert finding["data"]["records"] == records
    assert finding["data"]["of"] == COUNTS["test"]
    assert finding["data"]["files"] == 2


def test_text_and_finding_name_values_and_places(data: Path) -> None:
    done = inspect(data, "speaker")
    assert "values that are in train" in done.stdout
    assert "carl" in done.stdout.partition("Duplicates\n")[2]
    assert "field 'speaker': values of 'train' are in 'test' too" in done.stderr
    assert f"in {len(concerned())} records" in done.stderr
    first = concerned()[0]
    place = f"test-00000-of-00002: record {first}"
    assert place in done.stderr
    name = rows("test")[first]["speaker"]
    before = next(
        at for at, row in enumerate(rows("train")) if row.get("speaker") == name
    )
    assert f"record {before} of train-00000-of-00002" in done.stderr


def test_integers_and_several_groups(data: Path) -> None:
    """Negative ones, too; without a group they are not compared."""
    done = inspect(data, "number", "speaker", more=("--format", "json"))
    assert {each[0] for each in shared(done)} == {"number", "speaker"}
    numbers = {each[1] for each in shared(done) if each[0] == "number"}
    assert numbers == {None, "1", "2", "3"}
    assert inspect(data).exit_code == 0
    write_file(
        data / "test-00001-of-00002",
        [example({"number": -1}), example({"speaker": "fay"})],
    )
    write_file(data / "test-00000-of-00002", [])
    done = inspect(data, "number", more=("--format", "json"))
    assert ("number", "-1", 1, "records", "") in shared(done)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_workers_and_parts_change_nothing(
    data: Path, limits: Limits, workers: str
) -> None:
    """A deviation may differ in its last digit."""
    expected = inspect(data, "speaker", more=("--format", "json"))
    limits.task(100)
    limits.part(1000)
    more = ("--format", "json", "--workers", workers)
    found = inspect(data, "speaker", more=more)
    first, second = (json.loads(each.stdout) for each in (found, expected))
    assert rounded(first) == rounded(second)


def test_one_split_is_not_judged(data: Path) -> None:
    done = inspect(data, "speaker", more=("--split", "test"))
    assert done.exit_code == 0
    assert "not judged: leakage, which need two splits" in done.stderr


def test_groups_in_one_split_each_pass(data: Path) -> None:
    for shard in range(2):
        some = [example({"speaker": "fay", "x": float(at)}) for at in range(40)]
        write_file(data / f"test-{shard:05d}-of-00002", some)
    assert inspect(data, "speaker").exit_code == 0


def test_a_schema_names_fields_and_classes(tmp_path: Path) -> None:
    """The field's name, or its key."""
    person = record(
        "Person",
        {
            "who": Annotated[int, Label(classes=NAMES, key="person/id")],
            "site": Annotated[str, Text(role="info")],
        },
    )
    splits = {
        split: [
            example({"person/id": SPLITS[split][at % 4], "site": split})
            for at in range(40)
        ]
        for split in SPLITS
    }
    data = write_data(tmp_path / "data", person, splits, shards=2)
    for name in ("who", "person/id"):
        done = inspect(data, name, more=("--format", "json"))
        assert {each[1] for each in shared(done)} == {None, "carl", "dora"}
    assert inspect(data, "site").exit_code == 0
    page = tmp_path / "page.html"
    done = inspect(data, "who", more=("--html", str(page)))
    assert done.exit_code == 1
    assert "values of who" in page.read_text()


def test_unknown_groups_are_refused_with_the_names(data: Path) -> None:
    done = inspect(data, "speakr")
    assert done.exit_code == 2
    assert "no field or key 'speakr'; there are: number, speaker and x" in done.stderr
    assert "did you mean 'speaker'?" in done.stderr


def test_lists_floats_and_steps_are_no_groups(data: Path, tmp_path: Path) -> None:
    assert "'x' has lists or floats" in inspect(data, "x").stderr
    lists = [example({"several": [1, 2]}), example({"several": 1})]
    write_file(tmp_path / "lists" / "train-00000-of-00001", lists)
    assert (
        "'several' has lists or floats" in inspect(tmp_path / "lists", "several").stderr
    )
    steps = [sequence_example({"one": 1}, {"words": ["a", "b"]})]
    write_file(tmp_path / "steps" / "train-00000-of-00001", steps)
    assert "'words' has lists or floats" in inspect(tmp_path / "steps", "words").stderr


def test_python_takes_one_group_or_several(data: Path) -> None:
    for group in ("speaker", ["speaker"]):
        [fact] = [
            each
            for each in schemagen.inspect(data, group=group).facts
            if each.mark == "leakage"
        ]
        assert (fact.subject, fact.value, fact.split) == ("speaker", 3, "test")
    with pytest.raises(DatasetError, match="no field or key 'place'"):
        schemagen.inspect(data, group="place")


_OF_CUSTOMERS = """
from typing import Annotated
from schemagen import Label, Record

class Order(Record):
    customer: int
    age: float
    amount: float
    returned: Annotated[int, Label(num_classes=2)]
"""


def test_records_of_a_group_count_as_one(package_of: PackageOf, tmp_path: Path) -> None:
    """Splits by group differ by chance in what is one value a group; rows may differ more."""
    write = package_of(_OF_CUSTOMERS).module("order", "serializer").write_dataset
    random = np.random.default_rng(0)
    for split, customers, moved in (
        ("train", range(12), 0),
        ("test", range(12, 16), 3),
    ):
        rows = []
        for customer in customers:
            age, returned = random.normal(40, 12), int(random.integers(2))
            rows += [
                {
                    "customer": customer,
                    "age": age,
                    "amount": random.normal(moved),
                    "returned": returned,
                }
                for _ in range(200)
            ]
        write(rows, tmp_path, split)
    judged = ("--fail-on", "drift,target-leakage", "--format", "json")

    def found(*options: str) -> set[tuple[str, str]]:
        done = run("inspect", tmp_path, *options, *judged)
        return {
            (each["rule"], each["data"]["field"])
            for each in json.loads(done.stdout)["findings"]
        }

    assert {("SG543", "age"), ("SG543", "amount"), ("SG545", "age")} <= found()
    assert not found("--group", "customer")


def test_many_groups_show_what_moves(package_of: PackageOf, tmp_path: Path) -> None:
    write = package_of(_OF_CUSTOMERS).module("order", "serializer").write_dataset
    random = np.random.default_rng(0)
    for split, customers, moved in (("train", 400, 0), ("test", 100, 2)):
        rows = [
            {
                "customer": len(split) * 1000 + at // 2,
                "age": random.normal(40, 12),
                "amount": random.normal(moved),
                "returned": at % 2,
            }
            for at in range(2 * customers)
        ]
        write(rows, tmp_path, split)
    done = run("inspect", tmp_path, "--group", "customer", "--fail-on", "drift")
    assert "field 'amount'" in done.stderr
    assert "field 'age'" not in done.stderr
