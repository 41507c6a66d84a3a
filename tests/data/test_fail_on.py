"""Leakage, duplicates, drift, missing classes and target leakage: facts that fail a build."""

from __future__ import annotations

import copy
import json
import re
import shutil
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest
from click.testing import Result
from command_line import make_project, run
from digit_rows import rows
from manifests import edited_manifest, without_last_class
from schemagen import Label, Record, Scalar

from data.messages import example, write_data, write_file
from generated.digit.serializer import write_dataset

_SPLITS = {"train": 200, "test": 60}


def record(number: int, **changed: Any) -> bytes:
    """Return a record with an id of its own, a class, and a number."""
    random = np.random.default_rng(number)
    row = {
        "id": b"%06d" % number,
        "kind": [b"cat", b"dog", b"owl"][number % 3],
        "size": float(random.normal(10, 2)),
    }
    return example(row | changed)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two splits that differ by chance only, in two files each."""
    start = 0
    for split, count in _SPLITS.items():
        for shard in range(2):
            some = [record(start + at) for at in range(count // 2)]
            write_file(tmp_path / "data" / f"{split}-{shard:05d}-of-00002", some)
            start += count // 2
    return tmp_path / "data"


def inspect(data: Path, *names: str, **options: str) -> Result:
    """Inspect data, and fail on some judgements."""
    more = [each for name, value in options.items() for each in (f"--{name}", value)]
    return run("inspect", data, "--fail-on", ",".join(names), *more)


class Leaky(Record):
    """A record with a copy of its target, and with a half of it."""

    twin: int
    half: int
    noise: int
    kind: Annotated[int, Label(num_classes=4)]


class Keyed(Record):
    """A record whose keys are other than the names of its fields."""

    number: Annotated[int, Scalar("int64", key="n")]
    target: Annotated[int, Label(num_classes=2, key="t")]


ALL = ("leakage", "duplicates", "drift", "missing-classes")


def test_splits_that_differ_by_chance_pass(data: Path) -> None:
    """All judgements together."""
    done = inspect(data, *ALL)
    assert done.exit_code == 0, done.output


def test_a_copied_shard_is_leakage(data: Path) -> None:
    """The records that are in both are named, with what they are equal to."""
    shutil.copy(data / "train-00001-of-00002", data / "test-00001-of-00002")
    done = inspect(data, "leakage", format="json")
    assert done.exit_code == 1
    found = json.loads(done.stdout)
    [finding] = found["findings"]
    assert finding["rule"] == "SG541"
    assert finding["location"]["path"].endswith("test-00001-of-00002")
    assert finding["data"]["records"] == 100
    assert finding["data"]["record"] == 0
    assert "record 0 of train-00001-of-00002" in finding["advice"]
    [duplicate] = found["duplicates"]
    assert (duplicate["count"], duplicate["files"]) == (100, 1)
    assert [each["record"] for each in duplicate["places"][1]] == [1, 1]
    assert (duplicate["column"], duplicate["splits"]) == (None, ["train", "test"])
    assert duplicate["mark"] == "leakage"
    assert "records that are in train too" in run("inspect", data).stdout
    assert inspect(data, "drift").exit_code == 0


def test_identifying_values_leak_too(data: Path) -> None:
    """A record that was changed a little has the same id."""
    some = [record(number, size=1.0) for number in range(50)]
    write_file(data / "test-00001-of-00002", some)
    done = inspect(data, "leakage")
    assert done.exit_code == 1
    assert "SG541 field 'id': values of 'train' are in 'test' too" in done.stderr
    assert "50 values in both" in done.stderr


@pytest.mark.parametrize("smaller", ["train", "test"])
def test_the_share_of_leakage_is_of_the_smaller_split(
    tmp_path: Path, smaller: str
) -> None:
    for split in ("train", "test"):
        start, count = (0, 40) if split == smaller else (30, 200)
        some = [record(start + at) for at in range(count)]
        write_file(tmp_path / f"{split}-00000-of-00001", some)
    assert "in all:   10 of 40 records (25.0 %)" in inspect(tmp_path, "leakage").stderr


def times(split: str, seed: int, data: Path, count: int = 400) -> None:
    """Write records that have a time of a month, in seconds."""
    random = np.random.default_rng(seed)
    some = [example({"at": int(at)}) for at in random.integers(0, 2_600_000, count)]
    write_file(data / f"{split}-00000-of-00001", some)


def test_what_meets_by_chance_does_not_leak(tmp_path: Path) -> None:
    """Times of a month meet in a few of many thousand pairs; ids that are counted do not."""
    met = 0
    for seed in range(0, 40, 2):
        data = tmp_path / f"{seed}"
        data.mkdir()
        times("train", seed, data)
        times("test", seed + 1, data)
        done = inspect(data, "leakage", format="json")
        found = json.loads(done.stdout)["duplicates"]
        met += sum(each["column"] == {"name": "at", "key": "at"} for each in found)
        # Where nothing else is in a record, equal times are equal records.
        assert [each["rule"] for each in json.loads(done.stdout)["findings"]] == [
            "SG541"
            for each in found
            if each["column"] is None and len(each["splits"]) > 1
        ]
    assert met == 0
    for split, start in (("train", 0), ("test", 380)):
        some = [example({"id": at, "x": split}) for at in range(start, start + 400)]
        write_file(tmp_path / "ids" / f"{split}-00000-of-00001", some)
    done = inspect(tmp_path / "ids", "leakage")
    assert "SG541 field 'id'" in done.stderr


def test_what_cannot_be_judged_is_said(data: Path) -> None:
    """A check that compared nothing should not look like one that passed."""
    done = run("inspect", data, "--split", "train", "--fail-on", "leakage,drift")
    assert done.exit_code == 0
    assert done.stderr == "not judged: leakage and drift, which need two splits\n"
    write_file(data / "new-00000-of-00001", [record(900 + at) for at in range(20)])
    done = inspect(data, "drift")
    assert done.exit_code == 0
    assert "no drift of fewer than 30 records is judged: new" in done.stderr
    assert inspect(data, "missing-classes").stderr == ""


def test_a_record_that_is_twice_in_a_split_is_a_duplicate(data: Path) -> None:
    """Within a file or in another one; each place is named."""
    some = [record(number) for number in (230, *range(231, 260), 230)]
    write_file(data / "test-00001-of-00002", some)
    done = inspect(data, "duplicates")
    assert done.exit_code == 1
    assert "test-00001-of-00002: record 30: SG542" in done.stderr
    assert "the same as record 0" in done.stderr
    assert inspect(data, "leakage").exit_code == 0


def test_values_that_repeat_in_a_split_are_no_duplicates(tmp_path: Path) -> None:
    """By chance or by nature; the records differ."""
    random = np.random.default_rng(0)
    for split in ("train", "test"):
        some = [
            example(
                {"at": int(at), "text": f"a {at // 2}", "x": float(random.random())}
            )
            for at in random.integers(0, 2000, 300)
        ]
        write_file(tmp_path / f"{split}-00000-of-00001", some)
    done = inspect(tmp_path, "duplicates", "leakage", format="json")
    assert json.loads(done.stdout)["findings"] == []
    assert done.exit_code == 0
    facts = json.loads(done.stdout)["facts"]
    repeated = [each for each in facts if each["measure"] in ("duplicates", "shared")]
    assert {each["key"] for each in repeated} == {"at", "text"}
    assert {each["mark"] for each in repeated} == {""}


@pytest.mark.parametrize("step", [1, 10])
def test_numbers_that_never_repeat_in_a_split_are_ids(
    tmp_path: Path, step: int
) -> None:
    """Random integers of their range would, so that a few in both splits are leakage."""
    random = np.random.default_rng(0)
    ids = step * random.permutation(1000)
    for split, some in (("train", ids[:500]), ("test", ids[490:])):
        rows = [example({"id": int(each), "x": random.random()}) for each in some]
        write_file(tmp_path / f"{split}-00000-of-00001", rows)
    done = inspect(tmp_path, "leakage")
    assert done.exit_code == 1
    assert "10 values in both" in done.stderr


def test_a_shifted_column_is_drift(data: Path) -> None:
    """The finding says how far, what chance explains, and where the values are."""
    some = [record(number, size=float(number % 7)) for number in range(300, 330)]
    write_file(data / "test-00001-of-00002", some)
    done = inspect(data, "drift", format="github")
    assert done.exit_code == 1
    [line] = [each for each in done.stdout.splitlines() if "values differ" in each]
    assert line.startswith("::error")
    assert "SG543" in line
    assert "field 'size': values differ between train and test" in line
    assert re.search(r"0\.\d\d ± 0\.\d\d, by chance at most 0\.\d\d; train: ", line)
    assert "expected: a Kolmogorov-Smirnov distance that stays below 0.1" in line
    assert "split  files" not in done.stdout


def test_a_swapped_class_is_drift(data: Path) -> None:
    """Its share is that of another one."""
    start = sum(_SPLITS.values())
    for split, most in (("train", b"cat"), ("test", b"dog")):
        some = [
            record(start + at, kind=most if at % 5 else b"owl") for at in range(100)
        ]
        start += 100
        for shard in range(2):
            write_file(data / f"{split}-{shard:05d}-of-00002", some[shard::2])
    done = inspect(data, "drift")
    assert done.exit_code == 1
    assert re.search(r"share of (cat|dog) differs between train and test", done.stderr)
    assert re.search(r"train: \d+ %; test: \d+ %", done.stderr)
    assert "expected: a Jensen-Shannon distance that stays below 0.1" in done.stderr


def test_an_empty_class_is_missing(data: Path) -> None:
    """By the other splits, or by the classes of the schema."""
    for shard in range(2):
        some = [record(600 + 3 * at + shard, kind=b"cat") for at in range(40)]
        write_file(data / f"test-{shard:05d}-of-00002", some)
    done = inspect(data, "missing-classes")
    assert done.exit_code == 1
    assert "SG544 field 'kind': classes with too few records in 'test'" in done.stderr
    assert "2 of 3 classes: dog and owl" in done.stderr
    facts = json.loads(run("inspect", data, "--format", "json").stdout)["facts"]
    marked = [each for each in facts if each["mark"] == "missing-classes"]
    assert [each["measure"] for each in marked] == ["share", "share"]
    assert [each["category"] for each in marked] == ["dog", "owl"]
    assert "Missing classes\n" in run("inspect", data).stdout


_SCHEMA = """
from typing import Annotated
from schemagen import Label, Record, Text


