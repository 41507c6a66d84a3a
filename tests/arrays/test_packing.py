"""Lists that are packed into rows of one length: each item once, with its record."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from packed_rows import best_fit
from tiers import examples

from generated import DatasetError, mix

if TYPE_CHECKING:
    from conftest import PackageOf

SCHEMA = """
from typing import Annotated
from schemagen import Label, Record, VarLen, Vector

class Tokens(Record):
    number: int
    title: str
    kind: Annotated[str, Label(classes=("a", "b", "c"))]
    pair: Annotated[list[float], Vector((2,))]
    score: int | None = None
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
        "title": f"title {number}",
        "kind": "abc"[number % 3],
        "pair": [number, -number],
        "score": None if number % 3 else number + 7,
        "tokens": [1000 * number + at for at in range(length)],
        "types": [number % 5] * length,
        "words": [f"w{number}"] * (number % 3),
        "notes": None if number % 2 else [0.5] * (number % 4),
    }


class Opened:
    """Opens splits of equal rows.

    Args:
        package: of the schema.
        directory: where they are.
    """

    def __init__(self, package: Any, directory: Any) -> None:
        write_dataset = package.module("tokens", "serializer").write_dataset
        self._open = package.module("tokens", "reader").open_split
        self._directory = directory
        rows = [*map(row, range(COUNT))]
        write_dataset(rows, directory, "train", shards=3)
        write_dataset(rows, directory, "zipped", shards=3, compression="GZIP")
        write_dataset(rows, directory, "moved")
        write_dataset(rows, directory, "damaged")
        [path] = directory.glob("damaged-*")
        data = bytearray(path.read_bytes())
        data[data.index(b"title 1234") + 30] ^= 0x55
        path.write_bytes(data)

    def remove(self, name: str) -> None:
        for path in self._directory.glob(f"{name}-*"):
            path.unlink()

    def __call__(self, name: str = "train", **options: Any) -> Any:
        return self._open(self._directory, name, **options)


@pytest.fixture(scope="module")
def open_tokens(
    package_of: PackageOf, tmp_path_factory: pytest.TempPathFactory
) -> Opened:
    return Opened(package_of(SCHEMA), tmp_path_factory.mktemp("tokens"))


@pytest.fixture(scope="module")
def split(open_tokens: Opened) -> Any:
    return open_tokens()


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


def packed_order(numbers: list[int], size: int) -> list[list[int]]:
    """Pack all windows of an order of rows: the tokens of each packed row."""
    found = []
    for start in range(0, len(numbers), 2048):
        lists = [row(number)["tokens"] for number in numbers[start : start + 2048]]
        for pieces in best_fit([*map(len, lists)], size):
            items = (lists[at][start : start + size] for at, start in pieces)
            found.append([*chain.from_iterable(items)])
    return found


def packed_rows(batches: Any) -> list[list[int]]:
    """Return the tokens of each row of some batches."""
    return [
        tokens[segments > 0].tolist()
        for batch in batches
        for tokens, segments in zip(
            batch["tokens"], batch["tokens_segments"], strict=True
        )
    ]


@pytest.fixture(scope="module")
def expected(split: Any) -> list[list[int]]:
    order = split.batches(100, shuffle_seed=1, epoch=2)
    numbers = [number for batch in order for number in batch["number"].tolist()]
    return packed_order(numbers, 128)


