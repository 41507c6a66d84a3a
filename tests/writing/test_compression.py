"""Compression in blocks: one ordinary stream, the same bytes whoever deflates them."""

from __future__ import annotations

import errno
import gzip
import os
import random
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st
from schemagen.runtime.shared.tfrecord import frame, read_records
from schemagen.runtime.writing import compression
from schemagen.runtime.writing.compression import BLOCK_BYTES, Compressor
from tiers import examples

FORMS = ("GZIP", "ZLIB")
INFLATE: dict[str, Callable[[bytes], bytes]] = {
    "GZIP": gzip.decompress,
    "ZLIB": zlib.decompress,
}
WHOLE: dict[str, Callable[[bytes, int], bytes]] = {
    "GZIP": lambda data, level: gzip.compress(data, level, mtime=0),
    "ZLIB": zlib.compress,
}


def _mixed(size: int) -> bytes:
    """Text and noise, alternating: some of it shrinks and some does not."""
    numbers = random.Random(7)
    pieces: list[bytes] = []
    while sum(map(len, pieces)) < size:
        pieces.append(b"a word, and another word " * numbers.randrange(500))
        pieces.append(numbers.randbytes(numbers.randrange(9000)))
    return b"".join(pieces)[:size]


DATA = _mixed(5 * BLOCK_BYTES // 2)


@pytest.fixture(scope="module")
def threads() -> Iterator[ThreadPoolExecutor]:
    """Two threads, as many as a small machine has processors."""
    with ThreadPoolExecutor(2) as executor:
        yield executor


def _compressed(
    pieces: list[bytes], form: str, threads: Executor, level: int = 6
) -> bytes:
    found: list[bytes] = []
    stream = Compressor(found.append, form, level, threads)
    for piece in pieces:
        stream.write(piece)
    stream.close()
    return b"".join(found)


class _Waiting(Future[bytes]):
    """A block that is deflated when it is waited for."""

    def __init__(self, work: Callable[[], bytes], count: list[int]) -> None:
        super().__init__()
        self._work = work
        self._count = count

    def result(self, timeout: float | None = None) -> bytes:
        self._count[0] -= 1
        return self._work()


class _Slow(Executor):
    """Threads that are never ahead of the caller; `most` blocks waited at a time."""

    def __init__(self) -> None:
        self._count = [0]
        self.most = 0

    def submit(self, work: Callable[..., Any], /, *args: Any, **more: Any) -> Any:
        self._count[0] += 1
        self.most = max(self.most, self._count[0])
        return _Waiting(lambda: bytes(work(*args, **more)), self._count)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "size",
    [0, 1, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, 2 * BLOCK_BYTES, len(DATA)],
)
def test_what_goes_in_comes_out(
    form: str, size: int, threads: ThreadPoolExecutor
) -> None:
    """Any size, at the edges of blocks and between them, inflates to what it was."""
    assert INFLATE[form](_compressed([DATA[:size]], form, threads)) == DATA[:size]


@examples(25)
@given(
    form=st.sampled_from(FORMS),
    cuts=st.lists(st.integers(0, len(DATA)), max_size=20),
    workers=st.integers(1, 4),
)
def test_the_bytes_depend_on_the_data_alone(
    form: str, cuts: list[int], workers: int
) -> None:
    """However the input is cut and however many threads deflate it: equal bytes."""
    edges = [0, *sorted(cuts), len(DATA)]
    pieces = [DATA[a:b] for a, b in pairwise(edges)]
    with ThreadPoolExecutor(workers) as executor:
        assert _compressed(pieces, form, executor) == _expected(form)


def _expected(form: str) -> bytes:
    return _compressed([DATA], form, _Slow())


@pytest.mark.parametrize("form", FORMS)
def test_views_of_any_items_are_bytes(form: str, threads: ThreadPoolExecutor) -> None:
    """A view counts by its bytes, whatever its items are."""
    found: list[bytes] = []
    stream = Compressor(found.append, form, 6, threads)
    stream.write(memoryview(DATA[:4096]).cast("q"))
    stream.close()
    assert INFLATE[form](b"".join(found)) == DATA[:4096]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("level", [0, 1, 6, 9])
def test_it_is_as_small_as_in_one_go(
    form: str, level: int, threads: ThreadPoolExecutor
) -> None:
    """Blocks find repetitions across their seams: within 1 % of zlib by itself."""
    found = _compressed([DATA], form, threads, level)
    whole = WHOLE[form](DATA, level)
    assert INFLATE[form](found) == DATA
    assert len(found) < 1.01 * len(whole)


def test_repetitions_are_found_across_seams(threads: ThreadPoolExecutor) -> None:
    """Noise of 20 kB, again and again, is stored once, as zlib by itself would."""
    noise = random.Random(1).randbytes(20_000)
    data = noise * 60
    assert len(_compressed([data], "GZIP", threads)) < 1.01 * len(gzip.compress(data))


def test_the_level_matters(threads: ThreadPoolExecutor) -> None:
    """A higher level makes a smaller file."""
    sizes = [len(_compressed([DATA], "ZLIB", threads, level)) for level in (0, 1, 9)]
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == 3