class Animal(Record):
    id: Annotated[str, Text(role="info")]
    kind: Annotated[str, Label(classes=("cat", "dog", "owl", "yak"), stored="text")]
    size: float
"""


def test_a_schema_says_which_classes_there_are(data: Path, tmp_path: Path) -> None:
    """One that no split has is missing in all of them."""
    root = make_project(tmp_path / "project", {"animal.py": _SCHEMA})
    more = {"record": "animal", "project": str(root)}
    done = inspect(data, "missing-classes", **more)
    assert done.exit_code == 1
    assert "1 of 4 classes: yak" in done.stderr
    settings = root / "pyproject.toml"
    text = settings.read_text()
    settings.write_text(f"{text}[tool.schemagen.thresholds]\nmissing-classes = 0\n")
    assert inspect(data, "missing-classes", **more).exit_code == 0
    settings.write_text(f"{text}[tool.schemagen.thresholds]\nmissing_classes = 0\n")
    wrong = inspect(data, "missing-classes", **more)
    assert wrong.exit_code == 2
    assert "SG401 unknown setting 'thresholds.missing_classes'" in wrong.stderr
    assert "did you mean 'missing-classes'?" in wrong.stderr


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("", ["twin"]),
        ("target-leakage = 1\n", []),
        ("fields.twin = { target-leakage = 1 }\n", []),
        ("fields.half = { target-leakage = 0.1 }\n", ["half", "twin"]),
    ],
)
def test_an_input_that_tells_the_target_fails_a_build(
    tmp_path: Path, text: str, marked: list[str]
) -> None:
    """As it is marked in the document, by the threshold of the field."""
    rows_ = [
        {"twin": at % 4, "half": at % 4 // 2, "noise": at * 7 % 5, "kind": at % 4}
        for at in range(400)
    ]
    messages = [example(row) for row in rows_]
    data = write_data(tmp_path / "data", Leaky, {"train": messages})
    options = with_thresholds(tmp_path, text)
    done = inspect(data, "target-leakage", format="json", **options)
    document = json.loads(done.stdout)
    found = [(each["rule"], each["data"]["field"]) for each in document["findings"]]
    assert sorted(found) == [("SG545", name) for name in marked]
    facts = [each for each in document["facts"] if each["mark"] == "target-leakage"]
    assert sorted(each["subject"] for each in facts) == marked
    assert done.exit_code == bool(marked)


def test_thresholds_of_no_field_are_reported(data: Path, tmp_path: Path) -> None:
    """With the field that could be meant; the run does not fail of it."""
    options = with_thresholds(tmp_path, "fields.kindd = { drift = 0.2 }\n")
    done = inspect(data, "drift", **options)
    assert done.exit_code == 0
    assert "'kindd' are not used" in done.stderr
    assert "did you mean 'kind'?" in done.stderr
    assert "not used" not in inspect(data, "drift").stderr


def test_thresholds_by_the_key_of_a_field_name_the_field(tmp_path: Path) -> None:
    messages = [example({"n": at % 4, "t": at % 2}) for at in range(60)]
    data = write_data(tmp_path / "data", Keyed, {"train": messages})
    options = with_thresholds(tmp_path, "fields.n = { drift = 0.2 }\n")
    done = inspect(data, "drift", **options)
    assert "'n' are not used: it is the key of the field 'number'" in done.stderr


@pytest.mark.parametrize(
    ("messages", "has_schema", "said"),
    [
        (60, False, "target-leakage, which needs a schema with a target"),
        (1, True, "target-leakage, as too few records have different values"),
        (60, True, ""),
    ],
)
def test_target_leakage_that_nothing_tells_is_not_judged(
    tmp_path: Path, messages: int, has_schema: bool, said: str
) -> None:
    some = [example({"n": at % 4, "t": at % 2}) for at in range(messages)]
    data = write_data(tmp_path / "data", Keyed, {"train": some})
    if not has_schema:
        (data / "manifest.json").unlink()
    done = inspect(data, "target-leakage")
    assert ("not judged: " in done.stderr) == bool(said)
    assert said in done.stderr


def test_an_unknown_name_is_refused_with_the_nearest(data: Path) -> None:
    """`diff` does not judge what concerns a single dataset."""
    done = inspect(data, "leakage", "drfit")
    assert done.exit_code == 2
    assert "did you mean 'drift'?" in done.stderr
    assert run("diff", data, data, "--fail-on", "target-leakage").exit_code == 2


THRESHOLDS = "[tool.schemagen]\n[tool.schemagen.thresholds]\n"


def with_thresholds(root: Path, text: str) -> dict[str, str]:
    """Return options of a project with these thresholds."""
    (root / "pyproject.toml").write_text(THRESHOLDS + text)
    return {"project": str(root)}


def test_a_field_has_thresholds_of_its_own(data: Path, tmp_path: Path) -> None:
    """In place of those of all fields: for drift, leakage and missing classes."""
    some = [record(number, kind=b"cat", size=float(number % 7)) for number in range(60)]
    for shard in range(2):
        write_file(data / f"test-{shard:05d}-of-00002", some[shard::2])
    names = ("leakage", "drift", "missing-classes")

    def found(text: str) -> set[tuple[str, str]]:
        options = with_thresholds(tmp_path, text)
        done = inspect(data, *names, format="json", **options)
        document = json.loads(done.stdout)
        marked = {
            each["subject"] for each in document["facts"] if each["mark"] == "drift"
        }
        judged = {
            (each["rule"], each["data"]["field"]) for each in document["findings"]
        }
        assert {name for rule, name in judged if rule == "SG543"} == marked
        return judged

    id_, size, kind = ("SG541", "id"), ("SG543", "size"), ("SG543", "kind")
    classes = ("SG544", "kind")
    assert found("") == {id_, size, kind, classes}
    assert found("drift = 1\n") == {id_, classes}
    fields = "[tool.schemagen.thresholds.fields."
    assert found(f"{fields}size]\ndrift = 1\n") == {id_, kind, classes}
    assert found(f"drift = 1\n{fields}size]\ndrift = 0.2\n") == {id_, size, classes}
    assert found("fields.kind = { missing-classes = 0, drift = 1 }\n") == {
        id_,
        size,
    }
    assert found(f'{fields}"id"]\nleakage = 1\n') == {size, kind, classes}


@pytest.mark.parametrize(
    ("text", "place", "message", "found", "expected"),
    [
        ("drift = 2\n", "3:1", "setting 'thresholds.drift' has a", "2", "from 0 to 1"),
        (
            "leakage = -1\n",
            "3:1",
            "setting 'thresholds.leakage' has a",
            "-1",
            "least 0",
        ),
        (
            "fields = 3\n",
            "3:1",
            "setting 'thresholds.fields' has a",
            "3",
            "fields.NAME]",
        ),
        (
            "fields.a = 3\n",
            "3:1",
            "setting 'thresholds.fields.a' has a",
            "3",
            "a table",
        ),
        (
            "[tool.schemagen.thresholds.fields.a]\n  drift = 'x'\n",
            "4:3",
            "setting 'thresholds.fields.a.drift' has a",
            "'x'",
            "a number from 0 to 1",
        ),
        (
            "[tool.schemagen.thresholds.fields.'a.b']\nfields = 1\n",
            "4:1",
            "unknown setting 'thresholds.fields.a.b.fields'",
            "fields",
            "one of leakage, duplicates, drift, missing-classes, target-leakage",
        ),
    ],
)
def test_wrong_thresholds_are_refused_at_their_line(
    data: Path,
    tmp_path: Path,
    text: str,
    place: str,
    message: str,
    found: str,
    expected: str,
) -> None:
    """Of all fields and of one, names and values."""
    done = inspect(data, "drift", **with_thresholds(tmp_path, text))
    assert done.exit_code == 2
    assert f"pyproject.toml:{place}: SG401 {message}" in done.stderr
    assert re.search(rf"found: +{re.escape(found)}\n", done.stderr)
    assert re.search(rf"expected: .*{re.escape(expected)}", done.stderr)


def test_unknown_judgements_are_refused(data: Path) -> None:
    """With the names of those that exist."""
    done = inspect(data, "leaks")
    assert done.exit_code == 2
    assert "leakage, duplicates, drift, missing-classes" in done.stderr


def test_a_class_that_was_added_later_has_its_name(tmp_path: Path) -> None:
    """The names of classes are those of the manifest's own schema, also of older splits."""
    data = tmp_path / "data"
    for split in ("train", "test"):
        some = [row for row in rows(600) if split == "train" or row["digit"] != 9]
        write_dataset(some, data, split)
    with edited_manifest(data) as manifest:
        older = copy.deepcopy(manifest["spec"])
        without_last_class(older)
        manifest["splits"]["train"] |= {"spec": older, "fingerprint": "0" * 8}
    done = inspect(data, "drift", "missing-classes", format="json")
    found = {each["rule"]: each for each in json.loads(done.stdout)["findings"]}
    assert "nine" in json.dumps(found["SG544"])
    assert "share of nine" in json.dumps(found["SG543"])
    for text in (done.stdout, run("inspect", data).stdout):
        assert "not in the schema" not in text
        assert "no class" not in text


def test_a_field_that_only_an_older_split_has_is_described(tmp_path: Path) -> None:
    """By the schema that wrote that split."""
    data = tmp_path / "data"
    for split in ("train", "test"):
        write_dataset(rows(10), data, split)
    with edited_manifest(data) as manifest:
        manifest["splits"]["train"]["spec"] = copy.deepcopy(manifest["spec"])
        del manifest["spec"]["fields"][-1]
    done = run("inspect", data, "--format", "json")
    facts = json.loads(done.stdout)["facts"]
    subjects = {each["subject"] for each in facts if each["measure"] == "kind"}
    assert "digit" in subjects
    assert subjects == {
        each["subject"] for each in facts if each["measure"] == "in a batch"
    }
