"""Rows to chunks in several processes: the same bytes, errors, and no survivors."""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numbered_rows import Interrupted, Part, Table, Unsendable, joined, serialize
from schemagen.runtime.shared.errors import DatasetError, RecordError
from schemagen.runtime.writing import pool
from schemagen.runtime.writing.encoding import Encoding
from schemagen.runtime.writing.sources import Source, source_of
from schemagen.runtime.writing.worker import Failed
from schemagen.runtime.writing.workers import chunks

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
SKIP = Encoding(serialize, skip=True)
METHODS = [
    method
    for method in ("fork", "spawn")
    if method in multiprocessing.get_all_start_methods()
]


@pytest.fixture(params=METHODS)
def method(request: pytest.FixtureRequest) -> Iterator[str]:
    """How processes are started, for tests that must hold with each."""
    before = multiprocessing.get_start_method(allow_none=True)
    multiprocessing.set_start_method(request.param, force=True)
    yield request.param
    multiprocessing.set_start_method(before, force=True)


@pytest.fixture
def forked() -> Iterator[None]:
    """Start processes fast, for tests that are not about that."""
    before = multiprocessing.get_start_method(allow_none=True)
    multiprocessing.set_start_method("fork", force=True)
    yield
    multiprocessing.set_start_method(before, force=True)


@pytest.fixture(autouse=True)
def no_survivors() -> Iterator[None]:
    """No test leaves a process or a thread behind."""
    threads = threading.active_count()
    yield
    assert multiprocessing.active_children() == []
    assert threading.active_count() == threads


def indexed(acts: dict[int, str] | None = None, length: int = 3000) -> Source:
    return source_of(Table(length, acts or {}))


def streamed(acts: dict[int, str] | None = None, length: int = 3000) -> Source:
    return source_of(Part(Table(length, acts or {}))())


def parted(acts: dict[int, str] | None = None, length: int = 900) -> Source:
    return source_of(
        [Part(Table(length)), Part(Table(0)), Part(Table(length, acts or {}))]
    )


SOURCES = [indexed, streamed, parted]


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("make", SOURCES)
def test_the_number_of_workers_changes_nothing(
    make: Callable[..., Source], method: str
) -> None:
    """Bytes, positions and refused rows are those of one process."""
    acts = {5: "refused", 6: "misfit", 700: "refused"}
    one = joined(make(acts), SKIP)
    assert [row.row for row in one[max(one)][2]] == [5, 6, 700]
    for workers in (2, 3):
        assert joined(make(acts), SKIP, workers=workers) == one


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("workers", [2, 5])
@pytest.mark.parametrize("make", [indexed, streamed])
def test_chunks_come_in_the_order_of_rows(
    make: Callable[..., Source], workers: int, forked: None
) -> None:
    """The rows of the chunks go up, one after the other, whoever has made them."""
    found = joined(make(length=20_000), workers=workers)
    assert found[0][1] == list(range(20_000))


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize(
    ("length", "blocks"), [(1000, 1), (1000, 7), (3, 7), (0, 3), (0, 1), (1, 1)]
)
def test_blocks(length: int, blocks: int, workers: int, forked: None) -> None:
    """Each block is a part with its rows, also without any, in their order."""
    source = indexed(length=length)
    found = joined(source, blocks=blocks, workers=workers)
    assert list(found) == list(range(blocks))
    rows = [row for _, rows, _ in found.values() for row in rows]
    assert rows == list(range(length))
    assert [len(rows) for _, rows, _ in found.values()] == [
        (part + 1) * length // blocks - part * length // blocks
        for part in range(blocks)
    ]


@pytest.mark.parametrize("workers", [1, 2])
def test_some_parts_only(workers: int, forked: None) -> None:
    """Parts that are finished already are neither asked for nor encoded."""
    blocks = joined(indexed({0: "leave"}), blocks=6, parts=[1, 4, 5], workers=workers)
    assert {part: rows[0] for part, (_, rows, _) in blocks.items()} == {
        1: 500,
        4: 2000,
        5: 2500,
    }
    found = joined(parted({0: "leave"}), parts=[1, 0], workers=workers)
    assert {part: len(rows) for part, (_, rows, _) in found.items()} == {0: 900, 1: 0}


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("make", [indexed, streamed])
@pytest.mark.parametrize("skip", [1, 1234, 2999, 3000])
def test_beginning_at_a_row(
    make: Callable[..., Source], skip: int, workers: int, forked: None
) -> None:
    """Rows before are passed by, and positions still count from the first of all."""
    data, rows, _ = joined(make({0: "refused"}), skip=skip, workers=workers)[0]
    assert rows == list(range(skip, 3000))
    assert bytes(joined(make())[0][0]).endswith(data)


