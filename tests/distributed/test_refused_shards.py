"""Shards that must not be published: other rows than before, and equal keys."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from digit_rows import row
from schemagen.runtime.engines.steps import cut, encode, write_shard
from schemagen.runtime.shared.errors import ChangedSourceError, DatasetError
from schemagen.runtime.writing.shards import Receipt

from generated.digit import serializer as digit


def plan_of(directory: Path, shards: int) -> Any:
    return digit.plan_dataset(
        directory, "train", shards=shards, shuffle_seed=7, key_field="scan"
    )


def write(plan: Any, numbers: Iterable[int], shards: Iterable[int]) -> list[Receipt]:
    """Write some shards as an engine does."""
    digit.begin(plan)
    blocks = list(encode(map(row, numbers), plan))
    found = []
    for shard in shards:
        mine = [part for at, part in cut(blocks, plan.shards) if at == shard]
        found.append(write_shard(plan, shard, mine))
    return found


def records_or_message(plan: Any, numbers: Iterable[int], shard: int) -> int | str:
    """Return how many records a shard has, or why it is refused."""
    try:
        [receipt] = write(plan, numbers, [shard])
    except DatasetError as error:
        return str(error)
    return receipt.records


@pytest.mark.parametrize("shards", [1, 2, 3, 50, 101, 102, 150])
def test_equal_keys_at_any_boundary_are_refused_by_their_value(
    tmp_path: Path, shards: int
) -> None:
    """Exactly one shard has them; the shards before and after it can be written."""
    plan = plan_of(tmp_path, shards)
    records, messages = 0, []
    for shard in range(shards):
        found = records_or_message(plan, [*range(101), 42], shard)
        if isinstance(found, str):
            messages.append(found)
        else:
            records += found
    [message] = messages
    assert "'scan'" in message
    assert " 42," in message
    assert records <= 100


def test_other_rows_are_refused_each_time_a_shard_is_tried_again(
    tmp_path: Path,
) -> None:
    """An engine tries more than once, and must not agree with its own last attempt."""
    plan = plan_of(tmp_path, 1)
    write(plan, range(100), [0])
    for _ in range(3):
        with pytest.raises(ChangedSourceError, match="shard 0 "):
            write(plan, range(1, 101), [0])
    with pytest.raises(ChangedSourceError, match="shard 0 "):
        digit.publish(plan)
    digit.abandon(plan)
    assert digit.publish(plan, write(plan, range(1, 101), [0])) == 100
