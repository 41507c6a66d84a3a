"""JSON is the dataclasses: what they have is printed, and the schema describes it."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
import schemagen
from command_line import run
from schemagen.data.inspect.document import DataDocument, document_of
from schemagen.data.statistics import numbers
from schemagen.data.statistics.numbers import Measure

from .documents import SCHEMA, document, facts_of, printed, splits_of
from .messages import example, sequence_example, write_file


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two splits of records that drift, and of records with steps, some of them twice."""
    for split, shift in (("train", 0), ("test", 30)):
        some = [
            example({"id": at, "x": at + 0.5 + shift, "t": "a" * (at % 3)})
            for at in range(40)
        ]
        steps = [sequence_example({"id": at}, {"n": [[at]] * 2}) for at in range(4)]
        write_file(tmp_path / f"{split}-00000-of-00001", [*some, *some[:2], *steps])
    return tmp_path


def printed_names(cls: Any) -> set[str]:
    """Return the names of the fields that are not left out."""
    fields = dataclasses.fields(cls)
    return {each.name for each in fields if not each.metadata.get("exclude")}


def check(value: Any, found: Any, checked: set[str]) -> None:
    """Compare JSON with the value that it is of, as deep as JSON has its shape.

    Args:
        value: the value.
        found: its JSON.
        checked: gets the names of the classes that were compared.
    """
    if dataclasses.is_dataclass(value) and isinstance(found, dict):
        names = printed_names(value)
        if not names <= found.keys():
            assert len(found) < len(names), type(value)  # it is shown as something else
            return
        checked.add(type(value).__name__)
        for name in names:
            check(getattr(value, name), found[name], checked)
        described = SCHEMA["$defs"].get(type(value).__name__, SCHEMA)
        assert (
            found.keys() == described["properties"].keys() == {*described["required"]}
        )
        assert all(each["description"] for each in described["properties"].values())
    elif isinstance(value, dict) and isinstance(found, list):
        assert len(found) == len(value)
        for each, shown in zip(value.values(), found, strict=True):
            if dataclasses.is_dataclass(each):
                check(each, shown, checked)
    elif isinstance(value, tuple | list) and isinstance(found, list):
        for each, shown in zip(value, found, strict=True):
            check(each, shown, checked)
    elif type(value) in (int, str, bool):
        assert found == value


def test_every_field_is_printed_and_described(data: Path) -> None:
    """But for those that say that they are left out."""
    profile = schemagen.inspect(data).profile
    value = document_of(profile, records=2)
    checked: set[str] = set()
    check(value, document(data, "--records", "2"), checked)
    assert checked >= {
        *("DataDocument", "FileStatistics", "SplitRecords", "RecordStatistics"),
        *("KeyStatistics", "StepsStatistics", "KindStatistics", "NumericStatistics"),
        *("BytesValues", "SampledRecord", "FeatureValues", "Duplicate", "Position"),
        *("Difference", "Fact"),
    }
    assert isinstance(value, DataDocument)


def test_two_datasets_are_the_same_document_with_what_differs(data: Path) -> None:
    """Their splits are in pairs; only records that are twice in the second one are marked."""
    one, other = data / "train-00000-of-00001", data / "test-00000-of-00001"
    code, found = printed("diff", one, other)
    assert (code, found["diff"]["same"]) == (1, False)
    assert {each["mark"] for each in found["duplicates"]} == {"duplicates", ""}
    assert document(one)["diff"] is None
    assert found["data"] == [one.name, other.name]
    assert [each["split"] for each in found["splits"]] == [
        f"{one.name} train",
        f"{other.name} test",
    ]
    assert [each["records"] for each in splits_of(found)] == [46, 46]


def test_a_further_measure_is_shown_everywhere(
    data: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It takes a row of the table: JSON, text and the page have it."""
    more = Measure("spread", lambda found: 42.25, in_words=True)
    monkeypatch.setattr(numbers, "MEASURES", (*numbers.MEASURES, more))
    monkeypatch.setitem(numbers.BY_NAME, more.name, more)
    monkeypatch.setattr("schemagen.data.profile.words.MEASURES", numbers.MEASURES)
    facts = facts_of(document(data), key="x", measure="spread", of="values")
    assert [(each["split"], each["value"]) for each in facts] == [
        ("train", 42.25),
        ("test", 42.25),
    ]
    assert "spread 42.25" in run("inspect", data).stdout
    page = tmp_path / "page.html"
    assert run("inspect", data, "--html", page).exit_code == 0
    assert ">spread<" in page.read_text("utf-8").replace("Spread", "spread")