def test_a_source_may_use_its_memory_again(forked: None) -> None:
    """Each row is on its way before the source is asked for the next."""

    def rows() -> Iterator[dict[str, Any]]:
        values = np.zeros(5000, np.int64)
        row = {"number": 0, "values": values}
        for number in range(200):
            row["number"] = values[:] = number
            yield row

    one = joined(source_of(rows()))
    assert joined(source_of(rows()), workers=2) == one


# What goes wrong with rows.


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("make", [indexed, streamed])
def test_the_first_wrong_row_is_named(
    make: Callable[..., Source], workers: int, forked: None
) -> None:
    """Many wrong rows, some of them in every task: it is the first that is told."""
    acts = dict.fromkeys(range(1700, 3000), "refused")
    with pytest.raises(RecordError) as caught:
        joined(make(acts), workers=workers)
    assert (caught.value.row, caught.value.shard) == (1700, None)
    assert str(caught.value).startswith("row 1700: field 'number': found -1700")


def test_a_later_error_that_comes_first_waits(
    tmp_path: Path, forked: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a row before is still being loaded, the error of a later one waits."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    class Watched(deque[Any]):
        def append(self, item: Any) -> None:
            super().append(item)
            if isinstance(item[0], Failed) and told.ident is None:
                told.start()

    class Worker(pool._Worker):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            self.ready = Watched()

    # Row 3 is loaded once the parent knows that row 20, in another worker, is refused.
    told = threading.Thread(target=pipe.write_text, args=("",))
    monkeypatch.setattr(pool, "_Worker", Worker)
    acts = {3: f"wait for {pipe}", 5: "refused", 20: "refused"}
    with pytest.raises(RecordError) as caught:
        joined(indexed(acts), workers=2)
    assert caught.value.row == 5
    told.join()


@pytest.mark.parametrize("workers", [1, 2])
def test_a_wrong_row_of_a_shard(workers: int, forked: None) -> None:
    """Where each shard has a source, the error says which."""
    with pytest.raises(RecordError, match=r"^shard 2, row 17: ") as caught:
        joined(parted({17: "refused"}), workers=workers)
    assert (caught.value.shard, caught.value.row) == (2, 17)


def test_an_error_comes_as_it_was_raised(method: str) -> None:
    """Class, arguments and notes are those in the worker; its traceback is the cause."""
    with pytest.raises(OSError, match="Input/output error") as caught:
        joined(indexed({41: "error"}), workers=2)
    assert (caught.value.errno, caught.value.filename) == (5, "/photos/17.jpg")
    assert caught.value.__notes__ == ["while the source loaded row 41"]
    assert "in __getitem__" in str(caught.value.__cause__)
    assert "numbered_rows.py" in str(caught.value.__cause__)


@pytest.mark.parametrize(
    ("act", "text"),
    [
        ("unsendable", "Unsendable: no way back"),
        ("unreturnable", "Unreturnable: lost on the way"),
    ],
)
def test_an_error_that_cannot_be_sent(act: str, text: str, forked: None) -> None:
    """It comes as a RuntimeError that says all the same."""
    with pytest.raises(RuntimeError) as caught:
        joined(indexed({41: act}), workers=2)
    assert str(caught.value) == text
    assert caught.value.__notes__ == ["while the source loaded row 41"]
    assert "numbered_rows.py" in str(caught.value.__cause__)


@pytest.mark.parametrize("workers", [1, 2])
def test_leaving_a_worker_leaves_the_job(workers: int, forked: None) -> None:
    """sys.exit() of a row's code ends the job, and not a worker in silence."""
    with pytest.raises(SystemExit) as caught:
        joined(indexed({41: "quit"}), workers=workers)
    assert caught.value.code == 4


@pytest.mark.parametrize("workers", [1, 2])
def test_a_row_that_stops_an_iteration(workers: int, forked: None) -> None:
    """It is no end of the rows, and its position is named."""
    with pytest.raises(RuntimeError, match="raised StopIteration for row 41"):
        joined(indexed({41: "stop"}), workers=workers)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_generator_that_fails(workers: int, forked: None) -> None:
    """What it has given is encoded first; then its error comes, with the position."""
    found = chunks(streamed({1500: "error"}), Encoding(serialize), workers=workers)
    rows: list[int] = []
    with pytest.raises(OSError, match="Input/output error") as caught:
        rows.extend(chunk.next_row for chunk in found)
    assert caught.value.__notes__ == ["while the source made row 1500"]
    assert rows[-1] == 1500
    with pytest.raises(RecordError) as refused:
        joined(streamed({1499: "refused", 1500: "error"}), workers=workers)
    assert refused.value.row == 1499


def test_a_row_that_cannot_be_sent(forked: None) -> None:
    """It is named, after the rows before it."""
    rows: list[dict[str, Any]] = [{"number": number} for number in range(99)]
    rows[40]["values"] = lambda: 5
    with pytest.raises(DatasetError) as caught:
        joined(source_of(iter(rows)), workers=2)
    assert str(caught.value).startswith("row 40 cannot be sent to a worker process (")
    assert str(caught.value).endswith(
        "); make its values arrays, numbers, strings or bytes, or use workers=1"
    )
    rows[30]["number"] = -1
    with pytest.raises(RecordError, match="row 30"):
        joined(source_of(iter(rows)), workers=2)


class Row:
    """A row of a class that cannot be read back."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __iter__(self) -> Iterator[tuple[str, int]]:
        yield "number", self.number

    def __reduce__(self) -> Any:
        raise AssertionError("sent as a dict instead")


def test_records_are_sent_as_dicts(forked: None) -> None:
    """Workers need not know the class of a row."""
    one = joined(source_of([{"number": number} for number in range(50)]))
    assert joined(source_of(map(Row, range(50))), workers=2) == one


# What goes wrong with processes.


@pytest.mark.parametrize("make", [indexed, parted])
def test_a_worker_that_is_killed(make: Callable[..., Source], method: str) -> None:
    """It ends the job with an error that says how, and at what rows."""
    with pytest.raises(DatasetError) as caught:
        joined(make({700: "die"}), workers=2)
    where = r"shard 2, rows 0 on" if make is parted else r"rows \d+ to \d+"
    assert caught.match(
        rf"^worker process \d+ was ended by SIGKILL while encoding {where}; nothing "
        "was published; usually the system does that when memory runs out: use fewer "
        "workers, or see what a single row takes$"
    )


def test_a_worker_that_leaves(method: str) -> None:
    """So does one that ends by itself, with its exit code."""
    with pytest.raises(DatasetError) as caught:
        joined(indexed({10: "leave"}), workers=2)
    assert caught.match(
        r"^worker process \d+ has ended with exit code 3 while encoding rows 0 to 15; "
    )


def _die_serializing(*, number: int, **others: object) -> bytes:
    faulthandler.disable()  # pytest's would print where this was
    os.kill(os.getpid(), signal.SIGSEGV)
    return b""


def test_a_worker_that_crashes_over_the_rows_of_a_generator(forked: None) -> None:
    """Rows that were sent to it are not lost in silence either."""
    with pytest.raises(
        DatasetError, match=r"ended by SIGSEGV while encoding rows \d+ to"
    ):
        joined(streamed(), Encoding(_die_serializing), workers=2)


def _fork_and_leave(*, number: int, **others: object) -> bytes:
    """End this process while another one keeps its connection open."""
    if os.fork():
        os._exit(3)
    reading, writing = map(int, os.environ["SURVIVORS"].split())
    os.close(writing)
    os.read(reading, 1)
    os._exit(0)


def test_a_dead_worker_whose_child_lives(
    forked: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection that somebody else keeps open does not hide that it has died."""
    monkeypatch.setattr(pool, "_ROLL_CALL_SECONDS", 0.05)
    reading, writing = os.pipe()
    monkeypatch.setenv("SURVIVORS", f"{reading} {writing}")
    with pytest.raises(DatasetError, match="exit code 3"):
        joined(indexed(length=2), Encoding(_fork_and_leave), workers=2)
    os.close(writing)  # lets them go
    os.close(reading)


@pytest.mark.parametrize("make", SOURCES)
def test_closing_early_ends_the_workers(
    make: Callable[..., Source], forked: None
) -> None:
    """Who wants no more chunks leaves no processes (see no_survivors)."""
    found = chunks(make(length=100_000), Encoding(serialize), workers=2)
    next(found)
    assert len(multiprocessing.active_children()) == 2
    found.close()  # type: ignore[attr-defined]


def test_what_waits_for_its_turn_is_bounded(
    forked: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker waits while the parent has as much from it as it may keep."""
    full, overrun = threading.Event(), threading.Event()

    class Watched(pool._Worker):
        @property
        def ahead(self) -> int:
            return self._ahead

        @ahead.setter
        def ahead(self, size: int) -> None:
            self._ahead = size
            if size >= limit:
                full.set()
            if size >= bound:
                overrun.set()

    limit, size = 1 << 20, 100_000
    bound = limit + (1 << 20) + 2 * size  # one more chunk may be on its way
    monkeypatch.setattr(pool, "_AHEAD_BYTES", limit)
    monkeypatch.setattr(pool, "_Worker", Watched)
    found = chunks(source_of(Table(300, size=size)), Encoding(serialize), workers=2)
    first = next(found)
    assert full.wait(60)
    assert not overrun.wait(0.3)
    records = [*first.rows.tolist()]
    for chunk in found:
        records += chunk.rows.tolist()
    assert records == list(range(300))


def test_rows_larger_than_what_may_wait_are_encoded(
    forked: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row that fills all memory that may wait is finished before the next is sent."""
    monkeypatch.setattr(pool, "_AHEAD_BYTES", 1 << 20)
    rows = [{"number": n, "values": np.full(1 << 18, n)} for n in range(9)]
    found = joined(source_of(iter(rows)), workers=2)
    assert found == joined(source_of(iter(rows)))


def test_what_cannot_be_sent_to_a_new_process() -> None:
    """Where processes start again, the error says what cannot go there."""
    before = multiprocessing.get_start_method(allow_none=True)
    multiprocessing.set_start_method("spawn", force=True)
    advice = (
        "define its functions and classes at the top level of a module that can be "
        "imported, or use workers=1"
    )
    try:
        with pytest.raises(DatasetError) as caught:
            joined(source_of([lambda: [], lambda: []]), workers=2)
        assert str(caught.value).startswith(
            "the source cannot be sent to worker processes, which the start method "
            "'spawn' asks for ("
        )
        assert str(caught.value).endswith(advice)
        with pytest.raises(DatasetError, match=r"^serialize cannot be sent to worker"):
            joined(indexed(), Encoding(lambda *, number, **others: b""), workers=2)
    finally:
        multiprocessing.set_start_method(before, force=True)


def test_workers_of_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a process that may not start others, the error says so."""
    config = multiprocessing.current_process()._config  # type: ignore[attr-defined]
    monkeypatch.setitem(config, "daemon", True)
    with pytest.raises(DatasetError) as caught:
        joined(indexed(), workers=2)
    assert str(caught.value) == (
        "workers=2: this process is a worker of multiprocessing itself and may not "
        "start others; use workers=1 in it"
    )


# Scripts of their own, whose processes all write to one pipe: it ends with the last.

_SCRIPT = """
import multiprocessing, signal
from numbered_rows import Table, serialize
from schemagen.runtime.writing.encoding import Encoding
from schemagen.runtime.writing.sources import source_of
from schemagen.runtime.writing.workers import chunks

class Endless(Table):
    def __getitem__(self, index):
        if index == 20:
            print("running", flush=True)
        while index > 20:
            pass  # as encoding does that takes long
        return {{"number": index}}

def main():
    # Shells let what they start in the background ignore it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    multiprocessing.set_start_method({method!r})
    for chunk in chunks(source_of(Endless(1000)), Encoding(serialize), workers=2):
        pass

{guard}
    main()
"""


@contextmanager
def run(path: Path, method: str, guard: str) -> Iterator[subprocess.Popen[str]]:
    """Run the script; none of its processes is left afterwards."""
    script = path / "script.py"
    script.write_text(_SCRIPT.format(method=method, guard=guard), encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, str(script)],
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{HERE}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as parent:
        try:
            yield parent
        finally:
            with suppress(ProcessLookupError):
                os.killpg(parent.pid, signal.SIGKILL)


@pytest.mark.parametrize("start", METHODS)
def test_workers_do_not_outlive_their_parent(tmp_path: Path, start: str) -> None:
    """Even while they encode: none is left after the parent was killed."""
    with run(tmp_path, start, 'if __name__ == "__main__":') as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "running\n"
        parent.kill()
        parent.communicate(timeout=120)  # until no process has the pipe


def test_workers_leave_interrupts_to_the_parent(method: str) -> None:
    """A Ctrl-C that reaches a worker alone does nothing."""
    found = joined(indexed({9: "interrupt"}, 100), workers=2)
    assert found[0][1] == list(range(100))


@pytest.mark.parametrize("blocked", [False, True])
def test_an_interrupt_that_reaches_a_worker_too_soon(blocked: bool) -> None:
    """Before it can ignore it: not even then does it do anything."""
    with spawning(blocked):
        found = joined(source_of(Interrupted(100)), workers=2)
    assert found[0][1] == list(range(100))


# What follows is of a process with one thread: in one with several, as pytest-xdist's or
# that of numpy's library, the system hands an interrupt to one that does not block it.

_INTERRUPTED = """
import signal
from schemagen.runtime.writing import pool
from schemagen.runtime.writing.sources import source_of
from numbered_rows import Interrupted
from test_workers import joined, spawning

started = []

def start(process, *others):
    start_process(process, *others)
    started.append(process.name)

def main():
    global start_process
    start_process, pool.start_process = pool.start_process, start
    with spawning(blocked={blocked}):
        try:
            joined(source_of(Interrupted(100, pickling=True)), workers=2)
        except KeyboardInterrupt:
            print("interrupted")
        if {blocked}:
            assert signal.sigpending() == {{signal.SIGINT}}
            assert signal.sigwait({{signal.SIGINT}}) == signal.SIGINT
    print(started)

if __name__ == "__main__":
    main()
"""


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("blocked", [False, True])
def test_an_interrupt_while_workers_are_started(tmp_path: Path, blocked: bool) -> None:
    """It is raised when all of them are there; if it is blocked, by whoever asks."""
    script = tmp_path / "script.py"
    script.write_text(_INTERRUPTED.format(blocked=blocked), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)],
        env={
            **os.environ,
            "PYTHONPATH": f"{ROOT}{os.pathsep}{HERE}",
            "OPENBLAS_NUM_THREADS": "1",
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said = "" if blocked else "interrupted\n"
    assert done.stdout == f"{said}['encoding-0', 'encoding-1']\n"


@contextmanager
def spawning(blocked: bool) -> Iterator[None]:
    """Spawn processes with SIGINT blocked or not, and see that it stays as it is."""
    before = multiprocessing.get_start_method(allow_none=True)
    multiprocessing.set_start_method("spawn", force=True)
    # Shells let what they start in the background ignore it.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    how = signal.SIG_BLOCK if blocked else signal.SIG_UNBLOCK
    mask = signal.pthread_sigmask(how, {signal.SIGINT})
    try:
        yield
    finally:
        after = signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)
        multiprocessing.set_start_method(before, force=True)
    assert (signal.SIGINT in after) == blocked


@pytest.mark.parametrize("start", METHODS)
def test_ctrl_c(tmp_path: Path, start: str) -> None:
    """It ends all processes, and only the parent says so."""
    with run(tmp_path, start, 'if __name__ == "__main__":') as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "running\n"
        os.killpg(parent.pid, signal.SIGINT)
        _, errors = parent.communicate(timeout=120)
    assert parent.returncode == -signal.SIGINT
    assert errors.count("Traceback") == errors.count("KeyboardInterrupt") == 1, errors


def test_a_script_without_a_guard(tmp_path: Path) -> None:
    """Processes that start again run the script again: the error says what to do."""
    with run(tmp_path, "spawn", "if True:") as parent:
        _, errors = parent.communicate(timeout=120)
    assert parent.returncode == 1
    assert errors.splitlines()[-1].endswith(
        "nothing was published; if it says above that it could not start: a script "
        'must start its work under `if __name__ == "__main__":`'
    )


def test_errors_that_cannot_be_sent_are_what_they_say() -> None:
    """The class that the tests above send cannot be pickled."""
    with pytest.raises(AttributeError):
        multiprocessing.reduction.ForkingPickler.dumps(Unsendable("x"))
