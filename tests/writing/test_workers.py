"""Several processes encode: the same files and errors as with one, and no survivors."""

from __future__ import annotations

import errno
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import Any

import pytest
from acting_rows import Part, Table, Unsendable
from digit_rows import contents, row, rows

from generated import DatasetError, RecordError
from generated.digit.serializer import plan_dataset, write_dataset, write_parts

HERE = Path(__file__).parent

METHODS = [
    method
    for method in ("fork", "spawn")
    if method in multiprocessing.get_all_start_methods()
]


@contextmanager
def started_by(method: str) -> Iterator[None]:
    """Start processes with a method."""
    before = multiprocessing.get_start_method(allow_none=True)
    multiprocessing.set_start_method(method, force=True)
    try:
        yield
    finally:
        multiprocessing.set_start_method(before, force=True)


@pytest.fixture(params=METHODS)
def method(request: pytest.FixtureRequest) -> Iterator[str]:
    """How processes are started, for tests that must hold with each."""
    with started_by(request.param):
        yield request.param


@pytest.fixture
def forked() -> Iterator[None]:
    """Start processes fast, for tests that are not about that."""
    with started_by("fork"):
        yield


@pytest.fixture(autouse=True)
def no_survivors() -> Iterator[None]:
    """No test leaves a process or a thread behind."""
    threads = threading.active_count()
    yield
    assert multiprocessing.active_children() == []
    assert threading.active_count() <= threads


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., int]:
    """Write a split with two workers."""

    def write(
        source: Any, name: str = "data", by: Any = write_dataset, **options: Any
    ) -> int:
        named = {"workers": 2, "overwrite": True, **options}
        return int(by(source, tmp_path / name, "train", **named))

    return write


def parted(length: int, acts: dict[int, str] | None = None) -> list[Part]:
    """A source for each of three shards, of which the last one acts."""
    return [Part(Table(length)), Part(Table(0)), Part(Table(length, acts or {}))]


def test_files_are_the_same_however_processes_are_started(
    tmp_path: Path, write: Callable[..., int], method: str
) -> None:
    """Refused rows are the same, too (`test_split.py` has more, forked)."""
    acts = {5: "refused", 700: "refused", 701: "unreadable"}
    for workers in (1, 2):
        with pytest.warns(RuntimeWarning, match="3 rows were left out"):
            write(
                Table(1500, acts),
                f"{workers}",
                **{"workers": workers, "shards": 3, "on_error": "skip"},
                refused=tmp_path / f"{workers}.jsonl",
            )
    assert contents(tmp_path / "1") == contents(tmp_path / "2")
    assert (tmp_path / "1.jsonl").read_text() == (tmp_path / "2.jsonl").read_text()


@pytest.mark.parametrize(("length", "shards"), [(3, 7), (0, 3), (1, 1)])
def test_shards_without_rows_are_there(
    tmp_path: Path, write: Callable[..., int], length: int, shards: int, forked: None
) -> None:
    """Each is there, whoever has nothing to do."""
    for workers in (1, 2, 3):
        rows = Table(length)
        options = {"workers": workers, "shards": shards, "allow_empty": True}
        assert write(rows, f"{workers}", **options) == length
        assert len(list((tmp_path / f"{workers}").glob("train-*"))) == shards
    assert contents(tmp_path / "1") == contents(tmp_path / "2")
    assert contents(tmp_path / "1") == contents(tmp_path / "3")


# What goes wrong with rows.


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize(
    ("make", "place"),
    [(Table, (1700, None)), (parted, (1700, 2))],
)
def test_the_first_wrong_row_is_named(
    write: Callable[..., int], make: Any, place: Any, workers: int, forked: None
) -> None:
    """Many wrong rows, some of them in every task: it is the first that is told."""
    acts = dict.fromkeys(range(1700, 3000), "refused")
    with pytest.raises(RecordError) as caught:
        write(make(3000, acts), workers=workers)
    assert (caught.value.row, caught.value.shard) == place
    assert caught.value.field == "digit"