@pytest.mark.parametrize("level", range(10))
def test_headers_are_those_of_zlib(level: int, threads: ThreadPoolExecutor) -> None:
    """Method, effort and check bits are zlib's; GZIP has no name and no time."""
    found = _compressed([b""], "ZLIB", threads, level)
    assert found[:2] == zlib.compress(b"", level)[:2]
    found = _compressed([b""], "GZIP", threads, level)
    assert found[:9] == gzip.compress(b"", level, mtime=0)[:9]
    assert found[9] == 255


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("records", [[], [b""], [b"one", DATA, b"", b"last"]])
def test_readers_of_tfrecord_files(
    tmp_path: Path, form: str, records: list[bytes], threads: ThreadPoolExecutor
) -> None:
    """TensorFlow and the package's own reader get the records, also when none."""
    path = tmp_path / "shard"
    path.write_bytes(_compressed(list(map(frame, records)), form, threads))
    found = tf.data.TFRecordDataset(str(path), compression_type=form)
    assert list(found.as_numpy_iterator()) == records
    assert list(read_records(path)) == records


@pytest.mark.parametrize("form", FORMS)
def test_a_flipped_bit_is_found(form: str, threads: ThreadPoolExecutor) -> None:
    """The checksum covers all blocks: no damage to the deflated data passes."""
    whole = _compressed([DATA], form, threads)
    numbers = random.Random(3)
    for _ in range(40):
        place = numbers.randrange(10, len(whole))
        torn = bytearray(whole)
        torn[place] ^= 1 << numbers.randrange(8)
        try:
            found = INFLATE[form](bytes(torn))
        except (zlib.error, OSError, EOFError):
            continue
        assert found == DATA, f"byte {place}"  # a bit that no reader looks at


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("fails_at", [0, 1, 2, 3])
def test_a_sink_that_refuses(
    form: str, fails_at: int, threads: ThreadPoolExecutor
) -> None:
    """A full disk surfaces in write or close, and no piece follows the lost one."""
    taken: list[bytes] = []

    def sink(piece: bytes) -> None:
        if len(taken) == fails_at:
            raise OSError(errno.ENOSPC, "No space left on device")
        taken.append(piece)

    stream = Compressor(sink, form, 6, threads)
    with pytest.raises(OSError, match="No space left"):
        _write_all(stream)
    with pytest.raises(OSError, match="No space left"):
        stream.write(b"more")
    with pytest.raises(OSError, match="No space left"):
        stream.close()
    assert len(taken) == fails_at


def _write_all(stream: Compressor) -> None:
    for start in range(0, len(DATA), 10_000):
        stream.write(DATA[start : start + 10_000])
    stream.close()


def test_a_thread_that_fails(
    monkeypatch: pytest.MonkeyPatch, threads: ThreadPoolExecutor
) -> None:
    """What a thread raises reaches the caller; nothing is left out in silence."""

    def broken(*_: object) -> bytes:
        raise MemoryError("no memory for a window")

    monkeypatch.setattr(compression, "_deflated", broken)
    stream = Compressor(lambda piece: None, "GZIP", 6, threads)
    stream.write(b"one")
    with pytest.raises(MemoryError, match="no memory for a window"):
        stream.close()


def test_threads_that_are_gone() -> None:
    """An executor that takes no more work is an error, not a short file."""
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    stream = Compressor(lambda piece: None, "GZIP", 6, executor)
    stream.write(b"one")
    with pytest.raises(RuntimeError, match="after shutdown"):
        stream.close()


def test_only_so_many_blocks_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """With threads that lag behind, write waits instead of piling up blocks."""
    slow = _Slow()
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    stream = Compressor(lambda piece: None, "GZIP", 6, slow)
    for _ in range(20):
        stream.write(bytes(BLOCK_BYTES))
    stream.close()
    assert slow.most == 4


def test_memory_does_not_grow_with_the_data(threads: ThreadPoolExecutor) -> None:
    """40 MB go through in a few megabytes."""
    noise = random.Random(2).randbytes(1_000_000)
    tracemalloc.start()
    stream = Compressor(lambda piece: None, "ZLIB", 1, threads)
    for _ in range(40):
        stream.write(noise)
    stream.close()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < (15 + 2 * (os.cpu_count() or 1)) * BLOCK_BYTES


def test_after_the_end(threads: ThreadPoolExecutor) -> None:
    """Closing twice is closing once; a closed or discarded stream takes no more."""
    found: list[bytes] = []
    stream = Compressor(found.append, "GZIP", 6, threads)
    stream.write(b"one")
    stream.close()
    stream.close()
    assert gzip.decompress(b"".join(found)) == b"one"
    with pytest.raises(ValueError, match="the compressed stream is closed"):
        stream.write(b"two")


def test_a_discarded_stream_writes_nothing(threads: ThreadPoolExecutor) -> None:
    """What was pending never reaches the sink, and neither does an end."""
    found: list[bytes] = []
    stream = Compressor(found.append, "GZIP", 6, threads)
    stream.write(DATA[:1000])
    stream.discard()
    stream.close()
    assert found == []
    with pytest.raises(ValueError, match="the compressed stream is closed"):
        stream.write(b"two")
