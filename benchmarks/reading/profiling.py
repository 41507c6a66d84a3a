"""Where the time of our reader goes, by operation, as TensorFlow's profiler sees it."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import tensorflow as tf

from ..measure import Way
from ..report import number, table
from ..setting import Setting, empty
from . import ours
from .shapes import SHAPES

_OPERATIONS = 16


class Event(NamedTuple):
    """What a thread did for a while.

    Attributes:
        name: of the operation.
        start: in picoseconds.
        length: likewise.
    """

    name: str
    start: int
    length: int


def own_times(events: Iterable[Event]) -> Counter[str]:
    """Return how long each operation of a thread took without those inside of it.

    Args:
        events: of one thread; each begins and ends inside another or next to it.
    """
    found: Counter[str] = Counter()
    around: list[Event] = []
    for event in sorted(events, key=lambda event: (event.start, -event.length)):
        while around and around[-1].start + around[-1].length <= event.start:
            around.pop()
        if around:
            found[around[-1].name] -= event.length
        found[event.name] += event.length
        around.append(event)
    return found


def traced(way: Way) -> tuple[Counter[str], Counter[str]]:
    """Run something under the profiler.

    Returns:
        Own time in microseconds, of all threads together, and how often, by operation.
    """
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    options = tf.profiler.experimental.ProfilerOptions(
        host_tracer_level=2, python_tracer_level=0, device_tracer_level=0
    )
    with tempfile.TemporaryDirectory() as directory:
        with tf.profiler.experimental.Profile(directory, options):
            way()
        (file,) = Path(directory).rglob("*.xplane.pb")
        space = xplane_pb2.XSpace.FromString(file.read_bytes())
    times: Counter[str] = Counter()
    calls: Counter[str] = Counter()
    for plane in space.planes:
        for line in plane.lines:
            names = (plane.event_metadata[event.metadata_id] for event in line.events)
            events = [
                Event(operation(known.name), event.offset_ps, event.duration_ps)
                for known, event in zip(names, line.events, strict=True)
            ]
            calls.update(event.name for event in events)
            for name, own in own_times(events).items():
                times[name] += round(own / 1e6)
    return times, calls


def operation(name: str) -> str:
    """Return a short name: of a kind of operation, or of a step of a dataset."""
    name = name.split("#", 1)[0]  # what follows are attributes
    if "Iterator::" in name:
        step = name.rsplit("::", 1)[1]
        return f"start of {step}" if name.startswith("Make") else f"dataset {step}"
    return re.split(r"(?<!:):(?!:)", name)[-1]


def measure(setting: Setting) -> dict[str, Any]:
    """Profile an epoch of each shape when training.

    Returns:
        By shape, how many records an epoch has and the operations that take most of
        the time, as [microseconds, calls, operation].
    """
    found: dict[str, Any] = {}
    for shape in SHAPES:
        if shape.name not in setting.shapes:
            continue
        setting.say(f"{shape.name}: profile")
        empty(setting.scratch)
        # The profiler keeps a million events, and drops what comes later.
        rows = shape.rows(setting.count(shape.count // 4))
        directory = setting.scratch / "data"
        ours.write(setting.generated, shape, rows, directory)
        reading = ours.read(setting.generated, shape, directory, training=True)
        reading.epoch()
        times, calls = traced(reading.epoch)
        found[shape.name] = {
            "records": len(rows),
            "operations": [
                [taken, calls[name], name]
                for name, taken in times.most_common(_OPERATIONS)
            ],
        }
    empty(setting.scratch)
    return found


def markdown(found: dict[str, Any]) -> str:
    """Return a table for each shape."""
    parts = []
    for shape, profile in found.items():
        records = profile["records"]
        head = [shape, "µs a record, in all threads, waiting included", "calls"]
        rows = [
            [f"`{name}`", number(taken / records), f"{calls:,}"]
            for taken, calls, name in profile["operations"]
        ]
        parts.append(table(head, rows))
    return "\n".join(parts)