def test_a_later_error_that_comes_first_waits(
    tmp_path: Path, write: Callable[..., int], forked: None
) -> None:
    """While a row before is still being loaded, the error of a later one waits."""
    log = tmp_path / "log"
    acts = {3: "wait", 5: "refused", 20: "refused"}
    with pytest.raises(RecordError) as caught:
        write(Table(3000, acts, log=str(log)))
    assert caught.value.row == 5


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(
    ("act", "error", "text"),
    [
        ("stop", RuntimeError, "row 41"),
        ("quit", SystemExit, "4"),
    ],
)
def test_an_error_comes_as_it_was_raised(
    write: Callable[..., int],
    act: str,
    error: type[BaseException],
    text: str,
    workers: int,
    forked: None,
) -> None:
    """sys.exit() of a row's code ends the job, and not a worker in silence."""
    with pytest.raises(error, match=text):
        write(Table(99, {41: act}), workers=workers)


@pytest.mark.parametrize(
    ("act", "error", "text"),
    [
        ("error", OSError, "Input/output error"),
        ("unsendable", RuntimeError, "^Unsendable: no way back"),
        ("unreturnable", RuntimeError, "^Unreturnable: lost on the way"),
    ],
)
def test_an_error_of_a_worker_has_its_traceback(
    write: Callable[..., int],
    act: str,
    error: type[Exception],
    text: str,
    method: str,
) -> None:
    """As the cause, with a note of the row; what cannot be sent says all the same."""
    with pytest.raises(error, match=text) as caught:
        write(Table(99, {41: act}))
    assert caught.value.__notes__[0].endswith(" row 41")
    assert "acting_rows.py" in str(caught.value.__cause__)
    with pytest.raises(AttributeError):
        multiprocessing.reduction.ForkingPickler.dumps(Unsendable("x"))


# What goes wrong with processes.


@pytest.mark.parametrize("make", [Table, parted])
@pytest.mark.parametrize("act", ["die", "leave"])
def test_a_worker_that_ends_ends_the_job(
    tmp_path: Path, write: Callable[..., int], make: Any, act: str, method: str
) -> None:
    """It ends the job, and nothing of it stays."""
    with pytest.raises(DatasetError, match="a worker process ended"):
        write(make(900, {700: act}), shards=3)
    assert not list((tmp_path / "data").glob("*.tfrecord"))


@pytest.mark.parametrize(
    ("source", "options"),
    [(iter(Table(9)), {}), ([Part(Table(9))], {"shuffle_seed": 1})],
)
def test_rows_of_one_process_are_refused(
    write: Callable[..., int], source: Any, options: dict[str, Any]
) -> None:
    """Where rows come one after the other, other processes cannot have them."""
    with pytest.raises(DatasetError, match=r"^workers=2: .*one process"):
        write(source, **options)


def test_what_cannot_be_sent_to_a_new_process_is_refused(
    write: Callable[..., int],
) -> None:
    """Where processes start again, the error says what cannot go there."""
    with (
        started_by("spawn"),
        pytest.raises(DatasetError, match="cannot be given"),
    ):
        write([lambda: [], lambda: []])


def test_workers_leave_interrupts_to_the_parent(
    write: Callable[..., int], method: str
) -> None:
    """A Ctrl-C that reaches a worker alone does nothing."""
    assert write(Table(100, {9: "interrupt"})) == 100


# Programs of their own, whose processes all write to one pipe: it ends with the last.