@examples(100)
@given(data=st.data())
def test_readers_take_turns_in_rows_and_others_go_on(
    split: Any, expected: list[list[int]], data: st.DataObject
) -> None:
    """For any numbers of readers and batch sizes one after the other."""
    options = {"shuffle_seed": 1, "epoch": 2, "pack": {"tokens": 128}}
    state, left = None, expected
    for _ in range(data.draw(st.integers(1, 4))):
        readers = data.draw(st.integers(1, 5))
        size = data.draw(st.integers(1, 40))
        drop = data.draw(st.booleans())
        shares = [
            split.batches(
                size, **options, shard=(i, readers), drop_remainder=drop, resume=state
            )
            for i in range(readers)
        ]
        dealt = [left[i::readers] for i in range(readers)]
        fewest = len(dealt[-1]) // size
        for share, own in zip(shares, dealt, strict=True):
            assert len(share) == (fewest if drop else -(-len(own) // size))
        stop = data.draw(st.integers(0, fewest))
        for share, own in zip(shares, dealt, strict=True):
            assert packed_rows(islice(share, stop)) == own[: stop * size]
        left, state = left[stop * size * readers :], shares[0].state()
    batches = split.batches(7, **options, resume=state)
    assert len(batches) == -(-len(left) // 7)
    assert packed_rows(batches) == left


@pytest.mark.parametrize("stop", [0, 9, 150])
def test_readers_of_blocks_have_all_rows_once(split: Any, stop: int) -> None:
    """Also when they stop within a run of rows."""
    some = split.select([*range(COUNT)] * 4)
    options = {"shuffle_seed": 1, "block": 8, "pack": {"tokens": 64}}
    every = packed_rows(some.batches(8, **options))
    shares = [some.batches(8, **options, shard=(i, 2)) for i in range(2)]
    first = [packed_rows(islice(share, stop)) for share in shares]
    run = every[: min(8 * stop, 900)]  # not each second row
    assert first[0][: len(run)] == run
    state = shares[1].state()
    rest = [some.batches(5, **options, shard=(i, 3), resume=state) for i in range(3)]
    found = chain(*first, *map(packed_rows, rest))
    assert sorted(found) == sorted(every)


def test_a_state_of_other_packing_is_refused(split: Any) -> None:
    state = split.batches(8, shuffle_seed=1, pack={"tokens": 64}).state()
    with pytest.raises(DatasetError, match=r"pack={'tokens': 64} \(now {'tokens': 32}"):
        split.batches(8, shuffle_seed=1, pack={"tokens": 32}, resume=state)
    with pytest.raises(DatasetError, match=r"too_long='cut' \(now 'drop'\)"):
        split.batches(
            8, shuffle_seed=1, pack={"tokens": 64}, too_long="drop", resume=state
        )
    older = {**state, "records": COUNT, "window": 0, "row": 3}
    with pytest.raises(DatasetError, match="resume: the state was made with"):
        split.batches(8, shuffle_seed=1, pack={"tokens": 64}, resume=older)


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


def with_mask(record: dict[str, Any]) -> dict[str, Any]:
    """Add a list that is as long as the tokens, and a number."""
    return {**record, "mask": np.asarray(record["tokens"]) % 2 == 0, "one": 1}


def test_lists_that_a_function_adds_are_packed(split: Any) -> None:
    for batch in split.map(with_mask).batches(8, pack={"tokens": 64}):
        assert {*batch} == {
            *("tokens", "types", "mask", "tokens_segments", "tokens_positions")
        }
        filled = batch["tokens_segments"] > 0
        assert batch["mask"].dtype == bool
        assert (batch["mask"] == (filled & (batch["tokens"] % 2 == 0))).all()


def test_an_added_list_has_the_length_in_each_record(split: Any) -> None:
    def odd(record: dict[str, Any]) -> dict[str, Any]:
        short = record["number"] == 70
        return {**record, "extra": record["tokens"][: 5 if short else None]}

    with pytest.raises(
        DatasetError,
        match=r"train-00000-of-00003\.tfrecord: record 70: pack: field 'extra' has 5 "
        r"items, and 'tokens' has 50; return lists of one length, or leave the field out",
    ):
        list(split.map(odd).batches(8, pack={"tokens": 64}))


@pytest.mark.parametrize("odd", [0, 1, 500])
def test_an_added_list_of_another_length_is_refused(split: Any, odd: int) -> None:
    """Whichever record comes first."""

    def shorter(record: dict[str, Any]) -> dict[str, Any]:
        return {**record, "extra": record["tokens"][int(record["number"] >= odd) :]}

    with pytest.raises(DatasetError, match="return lists of one length, or leave"):
        list(split.map(shorter).batches(8, shuffle_seed=1, pack={"tokens": 64}))


@pytest.mark.parametrize("first", [True, False])
def test_splits_of_a_mixture_add_the_same_lists(split: Any, first: bool) -> None:
    splits = [split, split.map(with_mask)]
    both = mix(splits if first else splits[::-1])
    with pytest.raises(DatasetError, match="field 'mask'"):
        list(both.batches(8, pack={"tokens": 64}))


def test_segments_need_a_pack_and_names(split: Any) -> None:
    with pytest.raises(DatasetError, match="give pack"):
        split.batches(8, per_segment=["number"])
    with pytest.raises(DatasetError, match=r"such as \['number'\]"):
        split.batches(8, pack={"tokens": 64}, per_segment="number")


def test_a_state_of_packed_rows_names_the_pack(split: Any) -> None:
    state = split.batches(8, pack={"tokens": 64}).state()
    with pytest.raises(DatasetError, match=r"pack=\{'tokens': 64\} \(now None\)"):
        split.batches(8, resume=state)


def test_a_function_of_batches_adds_lists(open_tokens: Opened) -> None:
    def more(batch: dict[str, Any]) -> dict[str, Any]:
        assert isinstance(batch["tokens"], list)
        return {**batch, "more": [tokens + 1 for tokens in batch["tokens"]]}

    changed = open_tokens(ragged="list").map(more, batched=True)
    for batch in changed.batches(8, pack={"tokens": 64}, per_segment=["title"]):
        filled = batch["tokens_segments"] > 0
        assert (batch["more"] == np.where(filled, batch["tokens"] + 1, 0)).all()
        assert batch["title"][0][0].startswith("title")


def test_a_function_of_other_lengths_each_time_is_refused(split: Any) -> None:
    calls = iter(range(10**9))

    def grows(record: dict[str, Any]) -> dict[str, Any]:
        return {"tokens": np.arange(1 + next(calls) // COUNT)}

    with pytest.raises(
        DatasetError,
        match=r"record \d+: pack: field 'tokens' has \d+ items, and had 1 when lengths "
        "were read; .* take random numbers from the generator",
    ):
        list(split.map(grows).batches(8, pack={"tokens": 64}))


def test_lengths_may_depend_on_the_random_numbers_of_an_epoch(split: Any) -> None:
    def cut(record: dict[str, Any], random: np.random.Generator) -> dict[str, Any]:
        length = random.integers(1, 60)
        return {name: record[name][:length] for name in ("tokens", "types")}

    some = split.map(cut)
    for epoch in (0, 1, 0):
        options = {"shuffle_seed": 1, "epoch": epoch}
        lists = [
            row.tolist()
            for batch in some.batches(1, **options)
            for row in batch["tokens"]
            if row.size
        ]
        batches = some.batches(8, **options, pack={"tokens": 64})
        assert sorted(segments(batches)) == sorted(lists)


ONE_EACH = ("number", "title", "kind", "pair", "score")


def test_values_of_records_come_for_each_segment(split: Any) -> None:
    for batch in split.batches(8, pack={"tokens": 64}, per_segment=ONE_EACH):
        numbers = batch["tokens_segments"]
        most = numbers.max()
        assert batch["number"].shape == (len(numbers), most)
        assert batch["pair"].shape == (len(numbers), most, 2)
        every = np.arange(1, most + 1)
        there = (numbers[:, :, np.newaxis] == every).any(axis=1)
        own = batch["number"]
        assert (own[~there] == 0).all()
        assert (batch["title"] == "")[~there].all()
        assert (batch["title"][there] == [f"title {n}" for n in own[there]]).all()
        assert (batch["kind"][there] == own[there] % 3).all()
        assert (batch["pair"][there] == np.stack([own, -own], -1)[there]).all()
        assert (batch["score_present"] == (there & (own % 3 == 0))).all()
        assert (batch["score"] == np.where(batch["score_present"], own + 7, 0)).all()
        items = np.take_along_axis(own, np.maximum(numbers - 1, 0), axis=1)
        filled = numbers > 0
        assert (items[filled] == batch["tokens"][filled] // 1000).all()


def test_pieces_of_a_list_repeat_the_value_of_its_record(split: Any) -> None:
    for batch in split.batches(8, pack={"tokens": 16}, per_segment=["number"]):
        segments = batch["tokens_segments"]
        items = np.take_along_axis(batch["number"], np.maximum(segments - 1, 0), axis=1)
        filled = segments > 0
        assert (items[filled] == batch["tokens"][filled] // 1000).all()


def test_added_values_come_for_each_segment(split: Any) -> None:
    """With a mask where one of the batch is missing, whatever is read with it."""

    def add(record: dict[str, Any]) -> dict[str, Any]:
        number = record["number"]
        return {**record, "half": None if number % 100 == 7 else number / 2}

    options: dict[str, Any] = {
        "pack": {"tokens": 64},
        "per_segment": ["number", "half"],
    }
    found = [*split.map(add).batches(4, **options)]
    assert 0 < sum("half_present" in batch for batch in found) < len(found) / 2
    for batch in found:
        own, present = batch["number"], batch["number"] % 100 != 7
        there = (
            batch["tokens_segments"][:, :, np.newaxis] == np.arange(own.shape[1]) + 1
        ).any(axis=1)
        assert ("half_present" in batch) == (not present[there].all())
        assert (batch["half"] == np.where(there & present, own / 2, 0)).all()


def test_an_added_value_may_be_missing_in_the_first_record(split: Any) -> None:
    def add(record: dict[str, Any]) -> dict[str, Any]:
        number = record["number"]
        return {**record, "added": None if number < 20 else [number, 1]}

    options: dict[str, Any] = {"pack": {"tokens": 64}, "per_segment": ["added"]}
    [batch] = split.map(add).batches(10_000, **options)
    assert batch["added"].shape[2:] == (2,)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["words"], "per_segment: 'words' is not a field whose values have one shape"),
        (["numbr"], "per_segment: 'numbr' is not .*; did you mean 'number'"),
    ],
)
def test_lists_do_not_come_for_each_segment(
    split: Any, names: list[str], said: str
) -> None:
    with pytest.raises(DatasetError, match=said):
        split.batches(4, pack={"tokens": 64}, per_segment=names)


def test_values_of_several_shapes_do_not_come_for_each_segment(split: Any) -> None:
    def add(record: dict[str, Any]) -> dict[str, Any]:
        return {**record, "part": np.ones(1 + record["number"] // 1000)}

    batches = split.map(add).batches(4, pack={"tokens": 64}, per_segment=["part"])
    with pytest.raises(DatasetError, match="field 'part' has values of several shapes"):
        list(batches)
    missing = split.map(lambda record: {"tokens": record["tokens"]})
    with pytest.raises(DatasetError, match="no field 'title' is left"):
        missing.batches(4, pack={"tokens": 64}, per_segment=["title"])


def test_a_field_that_a_function_makes_no_list_is_refused(split: Any) -> None:
    made = split.map(lambda record: {"value": 1})
    with pytest.raises(
        DatasetError, match="field 'value': found int 1, expected a list"
    ):
        made.batches(4, pack={"value": 64})


def test_compressed_records_are_packed_in_their_order(open_tokens: Opened) -> None:
    split, compressed = open_tokens(), open_tokens("zipped")
    options: dict[str, Any] = {"pack": {"tokens": 64}, "per_segment": ["title"]}
    for index in range(3):
        shard = (index, 3)
        expected = split.batches(7, **options, shard=shard)
        found = compressed.batches(7, **options, shard=shard)
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            for name in one:
                np.testing.assert_array_equal(one[name], other[name])


def test_another_process_gets_the_lengths(open_tokens: Opened) -> None:
    """It reads none itself."""
    split = open_tokens("moved")
    options = {"shuffle_seed": 1, "pack": {"tokens": 64}}
    count = len(split.batches(8, **options))
    known, unknown = pickle.dumps(split), pickle.dumps(open_tokens("moved"))
    open_tokens.remove("moved")
    assert len(pickle.loads(known).batches(8, **options)) == count
    with pytest.raises(DatasetError):
        pickle.loads(unknown).batches(8, **options)


def test_corrupt_records_have_no_pieces(open_tokens: Opened) -> None:
    expected = sorted(segments(open_tokens().batches(8, pack={"tokens": 64})))
    damaged = open_tokens("damaged", on_corrupt="skip")
    options: dict[str, Any] = {"pack": {"tokens": 64}, "per_segment": ["number"]}
    with pytest.warns(RuntimeWarning, match="1 record is left out"):
        batches = damaged.batches(8, shuffle_seed=1, **options)
    rows = len(batches)
    found = [*batches]
    assert len(found) == rows
    assert sorted(segments(found)) == [e for e in expected if e[0] // 1000 != 1234]


def test_derived_splits_are_packed_with_the_lengths_of_theirs(split: Any) -> None:
    pack = {"tokens": 64}
    even = split.select(range(0, COUNT, 2))
    some = [*segments(even.batches(8, shuffle_seed=1, pack=pack))]
    lists = [row(n)["tokens"] for n in range(0, COUNT, 2)]
    assert sorted(some) == sorted(filter(None, lists))
    twice = split.select([*range(100)] * 2)
    found = [*segments(twice.batches(8, shuffle_seed=1, pack=pack))]
    assert sorted(found) == sorted([row(n)["tokens"] for n in range(100) if n % 60] * 2)
    both = mix([even, split.select([5, 7, 9])], stop="last")
    mixed = [*segments(both.batches(8, shuffle_seed=1, pack=pack))]
    assert len(mixed) > len(some) * 1.9
    few = {5, 7, 9}
    assert sorted(e for e in mixed if e[0] // 1000 not in few) == sorted(
        filter(None, lists)
    )
