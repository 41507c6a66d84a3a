"""What functions return: values of one dtype, or an error that names the record."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tensorflow as tf
from conversions import (
    COUNT,
    ODD,
    OTHERS,
    SAME,
    WAYS,
    columns,
    refusal,
    returned,
)
from digit_rows import rows, scans

from generated import DatasetError, mix
from generated.digit.reader import open_split
from generated.digit.serializer import write_dataset

if TYPE_CHECKING:
    from conftest import PackageOf

HERE = {
    **WAYS,
    "keras": lambda split: [
        value
        for at in range(5)
        for value in np.asarray(split.keras(8)[at][0]["x"]).tolist()
    ],
    "to_tf": lambda split: columns(split.to_tf(8)),
}


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A split of numbered records."""
    root = tmp_path_factory.mktemp("digits")
    write_dataset(rows(COUNT), root, "train", shards=2)
    return root


@pytest.fixture
def split(directory: Path) -> Any:
    return open_split(directory, "train", fields=["scan"])


class TestOneDtype:
    """The dtype of a field is that of the record that is read first."""

    @pytest.mark.parametrize("way", [name for name in HERE if name != "to_tf"])
    @pytest.mark.parametrize("kind", OTHERS)
    def test_another_value_is_an_error_that_names_its_record(
        self, split: Any, kind: str, way: str
    ) -> None:
        function = returned(lambda number: OTHERS[kind] if number == ODD else 0.5)
        said = refusal(split.map(function), HERE[way])
        assert (
            f"train-00001-of-00002.tfrecord: record {ODD - 20}: map(function)" in said
        )
        assert "'x'" in said

    @pytest.mark.parametrize("kind", OTHERS)
    def test_datasets_of_tensorflow_name_it_too(self, split: Any, kind: str) -> None:
        function = returned(lambda number: OTHERS[kind] if number == ODD else 0.5)
        with pytest.raises(DatasetError, match=r"record 1: map\(function\): .*'x'"):
            split.map(function).to_tf(8)

    @pytest.mark.parametrize("way", HERE)
    @pytest.mark.parametrize("kind", SAME)
    def test_values_of_one_dtype_are_equal(
        self, split: Any, kind: str, way: str
    ) -> None:
        function = returned(lambda number: SAME[kind] if number == ODD else 0.5)
        assert HERE[way](split.map(function)) == [0.5] * COUNT

    def test_a_record_is_what_the_function_has_returned(self, split: Any) -> None:
        for value in OTHERS.values():
            found = split.map(returned(lambda _, value=value: value))
            assert found[3]["x"] is value

    def test_it_holds_from_batch_to_batch(self, split: Any) -> None:
        """That of the first batch, whatever threads read ahead of the loop."""
        halves = split.map(returned(lambda number: number / 2 if number > 7 else 1))
        assert next(halves.batches(8))["x"].dtype == np.int64
        with pytest.raises(DatasetError) as caught:
            halves[[30]]
        assert (
            "record 10: map(function): field 'x': found float64, and int64 in"
            in str(caught.value)
        )
        assert "return one dtype, such as by .astype(...)" in str(caught.value)
        other = pickle.loads(pickle.dumps(split.map(_halved)))
        assert other[[30]]["x"].dtype == np.float64

    def test_what_has_no_dtype_goes_with_any(self, split: Any) -> None:
        lists = [[], None, np.array([]), [1, 2], np.array([3])]
        mapped = split.map(returned(lambda number: lists[number % 5]))
        assert mapped[:5]["x"].tolist() == [[0, 0], [0, 0], [0, 0], [1, 2], [3, 0]]
        for batch in mapped.batches(5):
            assert batch["x"].dtype == np.int64

    def test_a_field_of_the_schema_may_have_another_dtype(
        self, directory: Path
    ) -> None:
        """Missing values and padding are those of the schema, if the dtype holds them."""
        split = open_split(directory, "train")
        for dtype in (np.uint8, np.float16, np.complex64):
            changed = split.map(
                lambda row, dtype=dtype: {
                    **row,
                    "ink_runs": row["ink_runs"].astype(dtype),
                    "digit": dtype(row["digit"]) if row["scan"] % 2 else None,
                }
            )
            batch = next(changed.batches(8))
            assert batch["ink_runs"].dtype == batch["digit"].dtype == dtype

    def test_bits_of_a_field_that_is_unchanged_count(self, split: Any) -> None:
        both = split.map(
            lambda row: row if row["scan"] else {"scan": np.int32(row["scan"])}
        )
        with pytest.raises(DatasetError, match=r"record 1: .*: found int64, and int32"):
            both[:8]

    @pytest.mark.parametrize(
        ("column", "said"),
        [
            ({1, 2}, "found a set"),
            (np.array(1.0), "expected an array or a list"),
            (None, "column 'x': found None"),
            ([1.0] * 7, "has 7 rows, expected 8"),
            ([object()] * 8, "found an object"),
            (
                [1.0, 1, *[1.0] * 6],
                r"record 1: .*found int64, and float64 in .*record 0",
            ),
            (np.ma.ones(8), "masked"),
            (np.zeros(8, "M8[s]"), r"found datetime64\[s\] \[8\]"),
        ],
    )
    def test_columns_of_batches_are_refused_too(
        self, split: Any, column: Any, said: str
    ) -> None:
        mapped = split.map(lambda batch: {**batch, "x": column}, batched=True)
        with pytest.raises(DatasetError, match=said):
            mapped[:8]

    def test_columns_of_batches_have_one_dtype(self, split: Any) -> None:
        mapped = split.map(
            lambda batch: {"x": batch["scan"] / (1 if batch["scan"][0] else 1.0)},
            batched=True,
        )
        assert columns(mapped.batches(8)) == [*range(COUNT)]
        odd = split.map(
            lambda batch: {
                "x": batch["scan"] / 2 if batch["scan"][0] else batch["scan"]
            },
            batched=True,
        )
        said = r"record 8 and 7 more: .*found float64, and int64 in .*record 0, which"
        with pytest.raises(DatasetError, match=said):
            [odd[at : at + 8] for at in (0, 8)]

    def test_a_list_of_numbers_or_texts_is_a_column(self, split: Any) -> None:
        mapped = split.map(
            lambda batch: {
                "x": batch["scan"].tolist(),
                "y": ["a"] * len(batch["scan"]),
            },
            batched=True,
        )
        batch = next(mapped.batches(4))
        assert batch["x"].tolist() == [0, 1, 2, 3]
        assert batch["y"].dtype == object

    def test_a_name_that_is_no_text_is_refused(self, split: Any) -> None:
        for mapped in (
            split.map(lambda row: {1: 5}),
            split.map(lambda batch: {1: batch["scan"]}, batched=True),
        ):
            with pytest.raises(DatasetError, match="found 1 as the name of a field"):
                next(mapped.batches(4))


