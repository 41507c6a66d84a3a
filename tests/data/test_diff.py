"""Two datasets compared: schemas, counts, distributions, records."""

from __future__ import annotations

import html
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fsspec
import pytest
from click.testing import Result
from command_line import make_project, run
from digit_rows import rows
from manifests import (
    count_one_more,
    edited_manifest,
    reverse_classes,
    without_last_class,
)
from tfrecord_files import flip_bit

from data.documents import printed
from data.messages import example, features, sequence_example, sized, write_file
from data.report.pages import rows_of
from data.test_fail_on import record
from generated.digit.serializer import write_dataset


def diff(one: Path, other: Path | str, *more: str) -> tuple[int, dict[str, Any]]:
    """Return the exit code of a comparison, what differs, and the differences."""
    code, found = printed("diff", one, other, *more)
    entries = ("differences", "findings")
    return code, {**found["diff"], **{name: found[name] for name in entries}}


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    """Two equal datasets without manifests."""
    for name in ("v1", "v2"):
        for split, start in (("train", 0), ("test", 100)):
            some = [record(start + at) for at in range(60)]
            write_file(tmp_path / name / f"{split}-00000-of-00001", some)
    return tmp_path / "v1", tmp_path / "v2"


def test_equal_datasets_do_not_differ(two: tuple[Path, Path]) -> None:
    """Whatever their files are named and how many there are."""
    one, other = two
    code, found = diff(one, other)
    assert (code, found["same"], found["schema"]) == (0, True, None)
    assert [split["records"] for split in found["splits"]] == [[60, 60], [60, 60]]
    assert "No differences." in run("diff", one, other).stdout


def test_records_that_one_lacks_are_counted_and_named(two: tuple[Path, Path]) -> None:
    """By all of their bytes."""
    one, other = two
    some = [record(at) for at in (*range(55), *range(200, 207))]
    write_file(other / "train-00000-of-00001", some)
    code, found = diff(one, other)
    assert code == 1
    train, test = found["splits"]
    assert (train["split"], train["records"], train["only"]) == (
        "train",
        [60, 62],
        [5, 7],
    )
    for own, count in zip(train["unmatched"], (5, 7), strict=True):
        numbers = [each["place"]["record"] for each in own]
        assert numbers == [*range(55, 55 + count)]
        assert {each["key_value"] for each in own} == {None}
    assert test["only"] == [0, 0]
    assert "only in v1: record 55" in run("diff", one, other).stdout