_PROGRAM = """
import multiprocessing, signal, sys
from acting_rows import Interrupted, Table
from generated.digit.serializer import plan_dataset, write_dataset, write_parts
from test_workers import started_by

def write(source):
    write_dataset(source, {directory!r}, "train", workers=2)

def endless():
    # Shells let what they start in the background ignore it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with started_by({method!r}):
        write(Table(1000, {{20: "endless"}}))

# The parent has one thread: in one with several the system hands an interrupt to one
# that does not block it.
def starting():
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with started_by("spawn"):
        try:
            write(Interrupted(100))
        except KeyboardInterrupt:
            print("interrupted")
    assert multiprocessing.active_children() == []

{guard}
    {call}
"""


@contextmanager
def program(
    path: Path, call: str, method: str = "spawn", guard: str = "__name__ == '__main__'"
) -> Iterator[subprocess.Popen[str]]:
    """Run a program; none of its processes is left afterwards."""
    script = path / "script.py"
    text = _PROGRAM.format(
        directory=str(path / "data"), method=method, guard=f"if {guard}:", call=call
    )
    script.write_text(text, encoding="utf-8")
    found = [HERE.parents[1], HERE.parent, HERE]
    with subprocess.Popen(
        [sys.executable, str(script)],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(map(str, found)),
            "OPENBLAS_NUM_THREADS": "1",
        },
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
    with program(tmp_path, "endless()", start) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "running\n"
        parent.kill()
        parent.communicate(timeout=120)  # until no process has the pipe


@pytest.mark.parametrize("start", METHODS)
def test_ctrl_c_ends_all_processes(tmp_path: Path, start: str) -> None:
    """It ends all processes, and only the parent says so."""
    with program(tmp_path, "endless()", start) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "running\n"
        os.killpg(parent.pid, signal.SIGINT)
        _, errors = parent.communicate(timeout=120)
    assert parent.returncode == -signal.SIGINT
    assert errors.count("Traceback") == errors.count("KeyboardInterrupt") == 1, errors


def test_an_interrupt_while_workers_are_started_is_raised(tmp_path: Path) -> None:
    """It is raised when all of them are there, and none is left."""
    with program(tmp_path, "starting()") as parent:
        printed, errors = parent.communicate(timeout=300)
    assert (parent.returncode, printed) == (0, "interrupted\n"), errors


def test_a_script_without_a_guard_says_what_to_do(tmp_path: Path) -> None:
    """Processes that start again run the script again: the error says what to do."""
    with program(tmp_path, "endless()", guard="True") as parent:
        _, errors = parent.communicate(timeout=120)
    assert parent.returncode == 1
    assert 'if __name__ == "__main__"' in errors.splitlines()[-1]


class _Full(FileIO):
    """A file of a disk without room for shards."""

    def write(self, data: Any, /) -> int:
        if "/.train-" in str(self.name):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(data)


@pytest.mark.parametrize(
    "write_rows",
    [
        lambda where: write_dataset(rows(40), where, "train", shards=2),
        lambda where: write_dataset(rows(40), where, "train", shards=2, workers=2),
        lambda where: write_dataset(map(row, range(40)), where, "train"),
        lambda where: write_parts(
            rows(40), plan_dataset(where, "train", shards=2, rows=40), part=(0, 1)
        ),
    ],
    ids=["blocks", "workers", "by size", "ranks"],
)
@pytest.mark.usefixtures("forked")
def test_full_disk_says_the_same_in_all_modes(
    tmp_path: Path,
    local_files: Callable[[type[FileIO]], None],
    write_rows: Callable[[Path], object],
) -> None:
    """The file, and what has become of the split."""
    local_files(_Full)
    with pytest.raises(OSError, match=r"nothing of split 'train' was published") as one:
        write_rows(tmp_path)
    assert one.value.errno == errno.ENOSPC
    assert ".train-0000" in one.value.filename


def test_workers_in_memory_are_refused(memory: Any) -> None:
    """Files in memory are of one process; nothing is written."""
    with pytest.raises(DatasetError, match=r"memory://.*workers=2"):
        write_dataset(rows(40), "memory://bucket/data", "train", shards=2, workers=2)
    assert memory.find("/bucket/data") == []
