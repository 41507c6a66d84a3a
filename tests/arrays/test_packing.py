"""Lists that are packed into rows of one length: each item once, with its record."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generated import DatasetError, mix

if TYPE_CHECKING:
    from conftest import PackageOf

SCHEMA = """
from typing import Annotated
from schemagen import Record, VarLen

class Tokens(Record):
    number: int
    tokens: Annotated[list[int], VarLen("int64", group="tokens", padding_value=-1)]
    types: Annotated[list[int], VarLen("int32", group="tokens")]
    words: Annotated[list[str], VarLen("string")]
    notes: Annotated[list[float] | None, VarLen("float32")] = None
"""
COUNT = 3_000
"""More than are packed together."""


def row(number: int) -> dict[str, Any]:
    """A row whose tokens tell its number and their places."""
    length = number * 7919 % 60
    return {
        "number": number,
        "tokens": [1000 * number + at for at in range(length)],
        "types": [number % 5] * length,
        "words": [f"w{number}"] * (number % 3),
        "notes": None if number % 2 else [0.5] * (number % 4),
    }


@pytest.fixture(scope="module")
def split(package_of: PackageOf, tmp_path_factory: pytest.TempPathFactory) -> Any:
    package = package_of(SCHEMA)
    directory = tmp_path_factory.mktemp("tokens")
    write_dataset = package.module("tokens", "serializer").write_dataset
    write_dataset([*map(row, range(COUNT))], directory, "train", shards=3)
    return package.module("tokens", "reader").open_split(directory, "train")


def segments(batches: Any) -> Iterator[list[int]]:
    """Yield the tokens of each segment."""
    for batch in batches:
        for tokens, numbers, positions in zip(
            batch["tokens"],
            batch["tokens_segments"],
            batch["tokens_positions"],
            strict=True,
        ):
            assert (tokens[numbers == 0] == -1).all()
            assert (positions[numbers == 0] == 0).all()
            for number in range(1, numbers.max() + 1):
                inside = np.flatnonzero(numbers == number)
                assert (np.diff(inside) == 1).all()
                assert positions[inside].tolist() == [*range(len(inside))]
                yield tokens[inside].tolist()


@given(
    lengths=st.lists(st.integers(0, 30)),
    size=st.integers(1, 12),
    too_long=st.sampled_from(["cut", "drop"]),
)
def test_each_piece_is_in_one_place(
    split: Any, lengths: list[int], size: int, too_long: str
) -> None:
    ends = np.cumsum([0, *lengths])

    def items(row: dict[str, Any]) -> dict[str, Any]:
        start, stop = ends[row["number"] : row["number"] + 2]
        return {"items": np.arange(start, stop) + 1}

    lists = split.select(range(len(lengths))).map(items)
    batches = [*lists.batches(5, pack={"items": size}, too_long=too_long)]
    tables = [batch["items"] for batch in batches]
    assert all(table.shape[1] == size for table in tables)
    found = [item for table in tables for item in table[table > 0].tolist()]
    kept = [n for n in lengths if n <= size or too_long == "cut"]
    assert len(found) == len(set(found)) == sum(kept)
    for table, batch in zip(tables, batches, strict=True):
        assert ((table > 0) == (batch["items_segments"] > 0)).all()
        assert (table > 0).any(axis=1).all()


def test_each_list_is_a_segment(split: Any) -> None:
    found = sorted(segments(split.batches(8, shuffle_seed=1, pack={"tokens": 64})))
    assert found == sorted(row(n)["tokens"] for n in range(COUNT) if row(n)["tokens"])


def test_batches_have_one_shape_and_the_lists_of_the_group(split: Any) -> None:
    for batch in split.batches(8, pack={"tokens": 64}, drop_remainder=True):
        assert {name: each.shape for name, each in batch.items()} == dict.fromkeys(
            ("tokens", "types", "tokens_segments", "tokens_positions"), (8, 64)
        )
        assert batch["types"].dtype == np.int32
        filled = batch["tokens_segments"] > 0
        assert (batch["types"][filled] == batch["tokens"][filled] // 1000 % 5).all()


def test_longer_lists_are_cut_or_left_out(split: Any) -> None:
    cut = [*segments(split.batches(8, pack={"tokens": 16}))]
    every = chain.from_iterable(row(number)["tokens"] for number in range(COUNT))
    assert sorted(chain.from_iterable(cut)) == sorted(every)
    assert max(map(len, cut)) == 16
    dropped = [*segments(split.batches(8, pack={"tokens": 16}, too_long="drop"))]
    kept = [row(n)["tokens"] for n in range(COUNT) if 0 < len(row(n)["tokens"]) <= 16]
    assert sorted(dropped) == sorted(kept)


def test_packing_goes_on_where_it_stopped(split: Any) -> None:
    """Across windows, and with another batch size."""
    options = {"shuffle_seed": 1, "epoch": 2, "pack": {"tokens": 128}}
    every = [*split.batches(4, **options)]
    for stop in (0, 1, 50, len(every) - 1, len(every)):
        begun = split.batches(4, **options)
        first = [*islice(begun, stop)]
        assert len(first) == stop
        rest = [*split.batches(3, **options, resume=begun.state())]
        found = [batch["tokens"] for batch in (*first, *rest)]
        expected = np.concatenate([batch["tokens"] for batch in every])
        np.testing.assert_array_equal(np.concatenate(found), expected)


def test_readers_pack_shares_that_are_all_records_once(split: Any) -> None:
    shares = [
        split.batches(8, shuffle_seed=1, pack={"tokens": 64}, shard=(i, 3))
        for i in range(3)
    ]
    found = sorted(tokens for share in shares for tokens in segments(share))
    assert found == sorted(row(n)["tokens"] for n in range(COUNT) if row(n)["tokens"])
    state = shares[0].state()
    with pytest.raises(DatasetError, match=r"shard=\[0, 3\] \(now \[0, 1\]\)"):
        split.batches(8, shuffle_seed=1, pack={"tokens": 64}, resume=state)


def test_packed_rows_have_little_padding(split: Any) -> None:
    batches = [*split.batches(8, shuffle_seed=1, pack={"tokens": 512})]
    segments = np.concatenate([batch["tokens_segments"] for batch in batches])
    assert (segments == 0).mean() < 0.01


def test_texts_and_optional_lists_are_packed(split: Any) -> None:
    words = next(split.batches(4, pack={"words": 32}))
    assert set(words["words"][0][:3]) <= {
        "w1",
        "w2",
        "w4",
        "w5",
        "w7",
        "w8",
        "w10",
        "w11",
    }
    notes = next(split.batches(4, pack={"notes": 32}))
    assert (notes["notes"][notes["notes_segments"] > 0] == 0.5).all()


def test_lists_that_a_function_has_changed_are_packed(split: Any) -> None:
    def ended(row: dict[str, Any]) -> dict[str, Any]:
        more = np.append(row["tokens"], -5), np.append(row["types"], np.int32(0))
        return {**row, **dict(zip(("tokens", "types"), more, strict=True))}

    found = [*segments(split.map(ended).batches(8, pack={"tokens": 64}))]
    assert sorted(found) == sorted([*row(n)["tokens"], -5] for n in range(COUNT))
    both = split.select(range(50)).map(ended)
    mixed = mix([both, split.select(range(50))])
    assert (
        sum(
            tokens[-1] == -5
            for tokens in segments(mixed.batches(8, pack={"tokens": 64}))
        )
        == 50
    )
    with pytest.raises(
        DatasetError, match=r"record \d+: pack: field 'types' has 61 items"
    ):
        next(
            split.map(lambda row: {**row, "types": [1] * 61}).batches(
                2, pack={"tokens": 64}
            )
        )
    renamed = split.map(lambda row: {"ids": row["tokens"]})
    assert next(renamed.batches(2, pack={"ids": 64}))["ids_segments"].max() > 1
    with pytest.raises(DatasetError, match="no field 'tokens' is left"):
        next(renamed.batches(2, pack={"tokens": 64}))
    with pytest.raises(DatasetError, match="open the split with ragged='list'"):
        next(
            split.map(lambda batch: batch, batched=True).batches(2, pack={"tokens": 64})
        )


@pytest.mark.parametrize(
    ("pack", "said"),
    [
        (
            {"number": 8},
            "no list 'number': expected one of tokens, types, words, notes",
        ),
        ({"token": 8}, "did you mean 'tokens'"),
        ({"tokens": 0}, "pack"),
        ({}, "expected one field and the length of a row"),
        ("tokens", "expected one field and the length of a row"),
    ],
)
def test_a_pack_that_names_no_list_is_refused(split: Any, pack: Any, said: str) -> None:
    with pytest.raises(DatasetError, match=said):
        split.batches(4, pack=pack)


def test_packed_batches_have_no_length(split: Any) -> None:
    with pytest.raises(TypeError, match="packed batches have no length"):
        len(split.batches(4, pack={"tokens": 8}))