def test_a_new_key_is_named(
    two: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In text of any width, which keeps all columns of its tables."""
    one, other = two
    some = [record(at, surge=1.5) for at in range(60)]
    write_file(other / "train-00000-of-00001", some)
    _, found = diff(one, other)
    assert found["keys"] == [[], ["surge"]]
    for columns in ("60", "80", "200"):
        monkeypatch.setenv("COLUMNS", columns)
        text = run("diff", one, other, "--key", "id").stdout
        assert "surge: only in v2." in text
        heading = next(line for line in text.splitlines() if line.startswith("split"))
        assert heading.split() == [
            "split",
            "dataset",
            "records",
            "only",
            "here",
            "changed",
        ]
        assert "train  v2       60       0          60" in text


def test_a_key_finds_records_that_were_changed(two: tuple[Path, Path]) -> None:
    """They are in both, with other bytes."""
    one, other = two
    some = [record(at, size=0.0) if at < 4 else record(at) for at in range(59)]
    write_file(other / "train-00000-of-00001", some)
    _, found = diff(one, other, "--key", "id")
    assert found["splits"][0]["only"] == [1, 0]
    [lacking] = found["splits"][0]["unmatched"][0]
    assert (lacking["key_value"], lacking["place"]["record"]) == ("000059", 59)
    changes = found["splits"][0]["changes"]
    assert (changes["records"], changes["compared"], changes["equal"]) == (4, 4, 0)
    assert changes["fields"] == [{"field": "size", "key": "size", "records": 4}]
    places = [
        (each["key_value"], each["before"]["record"], each["after"]["record"])
        for each in changes["examples"]
    ]
    assert places == [(f"{at:06}", at, at) for at in range(4)]
    text = " ".join(run("diff", one, other, "--key", "id").stdout.split())
    assert "train: only in v1: 000059 (record 59 of train-00000-of-00001)" in text
    wrong = run("diff", one, other, "--key", "kind")
    assert wrong.exit_code == 2
    assert "do not identify records" in wrong.stderr


def test_a_split_that_one_lacks_and_a_drift(two: tuple[Path, Path]) -> None:
    """A shifted column is a difference, with the size of its effect."""
    one, other = two
    (other / "test-00000-of-00001").unlink()
    some = [record(at, size=float(at % 3)) for at in range(60)]
    write_file(other / "train-00000-of-00001", some)
    code, found = diff(one, other)
    assert code == 1
    assert {s["split"]: s["records"] for s in found["splits"]}["test"] == [60, None]
    first = found["differences"][0]
    assert first["column"] == {"name": "size", "key": "size"}
    assert first["splits"] == ["v1 train", "v2 train"]


def test_the_schema_comes_first(tmp_path: Path) -> None:
    """What would keep readers of the one from reading the other."""
    for name in ("v1", "v2"):
        write_dataset(rows(40), tmp_path / name, "train")
    code, found = diff(tmp_path / "v1", tmp_path / "v2")
    assert (code, found["schema"]) == (0, [])
    with edited_manifest(tmp_path / "v2") as manifest:
        reverse_classes(manifest["spec"])
    code, found = diff(tmp_path / "v1", tmp_path / "v2")
    assert code == 1
    assert found["schema"][0]["rule"] == "SG221"
    assert "SG221" in run("diff", tmp_path / "v1", tmp_path / "v2").stdout


def older_and_newer(directory: Path) -> tuple[Path, Path]:
    """Two datasets; the schema of the second one has a class more, at the end."""
    for name in ("old", "new"):
        write_dataset(rows(600), directory / name, "train")
    with edited_manifest(directory / "old") as manifest:
        without_last_class(manifest["spec"])
    return directory / "old", directory / "new"


def test_an_added_class_is_named(tmp_path: Path) -> None:
    """It is a difference; the newer schema has the names, in either order."""
    old, new = older_and_newer(tmp_path)
    code, found = diff(old, new)
    assert (code, found["same"], found["schema"]) == (1, False, [])
    assert found["classes"] == [{"field": "digit", "only": [[], ["nine"]]}]
    page = tmp_path / "page.html"
    text = run("diff", old, new, "--html", page).stdout
    assert "digit: class nine only in the schema of new." in text
    assert "No differences." not in text
    assert '<li class="tone-bad"><a href="#diff">classes of digit' in page.read_text()
    some = [each for each in rows(600) if each["digit"] != 9]
    write_dataset(some, new, "train", overwrite=True)
    for pair in ((old, new), (new, old)):
        _, found = diff(*pair)
        [share] = [e for e in found["differences"] if e["column"]["key"] == "digit"]
        assert share["category"] == "nine"


def with_other_label(
    directory: Path, changed: Callable[[dict[str, Any]], dict[str, Any]]
) -> tuple[Path, Path]:
    """Two datasets of equal records; the second one declares its label otherwise."""
    for each in ("old", "new"):
        write_dataset(rows(40), directory / each, "train")
    with edited_manifest(directory / "new") as manifest:
        fields = manifest["spec"]["fields"]
        [label] = [each for each in fields if each["name"] == "digit"]
        label |= changed(label)
    return directory / "old", directory / "new"


def test_a_renamed_class_is_no_difference(tmp_path: Path) -> None:
    """The newer schema says what it was called, in either order."""
    old, new = with_other_label(
        tmp_path,
        lambda label: {
            "classes": ["null", *label["classes"][1:]],
            "renamed": [["zero", "null"]],
        },
    )
    code, found = diff(old, new)
    assert (code, found["same"], found["classes"]) == (0, True, [])
    assert diff(new, old)[1]["classes"] == []


@pytest.mark.parametrize(
    ("count", "only"),
    [
        (10, []),
        (12, [{"field": "digit", "only": [[], ["10", "11"]]}]),
        (8, [{"field": "digit", "only": [["eight", "nine"], []]}]),
    ],
)
def test_names_and_ids_of_classes_are_not_compared(
    tmp_path: Path, count: int, only: list[Any]
) -> None:
    """Only how many there are."""
    old, new = with_other_label(
        tmp_path, lambda _: {"classes": [], "num_classes": count}
    )
    assert diff(old, new)[1]["classes"] == only


def test_a_renamed_field_has_the_same_key(tmp_path: Path) -> None:
    """Also if its classes differ."""
    old, new = with_other_label(
        tmp_path,
        lambda label: {
            "name": "numeral",
            "classes": [*label["classes"], "ten"],
            "num_classes": 11,
        },
    )
    _, found = diff(old, new)
    assert found["keys"] == [[], []]
    assert found["classes"] == [{"field": "numeral", "only": [[], ["ten"]]}]


def test_a_key_of_a_record_that_is_matched_twice_is_a_difference(
    two: tuple[Path, Path],
) -> None:
    """The second one of equal identifiers is compared with the other second one."""
    for data, more in zip(two, ({}, {"surge": 1.5}), strict=True):
        some = [*map(record, range(60)), record(0, **more)]
        write_file(data / "train-00000-of-00001", some)
    code, found = diff(*two, "--key", "id")
    assert (code, found["same"], found["keys"]) == (1, False, [[], ["surge"]])
    [change] = found["splits"][0]["changes"]["examples"]
    assert (change["before"]["record"], change["after"]["record"]) == (60, 60)


def test_how_often_a_record_is_there_counts(two: tuple[Path, Path]) -> None:
    """Two datasets of as many records may repeat other ones."""
    for data, again in zip(two, (0, 1), strict=True):
        some = [*map(record, range(60)), record(again)]
        write_file(data / "train-00000-of-00001", some)
    code, found = diff(*two)
    assert (code, found["splits"][0]["only"]) == (1, [1, 1])
    assert [
        each["place"]["record"]
        for own in found["splits"][0]["unmatched"]
        for each in own
    ] == [60, 60]


def test_an_error_is_at_the_data_that_has_it(two: tuple[Path, Path]) -> None:
    """Either of the two may be wrong."""
    for pair in ((two[0], two[1] / "no"), (two[1] / "no", two[0])):
        done = run("diff", *pair)
        assert done.exit_code == 2
        assert done.stderr.startswith(f"{two[1] / 'no'}: SG441 no such")


def test_single_splits_are_compared_whatever_their_names(
    two: tuple[Path, Path],
) -> None:
    """As of two files."""
    one, other = two
    shutil.copy(one / "train-00000-of-00001", other / "more.tfrecord")
    code, found = diff(one / "train-00000-of-00001", other / "more.tfrecord")
    assert (code, found["splits"][0]["records"]) == (0, [60, 60])


def test_a_page_shows_both(two: tuple[Path, Path], tmp_path: Path) -> None:
    """With the tables of the comparison, and plots of both."""
    one, other = two
    write_file(other / "train-00000-of-00001", [record(at) for at in range(50)])
    done: Result = run("diff", one, other, "--html", tmp_path / "page.html")
    assert done.exit_code == 1, done.output
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "Schemas and records" in page
    assert 'id="findings"' not in page
    assert "<title>v1 and v2 – what differs</title>" in page
    assert '<li class="tone-bad"><a href="#diff">train: 10 records only in v1.' in page
    labels = re.findall(r'class="swatch s\d"></span>([^<]+)</th>', page)
    assert labels == ["v1 train", "v2 train", "v1 test", "v2 test"]
    assert "<dt>records</dt>" not in page


def test_a_page_of_equal_datasets_says_so(
    two: tuple[Path, Path], tmp_path: Path
) -> None:
    assert run("diff", *two, "--html", tmp_path / "page.html").exit_code == 0
    page = (tmp_path / "page.html").read_text("utf-8")
    assert '<li class="tone-good"><a href="#diff">No records differ.</a>' in page


@pytest.mark.parametrize(
    ("train", "expected"),
    [
        ([*range(1, 60), 200, 201], "1 record only in v1, 2 only in v2"),
        ([*range(60), 0], "1 record only in v2"),
        (None, "only in v1"),
    ],
)
def test_a_page_says_how_splits_differ(
    train: list[int] | None, expected: str, two: tuple[Path, Path], tmp_path: Path
) -> None:
    """In a sentence for each split."""
    path = two[1] / "train-00000-of-00001"
    path.unlink()
    if train is not None:
        write_file(path, [record(at) for at in train])
    run("diff", *two, "--html", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert f">train: {expected}.<" in page


def test_a_page_counts_changed_records(two: tuple[Path, Path], tmp_path: Path) -> None:
    some = [record(at, size=0.0) if at < 4 else record(at) for at in range(59)]
    write_file(two[1] / "train-00000-of-00001", some)
    run("diff", *two, "--key", "id", "--html", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert ">train: 1 record only in v1, 4 changed.<" in page


def changed(
    two: tuple[Path, Path],
    before: dict[str, Any],
    after: dict[str, Any],
    compression: str = "",
) -> list[tuple[str, str | None, str | None]]:
    """Return the field, and the values in both datasets, of what changed in a record."""
    for data, values in zip(two, (before, after), strict=True):
        some = [record(at) for at in range(60)]
        some[7] = record(7, **values)
        write_file(data / "train-00000-of-00001", some, compression)
    _, found = diff(*two, "--key", "id")
    changes = found["splits"][0]["changes"]
    assert (changes["records"], changes["equal"]) == (1, 0)
    [example] = changes["examples"]
    assert example["key_value"] == "000007"
    assert [each["field"] for each in changes["fields"]] == [
        each["field"] for each in example["fields"]
    ]
    return [
        (each["field"], each["before"], each["after"]) for each in example["fields"]
    ]


@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB", "ZSTD"])
def test_values_that_changed_are_side_by_side(
    two: tuple[Path, Path], compression: str
) -> None:
    """Also of compressed files, in which records have to be found again."""
    new = {"size": 2.5, "kind": b"cow"}
    assert changed(two, {"size": 1.0, "kind": b"cat"}, new, compression) == [
        ("kind", "cat", "cow"),
        ("size", "1", "2.5"),
    ]
    text = run("diff", *two, "--key", "id").stdout
    assert "- train: size: 1 of 1 changed record\n" in text
    table = text.split("Changed values of train\n\n")[1].split("\n\n")[0]
    assert [line.split() for line in table.splitlines()] == [
        ["id", "field", "v1", "v2"],
        ["000007", "kind", "cat", "cow"],
        ["000007", "size", "1", "2.5"],
    ]


_LONG = b"a" * 100

_LISTS = {"list": [*range(500)]}


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ({}, {"new": 1}, ("new", None, "1")),
        ({"old": b"x"}, {"old": None}, ("old", "x", None)),
        ({"n": 3}, {"n": 3.0}, ("n", "int64", "float")),
        ({"n": 0.0}, {"n": -0.0}, ("n", "0.0", "-0.0")),
        ({"n": 1.0}, {"n": 1.0000001}, ("n", "1", "1.0000001")),
        ({"n": []}, {"n": None}, ("n", "[]", None)),
        (
            {"text": _LONG + b"bc"},
            {"text": _LONG + b"bd"},
            ("text", 'byte 101: "c"', 'byte 101: "d"'),
        ),
        (
            {"data": bytes(range(200))},
            {"data": bytes([*range(199), 0])},
            ("data", "byte 199: c7 (1 byte)", "byte 199: 00 (1 byte)"),
        ),
        (
            _LISTS,
            {"list": [*range(499), 7]},
            ("list", "value 499: 499", "value 499: 7"),
        ),
    ],
)
def test_values_that_differ_have_texts_that_do(
    two: tuple[Path, Path],
    before: dict[str, Any],
    after: dict[str, Any],
    shown: tuple[str, str | None, str | None],
) -> None:
    """The rest of long values is compared too, all digits, and kinds."""
    assert changed(two, before, after) == [shown]


def test_nan_is_equal_to_nan(two: tuple[Path, Path]) -> None:
    """In records that differ in another value."""
    nan = {"n": [float("nan"), 1.0]}
    assert changed(two, {**nan, "x": 1}, {**nan, "x": 2}) == [("x", "1", "2")]


def test_steps_are_compared(tmp_path: Path) -> None:
    """Their number, and the values of each."""
    found = []
    for lists in ([[1, 2], [3]], [[1], [2, 3]], [[1, 2], [3], []]):
        for name, steps in (("v1", [[1, 2], [3]]), ("v2", lists)):
            some = [
                sequence_example({"id": at}, {"n": steps if at == 3 else [[at]]})
                for at in range(40)
            ]
            write_file(tmp_path / name / "train-00000-of-00001", some)
        _, document = diff(tmp_path / "v1", tmp_path / "v2", "--key", "id")
        found.append(
            [
                (record["key_value"], each["field"], each["before"], each["after"])
                for record in document["splits"][0]["changes"]["examples"]
                for each in record["fields"]
            ]
        )
    assert found == [
        [],
        [("3", "n", "2 steps: [1, 2] | 3", "2 steps: 1 | [2, 3]")],
        [("3", "n", "2 steps: [1, 2] | 3", "3 steps: [1, 2] | 3 | []")],
    ]


def test_classes_and_names_are_those_of_each_schema(tmp_path: Path) -> None:
    """Of a field that has the same key and another name."""
    old, new = with_other_label(
        tmp_path,
        lambda label: {"name": "numeral", "classes": ["null", *label["classes"][1:]]},
    )
    some = rows(40)
    some[3] |= {"digit": 0}
    write_dataset(some, old, "train", overwrite=True)
    _, found = diff(old, new, "--key", "scan")
    changes = found["splits"][0]["changes"]
    [example] = changes["examples"]
    assert (example["key_value"], example["fields"]) == (
        "3",
        [
            {
                "field": "numeral",
                "key": "digit",
                "before": '0 "zero"',
                "after": '3 "three"',
            }
        ],
    )


def test_other_bytes_of_equal_values_are_counted(two: tuple[Path, Path]) -> None:
    """As another program writes them: a key order that protobuf does not promise."""
    values = {"id": b"000007", "n": 1}
    parts = [features({key: value}) for key, value in values.items()]
    for data, order in zip(two, (1, -1), strict=True):
        some = [*map(record, range(7)), sized(1, b"".join(parts[::order]))]
        some += map(record, range(8, 60))
        write_file(data / "train-00000-of-00001", some)
    code, found = diff(*two, "--key", "id")
    changes = found["splits"][0]["changes"]
    assert (code, changes["records"], changes["equal"]) == (1, 1, 1)
    assert (changes["fields"], changes["examples"][0]["fields"]) == ([], [])
    text = run("diff", *two, "--key", "id").stdout
    assert (
        "1 of 1 changed record: other bytes, equal values, such as 000007"
        in " ".join(text.split())
    )


def test_the_first_of_many_changed_records_are_compared(tmp_path: Path) -> None:
    """The result says how many these are."""
    for name, x in (("v1", 1), ("v2", 2)):
        some = [example({"id": at, "x": x}) for at in range(10_050)]
        write_file(tmp_path / name / "train-00000-of-00001", some)
    _, found = diff(tmp_path / "v1", tmp_path / "v2", "--key", "id")
    changes = found["splits"][0]["changes"]
    assert (changes["records"], changes["compared"]) == (10_050, 10_000)
    assert changes["fields"] == [{"field": "x", "key": "x", "records": 10_000}]
    text = run("diff", tmp_path / "v1", tmp_path / "v2", "--key", "id").stdout
    assert "train: x: 10,000 of the first 10,000 changed records" in text
    assert "Changed values of train, the first 20 of 10,050 changed records\n" in text


def test_records_of_any_order_and_file_are_matched(two: tuple[Path, Path]) -> None:
    """A place is the record of each dataset's own file; damage before it does not matter."""
    one, other = two
    (other / "train-00000-of-00001").unlink()
    some = [record(at, size=float(at)) for at in reversed(range(60))]
    for shard in range(2):
        write_file(other / f"train-{shard:05}-of-00002", some[shard::2])
    flip_bit(one / "train-00000-of-00001", 5, 20)
    _, found = diff(one, other, "--key", "id")
    train = found["splits"][0]
    assert train["only"] == [0, 1]
    assert train["changes"]["records"] == 59
    shown = {
        each["key_value"]: (each["before"]["record"], each["after"])
        for each in train["changes"]["examples"][:10]
    }
    assert len(train["changes"]["examples"]) == 59
    assert [*shown] == [f"{at:06}" for at in (0, 1, 2, 3, 4, 6, 7, 8, 9, 10)]
    assert {number for number, _ in shown.values()} == {-1}
    place = shown["000004"][1]
    assert place["file"].endswith("train-00001-of-00002")
    assert place["record"] == 27
    sizes = [each["fields"][0]["after"] for each in train["changes"]["examples"]]
    assert sizes[:10] == ["0", "1", "2", "3", "4", "6", "7", "8", "9", "10"]


def test_records_of_one_key_are_matched_by_their_bytes_first(
    two: tuple[Path, Path],
) -> None:
    """In whatever order they are."""
    for path, sizes in zip(two, ((8.0, 9.0), (9.0, 8.0)), strict=True):
        some = [record(at) for at in range(60)] + [record(7, size=x) for x in sizes]
        write_file(path / "train-00000-of-00001", some)
    code, found = diff(*two, "--key", "id")
    assert (code, found["same"]) == (0, True)


def test_remote_data_is_read_again(two: tuple[Path, Path]) -> None:
    """As local files are."""
    one, other = two
    some = [record(at, size=0.0) if at < 4 else record(at) for at in range(60)]
    content = write_file(other / "train-00000-of-00001", some).read_bytes()
    memory = fsspec.filesystem("memory")
    memory.pipe("memory://diffs/train-00000-of-00001", content)
    more = ("--key", "id", "--split", "train")
    _, found = diff(one, "memory://diffs", *more)
    changes = found["splits"][0]["changes"]
    assert changes["fields"] == [{"field": "size", "key": "size", "records": 4}]


def test_a_field_that_matches_records_is_named(two: tuple[Path, Path]) -> None:
    """If records of both differ and no key was given."""
    other = two[1]
    hint = "`--key id` matches records by this field"
    assert hint not in run("diff", *two).stdout
    write_file(other / "train-00000-of-00001", [record(at) for at in range(50)])
    assert hint not in run("diff", *two).stdout
    some = [record(at, size=0.0) if at < 4 else record(at) for at in range(60)]
    write_file(other / "train-00000-of-00001", some)
    assert hint in run("diff", *two).stdout
    assert diff(*two)[1]["identifying"] == ["id"]
    assert hint not in run("diff", *two, "--key", "id").stdout


def _flip(data: Path) -> None:
    flip_bit(data / "train-00000-of-00001", 3, 20)


def _lose_a_shard(data: Path) -> None:
    (data / "train-00000-of-00001").rename(data / "train-00000-of-00002")


def _add_another_file(data: Path) -> None:
    (data / "train.npy").write_bytes(b"more")


def _malformed(data: Path) -> None:
    some = [*map(record, range(60)), b"\xff"]
    write_file(data / "train-00000-of-00001", some)


def _other_messages(data: Path) -> None:
    some = [sized(7, b"%d" % at) for at in range(60)]
    write_file(data / "train-00000-of-00001", some)


def _many_keys(data: Path) -> None:
    some = [record(0, **{f"k{at:04}": 1 for at in range(5_001)})]
    write_file(data / "train-00000-of-00001", some)


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (_flip, "train-00000-of-00001: record 3 at byte"),
        (_lose_a_shard, "note: train: "),
        (_add_another_file, "not looked at: train.npy"),
        (_malformed, "is not a tf.train.Example"),
        (_other_messages, "train-00000-of-00001: "),
        pytest.param(
            *(_many_keys, "There are more than 5,000 keys"), marks=pytest.mark.slow
        ),
    ],
)
def test_what_was_not_read_is_not_called_equal(
    broken: Callable[[Path], None],
    said: str,
    two: tuple[Path, Path],
    tmp_path: Path,
) -> None:
    """In text, data and the page, of each dataset."""
    for data in two:
        broken(data)
    expect_unread(two, tmp_path, said)