def _halved(row: dict[str, Any]) -> dict[str, Any]:
    number = int(row["scan"])
    return {"x": number / 2 if number > 7 else 1}


class TestMix:
    """Splits whose functions return different dtypes."""

    @pytest.mark.parametrize("size", [1, 8])
    def test_an_error_names_both_splits(self, split: Any, size: int) -> None:
        both = mix(
            [split.map(returned(lambda n: n)), split.map(returned(lambda n: n / 2))]
        )
        one, other = "int64 in split 0", "float64 in split 1"
        said = f"mix: field 'x' is ({one}, and {other}|{other}, and {one})"
        with pytest.raises(DatasetError, match=said):
            list(both.batches(size))

    def test_packing_and_tables_promote_none(self, split: Any) -> None:
        both = mix(
            [
                split.map(returned(lambda n: np.array([n], np.int8))),
                split.map(returned(lambda n: np.array([n]))),
            ]
        )
        with pytest.raises(DatasetError, match="'x' is int8 in split 0, and int64"):
            next(both.batches(1, pack={"x": 16}))
        with pytest.raises(
            DatasetError, match="'x' is list<item: int8> in some records"
        ):
            both.to_arrow()


class TestPacking:
    """Lists that functions have made."""

    @pytest.mark.parametrize(
        ("value", "said"),
        [
            (5, "found int 5, expected a list"),
            ([0.5], "found float64, and int64 in"),
            ([[1, 2]], r"found the shape \(2,\), and \(\) in"),
            (["a"], "found str, and int64 in"),
            ({1}, "found a set"),
        ],
    )
    def test_another_value_is_an_error_that_names_its_record(
        self, split: Any, value: Any, said: str
    ) -> None:
        mapped = split.map(returned(lambda number: value if number == ODD else [1]))
        with pytest.raises(DatasetError, match=f"record 1: map.function.: .*{said}"):
            next(mapped.batches(2, pack={"x": 16}))


KINDS = """
from typing import Annotated, Any
import numpy as np
from schemagen import Ragged, Record, Scalar, Sparse, VarLen, Vector

class Sorts(Record):
    number: int
    table: Annotated[list[list[int]], Ragged("int32", ragged=False)]
    names: Annotated[list[list[str]], Ragged("string")]
    grid: Annotated[Any, Sparse((3, 3), index_key=("r", "c"))]
    words: Annotated[list[str], VarLen("string")]
    half: Annotated[np.ndarray, Vector((2,), "bfloat16")]
"""


