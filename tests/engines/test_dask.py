"""What Dask alone has: data frames, blocks that are lost, threads, and a page."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import dask.dataframe
import numpy as np
import pandas as pd
import pytest
from dask import bag
from dask_engine import started
from digit_rows import listed, written
from digits import Source, digit, digits, is_first, plan_of
from distributed import default_client
from engine import Engine
from schemagen.runtime.engines import dask as engine
from schemagen.runtime.engines import steps
from schemagen.runtime.shared.errors import RecordError

pytestmark = [pytest.mark.integration, pytest.mark.timeout(120)]

KEYED: dict[str, Any] = {"shuffle_seed": 7, "key_field": "scan"}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Engine]:
    """Two worker processes."""
    with started() as found:
        yield found


@pytest.mark.parametrize("as_lists", [False, True])
def test_a_data_frame_gives_the_files_of_write_dataset(
    cluster: Engine, tmp_path: Path, as_lists: bool
) -> None:
    """Its columns hold arrays or lists, which Dask leaves alone when it is told to."""
    wanted = written(tmp_path / "wanted", Source(100), shards=3, **KEYED)
    frame = pd.DataFrame(digits(100))
    if as_lists:
        for name in ("image", "moments"):
            frame[name] = [value.tolist() for value in frame[name]]
    with dask.config.set({"dataframe.convert-string": False}):
        rows = dask.dataframe.from_pandas(frame, npartitions=4)
        plan = plan_of(tmp_path / "found", shards=3, **KEYED)
        assert engine.write_dataset(rows, plan) == 100
    assert listed(tmp_path / "found") == wanted


def test_without_a_client_threads_write_the_same_files(tmp_path: Path) -> None:
    """As for any collection of Dask."""
    wanted = written(tmp_path / "wanted", Source(60), shards=3, **KEYED)
    plan = plan_of(tmp_path / "found", shards=3, **KEYED)
    with dask.config.set(scheduler="threads"):
        assert engine.write_dataset(bag.range(60, 4).map(digit), plan) == 60
    assert listed(tmp_path / "found") == wanted


def test_a_wrong_row_is_an_error_of_its_own_with_its_partition(
    cluster: Engine, tmp_path: Path
) -> None:
    rows = bag.from_sequence([*digits(15), {**digit(15), "digit": 99}], npartitions=2)
    with pytest.raises(RecordError, match=r"^row 7: field 'digit'") as caught:
        engine.write_dataset(rows, plan_of(tmp_path, shards=2, **KEYED))
    assert caught.value.__notes__ == ["in partition 1 of the rows"]


def _die_after(name: str, mark: Path) -> None:
    """Let the first worker that has done a step die before it can say so."""
    do = getattr(steps, name)

    def once(*arguments: Any) -> Any:
        done = do(*arguments)
        if is_first(mark):
            os.kill(os.getpid(), signal.SIGKILL)
        return done

    setattr(steps, name, once)


@pytest.mark.parametrize("step", ["write_shard", "write_part"])
def test_a_task_that_has_written_its_shard_can_run_again(
    tmp_path: Path, step: str
) -> None:
    """Its worker dies with the receipt, and with the blocks of rows that Dask keeps there."""
    mark = tmp_path / "killed"
    is_source = step == "write_part"
    options = {"shards": 4, **({} if is_source else KEYED)}
    wanted = written(tmp_path / "wanted", Source(400), **options)
    plan = plan_of(tmp_path / "found", rows=400 if is_source else None, **options)
    with started() as cluster:
        default_client().run(_die_after, step, mark)
        if is_source:
            assert cluster.write_source(Source(400), plan) == 400
        else:
            assert cluster.write_rows(range(400), plan, digit, pieces=4) == 400
    assert mark.exists()
    assert listed(tmp_path / "found") == wanted


def test_dask_knows_the_size_of_a_block(tmp_path: Path) -> None:
    """By which it decides when to write blocks to the disk of a worker."""
    plan = plan_of(tmp_path, shards=1, **KEYED)
    rows = [{**digit(at), "image": np.zeros((8, 8, 1), np.uint8)} for at in range(100)]
    (block,) = steps.encode(rows, plan)
    assert dask.sizeof.sizeof(block) > len(block.framed.data) > 100 * 64