def test_keys_that_are_left_out_are_not_called_equal(
    two: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a lower limit, as a page of 5,000 keys takes long."""
    monkeypatch.setattr("schemagen.data.statistics.model.MOST_KEYS", 20)
    for data in two:
        some = [record(0, **{f"k{at:02}": 1 for at in range(21)})]
        write_file(data / "train-00000-of-00001", some)
    expect_unread(two, tmp_path, "There are more than 5,000 keys")


def expect_unread(
    two: tuple[Path, Path], directory: Path, said: str, *options: str
) -> None:
    """See that two equal datasets are not called the same, and why."""
    code, found = diff(*two, *options)
    assert (code, found["same"]) == (1, False)
    assert all(any(said in text for text in texts) for texts in found["unread"]), found
    page = directory / "page.html"
    text = run("diff", *two, *options, "--html", page).stdout
    assert text.endswith("\n\nNo differences in what was read.\n")
    lines = "".join(text.split())
    for name, texts in zip(("v1", "v2"), found["unread"], strict=True):
        for each in texts:
            assert "".join(f"- {name}: {each}".split()) in lines
            assert html.escape(f"{name}: {each}", quote=False) in html.unescape(
                page.read_text("utf-8")
            )
    assert "No records differ in what was read." in page.read_text("utf-8")


def test_a_limit_is_not_called_equal(two: tuple[Path, Path], tmp_path: Path) -> None:
    """Unless it is no less than what there is."""
    expect_unread(
        two, tmp_path, "read: the first 59 records of each split", "--limit", "59"
    )
    code, found = diff(*two, "--limit", "60")
    assert (code, found["same"], found["unread"]) == (0, True, [[], []])


def _remove_a_shard(data: Path) -> None:
    next(data.glob("train-*")).unlink()


def _add_a_shard(data: Path) -> None:
    shutil.copy(next(data.glob("train-*")), data / "train-00009-of-00010.tfrecord")


def _cut_manifest(data: Path) -> None:
    path = data / "manifest.json"
    path.write_bytes(path.read_bytes()[:-9])


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (_remove_a_shard, "No such file"),
        (_add_a_shard, "not in manifest.json, and not read: train-00009-of-00010"),
        (_cut_manifest, "manifest.json"),
        (lambda data: count_one_more(data, 0), "and manifest.json lists 21"),
    ],
)
def test_what_a_manifest_lists_and_is_not_there_is_not_called_equal(
    tmp_path: Path, broken: Callable[[Path], None], said: str
) -> None:
    for name in ("v1", "v2"):
        write_dataset(rows(40), tmp_path / name, "train", shards=2)
        broken(tmp_path / name)
    expect_unread((tmp_path / "v1", tmp_path / "v2"), tmp_path, said)


def fails(two: tuple[Path, Path], *names: str) -> tuple[int, list[tuple[str, str]]]:
    """Return the exit code, and the rule and the message of each finding."""
    code, found = diff(*two, "--fail-on", ",".join(names))
    return code, [(each["rule"], each["message"]) for each in found["findings"]]


ALL = ("leakage", "duplicates", "drift", "missing-classes")


def test_differences_alone_do_not_fail_where_names_are_given(
    two: tuple[Path, Path],
) -> None:
    """Two versions share records, and the second one may have more."""
    write_file(two[1] / "train-00000-of-00001", map(record, [*range(60), 200]))
    assert diff(*two)[0] == 1
    assert fails(two, *ALL) == (0, [])
    flip_bit(two[1] / "train-00000-of-00001", 3, 20)
    assert fails(two, *ALL) == (1, [])
    wrong = run("diff", *two, "--fail-on", "luck")
    assert wrong.exit_code == 2
    assert "'luck' is not one of leakage" in wrong.stderr


def test_a_test_record_of_one_version_in_train_of_the_other_is_leakage(
    two: tuple[Path, Path],
) -> None:
    """In either direction, but not inside of the first one."""
    one, other = two
    write_file(other / "train-00000-of-00001", map(record, [*range(59), 100]))
    write_file(other / "test-00000-of-00001", map(record, range(101, 160)))
    code, found = fails(two, "leakage", "duplicates")
    assert (code, found) == (
        1,
        [("SG541", "records of 'v2 train' are in 'v1 test' too")],
    )
    assert fails((other, one), "leakage") == (code, found)
    assert "SG541" in run("diff", *two, "--fail-on", "leakage").stderr
    printed = run("diff", *two, "--fail-on", "leakage", "--format", "github").stdout
    assert printed.startswith("::error")
    assert len(printed.splitlines()) == 1


def test_duplicates_of_the_second_dataset_fail(two: tuple[Path, Path]) -> None:
    """Those of the first one are there already."""
    one, other = two
    write_file(other / "train-00000-of-00001", map(record, [*range(60), 3]))
    code, [(rule, message)] = fails(two, *ALL)
    assert (code, rule) == (1, "SG542")
    assert "more than once in 'v2 train'" in message
    assert fails((other, one), *ALL) == (0, [])


def test_drift_and_classes_are_judged_between_versions(two: tuple[Path, Path]) -> None:
    """Of the same split: a class that the new version lacks, a column that moved."""
    one, other = two
    some = [record(at, size=float(at % 3), kind=b"cat") for at in range(60)]
    write_file(other / "train-00000-of-00001", some)
    code, found = fails(two, "drift", "missing-classes")
    assert code == 1
    assert {rule for rule, _ in found} == {"SG543", "SG544"}
    assert all("v2 train" in message for _, message in found)
    code, found = fails((other, one), "missing-classes")
    assert (code, found) == (0, [])


def test_thresholds_of_the_project_hold(two: tuple[Path, Path], tmp_path: Path) -> None:
    """As for inspect."""
    write_file(two[1] / "train-00000-of-00001", map(record, [*range(60), 3]))
    project = make_project(tmp_path / "project", {})
    with (project / "pyproject.toml").open("a") as settings:
        settings.write("\n[tool.schemagen.thresholds]\nduplicates = 0.1\n")
    arguments = ("diff", *two, "--fail-on", "duplicates")
    assert run(*arguments).exit_code == 1
    assert run(*arguments, "--project", project).exit_code == 0


def test_what_two_single_splits_cannot_show_is_said(two: tuple[Path, Path]) -> None:
    done = run("diff", *two, "--split", "train", "--fail-on", "leakage,drift")
    assert done.exit_code == 0
    assert done.stderr == "not judged: leakage, which need two splits\n"


def test_a_page_has_the_values_that_changed(
    two: tuple[Path, Path], tmp_path: Path
) -> None:
    """Next to each other, with both records to open."""
    some = [record(at, size=0.5) if at < 4 else record(at) for at in range(60)]
    write_file(two[1] / "train-00000-of-00001", some)
    run("diff", *two, "--key", "id", "--html", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    table = rows_of(page, "Changed values of train")
    assert table[0] == ["id", "field", "v1", "v2"]
    assert table[1] == ["000000 v1 v2", "size", "10.25146", "0.5"]
    opened = re.findall(r'class="open" data-sample="([\w-]+)">v[12]<', page)
    assert len(opened) == 8
    assert all(f'<template id="{each}">' in page for each in opened)


def test_a_page_says_of_each_dataset_what_its_keys_are(
    two: tuple[Path, Path], tmp_path: Path
) -> None:
    """Nothing is said of both together: kinds, lengths, values, counts."""
    some = [record(at, size=at, kind=[b"cat"] * 2) for at in range(60)]
    for split in ("train", "test"):
        write_file(two[1] / f"{split}-00000-of-00001", some)
    run("diff", *two, "--html", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    keys = rows_of(page, "All keys: their types, and their values in words")
    found = {(row[0], row[1]): dict(zip(keys[0], row, strict=True)) for row in keys[1:]}
    assert [*found] == [
        (key, v) for key in ("id", "kind", "size") for v in ("v1", "v2")
    ]
    assert [found["size", v]["kind"] for v in ("v1", "v2")] == ["float", "int64"]
    assert [found["kind", v]["length"] for v in ("v1", "v2")] == ["1", "2"]
    assert found["size", "v2"]["values"].startswith("0 to 59")
    for pooled in ("float and int64", "float in 120", "Balanced", "<dt>values", "<dl"):
        assert pooled not in page.split("<template")[0] + page.split("</dialog>")[1]
