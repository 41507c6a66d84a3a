"""The speed of verify and inspect on one core, against tensorflow's parsers."""

from __future__ import annotations

from functools import partial
from typing import Any

from ..measure import Way, microseconds, ratio, side_by_side
from ..reading import ours
from ..reading.shapes import SHAPES, ReadShape
from ..report import grid, number
from ..setting import Setting, empty
from ..targets import Target

VERIFY = "verify"
INSPECT = "inspect"
COLUMNS = "columns alone, nothing checked"
PARSE = "(a) parse_example of batches"
PARSE_SINGLE = "(b) parse_single_example"
MESSAGES = "(c) Example.FromString of each"
UNPARSED = "(d) TFRecordDataset.batch, nothing parsed"

TARGETS = (
    Target("a pass", PARSE, VERIFY, {"mix": 1, "jpeg": 1, "tokens": 1}),
    Target("a pass", PARSE_SINGLE, VERIFY, {}),
    Target("a pass", MESSAGES, VERIFY, {}),
    Target("a pass", VERIFY, UNPARSED, {}, at_most=True),
    Target("a pass", PARSE, INSPECT, {}),
)


def measure(setting: Setting) -> dict[str, Any]:
    """Look at records of each shape in all ways.

    Returns:
        By shape, how many records there are, and seconds by way in each round.

    Raises:
        Different: a way has not seen all of them.
    """
    found = {}
    for shape in SHAPES:
        if shape.name in setting.shapes:
            setting.say(f"{shape.name}: all ways, {setting.rounds} rounds")
            empty(setting.scratch)
            count = setting.count(shape.count)
            ways = _ways(setting, shape, count)
            found[shape.name] = {
                "records": count,
                "seconds": side_by_side(ways, setting.rounds),
            }
            empty(setting.scratch)
    return found


def _ways(setting: Setting, shape: ReadShape, count: int) -> dict[str, Way]:
    # tensorflow is imported with the cores that are left to this process.
    from . import ways

    directory = setting.scratch / "data"
    files = ours.write(setting.generated, shape, shape.rows(count), directory)
    return {
        VERIFY: partial(ways.verified, directory, count),
        INSPECT: partial(ways.inspected, directory, count),
        COLUMNS: partial(ways.columns, files, count),
        PARSE: partial(ways.parsed, files, shape, count),
        PARSE_SINGLE: partial(ways.parsed_one_by_one, files, shape, count),
        MESSAGES: partial(ways.messages, files, count),
        UNPARSED: partial(ways.unparsed, files, shape, count),
    }


def markdown(found: dict[str, Any]) -> str:
    """Return tables: the time of each way, and ratios with targets."""
    times = {
        shape: {"records": f"{result['records']:,}"}
        | {
            way: number(microseconds(taken, result["records"]).median)
            for way, taken in result["seconds"].items()
        }
        for shape, result in found.items()
    }
    ratios = {
        shape: {
            target.words: target.verdict(
                shape,
                ratio(result["seconds"][target.slow], result["seconds"][target.fast]),
            )
            for target in TARGETS
        }
        for shape, result in found.items()
    }
    return "\n".join(
        [
            grid("a pass: microseconds a record", times),
            grid("how many times", ratios),
        ]
    )