@pytest.fixture(scope="module")
def sorts(package_of: PackageOf, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A split with lists in lists, sparse tensors, texts and bfloat16."""
    package = package_of(KINDS)
    directory = tmp_path_factory.mktemp("sorts")
    some = [
        {
            "number": number,
            "table": [[number] * at for at in range(number % 4)],
            "names": [["a"] * at for at in range(number % 3)],
            "grid": {(number % 3, 1): 0.5},
            "words": ["w"] * (number % 3),
            "half": np.full(2, number),
        }
        for number in range(COUNT)
    ]
    package.module("sorts", "serializer").write_dataset(some, directory, "train")
    return lambda **options: package.module("sorts", "reader").open_split(
        directory, "train", **options
    )


def test_unchanged_records_of_any_kind_make_a_table(sorts: Any) -> None:
    plain, same = (
        split.to_arrow().to_pylist()
        for split in (sorts(), sorts().map(lambda row: row))
    )
    assert plain == same


def test_lists_in_lists_are_datasets_of_tensorflow_after_a_function(sorts: Any) -> None:
    split = sorts(fields=["number", "table"])
    pairs = zip(split.to_tf(8), split.map(lambda row: row).to_tf(8), strict=True)
    for plain, same in pairs:
        tf.nest.map_structure(np.testing.assert_array_equal, plain, same)


def test_lists_in_lists_keep_the_dtype_that_a_function_gives_them(sorts: Any) -> None:
    """Rather than being cast to that of the schema, which would cut fractions off."""
    split = sorts(fields=["number", "table"])
    halves = split.map(lambda row: {"table": [each / 2 for each in row["table"]]})
    found = halves[:8]["table"]
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, split[:8]["table"] / 2)


def test_texts_are_packed_as_objects(sorts: Any) -> None:
    split = sorts(fields=["number", "words"])
    mixed = mix([split, split.map(lambda row: row)])
    for each in (split, mixed):
        assert next(each.batches(2, pack={"words": 8}))["words"].dtype == object


def test_a_changed_field_of_another_rank_is_an_input_of_keras(sorts: Any) -> None:
    split = sorts(fields=["number", "table"])
    counts = split.map(lambda row: {"table": len(row["table"])})
    assert counts.keras(8)[0][0]["table"].tolist() == [0, 1, 2, 3, 0, 1, 2, 3]


HIDDEN = """
import importlib
import sys
sys.modules["ml_dtypes"] = None
open_split = importlib.import_module(sys.argv[2]).open_split
print(open_split(sys.argv[1], "train", fields=["number"])[3]["number"])
try:
    open_split(sys.argv[1], "train")
except ModuleNotFoundError as error:
    print(error)
"""


def test_bfloat16_without_ml_dtypes_is_an_error_when_a_split_is_opened(
    sorts: Any, package_of: PackageOf
) -> None:
    """Only if a field that is read needs it."""
    where = os.path.dirname(sorts()._view.where)
    reader = package_of(KINDS).module("sorts", "reader").__name__
    run = subprocess.run(
        [sys.executable, "-c", HIDDEN, where, reader],
        cwd=package_of(KINDS).root,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == [
        "3",
        "field 'half': bfloat16: ml_dtypes is not installed, and numpy has no bfloat16 "
        'without it: run pip install "schemagen-tfrecord[ml-dtypes]"',
    ]


class TestPickles:
    """Splits that are opened by relative paths and read in other working directories."""

    @pytest.mark.parametrize(
        "source",
        [
            ("digits", "train"),
            (".", "train"),
            ("./digits", "train"),
            ("digits/train-*",),
            (["digits/train-00001-of-00002.tfrecord"],),
            ("digits/train-00000-of-00002.tfrecord",),
            ("alone.tfrecord",),
            ("train-00000-of-00002.tfrecord",),
        ],
    )
    def test_they_read_the_same_files(
        self,
        source: Any,
        directory: Path,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        (tmp_path / "digits").symlink_to(directory)
        shard = "train-00000-of-00002.tfrecord"
        (tmp_path / "alone.tfrecord").write_bytes((directory / shard).read_bytes())
        inside = source[0] == "." or source[0] == shard
        monkeypatch.chdir(directory if inside else tmp_path)
        split = open_split(*source)
        expected = scans(split.batches(8))
        assert split._view.shards.paths  # made of the paths, and not pickled
        saved = pickle.dumps(split)
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        monkeypatch.chdir(elsewhere)
        found = pickle.loads(saved)
        assert scans(found.batches(8)) == expected
        assert found[3]["scan"] == expected[3]

    def test_errors_name_the_path_that_was_given(
        self, directory: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(directory)
        split = open_split(".", "train").map(lambda row: 1)
        with pytest.raises(DatasetError, match=r"^\./train-00000-of-00002"):
            split[0]
