"""Where the time of `verify` goes, line by line."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import schemagen
from schemagen.data.verify import verify

from ..profiling import SECONDS, lines_of, markdown
from ..reading import ours
from ..reading.shapes import SHAPES
from ..setting import Setting, empty
from .speed import VERIFY

__all__ = ["markdown", "measure"]


def measure(setting: Setting) -> dict[str, Any]:
    """Profile records of each shape.

    Returns:
        By shape and way: microseconds a record, and the lines that take most of
        them as [share, file, function, text].
    """
    found: dict[str, Any] = {}
    for shape in SHAPES:
        if shape.name not in setting.shapes:
            continue
        setting.say(f"{shape.name}: profile")
        empty(setting.scratch)
        directory = setting.scratch / "data"
        count = setting.count(shape.count)
        ours.write(setting.generated, shape, shape.rows(count), directory)
        code = Path(schemagen.__file__).parent
        seconds = max(SECONDS * setting.share, 0.1)
        way = partial(verify, directory, workers=1)
        found[shape.name] = {VERIFY: lines_of(way, code, count, seconds)}
    empty(setting.scratch)
    return found
