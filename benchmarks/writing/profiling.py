"""Where the time of our writer goes, line by line."""

from __future__ import annotations

from functools import partial
from typing import Any

from ..measure import exhausting
from ..profiling import SECONDS, lines_of, markdown
from ..setting import Setting
from ..shapes import batches_of
from .ours import Ours
from .shapes import SHAPES
from .targets import BATCHES, ROWS

__all__ = ["markdown", "measure"]


def measure(setting: Setting) -> dict[str, Any]:
    """Profile batches and rows of each shape, in memory.

    Returns:
        By shape and way: microseconds a record, and the lines that take most of
        them as [share, file, function, text].
    """
    found: dict[str, Any] = {}
    for shape in SHAPES:
        if shape.name not in setting.shapes:
            continue
        setting.say(f"{shape.name}: profile")
        ours = Ours(setting.generated, shape.record)
        rows = shape.rows(setting.count(shape.count))
        batches = batches_of(rows, shape.batch)
        ways = {
            BATCHES: exhausting(partial(ours.framed_batches, batches)),
            ROWS: exhausting(partial(ours.framed_rows, rows, shape.batch)),
        }
        root = setting.generated.root
        found[shape.name] = {
            name: lines_of(way, root, len(rows), max(SECONDS * setting.share, 0.1))
            for name, way in ways.items()
        }
    return found
